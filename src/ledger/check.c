/*-------------------------------------------------------------------------
 *
 * check.c
 *	  The chain of hashes (chain.c), looked at and mended from SQL.
 *
 * Sessions read the log by queries, in the order of its ids, a thousand rows
 * at a time.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/htup_details.h"
#include "catalog/pg_type_d.h"
#include "common/cryptohash.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "ledger/tables.h"

#define ROWS_AT_A_TIME 1000

/* a stretch of the chain that was pruned */
typedef struct Pruned
{
	int64		first_id;
	int64		last_id;
	uint8		hash[DP_HASH_BYTES];
} Pruned;

/* where a walk along the chain is */
typedef struct Walk
{
	Pruned	   *pruned;
	int			npruned;
	int			next_pruned;
	int64		id;				/* of the last row */
	int64		first_id;
	uint8		hash[DP_HASH_BYTES];
	struct pg_cryptohash_ctx *context;
	/* of the rows as they are selected */
	TupleDesc	desc;
	AttrNumber	attnum[DP_LOG_NCOLS];
	Datum	   *values;
	bool	   *nulls;
} Walk;

typedef void (*RowVisitor) (Walk *walk, HeapTuple row, void *arg);

/* Copies a hash; false when it has another length or is NULL. */
static bool
get_hash(HeapTuple row, TupleDesc desc, int column, uint8 *hash)
{
	bool		isnull;
	Datum		value = heap_getattr(row, column, desc, &isnull);
	bytea	   *bytes = isnull ? NULL : DatumGetByteaPP(value);

	if (bytes == NULL || VARSIZE_ANY_EXHDR(bytes) != DP_HASH_BYTES)
		return false;
	memcpy(hash, VARDATA_ANY(bytes), DP_HASH_BYTES);
	return true;
}

static int64
get_int64(HeapTuple row, TupleDesc desc, int column)
{
	bool		isnull;
	Datum		value = heap_getattr(row, column, desc, &isnull);

	return isnull ? 0 : DatumGetInt64(value);
}

static void
run(const char *query, int nargs, Oid *types, Datum *values)
{
	if (SPI_execute_with_args(query, nargs, types, values, NULL, false, 0) < 0)
		elog(ERROR, "ledger query failed");
}

/* As run, with the snapshot of the query that has called us. */
static void
look(const char *query)
{
	if (SPI_execute(query, true, 0) < 0)
		elog(ERROR, "ledger query failed");
}

static void
read_pruned(Walk *walk)
{
	look("SELECT first_id, last_id, hash FROM dp_cdp_internal.pruned ORDER BY first_id");
	walk->npruned = SPI_processed;
	walk->pruned = palloc0(Max(walk->npruned, 1) * sizeof(Pruned));
	for (int i = 0; i < walk->npruned; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];

		walk->pruned[i].first_id = get_int64(row, SPI_tuptable->tupdesc, 1);
		walk->pruned[i].last_id = get_int64(row, SPI_tuptable->tupdesc, 2);
		(void) get_hash(row, SPI_tuptable->tupdesc, 3, walk->pruned[i].hash);
	}
	SPI_freetuptable(SPI_tuptable);
}

/* Steps over what was pruned before a row. */
static void
step_over_pruned(Walk *walk, int64 id)
{
	while (walk->next_pruned < walk->npruned && walk->pruned[walk->next_pruned].first_id < id)
	{
		Pruned	   *pruned = &walk->pruned[walk->next_pruned++];

		memcpy(walk->hash, pruned->hash, DP_HASH_BYTES);
		walk->id = pruned->last_id;
		if (walk->first_id == 0)
			walk->first_id = pruned->first_id;
	}
}

/* Learns which column is which of rows that a query returns. */
static void
learn_columns(Walk *walk, TupleDesc desc)
{
	walk->desc = desc;
	for (int i = 0; i < DP_LOG_NCOLS; i++)
		walk->attnum[i] = SPI_fnumber(desc, dp_log_columns[i]);
	walk->values = palloc(desc->natts * sizeof(Datum));
	walk->nulls = palloc(desc->natts * sizeof(bool));
}

/*
 * Visits rows of the log in the order of their ids, from one after "after" on;
 * SPI is connected.  read_only: by the snapshot of the query that has called us.
 */
static void
walk_rows(Walk *walk, int64 after, bool read_only, RowVisitor visit, void *arg)
{
	Oid			types[1] = {INT8OID};
	Datum		values[1] = {Int64GetDatum(after)};
	Portal		portal = SPI_cursor_open_with_args(NULL, "SELECT * FROM dp_cdp_internal.release_log WHERE id > $1 ORDER BY id",
												   1, types, values, NULL, read_only, 0);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "dp_cdp rows of the log",
												  ALLOCSET_DEFAULT_SIZES);

	learn_columns(walk, portal->tupDesc);
	walk->context = dp_chain_hash_begin();
	for (;;)
	{
		SPITupleTable *table;
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		SPI_cursor_fetch(portal, true, ROWS_AT_A_TIME);
		if (SPI_processed == 0)
			break;
		table = SPI_tuptable;
		old = MemoryContextSwitchTo(context);
		for (uint64 i = 0; i < table->numvals; i++)
		{
			heap_deform_tuple(table->vals[i], walk->desc, walk->values, walk->nulls);
			visit(walk, table->vals[i], arg);
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
		SPI_freetuptable(table);
	}
	pg_cryptohash_free(walk->context);
	SPI_cursor_close(portal);
	MemoryContextDelete(context);
}

/* ---------------------------------------------------------------------
 * Looking
 * ---------------------------------------------------------------------
 */

static void
report(ReturnSetInfo *result, int64 id, const char *finding)
{
	Datum		values[2] = {Int64GetDatum(id), CStringGetTextDatum(finding)};
	bool		nulls[2] = {id == 0, false};

	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

static void
check_row(Walk *walk, HeapTuple row, void *arg)
{
	int64		id = get_int64(row, walk->desc, walk->attnum[DP_LOG_ID]);
	uint8		written[DP_HASH_BYTES];
	uint8		computed[DP_HASH_BYTES];

	/* from elsewhere, and no part of the chain */
	if (!get_hash(row, walk->desc, walk->attnum[DP_LOG_HASH], written))
		return;
	step_over_pruned(walk, id);
	dp_chain_hash(walk->context, walk->hash, walk->attnum, walk->values, walk->nulls, computed);
	if (memcmp(written, computed, DP_HASH_BYTES) != 0)
		report(arg, id, "this row, or one before it, was changed, or rows between them were deleted");
	memcpy(walk->hash, written, DP_HASH_BYTES);
	walk->id = id;
	if (walk->first_id == 0)
		walk->first_id = id;
}

PG_FUNCTION_INFO_V1(dp_ledger_check_chain);

/*
 * SQL: dp_cdp_internal.check_chain()
 *
 * Computes each row's hash anew; returns what does not fit.  All is seen by one
 * snapshot, as debits go on.
 */
Datum
dp_ledger_check_chain(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Walk		walk;

	InitMaterializedSRF(fcinfo, 0);
	memset(&walk, 0, sizeof(walk));
	SPI_connect();
	read_pruned(&walk);
	walk_rows(&walk, PG_INT64_MIN, true, check_row, result);
	step_over_pruned(&walk, PG_INT64_MAX);

	look("SELECT id, hash, first_id FROM dp_cdp_internal.ledger_chain");
	if (SPI_processed == 1)
	{
		HeapTuple	row = SPI_tuptable->vals[0];
		uint8		hash[DP_HASH_BYTES];

		if (get_int64(row, SPI_tuptable->tupdesc, 1) != walk.id ||
			!get_hash(row, SPI_tuptable->tupdesc, 2, hash) || memcmp(hash, walk.hash, DP_HASH_BYTES) != 0)
			report(result, get_int64(row, SPI_tuptable->tupdesc, 1),
				   "the chain ends with this row, but the log with another: the last rows were deleted, or put back");
		if (get_int64(row, SPI_tuptable->tupdesc, 3) != walk.first_id)
			report(result, get_int64(row, SPI_tuptable->tupdesc, 3),
				   "the chain begins with this row, but the log with another: the first rows were deleted");
	}
	else if (walk.id != 0)
		report(result, 0, "it is not written down where the chain ends");
	SPI_finish();
	return (Datum) 0;
}

/* ---------------------------------------------------------------------
 * Mending
 * ---------------------------------------------------------------------
 */

/* Tells whether adopt_ledger() has yet to write down who paid for a row, which no hash allows. */
static bool
lacks_payers(Walk *walk)
{
	return DatumGetBool(walk->values[walk->attnum[DP_LOG_GRANTED] - 1]) &&
		walk->nulls[walk->attnum[DP_LOG_PAID_BY] - 1];
}

static void
chain_row(Walk *walk, HeapTuple row, void *arg)
{
	int64		id = get_int64(row, walk->desc, walk->attnum[DP_LOG_ID]);
	uint8		written[DP_HASH_BYTES];

	/* what was put back has its hash */
	if (get_hash(row, walk->desc, walk->attnum[DP_LOG_HASH], written))
		memcpy(walk->hash, written, DP_HASH_BYTES);
	else if (lacks_payers(walk))
		return;
	else
	{
		Oid			types[2] = {INT8OID, BYTEAOID};
		Datum		values[2] = {Int64GetDatum(id)};
		bytea	   *hash = palloc(VARHDRSZ + DP_HASH_BYTES);

		dp_chain_hash(walk->context, walk->hash, walk->attnum, walk->values, walk->nulls, walk->hash);
		SET_VARSIZE(hash, VARHDRSZ + DP_HASH_BYTES);
		memcpy(VARDATA(hash), walk->hash, DP_HASH_BYTES);
		values[1] = PointerGetDatum(hash);
		run("UPDATE dp_cdp_internal.release_log SET hash = $2 WHERE id = $1", 2, types, values);
	}
	walk->id = id;
	if (walk->first_id == 0)
		walk->first_id = id;
}

/*
 * Chains up all rows that follow the end of the chain (where there is none
 * yet, the row "after"), and writes the new end down.  The caller is the owner of the tables, holds them locked, has SPI
 * connected and the door to writing open.
 */
void
dp_chain_extend(int64 after)
{
	Oid			types[3] = {INT8OID, BYTEAOID, INT8OID};
	Datum		values[3];
	bytea	   *hash = palloc(VARHDRSZ + DP_HASH_BYTES);
	int64		before;
	Walk		walk;

	memset(&walk, 0, sizeof(walk));
	run("SELECT id, hash, first_id FROM dp_cdp_internal.ledger_chain", 0, NULL, NULL);
	if (SPI_processed == 1)
	{
		HeapTuple	row = SPI_tuptable->vals[0];

		walk.id = get_int64(row, SPI_tuptable->tupdesc, 1);
		walk.first_id = get_int64(row, SPI_tuptable->tupdesc, 3);
		(void) get_hash(row, SPI_tuptable->tupdesc, 2, walk.hash);
	}
	else
		walk.id = after;
	before = walk.id;
	walk_rows(&walk, before, false, chain_row, NULL);
	if (walk.id == before)
		return;
	SET_VARSIZE(hash, VARHDRSZ + DP_HASH_BYTES);
	memcpy(VARDATA(hash), walk.hash, DP_HASH_BYTES);
	values[0] = Int64GetDatum(walk.id);
	values[1] = PointerGetDatum(hash);
	values[2] = Int64GetDatum(walk.first_id);
	run("INSERT INTO dp_cdp_internal.ledger_chain (id, hash, first_id) VALUES ($1, $2, $3)"
		" ON CONFLICT (one) DO UPDATE SET id = excluded.id, hash = excluded.hash, first_id = excluded.first_id",
		3, types, values);
}

/*
 * Has the log say what balances of a dataset (NULL: all) are, and the chain end where the log does: what
 * is there is accepted, and from here on it is kept.  As for dp_chain_extend,
 * but the door is shut.
 */
void
dp_ledger_settle(const char *reason, const char *dataset)
{
	Oid			types[2] = {TEXTOID, TEXTOID};
	Datum		values[2] = {CStringGetTextDatum(reason), CStringGetTextDatum(dataset ? dataset : "*")};
	int64		last;

	dp_ledger_write_begin();
	run("INSERT INTO dp_cdp_internal.ledger_chain (id, hash, first_id)"
		" SELECT l.id, l.hash, least((SELECT min(id) FROM dp_cdp_internal.release_log WHERE hash IS NOT NULL),"
		"   (SELECT min(first_id) FROM dp_cdp_internal.pruned))"
		" FROM (SELECT id, hash FROM dp_cdp_internal.release_log WHERE hash IS NOT NULL"
		"   UNION ALL SELECT last_id, hash FROM dp_cdp_internal.pruned ORDER BY id DESC LIMIT 1) l"
		" ON CONFLICT (one) DO UPDATE SET id = excluded.id, hash = excluded.hash", 0, NULL, NULL);
	run("SELECT max(id) FROM dp_cdp_internal.release_log", 0, NULL, NULL);
	last = get_int64(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	/* not granted: it is no spending of today */
	run("INSERT INTO dp_cdp_internal.release_log (dataset, role, session_role, application, aggregates, rho, delta,"
		"   granted, kind, reason, role_name, session_role_name, paid_by)"
		" SELECT dataset, coalesce(role, 0), coalesce(role, 0), '', 'correction', rho_spent - rho_logged,"
		"   delta_spent - delta_logged, false, 'correction', $1, role_name, role_name, ARRAY[ledger_id]"
		" FROM dp_cdp_internal.logged_balances() b WHERE (rho_spent <> rho_logged OR delta_spent <> delta_logged)"
		"   AND $2 IN ('*', dataset)"
		"   AND NOT EXISTS (SELECT FROM dp_cdp_internal.dataset d WHERE d.name = b.dataset AND d.block_every IS NOT NULL)"
		" ORDER BY ledger_id", 2, types, values);
	run("INSERT INTO dp_cdp_internal.release_log (dataset, role, session_role, application, aggregates, rho, delta,"
		"   granted, kind, reason, role_name, session_role_name, paid_by, block_from, block_to)"
		" SELECT b.dataset, coalesce(b.role, 0), coalesce(b.role, 0), '', 'correction', k.rho_spent - k.rho_logged,"
		"   k.delta_spent - k.delta_logged, false, 'correction', $1, b.role_name, b.role_name, ARRAY[k.ledger_id],"
		"   k.block_from, k.block_to"
		" FROM dp_cdp_internal.logged_blocks() k JOIN dp_cdp_internal.logged_balances() b ON b.ledger_id = k.ledger_id"
		" WHERE (k.rho_spent <> k.rho_logged OR k.delta_spent <> k.delta_logged) AND $2 IN ('*', b.dataset)"
		" ORDER BY k.ledger_id, k.block_from", 2, types, values);
	dp_chain_extend(last);
	dp_ledger_write_end();
}
