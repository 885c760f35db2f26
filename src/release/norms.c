/*-------------------------------------------------------------------------
 *
 * norms.c
 *	  The norm to which what a unit adds to all groups is limited: what it may
 *	  be, what finding it costs, and the sensitivity that follows.
 *
 * A norm is limited to a number of rows, for sums times the larger bound of a
 * row (dp_cdp.max_contribution), or to what is found: a histogram of units' norms, in
 * which each unit is in one bin, is released within, before the answers
 * and for a share of their price, and the limit is chosen by it
 * (found_limits.c).  The histogram is the answer of the release's limiter, a
 * release without an inner query: rows are read once, and what they add up to
 * waits for the limit (norm_rows.c).
 *
 * The guard has settled, when the query was planned, which columns have a
 * norm.  Where max_groups and max_rows are set when it runs, and
 * max_contribution is not, these alone limit it.
 *
 * Squared L2 sensitivity of a column that is limited to a norm of C: C^2 if a
 * unit is added or removed.  If one is replaced it is the square of the difference of two vectors
 * of norm C: (2 C)^2, where all contributions have one sign 2 C^2, and of
 * one group C^2.  A number of distinct values is no sum of what units add, but who comes or goes changes it by such a vector.
 * Theorems of agg/bounding/norms.c.  Where max_groups and max_rows are set, too,
 * the smaller one holds (price.c).
 *
 * A histogram of norms does not tell how many distinct values a limit cuts, as others may have those of heavy units.  So the
 * limiter probes a few limits P.  Each probe is the Euclidean norm, over all groups, of their numbers of distinct values under P.
 * Theorem.  In steps of P / 2^DP_PROBE_SHIFT, rounded down, a probe changes by at most 2^DP_PROBE_SHIFT if a unit is added, removed or replaced.
 * Proof.  Let x be the vector of all groups' numbers without the unit, and x + a, x + b those with two versions of it.  Neither a nor b has
 * negative numbers, and their norms are at most P (agg/bounding/norms.c).  So the norms of all three are between |x| and |x| + P.  If two
 * numbers differ by at most an integer, so do their floors.  P in steps of the count is one, and 2^DP_PROBE_SHIFT after the division.  []
 * A unit counts 2^DP_PROBE_SHIFT in the histogram, too.  So the squared sensitivity of both, in these steps, is that of the histogram plus
 * DP_PROBES, times 2^(2 DP_PROBE_SHIFT).
 *
 * A count of units that selects keys is limited to a norm of 1: who is in n groups has a weight of
 * 1 / sqrt(n) in each (Gopi, Gulhane, Kulkarni, Shen, Shokouhi, Yekhanin 2020, "Differentially Private Set Union": weighted Gaussian).
 * The threshold is price.c's.
 *
 * Invariants:
 * - What a limit costs is settled before rows are read, and depends on prices
 *	 alone.
 * - A limit that is found is a function of noisy counts that were paid for; it is known before
 *	 any noise is drawn for an answer that follows from it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/settings.h"
#include "math/norm_limit.h"
#include "release/release.h"
#include "release/release_int.h"

/* limits are a fourth of a power of two apart */
#define LIMITS_BY_BIN 4

/* the bins of the histogram end at powers of two: of rows ... */
#define FIRST_OF_ROWS 0
#define LAST_OF_ROWS 20

/* ... or of the larger bound, which may be far too wide */
#define FIRST_OF_SUMS (-8)
#define LAST_OF_SUMS 16

StaticAssertDecl(LAST_OF_SUMS - FIRST_OF_SUMS < DP_NORM_BINS && LAST_OF_ROWS - FIRST_OF_ROWS < DP_NORM_BINS,
				 "a histogram of norms has more bins than fit");
StaticAssertDecl(LAST_OF_ROWS - FIRST_OF_ROWS + DP_PROBES < DP_NORM_BINS, "probes have no room beside a histogram of norms of rows");
StaticAssertDecl(LIMITS_BY_BIN * (LAST_OF_SUMS - FIRST_OF_SUMS) < DP_MAX_NORM_LIMITS, "a norm has more limits than fit");

/* a row of a count is 2^28 steps, 2^4 times those of centered values */
#define COUNT_SHIFT 28
#define CENTERED_SHIFT (COUNT_SHIFT - DP_CENTERED_BITS)

int
dp_most_groups(const DpDataset *dataset)
{
	return dp_guc_max_groups > 0 ? dp_guc_max_groups : dataset->max_groups;
}

int
dp_most_rows(const DpDataset *dataset)
{
	return dp_guc_max_rows > 0 ? dp_guc_max_rows : dataset->max_rows;
}

/* Returns to how many rows the norm is limited; DP_FOUND_CONTRIBUTION: that is found; 0: it is not, as max_groups and max_rows are. */
static double
contribution_of(const DpDataset *dataset, const DpRelease *release)
{
	if (dp_guc_max_contribution != 0)
		return dp_guc_max_contribution;
	if (dataset->max_contribution != 0)
		return dataset->max_contribution;
	return dp_most_rows(dataset) == 0 || (dp_has_groups(release) && dp_most_groups(dataset) == 0) ? DP_FOUND_CONTRIBUTION : 0;
}

bool
dp_limits_norms(const DpDataset *dataset, const DpRelease *release)
{
	return contribution_of(dataset, release) != 0;
}

static bool
is_sum(const DpPricedColumn *column)
{
	return column->desc->answer == DP_ANSWER_SUM && column->desc->kind == DP_VALUE_SUM;
}

static bool
has_codes(const DpPricedColumn *column)
{
	return dp_is_histogram(&column->parts[0]);
}

/* Returns a norm in steps as a limit, which is a multiple of DP_NORM_UNIT: no unit with just this norm is cut. */
static int64
limit_of(double steps)
{
	double		units = ceil(steps / (double) DP_NORM_UNIT);

	return (int64) Min(Max(units, 1), (double) (DP_MOST_NORM / DP_NORM_UNIT)) * DP_NORM_UNIT;
}

/* Adds a limit, in rows or at the larger bound, unless it is there, or more than there may be. */
static void
add_limit(DpPricedColumn *column, double norm)
{
	int64		limit = limit_of(norm * column->norm_unit);

	if (norm * column->norm_unit <= (double) DP_MOST_NORM &&
		(column->nlimits == 0 || limit > column->limits[column->nlimits - 1]))
		column->limits[column->nlimits++] = limit;
}

/* Sets what the norm may be held to: few rows have few norms, which are limits themselves. */
static void
add_limits(DpPricedColumn *column)
{
	static const double rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 25, 36, 49};
	int			first = LIMITS_BY_BIN * (is_sum(column) ? FIRST_OF_SUMS : FIRST_OF_ROWS);
	int			last = LIMITS_BY_BIN * (is_sum(column) ? LAST_OF_SUMS : LAST_OF_ROWS);
	int			next = 0;

	for (int i = first; i <= last; i++)
	{
		double		norm = exp2((double) i / LIMITS_BY_BIN);

		/* histograms are large, and each bin of norms has its own */
		if (has_codes(column) && i % LIMITS_BY_BIN != 0)
			continue;
		while (!is_sum(column) && !has_codes(column) && next < lengthof(rows) && sqrt(rows[next]) <= norm * (1 + 1e-9))
			add_limit(column, sqrt(rows[next++]));
		if (is_sum(column) || has_codes(column) || norm > 4)
			add_limit(column, norm);
	}
}

/* Returns the steps, before they are shifted, that a row counts for at most in the part that a column's norm is of. */
static int64
most_of_row(const DpPricedColumn *column)
{
	const DpPricedPart *part = &column->parts[0];

	if (part->desc.kind != DP_VALUE_SUM)
		return 1;
	return Max(Max(part->row.upper, -part->row.lower), 1);
}

/* rows: to how many the norm is limited, which fit into the largest norm, with coarser steps if need be; 0: not known */
static int
shift_of(const DpPricedColumn *column, const DpPricedPart *part, double rows)
{
	int			shift = 0;

	if (part->desc.kind == DP_VALUE_SCALED)
		return CENTERED_SHIFT;
	if (part->desc.kind != DP_VALUE_SUM)
		return COUNT_SHIFT;
	/* so that the larger bound is 2^31 steps at least */
	while (shift < 31 && most_of_row(column) << shift < INT64CONST(1) << 31 &&
		   rows * ldexp((double) most_of_row(column), shift + 1) <= (double) DP_MOST_NORM)
		shift++;
	return shift;
}

void
dp_settle_norm(DpPricedColumn *column, const DpPricedRelease *priced)
{
	double		rows = contribution_of(priced->dataset, priced->release);
	double		unit;

	column->nlimits = 0;
	column->limit = -1;
	if (column->desc->norm < 0 || rows == 0)
		return;
	for (int i = 0; i < column->nparts; i++)
		column->parts[i].shift = shift_of(column, &column->parts[i], Max(rows, 0));
	unit = ldexp((double) most_of_row(column), column->parts[0].shift);
	column->norm_unit = unit;
	/* whoever is in n groups counts 1 / sqrt(n) in each */
	if (column->desc->weighs)
		rows = 1;
	if (column->desc->weighs && dp_min_units(priced) > 1)
	{
		/* the first one limits; the others tell in how many groups a unit is */
		for (int t = 1; t <= priced->key_groups; t++)
			column->limits[column->nlimits++] = limit_of((double) dp_norm_of_groups(column, t));
		column->limit = 0;
		return;
	}
	if (rows > 0)
	{
		column->nlimits = 1;
		column->limits[0] = limit_of(rows * unit);
		column->limit = 0;
		return;
	}
	column->finds_limit = true;
	add_limits(column);
	if (priced->limits != NULL)
		column->limit = Min(priced->limits[column->desc->norm], column->nlimits - 1);
}

dp_u128
dp_norm_sensitivity(const DpPricedColumn *column, const DpPricedPart *part, DpNeighbors neighbors, bool grouped)
{
	/*
	 * that of the least one where it is to be found: dp_settle_limits comes
	 * again
	 */
	dp_u128		limit = column->limits[Max(column->limit, 0)];
	bool		one_sign = dp_is_histogram(part) ||
	(part->desc.kind != DP_VALUE_SCALED && (part->grid.lower >= 0 || part->grid.upper <= 0));

	if (neighbors == DP_ADD_REMOVE)
		return limit * limit;
	if (one_sign)
		return (grouped ? 2 : 1) * limit * limit;
	return 4 * limit * limit;
}

/* ------------------------------------------------------------------------
 * Prices
 * ------------------------------------------------------------------------
 */

bool
dp_is_weighted(const DpReleaseColumn *column)
{
	switch (column->answer)
	{
		case DP_ANSWER_MOMENTS:
		case DP_ANSWER_QUANTILE:
		case DP_ANSWER_MIN:
		case DP_ANSWER_MAX:
		case DP_ANSWER_CLIPPED:
		case DP_ANSWER_CLIPPED_TOTALS:
			return true;
		default:
			return false;
	}
}

int64
dp_limit_price(const DpPricedColumn *column, const DpPricedRelease *priced)
{
	double		rho = (double) priced->column_rho;

	if (!column->finds_limit)
		return 0;
	return Max((int64) rint(dp_norms_share(rho / DP_RHO_ONE, priced->groups_guess, dp_is_weighted(column->desc)) * rho), 1);
}

int64
dp_price_by_limit(const DpPricedColumn *column, const DpPricedRelease *priced, int64 rho)
{
	bool		is_weighted = dp_is_weighted(column->desc);
	double		price = (double) rho;

	/*
	 * the share falls slowly as the price rises, so that each step leaves a
	 * fifth of the error
	 */
	for (int i = 0; i < 20; i++)
		price = (double) rho / Max(dp_norms_share(price / DP_RHO_ONE, priced->groups_guess, is_weighted), 0.001);
	return (int64) Min(Max(price - (double) rho, (double) rho), (double) DP_RHO_MAX);
}

/* ------------------------------------------------------------------------
 * Probes
 * ------------------------------------------------------------------------
 */

/* the limits that are probed: a low one has little noise, and the highest tells whether that cuts much */
static const double probe_limits[DP_PROBES] = {1, 4, 16};

StaticAssertDecl(DP_PROBES <= DP_MOST_PROBES, "a limit on distinct values is chosen by fewer numbers");

bool
dp_has_probes(const DpPricedColumn *column)
{
	return column->parts[0].desc.kind == DP_VALUE_DISTINCT && column->finds_limit;
}

int
dp_first_probe(void)
{
	return DP_NORM_BINS - DP_PROBES;
}

int
dp_probe_limit(const DpPricedColumn *column, int probe)
{
	int64		wanted = limit_of(probe_limits[probe] * column->norm_unit);

	for (int i = 0; i < column->nlimits; i++)
		if (column->limits[i] == wanted)
			return i;
	elog(ERROR, "a norm has no limit of %g", probe_limits[probe]);
}

/* ------------------------------------------------------------------------
 * Bins
 * ------------------------------------------------------------------------
 */

int
dp_norm_bins(void)
{
	return DP_NORM_BINS;
}

int
dp_first_norm(const DpPricedColumn *column, int *bins)
{
	*bins = is_sum(column) ? LAST_OF_SUMS - FIRST_OF_SUMS + 1 : LAST_OF_ROWS - FIRST_OF_ROWS + 1;
	return is_sum(column) ? FIRST_OF_SUMS : FIRST_OF_ROWS;
}

int
dp_norm_bin(const DpPricedColumn *column, int64 bin)
{
	int			bins;
	int			first = dp_first_norm(column, &bins);
	int			place;

	if (bin >= column->nlimits)
		return bins - 1;
	/* of the powers of two that are limits no bit is rounded */
	place = (int) ceil(log2((double) column->limits[bin] / column->norm_unit) - 1e-9) - first;
	return Min(Max(place, 0), bins - 1);
}

bool
dp_finds_limits(const DpReleaseColumn *column, const DpDataset *dataset, const DpRelease *release)
{
	return column->norm >= 0 && !column->weighs && contribution_of(dataset, release) == DP_FOUND_CONTRIBUTION;
}

DpPricedColumn *
dp_column_with_norm(const DpPricedRelease *priced, int norm)
{
	for (int i = 0; i < priced->ncolumns; i++)
	{
		if (priced->columns[i].desc->norm == norm)
			return &priced->columns[i];
	}
	elog(ERROR, "nothing has norm %d", norm);
}
