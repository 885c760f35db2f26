/*-------------------------------------------------------------------------
 *
 * convert.h
 *	  Between pure, mean-concentrated and zero-concentrated privacy, and from
 *	  mechanisms to them.
 *
 * DR: Dwork and Rothblum 2016; BS: Bun and Steinke 2016.  (mu, tau)-mCDP: the
 * privacy loss has mean at most mu and is, less its mean, tau-subgaussian.
 *
 * Arguments are finite and >= 0 (sigma > 0, delta <= 1) unless said
 * otherwise.  Results are never NaN and may be +Infinity where the true value
 * exceeds the largest double.  Every function here always has an answer.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_CONVERT_H
#define DP_CONVERT_H

/*
 * Sets xi and rho by BS Lemma 4.2: (mu, tau)-mCDP is (xi, rho)-zCDP with rho =
 * tau^2 / 2, xi = mu - tau^2 / 2.  xi may be negative (-Infinity where rho
 * overflows); use 0 instead before group privacy, which is valid, as a larger
 * xi always is.
 */
extern void dp_mcdp_to_zcdp(double mu, double tau, double *rho, double *xi);

/*
 * Sets mu and tau by BS Lemma 4.3: mu = xi + rho; tau^2 = 2 (e^s - 1) with s =
 * xi + 2 rho, and for s >= 1 the smaller of that and 4 (e - 1) s^2.
 */
extern void dp_zcdp_to_mcdp(double rho, double xi, double *mu, double *tau);

/*
 * Sets (rho / 4, xi - rho / 4 + 5 rho^(1/4)), rounded upwards: of what is (xi + sqrt(rho ln(1/delta)), delta)-DP
 * for all delta > 0, 0 <= rho, xi <= 1 (BS Lemma 3.7, the converse of Lemma 3.5).
 */
extern void dp_approx_curve_to_zcdp(double xi, double rho, double *zcdp_rho, double *zcdp_xi);

/*
 * Return delta and epsilon by DR Corollary 3.1: delta = exp(-(epsilon - mu)^2
 * / (2 tau^2)) for epsilon >= mu, else 1; epsilon = mu + tau sqrt(2
 * ln(1/delta)).  tau = 0: the loss is at most mu, so delta is 0 from epsilon =
 * mu on.  delta in [0, 1].
 */
extern double dp_mcdp_delta(double mu, double tau, double epsilon);
extern double dp_mcdp_epsilon(double mu, double tau, double delta);

/*
 * Return the rho for which epsilon-DP is rho-zCDP.  standard: epsilon^2 / 2
 * (BS Proposition 1.4);
 * tight: epsilon tanh(epsilon / 2) (Steinke 2024; reached by randomised
 * response).  An (epsilon, delta)-DP mechanism is delta-approximate
 * rho-zCDP with the same rho (BS 1.13).
 */
extern double dp_pure_to_zcdp(double epsilon);
extern double dp_pure_to_zcdp_standard(double epsilon);

/*
 * Set mu and tau for which epsilon-DP is (mu, tau)-mCDP; tau = epsilon.
 * standard: mu = epsilon (e^epsilon - 1) / 2 (DR Theorem 3.5); tight: mu =
 * epsilon tanh(epsilon / 2), the relative entropy of randomised response.
 */
extern void dp_pure_to_mcdp(double epsilon, double *mu, double *tau);
extern void dp_pure_to_mcdp_standard(double epsilon, double *mu, double *tau);

/* Returns epsilon by BS Lemma 3.2: xi if rho = 0, else +Infinity.  xi >= 0. */
extern double dp_zcdp_to_pure(double rho, double xi);

/* Returns the rho of Laplace noise of scale sensitivity / epsilon: epsilon + e^-epsilon - 1. */
extern double dp_laplace_to_zcdp(double epsilon);

/*
 * Return the rho of eta-bounded range, such as the exponential mechanism with
 * exp(eta score / sensitivity): standard eta^2 / 8 (Cesar and Rogers 2021,
 * Lemma 3.2); an eta-bounded range mechanism is eta-DP, so also eta tanh(eta /
 * 2): dp_bounded_range_to_zcdp is the smaller of the two.  _kl: the largest
 * relative entropy, eta/(e^eta-1) - 1 - ln(eta/(e^eta-1)) (Cesar and Rogers,
 * section 3): the mean loss, a bound of order 1 alone and so not a rho.
 */
extern double dp_bounded_range_to_zcdp(double eta);
extern double dp_bounded_range_to_zcdp_standard(double eta);
extern double dp_bounded_range_to_zcdp_kl(double eta);

/* Sets mu and tau of Gaussian noise: tau = sensitivity / sigma, mu = tau^2 / 2 (DR Theorem 3.2). */
extern void dp_gaussian_mcdp(double sensitivity, double sigma, double *mu, double *tau);

#endif							/* DP_CONVERT_H */
