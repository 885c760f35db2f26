/*-------------------------------------------------------------------------
 *
 * tables.c
 *	  The ledger's tables as the worker sees them, and its directory of rows.
 *
 * Both are memories of the worker's, kept between batches, because finding
 * things out anew would cost more than the debit: OIDs and columns of the
 * tables, where each dataset's rows are, and which budgets apply to a payer.
 *
 * Invariants:
 *	- amounts are never remembered, only places: every batch reads balances
 *	  from the table;
 *	- a place is a hint: dp_row_fetch checks that a row visible to the
 *	  batch's own snapshot is there and is the right one;
 *	- a new row is noticed because the INSERT trigger (writes.c) sends a
 *	  relcache invalidation, membership of roles by syscache invalidations;
 *	  and nothing is remembered for longer than a second;
 *	- callbacks only mark things invalid, so pointers stay good to the end of
 *	  the batch.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/clock.h"
#include "base/compat.h"
#include "base/dataset_row.h"
#include "base/extension.h"
#include "base/places.h"
#include "base/role_names.h"

#include "access/table.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "ledger/tables.h"

/* how long the directory may be believed, in ms */
#define DIRECTORY_AGE_MS 1000

#define MAX_COLS DP_LOG_NCOLS

/* numbered as in tables.h */
static const DpDatasetColumn dataset_columns[] = {
	[DP_BALANCE_KEY] = DP_DATASET_NAME,
	[DP_BALANCE_RHO_LIMIT] = DP_DATASET_RHO_LIMIT,
	[DP_BALANCE_RHO_SPENT] = DP_DATASET_RHO_SPENT,
	[DP_BALANCE_DELTA_LIMIT] = DP_DATASET_DELTA_LIMIT,
	[DP_BALANCE_DELTA_SPENT] = DP_DATASET_DELTA_SPENT,
	[DP_BALANCE_LEDGER_ID] = DP_DATASET_LEDGER_ID,
	[DP_CAP_MAX_FAILURES] = DP_DATASET_MAX_FAILURES,
	[DP_CAP_ADOPTED] = DP_DATASET_ADOPTED,
	[DP_CAP_BLOCK_EVERY] = DP_DATASET_BLOCK_EVERY,
	[DP_CAP_REUSE_DUMPED] = DP_DATASET_REUSE_DUMPED,
};

const char *const dp_log_columns[DP_LOG_NCOLS] = {
	"id", "released_at", "dataset", "role", "session_role", "application",
	"aggregates", "groups", "rho", "delta", "stddev", "granted", "failed", "kind", "reason", "query",
	"tables", "client", "repeats", "last_at", "role_name", "session_role_name", "paid_by", "hash",
	"reuse_rho", "reuse_delta", "block_from", "block_to"
};

const char *const dp_block_columns[DP_BLOCK_NCOLS] = {
	"ledger_id", "block_from", "block_to", "rho_spent", "delta_spent"
};

const char *const dp_kept_columns[DP_KEPT_NCOLS] = {
	"dataset", "ledger_id", "fingerprint", "began", "rho", "delta",
	"below", "paid_by", "answer", "used_at", "ended", "dumped", "block_from", "block_to"
};

static const char *const column_names[DP_T_OPEN][MAX_COLS] = {
	[DP_T_BUDGET] =
	{"dataset", "rho_limit", "rho_spent", "delta_limit", "delta_spent", "ledger_id", "role", "period",
	"renews_at", "failures", "failures_since", "role_name", "spent_since"},
	[DP_T_CHAIN] =
	{"one", "id", "hash", "first_id"},
};

static const char *const table_names[DP_T_COUNT] = {"dataset", "budget", "release_log", "ledger_chain",
"kept_answer", "block_spent", "ledger_stamp", "role_alias"};

/* NULL: the table has no more columns that are of interest here */
static const char *
column_name(DpTableNo t, int i)
{
	if (t == DP_T_LOG)
		return dp_log_columns[i];
	if (t == DP_T_KEPT)
		return i < DP_KEPT_NCOLS ? dp_kept_columns[i] : NULL;
	if (t == DP_T_BLOCKS)
		return i < DP_BLOCK_NCOLS ? dp_block_columns[i] : NULL;
	return column_names[t][i];
}

/* places of the tables and of their columns */
static struct
{
	bool		valid;
	DpStamp		stamp;
	Oid			relid[DP_T_COUNT];
	AttrNumber	attnum[DP_T_OPEN][MAX_COLS];
	Oid			log_sequence;
}			known;

static struct
{
	bool		valid;
	int64		since;			/* dp_uptime() */
	MemoryContext context;
	HTAB	   *datasets;		/* of DpLedgerDataset */
	HTAB	   *payers;			/* of DpLedgerPayer */
}			directory;

static uint64 times_forgotten = 0;

/* ---------------------------------------------------------------------
 * Forgetting
 * ---------------------------------------------------------------------
 */

void
dp_tables_forget(void)
{
	known.valid = false;
	known.stamp = DP_STAMP_MISSING;
	directory.valid = false;
	times_forgotten++;
	dp_chain_forget();
}

uint64
dp_tables_forgotten(void)
{
	return times_forgotten;
}

static void
relation_changed(Datum arg, Oid relid)
{
	for (int t = 0; t < DP_T_COUNT; t++)
	{
		if (!OidIsValid(relid) || known.relid[t] == relid)
			dp_tables_forget();
	}
}

static void
roles_changed(Datum arg, int cache, uint32 hash)
{
	directory.valid = false;
}

static void
register_callbacks(void)
{
	static bool registered = false;

	if (registered)
		return;
	CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, roles_changed, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHOID, roles_changed, (Datum) 0);
	/* its owner is a member of pg_database_owner */
	CacheRegisterSyscacheCallback(DATABASEOID, roles_changed, (Datum) 0);
	registered = true;
}

/* ---------------------------------------------------------------------
 * Tables
 * ---------------------------------------------------------------------
 */

bool
dp_tables_lock(DpReason *reason)
{
	register_callbacks();

	for (int attempt = 0; attempt < 3; attempt++)
	{
		if (!known.valid)
		{
			dp_tables_forget();
			memset(known.attnum, 0, sizeof(known.attnum));
			known.log_sequence = InvalidOid;
			for (int t = 0; t < DP_T_COUNT; t++)
			{
				known.relid[t] = dp_own_table(table_names[t]);
				if (!OidIsValid(known.relid[t]))
				{
					*reason = DP_REASON_NOT_INSTALLED;
					return false;
				}
			}
			known.valid = true;
		}

		/* getting a lock reads pending invalidations, which may reset valid */
		for (int t = 0; t < DP_T_COUNT; t++)
		{
			if (!ConditionalLockRelationOid(known.relid[t], RowExclusiveLock))
			{
				*reason = DP_REASON_BUSY;
				return false;
			}
		}
		/* nextval would wait; unknown only before the first batch */
		if (OidIsValid(known.log_sequence) &&
			!ConditionalLockRelationOid(known.log_sequence, RowExclusiveLock))
		{
			*reason = DP_REASON_BUSY;
			return false;
		}
		if (known.valid)
			return true;
	}
	*reason = DP_REASON_BUSY;
	return false;
}

DpStamp
dp_tables_stamp(void)
{
	if (known.stamp != DP_STAMP_GOOD)
		known.stamp = dp_stamp_check();
	return known.stamp;
}

Oid
dp_tables_owner(void)
{
	Relation	rel = table_open(known.relid[DP_T_DATASET], NoLock);
	Oid			owner = rel->rd_rel->relowner;

	table_close(rel, NoLock);
	return owner;
}

const char *
dp_table_name(DpTableNo t)
{
	return table_names[t];
}

void
dp_table_open(DpOpenTable *table, DpTableNo t)
{
	table->rel = table_open(known.relid[t], NoLock);
	table->attnum = known.attnum[t];
	/* looked up once: they change only with the table's definition */
	for (int i = 0; t == DP_T_DATASET && i < lengthof(dataset_columns); i++)
	{
		if (table->attnum[i] == InvalidAttrNumber)
			table->attnum[i] = dp_dataset_attnum(RelationGetDescr(table->rel), dataset_columns[i]);
	}
	for (int i = 0; i < MAX_COLS; i++)
	{
		const char *name = column_name(t, i);

		if (name == NULL)
			break;
		if (table->attnum[i] != InvalidAttrNumber)
			continue;
		table->attnum[i] = get_attnum(known.relid[t], name);
		if (table->attnum[i] == InvalidAttrNumber)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("table dp_cdp_internal.%s lacks column \"%s\"", table_names[t], name)));
	}
	if (t == DP_T_LOG && !OidIsValid(known.log_sequence))
		known.log_sequence = dp_identity_sequence(table->rel, table->attnum[DP_LOG_ID]);

	table->rri = makeNode(ResultRelInfo);
	InitResultRelInfo(table->rri, table->rel, 0, NULL, 0);	/* in no range table */
	ExecOpenIndices(table->rri, false);
}

void
dp_table_close(DpOpenTable *table)
{
	ExecCloseIndices(table->rri);
	table_close(table->rel, NoLock);
}

/* Returns the sequence of the log, after it was opened. */
Oid
dp_tables_log_sequence(void)
{
	return known.log_sequence;
}

/* ---------------------------------------------------------------------
 * The directory
 * ---------------------------------------------------------------------
 */

/* Makes the next batch read everything anew; pointers stay good for this one. */
void
dp_directory_forget(void)
{
	directory.valid = false;
}

void
dp_directory_begin(void)
{
	HASHCTL		ctl;

	if (directory.valid && dp_ms_since(directory.since) < DIRECTORY_AGE_MS)
		return;

	if (directory.context == NULL)
		directory.context = AllocSetContextCreate(TopMemoryContext, "dp_cdp ledger directory",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(directory.context);
	memset(&ctl, 0, sizeof(ctl));
	ctl.hcxt = directory.context;
	ctl.keysize = NAMEDATALEN;
	ctl.entrysize = sizeof(DpLedgerDataset);
	directory.datasets = hash_create("dp_cdp datasets", 16, &ctl,
									 HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
	ctl.keysize = sizeof(DpPayerKey);
	ctl.entrysize = sizeof(DpLedgerPayer);
	directory.payers = hash_create("dp_cdp payers", 64, &ctl,
								   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	directory.since = dp_uptime();
	directory.valid = true;
}

/* a dataset while its budgets are read */
typedef struct Reading
{
	DpLedgerDataset *dataset;
	DpOpenTable *budgets;
	int			room;
} Reading;

static bool
add_budget(TupleTableSlot *row, void *arg)
{
	Reading    *reading = arg;
	DpLedgerDataset *dataset = reading->dataset;
	DpRowRef   *ref;
	bool		isnull;
	Oid			role = DatumGetObjectId(dp_column(reading->budgets, row, DP_BUDGET_ROLE, &isnull));
	Datum		name = dp_column(reading->budgets, row, DP_BUDGET_ROLE_NAME, &isnull);

	/* the budget of a role that there is no more is nobody's */
	if (dp_known_role(role, isnull ? NULL : TextDatumGetCString(name)) != role)
		return true;
	if (dataset->nbudgets == reading->room)
	{
		reading->room *= 2;
		dataset->budgets = repalloc(dataset->budgets, reading->room * sizeof(DpRowRef));
	}
	ref = &dataset->budgets[dataset->nbudgets++];
	ref->role = role;
	ref->tid = row->tts_tid;
	ref->batch = 0;
	return true;
}

static void
read_dataset(DpLedgerDataset *dataset, DpOpenTable *datasets, DpOpenTable *budgets, Snapshot snapshot)
{
	TupleTableSlot *row = table_slot_create(datasets->rel, NULL);
	Reading		reading = {dataset, budgets, 8};

	dataset->nbudgets = 0;
	dataset->budgets = NULL;
	dataset->exists = dp_read_newest(datasets->rel, dataset->name, snapshot, row);
	dataset->cap.role = InvalidOid;
	dataset->cap.tid = row->tts_tid;
	dataset->cap.batch = 0;
	ExecDropSingleTupleTableSlot(row);
	if (!dataset->exists)
		return;

	dataset->budgets = MemoryContextAlloc(directory.context, reading.room * sizeof(DpRowRef));
	dp_scan_newest(budgets->rel, dataset->name, snapshot, add_budget, &reading);
}

DpLedgerDataset *
dp_directory_dataset(DpOpenTable *datasets, DpOpenTable *budgets, Snapshot snapshot, const char *name)
{
	char		key[NAMEDATALEN];
	DpLedgerDataset *dataset;

	strlcpy(key, name, NAMEDATALEN);
	dataset = hash_search(directory.datasets, key, HASH_FIND, NULL);
	if (dataset)
		return dataset;

	dataset = hash_search(directory.datasets, key, HASH_ENTER, NULL);
	dataset->exists = false;
	read_dataset(dataset, datasets, budgets, snapshot);
	if (!dataset->exists)
		directory.valid = false;	/* names that do not exist should not pile
									 * up */
	return dataset;
}

DpLedgerPayer *
dp_directory_payer(DpLedgerDataset *dataset, Oid role, Oid session_role)
{
	DpPayerKey	key;
	DpLedgerPayer *payer;
	DpRowRef  **budgets;
	bool		found;
	int			n = 0;
	int			of_role;
	int			seen = 0;

	memset(&key, 0, sizeof(key));
	key.dataset = dataset;
	key.role = role;
	key.session_role = session_role;
	payer = hash_search(directory.payers, &key, HASH_FIND, &found);
	if (found)
		return payer;

	budgets = MemoryContextAlloc(directory.context,
								 Max(dataset->nbudgets, 1) * sizeof(DpRowRef *));
	/* one role at a time: the server remembers the last one's memberships */
	for (int i = 0; i < dataset->nbudgets; i++)
	{
		if (dp_role_pays(role, dataset->budgets[i].role))
			budgets[n++] = &dataset->budgets[i];
	}
	of_role = n;
	for (int i = 0; session_role != role && i < dataset->nbudgets; i++)
	{
		if (seen < of_role && budgets[seen] == &dataset->budgets[i])
			seen++;				/* counts once */
		else if (dp_role_pays(session_role, dataset->budgets[i].role))
			budgets[n++] = &dataset->budgets[i];
	}

	payer = hash_search(directory.payers, &key, HASH_ENTER, NULL);
	payer->nbudgets = n;
	payer->budgets = repalloc(budgets, Max(n, 1) * sizeof(DpRowRef *));
	return payer;
}

bool
dp_row_fetch(DpOpenTable *table, Snapshot snapshot, DpLedgerDataset *dataset, DpRowRef *ref,
			 TupleTableSlot *row)
{
	bool		isnull;
	Datum		value;

	if (table_tuple_fetch_row_version(table->rel, &ref->tid, snapshot, row))
	{
		value = dp_column(table, row, DP_BALANCE_KEY, &isnull);
		if (!isnull && strcmp(TextDatumGetCString(value), dataset->name) == 0)
		{
			if (!OidIsValid(ref->role))
				return true;
			value = dp_column(table, row, DP_BUDGET_ROLE, &isnull);
			if (!isnull && DatumGetObjectId(value) == ref->role)
				return true;
		}
	}
	return false;
}
