/*-------------------------------------------------------------------------
 *
 * zcdp.h
 *	  Conversions of budgets: rho from (epsilon, delta), rounded down; epsilon
 *	  from rho, rounded up; and how often a guess is right.
 *
 * The bounds of epsilon and rho are those of Canonne, Kamath, Steinke 2020 (CKS), Proposition 12
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

/*
 * Returns how often the best guesser is right at most, 0.5 .. 1, rounded up: he
 * knows all but whether one person is in the data, which is as likely as not,
 * and has seen answers with Gaussian noise that cost rho, beside keys that were
 * shown wrongly with probability delta.  The head of zcdp.c has the proof and
 * by how much discrete noise differs.  rho >= 0, maybe infinite; 0 <= delta <= 1.
 */
extern double dp_zcdp_best_guess(double rho, double delta);

#endif							/* DP_ZCDP_H */
