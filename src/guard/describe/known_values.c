/*-------------------------------------------------------------------------
 *
 * known_values.c
 *	  Values that protected columns, and expressions over them, can have in the key query
 *	  of a level.
 *
 * In rows that satisfy its conditions a protected column is
 * - a public expression that an equality of WHERE or of an inner join names,
 * - one of the values that the policy declares; rows of other values are left
 *	 out,
 * - one of the values of a list that it is compared with,
 * - an expression without columns that it is equal to.
 *
 * Invariant: where values that are equal may be written differently (1.0,
 * 1.00), what would tell the spellings apart is not known.  A value that
 * stands for a column has the form that the column's type gives it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/describe/forms.h"
#include "guard/describe/key_query.h"
#include "guard/facts/facts.h"
#include "guard/read/read.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------------
 * What an expression reads
 * ------------------------------------------------------------------------
 */

static DpWalk
is_private(Node *node, int levels, const DpKeyQuery *s)
{
	return IsA(node, Var) && dp_key_query_item(s, ((Var *) node)->varno)->is_private;
}

/* Tells whether an expression reads protected columns. */
static bool
reads_private(DpKeyQuery *s, Node *node)
{
	return dp_walk(node, is_private, s);
}

/* ------------------------------------------------------------------------
 * Equalities
 * ------------------------------------------------------------------------
 */

static DpKeyQueryClass *
class_of(DpKeyQuery *s, Node *expr)
{
	foreach_ptr(DpKeyQueryClass, class, s->classes)
	{
		if (list_member(class->members, expr))
			return class;
	}
	return NULL;
}

static DpKeyQueryClass *
make_class(DpKeyQuery *s, Node *expr)
{
	DpKeyQueryClass *class = class_of(s, expr);

	if (class == NULL)
	{
		class = palloc0(sizeof(DpKeyQueryClass));
		class->members = list_make1(expr);
		s->classes = lappend(s->classes, class);
	}
	return class;
}

/*
 * Adds an equality once more for cells of what a cast is left out of: in
 * WHERE n = 1.0 the class knows of n::numeric only.
 */
static void
keep_for_cells(DpKeyQuery *s, const DpKeyQueryCondition *condition, Node *left, Node *right)
{
	DpCellTest	test;
	DpKeyQueryCondition *kept;

	if (!dp_get_cell_test(condition->expr, &test) || equal(test.expr, left) || equal(test.expr, right))
		return;
	kept = dp_key_query_add_condition(s, condition->expr);
	kept->follows = true;
	kept->by_cells = true;
}

void
dp_key_query_equate(DpKeyQuery *s)
{
	foreach_ptr(DpKeyQueryCondition, condition, list_copy(s->conditions))
	{
		DpKeyQueryClass *a,
				   *b;
		Node	   *left,
				   *right;

		/* rows without a match do not satisfy an outer join's */
		if (!bms_is_empty(condition->joins) || !dp_is_equality(condition->expr, &left, &right))
			continue;
		keep_for_cells(s, condition, left, right);
		a = make_class(s, left);
		b = make_class(s, right);
		if (a == b)
			continue;
		a->members = list_concat(a->members, b->members);
		s->classes = list_delete_ptr(s->classes, b);
	}
}

/* ------------------------------------------------------------------------
 * Forms of a value
 * ------------------------------------------------------------------------
 */

/* Tells whether equal values of the expression may be different bytes. */
static bool
has_forms(Node *expr)
{
	return IsA(dp_canonical_key((Node *) makeNullConst(exprType(expr), exprTypmod(expr), exprCollation(expr))),
			   FuncExpr);
}

/*
 * Returns value as a column with this typmod has it.  Other values are equal
 * to none of the column's: *fits, unless it is NULL, is the condition that it
 * is not such a one.
 */
static Node *
fit_value(Node *value, Node *column, Node **fits)
{
	int32		typmod = exprTypmod(column);
	Oid			type = exprType(column);
	Oid			equality;
	Node	   *fitted;

	*fits = NULL;
	if (typmod < (int32) VARHDRSZ || exprTypmod(value) == typmod)
		return value;
	if (type == NUMERICOID)
	{
		fitted = (Node *) makeFuncExpr(F_ROUND_NUMERIC_INT4, type,
									   list_make2(value, dp_int4_const(dp_numeric_scale(typmod))),
									   InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
		equality = F_NUMERIC_EQ;
	}
	else if (type == BPCHAROID || type == VARCHAROID)
	{
		fitted = (Node *) makeFuncExpr(type == BPCHAROID ? F_BPCHAR_BPCHAR_INT4_BOOL : F_VARCHAR_VARCHAR_INT4_BOOL, type,
									   list_make3(value, dp_int4_const(typmod), makeBoolConst(true, false)),
									   exprCollation(value), exprCollation(value), COERCE_EXPLICIT_CALL);
		equality = type == BPCHAROID ? F_BPCHAREQ : F_TEXTEQ;
	}
	else
		return value;
	*fits = (Node *) makeFuncExpr(equality, BOOLOID, list_make2(copyObject(fitted), copyObject(value)),
								  InvalidOid, exprCollation(value), COERCE_EXPLICIT_CALL);
	return fitted;
}

/* ------------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------------
 */

typedef struct ResolveContext
{
	DpKeyQuery *s;
	DpKeyQueryLists with_lists;
	bool		unknown;
	Bitmapset  *items;			/* what is read */
	bool		form_matters;	/* an argument of what may tell spellings
								 * apart */
} ResolveContext;

/* Returns the member of its class that expr is known by: a public one, or else, constant, one without columns. */
static Node *
known_member(DpKeyQuery *s, Node *expr, bool constant)
{
	DpKeyQueryClass *class = class_of(s, expr);

	foreach_ptr(Node, member, class ? class->members : NIL)
	{
		if (!reads_private(s, member) && dp_has_columns(member) != constant)
			return member;
	}
	return NULL;
}

Node *
dp_key_query_known_by(DpKeyQuery *s, Node *expr)
{
	return known_member(s, expr, false);
}

Node *
dp_key_query_constant(DpKeyQuery *s, Node *expr)
{
	return known_member(s, expr, true);
}

/* Returns what a protected expression is known to be, but for its form; NULL: it is not known as a whole. */
static Node *
known_value(DpKeyQuery *s, Node *expr, DpKeyQueryLists with_lists)
{
	Node	   *member = known_member(s, expr, false);
	Node	   *value = s->is_planned ? NULL : member;
	Node	   *fits = NULL;
	DpKeyQueryItem *list = NULL;

	if (value == NULL)
	{
		list = dp_key_query_find_list(s, expr);
		if (list == NULL && (with_lists == DP_LISTS_ANY || (with_lists == DP_LISTS_KNOWN && IsA(expr, Var))))
			list = dp_key_query_make_list(s, expr, known_member(s, expr, true) == NULL);
		if (list == NULL && s->is_planned && member != NULL && IsA(member, Var))
			list = dp_key_query_list_public(s, (Var *) member);
		if (list != NULL && (list->policy != NULL || list->is_series))
			return dp_key_query_list_var(list);
		if (list != NULL)
			value = dp_key_query_list_var(list);
	}
	if (value == NULL)
		value = known_member(s, expr, true);
	if (value == NULL)
		return NULL;
	value = copyObject(value);
	if (exprType(value) != exprType(expr))
		value = (Node *) makeRelabelType((Expr *) value, exprType(expr), -1, exprCollation(expr), COERCE_IMPLICIT_CAST);
	value = fit_value(value, expr, &fits);
	/* NULL may be in a list */
	if (fits != NULL && list != NULL)
		fits = (Node *) dp_make(BooleanTest, .arg = (Expr *) fits, .booltesttype = IS_NOT_FALSE, .location = -1);
	if (fits != NULL && !list_member(s->fits, fits))
	{
		s->fits = lappend(s->fits, fits);
		dp_key_query_add_condition(s, fits);
	}
	return value;
}

/*
 * Tells whether the form of an expression, labels aside, is all that may not be
 * known of it: it is known as a whole, or a number computed of such.
 */
static bool
is_formed(ResolveContext *c, Node *arg)
{
	List	   *numbers;

	check_stack_depth();
	arg = dp_strip_labels(arg);
	if (!reads_private(c->s, arg))
		return true;
	if (has_forms(arg) && known_value(c->s, arg, c->with_lists) != NULL)
		return true;
	numbers = dp_numbers_of_call(arg);
	foreach_ptr(Node, number, numbers)
	{
		if (has_forms(number) && !is_formed(c, number))
			return false;
	}
	return numbers != NIL;
}

static Node *resolve_parts(Node *node, ResolveContext *c);

/* Resolves an expression as a whole: what the conditions say that it is; NULL: nothing. */
static Node *
resolve_whole(Node *node, ResolveContext *c)
{
	Node	   *value = known_value(c->s, node, c->with_lists);

	if (value == NULL)
		return NULL;
	c->unknown |= c->form_matters && has_forms(node);
	c->items = bms_add_members(c->items, pull_varnos(NULL, value));
	return value;
}

/* Resolves an expression of which no more is known than that it has few results, where lists of these may be made; NULL: it has many. */
static Node *
resolve_results(Node *node, ResolveContext *c)
{
	DpKeyQueryItem *list = c->with_lists == DP_LISTS_ANY ? dp_key_query_list_results(c->s, node) : NULL;

	if (list == NULL)
		return NULL;
	c->items = bms_add_member(c->items, list->number);
	return dp_key_query_list_var(list);
}

static Node *
resolve_mutator(Node *node, ResolveContext *c)
{
	ResolveContext parts = *c;
	Node	   *value;

	if (node == NULL)
		return NULL;
	check_stack_depth();
	if (IsA(node, Var))
	{
		if (!dp_key_query_item(c->s, ((Var *) node)->varno)->is_private)
		{
			DpKeyQueryItem *list = c->s->is_planned ? dp_key_query_list_public(c->s, (Var *) node) : NULL;

			c->unknown |= c->s->is_planned && list == NULL;
			c->items = bms_add_member(c->items, list ? list->number : ((Var *) node)->varno);
			return list ? dp_key_query_list_var(list) : copyObject(node);
		}
		value = resolve_whole(node, c);
		if (value == NULL)
			value = dp_key_query_tell_cells(c->s, node, &c->items);
		if (value == NULL)
			value = resolve_results(node, c);
		c->unknown |= value == NULL;
		return value ? value : node;
	}

	/*
	 * an equality would say nothing of itself if both sides were taken for
	 * one another
	 */
	parts.unknown = false;
	parts.with_lists = Min(c->with_lists, DP_LISTS_KNOWN);
	value = resolve_parts(node, &parts);
	if (parts.unknown)
	{
		/* walkers do not know of CaseWhen by itself */
		bool		is_expr = !IsA(node, CaseWhen) && !IsA(node, List);
		Node	   *whole = is_expr && reads_private(c->s, node) ? resolve_whole(node, c) : NULL;

		if (whole == NULL)
			whole = dp_key_query_tell_cells(c->s, node, &c->items);
		if (whole == NULL && is_expr)
			whole = resolve_results(node, c);
		if (whole != NULL)
			return whole;
		/* parts of it may have few results */
		parts = *c;
		parts.unknown = c->with_lists != DP_LISTS_ANY;
		if (!parts.unknown)
			value = resolve_parts(node, &parts);
		c->unknown |= parts.unknown;
		if (parts.unknown)
			return value;
	}
	c->items = bms_add_members(c->items, parts.items);
	return value;
}

static Node *
resolve_parts(Node *node, ResolveContext *c)
{
	Node	   *result;
	bool		outer = c->form_matters;
	DpComparison compared;

	c->form_matters = !IsA(node, RelabelType) && !IsA(node, CollateExpr) && !IsA(node, BoolExpr);

	/*
	 * what compares takes all forms for the same, if both sides are such, or
	 * do not read what has forms
	 */
	if (IsA(node, NullTest))
		c->form_matters = !is_formed(c, (Node *) ((NullTest *) node)->arg);
	else if (dp_read_comparison(node, &compared))
		c->form_matters = !dp_compares_by_order(compared.opno, exprType(dp_strip_labels(compared.left))) || !is_formed(c, compared.left) ||
			(!compared.is_array && !is_formed(c, compared.right));

	/*
	 * a list of arguments is as what it is the list of; equal numbers make
	 * equal ones
	 */
	if (IsA(node, List) || dp_numbers_of_call(node) != NIL)
		c->form_matters = outer;
	result = expression_tree_mutator(node, resolve_mutator, c);
	c->form_matters = outer;
	return result;
}

Node *
dp_key_query_resolve(DpKeyQuery *s, Node *expr, DpKeyQueryLists with_lists, Bitmapset **items)
{
	ResolveContext c = {.s = s, .with_lists = with_lists};
	Node	   *resolved = resolve_mutator(expr, &c);

	if (c.unknown)
		return NULL;
	*items = bms_add_members(*items, c.items);
	return resolved;
}

Node *
dp_key_query_resolve_condition(DpKeyQuery *s, const DpKeyQueryCondition *condition, Node *part, Bitmapset **items)
{
	return condition->by_cells ? dp_key_query_tell_cells(s, part, items) : dp_key_query_resolve(s, part, DP_LISTS_FOUND, items);
}
