/*-------------------------------------------------------------------------
 *
 * grid.c
 *	  Grids: from bounds to a grid, and from steps back to SQL values.
 *
 * Invariants: a grid's lower and upper are integers with |.| <= 2^33 and not
 * both 0, and they, not the bounds as written, define the sensitivity.
 * Values and bounds are rounded by the same monotone function, so a value
 * within the bounds is never moved by clamping.  scale is 2^-exponent
 * exactly, a normal double, and so is its inverse.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "agg/exact/grid.h"
#include "base/errors.h"

/* about how many bits the larger bound has in steps */
#define DP_GRID_BITS 32

/*
 * Returns x / 2^exponent for integers, half to even.  With exponent >= 64 every
 * int64 is at most half a step, which rounds to 0.
 */
dp_i128
dp_steps_shifted_int(int64 x, int exponent)
{
	if (exponent <= 0)
	{
		if (x == 0)
			return 0;
		if (exponent < -94)
			return x > 0 ? DP_ROW_LIMIT : -DP_ROW_LIMIT;
		if (x >= DP_ROW_LIMIT >> -exponent)
			return DP_ROW_LIMIT;
		if (x <= -(DP_ROW_LIMIT >> -exponent))
			return -DP_ROW_LIMIT;
		return (dp_i128) x * ((dp_i128) 1 << -exponent);
	}
	else if (exponent >= 64)
		return 0;
	else
	{
		dp_i128		down = (dp_i128) x >> exponent; /* towards minus infinity */
		dp_i128		rest = (dp_i128) x - down * ((dp_i128) 1 << exponent);
		dp_i128		half = (dp_i128) 1 << (exponent - 1);

		if (rest > half || (rest == half && (down & 1) != 0))
			down++;
		return down;
	}
}

/* Converts a scaled double of DP_ROUND_LIMIT or more, or NaN, for which it returns false. */
bool
dp_steps_large_float8(double scaled, dp_i128 *n)
{
	if (isnan(scaled))
		return false;
	if (scaled >= 0x1p94)
		*n = DP_ROW_LIMIT;
	else if (scaled <= -0x1p94)
		*n = -DP_ROW_LIMIT;
	else
		*n = (dp_i128) rint(scaled);	/* half to even */
	return true;
}

static bool
is_integer_type(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/* Returns bound / 2^exponent, half to even; the caller knows that it is within +-2^33. */
static int64
bound_steps(Numeric bound, int exponent)
{
	dp_i128		n;

	if (!dp_steps_numeric(NumericGetDatum(bound), exponent, &n))
		elog(ERROR, "bound is not a number");
	return (int64) n;
}

/* Returns bound / 2^exponent, half to even, limited: a row's bounds may be wider than its unit's. */
static int64
row_steps(Numeric bound, int exponent)
{
	dp_i128		n;

	if (!dp_steps_numeric(NumericGetDatum(bound), exponent, &n))
		elog(ERROR, "bound is not a number");
	return dp_limited_steps(n);
}

/* Moves bounds of integers inwards to whole numbers. */
static void
whole_numbers(Numeric *lower, Numeric *upper)
{
	*lower = DatumGetNumeric(DirectFunctionCall1(numeric_ceil, NumericGetDatum(*lower)));
	*upper = DatumGetNumeric(DirectFunctionCall1(numeric_floor, NumericGetDatum(*upper)));
	if (DatumGetBool(DirectFunctionCall2(numeric_gt, NumericGetDatum(*lower),
										 NumericGetDatum(*upper))))
		dp_raise(BAD_PARAMETER,
				 errmsg("no whole number lies between the bounds: widen them or cast the column to numeric"));
}

static double
bound_magnitude(Numeric bound)
{
	/* infinite where numeric exceeds double */
	return fabs(DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
												   NumericGetDatum(bound))));
}

/*
 * Makes the grid for values of input_type (int2, int4, int8, float4, float8 or
 * numeric, or a domain over one) with bounds lower < upper.
 *
 * Integers keep a step of 1 while the larger bound is at most 2^32; bounds
 * that are not whole numbers then move inwards, since no value lies between.
 * Otherwise the larger bound lies between 2^31 and 2^32 steps; only for bounds
 * below 2^-990 it is less, because 2^exponent must be a normal double.
 *
 * ZC004 for NaN, infinity, lower >= upper, and bounds that leave nothing but
 * 0, or whose larger one exceeds double precision.
 */
void
dp_grid_from_numeric(Numeric lower, Numeric upper, Oid input_type, DpGrid *grid)
{
	double		magnitude;
	int			bits;

	input_type = getBaseType(input_type);
	if (!is_integer_type(input_type) && input_type != FLOAT4OID &&
		input_type != FLOAT8OID && input_type != NUMERICOID)
		dp_raise(NOT_RELEASABLE,
				 errmsg("cannot bound values of type %s: cast them to an integer type, double precision or numeric",
						format_type_be(input_type)));

	if (numeric_is_nan(lower) || numeric_is_nan(upper) ||
		numeric_is_inf(lower) || numeric_is_inf(upper))
		dp_raise(BAD_PARAMETER, errmsg("bounds must be finite numbers"));
	if (!DatumGetBool(DirectFunctionCall2(numeric_lt, NumericGetDatum(lower),
										  NumericGetDatum(upper))))
		dp_raise(BAD_PARAMETER, errmsg("the lower bound must be less than the upper bound"));

	magnitude = Max(bound_magnitude(lower), bound_magnitude(upper));
	if (isinf(magnitude))
		dp_raise(BAD_PARAMETER, errmsg("bounds must be within the range of double precision"));

	memset(grid, 0, sizeof(DpGrid));
	(void) frexp(magnitude, &bits); /* magnitude < 2^bits */
	grid->exponent = Max(bits - DP_GRID_BITS, DP_MIN_EXPONENT);

	if (is_integer_type(input_type) && magnitude <= 0x1p32)
	{
		grid->exponent = 0;
		whole_numbers(&lower, &upper);
	}

	grid->scale = ldexp(1.0, -grid->exponent);
	grid->lower = bound_steps(lower, grid->exponent);
	grid->upper = bound_steps(upper, grid->exponent);

	if (grid->lower == 0 && grid->upper == 0)
		dp_raise(BAD_PARAMETER, errmsg("the bounds leave no value but 0: widen them"));
}

void
dp_grid_row_limits(Numeric lower, Numeric upper, Oid input_type, const DpGrid *grid, DpRowLimits *limits)
{
	if (is_integer_type(getBaseType(input_type)) && grid->exponent == 0)
		whole_numbers(&lower, &upper);
	limits->lower = row_steps(lower, grid->exponent);
	limits->upper = row_steps(upper, grid->exponent);
	if (limits->lower == 0 && limits->upper == 0)
		dp_raise(BAD_PARAMETER,
				 errmsg("the bounds of a row leave only 0 beside those of a unit's total: widen them, narrow the total, or lower dp_cdp.max_rows"));
}

/* Makes the grid of a count that one unit may contribute up to "most" to; most >= 1. */
void
dp_grid_for_count(int64 most, DpGrid *grid)
{
	memset(grid, 0, sizeof(DpGrid));
	grid->upper = most;
	grid->scale = 1.0;
}

/* Makes the grid for the sum of most >= 1 centered values, whose bounds are in steps of 1 / DP_CENTERED_ONE. */
void
dp_grid_for_scaled(int64 most, DpGrid *grid)
{
	memset(grid, 0, sizeof(DpGrid));
	grid->lower = -most * DP_CENTERED_ONE;
	grid->upper = most * DP_CENTERED_ONE;
	grid->scale = 1.0;
}

double
dp_grid_step(const DpGrid *grid)
{
	return ldexp(1.0, grid->exponent);
}

static Numeric
multiply(Numeric a, Numeric b)
{
	return DatumGetNumeric(DirectFunctionCall2(numeric_mul, NumericGetDatum(a),
											   NumericGetDatum(b)));
}

static Numeric
numeric_from_i128(dp_i128 n)
{
	char		buf[48];
	char	   *p = buf + sizeof(buf) - 1;
	dp_u128		rest = n < 0 ? -(dp_u128) n : (dp_u128) n;

	*p = '\0';
	do
	{
		*--p = '0' + (int) (rest % 10);
		rest /= 10;
	} while (rest != 0);
	if (n < 0)
		*--p = '-';

	return DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(p),
											   ObjectIdGetDatum(InvalidOid),
											   Int32GetDatum(-1)));
}

/* Returns 2^exponent as a numeric, exactly: numeric multiplication keeps every digit. */
static Numeric
numeric_power_of_two(int exponent)
{
	Numeric		square;
	Numeric		result = int64_to_numeric(1);
	unsigned int rest = abs(exponent);

	square = exponent >= 0 ? int64_to_numeric(2) :
		DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum("0.5"),
											ObjectIdGetDatum(InvalidOid),
											Int32GetDatum(-1)));
	for (;;)
	{
		if (rest & 1)
			result = multiply(result, square);
		rest >>= 1;
		if (rest == 0)
			return result;
		square = multiply(square, square);
	}
}

static Numeric
steps_to_numeric(dp_i128 n, int exponent)
{
	Numeric		result = numeric_from_i128(n);

	if (exponent == 0)
		return result;
	result = multiply(result, numeric_power_of_two(exponent));

	/* so many decimals that 10^-d is at most one step */
	if (exponent < 0)
		result = DatumGetNumeric(DirectFunctionCall2(numeric_round, NumericGetDatum(result),
													 Int32GetDatum((int) ceil(-exponent * 0.30103))));
	return result;
}

static int64
steps_to_int64(dp_i128 n, int exponent)
{
	if (exponent >= 0)
	{
		int			shift = Min(exponent, 126);

		if (n > (dp_i128) PG_INT64_MAX >> shift)
			return PG_INT64_MAX;
		if (n < -((dp_i128) PG_INT64_MAX >> shift))
			return PG_INT64_MIN;
		return (int64) (n * ((dp_i128) 1 << shift));
	}
	else
	{
		int			shift = -exponent;
		dp_i128		down;
		dp_i128		rest;
		dp_i128		half;

		if (shift > 126)
			return 0;			/* |n| < 2^127 */
		down = n >> shift;
		rest = n - down * ((dp_i128) 1 << shift);
		half = (dp_i128) 1 << (shift - 1);
		if (rest > half || (rest == half && (down & 1) != 0))
			down++;
		return down > PG_INT64_MAX ? PG_INT64_MAX :
			down < PG_INT64_MIN ? PG_INT64_MIN : (int64) down;
	}
}

/*
 * Returns n steps as a value of result_type.  int8: rounded half to even,
 * saturating.  float8: the nearest double, the largest finite one instead of
 * infinity; float4 likewise.  numeric: exact, rounded to the decimals of one
 * step.
 */
Datum
dp_grid_value(dp_i128 n, const DpGrid *grid, Oid result_type)
{
	switch (result_type)
	{
		case INT8OID:
			return Int64GetDatum(steps_to_int64(n, grid->exponent));
		case FLOAT4OID:
			{
				float		x = (float) ldexp((double) n, grid->exponent);

				return Float4GetDatum(x > FLT_MAX ? FLT_MAX : x < -FLT_MAX ? -FLT_MAX : x);
			}
		case FLOAT8OID:
			{
				/*
				 * correctly rounded; ldexp is then exact, as exponent >=
				 * -1022
				 */
				double		x = ldexp((double) n, grid->exponent);

				return Float8GetDatum(x > DBL_MAX ? DBL_MAX : x < -DBL_MAX ? -DBL_MAX : x);
			}
		case NUMERICOID:
			return NumericGetDatum(steps_to_numeric(n, grid->exponent));
		default:
			elog(ERROR, "no grid value of type %u", result_type);
	}
	return (Datum) 0;			/* keep compilers quiet */
}

Datum
dp_grid_datum(const DpGrid *grid)
{
	DpGrid	   *copy = palloc(sizeof(DpGrid));

	*copy = *grid;
	return PointerGetDatum(copy);
}

dp_i128
dp_sum_of_numeric(Datum sum)
{
	dp_i128		n;

	if (!dp_steps_numeric(sum, 0, &n))
		elog(ERROR, "a sum is not a number");
	return n;
}
