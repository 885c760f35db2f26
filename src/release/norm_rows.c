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
 * in these bins (agg/bounding/norms.c).  A set of values that a norm limits has the counts under each of its
 * limits, in one row of the group, which is of all units.
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

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/tuplestore.h"

struct DpNormRows
{
	const DpPricedRelease *priced;
	Tuplestorestate *waiting;
	TupleTableSlot *slot;
	dp_i128    *counts;			/* [norm][bin] */
	const DpPricedColumn **columns; /* one that each norm limits */
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

/* Adds the count of a set that a norm limits, where the row has it. */
static void
add_limited_set(const DpPricedColumn *column, const DpPricedPart *part, TupleTableSlot *slot, int att, dp_i128 *state)
{
	const DpExactVector *counts = (const DpExactVector *) DatumGetPointer(slot->tts_values[att]);

	if (slot->tts_isnull[att])
		return;
	if (counts->bins != Max(column->nlimits, 1) || counts->room != 0)
		elog(ERROR, "a set has %d counts instead of %d", counts->bins, Max(column->nlimits, 1));
	state[part->offset] += counts->count[Max(column->limit, 0)];
}

/* Adds what the row has of a part that a norm limits, where bins are apart. */
static void
add_bins(const DpPricedRelease *priced, const DpPricedColumn *column, const DpPricedPart *part, TupleTableSlot *slot, int att,
			dp_i128 *state)
{
	/* without limits the value is what max_groups and max_rows leave of it */
	bool		is_whole = column->nlimits == 0 || bin_at(priced, slot, column->desc->norm) <= column->limit;
	dp_i128		factor = is_whole ? 1 : column->limits[column->limit] / DP_NORM_UNIT;

	if (!is_whole)
		att++;
	if (part->desc.kind != DP_VALUE_CODES)
		state[part->offset] += sum_at(slot, att) * factor;
	else if (!slot->tts_isnull[att])
	{
		const DpExactVector *vector = (const DpExactVector *) DatumGetPointer(slot->tts_values[att]);

		if (is_whole)
			factor = (dp_i128) 1 << part->shift;
		if (vector->bins != part->width)
			elog(ERROR, "a vector has %d bins instead of %d", vector->bins, part->width);
		dp_vector_add_to(vector, factor, state + part->offset);
	}
}

/* Adds what the group has of a part that a norm limits. */
static void
add_limited(const DpPricedColumn *column, const DpPricedPart *part, TupleTableSlot *slot, int att, dp_i128 *state)
{
	/* without limits each value is what max_groups and max_rows leave of it */
	int			limit = column->nlimits > 0 ? column->limit : DP_MAX_NORM_LIMITS;
	int64		factor = column->nlimits > 0 ? column->limits[limit] / DP_NORM_UNIT : 0;

	if (!slot->tts_isnull[att])
		state[part->offset] += dp_limited_sum_get((const DpLimitedSum *) DatumGetPointer(slot->tts_values[att]), limit, factor);
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
				add_limited_set(column, &column->parts[j], slot, att++, state);
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

DpNormRows *
dp_norm_rows_create(const DpPricedRelease *priced, TupleDesc desc)
{
	DpNormRows *rows = palloc0(sizeof(DpNormRows));

	rows->priced = priced;
	rows->waiting = tuplestore_begin_heap(false, false, work_mem);
	rows->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	rows->columns = palloc(list_length(priced->release->norms) * sizeof(DpPricedColumn *));
	for (int l = 0; l < list_length(priced->release->norms); l++)
		rows->columns[l] = dp_column_with_norm(priced, l);
	rows->counts = palloc0(list_length(priced->release->norms) * dp_norm_bins() * sizeof(dp_i128));
	return rows;
}

/* Counts units in a bin of a norm; who contributes nothing needs no limit. */
static void
count_units(DpNormRows *rows, int norm, int64 bin, dp_i128 units)
{
	if (bin >= 0)
		rows->counts[norm * dp_norm_bins() + dp_norm_bin(rows->columns[norm], bin)] += units;
}

void
dp_norm_rows_put(DpNormRows *rows, TupleTableSlot *slot)
{
	const DpRelease *release = rows->priced->release;
	ListCell   *lc;

	foreach(lc, release->norms)
	{
		int			l = foreach_current_index(lc);
		int			att = rows->priced->nkeys + lfirst_int(lc);

		if (release->bins_apart)
			count_units(rows, l, bin_at(rows->priced, slot, l), sum_at(slot, slot->tts_tupleDescriptor->natts - 1));
		else if (!slot->tts_isnull[att])
		{
			const DpLimitedSum *sum = (const DpLimitedSum *) DatumGetPointer(slot->tts_values[att]);

			for (int i = 0; i < sum->nbins; i++)
				count_units(rows, l, sum->bin[i], dp_limited_bins(sum)[i].first);
		}
	}
	tuplestore_puttupleslot(rows->waiting, slot);
}

const dp_i128 *
dp_norm_rows_counts(const DpNormRows *rows)
{
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
