/*-------------------------------------------------------------------------
 *
 * join_matches.c
 *	  Public rows that protected ones match, as joins and WHERE tell.
 *
 *	   FROM t LEFT JOIN a ON a.day = t.at::date LEFT JOIN b ON b.day = t.at::date
 *
 * A row of t matches a and b at the same day, or has no match in one of them.  That holds for all values of t.at.
 * WHERE t.at >= '2025-01-01' AND t.at < '2025-02-01' leaves few values: a list of them is joined with a.  Other days
 * then have no group.  Rows without a match have none if a has all days of the list.
 *
 *	   FROM t JOIN a ON t.at >= a.day AND t.at < a.day + 1
 *
 * The last moment that conditions leave t.at is no less than a.day, and the first one less than a.day + 1: in a comparison an
 * end of the range stands for the protected side.  It does, too, in an equality with what grows with the column, such as its day.
 *
 * Invariants:
 * - what is added follows from the conditions of the joins, and of WHERE;
 * - an end is beyond all values of the protected side, by as many days as that may be off from growing with the column;
 * - a list has each value of the column in rows that satisfy WHERE.  Values that are declared alone make no list:
 *	 rows of others have groups, too.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/describe/key_query.h"
#include "guard/describe/time_ranges.h"
#include "guard/facts/facts.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/timestamp.h"

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

/* Returns the side of an equality of WHERE, or of an inner join, that is more than a column or its day, and the other one public; NULL: neither is. */
static Node *
equated(DpKeyQuery *s, const DpKeyQueryCondition *condition)
{
	List	   *args;
	DpComparison c;

	for (int side = 0; side < 2 && bms_is_empty(condition->joins) && !contain_volatile_functions(condition->expr); side++)
	{
		if (dp_read_side(condition->expr, side, &c) && dp_strategy_of(c.opno, exprType(c.left)) == BTEqualStrategyNumber &&
			!IsA(dp_strip_casts(c.left), Var) && (dp_call_kind(c.left, &args) != DP_KIND_date || !IsA(dp_strip_casts(linitial(args)), Var)) && dp_key_query_is_bounded(s, condition, c.right))
			return c.left;
	}
	return NULL;
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
		Node	   *expr = equated(s, condition);

		if (expr != NULL)
			others = lappend(others, expr);
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

/* ------------------------------------------------------------------------
 * Ranges
 * ------------------------------------------------------------------------
 */

/*
 * Returns the protected column that an expression is, or that it is the day or another unit of, in whichever type and zone, moved by
 * what is known: it grows with the column, but for so many days.  NULL: it is no such.
 */
static Var *
column_of(DpKeyQuery *s, Node *expr, int *days_off)
{
	List	   *args = NIL;
	Const	   *by;
	DpFunctionKind kind;

	expr = dp_strip_casts(expr);
	if (IsA(expr, Var))
		return dp_key_query_item(s, ((Var *) expr)->varno)->is_private ? (Var *) expr : NULL;
	if (!dp_is_time_expr((Expr *) expr))
		return NULL;
	kind = dp_call_kind(expr, &args);
	switch (kind)
	{
		case DP_KIND_date:
		case DP_KIND_timestamp:
		case DP_KIND_timestamptz:
			if (list_length(args) != 1)
				return NULL;
			if (exprType(expr) != DATEOID && exprType(linitial(args)) != DATEOID)
				*days_off = Max(*days_off, DP_DAYS_OF_CLOCK);
			break;
		case DP_KIND_timezone:
			*days_off = Max(*days_off, DP_DAYS_OF_CLOCK);
			args = list_make1(llast(args));
			break;
		case DP_KIND_date_trunc:
			if (list_length(args) != 2)
				return NULL;
			args = list_make1(lsecond(args));
			break;
		case DP_KIND_add:
		case DP_KIND_subtract:
			if (dp_has_columns(lsecond(args)))
				return NULL;
			by = (Const *) dp_as_known(lsecond(args));
			if (exprType(lsecond(args)) != INT4OID)
				*days_off = Max(*days_off, IsA(by, Const) && by->consttype == INTERVALOID && !by->constisnull &&
								DatumGetIntervalP(by->constvalue)->month == 0 ? DP_DAYS_OF_CLOCK : DP_DAYS_OF_MONTH);
			break;
		default:
			return NULL;
	}
	return dp_is_time_expr(linitial(args)) ? column_of(s, linitial(args), days_off) : NULL;
}

static bool
is_bucket(DpKeyQuery *s, Node *expr)
{
	int			days_off = 0;

	return !IsA(dp_strip_labels(expr), Var) && column_of(s, expr, &days_off) != NULL;
}

/* Adds the condition that an end of a range is, by strategy, beside what the range is compared with. */
static void
bound_by_end(DpKeyQuery *s, Expr *end, int strategy, Node *bounded, Bitmapset *joins)
{
	DpKeyQueryCondition *condition;
	OpExpr	   *op = NULL;

	/* ends of integers are numeric */
	if (end != NULL && exprType((Node *) end) == NUMERICOID && dp_type_is_integer(exprType(bounded)))
		bounded = (Node *) dp_cast_to((Expr *) bounded, NUMERICOID);
	if (end != NULL && bounded != NULL)
		op = dp_make_ordering(strategy, end, copyObject((Expr *) bounded), InvalidOid);
	if (op == NULL)
		return;
	condition = dp_key_query_add_condition(s, (Node *) op);
	condition->joins = joins;
	condition->follows = !bms_is_empty(joins);
}

/* Returns an expression over a column at an end of its range; those of numbers are for all types of numbers.  NULL: there is none. */
static Expr *
of_end(Node *expr, Var *column, Expr *end, int days)
{
	if (end == NULL || !dp_is_time_expr((Expr *) column))
		return end;
	if (days != 0)
		end = dp_moved_by(end, 0, days, 0);
	return (Expr *) dp_put_equal(expr, list_make1(column), list_make1(end), NULL);
}

/* Adds what follows for a public expression that one over a protected column is compared with: limits in WHERE tell its range. */
static void
bound_other(DpKeyQuery *s, List *where, Node *expr, int strategy, Node *bounded, Bitmapset *joins)
{
	int			days_off = 0;
	Var		   *column = column_of(s, expr, &days_off);
	Expr	   *first;
	Expr	   *last;

	/* ranges are those of numbers and times */
	if (column == NULL || OidIsValid(column->varcollid))
		return;
	dp_find_hull(where, (Node *) column, &first, &last);
	if (strategy >= BTEqualStrategyNumber)
		bound_by_end(s, of_end(expr, column, last, days_off), strategy == BTEqualStrategyNumber ? BTGreaterEqualStrategyNumber : strategy, bounded, joins);
	if (strategy <= BTEqualStrategyNumber)
		bound_by_end(s, of_end(expr, column, first, -days_off), strategy == BTEqualStrategyNumber ? BTLessEqualStrategyNumber : strategy, bounded, joins);
}

bool
dp_key_query_is_bounded(DpKeyQuery *s, const DpKeyQueryCondition *condition, Node *expr)
{
	List	   *columns = pull_var_clause(expr, 0);
	int			join = -1;

	while ((join = bms_next_member(condition->joins, join)) >= 0)
		if (((DpKeyQueryJoin *) list_nth(s->joins, join - 1))->is_anti)
			return false;
	foreach_ptr(Var, column, columns)
	{
		DpKeyQueryItem *item = dp_key_query_item(s, column->varno);

		if (item->is_private || !bms_is_subset(condition->joins, item->joins))
			return false;
	}
	return columns != NIL;
}

void
dp_key_query_bound_compared(DpKeyQuery *s)
{
	int			n = list_length(s->conditions);
	List	   *where = dp_limits_of_conditions(dp_key_query_where(s));

	for (int i = 0; i < n; i++)
	{
		const DpKeyQueryCondition *condition = list_nth(s->conditions, i);

		for (int side = 0; side < 2 && !contain_volatile_functions(condition->expr); side++)
		{
			DpComparison c;
			Node	   *left,
					   *right;
			int			strategy;

			if (!dp_read_side(condition->expr, side, &c) || !dp_key_query_is_bounded(s, condition, c.right))
				continue;
			strategy = dp_strategy_of(c.opno, exprType(c.left));

			/*
			 * classes have members of one type, and outer joins limit columns
			 * (limit_match)
			 */
			if (strategy == BTEqualStrategyNumber && dp_is_equality(condition->expr, &left, &right) &&
				(bms_is_empty(condition->joins) || !is_bucket(s, c.left)))
				continue;
			if (strategy != 0)
				bound_other(s, where, c.left, strategy, c.right, condition->joins);
		}
	}
	foreach_ptr(DpKeyQueryClass, class, s->classes)
	{
		foreach_ptr(Node, bucket, class->members)
		{
			foreach_ptr(Node, member, is_bucket(s, bucket) ? class->members : NIL)
			{
				if (IsA(member, Var) && !dp_key_query_item(s, ((Var *) member)->varno)->is_private)
					bound_other(s, where, bucket, BTEqualStrategyNumber, member, NULL);
			}
		}
	}
}
