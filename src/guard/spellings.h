/*-------------------------------------------------------------------------
 *
 * spellings.h
 *	  What the files about keys that are equal but written differently share.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_GUARD_SPELLINGS_H
#define DP_GUARD_SPELLINGS_H

#include "guard/level.h"

/* What is known of one query while it is looked through. */
typedef struct DpSpellings
{
	Query	   *query;
	List	   *keys;			/* of its GROUP BY, those that are made
								 * canonical */
	List	   *wanted_keys;	/* those of which somebody sees the form */
	Bitmapset **wanted;			/* the same of columns, for each entry */
	bool		of_rows;		/* in what is computed before rows are grouped */
	bool		varies;			/* the form of what was walked is that of a
								 * key or column */
	bool		seen;			/* something sees it */
} DpSpellings;

/* Tells whether equal values of an expression may be written differently. */
extern bool dp_has_spellings(Node *expr);

/* Tells whether a node, of a type whose values are written in one way, differs for forms of equal arguments. */
extern bool dp_tells_spellings_apart(Node *node);

/* Tells whether a condition sees how keys or columns of subqueries are written. */
extern bool dp_sees_spelling(Node *condition, const DpSpellings *s);

/* Moves what HAVING asks of how keys are written to WHERE. */
extern void dp_ask_rows_of_keys(DpSpellings *s);

/*
 * Returns a condition of a query, which reads one subquery alone, in terms of
 * that; NULL where it cannot be asked there before rows are grouped.
 */
extern Node *dp_in_terms_of_subquery(Query *query, Node *condition, Query **sub);

/* Returns the keys of a query that are going to be canonical. */
extern List *dp_canonical_keys(Query *query);

#endif							/* DP_GUARD_SPELLINGS_H */
