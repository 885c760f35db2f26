/*-------------------------------------------------------------------------
 *
 * quantile.h
 *	  Quantiles from noisy hierarchical counts, bounds from a noisy
 *	  logarithmic histogram, shares from three noisy counts.
 *
 * All of it is post-processing: results depend on the arguments alone, are
 * never NaN and never infinite, whatever the noisy counts are.  Bounds are
 * finite and lower < upper; sigma is finite and >= 0.  Nothing is allocated;
 * at most 64 kB of stack.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_QUANTILE_H
#define DP_QUANTILE_H

#include <stdbool.h>

#include "wide.h"

/*
 * The tree: leaves of equal width over [lower, upper], each node of the upper
 * levels over the 16 below it.  Nodes are stored level by level, the root's 16
 * children first, then 256, then the leaves.  The root is not counted.
 */
#define DP_QUANTILE_BRANCHING	16
#define DP_QUANTILE_LEVELS		3
#define DP_QUANTILE_LEAVES		4096
#define DP_QUANTILE_NODES		(16 + 256 + 4096)

/* Sets the exact counts of all nodes from those of the leaves. */
extern void dp_quantile_sum_up(const dp_i128 *leaves, dp_i128 *nodes);

/*
 * Sets the cumulated counts that fit noisy ones best: least squares over all
 * consistent trees (Hay, Rastogi, Miklau, Suciu 2010), then, from the top
 * down, the nearest counts that are not negative.
 *
 * nodes: DP_QUANTILE_NODES noisy counts, with independent noise of standard
 * deviation sigma each; cdf: DP_QUANTILE_LEAVES + 1 values, cdf[i] is how much
 * is left of leaf i.  cdf[0] = 0, never falls; the total, cdf[
 * DP_QUANTILE_LEAVES], is >= 0.  With sigma = 0 the leaves are taken as they
 * are.
 */
extern void dp_quantile_cdf(const double *nodes, double sigma, double *cdf);

/*
 * Returns the value with a share q of the total on its left, q in [0, 1]:
 * within [lower, upper], never falling in q, interpolated within a leaf.
 * Where nothing is between two leaves with the share exactly reached, the
 * middle of the gap.  Without data (total 0) the middle of the bounds.  The
 * values for q = 0 and 1 are those of the outermost leaf with a positive
 * count: for extremes there are dp_quantile_min and dp_quantile_max.
 */
extern double dp_quantile_value(const double *cdf, double q, double lower, double upper);

/*
 * Return where data begins and ends.  Not the outermost leaf with a positive
 * count, which is noise as a rule: first the outermost node of each level in
 * turn whose count is above dp_quantile_extreme_rank(sigma), 3.5 sigma, what
 * noise explains; in the last such node the value with that many of its rows
 * outside, or half of them where that is less.  Fewer outlying rows than that
 * are not seen, so the answers err inwards.  min <= max; where no node is
 * above, both are the median.
 */
extern double dp_quantile_min(const double *cdf, double sigma, double lower, double upper);
extern double dp_quantile_max(const double *cdf, double sigma, double lower, double upper);
extern double dp_quantile_extreme_rank(double sigma);

/*
 * Returns the estimated standard deviation of dp_quantile_value's answer due
 * to noise and to the width of a leaf: finite, > 0 (where upper - lower is not
 * denormal), at most half of upper - lower.  It is half of the distance
 * between the values whose ranks are a standard deviation above and below, so
 * it holds where the density changes or is 0.
 */
extern double dp_quantile_stddev(const double *cdf, double sigma, double q, double lower, double upper);

/*
 * Returns about by how many rows the rank of dp_quantile_value's answer is off,
 * as a standard deviation: the root of the mean square over all leaves that the
 * answer may be in.  At one leaf it is at most a third more.  Where data leave
 * leaves empty it is less.
 */
extern double dp_quantile_rank_noise(double sigma, double q);

/*
 * The logarithmic grid: bins symmetric around 0, whose edges are powers of
 * two.  The middle one holds |x| <= 2^-32, those above it (2^(e-1), 2^e] for e
 * = -31 .. 96, those below the same mirrored; what is beyond 2^96 is in the
 * outermost.
 */
#define DP_LOG_BINS		257

/*
 * Returns the bin of x, 0 .. DP_LOG_BINS - 1; it never falls in x, which is
 * any double (NaN: the middle).
 */
extern int	dp_log_bin(double x);

/* Returns where bin i begins, i = 0 .. DP_LOG_BINS (the last is where the last ends). */
extern double dp_log_edge(int i);

/*
 * Bounds that hold all bins whose noisy count is above the threshold, after
 * Wilson et al. 2020, "Differentially private SQL with bounded user
 * contribution", section 5.1.1 (approx bounds): finite, lower < upper.
 * The threshold is one that noise reaches in any of the empty bins with
 * probability below error, as DP_BOUNDS_ERROR; for discrete Gaussian noise on integers,
 * strictly.  The middle bin's edges count as 0, unless it is the only one.
 * Returns false, and leaves the bounds alone, if no bin is above.
 */
#define DP_BOUNDS_ERROR	1e-6
extern bool dp_bounds_pick(const double *counts, double sigma, double error, double *lower, double *upper);
extern double dp_bounds_threshold(double sigma, int bins, double error);

/* Sets the first and the last of so many bins whose count is above the threshold; false if none is. */
extern bool dp_bounds_outermost(const double *counts, int bins, double sigma, double error, int *first, int *last);

/*
 * Sets the share of values outside the bounds, from noisy counts below, inside
 * and above the bounds, in [0, 1], and its standard deviation due to noise, in
 * [0, 1/2].  Without data both are 1/2.
 */
extern void dp_clipped_share(const double counts[3], double sigma, double *share, double *stddev);

/* Returns what n times that standard deviation is for n values, where few of them are outside. */
extern double dp_clipped_noise(double sigma);

#endif							/* DP_QUANTILE_H */
