/*-------------------------------------------------------------------------
 *
 * launcher.c
 *	  The process that sees to it that each ledger has its worker.
 *
 * Parallel queries take what background workers the server has, and a debit
 * that finds none is refused.  So workers are not started when they are
 * needed, but with the server, and stay.  The launcher is connected to no
 * database and knows of none which has a ledger: it starts a worker in each,
 * one after the other, and those that find no budget there leave at once.
 * Nothing has to be kept anywhere, which a restore or a copy would carry along.
 *
 * Workers that had to go come back, too: one that was terminated, or that has
 * left because somebody wanted its database for himself.  Others are not the
 * launcher's: a ledger that is made later gets its worker by its first debit.
 *
 * Invariants:
 *	- it holds no lock longer than a look takes, and is in nobody's way;
 *	- whatever it finds, it goes on: a debit can always start a worker itself.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "replication/logicallauncher.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "base/clock.h"
#include "base/settings.h"
#include "ledger/ledger_int.h"

PG_FUNCTION_INFO_V1(dp_ledger_worker_slots);

PGDLLEXPORT void dp_ledger_launcher_main(Datum main_arg);

/* how soon the postmaster starts it again when it was terminated, in s */
#define RESTART_S 2

/* how long the launcher sleeps when all is well, in ms; who needs it wakes it */
#define LONG_SLEEP_MS 60000

/* in the registration of a worker: who has asked for it */
#define FROM_LAUNCHER 'l'

typedef enum Outcome
{
	STARTED,					/* or found to be of no use, or there already;
								 * or the database is gone */
	NO_SLOT,
	NOT_NOW						/* somebody wants the database for himself */
} Outcome;

/* databases that still need a worker, if they have a ledger; in TopMemoryContext */
static List *todo = NIL;

/* ---------------------------------------------------------------------
 * Registration
 * ---------------------------------------------------------------------
 */

void
dp_ledger_worker_registration(BackgroundWorker *worker, Oid database, bool from_launcher)
{
	memset(worker, 0, sizeof(*worker));
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker->bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker->bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker->bgw_library_name, "dp_cdp", sizeof(worker->bgw_library_name));
	strlcpy(worker->bgw_function_name, "dp_ledger_worker_main", sizeof(worker->bgw_function_name));
	snprintf(worker->bgw_name, BGW_MAXLEN, "dp_cdp ledger of database %u", database);
	strlcpy(worker->bgw_type, "dp_cdp ledger", BGW_MAXLEN);
	worker->bgw_main_arg = ObjectIdGetDatum(database);
	if (from_launcher)
		worker->bgw_extra[0] = FROM_LAUNCHER;
}

bool
dp_ledger_from_launcher(const BackgroundWorker *worker)
{
	return worker->bgw_extra[0] == FROM_LAUNCHER;
}

/* Registers the launcher, from _PG_init; while pg_upgrade is at work nobody may connect. */
void
dp_ledger_launcher_init(void)
{
	BackgroundWorker worker;

	if (IsBinaryUpgrade || dp_guc_worker_idle_timeout > 0)
		return;
	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = RESTART_S;
	strlcpy(worker.bgw_library_name, "dp_cdp", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "dp_ledger_launcher_main", sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_name, "dp_cdp launcher", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "dp_cdp launcher", BGW_MAXLEN);
	RegisterBackgroundWorker(&worker);
}

/* ---------------------------------------------------------------------
 * Databases
 * ---------------------------------------------------------------------
 */

bool
dp_ledger_database_is_wanted(Oid database)
{
	LOCKTAG		tag;

	/* the lock that a process takes when it connects */
	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, database, 0);
	if (LockAcquire(&tag, RowExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	LockRelease(&tag, RowExclusiveLock, false);
	return false;
}

/* Returns the databases that somebody may ask, in a context: not templates, of which others are made. */
static List *
databases_in(MemoryContext context)
{
	List	   *databases = NIL;
	Relation	rel = table_open(DatabaseRelationId, AccessShareLock);
	TableScanDesc scan = table_beginscan_catalog(rel, 0, NULL);
	HeapTuple	tuple;
	MemoryContext old;

	while (HeapTupleIsValid(tuple = heap_getnext(scan, ForwardScanDirection)))
	{
		Form_pg_database row = (Form_pg_database) GETSTRUCT(tuple);

		/*
		 * a limit below -1: left behind by a DROP DATABASE that was
		 * interrupted
		 */
		if (!row->datallowconn || row->datistemplate || row->datconnlimit < -1)
			continue;
		old = MemoryContextSwitchTo(context);
		databases = lappend_oid(databases, row->oid);
		MemoryContextSwitchTo(old);
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	return databases;
}

static List *
list_databases(void)
{
	List	   *databases;

	StartTransactionCommand();
	(void) GetTransactionSnapshot();
	databases = databases_in(TopMemoryContext);
	CommitTransactionCommand();
	return databases;
}

/* Tells whether the worker of any database is in a state. */
static bool
is_any(DpWorkerState state)
{
	bool		found = false;

	LWLockAcquire(dp_shared->lock, LW_SHARED);
	for (int i = 0; i < dp_shared->nentries && !found; i++)
		found = dp_shared->entries[i].state == state;
	LWLockRelease(dp_shared->lock);
	return found;
}

/* Moves databases whose worker is away, or that have failures to be counted and no worker, to those that need one. */
static void
collect_away(void)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	Oid		   *away = palloc((dp_shared->nentries + DP_FAILURES(dp_shared->nslots)) * sizeof(Oid));
	int			n = 0;

	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < dp_shared->nentries; i++)
	{
		DpWorkerEntry *entry = &dp_shared->entries[i];

		if (entry->state != DP_WORKER_AWAY)
			continue;
		away[n++] = entry->database;
		/* from here on the list says it */
		entry->state = DP_WORKER_UNUSED;
	}
	/* a worker that ended before it had signed on is nobody's */
	for (int i = 0; i < DP_FAILURES(dp_shared->nslots); i++)
	{
		const DpFailure *failure = &dp_shared->failures[i];

		if (failure->state == DP_FAILURE_POSTED && dp_entry_find(failure->database) == NULL)
			away[n++] = failure->database;
	}
	LWLockRelease(dp_shared->lock);
	while (n > 0)
		todo = list_append_unique_oid(todo, away[--n]);
	pfree(away);
	MemoryContextSwitchTo(old);
}

/* ---------------------------------------------------------------------
 * Starting workers
 * ---------------------------------------------------------------------
 */

/* Ends the launcher, for the postmaster to start it again unless the server stops. */
static void
end_if_told(void)
{
	if (ShutdownRequestPending)
		proc_exit(1);
	CHECK_FOR_INTERRUPTS();
}

/* Starts the worker of a database and waits until it is LIVE, or has left for want of a ledger. */
static Outcome
start_worker(Oid database)
{
	BackgroundWorker worker;
	BackgroundWorkerHandle *handle;
	bool		wanted;
	bool		there;
	List	   *databases;
	pid_t		pid;

	if (dp_entry_state(database) == DP_WORKER_LIVE)
		return STARTED;
	/* a slot that becomes free is for who waits for it with a debit */
	if (is_any(DP_WORKER_STARTING))
		return NOT_NOW;
	StartTransactionCommand();
	wanted = dp_ledger_database_is_wanted(database);
	CommitTransactionCommand();
	if (wanted)
		return NOT_NOW;
	/* looked up after the lock: it may have been dropped under it */
	databases = list_databases();
	there = list_member_oid(databases, database);
	list_free(databases);
	if (!there)
		return STARTED;

	dp_ledger_worker_registration(&worker, database, true);
	worker.bgw_notify_pid = MyProcPid;
	if (!RegisterDynamicBackgroundWorker(&worker, &handle))
		return NO_SLOT;
	while (dp_entry_state(database) != DP_WORKER_LIVE && GetBackgroundWorkerPid(handle, &pid) != BGWH_STOPPED)
	{
		/* a worker that signs on does not wake us */
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 10, dp_wait_event());
		ResetLatch(MyLatch);
		end_if_told();
	}
	pfree(handle);
	return STARTED;
}

/* Starts what is to be started; what cannot be now stays in the list. */
static void
start_workers(void)
{
	static bool complained = false;
	List	   *databases = todo;
	bool		no_slot = false;

	todo = NIL;
	foreach_oid(database, databases)
	{
		Outcome		outcome = no_slot ? NO_SLOT : start_worker(database);
		MemoryContext old;

		if (outcome == STARTED)
			continue;
		no_slot = no_slot || outcome == NO_SLOT;
		old = MemoryContextSwitchTo(TopMemoryContext);
		todo = lappend_oid(todo, database);
		MemoryContextSwitchTo(old);
	}
	list_free(databases);
	if (no_slot && !complained)
		ereport(WARNING,
				(errmsg("there is no free background worker for a privacy ledger, whose debits may have to wait or fail: raise \"max_worker_processes\"")));
	complained = no_slot;
}

/* ---------------------------------------------------------------------
 * The process
 * ---------------------------------------------------------------------
 */

static void
sign_off(int code, Datum arg)
{
	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	dp_shared->launcher_proc = -1;
	LWLockRelease(dp_shared->lock);
}

void
dp_ledger_launcher_main(Datum main_arg)
{
	int64		next_round = 0; /* dp_uptime() */

	if (dp_shared == NULL)
		proc_exit(1);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);

	/*
	 * as the launcher of autovacuum: it ends between its steps, without a
	 * FATAL in the log each time that the server stops
	 */
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	pgstat_report_appname("dp_cdp launcher");
	pgstat_report_activity(STATE_IDLE, NULL);

	before_shmem_exit(sign_off, (Datum) 0);
	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	dp_shared->launcher_proc = dp_my_proc_number();
	LWLockRelease(dp_shared->lock);

	todo = list_databases();
	for (;;)
	{
		int64		now;

		ResetLatch(MyLatch);
		end_if_told();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		/* where workers leave when idle, they come with a debit */
		now = dp_uptime();
		if (dp_guc_worker_idle_timeout == 0 && now >= next_round)
		{
			collect_away();
			start_workers();
			/* a worker that cannot live is not started all the time */
			next_round = now + DP_LOOK_MS * 1000;
		}
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 todo != NIL || is_any(DP_WORKER_AWAY) || pg_atomic_read_u32(&dp_shared->nfailures) > 0 ? DP_LOOK_MS : LONG_SLEEP_MS,
						 dp_wait_event());
	}
}

/*
 * SQL: dp_cdp.worker_slots(OUT needed, OUT available)
 *
 * How many background workers have to be possible, so that parallel queries
 * never take those of the ledgers; and max_worker_processes.  What other
 * extensions need comes on top.  Where the ledgers that are known take all slots,
 * there may be more that have found none: each database counts.
 */
Datum
dp_ledger_worker_slots(PG_FUNCTION_ARGS)
{
	int			ledgers = 0;
	int			parallel;
	int			replication = max_logical_replication_workers > 0 ? 1 : 0;
	Datum		values[2];
	bool		nulls[2] = {false, false};
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (dp_shared != NULL)
	{
		LWLockAcquire(dp_shared->lock, LW_SHARED);
		for (int i = 0; i < dp_shared->nentries; i++)
			ledgers += dp_shared->entries[i].state == DP_WORKER_UNUSED ? 0 : 1;
		LWLockRelease(dp_shared->lock);
		if (ledgers + 1 + replication >= max_worker_processes)
			ledgers = Max(ledgers, list_length(databases_in(CurrentMemoryContext)));
		/* the launcher, and this database's */
		ledgers = 1 + Max(ledgers, 1);
	}
	/* the server's: a session may set it as it likes, also higher */
	parallel = atoi(GetConfigOptionResetString("max_parallel_workers"));
	values[0] = Int32GetDatum(ledgers + parallel + replication);
	values[1] = Int32GetDatum(max_worker_processes);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}
