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

#include "base/compat.h"
#include "guard/describe/describe.h"
#include "guard/describe/time_ranges.h"
#include "guard/describe/written_limits.h"
#include "guard/facts/facts.h"
#include "miscadmin.h"
#include "parser/parsetree.h"

/* Returns the conditions (DpCondition) that all rows of the query satisfy. */
static List *
conditions_of(DpWrittenLimits *w, Query *query)
{
	return dp_limits_of_conditions(query == w->level->from.query ? list_concat(list_copy(w->level->conditions), dp_conjuncts(w->filter))
								   : dp_conditions_of_all((Node *) query->jointree));
}

List *
dp_held_conditions(DpWrittenLimits *w, Query *query)
{
	foreach_ptr(Query, held, w->queries)
	{
		if (held == query)
			return list_nth(w->conditions, foreach_current_index(held));
	}
	w->queries = lappend(w->queries, query);
	w->conditions = lappend(w->conditions, conditions_of(w, query));
	return llast(w->conditions);
}

void
dp_find_written_limits(DpWrittenLimits *limits, Query *query, Node *expr, Expr **least, Expr **most)
{
	dp_find_hull(dp_held_conditions(limits, query), expr, least, most);
}

List *
dp_hold_condition(DpWrittenLimits *limits, Query *query, Node *condition)
{
	List	   *former = dp_held_conditions(limits, query);
	DpCondition *read = dp_limits_of_condition(condition);

	if (read != NULL)
		dp_restore_conditions(limits, query, lappend(list_copy(former), read));
	return former;
}

List *
dp_hold_none(DpWrittenLimits *limits, Query *query)
{
	List	   *former = dp_held_conditions(limits, query);

	dp_restore_conditions(limits, query, conditions_of(limits, query));
	return former;
}

void
dp_restore_conditions(DpWrittenLimits *limits, Query *query, List *former)
{
	foreach_ptr(Query, held, limits->queries)
		if (held == query)
		lfirst(list_nth_cell(limits->conditions, foreach_current_index(held))) = former;
}

/* Adds the limits of a column, and of what it is in a subquery. */
static void
add_limits(DpWrittenLimits *limits, Query *query, Var *column, List **first, List **last)
{
	RangeTblEntry *rte = rt_fetch(column->varno, query->rtable);
	TargetEntry *tle = rte->rtekind == RTE_SUBQUERY && rte->subquery->setOperations == NULL
	? get_tle_by_resno(rte->subquery->targetList, column->varattno) : NULL;
	Node	   *below = tle ? dp_strip_labels((Node *) tle->expr) : NULL;
	Expr	   *least;
	Expr	   *most;

	check_stack_depth();
	dp_find_written_limits(limits, query, (Node *) column, &least, &most);
	if (least != NULL)
		*first = lappend(*first, least);
	if (most != NULL)
		*last = lappend(*last, most);
	if (below != NULL && IsA(below, Var) && ((Var *) below)->varlevelsup == 0)
		add_limits(limits, rte->subquery, (Var *) below, first, last);
}

bool
dp_find_times(DpLevel *level, Node *value, Node *filter, bool as_declared, Expr **first, Expr **last, bool *is_written)
{
	DpWrittenLimits limits = {level, filter};
	Const	   *lower;
	Const	   *upper;
	bool		is_declared = dp_find_time_bounds(level, value, &lower, &upper);
	List	   *least = NIL;
	List	   *most = NIL;

	value = dp_strip_labels(value);
	if (IsA(value, Var) && dp_is_time_expr((Expr *) value) && !(is_declared && as_declared))
		add_limits(&limits, level->from.query, (Var *) value, &least, &most);
	*is_written = least != NIL || most != NIL;
	*first = dp_extreme(least, IS_GREATEST);
	*last = dp_extreme(most, IS_LEAST);
	if (is_declared)
	{
		/* what lies outside counts as the nearer bound */
		*first = dp_extreme(list_make2(lower, *first ? dp_extreme(list_make2(*first, upper), IS_LEAST) : (Expr *) lower), IS_GREATEST);
		*last = dp_extreme(list_make2(upper, *last ? dp_extreme(list_make2(*last, lower), IS_GREATEST) : (Expr *) upper), IS_LEAST);
	}
	if (*first != NULL && *last != NULL)
		return true;
	*is_written = false;
	return false;
}
