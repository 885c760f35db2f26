/*-------------------------------------------------------------------------
 *
 * batch.h
 *	  Balances while a batch is at work.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_LEDGER_BATCH_H
#define DP_LEDGER_BATCH_H

#include "ledger/tables.h"

/* a budget row, or a dataset's row as its cap, while a batch is at work */
typedef struct DpBalance
{
	DpOpenTable *table;
	DpRowRef   *ref;
	enum
	{
		BALANCE_LOCKED,			/* by this transaction */
		BALANCE_BUSY,			/* by others */
		BALANCE_MOVED			/* not where the directory says */
	}			state;
	TupleTableSlot *row;		/* LOCKED: the latest version */
	int64		ledger_id;
	int128		rho_left;
	int128		delta_left;
	int128		rho_spent;		/* of this period */
	int128		rho_taken;		/* by this batch */
	int128		delta_taken;
	bool		renewed;		/* spent starts at 0 again */
	bool		renews;
	TimestampTz renews_at;
	int			failures;		/* of today, with those of this batch */
	int			failures_taken; /* those of this batch */
	TimestampTz failures_since;
	int			max_failures;	/* of a dataset */
	bool		adopted;		/* of a dataset: here, by its owner */
} DpBalance;

/* a batch at work */
typedef struct DpWork
{
	uint64		number;
	TimestampTz now;
	DpStamp		stamp;
	EState	   *estate;
	Snapshot	snapshot;
	DpOpenTable table[DP_T_OPEN];
	List	   *balances;		/* of DpBalance: all that were asked for */
} DpWork;

/* a balance, locked and read if that is possible: see its state */
extern DpBalance *dp_get_balance(DpWork *work, DpLedgerDataset *dataset, DpRowRef *ref);

/* writes what the batch has taken; first_id: of the batch's rows of the log */
extern void dp_write_balance(DpWork *work, DpBalance *balance, int64 first_id);

#endif							/* DP_LEDGER_BATCH_H */
