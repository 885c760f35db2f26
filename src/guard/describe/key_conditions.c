/*-------------------------------------------------------------------------
 *
 * key_conditions.c
 *	  What the conditions of a query say about the values of a key.
 *
 * Two steps: where nothing else declares the keys, conditions such as
 * key IN ('a', 'b') list them; and whatever declares them, conditions that
 * read nothing but the key are evaluated for each of its values, to leave out
 * the groups that can have no row.
 *
 * Invariant: a condition is tried on a listed value only if all equal
 * spellings (1.0, 1.00) would give the same result, and only in the form in
 * which it will run on rows.  Of a condition on the spelling itself
 * (key::text = '1.0') that is tried which follows for the value.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "base/compat.h"
#include "base/extension.h"
#include "base/walk.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "guard/describe/key_values.h"
#include "guard/facts/facts.h"
#include "guard/facts/lists.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/numeric.h"
#include "utils/typcache.h"

/* ------------------------------------------------------------------------
 * Comparisons of a key with constants
 * ------------------------------------------------------------------------
 */

static Oid
order_of(Oid type)
{
	return lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

/* one comparison, turned so that the key is on its left */
typedef struct Comparison
{
	int			strategy;
	Oid			type;			/* of the side with the key */
	Const	   *constant;		/* or array of them */
} Comparison;

static bool
is_comparison(Node *node, Node *key, Comparison *result)
{
	DpComparison c;

	if (!dp_read_comparison(node, &c) || c.is_distinct || !c.is_any)
		return false;
	if (!equal(dp_strip_labels(c.left), key))
		dp_turn_comparison(&c);
	result->strategy = dp_strategy_of(c.opno, exprType(key));
	result->type = exprType(c.left);
	if (result->strategy == 0 || !equal(dp_strip_labels(c.left), key) || dp_is_unfoldable(c.right, NULL))
		return false;
	result->constant = dp_fold(c.right);
	return true;
}

/* Adds a constant of type that is compared with a key of key_type; returns false if that is not possible. */
static bool
add_compared(DpKeyValues *keys, Datum value, Oid type, Oid key_type)
{
	int64		integer;

	if (type == key_type)
		dp_key_values_add(keys, value);
	else if (type != DATEOID && dp_get_whole(value, type, &integer))
		return dp_key_values_add_range(keys, integer, integer);
	else if (type == FLOAT8OID && key_type == FLOAT4OID)
	{
		float4		narrow = (float4) DatumGetFloat8(value);

		/* no row has what float4 cannot hold */
		if ((float8) narrow == DatumGetFloat8(value) || isnan(narrow))
			dp_key_values_add(keys, Float4GetDatum(narrow));
	}
	else if (type == FLOAT4OID && key_type == FLOAT8OID)
		dp_key_values_add(keys, Float8GetDatum((float8) DatumGetFloat4(value)));
	else
		return false;
	return true;
}

static bool
add_array(DpKeyValues *keys, Const *array, Oid key_type)
{
	List	   *elements;

	if (!dp_list_elements((Node *) array, INT_MAX, &elements))
		return false;
	foreach_ptr(Const, element, elements)
	{
		if (!element->constisnull && !add_compared(keys, element->constvalue, element->consttype, key_type))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------
 * Conditions that list keys
 * ------------------------------------------------------------------------
 */

/* Adds the values with which the key can satisfy the condition; adds nothing if they are not known. */
static bool
add_listed(DpKeyValues *keys, Node *condition, Node *key)
{
	int			n = keys->n;
	int64		memory = keys->memory;
	bool		null_key = keys->null_key;
	bool		known = false;
	Comparison	comparison;

	check_stack_depth();
	if (is_comparison(condition, key, &comparison))
	{
		if (comparison.strategy != BTEqualStrategyNumber)
			return false;
		if (comparison.constant->constisnull)
			return true;
		if (IsA(condition, ScalarArrayOpExpr))
			known = add_array(keys, comparison.constant, comparison.type);
		else
			known = add_compared(keys, comparison.constant->constvalue,
								 comparison.constant->consttype, comparison.type);
	}
	else if (IsA(condition, NullTest) && ((NullTest *) condition)->nulltesttype == IS_NULL &&
			 !((NullTest *) condition)->argisrow &&
			 equal(dp_strip_labels((Node *) ((NullTest *) condition)->arg), key))
	{
		keys->null_key = true;
		return true;
	}
	else if (is_orclause(condition))
	{
		known = true;
		foreach_ptr(Node, arg, ((BoolExpr *) condition)->args)
			known = known && add_listed(keys, arg, key);
	}
	else if (is_andclause(condition))
	{
		foreach_ptr(Node, arg, ((BoolExpr *) condition)->args)
			known = known || add_listed(keys, arg, key);
	}
	if (!known)
	{
		keys->n = n;
		keys->memory = memory;
		keys->null_key = null_key;
	}
	return known;
}

static bool
is_int8(Datum number)
{
	return DatumGetBool(DirectFunctionCall2(numeric_ge, number, NumericGetDatum(int64_to_numeric(PG_INT64_MIN)))) &&
		DatumGetBool(DirectFunctionCall2(numeric_le, number, NumericGetDatum(int64_to_numeric(PG_INT64_MAX))));
}

/* Returns the integer or day that an end of a range is, or which it is before or after; false: that is not known. */
static bool
get_end(Expr *end, bool is_first, int64 *value)
{
	Const	   *constant = (Const *) end;
	Datum		whole;

	if (constant == NULL || !IsA(constant, Const) || constant->constisnull)
		return false;
	if (constant->consttype == DATEOID)
	{
		*value = DatumGetDateADT(constant->constvalue);
		return true;
	}
	if (constant->consttype != NUMERICOID)
		return false;
	whole = DirectFunctionCall1(is_first ? numeric_ceil : numeric_floor, constant->constvalue);
	if (!is_int8(whole))
		return false;
	*value = DatumGetInt64(DirectFunctionCall1(numeric_int8, whole));
	return true;
}

bool
dp_find_range(List *conditions, Node *value, int64 *first, int64 *last)
{
	Expr	   *least;
	Expr	   *most;

	dp_find_hull(dp_limits_of_conditions(conditions), value, &least, &most);
	return (first == NULL || get_end(least, true, first)) && get_end(most, false, last);
}

bool
dp_key_values_from_conditions(DpKeyValues *keys, Node *key, List *conditions)
{
	int64		first;
	int64		last;

	key = dp_strip_labels(key);
	foreach_ptr(Node, condition, conditions)
	{
		if (add_listed(keys, condition, key))
			return true;
	}
	switch (exprType(key))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
			return keys->type == exprType(key) && dp_find_range(conditions, key, &first, &last) &&
				dp_key_values_add_range(keys, first, last);
		default:
			return false;
	}
}

/* ------------------------------------------------------------------------
 * Conditions evaluated for each key
 * ------------------------------------------------------------------------
 */

/* Returns the comparison of a number with that which a string is, by the guard's own cast, which is NULL for none. */
static Node *
is_number_of(Node *number, Const *string)
{
	Oid text = TEXTOID;
	FuncExpr   *value = makeFuncExpr(dp_own_function("try_numeric", 1, &text, NUMERICOID), NUMERICOID, list_make1(string),
									 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);

	return (Node *) dp_make_ordering(BTEqualStrategyNumber, (Expr *) copyObject(number), (Expr *) value, InvalidOid);
}

/*
 * Returns what follows for the value of a number from a condition on how it is
 * written, number::text = '1.0' or IN of such; NULL where nothing does.
 */
static Node *
implied_by_text(Node *test)
{
	DpComparison c;
	Node	   *cast;
	Const	   *strings;
	List	   *elements;
	List	   *any = NIL;

	if (!dp_read_comparison(test, &c) || c.opno != TextEqualOperator || c.is_distinct || !c.is_any)
		return NULL;
	if (!c.is_array && dp_reads_param(c.right))
		dp_turn_comparison(&c);
	cast = dp_strip_labels(c.left);
	if (!IsA(cast, CoerceViaIO) || !IsA(((CoerceViaIO *) cast)->arg, Param) ||
		exprType((Node *) ((CoerceViaIO *) cast)->arg) != NUMERICOID || dp_reads_param(c.right))
		return NULL;
	strings = dp_fold(c.right);
	if (strings == NULL || strings->constisnull)
		return NULL;
	if (!c.is_array)
		return strings->consttype == TEXTOID ? is_number_of((Node *) ((CoerceViaIO *) cast)->arg, strings) : NULL;
	if (strings->consttype != TEXTARRAYOID || !dp_list_elements((Node *) strings, INT_MAX, &elements))
		return NULL;
	foreach_ptr(Const, element, elements)
	{
		if (!element->constisnull)
			any = lappend(any, is_number_of((Node *) ((CoerceViaIO *) cast)->arg, element));
	}
	return any == NIL ? makeBoolConst(false, false) : list_length(any) == 1 ? linitial(any) : (Node *) make_orclause(any);
}

/* Returns the conditions that read only the key, over a Param in its place, as they run on rows. */
static List *
conditions_on_key(DpKeyValues *keys, Node *key, DpLevel *level)
{
	Param	   *param;
	Node	   *null = (Node *) makeNullConst(exprType(key), exprTypmod(key), exprCollation(key));
	bool		has_forms;
	List	   *tests = NIL;

	has_forms = keys->canonical != NULL || IsA(dp_canonical_key(null), FuncExpr);
	param = dp_make(Param, .paramkind = PARAM_EXTERN, .paramid = 1, .paramtype = exprType(key),
					.paramtypmod = exprTypmod(key), .paramcollid = exprCollation(key), .location = -1);
	foreach_ptr(Node, condition, level->conditions)
	{
		Bitmapset  *found = NULL;
		Node	   *test = dp_put_equal(condition, list_make1(key), list_make1(null), &found);

		/* a Const instead of the key: what is left depends on nothing else */
		if (bms_is_empty(found) || dp_is_unfoldable(test, NULL))
			continue;
		test = dp_put_equal(condition, list_make1(key), list_make1(param), NULL);
		if (!dp_sees_form(test, exprType(key), has_forms))
			tests = lappend(tests, dp_make_safe(test, &level->allow));
		else if ((test = implied_by_text(test)) != NULL)
			tests = lappend(tests, test);
	}
	return tests;
}

void
dp_key_values_restrict(DpKeyValues *keys, Node *key, DpLevel *level)
{
	List	   *tests;
	EState	   *estate;
	ExprContext *econtext;
	ExprState  *qual;
	ParamListInfo params;
	int			kept = 0;

	/*
	 * a varchar that is a key as character keeps its cast: character takes
	 * other values for equal
	 */
	if (order_of(exprType(dp_strip_labels(key))) == order_of(keys->type))
		key = dp_strip_labels(key);
	/* a constant key stands in conditions for nothing but itself */
	if (!dp_is_unfoldable(key, NULL))
		return;
	tests = conditions_on_key(keys, key, level);
	if (tests == NIL)
		return;

	estate = CreateExecutorState();
	econtext = GetPerTupleExprContext(estate);
	params = makeParamList(1);
	params->params[0].ptype = exprType(key);
	params->params[0].pflags = 0;
	params->params[0].isnull = false;
	econtext->ecxt_param_list_info = params;
	qual = ExecPrepareQual(tests, estate);
	for (int i = 0; i < keys->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		params->params[0].value = keys->values[i];
		if (ExecQual(qual, econtext))
			keys->values[kept++] = keys->values[i];
	}
	keys->n = kept;
	if (keys->null_key)
	{
		params->params[0].value = (Datum) 0;
		params->params[0].isnull = true;
		keys->null_key = ExecQual(qual, econtext);
	}
	FreeExecutorState(estate);
}
