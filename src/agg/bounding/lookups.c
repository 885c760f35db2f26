/*-------------------------------------------------------------------------
 *
 * lookups.c
 *	  Offers the planner nested loops that look up one row in a unique index, at the cost of
 *	  reading the index in its order, where the rows that ask lie in that order.
 *
 * A row that belongs to whom a row of another table belongs to needs that row for its unit alone:
 * one lookup by a key.  Rows and the rows that they refer to were mostly made together, so that
 * those of one table lie as those of the other do, and successive lookups read the same
 * pages, or the next ones.  The planner counts each lookup as pages at random places all the same, and prefers
 * to hash the other table, however few of its rows are asked for.
 *
 * Invariants:
 *	- paths are ones that the planner makes itself, with another cost: what they return is the same;
 *	- only where units are bounded, that is, never for a query of somebody else's.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/compat.h"
#include "catalog/pg_statistic.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "agg/bounding/asked.h"
#include "base/settings.h"

static set_join_pathlist_hook_type prev_set_join_pathlist = NULL;

/* Returns how far a column's order is that of its table's rows, from -1 to 1; 0: not known. */
static double
correlation_of(PlannerInfo *root, Node *column)
{
	VariableStatData stats;
	AttStatsSlot slot;
	double		result = 0;

	examine_variable(root, column, 0, &stats);
	if (HeapTupleIsValid(stats.statsTuple) &&
		get_attstatsslot(&slot, stats.statsTuple, STATISTIC_KIND_CORRELATION, InvalidOid, ATTSTATSSLOT_NUMBERS))
	{
		if (slot.nnumbers == 1)
			result = slot.numbers[0];
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(stats);
	return result;
}

/* Tells whether a path returns its rows in the order in which those of table rti lie. */
static bool
keeps_order(const Path *path, Index rti)
{
	switch (nodeTag(path))
	{
		case T_Path:
			return path->pathtype == T_SeqScan && path->parent->relid == rti;
		case T_BitmapHeapPath:
			return path->parent->relid == rti;
		case T_NestPath:
			return keeps_order(((const NestPath *) path)->jpath.outerjoinpath, rti);
		case T_HashPath:
			return ((const HashPath *) path)->num_batches <= 1 && keeps_order(((const HashPath *) path)->jpath.outerjoinpath, rti);
		case T_ProjectionPath:
			return keeps_order(((const ProjectionPath *) path)->subpath, rti);
		case T_CustomPath:
			return dp_key_join_outer(path) != NULL && keeps_order(dp_key_join_outer(path), rti);
		default:
			return false;
	}
}

/*
 * Returns how far rows of a path lie in the order of the rows that a lookup finds for them, from 0 to 1, by the index's
 * first column.
 */
static double
common_order(PlannerInfo *root, const Path *asking, const IndexPath *lookup)
{
	foreach_ptr(IndexClause, clause, lookup->indexclauses)
	{
		OpExpr	   *op = (OpExpr *) clause->rinfo->clause;
		Node	   *found,
				   *asked;

		if (clause->indexcol != 0 || !IsA(op, OpExpr) || list_length(op->args) != 2)
			continue;
		found = strip_implicit_coercions(linitial(op->args));
		asked = strip_implicit_coercions(lsecond(op->args));
		if (IsA(asked, Var) && ((Var *) asked)->varno == lookup->indexinfo->rel->relid)
		{
			Node	   *other = found;

			found = asked;
			asked = other;
		}
		if (!IsA(asked, Var) || !IsA(found, Var) || !keeps_order(asking, ((Var *) asked)->varno))
			return 0;
		return fabs(correlation_of(root, asked) * correlation_of(root, found));
	}
	return 0;
}

/* Tells whether a path is a lookup of at most one row for each of the other relation's. */
static bool
is_lookup(const Path *path, Relids asking)
{
	const IndexPath *lookup = (const IndexPath *) path;
	Bitmapset  *columns = NULL;

	if (!IsA(path, IndexPath) || PATH_REQ_OUTER(path) == NULL || !bms_is_subset(PATH_REQ_OUTER(path), asking) ||
		!lookup->indexinfo->unique || !lookup->indexinfo->immediate)
		return false;
	foreach_ptr(IndexClause, clause, lookup->indexclauses)
	{
		if (!clause->lossy && IsA(clause->rinfo->clause, OpExpr) && clause->rinfo->mergeopfamilies != NIL)
			columns = bms_add_member(columns, clause->indexcol);
	}
	return bms_num_members(columns) == lookup->indexinfo->nkeycolumns;
}

/* Returns what one of many lookups costs whose rows lie in the order in which they are asked for. */
static Cost
cost_in_order(PlannerInfo *root, const IndexPath *lookup, double lookups)
{
	const IndexOptInfo *index = lookup->indexinfo;
	double		pages = index_pages_fetched(lookups, index->rel->pages, index->pages, root);

	return pages * seq_page_cost / lookups + cpu_index_tuple_cost + cpu_tuple_cost + index->rel->baserestrictcost.per_tuple +
		cpu_operator_cost * ceil(log(Max(index->tuples, 2)) / log(2.0));
}

/* Adds a nested loop over rows that ask and lookups, if these are in order and cost less than the planner thinks. */
static void
add_lookups(PlannerInfo *root, RelOptInfo *joinrel, JoinType jointype, JoinPathExtraData *extra, Path *outer, Path *inner, bool partial)
{
	double		lookups = Max(outer->rows, 1);
	double		order = common_order(root, outer, (IndexPath *) inner);
	Relids		required = calc_nestloop_required_outer(outer->parent->relids, PATH_REQ_OUTER(outer),
														inner->parent->relids, PATH_REQ_OUTER(inner));
	Cost		saved = order * order * (inner->total_cost - cost_in_order(root, (IndexPath *) inner, lookups));
	JoinCostWorkspace workspace;
	NestPath   *path;

	if (saved <= 0 || required != NULL)
		return;
	dp_initial_cost_nestloop(root, &workspace, jointype, outer, inner, extra, partial);
	path = create_nestloop_path(root, joinrel, jointype, &workspace, extra, outer, dp_last_lookup_path((IndexPath *) inner),
								extra->restrictlist, NIL, NULL);
	path->jpath.path.total_cost = Max(path->jpath.path.total_cost - saved * lookups, outer->total_cost);
	path->jpath.path.startup_cost = Min(path->jpath.path.startup_cost, path->jpath.path.total_cost);
	if (partial)
		add_partial_path(joinrel, (Path *) path);
	else
		add_path(joinrel, (Path *) path);
}

static void
lookups_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel,
					  JoinType jointype, JoinPathExtraData *extra)
{
	if (prev_set_join_pathlist)
		prev_set_join_pathlist(root, joinrel, outerrel, innerrel, jointype, extra);
	/* what most queries have to pass is cheap */
	if (!root->parse->hasAggs || (jointype != JOIN_INNER && jointype != JOIN_LEFT) || innerrel->reloptkind != RELOPT_BASEREL ||
		!dp_guc_bounding_node || !dp_bounds_units(root->parse))
		return;
	dp_add_key_join(root, joinrel, outerrel, innerrel, jointype, extra);
	foreach_ptr(Path, inner, innerrel->cheapest_parameterized_paths)
	{
		if (!is_lookup(inner, outerrel->relids))
			continue;
		if (outerrel->cheapest_total_path != NULL && PATH_REQ_OUTER(outerrel->cheapest_total_path) == NULL)
			add_lookups(root, joinrel, jointype, extra, outerrel->cheapest_total_path, inner, false);
		if (joinrel->consider_parallel && outerrel->partial_pathlist != NIL && inner->parallel_safe)
			add_lookups(root, joinrel, jointype, extra, linitial(outerrel->partial_pathlist), inner, true);
	}
}

void
dp_lookups_init(void)
{
	prev_set_join_pathlist = set_join_pathlist_hook;
	set_join_pathlist_hook = lookups_join_pathlist;
}
