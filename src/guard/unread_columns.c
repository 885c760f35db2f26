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
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "policy/policy.h"
#include "rewrite/rewriteManip.h"

/* ------------------------------------------------------------------------
 * What is read
 * ------------------------------------------------------------------------
 */

typedef struct ReadContext
{
	Query	   *query;
	Index		rti;
	int			sublevels;
	bool		whole;			/* all of the row */
	Bitmapset  *columns;
} ReadContext;

static bool
read_walker(Node *node, ReadContext *c)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;
		RangeTblEntry *rte;

		if (var->varlevelsup != c->sublevels)
			return false;
		rte = rt_fetch(var->varno, c->query->rtable);
		if (rte->rtekind == RTE_JOIN)
		{
			int			sublevels = c->sublevels;

			if (var->varattno <= 0)
				c->whole = true;
			else
			{
				c->sublevels = 0;
				read_walker(list_nth(rte->joinaliasvars, var->varattno - 1), c);
				c->sublevels = sublevels;
			}
		}
		else if (var->varno == c->rti && var->varattno <= 0)
			c->whole = true;
		else if (var->varno == c->rti)
			c->columns = bms_add_member(c->columns, var->varattno);
		return false;
	}
	if (IsA(node, Query))
	{
		c->sublevels++;
		query_tree_walker((Query *) node, read_walker, c, QTW_IGNORE_JOINALIASES);
		c->sublevels--;
		return false;
	}
	return expression_tree_walker(node, read_walker, c);
}

/* Adds the columns of entry rti that the query reads, and what is in it; returns false for whole rows. */
static bool
add_columns_read(Query *query, Index rti, Bitmapset **columns)
{
	ReadContext c = {.query = query, .rti = rti, .columns = *columns};

	/* operands of UNION and the like are read by their places */
	if (query->setOperations)
		return false;
	query_tree_walker(query, read_walker, &c, QTW_IGNORE_JOINALIASES);
	*columns = c.columns;
	return !c.whole;
}

/* ------------------------------------------------------------------------
 * What is left out
 * ------------------------------------------------------------------------
 */

/* Tells whether clauses name the target. */
static bool
is_named(TargetEntry *tle, List *clauses)
{
	return tle->ressortgroupref != 0 && get_sortgroupref_clause_noerr(tle->ressortgroupref, clauses) != NULL;
}

static bool
is_named_by_windows(TargetEntry *tle, List *windows)
{
	ListCell   *lc;

	foreach(lc, windows)
	{
		WindowClause *window = lfirst(lc);

		if (is_named(tle, window->partitionClause) || is_named(tle, window->orderClause))
			return true;
	}
	return false;
}

static bool
may_be_left_out(TargetEntry *tle, Query *query, List *sort, const Bitmapset *columns)
{
	return (tle->resjunk || !bms_is_member(tle->resno, columns)) &&
		!is_named(tle, query->groupClause) && !is_named(tle, query->distinctClause) && !is_named(tle, sort) &&
		!expression_returns_set((Node *) tle->expr) && !contain_volatile_functions((Node *) tle->expr);
}

/* Returns the targets with NULL in place of those that may be left out; windows: those of the ones that stay. */
static List *
kept_targets(Query *query, List *sort, const Bitmapset *columns, List **windows)
{
	List	   *result = NIL;
	bool		keeps_window = false;
	ListCell   *lc;

	foreach(lc, query->targetList)
		if (!may_be_left_out(lfirst(lc), query, sort, columns))
		keeps_window |= contain_windowfuncs((Node *) ((TargetEntry *) lfirst(lc))->expr);
	*windows = keeps_window ? query->windowClause : NIL;
	foreach(lc, query->targetList)
	{
		TargetEntry *tle = copyObject(lfirst_node(TargetEntry, lc));
		Node	   *expr = (Node *) tle->expr;

		if (may_be_left_out(tle, query, sort, columns) && !is_named_by_windows(tle, *windows))
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

static bool
grouping_walker(Node *node, void *context)
{
	if (node == NULL || IsA(node, Query))
		return false;
	return IsA(node, GroupingFunc) || expression_tree_walker(node, grouping_walker, context);
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
	/* of rows of which nothing is read, the order is not seen, nor which of them LIMIT leaves */
	if (bms_is_empty(columns) && !query->hasDistinctOn && query->limitOption == LIMIT_OPTION_COUNT)
		sort = NIL;
	targets = kept_targets(query, sort, columns, &windows);
	/* a selection of keys has no sets to tell of */
	if (grouping_walker((Node *) targets, NULL))
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
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);
		DpScope		inner = {rte->subquery, scope};
		Bitmapset  *columns = NULL;

		rti++;
		if (rte->rtekind == RTE_SUBQUERY && add_columns_read(query, rti, &columns))
			leave_out(&inner, columns);
	}
}

/* ------------------------------------------------------------------------
 * WITH queries
 * ------------------------------------------------------------------------
 */

typedef struct ReferenceContext
{
	const char *name;
	int			sublevels;
	Bitmapset  *columns;
} ReferenceContext;

/* Finds references that read whole rows; adds to columns what others read. */
static bool
reference_walker(Node *node, ReferenceContext *c)
{
	Query	   *query = (Query *) node;
	Index		rti = 0;
	bool		whole;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, reference_walker, c);
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);

		rti++;
		if (rte->rtekind == RTE_CTE && rte->ctelevelsup == c->sublevels && strcmp(rte->ctename, c->name) == 0 &&
			!add_columns_read(query, rti, &c->columns))
			return true;
	}
	c->sublevels++;
	whole = query_tree_walker(query, reference_walker, c, 0);
	c->sublevels--;
	return whole;
}

void
dp_leave_out_unread_of_cte(DpScope *scope, CommonTableExpr *cte)
{
	DpScope		inner = {(Query *) cte->ctequery, scope};
	ReferenceContext c = {cte->ctename};

	if (!reference_walker((Node *) scope->query, &c))
		leave_out(&inner, c.columns);
}
