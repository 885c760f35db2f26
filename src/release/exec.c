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
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "base/compat.h"
#include "base/errors.h"
#include "base/settings.h"
#include "base/sizes.h"
#include "common/int.h"
#include "executor/executor.h"
#include "ledger/ledger.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "policy/policy.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

typedef struct DpReleaseState
{
	CustomScanState css;
	DpRelease  *release;
	DpRun	   *run;			/* NULL under EXPLAIN */
	int			read_pointer;	/* into run->rows, -1: none yet */
	TupleTableSlot *row;		/* a stored row */
} DpReleaseState;

/* executions that are under way, of all statements of this backend */
typedef struct LiveRun
{
	dlist_node	node;
	DpRun		run;
} LiveRun;

static ExecutorRun_hook_type prev_executor_run = NULL;

static dlist_head live_runs = DLIST_STATIC_INIT(live_runs);

int			dp_explain_analyze_depth = 0;

bool
dp_release_is_readable(DpRelease *release)
{
	ListCell   *lc;

	foreach(lc, release->relids)
	{
		if (!dp_may_read(lfirst_oid(lc)))
			return false;
	}
	return true;
}

static EState *
root_estate(EState *estate)
{
	while (estate->es_epq_active != NULL)
		estate = estate->es_epq_active->parentestate;
	return estate;
}

static void
forget_run(void *arg)
{
	dlist_delete(&((LiveRun *) arg)->node);
}

static DpRun *
enter_run(EState *root, DpRelease *release)
{
	dlist_iter	iter;
	LiveRun    *live;
	MemoryContextCallback *callback;

	dlist_foreach(iter, &live_runs)
	{
		live = dlist_container(LiveRun, node, iter.cur);
		if (live->run.root == root && strcmp(live->run.release->name, release->name) == 0)
			return &live->run;
	}

	live = MemoryContextAllocZero(root->es_query_cxt, sizeof(LiveRun));
	callback = MemoryContextAlloc(root->es_query_cxt, sizeof(MemoryContextCallback));
	live->run.root = root;
	live->run.release = release;
	dlist_push_tail(&live_runs, &live->node);
	callback->func = forget_run;
	callback->arg = live;
	MemoryContextRegisterResetCallback(root->es_query_cxt, callback);
	return &live->run;
}

/* Adds the item to what the statement was charged; a sum that overflows stays at the largest amount. */
static void
add_charge(DpCharge *charged, const DpDebitItem *item)
{
	if (pg_add_s64_overflow(charged->rho, item->rho, &charged->rho))
		charged->rho = PG_INT64_MAX;
	if (pg_add_s64_overflow(charged->delta, item->delta, &charged->delta))
		charged->delta = PG_INT64_MAX;
}

/* Debits, and lets the audit know of which statement. */
static void
debit(List *items, EState *root)
{
	if (root->es_plannedstmt != NULL)
		dp_ledger_set_query(root->es_sourceText, root->es_plannedstmt->stmt_location,
							root->es_plannedstmt->stmt_len);
	dp_ledger_debit(items);
}

/*
 * Runs the pilot that a target of accuracy needs: a release of its own whose
 * answers nobody sees.  Returns the final price of each column, as amounts of
 * rho, and adds what the pilot cost to charged.
 */
static const int64 *
run_pilot(DpRun *run, DpPricedRelease *usual, EState *root, DpCharge *charged)
{
	DpRun		trial = *run;
	DpDebitItem *item;

	trial.pilot = dp_pilot_create(run->release, usual);
	trial.is_hidden = true;
	/* a price that is too low fails here, before anything is paid */
	dp_price_release(run->release, root, dp_pilot_floors(trial.pilot), run->tuples);
	trial.priced = dp_price_release(run->release, root, dp_pilot_prices(trial.pilot), run->tuples);
	item = dp_priced_debit(trial.priced);
	item->aggregates = dp_pilot_label(item->aggregates);
	trial.payer = GetUserId();
	trial.charged = *charged;
	dp_start_inner(&trial, trial.priced, root);
	debit(list_make1(item), root);
	add_charge(charged, item);
	trial.charged = run->charged = *charged;
	dp_run_inner(&trial, root);
	return dp_pilot_settle(trial.pilot, usual);
}

/* Starts what finds bounds for a run, before its debit. */
static void
start_finder(DpRun *run, DpPricedRelease *priced, EState *root)
{
	DpRun	   *finder = palloc(sizeof(DpRun));

	*finder = *run;
	finder->release = priced->finder->release;
	finder->priced = priced->finder;
	finder->tuples = NULL;
	finder->is_hidden = true;
	finder->desc = dp_finder_desc(finder->release);
	dp_start_inner(finder, finder->priced, root);
	run->finder = finder;
}

/* Finds the bounds for a run, which are paid for, and starts its inner plan with these. */
static void
run_finder(DpRun *run, EState *root)
{
	DpRun	   *finder = run->finder;

	finder->charged = run->charged;
	finder->payer = run->payer;
	dp_run_inner(finder, root);
	run->priced->found = dp_read_found(finder);
	tuplestore_end(finder->rows);
	finder->rows = NULL;
	dp_settle_found(run->priced, root);
	dp_start_inner(run, run->priced, root);
}

/*
 * Refuses (ZC002) parameters that are too long to be put into a tuple of the
 * inner run, and such that take too much memory when each of so many releases
 * has its copy.  Arrays are lists to compare with, and never put into tuples.
 */
static void
check_parameters(ParamListInfo params, int releases)
{
	int64		allowed = (int64) dp_guc_release_memory * 1024;
	int64		bytes = 0;

	for (int i = 0; params && i < params->numParams; i++)
	{
		ParamExternData workspace;
		ParamExternData *p = params->paramFetch
		? params->paramFetch(params, i + 1, false, &workspace) : &params->params[i];

		if (p->isnull || !OidIsValid(p->ptype) || get_typlen(p->ptype) != -1)
			continue;
		bytes += dp_value_bytes(p->value);
		if (!OidIsValid(get_element_type(p->ptype)) && dp_value_bytes(p->value) > DP_MAX_TEXT)
			ereport(ERROR,
					(errcode(ERRCODE_DP_NOT_RELEASABLE),
					 errmsg("parameter $%d is longer than %d bytes, which a private query cannot take; make it shorter",
							i + 1, DP_MAX_TEXT)));
	}
	if (bytes > allowed / Max(releases, 1))
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_RELEASABLE),
				 errmsg("the parameters of this query take %s, times %d for its releases, and dp_cdp.release_memory allows %s; "
						"make lists shorter, ask for fewer releases at once, or ask the administrator to raise it",
						dp_memory_text(bytes), releases, dp_memory_text(allowed))));
}

/*
 * Computes the rows that inner plans join with, and the tuples of keys, by
 * which prices are settled anew.
 */
static void
read_public_inputs(List *runs, List *releases, EState *root)
{
	ListCell   *lc,
			   *priced;

	forboth(lc, runs, priced, releases)
	{
		DpRun	   *run = lfirst(lc);

		/* declared keys alone are public, and read nothing else */
		if (run->release->columns != NIL || dp_has_public_queries(run->release))
			dp_run_prefetches(run);
		/* it may be set between two fetches */
		run->timezone = pstrdup(GetConfigOption("TimeZone", false, false));
		run->tuples = dp_find_key_tuples(run->release, root, run->prefetched, run->timezone);
		if (run->tuples != NULL)
			lfirst(priced) = dp_price_release(run->release, root, NULL, run->tuples);
	}
}

/*
 * Debits everything the statement may release and has not paid yet.  Whatever
 * can fail for a reason of the query's own comes before: prices and bounds,
 * then the rows that inner plans join with, and the start of their executors.
 */
static void
pay_statement(EState *root)
{
	MemoryContext old = MemoryContextSwitchTo(root->es_query_cxt);
	List	   *items = NIL;
	List	   *unpaid = NIL;
	List	   *releases = NIL; /* DpPricedRelease of the unpaid ones */
	DpCharge	charged = {0};
	dlist_iter	iter;
	ListCell   *run,
			   *priced,
			   *item;

	dlist_foreach(iter, &live_runs)
	{
		LiveRun    *live = dlist_container(LiveRun, node, iter.cur);

		if (live->run.root == root && live->run.priced == NULL)
			unpaid = lappend(unpaid, &live->run);
	}
	/* more than what is called between here and there takes */
	dp_stack_check(64 * 1024);
	check_parameters(root->es_param_list_info, list_length(unpaid));
	foreach(run, unpaid)
		releases = lappend(releases, dp_price_release(((DpRun *) lfirst(run))->release, root, NULL, dp_tuples_later));
	read_public_inputs(unpaid, releases, root);
	/* the asker's code has run for the last time before rows are read */
	forboth(run, unpaid, priced, releases)
	{
		DpRelease  *release = ((DpRun *) lfirst(run))->release;
		Oid			owner = ((DpPricedRelease *) lfirst(priced))->dataset->owner;

		dp_hold_objects(release, owner, false);
		if (release->finder != NULL)
			dp_hold_objects(release->finder, owner, false);
		dp_check_unique_keys(release, root->es_snapshot);
	}
	forboth(run, unpaid, priced, releases)
	{
		DpRelease  *release = ((DpRun *) lfirst(run))->release;

		if (dp_target_needs_pilot(release))
			lfirst(priced) = dp_price_release(release, root, run_pilot(lfirst(run), lfirst(priced), root, &charged),
											((DpRun *) lfirst(run))->tuples);
	}
	forboth(run, unpaid, priced, releases)
	{
		((DpRun *) lfirst(run))->charged = charged;
		dp_start_inner(lfirst(run), lfirst(priced), root);
		if (((DpPricedRelease *) lfirst(priced))->finder == NULL)
			continue;
		/* it can be started, and will be when it has bounds */
		dp_end_inner(lfirst(run));
		start_finder(lfirst(run), lfirst(priced), root);
	}
	foreach(priced, releases)
	{
		DpPricedRelease *release = lfirst(priced);

		if (release->finder != NULL)
			items = lappend(items, dp_priced_debit(release->finder));
		if (release->ncolumns > 0)
			items = lappend(items, dp_priced_debit(release));
	}
	if (items != NIL)
		debit(items, root);
	foreach(item, items)
		add_charge(&charged, lfirst(item));
	forboth(run, unpaid, priced, releases)
	{
		((DpRun *) lfirst(run))->charged = charged;
		((DpRun *) lfirst(run))->priced = lfirst(priced);
		((DpRun *) lfirst(run))->payer = GetUserId();
	}
	foreach(run, unpaid)
	{
		if (((DpRun *) lfirst(run))->finder != NULL)
			run_finder(lfirst(run), root);
	}
	foreach(priced, releases)
		dp_report_release(lfirst(priced), priced == list_head(releases));
	MemoryContextSwitchTo(old);
}

static void
release_begin(CustomScanState *node, EState *estate, int eflags)
{
	DpReleaseState *state = (DpReleaseState *) node;

	state->read_pointer = -1;
	state->row = ExecInitExtraTupleSlot(estate, node->ss.ss_ScanTupleSlot->tts_tupleDescriptor,
										&TTSOpsMinimalTuple);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
	{
		/* the plan may be older than the loss of the budget */
		if (!dp_release_is_readable(state->release))
			dp_check_payer(state->release->dataset);
		return;
	}

	if (IsInParallelMode() || IsParallelWorker())
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_RELEASABLE),
				 errmsg("private aggregates cannot be released inside a parallel plan; "
						"mark the function that asks for them PARALLEL UNSAFE")));
	/* a debit for each row would tell how many there are */
	if (dp_inner_is_running())
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_RELEASABLE),
				 errmsg("private aggregates cannot be asked for by a function that runs on rows of a protected table; "
						"remove the function with dp_cdp.disallow_function")));
	if (dp_explain_analyze_depth > 0 && !dp_release_is_readable(state->release))
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_RELEASABLE),
				 errmsg("EXPLAIN ANALYZE of private aggregates needs SELECT on the protected table; "
						"use EXPLAIN without ANALYZE, which shows their price and noise"),
				 errdetail("What EXPLAIN ANALYZE prints depends on protected rows.")));
	state->run = enter_run(root_estate(estate), state->release);

	/*
	 * the first to begin belongs to the root, those of EvalPlanQual end
	 * before it
	 */
	if (state->run->desc == NULL)
		state->run->desc = node->ss.ss_ScanTupleSlot->tts_tupleDescriptor;
}

static TupleTableSlot *
release_next(ScanState *node)
{
	DpReleaseState *state = (DpReleaseState *) node;
	EState	   *estate = node->ps.state;
	DpRun	   *run = state->run;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;
	int			natts = slot->tts_tupleDescriptor->natts;

	if (!run->done)
	{
		if (run->priced == NULL)
			pay_statement(run->root);
		dp_run_inner(run, run->root);
	}
	if (state->read_pointer < 0)
	{
		state->read_pointer = tuplestore_alloc_read_pointer(run->rows,
															EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD);
		tuplestore_select_read_pointer(run->rows, state->read_pointer);
		tuplestore_rescan(run->rows);
	}

	ExecClearTuple(slot);
	tuplestore_select_read_pointer(run->rows, state->read_pointer);
	if (!tuplestore_gettupleslot(run->rows, ScanDirectionIsForward(estate->es_direction),
								 false, state->row))
		return slot;
	slot_getallattrs(state->row);
	memcpy(slot->tts_values, state->row->tts_values, natts * sizeof(Datum));
	memcpy(slot->tts_isnull, state->row->tts_isnull, natts * sizeof(bool));
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
	if (state->read_pointer >= 0)
	{
		tuplestore_select_read_pointer(state->run->rows, state->read_pointer);
		tuplestore_rescan(state->run->rows);
	}
}

/* Ends a node; stored rows belong to the root EState and go when its node ends. */
static void
release_end(CustomScanState *node)
{
	DpReleaseState *state = (DpReleaseState *) node;

	if (state->row)
		ExecClearTuple(state->row);
	if (state->run == NULL || state->run->root != node->ss.ps.state)
		return;
	dp_end_inner(state->run);
	dp_end_prefetches(state->run);
	if (state->run->rows)
	{
		tuplestore_end(state->run->rows);
		state->run->rows = NULL;
	}
}

DpRelease *
dp_release_of_state(CustomScanState *node)
{
	return ((DpReleaseState *) node)->release;
}

DpRun *
dp_run_of_state(CustomScanState *node)
{
	return ((DpReleaseState *) node)->run;
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

/* Tells whether the statement has releases, and sets what it was charged for them so far. */
static bool
find_charge(EState *root, DpCharge *charged)
{
	dlist_iter	iter;
	bool		found = false;

	dlist_foreach(iter, &live_runs)
	{
		LiveRun    *live = dlist_container(LiveRun, node, iter.cur);

		if (live->run.root != root)
			continue;
		/* each run knows of the whole statement; one that has not paid yet knows less */
		if (!found || live->run.charged.rho > charged->rho)
			*charged = live->run.charged;
		found = true;
	}
	return found;
}

/* Has every error of a statement with releases say what it was charged. */
static void
release_executor_run(DP_EXECUTOR_RUN_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	DpCharge	charged;

	if (!find_charge(desc->estate, &charged))
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
		(void) find_charge(desc->estate, &charged);
		dp_charge_rethrow(caller, &charged);
	}
	PG_END_TRY();
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
