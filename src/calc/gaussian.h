/*-------------------------------------------------------------------------
 *
 * gaussian.h
 *	  What the Gaussian mechanism guarantees, and Gaussian differential
 *	  privacy (mu-GDP).
 *
 * Arguments, everywhere: sensitivity >= 0, sigma > 0, mu >= 0, epsilon >= 0,
 * rho >= 0, 0 <= delta <= 1, all finite; the caller has checked.  Results are
 * never NaN and never negative (but see dp_gaussian_stddev_classic); Infinity
 * where that is the limit.  They are nearest values, within a few units in
 * the last place of what the arguments' own rounding would move, and not
 * rounded outwards.
 *
 * A mu-GDP mechanism is mu^2/2-zCDP, not the reverse: the functions here must
 * not be fed with the mu of a rho that came from another mechanism.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_GAUSSIAN_H
#define DP_GAUSSIAN_H

/* Returns rho = sensitivity^2 / (2 sigma^2) of N(0, sigma^2) noise (BS Prop. 1.6). */
extern double dp_gaussian_rho(double sensitivity, double sigma);

/* Returns the sigma for which noise is rho-zCDP: sensitivity / sqrt(2 rho); Infinity at rho = 0. */
extern double dp_gaussian_stddev_zcdp(double sensitivity, double rho);

/* Returns mu = sensitivity / sigma (Dong, Roth, Su, Theorem 1). */
extern double dp_gaussian_gdp(double sensitivity, double sigma);

/* Returns rho = mu^2 / 2, for which mu-GDP is rho-zCDP (Dong, Roth, Su, Corollary B.6). */
extern double dp_gdp_to_zcdp(double mu);

/*
 * Returns the least delta for which mu-GDP is (epsilon, delta)-DP: Q(a) -
 * e^epsilon Q(b), a = epsilon / mu - mu / 2, b = a + mu (Balle and Wang,
 * Theorem 8; Dong, Roth, Su, Corollary 2.13).  0 .. 1.
 */
extern double dp_gdp_delta(double mu, double epsilon);

/* Returns the least epsilon >= 0 for delta; Infinity at delta = 0 unless mu = 0. */
extern double dp_gdp_epsilon(double mu, double delta);

/* Returns the largest mu for (epsilon, delta); 0 at delta = 0, Infinity at 1. */
extern double dp_gdp_mu(double epsilon, double delta);

/*
 * Return the delta and the least epsilon of noise sigma: those of mu-GDP for
 * sensitivity and sigma, mu = sensitivity / sigma.
 */
extern double dp_gaussian_delta(double sensitivity, double sigma, double epsilon);
extern double dp_gaussian_epsilon(double sensitivity, double sigma, double delta);

/* Returns the least sigma: 0 at sensitivity = 0 or delta = 1, else Infinity at delta = 0. */
extern double dp_gaussian_stddev(double sensitivity, double epsilon, double delta);

/*
 * Returns sqrt(2 ln(1.25 / delta)) sensitivity / epsilon (Dwork and Roth 2014,
 * Theorem A.1): larger than need be, and only for 0 < epsilon <= 1.  -1
 * outside of
 * that: an error to report.
 */
extern double dp_gaussian_stddev_classic(double sensitivity, double epsilon, double delta);

#endif							/* DP_GAUSSIAN_H */
