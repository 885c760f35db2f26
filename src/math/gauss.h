/*-------------------------------------------------------------------------
 *
 * gauss.h
 *	  Exact sampling from the discrete Gaussian N_Z(0, sigma^2).
 *
 * Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential
 * Privacy" (NeurIPS 2020).  sigma^2 is a rational; every decision is made by
 * comparing uniform random bits with exactly known (or arbitrarily
 * refinable) integer bounds.  There is no floating point in sampling.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_GAUSS_H
#define DP_GAUSS_H

#include <stdbool.h>
#include <stddef.h>

#include "entropy.h"
#include "exp.h"
#include "wide.h"

/* a variance, num / den, both positive */
typedef struct dp_variance
{
	dp_u128		num;
	dp_u128		den;
} dp_variance;

/* the number of bins of equal width in the sampler's table, before its tail */
#define DP_GAUSS_BINS	45

/* a point that is nearer to the end of its stretch needs a decision, if w = 1 */
#define DP_GAUSS_DOUBT	(4 * DP_EXP64_ERROR + 4)

/*
 * A sampler prepared for one variance, half a kB.  Plain data: may be copied,
 * needs no cleanup.  (The fields belong to gauss.c, which explains them.)
 */
typedef struct dp_gauss
{
	dp_variance variance;
	uint64_t	scale;			/* height of the curve at 0 */
	uint64_t	kappa;			/* 1 / (2 sigma^2), rounded down, is ... */
	int			kappa_shift;	/* ... kappa / 2^kappa_shift */
	int			width_bits;		/* a bin is 2^width_bits wide */

	/*
	 * Where each bin's stretch begins, the tail's, and where that ends; then
	 * a last entry that nothing reaches.
	 */
	uint64_t	edge[DP_GAUSS_BINS + 3];
} dp_gauss;

/* Prepares a sampler; returns false when sigma is outside 0.01 .. 2^60 or a term of the rational is 0. */
extern bool dp_gauss_init(dp_gauss *g, const dp_variance *v);

/*
 * Returns one exact draw; takes 8 to 16 bytes of entropy in most cases, and a
 * time that does not depend on what is drawn.
 */
extern dp_i128 dp_gauss_draw(const dp_gauss *g, dp_entropy *e);

/*
 * The two functions decide whether a point lies below the curve, for
 * dp_gauss_draw and for the tests.
 *
 * dp_gauss_quick returns 1 when height + t lies below the curve at x for all t
 * in [0, 1), 0 when for none, -1 when it cannot tell; x must lie in the first
 * 64 bins.
 *
 * dp_gauss_exact tells whether (height + t) / 2^shift lies below the curve at
 * x, for a t drawn uniformly from [0, 1).
 */
extern int	dp_gauss_quick(const dp_gauss *g, uint64_t x, uint64_t height);
extern bool dp_gauss_exact(const dp_gauss *g, dp_entropy *e, dp_u128 x,
						   uint64_t height, uint64_t shift);

#endif							/* DP_GAUSS_H */
