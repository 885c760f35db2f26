/*-------------------------------------------------------------------------
 *
 * fingerprint.h
 *	  Shared by the files that write down what a release asks, of which its fingerprint is made.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_GUARD_FINGERPRINT_H
#define DP_GUARD_FINGERPRINT_H

#include "guard/level.h"
#include "utils/hsearch.h"

/* a query of the text, the inner query's FROM or a subquery of it */
typedef struct DpFingerprintPlace
{
	Query	   *query;
	bool		is_joined;		/* its rows are read as if the query above
								 * named its tables */
	int		   *numbers;		/* by entry: what it is called; 0: it is a
								 * query that is joined, or not read */
	struct DpFingerprintPlace **below;	/* by entry: a subquery */
	char	  **columns;		/* of a subquery: what its columns are, by
								 * number; NULL: not written yet */
} DpFingerprintPlace;

/* a column of a table without a policy */
typedef struct DpFingerprintColumn
{
	int			entry;			/* place in public_entries */
	AttrNumber	column;
	char	   *text;			/* that stands for it, and for nothing else */
} DpFingerprintColumn;

/* a text under work */
typedef struct DpFingerprintWriter
{
	DpRelease  *release;
	int			own_param;		/* the first parameter of the release's that
								 * the text may name */
	StringInfoData text;
	int			entries;		/* that have a number */
	List	   *public_entries; /* ints: numbers of the tables without a
								 * policy, as in the release's public_relids */
	List	   *public_columns; /* DpFingerprintColumn: what was written of
								 * them */
	HTAB	   *definitions;	/* long expressions, by their hash; NULL: none */
	bool		is_unknown;		/* there is something that has no text */
} DpFingerprintWriter;

/* adds to the text of the writer w */
#define PUT(...) appendStringInfo(&w->text, __VA_ARGS__)

/* fingerprint_text.c: cuts off, and returns, what was written from a position on */
extern char *dp_fingerprint_cut(DpFingerprintWriter *w, int start);

/* fingerprint_text.c: writes texts, which are of equal rank, in an order of their own, each once */
extern int	dp_compare_texts(const ListCell *a, const ListCell *b);
extern void dp_fingerprint_sorted(DpFingerprintWriter *w, List *texts);

/* fingerprint_expr.c: writes an expression over the entries of a place */
extern void dp_fingerprint_expr(DpFingerprintWriter *w, DpFingerprintPlace *place, Node *node);

/* fingerprint_text.c: returns the text of what a reference, its hash in hexadecimal digits, stands for */
extern const char *dp_fingerprint_defined(DpFingerprintWriter *w, const char *reference);

/* fingerprint_expr.c: returns, added to texts, what the members of a condition are, as far as AND connects them */
extern List *dp_fingerprint_conjuncts(DpFingerprintWriter *w, DpFingerprintPlace *place, Node *condition, List *texts);

/* fingerprint_expr.c: writes expressions, in their order */
extern void dp_fingerprint_list(DpFingerprintWriter *w, DpFingerprintPlace *place, List *exprs);

/* fingerprint_expr.c: writes what entries of GROUP BY, ORDER BY or DISTINCT compare, in their order; sorts: with the order that each asks for */
extern void dp_fingerprint_in_order(DpFingerprintWriter *w, DpFingerprintPlace *place, List *clauses, List *targets, bool sorts);

/* fingerprint_expr.c: writes what entries of GROUP BY, DISTINCT or PARTITION BY compare, in an order of their own */
extern void dp_fingerprint_clauses(DpFingerprintWriter *w, DpFingerprintPlace *place, List *clauses, List *targets);

/* fingerprint_text.c: write an object of the catalogue, a type, a collation, and a space */
extern void dp_fingerprint_named(DpFingerprintWriter *w, Oid classid, Oid objid);
extern void dp_fingerprint_type(DpFingerprintWriter *w, Oid type);
extern void dp_fingerprint_collation(DpFingerprintWriter *w, Oid collation);

/* fingerprint_text.c: puts a reference in the place of what was written from start on, and remembers that */
extern void dp_fingerprint_define(DpFingerprintWriter *w, int start);

/* fingerprint_text.c: returns, added to texts, what the members of an array are, which is not NULL */
extern List *dp_fingerprint_members(DpFingerprintWriter *w, const Const *array, List *texts);

/* fingerprint_leaves.c: writes a column of a table; of one that has no policy in letters of its own, and it is noted */
extern void dp_fingerprint_column(DpFingerprintWriter *w, int number, Oid relid, Var *var);

/*
 * fingerprint_leaves.c: writes a parameter: one of the statement's for its value to be put there, or for the bound that is
 * a step from it; one of the release's by its place
 */
extern void dp_fingerprint_param(DpFingerprintWriter *w, Param *param, int step);

/*
 * fingerprint_leaves.c: tells which side of a strict comparison (0: the left one) is a value that has a next one, and makes
 * of the operator that for the closed comparison; -1: there is none.  *step: set to what leads from the value to the
 * closed bound.
 */
extern int	dp_fingerprint_close(DpFingerprintWriter *w, OpExpr *op, Oid *opno, int *step);

/* fingerprint_leaves.c: returns the text of a value that a strict comparison names as a closed bound, which is a step from it */
extern char *dp_fingerprint_bound_text(DpFingerprintWriter *w, Node *value, int step);

/*
 * fingerprint_leaves.c: tells whether a function has the same result when its two arguments are swapped: sums and products
 * of one type, which stand for the operators (src/safe)
 */
extern bool dp_fingerprint_commutes(FuncExpr *call);

#endif							/* DP_GUARD_FINGERPRINT_H */
