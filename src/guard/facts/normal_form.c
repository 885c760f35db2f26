/*-------------------------------------------------------------------------
 *
 * normal_form.c
 *	  Conditions in one form, whichever of several somebody has written.
 *
 * NOT stands before nothing that has a negation of its own; what OR has in common is
 * outside of it; two values that are equal, or both NULL, are compared by IS NOT DISTINCT FROM, which of a
 * constant is an equality; CASE WHEN x THEN true END,
 * coalesce(x, false) and x IS TRUE are x; what can be true of no value, as one half of BETWEEN
 * SYMMETRIC, is left out; comparisons of one value with several constants are one (lists.c).
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
#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "guard/facts/facts.h"
#include "guard/facts/lists.h"
#include "guard/level.h"
#include "guard/vet/allow.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

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

/* Tells whether a negation calls nothing but what the allow-list has. */
static bool
may_run(Node *node)
{
	DpComparison c;

	return !dp_read_comparison(node, &c) || dp_allowed_function(get_opcode(c.opno)) != NULL;
}

static Node *
plain_args(BoolExpr *of, bool negate)
{
	BoolExprType type = (of->boolop == AND_EXPR) != negate ? AND_EXPR : OR_EXPR;
	List	   *args = NIL;

	foreach_ptr(Node, arg, of->args)
		args = lappend(args, plain_form(negate ? (Node *) make_notclause((Expr *) arg) : arg));
	return (Node *) makeBoolExpr(type, args, of->location);
}

/* Returns the plain form of NOT condition. */
static Node *
plain_negation(Node *condition)
{
	DpComparison c;
	Node	   *negated;

	if (IsA(condition, BoolExpr))
		return is_notclause(condition) ? plain_form((Node *) get_notclausearg(condition)) : plain_args((BoolExpr *) condition, true);
	if (dp_read_comparison(condition, &c) && c.is_distinct && (dp_is_value(c.left) || dp_is_value(c.right)))
	{
		c.is_distinct = false;
		return copyObject(dp_write_comparison(&c));
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

/* Reads a comparison with a constant and returns its strategy; 0: it is another. */
static int
strategy_with_constant(Node *node, DpComparison *c)
{
	return dp_read_operator(node, c) && is_value(c->right) && exprType(c->right) == exprType(c->left)
		? dp_strategy_of(c->opno, exprType(c->right)) : 0;
}

/* Tells whether two conditions exclude each other: the value is to be above one constant and below a smaller one. */
static bool
do_exclude(Node *a, Node *b)
{
	DpComparison low;
	DpComparison high;
	int			above = strategy_with_constant(a, &low);
	int			below = strategy_with_constant(b, &high);

	return (above == BTGreaterEqualStrategyNumber || above == BTGreaterStrategyNumber) &&
		(below == BTLessEqualStrategyNumber || below == BTLessStrategyNumber) && exprType(low.right) == exprType(high.right) &&
		equal(low.left, high.left) && low.collation == high.collation &&
		DatumGetInt32(FunctionCall2Coll(&lookup_type_cache(exprType(low.right), TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo, low.collation,
										((Const *) low.right)->constvalue, ((Const *) high.right)->constvalue)) > 0;
}

static bool
is_impossible(Node *condition)
{
	List	   *conjuncts = dp_conjuncts(condition);

	/* of more nobody writes one by hand */
	if (list_length(conjuncts) > 10)
		return false;
	foreach_ptr(Node, conjunct, conjuncts)
	{
		foreach_ptr(Node, item, conjuncts)
			if (do_exclude(conjunct, item))
			return true;
	}
	return false;
}

/* Leaves out of OR what is true of nothing, unless all of it is. */
static Node *
without_impossible(Node *condition)
{
	List	   *args = NIL;

	foreach_ptr(Node, item, is_orclause(condition) ? ((BoolExpr *) condition)->args : NIL)
		if (!is_impossible(item))
		args = lappend(args, item);
	return args == NIL ? condition : (Node *) make_orclause(args);
}

/* Returns the value of which a condition says that it is NULL, without casts; NULL: it says another thing. */
static Node *
null_value(Node *condition)
{
	NullTest   *test = (NullTest *) condition;

	return IsA(condition, NullTest) && test->nulltesttype == IS_NULL && !test->argisrow ? dp_strip_casts((Node *) test->arg) : NULL;
}

/* Reads a AND b; each says that a value is NULL. */
static bool
read_null_values(Node *condition, Node **a, Node **b)
{
	List	   *args = is_andclause(condition) ? ((BoolExpr *) condition)->args : NIL;

	*a = list_length(args) == 2 ? null_value(linitial(args)) : NULL;
	*b = list_length(args) == 2 ? null_value(lsecond(args)) : NULL;
	return *a != NULL && *b != NULL && !contain_volatile_functions(condition);
}

/* Returns left IS NOT DISTINCT FROM right where a condition is left = right, of the two values; NULL: it is another. */
static Node *
equal_or_null(Node *condition, Node *a, Node *b)
{
	DpComparison c;
	Node	   *left;
	Node	   *right;

	if (!dp_read_operator(condition, &c) || !op_mergejoinable(c.opno, exprType(c.left)) || !op_strict(c.opno))
		return NULL;
	left = dp_strip_casts(c.left);
	right = dp_strip_casts(c.right);
	if (!(equal(left, a) && equal(right, b)) && !(equal(left, b) && equal(right, a)))
		return NULL;
	c.is_distinct = true;
	return plain_negation(dp_write_comparison(&c));
}

/* Writes a = b OR (a IS NULL AND b IS NULL) as one comparison, also among others. */
static Node *
with_null_values(Node *condition)
{
	List	   *args = is_orclause(condition) ? list_copy(((BoolExpr *) condition)->args) : NIL;
	Node	   *a;
	Node	   *b;

	foreach_ptr(Node, nulls, args)
	{
		bool		found = false;
		ListCell   *lc;

		if (!read_null_values(nulls, &a, &b))
			continue;
		foreach(lc, args)
		{
			Node	   *joined = equal_or_null(lfirst(lc), a, b);

			if (joined == NULL)
				continue;
			lfirst(lc) = joined;
			found = true;
		}
		if (found)
			args = foreach_delete_current(args, nulls);
	}
	return args == NIL ? condition : list_length(args) == 1 ? linitial(args) : (Node *) make_orclause(args);
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
			: dp_plain_list(with_null_values(without_impossible(plain_args((BoolExpr *) condition, false))));
	if (IsA(condition, ScalarArrayOpExpr))
		return dp_plain_list(condition);
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
	if (condition == NULL)
		return NULL;
	condition = (Node *) canonicalize_qual((Expr *) plain_form(condition), false);
	return (Node *) make_ands_explicit(dp_join_exclusions(dp_conjuncts(condition)));
}

/* Returns conditions of a query in their normal form, with what follows from joins with constants. */
static Node *
normal_form_in(Query *query, Node *condition)
{
	List	   *conjuncts = dp_conjuncts(dp_normal_form(condition));
	List	   *following = NIL;

	foreach_ptr(Node, conjunct, conjuncts)
	{
		Node	   *follows = dp_follows_from_join(query, conjunct);

		if (follows != NULL)
			following = list_concat(following, dp_conjuncts(follows));
	}
	return conjuncts == NIL ? condition : (Node *) make_ands_explicit(list_concat(conjuncts, following));
}

static bool
normalise_walker(Node *node, Query *query)
{
	if (node == NULL)
		return false;
	check_stack_depth();
	switch (nodeTag(node))
	{
		case T_Query:
			((Query *) node)->havingQual = dp_normal_form(((Query *) node)->havingQual);
			return query_tree_walker((Query *) node, normalise_walker, node, 0);
		case T_FromExpr:
			((FromExpr *) node)->quals = normal_form_in(query, ((FromExpr *) node)->quals);
			break;
		case T_JoinExpr:
			/* a FULL JOIN takes no condition that is none of both sides */
			((JoinExpr *) node)->quals = ((JoinExpr *) node)->jointype == JOIN_FULL ? dp_normal_form(((JoinExpr *) node)->quals)
				: normal_form_in(query, ((JoinExpr *) node)->quals);
			break;
		case T_Aggref:
			((Aggref *) node)->aggfilter = (Expr *) dp_normal_form((Node *) ((Aggref *) node)->aggfilter);
			break;
		case T_CaseExpr:
			if (((CaseExpr *) node)->arg == NULL)
			{
				foreach_node(CaseWhen, when, ((CaseExpr *) node)->args)
				{
					when->expr = (Expr *) dp_normal_form((Node *) when->expr);
				}
			}
			break;
		default:
			break;
	}
	return expression_tree_walker(node, normalise_walker, query);
}

void
dp_normalise_conditions(Query *query)
{
	normalise_walker((Node *) query, NULL);
}
