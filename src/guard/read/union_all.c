/*-------------------------------------------------------------------------
 *
 * union_all.c
 *	  A UNION ALL of protected rows, put together of operands that were read.
 *
 * Each operand has become a subquery that hands up what names the unit of its
 * rows, in columns behind the others (subquery.c); the new UNION ALL has these
 * columns, too, and its rows the units that they name.
 *
 * Invariants:
 * - The operands' units are of one kind: the same types of columns.
 * - What names the unit in all operands names it in the rows of all of them;
 *	 what names it in some of them alone is forgotten.
 * - The same row may come from several operands, so that a unit may have more
 *	 rows than each of them lets it have.
 * - Nothing is left to the planner: in each column all operands have the type
 *	 and the collation that the operation has.
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
#include "parser/parsetree.h"
#include "utils/builtins.h"

/* ------------------------------------------------------------------------
 * What the operands agree upon
 * ------------------------------------------------------------------------
 */

/* Returns what names the unit of the rows of an operand: Exprs of its columns. */
static List *
unit_targets(Query *operand, const DpFromItem *item)
{
	List	   *result = NIL;

	foreach_node(Var, var, item->unit.exprs)
		result = lappend(result, get_tle_by_resno(operand->targetList, var->varattno));
	return result;
}

/* Refuses units of different kinds. */
static void
check_units(DpSource *s, Query *sub, List *first, List *units, Index rti)
{
	DpSplitContext *cxt = s->cxt;
	int			where = exprLocation((Node *) rt_fetch(rti, sub->rtable)->subquery->targetList);
	ListCell   *a,
			   *b;

	if (list_length(first) != list_length(units))
		dp_refuse_at(where >= 0 ? where : s->level->where,
					 errmsg("a UNION cannot mix rows that are units by themselves with rows of units; release each, and combine the released rows"));
	forboth(a, first, b, units)
	{
		Oid			these = exprType((Node *) ((TargetEntry *) lfirst(a))->expr);
		Oid			those = exprType((Node *) ((TargetEntry *) lfirst(b))->expr);

		if (these != those)
			dp_refuse_at(where >= 0 ? where : s->level->where,
						 errmsg("the SELECTs of a UNION have privacy units of different types, %s and %s; release each, and combine the released rows",
								format_type_be(these), format_type_be(those)));
	}
}

/* Sets what the columns of the operation are, which all operands must agree upon. */
static void
settle_columns(DpSource *s, Query *sub, List *operands, SetOperationStmt *op)
{
	DpSplitContext *cxt = s->cxt;
	List	   *first = rt_fetch(linitial_int(operands), sub->rtable)->subquery->targetList;

	op->colTypes = op->colTypmods = op->colCollations = NIL;
	foreach_ptr(TargetEntry, tle, first)
	{
		Oid			type = exprType((Node *) tle->expr);
		int32		typmod = exprTypmod((Node *) tle->expr);
		Oid			collation = exprCollation((Node *) tle->expr);

		if (tle->resjunk)
			break;
		foreach_int(operand, operands)
		{
			Node	   *expr = (Node *) get_tle_by_resno(rt_fetch(operand, sub->rtable)->subquery->targetList,
														 tle->resno)->expr;

			if (exprType(expr) != type)
				dp_refuse_operand_types(cxt, exprLocation(expr), tle->resno, type, exprType(expr));
			if (exprCollation(expr) != collation)
				dp_refuse_at(exprLocation(expr),
							 errmsg("column %d of a UNION of protected rows has several collations; write COLLATE in each SELECT",
									tle->resno));
			if (exprTypmod(expr) != typmod)
				typmod = -1;
		}
		op->colTypes = lappend_oid(op->colTypes, type);
		op->colTypmods = lappend_int(op->colTypmods, typmod);
		op->colCollations = lappend_oid(op->colCollations, collation);
	}
}

/* ------------------------------------------------------------------------
 * The new operation
 * ------------------------------------------------------------------------
 */

/* Makes a new tree of UNION ALL, with the columns of the model. */
static Node *
rebuild_tree(Node *node, const SetOperationStmt *columns)
{
	check_stack_depth();
	if (IsA(node, RangeTblRef))
	{
		return (Node *) dp_make(RangeTblRef, .rtindex = ((RangeTblRef *) node)->rtindex);
	}
	return (Node *) dp_make(SetOperationStmt, .op = SETOP_UNION, .all = true,
							.larg = rebuild_tree(((SetOperationStmt *) node)->larg, columns),
							.rarg = rebuild_tree(((SetOperationStmt *) node)->rarg, columns),
							.colTypes = list_copy(columns->colTypes),
							.colTypmods = list_copy(columns->colTypmods),
							.colCollations = list_copy(columns->colCollations));
}

static bool
has_column(List *vars, AttrNumber column)
{
	foreach_node(Var, var, vars)
	{
		if (var->varattno == column)
			return true;
	}
	return false;
}

/* Tells whether one of tokens is the same, by the same columns. */
static bool
has_token(List *tokens, const DpToken *token)
{
	foreach_ptr(DpToken, other, tokens)
	{
		ListCell   *a,
				   *b;
		bool		same = other->parent == token->parent && other->index == token->index && equal(other->key, token->key) &&
		list_length(other->vars) == list_length(token->vars);

		if (same)
			forboth(a, other->vars, b, token->vars)
				same &= lfirst_node(Var, a)->varattno == lfirst_node(Var, b)->varattno;
		if (same)
			return true;
	}
	return false;
}

/* Returns the column of the union, entry rti of another query, that is in the place of an operand's column. */
static Var *
union_var(Index rti, List *targets, AttrNumber column)
{
	return makeVarFromTargetEntry(rti, get_tle_by_resno(targets, column));
}

/* Fills the unit of the union's rows: what names it in all operands names it. */
static void
fill_unit(DpFromItem *items, List *operands, List *targets, Index rti, DpRowUnit *unit)
{
	DpRowUnit  *first = &items[linitial_int(operands)].unit;

	foreach_node(Var, item, first->exprs)
		unit->exprs = lappend(unit->exprs, union_var(rti, targets, item->varattno));
	foreach_node(Var, item, first->vars)
	{
		AttrNumber	column = item->varattno;
		bool		in_all = true;

		foreach_int(operand, operands)
			in_all &= has_column(items[operand].unit.vars, column);
		if (in_all)
			unit->vars = lappend(unit->vars, union_var(rti, targets, column));
	}
	foreach_ptr(DpToken, item, first->tokens)
	{
		DpToken    *token = palloc(sizeof(DpToken));
		bool		in_all = true;

		*token = *item;
		foreach_int(operand, operands)
			in_all &= has_token(items[operand].unit.tokens, token);
		if (!in_all)
			continue;
		token->vars = NIL;
		foreach_node(Var, var, item->vars)
			token->vars = lappend(token->vars, union_var(rti, targets, var->varattno));
		unit->tokens = lappend(unit->tokens, token);
	}
	unit->one_row = false;
	unit->may_repeat = true;
}

void
dp_rebuild_union(DpSource *s, RangeTblEntry *rte, Index rti, DpFromItem *items, DpFromItem *item)
{
	Query	   *sub = rte->subquery;
	List	   *operands = dp_operands(sub);
	SetOperationStmt *op = copyObject((SetOperationStmt *) sub->setOperations);
	DpAllowContext allow = {.source_text = s->cxt->source_text, .run_as = s->level->allow.run_as};
	List	   *first = unit_targets(rt_fetch(linitial_int(operands), sub->rtable)->subquery, &items[linitial_int(operands)]);
	int			nshown = list_length(sub->targetList);
	List	   *names = list_copy(sub->targetList);
	List	   *targets;
	Node	   *tree = sub->setOperations;
	Query	   *new;

	foreach_int(operand, operands)
	{
		List	   *units = unit_targets(rt_fetch(operand, sub->rtable)->subquery, &items[operand]);

		foreach_ptr(TargetEntry, unit, units)
			unit->expr = dp_as_base_type(unit->expr);
		check_units(s, sub, first, units, operand);
		allow.rtindexes = bms_add_member(allow.rtindexes, operand);
	}
	settle_columns(s, sub, operands, op);
	foreach_ptr(TargetEntry, tle, first)
	{
		rte->eref->colnames = lappend(rte->eref->colnames, makeString(tle->resname));
		names = lappend(names, makeTargetEntry(NULL, list_length(names) + 1, tle->resname, false));
	}
	dp_rebuild_entries(s, sub, allow.rtindexes);
	sub->setOperations = NULL;
	sub->sortClause = NIL;
	sub->jointree = makeFromExpr(NIL, NULL);
	targets = dp_operation_targets(linitial_int(operands), op, names);
	/* units may be of any type */
	sub->targetList = list_copy_head(targets, nshown);
	allow.rtable = sub->rtable;
	rte->subquery = new = dp_rebuild_subquery(s->cxt, sub, &allow);
	new->targetList = list_concat(new->targetList, list_copy_tail(targets, nshown));
	new->setOperations = rebuild_tree(tree, op);
	item->is_private = true;
	fill_unit(items, operands, new->targetList, rti, &item->unit);
}
