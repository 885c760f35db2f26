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

#include "base/walk.h"
#include "guard/level.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteManip.h"

static DpWalk
look_at_aggregate(Node *node, int levels, DpCollected *c)
{
	DpSplitContext *cxt = c->cxt;

	if (IsA(node, WindowFunc) && dp_find_aggregate(((WindowFunc *) node)->winfnoid, false) != NULL)
		dp_refuse_at(((WindowFunc *) node)->location,
					 errmsg("private aggregates cannot be window functions; "
							"release them with GROUP BY in a subquery and use a window over its rows"));
	if (!IsA(node, Aggref) || ((Aggref *) node)->agglevelsup != levels)
		return DP_WALK_ON;
	if (dp_find_aggregate(((Aggref *) node)->aggfnoid, c->take_standard) == NULL)
	{
		if (c->other == NULL)
			c->other = (Aggref *) node;
	}
	else if (c->first == NULL)
		c->first = (Aggref *) node;
	return DP_WALK_PAST;
}

void
dp_look_for_aggregates(Query *query, DpCollected *c)
{
	dp_walk_all(query->targetList, look_at_aggregate, c);
	dp_walk_all(query->havingQual, look_at_aggregate, c);
}

bool
dp_aggregates_privately(Query *query)
{
	DpSplitContext cxt = {0};
	DpCollected collected = {.cxt = &cxt};

	if (query->hasAggs)
		dp_look_for_aggregates(query, &collected);
	return collected.first != NULL;
}

typedef struct NodeContext
{
	int			(*level_of) (Node *node);
	List	   *found;
} NodeContext;

static DpWalk
collect_node(Node *node, int levels, NodeContext *c)
{
	Node	   *copy;

	if (c->level_of(node) != levels)
		return DP_WALK_ON;
	copy = copyObject(node);
	IncrementVarSublevelsUp(copy, -levels, 0);
	c->found = list_append_unique(c->found, copy);
	return DP_WALK_PAST;
}

List *
dp_collect_of_level(Query *query, int (*level_of) (Node *node))
{
	NodeContext c = {level_of};

	dp_walk_all(query->targetList, collect_node, &c);
	dp_walk_all(query->havingQual, collect_node, &c);
	return c.found;
}

static int
aggregate_level(Node *node)
{
	return IsA(node, Aggref) ? (int) ((Aggref *) node)->agglevelsup : -1;
}

List *
dp_aggregates_of_level(Query *query)
{
	return dp_collect_of_level(query, aggregate_level);
}
