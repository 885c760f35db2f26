/*-------------------------------------------------------------------------
 *
 * compose.h
 *	  What several mechanisms on the same data are together.
 *
 * zCDP, RDP and delta parts add; mCDP and GDP add squares.  Exact (optimal)
 * composition of (epsilon, delta)-DP is in optimal.h.
 *
 * Arguments are finite and >= 0, deltas <= 1, n >= 0, k >= 0; no mechanisms
 * compose to 0.  Results are never NaN, may be +Infinity.  Every function here
 * always has an answer.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_COMPOSE_H
#define DP_COMPOSE_H

#include <stdint.h>

/*
 * Running sums, for lists and for aggregates: plain data, all zero bits at
 * the start, any order of adding and merging, relative error of a few units
 * in the last place however many terms.
 */

/* sum of terms of either sign; high + low is the sum */
typedef struct DpSum
{
	double		high;
	double		low;
} DpSum;

extern void dp_sum_add(DpSum *sum, double x);
extern void dp_sum_merge(DpSum *sum, const DpSum *other);
extern double dp_sum_total(const DpSum *sum);

/* sqrt of a sum of squares, without overflow: scale is 0 or a power of 2 */
typedef struct DpNorm
{
	double		scale;
	DpSum		squares;		/* sum of (x / scale)^2 */
} DpNorm;

extern void dp_norm_add(DpNorm *norm, double x);
extern void dp_norm_merge(DpNorm *norm, const DpNorm *other);
extern double dp_norm_total(const DpNorm *norm);

/* Returns 1 - prod(1 - delta): a DpSum of dp_delta_log(delta), read by dp_delta_total. */
extern double dp_delta_log(double delta);
extern double dp_delta_total(const DpSum *logs);

/* Sets (sum rho, sum xi) (BS Lemma 1.7, 2.3); xi may be NULL for all 0, and negative. */
extern void dp_compose_zcdp(const double *rho, const double *xi, int n, double *sum_rho, double *sum_xi);

/* Sets (sum mu, sqrt(sum tau^2)) (DR Theorem 3.4). */
extern void dp_compose_mcdp(const double *mu, const double *tau, int n, double *sum_mu, double *norm_tau);

/* Returns sqrt(sum mu^2) (Dong, Roth, Su 2019, Corollary 3.3). */
extern double dp_compose_gdp(const double *mu, int n);

/* Returns the sum of epsilons, all of the same order alpha (Mironov 2017, Proposition 1). */
extern double dp_compose_rdp(const double *epsilon, int n);

/* Returns the delta0 parts of approximate zCDP: 1 - prod(1 - delta) (BS section 8). */
extern double dp_compose_delta(const double *delta, int n);
extern double dp_compose_delta_k(double delta, int64_t k);

/* Sets (k epsilon, min(1, k delta)) (Dwork and Roth 2014, Theorem 3.16). */
extern void dp_compose_basic(double epsilon, double delta, int64_t k, double *sum_epsilon, double *sum_delta);

/*
 * Return epsilon by advanced composition of k equal mechanisms.
 *	 kov	the smallest of the three bounds of Kairouz, Oh, Viswanath 2015, Theorem 3.4, the first of which
 *			is k epsilon; their mean loss is epsilon tanh(epsilon / 2); proof in compose.c
 * The others are as printed, and may exceed k epsilon (basic composition): sqrt(2 k ln(1/delta_slack)) epsilon
 * + k m, with
 *	 dr16	m = epsilon (e^epsilon - 1) / 2 (DR Theorem 1.1)
 *	 drv10	m = epsilon (e^epsilon - 1) (Dwork, Rothblum, Vadhan 2010, Theorem III.3)
 * +Infinity at delta_slack = 0 unless epsilon or k is 0.  All go with dp_compose_advanced_delta.
 */
extern double dp_compose_advanced_kov(double epsilon, double delta_slack, int64_t k);
extern double dp_compose_advanced_dr16(double epsilon, double delta_slack, int64_t k);
extern double dp_compose_advanced_drv10(double epsilon, double delta_slack, int64_t k);

/*
 * Returns 1 - (1 - delta)^k (1 - delta_slack) (Kairouz, Oh, Viswanath 2015, Theorem 3.4), at most k delta +
 * delta_slack. It goes with every bound for k mechanisms that are epsilon-DP: one that is (epsilon, delta)-DP is
 * with the probability 1 - delta post-processing of randomised response, and else tells everything.
 */
extern double dp_compose_advanced_delta(double delta, double delta_slack, int64_t k);

/*
 * Returns epsilon of different mechanisms (Kairouz, Oh, Viswanath 2015,
 * Theorem 3.5): the smallest of its three bounds, the first of which is the
 * plain sum, with delta 1 - (1 - delta_slack) prod(1 - delta).
 */
extern double dp_compose_advanced_list(const double *epsilon, int n, double delta_slack);
extern double dp_compose_advanced_delta_list(const double *delta, int n, double delta_slack);

#endif							/* DP_COMPOSE_H */
