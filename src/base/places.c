/*-------------------------------------------------------------------------
 *
 * places.c
 *	  Reads rows that are updated all the time, without walking their past.
 *
 * Every debit leaves a dead version of a dataset's row and of a budget's.  A
 * snapshot that somebody keeps open for an hour keeps all of them, and an index
 * leads to each before it leads to the one that counts.  So it is written down
 * in shared memory where rows were at last: by the ledger's worker when it has
 * locked one, and by who had to search for one.
 *
 * What is written down is a hint.  A reader fetches what is there, follows the
 * chain of updates from there on, and takes it if it is visible to its own
 * snapshot and has the right key; of a key that is at most one version.
 * Otherwise it searches the index, from the end: entries of one key are in
 * order of their places, and while nothing can be removed new versions are put
 * behind old ones.
 *
 * A key that begins with a number and goes on with a day (block_spent) is taken for
 * one of the number's text and of an OID.
 *
 * Invariants:
 *	- nothing is believed: a hint that is wrong, old, of another row or of
 *	  another database costs time and nothing else;
 *	- a hint is one atomic word, so that there is no lock.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "access/stratnum.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "base/places.h"

/* hints there are, for the hot rows of all databases; a row that shares its place with another one costs a search */
#define NPLACES 8192

/* a search that had to pass so many dead versions leaves a hint */
#define MANY_DEAD 4

/* of which the upper 16 bits say whose it is, nearly, and the rest is the place; 0: none */
static pg_atomic_uint64 *places = NULL;

static shmem_startup_hook_type prev_shmem_startup = NULL;

/* a key while it is compared */
typedef struct Key
{
	char		name[NAMEDATALEN];
	Oid			role;
	char		role_name[NAMEDATALEN];
} Key;

/* ---------------------------------------------------------------------
 * Hints
 * ---------------------------------------------------------------------
 */

static Size
places_size(void)
{
	return mul_size(NPLACES, sizeof(pg_atomic_uint64));
}

static void
request_places(void)
{
	RequestAddinShmemSpace(places_size());
}

DP_DEFINE_SHMEM_REQUEST(install_request, request_places);

static void
startup_places(void)
{
	bool		found;

	if (prev_shmem_startup)
		prev_shmem_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	places = ShmemInitStruct("dp_cdp places", places_size(), &found);
	for (int i = 0; !found && i < NPLACES; i++)
		pg_atomic_init_u64(&places[i], 0);
	LWLockRelease(AddinShmemInitLock);
}

void
dp_places_init(void)
{
	install_request();
	prev_shmem_startup = shmem_startup_hook;
	shmem_startup_hook = startup_places;
}

static uint64
hash_key(Relation rel, const char *name, Oid role)
{
	uint64		seed = ((uint64) MyDatabaseId << 32) | RelationGetRelid(rel);

	seed = hash_bytes_extended((const unsigned char *) &role, sizeof(role), seed);
	return hash_bytes_extended((const unsigned char *) name, strlen(name), seed);
}

void
dp_place_set(Relation rel, const char *name, Oid role, ItemPointer tid)
{
	uint64		hash = hash_key(rel, name, role);

	if (places == NULL)
		return;
	pg_atomic_write_u64(&places[hash % NPLACES],
						(hash >> 48 << 48) | ((uint64) ItemPointerGetBlockNumber(tid) << 16) |
						ItemPointerGetOffsetNumber(tid));
}

/* Returns whether there is a hint, and where to. */
static bool
get_place(Relation rel, const char *name, Oid role, ItemPointer tid)
{
	uint64		hash = hash_key(rel, name, role);
	uint64		word = places == NULL ? 0 : pg_atomic_read_u64(&places[hash % NPLACES]);

	if (word == 0 || word >> 48 != hash >> 48 || (word & 0xFFFF) == 0)
		return false;
	ItemPointerSet(tid, (BlockNumber) (word >> 16), (OffsetNumber) word);
	/* the table may have been rewritten since */
	return ItemPointerGetBlockNumber(tid) < RelationGetNumberOfBlocks(rel);
}

/* ---------------------------------------------------------------------
 * Rows
 * ---------------------------------------------------------------------
 */

Oid
dp_primary_key(Relation rel)
{
	RelationGetIndexList(rel);	/* sets rd_pkindex */
	if (!OidIsValid(rel->rd_pkindex))
		elog(ERROR, "table dp_cdp_internal.%s lacks its primary key", RelationGetRelationName(rel));
	return rel->rd_pkindex;
}

/* Tells whether the first column of a key is a number and no name. */
static bool
is_numbered(Relation index)
{
	return TupleDescAttr(RelationGetDescr(index), 0)->atttypid == INT8OID;
}

/* Sets a key of an index from its columns, which value returns. */
static void
set_key(Key *key, Relation index, Datum (*value) (void *row, int n, bool *isnull), void *row)
{
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);
	bool		isnull;
	Datum		datum = value(row, 0, &isnull);

	memset(key, 0, sizeof(*key));
	if (is_numbered(index))
		snprintf(key->name, NAMEDATALEN, INT64_FORMAT, isnull ? 0 : DatumGetInt64(datum));
	else if (!isnull)
		strlcpy(key->name, TextDatumGetCString(datum), NAMEDATALEN);
	if (nkeys < 2)
		return;
	datum = value(row, 1, &isnull);
	if (is_numbered(index))
		key->role = isnull ? InvalidOid : (Oid) DatumGetDateADT(datum);
	else
		key->role = isnull ? InvalidOid : DatumGetObjectId(datum);
	if (nkeys < 3)
		return;
	datum = value(row, 2, &isnull);
	if (!isnull)
		strlcpy(key->role_name, TextDatumGetCString(datum), NAMEDATALEN);
}

/* a row of the table, for set_key */
typedef struct Row
{
	Relation	index;
	TupleTableSlot *slot;
} Row;

static Datum
row_column(void *row, int n, bool *isnull)
{
	return slot_getattr(((Row *) row)->slot, ((Row *) row)->index->rd_index->indkey.values[n], isnull);
}

static Datum
entry_column(void *scan, int n, bool *isnull)
{
	return index_getattr(((IndexScanDesc) scan)->xs_itup, n + 1, ((IndexScanDesc) scan)->xs_itupdesc, isnull);
}

static bool
has_key(Relation index, TupleTableSlot *slot, const Key *wanted)
{
	Row			row = {index, slot};
	Key			key;

	set_key(&key, index, row_column, &row);
	return memcmp(&key, wanted, sizeof(key)) == 0;
}

/* Reads the row where a hint says that it is, or where it has gone from there. */
static bool
read_by_place(Relation rel, Relation index, const Key *key, Snapshot snapshot, TupleTableSlot *slot)
{
	ItemPointerData tid;
	TableScanDesc scan;

	if (!get_place(rel, key->name, key->role, &tid))
		return false;
	if (!table_tuple_fetch_row_version(rel, &tid, snapshot, slot))
	{
		scan = table_beginscan_tid(rel, snapshot);
		table_tuple_get_latest_tid(scan, &tid);
		table_endscan(scan);
		if (!table_tuple_fetch_row_version(rel, &tid, snapshot, slot))
			return false;
	}
	if (has_key(index, slot, key))
		return true;
	ExecClearTuple(slot);
	return false;
}

/* Begins a scan that returns keys, for index_getnext_tid; name NULL: all of them. */
static SysScanDesc
begin_scan(Relation rel, Relation index, Snapshot snapshot, const char *name)
{
	ScanKeyData keys[1];
	int			nkeys = name == NULL ? 0 : 1;
	SysScanDesc scan;

	if (nkeys > 0 && is_numbered(index))
		ScanKeyInit(&keys[0], index->rd_index->indkey.values[0], BTEqualStrategyNumber, F_INT8EQ,
					Int64GetDatum(strtoll(name, NULL, 10)));
	else if (nkeys > 0)
		ScanKeyEntryInitialize(&keys[0], 0, index->rd_index->indkey.values[0], BTEqualStrategyNumber, InvalidOid,
							   index->rd_indcollation[0], F_TEXTEQ, CStringGetTextDatum(name));
	scan = systable_beginscan_ordered(rel, index, snapshot, nkeys, keys);
	scan->iscan->xs_want_itup = true;
	index_rescan(scan->iscan, NULL, nkeys, NULL, 0);
	return scan;
}

bool
dp_read_newest(Relation rel, const char *name, Snapshot snapshot, TupleTableSlot *slot)
{
	Relation	index = index_open(dp_primary_key(rel), AccessShareLock);
	Key			key = {{0}};
	bool		found;

	strlcpy(key.name, name, NAMEDATALEN);
	found = read_by_place(rel, index, &key, snapshot, slot);
	if (!found)
	{
		SysScanDesc scan = begin_scan(rel, index, snapshot, name);
		int			dead = 0;

		while (!found && index_getnext_tid(scan->iscan, BackwardScanDirection) != NULL)
		{
			CHECK_FOR_INTERRUPTS();
			found = index_fetch_heap(scan->iscan, slot);
			dead += found ? 0 : 1;
		}
		/* the slot may point into the scan's page */
		if (found)
			ExecMaterializeSlot(slot);
		if (found && dead >= MANY_DEAD)
			dp_place_set(rel, name, InvalidOid, &slot->tts_tid);
		systable_endscan_ordered(scan);
	}
	index_close(index, AccessShareLock);
	return found;
}

void
dp_scan_newest(Relation rel, const char *name, Snapshot snapshot,
			   bool (*row) (TupleTableSlot *slot, void *arg), void *arg)
{
	Relation	index = index_open(dp_primary_key(rel), AccessShareLock);
	SysScanDesc scan = begin_scan(rel, index, snapshot, name);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	Key			last = {{0}};
	bool		found = false;
	bool		more = true;
	int			dead = 0;

	while (more && index_getnext_tid(scan->iscan, BackwardScanDirection) != NULL)
	{
		Key			key;

		CHECK_FOR_INTERRUPTS();
		set_key(&key, index, entry_column, scan->iscan);
		if (memcmp(&key, &last, sizeof(key)) != 0)
		{
			last = key;
			dead = 0;
			found = read_by_place(rel, index, &key, snapshot, slot);
		}
		else if (found)
			continue;			/* an older version */
		if (!found)
		{
			found = index_fetch_heap(scan->iscan, slot);
			dead += found ? 0 : 1;
			if (found && dead >= MANY_DEAD)
				dp_place_set(rel, key.name, key.role, &slot->tts_tid);
		}
		if (found)
			more = row(slot, arg);
	}
	ExecDropSingleTupleTableSlot(slot);
	systable_endscan_ordered(scan);
	index_close(index, AccessShareLock);
}
