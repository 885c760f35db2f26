/*-------------------------------------------------------------------------
 *
 * amounts.c
 *	  Amounts of rho and delta: from what people write, and back.
 *
 * Amounts are doubles in settings and arguments, numeric in the tables, and
 * integers wherever they are added or compared.
 *
 * Invariants:
 *	- a double becomes an amount through its shortest decimal form, so that
 *	  what the user typed is what is charged; 0.01 is exactly 1e10 although no
 *	  double equals 0.01.
 *	- a charge is a whole amount, so
 *
 *		spent + charge <= limit	  iff	charge <= floor((limit - spent) * 10^scale)
 *
 *	  holds exactly whatever the tables contain: deciding on the floor never
 *	  grants too much and never refuses what fits.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "common/shortest_dec.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/amounts.h"
#include "base/errors.h"

/* the most that can be asked of one release, in whole rho */
#define MAX_RHO			((double) (DP_RHO_MAX / DP_RHO_ONE))

#define TEN18 INT64CONST(1000000000000000000)

/* ------------------------------------------------------------------------
 * Numeric
 * ------------------------------------------------------------------------
 */

static Datum
numeric_from_cstring(const char *s)
{
	return DirectFunctionCall3(numeric_in, CStringGetDatum(s),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* 10^exponent, made once */
static Datum
power_of_ten(int exponent)
{
	static Datum powers[40];

	Assert(exponent >= 0 && exponent < lengthof(powers));
	if (powers[exponent] == (Datum) 0)
	{
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
		char		digits[48];

		memset(digits, '0', exponent + 1);
		digits[0] = '1';
		digits[exponent + 1] = '\0';
		powers[exponent] = numeric_from_cstring(digits);
		MemoryContextSwitchTo(old);
	}
	return powers[exponent];
}

static bool
numeric_less(Datum a, Datum b)
{
	return DatumGetBool(DirectFunctionCall2(numeric_lt, a, b));
}

int128
dp_amount_floor(Numeric value, int scale)
{
	const int128 most = (int128) TEN18 * TEN18;
	Datum		amount;
	Datum		high;
	Datum		low;
	bool		negative;
	int128		result;

	if (numeric_is_nan(value))
		return -most;

	amount = DirectFunctionCall2(numeric_mul, NumericGetDatum(value), power_of_ten(scale));
	negative = numeric_less(amount, DirectFunctionCall1(int8_numeric, Int64GetDatum(0)));
	if (!numeric_less(DirectFunctionCall1(numeric_abs, amount), power_of_ten(36)))
		return negative ? -most : most; /* infinities too */
	amount = DirectFunctionCall1(numeric_floor, amount);

	/* the common case: it fits 64 bits */
	if (!negative && numeric_less(amount, power_of_ten(18)))
		return DatumGetInt64(DirectFunctionCall1(numeric_int8, amount));

	high = DirectFunctionCall2(numeric_div_trunc, amount, power_of_ten(18));
	low = DirectFunctionCall2(numeric_sub, amount,
							  DirectFunctionCall2(numeric_mul, high, power_of_ten(18)));
	result = DatumGetInt64(DirectFunctionCall1(numeric_int8, high));
	return result * TEN18 + DatumGetInt64(DirectFunctionCall1(numeric_int8, low));
}

/* Returns ceil(value * 10^scale), within the limits of dp_amount_floor; value is not NaN. */
static int128
amount_ceil(Numeric value, int scale)
{
	Datum		negated = DirectFunctionCall1(numeric_uminus, NumericGetDatum(value));

	return -dp_amount_floor(DatumGetNumeric(negated), scale);
}

int64
dp_numeric_amount(Numeric value, int scale, bool up)
{
	int128		amount = up && !numeric_is_nan(value) ? amount_ceil(value, scale)
	: dp_amount_floor(value, scale);

	if (amount < PG_INT64_MIN || amount > PG_INT64_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("bigint out of range")));
	return (int64) amount;
}

/* without trailing zeros: people read the tables */
Numeric
dp_amount_numeric(int128 amount, int scale)
{
	Datum		value;

	if (amount >= 0 && amount < TEN18)
		value = NumericGetDatum(int64_div_fast_to_numeric((int64) amount, scale));
	else
	{
		Datum		high = DirectFunctionCall1(int8_numeric, Int64GetDatum((int64) (amount / TEN18)));
		Datum		low = DirectFunctionCall1(int8_numeric, Int64GetDatum((int64) (amount % TEN18)));

		value = DirectFunctionCall2(numeric_mul, high, power_of_ten(18));
		value = DirectFunctionCall2(numeric_add, value, low);
		/* exact: the factor has just the decimals that are wanted */
		value = DirectFunctionCall2(numeric_mul, value,
									NumericGetDatum(int64_div_fast_to_numeric(1, scale)));
	}
	return DatumGetNumeric(DirectFunctionCall1(numeric_trim_scale, value));
}

char *
dp_amount_text(int128 amount, int scale)
{
	Datum		value = NumericGetDatum(dp_amount_numeric(amount, scale));

	return DatumGetCString(DirectFunctionCall1(numeric_out, value));
}

/* ------------------------------------------------------------------------
 * Parameters
 * ------------------------------------------------------------------------
 */

static int64
double_amount(double value, int scale, bool up)
{
	char		buf[DOUBLE_SHORTEST_DECIMAL_LEN];

	double_to_shortest_decimal_buf(value, buf);
	return dp_numeric_amount(DatumGetNumeric(numeric_from_cstring(buf)), scale, up);
}

static void
check_rho(double rho, const char *parameter)
{
	if (isnan(rho) || isinf(rho) || rho <= 0.0 || rho > MAX_RHO)
		dp_raise(BAD_PARAMETER, errmsg("%s must be a number greater than 0 and at most %.0f",
									   parameter, MAX_RHO));
}

int64
dp_rho_amount(double rho, const char *parameter)
{
	check_rho(rho, parameter);
	return double_amount(rho, DP_RHO_SCALE, true);
}

int64
dp_rho_limit_amount(double rho, const char *parameter)
{
	int64		amount;

	check_rho(rho, parameter);
	amount = double_amount(rho, DP_RHO_SCALE, false);
	if (amount == 0)
		dp_raise(BAD_PARAMETER, errmsg("%s is below the smallest amount that can be accounted for: give at least 1e-%d",
									   parameter, DP_RHO_SCALE));
	return amount;
}

static int64
delta_amount(double delta, const char *parameter, bool up)
{
	if (isnan(delta) || delta < 0.0 || delta > 1.0)
		dp_raise(BAD_PARAMETER, errmsg("%s must be a number between 0 and 1", parameter));
	return double_amount(delta, DP_DELTA_SCALE, up);
}

int64
dp_delta_amount(double delta, const char *parameter)
{
	return delta_amount(delta, parameter, true);
}

int64
dp_delta_limit_amount(double delta, const char *parameter)
{
	return delta_amount(delta, parameter, false);
}

int64
dp_debit_amount(Numeric value, int scale, bool zero_allowed, const char *parameter)
{
	int128		amount = numeric_is_nan(value) ? -1 : amount_ceil(value, scale);

	if (amount < (zero_allowed ? 0 : 1) ||
		amount > (scale == DP_RHO_SCALE ? DP_RHO_MAX : DP_DELTA_ONE))
		dp_raise(BAD_PARAMETER, errmsg("%s must be %s and at most %s", parameter,
									   zero_allowed ? "at least 0" : "greater than 0",
									   scale == DP_RHO_SCALE ? "1000000" : "1"));
	return (int64) amount;
}
