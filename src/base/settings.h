/*-------------------------------------------------------------------------
 *
 * settings.h
 *	  Settings under the prefix dp_cdp.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_SETTINGS_H
#define DP_SETTINGS_H

/* the largest max_groups and max_rows */
#define DP_MAX_CONTRIBUTION 1000000

/* the largest min_units */
#define DP_MAX_MIN_UNITS 1000000

/*
 * The library was loaded at server start.  Loaded by CREATE EXTENSION or a
 * function call, it installs nothing; its functions say what is missing.
 */
extern bool dp_preloaded;

/* 0 means: the dataset's default */
extern double dp_guc_rho;
extern double dp_guc_delta;
extern int	dp_guc_max_groups;

/* rows; DP_FOUND_CONTRIBUTION: it is found; 0: the dataset's */
#define DP_FOUND_CONTRIBUTION (-1.0)
extern double dp_guc_max_contribution;

/* Sets what a text says of it; false where it is neither auto nor a number within these. */
#define DP_LEAST_CONTRIBUTION 0.0625
#define DP_MOST_CONTRIBUTION 1048576.0
extern bool dp_contribution_of_text(const char *text, double *rows);
extern int	dp_guc_max_rows;

/* wanted half of a 95 % interval; 0: none.  Relative: a share of the answer */
extern double dp_guc_target;
extern bool dp_guc_target_is_relative;

/*
 * what finding the bounds of one expression first costs, as a share of the
 * price of an aggregate; 0: they are not found; < 0: the dataset's default
 */
/* which share of the price of an aggregate finding the bounds of a value costs, where no other is given */
#define DP_USUAL_BOUNDS_SHARE 0.1

extern double dp_guc_find_bounds;

/* counts and sums of grouping sets are made to add up: 1, 0, or the dataset's default: < 0 */
extern int	dp_guc_consistent;

/* what groups by keys that are selected leaves out is one row more; what texts are there for its keys, empty: NULL */
extern bool dp_guc_rest;

/* whether SELECT of protected rows has no row instead of an error */
extern bool dp_guc_empty_previews;
extern char *dp_guc_rest_label;

/* a superuser's: count and sum are taken for dp_count and dp_sum */
extern bool dp_guc_standard_aggregates;

/* the server's: a ledger's file tells the data directory from copies of it */
extern bool dp_guc_notice_copies;

/* how much of a statement's text the audit keeps; 0: nothing */
extern int	dp_guc_log_query_bytes;

/* what one role may ask of the ledger in a second: debits, and refusals of them; 0: any number */
extern int	dp_guc_max_debits;
extern int	dp_guc_max_refusals;

/* days during which owners of datasets may not prune the audit */
extern int	dp_guc_keep_audit_days;

/* the server's: after so many idle ms a ledger's worker leaves; 0: it stays */
extern int	dp_guc_worker_idle_timeout;

/* the server's: where a standby has its answers debited, empty: nowhere; how many ms it waits for that */
extern char *dp_guc_primary_conninfo;
extern int	dp_guc_primary_timeout;

/* a superuser's: what a release may hold while it reads rows, in kB */
extern int	dp_guc_release_memory;

/* a superuser's: how many rows a public input of a release may have, and how many ms it may take (0: any) */
extern int	dp_guc_max_public_rows;
extern int	dp_guc_max_public_time;

/* answers that are kept are given again; off: they are bought anew, and not kept */
extern bool dp_guc_reuse;

/* the server's: how many answers are kept, and how many kB of them */
extern int	dp_guc_reuse_max_answers;
extern int	dp_guc_reuse_max_size;

/* a superuser's, like enable_hashagg: the planner may group by units with a node of ours */
extern bool dp_guc_bounding_node;

/* Has the plan cache forget a plan when a setting changes that is planned: max_contribution, max_groups, max_rows, consistent, rest. */
struct PlannedStmt;
extern void dp_watch_settings(struct PlannedStmt *plan);

/* defines the settings, from _PG_init */
extern void dp_guc_init(void);

#endif							/* DP_SETTINGS_H */
