/*-------------------------------------------------------------------------
 *
 * divergence.c
 *	  How far two given distributions of finitely many outcomes are apart, and
 *	  what a mechanism tells of its input in all.
 *
 * Invariants: sums are of terms >= 0, so that near distributions lose no digits, and are rounded upwards.
 *
 * Sums
 * ----
 * With a and b the sums of p and q, which are 1 but for 1e-9, and r = (q - p) / p:
 *	- p ln(p / q) = (p - q) + p (r - ln(1 + r)), and the second is >= 0;
 *	- p^alpha q^-t = p + t (p - q) + p ((1 + r)^-t - 1 + t r), t = alpha - 1, and the third is >= 0: with
 *	  y = -t ln(1 + r) it is p ((e^y - 1 - y) + t (r - ln(1 + r))).
 * So with y = (b - a) / a KL is S / a + (ln(1 + y) - y), for the sum S of the second ones.  Renyi's sum for p / a
 * and q / b is (1 + y)^t (1 + x), where x is the sum of the third ones over a, less t y: as the first order of y
 * drops out, its logarithm over t is the third ones' S / (a t), and (ln(1 + x) - x) / t, and ln(1 + y) - y.  An
 * outcome of q alone adds q to S, and t q.  Margins of rounding are those of the first terms, which are larger than
 * what is taken from them.
 *
 * The subgaussian parameter
 * -------------------------
 * tau^2 is the largest g(l) = 2 K(l) / l^2 over real l != 0, for K(l) = ln E exp(l X), X = Z - E Z under p,
 * whose second derivative K'' is the variance V_l under p tilted by exp(l x); g(0) = V_0 = V.  R is the range of
 * Z.  The third cumulant of a law of range R is at most R times its variance, and the fourth at most R^2 times it
 * (moments of order 4 are at most R^2 V, and 3 V^2 <= 3/4 R^2 V).  So V_l <= V e^(|l| R), V_l >= V_k e^(-|l - k|
 * R), and
 *
 *	- near 0, for |l| <= s: g <= V + s |k3| / 3 + s^2 R^2 V e^(s R) / 12, k3 the third cumulant (Taylor's theorem);
 *	- far away, g <= 2 |l| max |X| / l^2, as K(l) <= |l| max |X|;
 *	- between a and b, 0 < a < b: m = V_a e^(-(b - a) R) is below K'' there, so K - m l^2 / 2 is convex and below
 *	  its chord, A + B l, and g <= m + 2 (A + B l) / l^2, whose largest value is at an end or at l = -2 A / B; and
 *	  so for negative l with -X in the place of X.
 *
 * Intervals whose bound is more than SPARE above the largest g that was met are halved.  The largest bound of those
 * that are left is above tau^2, and no more than SPARE above it.
 *
 * The triangle
 * ------------
 * (alpha - 1) D_alpha(P | R) is ln E (P / Q)^alpha (Q / R)^(alpha - 1) under Q.  Hoelder's inequality has the exponent
 * w = (k alpha - 1) / (alpha - 1) for the second factor, and u for the first, where 1 / u = 1 - 1 / w, so that
 * alpha u = (k alpha - 1) / (k - 1).  By it this is at most 1 / u of ln E (P / Q)^((k alpha - 1) / (k - 1)) and 1 / w
 * of ln E (Q / R)^(k alpha - 1): orders of Renyi, of P from Q and of Q from R.
 *
 * Mutual information
 * ------------------
 * I(X; M(X)) is the mean of D(M(x) | M), M the mixture of all M(x'), so at most the mean of D(M(x) | M(x')) over
 * independent x and x' (convexity): that of groups of n at order 1, by dp_group_zcdp.  Of independent entries I
 * is the sum of the I(X_i; M(X) | X_1 .. X_(i-1)), each of which is at most that of two datasets that differ in
 * entry i alone: given the entries before, average M over those after, which is convex again.
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
#include "calc/divergence.h"
#include "calc/group.h"
#include "calc/small.h"

/*
 * relative, of tau^2; and how many terms of K may be added up for that, in each direction.  Where it takes more, as for
 * fine grids of a Gaussian, whose g is flat, SPARE is a thousand times as large, and so on: the result is above tau^2 still.
 */
#define SPARE	2e-13
#define MOST_TERMS	4000000

/* intervals that wait to be halved; each halving adds one, and a double has no more halves */
#define MOST_WAITING	2048
#define MOST_OCTAVES	(MOST_WAITING / 2)

/* Returns by how much the sum of p exceeds that of q; NULL: 1.  Small differences keep all digits. */
static double
excess(const double *p, const double *q, int n)
{
	DpSum		sum = {0};
	int			i;

	if (q == NULL)
		dp_sum_add(&sum, -1);
	for (i = 0; i < n; i++)
	{
		dp_sum_add(&sum, p[i]);
		if (q != NULL)
			dp_sum_add(&sum, -q[i]);
	}
	return dp_sum_total(&sum);
}

bool
dp_is_distribution(const double *p, int n)
{
	return fabs(excess(p, NULL, n)) <= DP_SUM_SLACK;
}

/* Tells whether an outcome of p is impossible under q. */
static bool
is_apart(const double *p, const double *q, int n)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		if (p[i] > 0 && q[i] == 0)
			return true;
	}
	return false;
}

/* Returns ln(b / a), for the sums of p and q. */
static double
log_of_sums(const double *p, const double *q, int n)
{
	return log1p(excess(q, p, n) / (1 + excess(p, NULL, n)));
}

/* Returns ln(p / q), for p, q > 0. */
static double
loss(double p, double q)
{
	double		r = (q - p) / p;

	/* r may be infinite */
	return fabs(r) < 0.5 ? -log1p(r) : log(p) - log(q);
}

/* Returns p (r - ln(1 + r)) >= 0, for p, q > 0. */
static double
above(double p, double q)
{
	double		r = (q - p) / p;

	return fabs(r) < 0.5 ? p * -dp_log_below(r) : (q - p) + p * loss(p, q);
}

double
dp_kl_divergence(const double *p, const double *q, int n)
{
	DpSum		sum = {0};
	double		a = 1 + excess(p, NULL, n);
	int			i;

	if (is_apart(p, q, n))
		return HUGE_VAL;
	for (i = 0; i < n; i++)
		dp_sum_add(&sum, p[i] > 0 ? above(p[i], q[i]) : q[i]);
	return fmax(0, dp_sum_total(&sum) / a * (1 + 32 * DBL_EPSILON) + dp_log_below(excess(q, p, n) / a));
}

double
dp_max_divergence(const double *p, const double *q, int n)
{
	double		most = 0;
	double		shift = log_of_sums(p, q, n);
	int			i;

	if (is_apart(p, q, n))
		return HUGE_VAL;
	for (i = 0; i < n; i++)
	{
		if (p[i] > 0)
			most = fmax(most, loss(p[i], q[i]) + shift);
	}
	/* the losses' logarithms, of numbers down to 1e-324 */
	return most > 0 ? most * (1 + 8 * DBL_EPSILON) + fabs(shift) * 8 * DBL_EPSILON : 0;
}

double
dp_renyi_divergence(double alpha, const double *p, const double *q, int n)
{
	double		t = alpha - 1;
	double		a = 1 + excess(p, NULL, n);
	double		y = excess(q, p, n) / a;
	double		shift = log1p(y);
	double		largest = 0;
	double		third;
	double		x;
	double		result;
	DpSum		sum = {0};
	int			i;

	if (is_apart(p, q, n))
		return HUGE_VAL;
	for (i = 0; i < n; i++)
	{
		if (p[i] > 0)
			largest = fmax(largest, loss(p[i], q[i]));
	}
	if (t * largest < 600)
	{
		for (i = 0; i < n; i++)
		{
			if (p[i] > 0)
				dp_sum_add(&sum, p[i] * dp_exp_above(t * loss(p[i], q[i])) + t * above(p[i], q[i]));
			else
				dp_sum_add(&sum, t * q[i]);
		}
		third = dp_sum_total(&sum) / a * (1 + (32 + 8 * t * largest) * DBL_EPSILON);
		x = third - t * y;
		if (fabs(x) < 0.5)
			result = (third + dp_log_below(x)) / t + dp_log_below(y);
		else
			result = log1p(x) / t * (1 + 8 * DBL_EPSILON) + shift;
	}
	else
	{
		for (i = 0; i < n; i++)
		{
			if (p[i] > 0)
				dp_sum_add(&sum, p[i] * exp(t * (loss(p[i], q[i]) - largest)));
		}
		result = largest * (1 + 16 * DBL_EPSILON) + log(dp_sum_total(&sum) / a) / t + shift;
	}
	result += 16 * DBL_EPSILON * fabs(result);
	/* not above the largest loss */
	return fmax(0, fmin(result, largest + fabs(shift) + 8 * DBL_EPSILON * largest));
}

double
dp_renyi_triangle(double alpha, double k, double pq, double qr)
{
	/* alpha k and alpha k - 1 may both be beyond doubles */
	return ((1 + 1 / ((alpha - 1) + alpha * (k - 1))) * pq + qr) * (1 + 8 * DBL_EPSILON);
}

/* ------------------------------------------------------------------------
 * The privacy loss
 * ------------------------------------------------------------------------
 */

/* the loss less its mean, and where g is looked at */
typedef struct Loss
{
	int			n;
	const double *p;
	const double *q;
	double		sum;			/* of p */
	const double *x;			/* the loss less its mean */
	double		sign;			/* of l */
	double		range;
} Loss;

/* K and K'' at l >= 0, of the loss times its sign */
typedef struct Point
{
	double		l;
	double		k;
	double		variance;
} Point;

typedef struct Interval
{
	Point		low;
	Point		high;
	double		bound;
} Interval;

static double
deviation(const Loss *loss_of, int i)
{
	return loss_of->sign * loss_of->x[i];
}

static void
look(const Loss *loss_of, double l, Point *point)
{
	DpSum		above = {0},
				total = {0},
				first = {0},
				second = {0};
	double		most = 0,
				mean;
	int			i;

	for (i = 0; i < loss_of->n; i++)
	{
		if (loss_of->p[i] > 0)
			most = fmax(most, deviation(loss_of, i));
	}
	for (i = 0; i < loss_of->n; i++)
	{
		double		x;
		double		weight;

		if (loss_of->p[i] == 0)
			continue;
		x = deviation(loss_of, i);
		if (l * most < 300)
			dp_sum_add(&above, loss_of->p[i] / loss_of->sum * dp_exp_above(l * x));
		weight = loss_of->p[i] / loss_of->sum * exp(l * (x - most));
		dp_sum_add(&total, weight);
		dp_sum_add(&first, weight * (x - most));
	}
	mean = dp_sum_total(&first) / dp_sum_total(&total);
	for (i = 0; i < loss_of->n; i++)
	{
		if (loss_of->p[i] > 0)
		{
			double		x = deviation(loss_of, i) - most;

			dp_sum_add(&second, loss_of->p[i] / loss_of->sum * exp(l * x) * (x - mean) * (x - mean));
		}
	}
	point->l = l;
	point->k = l * most < 300 ? log1p(dp_sum_total(&above)) : l * most + log(dp_sum_total(&total));
	point->variance = dp_sum_total(&second) / dp_sum_total(&total);
}

/* Sets the bound of g between two points. */
static void
bound_between(const Loss *loss_of, Interval *i)
{
	double		a = i->low.l,
				b = i->high.l,
				width = b - a,
				least = i->low.variance * exp(-width * loss_of->range) * (1 - 1e-12),
				slope = (i->high.k - i->low.k) / width - 0.5 * least * (a + b),
				at_a = i->low.k - 0.5 * least * a * a,
				intercept = at_a - slope * a,
				best = fmax(i->low.k / (0.5 * a * a), i->high.k / (0.5 * b * b)),
				at = -2 * intercept / slope;

	if (at > a && at < b)
		best = fmax(best, least + 2 * (at_a + slope * (at - a)) / (at * at));
	i->bound = best;
}

/* Halves intervals until no bound is more than spare above found, which is a g that was met; false: it took too much. */
static bool
halve(const Loss *loss_of, const Interval *octaves, int n, double spare, double found, double *most)
{
	Interval	waiting[MOST_WAITING];
	int			looks = MOST_TERMS / loss_of->n;
	bool		done = true;
	int			i;

	for (i = 0; i < n; i++)
		waiting[i] = octaves[i];
	*most = found;
	while (n > 0)
	{
		Interval	whole = waiting[--n];
		double		middle = 0.5 * (whole.low.l + whole.high.l);
		Point		point;

		if (whole.bound <= found * (1 + spare) || looks <= 0 || n + 2 > MOST_WAITING || middle <= whole.low.l ||
			middle >= whole.high.l)
		{
			done = done && (looks > 0 || whole.bound <= found * (1 + spare));
			*most = fmax(*most, whole.bound);
			continue;
		}
		looks--;
		look(loss_of, middle, &point);
		found = fmax(found, point.k / (0.5 * middle * middle));
		waiting[n].low = whole.low;
		waiting[n].high = point;
		bound_between(loss_of, &waiting[n]);
		waiting[n + 1].low = point;
		waiting[n + 1].high = whole.high;
		bound_between(loss_of, &waiting[n + 1]);
		n += 2;
	}
	*most = fmax(*most, found);
	return done;
}

/* Returns the largest g, upwards, between two points of one sign, if it is more than found, which is one that was met. */
static double
largest_between(const Loss *loss_of, double from, double to, double found)
{
	Interval	octaves[MOST_OCTAVES];
	int			n = 0;
	double		far = 0,
				least = HUGE_VAL,
				spare = SPARE,
				most,
				l;
	bool		done;

	look(loss_of, from, &octaves[0].low);
	/* the nearest to 0 is halved last */
	for (l = from; l < to && l < 1e300 && n < MOST_OCTAVES; l *= 2)
	{
		if (n > 0)
			octaves[n].low = octaves[n - 1].high;
		look(loss_of, 2 * l, &octaves[n].high);
		found = fmax(found, octaves[n].high.k / (2 * l * l));
		bound_between(loss_of, &octaves[n]);
		n++;
	}
	/* what no octave reaches */
	if (l < to)
		far = 2 * loss_of->range / l;
	do
	{
		done = halve(loss_of, octaves, n, spare, found, &most);
		least = fmin(least, most);
		spare *= 1000;
	} while (!done && spare < 1);
	return fmax(least, far);
}

void
dp_privacy_loss(const double *p, const double *q, int n, double *mu, double *tau)
{
	Loss		l = {.n = n, .p = p, .q = q, .sum = 1 + excess(p, NULL, n), .sign = 1};
	DpSum		mean = {0},
				third = {0};
	double		x[DP_MOST_OUTCOMES];
	double		low = HUGE_VAL,
				high = -HUGE_VAL,
				near,
				far,
				most;
	Point		zero;
	int			i;

	*mu = dp_kl_divergence(p, q, n);
	*tau = HUGE_VAL;
	if (is_apart(p, q, n))
		return;
	for (i = 0; i < n; i++)
	{
		if (p[i] == 0)
			continue;
		low = fmin(low, loss(p[i], q[i]));
		high = fmax(high, loss(p[i], q[i]));
		dp_sum_add(&mean, p[i] * loss(p[i], q[i]));
	}
	l.range = high - low;
	for (i = 0; i < n; i++)
		x[i] = p[i] > 0 ? loss(p[i], q[i]) - dp_sum_total(&mean) / l.sum : 0;
	l.x = x;
	*tau = 0;
	if (l.range == 0)
		return;
	look(&l, 0, &zero);
	for (i = 0; i < n; i++)
	{
		if (p[i] > 0)
			dp_sum_add(&third, p[i] / l.sum * pow(deviation(&l, i), 3));
	}
	/* nearer, where the third cumulant counts */
	near = 1e-6 / l.range;
	while (near * fabs(dp_sum_total(&third)) / 3 > SPARE / 2 * zero.variance && near > 1e-13 / l.range)
		near *= 0.5;
	most = zero.variance * (1 + 1e-13 + near * l.range * near * l.range / 11) + near * fabs(dp_sum_total(&third)) / 3;
	far = 2 * l.range / zero.variance;
	most = fmax(most, largest_between(&l, near, far, zero.variance));
	l.sign = -1;
	most = largest_between(&l, near, far, most);
	/* K is off by up to 300 units in its last place */
	*tau = sqrt(most) * (1 + 512 * DBL_EPSILON);
}

/* ------------------------------------------------------------------------
 * Mutual information
 * ------------------------------------------------------------------------
 */

double
dp_mutual_information(double rho, int64_t n, double xi)
{
	double		group_rho,
				group_xi;

	dp_group_zcdp(rho, n, xi, &group_rho, &group_xi);
	return (group_rho + group_xi) * (1 + 64 * DBL_EPSILON);
}

double
dp_mutual_information_product(double rho, int64_t n, double xi)
{
	return (double) n * (rho + xi) * (1 + 4 * DBL_EPSILON);
}
