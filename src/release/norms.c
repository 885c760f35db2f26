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
 * one group C^2.  Theorem of agg/bounding/norms.c.  Where max_groups and max_rows are set, too,
 * the smaller one holds (price.c).
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

#include "base/amounts.h"
#include "base/errors.h"
#include "base/noise.h"
#include "base/settings.h"
#include "math/norm_limit.h"
#include "release/release.h"
#include "release/release_int.h"

/*
 * Limits are a fourth of a power of two apart, from 2^first_exponent times what a
 * row counts for at most.
 */
#define LIMITS_BY_BIN 4
#define LIMITS (LIMITS_BY_BIN * (DP_NORM_BINS - 2) + 1)

StaticAssertDecl(LIMITS <= DP_MAX_NORM_LIMITS, "a norm has more limits than fit");

/* a row of a count is 2^24 steps, as centered values have */
#define COUNT_SHIFT DP_CENTERED_BITS

static double
contribution_of(const DpDataset *dataset)
{
	return dp_guc_max_contribution != 0 ? dp_guc_max_contribution : dataset->max_contribution;
}

bool
dp_limits_norms(const DpDataset *dataset, bool grouped)
{
	return contribution_of(dataset) != 0;
}

/* Returns the exponent of the least limit, in rows or in values at the larger bound: bounds may be far too wide. */
static int
first_exponent(const DpReleaseColumn *column)
{
	return column->answer == DP_ANSWER_SUM && column->kind == DP_VALUE_SUM ? -7 : 0;
}

/* Returns a norm in steps as a limit, which is a multiple of DP_NORM_UNIT. */
static int64
limit_of(double steps)
{
	double		units = rint(steps / (double) DP_NORM_UNIT);

	return (int64) Min(Max(units, 1), (double) (DP_MOST_NORM / DP_NORM_UNIT)) * DP_NORM_UNIT;
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

static int
shift_of(const DpPricedColumn *column, const DpPricedPart *part)
{
	int			shift = 0;

	if (part->desc.kind == DP_VALUE_SCALED)
		return 0;
	if (part->desc.kind != DP_VALUE_SUM)
		return COUNT_SHIFT;
	/* so that the larger bound is 2^31 steps at least */
	while (shift < 31 && most_of_row(column) << shift < INT64CONST(1) << 31)
		shift++;
	return shift;
}

void
dp_settle_norm(DpPricedColumn *column, const DpPricedRelease *priced)
{
	double		rows = contribution_of(priced->dataset);
	double		unit;

	column->nlimits = 0;
	column->limit = -1;
	if (column->desc->norm < 0 || rows == 0)
		return;
	for (int i = 0; i < column->nparts; i++)
		column->parts[i].shift = shift_of(column, &column->parts[i]);
	unit = ldexp((double) most_of_row(column), column->parts[0].shift);
	column->norm_unit = unit;
	if (rows > 0)
	{
		column->nlimits = 1;
		column->limits[0] = limit_of(rows * unit);
		column->limit = 0;
		return;
	}
	column->finds_limit = true;
	column->least_exponent = first_exponent(column->desc);
	for (int i = 0; i < LIMITS; i++)
	{
		double		steps = unit * exp2(column->least_exponent + (double) i / LIMITS_BY_BIN);

		if (steps > (double) DP_MOST_NORM)
			break;
		column->limits[column->nlimits++] = limit_of(steps);
	}
	if (priced->limits != NULL)
		column->limit = Min(priced->limits[column->desc->norm], column->nlimits - 1);
}

dp_u128
dp_norm_sensitivity(const DpPricedColumn *column, const DpPricedPart *part, DpNeighbors neighbors, bool grouped)
{
	/* that of the least one where it is to be found: dp_settle_norm_noise comes again */
	dp_u128		limit = column->limits[Max(column->limit, 0)];
	bool		one_sign = part->desc.kind != DP_VALUE_SCALED && (part->grid.lower >= 0 || part->grid.upper <= 0);

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

/*
 * Returns the share of an aggregate's price that finding its limit costs: more where all is noisier, as a
 * limit is chosen badly then.
 */
static double
share_of(int64 rho)
{
	if (rho >= DP_RHO_ONE)
		return 0.08;
	if (rho >= DP_RHO_ONE / 10)
		return 0.11;
	if (rho >= DP_RHO_ONE / 100)
		return 0.16;
	return 0.2;
}

int64
dp_limit_price(const DpPricedColumn *column, int64 rho)
{
	return column->finds_limit ? Max((int64) (share_of(rho) * (double) rho), 1) : 0;
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
dp_norm_bin(int64 bin)
{
	/* the first limit alone is the first bin's */
	return Min((bin + LIMITS_BY_BIN - 1) / LIMITS_BY_BIN, DP_NORM_BINS - 1);
}

bool
dp_finds_limits(const DpReleaseColumn *column, const DpDataset *dataset)
{
	return column->norm >= 0 && contribution_of(dataset) == DP_FOUND_CONTRIBUTION;
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
