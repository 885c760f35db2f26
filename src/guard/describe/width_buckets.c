/*-------------------------------------------------------------------------
 *
 * width_buckets.c
 *	  Which results width_bucket has, and what conditions on a value tell of its
 *	  bucket.
 *
 * Of WHERE amount < 400 ... GROUP BY width_bucket(amount, 0, 400, 4) the bucket
 * above all others is not a row, nor is NULL.  For each such condition the level
 * gets another one, of the key:
 *
 *		width_bucket(amount, 0, 400, 4) <= width_bucket(399.99, 0, 400, 4)
 *
 * by which key_conditions.c leaves out what is listed.  Nothing runs on rows
 * because of it.
 *
 * Invariant: each condition that is added follows from one that is there.
 * width_bucket is monotone in its first argument, also as it is rounded, and
 * so are the casts that are left out.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/cell_tests.h"
#include "guard/describe/describe.h"
#include "guard/describe/key_values.h"
#include "guard/describe/width_buckets.h"
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/numeric.h"

/* operators of int4, which the tests of cells have, too */
#define INT4_LESS_EQUAL 523
#define INT4_GREATER_EQUAL 525
#define INT4_GREATER 521

/* numbers with more digits, before the point or behind it, are let alone */
#define MAX_DIGITS 100

/* ------------------------------------------------------------------------
 * Which buckets there are
 * ------------------------------------------------------------------------
 */

/* Returns the number that a constant is; NULL: it is none, or not finite. */
static Numeric
finite_number(const Const *constant)
{
	Numeric		number;

	if (constant == NULL || constant->constisnull || (constant->consttype != NUMERICOID && constant->consttype != FLOAT8OID))
		return NULL;
	number = constant->consttype == NUMERICOID ? DatumGetNumeric(constant->constvalue)
		: DatumGetNumeric(DirectFunctionCall1(float8_numeric, constant->constvalue));
	return numeric_is_nan(number) || numeric_is_inf(number) ? NULL : number;
}

static Numeric
constant_number(FuncExpr *call, int n)
{
	return finite_number(dp_constant_argument(call, n));
}

static bool
is_less(Numeric a, Numeric b)
{
	return DatumGetBool(DirectFunctionCall2(numeric_lt, NumericGetDatum(a), NumericGetDatum(b)));
}

/* Tells whether the buckets are numbered upwards from the first bound, both being known. */
static bool
do_ascend(FuncExpr *bucket)
{
	Numeric		low = constant_number(bucket, 1);
	Numeric		high = constant_number(bucket, 2);

	return low != NULL && high != NULL && is_less(low, high);
}

bool
dp_is_width_bucket(Node *node)
{
	return IsA(node, FuncExpr) && (((FuncExpr *) node)->funcid == F_WIDTH_BUCKET_FLOAT8_FLOAT8_FLOAT8_INT4 ||
								   ((FuncExpr *) node)->funcid == F_WIDTH_BUCKET_NUMERIC_NUMERIC_NUMERIC_INT4);
}

bool
dp_width_bucket_ends(DpLevel *level, FuncExpr *call, int64 *first, int64 *last)
{
	Const	   *count = dp_constant_argument(call, 3);
	DpInterval	interval;

	*first = 0;
	if (count == NULL || DatumGetInt32(count->constvalue) < 1)
		return false;
	*last = (int64) DatumGetInt32(count->constvalue) + 1;
	interval = dp_planned_interval(level, linitial(call->args));
	if (do_ascend(call) && interval.state == DP_INTERVAL_KNOWN)
	{
		*first += !is_less(interval.lower, constant_number(call, 1));
		*last -= is_less(interval.upper, constant_number(call, 2));
	}
	return true;
}

bool
dp_add_width_buckets(DpLevel *level, FuncExpr *call, DpKeyValues *keys)
{
	int64		first;
	int64		last;

	if (!dp_width_bucket_ends(level, call, &first, &last))
		return false;
	keys->null_key |= !dp_expression_never_null(level, (Node *) call);
	return dp_key_values_add_range(keys, first, last);
}

/* ------------------------------------------------------------------------
 * What follows from conditions
 * ------------------------------------------------------------------------
 */

static Node *
numeric_call(Oid function, Node *a, Node *b)
{
	return (Node *) makeFuncExpr(function, NUMERICOID, b ? list_make2(a, b) : list_make1(a), InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/* Returns 10 to a power as a constant. */
static Node *
power_of_ten(int power)
{
	char	   *text = psprintf("1e%d", power);
	Datum		value = DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));

	return (Node *) makeConst(NUMERICOID, -1, InvalidOid, -1, value, false, false);
}

/* Tells whether a node is a number of which width_bucket is defined, in double precision, too. */
static bool
has_bucket(Node *node)
{
	Numeric		number = IsA(node, Const) ? finite_number((Const *) node) : NULL;

	return number != NULL && is_less(number, DatumGetNumeric(((Const *) power_of_ten(MAX_DIGITS))->constvalue)) &&
		is_less(DatumGetNumeric(DirectFunctionCall1(numeric_uminus, ((Const *) power_of_ten(MAX_DIGITS))->constvalue)), number);
}

/* Returns how many digits values of an expression have behind the point at most; negative: that is not known. */
static int
scale_of(Node *expr)
{
	int32		typmod = exprTypmod(expr);

	switch (exprType(expr))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return 0;
		case NUMERICOID:
			return typmod >= (int32) VARHDRSZ && dp_numeric_scale(typmod) <= MAX_DIGITS ? dp_numeric_scale(typmod) : -1;
		default:
			return -1;
	}
}

/* Returns the last value of a scale before a number, or the first one after it. */
static Node *
neighbour(Node *number, int scale, bool before)
{
	Node	   *scaled = numeric_call(F_NUMERIC_MUL, number, power_of_ten(scale));
	Node	   *whole = numeric_call(before ? F_CEIL_NUMERIC : F_FLOOR_NUMERIC, scaled, NULL);
	Node	   *next = numeric_call(before ? F_NUMERIC_SUB : F_NUMERIC_ADD, whole, power_of_ten(0));

	return numeric_call(F_NUMERIC_MUL, next, power_of_ten(-scale));
}

/* Returns what an expression is without casts that may round, but turn no order around. */
static Node *
strip_monotone(Node *expr)
{
	expr = dp_strip_casts(expr);
	if (IsA(expr, FuncExpr))
		switch (((FuncExpr *) expr)->funcid)
		{
			case F_FLOAT8_INT2:
			case F_FLOAT8_INT4:
			case F_FLOAT8_INT8:
			case F_FLOAT8_NUMERIC:
			case F_NUMERIC_FLOAT8:
				return strip_monotone(linitial(((FuncExpr *) expr)->args));
			default:
				break;
		}
	return expr;
}

bool
dp_bucket_bound(FuncExpr *bucket, Node *condition, DpBucketBound *bound)
{
	DpCellTest	test;
	Node	   *constant;
	int			scale;

	if (!IsA(condition, OpExpr) || !dp_get_cell_test(condition, &test) || list_length(test.constants) != 1 ||
		!equal(test.expr, strip_monotone(linitial(bucket->args))))
		return false;
	bound->constant = constant = linitial(test.constants);
	if (IsA(constant, Const) && !has_bucket(constant))
		return false;
	scale = exprType(constant) == NUMERICOID ? scale_of(test.expr) : -1;
	bound->opno = test.opno;
	if (test.opno == Int4LessOperator || test.opno == INT4_GREATER)
	{
		if (scale >= 0)
			constant = neighbour(constant, scale, test.opno == Int4LessOperator);
		bound->opno = test.opno == Int4LessOperator ? INT4_LESS_EQUAL : INT4_GREATER_EQUAL;
	}
	else if (test.opno != INT4_LESS_EQUAL && test.opno != INT4_GREATER_EQUAL && test.opno != Int4EqualOperator)
		return false;
	constant = coerce_to_target_type(NULL, constant, exprType(constant), exprType(linitial(bucket->args)), -1,
									 COERCION_EXPLICIT, COERCE_EXPLICIT_CAST, -1);
	if (constant == NULL)
		return false;
	bound->bucket = copyObject(bucket);
	linitial(bound->bucket->args) = constant;
	return true;
}

bool
dp_bucket_not_null(FuncExpr *bucket, Node *condition)
{
	NullTest   *test = (NullTest *) condition;

	return IsA(condition, NullTest) && test->nulltesttype == IS_NOT_NULL && !test->argisrow &&
		equal(strip_monotone((Node *) test->arg), strip_monotone(linitial(bucket->args)));
}

void
dp_imply_bucket_conditions(DpLevel *level, Node *key)
{
	FuncExpr   *bucket = (FuncExpr *) key;
	List	   *implied = NIL;
	ListCell   *lc;

	if (!dp_is_width_bucket(key) || !do_ascend(bucket))
		return;
	foreach(lc, level->conditions)
	{
		DpBucketBound bound;
		OpExpr	   *more;

		if (dp_bucket_not_null(bucket, lfirst(lc)))
			implied = list_append_unique(implied, dp_is_not_null((Expr *) copyObject(bucket)));
		/* of what is known when the query runs, bucket_lists.c takes care */
		if (!dp_bucket_bound(bucket, lfirst(lc), &bound) || !IsA(bound.constant, Const))
			continue;
		more = (OpExpr *) make_opclause(bound.opno, BOOLOID, false, (Expr *) copyObject(bucket), (Expr *) bound.bucket,
										InvalidOid, InvalidOid);
		set_opfuncid(more);
		implied = lappend(implied, more);
	}
	level->conditions = list_concat_unique(level->conditions, implied);
}
