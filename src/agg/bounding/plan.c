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
 * Two levels of a query become the node: one that groups by the unit and returns
 * bound_unit's state of each, and the one above it, which takes states apart into rows
 * of keys, values and codes, one for each group that a unit keeps:
 *
 *	SELECT bound_key(0, state, NULL::type), bound_value(0, state, spec) ...
 *	FROM (SELECT bound_unit(spec, unit, keys, values) AS state FROM ... GROUP BY unit) units
 *
 * (with bound_unit in each column of a single level, what is planned would grow with the
 * square of the number of columns).  PostgreSQL's own plan is a ProjectSet over a SubqueryScan,
 * which goes as it does nothing, over an Agg.  Here the node is planned in the lower level, where
 * its input is, the cheapest path of that level's FROM and WHERE, found by the tables that it
 * joins.  But it returns the rows of the upper one, and a SubqueryScan that does nothing, either,
 * is the path of the upper level (UPPERREL_FINAL).  When the hook is called for this,
 * PostgreSQL's paths are there, whose estimates are used, and the level above them has chosen
 * none yet.  The lower level gets no path: those there return states.
 *
 * What the node's plan is made of.  The paths below return the unit and the plain columns that
 * the arguments of bound_unit read.  The child keeps that list, or all columns of its table, and
 * custom_scan_tlist is the child's list, then bound_unit, then the calls of bound_key and so on, which
 * refer to it.  set_customscan_references() makes Vars of that list (INDEX_VAR) out of
 * the arguments, in custom_exprs, and out of the calls and the unit in the target list: whatever
 * matches an entry by equal(), as above an Agg.  bound_unit and the calls in
 * custom_scan_tlist are never evaluated, like those in a fdw_scan_tlist; node.c reads them there, and
 * EXPLAIN shows them.
 *
 * Invariants:
 *	- a query has the same rows by this node as by an Agg, bit for
 *	  bit: choosing is about time alone.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/compat.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "agg/bounding/asked.h"
#include "base/settings.h"

/*
 * What a row costs in gather.c, in cpu_operator_cost.  In nodeAgg it is the COST
 * of bound_unit_add and one for the hash.  With 2e6 rows of 2e5 units in random order both
 * together took 0.9 microseconds there and 0.27 here, beside 0.07 for the scan
 * (cpu_tuple_cost and less than a page).
 */
#define ROW_OPERATORS 14

static create_upper_paths_hook_type prev_create_upper_paths = NULL;

/* Returns the columns of the input by which the level groups, if unit_key.c tells them apart as GROUP BY does; else NIL. */
static List *
find_units(PlannerInfo *root, const PathTarget *input)
{
	List	   *units = NIL;

	foreach_ptr(SortGroupClause, clause, DP_GROUP_CLAUSE(root))
	{
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
	foreach_ptr(Node, unit, units)
		if (equal(unit, dp_asked_argument(aggref, 1)))
		return foreach_current_index(unit);
	return -1;
}

/* Tells whether no unit is among the arguments, as far as is known: a spec that is a parameter says so when it runs. */
static bool
may_have_no_unit(const Aggref *aggref)
{
	const Const *spec = (Const *) dp_asked_argument(aggref, 0);
	const DpBoundSpec *bound;

	if (!IsA(spec, Const))
		return true;
	bound = (const DpBoundSpec *) DatumGetPointer(spec->constvalue);
	return list_length(aggref->args) == 1 + bound->nkeys + bound->nvalues;
}

/* Returns the bytes that rows take while they are set aside, by estimate. */
static double
record_bytes(const Aggref *aggref, double rows)
{
	double		width = sizeof(uint32) + sizeof(uint64);

	for (int i = 1; i < list_length(aggref->args); i++)
		if (!IsA(dp_asked_argument(aggref, i), Const))
			width += get_typavgwidth(exprType(dp_asked_argument(aggref, i)), exprTypmod(dp_asked_argument(aggref, i)));
	return width * rows;
}

/*
 * Returns how many of the rows that units keep leave a process: where they are added
 * up, hardly more than one for each group, if there are not too many of these.  The level above
 * knows no distribution of keys: it takes 200 values of each for granted, and as many groups as
 * these make, if there are rows enough.  So this decides what grouping there is estimated to cost.
 */
static double
rows_that_leave(const DpAskedRows *rows, const Path *input, double kept)
{
	int			nargs = list_length(rows->aggref->args);
	int			ncolumns = list_length(rows->columns) / 2;
	int			arguments = 0;
	int			bins = 0;
	List	   *keys = NIL;
	double		groups = 1;
	EstimationInfo estimation = {0};
	DpKeyInfo	info;

	if (!rows->adds_up)
		return kept;
	for (int c = 0; c < ncolumns; c++)
	{
		int			kind = list_nth_int(rows->columns, 2 * c);

		arguments += kind == DP_COLUMN_KEY || kind == DP_COLUMN_VALUE;
		bins += kind == DP_COLUMN_BIN;
	}
	if (arguments >= nargs)
		return kept;
	for (int c = 0; c < ncolumns; c++)
		if (list_nth_int(rows->columns, 2 * c) == DP_COLUMN_KEY)
			keys = lappend(keys, dp_asked_argument(rows->aggref, nargs - arguments + list_length(keys)));
	for (int i = 0; i < list_length(keys); i++)
		if (!dp_key_info_init(&info, exprType(list_nth(keys, i)), exprCollation(list_nth(keys, i)), CurrentMemoryContext))
			return kept;
	if (keys != NIL)
		groups = estimate_num_groups(rows->units, keys, input->rows, NULL, &estimation);

	/*
	 * if it was but a guess, too many rows to be sorted do more harm than too
	 * few
	 */
	if ((estimation.flags & SELFLAG_USED_DEFAULT) != 0)
		return kept;

	if (groups > dp_group_sums_most(DP_GROUP_SUMS_LIMIT(dp_bounding_limit()), ncolumns, bins))
		return kept;

	/* units' norms are in a few bins as a rule */
	return Min(bins > 0 ? groups * 8 : groups, kept);
}

/* What the node costs that makes so many rows of so many units, before they are added up. */
static void
cost_bounding(const DpAskedRows *rows, Path *path, const Path *input, double units, double kept)
{
	PlannerInfo *root = rows->units;
	const Aggref *aggref = rows->aggref;
	double		memory = (double) work_mem * hash_mem_multiplier * 1024.0;
	double		bytes = record_bytes(aggref, input->rows);
	QualCost	args;

	cost_qual_eval_node(&args, (Node *) aggref->args, root);
	path->rows = rows_that_leave(rows, input, kept);
	path->startup_cost = input->total_cost + args.startup +
		(args.per_tuple + ROW_OPERATORS * cpu_operator_cost) * input->rows;
	/* records are written once and read once, unless memory is very short */
	if (bytes > memory)
		path->startup_cost += 2 * seq_page_cost * bytes / BLCKSZ;
	/* as SS_charge_for_initplans() has it, which was there already */
	foreach_ptr(SubPlan, plan, root->init_plans)
		path->startup_cost += plan->startup_cost + plan->per_call_cost;
	/* as an Agg and a ProjectSet have it */
	path->total_cost = path->startup_cost + cpu_tuple_cost * units + cpu_tuple_cost / 2 * Max(kept - units, 0);
	dp_path_count_disabled(path, input, enable_hashagg);
}

/* ------------------------------------------------------------------------
 * The plan
 * ------------------------------------------------------------------------
 */

/* Returns the columns of the child that the units are. */
static List *
find_columns(List *units, const Plan *child)
{
	List	   *columns = NIL;

	foreach_ptr(Expr, item, units)
	{
		TargetEntry *column = tlist_member(item, child->targetlist);

		if (column == NULL)
			elog(ERROR, "the unit is not a column of the plan below " DP_BOUNDING_NODE);
		columns = lappend_int(columns, column->resno);
	}
	return columns;
}

static Plan *
plan_bounding(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
			  List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *child = linitial(custom_plans);
	Aggref	   *aggref = linitial(path->custom_private);
	Var		   *state;

	dp_omit_projection(root, child);
	foreach_ptr(TargetEntry, tle, child->targetlist)
		dp_add_scan_column(scan, copyObject(tle->expr));
	dp_add_scan_column(scan, aggref);
	state = makeVarFromTargetEntry(INDEX_VAR, llast(scan->custom_scan_tlist));
	foreach_ptr(TargetEntry, column, tlist)
	{
		/* no unit is a set */
		if (!IsA(column->expr, FuncExpr) || !((FuncExpr *) column->expr)->funcretset)
			continue;
		dp_add_scan_column(scan, dp_call_of_state((FuncExpr *) column->expr, state));
		column->expr = ((TargetEntry *) llast(scan->custom_scan_tlist))->expr;
	}
	foreach_ptr(TargetEntry, arg, aggref->args)
		scan->custom_exprs = lappend(scan->custom_exprs, copyObject(arg->expr));
	scan->custom_private = lcons(find_columns(lsecond(path->custom_private), child), list_copy_tail(path->custom_private, 2));
	scan->custom_plans = custom_plans;
	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = 0;
	scan->flags = path->flags;
	scan->methods = &dp_bounding_scan_methods;

	/*
	 * Of the level's paths this one has been chosen: it returns other columns
	 * than the others, and PostgreSQL is about to name what its plan returns.
	 */
	root->processed_tlist = tlist;
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

static PathTarget *
make_target(List *exprs, const PathTarget *like)
{
	PathTarget *target = makeNode(PathTarget);

	target->exprs = exprs;
	target->cost = like->cost;
	target->width = like->width;
	return target;
}

/*
 * Returns a path of the rows over input; NULL if the node cannot group it by the unit.
 * A partial input makes it partial, too: each group leaves one of the processes.
 */
static Path *
bounding_path(const DpAskedRows *rows, Path *input, PathTarget *target, double nunits, double nrows)
{
	PlannerInfo *root = rows->units;
	RelOptInfo *rel = fetch_upper_rel(root, UPPERREL_FINAL, NULL);
	CustomPath *path;
	List	   *unit = find_units(root, input->pathtarget);
	int			argument = unit_argument(rows->aggref, unit);
	double		divisor = parallel_divisor(input);

	/* ranks that start from something else would start anew in each row */
	if (input->param_info != NULL || unit == NIL || (argument < 0 && !may_have_no_unit(rows->aggref)))
		return NULL;

	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = target;
	path->path.parallel_safe = rel->consider_parallel && input->parallel_safe;
	path->path.parallel_workers = input->parallel_workers;
	path->path.parallel_aware = input->parallel_workers > 0;
	path->flags = DP_CUSTOMPATH_PROJECTION;
	path->custom_paths = list_make1(input);
	/* then those of DpBoundingPrivate, but for the unit's columns */
	path->custom_private = list_make5(rows->aggref, unit, makeInteger(argument), makeInteger(rows->adds_up), rows->columns);
	path->methods = &bounding_path_methods;
	cost_bounding(rows, &path->path, input, clamp_row_est(nunits / divisor), clamp_row_est(nrows / divisor));
	return &path->path;
}

/* Returns the path of the level above, whose rows are those of path, a path of the level that groups by the unit. */
static Path *
path_above(PlannerInfo *root, const DpAskedRows *rows, Path *path)
{
	SubqueryScanPath *scan = makeNode(SubqueryScanPath);
	List	   *columns = NIL;

	foreach_ptr(Node, expr, rows->exprs)
		columns = lappend(columns, makeVar(rows->rti, foreach_current_index(expr) + 1, exprType(expr),
										   exprTypmod(expr), exprCollation(expr), 0));
	scan->path.pathtype = T_SubqueryScan;
	scan->path.parent = find_base_rel(root, rows->rti);
	scan->path.pathtarget = make_target(columns, path->pathtarget);
	scan->path.parallel_safe = scan->path.parent->consider_parallel && path->parallel_safe;
	scan->path.parallel_workers = path->parallel_workers;
	scan->path.rows = path->rows;
	scan->path.startup_cost = path->startup_cost;
	scan->path.total_cost = path->total_cost;
	dp_path_count_disabled(&scan->path, path, true);
	scan->subpath = path;
	return &scan->path;
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
	foreach_ptr(RelOptInfo, rel, root->upper_rels[UPPERREL_GROUP_AGG])
	{
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
partitionwise_path(const DpAskedRows *rows, RelOptInfo *input_rel, PathTarget *target, double rows_of_unit)
{
	PlannerInfo *root = rows->units;
	List	   *paths = NIL;
	Path	   *append;
	int			i = -1;

	while ((i = bms_next_member(input_rel->live_parts, i)) >= 0)
	{
		RelOptInfo *child = input_rel->part_rels[i];
		RelOptInfo *grouped = grouped_rel_of(root, child->relids);
		AppendRelInfo **infos;
		int			ninfos;
		DpAskedRows part = *rows;
		Path	   *path;
		double		units;

		if (IS_DUMMY_REL(child))
			continue;
		if (grouped == NULL || grouped->pathlist == NIL || child->cheapest_total_path == NULL)
			return NULL;
		infos = find_appinfos_by_relids(root, child->relids, &ninfos);
		part.aggref = (Aggref *) adjust_appendrel_attrs(root, (Node *) rows->aggref, ninfos, infos);
		part.exprs = (List *) adjust_appendrel_attrs(root, (Node *) rows->exprs, ninfos, infos);
		units = ((Path *) linitial(grouped->pathlist))->rows;
		path = bounding_path(&part, child->cheapest_total_path, make_target(part.exprs, target), units, units * rows_of_unit);
		if (path == NULL)
			return NULL;
		paths = lappend(paths, path);
	}
	if (paths == NIL)
		return NULL;
	append = (Path *) dp_append_path(root, fetch_upper_rel(root, UPPERREL_FINAL, NULL), paths);
	append->pathtarget = target;
	return append;
}

/* Tells whether a level has no clauses beside FROM, WHERE and GROUP BY. */
static bool
has_no_more(const Query *query)
{
	return query->commandType == CMD_SELECT && query->groupingSets == NIL && query->havingQual == NULL &&
		query->sortClause == NIL && query->distinctClause == NIL && !query->hasWindowFuncs &&
		query->limitCount == NULL && query->limitOffset == NULL && query->rowMarks == NIL && query->setOperations == NULL;
}

/* Tells whether all that a level reads is a level below that groups by what may be the unit. */
static bool
reads_groups(const RelOptInfo *rel)
{
	const Query *query = rel != NULL && rel->rtekind == RTE_SUBQUERY && rel->subroot != NULL ? rel->subroot->parse : NULL;

	return query != NULL && rel->baserestrictinfo == NIL &&
		query->groupClause != NIL && query->hasAggs && !query->hasTargetSRFs && has_no_more(query);
}

/*
 * Returns a path of PostgreSQL's that takes states apart; NULL where there is none.  It is below a Gather where partitions
 * are grouped each by itself, by several processes.
 */
static const ProjectSetPath *
find_sets(const RelOptInfo *rel)
{
	foreach_ptr(const Path, path, rel->pathlist)
	{
		if (IsA(path, GatherPath))
			path = ((const GatherPath *) path)->subpath;
		if (IsA(path, ProjectSetPath))
			return (const ProjectSetPath *) path;
	}
	return NULL;
}

/*
 * Adds a partial path to a finished level.  Not by add_partial_path(), which frees partial paths that cost more: Gather
 * paths of the level, which were made before, read them.
 */
static void
add_finished_partial_path(RelOptInfo *rel, Path *path)
{
	int			at = 0;

	while (at < list_length(rel->partial_pathlist) &&
		   ((Path *) list_nth(rel->partial_pathlist, at))->total_cost <= path->total_cost)
		at++;
	rel->partial_pathlist = list_insert_nth(rel->partial_pathlist, at, path);
}

/* Adds paths where the level takes states of bound_unit apart, of a level that groups by the unit. */
static void
add_bounding(PlannerInfo *root, RelOptInfo *final_rel)
{
	RelOptInfo *units_rel = scan_join_rel(root);
	DpAskedRows rows = {0};
	RelOptInfo *input_rel;
	const ProjectSetPath *sets;
	PathTarget *target;
	double		nunits;
	double		nrows;
	Path	   *whole;
	Path	   *parts = NULL;
	Path	   *partial = NULL;

	if (!reads_groups(units_rel) || (sets = find_sets(final_rel)) == NULL)
		return;
	rows.units = units_rel->subroot;
	rows.rti = units_rel->relid;
	input_rel = scan_join_rel(rows.units);
	if (input_rel == NULL || input_rel->cheapest_total_path == NULL ||
		!dp_read_asked_rows(root->upper_targets[UPPERREL_FINAL], &rows))
		return;
	rows.adds_up = dp_asked_rows_add_up(root, &rows);
	target = make_target(rows.exprs, root->upper_targets[UPPERREL_FINAL]);
	nunits = sets->subpath->rows * parallel_divisor(&sets->path);
	nrows = sets->path.rows * parallel_divisor(&sets->path);
	whole = bounding_path(&rows, input_rel->cheapest_total_path, target, nunits, nrows);
	if (whole == NULL)
		return;
	if (enable_partitionwise_aggregate && IS_PARTITIONED_REL(input_rel))
		parts = partitionwise_path(&rows, input_rel, target, nrows / Max(nunits, 1));
	if (final_rel->consider_parallel && input_rel->partial_pathlist != NIL)
		partial = bounding_path(&rows, linitial(input_rel->partial_pathlist), target, nunits, nrows);
	/* this frees paths that cost more, which no other reads */
	add_path(final_rel, path_above(root, &rows, whole));
	if (parts != NULL)
		add_path(final_rel, path_above(root, &rows, parts));
	if (partial != NULL && partial->parallel_safe)
		add_finished_partial_path(final_rel, path_above(root, &rows, partial));
}

/* Adds paths that bound units to those of a query that makes rows of its target list. */
static pg_noinline void
bounding_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel, RelOptInfo *output_rel, void *extra)
{
	const Query *query = root->parse;

	if (prev_create_upper_paths)
		prev_create_upper_paths(root, stage, input_rel, output_rel, extra);
	if (stage == UPPERREL_FINAL && dp_guc_bounding_node && !query->hasAggs && query->groupClause == NIL && has_no_more(query))
		add_bounding(root, output_rel);
}

static void
bounding_upper_paths(PlannerInfo *root, UpperRelationKind stage,
					 RelOptInfo *input_rel, RelOptInfo *output_rel, void *extra)
{
	/* what most queries have to pass is cheap */
	if (unlikely(root->parse->hasTargetSRFs))
		bounding_paths(root, stage, input_rel, output_rel, extra);
	else if (prev_create_upper_paths)
		prev_create_upper_paths(root, stage, input_rel, output_rel, extra);
}

void
dp_bounding_init(void)
{
	RegisterCustomScanMethods(&dp_bounding_scan_methods);
	RegisterCustomScanMethods(&dp_last_lookup_methods);
	RegisterCustomScanMethods(&dp_key_join_methods);
	prev_create_upper_paths = create_upper_paths_hook;
	create_upper_paths_hook = bounding_upper_paths;
	dp_lookups_init();
}
