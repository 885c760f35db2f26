/*-------------------------------------------------------------------------
 *
 * exact_sum.c
 *	  Type exact_sum and its aggregate; the text forms that no state has.
 *
 * Invariants:
 *	- a state is the sum of the rows' grid units, an integer; each row adds
 *	  at most 2^62 in magnitude, so 2^64 rows do not overflow 128 bits, and
 *	  the sum does not depend on order, plan or number of workers;
 *	- nothing of a state can be read or written in SQL but through functions
 *	  that nobody has been granted: no text form, no binary form, no cast.
 *
 * Transition functions are strict (NULL contributes nothing and costs no
 * call) and change the state in place, hence the refusal to run outside of
 * an aggregate.  The initial state is the text '0', the only one accepted.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"

#include "agg/grid.h"
#include "agg/state.h"
#include "compat.h"

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

Datum
dp_state_in(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("exact states of dp_cdp have no text form: only queries of the extension itself can make one")));
	PG_RETURN_NULL();
}

/* says nothing, so that no plan, log line or dump shows a state */
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
add_units(DpExactSum *sum, int64 units)
{
	dp_exact_sum_set(sum, dp_exact_sum_get(sum) + units);
}

static inline void
add_int(DpExactSum *sum, int64 x, const DpGrid *grid)
{
	if (likely(grid->exponent == 0))
		add_units(sum, dp_clamp(x, grid));
	else
		add_units(sum, dp_clamp_wide(dp_units_shifted_int(x, grid->exponent), grid));
}

static inline void
add_float(DpExactSum *sum, double x, const DpGrid *grid)
{
	double		y = x * grid->scale;
	dp_i128		n;

	if (likely(y > -0x1p62 && y < 0x1p62))
		add_units(sum, dp_clamp(dp_round_even(y), grid));
	else if (dp_units_large_float8(y, &n))
		add_units(sum, dp_clamp_wide(n, grid));
}

#define DP_ARG_GRID() ((const DpGrid *) PG_GETARG_POINTER(2))

Datum
dp_exact_sum_int2(PG_FUNCTION_ARGS)
{
	DpExactSum *sum = dp_state_in_place(fcinfo);

	add_int(sum, PG_GETARG_INT16(1), DP_ARG_GRID());
	PG_RETURN_POINTER(sum);
}

Datum
dp_exact_sum_int4(PG_FUNCTION_ARGS)
{
	DpExactSum *sum = dp_state_in_place(fcinfo);

	add_int(sum, PG_GETARG_INT32(1), DP_ARG_GRID());
	PG_RETURN_POINTER(sum);
}

Datum
dp_exact_sum_int8(PG_FUNCTION_ARGS)
{
	DpExactSum *sum = dp_state_in_place(fcinfo);

	add_int(sum, PG_GETARG_INT64(1), DP_ARG_GRID());
	PG_RETURN_POINTER(sum);
}

Datum
dp_exact_sum_float4(PG_FUNCTION_ARGS)
{
	DpExactSum *sum = dp_state_in_place(fcinfo);

	add_float(sum, PG_GETARG_FLOAT4(1), DP_ARG_GRID());
	PG_RETURN_POINTER(sum);
}

Datum
dp_exact_sum_float8(PG_FUNCTION_ARGS)
{
	DpExactSum *sum = dp_state_in_place(fcinfo);

	add_float(sum, PG_GETARG_FLOAT8(1), DP_ARG_GRID());
	PG_RETURN_POINTER(sum);
}

Datum
dp_exact_sum_numeric(PG_FUNCTION_ARGS)
{
	DpExactSum *sum = dp_state_in_place(fcinfo);
	const DpGrid *grid = DP_ARG_GRID();
	dp_i128		n;

	if (dp_units_numeric(PG_GETARG_DATUM(1), grid->exponent, &n))
		add_units(sum, dp_clamp_wide(n, grid));
	PG_RETURN_POINTER(sum);
}

Datum
dp_exact_sum_combine(PG_FUNCTION_ARGS)
{
	DpExactSum *sum = dp_state_in_place(fcinfo);
	const DpExactSum *other = (const DpExactSum *) PG_GETARG_POINTER(1);

	dp_exact_sum_set(sum, dp_exact_sum_get(sum) + dp_exact_sum_get(other));
	PG_RETURN_POINTER(sum);
}
