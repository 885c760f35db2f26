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
#include "base/distributed.h"
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

static bool change_walker(Node *node, void *context);

static inline bool
is_leaf(Node *node)
{
	return node == NULL || IsA(node, Var) || IsA(node, Const) || IsA(node, Param) || IsA(node, RangeTblRef);
}

static inline bool
node_may_change(Node *node)
{
	return !is_leaf(node) && change_walker(node, NULL);
}

/* Tells whether something is to change in any of a list of nodes, the most of which are leaves. */
static inline bool
any_may_change(const List *nodes)
{
	foreach_ptr(Node, node, nodes)
	{
		if (node != NULL && IsA(node, TargetEntry))
			node = (Node *) ((TargetEntry *) node)->expr;
		if (node_may_change(node))
			return true;
	}
	return false;
}

static bool
change_walker(Node *node, void *context)
{
	List	   *parts;

	if (is_leaf(node))
		return false;
	check_stack_depth();
	switch (nodeTag(node))
	{
		case T_List:
			parts = (List *) node;
			break;
		case T_OpExpr:
		case T_DistinctExpr:
			if (((OpExpr *) node)->opno >= FirstNormalObjectId)
				return true;
			parts = ((OpExpr *) node)->args;
			break;
		case T_ScalarArrayOpExpr:
			if (((ScalarArrayOpExpr *) node)->opno >= FirstNormalObjectId)
				return true;
			parts = ((ScalarArrayOpExpr *) node)->args;
			break;
		case T_BoolExpr:
			parts = ((BoolExpr *) node)->args;
			break;
		case T_FuncExpr:
			if (may_change((FuncExpr *) node))
				return true;
			parts = ((FuncExpr *) node)->args;
			break;
		case T_Aggref:
			if (any_may_change(((Aggref *) node)->aggdirectargs) || node_may_change((Node *) ((Aggref *) node)->aggfilter))
				return true;
			parts = ((Aggref *) node)->args;
			break;
		case T_JoinExpr:
			return node_may_change(((JoinExpr *) node)->larg) || node_may_change(((JoinExpr *) node)->rarg) ||
				node_may_change(((JoinExpr *) node)->quals);
		case T_Query:
			return reads_pg_class((Query *) node) || query_tree_walker((Query *) node, change_walker, context, 0);
		default:
			return expression_tree_walker(node, change_walker, context);
	}
	return any_may_change(parts);
}

/* Tells whether an entry has something to look at, or may be protected, held or masked. */
static inline bool
entry_may_change(const RangeTblEntry *rte)
{
	if (rte->rtekind == RTE_JOIN)
		return any_may_change(rte->joinaliasvars);
	return rte->rtekind != RTE_RELATION || !dp_is_known_unprotected(rte->relid) || rte->relid == RelationRelationId ||
		rte->relkind == RELKIND_SEQUENCE || rte->tablesample != NULL || rte->securityQuals != NIL;
}

bool
dp_is_bystander(const Query *query)
{
	if (query->commandType != CMD_SELECT &&
		((query->commandType != CMD_INSERT && query->commandType != CMD_UPDATE && query->commandType != CMD_DELETE) ||
		 query->onConflict != NULL || query->withCheckOptions != NIL || dp_has_citus()))
		return false;
	if (query->hasSubLinks || query->cteList != NIL || query->windowClause != NIL || query->setOperations != NULL ||
		query->utilityStmt != NULL || query->jointree == NULL)
		return false;
	foreach_ptr(RangeTblEntry, rte, query->rtable)
	{
		if (entry_may_change(rte))
			return false;
	}
	return !any_may_change(query->targetList) && !any_may_change(query->jointree->fromlist) &&
		!node_may_change(query->jointree->quals) && !node_may_change(query->havingQual) &&
		!node_may_change(query->limitOffset) && !node_may_change(query->limitCount) &&
		!any_may_change(query->returningList);
}

bool
dp_is_plain_query(Query *query)
{
	return !change_walker((Node *) query, NULL);
}
