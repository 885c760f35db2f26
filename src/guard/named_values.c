/*-------------------------------------------------------------------------
 *
 * named_values.c
 *	  Values of a released WITH query that a private level names several times.
 *
 * WITH s AS (SELECT avg(x) AS m, stddev(x) AS sd FROM t) SELECT count(*) FROM t
 * WHERE x > (SELECT m + 2 * sd FROM s) OR x < (SELECT m - 2 * sd FROM s) reads one
 * row of s in two subqueries.  Each would be computed before the level's own rows, as a copy
 * of s, and a release has no copies.  They become columns of one entry of FROM:
 * the same, as s has exactly one row.
 *
 * Invariant: what is put in places has the value of the subquery that stood there, and no other row comes in.  Conditions
 * of joins, and what is not aggregated, stay as they are: the entry's columns cannot be read there.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/walk.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

/* Tells whether a query has one row, whatever it reads, and releases it. */
static bool
releases_one_row(Query *query)
{
	return query->commandType == CMD_SELECT && query->hasAggs && query->groupClause == NIL && query->groupingSets == NIL &&
		query->havingQual == NULL && !query->hasTargetSRFs && query->limitCount == NULL && query->limitOffset == NULL &&
		OidIsValid(dp_query_touches_protected(query));
}

/* Returns the only entry of a subquery that computes a value of its columns, and nothing else; NULL: it does more. */
static RangeTblEntry *
entry_of_value(Query *query)
{
	RangeTblRef *only = list_length(query->jointree->fromlist) == 1 ? linitial(query->jointree->fromlist) : NULL;

	if (query->commandType != CMD_SELECT || query->hasAggs || query->hasWindowFuncs || query->hasTargetSRFs || query->hasSubLinks ||
		query->groupClause != NIL || query->havingQual != NULL || query->limitCount != NULL || query->limitOffset != NULL ||
		query->setOperations != NULL || query->cteList != NIL || query->rowMarks != NIL || query->jointree->quals != NULL ||
		only == NULL || !IsA(only, RangeTblRef) || list_length(query->targetList) != 1 ||
		contain_vars_of_level((Node *) query->targetList, 1) || contain_volatile_functions((Node *) query->targetList))
		return NULL;
	return rt_fetch(only->rtindex, query->rtable);
}

/* Returns the entry of FROM, among those that are no part of a join, that reads what another does below the level; adds it. */
static int
entry_in_from(Query *query, const RangeTblEntry *entry)
{
	RangeTblEntry *rte;

	foreach_ptr(RangeTblRef, ref, query->jointree->fromlist)
	{
		rte = IsA(ref, RangeTblRef) ? rt_fetch(ref->rtindex, query->rtable) : NULL;
		if (rte != NULL && rte->rtekind == RTE_CTE && rte->ctelevelsup == entry->ctelevelsup - 1 && strcmp(rte->ctename, entry->ctename) == 0)
			return ref->rtindex;
	}
	rte = copyObject((RangeTblEntry *) entry);
	rte->ctelevelsup--;
	rte->inFromCl = true;
	return dp_add_to_from(query, rte);
}

typedef struct ValuesContext
{
	DpScope    *scope;
	int			put;			/* how many values stand in places of
								 * subqueries */
} ValuesContext;

/* Returns a value of the entry in the place of a subquery that reads a value of what is released, and named again. */
static Node *
put_value(Node *node, int levels, ValuesContext *c)
{
	SubLink    *sublink = (SubLink *) node;
	Query	   *sub = IsA(node, SubLink) && sublink->subLinkType == EXPR_SUBLINK ? (Query *) sublink->subselect : NULL;
	DpScope		below = {sub, c->scope};
	DpScope    *owner;
	RangeTblEntry *entry = sub ? entry_of_value(sub) : NULL;
	CommonTableExpr *cte = entry && entry->rtekind == RTE_CTE && entry->ctelevelsup > 0 ? dp_find_cte(&below, entry, &owner) : NULL;
	int			length = list_length(c->scope->query->rtable);
	int			rti;
	Node	   *value;

	if (cte == NULL || cte->cterefcount < 2 || !releases_one_row((Query *) cte->ctequery))
		return NULL;
	rti = entry_in_from(c->scope->query, entry);
	cte->cterefcount -= list_length(c->scope->query->rtable) > length ? 0 : 1;
	c->put++;
	value = (Node *) copyObject(linitial_node(TargetEntry, sub->targetList)->expr);
	ChangeVarNodes(value, linitial_node(RangeTblRef, sub->jointree->fromlist)->rtindex, rti, 0);
	return value;
}

/* Does so in aggregates. */
static Node *
put_in_aggregate(Node *node, int levels, ValuesContext *c)
{
	return IsA(node, Aggref) ? dp_put(node, put_value, c) : NULL;
}

bool
dp_name_values_once(DpScope *scope)
{
	Query	   *query = scope->query;
	ValuesContext c = {scope, 0};

	if (!query->hasSubLinks || query->commandType != CMD_SELECT)
		return false;
	foreach_node(TargetEntry, tle, query->targetList)
	{
		bool		is_key = dp_clauses_name(query->groupClause, tle->ressortgroupref);

		tle->expr = (Expr *) (is_key ? dp_put(tle->expr, put_value, &c) : dp_put(tle->expr, put_in_aggregate, &c));
	}
	query->havingQual = dp_put(query->havingQual, put_in_aggregate, &c);
	query->jointree->quals = dp_put(query->jointree->quals, put_value, &c);
	return c.put > 0;
}
