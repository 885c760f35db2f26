/*-------------------------------------------------------------------------
 *
 * moments.c
 *	  Type exact_moments and its aggregates: all sums of a row's centered
 *	  values at once.
 *
 * moment_n, moment_t, ... moment_tu differ in their final function alone, so
 * the executor keeps one state and makes one call per row for all of them
 * that have the same arguments and filter.  With one argument, the most
 * frequent, the value is centered in that call, too.
 *
 * Invariants: a state holds integers, sums over the rows that have all
 * arguments; a row adds 1 to N and at most DP_CENTERED_ONE in magnitude to
 * each other sum, whatever its arguments are.  2^64 rows fit.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"

#include "agg/bounding/state.h"
#include "agg/exact/grid.h"
#include "math/moments.h"

/* SQL type dp_cdp_internal.exact_moments: fixed length, double alignment, by reference */
typedef struct DpExactMoments
{
	DpExactSum	sum[DP_MOMENTS];	/* by dp_moment */
} DpExactMoments;

StaticAssertDecl(sizeof(DpExactMoments) == 96, "length of type exact_moments");

PG_FUNCTION_INFO_V1(dp_exact_moments_in);
PG_FUNCTION_INFO_V1(dp_moments_add);
PG_FUNCTION_INFO_V1(dp_moments_add2);
PG_FUNCTION_INFO_V1(dp_moments_combine);

/* Reads '0', the initial state, and nothing else. */
Datum
dp_exact_moments_in(PG_FUNCTION_ARGS)
{
	if (strcmp(PG_GETARG_CSTRING(0), "0") != 0)
		return dp_state_in(fcinfo);
	PG_RETURN_POINTER(palloc0(sizeof(DpExactMoments)));
}

static inline void
add(DpExactMoments *moments, dp_moment which, int64 steps)
{
	DpExactSum *sum = &moments->sum[which];

	dp_exact_sum_set(sum, dp_exact_sum_get(sum) + steps);
}

static inline Datum
add_value(FunctionCallInfo fcinfo, double x)
{
	DpExactMoments *moments = (DpExactMoments *) PG_GETARG_POINTER(0);
	int64		t;

	if (isnan(x))
		PG_RETURN_POINTER(moments);
	t = dp_center(x, (const DpRange *) PG_GETARG_POINTER(2));
	add(moments, DP_MOMENT_N, 1);
	add(moments, DP_MOMENT_T, t);
	add(moments, DP_MOMENT_T2, dp_chebyshev_of(t));
	PG_RETURN_POINTER(moments);
}

/* Returns the type of the argument, looked up once. */
static inline Oid
argument_type(FunctionCallInfo fcinfo)
{
	if (unlikely(fcinfo->flinfo->fn_extra == NULL))
		fcinfo->flinfo->fn_extra = (void *) (uintptr_t) get_fn_expr_argtype(fcinfo->flinfo, 1);
	return (Oid) (uintptr_t) fcinfo->flinfo->fn_extra;
}

/* The transition for one argument: (exact_moments, x, range); not strict: see sum.c. */
Datum
dp_moments_add(PG_FUNCTION_ARGS)
{
	(void) dp_state_in_place(fcinfo);
	if (unlikely(PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2)))
		return dp_state_unchanged(fcinfo);
	switch (argument_type(fcinfo))
	{
		case INT2OID:
			return add_value(fcinfo, PG_GETARG_INT16(1));
		case INT4OID:
			return add_value(fcinfo, PG_GETARG_INT32(1));
		case INT8OID:
			return add_value(fcinfo, (double) PG_GETARG_INT64(1));
		case FLOAT4OID:
			return add_value(fcinfo, PG_GETARG_FLOAT4(1));
		case FLOAT8OID:
			return add_value(fcinfo, PG_GETARG_FLOAT8(1));
		case NUMERICOID:
			return add_value(fcinfo, dp_double_numeric(PG_GETARG_DATUM(1)));
	}
	elog(ERROR, "moments of type %u are not defined", argument_type(fcinfo));
}

/* The transition for two arguments: (exact_moments, t, u), strict. */
Datum
dp_moments_add2(PG_FUNCTION_ARGS)
{
	DpExactMoments *moments = dp_state_in_place(fcinfo);
	int64		t = dp_clamp_centered(PG_GETARG_INT32(1));
	int64		u = dp_clamp_centered(PG_GETARG_INT32(2));

	add(moments, DP_MOMENT_N, 1);
	add(moments, DP_MOMENT_T, t);
	add(moments, DP_MOMENT_T2, dp_chebyshev_of(t));
	add(moments, DP_MOMENT_U, u);
	add(moments, DP_MOMENT_U2, dp_chebyshev_of(u));
	add(moments, DP_MOMENT_TU, dp_product_of(t, u));
	PG_RETURN_POINTER(moments);
}

Datum
dp_moments_combine(PG_FUNCTION_ARGS)
{
	DpExactMoments *moments = dp_state_in_place(fcinfo);
	const DpExactMoments *other = (const DpExactMoments *) PG_GETARG_POINTER(1);

	for (int i = 0; i < DP_MOMENTS; i++)
		dp_exact_sum_set(&moments->sum[i],
						 dp_exact_sum_get(&moments->sum[i]) + dp_exact_sum_get(&other->sum[i]));
	PG_RETURN_POINTER(moments);
}

/* final functions, which leave the state alone */
#define MOMENT(name, which) \
PG_FUNCTION_INFO_V1(dp_##name); \
Datum \
dp_##name(PG_FUNCTION_ARGS) \
{ \
	DpExactSum *sum = palloc(sizeof(DpExactSum)); \
\
	*sum = ((const DpExactMoments *) PG_GETARG_POINTER(0))->sum[which]; \
	PG_RETURN_POINTER(sum); \
} \
StaticAssertDecl(true, "")

MOMENT(moments_n, DP_MOMENT_N);
MOMENT(moments_t, DP_MOMENT_T);
MOMENT(moments_t2, DP_MOMENT_T2);
MOMENT(moments_u, DP_MOMENT_U);
MOMENT(moments_u2, DP_MOMENT_U2);
MOMENT(moments_tu, DP_MOMENT_TU);
