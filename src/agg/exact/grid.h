/*-------------------------------------------------------------------------
 *
 * grid.h
 *	  From a row's value to steps: rounding and clamping.
 *
 * Invariants of every conversion here:
 *	- it depends on the value and the grid alone;
 *	- it is monotone: x <= y implies steps(x) <= steps(y);
 *	- it rounds the exact value of x / 2^exponent, half to even.  Scaling a
 *	  double by a power of two is exact, or overflows (and is clamped), or
 *	  underflows (and rounds to 0 either way), so nothing is rounded twice;
 *	- NaN gives no value at all (false), infinities are the largest values;
 *	- no input raises an error or overflows: ranges are tested before any
 *	  conversion to an integer type.
 *
 * Two limits: a row that is a unit by itself is clamped to the grid's bounds; a
 * row of a unit that is still being added up is limited to +-2^94 steps here, and
 * in bounding/row.h to its own bounds, at most 2^62, so that any number of
 * rows fits into 128 bits; then the unit's sum is clamped to the grid's.
 *
 * Private to src/agg.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_GRID_H
#define DP_GRID_H

#include <float.h>
#include <math.h>

#include "agg/agg.h"

/* the largest value of one row before its unit's sum is clamped */
#define DP_ROW_LIMIT ((dp_i128) 1 << 94)

static inline int64
dp_limited_steps(dp_i128 n)
{
	return (int64) Min(Max(n, -(dp_i128) DP_UNIT_ROW_LIMIT), (dp_i128) DP_UNIT_ROW_LIMIT);
}

/* Convert the slow cases, in grid.c and numeric_grid.c; results are limited to +-DP_ROW_LIMIT. */
extern dp_i128 dp_steps_shifted_int(int64 x, int exponent);
extern bool dp_steps_large_float8(double scaled, dp_i128 *n);
extern bool dp_steps_numeric(Datum x, int exponent, dp_i128 *n);

/* Returns a numeric as a double, within its last place; infinite, 0 or NaN where that is what comes closest. */
extern double dp_double_numeric(Datum x);

/* the largest exponents a grid may have, see dp_grid_from_numeric */
#define DP_MIN_EXPONENT (-1022)
#define DP_MAX_EXPONENT 1022

/* y rounded half to even; |y| < DP_ROUND_LIMIT */
#define DP_ROUND_LIMIT 0x1p51

static inline int64
dp_round_near(double y)
{
#if FLT_EVAL_METHOD == 0
	/* doubles from 2^52 to 2^53 are the integers there: the addition rounds */
	const double shift = 0x3p51;
	double		shifted = y + shift;
	int64		n;
	int64		zero;

	memcpy(&n, &shifted, sizeof(n));
	memcpy(&zero, &shift, sizeof(zero));
	return n - zero;
#else
	/* the sum would be rounded twice */
	int64		t = (int64) y;
	double		rest = y - (double) t;

	if (unlikely(rest == 0.5 || rest == -0.5))
		return (t & 1) == 0 ? t : rest > 0 ? t + 1 : t - 1;
	return t + (rest > 0.5) - (rest < -0.5);
#endif
}

static inline int64
dp_clamp(int64 n, const DpGrid *grid)
{
	n = n < grid->lower ? grid->lower : n;
	return n > grid->upper ? grid->upper : n;
}

static inline int64
dp_clamp_wide(dp_i128 n, const DpGrid *grid)
{
	if (n < grid->lower)
		return grid->lower;
	if (n > grid->upper)
		return grid->upper;
	return (int64) n;
}

/* Converts any integer type; limited to +-DP_ROW_LIMIT. */
static inline dp_i128
dp_steps_int(int64 x, const DpGrid *grid)
{
	if (likely(grid->exponent == 0))
		return x;
	return dp_steps_shifted_int(x, grid->exponent);
}

/* Converts float4 or float8, limited to +-DP_ROW_LIMIT; returns false for NaN. */
static inline bool
dp_steps_float8(double x, const DpGrid *grid, dp_i128 *n)
{
	double		y = x * grid->scale;

	if (unlikely(!(fabs(y) < DP_ROUND_LIMIT)))
		return dp_steps_large_float8(y, n);
	*n = dp_round_near(y);
	return true;
}

/* ------------------------------------------------------------------------
 * Centered values
 * ------------------------------------------------------------------------
 */

/* range.c: the same for ranges without a scale */
extern int32 dp_center_extreme(double x, const DpRange *range);

/* range.c: returns the bin of x, not NaN */
extern int32 dp_find_bin(double x, const DpRange *range);

/* Returns where x, not NaN, is between the bounds: -DP_CENTERED_ONE .. DP_CENTERED_ONE; never falls in x. */
static inline int32
dp_center(double x, const DpRange *range)
{
	int64		t;

	if (x <= range->lower)
		return -DP_CENTERED_ONE;
	if (x >= range->upper)
		return DP_CENTERED_ONE;
	if (unlikely(range->scale == 0))
		return dp_center_extreme(x, range);
	/* the middle is between the bounds, too: at most about 2 DP_CENTERED_ONE */
	t = dp_round_near((x - (range->lower + range->upper) / 2) * range->scale);
	return t < -DP_CENTERED_ONE ? -DP_CENTERED_ONE : t > DP_CENTERED_ONE ? DP_CENTERED_ONE : t;
}

/* Limits centered values, which are within these limits already, unless somebody calls by hand. */
static inline int64
dp_clamp_centered(int32 t)
{
	return t < -DP_CENTERED_ONE ? -DP_CENTERED_ONE : t > DP_CENTERED_ONE ? DP_CENTERED_ONE : t;
}

/* Returns n / DP_CENTERED_ONE, half to even. */
static inline int64
dp_centered_round(int64 n)
{
	const int64 half = DP_CENTERED_ONE / 2;
	int64		down = n >> DP_CENTERED_BITS;	/* towards minus infinity */
	int64		rest = n - down * DP_CENTERED_ONE;

	/* without a branch, which would be mispredicted for every other row */
	return down + (rest + (down & 1) > half);
}

/* Returns 2 t^2 - 1. */
static inline int64
dp_chebyshev_of(int64 t)
{
	return dp_centered_round(2 * t * t) - DP_CENTERED_ONE;
}

/* Returns t u. */
static inline int64
dp_product_of(int64 t, int64 u)
{
	return dp_centered_round(t * u);
}

#endif							/* DP_GRID_H */
