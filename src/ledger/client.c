/*-------------------------------------------------------------------------
 *
 * client.c
 *	  The asking side of the ledger: dp_ledger_debit.
 *
 * A request is written into the process's own slot, handed to the worker of
 * the database (which is started if there is none) and waited for.  Nothing
 * here touches a table or the caller's transaction, so it does not matter
 * whether that is read only, serializable, parallel or about to fail.
 *
 * Invariants:
 *	- however this is left, normally, by an error or by the process's end,
 *	  the slot has been given up (PG_ENSURE_ERROR_CLEANUP, because PG_CATCH
 *	  misses FATAL);
 *	- a request becomes PENDING only while the lock is held and a worker is
 *	  LIVE, so a worker that leaves under the same lock misses none;
 *	- no lock is held while waiting, and every wait processes interrupts.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/parallel.h"
#include "access/xlog.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "base/amounts.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/errors.h"
#include "base/extension.h"
#include "ledger/ledger_int.h"
#include "ledger/primary.h"
#include "ledger/standby.h"

PG_FUNCTION_INFO_V1(dp_ledger_debit_by_hand);

/* asking again when the worker left before it took the request */
#define MAX_ATTEMPTS 3

/* how long a process sleeps before it looks for a cancel, where others do not wake it, in ms */
#define SLICE_MS 100

/* what is asked at the moment, for messages */
static DpRequestKind asked_kind = DP_REQUEST_DEBIT;

/* ---------------------------------------------------------------------
 * Interrupts
 * ---------------------------------------------------------------------
 */

/* Says that a process which waits was cancelled. */
static void
raise_canceled(DpRequestState state)
{
	if (asked_kind == DP_REQUEST_KEEP)
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("canceling private query while its answer was kept; the charge stays, and the same question costs no more"),
				 errdetail("A question of now() costs again.")));
	ereport(ERROR,
			(errcode(ERRCODE_QUERY_CANCELED),
			 state != DP_REQUEST_TAKEN
			 ? errmsg("canceling private query; this charge was not made")
			 : errmsg("canceling private query while it was charged; no rows were read, and dp_cdp.releases tells whether the charge stands")));
}

/* Tells whether a request is the worker's, so that giving up changes its state. */
static bool
is_asked(DpRequestState state)
{
	return state == DP_REQUEST_PENDING || state == DP_REQUEST_TAKEN;
}

/*
 * Does what CHECK_FOR_INTERRUPTS does, but a cancel or timeout says what was
 * charged.  An answer that is there goes before it.
 */
static void
check_interrupts(int slot)
{
	DpRequestState state;

	HOLD_CANCEL_INTERRUPTS();
	CHECK_FOR_INTERRUPTS();
	RESUME_CANCEL_INTERRUPTS();
	while (QueryCancelPending)
	{
		state = dp_word_state(pg_atomic_read_u64(&dp_shared->words[slot]));
		if (!is_asked(state) && state != DP_REQUEST_FREE && state != DP_REQUEST_ABANDONED)
			return;
		/* the worker may change it meanwhile, back and forth */
		if (is_asked(state) && !dp_slot_swap(slot, MyDatabaseId, state,
											 state == DP_REQUEST_PENDING ? DP_REQUEST_FREE : DP_REQUEST_ABANDONED))
			continue;
		(void) dp_take_cancel();
		raise_canceled(state);
	}
}

static void
nap(int slot, long ms)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ms, dp_wait_event());
	ResetLatch(MyLatch);
	check_interrupts(slot);
}

/* Tells whoever asks, by an error, that nothing was done. */
static void
raise_refused(const DpReply *reply)
{
	if (asked_kind == DP_REQUEST_KEEP)
		dp_raise_not_kept(reply);
	dp_raise_refusal(reply);
}

static void
raise_no_worker(DpReason reason)
{
	DpReply		reply = {.reason = reason};

	raise_refused(&reply);
}

/* Raises the error that a worker does not answer, when the process has waited for it since long ago. */
static void
check_patience(int64 since)
{
	if (dp_ms_since(since) >= DP_ANSWER_PATIENCE_MS)
		raise_no_worker(DP_REASON_SILENT);
}

/* ---------------------------------------------------------------------
 * Starting a worker
 * ---------------------------------------------------------------------
 */

/*
 * Gives up as starter: whoever else waits for the worker may try.  A worker
 * that comes up all the same registers by itself, or leaves if it finds
 * another.  (Also PG_ENSURE_ERROR_CLEANUP callback.)
 */
static void
withdraw_start(int code, Datum arg)
{
	DpWorkerEntry *entry;

	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	entry = dp_entry_find(MyDatabaseId);
	if (entry && entry->state == DP_WORKER_STARTING && entry->starter_pid == MyProcPid)
		entry->state = DP_WORKER_UNUSED;
	LWLockRelease(dp_shared->lock);
	ConditionVariableBroadcast(&dp_shared->changed);
}

/* Lets others take the next slot. */
static void
leave_queue(void)
{
	DpWorkerEntry *entry;

	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	entry = dp_entry_find(MyDatabaseId);
	if (entry != NULL)
		entry->is_queued = false;
	LWLockRelease(dp_shared->lock);
}

/*
 * Starts the worker and waits until it is LIVE; this process holds the entry in
 * state STARTING, and has waited since then for a slot of the server's.
 */
static void
start_worker(int slot, int64 since)
{
	BackgroundWorker worker;
	BackgroundWorkerHandle *handle;
	bool		made_room = false;

	dp_ledger_worker_registration(&worker, MyDatabaseId, false);
	worker.bgw_notify_pid = MyProcPid;

	/*
	 * databases get slots in turn, and for each one worker that is idle, or
	 * has had its turn, gives way; not more, should parallel queries get its
	 * slot
	 */
	for (;;)
	{
		bool		is_first = dp_is_first_to_start();

		if (is_first && RegisterDynamicBackgroundWorker(&worker, &handle))
			break;
		made_room = made_room || (is_first && dp_send_worker_away());
		if (dp_ms_since(since) > DP_WORKER_PATIENCE_MS)
			raise_no_worker(DP_REASON_NO_SLOT);
		nap(slot, 10);
	}
	leave_queue();

	since = dp_uptime();
	while (dp_entry_state(MyDatabaseId) != DP_WORKER_LIVE)
	{
		pid_t		pid;

		check_patience(since);
		if (GetBackgroundWorkerPid(handle, &pid) == BGWH_STOPPED)
		{
			/* it may have come, and left again for want of work */
			if (dp_entry_state(MyDatabaseId) == DP_WORKER_STARTING)
				raise_no_worker(DP_REASON_NO_START);
			return;
		}
		nap(slot, 1000);
	}
}

/* Makes the request in slot PENDING if a worker reads those of this database; else returns false. */
static bool
try_hand_over(int slot)
{
	DpWorkerEntry *entry;
	bool		is_live;

	LWLockAcquire(dp_shared->lock, LW_SHARED);
	entry = dp_entry_find(MyDatabaseId);
	is_live = entry && entry->state == DP_WORKER_LIVE;
	if (is_live)
	{
		uint64		word = pg_atomic_read_u64(&dp_shared->words[slot]);

		Assert(dp_word_state(word) == DP_REQUEST_FREE);
		/* a full barrier; nobody else changes a FREE word */
		(void) pg_atomic_compare_exchange_u64(&dp_shared->words[slot], &word,
											  dp_word(MyDatabaseId, DP_REQUEST_PENDING));
		dp_slot_wake(entry->worker_proc);
	}
	LWLockRelease(dp_shared->lock);
	return is_live;
}

typedef enum StartClaim
{
	START_IS_MINE,				/* this process has to start the worker */
	START_IS_ANOTHERS,			/* somebody is at it */
	START_IS_OVER				/* the worker is LIVE */
} StartClaim;

/* Enters this database as one whose worker is being started, if it has no entry yet. */
static StartClaim
claim_start(int slot)
{
	StartClaim	claim = START_IS_ANOTHERS;
	DpWorkerEntry *entry;

	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	entry = dp_entry_find(MyDatabaseId);
	if (entry == NULL || entry->state == DP_WORKER_AWAY)
	{
		if (entry == NULL)
			entry = dp_entry_make(MyDatabaseId);
		claim = START_IS_MINE;
		entry->state = DP_WORKER_STARTING;
		entry->starter_pid = MyProcPid;
		entry->starter_proc = slot;
		entry->since = dp_uptime();
		entry->is_queued = true;
	}
	else if (entry->state == DP_WORKER_LIVE)
		claim = START_IS_OVER;
	LWLockRelease(dp_shared->lock);
	return claim;
}

/* Sleeps until an entry changes; the caller has prepared for that before it made its claim. */
static void
wait_for_starter(int slot)
{
	bool		timed_out = true;

	/*
	 * a second at most, as a precaution, and in slices: a cancel is for
	 * check_interrupts, not for the sleep
	 */
	for (int slept = 0; timed_out && slept < 1000; slept += SLICE_MS)
	{
		HOLD_CANCEL_INTERRUPTS();
		timed_out = ConditionVariableTimedSleep(&dp_shared->changed, SLICE_MS, dp_wait_event());
		RESUME_CANCEL_INTERRUPTS();
		if (timed_out && QueryCancelPending)
		{
			ConditionVariableCancelSleep();
			check_interrupts(slot);
			return;
		}
	}
	ConditionVariableCancelSleep();
}

/*
 * Hands the request over as soon as there is a worker, starting one if need
 * be.
 */
static void
submit(int slot)
{
	int64		since = dp_uptime();

	for (;;)
	{
		StartClaim	claim;

		check_interrupts(slot);
		if (try_hand_over(slot))
			return;
		check_patience(since);

		ConditionVariablePrepareToSleep(&dp_shared->changed);
		claim = claim_start(slot);
		if (claim == START_IS_ANOTHERS)
		{
			wait_for_starter(slot);
			continue;
		}
		ConditionVariableCancelSleep();
		if (claim == START_IS_OVER)
			continue;

		PG_ENSURE_ERROR_CLEANUP(withdraw_start, (Datum) 0);
		{
			start_worker(slot, since);
		}
		PG_END_ENSURE_ERROR_CLEANUP(withdraw_start, (Datum) 0);
		withdraw_start(0, (Datum) 0);	/* no-op once it is LIVE */
	}
}

/* ---------------------------------------------------------------------
 * Waiting
 * ---------------------------------------------------------------------
 */

/*
 * Leaves the slot, whatever its state: before the worker has taken it
 * nothing happens, after that the debit stands and nobody gets the answer.
 * (PG_ENSURE_ERROR_CLEANUP callback.)
 */
static void
give_up(int code, Datum arg)
{
	int			slot = DatumGetInt32(arg);

	for (;;)
	{
		uint64		word = pg_atomic_read_u64(&dp_shared->words[slot]);

		switch (dp_word_state(word))
		{
			case DP_REQUEST_FREE:
			case DP_REQUEST_ABANDONED:
				return;
			case DP_REQUEST_TAKEN:
				if (dp_slot_swap(slot, MyDatabaseId, DP_REQUEST_TAKEN, DP_REQUEST_ABANDONED))
					return;
				break;
			default:
				if (dp_slot_swap(slot, MyDatabaseId, dp_word_state(word), DP_REQUEST_FREE))
					return;
				break;
		}
	}
}

/*
 * Waits until the process's slot is FREE.  It is not when an earlier debit
 * was given up, by this process or the one before it in the same place, and
 * the worker is still busy with it.
 */
static void
wait_for_slot(int slot)
{
	int64		since = dp_uptime();

	while (dp_word_state(pg_atomic_read_u64(&dp_shared->words[slot])) != DP_REQUEST_FREE)
	{
		check_patience(since);
		nap(slot, 100);
	}
	/* the worker's writes to the request come before ours */
	pg_memory_barrier();
}

/*
 * Waits for the answer.  A worker that has not taken the request for long
 * (stopped, or stuck in a commit) never gets it: it is taken back, uncharged.
 * A request that it has taken is waited for, until a cancel or timeout, as it may be spent.
 */
static DpRequestState
wait_for_answer(int slot)
{
	int64		since = dp_uptime();

	for (;;)
	{
		DpRequestState state = dp_word_state(pg_atomic_read_u64(&dp_shared->words[slot]));

		/* an answer that is there goes before a cancel that is there too */
		if (state != DP_REQUEST_PENDING && state != DP_REQUEST_TAKEN)
		{
			pg_memory_barrier();
			return state;
		}
		if (state == DP_REQUEST_PENDING && dp_ms_since(since) >= DP_ANSWER_PATIENCE_MS &&
			dp_slot_swap(slot, MyDatabaseId, DP_REQUEST_PENDING, DP_REQUEST_FREE))
			check_patience(since);
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, DP_ANSWER_LOOK_MS, dp_wait_event());
		ResetLatch(MyLatch);
		state = dp_word_state(pg_atomic_read_u64(&dp_shared->words[slot]));
		if (state == DP_REQUEST_PENDING || state == DP_REQUEST_TAKEN)
			check_interrupts(slot);
	}
}

/* ---------------------------------------------------------------------
 * Entry points
 * ---------------------------------------------------------------------
 */

/* Tells whether a standby may have it done by the primary: a debit of the session's own budgets. */
static bool
is_remote(const DpOrder *order)
{
	return order->kind == DP_REQUEST_DEBIT && !order->is_for && !order->of_caps && order->asker == NULL;
}

static void
check_available(List *items, const DpOrder *order)
{
	if (dp_shared == NULL)
		dp_raise(LEDGER_UNAVAILABLE,
				 errmsg("the privacy ledger is not loaded; add shared_preload_libraries = 'dp_cdp' to postgresql.conf and restart the server"));
	if (!IsUnderPostmaster)
		dp_raise(LEDGER_UNAVAILABLE, errmsg("nothing can be released in single-user mode; start the server normally"));
	if (IsParallelWorker())
		elog(ERROR, "privacy budgets cannot be debited from a parallel worker");
	if (RecoveryInProgress() && (!is_remote(order) || !dp_primary_pays()))
		dp_raise(LEDGER_UNAVAILABLE,
				 errmsg("this server is a standby and cannot debit privacy budgets; ask the primary, or have the administrator set dp_cdp.primary_conninfo here"));
	dp_check_version();
	if (list_length(items) > DP_MAX_ITEMS)
		dp_raise(NOT_RELEASABLE, errmsg("the statement makes %d releases at once, at most %d are possible; split it",
										list_length(items), DP_MAX_ITEMS),
				 errdetail("Each query and subquery that aggregates protected rows is a release, and each of its grouping sets. Finding bounds or limits is one more."));
	foreach_ptr(DpDebitItem, item, items)
	{
		if (item->dataset == NULL || strlen(item->dataset) >= NAMEDATALEN)
			elog(ERROR, "debit without a proper name of a dataset");
		if (order->kind == DP_REQUEST_DEBIT && (item->rho <= 0 || item->delta < 0))
			elog(ERROR, "debit of an amount that is not positive");
	}
}

/* Has the worker do as ordered, and returns when that is durable; else an error. */
static void
submit_order(List *items, DpOrder *order)
{
	int			slot;

	dp_take_query(order);
	if (items == NIL)
		return;
	check_available(items, order);
	if (RecoveryInProgress())
	{
		dp_primary_debit(items, order);
		return;
	}
	asked_kind = order->kind;
	/* for what the debit pays for may fail */
	if (order->kind == DP_REQUEST_DEBIT)
		dp_failure_reserve();

	slot = dp_my_proc_number();
	Assert(slot >= 0 && slot < dp_shared->nslots);

	for (int attempt = 1;; attempt++)
	{
		DpRequestState state;
		DpReply		reply;
		dsm_segment *segment;

		wait_for_slot(slot);
		dp_write_request(&dp_shared->requests[slot], items, order);
		segment = dp_extra_write(&dp_shared->requests[slot], items, order->values);

		PG_ENSURE_ERROR_CLEANUP(give_up, Int32GetDatum(slot));
		{
			submit(slot);
			state = wait_for_answer(slot);
		}
		PG_END_ENSURE_ERROR_CLEANUP(give_up, Int32GetDatum(slot));

		reply = dp_shared->requests[slot].reply;
		give_up(0, Int32GetDatum(slot));
		/* after an error the transaction detaches it */
		if (segment != NULL)
			dsm_detach(segment);

		if (state == DP_REQUEST_GRANTED)
			return;
		if (state == DP_REQUEST_UNKNOWN && order->kind == DP_REQUEST_KEEP)
			dp_raise_not_kept(NULL);
		if (state == DP_REQUEST_UNKNOWN)
			dp_raise(LEDGER_UNAVAILABLE,
					 errmsg("the privacy ledger's background worker was lost during the debit, which may be spent; look at dp_cdp.budgets before you retry"));
		if (reply.reason == DP_REASON_WORKER_GONE && attempt < MAX_ATTEMPTS)
			continue;
		raise_refused(&reply);
	}
}

void
dp_ledger_debit(List *items)
{
	DpOrder		order = {.kind = DP_REQUEST_DEBIT};

	submit_order(items, &order);
}

void
dp_ledger_debit_as(List *items, const DpAsker *asker)
{
	DpOrder		order = {.kind = DP_REQUEST_DEBIT, .asker = asker};

	if (asker->query != NULL)
		dp_ledger_set_query(asker->query, 0, 0);
	submit_order(items, &order);
}

void
dp_ledger_debit_for(List *items, Oid role)
{
	DpOrder		order = {.kind = DP_REQUEST_DEBIT, .is_for = true, .role = role};

	submit_order(items, &order);
}

void
dp_ledger_debit_caps(List *items)
{
	DpOrder		order = {.kind = DP_REQUEST_DEBIT, .of_caps = true};

	submit_order(items, &order);
}

void
dp_ledger_correct(const char *dataset, Oid role, int64 rho, const char *reason)
{
	DpOrder		order = {.kind = DP_REQUEST_CORRECTION, .is_for = true, .role = role, .reason = reason};
	DpDebitItem item = {.dataset = dataset, .rho = rho, .aggregates = "correction"};

	submit_order(list_make1(&item), &order);
}

void
dp_keep_values(const char *dataset, List *values)
{
	DpOrder		order = {.kind = DP_REQUEST_KEEP};
	DpDebitItem item = {.dataset = dataset};

	/* as they are stored, whole and with a long header */
	foreach_ptr(DpKeptValues, one, values)
	{
		DpKeptValues *value = palloc(sizeof(DpKeptValues));

		*value = *one;
		if (value->values != NULL)
			value->values = PG_DETOAST_DATUM(PointerGetDatum(value->values));
		order.values = lappend(order.values, value);
	}
	if (order.values != NIL)
		submit_order(list_make1(&item), &order);
}

/*
 * SQL: dp_cdp.debit_budget(dataset, rho, delta)
 *
 * Charges an answer that was given outside of the database.  Amounts can only
 * be spent, never given back.
 */
Datum
dp_ledger_debit_by_hand(PG_FUNCTION_ARGS)
{
	DpDebitItem item;

	dp_check_version();
	memset(&item, 0, sizeof(item));
	item.dataset = text_to_cstring(PG_GETARG_TEXT_PP(0));
	item.rho = dp_debit_amount(PG_GETARG_NUMERIC(1), DP_RHO_SCALE, false, "rho");
	item.delta = dp_debit_amount(PG_GETARG_NUMERIC(2), DP_DELTA_SCALE, true, "delta");
	item.aggregates = "debit by hand";
	if (strlen(item.dataset) >= NAMEDATALEN)
		dp_raise(BAD_PARAMETER, errmsg("there is no dataset \"%s\"; dp_cdp.create_dataset makes one", item.dataset));
	dp_ledger_debit(list_make1(&item));
	PG_RETURN_NUMERIC(dp_amount_numeric(item.rho, DP_RHO_SCALE));
}
