/*-------------------------------------------------------------------------
 *
 * bucket_cases.c
 *	  width_bucket with an array of thresholds, written as CASE.
 *
 *		width_bucket(amount, ARRAY[10, 50])
 *
 * is the number of thresholds that are not above the amount:
 *
 *		CASE WHEN amount IS NULL THEN NULL WHEN amount < 10 THEN 0 WHEN amount < 50 THEN 1 ELSE 2 END
 *
 * of which everything else knows which values it has, and which of them
 * conditions exclude.
 *
 * Invariant: the CASE has the value of the call for every operand, by the same
 * order and collation.  Where PostgreSQL raises an error, or the thresholds are
 * in no order, the call stays as it is.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "guard/guard.h"
#include "guard/level.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* more thresholds stay an array, and so does a call whose operand is longer, as text of its nodes, times thresholds */
#define MOST_THRESHOLDS 200
#define MOST_TEXT (256 * 1024)

bool
dp_is_bucket_of_array(Node *node)
{
	return IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid == F_WIDTH_BUCKET_ANYCOMPATIBLE_ANYCOMPATIBLEARRAY;
}

/* Returns the thresholds as constants, each not below the one before it; NIL: they are not known, or no such. */
static List *
thresholds(Node *array, TypeCacheEntry *type, Oid collation)
{
	Node	   *known;
	ArrayType  *value;
	Datum	   *values;
	bool	   *nulls;
	int			n;
	List	   *list = NIL;

	if (contain_mutable_functions(array) || checkExprHasSubLink(array))
		return NIL;
	known = eval_const_expressions(NULL, array);
	if (!IsA(known, Const) || ((Const *) known)->constisnull)
		return NIL;
	value = DatumGetArrayTypeP(((Const *) known)->constvalue);
	if (ARR_NDIM(value) != 1 || array_contains_nulls(value))
		return NIL;
	deconstruct_array(value, type->type_id, type->typlen, type->typbyval, type->typalign, &values, &nulls, &n);
	if (n > MOST_THRESHOLDS)
		return NIL;
	for (int i = 0; i < n; i++)
	{
		if (i > 0 && DatumGetInt32(FunctionCall2Coll(&type->cmp_proc_finfo, collation, values[i - 1], values[i])) > 0)
			return NIL;
		list = lappend(list, makeConst(type->type_id, -1, get_typcollation(type->type_id), type->typlen, values[i], false,
									   type->typbyval));
	}
	return list;
}

Node *
dp_bucket_as_cases(FuncExpr *call)
{
	Node	   *operand = linitial(call->args);
	Oid			element = get_element_type(exprType(lsecond(call->args)));
	TypeCacheEntry *type;
	List	   *list;
	CaseExpr   *cases;

	if (!OidIsValid(element) || getBaseType(exprType(operand)) != element || contain_volatile_functions(operand) ||
		checkExprHasSubLink(operand))
		return (Node *) call;
	type = lookup_type_cache(element, TYPECACHE_LT_OPR | TYPECACHE_CMP_PROC_FINFO);
	if (!OidIsValid(type->lt_opr) || !OidIsValid(type->cmp_proc_finfo.fn_oid))
		return (Node *) call;
	list = thresholds(lsecond(call->args), type, call->inputcollid);
	if (list == NIL || strlen(nodeToString(operand)) * list_length(list) > MOST_TEXT)
		return (Node *) call;
	cases = dp_make_case((Expr *) dp_int4_const(list_length(list)));
	cases->location = call->location;
	dp_add_when(cases, dp_is_null(copyObject((Expr *) operand)), (Expr *) makeNullConst(INT4OID, -1, InvalidOid));
	foreach_ptr(Expr, item, list)
	{
		OpExpr	   *below = dp_make_comparison(type->lt_opr, copyObject((Expr *) operand), item, call->inputcollid);

		dp_add_when(cases, (Expr *) below, (Expr *) dp_int4_const(foreach_current_index(item)));
	}
	return (Node *) cases;
}
