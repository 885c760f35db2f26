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

/* what the table may take: its buckets, some of it, stay in a core's second cache */
#define FIRST_TABLE ((Size) 3 * 1024 * 1024)

/* after how many rows of a scan the order of tests is chosen anew */
#define CHOOSE_AFTER 1024

/* the next row of the input, which passes_qual tests when it is a scan's; NULL at the end */
static inline TupleTableSlot *
next_row(DpBounding *rows)
{
	TupleTableSlot *slot;

	if (rows->scan == NULL)
		return ExecProcNode(outerPlanState(rows->agg));
	CHECK_FOR_INTERRUPTS();
	slot = rows->scan->ss_ScanTupleSlot;
	return table_scan_getnextslot(rows->scan->ss_currentScanDesc, ForwardScanDirection, slot) ? slot : NULL;
}

static inline bool
passes_qual(DpBounding *rows, TupleTableSlot *slot)
{
	ExprContext *econtext = rows->scan->ps.ps_ExprContext;
	bool		passes;

	if (rows->scan->ps.qual == NULL)
		return true;
	dp_reset_row_memory(econtext);
	econtext->ecxt_scantuple = slot;
	passes = ExecQual(rows->scan->ps.qual, econtext);
	rows->by_qual.tested++;
	rows->by_qual.dropped += !passes;
	return passes;
}

static inline bool
passes_rank(DpBounding *rows, int64 bucket, uint64 hash, const TupleTableSlot *slot)
{
	bool		passes = !dp_is_left_out(rows, bucket, hash, slot);

	rows->by_rank.tested++;
	rows->by_rank.dropped += !passes;
	return passes;
}

/*
 * Of a scan's condition and the rank, that goes first which has dropped more of
 * the rows that it was asked for.  The rank drops none at first and most later
 * when units have many groups; the condition's part is the query's matter.
 */
static void
choose_order(DpBounding *rows)
{
	if (rows->by_qual.tested > 0)
		rows->rank_first = rows->keys_are_columns &&
			(uint64) rows->by_rank.dropped * rows->by_qual.tested > (uint64) rows->by_qual.dropped * rows->by_rank.tested;
	memset(&rows->by_qual, 0, sizeof(DpDropped));
	memset(&rows->by_rank, 0, sizeof(DpDropped));
}

/* sets arguments that are stored from the input's row */
static inline void
set_arguments(DpBounding *rows, TupleTableSlot *slot)
{
	slot_getsomeattrs(slot, rows->last_attno);
	rows->agg->tmpcontext->ecxt_outertuple = slot;
	for (int i = 0; i < rows->nstored; i++)
	{
		DpStoredArg *arg = &rows->stored[i];
		NullableDatum *value = &rows->fcinfo->args[arg->argno];

		if (arg->attno > 0)
		{
			value->value = slot->tts_values[arg->attno - 1];
			value->isnull = slot->tts_isnull[arg->attno - 1];
		}
		else
			value->value = ExecEvalExpr(arg->expr, rows->agg->tmpcontext, &value->isnull);
	}
}

/* the first pass: rows of the outer plan */
void
dp_gather_input(DpBounding *rows)
{
	ExprContext *econtext = rows->agg->tmpcontext;
	TupleTableSlot *slot;
	uint32		nrows = 0;

	dp_begin_pass(rows, 0, Min(FIRST_TABLE, rows->limit / 4));
	if (rows->scan != NULL && rows->scan->ss_currentScanDesc == NULL)
		rows->scan->ss_currentScanDesc = table_beginscan(rows->scan->ss_currentRelation,
														 rows->agg->ss.ps.state->es_snapshot, 0, NULL);
	while (slot = next_row(rows), !TupIsNull(slot))
	{
		MemoryContext old;
		int64		bucket;
		uint64		hash;
		uint64		unit;
		bool		unit_isnull;

		if (rows->scan != NULL)
		{
			if (++nrows % CHOOSE_AFTER == 0)
				choose_order(rows);
			if (!rows->rank_first && !passes_qual(rows, slot))
				continue;
		}
		slot_getsomeattrs(slot, rows->first_attno);
		unit_isnull = slot->tts_isnull[rows->unit_attno - 1];
		unit = unit_isnull ? 0 : dp_key_word(slot->tts_values[rows->unit_attno - 1], rows->unit_typlen);
		hash = dp_unit_hash(unit, rows->spec);
		bucket = dp_find_unit(rows, unit, unit_isnull, hash);
		if (rows->keys_are_columns && !passes_rank(rows, bucket, hash, slot))
			continue;
		if (rows->rank_first && !passes_qual(rows, slot))
			continue;

		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		set_arguments(rows, slot);
		if (rows->keys_are_columns || !dp_is_left_out(rows, bucket, hash, NULL))
			dp_gather_row(rows, bucket, unit, unit_isnull, hash);
		MemoryContextSwitchTo(old);
		dp_reset_row_memory(econtext);
	}
	dp_end_pass(rows);
}
