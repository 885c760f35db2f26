/*-------------------------------------------------------------------------
 *
 * near_columns.c
 *	  Columns of a subquery in the place of those of the level around it that equal them, so that fewer of its own
 *	  subqueries name levels further out.
 *
 *	 r.k = t.k AND EXISTS (SELECT FROM s WHERE s.k = t.k)
 *	   r.k = t.k AND EXISTS (SELECT FROM s WHERE s.k = r.k)
 *	 FROM r, LATERAL (VALUES (r.x), (t.k)) v WHERE r.k = t.k
 *	   FROM r, LATERAL (VALUES (r.x), (r.k)) v WHERE r.k = t.k
 *
 * Invariant: a column is put in the place of another only where values that are equal are the same.
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
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

typedef struct NearContext
{
	List	   *far;			/* Vars of the level around the subquery ... */
	List	   *near;			/* ... and those of the subquery that equal
								 * them */
} NearContext;

bool
dp_equal_is_same(Var *var)
{
	switch (var->vartype)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case UUIDOID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return true;
		case TEXTOID:
		case VARCHAROID:
			return OidIsValid(var->varcollid) && get_collation_isdeterministic(var->varcollid);
		default:
			return false;
	}
}

/* Notes the columns of a condition that is an equality of one of the subquery's and one of the level's around it. */
static void
note_equality(NearContext *c, Node *condition)
{
	DpComparison compared;

	for (int side = 0; side < 2 && dp_read_side(condition, side, &compared); side++)
	{
		Var		   *near = (Var *) dp_strip_relabel(compared.left);
		Var		   *far = (Var *) dp_strip_relabel(compared.right);

		if (!IsA(near, Var) || !IsA(far, Var) || near->varlevelsup != 0 || far->varlevelsup != 1 ||
			near->vartype != far->vartype || near->varcollid != far->varcollid ||
			!dp_compares_groups(&compared, (Node *) near) || !dp_equal_is_same(near))
			continue;
		c->far = lappend(c->far, far);
		c->near = lappend(c->near, near);
	}
}

static Node *
put_near(Node *node, int levels, const NearContext *c)
{
	Var		   *var = (Var *) node;
	ListCell   *far,
			   *near;

	if (!IsA(node, Var) || var->varlevelsup != levels + 1)
		return NULL;
	forboth(far, c->far, near, c->near)
	{
		Var		   *same;

		if (((Var *) lfirst(far))->varno != var->varno || ((Var *) lfirst(far))->varattno != var->varattno)
			continue;
		same = copyObject((Var *) lfirst(near));
		same->varlevelsup = levels;
		return (Node *) same;
	}
	return NULL;
}

Node *
dp_put_near(Node *node, List *far, List *near)
{
	NearContext c = {far, near};

	return dp_put_all(node, put_near, &c);
}

static DpWalk
is_outer_join(Node *node, int levels, void *context)
{
	return IsA(node, JoinExpr) && ((JoinExpr *) node)->jointype != JOIN_INNER;
}

/* Lets what entries of LATERAL name further out be columns of entries before them, which they see where all joins are inner ones. */
static void
bring_near_entries(Query *sub, const NearContext *all)
{
	ListCell   *far,
			   *near;

	if (dp_walk(sub->jointree, is_outer_join, NULL))
		return;
	foreach_ptr(RangeTblEntry, rte, sub->rtable)
	{
		Index		rti = foreach_current_index(rte) + 1;
		NearContext c = {0};

		forboth(far, all->far, near, all->near)
		{
			if (lfirst_node(Var, near)->varno >= rti)
				continue;
			c.far = lappend(c.far, lfirst(far));
			c.near = lappend(c.near, lfirst(near));
		}
		if (rte->rtekind == RTE_SUBQUERY && rte->lateral)
			rte->subquery = linitial_node(Query, (List *) dp_put_all(list_make1(rte->subquery), put_near, &c));
		else if (rte->rtekind == RTE_FUNCTION && rte->lateral)
			rte->functions = (List *) dp_put_all(rte->functions, put_near, &c);
	}
}

void
dp_bring_near(Query *sub)
{
	NearContext c = {0};
	List	   *conditions;
	ListCell   *lc;

	dp_flatten_level(sub);
	conditions = dp_conjuncts(sub->jointree->quals);
	foreach_ptr(Node, condition, conditions)
		note_equality(&c, condition);
	if (c.far == NIL)
		return;
	foreach(lc, conditions)
	{
		if (checkExprHasSubLink(lfirst(lc)))
			lfirst(lc) = dp_put_all(lfirst(lc), put_near, &c);
	}
	sub->jointree->quals = (Node *) make_ands_explicit(conditions);
	bring_near_entries(sub, &c);
}
