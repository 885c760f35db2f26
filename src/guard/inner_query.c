/*-------------------------------------------------------------------------
 *
 * inner_query.c
 *	  Builds the query that computes exact, contribution-bounded states.
 *
 * Where a unit has one row: a row is in one group and its value is clamped by the aggregate
 * itself, so no bounding is needed:
 *
 *	 SELECT keys, count(*), dp_cdp_internal.exact_sum(x, $grid)
 *	 FROM ... WHERE ... GROUP BY keys
 *
 * Where it may have several: one aggregate per unit keeps a bounded number of groups and
 * the unit's clamped total in each of them:
 *
 *	 SELECT key0, dp_cdp_internal.steps_sum(v0)
 *	 FROM (SELECT dp_cdp_internal.bound_key(0, state, NULL::type) AS key0, dp_cdp_internal.bound_value(0, state, $spec) AS v0
 *		   FROM (SELECT dp_cdp_internal.bound_unit($spec, unit, keys, values) AS state
 *				 FROM ... WHERE ... AND unit IS NOT NULL GROUP BY unit) units) kept
 *	 GROUP BY key0
 *
 * Where norms limit columns (agg/bounding/norms.c) "kept" has bin0 .. too, a
 * share beside each such value, and a column for each norm that is 1 in a unit's first group:
 * limited_sum adds them up by bin.  Where bins are apart (release.h) this groups by them as by
 * keys, and sums up all in the same way.  Of a set one aggregate takes codes and
 * shares: of all units, whose sets "kept" has in rows of their own (agg/bounding/entry.c).
 *
 * bound_key and so on are functions of sets: of a unit's state "kept" has one row for each
 * group that the unit keeps.  They are on a level of their own so that bound_unit is there
 * once: with a copy of the call in each column, what is planned would grow with
 * the square of the number of values.
 *
 * $grid and $spec are external parameters that the release node supplies.
 * Rows whose keys are not among the declared ones are left out before the
 * bounding, so that they do not use up a unit's groups.  Undeclared keys are
 * ordered: they are released in that order.
 *
 * Invariant: what is computed of one unit's rows, here and in subqueries, is a
 * function of the multiset of these rows, and for bound_unit of a random seed.
 * No order of rows enters, and with it no plan and nobody else's rows:
 * - an expression reads one row (checks.c);
 * - aggregates of subqueries are exact, and choose among values that are equal
 *	 but written differently by an order of their own (unit_aggregates.c);
 * - keys by which a subquery groups, or which it takes for DISTINCT, are
 *	 computed with in their canonical form (canonical.c);
 * - LIMIT, DISTINCT ON, windows and ordered sets are refused (subquery.c,
 *	 checks.c);
 * - which groups and which codes of a unit are kept is decided by their hashes
 *	 (agg/bounding/state.c, agg/bounding/codes.c), and totals are sums of integers.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/extension.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"

static Aggref *
make_aggregate(Oid funcid, Oid result, List *args, Expr *filter)
{
	AttrNumber	n = 0;
	Aggref	   *agg = dp_make(Aggref, .aggfnoid = funcid, .aggtype = result, .aggfilter = filter,
							  .aggstar = (args == NIL), .aggkind = AGGKIND_NORMAL,
							  .aggsplit = AGGSPLIT_SIMPLE, .aggno = -1, .aggtransno = -1, .location = -1);

	foreach_ptr(Expr, arg, args)
	{
		agg->args = lappend(agg->args, makeTargetEntry(arg, ++n, NULL, false));
		agg->aggargtypes = lappend_oid(agg->aggargtypes, exprType((Node *) arg));
	}
	return agg;
}

static void
add_target(Query *query, Expr *expr)
{
	query->targetList = lappend(query->targetList,
								makeTargetEntry(expr, list_length(query->targetList) + 1,
												psprintf("c%d", list_length(query->targetList) + 1),
												false));
}

/* Makes a target entry a grouping column and, with sort, a sort column. */
static void
group_by(Query *query, TargetEntry *tle, bool sort)
{
	tle->ressortgroupref = tle->resno;
	query->groupClause = lappend(query->groupClause, dp_clause_of(tle, true));
	if (sort)
		query->sortClause = lappend(query->sortClause, dp_clause_of(tle, true));
}

/* the parts of all columns, in the order of the inner query's columns */
typedef struct PartCursor
{
	DpInnerParts *parts;
	int			column;
	int			part;			/* of the column */
	int			nparts;
	DpPart		part_of[DP_MAX_COLUMN_PARTS];
} PartCursor;

static bool
next_part(PartCursor *c, DpRelease *release)
{
	if (++c->part < c->nparts)
		return true;
	if (++c->column >= list_length(release->columns))
		return false;
	c->nparts = dp_column_parts(list_nth(release->columns, c->column), c->part_of);
	c->part = 0;
	return true;
}

#define START_PARTS(parts) {parts, -1, 0, 0, {{0}}}

static DpValueKind
part_kind(PartCursor *c)
{
	return c->part_of[c->part].kind;
}

static Expr *
part_value(PartCursor *c)
{
	return copyObject(list_nth(list_nth(c->parts->values, c->column), c->part));
}

static Expr *
part_filter(PartCursor *c)
{
	return copyObject(list_nth(c->parts->filters, c->column));
}

static Expr *
part_param(PartCursor *c, DpRelease *release, int which, Oid type)
{
	DpReleaseColumn *column = list_nth(release->columns, c->column);

	return dp_make_param(column->first_param + which, type);
}

static Expr *
count_distinct(Expr *value, Expr *filter)
{
	Aggref	   *agg = make_aggregate(F_COUNT_ANY, INT8OID, list_make1(value), filter);
	TargetEntry *tle = linitial(agg->args);

	tle->ressortgroupref = 1;
	agg->aggdistinct = list_make1(dp_clause_of(tle, true));
	return (Expr *) agg;
}

/*
 * Returns one sum of a statistic where rows are units; all sums share one
 * state.  With one argument, the aggregate centers the value itself.
 */
static Expr *
moment_aggregate(PartCursor *c)
{
	List	   *args = NIL;
	bool		single;

	for (int i = 0; i < c->nparts; i++)
		if (c->part_of[i].moment == DP_MOMENT_T || c->part_of[i].moment == DP_MOMENT_U)
			args = lappend(args, copyObject(list_nth(list_nth(c->parts->values, c->column), i)));
	single = list_length(args) == 1;
	if (single)
		args = castNode(FuncExpr, linitial(args))->args;
	return (Expr *) make_aggregate(dp_moment_aggregate(c->part_of[c->part].moment, single), dp_own_type("exact_sum"), args, part_filter(c));
}

/* Returns the aggregate of one part where rows are units. */
static Expr *
row_aggregate(DpRelease *release, PartCursor *c)
{
	Expr	   *value = part_value(c);
	Expr	   *filter = part_filter(c);
	Oid			argtypes[2];

	switch (part_kind(c))
	{
		case DP_VALUE_COUNT:
		case DP_VALUE_UNITS:
			if (value == NULL)
				return (Expr *) make_aggregate(F_COUNT_, INT8OID, NIL, filter);
			return (Expr *) make_aggregate(F_COUNT_ANY, INT8OID, list_make1(dp_nan_to_null(value)), filter);
		case DP_VALUE_ROWS:
		case DP_VALUE_SCALED:
			return moment_aggregate(c);
		case DP_VALUE_SUM:
			argtypes[0] = exprType((Node *) value);
			argtypes[1] = dp_own_type("grid");
			return (Expr *) make_aggregate(dp_own_routine("exact_sum", 2, argtypes),
										   dp_own_type("exact_sum"),
										   list_make2(value, part_param(c, release, DP_PARAM_GRID, argtypes[1])),
										   filter);
		case DP_VALUE_CODES:
			argtypes[0] = argtypes[1] = INT4OID;
			return (Expr *) make_aggregate(dp_own_routine("exact_histogram", 2, argtypes),
										   dp_own_type("exact_vector"),
										   list_make2(value, part_param(c, release, DP_PARAM_BINS, INT4OID)),
										   filter);
		case DP_VALUE_DISTINCT:
			return count_distinct(value, filter);
		case DP_VALUE_CUT:
			break;				/* a row's total is the row: dp_add_aggregate */
	}
	elog(ERROR, "unexpected kind %d", (int) part_kind(c));
}

/* Returns the argument of bound_unit for one part, where units have a column. */
static Expr *
unit_value(PartCursor *c)
{
	Expr	   *value = part_value(c);
	Expr	   *filter = part_filter(c);
	Expr	   *counts;

	switch (part_kind(c))
	{
		case DP_VALUE_COUNT:
		case DP_VALUE_UNITS:
		case DP_VALUE_ROWS:
			counts = value ? dp_is_not_null(dp_nan_to_null(value)) : NULL;
			if (counts && filter)
				return makeBoolExpr(AND_EXPR, list_make2(filter, counts), -1);
			return filter ? filter : counts ? counts : (Expr *) makeBoolConst(true, false);
		default:
			return filter ? dp_value_where(filter, value) : value;
	}
}

/* Makes the call of a function of a unit's state, of which a column of the groups that units keep is made. */
static Expr *
kept_column(const char *function, int i, Expr *last, Oid result, Oid collation)
{
	Oid			types[] = {INT4OID, dp_own_type("bound_state"), InvalidOid};
	List	   *args = list_make2(dp_int4_const(i),
								  makeVar(1, 1, types[1], -1, InvalidOid, 0));
	FuncExpr   *call;

	if (last != NULL)
	{
		args = lappend(args, last);
		/* bound_key's is of any type */
		types[2] = IsA(last, Const) ? ANYELEMENTOID : exprType((Node *) last);
	}
	call = makeFuncExpr(dp_own_routine(function, list_length(args), types), result, args,
						collation, collation, COERCE_EXPLICIT_CALL);
	call->funcretset = true;
	return (Expr *) call;
}

/* Returns the column of key i of the groups that units keep. */
static Expr *
key_column(int i, DpReleaseKey *key)
{
	return kept_column("bound_key", i, (Expr *) makeNullConst(key->type, key->typmod, key->collation),
					   key->type, key->collation);
}

static Expr *
spec_param(DpRelease *release)
{
	return (Expr *) dp_make_param(release->first_param, dp_own_type("bound_spec"));
}

/* Returns the column of part i of the groups that units keep. */
static Expr *
part_column(DpRelease *release, PartCursor *c, int i)
{
	switch (part_kind(c))
	{
		case DP_VALUE_CODES:
			return kept_column("bound_codes", i, spec_param(release), INT4ARRAYOID, InvalidOid);
		case DP_VALUE_DISTINCT:
			return kept_column("bound_distinct_codes", i, spec_param(release), INT8ARRAYOID, InvalidOid);
		case DP_VALUE_CUT:
			return kept_column("bound_cut", i, spec_param(release), INT4ARRAYOID, InvalidOid);
		default:
			return kept_column("bound_value", i, spec_param(release), INT8OID, InvalidOid);
	}
}

/* Makes the sum of a column of integers of the groups that units keep. */
static Expr *
sum_of_steps(Expr *column)
{
	Oid			args[] = {INT8OID};

	return (Expr *) make_aggregate(dp_own_routine("steps_sum", 1, args), dp_own_type("exact_sum"), list_make1(column), NULL);
}

/* Returns the aggregate of a set i of which a norm limits codes. */
static Expr *
set_aggregate(DpRelease *release, Expr *codes, Expr *share, int i)
{
	Oid			args[] = {INT8ARRAYOID, INT8OID, dp_own_type("bound_spec"), INT4OID};

	return (Expr *) make_aggregate(dp_own_routine("codes_distinct_shares", 4, args), dp_own_type("exact_vector"),
								   list_make4(codes, share, spec_param(release),
											  dp_int4_const(i)), NULL);
}

/* Returns the aggregate of a part's shares; of codes each has one, and value is their column. */
static Expr *
share_aggregate(DpRelease *release, PartCursor *c, Expr *value, Expr *share)
{
	Oid			args[] = {INT4ARRAYOID, INT4OID, INT8OID};

	if (part_kind(c) != DP_VALUE_CODES && part_kind(c) != DP_VALUE_CUT)
		return sum_of_steps(share);
	return (Expr *) make_aggregate(dp_own_routine("codes_shares", 3, args), dp_own_type("exact_vector"),
								   list_make3(copyObject(value), part_param(c, release, DP_PARAM_BINS, INT4OID), share), NULL);
}

/* Returns the aggregate of one part over that column. */
static Expr *
column_aggregate(DpRelease *release, PartCursor *c, Expr *column)
{
	Oid			args[] = {exprType((Node *) column), INT4OID};

	switch (part_kind(c))
	{
		case DP_VALUE_CODES:
		case DP_VALUE_CUT:
			return (Expr *) make_aggregate(dp_own_routine("codes_histogram", 2, args),
										   dp_own_type("exact_vector"),
										   list_make2(column, part_param(c, release, DP_PARAM_BINS, INT4OID)), NULL);
		case DP_VALUE_DISTINCT:
			return (Expr *) make_aggregate(dp_own_routine("codes_distinct", 1, args), INT8OID,
										   list_make1(column), NULL);
		default:
			return sum_of_steps(column);
	}
}

static Query *
row_query(DpRelease *release, Query *query, DpInnerParts *parts, bool sort)
{
	PartCursor	c = START_PARTS(parts);

	query->hasAggs = true;
	foreach_ptr(Expr, key, parts->keys)
	{
		add_target(query, key);
		group_by(query, llast(query->targetList), sort);
	}
	while (next_part(&c, release))
		add_target(query, row_aggregate(release, &c));
	return query;
}

static void
add_condition(Query *query, Expr *condition)
{
	FromExpr   *from = query->jointree;

	if (condition == NULL)
		return;
	from->quals = from->quals ? (Node *) makeBoolExpr(AND_EXPR, list_make2(from->quals, condition), -1)
		: (Node *) condition;
}

/* Tells whether units may have to leave out values. */
static bool
chooses_codes(DpRelease *release)
{
	PartCursor	c = START_PARTS(NULL);

	while (next_part(&c, release))
		if (part_kind(&c) == DP_VALUE_CODES || part_kind(&c) == DP_VALUE_DISTINCT)
			return true;
	return false;
}

/* Returns the call of bound_unit: spec, unit, keys, values. */
static Aggref *
bound_unit_call(DpRelease *release, Expr *unit, DpInnerParts *parts)
{
	Oid			types[] = {dp_own_type("bound_spec"), ANYOID};
	List	   *args = list_make1(dp_make_param(release->first_param, types[0]));
	PartCursor	c = START_PARTS(parts);

	/*
	 * units choose their groups, and codes, independently, where the unit can
	 * be hashed
	 */
	if ((release->keys != NIL || chooses_codes(release)) && dp_bound_key_supported(exprType((Node *) unit)))
		args = lappend(args, copyObject(unit));
	args = list_concat(args, parts->keys);
	while (next_part(&c, release))
		args = lappend(args, unit_value(&c));
	return make_aggregate(dp_own_routine("bound_unit", 2, types), dp_own_type("bound_state"), args, NULL);
}

/* Returns the query of units' states, one row for each. */
static Query *
states_query(DpRelease *release, DpFrom *from, DpInnerParts *parts)
{
	Query	   *query = from->query;

	query->hasAggs = true;
	add_target(query, (Expr *) bound_unit_call(release, llast(from->unit.exprs), parts));
	foreach_ptr(Expr, expr, from->unit.exprs)
	{
		TargetEntry *tle;

		add_target(query, copyObject(expr));
		tle = llast(query->targetList);
		tle->resjunk = true;
		group_by(query, tle, false);
	}
	return query;
}

/* Returns the query of the groups that units keep, one row for each: keys, and a column for each part. */
static Query *
kept_query(DpRelease *release, DpFrom *from, DpInnerParts *parts)
{
	Query	   *query = dp_select_from(dp_subquery_entry(states_query(release, from, parts), "units"));
	PartCursor	c = START_PARTS(parts);
	int			nnorms = list_length(release->norms);

	query->hasTargetSRFs = true;
	foreach_ptr(DpReleaseKey, key, release->keys)
		add_target(query, key_column(foreach_current_index(key), key));
	for (int l = 0; l < nnorms; l++)
		add_target(query, kept_column("bound_bin", l, spec_param(release), INT8OID, InvalidOid));
	for (int i = 0; next_part(&c, release); i++)
	{
		add_target(query, part_column(release, &c, i));
		/* a part that a norm limits has a share beside its value */
		if (((DpReleaseColumn *) list_nth(release->columns, c.column))->norm >= 0)
			add_target(query, kept_column("bound_share", i, spec_param(release), INT8OID, InvalidOid));
	}
	/* rows that are not added up have the same for all norms */
	for (int l = 0; l < (release->bins_apart ? 1 : nnorms); l++)
		add_target(query, kept_column("bound_first", l, NULL, INT8OID, InvalidOid));
	return query;
}

/* Returns what is added up of a part that a norm limits, whose bins are not apart; first: a column, for one part of each norm. */
static Expr *
limited_aggregate(Expr *bin, Expr *value, Expr *share, Expr *first)
{
	Oid			args[] = {INT8OID, INT8OID, INT8OID, INT8OID};

	return (Expr *) make_aggregate(dp_own_routine("limited_sum", 4, args), dp_own_type("limited_sum"),
								   list_make4(bin, value, share, first), NULL);
}

/* Returns column n, from 1, of the groups that units keep. */
static Expr *
kept_var(const Query *kept, int n)
{
	return (Expr *) makeVarFromTargetEntry(1, list_nth(kept->targetList, n - 1));
}

static Query *
unit_query(DpRelease *release, DpFrom *from, DpInnerParts *parts, bool sort)
{
	Query	   *kept = kept_query(release, from, parts);
	Query	   *query = dp_select_from(dp_subquery_entry(kept, "kept"));
	PartCursor	c = START_PARTS(parts);
	int			nkeys = list_length(release->keys);
	int			nnorms = list_length(release->norms);
	int			column = nkeys + nnorms;

	query->hasAggs = true;
	for (int i = 1; i <= nkeys + (release->bins_apart ? nnorms : 0); i++)
	{
		add_target(query, kept_var(kept, i));
		group_by(query, llast(query->targetList), sort && i <= nkeys);
	}
	for (int part = 0; next_part(&c, release); part++)
	{
		int			norm = ((DpReleaseColumn *) list_nth(release->columns, c.column))->norm;
		Expr	   *value = kept_var(kept, ++column);

		if (norm < 0)
			add_target(query, column_aggregate(release, &c, value));
		else if (part_kind(&c) == DP_VALUE_DISTINCT)
			add_target(query, set_aggregate(release, value, kept_var(kept, ++column), part));
		else if (release->bins_apart)
		{
			add_target(query, column_aggregate(release, &c, value));
			add_target(query, share_aggregate(release, &c, value, kept_var(kept, ++column)));
		}
		else
			add_target(query, limited_aggregate(kept_var(kept, nkeys + norm + 1), value, kept_var(kept, ++column),
												list_nth_int(release->norms, norm) == part ? kept_var(kept, list_length(kept->targetList) - nnorms + norm + 1) : (Expr *) dp_int8_const(0)));
	}
	if (release->bins_apart)
		add_target(query, sum_of_steps(kept_var(kept, column + 1)));
	return query;
}

Query *
dp_build_inner_query(DpRelease *release, DpFrom *from, DpInnerParts *parts)
{
	bool		undeclared = release->selection >= 0;
	List	   *blocks = release->in_blocks ? dp_find_blocks(release, from->query) : NIL;
	Query	   *query;

	dp_write_fingerprint(release, from, parts);
	/* such rows belong to nobody */
	foreach_ptr(Node, unit, from->unit.vars ? from->unit.exprs : NIL)
	{
		if (!dp_is_never_null(from->query, unit))
			add_condition(from->query, dp_is_not_null((Expr *) copyObject(unit)));
	}

	foreach_ptr(Expr, item, release->has_unit || undeclared ? parts->keys : NIL)
	{
		DpKeySet   *set = dp_key_set_of(release, foreach_current_index(item));

		if (set != NULL && set->domain != NULL)
			add_condition(from->query, dp_make_membership(release, from->query, item, set->domain, set->null_key));
	}
	foreach_ptr(DpListedValue, listed, release->has_unit || undeclared ? parts->listed : NIL)
	{
		if (!listed->is_held)
			add_condition(from->query, dp_make_membership(release, from->query, dp_as_base_type((Expr *) listed->column),
														  listed->list, listed->null_listed));
	}
	foreach_ptr(DpHeldKey, held, parts->held)
	{
		add_condition(from->query, dp_make_membership(release, from->query, held->value, held->domain, held->null_key));
	}
	add_condition(from->query, dp_make_rest_test(release, parts));
	dp_hold_to_blocks(release, blocks);
	query = release->has_unit ? unit_query(release, from, parts, undeclared)
		: row_query(release, from->query, parts, undeclared);
	dp_make_groups_canonical(from->query);
	return query;
}
