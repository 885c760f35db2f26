/*-------------------------------------------------------------------------
 *
 * pilot.c
 *	  Prices from a wanted accuracy: dp_cdp.target_error.
 *
 * A target is half the width of a 95 % interval: absolute ('25'), or relative
 * to the answer ('5%').  Where the noise of an aggregate does not depend on
 * rows (counts, sums, histograms) an absolute target gives its price at once.
 * All else needs a first look: the same query is released within, at a tenth
 * of the usual price, its answers are not shown, and from them follows which
 * price the target needs (a selection of keys at its usual price, so that the
 * look sees the groups that will be shown).  The look is charged, too: what it
 * costs and what follows from it compose (zCDP composes adaptively).
 *
 * With several groups the target is met by the group in the middle: the
 * median over groups of what each of them would need.  A price is never above
 * the dataset's max_rho, nor above 100 times the usual price, and never below
 * its min_rho, which also holds for the look.  After a look it has a floor,
 * too, whose noise was found representable before the look.
 *
 * Invariants:
 * - A price depends on the query, the settings, the policy and on noisy values
 *	 that were paid for; not on rows.
 * - What a look remembers outlives the rows and the run that it came from.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/errors.h"
#include "base/settings.h"
#include "catalog/pg_type.h"
#include "math/normal.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/lsyscache.h"

/* how much more than usual a target may cost, where the dataset has no max_rho */
#define DP_MAX_TARGET_FACTOR 100

/* the share of the usual price that a first look costs */
#define DP_PILOT_SHARE 10

/* the share of the look's price below which no total is released after it */
#define DP_FLOOR_SHARE 100

bool
dp_error_varies(const DpReleaseColumn *column)
{
	return column->answer != DP_ANSWER_TOTAL && column->answer != DP_ANSWER_HISTOGRAM;
}

static double
margin_factor(void)
{
	return dp_normal_tail_inverse(0.025);
}

/* bounds of values are not of the kind that a target speaks of, nor is a share of a date */
static bool
has_target(const DpReleaseColumn *column)
{
	Oid			type = get_base_element_type(column->result_type);

	if (!OidIsValid(type))
		type = column->result_type;
	if (dp_guc_target_is_relative && (type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID))
		return false;
	return !column->hidden && column->answer != DP_ANSWER_BOUNDS;
}

static bool
column_needs_look(const DpReleaseColumn *column)
{
	return has_target(column) &&
		(dp_guc_target_is_relative || dp_error_varies(column));
}

bool
dp_target_needs_pilot(const DpRelease *release)
{
	ListCell   *lc;

	if (dp_guc_target <= 0)
		return false;
	foreach(lc, release->columns)
		if (column_needs_look(lfirst(lc)))
			return true;
	return false;
}

static int64
greatest_price(const DpDataset *dataset, int64 usual)
{
	int64		most = usual > DP_RHO_MAX / DP_MAX_TARGET_FACTOR ? DP_RHO_MAX : usual * DP_MAX_TARGET_FACTOR;

	return dataset->max_rho > 0 ? Min(most, dataset->max_rho) : most;
}

/* rounded up; more than most: most + 1 */
static int64
price_units(double units, int64 most)
{
	if (!(units < (double) most))
		return most + 1;
	return Max((int64) ceil(units * (1 + 1e-12)), 1);
}

/*
 * What a total must cost for an absolute target: sigma = sqrt(sens2 / (2 rho))
 * grid units.  0: no target for it, or only after a look.
 */
int64
dp_target_price(const DpPricedRelease *frozen, const DpReleaseColumn *column, dp_u128 sens2, double unit, int64 usual)
{
	int64		most = greatest_price(frozen->dataset, usual);
	double		sigma;
	int64		price;

	if (dp_guc_target <= 0 || !has_target(column) || column_needs_look(column))
		return 0;
	sigma = dp_guc_target / margin_factor() / unit;
	price = price_units((double) sens2 / (2 * sigma * sigma) * DP_RHO_ONE, most);
	if (price > most)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("a margin of %g for %s needs more than rho %.12g, the most that one aggregate may cost; "
						"ask for a margin of at least %.3g with dp_cdp.target_error",
						dp_guc_target, column->label, (double) most / DP_RHO_ONE,
						/* so that it is still possible when it is rounded */
						1.0051 * unit * margin_factor() * sqrt((double) sens2 / (2.0 * most / DP_RHO_ONE)))));
	return Max(price, frozen->dataset->min_rho);
}

/* ------------------------------------------------------------------------
 * First look
 * ------------------------------------------------------------------------
 */

/* what each group would need: a factor on the look's price */
typedef struct DpNeeds
{
	bool		wanted;
	int64		n;
	int64		size;
	double	   *factor;
} DpNeeds;

typedef struct DpPilot
{
	MemoryContext context;
	int			ncolumns;
	int64	   *prices;			/* of the look */
	int64	   *floors;			/* the least that may follow */
	DpNeeds    *needs;			/* of each column */
} DpPilot;

DpPilot *
dp_pilot_create(const DpRelease *release, const DpPricedRelease *usual)
{
	DpPilot	   *look = palloc0(sizeof(DpPilot));

	look->context = CurrentMemoryContext;
	look->ncolumns = list_length(release->columns);
	look->prices = palloc(look->ncolumns * sizeof(int64));
	look->floors = palloc(look->ncolumns * sizeof(int64));
	look->needs = palloc0(look->ncolumns * sizeof(DpNeeds));
	for (int i = 0; i < look->ncolumns; i++)
	{
		const DpReleaseColumn *column = usual->columns[i].column;

		/* the usual price, not one that a target has set: it may not be looked at */
		look->prices[i] = Max(usual->column_rho / DP_PILOT_SHARE, usual->dataset->min_rho);
		look->floors[i] = look->prices[i];
		look->needs[i].wanted = column_needs_look(column);
		if (i == release->selection)
			/* groups that are seen usually must be seen, now and then */
			look->prices[i] = look->floors[i] = usual->columns[i].rho;
		else if (!look->needs[i].wanted)
			look->floors[i] = usual->columns[i].rho;
		else if (!dp_error_varies(column))
			/* the error of a total follows its price exactly; others are estimated near the look's */
			look->floors[i] = Max(look->prices[i] / DP_FLOOR_SHARE, usual->dataset->min_rho);
	}
	return look;
}

char *
dp_pilot_label(const char *aggregates)
{
	return psprintf("first look: %s", aggregates);
}

const int64 *
dp_pilot_prices(const DpPilot *look)
{
	return look->prices;
}

const int64 *
dp_pilot_floors(const DpPilot *look)
{
	return look->floors;
}

/* value and stddev: as released by the look; NaN where the answer is not one number */
void
dp_pilot_add(DpPilot *look, int i, double value, double stddev)
{
	DpNeeds    *needs = &look->needs[i];
	double		wanted = dp_guc_target_is_relative ? dp_guc_target * fabs(value) : dp_guc_target;

	if (!needs->wanted || isnan(value) || isnan(stddev))
		return;
	if (needs->n == needs->size)
	{
		needs->size = Max(2 * needs->size, 64);
		needs->factor = needs->factor
			? repalloc_huge(needs->factor, needs->size * sizeof(double))
			: MemoryContextAlloc(look->context, needs->size * sizeof(double));
	}
	/* what vanishes in the noise would need any price */
	needs->factor[needs->n++] = wanted > 0 ? pow(margin_factor() * stddev / wanted, 2) : INFINITY;
}

static int
compare_factors(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return x < y ? -1 : x > y;
}

/* the final price of each column */
const int64 *
dp_pilot_settle(DpPilot *look, const DpPricedRelease *usual)
{
	int64	   *prices = palloc(look->ncolumns * sizeof(int64));
	int64		most = greatest_price(usual->dataset, usual->column_rho);

	for (int i = 0; i < look->ncolumns; i++)
	{
		DpNeeds    *needs = &look->needs[i];
		int64		price;

		prices[i] = usual->columns[i].rho;
		if (needs->n == 0)
			continue;
		qsort(needs->factor, needs->n, sizeof(double), compare_factors);
		price = price_units(needs->factor[needs->n / 2] * look->prices[i], most);
		prices[i] = Max(Min(price, most), look->floors[i]);
		pfree(needs->factor);
		needs->factor = NULL;
	}
	return prices;
}
