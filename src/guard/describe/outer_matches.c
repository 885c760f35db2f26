/*-------------------------------------------------------------------------
 *
 * outer_matches.c
 *	  What outer joins tell of each other's rows.
 *
 *	   FROM t LEFT JOIN a ON a.day = t.at::date LEFT JOIN b ON b.day = t.at::date
 *
 * What t.at is need not be known: a row has a match in a and in b of the same
 * day, or of one of them none.
 *
 * Invariant: what is added follows from the conditions of the joins.  It makes
 * nothing be read that is not read without it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "guard/describe/key_query.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

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
	}
}
