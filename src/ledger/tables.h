/*-------------------------------------------------------------------------
 *
 * tables.h
 *	  The ledger's tables as the worker sees them, and its directory of rows.
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
	DP_T_DATASET, DP_T_BUDGET, DP_T_LOG, DP_T_STAMP, DP_T_COUNT
} DpTableNo;

/* the first five columns of both tables of balances mean the same */
enum
{
	DP_BALANCE_KEY, DP_BALANCE_RHO_LIMIT, DP_BALANCE_RHO_SPENT,
	DP_BALANCE_DELTA_LIMIT, DP_BALANCE_DELTA_SPENT,
	DP_BUDGET_ROLE, DP_BUDGET_PERIOD, DP_BUDGET_RENEWS_AT,
	DP_BUDGET_FAILURES, DP_BUDGET_FAILURES_SINCE,
	DP_CAP_MAX_FAILURES = DP_BALANCE_DELTA_SPENT + 1, DP_CAP_ADOPTED
};
enum
{
	DP_LOG_ID, DP_LOG_RELEASED_AT, DP_LOG_DATASET, DP_LOG_ROLE, DP_LOG_SESSION_ROLE,
	DP_LOG_APPLICATION, DP_LOG_AGGREGATES, DP_LOG_GROUPS, DP_LOG_RHO, DP_LOG_DELTA,
	DP_LOG_SIGMA, DP_LOG_GRANTED, DP_LOG_FAILED, DP_LOG_NCOLS
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
} DpAudit;

extern void dp_audit_debit(DpAudit *audit, TupleTableSlot *row, const DpRequest *req, bool granted);
extern void dp_audit_failure(DpAudit *audit, TupleTableSlot *row, const DpFailure *failure);

/*
 * Locks the four tables, without waiting.  False, with the reason, when they
 * are not there or locked by others.
 */
extern bool dp_tables_lock(DpReason *reason);

/* compares the stamp, until it is good */
extern DpStamp dp_tables_stamp(void);
extern Oid	dp_tables_owner(void);
extern void dp_table_open(DpOpenTable *table, DpTableNo t);
extern void dp_table_close(DpOpenTable *table);
extern Oid	dp_tables_log_sequence(void);

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

extern void dp_directory_begin(TimestampTz now);
extern void dp_directory_forget(void);
extern DpLedgerDataset *dp_directory_dataset(DpOpenTable *datasets, DpOpenTable *budgets,
											 Snapshot snapshot, const char *name);
extern DpLedgerPayer *dp_directory_payer(DpLedgerDataset *dataset, Oid role, Oid session_role);

/* the row into the slot; false when it is not there any more */
extern bool dp_row_fetch(DpOpenTable *table, Snapshot snapshot, DpLedgerDataset *dataset,
						 DpRowRef *ref, TupleTableSlot *row);

#endif							/* DP_LEDGER_TABLES_H */
