/*-------------------------------------------------------------------------
 *
 * failing_clauses.c
 *	  Clauses of statements that release and would fail for some values.
 *
 * What is computed in them is NULL where it fails (failing_calls.c), and so
 * that no answer is lost that was paid for:
 * - a subquery as a value is NULL where it has several rows;
 * - arguments of ntile and nth_value and offsets of frames that are not allowed
 *	 are NULL or the nearest that is allowed, keys of JSON objects that are NULL
 *	 are left out;
 * - LIMIT and OFFSET that are computed are not below 0;
 * - a function in FROM that returns one value is a subquery with that value.
 *
 * What is written into a column is not NULL because it does not fit: that is
 * refused before anything is paid for, where the types tell.
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
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* Tells whether a query has one row at most. */
static bool
has_one_row(Query *query)
{
	Const	   *limit = (Const *) query->limitCount;

	if (limit != NULL && IsA(limit, Const) && !limit->constisnull && DatumGetInt64(limit->constvalue) <= 1 &&
		query->limitOption == LIMIT_OPTION_COUNT)
		return true;
	if (query->hasTargetSRFs || query->setOperations != NULL)
		return false;
	return (query->hasAggs && query->groupClause == NIL && query->groupingSets == NIL) ||
		(query->jointree->fromlist == NIL && query->groupClause == NIL && query->groupingSets == NIL);
}

/* Has a subquery as a value return NULL where it has several rows: one row, with the value where it is alone. */
static void
take_one_row(SubLink *link)
{
	Query	   *several = (Query *) link->subselect;
	TargetEntry *column;
	Query	   *one;
	WindowFunc *count;
	Expr	   *is_only;

	if (link->subLinkType != EXPR_SUBLINK || has_one_row(several))
		return;
	column = linitial_node(TargetEntry, several->targetList);
	IncrementVarSublevelsUp((Node *) several, 1, 1);
	if (column->resname == NULL)
		column->resname = pstrdup("value");
	count = dp_make(WindowFunc, .winfnoid = F_COUNT_, .wintype = INT8OID, .winref = 1, .winstar = true,
					.winagg = true, .location = -1);
	is_only = (Expr *) dp_make_ordering(BTEqualStrategyNumber, (Expr *) count, (Expr *) dp_int8_const(1), InvalidOid);
	one = dp_select_from(dp_subquery_entry(several, "rows"));
	(void) dp_show_column(one, dp_value_where(is_only, (Expr *) dp_output_var(1, column->resno, (Node *) column->expr)), "rows");
	one->hasWindowFuncs = true;
	one->windowClause = list_make1(dp_make(WindowClause, .frameOptions = FRAMEOPTION_DEFAULTS, .winref = 1));
	one->limitCount = (Node *) dp_int8_const(1);
	link->subselect = (Node *) one;
}

/* Tells whether a function of a window takes IGNORE NULLS; others fail for it, and for RESPECT NULLS, when they run. */
static bool
takes_null_treatment(Oid funcid)
{
	switch (funcid)
	{
		case F_LAG_ANYELEMENT:
		case F_LAG_ANYELEMENT_INT4:
		case F_LAG_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE:
		case F_LEAD_ANYELEMENT:
		case F_LEAD_ANYELEMENT_INT4:
		case F_LEAD_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE:
		case F_FIRST_VALUE:
		case F_LAST_VALUE:
		case F_NTH_VALUE:
			return true;
		default:
			return false;
	}
}

/* Has buckets and places of a window that are not above 0 as NULL. */
static void
place_safely(WindowFunc *function)
{
	if (dp_has_null_treatment(function) && !takes_null_treatment(function->winfnoid))
		dp_raise(NOT_RELEASABLE,
				 errmsg("function %s takes neither IGNORE NULLS nor RESPECT NULLS; leave it out", get_func_name(function->winfnoid)),
				 errdetail("The query would fail after it was paid for."));
	if (function->winfnoid == F_NTILE)
		linitial(function->args) = dp_null_unless_positive(linitial(function->args));
	else if (function->winfnoid == F_NTH_VALUE)
		lsecond(function->args) = dp_null_unless_positive(lsecond(function->args));
}

/* Leaves keys that are NULL out of a JSON object. */
static void
collect_safely(Aggref *agg)
{
	NullTest   *test;

	if (agg->aggfnoid != F_JSON_OBJECT_AGG && agg->aggfnoid != F_JSONB_OBJECT_AGG)
		return;
	test = dp_make(NullTest, .arg = copyObject(linitial_node(TargetEntry, agg->args)->expr),
				   .nulltesttype = IS_NOT_NULL, .location = -1);
	agg->aggfilter = agg->aggfilter == NULL ? (Expr *) test
		: makeBoolExpr(AND_EXPR, list_make2(agg->aggfilter, test), -1);
}

/* Returns a number of rows, 0 where it is less; NULL, which is no limit, stays. */
static Node *
number_of_rows(Node *number)
{
	if (number == NULL || dp_folds_to_constant(number))
		return number;
	/* strict, other than GREATEST */
	return (Node *) dp_call(F_INT8LARGER, INT8OID, list_make2(number, dp_int8_const(0)));
}

/* Has offsets of a frame's rows that are below 0 or NULL as 0. */
static void
frame_safely(WindowClause *window)
{
	Node	  **offsets[] = {&window->startOffset, &window->endOffset};

	if ((window->frameOptions & FRAMEOPTION_RANGE) != 0)
		return;
	for (int i = 0; i < lengthof(offsets); i++)
	{
		if (*offsets[i] != NULL && !dp_folds_to_constant(*offsets[i]))
			*offsets[i] = dp_zero_if_negative(*offsets[i]);
	}
}

/* Returns what an implicit cast is made of, NULL: it is none.  may_fail tells whether a value may not fit. */
static Node *
below_cast(Node *node, bool *may_fail)
{
	*may_fail = false;
	switch (nodeTag(node))
	{
		case T_FuncExpr:
			if (((FuncExpr *) node)->funcformat != COERCE_IMPLICIT_CAST)
				return NULL;
			*may_fail = dp_may_not_fit(((FuncExpr *) node)->funcid);
			return linitial(((FuncExpr *) node)->args);
		case T_CoerceToDomain:
			if (((CoerceToDomain *) node)->coercionformat != COERCE_IMPLICIT_CAST)
				return NULL;
			*may_fail = dp_domain_has_constraints(((CoerceToDomain *) node)->resulttype);
			return (Node *) ((CoerceToDomain *) node)->arg;
		case T_ArrayCoerceExpr:
			if (((ArrayCoerceExpr *) node)->coerceformat != COERCE_IMPLICIT_CAST)
				return NULL;
			(void) below_cast((Node *) ((ArrayCoerceExpr *) node)->elemexpr, may_fail);
			return (Node *) ((ArrayCoerceExpr *) node)->arg;
		case T_CoerceViaIO:
			return ((CoerceViaIO *) node)->coerceformat == COERCE_IMPLICIT_CAST ? (Node *) ((CoerceViaIO *) node)->arg : NULL;
		case T_RelabelType:
			return ((RelabelType *) node)->relabelformat == COERCE_IMPLICIT_CAST ? (Node *) ((RelabelType *) node)->arg : NULL;
		default:
			return NULL;
	}
}

/* Tells whether a value may come from a release: it does not where it is of a table's columns alone. */
static DpWalk
is_from_query(Node *node, int levels, Query *query)
{
	RTEKind		kind;

	if (IsA(node, SubLink))
		return DP_WALK_STOP;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_MULTIEXPR;
	if (!IsA(node, Var))
		return DP_WALK_ON;
	/* "excluded" is the row that was to be inserted */
	if (query->onConflict != NULL && ((Var *) node)->varno == query->onConflict->exclRelIndex)
		return DP_WALK_STOP;
	kind = rt_fetch(((Var *) node)->varno, query->rtable)->rtekind;
	return kind != RTE_RELATION && kind != RTE_VALUES;
}

static bool call_walker(Node *node, void *context);

/*
 * Has a value that a statement writes computed safely, but for the casts to its
 * column's type: ZC002 where one may fail, as the statement must not store NULL
 * for what the column cannot hold.
 */
static void
write_safely(Node *value, Query *query, DpSplitContext *cxt)
{
	Node	   *below = value;
	Node	   *next;
	bool		may_fail;

	while ((next = below_cast(below, &may_fail)) != NULL)
	{
		below = next;
		if (may_fail && dp_walk(below, is_from_query, query))
		{
			const char *type = format_type_with_typemod(exprType(value), exprTypmod(value));

			dp_refuse_at(exprLocation(value),
						 errmsg("a column of type %s may not hold its released value; write the cast, which cuts it or makes it NULL: (...)::%s", type, type),
						 errdetail("The query would fail after it was paid for."));
		}
	}
	call_walker(below, cxt);
}

static void
write_columns(List *columns, Query *query, DpSplitContext *cxt)
{
	foreach_node(TargetEntry, tle, columns)
		write_safely((Node *) tle->expr, query, cxt);
}

/* Walks through a statement that writes, but for what says which rows may be written, or identifies an index. */
static void
walk_change(Query *query, DpSplitContext *cxt)
{
	Query		rest = *query;

	rest.targetList = NIL;
	rest.withCheckOptions = NIL;
	rest.onConflict = NULL;
	rest.mergeActionList = NIL;
	rest.rtable = NIL;
	foreach_node(RangeTblEntry, rte, query->rtable)
	{

		if (query->commandType != CMD_INSERT || rte->rtekind != RTE_VALUES)
		{
			rest.rtable = lappend(rest.rtable, rte);
			continue;
		}
		foreach_node(List, row, rte->values_lists)
		{
			foreach_ptr(Node, value, row)
				write_safely(value, query, cxt);
		}
	}
	query_tree_walker(&rest, call_walker, cxt, 0);
	write_columns(query->targetList, query, cxt);
	if (query->onConflict != NULL)
	{
		write_columns(query->onConflict->onConflictSet, query, cxt);
		call_walker(query->onConflict->onConflictWhere, cxt);
	}
	foreach_node(MergeAction, action, query->mergeActionList)
	{
		call_walker(action->qual, cxt);
		write_columns(action->targetList, query, cxt);
	}
}

/* Has a function in FROM that returns one value, and may fail, as a subquery, in which it may be NULL. */
static void
select_function(RangeTblEntry *rte)
{
	RangeTblFunction *function;
	FuncExpr   *call;
	Query	   *query;

	if (rte->rtekind != RTE_FUNCTION || rte->funcordinality || list_length(rte->functions) != 1)
		return;
	function = linitial_node(RangeTblFunction, rte->functions);
	call = (FuncExpr *) function->funcexpr;
	if (!IsA(call, FuncExpr) || call->funcretset || function->funccolcount != 1 || function->funccolnames != NIL ||
		type_is_rowtype(call->funcresulttype) || !dp_may_fail(call))
		return;
	IncrementVarSublevelsUp((Node *) call, 1, 0);
	query = dp_new_select();
	query->jointree = makeFromExpr(NIL, NULL);
	query->hasSubLinks = checkExprHasSubLink((Node *) call);
	(void) dp_show_column(query, (Expr *) call, strVal(linitial(rte->eref->colnames)));
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = query;
	rte->functions = NIL;
}

static bool
walk_query(Query *query, DpSplitContext *cxt)
{
	query->limitCount = number_of_rows(query->limitCount);
	query->limitOffset = number_of_rows(query->limitOffset);
	foreach_node(WindowClause, window, query->windowClause)
		frame_safely(window);
	foreach_node(RangeTblEntry, rte, query->rtable)
		select_function(rte);
	if (query->commandType == CMD_SELECT)
		return query_tree_walker(query, call_walker, cxt, 0);
	if (query->commandType != CMD_UTILITY)
		walk_change(query, cxt);
	return false;
}

static bool
call_walker(Node *node, void *context)
{
	bool		result;

	if (node == NULL)
		return false;
	check_stack_depth();
	if (IsA(node, Query))
		return walk_query((Query *) node, context);
	if (IsA(node, RangeTblFunction))
	{
		/* which columns a function in FROM has follows from what it is */
		node = ((RangeTblFunction *) node)->funcexpr;
		if (node != NULL && IsA(node, FuncExpr))
		{
			call_walker((Node *) ((FuncExpr *) node)->args, context);
			dp_step_safely((FuncExpr *) node);
			return false;
		}
		return call_walker(node, context);
	}

	/*
	 * what is called first, as what is called with it is tried as it was
	 * written
	 */
	result = expression_tree_walker(node, call_walker, context);
	switch (nodeTag(node))
	{
		case T_SubLink:
			take_one_row((SubLink *) node);
			break;
		case T_WindowFunc:
			place_safely((WindowFunc *) node);
			break;
		case T_Aggref:
			collect_safely((Aggref *) node);
			break;
		default:
			dp_compute_safely(node);
			break;
	}
	return result;
}

void
dp_null_failing_calls(Query *query, DpSplitContext *cxt)
{
	call_walker((Node *) query, cxt);
}
