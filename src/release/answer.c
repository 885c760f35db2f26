/*-------------------------------------------------------------------------
 *
 * answer.c
 *	  From the exact states of one group to the answer of a column.
 *
 * Invariants:
 * - This is the only place where noise is added to an exact state.  What is
 *	 computed from noisy values afterwards is post-processing and costs nothing.
 * - The number of draws depends on the column alone.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "base/errors.h"
#include "base/noise.h"
#include "catalog/pg_type.h"
#include "math/normal.h"
#include "math/quantile.h"
#include "release/found_bounds.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/* room for the vectors of one group, used again for the next */
typedef struct DpAnswerWork
{
	dp_i128    *nodes;
	dp_i128    *drawn;
	double	   *noisy;
	double	   *cdf;
} DpAnswerWork;

static bool
is_tree(const DpPricedColumn *column)
{
	DpAnswer	answer = column->desc->answer;

	return answer == DP_ANSWER_QUANTILE || answer == DP_ANSWER_MIN || answer == DP_ANSWER_MAX;
}

int
dp_answer_draws(const DpPricedColumn *column)
{
	if (is_tree(column))
		return DP_QUANTILE_NODES;
	return column->nparts == 1 ? column->parts[0].width : column->nparts;
}

void
dp_prepare_answer(DpPricedColumn *column)
{
	int			draws = dp_answer_draws(column);

	column->work = palloc0(sizeof(DpAnswerWork));
	column->work->drawn = palloc(draws * sizeof(dp_i128));
	column->work->noisy = palloc(draws * sizeof(double));
	if (is_tree(column))
	{
		column->work->nodes = palloc(draws * sizeof(dp_i128));
		column->work->cdf = palloc((DP_QUANTILE_LEAVES + 1) * sizeof(double));
	}
}

/* ------------------------------------------------------------------------
 * Noise
 * ------------------------------------------------------------------------
 */

dp_i128 *
dp_draw(const DpPricedColumn *column, const dp_i128 *state)
{
	const DpPricedPart *part = &column->parts[0];
	dp_i128    *drawn = column->work->drawn;
	int			draws = dp_answer_draws(column);

	if (is_tree(column))
	{
		dp_quantile_sum_up(state + part->offset, column->work->nodes);
		for (int i = 0; i < draws; i++)
			drawn[i] = column->work->nodes[i] + dp_noise_gauss(&part->gauss);
	}
	else if (column->nparts > 1)
	{
		for (int i = 0; i < draws; i++)
			drawn[i] = state[column->parts[i].offset] + dp_noise_gauss(&column->parts[i].gauss);
	}
	else
	{
		for (int i = 0; i < draws; i++)
			drawn[i] = state[part->offset + i] + dp_noise_gauss(&part->gauss);
	}
	return drawn;
}

const DpPricedPart *
dp_part_of_draw(const DpPricedColumn *column, int draw)
{
	return &column->parts[column->nparts > 1 ? draw : 0];
}

/* ------------------------------------------------------------------------
 * Results
 * ------------------------------------------------------------------------
 */

static int64
round_within(double value, double least, double most)
{
	value = rint(value);
	if (value < least)
		return (int64) least;
	return (int64) (value > most ? most : value);
}

/* Returns value (days for dates, microseconds for times) as a Datum of type, rounded and limited to its range. */
static Datum
value_datum(double value, Oid type)
{
	switch (type)
	{
		case INT2OID:
			return Int16GetDatum((int16) round_within(value, PG_INT16_MIN, PG_INT16_MAX));
		case INT4OID:
			return Int32GetDatum((int32) round_within(value, PG_INT32_MIN, PG_INT32_MAX));
		case INT8OID:
			/* the next double below 2^63 */
			return Int64GetDatum(round_within(value, -0x1p63, 0x1.fffffffffffffp62));
		case FLOAT4OID:
			return Float4GetDatum((float4) Max(Min(value, FLT_MAX), -FLT_MAX));
		case FLOAT8OID:
			return Float8GetDatum(value);
		case NUMERICOID:
			return DirectFunctionCall1(float8_numeric, Float8GetDatum(value));
		case DATEOID:
			return DateADTGetDatum((DateADT) round_within(value, DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE,
														  DATE_END_JULIAN - POSTGRES_EPOCH_JDATE - 1));
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return TimestampGetDatum(round_within(value, (double) MIN_TIMESTAMP, (double) END_TIMESTAMP - 1e6));
		default:
			elog(ERROR, "unexpected type %u of an answer", type);
	}
}

static Datum
array_datum(Datum *values, int n, Oid element)
{
	int16		len;
	bool		byval;
	char		align;

	get_typlenbyvalalign(element, &len, &byval, &align);
	return PointerGetDatum(construct_array(values, n, element, len, byval, align));
}

/* Returns (double) number; that of 128 bits takes a call. */
static inline double
wide_to_double(dp_i128 number)
{
	int64		narrow = (int64) number;

	return narrow == number ? (double) narrow : (double) number;
}

static Datum
sum_answer(DpPricedColumn *column, dp_i128 noisy, DpAnswerError *error)
{
	DpGrid		grid = column->parts[0].grid;

	grid.exponent -= column->parts[0].shift;
	error->isnull = false;
	error->value = wide_to_double(noisy) * column->parts[0].step;
	error->stddev = column->sigma;
	return dp_grid_value(noisy, &grid, column->desc->result_type);
}

/* Makes noisy[] of what was drawn: rows for counts, rows at their bound for SCALED parts. */
static void
measure_draws(DpPricedColumn *column, const dp_i128 *drawn)
{
	int			draws = dp_answer_draws(column);
	double	   *noisy = column->work->noisy;
	double		step = 1.0;

	for (int i = 0; i < draws; i++)
	{
		/* draws of one part alone have one step */
		if (i == 0 || column->nparts > 1)
			step = dp_part_of_draw(column, i)->step;
		noisy[i] = step * wide_to_double(drawn[i]);
	}
}

static Datum
moments_answer(DpPricedColumn *column, DpAnswerError *error)
{
	double		sigma[DP_MAX_COLUMN_PARTS];
	dp_moment_range t = {column->range[0].lower, column->range[0].upper};
	dp_moment_range u = {column->range[1].lower, column->range[1].upper};

	for (int i = 0; i < column->nparts; i++)
		sigma[i] = column->parts[i].sigma;
	dp_moment_value(column->desc->statistic, column->work->noisy, sigma, t, u, &error->value, &error->stddev);
	return value_datum(error->value, column->desc->result_type);
}

static Datum
quantiles_answer(DpPricedColumn *column, DpAnswerError *error)
{
	const DpRange *range = &column->range[0];
	Oid			type = column->desc->result_type;
	Oid			element = get_element_type(type);
	Datum	   *values = palloc(column->nquantiles * sizeof(Datum));

	/* the greatest error where there are several */
	error->stddev = 0;
	for (int i = 0; i < column->nquantiles; i++)
	{
		double		q = column->quantiles[i];

		error->stddev = Max(error->stddev, dp_quantile_stddev(column->work->cdf, column->sigma, q,
															  range->lower, range->upper));
		error->value = dp_quantile_value(column->work->cdf, q, range->lower, range->upper);
		values[i] = value_datum(error->value, OidIsValid(element) ? element : type);
	}
	return OidIsValid(element) ? array_datum(values, column->nquantiles, element) : values[0];
}

static Datum
extreme_answer(DpPricedColumn *column, DpAnswerError *error)
{
	const DpRange *range = &column->range[0];
	const double *cdf = column->work->cdf;
	bool		least = column->desc->answer == DP_ANSWER_MIN;
	double		total = cdf[DP_QUANTILE_LEAVES];
	double		share = total > 0 ? Min(dp_quantile_extreme_rank(column->sigma) / total, 0.5) : 0.5;

	error->stddev = dp_quantile_stddev(cdf, column->sigma, least ? share : 1 - share, range->lower, range->upper);
	error->value = least ? dp_quantile_min(cdf, column->sigma, range->lower, range->upper)
		: dp_quantile_max(cdf, column->sigma, range->lower, range->upper);
	return value_datum(error->value, column->desc->result_type);
}

static Datum
histogram_answer(DpPricedColumn *column, DpAnswerError *error)
{
	int			bins = column->parts[0].width;
	Datum	   *values = palloc(bins * sizeof(Datum));

	error->stddev = column->sigma;
	error->value = column->work->noisy[0];
	for (int i = 0; i < bins; i++)
	{
		error->value = Max(error->value, column->work->noisy[i]);
		values[i] = value_datum(column->work->noisy[i], INT8OID);
	}
	return array_datum(values, bins, INT8OID);
}

/* Returns the value of the largest noisy count; NULL where no value can occur. */
static Datum
mode_answer(DpPricedColumn *column, DpAnswerError *error)
{
	const DpReleaseColumn *desc = column->desc;
	ArrayType  *array = DatumGetArrayTypeP(desc->values->constvalue);
	const double *counts = column->work->noisy;
	int16		len;
	bool		byval;
	char		align;
	Datum	   *values;
	int			n;
	int			best = 0;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &len, &byval, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), len, byval, align, &values, NULL, &n);
	error->stddev = column->sigma;
	error->isnull = n == 0;
	if (n == 0)
		return (Datum) 0;
	for (int i = 1; i < n; i++)
		if (desc->descending ? counts[i] >= counts[best] : counts[i] > counts[best])
			best = i;
	return values[best];
}

static Datum
bounds_answer(DpPricedColumn *column, DpAnswerError *error)
{
	double		lower,
				upper;
	double		numbers[DP_MOST_FOUND_NUMBERS];
	Datum		values[DP_MOST_FOUND_NUMBERS];
	int			n;

	error->stddev = column->sigma;
	error->isnull = !dp_pick_bounds(column, column->work->noisy, &lower, &upper);
	if (error->isnull)
		return (Datum) 0;
	n = dp_found_numbers(column, column->work->noisy, lower, upper, numbers);
	for (int i = 0; i < n; i++)
		values[i] = Float8GetDatum(numbers[i]);
	return array_datum(values, n, FLOAT8OID);
}

Datum
dp_answer_of_draws(DpPricedColumn *column, const dp_i128 *drawn, DpAnswerError *error)
{
	DpAnswerWork *work = column->work;

	error->isnull = false;
	error->value = get_float8_nan();
	if (column->desc->answer == DP_ANSWER_SUM)
		return sum_answer(column, drawn[0], error);
	measure_draws(column, drawn);
	if (is_tree(column))
		dp_quantile_cdf(work->noisy, column->sigma, work->cdf);
	switch (column->desc->answer)
	{
		case DP_ANSWER_SUM:
			break;
		case DP_ANSWER_MOMENTS:
			return moments_answer(column, error);
		case DP_ANSWER_QUANTILE:
			return quantiles_answer(column, error);
		case DP_ANSWER_MIN:
		case DP_ANSWER_MAX:
			return extreme_answer(column, error);
		case DP_ANSWER_HISTOGRAM:
			return histogram_answer(column, error);
		case DP_ANSWER_BOUNDS:
			return bounds_answer(column, error);
		case DP_ANSWER_MODE:
			return mode_answer(column, error);
		case DP_ANSWER_CLIPPED:
		case DP_ANSWER_CLIPPED_TOTALS:
		case DP_ANSWER_CLIPPED_GROUPS:
			dp_clipped_share(work->noisy, column->sigma, &error->value, &error->stddev);
			return Float8GetDatum(error->value);
		case DP_ANSWER_NORM:
			break;				/* it is not shown: norms.c */
	}
	elog(ERROR, "unexpected answer %d", (int) column->desc->answer);
}

/*
 * A limit is taken to cut the same share of a count or sum in each group.  Where it cuts rows of an average, their weights
 * change, and that counts as no error.  Far values that found bounds leave out of an average do.
 */
double
dp_companion_value(const DpPricedColumn *column, DpCompanion kind, const DpAnswerError *error)
{
	double		left = Max(1 - column->cut, 0.01);

	if (kind == DP_COMPANION_CUT)
		return column->cut;
	if (kind == DP_COMPANION_NOISE || column->desc->answer != DP_ANSWER_SUM)
		return kind == DP_COMPANION_NOISE ? error->stddev : hypot(error->stddev, column->left_out);
	return hypot(error->stddev, error->value * column->cut_doubt / left);
}

/* ------------------------------------------------------------------------
 * Margins
 * ------------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(dp_normal_margin);

/*
 * dp_cdp_internal.margin(stddev, confidence) returns half the width of the interval
 * that holds a normal deviate with this probability.  ZC004 unless 0 <
 * confidence < 1.
 */
Datum
dp_normal_margin(PG_FUNCTION_ARGS)
{
	double		stddev = PG_GETARG_FLOAT8(0);
	double		confidence = PG_GETARG_FLOAT8(1);

	if (!(confidence > 0 && confidence < 1))
		dp_raise(BAD_PARAMETER, errmsg("the confidence of dp_margin must be between 0 and 1, such as 0.95"));
	PG_RETURN_FLOAT8(stddev * dp_normal_tail_inverse((1 - confidence) / 2));
}
