/*-------------------------------------------------------------------------
 *
 * calibrate.h
 *	  From sensitivity and rho to the variance of the noise, and from delta
 *	  to the threshold of a private key selection.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_CALIBRATE_H
#define DP_CALIBRATE_H

#include <stdbool.h>

#include "gauss.h"

/*
 * Sets the smallest variance the sampler can represent that is at least sens2
 * / (2 rho)  (BS 1.6, CKS Theorem 4).
 *
 * sens2: squared L2 sensitivity in steps of the grid, 1 .. 2^100.
 * rho: as an amount, 1 .. DP_RHO_MAX.
 * Returns false when sigma would fall outside 0.01 .. 2^60 from above
 * (too large); a smaller sigma than 0.01 is rounded up to it.
 */
extern bool dp_calibrate(dp_u128 sens2, int64_t rho, dp_variance *result);

/*
 * Sets the smallest fraction that is at least whole + rem / den and whose
 * numerator is at most max; with a denominator that is then as small as it can
 * be.  rem < den < 2^62, 1 <= whole < max < 2^128.
 */
extern void dp_fraction_up(dp_u128 whole, uint64_t rem, uint64_t den, dp_u128 max,
						   dp_variance *result);

/* Returns the smallest double that is at least sigma; sigma within 0.01 .. 2^60. */
extern double dp_variance_sigma(const dp_variance *v);

/*
 * Sets the smallest threshold T such that a count of 1 with noise of variance
 * v, in each of at most k groups, reaches T in any of them with probability at
 * most delta (as an amount, 1 .. DP_DELTA_ONE - 1).  k: 1 .. 2^31-1.
 * Never too small: every inequality is rounded against the caller.  At least
 * 2: a threshold that is reached without noise is none.  The smallest such T
 * for sigma up to 4096, and at most 1 above it beyond.
 * Returns false when there is no such T below 2^62.
 */
extern bool dp_threshold(const dp_variance *v, int64_t k, int64_t delta, int64_t *threshold);

/*
 * Returns the sum of weights without the "heaviest" units that have the largest ones; 0 where units are no more.
 * units[i], not below 0, have a weight of weight[i] each; weights fall from each of the n places to the next.
 */
extern dp_i128 dp_weight_beyond(const dp_i128 *units, const int64_t *weight, int n, int64_t heaviest);

#endif							/* DP_CALIBRATE_H */
