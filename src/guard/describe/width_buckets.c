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

#include <math.h>

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/describe/key_values.h"
#include "guard/describe/width_buckets.h"
#include "guard/facts/facts.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/numeric.h"

/* larger numbers are let alone */
#define LARGEST_VALUE 1e100

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

/* Tells whether a constant is a number of which width_bucket is defined, in double precision, too. */
static bool
has_bucket(const Const *constant)
{
	Numeric		number = finite_number(constant);

	return number != NULL &&
		fabs(DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(number)))) < LARGEST_VALUE;
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

FuncExpr *
dp_bucket_of(FuncExpr *bucket, Expr *value)
{
	Node	   *cast = coerce_to_target_type(NULL, (Node *) copyObject(value), exprType((Node *) value),
											 exprType(linitial(bucket->args)), -1, COERCION_EXPLICIT, COERCE_EXPLICIT_CAST, -1);
	FuncExpr   *call;

	if (cast == NULL || (IsA(value, Const) && !has_bucket((Const *) value)))
		return NULL;
	call = copyObject(bucket);
	linitial(call->args) = cast;
	return call;
}

void
dp_find_value_of_bucket(FuncExpr *bucket, DpCondition *comparison, Expr **first, Expr **last)
{
	dp_find_hull(list_make1(comparison), strip_monotone(linitial(bucket->args)), first, last);
}

bool
dp_bucket_not_null(FuncExpr *bucket, Node *condition)
{
	NullTest   *test = (NullTest *) condition;

	return IsA(condition, NullTest) && test->nulltesttype == IS_NOT_NULL && !test->argisrow &&
		equal(strip_monotone((Node *) test->arg), strip_monotone(linitial(bucket->args)));
}

/* Returns that the bucket is one, by an operator, with that of a value; NULL: this has none, or is not known yet. */
static Expr *
compared_bucket(FuncExpr *bucket, Oid opno, Expr *value)
{
	/* of what is known when the query runs, bucket_lists.c takes care */
	FuncExpr   *other = value != NULL && IsA(value, Const) ? dp_bucket_of(bucket, value) : NULL;

	if (other == NULL)
		return NULL;
	return (Expr *) dp_make_comparison(opno, (Expr *) copyObject(bucket), (Expr *) other, InvalidOid);
}

/* Returns what a comparison of the value tells of the bucket. */
static Node *
implied_by(DpCondition *comparison, void *context)
{
	FuncExpr   *bucket = context;
	Expr	   *first;
	Expr	   *last;
	Expr	   *above;
	Expr	   *below;

	dp_find_value_of_bucket(bucket, comparison, &first, &last);
	above = compared_bucket(bucket, DP_INT4_GREATER_EQUAL, first);
	below = compared_bucket(bucket, DP_INT4_LESS_EQUAL, last);
	return above && below ? (Node *) make_andclause(list_make2(above, below)) : above ? (Node *) above : (Node *) below;
}

void
dp_imply_bucket_conditions(DpLevel *level, Node *key)
{
	FuncExpr   *bucket = (FuncExpr *) key;
	List	   *implied = NIL;

	if (!dp_is_width_bucket(key) || !do_ascend(bucket))
		return;
	foreach_ptr(Node, condition, level->conditions)
	{
		DpCondition *read = dp_limits_of_condition(condition);

		if (dp_bucket_not_null(bucket, condition))
			implied = list_append_unique(implied, dp_is_not_null((Expr *) copyObject(bucket)));
		implied = list_concat_unique(implied, dp_conjuncts(read ? dp_follows_from(read, implied_by, bucket) : NULL));
	}
	level->conditions = list_concat_unique(level->conditions, implied);
}
