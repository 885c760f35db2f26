/*-------------------------------------------------------------------------
 *
 * receiver.c
 *	  Turns the exact states of groups into released rows.
 *
 * Invariants:
 * - Exact states live here and nowhere else.
 * - Of undeclared keys, only groups are released in which min_units units have a weight for selecting them, one at least.
 * - Whatever the inner plan finds, the same noise is drawn for every released
 *	 value; where keys are declared, of each of them in their canonical order,
 *	 when the inner plan has ended.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "release/kept_int.h"
#include "release/release.h"
#include "release/release_int.h"
#include "tcop/dest.h"
#include "utils/memutils.h"

struct DpReceiver
{
	DestReceiver pub;
	DpRun	   *run;
	DpRows	   *rows;
	bool		has_plan;		/* otherwise all keys are known, and no states
								 * are needed */
	MemoryContext row_context;	/* reset for each released row */
	Datum	   *values;
	bool	   *nulls;
	dp_i128    *state;			/* the exact states of one group */
	const dp_i128 **drawn;		/* the noisy integers of its columns */

	/* declared keys: states of all groups, until the inner plan has ended */
	DpKeyTable *keys;
	dp_i128    *states;			/* [group][state] */

	/* with norms: rows wait until their limits are known */
	bool		waits;
	DpNormRows *waiting;		/* NULL: there are none */

	/* totals of cells, bins of norms: rows of a group follow one another */
	DpCells    *cells;
	bool		in_group;		/* values and state are those of a group that
								 * has not ended */

	/* kept answers of more groups: those that are asked for; NULL: all are */
	DpKeyTable *asked;
};

/*
 * Puts the answer of a column in one group where the released row has it, and its error, and moves on in both.  They are
 * NULL where is_few, or where no bounds were found: values within others than these tell nothing.
 */
static void
put_answer(DpReceiver *receiver, int i, bool is_few, int *out, int *errors)
{
	DpPricedRelease *priced = receiver->run->priced;
	DpPricedColumn *column = &priced->columns[i];
	DpAnswerError error;

	receiver->values[*out] = dp_answer_of_draws(column, receiver->drawn[i], &error);
	error.isnull |= is_few || column->is_lacking;
	receiver->nulls[*out] = error.isnull;
	if (receiver->run->pilot)
		dp_pilot_add(receiver->run->pilot, i, error.value, error.stddev);
	else if (!receiver->run->is_hidden && !is_few)
		dp_report_group(priced, i, receiver->values, receiver->nulls, error.stddev);
	for (int kind = 0; kind < DP_COMPANIONS; kind++)
	{
		if ((column->desc->companions & (1 << kind)) == 0)
			continue;
		receiver->nulls[*errors] = error.isnull || (kind == DP_COMPANION_CUT && !dp_knows_cut(priced, column));
		receiver->values[(*errors)++] = Float8GetDatum(dp_companion_value(column, kind, &error));
	}
	(*out)++;
}

/* Returns the noisy integers of a column in one group. */
static const dp_i128 *
column_draws(DpReceiver *receiver, int i, const dp_i128 *state)
{
	DpRun	   *run = receiver->run;

	return run->kept ? dp_kept_group(run->kept, i, state) : dp_draw(&run->priced->columns[i], state);
}

/* Adds the noisy values of one group after its keys; returns false if its keys stay hidden. */
static bool
release_group(DpReceiver *receiver, dp_i128 *state)
{
	DpRun	   *run = receiver->run;
	DpPricedRelease *priced = run->priced;
	int			out = priced->nkeys;
	int			errors = out;
	bool		is_few = false;

	/* keys that were shown before are shown again */
	int			selection = run->kept && run->kept->keys ? -1 : priced->release->selection;
	dp_i128		units = 0;

	if (selection >= 0)
	{
		/*
		 * who has no weight in a group must not make it, nor fewer units than
		 * it needs: price.c, min_units.c
		 */
		if (!dp_has_min_units(priced, state))
			return false;
		units = column_draws(receiver, selection, state)[0];
		if (units < priced->threshold)
			return false;
	}
	for (int i = 0; i < priced->ncolumns; i++)
	{
		bool		is_hidden = priced->columns[i].desc->hidden;

		errors += is_hidden ? 0 : 1;
		/* the count that decided is released as it was drawn */
		if (i == selection)
			receiver->drawn[i] = &units;
		else if (!is_hidden || i == priced->release->units)
			receiver->drawn[i] = column_draws(receiver, i, state);
	}
	/* when all is drawn: one column may read what was drawn for another */
	if (priced->release->units >= 0)
		is_few = dp_has_few_units(priced, receiver->drawn[priced->release->units]);
	for (int i = 0; i < priced->ncolumns; i++)
	{
		if (priced->columns[i].desc->hidden)
			continue;
		if (priced->columns[i].is_agreed)
			dp_agree_drawn(&priced->columns[i], receiver->drawn[i][0]);
		put_answer(receiver, i, is_few, &out, &errors);
	}
	if (run->kept)
		dp_kept_end_group(run->kept, receiver->values, receiver->nulls);
	return true;
}

/* Adds what a row has to the states of its group. */
static void
add_row(DpReceiver *receiver, TupleTableSlot *slot, dp_i128 *state)
{
	DpPricedRelease *priced = receiver->run->priced;
	int			att = priced->nkeys;

	if (priced->release->counts_cells)
		dp_add_cell(receiver->cells, slot, state);
	else if (priced->release->norms != NIL)
		dp_norm_row_add(priced, slot, state);
	else
	{
		for (int i = 0; i < priced->ncolumns; i++)
		{
			for (int j = 0; j < priced->columns[i].nparts; j++)
				dp_add_state(&priced->columns[i].parts[j], slot, att++, state);
		}
	}
}

static bool
receive_state(TupleTableSlot *slot, DestReceiver *self)
{
	DpReceiver *receiver = (DpReceiver *) self;
	DpPricedRelease *priced = receiver->run->priced;
	MemoryContext old;

	slot_getallattrs(slot);
	if (receiver->states)
	{
		int64		position = dp_key_table_find(receiver->keys, slot->tts_values, slot->tts_isnull);

		if (position >= 0)
			add_row(receiver, slot, receiver->states + position * priced->width);
		return true;
	}

	old = MemoryContextSwitchTo(receiver->row_context);
	memset(receiver->state, 0, priced->width * sizeof(dp_i128));
	add_row(receiver, slot, receiver->state);
	memcpy(receiver->values, slot->tts_values, priced->nkeys * sizeof(Datum));
	memcpy(receiver->nulls, slot->tts_isnull, priced->nkeys * sizeof(bool));
	if (release_group(receiver, receiver->state))
		dp_rows_put(receiver->rows, receiver->values, receiver->nulls);
	MemoryContextSwitchTo(old);
	MemoryContextReset(receiver->row_context);
	return true;
}

/* Releases the group whose cells have been read. */
static void
end_group(DpReceiver *receiver)
{
	MemoryContext old = MemoryContextSwitchTo(receiver->row_context);

	if (release_group(receiver, receiver->state))
		dp_rows_put(receiver->rows, receiver->values, receiver->nulls);
	MemoryContextSwitchTo(old);
	MemoryContextReset(receiver->row_context);
	receiver->in_group = false;
}

static void
begin_group(DpReceiver *receiver)
{
	memset(receiver->state, 0, receiver->run->priced->width * sizeof(dp_i128));
	receiver->in_group = true;
}

/* Takes one of the rows that a group has, which follow one another. */
static void
take_row(DpReceiver *receiver, TupleTableSlot *slot)
{
	if (receiver->states)
	{
		int64		position = dp_key_table_find(receiver->keys, slot->tts_values, slot->tts_isnull);

		if (position >= 0)
			add_row(receiver, slot, receiver->states + position * receiver->run->priced->width);
		return;
	}
	if (receiver->in_group && !dp_cell_has_keys(receiver->cells, slot, receiver->values, receiver->nulls))
		end_group(receiver);
	if (!receiver->in_group)
	{
		begin_group(receiver);
		dp_copy_cell_keys(receiver->cells, slot, receiver->values, receiver->nulls, receiver->row_context);
	}
	add_row(receiver, slot, receiver->state);
}

/* Receives a row of a cell, or of bins of norms: a group has several. */
static bool
receive_cell(TupleTableSlot *slot, DestReceiver *self)
{
	DpReceiver *receiver = (DpReceiver *) self;

	slot_getallattrs(slot);
	if (!receiver->waits)
		take_row(receiver, slot);
	else
	{
		if (receiver->waiting == NULL)
			receiver->waiting = dp_norm_rows_create(receiver->run->priced, receiver->cells, slot->tts_tupleDescriptor);
		dp_norm_rows_put(receiver->waiting, slot);
	}
	return true;
}

/* Finds the limits on norms, and takes the rows that have waited for them. */
static void
take_waiting(DpReceiver *receiver)
{
	DpPricedRelease *priced = receiver->run->priced;
	dp_i128    *nobody = palloc0(list_length(priced->release->norms) * dp_norm_bins() * sizeof(dp_i128));
	TupleTableSlot *slot;

	/*
	 * what is drawn to be kept, and what is reported, outlives the inner plan
	 * and its context
	 */
	MemoryContext former = MemoryContextSwitchTo(GetMemoryChunkContext(priced));

	priced->limits = dp_find_limits(receiver->run, receiver->waiting ? dp_norm_rows_counts(receiver->waiting) : nobody);
	dp_settle_limits(priced);
	if (!receiver->run->is_hidden)
		dp_report_limits(priced);
	if (receiver->run->kept != NULL)
	{
		dp_kept_begin(receiver->run->kept, receiver->run->desc);
		dp_kept_derive(receiver->run->kept);
	}
	MemoryContextSwitchTo(former);
	if (receiver->waiting == NULL)
		return;
	while (!priced->limits_alone && (slot = dp_norm_rows_next(receiver->waiting)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		take_row(receiver, slot);
	}
	dp_norm_rows_end(receiver->waiting);
}

/* Releases the last group; where there are no keys there is one, whether it has rows or not. */
static void
end_cells(DpReceiver *receiver)
{
	if (!receiver->in_group && receiver->run->priced->nkeys == 0)
		begin_group(receiver);
	if (receiver->in_group)
		end_group(receiver);
}

/* Passes over the answers of a group that nobody asked for. */
static void
pass_group(DpReceiver *receiver)
{
	for (int i = 0; i < receiver->run->priced->ncolumns; i++)
		(void) column_draws(receiver, i, NULL);
}

/*
 * Releases every group whose keys are known, whether the inner plan met it or
 * not; without keys, the only one.
 */
static void
release_declared(DpReceiver *receiver)
{
	DpPricedRelease *priced = receiver->run->priced;
	int64		n = receiver->keys ? dp_key_table_size(receiver->keys) : 1;

	for (int64 position = 0; position < n; position++)
	{
		MemoryContext old = MemoryContextSwitchTo(receiver->row_context);

		CHECK_FOR_INTERRUPTS();
		if (receiver->keys)
			dp_key_table_get(receiver->keys, position, receiver->values, receiver->nulls);
		if (receiver->asked != NULL && dp_key_table_find(receiver->asked, receiver->values, receiver->nulls) < 0)
			pass_group(receiver);
		else
		{
			release_group(receiver, receiver->states ? receiver->states + position * priced->width : NULL);
			dp_rows_put(receiver->rows, receiver->values, receiver->nulls);
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(receiver->row_context);
	}
}

static void
receiver_noop_startup(DestReceiver *self, int operation, TupleDesc typeinfo)
{
}

static void
receiver_noop(DestReceiver *self)
{
}

/* Tells whether a group may have several rows. */
static bool
has_several_rows(const DpRelease *release)
{
	return release->counts_cells || release->norms != NIL;
}

DpReceiver *
dp_receiver_create(DpRun *run, const DpPricedRelease *priced, TupleDesc desc)
{
	DpReceiver *receiver = palloc0(sizeof(DpReceiver));
	bool		is_sought;

	receiver->pub.receiveSlot = has_several_rows(priced->release) ? receive_cell : receive_state;
	if (has_several_rows(priced->release))
		receiver->cells = dp_cells_create(priced);
	receiver->pub.rStartup = receiver_noop_startup;
	receiver->pub.rShutdown = receiver_noop;
	receiver->pub.rDestroy = receiver_noop;
	receiver->pub.mydest = DestNone;
	receiver->run = run;
	receiver->row_context = AllocSetContextCreate(CurrentMemoryContext, "dp_cdp released row",
												  ALLOCSET_DEFAULT_SIZES);
	receiver->values = palloc0(sizeof(Datum) * Max(desc->natts, 1));
	receiver->nulls = palloc0(sizeof(bool) * Max(desc->natts, 1));
	receiver->state = palloc0(sizeof(dp_i128) * Max(priced->width, 1));
	receiver->drawn = palloc0(sizeof(dp_i128 *) * Max(priced->ncolumns, 1));
	is_sought = run->kept == NULL || dp_kept_needs_rows(run->kept);
	if (priced->release->selection < 0 && priced->nkeys > 0)
		receiver->keys = dp_key_table_create(priced->release, priced->tuples, is_sought);
	else if (run->kept && run->kept->keys)
		receiver->keys = dp_key_table_of(priced->release, run->kept->keys, is_sought);
	if (run->asked != NULL)
		receiver->asked = dp_key_table_create(run->asked->release, run->asked->tuples, true);
	return receiver;
}

DestReceiver *
dp_receiver_dest(DpReceiver *receiver)
{
	return &receiver->pub;
}

void
dp_receiver_begin(DpReceiver *receiver, DpRun *run, bool has_plan)
{
	receiver->run = run;
	receiver->rows = run->rows;
	receiver->has_plan = has_plan;
	receiver->waits = run->priced->before[DP_FINDS_LIMITS] != NULL && run->priced->limits == NULL;
	/* not before: of several releases one at a time needs that much */
	if (receiver->keys != NULL && has_plan)
		receiver->states =
			MemoryContextAllocExtended(CurrentMemoryContext,
									   sizeof(dp_i128) * Max(run->priced->width, 1) *
									   Max(dp_key_table_size(receiver->keys), 1),
									   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

void
dp_receiver_end(DpReceiver *receiver)
{
	if (receiver->waits)
		take_waiting(receiver);
	/* what else there is was not paid for */
	if (receiver->run->priced->limits_alone)
		return;
	if (receiver->states || !receiver->has_plan)
		release_declared(receiver);
	else if (receiver->cells)
		end_cells(receiver);
}
