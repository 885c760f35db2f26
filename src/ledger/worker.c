/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  The background worker of one database: takes all requests that are
 *	  pending and all failures that were posted, debits and counts them in one
 *	  transaction, commits, answers.
 *
 * Invariants:
 *	- GRANTED is written only after the commit record is on disk (and, where
 *	  one is configured, on the synchronous standby);
 *	- whatever ends the worker answers what it had taken: REFUSED when the
 *	  commit had not begun, UNKNOWN when it had;
 *	- it leaves when idle only after a look, under the exclusive lock, that
 *	  nothing is pending; requests are made under the shared lock;
 *	- where another database waits for its slot, what is pending asks again;
 *	- it stands in nobody's way: within a second it notices that somebody wants
 *	  its database for himself (DROP DATABASE, CREATE DATABASE ... TEMPLATE,
 *	  RENAME, SET TABLESPACE), and leaves until that is over;
 *	- no setting of a database or of the server's configuration weakens this:
 *	  see pin_settings.
 *
 * The worker of a database that is asked for twice at once (a starter gave
 * up, another tried) leaves when it finds that it is the second.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "replication/syncrep.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "base/clock.h"
#include "base/extension.h"
#include "base/settings.h"
#include "ledger/tables.h"

PGDLLEXPORT void dp_ledger_worker_main(Datum main_arg);

/* the batch at work; static, because the exit callback answers it */
static DpBatchRequest *batch = NULL;
static int	batch_size = 0;

/* failures of the batch; after an error, how many to count one by one, before anything else */
static DpFailureCopy *failures = NULL;
static int	nfailures = 0;
static int	failures_alone = 0;

/* from here on the outcome is in doubt until CommitTransactionCommand returns */
static bool committing = false;

/* after an error, how many requests to debit one by one, to find the culprit */
static int	one_by_one = 0;

/* this database's, while it is LIVE */
static DpWorkerEntry *my_entry = NULL;

/* requests that were put off because of others' locks */
static bool any_busy = false;

/* ---------------------------------------------------------------------
 * Taking and answering
 * ---------------------------------------------------------------------
 */

static void
take_pending(int most)
{
	uint64		pending = dp_word(MyDatabaseId, DP_REQUEST_PENDING);

	batch_size = 0;
	for (int i = 0; i < dp_shared->nslots && batch_size < most; i++)
	{
		DpBatchRequest *request = &batch[batch_size];

		/* a glance without a barrier; what counts is the swap */
		if (pg_atomic_read_u64(&dp_shared->words[i]) != pending ||
			!dp_slot_swap(i, MyDatabaseId, DP_REQUEST_PENDING, DP_REQUEST_TAKEN))
			continue;
		request->slot = i;
		request->req = &dp_shared->requests[i];
		request->outcome = DP_OUTCOME_LATER;
		request->rows = NIL;
		request->segment = NULL;
		batch_size++;
	}
}

/* Answers a request; the slot is ours no longer after this. */
static void
answer(DpBatchRequest *request, DpRequestState state)
{
	if (!dp_slot_swap(request->slot, MyDatabaseId, DP_REQUEST_TAKEN, state))
		(void) dp_slot_swap(request->slot, MyDatabaseId, DP_REQUEST_ABANDONED, DP_REQUEST_FREE);
	/* whoever left may be back and waiting for the slot */
	dp_slot_wake(request->slot);
}

static void
answer_failure(DpBatchRequest *request, DpReason reason)
{
	request->req->reply.reason = reason;
	answer(request, DP_REQUEST_REFUSED);
}

/* Makes a request PENDING again, where it can be given up without being spent. */
static void
put_back(DpBatchRequest *request)
{
	if (!dp_slot_swap(request->slot, MyDatabaseId, DP_REQUEST_TAKEN, DP_REQUEST_PENDING))
		answer(request, DP_REQUEST_FREE);
}

static void
answer_batch(void)
{
	any_busy = false;
	for (int i = 0; i < nfailures; i++)
		any_busy = any_busy || !failures[i].counted;
	dp_failures_settle(failures, nfailures, false);
	nfailures = 0;
	for (int i = 0; i < batch_size; i++)
	{
		DpBatchRequest *request = &batch[i];

		switch (request->outcome)
		{
			case DP_OUTCOME_GRANT:
				answer(request, DP_REQUEST_GRANTED);
				break;
			case DP_OUTCOME_REFUSE:
				answer(request, DP_REQUEST_REFUSED);
				break;
			case DP_OUTCOME_LATER:
				if (dp_ms_since(request->req->asked_at) > DP_BUSY_PATIENCE_MS)
					answer_failure(request, DP_REASON_BUSY);
				else
				{
					/* without a reason: only the directory was out of date */
					any_busy = any_busy || request->req->reply.reason == DP_REASON_BUSY;
					put_back(request);
				}
				break;
		}
	}
	batch_size = 0;
}

/*
 * Answers when the transaction failed.  Before the commit nothing was spent: if
 * there was more than one request, each gets a second chance by itself, so that one
 * that cannot be done does not spoil the others.  So do failures, before: of
 * those whose commit is in doubt some may be counted twice.
 */
static void
answer_failed_batch(int sqlstate)
{
	bool		stuck = nfailures == 1 && batch_size == 0;

	for (int i = 0; i < nfailures; i++)
		failures[i].counted = false;
	/* one that was tried alone is stuck, and holds up nothing else */
	dp_failures_settle(failures, nfailures, stuck);
	if (!stuck)
		failures_alone = nfailures;
	nfailures = 0;
	for (int i = 0; i < batch_size; i++)
	{
		if (committing)
			answer(&batch[i], DP_REQUEST_UNKNOWN);
		else if (batch_size > 1 || failures_alone > 0)
			put_back(&batch[i]);
		else
		{
			batch[i].req->reply.sqlstate = sqlstate;
			answer_failure(&batch[i], DP_REASON_ERROR);
		}
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

/*
 * Signs this database off, which has no worker any more: UNUSED, or AWAY, where
 * the launcher is to bring it back.  The lock is held.  False: it had not signed
 * on, or has signed off already.
 */
static bool
sign_off(DpWorkerState next)
{
	DpWorkerEntry *entry = dp_entry_find(MyDatabaseId);

	if (entry == NULL || entry->state != DP_WORKER_LIVE || entry->worker_pid != MyProcPid)
		return false;
	entry->state = dp_shared->launcher_proc < 0 ? DP_WORKER_UNUSED : next;
	if (entry->state == DP_WORKER_AWAY)
		dp_slot_wake(dp_shared->launcher_proc);
	return true;
}

/* Leaves, also on FATAL in the middle of a transaction (before_shmem_exit). */
static void
at_exit(int code, Datum arg)
{
	for (int i = 0; i < nfailures; i++)
		failures[i].counted = false;
	dp_failures_settle(failures, nfailures, false);
	nfailures = 0;
	for (int i = 0; i < batch_size; i++)
	{
		if (committing)
			answer(&batch[i], DP_REQUEST_UNKNOWN);
		else
			answer_failure(&batch[i], DP_REASON_WORKER_GONE);
	}
	batch_size = 0;

	/*
	 * after signing off nothing new can become pending here; otherwise what
	 * is pending is another worker's
	 */
	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	if (sign_off(DP_WORKER_AWAY))
		take_pending(dp_shared->nslots);
	LWLockRelease(dp_shared->lock);
	for (int i = 0; i < batch_size; i++)
		answer_failure(&batch[i], DP_REASON_WORKER_GONE);
	batch_size = 0;
	ConditionVariableBroadcast(&dp_shared->changed);
}

/* Signs this worker on; false when the database has one already. */
static bool
sign_on(void)
{
	DpWorkerEntry *entry;
	int			starter = -1;
	bool		first = false;

	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	entry = dp_entry_find(MyDatabaseId);
	if (entry == NULL)
		entry = dp_entry_make(MyDatabaseId);
	if (entry->state != DP_WORKER_LIVE)
	{
		if (entry->state == DP_WORKER_STARTING)
			starter = entry->starter_proc;
		entry->state = DP_WORKER_LIVE;
		entry->worker_pid = MyProcPid;
		entry->worker_proc = dp_my_proc_number();
		entry->since = dp_uptime();
		entry->used_at = 0;
		entry->sent_away = false;
		my_entry = entry;
		first = true;
	}
	LWLockRelease(dp_shared->lock);

	if (starter >= 0)
		dp_slot_wake(starter);
	ConditionVariableBroadcast(&dp_shared->changed);
	return first;
}

/* Exits unless something came in at the last moment: failures, or requests, which those who ask may have to make again. */
static void
leave(DpWorkerState next, bool ask_again)
{
	bool		can;

	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	can = !dp_failures_posted() && (ask_again || !dp_anything_pending(MyDatabaseId));
	if (can && sign_off(next))
		take_pending(dp_shared->nslots);
	LWLockRelease(dp_shared->lock);
	if (can)
		proc_exit(0);
}

/* Tells whether a budget has been given in this database. */
static bool
has_budgets(void)
{
	Oid			relid = dp_own_table("budget");
	Relation	rel;
	TableScanDesc scan;
	TupleTableSlot *slot;
	bool		found;

	if (!OidIsValid(relid))
		return false;
	rel = table_open(relid, AccessShareLock);
	slot = table_slot_create(rel, NULL);
	scan = dp_table_beginscan(rel, GetTransactionSnapshot());
	found = table_scan_getnextslot(scan, ForwardScanDirection, slot);
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	table_close(rel, AccessShareLock);
	return found;
}

/* Leaves where the launcher has started it, and there is nothing to be debited from. */
static void
leave_if_useless(void)
{
	DpWorkerEntry *entry;
	bool		useful;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	useful = has_budgets();
	CommitTransactionCommand();
	if (useful)
		return;
	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	entry = dp_entry_find(MyDatabaseId);
	if (entry && entry->state == DP_WORKER_AWAY)
		entry->state = DP_WORKER_UNUSED;
	LWLockRelease(dp_shared->lock);
	proc_exit(0);
}

/* Tells, in a transaction of its own, whether the database is still there for a ledger's worker. */
static bool
is_at_home(bool *wanted)
{
	bool		installed;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	installed = dp_extension_installed();
	*wanted = dp_ledger_database_is_wanted(MyDatabaseId);
	CommitTransactionCommand();
	pgstat_report_stat(false);
	return installed;
}

/* Looks, when idle, whether there is a reason to leave; returns for how long to sleep, in ms. */
static long
look_around(int64 idle_since)
{
	static int64 looked_at = 0;
	int			timeout = dp_guc_worker_idle_timeout;
	bool		wanted;

	if (timeout > 0 && dp_ms_since(idle_since) >= timeout)
		leave(DP_WORKER_UNUSED, false);
	if (dp_ms_since(looked_at) >= DP_LOOK_MS)
	{
		looked_at = dp_uptime();
		if (!is_at_home(&wanted))
			leave(DP_WORKER_UNUSED, false);
		if (wanted)
			leave(DP_WORKER_AWAY, false);
	}
	return Max(1, Min(DP_LOOK_MS - dp_ms_since(looked_at),
					  timeout > 0 ? timeout - dp_ms_since(idle_since) : DP_LOOK_MS));
}

/*
 * Fixes settings: nothing that ALTER DATABASE, ALTER SYSTEM or the
 * configuration file say may matter to a debit.
 */
static void
pin_settings(void)
{
	static const char *const settings[][2] = {
		{"synchronous_commit", "on"},
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

static void
debit_batch(void)
{
	PG_TRY();
	{
		SetCurrentStatementStartTimestamp();
		StartTransactionCommand();
		dp_batch_debit(batch, batch_size, failures, nfailures);
		committing = true;
		CommitTransactionCommand();
		/* told to end while waiting for the standby: it may not have it */
		if (!(ProcDiePending && SyncRepStandbyNames != NULL && SyncRepStandbyNames[0] != '\0'))
			committing = false;
	}
	PG_CATCH();
	{
		int			sqlstate = geterrcode();

		HOLD_INTERRUPTS();
		EmitErrorReport();
		AbortCurrentTransaction();
		FlushErrorState();
		dp_tables_forget();
		dp_audit_failed();
		answer_failed_batch(sqlstate);
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();

	if (committing)
		answer_failed_batch(0);
	else
		answer_batch();
}

/* Does something as the owner of the tables, with SPI, unless others have them; false: it said so. */
static bool
do_as_owner(bool (*work) (void))
{
	DpReason	reason;
	Oid			user;
	int			security;
	bool		result;

	if (!dp_tables_lock(&reason))
		return true;
	/* taken after the locks, it sees what others did under theirs */
	PushActiveSnapshot(GetTransactionSnapshot());
	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(dp_tables_owner(), security | SECURITY_RESTRICTED_OPERATION);
	SPI_connect();
	dp_ledger_write_begin();
	result = work();
	dp_ledger_write_end();
	SPI_finish();
	SetUserIdAndSecContext(user, security);
	PopActiveSnapshot();
	return result;
}

/* Does what nobody waits for, in a transaction of its own; false from it: what is known of the tables does not hold. */
static void
tend(bool (*work) (void))
{
	PG_TRY();
	{
		SetCurrentStatementStartTimestamp();
		StartTransactionCommand();
		if (!do_as_owner(work))
			dp_tables_forget();
		CommitTransactionCommand();
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		EmitErrorReport();
		AbortCurrentTransaction();
		FlushErrorState();
		dp_tables_forget();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	pgstat_report_stat(false);
}

/* Takes what is there and answers it; false: there was nothing. */
static bool
work_once(void)
{
	/*
	 * requests before failures: those that follow a failure must not overtake
	 * it
	 */
	failures_alone += dp_failures_retry();
	take_pending(failures_alone > 0 ? 0 : one_by_one > 0 ? 1 : dp_shared->nslots);
	nfailures = dp_failures_take(failures, failures_alone > 0 ? 1 : DP_FAILURES(dp_shared->nslots));
	if (failures_alone > 0)
	{
		failures_alone = nfailures == 0 ? 0 : failures_alone - 1;
		/* no request was taken */
		if (nfailures == 0)
			return true;
	}
	else if (one_by_one > 0)
		one_by_one = batch_size == 0 ? 0 : one_by_one - 1;
	if (batch_size == 0 && nfailures == 0 && !dp_audit_due())
		return false;
	debit_batch();
	pgstat_report_stat(false);
	return true;
}

void
dp_ledger_worker_main(Datum main_arg)
{
	int64		idle_since;

	if (dp_shared == NULL)
		proc_exit(1);

	/*
	 * nothing to cancel here, and a cancel must not cut short the wait for a
	 * standby
	 */
	pqsignal(SIGINT, DP_SIG_IGN);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();

	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(main_arg), InvalidOid,
											  BGWORKER_BYPASS_ALLOWCONN);
	pin_settings();
	if (dp_ledger_from_launcher(MyBgworkerEntry))
		leave_if_useless();
	batch = MemoryContextAlloc(TopMemoryContext, dp_shared->nslots * sizeof(DpBatchRequest));
	failures = MemoryContextAlloc(TopMemoryContext, DP_FAILURES(dp_shared->nslots) * sizeof(DpFailureCopy));
	pgstat_report_appname("dp_cdp ledger");
	pgstat_report_activity(STATE_IDLE, NULL);

	before_shmem_exit(at_exit, (Datum) 0);
	if (!sign_on())
		proc_exit(0);

	idle_since = dp_uptime();
	for (;;)
	{
		long		sleep;

		ResetLatch(MyLatch);
		/* told to end, there is nothing to be answered */
		if (ProcDiePending)
			proc_exit(0);
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}

		/* failures that are still to be counted go first */
		if (my_entry->sent_away)
			leave(DP_WORKER_UNUSED, true);
		/* before the first debit, too */
		if (dp_stamp_due())
			tend(dp_stamp_renew);
		sleep = DP_BUSY_RETRY_MS;
		if (work_once())
		{
			dp_stamp_note_debits();
			idle_since = my_entry->used_at = dp_uptime();
			if (!any_busy && !dp_audit_due() && !dp_kept_due())
				continue;
		}
		else
		{
			any_busy = false;
			sleep = look_around(idle_since);
		}
		if (dp_kept_due())
			tend(dp_kept_tend);
		sleep = Max(1, Min(sleep, dp_audit_timeout()));
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, sleep, dp_wait_event());
	}
}
