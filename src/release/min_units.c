/*-------------------------------------------------------------------------
 *
 * min_units.c
 *	  Groups of few units: a dataset's min_units.
 *
 * Undeclared keys.  With min_units = k a group is shown only if it has k units, exactly, and if it passes the selection by what they
 * weigh without the k - 1 heaviest of them.  With weights of 1 that is n - (k - 1), of n units.
 * Theorem.  Let S be that sum in each group, 0 where there are fewer than k units.
 * (a) If a unit comes, S rises in no group by more than the unit's weight there, and falls in none.
 * (b) S is 0 where there are fewer than k units, and above 0 elsewhere.
 * Proof.  S is the least that the weights of all but k - 1 units add up to, over all choices of these.  Let u come.  The choice that was best
 * before leaves u's weight more, so that S rises by no more.  Any choice without u leaves what it left before and u's weight.
 * One with u leaves more than it would have left before with another unit in u's place.  None leaves less than the former S.
 * A weight is above 0, which is (b).  []
 * Who is replaced goes and comes, so that S changes by at most the larger one of both weights in a group.
 * Corollary.  S selects keys at the price, the noise, the threshold and the delta of the sum of all weights.
 * Proof.  Of that sum price.c uses two things: who comes or goes changes it by a vector of weights; and groups in which it is 0 are not
 * shown, so that one that is shown for a single unit has a sum of at most its weight.  Both hold for S.  []
 * The noisy count of a selection that is an answer, too, is shown as n and noise: k - 1 more than what the threshold is compared with.
 *
 * A weight is found by the bin of the unit's norm (agg/bounding/norms.c).  The bins end at the norms of 1, 2, 3, ... groups, and
 * a unit in bin b weighs C^2 / L in each of its groups, rounded down: C is the norm of one group, and L the limit where the bin ends.
 * Its vector has a norm of at most C: L is not below the unit's norm N, and in t groups N^2 is not below t C^2.
 *
 * Declared keys.  Their groups are shown, whatever is in them.  Where the noisy count of a group's units is below k, all of its answers
 * are NULL: post-processing of an answer that is paid for, which the query asks for or the guard adds.  Rows without GROUP BY are no group.
 * The rest of groups that are not shown is one, and is treated like those of declared keys.
 * Answers are kept before they become NULL, so that min_units is no part of their questions.
 *
 * Invariants:
 * - What is left out of S is counted exactly, and is shown by nothing else.
 * - Which answers are NULL follows from noisy counts alone.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/errors.h"
#include "common/int.h"
#include "math/calibrate.h"
#include "math/wide.h"
#include "release/release.h"
#include "release/release_int.h"

int
dp_min_units(const DpPricedRelease *priced)
{
	return priced->release->selection >= 0 || priced->release->units >= 0 ? priced->dataset->min_units : 1;
}

void
dp_check_min_units(const DpPricedRelease *priced)
{
	const DpRelease *release = priced->release;

	if (priced->dataset->min_units > 1 && release->units == -1 && release->selection < 0 && (release->keys != NIL || release->rest_of != NULL) && release->columns != NIL)
		dp_raise(BAD_PARAMETER,
				 errmsg("this query was planned before dataset \"%s\" had a min_units; nothing was charged: ask again", priced->dataset->name));
}

bool
dp_has_few_units(const DpPricedRelease *priced, const dp_i128 *drawn)
{
	/* it may be no more what it was when the query was planned */
	return dp_min_units(priced) > 1 &&
		rint((double) drawn[0] * priced->columns[priced->release->units].parts[0].step) < dp_min_units(priced);
}

/* Tells whether a column counts units by their weights, in bins of their own. */
static bool
counts_by_weight(const DpPricedColumn *column)
{
	return column->nweights > 0;
}

int64
dp_norm_of_groups(const DpPricedColumn *column, int groups)
{
	dp_u128		square = (dp_u128) column->norm_unit * (dp_u128) column->norm_unit;

	return (int64) dp_root_up(square * groups);
}

void
dp_settle_weights(DpPricedColumn *column, DpPricedRelease *priced)
{
	column->nweights = 0;
	if (!column->desc->weighs || column->nlimits == 0 || dp_min_units(priced) == 1)
		return;
	column->nweights = column->nlimits;
	column->weights = palloc(column->nweights * sizeof(int64));
	for (int i = 0; i < column->nweights; i++)
		column->weights[i] = (int64) ((dp_i128) column->limits[0] * column->limits[0] / column->limits[i]);
	column->first_count = priced->width;
	priced->width += column->nweights;
}

void
dp_count_weight(const DpPricedColumn *column, int64 bin, dp_i128 value, dp_i128 *state)
{
	if (!counts_by_weight(column) || bin < 0)
		return;
	if (bin >= column->nweights || value % column->limits[0] != 0)
		elog(ERROR, "a unit has a weight of no number of groups");
	state[column->first_count + bin] += value / column->limits[0];
}

/* the threshold is compared with what is shown: of units that weigh 1 it is as much higher as they are more than S */
bool
dp_raise_threshold(DpPricedRelease *priced)
{
	if (counts_by_weight(&priced->columns[priced->release->selection]))
		return true;
	return !pg_add_s64_overflow(priced->threshold, dp_min_units(priced) - 1, &priced->threshold);
}

double
dp_least_units(const DpPricedRelease *priced)
{
	const DpPricedColumn *column = &priced->columns[priced->release->selection];
	double		least = (double) priced->threshold * column->parts[0].step;

	return counts_by_weight(column) ? least + dp_min_units(priced) - 1 : least;
}

bool
dp_has_min_units(const DpPricedRelease *priced, dp_i128 *state)
{
	const DpPricedColumn *column = &priced->columns[priced->release->selection];
	dp_i128    *units = &state[column->parts[0].offset];

	if (!counts_by_weight(column))
		return *units >= dp_min_units(priced);
	*units = dp_weight_beyond(state + column->first_count, column->weights, column->nweights, dp_min_units(priced) - 1);
	return *units > 0;
}
