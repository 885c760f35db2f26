/*-------------------------------------------------------------------------
 *
 * describe.h
 *	  What a level releases: its keys and its private aggregates.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_DESCRIBE_H
#define DP_DESCRIBE_H

#include "guard/level.h"

/* ------------------------------------------------------------------------
 * columns.c: fills level->release and level->parts with what the allow-list
 * has passed
 * ------------------------------------------------------------------------
 */

/* Describes expr as a key; refuses, ZC002, what cannot be one. */
extern DpReleaseKey *dp_make_key(DpLevel *level, Node *expr);

/* Adds the keys of GROUP BY. */
extern void dp_add_keys(DpLevel *level);

/*
 * Leaves out rows in which a key of these clauses of GROUP BY, which are not
 * all the level's own, has no declared value; false if its values are not a list.
 */
extern bool dp_hold_keys(DpLevel *level, List *clauses);

/* Has a level, whose keys have been added, leave out rows of the groups that the release of another shows. */
extern void dp_leave_out_shown(DpLevel *level, const DpLevel *of);

/* covering_keys.c: tells whether the values of a set, which is a list, are all that the expression has in any row. */
extern bool dp_keys_cover(DpLevel *level, Node *expr, const DpKeySet *set);

/* Adds a column.  values: a List with one Expr for each of its parts. */
extern void dp_add_column(DpLevel *level, DpReleaseColumn *column, List *values, Node *filter);

/* norms.c: notes how many rows of a group, and how many groups, a unit has at most, as the query says */
extern void dp_limit_rows(DpLevel *level);

/* norms.c: tells whether norms limit what units add to the columns */
extern bool dp_has_norms(const DpLevel *level);

/* norms.c: settles which columns a norm limits, and describes what finds the limits, when all columns are there; is_distributed: its rows are on servers of a cluster */
extern void dp_limit_norms(DpLevel *level, bool is_distributed);

/* Adds, where keys are undeclared, the count of units that decides on them, after dp_limit_rows(); has_norms: of dp_has_norms() */
extern void dp_add_key_selection(DpLevel *level, bool has_norms);

/* Adds, where all keys are declared and the dataset has min_units, the count of units that tells which groups have fewer. */
extern void dp_add_count_of_units(DpLevel *level);

/* Numbers the outputs.  companions: FuncExprs such as dp_noise_stddev(aggregate). */
extern void dp_number_outputs(DpLevel *level, List *aggs, List *companions);

/* expression_text.c: returns the text of an expression over what the level reads, for messages, the audit and EXPLAIN. */
extern char *dp_expression_text(DpLevel *level, Node *expr);

/*
 * expression_text.c: how a query that a message writes out has it, with a schema that search_path does not find:
 * dp_example_from returns what follows FROM in query, NULL
 * where a statement by itself could not say it; dp_example_count returns dp_count(*).
 */
extern const char *dp_example_from(Query *query);
extern const char *dp_example_count(void);

/* expression_text.c: returns a count by groups of entry rti of the scope's query, which reads table, and their ranks if wanted; NULL: none would be answered. */
extern const char *dp_example_of_groups(DpScope *scope, Index rti, Oid table, bool are_ranked);

/* Returns the number, from 0, of the release's column that an aggregate of the level is. */
extern int	dp_column_of(DpLevel *level, Node *agg);

/* Tells whether the expression names the privacy unit. */
extern bool dp_is_unit(DpLevel *level, Node *expr);

/* ------------------------------------------------------------------------
 * aggregate_call.c
 * ------------------------------------------------------------------------
 */

/* Adds the column that one private aggregate is. */
extern void dp_add_aggregate(DpLevel *level, Aggref *agg);

/* ------------------------------------------------------------------------
 * instead.c
 * ------------------------------------------------------------------------
 */

/* Tells whether a value tells rows of one person from all others, so that it can be no group. */
/*
 * instead.c: how messages write out a query for the most frequent value in each group of the level, or of all, and one that counts
 * values; empty where that cannot be typed in
 */
extern const char *dp_largest_groups(DpLevel *level, const char *value);
extern const char *dp_count_of_values(DpLevel *level, const char *value);
extern bool dp_names_one_person(DpLevel *level, Node *expr);

/* Refuse, ZC002, an aggregate that is no private one, and one of distinct values. */
extern void dp_refuse_exact(DpLevel *level, Aggref *agg) __attribute__((noreturn));
extern void dp_refuse_distinct(DpLevel *level, Aggref *agg) __attribute__((noreturn));

/* ------------------------------------------------------------------------
 * never_null.c
 * ------------------------------------------------------------------------
 */

/* Tells whether an expression over what the level reads is not NULL in any row that satisfies its conditions. */
extern bool dp_expression_never_null(DpLevel *level, Node *expr);

/* ------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------
 */

/*
 * key_tests.c: takes from the WHERE of a query, which is the level's as it was before it was read, the conditions that look
 * at nothing but its keys, and returns them, in their safe form, over parameters for the keys, numbered from the
 * release's first_param.
 */
extern List *dp_take_key_tests(DpLevel *level, Query *query);

/* level_policy.c: returns the policy of a column of a protected table, for who asks, read once for the level. */
extern DpColumn *dp_level_policy(DpLevel *level, Oid relid, AttrNumber attnum, int64 room);

/* ------------------------------------------------------------------------
 * key_query_keys.c
 * ------------------------------------------------------------------------
 */

/* Adds the sets of keys that the public inputs of the level tell: tuples of them, or the values of one. */
extern void dp_key_query_keys(DpLevel *level);

/* Returns a set of the values that an expression, which is good for a key, can have, by what is known now; NULL: they are not known. */
extern DpKeySet *dp_planned_values(DpLevel *level, Node *expr);

/* ------------------------------------------------------------------------
 * key_query_range.c
 * ------------------------------------------------------------------------
 */

/*
 * Returns the query of the least and the greatest value of a public column of query,
 * which is the level's or below it; NULL where the asker may not know.
 */
extern Query *dp_key_query_range(DpLevel *level, Query *query, Var *column);

/* ------------------------------------------------------------------------
 * outer_groups.c
 * ------------------------------------------------------------------------
 */

/* Refuses, ZC002, what would tell of public rows without a match among protected ones, but as groups without rows. */
extern void dp_check_outer_groups(DpLevel *level, List *aggs);

/* ------------------------------------------------------------------------
 * value_bounds.c
 * ------------------------------------------------------------------------
 */

/* Returns what the bounds of value follow from, in rows that satisfy filter, which may be NULL. */
extern DpBound *dp_bound_of_value(DpLevel *level, Node *value, Node *filter, bool as_declared);

/* Returns the interval of value, as far as it is known while the query is planned. */
extern DpInterval dp_planned_interval(DpLevel *level, Node *value);

/* time_ranges.c: finds the declared bounds of a column that is a date or timestamp; returns false if it has none */
extern bool dp_find_time_bounds(DpLevel *level, Node *value, Const **first, Const **last);

/* time_ranges.c: makes a date of days, or a timestamp of microseconds */
extern Const *dp_time_const(Oid type, int64 value);

/* time_fields.c: returns which field of extract or date_part a constant names; -1: none */
extern int	dp_bound_field(Const *name);

/* Makes the release of an estimator or a limiter, over the rows of another, whose columns are to be added. */
extern DpRelease *dp_make_hidden_release(const DpRelease *of);

/*
 * found_bounds.c: returns bounds of value that are found when the query runs, before its
 * release; NULL where who asks has not turned that on.  usual: those that hold if none are found, by as many rows
 * of a unit as nobody has set; then NULL where somebody has, or finding is turned off.
 */
extern DpBound *dp_find_bounds(DpLevel *level, Node *value, DpBound *usual);

/* ------------------------------------------------------------------------
 * propagate.c
 * ------------------------------------------------------------------------
 */

/* Turns dp_margin, in place, into a multiple of dp_error_stddev, and all of them into calls of one aggregate each. */
extern void dp_expand_error_functions(DpSplitContext *cxt, Query *query, bool take_standard);

/* Returns the distinct calls of companions of aggregates. */
extern List *dp_collect_error_functions(Query *query);

/* Refuses, ZC002, calls in a tree: those that no level has used when all have been split would fail after the debit. */
extern void dp_refuse_error_functions(Node *node, DpSplitContext *cxt);

/* Describes, for previews, what the select list computes from aggregates. */
extern void dp_describe_expressions(DpSplitContext *cxt, DpLevel *level, bool take_standard);

#endif							/* DP_DESCRIBE_H */
