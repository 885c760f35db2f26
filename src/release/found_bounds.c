/*-------------------------------------------------------------------------
 *
 * found_bounds.c
 *	  Bounds that nobody knows, found privately before a release:
 *	  dp_cdp.find_bounds.
 *
 * The guard has added a release to the release, its estimator: over the same
 * rows, without keys, one histogram for each expression that has no bounds.
 * It is debited together with the release, and runs first.  Bounds are
 * the outermost bins whose noisy count is above a threshold, which noise
 * reaches in any of the empty ones with probability below DP_BOUNDS_ERROR
 * (math/quantile.h).  Then the release is settled anew with these, at its price.
 *
 * Bins of numbers end at powers of two, those of dates and times are a
 * twelfth of a year.  Only one row of each unit counts, so that the histogram
 * of each expression has L2 sensitivity 1 (adding or removing a unit) or sqrt(2)
 * (replacing one): price.c, with m = 1 and k = 1.  More rows of a unit
 * would raise the counts of bins by no more than the noise.
 *
 * Invariants:
 * - All prices are known, and debited, before the first row is read; they do
 *	 not depend on what is found.
 * - After the debit nothing of the asker's is evaluated: arguments are
 *	 constants by then (dp_fix_arguments).
 * - What is found is a function of noisy counts that were paid for, and
 *	 finding nothing is no error: there are bounds for that, too.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/tupdesc.h"
#include "base/settings.h"
#include "executor/tuptable.h"
#include "math/bounds_tail.h"
#include "math/quantile.h"
#include "release/found_bounds.h"
#include "release/interval_int.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/array.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

/* dates beyond are in the outermost bins; whole centuries, so that a year is 365.2425 days */
#define FIRST_YEAR		1800
#define END_YEAR		2200
#define DATE_BINS		((END_YEAR - FIRST_YEAR) * 12)

/*
 * how likely noise may be taken for values where a unit's rows have bounds that nobody has set: these cut more than too
 * wide ones cost
 */
#define USUAL_ERROR		1e-3

double
dp_bounds_share(const DpDataset *dataset)
{
	return dp_guc_find_bounds >= 0 ? dp_guc_find_bounds : dataset->find_bounds;
}

double
dp_usual_bounds_share(const DpDataset *dataset)
{
	if (dp_most_rows(dataset) > 0)
		return 0;
	return dp_guc_find_bounds < 0 && dataset->find_bounds == 0 ? DP_USUAL_BOUNDS_SHARE : dp_bounds_share(dataset);
}

/* ------------------------------------------------------------------------
 * Bins
 * ------------------------------------------------------------------------
 */

static bool
is_time(Oid type)
{
	return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

static double
day_of(Oid type)
{
	return type == DATEOID ? 1 : (double) USECS_PER_DAY;
}

void
dp_estimator_range(Oid type, DpRange *range)
{
	if (is_time(type))
		dp_range_make(day_of(type) * (date2j(FIRST_YEAR, 1, 1) - POSTGRES_EPOCH_JDATE),
					  day_of(type) * (date2j(END_YEAR, 1, 1) - POSTGRES_EPOCH_JDATE),
					  DATE_BINS, DP_RANGE_LINEAR, range);
	else
		dp_range_make(0, 1, DP_LOG_BINS, DP_RANGE_LOGARITHMIC, range);
}

double
dp_estimator_error(const DpReleaseColumn *column)
{
	return column->has_usual ? USUAL_ERROR : DP_BOUNDS_ERROR;
}

bool
dp_pick_bounds(const DpPricedColumn *column, const double *counts, double *lower, double *upper)
{
	const DpRange *range = &column->range[0];
	double		width = (range->upper - range->lower) / range->bins;
	double		error = dp_estimator_error(column->desc);
	int			first,
				last;

	if (range->kind == DP_RANGE_LOGARITHMIC)
		return dp_bounds_pick(counts, column->sigma, error, lower, upper);
	if (!dp_bounds_outermost(counts, range->bins, column->sigma, error, &first, &last))
		return false;
	*lower = range->lower + first * width;
	*upper = range->lower + (last + 1) * width;
	return true;
}

/* ------------------------------------------------------------------------
 * Intervals
 * ------------------------------------------------------------------------
 */

/* Returns an edge of a bin, exactly: it is a power of two, 0, or a whole number. */
static Numeric
num_of_edge(double edge)
{
	return num_of_text(psprintf("%.32f", edge));
}

/* Returns the interval between two edges, widened to whole numbers of integers and to whole days of times. */
static DpInterval
interval_of_edges(double lower, double upper, Oid type)
{
	double		unit = is_time(type) ? day_of(type) : 1;

	if (is_time(type) || type_is_integer(type))
	{
		lower = floor(lower / unit) * unit;
		upper = ceil(upper / unit) * unit;
	}
	return interval_between(num_of_edge(lower), num_of_edge(upper));
}

/* Returns the interval where no bin is above the threshold: it cuts numbers, but not dates. */
static DpInterval
found_nothing(Oid type)
{
	DpRange		range;

	dp_estimator_range(type, &range);
	return is_time(type) ? interval_of_edges(range.lower, range.upper, type) : interval_of_edges(0, 1, type);
}

DpInterval
dp_found_nothing(const DpReleaseColumn *column)
{
	DpInterval	nothing = found_nothing(column->input_type);

	nothing.is_lacking = true;
	if (column->has_usual)
		nothing.state = DP_INTERVAL_NONE;
	return nothing;
}

DpInterval
dp_widest_found(Oid type)
{
	return is_time(type) ? found_nothing(type)
		: interval_of_edges(dp_log_edge(0), dp_log_edge(DP_LOG_BINS), type);
}

/* ------------------------------------------------------------------------
 * Answers
 * ------------------------------------------------------------------------
 */

/* Returns the row type of an estimator: what it tells of each column. */
TupleDesc
dp_estimator_desc(const DpRelease *estimator)
{
	TupleDesc	desc = CreateTemplateTupleDesc(list_length(estimator->columns));

	for (int i = 0; i < desc->natts; i++)
		TupleDescInitEntry(desc, i + 1, NULL, FLOAT8ARRAYOID, -1, 0);
	return dp_finish_tupdesc(desc);
}

/* Returns the text of an edge of dates or times, which is a day. */
static char *
day_text(double edge, Oid type)
{
	char text[	MAXDATELEN + 1];
	struct pg_tm tm = {0};

	j2date((int) (edge / day_of(type)) + POSTGRES_EPOCH_JDATE, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
	EncodeDateOnly(&tm, USE_ISO_DATES, text);
	return pstrdup(text);
}

/* Writes what was found into the estimator's column, for reports. */
static void
note_found(DpPricedColumn *column, const DpInterval *interval, bool is_found)
{
	DpReleaseColumn *desc = palloc(sizeof(DpReleaseColumn));
	double		lower = num_to_double(interval->lower);
	double		upper = num_to_double(interval->upper);
	Oid			type = column->desc->input_type;

	*desc = *column->desc;
	column->desc = desc;
	if (!is_found)
		desc->label = psprintf("%s: none found", desc->label);
	else if (is_time(type))
		desc->label = psprintf("%s: %s .. %s", desc->label, day_text(lower, type), day_text(upper, type));
	column->rows.known = !is_time(type);
	column->rows.lower = lower;
	column->rows.upper = upper;
}

/* of the noise that the estimator has, as much has an answer that costs as much more as is usual */
#define NOISE_OF_ANSWER sqrt(DP_USUAL_BOUNDS_SHARE)

/* how much more an average of one of several groups has; kept answers of one text have one width, however many groups there are by now */
#define NOISE_OF_GROUPS 16

/* the numbers that an estimator tells of a column: bounds, and what is beyond */
#define FOUND_NUMBERS (2 + sizeof(dp_bounds_tail) / sizeof(double))

StaticAssertDecl(FOUND_NUMBERS <= DP_MOST_FOUND_NUMBERS, "an estimator tells more than there is room for");

int
dp_found_numbers(const DpPricedColumn *column, const double *counts, double lower, double upper, double *numbers)
{
	dp_bounds_tail tail;

	numbers[0] = lower;
	numbers[1] = upper;
	if (!column->tells_tail || column->range[0].kind != DP_RANGE_LOGARITHMIC)
		return 2;
	dp_bounds_tail_estimate(counts, column->sigma, lower, upper, &tail);
	memcpy(numbers + 2, &tail, sizeof(tail));
	return FOUND_NUMBERS;
}

double
dp_widen_found(const DpInterval *found, bool has_groups, double *lower, double *upper)
{
	double		left_out;
	int			below;
	int			above;

	if (found->tail == NULL)
		return 0;
	left_out = dp_bounds_tail_choose(found->tail, *lower, *upper,
									 found->tail->sigma * NOISE_OF_ANSWER * (has_groups ? NOISE_OF_GROUPS : 1) / found->tail->units, &below, &above);
	*lower = *lower < 0 ? ldexp(*lower, below) : *lower;
	*upper = *upper > 0 ? ldexp(*upper, above) : *upper;
	return left_out;
}

/* Returns the intervals that an estimator, which has run, has found. */
DpInterval *
dp_read_found(DpRun *estimator)
{
	int			n = estimator->priced->ncolumns;
	DpInterval *found = palloc(n * sizeof(DpInterval));
	DpRowsReader reader = {.stored = MakeSingleTupleTableSlot(estimator->desc, &TTSOpsMinimalTuple)};
	Datum	   *values;
	bool	   *nulls;

	if (!dp_rows_read(estimator->rows, &reader, true, &values, &nulls))
		elog(ERROR, "no bounds were released");
	for (int i = 0; i < n; i++)
	{
		DpPricedColumn *column = &estimator->priced->columns[i];
		Oid			type = column->desc->input_type;
		float8	   *bounds;

		if (nulls[i])
			found[i] = dp_found_nothing(column->desc);
		else
		{
			ArrayType  *numbers = DatumGetArrayTypePCopy(values[i]);

			bounds = (float8 *) ARR_DATA_PTR(numbers);
			found[i] = interval_of_edges(bounds[0], bounds[1], type);
			if (ARR_DIMS(numbers)[0] == FOUND_NUMBERS)
			{
				dp_bounds_tail *tail = palloc(sizeof(dp_bounds_tail));

				found[i].tail = memcpy(tail, bounds + 2, sizeof(dp_bounds_tail));
			}
		}
		note_found(column, &found[i], !nulls[i]);
	}
	ExecDropSingleTupleTableSlot(reader.stored);
	return found;
}
