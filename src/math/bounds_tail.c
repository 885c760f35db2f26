/*-------------------------------------------------------------------------
 *
 * bounds_tail.c
 *	  Far values that found bounds leave out of an average; see the header.
 *
 * Bounds are where bins stand out of the noise, and few people with far values do not.  They may have much of an average: of values
 * with a lognormal or Pareto distribution a tenth.  Their number is estimated from how counts decline, as it is of norms
 * (norm_limit.c): a value of a unit is a norm of its own, in bins that end at powers of two as norms do.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "bounds_tail.h"

#include <math.h>

#include "norm_limit.h"
#include "quantile.h"

/* bins above a bound that are looked at: those by which it may be widened, and one for all that is further */
#define BEYOND DP_TAILS

/* Sets what a bound leaves out where it is widened; last: the bin that ends there, of which the next ones follow by step. */
static void
estimate_side(const double *counts, double sigma, double units, int last, int step, double bound, double *off, double *doubt)
{
	double		noisy[DP_NORM_BINS];
	dp_norms	norms;
	int			exponent;

	for (int i = 0; i < DP_NORM_BINS; i++)
	{
		int			bin = last + step * (i + 1 + BEYOND - DP_NORM_BINS);

		/* the grid ends, or begins anew on the other side of 0 */
		noisy[i] = bin < 0 || bin >= DP_LOG_BINS || (bin - DP_LOG_BINS / 2) * step <= 0 ? 0 : counts[bin];
	}
	/* the power of two that ends the bin is one less */
	(void) frexp(bound, &exponent);
	(void) dp_norms_estimate(noisy, DP_NORM_BINS, exponent - DP_NORM_BINS + BEYOND, sigma, false, 1, &norms);
	for (int i = 0; i < DP_TAILS; i++)
	{
		off[i] = dp_norms_cut(&norms, ldexp(bound, i)) / units;
		doubt[i] = dp_norms_doubt(&norms, ldexp(bound, i)) / units;
	}
}

void
dp_bounds_tail_estimate(const double *counts, double sigma, double lower, double upper, dp_bounds_tail *tail)
{
	int			first = dp_log_bin(lower) + 1;
	int			last = dp_log_bin(upper);

	/*
	 * what is beyond the grid is in its last bins, and no bound can be
	 * widened there
	 */
	for (int i = 0; i < DP_TAILS; i++)
		tail->below[i] = tail->above[i] = tail->below_doubt[i] = tail->above_doubt[i] = 0;
	tail->units = 0;
	tail->sigma = sigma;
	for (int i = lower > 0 ? first : first - 1; i <= last; i++)
		if (counts[i] > 0 && counts[i] < 1e15)
			tail->units += counts[i];
	if (!(tail->units >= 1))
		tail->units = 1;
	if (upper > 0 && last < DP_LOG_BINS - 1)
		estimate_side(counts, sigma, tail->units, last, 1, upper, tail->above, tail->above_doubt);
	if (lower < 0 && dp_log_bin(lower) > 0)
		estimate_side(counts, sigma, tail->units, dp_log_bin(lower), -1, -lower, tail->below, tail->below_doubt);
}

double
dp_bounds_tail_choose(const dp_bounds_tail *tail, double lower, double upper, double noise, int *below, int *above)
{
	double		best = INFINITY;
	double		off = 0;

	*below = *above = 0;
	for (int b = 0; b < (lower < 0 ? DP_TAILS : 1); b++)
		for (int a = 0; a < (upper > 0 ? DP_TAILS : 1); a++)
		{
			double		error = hypot(tail->below[b] + tail->above[a], (ldexp(upper, a) - ldexp(lower, b)) / 2 * noise);

			if (error >= best)
				continue;
			best = error;
			off = tail->below_doubt[b] + tail->above_doubt[a];
			*below = b;
			*above = a;
		}
	return off;
}
