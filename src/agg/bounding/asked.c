/*-------------------------------------------------------------------------
 *
 * asked.c
 *	  What a query asks of bound_unit, and whether the node can return it.
 *
 * Who gets the node: any query with a bound_spec that is a constant or a
 * parameter.  Only a release and superusers (make_bound_spec, in tests) have one.
 *
 * Invariants:
 *	- nothing is taken for an answer of the node's that it could not give: each column
 *	  of the rows is a key, value or codes of one call of bound_unit, or of the unit;
 *	- rows of equal keys leave added up (group_sums.c) only where nothing reads the unit
 *	  and the level above only sums up the values of equal keys, so that it cannot tell.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/syscache.h"

#include "agg/bounding/asked.h"
#include "base/compat.h"
#include "base/extension.h"

static bool
is_transition(Oid aggregate, PGFunction function)
{
	HeapTuple	tuple;
	Oid			transition;

	if (aggregate < FirstNormalObjectId || !dp_is_own(ProcedureRelationId, aggregate))
		return false;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
	transition = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn;
	ReleaseSysCache(tuple);
	return dp_own_c_function(transition) == function;
}

/*
 * Tells whether arguments.c can read the arguments: later than others of its node, so none has a
 * subplan.  Nor one that is volatile: rows that the rank leaves out are not computed.
 */
static bool
can_read(const Aggref *aggref)
{
	Node	   *spec = dp_asked_argument(aggref, 0);

	return ((IsA(spec, Param) && ((Param *) spec)->paramkind == PARAM_EXTERN) ||
			(IsA(spec, Const) && !((Const *) spec)->constisnull)) &&
		!contain_subplans((Node *) aggref->args) && !contain_volatile_functions((Node *) aggref->args);
}

static bool
is_bound_unit(const Aggref *aggref)
{
	return aggref->aggsplit == AGGSPLIT_SIMPLE && aggref->aggfilter == NULL &&
		aggref->aggorder == NIL && aggref->aggdistinct == NIL && list_length(aggref->args) >= 2 &&
		can_read(aggref) && is_transition(aggref->aggfnoid, dp_bound_unit);
}

bool
dp_bounds_units(const Query *query)
{
	foreach_ptr(TargetEntry, tle, query->targetList)
	{
		Aggref	   *aggref = (Aggref *) tle->expr;

		if (IsA(aggref, Aggref) && is_bound_unit(aggref))
			return true;
	}
	return false;
}

/* Tells whether call is a column of rows of groups, and which, of the state that entry rti of FROM has as *state. */
static bool
is_row_column(const FuncExpr *call, Index rti, DpRowColumn *column, AttrNumber *state)
{
	PGFunction	function;
	const Const *i;
	const Var  *var;

	if (!IsA(call, FuncExpr) || !call->funcretset || list_length(call->args) < 2)
		return false;
	i = linitial(call->args);
	var = lsecond(call->args);
	if (!IsA(i, Const) || i->constisnull || !IsA(var, Var) || var->varno != rti || var->varlevelsup != 0)
		return false;
	function = dp_own_c_function(call->funcid);
	if (function == dp_bound_key)
		column->kind = DP_COLUMN_KEY;
	else if (function == dp_bound_value)
		column->kind = DP_COLUMN_VALUE;
	else if (function == dp_bound_codes)
		column->kind = DP_COLUMN_CODES;
	else if (function == dp_bound_distinct_codes)
		column->kind = DP_COLUMN_DISTINCT_CODES;
	else if (function == dp_bound_cut)
		column->kind = DP_COLUMN_CUT;
	else if (function == dp_bound_share)
		column->kind = DP_COLUMN_SHARE;
	else if (function == dp_bound_bin)
		column->kind = DP_COLUMN_BIN;
	else if (function == dp_bound_first)
		column->kind = DP_COLUMN_FIRST;
	else
		return false;
	column->i = DatumGetInt32(i->constvalue);
	*state = var->varattno;
	return true;
}

/* Returns the call of a function of a state with another expression for the state. */
FuncExpr *
dp_call_of_state(const FuncExpr *call, void *state)
{
	FuncExpr   *other = makeNode(FuncExpr);

	memcpy(other, call, sizeof(FuncExpr));
	other->args = list_copy(call->args);
	lsecond(other->args) = state;
	return other;
}

/* Adds a call to the rows' columns; false where the node cannot return it. */
static bool
add_call(DpAskedRows *rows, const FuncExpr *call)
{
	DpRowColumn column;
	AttrNumber	attno;
	TargetEntry *state;

	if (!is_row_column(call, rows->rti, &column, &attno))
		return false;
	state = get_tle_by_resno(rows->units->processed_tlist, attno);
	if (state == NULL || !IsA(state->expr, Aggref) || (rows->aggref != NULL && rows->aggref != (Aggref *) state->expr))
		return false;
	if (rows->aggref == NULL && !is_bound_unit((Aggref *) state->expr))
		return false;
	rows->aggref = (Aggref *) state->expr;
	/* functions that read the spec have it last */
	if (column.kind != DP_COLUMN_KEY && list_length(call->args) > 2 &&
		!equal(lthird(call->args), dp_asked_argument(rows->aggref, 0)))
		return false;
	/* a column of the level above means nothing in this one */
	rows->exprs = lappend(rows->exprs, dp_call_of_state(call, makeNullConst(rows->aggref->aggtype, -1, InvalidOid)));
	rows->columns = lappend_int(lappend_int(rows->columns, column.kind), column.i);
	return true;
}

/* Adds a column of the unit to the rows' columns; false where var is none. */
static bool
add_unit(DpAskedRows *rows, const Var *var)
{
	TargetEntry *unit = NULL;

	if (IsA(var, Var) && var->varno == rows->rti && var->varlevelsup == 0)
		unit = get_tle_by_resno(rows->units->processed_tlist, var->varattno);
	/* from 16 on what is constant is none of what is grouped by */
	if (unit == NULL || (!IsA(unit->expr, Const) &&
						 get_sortgroupref_clause_noerr(unit->ressortgroupref, DP_GROUP_CLAUSE(rows->units)) == NULL))
		return false;
	rows->exprs = lappend(rows->exprs, unit->expr);
	return true;
}

/* Reads what the level asks for; false where that is something else than columns of rows of one bound_unit, and its unit. */
bool
dp_read_asked_rows(const PathTarget *target, DpAskedRows *rows)
{
	foreach_ptr(void, expr, target->exprs)
	{
		/* what nobody reads has become a constant */
		if (IsA(expr, Const))
			rows->exprs = lappend(rows->exprs, expr);
		else if (!add_unit(rows, expr) && !add_call(rows, expr))
			return false;
	}
	return rows->aggref != NULL;
}

/* Tells whether an expression is a column of the rows, of these (kind, i), and which. */
static bool
is_column(const Node *node, const List *columns, DpRowColumn *column)
{
	const Var  *var = (const Var *) node;

	if (!IsA(node, Var) || var->varlevelsup != 0 || var->varattno <= 0 || 2 * var->varattno > list_length(columns))
		return false;
	column->kind = list_nth_int(columns, 2 * var->varattno - 2);
	column->i = list_nth_int(columns, 2 * var->varattno - 1);
	return true;
}

/* Tells whether an expression is a column that is added up where the bin of norm l, or -1, stands beside it; or a constant. */
static bool
is_added(const Node *node, const List *columns, int l)
{
	DpRowColumn column;

	if (IsA(node, Const))
		return true;
	return is_column(node, columns, &column) &&
		(column.kind == DP_COLUMN_VALUE || column.kind == DP_COLUMN_SHARE || (column.kind == DP_COLUMN_FIRST && column.i == l));
}

/* Tells whether an aggregate adds up values, or by the bins of a norm what stands beside these. */
static bool
adds_up(const Aggref *aggref, const List *columns)
{
	DpRowColumn bin;

	if (is_transition(aggref->aggfnoid, dp_steps_sum))
		return !IsA(dp_asked_argument(aggref, 0), Const) && is_added(dp_asked_argument(aggref, 0), columns, -1);
	if (!is_transition(aggref->aggfnoid, dp_limited_sum) || !is_column(dp_asked_argument(aggref, 0), columns, &bin) ||
		bin.kind != DP_COLUMN_BIN)
		return false;
	for (int i = 1; i < list_length(aggref->args); i++)
		if (!is_added(dp_asked_argument(aggref, i), columns, bin.i))
			return false;
	return true;
}

/* Tells whether an expression over the rows can tell equal keys' rows from their sum: context has the columns. */
static bool
tells_rows(Node *node, void *context)
{
	DpRowColumn column;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		Aggref	   *aggref = (Aggref *) node;

		return aggref->aggfilter != NULL || aggref->aggdistinct != NIL || !adds_up(aggref, context);
	}
	if (IsA(node, Var))
		return !is_column(node, context, &column) || column.kind != DP_COLUMN_KEY;
	return expression_tree_walker(node, tells_rows, context);
}

/*
 * Tells whether the query is the usual one: the only columns of the rows are keys, bins,
 * values, shares and firsts, and the level above them, of which they are all that FROM has, sums up
 * values by keys, or all of it by keys and, in limited_sum, by the bins of one norm.
 */
bool
dp_asked_rows_add_up(const PlannerInfo *root, const DpAskedRows *rows)
{
	PlannerInfo *above = root->parent_root;
	Query	   *outer = above != NULL ? above->parse : NULL;
	RangeTblRef *ref;

	if (outer == NULL || !outer->hasAggs || outer->havingQual != NULL || outer->groupingSets != NIL ||
		outer->jointree->quals != NULL || list_length(outer->jointree->fromlist) != 1)
		return false;
	/* subqueries in expressions are planned before there are arrays of tables */
	ref = linitial(outer->jointree->fromlist);
	if (!IsA(ref, RangeTblRef) || above->simple_rte_array == NULL ||
		above->simple_rte_array[ref->rtindex]->rtekind != RTE_SUBQUERY || above->simple_rte_array[ref->rtindex]->inh)
		return false;
	if (list_length(rows->columns) != 2 * list_length(rows->exprs))
		return false;
	return !contain_volatile_functions((Node *) above->processed_tlist) &&
		!tells_rows((Node *) above->processed_tlist, rows->columns);
}
