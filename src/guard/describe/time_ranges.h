/*-------------------------------------------------------------------------
 *
 * time_ranges.h
 *	  Between which moments a date or timestamp is in rows that satisfy the
 *	  conditions of a query.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_TIME_RANGES_H
#define DP_TIME_RANGES_H

#include "guard/describe/key_query.h"

/* zero-initialize */
typedef struct DpTimeRange
{
	Expr	   *first;			/* of the column's type, included; NULL: open */
	Expr	   *last;
	bool		from_conditions;	/* which NULL does not satisfy */
} DpTimeRange;

/* Tells whether an expression is a date, or a timestamp with or without time zone. */
extern bool dp_is_time_expr(Expr *value);

/* Narrows the range to where a condition may be true; returns whether it is narrower. */
extern bool dp_narrow_time(DpTimeRange *range, Var *column, Node *condition);

/* Sets the ends that conditions leave open to what the owner has declared. */
extern void dp_use_declared_range(DpKeyQuery *s, Var *column, DpTimeRange *range);

#endif							/* DP_TIME_RANGES_H */
