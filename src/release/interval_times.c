/*-------------------------------------------------------------------------
 *
 * interval_times.c
 *	  Intervals of dates, timestamps and their differences.
 *
 * Dates are in days, the others in microseconds, since 2000-01-01.  A timestamp
 * with time zone differs from what a clock shows by less than a day, whatever
 * the zone; so do those that are cast to one another.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "datatype/timestamp.h"
#include "release/interval_int.h"
#include "utils/datetime.h"

/* seconds from 1970-01-01 to 2000-01-01 */
#define SECONDS_BEFORE ((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY)

static Oid
source_type(const DpBound *bound)
{
	return ((DpBound *) linitial(bound->args))->type;
}

/* Multiplies both bounds. */
static DpInterval
scaled(const DpInterval *a, int64 factor)
{
	return interval_between(num_times(a->lower, num_of_int(factor)), num_times(a->upper, num_of_int(factor)));
}

/* Returns how often divisor is in a number, rounded down. */
static Numeric
whole_parts(Numeric value, int64 divisor)
{
	Numeric		by = num_of_int(divisor);
	Numeric		parts = num_call2(numeric_div_trunc, value, by);

	return num_less(value, num_times(parts, by)) ? num_call2(numeric_sub, parts, num_of_int(1)) : parts;
}

static DpInterval
whole_days(const DpInterval *a)
{
	return interval_between(whole_parts(a->lower, USECS_PER_DAY), whole_parts(a->upper, USECS_PER_DAY));
}

static DpInterval
shifted(const DpInterval *a, int64 lower, int64 upper)
{
	return interval_between(num_call2(numeric_add, a->lower, num_of_int(lower)),
							num_call2(numeric_add, a->upper, num_of_int(upper)));
}

/* A date or timestamp as another of these. */
static DpInterval
cast_time(const DpBound *bound, const DpInterval *a)
{
	Oid			from = source_type(bound);
	bool		is_local = from == TIMESTAMPTZOID || bound->type == TIMESTAMPTZOID;
	DpInterval	result = from == DATEOID ? scaled(a, USECS_PER_DAY) : *a;

	result.grain = NULL;
	if (is_local && from != bound->type)
		result = shifted(&result, -USECS_PER_DAY, USECS_PER_DAY);
	/* a precision rounds to a second at most */
	else if (from == bound->type)
		result = shifted(&result, -USECS_PER_SEC, USECS_PER_SEC);
	if (bound->type == DATEOID)
	{
		result = whole_days(&result);
		result.grain = num_of_int(1);
	}
	return result;
}

static DpInterval
seconds(const DpBound *bound, const DpInterval *a)
{
	Oid			from = source_type(bound);
	Numeric		million = num_of_int(USECS_PER_SEC);
	DpInterval	result = from == DATEOID ? scaled(a, SECS_PER_DAY)
	: interval_between(num_call2(numeric_div, a->lower, million), num_call2(numeric_div, a->upper, million));

	return from == INTERVALOID ? result : shifted(&result, SECONDS_BEFORE, SECONDS_BEFORE);
}

/* Returns the year of a number of days, as extract counts years before Christ. */
static Numeric
year_of(Numeric days)
{
	double		day = num_to_double(days) + POSTGRES_EPOCH_JDATE;
	int			year,
				month,
				mday;

	j2date((int) Min(Max(day, 0), PG_INT32_MAX), &year, &month, &mday);
	return num_of_int(year > 0 ? year : year - 1);
}

static DpInterval
years(const DpBound *bound, const DpInterval *a)
{
	Oid			from = source_type(bound);
	DpInterval	days = from == DATEOID ? *a : whole_days(a);

	if (from == TIMESTAMPTZOID)
		days = shifted(&days, -1, 1);
	days = interval_between(year_of(days.lower), year_of(days.upper));
	days.grain = num_of_int(1);
	return days;
}

/* A year has 365 or 366 days, and a clock that is put forward takes an hour of it. */
static Numeric
years_of(Numeric difference, bool is_upper)
{
	int64		days = (num_sign(difference) >= 0) == is_upper ? 364 : 367;

	return num_call2(numeric_div_trunc, difference, num_of_int(days * USECS_PER_DAY));
}

DpInterval
dp_interval_of_time(const DpBound *bound, const DpInterval *a)
{
	DpInterval	result;

	switch (bound->op)
	{
		case DP_BOUND_TIME:
			return cast_time(bound, a);
		case DP_BOUND_EPOCH:
			return seconds(bound, a);
		case DP_BOUND_DAYS:
			result = interval_between(num_call2(numeric_div_trunc, a->lower, num_of_int(USECS_PER_DAY)),
									  num_call2(numeric_div_trunc, a->upper, num_of_int(USECS_PER_DAY)));
			break;
		case DP_BOUND_YEAR:
			return years(bound, a);
		case DP_BOUND_AGE:
			result = interval_between(years_of(a->lower, false), years_of(a->upper, true));
			break;
		default:
			return interval_none(bound);
	}
	result.grain = num_of_int(1);
	return result;
}
