/*-------------------------------------------------------------------------
 *
 * text.c
 *	  Safe variants of functions on strings.
 *
 * Invariant: for every argument the result is that of the built-in function,
 * or NULL where that would raise an error.  More is NULL than strictly needed
 * where a string is longer than safe.h has it, or its size times that of what
 * is sought in it.  No result is longer than DP_MAX_TEXT, and
 * what is longer is not even read.
 *
 * All are strict, and harmless to call by hand.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "safe/safe.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#define DP_ARG_IS_WIDE(n) dp_text_is_wide(PG_GETARG_DATUM(n))

/* the most characters that are no wide string in any encoding */
#define DP_MAX_CHARS (DP_MAX_TEXT / MAX_MULTIBYTE_CHAR_LEN)

/* ------------------------------------------------------------------------
 * What is no longer than its argument
 * ------------------------------------------------------------------------
 */

#define DP_TRY_NOT_WIDE(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	if (DP_ARG_IS_WIDE(0)) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

DP_TRY_NOT_WIDE(btrim, btrim1);
DP_TRY_NOT_WIDE(ltrim, ltrim1);
DP_TRY_NOT_WIDE(rtrim, rtrim1);
DP_TRY_NOT_WIDE(right, text_right);
DP_TRY_NOT_WIDE(reverse, text_reverse);
DP_TRY_NOT_WIDE(ascii, ascii);
DP_TRY_NOT_WIDE(substring_from, text_substr_no_len);
DP_TRY_NOT_WIDE(name_text, text_name);
/* the cast of bpchar, which removes padding */
DP_TRY_NOT_WIDE(text_bpchar, rtrim1);

/* Tells whether a search, which compares each character of one string with each of the other, takes long. */
static bool
is_work(FunctionCallInfo fcinfo)
{
	CHECK_FOR_INTERRUPTS();
	return dp_value_bytes(PG_GETARG_DATUM(0)) * dp_value_bytes(PG_GETARG_DATUM(1)) > DP_MAX_WORK;
}

#define DP_TRY_TRIM(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	if (DP_ARG_IS_WIDE(0) || DP_ARG_IS_WIDE(1) || is_work(fcinfo)) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

DP_TRY_TRIM(btrim_set, btrim);
DP_TRY_TRIM(ltrim_set, ltrim);
DP_TRY_TRIM(rtrim_set, rtrim);

/* Reads the beginning of a long string without the rest. */
PG_FUNCTION_INFO_V1(dp_try_left);
Datum
dp_try_left(PG_FUNCTION_ARGS)
{
	int32		n = PG_GETARG_INT32(1);

	if (DP_ARG_IS_WIDE(0) && (n < 0 || n > DP_MAX_CHARS))
		PG_RETURN_NULL();
	return text_left(fcinfo);
}

PG_FUNCTION_INFO_V1(dp_try_substring);
Datum
dp_try_substring(PG_FUNCTION_ARGS)
{
	int32		len = PG_GETARG_INT32(2);

	if (len < 0 || (DP_ARG_IS_WIDE(0) && (int64) PG_GETARG_INT32(1) + len > DP_MAX_CHARS))
		PG_RETURN_NULL();
	return text_substr(fcinfo);
}

PG_FUNCTION_INFO_V1(dp_try_split_part);
Datum
dp_try_split_part(PG_FUNCTION_ARGS)
{
	if (PG_GETARG_INT32(2) == 0 || DP_ARG_IS_WIDE(0) || DP_ARG_IS_WIDE(1) || is_work(fcinfo))
		PG_RETURN_NULL();
	/* the built-in negates it; no string has so many fields */
	if (PG_GETARG_INT32(2) == PG_INT32_MIN)
		PG_RETURN_TEXT_P(cstring_to_text(""));
	return split_part(fcinfo);
}

/*
 * varchar(n) and char(n): an implicit cast, which the guard lets pass only
 * where it cuts nothing off, is called by hand alone.
 */
#define DP_TRY_CUT(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	int64		n = (int64) PG_GETARG_INT32(1) - VARHDRSZ; \
	if (n > DP_MAX_CHARS || !PG_GETARG_BOOL(2)) \
		PG_RETURN_NULL(); \
	if (!DP_ARG_IS_WIDE(0)) \
		return builtin(fcinfo); \
	if (n < 0) \
		PG_RETURN_NULL(); \
	return DirectFunctionCall3(text_substr, PG_GETARG_DATUM(0), Int32GetDatum(1), Int32GetDatum((int32) n)); \
} \
StaticAssertDecl(true, "")

DP_TRY_CUT(varchar, varchar);
DP_TRY_CUT(bpchar, bpchar);

/* ------------------------------------------------------------------------
 * What may be longer
 * ------------------------------------------------------------------------
 */

#define DP_TRY_CASE(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	Datum		result; \
	if (DP_ARG_IS_WIDE(0)) \
		PG_RETURN_NULL(); \
	result = builtin(fcinfo); \
	if (dp_text_is_wide(result)) \
		PG_RETURN_NULL(); \
	return result; \
} \
StaticAssertDecl(true, "")

DP_TRY_CASE(lower, lower);
DP_TRY_CASE(upper, upper);
DP_TRY_CASE(initcap, initcap);

PG_FUNCTION_INFO_V1(dp_try_concat);
Datum
dp_try_concat(PG_FUNCTION_ARGS)
{
	if (dp_value_bytes(PG_GETARG_DATUM(0)) + dp_value_bytes(PG_GETARG_DATUM(1)) > DP_MAX_TEXT)
		PG_RETURN_NULL();
	return textcat(fcinfo);
}

PG_FUNCTION_INFO_V1(dp_try_replace);
Datum
dp_try_replace(PG_FUNCTION_ARGS)
{
	int64		source = dp_value_bytes(PG_GETARG_DATUM(0));
	int64		from = dp_value_bytes(PG_GETARG_DATUM(1));
	int64		to = dp_value_bytes(PG_GETARG_DATUM(2));

	if (DP_ARG_IS_WIDE(0) || DP_ARG_IS_WIDE(1) || DP_ARG_IS_WIDE(2) || is_work(fcinfo))
		PG_RETURN_NULL();
	/* each occurrence makes room for one replacement */
	if (from > 0 && source + source / from * to > DP_MAX_TEXT)
		PG_RETURN_NULL();
	return replace_text(fcinfo);
}

PG_FUNCTION_INFO_V1(dp_try_translate);
Datum
dp_try_translate(PG_FUNCTION_ARGS)
{
	Datum		result;

	if (DP_ARG_IS_WIDE(0) || DP_ARG_IS_WIDE(1) || DP_ARG_IS_WIDE(2) || is_work(fcinfo))
		PG_RETURN_NULL();
	/* a character may become one of more bytes */
	result = translate(fcinfo);
	if (dp_text_is_wide(result))
		PG_RETURN_NULL();
	return result;
}

/* Pads a string to n characters; one that is longer loses its end. */
#define DP_TRY_PAD(name, builtin, fill) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	if (PG_GETARG_INT32(1) > DP_MAX_CHARS || DP_ARG_IS_WIDE(0) || dp_text_is_wide(fill)) \
		PG_RETURN_NULL(); \
	return DirectFunctionCall3(builtin, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), fill); \
} \
StaticAssertDecl(true, "")

DP_TRY_PAD(lpad, lpad, PointerGetDatum(cstring_to_text(" ")));
DP_TRY_PAD(rpad, rpad, PointerGetDatum(cstring_to_text(" ")));
DP_TRY_PAD(lpad_fill, lpad, PG_GETARG_DATUM(2));
DP_TRY_PAD(rpad_fill, rpad, PG_GETARG_DATUM(2));

/* ------------------------------------------------------------------------
 * Searching and measuring, which keep no copy
 * ------------------------------------------------------------------------
 */

#define DP_TRY_LENGTH(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	text	   *arg; \
	Datum		result; \
	if (dp_value_bytes(PG_GETARG_DATUM(0)) > DP_MAX_READ) \
		PG_RETURN_NULL(); \
	arg = PG_GETARG_TEXT_PP(0); \
	result = DirectFunctionCall1(builtin, PointerGetDatum(arg)); \
	PG_FREE_IF_COPY(arg, 0); \
	return result; \
} \
StaticAssertDecl(true, "")

DP_TRY_LENGTH(length_text, textlen);
DP_TRY_LENGTH(length_bpchar, bpcharlen);

PG_FUNCTION_INFO_V1(dp_try_strpos);
Datum
dp_try_strpos(PG_FUNCTION_ARGS)
{
	text	   *arg;
	text	   *sought;
	Datum		result;

	if (dp_value_bytes(PG_GETARG_DATUM(0)) > DP_MAX_READ || DP_ARG_IS_WIDE(1) || is_work(fcinfo))
		PG_RETURN_NULL();
	arg = PG_GETARG_TEXT_PP(0);
	sought = PG_GETARG_TEXT_PP(1);
	result = DirectFunctionCall2Coll(textpos, PG_GET_COLLATION(), PointerGetDatum(arg), PointerGetDatum(sought));
	PG_FREE_IF_COPY(arg, 0);
	PG_FREE_IF_COPY(sought, 1);
	return result;
}

/* Compares bytes; reads no more of the string than it compares. */
PG_FUNCTION_INFO_V1(dp_try_starts_with);
Datum
dp_try_starts_with(PG_FUNCTION_ARGS)
{
	text	   *prefix;
	text	   *start;
	int			len;
	bool		result;

	if (DP_ARG_IS_WIDE(1))
		PG_RETURN_NULL();
	prefix = PG_GETARG_TEXT_PP(1);
	len = VARSIZE_ANY_EXHDR(prefix);
	if (dp_value_bytes(PG_GETARG_DATUM(0)) < len)
		PG_RETURN_BOOL(false);
	start = DP_ARG_IS_WIDE(0) ? PG_GETARG_TEXT_P_SLICE(0, 0, len) : PG_GETARG_TEXT_PP(0);
	result = memcmp(VARDATA_ANY(start), VARDATA_ANY(prefix), len) == 0;
	PG_FREE_IF_COPY(start, 0);
	PG_FREE_IF_COPY(prefix, 1);
	PG_RETURN_BOOL(result);
}

/* ------------------------------------------------------------------------
 * Arguments of min and max
 * ------------------------------------------------------------------------
 */

/* Takes text and character; reads nothing of what is short enough. */
PG_FUNCTION_INFO_V1(dp_try_summand_text);
Datum
dp_try_summand_text(PG_FUNCTION_ARGS)
{
	if (DP_ARG_IS_WIDE(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* ------------------------------------------------------------------------
 * Canonical forms of group keys
 * ------------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(dp_canonical_float4);
Datum
dp_canonical_float4(PG_FUNCTION_ARGS)
{
	float4		arg = PG_GETARG_FLOAT4(0);

	PG_RETURN_FLOAT4(isnan(arg) ? (float4) NAN : arg == 0 ? 0 : arg);
}

PG_FUNCTION_INFO_V1(dp_canonical_float8);
Datum
dp_canonical_float8(PG_FUNCTION_ARGS)
{
	float8		arg = PG_GETARG_FLOAT8(0);

	PG_RETURN_FLOAT8(isnan(arg) ? (float8) NAN : arg == 0 ? 0 : arg);
}

/* Removes trailing blanks, which do not count in comparisons of character. */
PG_FUNCTION_INFO_V1(dp_canonical_bpchar);
Datum
dp_canonical_bpchar(PG_FUNCTION_ARGS)
{
	BpChar	   *arg;

	if (DP_ARG_IS_WIDE(0))
		PG_RETURN_NULL();
	arg = PG_GETARG_BPCHAR_PP(0);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(VARDATA_ANY(arg),
											  bpchartruelen(VARDATA_ANY(arg), VARSIZE_ANY_EXHDR(arg))));
}
