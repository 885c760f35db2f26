/*-------------------------------------------------------------------------
 *
 * level.h
 *	  One level of a query while it is being split.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_LEVEL_H
#define DP_LEVEL_H

#include "base/errors.h"
#include "guard/guard.h"
#include "guard/vet/allow.h"

/* needs a DpSplitContext *cxt in scope */
#define dp_refuse_at(location, ...) \
	dp_raise(NOT_RELEASABLE, __VA_ARGS__, dp_error_position(cxt->source_text, location))

/* a query and those around it, to find what a WITH reference names */
typedef struct DpScope
{
	Query	   *query;
	struct DpScope *outer;
} DpScope;

/*
 * Columns that name the unit of a row: what they equal is the key of one row of
 * a protected table, and its unit is theirs.  A row in which one of them is
 * NULL, or to which there is no such row, is nobody's.
 */
typedef struct DpToken
{
	Oid			parent;			/* the table; InvalidOid: the columns are the
								 * unit itself */
	Oid			index;			/* that makes its key unique */
	List	   *key;			/* int: its columns, ascending */
	List	   *vars;			/* Vars, in that order */
} DpToken;

/* a limit of how many rows a unit has in a subquery, which its columns tell apart */
typedef struct DpToldApart
{
	Index		rti;			/* of the subquery */
	AttrNumber	rank;			/* a column that numbers those with the same
								 * columns from 1; 0: there is one */
	List	   *columns;		/* int: beside the unit */
} DpToldApart;

/* whose the rows of a query, an entry or a join are */
typedef struct DpRowUnit
{
	List	   *exprs;			/* Exprs that name a row's privacy unit: one
								 * Var, or a table's tableoid and ctid; NIL:
								 * it is named by tokens alone, and the tables
								 * that these lead to are still to be joined */
	List	   *vars;			/* Vars that equal the unit (and are not NULL
								 * where it is not); NIL for row units */
	List	   *tokens;			/* DpToken: what names the unit beside vars */
	List	   *or_null;		/* DpToken: these are so where they are not
								 * NULL.  Of rows that an outer join may have
								 * replaced, keys of which a row may have none */
	bool		one_row;		/* a unit has at most one row, but for ... */
	bool		may_repeat;		/* ... joins, which may repeat it */
	Bitmapset  *determined;		/* entries whose columns are the same in all
								 * rows of a unit */
	List	   *told_apart;		/* DpToldApart, of rows that no other
								 * protected ones repeat */
} DpRowUnit;

/*
 * The range table and join tree of a level in the form in which the inner
 * query runs them: every entry is a table that may be read directly, a
 * subquery over such (vetted and made safe), or rows that were computed
 * beforehand (public_rows.c).  Join aliases are flattened; no WITH references.
 * Entries keep the numbers that they have in the level.
 */
typedef struct DpFrom
{
	Query	   *query;
	Bitmapset  *entries;		/* of the range table, whose columns may be
								 * read */
	DpRowUnit	unit;
	bool		is_level;		/* it is the level's own, not a subquery's */
	Bitmapset  *matched;		/* protected entries in which a public row may
								 * have no match; such rows are left out */
	List	   *unique_keys;	/* Oids of indexes that unit rests on */
	Bitmapset  *once;			/* entries of which each row of the others
								 * finds at most one (sublinks.c) */
	Bitmapset  *repeating;		/* public entries that are joined with all
								 * rows of the others (unpivot.c) */
	List	   *written;		/* DpWritten: what the query says in other
								 * words */
} DpFrom;

/* an expression over DpFrom, and what the asker wrote in its place, for messages */
typedef struct DpWritten
{
	Node	   *expr;
	Node	   *written;		/* a SubLink, or a column of a subquery that
								 * may be an entry no more */
} DpWritten;

/* a column of DpFrom whose rows are held to declared values */
typedef struct DpListedValue
{
	Var		   *column;
	Const	   *list;			/* an array without NULLs */
	bool		null_listed;
	bool		is_held;		/* to fewer, by a key's own values */
} DpListedValue;

/* a key of a finer grouping set: rows of which it is not declared are left out here, too */
typedef struct DpHeldKey
{
	Expr	   *value;
	Const	   *domain;
	bool		null_key;
} DpHeldKey;

/* expressions of one release over DpFrom, in their safe form */
typedef struct DpInnerParts
{
	List	   *keys;			/* Expr, canonical */
	List	   *values;			/* of each column a List of its parts' Exprs:
								 * what counts (NULL: every row), else the
								 * value */
	List	   *filters;		/* Expr or NULL, of each column */
	List	   *listed;			/* DpListedValue, beside the keys */
	List	   *held;			/* DpHeldKey, of other grouping sets */
	List	   *rest;			/* Expr, canonical: keys of groups of which
								 * those that are shown are left out */
	List	   *rest_keys;		/* DpReleaseKey of these */
} DpInnerParts;

/* the level under work */
typedef struct DpLevel
{
	DpSplitContext *cxt;
	Query	   *query;
	DpRelease  *release;
	DpFrom		from;
	DpAllowContext allow;		/* for expressions over from */
	DpDataset  *dataset;
	const char *table;			/* name of the first protected table, for
								 * messages */
	int			where;			/* location that the level is known by */
	List	   *conditions;		/* conjuncts of WHERE and of inner joins, as
								 * the query has them */
	List	   *policies;		/* of columns, see dp_level_policy */
	DpInnerParts parts;
	const struct DpLevel *rest_of;	/* it is of the rows that are in no group
									 * which this one shows; NULL: it is not */
	struct DpLevel *estimator;	/* whose release finds bounds first; NULL:
								 * none */
	List	   *found;			/* of an estimator: Nodes, as the query has
								 * them */
	List	   *names;			/* of from, for dp_expression_text; NIL: not
								 * needed yet */
	List	   *key_exprs;		/* as the query has them */
	List	   *outputs;		/* keys, Aggrefs and calls of dp_noise_stddev,
								 * at levelsup 0 */
	List	   *output_columns; /* int: their columns in what is released */
} DpLevel;

/* ------------------------------------------------------------------------
 * collect.c
 * ------------------------------------------------------------------------
 */

/* which aggregates a level has; zero-initialize, but for cxt and take_standard */
typedef struct DpCollected
{
	DpSplitContext *cxt;
	bool		take_standard;	/* count and sum are private, too */
	Aggref	   *first;			/* the first that is private */
	Aggref	   *other;			/* the first that is not */
} DpCollected;

/* Looks at the aggregates of the level query.  ZC002 for private ones that are window functions. */
extern void dp_look_for_aggregates(Query *query, DpCollected *c);

/* Returns the aggregates of the level, each once, as at levelsup 0. */
extern List *dp_aggregates_of_level(Query *query);

/* Tells whether the level aggregates with dp_*, whoever asks. */
extern bool dp_aggregates_privately(Query *query);

/*
 * Returns the distinct nodes that belong to the level, also from inside of
 * sublinks, as at levelsup 0.  level_of returns the levelsup of a node that is
 * wanted, else -1.
 */
extern List *dp_collect_of_level(Query *query, int (*level_of) (Node *node));

/* ------------------------------------------------------------------------
 * exprs.c
 * ------------------------------------------------------------------------
 */

/* Tells whether an expression reads columns, of whichever level. */
extern bool dp_has_columns(Node *expr);

/* Tells whether the value is known when the statement is planned. */
extern bool dp_folds_to_constant(Node *expr);

/* Makes an external parameter. */
extern Expr *dp_make_param(int number, Oid type);

/* Makes value NULL where it is NaN, which counts as NULL; types without NaN stay as they are. */
extern Expr *dp_nan_to_null(Expr *value);

/* Makes arg IS [NOT] NULL. */
extern Expr *dp_is_not_null(Expr *arg);
extern Expr *dp_is_null(Expr *arg);

/* Makes CASE WHEN condition THEN value END: NULL elsewhere. */
extern Expr *dp_value_where(Expr *condition, Expr *value);

/* Makes the constant that a text is, of a type that has such a value. */
extern Const *dp_const_of(Oid type, const char *text);

/* Makes value NULL where it equals the constant that a text is. */
extern Expr *dp_null_for(const char *text, Expr *value);

/* Makes CASE ELSE otherwise END, of the type of otherwise; adds WHEN condition THEN result to it. */
extern CaseExpr *dp_make_case(Expr *otherwise);
extern void dp_add_when(CaseExpr *cases, Expr *condition, Expr *result);

/* Makes count(*). */
extern Expr *dp_count_rows(int location);

/*
 * Makes dp_margin(count(*)) + 0.5 < count(*), of the rows that satisfy a filter, which may be NULL: there are more
 * than noise explains, but in one case of forty.
 */
extern Expr *dp_more_rows_than_noise(int location, Node *filter);

/* Returns the place, from 0 on, of the first node of a list that equals one; -1: none does. */
extern int	dp_position_of(List *list, Node *node);

/* Makes a reference to an entry of FROM. */
extern Node *dp_entry_ref(Index rti);

/* Returns the numbers of the entries of a join tree, or of a part of one, ints, in their order. */
extern List *dp_entries_of(void *jointree);

/* Adds an entry to the FROM of a query, behind the others, and returns its number. */
extern Index dp_add_to_from(Query *query, RangeTblEntry *rte);

/* Makes EXISTS (query). */
extern Node *dp_exists(Query *query);

/* Makes a join tree the left side of a LEFT JOIN with an entry, and returns the number of the join's own, which is added. */
extern int	dp_left_join(List **rtable, Node **tree, Index rti, List *conditions);

/* Makes an entry of FROM, of this name, of which the columns are those of the query that are not junk. */
extern RangeTblEntry *dp_subquery_entry(Query *query, const char *name);

/* Makes a Var of an entry's column that shows an expression. */
extern Var *dp_output_var(Index rti, AttrNumber attno, Node *shown);

/* Adds a condition to the WHERE of a query, whose WHERE may be empty. */
extern void dp_add_conjunct(Query *query, Node *condition);

/*
 * Makes tle a group key, by its type's own equality, and returns the clause; its
 * number becomes its reference, so that all of a query's are to be made in this way.
 */
extern SortGroupClause *dp_group_clause(TargetEntry *tle);

/*
 * Tells whether an operator is the equality by which values like key are grouped: that of another type, to which
 * they were relabelled, might take several for one (character ignores trailing spaces, text does not).
 */
extern bool dp_groups_by(Oid opno, Node *key);

/* Tells whether a comparison is by that equality, and in the key's collation. */
extern bool dp_compares_groups(const DpComparison *c, Node *key);

/* Returns what a condition, which may be NULL, asks all of: its conjuncts at any depth. */
extern List *dp_conjuncts(Node *condition);

/*
 * Returns the conjuncts that every row of a join tree satisfies, but those with subqueries, which become joins or are
 * refused: what EXISTS and IN ask of the row around them stands for these.
 */
extern List *dp_conditions_of_all(Node *jointree);

/* Returns var as an argument of an operator whose input is of this type. */
extern Expr *dp_as_argument(Var *var, Oid type);

/* Tells whether expr is one of vars, of levelsup 0, of its type or, where that is a domain, of its base type. */
extern bool dp_names_column(List *vars, Node *expr);

/* Tells whether all of vars are among the expressions. */
extern bool dp_columns_among(List *vars, List *exprs);

/* Returns what is inside of those casts and of COLLATE. */
extern Node *dp_strip_labels(Node *node);

/*
 * Tells whether condition is an equality that holds only where both sides,
 * which are of one type, are the same value in the sense of GROUP BY.
 */
extern bool dp_is_equality(Node *condition, Node **left, Node **right);

/* Reads a condition that an expression is one of an array's elements; false: it says anything else. */
extern bool dp_read_list(Node *condition, Node *expr, DpComparison *in);

#endif							/* DP_LEVEL_H */
