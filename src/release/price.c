/*-------------------------------------------------------------------------
 *
 * price.c
 *	  Settles price and noise of a release before its debit.
 *
 * Everything here comes from the query, its parameters, the settings and the
 * policy; nothing from protected rows.  What is settled is not evaluated
 * again: the debit, the inner plan and the noise all use this one copy.
 *
 * Squared L2 sensitivity of the vector of one column over all groups, with a
 * unit in at most k groups and its value in each of them in [lower, upper]
 * or 0 (the unit may be filtered out), M = max(|lower|, |upper|),
 * (of a sum: the limits of a unit's total, arguments.c),
 * U = max(upper, 0), L = min(lower, 0):
 *	 add or remove a unit: k M^2;
 *	 replace a unit, grouped: k max(2 M^2, (U - L)^2), because its old and new
 *	 groups may coincide or not; not grouped: (U - L)^2.
 * With blocks, what differs are the rows of a unit in one block.  Where others of its rows are read, too, what is kept of
 * them may change as well: one bounded contribution is replaced by another, and the sensitivity is that.
 * The vector of a histogram of at most m rows of a unit in each group: k m^2
 * for adding or removing one (all m rows in one bin), 2 k m^2 for replacing
 * one (in two different bins).  So with m = 1 for where a unit's total is, which
 * is one code in each group.  A column's rho is split among its parts, and
 * that of a tree of counts among its levels, each a histogram by itself.
 * The Gaussian mechanism with sigma^2 = sens2 / (2 rho) is rho-zCDP (Bun and
 * Steinke 2016, Proposition 1.6; discrete: Canonne, Kamath, Steinke 2020,
 * Theorem 4).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/amounts.h"
#include "base/compat.h"
#include "base/errors.h"
#include "base/noise.h"
#include "base/settings.h"
#include "base/sizes.h"
#include "common/int.h"
#include "ledger/ledger.h"
#include "math/quantile.h"
#include "policy/policy.h"
#include "release/found_bounds.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* rows of a unit that bounds of a value are for which grows with them, where none are found and nobody has set max_rows */
#define USUAL_ROWS 5

/* groups of a unit that have a part in selecting keys: of more so many are drawn, at random */
#define MOST_KEY_GROUPS 100

/* rows of a unit in a group of a histogram whose norm is limited, or values of a set: more than these are drawn from, at random */
#define MOST_LIMITED_CODES 64

/* how many groups undeclared keys make, for a guess that no privacy rests on */
#define USUAL_GROUPS 16

/* Returns the squared L2 sensitivity of a sum over all groups, in steps of its grid; see the head of this file. */
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

/* Returns the squared L2 sensitivity of a vector of counts, with at most "most" of one unit in each group. */
static dp_u128
squared_vector_sensitivity(int64 most, int max_groups, DpNeighbors neighbors)
{
	return (neighbors == DP_ADD_REMOVE ? 1 : 2) * (dp_u128) max_groups * most * most;
}

/* Returns how the contribution of a unit changes between neighbours; see the head of this file. */
static DpNeighbors
neighbors_of(const DpPricedRelease *priced)
{
	const DpBlockLength *length = &priced->dataset->blocks;

	if (priced->release->has_unit && priced->has_days &&
		(DATE_NOT_FINITE(priced->days.from) || priced->days.to != dp_block_end(priced->days.from, length)))
		return DP_REPLACE_ONE;
	return priced->dataset->neighbors;
}

/* Returns the length of one step of a part. */
static double
part_step(const DpPricedPart *part)
{
	double		step = part->desc.kind == DP_VALUE_SUM ? dp_grid_step(&part->grid)
	: part->desc.kind == DP_VALUE_SCALED ? 1.0 / DP_CENTERED_ONE : 1.0;

	return ldexp(step, -part->shift);
}

/* Returns how many rows of a unit count in a group, before its norm is limited. */
static int64
most_rows(const DpPricedColumn *column, const DpPricedRelease *priced)
{
	int			rows = dp_most_rows(priced->dataset);

	return column->nlimits == 0 ? priced->max_rows : rows > 0 ? rows : PG_UINT32_MAX;
}

/* Returns the squared sensitivity of a part that a norm limits, or limits of groups and of each of them if that is less. */
static dp_u128
limited_sensitivity(const DpPricedColumn *column, const DpPricedPart *part, const DpPricedRelease *priced, DpNeighbors neighbors)
{
	/* what moves from one bin to another is as if it was in another group */
	bool		grouped = priced->nkeys > 0 || dp_is_histogram(part);
	bool		is_once = part->desc.kind == DP_VALUE_UNITS || part->desc.kind == DP_VALUE_CUT;
	dp_u128		of_norm = dp_norm_sensitivity(column, part, neighbors, grouped);
	dp_u128		of_limits;
	DpGrid		grid = part->grid;

	if (is_once)
		dp_grid_for_count(1, &grid);
	else if (dp_most_rows(priced->dataset) == 0 || Max(grid.upper, -grid.lower) > DP_MOST_NORM >> part->shift)
		return of_norm;
	of_limits = squared_sensitivity(&grid, priced->max_groups, grouped, neighbors);
	return Min(of_norm, of_limits << 2 * part->shift);
}

/* Sets the grid of a part, unless its arguments have, its width, its steps and its sensitivity. */
static void
measure_part(DpPricedColumn *column, DpPricedPart *part, const DpPricedRelease *priced)
{
	DpNeighbors neighbors = neighbors_of(priced);
	int64		codes = column->nlimits == 0 ? Min(priced->max_rows, DP_MAX_CODES) : Min(most_rows(column, priced), MOST_LIMITED_CODES);

	part->width = 1;
	switch (part->desc.kind)
	{
		case DP_VALUE_COUNT:
		case DP_VALUE_ROWS:
			dp_grid_for_count(most_rows(column, priced), &part->grid);
			break;
		case DP_VALUE_UNITS:
			dp_grid_for_count(1, &part->grid);
			break;
		case DP_VALUE_SUM:
			break;
		case DP_VALUE_CUT:
			part->width = DP_CUT_BINS;
			codes = 1;
			break;
		case DP_VALUE_SCALED:
			dp_grid_for_scaled(most_rows(column, priced), &part->grid);
			break;
		case DP_VALUE_DISTINCT:
			dp_grid_for_count(codes, &part->grid);
			break;
		case DP_VALUE_CODES:
			dp_grid_for_count(codes, &part->grid);
			part->width = column->range[0].bins;
			break;
	}
	part->step = part_step(part);
	if (column->desc->answer == DP_ANSWER_NORM)
		part->sens2 = (squared_vector_sensitivity(1, 1, neighbors) + (part->shift > 0 ? DP_PROBES : 0)) << 2 * part->shift;
	else if (dp_is_histogram(part) && column->nlimits == 0)
		part->sens2 = squared_vector_sensitivity(codes, priced->max_groups, neighbors);
	else if (column->nlimits > 0)
		part->sens2 = limited_sensitivity(column, part, priced, neighbors);
	else
		part->sens2 = squared_sensitivity(&part->grid, priced->max_groups, priced->nkeys > 0, neighbors);
}

/* Sets the noise of a part that costs rho; ZC004 where it would not be representable. */
static void
calibrate_part(DpPricedColumn *column, DpPricedPart *part, int64 rho)
{
	if (rho < 1 || part->sens2 > (dp_u128) 1 << 100 ||
		!dp_calibrate(part->sens2, rho, &part->variance) ||
		!dp_noise_prepare(&part->gauss, &part->variance))
		dp_raise(BAD_PARAMETER, errmsg("rho is too small for the bounds of %s: the noise would not be representable; "
									   "raise dp_cdp.rho", column->desc->label));
	part->sigma = dp_variance_sigma(&part->variance) * part->step;
}

int64
dp_part_share(const DpPricedColumn *column, int part, int64 rho)
{
	DpAnswer	answer = column->desc->answer;
	int			weights = 0;

	for (int i = 0; i < column->nparts; i++)
		weights += column->parts[i].desc.weight;
	if (answer == DP_ANSWER_QUANTILE || answer == DP_ANSWER_MIN || answer == DP_ANSWER_MAX)
		weights *= DP_QUANTILE_LEVELS;
	/* rounded down: all shares together are at most the price */
	return (int64) ((dp_u128) rho * column->parts[part].desc.weight / weights);
}

/* Settles the noise of a column whose price is known. */
static void
settle_noise(DpPricedColumn *column)
{
	for (int i = 0; i < column->nparts; i++)
		calibrate_part(column, &column->parts[i], dp_part_share(column, i, column->rho));
	column->sigma = column->parts[0].sigma;
}

/* Settles one column; price is an amount of rho, or 0 for that of the settings. */
static void
settle_column(DpPricedColumn *column, DpPricedRelease *priced, EState *estate, int64 price)
{
	DpPart		parts[DP_MAX_COLUMN_PARTS];

	column->found_first = dp_finds_bounds(column->desc);
	if (column->found_first)
		column->desc = dp_fix_arguments(column->desc, estate);
	column->nparts = dp_column_parts(column->desc, parts);
	column->parts = palloc0(column->nparts * sizeof(DpPricedPart));
	for (int i = 0; i < column->nparts; i++)
		column->parts[i].desc = parts[i];
	dp_settle_arguments(column, priced, estate);
	dp_settle_norm(column, priced);
	for (int i = 0; i < column->nparts; i++)
	{
		DpPricedPart *part = &column->parts[i];

		measure_part(column, part, priced);
		part->offset = priced->width;
		priced->width += part->width;
	}
	dp_settle_weights(column, priced);
	if (price == 0)
		price = dp_target_price(priced, column->desc, column->parts[0].sens2, column->parts[0].step,
								priced->column_rho);
	if (price == 0)
		price = priced->column_rho - dp_limit_price(column, priced);
	column->rho = column->charged = price;
	settle_noise(column);
	priced->nparts += column->nparts;
	dp_prepare_answer(column);
}

void
dp_settle_found(DpPricedRelease *priced, EState *estate)
{
	for (int i = 0; i < priced->ncolumns; i++)
	{
		DpPricedColumn *column = &priced->columns[i];

		if (!column->found_first)
			continue;
		column->later = column->is_lacking = false;
		dp_settle_arguments(column, priced, estate);
		dp_settle_norm(column, priced);
		for (int j = 0; j < column->nparts; j++)
			measure_part(column, &column->parts[j], priced);
		settle_noise(column);
	}
}

void
dp_settle_limits(DpPricedRelease *priced)
{
	for (int i = 0; i < priced->ncolumns; i++)
	{
		DpPricedColumn *column = &priced->columns[i];

		if (!column->finds_limit)
			continue;
		dp_settle_norm(column, priced);
		for (int j = 0; j < column->nparts; j++)
			measure_part(column, &column->parts[j], priced);
		settle_noise(column);
	}
}

/* Returns what a column costs by the settings, as an amount of rho; ZC004 beyond the limits of the dataset. */
static int64
column_price(const DpDataset *dataset)
{
	int64		rho = dataset->default_rho;

	if (dp_guc_rho > 0)
		rho = dp_rho_amount(dp_guc_rho, "dp_cdp.rho");
	if (dataset->max_rho > 0 && rho > dataset->max_rho)
		dp_raise(BAD_PARAMETER, errmsg("dp_cdp.rho exceeds the maximum of dataset \"%s\"; set it to at most %.12g",
									   dataset->name, (double) dataset->max_rho / DP_RHO_ONE));
	/* a pilot or a failure would be all but free */
	if (rho < dataset->min_rho)
		dp_raise(BAD_PARAMETER,
				 errmsg("dp_cdp.rho is below the least price of dataset \"%s\", which is %s; SET dp_cdp.rho = %s or more, or RESET it",
						dataset->name, dp_amount_text(dataset->min_rho, DP_RHO_SCALE),
						dp_amount_text(dataset->min_rho, DP_RHO_SCALE)));
	return rho;
}

int
dp_held_groups(const DpPricedRelease *priced)
{
	foreach_ptr(DpReleaseColumn, column, priced->release->columns)
	{
		if (column->answer == DP_ANSWER_CLIPPED_GROUPS)
			return priced->max_groups + 1;
	}
	return priced->max_groups;
}

/* Refuses declared keys so long that bounding would leave out their rows: the group would pass for an empty one. */
static void
check_key_bytes(DpPricedRelease *priced)
{
	Size		most = dp_most_key_bytes(dp_held_groups(priced));
	Size		longest;

	if (!priced->release->has_unit || !dp_has_groups(priced->release))
		return;
	longest = dp_longest_keys(priced->release, priced->tuples);
	if (longest > most)
		dp_raise(NOT_RELEASABLE,
				 errmsg("the declared keys of a group take up to %zu bytes, more than %zu; group by fewer or shorter keys%s",
						longest, most, most < DP_MOST_KEY_BYTES ? ", or lower dp_cdp.max_groups" : ""),
				 errdetail("Nothing was charged."));
}

/* Settles how many groups and rows of a unit count; returns the number of declared groups, 1 where keys are not. */
static int64
settle_contribution(DpPricedRelease *priced)
{
	DpRelease  *release = priced->release;
	int64		groups;

	priced->max_groups = 1;
	priced->max_rows = 1;
	priced->unit_rows = dp_most_rows(priced->dataset) > 0 ? dp_most_rows(priced->dataset) : USUAL_ROWS;
	if (release->has_unit && !release->is_estimator)
	{
		priced->max_rows = priced->unit_rows;
		if (dp_has_groups(release))
			priced->max_groups = dp_most_groups(priced->dataset) > 0 ? dp_most_groups(priced->dataset) : DP_MOST_UNIT_GROUPS;
	}

	/*
	 * bounding holds units to what the query says, too: should it be wrong,
	 * rows are left out
	 */
	if (release->most_rows > 0)
		priced->max_rows = Min(priced->max_rows, release->most_rows);
	if (release->most_groups > 0)
		priced->max_groups = Min(priced->max_groups, release->most_groups);
	priced->key_groups = Min(priced->max_groups, MOST_KEY_GROUPS);
	priced->groups_guess = priced->nkeys > 0 ? USUAL_GROUPS : 1;
	if (release->selection >= 0)
	{
		priced->tuples = NULL;
		return 1;
	}
	/* nobody can be in more groups than there are */
	if (priced->tuples == dp_tuples_later)
	{
		priced->tuples = NULL;
		if (dp_has_key_tuples(release))
		{
			priced->max_groups = 1;
			return 0;
		}
	}
	groups = dp_declared_groups(release, priced->tuples);
	if (groups < 0)
		return 0;
	priced->max_groups = Max(Min(priced->max_groups, groups), 1);
	priced->groups_guess = (double) groups;
	priced->declared = groups;
	check_key_bytes(priced);
	return groups;
}

/* Settles all columns, at prices if that is not NULL, and what they cost together. */
static void
settle_columns(DpPricedRelease *priced, int64 declared, const int64 *prices, EState *estate)
{
	for (int i = 0; i < priced->ncolumns; i++)
	{
		DpPricedColumn *column = &priced->columns[i];

		column->desc = list_nth(priced->release->columns, i);
		settle_column(column, priced, estate, prices ? prices[i] : 0);
		if (pg_add_s64_overflow(priced->rho, column->rho, &priced->rho) || priced->rho > DP_RHO_MAX)
			dp_raise(BAD_PARAMETER,
					 errmsg("a query of %d aggregates at rho %.12g each costs more than can be accounted for; lower dp_cdp.rho",
							priced->ncolumns, (double) column->rho / DP_RHO_ONE));
	}
	dp_settle_memory(priced, declared);
}

/*
 * Settles the threshold where units have weights.  Let a unit have weights in t groups, up to key_groups.  At most t of them are groups in
 * which nobody else has one, and in each it adds at most 1 / sqrt(t).  So the noise has to stay below the rest of the threshold in t
 * groups, with probability 1 - delta, whatever t is.  A unit may be in more groups than key_groups.  There it has no weight, and groups in
 * which nobody has one are not released, whatever their noise would be (receiver.c:release_group).  With min_units this is of what units
 * weigh without the heaviest ones (min_units.c).  False where none is representable.
 */
static bool
weighted_threshold(DpPricedRelease *priced, const DpPricedColumn *units)
{
	priced->threshold = 0;
	for (int t = 1; t <= priced->key_groups; t++)
	{
		int64		of_noise;
		int64		threshold;

		/* which is for a unit that adds one step */
		if (!dp_threshold(&units->parts[0].variance, t, priced->delta, &of_noise) ||
			pg_add_s64_overflow(of_noise, (int64) ceil((double) units->limits[0] / sqrt(t)), &threshold))
			return false;
		priced->threshold = Max(priced->threshold, threshold);
	}
	return true;
}

/* Settles delta and the threshold of the key selection. */
static void
settle_selection(DpPricedRelease *priced)
{
	const DpPricedColumn *units = &priced->columns[priced->release->selection];

	priced->delta = dp_guc_delta > 0 ? dp_delta_amount(dp_guc_delta, "dp_cdp.delta")
		: priced->dataset->default_delta;
	if (!(units->nlimits > 0 ? weighted_threshold(priced, units)
		  : dp_threshold(&units->parts[0].variance, priced->max_groups, priced->delta, &priced->threshold)) ||
		!dp_raise_threshold(priced))
		dp_raise(BAD_PARAMETER, errmsg("no threshold fits rho and delta of this query; "
									   "raise dp_cdp.rho or dp_cdp.delta, or declare the keys with dp_cdp.set_keys"));
}

/* Writes down aggregates, groups and sigmas as the audit has them. */
static void
audit_texts(DpPricedRelease *priced)
{
	StringInfoData aggregates,
				groups,
				sigmas;

	initStringInfo(&aggregates);
	initStringInfo(&groups);
	initStringInfo(&sigmas);
	for (int i = 0; i < priced->ncolumns; i++)
	{
		appendStringInfo(&aggregates, "%s%s", i > 0 ? ", " : "", priced->columns[i].desc->label);
		appendStringInfoString(&sigmas, i > 0 ? ", " : "");
		/* of a sum it follows from bounds that are found after the debit */
		if (dp_waits_for_limit(&priced->columns[i]))
			appendStringInfoString(&sigmas, "by limit");
		else if (priced->columns[i].found_first && priced->columns[i].parts[0].desc.kind == DP_VALUE_SUM)
			appendStringInfoString(&sigmas, "by bounds");
		else
			appendStringInfo(&sigmas, "%.6g", priced->columns[i].sigma);
	}
	foreach_ptr(DpReleaseKey, key, priced->release->keys)
		appendStringInfo(&groups, "%s%s", groups.len > 0 ? ", " : "",
						 key->label);
	priced->aggregates = aggregates.data;
	if (priced->release->rest_of != NULL)
		appendStringInfo(&groups, "rest of %s", priced->release->rest_keys);
	priced->groups = groups.len > 0 ? groups.data : NULL;
	priced->sigmas = sigmas.data;
}

/* Refuses, ZC004, noise that could not be represented with bounds that may be found. */
static void
check_found(DpPricedRelease *priced, EState *estate)
{
	List	   *columns = priced->release->estimator->columns;
	DpInterval *found = palloc(list_length(columns) * sizeof(DpInterval));

	priced->found = found;
	foreach_ptr(DpReleaseColumn, column, columns)
		found[foreach_current_index(column)] = dp_widest_found(column->input_type);
	dp_settle_found(priced, estate);
	foreach_ptr(const DpReleaseColumn, column, columns)
		found[foreach_current_index(column)] = dp_found_nothing(column);
	dp_settle_found(priced, estate);
	priced->found = NULL;
	dp_settle_found(priced, estate);
}

/* Settles what finding bounds for a release costs; ZC004 where it is off, or a target of accuracy is set. */
static void
price_estimator(DpPricedRelease *priced, EState *estate)
{
	DpRelease  *estimator = priced->release->estimator;
	int			n = list_length(estimator->columns);
	int64	   *prices = palloc(n * sizeof(int64));

	for (int i = 0; i < n; i++)
	{
		const DpReleaseColumn *column = list_nth(estimator->columns, i);
		double		share = column->has_usual ? dp_usual_bounds_share(priced->dataset) : dp_bounds_share(priced->dataset);

		if (share == 0)
			dp_raise(BAD_PARAMETER,
					 errmsg("this query was planned to find %s first; take back what was SET since of dp_cdp.find_bounds and dp_cdp.max_rows, or prepare the query anew",
							column->label));
		prices[i] = Max((int64) rint(Min(share, 1) * (double) priced->column_rho), priced->dataset->min_rho);
	}
	priced->before[DP_FINDS_BOUNDS] = dp_price_release(estimator, estate, prices, NULL);
	check_found(priced, estate);
}

/* Settles what finding limits on norms costs, which is a part of the aggregates' prices; nothing where none is to be found. */
static void
price_limiter(DpPricedRelease *priced, EState *estate)
{
	int64	   *prices = palloc0(list_length(priced->release->limiter->columns) * sizeof(int64));
	bool		finds = false;

	for (int i = 0; i < priced->ncolumns; i++)
	{
		DpPricedColumn *column = &priced->columns[i];

		if (!column->finds_limit)
			continue;
		finds = true;
		prices[column->desc->norm] += dp_limit_price(column, priced);
	}
	if (!finds)
		return;
	priced->before[DP_FINDS_LIMITS] = dp_price_release(priced->release->limiter, estate, prices, NULL);
	priced->before[DP_FINDS_LIMITS]->limits_of = priced;
}

DpPricedRelease *
dp_price_release(DpRelease *release, EState *estate, const int64 *prices, DpKeyTuples **tuples)
{
	DpPricedRelease *priced = palloc0(sizeof(DpPricedRelease));
	int64		declared;

	priced->release = release;
	priced->dataset = dp_policy_dataset(release->dataset);
	priced->tuples = tuples;
	if (tuples != NULL && tuples != dp_tuples_later)
		priced->ranges = tuples + list_length(release->key_sets);
	priced->nkeys = list_length(release->keys);
	priced->ncolumns = list_length(release->columns);
	priced->columns = palloc0(sizeof(DpPricedColumn) * priced->ncolumns);
	priced->column_rho = column_price(priced->dataset);
	dp_check_min_units(priced);
	dp_settle_blocks(priced, estate);
	declared = settle_contribution(priced);
	settle_columns(priced, declared, prices, estate);
	if (release->selection >= 0)
		settle_selection(priced);
	priced->charged_delta = priced->delta;
	if (release->estimator != NULL)
		price_estimator(priced, estate);
	if (release->limiter != NULL)
		price_limiter(priced, estate);
	audit_texts(priced);
	return priced;
}

DpPricedRelease *
dp_price_limits(DpRelease *release, EState *estate, int64 rho, DpKeyTuples **tuples)
{
	int			n = list_length(release->columns);
	int64	   *prices = palloc(n * sizeof(int64));
	DpPricedRelease *priced;

	for (int i = 0; i < n; i++)
		prices[i] = dp_policy_dataset(release->dataset)->default_rho;
	priced = dp_price_release(release, estate, prices, tuples);
	if (priced->before[DP_FINDS_LIMITS] == NULL)
		return NULL;
	Assert(priced->before[DP_FINDS_LIMITS]->ncolumns == 1);
	priced->before[DP_FINDS_LIMITS] = dp_price_release(release->limiter, estate, &rho, NULL);
	priced->before[DP_FINDS_LIMITS]->limits_of = priced;
	priced->limits_alone = true;
	return priced;
}

void
dp_settle_by_pilot(DpPricedRelease *priced, const DpPricedRelease *pilot, EState *estate)
{
	if (pilot->found != NULL)
	{
		priced->found = pilot->found;
		priced->before[DP_FINDS_BOUNDS] = NULL;
		dp_settle_found(priced, estate);
	}
	if (pilot->limits != NULL)
	{
		priced->limits = pilot->limits;
		priced->before[DP_FINDS_LIMITS] = NULL;
		dp_settle_limits(priced);
		for (int i = 0; i < priced->ncolumns; i++)
		{
			priced->columns[i].cut = pilot->columns[i].cut;
			priced->columns[i].cut_doubt = pilot->columns[i].cut_doubt;
		}
	}
	audit_texts(priced);
}

/* Tells whether a column is an answer to which what a unit adds is limited. */
static bool
limits_units(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	return priced->release->has_unit && !priced->release->is_estimator && !column->desc->hidden;
}

bool
dp_cuts_groups(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	bool		is_set = dp_most_groups(priced->dataset) > 0;

	/*
	 * what the query says leaves out no groups; where there may be any number
	 * of them, who has set a limit knows it
	 */
	return is_set && priced->max_groups != priced->release->most_groups && limits_units(priced, column) && dp_has_groups(priced->release) &&
		priced->max_groups < priced->declared;
}

bool
dp_limits_rows(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	return limits_units(priced, column) && dp_most_rows(priced->dataset) > 0 && priced->max_rows != priced->release->most_rows &&
		column->parts[0].desc.kind != DP_VALUE_UNITS &&
		!(column->totals.known && !column->totals_by_rows);
}

bool
dp_knows_cut(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	bool		cuts_groups = dp_most_groups(priced->dataset) > 0 && dp_has_groups(priced->release) &&
	priced->max_groups != priced->release->most_groups && (priced->declared == 0 || priced->max_groups < priced->declared);

	return column->finds_limit && !cuts_groups && !dp_limits_rows(priced, column) && !(column->totals.known && !column->totals_by_rows);
}

bool
dp_bounds_by_rows(const DpPricedColumn *column)
{
	return column->by_rows;
}

bool
dp_has_usual_bounds(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	return dp_most_rows(priced->dataset) == 0 && dp_bounds_by_rows(column);
}

void
dp_price_again(DpPricedRelease *priced, int i, int64 rho)
{
	priced->columns[i].rho = rho;
	settle_noise(&priced->columns[i]);
	priced->rho = 0;
	for (int j = 0; j < priced->ncolumns; j++)
	{
		if (pg_add_s64_overflow(priced->rho, priced->columns[j].rho, &priced->rho))
			priced->rho = DP_RHO_MAX;
	}
	audit_texts(priced);
}

void
dp_set_sigma(DpPricedColumn *column, int part, double steps)
{
	column->parts[part].sigma = steps * column->parts[part].step;
	column->sigma = column->parts[0].sigma;
}

void
dp_price_increment(DpPricedColumn *increment, const DpPricedColumn *column, int64 rho)
{
	*increment = *column;
	increment->parts = palloc(column->nparts * sizeof(DpPricedPart));
	memcpy(increment->parts, column->parts, column->nparts * sizeof(DpPricedPart));
	increment->rho = rho;
	settle_noise(increment);
}

int64
dp_total_rho(const DpPricedRelease *priced)
{
	int64		rho = priced->rho;

	/* the price of a release is at most DP_RHO_MAX: no overflow */
	for (DpBefore b = 0; b < DP_BEFORES; b++)
		rho += priced->before[b] ? priced->before[b]->rho : 0;
	return rho;
}

/* Names the protected tables of a release, for the audit. */
static char *
table_names(DpRelease *release)
{
	StringInfoData names;

	initStringInfo(&names);
	foreach_oid(relid, release->relids)
	{
		char	   *name = get_rel_name(relid);
		char	   *schema = get_namespace_name(get_rel_namespace(relid));

		if (name != NULL && schema != NULL)
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", quote_qualified_identifier(schema, name));
	}
	return names.data;
}

DpDebitItem *
dp_priced_debit(DpPricedRelease *priced)
{
	DpDebitItem *item = palloc0(sizeof(DpDebitItem));

	item->dataset = priced->dataset->name;
	item->rho = priced->rho;
	item->delta = priced->delta;
	item->aggregates = priced->aggregates;
	item->groups = priced->groups;
	item->sigma = priced->sigmas;
	item->tables = table_names(priced->release);
	item->has_days = priced->has_days;
	item->days = priced->days;
	return item;
}
