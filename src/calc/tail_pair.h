/*-------------------------------------------------------------------------
 *
 * tail_pair.h
 *	  The standard normal law's density and upper tail, and the difference of
 *	  two tails that privacy is made of.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_TAIL_PAIR_H
#define DP_TAIL_PAIR_H

/*
 * Return the density at x and the upper tail Q(x) = P[N(0,1) > x], to a few
 * units in the last place wherever the result is a normal double.  x: any but
 * NaN; infinities give the limits.
 */
extern double dp_normal_density(double x);
extern double dp_normal_tail(double x);

/*
 * Two normal laws a distance of width apart, told apart at the point whose
 * distance from the middle between the two is centre:
 *
 *		drop = Q(a) - e^(centre width) Q(b)
 *		a = centre - width / 2, b = centre + width / 2
 *
 * and what its derivatives need.  e^(centre width) Q(b) = density(a) M(b), M
 * being the Mills ratio Q / density.
 */
typedef struct dp_tail_pair
{
	double		a;
	double		density;		/* at a */
	double		drop;			/* 0 .. 1 */
	double		rest;			/* 1 - drop, without cancellation */
	double		log_drop;		/* ln(drop), also where drop underflows;
								 * -Infinity for a > 1e150 */
	double		second;			/* e^(centre width) Q(b) */
} dp_tail_pair;

/*
 * Fills *pair for centre >= 0, given as the unevaluated sum centre +
 * centre_low with centre_low below an ulp of centre, and width > 0; both
 * finite.
 */
extern void dp_normal_tail_pair(double centre, double centre_low, double width,
								dp_tail_pair *pair);

#endif							/* DP_TAIL_PAIR_H */
