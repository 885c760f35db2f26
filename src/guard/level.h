/*-------------------------------------------------------------------------
 *
 * level.h
 *	  One level of a query while it is being split.
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
	ereport(ERROR, \
			(errcode(ERRCODE_DP_NOT_RELEASABLE), \
			 __VA_ARGS__, \
			 dp_error_position(cxt->source_text, location)))

/* ------------------------------------------------------------------------
 * source.c, joins.c, lineage.c: what a level reads
 * ------------------------------------------------------------------------
 */

/* a query and those around it, to find what a WITH reference names */
typedef struct DpScope
{
	Query	   *query;
	struct DpScope *outer;
} DpScope;

/*
 * The range table and join tree of a level in the form in which the inner
 * query runs them: every entry is a table that may be read directly, a
 * subquery over such (vetted and made total), or rows that were computed
 * beforehand (public_rows.c).  Join aliases are flattened; no WITH references.
 * Entries keep the numbers that they have in the level.
 */
typedef struct DpFrom
{
	Query	   *query;
	Bitmapset  *leaves;			/* entries whose columns may be read */
	List	   *units;			/* Exprs: what names a row's privacy unit; one
								 * Var, or a table's tableoid and ctid */
	List	   *unit_vars;		/* Vars that equal the unit (and are not NULL
								 * where it is not); NIL for row units */
	bool		one_row;		/* a unit has at most one row, but for ... */
	bool		may_repeat;		/* ... joins, which may repeat it */
	Bitmapset  *determined;		/* entries whose columns are the same in all
								 * rows of a unit */
} DpFrom;

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
} DpColumnOrigin;

/*
 * lineage.c: follows a Var of level query through join aliases, subqueries
 * and WITH references to a table's column.  scope may be NULL when there are
 * no WITH references.  False when it is anything else, an aggregate say.
 */
extern bool dp_trace_column(Query *query, DpScope *scope, Node *expr, DpColumnOrigin *origin);

/* lineage.c: a column that is NOT NULL, by a plan that notices when it no longer is */
extern bool dp_is_never_null(Query *query, Node *expr);

/* expressions of one release over DpFrom, total */
typedef struct DpInnerParts
{
	List	   *keys;			/* Expr, canonical */
	List	   *values;			/* of each column a List of its parts' Exprs: what counts (NULL: every row), else
								 * the value */
	List	   *filters;		/* Expr or NULL, of each column */
} DpInnerParts;

/* the level under work */
typedef struct DpLevel
{
	DpSplitContext *cxt;
	Query	   *query;
	DpRelease  *release;
	DpFrom		from;
	DpAllowContext allow;		/* for expressions over from */
	Oid			dataset_owner;
	const char *table;			/* name of the first protected table, for messages */
	int			where;			/* location that the level is known by */
	List	   *conditions;		/* conjuncts of WHERE and of inner joins, as the query has them */
	DpInnerParts parts;
	List	   *key_exprs;		/* as the query has them */
	List	   *outputs;		/* keys, Aggrefs and companions, at levelsup 0 */
	List	   *output_columns; /* int: their columns in what is released */
} DpLevel;

/* joins.c: what is inside of casts that change nothing but the type's name */
extern Node *dp_strip_relabel(Node *node);

/* value_bounds.c: bounds of an argument that the query leaves out */
typedef struct DpKnownBounds
{
	Numeric		lower;
	Numeric		upper;
	bool		of_rows;		/* of a sum: of each row's value, not of a unit's total */
	bool		has_column;		/* declared bounds are among them */
	bool		has_constant;	/* a constant other than 0 is */
	bool		chosen;			/* not every row has the value of the one column */
	bool		undeclared;		/* the owner could declare what is missing */
} DpKnownBounds;

/* false if they are not known */
extern bool dp_find_bounds(DpLevel *level, Node *value, bool is_sum, DpKnownBounds *b);

/*
 * unique.c: whether, for any values of the columns of entries known (and of
 * constants and parameters), at most one row of the table that is entry rti
 * satisfies all of the conditions.
 */
extern bool dp_at_most_one_row(Oid relid, Index rti, List *conditions, const Bitmapset *known);

/*
 * public_rows.c: unprotected tables that the inner plan may read directly, with the
 * rights of run_as: nobody but PostgreSQL, superusers, run_as and the
 * dataset's owner can make their planning or reading run code.
 */
extern bool dp_is_trusted_table(RangeTblEntry *rte, Oid run_as, Oid dataset_owner);

/*
 * public_rows.c: entry rti of query, which reads nothing protected and refers to
 * nothing outside of itself, becomes rows that are computed before the
 * release is paid for, with the rights of who asks.  columns: numbers of the
 * columns that are read.
 */
extern void dp_make_prefetch(DpRelease *release, Query *query, Index rti, const Bitmapset *columns);

/*
 * key_values.c: fills domain and null_key of a key if its possible values are
 * known without looking at protected rows.
 */
extern void dp_declare_key_values(DpLevel *level, DpReleaseKey *key, Node *expr);

/*
 * columns.c: what the level releases.  Expressions are checked against the
 * allow-list; level->release and level->parts are filled.
 */
extern void dp_add_keys(DpLevel *level);
extern void dp_add_column(DpLevel *level, DpReleaseColumn *column, List *values, Node *filter);

/* adds, where keys are undeclared, the count of units that decides on them */
extern void dp_add_key_selection(DpLevel *level);

/* numbers the outputs; companions: FuncExprs dp_noise_stddev(aggregate) */
extern void dp_number_outputs(DpLevel *level, List *aggs, List *companions);

/* text of an expression over what the level reads, for messages, the audit and EXPLAIN */
extern char *dp_expression_text(DpLevel *level, Node *expr);

/* the column of the release that an aggregate of the level is, from 0 */
extern int	dp_column_of(DpLevel *level, Node *agg);

/* the expression names the privacy unit */
extern bool dp_is_unit(DpLevel *level, Node *expr);

/* value_bounds.c: int2 .. int8, float4, float8, numeric */
extern bool dp_is_number(Oid type);

/* aggregate_call.c: one private aggregate */
extern void dp_add_aggregate(DpLevel *level, Aggref *agg);

/* error_functions.c: dp_margin becomes a multiple of dp_noise_stddev; the distinct calls of that */
extern void dp_expand_error_functions(DpSplitContext *cxt, Query *query, bool standard);
extern List *dp_collect_error_functions(Query *query);

/* propagate.c: for previews, what the select list computes from aggregates */
extern void dp_describe_expressions(DpSplitContext *cxt, DpLevel *level, bool standard);

/*
 * propagate.c: the standard deviation of an expression of private aggregates,
 * made of calls of stddev, the OID of dp_noise_stddev.  NULL: expr has no
 * private aggregate.  ZC002 if it is not arithmetic.
 */
extern Node *dp_propagate_error(DpSplitContext *cxt, Node *expr, bool standard, Oid stddev);

/* propagate.c: stddev of one of them */
extern Node *dp_stddev_call(Oid stddev, Aggref *agg);

/* the same: refuses those that are left, when all levels have been split; they would fail after the debit */
extern void dp_refuse_error_functions(Query *query, DpSplitContext *cxt);

/*
 * trusted.c: ZC002 where the finished inner query names a type, collation,
 * function, operator class or table of somebody who is not trusted with the
 * rows; the rest becomes part of the release.
 */
extern void dp_check_trusted(DpLevel *level);

/* inner_query.c: the inner query of one release; from->query becomes part of it */
extern Query *dp_build_inner_query(DpRelease *release, DpFrom *from, DpInnerParts *parts);
extern Expr *dp_make_param(int number, Oid type);

/* verify.c: nothing is in it that is not listed there; an error, otherwise, as of a bug */
extern void dp_verify_inner(DpLevel *level);

/* NULL where the value is not a number: NaN counts as NULL */
extern Expr *dp_nan_to_null(Expr *value);
extern Expr *dp_is_not_null(Expr *arg);

/* ------------------------------------------------------------------------
 * outer_query.c, grouping.c: what is left of the level
 * ------------------------------------------------------------------------
 */

/*
 * The distinct nodes that belong to the level, also from inside of sublinks,
 * as at levelsup 0.  level_of: levelsup of a node that is wanted, else -1.
 */
extern List *dp_collect_of_level(Query *query, int (*level_of) (Node *node));

/* what a release returns, as an entry of a query */
extern RangeTblEntry *dp_released_rows(DpRelease *release);

/*
 * Replaces the level by one that reads released rows: each expression of from
 * becomes the column of released whose number is in columns.
 */
extern void dp_rewrite_outer(DpSplitContext *cxt, Query *query, RangeTblEntry *released,
							 List *from, List *columns);

/* the planner neither pulls the query up nor pushes conditions into it */
extern void dp_keep_apart(Query *query);

/*
 * grouping.c: one release for each grouping set.  Returns the lists of
 * sortgrouprefs that the sets are.
 */
extern List *dp_grouping_sets(DpSplitContext *cxt, Query *query);

/* the level as it would be with one set alone */
extern Query *dp_with_grouping_set(Query *query, List *set);

/* rows of all sets (DpLevel); fills from and columns for dp_rewrite_outer */
extern RangeTblEntry *dp_union_of_sets(Query *query, List *levels, List **from, List **columns);

#endif							/* DP_LEVEL_H */
