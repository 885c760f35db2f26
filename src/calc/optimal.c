/*-------------------------------------------------------------------------
 *
 * optimal.c
 *	  Optimal composition of mechanisms that are alike.
 *
 * With X binomial, p = 1 / (1 + e^-epsilon), the loss is (2X - k) epsilon and
 *
 *		D(e) = Sum over i with l_i > e of P[X = i] (1 - e^(e - l_i))
 *
 * One P[X = i] comes from Loader's saddle-point expansion, which has no large
 * terms that cancel; its neighbours come from it by the ratio of successive
 * ones, in long double so that a million steps do not show.  Terms are added
 * from the largest outwards until what is left is negligible: they are log-
 * concave, so that a geometric series bounds it.
 *
 * Between two losses l_(j-1) <= e <= l_j, with everything a positive sum,
 *
 *		D(e) = S_j - e^(e - l_j) U_j
 *		S_j = Sum over i >= j of P_i
 *		T_j = Sum over i >= j of P_i (1 - e^(l_j - l_i)) = D(l_j)
 *		U_j = Sum over i >= j of P_i e^(l_j - l_i) = S_j - T_j
 *
 * so the inverse walks down from where the tail is negligible until T_(j-1)
 * exceeds what is wanted, and then solves for e in closed form.
 *
 * Where delta_g is only just above what the mechanisms' own delta cost, the
 * difference decides, so that cost is kept in two doubles.  Up to 1e10
 * mechanisms.
 *
 * Invariants: l_i - e is computed with one rounding (fma), since it may be far
 * smaller than either; loops are bounded by k.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "calc/optimal.h"
#include "calc/optimal_core.h"

#define LOG_SQRT_2PI	0.918938533204672741780329736405617640L

/* negligible against 1, with room for a few million of them */
#define NEGLIGIBLE		1e-22L

/* Returns ln(n!) minus Stirling's formula. */
static long double
stirling_error(int64_t n)
{
	long double x = n,
				x2 = x * x;

	if (n < 16)
	{
		long double factorial = 1;
		int			i;

		for (i = 2; i <= n; i++)
			factorial *= i;
		return n == 0 ? 0 : logl(factorial) - (x + 0.5L) * logl(x) + x - LOG_SQRT_2PI;
	}
	return (1.0L / 12 - (1.0L / 360 - (1.0L / 1260 - (1.0L / 1680 -
													  (1.0L / 1188 - (691.0L / 360360 - 1.0L / (156 * x2)) / x2) / x2) / x2) / x2) / x2) / x;
}

/* Returns x ln(x / mean) + mean - x, for x > 0, given x - mean. */
static long double
deviance(long double x, long double mean, long double away)
{
	if (fabsl(away) < 0.1L * (x + mean))
	{
		long double v = away / (x + mean),
					sum = away * v,
					power = 2 * x * v;
		int			i;

		for (i = 1; i < 60; i++)
		{
			long double term;

			power *= v * v;
			term = power / (2 * i + 1);
			sum += term;
			if (fabsl(term) <= 1e-21L * sum)
				break;
		}
		return sum;
	}
	/* an Infinity if the mean is 0 */
	return x * (logl(x) - logl(mean)) - away;
}

long double
dp_binomial_log(double epsilon, int64_t k, int64_t i)
{
	long double shrink = expl(-(long double) epsilon),
				p = 1 / (1 + shrink),
				q = shrink / (1 + shrink),
				n = k,
				x = i,
				y = k - i,
				away;

	if (i == k)
		return -n * log1pl(shrink);
	if (i == 0)
		return -n * (epsilon + log1pl(shrink));

	/* x - n p, from whichever is small of p - 1/2 and q */
	if (epsilon < 1)
		away = 0.5L * ((x - y) - n * tanhl(0.5L * epsilon));
	else
		away = n * q - y;

	if (q <= 0)
		return -HUGE_VALL;
	return stirling_error(k) - stirling_error(i) - stirling_error(k - i) -
		deviance(x, n * p, away) - deviance(y, n * q, -away) -
		LOG_SQRT_2PI - 0.5L * logl(x * (y / n));
}

/* Returns l_i - at. */
static double
gap(double epsilon, int64_t k, int64_t i, double at)
{
	return fma((double) (2 * i - k), epsilon, -at);
}

/* Tells whether the rest after a term is negligible, where terms fall from before to term?. */
static bool
tail_negligible(long double before, long double term, long double sum)
{
	return term < before && term * term <= (before - term) * sum * NEGLIGIBLE;
}

/* Returns the i for which P[X = i] is largest. */
static int64_t
mode(double epsilon, int64_t k)
{
	double		at = floor((k + 1.0) / (1 + exp(-epsilon)));

	return at < k ? (int64_t) at : k;
}

double
dp_optimal_alike(double epsilon, int64_t k, double at)
{
	int64_t		first,
				start,
				i;
	long double grow,
				shrink,
				weight,
				term,
				before,
				sum,
				log_start;

	/* the largest loss does not exceed at, or epsilon is 0 */
	if (k <= 0 || gap(epsilon, k, k, at) <= 0)
		return 0;

	/* the first loss that does, up to the rounding of the quotient */
	first = (int64_t) floor(0.5 * (k + at / epsilon));
	while (first > 0 && gap(epsilon, k, first, at) > 0)
		first--;
	while (gap(epsilon, k, first, at) <= 0)
		first++;

	start = mode(epsilon, k);
	if (start < first)
		start = first;
	shrink = expl(-(long double) epsilon);
	grow = 1 / shrink;

	/* in units of P_start */
	before = sum = -expm1(-gap(epsilon, k, start, at));
	weight = 1;
	for (i = start; i < k; i++)
	{
		weight *= (long double) (k - i) / (i + 1) * grow;
		term = weight * -expm1(-gap(epsilon, k, i + 1, at));
		sum += term;
		if (tail_negligible(before, term, sum))
			break;
		before = term;
	}
	before = -expm1(-gap(epsilon, k, start, at));
	weight = 1;
	for (i = start; i > first; i--)
	{
		weight *= (long double) i / (k - i + 1) * shrink;
		term = weight * -expm1(-gap(epsilon, k, i - 1, at));
		sum += term;
		if (tail_negligible(before, term, sum))
			break;
		before = term;
	}

	log_start = dp_binomial_log(epsilon, k, start);
	if (log_start > -600)
		sum *= expl(log_start);
	else
		sum = expl(log_start + logl(sum));
	return sum < 1 ? (double) sum : 1;
}

double
dp_optimal_alike_inverse(double epsilon, int64_t k, double wanted)
{
	int64_t		top,
				low,
				high,
				j;
	long double log_wanted = logl(wanted),
				log_enough,
				fall,
				shrink,
				below,
				weight,
				s,
				t,
				u;
	double		result;

	if (k <= 0 || epsilon <= 0)
		return 0;
	if (wanted <= 0)
		return k * epsilon;

	/* from high on the tail, at most k P_high, is nothing against wanted */
	log_enough = log_wanted + logl(NEGLIGIBLE) - logl(k + 1.0L);
	low = top = mode(epsilon, k);
	high = k;
	while (high - low > 1)
	{
		int64_t		middle = low + (high - low) / 2;

		if (dp_binomial_log(epsilon, k, middle) < log_enough)
			high = middle;
		else
			low = middle;
	}

	/* from here on in units of wanted */
	shrink = expl(-(long double) epsilon);
	fall = shrink * shrink;
	below = -expm1l(-2 * (long double) epsilon);
	weight = s = u = expl(dp_binomial_log(epsilon, k, high) - log_wanted);
	t = 0;
	for (j = high; j > 0; j--)
	{
		long double t_next = below * s + fall * t;

		/* no further than a loss that is not positive */
		if (t_next > 1 || 2 * (j - 1) <= k)
			break;
		weight *= (long double) j / (k - j + 1) * shrink;
		t = t_next;
		s += weight;
		u = weight + fall * u;

		/* no mass is left below: wanted is 1 but for rounding */
		if (j < top && weight <= s * NEGLIGIBLE)
			break;
	}

	/* 1 - t is at most the part (1 - e^-2epsilon) of u if the zero is here */
	if (1 - t >= u)
		result = gap(epsilon, k, j - 1, 0);
	else
		result = fma((double) (2 * j - k), epsilon, (double) log1pl((t - 1) / u));
	return result > 0 ? result : 0;
}

/*
 * Returns 1 - (1 - a)(1 - b) = a + b - a b.  Kept in two doubles, since
 * delta_g may be only just above it.
 */
static dp_twofold
either(dp_twofold a, dp_twofold b)
{
	dp_twofold	both = dp_twofold_multiply(a, b);

	both.high = -both.high;
	both.low = -both.low;
	return dp_twofold_add(dp_twofold_add(a, b), both);
}

void
dp_failure_add(dp_failure *f, double delta, int64_t k)
{
	dp_twofold	one = {delta, 0};

	if (delta == 0 || k == 0)
		return;
	f->log_kept += k * log1p(-delta);
	for (;;)
	{
		if (k & 1)
			f->failed = either(f->failed, one);
		k >>= 1;
		if (k == 0)
			break;
		one = either(one, one);
	}
}

double
dp_failure_delta(const dp_failure *f, double d)
{
	double		result = f->failed.high + (f->failed.low + exp(f->log_kept) * d);

	return result < 1 ? result : 1;
}

double
dp_failure_wanted(const dp_failure *f, double delta_g)
{
	dp_twofold	left = dp_two_sum(delta_g, -f->failed.high);

	/* in this order: exact where delta_g is a single mechanism's delta */
	left.high += left.low - f->failed.low;
	if (left.high <= 0)
		return left.high;
	/* 1 where so little is kept that it cannot be told from delta_g < 1 */
	return fmin(left.high / exp(f->log_kept), 1);
}

bool
dp_compose_optimal_delta(double epsilon, double delta, int64_t k, double epsilon_g,
						 double *result)
{
	dp_failure	f = {{0, 0}, 0};

	if (k > DP_OPTIMAL_K_MAX)
		return false;
	dp_failure_add(&f, delta, k);
	*result = dp_failure_delta(&f, dp_optimal_alike(epsilon, k, epsilon_g));
	return true;
}

bool
dp_compose_optimal_epsilon(double epsilon, double delta, int64_t k, double delta_g,
						   double *result)
{
	dp_failure	f = {{0, 0}, 0};
	double		wanted;

	if (k > DP_OPTIMAL_K_MAX)
		return false;
	if (delta_g >= 1)
	{
		*result = 0;
		return true;
	}
	dp_failure_add(&f, delta, k);
	wanted = dp_failure_wanted(&f, delta_g);
	*result = wanted < 0 ? HUGE_VAL : dp_optimal_alike_inverse(epsilon, k, wanted);
	return true;
}
