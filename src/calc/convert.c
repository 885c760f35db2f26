/*-------------------------------------------------------------------------
 *
 * convert.c
 *	  Between pure, mean-concentrated and zero-concentrated privacy, and from
 *	  mechanisms to them.
 *
 * Invariants: nothing is computed as a difference of nearly equal numbers
 * where a sum of positive terms, or a series, gives the same.
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

void
dp_mcdp_to_zcdp(double mu, double tau, double *rho, double *xi)
{
	*rho = 0.5 * tau * tau;
	/* rounded once, whatever cancels */
	*xi = fma(-0.5 * tau, tau, mu);
}

void
dp_zcdp_to_mcdp(double rho, double xi, double *mu, double *tau)
{
	double		s = xi + 2 * rho;

	*mu = xi + rho;
	*tau = sqrt(2) * sqrt(expm1(s));
	if (s >= 1)
		*tau = fmin(*tau, 2 * sqrt(M_E - 1) * s);
}

void
dp_approx_curve_to_zcdp(double xi, double rho, double *zcdp_rho, double *zcdp_xi)
{
	*zcdp_rho = 0.25 * rho;
	/* 5 rho^(1/4) is at least 5 rho */
	*zcdp_xi = (xi + (5 * sqrt(sqrt(rho)) - 0.25 * rho)) * (1 + 8 * DBL_EPSILON);
}

double
dp_mcdp_delta(double mu, double tau, double epsilon)
{
	double		scaled;

	if (epsilon < mu)
		return 1;
	if (tau == 0)
		return 0;
	scaled = (epsilon - mu) / tau;
	return exp(-0.5 * scaled * scaled);
}

double
dp_mcdp_epsilon(double mu, double tau, double delta)
{
	/* not 0 times infinity */
	if (tau == 0)
		return mu;
	return mu + tau * sqrt(-2 * log(delta));
}

double
dp_pure_to_zcdp(double epsilon)
{
	return epsilon * tanh(0.5 * epsilon);
}

double
dp_pure_to_zcdp_standard(double epsilon)
{
	return 0.5 * epsilon * epsilon;
}

void
dp_pure_to_mcdp(double epsilon, double *mu, double *tau)
{
	*mu = epsilon * tanh(0.5 * epsilon);
	*tau = epsilon;
}

void
dp_pure_to_mcdp_standard(double epsilon, double *mu, double *tau)
{
	*mu = 0.5 * epsilon * expm1(epsilon);
	*tau = epsilon;
}

double
dp_zcdp_to_pure(double rho, double xi)
{
	return rho == 0 ? xi : HUGE_VAL;
}

/* epsilon + e^-epsilon - 1 is epsilon^2/2 - epsilon^3/6 + .. */
double
dp_laplace_to_zcdp(double epsilon)
{
	double		term,
				sum = 0;
	int			n;

	if (epsilon > 1)
		return epsilon + expm1(-epsilon);
	term = 0.5 * epsilon * epsilon;
	for (n = 3; n < 25; n++)
	{
		sum += term;
		term *= -epsilon / n;
	}
	return sum;
}

double
dp_bounded_range_to_zcdp_standard(double eta)
{
	return eta * (eta / 8);
}

double
dp_bounded_range_to_zcdp(double eta)
{
	return fmin(dp_bounded_range_to_zcdp_standard(eta), dp_pure_to_zcdp(eta));
}

/*
 * With h = eta / 2, eta / (e^eta - 1) = h coth(h) - h = e^-h h / sinh(h), so
 * that the whole is (h coth(h) - 1) + ln(sinh(h) / h), both terms positive;
 * for small h from the series of h cosh(h) - sinh(h) and of sinh(h) - h.
 */
double
dp_bounded_range_to_zcdp_kl(double eta)
{
	double		h = 0.5 * eta;
	double		term = 1,
				above = 0,
				sinh_above = 0;
	int			n;

	if (h >= 20)
		return h - 1 + (h - log(eta));
	if (h >= 2)
		return h / tanh(h) - 1 + log(sinh(h) / h);
	for (n = 1; n < 25; n++)
	{
		term *= h / (2 * n) * (h / (2 * n + 1));
		above += 2 * n * term;
		sinh_above += term;
	}
	return above / (1 + sinh_above) + log1p(sinh_above);
}

void
dp_gaussian_mcdp(double sensitivity, double sigma, double *mu, double *tau)
{
	*tau = sensitivity / sigma;
	*mu = 0.5 * *tau * *tau;
}
