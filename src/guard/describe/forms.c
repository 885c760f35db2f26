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
 * it is listed here, and PostgreSQL's or the safe variant of that.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/key_values.h"
#include "guard/facts/facts.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* ------------------------------------------------------------------------
 * Functions of numbers
 * ------------------------------------------------------------------------
 */

static bool
is_number(Oid type)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			return true;
		default:
			return false;
	}
}

static bool
has_several_forms(Oid number)
{
	return number == FLOAT4OID || number == FLOAT8OID || number == NUMERICOID;
}

List *
dp_numbers_of_call(Node *node)
{
	static const char *const names[] = {"abs", "add", "ceil", "ceiling", "float4", "float8", "floor", "int2", "int4", "int8", "mod",
	"multiply", "negate", "numeric", "plus", "round", "sign", "subtract", "trunc"};
	const char *name;
	List	   *args = dp_arguments_of(node, &name);
	ListCell   *lc;

	foreach(lc, args)
	{
		if (!is_number(exprType(lfirst(lc))))
			return NIL;
	}
	if (args == NIL || !is_number(exprType(node)))
		return NIL;
	for (int i = 0; i < lengthof(names); i++)
		if (strcmp(names[i], name) == 0)
			return args;
	return NIL;
}

/* ------------------------------------------------------------------------
 * Conditions on a key
 * ------------------------------------------------------------------------
 */

static bool
param_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, Param) || expression_tree_walker(node, param_walker, context);
}

bool
dp_reads_param(Node *node)
{
	return param_walker(node, NULL);
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

/* Tells whether an operator compares values by the order of a type. */
static bool
compares(Oid opno, Oid type)
{
	Oid			opfamily = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	Oid			negator = get_negator(opno);

	/* <> is the negator of = */
	return get_op_opfamily_strategy(opno, opfamily) != 0 ||
		(OidIsValid(negator) && get_op_opfamily_strategy(negator, opfamily) != 0);
}

/* Tells whether an expression is the key, or a number of which equal keys make equal ones. */
static bool
is_same_of_equals(Node *node)
{
	List	   *args;
	ListCell   *lc;

	check_stack_depth();
	node = dp_strip_labels(node);
	if (IsA(node, Param) || !dp_reads_param(node))
		return true;
	args = dp_numbers_of_call(node);
	foreach(lc, args)
	{
		if (!is_same_of_equals(lfirst(lc)))
			return false;
	}
	return args != NIL;
}

static bool
sees_form(Node *node, FormContext *c)
{
	List	   *args = NIL;
	ListCell   *lc;

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

	switch (nodeTag(node))
	{
		case T_Param:
			return true;
		case T_OpExpr:
		case T_DistinctExpr:
		case T_ScalarArrayOpExpr:
			{
				bool		is_array = IsA(node, ScalarArrayOpExpr);
				List	   *both = is_array ? ((ScalarArrayOpExpr *) node)->args : ((OpExpr *) node)->args;
				Oid			opno = is_array ? ((ScalarArrayOpExpr *) node)->opno : ((OpExpr *) node)->opno;
				Oid			type = exprType(linitial(both));

				if (compares(opno, c->type) || (is_number(type) && compares(opno, type)))
					args = both;
				break;
			}
		case T_NullTest:
			args = list_make1(((NullTest *) node)->arg);
			break;
		default:
			break;
	}
	if (args == NIL)
		return expression_tree_walker(node, sees_form, c);
	foreach(lc, args)
	{
		if (!is_same_of_equals(lfirst(lc)) && sees_form(dp_strip_labels(lfirst(lc)), c))
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
