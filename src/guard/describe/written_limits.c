/*-------------------------------------------------------------------------
 *
 * written_limits.c
 *	  Between which constants conditions of a query hold a value.
 *
 * WHERE, the conditions of inner joins and FILTER are true of every row that
 * an aggregate reads, and that of WHEN where its result is taken: what they compare
 * with constants, parameters or the clock has these for its bounds.
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
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/prep.h"
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

/* A condition as far as it limits values: a comparison, or several of which one is true, or all are. */
typedef struct LimitTest
{
	bool		is_or;
	List	   *args;			/* LimitTest; NIL: a comparison */
	DpCellTest	test;
} LimitTest;

/* Tells whether node is, at each place, a comparison by which a value is limited: not <>, not NOT IN. */
static bool
is_limit(Node *node, const DpCellTest *test)
{
	if (IsA(node, ScalarArrayOpExpr))
		return ((ScalarArrayOpExpr *) node)->useOr && test->opno == Int4EqualOperator && test->constants != NIL;
	return IsA(node, OpExpr) && test->opno != get_negator(Int4EqualOperator);
}

static LimitTest *test_of(Node *condition, int *comparisons);

/* Reads a condition that is none of others; NULL: it limits nothing. */
static LimitTest *
comparison_of(Node *condition, int *comparisons)
{
	LimitTest  *test = palloc0(sizeof(LimitTest));
	Node	   *same = is_notclause(condition) ? (Node *) get_notclausearg(condition) : NULL;
	bool		is_same = same != NULL && IsA(same, DistinctExpr);

	if (++*comparisons > MOST_CONDITIONS || other_level_walker(condition, NULL) ||
		!dp_get_cell_test(is_same ? same : condition, &test->test))
		return NULL;
	return (is_same && test->test.opno == Int4EqualOperator) || is_limit(condition, &test->test) ? test : NULL;
}

/* Reads AND, of which each condition that limits something counts, or OR, of which all have to. */
static LimitTest *
tests_of_bool(BoolExpr *bool_expr, int *comparisons)
{
	LimitTest  *test = palloc0(sizeof(LimitTest));
	ListCell   *lc;

	test->is_or = bool_expr->boolop == OR_EXPR;
	foreach(lc, bool_expr->args)
	{
		LimitTest  *arg = test_of(lfirst(lc), comparisons);

		if (arg != NULL)
			test->args = lappend(test->args, arg);
		else if (test->is_or)
			return NULL;
	}
	return test->args != NIL ? test : NULL;
}

static LimitTest *
test_of(Node *condition, int *comparisons)
{
	check_stack_depth();
	if (is_notclause(condition))
		condition = negate_clause((Node *) get_notclausearg(condition));
	if (IsA(condition, BoolExpr) && !is_notclause(condition))
		return tests_of_bool((BoolExpr *) condition, comparisons);
	return comparison_of(condition, comparisons);
}

/* Returns the tests that all rows of the query satisfy. */
static List *
tests_of(DpWrittenLimits *w, Query *query)
{
	bool		is_level = query == w->level->from.query;
	int			comparisons = 0;
	List	   *tests = NIL;
	ListCell   *lc;

	foreach(lc, w->queries)
	{
		if (lfirst(lc) == query)
			return list_nth(w->tests, foreach_current_index(lc));
	}
	foreach(lc, is_level ? list_concat(list_copy(w->level->conditions), dp_conjuncts(w->filter))
			: dp_conditions_of_all((Node *) query->jointree))
	{
		LimitTest  *test = test_of(lfirst(lc), &comparisons);

		if (test != NULL)
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

static DpWrittenLimit *
make_limit(DpBoundOp op, List *args)
{
	DpWrittenLimit *limit = palloc(sizeof(DpWrittenLimit));

	limit->op = op;
	limit->args = args;
	return limit;
}

/* Returns below (is_least), or above, which value no test of these leaves expr; NULL: they do not tell. */
static DpWrittenLimit *
limit_of(List *tests, bool is_or, Node *expr, bool is_least)
{
	List	   *limits = NIL;
	ListCell   *lc;

	foreach(lc, tests)
	{
		LimitTest  *test = lfirst(lc);
		Oid			opno = test->test.opno;
		DpWrittenLimit *limit = NULL;

		if (test->args != NIL)
			limit = limit_of(test->args, test->is_or, expr, is_least);
		else if (is_of(&test->test, expr) &&
				 (opno == Int4EqualOperator || (is_least ? opno == 521 || opno == 525 : opno == Int4LessOperator || opno == 523)))
			limit = make_limit(DP_BOUND_HULL, test->test.constants);
		if (limit != NULL)
			limits = lappend(limits, limit);
		else if (is_or)
			return NULL;
	}
	if (list_length(limits) < 2)
		return limits != NIL ? linitial(limits) : NULL;
	return make_limit(is_least == is_or ? DP_BOUND_LEAST : DP_BOUND_GREATEST, limits);
}

void
dp_find_written_limits(DpWrittenLimits *limits, Query *query, Node *expr, DpWrittenLimit **least, DpWrittenLimit **most)
{
	List	   *tests = tests_of(limits, query);

	*least = limit_of(tests, false, expr, true);
	*most = limit_of(tests, false, expr, false);
}

List *
dp_hold_condition(DpWrittenLimits *limits, Query *query, Node *condition)
{
	List	   *former = tests_of(limits, query);
	int			comparisons = 0;
	LimitTest  *test = test_of(condition, &comparisons);

	if (test != NULL)
		dp_restore_conditions(limits, query, lappend(list_copy(former), test));
	return former;
}

void
dp_restore_conditions(DpWrittenLimits *limits, Query *query, List *former)
{
	ListCell   *lc;

	foreach(lc, limits->queries)
		if (lfirst(lc) == query)
			lfirst(list_nth_cell(limits->tests, foreach_current_index(lc))) = former;
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
