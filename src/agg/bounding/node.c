/*-------------------------------------------------------------------------
 *
 * node.c
 *	  The plan node that aggregates with bound_unit: gather.c as a custom scan.
 *
 * plan.c puts the node where an Agg and a ProjectSet over it would be; its child is the Agg's.
 * A row of it is a group that a unit keeps, with the unit, as the two
 * would return it, or what several units add up to in a group.  Its scan tuple has the
 * columns of the child, a state, which is always NULL, and the columns of rows: so that the planner finds
 * the arguments of bound_unit, which read a row of the child, and the calls
 * of bound_key and so on, which the rows that leave are made of, in one list (custom_scan_tlist).
 *
 * Invariants:
 *	- privileges are checked as nodeAgg and ProjectSet check them, and columns of
 *	  rows as their functions would;
 *	- nothing is evaluated before the first row is asked for: EXPLAIN starts the
 *	  node without parameters;
 *	- a rescan begins anew, and what was gathered before is given back at once,
 *	  as it is when the last row has left;
 *	- files belong to the query's resource owner, all memory to contexts below
 *	  the query's, so that errors leave nothing.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "catalog/objectaccess.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "agg/bounding/gather.h"
#include "base/compat.h"

/* prefetch distance, in buckets, for a state */
#define FETCH_AHEAD 4

typedef struct DpBoundingState
{
	CustomScanState css;
	int			ncolumns;
	DpRowColumn *columns;		/* of rows, at the end of the scan tuple */
	bool		adds_up;
	dsm_segment *segment;		/* of workers, in the leader; NULL: there are
								 * none */
	DpShare    *reports;		/* in it: what workers say that they took */
	MemoryContextCallback forget;	/* calls forget_segment */
	DpBounding	bounding;
} DpBoundingState;

/* so many units leave as one at most: none of their sums exceeds what DpGroupSums takes of one unit of many groups */
#define MOST_ALIKE 1024

/*
 * Tells whether units with the same values are to leave together: counts of most units are small numbers, and what
 * a unit adds up to takes far longer than to see that another one had the same.
 */
static inline bool
joins_alike(const DpBounding *bounding)
{
	return bounding->table.in_place && bounding->output.sums != NULL && bounding->table.taken_at <= 2 * sizeof(uint64);
}

/* Has the units of an entry leave, and sets it to one unit, or none. */
static bool
leave_alike(DpOutput *output, DpAlike *alike, DpAlike next)
{
	output->bucket = alike->bucket;
	output->nalike = alike->n;
	*alike = next;
	return output->nalike > 0;
}

/* Has a unit wait for others that are alike; returns whether units leave for it, as output says. */
static inline bool
join_alike(DpBounding *bounding, uint64 at)
{
	const DpUnitTable *table = &bounding->table;
	DpAlike		unit = {.bucket = at, .n = 1};
	DpAlike    *alike;

	memcpy(&unit.word, dp_bucket(table, at) + sizeof(uint64), table->taken_at - sizeof(uint64));
	alike = &bounding->output.alike[dp_mix(unit.word) % DP_ALIKE];
	if (likely(alike->word == unit.word && alike->n > 0 && alike->n < MOST_ALIKE))
	{
		alike->n++;
		return false;
	}
	return leave_alike(&bounding->output, alike, unit);
}

/* Has the units leave that wait, when the table has no other; returns false where none do. */
static bool
leave_rest(DpOutput *output)
{
	const DpAlike none = {.n = 0};

	for (int i = 0; i < DP_ALIKE; i++)
		if (leave_alike(output, &output->alike[i], none))
			return true;
	return false;
}

/*
 * Returns the state of the next unit, gathering waiting partitions on the way; NULL at the end.  Output says how many units
 * it is of.
 */
static DpBoundState *
next_state(DpBounding *bounding)
{
	const DpUnitTable *table = &bounding->table;
	DpOutput   *output = &bounding->output;

	for (;;)
	{
		while (output->emitting && output->emitted <= table->nbuckets)
		{
			uint64		at = output->emitted++;

			if ((at & 0xFFFF) == 0)
				CHECK_FOR_INTERRUPTS();
			if (!table->in_place && at + FETCH_AHEAD < table->nbuckets)
			{
				const char *ahead = (char *) table->state_of[at + FETCH_AHEAD];

				__builtin_prefetch(ahead);
				__builtin_prefetch(ahead + 64);
			}
			if (!dp_has_state(table, at))
				continue;
			if (joins_alike(bounding))
			{
				if (join_alike(bounding, at))
					return dp_state_at(bounding, output->bucket);
				continue;
			}
			output->bucket = at;
			output->nalike = 1;
			return dp_state_at(bounding, at);
		}
		if (output->emitting && leave_rest(output))
			return dp_state_at(bounding, output->bucket);
		output->emitting = false;
		if (!dp_gather_partition(bounding))
			return NULL;
	}
}

/* ------------------------------------------------------------------------
 * Starting
 * ------------------------------------------------------------------------
 */

/* Returns the bytes that a process may use. */
Size
dp_bounding_limit(void)
{
	Size		limit = Min((double) work_mem * hash_mem_multiplier * 1024.0, (double) SIZE_MAX / 2);

	/* leave some for the rest of the query */
	return limit - limit / 16;
}

/* Fails unless states of the spec have the columns of rows, as their functions would with the first state. */
static void
check_columns(DpBoundingState *node)
{
	const DpBoundSpec *spec = node->bounding.spec;
	CustomScan *plan = (CustomScan *) node->css.ss.ps.plan;
	List	   *args = plan->custom_exprs;
	int			first = list_length(plan->custom_scan_tlist) - node->ncolumns;
	DpLayout	layout = {.nkeys = spec->nkeys, .nvalues = spec->nvalues};

	/* bound_unit itself refuses them, with the first row */
	if (list_length(args) < 1 + spec->nkeys + spec->nvalues)
		return;
	for (int i = 0; i < spec->nvalues; i++)
	{
		layout.codes[i] = dp_spec_codes(spec, i);
		if (dp_value_is_sum(spec, i))
			dp_set_sum(layout.sums, i);
	}
	for (int c = 0; c < node->ncolumns; c++)
	{
		Node	   *expr = (Node *) ((TargetEntry *) list_nth(plan->custom_scan_tlist, first + c))->expr;

		dp_check_row_column(&layout, node->columns[c]);
		if (node->columns[c].kind == DP_COLUMN_BIN && node->columns[c].i >= spec->nnorms)
			elog(ERROR, "bound_spec has no norm %d", node->columns[c].i);
		/* keys are followed by values alone */
		if (node->columns[c].kind == DP_COLUMN_KEY)
			dp_check_row_key(node->columns[c].i,
							 exprType(list_nth(args, list_length(args) - spec->nvalues - spec->nkeys + node->columns[c].i)),
							 exprType(expr));
	}
}

/* Reads the arguments of bound_unit, now that parameters are known. */
static void
read_arguments(DpBoundingState *node)
{
	DpBounding *bounding = &node->bounding;
	CustomScan *plan = (CustomScan *) node->css.ss.ps.plan;
	MemoryContext old;

	bounding->arguments = AllocSetContextCreate(node->css.ss.ps.state->es_query_cxt, "dp_cdp arguments of bound_unit",
												ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(bounding->arguments);
	dp_read_arguments(bounding, &node->css.ss.ps, plan->custom_exprs,
					  list_nth(plan->custom_private, DP_BOUNDING_UNITS),
					  intVal(list_nth(plan->custom_private, DP_BOUNDING_UNIT_ARGUMENT)),
					  ExecGetResultType(bounding->input.outer));
	check_columns(node);
	MemoryContextSwitchTo(old);
}

/* Makes ready to gather. */
static void
start(DpBoundingState *node)
{
	DpBounding *bounding = &node->bounding;
	MemoryContext old;

	if (bounding->arguments == NULL)
		read_arguments(node);
	bounding->context = AllocSetContextCreate(node->css.ss.ps.state->es_query_cxt, "dp_cdp rows of units",
											  ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(bounding->context);
	dp_plan_table(bounding);
	MemoryContextSwitchTo(old);
	bounding->limit = dp_bounding_limit();
	if (node->adds_up)
		bounding->output.sums = dp_group_sums_create(bounding->spec, DP_GROUP_SUMS_LIMIT(bounding->limit), bounding->context);

	/*
	 * for states, which take a quarter less than all of it as long as nothing
	 * is set aside
	 */
	if (bounding->output.sums != NULL)
		bounding->limit -= DP_GROUP_SUMS_LIMIT(bounding->limit) / 2;
	bounding->output.started = true;
}

/* Gives back all that was gathered; the next row asked for begins anew. */
static void
discard(DpBounding *bounding)
{
	if (bounding->context == NULL)
		return;
	ReScanExprContext(bounding->input.econtext);
	dp_close_files(bounding);
	MemoryContextDelete(bounding->context);
	bounding->context = NULL;
	memset(&bounding->table, 0, sizeof(bounding->table));
	memset(&bounding->pass, 0, sizeof(bounding->pass));
	memset(&bounding->output, 0, sizeof(bounding->output));
}

/* ------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------
 */

/*
 * Has the state at hand add up with others, or leave after those that it finds
 * no room beside.  Returns false when it is to leave as it is.
 */
static bool
add_up(DpOutput *output)
{
	if (dp_group_sums_add(output->sums, output->state, output->nalike))
		output->state = NULL;
	else if (!dp_group_sums_is_empty(output->sums))
		output->sums_leave = true;
	else
	{
		if (dp_group_sums_useless(output->sums))
		{
			dp_group_sums_free(output->sums);
			output->sums = NULL;
		}
		return false;
	}
	return true;
}

/* Sets the columns of the next row, and whether it is of one unit, that of the bucket; returns false at the end. */
static bool
next_row(DpBoundingState *node, Datum *values, bool *isnull, bool *of_one)
{
	DpBounding *bounding = &node->bounding;
	DpOutput   *output = &bounding->output;
	MemoryContext old;

	*of_one = false;
	for (;;)
	{
		if (output->sums_leave)
		{
			if (dp_group_sums_next(output->sums, node->columns, node->ncolumns, values, isnull))
				return true;
			output->sums_leave = false;
		}
		if (output->state == NULL)
		{
			output->state = next_state(bounding);
			output->group = 0;
		}
		if (output->state == NULL)
		{
			if (output->sums == NULL || dp_group_sums_is_empty(output->sums))
				return false;
			output->sums_leave = true;
			continue;
		}
		if (output->sums != NULL && output->group == 0 && add_up(output))
			continue;
		if (output->group == 0)
			dp_learn_layout(&output->layout, output->state);
		if (output->group < dp_state_rows(output->state, &output->layout))
			break;
		output->group = 0;
		if (--output->nalike == 0)
			output->state = NULL;
	}
	if (output->group == 0)
		dp_unit_norms(output->state, &output->layout, bounding->spec, &output->norms);
	old = MemoryContextSwitchTo(node->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	for (int c = 0; c < node->ncolumns; c++)
		values[c] = dp_entry_column(output->state, &output->layout, output->group, bounding->spec,
									&output->norms, node->columns[c], &isnull[c]);
	MemoryContextSwitchTo(old);
	output->group++;
	*of_one = true;
	return true;
}

/* Returns the next row, projected; what it points to lives until the next call. */
static TupleTableSlot *
emit(DpBoundingState *node)
{
	ScanState  *ss = &node->css.ss;
	TupleTableSlot *slot = ss->ss_ScanTupleSlot;
	int			columns = slot->tts_tupleDescriptor->natts - node->ncolumns;
	bool		of_one;

	ResetExprContext(ss->ps.ps_ExprContext);
	ExecClearTuple(slot);
	if (!next_row(node, slot->tts_values + columns, slot->tts_isnull + columns, &of_one))
		return NULL;
	memset(slot->tts_isnull, true, columns * sizeof(bool));
	if (of_one)
	{
		MemoryContext old = MemoryContextSwitchTo(ss->ps.ps_ExprContext->ecxt_per_tuple_memory);

		dp_unit_values(&node->bounding, node->bounding.output.bucket, slot->tts_values, slot->tts_isnull);
		MemoryContextSwitchTo(old);
	}
	ExecStoreVirtualTuple(slot);
	if (ss->ps.ps_ProjInfo == NULL)
		return slot;
	ss->ps.ps_ExprContext->ecxt_scantuple = slot;
	return ExecProject(ss->ps.ps_ProjInfo);
}

static TupleTableSlot *
bounding_exec(CustomScanState *css)
{
	DpBoundingState *node = (DpBoundingState *) css;
	DpBounding *bounding = &node->bounding;
	TupleTableSlot *slot;

	if (bounding->output.ended)
		return NULL;
	if (!bounding->output.started)
	{
		start(node);
		dp_gather_input(bounding);
	}
	slot = emit(node);
	if (slot == NULL)
	{
		discard(bounding);
		bounding->output.ended = true;
	}
	return slot;
}

/* ------------------------------------------------------------------------
 * The node
 * ------------------------------------------------------------------------
 */

static void
check_execute(Oid funcid, Oid role, ObjectType kind)
{
	if (!dp_may_execute(funcid, role))
		aclcheck_error(ACLCHECK_NO_PRIV, kind, get_func_name(funcid));
	InvokeFunctionExecuteHook(funcid);
}

/* Reads the columns of rows, checking privileges as nodeAgg and ProjectSet do. */
static void
begin_columns(DpBoundingState *node)
{
	CustomScan *plan = (CustomScan *) node->css.ss.ps.plan;
	List	   *columns = list_nth(plan->custom_private, DP_BOUNDING_COLUMNS);
	int			n = list_length(columns) / 2;
	int			first = list_length(plan->custom_scan_tlist) - n;

	node->ncolumns = n;
	node->columns = palloc(n * sizeof(DpRowColumn));
	check_execute(castNode(Aggref, list_nth_node(TargetEntry, plan->custom_scan_tlist, first - 1)->expr)->aggfnoid,
				  GetUserId(), OBJECT_AGGREGATE);
	for (int c = 0; c < n; c++)
	{
		TargetEntry *tle = list_nth_node(TargetEntry, plan->custom_scan_tlist, first + c);
		FuncExpr   *call = castNode(FuncExpr, tle->expr);

		check_execute(call->funcid, GetUserId(), OBJECT_FUNCTION);
		node->columns[c].kind = list_nth_int(columns, 2 * c);
		node->columns[c].i = list_nth_int(columns, 2 * c + 1);
	}
}

static void
bounding_begin(CustomScanState *css, EState *estate, int eflags)
{
	DpBoundingState *node = (DpBoundingState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	PlanState  *outer;

	/* a rescan gathers anew, and needs no cheap rescan of the child */
	outer = ExecInitNode(linitial(plan->custom_plans), estate, eflags & ~EXEC_FLAG_REWIND);
	css->custom_ps = list_make1(outer);
	node->adds_up = intVal(list_nth(plan->custom_private, DP_BOUNDING_ADDS_UP)) != 0;
	node->bounding.input.outer = outer;

	/*
	 * rows that leave are projected while one of the child may be needed
	 * still
	 */
	node->bounding.input.econtext = CreateExprContext(estate);
	begin_columns(node);

	/*
	 * arguments read rows as the child returns them; the projection of rows
	 * that leave is made already
	 */
	css->ss.ps.scanopsset = true;
	css->ss.ps.scanops = ExecGetResultSlotOps(outer, &css->ss.ps.scanopsfixed);
}

static void
bounding_end(CustomScanState *css)
{
	DpBoundingState *node = (DpBoundingState *) css;

	discard(&node->bounding);
	ExecEndNode(node->bounding.input.outer);
}

static void
bounding_rescan(CustomScanState *css)
{
	DpBoundingState *node = (DpBoundingState *) css;
	PlanState  *outer = node->bounding.input.outer;

	discard(&node->bounding);
	node->bounding.output.ended = false;
	if (css->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(outer, css->ss.ps.chgParam);
	/* otherwise its first row rescans it */
	if (outer->chgParam == NULL)
		ExecReScan(outer);
}

/* Shows by what is grouped and, once it has run, what that took: like a hashed Agg. */
static void
bounding_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	DpBoundingState *node = (DpBoundingState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	const DpBoundingUse *use = &node->bounding.use;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, (Plan *) plan, ancestors);
	List	   *keys = NIL;

	foreach_int(item, (List *) list_nth(plan->custom_private, DP_BOUNDING_UNITS))
	{
		TargetEntry *unit = list_nth(plan->custom_scan_tlist, item - 1);

		keys = lappend(keys, deparse_expression((Node *) unit->expr, context, list_length(es->rtable) > 1, false));
	}
	ExplainPropertyList("Group Key", keys, es);
	if (!es->analyze || use->passes == 0)
		return;
	if (es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyInteger("Units", NULL, use->units, es);
		ExplainPropertyInteger("Batches", NULL, use->passes, es);
		ExplainPropertyInteger("Peak Memory Usage", "kB", (use->memory + 1023) / 1024, es);
		ExplainPropertyInteger("Disk Usage", "kB", (use->disk + 1023) / 1024, es);
		return;
	}
	appendStringInfoSpaces(es->str, es->indent * 2);
	appendStringInfo(es->str, "Units: " UINT64_FORMAT "  Batches: " UINT64_FORMAT "  Memory Usage: " UINT64_FORMAT "kB",
					 use->units, use->passes, (uint64) (use->memory + 1023) / 1024);
	if (use->disk > 0)
		appendStringInfo(es->str, "  Disk Usage: " UINT64_FORMAT "kB", (use->disk + 1023) / 1024);
	appendStringInfoChar(es->str, '\n');
}

/* ------------------------------------------------------------------------
 * Parallel workers
 * ------------------------------------------------------------------------
 */

/*
 * The segment goes, in the leader: all workers have ended, and said what they
 * took.  Where a LIMIT ends the query early this node is shut down while they still run.
 */
static void
collect_use(dsm_segment *segment, Datum arg)
{
	DpBoundingState *node = (DpBoundingState *) DatumGetPointer(arg);

	dp_share_collect(node->reports, &node->bounding.use);
	node->segment = NULL;
}

/* The node's memory goes. */
static void
forget_segment(void *arg)
{
	DpBoundingState *node = arg;

	if (node->segment != NULL)
		cancel_on_dsm_detach(node->segment, collect_use, PointerGetDatum(node));
}

static Size
bounding_estimate_dsm(CustomScanState *css, ParallelContext *pcxt)
{
	return dp_share_size(pcxt->nworkers + 1);
}

static void
bounding_initialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	DpBoundingState *node = (DpBoundingState *) css;

	/* without a segment there are no workers, either */
	if (pcxt->seg == NULL)
		return;
	dp_share_init(coordinate, pcxt->nworkers + 1, dp_partition_bits(dp_bounding_limit(), 0), pcxt->seg);
	node->bounding.share = node->reports = coordinate;
	node->bounding.dsa = css->ss.ps.state->es_query_dsa;
	if (node->forget.func == NULL)
	{
		node->forget.func = forget_segment;
		node->forget.arg = node;
		MemoryContextRegisterResetCallback(css->ss.ps.state->es_query_cxt, &node->forget);
	}
	node->segment = pcxt->seg;
	on_dsm_detach(pcxt->seg, collect_use, PointerGetDatum(node));
}

static void
bounding_reinitialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	DpBoundingState *node = (DpBoundingState *) css;

	discard(&node->bounding);
	if (node->bounding.share == NULL)
		return;
	dp_share_collect(node->bounding.share, &node->bounding.use);
	dp_share_reset(node->bounding.share, node->bounding.dsa);
}

static void
bounding_initialize_worker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	DpBoundingState *node = (DpBoundingState *) css;

	dp_share_attach(coordinate);
	node->bounding.share = coordinate;
	node->bounding.dsa = css->ss.ps.state->es_query_dsa;
}

/* Lets go of shared memory, which ends before the node does. */
static void
bounding_shutdown(CustomScanState *css)
{
	DpBoundingState *node = (DpBoundingState *) css;
	DpShare    *share = node->bounding.share;

	if (share == NULL)
		return;
	discard(&node->bounding);
	node->bounding.output.ended = true;
	if (IsParallelWorker())
		dp_share_report(share, &node->bounding.use);
	node->bounding.share = NULL;
	node->bounding.dsa = NULL;
}

static const CustomExecMethods bounding_exec_methods = {
	.CustomName = DP_BOUNDING_NODE,
	.BeginCustomScan = bounding_begin,
	.ExecCustomScan = bounding_exec,
	.EndCustomScan = bounding_end,
	.ReScanCustomScan = bounding_rescan,
	.EstimateDSMCustomScan = bounding_estimate_dsm,
	.InitializeDSMCustomScan = bounding_initialize_dsm,
	.ReInitializeDSMCustomScan = bounding_reinitialize_dsm,
	.InitializeWorkerCustomScan = bounding_initialize_worker,
	.ShutdownCustomScan = bounding_shutdown,
	.ExplainCustomScan = bounding_explain
};

static Node *
create_state(CustomScan *plan)
{
	DpBoundingState *node = (DpBoundingState *) newNode(sizeof(DpBoundingState), T_CustomScanState);

	node->css.methods = &bounding_exec_methods;
	return (Node *) node;
}

const CustomScanMethods dp_bounding_scan_methods = {
	.CustomName = DP_BOUNDING_NODE,
	.CreateCustomScanState = create_state
};
