/*-------------------------------------------------------------------------
 *
 * text.c
 *	  Safe variants of functions on strings, and of casts from and to text.
 *
 * Invariant: for every argument the result is that of the built-in function,
 * or NULL where that would raise an error.  More is NULL than strictly needed
 * where a string is longer than safe.h has it, or its size times that of what
 * is sought in it, and for spellings of numbers and dates that only some
 * versions or settings understand.  No result is longer than DP_MAX_TEXT, and
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

#include <ctype.h>
#include <limits.h>
#include <math.h>

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "safe/safe.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/* longest number or date in text */
#define DP_MAX_LITERAL 200

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
 * Casts to text
 * ------------------------------------------------------------------------
 */

/* output functions that depend on no setting */
#define DP_TRY_TEXT(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_text_##name); \
Datum \
dp_try_text_##name(PG_FUNCTION_ARGS) \
{ \
	PG_RETURN_TEXT_P(cstring_to_text(DatumGetCString(DirectFunctionCall1(builtin, PG_GETARG_DATUM(0))))); \
} \
StaticAssertDecl(true, "")

DP_TRY_TEXT(int2, int2out);
DP_TRY_TEXT(int4, int4out);
DP_TRY_TEXT(int8, int8out);
DP_TRY_TEXT(numeric, numeric_out);
DP_TRY_TEXT(uuid, uuid_out);
DP_TRY_TEXT(enum, enum_out);

/* Prints ISO 8601, whatever DateStyle is. */
PG_FUNCTION_INFO_V1(dp_try_text_date);
Datum
dp_try_text_date(PG_FUNCTION_ARGS)
{
	DateADT		date = PG_GETARG_DATEADT(0);
	struct pg_tm tm;
	char		buf[MAXDATELEN + 1];

	if (DATE_NOT_FINITE(date))
		EncodeSpecialDate(date, buf);
	else
	{
		j2date(date + POSTGRES_EPOCH_JDATE, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
		EncodeDateOnly(&tm, USE_ISO_DATES, buf);
	}
	PG_RETURN_TEXT_P(cstring_to_text(buf));
}

PG_FUNCTION_INFO_V1(dp_try_text_timestamp);
Datum
dp_try_text_timestamp(PG_FUNCTION_ARGS)
{
	Timestamp	t = PG_GETARG_TIMESTAMP(0);
	struct pg_tm tm;
	fsec_t		fsec;
	char		buf[MAXDATELEN + 1];

	if (TIMESTAMP_NOT_FINITE(t))
		EncodeSpecialTimestamp(t, buf);
	else if (timestamp2tm(t, NULL, &tm, &fsec, NULL, NULL) == 0)
		EncodeDateTime(&tm, fsec, false, 0, NULL, USE_ISO_DATES, buf);
	else
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(buf));
}

/* ------------------------------------------------------------------------
 * Casts from text
 * ------------------------------------------------------------------------
 */

/*
 * Returns the argument without surrounding blanks as a string; NULL when it is
 * too long for a number or contains a zero byte.
 */
static char *
literal_text(Datum value)
{
	const text *arg = dp_text_is_wide(value) ? NULL : DatumGetTextPP(value);
	const char *from;
	const char *to;

	if (arg == NULL)
		return NULL;
	from = VARDATA_ANY(arg);
	to = from + VARSIZE_ANY_EXHDR(arg);
	while (from < to && isspace((unsigned char) *from))
		from++;
	while (to > from && isspace((unsigned char) to[-1]))
		to--;
	if (to - from > DP_MAX_LITERAL)
		return NULL;
	return pnstrdup(from, to - from);
}

/* Reads [+-] digits. */
static bool
parse_integer(Datum arg, int64 lowest, int64 highest, int64 *result)
{
	char	   *s = literal_text(arg);
	bool		negative;

	if (s == NULL)
		return false;
	negative = *s == '-';
	if (*s == '-' || *s == '+')
		s++;
	if (*s == '\0')
		return false;
	*result = 0;
	for (; *s; s++)
	{
		int			digit = *s - '0';

		if (digit < 0 || digit > 9 ||
			__builtin_mul_overflow(*result, 10, result) ||
			__builtin_add_overflow(*result, negative ? -digit : digit, result))
			return false;
	}
	return *result >= lowest && *result <= highest;
}

#define DP_TRY_PARSE_INT(type, R, lowest, highest) \
PG_FUNCTION_INFO_V1(dp_try_##type##_text); \
Datum \
dp_try_##type##_text(PG_FUNCTION_ARGS) \
{ \
	int64		result; \
	if (!parse_integer(PG_GETARG_DATUM(0), lowest, highest, &result)) \
		PG_RETURN_NULL(); \
	PG_RETURN_##R(result); \
} \
StaticAssertDecl(true, "")

DP_TRY_PARSE_INT(int2, INT16, SHRT_MIN, SHRT_MAX);
DP_TRY_PARSE_INT(int4, INT32, INT_MIN, INT_MAX);
DP_TRY_PARSE_INT(int8, INT64, PG_INT64_MIN, PG_INT64_MAX);

/* Knows [+-] digits [. digits] [e [+-] digits], with a digit before the exponent, which has at most three. */
static bool
is_decimal(const char *s)
{
	int			digits = 0;

	if (*s == '-' || *s == '+')
		s++;
	for (; isdigit((unsigned char) *s); s++)
		digits++;
	if (*s == '.')
	{
		for (s++; isdigit((unsigned char) *s); s++)
			digits++;
	}
	if (digits == 0)
		return false;
	if (*s == 'e' || *s == 'E')
	{
		s++;
		if (*s == '-' || *s == '+')
			s++;
		for (digits = 0; isdigit((unsigned char) *s); s++)
			digits++;
		if (digits == 0 || digits > 3)
			return false;
	}
	return *s == '\0';
}

PG_FUNCTION_INFO_V1(dp_try_float8_text);
Datum
dp_try_float8_text(PG_FUNCTION_ARGS)
{
	char	   *s = literal_text(PG_GETARG_DATUM(0));
	float8		result;

	if (s == NULL || !is_decimal(s))
		PG_RETURN_NULL();
	errno = 0;
	result = strtod(s, NULL);
	if (errno == ERANGE && (result == 0 || isinf(result)))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(result);
}

PG_FUNCTION_INFO_V1(dp_try_numeric_text);
Datum
dp_try_numeric_text(PG_FUNCTION_ARGS)
{
	char	   *s = literal_text(PG_GETARG_DATUM(0));

	if (s == NULL || !is_decimal(s))
		PG_RETURN_NULL();
	return DirectFunctionCall3(numeric_in, CStringGetDatum(s), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* Reads YYYY-MM-DD, the one spelling that no setting changes. */
PG_FUNCTION_INFO_V1(dp_try_date_text);
Datum
dp_try_date_text(PG_FUNCTION_ARGS)
{
	char	   *s = literal_text(PG_GETARG_DATUM(0));
	int			year,
				month,
				day,
				i;

	if (s == NULL || strlen(s) != 10)
		PG_RETURN_NULL();
	for (i = 0; i < 10; i++)
	{
		if (i == 4 || i == 7 ? s[i] != '-' : !isdigit((unsigned char) s[i]))
			PG_RETURN_NULL();
	}
	year = atoi(s);
	month = atoi(s + 5);
	day = atoi(s + 8);
	if (year < 1 || month < 1 || month > MONTHS_PER_YEAR || day < 1 || day > day_tab[isleap(year)][month - 1])
		PG_RETURN_NULL();
	PG_RETURN_DATEADT(date2j(year, month, day) - POSTGRES_EPOCH_JDATE);
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
