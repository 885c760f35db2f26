/*-------------------------------------------------------------------------
 *
 * unread_columns.c
 *	  Columns of subqueries that nobody reads.
 *
 * SELECT count(*) FROM (SELECT dept, count(*) FROM visits GROUP BY dept) q
 * asks how many groups there are, and tools send it before each query.  The
 * planner would drop the noisy column, after the release was paid for; here it
 * is dropped before the level is split, so that what is charged is what is
 * told: nothing where keys are declared, their selection where they are not.
 *
 * Invariants:
 * - What is left out depends on the text of the query alone.
 * - The rows of the query that reads are the same: what makes, orders or
 *	 limits rows stays, as do volatile functions.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "policy/policy.h"
#include "rewrite/rewriteManip.h"

/* ------------------------------------------------------------------------
 * What is left out
 * ------------------------------------------------------------------------
 */

static bool
may_be_left_out(TargetEntry *tle, Query *query, List *sort, const Bitmapset *columns)
{
	Index		ref = tle->ressortgroupref;

	return (tle->resjunk || !bms_is_member(tle->resno, columns)) &&
		!dp_clauses_name(query->groupClause, ref) && !dp_clauses_name(query->distinctClause, ref) && !dp_clauses_name(sort, ref) &&
		!expression_returns_set((Node *) tle->expr) && !contain_volatile_functions((Node *) tle->expr);
}

/* Returns the targets with NULL in place of those that may be left out; windows: those of the ones that stay. */
static List *
kept_targets(Query *query, List *sort, const Bitmapset *columns, List **windows)
{
	List	   *result = NIL;
	bool		keeps_window = false;

	foreach_ptr(TargetEntry, item, query->targetList)
	{
		if (!may_be_left_out(item, query, sort, columns))
			keeps_window |= contain_windowfuncs((Node *) item->expr);
	}
	*windows = keeps_window ? query->windowClause : NIL;
	foreach_node(TargetEntry, item, query->targetList)
	{
		TargetEntry *tle = copyObject(item);
		Node	   *expr = (Node *) tle->expr;

		if (may_be_left_out(tle, query, sort, columns) && !dp_windows_name(*windows, tle->ressortgroupref))
		{
			if (tle->resjunk)
				continue;
			tle->expr = (Expr *) makeNullConst(exprType(expr), exprTypmod(expr), exprCollation(expr));
			tle->ressortgroupref = 0;
		}
		result = lappend(result, tle);
	}
	return result;
}

/*
 * Makes the level one row that reads nothing, where that is what is left of it;
 * returns false where it must stay as it is.
 */
static bool
make_one_row(DpScope *scope)
{
	Query	   *query = scope->query;
	RangeTblEntry *base;

	if (query->groupingSets != NIL || query->havingQual != NULL || query->hasWindowFuncs || query->hasTargetSRFs ||
		query->cteList != NIL || dp_reads_rows(scope, false, &base) == 0)
		return false;
	dp_check_payer(dp_policy_table(base->relid)->dataset);
	query->rtable = NIL;
	query->jointree = makeFromExpr(NIL, NULL);
	return true;
}

/* Leaves out of a query, a subquery of another, what is not among columns. */
static void
leave_out(DpScope *scope, const Bitmapset *columns)
{
	Query	   *query = scope->query;
	List	   *sort = query->sortClause;
	List	   *windows;
	List	   *targets;
	bool		has_aggregates;

	if (query->commandType != CMD_SELECT || query->setOperations != NULL || query->rowMarks != NIL ||
		query->hasRecursive || query->hasModifyingCTE)
		return;

	/*
	 * of rows of which nothing is read, the order is not seen, nor which of
	 * them LIMIT leaves
	 */
	if (bms_is_empty(columns) && !query->hasDistinctOn && query->limitOption == LIMIT_OPTION_COUNT)
		sort = NIL;
	targets = kept_targets(query, sort, columns, &windows);
	/* a selection of keys has no sets to tell of */
	if (dp_has_nodes(targets, T_GroupingFunc))
		return;
	has_aggregates = contain_aggs_of_level((Node *) targets, 0) || contain_aggs_of_level(query->havingQual, 0);
	/* they are what makes it one row, or one more */
	if (query->hasAggs && !has_aggregates && (query->groupClause == NIL || query->groupingSets != NIL) &&
		!make_one_row(scope))
		return;
	query->targetList = targets;
	query->sortClause = sort;
	query->windowClause = windows;
	query->hasWindowFuncs = query->hasWindowFuncs && windows != NIL;
	query->hasAggs = has_aggregates;
}

void
dp_leave_out_unread(DpScope *scope)
{
	Query	   *query = scope->query;
	Index		rti = 0;

	foreach_ptr(RangeTblEntry, rte, query->rtable)
	{
		DpScope		inner = {rte->subquery, scope};
		Bitmapset  *columns = NULL;

		rti++;
		if (rte->rtekind == RTE_SUBQUERY && dp_add_columns_read(query, rti, &columns))
			leave_out(&inner, columns);
	}
}

/* ------------------------------------------------------------------------
 * WITH queries
 * ------------------------------------------------------------------------
 */

void
dp_leave_out_unread_of_cte(DpScope *scope, CommonTableExpr *cte)
{
	DpScope		inner = {(Query *) cte->ctequery, scope};
	Bitmapset  *columns = NULL;

	if (dp_add_columns_of_cte(scope, cte, &columns))
		leave_out(&inner, columns);
}
