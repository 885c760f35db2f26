/*-------------------------------------------------------------------------
 *
 * guard.h
 *	  What the files of guard/ share, and its entry point.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_GUARD_H
#define DP_GUARD_H

#include "nodes/params.h"
#include "nodes/parsenodes.h"
#include "policy.h"
#include "release/release.h"

/* hooks.c: from _PG_init */
extern void dp_guard_init(void);

/* dp_cdp.c: the library was loaded at server start */
extern bool dp_preloaded;

/* ------------------------------------------------------------------------
 * aggregates.c: which function is a private aggregate
 * ------------------------------------------------------------------------
 */
typedef enum DpAggKind
{
	DP_AGG_NONE,
	DP_AGG_COUNT,
	DP_AGG_SUM
} DpAggKind;

/* standard: count and sum are taken for dp_count and dp_sum */
extern DpAggKind dp_aggregate_kind(Oid funcid, bool standard);

/* ------------------------------------------------------------------------
 * identity.c: who is asking
 * ------------------------------------------------------------------------
 */

/*
 * Both session_user and current_user hold SELECT on the table, and row-level
 * security does not deny either of them everything.  Only then is a query
 * left alone.
 */
extern bool dp_may_read(Oid relid);

/*
 * A foreign-key check on behalf of somebody who holds no budget: not a
 * question of an analyst.
 */
extern bool dp_is_key_check(void);

/*
 * A sequence tells how many rows its table has ever had, so that it is read
 * with the right to read the table.
 */
extern Oid	dp_table_of_sequence(RangeTblEntry *rte);

/* ------------------------------------------------------------------------
 * split.c: one level of a query in an inner and an outer part
 * ------------------------------------------------------------------------
 */
typedef struct DpSplitContext
{
	const char *source_text;
	int			next_param;		/* first external parameter number not in use */
	List	   *releases;		/* DpRelease, with inner_query set */
} DpSplitContext;

/* whether any protected relation is named anywhere in the query */
extern bool dp_query_touches_protected(Query *query);

/*
 * Rewrites, in place, every level that aggregates protected rows.  ZC002 for
 * what is not releasable and not readable by who asks.
 */
extern void dp_split_query(Query *query, DpSplitContext *cxt);

/* a table, not a view, that bears or inherits a policy */
extern bool dp_is_protected(RangeTblEntry *rte);

/*
 * probe.c: where the query cannot return a row, replaces protected tables
 * that the calling roles may not read by subqueries without rows.
 */
extern void dp_blank_probe(Query *query);

/*
 * pull_up.c: where the query reads a subquery, view or WITH query that only
 * filters and projects a protected table, lets it read the table itself;
 * always: also a table that the calling roles may read.
 */
extern void dp_pull_up(Query *query, bool always);

/* ------------------------------------------------------------------------
 * inner_query.c: the inner query of one release
 * ------------------------------------------------------------------------
 */

/* expressions of one release, Vars of the protected table as varno 1 */
typedef struct DpInnerParts
{
	RangeTblEntry *rte;
	Node	   *quals;			/* may be NULL */
	AttrNumber	unit;			/* 0: each row is a unit */
	List	   *keys;			/* Expr, canonical */
	List	   *values;			/* Expr of each column: boolean for counts (NULL: every row), else the summand */
	List	   *filters;		/* Expr or NULL, of each column */
} DpInnerParts;

extern Query *dp_build_inner_query(DpRelease *release, DpInnerParts *parts);

/* marks range table entries that the guard has put under their owner's rights */
#define DP_INNER_MARK "dp_cdp inner query"

#endif							/* DP_GUARD_H */
