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

#include "guard/describe/describe.h"
#include "guard/describe/time_ranges.h"
#include "guard/describe/written_limits.h"
#include "guard/facts/facts.h"

/* Returns the conditions (DpCondition) that all rows of the query satisfy. */
static List *
conditions_of(DpWrittenLimits *w, Query *query)
{
	bool		is_level = query == w->level->from.query;
	List	   *conditions;
	ListCell   *lc;

	foreach(lc, w->queries)
	{
		if (lfirst(lc) == query)
			return list_nth(w->conditions, foreach_current_index(lc));
	}
	conditions = dp_limits_of_conditions(is_level ? list_concat(list_copy(w->level->conditions), dp_conjuncts(w->filter))
									: dp_conditions_of_all((Node *) query->jointree));
	w->queries = lappend(w->queries, query);
	w->conditions = lappend(w->conditions, conditions);
	return conditions;
}

void
dp_find_written_limits(DpWrittenLimits *limits, Query *query, Node *expr, Expr **least, Expr **most)
{
	dp_find_hull(conditions_of(limits, query), expr, least, most);
}

List *
dp_hold_condition(DpWrittenLimits *limits, Query *query, Node *condition)
{
	List	   *former = conditions_of(limits, query);
	DpCondition *read = dp_limits_of_condition(condition);

	if (read != NULL)
		dp_restore_conditions(limits, query, lappend(list_copy(former), read));
	return former;
}

void
dp_restore_conditions(DpWrittenLimits *limits, Query *query, List *former)
{
	ListCell   *lc;

	foreach(lc, limits->queries)
		if (lfirst(lc) == query)
			lfirst(list_nth_cell(limits->conditions, foreach_current_index(lc))) = former;
}

bool
dp_find_written_times(DpLevel *level, Node *value, Node *filter, Expr **first, Expr **last)
{
	DpWrittenLimits limits = {level, filter};

	value = dp_strip_labels(value);
	if (!IsA(value, Var) || !dp_is_time_expr((Expr *) value))
		return false;
	dp_find_written_limits(&limits, level->from.query, value, first, last);
	return *first != NULL && *last != NULL;
}
