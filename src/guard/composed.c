/*-------------------------------------------------------------------------
 *
 * composed.c
 *	  Aggregates that others make up: regr_count, regr_r2 and their kin, bool_or, bool_and, and counts of so many rows at most.
 *
 *		regr_avgx(y, x)		is   avg(x) FILTER (WHERE y IS NOT NULL)
 *		bool_or(c)			is   whether more rows with c are counted than noise explains
 *		count(*) of (SELECT ... LIMIT n OFFSET m) is   greatest(least(count(*) - m, n), 0) of (SELECT ...)
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
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
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

	return (Node *) dp_call(F_POWER_FLOAT8_FLOAT8, FLOAT8OID, list_make2(value, two));
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

/* ------------------------------------------------------------------------
 * Counts of so many rows at most
 * ------------------------------------------------------------------------
 */

/* Tells whether a number of rows can be written into the level around the subquery, as often as wanted. */
static bool
may_be_handed_up(Node *number)
{
	return !checkExprHasSubLink(number) && !dp_has_columns(number) && !contain_volatile_functions(number);
}

/* Tells whether an aggregate of a query counts rows, whatever is in them. */
static bool
counts_rows(const Aggref *agg, Query *query)
{
	const DpAggregate *found = dp_find_aggregate(agg->aggfnoid, true);
	Node	   *counted = agg->args != NIL ? (Node *) linitial_node(TargetEntry, agg->args)->expr : NULL;

	return found != NULL && strcmp(found->name, "dp_count") == 0 && agg->aggdistinct == NIL && agg->aggfilter == NULL &&
		(agg->aggstar || (counted != NULL && (IsA(counted, Const) ? !((Const *) counted)->constisnull : dp_is_never_null(query, counted))));
}

static DpWalk
reads_otherwise(Node *node, int levels, Query *query)
{
	if (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == 0)
		return counts_rows((Aggref *) node, query) ? DP_WALK_PAST : DP_WALK_STOP;
	return IsA(node, Var) || IsA(node, SubLink) || IsA(node, WindowFunc) || IsA(node, GroupingFunc);
}

static Expr *
of_both(MinMaxOp op, Expr *a, Expr *b)
{
	return (Expr *) dp_make(MinMaxExpr, .minmaxtype = INT8OID, .op = op, .args = list_make2(a, b), .location = -1);
}

/*
 * Puts in the place of a count what LIMIT and OFFSET of the subquery, limited, leave of it.  GREATEST and LEAST take no
 * notice of NULL, which limits nothing.  A number below 0 is 0, as in any query with released values.
 */
static Node *
limit_count(Node *node, int levels, const Query *limited)
{
	Expr	   *count;

	if (!IsA(node, Aggref) || ((Aggref *) node)->agglevelsup > 0)
		return NULL;
	count = dp_count_rows(((Aggref *) node)->location);
	if (limited->limitOffset != NULL)
		count = (Expr *) dp_call(F_INT8MI, INT8OID, list_make2(count, of_both(IS_GREATEST, (Expr *) copyObject(limited->limitOffset), (Expr *) dp_int8_const(0))));
	if (limited->limitCount != NULL)
		count = of_both(IS_LEAST, count, (Expr *) copyObject(limited->limitCount));
	return (Node *) of_both(IS_GREATEST, count, (Expr *) dp_int8_const(0));
}

/* Has a level that counts the rows of a subquery, and reads nothing else of them, count all of them, within LIMIT and OFFSET. */
static void
count_at_most(Query *query)
{
	Node	   *from = query->jointree->quals == NULL && list_length(query->jointree->fromlist) == 1 ? linitial(query->jointree->fromlist) : NULL;
	RangeTblEntry *rte = from != NULL && IsA(from, RangeTblRef) ? rt_fetch(((RangeTblRef *) from)->rtindex, query->rtable) : NULL;
	Query	   *sub = rte != NULL && rte->rtekind == RTE_SUBQUERY ? rte->subquery : NULL;
	Query		limited;

	if (sub == NULL || (sub->limitCount == NULL && sub->limitOffset == NULL) || sub->limitOption != LIMIT_OPTION_COUNT ||
		!may_be_handed_up(sub->limitCount) || !may_be_handed_up(sub->limitOffset) || query->groupClause != NIL || query->groupingSets != NIL ||
		dp_walk(query->targetList, reads_otherwise, query) || dp_walk(query->havingQual, reads_otherwise, query))
		return;
	limited = *sub;
	sub->limitCount = sub->limitOffset = NULL;
	query->targetList = (List *) dp_put(query->targetList, limit_count, &limited);
	query->havingQual = dp_put(query->havingQual, limit_count, &limited);
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
	count_at_most(query);
	query->targetList = (List *) dp_put(query->targetList, write_aggregate, NULL);
	query->havingQual = dp_put(query->havingQual, write_aggregate, NULL);
}
