/*-------------------------------------------------------------------------
 *
 * outer_matches.c
 *	  What outer joins tell of each other's rows.
 *
 *	   FROM t LEFT JOIN a ON a.day = t.at::date LEFT JOIN b ON b.day = t.at::date
 *
 * What t.at is need not be known: a row has a match in a and in b of the same
 * day, or of one of them none.  Where conditions leave it few values, WHERE t.at >= '2025-01-01' AND
 * t.at < '2025-02-01', a list of these is joined with a: of other days there is no group, and
 * none of rows without a match if a has all of them.
 *
 * Invariants:
 * - what is added follows from the conditions of the joins, and of WHERE;
 * - a list has each value of the column in rows that satisfy WHERE.  Values that are declared alone make no list:
 *	 rows of others have groups, too.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "guard/describe/describe.h"
#include "guard/describe/key_query.h"
#include "guard/describe/time_ranges.h"
#include "guard/facts/facts.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

/* the most rows that lists make together, where several are joined; each series of points is taken for so many */
#define MOST_LISTED 100000
#define USUAL_POINTS 1000

/* a column of what an outer join may have no row of, and what it is equal to where there is one */
typedef struct Match
{
	DpComparison equality;
	Var		   *column;
	Node	   *other;
} Match;

/* Tells whether side is a public column of which there is no row unless the condition holds. */
static bool
is_matched_column(DpKeyQuery *s, const DpKeyQueryCondition *condition, Node *side)
{
	DpKeyQueryItem *item;

	if (!IsA(side, Var))
		return false;
	item = dp_key_query_item(s, ((Var *) side)->varno);
	return !item->is_private && bms_is_subset(condition->joins, item->joins);
}

/* Returns the match that a condition of an outer join asks for; false: it is no such condition. */
static bool
get_match(DpKeyQuery *s, const DpKeyQueryCondition *condition, Match *match)
{
	Node	   *left,
			   *right;
	int			join = -1;

	if (bms_is_empty(condition->joins) || !dp_is_equality(condition->expr, &left, &right) ||
		contain_volatile_functions(condition->expr))
		return false;
	while ((join = bms_next_member(condition->joins, join)) >= 0)
		if (((DpKeyQueryJoin *) list_nth(s->joins, join - 1))->is_anti)
			return false;
	if (!is_matched_column(s, condition, left))
	{
		Node	   *swap = left;

		left = right;
		right = swap;
	}
	/* the operator takes the column as it is */
	if (!is_matched_column(s, condition, left) ||
		!dp_read_operator(condition->expr, &match->equality) || exprType(match->equality.left) != exprType(left) ||
		exprType(match->equality.right) != exprType(left))
		return false;
	match->column = (Var *) left;
	match->other = right;
	return true;
}

/* Adds that both have the same value, or one of them no row. */
static void
add_relation(DpKeyQuery *s, const Match *a, const Match *b)
{
	DpComparison same = a->equality;
	List	   *any;

	same.left = (Node *) copyObject(a->column);
	same.right = (Node *) copyObject(b->column);
	any = list_make1(dp_write_comparison(&same));
	any = lappend(any, makeBoolExpr(NOT_EXPR, list_make1(dp_is_not_null((Expr *) copyObject(a->column))), -1));
	any = lappend(any, makeBoolExpr(NOT_EXPR, list_make1(dp_is_not_null((Expr *) copyObject(b->column))), -1));
	dp_key_query_add_condition(s, (Node *) makeBoolExpr(OR_EXPR, any, -1))->follows = true;
}

/* Adds what a condition of WHERE says of the value that a match is equal to: it says so of matches, too. */
static void
limit_match(DpKeyQuery *s, const DpKeyQueryCondition *join, const Match *match, const DpKeyQueryCondition *where)
{
	DpCondition *read;
	Node	   *limits;
	DpKeyQueryCondition *limited;

	/* limits are those of numbers and times */
	if (!bms_is_empty(where->joins) || contain_volatile_functions(where->expr) || OidIsValid(match->column->varcollid))
		return;
	read = dp_limits_of_condition(where->expr);
	limits = read ? dp_limits_on(read, match->other) : NULL;
	if (limits == NULL)
		return;
	limited = dp_key_query_add_condition(s, dp_put_equal(limits, list_make1(match->other), list_make1(match->column), NULL));
	limited->joins = join->joins;
	limited->follows = true;
}

void
dp_key_query_relate_matches(DpKeyQuery *s)
{
	int			n = list_length(s->conditions);
	Match		a,
				b;

	for (int i = 0; i < n; i++)
	{
		if (!get_match(s, list_nth(s->conditions, i), &a))
			continue;
		for (int j = 0; j < i; j++)
			if (get_match(s, list_nth(s->conditions, j), &b) && a.column->varno != b.column->varno &&
				a.column->vartype == b.column->vartype && a.column->varcollid == b.column->varcollid &&
				a.equality.opno == b.equality.opno && equal(a.other, b.other))
				add_relation(s, &a, &b);
		dp_key_query_bound_by(s, a.other, list_make1(a.column), ((DpKeyQueryCondition *) list_nth(s->conditions, i))->joins);
		for (int j = 0; j < n; j++)
			limit_match(s, list_nth(s->conditions, i), &a, list_nth(s->conditions, j));
	}
}

/* Returns the protected columns that matches are compared with, of which nothing is known, and which no outer join may miss. */
static List *
unknown_columns(DpKeyQuery *s, List *others)
{
	List	   *unknown = NIL;

	foreach_ptr(Var, column, pull_var_clause((Node *) others, 0))
	{
		const DpKeyQueryItem *item = dp_key_query_item(s, column->varno);

		if (item->is_private && bms_is_empty(item->joins))
			unknown = list_append_unique(unknown, column);
	}
	return unknown;
}

/* Returns how many rows a list has, about. */
static double
rows_of(const DpKeyQueryItem *list)
{
	return !list->is_series && list->values != NULL && IsA(list->values, Const) ? Max(dp_list_size((Const *) list->values), 1) : USUAL_POINTS;
}

/* Returns the expression over a protected time that WHERE, or an inner join, equates with a public column, and whose range is not known without points; NULL: there is none. */
static Node *
equated_time(DpKeyQuery *s, const DpKeyQueryCondition *condition)
{
	Node	   *left,
			   *right;

	if (!bms_is_empty(condition->joins) || !dp_is_equality(condition->expr, &left, &right) || IsA(left, Var) == IsA(right, Var) ||
		contain_volatile_functions(condition->expr))
		return NULL;
	if (IsA(left, Var))
		left = right;
	return dp_is_time_expr((Expr *) left) && !dp_key_query_is_bucket(s, left) ? left : NULL;
}

void
dp_key_query_list_matched(DpKeyQuery *s, List *keys)
{
	List	   *others = NIL;
	double		product = 1;

	foreach_ptr(const DpKeyQueryCondition, condition, s->conditions)
	{
		Bitmapset  *items = NULL;
		Match		match;
		Node	   *equated = equated_time(s, condition);

		if (equated != NULL)
			others = lappend(others, equated);
		else if (get_match(s, condition, &match) && dp_key_query_resolve(s, match.other, DP_LISTS_FOUND, &items) == NULL)
			others = lappend(others, match.other);
	}
	dp_key_query_add_asked_points(s, keys, others);
	foreach_ptr(Var, column, unknown_columns(s, others))
	{
		DpKeyQueryItem *list = dp_key_query_find_list(s, (Node *) column);

		if (list == NULL && !dp_is_time_expr((Expr *) column))
			list = dp_key_query_list_asked(s, (Node *) column);
		if (list == NULL && !dp_is_time_expr((Expr *) column))
			list = dp_key_query_list_range(s, (Node *) column, USUAL_POINTS);
		if (list != NULL && list->policy == NULL && (product *= rows_of(list)) <= MOST_LISTED)
			list->is_matched = true;
	}
}
