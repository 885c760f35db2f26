/*-------------------------------------------------------------------------
 *
 * ledger.h
 *	  What the rest of the extension may ask of the ledger.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_LEDGER_H
#define DP_LEDGER_H

#include "fmgr.h"
#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "utils/numeric.h"

#include "base/blocks.h"

/* one release (one audit row) of a debit; strings are for the audit only */
typedef struct DpDebitItem
{
	const char *dataset;		/* name; at most NAMEDATALEN - 1 bytes */
	int64		rho;			/* amount, > 0 */
	int64		delta;			/* amount, >= 0 */
	const char *aggregates;		/* "dp_count(*), dp_sum(cost)" */
	const char *groups;			/* "dept, sex", or NULL */
	const char *sigma;			/* "7.08, 1234.5": one per aggregate */
	const char *tables;			/* "public.visits", or NULL */
	bool		has_days;		/* it is charged to the blocks of these days,
								 * where the dataset is with blocks; false: to
								 * all blocks */
	DpDays		days;

	/*
	 * kept.h: what balances have paid already of this item (DpCredit), so
	 * that each owes the rest; and the answers (DpKeptId) that all balances
	 * of the payer, and the cap, have paid for with it.
	 */
	List	   *credits;
	List	   *answers;

	/*
	 * on a standby, which policy the price follows from (dp_policy_proof);
	 * NULL: from none
	 */
	const char *policy;
} DpDebitItem;

/* the most of a statement's text that the audit keeps, in bytes */
#define DP_MAX_QUERY_BYTES 2048

/* makes room in shared memory, from _PG_init while shared_preload_libraries is processed */
extern void dp_ledger_init(void);

/* registers the launcher of its workers, from _PG_init after that */
extern void dp_ledger_launcher_init(void);

/*
 * Debits all items (a List of DpDebitItem *) together or none of them, from
 * every budget that applies: those of each role among session_user,
 * current_user and the roles they inherit from, and the cap of each dataset.
 * session_user and current_user are taken from the calling backend.
 *
 * Returns only when the debit is durable.  Otherwise ereport(ERROR):
 * ZC001 exhausted, or no budget at all for the payer (detail: asked, remaining, when it renews);
 * ZC003 standby that has no primary to pay, no worker slot, worker lost ("may be spent"), ledger of
 * another timeline or database; query cancel and termination as usual.
 * Never refunds.
 */
extern PGDLLEXPORT void dp_ledger_debit(List *items);

/* returns why nothing is debited until the ledger is adopted, in words for the administrator; NULL when it is not so */
extern const char *dp_ledger_waits(void);

/* the statement that makes the next debit, for the audit; must last as long */
extern void dp_ledger_set_query(const char *text, int location, int length);

/* as dp_ledger_debit, from the budgets that apply to role, whoever calls */
extern void dp_ledger_debit_for(List *items, Oid role);

/* as dp_ledger_debit, from the caps of the datasets alone, whatever budgets there are.  Privileges are the caller's business. */
extern void dp_ledger_debit_caps(List *items);

/*
 * Changes what a role's budget, and the dataset's cap, have spent by rho, an
 * amount that may be negative, whatever the limits are; without a role the cap
 * alone.  ZC004 when there is no such budget, or less than that was spent.
 * Privileges are the caller's business.
 */
extern void dp_ledger_correct(const char *dataset, Oid role, int64 rho, const char *reason);

/*
 * A query over a dataset that was refused before it had a price, for the
 * audit.  reason: SQLSTATE and message.  Waits for nothing, raises no error.
 */
extern void dp_ledger_note_refusal(const char *dataset, const char *tables, const char *reason,
								   const char *query, int query_length);

/* what is left of a budget, as of now */
typedef struct DpLedgerBalance
{
	Oid			role;
	Numeric		rho_limit;
	Numeric		rho_remaining;
	int			failures;		/* of today */
	TimestampTz failures_end;	/* when they are forgotten, if there are any */
} DpLedgerBalance;

/*
 * Returns the budgets (DpLedgerBalance) of a dataset that a debit of the
 * calling roles would touch, in the order of the names of their roles.  days:
 * of a dataset with blocks, what is left is that of the block among these with
 * the least; NULL: of all blocks.
 */
extern List *dp_ledger_balances(const char *dataset, const DpDays *days);

/* tells whether a budget with so many failures pays for nothing any more, where a dataset allows max_failures */
extern bool dp_ledger_is_closed(int failures, int max_failures);

/* tells whether a budget of role applies to payer */
extern bool dp_role_pays(Oid payer, Oid role);

/*
 * A release that was debited and reads protected rows from here on.  However
 * that ends, one of the two functions below is called; if the process ends
 * instead, the release counts as failed, too.  The watch and what the item
 * points to must last as long.  role: current_user of the debit.  of_caps: it
 * was dp_ledger_debit_caps.  One may be within another: a failure counts once.
 */
typedef struct DpLedgerWatch
{
	Oid			session_role;	/* who paid */
	Oid			role;
	bool		of_caps;		/* caps alone paid: no budget counts it */
	const char *application;
	bool		is_remote;		/* the primary counts for this standby */
	bool		is_counted;		/* by one within it */
	struct DpLedgerWatch *around;	/* the one that this is within */
	DpDebitItem item;
} DpLedgerWatch;

/*
 * Before that, while errors may still be raised: on a standby the primary is
 * told, ZC003 where it cannot be.
 */
extern void dp_ledger_watch_prepare(DpLedgerWatch *watch, const DpDebitItem *item, Oid role, bool of_caps);
extern void dp_ledger_watch_begin(DpLedgerWatch *watch);
extern void dp_ledger_watch_end(DpLedgerWatch *watch);

/*
 * It failed: counted at every budget that paid, durably, whatever becomes of
 * the caller.  Waits a short time, without interrupts, to tell how many
 * failures that makes today, at the budget with the most, and how many there
 * may be; both are 0 if that takes too long.  Returns false where one within
 * it was counted.  Raises no error.
 */
extern bool dp_ledger_watch_failed(DpLedgerWatch *watch, int *failures, int *most);

/*
 * spills.c: dp_ledger_add_spill counts bytes that a release from a dataset has
 * written to temporary files.  dp_ledger_spilled returns what was counted since
 * the server was started, or since other datasets needed the place.  ledger_id:
 * of the dataset's cap.  They raise no error; without shared memory nothing is counted.
 */
extern void dp_ledger_add_spill(int64 ledger_id, uint64 bytes);
extern uint64 dp_ledger_spilled(int64 ledger_id);

/*
 * The tables dataset, budget, release_log and ledger_stamp refuse UPDATE,
 * DELETE and TRUNCATE, from superusers too, except between these two calls:
 *
 *		dp_ledger_write_begin();
 *		SPI_execute... of the caller's own, fully qualified statement
 *		dp_ledger_write_end();
 *
 * Keep the stretch short and let nothing of the user's run in it.  No
 * PG_TRY is needed: an error that aborts the (sub)transaction ends the
 * permission too.  Calls do not nest.  INSERT needs no permission.
 */
extern void dp_ledger_write_begin(void);
extern void dp_ledger_write_end(void);

/* what an adopted ledger is charged for what its log may have lost */
typedef struct DpSurcharge
{
	double		rho;
	double		delta;
} DpSurcharge;

/* reads arguments arg and arg + 1 of an SQL function; ZC004 */
extern DpSurcharge dp_ledger_surcharge(FunctionCallInfo fcinfo, int arg);

/*
 * Lets all datasets pay from the balances that are here, raised to the log:
 * 42501 unless the caller owns the extension.  Or one dataset, whose owner the
 * caller is known to be.  ZC003 on a standby.
 */
extern int64 dp_ledger_adopt_balances(const DpSurcharge *surcharge, const char *dataset);

#endif							/* DP_LEDGER_H */
