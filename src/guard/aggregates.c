/*-------------------------------------------------------------------------
 *
 * aggregates.c
 *	  The aggregates that analysts write, before and instead of their run.
 *
 * They have no implementation: the guard replaces them.  Their state type is
 * dp_cdp_internal.unreleased, which no role may use for an aggregate of its own, so
 * the type of the state identifies them.  The planner calls the type's input
 * function for the initial state; one that nobody replaced ends there, before
 * any permission is checked or row is read, also where the library was not
 * preloaded.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "base/errors.h"
#include "base/extension.h"
#include "base/settings.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "guard/guard.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(dp_unreleased_in);
PG_FUNCTION_INFO_V1(dp_unreleased_out);
PG_FUNCTION_INFO_V1(dp_unreleased_trans);
PG_FUNCTION_INFO_V1(dp_unreleased_final);

static void
refuse_unreleased(void)
{
	if (!dp_preloaded)
		dp_raise(LEDGER_UNAVAILABLE,
				 errmsg("dp_cdp is not preloaded; add shared_preload_libraries = 'dp_cdp' to postgresql.conf and restart the server"),
				 errdetail("Private aggregates are answered only by a server that loads the library at its start."));
	dp_raise(NOT_RELEASABLE, errmsg("private aggregates work on protected tables only; "
									"for other tables use count and sum, or protect the table with dp_cdp.protect_table"));
}

Datum
dp_unreleased_in(PG_FUNCTION_ARGS)
{
	/* CREATE AGGREGATE tries the initial state */
	if (!creating_extension && !IsBinaryUpgrade)
		refuse_unreleased();
	PG_RETURN_INT32(0);
}

Datum
dp_unreleased_out(PG_FUNCTION_ARGS)
{
	PG_RETURN_CSTRING(pstrdup("unreleased"));
}

Datum
dp_unreleased_trans(PG_FUNCTION_ARGS)
{
	refuse_unreleased();
	PG_RETURN_NULL();
}

Datum
dp_unreleased_final(PG_FUNCTION_ARGS)
{
	refuse_unreleased();
	PG_RETURN_NULL();
}

PG_FUNCTION_INFO_V1(dp_companion);
Datum
dp_companion(PG_FUNCTION_ARGS)
{
	dp_raise(NOT_RELEASABLE,
			 errmsg("dp_margin, dp_noise_stddev, dp_error_stddev and dp_cut take a private aggregate, where it stands; "
					"write for example dp_margin(dp_count(*)) beside dp_count(*)"));
	PG_RETURN_NULL();
}

/* ------------------------------------------------------------------------
 * Which they are
 * ------------------------------------------------------------------------
 */

#define TOTAL(name, kind, nvalues) {DP_ANSWER_SUM, kind, 0, nvalues, false, name}
#define MOMENTS(name, statistic, nvalues) {DP_ANSWER_MOMENTS, 0, statistic, nvalues, false, name}
#define VECTOR(name, answer) {answer, 0, 0, 1, false, name}

static const DpAggregate dp_aggregates[] = {
	TOTAL("dp_count", DP_VALUE_COUNT, 1),
	TOTAL("dp_sum", DP_VALUE_SUM, 1),
	MOMENTS("dp_avg", DP_STAT_AVG, 1),
	MOMENTS("dp_variance", DP_STAT_VAR_SAMP, 1),
	MOMENTS("dp_var_samp", DP_STAT_VAR_SAMP, 1),
	MOMENTS("dp_var_pop", DP_STAT_VAR_POP, 1),
	MOMENTS("dp_stddev", DP_STAT_STDDEV_SAMP, 1),
	MOMENTS("dp_stddev_samp", DP_STAT_STDDEV_SAMP, 1),
	MOMENTS("dp_stddev_pop", DP_STAT_STDDEV_POP, 1),
	MOMENTS("dp_covariance", DP_STAT_COVAR_SAMP, 2),
	MOMENTS("dp_covar_samp", DP_STAT_COVAR_SAMP, 2),
	MOMENTS("dp_covar_pop", DP_STAT_COVAR_POP, 2),
	MOMENTS("dp_correlation", DP_STAT_CORR, 2),
	MOMENTS("dp_regr_slope", DP_STAT_REGR_SLOPE, 2),
	MOMENTS("dp_regr_intercept", DP_STAT_REGR_INTERCEPT, 2),
	VECTOR("dp_quantile", DP_ANSWER_QUANTILE),
	{DP_ANSWER_QUANTILE, 0, 0, 1, true, "dp_median"},
	VECTOR("dp_min", DP_ANSWER_MIN),
	VECTOR("dp_max", DP_ANSWER_MAX),
	VECTOR("dp_histogram", DP_ANSWER_HISTOGRAM),
	VECTOR("dp_bounds", DP_ANSWER_BOUNDS),
	VECTOR("dp_mode", DP_ANSWER_MODE),
	VECTOR("dp_clipped", DP_ANSWER_CLIPPED),
	{DP_ANSWER_CLIPPED_TOTALS, DP_VALUE_CUT, 0, 1, false, "dp_clipped_totals"},
	{DP_ANSWER_CLIPPED_TOTALS, DP_VALUE_CUT, 0, 0, false, "dp_clipped_rows"},
	{DP_ANSWER_CLIPPED_GROUPS, DP_VALUE_CUT, 0, 0, false, "dp_clipped_groups"}
};

static const DpAggregate *
by_name(const char *name)
{
	for (int i = 0; i < lengthof(dp_aggregates); i++)
		if (strcmp(dp_aggregates[i].name, name) == 0)
			return &dp_aggregates[i];
	return NULL;
}

#define OF_NUMBERS(name) \
	F_##name##_INT2: case F_##name##_INT4: case F_##name##_INT8: \
	case F_##name##_FLOAT4: case F_##name##_FLOAT8: case F_##name##_NUMERIC

/* Returns the name of the private aggregate that stands for a built-in one, as BI tools send; or NULL. */
static const char *
standard_name(Oid funcid)
{
	switch (funcid)
	{
		case F_COUNT_:
		case F_COUNT_ANY:
			return "dp_count";
		case OF_NUMBERS(SUM):
			return "dp_sum";
		case OF_NUMBERS(AVG):
			return "dp_avg";
		case OF_NUMBERS(VARIANCE):
		case OF_NUMBERS(VAR_SAMP):
			return "dp_var_samp";
		case OF_NUMBERS(VAR_POP):
			return "dp_var_pop";
		case OF_NUMBERS(STDDEV):
		case OF_NUMBERS(STDDEV_SAMP):
			return "dp_stddev_samp";
		case OF_NUMBERS(STDDEV_POP):
			return "dp_stddev_pop";
		case OF_NUMBERS(MIN):
		case F_MIN_DATE:
		case F_MIN_TIMESTAMP:
		case F_MIN_TIMESTAMPTZ:
			return "dp_min";
		case OF_NUMBERS(MAX):
		case F_MAX_DATE:
		case F_MAX_TIMESTAMP:
		case F_MAX_TIMESTAMPTZ:
			return "dp_max";
		case F_PERCENTILE_CONT_FLOAT8_FLOAT8:
		case F_PERCENTILE_CONT__FLOAT8_FLOAT8:
		case F_PERCENTILE_DISC_FLOAT8_ANYELEMENT:
		case F_PERCENTILE_DISC__FLOAT8_ANYELEMENT:
			return "dp_quantile";
		case F_MODE:
			return "dp_mode";
		case F_COVAR_SAMP:
			return "dp_covar_samp";
		case F_COVAR_POP:
			return "dp_covar_pop";
		case F_CORR:
			return "dp_correlation";
		case F_REGR_SLOPE:
			return "dp_regr_slope";
		case F_REGR_INTERCEPT:
			return "dp_regr_intercept";
		default:
			return NULL;
	}
}

const DpAggregate *
dp_find_aggregate(Oid funcid, bool take_standard)
{
	const DpAggregate *found;
	HeapTuple	tuple;
	Oid			transtype;
	const char *name;

	if (funcid < FirstNormalObjectId)
	{
		name = take_standard ? standard_name(funcid) : NULL;
		return name ? by_name(name) : NULL;
	}
	if (!OidIsValid(dp_internal_schema()))
		return NULL;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return NULL;
	transtype = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtranstype;
	ReleaseSysCache(tuple);
	if (transtype < FirstNormalObjectId || transtype != dp_own_type("unreleased"))
		return NULL;

	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return NULL;
	found = by_name(NameStr(((Form_pg_proc) GETSTRUCT(tuple))->proname));
	ReleaseSysCache(tuple);
	return found;
}

DpErrorFunction
dp_find_error_function(Oid funcid)
{
	static const char *const names[] = {
		[DP_ERROR_FUNCTION_STDDEV] = "dp_noise_stddev",[DP_ERROR_FUNCTION_ERROR] = "dp_error_stddev",
		[DP_ERROR_FUNCTION_CUT] = "dp_cut",[DP_ERROR_FUNCTION_MARGIN] = "dp_margin"
	};
	HeapTuple	tuple;
	DpErrorFunction found = DP_ERROR_FUNCTION_NONE;

	if (funcid < FirstNormalObjectId)
		return DP_ERROR_FUNCTION_NONE;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return DP_ERROR_FUNCTION_NONE;
	if (((Form_pg_proc) GETSTRUCT(tuple))->pronamespace == dp_public_schema() &&
		dp_is_own(ProcedureRelationId, funcid))
	{
		for (int i = DP_ERROR_FUNCTION_NONE + 1; i < lengthof(names); i++)
			if (strcmp(names[i], NameStr(((Form_pg_proc) GETSTRUCT(tuple))->proname)) == 0)
				found = i;
	}
	ReleaseSysCache(tuple);
	return found;
}
