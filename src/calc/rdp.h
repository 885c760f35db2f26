/*-------------------------------------------------------------------------
 *
 * rdp.h
 *	  Renyi differential privacy, by order alpha.
 *
 * Mironov 2017: (alpha, epsilon)-RDP bounds the Renyi divergence of order
 * alpha by epsilon.  Arguments: 1 < alpha, all others >= 0, sigma > 0, delta
 * in [0, 1], all finite.  Results are never NaN, may be +Infinity.  Every
 * function here always has an answer.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_RDP_H
#define DP_RDP_H

/* Returns alpha sensitivity^2 / (2 sigma^2) (Mironov 2017, Proposition 7). */
extern double dp_gaussian_rdp(double alpha, double sensitivity, double sigma);

/* Returns xi + rho alpha (BS Definition 1.1); xi may be negative. */
extern double dp_zcdp_to_rdp(double alpha, double rho, double xi);

/*
 * Returns ln(cosh((alpha - 1/2) eps) / cosh(eps / 2)) / (alpha - 1):
 * randomised response, the worst epsilon-DP mechanism (BS, proof of
 * Proposition 3.3).
 */
extern double dp_pure_to_rdp(double alpha, double epsilon);

/*
 * Convert one order to (epsilon, delta).  The first of each is the smallest that follows from the order alone, rounded
 * upwards (Asoodeh and others 2021, Theorem 3; rdp.c); improved (CKS Proposition 12):
 * epsilon + ln(1 - 1/alpha) - ln(alpha delta) / (alpha - 1), at least 0; simple
 * (Mironov 2017, Proposition 3): epsilon + ln(1/delta) / (alpha - 1).
 * rdp_epsilon is the argument "epsilon" of the SQL functions.
 */
extern double dp_rdp_epsilon(double alpha, double rdp_epsilon, double delta);
extern double dp_rdp_epsilon_improved(double alpha, double rdp_epsilon, double delta);
extern double dp_rdp_epsilon_simple(double alpha, double rdp_epsilon, double delta);
extern double dp_rdp_delta(double alpha, double rdp_epsilon, double target_epsilon);
extern double dp_rdp_delta_improved(double alpha, double rdp_epsilon, double target_epsilon);
extern double dp_rdp_delta_simple(double alpha, double rdp_epsilon, double target_epsilon);

/* of a curve the best of its orders */
typedef double (*dp_rdp_bound) (double alpha, double rdp_epsilon, double target);

#endif							/* DP_RDP_H */
