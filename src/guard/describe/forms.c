/*-------------------------------------------------------------------------
 *
 * forms.c
 *	  Which expressions tell apart values that are equal but written differently
 *	  (1.0 and 1.00, 0 and -0).
 *
 * Sums, products and roundings of equal numbers are equal, in whatever form
 * these are. So are casts of numbers to numbers. Quotients of numeric are not: they have more digits
 * where their arguments have.
 *
 * Invariant: a function is taken for one that tells nothing of forms only if
 * functions.def says so.
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
#include "guard/describe/forms.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------------
 * Functions of numbers
 * ------------------------------------------------------------------------
 */

static bool
has_several_forms(Oid number)
{
	return number == FLOAT4OID || number == FLOAT8OID || number == NUMERICOID;
}

List *
dp_numbers_of_call(Node *node)
{
	List	   *args;
	DpFunctionKind kind = dp_call_kind(node, &args);

	foreach_ptr(Node, arg, args)
	{
		if (!dp_is_number(exprType(arg)))
			return NIL;
	}
	return dp_function_facts(kind)->of_equals && dp_is_number(exprType(node)) ? args : NIL;
}

/* ------------------------------------------------------------------------
 * Conditions on a key
 * ------------------------------------------------------------------------
 */

bool
dp_reads_param(Node *node)
{
	return dp_has_nodes(node, T_Param);
}

typedef struct FormContext
{
	bool		has_forms;		/* equal values of the key may be different
								 * bytes */
	Oid			type;
} FormContext;

/* Tells whether values of the type are written and read as settings say. */
static bool
follows_settings(Oid type)
{
	TYPCATEGORY category = TypeCategory(getBaseType(type));

	return category == TYPCATEGORY_DATETIME || category == TYPCATEGORY_TIMESPAN;
}

/* Tells whether an expression is the key, or a number of which equal keys make equal ones. */
static bool
is_same_of_equals(Node *node)
{
	List	   *args;

	check_stack_depth();
	node = dp_strip_labels(node);
	if (IsA(node, Param) || !dp_reads_param(node))
		return true;
	args = dp_numbers_of_call(node);
	foreach_ptr(Node, arg, args)
	{
		if (!is_same_of_equals(arg))
			return false;
	}
	return args != NIL;
}

static bool
sees_form(Node *node, FormContext *c)
{
	List	   *args = NIL;
	DpComparison comparison;

	if (node == NULL)
		return false;
	check_stack_depth();
	if (IsA(node, CoerceViaIO) && (c->has_forms || follows_settings(exprType(node)) ||
								   follows_settings(exprType((Node *) ((CoerceViaIO *) node)->arg))))
		return dp_reads_param(node);
	if (!c->has_forms)
		return expression_tree_walker(node, sees_form, c);
	/* whole numbers are written in one way */
	if (dp_numbers_of_call(node) != NIL && !has_several_forms(exprType(node)) && is_same_of_equals(node))
		return false;
	if (IsA(node, Param))
		return true;
	if (IsA(node, NullTest))
		args = list_make1(((NullTest *) node)->arg);
	else if (dp_read_comparison(node, &comparison))
	{
		Oid			type = exprType(comparison.left);

		if (dp_compares_by_order(comparison.opno, c->type) || (dp_is_number(type) && dp_compares_by_order(comparison.opno, type)))
			args = list_make2(comparison.left, comparison.right);
	}
	if (args == NIL)
		return expression_tree_walker(node, sees_form, c);
	foreach_ptr(Node, arg, args)
	{
		if (!is_same_of_equals(arg) && sees_form(dp_strip_labels(arg), c))
			return true;
	}
	return false;
}

bool
dp_sees_form(Node *test, Oid type, bool has_forms)
{
	FormContext c = {has_forms, type};

	return sees_form(test, &c);
}
