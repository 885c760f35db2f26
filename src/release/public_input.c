/*-------------------------------------------------------------------------
 *
 * public_input.c
 *	  Runs the queries that a release depends on and that read nothing
 *	  protected, within limits.
 *
 * They run before the debit, with the rights and the snapshot of the
 * statement.  How many rows they may return, and how long they may take, is
 * settings of the administrator: what they return is held in memory or in
 * files, and a join without a condition may be as large as it likes.
 *
 * Invariant: what is refused here has been charged nothing, but for releases
 * among the inputs, which pay when they are read.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/settings.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "release/release_int.h"
#include "storage/latch.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"

/* counts rows on their way */
typedef struct CountingReceiver
{
	DestReceiver pub;
	DestReceiver *to;
	int64		rows;
	int64		limit;
} CountingReceiver;

static TimeoutId time_limit = MAX_TIMEOUTS;
static volatile sig_atomic_t time_is_over = false;

static void
end_of_time(void)
{
	time_is_over = true;
	QueryCancelPending = true;
	InterruptPending = true;
	SetLatch(MyLatch);
}

static bool
receive_counted(TupleTableSlot *slot, DestReceiver *self)
{
	CountingReceiver *receiver = (CountingReceiver *) self;

	if (++receiver->rows > receiver->limit)
		dp_raise(NOT_RELEASABLE,
				 errmsg("this query reads more than %d public rows or groups; filter them, or ask the administrator to raise dp_cdp.max_public_rows",
						dp_guc_max_public_rows),
				 errdetail("It has to hold them before it is paid for."));
	return receiver->to->receiveSlot(slot, receiver->to);
}

static void
start_counted(DestReceiver *self, int operation, TupleDesc desc)
{
	((CountingReceiver *) self)->to->rStartup(((CountingReceiver *) self)->to, operation, desc);
}

static void
stop_counted(DestReceiver *self)
{
	((CountingReceiver *) self)->to->rShutdown(((CountingReceiver *) self)->to);
}

static void
ignore_destroy(DestReceiver *self)
{
}

static void
start_clock(void)
{
	if (time_limit == MAX_TIMEOUTS)
		time_limit = RegisterTimeout(USER_TIMEOUT, end_of_time);
	time_is_over = false;
	enable_timeout_after(time_limit, dp_guc_max_public_time);
}

static void
refuse_time(void)
{
	dp_raise(NOT_RELEASABLE,
			 errmsg("finding public rows and groups took longer than %d ms; filter them, or ask the administrator to raise dp_cdp.max_public_time",
					dp_guc_max_public_time));
}

/* Ends the time; a cancel that it caused and nobody has met yet is undone. */
static void
stop_clock(void)
{
	disable_timeout(time_limit, false);
	if (!time_is_over)
		return;
	QueryCancelPending = false;
	time_is_over = false;
	refuse_time();
}

static TupleDesc
run_plan(PlannedStmt *plan, EState *estate, QueryEnvironment *env, DestReceiver *dest)
{
	QueryDesc  *desc = CreateQueryDesc(plan, estate->es_sourceText, estate->es_snapshot, InvalidSnapshot,
									   dest, estate->es_param_list_info, env, 0);
	TupleDesc	columns;

	ExecutorStart(desc, 0);
	columns = CreateTupleDescCopy(desc->tupDesc);
	DP_EXECUTOR_RUN(desc);
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
	return columns;
}

TupleDesc
dp_run_public_input(PlannedStmt *plan, EState *estate, QueryEnvironment *env, DestReceiver *dest, bool timed, bool counted)
{
	MemoryContext caller = CurrentMemoryContext;
	CountingReceiver receiver = {{receive_counted, start_counted, stop_counted, ignore_destroy, DestNone}, dest, 0,
	counted ? dp_guc_max_public_rows : PG_INT64_MAX};
	TupleDesc	columns = NULL;

	PushActiveSnapshot(estate->es_snapshot);
	if (!timed || dp_guc_max_public_time == 0)
		columns = run_plan(plan, estate, env, &receiver.pub);
	else
	{
		start_clock();
		PG_TRY();
		{
			columns = run_plan(plan, estate, env, &receiver.pub);
		}
		PG_CATCH();
		{
			bool		was_over = time_is_over;

			disable_timeout(time_limit, false);
			time_is_over = false;
			MemoryContextSwitchTo(caller);
			if (was_over && geterrcode() == ERRCODE_QUERY_CANCELED)
			{
				FlushErrorState();
				refuse_time();
			}
			PG_RE_THROW();
		}
		PG_END_TRY();
		stop_clock();
	}
	PopActiveSnapshot();
	return columns;
}
