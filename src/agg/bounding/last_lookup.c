/*-------------------------------------------------------------------------
 *
 * last_lookup.c
 *	  The plan node that keeps the last row looked up.
 *
 * Rows that lie in the order of the rows that they refer to often ask for the same one several times in
 * a row, as items of an order do.  The node stands above a lookup of at most one row
 * by a key (lookups.c) and answers from that row as long as the key stays the same.  Memoize does so for
 * many keys, and pays for a table of them with each: too much where
 * none comes twice.
 *
 * The row is not copied: it is the lookup's own, which is left alone until another key comes.
 *
 * Invariants:
 *	- the lookup returns at most one row for a key, so that it is never asked for a second one;
 *	- whatever else the lookup depends on, a change of it forgets the row;
 *	- a key is the same only if its bytes are: where they are not, the lookup is repeated.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "agg/bounding/asked.h"
#include "base/compat.h"

#define DP_LAST_LOOKUP_NODE "DpLastLookup"

/* one expression of the key, and its value when the row was looked up */
typedef struct LookupKey
{
	ExprState  *expr;
	Datum		value;
	bool		isnull;
} LookupKey;

typedef struct LastLookup
{
	CustomScanState css;
	PlanState  *lookup;
	int			nkeys;
	LookupKey  *keys;
	Bitmapset  *params;			/* that keys are made of */
	bool		is_known;		/* the scan tuple is what the keys find */
	bool		is_returned;	/* it has left, if there is one */
	uint64		repeats;
} LastLookup;

/* ------------------------------------------------------------------------
 * Planning
 * ------------------------------------------------------------------------
 */

static Plan *
plan_last_lookup(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
				 List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);

	/* the lookup has checked all clauses */
	scan->custom_plans = custom_plans;
	scan->custom_scan_tlist = copyObject(((Plan *) linitial(custom_plans))->targetlist);
	scan->custom_exprs = copyObject(path->custom_private);
	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = 0;
	scan->flags = path->flags;
	scan->methods = &dp_last_lookup_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods last_lookup_path_methods = {
	.CustomName = DP_LAST_LOOKUP_NODE,
	.PlanCustomPath = plan_last_lookup
};

/* Returns the columns of other relations that the lookup of a row reads; *byval: are they passed by value. */
static List *
lookup_keys(const IndexPath *lookup, bool *byval)
{
	List	   *keys = NIL;

	*byval = true;
	foreach_ptr(RestrictInfo, clause, lookup->path.param_info->ppi_clauses)
	{
		foreach_ptr(Node, key, pull_var_clause((Node *) clause->clause, PVC_INCLUDE_PLACEHOLDERS))
		{
			if (IsA(key, Var) && ((Var *) key)->varno == lookup->path.parent->relid)
				continue;
			*byval &= get_typbyval(exprType(key));
			keys = list_append_unique(keys, key);
		}
	}
	return keys;
}

/*
 * Returns a path with the rows of a lookup of at most one row, at its cost; the lookup itself where the node cannot
 * tell that the row is the same, or enable_memoize says that it is not wanted.
 */
Path *
dp_last_lookup_path(IndexPath *lookup)
{
	CustomPath *path;
	RelOptInfo *rel = lookup->path.parent;
	bool		byval;
	List	   *keys = lookup_keys(lookup, &byval);

	if (!byval || !enable_memoize || contain_volatile_functions((Node *) lookup->path.param_info->ppi_clauses) ||
		contain_volatile_functions((Node *) rel->baserestrictinfo) ||
		contain_volatile_functions((Node *) rel->reltarget->exprs))
		return &lookup->path;
	path = makeNode(CustomPath);
	path->path = lookup->path;
	path->path.type = T_CustomPath;
	path->path.pathtype = T_CustomScan;
	path->path.pathkeys = NIL;
	path->flags = DP_CUSTOMPATH_PROJECTION;
	path->custom_paths = list_make1(lookup);
	path->custom_private = keys;
	path->methods = &last_lookup_path_methods;
	return &path->path;
}

/* ------------------------------------------------------------------------
 * Execution
 * ------------------------------------------------------------------------
 */

static void
last_lookup_begin(CustomScanState *css, EState *estate, int eflags)
{
	LastLookup *node = (LastLookup *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;

	node->lookup = ExecInitNode(linitial(plan->custom_plans), estate, eflags);
	css->custom_ps = list_make1(node->lookup);
	node->keys = palloc0(list_length(plan->custom_exprs) * sizeof(LookupKey));
	foreach_ptr(Expr, expr, plan->custom_exprs)
	{
		node->keys[node->nkeys++].expr = ExecInitExpr(expr, &css->ss.ps);
		node->params = bms_add_members(node->params, pull_paramids(expr));
	}
}

/* Evaluates the keys; returns whether they are those of the row that is known. */
static bool
read_keys(LastLookup *node)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	bool		same = node->is_known;

	ResetExprContext(econtext);
	for (int i = 0; i < node->nkeys; i++)
	{
		LookupKey  *key = &node->keys[i];
		bool		isnull;
		Datum		value = ExecEvalExprSwitchContext(key->expr, econtext, &isnull);

		same &= isnull == key->isnull && (isnull || value == key->value);
		key->value = value;
		key->isnull = isnull;
	}
	return same;
}

/* Looks up the row, into the scan tuple: its columns stay where the lookup has them. */
static void
look_up(LastLookup *node)
{
	TupleTableSlot *row = ExecProcNode(node->lookup);
	TupleTableSlot *scan = node->css.ss.ss_ScanTupleSlot;

	ExecClearTuple(scan);
	if (!TupIsNull(row))
	{
		int			n = scan->tts_tupleDescriptor->natts;

		slot_getsomeattrs(row, n);
		memcpy(scan->tts_values, row->tts_values, n * sizeof(Datum));
		memcpy(scan->tts_isnull, row->tts_isnull, n * sizeof(bool));
		ExecStoreVirtualTuple(scan);
	}
	node->is_known = true;
}

static TupleTableSlot *
last_lookup_exec(CustomScanState *css)
{
	LastLookup *node = (LastLookup *) css;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;

	CHECK_FOR_INTERRUPTS();
	if (node->is_returned)
		return NULL;
	if (!node->is_known)
		look_up(node);
	node->is_returned = true;
	if (TupIsNull(css->ss.ss_ScanTupleSlot) || css->ss.ps.ps_ProjInfo == NULL)
		return css->ss.ss_ScanTupleSlot;
	ResetExprContext(econtext);
	econtext->ecxt_scantuple = css->ss.ss_ScanTupleSlot;
	return ExecProject(css->ss.ps.ps_ProjInfo);
}

static void
last_lookup_rescan(CustomScanState *css)
{
	LastLookup *node = (LastLookup *) css;

	node->is_returned = false;
	node->is_known &= bms_is_subset(css->ss.ps.chgParam, node->params);
	if (read_keys(node))
	{
		node->repeats++;
		return;
	}
	node->is_known = false;
	if (css->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(node->lookup, css->ss.ps.chgParam);
	/* otherwise its first row rescans it */
	if (node->lookup->chgParam == NULL)
		ExecReScan(node->lookup);
}

static void
last_lookup_end(CustomScanState *css)
{
	ExecEndNode(((LastLookup *) css)->lookup);
}

/* Shows the keys and, once it has run, how many rows needed no lookup of their own. */
static void
last_lookup_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	LastLookup *node = (LastLookup *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, (Plan *) plan, ancestors);
	List	   *keys = NIL;

	foreach_ptr(Node, expr, plan->custom_exprs)
		keys = lappend(keys, deparse_expression(expr, context, true, false));
	ExplainPropertyList("Lookup Key", keys, es);
	if (es->analyze)
		ExplainPropertyUInteger("Repeats", NULL, node->repeats, es);
}

static const CustomExecMethods last_lookup_exec_methods = {
	.CustomName = DP_LAST_LOOKUP_NODE,
	.BeginCustomScan = last_lookup_begin,
	.ExecCustomScan = last_lookup_exec,
	.EndCustomScan = last_lookup_end,
	.ReScanCustomScan = last_lookup_rescan,
	.ExplainCustomScan = last_lookup_explain
};

static Node *
create_state(CustomScan *plan)
{
	LastLookup *node = (LastLookup *) newNode(sizeof(LastLookup), T_CustomScanState);

	node->css.methods = &last_lookup_exec_methods;
	return (Node *) node;
}

const CustomScanMethods dp_last_lookup_methods = {
	.CustomName = DP_LAST_LOOKUP_NODE,
	.CreateCustomScanState = create_state
};
