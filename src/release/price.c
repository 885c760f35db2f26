/*-------------------------------------------------------------------------
 *
 * price.c
 *	  Settles price, bounds and noise of a release before its debit.
 *
 * Everything here comes from the query, its parameters, the settings and the
 * policy; nothing from protected rows.  What is settled is not evaluated
 * again: the debit, the inner plan and the noise all use this one copy.
 *
 * Squared L2 sensitivity of the vector of one column over all groups, with a
 * unit in at most k groups and its value in each of them in [lower, upper]
 * or 0 (the unit may be filtered out), M = max(|lower|, |upper|),
 * U = max(upper, 0), L = min(lower, 0):
 *	 add or remove a unit: k M^2;
 *	 replace a unit, grouped: k max(2 M^2, (U - L)^2), because its old and new
 *	 groups may coincide or not; not grouped: (U - L)^2.
 * The vector of a histogram of at most m rows of a unit in each group: k m^2
 * for adding or removing one (all m rows in one bin), 2 k m^2 for replacing
 * one (in two different bins).  A column's rho is split among its parts, and
 * that of a tree of counts among its levels, each a histogram by itself.
 * The Gaussian mechanism with sigma^2 = sens2 / (2 rho) is rho-zCDP (Bun and
 * Steinke 2016, Proposition 1.6; discrete: Canonne, Kamath, Steinke 2020,
 * Theorem 4).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/errors.h"
#include "base/input.h"
#include "base/noise.h"
#include "base/settings.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "ledger/ledger.h"
#include "math/quantile.h"
#include "nodes/nodeFuncs.h"
#include "policy/policy.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* ------------------------------------------------------------------------
 * Parameters
 * ------------------------------------------------------------------------
 */

static Datum
evaluate(Expr *expr, EState *estate, bool *isnull)
{
	ExprState  *state = ExecInitExprWithParams(expr, estate->es_param_list_info);

	return ExecEvalExprSwitchContext(state, GetPerTupleExprContext(estate), isnull);
}

static Datum
evaluate_bound(Expr *expr, DpReleaseColumn *column, EState *estate)
{
	bool		isnull;
	Datum		value = evaluate(expr, estate, &isnull);

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("a bound of %s is NULL; give two values, lower < upper", column->label)));
	return value;
}

static Numeric
numeric_of_text(char *text, DpReleaseColumn *column)
{
	Datum		value;

	if (!dp_try_input(text, NUMERICOID, -1, &value))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("a bound of %s is not a number; give two numbers, lower < upper", column->label)));
	return DatumGetNumeric(value);
}

static Numeric
numeric_bound(Expr *expr, DpReleaseColumn *column, EState *estate)
{
	Datum		value = evaluate_bound(expr, column, estate);
	Oid			type = exprType((Node *) expr);

	switch (type)
	{
		case NUMERICOID:
			return DatumGetNumericCopy(value);
		case FLOAT8OID:
			return DatumGetNumeric(DirectFunctionCall1(float8_numeric, value));
		case TEXTOID:
			return numeric_of_text(TextDatumGetCString(value), column);
		default:
			elog(ERROR, "unexpected type %u of a bound", type);
	}
}

/* as a double; dates in days, timestamps in microseconds since 2000-01-01 */
static double
double_bound(Expr *expr, DpReleaseColumn *column, EState *estate)
{
	Oid			type = exprType((Node *) expr);
	Datum		value;

	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(evaluate_bound(expr, column, estate));
		case INT4OID:
			return DatumGetInt32(evaluate_bound(expr, column, estate));
		case INT8OID:
			return (double) DatumGetInt64(evaluate_bound(expr, column, estate));
		case FLOAT4OID:
			return DatumGetFloat4(evaluate_bound(expr, column, estate));
		case FLOAT8OID:
			return DatumGetFloat8(evaluate_bound(expr, column, estate));
		case DATEOID:
			value = evaluate_bound(expr, column, estate);
			return DATE_NOT_FINITE(DatumGetDateADT(value)) ? get_float8_nan() : DatumGetDateADT(value);
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			value = evaluate_bound(expr, column, estate);
			return TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value)) ? get_float8_nan() :
				(double) DatumGetTimestamp(value);
		default:
			return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
													  NumericGetDatum(numeric_bound(expr, column, estate))));
	}
}

/* the functions that make a grid or a range would refuse these, too, but cannot say of which aggregate */
static void
check_finite(bool finite, DpReleaseColumn *column)
{
	if (!finite)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("the bounds of %s must be finite", column->label)));
}

static void
check_order(bool ordered, DpReleaseColumn *column)
{
	if (!ordered)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("the lower bound of %s must be less than its upper bound", column->label)));
}

static Numeric
times(Numeric value, int factor)
{
	return DatumGetNumeric(DirectFunctionCall2(numeric_mul, NumericGetDatum(value),
											   NumericGetDatum(int64_to_numeric(factor))));
}

static void
freeze_grid(DpReleaseColumn *column, int max_rows, DpGrid *grid, EState *estate)
{
	Numeric		lower = numeric_bound(column->lower, column, estate);
	Numeric		upper = numeric_bound(column->upper, column, estate);

	if (column->bounds_of_rows)
	{
		lower = times(lower, max_rows);
		upper = times(upper, max_rows);
	}
	check_finite(!numeric_is_nan(lower) && !numeric_is_inf(lower) &&
				 !numeric_is_nan(upper) && !numeric_is_inf(upper), column);
	check_order(DatumGetBool(DirectFunctionCall2(numeric_lt, NumericGetDatum(lower), NumericGetDatum(upper))),
				column);
	dp_grid_from_numeric(lower, upper, column->input_type, grid);
}

static void
freeze_range(DpReleaseColumn *column, Expr *lower, Expr *upper, int bins, DpRangeKind kind,
			 DpRange *range, EState *estate)
{
	double		low = 0,
				high = 1;

	if (lower != NULL)
	{
		low = double_bound(lower, column, estate);
		high = double_bound(upper, column, estate);
		check_finite(isfinite(low) && isfinite(high), column);
		check_order(low < high, column);
	}
	dp_range_make(low, high, bins, kind, range);
}

static void
bad_quantile(DpReleaseColumn *column)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_BAD_PARAMETER),
			 errmsg("a quantile of %s is not a number from 0 to 1; give 0.5 for the median, or at most %d in an array",
					column->label, DP_MAX_QUANTILES)));
}

static void
freeze_quantiles(DpPricedColumn *frozen, EState *estate)
{
	DpReleaseColumn *column = frozen->column;
	bool		isnull;
	Datum		value = evaluate(column->detail, estate, &isnull);

	if (isnull)
		bad_quantile(column);
	if (exprType((Node *) column->detail) == FLOAT8OID)
	{
		frozen->nquantiles = 1;
		frozen->quantiles = palloc(sizeof(double));
		frozen->quantiles[0] = DatumGetFloat8(value);
	}
	else
	{
		ArrayType  *array = DatumGetArrayTypeP(value);
		Datum	   *values;
		bool	   *nulls;

		deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
						  &values, &nulls, &frozen->nquantiles);
		if (ARR_NDIM(array) != 1 || frozen->nquantiles > DP_MAX_QUANTILES)
			bad_quantile(column);
		frozen->quantiles = palloc(frozen->nquantiles * sizeof(double));
		for (int i = 0; i < frozen->nquantiles; i++)
			frozen->quantiles[i] = nulls[i] ? -1 : DatumGetFloat8(values[i]);
	}
	for (int i = 0; i < frozen->nquantiles; i++)
		if (!(frozen->quantiles[i] >= 0 && frozen->quantiles[i] <= 1))
			bad_quantile(column);
}

static int
freeze_bins(DpReleaseColumn *column, EState *estate)
{
	bool		isnull;
	Datum		value = evaluate(column->detail, estate, &isnull);

	if (isnull || DatumGetInt32(value) < 1 || DatumGetInt32(value) > DP_MAX_HISTOGRAM)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("the number of bins of %s must be from 1 to %d", column->label, DP_MAX_HISTOGRAM)));
	return DatumGetInt32(value);
}

/* ------------------------------------------------------------------------
 * Noise
 * ------------------------------------------------------------------------
 */

static dp_u128
squared_sensitivity(const DpGrid *grid, int max_groups, bool grouped, DpNeighbors neighbors)
{
	dp_u128		lower = grid->lower < 0 ? (dp_u128) -(dp_i128) grid->lower : 0;
	dp_u128		upper = grid->upper > 0 ? (dp_u128) grid->upper : 0;
	dp_u128		lower_abs = grid->lower < 0 ? lower : (dp_u128) grid->lower;
	dp_u128		upper_abs = grid->upper > 0 ? upper : (dp_u128) -(dp_i128) grid->upper;
	dp_u128		magnitude = Max(lower_abs, upper_abs);
	dp_u128		span = upper + lower;

	if (neighbors == DP_ADD_REMOVE)
		return (dp_u128) max_groups * magnitude * magnitude;
	if (!grouped)
		return span * span;
	return (dp_u128) max_groups * Max(2 * magnitude * magnitude, span * span);
}

/* of a vector of counts, at most "most" of one unit in each group */
static dp_u128
squared_vector_sensitivity(int64 most, int max_groups, DpNeighbors neighbors)
{
	return (neighbors == DP_ADD_REMOVE ? 1 : 2) * (dp_u128) max_groups * most * most;
}

/* what the arguments tell: bounds, quantiles, bins */
static void
freeze_arguments(DpPricedColumn *frozen, const DpPricedRelease *all, EState *estate)
{
	DpReleaseColumn *column = frozen->column;
	DpRange    *range = frozen->range;

	switch (column->answer)
	{
		case DP_ANSWER_TOTAL:
			if (column->kind == DP_VALUE_SUM)
				freeze_grid(column, all->max_rows, &frozen->parts[0].grid, estate);
			break;
		case DP_ANSWER_MOMENTS:
			freeze_range(column, column->lower, column->upper, 1, DP_RANGE_LINEAR, &range[0], estate);
			if (column->lower2)
				freeze_range(column, column->lower2, column->upper2, 1, DP_RANGE_LINEAR, &range[1], estate);
			break;
		case DP_ANSWER_QUANTILE:
			freeze_quantiles(frozen, estate);
			/* FALLTHROUGH */
		case DP_ANSWER_MIN:
		case DP_ANSWER_MAX:
			freeze_range(column, column->lower, column->upper, DP_QUANTILE_LEAVES, DP_RANGE_LINEAR, range, estate);
			break;
		case DP_ANSWER_HISTOGRAM:
			freeze_range(column, column->lower, column->upper, freeze_bins(column, estate), DP_RANGE_LINEAR,
						 range, estate);
			break;
		case DP_ANSWER_BOUNDS:
			freeze_range(column, NULL, NULL, DP_LOG_BINS, DP_RANGE_LOGARITHMIC, range, estate);
			break;
		case DP_ANSWER_CLIPPED:
			freeze_range(column, column->lower, column->upper, 3, DP_RANGE_OUTSIDE, range, estate);
			break;
	}
}

static void
measure_part(DpPricedColumn *frozen, DpPricedPart *part, const DpPricedRelease *all)
{
	DpNeighbors neighbors = all->dataset->neighbors;
	int64		codes = Min(all->max_rows, DP_MAX_CODES);

	part->width = 1;
	switch (part->part.kind)
	{
		case DP_VALUE_COUNT:
		case DP_VALUE_ROWS:
			dp_grid_for_count(all->max_rows, &part->grid);
			break;
		case DP_VALUE_STEPS:
			dp_grid_for_count(1, &part->grid);
			break;
		case DP_VALUE_SUM:
			break;
		case DP_VALUE_SCALED:
			dp_grid_for_scaled(all->max_rows, &part->grid);
			break;
		case DP_VALUE_DISTINCT:
			dp_grid_for_count(codes, &part->grid);
			break;
		case DP_VALUE_CODES:
			dp_grid_for_count(codes, &part->grid);
			part->width = frozen->range[0].bins;
			break;
	}
	part->sens2 = part->part.kind == DP_VALUE_CODES
		? squared_vector_sensitivity(codes, all->max_groups, neighbors)
		: squared_sensitivity(&part->grid, all->max_groups, all->nkeys > 0, neighbors);
}

static double
part_unit(const DpPricedPart *part)
{
	return part->part.kind == DP_VALUE_SUM ? dp_grid_step(&part->grid)
		: part->part.kind == DP_VALUE_SCALED ? 1.0 / DP_CENTERED_ONE : 1.0;
}

static void
calibrate_part(DpPricedColumn *frozen, DpPricedPart *part, int64 rho)
{
	if (rho < 1 || part->sens2 > (dp_u128) 1 << 100 ||
		!dp_calibrate(part->sens2, rho, &part->variance) ||
		!dp_gauss_init(&part->gauss, &part->variance))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("rho is too small for the bounds of %s: the noise would not be representable; "
						"raise dp_cdp.rho", frozen->column->label)));
	part->sigma = dp_variance_sigma(&part->variance) * part_unit(part);
}

/* price: 0: by the settings */
static void
freeze_column(DpPricedColumn *frozen, DpPricedRelease *all, EState *estate, int64 price)
{
	DpPart		parts[DP_MAX_COLUMN_PARTS];
	DpAnswer	answer = frozen->column->answer;
	int			weights = 0;

	frozen->nparts = dp_column_parts(frozen->column, parts);
	frozen->parts = palloc0(frozen->nparts * sizeof(DpPricedPart));
	freeze_arguments(frozen, all, estate);
	for (int i = 0; i < frozen->nparts; i++)
	{
		DpPricedPart *part = &frozen->parts[i];

		part->part = parts[i];
		measure_part(frozen, part, all);
		part->offset = all->width;
		all->width += part->width;
		weights += parts[i].weight;
	}
	if (price == 0)
		price = dp_target_price(all, frozen->column, frozen->parts[0].sens2, part_unit(&frozen->parts[0]),
								all->column_rho);
	frozen->rho = price > 0 ? price : all->column_rho;
	if (answer == DP_ANSWER_QUANTILE || answer == DP_ANSWER_MIN || answer == DP_ANSWER_MAX)
		weights *= DP_QUANTILE_LEVELS;
	/* rounded down: all shares together are at most the price */
	for (int i = 0; i < frozen->nparts; i++)
		calibrate_part(frozen, &frozen->parts[i], (int64) ((dp_u128) frozen->rho * parts[i].weight / weights));
	all->nparts += frozen->nparts;
	frozen->sigma = frozen->parts[0].sigma;
	dp_prepare_answer(frozen);
}

static int64
column_price(const DpDataset *dataset)
{
	int64		rho = dataset->default_rho;

	if (dp_guc_rho > 0)
		rho = dp_rho_units(dp_guc_rho, "dp_cdp.rho");
	if (dataset->max_rho > 0 && rho > dataset->max_rho)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("dp_cdp.rho exceeds the maximum of dataset \"%s\"; set it to at most %.12g",
						dataset->name, (double) dataset->max_rho / DP_RHO_ONE)));
	/* a look or a failure would be all but free */
	if (rho < dataset->min_rho)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("dp_cdp.rho is below the least price of an aggregate of dataset \"%s\", which is %s; SET dp_cdp.rho = %s or more, or RESET it",
						dataset->name, dp_rho_text(dataset->min_rho), dp_rho_text(dataset->min_rho))));
	return rho;
}

DpPricedRelease *
dp_price_release(DpRelease *release, EState *estate, const int64 *prices)
{
	DpPricedRelease   *frozen = palloc0(sizeof(DpPricedRelease));
	StringInfoData aggregates,
				groups,
				sigmas;
	ListCell   *lc;
	int64		declared = 1;
	int			i = 0;

	frozen->release = release;
	frozen->dataset = dp_policy_dataset(release->dataset);
	frozen->nkeys = list_length(release->keys);
	frozen->ncolumns = list_length(release->columns);
	frozen->columns = palloc0(sizeof(DpPricedColumn) * frozen->ncolumns);
	frozen->column_rho = column_price(frozen->dataset);
	frozen->max_groups = 1;
	frozen->max_rows = 1;
	if (release->has_unit)
	{
		frozen->max_rows = dp_guc_max_rows > 0 ? dp_guc_max_rows : frozen->dataset->max_rows;
		if (frozen->nkeys > 0 && !release->one_group)
			frozen->max_groups = dp_guc_max_groups > 0 ? dp_guc_max_groups : frozen->dataset->max_groups;
	}
	if (release->selection < 0)
	{
		/* nobody can be in more groups than there are */
		int64		groups = dp_declared_groups(release->keys);

		frozen->max_groups = Max(Min(frozen->max_groups, groups), 1);
		declared = groups;
	}

	initStringInfo(&aggregates);
	initStringInfo(&groups);
	initStringInfo(&sigmas);
	foreach(lc, release->columns)
	{
		DpPricedColumn *column = &frozen->columns[i];

		column->column = lfirst(lc);
		freeze_column(column, frozen, estate, prices ? prices[i] : 0);
		if (pg_add_s64_overflow(frozen->rho, column->rho, &frozen->rho) || frozen->rho > DP_RHO_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_DP_BAD_PARAMETER),
					 errmsg("a query of %d aggregates at rho %.12g each costs more than can be accounted for; lower dp_cdp.rho",
							frozen->ncolumns, (double) column->rho / DP_RHO_ONE)));
		appendStringInfo(&aggregates, "%s%s", i > 0 ? ", " : "", column->column->label);
		appendStringInfo(&sigmas, "%s%.6g", i > 0 ? ", " : "", column->sigma);
		i++;
	}
	/* all groups of declared keys are held until the last has been counted */
	if (declared * frozen->width > DP_MAX_STATES)
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_RELEASABLE),
				 errmsg("quantiles or histograms of " INT64_FORMAT " declared groups take more memory than a query may; "
						"group by fewer keys, or ask for fewer of them at once", declared)));
	foreach(lc, release->keys)
		appendStringInfo(&groups, "%s%s", groups.len > 0 ? ", " : "",
						 ((DpReleaseKey *) lfirst(lc))->label);

	if (release->selection >= 0)
	{
		frozen->delta = dp_guc_delta > 0 ? dp_delta_units(dp_guc_delta, "dp_cdp.delta")
			: frozen->dataset->default_delta;
		if (!dp_threshold(&frozen->columns[release->selection].parts[0].variance, frozen->max_groups,
						  frozen->delta, &frozen->threshold))
			ereport(ERROR,
					(errcode(ERRCODE_DP_BAD_PARAMETER),
					 errmsg("no threshold fits rho and delta of this query; "
							"raise dp_cdp.rho or dp_cdp.delta, or declare the keys with dp_cdp.set_keys")));
	}
	frozen->aggregates = aggregates.data;
	frozen->groups = groups.len > 0 ? groups.data : NULL;
	frozen->sigmas = sigmas.data;
	return frozen;
}

DpDebitItem *
dp_priced_debit(DpPricedRelease *frozen)
{
	DpDebitItem *item = palloc0(sizeof(DpDebitItem));

	item->dataset = frozen->dataset->name;
	item->rho = frozen->rho;
	item->delta = frozen->delta;
	item->aggregates = frozen->aggregates;
	item->groups = frozen->groups;
	item->sigma = frozen->sigmas;
	return item;
}
