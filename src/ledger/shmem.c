/*-------------------------------------------------------------------------
 *
 * shmem.c
 *	  The ledger's shared memory: a slot per server process, an entry per
 *	  database that has a worker.
 *
 * Sizes are fixed at server start: every process that can ask has its own
 * slot, so asking never waits for room, and there can be no more workers
 * than max_worker_processes, nor many more databases that wait for theirs.  Nothing here outlives a restart, and nothing
 * needs to: what counts is in the tables.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/shmem.h"

#include "base/clock.h"
#include "ledger/ledger_int.h"

#define DP_TRANCHE "dp_cdp_ledger"

DpShared   *dp_shared = NULL;

static shmem_startup_hook_type prev_shmem_startup = NULL;

/* Returns room for all workers that there can be, and for a database that each process waits for. */
static int
entry_count(void)
{
	return max_worker_processes + dp_max_backends();
}

static Size
shared_size(void)
{
	Size		size = MAXALIGN(sizeof(DpShared));

	size = add_size(size, MAXALIGN(mul_size(dp_max_backends(), sizeof(pg_atomic_uint64))));
	size = add_size(size, MAXALIGN(mul_size(dp_max_backends(), MAXALIGN(sizeof(DpRequest)))));
	size = add_size(size, MAXALIGN(mul_size(entry_count(), sizeof(DpWorkerEntry))));
	size = add_size(size, MAXALIGN(mul_size(DP_FAILURES(dp_max_backends()), sizeof(DpFailure))));
	size = add_size(size, MAXALIGN(mul_size(DP_MAX_NOTES, sizeof(DpNote))));
	/* room to align the requests */
	return add_size(size, PG_CACHE_LINE_SIZE);
}

static void
request_shared_memory(void)
{
	RequestAddinShmemSpace(shared_size());
	RequestNamedLWLockTranche(DP_TRANCHE, 2);
}

DP_DEFINE_SHMEM_REQUEST(install_request, request_shared_memory);

static void
startup_shared_memory(void)
{
	bool		found;

	if (prev_shmem_startup)
		prev_shmem_startup();

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	dp_shared = ShmemInitStruct("dp_cdp ledger", shared_size(), &found);
	if (!found)
	{
		char	   *at = (char *) dp_shared;

		MemSet(at, 0, shared_size());
		dp_shared->lock = &GetNamedLWLockTranche(DP_TRANCHE)[0].lock;
		dp_shared->uses_lock = &GetNamedLWLockTranche(DP_TRANCHE)[1].lock;
		ConditionVariableInit(&dp_shared->changed);
		dp_shared->nslots = dp_max_backends();
		dp_shared->nentries = entry_count();
		dp_shared->launcher_proc = -1;
		at += MAXALIGN(sizeof(DpShared));
		dp_shared->words = (pg_atomic_uint64 *) at;
		for (int i = 0; i < dp_shared->nslots; i++)
			pg_atomic_init_u64(&dp_shared->words[i], dp_word(InvalidOid, DP_REQUEST_FREE));
		at += MAXALIGN(dp_shared->nslots * sizeof(pg_atomic_uint64));
		dp_shared->entries = (DpWorkerEntry *) at;
		at += MAXALIGN(dp_shared->nentries * sizeof(DpWorkerEntry));
		pg_atomic_init_u32(&dp_shared->nfailures, 0);
		pg_atomic_init_u32(&dp_shared->told_not_applied, 0);
		dp_shared->failures = (DpFailure *) at;
		at += MAXALIGN(DP_FAILURES(dp_shared->nslots) * sizeof(DpFailure));
		pg_atomic_init_u32(&dp_shared->nnoted, 0);
		dp_shared->nnotes = DP_MAX_NOTES;
		dp_shared->notes = (DpNote *) at;
		at += MAXALIGN(DP_MAX_NOTES * sizeof(DpNote));
		dp_shared->requests = (DpRequest *) TYPEALIGN(PG_CACHE_LINE_SIZE, at);
	}
	LWLockRelease(AddinShmemInitLock);
}

/* Asks for shared memory, from _PG_init.  Loaded later than at server start, the ledger stays closed. */
void
dp_ledger_init(void)
{

	if (!process_shared_preload_libraries_in_progress)
		return;

	install_request();
	prev_shmem_startup = shmem_startup_hook;
	shmem_startup_hook = startup_shared_memory;
}

bool
dp_slot_swap(int slot, Oid database, DpRequestState from, DpRequestState to)
{
	uint64		expected = dp_word(database, from);

	return pg_atomic_compare_exchange_u64(&dp_shared->words[slot], &expected,
										  dp_word(database, to));
}

/* Wakes the process of a slot: slots are numbered as processes are. */
void
dp_slot_wake(int slot)
{
	SetLatch(&GetPGProcByNumber(slot)->procLatch);
}

DpWorkerEntry *
dp_entry_find(Oid database)
{
	for (int i = 0; i < dp_shared->nentries; i++)
	{
		DpWorkerEntry *entry = &dp_shared->entries[i];

		if (entry->state != DP_WORKER_UNUSED && entry->database == database)
			return entry;
	}
	return NULL;
}

DpWorkerState
dp_entry_state(Oid database)
{
	DpWorkerEntry *entry;
	DpWorkerState state;

	LWLockAcquire(dp_shared->lock, LW_SHARED);
	entry = dp_entry_find(database);
	state = entry ? entry->state : DP_WORKER_UNUSED;
	LWLockRelease(dp_shared->lock);
	return state;
}

/*
 * Gives an entry that nobody uses the database's OID; the caller sets its
 * state.  There is one, as those of workers that are away serve, too: these will
 * be back with the next debit.
 */
DpWorkerEntry *
dp_entry_make(Oid database)
{
	DpWorkerEntry *found = NULL;

	for (int i = 0; i < dp_shared->nentries; i++)
	{
		DpWorkerEntry *entry = &dp_shared->entries[i];

		if (entry->state == DP_WORKER_UNUSED)
		{
			found = entry;
			break;
		}
		if (entry->state == DP_WORKER_AWAY)
			found = entry;
	}
	if (found == NULL)
		elog(ERROR, "no entry for the worker of a database");
	memset(found, 0, sizeof(*found));
	found->database = database;
	return found;
}

bool
dp_is_first_to_start(void)
{
	DpWorkerEntry *mine;
	bool		is_first = true;

	LWLockAcquire(dp_shared->lock, LW_SHARED);
	mine = dp_entry_find(MyDatabaseId);
	for (int i = 0; i < dp_shared->nentries && mine != NULL; i++)
	{
		DpWorkerEntry *entry = &dp_shared->entries[i];

		if (entry->state == DP_WORKER_STARTING && entry->is_queued && entry->since < mine->since)
			is_first = false;
	}
	LWLockRelease(dp_shared->lock);
	return is_first;
}

bool
dp_send_worker_away(void)
{
	DpWorkerEntry *idlest = NULL;

	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < dp_shared->nentries; i++)
	{
		DpWorkerEntry *entry = &dp_shared->entries[i];

		/* one that has just come is for who has waited for it */
		if (entry->state == DP_WORKER_LIVE && entry->database != MyDatabaseId && !entry->sent_away &&
			(dp_ms_since(entry->since) > DP_TURN_MS ||
			 (entry->used_at > 0 && dp_ms_since(entry->used_at) > DP_IDLE_MS)) &&
			(idlest == NULL || entry->used_at < idlest->used_at))
			idlest = entry;
	}
	if (idlest != NULL)
	{
		idlest->sent_away = true;
		dp_slot_wake(idlest->worker_proc);
	}
	LWLockRelease(dp_shared->lock);
	return idlest != NULL;
}

bool
dp_anything_pending(Oid database)
{
	uint64		pending = dp_word(database, DP_REQUEST_PENDING);

	for (int i = 0; i < dp_shared->nslots; i++)
	{
		if (pg_atomic_read_u64(&dp_shared->words[i]) == pending)
			return true;
	}
	return false;
}
