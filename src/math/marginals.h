/*-------------------------------------------------------------------------
 *
 * marginals.h
 *	  Noisy tables of one population by sets of its attributes: what they tell
 *	  together, and how to make them agree.
 *
 * Attributes are axes, each with a number of values.  A marginal is the table
 * of the sums by some of the axes, with independent noise of one variance in each cell.
 * The finer of two marginals adds up to the coarser one; their noisy tables do not, until they
 * are made to agree by weighted least squares.  Proofs are at the head of
 * marginals.c.
 *
 * Part of math/: no PostgreSQL header may be included here, and nothing is allocated.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_MARGINALS_H
#define DP_MARGINALS_H

#include <stdbool.h>
#include <stdint.h>

#include "math/wide.h"

#define DP_MAX_AXES 12
#define DP_MAX_MARGINALS 64

typedef struct dp_marginals
{
	int			naxes;
	int64_t		size[DP_MAX_AXES];	/* values of each axis, at least 1 */
	int			n;
	uint32_t	axes[DP_MAX_MARGINALS]; /* of each marginal: bit i is axis i */
	double		information[DP_MAX_MARGINALS];	/* of each: 1 / variance of a
												 * cell's noise; 0: not asked */
} dp_marginals;

/* dp_marginal_cells returns how many cells the marginal by these axes has. */
extern double dp_marginal_cells(const dp_marginals *m, uint32_t axes);

/*
 * dp_marginal_variance returns the variance of each cell of the marginal by
 * these axes in the least squares estimate from all that were asked; HUGE_VAL
 * where they do not tell it.
 */
extern double dp_marginal_variance(const dp_marginals *m, uint32_t axes);

/*
 * dp_marginals_agree replaces noisy tables by integers that agree, near the least squares
 * estimate: two marginals have the same sums by the axes that both have.  values[i] is the table of marginal i, row by row,
 * the last axis running fastest; all were asked.  agreed, work: as many numbers as all marginals have cells.
 *
 * dp_marginal_rounding returns the variance that integers add to each cell of the marginal.
 */
extern void dp_marginals_agree(const dp_marginals *m, dp_i128 **values, dp_i128 *agreed, double *work);
extern double dp_marginal_rounding(const dp_marginals *m, uint32_t axes);

#endif							/* DP_MARGINALS_H */
