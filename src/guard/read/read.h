/*-------------------------------------------------------------------------
 *
 * read.h
 *	  What a level reads: rows of protected tables, whose they are, and what
 *	  is read beside them.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_READ_H
#define DP_READ_H

#include "guard/level.h"
#include "utils/rel.h"

/* ------------------------------------------------------------------------
 * lineage.c
 * ------------------------------------------------------------------------
 */

/* the table's column that an expression is, if it is just that */
typedef struct DpColumnOrigin
{
	Oid			relid;
	AttrNumber	attnum;
	Oid			check_as_user;	/* who must be allowed to read it: InvalidOid:
								 * who asks */
	bool		is_protected;
	bool		inherit;		/* with the rows of children and partitions */
	bool		may_be_null;	/* also where the column is not: an outer join
								 * may have no row of the table */
	bool		has_value;		/* WHERE of a subquery leaves rows of NULL out */
} DpColumnOrigin;

/*
 * Follows a Var of level query through join aliases, subqueries and WITH
 * references to a table's column.  scope may be NULL when there are no WITH
 * references.  Returns false when expr is anything else, an aggregate say.
 */
extern bool dp_trace_column(Query *query, DpScope *scope, Node *expr, DpColumnOrigin *origin);

/* what a column of a UNION ALL, or of a query over one, is in one of its operands */
typedef struct DpColumnSource
{
	struct DpScope *scope;		/* whose query the expression is of */
	Node	   *expr;
	bool		may_be_null;	/* also where the expression is not: by an
								 * outer join above */
} DpColumnSource;

/*
 * Returns what a Var of level query is in each operand of the set operation that
 * it comes from (DpColumnSource), where each row has the value that it has in one of
 * them; NIL: it comes from none.  scope: as above.
 */
extern List *dp_column_sources(Query *query, struct DpScope *scope, Node *expr);

/* what to write in place of a function that makes several rows of one */
#define DP_INSTEAD_OF_SETS \
	"join one of constants on a condition, as in JOIN generate_series(1, 100) AS g (n) ON g.n <= column, " \
	"or write UNION ALL of a SELECT for each value"

/* the name of entries that are SELECTs of a UNION, EXCEPT or INTERSECT, and how those are refused that show no unit */
#define DP_OPERAND "operation"
#define DP_REFUSE_OPERATION \
	errmsg("UNION, EXCEPT and INTERSECT of protected rows compare rows of different persons unless each SELECT shows the privacy unit; " \
		   "add the unit to each, or write UNION ALL in the place of UNION")

/*
 * Tells whether expr is the unit column of a protected table, in all operands if it comes from several.
 * of_all_rows: and whether all rows that are somebody's have a value of it, as no outer join may have made
 * it NULL.  A row that an outer join finds no match for may be somebody's, whose unit another column names.
 */
extern bool dp_is_unit_origin(struct DpScope *scope, Node *expr, bool of_all_rows);

/*
 * Tells whether an expression of query is not NULL in any row that satisfies conditions, nor, where it has
 * aggregates, in any group of such rows.
 */
extern bool dp_has_value(Query *query, Node *conditions, Node *expr);

/* Tells whether expr is a column that is NOT NULL; a plan notices when it no longer is. */
extern bool dp_is_never_null(Query *query, Node *expr);

/* Tells so of a column of a table, also of those that inherit from it. */
extern bool dp_column_has_no_null(Oid relid, AttrNumber attnum, bool inherit);

/* Tells so of an expression that a query shows, also by its WHERE. */
extern bool dp_shows_no_null(Query *query, Node *expr);

/*
 * Tells whether each row has the row that a foreign key refers to, if no
 * column of the key is NULL; a plan notices when that is no longer so.
 */
extern bool dp_foreign_key_holds(const ForeignKeyCacheInfo *key);

/*
 * Tells whether each row of the outer side of a left or right join that satisfies the query's WHERE
 * has a match, by a foreign key over columns that are not NULL then.
 */
extern bool dp_join_always_matches(Query *query, JoinExpr *join);

/*
 * Returns the WITH query that an entry of level scope names, and in owner the
 * level that it belongs to; NULL for recursive ones and those that change data.
 */
extern CommonTableExpr *dp_find_cte(DpScope *scope, RangeTblEntry *rte, DpScope **owner);

/* ------------------------------------------------------------------------
 * private_rows.c
 * ------------------------------------------------------------------------
 */

/*
 * Returns the number of the first entry of the level with rows of a protected
 * table that would have to be released, 0 if there is none, and in base the
 * table.  With even_if_readable, tables count, too, that the calling roles may
 * read.
 */
extern Index dp_reads_rows(DpScope *scope, bool even_if_readable, RangeTblEntry **base);

/* Tells whether a query below the scope's aggregates protected rows of several units: it is released, or refused. */
extern bool dp_contains_release(DpScope *scope);

/* Tells whether one entry of the level, rte, has such rows. */
extern bool dp_entry_yields_rows(DpScope *scope, RangeTblEntry *rte, bool even_if_readable);

/* ------------------------------------------------------------------------
 * unique.c
 * ------------------------------------------------------------------------
 */

/*
 * Tells whether, for any values of the columns of entries known (and of
 * constants and parameters), at most one row of the table that is entry rti
 * satisfies all of the conditions.
 */
extern bool dp_at_most_one_row(Oid relid, Index rti, List *conditions, const Bitmapset *known);

/* Tells whether a subquery looks up a row of one table by a unique key, so that it shows one row or none for each of the level around it. */
extern bool dp_finds_one_row(Query *sub);

/* ------------------------------------------------------------------------
 * public_rows.c
 * ------------------------------------------------------------------------
 */

/*
 * Tells whether rte is an unprotected table that the inner plan may read
 * directly, with the rights of run_as: nobody but PostgreSQL, superusers,
 * run_as and the dataset's owner can make its planning or reading run code.
 */
extern bool dp_is_trusted_table(RangeTblEntry *rte, Oid run_as, Oid dataset_owner);

/* Makes a SELECT of nothing yet from a copy of entry rti of query, with its permissions and row security. */
extern Query *dp_select_copied(Query *query, Index rti, RangeTblEntry *copy);

/*
 * Turns entry rti of query, which reads nothing protected and refers to
 * nothing outside of itself, into rows that are computed before the release is
 * paid for, with the rights of who asks.  columns holds the numbers of the
 * columns that are read.
 */
extern void dp_make_prefetch(DpRelease *release, Query *query, Index rti, const Bitmapset *columns);

/* Returns what computes the rows that an entry of the release is; NULL: it is none of these */
extern DpPrefetch *dp_prefetch_of(const DpRelease *release, const RangeTblEntry *rte);

/* ------------------------------------------------------------------------
 * same_unit.c
 * ------------------------------------------------------------------------
 */

/* Returns those of the expressions that are columns of the query, without aliases, and the columns that conditions, of all of its rows, make equal to them. */
extern List *dp_equal_columns(Query *query, List *conditions, List *columns);

/*
 * Tells whether rows that satisfy all of the conditions have, on both sides,
 * the same privacy unit.  Adds to unique_keys the indexes by which this is so.
 */
extern bool dp_same_unit(List *conditions, const DpRowUnit *a, const DpRowUnit *b, List **unique_keys);

/* Tells whether the conditions make a token and one of others lead to the same row, by columns that are not NULL. */
extern bool dp_same_row(List *conditions, const DpToken *token, List *others);

/* Returns vars and tokens of a unit as DpTokens. */
extern List *dp_unit_names(const DpRowUnit *unit);

/* Tells whether columns contain all that one of its names is made of; unique_keys: as above. */
extern bool dp_names_unit(const DpRowUnit *unit, List *columns, List **unique_keys);

/* ------------------------------------------------------------------------
 * joins.c, join_refusals.c
 * ------------------------------------------------------------------------
 */

/* Returns a column's name as messages write it, with that of its entry. */
extern const char *dp_column_name(Query *query, Var *var);

/* one entry of the join tree, by its number in the range table */
typedef struct DpFromItem
{
	bool		is_private;
	DpRowUnit	unit;			/* one_row: whatever joins there are inside */
	Oid			relid;			/* a public table that is read directly */
} DpFromItem;

/*
 * Makes outer joins inner ones where each row has a match, by a foreign key, and the
 * query, a subquery, shows a column that they compare, of the side that could be NULL.
 */
extern void dp_make_joins_inner(Query *query);

/*
 * Finds the privacy unit of the rows of from; items is an array by rtindex of
 * its entries.  ZC002 for joins in which a row could belong to two units, or
 * to none; where: the location of the level, for messages.
 */
extern void dp_analyse_joins(DpSplitContext *cxt, DpFrom *from, DpFromItem *items, int where);

/* ------------------------------------------------------------------------
 * source.c, subquery.c: one level of the outer query, and those below it
 * ------------------------------------------------------------------------
 */

typedef struct DpSource
{
	DpSplitContext *cxt;
	DpLevel    *level;
	bool		even_if_readable;
	List	   *inlined;		/* CommonTableExpr, once for each copy */
	List	   *copied;			/* DpCopiedQuery: what all copies have */
} DpSource;

/*
 * Puts what a subquery reads in the place of it, if it is all that the level reads, filters,
 * projects and joins, and keeps public rows that have no match among protected ones (pull_up.c).
 */
extern void dp_pull_up_unmatched(DpSource *s, DpScope *scope);

/* Fills level->from, allow, table and what the release knows about them. */
extern void dp_read_source(DpLevel *level, DpScope *scope, bool even_if_readable);

/* Reads from->query, at any depth.  expressions: what else the level computes from its entries. */
extern void dp_read_level(DpSource *s, DpScope *scope, DpFrom *from, DpAllowContext *allow,
						  Node *expressions);

/* Reads a subquery over protected tables, entry rti of query, and fills item. */
extern void dp_read_subquery(DpSource *s, DpScope *scope, Query *query, Index rti, Node *expressions,
							 DpFromItem *item);

/* ------------------------------------------------------------------------
 * set_operations.c
 * ------------------------------------------------------------------------
 */

/*
 * Returns the query that scope's, a set operation over protected rows, means: a
 * UNION ALL, or one without set operations.  ZC002 where there is none.
 */
extern Query *dp_write_out_operation(DpSource *s, DpScope *scope);

/* Tells whether set operations, or one operand of theirs, are UNION ALL throughout. */
extern bool dp_is_union_all(Node *node);

/* Returns the entries, ints, that are the operands of a UNION ALL. */
extern List *dp_operands(Query *sub);

/*
 * Makes the operands of scope's query, a UNION ALL, ready to be read, and returns
 * which columns are to be read of all of them.  ZC002 for one without protected rows.
 */
extern const Bitmapset *dp_prepare_operands(DpSource *s, DpScope *scope, const Bitmapset *columns);

/* Makes columns below the operation, in place, of the types that they have above it; an operand that groups stays as it is. */
extern void dp_cast_columns(Query *operand, SetOperationStmt *op);

/* Makes Vars of entry rti for the columns of a set operation, with the names of targets. */
extern List *dp_operation_targets(Index rti, SetOperationStmt *op, List *targets);

/* Refuses operands of which a column, a number, is of the types a and b. */
extern void dp_refuse_operand_types(DpSplitContext *cxt, int location, int column, Oid a, Oid b);

/* ------------------------------------------------------------------------
 * union_all.c
 * ------------------------------------------------------------------------
 */

/*
 * Puts a new UNION ALL of its operands, which were read, in the place of entry
 * rti of the query above, and fills item.  items: those of the operands.  ZC002 for
 * units, or columns, of different types.
 */
extern void dp_rebuild_union(DpSource *s, RangeTblEntry *rte, Index rti, DpFromItem *items, DpFromItem *item);

/* ------------------------------------------------------------------------
 * subquery_kinds.c
 * ------------------------------------------------------------------------
 */

/* Returns the name of what a subquery reads first, for messages about both. */
extern const char *dp_first_name(Query *sub);

/*
 * Tells whether a subquery filters and joins rows and does nothing else; what
 * orders them does not matter.  exists: nor does how many there are.
 */
extern bool dp_only_reads(Query *sub, bool exists);

/* Returns the number of rows that LIMIT or OFFSET says by its text, otherwise where it is left out or NULL; -1: it says none. */
extern int64 dp_rows_of_limit(Node *limit, int64 otherwise);

/* Tells whether a LIMIT, which may be NULL, leaves at least one row. */
extern bool dp_leaves_a_row(Node *limit);

/* Tells whether a subquery aggregates, and has one row, whatever there is to read. */
extern bool dp_has_one_row(Query *sub);

/* Tells whether it groups rows, or leaves out those that are the same, and does nothing that must come after it. */
extern bool dp_groups_rows(Query *sub);

/* which rows LIMIT and OFFSET leave, constants of at least 0 */
typedef struct DpTaken
{
	int64		skipped;
	int64		count;			/* of those behind; PG_INT64_MAX: all */
} DpTaken;

/* Tells whether it reads rows and shows the first of them, or those behind, and which. */
extern bool dp_takes_first(Query *sub, DpTaken *taken);

/* Tells whether it computes something of the row at hand alone. */
extern bool dp_is_expressions(Query *sub);

/* ------------------------------------------------------------------------
 * correlations.c
 * ------------------------------------------------------------------------
 */

/* what the rows of a subquery are compared with */
typedef struct DpCorrelation
{
	List	   *keys;			/* expressions of the subquery */
	List	   *equalities;		/* of the level around it: with each key,
								 * whose place is ... */
	List	   *places;			/* ... this side (int) */
	List	   *conditions;		/* of the level alone */
} DpCorrelation;

/* Adds an equality of key, its side of this number; false if it is none by which that is grouped. */
extern bool dp_add_key(DpCorrelation *c, Node *equality, int place, Node *key);

/* Takes those of its conditions out of a subquery that name the level around it; false, and nothing has changed: one has a subquery. */
extern bool dp_take_outward(Query *sub, List **conditions);

/* Returns the column of the level around a subquery that shows a column of it. */
typedef Node *(*DpShowColumn) (Node *column, void *context);

/* Returns what a subquery says as the level around it would say it. */
extern Node *dp_put_outward(Node *node, DpShowColumn show, void *context);

/* Leaves the WHERE of a subquery, in place, the conditions that are its own, and adds the others; false if that cannot be. */
extern bool dp_take_conditions(DpCorrelation *c, Query *sub);

/* Forgets how rows are ordered, and how many are left of those, where there is one row or nobody counts them. */
extern void dp_forget_order(Query *sub);

/* Makes a subquery, in place, one of a row for all rows with the same keys; it shows these and then columns. */
extern void dp_group_by_keys(Query *sub, const DpCorrelation *c, List *columns);

/*
 * Joins entry rti, which is such a subquery and shows its keys from column first
 * on, to all that the level reads; returns the number of the join.
 */
extern int	dp_join_compared(Query *query, Index rti, int first, const DpCorrelation *c);

/*
 * Finds the aggregates that a subquery's value is made of; false if it is not made of these and of the level
 * around alone, or what one of them is of no rows is not known.
 */
extern bool dp_compared_columns(Node *value, List **columns);

/* Tells whether what a subquery computes of its rows is a number of them, 0 of none. */
extern bool dp_is_count(Node *column);

/* Returns that value as the level has it, where these are columns of entry rti and may be NULL by a join; released: a count may be NULL, too. */
extern Node *dp_compared_value(Node *value, const DpCorrelation *compared, List *columns, Index rti, int join, bool released);

/* ------------------------------------------------------------------------
 * compared_rows.c
 * ------------------------------------------------------------------------
 */

/*
 * Takes the conditions that a flattened subquery compares the level around it by, scope's query, out of it
 * (dp_take_conditions).  Where they are more than equality, of columns of one entry, the subquery reads these rows, too, and
 * compares them with the entry's by that.  False where that cannot be: the rows may differ when they are read again.  s: of a level of
 * protected rows; NULL: of a public one.  scope: NULL where equality alone is taken.
 */
extern bool dp_take_all_conditions(DpCorrelation *c, Query *sub, DpScope *scope, const DpSource *s);

/* Returns a copy of an entry that reads the same rows where it stands below the query; NULL: the rows may differ. */
extern RangeTblEntry *dp_copied_entry(DpScope *scope, Index rti);

/* Returns column i of an entry, as a Var of entry rti; NULL: it was dropped, or the entry is no table or subquery. */
extern Var *dp_column_of_entry(RangeTblEntry *rte, Index rti, AttrNumber i);

/* Tells whether an expression, a query, or entries of one may read other rows when they are read again. */
extern bool dp_may_read_others(Node *node);

/*
 * The subLinkId of EXISTS that public_filters.c adds to a release, which leaves rows out and tells nothing of its keys, and
 * of such that tells them, too.  The entries that they become have the marks as their enrname.
 */
#define DP_LINK_FILTERS		(-1)
#define DP_LINK_TELLS_KEYS	(-2)
#define DP_FILTER_MARK		"filter"
#define DP_KEYS_MARK		"keys"

/* ------------------------------------------------------------------------
 * full_joins.c
 * ------------------------------------------------------------------------
 */

/*
 * Writes FULL JOINs of protected rows, of scope's flattened query, in place, as a left join and the rows of the right side
 * that have no match.  Those that it does not understand stay, and are refused.
 */
extern void dp_write_out_full_joins(DpScope *scope, DpFrom *from, const DpSource *s);

/* ------------------------------------------------------------------------
 * near_columns.c, lifting.c
 * ------------------------------------------------------------------------
 */

/* Flattens sub (dp_flatten_level), and lets subqueries in its WHERE name columns of it instead of those that it compares them with. */
extern void dp_bring_near(Query *sub);

/* Tells whether equal values of a column's type are the same, in any collation that rows are compared in. */
extern bool dp_equal_is_same(Var *var);

/* Puts columns of a query, near, in the place of those of the level around it, far, in an expression of the query. */
extern Node *dp_put_near(Node *node, List *far, List *near);

/* Lets such a subquery show, in place, the first rows of each of these keys, and the keys; returns their targets. */
extern List *dp_first_of_keys(Query *sub, List *keys, const DpTaken *taken);

/*
 * Returns a query that only reads (dp_only_reads) and means what a subquery
 * means that groups rows, or takes the first of them; the subquery is part of it.
 * One that names no level around it may be any.  NULL: there is none.  scope, s: as of dp_take_all_conditions.
 */
extern Query *dp_lifted(Query *sub, DpScope *scope, const DpSource *s);

/* ------------------------------------------------------------------------
 * entry_columns.c
 * ------------------------------------------------------------------------
 */

/* Counts the places where columns of entry rti are named; -1: it is named otherwise, or where they cannot be replaced. */
extern int	dp_count_places(Query *query, Index rti);

/* Tells whether values may be put in so many places. */
extern bool dp_may_be_repeated(List *values, int places);

/* Tells whether the condition of a join below node, of another one than this, names columns of entry rti. */
extern bool dp_is_named_in_joins(Node *node, Index rti, JoinExpr *but);

/* Notes that these values were written as columns of entry rti. */
extern void dp_note_columns(DpFrom *from, Index rti, List *values);

/* Returns a copy of an expression with values in the place of the columns of entry rti. */
extern Node *dp_put_columns(Node *expr, Index rti, List *values);

/* Does so wherever the query names them, in place. */
extern void dp_replace_columns(Query *query, Index rti, List *values);

/* ------------------------------------------------------------------------
 * unpivot.c
 * ------------------------------------------------------------------------
 */

/*
 * Returns public rows for entry rti, a subquery or function that makes rows of the
 * expressions of one: VALUES, a UNION ALL of such, elements of arrays.  values: what
 * then stands for each of its columns.  NULL: it is something else.  condition: that
 * of a LEFT JOIN, or NULL; becomes what WHERE asks instead.
 */
extern RangeTblEntry *dp_unpivoted(Query *query, Index rti, Node **condition, List **values);

/* ------------------------------------------------------------------------
 * made_rows.c
 * ------------------------------------------------------------------------
 */

/* Tells whether an entry makes rows of each of the level's, by unnest alone, which is put in the place of functions that do the same. */
extern bool dp_makes_rows(RangeTblEntry *rte);

/* Makes what such an entry reads safe, in place.  ZC002 for arrays that may not be read. */
extern void dp_vet_made_rows(RangeTblEntry *rte, const DpAllowContext *allow);

/* Puts such an entry in the place of functions of the select list that return sets, where PostgreSQL calls them before it groups rows. */
extern void dp_write_out_sets(Query *query);

/* reworded.c: writes aggregates of intervals and whole rows, of a level that is released, or of one unit's rows, as others. */
extern void dp_reword_aggregates(DpScope *scope, bool is_released);

/* ------------------------------------------------------------------------
 * lateral.c
 * ------------------------------------------------------------------------
 */

/*
 * Writes the LATERAL subqueries of scope's query, of which no Var is a join's, without
 * LATERAL, in place, as far as that is possible.  Where the query is public,
 * those alone that release protected rows.  Adds to from->written.  s: of a level of protected rows; NULL: of a public one.
 */
extern void dp_write_out_laterals(DpScope *scope, DpFrom *from, const DpSource *s);

/* ------------------------------------------------------------------------
 * sublinks.c, sublink_values.c, sublink_places.c
 * ------------------------------------------------------------------------
 */

/* a query whose subqueries become columns; zero-initialize, but for the first three */
typedef struct DpSublinks
{
	DpSource   *s;
	DpScope    *scope;
	DpFrom	   *from;
	bool		releases;		/* the query is public, and they are releases */
	bool		truth;			/* what is looked at asks only whether it is
								 * true */
	List	   *known;			/* what has become of subqueries */
	List	   *groups;			/* of them, as they were joined */
	List	   *keys;			/* group keys with subqueries, as they were
								 * ... */
	List	   *key_values;		/* ... and have become */
	Bitmapset  *or_null;		/* entries whose values, counts too, are NULL
								 * where there is no row */
} DpSublinks;

/* Returns node with columns in the place of the subqueries that it contains, which are joined, as far as that is possible. */
extern Node *dp_replace_sublinks(Node *node, DpSublinks *v);

/*
 * Puts joins in the place of conditions with subqueries in the WHERE of
 * from->query, in place, as far as that is possible.  scope: that of the query.
 */
extern void dp_join_sublinks(DpSource *s, DpScope *scope, DpFrom *from);

/* The same of those in conditions of joins, or takes these to WHERE: to be called before. */
extern void dp_join_sublinks_of_joins(DpSource *s, DpScope *scope, DpFrom *from);

/*
 * Returns the condition, a conjunct of that WHERE, with columns of subqueries in
 * the place of those that it contains; these are joined, as far as that is possible.
 */
extern Node *dp_join_sublink_values(DpSource *s, DpScope *scope, DpFrom *from, Node *condition);

/*
 * Puts subqueries of one value in the place of what a query's conditions have, or
 * what is read of rows in its select list and HAVING, that is known before rows are
 * read, and that the allow-list refuses (known_parts.c).
 */
extern void dp_put_known_parts(Query *query);
extern void dp_put_known_parts_of_values(Query *query);

/*
 * Puts columns of subqueries, which are joined to from->query, in the place of
 * those in its select list and HAVING that are computed of its rows, as far as
 * that is possible: all of them, or those in aggregates and group keys.
 */
extern void dp_join_sublinks_of_values(DpSource *s, DpScope *scope, DpFrom *from);

/*
 * Does so with what a public level asks of protected rows for each of its own rows
 * (SELECT city, (SELECT count(*) FROM orders o WHERE o.shop = s.shop) FROM shops s),
 * in its WHERE, too: it becomes a release by what is compared.  What is compared by
 * more than equality stays, and is refused where it is split.  Returns the entries that were added for values, 0 where
 * a count has no rows.
 */
extern Bitmapset *dp_join_released_values(DpSplitContext *cxt, DpScope *scope);

/* ------------------------------------------------------------------------
 * tokens.c
 * ------------------------------------------------------------------------
 */

/* Makes a Var of a table's column. */
extern Var *dp_table_var(Index rti, Oid relid, AttrNumber attnum);

/*
 * Fills tokens and or_null of entry rti, a protected table: first the row that
 * its foreign key leads to, if its rows belong to people through one, then the
 * row itself by each of its unique keys.  ZC004 when the foreign key is gone.
 */
extern void dp_table_tokens(DpSource *s, Index rti, Oid relid, DpRowUnit *unit);

/* Returns what those tokens are made of: Lists of ints, numbers of columns of the table itself. */
extern List *dp_table_keys(Oid relid);

/* Returns the one of tokens that leads to the unit by the fewest tables. */
extern DpToken *dp_nearest_token(List *tokens);

/* ------------------------------------------------------------------------
 * protected_table.c, parents.c
 * ------------------------------------------------------------------------
 */

/*
 * Returns the conditions that hold rows of a protected table, entry rti, to
 * units of a length that can be compared; NIL where any can.
 */
extern List *dp_unit_limit(Oid relid, Index rti);

/* Reads entry rti of query, a protected table, with its owner's rights, and fills item. */
extern void dp_read_protected(DpSource *s, Query *query, Index rti, DpFromItem *item);

/* Joins the tables to which the tokens of from lead, until its unit has an expression that names it. */
extern void dp_join_parents(DpSource *s, DpFrom *from);

/* ------------------------------------------------------------------------
 * with_query.c
 * ------------------------------------------------------------------------
 */

/*
 * Returns the columns of a WITH query that a copy of it has for a reference that
 * reads columns: where rows are put in order, those that any reference reads.
 */
extern const Bitmapset *dp_columns_of_copy(DpSource *s, DpScope *scope, RangeTblEntry *rte, const Bitmapset *columns);

/* Turns a reference to a WITH query into a copy of that, whatever else refers to it. */
extern void dp_copy_cte(RangeTblEntry *rte, const CommonTableExpr *cte);

/* Does so if no more copies than one are needed, or may be made; beforehand: it is to be prefetched. */
extern void dp_inline_cte(DpSource *s, DpScope *scope, RangeTblEntry *rte, bool beforehand);

/* Does so, in an expression or a subquery that is computed beforehand, with all references to WITH queries outside of it. */
extern void dp_inline_ctes_of(DpSource *s, DpScope *scope, Node *node);

/* Clears cte if nothing names it any more; returns false then. */
extern bool dp_keep_cte(Query *query, CommonTableExpr *cte);

/* ------------------------------------------------------------------------
 * windows.c: windows and DISTINCT ON of a subquery
 * ------------------------------------------------------------------------
 */

/* Forgets the windows that no column which is read, among columns, needs. */
extern void dp_prune_windows(Query *sub, const Bitmapset *columns);

/* Tell whether clauses, or those of windows, name the target of that number, which may be 0. */
extern bool dp_clauses_name(List *clauses, Index ref);
extern bool dp_windows_name(List *windows, Index ref);

/* Tells whether a target is what a window or DISTINCT ON parts or orders rows by. */
extern bool dp_windows_need(Query *sub, TargetEntry *tle);

/* Makes a query with DISTINCT, in place, one that groups by the columns of a subquery with its windows. */
extern void dp_group_windows(Query *sub);

/* Numbers rows in a subquery below, in place, if functions of several orders must see equal rows in one order. */
extern void dp_number_rows(Query *sub);

/* Refuses windows and DISTINCT ON that could be of more than one unit's rows. */
extern void dp_check_windows(DpSplitContext *cxt, Query *sub, DpFrom *from);

/* Gives new, which sub has become but for them, its windows. */
extern void dp_rebuild_windows(DpSplitContext *cxt, Query *sub, Query *new, const DpAllowContext *allow);

/* Gives it, after its windows, the DISTINCT ON of sub, if that has one. */
extern void dp_rebuild_distinct_on(DpSplitContext *cxt, Query *sub, Query *new);

/* ------------------------------------------------------------------------
 * window_order.c
 * ------------------------------------------------------------------------
 */

/*
 * Copies clauses of PARTITION BY, ORDER BY or DISTINCT ON over the targets of
 * new.  Refuses other orders than those of each type.
 */
extern List *dp_rebuild_order(DpSplitContext *cxt, List *clauses, Query *new);

/*
 * Adds to an order, and to the targets of new, images of values until rows of one
 * part that it takes for equal are the same in all of them.
 */
extern List *dp_complete_order(DpSplitContext *cxt, Query *new, List *values, List *partition, List *order);

/* Gives copy, of which the order is rebuilt, the frame of window. */
extern void dp_rebuild_frame(DpSplitContext *cxt, Query *new, WindowClause *window, WindowClause *copy,
							 const DpAllowContext *allow);

/*
 * Returns the options of the frame that a function has in a window whose order
 * is completed.  Refuses those that would mean something else there.
 */
extern int	dp_frame_of_rows(DpSplitContext *cxt, WindowFunc *function, WindowClause *window);

/* ------------------------------------------------------------------------
 * rebuild.c
 * ------------------------------------------------------------------------
 */

/* Makes a SELECT without anything. */
extern Query *dp_new_select(void);

/* Makes a UNION ALL of two queries or more, which have columns of the same types and become entries of this name. */
extern Query *dp_union_all(List *queries, const char *name);

/* Makes a SELECT of nothing yet from one entry, its first. */
extern Query *dp_select_from(RangeTblEntry *rte);

/*
 * Puts new nodes in place of the range table's.  entries: those of the
 * join tree, each a table, a subquery or a tuplestore by now.
 */
extern void dp_rebuild_entries(DpSource *s, Query *query, const Bitmapset *entries);

/* Makes a new tree, its conditions vetted and in their safe form. */
extern Node *dp_rebuild_join_tree(Node *node, const DpAllowContext *allow);

/* Makes a new query over the range table and join tree of sub; all else is vetted and made safe, but windows and DISTINCT ON. */
extern Query *dp_rebuild_subquery(DpSplitContext *cxt, Query *sub, const DpAllowContext *allow);

/* ------------------------------------------------------------------------
 * entries.c
 * ------------------------------------------------------------------------
 */

/* Replaces, in place, Vars of joins and of group keys by what they stand for. */
extern void dp_flatten_level(Query *query);

/* Tells whether an entry refers to its neighbours, or to levels around it. */
extern bool dp_refers_outside(DpScope *scope, RangeTblEntry *rte);

/* Lets a subquery show one column more, behind the others and before the hidden ones, which stand last; returns its target. */
extern TargetEntry *dp_show_column(Query *sub, Expr *column, const char *name);

/* Lets the subquery of an entry show it, and the entry name it. */
extern TargetEntry *dp_show_in_entry(RangeTblEntry *rte, Expr *column, const char *name);

/* Returns the numbers of the columns of entry rti that the join tree and expressions read. */
extern Bitmapset *dp_columns_read(Query *query, Index rti, Node *expressions);

/* Adds the columns of entry rti that the query reads, and what is in it; returns false for whole rows. */
extern bool dp_add_columns_read(Query *query, Index rti, Bitmapset **columns);

/* Adds the columns of a WITH query of owner that any reference to it reads; returns false for whole rows. */
extern bool dp_add_columns_of_cte(DpScope *owner, CommonTableExpr *cte, Bitmapset **columns);

/* Raises ZC002.  what: a noun phrase; remedy: a sentence without capital and stop. */
extern void dp_refuse_entry(DpSource *s, RangeTblEntry *rte, const char *what, const char *remedy);

/* Notes what the asker wrote in the place of an expression. */
extern void dp_note_written(DpFrom *from, Node *expr, Node *written);

/* Raises ZC002 for an entry that refers outside (dp_refers_outside). */
extern void dp_refuse_lateral(DpSource *s, RangeTblEntry *rte);

#endif							/* DP_READ_H */
