/*-------------------------------------------------------------------------
 *
 * twofold.h
 *	  Numbers as unevaluated sums of two doubles, for differences in which a
 *	  double's rounding would show.
 *
 * Invariant: |low| is at most an ulp of high.  Errors of sum and product are
 * a few 2^-104 relative to the operands' size, as long as nothing over- or
 * underflows; then the result is the double one.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_TWOFOLD_H
#define DP_TWOFOLD_H

#include <math.h>

typedef struct dp_twofold
{
	double		high;
	double		low;
} dp_twofold;

/* Returns a + b, exactly (Knuth). */
static inline dp_twofold
dp_two_sum(double a, double b)
{
	dp_twofold	r;
	double		b_part;

	r.high = a + b;
	b_part = r.high - a;
	r.low = (a - (r.high - b_part)) + (b - b_part);
	return r;
}

/* Returns a b, exactly. */
static inline dp_twofold
dp_two_product(double a, double b)
{
	dp_twofold	r;

	r.high = a * b;
	r.low = fma(a, b, -r.high);
	return r;
}

static inline dp_twofold
dp_twofold_add(dp_twofold a, dp_twofold b)
{
	dp_twofold	high = dp_two_sum(a.high, b.high);
	dp_twofold	low = dp_two_sum(a.low, b.low);

	high = dp_two_sum(high.high, high.low + low.high);
	return dp_two_sum(high.high, high.low + low.low);
}

static inline dp_twofold
dp_twofold_multiply(dp_twofold a, dp_twofold b)
{
	dp_twofold	r = dp_two_product(a.high, b.high);

	return dp_two_sum(r.high, r.low + (a.high * b.low + a.low * b.high));
}

#endif							/* DP_TWOFOLD_H */
