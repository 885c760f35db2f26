/*-------------------------------------------------------------------------
 *
 * float.c
 *	  Type exact_float: sums of floating point numbers, and of their squares,
 *	  without rounding; what is run in place of PostgreSQL's own aggregates
 *	  on one unit's rows.
 *
 * Invariants:
 *	- a result is a function of the multiset of the values: the nearest number
 *	  to the exact sum, average, variance (of the exact sums of values and of
 *	  squares) or root of that.  Zero is +0.  NaN and infinities behave as in
 *	  PostgreSQL's aggregates.  The proof is in math/exact.c;
 *	- no values raise an error: a result that is larger than any number is
 *	  NULL;
 *	- a state takes 64 bytes, with squares 128, while values are within a
 *	  factor of 2^32 or so, and never more than 600 and 1,700.
 *
 * A state is changed in place; one of another shape is made in
 * CurrentMemoryContext, and the executor copies that.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "agg/bounding/state.h"
#include "base/compat.h"
#include "math/exact.h"

PG_FUNCTION_INFO_V1(dp_exact_float_add4);
PG_FUNCTION_INFO_V1(dp_exact_float_add8);
PG_FUNCTION_INFO_V1(dp_exact_float_square4);
PG_FUNCTION_INFO_V1(dp_exact_float_square8);
PG_FUNCTION_INFO_V1(dp_exact_float_combine);

/* Makes a state of this shape, with what the old one holds. */
static dp_exact *
reshape(const dp_exact *old, const dp_exact_shape *shape)
{
	Size		size = dp_exact_size(shape);
	dp_exact   *state = palloc(size);

	dp_exact_init(state, shape, old);
	SET_VARSIZE(state, size);
	return state;
}

static pg_noinline Datum
add_outside(const dp_exact *old, bool squares, double x)
{
	dp_exact_shape shape;
	dp_exact   *state;

	dp_exact_shape_for(&shape, old, squares, x);
	state = reshape(old, &shape);
	if (!dp_exact_add(state, x))
		elog(ERROR, "exact_float has no room for a value");
	PG_RETURN_POINTER(state);
}

/* Adds a row; there is no state before the first value. */
static inline Datum
add(FunctionCallInfo fcinfo, bool squares, double x)
{
	dp_exact   *state = dp_state_in_place(fcinfo);

	if (unlikely(PG_ARGISNULL(0)))
		return add_outside(NULL, squares, x);
	if (likely(dp_exact_add(state, x)))
		PG_RETURN_POINTER(state);
	return add_outside(state, squares, x);
}

/* (exact_float, x); not strict: see sum.c */
#define ADD(name, T, squares) \
Datum \
dp_exact_float_##name(PG_FUNCTION_ARGS) \
{ \
	if (unlikely(PG_ARGISNULL(1))) \
		return dp_state_unchanged(fcinfo); \
	return add(fcinfo, squares, PG_GETARG_##T(1)); \
} \
StaticAssertDecl(true, "")

ADD(add4, FLOAT4, false);
ADD(add8, FLOAT8, false);
ADD(square4, FLOAT4, true);
ADD(square8, FLOAT8, true);

/* The combine function, strict. */
Datum
dp_exact_float_combine(PG_FUNCTION_ARGS)
{
	dp_exact   *state = dp_state_in_place(fcinfo);
	const dp_exact *other = (const dp_exact *) PG_GETARG_POINTER(1);
	dp_exact_shape shape;

	if (state->squares != other->squares)
		elog(ERROR, "partial states of different aggregates cannot be combined");
	if (likely(dp_exact_merge(state, other)))
		PG_RETURN_POINTER(state);
	dp_exact_shape_for_both(&shape, state, other);
	state = reshape(state, &shape);
	if (!dp_exact_merge(state, other))
		elog(ERROR, "exact_float has no room for a state");
	PG_RETURN_POINTER(state);
}

/* final functions, which leave the state alone; strict */
#define RESULT(name, what, single, T) \
PG_FUNCTION_INFO_V1(dp_exact_float_##name); \
Datum \
dp_exact_float_##name(PG_FUNCTION_ARGS) \
{ \
	double		result; \
\
	if (!dp_exact_get((const dp_exact *) PG_GETARG_POINTER(0), what, single, &result)) \
		PG_RETURN_NULL(); \
	PG_RETURN_##T(result); \
} \
StaticAssertDecl(true, "")

RESULT(sum4, DP_EXACT_SUM, true, FLOAT4);
RESULT(sum8, DP_EXACT_SUM, false, FLOAT8);
RESULT(avg, DP_EXACT_AVG, false, FLOAT8);
RESULT(var_pop, DP_EXACT_VAR_POP, false, FLOAT8);
RESULT(var_samp, DP_EXACT_VAR_SAMP, false, FLOAT8);
RESULT(stddev_pop, DP_EXACT_STDDEV_POP, false, FLOAT8);
RESULT(stddev_samp, DP_EXACT_STDDEV_SAMP, false, FLOAT8);
