/*-------------------------------------------------------------------------
 *
 * set_operations.c
 *	  UNION, EXCEPT and INTERSECT of protected rows.
 *
 * The rows of a UNION ALL are those of its operands, each of which is read as
 * a subquery by itself (subquery.c) and hands up what names the unit of its
 * rows, in columns behind the others; union_all.c puts them together again.
 * All other operations are written here as that and what is read anyway:
 *
 * - A UNION B is SELECT DISTINCT of A UNION ALL B;
 * - A EXCEPT B is SELECT DISTINCT of A WHERE NOT EXISTS a row of B with the same
 *	 columns, A INTERSECT B the same with EXISTS.
 *
 * DISTINCT is within a unit only where the columns tell the unit, as anywhere in
 * subqueries.
 *
 * Invariants:
 * - Rows of every operand are protected ones, but for those of the second one of
 *	 EXCEPT and INTERSECT, which only tell which rows stay.
 * - Columns of different types are cast in the operands, where casts are vetted;
 *	 nothing is left to the planner.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------------
 * Operands
 * ------------------------------------------------------------------------
 */

static bool
is_union_all(Node *node)
{
	SetOperationStmt *op = (SetOperationStmt *) node;

	return IsA(node, SetOperationStmt) && op->op == SETOP_UNION && op->all;
}

bool
dp_is_union_all(Node *node)
{
	check_stack_depth();
	return IsA(node, RangeTblRef) ||
		(is_union_all(node) && dp_is_union_all(((SetOperationStmt *) node)->larg) && dp_is_union_all(((SetOperationStmt *) node)->rarg));
}

/* Moves operands and what they make into another query, as its entries; returns them with their new numbers. */
static Node *
move_operands(Node *node, Query *from, Query *to)
{
	check_stack_depth();
	if (IsA(node, RangeTblRef))
	{
		RangeTblEntry *rte = rt_fetch(((RangeTblRef *) node)->rtindex, from->rtable);

		to->rtable = lappend(to->rtable, copyObject(rte));
		dp_clear_rte(rte);
		return (Node *) dp_make(RangeTblRef, .rtindex = list_length(to->rtable));
	}
	else
	{
		SetOperationStmt *op = copyObject((SetOperationStmt *) node);

		op->larg = move_operands(((SetOperationStmt *) node)->larg, from, to);
		op->rarg = move_operands(((SetOperationStmt *) node)->rarg, from, to);
		return (Node *) op;
	}
}

static Index
first_operand(Node *node)
{
	while (IsA(node, SetOperationStmt))
		node = ((SetOperationStmt *) node)->larg;
	return ((RangeTblRef *) node)->rtindex;
}

List *
dp_operation_targets(Index rti, SetOperationStmt *op, List *targets)
{
	List	   *result = NIL;
	ListCell   *type,
			   *typmod,
			   *collation;

	forthree(type, op->colTypes, typmod, op->colTypmods, collation, op->colCollations)
	{
		int			resno = foreach_current_index(type) + 1;

		result = lappend(result, makeTargetEntry((Expr *) makeVar(rti, resno, lfirst_oid(type), lfirst_int(typmod),
																  lfirst_oid(collation), 0),
												 resno, get_tle_by_resno(targets, resno)->resname, false));
	}
	return result;
}

void
dp_cast_columns(Query *operand, SetOperationStmt *op)
{
	if (operand->setOperations || operand->groupClause || operand->distinctClause || operand->windowClause || operand->hasAggs)
		return;
	foreach_ptr(TargetEntry, tle, operand->targetList)
	{
		Oid			type;
		Node	   *cast;

		if (tle->resjunk)
			continue;
		type = list_nth_oid(op->colTypes, tle->resno - 1);
		if (exprType((Node *) tle->expr) == type)
			continue;
		cast = coerce_to_common_type(NULL, (Node *) tle->expr, type, "UNION");
		tle->expr = (Expr *) applyRelabelType(cast, type, exprTypmod(cast), list_nth_oid(op->colCollations, tle->resno - 1),
											  COERCE_IMPLICIT_CAST, -1, false);
	}
}

void
dp_refuse_operand_types(DpSplitContext *cxt, int location, int column, Oid a, Oid b)
{
	dp_refuse_at(location,
				 errmsg("column %d of a UNION of protected rows is of the types %s and %s; write a cast in each SELECT",
						column, format_type_be(a), format_type_be(b)));
}

/* Returns an operand of the query as a query, one level below it. */
static Query *
operand_query(Query *query, Node *operand)
{
	Query	   *result;

	if (IsA(operand, RangeTblRef))
		return rt_fetch(((RangeTblRef *) operand)->rtindex, query->rtable)->subquery;
	result = dp_new_select();
	result->setOperations = move_operands(operand, query, result);
	result->jointree = makeFromExpr(NIL, NULL);
	result->targetList = dp_operation_targets(first_operand(result->setOperations), (SetOperationStmt *) operand,
											  query->targetList);
	/* they are one level further down */
	foreach_ptr(RangeTblEntry, rte, result->rtable)
		IncrementVarSublevelsUp((Node *) rte->subquery, 1, 1);
	return result;
}

/* Makes an operand that is no UNION ALL an entry of its own; returns it, or the UNION ALL with such operands. */
static Node *
separate_operands(Query *query, Node *node)
{
	if (is_union_all(node))
	{
		SetOperationStmt *op = (SetOperationStmt *) node;

		check_stack_depth();
		op->larg = separate_operands(query, op->larg);
		op->rarg = separate_operands(query, op->rarg);
		return node;
	}
	if (IsA(node, RangeTblRef))
		return node;
	query->rtable = lappend(query->rtable, dp_subquery_entry(operand_query(query, node), DP_OPERAND));
	return dp_entry_ref(list_length(query->rtable));
}

/* ------------------------------------------------------------------------
 * Operations that compare rows
 * ------------------------------------------------------------------------
 */

/* Makes SELECT DISTINCT of the columns of its first entry, by the equalities of the operation. */
static Query *
select_distinct(Query *operand, SetOperationStmt *op, List *targets)
{
	Query	   *query = dp_select_from(dp_subquery_entry(operand, DP_OPERAND));
	ListCell   *lc,
			   *clause;

	query->targetList = dp_operation_targets(1, op, targets);
	forboth(lc, query->targetList, clause, op->groupClauses)
	{
		TargetEntry *tle = lfirst(lc);
		SortGroupClause *key = copyObject(lfirst_node(SortGroupClause, clause));

		key->tleSortGroupRef = tle->ressortgroupref = tle->resno;
		query->distinctClause = lappend(query->distinctClause, key);
	}
	return query;
}

/* Makes the condition that a column of entry 1 has the value of the outer query's entry 1, or both are NULL. */
static Expr *
same_value(TargetEntry *tle, Oid opno, bool never_null)
{
	Var		   *inner = castNode(Var, tle->expr);
	Var		   *outer = copyObject(inner);
	Oid			left,
				right;
	Expr	   *same;

	outer->varlevelsup = 1;
	op_input_types(opno, &left, &right);
	same = (Expr *) dp_make_comparison(opno, dp_as_argument(inner, left), dp_as_argument(outer, right), inner->varcollid);
	if (never_null)
		return same;
	NodeSetTag(same, T_DistinctExpr);
	return makeBoolExpr(NOT_EXPR, list_make1(same), -1);
}

/* Adds to the query of an operand's rows the condition that EXISTS, or not, a row of the other with the same columns. */
static void
add_existence(DpScope *scope, Query *query, Query *other, SetOperationStmt *op)
{
	DpScope		inner = {query, scope};
	Query	   *rows = dp_select_from(dp_subquery_entry(other, DP_OPERAND));
	Node	   *exists;
	List	   *conditions = NIL;
	ListCell   *lc,
			   *clause;

	IncrementVarSublevelsUp((Node *) other, 1, 1);
	forboth(lc, query->targetList, clause, op->groupClauses)
	{
		TargetEntry *tle = lfirst(lc);

		/* rows whose unit is NULL are nobody's */
		bool		never_null = dp_is_unit_origin(&inner, (Node *) tle->expr, true) || dp_is_never_null(query, (Node *) tle->expr);

		conditions = lappend(conditions, same_value(tle, ((SortGroupClause *) lfirst(clause))->eqop, never_null));
	}
	rows->jointree->quals = (Node *) make_ands_explicit(conditions);
	exists = dp_exists(rows);
	query->hasSubLinks = true;
	query->jointree->quals = op->op == SETOP_EXCEPT ? (Node *) makeBoolExpr(NOT_EXPR, list_make1(exists), -1) : exists;
}

/* Returns an operand, its columns of the types of the operation. */
static Query *
typed_operand(DpSplitContext *cxt, Query *sub, Node *node, SetOperationStmt *op)
{
	Query	   *operand = operand_query(sub, node);
	ListCell   *lc,
			   *type;

	dp_cast_columns(operand, op);
	forboth(lc, operand->targetList, type, op->colTypes)
	{
		Node	   *expr = (Node *) ((TargetEntry *) lfirst(lc))->expr;

		if (exprType(expr) != lfirst_oid(type))
			dp_refuse_operand_types(cxt, exprLocation(expr), foreach_current_index(lc) + 1, exprType(expr), lfirst_oid(type));
	}
	return operand;
}

/* Keeps equal rows of a UNION's operands: it leaves them out itself. */
static void
keep_all(Node *node)
{
	SetOperationStmt *op = (SetOperationStmt *) node;

	check_stack_depth();
	if (!IsA(node, SetOperationStmt) || op->op != SETOP_UNION)
		return;
	op->all = true;
	keep_all(op->larg);
	keep_all(op->rarg);
}

/* Refuses an operand whose rows are not protected ones. */
static void
require_rows(DpSource *s, DpScope *scope, RangeTblEntry *rte)
{
	DpSplitContext *cxt = s->cxt;

	if (!dp_entry_yields_rows(scope, rte, s->even_if_readable))
		dp_refuse_at(exprLocation((Node *) rte->subquery->targetList),
					 errmsg("a SELECT of a UNION, EXCEPT or INTERSECT has rows that belong to nobody; release the protected rows alone, and combine the released rows"));
}

Query *
dp_write_out_operation(DpSource *s, DpScope *scope)
{
	DpSplitContext *cxt = s->cxt;
	Query	   *sub = scope->query;
	DpScope		inner = {NULL, scope->outer};
	SetOperationStmt *op = (SetOperationStmt *) sub->setOperations;
	List	   *targets = sub->targetList;
	Query	   *query;

	if (is_union_all((Node *) op))
	{
		sub->setOperations = separate_operands(sub, (Node *) op);
		return sub;
	}
	if (op->op == SETOP_UNION)
	{
		keep_all((Node *) op);
		sub->setOperations = separate_operands(sub, (Node *) op);
		sub->sortClause = NIL;
		query = select_distinct(sub, op, targets);
		IncrementVarSublevelsUp((Node *) sub, 1, 1);
		return query;
	}
	if (op->all)
		dp_refuse_at(exprLocation((Node *) targets),
					 errmsg("EXCEPT ALL and INTERSECT ALL of protected rows are not releasable; leave ALL out"));
	query = select_distinct(typed_operand(cxt, sub, op->larg, op), op, targets);
	query->cteList = sub->cteList;
	inner.query = query;
	/* those of the second only tell which rows stay */
	require_rows(s, &inner, linitial(query->rtable));
	add_existence(scope->outer, query, typed_operand(cxt, sub, op->rarg, op), op);
	return query;
}

/* ------------------------------------------------------------------------
 * Operands of a UNION ALL
 * ------------------------------------------------------------------------
 */

static List *
operands_of(Node *node)
{
	SetOperationStmt *op = (SetOperationStmt *) node;

	check_stack_depth();
	return IsA(node, RangeTblRef) ? list_make1_int(((RangeTblRef *) node)->rtindex)
		: list_concat(operands_of(op->larg), operands_of(op->rarg));
}

List *
dp_operands(Query *sub)
{
	return operands_of(sub->setOperations);
}

const Bitmapset *
dp_prepare_operands(DpSource *s, DpScope *scope, const Bitmapset *columns)
{
	Query	   *sub = scope->query;
	SetOperationStmt *op = castNode(SetOperationStmt, sub->setOperations);
	bool		keeps_rows = true;
	Bitmapset  *all = NULL;

	foreach_int(item, dp_operands(sub))
	{
		RangeTblEntry *rte = rt_fetch(item, sub->rtable);
		Query	   *operand = rte->subquery;

		require_rows(s, scope, rte);
		keeps_rows &= operand->setOperations == NULL && operand->groupClause == NIL && operand->distinctClause == NIL;
		dp_cast_columns(operand, op);
	}
	for (int i = 1; i <= list_length(op->colTypes); i++)
		all = bms_add_member(all, i);
	/* keys of groups stay where nobody reads them, too */
	return keeps_rows ? columns : all;
}
