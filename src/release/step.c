/*-------------------------------------------------------------------------
 *
 * step.c
 *	  When an answer, or its failure, may leave: a dataset's answer_step.
 *
 * How long rows are read tells of rows.  Where the dataset has a step, what
 * becomes of a release is held back until the time since the reading began
 * is a multiple of it, so that only the number of whole steps is told.
 * (Since the statement began would let the asker sleep first, until shortly
 * before a multiple, and so tell any two times apart.)
 *
 * Invariants:
 * - A cancel or timeout that comes while the answer waits has the effect that
 *	 it has while rows are read: the release fails, at the same multiple, with
 *	 the same message.  So none is processed here; the caller raises it.
 * - What ends the process, and what other processes wait for, is processed at
 *	 once.
 * - No lightweight lock is held while waiting.
 * - Other sessions of the role see it as running, not as waiting.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/compat.h"
#include "miscadmin.h"
#include "release/release_int.h"
#include "storage/latch.h"

/* Returns the first multiple of step after start that is not past. */
static int64
next_multiple(int64 step, int64 start)
{
	int64		elapsed = dp_uptime() - start;

	return start + (elapsed / step + 1) * step;
}

bool
dp_wait_for_step(int64 step, int64 start)
{
	int64		until;
	bool		cancelled;

	if (step <= 0)
		return false;
	until = next_multiple(step, start);
	HOLD_CANCEL_INTERRUPTS();
	for (;;)
	{
		int64		ms;

		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		ms = (until - dp_uptime() + 999) / 1000;
		if (ms <= 0)
			break;

		/* pg_stat_activity shows no wait */
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ms, 0);
	}
	RESUME_CANCEL_INTERRUPTS();
	cancelled = dp_take_cancel();
	/* other reasons for the latch are still to be seen */
	SetLatch(MyLatch);
	return cancelled;
}
