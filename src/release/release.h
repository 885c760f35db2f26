/*-------------------------------------------------------------------------
 *
 * release.h
 *	  The release node: the only place where exact states become answers.
 *
 * The guard splits an allowed query in an inner query, which computes exact,
 * contribution-bounded states, and an outer query over released values.  What
 * stands between the two is described by a DpRelease.  It travels inside a
 * CustomScan of the outer plan and must therefore be copyable.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_RELEASE_H
#define DP_RELEASE_H

#include "agg/agg.h"
#include "base/compat.h"
#include "math/moments.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/params.h"
#include "nodes/plannodes.h"
#include "policy/policy.h"
#include "release/interval.h"

#define DP_RELEASE_NODE			"DpRelease"
#define DP_RELEASE_KEY_NODE		"DpReleaseKey"
#define DP_KEY_SET_NODE			"DpKeySet"
#define DP_RELEASE_COLUMN_NODE	"DpReleaseColumn"
#define DP_PREFETCH_NODE		"DpPrefetch"

/* one grouping column */
typedef struct DpReleaseKey
{
	ExtensibleNode node;
	Oid			type;
	int32		typmod;
	Oid			collation;
	char	   *label;			/* in the words of the query */
} DpReleaseKey;

/*
 * Keys that are declared together.  Groups of a release are the product of its
 * sets; a key that is in none is undeclared, and has to pass the threshold.
 */
typedef struct DpKeySet
{
	ExtensibleNode node;
	List	   *keys;			/* ints: places among the release's keys */
	Const	   *domain;			/* of one key: array of its values in
								 * canonical order */
	bool		null_key;		/* NULL is a key, too (the last one) */

	/*
	 * Without domain: of these keys the tuples that a query returns, in their
	 * order.  It reads public tables and what is prefetched, before the
	 * debit.
	 */
	Query	   *query;			/* until it is planned, then NULL */
	PlannedStmt *plan;
} DpKeySet;

/*
 * A range is such a set without keys, whose query returns one row: the least and
 * the greatest value of a public column.
 */

typedef struct DpRelease DpRelease;

/* how an answer is made of the noisy parts of a column */
typedef enum DpAnswer
{
	DP_ANSWER_SUM,				/* a count or a sum, as it was drawn */
	DP_ANSWER_MOMENTS,			/* math/moments.h: averages, variances,
								 * regression */
	DP_ANSWER_QUANTILE,			/* math/quantile.h: the rest */
	DP_ANSWER_MIN,
	DP_ANSWER_MAX,
	DP_ANSWER_HISTOGRAM,
	DP_ANSWER_BOUNDS,
	DP_ANSWER_CLIPPED,
	DP_ANSWER_CLIPPED_TOTALS,	/* of units' totals, not of rows */
	DP_ANSWER_CLIPPED_GROUPS,	/* of units that have more groups than count */
	DP_ANSWER_MODE,
	DP_ANSWER_NORM				/* of a limiter: which limit on norms */
} DpAnswer;

/* the most bins of dp_histogram, and values of a mode */
#define DP_MAX_HISTOGRAM 10000

/* one aggregate, or the count of units of a private key selection */
typedef enum DpCompanion
{
	DP_COMPANION_NOISE,			/* standard deviation of its noise */
	DP_COMPANION_ERROR,			/* and with it of what is cut, by estimate */
	DP_COMPANION_CUT,			/* which share of contributions is cut, by
								 * estimate; NULL where there is none */
	DP_COMPANIONS
} DpCompanion;

typedef struct DpReleaseColumn
{
	ExtensibleNode node;
	DpAnswer	answer;
	DpValueKind kind;			/* DP_ANSWER_SUM: what is added up */
	dp_statistic statistic;		/* DP_ANSWER_MOMENTS: which */
	Oid			input_type;		/* sums, totals: type of the summed
								 * expression; of an estimator: of the values */
	Oid			result_type;
	char	   *label;			/* "dp_sum(cost)" */
	int			location;		/* in the query's text, -1 if unknown */

	/*
	 * Bounds of a row's value of the first argument and, with two, of the
	 * second: expressions without Vars of type numeric, float8, text, or a
	 * date or time type.  They are evaluated once, before the debit.
	 */
	Expr	   *lower;
	Expr	   *upper;
	Expr	   *lower2;
	Expr	   *upper2;
	Expr	   *total_lower;	/* sums, totals: limits of a unit's total in a
								 * group; NULL: max_rows times the bounds */
	Expr	   *total_upper;

	/*
	 * What bounds that are not written follow from, where that is known only
	 * when the release is priced; and limits of totals.
	 */
	DpBound    *derived;
	DpBound    *derived2;
	bool		shows_bounds;	/* EXPLAIN: the query says none, nor one
								 * column */
	bool		has_usual;		/* of an estimator: others hold where none are
								 * found */
	Expr	   *detail;			/* quantiles: float8 or float8[]; histogram:
								 * int4, how many bins */
	bool		descending;		/* quantiles: counted from the largest value;
								 * mode: of equal counts the last value */
	Const	   *values;			/* mode: array of the values that it may be,
								 * in their order */

	/*
	 * Which of the release's norms limits what a unit adds to all groups; -1:
	 * its groups, and its rows in each, are limited.
	 */
	int			norm;

	/* external parameters of the inner plan, see DP_PARAM_* */
	int			first_param;
	bool		hidden;			/* only for the key selection, or for
								 * min_units, not in the output */
	bool		weighs;			/* such a count has units weigh less that are
								 * in several groups */
	int			companions;		/* what the output has of it, too: bits, of 1
								 * << DpCompanion */
	char	   *fingerprint_text;	/* guard/fingerprint.c: what its states
									 * are; NULL as base_text is */
	List	   *public_columns; /* what of the release's public_relids these
								 * depend on, beside base_text */
} DpReleaseColumn;

/* parameters of a column, after its first_param */
#define DP_PARAM_GRID		0	/* sums, moments: the grid of a row's value */
#define DP_PARAM_VALUES		0	/* mode: the values that are counted */
#define DP_PARAM_RANGE		1	/* moments, vectors: the bounds of the first
								 * argument */
#define DP_PARAM_RANGE2		2	/* moments: the bounds of the second */
#define DP_PARAM_BINS		2	/* vectors: int4, their length */
#define DP_COLUMN_PARAMS	3

/*
 * parts.c: a release's own parameters.  After the bound_spec and those of the
 * columns comes one for each long list of values, as a key_set.
 * dp_release_params_count returns how many numbers they take, dp_list_param
 * that of a list.
 */
extern int	dp_release_params_count(const DpRelease *release);
extern int	dp_list_param(const DpRelease *release, int list);

/* parts.c: returns how many values a list has, which is an array */
extern int	dp_list_size(const Const *list);

/* parts.c: returns the key sets, then the ranges, of a release */
extern List *dp_public_sets(const DpRelease *release);

/* parts.c: returns the set that a key is in; NULL: it is undeclared */
extern DpKeySet *dp_key_set_of(const DpRelease *release, int key);

/*
 * parts.c: after the lists come the first and the last value of the blocks that
 * the release is charged to, of each type that a block column may have, where
 * it has block_first or block_last.
 */
#define DP_BLOCK_TYPES		3
extern Oid	dp_block_type(int i);
extern int	dp_block_param(const DpRelease *release, Oid type, bool last);
extern bool dp_holds_to_blocks(const DpRelease *release);

/* a list of more declared values than this is a parameter, see agg/exact/key_set.c */
#define DP_LISTED_KEYS 100

/* One exact state column of the inner query.  A column has one or several, each with its share of the rho. */
typedef struct DpPart
{
	DpValueKind kind;
	dp_moment	moment;			/* DP_VALUE_SCALED and DP_VALUE_ROWS of
								 * moments */
	int			weight;			/* share of the column's rho */
} DpPart;

#define DP_MAX_COLUMN_PARTS 6

/*
 * parts.c: dp_column_parts sets the parts of a column and returns how many
 * they are; dp_release_parts returns the number of all columns' parts.
 */
extern int	dp_column_parts(const DpReleaseColumn *column, DpPart *parts);
extern int	dp_release_parts(const DpRelease *release);

/* Tells whether a row of units in the same bins of norms has shares of a part beside its values; a set has both in one. */
static inline bool
dp_has_share(const DpReleaseColumn *column, const DpPart *part)
{
	return column->norm >= 0 && part->kind != DP_VALUE_DISTINCT;
}

/*
 * Rows that the inner plan reads as the tuplestore of this name: computed
 * before the debit, with the rights of whoever asks.
 */
typedef struct DpPrefetch
{
	ExtensibleNode node;
	char	   *name;
	Query	   *query;			/* until it is planned, then NULL */
	PlannedStmt *plan;
	bool		releases;		/* it pays for releases of its own */
	bool		is_filter;		/* it leaves rows out that the statement does
								 * not need, and has no limits of its own */
	bool		tells_keys;		/* keys may follow from it */
	bool		is_pure;		/* EXPLAIN may run it: it neither pays nor
								 * calls volatile functions */
} DpPrefetch;

/*
 * The inner plan delivers one row for each group: the keys, then one state
 * for each part of each column: int8 for counts of rows, dp_cdp_internal.exact_vector
 * for vectors, dp_cdp_internal.exact_sum otherwise.  Where norms limit columns there is
 * a row for each group and bins of norms, which follow the keys; parts of such
 * columns have two states, values and shares (agg/bounding/norms.c), and the last
 * state counts the units whose first group it is.  The node's output is the keys,
 * then the columns that are not hidden, then their companions (float8), column by column.
 */
#define DP_NO_UNITS (-2)

struct DpRelease
{
	ExtensibleNode node;
	char	   *name;			/* name of the tuplestore RTE: unique,
								 * unguessable */
	char	   *dataset;
	Oid			relid;			/* the first protected table: rows are read
								 * with its owner's rights */
	List	   *relids;			/* all protected tables */
	List	   *unique_keys;	/* Oids of unique indexes that tell whose rows
								 * are whose */
	bool		one_group;		/* the keys of a unit are the same in all its
								 * rows */
	int			most_rows;		/* of a unit in a group, and */
	int			most_groups;	/* of a unit, as the query says; 0: no limit */
	bool		has_unit;		/* contributions of units are bounded; false:
								 * every row is a unit */
	char	   *together;		/* agree.c: grouping sets whose answers are to
								 * agree have the same name here; NULL: none */
	List	   *axes;			/* ints, of those: of each key which of the
								 * finest set's it is, or of the keys of all
								 * sets */

	/*
	 * rest.c: it is of all rows that are in no group which the release of
	 * this name has shown; NULL: it is not.  The lists from rest_lists on are
	 * what that has shown, one for each of its keys.
	 */
	char	   *rest_of;
	char	   *rest_keys;		/* their labels */
	int			rest_lists;
	List	   *keys;			/* DpReleaseKey */
	List	   *key_sets;		/* DpKeySet */
	List	   *ranges;			/* DpKeySet: of public columns, from which
								 * bounds follow */
	List	   *lists;			/* Const: arrays that rows' values are looked
								 * up in, each a parameter; a set's domain may
								 * be one */
	int64		key_memory;		/* what declared keys take, in bytes: of all
								 * releases of the statement */
	List	   *columns;		/* DpReleaseColumn */
	char	   *base_text;		/* guard/fingerprint.c: what is read, and by
								 * what keys; NULL: not written down */
	List	   *public_relids;	/* tables without a policy that the inner plan
								 * reads itself, in the order of base_text */
	List	   *public_inherit; /* ints: with what inherits from them */
	List	   *public_columns; /* Lists of ints: the columns that base_text
								 * depends on */
	List	   *expressions;	/* arithmetic of the select list, for
								 * previews: (text, columns, derivatives:
								 * Const; NIL: not constant, then String) */
	int			selection;		/* index into columns of the count of units
								 * that decides on undeclared keys; -1: all
								 * keys are declared, or none */
	int			units;			/* index into columns of the count of units
								 * that tells which declared groups have fewer
								 * than min_units; -1: there is no min_units;
								 * DP_NO_UNITS: nobody sees a group */

	/*
	 * found_bounds.c: the release that finds bounds before this one, over the
	 * same rows; NULL: none
	 */
	DpRelease  *estimator;
	bool		is_estimator;	/* it is one, or a limiter */

	/*
	 * norms.c: of each norm the part whose norm it is, of all columns' parts;
	 * and the release that finds their limits, over the rows of this one,
	 * with a column for each.  It has no inner query.
	 */
	List	   *norms;			/* ints */
	bool		bins_apart;		/* units in other bins of a norm are in other
								 * rows of a group: where they have codes, or
								 * servers of a cluster add up; else in
								 * limited_sum */
	DpRelease  *limiter;

	/*
	 * The release without the conditions that look at nothing but its keys,
	 * of which kept answers may be those that are asked for (kept_wider.c);
	 * it is never run, and has no inner query.  NULL: none.  wider_tests are
	 * these conditions, over parameters for the keys, numbered from
	 * first_param.
	 */
	DpRelease  *wider;
	List	   *wider_tests;
	bool		wider_has_params;	/* some of them read parameters of the
									 * statement */

	/*
	 * External parameters of the inner plan that the node supplies:
	 * first_param is the bound_spec (when contributions are bounded), those
	 * of the columns follow, then those of the lists.
	 */
	int			first_param;
	List	   *prefetches;		/* DpPrefetch */
	bool		reads_clock;	/* what it asks has now() or the like in it */
	bool		needs_params;	/* prefetches or key sets have parameters of
								 * the statement */

	/*
	 * blocks.c: of a dataset with blocks, which of them hold the rows that it
	 * reads: those from the least of the first days on, to the greatest of
	 * the last ones.  Expressions of date or timestamp types; NIL: there is
	 * no end
	 */
	bool		in_blocks;
	List	   *block_first;
	List	   *block_last;

	/*
	 * a table of which no condition says between which days its rows are,
	 * though some condition names a block column; NULL: there is none, or
	 * there is an end
	 */
	char	   *undated;
	char	   *undated_column; /* its block column; NULL: it has none */

	/*
	 * objects.c: what the inner plan is made of, as it was when that was
	 * planned
	 */
	List	   *object_classes; /* OIDs of catalogues */
	List	   *object_ids;		/* OIDs of objects */
	List	   *object_versions;	/* ints */
	List	   *policy_versions;	/* ints; 0 for what has no policy */
	Query	   *inner_query;	/* until it is planned, then NULL */
	PlannedStmt *inner;

	/*
	 * late.c: rows are on other servers, and this is planned when it is
	 * priced; NULL: inner is run
	 */
	Query	   *late_query;
	bool		pulls_rows;		/* it has aggregates whose rows are brought to
								 * the coordinator of a cluster */
	bool		counts_cells;	/* its rows are totals of cells, not of parts
								 * (cells.c) */
};

/* late.c: what plans an inner query; the guard's, which calls the planner below it */
typedef PlannedStmt *(*DpPlanner) (Query *parse, const char *query_string, int cursorOptions, ParamListInfo params);
extern DpPlanner dp_inner_planner;

/* late.c: called where a statement is planned; ZC002 while an inner query is planned */
extern void dp_refuse_steps(void);

/*
 * worker_settings.c: refuses, ZC002, a setting that Citus would send to sessions of tables' owners;
 * called before each SET and RESET is executed.
 */
extern void dp_check_sent_setting(const VariableSetStmt *stmt);

/* late.c: ZC003 on a worker of a cluster */
extern void dp_refuse_on_worker(void);

/* Registers nodes and hooks; called from _PG_init. */
extern void dp_release_init(void);

/*
 * Planning.  dp_release_plan_begin makes the releases (List of DpRelease)
 * known to the planner run that follows; dp_release_plan_end must be called
 * in a PG_FINALLY.  Between them an RTE_NAMEDTUPLESTORE whose name is that of
 * a release becomes its node.  Calls nest; NIL hides the enclosing ones.
 */
extern void dp_release_plan_begin(List *releases);
extern void dp_release_plan_end(void);

/*
 * Adds what the outer plan must check, lock and watch on behalf of inner plans
 * and of prefetches.
 */
extern void dp_release_adopt_inner(PlannedStmt *outer, List *releases);

/*
 * payer.c: ZC001 unless session_user or current_user could pay from a budget
 * of the dataset.
 */
extern void dp_check_payer(const char *dataset);

/* payer.c: tells whether neither could, in a ledger that is at home here */
extern bool dp_lacks_budget(const char *dataset);

/* payer.c: names the asker for messages, with the login role where SET ROLE has changed the current one */
extern const char *dp_asking_role(void);

/*
 * refused.c: a statement over a protected table that may be refused.  Prepared
 * before, as nothing is looked up where an error is handled; noted from a
 * PG_CATCH, which goes on with the error.
 */
typedef struct DpRefusedStatement
{
	char		dataset[NAMEDATALEN];
	char		table[2 * NAMEDATALEN + 8];
	const char *text;
	int			length;
} DpRefusedStatement;

extern void dp_refused_prepare(DpRefusedStatement *statement, Oid table, const char *text, int location, int length);
extern void dp_refused_note(const DpRefusedStatement *statement, MemoryContext context);

/*
 * memory.c: dp_allowed_memory returns what a statement with releases from the
 * dataset may hold, in bytes; dp_refuse_keys refuses, ZC002, so many declared
 * keys, which take more; free: nothing has been charged.
 */
extern int64 dp_allowed_memory(const DpDataset *dataset);
extern void dp_refuse_keys(const DpDataset *dataset, int64 keys, bool free) __attribute__((noreturn));

/*
 * objects.c: types, collations, functions, operators and relations that the
 * inner plan depends on.  The guard records what the query names,
 * dp_record_plan adds what the finished plan reads.
 */
extern bool dp_owner_is_trusted(Oid owner, Oid run_as, Oid dataset_owner);
extern Oid	dp_object_owner(Oid classid, Oid objid);
extern void dp_record_object(DpRelease *release, Oid classid, Oid objid);
extern void dp_record_plan(DpRelease *release);

/*
 * found_bounds.c: returns which share of the price of an aggregate finding the
 * bounds of an expression costs, for who asks; 0: they are not found
 */
extern double dp_bounds_share(const DpDataset *dataset);

/* the same, of a value of several rows of a unit: found unless somebody has set max_rows, or that nothing is found */
extern double dp_usual_bounds_share(const DpDataset *dataset);

/*
 * norms.c: tells whether what a unit adds to counts, sums and statistics is limited by its norm, for who asks
 */
extern bool dp_limits_norms(const DpDataset *dataset, const DpRelease *release);

/* payer.c: tells whether what is planned now is asked for its limits alone (suggest.c), and shows no group */
extern bool dp_asks_limits_alone(void);

/* norms.c: return what max_groups and max_rows are, for who asks; 0: none */
extern int	dp_most_groups(const DpDataset *dataset);
extern int	dp_most_rows(const DpDataset *dataset);

/* Tells whether a unit may be in several groups. */
static inline bool
dp_has_groups(const DpRelease *release)
{
	return release->keys != NIL && !release->one_group;
}

/* agree.c: tells whether who asks wants counts and sums of grouping sets to add up */
extern bool dp_wants_consistent(const DpDataset *dataset);

/*
 * suggest.c: finds which max_contribution serves best a count of the rows of a protected table, and of these by each of
 * its columns that have declared keys: List of DpSuggestion.  rho is an amount, which the cap of the
 * dataset pays.  Who may is the caller's business; ZC002 where the table is of another dataset by now.
 */
typedef struct DpSuggestion
{
	char	   *fingerprint;
	double		contribution;	/* rows */
	double		cut;			/* the share of contributions above it */
	double		stddev;			/* of the count's noise, at the dataset's
								 * default_rho */
} DpSuggestion;

extern List *dp_suggest(Oid relid, const char *name, int64 rho);

/* Returns a new name for the RTE of a release, palloc'd. */
extern char *dp_release_new_name(void);

/* Returns the owner of a relation, with whose rights it is read. */
extern Oid	dp_relation_owner(Oid relid);

/* Return new, empty nodes. */
extern DpRelease *dp_make_release(void);
extern DpReleaseKey *dp_make_release_key(void);
extern DpKeySet *dp_make_key_set(void);
extern DpReleaseColumn *dp_make_release_column(void);
extern DpPrefetch *dp_make_release_prefetch(void);

/*
 * The settings under which protected rows are read: the owner's rights,
 * restricted operation, pinned settings.  Between begin and end no code of an
 * analyst may run.  end restores everything, also after an error.
 */
typedef struct DpSandbox
{
	Oid			save_userid;
	int			save_sec_context;
	int			save_nestlevel;
	pg_stack_base_t save_stack;
	BufferUsage save_buffers;
	WalUsage	save_wal;
	int			log_temp_files; /* outside of it */
	uint64		spilled;		/* at its end: bytes written to temporary
								 * files, in whole blocks */
} DpSandbox;

/*
 * Begin and end a sandbox with the rights of owner. stack: DP_STACK_TO_PLAN or
 * DP_STACK_TO_RUN; ZC002 when there is less, see dp_stack_check.  timezone: the
 * asker's; NULL: UTC.
 */
extern void dp_sandbox_begin(DpSandbox *box, Oid owner, int stack, const char *timezone);
extern void dp_sandbox_end(DpSandbox *box);

/*
 * Keeps what the end of the transaction says while it tidies up after a run that failed from the client, and the size
 * of each temporary file, which depends on rows, from the log and from pg_stat_database, too.  Called in PG_CATCH, after
 * dp_sandbox_end.
 */
extern void dp_sandbox_hush(void);

/*
 * spills.c: counts what a run wrote to temporary files, after its sandbox has ended, and has it in the server's
 * log by log_temp_files.  Called when the ledger knows how the run ended.
 */
extern void dp_report_spill(const DpDataset *dataset, const DpSandbox *box);

/*
 * Takes the error being handled (in PG_CATCH, after dp_sandbox_end) into
 * context.
 */
extern ErrorData *dp_sandbox_catch(MemoryContext context);

/*
 * Raises the one constant error that an analyst may see instead of it; its
 * cause goes to the server's log.  Cancel is passed on without its detail.
 * paid: a clause that says what was charged.  reading: protected rows were
 * being read.
 */
extern void dp_sandbox_raise(ErrorData *error, const char *paid, bool reading) __attribute__((noreturn));
extern void dp_sandbox_raise_cancel(const char *paid) __attribute__((noreturn));

/* Does both, for errors before the debit. */
extern void dp_sandbox_rethrow(MemoryContext context, const char *paid) __attribute__((noreturn));

/*
 * stack.c: the stack of a sandbox.  An inner query may have so many entries of
 * range tables, of all its levels: as many as are planned in half of the stack.
 */
#define DP_STACK_TO_PLAN (1536 * 1024)
#define DP_STACK_TO_RUN (2048 * 1024)
#define DP_MAX_INNER_ENTRIES 1000

/* Refuses (ZC002) when no sandbox could begin allowance bytes further down the stack. */
extern void dp_stack_check(int allowance);

/* Refuses (ZC002) when the inner query is too large, or the handling of its plan may need more stack than is left. */
extern void dp_stack_check_query(const Query *inner);

/* Begin and end the stack of a sandbox, for sandbox.c. */
extern pg_stack_base_t dp_stack_begin(void);
extern void dp_stack_end(pg_stack_base_t base);

/* Tells whether the inner plan that owns this range table is running. */
extern bool dp_release_is_inner(List *range_table);

/* how many EXPLAIN ANALYZE are being executed: releases refuse to start */
extern int	dp_explain_analyze_depth;

/* payer.c: tells whether the asker may read all protected tables of a release. */
extern bool dp_release_is_readable(DpRelease *release);

#endif							/* DP_RELEASE_H */
