/*-------------------------------------------------------------------------
 *
 * lists.c
 *	  Conditions that a value is one of some constants, in one form.
 *
 *		n = 1 OR n = 2          is   n IN (1, 2), and that is n BETWEEN 1 AND 2
 *		n <> 1 AND n <> 3       is   n NOT IN (1, 3)
 *		JOIN (VALUES (1), (3)) v (k) ON n = v.k       has   n IN (1, 3) beside it
 *
 * Invariant: a condition that takes the place of another is true for the same rows;
 * one that is added follows from what stands beside it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "guard/facts/lists.h"
#include "guard/level.h"
#include "guard/vet/allow.h"
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/date.h"
#include "utils/lsyscache.h"

/* lists of more are left as they are */
#define MOST_CONSTANTS 200

bool
dp_is_value(Node *node)
{
	Const	   *constant = (Const *) dp_strip_relabel(node);
	FuncExpr   *cast = (FuncExpr *) constant;

	node = (Node *) constant;
	if (IsA(node, Const))
		return !constant->constisnull && !(type_is_array(constant->consttype) && array_contains_nulls(DatumGetArrayTypeP(constant->constvalue)));
	if (IsA(node, FuncExpr))
		return cast->funcid < FirstGenbkiObjectId && list_length(cast->args) == 1 && func_strict(cast->funcid) &&
			(cast->funcformat == COERCE_EXPLICIT_CAST || cast->funcformat == COERCE_IMPLICIT_CAST) && dp_is_value(linitial(cast->args));
	if (!IsA(node, ArrayExpr))
		return false;
	foreach_ptr(Node, element, ((ArrayExpr *) node)->elements)
	{
		if (!dp_is_value(element))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------
 * Comparisons with constants
 * ------------------------------------------------------------------------
 */

/* a value that is one of some constants, of its own type, or none of them */
typedef struct ValueList
{
	Node	   *value;
	Oid			equality;
	Oid			collation;
	Oid			type;
	bool		is_none;
	List	   *constants;		/* Const, none NULL */
} ValueList;

static bool
is_value_of(Node *node, Oid type)
{
	return IsA(node, Const) && !((Const *) node)->constisnull && exprType(node) == type;
}

static bool
is_equality(Oid opno, Oid type)
{
	return opno < FirstGenbkiObjectId && dp_strategy_of(opno, type) == BTEqualStrategyNumber;
}

/* Reads a comparison with a constant, or with several; returns false if it is no such. */
static bool
read_list(Node *node, ValueList *list)
{
	DpComparison c;

	memset(list, 0, sizeof(ValueList));
	if (!dp_read_comparison(node, &c) || c.is_distinct)
		return false;
	list->value = c.left;
	list->type = exprType(list->value);
	list->collation = c.collation;
	list->is_none = c.is_array ? !c.is_any : !is_equality(c.opno, list->type);
	list->equality = list->is_none ? get_negator(c.opno) : c.opno;
	if (!is_equality(list->equality, list->type) || contain_volatile_functions(list->value) || !OidIsValid(get_array_type(list->type)))
		return false;
	if (!c.is_array)
		list->constants = list_make1(c.right);
	else if (!dp_list_elements(c.right, MOST_CONSTANTS, &list->constants))
		return false;
	foreach_ptr(Node, constant, list->constants)
		if (!is_value_of(constant, list->type))
		return false;
	return list->constants != NIL;
}

/* Adds the constants of another list of the same kind and value; returns false if it is of another. */
static bool
add_list(ValueList *list, const ValueList *other)
{
	if (list->is_none != other->is_none || list->equality != other->equality || list->collation != other->collation ||
		list_length(list->constants) + list_length(other->constants) > MOST_CONSTANTS || !equal(list->value, other->value))
		return false;
	list->constants = list_concat_copy(list->constants, other->constants);
	return true;
}

/* ------------------------------------------------------------------------
 * How it is written
 * ------------------------------------------------------------------------
 */

bool
dp_get_whole(Datum value, Oid type, int64 *whole)
{
	switch (type)
	{
		case INT2OID:
			*whole = DatumGetInt16(value);
			return true;
		case INT4OID:
			*whole = DatumGetInt32(value);
			return true;
		case INT8OID:
			*whole = DatumGetInt64(value);
			return true;
		case DATEOID:
			*whole = DatumGetDateADT(value);
			return !DATE_NOT_FINITE(DatumGetDateADT(value));
		default:
			return false;
	}
}

static Node *
compared(const ValueList *list, int strategy, Const *constant)
{
	return (Node *) dp_make_ordering(strategy, copyObject((Expr *) list->value), (Expr *) constant, list->collation);
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

	foreach_node(Const, constant, list->is_none ? NIL : list->constants)
	{
		int64		whole;

		if (!dp_get_whole(constant->constvalue, constant->consttype, &whole))
			return NULL;
		if (first == NULL || whole < least)
		{
			first = constant;
			least = whole;
		}
		if (last == NULL || whole > most)
		{
			last = constant;
			most = whole;
		}
		different = list_append_unique(different, constant);
	}
	if (list_length(different) < 2 || (uint64) most - (uint64) least != (uint64) list_length(different) - 1)
		return NULL;
	return (Node *) make_andclause(list_make2(compared(list, BTGreaterEqualStrategyNumber, first), compared(list, BTLessEqualStrategyNumber, last)));
}

/* Returns that a value is one of a list, or none of it. */
static Node *
as_array(const ValueList *list)
{
	ArrayExpr  *array = dp_make(ArrayExpr, .array_typeid = get_array_type(list->type));

	array->array_collid = get_typcollation(array->array_typeid);
	array->element_typeid = list->type;
	array->elements = list->constants;
	array->location = -1;
	return (Node *) dp_make_array_comparison(list->is_none ? get_negator(list->equality) : list->equality, !list->is_none,
											 (Expr *) copyObject(list->value), (Expr *) eval_const_expressions(NULL, (Node *) array),
											 list->collation);
}

static Node *
written(const ValueList *list)
{
	Node	   *range = as_range(list);

	return range ? range : as_array(list);
}

/* ------------------------------------------------------------------------
 * Several comparisons of one value
 * ------------------------------------------------------------------------
 */

/*
 * Returns equalities of one value, of which one is true, as one comparison: with a range, if
 * the constants leave no gap in it, else with all of them.
 */
Node *
dp_plain_list(Node *condition)
{
	ValueList	list;
	ValueList	other;
	Node	   *range;
	ListCell   *lc;

	if (!is_orclause(condition))
	{
		range = read_list(condition, &list) ? as_range(&list) : NULL;
		return range ? range : condition;
	}
	if (!read_list(linitial(((BoolExpr *) condition)->args), &list) || list.is_none)
		return condition;
	for_each_from(lc, ((BoolExpr *) condition)->args, 1)
		if (!read_list(lfirst(lc), &other) || !add_list(&list, &other))
		return condition;
	return written(&list);
}

List *
dp_join_exclusions(List *conjuncts)
{
	List	   *result = NIL;
	ListCell   *former;

	foreach_ptr(Node, conjunct, conjuncts)
	{
		ValueList	list;
		ValueList	other;
		bool		is_joined = false;

		foreach(former, read_list(conjunct, &list) && list.is_none ? result : NIL)
		{
			is_joined = read_list(lfirst(former), &other) && add_list(&other, &list);
			if (!is_joined)
				continue;
			lfirst(former) = as_array(&other);
			break;
		}
		if (!is_joined)
			result = lappend(result, conjunct);
	}
	return result;
}

/* ------------------------------------------------------------------------
 * Joins with constants
 * ------------------------------------------------------------------------
 */

/* Returns an expression as its value; NULL: that is not the same whenever the query runs. */
static Const *
known_value(Node *node)
{
	return dp_is_unfoldable(node, NULL) || contain_mutable_functions(node) ? NULL : dp_fold(node);
}

/* Returns the constants of a column of rows that are written out; NIL: they are others. */
static List *
constants_of_column(Query *query, Var *column)
{
	RangeTblEntry *rte;
	List	   *constants = NIL;
	Const	   *constant;
	TargetEntry *tle;

	if (column->varlevelsup != 0 || column->varattno <= 0)
		return NIL;
	rte = rt_fetch(column->varno, query->rtable);
	if (rte->rtekind == RTE_SUBQUERY)
	{
		/* nothing is known of what takes rows away, or adds some */
		tle = rte->subquery->setOperations ? NULL : get_tle_by_resno(rte->subquery->targetList, column->varattno);
		if (tle == NULL || rte->subquery->groupingSets != NIL)
			return NIL;
		if (IsA(tle->expr, Var))
			return constants_of_column(rte->subquery, (Var *) tle->expr);
		constant = known_value((Node *) tle->expr);
		return constant != NULL && !constant->constisnull ? list_make1(constant) : NIL;
	}
	foreach_ptr(const List, item, rte->rtekind == RTE_VALUES && list_length(rte->values_lists) <= MOST_CONSTANTS ? rte->values_lists : NIL)
	{
		constant = known_value(list_nth(item, column->varattno - 1));
		if (constant == NULL)
			return NIL;
		/* equal to nothing */
		if (!constant->constisnull)
			constants = list_append_unique(constants, constant);
	}
	return constants;
}

Node *
dp_follows_from_join(Query *query, Node *condition)
{
	DpComparison c;
	ValueList	list = {0};

	for (int side = 0; side < 2 && list.constants == NIL && dp_read_side(condition, side, &c); side++)
	{
		Node	   *column = dp_strip_relabel(c.right);

		if (IsA(column, Var))
			list.constants = constants_of_column(query, (Var *) column);
	}
	if (list.constants == NIL)
		return NULL;
	list.value = c.left;
	list.type = exprType(list.value);
	list.equality = c.opno;
	list.collation = c.collation;
	if (!contain_var_clause(list.value) || contain_volatile_functions(list.value) || !is_equality(list.equality, list.type) ||
		!OidIsValid(get_array_type(list.type)))
		return NULL;
	foreach_ptr(Node, constant, list.constants)
		if (exprType(constant) != list.type)
		return NULL;
	return written(&list);
}
