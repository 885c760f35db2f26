/*-------------------------------------------------------------------------
 *
 * small.h
 *	  What is left of ln(1 + x) and e^x without their first terms, to full
 *	  relative precision also where x is small.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_SMALL_H
#define DP_SMALL_H

#include <math.h>

/* Returns ln(1 + x) - x <= 0, x >= -1. */
static inline double
dp_log_below(double x)
{
	double		sum = 0;
	int			i;

	if (fabs(x) > 0.05)
		return log1p(x) - x;
	/* the rest of the series is below 1e-19 of it */
	for (i = 16; i >= 2; i--)
		sum = x * (sum + (i % 2 ? 1.0 : -1.0) / i);
	return x * sum;
}

/* Returns e^x - 1 - x >= 0. */
static inline double
dp_exp_above(double x)
{
	double		sum = 0;
	int			i;

	if (fabs(x) > 0.5)
		return expm1(x) - x;
	/* x^2/2 (1 + x/3 (1 + x/4 (...))): the rest is below 1e-19 of it */
	for (i = 17; i >= 3; i--)
		sum = x / i * (1 + sum);
	return 0.5 * x * x * (1 + sum);
}

#endif							/* DP_SMALL_H */
