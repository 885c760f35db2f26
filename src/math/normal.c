/*-------------------------------------------------------------------------
 *
 * normal.c
 *	  The quantiles of the standard normal law, and its Mills ratio.
 *
 * Invariants: no difference of two nearly equal numbers is ever taken.  With
 * the Mills ratio M = Q / density and its derivatives, which alternate in
 * sign, everything is a sum of positive terms:
 *
 *		M(x) = Integral over t > 0 of exp(-xt - t^2 / 2)
 *		z_n = |M^(n)(x)| / n! = Integral of t^n / n! exp(-xt - t^2 / 2)
 *		z_(n-1) = x z_n + (n+1) z_(n+1)
 *
 * The recurrence (integrate by parts), run downwards from any start far
 * enough up, gives the z_n but for a factor (Miller's algorithm: it is
 * Laplace's continued fraction without its divisions), and z_1 = 1 - x z_0
 * gives the factor.
 *
 * The inverse takes two or three steps of Halley's method on ln Q.
 *
 * Exponents are formed with a fused multiply-add, since an error of an ulp in
 * x^2 / 2 = 700 is one of 1e-13 in the density.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdbool.h>

#include "normal.h"
#include "normal_core.h"

#define SQRT_HALF		0.70710678118654752440
#define SQRT_HALF_LOW	-4.833646656726457e-17	/* 1/sqrt(2) - SQRT_HALF */

double
dp_normal_tail_of_sum(double high, double low)
{
	double		y,
				y_low;

	if (fabs(high) > DP_NORMAL_FAR)
		return high > 0 ? 0 : 1;

	/* erfc multiplies its argument's error by up to 2 y^2 */
	y = high * SQRT_HALF;
	y_low = fma(high, SQRT_HALF, -y) + high * SQRT_HALF_LOW + low * SQRT_HALF;
	return 0.5 * (erfc(y) - 1.12837916709551257390 * exp(-y * y) * y_low);
}

/*
 * Sets the coefficients by Miller's algorithm.  The start's error decreases
 * like that of the continued fraction, whose tail is approximated by its fixed
 * point (with the first correction for its drift); terms is what makes it
 * vanish in double precision, and what the Taylor series with h <= 1/2 needs.
 */
int
dp_normal_mills_terms(double x, double *z)
{
	int			terms = (int) (10 + (30 + 140 / x) / x);
	double		n = terms + 1;
	double		root = sqrt(x * x + 4 * n);
	double		drift = 0.5 * (1 - x / root);
	double		ratio = 2 * (n - drift) / (x + sqrt(x * x + 4 * (n - drift)));
	double		scale;
	int			i;

	/* ratio = |M^(n)| / |M^(n-1)| */
	z[terms] = 1;
	z[terms + 1] = ratio / n;
	for (i = terms; i > 0; i--)
		z[i - 1] = x * z[i] + (i + 1) * z[i + 1];

	scale = 1 / (x * z[0] + z[1]);
	for (i = 0; i <= terms; i++)
		z[i] *= scale;
	return terms;
}

double
dp_normal_mills(double x)
{
	double		z[DP_MILLS_TERMS];
	double		tail;
	double		head;

	if (x >= 1e8)
		return 1 / x;
	if (x >= DP_MILLS_FROM)
	{
		dp_normal_mills_terms(x, z);
		return z[0];
	}
	if (x < -DP_NORMAL_FAR)
		return HUGE_VAL;
	head = dp_half_square(x, 0, &tail);
	return dp_normal_tail_of_sum(x, 0) / DP_INV_SQRT_2PI * exp(head) * (1 + tail);
}

double
dp_normal_tail_inverse(double q)
{
	bool		mirrored = q > 0.5;
	double		t,
				x;
	int			i;

	if (mirrored)
		q = 1 - q;
	if (q <= 0)
		return mirrored ? -HUGE_VAL : HUGE_VAL;
	if (q == 0.5)
		return 0;

	/* Abramowitz and Stegun 26.2.23: within 4.5e-4 */
	t = sqrt(-2 * log(q));
	x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
		(1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));

	/* Halley's method on ln Q, which is nearly a parabola: cubic */
	for (i = 0; i < 3; i++)
	{
		double		mills = dp_normal_mills(x);
		double		excess = q < 1e-200 ?
		log(mills) - DP_LOG_SQRT_2PI - 0.5 * x * x - log(q) :
		log(dp_normal_tail_of_sum(x, 0) / q);
		double		step = excess * mills;

		/* (ln Q)' = -1/M, (ln Q)'' = (x - 1/M) / M */
		step /= 1 - 0.5 * excess * (x * mills - 1);
		x += step;
		if (fabs(step) <= 1e-7 * (fabs(x) + 1e-9))
			break;
	}
	return mirrored ? -x : x;
}
