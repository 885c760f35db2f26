/*-------------------------------------------------------------------------
 *
 * zcdp.c
 *	  Conversions between zCDP and (epsilon, delta), with directed rounding.
 *
 * CKS Proposition 12: rho-zCDP implies (epsilon, delta)-DP if, for some
 * t > 0 (their alpha is 1 + t),
 *
 *		ln delta >= t ((1+t) rho - epsilon) + t ln(t / (1+t)) - ln(1+t).	(*)
 *
 * Solved for delta, epsilon or rho, (*) is a bound for *every* t, and flat at
 * the best one.  So each conversion has two steps: find t nearly, by
 * bisection of the derivative's zero, then evaluate (*) at just that t.  An
 * inexact t costs an error of second order, and in the safe direction.
 *
 * Invariants: the _up and _down variants move the result outwards by more
 * than evaluating (*) can be wrong, taking every function of libm and every
 * operation to be within LIBM_ULPS units in the last place.  t, not 1 + t, is
 * what is looked for, because a small t would drown in the 1.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>

#include "zcdp.h"

/* glibc documents at most 2 for the functions used; sums of 4 terms add 3 */
#define LIBM_ULPS	8.0

/* arguments of a conversion, for the functions whose zero is looked for */
typedef struct conversion
{
	double		rho;
	double		epsilon;
	double		log_inv_delta;	/* ln(1/delta) >= 0 */
} conversion;

typedef double (*rising) (double t, const conversion *c);

/*
 * The zero of a function that rises with t, over all positive doubles.
 * Bisects ln t, which needs some 60 steps for full precision whatever the
 * scale; one of the ends if there is no zero.
 */
static double
find_t(rising f, const conversion *c)
{
	double		low = -745,
				high = 709;

	for (;;)
	{
		double		mid = 0.5 * (low + high);

		if (mid <= low || mid >= high)
			break;
		if (f(exp(mid), c) < 0)
			low = mid;
		else
			high = mid;
	}
	return exp(0.5 * (low + high));
}

/* ln((1+t) / t), for any t > 0 */
static double
log_ratio(double t)
{
	return t < 1 ? log1p(t) - log(t) : log1p(1 / t);
}

/*
 * delta: the right side of (*) is least where
 * (2t+1) rho - epsilon = ln(1 + 1/t).
 */
static double
delta_slope(double t, const conversion *c)
{
	return (2 * t + 1) * c->rho - c->epsilon - log_ratio(t);
}

/* ln delta at the best t, and how far it may be off */
static double
log_delta(double rho, double epsilon, double *error)
{
	conversion	c = {rho, epsilon, 0};
	double		t = find_t(delta_slope, &c);
	double		linear = t * ((1 + t) * rho - epsilon);
	double		ratio = t * log_ratio(t);
	double		last = log1p(t);

	*error = LIBM_ULPS * DBL_EPSILON *
		(t * (1 + t) * rho + t * fabs(epsilon) + ratio + last);
	return linear - ratio - last;
}

double
dp_zcdp_delta(double rho, double epsilon)
{
	double		error;
	double		result;

	if (rho == 0)
		return epsilon >= 0 ? 0 : -expm1(epsilon);
	result = exp(log_delta(rho, epsilon, &error));
	return result < 1 ? result : 1;
}

double
dp_zcdp_delta_up(double rho, double epsilon)
{
	double		error;
	double		result;

	if (rho == 0)
		return epsilon >= 0 ? 0 : fmin(1, -expm1(epsilon) * (1 + LIBM_ULPS * DBL_EPSILON));
	result = log_delta(rho, epsilon, &error);
	/* not 0 where the truth is positive but below the smallest double */
	result = exp(result + error) * (1 + LIBM_ULPS * DBL_EPSILON) + DBL_MIN;
	return result < 1 ? result : 1;
}

/*
 * epsilon: (*) as epsilon >= rho (1+t) + (ln(1/delta) - ln(1+t)) / t -
 * ln(1 + 1/t) is least where rho t^2 + ln(1+t) = ln(1/delta).
 */
static double
epsilon_slope(double t, const conversion *c)
{
	return c->rho * t * t + log1p(t) - c->log_inv_delta;
}

static double
epsilon_at_best(double rho, double delta, double *error)
{
	conversion	c = {rho, 0, -log(delta)};
	double		t = find_t(epsilon_slope, &c);
	double		linear = rho * (1 + t);
	double		budget = c.log_inv_delta / t;
	double		spent = log1p(t) / t;
	double		ratio = log_ratio(t);

	*error = LIBM_ULPS * DBL_EPSILON * (linear + budget + spent + ratio);
	return linear + (c.log_inv_delta - log1p(t)) / t - ratio;
}

double
dp_zcdp_epsilon_raw(double rho, double delta)
{
	double		error;

	/* ln(1 - delta) is the smallest epsilon for two equal distributions */
	if (rho == 0)
		return log1p(-delta);
	if (delta <= 0)
		return HUGE_VAL;
	if (delta >= 1)
		return -HUGE_VAL;
	return epsilon_at_best(rho, delta, &error);
}

double
dp_zcdp_epsilon(double rho, double delta)
{
	double		result = dp_zcdp_epsilon_raw(rho, delta);

	return result > 0 ? result : 0;
}

double
dp_zcdp_epsilon_up(double rho, double delta)
{
	double		error;
	double		result;

	if (rho == 0 || delta >= 1)
		return 0;
	if (delta <= 0)
		return HUGE_VAL;
	result = epsilon_at_best(rho, delta, &error);
	result = nextafter(result + error, HUGE_VAL);
	return result > 0 ? result : 0;
}

/*
 * rho: (*) as rho <= (epsilon + ln(1 + 1/t) - (ln(1/delta) - ln(1+t)) / t) /
 * (1+t) is largest where t^2 r + ln(1+t) = ln(1/delta), with
 * r = (epsilon + ln(1 + 1/t)) / (2t+1).
 */
static double
rho_slope(double t, const conversion *c)
{
	double		r = (c->epsilon + log_ratio(t)) / (2 * t + 1);

	return t * (t * r) + log1p(t) - c->log_inv_delta;
}

static double
rho_at_best(double epsilon, double delta, double *error)
{
	conversion	c = {0, epsilon, -log(delta)};
	double		t = find_t(rho_slope, &c);
	double		budget = c.log_inv_delta / t;
	double		spent = log1p(t) / t;
	double		ratio = log_ratio(t);

	*error = LIBM_ULPS * DBL_EPSILON *
		((fabs(epsilon) + ratio + budget + spent) / (1 + t));
	return (epsilon + ratio - (c.log_inv_delta - log1p(t)) / t) / (1 + t);
}

double
dp_zcdp_rho(double epsilon, double delta)
{
	double		error;
	double		result;

	if (delta <= 0)
		return 0;
	if (delta >= 1)
		return HUGE_VAL;
	result = rho_at_best(epsilon, delta, &error);
	return result > 0 ? result : 0;
}

double
dp_zcdp_rho_down(double epsilon, double delta)
{
	double		error;
	double		result;

	if (delta <= 0)
		return 0;
	if (delta >= 1)
		return HUGE_VAL;
	result = rho_at_best(epsilon, delta, &error);
	result = nextafter(result - error, 0);
	return result > 0 ? result : 0;
}
