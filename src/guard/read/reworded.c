/*-------------------------------------------------------------------------
 *
 * reworded.c
 *	  Aggregates in other words: of intervals, as those of their seconds, of whole rows, as the count of a column that has no NULL, and
 *	  quantiles of one unit's rows, as members of an array.
 *
 *		avg(ended - started)	is   justify_hours(avg(extract(epoch FROM ended - started)) * interval '1 second')
 *		count(visits.*)			is   count(visits.id)
 *		percentile_disc(0.5) WITHIN GROUP (ORDER BY x), of one unit's rows, is   (array_agg(x ORDER BY x))[ceil(0.5 * count(x))]
 *
 * As averages are sums, least and greatest values and quantiles of a release, and sums and averages of one unit, which may not run
 * on intervals: PostgreSQL's overflow.
 *
 * A whole row is NULL where an outer join has found none, and so is each of its columns.
 *
 * Invariant: results are equal to PostgreSQL's by the order of intervals, but for noise and fractions of a microsecond.  In it a month has
 * 30 days and a year has 360, of which extract makes 365.25: where an interval may have years, what these add is taken off.
 * The result of a release is written in days, and in months where these are made so, as age() does, for which extract(epoch FROM ...) would put it
 * on again: that is the aggregate of seconds itself.  The difference of two times has none.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_aggregate_d.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "guard/read/read.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_coerce.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* of a year, what extract counts beyond 360 days */
#define SECONDS_OF_YEAR 453600

/* more quantiles in one array are not written out */
#define MOST_QUANTILES 100

typedef struct RewordContext
{
	DpScope    *scope;
	bool		is_released;	/* else of the rows of one unit */
} RewordContext;

/* ------------------------------------------------------------------------
 * Years
 * ------------------------------------------------------------------------
 */

/* whether intervals have months; the greater includes the lesser */
typedef enum Months
{
	NO_MONTHS,					/* they are made of differences of times, and
								 * constants */
	MAY_HAVE_MONTHS,
	IN_MONTHS					/* some are made so */
} Months;

static Months months_of(DpScope *scope, Node *expr);

/* Tells so of a column that a query shows. */
static Months
months_of_column(DpScope *scope, Query *query, AttrNumber attno)
{
	DpScope		inner = {query, scope};
	TargetEntry *tle = get_tle_by_resno(query->targetList, attno);

	return query->setOperations != NULL || tle == NULL ? MAY_HAVE_MONTHS : months_of(&inner, (Node *) tle->expr);
}

static Months
months_of_var(DpScope *scope, Var *var)
{
	RangeTblEntry *rte;
	CommonTableExpr *cte;
	DpScope    *owner;

	if (var->varlevelsup > 0 || var->varattno <= 0 || var->varno > list_length(scope->query->rtable))
		return MAY_HAVE_MONTHS;
	rte = rt_fetch(var->varno, scope->query->rtable);
	switch (rte->rtekind)
	{
		case RTE_SUBQUERY:
			return months_of_column(scope, rte->subquery, var->varattno);
		case RTE_JOIN:
			return months_of(scope, list_nth(rte->joinaliasvars, var->varattno - 1));
		case RTE_CTE:
			cte = dp_find_cte(scope, rte, &owner);
			return cte == NULL ? MAY_HAVE_MONTHS : months_of_column(owner, castNode(Query, cte->ctequery), var->varattno);
		default:
			return MAY_HAVE_MONTHS;
	}
}

static Months
months_of_call(Oid funcid)
{
	switch (funcid)
	{
		case F_TIMESTAMP_MI:
		case F_TIMESTAMPTZ_MI:
		case F_TIME_MI_TIME:
			return NO_MONTHS;
		case F_AGE_TIMESTAMP:
		case F_AGE_TIMESTAMPTZ:
		case F_AGE_TIMESTAMP_TIMESTAMP:
		case F_AGE_TIMESTAMPTZ_TIMESTAMPTZ:
			return IN_MONTHS;
		default:
			return MAY_HAVE_MONTHS;
	}
}

/* Tells whether the values of an expression have months. */
static Months
months_of(DpScope *scope, Node *expr)
{
	Months		months = NO_MONTHS;
	List	   *parts;
	Oid			funcid;

	check_stack_depth();
	if (exprType(expr) != INTERVALOID)
		return MAY_HAVE_MONTHS;
	if (IsA(expr, Var))
		return months_of_var(scope, (Var *) expr);
	if (IsA(expr, Const))
		return !((Const *) expr)->constisnull && DatumGetIntervalP(((Const *) expr)->constvalue)->month != 0 ? IN_MONTHS : NO_MONTHS;
	if (dp_call_args(expr, &funcid) != NIL)
		return months_of_call(funcid);
	if (IsA(expr, CoalesceExpr))
		parts = ((CoalesceExpr *) expr)->args;
	else if (IsA(expr, MinMaxExpr))
		parts = ((MinMaxExpr *) expr)->args;
	else if (IsA(expr, CaseExpr))
	{
		parts = list_make1(((CaseExpr *) expr)->defresult);
		foreach_node(CaseWhen, when, ((CaseExpr *) expr)->args)
			parts = lappend(parts, when->result);
	}
	else if (IsA(expr, Aggref) && (((Aggref *) expr)->aggfnoid == F_MIN_INTERVAL || ((Aggref *) expr)->aggfnoid == F_MAX_INTERVAL ||
								   ((Aggref *) expr)->aggfnoid == F_SUM_INTERVAL || ((Aggref *) expr)->aggfnoid == F_AVG_INTERVAL))
		parts = get_tlist_exprs(((Aggref *) expr)->args, false);
	else
		return MAY_HAVE_MONTHS;
	foreach_ptr(Node, part, parts)
	{
		Months		of_part = months_of(scope, part);

		months = Max(months, of_part);
	}
	return months;
}

/* ------------------------------------------------------------------------
 * Seconds
 * ------------------------------------------------------------------------
 */

static Node *
operation(Node *left, const char *name, Node *right)
{
	return (Node *) make_op(NULL, list_make2(makeString("pg_catalog"), makeString(pstrdup(name))), left, right, NULL, -1);
}

static Node *
field(const char *name, Node *interval)
{
	Const	   *named = makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(name), false, false);

	return (Node *) makeFuncExpr(F_EXTRACT_TEXT_INTERVAL, NUMERICOID, list_make2(named, copyObject(interval)),
								 InvalidOid, DEFAULT_COLLATION_OID, COERCE_SQL_SYNTAX);
}

/* Returns the seconds of an interval, as its order counts them: a numeric. */
static Node *
seconds_of(Node *interval, Months months)
{
	Node	   *beyond;

	if (months == NO_MONTHS)
		return field("epoch", interval);
	beyond = (Node *) makeConst(NUMERICOID, -1, InvalidOid, -1, DirectFunctionCall1(int4_numeric, Int32GetDatum(SECONDS_OF_YEAR)), false, false);
	return operation(field("epoch", interval), "-", operation(beyond, "*", field("year", interval)));
}

static Node *
call(Oid function, Oid type, Node *arg)
{
	return (Node *) dp_call(function, type, list_make1(arg));
}

/* Returns an expression, a numeric or in double precision, in double precision. */
static Node *
in_double(Node *number)
{
	return exprType(number) == NUMERICOID ? call(F_FLOAT8_NUMERIC, FLOAT8OID, number) : number;
}

static Node *
times_interval(Node *number, int32 days, TimeOffset time)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->day = days;
	interval->time = time;
	return operation(number, "*", (Node *) makeConst(INTERVALOID, -1, InvalidOid, sizeof(Interval), IntervalPGetDatum(interval), false, false));
}

/*
 * Returns the interval of so many seconds, a numeric or in double precision; written as PostgreSQL writes the difference of two times,
 * in whole days and the time beyond, or in months where they are made so.
 */
static Node *
interval_of(Node *seconds, const RewordContext *c, Months months)
{
	Node	   *interval;

	seconds = in_double(seconds);

	/*
	 * fractions of a day become a time in the product; nothing else may run
	 * on rows that carries seconds over into days
	 */
	if (!c->is_released)
		return times_interval(operation(seconds, "/", (Node *) dp_float8_const(SECS_PER_DAY)), 1, 0);
	interval = times_interval(seconds, 0, USECS_PER_SEC);
	return (Node *) dp_call(months == IN_MONTHS ? F_JUSTIFY_INTERVAL : F_JUSTIFY_HOURS, INTERVALOID, list_make1(interval));
}

/* Returns the aggregate of seconds that one of intervals is; 0: it is none. */
static Oid
aggregate_of_seconds(Oid aggregate, bool is_released)
{
	switch (aggregate)
	{
		case F_SUM_INTERVAL:
			return F_SUM_NUMERIC;
		case F_AVG_INTERVAL:
			return F_AVG_NUMERIC;
		case F_MIN_INTERVAL:
			return is_released ? F_MIN_NUMERIC : InvalidOid;
		case F_MAX_INTERVAL:
			return is_released ? F_MAX_NUMERIC : InvalidOid;
		case F_PERCENTILE_CONT_FLOAT8_INTERVAL:
			return is_released ? F_PERCENTILE_CONT_FLOAT8_FLOAT8 : InvalidOid;
		case F_PERCENTILE_CONT__FLOAT8_INTERVAL:
			return is_released ? F_PERCENTILE_CONT__FLOAT8_FLOAT8 : InvalidOid;
		case F_PERCENTILE_DISC_FLOAT8_ANYELEMENT:
		case F_PERCENTILE_DISC__FLOAT8_ANYELEMENT:
			return is_released ? aggregate : InvalidOid;
		default:
			return InvalidOid;
	}
}

/* Has a quantile, or an array of them, order seconds. */
static void
order_seconds(Aggref *quantile, Node *share)
{
	TargetEntry *tle = linitial_node(TargetEntry, quantile->args);
	SortGroupClause *clause = linitial_node(SortGroupClause, quantile->aggorder);
	bool		is_descending;
	Oid			greater;

	get_sort_group_operators(INTERVALOID, false, false, true, NULL, NULL, &greater, NULL);
	is_descending = clause->sortop == greater;
	get_sort_group_operators(FLOAT8OID, true, true, true, &clause->sortop, &clause->eqop, &greater, &clause->hashable);
	if (is_descending)
		clause->sortop = greater;
	tle->expr = (Expr *) coerce_to_target_type(NULL, (Node *) tle->expr, NUMERICOID, FLOAT8OID, -1, COERCION_EXPLICIT, COERCE_IMPLICIT_CAST, -1);
	quantile->aggdirectargs = list_make1(share);
	quantile->aggargtypes = list_make2_oid(exprType(share), FLOAT8OID);
}

/* Tells whether the values of an aggregate of intervals have months. */
static Months
months_of_values(const Aggref *agg, const RewordContext *c)
{
	return months_of(c->scope, (Node *) linitial_node(TargetEntry, agg->args)->expr);
}

/*
 * Returns an aggregate of intervals as one of seconds, of which the order counts less where there may be months; share: of a quantile, or an
 * array of these, else NULL.
 */
static Aggref *
of_seconds(const Aggref *agg, const RewordContext *c, Node *share, Months months)
{
	Aggref	   *made = copyObject((Aggref *) agg);
	TargetEntry *tle = linitial_node(TargetEntry, made->args);

	made->aggfnoid = aggregate_of_seconds(agg->aggfnoid, c->is_released);
	tle->expr = (Expr *) seconds_of((Node *) tle->expr, months);
	made->aggargtypes = list_make1_oid(NUMERICOID);
	made->aggtype = NUMERICOID;
	if (share == NULL)
		return made;
	order_seconds(made, share);
	made->aggtype = exprType(share);
	return made;
}

/* Tells whether an aggregate is one of intervals that is written as one of seconds. */
static bool
is_of_intervals(const Aggref *agg, const RewordContext *c)
{
	return IsA(agg, Aggref) && agg->agglevelsup == 0 && agg->aggdistinct == NIL && OidIsValid(aggregate_of_seconds(agg->aggfnoid, c->is_released)) &&
		exprType((Node *) linitial_node(TargetEntry, agg->args)->expr) == INTERVALOID;
}

/*
 * Returns extract(epoch FROM aggregate) as the aggregate of seconds, which has years as these are written.  Another part stays, and is refused,
 * where it would be another than PostgreSQL's: which adds up days beside hours, and months beside days.  NULL: it is of something else, or equal.
 */
static Node *
part_of_aggregate(FuncExpr *part, const RewordContext *c)
{
	Const	   *name = linitial(part->args);
	Aggref	   *agg = lsecond(part->args);
	Node	   *share;
	Aggref	   *made;

	if (!is_of_intervals(agg, c))
		return NULL;
	if (!IsA(name, Const) || name->constisnull || pg_strcasecmp(TextDatumGetCString(name->constvalue), "epoch") != 0)
		return agg->aggfnoid == F_SUM_INTERVAL || months_of_values(agg, c) != NO_MONTHS ? (Node *) part : NULL;
	share = agg->aggdirectargs != NIL ? linitial(agg->aggdirectargs) : NULL;
	made = of_seconds(agg, c, share, NO_MONTHS);
	if (part->funcid == F_DATE_PART_TEXT_INTERVAL)
		return in_double((Node *) made);
	return made->aggtype == NUMERICOID ? (Node *) made : call(F_NUMERIC_FLOAT8, NUMERICOID, (Node *) made);
}

/* Returns an array of quantiles, one for each of the shares; NULL: these are not known, or too many. */
static Node *
quantiles(const Aggref *agg, const RewordContext *c, Node *shares)
{
	Const	   *known = (Const *) eval_const_expressions(NULL, copyObject(shares));
	ArrayExpr  *array = makeNode(ArrayExpr);
	ArrayType  *value;
	Months		months = months_of_values(agg, c);
	Aggref	   *made;

	if (!IsA(known, Const) || known->constisnull)
		return NULL;
	value = DatumGetArrayTypeP(known->constvalue);
	if (ARR_NDIM(value) != 1 || ARR_DIMS(value)[0] > MOST_QUANTILES)
		return NULL;
	made = of_seconds(agg, c, (Node *) known, months);
	array->array_typeid = agg->aggtype;
	array->element_typeid = INTERVALOID;
	array->location = agg->location;
	for (int i = 0; i < ARR_DIMS(value)[0]; i++)
	{
		SubscriptingRef *element = dp_make(SubscriptingRef, .refcontainertype = FLOAT8ARRAYOID, .refelemtype = FLOAT8OID,
										   .refrestype = FLOAT8OID, .reftypmod = -1, .refexpr = copyObject((Expr *) made),
										   .refupperindexpr = list_make1(dp_int4_const(i + 1)));

		array->elements = lappend(array->elements, interval_of((Node *) element, c, months));
	}
	return (Node *) array;
}

/* ------------------------------------------------------------------------
 * Whole rows
 * ------------------------------------------------------------------------
 */

/* Returns a column without NULL of the table whose row is counted; NULL: there is none, or something else is counted. */
static Var *
column_of_row(Query *query, Var *row)
{
	RangeTblEntry *rte;
	Var		   *column = copyObject(row);

	if (!IsA(row, Var) || row->varattno != 0 || row->varlevelsup > 0 || row->varno > list_length(query->rtable))
		return NULL;
	rte = rt_fetch(row->varno, query->rtable);
	if (rte->rtekind != RTE_RELATION)
		return NULL;
	for (column->varattno = 1; SearchSysCacheExists2(ATTNUM, ObjectIdGetDatum(rte->relid), Int16GetDatum(column->varattno)); column->varattno++)
	{
		/* dropped columns have no name */
		if (get_attname(rte->relid, column->varattno, true) == NULL || !dp_column_has_no_null(rte->relid, column->varattno, rte->inh))
			continue;
		get_atttypetypmodcoll(rte->relid, column->varattno, &column->vartype, &column->vartypmod, &column->varcollid);
		return column;
	}
	return NULL;
}

/* Returns count(t.*) as the count of a column; NULL: it counts something else. */
static Node *
count_of_column(const Aggref *agg, Query *query)
{
	Aggref	   *made = copyObject((Aggref *) agg);
	Var		   *column = NULL;

	if (agg->aggfnoid == F_COUNT_ANY && agg->aggdistinct == NIL)
		column = column_of_row(query, (Var *) linitial_node(TargetEntry, agg->args)->expr);
	if (column == NULL)
		return NULL;
	made->aggargtypes = list_make1_oid(column->vartype);
	linitial_node(TargetEntry, made->args)->expr = (Expr *) column;
	return (Node *) made;
}

/* ------------------------------------------------------------------------
 * Quantiles of one unit's rows
 * ------------------------------------------------------------------------
 */

/* Returns the values that a quantile is of, in its order, as an array. */
static Aggref *
ordered_values(const Aggref *quantile)
{
	Aggref	   *array = copyObject((Aggref *) quantile);
	Node	   *value = (Node *) linitial_node(TargetEntry, array->args)->expr;

	array->aggfnoid = F_ARRAY_AGG_ANYNONARRAY;
	array->aggkind = AGGKIND_NORMAL;
	array->aggdirectargs = NIL;
	array->aggtype = get_array_type(exprType(value));
	array->aggargtypes = list_make1_oid(exprType(value));
	array->aggcollid = exprCollation(value);
	array->aggfilter = (Expr *) make_and_qual((Node *) array->aggfilter, (Node *) dp_is_not_null((Expr *) copyObject(value)));
	return array;
}

static Node *
value_at(const Aggref *array, Node *index)
{
	Oid			type = get_element_type(array->aggtype);

	return (Node *) dp_make(SubscriptingRef, .refcontainertype = array->aggtype, .refelemtype = type, .refrestype = type, .reftypmod = -1,
							.refcollid = array->aggcollid, .refexpr = (Expr *) copyObject((Aggref *) array), .refupperindexpr = list_make1(index));
}

/*
 * Returns percentile_disc(p) as (array_agg(x ORDER BY x))[greatest(1, ceil(p * count(x)))], and percentile_cont(p) as what lies
 * between two such values, all of x that are not NULL; NULL: it is no quantile, or p is not known.
 */
static Node *
quantile_of_unit(const Aggref *agg)
{
	bool		is_discrete = agg->aggfnoid == F_PERCENTILE_DISC_FLOAT8_ANYELEMENT;
	Const	   *share;
	Aggref	   *array;
	Aggref	   *count;
	Node	   *place;
	Node	   *below;
	Node	   *first;
	CaseExpr   *cases;

	if (!(is_discrete || agg->aggfnoid == F_PERCENTILE_CONT_FLOAT8_FLOAT8) ||
		!OidIsValid(get_array_type(exprType((Node *) linitial_node(TargetEntry, agg->args)->expr))))
		return NULL;
	share = (Const *) eval_const_expressions(NULL, copyObject(linitial(agg->aggdirectargs)));
	if (!IsA(share, Const) || share->constisnull || !(DatumGetFloat8(share->constvalue) >= 0 && DatumGetFloat8(share->constvalue) <= 1))
		return NULL;
	array = ordered_values(agg);
	count = castNode(Aggref, dp_count_rows(agg->location));
	count->aggfilter = copyObject(array->aggfilter);
	if (is_discrete)
	{
		place = call(F_CEIL_FLOAT8, FLOAT8OID, operation((Node *) share, "*", call(F_FLOAT8_INT8, FLOAT8OID, (Node *) count)));
		return value_at(array, (Node *) dp_make(MinMaxExpr, .minmaxtype = INT4OID, .op = IS_GREATEST, .location = -1,
												.args = list_make2(dp_int4_const(1), call(F_INT4_FLOAT8, INT4OID, place))));
	}
	/* elements begin with 1 */
	place = operation(operation((Node *) share, "*", operation(call(F_FLOAT8_INT8, FLOAT8OID, (Node *) count), "-", (Node *) dp_float8_const(1))),
					  "+", (Node *) dp_float8_const(1));
	below = call(F_FLOOR_FLOAT8, FLOAT8OID, copyObject(place));
	first = value_at(array, call(F_INT4_FLOAT8, INT4OID, copyObject(below)));
	cases = dp_make_case((Expr *) operation(copyObject(first), "+",
											operation(operation(copyObject(place), "-", copyObject(below)), "*",
													  operation(value_at(array, call(F_INT4_FLOAT8, INT4OID, call(F_CEIL_FLOAT8, FLOAT8OID, copyObject(place)))), "-", copyObject(first)))));
	/* nothing lies between infinity and itself */
	dp_add_when(cases, (Expr *) operation(place, "=", below), (Expr *) first);
	return (Node *) cases;
}

static Node *
write_aggregate(Node *node, int levels, const RewordContext *c)
{
	Aggref	   *agg = (Aggref *) node;
	Node	   *share;
	Months		months;
	Oid			funcid;

	if (IsA(node, SubLink))
		return node;
	if (IsA(node, FuncExpr) && (funcid = ((FuncExpr *) node)->funcid, funcid == F_EXTRACT_TEXT_INTERVAL || funcid == F_DATE_PART_TEXT_INTERVAL))
		return part_of_aggregate((FuncExpr *) node, c);
	if (IsA(node, Aggref) && agg->agglevelsup == 0 && agg->aggfnoid == F_COUNT_ANY)
		return count_of_column(agg, c->scope->query);
	if (IsA(node, Aggref) && agg->agglevelsup == 0 && !c->is_released && agg->aggkind == AGGKIND_ORDERED_SET)
		return quantile_of_unit(agg);
	if (!is_of_intervals(agg, c))
		return NULL;
	share = agg->aggdirectargs != NIL ? linitial(agg->aggdirectargs) : NULL;
	if (share != NULL && exprType(share) != FLOAT8OID)
		return quantiles(agg, c, share);
	months = months_of_values(agg, c);
	return interval_of((Node *) of_seconds(agg, c, share, months), c, months);
}

void
dp_reword_aggregates(DpScope *scope, bool is_released)
{
	RewordContext c = {scope, is_released};
	Query	   *query = scope->query;

	query->targetList = (List *) dp_put(query->targetList, write_aggregate, &c);
	query->havingQual = dp_put(query->havingQual, write_aggregate, &c);
}
