/*-------------------------------------------------------------------------
 *
 * zcdp_bounds.c
 *	  (xi, rho)-zCDP to (epsilon, delta) and back, by each known bound.
 *
 * Notation as in the header: e = epsilon - xi, L = ln(1/delta); and x = (e -
 * rho) / (2 rho), so that (e - rho)^2 / (4 rho) = rho x^2.
 *
 * BS Lemma 3.6 multiplies exp(-rho x^2) by the smallest of 1, sqrt(pi rho),
 * 1 / (1+x) and 2 / (1 + x + sqrt((1+x)^2 + 4 / (pi rho))).  The last is never
 * above the others, so it is the only one computed, and bs36 is one smooth
 * equation: the square root exceeds both 1 + x >= 1 and 2 / sqrt(pi rho).  The
 * closed form is xi + rho where its factor does not reach delta.
 *
 * Invariants: whatever is looked for is bracketed, every search ends after
 * MOST_STEPS.  A bound that holds only from e = rho on is not used below, not
 * even where e rounds to rho.
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
#include <stdbool.h>

#include "calc/zcdp_bounds.h"
#include "math/zcdp_core.h"

#define MOST_STEPS	200

/* a relative step of Newton's method that is the last: the error is its square */
#define NEAR		1e-9

/* Returns a - b, and what that lost by rounding, exactly (Knuth); |a - b| <= DBL_MAX. */
static double
subtract(double a, double b, double *lost)
{
	double		d = a - b;
	double		part = d - a;

	*lost = (a - (d - part)) - (b + part);
	return d;
}

/* Returns epsilon - xi - rho, rounded nearly once, so that its sign is right. */
static double
excess(double epsilon, double xi, double rho)
{
	double		lost,
				more,
				d = subtract(subtract(epsilon, xi, &lost), rho, &more);

	return fabs(d) <= DBL_MAX ? d + (lost + more) : d;
}

double
dp_zcdp_epsilon_simple(double rho, double delta, double xi)
{
	/* not 0 times infinity */
	if (rho == 0)
		return xi;
	return xi + (rho + 2 * sqrt(rho) * sqrt(-log(delta)));
}

double
dp_zcdp_delta_simple(double rho, double epsilon, double xi)
{
	double		d = excess(epsilon, xi, rho);

	if (d < 0)
		return 1;
	if (rho == 0)
		return 0;
	return exp(-(d / rho) * (d / 4));
}

double
dp_zcdp_rho_simple(double epsilon, double delta, double xi)
{
	double		e = epsilon - xi;
	double		l = -log(delta);
	double		root;

	if (e < 0)
		return DP_NO_ANSWER;
	if (e == 0)
		return 0;
	root = e / (sqrt(e + l) + sqrt(l));
	return root * root;
}

/* Returns the factor of BS Lemma 3.6, with c^2 = 4 / (pi rho); rho > 0. */
static double
factor(double x, double rho)
{
	return 2 / (1 + x + hypot(1 + x, 2 / sqrt(M_PI * rho)));
}

/* Returns ln(factor / delta): a quotient first, which loses less than logarithms do. */
static double
log_room(double x, double rho, double delta)
{
	double		f = factor(x, rho);

	return f / delta <= DBL_MAX ? log(f / delta) : log(f) - log(delta);
}

double
dp_zcdp_delta_bs36(double rho, double epsilon, double xi)
{
	double		d = excess(epsilon, xi, rho);
	double		x;

	if (d < 0)
		return 1;
	if (rho == 0)
		return 0;
	x = d / rho / 2;
	return exp(-x * (d / 2)) * factor(x, rho);
}

/*
 * Returns the zero of rho x^2 - log_room(x), which rises from x = 0 on; x = 0
 * if it is not negative there.  log_room(0) bounds rho x^2, as log_room falls.
 */
double
dp_zcdp_epsilon_bs36(double rho, double delta, double xi)
{
	double		room;
	double		low = 0,
				high,
				x;
	int			i;

	if (rho == 0)
		return xi;
	if (delta <= 0)
		return HUGE_VAL;
	room = log_room(0, rho, delta);
	if (!(room > 0))
		return xi + rho;
	high = x = sqrt(room) / sqrt(rho);
	for (i = 0; i < MOST_STEPS; i++)
	{
		double		value = x * (x * rho) - log_room(x, rho, delta);
		double		slope = 2 * rho * x + 1 / hypot(1 + x, 2 / sqrt(M_PI * rho));
		double		next = x - value / slope;

		if (value < 0)
			low = x;
		else
			high = x;
		if (!(next >= low && next <= high))
			next = 0.5 * (low + high);
		if (fabs(next - x) <= NEAR * x)
		{
			x = next;
			break;
		}
		x = next;
	}
	return xi + (rho + 2 * rho * x);
}

double
dp_zcdp_epsilon_bs36_closed(double rho, double delta, double xi)
{
	double		over;

	if (rho == 0)
		return xi;
	/* ln(sqrt(pi rho) / delta), in parts that do not overflow */
	over = sqrt(M_PI) * sqrt(rho) / delta;
	over = over < DBL_MAX ? log(over) : 0.5 * (log(M_PI) + log(rho)) - log(delta);
	if (!(over > 0))
		return xi + rho;
	return xi + (rho + 2 * sqrt(rho) * sqrt(over));
}

/*
 * In ln rho: (e-rho)^2 / (4 rho) - log_room falls, with a slope of
 * -1/2 or steeper, from 0 to e.  The simple bound's rho is a lower end.
 */
double
dp_zcdp_rho_bs36(double epsilon, double delta, double xi)
{
	double		e = epsilon - xi;
	double		low,
				high = e,
				rho;
	int			i;

	if (e < 0)
		return DP_NO_ANSWER;
	if (e == 0 || delta <= 0)
		return 0;
	if (log_room(0, e, delta) <= 0)
		return e;
	rho = low = dp_zcdp_rho_simple(e, delta, 0);
	if (rho == 0)
		return 0;
	for (i = 0; i < MOST_STEPS; i++)
	{
		double		d = e - rho;
		double		x = d / rho / 2;
		double		value = x * (d / 2) - log_room(x, rho, delta);
		double		z = (0.5 + 0.5 * e / rho) * 0.5 * sqrt(M_PI * rho);
		double		slope = -x * (0.5 * e + 0.5 * rho) - z / hypot(1, z) * (d / (e + rho)) / 2 - 0.5;
		double		next = rho * exp(-value / slope);

		if (value > 0)
			low = rho;
		else
			high = rho;
		if (!(next >= low && next <= high))
			next = sqrt(low) * sqrt(high);
		if (fabs(next - rho) <= NEAR * rho)
		{
			rho = next;
			break;
		}
		rho = next;
	}
	return rho < e ? rho : e;
}

double
dp_zcdp_epsilon_tight(double rho, double delta, double xi)
{
	double		error;
	double		epsilon;

	/* ln(1 - delta) is the smallest epsilon for two equal distributions */
	if (rho == 0)
		epsilon = log1p(-delta);
	else if (delta <= 0)
		epsilon = HUGE_VAL;
	else if (delta >= 1)
		epsilon = -HUGE_VAL;
	else
		epsilon = dp_zcdp_epsilon_at_best(rho, delta, &error);
	epsilon += xi;
	return epsilon > 0 ? epsilon : 0;
}

/*
 * Returns the derivative of ln delta at t, as in math/zcdp.c: the right side of (*)
 * there is least where (2t+1) rho - epsilon = ln(1 + 1/t).
 */
static double
delta_slope(double t, const dp_zcdp_conversion *c, double *slope)
{
	*slope = 2 * t * c->rho + 1 / (1 + t);
	return (2 * t + 1) * c->rho - c->epsilon - dp_zcdp_log_ratio(t);
}

/*
 * Returns where to look for it first.  The zero with 1/t in the place of ln(1
 * + 1/t) lies above, and near if t > 1.
 */
static double
delta_start(double rho, double epsilon)
{
	double		excess = epsilon - rho;
	double		root = hypot(excess, sqrt(8 * rho));

	return excess > 0 ? (excess + root) / (4 * rho) : 2 / (root - excess);
}

double
dp_zcdp_delta_tight(double rho, double epsilon, double xi)
{
	dp_zcdp_conversion c = {rho, epsilon - xi, 0};
	double		t,
				result;

	if (rho == 0)
		return c.epsilon >= 0 ? 0 : -expm1(c.epsilon);
	t = dp_zcdp_find_t(delta_slope, &c, delta_start(rho, c.epsilon), DP_ZCDP_HIGH_T);
	result = exp(t * ((1 + t) * rho - c.epsilon) - t * dp_zcdp_log_ratio(t) - log1p(t));
	return result < 1 ? result : 1;
}

double
dp_zcdp_rho_tight(double epsilon, double delta, double xi)
{
	double		e = epsilon - xi;
	double		error;
	double		result;

	/* below ln(1 - delta) not even two equal distributions satisfy it */
	if (e < log1p(-delta))
		return DP_NO_ANSWER;
	if (delta <= 0)
		return 0;
	if (delta >= 1)
		return HUGE_VAL;
	result = dp_zcdp_rho_at_best(e, delta, &error);
	return result > 0 ? result : 0;
}

/*
 * Sets the part of delta that is left to zCDP beside delta0; returns false if
 * it does not even cover that.
 */
static bool
inner_delta(double delta0, double delta, double *inner)
{
	if (delta < delta0)
		return false;
	/* at delta0 = 1 anything holds */
	*inner = delta >= 1 ? 1 : (delta - delta0) / (1 - delta0);
	return true;
}

double
dp_approx_zcdp_epsilon(double rho, double delta0, double delta, double xi)
{
	double		inner;

	return inner_delta(delta0, delta, &inner) ? dp_zcdp_epsilon_tight(rho, inner, xi) : HUGE_VAL;
}

double
dp_approx_zcdp_epsilon_simple(double rho, double delta0, double delta, double xi)
{
	double		inner;

	return inner_delta(delta0, delta, &inner) ? dp_zcdp_epsilon_simple(rho, inner, xi) : HUGE_VAL;
}

double
dp_approx_zcdp_delta(double rho, double delta0, double epsilon, double xi)
{
	return delta0 + (1 - delta0) * dp_zcdp_delta_tight(rho, epsilon, xi);
}
