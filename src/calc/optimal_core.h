/*-------------------------------------------------------------------------
 *
 * optimal_core.h
 *	  What the two files of optimal composition share: the part that does not
 *	  depend on the mechanisms' delta.
 *
 * D(e) = E[(1 - e^(e - loss))_+] for a sum of independent losses +-epsilon_i.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_OPTIMAL_CORE_H
#define DP_OPTIMAL_CORE_H

#include "calc/twofold.h"

/* Returns ln P[X = i] for X binomial, of k trials, with probability 1 / (1 + e^-epsilon). */
extern long double dp_binomial_log(double epsilon, int64_t k, int64_t i);

/* Returns D(at) for k losses +-epsilon; k <= DP_OPTIMAL_K_MAX, at >= 0. */
extern double dp_optimal_alike(double epsilon, int64_t k, double at);

/* Returns the least e >= 0 with D(e) <= wanted; 0 <= wanted < 1. */
extern double dp_optimal_alike_inverse(double epsilon, int64_t k, double wanted);

/*
 * The share of delta alone: failed = 1 - prod(1 - delta_i), kept = prod(1 -
 * delta_i).
 */
typedef struct dp_failure
{
	dp_twofold	failed;
	double		log_kept;		/* -Infinity if a delta is 1 */
} dp_failure;

extern void dp_failure_add(dp_failure *f, double delta, int64_t k);

/* Returns delta_g from D. */
extern double dp_failure_delta(const dp_failure *f, double d);

/* Returns D from delta_g < 1; negative if there is none. */
extern double dp_failure_wanted(const dp_failure *f, double delta_g);

#endif							/* DP_OPTIMAL_CORE_H */
