/*-------------------------------------------------------------------------
 *
 * found_limits.c
 *	  Limits on norms that nobody has set, found privately before the answers
 *	  that follow from them (norms.c).
 *
 * Invariant: what is chosen is a function of noisy counts that were paid for,
 * and of what was known before.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "math/norm_limit.h"
#include "release/kept_int.h"
#include "release/release.h"
#include "release/release_int.h"

/* Chooses the limit of numbers of distinct values, by what the limiter has of them beside norms. */
static int
choose_distinct(const DpPricedColumn *column, const dp_norms *norms, const double *limits, double groups, double noise, const double *counts,
				double sigma, double *cut)
{
	dp_distinct probes[DP_PROBES];

	for (int i = 0; i < DP_PROBES; i++)
	{
		double		limit = limits[dp_probe_limit(column, i)];

		probes[i].limit = limit;
		probes[i].count = counts[dp_first_probe() + i] * limit;
		probes[i].sigma = sigma * limit;
	}
	return dp_norms_choose_distinct(norms, limits, column->nlimits, groups, noise, probes, DP_PROBES, cut);
}

/* Returns which share of all norms is so much of them. */
static double
share_of(const dp_norms *norms, double cut)
{
	double		total = dp_norms_total(norms);

	return total > 0 ? cut / total : 0;
}

/*
 * Chooses a limit by noisy counts of norms, which were bought for rho; column is one that it limits, and settled for the
 * least.  Answers of several prices that are kept are of one limit, as one is derived from another: so it does not depend on
 * which of these prices is asked, but on that which the counts were bought for.  Where limits alone are bought the column
 * has the price at which it will be asked for.  Sets *cut to the share that the limit cuts, and *doubt to the root of its mean square.
 */
static int
choose_limit(const DpPricedRelease *priced, const DpPricedColumn *column, const double *counts, double sigma, int64 rho, double *cut, double *doubt)
{
	const DpPricedPart *part = &column->parts[0];
	double		limits[DP_MAX_NORM_LIMITS];
	double		groups = Max(priced->groups_guess, 1);
	int64		whole = priced->limits_alone ? column->rho : dp_price_by_limit(column, priced, rho);
	double		price = (double) Max(column->desc->answer == DP_ANSWER_MOMENTS ? whole / 2 : dp_part_share(column, 0, whole), 1) / DP_RHO_ONE;
	double		noise = sqrt((double) part->sens2 / (2 * price)) / (double) column->limits[0];
	dp_norms	norms;
	int			bins;
	int			first = dp_first_norm(column, &bins);
	int			limit;

	for (int i = 0; i < column->nlimits; i++)
		limits[i] = (double) column->limits[i] / column->norm_unit;
	(void) dp_norms_estimate(counts, bins, first, sigma, part->desc.kind != DP_VALUE_SUM, groups, &norms);
	if (dp_has_probes(column))
	{
		limit = choose_distinct(column, &norms, limits, groups, noise, counts, sigma, cut);
		*doubt = *cut;
		return limit;
	}
	limit = dp_is_weighted(column->desc) ? dp_norms_choose_mean(&norms, limits, column->nlimits, groups, noise)
		: dp_norms_choose(&norms, limits, column->nlimits, groups, noise);
	*cut = Min(share_of(&norms, dp_norms_cut(&norms, limits[limit])), 1);
	*doubt = share_of(&norms, dp_norms_doubt(&norms, limits[limit]));
	return limit;
}

/* Notes what is cut of the columns that a norm limits. */
static void
note_cut(DpPricedRelease *priced, int norm, double cut, double doubt)
{
	for (int i = 0; i < priced->ncolumns; i++)
	{
		if (priced->columns[i].desc->norm != norm)
			continue;
		priced->columns[i].cut = cut;
		priced->columns[i].cut_doubt = doubt;
	}
}

/* Its priced parts are one after the other, as the counts are. */
const int  *
dp_find_limits(DpRun *run, const dp_i128 *counts)
{
	DpPricedRelease *priced = run->priced;
	DpPricedRelease *limiter = priced->before[DP_FINDS_LIMITS];
	DpKept	   *kept = run->kept ? run->kept->before[DP_FINDS_LIMITS] : NULL;
	int		   *limits = palloc(limiter->ncolumns * sizeof(int));

	for (int l = 0; l < limiter->ncolumns; l++)
	{
		DpPricedColumn *estimator = &limiter->columns[l];
		DpPricedColumn *column = dp_column_with_norm(priced, l);
		const dp_i128 *drawn = kept ? dp_kept_group(kept, l, counts) : dp_draw(estimator, counts);
		double		noisy[DP_NORM_BINS];
		double		cut,
					doubt;

		for (int i = 0; i < DP_NORM_BINS; i++)
			noisy[i] = (double) drawn[i] * estimator->parts[0].step;
		limits[l] = choose_limit(priced, column, noisy, estimator->sigma, kept ? kept->columns[l].id.rho : estimator->rho, &cut, &doubt);
		note_cut(priced, l, cut, doubt);
	}
	if (kept != NULL)
		dp_kept_end_group(kept, NULL, NULL);
	return limits;
}
