/*-------------------------------------------------------------------------
 *
 * interval_int.h
 *	  What the files of intervals share: numbers, and what is done with them.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_INTERVAL_INT_H
#define DP_INTERVAL_INT_H

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "release/interval.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

/* what floating point, and quotients, are off by at most, relatively */
#define DP_ROUNDING "1e-13"

/* ------------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------------
 */

static inline Numeric
num_of_text(const char *text)
{
	return DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
											   Int32GetDatum(-1)));
}

static inline Numeric
num_of_int(int64 value)
{
	return int64_to_numeric(value);
}

static inline Numeric
num_of_double(double value)
{
	return DatumGetNumeric(DirectFunctionCall1(float8_numeric, Float8GetDatum(value)));
}

static inline double
num_to_double(Numeric value)
{
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(value)));
}

static inline Numeric
num_call(PGFunction function, Numeric a)
{
	return DatumGetNumeric(DirectFunctionCall1(function, NumericGetDatum(a)));
}

static inline Numeric
num_call2(PGFunction function, Numeric a, Numeric b)
{
	return DatumGetNumeric(DirectFunctionCall2(function, NumericGetDatum(a), NumericGetDatum(b)));
}

static inline Numeric
num_to_places(PGFunction function, Numeric a, int places)
{
	return DatumGetNumeric(DirectFunctionCall2(function, NumericGetDatum(a), Int32GetDatum(places)));
}

static inline bool
num_less(Numeric a, Numeric b)
{
	return DatumGetBool(DirectFunctionCall2(numeric_lt, NumericGetDatum(a), NumericGetDatum(b)));
}

static inline int
num_sign(Numeric a)
{
	Numeric		zero = num_of_int(0);

	return num_less(a, zero) ? -1 : num_less(zero, a) ? 1 : 0;
}

static inline Numeric
num_least(Numeric a, Numeric b)
{
	return num_less(b, a) ? b : a;
}

static inline Numeric
num_greatest(Numeric a, Numeric b)
{
	return num_less(a, b) ? b : a;
}

static inline Numeric
num_times(Numeric a, Numeric b)
{
	return num_call2(numeric_mul, a, b);
}

/* Returns 10 to the power of -places. */
static inline Numeric
num_grain(int places)
{
	return num_of_text(psprintf("1e%d", -places));
}

static inline bool
type_is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static inline bool
type_is_float(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID;
}

/* ------------------------------------------------------------------------
 * Intervals
 * ------------------------------------------------------------------------
 */

static inline DpInterval
interval_none(const DpBound *why)
{
	DpInterval	result = {DP_INTERVAL_NONE};

	result.why = why;
	return result;
}

static inline DpInterval
interval_of_state(DpIntervalState state)
{
	DpInterval	result = {state};

	return result;
}

static inline DpInterval
interval_between(Numeric lower, Numeric upper)
{
	DpInterval	result = {DP_INTERVAL_KNOWN, lower, upper};

	return result;
}

/* interval_parts.c: includes a value */
extern void dp_interval_include(DpInterval *interval, Numeric value);

/* interval_parts.c: leaves what is within limits; NULL: no limit */
extern void dp_interval_intersect(DpInterval *interval, Numeric lower, Numeric upper);

/* interval_parts.c: widens by what a computation may be off, by a share or as floating point of a type is */
extern void dp_interval_widen(DpInterval *interval, const char *rounding);
extern void dp_interval_widen_for(DpInterval *interval, Oid type, bool is_cast);

/* interval_parts.c: returns the grain of what is a multiple of either's */
extern Numeric dp_interval_common_grain(const DpInterval *a, const DpInterval *b);

/*
 * interval_parts.c: limits of what a unit adds up to.  totals_of returns them,
 * max_rows times the bounds where none are declared; set_totals narrows them;
 * scale_totals sets those of a product, one factor of which is x.
 */
extern DpInterval dp_interval_totals_of(const DpInterval *a, const DpIntervalInputs *inputs);
extern void dp_interval_set_totals(DpInterval *result, Numeric lower, Numeric upper);
extern void dp_interval_scale_totals(DpInterval *result, const DpInterval *x, const DpInterval *factor,
									 const DpIntervalInputs *inputs);

/* interval_math.c: rounds to whole numbers, halves to either side */
extern DpInterval dp_interval_rounded(const DpInterval *a);

/* interval_times.c: applies an operation on a date, timestamp or difference of timestamps */
extern DpInterval dp_interval_of_time(const DpBound *bound, const DpInterval *a);

/* interval_math.c: applies an operation to intervals that are known */
extern DpInterval dp_interval_compute(const DpBound *bound, const DpInterval *args, int n,
									  const DpIntervalInputs *inputs);

#endif							/* DP_INTERVAL_INT_H */
