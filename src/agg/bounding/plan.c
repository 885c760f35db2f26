/*-------------------------------------------------------------------------
 *
 * plan.c
 *	  Offers the planner a node that groups by the unit with bound_unit.
 *
 * Ways that were considered:
 *	- an AggState whose ExecProcNode is overwritten once it has started: it rests on
 *	  two dozen fields of nodeAgg's, and what the planner takes for the cost of
 *	  an Agg is not what runs, so that some plans had to be made twice;
 *	- planner_hook, exchanging the Agg in the finished plan: the choice between
 *	  one process and several has been made by then, by the wrong cost, and
 *	  references to columns are settled, so that all of them had to be mended;
 *	- create_upper_paths_hook, which is what FDWs push aggregates down by and what is
 *	  done here.  It is called when grouped_rel has all of PostgreSQL's own
 *	  paths, whose estimate of groups is used, and before the cheapest is chosen.
 *
 * What the hook sees.  bound_entries, which returns a set, has been split off:
 * grouped_rel->reltarget has the Aggref of bound_unit as the parser left it, whole,
 * and the unit.  The paths of input_rel return the unit and the plain columns that the arguments
 * read.  The child keeps that list, or all columns of its table, and custom_scan_tlist
 * is the child's list with the Aggref behind it.  set_customscan_references() then
 * makes Vars of that list (INDEX_VAR) out of the arguments, in custom_exprs, and
 * out of the Aggref and the unit in the target list: whatever matches an
 * entry by equal(), as above an Agg.  The Aggref in custom_scan_tlist is never
 * evaluated, like one in a fdw_scan_tlist; node.c reads its call from there.
 *
 * Who gets the node: any query with a bound_spec that is a constant or a
 * parameter.  Only a release and superusers (make_bound_spec, in tests) have one.
 *
 * Invariants:
 *	- a query has the same groups and states by this node as by an Agg, bit for
 *	  bit: choosing is about time alone;
 *	- states leave added up (group_sums.c) only where bound_entries, with the same
 *	  spec, is all that reads them, nothing reads the unit, and the level above
 *	  only sums up entries of equal keys, so that it cannot tell.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "agg/bounding/gather.h"
#include "base/extension.h"
#include "base/settings.h"

/*
 * What a row costs in gather.c, in cpu_operator_cost.  In nodeAgg it is the COST
 * of bound_unit_add and one for the hash.  With 2e6 rows of 2e5 units in random order both
 * together took 0.9 microseconds there and 0.27 here, beside 0.07 for the scan
 * (cpu_tuple_cost and less than a page).
 */
#define ROW_OPERATORS 14

static create_upper_paths_hook_type prev_create_upper_paths = NULL;

/* Tells whether a function is ours, and this one; looks nothing up of PostgreSQL's own, and loads no other library. */
static bool
is_function(Oid funcid, PGFunction function)
{
	FmgrInfo	info;

	if (funcid < FirstNormalObjectId || !dp_is_own(ProcedureRelationId, funcid))
		return false;
	fmgr_info(funcid, &info);
	return info.fn_addr == function;
}

static bool
is_transition(Oid aggregate, PGFunction function)
{
	HeapTuple	tuple;
	Oid			transition;

	if (aggregate < FirstNormalObjectId || !dp_is_own(ProcedureRelationId, aggregate))
		return false;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
	transition = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn;
	ReleaseSysCache(tuple);
	return is_function(transition, function);
}

static Node *
argument(const Aggref *aggref, int i)
{
	return (Node *) list_nth_node(TargetEntry, aggref->args, i)->expr;
}

/* Tells whether records can hold the arguments: see DpRecordFormat. */
static bool
can_store(const Aggref *aggref)
{
	Node	   *spec = argument(aggref, 0);
	int			stored = 0;

	if (!(IsA(spec, Param) && ((Param *) spec)->paramkind == PARAM_EXTERN) &&
		!(IsA(spec, Const) && !((Const *) spec)->constisnull))
		return false;
	for (int i = 1; i < list_length(aggref->args); i++)
	{
		if (get_typlen(exprType(argument(aggref, i))) == -2)
			return false;
		stored += !IsA(argument(aggref, i), Const);
	}
	/* one may be the unit, which does not count */
	return stored <= DP_MAX_STORED;
}

/* Returns the call of bound_unit that the target has beside the grouping column, and nothing else; else NULL. */
static Aggref *
find_call(const PathTarget *target, Index unit_ref)
{
	Aggref	   *aggref = NULL;
	ListCell   *lc;
	int			i = 0;

	foreach(lc, target->exprs)
	{
		if (IsA(lfirst(lc), Aggref) && aggref == NULL)
			aggref = lfirst(lc);
		else if (get_pathtarget_sortgroupref(target, i) != unit_ref)
			return NULL;
		i++;
	}
	if (aggref == NULL || aggref->aggsplit != AGGSPLIT_SIMPLE || aggref->aggfilter != NULL ||
		aggref->aggorder != NIL || aggref->aggdistinct != NIL || list_length(aggref->args) < 2 ||
		!can_store(aggref) || !is_transition(aggref->aggfnoid, dp_bound_unit))
		return NULL;
	return aggref;
}

/* Tells whether units are told apart by the bits of a word, as GROUP BY does it. */
static bool
is_word(Node *unit, const SortGroupClause *clause)
{
	Oid			type = exprType(unit);
	DpKeyInfo	info;

	return dp_key_info_init(&info, type, exprCollation(unit), CurrentMemoryContext) &&
		info.class == DP_KEY_WORD &&
		lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr == clause->eqop;
}

/* Tells whether something else than entry_key and entry_sum reads an entry, or how many there are. */
static bool
reads_entries(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr) && is_function(((FuncExpr *) node)->funcid, dp_entry_key))
		return false;
	if (IsA(node, Aggref))
		return !is_transition(((Aggref *) node)->aggfnoid, dp_entry_sum) || ((Aggref *) node)->aggfilter != NULL ||
			((Aggref *) node)->aggdistinct != NIL;
	if (IsA(node, Var))
		return true;
	return expression_tree_walker(node, reads_entries, context);
}

/*
 * Tells whether the query is the usual one: its only column are the entries of
 * the states, and the level above sums them up by their keys.
 */
static bool
adds_up(PlannerInfo *root)
{
	Query	   *parse = root->parse;
	PlannerInfo *above = root->parent_root;
	Query	   *outer = above != NULL ? above->parse : NULL;
	bool		found = false;
	ListCell   *lc;

	if (parse->sortClause != NIL || parse->distinctClause != NIL || parse->hasWindowFuncs || parse->limitCount != NULL ||
		parse->limitOffset != NULL || outer == NULL || !outer->hasAggs || outer->havingQual != NULL ||
		outer->groupingSets != NIL || outer->jointree->quals != NULL || list_length(outer->jointree->fromlist) != 1 ||
		!IsA(linitial(outer->jointree->fromlist), RangeTblRef) || reads_entries((Node *) above->processed_tlist, NULL))
		return false;
	foreach(lc, root->processed_tlist)
	{
		TargetEntry *tle = lfirst(lc);
		FuncExpr   *entries = (FuncExpr *) tle->expr;

		if (tle->resjunk)
			continue;
		if (found || !IsA(entries, FuncExpr) || list_length(entries->args) != 2 ||
			!IsA(linitial(entries->args), Aggref) || !is_function(entries->funcid, dp_bound_entries) ||
			!equal(lsecond(entries->args), argument((Aggref *) linitial(entries->args), 0)))
			return false;
		found = true;
	}
	return found;
}

/* Returns the bytes that rows take while they are set aside, by estimate. */
static double
record_bytes(const Aggref *aggref, double rows)
{
	double		width = DP_RECORD_UNIT + sizeof(uint64);

	for (int i = 1; i < list_length(aggref->args); i++)
		if (!IsA(argument(aggref, i), Const))
			width += get_typavgwidth(exprType(argument(aggref, i)), exprTypmod(argument(aggref, i)));
	return width * rows;
}

static void
cost_bounding(PlannerInfo *root, Path *path, const Path *input, const Aggref *aggref, double groups)
{
	double		memory = (double) work_mem * hash_mem_multiplier * 1024.0;
	double		bytes = record_bytes(aggref, input->rows);
	QualCost	args;

	cost_qual_eval_node(&args, (Node *) aggref->args, root);
	path->rows = groups;
	path->startup_cost = input->total_cost + args.startup +
		(args.per_tuple + ROW_OPERATORS * cpu_operator_cost) * input->rows;
	/* records are written once and read once, unless memory is very short */
	if (bytes > memory)
		path->startup_cost += 2 * seq_page_cost * bytes / BLCKSZ;
	path->total_cost = path->startup_cost + cpu_tuple_cost * groups;
	dp_path_count_disabled(path, input, enable_hashagg);
}

/* ------------------------------------------------------------------------
 * The plan
 * ------------------------------------------------------------------------
 */

/*
 * Has a scan return its table's columns as they are, as it does below an Agg:
 * without a projection its rows need not pass through its node (input.c).
 */
static void
omit_projection(PlannerInfo *root, Plan *plan)
{
	Scan	   *scan = (Scan *) plan;
	List	   *physical;
	ListCell   *lc;

	if (!IsA(plan, SeqScan) && !IsA(plan, IndexScan) && !IsA(plan, BitmapHeapScan))
		return;
	foreach(lc, plan->targetlist)
	{
		Var		   *var = (Var *) ((TargetEntry *) lfirst(lc))->expr;

		if (!IsA(var, Var) || var->varno != scan->scanrelid || var->varattno <= 0)
			return;
	}
	/* none where columns were dropped */
	physical = build_physical_tlist(root, find_base_rel(root, scan->scanrelid));
	if (physical != NIL)
		plan->targetlist = physical;
}

static Plan *
plan_bounding(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
			  List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *child = linitial(custom_plans);
	Aggref	   *aggref = linitial(path->custom_private);
	Node	   *unit = lsecond(path->custom_private);
	TargetEntry *column;
	ListCell   *lc;

	omit_projection(root, child);
	column = tlist_member((Expr *) unit, child->targetlist);
	if (column == NULL)
		elog(ERROR, "the unit is not a column of the plan below " DP_BOUNDING_NODE);
	foreach(lc, child->targetlist)
	{
		TargetEntry *tle = lfirst(lc);

		scan->custom_scan_tlist = lappend(scan->custom_scan_tlist,
										  makeTargetEntry(copyObject(tle->expr), tle->resno, NULL, false));
	}
	scan->custom_scan_tlist = lappend(scan->custom_scan_tlist,
									  makeTargetEntry((Expr *) copyObject(aggref),
													  list_length(child->targetlist) + 1, NULL, false));
	foreach(lc, aggref->args)
		scan->custom_exprs = lappend(scan->custom_exprs, copyObject(((TargetEntry *) lfirst(lc))->expr));
	scan->custom_private = list_make2_int(column->resno, intVal(lthird(path->custom_private)));
	scan->custom_plans = custom_plans;
	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = 0;
	scan->flags = path->flags;
	scan->methods = &dp_bounding_scan_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods bounding_path_methods = {
	.CustomName = DP_BOUNDING_NODE,
	.PlanCustomPath = plan_bounding
};

/* Adds the path where the level groups by one unit with bound_unit alone. */
static void
add_bounding(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel)
{
	List	   *clauses = DP_GROUP_CLAUSE(root);
	Path	   *input = input_rel->cheapest_total_path;
	SortGroupClause *clause;
	Aggref	   *aggref;
	Node	   *unit = NULL;
	CustomPath *path;

	if (list_length(clauses) != 1 || grouped_rel->pathlist == NIL || input == NULL || input->param_info != NULL)
		return;
	clause = linitial_node(SortGroupClause, clauses);
	aggref = find_call(grouped_rel->reltarget, clause->tleSortGroupRef);
	if (aggref == NULL)
		return;
	for (int i = 0; i < list_length(input->pathtarget->exprs); i++)
		if (get_pathtarget_sortgroupref(input->pathtarget, i) == clause->tleSortGroupRef)
			unit = list_nth(input->pathtarget->exprs, i);
	if (unit == NULL || !is_word(unit, clause))
		return;

	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = grouped_rel;
	path->path.pathtarget = grouped_rel->reltarget;
	path->path.parallel_safe = grouped_rel->consider_parallel && input->parallel_safe;
	path->flags = DP_CUSTOMPATH_PROJECTION;
	path->custom_paths = list_make1(input);
	path->custom_private = list_make3(aggref, unit, makeInteger(adds_up(root)));
	path->methods = &bounding_path_methods;
	cost_bounding(root, &path->path, input, aggref, ((Path *) linitial(grouped_rel->pathlist))->rows);
	add_path(grouped_rel, &path->path);
}

static void
bounding_upper_paths(PlannerInfo *root, UpperRelationKind stage,
					 RelOptInfo *input_rel, RelOptInfo *output_rel, void *extra)
{
	if (prev_create_upper_paths)
		prev_create_upper_paths(root, stage, input_rel, output_rel, extra);
	/* what most queries have to pass is cheap */
	if (stage == UPPERREL_GROUP_AGG && dp_guc_bounding_node && root->parse->hasAggs && root->parse->groupingSets == NIL &&
		root->parse->havingQual == NULL)
		add_bounding(root, input_rel, output_rel);
}

void
dp_bounding_init(void)
{
	RegisterCustomScanMethods(&dp_bounding_scan_methods);
	prev_create_upper_paths = create_upper_paths_hook;
	create_upper_paths_hook = bounding_upper_paths;
}
