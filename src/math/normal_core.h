/*-------------------------------------------------------------------------
 *
 * normal_core.h
 *	  What normal.c shares with the calculators: the upper tail of the standard
 *	  normal law, Q(x) = P[N(0,1) > x], and the Mills ratio, M(x) = Q(x) /
 *	  density(x).
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_NORMAL_CORE_H
#define DP_NORMAL_CORE_H

#include <math.h>

#define DP_INV_SQRT_2PI	0.39894228040143267794
#define DP_LOG_SQRT_2PI	0.91893853320467274178

/* from here on the recurrence of M's derivatives is short; before, erfc loses nothing */
#define DP_TAYLOR_FROM	2.0
#define DP_MILLS_FROM	3.0

/* the density of anything beyond is 0 */
#define DP_NORMAL_FAR	38.7

/* room for the coefficients of dp_normal_mills_terms */
#define DP_MILLS_TERMS	66

/*
 * Returns Q(high + low), low below an ulp of high, to a few units in the last
 * place wherever that is a normal double.  Any argument but NaN; infinities
 * give the limits.
 */
extern double dp_normal_tail_of_sum(double high, double low);

/* Returns M(x), from about 1/x for large x to Infinity for x below -38. */
extern double dp_normal_mills(double x);

/*
 * Sets z[n] = |M^(n)(x)| / n! for n = 0 .. terms and returns terms, which is
 * below DP_MILLS_TERMS - 1; DP_TAYLOR_FROM <= x < 1e8.
 */
extern int	dp_normal_mills_terms(double x, double *z);

/* Returns x^2 / 2 for x = high + low, as the sum of the result and *tail. */
static inline double
dp_half_square(double high, double low, double *tail)
{
	double		square = high * high;

	*tail = 0.5 * fma(high, high, -square) + high * low;
	return 0.5 * square;
}

#endif							/* DP_NORMAL_CORE_H */
