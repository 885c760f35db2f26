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
 *	- only columns are read of a row that has not passed the condition: keys
 *	  that are computed are computed after it;
 *	- snapshot, locks and permissions are those of the plan, which was started as ever.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "agg/bounding/gather.h"

/* bytes that the first table may take: its buckets, a part of it, stay in a core's second cache */
#define FIRST_TABLE ((Size) 3 * 1024 * 1024)

/* after how many rows of a scan the order of tests is chosen anew */
#define CHOOSE_AFTER 1024

/* Returns the next row of the input, NULL at its end; a scan's row is still to be tested by passes_qual. */
static inline TupleTableSlot *
next_row(DpBounding *bounding)
{
	ScanState  *scan = bounding->input.scan;
	TupleTableSlot *slot;

	if (scan == NULL)
		return ExecProcNode(bounding->outer);
	CHECK_FOR_INTERRUPTS();
	slot = scan->ss_ScanTupleSlot;
	return table_scan_getnextslot(scan->ss_currentScanDesc, ForwardScanDirection, slot) ? slot : NULL;
}

static inline bool
passes_qual(DpInput *input, TupleTableSlot *slot)
{
	ExprContext *econtext = input->scan->ps.ps_ExprContext;
	bool		passes;

	if (input->scan->ps.qual == NULL)
		return true;
	dp_reset_row_memory(econtext);
	econtext->ecxt_scantuple = slot;
	passes = ExecQual(input->scan->ps.qual, econtext);
	input->by_qual.tested++;
	input->by_qual.dropped += !passes;
	return passes;
}

static inline bool
passes_rank(DpBounding *bounding, int64 bucket, uint64 hash, const TupleTableSlot *slot)
{
	bool		passes = !dp_is_left_out(bounding, bucket, hash, slot);

	bounding->input.by_rank.tested++;
	bounding->input.by_rank.dropped += !passes;
	return passes;
}

/*
 * Runs first whichever of the two filters, WHERE or rank, has rejected the
 * larger share of rows since the last choice.  The rank rejects no row at first
 * and most rows later when units have many groups.
 */
static void
choose_order(DpInput *input)
{
	if (input->by_qual.tested > 0)
		input->rank_first = input->keys_are_columns &&
			(uint64) input->by_rank.dropped * input->by_qual.tested >
			(uint64) input->by_qual.dropped * input->by_rank.tested;
	memset(&input->by_qual, 0, sizeof(DpDropped));
	memset(&input->by_rank, 0, sizeof(DpDropped));
}

/* Sets the arguments that records store from the input's row. */
static inline void
set_arguments(DpBounding *bounding, TupleTableSlot *slot)
{
	slot_getsomeattrs(slot, bounding->input.last_attno);
	bounding->row->ecxt_scantuple = slot;
	for (int i = 0; i < bounding->record.nstored; i++)
	{
		DpStoredArg *arg = &bounding->record.stored[i];
		NullableDatum *value = &bounding->fcinfo->args[arg->argno];

		if (arg->attno > 0)
		{
			value->value = slot->tts_values[arg->attno - 1];
			value->isnull = slot->tts_isnull[arg->attno - 1];
		}
		else
			value->value = ExecEvalExpr(arg->expr, bounding->row, &value->isnull);
	}
}

/* Runs the first pass, over the rows of the outer plan. */
void
dp_gather_input(DpBounding *bounding)
{
	DpInput    *input = &bounding->input;
	ExprContext *econtext = bounding->row;
	TupleTableSlot *slot;
	uint32		nrows = 0;

	dp_begin_pass(bounding, 0, Min(FIRST_TABLE, bounding->limit / 4));
	if (input->scan != NULL && input->scan->ss_currentScanDesc == NULL)
		input->scan->ss_currentScanDesc = table_beginscan(input->scan->ss_currentRelation,
														  bounding->outer->state->es_snapshot, 0, NULL);
	while (slot = next_row(bounding), !TupIsNull(slot))
	{
		MemoryContext old;
		int64		bucket;
		uint64		hash;
		uint64		unit;
		bool		unit_isnull;

		if (input->scan != NULL)
		{
			if (++nrows % CHOOSE_AFTER == 0)
				choose_order(input);
			if (!input->rank_first && !passes_qual(input, slot))
				continue;
		}
		slot_getsomeattrs(slot, input->first_attno);
		unit_isnull = slot->tts_isnull[input->unit_attno - 1];
		unit = unit_isnull ? 0 : dp_key_word(slot->tts_values[input->unit_attno - 1], bounding->record.unit_typlen);
		hash = dp_unit_hash(unit, bounding->spec);
		bucket = dp_find_unit(bounding, unit, unit_isnull, hash);
		if (input->keys_are_columns && !passes_rank(bounding, bucket, hash, slot))
			continue;
		if (input->rank_first && !passes_qual(input, slot))
			continue;

		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		set_arguments(bounding, slot);
		if (input->keys_are_columns || !dp_is_left_out(bounding, bucket, hash, NULL))
			dp_gather_row(bounding, bucket, unit, unit_isnull, hash);
		MemoryContextSwitchTo(old);
		dp_reset_row_memory(econtext);
	}
	dp_end_pass(bounding);
}
