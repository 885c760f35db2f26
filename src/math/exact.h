/*-------------------------------------------------------------------------
 *
 * exact.h
 *	  Sums of doubles, and of their squares, without rounding.
 *
 * A sum is kept in lanes of 64 bits that stand 32 bits apart, so that a value
 * is added to three lanes (a square to five) without any carry; only those
 * lanes exist that lie between the smallest and the largest value so far.
 * The caller owns the memory: what does not fit is refused, and the caller
 * makes a state of the shape that is asked for.
 *
 * Proofs are at the head of exact.c.  Part of math/: no PostgreSQL header may
 * be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_EXACT_H
#define DP_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wide.h"

/* the step of lane 0: 2^-1088 in a sum, 2^-2176 in squares */
#define DP_EXACT_SUM_EXPONENT		(-1088)
#define DP_EXACT_SQUARES_EXPONENT	(-2176)

/* lanes that 2^63 of the largest doubles need, and one for the sign */
#define DP_EXACT_SUM_LANES			69
#define DP_EXACT_SQUARES_LANES		135

/* after so many additions carries are moved on */
#define DP_EXACT_MOST_PENDING		((uint32_t) 1 << 29)

/* values that no lane can hold */
#define DP_EXACT_NAN				1
#define DP_EXACT_PLUS_INFINITY		2
#define DP_EXACT_MINUS_INFINITY		4

/* lanes first .. first + count - 1; [0] of the sum, [1] of the squares */
typedef struct dp_exact_shape
{
	int16_t		first[2];
	uint8_t		count[2];
	uint8_t		squares;		/* there are some */
	uint8_t		settles;		/* carries are moved on when it is made */
} dp_exact_shape;

/* no pointers within: a copy of the bytes is a copy of the state */
typedef struct dp_exact
{
	int32_t		vl_len_;		/* the caller's */
	uint32_t	pending;		/* additions since carries were moved on */
	int64_t		n;				/* values, all that there were */
	int16_t		first[2];
	uint8_t		count[2];
	uint8_t		squares;
	uint8_t		special;		/* DP_EXACT_NAN and so on */
	int64_t		lane[];			/* lanes of the sum, then lanes of the squares */
} dp_exact;

/* the results that can be made of a state */
typedef enum dp_exact_result
{
	DP_EXACT_SUM,
	DP_EXACT_AVG,
	DP_EXACT_VAR_POP,
	DP_EXACT_VAR_SAMP,
	DP_EXACT_STDDEV_POP,
	DP_EXACT_STDDEV_SAMP
} dp_exact_result;

static inline size_t
dp_exact_size(const dp_exact_shape *shape)
{
	return offsetof(dp_exact, lane) + (shape->count[0] + shape->count[1]) * sizeof(int64_t);
}

/*
 * Set the shape of a state that has room for what "from" (NULL: nothing) holds
 * and for x; and for what both hold.
 */
extern void dp_exact_shape_for(dp_exact_shape *shape, const dp_exact *from, bool squares, double x);
extern void dp_exact_shape_for_both(dp_exact_shape *shape, const dp_exact *a, const dp_exact *b);

/* Makes a new state of this shape, which one of the functions above has made for "from". */
extern void dp_exact_init(dp_exact *state, const dp_exact_shape *shape, const dp_exact *from);

/* Returns false, and does nothing, if there is no room. */
extern bool dp_exact_merge(dp_exact *state, const dp_exact *other);

/*
 * Sets the nearest number of double (or, if single, of float) to the result,
 * half to even; zero is +0.  False if there is none: of no values, of one
 * value where two are needed, or if it is beyond the largest number.
 */
extern bool dp_exact_get(const dp_exact *state, dp_exact_result what, bool single, double *result);

/* Adds NaN or an infinity. */
extern void dp_exact_add_special(dp_exact *state, double x);

/* Adds or subtracts m 2^shift, m below 2^53, shift below 32; lane: the first of three. */
static inline void
dp_exact_add_to(int64_t *lane, uint64_t m, int shift, bool negative)
{
	uint64_t	low = (m & UINT64_C(0xffffffff)) << shift;
	uint64_t	high = (m >> 32) << shift;
	int64_t		sign = negative ? -1 : 0;

	lane[0] += ((int64_t) (low & UINT64_C(0xffffffff)) ^ sign) - sign;
	lane[1] += ((int64_t) ((low >> 32) + (high & UINT64_C(0xffffffff))) ^ sign) - sign;
	lane[2] += ((int64_t) (high >> 32) ^ sign) - sign;
}

/* Adds m m 2^shift; lane: the first of five. */
static inline void
dp_exact_add_square_to(int64_t *lane, uint64_t m, int shift)
{
	dp_u128		square = (dp_u128) m * m;

	for (int i = 0; i < 4; i++)
	{
		uint64_t	part = (uint64_t) (uint32_t) (square >> (32 * i)) << shift;

		lane[i] += (int64_t) (part & UINT64_C(0xffffffff));
		lane[i + 1] += (int64_t) (part >> 32);
	}
}

/* Returns false, and does nothing, if there is no room. */
static inline bool
dp_exact_add(dp_exact *state, double x)
{
	uint64_t	bits;
	uint64_t	m;
	int			e;
	int			at;

	memcpy(&bits, &x, sizeof(bits));
	e = (bits >> 52) & 0x7ff;
	m = bits & ((UINT64_C(1) << 52) - 1);
	if (__builtin_expect(e == 0x7ff, 0))
	{
		dp_exact_add_special(state, x);
		return true;
	}
	if (__builtin_expect(e != 0, 1))
		m |= UINT64_C(1) << 52;
	else if (m == 0)
	{
		state->n++;
		return true;
	}
	else
		e = 1;

	/* x is m 2^(e - 1075) */
	at = ((e + 13) >> 5) - state->first[0];
	if (__builtin_expect(at < 0 || at + 3 > state->count[0] || state->pending >= DP_EXACT_MOST_PENDING, 0))
		return false;
	if (state->squares)
	{
		int			at2 = ((2 * e + 26) >> 5) - state->first[1];

		if (__builtin_expect(at2 < 0 || at2 + 5 > state->count[1], 0))
			return false;
		dp_exact_add_square_to(state->lane + state->count[0] + at2, m, (2 * e + 26) & 31);
	}
	dp_exact_add_to(state->lane + at, m, (e + 13) & 31, bits >> 63);
	state->pending++;
	state->n++;
	return true;
}

#endif							/* DP_EXACT_H */
