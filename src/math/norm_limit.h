/*-------------------------------------------------------------------------
 *
 * norm_limit.h
 *	  Which limit on the norms of units serves best, from noisy counts of how
 *	  many units have which norm; and how much it cuts.
 *
 * All of it is post-processing: results depend on the arguments alone, and are
 * finite whatever the noisy counts are.  Nothing is allocated.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_NORM_LIMIT_H
#define DP_NORM_LIMIT_H

/* the most bins of a histogram of norms */
#define DP_NORM_BINS 23

/*
 * What is taken for the units' norms: so many of them, count[j], have one
 * between 2^(exponent + j - 1) and 2^(exponent + j), the last bin's more than
 * that of its lower end, the first's any that is smaller; within a bin their
 * density on a logarithmic scale falls as exp(-tilt[j]).
 */
typedef struct dp_norms
{
	int			bins;
	int			exponent;		/* of the upper end of the first bin */
	double		count[DP_NORM_BINS];
	double		tilt[DP_NORM_BINS];
} dp_norms;

/*
 * Sets what noisy counts, with independent noise of standard deviation sigma >
 * 0 each, tell of norms; bins from 1 to DP_NORM_BINS.
 */
extern void dp_norms_estimate(const double *counts, int bins, int exponent, double sigma, dp_norms *norms);

/* Returns what units' norms have above a limit > 0, added up; >= 0. */
extern double dp_norms_cut(const dp_norms *norms, double limit);

/* Returns the sum of all units' norms. */
extern double dp_norms_total(const dp_norms *norms);

/*
 * Returns which of the limits, ascending and > 0, is best for answers of so
 * many groups (>= 1; unknown: a guess) whose noise has a standard deviation of
 * noise times the limit: that with the least sum of the square of what is cut, per group, and of
 * the noise.
 */
extern int	dp_norms_choose(const dp_norms *norms, const double *limits, int n, double groups, double noise);

#endif							/* DP_NORM_LIMIT_H */
