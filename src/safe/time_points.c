/*-------------------------------------------------------------------------
 *
 * time_points.c
 *	  Points of time at which keys are evaluated before rows are read.
 *
 * They are so far apart as the keys allow, and, in between, where conditions become
 * true or false: at moments that are given, and at times of each day.
 *
 * Invariants:
 * - Both ends are among them, and so are each moment that is given and those
 *	 next to it.
 * - They are no more than the rows that the administrator lets a private query
 *	 hold before it is paid for.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/errors.h"
#include "base/settings.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "utils/array.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

/*
 * Where clocks are set, or months differ, conditions may change before or after
 * a moment: by quarters of an hour, and by days.
 */
#define SPREAD_QUARTERS 12
#define SPREAD_DAYS 6

typedef struct Points
{
	bool		is_date;
	int64		next;
	int64		last;
	int64		step;			/* > 0 */
	bool		ended;
	bool		with_null;		/* after the last */
	int64	   *cuts;			/* in between, ascending */
	int			ncuts;
	int			size;
	int			cut;			/* the next of them */
} Points;

static void
refuse_many(void)
{
	dp_raise(NOT_RELEASABLE,
			 errmsg("groups of time need more than %d points in the range that the query asks for; narrow the range, or take a coarser unit", dp_guc_max_public_rows));
}

static int64
time_argument(FunctionCallInfo fcinfo, int argno, bool is_date)
{
	bool		finite;
	int64		time = is_date ? PG_GETARG_DATEADT(argno) : PG_GETARG_TIMESTAMP(argno);

	finite = is_date ? !DATE_NOT_FINITE(time) : !TIMESTAMP_NOT_FINITE(time);
	if (!finite)
		dp_raise(NOT_RELEASABLE, errmsg("groups of time need a finite range; give a first and a last day"));
	return time;
}

/* ------------------------------------------------------------------------
 * Moments in between
 * ------------------------------------------------------------------------
 */

/* Adds a moment and those next to it, as far as they are between the ends. */
static void
add_cut(Points *points, int64 time)
{
	if (points->ncuts + 3 > points->size)
	{
		if (points->ncuts >= dp_guc_max_public_rows)
			refuse_many();
		points->size = Max(64, points->size * 2);
		points->cuts = points->cuts ? repalloc_huge(points->cuts, points->size * sizeof(int64))
			: palloc(points->size * sizeof(int64));
	}
	for (int64 at = time - 1; at <= time + 1; at++)
		if (at > points->next && at < points->last)
			points->cuts[points->ncuts++] = at;
}

/* Adds the moments of an array, and, if they are spread, those at which conditions may change instead. */
static void
add_cuts(Points *points, ArrayType *array, bool spread)
{
	Datum	   *values;
	bool	   *nulls;
	int			n;
	int			days = spread ? SPREAD_DAYS : 0;
	int			quarters = spread ? SPREAD_QUARTERS : 0;

	deconstruct_array(array, ARR_ELEMTYPE(array), sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		int64		time = nulls[i] ? DT_NOEND : DatumGetTimestamp(values[i]);

		if (TIMESTAMP_NOT_FINITE(time) || !IS_VALID_TIMESTAMP(time))
			continue;
		for (int day = -days; day <= days; day++)
			for (int quarter = -quarters; quarter <= quarters; quarter++)
				add_cut(points, time + day * USECS_PER_DAY + quarter * 15 * USECS_PER_MINUTE);
	}
}

/* Adds the moments of a time of the day, of a day since 2000; with_zone: in the zone of the session. */
static void
add_time(Points *points, int64 day, TimeADT time, bool with_zone)
{
	int64		local = day * USECS_PER_DAY + time;

	if (!with_zone)
	{
		add_cut(points, local);
		return;
	}

	/*
	 * where clocks are set there may be two: by the offsets of the day before
	 * and after
	 */
	for (int64 of = day - 1; of <= day + 1; of++)
	{
		struct pg_tm tm = {0};
		fsec_t		fsec;

		j2date(of + POSTGRES_EPOCH_JDATE, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
		time2tm(time, &tm, &fsec);
		add_cut(points, local + DetermineTimeZoneOffset(&tm, session_timezone) * USECS_PER_SEC);
	}
}

/* Adds the moments, on each day, of times of the day. */
static void
add_times(Points *points, ArrayType *array, bool with_zone)
{
	Datum	   *values;
	bool	   *nulls;
	int			n;
	int64		first = points->next / USECS_PER_DAY - 2;
	int64		last = points->last / USECS_PER_DAY + 2;

	deconstruct_array(array, TIMEOID, sizeof(TimeADT), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			continue;
		if (last - first > dp_guc_max_public_rows)
			refuse_many();
		for (int64 day = first; day <= last; day++)
		{
			CHECK_FOR_INTERRUPTS();
			add_time(points, day, DatumGetTimeADT(values[i]), with_zone);
		}
	}
}

static int
compare_cuts(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return x < y ? -1 : x > y;
}

/* ------------------------------------------------------------------------
 * Points
 * ------------------------------------------------------------------------
 */

static void
start_points(FunctionCallInfo fcinfo, Points *points)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);

	points->ended = PG_ARGISNULL(0) || PG_ARGISNULL(1);
	points->with_null = PG_GETARG_BOOL(3);
	if (points->ended)
		return;
	points->is_date = type == DATEOID;
	points->next = time_argument(fcinfo, 0, points->is_date);
	points->last = time_argument(fcinfo, 1, points->is_date);
	points->step = points->is_date ? 1 : Max(PG_GETARG_INT64(2), 1);
	points->ended = points->next > points->last;
	/* as unsigned: the difference of two timestamps may be larger than one is */
	if (!points->ended &&
		((uint64) points->last - (uint64) points->next) / points->step >= (uint64) dp_guc_max_public_rows)
		refuse_many();
	if (points->ended || points->is_date)
		return;
	if (!PG_ARGISNULL(4))
		add_cuts(points, PG_GETARG_ARRAYTYPE_P(4), PG_GETARG_BOOL(5));
	if (!PG_ARGISNULL(6))
		add_times(points, PG_GETARG_ARRAYTYPE_P(6), type == TIMESTAMPTZOID);
	if (points->ncuts > 0)
		qsort(points->cuts, points->ncuts, sizeof(int64), compare_cuts);
}

/* Returns the point after one that is not the last. */
static int64
point_after(Points *points, int64 time)
{
	int64		next = (uint64) points->last - (uint64) time > (uint64) points->step ? time + points->step : points->last;

	while (points->cut < points->ncuts && points->cuts[points->cut] <= time)
		points->cut++;
	return points->cut < points->ncuts ? Min(next, points->cuts[points->cut]) : next;
}

/* time_points(first, last, microseconds, with_null, cuts, spread, times) */
PG_FUNCTION_INFO_V1(dp_time_points);
Datum
dp_time_points(PG_FUNCTION_ARGS)
{
	FuncCallContext *context;
	Points	   *points;
	int64		time;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext caller;

		context = SRF_FIRSTCALL_INIT();
		caller = MemoryContextSwitchTo(context->multi_call_memory_ctx);
		context->user_fctx = palloc0(sizeof(Points));
		if (PG_ARGISNULL(2) || PG_ARGISNULL(3) || PG_ARGISNULL(5))
			SRF_RETURN_DONE(context);
		start_points(fcinfo, context->user_fctx);
		MemoryContextSwitchTo(caller);
	}
	context = SRF_PERCALL_SETUP();
	points = context->user_fctx;
	if (points->ended)
	{
		if (!points->with_null)
			SRF_RETURN_DONE(context);
		points->with_null = false;
		SRF_RETURN_NEXT_NULL(context);
	}
	time = points->next;
	points->ended = time == points->last;
	points->next = points->ended ? time : point_after(points, time);
	SRF_RETURN_NEXT(context, points->is_date ? DateADTGetDatum((DateADT) time) : TimestampGetDatum(time));
}
