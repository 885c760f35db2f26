/*-------------------------------------------------------------------------
 *
 * batch.h
 *	  Balances while a batch is at work.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
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
	int128		rho_most;		/* the limits */
	int128		delta_most;
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
	bool		has_blocks;		/* of a dataset */
	/* of a dataset with blocks, when dp_blocks_load has been called */
	struct DpSteps *steps;
	bool		blocks_taken;
	bool		reuse_dumped;	/* of a dataset */
} DpBalance;

typedef struct DpSteps DpSteps;

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
	List	   *chains;			/* of DpChain */
	List	   *uncounted;		/* of DpUncounted */
} DpWork;

/* a failure that could not be counted in this batch: nothing is debited from these budgets */
typedef struct DpUncounted
{
	struct DpLedgerDataset *dataset;
	struct DpLedgerPayer *payer;
	bool		is_stuck;		/* nor before; else others hold locks */
} DpUncounted;

/* the part of a request that one dataset has to hold */
typedef struct DpShare
{
	DpLedgerDataset *dataset;
	DpLedgerPayer *payer;
	/* what each balance owes: the payer's budgets, then the cap */
	int128	   *rho;
	int128	   *delta;

	/*
	 * of a dataset with blocks, for each balance what it owes of each item;
	 * NULL: it is without
	 */
	struct DpBlockDebit **debits;
	int			ndebits;
} DpShare;

/* an answer of a chain */
typedef struct DpLink
{
	int64		rho;
	int64		delta;
	TupleTableSlot *row;		/* NULL: it is new */
	bool		locked;
	bool		ended;
	bool		has_values;
	int			npaid;
	int64	   *paid_by;
	bool		changed;
	struct varlena *values;		/* to be written */
	int64		below;			/* of a new one, and of values */
	/* of a new one */
	const char *dataset;
	bool		dumped;
	bool		has_days;
	DpDays		days;			/* of the blocks that it tells of */
} DpLink;

/* all answers of a question that have one beginning */
typedef struct DpChain
{
	uint8		fingerprint[DP_FINGERPRINT_BYTES];
	TimestampTz began;
	int64		cap;			/* number of the dataset's cap */
	bool		ended;
	List	   *links;
	int64		pending_rho;	/* what the request at work has bought of it */
	int64		pending_delta;
} DpChain;

/* batch.c: who pays where caps alone do */
extern DpLedgerPayer dp_nobody;

/* a balance, locked and read if that is possible: see its state */
extern DpBalance *dp_get_balance(DpWork *work, DpLedgerDataset *dataset, DpRowRef *ref);

/* writes what the batch has taken; first_id: of the batch's rows of the log */
extern void dp_write_balance(DpWork *work, DpBalance *balance, int64 first_id);

/* --- blocks.c: balances of datasets with blocks of time --- */

/* what a balance is to be debited in some blocks */
typedef struct DpBlockDebit
{
	DpDays		days;
	int128		rho;
	int128		delta;
} DpBlockDebit;

/* reads what was spent in blocks, of a balance that is locked */
extern void dp_blocks_load(DpWork *work, DpBalance *balance);

/* looks for the first block that does not hold all debits together, and says so in the reply; DP_REASON_NONE: there is none */
extern DpReason dp_blocks_short(const DpBalance *balance, const DpBlockDebit *debits, int n, DpReply *reply);
extern void dp_blocks_take(DpBalance *balance, const DpBlockDebit *debits, int n);

/* returns what was spent in the block with the least */
extern int128 dp_blocks_least(const DpBalance *balance);
extern void dp_blocks_write(DpWork *work, DpBalance *balance);

/* --- count_failures.c --- */

/* Counts failures at each budget that paid, sets which are counted, and notes the budgets of those that are not. */
extern void dp_count_failures(DpWork *work, DpFailureCopy *failures, int n);

/*
 * Tells why a share cannot be decided on, one of whose budgets has a failure that is not counted: DP_REASON_BUSY, since others
 * hold locks, or DP_REASON_UNCOUNTED, with the budget's role in the reply.  DP_REASON_NONE: all are counted.
 */
extern DpReason dp_await_failures(const DpWork *work, const DpShare *share, DpReply *reply);

/* Tells whether the budget has as many failures as the dataset allows, or one where it allows none. */
extern bool dp_has_failed_too_often(const DpBalance *balance, const DpBalance *cap, DpReply *reply);

/* --- kept_rows.c --- */

extern DpChain *dp_get_chain(DpWork *work, const DpKeptId *id);
extern DpLink *dp_find_link(DpChain *chain, const DpKeptId *id);

/* what a balance has paid for a chain: for the dearest link that it has paid for */
extern void dp_refine_paid(const DpChain *chain, int64 ledger_id, int64 *rho, int64 *delta);
extern bool dp_has_paid(const DpLink *link, int64 ledger_id);

/* before it is changed; false: others have locked it, or it is gone */
extern bool dp_lock_link(DpWork *work, DpLink *link);
extern DpLink *dp_add_link(DpChain *chain, const DpKeptId *id, const char *dataset, int64 cap, bool dumped);
extern void dp_note_payer(DpLink *link, int64 ledger_id);
extern void dp_write_chains(DpWork *work);

/* --- owed.c --- */

/* the i-th balance that a share touches: its payer's budgets, then the cap */
extern DpRowRef *dp_share_row(const DpShare *share, int i);
extern DpBalance *dp_share_balance(DpWork *work, const DpShare *share, int i);

/* the share of an item's dataset */
extern DpShare *dp_share_of(DpShare *shares, int n, const DpRequest *req, int item);

/* computes what each balance owes, and the rows of the log that say so; all of them are locked */
extern void dp_owe(DpWork *work, DpBatchRequest *request, const DpExtraItem *extra, DpShare *shares, int n);

/* the numbers of all balances of a share, for the log */
extern Datum dp_share_payers(DpWork *work, DpShare *share);

/* locks the answers of a debit that are there; false: others have locked one */
extern bool dp_lock_answers(DpWork *work, const DpExtraItem *extra, int n);

/* notes that all balances have paid for the answers of a debit */
extern void dp_mark_answers(DpWork *work, const DpRequest *req, const DpExtraItem *extra, DpShare *shares, int n);

/* takes values that are to be kept */
extern DpOutcome dp_keep(DpWork *work, DpBatchRequest *request);

#endif							/* DP_LEDGER_BATCH_H */
