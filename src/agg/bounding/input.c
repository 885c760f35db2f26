/*-------------------------------------------------------------------------
 *
 * input.c
 *	  The first pass: rows of the outer plan.
 *
 * A scan of a table is read here rather than by its node, and its condition is
 * tested here: before or after the rank, whichever leaves out more rows.  All
 * else is read through the executor.
 *
 * Invariants:
 *	- the state of a unit sees the rows that pass the condition, and of these
 *	  only such are left out as bound_unit would leave out, so the order of the
 *	  two tests changes nothing but the time;
 *	- only columns are read of a row that has not passed the condition, and they are compared as
 *	  words and bytes: keys that are computed are computed after it, and functions of types called;
 *	- what is computed of a row that the rank leaves out may not be computed: so arguments must not
 *	  fail, or do anything (the guard's cannot, and volatile ones are nodeAgg's);
 *	- snapshot, locks and permissions are those of the plan, which was started as ever.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"

#include "agg/bounding/gather.h"

/*
 * bytes that the first table may take: its buckets, a part of it, stay in a core's second cache.  Those of
 * processes that gather together are smaller at first, as their states have to be set aside and merged.
 */
#define FIRST_TABLE ((Size) 3 * 1024 * 1024)
#define FIRST_SHARED_TABLE ((Size) 1024 * 1024)

/* the same where values are in place: 8 MB of buckets, beside the half of them that they grew from, have 262,144 counts */
#define FIRST_TABLE_IN_PLACE ((Size) 14 * 1024 * 1024)

/* so many bytes before a row is one that comes soon */
#define NEXT_ROWS 512

/* after how many rows the order of tests is chosen anew */
#define CHOOSE_AFTER 1024

/* a full table is of use if it has the unit of one row of so many; a shared one is worth more memory if of one of so many */
#define USEFUL_TABLE 16
#define WORTHY_TABLE 8

/* setting a state aside and merging it takes as long as looking for the units of so many rows */
#define ROWS_OF_STATE 64

/* values in place cost little more than a row, and a row whose unit is not there has waited for memory in vain */
#define USEFUL_TABLE_IN_PLACE 4
#define ROWS_OF_BUCKET 4

/* Returns the next row of the input, NULL at its end; a scan's row is still to be tested by passes_qual. */
static inline TupleTableSlot *
next_row(DpInput *input)
{
	TupleTableSlot *slot;

	if (input->scan == NULL)
		return ExecProcNode(input->outer);
	CHECK_FOR_INTERRUPTS();
	slot = input->scan->ss_ScanTupleSlot;
	if (!table_scan_getnextslot(input->scan->ss_currentScanDesc, ForwardScanDirection, slot))
		return NULL;

	/*
	 * in a heap's page the next rows lie below this one, and nobody has
	 * looked at them where the page is all visible
	 */
	if (TTS_IS_BUFFERTUPLE(slot))
		__builtin_prefetch((char *) ((BufferHeapTupleTableSlot *) slot)->base.tuple->t_data - NEXT_ROWS);
	return slot;
}

/* Returns how many bytes the first table may take, at first where processes gather together, or in the end. */
static Size
first_table_limit(const DpBounding *bounding, bool at_first)
{
	Size		limit = bounding->table.in_place ? FIRST_TABLE_IN_PLACE : FIRST_TABLE;

	if (bounding->share != NULL && at_first)
		limit = FIRST_SHARED_TABLE;
	return Min(limit, bounding->limit / 4);
}

static inline bool
passes_qual(DpInput *input, TupleTableSlot *slot)
{
	const DpCondition *condition = &input->condition;
	bool		passes = true;

	for (int i = 0; i < condition->nmembers && passes; i++)
		passes = dp_is_member(&condition->members[i], slot);
	if (passes && condition->rest != NULL)
	{
		ExprContext *econtext = input->scan->ps.ps_ExprContext;

		dp_reset_row_memory(econtext);
		econtext->ecxt_scantuple = slot;
		passes = ExecQual(condition->rest, econtext);
	}
	input->by_qual.tested++;
	input->by_qual.dropped += !passes;
	return passes;
}

static inline bool
passes_rank(DpBounding *bounding, int64 bucket)
{
	bool		passes = !dp_is_left_out(bounding, bucket);

	bounding->input.by_rank.tested++;
	bounding->input.by_rank.dropped += !passes;
	return passes;
}

/*
 * Runs first whichever of the two filters, WHERE or rank, has rejected the
 * larger share of rows since the last choice.  The rank rejects no row at first
 * and most rows later when units have many groups.  What most rows need anyway is computed
 * while the unit's bucket is on its way to the first cache.
 */
static void
choose_order(DpInput *input)
{
	if (input->by_qual.tested > 0)
		input->rank_first = input->may_rank_first &&
			(uint64) input->by_rank.dropped * input->by_qual.tested >
			(uint64) input->by_qual.dropped * input->by_rank.tested;
	input->unit_first = input->may_unit_first && input->by_qual.dropped <= input->by_qual.tested / 2;
	input->fields_first = !input->rank_first && input->by_rank.dropped <= input->by_rank.tested / 8;
	memset(&input->by_qual, 0, sizeof(DpDropped));
	memset(&input->by_rank, 0, sizeof(DpDropped));
}

/*
 * Gives up a table that is full of units of which hardly any rows follow, where each row
 * waits for a bucket in vain.  Its states are to be set aside anyway where processes gather
 * together; else there must have been so many rows that this does not count.  There one that has the units of many
 * rows grows, too: units that enter it late do no harm, as all its states are set aside.
 */
static void
check_table(DpBounding *bounding)
{
	DpInput    *input = &bounding->input;
	DpUnitTable *table = &bounding->table;

	if (input->looked < CHOOSE_AFTER)
		return;
	if (table->full && table->nunits > 0)
	{
		uint32		useful = input->looked / (table->in_place ? USEFUL_TABLE_IN_PLACE : USEFUL_TABLE);
		uint64		rows = table->nunits * (table->in_place ? ROWS_OF_BUCKET : ROWS_OF_STATE);

		input->full_rows += input->looked;
		if (bounding->share != NULL && input->found >= input->looked / WORTHY_TABLE &&
			table->limit < first_table_limit(bounding, false))
		{
			table->limit = first_table_limit(bounding, false);
			table->full = false;
		}
		else if (input->found < useful && (bounding->share != NULL || input->full_rows >= rows))
			dp_give_up_table(bounding);
	}
	input->looked = input->found = 0;
}

static inline void
read_unit(DpBounding *bounding, const TupleTableSlot *slot)
{
	const DpUnitFormat *unit = &bounding->unit;
	DpRow	   *row = &bounding->row;
	int			at;

	if (!unit->is_word)
	{
		dp_read_unit_key(bounding, slot);
		return;
	}
	at = unit->attno[0] - 1;
	row->unit_isnull = slot->tts_isnull[at];
	row->unit = row->unit_isnull ? 0 : dp_key_word(slot->tts_values[at], unit->info[0].typlen);
	row->hash = dp_unit_hash(row->unit, bounding->spec);
	row->salt = unit->salt < 0 || row->unit_isnull ? bounding->no_salt : dp_unit_salt(row->hash, bounding->spec);
}

static inline void
read_keys(DpBounding *bounding, const TupleTableSlot *slot)
{
	NullableDatum *key = bounding->row.key;

	for (int i = 0; i < bounding->shape.layout.nkeys; i++)
	{
		int			at = bounding->input.key_attno[i] - 1;

		key[i].value = slot->tts_values[at];
		key[i].isnull = slot->tts_isnull[at];
	}
}

/* Computes keys, some of which are no columns; in the memory of the row. */
static void
compute_keys(DpBounding *bounding, TupleTableSlot *slot)
{
	DpInput    *input = &bounding->input;
	NullableDatum *key = bounding->row.key;

	input->econtext->ecxt_scantuple = slot;
	for (int i = 0; i < bounding->shape.layout.nkeys; i++)
		key[i].value = ExecEvalExpr(input->key_expr[i], input->econtext, &key[i].isnull);
}

/*
 * Reads the unit of a row, and has its bucket fetched: that is seldom in the first cache, and
 * until it is asked for there is something to compute.
 */
static inline void
start_row(DpBounding *bounding, TupleTableSlot *slot)
{
	dp_columns_read(slot, &bounding->input.first);
	read_unit(bounding, slot);
	bounding->row.has_rank = false;
	dp_fetch_unit(bounding);
}

static inline void
read_fields(DpBounding *bounding, TupleTableSlot *slot, int64 *field, bool *isnull)
{
	/* counts of rows have none */
	if (bounding->fields.nfields > 0)
		dp_compute_fields(&bounding->fields, slot, bounding->input.econtext, field, isnull);
}

/* Gathers the row that waits longest. */
static inline void
gather_waiting_row(DpBounding *bounding)
{
	DpInput    *input = &bounding->input;
	DpRow	   *row = &bounding->row;
	const DpWaitingRow *waiting = &input->waiting[input->ngathered++ % DP_WAITING_ROWS];
	int64		bucket;

	row->unit = waiting->unit;
	row->hash = waiting->hash;
	row->unit_isnull = waiting->unit_isnull;
	bucket = dp_find_unit(bounding);
	if (likely(bucket >= 0))
	{
		input->found++;
		dp_add_in_place(bounding, bucket, waiting->field, waiting->isnull);
		return;
	}
	memcpy(row->field, waiting->field, sizeof(waiting->field));
	memcpy(row->isnull, waiting->isnull, sizeof(waiting->isnull));
	dp_gather_row(bounding, bucket);
}

/* Has a row of the input wait for its unit's bucket, and gathers one that has waited. */
static inline void
wait_for_unit(DpBounding *bounding, TupleTableSlot *slot)
{
	DpInput    *input = &bounding->input;
	const DpRow *row = &bounding->row;
	DpWaitingRow *waiting = &input->waiting[input->nrows++ % DP_WAITING_ROWS];

	waiting->unit = row->unit;
	waiting->hash = row->hash;
	waiting->unit_isnull = row->unit_isnull;
	read_fields(bounding, slot, waiting->field, waiting->isnull);
	input->looked++;
	if (input->nrows - input->ngathered == DP_WAITING_ROWS)
		gather_waiting_row(bounding);
}

/* Tells whether the table was given up, so that the row's unit is surely not in it. */
static inline bool
has_no_unit(const DpBounding *bounding)
{
	return bounding->table.full && bounding->table.nunits == 0 && !bounding->row.unit_isnull;
}

/* Gathers a row of the input, of which the unit is read, unless its condition or its rank leave it out. */
static inline void
gather_input_row(DpBounding *bounding, TupleTableSlot *slot)
{
	DpInput    *input = &bounding->input;
	bool		fields_first = input->fields_first;
	int64		bucket;

	if (bounding->table.in_place)
	{
		if (!has_no_unit(bounding))
		{
			wait_for_unit(bounding, slot);
			return;
		}
		read_fields(bounding, slot, bounding->row.field, bounding->row.isnull);
		dp_gather_row(bounding, -1);
		return;
	}
	if (input->keys_are_columns)
		read_keys(bounding, slot);
	else
	{
		compute_keys(bounding, slot);
	}
	if (fields_first)
		read_fields(bounding, slot, bounding->row.field, bounding->row.isnull);
	bucket = dp_find_unit(bounding);
	input->looked++;
	input->found += bucket >= 0;
	if (!passes_rank(bounding, bucket))
		return;
	if (bucket >= 0)
		__builtin_prefetch(bounding->table.state_of[bucket]);
	if (input->rank_first && input->has_condition && !passes_qual(input, slot))
		return;
	if (!fields_first)
		read_fields(bounding, slot, bounding->row.field, bounding->row.isnull);
	dp_gather_row(bounding, bucket);
}

/*
 * Takes over a sequential scan, so that rows which their rank leaves out need not
 * be tested.  Not where the scan counts its rows, is to begin anew with other parameters, or
 * would return other rows than those of its table as they are.
 */
static void
start_scan(DpInput *input)
{
	PlanState  *outer = input->outer;
	ScanState  *scan = (ScanState *) outer;

	input->scan = NULL;
	input->has_condition = false;
	input->rank_first = false;
	input->looked = input->found = 0;
	input->full_rows = 0;
	input->nrows = input->ngathered = 0;
	if (!IsA(outer, SeqScanState) || outer->ps_ProjInfo != NULL || contain_volatile_functions((Node *) outer->plan->qual) ||
		outer->instrument != NULL || outer->chgParam != NULL || outer->state->es_epq_active != NULL)
		return;
	input->scan = scan;
	input->has_condition = input->condition.nmembers > 0 || input->condition.rest != NULL;
	if (scan->ss_currentScanDesc == NULL)
		scan->ss_currentScanDesc = dp_table_beginscan(scan->ss_currentRelation, outer->state->es_snapshot);
}

/* Runs the first pass, over the rows of the outer plan: this process's share of them. */
void
dp_gather_input(DpBounding *bounding)
{
	DpInput    *input = &bounding->input;
	ExprContext *econtext = input->econtext;
	TupleTableSlot *slot;
	uint32		nrows = 0;

	if (bounding->share != NULL && !dp_share_enter(bounding))
		return;
	dp_begin_pass(bounding, 0, first_table_limit(bounding, true), SIZE_MAX);
	start_scan(input);
	while (slot = next_row(input), !TupIsNull(slot))
	{
		MemoryContext old;
		bool		unit_first;

		if (++nrows % CHOOSE_AFTER == 0)
		{
			choose_order(input);
			check_table(bounding);
		}
		unit_first = input->unit_first;
		if (unit_first)
			start_row(bounding, slot);
		else if (input->has_condition)
			dp_columns_read(slot, &input->condition.columns);
		if (input->has_condition && !input->rank_first && !passes_qual(input, slot))
			continue;
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		if (!unit_first)
			start_row(bounding, slot);
		gather_input_row(bounding, slot);
		MemoryContextSwitchTo(old);
		dp_reset_row_memory(econtext);
	}
	while (input->ngathered != input->nrows)
		gather_waiting_row(bounding);
	dp_end_pass(bounding);
}
