/*-------------------------------------------------------------------------
 *
 * moments.c
 *	  Mean, variance, covariance, correlation and regression from noisy sums.
 *
 * Written in means m = sum / n: t, u those of the values, v and w the
 * variances, c the covariance, all in units of half the bounds' distance.
 * Each statistic f has a slope for each sum, n df/dsum:
 *
 *		t				T: 1				N: -t
 *		v				T2: 1/2	 T: -2t		N: t^2 - v + 1/2
 *		c				TU: 1	 T: -u	U: -t		N: tu - c
 *		r = c/sqrt(vw)	(slopes of c) / sqrt(vw) - r/2 ((of v) / v + (of w) / w)
 *		b = c/w			((slopes of c) - b (slopes of w)) / w
 *		a = t - b u		(slopes of t) - b (slopes of u) - u (slopes of b)
 *
 * for v = (T2/N + 1)/2 - (T/N)^2, whose second moment has a quarter of the
 * noise's variance that a sum of t^2 in [0, 1], sensitivity 1 as well, would
 * give it: 2 t^2 - 1 uses the whole of [-1, 1].  The noise of f has variance
 * (sum of slope^2 sigma^2) / n^2.
 *
 * 1/N is replaced by N / (N^2 + sigma^2): no bias of second order, and no answer
 * but the middle of the bounds where N cannot be told from 0.  Variances,
 * correlations and slopes have their biases of second order made up for
 * likewise, as far as that keeps them in range.
 *
 * Weights.  When units are added or removed all sums have the same
 * sensitivity (a unit's rows number at most m), so sigma_i^2 is proportional
 * to 1 / weight_i.  For given slopes (sum of slope^2 / weight) (sum of weights)
 * is least, namely (sum of |slope|)^2, at weight_i = |slope_i| (Cauchy and
 * Schwarz).
 *
 * The minimax over all means is a point where all rows lie upon a bound.
 * Weights are those for means in the middle half of the bounds, |t|, |u| <=
 * 1/2, as bounds that are any good have them:
 *
 * Mean: slopes are at most N 1/2, T 1, so 1:2, minimax there, with n sigma_f =
 * 3/2 m half / sqrt(2 rho).  At a bound that is 12.5 % (of variance) off the
 * minimax over all means, 1:1, and in the middle 25 % less.  No rotation of
 * (N, T), nor any other Gaussian noise with a covariance matrix S, does
 * better.  A unit's contribution is x = m (1, y), |y| <= 1; privacy asks
 * x' S^-1 x <= 2 rho for all of them; the worst variance is the greatest of
 * g' S g over g = (-t, 1), |t| <= 1/2.  Both sets are symmetric under D =
 * diag(1, -1) up to sign.  x' S^-1 x is convex in S and g' S g linear, so
 * (S + D S D) / 2 satisfies the one and has no greater of the other: a
 * diagonal S is optimal.  Separately priced sums lose nothing either: |y| = 1
 * has both sensitivities at once.  The same argument rids variances of any
 * correlation between T and the other two; between N and T2 some would help a
 * little.
 *
 * Variance: slopes are at most N 3/4, T 1, T2 1/2 (all at |t| = 1/2, v = 0),
 * so 3:4:2, minimax there.  Over all means it is 5.5 % (of variance) off the
 * minimax 3:4:1, and 5 % off what is best on average for t even in +- 1/2.
 *
 * Covariance: TU 1, T and U 1/2, and N 1/2 where |c| <= 1/4 (v is 1/3 for
 * evenly spread values), so 1:1:1:2; 9.4 % off the minimax over all means,
 * 1:1:1:1.
 *
 * Correlation: for v = w, times v, slopes are at most TU 1, T, U and N 1, T2
 * and U2 1/4, all for |r| = 1 and t = -u = 1/2 with the sign of r.  But on
 * average over means even in +- 1/2 and r even in +- 1 they are 1, 1/3, 1/3,
 * 0.35, 0.14, 0.14.  The weights of covariance with 1/2 for T2 and U2 (N 2,
 * T 2, T2 1, U 2, U2 1, TU 4) are 11 % off the best for the former and 5 %
 * for the latter.
 *
 * Regression: for w = 1 and |b| <= 1, at most TU 1, T 1/2, U 3/2, U2 1/2, N 1;
 * on average 1, 0.29, 0.44, 0.29, 0.35.  The weights (N 2, T 1, U 2, U2 1,
 * TU 3) are 9 % and 6 % off the best.  An intercept is the mean less the slope
 * times the distance to 0.  If 0 is an end of the bounds, or further out, the
 * slope's noise is most of it: the same weights are 12 % off the minimax there.
 * (One set for both also lets one release serve both.)
 *
 * All these figures are checked in test/unit/test_moments.c, as far as the weights
 * depend on them.
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
#include <stdbool.h>
#include <string.h>

#include "moments.h"

/* a difference of numbers up to 1 has no digits below this */
#define ROUNDING		1e-15

/*
 * A root's standard deviation is never more than sqrt(s) times that of the
 * root of the positive part of N(0, 1), 0.4795: 1 / (4 * 0.4795^2).
 */
#define ROOT_FLOOR		1.0873

/* means, what is made of them, and the standard deviations of their noise */
typedef struct Point
{
	double		n;				/* at least 1 and the noise of N */
	double		e[DP_MOMENTS];	/* deviations of the sums, divided by n; at
								 * most 1 */
	double		t,
				u;
	double		v,
				w;				/* variances of t and u */
	double		c;				/* covariance */
} Point;

/* a function of the means, see the head of this file */
typedef struct Estimate
{
	double		value;
	double		slope[DP_MOMENTS];
	double		rest;			/* variance that slopes do not show */
} Estimate;

static const dp_moment_part avg_parts[] = {
	{DP_MOMENT_N, 1}, {DP_MOMENT_T, 2}
};
static const dp_moment_part variance_parts[] = {
	{DP_MOMENT_N, 3}, {DP_MOMENT_T, 4}, {DP_MOMENT_T2, 2}
};
static const dp_moment_part covariance_parts[] = {
	{DP_MOMENT_N, 1}, {DP_MOMENT_T, 1}, {DP_MOMENT_U, 1}, {DP_MOMENT_TU, 2}
};
static const dp_moment_part correlation_parts[] = {
	{DP_MOMENT_N, 2}, {DP_MOMENT_T, 2}, {DP_MOMENT_T2, 1}, {DP_MOMENT_U, 2}, {DP_MOMENT_U2, 1}, {DP_MOMENT_TU, 4}
};
static const dp_moment_part regression_parts[] = {
	{DP_MOMENT_N, 2}, {DP_MOMENT_T, 1}, {DP_MOMENT_U, 2}, {DP_MOMENT_U2, 1}, {DP_MOMENT_TU, 3}
};

#define PARTS(parts)	(*nparts = sizeof(parts) / sizeof((parts)[0]), parts)

const dp_moment_part *
dp_moment_parts(dp_statistic stat, int *nparts)
{
	switch (stat)
	{
		case DP_STAT_AVG:
			return PARTS(avg_parts);
		case DP_STAT_VAR_POP:
		case DP_STAT_VAR_SAMP:
		case DP_STAT_STDDEV_POP:
		case DP_STAT_STDDEV_SAMP:
			return PARTS(variance_parts);
		case DP_STAT_COVAR_POP:
		case DP_STAT_COVAR_SAMP:
			return PARTS(covariance_parts);
		case DP_STAT_CORR:
			return PARTS(correlation_parts);
		case DP_STAT_REGR_SLOPE:
		case DP_STAT_REGR_INTERCEPT:
			return PARTS(regression_parts);
	}
	*nparts = 0;
	return NULL;
}

/* Returns x limited to low .. high; low for NaN. */
static double
clamp(double x, double low, double high)
{
	return fmin(fmax(x, low), high);
}

/* Returns a finite x, never -0, which would be shown. */
static double
bounded(double x)
{
	return clamp(x, -DBL_MAX, DBL_MAX) + 0.0;
}

static double
half(dp_moment_range range)
{
	return range.upper / 2 - range.lower / 2;
}

static double
middle(dp_moment_range range)
{
	return range.lower / 2 + range.upper / 2;
}

/* Brings t back to the column's own scale. */
static double
uncentred(dp_moment_range range, double t)
{
	return clamp(middle(range) + half(range) * t, range.lower, range.upper) + 0.0;
}

/*
 * Returns half of t times half of u times factor, |factor| <= 2; no infinity
 * on the way meets a 0.
 */
static double
product(dp_moment_range t, dp_moment_range u, double factor)
{
	return bounded(half(t) * (factor / 2) * half(u) * 2);
}

static void
add(Estimate *to, double factor, const Estimate *from)
{
	int			i;

	for (i = 0; i < DP_MOMENTS; i++)
		to->slope[i] += factor * from->slope[i];
	to->rest += factor * factor * from->rest;
}

static double
covariance_of(const Point *p, const Estimate *a, const Estimate *b)
{
	double		sum = 0;
	int			i;

	for (i = 0; i < DP_MOMENTS; i++)
		sum += a->slope[i] * b->slope[i] * p->e[i] * p->e[i];
	return sum;
}

static double
deviation(const Point *p, const Estimate *a)
{
	return sqrt(covariance_of(p, a, a) + a->rest);
}

static Estimate
mean(double value, dp_moment sum)
{
	Estimate	a = {value};

	a.slope[sum] = 1;
	a.slope[DP_MOMENT_N] = -value;
	return a;
}

/*
 * Estimates a variance.  The noise e of a mean is squared: with a mean of 0,
 * that is all that it does, and has variance 2 e^4.
 */
static Estimate
variance(const Point *p, double value, double t, dp_moment sum, dp_moment square)
{
	Estimate	a = {value};
	double		e2 = p->e[sum] * p->e[sum];

	a.slope[square] = 0.5;
	a.slope[sum] = -2 * t;
	a.slope[DP_MOMENT_N] = t * t - value + 0.5;
	a.rest = 2 * e2 * e2;
	return a;
}

static Estimate
variance_t(const Point *p)
{
	return variance(p, p->v, p->t, DP_MOMENT_T, DP_MOMENT_T2);
}

static Estimate
variance_u(const Point *p)
{
	return variance(p, p->w, p->u, DP_MOMENT_U, DP_MOMENT_U2);
}

static Estimate
covariance(const Point *p)
{
	Estimate	a = {p->c};
	double		product = p->e[DP_MOMENT_T] * p->e[DP_MOMENT_U];

	a.slope[DP_MOMENT_TU] = 1;
	a.slope[DP_MOMENT_T] = -p->u;
	a.slope[DP_MOMENT_U] = -p->t;
	a.slope[DP_MOMENT_N] = p->t * p->u - p->c;
	a.rest = product * product;
	return a;
}

/* Multiplies an estimate by n / (n - 1), at most 2: from a population's to a sample's. */
static void
make_sample(const Point *p, Estimate *a)
{
	double		factor = 2;
	Estimate	b = {a->value};

	if (p->n > 2)
	{
		factor = 1 + 1 / (p->n - 1);
		b.slope[DP_MOMENT_N] = -a->value * p->n / (p->n - 1) / (p->n - 1);
	}
	add(&b, factor, a);
	b.value *= factor;
	*a = b;
}

/*
 * Estimates a correlation.  E[X^(-1/2)] is x^(-1/2) (1 + 3/8 s^2 / x^2 + ..)
 * for X of mean x and standard deviation s, so X is replaced by sqrt(X^2 + 3/2
 * s^2), which makes up for that, and keeps correlations from blowing up where
 * s exceeds X.
 */
static Estimate
correlation(const Point *p)
{
	Estimate	a = {0},
				c = covariance(p),
				v = variance_t(p),
				w = variance_u(p);
	double		v_size = hypot(p->v, sqrt(1.5) * deviation(p, &v)),
				w_size = hypot(p->w, sqrt(1.5) * deviation(p, &w)),
				scale = sqrt(v_size) * sqrt(w_size);

	if (!(scale > 0))
		return a;
	a.value = clamp(p->c / scale, -1, 1);
	add(&a, 1 / scale, &c);
	add(&a, -0.5 * a.value * (p->v / v_size) / v_size, &v);
	add(&a, -0.5 * a.value * (p->w / w_size) / w_size, &w);
	return a;
}

/*
 * Estimates a slope.  E[C / W] is c/w (1 + s^2 / w^2) - k / w^2 + .., with s
 * the standard deviation of W and k its covariance with C; 1/w is replaced by
 * w / (w^2 + s^2), and k made up for as far as w^2 exceeds s^2.  No slope is
 * beyond the ratio of standard deviations 1 : sqrt(w); limit is that.
 */
static Estimate
regression(const Point *p, double *limit)
{
	Estimate	a = {0},
				c = covariance(p),
				w = variance_u(p);
	double		size = hypot(p->w, deviation(p, &w)),
				sure;

	*limit = 0;
	if (!(size > 0))
		return a;
	sure = p->w / size;
	*limit = 1 / sqrt(size);
	a.value = p->c / size * sure;
	a.value += covariance_of(p, &c, &w) / size * sure * (sure / size);
	a.value = clamp(a.value, -*limit, *limit);
	add(&a, 1 / size, &c);
	add(&a, -a.value / size, &w);
	return a;
}

static double
ratio(dp_moment_range t, dp_moment_range u)
{
	double		below = half(u);

	/* x does not vary: nothing to regress on */
	return below > 0 ? bounded(half(t) / below) : 0;
}

/* Returns where 0 lies, as seen from the middle. */
static double
origin(dp_moment_range range)
{
	double		below = half(range);

	return below > 0 ? clamp(middle(range) / below, -1e100, 1e100) : 0;
}

static double
positive(double stddev, double limit)
{
	return clamp(fmin(stddev, limit), DBL_MIN, DBL_MAX);
}

/* Sets the mean of the first argument and its standard deviation. */
static void
settle_mean(const Point *p, dp_moment_range t, double *value, double *stddev)
{
	Estimate	a = mean(p->t, DP_MOMENT_T);

	*value = uncentred(t, a.value);
	*stddev = positive(half(t) * deviation(p, &a), half(t));
}

/* Sets the variance of the first argument, or its root, and the result's standard deviation. */
static void
settle_variance(const Point *p, bool sample, bool root, dp_moment_range t, double *value, double *stddev)
{
	Estimate	a = variance_t(p);
	double		limit = sample ? 1 : 0.5;
	double		scale = half(t);
	double		sd;

	if (sample)
		make_sample(p, &a);
	sd = fmin(deviation(p, &a), limit);
	if (!root)
	{
		*value = product(t, t, a.value);
		*stddev = positive(product(t, t, sd), DBL_MAX);
		return;
	}
	*value = bounded(scale * sqrt(a.value));
	*stddev = sd > 0 ? scale * sd / (2 * sqrt(fmax(a.value, ROOT_FLOOR * sd))) : 0;
	*stddev = positive(*stddev, scale * sqrt(2 * limit) / 2);
}

/* Sets the covariance of both arguments and its standard deviation. */
static void
settle_covariance(const Point *p, bool sample, dp_moment_range t, dp_moment_range u, double *value, double *stddev)
{
	Estimate	a = covariance(p);

	if (sample)
		make_sample(p, &a);
	*value = product(t, u, a.value);
	*stddev = positive(product(t, u, fmin(deviation(p, &a), sample ? 2 : 1)), DBL_MAX);
}

/* Sets the correlation of both arguments and its standard deviation. */
static void
settle_correlation(const Point *p, double *value, double *stddev)
{
	Estimate	a = correlation(p);

	*value = bounded(a.value);
	*stddev = positive(deviation(p, &a), 1);
}

/* Sets the slope of the first argument by the second and its standard deviation. */
static void
settle_slope(const Point *p, dp_moment_range t, dp_moment_range u, double *value, double *stddev)
{
	double		limit;
	Estimate	a = regression(p, &limit);
	double		scale = ratio(t, u);

	*value = bounded(scale * a.value);
	*stddev = positive(scale * fmin(deviation(p, &a), limit), DBL_MAX);
}

/* Sets the intercept, which is the mean less the slope times the distance to 0, and its standard deviation. */
static void
settle_intercept(const Point *p, dp_moment_range t, dp_moment_range u, double *value, double *stddev)
{
	double		limit;
	Estimate	a = mean(p->t, DP_MOMENT_T),
				b = regression(p, &limit),
				mean_u = mean(p->u, DP_MOMENT_U);
	double		slope = bounded(ratio(t, u) * b.value);
	double		distance = p->u + origin(u);

	*value = bounded(uncentred(t, p->t) - slope * uncentred(u, p->u));
	add(&a, -b.value, &mean_u);
	add(&a, -distance, &b);
	*stddev = positive(half(t) * fmin(deviation(p, &a), 1 + fabs(distance) * limit), DBL_MAX);
}

/* Sets the value of a statistic at a point, and the standard deviation of its noise. */
static void
settle(dp_statistic stat, const Point *p, dp_moment_range t, dp_moment_range u, double *value, double *stddev)
{
	switch (stat)
	{
		case DP_STAT_AVG:
			settle_mean(p, t, value, stddev);
			break;
		case DP_STAT_VAR_POP:
			settle_variance(p, false, false, t, value, stddev);
			break;
		case DP_STAT_VAR_SAMP:
			settle_variance(p, true, false, t, value, stddev);
			break;
		case DP_STAT_STDDEV_POP:
			settle_variance(p, false, true, t, value, stddev);
			break;
		case DP_STAT_STDDEV_SAMP:
			settle_variance(p, true, true, t, value, stddev);
			break;
		case DP_STAT_COVAR_POP:
			settle_covariance(p, false, t, u, value, stddev);
			break;
		case DP_STAT_COVAR_SAMP:
			settle_covariance(p, true, t, u, value, stddev);
			break;
		case DP_STAT_CORR:
			settle_correlation(p, value, stddev);
			break;
		case DP_STAT_REGR_SLOPE:
			settle_slope(p, t, u, value, stddev);
			break;
		case DP_STAT_REGR_INTERCEPT:
			settle_intercept(p, t, u, value, stddev);
			break;
	}
}

/* Sets sums, or their deviations, by their names. */
static void
spread(dp_statistic stat, const double *parts, double *named)
{
	int			nparts;
	const dp_moment_part *part = dp_moment_parts(stat, &nparts);
	int			i;

	memset(named, 0, sizeof(double) * DP_MOMENTS);
	for (i = 0; i < nparts; i++)
		named[part[i].moment] = bounded(parts[i]);
}

/* Sets n and e for about n rows. */
static void
set_noise(Point *p, double n, const double *sigma)
{
	int			i;

	p->n = fmax(fmax(n, sigma[DP_MOMENT_N]), 1);
	for (i = 0; i < DP_MOMENTS; i++)
		p->e[i] = fmin(sigma[i] / p->n, 1);
}

/*
 * Returns the estimate of 1/n.  E[1/N] is 1/n (1 + s^2 / n^2 + ..) for noise
 * of standard deviation s, so 1/N is replaced by N / (N^2 + s^2): no bias of
 * second order, and a way down to 0 where N cannot be told from it.  Where
 * there are rows N is at least 1, so it is also at most N.
 */
static double
inverse_count(double n, double s)
{
	n = fmax(n, 0);
	return n > 0 ? 1 / fmax(n + s * (s / n), 1 / n) : 0;
}

/*
 * Estimates a variance at noisy means.  E[v], with its noisy means, is less by
 * the variance of the mean's noise; that is made up for as far as the mean's
 * square allows.
 */
static double
variance_at(double square, double t, double e_t, double e_n)
{
	double		v = (square + 1) / 2 - fmax(t * t - e_t * e_t - t * t * e_n * e_n, 0);

	return v > ROUNDING ? v : 0;
}

void
dp_moment_value(dp_statistic stat, const double *sums, const double *sigma,
				dp_moment_range t, dp_moment_range u, double *value, double *stddev)
{
	Point		p = {0};
	double		m[DP_MOMENTS],
				s[DP_MOMENTS];
	double		over;
	int			i;

	spread(stat, sums, m);
	spread(stat, sigma, s);
	set_noise(&p, m[DP_MOMENT_N], s);
	over = inverse_count(m[DP_MOMENT_N], s[DP_MOMENT_N]);
	for (i = 0; i < DP_MOMENTS; i++)
		m[i] = clamp(m[i] * over, -1, 1);
	p.t = m[DP_MOMENT_T];
	p.u = m[DP_MOMENT_U];
	p.v = variance_at(m[DP_MOMENT_T2], p.t, p.e[DP_MOMENT_T], p.e[DP_MOMENT_N]);
	p.w = variance_at(m[DP_MOMENT_U2], p.u, p.e[DP_MOMENT_U], p.e[DP_MOMENT_N]);

	/* both means have the noise of N in common */
	p.c = clamp(m[DP_MOMENT_TU] - p.t * p.u * (1 - p.e[DP_MOMENT_N] * p.e[DP_MOMENT_N]), -1, 1);
	settle(stat, &p, t, u, value, stddev);
}

double
dp_moment_noise(dp_statistic stat, const double *sigma, dp_moment_range t, dp_moment_range u)
{
	/*
	 * rows for each row of noise: slopes alone count, and nothing that is
	 * limited
	 */
	const double many = 1e9;
	Point		p = {.t = -0.5, .u = -0.5, .v = 0.25, .w = 0.25};
	double		s[DP_MOMENTS];
	double		most = 0;
	double		value,
				stddev;
	int			i;

	spread(stat, sigma, s);
	for (i = 0; i < DP_MOMENTS; i++)
		most = fmax(most, s[i]);
	set_noise(&p, clamp(most, 1, 1e290) * many, s);
	settle(stat, &p, t, u, &value, &stddev);
	return clamp(stddev * p.n, DBL_MIN, DBL_MAX);
}
