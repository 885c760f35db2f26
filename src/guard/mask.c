/*-------------------------------------------------------------------------
 *
 * mask.c
 *	  Lets catalogue queries of tools run for roles from which
 *	  dp_cdp.harden() has taken numbers of rows.
 *
 * harden() takes EXECUTE on functions and SELECT on columns of pg_class from
 * PUBLIC.  That is what holds: PostgreSQL checks it when a query is executed.
 * Here, before a query is planned, each such call and each such read of a role
 * that lacks the privilege is replaced by one that needs none and tells
 * nothing (policy/closed.c, policy/told.c, mask_class.c).  What this does not
 * see stays as it was, and is refused: calls of the fastpath, of inlined
 * functions, in defaults that COPY evaluates, in arguments of CALL.
 *
 * Invariants:
 *	- nothing but calls on the list, by a role without EXECUTE, is changed; so
 *	  nothing changes where harden() was not called.
 *	- the result's type and, in FROM, its columns stay.
 *	- functions that write (class traces) are never masked.
 *	- the plan is the role's alone (dependsOnRole), whether something was
 *	  replaced or not.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/extension.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "guard/mask.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "policy/closed.h"

/*
 * Replaces a call in place, if it is one of a closed function that who asks
 * may not execute.  Returns whether it is one of a closed function.
 */
static bool
mask_call(FuncExpr *call)
{
	Oid			any[] = {ANYELEMENTOID, ANYOID};
	Oid			types[2];
	int			n = 0;
	const char *told;
	DpMask		mask = dp_mask_of(call->funcid, &told);
	ListCell   *lc;

	if (mask == DP_MASK_NONE)
		return false;
	if (dp_may_execute(call->funcid, GetUserId()))
		return true;
	if (mask == DP_MASK_NULL)
	{
		/* what stands for it has no names of arguments */
		foreach(lc, call->args)
			if (IsA(lfirst(lc), NamedArgExpr))
			lfirst(lc) = ((NamedArgExpr *) lfirst(lc))->arg;
		call->funcid = dp_own_routine(call->funcretset ? "masked_rows" : "masked", 2, any);
		/* it is declared with one argument at least */
		if (call->args == NIL)
			call->args = list_make1(makeBoolConst(true, false));
		call->args = lcons(makeNullConst(call->funcresulttype, -1, call->funccollid), call->args);
		return true;
	}
	foreach_ptr(Node, arg, call->args)
		types[n++] = exprType(arg);
	call->funcid = dp_own_routine(told, n, types);
	return true;
}

/* Notes the columns of a function in FROM that its replacement does not declare. */
static void
keep_columns(RangeTblFunction *entry, TupleDesc columns)
{
	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);

		entry->funccolnames = lappend(entry->funccolnames, makeString(pstrdup(NameStr(column->attname))));
		entry->funccoltypes = lappend_oid(entry->funccoltypes, column->atttypid);
		entry->funccoltypmods = lappend_int(entry->funccoltypmods, column->atttypmod);
		entry->funccolcollations = lappend_oid(entry->funccolcollations, column->attcollation);
	}
}

/* Replaces a function in FROM, as mask_call. */
static bool
mask_function_in_from(RangeTblFunction *entry)
{
	FuncExpr   *call = (FuncExpr *) entry->funcexpr;
	Oid			funcid;
	TupleDesc	columns;
	TypeFuncClass class;
	const char *told;

	if (call == NULL || !IsA(call, FuncExpr) || dp_mask_of(call->funcid, &told) == DP_MASK_NONE)
		return false;
	funcid = call->funcid;
	class = get_expr_result_type((Node *) call, NULL, &columns);
	if (mask_call(call) && call->funcid != funcid && class == TYPEFUNC_COMPOSITE && call->funcresulttype == RECORDOID)
		keep_columns(entry, columns);
	return true;
}

static DpWalk
mask_node(Node *node, int levels, bool *found)
{
	if (IsA(node, Query))
		*found = dp_mask_pg_class((Query *) node) || *found;
	else if (IsA(node, RangeTblFunction))
		*found = mask_function_in_from((RangeTblFunction *) node) || *found;
	else if (IsA(node, FuncExpr))
		*found = mask_call((FuncExpr *) node) || *found;
	return DP_WALK_ON;
}

bool
dp_mask_query(Query *query)
{
	bool		found = false;

	dp_walk_all(query, mask_node, &found);
	return found;
}
