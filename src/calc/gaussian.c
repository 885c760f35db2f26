/*-------------------------------------------------------------------------
 *
 * gaussian.c
 *	  What the Gaussian mechanism guarantees, and mu-GDP.
 *
 * The centre of Balle and Wang's two tails is c = epsilon / mu, their distance
 * mu: delta is what dp_normal_tail_pair calls their drop.  It falls with
 * epsilon and rises with mu; its inverses are found by Halley's method on its
 * logarithm (of its complement, for delta > 1/2), whose first two derivatives
 * cost nothing more:
 *
 *		d delta / dc = -mu S			d2 delta / dc2 = mu (density(a) - mu S)
 *		d delta / dmu = density(a)		d2 delta / dmu2 = a b density(a) / mu
 *
 * with S = e^epsilon Q(b) and, for the second line, epsilon held fixed.
 *
 * The inverses are right to two or three units in the last place.
 *
 * Invariants: every search keeps a bracket, within which it bisects when a
 * step leaves it, and ends after STEPS_MAX steps whatever happens.  Two or
 * three steps are usual.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdbool.h>

#include "calc/gaussian.h"
#include "calc/tail_pair.h"
#include "math/normal.h"

#define STEPS_MAX		120
#define SQRT_2PI		2.50662827463100050242

/* the delta that is wanted, as a logarithm, of which side, and the argument held fixed */
typedef struct Target
{
	double		delta;
	double		log_target;		/* ln(delta), or ln(1 - delta) */
	bool		complement;		/* 1 - delta is what is compared */
	double		fixed;			/* mu, or epsilon */
} Target;

/*
 * How far ln(delta) is above what is wanted, and its two derivatives (signs
 * turned for the complement, so that it goes the same way).
 */
typedef struct Height
{
	double		excess;
	double		slope;
	double		bend;
} Height;

typedef void (*Curve) (double at, const Target *t, Height *result);

static void
set_target(Target *t, double delta, double fixed)
{
	t->delta = delta;
	t->complement = delta > 0.5;
	t->log_target = t->complement ? log1p(-delta) : log(delta);
	t->fixed = fixed;
}

/* Sets ln(delta) and its derivatives from delta's own. */
static void
take_logarithm(const Target *t, const dp_tail_pair *pair, double first, double second,
			   Height *result)
{
	double		value = pair->drop;

	if (t->complement)
	{
		/* -ln(1 - delta) rises with delta, too */
		value = pair->rest;
		result->excess = value > 0 ? -log(value / (1 - t->delta)) : HUGE_VAL;
		result->slope = first / value;
		result->bend = second / value + result->slope * result->slope;
		return;
	}
	/* by the quotient, while it keeps its precision, for its last digits */
	if (value > 1e-290 && t->delta > 1e-290)
		result->excess = log(value / t->delta);
	else
		result->excess = pair->log_drop - t->log_target;
	result->slope = first / value;
	result->bend = second / value - result->slope * result->slope;
}

/* Sets delta as a function of c, mu fixed. */
static void
along_centre(double at, const Target *t, Height *result)
{
	dp_tail_pair pair;
	double		mu = t->fixed;

	dp_normal_tail_pair(at, 0, mu, &pair);
	take_logarithm(t, &pair, -mu * pair.second, mu * (pair.density - mu * pair.second), result);
}

/* Sets the pair of epsilon and mu > 0; returns false if c overflows, where delta is 0. */
static bool
pair_of(double mu, double epsilon, dp_tail_pair *pair)
{
	double		centre = epsilon / mu;

	if (centre > 1e300)
		return false;
	dp_normal_tail_pair(centre, fma(-centre, mu, epsilon) / mu, mu, pair);
	return true;
}

/* Sets delta as a function of mu, epsilon fixed. */
static void
along_mu(double at, const Target *t, Height *result)
{
	dp_tail_pair pair;

	if (!pair_of(at, t->fixed, &pair))
	{
		result->excess = -HUGE_VAL;
		result->slope = result->bend = 0;
		return;
	}
	take_logarithm(t, &pair, pair.density,
				   pair.a * (pair.a + at) * pair.density / at, result);
}

/*
 * Returns the zero of a curve that rises (or falls, with rising false) over at
 * > 0, from a guess > 0.
 */
static double
solve(Curve f, const Target *t, double at, bool rising)
{
	double		low = 0,
				high = HUGE_VAL;
	int			i;

	for (i = 0; i < STEPS_MAX; i++)
	{
		Height		h;
		double		step,
					next;

		f(at, t, &h);
		if (h.excess == 0)
			break;
		if ((h.excess < 0) == rising)
			low = at;
		else
			high = at;

		/* Halley: a Newton step that allows for the bend */
		step = -h.excess / h.slope;
		step /= fmin(2, fmax(0.5, 1 + 0.5 * step * h.bend / h.slope));
		next = at + step;
		/* cubic: the step after such a one would be below an ulp */
		if (fabs(step) <= 1e-6 * at)
			return next;
		if (!(next > low && next < high))
		{
			/* also for the NaN of an excess without end */
			if (low == 0)
				next = high / 8;
			else if (high == HUGE_VAL)
				next = low * 8;
			else
				next = low + 0.5 * (high - low);
			/* neighbours, or as large as can be: none better */
			if (!(next > low && next < high))
				break;
		}
		at = next;
	}
	return at;
}

double
dp_gaussian_rho(double sensitivity, double sigma)
{
	double		mu = sensitivity / sigma;

	return 0.5 * mu * mu;
}

double
dp_gaussian_stddev_zcdp(double sensitivity, double rho)
{
	if (sensitivity == 0)
		return 0;
	return rho < 1e300 ? sensitivity / sqrt(2 * rho) : sensitivity / sqrt(0.5 * rho) / 2;
}

double
dp_gaussian_gdp(double sensitivity, double sigma)
{
	return sensitivity / sigma;
}

double
dp_gdp_to_zcdp(double mu)
{
	return 0.5 * mu * mu;
}

double
dp_gdp_delta(double mu, double epsilon)
{
	dp_tail_pair pair;

	if (mu <= 0)
		return 0;
	if (mu > 1e300)
		return epsilon / mu - 0.5 * mu < 0 ? 1 : 0;
	if (!pair_of(mu, epsilon, &pair))
		return 0;
	return pair.drop;
}

double
dp_gdp_epsilon(double mu, double delta)
{
	Target		t;
	double		least = erf(mu * 0.35355339059327376220);
	double		guess;

	/* delta is already enough for epsilon = 0 */
	if (mu <= 0 || delta >= least)
		return 0;
	if (delta <= 0 || mu > 1e300)
		return HUGE_VAL;

	if (mu < 1)
	{
		/*
		 * delta is about mu density(c) (1 - c M(c)), the last factor about 1
		 * / (1 + 1.25 c + 0.7 c^2).  Newton's method from the right, where
		 * the logarithm is convex.
		 */
		double		log_ratio = log(mu / SQRT_2PI) - log(delta);
		int			i;

		guess = log_ratio > 0.5 ? sqrt(2 * log_ratio) : fmax(log_ratio, 1e-3);
		for (i = 0; i < 3; i++)
		{
			double		factor = 1 + guess * (1.25 + guess * 0.7);
			double		step = (0.5 * guess * guess + log(factor) - log_ratio) /
			(guess + (1.25 + 1.4 * guess) / factor);

			guess = guess - step > 0 ? guess - step : 0.5 * guess;
		}
	}
	else
	{
		/* delta < Q(a); the second tail takes off some more */
		guess = 0.5 * mu + dp_normal_tail_inverse(delta);
		if (guess <= 0)
			guess = 0.1;
	}
	set_target(&t, delta, mu);
	return mu * solve(along_centre, &t, guess, false);
}

double
dp_gdp_mu(double epsilon, double delta)
{
	Target		t;
	double		guess;

	if (delta <= 0)
		return 0;
	if (delta >= 1)
		return HUGE_VAL;

	/* the values for mu -> 0 (at a fixed c) and for epsilon = 0 */
	guess = delta * SQRT_2PI;
	if (epsilon > 0 && delta < 0.5)
	{
		double		log_ratio = log(epsilon) - log(guess);
		double		c = log_ratio > 0.5 ? sqrt(2 * log_ratio) : exp(log_ratio);
		int			i;

		/* the former, with mu = epsilon / c; in ln c, from the right */
		for (i = 0; i < 4; i++)
		{
			double		factor = 1 + c * (1.25 + c * 0.7);

			c *= exp((log_ratio - 0.5 * c * c - log(c * factor)) /
					 (c * c + 1 + (1.25 + 1.4 * c) * c / factor));
		}
		guess = epsilon / c;
	}
	if (!(guess < 1))
	{
		/* delta < Q(a), so mu^2 / 2 + z mu - epsilon > 0 */
		double		z = dp_normal_tail_inverse(delta);
		double		alone = sqrt(2) * sqrt(epsilon);	/* where z = 0 */
		double		root = hypot(z, alone);

		guess = z > 0 ? alone * (alone / (z + root)) : root - z;
		if (guess < delta * SQRT_2PI)
			guess = delta * SQRT_2PI;
	}
	set_target(&t, delta, epsilon);
	return solve(along_mu, &t, guess, true);
}

double
dp_gaussian_delta(double sensitivity, double sigma, double epsilon)
{
	return dp_gdp_delta(sensitivity / sigma, epsilon);
}

double
dp_gaussian_epsilon(double sensitivity, double sigma, double delta)
{
	return dp_gdp_epsilon(sensitivity / sigma, delta);
}

double
dp_gaussian_stddev(double sensitivity, double epsilon, double delta)
{
	if (sensitivity == 0)
		return 0;
	return sensitivity / dp_gdp_mu(epsilon, delta);
}

double
dp_gaussian_stddev_classic(double sensitivity, double epsilon, double delta)
{
	if (!(epsilon > 0 && epsilon <= 1))
		return -1;
	if (sensitivity == 0)
		return 0;
	if (delta <= 0)
		return HUGE_VAL;
	/* ln(1.25 / delta), which may overflow as a quotient */
	return sqrt(2 * (log(1.25) - log(delta))) * (sensitivity / epsilon);
}
