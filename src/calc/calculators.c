/*-------------------------------------------------------------------------
 *
 * calculators.c
 *	  The calculators as a table: names, arguments, ranges, bounds.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stddef.h>

#include "calc/calculators.h"
#include "calc/compose.h"
#include "calc/convert.h"
#include "calc/discrete_gaussian.h"
#include "calc/divergence.h"
#include "calc/gaussian.h"
#include "calc/group.h"
#include "calc/optimal.h"
#include "calc/planning.h"
#include "calc/rdp.h"
#include "calc/zcdp_bounds.h"
#include "math/zcdp.h"

/* Returns -1 where exact composition is out of reach. */
static double
optimal(bool (*compose) (double, double, int64_t, double, double *),
		double epsilon, double delta, int64_t k, double global)
{
	double		result;

	return compose(epsilon, delta, k, global, &result) ? result : -1;
}

/* one function for each entry; not "result[0] < 0", which NaN would pass */
#define D(n)	args[n].d
#define K(n)	args[n].i
#define ONE(name, bound, value, refusal, ...) \
static bool \
compute_##name##_##bound(const DpArgument *args, double *result) \
{ \
	result[0] = (value); \
	return result[0] >= 0; \
}
#define TWO(name, bound, call, refusal, ...) \
static bool \
compute_##name##_##bound(const DpArgument *args, double *result) \
{ \
	call; \
	return !isnan(result[0]) && !isnan(result[1]); \
}
#include "calc/calculators.def"
#undef ONE
#undef TWO

/* the table */
#define COUNT_OF(...) (sizeof((DpParameter[]) {__VA_ARGS__}) / sizeof(DpParameter))
#define A(name, range)	{#name, DP_RANGE_##range}
#define ONE(name, bound, value, refusal, ...) \
	{#name, #bound, COUNT_OF(__VA_ARGS__), {__VA_ARGS__}, 1, compute_##name##_##bound, refusal},
#define TWO(name, bound, call, refusal, ...) \
	{#name, #bound, COUNT_OF(__VA_ARGS__), {__VA_ARGS__}, 2, compute_##name##_##bound, refusal},

const DpCalculator dp_calculators[] = {
#include "calc/calculators.def"
	{NULL}
};

bool
dp_in_range(double x, DpRange range)
{
	if (!isfinite(x))
		return false;
	switch (range)
	{
		case DP_RANGE_NONNEGATIVE:
			return x >= 0;
		case DP_RANGE_POSITIVE:
			return x > 0;
		case DP_RANGE_PROBABILITY:
			return x >= 0 && x <= 1;
		case DP_RANGE_INSIDE:
			return x > 0 && x < 1;
		case DP_RANGE_CLASSIC:
			return x > 0 && x <= 1;
		case DP_RANGE_ORDER:
			return x > 1;
		case DP_RANGE_WHOLE:
			return x >= 0 && x == floor(x);
		case DP_RANGE_FINITE:
			return true;
		case DP_RANGE_COUNT:
			return x >= 1 && x <= (double) DP_MAX_COUNT && x == floor(x);
	}
	return false;
}

const char *
dp_range_text(DpRange range)
{
	switch (range)
	{
		case DP_RANGE_NONNEGATIVE:
			return "must be a finite number of at least 0";
		case DP_RANGE_POSITIVE:
			return "must be a finite number greater than 0";
		case DP_RANGE_PROBABILITY:
			return "must be between 0 and 1";
		case DP_RANGE_INSIDE:
			return "must be greater than 0 and less than 1";
		case DP_RANGE_CLASSIC:
			return "must be greater than 0 and at most 1 for the bound \"classic\"";
		case DP_RANGE_ORDER:
			return "must be a finite number greater than 1";
		case DP_RANGE_WHOLE:
			return "must be a whole number of at least 0";
		case DP_RANGE_FINITE:
			return "must be a finite number";
		case DP_RANGE_COUNT:
			return "must be between 1 and 9007199254740992";
	}
	return "";
}
