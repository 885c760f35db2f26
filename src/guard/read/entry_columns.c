/*-------------------------------------------------------------------------
 *
 * entry_columns.c
 *	  Expressions in the place of an entry's columns (lateral.c).
 *
 * Invariants:
 * - What is written has a limit: columns of columns would grow without one.
 * - A column that stays is one that no value is given for.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "guard/read/read.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

/* the most parts that are written in the places of an entry's columns */
#define MOST_WRITTEN 10000

static bool
parts_walker(Node *node, int *parts)
{
	if (node == NULL)
		return false;
	if (!IsA(node, List) && ++*parts > MOST_WRITTEN)
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, parts_walker, parts, 0);
	return expression_tree_walker(node, parts_walker, parts);
}

bool
dp_may_be_repeated(List *values, int places)
{
	int			parts = 0;

	return !parts_walker((Node *) values, &parts) && (int64) parts * places <= MOST_WRITTEN;
}

typedef struct ColumnContext
{
	Index		rti;
	List	   *values;			/* Nodes, what is in the place of each column */
	int			sublevels;
	bool		whole;			/* some of what is named is no column */
	int			places;			/* where columns are named */
} ColumnContext;

static bool
whole_walker(Node *node, ColumnContext *c)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		if (((Var *) node)->varno == c->rti && ((Var *) node)->varlevelsup == c->sublevels)
		{
			c->whole |= ((Var *) node)->varattno <= 0;
			c->places++;
		}
		return false;
	}
	if (IsA(node, Query))
	{
		c->sublevels++;
		query_tree_walker((Query *) node, whole_walker, c, 0);
		c->sublevels--;
		return false;
	}
	return expression_tree_walker(node, whole_walker, c);
}

static Node *
column_mutator(Node *node, ColumnContext *c)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;
		Node	   *value;

		/* other columns are those that conditions name */
		if (var->varno != c->rti || var->varlevelsup != c->sublevels || var->varattno > list_length(c->values))
			return node;
		value = copyObject(list_nth(c->values, var->varattno - 1));
		IncrementVarSublevelsUp(value, c->sublevels, 0);
		return value;
	}
	if (IsA(node, Query))
	{
		Query	   *query;

		c->sublevels++;
		query = query_tree_mutator((Query *) node, column_mutator, c, 0);
		c->sublevels--;
		return (Node *) query;
	}
	return expression_tree_mutator(node, column_mutator, c);
}

void
dp_replace_columns(Query *query, Index rti, List *values)
{
	ColumnContext c = {rti, values};
	ListCell   *lc;

	query->targetList = (List *) column_mutator((Node *) query->targetList, &c);
	query->havingQual = column_mutator(query->havingQual, &c);
	query->jointree = (FromExpr *) column_mutator((Node *) query->jointree, &c);
	c.sublevels = 1;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);

		if (rte->rtekind == RTE_SUBQUERY && rte->lateral)
			rte->subquery = query_tree_mutator(rte->subquery, column_mutator, &c, 0);
		c.sublevels = 0;
		rte->functions = (List *) column_mutator((Node *) rte->functions, &c);
		c.sublevels = 1;
	}
	query->hasSubLinks |= checkExprHasSubLink((Node *) values);
}

void
dp_note_columns(DpFrom *from, Index rti, List *values)
{
	ListCell   *lc;

	foreach(lc, values)
	{
		if (!IsA(lfirst(lc), Var) && !IsA(lfirst(lc), Const))
			dp_note_written(from, lfirst(lc), (Node *) dp_output_var(rti, foreach_current_index(lc) + 1, lfirst(lc)));
	}
}

int
dp_count_places(Query *query, Index rti)
{
	ColumnContext c = {rti};

	(void) query_tree_walker(query, whole_walker, &c, QTW_IGNORE_RT_SUBQUERIES);
	c.sublevels = 1;
	for (int i = 1; i <= list_length(query->rtable); i++)
	{
		RangeTblEntry *rte = rt_fetch(i, query->rtable);

		if (rte->rtekind == RTE_SUBQUERY && rte->lateral)
			(void) query_tree_walker(rte->subquery, whole_walker, &c, 0);
		/* columns are not replaced there */
		c.whole |= bms_is_member(rti, pull_varnos(NULL, (Node *) rte->values_lists)) ||
			bms_is_member(rti, pull_varnos(NULL, (Node *) rte->tablefunc)) ||
			bms_is_member(rti, pull_varnos(NULL, (Node *) rte->tablesample));
	}
	return c.whole ? -1 : c.places;
}

bool
dp_is_named_in_joins(Node *node, Index rti, JoinExpr *but)
{
	ColumnContext c = {rti};
	ListCell   *lc;

	if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		if (join != but)
			(void) whole_walker(join->quals, &c);
		return c.places > 0 || dp_is_named_in_joins(join->larg, rti, but) || dp_is_named_in_joins(join->rarg, rti, but);
	}
	if (IsA(node, FromExpr))
		foreach(lc, ((FromExpr *) node)->fromlist)
			if (dp_is_named_in_joins(lfirst(lc), rti, but))
			return true;
	return false;
}
