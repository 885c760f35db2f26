/*-------------------------------------------------------------------------
 *
 * calibrate.c
 *	  From sensitivity and rho to the variance of the noise, and from delta
 *	  to the threshold of a private key selection.
 *
 * Invariants: the variance is never below sens2 / (2 rho) and the threshold
 * never below what delta needs.  The variance is found with integers alone.
 * The threshold uses doubles, whose errors are bounded and added against the
 * caller.
 *
 * The variance is the exact rational sens2 / (2 rho) wherever its terms have
 * 128 bits (always, for sens2 up to 2^88), and otherwise the smallest fraction
 * above it that has.
 *
 * The threshold uses P[X >= m] <= Q((m - 1/2) / sigma) from sigma on (convexity,
 * and Poisson summation for the normalising sum), a direct sum for sigma up to
 * 4096, and the union bound over groups.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "calibrate.h"
#include "limbs.h"

/* 1 / (2 rho) = HALF_RHO_ONE / (rho as an amount) */
#define HALF_RHO_ONE	((uint64_t) DP_RHO_ONE / 2)

#define MAX_U128		(~(dp_u128) 0)

/* for the threshold: up to here tails are summed term by term */
#define SUM_SIGMA_MAX	4096.0

/*
 * More than any relative error of a tail computed here.  A tail needed is not
 * below 1e-18 / 2^31, so its exponent is below 64 and carries a few times
 * 64 * 2^-53; the sum has fewer than 2^17 terms and so a relative error below
 * 2^17 * 2^-53 < 2e-11.
 */
#define TAIL_ERROR		1e-10

/* thresholds are below 2^62 */
#define THRESHOLD_MAX	((INT64_C(1) << 62) - 1)

static uint64_t
gcd(uint64_t a, uint64_t b)
{
	while (b != 0)
	{
		uint64_t	r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/*
 * Walks down the Stern-Brocot tree towards x = rem / den, between the
 * neighbours l < x <= u (u starts at 1, l at 0).  Every fraction strictly
 * between two neighbours has a numerator and a denominator at least as large
 * as the sums of theirs, so once l + u is too large no fraction below u is
 * left that fits.  Steps in one direction are taken all at once.
 */
void
dp_fraction_up(dp_u128 whole, uint64_t rem, uint64_t den, dp_u128 max, dp_variance *result)
{
	dp_u128		lp = 0,
				lq = 1,
				up = rem == 0 ? 0 : 1,
				uq = 1;

	if (rem > 0)
	{
		for (;;)
		{
			/* distances of l and u from x, times den lq and den uq */
			dp_u128		below = rem * lq - lp * den;
			dp_u128		above = up * den - rem * uq;
			dp_u128		room,
						steps;

			/* u is x itself */
			if (above == 0)
				break;

			/* u towards l, as long as it stays at or above x and fits */
			steps = above / below;
			room = (max - whole * uq - up) / (whole * lq + lp);
			if (steps > room)
				steps = room;
			up += steps * lp;
			uq += steps * lq;
			above = up * den - rem * uq;
			if (above == 0 || steps == room)
				break;

			/* l towards u, as long as it stays below x */
			steps = (below - 1) / above;
			lp += steps * up;
			lq += steps * uq;

			/* does anything between the two still fit? */
			room = max - whole * uq - up;
			if (room < lp || (room - lp) / whole < lq)
				break;
		}
	}
	result->num = whole * uq + up;
	result->den = uq;
}

bool
dp_calibrate(dp_u128 sens2, int64_t rho, dp_variance *result)
{
	uint64_t	den = (uint64_t) rho;
	uint64_t	mult = HALF_RHO_ONE;
	uint64_t	common;
	uint64_t	sens_limbs[2];
	uint64_t	num[3];
	uint64_t	quot[3];
	uint64_t	rem;
	dp_u128		whole;

	if (sens2 == 0 || sens2 > (dp_u128) 1 << 100 || rho < 1 || rho > DP_RHO_MAX)
		return false;

	/* num / den = sens2 HALF_RHO_ONE / rho in lowest terms */
	common = gcd(mult, den);
	mult /= common;
	den /= common;
	common = gcd((uint64_t) (sens2 % den), den);
	sens2 /= common;
	den /= common;
	dp_limbs_set(sens_limbs, 2, sens2);
	dp_limbs_mul(num, sens_limbs, 2, &mult, 1);

	memcpy(quot, num, sizeof(num));
	rem = dp_limbs_div_small(quot, 3, den);
	whole = ((dp_u128) quot[1] << 64) | quot[0];

	/* sigma > 2^60 */
	if (quot[2] != 0 || whole > (dp_u128) 1 << 120 ||
		(whole == (dp_u128) 1 << 120 && rem > 0))
		return false;

	if (num[2] == 0)
	{
		result->num = ((dp_u128) num[1] << 64) | num[0];
		result->den = den;
	}
	else
		dp_fraction_up(whole, rem, den, MAX_U128, result);

	/* sigma < 0.01 */
	if (whole == 0 && result->num < result->den / 10000 + (result->den % 10000 != 0))
	{
		result->num = 1;
		result->den = 10000;
	}
	return true;
}

/* Tells whether s^2 >= num / den, exactly. */
static bool
square_reaches(double s, const dp_variance *v)
{
	uint64_t	mant[1];
	uint64_t	square[2];
	uint64_t	limbs[2];
	uint64_t	left[8],
				right[8],
				shifted[8];
	int			exponent;

	/* s = mant 2^(exponent - 53) */
	mant[0] = (uint64_t) ldexp(frexp(s, &exponent), 53);
	exponent = 2 * (exponent - 53);

	dp_limbs_mul(square, mant, 1, mant, 1);
	dp_limbs_set(limbs, 2, v->den);
	memset(left, 0, sizeof(left));
	dp_limbs_mul(left, square, 2, limbs, 2);
	dp_limbs_set(right, 8, v->num);
	if (exponent < 0)
	{
		dp_limbs_shl(shifted, right, 8, -exponent);
		return dp_limbs_cmp(left, shifted, 8) >= 0;
	}
	dp_limbs_shl(shifted, left, 8, exponent);
	return dp_limbs_cmp(shifted, right, 8) >= 0;
}

double
dp_variance_sigma(const dp_variance *v)
{
	double		s = sqrt((double) v->num / (double) v->den);

	while (!square_reaches(s, v))
		s = nextafter(s, HUGE_VAL);
	while (square_reaches(nextafter(s, 0), v))
		s = nextafter(s, 0);
	return s;
}

/*
 * Returns an upper bound of P[X >= m] for X ~ N_Z(0, sigma^2), m >= 1,
 * decreasing in m.  Q is the normal upper tail.
 *
 * CKS Proposition 25: P[X >= m] <= Q((m-1) / sigma), always.
 *
 * Where exp(-x^2 / (2 sigma^2)) is convex, that is from x = sigma on, its
 * value at an integer is at most its integral over the unit interval around
 * (Hermite and Hadamard); its sum over all integers is at least
 * sigma sqrt(2 pi) (Poisson summation: all terms are positive).  Hence
 * P[X >= m] <= Q((m - 1/2) / sigma) for m - 1/2 >= sigma.
 */
static double
tail_integral(int64_t m, double sigma)
{
	double		from = (double) m - 0.5;

	if (from < sigma * (1 + TAIL_ERROR))
		from = (double) (m - 1);
	return 0.5 * erfc(from / sigma * M_SQRT1_2) * (1 + TAIL_ERROR);
}

/*
 * Returns the upper bound by summation.  The terms from x on shrink at least
 * by the ratio of the first two, which bounds the rest by a geometric series.
 * The sum over all integers is at least sigma sqrt(2 pi), and at least any
 * part of it.
 */
static double
tail_sum(int64_t m, double sigma)
{
	double		c = 0.5 / (sigma * sigma);
	double		sum = 0;
	double		norm = sqrt(2 * M_PI) * sigma;
	double		part = 1;
	double		x = (double) m;
	int			i;

	for (;;)
	{
		double		term = exp(-c * x * x);
		double		ratio = exp(-c * (2 * x + 1));

		if (term <= 1e-14 * sum * (1 - ratio) || term < 1e-300)
		{
			sum += term / (1 - ratio);
			break;
		}
		sum += term;
		x += 1;
	}
	for (i = 1; i <= 8; i++)
		part += 2 * exp(-c * i * i);
	return sum / (norm > part ? norm : part) * (1 + TAIL_ERROR);
}

bool
dp_threshold(const dp_variance *v, int64_t k, int64_t delta, int64_t *threshold)
{
	double		sigma = dp_variance_sigma(v);
	double		allowed;
	int64_t		low = 0,
				high = 1;

	if (k < 1 || k > INT32_MAX || delta < 1 || delta >= DP_DELTA_ONE)
		return false;

	/* a lone unit's count reaches T = m + 1 when the noise reaches m */
	allowed = (double) delta / (double) DP_DELTA_ONE / (double) k;

	/* the smallest m >= 1 by the integral: above low, at most high */
	while (tail_integral(high, sigma) > allowed)
	{
		low = high;
		if (high >= THRESHOLD_MAX - 1)
			return false;
		high = high > (THRESHOLD_MAX - 1) / 2 ? THRESHOLD_MAX - 1 : 2 * high;
	}
	while (high - low > 1)
	{
		int64_t		mid = low + (high - low) / 2;

		if (tail_integral(mid, sigma) > allowed)
			low = mid;
		else
			high = mid;
	}

	/* where that is not sharp, the sum is quick */
	if (sigma <= SUM_SIGMA_MAX)
	{
		while (high > 1 && tail_sum(high - 1, sigma) <= allowed)
			high--;
	}
	*threshold = high + 1;
	return true;
}

dp_i128
dp_weight_beyond(const dp_i128 *units, const int64_t *weight, int n, int64_t heaviest)
{
	dp_i128		left = heaviest;
	dp_i128		sum = 0;

	for (int i = 0; i < n; i++)
	{
		dp_i128		out = units[i] < left ? units[i] : left;

		left -= out;
		sum += (units[i] - out) * weight[i];
	}
	return sum;
}
