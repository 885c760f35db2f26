/*-------------------------------------------------------------------------
 *
 * error_functions.c
 *	  dp_noise_stddev, dp_margin and the like: the error of an answer, beside it.
 *
 * They stand around a private aggregate, or an expression of several
 * (propagate.c), and are free: the noise of a count or
 * a sum depends on nothing private, and that of other answers is computed
 * from the noisy values that were released.  dp_margin is put into the form
 * of a multiple of dp_error_stddev, and this becomes a column of the release.
 * What is wrong with them is found before anything is paid for, as long as a
 * confidence is known to the planner.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/extension.h"
#include "base/walk.h"
#include "catalog/pg_type.h"
#include "guard/describe/describe.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

typedef struct ExpandContext
{
	DpSplitContext *cxt;
	bool		take_standard;
	Oid			stddev;			/* dp_noise_stddev("any") */
	Oid			error;			/* dp_error_stddev("any") */
	Oid			cut;			/* dp_cut("any") */
	Oid			margin;			/* dp_cdp_internal.margin(float8, float8) */
	Oid			times;			/* dp_cdp_internal.try_multiply(float8,
								 * float8) */
} ExpandContext;

static void
look_up(ExpandContext *c)
{
	Oid			any = ANYOID;
	Oid			floats[] = {FLOAT8OID, FLOAT8OID};

	c->stddev = dp_public_routine("dp_noise_stddev", 1, &any);
	c->error = dp_public_routine("dp_error_stddev", 1, &any);
	c->cut = dp_public_routine("dp_cut", 1, &any);
	c->margin = dp_own_function("margin", 2, floats, FLOAT8OID);
	c->times = dp_own_function("try_multiply", 2, floats, FLOAT8OID);
}

/* Returns a standard deviation, or cut, of arg, an aggregate or for deviations an expression of several; NULL if arg has none. */
static Node *
companion_of(Node *arg, ExpandContext *c, Oid function)
{
	arg = dp_strip_relabel(arg);
	if (!IsA(arg, Aggref))
		return function == c->cut ? NULL : dp_propagate_error(c->cxt, arg, c->take_standard, function);
	if (dp_find_aggregate(((Aggref *) arg)->aggfnoid, c->take_standard) == NULL)
		return NULL;
	return dp_stddev_call(function, (Aggref *) arg);
}

static Node *
expand_call(Node *node, int levels, ExpandContext *c)
{
	FuncExpr   *func = (FuncExpr *) node;
	DpErrorFunction function = IsA(node, FuncExpr) ? dp_find_error_function(func->funcid) : DP_ERROR_FUNCTION_NONE;
	Node	   *stddev;
	FuncExpr   *factor;
	Node	   *confidence,
			   *one;

	if (function == DP_ERROR_FUNCTION_NONE)
		return NULL;
	if (!OidIsValid(c->stddev))
		look_up(c);
	stddev = companion_of(linitial(func->args), c,
						  function == DP_ERROR_FUNCTION_STDDEV ? c->stddev
						  : function == DP_ERROR_FUNCTION_CUT ? c->cut : c->error);
	if (stddev == NULL || function != DP_ERROR_FUNCTION_MARGIN)
		return stddev;
	confidence = list_length(func->args) > 1 ? dp_put_all(lsecond(func->args), expand_call, c) : (Node *) dp_float8_const(0.95);

	/*
	 * the planner folds a constant confidence to a number, or raises the
	 * error
	 */
	one = (Node *) dp_float8_const(1);
	factor = makeFuncExpr(c->margin, FLOAT8OID, list_make2(one, confidence),
						  InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	return (Node *) makeFuncExpr(c->times, FLOAT8OID, list_make2(stddev, factor),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

void
dp_expand_error_functions(DpSplitContext *cxt, Query *query, bool take_standard)
{
	ExpandContext c = {cxt, take_standard};

	query->targetList = (List *) dp_put_all(query->targetList, expand_call, &c);
	query->havingQual = dp_put_all(query->havingQual, expand_call, &c);
}

static int
stddev_level(Node *node)
{
	DpErrorFunction function = IsA(node, FuncExpr) ? dp_find_error_function(((FuncExpr *) node)->funcid) : DP_ERROR_FUNCTION_NONE;
	Node	   *arg;

	if (function == DP_ERROR_FUNCTION_NONE || function == DP_ERROR_FUNCTION_MARGIN)
		return -1;
	arg = linitial(((FuncExpr *) node)->args);
	return IsA(arg, Aggref) ? (int) ((Aggref *) arg)->agglevelsup : -1;
}

List *
dp_collect_error_functions(Query *query)
{
	return dp_collect_of_level(query, stddev_level);
}

static DpWalk
refuse_call(Node *node, int levels, DpSplitContext *cxt)
{
	if (IsA(node, FuncExpr) && dp_find_error_function(((FuncExpr *) node)->funcid) != DP_ERROR_FUNCTION_NONE)
		dp_refuse_at(exprLocation(node),
					 errmsg("dp_margin, dp_noise_stddev, dp_error_stddev and dp_cut take a private aggregate, where it stands; "
							"write for example dp_margin(dp_count(*)) beside dp_count(*)"));
	return DP_WALK_ON;
}

void
dp_refuse_error_functions(Node *node, DpSplitContext *cxt)
{
	(void) dp_walk_all(node, refuse_call, cxt);
}
