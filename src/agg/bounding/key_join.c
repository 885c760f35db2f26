/*-------------------------------------------------------------------------
 *
 * key_join.c
 *	  The plan node that joins rows with the one row that a whole number names.
 *
 * A table whose rows belong to whom rows of another belong to is joined with that one in nearly each
 * query, by its key, for two columns.  PostgreSQL's hash join keeps whole tuples
 * and looks for each by way of a bucket: two places in memory that are hardly ever in a cache.
 * Here columns are words in arrays, and keys that lie close together, as those of a serial do,
 * are looked up in an array of row numbers: where rows lie in the order of those that they refer
 * to, one row's place is beside that of the row before it.
 *
 * Invariants:
 *	- the planner knows that the inner side has at most one row for a key (inner_unique), and that
 *	  nothing else is asked of a pair: so the rows are those of any other inner join;
 *	- keys are numbers of 16 to 64 bits and the operator is their equality; NULL has no match;
 *	- the inner side's columns are passed by value;
 *	- only where units are bounded, that is, never for a query of somebody else's.
 *
 * Under Gather each process joins its part of the outer rows; they read the inner side together (key_share.c).
 *
 * By estimate the arrays take at most a half of what a hash table may; where
 * there are more rows than that, they take more, in proportion to them.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/stratnum.h"
#include "catalog/pg_opfamily_d.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "agg/bounding/asked.h"
#include "agg/bounding/key_rows.h"
#include "base/compat.h"

#define DP_KEY_JOIN_NODE "DpKeyJoin"

typedef struct KeyJoin
{
	CustomScanState css;
	PlanState  *outer;
	PlanState  *inner;
	AttrNumber	outer_key;
	int16		outer_typlen;
	int			nouter;			/* columns of the outer side, of which so many
								 * are read */
	int			outer_read;
	DpKeyRows	rows;			/* of the inner side */
	DpKeyShare *share;			/* processes read it together; NULL: this one
								 * does */
	Size		memory;			/* that the rows took */
} KeyJoin;

/* ------------------------------------------------------------------------
 * Planning
 * ------------------------------------------------------------------------
 */

/* Tells whether a clause is the equality of two columns of whole numbers; sets them, that of the inner relation apart. */
static bool
read_clause(const RestrictInfo *clause, const RelOptInfo *innerrel, Node **outer_key, Node **inner_key)
{
	OpExpr	   *op = (OpExpr *) clause->clause;
	Node	   *left;
	Node	   *right;

	if (clause->pseudoconstant || !IsA(op, OpExpr) || list_length(op->args) != 2 ||
		get_op_opfamily_strategy(op->opno, INTEGER_BTREE_FAM_OID) != BTEqualStrategyNumber)
		return false;
	left = linitial(op->args);
	right = lsecond(op->args);
	if (!IsA(left, Var) || !IsA(right, Var))
		return false;
	*inner_key = ((Var *) left)->varno == innerrel->relid ? left : right;
	*outer_key = *inner_key == left ? right : left;
	return ((Var *) *inner_key)->varno == innerrel->relid && ((Var *) *outer_key)->varno != innerrel->relid &&
		((Var *) *inner_key)->varattno > 0 && ((Var *) *outer_key)->varattno > 0;
}

/* Tells whether all that the inner side returns are columns that are passed by value, and fits into memory by estimate. */
static bool
may_be_kept(const RelOptInfo *innerrel, const Path *inner)
{
	int			n = list_length(innerrel->reltarget->exprs);

	foreach_ptr(const Node, expr, innerrel->reltarget->exprs)
	{
		if (!IsA(expr, Var) || ((const Var *) expr)->varattno <= 0 || !get_typbyval(exprType(expr)))
			return false;
	}
	return n <= DP_KEY_ROW_COLUMNS && inner->rows < DP_MOST_KEY_ROWS / 2 &&
		inner->rows * (n * sizeof(Datum) + DP_PLACES_OF_ROW * sizeof(uint32)) <= get_hash_memory_limit() / 2;
}

static Plan *
plan_key_join(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
			  List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *outer = linitial(custom_plans);
	Plan	   *inner = lsecond(custom_plans);
	TargetEntry *outer_key;
	TargetEntry *inner_key;

	dp_omit_projection(root, outer);
	outer_key = tlist_member(linitial(path->custom_private), outer->targetlist);
	inner_key = tlist_member(lsecond(path->custom_private), inner->targetlist);
	if (outer_key == NULL || inner_key == NULL)
		elog(ERROR, "the key is not a column of the plans below " DP_KEY_JOIN_NODE);
	foreach_node(TargetEntry, tle, outer->targetlist)
		dp_add_scan_column(scan, copyObject(tle->expr));
	foreach_node(TargetEntry, tle, inner->targetlist)
		dp_add_scan_column(scan, copyObject(tle->expr));
	scan->custom_plans = custom_plans;
	/* for EXPLAIN alone */
	scan->custom_exprs = copyObject(path->custom_private);
	scan->custom_private = list_make2(makeInteger(outer_key->resno), makeInteger(inner_key->resno));
	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = 0;
	scan->flags = path->flags;
	scan->methods = &dp_key_join_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods key_join_path_methods = {
	.CustomName = DP_KEY_JOIN_NODE,
	.PlanCustomPath = plan_key_join
};

const Path *
dp_key_join_outer(const Path *path)
{
	return IsA(path, CustomPath) && ((const CustomPath *) path)->methods == &key_join_path_methods ?
		linitial(((const CustomPath *) path)->custom_paths) : NULL;
}

static CustomPath *
key_join_path(RelOptInfo *joinrel, Path *outer, Path *inner, Node *outer_key, Node *inner_key)
{
	CustomPath *path = makeNode(CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = joinrel;
	path->path.pathtarget = joinrel->reltarget;
	path->path.parallel_safe = joinrel->consider_parallel && outer->parallel_safe && inner->parallel_safe;
	path->path.rows = joinrel->rows;
	/* as a hash join of unique rows, which compares keys again in its buckets */
	path->path.startup_cost = outer->startup_cost + inner->total_cost + (cpu_operator_cost + cpu_tuple_cost) * inner->rows;
	path->path.total_cost = path->path.startup_cost + outer->total_cost - outer->startup_cost +
		cpu_operator_cost * outer->rows + joinrel->reltarget->cost.per_tuple * joinrel->rows;
	dp_path_count_disabled(&path->path, outer, true);
	dp_path_add_disabled(&path->path, inner);
	path->flags = DP_CUSTOMPATH_PROJECTION;
	path->custom_paths = list_make2(outer, inner);
	path->custom_private = list_make2(outer_key, inner_key);
	path->methods = &key_join_path_methods;
	return path;
}

/* Offers that each of several processes joins its part of the rows, with arrays that they made together. */
static void
add_partial(RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel, Node *outer_key, Node *inner_key)
{
	Path	   *outer;
	Path	   *inner;
	CustomPath *path;

	if (!joinrel->consider_parallel || !enable_parallel_hash || outerrel->partial_pathlist == NIL || innerrel->partial_pathlist == NIL)
		return;
	outer = linitial(outerrel->partial_pathlist);
	inner = linitial(innerrel->partial_pathlist);
	if (PATH_REQ_OUTER(outer) != NULL || PATH_REQ_OUTER(inner) != NULL || outerrel->rows <= 0)
		return;
	path = key_join_path(joinrel, outer, inner, outer_key, inner_key);
	path->path.parallel_aware = true;
	path->path.parallel_workers = outer->parallel_workers;
	path->path.rows = clamp_row_est(joinrel->rows * outer->rows / outerrel->rows);
	add_partial_path(joinrel, &path->path);
}

void
dp_add_key_join(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel,
				JoinType jointype, JoinPathExtraData *extra)
{
	Path	   *outer = outerrel->cheapest_total_path;
	Path	   *inner = innerrel->cheapest_total_path;
	Node	   *outer_key;
	Node	   *inner_key;

	if (jointype != JOIN_INNER || !extra->inner_unique || !enable_hashjoin || list_length(extra->restrictlist) != 1 ||
		outer == NULL || inner == NULL || PATH_REQ_OUTER(outer) != NULL || PATH_REQ_OUTER(inner) != NULL ||
		!bms_is_empty(joinrel->lateral_relids) ||
		!read_clause(linitial(extra->restrictlist), innerrel, &outer_key, &inner_key) || !may_be_kept(innerrel, inner))
		return;
	add_path(joinrel, &key_join_path(joinrel, outer, inner, outer_key, inner_key)->path);
	add_partial(joinrel, outerrel, innerrel, outer_key, inner_key);
}

/* ------------------------------------------------------------------------
 * The inner side
 * ------------------------------------------------------------------------
 */

/* Reads the inner side, or this process's part of it. */
static void
read_rows(KeyJoin *node)
{
	TupleTableSlot *row;

	dp_key_rows_start(&node->rows, node->css.ss.ps.state->es_query_cxt, node->inner->plan->plan_rows);
	while (row = ExecProcNode(node->inner), !TupIsNull(row))
	{
		slot_getallattrs(row);
		dp_key_rows_add(&node->rows, row);
	}
}

static void
read_inner(KeyJoin *node)
{
	if (node->share == NULL)
	{
		read_rows(node);
		dp_key_rows_complete(&node->rows);
	}
	else
	{
		if (dp_key_share_enter(node->share))
			read_rows(node);
		dp_key_share_complete(node->share, node->css.ss.ps.state->es_query_dsa, &node->rows);
	}
	node->memory = node->rows.nrows * node->rows.ncolumns * sizeof(Datum) + node->rows.at.n * sizeof(uint32);
}

/* ------------------------------------------------------------------------
 * Execution
 * ------------------------------------------------------------------------
 */

/* Returns the last column of the outer side that the node's own rows are made of, or its key. */
static int
last_column_read(const CustomScan *plan, int nouter, AttrNumber key)
{
	int			last = key;

	foreach_ptr(const Var, var, pull_var_clause((Node *) plan->scan.plan.targetlist, PVC_INCLUDE_PLACEHOLDERS | PVC_RECURSE_AGGREGATES))
	{
		if (!IsA(var, Var))
			return nouter;
		if (var->varattno <= nouter)
			last = Max(last, var->varattno);
	}
	return last;
}

static void
key_join_begin(CustomScanState *css, EState *estate, int eflags)
{
	KeyJoin    *node = (KeyJoin *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	TupleTableSlot *scan = css->ss.ss_ScanTupleSlot;
	TupleDesc	outer;
	TupleDesc	inner;

	node->outer = ExecInitNode(linitial(plan->custom_plans), estate, eflags);
	node->inner = ExecInitNode(lsecond(plan->custom_plans), estate, eflags);
	css->custom_ps = list_make2(node->outer, node->inner);
	outer = ExecGetResultType(node->outer);
	inner = ExecGetResultType(node->inner);
	node->nouter = outer->natts;
	node->outer_key = intVal(linitial(plan->custom_private));
	node->outer_typlen = TupleDescAttr(outer, node->outer_key - 1)->attlen;
	node->rows.ncolumns = inner->natts;
	node->rows.key = intVal(lsecond(plan->custom_private)) - 1;
	node->rows.typlen = TupleDescAttr(inner, node->rows.key)->attlen;
	node->outer_read = css->ss.ps.ps_ProjInfo == NULL ? node->nouter : last_column_read(plan, node->nouter, node->outer_key);
	memset(scan->tts_isnull, true, scan->tts_tupleDescriptor->natts * sizeof(bool));
}

/* Puts a row and the one that its key names together, in the scan tuple. */
static inline void
join_rows(KeyJoin *node, const TupleTableSlot *row, uint64 found)
{
	TupleTableSlot *scan = node->css.ss.ss_ScanTupleSlot;
	const DpKeyRows *rows = &node->rows;

	ExecClearTuple(scan);
	memcpy(scan->tts_values, row->tts_values, node->outer_read * sizeof(Datum));
	memcpy(scan->tts_isnull, row->tts_isnull, node->outer_read * sizeof(bool));
	for (int i = 0; i < rows->ncolumns; i++)
	{
		scan->tts_values[node->nouter + i] = rows->columns[found * rows->ncolumns + i];
		scan->tts_isnull[node->nouter + i] = rows->nulls != NULL && (rows->nulls[found] & (UINT32_C(1) << i)) != 0;
	}
	ExecStoreVirtualTuple(scan);
}

static TupleTableSlot *
key_join_exec(CustomScanState *css)
{
	KeyJoin    *node = (KeyJoin *) css;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;

	if (node->rows.places == NULL)
		read_inner(node);
	for (;;)
	{
		TupleTableSlot *row;
		uint64		found;

		CHECK_FOR_INTERRUPTS();
		row = ExecProcNode(node->outer);
		if (TupIsNull(row))
			return NULL;
		slot_getsomeattrs(row, node->outer_read);
		if (row->tts_isnull[node->outer_key - 1])
			continue;
		found = dp_find_key_row(&node->rows, dp_whole_number(row->tts_values[node->outer_key - 1], node->outer_typlen));
		if (found == 0)
			continue;
		join_rows(node, row, found - 1);
		if (css->ss.ps.ps_ProjInfo == NULL)
			return css->ss.ss_ScanTupleSlot;
		ResetExprContext(econtext);
		econtext->ecxt_scantuple = css->ss.ss_ScanTupleSlot;
		return ExecProject(css->ss.ps.ps_ProjInfo);
	}
}

static void
key_join_rescan(CustomScanState *css)
{
	KeyJoin    *node = (KeyJoin *) css;

	if (css->ss.ps.chgParam != NULL)
	{
		UpdateChangedParamSet(node->outer, css->ss.ps.chgParam);
		UpdateChangedParamSet(node->inner, css->ss.ps.chgParam);
	}
	/* otherwise its first row rescans it */
	if (node->outer->chgParam == NULL)
		ExecReScan(node->outer);
	if (node->share != NULL || node->inner->chgParam != NULL)
		dp_key_rows_forget(&node->rows);
	if (node->rows.places == NULL && node->inner->chgParam == NULL)
		ExecReScan(node->inner);
}

static void
key_join_end(CustomScanState *css)
{
	KeyJoin    *node = (KeyJoin *) css;

	dp_key_rows_forget(&node->rows);
	ExecEndNode(node->outer);
	ExecEndNode(node->inner);
}

static Size
key_join_estimate_dsm(CustomScanState *css, ParallelContext *pcxt)
{
	return dp_key_share_size();
}

static void
key_join_initialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	/* without a segment there are no workers, either */
	if (pcxt->seg == NULL)
		return;
	dp_key_share_init(coordinate);
	((KeyJoin *) css)->share = coordinate;
}

static void
key_join_reinitialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	KeyJoin    *node = (KeyJoin *) css;

	if (node->share == NULL)
		return;
	dp_key_rows_forget(&node->rows);
	dp_key_share_reset(node->share, css->ss.ps.state->es_query_dsa);
}

static void
key_join_initialize_worker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	((KeyJoin *) css)->share = coordinate;
}

/* Lets go of shared memory, which ends before the node does. */
static void
key_join_shutdown(CustomScanState *css)
{
	KeyJoin    *node = (KeyJoin *) css;

	if (node->share == NULL)
		return;
	dp_key_rows_forget(&node->rows);
	node->share = NULL;
}

/* Shows the keys and, once it has run, what the arrays took. */
static void
key_join_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	KeyJoin    *node = (KeyJoin *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, (Plan *) plan, ancestors);

	ExplainPropertyText("Key Cond", psprintf("(%s = %s)", deparse_expression(linitial(plan->custom_exprs), context, true, false),
											 deparse_expression(lsecond(plan->custom_exprs), context, true, false)), es);
	if (es->analyze && node->memory > 0)
		ExplainPropertyInteger("Memory Usage", "kB", (node->memory + 1023) / 1024, es);
}

static const CustomExecMethods key_join_exec_methods = {
	.CustomName = DP_KEY_JOIN_NODE,
	.BeginCustomScan = key_join_begin,
	.ExecCustomScan = key_join_exec,
	.EndCustomScan = key_join_end,
	.ReScanCustomScan = key_join_rescan,
	.EstimateDSMCustomScan = key_join_estimate_dsm,
	.InitializeDSMCustomScan = key_join_initialize_dsm,
	.ReInitializeDSMCustomScan = key_join_reinitialize_dsm,
	.InitializeWorkerCustomScan = key_join_initialize_worker,
	.ShutdownCustomScan = key_join_shutdown,
	.ExplainCustomScan = key_join_explain
};

static Node *
create_state(CustomScan *plan)
{
	KeyJoin    *node = (KeyJoin *) newNode(sizeof(KeyJoin), T_CustomScanState);

	node->css.methods = &key_join_exec_methods;
	return (Node *) node;
}

const CustomScanMethods dp_key_join_methods = {
	.CustomName = DP_KEY_JOIN_NODE,
	.CreateCustomScanState = create_state
};
