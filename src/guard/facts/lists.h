/*-------------------------------------------------------------------------
 *
 * lists.h
 *	  Conditions that a value is one of some constants.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_LISTS_H
#define DP_LISTS_H

#include "nodes/parsenodes.h"

/* Tells whether an expression is a value that is not NULL, nor has one in it: a constant, a cast of one, an array of such. */
extern bool dp_is_value(Node *node);

/* Finds the whole number that a value is, of a type in which each has one next to it; false: it is none. */
extern bool dp_get_whole(Datum value, Oid type, int64 *whole);

/* Returns a condition; equalities of one value, of which one is true, and = ANY, as one comparison. */
extern Node *dp_plain_list(Node *condition);

/* Returns conditions that all hold, with all that exclude constants of one value joined. */
extern List *dp_join_exclusions(List *conjuncts);

/*
 * Returns what an equality with a column of constant rows, (VALUES (1), (2)) v (k), says of the other
 * side: that it is one of these.  NULL: it is no such.
 */
extern Node *dp_follows_from_join(Query *query, Node *condition);

#endif							/* DP_LISTS_H */
