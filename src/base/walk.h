/*-------------------------------------------------------------------------
 *
 * walk.h
 *	  Walks through expressions and queries, and copies of them with something else in places.
 *
 * A visit is called for each node, those that contain others first.  Entries of FROM are nodes, as are lists.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_WALK_H
#define DP_WALK_H

#include "nodes/parsenodes.h"

/* where a walk goes from a node; a visit may return a truth value: true stops the walk, false lets it go on */
typedef enum DpWalk
{
	DP_WALK_ON,					/* into it */
	DP_WALK_STOP,				/* nowhere else: it is what was looked for */
	DP_WALK_PAST				/* to what comes after it */
} DpWalk;

/*
 * levels: the varlevelsup by which a node of this place names the level of the tree: that which holds an expression, or
 * the tree itself, if it is a query.  For this itself it is -1.
 */
typedef DpWalk (*DpVisit) (Node *node, int levels, void *context);

/* Returns what stands in the place of a node; NULL: a copy, in which this is asked of what it contains. */
typedef Node *(*DpPut) (Node *node, int levels, void *context);

/* Walks through an expression, or also through the subqueries in it (_all), and tells whether a visit has stopped it. */
#define dp_walk(expr, visit, context) dp_walk_tree((Node *) (expr), (DpVisit) (visit), (void *) (context), false)
#define dp_walk_all(tree, visit, context) dp_walk_tree((Node *) (tree), (DpVisit) (visit), (void *) (context), true)
extern bool dp_walk_tree(Node *tree, DpVisit visit, void *context, bool into_queries);

/* Returns a copy of an expression, or also of the subqueries in it (_all), with other nodes in places. */
#define dp_put(expr, put, context) dp_put_in_tree((Node *) (expr), (DpPut) (put), (void *) (context), false)
#define dp_put_all(tree, put, context) dp_put_in_tree((Node *) (tree), (DpPut) (put), (void *) (context), true)
extern Node *dp_put_in_tree(Node *tree, DpPut put, void *context, bool into_queries);

/*
 * Returns a copy of an expression with copies of nodes in the places of those that equal one of from, which has the same
 * number in its list.  Adds these numbers to *found, which may be NULL.
 */
extern Node *dp_put_equal(Node *expr, List *from, List *by, Bitmapset **found);

/* Tells whether an expression has nodes of one of these kinds (tags), outside of subqueries. */
#define dp_has_nodes(expr, ...) \
	dp_has_nodes_of((Node *) (expr), (const NodeTag[]) {__VA_ARGS__}, lengthof(((const NodeTag[]) {__VA_ARGS__})))
extern bool dp_has_nodes_of(Node *expr, const NodeTag *kinds, int n);

/* Tells whether an expression has a node that equals another. */
extern bool dp_has_equal(Node *expr, void *node);

#endif							/* DP_WALK_H */
