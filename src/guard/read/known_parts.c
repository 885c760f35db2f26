/*-------------------------------------------------------------------------
 *
 * known_parts.c
 *	  Parts of expressions that are known before rows are read, but that the
 *	  allow-list refuses, as subqueries of one value.
 *
 *	 t.day >= now() - make_interval(days => $1)
 *	   t.day >= (SELECT now() - make_interval(days => $1))
 *	 $1::int[] IS NULL OR t.k = 1
 *	   (SELECT $1::int[] IS NULL) OR t.k = 1
 *
 * Such a subquery is computed beforehand, as who asks, and joined (sublink_values.c).
 * An error of it is therefore raised before the debit, whatever rows there are.
 *
 * Invariants:
 * - Such a part names no column of any level, and nothing in it is volatile.
 * - What the allow-list accepts stays as it is, as does what names neither a
 *	 parameter nor the clock, and the arguments that must be constants.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "base/attempt.h"
#include "base/compat.h"
#include "base/distributed.h"
#include "base/errors.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "guard/read/read.h"
#include "guard/vet/allow.h"
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/*
 * Finds what an expression may not have that is to be known before rows are read.
 * is_bound: what is tested, or converted, stands in the expression, too.
 */
static DpWalk
needs_rows(Node *node, int levels, bool *is_bound)
{
	CaseExpr   *cases = (CaseExpr *) node;
	ArrayCoerceExpr *cast = (ArrayCoerceExpr *) node;
	bool		bound = true;

	if (IsA(node, CaseExpr) && cases->arg != NULL)
		return dp_walk(cases->arg, needs_rows, is_bound) || dp_walk(cases->args, needs_rows, &bound) ||
			dp_walk(cases->defresult, needs_rows, is_bound) ? DP_WALK_STOP : DP_WALK_PAST;
	if (IsA(node, ArrayCoerceExpr))
		return dp_walk(cast->arg, needs_rows, is_bound) || dp_walk(cast->elemexpr, needs_rows, &bound) ? DP_WALK_STOP : DP_WALK_PAST;
	return IsA(node, Var) || IsA(node, SubLink) || IsA(node, Aggref) || IsA(node, WindowFunc) || IsA(node, GroupingFunc) ||
		IsA(node, CoerceToDomainValue) || (IsA(node, CaseTestExpr) && !*is_bound) ||
		(IsA(node, Param) && ((Param *) node)->paramkind != PARAM_EXTERN);
}

/* Tells whether an expression has one value, of a type that a column may have, before rows are read. */
static bool
is_known(Node *expr)
{
	bool		bound = false;

	switch (nodeTag(expr))
	{
		case T_List:
		case T_CaseWhen:
		case T_TargetEntry:
		case T_FromExpr:
		case T_JoinExpr:
		case T_RangeTblRef:
			return false;
		default:
			break;
	}
	return !dp_walk(expr, needs_rows, &bound) && !expression_returns_set(expr) &&
		!contain_volatile_functions(expr) && get_typtype(exprType(expr)) != TYPTYPE_PSEUDO;
}

static void
vet(void *context)
{
	static const DpAllowContext allow = {0};

	if (type_is_array(exprType(context)))
		(void) dp_make_array_safe(context, &allow);
	else
		(void) dp_make_safe(context, &allow);
}

/* Finds what makes an expression more than a constant that would be refused in any case. */
static DpWalk
is_parameter_or_clock(Node *node, int levels, void *context)
{
	Oid			funcid = IsA(node, FuncExpr) ? ((FuncExpr *) node)->funcid : InvalidOid;

	return IsA(node, Param) || funcid == F_NOW || funcid == F_TRANSACTION_TIMESTAMP || funcid == F_STATEMENT_TIMESTAMP ||
		(IsA(node, SQLValueFunction) && dp_is_time_function((SQLValueFunction *) node));
}

/* Tells whether the allow-list refuses an expression of parameters or the clock. */
static bool
is_refused(Node *expr)
{
	ErrorData  *error;

	if (IsA(expr, Param) || !dp_walk(expr, is_parameter_or_clock, NULL) || !dp_is_unfoldable(expr, NULL) || IsInParallelMode())
		return false;

	/*
	 * Citus may lose its savepoints at workers, and cannot join with such
	 * rows
	 */
	if (dp_has_citus())
		return false;
	error = dp_attempt(vet, expr);
	if (error != NULL && error->sqlerrcode != ERRCODE_DP_NOT_RELEASABLE)
		ReThrowError(error);
	return error != NULL;
}

/* Puts a subquery in the place of a part that is known and refused. */
static Node *
put_known(Node *node, int levels, void *context)
{
	const DpAllowed *allowed;
	Query	   *query;
	Oid			funcid;
	ListCell   *lc;

	if (IsA(node, SubLink))
		return node;
	if (is_known(node))
	{
		if (!is_refused(node))
			return node;
		query = dp_new_select();
		query->jointree = makeFromExpr(NIL, NULL);
		query->targetList = list_make1(makeTargetEntry(copyObject((Expr *) node), 1, pstrdup("value"), false));
		return (Node *) dp_make(SubLink, .subLinkType = EXPR_SUBLINK, .subselect = (Node *) query, .location = exprLocation(node));
	}
	if (!IsA(node, FuncExpr) && !IsA(node, OpExpr))
		return NULL;
	node = copyObject(node);
	foreach(lc, dp_call_args(node, &funcid))
	{
		allowed = dp_allowed_function(funcid);
		if (allowed == NULL || (allowed->constants & (1 << foreach_current_index(lc))) == 0)
			lfirst(lc) = dp_put(lfirst(lc), put_known, NULL);
	}
	return node;
}

/* Does so in what aggregates of this level read of rows; bounds, which come behind that, are constants. */
static Node *
put_known_in_aggregates(Node *node, int levels, void *context)
{
	const DpAggregate *private;
	Aggref	   *agg;
	ListCell   *lc;

	if (!IsA(node, Aggref) || ((Aggref *) node)->agglevelsup != 0)
		return IsA(node, SubLink) ? node : NULL;
	agg = copyObject((Aggref *) node);
	private = dp_find_aggregate(agg->aggfnoid, true);
	foreach(lc, agg->args)
		if (private == NULL || foreach_current_index(lc) < private->nvalues)
		lfirst(lc) = dp_put(lfirst(lc), put_known, NULL);
	agg->aggfilter = (Expr *) dp_put(agg->aggfilter, put_known, NULL);
	return (Node *) agg;
}

void
dp_put_known_parts(Query *query)
{
	query->jointree = (FromExpr *) dp_put(query->jointree, put_known, NULL);
}

void
dp_put_known_parts_of_values(Query *query)
{
	bool		aggregates = query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL || query->havingQual != NULL;

	query->targetList = (List *) dp_put(query->targetList, aggregates ? put_known_in_aggregates : put_known, NULL);
	query->havingQual = dp_put(query->havingQual, put_known_in_aggregates, NULL);
}
