/*-------------------------------------------------------------------------
 *
 * walk.c
 *	  Walks through expressions and queries, and copies of them with something else in places.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"

typedef struct Walk
{
	DpVisit		visit;
	DpPut		put;
	void	   *context;
	bool		into_queries;
	int			levels;
} Walk;

static int
level_of(Node *tree)
{
	return tree != NULL && IsA(tree, Query) ? -1 : 0;
}

static bool
walker(Node *node, Walk *w)
{
	DpWalk		next;
	bool		found;

	if (node == NULL)
		return false;
	check_stack_depth();
	next = w->visit(node, w->levels, w->context);
	/* what an entry contains comes after it */
	if (next != DP_WALK_ON || IsA(node, RangeTblEntry))
		return next == DP_WALK_STOP;
	if (!IsA(node, Query))
		return expression_tree_walker(node, walker, w);
	if (!w->into_queries)
		return false;
	w->levels++;
	found = query_tree_walker((Query *) node, walker, w, QTW_EXAMINE_RTES_BEFORE);
	w->levels--;
	return found;
}

bool
dp_walk_tree(Node *tree, DpVisit visit, void *context, bool into_queries)
{
	Walk		w = {.visit = visit, .context = context, .into_queries = into_queries, .levels = level_of(tree)};

	return walker(tree, &w);
}

static Node *
mutator(Node *node, Walk *w)
{
	Node	   *by;

	if (node == NULL)
		return NULL;
	check_stack_depth();
	by = w->put(node, w->levels, w->context);
	if (by != NULL)
		return by;
	if (!IsA(node, Query) || !w->into_queries)
		return expression_tree_mutator(node, mutator, w);
	w->levels++;
	by = (Node *) query_tree_mutator((Query *) node, mutator, w, 0);
	w->levels--;
	return by;
}

Node *
dp_put_in_tree(Node *tree, DpPut put, void *context, bool into_queries)
{
	Walk		w = {.put = put, .context = context, .into_queries = into_queries, .levels = level_of(tree)};

	return mutator(tree, &w);
}

typedef struct Equals
{
	List	   *from;
	List	   *by;
	Bitmapset  *found;
} Equals;

static Node *
put_equal(Node *node, int levels, Equals *e)
{
	foreach_ptr(Node, item, e->from)
	{
		if (!equal(item, node))
			continue;
		e->found = bms_add_member(e->found, foreach_current_index(item));
		return copyObject(list_nth(e->by, foreach_current_index(item)));
	}
	return NULL;
}

Node *
dp_put_equal(Node *expr, List *from, List *by, Bitmapset **found)
{
	Equals		e = {from, by};
	Node	   *result = dp_put(expr, put_equal, &e);

	if (found != NULL)
		*found = bms_add_members(*found, e.found);
	return result;
}

typedef struct Kinds
{
	const NodeTag *kinds;
	int			n;
} Kinds;

static DpWalk
is_of_kinds(Node *node, int levels, const Kinds *kinds)
{
	for (int i = 0; i < kinds->n; i++)
		if (nodeTag(node) == kinds->kinds[i])
			return DP_WALK_STOP;
	return DP_WALK_ON;
}

bool
dp_has_nodes_of(Node *expr, const NodeTag *kinds, int n)
{
	Kinds		k = {kinds, n};

	return dp_walk(expr, is_of_kinds, &k);
}

static DpWalk
is_equal(Node *node, int levels, void *other)
{
	return equal(node, other);
}

bool
dp_has_equal(Node *expr, void *node)
{
	return dp_walk(expr, is_equal, node);
}
