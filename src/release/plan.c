/*-------------------------------------------------------------------------
 *
 * plan.c
 *	  How a release gets into the outer plan.
 *
 * The guard leaves an RTE_NAMEDTUPLESTORE in the outer query: it carries the
 * types, needs no catalog entry, is never parallel safe, takes no quals and
 * proves no uniqueness.  Here its only path becomes the custom scan.
 *
 * Invariants: a release is found by its unguessable name and only while the
 * planner runs that was started for it; its cost and row estimate depend on
 * the query and the policy alone, never on data.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/noise.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/array.h"
#include "utils/memutils.h"

#define RELEASE_NAME_PREFIX "dp_cdp release "

/* the releases that the planner run of one level may turn into nodes */
typedef struct PlanFrame
{
	List	   *releases;
	struct PlanFrame *outer;
} PlanFrame;

static PlanFrame *plan_stack = NULL;
static set_rel_pathlist_hook_type prev_set_rel_pathlist = NULL;

void
dp_release_plan_begin(List *releases)
{
	PlanFrame  *frame = MemoryContextAlloc(TopMemoryContext, sizeof(PlanFrame));

	frame->releases = releases;
	frame->outer = plan_stack;
	plan_stack = frame;
}

void
dp_release_plan_end(void)
{
	PlanFrame  *frame = plan_stack;

	Assert(frame != NULL);
	plan_stack = frame->outer;
	pfree(frame);
}

char *
dp_release_new_name(void)
{
	uint64		nonce[2];

	dp_noise_bytes(nonce, sizeof(nonce));
	return psprintf(RELEASE_NAME_PREFIX UINT64_FORMAT "-" UINT64_FORMAT, nonce[0], nonce[1]);
}

static DpRelease *
find_release(const char *name)
{
	if (plan_stack == NULL || name == NULL)
		return NULL;
	foreach_ptr(DpRelease, release, plan_stack->releases)
	{
		if (strcmp(release->name, name) == 0)
			return release;
	}
	return NULL;
}

/* Estimates the rows of the answer from the policy, for the planner only. */
static double
estimate_rows(DpRelease *release)
{
	double		rows = 1;

	for (int i = 0; i < list_length(release->keys); i++)
		if (dp_key_set_of(release, i) == NULL)
			rows *= 100;
	foreach_ptr(DpKeySet, set, release->key_sets)
	{
		ArrayType  *domain;

		if (set->domain == NULL)
		{
			rows *= set->plan->planTree->plan_rows;
			continue;
		}
		domain = DatumGetArrayTypeP(set->domain->constvalue);
		rows *= ArrayGetNItems(ARR_NDIM(domain), ARR_DIMS(domain)) + (set->null_key ? 1 : 0);
	}
	return clamp_row_est(Min(rows, 1e7));
}

static Plan *
plan_release(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
			 List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	ListCell   *type,
			   *typmod,
			   *collation;
	AttrNumber	attno = 0;

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = extract_actual_clauses(clauses, false);
	scan->scan.scanrelid = 0;
	scan->flags = best_path->flags;
	scan->custom_private = best_path->custom_private;
	scan->methods = &dp_release_scan_methods;
	forthree(type, rte->coltypes, typmod, rte->coltypmods, collation, rte->colcollations)
	{
		attno++;
		scan->custom_scan_tlist =
			lappend(scan->custom_scan_tlist,
					makeTargetEntry((Expr *) makeVar(rel->relid, attno, lfirst_oid(type),
													 lfirst_int(typmod), lfirst_oid(collation), 0),
									attno, NULL, false));
	}
	return &scan->scan.plan;
}

static const CustomPathMethods release_path_methods = {
	.CustomName = DP_RELEASE_NODE,
	.PlanCustomPath = plan_release
};

/* Puts the path of a release in the place of all others. */
static pg_noinline void
replace_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	DpRelease  *release = find_release(rte->enrname);
	CustomPath *path;

	if (prev_set_rel_pathlist)
		prev_set_rel_pathlist(root, rel, rti, rte);
	if (release == NULL)
		return;
	rel->rows = estimate_rows(release);
	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = rel->reltarget;
	path->path.param_info = NULL;
	path->path.parallel_safe = false;
	path->path.rows = rel->rows;
	path->path.startup_cost = 100;
	path->path.total_cost = 100 + rel->rows * cpu_tuple_cost;
	path->flags = CUSTOMPATH_SUPPORT_BACKWARD_SCAN | DP_CUSTOMPATH_PROJECTION;
	path->custom_private = list_make1(release);
	path->methods = &release_path_methods;

	rel->pathlist = NIL;
	rel->partial_pathlist = NIL;
	rel->consider_parallel = false;
	add_path(rel, &path->path);
}

static void
release_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (unlikely(rte->rtekind == RTE_NAMEDTUPLESTORE))
		replace_paths(root, rel, rti, rte);
	else if (prev_set_rel_pathlist)
		prev_set_rel_pathlist(root, rel, rti, rte);
}

static void
adopt_plan(PlannedStmt *outer, PlannedStmt *plan)
{
	PlannedStmt *copy = copyObject(plan);

	dp_append_range_table(outer, copy);
	outer->relationOids = list_concat_unique_oid(outer->relationOids, copy->relationOids);
	outer->invalItems = list_concat(outer->invalItems, copy->invalItems);
	outer->transientPlan |= copy->transientPlan;
}

void
dp_release_adopt_inner(PlannedStmt *outer, List *releases)
{
	foreach_ptr(DpRelease, release, releases)
	{
		adopt_plan(outer, release->inner);
		if (release->estimator != NULL)
			adopt_plan(outer, release->estimator->inner);
		foreach_ptr(DpPrefetch, prefetch, release->prefetches)
			adopt_plan(outer, prefetch->plan);
		foreach_ptr(DpKeySet, set, dp_public_sets(release))
		{
			if (set->plan != NULL)
				adopt_plan(outer, set->plan);
		}
	}
	outer->dependsOnRole = true;
}

void
dp_release_init(void)
{
	dp_debug_messages_init();
	dp_release_register_nodes();
	RegisterCustomScanMethods(&dp_release_scan_methods);
	prev_set_rel_pathlist = set_rel_pathlist_hook;
	set_rel_pathlist_hook = release_pathlist;
	dp_release_params_init();
	dp_release_exec_init();
	dp_objects_init();
}
