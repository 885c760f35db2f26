/*-------------------------------------------------------------------------
 *
 * failure.c
 *	  Releases that failed after they were paid for: from the process where
 *	  that happened to the worker, which counts them.
 *
 * A failure tells one bit that no noise covers, so a budget allows only so
 * many of them in a day (batch.c).  The process that fails writes an entry
 * into shared memory before anybody hears of the failure, and the worker reads
 * entries after it has taken requests: a request made after a failure is
 * decided on with that failure counted, whether or not its count is on disk
 * yet.  A release that succeeds writes nothing.
 *
 * Invariants:
 *	- an entry is reserved, written, taken and given back under DpShared.lock, held in
 *	  exclusive mode; the worker works on copies;
 *	- a process has reserved an entry before it debits, and before it reads
 *	  rows: there is always room for its failure;
 *	- no entry is given up.  One that the worker cannot count, for want of locks,
 *	  disk or anything else, is stuck: it is tried again each second, and until
 *	  it is counted nothing is debited from the budgets that it counts for;
 *	- an entry outlives its process: a session that is terminated leaves it to
 *	  the worker, or to the next one, if there is none at the moment;
 *	- from the debit on nothing here raises an error: it runs where one is being
 *	  handled, or where the process ends.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/pmsignal.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "base/clock.h"
#include "base/errors.h"
#include "ledger/ledger_int.h"
#include "ledger/primary.h"
#include "ledger/standby.h"

/* how long a session waits to hear its count, in ms; it stands without that */
#define PATIENCE_MS 2000

/* how often the worker tries an entry that is stuck, in ms */
#define RETRY_MS 1000

/* ---------------------------------------------------------------------
 * The failing side
 * ---------------------------------------------------------------------
 */

static void
copy_text(char *to, const char *from, Size size)
{
	Size		len = from ? pg_mbcliplen(from, strlen(from), size - 1) : 0;

	if (len > 0)
		memcpy(to, from, len);
	to[len] = '\0';
}

/* the entry that this process has reserved; -1: none */
static int	reserved = -1;

/* Gives the entry back that was not needed (before_shmem_exit). */
static void
give_back(int code, Datum arg)
{
	if (reserved < 0)
		return;
	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	dp_shared->failures[reserved].state = DP_FAILURE_FREE;
	reserved = -1;
	LWLockRelease(dp_shared->lock);
}

/* Looks for an entry that nobody has; else, for one that another database left. */
static int
reserve(Oid *left_by)
{
	int			found = -1;

	*left_by = InvalidOid;
	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < DP_FAILURES(dp_shared->nslots) && found < 0; i++)
	{
		DpFailure  *entry = &dp_shared->failures[i];

		if (entry->state == DP_FAILURE_FREE)
			found = i;
		else if (entry->state == DP_FAILURE_POSTED && entry->database != MyDatabaseId)
			*left_by = entry->database;
	}
	if (found >= 0)
		dp_shared->failures[found].state = DP_FAILURE_RESERVED;
	LWLockRelease(dp_shared->lock);
	return found;
}

/* Frees the entries of a database that there is no more: no ledger counts them. */
static void
forget_database(Oid database)
{
	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < DP_FAILURES(dp_shared->nslots); i++)
	{
		DpFailure  *entry = &dp_shared->failures[i];

		if (entry->state != DP_FAILURE_POSTED || entry->database != database)
			continue;
		entry->state = DP_FAILURE_FREE;
		pg_atomic_fetch_sub_u32(&dp_shared->nfailures, 1);
	}
	LWLockRelease(dp_shared->lock);
}

void
dp_failure_reserve(void)
{
	static bool gives_back = false;
	Oid			left_by;

	if (reserved >= 0)
		return;
	if (!gives_back)
		before_shmem_exit(give_back, (Datum) 0);
	gives_back = true;
	reserved = reserve(&left_by);
	while (reserved < 0 && OidIsValid(left_by) &&
		   !SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(left_by)))
	{
		forget_database(left_by);
		reserved = reserve(&left_by);
	}
	if (reserved < 0)
		dp_raise(LEDGER_UNAVAILABLE,
				 errmsg("too many failed queries wait to be counted; nothing was debited: retry, or ask the administrator, whose server log says why"));
}

/* Writes the failure into the entry that was reserved, with the lock held; returns its number. */
static int
post(const DpLedgerWatch *watch, bool wait)
{
	int			number = reserved;
	DpFailure  *entry = &dp_shared->failures[number];

	Assert(number >= 0 && entry->state == DP_FAILURE_RESERVED);
	reserved = -1;
	memset(entry, 0, sizeof(*entry));
	entry->state = DP_FAILURE_POSTED;
	entry->database = MyDatabaseId;
	entry->role = watch->role;
	entry->session_role = watch->session_role;
	entry->of_caps = watch->of_caps;
	entry->waiter = wait ? dp_my_proc_number() : -1;
	copy_text(entry->dataset, watch->item.dataset, sizeof(entry->dataset));
	copy_text(entry->application, watch->application, sizeof(entry->application));
	copy_text(entry->aggregates, watch->item.aggregates, sizeof(entry->aggregates));
	copy_text(entry->groups, watch->item.groups, sizeof(entry->groups));
	pg_atomic_fetch_add_u32(&dp_shared->nfailures, 1);
	return number;
}

/*
 * Writes the entry and sees to it that there is a worker; if none can be
 * started, the next debit will start one.
 */
static int
hand_over(const DpLedgerWatch *watch, bool wait)
{
	DpWorkerEntry *worker;
	BackgroundWorker registration;
	BackgroundWorkerHandle *handle;
	int			entry;
	bool		alone;

	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	entry = post(watch, wait);
	worker = dp_entry_find(MyDatabaseId);
	alone = worker == NULL || worker->state == DP_WORKER_AWAY;
	if (worker && worker->state == DP_WORKER_LIVE)
		dp_slot_wake(worker->worker_proc);
	LWLockRelease(dp_shared->lock);

	if (alone && PostmasterIsAlive())
	{
		dp_ledger_worker_registration(&registration, MyDatabaseId, false);
		(void) RegisterDynamicBackgroundWorker(&registration, wait ? &handle : NULL);
		/* which starts one where this one cannot connect */
		if (dp_shared->launcher_proc >= 0)
			dp_slot_wake(dp_shared->launcher_proc);
	}
	return entry;
}

/* the innermost that is under way */
static DpLedgerWatch *watching = NULL;

/* Posts the failure of a session that ends in the middle of its release (before_shmem_exit). */
static void
post_at_exit(int code, Datum arg)
{
	LWLockReleaseAll();
	/* those around it come next */
	if (watching != NULL && !((const DpLedgerWatch *) DatumGetPointer(arg))->is_counted)
		(void) hand_over((const DpLedgerWatch *) DatumGetPointer(arg), false);
	watching = NULL;
}

void
dp_ledger_watch_prepare(DpLedgerWatch *watch, const DpDebitItem *item, Oid role, bool of_caps)
{
	watch->session_role = GetSessionUserId();
	watch->role = role;
	watch->of_caps = of_caps;
	watch->application = application_name;
	watch->item = *item;
	watch->is_remote = RecoveryInProgress();
	if (watch->is_remote)
		dp_primary_reads(item, role);
	else
		/* where there was no debit, since it was paid for before */
		dp_failure_reserve();
}

void
dp_ledger_watch_begin(DpLedgerWatch *watch)
{
	watch->is_counted = false;
	/* if this process ends, the primary loses it */
	if (watch->is_remote)
		return;
	watch->around = watching;
	watching = watch;
	before_shmem_exit(post_at_exit, PointerGetDatum(watch));
}

void
dp_ledger_watch_end(DpLedgerWatch *watch)
{
	if (watch->is_remote)
	{
		dp_primary_has_read();
		return;
	}
	Assert(watching == watch);
	watching = watch->around;
	cancel_before_shmem_exit(post_at_exit, PointerGetDatum(watch));
}

/* Has the worker count a failure, and waits for that; interrupts are held. */
static void
count_failure(const DpLedgerWatch *watch, int *failures, int *most)
{
	int64		since = dp_uptime();
	int			number = hand_over(watch, true);
	bool		counted = false;

	while (!counted)
	{
		DpFailure  *entry = &dp_shared->failures[number];
		bool		late = dp_ms_since(since) > PATIENCE_MS;

		ResetLatch(MyLatch);
		LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
		if (entry->state == DP_FAILURE_COUNTED)
		{
			*failures = entry->failures;
			*most = entry->most;
			entry->state = DP_FAILURE_FREE;
			counted = true;
		}
		else if (late)
		{
			entry->waiter = -1;
			counted = true;
		}
		LWLockRelease(dp_shared->lock);
		if (!counted)
			(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 100, dp_wait_event());
	}
	/* others who have set the latch still have to be heard */
	SetLatch(MyLatch);
}

bool
dp_ledger_watch_failed(DpLedgerWatch *watch, int *failures, int *most)
{
	*failures = *most = 0;
	if (watch->is_remote)
	{
		dp_primary_failed(failures, most);
		return true;
	}
	/* ending from here on, it is not counted twice */
	HOLD_INTERRUPTS();
	dp_ledger_watch_end(watch);
	for (DpLedgerWatch *around = watch->around; around != NULL; around = around->around)
		around->is_counted = true;
	if (!watch->is_counted)
		count_failure(watch, failures, most);
	RESUME_INTERRUPTS();
	return !watch->is_counted;
}

/* ---------------------------------------------------------------------
 * The primary's side of a standby's release
 * ---------------------------------------------------------------------
 */

/* what this session's standby reads; its strings are in a context of their own */
static DpLedgerWatch standby_watch;
static MemoryContext standby_context = NULL;
static bool standby_reads = false;

/* Posts the failure of a standby's release whose end is not heard of any more (before_shmem_exit). */
static void
post_standby_at_exit(int code, Datum arg)
{
	if (!standby_reads)
		return;
	standby_reads = false;
	LWLockReleaseAll();
	(void) hand_over(&standby_watch, false);
}

/* Copies what failures are told by. */
static void
copy_standby_watch(const DpAsker *asker, const DpDebitItem *item)
{
	MemoryContext caller;

	if (standby_context == NULL)
	{
		standby_context = AllocSetContextCreate(TopMemoryContext, "dp_cdp release of a standby", ALLOCSET_SMALL_SIZES);
		before_shmem_exit(post_standby_at_exit, (Datum) 0);
	}
	MemoryContextReset(standby_context);
	caller = MemoryContextSwitchTo(standby_context);
	memset(&standby_watch, 0, sizeof(standby_watch));
	standby_watch.session_role = asker->session_role;
	standby_watch.role = asker->role;
	standby_watch.application = pstrdup(asker->application);
	standby_watch.item.dataset = pstrdup(item->dataset);
	standby_watch.item.aggregates = pstrdup(item->aggregates ? item->aggregates : "");
	standby_watch.item.groups = item->groups ? pstrdup(item->groups) : NULL;
	MemoryContextSwitchTo(caller);
}

void
dp_ledger_standby_reads(const DpAsker *asker, const DpDebitItem *item)
{
	int			failures,
				most;

	/* the end of the former was not told */
	if (standby_reads)
		dp_ledger_standby_has_read(true, &failures, &most);
	dp_failure_reserve();
	copy_standby_watch(asker, item);
	standby_reads = true;
}

void
dp_ledger_standby_has_read(bool failed, int *failures, int *most)
{
	*failures = *most = 0;
	if (!standby_reads)
		return;
	standby_reads = false;
	if (!failed)
		return;
	HOLD_INTERRUPTS();
	count_failure(&standby_watch, failures, most);
	RESUME_INTERRUPTS();
}

/* ---------------------------------------------------------------------
 * The worker
 * ---------------------------------------------------------------------
 */

/* Tells whether an entry waits to be counted here. */
static bool
waits_here(const DpFailure *entry, bool is_stuck)
{
	return entry->state == DP_FAILURE_POSTED && entry->database == MyDatabaseId && entry->is_stuck == is_stuck;
}

/* Returns whether anything is to be counted in this database, but for what is stuck. */
bool
dp_failures_posted(void)
{
	bool		found = false;

	if (pg_atomic_read_u32(&dp_shared->nfailures) == 0)
		return false;
	for (int i = 0; i < DP_FAILURES(dp_shared->nslots) && !found; i++)
		found = waits_here(&dp_shared->failures[i], false);
	return found;
}

/* Lets those that are stuck be tried again, if it is time; returns how many. */
int
dp_failures_retry(void)
{
	static int64 tried_at = 0;	/* dp_uptime() */
	int			n = 0;

	if (pg_atomic_read_u32(&dp_shared->nfailures) == 0 || dp_ms_since(tried_at) < RETRY_MS)
		return 0;
	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < DP_FAILURES(dp_shared->nslots); i++)
	{
		if (!waits_here(&dp_shared->failures[i], true))
			continue;
		dp_shared->failures[i].is_stuck = false;
		n++;
	}
	LWLockRelease(dp_shared->lock);
	if (n > 0)
		tried_at = dp_uptime();
	return n;
}

/* Returns those that are stuck, a List of DpFailure. */
List *
dp_failures_stuck(void)
{
	DpFailure  *copies;
	List	   *stuck = NIL;
	int			n = 0;

	if (pg_atomic_read_u32(&dp_shared->nfailures) == 0)
		return NIL;
	copies = palloc(DP_FAILURES(dp_shared->nslots) * sizeof(DpFailure));
	LWLockAcquire(dp_shared->lock, LW_SHARED);
	for (int i = 0; i < DP_FAILURES(dp_shared->nslots); i++)
	{
		if (waits_here(&dp_shared->failures[i], true))
			copies[n++] = dp_shared->failures[i];
	}
	LWLockRelease(dp_shared->lock);
	for (int i = 0; i < n; i++)
		stuck = lappend(stuck, &copies[i]);
	return stuck;
}

/* Takes at most "most" entries that are not stuck, and copies them; returns how many. */
int
dp_failures_take(DpFailureCopy *copies, int most)
{
	int			n = 0;

	/* requests were taken before, with a full barrier */
	if (pg_atomic_read_u32(&dp_shared->nfailures) == 0)
		return 0;
	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < DP_FAILURES(dp_shared->nslots) && n < most; i++)
	{
		DpFailure  *entry = &dp_shared->failures[i];

		if (!waits_here(entry, false))
			continue;
		entry->state = DP_FAILURE_TAKEN;
		copies[n].entry = i;
		copies[n].counted = false;
		copies[n++].failure = *entry;
	}
	LWLockRelease(dp_shared->lock);
	return n;
}

/*
 * Gives entries back: those that were counted to who waits for them, if
 * anybody does, the others to be taken again.  The caller has committed, or
 * failed; single: at this one alone, which is stuck.
 */
void
dp_failures_settle(DpFailureCopy *copies, int n, bool single)
{
	if (n == 0)
		return;
	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < n; i++)
	{
		DpFailure  *entry = &dp_shared->failures[copies[i].entry];

		if (!copies[i].counted)
		{
			entry->state = DP_FAILURE_POSTED;
			entry->is_stuck = single;
			continue;
		}
		entry->failures = copies[i].failure.failures;
		entry->most = copies[i].failure.most;
		entry->state = entry->waiter < 0 ? DP_FAILURE_FREE : DP_FAILURE_COUNTED;
		pg_atomic_fetch_sub_u32(&dp_shared->nfailures, 1);
		if (entry->waiter >= 0)
			dp_slot_wake(entry->waiter);
	}
	LWLockRelease(dp_shared->lock);
}
