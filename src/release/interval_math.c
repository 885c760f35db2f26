/*-------------------------------------------------------------------------
 *
 * interval_math.c
 *	  Arithmetic and functions of intervals.
 *
 * A value is computed on rows by functions that yield NULL where PostgreSQL's
 * would raise an error (guard/vet/list.c), so that here, too, nobody divides by
 * 0, and roots of negative numbers are none.
 *
 * A grain is a number of which all values are multiples: 1 of integers, 0.01 of
 * numeric(10,2).  It says how near to 0 a denominator comes.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "release/interval_int.h"

/* ------------------------------------------------------------------------
 * Arithmetic
 * ------------------------------------------------------------------------
 */

static DpInterval
negate(const DpInterval *a)
{
	DpInterval	result = interval_between(num_call(numeric_uminus, a->upper), num_call(numeric_uminus, a->lower));

	result.grain = a->grain;
	if (a->has_totals)
		dp_interval_set_totals(&result, num_call(numeric_uminus, a->total_upper), num_call(numeric_uminus, a->total_lower));
	return result;
}

static DpInterval
add(const DpInterval *a, const DpInterval *b, const DpIntervalInputs *inputs)
{
	DpInterval	result = interval_between(num_call2(numeric_add, a->lower, b->lower), num_call2(numeric_add, a->upper, b->upper));

	result.grain = dp_interval_common_grain(a, b);
	if (inputs != NULL && (a->has_totals || b->has_totals))
	{
		DpInterval	x = dp_interval_totals_of(a, inputs);
		DpInterval	y = dp_interval_totals_of(b, inputs);

		dp_interval_set_totals(&result, num_call2(numeric_add, x.lower, y.lower), num_call2(numeric_add, x.upper, y.upper));
	}
	return result;
}

static DpInterval
multiply(const DpInterval *a, const DpInterval *b, const DpIntervalInputs *inputs)
{
	DpInterval	result = interval_of_state(DP_INTERVAL_EMPTY);

	dp_interval_include(&result, num_times(a->lower, b->lower));
	dp_interval_include(&result, num_times(a->lower, b->upper));
	dp_interval_include(&result, num_times(a->upper, b->lower));
	dp_interval_include(&result, num_times(a->upper, b->upper));
	result.grain = a->grain && b->grain ? num_times(a->grain, b->grain) : NULL;
	dp_interval_scale_totals(&result, a, b, inputs);
	dp_interval_scale_totals(&result, b, a, inputs);
	return result;
}

/* Includes the quotients of a and what is between lower and upper, of one sign. */
static void
include_quotients(DpInterval *result, const DpInterval *a, Numeric lower, Numeric upper, PGFunction divide)
{
	dp_interval_include(result, num_call2(divide, a->lower, lower));
	dp_interval_include(result, num_call2(divide, a->lower, upper));
	dp_interval_include(result, num_call2(divide, a->upper, lower));
	dp_interval_include(result, num_call2(divide, a->upper, upper));
}

/* Divides; of a denominator that is 0 the quotient is NULL. */
static DpInterval
quotient(const DpBound *bound, const DpInterval *a, const DpInterval *b, PGFunction divide)
{
	DpInterval	result = interval_of_state(DP_INTERVAL_EMPTY);

	if (num_sign(b->upper) > 0)
	{
		if (num_sign(b->lower) <= 0 && b->grain == NULL)
			return interval_none(bound);
		include_quotients(&result, a, num_sign(b->lower) > 0 ? b->lower : num_least(b->grain, b->upper), b->upper, divide);
	}
	if (num_sign(b->lower) < 0)
	{
		if (num_sign(b->upper) >= 0 && b->grain == NULL)
			return interval_none(bound);
		include_quotients(&result, a, b->lower,
						  num_sign(b->upper) < 0 ? b->upper : num_greatest(num_call(numeric_uminus, b->grain), b->lower), divide);
	}
	return result;
}

static DpInterval
divide_intervals(const DpBound *bound, const DpInterval *a, const DpInterval *b, const DpIntervalInputs *inputs)
{
	bool		whole = type_is_integer(bound->type);
	DpInterval	result = quotient(bound, a, b, whole ? numeric_div_trunc : numeric_div);

	if (result.state != DP_INTERVAL_KNOWN)
		return result;
	if (!whole)
		dp_interval_widen(&result, DP_ROUNDING);
	else
		result.grain = num_of_int(1);
	if (a->has_totals)
	{
		DpInterval	one = interval_between(num_of_int(1), num_of_int(1));
		DpInterval	factor = quotient(bound, &one, b, numeric_div);

		dp_interval_widen(&factor, DP_ROUNDING);
		dp_interval_scale_totals(&result, a, &factor, inputs);
	}
	return result;
}

/* The remainder has the sign of a, and is nearer to 0 than a is, and than b is. */
static DpInterval
remainder_of(const DpInterval *a, const DpInterval *b)
{
	Numeric		most = num_greatest(num_call(numeric_abs, b->lower), num_call(numeric_abs, b->upper));
	DpInterval	result;

	if (num_sign(most) == 0)
		return interval_of_state(DP_INTERVAL_EMPTY);
	if (a->grain != NULL && b->grain != NULL)
		most = num_greatest(num_call2(numeric_sub, most, dp_interval_common_grain(a, b)), num_of_int(0));
	result = interval_between(num_least(a->lower, num_of_int(0)), num_greatest(a->upper, num_of_int(0)));
	dp_interval_intersect(&result, num_call(numeric_uminus, most), most);
	result.grain = dp_interval_common_grain(a, b);
	return result;
}

static DpInterval
absolute(const DpInterval *a)
{
	DpInterval	result = *a;

	if (num_sign(a->lower) >= 0)
		return result;
	result = negate(a);
	if (num_sign(a->upper) > 0)
	{
		result = interval_between(num_of_int(0), num_greatest(result.upper, a->upper));
		result.grain = a->grain;
	}
	return result;
}

/* Takes 0 out, where that is the value that becomes NULL. */
static DpInterval
null_if(const DpInterval *a, const DpInterval *value)
{
	DpInterval	result = *a;

	result.never_null = false;
	if (value->state != DP_INTERVAL_KNOWN || num_sign(value->lower) != 0 || num_sign(value->upper) != 0 || a->grain == NULL)
		return result;
	if (num_sign(a->lower) == 0)
		dp_interval_intersect(&result, a->grain, NULL);
	if (num_sign(a->upper) == 0)
		dp_interval_intersect(&result, NULL, num_call(numeric_uminus, a->grain));
	return result;
}

/* ------------------------------------------------------------------------
 * Functions that never fall
 * ------------------------------------------------------------------------
 */

/* Rounds to whole numbers, halves to either side. */
DpInterval
dp_interval_rounded(const DpInterval *a)
{
	Numeric		half = num_of_text("0.5");
	DpInterval	result = interval_between(num_call(numeric_ceil, num_call2(numeric_sub, a->lower, half)),
										  num_call(numeric_floor, num_call2(numeric_add, a->upper, half)));

	result.grain = num_of_int(1);
	return result;
}

static DpInterval
by_places(const DpBound *bound, const DpInterval *args, int n)
{
	PGFunction	function = bound->op == DP_BOUND_ROUND ? numeric_round : numeric_trunc;
	int			places = 0;
	DpInterval	result;

	if (n == 2)
	{
		double		digits = num_to_double(args[1].lower);

		if (num_less(args[1].lower, args[1].upper) || fabs(digits) > 1000)
			return interval_none(bound);
		places = (int) digits;
	}
	else if (bound->op == DP_BOUND_ROUND)
		return dp_interval_rounded(&args[0]);
	result = interval_between(num_to_places(function, args[0].lower, places), num_to_places(function, args[0].upper, places));
	result.grain = num_grain(places);
	return result;
}

/* Applies a function of doubles that never falls; lowest: what it is where it would not be finite. */
static DpInterval
monotonous(const DpBound *bound, const DpInterval *a, double (*function) (double), double lowest)
{
	double		lower = function(num_to_double(a->lower));
	double		upper = function(num_to_double(a->upper));
	DpInterval	result;

	if (!isfinite(lower))
		lower = lowest;
	if (!isfinite(upper))
		return interval_none(bound);
	result = interval_between(num_of_double(lower), num_of_double(upper));
	dp_interval_widen(&result, DP_ROUNDING);
	return result;
}

/* ln and log10 of the least number above 0 */
#define LOWEST_LN -746
#define LOWEST_LOG -324

static DpInterval
logarithm(const DpBound *bound, const DpInterval *a)
{
	bool		natural = bound->op == DP_BOUND_LN;

	/* of others it is NULL */
	if (num_sign(a->upper) <= 0)
		return interval_of_state(DP_INTERVAL_EMPTY);
	if (num_sign(a->lower) > 0)
		return monotonous(bound, a, natural ? log : log10, natural ? LOWEST_LN : LOWEST_LOG);
	else
	{
		DpInterval	above = interval_between(num_of_int(0), a->upper);

		return monotonous(bound, &above, natural ? log : log10, natural ? LOWEST_LN : LOWEST_LOG);
	}
}

static DpInterval
root(const DpInterval *a)
{
	DpInterval	result = *a;

	dp_interval_intersect(&result, num_of_int(0), NULL);
	if (result.state != DP_INTERVAL_KNOWN)
		return result;
	result = interval_between(num_call(numeric_sqrt, result.lower), num_call(numeric_sqrt, result.upper));
	dp_interval_widen(&result, DP_ROUNDING);
	return result;
}

/* Powers by one exponent, of what is not negative, or by an even or odd number. */
static DpInterval
power(const DpBound *bound, const DpInterval *a, const DpInterval *b)
{
	double		exponent = round(num_to_double(b->lower) * 1e9) / 1e9;
	double		low = num_to_double(a->lower);
	double		high = num_to_double(a->upper);
	bool		whole = exponent == rint(exponent);
	DpInterval	result;

	if (num_to_double(b->upper) - num_to_double(b->lower) > 1e-9 || exponent < 0)
		return interval_none(bound);
	/* of others it is NULL */
	if (!whole)
		low = Max(low, 0);
	if (high < low)
		return interval_of_state(DP_INTERVAL_EMPTY);
	low = pow(low, exponent);
	high = pow(high, exponent);
	if (!isfinite(low) || !isfinite(high))
		return interval_none(bound);
	result = interval_of_state(DP_INTERVAL_EMPTY);
	dp_interval_include(&result, num_of_double(low));
	dp_interval_include(&result, num_of_double(high));
	if (num_sign(a->lower) < 0 && num_sign(a->upper) > 0)
		dp_interval_include(&result, num_of_int(0));
	dp_interval_widen(&result, "1e-9");
	return result;
}

/* ------------------------------------------------------------------------
 * Entry point
 * ------------------------------------------------------------------------
 */

DpInterval
dp_interval_compute(const DpBound *bound, const DpInterval *args, int n, const DpIntervalInputs *inputs)
{
	DpInterval	other;

	switch (bound->op)
	{
		case DP_BOUND_NULLIF:
			return null_if(&args[0], &args[1]);
		case DP_BOUND_ADD:
			return add(&args[0], &args[1], inputs);
		case DP_BOUND_SUBTRACT:
			other = negate(&args[1]);
			return add(&args[0], &other, inputs);
		case DP_BOUND_MULTIPLY:
			return multiply(&args[0], &args[1], inputs);
		case DP_BOUND_DIVIDE:
			return divide_intervals(bound, &args[0], &args[1], inputs);
		case DP_BOUND_MOD:
			return remainder_of(&args[0], &args[1]);
		case DP_BOUND_NEGATE:
			return negate(&args[0]);
		case DP_BOUND_ABS:
			return absolute(&args[0]);
		case DP_BOUND_SIGN:
			other = interval_between(num_of_int(num_sign(args[0].lower)), num_of_int(num_sign(args[0].upper)));
			other.grain = num_of_int(1);
			return other;
		case DP_BOUND_ROUND:
		case DP_BOUND_TRUNC:
			return by_places(bound, args, n);
		case DP_BOUND_FLOOR:
		case DP_BOUND_CEIL:
			other = interval_between(num_call(bound->op == DP_BOUND_FLOOR ? numeric_floor : numeric_ceil, args[0].lower),
									 num_call(bound->op == DP_BOUND_FLOOR ? numeric_floor : numeric_ceil, args[0].upper));
			other.grain = num_of_int(1);
			return other;
		case DP_BOUND_SQRT:
			return root(&args[0]);
		case DP_BOUND_CBRT:
			return monotonous(bound, &args[0], cbrt, 0);
		case DP_BOUND_EXP:
			return monotonous(bound, &args[0], exp, 0);
		case DP_BOUND_LN:
		case DP_BOUND_LOG:
			return logarithm(bound, &args[0]);
		case DP_BOUND_POWER:
			return power(bound, &args[0], &args[1]);
		case DP_BOUND_MEAN:
			return interval_between(args[0].lower, args[0].upper);
		case DP_BOUND_SPREAD:
			return interval_between(num_of_int(0), num_call2(numeric_sub, args[0].upper, args[0].lower));
		default:
			return interval_none(bound);
	}
}
