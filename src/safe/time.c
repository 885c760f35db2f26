/*-------------------------------------------------------------------------
 *
 * time.c
 *	  Safe variants of date and time functions: NULL where the built-in
 *	  raises an error.
 *
 * Invariant: for every argument the result is that of the built-in function,
 * or NULL where that would raise an error.  More is NULL than strictly needed
 * in three places, all far from real data, so that no edge has to be proved
 * safe: timestamps within 40 days of either end of their range where a time
 * zone or an interval is added, date_trunc before 3999 BC, and infinite
 * operands of a difference.
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

#define DP_EDGE (40 * USECS_PER_DAY)
/*
 * 3999-01-01 BC (the year before 1 AD is 0): in every time zone within the
 * millennium that begins in 4000 BC.  The one before begins earlier than the
 * first timestamp.
 */
#define DP_TRUNC_LOWEST ((Timestamp) (date2j(-3998, 1, 1) - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY)

/* Tells whether t is infinite, or so far from both ends that a zone or rounding cannot leave the range. */
static inline bool
is_inner(Timestamp t)
{
	return TIMESTAMP_NOT_FINITE(t) ||
		(t >= MIN_TIMESTAMP + DP_EDGE && t < END_TIMESTAMP - DP_EDGE);
}

/* ------------------------------------------------------------------------
 * Casts
 * ------------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(dp_try_timestamp_date);
Datum
dp_try_timestamp_date(PG_FUNCTION_ARGS)
{
	int			overflow = 0;
	Timestamp	result = dp_date2timestamp(PG_GETARG_DATEADT(0), &overflow);

	if (overflow != 0)
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMP(result);
}

PG_FUNCTION_INFO_V1(dp_try_timestamptz_date);
Datum
dp_try_timestamptz_date(PG_FUNCTION_ARGS)
{
	int			overflow = 0;
	TimestampTz result = dp_date2timestamptz(PG_GETARG_DATEADT(0), &overflow);

	if (overflow != 0)
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(result);
}

#define DP_TRY_STAMP(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	if (!is_inner(PG_GETARG_TIMESTAMP(0))) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

/* these built-ins read nothing but their one argument, and may return NULL */
DP_TRY_STAMP(timestamptz_timestamp, timestamp_timestamptz);
DP_TRY_STAMP(timestamp_timestamptz, timestamptz_timestamp);
DP_TRY_STAMP(date_timestamptz, timestamptz_date);
DP_TRY_STAMP(time_timestamptz, timestamptz_time);

/* timestamp(p) and timestamptz(p) */
PG_FUNCTION_INFO_V1(dp_try_timestamp_typmod);
Datum
dp_try_timestamp_typmod(PG_FUNCTION_ARGS)
{
	int32		typmod = PG_GETARG_INT32(1);

	if (typmod < -1 || typmod > MAX_TIMESTAMP_PRECISION || !is_inner(PG_GETARG_TIMESTAMP(0)))
		PG_RETURN_NULL();
	return timestamp_scale(fcinfo);
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
	if (result < DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE ||
		result >= DATE_END_JULIAN - POSTGRES_EPOCH_JDATE)
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
 * Tells whether t plus sign times span stays in the range throughout.  The
 * built-ins add months, days and time one after the other and check after
 * each; a month is between 28 and 31 days, and n months are within 3 days of
 * n times the mean of the calendar's 400 years plus or minus a few days for
 * the place within them, for all of which DP_EDGE allows.
 */
static bool
interval_fits(Timestamp t, const Interval *span, int sign)
{
	const double mean_month = 146097.0 / 4800.0;
	const double lowest = (double) (MIN_TIMESTAMP + DP_EDGE);
	const double highest = (double) (END_TIMESTAMP - DP_EDGE);
	double		at = (double) t;

	if (at < lowest || at > highest)
		return false;
	at += sign * (double) span->month * mean_month * USECS_PER_DAY;
	if (at < lowest || at > highest)
		return false;
	at += sign * (double) span->day * USECS_PER_DAY;
	if (at < lowest || at > highest)
		return false;
	at += sign * (double) span->time;
	return at >= lowest && at <= highest;
}

static Datum
stamp_plus(FunctionCallInfo fcinfo, Timestamp t, Interval *span, int sign, PGFunction builtin)
{
	if (dp_interval_is_infinite(span))
		PG_RETURN_NULL();

	/*
	 * its negation must exist, too: subtraction adds it, from version 17 on
	 * also to infinity
	 */
	if (span->month == PG_INT32_MIN || span->day == PG_INT32_MIN || span->time == PG_INT64_MIN)
		PG_RETURN_NULL();
	if (TIMESTAMP_NOT_FINITE(t))
		PG_RETURN_TIMESTAMP(t);
	if (!interval_fits(t, span, sign))
		PG_RETURN_NULL();
	return DirectFunctionCall2(builtin, TimestampGetDatum(t), IntervalPGetDatum(span));
}

#define DP_TRY_STAMP_INTERVAL(name, sign, builtin, T, I) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	return stamp_plus(fcinfo, PG_GETARG_TIMESTAMP(T), PG_GETARG_INTERVAL_P(I), sign, builtin); \
} \
StaticAssertDecl(true, "")

DP_TRY_STAMP_INTERVAL(add_timestamp_interval, 1, timestamp_pl_interval, 0, 1);
DP_TRY_STAMP_INTERVAL(add_interval_timestamp, 1, timestamp_pl_interval, 1, 0);
DP_TRY_STAMP_INTERVAL(subtract_timestamp_interval, -1, timestamp_mi_interval, 0, 1);
DP_TRY_STAMP_INTERVAL(add_timestamptz_interval, 1, timestamptz_pl_interval, 0, 1);
DP_TRY_STAMP_INTERVAL(add_interval_timestamptz, 1, timestamptz_pl_interval, 1, 0);
DP_TRY_STAMP_INTERVAL(subtract_timestamptz_interval, -1, timestamptz_mi_interval, 0, 1);

#define DP_TRY_DATE_INTERVAL(name, sign, builtin, D, I) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	int			overflow = 0; \
	Timestamp	t = dp_date2timestamp(PG_GETARG_DATEADT(D), &overflow); \
	if (overflow != 0) \
		PG_RETURN_NULL(); \
	return stamp_plus(fcinfo, t, PG_GETARG_INTERVAL_P(I), sign, builtin); \
} \
StaticAssertDecl(true, "")

DP_TRY_DATE_INTERVAL(add_date_interval, 1, timestamp_pl_interval, 0, 1);
DP_TRY_DATE_INTERVAL(add_interval_date, 1, timestamp_pl_interval, 1, 0);
DP_TRY_DATE_INTERVAL(subtract_date_interval, -1, timestamp_mi_interval, 0, 1);

/* timestamp and timestamptz; older versions let the difference wrap around */
PG_FUNCTION_INFO_V1(dp_try_subtract_timestamp);
Datum
dp_try_subtract_timestamp(PG_FUNCTION_ARGS)
{
	Timestamp	a = PG_GETARG_TIMESTAMP(0);
	Timestamp	b = PG_GETARG_TIMESTAMP(1);
	int64		difference;

	if (TIMESTAMP_NOT_FINITE(a) || TIMESTAMP_NOT_FINITE(b) ||
		__builtin_sub_overflow(a, b, &difference))
		PG_RETURN_NULL();
	return timestamp_mi(fcinfo);
}

#define DP_TRY_AGE(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	Timestamp	a = PG_GETARG_TIMESTAMP(0); \
	Timestamp	b = PG_GETARG_TIMESTAMP(1); \
	if (TIMESTAMP_NOT_FINITE(a) || TIMESTAMP_NOT_FINITE(b) || !is_inner(a) || !is_inner(b)) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

DP_TRY_AGE(age_timestamp, timestamp_age);
DP_TRY_AGE(age_timestamptz, timestamptz_age);

/* of one timestamp: since midnight of the current day */
PG_FUNCTION_INFO_V1(dp_try_age_of_timestamp);
Datum
dp_try_age_of_timestamp(PG_FUNCTION_ARGS)
{
	Timestamp	t = PG_GETARG_TIMESTAMP(0);

	if (TIMESTAMP_NOT_FINITE(t) || !is_inner(t))
		PG_RETURN_NULL();
	return DirectFunctionCall2(timestamp_age, DirectFunctionCall1(date_timestamp, DateADTGetDatum(GetSQLCurrentDate())),
							   TimestampGetDatum(t));
}

PG_FUNCTION_INFO_V1(dp_try_age_of_timestamptz);
Datum
dp_try_age_of_timestamptz(PG_FUNCTION_ARGS)
{
	TimestampTz t = PG_GETARG_TIMESTAMPTZ(0);

	if (TIMESTAMP_NOT_FINITE(t) || !is_inner(t))
		PG_RETURN_NULL();
	return DirectFunctionCall2(timestamptz_age, DirectFunctionCall1(date_timestamptz, DateADTGetDatum(GetSQLCurrentDate())),
							   TimestampTzGetDatum(t));
}

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

/* Tells whether the calendar has the day: years from 4713 BC, which is -4713, on, but none that is 0. */
static bool
is_day(int year, int month, int day)
{
	int			astronomical = year < 0 ? year + 1 : year;

	if (year == 0 || year < -4713 || year > DATE_END_JULIAN / 365 || month < 1 || month > MONTHS_PER_YEAR || day < 1)
		return false;
	return day <= day_tab[isleap(astronomical)][month - 1] && IS_VALID_JULIAN(astronomical, month, day) &&
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
	const double epoch = (double) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY;
	double		seconds = PG_GETARG_FLOAT8(0);
	double		at = (seconds - epoch) * USECS_PER_SEC;

	if (isnan(seconds) || (!isinf(seconds) && (at < (double) (MIN_TIMESTAMP + DP_EDGE) || at > (double) (END_TIMESTAMP - DP_EDGE))))
		PG_RETURN_NULL();
	return float8_timestamptz(fcinfo);
}

/*
 * Tells whether a bin of so long a stride from origin on holds t.  The built-ins of older
 * versions let differences and results wrap around.
 */
static bool
has_bin(const Interval *stride, Timestamp t, Timestamp origin)
{
	int64		length;
	int64		distance;

	if (TIMESTAMP_NOT_FINITE(origin) || !dp_stride_is_good(stride, &length))
		return false;
	if (TIMESTAMP_NOT_FINITE(t))
		return true;
	if (!is_inner(t) || __builtin_sub_overflow(t, origin, &distance))
		return false;
	/* the bin begins at most a stride before t */
	return t - (MIN_TIMESTAMP + DP_EDGE) > length;
}

#define DP_TRY_BIN(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	if (!has_bin(PG_GETARG_INTERVAL_P(0), PG_GETARG_TIMESTAMP(1), PG_GETARG_TIMESTAMP(2))) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
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

#define DP_TRY_FIELD(name, type, builtin, refused) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	if (!DP_FIELD_IS_GOOD(fcinfo, type) || (refused)) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

DP_TRY_FIELD(extract_date, DATEOID, extract_date, false);
DP_TRY_FIELD(extract_time, TIMEOID, extract_time, false);
DP_TRY_FIELD(extract_timestamp, TIMESTAMPOID, extract_timestamp, false);
DP_TRY_FIELD(extract_timestamptz, TIMESTAMPTZOID, extract_timestamptz, !is_inner(PG_GETARG_TIMESTAMP(1)));
DP_TRY_FIELD(extract_interval, INTERVALOID, extract_interval, false);
DP_TRY_FIELD(date_part_time, TIMEOID, time_part, false);
DP_TRY_FIELD(date_part_timestamp, TIMESTAMPOID, timestamp_part, false);
DP_TRY_FIELD(date_part_timestamptz, TIMESTAMPTZOID, timestamptz_part, !is_inner(PG_GETARG_TIMESTAMP(1)));
DP_TRY_FIELD(date_part_interval, INTERVALOID, interval_part, false);

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

#define DP_TRY_TRUNC(name, type, builtin, zone_is_good) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	Timestamp	t = PG_GETARG_TIMESTAMP(1); \
	if (!DP_TRUNC_IS_GOOD(fcinfo, type) || !(zone_is_good) || \
		(!TIMESTAMP_NOT_FINITE(t) && (t < DP_TRUNC_LOWEST || !is_inner(t)))) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

#define DP_ZONE_IS_GOOD(fcinfo, n) \
	dp_zone_is_good(VARDATA_ANY(PG_GETARG_TEXT_PP(n)), VARSIZE_ANY_EXHDR(PG_GETARG_TEXT_PP(n)))

DP_TRY_TRUNC(date_trunc_timestamp, TIMESTAMPOID, timestamp_trunc, true);
DP_TRY_TRUNC(date_trunc_timestamptz, TIMESTAMPTZOID, timestamptz_trunc, true);
DP_TRY_TRUNC(date_trunc_zone, TIMESTAMPTZOID, timestamptz_trunc_zone, DP_ZONE_IS_GOOD(fcinfo, 2));

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
#define DP_TRY_TO_CHAR(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	text	   *format = PG_GETARG_TEXT_PP(1); \
	if (!dp_format_is_good(VARDATA_ANY(format), VARSIZE_ANY_EXHDR(format)) || \
		!is_inner(PG_GETARG_TIMESTAMP(0))) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

DP_TRY_TO_CHAR(to_char_timestamp, timestamp_to_char);
DP_TRY_TO_CHAR(to_char_timestamptz, timestamptz_to_char);
