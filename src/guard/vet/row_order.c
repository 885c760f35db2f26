/*-------------------------------------------------------------------------
 *
 * row_order.c
 *	  What rows of a subquery are put in order by, where the order of rows
 *	  that ORDER BY takes for equal would show.
 *
 * Invariant: two rows that no image tells apart are the same in all that the
 * subquery reads of them.  So whichever of them comes first, the rows of the
 * result are the same: row_number() gives both numbers, lag() both values.
 *
 * PostgreSQL sorts equal rows as they come, in an order that is everybody's:
 * that of a scan, of a hash table, of a merge of files.  A window whose
 * functions depend on it is therefore ordered by the images of all that is
 * read, after what the query orders by.  These are keys of the sort that the
 * window is computed from, so that no plan can leave them out.
 *
 * The image of a value has an order of its type's own in which only values are
 * equal that no function can tell apart.  Numbers that are equal may be
 * written differently (1.0 and 1.00, 0 and -0), as may intervals: theirs is
 * what would be sent to a client.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "guard/vet/allow.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_clause.h"
#include "parser/parse_oper.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------------
 */

typedef struct ValueContext
{
	List	   *keys;			/* of GROUP BY, which are values as they are */
	List	   *values;
} ValueContext;

/* Tells whether node is a column of a type that is not read, but looked into. */
static bool
is_opened(Node *node)
{
	return IsA(node, Var) && dp_type_is_opened(exprType(node));
}

/* Tells whether node is what a function has found in jsonb, in an array or in a range. */
static bool
looks_into(Node *node)
{
	Oid			funcid;
	List	   *args = IsA(node, NullTest) ? list_make1(((NullTest *) node)->arg) : dp_call_args(node, &funcid);

	foreach_ptr(Node, item, args)
	{
		Node	   *arg = IsA(item, ArrayCoerceExpr) ? (Node *) ((ArrayCoerceExpr *) item)->arg : item;

		if ((IsA(arg, Var) || IsA(arg, FuncExpr)) && dp_type_is_opened(exprType(arg)) && !dp_type_is_opened(exprType(node)))
			return true;
	}
	return false;
}

/* Tells whether a column is a unit of a type that nothing reads, handed up. */
static bool
is_unread(Node *node)
{
	return IsA(node, Var) && !is_opened(node) && !dp_type_is_allowed(getBaseType(exprType(node)));
}

static DpWalk
note_value(Node *node, int levels, ValueContext *c)
{
	if (IsA(node, SubLink) || is_unread(node))
		return DP_WALK_PAST;
	if (!IsA(node, Var) && !IsA(node, Aggref) && !looks_into(node) && !list_member(c->keys, node))
		return DP_WALK_ON;
	c->values = list_append_unique(c->values, node);
	return DP_WALK_PAST;
}

List *
dp_row_values(Query *query)
{
	ValueContext c = {get_sortgrouplist_exprs(query->groupClause, query->targetList), NIL};

	dp_walk(query->targetList, note_value, &c);
	return c.values;
}

List *
dp_shown_values(Query *query)
{
	List	   *values = NIL;

	foreach_node(TargetEntry, tle, query->targetList)
	{
		if (!tle->resjunk && !IsA(tle->expr, Const) && !is_unread((Node *) tle->expr))
			values = lappend(values, tle->expr);
	}
	return values;
}

/* ------------------------------------------------------------------------
 * Images
 * ------------------------------------------------------------------------
 */

static Oid
image_function(Oid type)
{
	switch (type)
	{
		case FLOAT4OID:
			return F_FLOAT4SEND;
		case FLOAT8OID:
			return F_FLOAT8SEND;
		case NUMERICOID:
			return F_NUMERIC_SEND;
		case INTERVALOID:
			return F_INTERVAL_SEND;
		default:
			return InvalidOid;
	}
}

bool
dp_is_image_function(Oid funcid)
{
	return funcid == F_FLOAT4SEND || funcid == F_FLOAT8SEND || funcid == F_NUMERIC_SEND || funcid == F_INTERVAL_SEND;
}

Expr *
dp_row_image(Expr *value)
{
	Oid			type;

	value = dp_as_base_type(copyObject(value));
	type = exprType((Node *) value);
	if (!dp_type_is_allowed(type))
		return NULL;
	if (OidIsValid(image_function(type)))
		return (Expr *) dp_call(image_function(type), BYTEAOID, list_make1(value));
	/* without what its own order leaves out: blanks at the end */
	if (type == BPCHAROID)
		return (Expr *) makeRelabelType(value, TEXTOID, -1, C_COLLATION_OID, COERCE_IMPLICIT_CAST);
	if (!type_is_collatable(type) || exprCollation((Node *) value) == C_COLLATION_OID)
		return value;
	return (Expr *) dp_make(CollateExpr, .arg = value, .collOid = C_COLLATION_OID, .location = -1);
}

SortGroupClause *
dp_clause_of(const TargetEntry *tle, bool is_ordered)
{
	SortGroupClause *clause = dp_make(SortGroupClause, .tleSortGroupRef = tle->ressortgroupref);

	get_sort_group_operators(exprType((Node *) tle->expr), is_ordered, true, false, &clause->sortop, &clause->eqop, NULL,
							 &clause->hashable);
	return clause;
}

List *
dp_sort_by(List *clauses, List **targets, Expr *expr)
{
	TargetEntry *tle = tlist_member(expr, *targets);

	if (tle == NULL)
	{
		tle = makeTargetEntry(expr, list_length(*targets) + 1, NULL, true);
		*targets = lappend(*targets, tle);
	}
	(void) assignSortGroupRef(tle, *targets);
	return lappend(clauses, dp_clause_of(tle, true));
}

/* Tells whether an expression is among those that clauses sort by. */
static bool
is_sorted_by(Query *query, List *clauses, Expr *expr)
{
	return list_member(get_sortgrouplist_exprs(clauses, query->targetList), expr);
}

Expr *
dp_unordered_value(Query *query, List *values, List *partition, List *order)
{
	foreach_ptr(Expr, value, values)
	{
		Expr	   *image = dp_row_image(value);

		if (image == NULL || (!is_sorted_by(query, partition, image) && !is_sorted_by(query, order, image)))
			return value;
	}
	return NULL;
}

/* ------------------------------------------------------------------------
 * Window functions
 * ------------------------------------------------------------------------
 */

static const struct
{
	Oid			funcid;
	DpWindowKind kind;
}			window_functions[] = {
	{F_RANK_, DP_WINDOW_OF_PEERS}, {F_DENSE_RANK_, DP_WINDOW_OF_PEERS},
	{F_PERCENT_RANK_, DP_WINDOW_OF_PEERS}, {F_CUME_DIST_, DP_WINDOW_OF_PEERS},
	{F_ROW_NUMBER, DP_WINDOW_OF_ROWS}, {F_NTILE, DP_WINDOW_OF_ROWS},
	{F_LAG_ANYELEMENT, DP_WINDOW_OF_ROWS}, {F_LAG_ANYELEMENT_INT4, DP_WINDOW_OF_ROWS},
	{F_LAG_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE, DP_WINDOW_OF_ROWS},
	{F_LEAD_ANYELEMENT, DP_WINDOW_OF_ROWS}, {F_LEAD_ANYELEMENT_INT4, DP_WINDOW_OF_ROWS},
	{F_LEAD_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE, DP_WINDOW_OF_ROWS},
	{F_FIRST_VALUE, DP_WINDOW_OF_FRAME}, {F_LAST_VALUE, DP_WINDOW_OF_FRAME}, {F_NTH_VALUE, DP_WINDOW_OF_FRAME}
};

DpWindowKind
dp_window_kind(const WindowFunc *function)
{
	if (function->winagg)
		return DP_WINDOW_AGGREGATE;
	for (int i = 0; i < lengthof(window_functions); i++)
		if (window_functions[i].funcid == function->winfnoid)
			return window_functions[i].kind;
	return DP_WINDOW_UNKNOWN;
}

bool
dp_window_needs_order(const WindowFunc *function, const WindowClause *window)
{
	const int	all_rows = FRAMEOPTION_START_UNBOUNDED_PRECEDING | FRAMEOPTION_END_UNBOUNDED_FOLLOWING;

	switch (dp_window_kind(function))
	{
		case DP_WINDOW_OF_PEERS:
			return false;
		case DP_WINDOW_AGGREGATE:

			/*
			 * other frames begin and end with all peers of a row, or with
			 * none
			 */
			return (window->frameOptions & FRAMEOPTION_ROWS) && (window->frameOptions & all_rows) != all_rows;
		default:
			return true;
	}
}

static DpWalk
note_function(Node *node, int levels, List **functions)
{
	if (IsA(node, WindowFunc))
		*functions = lappend(*functions, node);
	return IsA(node, WindowFunc) || IsA(node, SubLink) ? DP_WALK_PAST : DP_WALK_ON;
}

List *
dp_window_functions(Node *node)
{
	List	   *functions = NIL;

	dp_walk(node, note_function, &functions);
	return functions;
}

WindowClause *
dp_window_of(List *windows, Index number)
{
	foreach_ptr(WindowClause, window, windows)
		if (window->winref == number)
		return window;
	return NULL;
}
