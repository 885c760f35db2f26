/*-------------------------------------------------------------------------
 *
 * normal_form.c
 *	  Conditions in one form, whichever of several somebody has written.
 *
 * NOT stands before nothing that has a negation of its own; what OR has in common is
 * outside of it; IS NOT DISTINCT FROM a constant is an equality; CASE WHEN x THEN true END,
 * coalesce(x, false) and x IS TRUE are x; what can be true of no value, as one half of BETWEEN
 * SYMMETRIC, is left out; x = 1 OR x = 2 is x IN (1, 2), and that is x BETWEEN 1 AND 2.
 *
 * Invariant: a condition is true for the same rows as before.  It may be NULL where it
 * was false, which leaves a row out, too.  No function is called that the
 * allow-list has not.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_type_d.h"
#include "guard/facts/facts.h"
#include "guard/level.h"
#include "guard/vet/allow.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/prep.h"
#include "utils/array.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* lists of more are left as they are */
#define MOST_CONSTANTS 200

static Node *plain_form(Node *condition);

/* Tells whether a node is a constant truth value; NULL counts as false. */
static bool
is_truth(Node *node, bool value)
{
	Const	   *constant = (Const *) node;

	return node != NULL && IsA(node, Const) && constant->consttype == BOOLOID &&
		(constant->constisnull ? !value : DatumGetBool(constant->constvalue) == value);
}

static bool
is_value(Node *node)
{
	return IsA(node, Const) && !((Const *) node)->constisnull;
}

/* Tells whether a node is a value that is not NULL, also in another type. */
static bool
is_cast_value(Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;

	/* a strict cast of PostgreSQL's is NULL for NULL alone */
	return is_value(node) || (IsA(node, FuncExpr) && call->funcid < FirstGenbkiObjectId && list_length(call->args) == 1 &&
							  (call->funcformat == COERCE_EXPLICIT_CAST || call->funcformat == COERCE_IMPLICIT_CAST) &&
							  func_strict(call->funcid) && is_value(linitial(call->args)));
}

/* Tells whether a negation calls nothing but what the allow-list has. */
static bool
may_run(Node *node)
{
	if (IsA(node, OpExpr))
		return dp_allowed_function(get_opcode(((OpExpr *) node)->opno)) != NULL;
	if (IsA(node, ScalarArrayOpExpr))
		return dp_allowed_function(get_opcode(((ScalarArrayOpExpr *) node)->opno)) != NULL;
	return true;
}

static Node *
plain_args(BoolExpr *of, bool negate)
{
	BoolExprType type = (of->boolop == AND_EXPR) != negate ? AND_EXPR : OR_EXPR;
	List	   *args = NIL;
	ListCell   *lc;

	foreach(lc, of->args)
		args = lappend(args, plain_form(negate ? (Node *) make_notclause(lfirst(lc)) : lfirst(lc)));
	return (Node *) makeBoolExpr(type, args, of->location);
}

/* Returns the plain form of NOT condition. */
static Node *
plain_negation(Node *condition)
{
	DistinctExpr *distinct = (DistinctExpr *) condition;
	Node	   *negated;

	if (IsA(condition, BoolExpr))
		return is_notclause(condition) ? plain_form((Node *) get_notclausearg(condition)) : plain_args((BoolExpr *) condition, true);
	if (IsA(condition, DistinctExpr) && (is_cast_value(linitial(distinct->args)) || is_cast_value(lsecond(distinct->args))))
	{
		negated = copyObject(condition);
		NodeSetTag(negated, T_OpExpr);
		return negated;
	}
	negated = negate_clause(condition);
	return is_notclause(negated) || !may_run(negated) ? (Node *) make_notclause((Expr *) condition) : negated;
}

/* Returns the only condition of a CASE that is true where it is, and nowhere else; NULL: it is another. */
static Node *
condition_of_case(CaseExpr *cases)
{
	CaseWhen   *when = linitial_node(CaseWhen, cases->args);

	return cases->arg == NULL && list_length(cases->args) == 1 && is_truth((Node *) when->result, true) &&
		(cases->defresult == NULL || is_truth((Node *) cases->defresult, false)) ? (Node *) when->expr : NULL;
}

/* Returns the strategy of a comparison with a constant, and this; 0: it is another. */
static int
comparison_of(Node *node, Const **constant)
{
	OpExpr	   *op = (OpExpr *) node;

	if (!IsA(node, OpExpr) || list_length(op->args) != 2 || !is_value(lsecond(op->args)) ||
		exprType(lsecond(op->args)) != exprType(linitial(op->args)))
		return 0;
	*constant = lsecond(op->args);
	return get_op_opfamily_strategy(op->opno, lookup_type_cache((*constant)->consttype, TYPECACHE_BTREE_OPFAMILY)->btree_opf);
}

/* Tells whether two conditions exclude each other: the value is to be above one constant and below a smaller one. */
static bool
do_exclude(Node *a, Node *b)
{
	Const	   *low;
	Const	   *high;
	int			above = comparison_of(a, &low);
	int			below = comparison_of(b, &high);

	return (above == BTGreaterEqualStrategyNumber || above == BTGreaterStrategyNumber) &&
		(below == BTLessEqualStrategyNumber || below == BTLessStrategyNumber) && low->consttype == high->consttype &&
		equal(linitial(((OpExpr *) a)->args), linitial(((OpExpr *) b)->args)) &&
		((OpExpr *) a)->inputcollid == ((OpExpr *) b)->inputcollid &&
		DatumGetInt32(FunctionCall2Coll(&lookup_type_cache(low->consttype, TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo,
										((OpExpr *) a)->inputcollid, low->constvalue, high->constvalue)) > 0;
}

static bool
is_impossible(Node *condition)
{
	List	   *conjuncts = dp_conjuncts(condition);
	ListCell   *a,
			   *b;

	/* of more nobody writes one by hand */
	if (list_length(conjuncts) > 10)
		return false;
	foreach(a, conjuncts)
	{
		foreach(b, conjuncts)
			if (do_exclude(lfirst(a), lfirst(b)))
			return true;
	}
	return false;
}

/* Leaves out of OR what is true of nothing, unless all of it is. */
static Node *
without_impossible(Node *condition)
{
	List	   *args = NIL;
	ListCell   *lc;

	foreach(lc, is_orclause(condition) ? ((BoolExpr *) condition)->args : NIL)
		if (!is_impossible(lfirst(lc)))
			args = lappend(args, lfirst(lc));
	return args == NIL ? condition : (Node *) make_orclause(args);
}

/* ------------------------------------------------------------------------
 * Lists
 * ------------------------------------------------------------------------
 */

/* a value that is one of some constants, of its own type */
typedef struct ValueList
{
	Node	   *value;
	Oid			opno;
	Oid			collation;
	Oid			type;
	List	   *constants;		/* Const, none NULL */
} ValueList;

static bool
add_constant(ValueList *list, Node *constant)
{
	list->constants = lappend(list->constants, constant);
	return is_value(constant) && exprType(constant) == list->type;
}

/* Adds the elements of an array; returns false if one is not known, or NULL, or there are too many. */
static bool
add_elements(ValueList *list, Node *array)
{
	List	   *elements = IsA(array, ArrayExpr) && !((ArrayExpr *) array)->multidims ? ((ArrayExpr *) array)->elements : NIL;
	ListCell   *lc;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *values;
	bool	   *nulls;
	int			n;

	if (list_length(elements) > MOST_CONSTANTS || get_element_type(exprType(array)) != list->type)
		return false;
	foreach(lc, elements)
	{
		if (!add_constant(list, lfirst(lc)))
			return false;
	}
	if (elements != NIL || !is_value(array))
		return elements != NIL;
	get_typlenbyvalalign(list->type, &typlen, &typbyval, &typalign);
	deconstruct_array(DatumGetArrayTypeP(((Const *) array)->constvalue), list->type, typlen, typbyval, typalign, &values, &nulls, &n);
	if (n > MOST_CONSTANTS)
		return false;
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			return false;
		list->constants = lappend(list->constants, makeConst(list->type, -1, list->collation, typlen, values[i], false, typbyval));
	}
	return true;
}

/* Adds what an equality with a constant, or with one of several, compares; returns false if it is no such, or of another value. */
static bool
add_to_list(ValueList *list, Node *node)
{
	bool		is_array = IsA(node, ScalarArrayOpExpr);
	List	   *args;
	Oid			opno;
	Oid			collation;
	Node	   *value;

	if (!is_array && !IsA(node, OpExpr))
		return false;
	args = is_array ? ((ScalarArrayOpExpr *) node)->args : ((OpExpr *) node)->args;
	opno = is_array ? ((ScalarArrayOpExpr *) node)->opno : ((OpExpr *) node)->opno;
	collation = is_array ? ((ScalarArrayOpExpr *) node)->inputcollid : ((OpExpr *) node)->inputcollid;
	if (list_length(args) != 2 || (is_array && !((ScalarArrayOpExpr *) node)->useOr))
		return false;
	value = linitial(args);
	if (list->value == NULL)
	{
		list->value = value;
		list->opno = opno;
		list->collation = collation;
		list->type = exprType(value);
		if (opno >= FirstGenbkiObjectId || contain_volatile_functions(value) || !OidIsValid(get_array_type(list->type)) ||
			get_op_opfamily_strategy(opno, lookup_type_cache(list->type, TYPECACHE_BTREE_OPFAMILY)->btree_opf) != BTEqualStrategyNumber)
			return false;
	}
	if (opno != list->opno || collation != list->collation || !equal(value, list->value))
		return false;
	return is_array ? add_elements(list, lsecond(args)) : add_constant(list, lsecond(args));
}

/* Returns the whole number that a constant is, of a type in which each has one next to it; false: it is none. */
static bool
get_whole(const Const *constant, int64 *whole)
{
	switch (constant->consttype)
	{
		case INT2OID:
			*whole = DatumGetInt16(constant->constvalue);
			return true;
		case INT4OID:
			*whole = DatumGetInt32(constant->constvalue);
			return true;
		case INT8OID:
			*whole = DatumGetInt64(constant->constvalue);
			return true;
		case DATEOID:
			*whole = DatumGetDateADT(constant->constvalue);
			return !DATE_NOT_FINITE(DatumGetDateADT(constant->constvalue));
		default:
			return false;
	}
}

static Node *
compared(const ValueList *list, int strategy, Const *constant)
{
	Oid			opno = get_opfamily_member(lookup_type_cache(list->type, TYPECACHE_BTREE_OPFAMILY)->btree_opf, list->type, list->type, strategy);
	OpExpr	   *op = (OpExpr *) make_opclause(opno, BOOLOID, false, copyObject((Expr *) list->value), (Expr *) constant,
											  InvalidOid, list->collation);

	set_opfuncid(op);
	return (Node *) op;
}

/* Returns that a value is in a range if its list is one without gaps; NULL: it is none. */
static Node *
as_range(const ValueList *list)
{
	Const	   *first = NULL;
	Const	   *last = NULL;
	int64		least = 0;
	int64		most = 0;
	List	   *different = NIL;
	ListCell   *lc;

	foreach(lc, list->constants)
	{
		int64		whole;

		if (!get_whole(lfirst(lc), &whole))
			return NULL;
		if (first == NULL || whole < least)
		{
			first = lfirst(lc);
			least = whole;
		}
		if (last == NULL || whole > most)
		{
			last = lfirst(lc);
			most = whole;
		}
		different = list_append_unique(different, lfirst(lc));
	}
	if (list_length(different) < 2 || (uint64) most - (uint64) least != (uint64) list_length(different) - 1)
		return NULL;
	return (Node *) make_andclause(list_make2(compared(list, BTGreaterEqualStrategyNumber, first), compared(list, BTLessEqualStrategyNumber, last)));
}

/* Returns that a value is one of a list. */
static Node *
as_array(const ValueList *list)
{
	ScalarArrayOpExpr *any = makeNode(ScalarArrayOpExpr);
	ArrayExpr  *array = makeNode(ArrayExpr);

	array->array_typeid = get_array_type(list->type);
	array->array_collid = get_typcollation(array->array_typeid);
	array->element_typeid = list->type;
	array->elements = list->constants;
	array->location = -1;
	any->opno = list->opno;
	set_sa_opfuncid(any);
	any->useOr = true;
	any->inputcollid = list->collation;
	any->args = list_make2(copyObject(list->value), eval_const_expressions(NULL, (Node *) array));
	any->location = -1;
	return (Node *) any;
}

/*
 * Returns equalities of one value, of which one is true, as one comparison: with a range, if
 * the constants leave no gap in it, else with all of them.
 */
static Node *
plain_list(Node *condition)
{
	ValueList	list = {0};
	Node	   *range;
	ListCell   *lc;

	if (is_orclause(condition))
	{
		foreach(lc, ((BoolExpr *) condition)->args)
			if (!add_to_list(&list, lfirst(lc)) || list_length(list.constants) > MOST_CONSTANTS)
			return condition;
	}
	else if (!IsA(condition, ScalarArrayOpExpr) || !add_to_list(&list, condition))
		return condition;
	range = as_range(&list);
	return range ? range : is_orclause(condition) ? as_array(&list) : condition;
}

/* ------------------------------------------------------------------------
 * All of it
 * ------------------------------------------------------------------------
 */

static Node *
plain_form(Node *condition)
{
	CoalesceExpr *coalesce = (CoalesceExpr *) condition;
	Node	   *inner = NULL;

	check_stack_depth();
	if (IsA(condition, BoolExpr))
		return is_notclause(condition) ? plain_negation((Node *) get_notclausearg(condition))
			: plain_list(without_impossible(plain_args((BoolExpr *) condition, false)));
	if (IsA(condition, ScalarArrayOpExpr))
		return plain_list(condition);
	if (IsA(condition, CaseExpr))
		inner = condition_of_case((CaseExpr *) condition);
	else if (IsA(condition, CoalesceExpr) && list_length(coalesce->args) == 2 && is_truth(lsecond(coalesce->args), false))
		inner = linitial(coalesce->args);
	else if (IsA(condition, BooleanTest) && ((BooleanTest *) condition)->booltesttype == IS_TRUE)
		inner = (Node *) ((BooleanTest *) condition)->arg;
	return inner != NULL ? plain_form(inner) : condition;
}

Node *
dp_normal_form(Node *condition)
{
	return condition == NULL ? NULL : (Node *) canonicalize_qual((Expr *) plain_form(condition), false);
}

static bool
normalise_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	check_stack_depth();
	switch (nodeTag(node))
	{
		case T_Query:
			((Query *) node)->havingQual = dp_normal_form(((Query *) node)->havingQual);
			return query_tree_walker((Query *) node, normalise_walker, context, 0);
		case T_FromExpr:
			((FromExpr *) node)->quals = dp_normal_form(((FromExpr *) node)->quals);
			break;
		case T_JoinExpr:
			((JoinExpr *) node)->quals = dp_normal_form(((JoinExpr *) node)->quals);
			break;
		case T_Aggref:
			((Aggref *) node)->aggfilter = (Expr *) dp_normal_form((Node *) ((Aggref *) node)->aggfilter);
			break;
		case T_CaseExpr:
			if (((CaseExpr *) node)->arg == NULL)
			{
				ListCell   *lc;

				foreach(lc, ((CaseExpr *) node)->args)
				{
					CaseWhen   *when = lfirst_node(CaseWhen, lc);

					when->expr = (Expr *) dp_normal_form((Node *) when->expr);
				}
			}
			break;
		default:
			break;
	}
	return expression_tree_walker(node, normalise_walker, context);
}

void
dp_normalise_conditions(Query *query)
{
	normalise_walker((Node *) query, NULL);
}
