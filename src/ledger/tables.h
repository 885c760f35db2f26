/*-------------------------------------------------------------------------
 *
 * tables.h
 *	  The ledger's tables as the worker sees them, and its directory of rows.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_LEDGER_TABLES_H
#define DP_LEDGER_TABLES_H

#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "storage/itemptr.h"
#include "utils/snapshot.h"

#include "ledger/ledger_int.h"

typedef enum DpTableNo
{
	DP_T_DATASET, DP_T_BUDGET, DP_T_LOG, DP_T_CHAIN, DP_T_KEPT, DP_T_BLOCKS, DP_T_STAMP, DP_T_ALIAS, DP_T_COUNT,
	DP_T_OPEN = DP_T_BLOCKS + 1 /* those that a batch opens come first */
} DpTableNo;

/* the first six columns of both tables of balances mean the same */
enum
{
	DP_BALANCE_KEY, DP_BALANCE_RHO_LIMIT, DP_BALANCE_RHO_SPENT,
	DP_BALANCE_DELTA_LIMIT, DP_BALANCE_DELTA_SPENT, DP_BALANCE_LEDGER_ID,
	DP_BUDGET_ROLE, DP_BUDGET_PERIOD, DP_BUDGET_RENEWS_AT,
	DP_BUDGET_FAILURES, DP_BUDGET_FAILURES_SINCE, DP_BUDGET_ROLE_NAME, DP_BUDGET_SPENT_SINCE,
	DP_CAP_MAX_FAILURES = DP_BALANCE_LEDGER_ID + 1, DP_CAP_ADOPTED, DP_CAP_REUSE_DUMPED, DP_CAP_BLOCK_EVERY
};
enum
{
	DP_LOG_ID, DP_LOG_RELEASED_AT, DP_LOG_DATASET, DP_LOG_ROLE, DP_LOG_SESSION_ROLE,
	DP_LOG_APPLICATION, DP_LOG_AGGREGATES, DP_LOG_GROUPS, DP_LOG_RHO, DP_LOG_DELTA,
	DP_LOG_STDDEV, DP_LOG_GRANTED, DP_LOG_FAILED,
	DP_LOG_KIND, DP_LOG_REASON, DP_LOG_QUERY, DP_LOG_TABLES, DP_LOG_CLIENT, DP_LOG_REPEATS,
	DP_LOG_LAST_AT, DP_LOG_ROLE_NAME, DP_LOG_SESSION_ROLE_NAME, DP_LOG_PAID_BY, DP_LOG_HASH,
	DP_LOG_REUSE_RHO, DP_LOG_REUSE_DELTA,
	DP_LOG_BLOCK_FROM, DP_LOG_BLOCK_TO,
	DP_LOG_NCOLS
};
enum
{
	DP_CHAIN_ONE, DP_CHAIN_ID, DP_CHAIN_HASH, DP_CHAIN_FIRST_ID, DP_CHAIN_NCOLS
};

enum
{
	DP_BLOCK_LEDGER_ID, DP_BLOCK_FROM, DP_BLOCK_TO, DP_BLOCK_RHO_SPENT, DP_BLOCK_DELTA_SPENT, DP_BLOCK_NCOLS
};

enum
{
	DP_KEPT_DATASET, DP_KEPT_LEDGER_ID, DP_KEPT_FINGERPRINT, DP_KEPT_BEGAN, DP_KEPT_RHO, DP_KEPT_DELTA,
	DP_KEPT_BELOW, DP_KEPT_PAID_BY, DP_KEPT_ANSWER, DP_KEPT_USED_AT, DP_KEPT_ENDED, DP_KEPT_DUMPED,
	DP_KEPT_BLOCK_FROM, DP_KEPT_BLOCK_TO, DP_KEPT_NCOLS
};

/* a table during a batch */
typedef struct DpOpenTable
{
	Relation	rel;
	ResultRelInfo *rri;			/* with its indexes open */
	AttrNumber *attnum;			/* by the numbers above */
} DpOpenTable;

static inline Datum
dp_column(DpOpenTable *table, TupleTableSlot *row, int col, bool *isnull)
{
	return slot_getattr(row, table->attnum[col], isnull);
}

/* sets a column of a row that is being made */
static inline void
dp_set_column(DpOpenTable *table, TupleTableSlot *row, int col, Datum value)
{
	row->tts_values[table->attnum[col] - 1] = value;
	row->tts_isnull[table->attnum[col] - 1] = false;
}

/* audit.c: writes rows of the log, one per release; row: room for one */
typedef struct DpAudit
{
	DpOpenTable *log;
	EState	   *estate;
	TimestampTz now;
	int64		id;				/* of the last row */
	int64		first_id;		/* of the batch's first; 0: none yet */
} DpAudit;

extern void dp_audit_grant(DpAudit *audit, TupleTableSlot *row, const DpBatchRequest *request);
extern void dp_audit_refusal(DpAudit *audit, TupleTableSlot *row, const DpRequest *req);
extern void dp_audit_note(DpAudit *audit, TupleTableSlot *row, const DpNote *note);
extern void dp_audit_failure(DpAudit *audit, TupleTableSlot *row, const DpFailure *failure);

/* chain.c: the chain of hashes; begin and end around all rows of a batch */
extern void dp_chain_begin(DpOpenTable *chain, Snapshot snapshot);
extern void dp_chain_add(DpOpenTable *log, TupleTableSlot *row);
extern void dp_chain_end(DpOpenTable *chain, EState *estate, Snapshot snapshot);

/* hash of a row, by its columns of the log and the hash of the row before; what begin returns serves for many */
extern struct pg_cryptohash_ctx *dp_chain_hash_begin(void);
extern void dp_chain_hash(struct pg_cryptohash_ctx *context, const uint8 *before, const AttrNumber *attnum,
						  const Datum *values, const bool *nulls, uint8 *hash);

/* rate.c: how often a role may ask in a second */
extern bool dp_rate_is_exceeded(Oid role);
extern void dp_rate_count(Oid role, bool granted);

/* repeats.c: refusals that are counted in a row that is there */
typedef struct DpRepeatKey
{
	Oid			role;
	Oid			session_role;
	char		dataset[NAMEDATALEN];
	char		reason[NAMEDATALEN];
} DpRepeatKey;

extern void dp_repeat_key(DpRepeatKey *key, Oid role, Oid session_role, const char *dataset, const char *reason,
						  TimestampTz now);
extern bool dp_repeat_is_of_others(const DpRepeatKey *key);
extern bool dp_repeat_count(const DpRepeatKey *key, int number, TimestampTz now);
extern void dp_repeat_begin(const DpRepeatKey *key, int64 id, TimestampTz now);
extern void dp_repeats_write(DpOpenTable *log, EState *estate, Snapshot snapshot, TimestampTz now);

/*
 * Locks the tables, without waiting.  False, with the reason, when they
 * are not there or locked by others.
 */
extern bool dp_tables_lock(DpReason *reason);

/* compares the stamp, until it is good */
extern DpStamp dp_tables_stamp(void);
extern Oid	dp_tables_owner(void);
extern void dp_table_open(DpOpenTable *table, DpTableNo t);
extern void dp_table_close(DpOpenTable *table);
extern Oid	dp_tables_log_sequence(void);

/* a table's name in schema dp_cdp */
extern const char *dp_table_name(DpTableNo t);

/* names of columns, by their numbers above */
extern const char *const dp_kept_columns[DP_KEPT_NCOLS];
extern const char *const dp_log_columns[DP_LOG_NCOLS];

/* names of the columns of what was spent in blocks */
extern const char *const dp_block_columns[DP_BLOCK_NCOLS];

/*
 * The directory remembers from batch to batch where the rows are: a hint,
 * to be verified by dp_row_fetch.  Everything in it stays in place until the
 * next dp_directory_begin.
 */
typedef struct DpRowRef
{
	Oid			role;			/* InvalidOid: the dataset's row */
	ItemPointerData tid;		/* who updates the row brings it up to date */
	/* used by the batch of that number, batch.c */
	uint64		batch;
	struct DpBalance *balance;
} DpRowRef;

typedef struct DpLedgerDataset
{
	char		name[NAMEDATALEN];	/* hash key */
	bool		exists;
	DpRowRef	cap;
	int			nbudgets;
	DpRowRef   *budgets;
} DpLedgerDataset;

typedef struct DpPayerKey
{
	DpLedgerDataset *dataset;
	Oid			role;
	Oid			session_role;
} DpPayerKey;

typedef struct DpLedgerPayer
{
	DpPayerKey	key;
	int			nbudgets;
	DpRowRef  **budgets;		/* those that apply to him */
} DpLedgerPayer;

extern void dp_directory_begin(void);
extern void dp_directory_forget(void);
extern DpLedgerDataset *dp_directory_dataset(DpOpenTable *datasets, DpOpenTable *budgets,
											 Snapshot snapshot, const char *name);
extern DpLedgerPayer *dp_directory_payer(DpLedgerDataset *dataset, Oid role, Oid session_role);

/* the row into the slot; false when it is not there any more */
extern bool dp_row_fetch(DpOpenTable *table, Snapshot snapshot, DpLedgerDataset *dataset,
						 DpRowRef *ref, TupleTableSlot *row);

#endif							/* DP_LEDGER_TABLES_H */
