/*-------------------------------------------------------------------------
 *
 * discrete_gaussian.h
 *	  What the discrete Gaussian mechanism guarantees.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_DISCRETE_GAUSSIAN_H
#define DP_DISCRETE_GAUSSIAN_H

/*
 * Returns the least delta for which integer-valued answers of the given
 * sensitivity plus discrete Gaussian noise of parameter sigma are (epsilon,
 * delta)-DP, in one dimension (Canonne, Kamath, Steinke, Theorem 7).
 *
 * sensitivity: an integer >= 0; sigma > 0; epsilon >= 0; all finite.
 * Returns 0 .. 1, never NaN, the nearest value (not rounded outwards).
 * Takes up to some 80 sigma steps for sigma < 512 (1 ms), and constant time
 * from there on.
 *
 * Its rho is that of the Gaussian, dp_gaussian_rho (CKS Theorem 4).
 */
extern double dp_discrete_gaussian_delta(double sensitivity, double sigma, double epsilon);

#endif							/* DP_DISCRETE_GAUSSIAN_H */
