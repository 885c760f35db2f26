/*-------------------------------------------------------------------------
 *
 * key_query_range.c
 *	  Between which values a public column is, in the rows of a level.
 *
 * Of a column of the level itself its public conditions are asked, too, as for
 * keys; of one below, all rows of its table, or of what was computed
 * beforehand.
 *
 * Invariant: what is not the asker's to read, a table that a view reads for
 * him, has no range.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_aggregate.h"
#include "guard/describe/describe.h"
#include "guard/describe/key_query.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_func.h"
#include "parser/parsetree.h"

/* Makes min(value) or max(value). */
static TargetEntry *
extreme(const char *name, Node *value, AttrNumber resno)
{
	Oid			type = exprType(value);
	Aggref	   *agg = dp_make(Aggref, .aggfnoid = LookupFuncName(list_make2(makeString("pg_catalog"), makeString(pstrdup(name))), 1, &type, false),
							  .aggtype = type);

	agg->aggcollid = agg->inputcollid = exprCollation(value);
	agg->aggargtypes = list_make1_oid(type);
	agg->args = list_make1(makeTargetEntry((Expr *) value, 1, NULL, false));
	agg->aggkind = AGGKIND_NORMAL;
	agg->aggsplit = AGGSPLIT_SIMPLE;
	agg->aggno = agg->aggtransno = -1;
	agg->location = -1;
	return makeTargetEntry((Expr *) agg, resno, pstrdup(name), false);
}

/* Turns a query of a column's values into one of their extremes. */
static Query *
extremes_of(Query *query)
{
	Node	   *value = (Node *) linitial_node(TargetEntry, query->targetList)->expr;

	query->distinctClause = query->sortClause = NIL;
	query->targetList = list_make2(extreme("min", value, 1), extreme("max", copyObject(value), 2));
	query->hasAggs = true;
	return query;
}

/* Returns the query of all values that an entry of query has. */
static Query *
values_of_entry(Query *query, Var *column)
{
	RangeTblEntry *rte = copyObject(rt_fetch(column->varno, query->rtable));
	Query	   *values = dp_new_select();
	RangeTblRef *ref = makeNode(RangeTblRef);
	Var		   *var = copyObject(column);

	if (rte->rtekind != RTE_NAMEDTUPLESTORE &&
		(rte->rtekind != RTE_RELATION || dp_is_protected(rte) || !dp_key_query_may_read(query, rte)))
		return NULL;
	rte->inFromCl = true;
	dp_take_permissions(values, rte, query);
	values->rtable = list_make1(rte);
	ref->rtindex = var->varno = 1;
	dp_set_nulled_by(var, 0);
	values->jointree = makeFromExpr(list_make1(ref), NULL);
	values->targetList = list_make1(makeTargetEntry((Expr *) var, 1, NULL, false));
	return values;
}

/* Returns the query of the values that a column has by the public conditions of the level; NULL: it is not public. */
static Query *
values_in_level(DpLevel *level, Var *column)
{
	DpKeyQuery *s = dp_key_query_start(level);
	Node	   *named = dp_key_query_name(s, (Node *) column);
	Bitmapset  *items = NULL;
	int			item;

	if (named == NULL || !IsA(named, Var) || dp_key_query_item(s, ((Var *) named)->varno)->is_private)
		return NULL;
	dp_key_query_equate(s);
	named = dp_key_query_resolve(s, named, DP_LISTS_FOUND, &items);
	if (named == NULL || bms_membership(items) != BMS_SINGLETON)
		return NULL;
	item = bms_singleton_member(items);
	dp_key_query_find_parts(s, list_make1(items));
	return dp_key_query_select(s, dp_key_query_item(s, item)->part, list_make1(named));
}

Query *
dp_key_query_range(DpLevel *level, Query *query, Var *column)
{
	Query	   *values = query == level->from.query ? values_in_level(level, column) : values_of_entry(query, column);

	return values ? extremes_of(values) : NULL;
}
