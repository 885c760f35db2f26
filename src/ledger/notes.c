/*-------------------------------------------------------------------------
 *
 * notes.c
 *	  Queries that were refused before they had a price: from their process
 *	  to the worker, which writes them into the audit.
 *
 * Who refuses leaves a note in shared memory and waits for nothing.  Notes
 * that are like one that is still there are counted in it, and where there is
 * no room one is lost: the audit of refusals is no promise of the ledger's.
 *
 * Invariants:
 *	- a note is written and taken under DpShared.lock, held in exclusive mode;
 *	- nothing here raises an error: it runs where one is being handled.
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
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/latch.h"
#include "utils/guc.h"

#include "base/extension.h"
#include "base/settings.h"
#include "ledger/tables.h"

static void
copy_text(char *to, const char *from, Size length, Size size)
{
	Size		len = from ? pg_mbcliplen(from, length, size - 1) : 0;

	if (len > 0)
		memcpy(to, from, len);
	to[len] = '\0';
}

static bool
is_alike(const DpNote *note, const DpNote *other)
{
	return note->number > 0 && note->database == other->database && note->role == other->role &&
		note->session_role == other->session_role && strcmp(note->dataset, other->dataset) == 0 &&
		strncmp(note->reason, other->reason, DP_SQLSTATE_BYTES) == 0;
}

/* Leaves the note; the lock is held.  False when the worker knows of it already, or there is no room. */
static bool
post(const DpNote *note)
{
	DpNote	   *free = NULL;
	DpNote	   *other = NULL;

	for (int i = 0; i < dp_shared->nnotes; i++)
	{
		if (is_alike(&dp_shared->notes[i], note))
		{
			dp_shared->notes[i].number++;
			return false;
		}
		if (dp_shared->notes[i].number == 0)
			free = &dp_shared->notes[i];
		else if (dp_shared->notes[i].database != MyDatabaseId)
			other = &dp_shared->notes[i];
	}
	if (free != NULL)
	{
		*free = *note;
		pg_atomic_fetch_add_u32(&dp_shared->nnoted, 1);
		return true;
	}
	/* another database has no worker, or may be gone */
	if (other != NULL)
		*other = *note;
	return other != NULL;
}

void
dp_ledger_note_refusal(const char *dataset, const char *tables, const char *reason,
					   const char *query, int query_length)
{
	DpNote		note;
	DpWorkerEntry *worker;
	BackgroundWorker registration;
	bool		posted;
	bool		alone;

	if (dp_shared == NULL || !IsUnderPostmaster || IsParallelWorker() || RecoveryInProgress() || dataset[0] == '\0')
		return;
	memset(&note, 0, sizeof(note));
	note.database = MyDatabaseId;
	note.role = GetUserId();
	note.session_role = GetSessionUserId();
	note.number = 1;
	copy_text(note.dataset, dataset, strlen(dataset), sizeof(note.dataset));
	copy_text(note.tables, tables, tables ? strlen(tables) : 0, sizeof(note.tables));
	copy_text(note.reason, reason, strlen(reason), sizeof(note.reason));
	copy_text(note.application, application_name, application_name ? strlen(application_name) : 0,
			  sizeof(note.application));
	copy_text(note.query, query, query_length, Min(sizeof(note.query), dp_guc_log_query_bytes + 1));
	dp_ledger_client_address(note.client);

	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	posted = post(&note);
	worker = dp_entry_find(MyDatabaseId);
	alone = worker == NULL || worker->state == DP_WORKER_AWAY;
	if (posted && worker && worker->state == DP_WORKER_LIVE)
		dp_slot_wake(worker->worker_proc);
	LWLockRelease(dp_shared->lock);

	if (posted && alone)
	{
		dp_ledger_worker_registration(&registration, MyDatabaseId, false);
		(void) RegisterDynamicBackgroundWorker(&registration, NULL);
	}
}

/* ---------------------------------------------------------------------
 * The worker
 * ---------------------------------------------------------------------
 */

/* Tells whether there are notes; of other databases, too, which costs a look. */
bool
dp_notes_posted(void)
{
	bool		found = false;

	if (pg_atomic_read_u32(&dp_shared->nnoted) == 0)
		return false;
	LWLockAcquire(dp_shared->lock, LW_SHARED);
	for (int i = 0; i < dp_shared->nnotes && !found; i++)
		found = dp_shared->notes[i].number > 0 && dp_shared->notes[i].database == MyDatabaseId;
	LWLockRelease(dp_shared->lock);
	return found;
}

/* Takes one note away; false when there is none. */
bool
dp_note_take(DpNote *note)
{
	bool		found = false;

	if (pg_atomic_read_u32(&dp_shared->nnoted) == 0)
		return false;
	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < dp_shared->nnotes && !found; i++)
	{
		if (dp_shared->notes[i].number == 0 || dp_shared->notes[i].database != MyDatabaseId)
			continue;
		*note = dp_shared->notes[i];
		dp_shared->notes[i].number = 0;
		pg_atomic_fetch_sub_u32(&dp_shared->nnoted, 1);
		found = true;
	}
	LWLockRelease(dp_shared->lock);
	return found;
}
