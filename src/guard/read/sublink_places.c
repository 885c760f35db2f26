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
 *	 t JOIN r ON r.k = t.k AND EXISTS (...)
 *	   t JOIN r ON r.k = t.k WHERE EXISTS (...)
 *	 t LEFT JOIN r ON r.k = t.k AND r.x > (SELECT avg(x) FROM s)
 *	   (t, (SELECT avg(x) AS v FROM s) q) LEFT JOIN r ON r.k = t.k AND r.x > q.v
 *
 * Invariants:
 * - In a query that aggregates, these are subqueries in its aggregates and group
 *	 keys; what stands around them sees groups.
 * - What is joined stands below the conditions that name it, and above all others.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "guard/read/read.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"

Node *
dp_join_sublink_values(DpSource *s, DpScope *scope, DpFrom *from, Node *condition)
{
	DpSublinks	v = {s, scope, from};

	v.truth = true;
	return dp_replace_sublinks(condition, &v);
}

/* Finds a subquery of an expression that is not of one value, or that depends on the level; notes whether there are any. */
static DpWalk
is_other_sublink(Node *node, int levels, bool *found)
{
	if (!IsA(node, SubLink))
		return DP_WALK_ON;
	*found = true;
	return ((SubLink *) node)->subLinkType != EXPR_SUBLINK || contain_vars_of_level(((SubLink *) node)->subselect, 1)
		? DP_WALK_STOP : DP_WALK_PAST;
}

/* Takes the conditions with subqueries out of those of WHERE or of a join. */
static List *
take_conditions(Node **quals)
{
	List	   *kept = NIL;
	List	   *taken = NIL;

	foreach_ptr(Node, conjunct, dp_conjuncts(*quals))
	{
		if (checkExprHasSubLink(conjunct))
			taken = lappend(taken, conjunct);
		else
			kept = lappend(kept, conjunct);
	}
	*quals = kept ? (Node *) make_ands_explicit(kept) : NULL;
	return taken;
}

/*
 * Computes the subqueries in the condition of a join that are values of their
 * own beside one of its sides, of an outer join that all of whose rows stay.
 */
static void
join_beside(DpSublinks *v, JoinExpr *join)
{
	Query	   *query = v->from->query;
	FromExpr   *level = query->jointree;
	Node	  **side = join->jointype == JOIN_RIGHT ? &join->rarg : &join->larg;
	bool		found = false;

	if (dp_walk(join->quals, is_other_sublink, &found) || !found)
		return;
	/* what is joined comes into this FROM */
	query->jointree = makeFromExpr(list_make1(*side), NULL);
	join->quals = dp_replace_sublinks(join->quals, v);
	*side = (Node *) query->jointree;
	query->jointree = level;
}

/* Returns where a subquery in a condition is written. */
static DpWalk
find_sublink(Node *node, int levels, int *location)
{
	if (IsA(node, SubLink))
		*location = ((SubLink *) node)->location;
	return IsA(node, SubLink);
}

/* Refuses a subquery that stays in the condition of an outer join, beside which it cannot stand. */
static void
refuse_in_outer_join(DpSource *s, JoinExpr *join)
{
	DpSplitContext *cxt = s->cxt;
	int			where = -1;

	(void) dp_walk(join->quals, find_sublink, &where);
	dp_refuse_at(where >= 0 ? where : s->level->where,
				 errmsg("a subquery in the condition of an outer join must name no row around it; join a subquery: LEFT JOIN (SELECT ... FROM ... WHERE EXISTS (...)) ... ON ..."));
}

static void
sublinks_of_joins(DpSublinks *v, Node *node, bool inner, List **taken)
{
	JoinExpr   *join = (JoinExpr *) node;

	check_stack_depth();
	if (IsA(node, FromExpr))
		foreach_ptr(Node, item, ((FromExpr *) node)->fromlist)
			sublinks_of_joins(v, item, inner, taken);
	if (!IsA(node, JoinExpr))
		return;
	sublinks_of_joins(v, join->larg, inner && (join->jointype == JOIN_INNER || join->jointype == JOIN_LEFT), taken);
	sublinks_of_joins(v, join->rarg, inner && (join->jointype == JOIN_INNER || join->jointype == JOIN_RIGHT), taken);
	/* above it rows are at most repeated, or have more columns */
	if (join->jointype == JOIN_INNER && inner)
		*taken = list_concat(*taken, take_conditions(&join->quals));
	else if (join->jointype != JOIN_FULL && checkExprHasSubLink(join->quals))
	{
		join_beside(v, join);
		if (checkExprHasSubLink(join->quals))
			refuse_in_outer_join(v->s, join);
	}
}

void
dp_join_sublinks_of_joins(DpSource *s, DpScope *scope, DpFrom *from)
{
	DpSublinks	v = {s, scope, from};
	List	   *taken = NIL;

	dp_put_known_parts(from->query);
	sublinks_of_joins(&v, (Node *) from->query->jointree, true, &taken);
	foreach_ptr(Node, item, taken)
		dp_add_conjunct(from->query, item);
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
put_aggregating(Node *node, int levels, DpSublinks *v)
{
	int			number;

	if (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == 0)
		return replace_in_aggregate(v, (Aggref *) node);
	number = dp_position_of(v->keys, node);
	if (number >= 0)
		return copyObject(list_nth(v->key_values, number));
	return IsA(node, SubLink) ? node : NULL;
}

/* Replaces subqueries in what a query groups by, wherever it shows that, and in its aggregates. */
static void
join_of_aggregating(DpSublinks *v, Query *query)
{
	foreach_ptr(SortGroupClause, clause, query->groupClause)
	{
		TargetEntry *tle = get_sortgroupclause_tle(clause, query->targetList);

		if (!checkExprHasSubLink((Node *) tle->expr))
			continue;
		v->keys = lappend(v->keys, tle->expr);
		tle->expr = (Expr *) dp_replace_sublinks((Node *) tle->expr, v);
		v->key_values = lappend(v->key_values, tle->expr);
	}
	query->targetList = (List *) dp_put(query->targetList, put_aggregating, v);
	query->havingQual = dp_put(query->havingQual, put_aggregating, v);
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

	if (query->jointree == NULL || query->jointree->fromlist == NIL)
		return;
	dp_put_known_parts_of_values(query);
	if (!checkExprHasSubLink((Node *) query->targetList) && !checkExprHasSubLink(query->havingQual))
		return;
	/* those are for dp_join_sublinks */
	conditions = take_conditions(&query->jointree->quals);
	replace_in_values(&v);
	foreach_ptr(Node, condition, conditions)
		dp_add_conjunct(query, condition);
}

Bitmapset *
dp_join_released_values(DpSplitContext *cxt, DpScope *scope)
{
	Query	   *query = scope->query;
	DpSource	s = {.cxt = cxt};
	DpFrom		from = {.query = query};
	DpSublinks	v = {&s, scope, &from, .releases = true};
	RangeTblEntry *base;
	List	   *conditions;
	ListCell   *lc;

	if (query->commandType != CMD_SELECT || query->setOperations != NULL ||
		query->jointree->fromlist == NIL || dp_reads_rows(scope, dp_aggregates_privately(query), &base) != 0)
		return NULL;
	dp_write_out_laterals(scope, &from, NULL);
	if (!query->hasSubLinks)
		return from.once;
	conditions = take_conditions(&query->jointree->quals);
	replace_in_values(&v);
	foreach(lc, conditions)
	{
		v.truth = true;
		lfirst(lc) = dp_replace_sublinks(lfirst(lc), &v);
	}
	foreach_ptr(Node, condition, conditions)
		dp_add_conjunct(query, condition);
	return bms_difference(from.once, v.or_null);
}
