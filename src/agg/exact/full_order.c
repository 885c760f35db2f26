/*-------------------------------------------------------------------------
 *
 * full_order.c
 *	  min and max by an order in which only values that cannot be told apart
 *	  are equal.
 *
 * Invariant: the greater of two values is one of them, and greater_of and
 * less_of are commutative, associative and idempotent up to what no function
 * that may run on rows can tell.  So the greatest and the least of a unit's
 * rows are functions of the multiset of its rows.
 *
 * PostgreSQL's own min and max keep whichever of equal values came first,
 * where these may be written differently: numeric (1.0 and 1.00), character
 * ('a' and 'a '), interval (1 month and 30 days) and floating point (0 and -0;
 * NaN has many forms, of which one is kept).  These are ordered by their type
 * first, then by scale, length, months and days, and sign.  Values of all
 * other types that min and max accept are equal only if their bytes are,
 * collations being deterministic (guard/vet/unit_aggregates.c).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "base/compat.h"

/* ------------------------------------------------------------------------
 * Orders
 * ------------------------------------------------------------------------
 */

static int
compare_int(int64 a, int64 b)
{
	return a < b ? -1 : a > b;
}

static int
scale_of(Datum x)
{
	/* NaN and infinities have none */
	if (numeric_is_nan(DatumGetNumeric(x)) || numeric_is_inf(DatumGetNumeric(x)))
		return 0;
	return DatumGetInt32(DirectFunctionCall1(numeric_scale, x));
}

static int
compare_numeric(Datum a, Datum b, Oid collation)
{
	int			order = DatumGetInt32(DirectFunctionCall2(numeric_cmp, a, b));

	return order != 0 ? order : compare_int(scale_of(a), scale_of(b));
}

static int
compare_bpchar(Datum a, Datum b, Oid collation)
{
	int			order = DatumGetInt32(DirectFunctionCall2Coll(bpcharcmp, collation, a, b));

	return order != 0 ? order :
		compare_int(VARSIZE_ANY_EXHDR(DatumGetPointer(a)), VARSIZE_ANY_EXHDR(DatumGetPointer(b)));
}

static int
compare_interval(Datum a, Datum b, Oid collation)
{
	int			order = DatumGetInt32(DirectFunctionCall2(interval_cmp, a, b));
	const Interval *x = DatumGetIntervalP(a);
	const Interval *y = DatumGetIntervalP(b);

	if (order == 0)
		order = compare_int(x->month, y->month);
	return order != 0 ? order : compare_int(x->day, y->day);
}

/* Compares doubles in full order: NaN above all, -0 below 0. */
static int
compare_float(double a, double b)
{
	if (isnan(a) || isnan(b))
		return compare_int(isnan(a), isnan(b));
	if (a != b)
		return a < b ? -1 : 1;
	return compare_int(!signbit(a), !signbit(b));
}

/* ------------------------------------------------------------------------
 * Transitions; strict, so that the first value is taken as it is
 * ------------------------------------------------------------------------
 */

/* values are read once, where that may make a copy without compression */
#define BY_REFERENCE(name, read, compare) \
PG_FUNCTION_INFO_V1(dp_greater_##name); \
PG_FUNCTION_INFO_V1(dp_less_##name); \
Datum \
dp_greater_##name(PG_FUNCTION_ARGS) \
{ \
	Datum		a = PointerGetDatum(read(0)); \
	Datum		b = PointerGetDatum(read(1)); \
\
	PG_RETURN_DATUM(compare(a, b, PG_GET_COLLATION()) >= 0 ? a : b); \
} \
Datum \
dp_less_##name(PG_FUNCTION_ARGS) \
{ \
	Datum		a = PointerGetDatum(read(0)); \
	Datum		b = PointerGetDatum(read(1)); \
\
	PG_RETURN_DATUM(compare(a, b, PG_GET_COLLATION()) <= 0 ? a : b); \
} \
StaticAssertDecl(true, "")

BY_REFERENCE(numeric, PG_GETARG_NUMERIC, compare_numeric);
BY_REFERENCE(bpchar, PG_GETARG_BPCHAR_PP, compare_bpchar);
BY_REFERENCE(interval, PG_GETARG_INTERVAL_P, compare_interval);

/* the one NaN that two rows or more give */
#define BY_VALUE(name, T, ctype, nan) \
PG_FUNCTION_INFO_V1(dp_greater_##name); \
PG_FUNCTION_INFO_V1(dp_less_##name); \
Datum \
dp_greater_##name(PG_FUNCTION_ARGS) \
{ \
	ctype		a = PG_GETARG_##T(0); \
	ctype		b = PG_GETARG_##T(1); \
	ctype		greater = compare_float(a, b) >= 0 ? a : b; \
\
	PG_RETURN_##T(isnan(greater) ? nan() : greater); \
} \
Datum \
dp_less_##name(PG_FUNCTION_ARGS) \
{ \
	ctype		a = PG_GETARG_##T(0); \
	ctype		b = PG_GETARG_##T(1); \
	ctype		less = compare_float(a, b) <= 0 ? a : b; \
\
	PG_RETURN_##T(isnan(less) ? nan() : less); \
} \
StaticAssertDecl(true, "")

BY_VALUE(float4, FLOAT4, float4, get_float4_nan);
BY_VALUE(float8, FLOAT8, float8, get_float8_nan);
