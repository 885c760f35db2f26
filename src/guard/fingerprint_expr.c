/*-------------------------------------------------------------------------
 *
 * fingerprint_expr.c
 *	  Expressions in the text of a question.
 *
 * Invariants:
 * - Nodes are those that the last gate accepts (verify_expr.c); one that is not
 *	 known here has no text, and a release with it no identity.
 * - All is written that a value depends on: functions with the types of
 *	 their results and their collations, columns with their types.  Formats
 *	 of casts, positions, aliases and the length of a type are not.
 * - An expression that means the same for every row has one text where members
 *	 of AND and OR, the values of IN and the sides of a comparison stand in
 *	 another order.  None of them can fail (guard/vet), so that their order
 *	 decides nothing.  Of integers and dates x < 5 is x <= 4, which is so of
 *	 each value, infinite dates and NULL included.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "guard/fingerprint.h"
#include "guard/read/read.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "release/fingerprint.h"
#include "utils/lsyscache.h"

/* a longer expression is defined behind the text */
#define MAX_EXPRESSION 200

void
dp_fingerprint_list(DpFingerprintWriter *w, DpFingerprintPlace *place, List *exprs)
{
	foreach_ptr(Node, expr, exprs)
	{
		dp_fingerprint_expr(w, place, expr);
		appendStringInfoCharMacro(&w->text, ',');
	}
}

/* Returns the text of an expression, which is not written where it is. */
static char *
text_of(DpFingerprintWriter *w, DpFingerprintPlace *place, Node *node)
{
	int			start = w->text.len;

	dp_fingerprint_expr(w, place, node);
	return dp_fingerprint_cut(w, start);
}

/* ------------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------------
 */

static void put_var(DpFingerprintWriter *w, DpFingerprintPlace *place, Var *var);

/* Writes a column of a UNION ALL: what it is in each operand. */
static void
put_united(DpFingerprintWriter *w, DpFingerprintPlace *place, AttrNumber column)
{
	foreach_int(operand, dp_operands(place->query))
	{
		Var			var = {.varno = operand, .varattno = column};

		put_var(w, place, &var);
		appendStringInfoCharMacro(&w->text, ',');
	}
}

/* Writes a column of a subquery, as what it is there. */
static void
put_subquery_column(DpFingerprintWriter *w, DpFingerprintPlace *below, AttrNumber column)
{
	TargetEntry *tle = get_tle_by_resno(below->query->targetList, column);
	int			start = w->text.len;

	if (tle == NULL)
	{
		w->is_unknown = true;
		return;
	}
	if (below->columns == NULL)
		below->columns = palloc0((list_length(below->query->targetList) + 1) * sizeof(char *));
	if (below->columns[column] == NULL)
	{
		if (below->query->setOperations)
			put_united(w, below, column);
		else
			dp_fingerprint_expr(w, below, (Node *) tle->expr);
		below->columns[column] = dp_fingerprint_cut(w, start);
	}
	appendStringInfoString(&w->text, below->columns[column]);
}

static void
put_var(DpFingerprintWriter *w, DpFingerprintPlace *place, Var *var)
{
	RangeTblEntry *rte = rt_fetch(var->varno, place->query->rtable);
	DpFingerprintPlace *below = place->below[var->varno];
	int			number = place->numbers[var->varno];

	if (var->varlevelsup != 0 || var->varattno == 0 || (number == 0 && below == NULL))
	{
		w->is_unknown = true;
		return;
	}
	if (below != NULL && below->is_joined)
	{
		put_subquery_column(w, below, var->varattno);
		return;
	}
	if (below == NULL && rte->rtekind == RTE_RELATION)
		dp_fingerprint_column(w, number, rte->relid, var);
	else
	{
		PUT("v%d[", number);
		if (below != NULL)
			put_subquery_column(w, below, var->varattno);
		else
		{
			PUT("%d:", var->varattno);
			dp_fingerprint_object(&w->text, TypeRelationId, var->vartype);
		}
	}
	appendStringInfoCharMacro(&w->text, ']');
}

/* ------------------------------------------------------------------------
 * Conditions
 * ------------------------------------------------------------------------
 */

List *
dp_fingerprint_conjuncts(DpFingerprintWriter *w, DpFingerprintPlace *place, Node *condition, List *texts)
{
	if (condition == NULL)
		return texts;
	check_stack_depth();
	if (IsA(condition, List) || (IsA(condition, BoolExpr) && ((BoolExpr *) condition)->boolop == AND_EXPR))
	{
		foreach_ptr(Node, arg, IsA(condition, List) ? (List *) condition : ((BoolExpr *) condition)->args)
			texts = dp_fingerprint_conjuncts(w, place, arg, texts);
		return texts;
	}
	/* true AND x is x */
	if (IsA(condition, Const) && !((Const *) condition)->constisnull && DatumGetBool(((Const *) condition)->constvalue))
		return texts;
	return lappend(texts, text_of(w, place, condition));
}

static List *
disjuncts(DpFingerprintWriter *w, DpFingerprintPlace *place, BoolExpr *or, List *texts)
{
	check_stack_depth();
	foreach_ptr(Node, arg, or->args)
	{
		if (IsA(arg, BoolExpr) && ((BoolExpr *) arg)->boolop == OR_EXPR)
			texts = disjuncts(w, place, (BoolExpr *) arg, texts);
		else
			texts = lappend(texts, text_of(w, place, arg));
	}
	return texts;
}

static void
put_bool(DpFingerprintWriter *w, DpFingerprintPlace *place, BoolExpr *expr)
{
	switch (expr->boolop)
	{
		case AND_EXPR:
			PUT("and{");
			dp_fingerprint_sorted(w, dp_fingerprint_conjuncts(w, place, (Node *) expr, NIL));
			break;
		case OR_EXPR:
			PUT("or{");
			dp_fingerprint_sorted(w, disjuncts(w, place, expr, NIL));
			break;
		case NOT_EXPR:
			PUT("not{");
			dp_fingerprint_expr(w, place, linitial(expr->args));
			break;
	}
	appendStringInfoCharMacro(&w->text, '}');
}

/* Writes an operator; of two sides that may be swapped the lesser text comes first, and bounds of numbers and days are closed. */
static void
put_operator(DpFingerprintWriter *w, DpFingerprintPlace *place, OpExpr *op, const char *kind, bool swaps)
{
	Oid			opno = op->opno;
	int			step = 0;
	int			bound = IsA(op, OpExpr) ? dp_fingerprint_close(w, op, &opno, &step) : -1;
	char	   *left = bound == 0 ? dp_fingerprint_bound_text(w, linitial(op->args), step) : text_of(w, place, linitial(op->args));
	char	   *right = NULL;

	if (list_length(op->args) == 2)
		right = bound == 1 ? dp_fingerprint_bound_text(w, lsecond(op->args), step) : text_of(w, place, lsecond(op->args));

	if (swaps && right != NULL && strcmp(left, right) > 0)
	{
		Oid			commutator = get_commutator(opno);

		/* IS DISTINCT FROM is of the operator =, which is its own */
		if (OidIsValid(commutator) && (IsA(op, OpExpr) || commutator == opno))
		{
			char	   *swap = left;

			opno = commutator;
			left = right;
			right = swap;
		}
	}
	PUT("%s(", kind);
	dp_fingerprint_named(w, OperatorRelationId, opno);
	dp_fingerprint_type(w, op->opresulttype);
	dp_fingerprint_collation(w, op->inputcollid);
	PUT("%s,%s)", left, right ? right : "");
}

/* Returns the texts of an array's members, as far as they can be told; false if they cannot. */
static bool
members(DpFingerprintWriter *w, DpFingerprintPlace *place, Node *array, List **texts)
{
	if (IsA(array, ArrayExpr) && !((ArrayExpr *) array)->multidims)
	{
		foreach_ptr(Node, element, ((ArrayExpr *) array)->elements)
			* texts = lappend(*texts, text_of(w, place, element));
		return true;
	}
	if (IsA(array, Const) && !((Const *) array)->constisnull && OidIsValid(get_element_type(((Const *) array)->consttype)))
	{
		*texts = dp_fingerprint_members(w, (Const *) array, *texts);
		return true;
	}
	return false;
}

static void
put_in(DpFingerprintWriter *w, DpFingerprintPlace *place, ScalarArrayOpExpr *in)
{
	Node	   *array = lsecond(in->args);
	List	   *texts = NIL;

	PUT("in(");
	dp_fingerprint_named(w, OperatorRelationId, in->opno);
	dp_fingerprint_collation(w, in->inputcollid);
	dp_fingerprint_expr(w, place, linitial(in->args));
	PUT(in->useOr ? ",any" : ",all");
	/* varchar's values are compared as text, which they are */
	if (IsA(array, ArrayCoerceExpr))
		array = (Node *) ((ArrayCoerceExpr *) array)->arg;
	if (members(w, place, array, &texts))
	{
		appendStringInfoCharMacro(&w->text, '{');
		dp_fingerprint_sorted(w, texts);
		appendStringInfoCharMacro(&w->text, '}');
	}
	else
		dp_fingerprint_expr(w, place, array);
	appendStringInfoCharMacro(&w->text, ')');
}

/* ------------------------------------------------------------------------
 * Aggregates and windows of subqueries
 * ------------------------------------------------------------------------
 */

/* Writes a clause; sorts: with the order that it asks for. */
static void
put_clause(DpFingerprintWriter *w, DpFingerprintPlace *place, SortGroupClause *clause, List *targets, bool sorts)
{
	dp_fingerprint_named(w, OperatorRelationId, clause->eqop);
	if (sorts)
	{
		dp_fingerprint_named(w, OperatorRelationId, clause->sortop);
		PUT("%d ", clause->nulls_first);

		/*
		 * in which the values stand in another order; equal are the same in
		 * all that may be used
		 */
		dp_fingerprint_collation(w, exprCollation(get_sortgroupclause_expr(clause, targets)));
	}
	dp_fingerprint_expr(w, place, get_sortgroupclause_expr(clause, targets));
}

void
dp_fingerprint_clauses(DpFingerprintWriter *w, DpFingerprintPlace *place, List *clauses, List *targets)
{
	List	   *texts = NIL;

	foreach_ptr(SortGroupClause, clause, clauses)
	{
		int			start = w->text.len;

		put_clause(w, place, clause, targets, false);
		texts = lappend(texts, dp_fingerprint_cut(w, start));
	}
	dp_fingerprint_sorted(w, texts);
}

void
dp_fingerprint_in_order(DpFingerprintWriter *w, DpFingerprintPlace *place, List *clauses, List *targets, bool sorts)
{
	foreach_ptr(SortGroupClause, clause, clauses)
	{
		put_clause(w, place, clause, targets, sorts);
		appendStringInfoCharMacro(&w->text, ',');
	}
}

static void
put_aggregate(DpFingerprintWriter *w, DpFingerprintPlace *place, Aggref *agg)
{
	w->is_unknown |= agg->agglevelsup != 0 || agg->aggdirectargs != NIL;
	PUT("agg(");
	dp_fingerprint_named(w, ProcedureRelationId, agg->aggfnoid);
	dp_fingerprint_type(w, agg->aggtype);
	dp_fingerprint_collation(w, agg->inputcollid);
	PUT("%d ", agg->aggstar);
	foreach_node(TargetEntry, tle, agg->args)
	{
		dp_fingerprint_expr(w, place, (Node *) tle->expr);
		appendStringInfoCharMacro(&w->text, ',');
	}
	PUT(" distinct ");
	dp_fingerprint_in_order(w, place, agg->aggdistinct, agg->args, false);
	PUT(" order ");
	dp_fingerprint_in_order(w, place, agg->aggorder, agg->args, true);
	PUT(" where{");
	dp_fingerprint_sorted(w, dp_fingerprint_conjuncts(w, place, (Node *) agg->aggfilter, NIL));
	PUT("})");
}

static void
put_window(DpFingerprintWriter *w, DpFingerprintPlace *place, WindowClause *window)
{
	List	   *targets = place->query->targetList;

	PUT("over{");
	dp_fingerprint_clauses(w, place, window->partitionClause, targets);
	PUT("}order{");
	dp_fingerprint_in_order(w, place, window->orderClause, targets, true);
	PUT("}frame{%d ", window->frameOptions);
	dp_fingerprint_named(w, ProcedureRelationId, window->startInRangeFunc);
	dp_fingerprint_named(w, ProcedureRelationId, window->endInRangeFunc);
	dp_fingerprint_collation(w, window->inRangeColl);
	PUT("%d %d ", window->inRangeAsc, window->inRangeNullsFirst);
	dp_fingerprint_expr(w, place, window->startOffset);
	appendStringInfoCharMacro(&w->text, ',');
	dp_fingerprint_expr(w, place, window->endOffset);
	appendStringInfoCharMacro(&w->text, '}');
}

static void
put_window_function(DpFingerprintWriter *w, DpFingerprintPlace *place, WindowFunc *function)
{
	WindowClause *window = dp_window_of(place->query->windowClause, function->winref);

	PUT("window(");
	dp_fingerprint_named(w, ProcedureRelationId, function->winfnoid);
	dp_fingerprint_type(w, function->wintype);
	dp_fingerprint_collation(w, function->inputcollid);
	PUT("%d %d ", function->winstar, function->winagg);
	dp_fingerprint_list(w, place, function->args);
	PUT(" where{");
	dp_fingerprint_sorted(w, dp_fingerprint_conjuncts(w, place, (Node *) function->aggfilter, NIL));
	appendStringInfoCharMacro(&w->text, '}');
	if (window != NULL && !dp_has_null_treatment(function))
		put_window(w, place, window);
	else
		w->is_unknown = true;
	appendStringInfoCharMacro(&w->text, ')');
}

/* ------------------------------------------------------------------------
 * Others
 * ------------------------------------------------------------------------
 */

static void
put_case(DpFingerprintWriter *w, DpFingerprintPlace *place, CaseExpr *cases)
{
	PUT("case(");
	dp_fingerprint_type(w, cases->casetype);
	dp_fingerprint_expr(w, place, (Node *) cases->arg);
	foreach_node(CaseWhen, item, cases->args)
	{
		PUT(" when ");
		dp_fingerprint_expr(w, place, (Node *) item->expr);
		PUT(" then ");
		dp_fingerprint_expr(w, place, (Node *) item->result);
	}
	PUT(" else ");
	dp_fingerprint_expr(w, place, (Node *) cases->defresult);
	appendStringInfoCharMacro(&w->text, ')');
}

static void
put_minmax(DpFingerprintWriter *w, DpFingerprintPlace *place, MinMaxExpr *minmax)
{
	PUT(minmax->op == IS_GREATEST ? "greatest(" : "least(");
	dp_fingerprint_type(w, minmax->minmaxtype);
	dp_fingerprint_collation(w, minmax->inputcollid);
	dp_fingerprint_list(w, place, minmax->args);
	appendStringInfoCharMacro(&w->text, ')');
}

/*
 * Tells whether a function that may run on rows tells the time: one without arguments, or age() of one moment.
 * One that a superuser has added may, too, and may be STABLE because it reads a table, which is not part of the
 * question either.
 */
static bool
tells_time(const FuncExpr *call)
{
	if (func_volatile(call->funcid) == PROVOLATILE_IMMUTABLE)
		return false;
	if (dp_function_is_added(call->funcid))
		return true;
	if (list_length(call->args) > 1)
		return false;
	return call->args == NIL || dp_function_kind(call->funcid) == DP_KIND_age;
}

static void
put_function(DpFingerprintWriter *w, DpFingerprintPlace *place, FuncExpr *call)
{
	w->release->reads_clock |= tells_time(call);
	w->is_unknown |= call->funcretset || call->funcvariadic;
	PUT("f(");
	dp_fingerprint_named(w, ProcedureRelationId, call->funcid);
	dp_fingerprint_type(w, call->funcresulttype);
	dp_fingerprint_collation(w, call->inputcollid);
	if (dp_fingerprint_commutes(call))
	{
		char	   *first = text_of(w, place, linitial(call->args));
		char	   *second = text_of(w, place, lsecond(call->args));

		bool		swap = strcmp(first, second) > 0;

		PUT("%s,%s,", swap ? second : first, swap ? first : second);
	}
	else
		dp_fingerprint_list(w, place, call->args);
	appendStringInfoCharMacro(&w->text, ')');
}

static void
put_array(DpFingerprintWriter *w, DpFingerprintPlace *place, ArrayExpr *array)
{
	PUT("array%d(", array->multidims);
	dp_fingerprint_type(w, array->element_typeid);
	dp_fingerprint_list(w, place, array->elements);
	appendStringInfoCharMacro(&w->text, ')');
}

/* Writes what has one argument: a word, a number and a type that say what is done with it, and that. */
static void
put_unary(DpFingerprintWriter *w, DpFingerprintPlace *place, const char *word, int which, Oid type, Expr *arg)
{
	PUT("%s%d(", word, which);
	if (OidIsValid(type))
		dp_fingerprint_type(w, type);
	dp_fingerprint_expr(w, place, (Node *) arg);
	appendStringInfoCharMacro(&w->text, ')');
}

static void
put_node(DpFingerprintWriter *w, DpFingerprintPlace *place, Node *node)
{
	switch (nodeTag(node))
	{
		case T_Var:
			put_var(w, place, (Var *) node);
			break;
		case T_Const:
			dp_fingerprint_value(&w->text, ((Const *) node)->consttype, ((Const *) node)->constcollid,
								 ((Const *) node)->constvalue, ((Const *) node)->constisnull);
			break;
		case T_Param:
			dp_fingerprint_param(w, (Param *) node, 0);
			break;
		case T_FuncExpr:
			put_function(w, place, (FuncExpr *) node);
			break;
		case T_OpExpr:
			put_operator(w, place, (OpExpr *) node, "op", true);
			break;
		case T_DistinctExpr:
			put_operator(w, place, (OpExpr *) node, "distinct", true);
			break;
		case T_NullIfExpr:
			put_operator(w, place, (OpExpr *) node, "nullif", false);
			break;
		case T_ScalarArrayOpExpr:
			put_in(w, place, (ScalarArrayOpExpr *) node);
			break;
		case T_BoolExpr:
			put_bool(w, place, (BoolExpr *) node);
			break;
		case T_BooleanTest:
			put_unary(w, place, "is", ((BooleanTest *) node)->booltesttype, InvalidOid, ((BooleanTest *) node)->arg);
			break;
		case T_NullTest:
			put_unary(w, place, "null", ((NullTest *) node)->nulltesttype, InvalidOid, ((NullTest *) node)->arg);
			break;
		case T_RelabelType:
			put_unary(w, place, "as", 0, ((RelabelType *) node)->resulttype, ((RelabelType *) node)->arg);
			break;
		case T_CollateExpr:
			/* what compares or sorts by it says so */
			dp_fingerprint_expr(w, place, (Node *) ((CollateExpr *) node)->arg);
			break;
		case T_ArrayCoerceExpr:
			put_unary(w, place, "array", 0, ((ArrayCoerceExpr *) node)->resulttype, ((ArrayCoerceExpr *) node)->arg);
			break;
		case T_ArrayExpr:
			put_array(w, place, (ArrayExpr *) node);
			break;
		case T_CaseExpr:
			put_case(w, place, (CaseExpr *) node);
			break;
		case T_CaseTestExpr:
			PUT("cased");
			break;
		case T_CoalesceExpr:
			PUT("coalesce(");
			dp_fingerprint_type(w, ((CoalesceExpr *) node)->coalescetype);
			dp_fingerprint_list(w, place, ((CoalesceExpr *) node)->args);
			appendStringInfoCharMacro(&w->text, ')');
			break;
		case T_MinMaxExpr:
			put_minmax(w, place, (MinMaxExpr *) node);
			break;
		case T_SQLValueFunction:
			w->release->reads_clock = true;
			PUT("time(%d %d %u)", (int) ((SQLValueFunction *) node)->op, ((SQLValueFunction *) node)->typmod,
				((SQLValueFunction *) node)->type);
			break;
		case T_Aggref:
			put_aggregate(w, place, (Aggref *) node);
			break;
		case T_WindowFunc:
			put_window_function(w, place, (WindowFunc *) node);
			break;
		default:
			w->is_unknown = true;
	}
}

void
dp_fingerprint_expr(DpFingerprintWriter *w, DpFingerprintPlace *place, Node *node)
{
	int			start = w->text.len;

	if (node == NULL)
	{
		appendStringInfoCharMacro(&w->text, '-');
		return;
	}
	check_stack_depth();
	put_node(w, place, node);
	if (w->text.len - start > MAX_EXPRESSION)
		dp_fingerprint_define(w, start);
}
