/*-------------------------------------------------------------------------
 *
 * pilot.c
 *	  Prices from a wanted accuracy: dp_cdp.target_error.
 *
 * A target is half the width of a 95 % interval: absolute ('25'), or relative
 * to the answer ('5%').  Where the noise of an aggregate does not depend on
 * rows (counts, sums, histograms) an absolute target gives its price at once, unless bounds or limits are to be found.
 * All else needs a pilot: the same query is released within, at a tenth of the
 * usual price, its answers are not shown, and from them follows which price the
 * target needs (a selection of keys at its usual price, so that the pilot sees
 * the groups that will be shown).  The pilot is charged, too: its price and the
 * price that follows from it compose (zCDP composes adaptively).  Bounds and limits that the pilot has found hold after it, too.
 *
 * With several groups the target is met by the group in the middle: the
 * median over groups of what each of them would need.  A price is never above
 * the dataset's max_rho, nor above 100 times the usual price, and never below
 * its min_rho, which also holds for the pilot.  After a pilot it has a floor,
 * too, whose noise was found representable before the pilot.
 *
 * Invariants:
 * - A price depends on the query, the settings, the policy and on noisy values
 *	 that were paid for; not on rows.
 * - The memory of a pilot outlives the rows and the run that it came from, and
 *	 does not grow with the number of groups.
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
#include "base/settings.h"
#include "catalog/pg_type.h"
#include "math/normal.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/lsyscache.h"

/* the factor on the usual price that a target may cost at most, where the dataset has no max_rho */
#define DP_MAX_TARGET_FACTOR 100

/* the usual price divided by the price of a pilot */
#define DP_PILOT_SHARE 10

/* the pilot's price divided by the least price of a sum or count after it */
#define DP_FLOOR_SHARE 100

bool
dp_error_varies(const DpReleaseColumn *column)
{
	return column->answer != DP_ANSWER_SUM && column->answer != DP_ANSWER_HISTOGRAM;
}

static double
margin_factor(void)
{
	return dp_normal_tail_inverse(0.025);
}

/* Tells whether the target speaks of this column: not of bounds of values, which value is most frequent, nor, as a share, of a date. */
static bool
has_target(const DpReleaseColumn *column)
{
	Oid			type = get_base_element_type(column->result_type);

	if (!OidIsValid(type))
		type = column->result_type;
	if (dp_guc_target_is_relative && (type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID))
		return false;
	return !column->hidden && column->answer != DP_ANSWER_BOUNDS && column->answer != DP_ANSWER_MODE;
}

static bool
column_needs_pilot(const DpReleaseColumn *column, const DpDataset *dataset, const DpRelease *release)
{
	return has_target(column) &&
		(dp_guc_target_is_relative || dp_error_varies(column) || dp_finds_bounds(column) || dp_finds_limits(column, dataset, release));
}

bool
dp_target_needs_pilot(const DpRelease *release)
{
	const DpDataset *dataset;

	if (dp_guc_target <= 0)
		return false;
	dataset = dp_policy_dataset(release->dataset);
	foreach_ptr(const DpReleaseColumn, column, release->columns)
	{
		if (column_needs_pilot(column, dataset, release))
			return true;
	}
	return false;
}

static int64
greatest_price(const DpDataset *dataset, int64 usual)
{
	int64		most = usual > DP_RHO_MAX / DP_MAX_TARGET_FACTOR ? DP_RHO_MAX : usual * DP_MAX_TARGET_FACTOR;

	return dataset->max_rho > 0 ? Min(most, dataset->max_rho) : most;
}

/* Returns the amount rounded up, or most + 1 if that is more than most. */
static int64
price_amount(double amount, int64 most)
{
	if (!(amount < (double) most))
		return most + 1;
	return Max((int64) ceil(amount * (1 + 1e-12)), 1);
}

/*
 * Returns the price at which a sum or count meets an absolute target: its
 * noise has sigma = sqrt(sens2 / (2 rho)) steps.
 */
int64
dp_target_price(const DpPricedRelease *priced, const DpReleaseColumn *column, dp_u128 sens2, double step, int64 usual)
{
	int64		most = greatest_price(priced->dataset, usual);
	double		sigma;
	int64		price;

	if (dp_guc_target <= 0 || !has_target(column) || column_needs_pilot(column, priced->dataset, priced->release))
		return 0;
	sigma = dp_guc_target / margin_factor() / step;
	price = price_amount((double) sens2 / (2 * sigma * sigma) * DP_RHO_ONE, most);
	if (price > most)
		dp_raise(BAD_PARAMETER,
				 errmsg("a margin of %g for %s needs more than rho %.12g, an aggregate's greatest price; SET dp_cdp.target_error to at least %.3g",
						dp_guc_target, column->label, (double) most / DP_RHO_ONE,
		/* so that it is still possible when it is rounded */
						1.0051 * step * margin_factor() * sqrt((double) sens2 / (2.0 * most / DP_RHO_ONE))));
	return Max(price, priced->dataset->min_rho);
}

/* ------------------------------------------------------------------------
 * Pilot
 * ------------------------------------------------------------------------
 */

/* of more groups only every second, every fourth and so on counts */
#define MAX_FACTORS 16384

/* the factor on the pilot's price that each group, or every stride-th, would need */
typedef struct DpNeeds
{
	bool		wanted;
	int64		seen;			/* groups */
	int64		stride;
	int			n;
	double	   *factor;			/* [MAX_FACTORS] */
} DpNeeds;

typedef struct DpPilot
{
	MemoryContext context;
	int			ncolumns;
	int64	   *prices;			/* what the pilot costs */
	int64	   *floors;			/* the least that may follow */
	DpNeeds    *needs;			/* for each column */
} DpPilot;

DpPilot *
dp_pilot_create(const DpRelease *release, const DpPricedRelease *usual)
{
	DpPilot    *pilot = palloc0(sizeof(DpPilot));

	pilot->context = CurrentMemoryContext;
	pilot->ncolumns = list_length(release->columns);
	pilot->prices = palloc(pilot->ncolumns * sizeof(int64));
	pilot->floors = palloc(pilot->ncolumns * sizeof(int64));
	pilot->needs = palloc0(pilot->ncolumns * sizeof(DpNeeds));
	for (int i = 0; i < pilot->ncolumns; i++)
	{
		const DpReleaseColumn *column = usual->columns[i].desc;

		/*
		 * the usual price, not one that a target has set: there may be no
		 * pilot of that
		 */
		pilot->prices[i] = Max(usual->column_rho / DP_PILOT_SHARE, usual->dataset->min_rho);
		pilot->floors[i] = pilot->prices[i];
		pilot->needs[i].wanted = column_needs_pilot(column, usual->dataset, release);
		if (i == release->selection)

			/*
			 * key selection keeps its usual price, in the pilot and after it,
			 * so that the same groups pass
			 */
			pilot->prices[i] = pilot->floors[i] = usual->columns[i].rho;
		else if (!pilot->needs[i].wanted)
			pilot->floors[i] = usual->columns[i].rho;
		else if (!dp_error_varies(column))

			/*
			 * the error of a sum follows its price exactly; others are
			 * estimated near the pilot's
			 */
			pilot->floors[i] = Max(pilot->prices[i] / DP_FLOOR_SHARE, usual->dataset->min_rho);
	}
	return pilot;
}

char *
dp_pilot_label(const char *aggregates)
{
	return psprintf("pilot: %s", aggregates);
}

const int64 *
dp_pilot_prices(const DpPilot *pilot)
{
	return pilot->prices;
}

void
dp_pilot_set_price(DpPilot *pilot, int i, int64 rho)
{
	pilot->prices[i] = rho;
}

const int64 *
dp_pilot_floors(const DpPilot *pilot)
{
	return pilot->floors;
}

/* Adds an answer that the pilot has released in column i; NaN where the answer is not one number. */
void
dp_pilot_add(DpPilot *pilot, int i, double value, double stddev)
{
	DpNeeds    *needs = &pilot->needs[i];
	double		wanted = dp_guc_target_is_relative ? dp_guc_target * fabs(value) : dp_guc_target;

	if (!needs->wanted || isnan(value) || isnan(stddev))
		return;
	if (needs->factor == NULL)
	{
		needs->factor = MemoryContextAlloc(pilot->context, MAX_FACTORS * sizeof(double));
		needs->stride = 1;
	}
	if (needs->seen++ % needs->stride != 0)
		return;
	if (needs->n == MAX_FACTORS)
	{
		for (int at = 0; at < MAX_FACTORS / 2; at++)
			needs->factor[at] = needs->factor[2 * at];
		needs->n = MAX_FACTORS / 2;
		needs->stride *= 2;
	}
	/* an answer that vanishes in the noise would need any price */
	needs->factor[needs->n++] = wanted > 0 ? pow(margin_factor() * stddev / wanted, 2) : INFINITY;
}

static int
compare_factors(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return x < y ? -1 : x > y;
}

/* Returns the final price of each column, as amounts of rho. */
const int64 *
dp_pilot_settle(DpPilot *pilot, const DpPricedRelease *usual)
{
	int64	   *prices = palloc(pilot->ncolumns * sizeof(int64));
	int64		most = greatest_price(usual->dataset, usual->column_rho);

	for (int i = 0; i < pilot->ncolumns; i++)
	{
		DpNeeds    *needs = &pilot->needs[i];
		int64		price;

		prices[i] = usual->columns[i].rho;
		if (needs->n == 0)
			continue;
		qsort(needs->factor, needs->n, sizeof(double), compare_factors);
		price = price_amount(needs->factor[needs->n / 2] * pilot->prices[i], most);
		prices[i] = Max(Min(price, most), pilot->floors[i]);
		pfree(needs->factor);
		needs->factor = NULL;
	}
	return prices;
}
