/*-------------------------------------------------------------------------
 *
 * distribute_totals.c
 *	  What the servers of a cluster add up for an inner query.
 *
 * Citus shares PostgreSQL's own aggregates among servers, and no others: an
 * exact sum becomes sum() of bigint, and all that histograms count becomes rows
 * of cells and numbers (agg/exact/cells.c), whose sums are totals of cells.
 * Where a norm limits units, these are of units in the same bins of norms.
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
#include "guard/level.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"

/* Makes the call of a function of the extension's of one or two arguments. */
static Expr *
steps_call(const char *function, Oid result, List *args)
{
	Oid			types[] = {exprType(linitial(args)), exprType(llast(args))};

	return (Expr *) dp_call(dp_own_routine(function, list_length(args), types), result, args);
}

static Expr *
as_bigint(Expr *integer)
{
	return (Expr *) makeFuncExpr(F_INT8_INT4, INT8OID, list_make1(integer), InvalidOid, InvalidOid, COERCE_EXPLICIT_CAST);
}

static Expr *
argument(Aggref *agg, int i)
{
	return copyObject(((TargetEntry *) list_nth(agg->args, i))->expr);
}

/* Puts one of PostgreSQL's aggregates in the place of an exact one, over the same rows. */
static bool
put_builtin(Aggref *agg, Oid builtin, Oid result, Expr *value)
{
	agg->aggfnoid = builtin;
	agg->aggtype = result;
	agg->aggargtypes = list_make1_oid(exprType((Node *) value));
	agg->args = list_make1(makeTargetEntry(value, 1, NULL, false));
	return true;
}

Oid
dp_moment_aggregate(dp_moment moment, bool centers)
{
	static const char *const names[DP_MOMENTS] = {
		[DP_MOMENT_N] = "moment_n",[DP_MOMENT_T] = "moment_t",[DP_MOMENT_T2] = "moment_t2",
		[DP_MOMENT_U] = "moment_u",[DP_MOMENT_U2] = "moment_u2",[DP_MOMENT_TU] = "moment_tu"
	};
	Oid			value[] = {ANYELEMENTOID, dp_own_type("range")};
	Oid			steps[] = {INT4OID, INT4OID};

	return dp_own_routine(names[moment], 2, centers ? value : steps);
}

/* Puts them in the place of a sum of centered values where each row is a unit; false: it is none. */
static bool
use_moment(Aggref *agg, dp_moment moment)
{
	bool		single = moment <= DP_MOMENT_T2 && agg->aggfnoid == dp_moment_aggregate(moment, true);
	Expr	   *t;

	if (!single && agg->aggfnoid != dp_moment_aggregate(moment, false))
		return false;
	t = single ? steps_call("centered", INT4OID, list_make2(argument(agg, 0), argument(agg, 1))) : argument(agg, 0);
	if (moment == DP_MOMENT_N)
		return put_builtin(agg, F_COUNT_ANY, INT8OID, t);
	if (moment == DP_MOMENT_U || moment == DP_MOMENT_U2)
		t = argument(agg, 1);
	if (moment == DP_MOMENT_T2 || moment == DP_MOMENT_U2)
		t = steps_call("chebyshev", INT4OID, list_make1(t));
	if (moment == DP_MOMENT_TU)
		t = steps_call("product", INT4OID, list_make2(t, argument(agg, 1)));
	return put_builtin(agg, F_SUM_INT8, NUMERICOID, as_bigint(t));
}

/* Puts PostgreSQL's aggregates in the place of an exact sum of totals, or rows; returns false for what has no counterpart. */
bool
dp_use_builtin(TargetEntry *tle, const DpPart *part)
{
	Oid			types[] = {INT8OID, dp_own_type("grid")};
	Aggref	   *agg;

	if (!IsA(tle->expr, Aggref))
		return false;
	agg = (Aggref *) tle->expr;
	if (agg->aggfnoid == F_COUNT_ || agg->aggfnoid == F_COUNT_ANY)
		return agg->aggdistinct == NIL;
	if (agg->aggfnoid == dp_own_routine("steps_sum", 1, types))
		return put_builtin(agg, F_SUM_INT8, NUMERICOID, argument(agg, 0));
	if (part->kind == DP_VALUE_SUM)
	{
		types[0] = exprType((Node *) argument(agg, 0));
		return agg->aggfnoid == dp_own_routine("exact_sum", 2, types) &&
			put_builtin(agg, F_SUM_INT8, NUMERICOID,
						steps_call("clamped_steps", INT8OID, list_make2(argument(agg, 0), argument(agg, 1))));
	}
	return (part->kind == DP_VALUE_ROWS || part->kind == DP_VALUE_SCALED) && use_moment(agg, part->moment);
}

static bool
is_histogram(const Aggref *agg)
{
	Oid			rows[] = {INT4OID, INT4OID};
	Oid			units[] = {INT4ARRAYOID, INT4OID};

	return agg->aggfnoid == dp_own_routine("exact_histogram", 2, rows) ||
		agg->aggfnoid == dp_own_routine("codes_histogram", 2, units);
}

/* Returns an array of what each code of a row counts, and the codes. */
static Expr *
shares_of_codes(Expr *codes, Expr *share)
{
	CaseTestExpr *code = dp_make(CaseTestExpr, .typeId = INT4OID, .typeMod = -1);
	ArrayCoerceExpr *wide = dp_make(ArrayCoerceExpr, .arg = codes, .elemexpr = as_bigint((Expr *) code), .resulttype = INT8ARRAYOID,
									.resulttypmod = -1, .coerceformat = COERCE_EXPLICIT_CAST, .location = -1);

	return (Expr *) dp_call(F_ARRAY_PREPEND, INT8ARRAYOID, list_make2(share, wide));
}

/* Returns what a row adds to a part: a code or codes of a histogram, and their share, a number of all else; NULL: it is no sum. */
static Expr *
contribution(TargetEntry *target, const DpPart *part, bool *is_code)
{
	Oid			shares[] = {INT4ARRAYOID, INT4OID, INT8OID};
	TargetEntry *tle = copyObject(target);
	Aggref	   *agg = (Aggref *) tle->expr;
	Expr	   *value;

	if (IsA(agg, Aggref) && is_histogram(agg))
	{
		*is_code = true;
		value = argument(agg, 0);
	}
	else if (IsA(agg, Aggref) && agg->aggfnoid == dp_own_routine("codes_shares", 3, shares))
		value = shares_of_codes(argument(agg, 0), argument(agg, 2));
	else if (!dp_use_builtin(tle, part))
		return NULL;
	else if (agg->aggfnoid == F_SUM_INT8)
		value = argument(agg, 0);
	else
	{
		value = (Expr *) dp_int8_const(1);
		if (agg->aggfnoid == F_COUNT_ANY)
			value = dp_value_where(dp_is_not_null(argument(agg, 0)), value);
	}
	return agg->aggfilter != NULL ? dp_value_where(copyObject(agg->aggfilter), value) : value;
}

/*
 * Returns what a row adds to all parts, in the order of release/cells.c; NIL where some are no sums, or none is a histogram.
 * With norms it ends with whether a unit has the group first.
 */
static List *
contributions(DpRelease *release, Query *inner, int ngroups)
{
	static const DpPart first = {.kind = DP_VALUE_COUNT};
	DpPart		parts[DP_MAX_COLUMN_PARTS];
	int			target = ngroups;
	bool		has_codes = false;
	List	   *result = NIL;

	foreach_ptr(const DpReleaseColumn, column, release->columns)
	{
		int			nparts = dp_column_parts(column, parts);

		for (int i = 0; i < nparts; i++)
			for (int j = 0; j <= dp_has_share(column, &parts[i]); j++)
				result = lappend(result, contribution(list_nth(inner->targetList, target++), &parts[i], &has_codes));
	}
	if (release->norms != NIL)
		result = lappend(result, contribution(list_nth(inner->targetList, target), &first, &has_codes));
	return has_codes && !list_member_ptr(result, NULL) ? result : NIL;
}

static void
add_entry_column(Query *rows, const char *function, List *args)
{
	Oid			types[] = {ANYOID};
	FuncExpr   *call = dp_call(dp_own_routine(function, 1, types), INT8OID, copyObject(args));

	call->funcretset = true;
	(void) dp_show_column(rows, (Expr *) call, function);
}

/*
 * Returns SELECT keys, cell, sum(total) FROM (SELECT keys, entry_cells(...) AS cell, entry_totals(...) AS total FROM ...) GROUP BY
 * keys, cell, in the order in which inner has groups; consumes inner.  Bins of norms are like keys.
 */
static Query *
cells_query(Query *inner, int nkeys, List *added)
{
	List	   *groups = inner->groupClause;
	List	   *sort = inner->sortClause;
	List	   *keys = list_truncate(inner->targetList, nkeys);
	Aggref	   *sum;
	Query	   *query;

	inner->targetList = copyObject(keys);
	foreach_node(TargetEntry, tle, inner->targetList)
		tle->ressortgroupref = 0;
	inner->groupClause = inner->sortClause = NIL;
	inner->hasAggs = false;
	inner->hasTargetSRFs = true;
	add_entry_column(inner, "entry_cells", added);
	add_entry_column(inner, "entry_totals", added);

	query = dp_select_from(dp_subquery_entry(inner, "entries"));
	foreach_ptr(TargetEntry, tle, inner->targetList)
		query->targetList = lappend(query->targetList,
									makeTargetEntry((Expr *) makeVarFromTargetEntry(1, tle), foreach_current_index(tle) + 1,
													pstrdup(tle->resname), false));
	foreach_node(TargetEntry, tle, keys)
		((TargetEntry *) list_nth(query->targetList, foreach_current_index(tle)))->ressortgroupref =
		tle->ressortgroupref;
	query->hasAggs = true;
	query->groupClause = lappend(groups, dp_group_clause(list_nth(query->targetList, nkeys)));
	query->sortClause = sort;
	sum = dp_make(Aggref, .aggkind = AGGKIND_NORMAL, .aggsplit = AGGSPLIT_SIMPLE);
	sum->aggno = sum->aggtransno = sum->location = -1;
	put_builtin(sum, F_SUM_INT8, NUMERICOID, ((TargetEntry *) llast(query->targetList))->expr);
	((TargetEntry *) llast(query->targetList))->expr = (Expr *) sum;
	return query;
}

Query *
dp_make_cells_query(DpRelease *release, Query *inner)
{
	/* units in other bins of norms are apart */
	int			ngroups = list_length(release->keys) + list_length(release->norms);
	List	   *added = contributions(release, inner, ngroups);

	return added == NIL ? NULL : cells_query(inner, ngroups, added);
}
