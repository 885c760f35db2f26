/*-------------------------------------------------------------------------
 *
 * unit_aggregates.c
 *	  The aggregates and window functions that a subquery may compute, exactly,
 *	  on the rows of one unit: where it groups by the privacy unit, or where a
 *	  window's PARTITION BY names that.
 *
 * Curated by hand, like the functions in list.c, and for the same
 * reason: such an aggregate runs on raw rows, and an error would be an exact
 * answer.
 *
 * Invariants:
 * - A result is a function of the multiset of the unit's rows.  Their order is
 *	 that of a scan, a sort or a hash table, in which everybody's rows are, so
 *	 that whatever depended on it would depend on others.  Integers and numeric
 *	 are added up exactly by PostgreSQL; averages and variances are computed of
 *	 exact sums, and the scale of a numeric result of the largest scale of the
 *	 rows.  Strings and arrays that string_agg and array_agg make are of rows
 *	 in an order, which the images of their arguments complete (row_order.c).
 *	 Floating point is not added up exactly, and of values that are
 *	 equal but written differently PostgreSQL keeps the one that came first: for
 *	 these an aggregate unit_* of schema dp_cdp_internal is run instead
 *	 (agg/exact/float.c, agg/exact/full_order.c).  DISTINCT keeps the first of equal
 *	 values, too: it is left out where it changes nothing, and otherwise done
 *	 on canonical forms.
 * - No rows raise an error.  Sums, averages and variances of numeric overflow,
 *	 and the strings that min and max keep may be too long for one row; of
 *	 these, values so large that they might are taken for NULL, by a function
 *	 try_* of schema dp_cdp_internal around the argument, which reads one row alone.
 *	 Long strings and arrays of rows are NULL (agg/exact/gathered.c).  Results of floating point that are too large are NULL.
 *
 * sql/unit_aggregates.sql sweeps the whole list for both, over orders, plans
 * and parallel workers.
 *
 * In a window, aggregates are the same, over the rows of a frame. Of window
 * functions, ntile and nth_value raise an error for numbers below 1: constants
 * are refused here, and parameters are taken for NULL.
 *
 * Not listed, on purpose: sums of money and interval (they overflow; read/reworded.c writes those of intervals as sums of seconds), what
 * makes documents, modes, and aggregates that anybody but PostgreSQL wrote.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "base/compat.h"
#include "base/extension.h"
#include "catalog/pg_aggregate_d.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"

/* as it stands; over values that go through a function; another in its place */
#define DP_AGG(f) {F_##f, NULL, NULL, false}
#define DP_AGG_TRY(f, summand) {F_##f, "try_" summand, NULL, false}
#define DP_AGG_OWN(f, own) {F_##f, NULL, "unit_" own, false}

/* equal values change nothing, nor does their number */
#define DP_AGG_SET(f) {F_##f, NULL, NULL, true}
#define DP_AGG_ORDER(t) DP_AGG_SET(MIN_##t), DP_AGG_SET(MAX_##t)
#define DP_AGG_ORDER_OWN(t) {F_MIN_##t, NULL, "unit_min", true}, {F_MAX_##t, NULL, "unit_max", true}

/* of rows in an order */
#define DP_AGG_OF_ORDER(f, own) {F_##f, NULL, "unit_" own, false, true}

#define DP_AGG_SPREAD(t) \
	DP_AGG(VARIANCE_##t), DP_AGG(VAR_SAMP_##t), DP_AGG(VAR_POP_##t), \
	DP_AGG(STDDEV_##t), DP_AGG(STDDEV_SAMP_##t), DP_AGG(STDDEV_POP_##t)
#define DP_AGG_SPREAD_TRY(t, summand) \
	DP_AGG_TRY(VARIANCE_##t, summand), DP_AGG_TRY(VAR_SAMP_##t, summand), DP_AGG_TRY(VAR_POP_##t, summand), \
	DP_AGG_TRY(STDDEV_##t, summand), DP_AGG_TRY(STDDEV_SAMP_##t, summand), DP_AGG_TRY(STDDEV_POP_##t, summand)
#define DP_AGG_FLOAT(t) \
	DP_AGG_OWN(SUM_##t, "sum"), DP_AGG_OWN(AVG_##t, "avg"), \
	DP_AGG_OWN(VARIANCE_##t, "var_samp"), DP_AGG_OWN(VAR_SAMP_##t, "var_samp"), DP_AGG_OWN(VAR_POP_##t, "var_pop"), \
	DP_AGG_OWN(STDDEV_##t, "stddev_samp"), DP_AGG_OWN(STDDEV_SAMP_##t, "stddev_samp"), \
	DP_AGG_OWN(STDDEV_POP_##t, "stddev_pop")

static const DpUnitAggregate dp_unit_aggregate_list[] = {
	DP_AGG(COUNT_), DP_AGG(COUNT_ANY),
	DP_AGG_SET(BOOL_AND), DP_AGG_SET(BOOL_OR), DP_AGG_SET(EVERY),

	/* equal values of these are the same */
	DP_AGG_ORDER(INT2), DP_AGG_ORDER(INT4), DP_AGG_ORDER(INT8), DP_AGG_ORDER(OID), DP_AGG_ORDER(MONEY),
	DP_AGG_ORDER(ANYENUM), DP_AGG_ORDER(INET),
	DP_AGG_ORDER(DATE), DP_AGG_ORDER(TIME), DP_AGG_ORDER(TIMETZ),
	DP_AGG_ORDER(TIMESTAMP), DP_AGG_ORDER(TIMESTAMPTZ),
	/* and of these are not */
	DP_AGG_ORDER_OWN(FLOAT4), DP_AGG_ORDER_OWN(FLOAT8), DP_AGG_ORDER_OWN(NUMERIC), DP_AGG_ORDER_OWN(INTERVAL),

	/*
	 * strings that are kept are read in full, and several of them must fit
	 * one row
	 */
	{F_MIN_TEXT, "try_summand", NULL, true}, {F_MAX_TEXT, "try_summand", NULL, true},
	{F_MIN_BPCHAR, "try_summand", "unit_min", true}, {F_MAX_BPCHAR, "try_summand", "unit_max", true},

	/* these add up in wider types, which hold more rows than there can be */
	DP_AGG(SUM_INT2), DP_AGG(SUM_INT4), DP_AGG(SUM_INT8),
	DP_AGG(AVG_INT2), DP_AGG(AVG_INT4), DP_AGG(AVG_INT8),
	DP_AGG_SPREAD(INT2), DP_AGG_SPREAD(INT4), DP_AGG_SPREAD(INT8),

	DP_AGG_FLOAT(FLOAT4), DP_AGG_FLOAT(FLOAT8),
	DP_AGG_TRY(SUM_NUMERIC, "summand"), DP_AGG_TRY(AVG_NUMERIC, "summand"),
	DP_AGG_SPREAD_TRY(NUMERIC, "summand_squared"),

	DP_AGG_OF_ORDER(STRING_AGG_TEXT_TEXT, "string_agg"), DP_AGG_OF_ORDER(ARRAY_AGG_ANYNONARRAY, "array_agg")
};

const DpUnitAggregate *
dp_unit_aggregates(int *count)
{
	*count = lengthof(dp_unit_aggregate_list);
	return dp_unit_aggregate_list;
}

static const DpUnitAggregate *
find_unit_aggregate(Oid aggfnoid)
{
	int			i;

	for (i = 0; i < lengthof(dp_unit_aggregate_list); i++)
	{
		if (dp_unit_aggregate_list[i].aggfnoid == aggfnoid)
			return &dp_unit_aggregate_list[i];
	}
	return NULL;
}

static const char *
remedy_for(Oid aggfnoid)
{
	switch (aggfnoid)
	{
		case F_SUM_MONEY:
			return "the table's owner can keep amounts as numeric";
		case F_SUM_INTERVAL:
		case F_AVG_INTERVAL:
			return "aggregate extract(epoch FROM interval)";
		case F_MODE:
			return "number the unit's values by how often they occur, in a subquery that groups by both, row_number() OVER (PARTITION BY unit ORDER BY count(*) DESC), "
				"and take number 1";
		default:
			return "a subquery that groups by the privacy unit may use count, min, max, bool_and, bool_or, "
				"sum, avg, variance and stddev of numbers, percentile_cont, percentile_disc, string_agg and array_agg";
	}
}

static Oid
summand_function(const DpUnitAggregate *allowed)
{
	Oid		   *types;
	int			nargs;

	(void) get_func_signature(allowed->aggfnoid, &types, &nargs);
	return dp_own_function(allowed->summand, 1, types, types[0]);
}

Oid
dp_unit_aggregate_safe(const DpUnitAggregate *allowed)
{
	Oid		   *types;
	int			nargs;
	Oid			result = get_func_signature(allowed->aggfnoid, &types, &nargs);

	if (allowed->own)
		return dp_own_aggregate(allowed->own, nargs, types, result);
	return allowed->summand ? summand_function(allowed) : InvalidOid;
}

/* Returns an argument in its safe form. */
static Expr *
vet_argument(DpVet *vet, Aggref *agg, const DpUnitAggregate *allowed, Expr *expr)
{
	bool		counts = agg->aggfnoid == F_COUNT_ANY && agg->aggdistinct == NIL;
	Node	   *arg = dp_vet((Node *) (counts ? dp_counted_value(expr) : expr), vet);
	FuncExpr   *call;

	if (agg->aggdistinct != NIL || agg->aggorder != NIL)
		dp_vet_input_collation(vet, arg, list_make1(arg), exprCollation(arg));
	if (agg->aggdistinct != NIL)
		arg = dp_canonical_key(arg);
	if (allowed->summand == NULL)
		return (Expr *) arg;
	call = makeFuncExpr(summand_function(allowed), exprType(arg),
						list_make1(arg), exprCollation(arg), InvalidOid, COERCE_EXPLICIT_CALL);
	call->location = exprLocation(arg);
	return (Expr *) call;
}

/* Completes the order of rows by the images of the arguments, so that rows which it takes for equal add the same; those of DISTINCT do. */
static void
complete_order(DpVet *vet, Aggref *agg)
{
	foreach_node(TargetEntry, tle, list_copy(agg->args))
	{
		Expr	   *image = tle->resjunk || IsA(tle->expr, Const) ? NULL : dp_row_image(tle->expr);

		if (!tle->resjunk && agg->aggdistinct != NIL && !dp_type_is_key(exprType((Node *) tle->expr)))
			dp_refuse(vet, (Node *) agg, psprintf("DISTINCT of values of type %s in a list", dp_type_name(exprType((Node *) tle->expr))), "cast them to text");
		if (image != NULL && agg->aggdistinct == NIL && !list_member(get_sortgrouplist_exprs(agg->aggorder, agg->args), image))
			agg->aggorder = dp_sort_by(agg->aggorder, &agg->args, image);
		else if (image == NULL && !tle->resjunk && !IsA(tle->expr, Const))
			dp_refuse(vet, (Node *) agg, "a list of values that have no order of bytes", "aggregate values that can be read");
	}
}

/* Vets the operators that sort clauses name. */
static void
vet_clauses(DpVet *vet, Aggref *agg, List *clauses, const char *what)
{
	foreach_node(SortGroupClause, clause, clauses)
	{
		if (clause->eqop >= FirstGenbkiObjectId || clause->sortop >= FirstGenbkiObjectId)
			dp_refuse(vet, (Node *) agg, psprintf("%s by an operator that is not built in", what), NULL);
	}
}

/* Vets an aggregate, whose arguments are read in another context. */
static Aggref *
vet_aggregate(DpVet *vet, Aggref *agg, const DpAllowContext *rows)
{
	const DpUnitAggregate *allowed = find_unit_aggregate(agg->aggfnoid);
	DpVet		inner = {rows, false, InvalidOid};
	Oid			element = get_element_type(agg->aggtype);
	Aggref	   *copy;

	if (vet->no_columns)
		dp_refuse(vet, (Node *) agg, "an aggregate in place of a constant", NULL);
	if (allowed == NULL || agg->aggkind != AGGKIND_NORMAL || agg->aggvariadic)
		dp_refuse_function(vet, (Node *) agg, agg->aggfnoid, remedy_for(agg->aggfnoid));
	if (agg->aggorder != NIL && !allowed->is_ordered)
		dp_refuse(vet, (Node *) agg, "ORDER BY inside of an aggregate",
				  "leave it out: the result does not depend on it");

	/* aggregates that compare strings do so by their input collation */
	if (agg->aggfnoid != F_COUNT_ANY && agg->aggfnoid != F_COUNT_)
		dp_vet_input_collation(vet, (Node *) agg, agg->args ? list_make1(linitial_node(TargetEntry, agg->args)->expr) : NIL,
							   agg->inputcollid);
	dp_vet_type(vet, (Node *) agg, allowed->is_ordered && OidIsValid(element) ? element : agg->aggtype);
	dp_vet_collation(vet, (Node *) agg, agg->aggcollid);
	vet_clauses(vet, agg, agg->aggdistinct, "DISTINCT");
	vet_clauses(vet, agg, agg->aggorder, "ORDER BY");

	copy = copyObject(agg);
	if (allowed->of_set)
		copy->aggdistinct = NIL;
	foreach_node(TargetEntry, tle, copy->args)
	{
		if (allowed->of_set)
			tle->ressortgroupref = 0;
		tle->expr = vet_argument(&inner, copy, allowed, tle->expr);
	}
	if (allowed->is_ordered)
		complete_order(vet, copy);
	if (allowed->own)
		copy->aggfnoid = dp_unit_aggregate_safe(allowed);
	copy->aggfilter = (Expr *) dp_vet((Node *) copy->aggfilter, &inner);
	return copy;
}

Node *
dp_vet_unit_aggregate(DpVet *vet, Aggref *agg)
{
	DpAllowContext rows = *vet->cxt;

	/* within, there are rows, and neither aggregates nor windows */
	rows.unit_aggregates = rows.windows = false;
	return (Node *) vet_aggregate(vet, agg, &rows);
}

/* ------------------------------------------------------------------------
 * Window functions
 * ------------------------------------------------------------------------
 */

/* Vets an aggregate over a window as one over rows. */
static void
vet_window_aggregate(DpVet *vet, WindowFunc *function, const DpAllowContext *rows)
{
	Aggref	   *agg = dp_make(Aggref, .aggfnoid = function->winfnoid, .aggtype = function->wintype,
							  .aggcollid = function->wincollid, .inputcollid = function->inputcollid,
							  .aggstar = function->winstar, .aggkind = AGGKIND_NORMAL,
							  .aggfilter = function->aggfilter, .location = function->location);

	foreach_ptr(Expr, arg, function->args)
		agg->args = lappend(agg->args, makeTargetEntry(arg, foreach_current_index(arg) + 1, NULL, false));
	agg = vet_aggregate(vet, agg, rows);
	if (agg->aggorder != NIL)
		dp_refuse_function(vet, (Node *) function, function->winfnoid, "aggregate in a subquery that groups by the privacy unit");
	function->winfnoid = agg->aggfnoid;
	function->aggfilter = agg->aggfilter;
	function->args = NIL;
	foreach_node(TargetEntry, tle, agg->args)
		function->args = lappend(function->args, tle->expr);
}

/* Returns a number that must be above 0, an argument of function: NULL where a parameter is not. */
static Node *
positive(DpVet *vet, WindowFunc *function, Node *number)
{
	CaseWhen   *when = makeNode(CaseWhen);
	Const	   *zero = dp_int4_const(0);

	if (IsA(number, Const))
	{
		if (((Const *) number)->constisnull || DatumGetInt32(((Const *) number)->constvalue) < 1)
			dp_refuse_function(vet, (Node *) function, function->winfnoid, "write a number of at least 1");
		return number;
	}
	when->expr = (Expr *) dp_make_comparison(Int4LessOperator, (Expr *) zero, (Expr *) number, InvalidOid);
	when->result = copyObject((Expr *) number);
	when->location = -1;
	return (Node *) dp_make(CaseExpr, .casetype = INT4OID, .args = list_make1(when),
							.defresult = (Expr *) makeNullConst(INT4OID, -1, InvalidOid), .location = -1);
}

/* Vets the arguments of a function that is no aggregate: a value, how many rows, another value. */
static List *
vet_window_arguments(DpVet *vet, WindowFunc *function, const DpAllowContext *rows)
{
	DpVet		inner = {rows, false, InvalidOid};
	int			count = function->winfnoid == F_NTILE ? 0 : 1;
	List	   *result = NIL;

	foreach_ptr(Node, item, function->args)
	{
		bool		is_count = foreach_current_index(item) == count;
		Node	   *arg;

		if (is_count && dp_reads_columns(item, NULL))
			dp_refuse(vet, (Node *) function, "a window function with a column for the number of rows", "write a number");
		inner.no_columns = is_count;
		arg = dp_vet(item, &inner);
		if (is_count && (function->winfnoid == F_NTILE || function->winfnoid == F_NTH_VALUE))
			arg = positive(vet, function, arg);
		result = lappend(result, arg);
	}
	return result;
}

Node *
dp_vet_window_function(DpVet *vet, WindowFunc *function)
{
	DpAllowContext rows = *vet->cxt;
	WindowFunc *copy;

	rows.windows = false;
	if (vet->no_columns)
		dp_refuse(vet, (Node *) function, "a window function in place of a constant", NULL);
	if (dp_window_kind(function) == DP_WINDOW_UNKNOWN)
		dp_refuse_function(vet, (Node *) function, function->winfnoid,
						   "use row_number, rank, dense_rank, percent_rank, cume_dist, ntile, lag, lead, first_value, last_value, nth_value "
						   "or an aggregate");
	if (dp_has_null_treatment(function))
		dp_refuse(vet, (Node *) function, "IGNORE NULLS or RESPECT NULLS", "leave it out");
	if (!function->winagg)
	{
		dp_vet_type(vet, (Node *) function, function->wintype);
		dp_vet_collation(vet, (Node *) function, function->wincollid);
	}
	copy = dp_make(WindowFunc, .winfnoid = function->winfnoid, .wintype = function->wintype,
				   .wincollid = function->wincollid, .inputcollid = function->inputcollid,
				   .args = copyObject(function->args), .aggfilter = copyObject(function->aggfilter),
				   .winref = function->winref, .winstar = function->winstar, .winagg = function->winagg,
				   .location = function->location);
	if (function->winagg)
		vet_window_aggregate(vet, copy, &rows);
	else
		copy->args = vet_window_arguments(vet, copy, &rows);
	return (Node *) copy;
}
