/*-------------------------------------------------------------------------
 *
 * group.h
 *	  What a group of k people gets from a mechanism that protects one.
 *
 * Arguments are finite and >= 0 (sigma > 0, delta <= 1), k >= 1.  Results are
 * never NaN, may be +Infinity.  k = 1 gives the arguments themselves, but in
 * dp_group_mcdp_general.  Every function here always has an answer.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_GROUP_H
#define DP_GROUP_H

#include <stdint.h>

/*
 * Sets (k^2 rho, xi k H_k), H_k = 1 + 1/2 + .. + 1/k (BS Proposition 1.9,
 * 5.3); k xi where rho = 0 (BS Lemma 3.2 and pure group privacy).  xi >= 0:
 * replace a negative one by 0 before.
 */
extern void dp_group_zcdp(double rho, int64_t k, double xi, double *group_rho, double *group_xi);

/*
 * Sets (k^2 mu, k tau), for mechanisms whose mu and tau follow from what holds for groups, too, and
 * compositions of these:
 *	- Gaussian noise, mu = tau^2 / 2 (dp_gaussian_mcdp; DR Corollary 3.3);
 *	- epsilon-DP with tau >= epsilon, mu >= epsilon tanh(epsilon / 2) (dp_pure_to_mcdp, by either bound).  A
 *	  group has k epsilon,
 *	  and tanh(k epsilon / 2) <= k tanh(epsilon / 2).
 * For others it need not hold, also where they are epsilon-DP with a smaller mu or tau.
 */
extern void dp_group_mcdp(double mu, double tau, int64_t k, double *group_mu, double *group_tau);

/*
 * Sets (mu, tau) of P from R, rounded upwards, where P and Q have a privacy loss of (mu_pq, tau_pq) in both orders,
 * and so Q and R (compare DR Lemmas 4.2 and 4.3; proof in group.c).
 */
extern void dp_mcdp_triangle(double mu_pq, double tau_pq, double mu_qr, double tau_qr, double *mu, double *tau);

/*
 * Sets (mu, tau) of groups for any (mu, tau)-mCDP, rounded upwards (compare DR Theorem 4.1; proof in group.c).  mu
 * counts as tau^2 / 2 where it is more, also for k = 1.
 */
extern void dp_group_mcdp_general(double mu, double tau, int64_t k, double *group_mu, double *group_tau);

/*
 * Sets ((k sensitivity / sigma)^2 / 2, k sensitivity / sigma) (DR Corollary
 * 3.3, which omits "/ sigma" in the second).
 */
extern void dp_group_gaussian(double sensitivity, double sigma, int64_t k, double *group_mu, double *group_tau);

/* Returns k mu (Dong, Roth, Su 2019, Theorem 2.14). */
extern double dp_group_gdp(double mu, int64_t k);

/* Returns k epsilon (Dwork and Roth 2014, Theorem 2.2). */
extern double dp_group_pure(double epsilon, int64_t k);

/*
 * Returns the delta that goes with k epsilon, at most 1.  standard: k e^((k-1)
 * epsilon) delta (DR section 1); the other: delta (e^(k epsilon) - 1) /
 * (e^epsilon - 1) (Vadhan 2017, Lemma 2.2), never larger.
 */
extern double dp_group_approx_delta(double epsilon, double delta, int64_t k);
extern double dp_group_approx_delta_standard(double epsilon, double delta, int64_t k);

#endif							/* DP_GROUP_H */
