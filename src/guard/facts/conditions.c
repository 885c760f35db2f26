/*-------------------------------------------------------------------------
 *
 * conditions.c
 *	  Conditions as comparisons with constants, combined by AND and OR.
 *
 * Constants are literals, parameters and the clock: what is known when rows are read.
 *
 * Invariant: where the condition is true, what is read of it is true, too.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_operator_d.h"
#include "guard/facts/facts.h"
#include "guard/vet/allow.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

/* the most comparisons that are looked at */
#define MOST_COMPARISONS 200

/* Tells whether node is, at each place, a comparison by which a value is limited: not <>, not NOT IN. */
static bool
is_limit(Node *node, const DpCellTest *test)
{
	DpComparison c;

	if (!dp_read_comparison(node, &c) || c.is_distinct || !c.is_any)
		return false;
	return c.is_array ? test->opno == Int4EqualOperator && test->constants != NIL : test->opno != get_negator(Int4EqualOperator);
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
	return is_limit(node, &condition->test) ? condition : NULL;
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
