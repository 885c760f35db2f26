/*-------------------------------------------------------------------------
 *
 * optimal.h
 *	  Optimal composition of (epsilon, delta)-private mechanisms.
 *
 * The least delta_g for which every adaptive composition of mechanisms i,
 * each (epsilon_i, delta_i)-DP, is (epsilon_g, delta_g)-DP, and the least
 * epsilon_g for a delta_g.  Homogeneous: Kairouz, Oh, Viswanath, Theorem 3.3
 * as Murtagh and Vadhan state it, Theorem 1.4; heterogeneous: Murtagh and
 * Vadhan, Theorem 1.5.  Both in the form that is continuous in epsilon_g:
 *
 *		delta_g = 1 - prod(1 - delta_i) (1 - E[(1 - e^(epsilon_g - loss))_+])
 *
 * where loss is a sum of independent +-epsilon_i, each positive with
 * probability e^epsilon_i / (1 + e^epsilon_i).
 *
 * Arguments: epsilon, epsilon_g >= 0; 0 <= delta, delta_g <= 1; k, n >= 0;
 * finite; the caller has checked.  Results are never NaN, delta 0 .. 1,
 * epsilon >= 0 or Infinity where no epsilon reaches delta_g.  They are nearest
 * values, not rounded outwards.
 *
 * All functions return false, and set nothing, where the work would exceed
 * the limit; the caller names the limit and what to use instead (the
 * composition of zCDP, or the advanced bounds).
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_OPTIMAL_H
#define DP_OPTIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * k mechanisms alike: any k up to DP_OPTIMAL_K_MAX.  Takes some 20 sqrt(k)
 * steps.
 */
#define DP_OPTIMAL_K_MAX		INT64_C(10000000000)

extern bool dp_compose_optimal_delta(double epsilon, double delta, int64_t k,
									 double epsilon_g, double *result);
extern bool dp_compose_optimal_epsilon(double epsilon, double delta, int64_t k,
									   double delta_g, double *result);

/*
 * n mechanisms, alike or not.  The losses are enumerated in two halves, so the
 * work grows as the square root of their number: the product of (copies + 1)
 * over the distinct epsilon > 0, that is 2^n if all differ.  The limit is
 * DP_OPTIMAL_HALF_MAX losses in a half: 36 distinct epsilon, or 5 with 78
 * copies each.  (Nor may the epsilon add up to more than 1e290.)  A list with
 * one distinct epsilon > 0 is composed as above and has only that limit.
 *
 * scratch: memory aligned for doubles, dp_compose_optimal_scratch bytes (it
 * may be NULL if that is 0); undefined afterwards.
 */
#define DP_OPTIMAL_HALF_MAX		(1 << 18)

/* Returns the bytes needed, 0 .. 19 MB; SIZE_MAX if the list is beyond the limit. */
extern size_t dp_compose_optimal_scratch(const double *epsilon, int n);

extern bool dp_compose_optimal_delta_list(const double *epsilon, const double *delta, int n,
										  double epsilon_g, void *scratch, double *result);
extern bool dp_compose_optimal_epsilon_list(const double *epsilon, const double *delta, int n,
											double delta_g, void *scratch, double *result);

#endif							/* DP_OPTIMAL_H */
