/*-------------------------------------------------------------------------
 *
 * num.c
 *	  Safe variants of arithmetic: NULL where the built-in raises an error.
 *
 * Invariant: for every argument the result is that of the built-in function,
 * or NULL where that would raise an error.  No error is caught here, all are
 * foreseen: catching one would need a subtransaction.  More is NULL than
 * strictly needed in three places: products, quotients, roots and buckets of
 * numeric of a thousand digits or more (for their time), roundings of numeric beyond
 * 10^130000, and 2^31 - 1 buckets.
 *
 * All are strict, and harmless to call by hand.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>
#include <math.h>

#include "base/compat.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

/* ------------------------------------------------------------------------
 * Integers
 * ------------------------------------------------------------------------
 */

/* The compiler's builtins take operands of any width and are exact. */
#define DP_TRY_INT(op, args, A, B, R, ctype) \
PG_FUNCTION_INFO_V1(dp_try_##op##_##args); \
Datum \
dp_try_##op##_##args(PG_FUNCTION_ARGS) \
{ \
	ctype		result; \
	if (DP_INT_##op(PG_GETARG_##A(0), PG_GETARG_##B(1), &result)) \
		PG_RETURN_NULL(); \
	PG_RETURN_##R(result); \
} \
StaticAssertDecl(true, "")

#define DP_INT_add(a, b, r) __builtin_add_overflow(a, b, r)
#define DP_INT_subtract(a, b, r) __builtin_sub_overflow(a, b, r)
#define DP_INT_multiply(a, b, r) __builtin_mul_overflow(a, b, r)
/* a quotient by -1 may overflow, in C fatally */
#define DP_INT_divide(a, b, r) \
	((b) == 0 ? true : \
	 (b) == -1 ? __builtin_sub_overflow(0, a, r) : \
	 (*(r) = (a) / (b), false))
#define DP_INT_mod(a, b, r) \
	((b) == 0 ? true : (*(r) = (b) == -1 ? 0 : (a) % (b), false))

#define DP_TRY_INT_ALL(args, A, B, R, ctype) \
	DP_TRY_INT(add, args, A, B, R, ctype); \
	DP_TRY_INT(subtract, args, A, B, R, ctype); \
	DP_TRY_INT(multiply, args, A, B, R, ctype); \
	DP_TRY_INT(divide, args, A, B, R, ctype)

DP_TRY_INT_ALL(int2, INT16, INT16, INT16, int16);
DP_TRY_INT_ALL(int4, INT32, INT32, INT32, int32);
DP_TRY_INT_ALL(int8, INT64, INT64, INT64, int64);
DP_TRY_INT_ALL(int24, INT16, INT32, INT32, int32);
DP_TRY_INT_ALL(int42, INT32, INT16, INT32, int32);
DP_TRY_INT_ALL(int28, INT16, INT64, INT64, int64);
DP_TRY_INT_ALL(int82, INT64, INT16, INT64, int64);
DP_TRY_INT_ALL(int48, INT32, INT64, INT64, int64);
DP_TRY_INT_ALL(int84, INT64, INT32, INT64, int64);

DP_TRY_INT(mod, int2, INT16, INT16, INT16, int16);
DP_TRY_INT(mod, int4, INT32, INT32, INT32, int32);
DP_TRY_INT(mod, int8, INT64, INT64, INT64, int64);

#define DP_TRY_SIGN(type, T, ctype) \
PG_FUNCTION_INFO_V1(dp_try_negate_##type); \
Datum \
dp_try_negate_##type(PG_FUNCTION_ARGS) \
{ \
	ctype		result; \
	if (__builtin_sub_overflow(0, PG_GETARG_##T(0), &result)) \
		PG_RETURN_NULL(); \
	PG_RETURN_##T(result); \
} \
PG_FUNCTION_INFO_V1(dp_try_abs_##type); \
Datum \
dp_try_abs_##type(PG_FUNCTION_ARGS) \
{ \
	ctype		result = PG_GETARG_##T(0); \
	if (result < 0 && __builtin_sub_overflow(0, result, &result)) \
		PG_RETURN_NULL(); \
	PG_RETURN_##T(result); \
} \
StaticAssertDecl(true, "")

DP_TRY_SIGN(int2, INT16, int16);
DP_TRY_SIGN(int4, INT32, int32);
DP_TRY_SIGN(int8, INT64, int64);

#define DP_TRY_NARROW(name, A, R, lowest, highest) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	int64		arg = PG_GETARG_##A(0); \
	if (arg < (lowest) || arg > (highest)) \
		PG_RETURN_NULL(); \
	PG_RETURN_##R(arg); \
} \
StaticAssertDecl(true, "")

DP_TRY_NARROW(int2_int4, INT32, INT16, SHRT_MIN, SHRT_MAX);
DP_TRY_NARROW(int2_int8, INT64, INT16, SHRT_MIN, SHRT_MAX);
DP_TRY_NARROW(int4_int8, INT64, INT32, INT_MIN, INT_MAX);

/* ------------------------------------------------------------------------
 * Floating point
 * ------------------------------------------------------------------------
 */

/*
 * Finite operands must not give an infinite result, nor non-zero ones zero;
 * the last argument of each says whether a result of zero is an underflow.
 */
#define DP_TRY_FLOAT(op, args, A, B, R, ctype, expr, zero_divide, underflow) \
PG_FUNCTION_INFO_V1(dp_try_##op##_##args); \
Datum \
dp_try_##op##_##args(PG_FUNCTION_ARGS) \
{ \
	const ctype a = PG_GETARG_##A(0); \
	const ctype b = PG_GETARG_##B(1); \
	ctype		result; \
	if (zero_divide) \
		PG_RETURN_NULL(); \
	result = expr; \
	if (isinf(result) && !isinf(a) && !isinf(b)) \
		PG_RETURN_NULL(); \
	if (result == 0 && (underflow)) \
		PG_RETURN_NULL(); \
	PG_RETURN_##R(result); \
} \
StaticAssertDecl(true, "")

#define DP_TRY_FLOAT_ALL(args, A, B, R, ctype) \
	DP_TRY_FLOAT(add, args, A, B, R, ctype, a + b, false, false); \
	DP_TRY_FLOAT(subtract, args, A, B, R, ctype, a - b, false, false); \
	DP_TRY_FLOAT(multiply, args, A, B, R, ctype, a * b, false, a != 0 && b != 0); \
	DP_TRY_FLOAT(divide, args, A, B, R, ctype, a / b, b == 0 && !isnan(a), a != 0 && !isinf(b))

DP_TRY_FLOAT_ALL(float4, FLOAT4, FLOAT4, FLOAT4, float4);
DP_TRY_FLOAT_ALL(float8, FLOAT8, FLOAT8, FLOAT8, float8);
DP_TRY_FLOAT_ALL(float48, FLOAT4, FLOAT8, FLOAT8, float8);
DP_TRY_FLOAT_ALL(float84, FLOAT8, FLOAT4, FLOAT8, float8);

PG_FUNCTION_INFO_V1(dp_try_float4_float8);
Datum
dp_try_float4_float8(PG_FUNCTION_ARGS)
{
	float8		arg = PG_GETARG_FLOAT8(0);
	float4		result = (float4) arg;

	if ((isinf(result) && !isinf(arg)) || (result == 0 && arg != 0))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT4(result);
}

/*
 * Rounds half to even, as the built-in casts do.  Both limits are powers of
 * two, so exact in either width; NaN fails the comparison.
 */
#define DP_TRY_FLOAT_TO_INT(name, A, ctype, round, R, limit) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	ctype		arg = round(PG_GETARG_##A(0)); \
	if (!(arg >= -(limit) && arg < (limit))) \
		PG_RETURN_NULL(); \
	PG_RETURN_##R(arg); \
} \
StaticAssertDecl(true, "")

DP_TRY_FLOAT_TO_INT(int2_float4, FLOAT4, float4, rintf, INT16, 32768.0f);
DP_TRY_FLOAT_TO_INT(int4_float4, FLOAT4, float4, rintf, INT32, 2147483648.0f);
DP_TRY_FLOAT_TO_INT(int8_float4, FLOAT4, float4, rintf, INT64, 9223372036854775808.0f);
DP_TRY_FLOAT_TO_INT(int2_float8, FLOAT8, float8, rint, INT16, 32768.0);
DP_TRY_FLOAT_TO_INT(int4_float8, FLOAT8, float8, rint, INT32, 2147483648.0);
DP_TRY_FLOAT_TO_INT(int8_float8, FLOAT8, float8, rint, INT64, 9223372036854775808.0);

PG_FUNCTION_INFO_V1(dp_try_sqrt_float8);
Datum
dp_try_sqrt_float8(PG_FUNCTION_ARGS)
{
	float8		arg = PG_GETARG_FLOAT8(0);

	if (arg < 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(sqrt(arg));
}

PG_FUNCTION_INFO_V1(dp_try_ln_float8);
Datum
dp_try_ln_float8(PG_FUNCTION_ARGS)
{
	float8		arg = PG_GETARG_FLOAT8(0);

	if (arg <= 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(log(arg));
}

PG_FUNCTION_INFO_V1(dp_try_log_float8);
Datum
dp_try_log_float8(PG_FUNCTION_ARGS)
{
	float8		arg = PG_GETARG_FLOAT8(0);

	if (arg <= 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(log10(arg));
}

/* The built-ins take ERANGE for an error, even where the result is subnormal. */
PG_FUNCTION_INFO_V1(dp_try_exp_float8);
Datum
dp_try_exp_float8(PG_FUNCTION_ARGS)
{
	float8		arg = PG_GETARG_FLOAT8(0);
	float8		result;

	if (isnan(arg) || isinf(arg))
		return DirectFunctionCall1(dexp, Float8GetDatum(arg));
	errno = 0;
	result = exp(arg);
	if (errno == ERANGE || isinf(result) || result == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(result);
}

PG_FUNCTION_INFO_V1(dp_try_power_float8);
Datum
dp_try_power_float8(PG_FUNCTION_ARGS)
{
	float8		a = PG_GETARG_FLOAT8(0);
	float8		b = PG_GETARG_FLOAT8(1);
	float8		result;

	if (!isnan(a) && !isnan(b))
	{
		if (a == 0 && b < 0)
			PG_RETURN_NULL();
		if (a < 0 && floor(b) != b)
			PG_RETURN_NULL();
		if (!isinf(a) && !isinf(b))
		{
			errno = 0;
			result = pow(a, b);
			if (errno != 0 || isinf(result) || isnan(result) || (result == 0 && a != 0))
				PG_RETURN_NULL();
			PG_RETURN_FLOAT8(result);
		}
	}
	return DirectFunctionCall2(dpow, Float8GetDatum(a), Float8GetDatum(b));
}

PG_FUNCTION_INFO_V1(dp_try_width_bucket_float8);
Datum
dp_try_width_bucket_float8(PG_FUNCTION_ARGS)
{
	float8		x = PG_GETARG_FLOAT8(0);
	float8		low = PG_GETARG_FLOAT8(1);
	float8		high = PG_GETARG_FLOAT8(2);
	int32		count = PG_GETARG_INT32(3);

	/* beyond the last bucket, also by rounding, is bucket count + 1 */
	if (count <= 0 || count == INT_MAX || (isnan(x) && !DP_NAN_HAS_BUCKET) || isnan(low) || isnan(high) ||
		isinf(low) || isinf(high) || low == high)
		PG_RETURN_NULL();
	return DirectFunctionCall4(width_bucket_float8, Float8GetDatum(x), Float8GetDatum(low),
							   Float8GetDatum(high), Int32GetDatum(count));
}

/* ------------------------------------------------------------------------
 * numeric
 * ------------------------------------------------------------------------
 */

typedef enum DpNumericConst
{
	DP_NUM_ZERO,
	DP_NUM_LONG,
	DP_NUM_HUGE,
	DP_NUM_INT2_LOW, DP_NUM_INT2_HIGH,
	DP_NUM_INT4_LOW, DP_NUM_INT4_HIGH,
	DP_NUM_INT8_LOW, DP_NUM_INT8_HIGH,
	DP_NUM_CONSTS
} DpNumericConst;

static const char *const dp_numeric_text[DP_NUM_CONSTS] = {
	"0", "1e1000", "1e130000",
	"-32768.5", "32767.5",
	"-2147483648.5", "2147483647.5",
	"-9223372036854775808.5", "9223372036854775807.5"
};

static Numeric dp_numeric_cache[DP_NUM_CONSTS];

static Numeric
numeric_from_text(const char *text)
{
	return DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(text),
											   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

static Numeric
numeric_const(DpNumericConst which)
{
	if (dp_numeric_cache[which] == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

		dp_numeric_cache[which] = numeric_from_text(dp_numeric_text[which]);
		MemoryContextSwitchTo(old);
	}
	return dp_numeric_cache[which];
}

static int
numeric_compare(Numeric a, Numeric b)
{
	return DatumGetInt32(DirectFunctionCall2(numeric_cmp, NumericGetDatum(a), NumericGetDatum(b)));
}

/* Tells whether a is finite, and at least limit in absolute value. */
static bool
numeric_is_beyond(Numeric a, DpNumericConst limit)
{
	Datum		magnitude;

	if (numeric_is_nan(a) || numeric_is_inf(a))
		return false;
	magnitude = DirectFunctionCall1(numeric_abs, NumericGetDatum(a));
	return numeric_compare(DatumGetNumeric(magnitude), numeric_const(limit)) >= 0;
}

/*
 * Tells whether a is stored in the short form, whose weight has 7 bits: so it is
 * less than 10^256, or it is none.  Nearly all numbers are.  numeric.c's own name
 * for these bits is NUMERIC_SHORT; they cannot change without breaking pg_upgrade.
 */
static inline bool
numeric_is_short(Numeric a)
{
	uint16		header;

	memcpy(&header, VARDATA_ANY(a), sizeof(header));
	return (header & 0xC000) == 0x8000;
}

/*
 * Tells whether a has about a thousand digits or more.  Multiplying or
 * dividing the longest numbers takes 0.1 s, and a query might do so hundreds
 * of times for the one row that it wants to recognize.
 */
static bool
numeric_is_long(Numeric a)
{
	return VARSIZE_ANY(a) > 512 || (!numeric_is_short(a) && numeric_is_beyond(a, DP_NUM_LONG));
}

/* Tells whether a is so large that rounding it up might overflow. */
static bool
numeric_is_huge(Numeric a)
{
	return !numeric_is_short(a) && numeric_is_beyond(a, DP_NUM_HUGE);
}

#define DP_TRY_NUMERIC(op, builtin, refused) \
PG_FUNCTION_INFO_V1(dp_try_##op##_numeric); \
Datum \
dp_try_##op##_numeric(PG_FUNCTION_ARGS) \
{ \
	Numeric		a = PG_GETARG_NUMERIC(0); \
	Numeric		b = PG_GETARG_NUMERIC(1); \
	bool		failed = false; \
	Numeric		result; \
	if (refused) \
		PG_RETURN_NULL(); \
	result = builtin(a, b, &failed); \
	if (failed) \
		PG_RETURN_NULL(); \
	PG_RETURN_NUMERIC(result); \
} \
StaticAssertDecl(true, "")

DP_TRY_NUMERIC(add, dp_numeric_add, false);
DP_TRY_NUMERIC(subtract, dp_numeric_sub, false);
DP_TRY_NUMERIC(multiply, dp_numeric_mul, numeric_is_long(a) || numeric_is_long(b));
DP_TRY_NUMERIC(divide, dp_numeric_div, numeric_is_long(a) || numeric_is_long(b));
DP_TRY_NUMERIC(mod, dp_numeric_mod, numeric_is_long(a) || numeric_is_long(b));

/* The built-in casts round half away from zero: both limits lie outside. */
#define DP_TRY_NUMERIC_TO_INT(type, builtin, T) \
PG_FUNCTION_INFO_V1(dp_try_##type##_numeric); \
Datum \
dp_try_##type##_numeric(PG_FUNCTION_ARGS) \
{ \
	Numeric		arg = PG_GETARG_NUMERIC(0); \
	if (numeric_is_nan(arg) || \
		numeric_compare(arg, numeric_const(DP_NUM_##T##_LOW)) <= 0 || \
		numeric_compare(arg, numeric_const(DP_NUM_##T##_HIGH)) >= 0) \
		PG_RETURN_NULL(); \
	return DirectFunctionCall1(builtin, NumericGetDatum(arg)); \
} \
StaticAssertDecl(true, "")

DP_TRY_NUMERIC_TO_INT(int2, numeric_int2, INT2);
DP_TRY_NUMERIC_TO_INT(int4, numeric_int4, INT4);
DP_TRY_NUMERIC_TO_INT(int8, numeric_int8, INT8);

/* By way of text, like the built-in casts, which print the value they fail on. */
#define DP_TRY_NUMERIC_TO_FLOAT(type, R, ctype, parse) \
PG_FUNCTION_INFO_V1(dp_try_##type##_numeric); \
Datum \
dp_try_##type##_numeric(PG_FUNCTION_ARGS) \
{ \
	Numeric		arg = PG_GETARG_NUMERIC(0); \
	char	   *text; \
	ctype		result; \
	if (numeric_is_nan(arg) || numeric_is_inf(arg)) \
		return DirectFunctionCall1(numeric_##type, NumericGetDatum(arg)); \
	text = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(arg))); \
	errno = 0; \
	result = parse(text, NULL); \
	pfree(text); \
	if (errno == ERANGE && (result == 0 || isinf(result))) \
		PG_RETURN_NULL(); \
	PG_RETURN_##R(result); \
} \
StaticAssertDecl(true, "")

DP_TRY_NUMERIC_TO_FLOAT(float4, FLOAT4, float4, strtof);
DP_TRY_NUMERIC_TO_FLOAT(float8, FLOAT8, float8, strtod);

#define DP_TRY_NUMERIC_ROUND(op, call) \
PG_FUNCTION_INFO_V1(dp_try_##op##_numeric); \
Datum \
dp_try_##op##_numeric(PG_FUNCTION_ARGS) \
{ \
	Numeric		arg = PG_GETARG_NUMERIC(0); \
	if (numeric_is_huge(arg)) \
		PG_RETURN_NULL(); \
	return call; \
} \
StaticAssertDecl(true, "")

DP_TRY_NUMERIC_ROUND(floor, DirectFunctionCall1(numeric_floor, NumericGetDatum(arg)));
DP_TRY_NUMERIC_ROUND(ceil, DirectFunctionCall1(numeric_ceil, NumericGetDatum(arg)));
DP_TRY_NUMERIC_ROUND(round0, DirectFunctionCall2(numeric_round, NumericGetDatum(arg), Int32GetDatum(0)));
DP_TRY_NUMERIC_ROUND(round, DirectFunctionCall2(numeric_round, NumericGetDatum(arg), PG_GETARG_DATUM(1)));

/* Makes values NULL that are so large that their sum might overflow. */
PG_FUNCTION_INFO_V1(dp_try_summand_numeric);
Datum
dp_try_summand_numeric(PG_FUNCTION_ARGS)
{
	Numeric		arg = PG_GETARG_NUMERIC(0);

	if (numeric_is_huge(arg))
		PG_RETURN_NULL();
	PG_RETURN_NUMERIC(arg);
}

/* a square has twice the digits before and after the point */
PG_FUNCTION_INFO_V1(dp_try_summand_squared_numeric);
Datum
dp_try_summand_squared_numeric(PG_FUNCTION_ARGS)
{
	Numeric		arg = PG_GETARG_NUMERIC(0);

	if (!numeric_is_nan(arg) && !numeric_is_inf(arg) &&
		(numeric_is_long(arg) ||
		 DatumGetInt32(DirectFunctionCall1(numeric_scale, NumericGetDatum(arg))) > NUMERIC_MAX_PRECISION))
		PG_RETURN_NULL();
	PG_RETURN_NUMERIC(arg);
}

PG_FUNCTION_INFO_V1(dp_try_sqrt_numeric);
Datum
dp_try_sqrt_numeric(PG_FUNCTION_ARGS)
{
	Numeric		arg = PG_GETARG_NUMERIC(0);

	if (numeric_compare(arg, numeric_const(DP_NUM_ZERO)) < 0 || numeric_is_long(arg))
		PG_RETURN_NULL();
	return DirectFunctionCall1(numeric_sqrt, NumericGetDatum(arg));
}

/* numeric(p, s): what has more than p - s digits before the point, after rounding, does not fit */
PG_FUNCTION_INFO_V1(dp_try_numeric_typmod);
Datum
dp_try_numeric_typmod(PG_FUNCTION_ARGS)
{
	Numeric		arg = PG_GETARG_NUMERIC(0);
	int32		typmod = PG_GETARG_INT32(1);
	int32		precision;
	int32		scale;
	char		limit[32];
	Datum		rounded;

	if (typmod >= VARHDRSZ && !numeric_is_nan(arg))
	{
		if (numeric_is_inf(arg) || numeric_is_huge(arg))
			PG_RETURN_NULL();
		precision = ((typmod - VARHDRSZ) >> 16) & 0xffff;
		scale = dp_numeric_scale(typmod);
		rounded = DirectFunctionCall2(numeric_round, NumericGetDatum(arg), Int32GetDatum(scale));
		rounded = DirectFunctionCall1(numeric_abs, rounded);
		snprintf(limit, sizeof(limit), "1e%d", precision - scale);
		if (numeric_compare(DatumGetNumeric(rounded), numeric_from_text(limit)) >= 0)
			PG_RETURN_NULL();
	}
	return DirectFunctionCall2(numeric, NumericGetDatum(arg), Int32GetDatum(typmod));
}

PG_FUNCTION_INFO_V1(dp_try_width_bucket_numeric);
Datum
dp_try_width_bucket_numeric(PG_FUNCTION_ARGS)
{
	Numeric		x = PG_GETARG_NUMERIC(0);
	Numeric		low = PG_GETARG_NUMERIC(1);
	Numeric		high = PG_GETARG_NUMERIC(2);
	int32		count = PG_GETARG_INT32(3);

	if (numeric_is_long(x) || numeric_is_long(low) || numeric_is_long(high))
		PG_RETURN_NULL();
	if (count <= 0 || count == INT_MAX || (numeric_is_nan(x) && !DP_NAN_HAS_BUCKET) || numeric_is_nan(low) || numeric_is_nan(high) ||
		numeric_is_inf(low) || numeric_is_inf(high) ||
		numeric_compare(low, high) == 0)
		PG_RETURN_NULL();
	return DirectFunctionCall4(width_bucket_numeric, NumericGetDatum(x), NumericGetDatum(low),
							   NumericGetDatum(high), Int32GetDatum(count));
}
