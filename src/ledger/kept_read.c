/*-------------------------------------------------------------------------
 *
 * kept_read.c
 *	  Kept answers as who asks sees them, and the locks of questions.
 *
 * Answers are given only where a debit would be granted: not on a standby, and
 * not while the ledger waits for its adoption, as numbers of balances may mean
 * others there.
 *
 * Most lookups find nothing, so that these are cheap: where the table is, is
 * remembered, and all else is asked only when there is an answer.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type_d.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "base/amounts.h"
#include "base/dataset_row.h"
#include "base/extension.h"
#include "base/places.h"
#include "base/role_names.h"
#include "ledger/tables.h"

/* a class of advisory locks that pg_advisory_lock() does not have, which takes 1 and 2 */
#define FINGERPRINT_LOCK_CLASS 3

/* where the table is, and that the ledger waits for nothing */
static struct
{
	bool		valid;
	Oid			table;
	Oid			index;
	AttrNumber	attnum[DP_KEPT_NCOLS];
	Oid			stamp;
	uint64		changes;		/* of the stamp, that this process has heard
								 * of */
	bool		is_here;
	TimeLineID	timeline;		/* of is_here */
}			known;

static void
relation_changed(Datum arg, Oid relid)
{
	if (!OidIsValid(relid) || relid == known.table || relid == known.index)
		known.valid = false;
	if (!OidIsValid(relid) || relid == known.stamp)
	{
		known.is_here = false;
		known.changes++;
	}
}

/* the extension is dropped, and another created */
static void
schema_changed(Datum arg, int cacheid, uint32 hashvalue)
{
	known.valid = known.is_here = false;
	known.changes++;
}

/* Opens the table of kept answers; NULL: there is none. */
static Relation
open_table(void)
{
	static bool registered = false;
	Relation	rel;

	if (!registered)
	{
		CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
		CacheRegisterSyscacheCallback(NAMESPACEOID, schema_changed, (Datum) 0);
		registered = true;
	}
	/* getting the lock reads invalidations */
	rel = known.valid ? table_open(known.table, AccessShareLock) : NULL;
	if (rel != NULL && known.valid)
		return rel;
	if (rel != NULL)
		table_close(rel, AccessShareLock);

	known.table = dp_own_table(dp_table_name(DP_T_KEPT));
	known.stamp = dp_own_table(dp_table_name(DP_T_STAMP));
	if (!OidIsValid(known.table))
		return NULL;
	rel = table_open(known.table, AccessShareLock);
	RelationGetIndexList(rel);	/* sets rd_pkindex */
	known.index = rel->rd_pkindex;
	if (!OidIsValid(known.index))
		elog(ERROR, "table dp_cdp_internal.kept_answer lacks its primary key");
	for (int i = 0; i < DP_KEPT_NCOLS; i++)
	{
		known.attnum[i] = get_attnum(known.table, dp_kept_columns[i]);
		if (known.attnum[i] == InvalidAttrNumber)
			elog(ERROR, "table dp_cdp_internal.kept_answer lacks column \"%s\"", dp_kept_columns[i]);
	}
	known.valid = true;
	return rel;
}

/* ---------------------------------------------------------------------
 * Answers
 * ---------------------------------------------------------------------
 */

static Datum
get_column(TupleTableSlot *row, int column, bool *isnull)
{
	return slot_getattr(row, known.attnum[column], isnull);
}

static int64
get_amount(TupleTableSlot *row, int column, int scale)
{
	bool		isnull;
	Datum		value = get_column(row, column, &isnull);

	return isnull ? 0 : dp_numeric_amount(DatumGetNumeric(value), scale, true);
}

static void
read_payers(DpKeptAnswer *answer, Datum value)
{
	Datum	   *elements;

	deconstruct_array(DatumGetArrayTypeP(value), INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &elements, NULL, &answer->npaid);
	answer->paid_by = palloc(Max(answer->npaid, 1) * sizeof(int64));
	for (int i = 0; i < answer->npaid; i++)
		answer->paid_by[i] = DatumGetInt64(elements[i]);
}

static DpKeptAnswer *
read_answer(TupleTableSlot *row, const uint8 *fingerprint, TimestampTz began)
{
	DpKeptAnswer *answer = palloc0(sizeof(DpKeptAnswer));
	bool		isnull;
	Datum		value;

	memcpy(answer->id.fingerprint, fingerprint, DP_FINGERPRINT_BYTES);
	answer->id.began = began;
	answer->id.rho = get_amount(row, DP_KEPT_RHO, DP_RHO_SCALE);
	answer->id.delta = get_amount(row, DP_KEPT_DELTA, DP_DELTA_SCALE);
	answer->id.below = get_amount(row, DP_KEPT_BELOW, DP_RHO_SCALE);
	value = get_column(row, DP_KEPT_PAID_BY, &isnull);
	if (!isnull)
		read_payers(answer, value);
	value = get_column(row, DP_KEPT_ANSWER, &isnull);
	if (!isnull)
		answer->values = PG_DETOAST_DATUM_COPY(value);
	return answer;
}

/*
 * Reads the chains of a question that have not ended; cap: the number of the cap that its rows have.  A chain
 * has ended where any of its answers has: one that was too long to be kept, say, was shown, and a
 * second draw of it would tell more than the price that both bear.
 */
static List *
read_chain(Relation rel, Snapshot snapshot, const char *dataset, const uint8 *fingerprint, TimestampTz since, int64 *cap)
{
	Relation	index = index_open(known.index, AccessShareLock);
	bytea	   *key = palloc(VARHDRSZ + DP_FINGERPRINT_BYTES);
	TupleTableSlot *row = NULL;
	List	   *answers = NIL;
	TimestampTz over = DT_NOBEGIN;	/* of the chain that was read last, if it
									 * has ended */
	ScanKeyData keys[2];
	IndexScanDesc scan;

	SET_VARSIZE(key, VARHDRSZ + DP_FINGERPRINT_BYTES);
	memcpy(VARDATA(key), fingerprint, DP_FINGERPRINT_BYTES);
	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_BYTEAEQ, PointerGetDatum(key));
	ScanKeyInit(&keys[1], 2, BTGreaterEqualStrategyNumber, F_TIMESTAMPTZ_GE, TimestampTzGetDatum(since));
	scan = dp_index_beginscan(rel, index, snapshot, 2);
	index_rescan(scan, keys, 2, NULL, 0);
	/* backwards: the youngest first, and of it the dearest */
	while (index_getnext_tid(scan, BackwardScanDirection) != NULL)
	{
		TimestampTz began;
		bool		isnull;

		if (row == NULL)
			row = table_slot_create(rel, NULL);
		if (!index_fetch_heap(scan, row))
			continue;
		if (strcmp(TextDatumGetCString(get_column(row, DP_KEPT_DATASET, &isnull)), dataset) != 0)
			continue;
		began = DatumGetTimestampTz(get_column(row, DP_KEPT_BEGAN, &isnull));
		if (DatumGetBool(get_column(row, DP_KEPT_ENDED, &isnull)))
		{
			over = began;
			while (answers != NIL && ((DpKeptAnswer *) llast(answers))->id.began == began)
				answers = list_delete_last(answers);
		}
		if (began == over)
			continue;
		*cap = DatumGetInt64(get_column(row, DP_KEPT_LEDGER_ID, &isnull));
		answers = lappend(answers, read_answer(row, fingerprint, began));
	}
	index_endscan(scan);
	if (row != NULL)
		ExecDropSingleTupleTableSlot(row);
	index_close(index, AccessShareLock);
	pfree(key);
	return answers;
}

/* Reads the number of a dataset's cap, and whether the ledger or its owner has adopted it here; false: there is none. */
static bool
read_cap(const char *dataset, Snapshot snapshot, int64 *cap, bool *adopted)
{
	Oid			relid = dp_own_table(dp_table_name(DP_T_DATASET));
	Relation	rel;
	TupleTableSlot *row;
	bool		found;

	if (!OidIsValid(relid))
		return false;
	rel = table_open(relid, AccessShareLock);
	row = table_slot_create(rel, NULL);
	found = dp_read_newest(rel, dataset, snapshot, row);
	if (found)
	{
		TupleDesc	desc = RelationGetDescr(rel);
		bool		isnull;
		Datum		stamp = slot_getattr(row, dp_dataset_attnum(desc, DP_DATASET_ADOPTED), &isnull);

		if (adopted != NULL)
			*adopted = !isnull && dp_stamp_is_here(TextDatumGetCString(stamp));
		*cap = DatumGetInt64(slot_getattr(row, dp_dataset_attnum(desc, DP_DATASET_LEDGER_ID), &isnull));
	}
	ExecDropSingleTupleTableSlot(row);
	table_close(rel, AccessShareLock);
	return found;
}

/* Tells whether the ledger waits for nothing.  Its stamp stays good until it is written, or the timeline changes. */
static bool
ledger_is_here(void)
{
	TimeLineID	timeline = dp_current_timeline();
	uint64		before;

	if (known.is_here && known.timeline == timeline)
		return true;
	before = known.changes;
	if (dp_ledger_waits() != NULL)
		return false;
	known.is_here = before == known.changes;
	known.timeline = timeline;
	return true;
}

static Snapshot
snapshot_of(DpKeptMoment *moment)
{
	/* none can be taken while parallel workers share one */
	if (moment->snapshot == NULL)
		moment->snapshot = RegisterSnapshot(IsInParallelMode() ? GetActiveSnapshot() : GetLatestSnapshot());
	return moment->snapshot;
}

void
dp_kept_moment_end(DpKeptMoment *moment)
{
	if (moment->snapshot != NULL)
		UnregisterSnapshot(moment->snapshot);
	moment->snapshot = NULL;
}

List *
dp_kept_answers(const char *dataset, const uint8 *fingerprint, TimestampTz since, DpKeptMoment *moment)
{
	Relation	rel;
	List	   *answers = NIL;
	int64		cap = 0;
	int64		its_cap = 0;
	bool		adopted = false;

	if (RecoveryInProgress() || (rel = open_table()) == NULL)
		return NIL;
	if (RelationGetNumberOfBlocks(rel) > 0)
	{
		Snapshot	snapshot = snapshot_of(moment);

		answers = read_chain(rel, snapshot, dataset, fingerprint, since, &cap);
		if (answers != NIL && (!read_cap(dataset, snapshot, &its_cap, &adopted) || its_cap != cap))
			answers = NIL;
	}
	table_close(rel, AccessShareLock);
	if (answers != NIL && !adopted && !ledger_is_here())
		answers = NIL;
	return answers;
}

/* ---------------------------------------------------------------------
 * Balances
 * ---------------------------------------------------------------------
 */

/* the table of budgets while it is read */
typedef struct Reading
{
	AttrNumber	role;
	AttrNumber	role_name;
	AttrNumber	ledger_id;
	int			n;
	int			room;
	int64	   *ids;
} Reading;

static bool
add_budget(TupleTableSlot *row, void *arg)
{
	Reading    *reading = arg;
	bool		isnull;
	Oid			role = DatumGetObjectId(slot_getattr(row, reading->role, &isnull));
	Datum		name = slot_getattr(row, reading->role_name, &isnull);

	/* the budget of a role that there is no more is nobody's */
	if (dp_known_role(role, isnull ? NULL : TextDatumGetCString(name)) != role)
		return true;
	if (!dp_role_pays(GetUserId(), role) && !dp_role_pays(GetSessionUserId(), role))
		return true;
	/* one more for the cap */
	if (reading->n + 1 == reading->room)
	{
		reading->room *= 2;
		reading->ids = repalloc(reading->ids, reading->room * sizeof(int64));
	}
	reading->ids[reading->n++] = DatumGetInt64(slot_getattr(row, reading->ledger_id, &isnull));
	return true;
}

int64 *
dp_payer_balances(const char *dataset, int *n, DpKeptMoment *moment)
{
	Reading		reading = {.room = 8, .ids = palloc(8 * sizeof(int64))};
	Oid			relid = dp_own_table(dp_table_name(DP_T_BUDGET));
	Relation	rel;
	Snapshot	snapshot = snapshot_of(moment);

	*n = 0;
	reading.ids[0] = 0;
	if (!OidIsValid(relid))
		return reading.ids;
	rel = table_open(relid, AccessShareLock);
	reading.role = get_attnum(relid, "role");
	reading.role_name = get_attnum(relid, "role_name");
	reading.ledger_id = get_attnum(relid, "ledger_id");
	dp_scan_newest(rel, dataset, snapshot, add_budget, &reading);
	/* 0 is no balance's number */
	reading.ids[reading.n] = 0;
	(void) read_cap(dataset, snapshot, &reading.ids[reading.n], NULL);
	table_close(rel, AccessShareLock);
	*n = reading.n;
	return reading.ids;
}

/* ---------------------------------------------------------------------
 * Locks
 * ---------------------------------------------------------------------
 */

static void
set_tag(LOCKTAG *tag, const uint8 *fingerprint)
{
	uint32		halves[2];

	memcpy(halves, fingerprint, sizeof(halves));
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, halves[0], halves[1], FINGERPRINT_LOCK_CLASS);
}

void
dp_lock_fingerprint(const uint8 *fingerprint)
{
	LOCKTAG		tag;

	set_tag(&tag, fingerprint);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

void
dp_unlock_fingerprint(const uint8 *fingerprint)
{
	LOCKTAG		tag;

	set_tag(&tag, fingerprint);
	(void) LockRelease(&tag, ExclusiveLock, false);
}

/* Tells whether the worker is busy with a request in this slot that somebody gave up. */
static bool
is_given_up(int slot)
{
	return pg_atomic_read_u64(&dp_shared->words[slot]) == dp_word(MyDatabaseId, DP_REQUEST_ABANDONED);
}

void
dp_await_given_up(void)
{
	for (int i = 0; dp_shared != NULL && i < dp_shared->nslots; i++)
	{
		/* the worker wakes nobody for it, and is done in a moment */
		while (is_given_up(i))
		{
			CHECK_FOR_INTERRUPTS();
			(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 1L, dp_wait_event());
			ResetLatch(MyLatch);
		}
	}
}
