/*-------------------------------------------------------------------------
 *
 * public_content.c
 *	  What is in public rows, as a hash: those of prefetches, and of tables
 *	  without a policy that inner plans read themselves.
 *
 * A join with a table of departments means something else when a department moves
 * to another floor, so what such a table holds is part of a question.  Of a
 * table all rows count that the statement sees, whatever conditions leave of
 * them, in the columns that the question depends on.
 *
 * A session remembers the hashes of a few tables.  They hold as long as its
 * snapshots see the same: no transaction has ended between the two, and this
 * one has written nothing.  A table that is written anew at once (TRUNCATE) shows
 * that to older snapshots, too, and lies in another file then.
 *
 * Invariants:
 * - No protected row is read, and no code of anybody's runs: a table is scanned
 *	 as it lies there.  Who asks has been found to hold the privileges, as the
 *	 statement names it.
 * - Rows have no order: a scan may return them in any.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "base/compat.h"
#include "base/settings.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "common/cryptohash.h"
#include "common/hashfn.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "release/fingerprint.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

/* hashes of rows, in an order of their own */
typedef struct Rows
{
	Tuplesortstate *sort;
	MemoryContext row_context;
	int64		n;
} Rows;

static void
begin_rows(Rows *rows)
{
	rows->sort = tuplesort_begin_datum(BYTEAOID, lookup_type_cache(BYTEAOID, TYPECACHE_LT_OPR)->lt_opr,
									   InvalidOid, false, work_mem, NULL, TUPLESORT_NONE);
	rows->row_context = AllocSetContextCreate(CurrentMemoryContext, "dp_cdp row of a question", ALLOCSET_SMALL_SIZES);
	rows->n = 0;
}

/* Adds the row in a slot, in these columns of it, of which there are so many. */
static void
add_row(Rows *rows, TupleTableSlot *slot, const AttrNumber *columns, int n)
{
	MemoryContext old = MemoryContextSwitchTo(rows->row_context);
	bytea	   *hash = palloc(VARHDRSZ + DP_FINGERPRINT_BYTES);
	StringInfoData text;

	CHECK_FOR_INTERRUPTS();
	initStringInfo(&text);
	for (int i = 0; i < n; i++)
	{
		Form_pg_attribute att = TupleDescAttr(slot->tts_tupleDescriptor, columns[i] - 1);
		bool		isnull;
		Datum		value = slot_getattr(slot, columns[i], &isnull);

		dp_fingerprint_value(&text, att->atttypid, InvalidOid, value, isnull);
		appendStringInfoCharMacro(&text, ' ');
	}
	SET_VARSIZE(hash, VARHDRSZ + DP_FINGERPRINT_BYTES);
	dp_fingerprint_hash(text.data, text.len, (uint8 *) VARDATA(hash));
	tuplesort_putdatum(rows->sort, PointerGetDatum(hash), false);
	rows->n++;
	MemoryContextSwitchTo(old);
	MemoryContextReset(rows->row_context);
}

static void
update(pg_cryptohash_ctx *context, const void *bytes, Size length)
{
	if (pg_cryptohash_update(context, bytes, length) < 0)
		elog(ERROR, "could not compute a hash: %s", pg_cryptohash_error(context));
}

/* Sets the hash of all rows, which have so many columns, and frees what was made for it. */
static void
end_rows(Rows *rows, int ncolumns, uint8 *digest)
{
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);
	Datum		hash;
	bool		isnull;

	if (context == NULL || pg_cryptohash_init(context) < 0)
		elog(ERROR, "could not begin to compute a hash");
	tuplesort_performsort(rows->sort);
	update(context, &ncolumns, sizeof(ncolumns));
	update(context, &rows->n, sizeof(rows->n));
	while (dp_tuplesort_getdatum(rows->sort, &hash, &isnull))
	{
		CHECK_FOR_INTERRUPTS();
		update(context, VARDATA_ANY(DatumGetPointer(hash)), DP_FINGERPRINT_BYTES);
	}
	if (pg_cryptohash_final(context, digest, DP_FINGERPRINT_BYTES) < 0)
		elog(ERROR, "could not compute a hash: %s", pg_cryptohash_error(context));
	pg_cryptohash_free(context);
	tuplesort_end(rows->sort);
	MemoryContextDelete(rows->row_context);
}

void
dp_stored_content(Tuplestorestate *store, TupleDesc desc, uint8 *digest)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	AttrNumber *columns = palloc(Max(desc->natts, 1) * sizeof(AttrNumber));
	Rows		rows;

	for (int i = 0; i < desc->natts; i++)
		columns[i] = i + 1;
	begin_rows(&rows);
	tuplestore_select_read_pointer(store, 0);
	tuplestore_rescan(store);
	while (tuplestore_gettupleslot(store, true, false, slot))
		add_row(&rows, slot, columns, desc->natts);
	tuplestore_rescan(store);
	end_rows(&rows, desc->natts, digest);
	ExecDropSingleTupleTableSlot(slot);
	pfree(columns);
}

/* ------------------------------------------------------------------------
 * What is remembered
 * ------------------------------------------------------------------------
 */

#define REMEMBERED_TABLES 16
#define REMEMBERED_TRANSACTIONS 64

/* what tables held for a snapshot */
typedef struct Remembered
{
	bool		valid;
	uint64		what;			/* hash of tables, files and columns */
	TransactionId xmin;
	TransactionId xmax;
	uint32		nrunning;
	TransactionId running[REMEMBERED_TRANSACTIONS];
	uint8		digest[DP_FINGERPRINT_BYTES];
} Remembered;

static Remembered remembered[REMEMBERED_TABLES];
static int	next_remembered = 0;

/* Tells whether what a snapshot sees is told by what it says of running transactions. */
static bool
can_be_remembered(Snapshot snapshot)
{
	return snapshot->snapshot_type == SNAPSHOT_MVCC && !snapshot->takenDuringRecovery &&
		snapshot->xcnt <= REMEMBERED_TRANSACTIONS && !TransactionIdIsValid(GetTopTransactionIdIfAny());
}

/* Returns what is remembered of tables for all that a snapshot sees; NULL: nothing. */
static const Remembered *
find_remembered(uint64 what, Snapshot snapshot)
{
	for (int i = 0; i < REMEMBERED_TABLES; i++)
	{
		const Remembered *r = &remembered[i];

		if (r->valid && r->what == what && r->xmin == snapshot->xmin && r->xmax == snapshot->xmax &&
			r->nrunning == snapshot->xcnt && memcmp(r->running, snapshot->xip, r->nrunning * sizeof(TransactionId)) == 0)
			return r;
	}
	return NULL;
}

static void
remember(uint64 what, Snapshot snapshot, const uint8 *digest)
{
	Remembered *r = NULL;

	for (int i = 0; r == NULL && i < REMEMBERED_TABLES; i++)
		if (remembered[i].valid && remembered[i].what == what)
			r = &remembered[i];
	if (r == NULL)
	{
		r = &remembered[next_remembered];
		next_remembered = (next_remembered + 1) % REMEMBERED_TABLES;
	}
	r->valid = true;
	r->what = what;
	r->xmin = snapshot->xmin;
	r->xmax = snapshot->xmax;
	r->nrunning = snapshot->xcnt;
	memcpy(r->running, snapshot->xip, r->nrunning * sizeof(TransactionId));
	memcpy(r->digest, digest, DP_FINGERPRINT_BYTES);
}

/* ------------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------------
 */

/* Returns the hash of where tables lie (Relation) and of which columns of the first one are read. */
static uint64
what_is_read(List *tables, List *columns)
{
	uint64		what = 0;

	foreach_ptr(RelationData, rel, tables)
	{
		Oid			place[] = {RelationGetRelid(rel), rel->rd_rel->relfilenode};

		what = hash_combine64(what, hash_bytes_extended((unsigned char *) place, sizeof(place), 0));
	}
	foreach_int(column, columns)
		what = hash_combine64(what, (uint64) column);
	return what;
}

/* Adds the rows of a table, in columns (AttrNumbers of this very table); false where they are too many. */
static bool
add_table(Rows *rows, Relation rel, const AttrNumber *columns, int n, Snapshot snapshot)
{
	TableScanDesc scan = dp_table_beginscan(rel, snapshot);
	TupleTableSlot *slot = table_slot_create(rel, NULL);

	while (rows->n <= dp_guc_max_public_rows && table_scan_getnextslot(scan, ForwardScanDirection, slot))
		add_row(rows, slot, columns, n);
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	return rows->n <= dp_guc_max_public_rows;
}

/* Adds the rows of tables, of which the first one has these columns, and the others inherit them. */
static bool
add_tables(Rows *rows, List *tables, List *columns, Snapshot snapshot)
{
	Oid			first = RelationGetRelid((Relation) linitial(tables));
	int			n = list_length(columns);
	AttrNumber *numbers = palloc(Max(n, 1) * sizeof(AttrNumber));
	ListCell   *column;

	foreach_ptr(RelationData, rel, tables)
	{
		if (rel->rd_rel->relkind != RELKIND_RELATION && rel->rd_rel->relkind != RELKIND_MATVIEW)
			continue;
		foreach(column, columns)
		{
			const char *name = get_attname(first, lfirst_int(column), false);

			numbers[foreach_current_index(column)] = get_attnum(RelationGetRelid(rel), name);
			if (numbers[foreach_current_index(column)] <= 0)
				elog(ERROR, "an inherited column is missing");
		}
		if (!add_table(rows, rel, numbers, n, snapshot))
			return false;
	}
	pfree(numbers);
	return true;
}

/* Hashes the rows of tables; false where they are too many. */
static bool
hash_tables(List *tables, List *columns, Snapshot snapshot, uint8 *digest)
{
	Rows		rows;
	bool		known;

	begin_rows(&rows);
	known = add_tables(&rows, tables, columns, snapshot);
	end_rows(&rows, list_length(columns), digest);
	return known;
}

bool
dp_public_content(Oid relid, bool inherit, List *columns, Snapshot snapshot, uint8 *digest)
{
	List	   *relids = inherit ? find_all_inheritors(relid, AccessShareLock, NULL) : list_make1_oid(relid);
	List	   *tables = NIL;
	const Remembered *r = NULL;
	bool		known = true;
	uint64		what;

	foreach_oid(item, relids)
		tables = lappend(tables, table_open(item, AccessShareLock));
	what = what_is_read(tables, columns);
	if (can_be_remembered(snapshot))
		r = find_remembered(what, snapshot);
	if (r != NULL)
		memcpy(digest, r->digest, DP_FINGERPRINT_BYTES);
	else
		known = hash_tables(tables, columns, snapshot, digest);
	if (known && r == NULL && can_be_remembered(snapshot))
		remember(what, snapshot, digest);
	foreach_ptr(RelationData, table, tables)
		table_close(table, NoLock);
	return known;
}
