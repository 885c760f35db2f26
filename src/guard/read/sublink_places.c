/*-------------------------------------------------------------------------
 *
 * sublink_places.c
 *	  Which subqueries of a query are computed of its rows, and become columns
 *	  (sublink_values.c).
 *
 *	 SELECT EXISTS (...), count(*) FILTER (WHERE EXISTS (...)), sum((SELECT ...)) ... GROUP BY 1
 *	 SELECT city, (SELECT count(*) FROM orders o WHERE o.shop = s.shop) FROM shops s
 *	   where orders is protected and shops is not: a release of its own, as
 *	   FROM shops s LEFT JOIN (SELECT shop, count(*) FROM orders GROUP BY shop) q ON q.shop = s.shop
 *
 * Invariants:
 * - In a query that aggregates, these are subqueries in its aggregates and group
 *	 keys; what stands around them sees groups.
 * - What is joined stands below the conditions that name it, and above all others.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "guard/read/read.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "rewrite/rewriteManip.h"

Node *
dp_join_sublink_values(DpSource *s, DpScope *scope, DpFrom *from, Node *condition)
{
	DpSublinks	v = {s, scope, from};

	v.truth = true;
	return dp_replace_sublinks(condition, &v);
}

/* Replaces subqueries in what an aggregate reads of rows. */
static Node *
replace_in_aggregate(DpSublinks *v, Aggref *agg)
{
	const DpAggregate *private = dp_find_aggregate(agg->aggfnoid, true);
	ListCell   *lc;

	agg = copyObject(agg);
	v->truth = false;
	foreach(lc, agg->args)
	{
		/* then come bounds, which are constants */
		if (private == NULL || foreach_current_index(lc) < private->nvalues)
			lfirst(lc) = dp_replace_sublinks(lfirst(lc), v);
	}
	v->truth = true;
	agg->aggfilter = (Expr *) dp_replace_sublinks((Node *) agg->aggfilter, v);
	v->truth = false;
	return (Node *) agg;
}

/* Does so in all aggregates, and puts keys in the place of what they were. */
static Node *
aggregating_mutator(Node *node, DpSublinks *v)
{
	ListCell   *key,
			   *value;

	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == 0)
		return replace_in_aggregate(v, (Aggref *) node);
	forboth(key, v->keys, value, v->key_values)
	{
		if (equal(lfirst(key), node))
			return copyObject(lfirst(value));
	}
	return IsA(node, SubLink) ? node : expression_tree_mutator(node, aggregating_mutator, v);
}

/* Replaces subqueries in what a query groups by, wherever it shows that, and in its aggregates. */
static void
join_of_aggregating(DpSublinks *v, Query *query)
{
	ListCell   *lc;

	foreach(lc, query->groupClause)
	{
		TargetEntry *tle = get_sortgroupclause_tle(lfirst(lc), query->targetList);

		if (!checkExprHasSubLink((Node *) tle->expr))
			continue;
		v->keys = lappend(v->keys, tle->expr);
		tle->expr = (Expr *) dp_replace_sublinks((Node *) tle->expr, v);
		v->key_values = lappend(v->key_values, tle->expr);
	}
	query->targetList = (List *) aggregating_mutator((Node *) query->targetList, v);
	query->havingQual = aggregating_mutator(query->havingQual, v);
}

/* Takes the conditions with subqueries out of the query's WHERE. */
static List *
take_conditions(Query *query)
{
	List	   *conjuncts = dp_conjuncts(query->jointree->quals);
	List	   *taken = NIL;
	ListCell   *lc;

	query->jointree->quals = NULL;
	foreach(lc, conjuncts)
	{
		if (checkExprHasSubLink(lfirst(lc)))
			taken = lappend(taken, lfirst(lc));
		else
			dp_add_conjunct(query, lfirst(lc));
	}
	return taken;
}

static void
replace_in_values(DpSublinks *v)
{
	Query	   *query = v->from->query;

	v->truth = false;
	if (query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL || query->havingQual != NULL)
		join_of_aggregating(v, query);
	else
		query->targetList = (List *) dp_replace_sublinks((Node *) query->targetList, v);
}

void
dp_join_sublinks_of_values(DpSource *s, DpScope *scope, DpFrom *from)
{
	DpSublinks	v = {s, scope, from};
	Query	   *query = from->query;
	List	   *conditions;
	ListCell   *lc;

	if (query->jointree == NULL || query->jointree->fromlist == NIL ||
		!(checkExprHasSubLink((Node *) query->targetList) || checkExprHasSubLink(query->havingQual)))
		return;
	/* those are for dp_join_sublinks */
	conditions = take_conditions(query);
	replace_in_values(&v);
	foreach(lc, conditions)
		dp_add_conjunct(query, lfirst(lc));
}

void
dp_join_released_values(DpSplitContext *cxt, DpScope *scope)
{
	Query	   *query = scope->query;
	DpSource	s = {.cxt = cxt};
	DpFrom		from = {.query = query};
	DpSublinks	v = {&s, scope, &from,.releases = true};
	RangeTblEntry *base;
	List	   *conditions;
	ListCell   *lc;

	if (query->commandType != CMD_SELECT || query->setOperations != NULL ||
		query->jointree->fromlist == NIL || dp_reads_rows(scope, dp_aggregates_privately(query), &base) != 0)
		return;
	dp_write_out_laterals(scope, &from, true);
	if (!query->hasSubLinks)
		return;
	conditions = take_conditions(query);
	replace_in_values(&v);
	foreach(lc, conditions)
	{
		v.truth = true;
		lfirst(lc) = dp_replace_sublinks(lfirst(lc), &v);
	}
	foreach(lc, conditions)
		dp_add_conjunct(query, lfirst(lc));
}
