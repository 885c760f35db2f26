/*-------------------------------------------------------------------------
 *
 * verify.h
 *	  What the files of the last gate share.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_VERIFY_H
#define DP_VERIFY_H

#include "guard/level.h"

/* Places of the inner query: which of its Queries one is, and where a function may be called. */
typedef enum DpPlace
{
	DP_PLACE_SOURCE = 0x01,		/* a subquery over protected rows */
	DP_PLACE_ROWS = 0x02,		/* the whole: each row is a unit */
	DP_PLACE_BOUNDING = 0x04,	/* the rows of each unit are bounded */
	DP_PLACE_KEPT = 0x08,		/* over those: the groups that units keep */
	DP_PLACE_ENTRIES = 0x10		/* over these: what all units keep, added up */
} DpPlace;

#define DP_PLACE_RAW (DP_PLACE_SOURCE | DP_PLACE_ROWS | DP_PLACE_BOUNDING)

/* Tells whether a Query of that place reads nothing but the one below it, which has to do with bounded units alone. */
static inline bool
dp_is_above_units(DpPlace place)
{
	return (place & (DP_PLACE_KEPT | DP_PLACE_ENTRIES)) != 0;
}

/* one Query under work */
typedef struct DpVerify
{
	DpLevel    *level;
	DpRelease  *release;
	Query	   *query;
	DpPlace		place;			/* that it is */
	Bitmapset  *entries;		/* its entries that are in the join tree */
	bool		in_aggregate;
	bool		in_window;		/* in an argument of a window function */
	bool		no_columns;
	bool		array;			/* in the list of IN */
	bool		opens;			/* what a function looks into */
	Oid			case_type;		/* of the innermost CASE's argument */
} DpVerify;

/* Raises ZC002, as for a bug; node may be NULL. */
extern void dp_unverified(const char *what, Node *node) __attribute__((noreturn));

#define dp_require(condition, what, node) \
	do { if (!(condition)) dp_unverified(what, (Node *) (node)); } while (0)

/* Verifies an expression of the query; a tree walker that returns false. */
extern bool dp_verify_expr(Node *node, DpVerify *v);

/* Verifies what an entry that makes rows of others calls. */
extern void dp_verify_made_rows(DpVerify *v, RangeTblEntry *rte);

/* Tells whether a column of a query's FROM is the privacy unit, or handed up as that. */
extern bool dp_is_unit_column(Query *query, const Var *var);

/* Verifies the operators of GROUP BY, ORDER BY and DISTINCT. */
extern void dp_verify_sort_clauses(List *clauses);

/* Verifies windows and DISTINCT ON of the query, but for the functions' arguments (verify_windows.c). */
extern void dp_verify_windows(DpVerify *v);

#endif							/* DP_VERIFY_H */
