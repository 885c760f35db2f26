/*-------------------------------------------------------------------------
 *
 * exec.c
 *	  The custom scan that a release becomes.
 *
 * Invariants:
 * - A statement's releases are debited together, once, when the first of them
 *	 is asked for its first row, and before any protected row is read.
 * - One execution of one release draws its noise once.  Rescans, rewinds,
 *	 several nodes for one release and EvalPlanQual all read the same stored
 *	 rows, each through a read pointer of its own.
 * - A release never runs in, or below, a parallel plan.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "base/compat.h"
#include "base/errors.h"
#include "executor/executor.h"
#include "release/release.h"
#include "release/release_int.h"

static ExecutorRun_hook_type prev_executor_run = NULL;

int			dp_explain_analyze_depth = 0;

static EState *
root_estate(EState *estate)
{
	while (estate->es_epq_active != NULL)
		estate = estate->es_epq_active->parentestate;
	return estate;
}

/* Pays for everything that the statement may release and has not paid for yet. */
static void
pay_statement(EState *root)
{
	MemoryContext old = MemoryContextSwitchTo(root->es_query_cxt);
	List	   *unpaid = NIL;

	foreach_ptr(DpRun, item, dp_runs_of(root))
	{
		if (item->priced == NULL)
			unpaid = lappend(unpaid, item);
	}
	dp_buy(unpaid, root);
	MemoryContextSwitchTo(old);
}

static void
release_begin(CustomScanState *node, EState *estate, int eflags)
{
	DpReleaseState *state = (DpReleaseState *) node;

	state->reader.stored = ExecInitExtraTupleSlot(estate, node->ss.ss_ScanTupleSlot->tts_tupleDescriptor,
												  &TTSOpsMinimalTuple);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
	{
		/* the plan may be older than the loss of the budget */
		if (!dp_release_is_readable(state->release))
			dp_check_payer(state->release->dataset);
		(void) dp_enter_run(root_estate(estate), state->release);
		return;
	}

	if (IsInParallelMode() || IsParallelWorker())
		dp_raise(NOT_RELEASABLE, errmsg("private aggregates cannot be released inside a parallel plan; "
										"mark the function that asks for them PARALLEL UNSAFE"));
	/* a debit for each row would tell how many there are */
	if (dp_inner_is_running())
		dp_raise(NOT_RELEASABLE,
				 errmsg("a function on rows of a protected table cannot ask for private aggregates; remove it with dp_cdp.disallow_function"));
	if (dp_explain_analyze_depth > 0 && !dp_release_is_readable(state->release))
		dp_raise(NOT_RELEASABLE, errmsg("EXPLAIN ANALYZE of private aggregates needs SELECT on the protected table; "
										"use EXPLAIN without ANALYZE, which shows their price and noise"),
				 errdetail("The output of EXPLAIN ANALYZE depends on protected rows."));
	state->run = dp_enter_run(root_estate(estate), state->release);

	/*
	 * the first to begin belongs to the root, those of EvalPlanQual end
	 * before it
	 */
	if (state->run->desc == NULL)
		state->run->desc = node->ss.ss_ScanTupleSlot->tts_tupleDescriptor;
}


/* Says why there is no row where keys are selected and no group has passed; that is told by the rows, too. */
static void
notice_no_group(const DpRun *run)
{
	const DpPricedRelease *priced = run->priced;

	if (run->is_hidden || run->release->selection < 0 || !dp_rows_are_none(run->rows))
		return;
	ereport(NOTICE,
			(errmsg("no group is shown: too few people are in each of them"),
			 errhint("A group needs at least about %.0f people for this rho. Ask for larger groups, SET dp_cdp.rho higher, or have the owner declare keys.%s",
					 dp_least_units(priced),
					 run->release->has_unit ? " If they are groups of a subquery, each of one person, add the person's column to its GROUP BY." : "")));
}

/* Says which groups are missing in rows that only another release reads: nobody sees that they are. */
static void
notice_missing_groups(const DpRun *run)
{
	const DpPricedRelease *priced = run->priced;
	StringInfoData labels;

	if (run->is_hidden || run->release->selection < 0 || !dp_is_prefetching())
		return;
	initStringInfo(&labels);
	foreach_ptr(DpReleaseKey, key, run->release->keys)
		appendStringInfo(&labels, "%s%s", labels.len > 0 ? ", " : "", key->label);
	ereport(NOTICE,
			(errmsg("a subquery finds its groups of %s privately, and has none of less than about %.0f people",
					labels.data, dp_least_units(priced)),
			 errhint("Rows of other groups match none of them. Have the owner declare keys, or list values in the subquery's WHERE.")));
}

/* Runs what was paid for: a release, those whose answers are to agree with its, and before it the groups of which it has the rest. */
static void
run_release(DpRun *run)
{
	DpRun	   *groups = dp_run_of_groups(run);
	ListCell   *lc;

	if (groups != NULL && !groups->done)
		run_release(groups);
	foreach(lc, dp_agree_begin(run))
		dp_run_inner(lfirst(lc), run->root);
	foreach(lc, dp_agree_end(run))
		dp_report_limits(lfirst(lc));
}

static TupleTableSlot *
release_next(ScanState *node)
{
	DpReleaseState *state = (DpReleaseState *) node;
	EState	   *estate = node->ps.state;
	DpRun	   *run = state->run;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;
	int			natts = slot->tts_tupleDescriptor->natts;
	Datum	   *values;
	bool	   *nulls;

	if (run->priced == NULL)
		pay_statement(run->root);
	/* what is kept has run by now */
	if (!run->done)
		run_release(run);
	if (!run->is_told)
	{
		run->is_told = true;
		notice_missing_groups(run);
		notice_no_group(run);
	}

	ExecClearTuple(slot);
	if (!dp_rows_read(run->rows, &state->reader, ScanDirectionIsForward(estate->es_direction), &values, &nulls))
		return slot;
	memcpy(slot->tts_values, values, natts * sizeof(Datum));
	memcpy(slot->tts_isnull, nulls, natts * sizeof(bool));
	return ExecStoreVirtualTuple(slot);
}

static bool
release_recheck(ScanState *node, TupleTableSlot *slot)
{
	return true;
}

static TupleTableSlot *
release_exec(CustomScanState *node)
{
	return ExecScan(&node->ss, release_next, release_recheck);
}

static void
release_rescan(CustomScanState *node)
{
	DpReleaseState *state = (DpReleaseState *) node;

	ExecScanReScan(&node->ss);
	if (state->run != NULL && state->run->rows != NULL)
		dp_rows_rewind(state->run->rows, &state->reader);
}

/* Ends a node; stored rows belong to the root EState and go when its node ends. */
static void
release_end(CustomScanState *node)
{
	DpReleaseState *state = (DpReleaseState *) node;

	if (state->reader.stored)
		ExecClearTuple(state->reader.stored);
	if (state->run == NULL || state->run->root != node->ss.ps.state)
		return;
	dp_end_inner(state->run);
	dp_end_prefetches(state->run);
	if (state->run->rows)
	{
		dp_rows_end(state->run->rows);
		state->run->rows = NULL;
	}
}

static const CustomExecMethods release_exec_methods = {
	.CustomName = DP_RELEASE_NODE,
	.BeginCustomScan = release_begin,
	.ExecCustomScan = release_exec,
	.EndCustomScan = release_end,
	.ReScanCustomScan = release_rescan,
	.ExplainCustomScan = dp_release_explain
};

static Node *
create_state(CustomScan *cscan)
{
	DpReleaseState *state = (DpReleaseState *) newNode(sizeof(DpReleaseState), T_CustomScanState);

	state->css.methods = &release_exec_methods;
	state->release = linitial(cscan->custom_private);
	return (Node *) state;
}

/* Has every error of a statement with releases say what it was charged. */
static pg_noinline void
run_charged(DP_EXECUTOR_RUN_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	DpCharge	charged;

	if (!dp_charge_of(desc->estate, &charged))
	{
		prev_executor_run(DP_EXECUTOR_RUN_CALL);
		return;
	}
	PG_TRY();
	{
		prev_executor_run(DP_EXECUTOR_RUN_CALL);
	}
	PG_CATCH();
	{
		(void) dp_charge_of(desc->estate, &charged);
		dp_charge_rethrow(caller, &charged);
	}
	PG_END_TRY();
}

static void
release_executor_run(DP_EXECUTOR_RUN_ARGS)
{
	if (likely(!dp_release_is_live()))
		prev_executor_run(DP_EXECUTOR_RUN_CALL);
	else
		run_charged(DP_EXECUTOR_RUN_CALL);
}

void
dp_release_exec_init(void)
{
	prev_executor_run = ExecutorRun_hook ? ExecutorRun_hook : standard_ExecutorRun;
	ExecutorRun_hook = release_executor_run;
}

const CustomScanMethods dp_release_scan_methods = {
	.CustomName = DP_RELEASE_NODE,
	.CreateCustomScanState = create_state
};
