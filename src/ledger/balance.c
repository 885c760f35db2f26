/*-------------------------------------------------------------------------
 *
 * balance.c
 *	  Balances: locked and read once in a batch, written once.
 *
 * Amounts left are rounded down, amounts taken are exact.  A renewal that is due
 * makes what was spent count as 0, and is written with what is taken; from
 * then on the balance is what the log says from that batch on (spent_since).
 *
 * Invariant: what is decided on is the row's latest version, which the lock
 * keeps until the commit.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "base/amounts.h"
#include "base/places.h"
#include "ledger/batch.h"

/* without a limit, the largest amount there is */
#define NO_LIMIT (((int128) 1) << 120)

/* Returns the limit, rounded down. */
static int128
amount_most(DpBalance *balance, int limit_col, int scale)
{
	bool		isnull;
	Datum		limit = dp_column(balance->table, balance->row, limit_col, &isnull);

	return isnull ? NO_LIMIT : dp_amount_floor(DatumGetNumeric(limit), scale);
}

/* Returns limit - spent, as of now, rounded down. */
static int128
amount_left(DpBalance *balance, int limit_col, int spent_col, int scale)
{
	bool		limit_null;
	bool		spent_null;
	Datum		limit = dp_column(balance->table, balance->row, limit_col, &limit_null);
	Datum		spent = dp_column(balance->table, balance->row, spent_col, &spent_null);

	if (limit_null)
		return NO_LIMIT;
	if (!balance->renewed)
		limit = DirectFunctionCall2(numeric_sub, limit, spent);
	return dp_amount_floor(DatumGetNumeric(limit), scale);
}

/* Reads a budget's failures of today; a day begins with its first failure. */
static void
read_failures(DpWork *work, DpBalance *balance)
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

/* Returns what is spent, as of now. */
static int128
amount_spent(DpBalance *balance)
{
	bool		isnull;
	Datum		spent = dp_column(balance->table, balance->row, DP_BALANCE_RHO_SPENT, &isnull);

	return balance->renewed ? 0 : dp_amount_floor(DatumGetNumeric(spent), DP_RHO_SCALE);
}

static void
read_balance(DpWork *work, DpBalance *balance)
{
	DpOpenTable *table = balance->table;
	bool		isnull;

	slot_getallattrs(balance->row);
	if (!OidIsValid(balance->ref->role))
	{
		Datum		adopted = dp_column(table, balance->row, DP_CAP_ADOPTED, &isnull);

		balance->adopted = work->stamp != DP_STAMP_GOOD && !isnull && dp_stamp_is_here(TextDatumGetCString(adopted));
		balance->max_failures = DatumGetInt32(dp_column(table, balance->row, DP_CAP_MAX_FAILURES, &isnull));
		(void) dp_column(table, balance->row, DP_CAP_BLOCK_EVERY, &isnull);
		balance->has_blocks = !isnull;
		balance->reuse_dumped = DatumGetBool(dp_column(table, balance->row, DP_CAP_REUSE_DUMPED, &isnull));
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
	balance->ledger_id = DatumGetInt64(dp_column(table, balance->row, DP_BALANCE_LEDGER_ID, &isnull));
	balance->rho_spent = amount_spent(balance);
	balance->rho_left = amount_left(balance, DP_BALANCE_RHO_LIMIT, DP_BALANCE_RHO_SPENT, DP_RHO_SCALE);
	balance->delta_left = amount_left(balance, DP_BALANCE_DELTA_LIMIT, DP_BALANCE_DELTA_SPENT,
									  DP_DELTA_SCALE);
	balance->rho_most = amount_most(balance, DP_BALANCE_RHO_LIMIT, DP_RHO_SCALE);
	balance->delta_most = amount_most(balance, DP_BALANCE_DELTA_LIMIT, DP_DELTA_SCALE);
}

/* Locks the row, without waiting, and reads its latest version. */
static void
lock_balance(DpWork *work, DpBalance *balance, DpLedgerDataset *dataset)
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

			/*
			 * what others can see now; what this batch writes follows from
			 * there
			 */
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

DpBalance *
dp_get_balance(DpWork *work, DpLedgerDataset *dataset, DpRowRef *ref)
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

static void
add_spent(DpBalance *balance, TupleTableSlot *row, int col, int128 taken, int scale)
{
	AttrNumber	attnum = balance->table->attnum[col];
	Datum		sum = NumericGetDatum(dp_amount_numeric(taken, scale));

	if (!balance->renewed)
		sum = DirectFunctionCall2(numeric_add, row->tts_values[attnum - 1], sum);
	row->tts_values[attnum - 1] = sum;
}

void
dp_write_balance(DpWork *work, DpBalance *balance, int64 first_id)
{
	DpOpenTable *table = balance->table;
	int			natts = RelationGetDescr(table->rel)->natts;
	TupleTableSlot *row;

	dp_blocks_write(work, balance);
	if (balance->rho_taken == 0 && balance->delta_taken == 0 && balance->failures_taken == 0)
		return;

	row = table_slot_create(table->rel, NULL);
	memcpy(row->tts_values, balance->row->tts_values, natts * sizeof(Datum));
	memcpy(row->tts_isnull, balance->row->tts_isnull, natts * sizeof(bool));
	add_spent(balance, row, DP_BALANCE_RHO_SPENT, balance->rho_taken, DP_RHO_SCALE);
	add_spent(balance, row, DP_BALANCE_DELTA_SPENT, balance->delta_taken, DP_DELTA_SCALE);
	if (balance->renewed)
	{
		row->tts_values[table->attnum[DP_BUDGET_RENEWS_AT] - 1] =
			TimestampTzGetDatum(balance->renews_at);
		dp_set_column(table, row, DP_BUDGET_SPENT_SINCE, Int64GetDatum(first_id));
	}
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
