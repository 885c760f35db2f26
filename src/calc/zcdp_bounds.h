/*-------------------------------------------------------------------------
 *
 * zcdp_bounds.h
 *	  (xi, rho)-zCDP to (epsilon, delta) and back, by each known bound.
 *
 * A mechanism is (xi, rho)-zCDP if its Renyi divergence of every order
 * alpha > 1 is at most xi + rho alpha (Bun and Steinke 2016, Definition 1.1;
 * BS below).  Write e = epsilon - xi, L = ln(1/delta).  The bounds:
 *
 *	simple		BS Proposition 1.3, Lemma 3.5
 *	bs36		BS Lemma 3.6, needs e >= rho
 *	bs36_closed	BS Lemma 3.6 with the factor sqrt(pi rho) alone, solved for
 *				epsilon; where that would ask for delta > sqrt(pi rho), epsilon
 *				is xi + rho, which holds by the same lemma
 *	tight		Canonne, Kamath, Steinke 2020 (CKS), Proposition 12 and
 *				Corollary 13
 *
 * Always delta: tight <= bs36 <= simple, epsilon: the same and bs36 <=
 * bs36_closed, rho: tight >= bs36 >= simple.
 *
 * Arguments: rho >= 0, epsilon >= 0, xi >= 0, delta and delta0 in [0, 1], all
 * finite; outside of that nothing is promised.  Negative xi (of a mechanism
 * converted from mCDP) is understood.  Results are never NaN and may be
 * +Infinity.  The limits are the values: at rho = 0 the mechanism is
 * xi-DP with delta 0; at delta = 0 and rho > 0 epsilon is +Infinity; at
 * delta = 1 the tight epsilon is 0, the others are what their formulae give.
 *
 * "No answer": the dp_zcdp_rho_ functions return DP_NO_ANSWER, which is
 * negative, where no rho >= 0 satisfies (epsilon, delta): for simple and bs36
 * when epsilon < xi, for tight when epsilon - xi < ln(1 - delta).  All others
 * always have an answer.
 *
 * These round to nearest; where a budget hangs on it, use the _up and _down
 * functions of math/zcdp.h.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_ZCDP_BOUNDS_H
#define DP_ZCDP_BOUNDS_H

#define DP_NO_ANSWER (-1.0)

/* Return the smallest epsilon. */
extern double dp_zcdp_epsilon_simple(double rho, double delta, double xi);
extern double dp_zcdp_epsilon_bs36(double rho, double delta, double xi);
extern double dp_zcdp_epsilon_bs36_closed(double rho, double delta, double xi);
extern double dp_zcdp_epsilon_tight(double rho, double delta, double xi);

/* Return the smallest delta, 0 .. 1. */
extern double dp_zcdp_delta_simple(double rho, double epsilon, double xi);
extern double dp_zcdp_delta_bs36(double rho, double epsilon, double xi);
extern double dp_zcdp_delta_tight(double rho, double epsilon, double xi);

/*
 * Return the largest rho; DP_NO_ANSWER as above; bs36 is at most epsilon - xi,
 * tight is +Infinity at delta = 1.
 */
extern double dp_zcdp_rho_simple(double epsilon, double delta, double xi);
extern double dp_zcdp_rho_bs36(double epsilon, double delta, double xi);
extern double dp_zcdp_rho_tight(double epsilon, double delta, double xi);

/*
 * Return the smallest epsilon and delta of delta0-approximate (xi, rho)-zCDP
 * (BS section 8): the whole delta is delta0 + (1 - delta0) delta_zcdp.
 * epsilon is +Infinity where delta < delta0, and where delta = delta0 unless
 * rho = 0.
 */
extern double dp_approx_zcdp_epsilon(double rho, double delta0, double delta, double xi);
extern double dp_approx_zcdp_epsilon_simple(double rho, double delta0, double delta, double xi);
extern double dp_approx_zcdp_delta(double rho, double delta0, double epsilon, double xi);

#endif							/* DP_ZCDP_BOUNDS_H */
