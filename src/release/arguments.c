/*-------------------------------------------------------------------------
 *
 * arguments.c
 *	  Evaluates the arguments of aggregates: bounds, quantiles, bins.
 *
 * They are constants, parameters and stable functions of them, evaluated once,
 * with the rights of whoever asks, before the debit: what is wrong with them
 * costs nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/errors.h"
#include "base/input.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "math/quantile.h"
#include "nodes/nodeFuncs.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

static Datum
evaluate(Expr *expr, EState *estate, bool *isnull)
{
	ExprState  *state = ExecInitExprWithParams(expr, estate->es_param_list_info);

	return ExecEvalExprSwitchContext(state, GetPerTupleExprContext(estate), isnull);
}

static Datum
evaluate_bound(Expr *expr, DpReleaseColumn *desc, EState *estate)
{
	bool		isnull;
	Datum		value = evaluate(expr, estate, &isnull);

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("a bound of %s is NULL; give two values, lower < upper", desc->label)));
	return value;
}

static Numeric
numeric_of_text(char *text, DpReleaseColumn *desc)
{
	Datum		value;

	if (!dp_try_input(text, NUMERICOID, -1, &value))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("a bound of %s is not a number; give two numbers, lower < upper", desc->label)));
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
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("the bounds of %s must be finite", desc->label)));
}

static void
check_order(bool ordered, DpReleaseColumn *desc)
{
	if (!ordered)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("the lower bound of %s must be less than its upper bound", desc->label)));
}

static Numeric
times(Numeric value, int factor)
{
	return DatumGetNumeric(DirectFunctionCall2(numeric_mul, NumericGetDatum(value),
											   NumericGetDatum(int64_to_numeric(factor))));
}

static void
settle_grid(DpReleaseColumn *desc, int max_rows, DpGrid *grid, EState *estate)
{
	Numeric		lower = numeric_bound(desc->lower, desc, estate);
	Numeric		upper = numeric_bound(desc->upper, desc, estate);

	if (desc->bounds_of_rows)
	{
		lower = times(lower, max_rows);
		upper = times(upper, max_rows);
	}
	check_finite(!numeric_is_nan(lower) && !numeric_is_inf(lower) &&
				 !numeric_is_nan(upper) && !numeric_is_inf(upper), desc);
	check_order(DatumGetBool(DirectFunctionCall2(numeric_lt, NumericGetDatum(lower), NumericGetDatum(upper))),
				desc);
	dp_grid_from_numeric(lower, upper, desc->input_type, grid);
}

static void
settle_range(DpReleaseColumn *desc, Expr *lower, Expr *upper, int bins, DpRangeKind kind,
			 DpRange *range, EState *estate)
{
	double		low = 0,
				high = 1;

	if (lower != NULL)
	{
		low = double_bound(lower, desc, estate);
		high = double_bound(upper, desc, estate);
		check_finite(isfinite(low) && isfinite(high), desc);
		check_order(low < high, desc);
	}
	dp_range_make(low, high, bins, kind, range);
}

static void
bad_quantile(DpReleaseColumn *desc)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_BAD_PARAMETER),
			 errmsg("a quantile of %s is not a number from 0 to 1; give 0.5 for the median, or at most %d in an array",
					desc->label, DP_MAX_QUANTILES)));
}

static void
settle_quantiles(DpPricedColumn *column, EState *estate)
{
	DpReleaseColumn *desc = column->desc;
	bool		isnull;
	Datum		value = evaluate(desc->detail, estate, &isnull);

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
		if (!(column->quantiles[i] >= 0 && column->quantiles[i] <= 1))
			bad_quantile(desc);
}

static int
settle_bins(DpReleaseColumn *desc, EState *estate)
{
	bool		isnull;
	Datum		value = evaluate(desc->detail, estate, &isnull);

	if (isnull || DatumGetInt32(value) < 1 || DatumGetInt32(value) > DP_MAX_HISTOGRAM)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("the number of bins of %s must be from 1 to %d", desc->label, DP_MAX_HISTOGRAM)));
	return DatumGetInt32(value);
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
				settle_grid(desc, priced->max_rows, &column->parts[0].grid, estate);
			break;
		case DP_ANSWER_MOMENTS:
			settle_range(desc, desc->lower, desc->upper, 1, DP_RANGE_LINEAR, &range[0], estate);
			if (desc->lower2)
				settle_range(desc, desc->lower2, desc->upper2, 1, DP_RANGE_LINEAR, &range[1], estate);
			break;
		case DP_ANSWER_QUANTILE:
			settle_quantiles(column, estate);
			/* FALLTHROUGH */
		case DP_ANSWER_MIN:
		case DP_ANSWER_MAX:
			settle_range(desc, desc->lower, desc->upper, DP_QUANTILE_LEAVES, DP_RANGE_LINEAR, range, estate);
			break;
		case DP_ANSWER_HISTOGRAM:
			settle_range(desc, desc->lower, desc->upper, settle_bins(desc, estate), DP_RANGE_LINEAR,
						 range, estate);
			break;
		case DP_ANSWER_BOUNDS:
			settle_range(desc, NULL, NULL, DP_LOG_BINS, DP_RANGE_LOGARITHMIC, range, estate);
			break;
		case DP_ANSWER_CLIPPED:
			settle_range(desc, desc->lower, desc->upper, 3, DP_RANGE_OUTSIDE, range, estate);
			break;
	}
}
