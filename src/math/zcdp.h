/*-------------------------------------------------------------------------
 *
 * zcdp.h
 *	  What a budget hangs on: rho from (epsilon, delta), rounded down, and
 *	  epsilon from rho, rounded up.
 *
 * The bounds are those of Canonne, Kamath, Steinke 2020 (CKS), Proposition 12
 * and Corollary 13.  Conversions that round to the nearest number, and other
 * bounds, are in calc/zcdp_bounds.h.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_ZCDP_H
#define DP_ZCDP_H

/*
 * dp_zcdp_epsilon_up returns an epsilon, 0 .. Infinity, for which every
 * rho-zCDP mechanism is (epsilon, delta)-DP: never below the smallest that CKS
 * gives, and above it by rounding alone.  dp_zcdp_rho_down returns a rho, 0 ..
 * Infinity, with which every rho-zCDP mechanism is (epsilon, delta)-DP: never
 * above the largest.
 *
 * rho >= 0, epsilon >= 0, 0 <= delta <= 1, all finite; at delta = 0, delta = 1
 * and rho = 0 the results are the limits.  Never NaN.
 */
extern double dp_zcdp_epsilon_up(double rho, double delta);
extern double dp_zcdp_rho_down(double epsilon, double delta);

#endif							/* DP_ZCDP_H */
