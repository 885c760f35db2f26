/*-------------------------------------------------------------------------
 *
 * decimal.h
 *	  Numbers of few decimal digits, in a word: what most numerics are.
 *
 * A decimal is n / 10000^groups: a numeric's digits are groups of four.  Sums and
 * products of decimals are exact, or none (false), and then numeric has to do it.
 *
 * Private to src/agg.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_DECIMAL_H
#define DP_DECIMAL_H

#include "agg/agg.h"
#include "base/compat.h"

#define DP_DECIMAL_BASE 10000

/* digit groups after the point, at most */
#define DP_DECIMAL_GROUPS 4

/* steps of decimals are told for such exponents alone; dp_steps_numeric() takes any */
#define DP_DECIMAL_MIN_EXPONENT (-63)
#define DP_DECIMAL_MAX_EXPONENT 1

typedef struct DpDecimal
{
	int64		n;
	int32		groups;
} DpDecimal;

/* The powers of DP_DECIMAL_BASE; a constant where groups is one. */
static inline int64
dp_decimal_power(int groups)
{
	static const int64 power[DP_DECIMAL_GROUPS + 1] = {
		INT64CONST(1),
		INT64CONST(10000),
		INT64CONST(100000000),
		INT64CONST(1000000000000),
		INT64CONST(10000000000000000)
	};

	return power[groups];
}

/*
 * Sets *x to the value of a numeric that is stored in the short form with up to four groups
 * of digits.  False for all others: NaN, infinities, long and toasted ones, and some that are
 * short, too.
 */
static inline bool
dp_decimal_read(Datum numeric, DpDecimal *x)
{
	const struct varlena *value = (const struct varlena *) DatumGetPointer(numeric);
	const char *digits;
	uint16		header;
	int			ndigits;
	int			integer;		/* groups before the point; negative: zeros
								 * after it */
	int			most;
	int64		n = 0;

	if (VARATT_IS_EXTENDED(value) && (!VARATT_IS_SHORT(value) || VARATT_IS_EXTERNAL(value)))
		return false;
	digits = VARDATA_ANY(value);
	memcpy(&header, digits, sizeof(header));
	digits += sizeof(header);
	ndigits = ((int) VARSIZE_ANY_EXHDR(value) - (int) sizeof(header)) / (int) sizeof(int16);
	integer = (header & 0x3F) - (header & 0x40) + 1;
	x->groups = Max(ndigits - integer, 0);
	most = Max(ndigits, integer);
	if ((header & 0xC000) != 0x8000 || most > 4 || x->groups > DP_DECIMAL_GROUPS)
		return false;
	for (int i = 0; i < most; i++)
	{
		int16		digit = 0;

		if (i < ndigits)
			memcpy(&digit, digits + i * sizeof(int16), sizeof(int16));
		n = n * DP_DECIMAL_BASE + digit;
	}
	if (ndigits == 0)
		x->groups = 0;
	x->n = header & 0x2000 ? -n : n;
	return true;
}

static inline bool
dp_decimal_widen(DpDecimal *x, int groups)
{
	if (__builtin_mul_overflow(x->n, dp_decimal_power(groups - x->groups), &x->n))
		return false;
	x->groups = groups;
	return true;
}

static inline bool
dp_decimal_add(DpDecimal a, DpDecimal b, DpDecimal *sum)
{
	if (a.groups < b.groups ? !dp_decimal_widen(&a, b.groups) : a.groups > b.groups && !dp_decimal_widen(&b, a.groups))
		return false;
	sum->groups = a.groups;
	return !__builtin_add_overflow(a.n, b.n, &sum->n);
}

static inline bool
dp_decimal_subtract(DpDecimal a, DpDecimal b, DpDecimal *difference)
{
	if (b.n == PG_INT64_MIN)
		return false;
	b.n = -b.n;
	return dp_decimal_add(a, b, difference);
}

static inline bool
dp_decimal_multiply(DpDecimal a, DpDecimal b, DpDecimal *product)
{
	product->groups = a.groups + b.groups;
	return product->groups <= DP_DECIMAL_GROUPS && !__builtin_mul_overflow(a.n, b.n, &product->n);
}

/*
 * Sets *result to the nearest double; false where that takes more than one division.  It is
 * what dp_double_numeric() returns: the quotient of two numbers that are doubles is rounded once.
 */
static inline bool
dp_decimal_double(DpDecimal x, double *result)
{
	if (x.n > INT64CONST(1) << 53 || x.n < -(INT64CONST(1) << 53))
		return false;
	*result = (double) x.n / (double) dp_decimal_power(x.groups);
	return true;
}

/* numeric_grid.c: what dp_steps_numeric() sets *n to */
extern dp_i128 dp_decimal_steps(DpDecimal x, int exponent);

#endif							/* DP_DECIMAL_H */
