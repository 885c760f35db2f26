/*-------------------------------------------------------------------------
 *
 * joins.h
 *	  Parts of a join tree, for the files that find out whose their rows are.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_JOINS_H
#define DP_JOINS_H

#include "guard/read/read.h"

/* the rows of a part of the join tree */
typedef struct DpJoinSide
{
	Bitmapset  *rels;
	bool		is_private;
	DpRowUnit	unit;
	Index		entry;			/* it is this one entry; 0: a join */
} DpJoinSide;

typedef struct DpJoinContext
{
	DpSplitContext *cxt;
	Query	   *query;
	DpFromItem *items;
	int			where;			/* the level is, in the query's text */
	DpFrom	   *from;
	List	   *unique_keys;	/* Oids of indexes that connections rest on */
} DpJoinContext;

/* ------------------------------------------------------------------------
 * join_refusals.c: all raise ZC002 at the first of the join's conditions
 * ------------------------------------------------------------------------
 */

/*
 * Refuses two protected sides that no equality makes one unit's; place: where
 * the one that is missing would be written.
 */
extern void dp_refuse_unconnected(DpJoinContext *c, DpJoinSide *a, DpJoinSide *b, List *conditions,
								  const char *place) __attribute__((noreturn));

/* Refuses x IN (SELECT y ...) that compares no units, where more can be said than dp_refuse_unconnected does; else returns. */
extern void dp_refuse_filter(DpJoinContext *c, DpJoinSide *outer, DpJoinSide *inner, List *conditions);

/* Refuses a public side that no condition connects with the rest. */
extern void dp_refuse_cross_join(DpJoinContext *c, DpJoinSide *side, List *conditions) __attribute__((noreturn));

/* Refuses a FULL JOIN. */
extern void dp_refuse_full_join(DpJoinContext *c, DpJoinSide *left, DpJoinSide *right, List *conditions) __attribute__((noreturn));

/* Refuses an outer join that keeps rows of outer, a public side, without a match in inner. */
extern void dp_refuse_nobodys_rows(DpJoinContext *c, DpJoinSide *outer, DpJoinSide *inner, List *conditions) __attribute__((noreturn));

#endif							/* DP_JOINS_H */
