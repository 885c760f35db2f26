/*-------------------------------------------------------------------------
 *
 * unit_aggregates.c
 *	  The aggregates that a subquery which groups by the privacy unit may
 *	  compute, exactly, on the rows of one unit.
 *
 * Curated by hand, like the functions in allow_list.c, and for the same
 * reason: such an aggregate runs on raw rows, and an error would be an exact
 * answer.  One is listed as it stands only if no set of values makes it fail.
 * Sums, averages and variances of floating point and numeric overflow; of
 * these, values so large that they might are taken for NULL, by a function
 * try_* of schema dp_cdp around the argument.  That depends on one row alone,
 * so that the result does not depend on order or plan.
 *
 * sql/unit_aggregates.sql sweeps the whole list.
 *
 * Not listed, on purpose: sums of money and interval (they overflow), what
 * makes arrays, strings or documents (memory), ordered sets, and aggregates
 * that anybody but PostgreSQL wrote.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_aggregate_d.h"
#include "compat.h"
#include "guard/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/regproc.h"

#define DP_AGG(f) {F_##f, NULL}
#define DP_AGG_TRY(f, summand) {F_##f, "try_" summand}

#define DP_AGG_ORDER(t) DP_AGG(MIN_##t), DP_AGG(MAX_##t)
#define DP_AGG_SPREAD(t) \
	DP_AGG(VARIANCE_##t), DP_AGG(VAR_SAMP_##t), DP_AGG(VAR_POP_##t), \
	DP_AGG(STDDEV_##t), DP_AGG(STDDEV_SAMP_##t), DP_AGG(STDDEV_POP_##t)
#define DP_AGG_SPREAD_TRY(t, summand) \
	DP_AGG_TRY(VARIANCE_##t, summand), DP_AGG_TRY(VAR_SAMP_##t, summand), DP_AGG_TRY(VAR_POP_##t, summand), \
	DP_AGG_TRY(STDDEV_##t, summand), DP_AGG_TRY(STDDEV_SAMP_##t, summand), DP_AGG_TRY(STDDEV_POP_##t, summand)

static const DpUnitAggregate dp_unit_aggregate_list[] = {
	DP_AGG(COUNT_), DP_AGG(COUNT_ANY),
	DP_AGG(BOOL_AND), DP_AGG(BOOL_OR), DP_AGG(EVERY),

	DP_AGG_ORDER(INT2), DP_AGG_ORDER(INT4), DP_AGG_ORDER(INT8), DP_AGG_ORDER(OID),
	DP_AGG_ORDER(FLOAT4), DP_AGG_ORDER(FLOAT8), DP_AGG_ORDER(NUMERIC), DP_AGG_ORDER(MONEY),
	DP_AGG_ORDER(TEXT), DP_AGG_ORDER(BPCHAR), DP_AGG_ORDER(ANYENUM), DP_AGG_ORDER(INET),
	DP_AGG_ORDER(DATE), DP_AGG_ORDER(TIME), DP_AGG_ORDER(TIMETZ), DP_AGG_ORDER(INTERVAL),
	DP_AGG_ORDER(TIMESTAMP), DP_AGG_ORDER(TIMESTAMPTZ),

	/* these add up in wider types, which hold more rows than there can be */
	DP_AGG(SUM_INT2), DP_AGG(SUM_INT4), DP_AGG(SUM_INT8),
	DP_AGG(AVG_INT2), DP_AGG(AVG_INT4), DP_AGG(AVG_INT8), DP_AGG(AVG_FLOAT4),
	DP_AGG_SPREAD(INT2), DP_AGG_SPREAD(INT4), DP_AGG_SPREAD(INT8), DP_AGG_SPREAD(FLOAT4),

	/* averages of double precision keep the sum of squares, too */
	DP_AGG_TRY(SUM_FLOAT4, "summand"), DP_AGG_TRY(SUM_FLOAT8, "summand"), DP_AGG_TRY(SUM_NUMERIC, "summand"),
	DP_AGG_TRY(AVG_FLOAT8, "summand_squared"), DP_AGG_TRY(AVG_NUMERIC, "summand"),
	DP_AGG_SPREAD_TRY(FLOAT8, "summand_squared"), DP_AGG_SPREAD_TRY(NUMERIC, "summand_squared")
};

const DpUnitAggregate *
dp_unit_aggregates(int *count)
{
	*count = lengthof(dp_unit_aggregate_list);
	return dp_unit_aggregate_list;
}

static const DpUnitAggregate *
dp_unit_aggregate(Oid aggfnoid)
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
dp_remedy_for(Oid aggfnoid)
{
	switch (aggfnoid)
	{
		case F_SUM_MONEY:
			return "the table's owner can keep amounts as numeric";
		case F_SUM_INTERVAL:
		case F_AVG_INTERVAL:
			return "aggregate extract(epoch FROM interval)";
		default:
			return "a subquery that groups by the privacy unit may use count, min, max, bool_and, bool_or, "
				"and sum, avg, variance and stddev of numbers";
	}
}

Oid
dp_unit_aggregate_summand(const DpUnitAggregate *allowed, Oid argtype)
{
	return dp_own_function(allowed->summand, 1, &argtype, argtype);
}

/* an argument in its total form */
static Expr *
dp_vet_argument(DpVet *vet, Aggref *agg, const DpUnitAggregate *allowed, Expr *expr)
{
	Node	   *arg = dp_vet((Node *) expr, vet);
	FuncExpr   *call;

	if (agg->aggdistinct != NIL)
		dp_vet_input_collation(vet, arg, list_make1(arg), exprCollation(arg));
	if (allowed->summand == NULL)
		return (Expr *) arg;
	call = makeFuncExpr(dp_unit_aggregate_summand(allowed, exprType(arg)), exprType(arg),
						list_make1(arg), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	call->location = exprLocation(arg);
	return (Expr *) call;
}

Node	   *
dp_vet_unit_aggregate(DpVet *vet, Aggref *agg)
{
	const DpUnitAggregate *allowed = dp_unit_aggregate(agg->aggfnoid);
	DpAllowContext rows = *vet->cxt;
	DpVet		inner = {&rows, false, InvalidOid};
	Aggref	   *copy;
	ListCell   *lc;

	/* within, there are rows and no aggregates */
	rows.unit_aggregates = false;

	if (vet->no_columns)
		dp_refuse(vet, (Node *) agg, "an aggregate in place of a constant", NULL);
	if (allowed == NULL || agg->aggkind != AGGKIND_NORMAL || agg->aggvariadic)
		dp_refuse(vet, (Node *) agg, psprintf("aggregate %s", format_procedure(agg->aggfnoid)),
				  dp_remedy_for(agg->aggfnoid));
	if (agg->aggorder != NIL)
		dp_refuse(vet, (Node *) agg, "ORDER BY inside of an aggregate",
				  "leave it out: the result does not depend on it");

	/* those that compare strings are told how by their input collation */
	if (agg->aggfnoid != F_COUNT_ANY && agg->aggfnoid != F_COUNT_)
		dp_vet_input_collation(vet, (Node *) agg, agg->args ? list_make1(linitial_node(TargetEntry, agg->args)->expr) : NIL,
							   agg->inputcollid);
	dp_vet_type(vet, (Node *) agg, agg->aggtype);
	dp_vet_collation(vet, (Node *) agg, agg->aggcollid);
	foreach(lc, agg->aggdistinct)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);

		if (clause->eqop >= FirstGenbkiObjectId || clause->sortop >= FirstGenbkiObjectId)
			dp_refuse(vet, (Node *) agg, "DISTINCT by an operator that is not built in", NULL);
	}

	copy = copyObject(agg);
	foreach(lc, copy->args)
	{
		TargetEntry *tle = lfirst_node(TargetEntry, lc);

		tle->expr = dp_vet_argument(&inner, agg, allowed, tle->expr);
	}
	copy->aggfilter = (Expr *) dp_vet((Node *) copy->aggfilter, &inner);
	return (Node *) copy;
}
