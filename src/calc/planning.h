/*-------------------------------------------------------------------------
 *
 * planning.h
 *	  What a budget buys: releases, noise and margins.
 *
 * Proposed SQL (schema dp_cdp; float8 unless said otherwise).  "of the
 * column" stands for the arguments that describe what is released,
 *
 *	 lower DEFAULT 0, upper DEFAULT 1, max_groups int DEFAULT 1,
 *	 neighbors text DEFAULT 'add_remove', grouped bool DEFAULT false
 *
 * whose defaults are a count of rows that are their own units; upper =>
 * max_rows for a count with a unit column; the bounds of a sum; grouped =>
 * true for a query with GROUP BY (implied by max_groups > 1; it matters for
 * 'replace_one' alone).  "step" is 1 for counts and sums of integers (the
 * default) and 0 for sums of floating or numeric values, whose grid is so
 * fine that the noise is continuous for these purposes.
 *
 *	 sensitivity(of the column)					  dp_sensitivity
 *	 releases_within(rho, epsilon, delta) bigint	  dp_releases_within
 *	 rho_for_stddev(stddev, of the column)		  dp_rho_for_stddev
 *	 rho_for_margin(margin, probability, of the column, step DEFAULT 1)
 *												  dp_rho_for_margin
 *	 stddev_of(rho, of the column)				  dp_stddev_of
 *	 margin_of(rho, probability, of the column, step DEFAULT 1)
 *												  dp_margin_of
 *	 split_budget(rho, k bigint)					  dp_split_rho
 *	 split_budget(epsilon, delta, k bigint)		  dp_split_budget
 *	 split_budget(rho, weights float8[]) float8[]	  dp_split_weighted
 *
 * epsilon and delta are those of zCDP alone: a budget set by set_budget
 * (epsilon, delta) keeps a share of delta for key selection, so give the rest.
 *
 * Arguments are finite.  Results are never NaN, may be +Infinity.  "No answer"
 * is -1 (DP_NO_ANSWER), where noted.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_PLANNING_H
#define DP_PLANNING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns the L2 sensitivity of a released column, as the release node prices
 * it: a unit's contribution to a group is in [lower, upper] or 0, and it is in
 * at most max_groups groups.  With M = max(|lower|, |upper|), U = max(upper,
 * 0), L = min(lower, 0), k = max_groups, its square is: when a unit is added
 * or removed k M^2; when it is replaced k max(2 M^2, (U - L)^2) if grouped or
 * k > 1, else (U - L)^2.
 *
 * lower <= upper, finite; max_groups >= 1.
 */
extern double dp_sensitivity(double lower, double upper, int64_t max_groups, bool grouped, bool replace_one);

/*
 * Returns how many releases of rho each are together (epsilon, delta)-DP by
 * the tight bound.  Never too many: rounded as the ledger does, which charges
 * whole multiples of 1e-12 rounded up.  rho > 0, epsilon >= 0, delta in [0,
 * 1].  At most INT64_MAX, which stands for "any number".
 */
extern int64_t dp_releases_within(double rho, double epsilon, double delta);

/*
 * Returns sigma = sensitivity / sqrt(2 rho), the parameter of the noise that
 * rho buys (BS Proposition 1.6).  The discrete Gaussian's standard deviation
 * is at most sigma (CKS Corollary 9), and the same to 16 digits from sigma =
 * 1.5 steps on.  sensitivity >= 0, rho >= 0; +Infinity at rho = 0, 0 without
 * sensitivity.
 */
extern double dp_stddev_of(double rho, double sensitivity);

/*
 * Returns the rho that makes sigma = stddev: sensitivity^2 / (2 stddev^2).
 * stddev >= 0; at stddev = 0 +Infinity, or 0 without sensitivity.
 */
extern double dp_rho_for_stddev(double stddev, double sensitivity);

/*
 * Returns the half-width w of an interval around the true value that holds the
 * released one with probability p: for step > 0 a multiple of step, such that
 * the discrete Gaussian on that grid has P[|X| <= w] >= p; for step = 0 the
 * continuous Gaussian's quantile.
 *
 * Discrete: never too small.  Up to sigma = 32 steps the tail is summed and w
 * is the smallest; beyond, P[|X| <= w] >= erf((w + step/2) / (sigma sqrt 2))
 * (proved in planning.c), and w is at most one step above the smallest.
 *
 * 0 <= p < 1; rho >= 0; step >= 0.  +Infinity at rho = 0 and p > 0.
 */
extern double dp_margin_of(double rho, double p, double sensitivity, double step);

/*
 * Returns the smallest rho, but for rounding up by some 1e-10, with
 * dp_margin_of(rho, p, sensitivity, step) <= margin; for step = 0 the inverse,
 * to nearest.  margin >= 0 (for step = 0 and margin = 0 it is +Infinity), 0 <=
 * p < 1.
 */
extern double dp_rho_for_margin(double margin, double p, double sensitivity, double step);

/*
 * Returns rho / k, such that k releases of it fit in rho when the ledger adds
 * them: whole multiples of 1e-12, rounded down, for rho up to 1e6, which is
 * all that the ledger takes.  rho >= 0, k >= 1.  DP_NO_ANSWER where rho / k is
 * below 1e-12, which cannot be charged (but 0 for rho = 0).
 */
extern double dp_split_rho(double rho, int64_t k);

/*
 * Returns what dp_split_rho does with the largest rho that is (epsilon,
 * delta)-DP by the tight bound.
 */
extern double dp_split_budget(double epsilon, double delta, int64_t k);

/*
 * Splits rho in proportion to n weights >= 0 with a positive sum, rounded down
 * as above (a part below 1e-12 becomes 0).  Returns false where all parts
 * would be 0.
 */
extern bool dp_split_weighted(double rho, const double *weights, int n, double *parts);

#endif							/* DP_PLANNING_H */
