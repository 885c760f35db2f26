/*-------------------------------------------------------------------------
 *
 * norm_rows.c
 *	  Rows of the inner plan of a release with norms: what they add to the
 *	  states of their groups under the limits that are chosen.
 *
 * A row has the keys of its group, and a state for each part.  That of a part that a norm limits
 * has sums of values and of shares by bin (limited_sum), and for one part of each norm how many units have this group
 * first.  Where bins are apart, a group has several rows: after the keys come the bin of each norm,
 * sums of values and of shares, and how many units have this group first.  Such a row is of all units of the group that are
 * in these bins (agg/bounding/norms.c).  Servers of a cluster may send it as rows of cells (cells.c).  A set of values that a norm limits has the counts under each of its
 * limits, in one row of the group, which is of all units.
 *
 * Squares of sets' numbers are added up for probes (norms.c).
 *
 * Invariants:
 * - While limits are not known, rows wait in a tuplestore, which spills to disk
 *	 as PostgreSQL's own do; nobody sees any.
 * - Each unit is counted once in the histogram of each norm: in its first
 *	 group.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/tuplestore.h"

struct DpNormRows
{
	const DpPricedRelease *priced;
	const DpCells *cells;		/* where rows are totals of cells */
	Tuplestorestate *waiting;
	TupleTableSlot *slot;
	dp_i128    *counts;			/* [norm][bin]: of units, and of probes 0 */
	const DpPricedColumn **columns; /* one that each norm limits */
	int		   *sets;			/* where its sets are in a row; -1: it limits
								 * none, or has no probes */
	int		   *probes;			/* [norm][probe]: the limit of it */
	dp_u128    *squares;		/* [norm][probe]: of all groups' numbers */
};

/* Returns a sum of steps, of which servers of a cluster make a number. */
static dp_i128
sum_at(TupleTableSlot *slot, int att)
{
	if (slot->tts_isnull[att])
		return 0;
	if (TupleDescAttr(slot->tts_tupleDescriptor, att)->atttypid == NUMERICOID)
		return dp_sum_of_numeric(slot->tts_values[att]);
	return dp_exact_sum_get((DpExactSum *) DatumGetPointer(slot->tts_values[att]));
}

static int64
bin_at(const DpPricedRelease *priced, TupleTableSlot *slot, int norm)
{
	return DatumGetInt64(slot->tts_values[priced->nkeys + norm]);
}

/* Returns the number of different values of a set, under the limit that is wanted; 0 where the row has no set. */
static int64
distinct_values(const DpPricedColumn *column, TupleTableSlot *slot, int att, int limit)
{
	int			n = Max(column->nlimits, 1);
	const DpExactVector *counts = (const DpExactVector *) DatumGetPointer(slot->tts_values[att]);

	if (slot->tts_isnull[att])
		return 0;
	if (TupleDescAttr(slot->tts_tupleDescriptor, att)->atttypid == INT8ARRAYOID)
		return dp_gathered_counts(slot->tts_values[att], n)[limit];
	if (counts->bins != n || counts->room != 0)
		elog(ERROR, "a set has %d counts instead of %d", counts->bins, n);
	return counts->count[limit];
}

dp_i128
dp_norm_factor(const DpPricedColumn *column, const DpPricedPart *part, int64 bin, bool is_share)
{
	/* without limits the value is what max_groups and max_rows leave of it */
	bool		is_whole = column->nlimits == 0 || bin <= column->limit;

	if (is_whole == is_share)
		return 0;
	if (is_share)
		return column->limits[column->limit] / DP_NORM_UNIT;
	return dp_is_histogram(part) ? (dp_i128) 1 << part->shift : 1;
}

/* Adds what the row has of a part that a norm limits, where bins are apart. */
static void
add_bins(const DpPricedRelease *priced, const DpPricedColumn *column, const DpPricedPart *part, TupleTableSlot *slot, int att,
		 dp_i128 *state)
{
	int64		bin = bin_at(priced, slot, column->desc->norm);

	if (column->nweights > 0)
		dp_count_weight(column, bin, sum_at(slot, att), state);
	for (int is_share = 0; is_share < 2; is_share++)
	{
		dp_i128		factor = dp_norm_factor(column, part, bin, is_share);

		if (factor == 0)
			continue;
		if (dp_is_histogram(part))
			dp_add_counts(part, slot, att + is_share, factor, state);
		else
			state[part->offset] += sum_at(slot, att + is_share) * factor;
	}
}

/* Adds what the group has of a part that a norm limits. */
static void
add_limited(const DpPricedColumn *column, const DpPricedPart *part, TupleTableSlot *slot, int att, dp_i128 *state)
{
	/* without limits each value is what max_groups and max_rows leave of it */
	int			limit = column->nlimits > 0 ? column->limit : DP_MAX_NORM_LIMITS;
	int64		factor = column->nlimits > 0 ? column->limits[limit] / DP_NORM_UNIT : 0;

	const DpLimitedSum *sum;

	if (slot->tts_isnull[att])
		return;
	sum = (const DpLimitedSum *) DatumGetPointer(slot->tts_values[att]);
	state[part->offset] += dp_limited_sum_get(sum, limit, factor);
	for (int i = 0; i < sum->nbins && column->nweights > 0; i++)
		dp_count_weight(column, sum->bin[i], dp_exact_sum_get(&dp_limited_bins(sum)[i].value), state);
}

void
dp_norm_row_add(const DpPricedRelease *priced, TupleTableSlot *slot, dp_i128 *state)
{
	bool		apart = priced->release->bins_apart;
	int			att = priced->nkeys + (apart ? list_length(priced->release->norms) : 0);

	for (int i = 0; i < priced->ncolumns; i++)
	{
		const DpPricedColumn *column = &priced->columns[i];

		for (int j = 0; j < column->nparts; j++)
		{
			if (column->desc->norm < 0)
				dp_add_state(&column->parts[j], slot, att++, state);
			else if (column->parts[j].desc.kind == DP_VALUE_DISTINCT)
				state[column->parts[j].offset] += distinct_values(column, slot, att++, Max(column->limit, 0));
			else if (!apart)
				add_limited(column, &column->parts[j], slot, att++, state);
			else
			{
				add_bins(priced, column, &column->parts[j], slot, att, state);
				att += 2;
			}
		}
	}
}

/* Returns where the sets are that a norm with probes limits, -1 where there are none. */
static int
place_of_sets(const DpPricedRelease *priced, int norm)
{
	int			att = priced->nkeys + list_length(priced->release->norms);

	for (int i = 0; i < priced->ncolumns; i++)
	{
		const DpPricedColumn *column = &priced->columns[i];

		if (column->desc->norm == norm)
			return dp_has_probes(column) ? att : -1;
		/* as dp_norm_row_add has them, with bins apart */
		att += column->nparts * (dp_has_share(column->desc, &column->parts[0].desc) ? 2 : 1);
	}
	return -1;
}

DpNormRows *
dp_norm_rows_create(const DpPricedRelease *priced, const DpCells *cells, TupleDesc desc)
{
	DpNormRows *rows = palloc0(sizeof(DpNormRows));
	int			norms = list_length(priced->release->norms);

	rows->priced = priced;
	rows->cells = cells;
	rows->waiting = tuplestore_begin_heap(false, false, work_mem);
	rows->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	rows->columns = palloc(norms * sizeof(DpPricedColumn *));
	rows->sets = palloc(norms * sizeof(int));
	rows->probes = palloc0(norms * DP_PROBES * sizeof(int));
	for (int l = 0; l < norms; l++)
	{
		rows->columns[l] = dp_column_with_norm(priced, l);
		rows->sets[l] = place_of_sets(priced, l);
		for (int i = 0; i < DP_PROBES && rows->sets[l] >= 0; i++)
			rows->probes[l * DP_PROBES + i] = dp_probe_limit(rows->columns[l], i);
	}
	rows->counts = palloc0(norms * dp_norm_bins() * sizeof(dp_i128));
	rows->squares = palloc0(norms * DP_PROBES * sizeof(dp_u128));
	return rows;
}

/* Counts units in a bin of a norm; who contributes nothing needs no limit. */
static void
count_units(DpNormRows *rows, int norm, int64 bin, dp_i128 units)
{
	if (bin >= 0)
		rows->counts[norm * dp_norm_bins() + dp_norm_bin(rows->columns[norm], bin)] += units;
}

/* Adds the squares of a group's numbers of distinct values, as the probes of their norm have them. */
static void
add_squares(DpNormRows *rows, int norm, TupleTableSlot *slot)
{
	const DpPricedColumn *column = rows->columns[norm];

	for (int i = 0; i < DP_PROBES; i++)
	{
		uint64		count = (uint64) Max(distinct_values(column, slot, rows->sets[norm], rows->probes[norm * DP_PROBES + i]), 0);
		dp_u128    *squares = &rows->squares[norm * DP_PROBES + i];

		/* a norm that is cut off changes no more than it would */
		*squares = *squares > ~(dp_u128) 0 - (dp_u128) count * count ? ~(dp_u128) 0 : *squares + (dp_u128) count * count;
	}
}

void
dp_norm_rows_put(DpNormRows *rows, TupleTableSlot *slot)
{
	const DpRelease *release = rows->priced->release;

	foreach_int(norm, release->norms)
	{
		int			l = foreach_current_index(norm);
		int			att = rows->priced->nkeys + norm;

		if (release->counts_cells)
			count_units(rows, l, bin_at(rows->priced, slot, l), dp_cell_units(rows->cells, slot));
		else if (release->bins_apart)
			count_units(rows, l, bin_at(rows->priced, slot, l), sum_at(slot, slot->tts_tupleDescriptor->natts - 1));
		else if (!slot->tts_isnull[att])
		{
			const DpLimitedSum *sum = (const DpLimitedSum *) DatumGetPointer(slot->tts_values[att]);

			for (int i = 0; i < sum->nbins; i++)
				count_units(rows, l, sum->bin[i], dp_limited_bins(sum)[i].first);
		}
		if (rows->sets[l] >= 0)
			add_squares(rows, l, slot);
	}
	tuplestore_puttupleslot(rows->waiting, slot);
}

const dp_i128 *
dp_norm_rows_counts(DpNormRows *rows)
{
	for (int l = 0; l < list_length(rows->priced->release->norms); l++)
	{
		const DpPricedColumn *column = rows->columns[l];
		dp_i128    *counts = rows->counts + l * dp_norm_bins();

		if (rows->sets[l] < 0)
			continue;
		for (int i = 0; i < dp_first_probe(); i++)
			counts[i] <<= DP_PROBE_SHIFT;
		for (int i = 0; i < DP_PROBES; i++)
			counts[dp_first_probe() + i] = ((dp_i128) dp_root(rows->squares[l * DP_PROBES + i]) << DP_PROBE_SHIFT) /
				column->limits[rows->probes[l * DP_PROBES + i]];
	}
	return rows->counts;
}

TupleTableSlot *
dp_norm_rows_next(DpNormRows *rows)
{
	if (!tuplestore_gettupleslot(rows->waiting, true, false, rows->slot))
		return NULL;
	slot_getallattrs(rows->slot);
	return rows->slot;
}

void
dp_norm_rows_end(DpNormRows *rows)
{
	ExecDropSingleTupleTableSlot(rows->slot);
	tuplestore_end(rows->waiting);
}
