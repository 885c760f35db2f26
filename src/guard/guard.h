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
#include "policy/policy.h"
#include "release/release.h"

/* hooks.c: from _PG_init */
extern void dp_guard_init(void);

/* dp_cdp.c: the library was loaded at server start */
extern bool dp_preloaded;

/* ------------------------------------------------------------------------
 * aggregates.c: which function is a private aggregate
 * ------------------------------------------------------------------------
 */
typedef struct DpAggregate
{
	DpAnswer	answer;
	DpValueKind kind;			/* DP_ANSWER_TOTAL: count or sum */
	dp_statistic statistic;		/* DP_ANSWER_MOMENTS */
	int			nvalues;		/* arguments that are read from rows */
	bool		is_median;		/* a quantile without an argument for it */
	const char *name;			/* of the dp_* aggregate */
} DpAggregate;

/* standard: count, sum and the like are taken for dp_count, dp_sum ...; NULL: not private */
extern const DpAggregate *dp_find_aggregate(Oid funcid, bool standard);

/* functions that stand around a private aggregate for its error */
typedef enum DpErrorFunction
{
	DP_ERROR_FUNCTION_NONE,
	DP_ERROR_FUNCTION_STDDEV,		/* dp_noise_stddev(aggregate) */
	DP_ERROR_FUNCTION_MARGIN			/* dp_margin(aggregate, confidence) */
} DpErrorFunction;

extern DpErrorFunction dp_find_error_function(Oid funcid);

/* ------------------------------------------------------------------------
 * split.c: one level of a query in an inner and an outer part
 * ------------------------------------------------------------------------
 */
typedef struct DpSplitContext
{
	const char *source_text;
	int			next_param;		/* first external parameter number not in use */
	List	   *releases;		/* DpRelease, with inner_query set */
	struct DpScope *scope;		/* the level under work and those around it */
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
 * empty_results.c: where the query cannot return a row, replaces protected tables
 * that the calling roles may not read by subqueries without rows.
 */
extern void dp_answer_without_rows(Query *query);

/* the level aggregates with dp_*, whoever asks */
extern bool dp_aggregates_privately(Query *query);

/*
 * changes.c: what a query that changes a protected table may tell who may not
 * read it.  ZC002.
 */
extern void dp_check_change(DpSplitContext *cxt, Query *query);
extern void dp_check_copy_from(Oid relid, List *attnames);

/* marks range table entries that the guard has put under their owner's rights */
#define DP_INNER_MARK "dp_cdp inner query"

#endif							/* DP_GUARD_H */
