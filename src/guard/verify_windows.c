/*-------------------------------------------------------------------------
 *
 * verify_windows.c
 *	  The last gate: windows and DISTINCT ON of a finished inner query.
 *
 * Invariants:
 * - Both stand in subqueries alone, and are of one unit's rows: what they part
 *	 rows by has the column that bears the unit, or a key that leads to one
 *	 protected row.
 * - Where the order of rows shows that are equal otherwise, the order has the
 *	 images of all that is read, and two orders have a number of each row.
 * - Frames end at constants, and are measured by PostgreSQL's functions for
 *	 numbers, dates and timestamps.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "guard/read/read.h"
#include "guard/verify.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"

/* Tells whether columns, which are int, are all of a key of the table that leads to one unit. */
static bool
lead_to_a_unit(Oid relid, List *columns)
{
	foreach_ptr(const List, key, dp_table_keys(relid))
	{
		if (list_difference_int(key, columns) == NIL)
			return true;
	}
	return false;
}

/* Tells whether rows with the same expressions are one unit's. */
static bool
bears_unit(Query *query, List *exprs)
{
	List	   *relids = NIL;

	foreach_ptr(Node, expr, exprs)
	{
		DpColumnOrigin origin;

		/* a group key has one form */
		if (IsA(expr, FuncExpr) && list_length(((FuncExpr *) expr)->args) == 1 &&
			equal(expr, dp_canonical_key(linitial(((FuncExpr *) expr)->args))))
			expr = linitial(((FuncExpr *) expr)->args);
		expr = dp_strip_relabel(expr);
		if (!IsA(expr, Var))
			continue;
		if (dp_is_unit_column(query, (Var *) expr))
			return ((Var *) expr)->varattno > 0;
		if (dp_trace_column(query, NULL, expr, &origin) && origin.is_protected)
			relids = list_append_unique_oid(relids, origin.relid);
	}
	foreach_oid(rel, relids)
	{
		List	   *columns = NIL;

		foreach_ptr(Node, expr, exprs)
		{
			DpColumnOrigin origin;

			if (dp_trace_column(query, NULL, dp_strip_relabel(expr), &origin) && origin.relid == rel)
				columns = lappend_int(columns, origin.attnum);
		}
		if (lead_to_a_unit(rel, columns))
			return true;
	}
	return false;
}

static bool
measures_range(Oid funcid)
{
	switch (funcid)
	{
		case F_IN_RANGE_INT8_INT8_INT8_BOOL_BOOL:
		case F_IN_RANGE_INT4_INT4_INT8_BOOL_BOOL:
		case F_IN_RANGE_INT4_INT4_INT4_BOOL_BOOL:
		case F_IN_RANGE_INT4_INT4_INT2_BOOL_BOOL:
		case F_IN_RANGE_INT2_INT2_INT8_BOOL_BOOL:
		case F_IN_RANGE_INT2_INT2_INT4_BOOL_BOOL:
		case F_IN_RANGE_INT2_INT2_INT2_BOOL_BOOL:
		case F_IN_RANGE_FLOAT8_FLOAT8_FLOAT8_BOOL_BOOL:
		case F_IN_RANGE_FLOAT4_FLOAT4_FLOAT8_BOOL_BOOL:
		case F_IN_RANGE_NUMERIC_NUMERIC_NUMERIC_BOOL_BOOL:
			return true;
		default:
			return false;
	}
}

/* of these the sum may be out of range, unless the column was held to a range before */
static bool
measures_times(Oid funcid)
{
	return funcid == F_IN_RANGE_DATE_DATE_INTERVAL_BOOL_BOOL ||
		funcid == F_IN_RANGE_TIMESTAMP_TIMESTAMP_INTERVAL_BOOL_BOOL ||
		funcid == F_IN_RANGE_TIMESTAMPTZ_TIMESTAMPTZ_INTERVAL_BOOL_BOOL;
}

static void
verify_border(Query *query, WindowClause *window, Node *offset, Oid funcid)
{
	dp_require(offset == NULL || (IsA(offset, Const) && !((Const *) offset)->constisnull), "an offset that is not constant", offset);
	if (offset == NULL || !(window->frameOptions & FRAMEOPTION_RANGE))
	{
		dp_require(!OidIsValid(funcid) || measures_range(funcid) || measures_times(funcid), "a frame of another form", window);
		return;
	}
	dp_require(list_length(window->orderClause) == 1, "a frame of another form", window);
	dp_require(measures_range(funcid) ||
			   (measures_times(funcid) &&
				IsA(get_sortgroupclause_expr(linitial(window->orderClause), query->targetList), CaseExpr)),
			   "a frame that is not total", window);
}

static void
verify_window_parts(WindowClause *window)
{
	WindowClause rest;
	WindowClause *nothing = makeNode(WindowClause);

	memcpy(&rest, window, sizeof(WindowClause));
	rest.partitionClause = rest.orderClause = NIL;
	rest.frameOptions = 0;
	rest.startOffset = rest.endOffset = NULL;
	rest.startInRangeFunc = rest.endInRangeFunc = InvalidOid;
	rest.inRangeColl = InvalidOid;
	rest.inRangeAsc = rest.inRangeNullsFirst = false;
	rest.winref = 0;
	dp_require(memcmp(&rest, nothing, sizeof(WindowClause)) == 0, "a window with other parts", window);
	pfree(nothing);
}

/* Tells whether rows that are the same in all that their tables hold are told apart: by a number, or as groups. */
static bool
tells_rows_apart(Query *query, List *values)
{
	if (query->groupClause != NIL || query->hasAggs)
		return true;
	foreach_ptr(Var, var, values)
	{
		RangeTblEntry *rte = IsA(var, Var) ? rt_fetch(var->varno, query->rtable) : NULL;
		TargetEntry *tle = rte && rte->rtekind == RTE_SUBQUERY ? get_tle_by_resno(rte->subquery->targetList, var->varattno) : NULL;

		if (tle != NULL && IsA(tle->expr, WindowFunc) && ((WindowFunc *) tle->expr)->winfnoid == F_ROW_NUMBER)
			return true;
	}
	return false;
}

/* Verifies the windows of a query, and that each of its functions has one that is in order. */
static void
verify_windows(DpVerify *v)
{
	Query	   *query = v->query;
	List	   *values = dp_row_values(query);
	WindowClause *first = NULL;

	foreach_node(WindowClause, window, query->windowClause)
	{
		verify_window_parts(window);
		dp_verify_sort_clauses(window->partitionClause);
		dp_verify_sort_clauses(window->orderClause);
		dp_require(bears_unit(query, get_sortgrouplist_exprs(window->partitionClause, query->targetList)),
				   "a window of several units", window);
		verify_border(query, window, window->startOffset, window->startInRangeFunc);
		verify_border(query, window, window->endOffset, window->endInRangeFunc);
	}
	foreach_ptr(WindowFunc, function, dp_window_functions((Node *) query->targetList))
	{
		WindowClause *window = dp_window_of(query->windowClause, function->winref);

		dp_require(window != NULL, "a function of no window", function);
		if (!dp_window_needs_order(function, window))
			continue;
		dp_require(dp_unordered_value(query, values, window->partitionClause, window->orderClause) == NULL,
				   "an order of rows that is not theirs", function);
		if (first == NULL)
			first = window;
		dp_require((equal(window->partitionClause, first->partitionClause) && equal(window->orderClause, first->orderClause)) ||
				   tells_rows_apart(query, values), "two orders of equal rows", function);
	}
}

void
dp_verify_windows(DpVerify *v)
{
	Query	   *query = v->query;

	dp_require(query->hasWindowFuncs == (query->windowClause != NIL) && query->hasDistinctOn == (query->distinctClause != NIL) &&
			   (v->place == DP_PLACE_SOURCE || (!query->hasWindowFuncs && !query->hasDistinctOn)),
			   "a window that is not expected", query);
	verify_windows(v);
	if (!query->hasDistinctOn)
		return;
	dp_verify_sort_clauses(query->distinctClause);
	dp_require(bears_unit(query, get_sortgrouplist_exprs(query->distinctClause, query->targetList)), "a choice among several units", query);
	dp_require(dp_unordered_value(query, dp_shown_values(query), query->distinctClause, query->sortClause) == NULL,
			   "a choice among equal rows", query);
}
