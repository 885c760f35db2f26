/*-------------------------------------------------------------------------
 *
 * guard.h
 *	  What every file of guard/ may use, and what _PG_init calls.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_GUARD_H
#define DP_GUARD_H

#include "nodes/params.h"
#include "nodes/parsenodes.h"
#include "policy/policy.h"
#include "release/release.h"

/* hooks.c: installs the hooks; for _PG_init */
extern void dp_guard_init(void);

/* marks range table entries that the guard has put under their owner's rights */
#define DP_INNER_MARK "dp_cdp inner query"

/* one statement while it is being rewritten */
typedef struct DpSplitContext
{
	const char *source_text;
	int			next_param;		/* first external parameter number not in use */
	List	   *releases;		/* DpRelease, with inner_query set */
	int64		keys;			/* declared keys of these, and of those around
								 * a prefetch */
	int64		key_memory;		/* what they take, in bytes */
	struct DpScope *scope;		/* the level under work and those around it */
	Node	   *below_exists;	/* the subquery of the last EXISTS */
	bool		is_prefetch;	/* its rows are read by a release */
} DpSplitContext;

/* ------------------------------------------------------------------------
 * call_forms.c
 * ------------------------------------------------------------------------
 */

/* Has errors of calls that no function fits say how the extension's functions are called. */
extern void dp_call_forms_init(void);

/* ------------------------------------------------------------------------
 * examples.c
 * ------------------------------------------------------------------------
 */

/* Returns a statement that a refusal would write out, if it would be answered; else NULL.  Not among the arguments of ereport. */
extern const char *dp_example(const char *statement);

/* Returns the name of a table or view, as in such a statement: with a schema that search_path does not find. */
extern const char *dp_relation_text(Oid relid);

/* ------------------------------------------------------------------------
 * inline.c
 * ------------------------------------------------------------------------
 */

/*
 * Returns a copy of a query with calls of SQL functions replaced by what PostgreSQL
 * inlines for them; NULL: it has none.  table: a protected table that query names;
 * where it is InvalidOid, it is set to one that functions in FROM read, and NULL is
 * returned if there is none.  depends is set to what plans of it depend on, PlanInvalItems.
 */
extern Query *dp_inline_functions(Query *query, Oid *table, List **depends);

/* ------------------------------------------------------------------------
 * plain_query.c
 * ------------------------------------------------------------------------
 */

/*
 * Tells by one look, few instructions long, whether the guard has nothing to do with a query: it is of a form that most
 * have, reads and writes relations that are known to be neither protected nor held, and is plain (below); false: it may
 * be such a query all the same.
 */
extern bool dp_is_bystander(const Query *query);

/*
 * Tells whether dp_inline_functions() and dp_mask_query() leave a query as it is, at less cost than these; false: they
 * may change it.
 */
extern bool dp_is_plain_query(Query *query);

/* ------------------------------------------------------------------------
 * bucket_cases.c
 * ------------------------------------------------------------------------
 */

/* Tells whether a node calls width_bucket with an array of thresholds. */
extern bool dp_is_bucket_of_array(Node *node);

/* Returns what has the value of such a call in terms of comparisons, or the call where its thresholds are not known. */
extern Node *dp_bucket_as_cases(FuncExpr *call);

/* ------------------------------------------------------------------------
 * protected.c
 * ------------------------------------------------------------------------
 */

/* Tells whether rte is a table, not a view, that bears or inherits a policy. */
extern bool dp_is_protected(RangeTblEntry *rte);

/*
 * Names an entry of FROM for messages: protected table "visits" (v), table "wards", "q".  A name that
 * stands for no table, such as that of a subquery, has no noun.
 */
extern const char *dp_entry_text(RangeTblEntry *rte);

/*
 * ZC002 where current_user may read the rows of a protected table and the role
 * that has logged in may not
 */
extern void dp_refuse_login(Oid relid);

/*
 * Returns a protected table whose rows the asker may not read, and whose foreign key references the table: each new
 * row leaves a mark there, in xmax and as a lock.  InvalidOid: there is none.
 */
extern Oid	dp_marked_by(Oid relid);

/* Refuses to read these marks. */
extern void dp_refuse_marks(Oid relid, Oid marked_by, bool by_locks) __attribute__((noreturn));

/* A protected table that query names, itself or a sequence of it, at any depth; InvalidOid: none. */
extern Oid	dp_query_touches_protected(Query *query);

/*
 * ZC002 where an analyst reads a relation whose name is reserved (dp_policy_is_reserved) and
 * that he may not read anyway.
 */
extern void dp_refuse_reserved(Query *query);
extern void dp_refuse_reserved_relation(Oid relid);

/* ------------------------------------------------------------------------
 * aggregates.c
 * ------------------------------------------------------------------------
 */

/* a private aggregate, by its name */
typedef struct DpAggregate
{
	DpAnswer	answer;
	DpValueKind kind;			/* DP_ANSWER_SUM: count or sum */
	dp_statistic statistic;		/* DP_ANSWER_MOMENTS */
	int			nvalues;		/* arguments that are read from rows */
	bool		is_median;		/* a quantile without an argument for it */
	const char *name;			/* of the dp_* aggregate */
} DpAggregate;

/*
 * Returns the private aggregate that a function is, or NULL.  With
 * take_standard, count, sum and the like are taken for dp_count, dp_sum and
 * the like.
 */
extern const DpAggregate *dp_find_aggregate(Oid funcid, bool take_standard);

/* functions that stand around a private aggregate for its error */
typedef enum DpErrorFunction
{
	DP_ERROR_FUNCTION_NONE,
	DP_ERROR_FUNCTION_STDDEV,	/* dp_noise_stddev(aggregate) */
	DP_ERROR_FUNCTION_ERROR,	/* dp_error_stddev(aggregate) */
	DP_ERROR_FUNCTION_CUT,		/* dp_cut(aggregate) */
	DP_ERROR_FUNCTION_MARGIN	/* dp_margin(aggregate, confidence) */
} DpErrorFunction;

extern DpErrorFunction dp_find_error_function(Oid funcid);

#endif							/* DP_GUARD_H */
