/*-------------------------------------------------------------------------
 *
 * freeze.c
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
 * The Gaussian mechanism with sigma^2 = sens2 / (2 rho) is rho-zCDP (Bun and
 * Steinke 2016, Proposition 1.6; discrete: Canonne, Kamath, Steinke 2020,
 * Theorem 4).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "errors.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "guc.h"
#include "ledger/ledger.h"
#include "nodes/nodeFuncs.h"
#include "noise.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

/* one bound as numeric */
static Numeric
evaluate_bound(Expr *expr, DpReleaseColumn *column, EState *estate)
{
	ExprContext *econtext = GetPerTupleExprContext(estate);
	ExprState  *state = ExecInitExprWithParams(expr, estate->es_param_list_info);
	bool		isnull;
	Datum		value = ExecEvalExprSwitchContext(state, econtext, &isnull);
	Oid			type = exprType((Node *) expr);

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("a bound of %s is NULL; give two numbers, lower < upper", column->label)));
	switch (type)
	{
		case NUMERICOID:
			return DatumGetNumericCopy(value);
		case FLOAT8OID:
			return DatumGetNumeric(DirectFunctionCall1(float8_numeric, value));
		case TEXTOID:
			return DatumGetNumeric(DirectFunctionCall3(numeric_in,
													   CStringGetDatum(TextDatumGetCString(value)),
													   ObjectIdGetDatum(InvalidOid),
													   Int32GetDatum(-1)));
		default:
			elog(ERROR, "unexpected type %u of a bound", type);
	}
}

/* dp_grid_from_numeric would refuse these, too, but cannot say of which aggregate */
static void
check_bounds(Numeric lower, Numeric upper, DpReleaseColumn *column)
{
	if (numeric_is_nan(lower) || numeric_is_inf(lower) || numeric_is_nan(upper) || numeric_is_inf(upper))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("the bounds of %s must be finite numbers", column->label)));
	if (DatumGetBool(DirectFunctionCall2(numeric_ge, NumericGetDatum(lower), NumericGetDatum(upper))))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("the lower bound of %s must be less than its upper bound", column->label)));
}

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

static void
count_grid(DpGrid *grid, int64 upper)
{
	memset(grid, 0, sizeof(DpGrid));
	grid->lower = 0;
	grid->upper = upper;
	grid->scale = 1.0;
	grid->exponent = 0;
}

static void
freeze_column(DpFrozenColumn *frozen, const DpFrozen *all, EState *estate)
{
	DpReleaseColumn *column = frozen->column;
	Numeric		lower,
				upper;

	switch (column->kind)
	{
		case DP_VALUE_COUNT:
			count_grid(&frozen->grid, all->max_rows);
			break;
		case DP_VALUE_UNITS:
			count_grid(&frozen->grid, 1);
			break;
		case DP_VALUE_SUM:
			lower = evaluate_bound(column->lower, column, estate);
			upper = evaluate_bound(column->upper, column, estate);
			check_bounds(lower, upper, column);
			dp_grid_from_numeric(lower, upper, column->input_type, &frozen->grid);
			break;
	}
	if (!dp_calibrate(squared_sensitivity(&frozen->grid, all->max_groups, all->nkeys > 0,
										  all->dataset->neighbors),
					  all->column_rho, &frozen->variance) ||
		!dp_gauss_init(&frozen->gauss, &frozen->variance))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("rho is too small for the bounds of %s: the noise would not be representable; "
						"raise dp_cdp.rho", column->label)));
	frozen->sigma = dp_variance_sigma(&frozen->variance) * dp_grid_unit(&frozen->grid);
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
	return rho;
}

DpFrozen *
dp_freeze(DpRelease *release, EState *estate)
{
	DpFrozen   *frozen = palloc0(sizeof(DpFrozen));
	StringInfoData aggregates,
				groups,
				sigmas;
	ListCell   *lc;
	int			i = 0;

	frozen->release = release;
	frozen->dataset = dp_policy_dataset(release->dataset);
	frozen->nkeys = list_length(release->keys);
	frozen->ncolumns = list_length(release->columns);
	frozen->columns = palloc0(sizeof(DpFrozenColumn) * frozen->ncolumns);
	frozen->column_rho = column_price(frozen->dataset);
	if (pg_mul_s64_overflow(frozen->column_rho, frozen->ncolumns, &frozen->rho) ||
		frozen->rho > DP_RHO_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("a query of %d aggregates at rho %.12g each costs more than can be accounted for; lower dp_cdp.rho",
						frozen->ncolumns, (double) frozen->column_rho / DP_RHO_ONE)));
	frozen->max_groups = 1;
	frozen->max_rows = 1;
	if (release->has_unit)
	{
		frozen->max_rows = dp_guc_max_rows > 0 ? dp_guc_max_rows : frozen->dataset->max_rows;
		if (frozen->nkeys > 0)
			frozen->max_groups = dp_guc_max_groups > 0 ? dp_guc_max_groups : frozen->dataset->max_groups;
	}
	if (release->selection < 0)
	{
		/* nobody can be in more groups than there are */
		int64		groups = dp_declared_groups(release->keys);

		frozen->max_groups = Max(Min(frozen->max_groups, groups), 1);
	}

	initStringInfo(&aggregates);
	initStringInfo(&groups);
	initStringInfo(&sigmas);
	foreach(lc, release->columns)
	{
		DpFrozenColumn *column = &frozen->columns[i];

		column->column = lfirst(lc);
		freeze_column(column, frozen, estate);
		appendStringInfo(&aggregates, "%s%s", i > 0 ? ", " : "", column->column->label);
		appendStringInfo(&sigmas, "%s%.6g", i > 0 ? ", " : "", column->sigma);
		i++;
	}
	foreach(lc, release->keys)
		appendStringInfo(&groups, "%s%s", groups.len > 0 ? ", " : "",
						 ((DpReleaseKey *) lfirst(lc))->label);

	if (release->selection >= 0)
	{
		frozen->delta = dp_guc_delta > 0 ? dp_delta_units(dp_guc_delta, "dp_cdp.delta")
			: frozen->dataset->default_delta;
		if (!dp_threshold(&frozen->columns[release->selection].variance, frozen->max_groups,
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
dp_frozen_debit(DpFrozen *frozen)
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
