/*-------------------------------------------------------------------------
 *
 * conditions.c
 *	  Conditions as comparisons of expressions with constants, combined by AND and OR.
 *
 * Constants are literals, parameters and the clock: what is known when rows are read.
 *
 * Whatever the types of both sides are, constants are those of one type, by
 * the order of which the expression's values are compared with them.
 *
 * Invariants:
 *	- where the condition is true, what is read of it is true, too;
 *	- casts that are left out, or put around constants, change no comparison.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "guard/facts/facts.h"
#include "guard/facts/lists.h"
#include "guard/level.h"
#include "guard/vet/allow.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------------
 * Comparisons
 * ------------------------------------------------------------------------
 */

static DpWalk
is_case_test(Node *node, int levels, void *context)
{
	if (IsA(node, ArrayCoerceExpr))
		return dp_reads_case((Node *) ((ArrayCoerceExpr *) node)->arg) ? DP_WALK_STOP : DP_WALK_PAST;
	return IsA(node, CaseTestExpr);
}

bool
dp_reads_case(Node *node)
{
	return dp_walk(node, is_case_test, NULL);
}

bool
dp_type_is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool
is_float(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID;
}

static bool
is_local_time(Oid type)
{
	return type == DATEOID || type == TIMESTAMPOID;
}

Node *
dp_strip_casts(Node *node)
{
	node = dp_strip_labels(node);
	if (IsA(node, FuncExpr))
		switch (((FuncExpr *) node)->funcid)
		{
			case F_NUMERIC_INT2:
			case F_NUMERIC_INT4:
			case F_NUMERIC_INT8:
			case F_INT4_INT2:
			case F_INT8_INT2:
			case F_INT8_INT4:
			case F_FLOAT8_FLOAT4:
				return dp_strip_casts(linitial(((FuncExpr *) node)->args));
			default:
				break;
		}
	return node;
}

/* Returns the type in which values of one type are compared with constants of another; InvalidOid: it is not known. */
static Oid
common_type(Oid value, Oid constant)
{
	if ((dp_type_is_integer(value) && dp_type_is_integer(constant)) || (value == NUMERICOID && constant == NUMERICOID))
		return NUMERICOID;
	if (is_float(value) && is_float(constant))
		return FLOAT8OID;
	if (value == constant)
		return value;
	if ((is_local_time(value) || value == TIMESTAMPTZOID) && constant == TIMESTAMPTZOID)
		return TIMESTAMPTZOID;
	if (value == TIMESTAMPTZOID && is_local_time(constant))
		return TIMESTAMPTZOID;
	return is_local_time(value) && is_local_time(constant) ? TIMESTAMPOID : InvalidOid;
}

/* Returns the operator of numbers that an operator of the type's order becomes; InvalidOid: it is none. */
static Oid
number_operator(Oid opno, Oid type)
{
	static const Oid operators[] = {InvalidOid, Int4LessOperator, 523, Int4EqualOperator, 525, 521};
	int			strategy = dp_strategy_of(opno, type);

	if (strategy > 0)
		return operators[strategy];
	/* <> is the negator of = */
	return dp_strategy_of(get_negator(opno), type) == BTEqualStrategyNumber ? get_negator(Int4EqualOperator) : InvalidOid;
}

/* Tells whether an expression is known now, and is so whatever settings are later. */
static bool
is_known_now(Node *node)
{
	return !dp_is_unfoldable(node, NULL) && !contain_mutable_functions(node);
}

/* Adds a constant as one of the type; returns false if it may be none. */
static bool
add_constant(DpCellTest *test, Node *constant)
{
	Node	   *cast;

	/* dates reach further than timestamps */
	if (exprType(constant) == DATEOID && test->type != DATEOID && is_known_now(constant))
	{
		Const	   *date = dp_fold(constant);

		if (!date->constisnull && !DATE_NOT_FINITE(DatumGetDateADT(date->constvalue)) &&
			DatumGetDateADT(date->constvalue) >= TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE - 2)
			return false;
	}
	cast = exprType(constant) == test->type ? constant
		: coerce_to_target_type(NULL, constant, exprType(constant), test->type, -1, COERCION_EXPLICIT, COERCE_IMPLICIT_CAST, -1);
	if (cast == NULL)
		return false;
	test->constants = lappend(test->constants, is_known_now(cast) ? (Node *) dp_fold(cast) : copyObject(cast));
	return true;
}

/* Adds the elements of an array; returns false if they are not known one by one. */
static bool
add_elements(DpCellTest *test, Node *array)
{
	List	   *elements;

	if (!dp_list_elements(is_known_now(array) ? (Node *) dp_fold(array) : array, DP_MAX_CELL_CONSTANTS, &elements))
		return false;
	foreach_ptr(Node, element, elements)
	{
		if (!add_constant(test, element))
			return false;
	}
	return true;
}

bool
dp_get_cell_test(Node *node, DpCellTest *test)
{
	DpComparison c;
	Oid			type;

	memset(test, 0, sizeof(DpCellTest));
	if (!dp_read_comparison(node, &c))
		return false;
	if (!dp_has_columns(c.left) && !c.is_array)
		dp_turn_comparison(&c);
	if (!OidIsValid(c.opno) || dp_has_columns(c.right) || contain_volatile_functions(c.right))
		return false;
	type = c.is_array ? get_element_type(exprType(c.right)) : exprType(c.right);
	test->collation = c.collation;
	test->opno = number_operator(c.opno, exprType(c.left));
	test->type = OidIsValid(type) ? common_type(exprType(c.left), type) : InvalidOid;
	if (!OidIsValid(test->opno) || !OidIsValid(test->type) || !OidIsValid(get_array_type(test->type)) ||
		type_is_rowtype(test->type) || type_is_array(test->type))
		return false;
	test->of = c;
	test->expr = test->type == NUMERICOID || test->type == FLOAT8OID ? dp_strip_casts(c.left) : dp_strip_labels(c.left);
	return c.is_array ? add_elements(test, c.right) : add_constant(test, c.right);
}

/* ------------------------------------------------------------------------
 * CASE with an argument
 * ------------------------------------------------------------------------
 */

static Node *
put_argument(Node *node, int levels, Node *by)
{
	if (IsA(node, CaseTestExpr))
		return copyObject(by);
	/* what these compare is their own */
	return IsA(node, CaseExpr) || IsA(node, ArrayCoerceExpr) ? copyObject(node) : NULL;
}

Node *
dp_write_out_cases(Node *node, void *context)
{
	Node	   *copy;
	CaseExpr   *cases;

	if (node == NULL)
		return NULL;
	check_stack_depth();
	copy = expression_tree_mutator(node, dp_write_out_cases, context);
	cases = (CaseExpr *) copy;
	if (!IsA(copy, CaseExpr) || cases->arg == NULL || !IsA(dp_strip_labels((Node *) cases->arg), Var))
		return copy;
	foreach_node(CaseWhen, when, cases->args)
	{
		when->expr = (Expr *) dp_put(when->expr, put_argument, cases->arg);
	}
	cases->arg = NULL;
	return copy;
}

/* the most comparisons that are looked at */
#define MOST_COMPARISONS 200

/* Tells whether a comparison limits a value: it is not <>, not NOT IN. */
static bool
is_limit(const DpCellTest *test)
{
	if (test->of.is_distinct || !test->of.is_any)
		return false;
	return test->of.is_array ? test->opno == Int4EqualOperator && test->constants != NIL : test->opno != get_negator(Int4EqualOperator);
}

static DpCondition *
read_condition(Node *node, int *comparisons)
{
	DpCondition *condition = palloc0(sizeof(DpCondition));

	check_stack_depth();
	if (is_andclause(node) || is_orclause(node))
	{
		condition->is_or = is_orclause(node);
		foreach_ptr(Node, item, ((BoolExpr *) node)->args)
		{
			DpCondition *arg = read_condition(item, comparisons);

			if (arg != NULL)
				condition->args = lappend(condition->args, arg);
			else if (condition->is_or)
				return NULL;
		}
		return condition->args != NIL ? condition : NULL;
	}
	if (++*comparisons > MOST_COMPARISONS || dp_has_nodes(node, T_SubLink, T_Aggref, T_WindowFunc, T_GroupingFunc, T_CaseTestExpr) ||
		!dp_get_cell_test(node, &condition->test))
		return NULL;
	return is_limit(&condition->test) ? condition : NULL;
}

DpCondition *
dp_limits_of_condition(Node *condition)
{
	int			comparisons = 0;

	return read_condition(condition, &comparisons);
}

List *
dp_limits_of_conditions(List *conditions)
{
	int			comparisons = 0;
	List	   *result = NIL;

	foreach_ptr(Node, item, conditions)
	{
		DpCondition *condition = read_condition(item, &comparisons);

		if (condition != NULL)
			result = lappend(result, condition);
	}
	return result;
}

/* Returns value IN (list) as a comparison with each. */
static DpCondition *
one_of_each(const DpCondition *condition)
{
	DpCondition *any = palloc0(sizeof(DpCondition));

	any->is_or = true;
	foreach_ptr(Node, constant, condition->test.constants)
	{
		DpCondition *one = palloc0(sizeof(DpCondition));

		one->test = condition->test;
		one->test.constants = list_make1(constant);
		any->args = lappend(any->args, one);
	}
	return any;
}

Node *
dp_follows_from(DpCondition *condition, DpFollows of_comparison, void *context)
{
	List	   *args = NIL;

	check_stack_depth();
	if (condition->args == NIL && list_length(condition->test.constants) < 2)
		return of_comparison(condition, context);
	if (condition->args == NIL)
		condition = one_of_each(condition);
	foreach_ptr(DpCondition, item, condition->args)
	{
		Node	   *arg = dp_follows_from(item, of_comparison, context);

		if (arg != NULL)
			args = lappend(args, arg);
		else if (condition->is_or)
			return NULL;
	}
	if (list_length(args) < 2)
		return args != NIL ? linitial(args) : NULL;
	return (Node *) makeBoolExpr(condition->is_or ? OR_EXPR : AND_EXPR, args, -1);
}

Node *
dp_known_part(Node *condition, DpKnown known, void *context, bool *whole)
{
	Node	   *part = known(condition, context);
	List	   *args = NIL;

	check_stack_depth();
	if (part != NULL)
		return part;
	*whole = false;
	if (!is_andclause(condition) && !is_orclause(condition))
		return NULL;
	foreach_ptr(Node, arg, ((BoolExpr *) condition)->args)
	{
		part = dp_known_part(arg, known, context, whole);
		if (part != NULL)
			args = lappend(args, part);
		else if (is_orclause(condition))
			return NULL;
	}
	return args == NIL ? NULL : (Node *) makeBoolExpr(((BoolExpr *) condition)->boolop, args, -1);
}
