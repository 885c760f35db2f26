/*-------------------------------------------------------------------------
 *
 * numeric_grid.c
 *	  From numeric to steps, exactly, and to double.
 *
 * Going to steps through double would round twice, and PostgreSQL's own functions
 * would allocate several numerics per row and can fail on overflow, which
 * must not happen on protected rows.  So the stored digits are read directly:
 * their format cannot change without breaking pg_upgrade.
 *
 * Stored form (after the varlena header): a 16-bit header, then base-10000
 * digits, most significant first, of which the first has weight
 * 10000^weight.  The header's top bits tell the form:
 *
 *		00 long, positive;	01 long, negative: 14 bits of display scale, and
 *			the weight in 16 bits of its own
 *		10 short: sign 1 bit, display scale 6 bits, weight 7 bits (signed)
 *		11 special: NaN 1100, +Infinity 1101, -Infinity 1111
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/compat.h"
#include "fmgr.h"
#include "utils/float.h"

#include "agg/exact/decimal.h"
#include "agg/exact/grid.h"

#define BASE DP_DECIMAL_BASE
#define LOG2_BASE 13.287712379549449

/* integer digits after the range test, and fraction digits of the largest scale, 16383 */
#define MAX_INTEGER_DIGITS 96
#define MAX_FRACTION_DIGITS 4100

typedef struct Digits
{
	bool		negative;
	int			weight;			/* of the first digit */
	int			ndigits;
	const char *digits;			/* 16 bits each, maybe unaligned */
} Digits;

static inline int
digit(const Digits *x, int i)
{
	int16		d;

	if (i >= x->ndigits)
		return 0;
	memcpy(&d, x->digits + i * sizeof(int16), sizeof(int16));
	return d;
}

/*
 * Returns floor(|x| * 2^shift), and in *rest whether that left a rest.  The
 * caller has made sure that the result is below 2^111.
 */
static dp_u128
scaled_floor(const Digits *x, int shift, bool *rest)
{
	uint16		integer[MAX_INTEGER_DIGITS];
	uint16		fraction[MAX_FRACTION_DIGITS];
	int			ninteger = Max(x->weight + 1, 0);
	int			nfraction = Max(x->ndigits - (x->weight + 1), 0);
	dp_u128		result = 0;
	int			i;

	if (ninteger > MAX_INTEGER_DIGITS)
		elog(ERROR, "numeric value escaped its range test");
	/* cannot happen; the rest that is cut off is less than any step */
	nfraction = Min(nfraction, MAX_FRACTION_DIGITS);

	for (i = 0; i < ninteger; i++)
		integer[i] = digit(x, i);
	for (i = 0; i < nfraction; i++)
	{
		/* the digit of weight -1 - i */
		int			at = x->weight + 1 + i;

		fraction[i] = at >= 0 ? digit(x, at) : 0;
	}

	*rest = false;
	while (shift < 0)
	{
		int			bits = Min(-shift, 32);
		uint64		carry = 0;

		for (i = 0; i < ninteger; i++)
		{
			uint64		t = carry * BASE + integer[i];

			integer[i] = t >> bits;
			carry = t & ((UINT64CONST(1) << bits) - 1);
		}
		*rest |= carry != 0;
		shift += bits;
	}

	for (i = 0; i < ninteger; i++)
		result = result * BASE + integer[i];

	while (shift > 0)
	{
		int			bits = Min(shift, 32);
		uint64		carry = 0;

		for (i = nfraction - 1; i >= 0; i--)
		{
			uint64		t = ((uint64) fraction[i] << bits) + carry;

			fraction[i] = t % BASE;
			carry = t / BASE;
		}
		result = (result << bits) + carry;
		shift -= bits;
	}

	for (i = 0; i < nfraction && !*rest; i++)
		*rest = fraction[i] != 0;
	return result;
}

typedef enum Special
{
	FINITE,
	NOT_A_NUMBER,
	PLUS_INFINITY,
	MINUS_INFINITY
} Special;

/* Reads the digits of a value that is not toasted; x is set only if it is FINITE, and has no digit if it is 0. */
static inline Special
read_digits(const struct varlena *value, Digits *x)
{
	const char *p = VARDATA_ANY(value);
	const char *end = p + VARSIZE_ANY_EXHDR(value);
	uint16		header;

	memcpy(&header, p, sizeof(header));
	p += sizeof(header);
	switch (header & 0xC000)
	{
		case 0xC000:
			return (header & 0xF000) == 0xC000 ? NOT_A_NUMBER :
				(header & 0xF000) == 0xD000 ? PLUS_INFINITY : MINUS_INFINITY;
		case 0x8000:
			x->negative = (header & 0x2000) != 0;
			x->weight = (header & 0x3F) - (header & 0x40);
			break;
		default:
			{
				int16		weight;

				memcpy(&weight, p, sizeof(weight));
				p += sizeof(weight);
				x->negative = (header & 0xC000) == 0x4000;
				x->weight = weight;
			}
	}
	x->digits = p;
	x->ndigits = (end - p) / sizeof(int16);

	/* the first digit is not 0 unless someone stored it so */
	while (x->ndigits > 0 && digit(x, 0) == 0)
	{
		x->digits += sizeof(int16);
		x->ndigits--;
		x->weight--;
	}
	return FINITE;
}

/* Returns n / DP_DECIMAL_BASE^groups, and the rest: divisors that the compiler knows become multiplications. */
static inline uint64
quotient(uint64 n, int groups, uint64 *rest)
{
	uint64		result;

	switch (groups)
	{
		case 0:
			result = n;
			break;
		case 1:
			result = n / dp_decimal_power(1);
			break;
		case 2:
			result = n / dp_decimal_power(2);
			break;
		case 3:
			result = n / dp_decimal_power(3);
			break;
		default:
			result = n / dp_decimal_power(4);
			break;
	}
	*rest = n - result * dp_decimal_power(groups);
	return result;
}

/* Returns half of "twice", rounded half to even and limited to DP_ROW_LIMIT; rest: twice is the floor of something. */
static inline dp_i128
round_half(dp_u128 twice, bool rest)
{
	dp_u128		steps = twice >> 1;

	if ((twice & 1) != 0 && (rest || (steps & 1) != 0))
		steps++;
	return (dp_i128) Min(steps, (dp_u128) DP_ROW_LIMIT);
}

/* The exponent is one of DP_DECIMAL_MIN_EXPONENT .. DP_DECIMAL_MAX_EXPONENT. */
dp_i128
dp_decimal_steps(DpDecimal x, int exponent)
{
	/* by how many bits a rest may be shifted at once */
	static const int bits_of[DP_DECIMAL_GROUPS + 1] = {63, 50, 37, 24, 10};
	uint64		rest;
	dp_u128		twice;
	dp_i128		steps;
	int			shift = 1 - exponent;	/* one bit more than a step, for
										 * rounding */

	twice = quotient(x.n < 0 ? -(uint64) x.n : (uint64) x.n, x.groups, &rest);
	while (shift > 0 && rest != 0)
	{
		int			bits = Min(shift, bits_of[x.groups]);
		uint64		more = quotient(rest << bits, x.groups, &rest);

		twice = (twice << bits) + more;
		shift -= bits;
	}
	steps = round_half(twice << shift, rest != 0);
	return x.n < 0 ? -steps : steps;
}

/*
 * Sets *n to x / 2^exponent, rounded half to even and limited to +-DP_ROW_LIMIT.  False
 * for NaN.  Never fails, whatever the value; monotone.
 */
bool
dp_steps_numeric(Datum datum, int exponent, dp_i128 *n)
{
	struct varlena *value;
	DpDecimal	decimal;
	Digits		x;
	dp_u128		twice;
	dp_i128		steps;
	bool		rest;
	double		magnitude;

	if (exponent >= DP_DECIMAL_MIN_EXPONENT && exponent <= DP_DECIMAL_MAX_EXPONENT &&
		dp_decimal_read(datum, &decimal))
	{
		*n = dp_decimal_steps(decimal, exponent);
		return true;
	}
	value = PG_DETOAST_DATUM_PACKED(datum);
	switch (read_digits(value, &x))
	{
		case FINITE:
			break;
		case NOT_A_NUMBER:
			return false;
		case PLUS_INFINITY:
			*n = DP_ROW_LIMIT;
			return true;
		case MINUS_INFINITY:
			*n = -DP_ROW_LIMIT;
			return true;
	}
	if (x.ndigits == 0)
	{
		*n = 0;
		return true;
	}

	/* BASE^weight <= |x| < BASE^(weight + 1) */
	magnitude = x.weight * LOG2_BASE - exponent;
	if (magnitude > 95)
	{
		*n = x.negative ? -DP_ROW_LIMIT : DP_ROW_LIMIT;
		return true;
	}
	if (magnitude + LOG2_BASE < -2)
	{
		*n = 0;
		return true;
	}

	twice = scaled_floor(&x, 1 - exponent, &rest);
	steps = round_half(twice, rest);
	*n = x.negative ? -steps : steps;
	return true;
}

/*
 * Returns x as a double, never wrong by more than its last place; the nearest
 * one, which is what a literal would be, where the digits are few.  Infinite
 * beyond the range of doubles, 0 below it, NaN for NaN.  Never fails.
 */
double
dp_double_numeric(Datum datum)
{
	struct varlena *value;
	DpDecimal	decimal;
	Digits		x;
	double		result;

	if (dp_decimal_read(datum, &decimal) && dp_decimal_double(decimal, &result))
		return result;
	value = PG_DETOAST_DATUM_PACKED(datum);
	switch (read_digits(value, &x))
	{
		case FINITE:
			break;
		case NOT_A_NUMBER:
			return get_float8_nan();
		case PLUS_INFINITY:
			return get_float8_infinity();
		case MINUS_INFINITY:
			return -get_float8_infinity();
	}
	if (x.ndigits == 0)
		return 0;

	if ((x.weight + 1) * LOG2_BASE < -1080)
		return 0;
	else if (x.weight * LOG2_BASE > 1030)
		result = get_float8_infinity();
	else
	{
		/* 2^76 to 2^91 steps */
		int			exponent = (int) floor((x.weight + 1) * LOG2_BASE) - 90;
		dp_i128		n;

		(void) dp_steps_numeric(PointerGetDatum(value), exponent, &n);
		return ldexp((double) n, exponent);
	}
	return x.negative ? -result : result;
}
