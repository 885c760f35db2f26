/*-------------------------------------------------------------------------
 *
 * divergence.h
 *	  How far two given distributions of finitely many outcomes are apart, and
 *	  what a mechanism tells of its input in all.
 *
 * p and q have n >= 1 elements in [0, 1] each, and sums within DP_SUM_SLACK of 1, by which they are divided.
 * Results are rounded upwards, never NaN, at least 0, and +Infinity where an outcome of p is impossible under q.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_DIVERGENCE_H
#define DP_DIVERGENCE_H

#include <stdbool.h>
#include <stdint.h>

#define DP_SUM_SLACK	1e-9

/* dp_privacy_loss takes some hundred looks at all outcomes, at most as many as take seconds */
#define DP_MOST_OUTCOMES	10000

/* Tells whether the sum is 1, within DP_SUM_SLACK. */
extern bool dp_is_distribution(const double *p, int n);

/* Returns the sum of p ln(p / q) (DR Definition 2.1, BS section 2). */
extern double dp_kl_divergence(const double *p, const double *q, int n);

/* Returns the largest ln(p / q) (DR Definition 2.2). */
extern double dp_max_divergence(const double *p, const double *q, int n);

/* Returns ln(sum of p^alpha q^(1 - alpha)) / (alpha - 1), 1 < alpha < infinity (BS Definition 2.1). */
extern double dp_renyi_divergence(double alpha, const double *p, const double *q, int n);

/*
 * Sets the mean of the privacy loss ln(p / q) under p, which is the KL divergence, and the least tau for which
 * it is tau-subgaussian around its mean, E exp(l (Z - E Z)) <= exp(l^2 tau^2 / 2) for all real l (DR section 2),
 * within 1e-12 of itself; of fine grids of a Gaussian, where nearly all l are alike, by some 1e-4 more than the least.
 */
extern void dp_privacy_loss(const double *p, const double *q, int n, double *mu, double *tau);

/*
 * Returns a bound of D_alpha(P | R) from D_((k alpha - 1) / (k - 1))(P | Q) = pq and D_(k alpha)(Q | R) = qr:
 * k alpha / (k alpha - 1) pq + qr, alpha, k > 1 (BS Lemma 5.2).
 */
extern double dp_renyi_triangle(double alpha, double k, double pq, double qr);

/*
 * Return bounds of the mutual information between a dataset of n entries and what a (xi, rho)-zCDP mechanism
 * tells of it, in nats, neighbours differing in one entry: rho n^2 + xi n (1 + 1/2 + ... + 1/n); and of
 * independent entries (rho + xi) n (BS Proposition 1.10).  n >= 1.
 */
extern double dp_mutual_information(double rho, int64_t n, double xi);
extern double dp_mutual_information_product(double rho, int64_t n, double xi);

#endif							/* DP_DIVERGENCE_H */
