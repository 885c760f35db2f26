/*-------------------------------------------------------------------------
 *
 * bounds_tail.h
 *	  Far values that found bounds leave out of an average.
 *
 * All of it is post-processing: results depend on the arguments alone, and are
 * finite whatever the noisy counts are.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_BOUNDS_TAIL_H
#define DP_BOUNDS_TAIL_H

/* bounds are widened by powers of two, 1 to 2^(DP_TAILS - 1) */
#define DP_TAILS 8

/* what was found of the values beyond bounds, each of one row of a unit */
typedef struct dp_bounds_tail
{
	double		units;			/* how many there are, > 0 */
	double		sigma;			/* of the noise of this number */

	/*
	 * by how much an average is off where the lower bound is widened so, and
	 * where the upper one is; roots of the mean squares of that
	 */
	double		below[DP_TAILS];
	double		above[DP_TAILS];
	double		below_doubt[DP_TAILS];
	double		above_doubt[DP_TAILS];
} dp_bounds_tail;

/*
 * Sets what noisy counts of the bins of the logarithmic grid (quantile.h), with noise of standard deviation sigma > 0, tell of
 * values beyond lower < upper, which were picked by them.  A bound that is 0, or that the other side of 0 has, leaves nothing out.
 */
extern void dp_bounds_tail_estimate(const double *counts, double sigma, double lower, double upper, dp_bounds_tail *tail);

/*
 * Sets by which powers of two bounds are widened for an average, so that the mean square of what they leave out and of the noise is least:
 * noise is the standard deviation of an average of values within +-1.  Returns by how much the average may be off then, as above.
 */
extern double dp_bounds_tail_choose(const dp_bounds_tail *tail, double lower, double upper, double noise, int *below, int *above);

#endif							/* DP_BOUNDS_TAIL_H */
