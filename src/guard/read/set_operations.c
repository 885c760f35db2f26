/*-------------------------------------------------------------------------
 *
 * set_operations.c
 *	  UNION, EXCEPT and INTERSECT of protected rows.
 *
 * The rows of a UNION ALL are those of its operands, each of which is read as
 * a subquery by itself (subquery.c) and hands up what names the unit of its
 * rows, in columns behind the others; here the operands are put together
 * again, as a new UNION ALL.  All other operations are written as that and
 * what is read anyway:
 *
 * - A UNION B is SELECT DISTINCT of A UNION ALL B;
 * - A EXCEPT B is SELECT DISTINCT of A WHERE NOT EXISTS a row of B with the same
 *	 columns, A INTERSECT B the same with EXISTS.
 *
 * DISTINCT is within a unit only where the columns tell the unit, as anywhere in
 * subqueries.
 *
 * Invariants:
 * - The operands' units are of one kind: the same types of columns.
 * - The same row may come from several operands, so that a unit may have more
 *	 rows than each of them lets it have.
 * - Columns of different types are cast in the operands, where casts are vetted;
 *	 nothing is left to the planner.
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
#include "policy/policy.h"
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

/* Moves operands and what they make into another query, as its entries; returns them with their new numbers. */
static Node *
move_operands(Node *node, Query *from, Query *to)
{
	check_stack_depth();
	if (IsA(node, RangeTblRef))
	{
		RangeTblRef *ref = makeNode(RangeTblRef);
		RangeTblEntry *rte = rt_fetch(((RangeTblRef *) node)->rtindex, from->rtable);

		to->rtable = lappend(to->rtable, copyObject(rte));
		dp_clear_rte(rte);
		ref->rtindex = list_length(to->rtable);
		return (Node *) ref;
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

/* Makes Vars of entry rti for the columns of a set operation, with the names of targets. */
static List *
operation_targets(Index rti, SetOperationStmt *op, List *targets)
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

/* Makes columns below the operation of one type above it what they are above; an operand that groups stays as it is. */
static void
cast_columns(Query *operand, SetOperationStmt *op)
{
	ListCell   *lc;

	if (operand->setOperations || operand->groupClause || operand->distinctClause || operand->windowClause || operand->hasAggs)
		return;
	foreach(lc, operand->targetList)
	{
		TargetEntry *tle = lfirst(lc);
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

static void
refuse_types(DpSplitContext *cxt, int location, int column, Oid a, Oid b)
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
	ListCell   *lc;

	if (IsA(operand, RangeTblRef))
		return rt_fetch(((RangeTblRef *) operand)->rtindex, query->rtable)->subquery;
	result = dp_new_select();
	result->setOperations = move_operands(operand, query, result);
	result->jointree = makeFromExpr(NIL, NULL);
	result->targetList = operation_targets(first_operand(result->setOperations), (SetOperationStmt *) operand,
										   query->targetList);
	/* they are one level further down */
	foreach(lc, result->rtable)
		IncrementVarSublevelsUp((Node *) ((RangeTblEntry *) lfirst(lc))->subquery, 1, 1);
	return result;
}

/* Makes an operand that is no UNION ALL an entry of its own; returns it, or the UNION ALL with such operands. */
static Node *
separate_operands(Query *query, Node *node)
{
	RangeTblRef *ref;

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
	ref = makeNode(RangeTblRef);
	query->rtable = lappend(query->rtable, dp_subquery_entry(operand_query(query, node), "operation"));
	ref->rtindex = list_length(query->rtable);
	return (Node *) ref;
}

/* ------------------------------------------------------------------------
 * Operations that compare rows
 * ------------------------------------------------------------------------
 */

/* Makes SELECT DISTINCT of the columns of its first entry, by the equalities of the operation. */
static Query *
select_distinct(Query *operand, SetOperationStmt *op, List *targets)
{
	Query	   *query = dp_new_select();
	RangeTblRef *ref = makeNode(RangeTblRef);
	ListCell   *lc,
			   *clause;

	query->rtable = list_make1(dp_subquery_entry(operand, "operation"));
	ref->rtindex = 1;
	query->jointree = makeFromExpr(list_make1(ref), NULL);
	query->targetList = operation_targets(1, op, targets);
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
	same = make_opclause(opno, BOOLOID, false, dp_as_argument(inner, left), dp_as_argument(outer, right),
						 InvalidOid, inner->varcollid);
	set_opfuncid((OpExpr *) same);
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
	Query	   *rows = dp_new_select();
	RangeTblRef *ref = makeNode(RangeTblRef);
	SubLink    *exists = makeNode(SubLink);
	List	   *conditions = NIL;
	ListCell   *lc,
			   *clause;

	IncrementVarSublevelsUp((Node *) other, 1, 1);
	rows->rtable = list_make1(dp_subquery_entry(other, "other"));
	ref->rtindex = 1;
	forboth(lc, query->targetList, clause, op->groupClauses)
	{
		TargetEntry *tle = lfirst(lc);
		/* rows whose unit is NULL are nobody's */
		bool		never_null = dp_is_unit_of_rows(&inner, (Node *) tle->expr) || dp_is_never_null(query, (Node *) tle->expr);

		conditions = lappend(conditions, same_value(tle, ((SortGroupClause *) lfirst(clause))->eqop, never_null));
	}
	rows->jointree = makeFromExpr(list_make1(ref), (Node *) make_ands_explicit(conditions));
	exists->subLinkType = EXISTS_SUBLINK;
	exists->subselect = (Node *) rows;
	exists->location = -1;
	query->hasSubLinks = true;
	query->jointree->quals = op->op == SETOP_EXCEPT ? (Node *) makeBoolExpr(NOT_EXPR, list_make1(exists), -1)
		: (Node *) exists;
}

/* Returns an operand, its columns of the types of the operation. */
static Query *
typed_operand(DpSplitContext *cxt, Query *sub, Node *node, SetOperationStmt *op)
{
	Query	   *operand = operand_query(sub, node);
	ListCell   *lc,
			   *type;

	cast_columns(operand, op);
	forboth(lc, operand->targetList, type, op->colTypes)
	{
		Node	   *expr = (Node *) ((TargetEntry *) lfirst(lc))->expr;

		if (exprType(expr) != lfirst_oid(type))
			refuse_types(cxt, exprLocation(expr), foreach_current_index(lc) + 1, exprType(expr), lfirst_oid(type));
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
					 errmsg("a SELECT of a UNION, EXCEPT or INTERSECT of protected rows has rows that belong to nobody; "
							"release the protected rows in a query of their own, and combine the released rows"));
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
 * UNION ALL
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
	ListCell   *lc;

	foreach(lc, dp_operands(sub))
	{
		RangeTblEntry *rte = rt_fetch(lfirst_int(lc), sub->rtable);
		Query	   *operand = rte->subquery;

		require_rows(s, scope, rte);
		keeps_rows &= operand->setOperations == NULL && operand->groupClause == NIL && operand->distinctClause == NIL;
		cast_columns(operand, op);
	}
	for (int i = 1; i <= list_length(op->colTypes); i++)
		all = bms_add_member(all, i);
	/* keys of groups stay where nobody reads them, too */
	return keeps_rows ? columns : all;
}

/* Returns what names the unit of the rows of an operand: Exprs of its columns. */
static List *
unit_targets(Query *operand, const DpFromItem *item)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, item->unit.exprs)
		result = lappend(result, get_tle_by_resno(operand->targetList, lfirst_node(Var, lc)->varattno));
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
					 errmsg("rows that are privacy units by themselves cannot be in one UNION with rows of units that a column names; "
							"release each, and combine the released rows"));
	forboth(a, first, b, units)
	{
		Oid			these = exprType((Node *) ((TargetEntry *) lfirst(a))->expr);
		Oid			those = exprType((Node *) ((TargetEntry *) lfirst(b))->expr);

		if (these != those)
			dp_refuse_at(where >= 0 ? where : s->level->where,
						 errmsg("the privacy units of the SELECTs of a UNION are of the types %s and %s and cannot be told apart together; "
								"release each, and combine the released rows",
								format_type_be(these), format_type_be(those)));
	}
}

/* Sets what the columns of the operation are, which all operands must agree upon. */
static void
settle_columns(DpSource *s, Query *sub, List *operands, SetOperationStmt *op)
{
	DpSplitContext *cxt = s->cxt;
	List	   *first = rt_fetch(linitial_int(operands), sub->rtable)->subquery->targetList;
	ListCell   *lc,
			   *operand;

	op->colTypes = op->colTypmods = op->colCollations = NIL;
	foreach(lc, first)
	{
		TargetEntry *tle = lfirst(lc);
		Oid			type = exprType((Node *) tle->expr);
		int32		typmod = exprTypmod((Node *) tle->expr);
		Oid			collation = exprCollation((Node *) tle->expr);

		if (tle->resjunk)
			break;
		foreach(operand, operands)
		{
			Node	   *expr = (Node *) get_tle_by_resno(rt_fetch(lfirst_int(operand), sub->rtable)->subquery->targetList,
														 tle->resno)->expr;

			if (exprType(expr) != type)
				refuse_types(cxt, exprLocation(expr), tle->resno, type, exprType(expr));
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

/* Makes a new tree of UNION ALL, with the columns of the model. */
static Node *
rebuild_tree(Node *node, const SetOperationStmt *columns)
{
	SetOperationStmt *new;
	RangeTblRef *ref;

	check_stack_depth();
	if (IsA(node, RangeTblRef))
	{
		ref = makeNode(RangeTblRef);
		ref->rtindex = ((RangeTblRef *) node)->rtindex;
		return (Node *) ref;
	}
	new = makeNode(SetOperationStmt);
	new->op = SETOP_UNION;
	new->all = true;
	new->larg = rebuild_tree(((SetOperationStmt *) node)->larg, columns);
	new->rarg = rebuild_tree(((SetOperationStmt *) node)->rarg, columns);
	new->colTypes = list_copy(columns->colTypes);
	new->colTypmods = list_copy(columns->colTypmods);
	new->colCollations = list_copy(columns->colCollations);
	return (Node *) new;
}

static bool
has_column(List *vars, AttrNumber column)
{
	ListCell   *lc;

	foreach(lc, vars)
		if (lfirst_node(Var, lc)->varattno == column)
		return true;
	return false;
}

/* Tells whether one of tokens is the same, by the same columns. */
static bool
has_token(List *tokens, const DpToken *token)
{
	ListCell   *lc;

	foreach(lc, tokens)
	{
		DpToken    *other = lfirst(lc);
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
	ListCell   *lc,
			   *operand,
			   *var;

	foreach(lc, first->exprs)
		unit->exprs = lappend(unit->exprs, union_var(rti, targets, lfirst_node(Var, lc)->varattno));
	foreach(lc, first->vars)
	{
		AttrNumber	column = lfirst_node(Var, lc)->varattno;
		bool		in_all = true;

		foreach(operand, operands)
			in_all &= has_column(items[lfirst_int(operand)].unit.vars, column);
		if (in_all)
			unit->vars = lappend(unit->vars, union_var(rti, targets, column));
	}
	foreach(lc, first->tokens)
	{
		DpToken    *token = palloc(sizeof(DpToken));
		bool		in_all = true;

		*token = *(DpToken *) lfirst(lc);
		foreach(operand, operands)
			in_all &= has_token(items[lfirst_int(operand)].unit.tokens, token);
		if (!in_all)
			continue;
		token->vars = NIL;
		foreach(var, ((DpToken *) lfirst(lc))->vars)
			token->vars = lappend(token->vars, union_var(rti, targets, lfirst_node(Var, var)->varattno));
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
	DpAllowContext allow = {.source_text = s->cxt->source_text,.run_as = s->level->allow.run_as};
	List	   *first = unit_targets(rt_fetch(linitial_int(operands), sub->rtable)->subquery, &items[linitial_int(operands)]);
	int			nshown = list_length(sub->targetList);
	List	   *names = list_copy(sub->targetList);
	List	   *targets;
	Node	   *tree = sub->setOperations;
	Query	   *new;
	ListCell   *lc;

	foreach(lc, operands)
	{
		List	   *units = unit_targets(rt_fetch(lfirst_int(lc), sub->rtable)->subquery, &items[lfirst_int(lc)]);
		ListCell   *unit;

		foreach(unit, units)
			((TargetEntry *) lfirst(unit))->expr = dp_as_base_type(((TargetEntry *) lfirst(unit))->expr);
		check_units(s, sub, first, units, lfirst_int(lc));
		allow.rtindexes = bms_add_member(allow.rtindexes, lfirst_int(lc));
	}
	settle_columns(s, sub, operands, op);
	foreach(lc, first)
	{
		TargetEntry *tle = lfirst(lc);

		rte->eref->colnames = lappend(rte->eref->colnames, makeString(tle->resname));
		names = lappend(names, makeTargetEntry(NULL, list_length(names) + 1, tle->resname, false));
	}
	dp_rebuild_entries(s, sub, allow.rtindexes);
	sub->setOperations = NULL;
	sub->sortClause = NIL;
	sub->jointree = makeFromExpr(NIL, NULL);
	targets = operation_targets(linitial_int(operands), op, names);
	/* units may be of any type */
	sub->targetList = list_copy_head(targets, nshown);
	allow.rtable = sub->rtable;
	rte->subquery = new = dp_rebuild_subquery(s->cxt, sub, &allow);
	new->targetList = list_concat(new->targetList, list_copy_tail(targets, nshown));
	new->setOperations = rebuild_tree(tree, op);
	item->is_private = true;
	fill_unit(items, operands, new->targetList, rti, &item->unit);
}
