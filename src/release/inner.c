/*-------------------------------------------------------------------------
 *
 * inner.c
 *	  Runs the inner plan, whose exact states receiver.c turns into released rows.
 *
 * Invariants:
 * - Its executor is started before the debit: what fails for any other reason
 *	 than the rows costs nothing.  Its first row is asked for after the debit;
 *	 it runs once, to completion, in an executor of its own.
 * - Whatever ends it but success counts as a failure at the budgets that paid,
 *	 also the end of the process.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/compat.h"
#include "base/noise.h"
#include "executor/executor.h"
#include "ledger/ledger.h"
#include "nodes/nodeFuncs.h"
#include "pgstat.h"
#include "release/kept_int.h"
#include "release/release.h"
#include "release/release_int.h"
#include "storage/bufmgr.h"
#include "storage/condition_variable.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "tcop/dest.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* an inner plan that was started before its debit */
struct DpInner
{
	MemoryContext context;
	DpReceiver *receiver;
	QueryDesc  *plan;			/* started; NULL: declared keys alone */
	bool		explained;		/* EXPLAIN ANALYZE shows the plan to who may
								 * read the rows */
	bool		finished;		/* kept for that alone */
};

/* the range table of the inner plan that is running, for the permission hook */
static List *inner_range_table = NIL;

bool
dp_release_is_inner(List *range_table)
{
	return inner_range_table != NIL && range_table == inner_range_table;
}

bool
dp_inner_is_running(void)
{
	return inner_range_table != NIL;
}

/* Returns the statement's parameters and, after them, the ones that the node supplies. */
static ParamListInfo
inner_params(DpPricedRelease *priced, EState *estate)
{
	DpRelease  *release = priced->release;
	ParamListInfo asked = estate->es_param_list_info;
	int			n = Max(release->first_param + dp_release_params_count(release) - 1, asked ? asked->numParams : 0);
	ParamListInfo params = makeParamList(n);

	/* parallel workers get all of them, also the numbers that nobody uses */
	memset(params->params, 0, n * sizeof(ParamExternData));
	for (int i = 0; asked && i < asked->numParams; i++)
	{
		ParamExternData workspace;
		ParamExternData *p = asked->paramFetch
		? asked->paramFetch(asked, i + 1, false, &workspace) : &asked->params[i];

		params->params[i] = *p;
		params->params[i].pflags = 0;
		if (!p->isnull && OidIsValid(p->ptype))
		{
			int16		len;
			bool		byval;

			get_typlenbyval(p->ptype, &len, &byval);
			params->params[i].value = datumCopy(p->value, byval, len);
		}
	}
	dp_release_params(priced, params);
	return params;
}

/* Runs a plan over tables of a release that reads no rows of them. */
static void
run_touch(PlannedStmt *plan)
{
	QueryDesc  *desc = CreateQueryDesc(plan, "private query", GetActiveSnapshot(), InvalidSnapshot, None_Receiver, NULL, NULL, 0);
	List	   *save_range_table = inner_range_table;

	PG_TRY();
	{
		inner_range_table = plan->rtable;
		ExecutorStart(desc, 0);
		DP_EXECUTOR_RUN(desc);
		ExecutorFinish(desc);
		ExecutorEnd(desc);
	}
	PG_FINALLY();
	{
		inner_range_table = save_range_table;
	}
	PG_END_TRY();
	FreeQueryDesc(desc);
}

/* Finds before the debit what Citus refuses to read in this transaction. */
static void
touch_shards(List *plans)
{
	MemoryContext caller = CurrentMemoryContext;

	PG_TRY();
	{
		foreach_node(PlannedStmt, plan, plans)
			run_touch(plan);
	}
	PG_CATCH();
	{
		dp_refuse_touched(dp_sandbox_catch(caller));
	}
	PG_END_TRY();
}

/* Starts the executor of the inner plan, up to its first row; instrument: what it is to measure. */
static QueryDesc *
start_plan(DpRun *run, DpPricedRelease *priced, DpReceiver *receiver, EState *estate, int instrument)
{
	MemoryContext caller = CurrentMemoryContext;
	PlannedStmt *volatile plan = run->release->inner;
	ParamListInfo volatile params = inner_params(priced, estate);
	QueryDesc  *volatile desc = NULL;
	List	   *save_range_table = inner_range_table;
	List	   *touches;
	DpSandbox	box;

	dp_sandbox_begin(&box, dp_relation_owner(run->release->relid), DP_STACK_TO_RUN, run->timezone);
	PG_TRY();
	{
		dp_check_distribution(run->release);
		if (run->release->late_query != NULL)
		{
			plan = dp_plan_late(run->release, params, &touches);
			touch_shards(touches);
			params = NULL;
		}
		desc = CreateQueryDesc(plan, "private query", estate->es_snapshot, InvalidSnapshot,
							   dp_receiver_dest(receiver), params, run->prefetched, instrument);
		inner_range_table = desc->plannedstmt->rtable;
		ExecutorStart(desc, 0);
	}
	PG_CATCH();
	{
		inner_range_table = save_range_table;
		dp_sandbox_end(&box);
		dp_sandbox_rethrow(caller, dp_charge_clause(&run->charged));
	}
	PG_END_TRY();
	inner_range_table = save_range_table;
	dp_sandbox_end(&box);
	return desc;
}

static void
finish_plan(QueryDesc *desc)
{
	ExecutorFinish(desc);
	dp_forget_workers(desc->estate);
}

/* Only in the sandbox: other extensions may tell the client about the plan that ends. */
static void
close_plan(QueryDesc *desc)
{
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
}

/* Has what an index's relation is read for go uncounted (planstate_tree_walker). */
static bool
uncount_index(PlanState *node, void *context)
{
	if (IsA(node, IndexScanState))
		pgstat_init_relation(((IndexScanState *) node)->iss_RelationDesc);
	else if (IsA(node, IndexOnlyScanState))
		pgstat_init_relation(((IndexOnlyScanState *) node)->ioss_RelationDesc);
	else if (IsA(node, BitmapIndexScanState))
		pgstat_init_relation(((BitmapIndexScanState *) node)->biss_RelationDesc);
	return planstate_tree_walker(node, uncount_index, context);
}

/*
 * Has rows, index entries and pages that the plan reads go uncounted.  Whether they are counted is settled when a
 * relation is opened, and whatever opened it since the plan was started did so outside of the sandbox.
 */
static void
uncount(QueryDesc *desc)
{
	EState	   *estate = desc->estate;

	Assert(!pgstat_track_counts);
	for (int i = 0; i < estate->es_range_table_size; i++)
	{
		if (estate->es_relations[i] != NULL)
			pgstat_init_relation(estate->es_relations[i]);
	}
	(void) uncount_index(desc->planstate, NULL);
}

static void
run_plan(QueryDesc *desc, DpReceiver *receiver, bool explained)
{
	List	   *save_range_table = inner_range_table;

	uncount(desc);

	PG_TRY();
	{
		inner_range_table = desc->plannedstmt->rtable;
		DP_EXECUTOR_RUN(desc);
		dp_receiver_end(receiver);
		finish_plan(desc);
		if (!explained)
			close_plan(desc);
	}
	PG_FINALLY();
	{
		inner_range_table = save_range_table;
	}
	PG_END_TRY();
}

/*
 * In the order of the end of a transaction: what is waited for may lie in memory that is shared with parallel
 * workers, and goes with them.
 */
void
dp_stop_reading(void)
{
	LWLockReleaseAll();
	dp_forget_reads();
	UnlockBuffers();
	ConditionVariableCancelSleep();
	LockErrorCleanup();
	AtEOSubXact_Parallel(false, GetCurrentSubTransactionId());
}

static void fail(DpRun *run, DpLedgerWatch *watch, const DpSandbox *box, ErrorData *error) __attribute__((noreturn));

/* Raises what an asker may see of error, which is NULL when the run was cancelled while its answer waited. */
static void
fail(DpRun *run, DpLedgerWatch *watch, const DpSandbox *box, ErrorData *error)
{
	int			failures;
	int			most;
	char	   *paid;

	dp_report_failure(run->priced);
	(void) dp_ledger_watch_failed(watch, &failures, &most);
	dp_report_spill(run->priced->dataset, box);
	/* a standby's replay repeats its cancel for as long as it has to wait */
	(void) dp_take_cancel();
	paid = psprintf("%s, and %s", dp_charge_clause(&run->charged), dp_failure_clause(failures, most));
	if (error == NULL)
		dp_sandbox_raise_cancel(paid);
	dp_sandbox_raise(error, paid, true);
}

/* Releases declared keys alone, which are public, or answers that are kept. */
static void
run_without_rows(DpReceiver *receiver)
{
	dp_receiver_end(receiver);
	dp_noise_wipe();
}

void
dp_prepare_watch(const DpRun *run, DpLedgerWatch *watch)
{
	DpDebitItem *item = dp_priced_debit(run->priced->limits_alone ? run->priced->before[DP_FINDS_LIMITS] : run->priced);

	if (run->pilot)
		item->aggregates = dp_pilot_label(item->aggregates);
	dp_ledger_watch_prepare(watch, item, run->payer, run->priced->limits_alone);
}

/* Runs the inner plan, whose rows have been paid for, and reports any failure as one. */
static void
run_on_rows(DpRun *run, DpInner *inner, EState *estate)
{
	MemoryContext caller = CurrentMemoryContext;
	Oid			owner = dp_relation_owner(run->release->relid);
	ErrorData  *volatile error = NULL;
	int64		start = dp_uptime();
	DpLedgerWatch watch;
	DpSandbox	box;

	dp_prepare_watch(run, &watch);
	dp_sandbox_begin(&box, owner, DP_STACK_TO_RUN, run->timezone);
	dp_ledger_watch_begin(&watch);
	PG_TRY();
	{
		PushActiveSnapshot(estate->es_snapshot);
		run_plan(inner->plan, inner->receiver, inner->explained);
		PopActiveSnapshot();
	}
	PG_CATCH();
	{
		dp_sandbox_end(&box);
		dp_sandbox_hush();
		dp_stop_reading();
		error = dp_sandbox_catch(caller);
	}
	PG_END_TRY();
	if (error == NULL)
		dp_sandbox_end(&box);
	dp_noise_wipe();

	if (dp_wait_for_step(run->priced->dataset->answer_step, start))
		fail(run, &watch, &box, NULL);
	if (error != NULL)
		fail(run, &watch, &box, error);
	dp_ledger_watch_end(&watch);
	dp_report_spill(run->priced->dataset, &box);
}

void
dp_start_inner(DpRun *run, DpPricedRelease *priced, EState *estate)
{
	DpInner    *inner = MemoryContextAllocZero(estate->es_query_cxt, sizeof(DpInner));
	MemoryContext caller = CurrentMemoryContext;

	inner->context = AllocSetContextCreate(estate->es_query_cxt, "dp_cdp inner query",
										   ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(inner->context);
	inner->receiver = dp_receiver_create(run, priced, run->desc);

	/*
	 * es_instrument alone is no sign of it: auto_explain sets it for every
	 * statement
	 */
	inner->explained = dp_explain_analyze_depth > 0 && estate->es_instrument != 0 && !run->is_hidden &&
		dp_release_is_readable(run->release);
	if (priced->ncolumns > 0 && (run->kept == NULL || dp_kept_needs_rows(run->kept)))
		inner->plan = start_plan(run, priced, inner->receiver, estate, inner->explained ? estate->es_instrument : 0);
	MemoryContextSwitchTo(caller);
	run->inner = inner;
}

static void
forget_inner(DpRun *run)
{
	MemoryContextDelete(run->inner->context);
	pfree(run->inner);
	run->inner = NULL;
}

void
dp_run_inner(DpRun *run, EState *estate)
{
	MemoryContext caller = CurrentMemoryContext;
	DpInner    *inner = run->inner;

	/* the asker's code may have run between two releases of the statement */
	dp_hold_objects(run->release, run->priced->dataset->owner, run->priced->ncolumns > 0);
	if (run->release->rest_of != NULL && inner->plan != NULL)
	{
		/* it was started before the debit with no groups */
		dp_take_shown(run);
		dp_end_inner(run);
		dp_start_inner(run, run->priced, estate);
		inner = run->inner;
	}
	MemoryContextSwitchTo(estate->es_query_cxt);
	run->rows = dp_rows_begin(run->desc);
	MemoryContextSwitchTo(inner->context);
	dp_receiver_begin(inner->receiver, run, inner->plan != NULL);
	if (inner->plan != NULL)
		run_on_rows(run, inner, estate);
	else
		run_without_rows(inner->receiver);

	if (run->pilot)
	{
		dp_rows_end(run->rows);
		run->rows = NULL;
	}
	else if (!run->is_hidden)
	{
		if (!inner->explained)
			dp_end_prefetches(run);
		run->done = true;
	}
	MemoryContextSwitchTo(caller);
	inner->finished = true;
	if (!inner->explained)
		forget_inner(run);
}

void
dp_end_inner(DpRun *run)
{
	MemoryContext caller = CurrentMemoryContext;
	DpInner    *inner = run->inner;
	DpSandbox	box;

	if (inner == NULL)
		return;
	if (inner->plan != NULL)
	{
		dp_sandbox_begin(&box, dp_relation_owner(run->release->relid), DP_STACK_TO_RUN, run->timezone);
		PG_TRY();
		{
			if (!inner->finished)
				finish_plan(inner->plan);
			close_plan(inner->plan);
		}
		PG_CATCH();
		{
			dp_sandbox_end(&box);
			dp_sandbox_rethrow(caller, dp_charge_clause(&run->charged));
		}
		PG_END_TRY();
		dp_sandbox_end(&box);
	}
	forget_inner(run);
}

QueryDesc *
dp_explained_plan(DpRun *run)
{
	return run->inner != NULL && run->inner->explained && run->inner->finished ? run->inner->plan : NULL;
}
