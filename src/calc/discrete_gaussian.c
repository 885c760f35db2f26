/*-------------------------------------------------------------------------
 *
 * discrete_gaussian.c
 *	  What the discrete Gaussian mechanism guarantees.
 *
 * With w(y) = exp(-y^2 / 2 sigma^2), D the sensitivity and Z the sum of w over
 * all integers, CKS Theorem 7 is (their sum turned around, y for -y)
 *
 *		delta = Sum over y > y0 of w(y) (1 - e^-f(y)) / Z
 *		f(y) = D (2y + D) / 2 sigma^2 - epsilon, zero at y0
 *
 * All terms are positive, and vanish linearly towards y0: taking the first y
 * off by one where y0 is nearly an integer changes nothing.
 *
 * Up to SUM_SIGMA_MAX they are added up.  From there on the sum is the
 * integral, which is a difference of normal tails, and four terms of the
 * Euler-Maclaurin formula; each is smaller than the one before by (u / 2 pi
 * sigma)^2, where u <= 39 is how many sigmas out the sum begins.  What is
 * neglected is below 1e-17 of the result.
 *
 * delta does not always fall with sigma, so there is no inverse.
 *
 * Invariants: f(y) is computed with both products exact, for it is their
 * small difference; exponents are relative to the largest term's.  Loops are
 * bounded by the range in which w is not 0.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "calc/discrete_gaussian.h"
#include "calc/gaussian.h"
#include "calc/tail_pair.h"

#define SQRT_2PI		2.50662827463100050242
#define TWO_PI_SQUARED	19.7392088021787172376

/* w is 0 beyond so many sigmas */
#define FAR				39.0

#define SUM_SIGMA_MAX	512.0

/* beyond, noise is 0 with a probability of 1 - 2^-700000 */
#define SIGMA_MIN		1e-3

/*
 * Here the steps are so small that what the integers add to the integral,
 * some 1 / 12 sigma^2 of the density, is far below an ulp.
 */
#define CONTINUOUS		1e11

/* products beyond are no longer exact, nor do they matter */
#define SENSITIVITY_MAX 1e15

/* Returns 1 / (the Poisson sum's, or the plain sum's) normalising constant. */
static double
normaliser(double sigma)
{
	double		sum = 0;
	int			k;

	if (sigma < 0.4)
	{
		for (k = 5; k > 0; k--)
			sum += exp(-0.5 * (k / sigma) * (k / sigma));
		return 1 + 2 * sum;
	}
	for (k = 5; k > 0; k--)
		sum += exp(-TWO_PI_SQUARED * sigma * sigma * k * k);
	return sigma * SQRT_2PI * (1 + 2 * sum);
}

/* Returns f(y), rounding once the rest of the two products' difference. */
static double
excess_loss(double y, double sensitivity, double sigma, double epsilon)
{
	double		square = sigma * sigma;
	double		square_low = fma(sigma, sigma, -square);
	double		factor = 2 * y + sensitivity;
	double		left = sensitivity * factor;
	double		left_low = fma(sensitivity, factor, -left);
	double		right = 2 * epsilon * square;
	double		right_low = fma(2 * epsilon, square, -right) + 2 * epsilon * square_low;

	if (sensitivity > SENSITIVITY_MAX)
	{
		double		from_zero = y + 0.5 * sensitivity - epsilon * sigma / sensitivity * sigma;

		/* not 0 times Infinity */
		return from_zero == 0 ? 0 : from_zero * (sensitivity / sigma) / sigma;
	}
	return ((left - right) + (left_low - right_low)) / (2 * square);
}

/* Returns exp(-y^2 / 2 sigma^2), without the error of rounding the quotient. */
static double
weight(double y, double sigma)
{
	double		square = sigma * sigma;
	double		square_low = fma(sigma, sigma, -square);
	double		y2 = y * y;
	double		quotient = y2 / square;
	double		low = (fma(-quotient, square, y2) - quotient * square_low) / square;

	return exp(-0.5 * quotient) * (1 - 0.5 * low);
}

/* Returns the sum from first on; f_first is f there, step what f grows by. */
static double
plain_sum(double first, double f_first, double step, double sigma)
{
	double		peak = first > 0 ? first : 0;
	double		last = peak + ceil(FAR * sigma) + 1;
	double		half_inverse = 0.5 / sigma / sigma;
	double		sum = 0,
				carry = 0,
				before = 0;
	double		y;

	for (y = first; y <= last; y++)
	{
		double		f = y == first ? f_first : f_first + (y - first) * step;
		double		term = -expm1(-f) * exp(-(y - peak) * (y + peak) * half_inverse);
		double		added = term + carry;
		double		next = sum + added;

		/* compensated: there may be 40,000 terms */
		carry = added - (next - sum);
		sum = next;

		/*
		 * The terms are log-concave, so what is left is less than a geometric
		 * series with the ratio of the last two.
		 */
		if (term < before && term * term < (before - term) * sum * 1e-18)
			break;
		before = term;
	}
	return sum * weight(peak, sigma) / normaliser(sigma);
}

/*
 * Returns the corrections of the sum.  He_k(u) density(u) is minus the derivative's sign times the kth derivative
 * of the density.  Euler-Maclaurin corrections of the sum over the integers
 * from sigma u on, of exp(-y^2 / 2 sigma^2) / (sigma sqrt(2 pi)), in units of
 * the density at u.
 */
static double
corrections(double u, double sigma)
{
	/* B_(k+1) / (k+1)!, k = 1, 3, 5, 7 */
	static const double bernoulli[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600};
	double		hermite = 1,
				hermite_next = u,
				inverse = 1 / sigma,
				power = inverse * inverse,
				sum = 0;
	int			i;

	for (i = 0; i < 4; i++)
	{
		int			m;

		sum += bernoulli[i] * hermite_next * power;
		power *= inverse * inverse;
		for (m = 2 * i + 1; m <= 2 * i + 2; m++)
		{
			double		next = u * hermite_next - m * hermite;

			hermite = hermite_next;
			hermite_next = next;
		}
	}
	return sum;
}

/* Returns the sum that plain_sum() does, for large sigma. */
static double
smooth_sum(double first, double f_first, double sensitivity, double sigma)
{
	double		u = first / sigma;
	double		v = (first + sensitivity) / sigma;
	double		missing = -expm1(-f_first);
	double		kept = 1 - missing;
	double		result;
	int			j;

	if (u < -FAR)
		return 1;
	if (v <= 0.15 * sigma)
	{
		double		width = sensitivity / sigma;
		double		width_low = fma(-width, sigma, sensitivity) / sigma;
		double		middle = first + 0.5 * sensitivity;
		double		centre = middle / sigma;
		double		centre_low = fma(-centre, sigma, middle) / sigma;
		dp_tail_pair pair;

		/* f_first > 0 where the pair has 0 */
		dp_normal_tail_pair(centre, centre_low - 0.5 * width_low, width, &pair);
		result = pair.drop + missing * pair.second;
		result += pair.density *
			(missing / (2 * sigma) + corrections(u, sigma) - kept * corrections(v, sigma));
		return result;
	}

	/*
	 * The second sum falls too fast to be an integral.  The two are far apart
	 * (by 40 sigmas and more), so their difference loses nothing.
	 */
	result = 0;
	for (j = 250; j >= 0; j--)
		result += exp(-j * (v / sigma) - 0.5 * (j / sigma) * (j / sigma));
	return dp_normal_tail(u) + dp_normal_density(u) *
		(1 / (2 * sigma) + corrections(u, sigma) - kept * result / sigma);
}

double
dp_discrete_gaussian_delta(double sensitivity, double sigma, double epsilon)
{
	double		step = sensitivity / sigma / sigma;
	double		zero,
				first,
				f_first,
				result;

	if (sensitivity <= 0)
		return 0;
	if (sigma >= CONTINUOUS)
		return dp_gaussian_delta(sensitivity, sigma, epsilon);
	if (sigma < SIGMA_MIN)
	{
		double		mu = sensitivity / sigma;
		double		f = 0.5 * mu * mu - epsilon;

		return f > 0 ? -expm1(-f) : 0;
	}

	zero = epsilon * (sigma / sensitivity) * sigma - 0.5 * sensitivity;
	if (zero > FAR * sigma)
		return 0;
	first = fmax(ceil(zero), -ceil(FAR * sigma) - 1);
	f_first = excess_loss(first, sensitivity, sigma, epsilon);
	if (f_first < 0)
	{
		/* zero was rounded downwards past an integer */
		first++;
		f_first = fmax(0, excess_loss(first, sensitivity, sigma, epsilon));
	}

	if (sigma < SUM_SIGMA_MAX)
		result = plain_sum(first, f_first, step, sigma);
	else
		result = smooth_sum(first, f_first, sensitivity, sigma);
	return result < 1 ? fmax(0, result) : 1;
}
