/*-------------------------------------------------------------------------
 *
 * batch.c
 *	  One batch of debits against the tables, inside the worker's transaction.
 *
 * Each balance that a batch touches is locked once (balance.c), decided on in
 * memory request by request, and written once; the audit gets a row per release, and
 * one per failure of a release.
 * Rows are read and written with the executor's own primitives and not with
 * queries: a batch of one then costs little more than its commit.  Triggers
 * do not fire on these writes, so nobody's code runs on behalf of a debit;
 * expressions in somebody's indexes run as the owner of the tables.
 *
 * Invariants:
 *	- a request is granted only if every budget row that applies to its payer
 *	  and its datasets' caps hold all of it, and then debits all of them; one
 *	  that caps alone pay for has no payer, and does not want for a budget;
 *	- it is refused while one of these budgets has as many failures of today
 *	  as the dataset allows; those that came in with the batch are counted
 *	  before it is decided on, and while one is not, nothing is debited from
 *	  the budgets that it counts for;
 *	- balances are decided on after the row is locked and from its latest
 *	  version, which the lock keeps until the commit;
 *	- where the ledger's stamp is not good, only datasets that their owners
 *	  have adopted here pay;
 *	- no lock is waited for: a request that needs a locked row or table is
 *	  put off, the others go on.  So the worker is in no deadlock and holds
 *	  up no other dataset.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/tableam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

#include "base/clock.h"
#include "ledger/batch.h"

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

DpLedgerPayer dp_nobody = {.nbudgets = 0};

/* Finds the datasets of a request, with who pays; returns the number of shares. */
static int
make_shares(DpWork *work, DpRequest *req, DpShare *shares)
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
			shares[s].payer = req->of_caps ? &dp_nobody : dp_directory_payer(shares[s].dataset, req->role, req->other_payer);
			shares[s].debits = NULL;
			shares[s].ndebits = 0;
			n++;
		}
	}
	return n;
}

/* Reads what was spent in blocks, and makes room for what is to be debited from which, where a dataset is with blocks. */
static void
gather_blocks(DpWork *work, DpRequest *req, DpShare *share)
{
	if (!dp_get_balance(work, share->dataset, &share->dataset->cap)->has_blocks)
		return;
	share->debits = palloc((share->payer->nbudgets + 1) * sizeof(DpBlockDebit *));
	share->ndebits = 0;
	for (int i = 0; i <= share->payer->nbudgets; i++)
	{
		dp_blocks_load(work, dp_share_balance(work, share, i));
		share->debits[i] = palloc(req->nitems * sizeof(DpBlockDebit));
	}
}

/*
 * Locks every balance that the shares touch.  DP_OUTCOME_GRANT: all are
 * there and locked, so that amounts may be compared.
 */
static DpOutcome
gather_balances(DpWork *work, DpRequest *req, DpShare *shares, int n)
{
	for (int s = 0; s < n; s++)
	{
		DpShare    *share = &shares[s];

		if (!share->dataset->exists)
			return refuse(req, DP_REASON_NO_DATASET, share->dataset->name);
		for (int i = 0; i <= share->payer->nbudgets; i++)
		{
			DpBalance  *balance = dp_get_balance(work, share->dataset, dp_share_row(share, i));

			if (balance->state != BALANCE_LOCKED)
				return later(req, balance->state == BALANCE_BUSY ? DP_REASON_BUSY : DP_REASON_NONE,
							 share->dataset->name);
		}
		if (work->stamp != DP_STAMP_GOOD && !dp_get_balance(work, share->dataset, &share->dataset->cap)->adopted)
		{
			req->reply.stamp = work->stamp;
			return refuse(req, DP_REASON_FOREIGN, share->dataset->name);
		}
		gather_blocks(work, req, share);
	}
	return DP_OUTCOME_GRANT;
}

/*
 * Looks for the first balance of one share that does not hold it, and says so
 * in the reply; DP_REASON_NONE: all hold it.
 */
static DpReason
first_short(DpWork *work, DpShare *share, DpReply *reply)
{
	DpBalance  *cap = dp_get_balance(work, share->dataset, &share->dataset->cap);

	reply->asked = share->rho[share->payer->nbudgets];
	if (share->payer->nbudgets == 0 && share->payer != &dp_nobody)
		return DP_REASON_NO_BUDGET;
	for (int i = 0; i <= share->payer->nbudgets; i++)
	{
		DpBalance  *balance = dp_get_balance(work, share->dataset, dp_share_row(share, i));

		reply->role = balance->ref->role;
		reply->renews = balance->renews;
		reply->renews_at = balance->renews_at;
		if (dp_has_failed_too_often(balance, cap, reply))
			return DP_REASON_FAILURES;
		if (share->debits != NULL)
		{
			DpReason	reason = dp_blocks_short(balance, share->debits[i], share->ndebits, reply);

			if (reason != DP_REASON_NONE)
				return reason;
			continue;
		}

		/*
		 * who owes nothing has to hold nothing, whatever corrections have
		 * left of it
		 */
		if (share->rho[i] > 0 && share->rho[i] > balance->rho_left)
		{
			reply->asked = share->rho[i];
			reply->remaining = balance->rho_left;
			return DP_REASON_RHO;
		}
		if (share->delta[i] > 0 && share->delta[i] > balance->delta_left)
		{
			reply->asked = share->delta[i];
			reply->remaining = balance->delta_left;
			return DP_REASON_DELTA;
		}
	}
	return DP_REASON_NONE;
}

static void
take(DpWork *work, DpShare *share)
{
	for (int i = 0; i <= share->payer->nbudgets; i++)
	{
		DpBalance  *balance = dp_get_balance(work, share->dataset, dp_share_row(share, i));

		if (share->debits != NULL)
		{
			dp_blocks_take(balance, share->debits[i], share->ndebits);
			continue;
		}
		balance->rho_left -= share->rho[i];
		balance->rho_taken += share->rho[i];
		balance->delta_left -= share->delta[i];
		balance->delta_taken += share->delta[i];
	}
}

static DpOutcome decide_correction(DpWork *work, DpBatchRequest *request);

/* Takes values that are to be kept; they were paid for, and change no balance. */
static DpOutcome
decide_keeping(DpWork *work, DpBatchRequest *request)
{
	DpRequest  *req = request->req;
	const char *name = dp_request_string(req, req->items[0].dataset);

	memset(&req->reply, 0, sizeof(req->reply));
	/* whoever has gone shows them to nobody */
	if (!dp_extra_attach(request))
		return refuse(req, DP_REASON_ERROR, name);
	if (dp_keep(work, request) == DP_OUTCOME_LATER)
		return later(req, DP_REASON_BUSY, name);
	return DP_OUTCOME_GRANT;
}

static DpOutcome
decide(DpWork *work, DpBatchRequest *request)
{
	DpRequest  *req = request->req;
	DpShare		shares[DP_MAX_ITEMS];
	DpExtraItem *extra;
	int			n;
	DpOutcome	outcome;

	if (req->kind == DP_REQUEST_CORRECTION)
		return decide_correction(work, request);
	if (req->kind == DP_REQUEST_KEEP)
		return decide_keeping(work, request);
	n = make_shares(work, req, shares);

	memset(&req->reply, 0, sizeof(req->reply));
	if (!dp_extra_attach(request))
		return refuse(req, DP_REASON_ERROR, shares[0].dataset->name);
	extra = dp_extra_items(request);
	outcome = gather_balances(work, req, shares, n);
	if (outcome != DP_OUTCOME_GRANT)
		return outcome;
	for (int s = 0; s < n; s++)
	{
		DpReason	reason = dp_await_failures(work, &shares[s], &req->reply);

		if (reason != DP_REASON_NONE)
			return reason == DP_REASON_BUSY ? later(req, reason, shares[s].dataset->name)
				: refuse(req, reason, shares[s].dataset->name);
	}
	if (!dp_lock_answers(work, extra, req->nitems))
		return later(req, DP_REASON_BUSY, shares[0].dataset->name);
	dp_owe(work, request, extra, shares, n);
	for (int s = 0; s < n; s++)
	{
		DpReason	reason = first_short(work, &shares[s], &req->reply);

		if (reason == DP_REASON_NO_BUDGET)
			req->reply.role = req->role;
		if (reason != DP_REASON_NONE)
			return refuse(req, reason, shares[s].dataset->name);
	}
	for (int s = 0; s < n; s++)
		take(work, &shares[s]);
	dp_mark_answers(work, req, extra, shares, n);
	return DP_OUTCOME_GRANT;
}

/*
 * Corrects a budget and the cap together, or neither; limits do not matter.
 * Without a role, the cap alone.
 */
static DpOutcome
decide_correction(DpWork *work, DpBatchRequest *request)
{
	DpRequest  *req = request->req;
	int64		rho = req->items[0].rho;
	DpLedgerDataset *dataset = dp_directory_dataset(&work->table[DP_T_DATASET], &work->table[DP_T_BUDGET],
													work->snapshot, dp_request_string(req, req->items[0].dataset));
	DpRowRef   *budget = NULL;
	DpLedgerPayer payer = {.budgets = &budget};
	DpShare		share = {dataset, &payer};
	DpLogRow   *row = palloc0(sizeof(DpLogRow));
	DpOutcome	outcome;

	memset(&req->reply, 0, sizeof(req->reply));
	for (int i = 0; dataset->exists && i < dataset->nbudgets; i++)
	{
		if (dataset->budgets[i].role == req->role)
			budget = &dataset->budgets[i];
	}
	payer.nbudgets = budget ? 1 : 0;
	outcome = gather_balances(work, req, &share, 1);
	if (outcome != DP_OUTCOME_GRANT)
		return outcome;
	req->reply.role = req->role;
	if (OidIsValid(req->role) && budget == NULL)
		return refuse(req, DP_REASON_NO_BUDGET, dataset->name);
	for (int i = 0; i <= payer.nbudgets; i++)
	{
		DpBalance  *balance = dp_get_balance(work, dataset, dp_share_row(&share, i));

		/* with blocks, all of them are corrected */
		int128		spent = share.debits ? dp_blocks_least(balance) : balance->rho_spent + balance->rho_taken;

		if (spent + rho < 0)
		{
			req->reply.asked = rho;
			req->reply.remaining = spent;
			req->reply.has_block = share.debits != NULL;
			req->reply.role = balance->ref->role;
			return refuse(req, DP_REASON_NOT_SPENT, dataset->name);
		}
	}

	/*
	 * rho is negative where something is taken back, which dp_owe knows
	 * nothing of
	 */
	row->item = 0;
	row->is_first = true;
	row->rho = rho;
	row->paid_by = dp_share_payers(work, &share);
	row->has_days = share.debits != NULL;
	request->rows = list_make1(row);
	share.rho = palloc((payer.nbudgets + 1) * sizeof(int128));
	share.delta = palloc0((payer.nbudgets + 1) * sizeof(int128));
	for (int i = 0; i <= payer.nbudgets; i++)
	{
		share.rho[i] = rho;
		if (share.debits != NULL)
			share.debits[i][0] = (DpBlockDebit)
		{
			req->items[0].days, rho, 0
		};
	}
	share.ndebits = 1;
	take(work, &share);
	return DP_OUTCOME_GRANT;
}

/* Decides a request, unless its role asks too often. */
static DpOutcome
decide_within_rate(DpWork *work, DpBatchRequest *request)
{
	DpRequest  *req = request->req;
	DpOutcome	outcome;

	if (req->kind == DP_REQUEST_DEBIT && dp_rate_is_exceeded(req->session_role))
	{
		const char *name = dp_request_string(req, req->items[0].dataset);
		DpLedgerDataset *dataset = dp_directory_dataset(&work->table[DP_T_DATASET], &work->table[DP_T_BUDGET],
														work->snapshot, name);

		/* names that mean nothing have no rows in the audit */
		memset(&req->reply, 0, sizeof(req->reply));
		req->reply.role = req->session_role;
		return refuse(req, dataset->exists ? DP_REASON_RATE : DP_REASON_NO_DATASET, name);
	}
	outcome = decide(work, request);
	dp_extra_detach(request);
	if (outcome != DP_OUTCOME_LATER && req->kind != DP_REQUEST_KEEP)
		dp_rate_count(req->session_role, outcome == DP_OUTCOME_GRANT);
	return outcome;
}

/* ---------------------------------------------------------------------
 * Writing
 * ---------------------------------------------------------------------
 */

static bool
is_audited_refusal(const DpBatchRequest *request)
{
	return request->outcome == DP_OUTCOME_REFUSE && request->req->kind == DP_REQUEST_DEBIT &&
		request->req->reply.reason <= DP_REASON_RATE;
}

static void
write_all(DpWork *work, DpBatchRequest *batch, int n, DpFailureCopy *failures, int nfailures)
{
	TupleTableSlot *row = table_slot_create(work->table[DP_T_LOG].rel, NULL);
	DpAudit		audit = {&work->table[DP_T_LOG], work->estate, work->now};
	DpNote		note;

	dp_chain_begin(&work->table[DP_T_CHAIN], work->snapshot);
	for (int i = 0; i < nfailures; i++)
	{
		if (failures[i].counted)
			dp_audit_failure(&audit, row, &failures[i].failure);
	}
	for (int i = 0; i < n; i++)
	{
		if (batch[i].outcome == DP_OUTCOME_GRANT && batch[i].req->kind != DP_REQUEST_KEEP)
			dp_audit_grant(&audit, row, &batch[i]);
		else if (is_audited_refusal(&batch[i]))
			dp_audit_refusal(&audit, row, batch[i].req);
	}
	for (int i = 0; i < DP_MAX_NOTES && dp_note_take(&note); i++)
	{
		/* nobody's audit, and in a restore the numbers of its rows are taken */
		if (dp_directory_dataset(&work->table[DP_T_DATASET], &work->table[DP_T_BUDGET], work->snapshot, note.dataset)->exists)
			dp_audit_note(&audit, row, &note);
	}
	ExecDropSingleTupleTableSlot(row);
	dp_repeats_write(audit.log, work->estate, work->snapshot, work->now);
	dp_chain_end(&work->table[DP_T_CHAIN], work->estate, work->snapshot);

	dp_write_chains(work);

	foreach_ptr(DpBalance, balance, work->balances)
	{
		if (balance->state == BALANCE_LOCKED)
		{
			dp_write_balance(work, balance, audit.first_id);
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

/* Forgets what nobody waits for, where there is no audit that it could be written into. */
static void
drop_notes(void)
{
	DpNote		note;

	while (dp_note_take(&note))
		;
	dp_repeats_forget();
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
	DpWork		work;
	DpReason	reason;
	Oid			user;
	int			security;

	if (!dp_tables_lock(&reason))
	{
		refuse_all(batch, n, reason);
		/* without a ledger there is nothing to count */
		for (int i = 0; i < nfailures; i++)
			failures[i].counted = reason != DP_REASON_BUSY;
		if (reason != DP_REASON_BUSY)
			drop_notes();
		return;
	}

	/* a snapshot taken after the locks sees what others did under theirs */
	PushActiveSnapshot(GetTransactionSnapshot());
	memset(&work, 0, sizeof(work));
	work.number = ++number;
	work.snapshot = GetActiveSnapshot();
	work.now = dp_now();

	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(dp_tables_owner(), security | SECURITY_RESTRICTED_OPERATION);

	work.stamp = dp_tables_stamp();

	/*
	 * rows of before may have to be put back under the numbers that theirs
	 * would get
	 */
	if (work.stamp != DP_STAMP_GOOD)
		drop_notes();
	dp_directory_begin();
	work.estate = CreateExecutorState();
	for (int t = 0; t < DP_T_OPEN; t++)
		dp_table_open(&work.table[t], t);
	dp_count_failures(&work, failures, nfailures);
	for (int i = 0; i < n; i++)
		batch[i].outcome = decide_within_rate(&work, &batch[i]);
	write_all(&work, batch, n, failures, nfailures);
	for (int t = 0; t < DP_T_OPEN; t++)
		dp_table_close(&work.table[t]);
	FreeExecutorState(work.estate);

	SetUserIdAndSecContext(user, security);
	PopActiveSnapshot();
}
