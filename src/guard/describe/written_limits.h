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
	List	   *tests;			/* of each a List of DpCellTest */
} DpWrittenLimits;

/*
 * Finds what all rows of query, which is the level's or below it, have expr
 * within: from below and from above Lists of Lists of expressions without columns,
 * of one type in each, one of which is a limit.  Returns false if it is not
 * limited on both sides.
 */
extern bool dp_find_written_limits(DpWrittenLimits *limits, Query *query, Node *expr, List **least, List **most);

/*
 * Finds between which moments the level's rows that satisfy filter have a column
 * that is a date or timestamp; returns false if it is not limited on both sides.
 */
extern bool dp_find_written_times(DpLevel *level, Node *value, Node *filter, Expr **first, Expr **last);

#endif							/* DP_WRITTEN_LIMITS_H */
