/*-------------------------------------------------------------------------
 *
 * gauss.c
 *	  Exact sampling from the discrete Gaussian N_Z(0, sigma^2).
 *
 * Invariants: integers only; a comparison of random bits with a real number
 * is decided by bounds that contain that number, and if they do not decide
 * it, by more bits and closer bounds, without end.
 *
 * The method
 * ----------
 * Rejection under a staircase.  Let f(x) = C exp(-x^2 / (2 sigma^2)), with an
 * integer C = "scale".  The integers x >= 0 are cut into bins s = 0, 1, 2 ...
 * of w = 2^width_bits each, bin s holding s w .. (s+1) w - 1.  Over bin s
 * stands a step of integer height q_s >= f(s w), which is at least f(x) for
 * every x in the bin as f falls.  One trial, for w > 1:
 *
 *	1. R uniform on 0 .. 2^64 - 1.  The heights q_0, q_1, ... laid end to end
 *	   occupy 0 .. end-1 < 2^64; R falls into the stretch of one bin s, at
 *	   height H = R - (where that stretch begins), or beyond all: start again.
 *	2. x = s w + u, with u uniform on 0 .. w - 1; a random sign.
 *	3. With t uniform on [0, 1), accept if H + t < f(x), else start again.
 *	4. If x = 0 and the sign is minus, start again.
 *
 * Step 1 to 3 accept a given x >= 0 with probability
 *
 *		sum over H of 2^-64 (1/w) P[H + t < f(x)]  =  2^-64 f(x) / w,
 *
 * since H + t is uniform on [0, q_s) with density 1 and f(x) <= q_s.  Hence a
 * trial yields the integer z with probability 2^-64 f(|z|) / (2 w), for every
 * z including 0 (step 4 removes the second way to write 0): proportional to
 * exp(-z^2 / (2 sigma^2)), and trials are independent.  That is the discrete
 * Gaussian, exactly: neither C, nor w, nor how far q_s exceeds f, nor the
 * errors made in computing them, has any influence on the law of the result;
 * they only decide how often a trial fails.
 *
 * For w = 1 each s > 0 has two steps, one of either sign: a stretch of 2 q_s,
 * in which the lowest bit of R - (its beginning) is the sign and the others
 * are H.  s = 0 has one step and no sign, and step 4 is left out.  A trial
 * yields z with probability 2^-64 f(|z|), for every z.
 *
 * The tail.  Bins S = DP_GAUSS_BINS and beyond share a stretch of height
 * 2 q_S: with j geometric, P[j] = 2^-(j+1), the bin is S + j, and the height
 * is (H + t) / 2^(j+1), which is uniform on [0, q_S / 2^j) with the density
 * 2^-(j+1) 2^(j+1) = 1 as above.  The step q_S / 2^j is high enough because
 *
 *		f((S+j) w) / f(S w) <= exp(-S j w^2 / sigma^2) <= 2^-j,
 *
 * for S w^2 / sigma^2 >= 45/64 > ln 2: dp_gauss_init takes the widest w with
 * 4 w <= sigma, so that sigma < 8 w, or w = 1 for sigma < 8.
 *
 * Why a staircase and not the discrete Laplace proposal of Canonne, Kamath and
 * Steinke: both are exact, but the staircase needs one trial as a rule and 8 to
 * 16 random bytes for it, where the proposal spends three or four Bernoulli(exp)
 * trials ("make -C test/unit bench" prints both).
 *
 * Step 3 is decided by 64-bit bounds around f(x), for w = 1 prepared ones;
 * and, once in some 2^52 trials, by dp_gauss_exact, which draws the bits of t
 * as far as they are needed, and compares them with bounds of 128, 256, ...
 * bits until it is decided.
 *
 * Range.  sigma is 0.01 to 2^60.  Below 0.01 noise other than 0 would have a
 * probability below 2^-7000: rho is then so large that it promises nothing.
 *
 * Running time
 * ------------
 * A trial takes the same steps whatever bin and point it comes to, up to the
 * decision: the bin is found with a fixed number of comparisons, the bounds of
 * f(x) are computed without a branch, and tables are read as a whole (pick.h),
 * so no address depends on either.  Running time tells how many
 * trials there were, which is independent of the value returned, as trials
 * are.  There are two exceptions: a draw from the tail, beyond 5.6 sigma and
 * of a probability below 2^-25, takes a few more steps, and one that the bounds
 * do not decide takes some microseconds more.  "make -C test/unit timing"
 * compares the times of small and large values (t-test of a million draws, |t|
 * below 4.5).
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "exp.h"
#include "gauss.h"
#include "limbs.h"
#include "pick.h"

#define likely_true(x)	__builtin_expect((x) != 0, 1)
#define likely_false(x) __builtin_expect((x) != 0, 0)

/* limbs that hold x^2 den, and 2 num */
#define EXPONENT_NUM_LIMBS	6
#define EXPONENT_DEN_LIMBS	3

/* g->edge in rows of eight */
#define EDGE_ROWS	((DP_GAUSS_BINS + 3) / 8)

/*
 * The last bin for which exponent64 holds, and the first for which it does not
 * (a power of two)
 */
#define EXPONENT64_BINS_LOG2	6
#define EXPONENT64_BINS			(1 << EXPONENT64_BINS_LOG2)

/*
 * Returns x^2 / (2 sigma^2) in fixed point with 64 fraction bits, rounded
 * down, for x below 64 w.
 *
 * x is shifted to y = x 2^(58 - width_bits) < 2^64.  Of y^2 kappa, a number of
 * 192 bits, the upper 128 are computed, too small by less than 1; then the
 * fraction bits beyond 64 are cut off: together less than 2^-64.  kappa is low
 * by less than 2^-63 of itself.  That is within what dp_exp64 demands.
 *
 * The last shift is between 39 and 59: sigma >= 0.01 makes kappa_shift at
 * least 51, and is below 8 w; and for w > 1, 4 w <= sigma.
 */
static inline dp_u128
exponent64(const dp_gauss *g, uint64_t x)
{
	uint64_t	y = x << (64 - EXPONENT64_BINS_LOG2 - g->width_bits);
	dp_u128		y2 = (dp_u128) y * y;
	dp_u128		prod = (dp_u128) (uint64_t) (y2 >> 64) * g->kappa + dp_mulhi((uint64_t) y2, g->kappa);
	int			shift = g->kappa_shift - 2 * EXPONENT64_BINS_LOG2 - 2 * g->width_bits;
	uint64_t	high = (uint64_t) (prod >> 64);
	uint64_t	low = (uint64_t) prod;

	/* without the test that a 128-bit shift makes */
	return (dp_u128) (high >> shift) << 64 | (low >> shift | high << (64 - shift));
}

/*
 * Returns an integer not above f, where exp64 = dp_exp64(exponent).  (Masks,
 * not conditions, here and below: a compiler may turn a condition into a
 * branch.)
 */
static inline uint64_t
curve_floor(const dp_gauss *g, uint64_t exp64)
{
	uint64_t	lowered = exp64 - DP_EXP64_ERROR;

	return dp_mulhi(g->scale, lowered & -(uint64_t) (exp64 > DP_EXP64_ERROR));
}

/* Returns an integer not below f; f never exceeds the scale. */
static inline uint64_t
curve_ceiling(const dp_gauss *g, uint64_t exp64)
{
	uint64_t	raised = exp64 + DP_EXP64_ERROR;

	return dp_mulhi(g->scale, raised | -(uint64_t) (raised < exp64)) + 1;
}

static inline int
quick(const dp_gauss *g, uint64_t x, uint64_t height)
{
	uint64_t	exp64 = dp_exp64(exponent64(g, x));

	/* height + t < height + 1 <= floor <= f(x) */
	if (likely_true(height < curve_floor(g, exp64)))
		return 1;
	/* f(x) <= ceiling <= height <= height + t */
	if (likely_true(height >= curve_ceiling(g, exp64)))
		return 0;
	return -1;
}

int
dp_gauss_quick(const dp_gauss *g, uint64_t x, uint64_t height)
{
	return quick(g, x, height);
}

/*
 * Runs one round of dp_gauss_exact, with n limbs after the binary point.  The
 * first "have" limbs of t were drawn before and are in old[], the most
 * significant first.  The numbers to compare have n + 2 limbs.
 */
static bool
exact_round(const dp_gauss *g, dp_entropy *e,
			const uint64_t *num, const uint64_t *den,
			uint64_t height, uint64_t shift,
			int n, const uint64_t *old, int have)
{
	int			len = n + 2;
	uint64_t   *drawn = __builtin_alloca(n * sizeof(uint64_t));
	uint64_t   *point = __builtin_alloca(len * sizeof(uint64_t));
	uint64_t   *next = __builtin_alloca(len * sizeof(uint64_t));
	uint64_t   *bound = __builtin_alloca((n + 1) * sizeof(uint64_t));
	uint64_t   *bound_hi = __builtin_alloca((n + 1) * sizeof(uint64_t));
	uint64_t   *curve = __builtin_alloca(len * sizeof(uint64_t));
	int			i;

	for (i = 0; i < n; i++)
		drawn[i] = i < have ? old[i] : dp_entropy_take(e, 8);

	/*
	 * height + t lies in [raw, raw + 1) / 2^(64 n), where raw has the limbs
	 * height, drawn[0], ..., drawn[n-1].  Divided by 2^shift and cut to n
	 * limbs that becomes [point, next): floor(raw / 2^shift) and one more.
	 */
	curve[n + 1] = 0;
	curve[n] = height;
	for (i = 0; i < n; i++)
		curve[n - 1 - i] = drawn[i];
	dp_limbs_shr(point, curve, len, shift);
	memset(curve, 0, len * sizeof(uint64_t));
	curve[0] = 1;
	dp_limbs_add(next, point, curve, len);

	/* C times the bounds is exact in n + 2 limbs */
	dp_exp_limbs(bound, bound_hi, n, num, EXPONENT_NUM_LIMBS, den, EXPONENT_DEN_LIMBS);
	dp_limbs_mul(curve, bound, n + 1, &g->scale, 1);
	if (dp_limbs_cmp(next, curve, len) <= 0)
		return true;
	dp_limbs_mul(curve, bound_hi, n + 1, &g->scale, 1);
	if (dp_limbs_cmp(point, curve, len) >= 0)
		return false;

	/*
	 * Twice the limbs.  That this ends is certain: exp of a rational other
	 * than 0 is irrational, so f(x) is not a number at which bounds and bits
	 * could disagree for ever, except with probability 0.  A round of n limbs
	 * fails with a probability below 2^(shift + 66 - 64 n); a round that no
	 * stack would hold has thousands of limbs, so it does not come.  Should
	 * the stack end nevertheless, the process does, without an answer.
	 */
	return exact_round(g, e, num, den, height, shift, 2 * n, drawn, n);
}

bool
dp_gauss_exact(const dp_gauss *g, dp_entropy *e, dp_u128 x, uint64_t height, uint64_t shift)
{
	uint64_t	x_limbs[2];
	uint64_t	den_limbs[2];
	uint64_t	x2[4];
	uint64_t	num[EXPONENT_NUM_LIMBS];
	uint64_t	den[EXPONENT_DEN_LIMBS];

	dp_limbs_set(x_limbs, 2, x);
	dp_limbs_set(den_limbs, 2, g->variance.den);
	dp_limbs_mul(x2, x_limbs, 2, x_limbs, 2);
	dp_limbs_mul(num, x2, 4, den_limbs, 2);
	dp_limbs_set(den, EXPONENT_DEN_LIMBS, g->variance.num);
	dp_limbs_add(den, den, den, EXPONENT_DEN_LIMBS);

	return exact_round(g, e, num, den, height, shift, 2, NULL, 0);
}

/* Does steps 2 and 3 for the tail; returns true if *x was accepted. */
static bool
draw_tail(const dp_gauss *g, dp_entropy *e, uint64_t offset, uint64_t height, dp_u128 *x)
{
	uint64_t	j = 0;

	while (dp_entropy_take(e, 1) & 1)
		j++;
	*x = (((dp_u128) DP_GAUSS_BINS + j) << g->width_bits) + offset;
	if (likely_true(DP_GAUSS_BINS + j < EXPONENT64_BINS))
	{
		/*
		 * (height + t) / 2^(j+1) lies in [h, h + 1) for h the quotient
		 * rounded down
		 */
		int			below = quick(g, (uint64_t) *x, height >> (j + 1));

		if (likely_true(below >= 0))
			return below;
	}
	return dp_gauss_exact(g, e, *x, height, j + 1);
}

/* Does step 3 for bin s < S or the tail; returns true if *x was accepted. */
static inline bool
decide(const dp_gauss *g, dp_entropy *e, int s, uint64_t offset, uint64_t height, dp_u128 *x)
{
	uint64_t	x64 = ((uint64_t) s << g->width_bits) + offset;
	int			below;

	if (likely_false(s == DP_GAUSS_BINS))
		return draw_tail(g, e, offset, height, x);
	*x = x64;
	below = quick(g, x64, height);
	if (likely_false(below < 0))
		return dp_gauss_exact(g, e, x64, height, 0);
	return below;
}

/* Makes a trial for w > 1. */
static inline bool
try_wide(const dp_gauss *g, dp_entropy *e, dp_i128 *z)
{
	uint64_t	r = dp_entropy_take(e, 8);
	uint64_t	row[8];
	uint64_t	low,
				offset,
				minus;
	dp_u128		x;
	int			s = -1;

	if (likely_false(r >= g->edge[DP_GAUSS_BINS + 1]))
		return false;
	/* the row of eight edges that r is in, then the last edge not above r */
	for (int i = 0; i < EDGE_ROWS; i++)
		s += r >= g->edge[8 * i];
	dp_pick_row(row, g->edge, EDGE_ROWS, s);
	s *= 8;
	for (int i = 1; i < 8; i++)
		s += r >= row[i];

	/* one bit for the sign and width_bits for the offset in the bin */
	low = dp_entropy_take(e, g->width_bits / 8 + 1);
	minus = low & 1;
	offset = (low >> 1) & ((UINT64_C(1) << g->width_bits) - 1);
	if (!decide(g, e, s, offset, r - dp_pick8(row, s & 7), &x))
		return false;
	*z = (dp_i128) ((x ^ -(dp_u128) minus) + minus);
	/* minus 0; in one condition, for 0 itself should not take longer */
	return ((uint64_t) (x >> 64) | (uint64_t) x | (minus ^ 1)) != 0;
}

/*
 * Makes a trial for w = 1, where a step is hardly above the curve: a point
 * that is not within DP_GAUSS_DOUBT of the end of its stretch is accepted.  (A
 * step and curve_floor differ by 2 DP_EXP64_ERROR + 2 at most, and count
 * twice.)  The bin is found by comparing with all of them.
 */
static inline bool
try_narrow(const dp_gauss *g, dp_entropy *e, dp_i128 *z)
{
	uint64_t	r = dp_entropy_take(e, 8);
	int			s = 0,
				s_beyond = 0;
	int			has_sign;
	uint64_t	minus;
	dp_u128		x;

	for (int i = 1; i <= DP_GAUSS_BINS + 1; i++)
	{
		s += r >= g->edge[i];
		s_beyond += r + DP_GAUSS_DOUBT >= g->edge[i];
	}
	/* all edges are even; 0 has no sign, and -0 is 0 */
	has_sign = s != 0;
	minus = r & 1;
	x = s;
	if (likely_false(s != s_beyond || s >= DP_GAUSS_BINS))
	{
		if (s > DP_GAUSS_BINS ||
			!decide(g, e, s, 0, (r - g->edge[s]) >> has_sign, &x))
			return false;
	}
	*z = (dp_i128) ((x ^ -(dp_u128) minus) + minus);
	return true;
}

dp_i128
dp_gauss_draw(const dp_gauss *g, dp_entropy *e)
{
	dp_i128		z;

	if (g->width_bits == 0)
		while (!try_narrow(g, e, &z))
			;
	else
		while (!try_wide(g, e, &z))
			;
	return z;
}

/* Sets kappa / 2^kappa_shift = den / (2 num) rounded down, 2^63 <= kappa < 2^64. */
static void
init_kappa(dp_gauss *g)
{
	uint64_t	quot[EXPONENT_NUM_LIMBS];
	uint64_t	shifted[EXPONENT_NUM_LIMBS];
	uint64_t	den[EXPONENT_DEN_LIMBS];
	uint64_t	rem[EXPONENT_DEN_LIMBS + 1];

	/* the bit lengths put den 2^shift / (2 num) strictly between 2^63, 2^65 */
	g->kappa_shift = 65 + dp_bitlen128(g->variance.num) - dp_bitlen128(g->variance.den);
	dp_limbs_set(shifted, EXPONENT_NUM_LIMBS, g->variance.den);
	dp_limbs_shl(quot, shifted, EXPONENT_NUM_LIMBS, g->kappa_shift);
	dp_limbs_set(den, EXPONENT_DEN_LIMBS, g->variance.num);
	dp_limbs_add(den, den, den, EXPONENT_DEN_LIMBS);
	dp_limbs_divide(quot, EXPONENT_NUM_LIMBS, den, EXPONENT_DEN_LIMBS, rem);
	if (quot[1] != 0)
	{
		dp_limbs_shr(shifted, quot, EXPONENT_NUM_LIMBS, 1);
		g->kappa = shifted[0];
		g->kappa_shift--;
	}
	else
		g->kappa = quot[0];
}

/* Returns how often the height of bin s > 0 is in its stretch: signs, and the tail. */
static inline int
stretches(const dp_gauss *g, int s)
{
	return (g->width_bits == 0 ? 2 : 1) * (s == DP_GAUSS_BINS ? 2 : 1);
}

bool
dp_gauss_init(dp_gauss *g, const dp_variance *v)
{
	uint64_t	exp64[DP_GAUSS_BINS + 1];
	dp_u128		area;
	dp_u128		whole;
	int			s;

	/* 1e-4 <= num / den <= 2^120, without overflow */
	if (v->num == 0 || v->den == 0 ||
		v->num < v->den / 10000 + (v->den % 10000 != 0))
		return false;
	whole = v->num / v->den;
	if (whole + (v->num % v->den != 0) > (dp_u128) 1 << 120)
		return false;

	memset(g, 0, sizeof(*g));
	g->variance = *v;
	init_kappa(g);

	/* the largest w = 2^width_bits with 16 w^2 <= sigma^2, or 1 */
	if (whole >= 16)
		g->width_bits = (dp_bitlen128(whole) - 5) / 2;

	/*
	 * The scale: as large as the sum of all stretches allows.  A height is at
	 * most C (exp64 + error) / 2^64 + 1, the tail's counts twice, and those
	 * of both signs again.
	 */
	area = 0;
	for (s = 1; s <= DP_GAUSS_BINS; s++)
	{
		exp64[s] = dp_exp64(exponent64(g, (uint64_t) s << g->width_bits));
		area += (dp_u128) stretches(g, s) * (exp64[s] + DP_EXP64_ERROR);
	}
	area += (dp_u128) 1 << 64;
	g->scale = (uint64_t) ((((((dp_u128) 1) << 64) - 2 * (DP_GAUSS_BINS + 3)) << 64) / area);
	/* all edges even, for try_narrow */
	g->scale &= ~UINT64_C(1);

	/* at 0 the curve is the scale, exactly */
	g->edge[1] = g->scale;
	for (s = 1; s <= DP_GAUSS_BINS; s++)
		g->edge[s + 1] = g->edge[s] + stretches(g, s) * curve_ceiling(g, exp64[s]);
	g->edge[DP_GAUSS_BINS + 2] = ~UINT64_C(0);
	return true;
}
