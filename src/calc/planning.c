/*-------------------------------------------------------------------------
 *
 * planning.c
 *	  What a budget buys: releases, noise and margins.
 *
 * Invariants: a count of releases and the parts of a split are never more
 * than fit, in the amounts that the ledger adds; a margin is never less than
 * what is asked with the probability asked.
 *
 * The margin of discrete noise, X ~ N_Z(0, s^2) with s = sigma / step.  Let f
 * be exp(-x^2 / (2 s^2)), convex from x = s on and concave below, and w >= 0
 * an integer, y = w + 1/2.  Where f is convex its value at an integer is at
 * most its integral over the unit interval around, where it is concave at
 * least that (Hermite and Hadamard).
 *	 y >= s: sum of f over x > w is at most its integral from y; the sum over all
 *	 integers is at least that of the integral, s sqrt(2 pi) (Poisson
 *	 summation: all terms are positive).  So P[|X| > w] <= erfc(y / (s sqrt 2)).
 *	 y < s: the sum of f over |x| <= w is at least its integral over (-y, y);
 *	 the sum over all integers exceeds s sqrt(2 pi) by a factor below
 *	 1 + 2.0001 exp(-2 pi^2 s^2), so P[|X| <= w] >= erf(y / (s sqrt 2)) but
 *	 for a relative 1e-30 from s = 2 on, and for less than 1e-8000 from 32 on.
 * In both cases P[|X| <= w] >= erf((w + 1/2) / (s sqrt 2)), used from
 * SUM_MAX on.  The w it gives is at most one above the smallest: f falls, so
 * its sum over x >= w is at least its integral from w, and P[|X| <= w - 1] is
 * below erf((w + 1/2) / (s sqrt 2)).
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

#include "calc/planning.h"
#include "calc/zcdp_bounds.h"
#include "math/wide.h"
#include "math/zcdp.h"

/* up to this sigma, in steps, tails are summed */
#define SUM_MAX		32.0

/* more than the relative error of any tail computed here */
#define TAIL_ERROR	1e-11

/* more than that of a quantile, and how far its inverse stays away from it */
#define QUANTILE_ERROR	1e-12

#define MOST_STEPS	200

/* amounts are in steps of 1e-12, as doubles or integers; integers up to here */
#define MOST_AMOUNT	9e18

/*
 * The ledger takes the shortest decimal of a double: a product this near an
 * integer was meant to be it.  Beyond EXACT_AMOUNT that could be any integer,
 * and roundings go against the caller.
 */
#define SAME		(2 * DBL_EPSILON)
#define EXACT_AMOUNT 0x1p50

double
dp_sensitivity(double lower, double upper, int64_t max_groups, bool grouped, bool replace_one)
{
	double		magnitude = fmax(fabs(lower), fabs(upper));
	double		span = fmax(upper, 0) - fmin(lower, 0);
	double		groups = sqrt((double) max_groups);

	if (!replace_one)
		return groups * magnitude;
	if (!grouped && max_groups <= 1)
		return span;
	return groups * fmax(sqrt(2) * magnitude, span);
}

/* Returns the charge for one release, in steps of 1e-12. */
static double
charge_amount(double rho)
{
	double		exact = rho * (double) DP_RHO_ONE;
	double		near = rint(exact);

	if (exact >= EXACT_AMOUNT)
		return ceil(nextafter(exact, HUGE_VAL));
	return fmax(1, fabs(exact - near) <= SAME * exact ? near : ceil(exact));
}

/* Returns how many steps of 1e-12 a limit given as rho holds. */
static double
limit_amount(double rho)
{
	double		exact = rho * (double) DP_RHO_ONE;
	double		near = rint(exact);

	if (exact >= EXACT_AMOUNT)
		return floor(nextafter(exact, 0));
	return fabs(exact - near) <= SAME * exact ? near : floor(exact);
}

/* Returns the largest rho that is (epsilon, delta)-DP, rounded down, and in *amount strictly how many steps it holds. */
static double
derived_rho(double epsilon, double delta, double *amount)
{
	double		rho = nextafter(dp_zcdp_rho_down(epsilon, delta), 0);

	*amount = floor(nextafter(rho * (double) DP_RHO_ONE, 0));
	return rho;
}

int64_t
dp_releases_within(double rho, double epsilon, double delta)
{
	double		limit;
	double		most;
	double		charge = charge_amount(rho);

	/* any mechanism is (epsilon, 1)-DP */
	if (delta >= 1)
		return INT64_MAX;
	most = derived_rho(epsilon, delta, &limit);
	if (rho * (double) DP_RHO_ONE >= 1 && limit < MOST_AMOUNT && charge < MOST_AMOUNT)
		return (int64_t) limit / (int64_t) charge;

	/* more or less than the ledger takes: plain numbers, rounded down */
	most = floor(most / rho * (1 - 2 * DBL_EPSILON));
	return most < 0x1p63 ? (int64_t) most : INT64_MAX;
}

/* Returns a whole number of steps of 1e-12, as a rho that is charged no more. */
static double
amount_rho(int64_t amount)
{
	double		rho = (double) amount / (double) DP_RHO_ONE;

	return amount < INT64_C(1) << 53 ? rho : nextafter(rho, 0);
}

static double
split_amount(double rho, double amount, int64_t k)
{
	double		part;

	if (amount < MOST_AMOUNT)
		part = amount_rho((int64_t) amount / k);
	else
		part = rho / (double) k * (1 - 2 * DBL_EPSILON);
	/* below what can be charged at all */
	return part * (double) DP_RHO_ONE < 0.5 ? DP_NO_ANSWER : part;
}

double
dp_split_rho(double rho, int64_t k)
{
	if (rho == 0)
		return 0;
	return split_amount(rho, limit_amount(rho), k);
}

double
dp_split_budget(double epsilon, double delta, int64_t k)
{
	double		amount;
	double		rho;

	if (delta >= 1)
		return HUGE_VAL;
	rho = derived_rho(epsilon, delta, &amount);
	return split_amount(rho, amount, k);
}

bool
dp_split_weighted(double rho, const double *weights, int n, double *parts)
{
	double		amount = limit_amount(rho);
	double		largest = 0,
				sum = 0;
	bool		any = false;
	int64_t		left;
	int			i;

	for (i = 0; i < n; i++)
		largest = fmax(largest, weights[i]);
	if (!(largest > 0))
		return false;
	for (i = 0; i < n; i++)
		sum += weights[i] / largest;

	left = amount < MOST_AMOUNT ? (int64_t) amount : 0;
	for (i = 0; i < n; i++)
	{
		double		share = weights[i] / largest / sum;

		if (amount < MOST_AMOUNT)
		{
			double		part = floor(amount * share);
			int64_t		whole = part < (double) left ? (int64_t) part : left;

			left -= whole;
			parts[i] = amount_rho(whole);
		}
		else
			parts[i] = rho * share * (1 - n * DBL_EPSILON - 4 * DBL_EPSILON);
		any = any || parts[i] > 0;
	}
	return any;
}

double
dp_stddev_of(double rho, double sensitivity)
{
	if (sensitivity == 0)
		return 0;
	/* half and twice, because 2 rho may overflow */
	return sensitivity / (2 * sqrt(0.5 * rho));
}

double
dp_rho_for_stddev(double stddev, double sensitivity)
{
	double		above = sensitivity * sensitivity,
				below = 2 * stddev * stddev;
	double		ratio = sensitivity / stddev;

	if (sensitivity == 0)
		return 0;
	/* rounds less, so that plain numbers stay plain */
	if (above >= DBL_MIN && above <= DBL_MAX && below >= DBL_MIN && below <= DBL_MAX)
		return above / below;
	return ratio * (0.5 * ratio);
}

/* Returns z with P[|N(0,1)| <= z] = p, 0 < p < 1; by Newton's method. */
static double
two_sided_quantile(double p)
{
	double		y;
	int			i;

	if (p < 0.5)
	{
		/* erf is concave: Newton rises to the zero from the left */
		y = p * (0.5 * sqrt(M_PI));
		for (i = 0; i < MOST_STEPS; i++)
		{
			double		step = (p - erf(y)) * exp(y * y) * (0.5 * sqrt(M_PI));

			y += step;
			if (fabs(step) <= 1e-9 * y)
				break;
		}
	}
	else
	{
		/* ln erfc is concave, and erfc(y) <= exp(-y^2): from the right */
		double		log_q = log1p(-p);

		y = sqrt(-log_q);
		for (i = 0; i < MOST_STEPS; i++)
		{
			double		tail = erfc(y);
			double		step = (log(tail) - log_q) * tail * exp(y * y) * (0.5 * sqrt(M_PI));

			y += step;
			if (fabs(step) <= 1e-9 * y)
				break;
		}
	}
	return y * sqrt(2);
}

/* Returns the sum of exp(-x^2 / (2 s^2)) over all integers. */
static double
discrete_norm(double s)
{
	double		c = 0.5 / (s * s);
	double		sum = 0;
	int			x;

	/* Poisson summation: the next term is exp(-8 pi^2 s^2) */
	if (s > 1)
		return s * sqrt(2 * M_PI) * (1 + 2 * exp(-2 * M_PI * M_PI * s * s));
	for (x = 9; x > 0; x--)
		sum += exp(-c * x * x);
	return 1 + 2 * sum;
}

/* Returns P[|X| > w] without the norm, s <= SUM_MAX: some 10 s terms. */
static double
discrete_tail(double s, double w)
{
	double		c = 0.5 / (s * s);
	double		x = w + 1;
	double		term = exp(-c * x * x);
	double		ratio = exp(-c * (2 * x + 1));
	double		shrink = exp(-2 * c);
	double		sum = 0;

	/* ends: ratio shrinks, and is below 1/e at x = s^2 */
	while (term > 1e-16 * sum * (1 - ratio))
	{
		sum += term;
		term *= ratio;
		ratio *= shrink;
	}
	return 2 * sum;
}

static bool
discrete_within(double s, double w, double p)
{
	return discrete_tail(s, w) * (1 + TAIL_ERROR) <= (1 - p) * discrete_norm(s);
}

/* Returns the smallest integer w that will do for noise of s steps; never too small. */
static double
discrete_margin(double s, double z, double p)
{
	double		w = ceil(z * s * (1 + QUANTILE_ERROR) - 0.5);
	double		allowed;
	double		tail;

	if (w < 0)
		w = 0;
	if (s > SUM_MAX)
		return w;

	/* up where the bound is none (small s), then down, a term at a time */
	while (!discrete_within(s, w, p))
		w += 1;
	allowed = (1 - p) * discrete_norm(s);
	tail = discrete_tail(s, w);
	while (w > 0)
	{
		tail += 2 * exp(-0.5 * (w / s) * (w / s));
		if (!(tail * (1 + TAIL_ERROR) <= allowed))
			break;
		w -= 1;
	}
	return w;
}

double
dp_margin_of(double rho, double p, double sensitivity, double step)
{
	double		sigma = dp_stddev_of(rho, sensitivity);
	double		z;

	if (p <= 0 || sigma == 0)
		return 0;
	z = two_sided_quantile(p);
	/* also where a grid is too fine to matter */
	if (step <= 0 || !(sigma / step < 0x1p60))
		return z * sigma;
	return discrete_margin(sigma / step, z, p) * step;
}

/* Returns the largest s whose margin is at most w, but for rounding down. */
static double
discrete_stddev(double w, double z, double p)
{
	double		s = (w + 0.5) / z * (1 - 2 * QUANTILE_ERROR);
	double		low,
				high;
	int			i;

	if (s > SUM_MAX)
		return s;

	/* at 0.05 the tail is below exp(-200), and no p is as near to 1 */
	low = 0.05;
	high = SUM_MAX;
	if (discrete_within(high, w, p))
		return high;
	/* around the bound, which is near unless s is small */
	if (s > 0.1 && discrete_within(0.9 * s, w, p))
	{
		low = 0.9 * s;
		if (1.1 * s < high && !discrete_within(1.1 * s, w, p))
			high = 1.1 * s;
	}
	for (i = 0; i < MOST_STEPS && high - low > QUANTILE_ERROR * low; i++)
	{
		double		mid = 0.5 * (low + high);

		if (discrete_within(mid, w, p))
			low = mid;
		else
			high = mid;
	}
	return low * (1 - 10 * TAIL_ERROR);
}

double
dp_rho_for_margin(double margin, double p, double sensitivity, double step)
{
	double		z;
	double		steps;

	if (p <= 0 || sensitivity == 0)
		return 0;
	z = two_sided_quantile(p);
	steps = step > 0 ? margin / step : HUGE_VAL;
	if (!(steps < 0x1p60))
		return dp_rho_for_stddev(margin / z, sensitivity);
	steps = floor(steps * (1 + SAME));
	return dp_rho_for_stddev(discrete_stddev(steps, z, p) * step, sensitivity);
}
