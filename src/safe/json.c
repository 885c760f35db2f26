/*-------------------------------------------------------------------------
 *
 * json.c
 *	  Safe variants of what looks into jsonb: ->, ->>, #>, #>>, ?, ?|, ?&, jsonb_typeof and jsonb_array_length; what is in an object or array,
 *	  as an array of strings, from which unnest makes rows.
 *
 * Invariant: for every argument the result is that of the built-in function,
 * or NULL where a value is longer than safe.h has it, or is when it is written.  What they call goes
 * through the value without recursion: jsonb is parsed when it is stored.
 *
 * All are strict, and harmless to call by hand.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "safe/safe.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"

/* Calls a built-in function of one or two arguments, which may return NULL and raises no error. */
static Datum
look(FunctionCallInfo fcinfo, PGFunction builtin)
{
	LOCAL_FCINFO(inner, 2);
	Datum		result;

	fcinfo->isnull = true;
	if (dp_value_bytes(PG_GETARG_DATUM(0)) > DP_MAX_READ)
		return (Datum) 0;
	InitFunctionCallInfoData(*inner, fcinfo->flinfo, PG_NARGS(), PG_GET_COLLATION(), NULL, NULL);
	inner->args[0] = fcinfo->args[0];
	if (PG_NARGS() > 1)
		inner->args[1] = fcinfo->args[1];
	result = builtin(inner);
	fcinfo->isnull = inner->isnull;
	return result;
}

#define DP_TRY_JSON(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	return look(fcinfo, builtin); \
} \
StaticAssertDecl(true, "")

DP_TRY_JSON(json_field, jsonb_object_field);
DP_TRY_JSON(json_element, jsonb_array_element);
DP_TRY_JSON(json_path, jsonb_extract_path);
DP_TRY_JSON(json_exists, jsonb_exists);
DP_TRY_JSON(json_exists_any, jsonb_exists_any);
DP_TRY_JSON(json_exists_all, jsonb_exists_all);
DP_TRY_JSON(json_type, jsonb_typeof);

PG_FUNCTION_INFO_V1(dp_try_json_array_length);
Datum
dp_try_json_array_length(PG_FUNCTION_ARGS)
{
	Jsonb	   *json;

	if (dp_value_bytes(PG_GETARG_DATUM(0)) > DP_MAX_READ)
		PG_RETURN_NULL();
	json = PG_GETARG_JSONB_P(0);
	if (JB_ROOT_IS_SCALAR(json) || !JB_ROOT_IS_ARRAY(json))
		PG_RETURN_NULL();
	PG_RETURN_INT32(JB_ROOT_COUNT(json));
}

/* ------------------------------------------------------------------------
 * Texts
 * ------------------------------------------------------------------------
 */

/* Tells whether what an object or array has of numbers is not too long when it is written: one of a few bytes may have 131072 digits. */
static bool
is_short(JsonbContainer *json)
{
	JsonbIterator *it = JsonbIteratorInit(json);
	JsonbIteratorToken token;
	JsonbValue	value;
	int64		digits = 0;

	while ((token = JsonbIteratorNext(&it, &value, false)) != WJB_DONE)
	{
		if ((token == WJB_ELEM || token == WJB_VALUE) && value.type == jbvNumeric)
			digits += dp_numeric_length(NumericGetDatum(value.val.numeric));
		if (digits > DP_MAX_TEXT)
			return false;
	}
	return true;
}

/* Sets *text to what ->> says of a value, NULL of null; returns false where that is too long. */
static bool
write_value(const JsonbValue *value, char **text, int *len)
{
	switch (value->type)
	{
		case jbvNull:
			*text = NULL;
			*len = 0;
			return true;
		case jbvString:
			*text = value->val.string.val;
			*len = value->val.string.len;
			return *len <= DP_MAX_TEXT;
		case jbvBool:
			*text = value->val.boolean ? "true" : "false";
			break;
		case jbvNumeric:
			*text = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value->val.numeric)));
			break;
		default:
			if (!is_short(value->val.binary.data))
				return false;
			*text = JsonbToCString(NULL, value->val.binary.data, value->val.binary.len);
	}
	*len = strlen(*text);
	return *len <= DP_MAX_TEXT;
}

/* Returns what ->> says of what -> has found. */
static Datum
as_text(FunctionCallInfo fcinfo, Datum found)
{
	Jsonb	   *json;
	JsonbValue	value;
	char	   *text;
	int			len;

	if (fcinfo->isnull)
		return (Datum) 0;
	json = DatumGetJsonbP(found);
	if (!JB_ROOT_IS_SCALAR(json) || !JsonbExtractScalar(&json->root, &value))
	{
		value.type = jbvBinary;
		value.val.binary.data = &json->root;
		value.val.binary.len = VARSIZE(json) - VARHDRSZ;
	}
	if (!write_value(&value, &text, &len) || text == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text_with_len(text, len));
}

#define DP_TRY_JSON_TEXT(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	Datum		found = look(fcinfo, builtin); \
	return as_text(fcinfo, found); \
} \
StaticAssertDecl(true, "")

DP_TRY_JSON_TEXT(json_field_text, jsonb_object_field);
DP_TRY_JSON_TEXT(json_element_text, jsonb_array_element);
DP_TRY_JSON_TEXT(json_path_text, jsonb_extract_path);

/* ------------------------------------------------------------------------
 * Keys, values and elements
 * ------------------------------------------------------------------------
 */

/* Returns keys or values of an object, or what is in an array, one after the other; NULL for anything else. */
static Datum
parts(FunctionCallInfo fcinfo, JsonbIteratorToken begins, JsonbIteratorToken wanted)
{
	Jsonb	   *json;
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	value;
	DpTextArray texts;
	char	   *text;
	int			len;

	CHECK_FOR_INTERRUPTS();
	if (dp_text_is_wide(PG_GETARG_DATUM(0)))
		PG_RETURN_NULL();
	json = PG_GETARG_JSONB_P(0);
	it = JsonbIteratorInit(&json->root);
	if (JB_ROOT_IS_SCALAR(json) || JsonbIteratorNext(&it, &value, false) != begins)
		PG_RETURN_NULL();
	dp_begin_texts(&texts);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == wanted && !(write_value(&value, &text, &len) && dp_add_text(&texts, text, len)))
			PG_RETURN_NULL();
	}
	return dp_end_texts(&texts, fcinfo);
}

#define DP_TRY_JSON_PARTS(name, begins, wanted) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	return parts(fcinfo, begins, wanted); \
} \
StaticAssertDecl(true, "")

DP_TRY_JSON_PARTS(json_keys, WJB_BEGIN_OBJECT, WJB_KEY);
DP_TRY_JSON_PARTS(json_values, WJB_BEGIN_OBJECT, WJB_VALUE);
DP_TRY_JSON_PARTS(json_elements, WJB_BEGIN_ARRAY, WJB_ELEM);
