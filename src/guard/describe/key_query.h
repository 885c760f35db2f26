/*-------------------------------------------------------------------------
 *
 * key_query.h
 *	  The query of the tuples of keys that a level's public inputs allow.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_KEY_QUERY_H
#define DP_KEY_QUERY_H

#include "guard/level.h"

/* the most integers that a range is listed as */
#define DP_MAX_KEY_RANGE 10000

/*
 * An entry of the level, or of a subquery over protected rows in it; or a
 * list of values that stands for a protected column.  They have numbers from
 * 1 on, by which Vars of the key query's expressions name them.
 */
typedef struct DpKeyQueryItem
{
	RangeTblEntry *rte;			/* NULL: a list */
	Query	   *query;			/* whose entry it is */
	bool		is_private;
	bool		is_included;
	Bitmapset  *joins;			/* outer joins that may have no row of it */
	Index		number;
	int			part;			/* items of other parts are not connected */

	/* of a list */
	Var		   *column;			/* what it stands for, as the key query names
								 * it */
	Node	   *of;				/* an expression that it stands for; NULL: it
								 * is column */
	Expr	   *values;			/* an array, in which NULL may be; NULL: not
								 * filled yet */
	DpColumn   *policy;			/* that declares it, or NULL */
	DpListedValue *listed;		/* it is declared; rows are held to it where
								 * it is a key */
	bool		is_key;			/* a key is just that */
	bool		is_series;		/* values is a function that returns rows */
	bool		is_matched;		/* outer joins are to be asked of it */
	/* where it is in the query of its part */
	Index		rti;
	Index		join_rti;		/* of the outer join that it is appended by */
} DpKeyQueryItem;

/* an outer join: by number, from 1 on */
typedef struct DpKeyQueryJoin
{
	Bitmapset  *items;			/* that it may have no row of */
	bool		is_whole;		/* all of its conditions are in the key query */
	bool		is_anti;		/* rows with a match are left out */
	Index		rti;			/* of the entry that says whether it has */
} DpKeyQueryJoin;

/* a conjunct of WHERE or of a join's condition */
typedef struct DpKeyQueryCondition
{
	Node	   *expr;
	Node	   *resolved;		/* over public columns and lists; NULL:
								 * unknown */
	Bitmapset  *joins;			/* outer joins that it belongs to */
	Bitmapset  *items;			/* that it reads, resolved */
	bool		is_whole;		/* resolved says all that expr says */
	bool		splits_cells;	/* points do not tell whether it holds for all
								 * that they stand for */
	bool		follows;		/* from others: asked only of what is there
								 * without it */
	bool		by_cells;		/* known from cells, or not at all */
	bool		is_included;
} DpKeyQueryCondition;

/* expressions of which at least one has a known value, and that are equal in all rows */
typedef struct DpKeyQueryClass
{
	List	   *members;
} DpKeyQueryClass;

/* what comparisons with constants are taken for; see value_cells.c */
typedef enum DpCellStage
{
	DP_CELLS_NONE,				/* they are not known */
	DP_CELLS_OF_KEYS,			/* constants of keys are being found */
	DP_CELLS_OF_CONDITIONS,		/* those of conditions, on the same */
	DP_CELLS_FOUND				/* tests of lists, which are filled */
} DpCellStage;

/* which lists may stand for what an expression reads */
typedef enum DpKeyQueryLists
{
	DP_LISTS_FOUND,				/* those that are there */
	DP_LISTS_KNOWN,				/* also those that the policy or conditions
								 * tell */
	DP_LISTS_ANY				/* also those of all results of what has few */
} DpKeyQueryLists;

typedef struct DpKeyQuery
{
	DpLevel    *level;
	struct DpEntryMap *entries; /* what the level's entries are here */
	List	   *items;			/* DpKeyQueryItem */
	List	   *joins;			/* DpKeyQueryJoin */
	List	   *conditions;		/* DpKeyQueryCondition */
	List	   *classes;		/* DpKeyQueryClass */
	List	   *outputs;		/* Vars of the level's entries and, each after
								 * it, what the key query names it */
	List	   *fits;			/* Exprs: conditions that come with values of
								 * classes */
	DpCellStage cell_stage;
	List	   *cells;			/* DpKeyQueryCells */
	List	   *null_tested;	/* Exprs that keys ask for NULL */
	bool		is_planned;		/* public columns are lists, too */
	Var		   *beyond;			/* has more declared keys than there is room
								 * for, so many */
	int64		nbeyond;
} DpKeyQuery;

/* key_query.c: collects what the level reads, and its conditions */
extern DpKeyQuery *dp_key_query_start(DpLevel *level);

/* key_query.c: returns an expression of the level as the key query names its columns; NULL: part of it is an aggregate or the like */
extern Node *dp_key_query_name(DpKeyQuery *s, Node *expr);

/* key_query.c: returns the level's Var that is a protected column; NULL: none is just that */
extern Var *dp_key_query_level_var(DpKeyQuery *s, Var *column);

extern DpKeyQueryItem *dp_key_query_item(const DpKeyQuery *s, int number);
extern DpKeyQueryItem *dp_key_query_add_item(DpKeyQuery *s);

/* key_query.c: adds a condition of the level, over what the key query names */
extern DpKeyQueryCondition *dp_key_query_add_condition(DpKeyQuery *s, Node *expr);

/* key_query.c: returns the conditions that hold for each row: of WHERE, and of inner joins */
extern List *dp_key_query_where(const DpKeyQuery *s);

extern Bitmapset *dp_key_query_included(const DpKeyQuery *s);

/*
 * known_values.c: returns expr over public columns, lists and constants alone,
 * NULL where it is not known.  Adds to items what it reads.
 */
extern Node *dp_key_query_resolve(DpKeyQuery *s, Node *expr, DpKeyQueryLists with_lists, Bitmapset **items);

/* known_values.c: the same of a condition, or of a conjunct in it */
extern Node *dp_key_query_resolve_condition(DpKeyQuery *s, const DpKeyQueryCondition *condition, Node *part, Bitmapset **items);

/* key_lists.c: fills a list that the policy declares; ZC002 where there is no room for it */
extern void dp_key_query_fill_list(DpKeyQuery *s, DpKeyQueryItem *item);

/* key_lists.c: returns the list that stands for an expression; NULL: there is none */
extern DpKeyQueryItem *dp_key_query_find_list(DpKeyQuery *s, Node *expr);

/* key_lists.c: returns what a list has, in the type of what it stands for */
extern Node *dp_key_query_list_var(const DpKeyQueryItem *item);

/* key_lists.c: makes a list of values, an array or a function that returns rows, that stands for an expression */
extern DpKeyQueryItem *dp_key_query_add_list(DpKeyQuery *s, Node *expr, Expr *values);

/*
 * key_lists.c: makes a list of the values that the policy declares for an expression, which is a column, or else, if
 * is_asked, of those with which it satisfies a condition; NULL: they are not known
 */
extern DpKeyQueryItem *dp_key_query_make_list(DpKeyQuery *s, Node *expr, bool is_asked);

/* key_lists.c: makes a list of the values with which an expression satisfies a condition; NULL: they are not known */
extern DpKeyQueryItem *dp_key_query_list_asked(DpKeyQuery *s, Node *expr);

/* key_lists.c: makes a list of the values that a column of a public table has now; NULL: the asker may not read them, or they are many */
extern DpKeyQueryItem *dp_key_query_list_public(DpKeyQuery *s, Var *column);

/* key_lists.c: makes a list of all that an expression can be, a truth value, a field of a time, or a number that conditions limit; NULL: that is much */
extern DpKeyQueryItem *dp_key_query_list_results(DpKeyQuery *s, Node *expr);

/* key_lists.c: makes a list of the integers, or days, that conditions leave an expression, if these are no more than so many; NULL: it is not made */
extern DpKeyQueryItem *dp_key_query_list_range(DpKeyQuery *s, Node *expr, int most);

/* key_lists.c: returns an array of the integers, or days, from first to last as values of a type; NULL: they are too many, or it has none */
extern Const *dp_range_array(Oid type, int64 first, int64 last, bool with_null);

/* planned_keys.c: returns the values of a key that is known while the query is planned, sorted, each once, NULL not among them; NULL: it is not */
extern Const *dp_key_query_values(DpKeyQuery *s, Node *expr, int part, bool *null_key);

/* planned_keys.c: tells whether an expression, or a list of them, is not to be evaluated while the query is planned */
extern bool dp_is_of_execution(Node *node);

/*
 * buckets.c: makes lists of points for the dates and timestamps that keys, in
 * their safe form and not known without, read
 */
extern void dp_key_query_add_points(DpKeyQuery *s, List *keys);

/* buckets.c: makes lists for the integers that such keys read, if conditions leave no more than so many of them */
extern void dp_key_query_add_integers(DpKeyQuery *s, List *keys, int most);

/* buckets.c: makes lists of points as dp_key_query_add_points, for keys and others together, where conditions give both ends of a range */
extern void dp_key_query_add_asked_points(DpKeyQuery *s, List *keys, List *others);

/*
 * width_buckets.c: makes lists for the calls of width_bucket in a key of the
 * level, whose safe form named is, and returns that with the lists in it
 */
extern Node *dp_key_query_put_buckets(DpKeyQuery *s, Node *expr, Node *named);

/* join_matches.c: limits public expressions that protected columns, or days or other units of them, are compared with to the range of these */
extern void dp_key_query_bound_compared(DpKeyQuery *s);

/*
 * join_matches.c: tells whether a condition, in saying something of an expression, limits public rows alone: its columns are
 * public, and of all outer joins that the condition belongs to
 */
extern bool dp_key_query_is_bounded(DpKeyQuery *s, const DpKeyQueryCondition *condition, Node *expr);

/* known_values.c: finds the classes of what conditions equate */
extern void dp_key_query_equate(DpKeyQuery *s);

/* join_matches.c: adds what outer joins that compare with the same protected expression tell of each other's rows */
extern void dp_key_query_relate_matches(DpKeyQuery *s);

/*
 * join_matches.c: makes lists of what conditions leave of the protected columns that outer joins compare with public ones;
 * keys: those that are not known yet, which may read the same columns
 */
extern void dp_key_query_list_matched(DpKeyQuery *s, List *keys);

/*
 * references.c: adds, where foreign keys of protected tables are compared with
 * public columns, that the referenced rows exist
 */
extern void dp_key_query_follow_references(DpKeyQuery *s);

/*
 * value_cells.c: returns what a condition that is not known otherwise is in terms of
 * lists of cells, and adds these to items; NULL: it has none.  Before they
 * are filled it returns the condition, of which it has noted the constants.
 */
extern Node *dp_key_query_tell_cells(DpKeyQuery *s, Node *node, Bitmapset **items);

/* never_null.c: tells whether an expression may be NULL in a row that satisfies the conditions */
extern bool dp_key_query_may_be_null(DpKeyQuery *s, Node *expr);

/* value_cells.c: adds cells of what the last key asks for NULL, if it asks for nothing else */
extern void dp_key_query_ask_nulls(DpKeyQuery *s);

/* value_cells.c: makes the lists of cells, when all their constants are known */
extern void dp_key_query_fill_cells(DpKeyQuery *s);

/* value_cells.c: adds what conditions say of expressions with cells by what is made of these: t - interval '1 day' < ... */
extern void dp_key_query_imply_limits(DpKeyQuery *s);

/* value_cells.c: returns the number of expressions that have cells; forgets all but the first n, and what the last key asks for NULL */
extern int	dp_key_query_count_cells(const DpKeyQuery *s);
extern void dp_key_query_forget_cells(DpKeyQuery *s, int n);

/* known_values.c: returns the public expression over columns that expr is equal to in all rows, NULL if there is none */
extern Node *dp_key_query_known_by(DpKeyQuery *s, Node *expr);

/* known_values.c: returns the expression without columns that expr is equal to in all rows, NULL if there is none */
extern Node *dp_key_query_constant(DpKeyQuery *s, Node *expr);

/* key_query.c: tells whether the asker may read a table of a query that may read it for somebody else */
extern bool dp_key_query_may_read(Query *query, RangeTblEntry *rte);

/*
 * key_query_parts.c: finds what belongs to the key query, in parts that nothing
 * connects.  read: Bitmapsets of the items that expressions read.
 */
extern void dp_key_query_find_parts(DpKeyQuery *s, List *read);

/* key_query_select.c: makes the query of one part; keys: its key expressions, resolved */
extern Query *dp_key_query_select(DpKeyQuery *s, int part, List *keys);

/* key_query_select.c: lets a query return distinct keys, in their order */
extern void dp_key_query_show_keys(Query *query, List *keys);

/*
 * key_query_operands.c: returns queries that read one operand each of every UNION ALL
 * in a query, each combination of them once; NIL: it reads none, or they are too many
 */
extern List *dp_key_query_operands(Query *query);

/* key_query_operands.c: returns the query of what any of several such queries returns */
extern Query *dp_key_query_union(List *queries);

#endif							/* DP_KEY_QUERY_H */
