/*-------------------------------------------------------------------------
 *
 * group.c
 *	  What a group of k people gets from a mechanism that protects one.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>

#include "calc/convert.h"
#include "calc/group.h"

#define EULER_GAMMA 0.57721566490153286061

/* up to here harmonic numbers are summed */
#define SUM_MAX		32

/*
 * Returns 1 + 1/2 + .. + 1/k.  Beyond SUM_MAX by its asymptotic series, whose
 * error is below the first term left out, k^-6 / 252 < 4e-12 k^-1 / 252 at k =
 * 32 with the term itself included: k^-8 / 240 < 4e-15.
 */
static double
harmonic(int64_t k)
{
	double		x = (double) k;
	double		square;
	double		sum = 0;

	if (k <= SUM_MAX)
	{
		/* the smallest first */
		for (; k > 0; k--)
			sum += 1.0 / (double) k;
		return sum;
	}
	square = 1 / (x * x);
	return log(x) + EULER_GAMMA + (0.5 / x - square * (1.0 / 12 - square * (1.0 / 120 - square / 252)));
}

void
dp_group_zcdp(double rho, int64_t k, double xi, double *group_rho, double *group_xi)
{
	double		size = (double) k;

	*group_rho = size * (size * rho);
	*group_xi = size * xi;
	if (rho != 0)
		*group_xi *= harmonic(k);
}

void
dp_group_mcdp(double mu, double tau, int64_t k, double *group_mu, double *group_tau)
{
	double		size = (double) k;

	*group_mu = size * (size * mu);
	*group_tau = size * tau;
}

void
dp_group_mcdp_general(double mu, double tau, int64_t k, double *group_mu, double *group_tau)
{
	double		rho,
				xi;

	*group_mu = mu;
	*group_tau = tau;
	if (k == 1)
		return;
	dp_mcdp_to_zcdp(mu, tau, &rho, &xi);
	dp_group_zcdp(rho, k, fmax(0, xi), &rho, &xi);
	dp_zcdp_to_mcdp(rho, xi, group_mu, group_tau);
	/* of less than ten roundings */
	*group_mu *= 1 + 16 * DBL_EPSILON;
	*group_tau *= 1 + (16 + 8 * fmin(xi + 2 * rho, 2)) * DBL_EPSILON;
}

void
dp_group_gaussian(double sensitivity, double sigma, int64_t k, double *group_mu, double *group_tau)
{
	double		size = (double) k;
	double		whole = size * sensitivity;

	*group_tau = whole < HUGE_VAL ? whole / sigma : size * (sensitivity / sigma);
	*group_mu = 0.5 * *group_tau * *group_tau;
}

double
dp_group_gdp(double mu, int64_t k)
{
	return (double) k * mu;
}

double
dp_group_pure(double epsilon, int64_t k)
{
	return (double) k * epsilon;
}

/*
 * Returns min(1, factor e^((k-1) epsilon)), factor a product of delta.  The
 * power is taken in two halves, which do not overflow before the result is
 * beyond 1: its other factor is at least the smallest double.
 */
static double
times_power(double factor, double epsilon, int64_t k)
{
	double		size = (double) (k - 1);
	double		exponent = size * epsilon;
	double		half;

	if (factor == 0)
		return 0;
	if (exponent > 1400)
		return 1;
	half = exp(0.5 * exponent);
	/* the product above has lost some, which the power would magnify */
	factor *= 1 + fma(size, epsilon, -exponent);
	factor *= half;
	return factor < 1 / half ? factor * half : 1;
}

double
dp_group_approx_delta_standard(double epsilon, double delta, int64_t k)
{
	return times_power((double) k * delta, epsilon, k);
}

/* Returns (e^(k eps) - 1) / (e^eps - 1) = e^((k-1) eps) (1 - e^(-k eps)) / (1 - e^-eps). */
double
dp_group_approx_delta(double epsilon, double delta, int64_t k)
{
	double		below = expm1(-epsilon);

	/* too small to tell e^epsilon from 1 + epsilon */
	if (below == 0)
		return fmin(1, (double) k * delta);
	return times_power(delta * (expm1(-(double) k * epsilon) / below), epsilon, k);
}
