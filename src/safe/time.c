/*-------------------------------------------------------------------------
 *
 * time.c
 *	  Safe variants of date and time functions: NULL where the built-in
 *	  raises an error.
 *
 * Invariant: for every argument the result is that of the built-in function,
 * or NULL where that would raise an error.  More is NULL than that in two
 * places:
 *	- AT TIME ZONE, and date_trunc of timestamptz, within 40 days of the ends
 *	  of time: whether a named zone is an abbreviation is the built-ins' to know.
 *	- results that are no value of their type, which some built-ins return: a
 *	  timestamp that is rounded beyond its range, a date before the first.
 *
 * The built-ins of versions 15 to 19 fail for a value alone where
 * timestamp2tm(), tm2timestamp() or a comparison with the range does.  The
 * first fails for no timestamp in the range; it takes local time, in any zone
 * less than 7 days from UTC (a POSIX zone has at most 167 hours), for which
 * the calendar's functions are exact.  Neither of them raises errors, nor does
 * DetermineTimeZoneOffset().
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

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "safe/constants.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

/* further from the ends than two different offsets of a zone, and a week, lead */
#define DP_EDGE (40 * USECS_PER_DAY)

/* Tells whether t is infinite, or so far from both ends that a zone cannot leave the range. */
static inline bool
is_inner(Timestamp t)
{
	return TIMESTAMP_NOT_FINITE(t) ||
		(t >= MIN_TIMESTAMP + DP_EDGE && t < END_TIMESTAMP - DP_EDGE);
}

/* Returns t, or NULL where it is not in the range. */
static Datum
timestamp_or_null(FunctionCallInfo fcinfo, Timestamp t)
{
	if (!TIMESTAMP_NOT_FINITE(t) && !IS_VALID_TIMESTAMP(t))
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMP(t);
}

/* Returns the session's local time at t, which may be less than 7 days out of the range. */
static Timestamp
local_time(TimestampTz t)
{
	struct pg_tm tm;
	fsec_t		fsec;
	int			tz;

	if (TIMESTAMP_NOT_FINITE(t) || timestamp2tm(t, &tz, &tm, &fsec, NULL, NULL) != 0)
		return t;
	return t - tz * USECS_PER_SEC;
}

/* ------------------------------------------------------------------------
 * Casts
 * ------------------------------------------------------------------------
 */

#define DP_TRY_CAST(name, told, argument) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	int			overflow = 0; \
	Timestamp	result = told(argument(0), &overflow); \
	if (overflow != 0) \
		PG_RETURN_NULL(); \
	PG_RETURN_TIMESTAMP(result); \
} \
StaticAssertDecl(true, "")

DP_TRY_CAST(timestamp_date, dp_date2timestamp, PG_GETARG_DATEADT);
DP_TRY_CAST(timestamptz_date, dp_date2timestamptz, PG_GETARG_DATEADT);
DP_TRY_CAST(timestamptz_timestamp, dp_timestamp2timestamptz, PG_GETARG_TIMESTAMP);

PG_FUNCTION_INFO_V1(dp_try_timestamp_timestamptz);
Datum
dp_try_timestamp_timestamptz(PG_FUNCTION_ARGS)
{
	return timestamp_or_null(fcinfo, local_time(PG_GETARG_TIMESTAMPTZ(0)));
}

/* the day after the last timestamp's is a date, that before the first one's is none */
PG_FUNCTION_INFO_V1(dp_try_date_timestamptz);
Datum
dp_try_date_timestamptz(PG_FUNCTION_ARGS)
{
	DateADT		result = DatumGetDateADT(timestamptz_date(fcinfo));

	if (!DATE_NOT_FINITE(result) && !IS_VALID_DATE(result))
		PG_RETURN_NULL();
	PG_RETURN_DATEADT(result);
}

/* fails for no timestamp, and is NULL for infinity */
PG_FUNCTION_INFO_V1(dp_try_time_timestamptz);
Datum
dp_try_time_timestamptz(PG_FUNCTION_ARGS)
{
	return timestamptz_time(fcinfo);
}

/* timestamp(p) and timestamptz(p) */
PG_FUNCTION_INFO_V1(dp_try_timestamp_typmod);
Datum
dp_try_timestamp_typmod(PG_FUNCTION_ARGS)
{
	int32		typmod = PG_GETARG_INT32(1);

	if (typmod < -1 || typmod > MAX_TIMESTAMP_PRECISION)
		PG_RETURN_NULL();
	return timestamp_or_null(fcinfo, DatumGetTimestamp(timestamp_scale(fcinfo)));
}

/* ------------------------------------------------------------------------
 * Arithmetic
 * ------------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(dp_try_subtract_date);
Datum
dp_try_subtract_date(PG_FUNCTION_ARGS)
{
	DateADT		a = PG_GETARG_DATEADT(0);
	DateADT		b = PG_GETARG_DATEADT(1);

	if (DATE_NOT_FINITE(a) || DATE_NOT_FINITE(b))
		PG_RETURN_NULL();
	/* the range of date is less than half of int32's */
	PG_RETURN_INT32(a - b);
}

static Datum
date_plus(FunctionCallInfo fcinfo, DateADT date, int64 days)
{
	int64		result = date + days;

	if (DATE_NOT_FINITE(date))
		PG_RETURN_DATEADT(date);
	if (!IS_VALID_DATE(result))
		PG_RETURN_NULL();
	PG_RETURN_DATEADT((DateADT) result);
}

PG_FUNCTION_INFO_V1(dp_try_add_date_int4);
Datum
dp_try_add_date_int4(PG_FUNCTION_ARGS)
{
	return date_plus(fcinfo, PG_GETARG_DATEADT(0), PG_GETARG_INT32(1));
}

PG_FUNCTION_INFO_V1(dp_try_add_int4_date);
Datum
dp_try_add_int4_date(PG_FUNCTION_ARGS)
{
	return date_plus(fcinfo, PG_GETARG_DATEADT(1), PG_GETARG_INT32(0));
}

PG_FUNCTION_INFO_V1(dp_try_subtract_date_int4);
Datum
dp_try_subtract_date_int4(PG_FUNCTION_ARGS)
{
	return date_plus(fcinfo, PG_GETARG_DATEADT(0), -(int64) PG_GETARG_INT32(1));
}

/*
 * Moves t by months and days of the calendar, in the session's zone where
 * zoned is true: to the same time of day, and to the last day of a month that
 * is shorter.  Returns false where the built-ins fail.
 */
static bool
move_date(Timestamp *t, int64 months, int64 days, bool zoned)
{
	struct pg_tm tm;
	fsec_t		fsec;
	int			tz = 0;

	if (timestamp2tm(*t, zoned ? &tz : NULL, &tm, &fsec, NULL, NULL) != 0)
		return false;
	if (months != 0)
	{
		/* since January of the first year that has a Julian day */
		int64		month = (int64) (tm.tm_year - JULIAN_MINYEAR) * MONTHS_PER_YEAR + tm.tm_mon - 1 + months;

		if (month < 0 || month >= (int64) (JULIAN_MAXYEAR - JULIAN_MINYEAR) * MONTHS_PER_YEAR)
			return false;
		tm.tm_year = month / MONTHS_PER_YEAR + JULIAN_MINYEAR;
		tm.tm_mon = month % MONTHS_PER_YEAR + 1;
		tm.tm_mday = Min(tm.tm_mday, day_tab[isleap(tm.tm_year)][tm.tm_mon - 1]);
	}
	if (days != 0)
	{
		int64		day = date2j(tm.tm_year, tm.tm_mon, tm.tm_mday) + days;

		/*
		 * the day before the first may be local time of a timestamp in the
		 * range
		 */
		if (day < DATETIME_MIN_JULIAN - 1 || day >= DATE_END_JULIAN)
			return false;
		j2date((int) day, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
	}
	if (zoned)
		tz = DetermineTimeZoneOffset(&tm, session_timezone);
	return tm2timestamp(&tm, fsec, zoned ? &tz : NULL, t) == 0;
}

/*
 * Adds sign times span: months, days and time one after the other, as the
 * built-ins do, which check the range after each.
 */
static Datum
stamp_plus(FunctionCallInfo fcinfo, Timestamp t, const Interval *span, int sign, bool zoned)
{
	if (dp_interval_is_infinite(span))
	{
		bool		to_end = (span->time > 0) == (sign > 0);

		if (to_end ? TIMESTAMP_IS_NOBEGIN(t) : TIMESTAMP_IS_NOEND(t))
			PG_RETURN_NULL();
		if (to_end)
			TIMESTAMP_NOEND(t);
		else
			TIMESTAMP_NOBEGIN(t);
		PG_RETURN_TIMESTAMP(t);
	}

	/*
	 * subtraction adds the negation, which must exist, from version 17 on
	 * also where t is infinite
	 */
	if (sign < 0 && (span->month == PG_INT32_MIN || span->day == PG_INT32_MIN || span->time == PG_INT64_MIN))
		PG_RETURN_NULL();
	if (TIMESTAMP_NOT_FINITE(t))
		PG_RETURN_TIMESTAMP(t);
	if ((span->month != 0 && !move_date(&t, sign * (int64) span->month, 0, zoned)) ||
		(span->day != 0 && !move_date(&t, 0, sign * (int64) span->day, zoned)) ||
		__builtin_add_overflow(t, sign * span->time, &t) || !IS_VALID_TIMESTAMP(t))
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMP(t);
}

#define DP_TRY_STAMP_INTERVAL(name, sign, zoned, T, I) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	return stamp_plus(fcinfo, PG_GETARG_TIMESTAMP(T), PG_GETARG_INTERVAL_P(I), sign, zoned); \
} \
StaticAssertDecl(true, "")

DP_TRY_STAMP_INTERVAL(add_timestamp_interval, 1, false, 0, 1);
DP_TRY_STAMP_INTERVAL(add_interval_timestamp, 1, false, 1, 0);
DP_TRY_STAMP_INTERVAL(subtract_timestamp_interval, -1, false, 0, 1);
DP_TRY_STAMP_INTERVAL(add_timestamptz_interval, 1, true, 0, 1);
DP_TRY_STAMP_INTERVAL(add_interval_timestamptz, 1, true, 1, 0);
DP_TRY_STAMP_INTERVAL(subtract_timestamptz_interval, -1, true, 0, 1);

#define DP_TRY_DATE_INTERVAL(name, sign, D, I) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	int			overflow = 0; \
	Timestamp	t = dp_date2timestamp(PG_GETARG_DATEADT(D), &overflow); \
	if (overflow != 0) \
		PG_RETURN_NULL(); \
	return stamp_plus(fcinfo, t, PG_GETARG_INTERVAL_P(I), sign, false); \
} \
StaticAssertDecl(true, "")

DP_TRY_DATE_INTERVAL(add_date_interval, 1, 0, 1);
DP_TRY_DATE_INTERVAL(add_interval_date, 1, 1, 0);
DP_TRY_DATE_INTERVAL(subtract_date_interval, -1, 0, 1);

/* A time of day goes round the clock; an infinite interval makes none. */
#define DP_TRY_CLOCK(name, builtin, at_time, at_span) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	if (dp_interval_is_infinite(PG_GETARG_INTERVAL_P(at_span))) \
		PG_RETURN_NULL(); \
	return DirectFunctionCall2(builtin, PG_GETARG_DATUM(at_time), PG_GETARG_DATUM(at_span)); \
} \
StaticAssertDecl(true, "")

DP_TRY_CLOCK(clock_add, time_pl_interval, 0, 1);
DP_TRY_CLOCK(clock_add_to, time_pl_interval, 1, 0);
DP_TRY_CLOCK(clock_subtract, time_mi_interval, 0, 1);

/* Tells whether a - b exists.  From 17 on, a difference of infinity is infinite unless both are the same. */
static inline bool
has_difference(Timestamp a, Timestamp b)
{
	if (TIMESTAMP_NOT_FINITE(a) || TIMESTAMP_NOT_FINITE(b))
		return PG_VERSION_NUM >= 170000 && a != b;
	return true;
}

/* timestamp and timestamptz; older versions let the difference wrap around */
PG_FUNCTION_INFO_V1(dp_try_subtract_timestamp);
Datum
dp_try_subtract_timestamp(PG_FUNCTION_ARGS)
{
	Timestamp	a = PG_GETARG_TIMESTAMP(0);
	Timestamp	b = PG_GETARG_TIMESTAMP(1);
	int64		difference;

	if (!has_difference(a, b) ||
		(!TIMESTAMP_NOT_FINITE(a) && !TIMESTAMP_NOT_FINITE(b) && __builtin_sub_overflow(a, b, &difference)))
		PG_RETURN_NULL();
	return timestamp_mi(fcinfo);
}

#define DP_TRY_AGE(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	if (!has_difference(PG_GETARG_TIMESTAMP(0), PG_GETARG_TIMESTAMP(1))) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

DP_TRY_AGE(age_timestamp, timestamp_age);
DP_TRY_AGE(age_timestamptz, timestamptz_age);

/* of one timestamp: since midnight of the current day */
#define DP_TRY_AGE_OF(name, builtin, midnight) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	if (!has_difference(0, PG_GETARG_TIMESTAMP(0))) \
		PG_RETURN_NULL(); \
	return DirectFunctionCall2(builtin, DirectFunctionCall1(midnight, DateADTGetDatum(GetSQLCurrentDate())), \
							   PG_GETARG_DATUM(0)); \
} \
StaticAssertDecl(true, "")

DP_TRY_AGE_OF(age_of_timestamp, timestamp_age, date_timestamp);
DP_TRY_AGE_OF(age_of_timestamptz, timestamptz_age, date_timestamptz);

/* Tells whether a number, without its fraction, is an int32 other than the least. */
static inline bool
is_int32(double x)
{
	return x < 2147483648.0 && x > -2147483648.0;
}

/* Multiplies where no field leaves its range; what parts of months and days make in finer fields is computed as the built-in does. */
static Datum
interval_times(FunctionCallInfo fcinfo, Interval *span, double factor)
{
#if PG_VERSION_NUM >= 170000
	Interval	nothing = {0};
#endif
	double		months = span->month * factor;
	double		days = span->day * factor;
	double		days_of_months;
	double		seconds;

	if (isnan(factor))
		PG_RETURN_NULL();
#if PG_VERSION_NUM >= 170000
	/* infinity times anything but nothing is infinite */
	if (dp_interval_is_infinite(span) ? factor != 0
		: isinf(factor) && !DatumGetBool(DirectFunctionCall2(interval_eq, IntervalPGetDatum(span), IntervalPGetDatum(&nothing))))
		return DirectFunctionCall2(interval_mul, IntervalPGetDatum(span), Float8GetDatum(factor));
#endif
	if (dp_interval_is_infinite(span) || isinf(factor) || !is_int32(months) || !is_int32(days))
		PG_RETURN_NULL();
	days_of_months = TSROUND((months - (int32) months) * DAYS_PER_MONTH);
	seconds = TSROUND((days - (int32) days + days_of_months - (int) days_of_months) * SECS_PER_DAY);
	if (!is_int32((double) (int32) days + (int) days_of_months + (int) (seconds / SECS_PER_DAY)) ||
		!FLOAT8_FITS_IN_INT64(rint(span->time * factor + fmod(seconds, SECS_PER_DAY) * USECS_PER_SEC)))
		PG_RETURN_NULL();
	return DirectFunctionCall2(interval_mul, IntervalPGetDatum(span), Float8GetDatum(factor));
}

PG_FUNCTION_INFO_V1(dp_try_multiply_interval_float8);
Datum
dp_try_multiply_interval_float8(PG_FUNCTION_ARGS)
{
	return interval_times(fcinfo, PG_GETARG_INTERVAL_P(0), PG_GETARG_FLOAT8(1));
}

PG_FUNCTION_INFO_V1(dp_try_multiply_float8_interval);
Datum
dp_try_multiply_float8_interval(PG_FUNCTION_ARGS)
{
	return interval_times(fcinfo, PG_GETARG_INTERVAL_P(1), PG_GETARG_FLOAT8(0));
}

/* ------------------------------------------------------------------------
 * Dates and timestamps that are made of numbers
 * ------------------------------------------------------------------------
 */

/* Tells whether the calendar has the day: there is no year 0, and 1 BC is -1. */
static bool
is_day(int year, int month, int day)
{
	int			astronomical = year < 0 ? year + 1 : year;

	if (year == 0 || month < 1 || month > MONTHS_PER_YEAR || day < 1 || !IS_VALID_JULIAN(astronomical, month, day))
		return false;
	return day <= day_tab[isleap(astronomical)][month - 1] &&
		IS_VALID_DATE(date2j(astronomical, month, day) - POSTGRES_EPOCH_JDATE);
}

PG_FUNCTION_INFO_V1(dp_try_make_date);
Datum
dp_try_make_date(PG_FUNCTION_ARGS)
{
	if (!is_day(PG_GETARG_INT32(0), PG_GETARG_INT32(1), PG_GETARG_INT32(2)))
		PG_RETURN_NULL();
	return make_date(fcinfo);
}

/* of seconds since 1970 */
PG_FUNCTION_INFO_V1(dp_try_to_timestamp);
Datum
dp_try_to_timestamp(PG_FUNCTION_ARGS)
{
	double		seconds = PG_GETARG_FLOAT8(0);

	if (isnan(seconds))
		PG_RETURN_NULL();
	if (!isinf(seconds))
	{
		const double epoch = (double) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY;
		double		at = rint((seconds - epoch) * USECS_PER_SEC);

		/* seconds are compared before they are rounded, too */
		if (seconds < (double) SECS_PER_DAY * (DATETIME_MIN_JULIAN - UNIX_EPOCH_JDATE) ||
			seconds >= (double) SECS_PER_DAY * (TIMESTAMP_END_JULIAN - UNIX_EPOCH_JDATE) ||
			at < (double) MIN_TIMESTAMP || at >= (double) END_TIMESTAMP)
			PG_RETURN_NULL();
	}
	return float8_timestamptz(fcinfo);
}

/*
 * Tells whether a bin of so long a stride from origin on holds t, and begins
 * in the range.
 */
static bool
has_bin(const Interval *stride, Timestamp t, Timestamp origin)
{
	int64		length;
	int64		distance;
	int64		start;

	if (TIMESTAMP_NOT_FINITE(origin) || !dp_stride_is_good(stride, &length))
		return false;
	if (TIMESTAMP_NOT_FINITE(t))
		return true;
	if (__builtin_sub_overflow(t, origin, &distance))
		return false;
	distance %= length;
	if (distance < 0)
		distance += length;
	return !__builtin_sub_overflow(t, distance, &start) && start >= MIN_TIMESTAMP;
}

/* the built-ins of older versions let differences wrap around, and may take the bin before */
#define DP_TRY_BIN(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	if (!has_bin(PG_GETARG_INTERVAL_P(0), PG_GETARG_TIMESTAMP(1), PG_GETARG_TIMESTAMP(2))) \
		PG_RETURN_NULL(); \
	return timestamp_or_null(fcinfo, DatumGetTimestamp(builtin(fcinfo))); \
} \
StaticAssertDecl(true, "")

DP_TRY_BIN(date_bin_timestamp, timestamp_bin);
DP_TRY_BIN(date_bin_timestamptz, timestamptz_bin);

/* ------------------------------------------------------------------------
 * Fields
 * ------------------------------------------------------------------------
 */

#define DP_FIELD_IS_GOOD(fcinfo, type) \
	dp_field_is_good(VARDATA_ANY(PG_GETARG_TEXT_PP(0)), VARSIZE_ANY_EXHDR(PG_GETARG_TEXT_PP(0)), type)
#define DP_TRUNC_IS_GOOD(fcinfo, type) \
	dp_trunc_is_good(VARDATA_ANY(PG_GETARG_TEXT_PP(0)), VARSIZE_ANY_EXHDR(PG_GETARG_TEXT_PP(0)), type)

#define DP_TRY_FIELD(name, type, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	if (!DP_FIELD_IS_GOOD(fcinfo, type)) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

DP_TRY_FIELD(extract_date, DATEOID, extract_date);
DP_TRY_FIELD(extract_time, TIMEOID, extract_time);
DP_TRY_FIELD(extract_timestamp, TIMESTAMPOID, extract_timestamp);
DP_TRY_FIELD(extract_timestamptz, TIMESTAMPTZOID, extract_timestamptz);
DP_TRY_FIELD(extract_interval, INTERVALOID, extract_interval);
DP_TRY_FIELD(date_part_time, TIMEOID, time_part);
DP_TRY_FIELD(date_part_timestamp, TIMESTAMPOID, timestamp_part);
DP_TRY_FIELD(date_part_timestamptz, TIMESTAMPTZOID, timestamptz_part);
DP_TRY_FIELD(date_part_interval, INTERVALOID, interval_part);

/* date_part of a date is that of its midnight */
PG_FUNCTION_INFO_V1(dp_try_date_part_date);
Datum
dp_try_date_part_date(PG_FUNCTION_ARGS)
{
	int			overflow = 0;
	Timestamp	t = dp_date2timestamp(PG_GETARG_DATEADT(1), &overflow);

	LOCAL_FCINFO(inner, 2);
	Datum		result;

	if (overflow != 0 || !DP_FIELD_IS_GOOD(fcinfo, TIMESTAMPOID))
		PG_RETURN_NULL();
	/* not DirectFunctionCall: parts of infinity may be NULL */
	InitFunctionCallInfoData(*inner, NULL, 2, InvalidOid, NULL, NULL);
	inner->args[0] = fcinfo->args[0];
	inner->args[1].value = TimestampGetDatum(t);
	inner->args[1].isnull = false;
	result = timestamp_part(inner);
	fcinfo->isnull = inner->isnull;
	return result;
}

/* units of which the first begins before the range, with the first that begins in it; the year before 1 is 0 */
static const struct
{
	const char *name;
	int			year;
	int			month;
}			coarse_units[] = {
	{"month", -4713, 12}, {"quarter", -4712, 1}, {"year", -4712, 1},
	{"decade", -4710, 1}, {"century", -4699, 1}, {"millennium", -3999, 1}
};

/* Tells whether t is in a unit that begins in the range, and so far from the ends as edge says. */
static bool
trunc_fits(const text *unit, Timestamp t, int64 edge)
{
	Timestamp	lowest = MIN_TIMESTAMP;
	int			i;

	if (TIMESTAMP_NOT_FINITE(t))
		return true;
	for (i = 0; t < 0 && i < lengthof(coarse_units); i++)
	{
		if (strlen(coarse_units[i].name) == VARSIZE_ANY_EXHDR(unit) &&
			pg_strncasecmp(coarse_units[i].name, VARDATA_ANY(unit), VARSIZE_ANY_EXHDR(unit)) == 0)
			lowest = (date2j(coarse_units[i].year, coarse_units[i].month, 1) - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY;
	}
	return t >= lowest + edge && t < END_TIMESTAMP - edge;
}

#define DP_TRY_TRUNC(name, type, builtin, edge, zone_is_good) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	if (!DP_TRUNC_IS_GOOD(fcinfo, type) || !(zone_is_good) || \
		!trunc_fits(PG_GETARG_TEXT_PP(0), PG_GETARG_TIMESTAMP(1), edge)) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

#define DP_ZONE_IS_GOOD(fcinfo, n) \
	dp_zone_is_good(VARDATA_ANY(PG_GETARG_TEXT_PP(n)), VARSIZE_ANY_EXHDR(PG_GETARG_TEXT_PP(n)))

DP_TRY_TRUNC(date_trunc_timestamp, TIMESTAMPOID, timestamp_trunc, 0, true);
DP_TRY_TRUNC(date_trunc_timestamptz, TIMESTAMPTZOID, timestamptz_trunc, DP_EDGE, true);
DP_TRY_TRUNC(date_trunc_zone, TIMESTAMPTZOID, timestamptz_trunc_zone, DP_EDGE, DP_ZONE_IS_GOOD(fcinfo, 2));

/* AT TIME ZONE */
#define DP_TRY_ZONE(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	if (!DP_ZONE_IS_GOOD(fcinfo, 0) || !is_inner(PG_GETARG_TIMESTAMP(1))) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

DP_TRY_ZONE(timezone_timestamp, timestamp_zone);
DP_TRY_ZONE(timezone_timestamptz, timestamptz_zone);

/* the built-ins return NULL for infinity */
#define DP_TRY_TO_CHAR(name, builtin, refused) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	text	   *format = PG_GETARG_TEXT_PP(1); \
	if (!dp_format_is_good(VARDATA_ANY(format), VARSIZE_ANY_EXHDR(format)) || (refused)) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

DP_TRY_TO_CHAR(to_char_timestamp, timestamp_to_char, false);
/* days before the first have no day of the week */
DP_TRY_TO_CHAR(to_char_timestamptz, timestamptz_to_char,
			   !is_inner(PG_GETARG_TIMESTAMPTZ(0)) && local_time(PG_GETARG_TIMESTAMPTZ(0)) < MIN_TIMESTAMP);
