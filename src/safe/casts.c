/*-------------------------------------------------------------------------
 *
 * casts.c
 *	  Safe variants of casts from and to text.
 *
 * Invariant: for every argument the result is that of the built-in cast, or
 * NULL where that would raise an error.  More is NULL than that where a string
 * is longer than any value, and for spellings that only some versions or
 * settings understand: numbers are decimal, dates and times as ISO 8601 writes
 * them, intervals so many years, months and so on.  What is NULL here is decided
 * before the built-in reads the string, which then cannot fail.
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
#include "fmgr.h"
#include "safe/safe.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/* longest number, date or time in text */
#define DP_MAX_LITERAL 200

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

/* zoned: in the session's time zone, and with it */
static Datum
text_of_time(TimestampTz t, bool zoned)
{
	struct pg_tm tm;
	fsec_t		fsec;
	int			zone = 0;
	const char *name = NULL;
	char		buf[MAXDATELEN + 1];

	if (TIMESTAMP_NOT_FINITE(t))
		EncodeSpecialTimestamp(t, buf);
	else if (timestamp2tm(t, zoned ? &zone : NULL, &tm, &fsec, zoned ? &name : NULL, NULL) == 0)
		EncodeDateTime(&tm, fsec, zoned, zone, name, USE_ISO_DATES, buf);
	else
		return (Datum) 0;
	return PointerGetDatum(cstring_to_text(buf));
}

#define DP_TRY_TEXT_OF_TIME(name, zoned) \
PG_FUNCTION_INFO_V1(dp_try_text_##name); \
Datum \
dp_try_text_##name(PG_FUNCTION_ARGS) \
{ \
	Datum		result = text_of_time(PG_GETARG_TIMESTAMP(0), zoned); \
	if (result == (Datum) 0) \
		PG_RETURN_NULL(); \
	PG_RETURN_DATUM(result); \
} \
StaticAssertDecl(true, "")

DP_TRY_TEXT_OF_TIME(timestamp, false);
DP_TRY_TEXT_OF_TIME(timestamptz, true);

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

/* ------------------------------------------------------------------------
 * Dates and times from text
 * ------------------------------------------------------------------------
 */

/* Reads just so many digits, and goes on; false: there are others, or their number is not in the range. */
static bool
read_digits(const char **s, int digits, int lowest, int highest, int *number)
{
	*number = 0;
	for (int i = 0; i < digits; i++, (*s)++)
	{
		if (!isdigit((unsigned char) **s))
			return false;
		*number = *number * 10 + **s - '0';
	}
	return !isdigit((unsigned char) **s) && *number >= lowest && *number <= highest;
}

static bool
read_char(const char **s, char c)
{
	if (**s != c)
		return false;
	(*s)++;
	return true;
}

/* Reads YYYY-MM-DD, the one spelling that no setting changes. */
static bool
read_date(const char **s)
{
	int			year,
				month,
				day;

	return read_digits(s, 4, 1, 9999, &year) && read_char(s, '-') &&
		read_digits(s, 2, 1, MONTHS_PER_YEAR, &month) && read_char(s, '-') &&
		read_digits(s, 2, 1, 31, &day) && day <= day_tab[isleap(year)][month - 1];
}

/* Reads HH:MI, HH:MI:SS or HH:MI:SS with at most 6 digits behind the point. */
static bool
read_time(const char **s)
{
	int			number;
	int			digits = 0;

	if (!read_digits(s, 2, 0, HOURS_PER_DAY - 1, &number) || !read_char(s, ':') ||
		!read_digits(s, 2, 0, MINS_PER_HOUR - 1, &number))
		return false;
	if (!read_char(s, ':'))
		return true;
	if (!read_digits(s, 2, 0, SECS_PER_MINUTE - 1, &number))
		return false;
	if (!read_char(s, '.'))
		return true;
	for (; isdigit((unsigned char) **s); (*s)++)
		digits++;
	return digits > 0 && digits <= MAX_TIMESTAMP_PRECISION;
}

/* Reads Z, +HH, +HHMI or +HH:MI, or nothing. */
static bool
read_zone(const char **s)
{
	int			number;

	if (read_char(s, 'Z') || **s == '\0')
		return true;
	if (!read_char(s, '+') && !read_char(s, '-'))
		return false;
	for (int i = 0; i < 2; i++, (*s)++)
		if (!isdigit((unsigned char) **s))
			return false;
	/* hours; MAX_TZDISP_HOUR is 15 */
	number = ((*s)[-2] - '0') * 10 + (*s)[-1] - '0';
	if (number >= MAX_TZDISP_HOUR)
		return false;
	if (**s == '\0')
		return true;
	(void) read_char(s, ':');
	return read_digits(s, 2, 0, MINS_PER_HOUR - 1, &number);
}

/* Returns the argument if it is a date, or one with a time, behind a blank or T, and a zone; NULL: it is not. */
static char *
timestamp_text(Datum arg)
{
	char	   *literal = literal_text(arg);
	const char *s = literal;

	if (literal == NULL || !read_date(&s))
		return NULL;
	if (*s != '\0' && ((!read_char(&s, ' ') && !read_char(&s, 'T')) || !read_time(&s) || !read_zone(&s)))
		return NULL;
	return *s == '\0' ? literal : NULL;
}

static char *
time_text(Datum arg)
{
	char	   *literal = literal_text(arg);
	const char *s = literal;

	return literal != NULL && read_time(&s) && *s == '\0' ? literal : NULL;
}

#define DP_TRY_PARSE_TIME(type, builtin, read) \
PG_FUNCTION_INFO_V1(dp_try_##type##_text); \
Datum \
dp_try_##type##_text(PG_FUNCTION_ARGS) \
{ \
	char	   *s = read(PG_GETARG_DATUM(0)); \
	if (s == NULL) \
		PG_RETURN_NULL(); \
	return DirectFunctionCall3(builtin, CStringGetDatum(s), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)); \
} \
StaticAssertDecl(true, "")

DP_TRY_PARSE_TIME(date, date_in, timestamp_text);
DP_TRY_PARSE_TIME(timestamp, timestamp_in, timestamp_text);
DP_TRY_PARSE_TIME(timestamptz, timestamptz_in, timestamp_text);
DP_TRY_PARSE_TIME(time, time_in, time_text);

#define DP_UNITS_OF_TIME (DTK_M(HOUR) | DTK_M(MINUTE) | DTK_M(SECOND))

/* Reads one of the units of intervals, in lower case, of one or of many, and adds it to read; false: it was there before. */
static bool
read_unit(const char **s, int *read)
{
	static const struct
	{
		const char *name;
		int			mask;
	}			units[] = {
		{"microsecond", DTK_M(MICROSECOND)}, {"millisecond", DTK_M(MILLISECOND)}, {"second", DTK_M(SECOND)}, {"sec", DTK_M(SECOND)},
		{"minute", DTK_M(MINUTE)}, {"min", DTK_M(MINUTE)}, {"hour", DTK_M(HOUR)}, {"day", DTK_M(DAY)}, {"week", DTK_M(WEEK)},
		{"month", DTK_M(MONTH)}, {"mon", DTK_M(MONTH)}, {"year", DTK_M(YEAR)}
	};
	int			len = 0;

	while (islower((unsigned char) (*s)[len]))
		len++;
	for (int i = 0; i < lengthof(units); i++)
	{
		int			own = strlen(units[i].name);

		if (strncmp(*s, units[i].name, own) == 0 && (len == own || (len == own + 1 && (*s)[own] == 's')))
		{
			bool		is_new = (*read & units[i].mask) == 0;

			*s += len;
			*read |= units[i].mask;
			return is_new;
		}
	}
	return false;
}

/* Returns the argument if it is as in '1 day', '-2 hours 30 minutes' or '1 month 12:30'; NULL: it is not. */
static char *
interval_text(Datum arg)
{
	char	   *literal = literal_text(arg);
	const char *s = literal;
	int			parts = 0;
	int			units = 0;

	while (literal != NULL && *s != '\0')
	{
		const char *start;

		if (++parts > 1 && !read_char(&s, ' '))
			return NULL;
		start = s;
		if (read_time(&s) && *s == '\0')
			return (units & DP_UNITS_OF_TIME) == 0 ? literal : NULL;
		s = start;
		(void) (read_char(&s, '-') || read_char(&s, '+'));
		for (start = s; isdigit((unsigned char) *s); s++)
			;
		/* far from what overflows, in any unit */
		if (s == start || s - start > 7 || !read_char(&s, ' ') || !read_unit(&s, &units))
			return NULL;
	}
	return parts > 0 ? literal : NULL;
}

DP_TRY_PARSE_TIME(interval, interval_in, interval_text);

/* ------------------------------------------------------------------------
 * Others from text
 * ------------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(dp_try_bool_text);
Datum
dp_try_bool_text(PG_FUNCTION_ARGS)
{
	char	   *s = literal_text(PG_GETARG_DATUM(0));
	bool		result;

	if (s == NULL || !parse_bool_with_len(s, strlen(s), &result))
		PG_RETURN_NULL();
	PG_RETURN_BOOL(result);
}

/* Reads 32 digits, with a hyphen behind any 4 of them, and in braces. */
PG_FUNCTION_INFO_V1(dp_try_uuid_text);
Datum
dp_try_uuid_text(PG_FUNCTION_ARGS)
{
	const text *arg = dp_text_is_wide(PG_GETARG_DATUM(0)) ? NULL : PG_GETARG_TEXT_PP(0);
	char	   *literal = arg != NULL && VARSIZE_ANY_EXHDR(arg) <= 80 ? text_to_cstring(arg) : NULL;
	const char *s = literal;
	bool		has_brace;

	if (literal == NULL)
		PG_RETURN_NULL();
	has_brace = read_char(&s, '{');
	for (int i = 1; i <= 32; i++)
	{
		if (!isxdigit((unsigned char) *s))
			PG_RETURN_NULL();
		s++;
		if (i % 4 == 0 && i < 32)
			(void) read_char(&s, '-');
	}
	if ((has_brace && !read_char(&s, '}')) || *s != '\0')
		PG_RETURN_NULL();
	return DirectFunctionCall1(uuid_in, CStringGetDatum(literal));
}
