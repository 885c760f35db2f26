/*-------------------------------------------------------------------------
 *
 * empty_results.c
 *	  Queries that cannot return a row: how tools learn the columns.
 *
 * SELECT * FROM t WHERE 0 = 1, or LIMIT 0, asks for names and types, which
 * are in the catalogue.  Such a level becomes a SELECT of NULLs without rows,
 * that reads nothing, so that the answer depends on no row and is free.  That
 * there is no row is told by the text of the query alone: by LIMIT and by
 * conditions that are constants, of the level or of what it reads.
 *
 * Some tools ask for LIMIT 1, or for all rows.  With dp_cdp.empty_previews a statement
 * that would be refused as it shows rows has none, for whoever has set that.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/settings.h"
#include "base/walk.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "policy/policy.h"

/* WITH queries that were looked at, each once, however many references lead to it */
typedef struct Looked
{
	List	   *full;
	List	   *empty;
	List	   *readable;
} Looked;

static bool returns_no_row(Looked *l, DpScope *scope);

/* Tells whether one of the condition's conjuncts is false or NULL whatever the rows are. */
static bool
is_never_true(Node *condition)
{
	foreach_ptr(Node, conjunct, dp_conjuncts(condition))
	{
		Const	   *folded;

		if (checkExprHasSubLink(conjunct))
			continue;
		folded = (Const *) eval_const_expressions(NULL, copyObject(conjunct));
		if (IsA(folded, Const) && (folded->constisnull || !DatumGetBool(folded->constvalue)))
			return true;
	}
	return false;
}

static bool
entry_has_no_row(Looked *l, DpScope *scope, RangeTblEntry *rte)
{
	if (rte->rtekind == RTE_SUBQUERY)
	{
		DpScope		inner = {rte->subquery, scope};

		return returns_no_row(l, &inner);
	}
	if (rte->rtekind == RTE_CTE)
	{
		DpScope    *owner;
		CommonTableExpr *cte = dp_find_cte(scope, rte, &owner);
		DpScope		inner = {cte ? (Query *) cte->ctequery : NULL, cte ? owner : NULL};

		if (cte == NULL || list_member_ptr(l->full, cte))
			return false;
		if (list_member_ptr(l->empty, cte))
			return true;
		if (returns_no_row(l, &inner))
		{
			l->empty = lappend(l->empty, cte);
			return true;
		}
		l->full = lappend(l->full, cte);
	}
	return false;
}

static bool
join_tree_has_no_row(Looked *l, DpScope *scope, Node *node)
{
	JoinExpr   *join = (JoinExpr *) node;
	bool		left,
				right;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblRef))
		return entry_has_no_row(l, scope, rt_fetch(((RangeTblRef *) node)->rtindex, scope->query->rtable));
	if (IsA(node, FromExpr))
	{
		foreach_ptr(Node, item, ((FromExpr *) node)->fromlist)
		{
			if (join_tree_has_no_row(l, scope, item))
				return true;
		}
		return is_never_true(((FromExpr *) node)->quals);
	}
	left = join_tree_has_no_row(l, scope, join->larg);
	right = join_tree_has_no_row(l, scope, join->rarg);
	switch (join->jointype)
	{
		case JOIN_INNER:
			return left || right || is_never_true(join->quals);
		case JOIN_LEFT:
			return left;
		case JOIN_RIGHT:
			return right;
		default:
			return left && right;
	}
}

/* Tells whether the operands of UNION and the like leave no row. */
static bool
set_operation_has_no_row(Looked *l, DpScope *scope, Node *node)
{
	SetOperationStmt *op = (SetOperationStmt *) node;
	bool		left,
				right;

	if (IsA(node, RangeTblRef))
		return entry_has_no_row(l, scope, rt_fetch(((RangeTblRef *) node)->rtindex, scope->query->rtable));
	left = set_operation_has_no_row(l, scope, op->larg);
	right = set_operation_has_no_row(l, scope, op->rarg);
	return op->op == SETOP_UNION ? left && right : left || (op->op == SETOP_INTERSECT && right);
}

static bool
returns_no_row(Looked *l, DpScope *scope)
{
	Query	   *query = scope->query;

	check_stack_depth();
	if (query->commandType != CMD_SELECT || query->rowMarks != NIL || query->hasModifyingCTE || query->hasRecursive)
		return false;
	if (dp_rows_of_limit(query->limitCount, PG_INT64_MAX) == 0)
		return true;
	if (query->setOperations)
		return set_operation_has_no_row(l, scope, query->setOperations);
	if (is_never_true(query->havingQual))
		return true;

	/*
	 * of no rows, aggregates make one where there is no key; a grouping set
	 * may be without
	 */
	if (query->groupingSets != NIL || (query->groupClause == NIL && (query->hasAggs || query->havingQual != NULL)))
		return false;
	return join_tree_has_no_row(l, scope, (Node *) query->jointree);
}

/* Finds a table of the query, at any depth, that the calling roles may not read. */
static DpWalk
note_unreadable(Node *node, int levels, Oid *relid)
{
	RangeTblEntry *rte = (RangeTblEntry *) node;

	if (!IsA(node, RangeTblEntry) || rte->rtekind != RTE_RELATION || !dp_is_protected(rte) || dp_may_read(rte->relid))
		return DP_WALK_ON;
	*relid = rte->relid;
	return DP_WALK_STOP;
}

/* Finds such a table also in the WITH queries that the level names. */
static bool
reads_unreadable(Looked *l, DpScope *scope, Oid *relid)
{
	if (dp_walk_all(scope->query, note_unreadable, relid))
		return true;
	foreach_ptr(RangeTblEntry, rte, scope->query->rtable)
	{
		DpScope    *owner;
		CommonTableExpr *cte = rte->rtekind == RTE_CTE ? dp_find_cte(scope, rte, &owner) : NULL;
		DpScope		inner = {cte ? (Query *) cte->ctequery : NULL, cte ? owner : NULL};

		if (cte == NULL || list_member_ptr(l->readable, cte))
			continue;
		if (reads_unreadable(l, &inner, relid))
			return true;
		l->readable = lappend(l->readable, cte);
	}
	return false;
}

/* Makes the query one of NULLs without rows; of its entries tables and views stay, for their privileges. */
static void
make_empty(Query *query)
{
	List	   *targets = NIL;

	dp_flatten_group_keys(query);
	foreach_ptr(TargetEntry, tle, query->targetList)
	{
		Node	   *expr = (Node *) tle->expr;

		if (tle->resjunk)
			continue;
		tle->expr = (Expr *) makeNullConst(exprType(expr), exprTypmod(expr), exprCollation(expr));
		tle->ressortgroupref = 0;
		targets = lappend(targets, tle);
	}
	query->targetList = targets;
	foreach_ptr(RangeTblEntry, rte, query->rtable)
	{
		if (rte->rtekind != RTE_RELATION || dp_is_protected(rte))
			dp_clear_rte(rte);
		rte->tablesample = NULL;
	}
	query->jointree = makeFromExpr(NIL, makeBoolConst(false, false));
	query->setOperations = NULL;
	query->havingQual = NULL;
	query->groupClause = query->groupingSets = NIL;
	query->distinctClause = query->sortClause = query->windowClause = NIL;
	query->limitCount = query->limitOffset = NULL;
	query->limitOption = LIMIT_OPTION_COUNT;
	query->groupDistinct = false;
	query->hasAggs = query->hasWindowFuncs = query->hasTargetSRFs = query->hasDistinctOn = false;
	query->hasSubLinks = query->cteList != NIL;
}

void
dp_answer_without_rows(DpScope *scope)
{
	Looked		l = {NIL};
	Oid			relid;

	if (!returns_no_row(&l, scope) || !reads_unreadable(&l, scope, &relid))
		return;
	/* not a plan for everybody, though nothing is read */
	dp_check_payer(dp_policy_table(relid)->dataset);
	make_empty(scope->query);
}

bool
dp_preview_without_rows(DpScope *scope, Oid relid)
{
	Query	   *query = scope->query;

	if (!dp_guc_empty_previews || scope->outer != NULL || query->commandType != CMD_SELECT || query->rowMarks != NIL || query->cteList != NIL)
		return false;
	dp_check_payer(dp_policy_table(relid)->dataset);
	make_empty(query);
	return true;
}
