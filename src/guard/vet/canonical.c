/*-------------------------------------------------------------------------
 *
 * canonical.c
 *	  Types of values that may be read, types that may be group keys, and the
 *	  one representation of a key.
 *
 * Invariant: two values of a key that PostgreSQL takes for equal are the same
 * bytes after dp_canonical_key.  A group has the key of whichever row came
 * first, and of several spellings that would be one person's where it is
 * printed, and the choice of everybody's rows where a subquery computes with it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/extension.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "guard/vet/allow.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

bool
dp_type_is_allowed(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case CASHOID:
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case NAMEOID:
		case CHAROID:
		case BYTEAOID:
		case DATEOID:
		case TIMEOID:
		case TIMETZOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case INTERVALOID:
		case UUIDOID:
		case INETOID:
		case CIDROID:
		case MACADDROID:
		case MACADDR8OID:
		case OIDOID:
		case BITOID:
		case VARBITOID:
			return true;
		default:
			return type_is_enum(type);
	}
}

bool
dp_is_number(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID ||
		type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID;
}

bool
dp_type_is_opened(Oid type)
{
	switch (type)
	{
		case JSONBOID:
		case INT4RANGEOID:
		case INT8RANGEOID:
		case NUMRANGEOID:
		case TSRANGEOID:
		case TSTZRANGEOID:
		case DATERANGEOID:
			return true;
		default:
			return dp_type_is_allowed(get_element_type(type));
	}
}

Expr *
dp_counted_value(Expr *arg)
{
	NullTest   *test;
	CaseWhen   *when;

	if (!IsA(arg, Var) || !dp_type_is_opened(exprType((Node *) arg)))
		return arg;
	test = dp_make(NullTest, .arg = copyObject(arg), .nulltesttype = IS_NOT_NULL,
				   .location = exprLocation((Node *) arg));
	when = dp_make(CaseWhen, .expr = (Expr *) test, .result = (Expr *) makeBoolConst(true, false),
				   .location = test->location);
	return (Expr *) dp_make(CaseExpr, .casetype = BOOLOID, .args = list_make1(when),
							.defresult = (Expr *) makeNullConst(BOOLOID, -1, InvalidOid),
							.location = test->location);
}

Expr *
dp_as_base_type(Expr *expr)
{
	int32		typmod = exprTypmod((Node *) expr);
	Oid			base = getBaseTypeAndTypmod(exprType((Node *) expr), &typmod);

	if (base == exprType((Node *) expr))
		return expr;
	return (Expr *) makeRelabelType(expr, base, typmod, exprCollation((Node *) expr), COERCE_IMPLICIT_CAST);
}

bool
dp_type_is_key(Oid type)
{
	/*
	 * equal intervals print differently; money and timetz print by settings
	 * or are unsound as keys
	 */
	return dp_type_is_allowed(type) &&
		type != INTERVALOID && type != TIMETZOID && type != CASHOID;
}

static Node *
wrap_call(Oid funcid, Node *expr)
{
	FuncExpr   *call = makeFuncExpr(funcid, exprType(expr), list_make1(expr), exprCollation(expr),
									InvalidOid, COERCE_EXPLICIT_CALL);

	call->location = exprLocation(expr);
	return (Node *) call;
}

Node *
dp_canonical_key(Node *expr)
{
	Oid			type = exprType(expr);

	switch (type)
	{
		case NUMERICOID:
			/* a typmod fixes the scale of every value */
			if (exprTypmod(expr) >= (int32) VARHDRSZ)
				return expr;
			return wrap_call(F_TRIM_SCALE, expr);
		case FLOAT4OID:
		case FLOAT8OID:
			return wrap_call(dp_own_function("canonical", 1, &type, type), expr);
		case BPCHAROID:
			/* padded to its length */
			if (exprTypmod(expr) >= (int32) VARHDRSZ)
				return expr;
			return wrap_call(dp_own_function("canonical", 1, &type, type), expr);
		default:
			return expr;
	}
}

/* ------------------------------------------------------------------------
 * Group keys of subqueries
 * ------------------------------------------------------------------------
 */

/* Puts the canonical form in the place of each key, except inside of aggregates. */
static Node *
put_canonical(Node *node, int levels, List *keys)
{
	/* computed row by row */
	if (IsA(node, Aggref))
		return copyObject(node);
	return IsA(node, TargetEntry) || IsA(node, List) || !list_member(keys, node) ? NULL : dp_canonical_key(copyObject(node));
}

void
dp_make_groups_canonical(Query *query)
{
	check_stack_depth();
	foreach_node(RangeTblEntry, rte, query->rtable)
	{
		Query	   *sub = rte->subquery;
		List	   *keys;

		if (sub == NULL)
			continue;
		dp_make_groups_canonical(sub);
		keys = get_sortgrouplist_exprs(sub->groupClause, sub->targetList);
		if (keys == NIL)
			continue;
		sub->targetList = (List *) dp_put(sub->targetList, put_canonical, keys);
		sub->havingQual = dp_put(sub->havingQual, put_canonical, keys);
	}
}

bool
dp_is_canonical(Node *key)
{
	Node	   *form = dp_canonical_key(key);

	return form == key || (IsA(key, FuncExpr) && ((FuncExpr *) key)->funcid == ((FuncExpr *) form)->funcid);
}

bool
dp_groups_are_canonical(Query *sub)
{
	foreach_ptr(Node, key, get_sortgrouplist_exprs(sub->groupClause, sub->targetList))
	{
		if (!dp_is_canonical(key) || exprType(key) == INTERVALOID)
			return false;
	}
	return true;
}
