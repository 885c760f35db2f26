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
 * yet.  A release that succeeds never comes here.
 *
 * Invariants:
 *	- an entry is written, taken and given back under DpShared.lock, held in
 *	  exclusive mode; the worker works on copies;
 *	- an entry outlives its process: a session that is terminated leaves it to
 *	  the worker, or to the next one, if there is none at the moment;
 *	- nothing here raises an error: it runs where one is being handled, or
 *	  where the process ends.
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
#include "utils/timestamp.h"

#include "ledger/ledger_int.h"
#include "ledger/primary.h"
#include "ledger/standby.h"

/* how long a session waits to hear its count, in ms; it stands without that */
#define PATIENCE_MS 2000

/* how often the worker tries an entry by itself before it gives it up */
#define MAX_TRIES 3

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

static bool
same_failure(const DpFailure *failure, const DpLedgerWatch *watch)
{
	return failure->state == DP_FAILURE_POSTED && failure->waiter < 0 &&
		failure->database == MyDatabaseId && failure->role == watch->role &&
		failure->session_role == watch->session_role &&
		strcmp(failure->dataset, watch->item.dataset) == 0;
}

/*
 * Returns the number of the failure's entry, with the lock held; -1: there is no room,
 * which takes as many crashes as there may be sessions.
 */
static int
post(const DpLedgerWatch *watch, bool wait)
{
	DpFailure  *entry = NULL;

	for (int i = 0; i < dp_shared->nslots && entry == NULL; i++)
	{
		if (dp_shared->failures[i].state == DP_FAILURE_FREE)
			entry = &dp_shared->failures[i];
	}
	if (entry == NULL)
	{
		for (int i = 0; i < dp_shared->nslots; i++)
		{
			if (same_failure(&dp_shared->failures[i], watch))
			{
				dp_shared->failures[i].number++;
				break;
			}
		}
		return -1;
	}

	memset(entry, 0, sizeof(*entry));
	entry->state = DP_FAILURE_POSTED;
	entry->database = MyDatabaseId;
	entry->role = watch->role;
	entry->session_role = watch->session_role;
	entry->waiter = wait ? dp_my_proc_number() : -1;
	entry->number = 1;
	copy_text(entry->dataset, watch->item.dataset, sizeof(entry->dataset));
	copy_text(entry->application, watch->application, sizeof(entry->application));
	copy_text(entry->aggregates, watch->item.aggregates, sizeof(entry->aggregates));
	copy_text(entry->groups, watch->item.groups, sizeof(entry->groups));
	pg_atomic_fetch_add_u32(&dp_shared->nfailures, 1);
	return entry - dp_shared->failures;
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
	}
	return entry;
}

/* Posts the failure of a session that ends in the middle of its release (before_shmem_exit). */
static void
post_at_exit(int code, Datum arg)
{
	LWLockReleaseAll();
	(void) hand_over((const DpLedgerWatch *) DatumGetPointer(arg), false);
}

void
dp_ledger_watch_prepare(DpLedgerWatch *watch, const DpDebitItem *item, Oid role)
{
	watch->session_role = GetSessionUserId();
	watch->role = role;
	watch->application = application_name;
	watch->item = *item;
	watch->is_remote = RecoveryInProgress();
	if (watch->is_remote)
		dp_primary_reads(item, role);
}

void
dp_ledger_watch_begin(DpLedgerWatch *watch)
{
	/* if this process ends, the primary loses it */
	if (!watch->is_remote)
		before_shmem_exit(post_at_exit, PointerGetDatum(watch));
}

void
dp_ledger_watch_end(DpLedgerWatch *watch)
{
	if (watch->is_remote)
		dp_primary_has_read();
	else
		cancel_before_shmem_exit(post_at_exit, PointerGetDatum(watch));
}

/* Has the worker count a failure, and waits for that; interrupts are held. */
static void
count_failure(const DpLedgerWatch *watch, int *failures, int *most)
{
	TimestampTz since = GetCurrentTimestamp();
	int			number = hand_over(watch, true);
	bool		counted = false;

	while (number >= 0 && !counted)
	{
		DpFailure  *entry = &dp_shared->failures[number];
		bool		late = TimestampDifferenceExceeds(since, GetCurrentTimestamp(), PATIENCE_MS);

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

void
dp_ledger_watch_failed(DpLedgerWatch *watch, int *failures, int *most)
{
	*failures = *most = 0;
	if (watch->is_remote)
	{
		dp_primary_failed(failures, most);
		return;
	}
	/* ending from here on, it is not counted twice */
	HOLD_INTERRUPTS();
	dp_ledger_watch_end(watch);
	count_failure(watch, failures, most);
	RESUME_INTERRUPTS();
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

/* Returns whether anything is to be counted in this database. */
bool
dp_failures_posted(void)
{
	bool		found = false;

	if (pg_atomic_read_u32(&dp_shared->nfailures) == 0)
		return false;
	for (int i = 0; i < dp_shared->nslots && !found; i++)
		found = dp_shared->failures[i].state == DP_FAILURE_POSTED &&
			dp_shared->failures[i].database == MyDatabaseId;
	return found;
}

/* Takes at most "most" entries and copies them; returns how many. */
int
dp_failures_take(DpFailureCopy *copies, int most)
{
	int			n = 0;

	/* requests were taken before, with a full barrier */
	if (pg_atomic_read_u32(&dp_shared->nfailures) == 0)
		return 0;
	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < dp_shared->nslots && n < most; i++)
	{
		DpFailure  *entry = &dp_shared->failures[i];

		if (entry->state != DP_FAILURE_POSTED || entry->database != MyDatabaseId)
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
 * failed; single: at this one alone.
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
		bool		hopeless = single && ++entry->tries >= MAX_TRIES;

		if (!copies[i].counted && !hopeless)
		{
			entry->state = DP_FAILURE_POSTED;
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
