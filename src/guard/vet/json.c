/*-------------------------------------------------------------------------
 *
 * json.c
 *	  Containment of jsonb, in words of the parts of it that rows may be asked for.
 *
 *	 value @> '{"a": "x", "b": {"c": 1}}'
 *	   CASE WHEN jsonb_typeof(value) IS NOT NULL THEN (jsonb_typeof(value) = 'object' AND value ->> 'a' = 'x' AND ...) IS TRUE END
 *
 * Invariant: what is made is vetted as if it had been written; a constant that is no object of scalars
 * and such objects stays, and is refused as a call.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/extension.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
#include "utils/typcache.h"

static Node *
text_constant(const char *text)
{
	return (Node *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(text), false, false);
}

/* Returns value -> key or value ->> key, as function and type say. */
static Node *
json_part(Oid funcid, Oid type, Node *value, const char *key)
{
	return (Node *) makeFuncExpr(funcid, type, list_make2(copyObject(value), text_constant(key)),
								 type == TEXTOID ? DEFAULT_COLLATION_OID : InvalidOid, DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CALL);
}

static Node *
json_type(Node *value)
{
	return (Node *) makeFuncExpr(F_JSONB_TYPEOF, TEXTOID, list_make1(copyObject(value)), DEFAULT_COLLATION_OID, InvalidOid, COERCE_EXPLICIT_CALL);
}

static Node *
text_equality(Node *left, const char *right)
{
	return (Node *) dp_make_comparison(TextEqualOperator, (Expr *) left, (Expr *) text_constant(right), DEFAULT_COLLATION_OID);
}

/* Returns value ->> key as a number. */
static Expr *
number_of(Node *value, const char *key)
{
	return (Expr *) dp_make(CoerceViaIO, .arg = (Expr *) json_part(F_JSONB_OBJECT_FIELD_TEXT, TEXTOID, value, key),
							.resulttype = NUMERICOID, .coerceformat = COERCE_EXPLICIT_CAST,
							.location = -1);
}

/* Adds conditions that value contains an object of scalars and of such objects; returns false for any other. */
static bool
add_contained(Node *value, JsonbContainer *object, List **conditions)
{
	JsonbIterator *it = JsonbIteratorInit(object);
	JsonbValue	part;
	char	   *key = NULL;
	JsonbIteratorToken token;

	check_stack_depth();
	if (!JsonContainerIsObject(object))
		return false;
	*conditions = lappend(*conditions, text_equality(json_type(value), "object"));
	while ((token = JsonbIteratorNext(&it, &part, true)) != WJB_DONE)
	{
		static const char *const types[] = {[jbvNull] = "null",[jbvString] = "string",[jbvNumeric] = "number",[jbvBool] = "boolean"};
		Node	   *member;

		if (token == WJB_KEY)
			key = pnstrdup(part.val.string.val, part.val.string.len);
		if (token != WJB_VALUE)
			continue;
		member = json_part(F_JSONB_OBJECT_FIELD, JSONBOID, value, key);
		if (part.type == jbvBinary)
		{
			if (!add_contained(member, part.val.binary.data, conditions))
				return false;
			continue;
		}
		*conditions = lappend(*conditions, text_equality(json_type(member), types[part.type]));
		if (part.type == jbvString)
			*conditions = lappend(*conditions, text_equality(json_part(F_JSONB_OBJECT_FIELD_TEXT, TEXTOID, value, key),
															 pnstrdup(part.val.string.val, part.val.string.len)));
		else if (part.type == jbvBool)
			*conditions = lappend(*conditions, text_equality(json_part(F_JSONB_OBJECT_FIELD_TEXT, TEXTOID, value, key),
															 part.val.boolean ? "true" : "false"));
		else if (part.type == jbvNumeric)
			*conditions = lappend(*conditions,
								  dp_make_comparison(lookup_type_cache(NUMERICOID, TYPECACHE_EQ_OPR)->eq_opr, number_of(value, key),
													 (Expr *) makeConst(NUMERICOID, -1, InvalidOid, -1, NumericGetDatum(part.val.numeric), false, false),
													 InvalidOid));
	}
	return true;
}

Node *
dp_in_words_of_json(Node *node, Oid funcid, List *args)
{
	Const	   *object = funcid == F_JSONB_CONTAINS ? lsecond(args) : NULL;
	List	   *conditions = NIL;
	int			location = exprLocation(node);
	NullTest   *is_there;
	BooleanTest *contains;
	CaseWhen   *when;

	if (object == NULL || !IsA(object, Const) || object->constisnull ||
		!add_contained(linitial(args), &DatumGetJsonbP(object->constvalue)->root, &conditions))
		return NULL;
	contains = dp_make(BooleanTest, .arg = (Expr *) makeBoolExpr(AND_EXPR, conditions, location), .booltesttype = IS_TRUE,
					   .location = location);
	is_there = dp_make(NullTest, .arg = (Expr *) json_type(linitial(args)), .nulltesttype = IS_NOT_NULL, .location = location);
	when = dp_make(CaseWhen, .expr = (Expr *) is_there, .result = (Expr *) contains, .location = location);
	return (Node *) dp_make(CaseExpr, .casetype = BOOLOID, .args = list_make1(when),
							.defresult = (Expr *) makeNullConst(BOOLOID, -1, InvalidOid), .location = location);
}

/* ------------------------------------------------------------------------
 * Keys, values and elements of jsonb, as arrays
 * ------------------------------------------------------------------------
 */

Oid
dp_parts_of_json(const char *name)
{
	Oid			type = JSONBOID;

	return dp_own_function(name, 1, &type, TEXTARRAYOID);
}

bool
dp_is_parts_of_json(Oid funcid)
{
	DpFunctionKind kind = dp_function_kind(funcid);

	return kind == DP_KIND_json_keys || kind == DP_KIND_json_values || kind == DP_KIND_json_elements;
}
