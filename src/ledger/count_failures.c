/*-------------------------------------------------------------------------
 *
 * count_failures.c
 *	  Failures of releases in a batch: they are counted at each budget that
 *	  paid, and while one is not counted, these budgets pay for nothing.
 *
 * Invariants:
 *	- a failure is counted at all of its budgets in one transaction, or at none.
 *	- a request of the same batch, or of a later one, that a budget of an
 *	  uncounted failure would pay for is put off while others hold locks, and
 *	  refused where the failure is stuck (failure.c).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"


#include "ledger/batch.h"

static DpLedgerPayer *
payer_of(DpLedgerDataset *dataset, const DpFailure *failure)
{
	return failure->of_caps ? &dp_nobody : dp_directory_payer(dataset, failure->role, failure->session_role);
}

/*
 * Counts a failure at every budget that paid for the release.  False when
 * others hold locks on one of them.
 */
static bool
count_failure(DpWork *work, DpFailure *failure)
{
	DpLedgerDataset *dataset = dp_directory_dataset(&work->table[DP_T_DATASET], &work->table[DP_T_BUDGET],
													work->snapshot, failure->dataset);
	DpShare		share = {dataset};

	/* dropped, with its budgets */
	if (!dataset->exists)
		return true;
	share.payer = payer_of(dataset, failure);
	for (int i = 0; i <= share.payer->nbudgets; i++)
	{
		if (dp_get_balance(work, dataset, dp_share_row(&share, i))->state != BALANCE_LOCKED)
			return false;
	}
	failure->failures = 0;
	/* a dataset's cap has no failures */
	failure->most = share.payer->nbudgets == 0 ? 0 : dp_get_balance(work, dataset, &dataset->cap)->max_failures;
	for (int i = 0; i < share.payer->nbudgets; i++)
	{
		DpBalance  *balance = dp_get_balance(work, dataset, share.payer->budgets[i]);

		balance->failures++;
		balance->failures_taken++;
		failure->failures = Max(failure->failures, balance->failures);
	}
	return true;
}

/* Notes whose budgets pay no more, since a failure of theirs is not counted. */
static void
note_uncounted(DpWork *work, const DpFailure *failure, bool is_stuck)
{
	DpUncounted *uncounted = palloc(sizeof(DpUncounted));

	uncounted->dataset = dp_directory_dataset(&work->table[DP_T_DATASET], &work->table[DP_T_BUDGET],
											  work->snapshot, failure->dataset);
	uncounted->payer = payer_of(uncounted->dataset, failure);
	uncounted->is_stuck = is_stuck;
	work->uncounted = lappend(work->uncounted, uncounted);
}

void
dp_count_failures(DpWork *work, DpFailureCopy *failures, int n)
{
	for (int i = 0; i < n; i++)
	{
		failures[i].counted = count_failure(work, &failures[i].failure);
		if (!failures[i].counted)
			note_uncounted(work, &failures[i].failure, false);
	}
	foreach_ptr(const DpFailure, item, dp_failures_stuck())
		note_uncounted(work, item, true);
}

DpReason
dp_await_failures(const DpWork *work, const DpShare *share, DpReply *reply)
{
	foreach_ptr(DpUncounted, uncounted, work->uncounted)
	{
		if (uncounted->dataset != share->dataset)
			continue;
		for (int i = 0; i < share->payer->nbudgets; i++)
			for (int j = 0; j < uncounted->payer->nbudgets; j++)
			{
				if (share->payer->budgets[i] != uncounted->payer->budgets[j])
					continue;
				reply->role = share->payer->budgets[i]->role;
				return uncounted->is_stuck ? DP_REASON_UNCOUNTED : DP_REASON_BUSY;
			}
	}
	return DP_REASON_NONE;
}

bool
dp_has_failed_too_often(const DpBalance *balance, const DpBalance *cap, DpReply *reply)
{
	if (!OidIsValid(balance->ref->role) || !dp_ledger_is_closed(balance->failures, cap->max_failures))
		return false;
	reply->failures = balance->failures;
	reply->failures_end = balance->failures_since + USECS_PER_DAY;
	return true;
}
