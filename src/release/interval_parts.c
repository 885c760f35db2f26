/*-------------------------------------------------------------------------
 *
 * interval_parts.c
 *	  What is done with intervals, whatever computes them.
 *
 * A unit's total.  Limits that are declared for a column x go through sums, and
 * through a factor f in [l, u]: where x >= 0, and adds up to at most T, f x adds
 * up to something between min(l, 0) T and max(u, 0) T.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "release/interval_int.h"

#define ROUNDING_FLOAT4 "1e-6"

void
dp_interval_include(DpInterval *interval, Numeric value)
{
	if (interval->state != DP_INTERVAL_KNOWN)
	{
		interval->state = DP_INTERVAL_KNOWN;
		interval->lower = interval->upper = value;
		return;
	}
	interval->lower = num_least(interval->lower, value);
	interval->upper = num_greatest(interval->upper, value);
}

/* Leaves what is within limits; NULL: no limit. */
void
dp_interval_intersect(DpInterval *interval, Numeric lower, Numeric upper)
{
	if (interval->state != DP_INTERVAL_KNOWN)
		return;
	if (lower != NULL)
		interval->lower = num_greatest(interval->lower, lower);
	if (upper != NULL)
		interval->upper = num_least(interval->upper, upper);
	if (num_less(interval->upper, interval->lower))
		interval->state = DP_INTERVAL_EMPTY;
}

static void
widen(Numeric *lower, Numeric *upper, const char *rounding)
{
	Numeric		share = num_of_text(rounding);

	*lower = num_call2(numeric_sub, *lower, num_times(num_call(numeric_abs, *lower), share));
	*upper = num_call2(numeric_add, *upper, num_times(num_call(numeric_abs, *upper), share));
}

void
dp_interval_widen(DpInterval *interval, const char *rounding)
{
	widen(&interval->lower, &interval->upper, rounding);
	if (interval->has_totals)
		widen(&interval->total_lower, &interval->total_upper, rounding);
}

/* Tells whether a type of floating point has the number as it is: a whole one, within its digits. */
static bool
is_exact(Numeric number, Oid type)
{
	Numeric		most = num_of_text(type == FLOAT4OID ? "16777216" : "9007199254740992");

	return !num_less(most, num_call(numeric_abs, number)) && !num_less(num_call(numeric_floor, number), number);
}

void
dp_interval_widen_for(DpInterval *interval, Oid type, bool is_cast)
{
	const char *rounding = type == FLOAT4OID ? ROUNDING_FLOAT4 : DP_ROUNDING;
	Numeric		lower = interval->lower;
	Numeric		upper = interval->upper;

	if (interval->state != DP_INTERVAL_KNOWN || !type_is_float(type))
		return;
	dp_interval_widen(interval, rounding);

	/*
	 * rounding to the nearest keeps order: no value between two that are
	 * exact is rounded beyond them
	 */
	if (is_cast && is_exact(lower, type))
		interval->lower = lower;
	if (is_cast && is_exact(upper, type))
		interval->upper = upper;
}

/* Returns limits of what a unit adds up to; without any that are declared, max_rows times the bounds. */
DpInterval
dp_interval_totals_of(const DpInterval *a, const DpIntervalInputs *inputs)
{
	Numeric		rows = num_of_int(inputs->max_rows);
	DpInterval	result = interval_between(num_times(rows, num_least(a->lower, num_of_int(0))), num_times(rows, num_greatest(a->upper, num_of_int(0))));

	if (a->has_totals)
	{
		result.lower = num_greatest(result.lower, a->total_lower);
		result.upper = num_least(result.upper, a->total_upper);
	}
	return result;
}

void
dp_interval_set_totals(DpInterval *result, Numeric lower, Numeric upper)
{
	if (result->has_totals)
	{
		lower = num_greatest(lower, result->total_lower);
		upper = num_least(upper, result->total_upper);
	}
	result->has_totals = true;
	result->total_lower = lower;
	result->total_upper = upper;
}

/* Sets totals of a product, one factor of which is x. */
void
dp_interval_scale_totals(DpInterval *result, const DpInterval *x, const DpInterval *factor, const DpIntervalInputs *inputs)
{
	DpInterval	total;

	if (inputs == NULL || !x->has_totals || result->state != DP_INTERVAL_KNOWN)
		return;
	total = dp_interval_totals_of(x, inputs);
	if (num_sign(x->lower) >= 0)
		dp_interval_set_totals(result, num_times(num_least(factor->lower, num_of_int(0)), total.upper),
							   num_times(num_greatest(factor->upper, num_of_int(0)), total.upper));
	else if (!num_less(factor->lower, factor->upper))
	{
		Numeric		a = num_times(factor->lower, total.lower);
		Numeric		b = num_times(factor->lower, total.upper);

		dp_interval_set_totals(result, num_least(a, b), num_greatest(a, b));
	}
}

Numeric
dp_interval_common_grain(const DpInterval *a, const DpInterval *b)
{
	return a->grain && b->grain ? num_least(a->grain, b->grain) : NULL;
}
