/*-------------------------------------------------------------------------
 *
 * blocks.c
 *	  Blocks of time: which of them a day is in, and ranges of days.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

#include "base/blocks.h"

/* blocks are counted from the first of this month, and from this day */
#define FIRST_YEAR 2000

#define MAX_MONTHS (100 * MONTHS_PER_YEAR)
#define MAX_DAYS (100 * 366)

bool
dp_block_length(const Interval *interval, DpBlockLength *length)
{
	length->months = interval->month;
	length->days = interval->day;
	if (interval->time != 0 || (interval->month != 0) == (interval->day != 0))
		return false;
	return interval->month >= 0 && interval->month <= MAX_MONTHS && interval->day >= 0 && interval->day <= MAX_DAYS;
}

/* Divides, rounded down. */
static int64
floor_div(int64 a, int64 b)
{
	return a / b - (a % b < 0 ? 1 : 0);
}

/* Returns the day on which a block begins, "blocks" blocks after that of a day; what the calendar does not have is infinite. */
static DateADT
start_after(DateADT day, const DpBlockLength *length, int blocks)
{
	int			year;
	int			month;
	int			ignored;
	int64		start;
	int64		months;

	if (DATE_NOT_FINITE(day))
		return day;
	if (length->days > 0)
		start = (floor_div(day, length->days) + blocks) * length->days;
	else
	{
		j2date(day + POSTGRES_EPOCH_JDATE, &year, &month, &ignored);
		months = (int64) (year - FIRST_YEAR) * MONTHS_PER_YEAR + month - 1;
		months = (floor_div(months, length->months) + blocks) * length->months;
		year = FIRST_YEAR + floor_div(months, MONTHS_PER_YEAR);
		month = months - floor_div(months, MONTHS_PER_YEAR) * MONTHS_PER_YEAR + 1;
		if (!IS_VALID_JULIAN(year, month, 1))
			return blocks > 0 ? DATEVAL_NOEND : DATEVAL_NOBEGIN;
		start = (int64) date2j(year, month, 1) - POSTGRES_EPOCH_JDATE;
	}
	if (start < DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE)
		return DATEVAL_NOBEGIN;
	if (start >= DATE_END_JULIAN - POSTGRES_EPOCH_JDATE)
		return DATEVAL_NOEND;
	return start;
}

DateADT
dp_block_start(DateADT day, const DpBlockLength *length)
{
	return start_after(day, length, 0);
}

DateADT
dp_block_end(DateADT day, const DpBlockLength *length)
{
	return start_after(day, length, 1);
}

DateADT
dp_day_of(Datum value, Oid type)
{
	Timestamp	time;

	if (type == DATEOID)
		return DatumGetDateADT(value);
	/* both count microseconds, those with a zone in UTC */
	time = DatumGetTimestamp(value);
	if (TIMESTAMP_IS_NOBEGIN(time))
		return DATEVAL_NOBEGIN;
	if (TIMESTAMP_IS_NOEND(time))
		return DATEVAL_NOEND;
	return floor_div(time, USECS_PER_DAY);
}

Datum
dp_first_of_day(DateADT day, Oid type)
{
	if (type == DATEOID)
		return DateADTGetDatum(day);
	if (DATE_IS_NOBEGIN(day))
		return TimestampGetDatum(DT_NOBEGIN);
	if (DATE_IS_NOEND(day) || day >= TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE)
		return TimestampGetDatum(DT_NOEND);
	return TimestampGetDatum(day * USECS_PER_DAY);
}

Datum
dp_last_before_day(DateADT day, Oid type)
{
	Timestamp	time;

	if (type == DATEOID)
		return DateADTGetDatum(DATE_NOT_FINITE(day) ? day : day - 1);
	time = DatumGetTimestamp(dp_first_of_day(day, type));
	return TimestampGetDatum(TIMESTAMP_NOT_FINITE(time) ? time : time - 1);
}

char *
dp_day_text(DateADT day)
{
	char text[	MAXDATELEN + 1];
	struct pg_tm tm = {0};

	if (DATE_NOT_FINITE(day))
		return pstrdup(DATE_IS_NOBEGIN(day) ? "-infinity" : "infinity");
	j2date(day + POSTGRES_EPOCH_JDATE, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
	EncodeDateOnly(&tm, USE_ISO_DATES, text);
	return pstrdup(text);
}

char *
dp_days_text(DpDays days)
{
	if (DATE_IS_NOBEGIN(days.from) && DATE_IS_NOEND(days.to))
		return pstrdup("all");
	if (DATE_IS_NOBEGIN(days.from))
		return psprintf("all before %s", dp_day_text(days.to));
	if (DATE_IS_NOEND(days.to))
		return psprintf("all from %s on", dp_day_text(days.from));
	return psprintf("from %s to before %s", dp_day_text(days.from), dp_day_text(days.to));
}
