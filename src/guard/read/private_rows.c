/*-------------------------------------------------------------------------
 *
 * private_rows.c
 *	  Which levels read rows of protected tables that would have to be released.
 *
 * Rows of a query are such rows when it only filters, projects and joins
 * them, or aggregates those of each privacy unit by itself.  Other aggregates
 * are levels of their own: what comes out of them has been released, or they
 * are refused.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "guard/read/read.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "policy/policy.h"

typedef struct RowSearch
{
	bool		even_if_readable;
	RangeTblEntry *base;		/* the table that was found */
	List	   *seen;			/* WITH queries that were searched */
	List	   *yielding;		/* the ones among them that yield rows */
} RowSearch;

static bool query_yields_rows(DpScope *scope, RowSearch *search);

/*
 * Tells whether the WITH query that rte names yields rows; searches it once,
 * however many references lead to it.
 */
static bool
cte_yields_rows(DpScope *scope, RangeTblEntry *rte, RowSearch *search)
{
	DpScope    *owner;
	CommonTableExpr *cte = dp_find_cte(scope, rte, &owner);

	if (cte == NULL)
		return false;
	if (!list_member_ptr(search->seen, cte))
	{
		DpScope		inner = {(Query *) cte->ctequery, owner};

		search->seen = lappend(search->seen, cte);
		if (query_yields_rows(&inner, search))
			search->yielding = lappend(search->yielding, cte);
	}
	return list_member_ptr(search->yielding, cte);
}

static bool
entry_yields_rows(DpScope *scope, RangeTblEntry *rte, RowSearch *search)
{
	if (rte->rtekind == RTE_RELATION)
	{
		if (!dp_is_protected(rte) || (!search->even_if_readable && dp_may_read(rte->relid)))
			return false;
		search->base = rte;
		return true;
	}
	if (rte->rtekind == RTE_SUBQUERY)
	{
		DpScope		inner = {rte->subquery, scope};

		return query_yields_rows(&inner, search);
	}
	return rte->rtekind == RTE_CTE && cte_yields_rows(scope, rte, search);
}

static Index
first_yielding(DpScope *scope, RowSearch *search)
{
	foreach_int(rti, dp_entries_of(scope->query->jointree))
	{
		if (rti != scope->query->resultRelation && entry_yields_rows(scope, rt_fetch(rti, scope->query->rtable), search))
			return rti;
	}
	return 0;
}

Index
dp_reads_rows(DpScope *scope, bool even_if_readable, RangeTblEntry **base)
{
	RowSearch	search = {.even_if_readable = even_if_readable};
	Index		found = first_yielding(scope, &search);

	*base = search.base;
	return found;
}

/* Tells whether columns, which origins holds, are all of a key that leads to one row. */
static bool
are_a_key(List *origins, Oid relid)
{
	List	   *columns = NIL;

	foreach_ptr(DpColumnOrigin, origin, origins)
	{
		if (origin->relid == relid)
			columns = lappend_int(columns, origin->attnum);
	}
	foreach_ptr(const List, key, dp_table_keys(relid))
	{
		if (list_difference_int(key, columns) == NIL)
			return true;
	}
	return false;
}

/*
 * Tells whether group keys are, by their origin or that of columns which conditions make equal to them, a unit column
 * of a protected table, or a key that leads to one protected row.  A key of public rows has its own values, whatever
 * it is compared with.
 */
static bool
groups_by_unit(DpScope *scope)
{
	Query	   *query = scope->query;
	List	   *clauses = query->groupClause ? query->groupClause : query->distinctClause;
	List	   *keys = NIL;
	List	   *origins = NIL;

	foreach_ptr(SortGroupClause, clause, clauses)
	{
		DpColumnOrigin origin;
		Node	   *expr = (Node *) get_sortgroupclause_tle(clause, query->targetList)->expr;

		if (dp_is_unit_origin(scope, expr, false))
			return true;
		if (dp_trace_column(query, scope, expr, &origin) && origin.is_protected && !origin.may_be_null)
			keys = lappend(keys, expr);
	}
	foreach_ptr(Node, column, dp_equal_columns(query, dp_conditions_of_all((Node *) query->jointree), keys))
	{
		DpColumnOrigin *origin = palloc(sizeof(DpColumnOrigin));

		if (dp_is_unit_origin(scope, column, false))
			return true;
		if (dp_trace_column(query, scope, column, origin) && origin->is_protected && !origin->may_be_null)
			origins = lappend(origins, origin);
	}
	foreach_ptr(DpColumnOrigin, origin, origins)
	{
		if (are_a_key(origins, origin->relid))
			return true;
	}
	return false;
}

/* Tells whether rows of the query are rows of protected tables, or belong to one unit each. */
static bool
query_yields_rows(DpScope *scope, RowSearch *search)
{
	Query	   *query = scope->query;

	check_stack_depth();
	if (query->commandType != CMD_SELECT)
		return false;
	if (query->setOperations)
	{
		foreach_ptr(RangeTblEntry, rte, query->rtable)
		{
			if (rte->rtekind == RTE_SUBQUERY &&
				entry_yields_rows(scope, rte, search))
				return true;
		}
		return false;
	}
	if (first_yielding(scope, search) == 0)
		return false;
	if (query->hasAggs || query->groupClause || query->groupingSets || (query->distinctClause && !query->hasDistinctOn))
		return !dp_aggregates_privately(query) && groups_by_unit(scope);
	return true;
}

bool
dp_entry_yields_rows(DpScope *scope, RangeTblEntry *rte, bool even_if_readable)
{
	RowSearch	search = {.even_if_readable = even_if_readable};

	return entry_yields_rows(scope, rte, &search);
}

static bool
contains_release(Node *node, void *context)
{
	DpScope    *scope = context;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		DpScope		inner = {(Query *) node, scope};
		RowSearch	rows = {0};
		RowSearch	yielded = {0};

		check_stack_depth();
		if (inner.query->setOperations == NULL && first_yielding(&inner, &rows) != 0 &&
			!query_yields_rows(&inner, &yielded))
			return true;
		return query_tree_walker(inner.query, contains_release, &inner, 0);
	}
	return expression_tree_walker(node, contains_release, context);
}

bool
dp_contains_release(DpScope *scope)
{
	return query_tree_walker(scope->query, contains_release, scope, 0);
}
