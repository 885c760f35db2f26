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
#include "base/walk.h"
#include "guard/read/read.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

/* the most parts that are written in the places of an entry's columns */
#define MOST_WRITTEN 10000

static DpWalk
count_part(Node *node, int levels, int *parts)
{
	return !IsA(node, List) && !IsA(node, RangeTblEntry) && ++*parts > MOST_WRITTEN;
}

bool
dp_may_be_repeated(List *values, int places)
{
	int			parts = 0;

	return !dp_walk_all(values, count_part, &parts) && (int64) parts * places <= MOST_WRITTEN;
}

typedef struct ColumnContext
{
	Index		rti;
	List	   *values;			/* Nodes, what is in the place of each column */
	bool		whole;			/* some of what is named is no column */
	int			places;			/* where columns are named */
} ColumnContext;

static DpWalk
note_place(Node *node, int levels, ColumnContext *c)
{
	if (IsA(node, Var) && ((Var *) node)->varno == c->rti && ((Var *) node)->varlevelsup == levels)
	{
		c->whole |= ((Var *) node)->varattno <= 0;
		c->places++;
	}
	return DP_WALK_ON;
}

static Node *
put_value(Node *node, int levels, const ColumnContext *c)
{
	Var		   *var = (Var *) node;
	Node	   *value;

	/* other columns are those that conditions name */
	if (!IsA(node, Var) || var->varno != c->rti || var->varlevelsup != levels || var->varattno > list_length(c->values))
		return NULL;
	value = copyObject(list_nth(c->values, var->varattno - 1));
	IncrementVarSublevelsUp(value, levels, 0);
	return value;
}

Node *
dp_put_columns(Node *expr, Index rti, List *values)
{
	ColumnContext c = {rti, values};

	return dp_put(expr, put_value, &c);
}

void
dp_replace_columns(Query *query, Index rti, List *values)
{
	ColumnContext c = {rti, values};

	query->targetList = (List *) dp_put_all(query->targetList, put_value, &c);
	query->havingQual = dp_put_all(query->havingQual, put_value, &c);
	query->jointree = (FromExpr *) dp_put_all(query->jointree, put_value, &c);
	foreach_ptr(RangeTblEntry, rte, query->rtable)
	{
		if (rte->rtekind == RTE_SUBQUERY && rte->lateral)
			rte->subquery = linitial_node(Query, (List *) dp_put_all(list_make1(rte->subquery), put_value, &c));
		rte->functions = (List *) dp_put_all(rte->functions, put_value, &c);
	}
	query->hasSubLinks |= checkExprHasSubLink((Node *) values);
}

void
dp_note_columns(DpFrom *from, Index rti, List *values)
{
	foreach_ptr(Node, value, values)
	{
		if (!IsA(value, Var) && !IsA(value, Const))
			dp_note_written(from, value, (Node *) dp_output_var(rti, foreach_current_index(value) + 1, value));
	}
}

int
dp_count_places(Query *query, Index rti)
{
	ColumnContext c = {rti};

	(void) dp_walk_all(query, note_place, &c);
	for (int i = 1; i <= list_length(query->rtable); i++)
	{
		RangeTblEntry *rte = rt_fetch(i, query->rtable);

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

	if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		if (join != but)
			(void) dp_walk_all(join->quals, note_place, &c);
		return c.places > 0 || dp_is_named_in_joins(join->larg, rti, but) || dp_is_named_in_joins(join->rarg, rti, but);
	}
	if (IsA(node, FromExpr))
		foreach_ptr(Node, item, ((FromExpr *) node)->fromlist)
			if (dp_is_named_in_joins(item, rti, but))
			return true;
	return false;
}
