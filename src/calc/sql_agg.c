/*-------------------------------------------------------------------------
 *
 * sql_agg.c
 *	  Composition of the mechanisms in a table: compose_zcdp_agg and so on.
 *
 * Invariants:
 *	- a state is a float8[]: empty before the first row, then the running
 *	  totals of calc/compose.h, whose error is a few units in the last place
 *	  of the result for every order and number of rows and every division
 *	  among parallel workers.
 *	- arguments are checked as those of the calculators; rows with NULL do
 *	  not get here, because the transition functions are strict.
 *	- an array is changed in place only when an aggregate owns it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

#include "calc/compose.h"
#include "calc/sql.h"

/* the meaning of the elements of a state */
typedef struct ZcdpState
{
	DpSum		rho;
	DpSum		xi;
} ZcdpState;

typedef struct McdpState
{
	DpSum		mu;
	DpNorm		tau;
} McdpState;

#define ELEMENTS(size)	((int) ((size) / sizeof(float8)))

/* Returns argument argno as a state of that size; NULL if it is empty. */
static void *
state_argument(FunctionCallInfo fcinfo, int argno, size_t size)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(argno);

	if (ARR_NDIM(array) == 0)
		return NULL;
	if (ARR_NDIM(array) != 1 || ARR_DIMS(array)[0] != ELEMENTS(size) ||
		ARR_HASNULL(array) || ARR_ELEMTYPE(array) != FLOAT8OID)
		elog(ERROR, "dp_cdp: not a state of this aggregate");
	return ARR_DATA_PTR(array);
}

/*
 * Sets the state of argument 0, to be changed in place; *result is what the
 * transition function returns.  Zeros are a state without mechanisms.
 */
static void *
state_to_change(FunctionCallInfo fcinfo, size_t size, Datum *result)
{
	MemoryContext context;
	void	   *state = state_argument(fcinfo, 0, size);
	ArrayType  *array;
	Size		length = ARR_OVERHEAD_NONULLS(1) + size;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "dp_cdp: called outside of an aggregate");
	if (state != NULL)
	{
		*result = PointerGetDatum(PG_GETARG_ARRAYTYPE_P(0));
		return state;
	}
	array = MemoryContextAllocZero(context, length);
	SET_VARSIZE(array, length);
	array->ndim = 1;
	array->elemtype = FLOAT8OID;
	ARR_DIMS(array)[0] = ELEMENTS(size);
	ARR_LBOUND(array)[0] = 1;
	*result = PointerGetDatum(array);
	return ARR_DATA_PTR(array);
}

/* ------------------------------------------------------------------------
 * zCDP
 * ------------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(dp_calc_compose_zcdp_add);
PG_FUNCTION_INFO_V1(dp_calc_compose_zcdp_combine);
PG_FUNCTION_INFO_V1(dp_calc_compose_zcdp_final);

/* The transition of compose_zcdp_agg: (state, rho) or (state, rho, xi). */
Datum
dp_calc_compose_zcdp_add(PG_FUNCTION_ARGS)
{
	double		rho = dp_calc_number(fcinfo, 1, DP_RANGE_NONNEGATIVE, "rho");
	double		xi = PG_NARGS() < 3 ? 0 : dp_calc_number(fcinfo, 2, DP_RANGE_NONNEGATIVE, "xi");
	Datum		result;
	ZcdpState  *state = state_to_change(fcinfo, sizeof(ZcdpState), &result);

	dp_sum_add(&state->rho, rho);
	dp_sum_add(&state->xi, xi);
	PG_RETURN_DATUM(result);
}

Datum
dp_calc_compose_zcdp_combine(PG_FUNCTION_ARGS)
{
	Datum		result;
	ZcdpState  *state = state_to_change(fcinfo, sizeof(ZcdpState), &result);
	ZcdpState  *other = state_argument(fcinfo, 1, sizeof(ZcdpState));

	if (other == NULL)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	dp_sum_merge(&state->rho, &other->rho);
	dp_sum_merge(&state->xi, &other->xi);
	PG_RETURN_DATUM(result);
}

Datum
dp_calc_compose_zcdp_final(PG_FUNCTION_ARGS)
{
	ZcdpState  *state = state_argument(fcinfo, 0, sizeof(ZcdpState));

	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(dp_calc_pair(fcinfo, dp_sum_total(&state->rho), dp_sum_total(&state->xi)));
}

/* ------------------------------------------------------------------------
 * Mean-concentrated DP
 * ------------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(dp_calc_compose_mcdp_add);
PG_FUNCTION_INFO_V1(dp_calc_compose_mcdp_combine);
PG_FUNCTION_INFO_V1(dp_calc_compose_mcdp_final);

Datum
dp_calc_compose_mcdp_add(PG_FUNCTION_ARGS)
{
	double		mu = dp_calc_number(fcinfo, 1, DP_RANGE_NONNEGATIVE, "mu");
	double		tau = dp_calc_number(fcinfo, 2, DP_RANGE_NONNEGATIVE, "tau");
	Datum		result;
	McdpState  *state = state_to_change(fcinfo, sizeof(McdpState), &result);

	dp_sum_add(&state->mu, mu);
	dp_norm_add(&state->tau, tau);
	PG_RETURN_DATUM(result);
}

Datum
dp_calc_compose_mcdp_combine(PG_FUNCTION_ARGS)
{
	Datum		result;
	McdpState  *state = state_to_change(fcinfo, sizeof(McdpState), &result);
	McdpState  *other = state_argument(fcinfo, 1, sizeof(McdpState));

	if (other == NULL)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	dp_sum_merge(&state->mu, &other->mu);
	dp_norm_merge(&state->tau, &other->tau);
	PG_RETURN_DATUM(result);
}

Datum
dp_calc_compose_mcdp_final(PG_FUNCTION_ARGS)
{
	McdpState  *state = state_argument(fcinfo, 0, sizeof(McdpState));

	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(dp_calc_pair(fcinfo, dp_sum_total(&state->mu), dp_norm_total(&state->tau)));
}

/* ------------------------------------------------------------------------
 * Gaussian DP
 * ------------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(dp_calc_compose_gdp_add);
PG_FUNCTION_INFO_V1(dp_calc_compose_gdp_combine);
PG_FUNCTION_INFO_V1(dp_calc_compose_gdp_final);

Datum
dp_calc_compose_gdp_add(PG_FUNCTION_ARGS)
{
	double		mu = dp_calc_number(fcinfo, 1, DP_RANGE_NONNEGATIVE, "mu");
	Datum		result;
	DpNorm	   *state = state_to_change(fcinfo, sizeof(DpNorm), &result);

	dp_norm_add(state, mu);
	PG_RETURN_DATUM(result);
}

Datum
dp_calc_compose_gdp_combine(PG_FUNCTION_ARGS)
{
	Datum		result;
	DpNorm	   *state = state_to_change(fcinfo, sizeof(DpNorm), &result);
	DpNorm	   *other = state_argument(fcinfo, 1, sizeof(DpNorm));

	if (other == NULL)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	dp_norm_merge(state, other);
	PG_RETURN_DATUM(result);
}

Datum
dp_calc_compose_gdp_final(PG_FUNCTION_ARGS)
{
	DpNorm	   *state = state_argument(fcinfo, 0, sizeof(DpNorm));

	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(dp_calc_result(dp_norm_total(state)));
}

/* ------------------------------------------------------------------------
 * delta of approximate zCDP
 * ------------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(dp_calc_compose_delta_add);
PG_FUNCTION_INFO_V1(dp_calc_compose_delta_combine);
PG_FUNCTION_INFO_V1(dp_calc_compose_delta_final);

Datum
dp_calc_compose_delta_add(PG_FUNCTION_ARGS)
{
	double		delta = dp_calc_number(fcinfo, 1, DP_RANGE_PROBABILITY, "delta");
	Datum		result;
	DpSum	   *state = state_to_change(fcinfo, sizeof(DpSum), &result);

	dp_sum_add(state, dp_delta_log(delta));
	PG_RETURN_DATUM(result);
}

Datum
dp_calc_compose_delta_combine(PG_FUNCTION_ARGS)
{
	Datum		result;
	DpSum	   *state = state_to_change(fcinfo, sizeof(DpSum), &result);
	DpSum	   *other = state_argument(fcinfo, 1, sizeof(DpSum));

	if (other == NULL)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	dp_sum_merge(state, other);
	PG_RETURN_DATUM(result);
}

Datum
dp_calc_compose_delta_final(PG_FUNCTION_ARGS)
{
	DpSum	   *state = state_argument(fcinfo, 0, sizeof(DpSum));

	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(dp_calc_result(dp_delta_total(state)));
}
