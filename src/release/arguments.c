/*-------------------------------------------------------------------------
 *
 * arguments.c
 *	  Evaluates the arguments of aggregates: bounds, quantiles, bins.
 *
 * They are constants, parameters and stable functions of them, evaluated once,
 * with the rights of whoever asks, before the debit: what is wrong with them
 * costs nothing.
 *
 * Bounds are those of a row's value.  What a unit adds up to in a group is limited
 * to max_rows times them, with 0 for a unit without rows, and to the totals that
 * are declared or written, whichever is tighter; the sensitivity of a sum is that of its totals, which
 * are enforced (agg/bounding/entry.c), whatever rows are clamped to.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/compat.h"
#include "base/errors.h"
#include "base/input.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "math/quantile.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "release/found_bounds.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

Datum
dp_evaluate(Expr *expr, EState *estate, bool *isnull)
{
	ExprState  *state = ExecInitExprWithParams(expr, estate->es_param_list_info);

	return ExecEvalExprSwitchContext(state, GetPerTupleExprContext(estate), isnull);
}

static Datum
evaluate_bound(Expr *expr, DpReleaseColumn *desc, EState *estate)
{
	bool		isnull;
	Datum		value = dp_evaluate(expr, estate, &isnull);

	if (isnull)
		dp_raise(BAD_PARAMETER, errmsg("a bound of %s is NULL; give two values, lower < upper", desc->label));
	return value;
}

static Numeric
numeric_of_text(char *text, DpReleaseColumn *desc)
{
	Datum		value;

	if (!dp_try_input(text, NUMERICOID, -1, &value))
		dp_raise(BAD_PARAMETER, errmsg("a bound of %s is not a number; give two numbers, lower < upper", desc->label));
	return DatumGetNumeric(value);
}

static Numeric
numeric_bound(Expr *expr, DpReleaseColumn *desc, EState *estate)
{
	Datum		value = evaluate_bound(expr, desc, estate);
	Oid			type = exprType((Node *) expr);

	switch (type)
	{
		case NUMERICOID:
			return DatumGetNumericCopy(value);
		case FLOAT8OID:
			return DatumGetNumeric(DirectFunctionCall1(float8_numeric, value));
		case TEXTOID:
			return numeric_of_text(TextDatumGetCString(value), desc);
		default:
			elog(ERROR, "unexpected type %u of a bound", type);
	}
}

/* Returns a bound as a double: dates in days, timestamps in microseconds since 2000-01-01. */
static double
double_bound(Expr *expr, DpReleaseColumn *desc, EState *estate)
{
	Oid			type = exprType((Node *) expr);
	Datum		value;

	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(evaluate_bound(expr, desc, estate));
		case INT4OID:
			return DatumGetInt32(evaluate_bound(expr, desc, estate));
		case INT8OID:
			return (double) DatumGetInt64(evaluate_bound(expr, desc, estate));
		case FLOAT4OID:
			return DatumGetFloat4(evaluate_bound(expr, desc, estate));
		case FLOAT8OID:
			return DatumGetFloat8(evaluate_bound(expr, desc, estate));
		case DATEOID:
			value = evaluate_bound(expr, desc, estate);
			return DATE_NOT_FINITE(DatumGetDateADT(value)) ? get_float8_nan() : DatumGetDateADT(value);
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			value = evaluate_bound(expr, desc, estate);
			return TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value)) ? get_float8_nan() :
				(double) DatumGetTimestamp(value);
		default:
			return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
													  NumericGetDatum(numeric_bound(expr, desc, estate))));
	}
}

/* Refuses infinite bounds; the functions that make a grid or a range do, too, but cannot name the aggregate. */
static void
check_finite(bool finite, DpReleaseColumn *desc)
{
	if (!finite)
		dp_raise(BAD_PARAMETER, errmsg("the bounds of %s must be finite", desc->label));
}

static void
check_order(bool ordered, DpReleaseColumn *desc)
{
	if (!ordered)
		dp_raise(BAD_PARAMETER, errmsg("the lower bound of %s must be less than its upper bound", desc->label),
				 desc->answer == DP_ANSWER_HISTOGRAM ? errhint("The number of bins comes last: dp_histogram(value, lower, upper, bins).") : 0);
}

static Numeric
times(Numeric value, int factor)
{
	return DatumGetNumeric(DirectFunctionCall2(numeric_mul, NumericGetDatum(value),
											   NumericGetDatum(int64_to_numeric(factor))));
}

static bool
less(Numeric a, Numeric b)
{
	return DatumGetBool(DirectFunctionCall2(numeric_lt, NumericGetDatum(a), NumericGetDatum(b)));
}

static bool
is_finite(Numeric value)
{
	return !numeric_is_nan(value) && !numeric_is_inf(value);
}

static double
as_double(Numeric value)
{
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(value)));
}

static DpLimits
limits_of(Numeric lower, Numeric upper)
{
	DpLimits	limits = {true, as_double(lower), as_double(upper)};

	return limits;
}

/* how much wider than found bounds those of a sum are whose norm is found, unless they are wider than this already */
#define FOUND_SPARE 8
#define WIDEST_SPARED 1e300

/* ------------------------------------------------------------------------
 * Bounds that are not written
 * ------------------------------------------------------------------------
 */

/*
 * Returns the interval of an argument; ZC004 where its parameters, or public
 * columns, leave it without one.  Where these are not known yet, it is any.
 */
static DpInterval
derived_interval(const DpBound *derived, DpPricedColumn *column, const DpPricedRelease *priced, EState *estate)
{
	DpReleaseColumn *desc = column->desc;
	DpIntervalInputs inputs = {estate, priced->unit_rows, priced->ranges, priced->found};
	DpInterval	interval;
	bool		is_found = dp_bound_has(derived, DP_BOUND_FOUND);
	bool		by_rows = !is_found && dp_interval_by_rows(derived, &inputs);

	/*
	 * where nobody has set how many rows count, what does not depend on that
	 * is as if all did
	 */
	if (!is_found && !by_rows && dp_most_rows(priced->dataset) == 0)
		inputs.max_rows = DP_MANY_ROWS;
	interval = dp_interval(derived, &inputs);
	if (is_found)
		by_rows = priced->found != NULL && dp_none_found(derived, priced->found) && interval.state == DP_INTERVAL_KNOWN;
	if (derived == desc->derived)
		column->by_rows = by_rows;
	column->is_lacking |= is_found && priced->found != NULL && dp_lacks_found(derived, priced->found);
	if (interval.state == DP_INTERVAL_NONE)
		dp_raise(BAD_PARAMETER,
				 errmsg("%s needs bounds%s; write them as the arguments of the aggregate, lower and upper",
						desc->label, dp_bound_problem(interval.why)));
	if (interval.state == DP_INTERVAL_LATER)
	{
		column->later = true;
		interval.state = DP_INTERVAL_KNOWN;
		interval.lower = int64_to_numeric(-1);
		interval.upper = int64_to_numeric(1);
	}
	dp_interval_open(&interval);
	return interval;
}

/* Widens bounds that were found, away from 0. */
static void
widen(DpInterval *bounds)
{
	Numeric		zero = int64_to_numeric(0);
	Datum		factor = NumericGetDatum(int64_to_numeric(FOUND_SPARE));
	Numeric		widest = DatumGetNumeric(DirectFunctionCall1(float8_numeric, Float8GetDatum(WIDEST_SPARED)));
	Numeric		lowest = DatumGetNumeric(DirectFunctionCall1(float8_numeric, Float8GetDatum(-WIDEST_SPARED)));

	if (less(widest, bounds->upper) || less(bounds->lower, lowest))
		return;
	if (less(zero, bounds->upper))
		bounds->upper = DatumGetNumeric(DirectFunctionCall2(numeric_mul, NumericGetDatum(bounds->upper), factor));
	if (less(bounds->lower, zero))
		bounds->lower = DatumGetNumeric(DirectFunctionCall2(numeric_mul, NumericGetDatum(bounds->lower), factor));
}

/*
 * Returns the bounds of a row's value, for a sum: those that are written, else those that follow.  Where the norm is found that
 * holds what a person adds, noise follows from that, and what it cuts is told.  So the norm is to cut, and not bounds that were
 * found, of which nobody is told how much they cut: few people are beyond, and may have much of the sum.
 */
static DpInterval
row_bounds(DpPricedColumn *column, const DpPricedRelease *priced, EState *estate)
{
	DpReleaseColumn *desc = column->desc;
	DpInterval	bounds = {DP_INTERVAL_KNOWN};

	if (desc->lower == NULL)
	{
		bounds = derived_interval(desc->derived, column, priced, estate);
		if (priced->found != NULL && dp_bound_has(desc->derived, DP_BOUND_FOUND) && !column->is_lacking && !column->by_rows &&
			dp_finds_limits(desc, priced->dataset, priced->release))
			widen(&bounds);
		return bounds;
	}
	if (desc->derived != NULL)
	{
		DpIntervalInputs inputs = {estate, priced->unit_rows, priced->ranges, priced->found};

		/* for totals alone */
		bounds = dp_interval(desc->derived, &inputs);
		bounds.has_totals &= bounds.state == DP_INTERVAL_KNOWN;
	}
	bounds.lower = numeric_bound(desc->lower, desc, estate);
	bounds.upper = numeric_bound(desc->upper, desc, estate);
	return bounds;
}

/* ------------------------------------------------------------------------
 * Sums
 * ------------------------------------------------------------------------
 */

/* Evaluates the limits of a unit's total that are declared or written, of which 0 is one. */
static void
written_totals(DpReleaseColumn *desc, EState *estate, Numeric *lower, Numeric *upper)
{
	Numeric		zero = int64_to_numeric(0);

	*lower = numeric_bound(desc->total_lower, desc, estate);
	*upper = numeric_bound(desc->total_upper, desc, estate);
	check_finite(is_finite(*lower) && is_finite(*upper), desc);
	if (!less(*lower, *upper))
		dp_raise(BAD_PARAMETER,
				 errmsg("the lower limit of a unit's total in %s must be less than the upper one", desc->label));
	if (less(zero, *lower) || less(*upper, zero))
		dp_raise(BAD_PARAMETER, errmsg("the limits of a unit's total in %s must have 0 between them; write %s",
									   desc->label, less(zero, *lower) ? "0 as the lower one" : "0 as the upper one"),
				 errdetail("A unit without rows has total 0."));
}

/* Narrows [lower, upper] to what is within the limits of a unit's total; ZC004 where that is one number. */
static void
narrow(DpReleaseColumn *desc, Numeric low, Numeric high, Numeric *lower, Numeric *upper)
{
	if (less(*lower, low))
		*lower = low;
	if (less(high, *lower))
		*lower = high;
	if (less(high, *upper))
		*upper = high;
	if (less(*upper, low))
		*upper = low;
	if (!less(*lower, *upper))
		dp_raise(BAD_PARAMETER,
				 errmsg("no two totals of a unit in %s are within both its bounds and the limits of totals; widen either",
						desc->label));
}

/* Tells whether max_rows does not limit a unit's total, as its norm is limited, or as nobody has set it. */
static bool
has_any_rows(const DpPricedColumn *column, const DpPricedRelease *priced)
{
	if (column->desc->answer == DP_ANSWER_CLIPPED_TOTALS)
		return dp_most_rows(priced->dataset) == 0;
	return column->desc->norm >= 0 && dp_limits_norms(priced->dataset, priced->release);
}

/* Settles within what such a total is, on the grid of a row's value: anything that rows may add up to, but for the limits of totals. */
static void
settle_any_rows(DpPricedColumn *column, const DpPricedRelease *priced, const DpInterval *row, EState *estate)
{
	DpReleaseColumn *desc = column->desc;
	DpPricedPart *part = &column->parts[0];
	int			rows = dp_most_rows(priced->dataset);
	DpRowLimits totals = {part->row.lower < 0 ? -DP_UNIT_ROW_LIMIT : 0, part->row.upper > 0 ? DP_UNIT_ROW_LIMIT : 0};
	Numeric		lower = row->total_lower;
	Numeric		upper = row->total_upper;

	column->totals.known = false;
	if (desc->total_lower != NULL)
		written_totals(desc, estate, &lower, &upper);
	if (desc->total_lower != NULL || (row->has_totals && less(lower, upper)))
	{
		DpRowLimits written;

		dp_grid_row_limits(lower, upper, desc->input_type, &part->grid, &written);
		totals.lower = Max(totals.lower, written.lower);
		totals.upper = Min(totals.upper, written.upper);
		column->totals = limits_of(lower, upper);
	}
	else if (desc->answer == DP_ANSWER_CLIPPED_TOTALS)
		dp_raise(BAD_PARAMETER,
				 errmsg("nothing limits the totals of %s; write dp_clipped_totals(x, lower, upper, total_lower, total_upper), or SET dp_cdp.max_rows to a number of rows",
						desc->label));
	/* a unit may have fewer rows; steps of a row are at most 2^32 */
	part->grid.lower = rows > 0 ? Max(totals.lower, Min(part->row.lower, 0) * rows) : totals.lower;
	part->grid.upper = rows > 0 ? Min(totals.upper, Max(part->row.upper, 0) * rows) : totals.upper;
}

/* Settles the grid of a unit's total, and the limits of a row on it. */
static void
settle_sum(DpPricedColumn *column, const DpPricedRelease *priced, EState *estate)
{
	DpReleaseColumn *desc = column->desc;
	DpPricedPart *part = &column->parts[0];
	DpInterval	row = row_bounds(column, priced, estate);
	Numeric		lower = row.lower;
	Numeric		upper = row.upper;
	Numeric		zero = int64_to_numeric(0);
	Numeric		low = lower;
	Numeric		high = upper;
	Numeric		most_low,
				most_high;

	check_finite(is_finite(lower) && is_finite(upper), desc);
	check_order(less(lower, upper), desc);
	if (priced->release->has_unit && has_any_rows(column, priced))
	{
		low = less(lower, zero) ? lower : zero;
		high = less(zero, upper) ? upper : zero;
	}
	else if (priced->release->has_unit)
	{
		low = less(lower, zero) ? times(lower, priced->max_rows) : zero;
		high = less(zero, upper) ? times(upper, priced->max_rows) : zero;
	}
	most_low = low;
	most_high = high;
	if (desc->total_lower != NULL)
	{
		Numeric		total_lower,
					total_upper;

		written_totals(desc, estate, &total_lower, &total_upper);
		narrow(desc, total_lower, total_upper, &low, &high);
	}
	else if (row.has_totals && less(row.total_lower, row.total_upper))
		narrow(desc, row.total_lower, row.total_upper, &low, &high);
	column->rows = limits_of(lower, upper);
	column->totals = limits_of(low, high);
	if (priced->release->has_unit && (isinf(column->totals.lower) || isinf(column->totals.upper)))
		dp_raise(BAD_PARAMETER,
				 errmsg("a unit's total in %s, %d rows within the bounds, may exceed double precision; narrow the bounds, or limit the total",
						desc->label, priced->max_rows));
	dp_grid_from_numeric(low, high, desc->input_type, &part->grid);
	part->row.lower = part->grid.lower;
	part->row.upper = part->grid.upper;
	if (!priced->release->has_unit)
		return;
	dp_grid_row_limits(lower, upper, desc->input_type, &part->grid, &part->row);
	if (has_any_rows(column, priced))
	{
		settle_any_rows(column, priced, &row, estate);
		return;
	}
	/* max_rows rows at a bound are not too many by a rounded step */
	if (!less(most_low, low))
		part->grid.lower = Min(part->row.lower, 0) * priced->max_rows;
	if (!less(high, most_high))
		part->grid.upper = Max(part->row.upper, 0) * priced->max_rows;
	column->totals_by_rows = !less(most_low, low) && !less(high, most_high);
}

/* Widens bounds of a value in an average, if these are just what was found; returns by how much that may be off then, if it is of this value alone. */
static double
widen_average(DpPricedColumn *column, const DpBound *derived, const DpPricedRelease *priced, double *lower, double *upper)
{
	double		left_out;

	if (derived->op != DP_BOUND_FOUND || priced->found == NULL || column->is_lacking || column->by_rows ||
		*lower < -WIDEST_SPARED || *upper > WIDEST_SPARED)
		return 0;
	left_out = dp_widen_found(&priced->found[derived->range], dp_has_groups(priced->release), lower, upper);
	return column->desc->statistic == DP_STAT_AVG ? left_out : 0;
}

/* Sets a range between bounds that are written, or follow from derived; without either it has none. */
static void
settle_range(DpPricedColumn *column, Expr *lower, Expr *upper, const DpBound *derived, int bins, DpRangeKind kind,
			 const DpPricedRelease *priced, DpRange *range, EState *estate)
{
	DpReleaseColumn *desc = column->desc;
	double		low = 0,
				high = 1;

	if (lower == NULL && derived != NULL)
	{
		DpInterval	interval = derived_interval(derived, column, priced, estate);

		low = as_double(interval.lower);
		high = as_double(interval.upper);
		if (desc->answer == DP_ANSWER_MOMENTS)
			column->left_out += widen_average(column, derived, priced, &low, &high);
	}
	else if (lower != NULL)
	{
		low = double_bound(lower, desc, estate);
		high = double_bound(upper, desc, estate);
		check_finite(isfinite(low) && isfinite(high), desc);
		/* conditions may leave one moment, or none */
		if (desc->shows_bounds && low >= high)
			high = low + 1;
		check_order(low < high, desc);
	}
	dp_range_make(low, high, bins, kind, range);
}

static void
bad_quantile(DpReleaseColumn *desc)
{
	dp_raise(BAD_PARAMETER,
			 errmsg("a quantile of %s is not a number from 0 to 1; give 0.5 for the median, or an array of at most %d",
					desc->label, DP_MAX_QUANTILES));
}

static void
settle_quantiles(DpPricedColumn *column, EState *estate)
{
	DpReleaseColumn *desc = column->desc;
	bool		isnull;
	Datum		value = dp_evaluate(desc->detail, estate, &isnull);

	if (isnull)
		bad_quantile(desc);
	if (exprType((Node *) desc->detail) == FLOAT8OID)
	{
		column->nquantiles = 1;
		column->quantiles = palloc(sizeof(double));
		column->quantiles[0] = DatumGetFloat8(value);
	}
	else
	{
		ArrayType  *array = DatumGetArrayTypeP(value);
		Datum	   *values;
		bool	   *nulls;

		deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
						  &values, &nulls, &column->nquantiles);
		if (ARR_NDIM(array) != 1 || column->nquantiles > DP_MAX_QUANTILES)
			bad_quantile(desc);
		column->quantiles = palloc(column->nquantiles * sizeof(double));
		for (int i = 0; i < column->nquantiles; i++)
			column->quantiles[i] = nulls[i] ? -1 : DatumGetFloat8(values[i]);
	}
	for (int i = 0; i < column->nquantiles; i++)
	{
		if (!(column->quantiles[i] >= 0 && column->quantiles[i] <= 1))
			bad_quantile(desc);
		if (desc->descending)
			column->quantiles[i] = 1 - column->quantiles[i];
	}
}

static int
settle_bins(DpReleaseColumn *desc, EState *estate)
{
	bool		isnull;
	Datum		value = dp_evaluate(desc->detail, estate, &isnull);

	if (isnull || DatumGetInt32(value) < 1 || DatumGetInt32(value) > DP_MAX_HISTOGRAM)
		dp_raise(BAD_PARAMETER, errmsg("the number of bins of %s must be from 1 to %d", desc->label, DP_MAX_HISTOGRAM));
	return DatumGetInt32(value);
}

/* Settles how many values a mode may be: a bin for each. */
static void
settle_mode(DpPricedColumn *column)
{
	int			n = Max(dp_list_size(column->desc->values), 1);

	dp_range_make(0, n, n, DP_RANGE_LINEAR, column->range);
}

/* Settles the bounds of the first argument. */
static void
settle_values(DpPricedColumn *column, int bins, DpRangeKind kind, const DpPricedRelease *priced, EState *estate)
{
	DpReleaseColumn *desc = column->desc;
	Oid			type = desc->lower ? exprType((Node *) desc->lower) : desc->derived ? desc->derived->type : NUMERICOID;
	DpRange    *range = column->range;

	settle_range(column, desc->lower, desc->upper, desc->derived, bins, kind, priced, range, estate);
	column->rows.known = type != DATEOID && type != TIMESTAMPOID && type != TIMESTAMPTZOID;
	column->rows.lower = range->lower;
	column->rows.upper = range->upper;
}

/* Settles which rows are cut, where each is a unit: its total is itself. */
static void
settle_clipped(DpPricedColumn *column, const DpPricedRelease *priced, EState *estate)
{
	DpReleaseColumn *desc = column->desc;
	DpInterval	row;

	settle_values(column, DP_CUT_BINS, DP_RANGE_OUTSIDE, priced, estate);
	if (desc->total_lower == NULL && desc->derived == NULL)
		return;
	row = row_bounds(column, priced, estate);
	if (desc->total_lower != NULL)
	{
		written_totals(desc, estate, &row.total_lower, &row.total_upper);
		row.has_totals = true;
	}
	if (!row.has_totals || !less(row.total_lower, row.total_upper))
		return;
	narrow(desc, row.total_lower, row.total_upper, &row.lower, &row.upper);
	column->totals = limits_of(row.lower, row.upper);
	dp_range_make(column->totals.lower, column->totals.upper, DP_CUT_BINS, DP_RANGE_OUTSIDE, column->range);
}

/* ------------------------------------------------------------------------
 * Bounds that are found first
 * ------------------------------------------------------------------------
 */

bool
dp_finds_bounds(const DpReleaseColumn *column)
{
	return (column->derived != NULL && dp_bound_has(column->derived, DP_BOUND_FOUND)) ||
		(column->derived2 != NULL && dp_bound_has(column->derived2, DP_BOUND_FOUND));
}

bool
dp_relies_on(const DpReleaseColumn *column, int i)
{
	return (column->derived != NULL && dp_bound_finds(column->derived, i)) ||
		(column->derived2 != NULL && dp_bound_finds(column->derived2, i));
}

/* Returns an expression without columns, which may be NULL, as a constant. */
static Expr *
fixed(Expr *expr, EState *estate)
{
	Datum		value;
	bool		isnull;
	int16		len;
	bool		byval;

	if (expr == NULL || IsA(expr, Const))
		return expr;
	value = dp_evaluate(expr, estate, &isnull);
	get_typlenbyval(exprType((Node *) expr), &len, &byval);
	return (Expr *) makeConst(exprType((Node *) expr), -1, exprCollation((Node *) expr), len,
							  isnull ? (Datum) 0 : datumCopy(value, byval, len), isnull, byval);
}

static void
fix_bound(DpBound *bound, EState *estate)
{
	check_stack_depth();
	bound->value = fixed(bound->value, estate);
	foreach_ptr(DpBound, arg, bound->args)
		fix_bound(arg, estate);
}

DpReleaseColumn *
dp_fix_arguments(const DpReleaseColumn *column, EState *estate)
{
	DpReleaseColumn *copy = copyObject((DpReleaseColumn *) column);

	copy->lower = fixed(copy->lower, estate);
	copy->upper = fixed(copy->upper, estate);
	copy->lower2 = fixed(copy->lower2, estate);
	copy->upper2 = fixed(copy->upper2, estate);
	copy->total_lower = fixed(copy->total_lower, estate);
	copy->total_upper = fixed(copy->total_upper, estate);
	copy->detail = fixed(copy->detail, estate);
	if (copy->derived != NULL)
		fix_bound(copy->derived, estate);
	if (copy->derived2 != NULL)
		fix_bound(copy->derived2, estate);
	return copy;
}

void
dp_settle_arguments(DpPricedColumn *column, const DpPricedRelease *priced, EState *estate)
{
	DpReleaseColumn *desc = column->desc;
	DpRange    *range = column->range;

	switch (desc->answer)
	{
		case DP_ANSWER_SUM:
			if (desc->kind == DP_VALUE_SUM)
				settle_sum(column, priced, estate);
			break;
		case DP_ANSWER_MOMENTS:
			column->left_out = 0;
			settle_values(column, 1, DP_RANGE_LINEAR, priced, estate);
			if (desc->lower2 || desc->derived2)
				settle_range(column, desc->lower2, desc->upper2, desc->derived2, 1, DP_RANGE_LINEAR, priced, &range[1], estate);
			break;
		case DP_ANSWER_QUANTILE:
			settle_quantiles(column, estate);
			settle_values(column, DP_QUANTILE_LEAVES, DP_RANGE_LINEAR, priced, estate);
			break;
		case DP_ANSWER_MIN:
		case DP_ANSWER_MAX:
			settle_values(column, DP_QUANTILE_LEAVES, DP_RANGE_LINEAR, priced, estate);
			break;
		case DP_ANSWER_HISTOGRAM:
			settle_values(column, settle_bins(desc, estate), DP_RANGE_LINEAR, priced, estate);
			break;
		case DP_ANSWER_BOUNDS:
			dp_estimator_range(desc->input_type, range);
			column->tells_tail = priced->release->is_estimator;
			break;
		case DP_ANSWER_MODE:
			settle_mode(column);
			break;
		case DP_ANSWER_NORM:
			dp_range_make(0, dp_norm_bins(), dp_norm_bins(), DP_RANGE_LINEAR, range);
			if (desc->kind == DP_VALUE_DISTINCT)
				column->parts[0].shift = DP_PROBE_SHIFT;
			break;
		case DP_ANSWER_CLIPPED:
			settle_clipped(column, priced, estate);
			break;
		case DP_ANSWER_CLIPPED_TOTALS:
			settle_sum(column, priced, estate);
			break;
		case DP_ANSWER_CLIPPED_GROUPS:
			dp_grid_for_count(1, &column->parts[0].grid);
			column->parts[0].row.upper = 1;
			break;
	}
}
