/*-------------------------------------------------------------------------
 *
 * normal.c
 *	  The standard normal law in its tails.
 *
 * Invariants: no difference of two nearly equal numbers is ever taken.  With
 * the Mills ratio M = Q / density and its derivatives, which alternate in
 * sign, everything is a sum of positive terms:
 *
 *		M(x) = Integral over t > 0 of exp(-xt - t^2 / 2)
 *		z_n = |M^(n)(x)| / n! = Integral of t^n / n! exp(-xt - t^2 / 2)
 *		z_(n-1) = x z_n + (n+1) z_(n+1)
 *
 * The recurrence (integrate by parts), run downwards from any start far
 * enough up, gives the z_n but for a factor (Miller's algorithm: it is
 * Laplace's continued fraction without its divisions), and z_1 = 1 - x z_0
 * gives the factor.  The z_n are the Taylor coefficients with which M(c - h) -
 * M(c + h) is 2 (z_1 h + z_3 h^3 + ...).
 *
 * Exponents are formed with a fused multiply-add, since an error of an ulp in
 * x^2 / 2 = 700 is one of 1e-13 in the density.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdbool.h>

#include "normal.h"

#define INV_SQRT_2PI	0.39894228040143267794
#define LOG_SQRT_2PI	0.91893853320467274178
#define SQRT_HALF		0.70710678118654752440
#define SQRT_HALF_LOW	-4.833646656726457e-17	/* 1/sqrt(2) - SQRT_HALF */

/* from here on the recurrence is short; before, erfc loses nothing */
#define TAYLOR_FROM		2.0
#define MILLS_FROM		3.0
#define TERMS_MAX		64

/* the density of anything beyond is 0 */
#define FAR				38.7

/* x^2 / 2 for x = high + low, as head + tail */
static double
half_square(double high, double low, double *tail)
{
	double		square = high * high;

	*tail = 0.5 * fma(high, high, -square) + high * low;
	return 0.5 * square;
}

static double
density(double high, double low)
{
	double		tail;
	double		head;

	if (fabs(high) > FAR)
		return 0;
	head = half_square(high, low, &tail);
	return INV_SQRT_2PI * exp(-head) * (1 - tail);
}

double
dp_normal_density(double x)
{
	return density(x, 0);
}

/* Q(high + low) */
static double
upper_tail(double high, double low)
{
	double		y,
				y_low;

	if (fabs(high) > FAR)
		return high > 0 ? 0 : 1;

	/* erfc multiplies its argument's error by up to 2 y^2 */
	y = high * SQRT_HALF;
	y_low = fma(high, SQRT_HALF, -y) + high * SQRT_HALF_LOW + low * SQRT_HALF;
	return 0.5 * (erfc(y) - 1.12837916709551257390 * exp(-y * y) * y_low);
}

double
dp_normal_tail(double x)
{
	return upper_tail(x, 0);
}

/*
 * z[0 .. terms] for x >= TAYLOR_FROM, x below 1e8.  The start's error
 * decreases like that of the continued fraction, whose tail is approximated by
 * its fixed point (with the first correction for its drift); terms is what
 * makes it vanish in double precision, and what the Taylor series with h <=
 * 1/2 needs.
 */
static int
taylor(double x, double *z)
{
	int			terms = (int) (10 + (30 + 140 / x) / x);
	double		n = terms + 1;
	double		root = sqrt(x * x + 4 * n);
	double		drift = 0.5 * (1 - x / root);
	double		ratio = 2 * (n - drift) / (x + sqrt(x * x + 4 * (n - drift)));
	double		scale;
	int			i;

	/* ratio = |M^(n)| / |M^(n-1)| */
	z[terms] = 1;
	z[terms + 1] = ratio / n;
	for (i = terms; i > 0; i--)
		z[i - 1] = x * z[i] + (i + 1) * z[i + 1];

	scale = 1 / (x * z[0] + z[1]);
	for (i = 0; i <= terms; i++)
		z[i] *= scale;
	return terms;
}

double
dp_normal_mills(double x)
{
	double		z[TERMS_MAX + 2];
	double		tail;
	double		head;

	if (x >= 1e8)
		return 1 / x;
	if (x >= MILLS_FROM)
	{
		taylor(x, z);
		return z[0];
	}
	if (x < -FAR)
		return HUGE_VAL;
	head = half_square(x, 0, &tail);
	return upper_tail(x, 0) / INV_SQRT_2PI * exp(head) * (1 + tail);
}

double
dp_normal_tail_inverse(double q)
{
	bool		mirrored = q > 0.5;
	double		t,
				x;
	int			i;

	if (mirrored)
		q = 1 - q;
	if (q <= 0)
		return mirrored ? -HUGE_VAL : HUGE_VAL;
	if (q == 0.5)
		return 0;

	/* Abramowitz and Stegun 26.2.23: within 4.5e-4 */
	t = sqrt(-2 * log(q));
	x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
		(1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));

	/* Halley's method on ln Q, which is nearly a parabola: cubic */
	for (i = 0; i < 3; i++)
	{
		double		mills = dp_normal_mills(x);
		double		excess = q < 1e-200 ?
		log(mills) - LOG_SQRT_2PI - 0.5 * x * x - log(q) :
		log(upper_tail(x, 0) / q);
		double		step = excess * mills;

		/* (ln Q)' = -1/M, (ln Q)'' = (x - 1/M) / M */
		step /= 1 - 0.5 * excess * (x * mills - 1);
		x += step;
		if (fabs(step) <= 1e-7 * (fabs(x) + 1e-9))
			break;
	}
	return mirrored ? -x : x;
}

/*
 * centre < TAYLOR_FROM, width <= 1: as P[a < N(0,1) < b] - (e^(centre width) -
 * 1) Q(b).  The difference is at least a sixth of its parts.  The first is
 * the Taylor series around the centre, with Hermite polynomials.
 */
static double
drop_near(double centre, double width, double *second)
{
	double		h = 0.5 * width;
	double		tail_b = upper_tail(centre + h, 0);
	double		gain = expm1(centre * width);
	double		hermite = 1,
				hermite_next = centre,
				term = 1,
				sum = 1;
	int			n;

	for (n = 1; n <= 12; n++)
	{
		int			m;

		/* He_(m+1) = x He_m - m He_(m-1), twice */
		for (m = 2 * n - 1; m <= 2 * n; m++)
		{
			double		next = centre * hermite_next - m * hermite;

			hermite = hermite_next;
			hermite_next = next;
		}
		term *= h * h / ((2 * n) * (2 * n + 1));
		sum += term * hermite;
		if (fabs(term) < 1e-21)
			break;
	}
	*second = (1 + gain) * tail_b;
	return width * density(centre, 0) * sum - gain * tail_b;
}

/* centre >= TAYLOR_FROM, width <= 1: M(a) - M(b), and M(b) */
static double
mills_drop(double centre, double width, double *mills_b)
{
	double		z[TERMS_MAX + 2];
	int			terms = taylor(centre, z);
	double		h = 0.5 * width;
	double		h2 = h * h;
	double		odd = 0,
				even = 0;
	int			i;

	for (i = (terms - 1) / 2; i >= 0; i--)
	{
		odd = odd * h2 + z[2 * i + 1];
		even = even * h2 + z[2 * i];
	}
	*mills_b = even - h * odd;
	return width * odd;
}

void
dp_normal_tail_pair(double centre, double centre_low, double width, dp_tail_pair *pair)
{
	double		h = 0.5 * width;
	double		a = centre - h;
	double		b = centre + h;
	double		a_low = (centre - (a + (centre - a))) + ((centre - a) - h) + centre_low;

	pair->a = a;
	pair->density = density(a, a_low);
	if (width <= 1 && centre < TAYLOR_FROM)
	{
		pair->drop = drop_near(centre, width, &pair->second);
		pair->log_drop = log(pair->drop);
	}
	else if (a >= MILLS_FROM || (width <= 1 && centre >= TAYLOR_FROM))
	{
		double		mills_b;
		double		drop;

		if (a > 1e150)
		{
			pair->drop = pair->second = 0;
			pair->rest = 1;
			pair->log_drop = -HUGE_VAL;
			return;
		}
		if (centre >= 1e8)
		{
			/* M is 1/x by now */
			mills_b = 1 / b;
			drop = width / a / b;
		}
		else if (width <= 1)
			drop = mills_drop(centre, width, &mills_b);
		else
		{
			mills_b = dp_normal_mills(b);
			drop = dp_normal_mills(a) - mills_b;
		}
		pair->drop = pair->density * drop;
		pair->second = pair->density * mills_b;
		if (pair->drop >= 1e-290)
			pair->log_drop = log(pair->drop);
		else
		{
			double		tail;
			double		head = half_square(a, a_low, &tail);

			pair->log_drop = log(drop) - LOG_SQRT_2PI - tail - head;
		}
	}
	else
	{
		if (b < MILLS_FROM)
			pair->second = exp(centre * width) * upper_tail(b, 0);
		else
			pair->second = pair->density * dp_normal_mills(b);
		pair->drop = upper_tail(a, a_low) - pair->second;
		if (pair->drop < 0)
			pair->drop = 0;
		pair->log_drop = log(pair->drop);
	}
	if (pair->drop > 1)
		pair->drop = 1;
	pair->rest = pair->drop > 0.5 ? upper_tail(-a, -a_low) + pair->second : 1 - pair->drop;
}
