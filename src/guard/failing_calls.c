/*-------------------------------------------------------------------------
 *
 * zero_divisors.c
 *	  Quotients in statements that release.
 *
 * A noisy count may be 0, and is so often in groups without rows: sum(x) /
 * count(*) would fail after it was paid for, and all groups would be lost for
 * one.  So in a statement with releases x / y is written as x / nullif(y, 0),
 * which is what it is on protected rows, too, unless y is a constant that is not 0,
 * or x is a constant and y 0.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/typcache.h"

static bool
is_division(Oid funcid)
{
	switch (funcid)
	{
		case F_INT2DIV:
		case F_INT4DIV:
		case F_INT8DIV:
		case F_INT24DIV:
		case F_INT42DIV:
		case F_INT28DIV:
		case F_INT82DIV:
		case F_INT48DIV:
		case F_INT84DIV:
		case F_FLOAT4DIV:
		case F_FLOAT8DIV:
		case F_FLOAT48DIV:
		case F_FLOAT84DIV:
		case F_NUMERIC_DIV:
		case F_INTERVAL_DIV:
			return true;
		default:
			return false;
	}
}

/* Makes the 0 of a type by which those divide. */
static Const *
zero_of(Oid type)
{
	Datum		zero = (Datum) 0;
	int16		len;
	bool		byval;

	if (type == FLOAT4OID)
		zero = Float4GetDatum(0);
	else if (type == FLOAT8OID)
		zero = Float8GetDatum(0);
	else if (type == NUMERICOID)
		zero = NumericGetDatum(int64_to_numeric(0));
	else if (type == INT8OID)
		zero = Int64GetDatum(0);
	get_typlenbyval(type, &len, &byval);
	return makeConst(type, -1, InvalidOid, len, zero, false, byval);
}

/* Returns the divisor, NULL where it is 0. */
static Node *
null_for_zero(Node *divisor)
{
	Oid			type = exprType(divisor);
	NullIfExpr *test = makeNode(NullIfExpr);

	test->opno = lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr;
	test->opfuncid = get_opcode(test->opno);
	test->opresulttype = type;
	test->args = list_make2(divisor, zero_of(type));
	test->location = exprLocation(divisor);
	return (Node *) test;
}

static bool
folds_to_constant(Node *expr)
{
	return !checkExprHasSubLink(expr) && IsA(eval_const_expressions(NULL, copyObject(expr)), Const);
}

static bool
divisor_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	check_stack_depth();
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, divisor_walker, context, 0);
	if (IsA(node, OpExpr))
	{
		OpExpr	   *op = (OpExpr *) node;

		set_opfuncid(op);
		if (is_division(op->opfuncid))
		{
			Node	   *divisor = null_for_zero(lsecond(op->args));
			Const	   *folded = (Const *) eval_const_expressions(NULL, copyObject(divisor));
			bool		is_constant = IsA(folded, Const);

			/* of constants, a quotient by 0 fails before anything is paid for */
			if (!is_constant || (folded->constisnull && !folds_to_constant(linitial(op->args))))
				lsecond(op->args) = divisor;
		}
	}
	return expression_tree_walker(node, divisor_walker, context);
}

void
dp_null_zero_divisors(Query *query)
{
	if (query->commandType == CMD_SELECT || query->commandType == CMD_INSERT)
		divisor_walker((Node *) query, NULL);
}
