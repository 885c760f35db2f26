/*-------------------------------------------------------------------------
 *
 * collect.c
 *	  What an expression of a level holds that belongs to the level: aggregates
 *	  and what stands around them, also from inside of sublinks.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "guard/level.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteManip.h"

static bool
aggregate_walker(Node *node, DpCollected *c)
{
	DpSplitContext *cxt = c->cxt;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == c->sublevels)
	{
		Aggref	   *agg = copyObject((Aggref *) node);

		IncrementVarSublevelsUp((Node *) agg, -c->sublevels, 0);
		if (dp_find_aggregate(agg->aggfnoid, c->take_standard) == NULL)
		{
			if (c->other == NULL)
				c->other = (Aggref *) node;
		}
		else if (c->first == NULL)
			c->first = (Aggref *) node;
		if (!list_member(c->aggs, agg))
			c->aggs = lappend(c->aggs, agg);
		return false;
	}
	if (IsA(node, WindowFunc) && dp_find_aggregate(((WindowFunc *) node)->winfnoid, false) != NULL)
		dp_refuse_at(((WindowFunc *) node)->location,
					 errmsg("private aggregates cannot be window functions; "
							"release them with GROUP BY in a subquery and use a window over its rows"));
	if (IsA(node, Query))
	{
		bool		result;

		c->sublevels++;
		result = query_tree_walker((Query *) node, aggregate_walker, c, 0);
		c->sublevels--;
		return result;
	}
	return expression_tree_walker(node, aggregate_walker, c);
}

void
dp_collect_aggregates(Query *query, DpCollected *c)
{
	aggregate_walker((Node *) query->targetList, c);
	aggregate_walker(query->havingQual, c);
}

bool
dp_aggregates_privately(Query *query)
{
	DpSplitContext cxt = {0};
	DpCollected collected = {.cxt = &cxt};

	if (query->hasAggs)
		dp_collect_aggregates(query, &collected);
	return collected.first != NULL;
}

typedef struct NodeContext
{
	int			(*level_of) (Node *node);
	int			sublevels;
	List	   *found;
} NodeContext;

static bool
node_walker(Node *node, NodeContext *c)
{
	if (node == NULL)
		return false;
	if (c->level_of(node) == c->sublevels)
	{
		Node	   *copy = copyObject(node);

		IncrementVarSublevelsUp(copy, -c->sublevels, 0);
		c->found = list_append_unique(c->found, copy);
		return false;
	}
	if (IsA(node, Query))
	{
		bool		result;

		c->sublevels++;
		result = query_tree_walker((Query *) node, node_walker, c, 0);
		c->sublevels--;
		return result;
	}
	return expression_tree_walker(node, node_walker, c);
}

List *
dp_collect_of_level(Query *query, int (*level_of) (Node *node))
{
	NodeContext c = {level_of};

	node_walker((Node *) query->targetList, &c);
	node_walker(query->havingQual, &c);
	return c.found;
}
