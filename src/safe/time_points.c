/*-------------------------------------------------------------------------
 *
 * time_points.c
 *	  Points of time at which keys are evaluated before rows are read.
 *
 * Invariant: both ends are among them; they are no more than the rows that
 * the administrator lets a private query hold before it is paid for.
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
#include "utils/date.h"
#include "utils/timestamp.h"

typedef struct Points
{
	bool		is_date;
	int64		next;
	int64		last;
	int64		step;			/* > 0 */
	bool		ended;
	bool		with_null;		/* after the last */
} Points;

static int64
time_argument(FunctionCallInfo fcinfo, int argno, bool is_date)
{
	bool		finite;
	int64		time = is_date ? PG_GETARG_DATEADT(argno) : PG_GETARG_TIMESTAMP(argno);

	finite = is_date ? !DATE_NOT_FINITE(time) : !TIMESTAMP_NOT_FINITE(time);
	if (!finite)
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_RELEASABLE),
				 errmsg("groups of time need a finite range; give a first and a last day")));
	return time;
}

static void
start_points(FunctionCallInfo fcinfo, Points *points)
{
	points->ended = PG_ARGISNULL(0) || PG_ARGISNULL(1);
	points->with_null = PG_GETARG_BOOL(3);
	if (points->ended)
		return;
	points->is_date = get_fn_expr_argtype(fcinfo->flinfo, 0) == DATEOID;
	points->next = time_argument(fcinfo, 0, points->is_date);
	points->last = time_argument(fcinfo, 1, points->is_date);
	points->step = points->is_date ? 1 : Max(PG_GETARG_INT64(2), 1);
	points->ended = points->next > points->last;
	/* as unsigned: the difference of two timestamps may be larger than one is */
	if (!points->ended &&
		((uint64) points->last - (uint64) points->next) / points->step >= (uint64) dp_guc_max_public_rows)
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_RELEASABLE),
				 errmsg("groups of time need more than %d points in the range that the query asks for; narrow the range, or take a coarser unit", dp_guc_max_public_rows)));
}

/* time_points(first, last, microseconds, with_null) */
PG_FUNCTION_INFO_V1(dp_time_points);
Datum
dp_time_points(PG_FUNCTION_ARGS)
{
	FuncCallContext *context;
	Points	   *points;
	int64		time;

	if (SRF_IS_FIRSTCALL())
	{
		context = SRF_FIRSTCALL_INIT();
		context->user_fctx = MemoryContextAllocZero(context->multi_call_memory_ctx, sizeof(Points));
		if (PG_ARGISNULL(2) || PG_ARGISNULL(3))
			SRF_RETURN_DONE(context);
		start_points(fcinfo, context->user_fctx);
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
	points->next = (uint64) points->last - (uint64) time > (uint64) points->step ? time + points->step : points->last;
	SRF_RETURN_NEXT(context, points->is_date ? DateADTGetDatum((DateADT) time) : TimestampGetDatum(time));
}
