/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  The background worker of one database: takes all requests that are
 *	  pending, debits them in one transaction, commits, answers.
 *
 * Invariants:
 *	- GRANTED is written only after the commit, with the end of its record,
 *	  up to which the asker flushes the log before it goes on (client.c);
 *	  where a synchronous standby is configured, only after both have it;
 *	- whatever ends the worker answers what it had taken: REFUSED when the
 *	  commit had not begun, UNKNOWN when it had;
 *	- it leaves when idle only after a look, under the exclusive lock, that
 *	  nothing is pending; requests are made under the shared lock;
 *	- no setting of a database or of the server's configuration weakens this:
 *	  see pin_settings.
 *
 * The worker of a database that is asked for twice at once (a starter gave
 * up, another tried) leaves when it finds that it is the second.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "replication/syncrep.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "ledger/ledger_int.h"

PGDLLEXPORT void dp_ledger_worker_main(Datum main_arg);

/* the batch at work; static, because the exit callback answers it */
static DpBatchEntry *batch = NULL;
static int	batch_size = 0;

/* this worker's in dp_shared->flushing */
static pg_atomic_uint64 *flushing = NULL;

/* from here on the outcome is in doubt until CommitTransactionCommand returns */
static bool committing = false;

/* after an error, how many requests to debit one by one, to find the culprit */
static int	one_by_one = 0;

/* requests that were put off because of others' locks */
static bool any_busy = false;

/* ---------------------------------------------------------------------
 * Taking and answering
 * ---------------------------------------------------------------------
 */

static void
take_pending(int most)
{
	uint64		pending = dp_word(MyDatabaseId, DP_SLOT_PENDING);

	batch_size = 0;
	for (int i = 0; i < dp_shared->nslots && batch_size < most; i++)
	{
		DpBatchEntry *entry = &batch[batch_size];

		/* a glance without a barrier; what counts is the swap */
		if (pg_atomic_read_u64(&dp_shared->words[i]) != pending ||
			!dp_slot_swap(i, MyDatabaseId, DP_SLOT_PENDING, DP_SLOT_TAKEN))
			continue;
		entry->slot = i;
		entry->req = &dp_shared->requests[i];
		entry->req->commit_end = InvalidXLogRecPtr;
		entry->req->nwake = 0;
		entry->req->flushing = -1;
		entry->outcome = DP_OUTCOME_LATER;
		batch_size++;
	}
}

/*
 * The slot is ours no longer after this.  False when nobody waits for the
 * answer any more.
 */
static bool
put_answer(DpBatchEntry *entry, DpSlotState state)
{
	if (dp_slot_swap(entry->slot, MyDatabaseId, DP_SLOT_TAKEN, state))
		return true;
	(void) dp_slot_swap(entry->slot, MyDatabaseId, DP_SLOT_ABANDONED, DP_SLOT_FREE);
	return false;
}

static void
answer(DpBatchEntry *entry, DpSlotState state)
{
	(void) put_answer(entry, state);
	/* whoever left may be back and waiting for the slot */
	dp_slot_wake(entry->slot);
}

static void
answer_failure(DpBatchEntry *entry, DpReason reason)
{
	entry->req->reply.reason = reason;
	answer(entry, DP_SLOT_REFUSED);
}

/* back to PENDING, where it can be given up without being spent */
static void
put_back(DpBatchEntry *entry)
{
	if (!dp_slot_swap(entry->slot, MyDatabaseId, DP_SLOT_TAKEN, DP_SLOT_PENDING))
		answer(entry, DP_SLOT_FREE);
}

/* whom the i-th of the answers wakes: this one and those after it */
static int
first_child(int i)
{
	return 1 + DP_WAKE_FANOUT * i;
}

/*
 * Answers the first n of the batch.  The worker wakes one, who flushes the
 * log and wakes a few, each of whom wakes a few more.  The last are answered
 * first, so that nobody is woken before his answer is there; the duty of one
 * who has left is the worker's.
 */
static void
answer_all(int n, XLogRecPtr commit_end)
{
	if (n > 0 && synchronous_commit == SYNCHRONOUS_COMMIT_OFF)
		pg_atomic_write_u64(flushing, commit_end);
	for (int i = n - 1; i >= 0; i--)
	{
		DpBatchEntry *entry = &batch[i];
		int			nwake = Max(Min(n - first_child(i), DP_WAKE_FANOUT), 0);

		entry->req->commit_end = commit_end;
		entry->req->nwake = nwake;
		entry->req->flushing = i == 0 ? flushing - dp_shared->flushing : -1;
		entry->req->worker_proc = dp_my_proc_number();
		for (int k = 0; k < nwake; k++)
			entry->req->wake[k] = batch[first_child(i) + k].slot;
		if (put_answer(entry, entry->outcome == DP_OUTCOME_GRANT ? DP_SLOT_GRANTED : DP_SLOT_REFUSED))
			continue;
		if (i == 0)
			pg_atomic_write_u64(flushing, InvalidXLogRecPtr);
		dp_slot_wake(entry->slot);
		for (int k = 0; k < nwake; k++)
			dp_slot_wake(batch[first_child(i) + k].slot);
	}
	if (n > 0)
		dp_slot_wake(batch[0].slot);
}

static void
answer_batch(void)
{
	TimestampTz now = GetCurrentTimestamp();
	int			n = 0;

	any_busy = false;
	for (int i = 0; i < batch_size; i++)
	{
		DpBatchEntry *entry = &batch[i];

		if (entry->outcome != DP_OUTCOME_LATER)
			batch[n++] = *entry;
		else if (TimestampDifferenceExceeds(entry->req->asked_at, now, DP_BUSY_PATIENCE_MS))
			answer_failure(entry, DP_REASON_BUSY);
		else
		{
			/* without a reason: only the directory was out of date */
			any_busy = any_busy || entry->req->reply.reason == DP_REASON_BUSY;
			put_back(entry);
		}
	}
	answer_all(n, XactLastCommitEnd);
	batch_size = 0;
}

/*
 * The transaction failed.  Before the commit nothing was spent: if there was
 * more than one request, each gets a second chance by itself, so that one
 * that cannot be done does not spoil the others.
 */
static void
answer_failed_batch(void)
{
	for (int i = 0; i < batch_size; i++)
	{
		if (committing)
			answer(&batch[i], DP_SLOT_UNKNOWN);
		else if (batch_size > 1)
			put_back(&batch[i]);
		else
			answer_failure(&batch[i], DP_REASON_ERROR);
	}
	if (!committing && batch_size > 1)
		one_by_one = batch_size;
	batch_size = 0;
	committing = false;
}

/* ---------------------------------------------------------------------
 * Coming and going
 * ---------------------------------------------------------------------
 */

/* lock held: this database has no worker any more */
static void
sign_off(void)
{
	DpEntry    *entry = dp_entry_find(MyDatabaseId);

	if (entry && entry->state == DP_ENTRY_LIVE && entry->worker_pid == MyProcPid)
		entry->state = DP_ENTRY_UNUSED;
}

/* before_shmem_exit: also on FATAL, in the middle of a transaction */
static void
at_exit(int code, Datum arg)
{
	for (int i = 0; i < batch_size; i++)
	{
		if (committing)
			answer(&batch[i], DP_SLOT_UNKNOWN);
		else
			answer_failure(&batch[i], DP_REASON_WORKER_GONE);
	}
	batch_size = 0;

	/* after signing off nothing new can become pending here */
	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	sign_off();
	take_pending(dp_shared->nslots);
	LWLockRelease(dp_shared->lock);
	for (int i = 0; i < batch_size; i++)
		answer_failure(&batch[i], DP_REASON_WORKER_GONE);
	batch_size = 0;
	ConditionVariableBroadcast(&dp_shared->changed);
}

/* false when the database has a worker already */
static bool
sign_on(void)
{
	DpEntry    *entry;
	int			starter = -1;
	bool		first = false;

	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	entry = dp_entry_find(MyDatabaseId);
	if (entry == NULL)
		entry = dp_entry_make(MyDatabaseId);
	if (entry && entry->state != DP_ENTRY_LIVE)
	{
		if (entry->state == DP_ENTRY_STARTING)
			starter = entry->starter_proc;
		entry->state = DP_ENTRY_LIVE;
		flushing = &dp_shared->flushing[entry - dp_shared->entries];
		pg_atomic_write_u64(flushing, InvalidXLogRecPtr);
		entry->worker_pid = MyProcPid;
		entry->worker_proc = dp_my_proc_number();
		first = true;
	}
	LWLockRelease(dp_shared->lock);

	if (starter >= 0)
		dp_slot_wake(starter);
	ConditionVariableBroadcast(&dp_shared->changed);
	return first;
}

/* exits unless something came in at the last moment */
static void
leave_if_idle(void)
{
	bool		idle;

	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	idle = !dp_pending(MyDatabaseId, 1);
	if (idle)
		sign_off();
	LWLockRelease(dp_shared->lock);
	if (idle)
		proc_exit(0);
}

/*
 * What ALTER DATABASE, ALTER SYSTEM or the configuration file say must not
 * matter to a debit.
 */
static void
pin_settings(void)
{
	static const char *const settings[][2] = {
		{"default_transaction_isolation", "read committed"},
		{"default_transaction_read_only", "off"},
		{"default_transaction_deferrable", "off"},
		{"session_replication_role", "origin"},
		{"statement_timeout", "0"},
		{"lock_timeout", "2s"}, /* nothing should wait, but if ... */
		{DP_TRANSACTION_TIMEOUT, "0"},
		{"idle_in_transaction_session_timeout", "0"},
		{"search_path", "pg_catalog, pg_temp"},
		{"row_security", "off"},
		{"timezone", "UTC"},
		{"jit", "off"},
		{"max_parallel_workers_per_gather", "0"},
		{"client_min_messages", "warning"},
		{"application_name", "dp_cdp ledger"},
	};

	for (int i = 0; i < lengthof(settings); i++)
		SetConfigOption(settings[i][0], settings[i][1], PGC_SUSET, PGC_S_OVERRIDE);
}

/* ---------------------------------------------------------------------
 * Working
 * ---------------------------------------------------------------------
 */

static bool
has_standby(void)
{
	return SyncRepStandbyNames != NULL && SyncRepStandbyNames[0] != '\0';
}

/*
 * Without a synchronous standby the commit need not wait for the disk: the
 * askers do, each before it believes its answer, while the next batch is at
 * work.  One flush serves them all, as it does for ordinary commits.  For a
 * standby the worker waits, whom nobody can cancel.
 */
static void
set_commit_mode(void)
{
	int			mode = has_standby() ? SYNCHRONOUS_COMMIT_ON : SYNCHRONOUS_COMMIT_OFF;

	if (synchronous_commit != mode)
		SetConfigOption("synchronous_commit", has_standby() ? "on" : "off",
						PGC_SUSET, PGC_S_OVERRIDE);
}

static void
debit_batch(void)
{
	PG_TRY();
	{
		SetCurrentStatementStartTimestamp();
		set_commit_mode();
		StartTransactionCommand();
		dp_storage_debit(batch, batch_size);
		committing = true;
		CommitTransactionCommand();
		/* told to end while waiting for the standby: it may not have it */
		if (!(ProcDiePending && has_standby()))
			committing = false;
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		EmitErrorReport();
		AbortCurrentTransaction();
		FlushErrorState();
		dp_storage_forget();
		answer_failed_batch();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();

	if (committing)
		answer_failed_batch();
	else
		answer_batch();
}

void
dp_ledger_worker_main(Datum main_arg)
{
	TimestampTz idle_since;
	bool		waited = false;

	if (dp_shared == NULL)
		proc_exit(1);

	/*
	 * nothing to cancel here, and a cancel must not cut short the wait for a
	 * standby
	 */
	pqsignal(SIGINT, SIG_IGN);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();

	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(main_arg), InvalidOid,
											  BGWORKER_BYPASS_ALLOWCONN);
	pin_settings();
	batch = MemoryContextAlloc(TopMemoryContext, dp_shared->nslots * sizeof(DpBatchEntry));
	pgstat_report_appname("dp_cdp ledger");
	pgstat_report_activity(STATE_IDLE, NULL);

	before_shmem_exit(at_exit, (Datum) 0);
	if (!sign_on())
		proc_exit(0);

	idle_since = GetCurrentTimestamp();
	for (;;)
	{
		long		timeout;

		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}

		/* too early for the next batch? */
		if (!waited && one_by_one == 0 &&
			pg_atomic_read_u64(flushing) != InvalidXLogRecPtr &&
			!dp_pending(MyDatabaseId, DP_GATHER))
		{
			waited = WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
							   DP_GATHER_MS, dp_wait_event()) & WL_TIMEOUT;
			continue;
		}
		waited = false;

		take_pending(one_by_one > 0 ? 1 : dp_shared->nslots);
		if (one_by_one > 0)
			one_by_one = batch_size == 0 ? 0 : one_by_one - 1;
		if (batch_size > 0)
		{
			debit_batch();
			pgstat_report_stat(false);
			idle_since = GetCurrentTimestamp();
			if (!any_busy)
				continue;
		}
		else
		{
			any_busy = false;
			timeout = TimestampDifferenceMilliseconds(idle_since, GetCurrentTimestamp());
			if (timeout >= DP_IDLE_EXIT_MS)
			{
				leave_if_idle();
				continue;
			}
		}

		timeout = any_busy ? DP_BUSY_RETRY_MS :
			DP_IDLE_EXIT_MS - TimestampDifferenceMilliseconds(idle_since, GetCurrentTimestamp());
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 Max(timeout, 1), dp_wait_event());
	}
}
