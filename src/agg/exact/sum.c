/*-------------------------------------------------------------------------
 *
 * sum.c
 *	  Type exact_sum and its aggregate; the text forms that no state has.
 *
 * Invariants:
 *	- a state is the sum of the rows' steps, an integer; each row adds
 *	  at most 2^63 in magnitude, so 2^64 rows do not overflow 128 bits, and
 *	  the sum does not depend on order, plan or number of workers;
 *	- nothing of a state can be read or written in SQL but through functions
 *	  that nobody has been granted: no text form, no binary form, no cast.
 *
 * Transition functions change the state in place, hence the refusal to run
 * outside of an aggregate.  They look for NULLs, which contribute nothing,
 * themselves: as strict functions they would cost the executor one more step
 * for each row.  The initial state is the text '0', the only one accepted.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "agg/bounding/state.h"
#include "agg/exact/grid.h"
#include "base/compat.h"

PG_FUNCTION_INFO_V1(dp_state_in);
PG_FUNCTION_INFO_V1(dp_state_out);
PG_FUNCTION_INFO_V1(dp_exact_sum_in);
PG_FUNCTION_INFO_V1(dp_exact_sum_int2);
PG_FUNCTION_INFO_V1(dp_exact_sum_int4);
PG_FUNCTION_INFO_V1(dp_exact_sum_int8);
PG_FUNCTION_INFO_V1(dp_exact_sum_float4);
PG_FUNCTION_INFO_V1(dp_exact_sum_float8);
PG_FUNCTION_INFO_V1(dp_exact_sum_numeric);
PG_FUNCTION_INFO_V1(dp_exact_sum_combine);
PG_FUNCTION_INFO_V1(dp_steps_sum);
PG_FUNCTION_INFO_V1(dp_clamped_steps_int2);
PG_FUNCTION_INFO_V1(dp_clamped_steps_int4);
PG_FUNCTION_INFO_V1(dp_clamped_steps_int8);
PG_FUNCTION_INFO_V1(dp_clamped_steps_float4);
PG_FUNCTION_INFO_V1(dp_clamped_steps_float8);
PG_FUNCTION_INFO_V1(dp_clamped_steps_numeric);

Datum
dp_state_in(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("exact states of dp_cdp have no text form: only queries of the extension itself can make one")));
	PG_RETURN_NULL();
}

void
dp_state_misplaced(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("transition functions of dp_cdp can only be called by an aggregate")));
	pg_unreachable();
}

Datum
dp_state_unchanged(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* Prints a constant, so that no plan, log line or dump shows a state. */
Datum
dp_state_out(PG_FUNCTION_ARGS)
{
	PG_RETURN_CSTRING(pstrdup("<exact state>"));
}

Datum
dp_exact_sum_in(PG_FUNCTION_ARGS)
{
	if (strcmp(PG_GETARG_CSTRING(0), "0") != 0)
		return dp_state_in(fcinfo);
	PG_RETURN_POINTER(palloc0(sizeof(DpExactSum)));
}

static inline void
add_steps(DpExactSum *sum, int64 steps)
{
	dp_exact_sum_set(sum, dp_exact_sum_get(sum) + steps);
}

/*
 * One row.  What is seldom is called last and returns the state itself, so
 * that the usual case needs no stack.
 */

static pg_noinline Datum
add_shifted_int(DpExactSum *sum, int64 x, const DpGrid *grid)
{
	add_steps(sum, dp_clamp_wide(dp_steps_shifted_int(x, grid->exponent), grid));
	PG_RETURN_POINTER(sum);
}

static inline Datum
add_int(DpExactSum *sum, int64 x, const DpGrid *grid)
{
	if (unlikely(grid->exponent != 0))
		return add_shifted_int(sum, x, grid);
	add_steps(sum, dp_clamp(x, grid));
	PG_RETURN_POINTER(sum);
}

static pg_noinline Datum
add_large_float(DpExactSum *sum, double scaled, const DpGrid *grid)
{
	dp_i128		n;

	if (dp_steps_large_float8(scaled, &n))
		add_steps(sum, dp_clamp_wide(n, grid));
	PG_RETURN_POINTER(sum);
}

static inline Datum
add_float(DpExactSum *sum, double x, const DpGrid *grid)
{
	double		scaled = x * grid->scale;

	if (unlikely(!(fabs(scaled) < DP_ROUND_LIMIT)))
		return add_large_float(sum, scaled, grid);
	add_steps(sum, dp_clamp(dp_round_near(scaled), grid));
	PG_RETURN_POINTER(sum);
}

static inline Datum
add_numeric(DpExactSum *sum, Datum x, const DpGrid *grid)
{
	dp_i128		n;

	if (dp_steps_numeric(x, grid->exponent, &n))
		add_steps(sum, dp_clamp_wide(n, grid));
	PG_RETURN_POINTER(sum);
}

/* transition: (exact_sum, x, grid) */
#define TRANSITION(type, add, arg) \
Datum \
dp_exact_sum_##type(PG_FUNCTION_ARGS) \
{ \
	DpExactSum *sum = dp_state_in_place(fcinfo); \
\
	if (unlikely(PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))) \
		return dp_state_unchanged(fcinfo); \
	return add(sum, arg(1), (const DpGrid *) PG_GETARG_POINTER(2)); \
} \
StaticAssertDecl(true, "")

TRANSITION(int2, add_int, PG_GETARG_INT16);
TRANSITION(int4, add_int, PG_GETARG_INT32);
TRANSITION(int8, add_int, PG_GETARG_INT64);
TRANSITION(float4, add_float, PG_GETARG_FLOAT4);
TRANSITION(float8, add_float, PG_GETARG_FLOAT8);
TRANSITION(numeric, add_numeric, PG_GETARG_DATUM);

/* The combine function, strict. */
Datum
dp_exact_sum_combine(PG_FUNCTION_ARGS)
{
	DpExactSum *sum = dp_state_in_place(fcinfo);
	const DpExactSum *other = (const DpExactSum *) PG_GETARG_POINTER(1);

	dp_exact_sum_set(sum, dp_exact_sum_get(sum) + dp_exact_sum_get(other));
	PG_RETURN_POINTER(sum);
}

/* The transition of steps_sum: (exact_sum, steps); strict.  The steps of a unit are clamped already. */
Datum
dp_steps_sum(PG_FUNCTION_ARGS)
{
	DpExactSum *sum = dp_state_in_place(fcinfo);

	dp_exact_sum_set(sum, dp_exact_sum_get(sum) + PG_GETARG_INT64(1));
	PG_RETURN_POINTER(sum);
}

/*
 * What a row adds to exact_sum, for servers that add it up by PostgreSQL's own sum: (x, grid), strict; NULL
 * for NaN.
 */
static inline bool
steps_int(int64 x, const DpGrid *grid, dp_i128 *n)
{
	*n = dp_steps_int(x, grid);
	return true;
}

static inline bool
steps_numeric(Datum x, const DpGrid *grid, dp_i128 *n)
{
	return dp_steps_numeric(x, grid->exponent, n);
}

#define CLAMPED_STEPS(type, steps, arg) \
Datum \
dp_clamped_steps_##type(PG_FUNCTION_ARGS) \
{ \
	const DpGrid *grid = (const DpGrid *) PG_GETARG_POINTER(1); \
	dp_i128		n; \
\
	if (!steps(arg(0), grid, &n)) \
		PG_RETURN_NULL(); \
	PG_RETURN_INT64(dp_clamp_wide(n, grid)); \
} \
StaticAssertDecl(true, "")

CLAMPED_STEPS(int2, steps_int, PG_GETARG_INT16);
CLAMPED_STEPS(int4, steps_int, PG_GETARG_INT32);
CLAMPED_STEPS(int8, steps_int, PG_GETARG_INT64);
CLAMPED_STEPS(float4, dp_steps_float8, PG_GETARG_FLOAT4);
CLAMPED_STEPS(float8, dp_steps_float8, PG_GETARG_FLOAT8);
CLAMPED_STEPS(numeric, steps_numeric, PG_GETARG_DATUM);
