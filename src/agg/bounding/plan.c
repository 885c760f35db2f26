/*-------------------------------------------------------------------------
 *
 * plan.c
 *	  Tells plans of inner queries that are better made for one process.
 *
 * Partial aggregation is nodeAgg's, which takes longer for a row than
 * gather.c, and the planner cannot know.  So few workers do not make up
 * for it, unless they have more to do than to aggregate: joins, or conditions
 * that most rows fail.
 *
 * Invariants: this is about time alone; either plan has the same answers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/syscache.h"

#include "agg/bounding/gather.h"

/* up to that many workers and the leader are not faster than gather.c alone */
#define FEW_WORKERS 2

/* Tells whether the scan, by estimate, returns most rows of its table to all processes together. */
static bool
returns_most_rows(const PlannedStmt *stmt, const Plan *scan, int workers)
{
	Oid			relid = rt_fetch(((const Scan *) scan)->scanrelid, stmt->rtable)->relid;
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	double		rows;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	rows = ((Form_pg_class) GETSTRUCT(tuple))->reltuples;
	ReleaseSysCache(tuple);
	/* plan_rows is for one process; the leader does a part of a worker's work */
	return scan->plan_rows * (workers + 0.5) >= rows / 2;
}

/* Tells whether a part of a split aggregation gathers rows of a scanned table by a unit that node.c takes. */
static bool
is_split_bounding(const Agg *agg)
{
	const Plan *input = outerPlan(agg);
	List	   *aggrefs = pull_var_clause((Node *) agg->plan.targetlist,
										  PVC_INCLUDE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_INCLUDE_PLACEHOLDERS);
	DpKeyInfo	info;
	Node	   *unit;
	ListCell   *lc;

	if (!DO_AGGSPLIT_SKIPFINAL(agg->aggsplit) || agg->numCols != 1 || !IsA(input, SeqScan))
		return false;
	unit = (Node *) list_nth_node(TargetEntry, input->targetlist, agg->grpColIdx[0] - 1)->expr;
	if (!dp_key_info_init(&info, exprType(unit), exprCollation(unit), CurrentMemoryContext) ||
		info.class != DP_KEY_WORD)
		return false;
	foreach(lc, aggrefs)
	{
		Aggref	   *aggref = lfirst(lc);
		HeapTuple	tuple;
		FmgrInfo	transition;

		if (!IsA(aggref, Aggref))
			continue;
		tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
		fmgr_info(((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn, &transition);
		ReleaseSysCache(tuple);
		if (transition.fn_addr == dp_bound_unit)
			return true;
	}
	return false;
}

bool
dp_bounding_prefers_serial(const PlannedStmt *stmt)
{
	Plan	   *plan = stmt->planTree;
	int			workers = 0;

	while (plan != NULL)
	{
		switch (nodeTag(plan))
		{
			case T_Gather:
				workers = ((Gather *) plan)->num_workers;
				break;
			case T_GatherMerge:
				workers = ((GatherMerge *) plan)->num_workers;
				break;
			case T_Agg:
				if (workers > 0)
					return workers <= FEW_WORKERS && is_split_bounding((Agg *) plan) &&
						returns_most_rows(stmt, outerPlan(plan), workers);
				break;
			case T_Sort:
			case T_IncrementalSort:
			case T_ProjectSet:
			case T_Result:
				break;
			case T_SubqueryScan:
				plan = ((SubqueryScan *) plan)->subplan;
				continue;
			default:
				return false;
		}
		plan = outerPlan(plan);
	}
	return false;
}
