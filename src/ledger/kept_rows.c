/*-------------------------------------------------------------------------
 *
 * kept_rows.c
 *	  Kept answers while a batch is at work: chains, read once in a batch, and
 *	  their links, locked where they are to change and written once.
 *
 * Invariants:
 *	- a link is changed from its latest version, which the lock keeps until the
 *	  commit; no lock is waited for;
 *	- values are written into a link that has none, and never changed: what was
 *	  given once is what is given again;
 *	- a link that is added to a chain that has ended has ended, too.
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
read_payers(DpLink *link, Datum value)
{
	Datum	   *elements;

	deconstruct_array(DatumGetArrayTypeP(value), INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &elements, NULL, &link->npaid);
	link->paid_by = palloc(Max(link->npaid, 1) * sizeof(int64));
	for (int i = 0; i < link->npaid; i++)
		link->paid_by[i] = DatumGetInt64(elements[i]);
}

/* Fills in a link from its row. */
static void
read_link(DpOpenTable *table, DpLink *link)
{
	bool		isnull;
	Datum		value;

	slot_getallattrs(link->row);
	link->ended = DatumGetBool(dp_column(table, link->row, DP_KEPT_ENDED, &isnull));
	(void) dp_column(table, link->row, DP_KEPT_ANSWER, &isnull);
	link->has_values = !isnull;
	value = dp_column(table, link->row, DP_KEPT_PAID_BY, &isnull);
	link->npaid = 0;
	link->paid_by = NULL;
	if (!isnull)
		read_payers(link, value);
}

static void
add_link(DpWork *work, DpChain *chain, TupleTableSlot *row)
{
	DpOpenTable *table = &work->table[DP_T_KEPT];
	DpLink	   *link = palloc0(sizeof(DpLink));
	bool		isnull;

	link->row = table_slot_create(table->rel, NULL);
	ExecCopySlot(link->row, row);
	link->row->tts_tid = row->tts_tid;
	link->rho = get_amount(table, row, DP_KEPT_RHO, DP_RHO_SCALE);
	link->delta = get_amount(table, row, DP_KEPT_DELTA, DP_DELTA_SCALE);
	chain->cap = DatumGetInt64(dp_column(table, row, DP_KEPT_LEDGER_ID, &isnull));
	read_link(table, link);
	chain->ended = chain->ended || link->ended;
	chain->links = lappend(chain->links, link);
}

static void
read_chain(DpWork *work, DpChain *chain)
{
	Relation	rel = work->table[DP_T_KEPT].rel;
	Relation	index = index_open(dp_primary_key(rel), AccessShareLock);
	bytea	   *fingerprint = palloc(VARHDRSZ + DP_FINGERPRINT_BYTES);
	TupleTableSlot *row = table_slot_create(rel, NULL);
	IndexScanDesc scan;
	ScanKeyData keys[2];

	SET_VARSIZE(fingerprint, VARHDRSZ + DP_FINGERPRINT_BYTES);
	memcpy(VARDATA(fingerprint), chain->fingerprint, DP_FINGERPRINT_BYTES);
	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_BYTEAEQ, PointerGetDatum(fingerprint));
	ScanKeyInit(&keys[1], 2, BTEqualStrategyNumber, F_TIMESTAMPTZ_EQ, TimestampTzGetDatum(chain->began));
	scan = dp_index_beginscan(rel, index, work->snapshot, 2);
	index_rescan(scan, keys, 2, NULL, 0);
	while (index_getnext_slot(scan, ForwardScanDirection, row))
		add_link(work, chain, row);
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(row);
	index_close(index, AccessShareLock);
}

DpChain *
dp_get_chain(DpWork *work, const DpKeptId *id)
{
	DpChain    *chain;

	foreach_ptr(DpChain, item, work->chains)
	{
		chain = item;
		if (memcmp(chain->fingerprint, id->fingerprint, DP_FINGERPRINT_BYTES) == 0 && chain->began == id->began)
			return chain;
	}
	chain = palloc0(sizeof(DpChain));
	memcpy(chain->fingerprint, id->fingerprint, DP_FINGERPRINT_BYTES);
	chain->began = id->began;
	read_chain(work, chain);
	work->chains = lappend(work->chains, chain);
	return chain;
}

DpLink *
dp_find_link(DpChain *chain, const DpKeptId *id)
{
	foreach_ptr(DpLink, link, chain->links)
	{
		if (link->rho == id->rho && link->delta == id->delta)
			return link;
	}
	return NULL;
}

bool
dp_has_paid(const DpLink *link, int64 ledger_id)
{
	for (int i = 0; i < link->npaid; i++)
	{
		if (link->paid_by[i] == ledger_id)
			return true;
	}
	return false;
}

void
dp_refine_paid(const DpChain *chain, int64 ledger_id, int64 *rho, int64 *delta)
{
	*rho = *delta = 0;
	foreach_ptr(DpLink, link, chain->links)
	{
		if (!dp_has_paid(link, ledger_id))
			continue;
		*rho = Max(*rho, link->rho);
		*delta = Max(*delta, link->delta);
	}
}

/* ---------------------------------------------------------------------
 * Changing
 * ---------------------------------------------------------------------
 */

bool
dp_lock_link(DpWork *work, DpLink *link)
{
	DpOpenTable *table = &work->table[DP_T_KEPT];
	TM_FailureData failure;
	TupleTableSlot *latest;
	ItemPointerData tid;

	if (link->row == NULL || link->locked)
		return true;
	tid = link->row->tts_tid;
	latest = table_slot_create(table->rel, NULL);
	if (table_tuple_lock(table->rel, &tid, work->snapshot, latest, GetCurrentCommandId(false),
						 LockTupleNoKeyExclusive, LockWaitSkip, TUPLE_LOCK_FLAG_FIND_LAST_VERSION, &failure) != TM_Ok)
	{
		/* the next batch reads the chain anew */
		ExecDropSingleTupleTableSlot(latest);
		return false;
	}
	ExecDropSingleTupleTableSlot(link->row);
	link->row = latest;
	link->locked = true;
	read_link(table, link);
	return true;
}

DpLink *
dp_add_link(DpChain *chain, const DpKeptId *id, const char *dataset, int64 cap, bool dumped)
{
	DpLink	   *link = palloc0(sizeof(DpLink));

	if (chain->links != NIL && chain->cap != cap)
		elog(ERROR, "kept answers of another dataset bear the name of a question");
	chain->cap = cap;
	link->rho = id->rho;
	link->delta = id->delta;
	link->below = id->below;
	link->dataset = dataset;
	link->dumped = dumped;
	link->ended = chain->ended;
	link->paid_by = NULL;
	link->changed = true;
	chain->links = lappend(chain->links, link);
	return link;
}

void
dp_note_payer(DpLink *link, int64 ledger_id)
{
	if (dp_has_paid(link, ledger_id))
		return;
	link->paid_by = link->paid_by == NULL ? palloc(sizeof(int64)) :
		repalloc(link->paid_by, (link->npaid + 1) * sizeof(int64));
	link->paid_by[link->npaid++] = ledger_id;
	link->changed = true;
}

static Datum
payers_array(const DpLink *link)
{
	Datum	   *ids = palloc(Max(link->npaid, 1) * sizeof(Datum));

	for (int i = 0; i < link->npaid; i++)
		ids[i] = Int64GetDatum(link->paid_by[i]);
	return PointerGetDatum(construct_array(ids, link->npaid, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

static void
fill_in_new(DpOpenTable *table, TupleTableSlot *row, const DpChain *chain, const DpLink *link)
{
	bytea	   *fingerprint = palloc(VARHDRSZ + DP_FINGERPRINT_BYTES);

	SET_VARSIZE(fingerprint, VARHDRSZ + DP_FINGERPRINT_BYTES);
	memcpy(VARDATA(fingerprint), chain->fingerprint, DP_FINGERPRINT_BYTES);
	memset(row->tts_isnull, true, RelationGetDescr(table->rel)->natts * sizeof(bool));
	dp_set_column(table, row, DP_KEPT_DATASET, CStringGetTextDatum(link->dataset));
	dp_set_column(table, row, DP_KEPT_LEDGER_ID, Int64GetDatum(chain->cap));
	dp_set_column(table, row, DP_KEPT_FINGERPRINT, PointerGetDatum(fingerprint));
	dp_set_column(table, row, DP_KEPT_BEGAN, TimestampTzGetDatum(chain->began));
	dp_set_column(table, row, DP_KEPT_RHO, NumericGetDatum(dp_amount_numeric(link->rho, DP_RHO_SCALE)));
	dp_set_column(table, row, DP_KEPT_DELTA, NumericGetDatum(dp_amount_numeric(link->delta, DP_DELTA_SCALE)));
	dp_set_column(table, row, DP_KEPT_BELOW, NumericGetDatum(dp_amount_numeric(link->below, DP_RHO_SCALE)));
	dp_set_column(table, row, DP_KEPT_DUMPED, BoolGetDatum(link->dumped));
	if (!link->has_days)
		return;
	dp_set_column(table, row, DP_KEPT_BLOCK_FROM, DateADTGetDatum(link->days.from));
	dp_set_column(table, row, DP_KEPT_BLOCK_TO, DateADTGetDatum(link->days.to));
}

static void
write_link(DpWork *work, DpChain *chain, DpLink *link)
{
	DpOpenTable *table = &work->table[DP_T_KEPT];
	int			natts = RelationGetDescr(table->rel)->natts;
	TupleTableSlot *row = table_slot_create(table->rel, NULL);

	ExecClearTuple(row);
	if (link->row != NULL)
	{
		memcpy(row->tts_values, link->row->tts_values, natts * sizeof(Datum));
		memcpy(row->tts_isnull, link->row->tts_isnull, natts * sizeof(bool));
	}
	else
		fill_in_new(table, row, chain, link);
	dp_set_column(table, row, DP_KEPT_ENDED, BoolGetDatum(link->ended));
	dp_set_column(table, row, DP_KEPT_PAID_BY, payers_array(link));
	dp_set_column(table, row, DP_KEPT_USED_AT, TimestampTzGetDatum(work->now));
	if (link->values != NULL)
	{
		dp_set_column(table, row, DP_KEPT_ANSWER, PointerGetDatum(link->values));
		dp_set_column(table, row, DP_KEPT_BELOW, NumericGetDatum(dp_amount_numeric(link->below, DP_RHO_SCALE)));
	}
	ExecStoreVirtualTuple(row);
	if (link->row != NULL)
		dp_update_locked_row(table->rri, work->estate, work->snapshot, &link->row->tts_tid, row);
	else
	{
		simple_table_tuple_insert(table->rel, row);
		if (table->rri->ri_NumIndices > 0)
			dp_insert_index_tuples(table->rri, row, work->estate, false, false);
	}
	ResetPerTupleExprContext(work->estate);
	ExecDropSingleTupleTableSlot(row);
	if (link->values != NULL)
		dp_kept_count(1, VARSIZE(link->values) - VARHDRSZ);
	else
		dp_kept_count(0, 0);
}

void
dp_write_chains(DpWork *work)
{
	foreach_ptr(DpChain, chain, work->chains)
	{
		foreach_ptr(DpLink, written, chain->links)
		{
			if (written->changed)
				write_link(work, chain, written);
			if (written->row != NULL)
				ExecDropSingleTupleTableSlot(written->row);
			written->row = NULL;
		}
	}
}
