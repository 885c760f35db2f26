/*-------------------------------------------------------------------------
 *
 * width_buckets.c
 *	  Lists that stand for width_bucket in the key query of a level.
 *
 * The buckets are a list like any other, numbers up to the count.  What the
 * conditions tell of a value is asked of its bucket, too:
 *
 *		WHERE amount < $1 ... GROUP BY width_bucket(amount, 0, $2, 20)
 *
 * leaves the buckets up to that of $1.
 *
 * Invariants:
 * - Each condition that is added follows from one that is there, whatever the
 *	 parameters are: where buckets are numbered downwards, or what a value is
 *	 compared with has none, it holds.  width_bucket is monotone in its first
 *	 argument, also as it is rounded, and so are the casts that are left out.
 * - What PostgreSQL would refuse for every row, a count of 0, is refused when
 *	 the list is read, before any debit.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/describe/key_query.h"
#include "guard/facts/facts.h"
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "policy/policy.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/numeric.h"
#include "utils/typcache.h"

/* operators of int4 */
#define INT4_LESS_EQUAL 523
#define INT4_GREATER_EQUAL 525

/* larger numbers are let alone */
#define LARGEST_VALUE 1e100

/* a call that a list stands for */
typedef struct BucketList
{
	DpKeyQuery *s;
	FuncExpr   *call;			/* as the key query names its columns */
	Node	   *safe;			/* the same in its safe form */
	Node	   *value;			/* what stands for both */
} BucketList;

static Node *
int4_call(Oid function, Node *a, Node *b)
{
	return (Node *) makeFuncExpr(function, INT4OID, list_make2(a, b), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static Node *
compare(Oid opno, Node *a, Node *b)
{
	return (Node *) dp_make_comparison(opno, (Expr *) a, (Expr *) b, InvalidOid);
}

/* Returns CASE WHEN condition THEN result ... ELSE otherwise END, of two conditions. */
static Node *
choose(Node *first, Node *first_result, Node *second, Node *second_result, Node *otherwise)
{
	CaseExpr   *cases = dp_make_case((Expr *) otherwise);

	dp_add_when(cases, (Expr *) first, (Expr *) first_result);
	dp_add_when(cases, (Expr *) second, (Expr *) second_result);
	return (Node *) cases;
}

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
	return finite_number(dp_value_of(list_nth(call->args, n)));
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

/* Tells whether a node calls width_bucket with two bounds and a count. */
static bool
is_width_bucket(Node *node)
{
	return IsA(node, FuncExpr) && (((FuncExpr *) node)->funcid == F_WIDTH_BUCKET_FLOAT8_FLOAT8_FLOAT8_INT4 ||
								   ((FuncExpr *) node)->funcid == F_WIDTH_BUCKET_NUMERIC_NUMERIC_NUMERIC_INT4);
}

/*
 * Finds the first and the last bucket: those below and above all others only if
 * the bounds of what is read reach them; returns false where the count is not
 * known now, or no count.
 */
static bool
find_ends(DpLevel *level, FuncExpr *call, int64 *first, int64 *last)
{
	Const	   *count = dp_value_of(lfourth(call->args));
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

/* ------------------------------------------------------------------------
 * The list
 * ------------------------------------------------------------------------
 */

/* Tells whether a call reads protected rows in its first argument, of which none may be missing, and no column in the others. */
static bool
may_have_list(DpKeyQuery *s, FuncExpr *call)
{
	Bitmapset  *items = pull_varnos(NULL, linitial(call->args));
	int			item = -1;

	while ((item = bms_next_member(items, item)) >= 0)
		if (!bms_is_empty(dp_key_query_item(s, item)->joins) || !dp_key_query_item(s, item)->is_private)
			return false;
	return !bms_is_empty(items) && bms_is_empty(pull_varnos(NULL, (Node *) list_copy_tail(call->args, 1))) &&
		!contain_volatile_functions((Node *) call);
}

/* Returns the condition that bounds and count are what PostgreSQL takes, which it raises an error about, or one is NULL. */
static Node *
check_bounds(FuncExpr *call)
{
	FuncExpr   *of_first = copyObject(call);
	CoalesceExpr *number;

	linitial(of_first->args) = copyObject(lsecond(call->args));
	number = dp_make(CoalesceExpr, .coalescetype = INT4OID, .args = list_make2(of_first, (Node *) dp_int4_const(0)),
					 .location = -1);
	return compare(INT4_GREATER_EQUAL, (Node *) number, (Node *) dp_int4_const(0));
}

/* Returns the last bucket of a count that is known when the query runs; below the first one: it is NULL. */
static Node *
last_of(Node *count)
{
	MinMaxExpr *least;
	CoalesceExpr *known = dp_make(CoalesceExpr, .coalescetype = INT4OID,
								  .args = list_make2(copyObject(count), (Node *) dp_int4_const(-2)),
								  .location = -1);

	least = dp_make(MinMaxExpr, .minmaxtype = INT4OID, .op = IS_LEAST,
					.args = list_make2(known, (Node *) dp_int4_const(PG_INT32_MAX - 1)), .location = -1);
	return int4_call(F_INT4PL, (Node *) least, (Node *) dp_int4_const(1));
}

/* Returns the condition that one of the bounds and the count, as the key query names them, is NULL; NULL: none is. */
static Node *
any_is_null(const BucketList *b)
{
	Node	   *any = NULL;

	for (int i = 1; i < 4; i++)
		if (!dp_expression_never_null(b->s->level, list_nth(b->call->args, i)))
		{
			Node	   *null = (Node *) dp_is_null(copyObject(list_nth(b->call->args, i)));

			any = any ? (Node *) make_orclause(list_make2(any, null)) : null;
		}
	return any;
}

/* Makes the list of a call of a count that is known when the query runs, in which the number before the first one stands for NULL. */
static void
make_series(BucketList *b)
{
	FuncExpr   *series = makeFuncExpr(F_GENERATE_SERIES_INT4_INT4, INT4OID,
									  list_make2((Node *) dp_int4_const(-1), last_of(lfourth(b->call->args))),
									  InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	DpKeyQueryItem *item = dp_key_query_add_list(b->s, (Node *) b->call, (Expr *) series);

	series->funcretset = true;
	item->is_series = true;
	b->value = choose(compare(Int4LessOperator, (Node *) copyObject(item->column), (Node *) dp_int4_const(0)),
					  (Node *) makeNullConst(INT4OID, -1, InvalidOid),
					  (Node *) makeBoolConst(false, false), (Node *) dp_int4_const(0), (Node *) copyObject(item->column));
}

/* Makes the list of a call; returns false where there are too many numbers. */
static bool
make_list(BucketList *b, FuncExpr *of_level)
{
	bool		with_null = !dp_expression_never_null(b->s->level, linitial(of_level->args));
	Node	   *null = any_is_null(b);
	Bitmapset  *none = NULL;
	int64		first;
	int64		last;

	if (dp_key_query_resolve(b->s, (Node *) list_copy_tail(b->call->args, 1), DP_LISTS_FOUND, &none) == NULL)
		return false;
	if (find_ends(b->s->level, of_level, &first, &last))
	{
		Const	   *known = dp_range_array(INT4OID, first, last, with_null || null != NULL);

		if (known == NULL)
			return false;
		b->value = (Node *) copyObject(dp_key_query_add_list(b->s, (Node *) b->call, (Expr *) known)->column);
	}
	else
		make_series(b);
	if (!with_null && (null != NULL || !IsA(b->value, Var)))
	{
		Node	   *number = (Node *) dp_is_not_null((Expr *) copyObject(b->value));

		dp_key_query_add_condition(b->s, null ? (Node *) make_orclause(list_make2(number, null)) : number)->follows = true;
	}
	if (dp_is_unfoldable((Node *) list_copy_tail(b->call->args, 1), NULL))
		dp_key_query_add_condition(b->s, check_bounds(b->call))->follows = true;
	return true;
}

/* Makes the list of a call of which rows may be missing, or which reads public columns, too: conditions are not asked of it. */
static bool
make_plain_list(BucketList *b, FuncExpr *of_level)
{
	int64		first;
	int64		last;
	Const	   *known;

	if (contain_volatile_functions((Node *) b->call) || !find_ends(b->s->level, of_level, &first, &last))
		return false;
	known = dp_range_array(INT4OID, first, last, !dp_expression_never_null(b->s->level, (Node *) of_level));
	if (known != NULL)
		b->value = (Node *) copyObject(dp_key_query_add_list(b->s, (Node *) b->call, (Expr *) known)->column);
	return known != NULL;
}

/* ------------------------------------------------------------------------
 * Its values by conditions
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

/* Returns the bucket of another value; NULL: it has none. */
static FuncExpr *
bucket_of(FuncExpr *bucket, Expr *value)
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

/* Tells whether a condition says that the value of a bucket is not NULL. */
static bool
excludes_null(FuncExpr *bucket, Node *condition)
{
	NullTest   *test = (NullTest *) condition;

	return IsA(condition, NullTest) && test->nulltesttype == IS_NOT_NULL && !test->argisrow &&
		equal(strip_monotone((Node *) test->arg), strip_monotone(linitial(bucket->args)));
}

/* Returns that the list is one, by an operator, with the bucket of an end; NULL: there is none. */
static Node *
implied_by_end(BucketList *b, Oid opno, Expr *end)
{
	Node	   *low = lsecond(b->call->args);
	Node	   *high = lthird(b->call->args);
	FuncExpr   *bucket = end != NULL ? bucket_of(b->call, end) : NULL;
	Node	   *limit;
	Node	   *has_limit;

	if (bucket == NULL)
		return NULL;
	limit = dp_make_safe((Node *) bucket, &b->s->level->allow);
	has_limit = (Node *) make_andclause(list_make2(compare(lookup_type_cache(exprType(low), TYPECACHE_LT_OPR)->lt_opr,
														   copyObject(low), copyObject(high)),
												   dp_is_not_null((Expr *) copyObject(limit))));
	return choose((Node *) dp_is_null(copyObject(end)), makeBoolConst(false, false),
				  has_limit, compare(opno, copyObject(b->value), limit), makeBoolConst(true, false));
}

/* Returns what a comparison of the value tells of the list; NULL: nothing. */
static Node *
implied_by(DpCondition *comparison, void *context)
{
	Expr	   *first;
	Expr	   *last;
	Node	   *above;
	Node	   *below;

	dp_find_hull(list_make1(comparison), strip_monotone(linitial(((BucketList *) context)->call->args)), &first, &last);
	above = implied_by_end(context, INT4_GREATER_EQUAL, first);
	below = implied_by_end(context, INT4_LESS_EQUAL, last);
	return above && below ? (Node *) make_andclause(list_make2(above, below)) : above ? above : below;
}

static Node *
put_value(const BucketList *b, Node *expr)
{
	return dp_put_equal(expr, list_make2(b->call, b->safe), list_make2(b->value, b->value), NULL);
}

/* Asks of the list what conditions say of the bucket itself, and of its value. */
static void
ask_conditions(BucketList *b)
{
	foreach_ptr(DpKeyQueryCondition, condition, list_copy(b->s->conditions))
	{
		DpCondition *read;
		Node	   *implied;

		if (!bms_is_empty(condition->joins))
			continue;
		read = dp_limits_of_condition(condition->expr);
		implied = read ? dp_follows_from(read, implied_by, b) : NULL;
		if (implied != NULL)
			dp_key_query_add_condition(b->s, implied)->follows = true;
		else if (excludes_null(b->call, condition->expr))
			dp_key_query_add_condition(b->s, (Node *) dp_is_not_null((Expr *) copyObject(b->value)))->follows = true;
		condition->expr = put_value(b, condition->expr);
	}
}

/* ------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------
 */

static DpWalk
note_bucket(Node *node, int levels, List **calls)
{
	if (is_width_bucket(node))
		*calls = list_append_unique(*calls, node);
	return DP_WALK_ON;
}

Node *
dp_key_query_put_buckets(DpKeyQuery *s, Node *expr, Node *named)
{
	List	   *calls = NIL;

	dp_walk(expr, note_bucket, &calls);
	foreach_ptr(FuncExpr, call, calls)
	{
		BucketList	b = {s};

		b.call = (FuncExpr *) dp_key_query_name(s, (Node *) call);
		b.safe = b.call ? dp_key_query_name(s, dp_make_safe((Node *) call, &s->level->allow)) : NULL;
		if (b.safe == NULL || bms_is_empty(pull_varnos(NULL, linitial(b.call->args))))
			continue;
		if (may_have_list(s, b.call))
		{
			if (!make_list(&b, call))
				continue;
			named = put_value(&b, named);
			ask_conditions(&b);
		}
		else if (make_plain_list(&b, call))
			named = put_value(&b, named);
	}
	return named;
}
