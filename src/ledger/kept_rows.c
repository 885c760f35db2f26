/*-------------------------------------------------------------------------
 *
 * kept_rows.c
 *	  Kept answers while a batch is at work: ladders, read once in a batch, and
 *	  their rungs, locked where they are to change and written once.
 *
 * Invariants:
 *	- a rung is changed from its latest version, which the lock keeps until the
 *	  commit; no lock is waited for;
 *	- values are written into a rung that has none, and never changed: what was
 *	  given once is what is given again;
 *	- a rung that is added to a ladder that has ended has ended, too.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "base/amounts.h"
#include "base/places.h"
#include "ledger/batch.h"

/* ---------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------
 */

static int64
get_amount(DpOpenTable *table, TupleTableSlot *row, int col, int scale)
{
	bool		isnull;
	Datum		value = dp_column(table, row, col, &isnull);

	return isnull ? 0 : dp_numeric_amount(DatumGetNumeric(value), scale, true);
}

static void
read_payers(DpRung *rung, Datum value)
{
	Datum	   *elements;

	deconstruct_array(DatumGetArrayTypeP(value), INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &elements, NULL, &rung->npaid);
	rung->paid_by = palloc(Max(rung->npaid, 1) * sizeof(int64));
	for (int i = 0; i < rung->npaid; i++)
		rung->paid_by[i] = DatumGetInt64(elements[i]);
}

/* Fills in a rung from its row. */
static void
read_rung(DpOpenTable *table, DpRung *rung)
{
	bool		isnull;
	Datum		value;

	slot_getallattrs(rung->row);
	rung->ended = DatumGetBool(dp_column(table, rung->row, DP_KEPT_ENDED, &isnull));
	(void) dp_column(table, rung->row, DP_KEPT_ANSWER, &isnull);
	rung->has_values = !isnull;
	value = dp_column(table, rung->row, DP_KEPT_PAID_BY, &isnull);
	rung->npaid = 0;
	rung->paid_by = NULL;
	if (!isnull)
		read_payers(rung, value);
}

static void
add_rung(DpWork *work, DpLadder *ladder, TupleTableSlot *row)
{
	DpOpenTable *table = &work->table[DP_T_KEPT];
	DpRung	   *rung = palloc0(sizeof(DpRung));
	bool		isnull;

	rung->row = table_slot_create(table->rel, NULL);
	ExecCopySlot(rung->row, row);
	rung->row->tts_tid = row->tts_tid;
	rung->rho = get_amount(table, row, DP_KEPT_RHO, DP_RHO_SCALE);
	rung->delta = get_amount(table, row, DP_KEPT_DELTA, DP_DELTA_SCALE);
	ladder->cap = DatumGetInt64(dp_column(table, row, DP_KEPT_LEDGER_ID, &isnull));
	read_rung(table, rung);
	ladder->ended = ladder->ended || rung->ended;
	ladder->rungs = lappend(ladder->rungs, rung);
}

static void
read_ladder(DpWork *work, DpLadder *ladder)
{
	Relation	rel = work->table[DP_T_KEPT].rel;
	Relation	index = index_open(dp_primary_key(rel), AccessShareLock);
	bytea	   *question = palloc(VARHDRSZ + DP_QUESTION_BYTES);
	TupleTableSlot *row = table_slot_create(rel, NULL);
	IndexScanDesc scan;
	ScanKeyData keys[2];

	SET_VARSIZE(question, VARHDRSZ + DP_QUESTION_BYTES);
	memcpy(VARDATA(question), ladder->question, DP_QUESTION_BYTES);
	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_BYTEAEQ, PointerGetDatum(question));
	ScanKeyInit(&keys[1], 2, BTEqualStrategyNumber, F_TIMESTAMPTZ_EQ, TimestampTzGetDatum(ladder->began));
	scan = dp_index_beginscan(rel, index, work->snapshot, 2);
	index_rescan(scan, keys, 2, NULL, 0);
	while (index_getnext_slot(scan, ForwardScanDirection, row))
		add_rung(work, ladder, row);
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(row);
	index_close(index, AccessShareLock);
}

DpLadder *
dp_get_ladder(DpWork *work, const DpKeptId *id)
{
	DpLadder   *ladder;

	foreach_ptr(DpLadder, item, work->ladders)
	{
		ladder = item;
		if (memcmp(ladder->question, id->question, DP_QUESTION_BYTES) == 0 && ladder->began == id->began)
			return ladder;
	}
	ladder = palloc0(sizeof(DpLadder));
	memcpy(ladder->question, id->question, DP_QUESTION_BYTES);
	ladder->began = id->began;
	read_ladder(work, ladder);
	work->ladders = lappend(work->ladders, ladder);
	return ladder;
}

DpRung *
dp_find_rung(DpLadder *ladder, const DpKeptId *id)
{
	foreach_ptr(DpRung, rung, ladder->rungs)
	{
		if (rung->rho == id->rho && rung->delta == id->delta)
			return rung;
	}
	return NULL;
}

bool
dp_has_paid(const DpRung *rung, int64 ledger_id)
{
	for (int i = 0; i < rung->npaid; i++)
	{
		if (rung->paid_by[i] == ledger_id)
			return true;
	}
	return false;
}

void
dp_ladder_paid(const DpLadder *ladder, int64 ledger_id, int64 *rho, int64 *delta)
{
	*rho = *delta = 0;
	foreach_ptr(DpRung, rung, ladder->rungs)
	{
		if (!dp_has_paid(rung, ledger_id))
			continue;
		*rho = Max(*rho, rung->rho);
		*delta = Max(*delta, rung->delta);
	}
}

/* ---------------------------------------------------------------------
 * Changing
 * ---------------------------------------------------------------------
 */

bool
dp_lock_rung(DpWork *work, DpRung *rung)
{
	DpOpenTable *table = &work->table[DP_T_KEPT];
	TM_FailureData failure;
	TupleTableSlot *latest;
	ItemPointerData tid;

	if (rung->row == NULL || rung->locked)
		return true;
	tid = rung->row->tts_tid;
	latest = table_slot_create(table->rel, NULL);
	if (table_tuple_lock(table->rel, &tid, work->snapshot, latest, GetCurrentCommandId(false),
						 LockTupleNoKeyExclusive, LockWaitSkip, TUPLE_LOCK_FLAG_FIND_LAST_VERSION, &failure) != TM_Ok)
	{
		/* the next batch reads the ladder anew */
		ExecDropSingleTupleTableSlot(latest);
		return false;
	}
	ExecDropSingleTupleTableSlot(rung->row);
	rung->row = latest;
	rung->locked = true;
	read_rung(table, rung);
	return true;
}

DpRung *
dp_add_rung(DpLadder *ladder, const DpKeptId *id, const char *dataset, int64 cap, bool dumped)
{
	DpRung	   *rung = palloc0(sizeof(DpRung));

	if (ladder->rungs != NIL && ladder->cap != cap)
		elog(ERROR, "kept answers of another dataset bear the name of a question");
	ladder->cap = cap;
	rung->rho = id->rho;
	rung->delta = id->delta;
	rung->below = id->below;
	rung->dataset = dataset;
	rung->dumped = dumped;
	rung->ended = ladder->ended;
	rung->paid_by = NULL;
	rung->changed = true;
	ladder->rungs = lappend(ladder->rungs, rung);
	return rung;
}

void
dp_note_payer(DpRung *rung, int64 ledger_id)
{
	if (dp_has_paid(rung, ledger_id))
		return;
	rung->paid_by = rung->paid_by == NULL ? palloc(sizeof(int64)) :
		repalloc(rung->paid_by, (rung->npaid + 1) * sizeof(int64));
	rung->paid_by[rung->npaid++] = ledger_id;
	rung->changed = true;
}

static Datum
payers_array(const DpRung *rung)
{
	Datum	   *ids = palloc(Max(rung->npaid, 1) * sizeof(Datum));

	for (int i = 0; i < rung->npaid; i++)
		ids[i] = Int64GetDatum(rung->paid_by[i]);
	return PointerGetDatum(construct_array(ids, rung->npaid, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

static void
fill_in_new(DpOpenTable *table, TupleTableSlot *row, const DpLadder *ladder, const DpRung *rung)
{
	bytea	   *question = palloc(VARHDRSZ + DP_QUESTION_BYTES);

	SET_VARSIZE(question, VARHDRSZ + DP_QUESTION_BYTES);
	memcpy(VARDATA(question), ladder->question, DP_QUESTION_BYTES);
	memset(row->tts_isnull, true, RelationGetDescr(table->rel)->natts * sizeof(bool));
	dp_set_column(table, row, DP_KEPT_DATASET, CStringGetTextDatum(rung->dataset));
	dp_set_column(table, row, DP_KEPT_LEDGER_ID, Int64GetDatum(ladder->cap));
	dp_set_column(table, row, DP_KEPT_QUESTION, PointerGetDatum(question));
	dp_set_column(table, row, DP_KEPT_BEGAN, TimestampTzGetDatum(ladder->began));
	dp_set_column(table, row, DP_KEPT_RHO, NumericGetDatum(dp_amount_numeric(rung->rho, DP_RHO_SCALE)));
	dp_set_column(table, row, DP_KEPT_DELTA, NumericGetDatum(dp_amount_numeric(rung->delta, DP_DELTA_SCALE)));
	dp_set_column(table, row, DP_KEPT_BELOW, NumericGetDatum(dp_amount_numeric(rung->below, DP_RHO_SCALE)));
	dp_set_column(table, row, DP_KEPT_DUMPED, BoolGetDatum(rung->dumped));
	if (!rung->has_days)
		return;
	dp_set_column(table, row, DP_KEPT_BLOCK_FROM, DateADTGetDatum(rung->days.from));
	dp_set_column(table, row, DP_KEPT_BLOCK_TO, DateADTGetDatum(rung->days.to));
}

static void
write_rung(DpWork *work, DpLadder *ladder, DpRung *rung)
{
	DpOpenTable *table = &work->table[DP_T_KEPT];
	int			natts = RelationGetDescr(table->rel)->natts;
	TupleTableSlot *row = table_slot_create(table->rel, NULL);

	ExecClearTuple(row);
	if (rung->row != NULL)
	{
		memcpy(row->tts_values, rung->row->tts_values, natts * sizeof(Datum));
		memcpy(row->tts_isnull, rung->row->tts_isnull, natts * sizeof(bool));
	}
	else
		fill_in_new(table, row, ladder, rung);
	dp_set_column(table, row, DP_KEPT_ENDED, BoolGetDatum(rung->ended));
	dp_set_column(table, row, DP_KEPT_PAID_BY, payers_array(rung));
	dp_set_column(table, row, DP_KEPT_USED_AT, TimestampTzGetDatum(work->now));
	if (rung->values != NULL)
	{
		dp_set_column(table, row, DP_KEPT_ANSWER, PointerGetDatum(rung->values));
		dp_set_column(table, row, DP_KEPT_BELOW, NumericGetDatum(dp_amount_numeric(rung->below, DP_RHO_SCALE)));
	}
	ExecStoreVirtualTuple(row);
	if (rung->row != NULL)
		dp_update_locked_row(table->rri, work->estate, work->snapshot, &rung->row->tts_tid, row);
	else
	{
		simple_table_tuple_insert(table->rel, row);
		if (table->rri->ri_NumIndices > 0)
			dp_insert_index_tuples(table->rri, row, work->estate, false, false);
	}
	ResetPerTupleExprContext(work->estate);
	ExecDropSingleTupleTableSlot(row);
	if (rung->values != NULL)
		dp_kept_count(1, VARSIZE(rung->values) - VARHDRSZ);
	else
		dp_kept_count(0, 0);
}

void
dp_write_ladders(DpWork *work)
{
	foreach_ptr(DpLadder, ladder, work->ladders)
	{
		foreach_ptr(DpRung, written, ladder->rungs)
		{
			if (written->changed)
				write_rung(work, ladder, written);
			if (written->row != NULL)
				ExecDropSingleTupleTableSlot(written->row);
			written->row = NULL;
		}
	}
}
