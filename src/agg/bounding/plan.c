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
 *	  done here.
 *
 * The node returns what a ProjectSet over an Agg would: a row of keys, values and
 * codes for each group that a unit keeps.  So its path is one of the level's final
 * paths (UPPERREL_FINAL).  When the hook is called for these, those of PostgreSQL are
 * there, whose estimates are used, and the level above has chosen none yet.
 * The path's input is the cheapest one of the level's FROM and WHERE, which is
 * found by the tables that it joins, and already returns what grouping reads.
 *
 * What the hook sees.  The final target has the calls of bound_key, bound_value and so on,
 * each with the Aggref of bound_unit inside, as the parser left them, and
 * the unit.  The paths below return the unit and the plain columns that the arguments
 * read.  The child keeps that list, or all columns of its table, and custom_scan_tlist
 * is the child's list with the calls behind it.  set_customscan_references() then
 * makes Vars of that list (INDEX_VAR) out of the arguments, in custom_exprs, and
 * out of the calls and the unit in the target list: whatever matches an
 * entry by equal(), as above an Agg.  The calls in custom_scan_tlist are never
 * evaluated, like those in a fdw_scan_tlist; node.c reads them there.
 *
 * Who gets the node: any query with a bound_spec that is a constant or a
 * parameter.  Only a release and superusers (make_bound_spec, in tests) have one.
 *
 * Invariants:
 *	- a query has the same rows by this node as by an Agg, bit for
 *	  bit: choosing is about time alone;
 *	- rows of equal keys leave added up (group_sums.c) only where nothing reads the unit
 *	  and the level above only sums up the values of equal keys, so that it cannot tell.
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
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
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

/* one level's grouping by the unit with bound_unit, and the columns of its rows */
typedef struct BoundCall
{
	PathTarget *target;			/* the columns and the unit */
	Aggref	   *aggref;
	List	   *calls;			/* of the columns' functions */
	List	   *columns;		/* kind and number of each, in turn */
} BoundCall;

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
	return dp_own_c_function(transition) == function;
}

static Node *
argument(const Aggref *aggref, int i)
{
	return (Node *) list_nth_node(TargetEntry, aggref->args, i)->expr;
}

/*
 * Tells whether arguments.c can read the arguments: later than others of its node, so none has a
 * subplan.  Nor one that is volatile: rows that the rank leaves out are not computed.
 */
static bool
can_read(const Aggref *aggref)
{
	Node	   *spec = argument(aggref, 0);

	return ((IsA(spec, Param) && ((Param *) spec)->paramkind == PARAM_EXTERN) ||
			(IsA(spec, Const) && !((Const *) spec)->constisnull)) &&
		!contain_subplans((Node *) aggref->args) && !contain_volatile_functions((Node *) aggref->args);
}

static bool
is_bound_unit(const Aggref *aggref)
{
	return aggref->aggsplit == AGGSPLIT_SIMPLE && aggref->aggfilter == NULL &&
		aggref->aggorder == NIL && aggref->aggdistinct == NIL && list_length(aggref->args) >= 2 &&
		can_read(aggref) && is_transition(aggref->aggfnoid, dp_bound_unit);
}

/* Tells whether expr is a column of rows of units, and which, and of what call of bound_unit. */
static bool
is_row_column(Expr *expr, DpRowColumn *column, Aggref **aggref)
{
	FuncExpr   *call = (FuncExpr *) expr;
	PGFunction	function;
	Const	   *i;

	if (!IsA(expr, FuncExpr) || !call->funcretset || list_length(call->args) < 2 || !IsA(lsecond(call->args), Aggref))
		return false;
	*aggref = lsecond(call->args);
	function = dp_own_c_function(call->funcid);
	if (function == dp_bound_key)
		column->kind = DP_COLUMN_KEY;
	else if (function == dp_bound_value)
		column->kind = DP_COLUMN_VALUE;
	else if (function == dp_bound_codes)
		column->kind = DP_COLUMN_CODES;
	else if (function == dp_bound_distinct_codes)
		column->kind = DP_COLUMN_DISTINCT_CODES;
	else
		return false;
	if (column->kind == DP_COLUMN_VALUE && !equal(lthird(call->args), argument(*aggref, 0)))
		return false;
	i = linitial(call->args);
	if (!IsA(i, Const) || i->constisnull)
		return false;
	column->i = DatumGetInt32(i->constvalue);
	return true;
}

/* Describes what the target has beside the units; false where that is something else than columns of rows of one bound_unit. */
static bool
find_call(PlannerInfo *root, PathTarget *target, BoundCall *found)
{
	ListCell   *lc;

	memset(found, 0, sizeof(BoundCall));
	found->target = target;
	foreach(lc, target->exprs)
	{
		DpRowColumn column;
		Aggref	   *aggref;

		if (get_sortgroupref_clause_noerr(get_pathtarget_sortgroupref(target, foreach_current_index(lc)), DP_GROUP_CLAUSE(root)) != NULL)
			continue;
		if (!is_row_column(lfirst(lc), &column, &aggref))
			return false;
		if (found->aggref == NULL && !is_bound_unit(aggref))
			return false;
		if (found->aggref != NULL && !equal(found->aggref, aggref))
			return false;
		found->aggref = aggref;
		found->calls = lappend(found->calls, lfirst(lc));
		found->columns = lappend_int(lappend_int(found->columns, column.kind), column.i);
	}
	return found->aggref != NULL;
}

/* Returns the columns of the input by which the level groups, if unit_key.c tells them apart as GROUP BY does; else NIL. */
static List *
find_units(PlannerInfo *root, const PathTarget *input)
{
	List	   *units = NIL;
	ListCell   *lc;

	foreach(lc, DP_GROUP_CLAUSE(root))
	{
		SortGroupClause *clause = lfirst(lc);
		Node	   *unit = NULL;
		DpKeyInfo	info;

		for (int i = 0; i < list_length(input->exprs); i++)
			if (get_pathtarget_sortgroupref(input, i) == clause->tleSortGroupRef)
				unit = list_nth(input->exprs, i);
		if (unit == NULL || !dp_key_info_init(&info, exprType(unit), exprCollation(unit), CurrentMemoryContext) ||
			lookup_type_cache(exprType(unit), TYPECACHE_EQ_OPR)->eq_opr != clause->eqop)
			return NIL;
		units = lappend(units, unit);
	}
	return units;
}

/* Returns which of the units the first argument after the spec is, from 0; -1: none. */
static int
unit_argument(const Aggref *aggref, List *units)
{
	ListCell   *lc;

	foreach(lc, units)
		if (equal(lfirst(lc), argument(aggref, 1)))
			return foreach_current_index(lc);
	return -1;
}

/* Tells whether no unit is among the arguments, as far as is known: a spec that is a parameter says so when it runs. */
static bool
may_have_no_unit(const Aggref *aggref)
{
	const Const *spec = (Const *) argument(aggref, 0);
	const DpBoundSpec *bound;

	if (!IsA(spec, Const))
		return true;
	bound = (const DpBoundSpec *) DatumGetPointer(spec->constvalue);
	return list_length(aggref->args) == 1 + bound->nkeys + bound->nvalues;
}

static bool
is_column(const Node *node, const List *kinds, DpColumnKind kind)
{
	const Var  *var = (const Var *) node;

	return IsA(node, Var) && var->varlevelsup == 0 && var->varattno > 0 && var->varattno <= list_length(kinds) &&
		list_nth_int(kinds, var->varattno - 1) == (int) kind;
}

/* Tells whether an expression over the rows can tell equal keys' rows from their sum: context has the kinds of columns. */
static bool
tells_rows(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		Aggref	   *aggref = (Aggref *) node;

		return !is_transition(aggref->aggfnoid, dp_steps_sum) || aggref->aggfilter != NULL || aggref->aggdistinct != NIL ||
			!is_column(argument(aggref, 0), context, DP_COLUMN_VALUE);
	}
	if (IsA(node, Var))
		return !is_column(node, context, DP_COLUMN_KEY);
	return expression_tree_walker(node, tells_rows, context);
}

/*
 * Tells whether the query is the usual one: its only columns are keys and
 * values, and the level above, of which it is all that FROM has, sums up
 * values by keys.
 */
static bool
adds_up(PlannerInfo *root)
{
	PlannerInfo *above = root->parent_root;
	Query	   *outer = above != NULL ? above->parse : NULL;
	List	   *kinds = NIL;
	RangeTblRef *ref;
	ListCell   *lc;

	if (outer == NULL || !outer->hasAggs || outer->havingQual != NULL || outer->groupingSets != NIL ||
		outer->jointree->quals != NULL || list_length(outer->jointree->fromlist) != 1)
		return false;
	/* subqueries in expressions are planned before there are arrays of tables */
	ref = linitial(outer->jointree->fromlist);
	if (!IsA(ref, RangeTblRef) || above->simple_rte_array == NULL ||
		above->simple_rte_array[ref->rtindex]->rtekind != RTE_SUBQUERY || above->simple_rte_array[ref->rtindex]->inh)
		return false;
	foreach(lc, root->processed_tlist)
	{
		TargetEntry *tle = lfirst(lc);
		DpRowColumn column;
		Aggref	   *aggref;

		if (tle->resjunk)
			continue;
		if (!is_row_column(tle->expr, &column, &aggref))
			return false;
		kinds = lappend_int(kinds, column.kind);
	}
	return !contain_volatile_functions((Node *) above->processed_tlist) &&
		!tells_rows((Node *) above->processed_tlist, kinds);
}

/* Returns the bytes that rows take while they are set aside, by estimate. */
static double
record_bytes(const Aggref *aggref, double rows)
{
	double		width = sizeof(uint32) + sizeof(uint64);

	for (int i = 1; i < list_length(aggref->args); i++)
		if (!IsA(argument(aggref, i), Const))
			width += get_typavgwidth(exprType(argument(aggref, i)), exprTypmod(argument(aggref, i)));
	return width * rows;
}

/* What the node costs that makes so many rows of so many units. */
static void
cost_bounding(PlannerInfo *root, Path *path, const Path *input, const Aggref *aggref, double units, double rows)
{
	double		memory = (double) work_mem * hash_mem_multiplier * 1024.0;
	double		bytes = record_bytes(aggref, input->rows);
	QualCost	args;

	cost_qual_eval_node(&args, (Node *) aggref->args, root);
	path->rows = rows;
	path->startup_cost = input->total_cost + args.startup +
		(args.per_tuple + ROW_OPERATORS * cpu_operator_cost) * input->rows;
	/* records are written once and read once, unless memory is very short */
	if (bytes > memory)
		path->startup_cost += 2 * seq_page_cost * bytes / BLCKSZ;
	/* as an Agg and a ProjectSet have it */
	path->total_cost = path->startup_cost + cpu_tuple_cost * units + cpu_tuple_cost / 2 * Max(rows - units, 0);
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
	List	   *calls = linitial(path->custom_private);
	List	   *settings = list_copy_tail(path->custom_private, 2);
	Aggref	   *aggref = lsecond(linitial_node(FuncExpr, calls)->args);
	List	   *units = NIL;
	ListCell   *lc;

	omit_projection(root, child);
	foreach(lc, (List *) lsecond(path->custom_private))
	{
		TargetEntry *column = tlist_member(lfirst(lc), child->targetlist);

		if (column == NULL)
			elog(ERROR, "the unit is not a column of the plan below " DP_BOUNDING_NODE);
		units = lappend_int(units, column->resno);
	}
	foreach(lc, child->targetlist)
	{
		TargetEntry *tle = lfirst(lc);

		scan->custom_scan_tlist = lappend(scan->custom_scan_tlist,
										  makeTargetEntry(copyObject(tle->expr), tle->resno, NULL, false));
	}
	foreach(lc, calls)
		scan->custom_scan_tlist = lappend(scan->custom_scan_tlist,
										  makeTargetEntry(copyObject(lfirst(lc)),
														  list_length(scan->custom_scan_tlist) + 1, NULL, false));
	foreach(lc, aggref->args)
		scan->custom_exprs = lappend(scan->custom_exprs, copyObject(((TargetEntry *) lfirst(lc))->expr));
	scan->custom_private = lcons(units, settings);
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

/* Returns how many processes a path's rows are divided among, as PostgreSQL estimates it: the leader has other work. */
static double
parallel_divisor(const Path *path)
{
	double		divisor = path->parallel_workers;

	if (divisor == 0)
		return 1;
	if (parallel_leader_participation)
		divisor += Max(1.0 - 0.3 * path->parallel_workers, 0);
	return divisor;
}

/*
 * Returns a path of the final target over input, which groups by the unit; NULL if the node cannot.
 * A partial input makes it partial, too: each group leaves one of the processes.
 */
static Path *
bounding_path(PlannerInfo *root, RelOptInfo *final_rel, Path *input, const BoundCall *call, double units, double rows)
{
	CustomPath *path;
	List	   *unit = find_units(root, input->pathtarget);
	int			argument = unit_argument(call->aggref, unit);
	double		divisor = parallel_divisor(input);

	/* ranks that start from something else would start anew in each row */
	if (input->param_info != NULL || unit == NIL || (argument < 0 && !may_have_no_unit(call->aggref)))
		return NULL;

	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = final_rel;
	path->path.pathtarget = call->target;
	path->path.parallel_safe = final_rel->consider_parallel && input->parallel_safe;
	path->path.parallel_workers = input->parallel_workers;
	path->path.parallel_aware = input->parallel_workers > 0;
	path->flags = DP_CUSTOMPATH_PROJECTION;
	path->custom_paths = list_make1(input);
	/* in the order of DpBoundingPrivate, but for the unit's columns */
	path->custom_private = list_make5(call->calls, unit, makeInteger(argument), makeInteger(adds_up(root)), call->columns);
	path->methods = &bounding_path_methods;
	cost_bounding(root, &path->path, input, call->aggref, clamp_row_est(units / divisor), clamp_row_est(rows / divisor));
	return &path->path;
}

/* Returns what the level's FROM and WHERE are planned as; NULL where that is nothing. */
static RelOptInfo *
scan_join_rel(PlannerInfo *root)
{
	Relids		relids = DP_ALL_RELIDS(root);
	int			one;

	if (bms_get_singleton_member(relids, &one))
		return find_base_rel(root, one);
	return bms_is_empty(relids) ? NULL : find_join_rel(root, relids);
}

/* Returns the upper rel of these paths for grouping the rows of these tables; NULL if nobody has made one. */
static RelOptInfo *
grouped_rel_of(PlannerInfo *root, Relids relids)
{
	ListCell   *lc;

	foreach(lc, root->upper_rels[UPPERREL_GROUP_AGG])
	{
		RelOptInfo *rel = lfirst(lc);

		if (bms_equal(rel->relids, relids))
			return rel;
	}
	return NULL;
}

/*
 * Returns a path that bounds each partition by itself, where PostgreSQL has found that none shares
 * units with others: then it has grouped each by itself.  Otherwise NULL.
 */
static Path *
partitionwise_path(PlannerInfo *root, RelOptInfo *final_rel, RelOptInfo *input_rel, PathTarget *target,
				   double rows_of_unit)
{
	List	   *paths = NIL;
	Path	   *append;
	int			i = -1;

	while ((i = bms_next_member(input_rel->live_parts, i)) >= 0)
	{
		RelOptInfo *child = input_rel->part_rels[i];
		RelOptInfo *grouped = grouped_rel_of(root, child->relids);
		PathTarget *child_target;
		AppendRelInfo **infos;
		int			ninfos;
		BoundCall	call;
		Path	   *path = NULL;
		double		units;

		if (IS_DUMMY_REL(child))
			continue;
		if (grouped == NULL || grouped->pathlist == NIL || child->cheapest_total_path == NULL)
			return NULL;
		infos = find_appinfos_by_relids(root, child->relids, &ninfos);
		child_target = copy_pathtarget(target);
		child_target->exprs = (List *) adjust_appendrel_attrs(root, (Node *) target->exprs, ninfos, infos);
		units = ((Path *) linitial(grouped->pathlist))->rows;
		if (find_call(root, child_target, &call))
			path = bounding_path(root, final_rel, child->cheapest_total_path, &call, units, units * rows_of_unit);
		if (path == NULL)
			return NULL;
		paths = lappend(paths, path);
	}
	if (paths == NIL)
		return NULL;
	append = (Path *) create_append_path(root, final_rel, paths, NIL, NIL, NULL, 0, false, -1);
	append->pathtarget = target;
	return append;
}

/* Adds paths where the level groups by the unit with bound_unit alone, and returns rows of its groups. */
static void
add_bounding(PlannerInfo *root, RelOptInfo *final_rel)
{
	PathTarget *target = root->upper_targets[UPPERREL_FINAL];
	RelOptInfo *input_rel;
	BoundCall	call;
	ProjectSetPath *sets;
	double		units;
	double		rows;
	Path	   *whole;
	Path	   *parts = NULL;
	Path	   *partial = NULL;

	if (DP_GROUP_CLAUSE(root) == NIL || final_rel->pathlist == NIL || !IsA(linitial(final_rel->pathlist), ProjectSetPath))
		return;
	sets = linitial(final_rel->pathlist);
	units = sets->subpath->rows;
	rows = sets->path.rows;
	input_rel = scan_join_rel(root);
	if (input_rel == NULL || input_rel->cheapest_total_path == NULL || !find_call(root, target, &call))
		return;
	whole = bounding_path(root, final_rel, input_rel->cheapest_total_path, &call, units, rows);
	if (whole == NULL)
		return;
	if (enable_partitionwise_aggregate && IS_PARTITIONED_REL(input_rel))
		parts = partitionwise_path(root, final_rel, input_rel, target, rows / units);
	if (final_rel->consider_parallel && input_rel->partial_pathlist != NIL)
		partial = bounding_path(root, final_rel, linitial(input_rel->partial_pathlist), &call, units, rows);
	/* these free paths that cost more */
	add_path(final_rel, whole);
	if (parts != NULL)
		add_path(final_rel, parts);
	if (partial != NULL)
		add_partial_path(final_rel, partial);
}

static void
bounding_upper_paths(PlannerInfo *root, UpperRelationKind stage,
					 RelOptInfo *input_rel, RelOptInfo *output_rel, void *extra)
{
	Query	   *parse = root->parse;

	if (prev_create_upper_paths)
		prev_create_upper_paths(root, stage, input_rel, output_rel, extra);
	/* what most queries have to pass is cheap */
	if (stage == UPPERREL_FINAL && dp_guc_bounding_node && parse->hasTargetSRFs && parse->hasAggs &&
		parse->commandType == CMD_SELECT && parse->groupingSets == NIL && parse->havingQual == NULL &&
		parse->sortClause == NIL && parse->distinctClause == NIL && !parse->hasWindowFuncs &&
		parse->limitCount == NULL && parse->limitOffset == NULL && parse->rowMarks == NIL)
		add_bounding(root, output_rel);
}

void
dp_bounding_init(void)
{
	RegisterCustomScanMethods(&dp_bounding_scan_methods);
	prev_create_upper_paths = create_upper_paths_hook;
	create_upper_paths_hook = bounding_upper_paths;
}
