/*-------------------------------------------------------------------------
 *
 * failing_calls.c
 *	  Functions that fail for some numbers, in statements that release.
 *
 * A noisy count may be 0 or below, and often is in groups without rows:
 * sum(x) / count(*) or ln(count(*)) would fail after it was paid for, and all
 * groups would be lost for one.  So in a statement with releases the value is
 * NULL there, as it is on protected rows:
 * - x / y, x % y, mod and div are of nullif(y, 0), unless y is a constant that is
 *	 not 0, or x is a constant and y 0;
 * - ln and log of numeric are of nullif(greatest(x, 0), 0);
 * - + - *, ^ of double precision, roundings, sqrt, power, exp, ln and log of double
 *	 precision, width_bucket, make_date and casts to smaller numbers become the
 *	 variants that are called on protected rows;
 * - what is cast from text to a number is text that is one;
 * - LIMIT and OFFSET that are computed are not below 0.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/extension.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "guard/rewrite.h"
#include "guard/vet/vet.h"
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
		case F_INT2MOD:
		case F_INT4MOD:
		case F_INT8MOD:
		case F_NUMERIC_MOD:
		case F_MOD_INT2_INT2:
		case F_MOD_INT4_INT4:
		case F_MOD_INT8_INT8:
		case F_MOD_NUMERIC_NUMERIC:
		case F_DIV:
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

/* Divides by NULL where the last of the arguments is 0. */
static void
divide_safely(List *args)
{
	Node	   *divisor = null_for_zero(lsecond(args));
	Const	   *folded = (Const *) eval_const_expressions(NULL, copyObject(divisor));
	bool		is_constant = IsA(folded, Const);

	/* of constants, a quotient by 0 fails before anything is paid for */
	if (!is_constant || (folded->constisnull && !folds_to_constant(linitial(args))))
		lsecond(args) = divisor;
}

/* Returns a number, NULL where it is not above 0. */
static Node *
null_unless_positive(Node *number)
{
	MinMaxExpr *greatest = makeNode(MinMaxExpr);

	greatest->minmaxtype = exprType(number);
	greatest->op = IS_GREATEST;
	greatest->args = list_make2(number, zero_of(exprType(number)));
	greatest->location = exprLocation(number);
	return null_for_zero((Node *) greatest);
}

/* Tells whether a function of the list fails for numbers that noise is likely to make. */
static bool
is_replaced(const DpAllowed *allowed)
{
	static const char *const names[] = {"add", "subtract", "multiply", "negate", "abs", "round", "floor", "ceil", "sqrt", "power", "exp", "ln",
	"log", "width_bucket", "int2", "int4", "int8", "float4", "numeric", "make_date"};

	if (allowed == NULL || allowed->safe == NULL || strncmp(allowed->safe, "try_", 4) != 0)
		return false;
	for (int i = 0; i < lengthof(names); i++)
		if (strcmp(allowed->safe + 4, names[i]) == 0)
			return true;
	return false;
}

/* Tells whether arguments are constants, with which a function fails before anything is paid for. */
static bool
are_constant(List *args)
{
	ListCell   *lc;

	foreach(lc, args)
	{
		if (!folds_to_constant(lfirst(lc)))
			return false;
	}
	return true;
}

static void
call_safely(FuncExpr *call)
{
	/* an INSERT must not store NULL for what its column cannot hold */
	if (call->funcformat == COERCE_IMPLICIT_CAST || are_constant(call->args))
		return;
	if (is_division(call->funcid))
		divide_safely(call->args);
	else if (call->funcid == F_LN_NUMERIC || call->funcid == F_LOG_NUMERIC || call->funcid == F_LOG10_NUMERIC)
		linitial(call->args) = null_unless_positive(linitial(call->args));
	else if (is_replaced(dp_allowed_function(call->funcid)))
		call->funcid = dp_safe_variant(dp_allowed_function(call->funcid));
}

/* Calls what an operator stands for in the way that does not fail; how the operator is shown stays. */
static void
operate_safely(OpExpr *op)
{
	set_opfuncid(op);
	if (are_constant(op->args))
		return;
	if (is_division(op->opfuncid))
		divide_safely(op->args);
	else if (is_replaced(dp_allowed_function(op->opfuncid)))
		op->opfuncid = dp_safe_variant(dp_allowed_function(op->opfuncid));
}

/* Returns the function that makes a number of a type from text, NULL from what is none; InvalidOid: of other types. */
static Oid
number_from_text(Oid type)
{
	Oid			text = TEXTOID;

	switch (type)
	{
		case INT2OID:
			return dp_own_function("try_int2", 1, &text, type);
		case INT4OID:
			return dp_own_function("try_int4", 1, &text, type);
		case INT8OID:
			return dp_own_function("try_int8", 1, &text, type);
		case FLOAT8OID:
			return dp_own_function("try_float8", 1, &text, type);
		case NUMERICOID:
			return dp_own_function("try_numeric", 1, &text, type);
		default:
			return InvalidOid;
	}
}

/* Has text that is no number cast to one as NULL: what is cast is the text of the number that it is. */
static void
cast_safely(CoerceViaIO *cast)
{
	Oid			from = exprType((Node *) cast->arg);
	Oid			function = from == TEXTOID || from == VARCHAROID ? number_from_text(cast->resulttype) : InvalidOid;
	CoerceViaIO *text;

	if (!OidIsValid(function) || folds_to_constant((Node *) cast->arg))
		return;
	text = makeNode(CoerceViaIO);
	text->arg = (Expr *) makeFuncExpr(function, cast->resulttype,
									  list_make1(from == TEXTOID ? cast->arg : (Expr *) makeRelabelType(cast->arg, TEXTOID, -1, exprCollation((Node *) cast->arg), COERCE_IMPLICIT_CAST)),
									  InvalidOid, exprCollation((Node *) cast->arg), COERCE_EXPLICIT_CALL);
	text->resulttype = TEXTOID;
	text->resultcollid = DEFAULT_COLLATION_OID;
	text->coerceformat = COERCE_EXPLICIT_CAST;
	text->location = -1;
	cast->arg = (Expr *) text;
}

/* Returns a number of rows, 0 where it is less; NULL, which is no limit, stays. */
static Node *
number_of_rows(Node *number)
{
	if (number == NULL || folds_to_constant(number))
		return number;
	/* strict, other than GREATEST */
	return (Node *) makeFuncExpr(F_INT8LARGER, INT8OID, list_make2(number, zero_of(INT8OID)), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static bool
call_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	check_stack_depth();
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;

		query->limitCount = number_of_rows(query->limitCount);
		query->limitOffset = number_of_rows(query->limitOffset);
		return query_tree_walker(query, call_walker, context, 0);
	}
	if (IsA(node, OpExpr))
		operate_safely((OpExpr *) node);
	if (IsA(node, CoerceViaIO))
		cast_safely((CoerceViaIO *) node);
	if (IsA(node, FuncExpr))
		call_safely((FuncExpr *) node);
	return expression_tree_walker(node, call_walker, context);
}

void
dp_null_failing_calls(Query *query)
{
	if (query->commandType == CMD_SELECT || query->commandType == CMD_INSERT)
		call_walker((Node *) query, NULL);
}
