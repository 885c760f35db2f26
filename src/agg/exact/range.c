/*-------------------------------------------------------------------------
 *
 * range.c
 *	  Values relative to bounds: centered values for moments, bins for
 *	  histograms.
 *
 * Invariants of every function of a row here:
 *	- it depends on the value and the range alone, and never falls in the
 *	  value (chebyshev and product excepted);
 *	- whatever the value is, the result is within -DP_CENTERED_ONE ..
 *	  DP_CENTERED_ONE, or 0 .. bins - 1: this, not any precision, is what
 *	  sensitivities rest on;
 *	- no value raises an error or overflows; NaN gives NULL, infinities are
 *	  the largest values.
 *
 * Doubles are precise enough for what comes out, 2^24 steps or a bin.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "fmgr.h"
#include "utils/date.h"
#include "utils/timestamp.h"

#include "agg/exact/grid.h"
#include "base/compat.h"
#include "base/errors.h"
#include "math/quantile.h"

/* the most that rounding may have moved a value and the lower bound, in last places of the larger bound */
#define EDGE_SLACK 4

PG_FUNCTION_INFO_V1(dp_chebyshev);
PG_FUNCTION_INFO_V1(dp_product);

void
dp_range_make(double lower, double upper, int bins, DpRangeKind kind, DpRange *range)
{
	if (kind != DP_RANGE_LOGARITHMIC)
	{
		if (isnan(lower) || isnan(upper) || isinf(lower) || isinf(upper))
			dp_raise(BAD_PARAMETER, errmsg("bounds must be finite numbers"));
		if (!(lower < upper))
			dp_raise(BAD_PARAMETER, errmsg("the lower bound must be less than the upper bound in double precision"));
	}
	if (kind == DP_RANGE_LINEAR && (bins < 1 || bins > DP_MAX_BINS))
		elog(ERROR, "invalid range of %d bins", bins);

	memset(range, 0, sizeof(DpRange));
	range->kind = kind;
	switch (kind)
	{
		case DP_RANGE_LINEAR:
			range->bins = bins;
			break;
		case DP_RANGE_LOGARITHMIC:
			range->bins = DP_LOG_BINS;
			return;
		case DP_RANGE_OUTSIDE:
			range->bins = 3;
			break;
		default:
			elog(ERROR, "invalid kind of range: %d", kind);
	}
	range->lower = lower;
	range->upper = upper;
	/* rows are multiplied by it: quotients take longer */
	range->scale = DP_CENTERED_ONE / ((upper - lower) / 2);
	if (!isnormal(range->scale) || isinf(lower + upper))
		range->scale = 0;
}

Datum
dp_range_datum(const DpRange *range)
{
	DpRange    *copy = palloc(sizeof(DpRange));

	*copy = *range;
	return PointerGetDatum(copy);
}

/* ------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------
 */

/* Does dp_center() where sum or width of the bounds is infinite, or the width next to nothing. */
int32
dp_center_extreme(double x, const DpRange *range)
{
	double		sum = range->lower + range->upper;
	double		width = range->upper - range->lower;
	double		t;

	if (!isinf(sum) && !isinf(width))
		t = (x - sum / 2) / (width / 2);
	else
		t = (x - (range->lower / 2 + range->upper / 2)) / (range->upper / 2 - range->lower / 2);
	/* NaN, too: half of the least width is 0 */
	if (!(t > -1))
		return -DP_CENTERED_ONE;
	if (!(t < 1))
		return DP_CENTERED_ONE;
	return (int32) dp_round_near(t * DP_CENTERED_ONE);
}

/*
 * Returns the bin of x.  The bins' edges are decimal numbers as often as not
 * (0.29 of 0 .. 1 in a hundred bins), which doubles only approximate: what is
 * less than an edge by rounding errors alone counts as the edge.
 */
static inline int32
linear_bin(double x, const DpRange *range)
{
	double		lower = range->lower;
	double		upper = range->upper;
	double		largest = Max(fabs(lower), fabs(upper));
	double		bin;

	if (x <= lower)
		return 0;
	if (x >= upper)
		return range->bins - 1;
	if (largest > 0x1p960)
	{
		/* room for the width and its multiples */
		x *= 0x1p-64;
		lower *= 0x1p-64;
		upper *= 0x1p-64;
		largest *= 0x1p-64;
	}

	/* multiplied first: 29 of 0 .. 100 in a hundred bins must be 29 */
	bin = (x - lower + EDGE_SLACK * DBL_EPSILON * largest) * range->bins / (upper - lower);
	return bin < range->bins ? (int32) bin : range->bins - 1;
}

int32
dp_find_bin(double x, const DpRange *range)
{
	switch (range->kind)
	{
		case DP_RANGE_LINEAR:
			return linear_bin(x, range);
		case DP_RANGE_LOGARITHMIC:
			return dp_log_bin(x);
		case DP_RANGE_OUTSIDE:
			return x < range->lower ? 0 : x > range->upper ? 2 : 1;
		default:
			elog(ERROR, "invalid range");
			return 0;
	}
}

/* how the row's value becomes a double; timestamps beyond 2^53 microseconds lose some */

static inline double
date_value(DateADT date)
{
	if (DATE_IS_NOBEGIN(date))
		return -INFINITY;
	return DATE_IS_NOEND(date) ? INFINITY : date;
}

static inline double
timestamp_value(Timestamp time)
{
	if (TIMESTAMP_IS_NOBEGIN(time))
		return -INFINITY;
	return TIMESTAMP_IS_NOEND(time) ? INFINITY : (double) time;
}

#define RANGE_FUNCTION(function, type, convert, arg) \
PG_FUNCTION_INFO_V1(dp_##function##_##type); \
Datum \
dp_##function##_##type(PG_FUNCTION_ARGS) \
{ \
	double		x = convert(arg(0)); \
\
	if (isnan(x)) \
		PG_RETURN_NULL(); \
	PG_RETURN_INT32(function##_value(x, (const DpRange *) PG_GETARG_POINTER(1))); \
} \
StaticAssertDecl(true, "")

#define centered_value dp_center
#define bin_value dp_find_bin

RANGE_FUNCTION(centered, int2, (double), PG_GETARG_INT16);
RANGE_FUNCTION(centered, int4, (double), PG_GETARG_INT32);
RANGE_FUNCTION(centered, int8, (double), PG_GETARG_INT64);
RANGE_FUNCTION(centered, float4, (double), PG_GETARG_FLOAT4);
RANGE_FUNCTION(centered, float8, (double), PG_GETARG_FLOAT8);
RANGE_FUNCTION(centered, numeric, dp_double_numeric, PG_GETARG_DATUM);

RANGE_FUNCTION(bin, int2, (double), PG_GETARG_INT16);
RANGE_FUNCTION(bin, int4, (double), PG_GETARG_INT32);
RANGE_FUNCTION(bin, int8, (double), PG_GETARG_INT64);
RANGE_FUNCTION(bin, float4, (double), PG_GETARG_FLOAT4);
RANGE_FUNCTION(bin, float8, (double), PG_GETARG_FLOAT8);
RANGE_FUNCTION(bin, numeric, dp_double_numeric, PG_GETARG_DATUM);
RANGE_FUNCTION(bin, date, date_value, PG_GETARG_DATEADT);
RANGE_FUNCTION(bin, timestamp, timestamp_value, PG_GETARG_TIMESTAMP);

/* ------------------------------------------------------------------------
 * Functions of centered values
 * ------------------------------------------------------------------------
 */

/* chebyshev(t) returns 2 t^2 - 1. */
Datum
dp_chebyshev(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(dp_chebyshev_of(dp_clamp_centered(PG_GETARG_INT32(0))));
}

/* product(t, u) returns t u. */
Datum
dp_product(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(dp_product_of(dp_clamp_centered(PG_GETARG_INT32(0)), dp_clamp_centered(PG_GETARG_INT32(1))));
}
