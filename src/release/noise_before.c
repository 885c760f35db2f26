/*-------------------------------------------------------------------------
 *
 * noise_before.c
 *	  The noise of an answer, as far as it is known before it is released.
 *
 * A column is made of noisy sums or counts, whose noise is known.  It is that
 * of the answer only where the answer is one of them, or a list of them.  The
 * noise of others depends on how many rows there are and on where they lie, so
 * it is told about what it is for N rows.
 *
 * Everything here comes from price and bounds; nothing from rows.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "math/normal.h"
#include "math/quantile.h"
#include "release/found_bounds.h"
#include "release/release.h"
#include "release/release_int.h"

/* Returns about what N times the noise of a statistic of N rows is. */
static double
moments_noise(const DpPricedColumn *column)
{
	double		sigma[DP_MAX_COLUMN_PARTS];
	dp_moment_range t = {column->range[0].lower, column->range[0].upper};
	dp_moment_range u = {column->range[1].lower, column->range[1].upper};

	for (int i = 0; i < column->nparts; i++)
		sigma[i] = column->parts[i].sigma;
	return dp_moment_noise(column->desc->statistic, sigma, t, u);
}

/* Returns about by how many rows the rank of a quantile is off, of several the most. */
static double
ranks_noise(const DpPricedColumn *column)
{
	double		most = 0;

	for (int i = 0; i < column->nquantiles; i++)
		most = Max(most, dp_quantile_rank_noise(column->sigma, column->quantiles[i]));
	return most;
}

/* Returns the noise of a column whose bounds are known, under the least limit where that is to be found. */
static DpNoise
noise_of(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	DpNoise		noise = {DP_NOISE_LATER, column->sigma, "rows"};

	switch (column->desc->answer)
	{
		case DP_ANSWER_SUM:
		case DP_ANSWER_HISTOGRAM:
			noise.kind = DP_NOISE_KNOWN;
			break;
		case DP_ANSWER_MOMENTS:
			noise.kind = DP_NOISE_BY_NUMBER;
			noise.figure = moments_noise(column);
			break;
		case DP_ANSWER_CLIPPED_TOTALS:
		case DP_ANSWER_CLIPPED_GROUPS:
			noise.of = column->desc->answer == DP_ANSWER_CLIPPED_TOTALS ? "totals" : "units";
			/* FALLTHROUGH */
		case DP_ANSWER_CLIPPED:
			noise.kind = DP_NOISE_BY_NUMBER;
			noise.figure = dp_clipped_noise(column->sigma);
			break;
		case DP_ANSWER_QUANTILE:
			noise.kind = DP_NOISE_RANK;
			noise.figure = ranks_noise(column);
			break;
		case DP_ANSWER_MIN:
		case DP_ANSWER_MAX:
			noise.kind = DP_NOISE_BEYOND;
			noise.figure = dp_quantile_extreme_rank(column->sigma);
			break;
		case DP_ANSWER_MODE:
		case DP_ANSWER_NORM:
			noise.kind = DP_NOISE_COUNTS;
			break;
		case DP_ANSWER_BOUNDS:
			noise.kind = DP_NOISE_BINS;
			noise.figure = dp_bounds_threshold(column->sigma, column->parts[0].width, dp_estimator_error(column->desc));
			/* an estimator counts each unit once */
			if (priced->release->is_estimator && priced->release->has_unit)
				noise.of = "units";
			break;
	}
	return noise;
}

DpNoise
dp_noise_before(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	DpNoise		later = {DP_NOISE_LATER, 0, "rows"};

	return column->later || dp_waits_for_limit(column) ? later : noise_of(priced, column);
}

/* Returns a number as text, of three digits, for it is not exact. */
static char *
about(double figure)
{
	double		unit = pow(10, floor(log10(figure)) - 2);

	return psprintf("%.12g", rint(figure / unit) * unit);
}

char *
dp_noise_text(const DpNoise *noise)
{
	switch (noise->kind)
	{
		case DP_NOISE_LATER:
			return "stddev known when it runs,";
		case DP_NOISE_KNOWN:
			return psprintf("stddev=%.6g", noise->figure);
		case DP_NOISE_BY_NUMBER:
			return psprintf("stddev about %s / N for N %s,", about(noise->figure), noise->of);
		case DP_NOISE_RANK:
			return psprintf("stddev of its rank about %s of N rows,", about(noise->figure));
		case DP_NOISE_BEYOND:
			return psprintf("about %s rows or more lie beyond it,", about(noise->figure));
		case DP_NOISE_COUNTS:
			return psprintf("stddev=%.6g of each count,", noise->figure);
		case DP_NOISE_BINS:
			return psprintf("sees bins of more than %.4g %s,", noise->figure, noise->of);
	}
	elog(ERROR, "unexpected noise %d", (int) noise->kind);
}

char *
dp_noise_formula(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	bool		waits = dp_waits_for_limit(column);
	const char *times = waits ? " * C" : "";
	const char *norm = waits ? " for a norm of C" : "";
	DpNoise		noise;
	double		margin;

	if (column->later)
		return NULL;
	noise = noise_of(priced, column);
	/* all noise is in proportion to the norm */
	if (waits)
		noise.figure *= column->norm_unit / (double) column->limits[0];
	margin = noise.figure * dp_normal_tail_inverse(0.025);
	switch (noise.kind)
	{
		case DP_NOISE_KNOWN:
			return waits ? psprintf("about %s%s%s", about(margin), times, norm) : NULL;
		case DP_NOISE_BY_NUMBER:
			return psprintf("about %s%s / N for N %s%s", about(margin), times, noise.of, waits ? " and a norm of C" : "");
		case DP_NOISE_RANK:
			return psprintf("that of its rank is about %s%s of N rows%s", about(margin), times, norm);
		case DP_NOISE_BEYOND:
			return psprintf("about %s%s rows or more lie beyond it%s", about(noise.figure), times, norm);
		default:
			return NULL;
	}
}

const char *
dp_noise_label(const DpNoise *noise)
{
	switch (noise->kind)
	{
		case DP_NOISE_LATER:
			return NULL;
		case DP_NOISE_KNOWN:
			return "Stddev";
		case DP_NOISE_BY_NUMBER:
			return strcmp(noise->of, "rows") == 0 ? "Stddev Times Rows" : "Stddev Times Totals";
		case DP_NOISE_RANK:
			return "Rank Stddev";
		case DP_NOISE_BEYOND:
			return "Rows Beyond";
		case DP_NOISE_COUNTS:
			return "Count Stddev";
		case DP_NOISE_BINS:
			return "Bin Threshold";
	}
	elog(ERROR, "unexpected noise %d", (int) noise->kind);
}
