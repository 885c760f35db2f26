/*-------------------------------------------------------------------------
 *
 * rdp.c
 *	  Renyi differential privacy, by order alpha.
 *
 * Invariants: t = alpha - 1, which is exact up to alpha = 2, is what is
 * computed with: ln(1 - 1/alpha) = -ln(1 + 1/t) and ln alpha = ln(1 + t).
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "calc/rdp.h"

double
dp_gaussian_rdp(double alpha, double sensitivity, double sigma)
{
	double		ratio = sensitivity / sigma;

	/* neither product leaves the range of doubles unless the result does */
	return 0.5 * ((alpha * ratio) * ratio);
}

double
dp_zcdp_to_rdp(double alpha, double rho, double xi)
{
	return xi + rho * alpha;
}

/*
 * With h = epsilon / 2 and z = t epsilon, cosh(h + z) / cosh(h) = 1 + q where
 * q = 2 sinh(z/2)^2 + sinh(z) tanh(h), a sum of positive terms.  Large z would
 * overflow: ln(cosh(h + z) / cosh(h)) = z + ln(1 + e^-2(h+z)) - ln(1 + e^-2h).
 * Small z could underflow before the division by t: there, ln(1 + q) = q.
 */
double
dp_pure_to_rdp(double alpha, double epsilon)
{
	double		t = alpha - 1;
	double		h = 0.5 * epsilon;
	double		z = t * epsilon;
	double		half,
				q;

	if (z > 1)
		return epsilon + (log1p(exp(-2 * (h + z))) - log1p(exp(-2 * h))) / t;
	half = sinh(0.5 * z);
	q = 2 * half * half + sinh(z) * tanh(h);
	if (q < 1e-17)
		return epsilon * (0.5 * z + tanh(h));
	return log1p(q) / t;
}

/* Returns ln(1 + 1/t), for any t > 0. */
static double
log_ratio(double t)
{
	return t < 1 ? log1p(t) - log(t) : log1p(1 / t);
}

double
dp_rdp_epsilon(double alpha, double rdp_epsilon, double delta)
{
	double		t = alpha - 1;
	double		result;

	if (delta <= 0)
		return HUGE_VAL;
	result = rdp_epsilon - log_ratio(t) + (-log(delta) - log1p(t)) / t;
	return result > 0 ? result : 0;
}

double
dp_rdp_epsilon_simple(double alpha, double rdp_epsilon, double delta)
{
	return rdp_epsilon - log(delta) / (alpha - 1);
}

double
dp_rdp_delta(double alpha, double rdp_epsilon, double target_epsilon)
{
	double		t = alpha - 1;
	double		result = exp(t * (rdp_epsilon - target_epsilon) - t * log_ratio(t)) / alpha;

	return result < 1 ? result : 1;
}

double
dp_rdp_delta_simple(double alpha, double rdp_epsilon, double target_epsilon)
{
	double		result = exp((alpha - 1) * (rdp_epsilon - target_epsilon));

	return result < 1 ? result : 1;
}

typedef double (*order_bound) (double alpha, double rdp_epsilon, double target);

static double
best_order(order_bound bound, const double *alpha, const double *rdp_epsilon, int n, double target,
		   double best)
{
	int			i;

	for (i = 0; i < n; i++)
		best = fmin(best, bound(alpha[i], rdp_epsilon[i], target));
	return best;
}

double
dp_rdp_curve_epsilon(const double *alpha, const double *rdp_epsilon, int n, double delta)
{
	return best_order(dp_rdp_epsilon, alpha, rdp_epsilon, n, delta, HUGE_VAL);
}

double
dp_rdp_curve_epsilon_simple(const double *alpha, const double *rdp_epsilon, int n, double delta)
{
	return best_order(dp_rdp_epsilon_simple, alpha, rdp_epsilon, n, delta, HUGE_VAL);
}

double
dp_rdp_curve_delta(const double *alpha, const double *rdp_epsilon, int n, double target_epsilon)
{
	return best_order(dp_rdp_delta, alpha, rdp_epsilon, n, target_epsilon, 1);
}

double
dp_rdp_curve_delta_simple(const double *alpha, const double *rdp_epsilon, int n, double target_epsilon)
{
	return best_order(dp_rdp_delta_simple, alpha, rdp_epsilon, n, target_epsilon, 1);
}
