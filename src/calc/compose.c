/*-------------------------------------------------------------------------
 *
 * compose.c
 *	  What several mechanisms on the same data are together.
 *
 * Invariants: sums carry what their roundings lost (Neumaier's method), so
 * their error does not grow with the number of terms; squares are taken of
 * terms scaled by a power of 2, so that they neither overflow nor vanish.
 * Totals that overflow become infinite, never NaN.
 *
 * Advanced composition
 * --------------------
 * The loss Z of mechanisms that are epsilon_i-DP has a mean of at most mean, the sum of epsilon_i tanh(epsilon_i / 2)
 * (dp_pure_to_mcdp), and less its mean it is norm-subgaussian (Hoeffding; dp_compose_mcdp), norm^2 the sum of
 * epsilon_i^2.  So for s >= 0 the delta of epsilon = mean + s norm, which is the mean of max(0, 1 - e^(epsilon - Z)),
 * is the integral of e^-x Pr[Z > epsilon + x] over x >= 0, and
 *
 *		delta <= integral of e^-x exp(-(s + x / norm)^2 / 2) <= exp(-s^2 / 2) norm / (norm + s).
 *
 * With s^2 = 2 ln(1 / delta_slack) that is at most delta_slack.  So it is with s^2 = 2 ln(e + norm / delta_slack),
 * where exp(-s^2 / 2) is at most delta_slack / norm, and s > 1.
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
#include <stddef.h>

#include "calc/compose.h"

void
dp_sum_add(DpSum *sum, double x)
{
	double		total = sum->high + x;

	if (!(fabs(total) <= DBL_MAX))
	{
		/* opposite infinities of merged parts: the larger is on the safe side */
		sum->high = total == total ? total : HUGE_VAL;
		sum->low = 0;
		return;
	}
	if (fabs(sum->high) >= fabs(x))
		sum->low += (sum->high - total) + x;
	else
		sum->low += (x - total) + sum->high;
	sum->high = total;
}

void
dp_sum_merge(DpSum *sum, const DpSum *other)
{
	dp_sum_add(sum, other->high);
	if (fabs(sum->high) <= DBL_MAX)
		sum->low += other->low;
}

double
dp_sum_total(const DpSum *sum)
{
	return sum->high + sum->low;
}

/* Scales a sum by a power of 2, at most 1. */
static void
scale_sum(DpSum *sum, double factor)
{
	sum->high *= factor;
	sum->low *= factor;
}

/* Makes scale at least that of x, which is the power of 2 above it. */
static void
norm_reach(DpNorm *norm, double scale)
{
	if (scale > norm->scale)
	{
		double		ratio = norm->scale / scale;

		scale_sum(&norm->squares, ratio * ratio);
		norm->scale = scale;
	}
}

void
dp_norm_add(DpNorm *norm, double x)
{
	int			exponent;

	if (x == 0)
		return;
	frexp(x, &exponent);
	/* the largest power of 2 is 2^1023; x scaled by it is below 2 */
	norm_reach(norm, ldexp(1, exponent < 1023 ? exponent : 1023));
	x /= norm->scale;
	dp_sum_add(&norm->squares, x * x);
}

void
dp_norm_merge(DpNorm *norm, const DpNorm *other)
{
	DpSum		squares = other->squares;
	double		ratio;

	if (other->scale == 0)
		return;
	norm_reach(norm, other->scale);
	ratio = other->scale / norm->scale;
	scale_sum(&squares, ratio * ratio);
	dp_sum_merge(&norm->squares, &squares);
}

double
dp_norm_total(const DpNorm *norm)
{
	return norm->scale * sqrt(dp_sum_total(&norm->squares));
}

double
dp_delta_log(double delta)
{
	return log1p(-delta);
}

double
dp_delta_total(const DpSum *logs)
{
	/* not -0 */
	return 0.0 - expm1(dp_sum_total(logs));
}

static double
sum_list(const double *x, int n)
{
	DpSum		sum = {0};
	int			i;

	for (i = 0; i < n; i++)
		dp_sum_add(&sum, x[i]);
	return dp_sum_total(&sum);
}

static double
norm_list(const double *x, int n)
{
	DpNorm		norm = {0};
	int			i;

	for (i = 0; i < n; i++)
		dp_norm_add(&norm, x[i]);
	return dp_norm_total(&norm);
}

void
dp_compose_zcdp(const double *rho, const double *xi, int n, double *sum_rho, double *sum_xi)
{
	*sum_rho = sum_list(rho, n);
	*sum_xi = xi != NULL ? sum_list(xi, n) : 0;
}

void
dp_compose_mcdp(const double *mu, const double *tau, int n, double *sum_mu, double *norm_tau)
{
	*sum_mu = sum_list(mu, n);
	*norm_tau = norm_list(tau, n);
}

double
dp_compose_gdp(const double *mu, int n)
{
	return norm_list(mu, n);
}

double
dp_compose_rdp(const double *epsilon, int n)
{
	return sum_list(epsilon, n);
}

double
dp_compose_delta(const double *delta, int n)
{
	DpSum		logs = {0};
	int			i;

	for (i = 0; i < n; i++)
		dp_sum_add(&logs, dp_delta_log(delta[i]));
	return dp_delta_total(&logs);
}

double
dp_compose_delta_k(double delta, int64_t k)
{
	/* not 0 times infinity */
	if (k == 0)
		return 0;
	return 0.0 - expm1((double) k * dp_delta_log(delta));
}

void
dp_compose_basic(double epsilon, double delta, int64_t k, double *sum_epsilon, double *sum_delta)
{
	*sum_epsilon = (double) k * epsilon;
	*sum_delta = fmin(1, (double) k * delta);
}

static double
advanced(double epsilon, double delta_slack, int64_t k, double mean)
{
	/* not 0 times infinity */
	if (epsilon == 0 || k == 0)
		return 0;
	return sqrt(-2 * (double) k * log(delta_slack)) * epsilon + (double) k * mean;
}

/*
 * Returns the smallest of the three bounds: the plain sum of the epsilons, and with the sum of mean losses and
 * the root of the sum of squares, norm, mean + norm sqrt(2 ln(e + norm / delta_slack)) and
 * mean + norm sqrt(2 ln(1 / delta_slack)).
 */
static double
least_advanced(double plain, double mean, double norm, double delta_slack)
{
	double		inside;

	if (norm == 0 || delta_slack <= 0)
		return plain;
	inside = norm / delta_slack;
	inside = inside < DBL_MAX ? log(M_E + inside) : log(norm) - log(delta_slack);
	inside = fmin(inside, -log(delta_slack));
	return fmin(plain, mean + norm * sqrt(2 * inside));
}

double
dp_compose_advanced_kov(double epsilon, double delta_slack, int64_t k)
{
	double		size = (double) k;

	return least_advanced(size * epsilon, size * (epsilon * tanh(0.5 * epsilon)), sqrt(size) * epsilon, delta_slack);
}

double
dp_compose_advanced_dr16(double epsilon, double delta_slack, int64_t k)
{
	return advanced(epsilon, delta_slack, k, 0.5 * epsilon * expm1(epsilon));
}

double
dp_compose_advanced_drv10(double epsilon, double delta_slack, int64_t k)
{
	return advanced(epsilon, delta_slack, k, epsilon * expm1(epsilon));
}

double
dp_compose_advanced_delta(double delta, double delta_slack, int64_t k)
{
	/* not 0 times infinity */
	return 0.0 - expm1((k > 0 ? (double) k * dp_delta_log(delta) : 0) + dp_delta_log(delta_slack));
}

double
dp_compose_advanced_list(const double *epsilon, int n, double delta_slack)
{
	DpSum		mean = {0};
	int			i;

	for (i = 0; i < n; i++)
		dp_sum_add(&mean, epsilon[i] * tanh(0.5 * epsilon[i]));
	return least_advanced(sum_list(epsilon, n), dp_sum_total(&mean), norm_list(epsilon, n), delta_slack);
}

double
dp_compose_advanced_delta_list(const double *delta, int n, double delta_slack)
{
	DpSum		logs = {0};
	int			i;

	for (i = 0; i < n; i++)
		dp_sum_add(&logs, dp_delta_log(delta[i]));
	dp_sum_add(&logs, dp_delta_log(delta_slack));
	return dp_delta_total(&logs);
}
