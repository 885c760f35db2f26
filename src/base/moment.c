/*-------------------------------------------------------------------------
 *
 * moment.c
 *	  Whether the database may have changed since something was read in it.
 *
 * The settings of a dataset and the version of the extension decide about
 * privacy, so that they are read afresh, with the latest snapshot, each time
 * that they are asked for: a dozen times in a statement.  Where two latest
 * snapshots cannot differ, the second reading returns what the first did.
 *
 * Invariants:
 *	- the test is the one by which PostgreSQL uses a snapshot again
 *	  (GetSnapshotDataReuse): no transaction that has written anything, nor a
 *	  subtransaction of one, has ended since on the whole server.
 *	- what the own transaction writes is seen from its next command on, so that
 *	  the command's number and the transaction are part of the moment.
 *	- a moment is noted before the reading.  What changes meanwhile makes the
 *	  moment older than what was read, which ends it.
 *	- it takes no snapshot where the transaction has none: SET TRANSACTION may
 *	  still come.  On standbys, and while workers share a snapshot, there is no
 *	  moment.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "utils/snapmgr.h"

#include "base/moment.h"

void
dp_moment_note(DpMoment *moment)
{
	Snapshot	latest;

	memset(moment, 0, sizeof(DpMoment));
	if (!IsTransactionState() || !FirstSnapshotSet || IsInParallelMode() || RecoveryInProgress() || HistoricSnapshotActive())
		return;
	latest = GetLatestSnapshot();
	moment->completed = latest->snapXactCompletionCount;
	moment->command = latest->curcid;
	moment->own = GetTopTransactionIdIfAny();
}

bool
dp_moment_lasts(const DpMoment *moment)
{
	DpMoment	now;

	if (moment->completed == 0)
		return false;
	dp_moment_note(&now);
	return now.completed == moment->completed && now.command == moment->command && now.own == moment->own;
}
