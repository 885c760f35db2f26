/*-------------------------------------------------------------------------
 *
 * plain_query.c
 *	  Most queries have nothing that the guard may change: one look tells.
 *
 * Every query of every role is looked at, so that this takes few
 * instructions: test/t/bystanders.pl counts them.  The nodes of which most
 * queries consist are visited here; PostgreSQL's walker visits the others.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "base/compat.h"
#include "catalog/pg_class_d.h"
#include "guard/guard.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "policy/closed.h"

static bool
reads_pg_class(const Query *query)
{
	foreach_ptr(RangeTblEntry, rte, query->rtable)
		if (rte->relid == RelationRelationId)
		return true;
	return false;
}

/* Tells whether a call may be inlined, written in simpler terms, or masked. */
static bool
may_change(FuncExpr *call)
{
	const char *told;

	return call->funcid >= FirstNormalObjectId || dp_is_bucket_of_array((Node *) call) || dp_mask_of(call->funcid, &told) != DP_MASK_NONE;
}

/* Tells whether a query has expressions nowhere but in its target list, FROM and WHERE. */
static bool
is_simple(const Query *query)
{
	if (query->commandType != CMD_SELECT || query->utilityStmt != NULL || query->cteList != NIL || query->havingQual != NULL ||
		query->windowClause != NIL || query->limitOffset != NULL || query->limitCount != NULL || query->setOperations != NULL ||
		query->hasSubLinks)
		return false;
	foreach_ptr(RangeTblEntry, rte, query->rtable)
	{
		if (rte->rtekind != RTE_RELATION || rte->tablesample != NULL || rte->securityQuals != NIL)
			return false;
	}
	return true;
}

static bool change_walker(Node *node, void *context);

static inline bool
is_leaf(Node *node)
{
	return node == NULL || IsA(node, Var) || IsA(node, Const) || IsA(node, Param) || IsA(node, RangeTblRef);
}

static bool
any_may_change(List *nodes, void *context)
{
	foreach_ptr(Node, node, nodes)
	{
		if (node != NULL && IsA(node, TargetEntry))
			node = (Node *) ((TargetEntry *) node)->expr;
		if (!is_leaf(node) && change_walker(node, context))
			return true;
	}
	return false;
}

static bool
change_walker(Node *node, void *context)
{
	Query	   *query;

	if (is_leaf(node))
		return false;
	check_stack_depth();
	switch (nodeTag(node))
	{
		case T_List:
			return any_may_change((List *) node, context);
		case T_OpExpr:
		case T_DistinctExpr:
			return ((OpExpr *) node)->opno >= FirstNormalObjectId || any_may_change(((OpExpr *) node)->args, context);
		case T_ScalarArrayOpExpr:
			return ((ScalarArrayOpExpr *) node)->opno >= FirstNormalObjectId || any_may_change(((ScalarArrayOpExpr *) node)->args, context);
		case T_BoolExpr:
			return any_may_change(((BoolExpr *) node)->args, context);
		case T_FuncExpr:
			return may_change((FuncExpr *) node) || any_may_change(((FuncExpr *) node)->args, context);
		case T_FromExpr:
			return any_may_change(((FromExpr *) node)->fromlist, context) || change_walker(((FromExpr *) node)->quals, context);
		case T_Query:
			query = (Query *) node;
			if (reads_pg_class(query))
				return true;
			if (is_simple(query))
				return any_may_change(query->targetList, context) || change_walker((Node *) query->jointree, context);
			return query_tree_walker(query, change_walker, context, 0);
		default:
			return expression_tree_walker(node, change_walker, context);
	}
}

bool
dp_is_plain_query(Query *query)
{
	return !change_walker((Node *) query, NULL);
}
