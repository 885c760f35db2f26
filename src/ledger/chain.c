/*-------------------------------------------------------------------------
 *
 * chain.c
 *	  Rows of the log, each chained to the one before by a hash.
 *
 * hash = sha256(hash of the row before, text of the row).  The text has, for
 * each column of chained_columns in that order, its length, a colon and its value
 * ("5:alice"), or a dash for NULL.  Values are written as PostgreSQL prints
 * them, but for times, which are microseconds since 2000-01-01 UTC, truth, t or
 * f, arrays, which have commas between the numbers, and days, which are written
 * as PostgreSQL does in ISO form; in UTF-8.  What kept answers cost and the days
 * of blocks come last, where a row has them, so that others have the hash that
 * they always had.
 *
 * Roles are chained by name, as their OIDs mean nothing after a restore, and
 * how often a refusal was repeated is not chained, as it grows (repeats.c).
 *
 * The worker alone adds rows to the chain.  Its end is in ledger_chain, so
 * that the last rows cannot go unnoticed; pruned says where rows were taken
 * out on purpose.  Rows of other origin have no hash and are no part of it.
 *
 * Invariants:
 *	- whoever writes ledger_chain has added the row that it names, in the
 *	  same transaction, and holds locks that keep out all others;
 *	- the worker's memory of the end is that of its last commit: an error or
 *	  an invalidation of the table makes it read the end again.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/tableam.h"
#include "catalog/pg_type_d.h"
#include "common/cryptohash.h"
#include "executor/executor.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "ledger/tables.h"

typedef enum ColumnKind
{
	COLUMN_INT, COLUMN_TIME, COLUMN_TEXT, COLUMN_NUMERIC, COLUMN_BOOL, COLUMN_INTS, COLUMN_DAY
} ColumnKind;

static const struct
{
	int			column;
	ColumnKind	kind;
	bool		if_any;			/* nothing for NULL: the column was added
								 * later */
}			chained_columns[] = {
	{DP_LOG_ID, COLUMN_INT},
	{DP_LOG_RELEASED_AT, COLUMN_TIME},
	{DP_LOG_DATASET, COLUMN_TEXT},
	{DP_LOG_ROLE_NAME, COLUMN_TEXT},
	{DP_LOG_SESSION_ROLE_NAME, COLUMN_TEXT},
	{DP_LOG_APPLICATION, COLUMN_TEXT},
	{DP_LOG_AGGREGATES, COLUMN_TEXT},
	{DP_LOG_GROUPS, COLUMN_TEXT},
	{DP_LOG_RHO, COLUMN_NUMERIC},
	{DP_LOG_DELTA, COLUMN_NUMERIC},
	{DP_LOG_STDDEV, COLUMN_TEXT},
	{DP_LOG_GRANTED, COLUMN_BOOL},
	{DP_LOG_FAILED, COLUMN_BOOL},
	{DP_LOG_KIND, COLUMN_TEXT},
	{DP_LOG_REASON, COLUMN_TEXT},
	{DP_LOG_QUERY, COLUMN_TEXT},
	{DP_LOG_TABLES, COLUMN_TEXT},
	{DP_LOG_CLIENT, COLUMN_TEXT},
	{DP_LOG_PAID_BY, COLUMN_INTS},
	{DP_LOG_REUSE_RHO, COLUMN_NUMERIC, true},
	{DP_LOG_REUSE_DELTA, COLUMN_NUMERIC, true},
	{DP_LOG_BLOCK_FROM, COLUMN_DAY, true},
	{DP_LOG_BLOCK_TO, COLUMN_DAY, true},
};

/* the end of the chain, as the worker remembers it */
static struct
{
	bool		known;
	bool		exists;			/* there is a row of ledger_chain */
	ItemPointerData tid;		/* its place */
	int64		id;
	int64		first_id;
	uint8		hash[DP_HASH_BYTES];
	bool		grown;			/* in this transaction */
	pg_cryptohash_ctx *context; /* of this batch; an error frees it with the
								 * transaction */
}			head;

/* ---------------------------------------------------------------------
 * Text and hash of a row
 * ---------------------------------------------------------------------
 */

static void
append_value(StringInfo text, const char *value, int length)
{
	char		digits[16];
	int			n = pg_ltoa(length, digits);

	appendBinaryStringInfo(text, digits, n);
	appendStringInfoCharMacro(text, ':');
	appendBinaryStringInfo(text, value, length);
}

static void
append_int(StringInfo text, int64 value)
{
	char		digits[MAXINT8LEN + 1];

	append_value(text, digits, pg_lltoa(value, digits));
}

static void
append_text(StringInfo text, Datum value)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
	char	   *bytes = VARDATA_ANY(v);
	int			length = VARSIZE_ANY_EXHDR(v);

	if (GetDatabaseEncoding() != PG_UTF8 && GetDatabaseEncoding() != PG_SQL_ASCII)
	{
		char	   *converted = pg_server_to_any(bytes, length, PG_UTF8);

		if (converted != bytes)
			length = strlen(converted);
		bytes = converted;
	}
	append_value(text, bytes, length);
}

static void
append_ints(StringInfo text, Datum value)
{
	StringInfoData list;
	Datum	   *elements;
	int			n;

	deconstruct_array(DatumGetArrayTypeP(value), INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &elements, NULL, &n);
	initStringInfo(&list);
	for (int i = 0; i < n; i++)
		appendStringInfo(&list, "%s" INT64_FORMAT, i > 0 ? "," : "", DatumGetInt64(elements[i]));
	append_value(text, list.data, list.len);
	pfree(list.data);
}

static void
append_column(StringInfo text, ColumnKind kind, Datum value, bool isnull)
{
	char	   *digits;

	if (isnull)
	{
		appendStringInfoCharMacro(text, '-');
		return;
	}
	switch (kind)
	{
		case COLUMN_INT:
			append_int(text, DatumGetInt64(value));
			break;
		case COLUMN_TIME:
			append_int(text, DatumGetTimestampTz(value));
			break;
		case COLUMN_TEXT:
			append_text(text, value);
			break;
		case COLUMN_NUMERIC:
			digits = DatumGetCString(DirectFunctionCall1(numeric_out, value));
			append_value(text, digits, strlen(digits));
			pfree(digits);
			break;
		case COLUMN_BOOL:
			append_value(text, DatumGetBool(value) ? "t" : "f", 1);
			break;
		case COLUMN_INTS:
			append_ints(text, value);
			break;
		case COLUMN_DAY:
			digits = dp_day_text(DatumGetDateADT(value));
			append_value(text, digits, strlen(digits));
			pfree(digits);
			break;
	}
}

pg_cryptohash_ctx *
dp_chain_hash_begin(void)
{
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);

	if (context == NULL)
		elog(ERROR, "could not begin to compute hashes");
	return context;
}

void
dp_chain_hash(pg_cryptohash_ctx *context, const uint8 *before, const AttrNumber *attnum, const Datum *values,
			  const bool *nulls, uint8 *hash)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < lengthof(chained_columns); i++)
	{
		int			place = attnum[chained_columns[i].column] - 1;

		if (!nulls[place] || !chained_columns[i].if_any)
			append_column(&text, chained_columns[i].kind, values[place], nulls[place]);
	}
	if (pg_cryptohash_init(context) < 0 ||
		pg_cryptohash_update(context, before, DP_HASH_BYTES) < 0 ||
		pg_cryptohash_update(context, (uint8 *) text.data, text.len) < 0 ||
		pg_cryptohash_final(context, hash, DP_HASH_BYTES) < 0)
		elog(ERROR, "could not compute a hash: %s", pg_cryptohash_error(context));
	pfree(text.data);
}

/* ---------------------------------------------------------------------
 * The end of the chain, in the worker
 * ---------------------------------------------------------------------
 */

void
dp_chain_forget(void)
{
	head.known = false;
}

/* Reads the row of ledger_chain; none: the chain begins with the next row. */
static void
read_head(DpOpenTable *chain, Snapshot snapshot)
{
	TupleTableSlot *row;
	TableScanDesc scan;

	memset(&head, 0, sizeof(head));
	row = table_slot_create(chain->rel, NULL);
	scan = dp_table_beginscan(chain->rel, snapshot);
	if (table_scan_getnextslot(scan, ForwardScanDirection, row))
	{
		bool		isnull;
		bytea	   *hash;

		head.exists = true;
		head.tid = row->tts_tid;
		head.id = DatumGetInt64(dp_column(chain, row, DP_CHAIN_ID, &isnull));
		head.first_id = DatumGetInt64(dp_column(chain, row, DP_CHAIN_FIRST_ID, &isnull));
		hash = DatumGetByteaPP(dp_column(chain, row, DP_CHAIN_HASH, &isnull));
		if (VARSIZE_ANY_EXHDR(hash) == DP_HASH_BYTES)
			memcpy(head.hash, VARDATA_ANY(hash), DP_HASH_BYTES);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(row);
	head.known = true;
}

void
dp_chain_begin(DpOpenTable *chain, Snapshot snapshot)
{
	if (!head.known)
		read_head(chain, snapshot);
	head.grown = false;
	head.context = dp_chain_hash_begin();
}

/* Adds a row, whose values are filled in but for its hash. */
void
dp_chain_add(DpOpenTable *log, TupleTableSlot *row)
{
	bytea	   *hash = palloc(VARHDRSZ + DP_HASH_BYTES);

	dp_chain_hash(head.context, head.hash, log->attnum, row->tts_values, row->tts_isnull, head.hash);
	SET_VARSIZE(hash, VARHDRSZ + DP_HASH_BYTES);
	memcpy(VARDATA(hash), head.hash, DP_HASH_BYTES);
	dp_set_column(log, row, DP_LOG_HASH, PointerGetDatum(hash));
	head.id = DatumGetInt64(row->tts_values[log->attnum[DP_LOG_ID] - 1]);
	if (head.first_id == 0)
		head.first_id = head.id;
	head.grown = true;
}

/* Writes the end down, if it has moved. */
void
dp_chain_end(DpOpenTable *chain, EState *estate, Snapshot snapshot)
{
	TupleTableSlot *row;
	bytea	   *hash = palloc(VARHDRSZ + DP_HASH_BYTES);

	pg_cryptohash_free(head.context);
	if (!head.grown)
		return;
	row = table_slot_create(chain->rel, NULL);
	ExecClearTuple(row);
	memset(row->tts_isnull, true, RelationGetDescr(chain->rel)->natts * sizeof(bool));
	SET_VARSIZE(hash, VARHDRSZ + DP_HASH_BYTES);
	memcpy(VARDATA(hash), head.hash, DP_HASH_BYTES);
	dp_set_column(chain, row, DP_CHAIN_ONE, BoolGetDatum(true));
	dp_set_column(chain, row, DP_CHAIN_ID, Int64GetDatum(head.id));
	dp_set_column(chain, row, DP_CHAIN_HASH, PointerGetDatum(hash));
	dp_set_column(chain, row, DP_CHAIN_FIRST_ID, Int64GetDatum(head.first_id));
	ExecStoreVirtualTuple(row);
	if (head.exists)
		dp_update_locked_row(chain->rri, estate, snapshot, &head.tid, row);
	else
	{
		simple_table_tuple_insert(chain->rel, row);
		if (chain->rri->ri_NumIndices > 0)
			dp_insert_index_tuples(chain->rri, row, estate, false, false);
	}
	head.exists = true;
	head.tid = row->tts_tid;
	ExecDropSingleTupleTableSlot(row);
}
