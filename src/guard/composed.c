/*-------------------------------------------------------------------------
 *
 * composed.c
 *	  Aggregates that others make up: regr_count, regr_r2 and their kin, bool_or, bool_and.
 *
 *		regr_avgx(y, x)		is   avg(x) FILTER (WHERE y IS NOT NULL)
 *		bool_or(c)			is   whether more rows with c are counted than noise explains
 *
 * The others are released and charged as if they had been written.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/tlist.h"
#include "parser/parse_oper.h"
#include "utils/fmgroids.h"

/* Returns the filter of an aggregate and a condition; either may be NULL. */
static Expr *
both(const Aggref *agg, Node *condition)
{
	return (Expr *) make_and_qual(copyObject((Node *) agg->aggfilter), condition);
}

/* Makes an aggregate of numbers in double precision, of as many arguments as are given. */
static Expr *
aggregate_of(const Aggref *agg, Oid function, List *values, Node *condition)
{
	Aggref	   *made = castNode(Aggref, dp_count_rows(agg->location));

	made->aggfnoid = function;
	made->aggtype = FLOAT8OID;
	made->aggstar = false;
	made->aggfilter = both(agg, condition);
	foreach_ptr(Expr, value, values)
	{
		made->aggargtypes = lappend_oid(made->aggargtypes, FLOAT8OID);
		made->args = lappend(made->args, makeTargetEntry(copyObject(value), foreach_current_index(value) + 1, NULL, false));
	}
	return (Expr *) made;
}

static Expr *
count_where(const Aggref *agg, Node *condition)
{
	Aggref	   *count = castNode(Aggref, dp_count_rows(agg->location));

	count->aggfilter = both(agg, condition);
	return (Expr *) count;
}

static Node *
is_not_null(Node *value)
{
	return (Node *) dp_is_not_null((Expr *) copyObject(value));
}

static Node *
neither_null(Node *y, Node *x)
{
	return (Node *) make_andclause(list_make2(is_not_null(y), is_not_null(x)));
}

/* Returns the count of rows of which neither value is NULL, times an aggregate. */
static Node *
times_count(const Aggref *agg, Node *y, Node *x, Expr *aggregate)
{
	Expr	   *count = (Expr *) makeFuncExpr(F_FLOAT8_INT8, FLOAT8OID, list_make1(count_where(agg, neither_null(y, x))),
											  InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST);

	return (Node *) make_op(NULL, list_make2(makeString("pg_catalog"), makeString("*")), (Node *) count, (Node *) aggregate,
							NULL, agg->location);
}

static Node *
squared(Expr *value)
{
	Const	   *two = dp_float8_const(2);

	return (Node *) makeFuncExpr(F_POWER_FLOAT8_FLOAT8, FLOAT8OID, list_make2(value, two), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/* Returns what an aggregate is made up of; NULL: it is none of these. */
static Node *
made_of(const Aggref *agg)
{
	List	   *args = get_tlist_exprs(agg->args, true);
	Node	   *y = args != NIL ? linitial(args) : NULL;
	Node	   *x = list_length(args) > 1 ? lsecond(args) : NULL;

	switch (agg->aggfnoid)
	{
		case F_BOOL_OR:
			return (Node *) dp_more_rows_than_noise(agg->location, (Node *) both(agg, copyObject(y)));
		case F_BOOL_AND:
		case F_EVERY:
			return (Node *) make_notclause(dp_more_rows_than_noise(agg->location, (Node *) both(agg, (Node *) make_notclause(copyObject((Expr *) y)))));
		case F_REGR_COUNT:
			return (Node *) count_where(agg, neither_null(y, x));
		case F_REGR_R2:
			return squared(aggregate_of(agg, F_CORR, list_make2(y, x), NULL));
		case F_REGR_AVGX:
			return (Node *) aggregate_of(agg, F_AVG_FLOAT8, list_make1(x), is_not_null(y));
		case F_REGR_AVGY:
			return (Node *) aggregate_of(agg, F_AVG_FLOAT8, list_make1(y), is_not_null(x));
		case F_REGR_SXX:
			return times_count(agg, y, x, aggregate_of(agg, F_VAR_POP_FLOAT8, list_make1(x), is_not_null(y)));
		case F_REGR_SYY:
			return times_count(agg, y, x, aggregate_of(agg, F_VAR_POP_FLOAT8, list_make1(y), is_not_null(x)));
		case F_REGR_SXY:
			return times_count(agg, y, x, aggregate_of(agg, F_COVAR_POP, list_make2(y, x), NULL));
		default:
			return NULL;
	}
}

static Node *
write_aggregate(Node *node, int levels, void *context)
{
	if (IsA(node, SubLink))
		return node;
	return IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == 0 ? made_of((Aggref *) node) : NULL;
}

void
dp_write_out_composed(Query *query)
{
	query->targetList = (List *) dp_put(query->targetList, write_aggregate, NULL);
	query->havingQual = dp_put(query->havingQual, write_aggregate, NULL);
}
