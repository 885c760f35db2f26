/*-------------------------------------------------------------------------
 *
 * child_plans.c
 *	  What the plans of DpBounding and DpKeyJoin have below them, and what their expressions are made of.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "nodes/makefuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"

#include "agg/bounding/asked.h"

/*
 * Has a scan return its table's columns as they are, as it does below an Agg:
 * without a projection its rows need not pass through its node (input.c).
 */
void
dp_omit_projection(PlannerInfo *root, Plan *plan)
{
	Scan	   *scan = (Scan *) plan;
	List	   *physical;

	if (!IsA(plan, SeqScan) && !IsA(plan, IndexScan) && !IsA(plan, BitmapHeapScan))
		return;
	foreach_ptr(TargetEntry, tle, plan->targetlist)
	{
		Var		   *var = (Var *) tle->expr;

		if (!IsA(var, Var) || var->varno != scan->scanrelid || var->varattno <= 0)
			return;
	}
	/* none where columns were dropped */
	physical = build_physical_tlist(root, find_base_rel(root, scan->scanrelid));
	if (physical != NIL)
		plan->targetlist = physical;
}

void
dp_add_scan_column(CustomScan *scan, void *expr)
{
	scan->custom_scan_tlist = lappend(scan->custom_scan_tlist,
									  makeTargetEntry(expr, list_length(scan->custom_scan_tlist) + 1, NULL, false));
}
