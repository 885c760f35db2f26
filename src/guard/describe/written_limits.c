/*-------------------------------------------------------------------------
 *
 * written_limits.c
 *	  Between which constants conditions of a query hold a value.
 *
 * WHERE, the conditions of inner joins and FILTER are true of every row that
 * an aggregate reads: what they compare with constants, parameters or the
 * clock has these for its bounds.
 *
 * Invariant: limits are those of the query's text, and of no row.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/cell_tests.h"
#include "guard/describe/describe.h"
#include "guard/describe/time_ranges.h"
#include "guard/describe/written_limits.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

/* the most conditions that are looked at */
#define MOST_CONDITIONS 200

static bool
other_level_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, SubLink) || IsA(node, Aggref) || IsA(node, WindowFunc) || IsA(node, CaseTestExpr) ||
		expression_tree_walker(node, other_level_walker, context);
}

/* Tells whether node is, at each place, a comparison by which a value is limited: not <>, not NOT IN. */
static bool
is_limit(Node *node, const DpCellTest *test)
{
	if (IsA(node, ScalarArrayOpExpr))
		return ((ScalarArrayOpExpr *) node)->useOr && test->opno == Int4EqualOperator && test->constants != NIL;
	return IsA(node, OpExpr) && test->opno != get_negator(Int4EqualOperator);
}

/* Returns the comparisons that all rows of the query satisfy. */
static List *
tests_of(DpWrittenLimits *w, Query *query)
{
	bool		is_level = query == w->level->from.query;
	List	   *conditions;
	List	   *tests = NIL;
	ListCell   *lc;

	foreach(lc, w->queries)
	{
		if (lfirst(lc) == query)
			return list_nth(w->tests, foreach_current_index(lc));
	}
	conditions = is_level ? list_concat(list_copy(w->level->conditions), dp_conjuncts(w->filter))
		: dp_conditions_of_all((Node *) query->jointree);
	foreach(lc, conditions)
	{
		DpCellTest *test = palloc(sizeof(DpCellTest));

		if (list_length(tests) < MOST_CONDITIONS && !other_level_walker(lfirst(lc), NULL) &&
			dp_get_cell_test(lfirst(lc), test) && is_limit(lfirst(lc), test))
			tests = lappend(tests, test);
	}
	w->queries = lappend(w->queries, query);
	w->tests = lappend(w->tests, tests);
	return tests;
}

/* Tells whether a test is of the value that an expression has. */
static bool
is_of(const DpCellTest *test, Node *expr)
{
	expr = test->type == NUMERICOID || test->type == FLOAT8OID ? dp_strip_casts(expr) : dp_strip_labels(expr);
	return equal(test->expr, expr);
}

bool
dp_find_written_limits(DpWrittenLimits *limits, Query *query, Node *expr, List **least, List **most)
{
	ListCell   *lc;

	*least = *most = NIL;
	foreach(lc, tests_of(limits, query))
	{
		DpCellTest *test = lfirst(lc);
		bool		is_equal = test->opno == Int4EqualOperator;

		if (!is_of(test, expr))
			continue;
		if (is_equal || test->opno == 521 || test->opno == 525)
			*least = lappend(*least, test->constants);
		if (is_equal || test->opno == Int4LessOperator || test->opno == 523)
			*most = lappend(*most, test->constants);
	}
	return *least != NIL && *most != NIL;
}

bool
dp_find_written_times(DpLevel *level, Node *value, Node *filter, Expr **first, Expr **last)
{
	DpTimeRange range = {0};
	bool		exact;
	ListCell   *lc;

	value = dp_strip_labels(value);
	if (!IsA(value, Var) || !dp_is_time_expr((Expr *) value))
		return false;
	foreach(lc, list_concat(list_copy(level->conditions), dp_conjuncts(filter)))
	{
		if (!other_level_walker(lfirst(lc), NULL) && !dp_narrow_time(&range, (Var *) value, lfirst(lc), &exact))
			(void) dp_narrow_to_year(&range, (Var *) value, lfirst(lc));
	}
	if (range.first == NULL || range.last == NULL)
		return false;
	*first = range.first;
	*last = range.last;
	return true;
}
