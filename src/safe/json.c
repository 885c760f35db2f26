/*-------------------------------------------------------------------------
 *
 * json.c
 *	  Safe variants of what looks into jsonb: ->, ->>, #>, #>>, ? and jsonb_typeof.
 *
 * Invariant: for every argument the result is that of the built-in function,
 * or NULL where a value is longer than safe.h has it.  What they call goes
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
#include "safe/safe.h"
#include "utils/fmgrprotos.h"

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
DP_TRY_JSON(json_type, jsonb_typeof);

#define DP_TRY_JSON_TEXT(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	Datum		result = look(fcinfo, builtin); \
	if (fcinfo->isnull || dp_text_is_wide(result)) \
		PG_RETURN_NULL(); \
	return result; \
} \
StaticAssertDecl(true, "")

DP_TRY_JSON_TEXT(json_field_text, jsonb_object_field_text);
DP_TRY_JSON_TEXT(json_element_text, jsonb_array_element_text);
DP_TRY_JSON_TEXT(json_path_text, jsonb_extract_path_text);
