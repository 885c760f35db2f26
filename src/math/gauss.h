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
 *-------------------------------------------------------------------------
 */
#ifndef DP_GAUSS_H
#define DP_GAUSS_H

#include <stdbool.h>
#include <stddef.h>

#include "wide.h"

/*
 * Where random bits come from.  fill() writes len bytes or does not return
 * (the backend's version raises an error; the tests' version replays known
 * bytes).  The sampler buffers nothing of its own.
 */
typedef struct dp_entropy
{
	void		(*fill) (void *ctx, void *buf, size_t len);
	void	   *ctx;
} dp_entropy;

/* a variance, num / den, both positive */
typedef struct dp_variance
{
	dp_u128		num;
	dp_u128		den;
} dp_variance;

/*
 * A sampler prepared for one variance.  Plain data: may be copied, needs no
 * cleanup.  (The fields belong to gauss.c.)
 */
typedef struct dp_gauss
{
	dp_variance variance;
	/* further fields: gauss.c's */
} dp_gauss;

/* false when sigma is outside 0.01 .. 2^60 or a term of the rational is 0 */
extern bool dp_gauss_init(dp_gauss *g, const dp_variance *v);

/* one exact draw */
extern dp_i128 dp_gauss_draw(const dp_gauss *g, dp_entropy *e);

#endif							/* DP_GAUSS_H */
