/*-------------------------------------------------------------------------
 *
 * calculators.h
 *	  The calculators as a table: names, arguments, ranges, bounds.
 *
 * What the SQL functions check before they compute is in this table, so that
 * tests without a server can call the same functions in the same ranges.
 * Calculators that take lists are not in it.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_CALCULATORS_H
#define DP_CALCULATORS_H

#include <stdbool.h>
#include <stdint.h>

/* which values an argument may have; NaN and infinities never */
typedef enum DpRange
{
	DP_RANGE_NONNEGATIVE,		/* >= 0 */
	DP_RANGE_POSITIVE,			/* > 0 */
	DP_RANGE_PROBABILITY,		/* 0 to 1 */
	DP_RANGE_INSIDE,			/* between 0 and 1, both excluded */
	DP_RANGE_CLASSIC,			/* > 0, <= 1 */
	DP_RANGE_ORDER,				/* > 1 */
	DP_RANGE_WHOLE,				/* >= 0, without a fraction */
	DP_RANGE_FINITE,			/* any number */
	DP_RANGE_COUNT				/* an integer from 1 to DP_MAX_COUNT */
} DpRange;

/* the most that a k may be: integers up to here are doubles, too */
#define DP_MAX_COUNT	(INT64_C(1) << 53)

/* an argument: i for DP_RANGE_COUNT, d for all others */
typedef union DpArgument
{
	double		d;
	int64_t		i;
} DpArgument;

#define DP_MAX_ARGUMENTS	4

typedef struct DpParameter
{
	const char *name;
	DpRange		range;
} DpParameter;

typedef struct DpCalculator
{
	const char *name;			/* name of the SQL function */
	const char *bound;			/* its bound, "" if there is but one */
	int			nargs;			/* without the bound */
	DpParameter args[DP_MAX_ARGUMENTS];
	int			nresults;		/* 1, or 2 for a pair */

	/*
	 * args are in their ranges.  False, and nothing in result, if there is no
	 * answer all the same; refusal says what would have to be otherwise.
	 */
	bool		(*compute) (const DpArgument *args, double *result);
	const char *refusal;
} DpCalculator;

/*
 * Entries of one name follow each other, the default bound first, and the
 * table ends with a name of NULL.
 */
extern const DpCalculator dp_calculators[];

extern bool dp_in_range(double x, DpRange range);

/* Returns the condition on an argument, as the end of a sentence that begins with the argument. */
extern const char *dp_range_text(DpRange range);

#endif							/* DP_CALCULATORS_H */
