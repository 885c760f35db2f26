/*-------------------------------------------------------------------------
 *
 * operators.c
 *	  Calls, comparisons and constants as nodes of expressions: how they are read and made.
 *
 * Invariant: no file but this one looks into the node of a comparison (test/tools/graph.py).  It says what
 * is compared by which operator; facts/conditions.c says what follows from that.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "guard/vet/allow.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* ------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------
 */

Node *
dp_strip_relabel(Node *node)
{
	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node;
}

bool
dp_read_comparison(Node *node, DpComparison *comparison)
{
	bool		is_array = IsA(node, ScalarArrayOpExpr);
	ScalarArrayOpExpr *any = (ScalarArrayOpExpr *) node;
	OpExpr	   *op = (OpExpr *) node;
	List	   *args = is_array ? any->args : IsA(node, OpExpr) || IsA(node, DistinctExpr) ? op->args : NIL;

	if (list_length(args) != 2)
		return false;
	comparison->left = linitial(args);
	comparison->right = lsecond(args);
	comparison->opno = is_array ? any->opno : op->opno;
	comparison->collation = is_array ? any->inputcollid : op->inputcollid;
	comparison->is_distinct = IsA(node, DistinctExpr);
	comparison->is_array = is_array;
	comparison->is_any = !is_array || any->useOr;
	comparison->location = exprLocation(node);
	return true;
}

bool
dp_read_operator(Node *node, DpComparison *comparison)
{
	return dp_read_comparison(node, comparison) && !comparison->is_distinct && !comparison->is_array;
}

bool
dp_read_side(Node *node, int side, DpComparison *comparison)
{
	if (!dp_read_operator(node, comparison))
		return false;
	if (side == 1)
		dp_turn_comparison(comparison);
	return true;
}

void
dp_turn_comparison(DpComparison *comparison)
{
	Node	   *left = comparison->left;

	comparison->left = comparison->right;
	comparison->right = left;
	comparison->opno = comparison->is_array ? InvalidOid : get_commutator(comparison->opno);
}

bool
dp_list_elements(Node *array, int most, List **elements)
{
	Oid			type = get_element_type(exprType(array));
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *values;
	bool	   *nulls;
	int			n;

	*elements = NIL;
	array = dp_strip_relabel(array);
	if (IsA(array, ArrayExpr) && !((ArrayExpr *) array)->multidims)
	{
		*elements = list_copy(((ArrayExpr *) array)->elements);
		return list_length(*elements) <= most;
	}
	if (!IsA(array, Const) || ((Const *) array)->constisnull || !OidIsValid(type))
		return false;
	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	deconstruct_array(DatumGetArrayTypeP(((Const *) array)->constvalue), type, typlen, typbyval, typalign, &values, &nulls, &n);
	for (int i = 0; i < n && n <= most; i++)
		*elements = lappend(*elements, makeConst(type, -1, get_typcollation(type), typlen, values[i], nulls[i], typbyval));
	return n <= most;
}

List *
dp_call_args(Node *node, Oid *funcid)
{
	*funcid = InvalidOid;
	switch (nodeTag(node))
	{
		case T_FuncExpr:
			*funcid = ((FuncExpr *) node)->funcid;
			return ((FuncExpr *) node)->args;
		case T_OpExpr:
			*funcid = get_opcode(((OpExpr *) node)->opno);
			return ((OpExpr *) node)->args;
		case T_ScalarArrayOpExpr:
			*funcid = get_opcode(((ScalarArrayOpExpr *) node)->opno);
			return ((ScalarArrayOpExpr *) node)->args;
		default:
			return NIL;
	}
}

static Oid
order_of(Oid type)
{
	return lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

int
dp_strategy_of(Oid opno, Oid type)
{
	Oid			opfamily = order_of(type);

	return OidIsValid(opfamily) && OidIsValid(opno) ? get_op_opfamily_strategy(opno, opfamily) : 0;
}

bool
dp_compares_by_order(Oid opno, Oid type)
{
	return dp_strategy_of(opno, type) != 0 || dp_strategy_of(get_negator(opno), type) != 0;
}

/* ------------------------------------------------------------------------
 * Making
 * ------------------------------------------------------------------------
 */

Node *
dp_write_comparison(const DpComparison *c)
{
	Node	   *node;

	if (c->is_array)
	{
		node = (Node *) dp_make_array_comparison(c->opno, c->is_any, (Expr *) c->left, (Expr *) c->right, c->collation);
		((ScalarArrayOpExpr *) node)->location = c->location;
		return node;
	}
	node = (Node *) dp_make_comparison(c->opno, (Expr *) c->left, (Expr *) c->right, c->collation);
	((OpExpr *) node)->location = c->location;
	if (c->is_distinct)
		NodeSetTag(node, T_DistinctExpr);
	return node;
}

Node *
dp_with_operand(Node *comparison, int side, Node *operand)
{
	DpComparison c;

	if (!dp_read_comparison(comparison, &c))
		elog(ERROR, "a comparison was expected");
	*(side == 0 ? &c.left : &c.right) = operand;
	return copyObject(dp_write_comparison(&c));
}

Const *
dp_int4_const(int32 value)
{
	return makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(value), false, true);
}

Const *
dp_int8_const(int64 value)
{
	return makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(value), false, FLOAT8PASSBYVAL);
}

Const *
dp_float8_const(double value)
{
	return makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), Float8GetDatum(value), false, FLOAT8PASSBYVAL);
}

FuncExpr *
dp_call(Oid funcid, Oid type, List *args)
{
	return makeFuncExpr(funcid, type, args, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

OpExpr *
dp_make_comparison(Oid opno, Expr *left, Expr *right, Oid collation)
{
	OpExpr	   *op = (OpExpr *) make_opclause(opno, BOOLOID, false, left, right, InvalidOid, collation);

	set_opfuncid(op);
	return op;
}

ScalarArrayOpExpr *
dp_make_array_comparison(Oid opno, bool is_any, Expr *left, Expr *array, Oid collation)
{
	ScalarArrayOpExpr *op = dp_make(ScalarArrayOpExpr, .opno = opno);

	set_sa_opfuncid(op);
	op->useOr = is_any;
	op->inputcollid = collation;
	op->args = list_make2(left, array);
	op->location = -1;
	return op;
}

OpExpr *
dp_make_cardinality_comparison(Oid opno, Node *array)
{
	FuncExpr   *count = dp_call(F_CARDINALITY, INT4OID, list_make1(copyObject(array)));

	return dp_make_comparison(opno, (Expr *) dp_int4_const(0), (Expr *) count, InvalidOid);
}

OpExpr *
dp_make_ordering(int strategy, Expr *left, Expr *right, Oid collation)
{
	Oid			type = exprType((Node *) left);
	Oid			opno = get_opfamily_member(order_of(type), type, exprType((Node *) right), strategy);

	return OidIsValid(opno) ? dp_make_comparison(opno, left, right, collation) : NULL;
}
