/*-------------------------------------------------------------------------
 *
 * rdp.c
 *	  Renyi differential privacy, by order alpha.
 *
 * Invariants: t = alpha - 1, which is exact up to alpha = 2, is what is
 * computed with: ln(1 - 1/alpha) = -ln(1 + 1/t) and ln alpha = ln(1 + t).
 * The tight conversions are rounded upwards.
 *
 * The tight conversion
 * --------------------
 * (alpha, gamma)-RDP: with K = e^(t gamma), the sum of p^alpha q^-t over all outcomes is at most K.  Let P and
 * Q be an event's probabilities under p and q.  By convexity of x^alpha y^-t, which is homogeneous (data processing),
 *
 *		P^alpha Q^-t + (1 - P)^alpha (1 - Q)^-t <= K,						(1)
 *
 * and any P and Q that satisfy it are those of an event, of randomised response.  So of order alpha alone no
 * more and no less follows for P - e^epsilon Q <= delta than from (1): the optimal conversion is that of pairs
 * of two outcomes (Asoodeh, Liao, Calmon, Kosut, Sankar, "Three Variants of Differential Privacy: Lossless
 * Conversion and Applications", 2021, Theorem 3).  Nothing is assumed of the divergence in the other direction.
 *
 * Theorem.  For all u > v, 0 <= v < 1, with h(v) = alpha v^t - t v^alpha and a = u^t - v^t, whoever satisfies
 * (1) satisfies
 *
 *		P - E Q <= delta,	E = (t / alpha) (u^alpha - v^alpha) / a,	delta = (K - h(v)) / (alpha a).
 *
 * Proof.  P^alpha Q^-t >= alpha u^t P - t u^alpha Q for any u (weighted means: tangents of a convex function, which
 * meet it where P = u Q), and likewise (1 - P)^alpha (1 - Q)^-t >= alpha v^t (1 - P) - t v^alpha (1 - Q).  The sum
 * of both is at most K; divide by alpha a.
 *
 * Where alpha delta >= 1, epsilon is gamma + ln(1 - delta): with v = 0 and u^t = K, Q is at least (alpha P - 1)
 * / (t u), and (P - delta) / (alpha P - 1) largest at P = 1, where Q = 1 / u satisfies (1).
 *
 * Elsewhere v = 0 is Proposition 12 of Canonne, Kamath and Steinke 2020, "improved".  The best v makes it exact:
 * (1) is a convex set, so the largest (P - delta) / Q is where a tangent from the point (delta, 0) meets it, and
 * all tangents are of this form, with u and v the ratios of P and Q, and of 1 - P and 1 - Q.  For a given delta,
 * u follows from v, the line goes through (delta, 0), and meets both ratios at P = (1 - v) u / (u - v), Q = P /
 * u.  While this point violates (1), E falls with v; from there on it rises: the values of u and v do not move
 * the tangents' sum there to first order, and a falls.  With r = u / v, (1) at the point is a (P - alpha delta)
 * <= t (1 - v) v^t, that is
 *
 *		P <= alpha delta + t (1 - v) / (r^t - 1),		P = (1 - v) / (1 - 1 / r).		(2)
 *
 * Whichever v is found, epsilon = ln E holds, and is flat at the best one: an inexact optimum errs outwards.
 * Whatever rounding may have taken is added.  v = 1 / (1 + e^z), and z is looked for, as v may be next to 0 or to 1.
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

#include "calc/rdp.h"
#include "calc/small.h"

double
dp_gaussian_rdp(double alpha, double sensitivity, double sigma)
{
	double		ratio = sensitivity / sigma;

	/* neither product leaves the range of doubles unless the result does */
	return 0.5 * ((alpha * ratio) * ratio);
}

double
dp_zcdp_to_rdp(double alpha, double rho, double xi)
{
	return xi + rho * alpha;
}

/*
 * With h = epsilon / 2 and z = t epsilon, cosh(h + z) / cosh(h) = 1 + q where
 * q = 2 sinh(z/2)^2 + sinh(z) tanh(h), a sum of positive terms.  Large z would
 * overflow: ln(cosh(h + z) / cosh(h)) = z + ln(1 + e^-2(h+z)) - ln(1 + e^-2h).
 * Small z could underflow before the division by t: there, ln(1 + q) = q.
 */
double
dp_pure_to_rdp(double alpha, double epsilon)
{
	double		t = alpha - 1;
	double		h = 0.5 * epsilon;
	double		z = t * epsilon;
	double		half,
				q;

	if (z > 1)
		return epsilon + (log1p(exp(-2 * (h + z))) - log1p(exp(-2 * h))) / t;
	half = sinh(0.5 * z);
	q = 2 * half * half + sinh(z) * tanh(h);
	if (q < 1e-17)
		return epsilon * (0.5 * z + tanh(h));
	return log1p(q) / t;
}

/* Returns ln(1 + 1/t), for any t > 0. */
static double
log_ratio(double t)
{
	return t < 1 ? log1p(t) - log(t) : log1p(1 / t);
}

/* Returns ln(1 + e^x). */
static double
log_one_more(double x)
{
	return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* what a tangent line tells of epsilon: the arguments, and what z sets */
typedef struct Tangent
{
	double		t;
	double		gamma_t;		/* t gamma, finite */
	double		log_delta;
	double		log_w;			/* ln(1 - v) */
	double		log_v;
	double		log_a;			/* ln a */
	double		log_u;
	double		log_r;
	double		error_a;		/* of log_a, */
	double		error_u;		/* and of log_u, in half units in the last
								 * place of 1 */
} Tangent;

static void
set_tangent(Tangent *l, double z)
{
	double		w,
				log_h,			/* <= 0 */
				below,			/* v^t - 1 */
				a;

	l->log_w = -log_one_more(-z);
	l->log_v = -log_one_more(z);
	w = exp(l->log_w);
	log_h = z < 0 ? l->t * dp_log_below(-w) + dp_log_below(l->t * w) : l->t * l->log_v + log1p(l->t * w);
	/* ln(K - h) - ln alpha - ln delta */
	l->log_a = (l->gamma_t < 1 ? log(expm1(l->gamma_t) - expm1(log_h)) : l->gamma_t + log1p(-exp(log_h - l->gamma_t)))
		- log1p(l->t) - l->log_delta;
	a = exp(l->log_a);
	below = expm1(l->t * l->log_v);
	l->error_a = 8 + fabs(l->log_a) - 2 * l->log_delta;
	if (l->gamma_t < 1 && a < 1)
	{
		/* where t is small ln(u^t) has all of its digits, and ln a has not */
		l->log_u = log1p(below + a) / l->t;
		l->error_u = (a * l->error_a - 4 * below) / (1 + below + a) / l->t + fabs(l->log_u);
	}
	else
	{
		l->log_u = (l->log_a + log_one_more(l->t * l->log_v - l->log_a)) / l->t;
		l->error_u = (fabs(l->gamma_t) + fabs(l->log_a) + 3 - l->log_delta + log1p(l->t)) / l->t + fabs(l->log_u);
	}
	l->log_r = l->log_u - l->log_v;
}

/* Tells whether the tangent's point violates (1), so that a larger v, and a smaller z, is better. */
static bool
is_outside(const Tangent *l)
{
	double		w = exp(l->log_w);
	double		p = w / -expm1(-l->log_r);

	return p > (1 + l->t) * exp(l->log_delta) + l->t * (w / expm1(l->t * l->log_r));
}

/*
 * Returns ln E, rounded upwards, where gamma > 0 and ln delta is finite, delta <= 1: with x = ln(a / v^t),
 * ln u = (ln a + ln(1 + e^-x)) / t, and ln E = ln(t / alpha) + ln u + ln(1 + e^-x) + ln(1 - r^-alpha).
 */
static double
log_slope(double alpha, double gamma, double log_delta)
{
	Tangent		l = {.t = alpha - 1, .gamma_t = (alpha - 1) * gamma, .log_delta = log_delta};
	double		best = gamma - log_ratio(l.t) + (-log_delta - log1p(l.t)) / l.t;
	double		error = 8 * DBL_EPSILON * (fabs(best) + log_ratio(l.t) + (1 - log_delta + log1p(l.t)) / l.t);
	double		low = -700,
				high = 10 + 800 / l.t,
				more,
				last,
				result;

	if (log1p(l.t) + log_delta >= 0)
		return gamma + log1p(-exp(log_delta)) + 8 * DBL_EPSILON * (gamma + 1);
	best += error;
	if (!(l.gamma_t < 1e300))
		return best;
	/* a bound is flat at the best z: half of the digits are enough */
	while (high - low > 1e-8 && high - low > DBL_EPSILON * high)
	{
		double		z = 0.5 * (low + high);

		set_tangent(&l, z);
		if (is_outside(&l))
			high = z;
		else
			low = z;
	}
	set_tangent(&l, 0.5 * (low + high));
	more = log_one_more(l.t * l.log_v - l.log_a);
	last = log(-expm1(-alpha * l.log_r));
	result = l.log_u + more - log_ratio(l.t) + last;
	/* what ln r is off counts in the last term by its derivative */
	/* by the derivatives of the second and of the last term */
	error = l.error_u + l.error_a * exp(-l.t * l.log_r) + (l.error_u - l.log_v) * (alpha / expm1(alpha * l.log_r));
	error = 4 * DBL_EPSILON * (error + 6 + 6 * more - 4 * last + 2 * log_ratio(l.t));
	/* NaN is not less */
	return result + error < best ? result + error : best;
}

double
dp_rdp_epsilon(double alpha, double rdp_epsilon, double delta)
{
	if (rdp_epsilon == 0 || delta >= 1)
		return 0;
	if (delta <= 0)
		return HUGE_VAL;
	return fmax(0, log_slope(alpha, rdp_epsilon, log(delta)));
}

/* The smallest delta whose epsilon is small enough: below that of "improved", from which looking begins. */
double
dp_rdp_delta(double alpha, double rdp_epsilon, double target_epsilon)
{
	double		high = (alpha - 1) * (rdp_epsilon - target_epsilon - log_ratio(alpha - 1)) - log1p(alpha - 1);
	double		low = -745;
	int			i;

	if (rdp_epsilon == 0)
		return 0;
	/* the least number above 0 */
	if (high < low || log_slope(alpha, rdp_epsilon, low) <= target_epsilon)
		return 0x1p-1074;
	high = fmin(0, high + 16 * DBL_EPSILON * (1 + fabs(high)));
	for (i = 0; i < 64; i++)
	{
		double		middle = 0.5 * (low + high);

		if (log_slope(alpha, rdp_epsilon, middle) <= target_epsilon)
			high = middle;
		else
			low = middle;
	}
	return fmin(1, exp(high) * (1 + 4 * DBL_EPSILON));
}

double
dp_rdp_epsilon_improved(double alpha, double rdp_epsilon, double delta)
{
	double		t = alpha - 1;
	double		result;

	if (delta <= 0)
		return HUGE_VAL;
	result = rdp_epsilon - log_ratio(t) + (-log(delta) - log1p(t)) / t;
	return result > 0 ? result : 0;
}

double
dp_rdp_epsilon_simple(double alpha, double rdp_epsilon, double delta)
{
	return rdp_epsilon - log(delta) / (alpha - 1);
}

double
dp_rdp_delta_improved(double alpha, double rdp_epsilon, double target_epsilon)
{
	double		t = alpha - 1;
	double		result = exp(t * (rdp_epsilon - target_epsilon) - t * log_ratio(t)) / alpha;

	return result < 1 ? result : 1;
}

double
dp_rdp_delta_simple(double alpha, double rdp_epsilon, double target_epsilon)
{
	double		result = exp((alpha - 1) * (rdp_epsilon - target_epsilon));

	return result < 1 ? result : 1;
}
