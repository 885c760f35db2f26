/*-------------------------------------------------------------------------
 *
 * exact.c
 *	  Sums of doubles, and of their squares, without rounding.
 *
 * Claim: what dp_exact_get returns is a function of the multiset of the
 * values that were added, whatever their order, however they were split over
 * states that were merged, and whatever shapes those had.
 *
 * Proof.  A state stands for the integers S = sum of lane[i] 2^(32 (first + i))
 * over the lanes of the sum, in units of 2^-1088, and Q likewise, in units of
 * 2^-2176.  Every finite double is a multiple of 2^-1074, its square of
 * 2^-2148, so both are integers in those units.  Adding a value adds exactly
 * it to S and its square to Q, merging adds both, a new shape and moving
 * carries change neither, provided that no lane overflows.  n, and the bits of
 * special, are a sum and a union.  So n, S, Q and special are functions of the
 * multiset; lanes and shapes are not, but nothing reads these except to find S
 * and Q.  Results are functions of n, S, Q and special: the exact rational is
 * rounded once, the root of one too.
 *
 * No lane overflows.  A value adds less than 2^33 to a lane in magnitude (two
 * parts below 2^32 meet in one), and a lane that was settled is below 2^32.
 * "pending" counts additions, and 1 for what was settled, so a lane is below
 * pending 2^33.  Values are added while pending is below 2^29, and a merge adds
 * the counts of both where that is below 2^29, or else settles the one and adds
 * 1 to that of the other: fewer than 2^29 merges leave it below 2^30.
 *
 * Settling moves carries upwards.  The topmost lane takes what is left, so
 * that there must be two more lanes than before, or all lanes: |S| is below
 * 2^63 2^1024 2^1088 = 2^2175 <= 2^(32 68), and Q below 2^(32 134), so that
 * the topmost of all lanes is then 0 or -1.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "math/exact.h"

#include <float.h>
#include <math.h>

#include "math/limbs.h"

static const int most_lanes[2] = {DP_EXACT_SUM_LANES, DP_EXACT_SQUARES_LANES};

/* lanes that one value takes, and how many a new state has below and above them */
static const int value_lanes[2] = {3, 5};
static const int spare_below[2] = {1, 1};
static const int spare_above[2] = {1, 2};

/* ------------------------------------------------------------------------
 * Shapes
 * ------------------------------------------------------------------------
 */

/* Makes the shape hold lanes first .. end - 1; those that are added get some more beside them. */
static void
cover(dp_exact_shape *shape, int which, int first, int end)
{
	int			old_first = shape->first[which];
	int			old_end = old_first + shape->count[which];
	bool		empty = shape->count[which] == 0;

	first = empty || first < old_first ? first - spare_below[which] : old_first;
	end = empty || end > old_end ? end + spare_above[which] : old_end;
	if (first < 0)
		first = 0;
	if (end > most_lanes[which])
		end = most_lanes[which];
	shape->first[which] = first;
	shape->count[which] = end - first;
}

static void
shape_of(dp_exact_shape *shape, const dp_exact *state)
{
	for (int i = 0; i < 2; i++)
	{
		shape->first[i] = state->first[i];
		shape->count[i] = state->count[i];
	}
	shape->squares = state->squares;
	shape->settles = 0;
}

/* Makes room for carries that leave the topmost lanes. */
static void
cover_carries(dp_exact_shape *shape)
{
	shape->settles = 1;
	for (int i = 0; i <= shape->squares; i++)
		if (shape->count[i] > 0)
		{
			int			end = shape->first[i] + shape->count[i] + 2;

			shape->count[i] = (end > most_lanes[i] ? most_lanes[i] : end) - shape->first[i];
		}
}

void
dp_exact_shape_for(dp_exact_shape *shape, const dp_exact *from, bool squares, double x)
{
	memset(shape, 0, sizeof(*shape));
	shape->squares = squares;
	if (from)
	{
		shape_of(shape, from);
		if (from->pending >= DP_EXACT_MOST_PENDING)
			cover_carries(shape);
	}
	if (isfinite(x) && x != 0)
	{
		int			e;
		int			at;

		/* |x| is m 2^(e - 1075), m below 2^53, e at least 1 */
		frexp(x, &e);
		e += 1022;
		if (e < 1)
			e = 1;
		at = (e + 13) >> 5;
		cover(shape, 0, at, at + value_lanes[0]);
		at = (2 * e + 26) >> 5;
		if (shape->squares)
			cover(shape, 1, at, at + value_lanes[1]);
	}
}

void
dp_exact_shape_for_both(dp_exact_shape *shape, const dp_exact *a, const dp_exact *b)
{
	shape_of(shape, a);
	if (a->pending + (uint64_t) b->pending >= DP_EXACT_MOST_PENDING)
		cover_carries(shape);
	for (int i = 0; i <= shape->squares; i++)
		if (b->count[i] > 0)
			cover(shape, i, b->first[i], b->first[i] + b->count[i]);
}

/* Moves carries upwards. */
static void
settle(int64_t *lane, int count)
{
	for (int i = 0; i + 1 < count; i++)
	{
		lane[i + 1] += lane[i] >> 32;
		lane[i] &= INT64_C(0xffffffff);
	}
}

void
dp_exact_init(dp_exact *state, const dp_exact_shape *shape, const dp_exact *from)
{
	int64_t    *lane = state->lane;
	const int64_t *old = from ? from->lane : NULL;

	memset(state, 0, dp_exact_size(shape));
	state->squares = shape->squares;
	if (from)
	{
		state->n = from->n;
		state->special = from->special;
		state->pending = from->pending;
	}
	for (int i = 0; i < 2; i++)
	{
		state->first[i] = shape->first[i];
		state->count[i] = shape->count[i];
		if (from && from->count[i] > 0)
		{
			memcpy(lane + (from->first[i] - shape->first[i]), old, from->count[i] * sizeof(int64_t));
			old += from->count[i];
			if (shape->settles)
				settle(lane, shape->count[i]);
		}
		lane += shape->count[i];
	}
	if (shape->settles)
		state->pending = 1;
}

/* ------------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------------
 */

void
dp_exact_add_special(dp_exact *state, double x)
{
	state->special |= isnan(x) ? DP_EXACT_NAN : x > 0 ? DP_EXACT_PLUS_INFINITY : DP_EXACT_MINUS_INFINITY;
	state->n++;
}

bool
dp_exact_merge(dp_exact *state, const dp_exact *other)
{
	int64_t    *lane = state->lane;
	const int64_t *more = other->lane;

	if (state->pending > 1 && state->pending + (uint64_t) other->pending >= DP_EXACT_MOST_PENDING)
		return false;
	for (int i = 0; i < 2; i++)
		if (other->count[i] > 0 &&
			(other->first[i] < state->first[i] ||
			 other->first[i] + other->count[i] > state->first[i] + state->count[i]))
			return false;
	for (int i = 0; i < 2; i++)
	{
		for (int k = 0; k < other->count[i]; k++)
			lane[other->first[i] - state->first[i] + k] += more[k];
		lane += state->count[i];
		more += other->count[i];
	}
	state->pending += other->pending;
	state->n += other->n;
	state->special |= other->special;
	return true;
}

/* ------------------------------------------------------------------------
 * Results
 * ------------------------------------------------------------------------
 */

/*
 * Limbs of a sum and of its square, or of squares and n times them, and of
 * either one on the grid of both; four more for a quotient's bits.
 */
#define SUM_LIMBS		((DP_EXACT_SUM_LANES + 1) / 2 + 2)
#define SQUARES_LIMBS	((DP_EXACT_SQUARES_LANES + 1) / 2 + 2)
#define MOST_LIMBS		(2 * SUM_LIMBS + SQUARES_LIMBS + 8)
#define QUOTIENT_LIMBS	4

/* a number in limbs of 64 bits, the lowest of which counts 2^(64 first) units */
typedef struct Natural
{
	int			first;
	int			n;
	bool		negative;
	uint64_t	limb[MOST_LIMBS];
} Natural;

static void
trim(Natural *a)
{
	int			low = 0;

	while (a->n > 0 && a->limb[a->n - 1] == 0)
		a->n--;
	while (low < a->n && a->limb[low] == 0)
		low++;
	if (low == 0)
		return;
	a->n -= low;
	a->first += low;
	memmove(a->limb, a->limb + low, a->n * sizeof(uint64_t));
}

/* Sets a to the sum of the lanes. */
static void
read_lanes(Natural *a, const int64_t *lane, int first, int count)
{
	int64_t		carry = 0;
	int			half = first & 1;
	uint64_t	borrow = 1;

	a->first = first / 2;
	a->n = (half + count + 2 + 1) / 2;
	memset(a->limb, 0, a->n * sizeof(uint64_t));
	/* the lanes beyond the topmost take the carry, and its sign */
	for (int i = half; i < 2 * a->n; i++)
	{
		carry += i - half < count ? lane[i - half] : 0;
		a->limb[i / 2] |= (uint64_t) (uint32_t) carry << (32 * (i & 1));
		carry >>= 32;
	}
	a->negative = carry < 0;
	for (int i = 0; a->negative && i < a->n; i++)
	{
		a->limb[i] = ~a->limb[i] + borrow;
		borrow = borrow && a->limb[i] == 0;
	}
	trim(a);
}

/* Moves a onto a grid that begins at "first", with n limbs. */
static void
align(uint64_t *r, int n, const Natural *a, int first)
{
	memset(r, 0, n * sizeof(uint64_t));
	memcpy(r + (a->first - first), a->limb, a->n * sizeof(uint64_t));
}

/* Sets result to n Q - S^2, which is not negative: n times the sum of the squares of deviations. */
static void
spread(Natural *result, const Natural *sum, const Natural *squares, uint64_t n)
{
	Natural		square;
	Natural		times;
	uint64_t	a[MOST_LIMBS];
	uint64_t	b[MOST_LIMBS];
	int			end;

	square.first = 2 * sum->first;
	square.n = 2 * sum->n;
	if (sum->n > 0)
		dp_limbs_mul(square.limb, sum->limb, sum->n, sum->limb, sum->n);
	times.first = squares->first;
	times.n = squares->n + 1;
	if (squares->n > 0)
		dp_limbs_mul(times.limb, squares->limb, squares->n, &n, 1);
	else
		times.n = 0;
	trim(&square);
	trim(&times);

	result->negative = false;
	if (square.n == 0)
		square.first = times.first;
	if (times.n == 0)
		times.first = square.first;
	result->first = square.first < times.first ? square.first : times.first;
	end = square.first + square.n > times.first + times.n ? square.first + square.n : times.first + times.n;
	result->n = end - result->first;
	align(a, result->n, &times, result->first);
	align(b, result->n, &square, result->first);
	dp_limbs_sub(result->limb, a, b, result->n);
	trim(result);
}

/*
 * Sets the nearest number to a 2^exponent, or just above it if "more", half to
 * even; returns false if too large.
 */
static bool
nearest(dp_u128 a, int exponent, bool more, bool single, double *result)
{
	int			length = dp_bitlen128(a);
	int			drop = length - (single ? FLT_MANT_DIG : DBL_MANT_DIG);
	int			least = single ? FLT_MIN_EXP - FLT_MANT_DIG : DBL_MIN_EXP - DBL_MANT_DIG;

	if (drop < least - exponent)
		drop = least - exponent;
	if (drop > length)
	{
		/* below half of the least number */
		*result = 0;
		return true;
	}
	if (drop > 0)
	{
		dp_u128		kept = drop < 128 ? a >> drop : 0;
		dp_u128		rest = drop < 128 ? a - (kept << drop) : a;
		dp_u128		half = (dp_u128) 1 << (drop - 1);

		if (rest > half || (rest == half && (more || (kept & 1))))
			kept++;
		a = kept;
		exponent += drop;
	}
	*result = ldexp((double) (uint64_t) a, exponent);
	return single ? *result <= FLT_MAX : *result <= DBL_MAX;
}

/* Rounds a / (d1 d2), in units of 2^exponent, or its root. */
static bool
round_quotient(const Natural *a, int exponent, uint64_t d1, uint64_t d2, bool root, bool single, double *result)
{
	uint64_t	q[MOST_LIMBS + QUOTIENT_LIMBS];
	uint64_t	low[MOST_LIMBS + QUOTIENT_LIMBS];
	int			n = a->n + QUOTIENT_LIMBS;
	int			length;
	bool		more = false;
	dp_u128		top;
	bool		found;

	*result = 0;
	if (a->n == 0)
		return true;
	memset(q, 0, QUOTIENT_LIMBS * sizeof(uint64_t));
	memcpy(q + QUOTIENT_LIMBS, a->limb, a->n * sizeof(uint64_t));
	exponent += 64 * (a->first - QUOTIENT_LIMBS);
	if (d1 > 1)
		more |= dp_limbs_div_small(q, n, d1) != 0;
	if (d2 > 1)
		more |= dp_limbs_div_small(q, n, d2) != 0;

	/*
	 * it was 2^256 or more, and d1 d2 is below 2^128, so there are more than
	 * 128 bits
	 */
	while (q[n - 1] == 0)
		n--;
	length = 64 * (n - 1) + dp_bitlen64(q[n - 1]);
	dp_limbs_shr(low, q, n, length - 128);
	top = (dp_u128) low[1] << 64 | low[0];
	for (int i = 0; i < n && !more; i++)
	{
		int			bits = length - 128 - 64 * i;

		if (bits <= 0)
			break;
		more = (bits >= 64 ? q[i] : q[i] & ((UINT64_C(1) << bits) - 1)) != 0;
	}
	exponent += length - 128;
	if (root)
	{
		uint64_t	r;

		if (exponent & 1)
		{
			more |= top & 1;
			top >>= 1;
			exponent++;
		}
		r = dp_root(top);
		more |= (dp_u128) r * r != top;
		top = r;
		exponent /= 2;
	}
	found = nearest(top, exponent, more, single, result);
	if (a->negative && *result != 0)
		*result = -*result;
	return found;
}

bool
dp_exact_get(const dp_exact *state, dp_exact_result what, bool single, double *result)
{
	uint64_t	n = state->n;
	bool		spreads = what != DP_EXACT_SUM && what != DP_EXACT_AVG;
	bool		root = what == DP_EXACT_STDDEV_POP || what == DP_EXACT_STDDEV_SAMP;
	bool		sample = what == DP_EXACT_VAR_SAMP || what == DP_EXACT_STDDEV_SAMP;
	Natural		sum;
	Natural		squares;
	Natural		of_both;

	if (n < (sample ? 2 : 1) || (spreads && !state->squares))
		return false;
	if (state->special)
	{
		*result = spreads || (state->special & (state->special - 1)) || state->special == DP_EXACT_NAN ? NAN
			: state->special == DP_EXACT_PLUS_INFINITY ? INFINITY : -INFINITY;
		return true;
	}
	read_lanes(&sum, state->lane, state->first[0], state->count[0]);
	if (!spreads)
		return round_quotient(&sum, DP_EXACT_SUM_EXPONENT, 1, what == DP_EXACT_AVG ? n : 1, false, single, result);
	read_lanes(&squares, state->lane + state->count[0], state->first[1], state->count[1]);
	spread(&of_both, &sum, &squares, n);
	return round_quotient(&of_both, DP_EXACT_SQUARES_EXPONENT, n, sample ? n - 1 : n, root, single, result);
}
