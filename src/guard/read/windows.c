/*-------------------------------------------------------------------------
 *
 * windows.c
 *	  Windows and DISTINCT ON in a subquery over protected rows.
 *
 * Invariants:
 * - The rows of a window, and those of which DISTINCT ON chooses one, are one
 *	 privacy unit's, or nobody's, which disappear above.
 * - What comes out is a function of the multiset of those rows.  Functions of
 *	 peers, and aggregates whose frame has all peers of a row or none, are so
 *	 as they stand.  All others see a copy of their window that is ordered by
 *	 the images of all values that the level reads (vet/row_order.c), after
 *	 what the query orders by.
 * - Two such windows with orders of their own must see rows that are the same
 *	 in everything in one order: first() by time and last() by time would pair
 *	 the numbers of twins this way or that.  Where a level has two, its rows
 *	 are numbered in a subquery below, and the number is one more value.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_type.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_clause.h"
#include "parser/parse_coerce.h"
#include "parser/parsetree.h"
#include "policy/unit_types.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* in how many parts of equal size a message tells people apart, at most */
#define MOST_PARTS 10

/* ------------------------------------------------------------------------
 * Which windows are there
 * ------------------------------------------------------------------------
 */

bool
dp_clauses_name(List *clauses, Index ref)
{
	return get_sortgroupref_clause_noerr(ref, clauses) != NULL;
}

bool
dp_windows_name(List *windows, Index ref)
{
	foreach_ptr(WindowClause, window, windows)
	{
		if (dp_clauses_name(window->partitionClause, ref) || dp_clauses_name(window->orderClause, ref))
			return true;
	}
	return false;
}

bool
dp_windows_need(Query *sub, TargetEntry *tle)
{
	Index		ref = tle->ressortgroupref;

	return (sub->hasDistinctOn && (dp_clauses_name(sub->distinctClause, ref) || dp_clauses_name(sub->sortClause, ref))) ||
		dp_windows_name(sub->windowClause, ref);
}

void
dp_prune_windows(Query *sub, const Bitmapset *columns)
{
	List	   *kept = NIL;

	foreach_ptr(WindowClause, window, sub->windowClause)
	{
		bool		is_named = false;

		foreach_node(TargetEntry, tle, sub->targetList)
		{
			bool		is_read = (!tle->resjunk && bms_is_member(tle->resno, columns)) ||
			(sub->hasDistinctOn && dp_windows_need(sub, tle));

			if (is_read)
				foreach_ptr(WindowFunc, function, dp_window_functions((Node *) tle->expr))
					is_named |= function->winref == window->winref;
		}
		if (is_named)
			kept = lappend(kept, window);
	}
	sub->windowClause = kept;
	sub->hasWindowFuncs = kept != NIL;
}

/* ------------------------------------------------------------------------
 * Subqueries below
 * ------------------------------------------------------------------------
 */

/*
 * Moves all that the query reads into a subquery, the query's only entry, with
 * nothing yet that it selects; the query keeps its target list as it is.
 */
static Query *
push_down(Query *sub)
{
	Query	   *below = makeNode(Query);

	memcpy(below, sub, sizeof(Query));
	below->targetList = NIL;
	below->windowClause = NIL;
	below->distinctClause = below->sortClause = NIL;
	below->hasWindowFuncs = below->hasDistinctOn = false;
	sub->rtable = NIL;
	dp_forget_permissions(sub);
	sub->cteList = NIL;
	sub->hasSubLinks = false;
	sub->havingQual = NULL;
	sub->jointree = makeFromExpr(list_make1(dp_entry_ref(1)), NULL);
	return below;
}

/* Makes the subquery that was taken out of it the query's entry. */
static void
put_below(Query *sub, Query *below)
{
	IncrementVarSublevelsUp((Node *) below, 1, 1);
	sub->rtable = list_make1(dp_subquery_entry(below, "rows"));
}

static Expr *
column_of(TargetEntry *tle)
{
	return (Expr *) dp_output_var(1, tle->resno, (Node *) tle->expr);
}

void
dp_group_windows(Query *sub)
{
	Query	   *below;
	List	   *targets = sub->targetList;
	List	   *windows = sub->windowClause;

	sub->groupClause = sub->distinctClause;
	below = push_down(sub);
	below->groupClause = NIL;
	below->targetList = targets;
	below->windowClause = windows;
	below->hasWindowFuncs = true;
	sub->targetList = NIL;
	sub->windowClause = NIL;
	sub->distinctClause = NIL;
	sub->hasWindowFuncs = false;
	foreach_node(TargetEntry, tle, targets)
	{
		TargetEntry *key;

		if (tle->resjunk)
			continue;
		key = makeTargetEntry(column_of(tle), tle->resno, tle->resname, false);
		key->ressortgroupref = tle->ressortgroupref;
		sub->targetList = lappend(sub->targetList, key);
	}
	put_below(sub, below);
}

/* Returns the windows that must be ordered in full, of those that order or part rows in different ways the first ones. */
static List *
windows_in_order(Query *sub)
{
	List	   *windows = NIL;

	foreach_ptr(WindowFunc, function, dp_window_functions((Node *) sub->targetList))
	{
		WindowClause *window = dp_window_of(sub->windowClause, function->winref);
		bool		known = false;

		if (window == NULL || !dp_window_needs_order(function, window))
			continue;
		foreach_ptr(WindowClause, item, windows)
			known |= equal(item->partitionClause, window->partitionClause) &&
			equal(item->orderClause, window->orderClause);
		if (!known)
			windows = lappend(windows, window);
	}
	return windows;
}

static const char *
value_name(Query *query, Expr *value)
{
	Var		   *var = (Var *) value;

	return IsA(value, Var) ? get_rte_attribute_name(rt_fetch(var->varno, query->rtable), var->varattno) : "value";
}

/* Adds SELECT values, row_number() OVER (PARTITION BY what the window has), which is ordered by all values later. */
static void
number_rows(Query *below, Query *sub, List *values, WindowClause *partition)
{
	WindowFunc *number;
	WindowClause *window = makeNode(WindowClause);

	foreach_ptr(Expr, value, values)
		(void) dp_show_column(below, copyObject(value), value_name(below, value));
	number = dp_make(WindowFunc, .winfnoid = F_ROW_NUMBER, .wintype = INT8OID);
	number->winref = window->winref = 1;
	number->location = exprLocation(linitial(dp_window_functions((Node *) sub->targetList)));
	(void) dp_show_column(below, (Expr *) number, "row_number");
	window->frameOptions = FRAMEOPTION_DEFAULTS;
	foreach_node(SortGroupClause, item, partition->partitionClause)
	{
		SortGroupClause *clause = copyObject(item);
		Expr	   *expr = copyObject(get_sortgroupclause_tle(clause, sub->targetList)->expr);
		TargetEntry *tle = makeTargetEntry(expr, list_length(below->targetList) + 1, NULL, true);

		clause->tleSortGroupRef = assignSortGroupRef(tle, below->targetList);
		below->targetList = lappend(below->targetList, tle);
		window->partitionClause = lappend(window->partitionClause, clause);
	}
	below->windowClause = list_make1(window);
	below->hasWindowFuncs = true;
}

void
dp_number_rows(Query *sub)
{
	List	   *windows = windows_in_order(sub);
	List	   *values;
	List	   *columns = NIL;
	Query	   *below;
	TargetEntry *number;

	/* the rows of GROUP BY have keys of their own */
	if (list_length(windows) < 2 || sub->groupClause != NIL || sub->hasAggs || checkExprHasSubLink((Node *) sub->targetList))
		return;
	values = dp_row_values(sub);
	below = push_down(sub);
	number_rows(below, sub, values, linitial(windows));
	for (int i = 0; i < list_length(values); i++)
		columns = lappend(columns, column_of(list_nth(below->targetList, i)));
	number = list_nth(below->targetList, list_length(values));
	sub->targetList = (List *) dp_put_equal((Node *) sub->targetList, values, columns, NULL);
	sub->targetList = lappend(sub->targetList, makeTargetEntry(column_of(number), list_length(sub->targetList) + 1, NULL, true));
	put_below(sub, below);
}

/* ------------------------------------------------------------------------
 * Whose rows
 * ------------------------------------------------------------------------
 */

/* Tells whether rows that clauses take for equal are one unit's. */
static bool
names_unit(Query *sub, List *clauses, DpFrom *from)
{
	List	   *columns = NIL;

	/* another equality might take several units for one */
	foreach_ptr(SortGroupClause, clause, clauses)
	{
		if (dp_is_unit_operator(clause->eqop))
			columns = lappend(columns, get_sortgroupclause_tle(clause, sub->targetList)->expr);
	}
	return dp_names_unit(&from->unit, columns, &from->unique_keys);
}

/* Returns " (column)" where a column names the unit. */
static const char *
unit_in_brackets(Query *sub, DpFrom *from)
{
	return from->unit.vars ? psprintf(" (%s)", dp_column_name(sub, linitial_node(Var, from->unit.vars))) : "";
}

/*
 * Returns a query that tells people apart by released quantiles, for messages about functions that cut all rows into
 * parts of equal size; NULL: it is another function, or not of a column of a table.
 */
static const char *
example_of_parts(Query *sub, WindowClause *window, List *functions)
{
	Var		   *column = NULL;
	RangeTblEntry *rte;
	const char *name;
	const char *table;
	int			parts = 2;
	StringInfoData shares,
				cases;

	foreach_ptr(WindowFunc, function, functions)
	{
		if (function->winref == window->winref && window->partitionClause == NIL && list_length(window->orderClause) == 1 &&
			(function->winfnoid == F_NTILE || function->winfnoid == F_PERCENT_RANK_ || function->winfnoid == F_CUME_DIST_))
		{
			Const	   *n = function->args != NIL ? linitial(function->args) : NULL;

			column = (Var *) get_sortgroupclause_expr(linitial(window->orderClause), sub->targetList);
			if (n != NULL && IsA(n, Const) && !n->constisnull && DatumGetInt32(n->constvalue) >= 2)
				parts = Min(DatumGetInt32(n->constvalue), MOST_PARTS);
		}
	}
	if (column == NULL || !IsA(column, Var) || column->varattno <= 0 ||
		(rte = rt_fetch(column->varno, sub->rtable))->rtekind != RTE_RELATION ||
		TypeCategory(column->vartype) != TYPCATEGORY_NUMERIC)
		return NULL;
	name = quote_identifier(get_rte_attribute_name(rte, column->varattno));
	table = dp_relation_text(rte->relid);
	initStringInfo(&shares);
	initStringInfo(&cases);
	for (int i = 1; i < parts; i++)
	{
		appendStringInfo(&shares, i > 1 ? ", %.3g" : "%.3g", (double) i / parts);
		appendStringInfo(&cases, "WHEN %s <= q.m[%d] THEN %d ", name, i, i);
	}
	return dp_example(psprintf("WITH q AS (SELECT percentile_cont(ARRAY[%s]) WITHIN GROUP (ORDER BY %s) AS m FROM %s) "
							   "SELECT CASE %sELSE %d END AS part, count(*) AS n FROM %s, q GROUP BY 1",
							   shares.data, name, table, cases.data, parts, table));
}

void
dp_check_windows(DpSplitContext *cxt, Query *sub, DpFrom *from)
{
	bool		row_units = from->unit.vars == NIL && from->unit.exprs != NIL;
	int			where = exprLocation((Node *) sub->targetList);
	List	   *functions = dp_window_functions((Node *) sub->targetList);

	if (row_units && (sub->hasWindowFuncs || sub->hasDistinctOn))
		dp_refuse_at(functions ? exprLocation(linitial(functions)) : where,
					 errmsg("window functions and DISTINCT ON over rows that are privacy units by themselves are not releasable; "
							"apply them to released rows"));
	foreach_ptr(WindowClause, item, sub->windowClause)
	{
		int			select = where;
		const char *example;

		if (names_unit(sub, item->partitionClause, from))
			continue;
		foreach_ptr(WindowFunc, function, functions)
		{
			if (function->winref == item->winref)
				where = function->location;
		}
		/* LIMIT has become one (lifting.c) */
		if (where < 0)
			dp_refuse_at(select, errmsg("LIMIT and OFFSET of a subquery must choose among one privacy unit's rows; compare the unit%s by equality in the subquery's WHERE", unit_in_brackets(sub, from)));
		example = example_of_parts(sub, item, functions);
		if (example != NULL)
			dp_refuse_at(where, errmsg("a window over protected rows must be of one unit's rows; release quantiles first, and compare with them, for example %s", example));
		dp_refuse_at(where, errmsg("a window over protected rows must be of one unit's rows; add the unit%s to its PARTITION BY, or use released rows",
								   unit_in_brackets(sub, from)));
	}
	if (sub->hasDistinctOn && !names_unit(sub, sub->distinctClause, from))
		dp_refuse_at(where, errmsg("DISTINCT ON and LIMIT 1 must choose among one privacy unit's rows; add the unit%s to DISTINCT ON, or compare it by equality in WHERE",
								   unit_in_brackets(sub, from)));
}

/* ------------------------------------------------------------------------
 * Windows
 * ------------------------------------------------------------------------
 */

/* Returns a window of new without a frame, with a number of its own where number is 0. */
static WindowClause *
rebuild_window(DpSplitContext *cxt, Query *new, WindowClause *window, Index number)
{
	WindowClause *copy = dp_make(WindowClause, .winref = number,
								 .partitionClause = dp_rebuild_order(cxt, window->partitionClause, new),
								 .orderClause = dp_rebuild_order(cxt, window->orderClause, new));

	foreach_ptr(WindowClause, item, number == 0 ? new->windowClause : NIL)
		copy->winref = Max(copy->winref, item->winref);
	if (number == 0)
		copy->winref++;
	new->windowClause = lappend(new->windowClause, copy);
	return copy;
}

/* Returns the window for a function that needs an order: one for each frame. */
static WindowClause *
window_of_rows(DpSplitContext *cxt, Query *new, WindowFunc *function, WindowClause *window, List *values, List **made,
			   const DpAllowContext *allow)
{
	int			options = dp_frame_of_rows(cxt, function, window);
	WindowClause *copy;

	foreach_ptr(WindowClause, item, *made)
	{
		if (item->frameOptions == options)
			return item;
	}
	copy = rebuild_window(cxt, new, window, 0);
	if (options & FRAMEOPTION_ROWS)
		dp_rebuild_frame(cxt, new, window, copy, allow);
	copy->frameOptions = options;
	copy->orderClause = dp_complete_order(cxt, new, values, copy->partitionClause, copy->orderClause);
	*made = lappend(*made, copy);
	return copy;
}

/* Numbers the windows from 1 on, as the planner wants them. */
static void
number_windows(Query *new)
{
	foreach_ptr(WindowFunc, function, dp_window_functions((Node *) new->targetList))
	{
		for (int i = 0; i < list_length(new->windowClause); i++)
			if (list_nth_node(WindowClause, new->windowClause, i)->winref == function->winref)
			{
				function->winref = i + 1;
				break;
			}
	}
	foreach_node(WindowClause, window, new->windowClause)
		window->winref = foreach_current_index(window) + 1;
}

void
dp_rebuild_windows(DpSplitContext *cxt, Query *sub, Query *new, const DpAllowContext *allow)
{
	List	   *values = dp_row_values(new);
	List	   *functions = dp_window_functions((Node *) new->targetList);
	List	   *made;

	/* these keep their numbers */
	foreach_node(WindowClause, item, sub->windowClause)
		foreach_ptr(WindowFunc, f, functions)
	{
		WindowClause *window = item;

		if (f->winref != window->winref || dp_window_needs_order(f, window))
			continue;
		dp_rebuild_frame(cxt, new, window, rebuild_window(cxt, new, window, window->winref), allow);
		break;
	}
	foreach_node(WindowClause, item, sub->windowClause)
	{
		made = NIL;
		foreach_ptr(WindowFunc, f, functions)
		{
			WindowClause *window = item;

			if (f->winref != window->winref || !dp_window_needs_order(f, window))
				continue;
			f->winref = window_of_rows(cxt, new, f, window, values, &made, allow)->winref;
			functions = foreach_delete_current(functions, f);
		}
	}
	number_windows(new);
	new->hasWindowFuncs = new->windowClause != NIL;
}

/* ------------------------------------------------------------------------
 * DISTINCT ON
 * ------------------------------------------------------------------------
 */

void
dp_rebuild_distinct_on(DpSplitContext *cxt, Query *sub, Query *new)
{
	if (!sub->hasDistinctOn)
		return;
	new->hasDistinctOn = true;
	new->distinctClause = dp_rebuild_order(cxt, sub->distinctClause, new);
	new->sortClause = list_copy(new->distinctClause);
	foreach_ptr(SortGroupClause, clause, sub->sortClause)
	{
		if (!dp_clauses_name(new->distinctClause, clause->tleSortGroupRef))
			new->sortClause = list_concat(new->sortClause, dp_rebuild_order(cxt, list_make1(clause), new));
	}
	/* two that are the same in all columns are one */
	new->sortClause = dp_complete_order(cxt, new, dp_shown_values(new), NIL, new->sortClause);
}
