/*-------------------------------------------------------------------------
 *
 * moments.h
 *	  Mean, variance, covariance, correlation and regression from noisy sums.
 *
 * A row's value is clamped to its column's bounds and centred, t = (x - mid) /
 * half in [-1, 1], mid and half being the middle of the bounds and half their
 * distance.  A statistic of one argument is made from sums over rows of
 *
 *		N = 1, T = t, T2 = 2 t^2 - 1
 *
 * and one of two arguments from these and U, U2, TU = t u: T always belongs
 * to the first argument as written in SQL and U to the second.  So for
 * regr_slope(Y, X) and regr_intercept(Y, X), T is the dependent and U the
 * independent variable.  N counts rows that have all arguments.
 *
 * Everything here is post-processing: it depends on nothing but its arguments.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_MOMENTS_H
#define DP_MOMENTS_H

typedef enum dp_statistic
{
	DP_STAT_AVG,
	DP_STAT_VAR_POP,
	DP_STAT_VAR_SAMP,
	DP_STAT_STDDEV_POP,
	DP_STAT_STDDEV_SAMP,
	DP_STAT_COVAR_POP,
	DP_STAT_COVAR_SAMP,
	DP_STAT_CORR,
	DP_STAT_REGR_SLOPE,
	DP_STAT_REGR_INTERCEPT
} dp_statistic;

#define DP_STATISTICS	(DP_STAT_REGR_INTERCEPT + 1)

typedef enum dp_moment
{
	DP_MOMENT_N,
	DP_MOMENT_T,
	DP_MOMENT_T2,
	DP_MOMENT_U,
	DP_MOMENT_U2,
	DP_MOMENT_TU
} dp_moment;

#define DP_MOMENTS		(DP_MOMENT_TU + 1)

/* the part's share of the column's rho is weight / sum of weights */
typedef struct dp_moment_part
{
	dp_moment	moment;
	int			weight;
} dp_moment_part;

/* the bounds of an argument: finite, lower <= upper */
typedef struct dp_moment_range
{
	double		lower,
				upper;
} dp_moment_range;

/*
 * Returns the sums that a statistic is made from, N always the first.  The
 * order is that of sums and sigma below.
 */
extern const dp_moment_part *dp_moment_parts(dp_statistic stat, int *nparts);

/*
 * Sets value and stddev of a statistic.  sums[i] is the noisy sum of part i in
 * its natural unit (N: rows; others: sums of values in [-1, 1]), sigma[i] the
 * standard deviation of its noise in the same unit.  t and u are the bounds of
 * the first and second argument; u is not read where there is one.
 *
 * value: finite whatever the sums are.  A mean is within its bounds; a
 * variance within 0 and half^2, a covariance within +- half_t half_u (n / (n -
 * 1) <= 2 times that in a sample); a standard deviation is the root of the
 * variance; a correlation is within [-1, 1].  With few rows for the noise
 * (N not above its sigma, in particular N <= 0) it goes to what the middle of
 * all the sums' ranges would give: the middle of the bounds for a mean and an
 * intercept, half of half^2 for a variance, 0 for the others.  A correlation
 * or slope goes to 0 also where a variance is not above its noise, and is 0
 * where a variance is 0 without any noise.
 *
 * stddev: the estimated standard deviation of the value due to noise alone,
 * by the delta method at the noisy sums, at most what a value in the range
 * above can have.  Finite and > 0.  It does not count how far the value was
 * pulled to the middle.
 */
extern void dp_moment_value(dp_statistic stat, const double *sums, const double *sigma,
							dp_moment_range t, dp_moment_range u,
							double *value, double *stddev);

/*
 * Returns about what n times the standard deviation of a statistic of n rows
 * is, where n is large: of values with a mean a quarter of the way from the
 * lower to the upper bound, and a standard deviation of a quarter of that way;
 * two arguments are uncorrelated.  Finite and > 0, as far as halves of the
 * bounds' distance are.
 *
 * For a mean it is at most 27% too low and 12% too high, wherever the mean is.
 * For variances and covariances values near a bound have up to twice of it.
 * For a standard deviation it is inversely proportional to that of the values,
 * for correlations, slopes and intercepts to the variances.
 */
extern double dp_moment_noise(dp_statistic stat, const double *sigma, dp_moment_range t, dp_moment_range u);

#endif							/* DP_MOMENTS_H */
