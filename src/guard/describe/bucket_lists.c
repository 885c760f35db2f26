/*-------------------------------------------------------------------------
 *
 * bucket_lists.c
 *	  Lists that stand for width_bucket in the shadow of a level.
 *
 * Where bounds, count, or what conditions compare the value with are known only
 * when the query runs,
 *
 *		WHERE amount < $1 ... GROUP BY width_bucket(amount, 0, $2, 20)
 *
 * the buckets are a list like any other, numbers up to the count, and what the
 * conditions tell of them is asked of the list.
 *
 * Invariants:
 * - Each condition that is added follows from one that is there, whatever the
 *	 parameters are: where buckets are numbered downwards, or what a value is
 *	 compared with has none, it holds.
 * - What PostgreSQL would refuse for every row, a count of 0, is refused when
 *	 the list is read, before any debit.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/describe/shadow.h"
#include "guard/describe/width_buckets.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "policy/policy.h"
#include "utils/fmgroids.h"
#include "utils/typcache.h"

/* a call that a list stands for */
typedef struct BucketList
{
	DpShadow   *s;
	FuncExpr   *call;			/* as the shadow names its columns */
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

static Node *
is_null(Node *value)
{
	NullTest   *test = castNode(NullTest, dp_is_not_null((Expr *) copyObject(value)));

	test->nulltesttype = IS_NULL;
	return (Node *) test;
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

static void
add_condition(DpShadow *s, Node *expr, bool is_below)
{
	DpShadowCondition *condition = dp_shadow_add_condition(s, expr);

	condition->is_below = is_below;
	condition->follows = true;
}

/* ------------------------------------------------------------------------
 * The list
 * ------------------------------------------------------------------------
 */

/* Tells whether a call reads protected rows in its first argument, of which none may be missing, and no column in the others. */
static bool
may_have_list(DpShadow *s, FuncExpr *call)
{
	Bitmapset  *items = pull_varnos(NULL, linitial(call->args));
	int			item = -1;

	while ((item = bms_next_member(items, item)) >= 0)
		if (!bms_is_empty(dp_shadow_item(s, item)->joins) || !dp_shadow_item(s, item)->is_private)
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
	return compare(DP_INT4_GREATER_EQUAL, (Node *) number, (Node *) dp_int4_const(0));
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

/*
 * Makes the list of a call, in which the number before the first one stands
 * for NULL; returns false where there are too many numbers.
 */
static bool
make_list(BucketList *b, FuncExpr *of_level)
{
	DpShadowItem *item;
	FuncExpr   *series;
	Node	   *last = NULL;
	int64		first;
	int64		end;
	bool		with_null = !dp_expression_never_null(b->s->level, linitial(of_level->args));
	Bitmapset  *none = NULL;
	Node	   *any_null = NULL;

	if (dp_width_bucket_ends(b->s->level, of_level, &first, &end))
	{
		if (end - first > DP_MAX_DECLARED_KEYS)
			return false;
		last = (Node *) dp_int4_const((int32) Min(end, PG_INT32_MAX));
	}
	else
		last = last_of(lfourth(b->call->args));
	if (dp_shadow_resolve(b->s, (Node *) list_copy_tail(b->call->args, 1), false, &none) == NULL)
		return false;
	for (int i = 1; i < 4; i++)
		if (!dp_expression_never_null(b->s->level, list_nth(b->call->args, i)))
		{
			Node	   *null = is_null(list_nth(b->call->args, i));

			any_null = any_null ? (Node *) make_orclause(list_make2(any_null, null)) : null;
		}
	series = makeFuncExpr(F_GENERATE_SERIES_INT4_INT4, INT4OID, list_make2((Node *) dp_int4_const(first - 1), last),
						  InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	series->funcretset = true;
	item = dp_shadow_add_item(b->s);
	item->column = makeVar(item->number, 1, INT4OID, -1, InvalidOid, 0);
	item->values = (Expr *) series;
	item->is_series = true;
	b->value = choose(compare(Int4LessOperator, (Node *) copyObject(item->column), (Node *) dp_int4_const(first)),
					  (Node *) makeNullConst(INT4OID, -1, InvalidOid),
					  (Node *) makeBoolConst(false, false), (Node *) dp_int4_const(0), (Node *) copyObject(item->column));
	if (!with_null)
	{
		Node	   *number = compare(DP_INT4_GREATER_EQUAL, (Node *) copyObject(item->column), (Node *) dp_int4_const(first));

		add_condition(b->s, any_null ? (Node *) make_orclause(list_make2(number, any_null)) : number, false);
	}
	add_condition(b->s, check_bounds(b->call), false);
	return true;
}

/* ------------------------------------------------------------------------
 * What conditions tell of it
 * ------------------------------------------------------------------------
 */

/* Returns that the list is one, by an operator, with the bucket of an end; NULL: there is none. */
static Node *
implied_by_end(BucketList *b, Oid opno, Expr *end)
{
	Node	   *low = lsecond(b->call->args);
	Node	   *high = lthird(b->call->args);
	FuncExpr   *bucket = end != NULL ? dp_bucket_of(b->call, end) : NULL;
	Node	   *limit;
	Node	   *has_limit;

	if (bucket == NULL)
		return NULL;
	limit = dp_make_safe((Node *) bucket, &b->s->level->allow);
	has_limit = (Node *) make_andclause(list_make2(compare(lookup_type_cache(exprType(low), TYPECACHE_LT_OPR)->lt_opr,
														   copyObject(low), copyObject(high)),
												   dp_is_not_null((Expr *) copyObject(limit))));
	return choose(is_null((Node *) end), makeBoolConst(false, false),
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

	dp_find_value_of_bucket(((BucketList *) context)->call, comparison, &first, &last);
	above = implied_by_end(context, DP_INT4_GREATER_EQUAL, first);
	below = implied_by_end(context, DP_INT4_LESS_EQUAL, last);
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
	foreach_ptr(DpShadowCondition, condition, list_copy(b->s->conditions))
	{
		DpCondition *read;
		Node	   *implied;

		if (!bms_is_empty(condition->joins))
			continue;
		read = dp_limits_of_condition(condition->expr);
		implied = read ? dp_follows_from(read, implied_by, b) : NULL;
		if (implied != NULL)
			add_condition(b->s, implied, condition->is_below);
		else if (dp_bucket_not_null(b->call, condition->expr))
			add_condition(b->s, (Node *) dp_is_not_null((Expr *) copyObject(b->value)), condition->is_below);
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
	if (dp_is_width_bucket(node))
		*calls = list_append_unique(*calls, node);
	return DP_WALK_ON;
}

Node *
dp_shadow_put_buckets(DpShadow *s, Node *expr, Node *named)
{
	List	   *calls = NIL;

	dp_walk(expr, note_bucket, &calls);
	foreach_ptr(FuncExpr, call, calls)
	{
		BucketList	b = {s};

		b.call = (FuncExpr *) dp_shadow_name(s, (Node *) call);
		b.safe = b.call ? dp_shadow_name(s, dp_make_safe((Node *) call, &s->level->allow)) : NULL;
		if (b.safe == NULL || !may_have_list(s, b.call) || !make_list(&b, call))
			continue;
		named = put_value(&b, named);
		ask_conditions(&b);
	}
	return named;
}
