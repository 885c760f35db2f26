/*-------------------------------------------------------------------------
 *
 * group.c
 *	  What a group of k people gets from a mechanism that protects one.
 *
 * Steps of mean-concentrated privacy
 * ----------------------------------
 * P and Q have the same outcomes, and in both orders: the loss L = ln(P / Q) under P has a mean of at most m, and
 * E exp(l (L - E L)) <= exp(l^2 s^2 / 2) for all real l.  So have Q and R, with m' and s'.  D is the mean, D_a the
 * Renyi divergence of order a.
 *
 * Lemma 1.  D(P | Q) <= s^2 / 2, whatever m is.
 * Proof.  E exp(-L) is the sum of Q, 1.  So exp(E L) = E exp(-(L - E L)) <= exp(s^2 / 2).
 *
 * Lemma 2.  D(P | R) <= D(P | Q) + m' + s' sqrt(2 D(P | Q)).
 * Proof.  D(P | R) is D(P | Q) and the mean under P of ln(Q / R).  A variable X has a mean under P of at most
 * (D(P | Q) + ln E exp(l X)) / l for any l > 0, with E under Q (Donsker and Varadhan).  For ln(Q / R) less its mean
 * under Q that is D(P | Q) / l + l s'^2 / 2: take the best l.
 *
 * Lemma 3.  If D_a(P | Q) <= a s^2 / 2 and D_a(Q | R) <= a s'^2 / 2 for all a > 1, then
 * D_a(P | R) <= a (s + s')^2 / 2.
 * Proof.  dp_renyi_triangle with k = 1 + s / s'.
 * Here they are: (a - 1) D_a(P | Q) = (a - 1) D(P | Q) + ln E exp((a - 1) (L - E L)), and Lemma 1.
 *
 * Theorem.  Let D_a(P | R) and D_a(R | P) be at most a G for all a > 1.  Then L = ln(P / R) under P, less its mean,
 * is T-subgaussian, for any w, h > 0, with
 *
 *		T^2 = max(2 G (1 + 1 / w), (2 / h^2) ((2 exp(e(0)) + exp(e(w))) / 3 - 1)),
 *		e(x) = (u(x + h) + u(x - h)) / 2,	u(x) = G max(0, x (x + 1)).
 *
 * Proof.  F(l) = ln E exp(l L) is convex, and F(0) = F(-1) = 0.  F <= u: for l > 0 F is l D_(1 + l)(P | R), for
 * l < -1 it is (-l - 1) D_(-l)(R | P), and between it is at most 0.  F'(0) = E L is between 0 and G.  Let
 * K(l) = F(l) - l E L.
 *	- Far away, |l| >= w: K <= G l^2 + G l for l > 0, K <= G l^2 for l < -1, and K <= G |l| between.
 *	- Near, |l| <= w: F''(l) is the variance of L under the law in proportion to P^(1 + l) R^-l.  As
 *	  x^2 / 2 <= cosh(x) - 1, that is at most (2 / h^2) times the mean of cosh(h (L - c)) - 1 for any c, which for the
 *	  best c is exp((F(l + h) + F(l - h)) / 2 - F(l)) - 1.  This exponent is at most e(|l|).  For l = x >= 0 it is, as
 *	  F(x) >= x E L >= 0.  For l = -x we have F(-x) >= -x E L >= -x G, and u(y) - u(-y) has a slope of at least G
 *	  everywhere; 2 e(x) - 2 e(-x) is the difference of that at h + x and at h - x, so at least 2 x G.
 *	  K(l) is the integral of (|l| - x) F'' over x from 0 to |l|.  e is convex, and so rises from 0 on, as e(x) >= e(-x).
 *	  Then exp(e) lies below its chord, whose mean with the weight |l| - x is (2 exp(e(0)) + exp(e(|l|))) / 3, and that
 *	  rises with |l|.
 *
 * T^2 / (2 G) rises with G for given w and h, so its least value does.  It goes to 1 with G: w and h of the order of
 * G^(-1/4) and G^(-3/8) show T <= sqrt(2 G) (1 + O(G^(1/4))).
 *
 * A group of k is k steps of one (m, s).  Lemma 3 gives G = (k s)^2 / 2.  With m at most s^2 / 2, by Lemma 1, the
 * right side of Lemma 2 is at most the square of sqrt(D(P | Q)) + s / sqrt(2).  So j steps have a mean of at most the
 * square of sqrt(m) + (j - 1) s / sqrt(2), and the sum of Lemma 2 over all steps is
 *
 *		k m + (k - 1) s sqrt(2 m) + (k - 1) (k - 2) s^2 / 2 <= (k s)^2 / 2.
 *
 * Dwork and Rothblum 2016 have this as Theorem 4.1, and for two steps as Lemmas 4.2 and 4.3.  They assume that
 * m <= s^2 / 2 and that s is small (k s log(k)^3 below a constant that they do not name, s <= 1/3, s <= 1/4).  Their
 * mean of two steps is 2 s^2 s' + (s + 3 s^2) m' more than m + m' + s s', and their T is 2 s + 34 s^1.5, by a proof
 * that leaves out the mean where |lambda| is large.  Nothing is assumed here, and both are less.
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

#include "calc/group.h"

#define EULER_GAMMA 0.57721566490153286061

/* up to here harmonic numbers are summed */
#define SUM_MAX		32

/*
 * Returns 1 + 1/2 + .. + 1/k.  Beyond SUM_MAX by its asymptotic series, whose
 * error is below the first term left out, k^-6 / 252 < 4e-12 k^-1 / 252 at k =
 * 32 with the term itself included: k^-8 / 240 < 4e-15.
 */
static double
harmonic(int64_t k)
{
	double		x = (double) k;
	double		square;
	double		sum = 0;

	if (k <= SUM_MAX)
	{
		/* the smallest first */
		for (; k > 0; k--)
			sum += 1.0 / (double) k;
		return sum;
	}
	square = 1 / (x * x);
	return log(x) + EULER_GAMMA + (0.5 / x - square * (1.0 / 12 - square * (1.0 / 120 - square / 252)));
}

void
dp_group_zcdp(double rho, int64_t k, double xi, double *group_rho, double *group_xi)
{
	double		size = (double) k;

	*group_rho = size * (size * rho);
	*group_xi = size * xi;
	if (rho != 0)
		*group_xi *= harmonic(k);
}

void
dp_group_mcdp(double mu, double tau, int64_t k, double *group_mu, double *group_tau)
{
	double		size = (double) k;

	*group_mu = size * (size * mu);
	*group_tau = size * tau;
}

/* G max(0, x (x + 1)) */
static double
bound_of_moment(double g, double x)
{
	return x > 0 || x < -1 ? g * x * (x + 1) : 0;
}

/* Returns the second of the two bounds of T^2, over 2 G. */
static double
near_bound(double g, double w, double log_h)
{
	double		h = exp(log_h),
				at_0 = 0.5 * (bound_of_moment(g, h) + bound_of_moment(g, -h)),
				at_w = 0.5 * (bound_of_moment(g, w + h) + bound_of_moment(g, w - h));

	return (2 * expm1(at_0) + expm1(at_w)) / 3 / (g * h) / h;
}

/* Returns the least near_bound over h, which has one minimum: golden section, down to a kink. */
static double
least_near_bound(double g, double w)
{
	const double ratio = 0.6180339887498949;
	double		low = -log1p(g),
				high = 1 + log1p(1 / sqrt(g)),
				left = high - ratio * (high - low),
				right = low + ratio * (high - low),
				at_left = near_bound(g, w, left),
				at_right = near_bound(g, w, right);
	int			i;

	for (i = 0; i < 90; i++)
	{
		/* the lower one where both are beyond doubles */
		if (at_left <= at_right)
		{
			high = right;
			right = left;
			at_right = at_left;
			left = high - ratio * (high - low);
			at_left = near_bound(g, w, left);
		}
		else
		{
			low = left;
			left = right;
			at_left = at_right;
			right = low + ratio * (high - low);
			at_right = near_bound(g, w, right);
		}
	}
	return fmin(at_left, at_right);
}

/*
 * Returns T for D_a <= a s^2 / 2, rounded upwards.  The first bound falls with w and the second rises: the best w is
 * where they meet.  Whichever w and h are found, the larger bound holds.
 */
static double
spread_of_steps(double s)
{
	double		g = fmax(0.5 * s * s, 1e-60),
				low = -log1p(g),
				high = 1 + log1p(1 / sqrt(sqrt(g)));
	int			i;

	if (s == 0)
		return 0;
	if (g > 1e300)
		return HUGE_VAL;
	for (i = 0; i < 64; i++)
	{
		double		middle = 0.5 * (low + high);

		if (least_near_bound(g, exp(middle)) < 1 + exp(-middle))
			low = middle;
		else
			high = middle;
	}
	return s * sqrt(fmax(1 + exp(-high), least_near_bound(g, exp(high)))) * (1 + 32 * DBL_EPSILON);
}

/* Returns the smaller of mu and tau^2 / 2, rounded upwards: the most that the mean of a loss can be. */
static double
least_mean(double mu, double tau)
{
	double		most = 0.5 * tau * tau;

	return fmin(mu, fma(0.5 * tau, tau, -most) > 0 ? nextafter(most, HUGE_VAL) : most);
}

void
dp_mcdp_triangle(double mu_pq, double tau_pq, double mu_qr, double tau_qr, double *mu, double *tau)
{
	mu_pq = least_mean(mu_pq, tau_pq);
	mu_qr = least_mean(mu_qr, tau_qr);
	*mu = (mu_pq + mu_qr + tau_qr * (sqrt(2) * sqrt(mu_pq))) * (1 + 8 * DBL_EPSILON);
	/* by Lemma 1 one step of tau 0 is none */
	*tau = tau_pq == 0 || tau_qr == 0 ? tau_pq + tau_qr : spread_of_steps(tau_pq + tau_qr);
}

void
dp_group_mcdp_general(double mu, double tau, int64_t k, double *group_mu, double *group_tau)
{
	double		more = (double) (k - 1) * tau;

	mu = least_mean(mu, tau);
	*group_mu = mu;
	*group_tau = tau;
	if (k == 1)
		return;
	*group_mu = (double) k * mu + more * (sqrt(2) * sqrt(mu)) + 0.5 * more * ((double) (k - 2) * tau);
	*group_mu *= 1 + 8 * DBL_EPSILON;
	*group_tau = spread_of_steps((double) k * tau);
}

void
dp_group_gaussian(double sensitivity, double sigma, int64_t k, double *group_mu, double *group_tau)
{
	double		size = (double) k;
	double		whole = size * sensitivity;

	*group_tau = whole < HUGE_VAL ? whole / sigma : size * (sensitivity / sigma);
	*group_mu = 0.5 * *group_tau * *group_tau;
}

double
dp_group_gdp(double mu, int64_t k)
{
	return (double) k * mu;
}

double
dp_group_pure(double epsilon, int64_t k)
{
	return (double) k * epsilon;
}

/*
 * Returns min(1, factor e^((k-1) epsilon)), factor a product of delta.  The
 * power is taken in two halves, which do not overflow before the result is
 * beyond 1: its other factor is at least the smallest double.
 */
static double
times_power(double factor, double epsilon, int64_t k)
{
	double		size = (double) (k - 1);
	double		exponent = size * epsilon;
	double		half;

	if (factor == 0)
		return 0;
	if (exponent > 1400)
		return 1;
	half = exp(0.5 * exponent);
	/* the product above has lost some, which the power would magnify */
	factor *= 1 + fma(size, epsilon, -exponent);
	factor *= half;
	return factor < 1 / half ? factor * half : 1;
}

double
dp_group_approx_delta_standard(double epsilon, double delta, int64_t k)
{
	return times_power((double) k * delta, epsilon, k);
}

/* Returns (e^(k eps) - 1) / (e^eps - 1) = e^((k-1) eps) (1 - e^(-k eps)) / (1 - e^-eps). */
double
dp_group_approx_delta(double epsilon, double delta, int64_t k)
{
	double		below = expm1(-epsilon);

	/* too small to tell e^epsilon from 1 + epsilon */
	if (below == 0)
		return fmin(1, (double) k * delta);
	return times_power(delta * (expm1(-(double) k * epsilon) / below), epsilon, k);
}
