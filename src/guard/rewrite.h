/*-------------------------------------------------------------------------
 *
 * rewrite.h
 *	  What becomes of a statement and of its levels.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_REWRITE_H
#define DP_REWRITE_H

#include "guard/level.h"

/* ------------------------------------------------------------------------
 * split.c
 * ------------------------------------------------------------------------
 */

/*
 * Rewrites, in place, every level that aggregates protected rows.  ZC002 for
 * what is not releasable and not readable by who asks.
 */
extern void dp_split_query(Query *query, DpSplitContext *cxt);

/* ------------------------------------------------------------------------
 * empty_results.c, unread_columns.c, existence.c, named_values.c, changes.c: what is not released
 * ------------------------------------------------------------------------
 */

/*
 * Makes a level that cannot return a row, and that names protected tables which
 * the calling roles may not read, a query that reads nothing.  ZC001 where no
 * budget of theirs could pay for anything.
 */
extern void dp_answer_without_rows(DpScope *scope);

/*
 * Does so, where dp_cdp.empty_previews is on, with a statement that would be refused for the rows of relid that it
 * shows; false: it is another.
 */
extern bool dp_preview_without_rows(DpScope *scope, Oid relid);

/*
 * Makes subqueries of a private level that read a value of a released WITH query, which is named several times, columns of
 * one entry of FROM (named_values.c); tells whether it has.
 */
extern bool dp_name_values_once(DpScope *scope);

/*
 * Leaves out of the subqueries in FROM of the level what nobody reads, so that
 * it is not paid for; of a WITH query of the level, when all that names it was split.
 */
extern void dp_leave_out_unread(DpScope *scope);
extern void dp_leave_out_unread_of_cte(DpScope *scope, CommonTableExpr *cte);

/*
 * Has releases of groups that a public level is joined with, by their keys, read the rows of those groups alone that its
 * public rows, as its conditions leave them, can be joined with (public_filters.c).  values: entries that are there for
 * subqueries, of which each public row asks for a value, 0 where it counts and finds nothing.
 */
extern void dp_filter_releases(DpSplitContext *cxt, DpScope *scope, const Bitmapset *values);

/*
 * Tells whether public rows, each of which asks for a value of a release, tell its keys (public_keys.c).  scope: of
 * the release's query; table: a protected one that it reads; keys: that are compared, with these columns of rtable's entries.
 */
extern bool dp_rows_tell_keys(DpSplitContext *cxt, DpScope *scope, Oid table, List *keys, List *columns, List *rtable);

/* Returns a copy of a query without the conditions that this has added to it; NULL: there are none. */
extern Query *dp_without_filters(Query *query);

/* Writes out aggregates that others make up, of a level that is going to be released (composed.c). */
extern void dp_write_out_composed(Query *query);

/*
 * Puts a comparison of a count with its noise in the place of a level that asks
 * whether there is a row.  below_exists: it stands below EXISTS.  Returns false
 * where the level asks for anything else.
 */
extern bool dp_ask_whether_rows(Query *query, bool below_exists);

/*
 * Puts aggregates of distinct values, of a level of protected rows, together
 * from levels that release groups (distinct_values.c).  Returns false where
 * there is none, or the level is of another shape.
 */
extern bool dp_take_of_groups(DpScope *scope);

/* Refuses, ZC002, a change of a protected table that would tell of its rows who may not read them. */
extern void dp_check_change(DpSplitContext *cxt, Query *query);

/* Does so for COPY FROM.  attnames: Strings; NIL: all columns. */
extern void dp_check_copy_from(Oid relid, List *attnames);

/*
 * Refuse, with ZC002, to write rows into a table of Citus whose foreign keys ask protected tables, for who may not
 * read these: what a statement writes, and one table.
 */
extern void dp_check_written(Query *query);
extern void dp_check_shard_references(Oid relid);

/* Refuses to add such a foreign key to a table that has rows: shards look at once. */
extern void dp_check_added_references(const AlterTableStmt *alter);

/* ------------------------------------------------------------------------
 * inner_query.c, membership.c, verify.c, trusted.c: what runs on protected rows
 * ------------------------------------------------------------------------
 */

/* fingerprint.c: sets base_text, and fingerprint_text of each column, of a release whose FROM, WHERE, keys and parts are complete. */
extern void dp_write_fingerprint(DpRelease *release, DpFrom *from, DpInnerParts *parts);

/* Builds the inner query of one release; from->query becomes part of it. */
extern Query *dp_build_inner_query(DpRelease *release, DpFrom *from, DpInnerParts *parts);

/*
 * distribute.c: where the inner query reads tables whose rows are on other servers, makes it one that
 * they can compute, as late_query, too; ZC002 where there is none.  Returns false for others.
 * dp_reads_distributed tells whether a query, or one below it, reads such tables.
 */
extern bool dp_distribute(DpRelease *release);
extern bool dp_reads_distributed(Query *query);

/*
 * distribute_totals.c: dp_moment_aggregate returns the aggregate of a moment where rows are units; centers: it centers a
 * value itself, else it takes steps.  dp_use_builtin puts PostgreSQL's own aggregate in the place of one of a part; false: it
 * has no counterpart.  dp_make_cells_query makes an inner query with histograms one whose rows are keys, a cell and its total,
 * and consumes it; NULL: there are none, or some parts are no sums.
 */
extern Oid	dp_moment_aggregate(dp_moment moment, bool centers);
extern bool dp_use_builtin(TargetEntry *tle, const DpPart *part);
extern Query *dp_make_cells_query(DpRelease *release, Query *inner);

/* Refuses, with ZC002, an outer query with a table that Citus manages: it cannot plan one that reads released rows. */
extern void dp_refuse_managed(Query *outer);

/*
 * Makes a test whether value is in a list, an array, or is NULL where that is
 * listed, too; returns NULL where every value is.  A list becomes a parameter of
 * the release where it is long, or conditions of the query restrict the value.
 */
extern Expr *dp_make_membership(DpRelease *release, Query *query, Expr *value, Const *list, bool null_listed);

/* Makes the test whether a row is in none of the groups that are shown; NULL where the release is not of the rest. */
extern Expr *dp_make_rest_test(DpRelease *release, const DpInnerParts *parts);

/*
 * blocks.c: dp_find_blocks finds between which moments the rows of a query are,
 * in blocks of time, and sets block_first and block_last of the release; it
 * returns what dp_hold_to_blocks needs, which has the query read no rows of
 * other blocks than the release is charged to.  In between, lists are added.
 */
extern List *dp_find_blocks(DpRelease *release, Query *query);
extern void dp_hold_to_blocks(DpRelease *release, List *entries);

/* Refuses the finished inner query, as a bug, if anything is in it that is not listed. */
extern void dp_verify_inner(DpLevel *level);

/*
 * Refuses, ZC002, the finished inner query if it names a type, collation,
 * function, operator class or table of somebody who is not trusted with the
 * rows; records the rest in the release.
 */
extern void dp_check_trusted(DpLevel *level);

/* ------------------------------------------------------------------------
 * outer_query.c, grouping.c: what is left of the level
 * ------------------------------------------------------------------------
 */

/* Makes an entry of a query of what a release returns. */
extern RangeTblEntry *dp_released_rows(DpRelease *release);

/*
 * Replaces the level by one that reads released rows: each expression of from
 * becomes the column of released whose number is in columns.
 */
extern void dp_rewrite_outer(DpSplitContext *cxt, Query *query, RangeTblEntry *released,
							 List *from, List *columns);

/*
 * Makes quotients, logarithms and the like in a statement that releases NULL where they are not defined, in place
 * (failing_clauses.c).  ZC002 where a column that is written may not hold what is released for it.
 */
extern void dp_null_failing_calls(Query *query, DpSplitContext *cxt);

/* Has a node that computes a value, in place, be NULL where that fails; its arguments come first (failing_calls.c). */
extern void dp_compute_safely(Node *node);

/* Tells whether a function of PostgreSQL's may fail for some values, and would be NULL there. */
extern bool dp_may_fail(FuncExpr *call);

/* Tells whether a cast, to a column's type or length, fails for values that may be released. */
extern bool dp_may_not_fit(Oid cast);

/* Has steps of generate_series that are 0 as NULL, of which there are no rows. */
extern void dp_step_safely(FuncExpr *call);

/* Returns a number, NULL where it is not above 0. */
extern Node *dp_null_unless_positive(Node *number);

/* Returns a number, 0 where it is below or NULL. */
extern Node *dp_zero_if_negative(Node *number);

/* Raises the error of a call, of a function or an operator, whose constant arguments fail with all values of the others (mistaken_constants.c). */
extern void dp_try_constants(Node *call);

/* Keeps the planner from pulling the query up and from pushing conditions into it. */
extern void dp_keep_apart(Query *query);

/* Groups a level, in place, also by the columns of public tables that it shows because it groups by their primary keys. */
extern void dp_group_by_determined(Query *query);

/* Returns the lists of sortgrouprefs that the grouping sets are; each is a release of its own. */
extern List *dp_grouping_sets(DpSplitContext *cxt, Query *query);

/*
 * rest.c: dp_take_rest_calls puts marks in the place of dp_cdp.rest() in a level, takes it out of GROUP BY, and returns the
 * sortgrouprefs that it had there; is_marked: the level has marks.  ZC002 where it cannot be.  dp_is_rest_mark tells whether
 * a node is a mark.  dp_rest_key makes what stands for a key in the row of the rest.  dp_rest_is_wanted tells whether the
 * setting adds that row to the level under work.  dp_refuse_rest_calls refuses calls that are left in a statement.
 */
extern List *dp_take_rest_calls(DpSplitContext *cxt, Query *query, bool *is_marked);
extern bool dp_is_rest_mark(Node *node);
extern Const *dp_rest_key(Oid type, int32 typmod, Oid collation);
extern bool dp_rest_is_wanted(const DpSplitContext *cxt);
extern void dp_refuse_rest_calls(Query *query, DpSplitContext *cxt);

/* Returns the level as it would be with one set alone. */
extern Query *dp_with_grouping_set(Query *query, List *set);

/* Makes an entry of the rows of all sets (DpLevel); fills from and columns for dp_rewrite_outer. */
extern RangeTblEntry *dp_union_of_sets(Query *query, List *levels, List **from, List **columns);

#endif							/* DP_REWRITE_H */
