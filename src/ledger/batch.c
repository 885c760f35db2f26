/*-------------------------------------------------------------------------
 *
 * batch.c
 *	  One batch of debits against the tables, inside the worker's transaction.
 *
 * Each balance that a batch touches is locked once, decided on in memory
 * request by request, and written once; the audit gets a row per release, and
 * one per failure of a release.
 * Rows are read and written with the executor's own primitives and not with
 * queries: a batch of one then costs little more than its commit.  Triggers
 * do not fire on these writes, so nobody's code runs on behalf of a debit;
 * expressions in somebody's indexes run as the owner of the tables.
 *
 * Invariants:
 *	- a request is granted only if every budget row that applies to its payer
 *	  and its datasets' caps hold all of it, and then debits all of them;
 *	- it is refused while one of these budgets has as many failures of today
 *	  as the dataset allows; those that came in with the batch are counted
 *	  before it is decided on;
 *	- balances are decided on after the row is locked and from its latest
 *	  version, which the lock keeps until the commit;
 *	- where the ledger's stamp is not good, only datasets that their owners
 *	  have adopted here pay;
 *	- no lock is waited for: a request that needs a locked row or table is
 *	  put off, the others go on.  So the worker is in no deadlock and holds
 *	  up no other dataset.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "base/amounts.h"
#include "base/places.h"
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
	int128		rho_left;
	int128		delta_left;
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
typedef struct Work
{
	uint64		number;
	TimestampTz now;
	DpStamp		stamp;
	EState	   *estate;
	Snapshot	snapshot;
	DpOpenTable table[3];
	List	   *balances;		/* of DpBalance: all that were asked for */
} Work;

/* the part of a request that one dataset has to hold */
typedef struct Share
{
	DpLedgerDataset *dataset;
	DpLedgerPayer *payer;
	int128		rho;
	int128		delta;
} Share;

/* ---------------------------------------------------------------------
 * Balances
 * ---------------------------------------------------------------------
 */

/* Returns limit - spent, as of now, rounded down; without a limit the largest amount there is. */
static int128
amount_left(DpBalance *balance, int limit_col, int spent_col, int scale)
{
	bool		limit_null;
	bool		spent_null;
	Datum		limit = dp_column(balance->table, balance->row, limit_col, &limit_null);
	Datum		spent = dp_column(balance->table, balance->row, spent_col, &spent_null);

	if (limit_null)
		return ((int128) 1) << 120;
	if (!balance->renewed)
		limit = DirectFunctionCall2(numeric_sub, limit, spent);
	return dp_amount_floor(DatumGetNumeric(limit), scale);
}

/* Reads a budget's failures of today; a day begins with its first failure. */
static void
read_failures(Work *work, DpBalance *balance)
{
	bool		isnull;
	Datum		since = dp_column(balance->table, balance->row, DP_BUDGET_FAILURES_SINCE, &isnull);

	balance->failures = 0;
	balance->failures_since = work->now;
	if (isnull || DatumGetTimestampTz(since) <= work->now - USECS_PER_DAY)
		return;
	balance->failures_since = DatumGetTimestampTz(since);
	balance->failures = DatumGetInt32(dp_column(balance->table, balance->row, DP_BUDGET_FAILURES, &isnull));
}

static void
read_balance(Work *work, DpBalance *balance)
{
	DpOpenTable *table = balance->table;
	bool		isnull;

	slot_getallattrs(balance->row);
	if (!OidIsValid(balance->ref->role))
	{
		Datum		adopted = dp_column(table, balance->row, DP_CAP_ADOPTED, &isnull);

		balance->adopted = work->stamp != DP_STAMP_GOOD && !isnull && dp_stamp_is_here(TextDatumGetCString(adopted));
		balance->max_failures = DatumGetInt32(dp_column(table, balance->row, DP_CAP_MAX_FAILURES, &isnull));
	}
	else
	{
		bool		date_null;
		bool		period_null;
		Datum		date = dp_column(table, balance->row, DP_BUDGET_RENEWS_AT, &date_null);
		Datum		period = dp_column(table, balance->row, DP_BUDGET_PERIOD, &period_null);

		read_failures(work, balance);

		if (!date_null && !period_null)
		{
			Interval   *interval = DatumGetIntervalP(period);

			balance->renewed = dp_renewal_due(DatumGetTimestampTz(date), interval, work->now);
			balance->renews_at = dp_next_renewal(DatumGetTimestampTz(date), interval, work->now);
			balance->renews = balance->renews_at > work->now && !TIMESTAMP_NOT_FINITE(balance->renews_at);
		}
	}
	balance->rho_left = amount_left(balance, DP_BALANCE_RHO_LIMIT, DP_BALANCE_RHO_SPENT, DP_RHO_SCALE);
	balance->delta_left = amount_left(balance, DP_BALANCE_DELTA_LIMIT, DP_BALANCE_DELTA_SPENT,
									  DP_DELTA_SCALE);
}

/* Locks the row, without waiting, and reads its latest version. */
static void
lock_balance(Work *work, DpBalance *balance, DpLedgerDataset *dataset)
{
	DpOpenTable *table = balance->table;
	TM_FailureData failure;
	TM_Result	result;

	balance->row = table_slot_create(table->rel, NULL);
	balance->state = BALANCE_MOVED;
	if (dp_row_fetch(table, work->snapshot, dataset, balance->ref, balance->row))
	{
		ExecClearTuple(balance->row);
		result = table_tuple_lock(table->rel, &balance->ref->tid, work->snapshot, balance->row,
								  GetCurrentCommandId(false), LockTupleNoKeyExclusive,
								  LockWaitSkip, TUPLE_LOCK_FLAG_FIND_LAST_VERSION, &failure);
		if (result == TM_Ok)
			balance->state = BALANCE_LOCKED;
		else if (result == TM_WouldBlock)
			balance->state = BALANCE_BUSY;
		else if (result != TM_Deleted)
			elog(ERROR, "unexpected result %d of locking a privacy budget", (int) result);
	}

	switch (balance->state)
	{
		case BALANCE_LOCKED:
			balance->ref->tid = balance->row->tts_tid;
			/* what others can see now; what this batch writes follows from there */
			dp_place_set(table->rel, dataset->name, balance->ref->role, &balance->ref->tid);
			read_balance(work, balance);
			return;
		case BALANCE_BUSY:
			break;
		case BALANCE_MOVED:
			dp_directory_forget();
			break;
	}
	ExecDropSingleTupleTableSlot(balance->row);
	balance->row = NULL;
}

static DpBalance *
get_balance(Work *work, DpLedgerDataset *dataset, DpRowRef *ref)
{
	if (ref->batch != work->number)
	{
		ref->balance = palloc0(sizeof(DpBalance));
		ref->batch = work->number;
		ref->balance->table = &work->table[OidIsValid(ref->role) ? DP_T_BUDGET : DP_T_DATASET];
		ref->balance->ref = ref;
		lock_balance(work, ref->balance, dataset);
		work->balances = lappend(work->balances, ref->balance);
	}
	return ref->balance;
}

/* ---------------------------------------------------------------------
 * Deciding
 * ---------------------------------------------------------------------
 */

static DpOutcome
refuse(DpRequest *req, DpReason reason, const char *dataset)
{
	req->reply.reason = reason;
	strlcpy(req->reply.dataset, dataset, NAMEDATALEN);
	return DP_OUTCOME_REFUSE;
}

static DpOutcome
later(DpRequest *req, DpReason reason, const char *dataset)
{
	(void) refuse(req, reason, dataset);
	return DP_OUTCOME_LATER;
}

/* Sums a request up by dataset, with who pays; returns the number of shares. */
static int
make_shares(Work *work, DpRequest *req, Share *shares)
{
	int			n = 0;

	for (int i = 0; i < req->nitems; i++)
	{
		DpWireItem *item = &req->items[i];
		const char *name = dp_request_string(req, item->dataset);
		int			s;

		for (s = 0; s < n; s++)
		{
			if (strcmp(shares[s].dataset->name, name) == 0)
				break;
		}
		if (s == n)
		{
			shares[s].dataset = dp_directory_dataset(&work->table[DP_T_DATASET],
													 &work->table[DP_T_BUDGET],
													 work->snapshot, name);
			shares[s].payer = dp_directory_payer(shares[s].dataset, req->role, req->session_role);
			shares[s].rho = 0;
			shares[s].delta = 0;
			n++;
		}
		shares[s].rho += item->rho;
		shares[s].delta += item->delta;
	}
	return n;
}

/* Returns the i-th balance that a share touches: its payer's budgets, then the cap. */
static DpRowRef *
share_row(Share *share, int i)
{
	return i < share->payer->nbudgets ? share->payer->budgets[i] : &share->dataset->cap;
}

/*
 * Counts a failure at every budget that paid for the release.  False when
 * others hold locks on one of them.
 */
static bool
count_failure(Work *work, DpFailure *failure)
{
	DpLedgerDataset *dataset = dp_directory_dataset(&work->table[DP_T_DATASET], &work->table[DP_T_BUDGET],
													work->snapshot, failure->dataset);
	Share		share = {dataset};

	/* dropped, with its budgets */
	if (!dataset->exists)
		return true;
	share.payer = dp_directory_payer(dataset, failure->role, failure->session_role);
	for (int i = 0; i <= share.payer->nbudgets; i++)
	{
		if (get_balance(work, dataset, share_row(&share, i))->state != BALANCE_LOCKED)
			return false;
	}
	failure->failures = 0;
	failure->most = get_balance(work, dataset, &dataset->cap)->max_failures;
	for (int i = 0; i < share.payer->nbudgets; i++)
	{
		DpBalance  *balance = get_balance(work, dataset, share.payer->budgets[i]);

		balance->failures += failure->number;
		balance->failures_taken += failure->number;
		failure->failures = Max(failure->failures, balance->failures);
	}
	return true;
}

/* Tells whether the budget has as many failures as the dataset allows, or one where it allows none. */
static bool
has_failed_too_often(const DpBalance *balance, const DpBalance *cap, DpReply *reply)
{
	if (!OidIsValid(balance->ref->role) || !dp_ledger_is_closed(balance->failures, cap->max_failures))
		return false;
	reply->failures = balance->failures;
	reply->failures_end = balance->failures_since + USECS_PER_DAY;
	return true;
}

/*
 * Locks every balance that the shares touch.  DP_OUTCOME_GRANT: all are
 * there and locked, so that amounts may be compared.
 */
static DpOutcome
gather_balances(Work *work, DpRequest *req, Share *shares, int n)
{
	for (int s = 0; s < n; s++)
	{
		Share	   *share = &shares[s];

		if (!share->dataset->exists)
			return refuse(req, DP_REASON_NO_DATASET, share->dataset->name);
		for (int i = 0; i <= share->payer->nbudgets; i++)
		{
			DpBalance  *balance = get_balance(work, share->dataset, share_row(share, i));

			if (balance->state != BALANCE_LOCKED)
				return later(req, balance->state == BALANCE_BUSY ? DP_REASON_BUSY : DP_REASON_NONE,
							 share->dataset->name);
		}
		if (work->stamp != DP_STAMP_GOOD && !get_balance(work, share->dataset, &share->dataset->cap)->adopted)
		{
			req->reply.stamp = work->stamp;
			return refuse(req, DP_REASON_FOREIGN, share->dataset->name);
		}
	}
	return DP_OUTCOME_GRANT;
}

/*
 * Looks for the first balance of one share that does not hold it, and says so
 * in the reply; DP_REASON_NONE: all hold it.
 */
static DpReason
first_short(Work *work, Share *share, DpReply *reply)
{
	DpBalance  *cap = get_balance(work, share->dataset, &share->dataset->cap);

	reply->asked = share->rho;
	if (share->payer->nbudgets == 0)
		return DP_REASON_NO_BUDGET;
	for (int i = 0; i <= share->payer->nbudgets; i++)
	{
		DpBalance  *balance = get_balance(work, share->dataset, share_row(share, i));

		reply->role = balance->ref->role;
		reply->renews = balance->renews;
		reply->renews_at = balance->renews_at;
		if (has_failed_too_often(balance, cap, reply))
			return DP_REASON_FAILURES;
		if (share->rho > balance->rho_left)
		{
			reply->remaining = balance->rho_left;
			return DP_REASON_RHO;
		}
		if (share->delta > balance->delta_left)
		{
			reply->asked = share->delta;
			reply->remaining = balance->delta_left;
			return DP_REASON_DELTA;
		}
	}
	return DP_REASON_NONE;
}

static void
take(Work *work, Share *share)
{
	for (int i = 0; i <= share->payer->nbudgets; i++)
	{
		DpBalance  *balance = get_balance(work, share->dataset, share_row(share, i));

		balance->rho_left -= share->rho;
		balance->rho_taken += share->rho;
		balance->delta_left -= share->delta;
		balance->delta_taken += share->delta;
	}
}

static DpOutcome
decide(Work *work, DpRequest *req)
{
	Share		shares[DP_MAX_ITEMS];
	int			n = make_shares(work, req, shares);
	DpOutcome	outcome;

	memset(&req->reply, 0, sizeof(req->reply));
	outcome = gather_balances(work, req, shares, n);
	if (outcome != DP_OUTCOME_GRANT)
		return outcome;
	for (int s = 0; s < n; s++)
	{
		DpReason	reason = first_short(work, &shares[s], &req->reply);

		if (reason != DP_REASON_NONE)
			return refuse(req, reason, shares[s].dataset->name);
	}
	for (int s = 0; s < n; s++)
		take(work, &shares[s]);
	return DP_OUTCOME_GRANT;
}

/* ---------------------------------------------------------------------
 * Writing
 * ---------------------------------------------------------------------
 */

static void
add_spent(DpBalance *balance, TupleTableSlot *row, int col, int128 taken, int scale)
{
	AttrNumber	attnum = balance->table->attnum[col];
	Datum		sum = NumericGetDatum(dp_amount_numeric(taken, scale));

	if (!balance->renewed)
		sum = DirectFunctionCall2(numeric_add, row->tts_values[attnum - 1], sum);
	row->tts_values[attnum - 1] = sum;
}

static void
write_balance(Work *work, DpBalance *balance)
{
	DpOpenTable *table = balance->table;
	int			natts = RelationGetDescr(table->rel)->natts;
	TupleTableSlot *row;

	if (balance->rho_taken == 0 && balance->delta_taken == 0 && balance->failures_taken == 0)
		return;

	row = table_slot_create(table->rel, NULL);
	memcpy(row->tts_values, balance->row->tts_values, natts * sizeof(Datum));
	memcpy(row->tts_isnull, balance->row->tts_isnull, natts * sizeof(bool));
	add_spent(balance, row, DP_BALANCE_RHO_SPENT, balance->rho_taken, DP_RHO_SCALE);
	add_spent(balance, row, DP_BALANCE_DELTA_SPENT, balance->delta_taken, DP_DELTA_SCALE);
	if (balance->renewed)
		row->tts_values[table->attnum[DP_BUDGET_RENEWS_AT] - 1] =
			TimestampTzGetDatum(balance->renews_at);
	if (balance->failures_taken > 0)
	{
		dp_set_column(table, row, DP_BUDGET_FAILURES, Int32GetDatum(balance->failures));
		dp_set_column(table, row, DP_BUDGET_FAILURES_SINCE, TimestampTzGetDatum(balance->failures_since));
	}
	ExecStoreVirtualTuple(row);
	dp_update_locked_row(table->rri, work->estate, work->snapshot, &balance->row->tts_tid, row);
	balance->ref->tid = row->tts_tid;
	ExecDropSingleTupleTableSlot(row);
}

static bool
is_audited(const DpBatchRequest *request)
{
	return request->outcome == DP_OUTCOME_GRANT ||
		(request->outcome == DP_OUTCOME_REFUSE &&
		 request->req->reply.reason <= DP_REASON_FAILURES);
}

static void
write_all(Work *work, DpBatchRequest *batch, int n, DpFailureCopy *failures, int nfailures)
{
	TupleTableSlot *row = table_slot_create(work->table[DP_T_LOG].rel, NULL);
	DpAudit		audit = {&work->table[DP_T_LOG], work->estate, work->now};
	ListCell   *lc;

	for (int i = 0; i < nfailures; i++)
	{
		if (failures[i].counted)
			dp_audit_failure(&audit, row, &failures[i].failure);
	}
	for (int i = 0; i < n; i++)
	{
		if (is_audited(&batch[i]))
			dp_audit_debit(&audit, row, batch[i].req, batch[i].outcome == DP_OUTCOME_GRANT);
	}
	ExecDropSingleTupleTableSlot(row);

	foreach(lc, work->balances)
	{
		DpBalance  *balance = lfirst(lc);

		if (balance->state == BALANCE_LOCKED)
		{
			write_balance(work, balance);
			ExecDropSingleTupleTableSlot(balance->row);
		}
	}
}

/* ---------------------------------------------------------------------
 * A batch
 * ---------------------------------------------------------------------
 */

static void
refuse_all(DpBatchRequest *batch, int n, DpReason reason)
{
	for (int i = 0; i < n; i++)
	{
		DpRequest  *req = batch[i].req;
		const char *name = dp_request_string(req, req->items[0].dataset);

		batch[i].outcome = reason == DP_REASON_BUSY ? later(req, reason, name) : refuse(req, reason, name);
	}
}

/*
 * Counts failures, decides n requests and writes the consequences.  Sets each
 * request's outcome and reply; the outcome counts once the caller
 * has committed.
 */
void
dp_batch_debit(DpBatchRequest *batch, int n, DpFailureCopy *failures, int nfailures)
{
	static uint64 number = 0;
	Work		work;
	DpReason	reason;
	Oid			user;
	int			security;

	if (!dp_tables_lock(&reason))
	{
		refuse_all(batch, n, reason);
		/* without a ledger there is nothing to count */
		for (int i = 0; i < nfailures; i++)
			failures[i].counted = reason != DP_REASON_BUSY;
		return;
	}

	/* a snapshot taken after the locks sees what others did under theirs */
	PushActiveSnapshot(GetTransactionSnapshot());
	memset(&work, 0, sizeof(work));
	work.number = ++number;
	work.snapshot = GetActiveSnapshot();
	work.now = GetCurrentTimestamp();

	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(dp_tables_owner(), security | SECURITY_RESTRICTED_OPERATION);

	work.stamp = dp_tables_stamp();
	dp_directory_begin(work.now);
	work.estate = CreateExecutorState();
	for (int t = DP_T_DATASET; t <= DP_T_LOG; t++)
		dp_table_open(&work.table[t], t);
	for (int i = 0; i < nfailures; i++)
		failures[i].counted = count_failure(&work, &failures[i].failure);
	for (int i = 0; i < n; i++)
		batch[i].outcome = decide(&work, batch[i].req);
	write_all(&work, batch, n, failures, nfailures);
	for (int t = DP_T_DATASET; t <= DP_T_LOG; t++)
		dp_table_close(&work.table[t]);
	FreeExecutorState(work.estate);

	SetUserIdAndSecContext(user, security);
	PopActiveSnapshot();
}
