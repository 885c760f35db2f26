/*-------------------------------------------------------------------------
 *
 * written_limits.h
 *	  Between which constants conditions of a query hold a value.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_WRITTEN_LIMITS_H
#define DP_WRITTEN_LIMITS_H

#include "guard/level.h"

/* what conditions limit; zero-initialize, but for level and filter */
typedef struct DpWrittenLimits
{
	DpLevel    *level;
	Node	   *filter;			/* which the level's rows satisfy, too */
	List	   *queries;		/* whose conditions were looked at */
	List	   *conditions;		/* of each a List of DpCondition */
} DpWrittenLimits;

/*
 * Finds what all rows of query, which is the level's or below it, have expr within, from below and from above, as
 * expressions without columns; NULL: it has no limit.
 */
extern void dp_find_written_limits(DpWrittenLimits *limits, Query *query, Node *expr, Expr **least, Expr **most);

/* Returns the conditions (DpCondition) that limit: those that all rows of query satisfy, and those that are held. */
extern List *dp_held_conditions(DpWrittenLimits *limits, Query *query);

/* Has only the conditions limit that all rows of query satisfy; returns what dp_restore_conditions sets back. */
extern List *dp_hold_none(DpWrittenLimits *limits, Query *query);

/* Has a condition on rows of query limit, too; returns what dp_restore_conditions sets back. */
extern List *dp_hold_condition(DpWrittenLimits *limits, Query *query, Node *condition);
extern void dp_restore_conditions(DpWrittenLimits *limits, Query *query, List *former);

/*
 * Finds the bounds of a column that is a date or timestamp, in rows of the level that satisfy filter: the declared
 * ones, which conditions narrow unless as_declared, or what conditions hold it within.  Sets is_written if conditions have
 * a part in them.  Returns false if there are none.
 */
extern bool dp_find_times(DpLevel *level, Node *value, Node *filter, bool as_declared, Expr **first, Expr **last, bool *is_written);

#endif							/* DP_WRITTEN_LIMITS_H */
