/*-------------------------------------------------------------------------
 *
 * renewal.c
 *	  When a budget begins anew.
 *
 * By dp_now (base/clock.c): a clock that was set ahead while the server ran
 * renews nothing until the extension's owner has accepted it.  renews_at never
 * goes back by itself, so that a clock that was set back renews nothing twice.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "base/clock.h"
#include "base/errors.h"
#include "base/extension.h"
#include "ledger/ledger_int.h"

/* how far off the estimate of a renewal may be, in periods; two would do */
#define MAX_STEPS 100

PG_FUNCTION_INFO_V1(dp_ledger_next_renewal);
PG_FUNCTION_INFO_V1(dp_ledger_period_start);
PG_FUNCTION_INFO_V1(dp_ledger_clock_ahead);
PG_FUNCTION_INFO_V1(dp_ledger_accept_clock);

/*
 * Returns whether no part of the period points backwards and some part
 * forwards: then renewal dates grow with the number of periods.  A period that
 * is not sound never renews, which spends less privacy than anybody hoped for.
 */
static bool
period_is_sound(const Interval *period)
{
	return period->month >= 0 && period->day >= 0 && period->time >= 0 &&
		(period->month > 0 || period->day > 0 || period->time > 0);
}

bool
dp_renewal_due(TimestampTz renews_at, const Interval *period, TimestampTz now)
{
	return !TIMESTAMP_NOT_FINITE(renews_at) && now >= renews_at && period_is_sound(period);
}

/* Returns start + n periods, infinity when that is beyond the calendar. */
static TimestampTz
add_periods(TimestampTz start, const Interval *period, int64 n)
{
	Interval	span;
	double		months = (double) n * period->month;
	double		days = (double) n * period->day;
	double		end = (double) start + (months * 31 + days) * USECS_PER_DAY +
	(double) n * (double) period->time;

	if (end > 0.99 * (double) END_TIMESTAMP || months > INT_MAX / 2 || days > INT_MAX / 2)
		return DT_NOEND;

	span.month = (int32) (n * period->month);
	span.day = (int32) (n * period->day);
	span.time = n * period->time;
	return DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval,
												   TimestampTzGetDatum(start),
												   IntervalPGetDatum(&span)));
}

/* Returns the length of a period in microseconds; months have their mean length. */
static double
mean_length(const Interval *period)
{
	return period->month * (365.2425 / 12) * USECS_PER_DAY +
		period->day * (double) USECS_PER_DAY + (double) period->time;
}

/* Returns the next renewal for a period (microseconds) without days and months, however short it is. */
static TimestampTz
next_by_time(TimestampTz renews_at, int64 period, TimestampTz now)
{
	int128		n = ((int128) now - renews_at) / period + 1;
	int128		next = renews_at + n * period;

	return next >= END_TIMESTAMP ? DT_NOEND : (TimestampTz) next;
}

/*
 * Returns the first date after now among renews_at + 1 period, + 2 periods, ...
 *
 * Months differ in length, and days where clocks change, so the number of
 * periods is estimated from their mean length, and is off by a step or two
 * then: a period with days or months has at least one day.  Counted in the
 * time zone of the caller; the worker's is UTC.  A date that is not found, as
 * ours is not the only calendar that could be wrong, is never.
 */
TimestampTz
dp_next_renewal(TimestampTz renews_at, const Interval *period, TimestampTz now)
{
	int64		n;
	TimestampTz next;
	TimestampTz earlier;

	if (!dp_renewal_due(renews_at, period, now))
		return renews_at;
	if (TIMESTAMP_NOT_FINITE(now))
		return DT_NOEND;
	if (period->month == 0 && period->day == 0)
		return next_by_time(renews_at, period->time, now);

	n = Max((int64) (((double) now - (double) renews_at) / mean_length(period)) - 2, 1);
	next = add_periods(renews_at, period, n);
	for (int step = 0; next <= now; step++)
	{
		if (step == MAX_STEPS)
			return DT_NOEND;
		next = add_periods(renews_at, period, ++n);
	}
	/* the estimate may have been too large */
	for (int step = 0; n > 1 && step < MAX_STEPS; step++)
	{
		earlier = add_periods(renews_at, period, n - 1);
		if (earlier <= now)
			break;
		next = earlier;
		n--;
	}
	return next;
}

/*
 * SQL: dp_cdp_internal.period_start(renews_at, period)
 *
 * Returns when the period began that ends at renews_at; NULL if it never
 * began, because the budget does not renew.
 */
Datum
dp_ledger_period_start(PG_FUNCTION_ARGS)
{
	TimestampTz renews_at = PG_GETARG_TIMESTAMPTZ(0);
	Interval   *period = PG_GETARG_INTERVAL_P(1);

	/* from 2000 on, 5,000 years lie well within the calendar on both sides */
	if (TIMESTAMP_NOT_FINITE(renews_at) || !period_is_sound(period) || renews_at < 0 ||
		mean_length(period) > 5000.0 * 365 * USECS_PER_DAY)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(DirectFunctionCall2(timestamptz_mi_interval,
										TimestampTzGetDatum(renews_at),
										IntervalPGetDatum(period)));
}

/* SQL: dp_cdp_internal.next_renewal(renews_at, period, now); a clock that was set ahead renews nothing */
Datum
dp_ledger_next_renewal(PG_FUNCTION_ARGS)
{
	TimestampTz now = PG_GETARG_TIMESTAMPTZ(2);

	if (TIMESTAMP_NOT_FINITE(now))
		dp_raise(BAD_PARAMETER, errmsg("now must be a finite time"));
	/* a time that is not the clock's is asked about as it is */
	if (dp_clock_ahead() > 0 && now > dp_now() && now <= GetCurrentTimestamp())
		now = dp_now();
	PG_RETURN_TIMESTAMPTZ(dp_next_renewal(PG_GETARG_TIMESTAMPTZ(0), PG_GETARG_INTERVAL_P(1), now));
}

/* SQL: dp_cdp.clock_ahead() */
Datum
dp_ledger_clock_ahead(PG_FUNCTION_ARGS)
{
	Interval   *ahead = palloc0(sizeof(Interval));

	ahead->time = dp_clock_ahead();
	PG_RETURN_INTERVAL_P(ahead);
}

/* SQL: dp_cdp.accept_clock() */
Datum
dp_ledger_accept_clock(PG_FUNCTION_ARGS)
{
	Datum		ahead;

	if (!dp_owns_extension(dp_extension_oid(), GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only the owner of extension dp_cdp may call dp_cdp.accept_clock")));
	ahead = dp_ledger_clock_ahead(fcinfo);
	dp_clock_accept();
	return ahead;
}
