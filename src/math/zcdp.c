/*-------------------------------------------------------------------------
 *
 * zcdp.c
 *	  Conversions of budgets: rho from (epsilon, delta), rounded down; epsilon
 *	  from rho, rounded up; and how often a guess is right.
 *
 * CKS Proposition 12: rho-zCDP implies (epsilon, delta)-DP if, for some
 * t > 0 (their alpha is 1 + t),
 *
 *		ln delta >= t ((1+t) rho - epsilon) + t ln(t / (1+t)) - ln(1+t).	(*)
 *
 * Solved for delta, epsilon or rho, (*) is a bound for *every* t, and flat at
 * the best one.  So each conversion has two steps: find t nearly, as
 * the zero of the derivative, then evaluate (*) at just that t.  An
 * inexact t costs an error of second order, and in the safe direction.
 * The zero is found by Newton's method in ln t: 5 steps as a rule, 45 at the
 * worst magnitudes.
 *
 * Invariants: both functions move the result outwards by more than evaluating
 * (*) can be wrong, taking every function of libm and every
 * operation to be within LIBM_ULPS units in the last place.  t, not 1 + t, is
 * what is looked for, because a small t would drown in the 1.
 *
 * The best guess.  Let P and P' be the laws of all that is seen, with a person
 * in the data and without.  Who knows both, and believes either as likely as
 * not, guesses rightly with probability (1 + TV(P, P')) / 2 and no more (Neyman
 * and Pearson), TV being the distance in total variation.
 *
 * Theorem.  If noise is N(0, sigma^2) and answers cost rho in all, adaptively
 * chosen at adaptively chosen prices, the guess is right with probability at
 * most Phi(sqrt(rho / 2)), which who asks for one number attains.  Proof: an
 * answer of sensitivity s costs rho_i = s^2 / (2 sigma^2) and is mu_i-GDP with
 * mu_i = s / sigma (Dong, Roth, Su 2022, Theorem 1).  While the sum of mu_i^2
 * stays at most mu^2 = 2 rho, all together are mu-GDP, though each mu_i follows
 * from earlier answers (Smith and Thakurta 2022, "Fully adaptive composition
 * for Gaussian differential privacy").  By definition of mu-GDP, TV is at most
 * that of N(0, 1) and N(mu, 1), 2 Phi(mu / 2) - 1.
 *
 * Key selection shows a key of one person alone with probability at most delta
 * in all, and what is else seen is as above: TV <= delta + (1 - delta) (2 Phi -
 * 1).  So the guess is right with probability at most 1 - (1 - delta) (1 - Phi).
 *
 * The noise is the discrete Gaussian of a grid (gauss.c), to which this holds
 * nearly.  Draw z from N(x, sigma^2 - 1), for x and sigma^2 > 1 in steps, and y
 * from the integers by weight exp(-(y - z)^2 / 2).  These weights add up to
 * sqrt(2 pi) times a number within 1 +- 5.4e-9, whatever z is (Poisson's
 * formula: 2 exp(-2 pi^2)).  So y has the discrete Gaussian's law about x,
 * within 1.1e-8 in total variation, and is made of z alone.  An answer that
 * costs rho_i with s >= 1 step has sigma^2 >= 1 / (2 rho_i).  So it tells no more
 * than Gaussian noise at rho_i / (1 - 2 rho_i), but for 1.1e-8 for each of its
 * numbers that the person has a part in.  Answers of at most 0.01 each, for rho
 * in all, tell at most what Gaussian noise at 1.021 rho does.  The truth is
 * nearer: from one count of one row at rho_1 the guess is right with probability
 * Phi + rho_1^1.5 / 42, about.  Where rho 1 is spent at once that is 0.782 instead
 * of 0.760.  A mechanism of which no more is known than that it is rho-zCDP may
 * be worse, as randomised response is; there is none here.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>

#include "normal_core.h"
#include "zcdp.h"
#include "zcdp_core.h"

/* glibc documents at most 2 for the functions used; sums of 4 terms add 3 */
#define LIBM_ULPS	8.0

/*
 * Newton's method within a bracket that every step shrinks, and bisection
 * where Newton leaves it or is slow.  A step of at most NEAR ends the search:
 * what is left is its square, and (*) feels only the square of that.
 */
#define LOW_T		(-745.0)
#define NEAR		1e-9
#define QUICK_STEPS 20
#define MOST_STEPS	200

double
dp_zcdp_find_t(dp_zcdp_rising f, const dp_zcdp_conversion *c, double start, double high)
{
	double		low = LOW_T;
	double		u;
	int			i;

	high = fmax(low, fmin(high, DP_ZCDP_HIGH_T));
	u = fmin(fmax(log(start), low), high);
	for (i = 0; i < MOST_STEPS; i++)
	{
		double		slope;
		double		value = f(exp(u), c, &slope);
		double		next = u - value / slope;

		if (value < 0)
			low = u;
		else
			high = u;
		/* also where overflow makes it NaN, or 0 by dividing by infinity */
		if (!(next >= low && next <= high && slope <= DBL_MAX))
			next = 0.5 * (low + high);
		else if (i >= QUICK_STEPS && i % 2 != 0 && fabs(next - u) > NEAR)
			next = 0.5 * (low + high);
		if (fabs(next - u) <= NEAR)
			return exp(next);
		u = next;
	}
	return exp(u);
}

/*
 * Returns ln(1/delta) - ln(1+t) >= 0, as the logarithm of a product where the
 * difference of two larger ones would lose digits.
 */
static double
log_left(double t, double delta, double log_inv_delta)
{
	return log_inv_delta > 1 && delta > DBL_MIN / DBL_EPSILON ? -log(delta * (1 + t))
		: log_inv_delta - log1p(t);
}

/*
 * The derivative for epsilon: (*) as epsilon >= rho (1+t) + (ln(1/delta) -
 * ln(1+t)) / t - ln(1 + 1/t) is least where rho t^2 + ln(1+t) = ln(1/delta).
 */
static double
epsilon_slope(double t, const dp_zcdp_conversion *c, double *slope)
{
	*slope = 2 * c->rho * t * t + t / (1 + t);
	return c->rho * t * t + log1p(t) - c->log_inv_delta;
}

double
dp_zcdp_epsilon_at_best(double rho, double delta, double *error)
{
	dp_zcdp_conversion c = {rho, 0, -log(delta)};

	/* each term alone reaches ln(1/delta) later; the sum is convex in ln t */
	double		start = fmin(sqrt(c.log_inv_delta) / sqrt(rho), expm1(c.log_inv_delta));
	double		t = dp_zcdp_find_t(epsilon_slope, &c, start, DP_ZCDP_HIGH_T);
	double		linear = rho * (1 + t);
	double		budget = c.log_inv_delta / t;
	double		spent = log1p(t) / t;
	double		ratio = dp_zcdp_log_ratio(t);

	*error = LIBM_ULPS * DBL_EPSILON * (linear + budget + spent + ratio);
	return linear + log_left(t, delta, c.log_inv_delta) / t - ratio;
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
	result = dp_zcdp_epsilon_at_best(rho, delta, &error);
	result = nextafter(result + error, HUGE_VAL);
	return result > 0 ? result : 0;
}

/*
 * The derivative for rho: (*) as rho <= (epsilon + ln(1 + 1/t) - (ln(1/delta)
 * - ln(1+t)) / t) / (1+t) is largest where t^2 r + ln(1+t) = ln(1/delta), with
 * r = (epsilon + ln(1 + 1/t)) / (2t+1).
 */
static double
rho_slope(double t, const dp_zcdp_conversion *c, double *slope)
{
	double		r = (c->epsilon + dp_zcdp_log_ratio(t)) / (2 * t + 1);

	*slope = t * (1 + t) / (2 * t + 1) * (2 * t * r + 1 / (1 + t));
	return t * (t * r) + log1p(t) - c->log_inv_delta;
}

/*
 * Finds the best t for rho.  The derivative rises for r >= 0, which for
 * epsilon < 0 ends at t = 1 / (e^-epsilon - 1); epsilon >= ln(1 - delta) has
 * the zero not beyond.
 */
static double
find_rho_t(const dp_zcdp_conversion *c)
{
	double		l = c->log_inv_delta;
	double		start = expm1(l);
	double		high = DP_ZCDP_HIGH_T;

	/* t^2 epsilon / (2t+1) and ln(1+t) alone reach ln(1/delta) later */
	if (c->epsilon > 0)
		start = fmin(start, (l + sqrt(l) * sqrt(l + c->epsilon)) / c->epsilon);
	else if (c->epsilon < 0)
	{
		high = -log(expm1(-c->epsilon));
		start = fmin(start, 1 / expm1(-c->epsilon));
	}
	return dp_zcdp_find_t(rho_slope, c, start, high);
}

double
dp_zcdp_rho_at_best(double epsilon, double delta, double *error)
{
	dp_zcdp_conversion c = {0, epsilon, -log(delta)};
	double		t = find_rho_t(&c);
	double		budget = c.log_inv_delta / t;
	double		spent = log1p(t) / t;
	double		ratio = dp_zcdp_log_ratio(t);

	*error = LIBM_ULPS * DBL_EPSILON *
		((fabs(epsilon) + ratio + budget + spent) / (1 + t));
	return (epsilon + ratio - log_left(t, delta, c.log_inv_delta) / t) / (1 + t);
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
	result = dp_zcdp_rho_at_best(epsilon, delta, &error);
	result = nextafter(result - error, 0);
	return result > 0 ? result : 0;
}

double
dp_zcdp_best_guess(double rho, double delta)
{
	double		wrong = (1 - delta) * dp_normal_tail_of_sum(sqrt(rho / 2), 0);
	double		result = 1 - wrong * (1 - 2 * LIBM_ULPS * DBL_EPSILON);

	return result < 1 ? nextafter(result, 1) : 1;
}
