/*-------------------------------------------------------------------------
 *
 * refinement.h
 *	  Several answers of one question: better ones from increments, worse ones from
 *	  a better one, and those between two.
 *
 * A part of a column has an exact integer x in each coordinate (a group, a bin
 * of it).  An *increment*, bought at rho, is y = x + N_Z(0, v), with v from
 * dp_calibrate(sens2, rho): a top-up is an increment like any other.  What all
 * increments tell together is their mean (dp_refine_mean).  A *link* of an increment
 * is what is told for less than the increment's rho: the increment with more noise.
 *
 * Links of an increment are nested.  How much a link's noise exceeds the increment's is
 * its *extra*, a variance, which follows from the increment and the link's rho
 * alone (dp_refine_extra): 0, or a whole number of steps squared, at most as
 * large for a larger rho.  With e_1 < e_2 < ... the extras of those that are
 * there, link i + 1 is link i and a draw of variance e_(i+1) - e_i; a link that
 * comes later, between two, is drawn so that it is as if it had been there
 * before (dp_bridge_draw).  Links of the same extra are the same answer.  So, for
 * a new link of extra e, d the dearer and c the cheaper of its neighbours (d is the
 * increment itself, of extra 0, where no link is dearer):
 *
 *		e = e_d, or c is there and e = e_c:  the value of d, or of c;
 *		no c:  that of d and dp_gauss_draw of variance e - e_d;
 *		else:  that of d and dp_bridge_draw(bridge of (e - e_d, e_c - e), c - d).
 *
 * Who knows links at rho 1, rho 2, ... of an increment knows them at max(rho i)-zCDP
 * in all, and may choose after each whether to buy a dearer one or something else;
 * the proof is at the head of refinement.c.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_REFINE_H
#define DP_REFINE_H

#include "gauss.h"

/* two different extras differ by at least so much */
#define DP_REFINE_GAP	4

/* Returns a part's share of rho: floor(rho weight / weights); 0 <= weight <= weights, weights > 0, rho >= 0. */
static inline int64_t
dp_refine_share(int64_t rho, int weight, int weights)
{
	return (int64_t) ((dp_u128) rho * weight / weights);
}

/*
 * Returns the mean of y[0 .. n-1], each weighted by its rho (amounts, > 0),
 * rounded to the nearest integer, of two to the even one.  n >= 1, and any y.
 */
extern dp_i128 dp_refine_mean(const dp_i128 *y, const int64_t *rho, int n);

/*
 * Returns an upper bound of the standard deviation of dp_refine_mean, in steps:
 * increments of the variances v (the last maybe a link's, dp_refine_variance), of
 * the weights rho.  With n = 1 that is dp_variance_sigma.
 */
extern double dp_refine_sigma(const dp_variance *v, const int64_t *rho, int n);

/*
 * Sets the extra of a link at "wanted" (an amount) of an increment that was bought
 * at "rho" and has the variance v: the smallest that the proof allows, of
 * those there are.  0 if wanted = rho.
 *
 * sens2 and rho: as for dp_calibrate; 1 <= wanted <= rho.  Returns false
 * when there is none up to 2^120: wanted is too small, v is below 1 (and wanted below rho), or
 * an argument is not in its range.
 */
extern bool dp_refine_extra(dp_u128 sens2, int64_t rho, const dp_variance *v, int64_t wanted, dp_u128 *extra);

/* Sets a link's variance, that of the increment plus extra, rounded up by less than 1 if its terms would not fit. */
extern void dp_refine_variance(const dp_variance *v, dp_u128 extra, dp_variance *result);

/* Draws of one gap share this, which is plain data.  Only refinement.c uses the fields. */
typedef struct dp_bridge
{
	dp_gauss	gauss;			/* of variance "wide" */
	dp_u128		above;			/* variance from the dearer neighbour to the
								 * link */
	dp_u128		total;			/* variance from the dearer to the cheaper one */
	dp_u128		wide;			/* integer above above below / total */
	uint64_t	excess[3];		/* wide total - above below */
	uint64_t	product[6];		/* above below wide */
	uint64_t	den[11];		/* 8 above below wide total excess */
} dp_bridge;

/*
 * Prepares draws of a link between two that are there: above is its extra less
 * that of the dearer neighbour (the increment: 0), below the cheaper neighbour's
 * less its own.  Both are at least DP_REFINE_GAP, and at most 2^120 together;
 * otherwise returns false.
 */
extern bool dp_bridge_init(dp_bridge *b, dp_u128 above, dp_u128 below);

/*
 * Returns what to add to the dearer neighbour to have the link, where n is the
 * cheaper neighbour less the dearer one: an exact draw from the law of the
 * first of two discrete Gaussians, of variances above and below, whose sum is
 * n.  |n| <= 2^126.  It takes less than two draws of a discrete Gaussian on
 * average, whatever n is.
 */
extern dp_i128 dp_bridge_draw(const dp_bridge *b, dp_i128 n, dp_entropy *e);

#endif							/* DP_REFINE_H */
