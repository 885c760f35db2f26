/*
 * test_divergence.c
 *	  Divergences of two distributions, and the privacy loss, against closed
 *	  forms, brute force and the laws between them.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "calc/convert.h"
#include "calc/divergence.h"
#include "calc/group.h"
#include "unit.h"

#define MOST 6

/* within a relative error, upwards but for rounding */
#define ABOVE(value, exact, slack) \
	do { \
		double v_ = (value), e_ = (exact); \
		check(v_ >= e_ * (1 - 4 * DBL_EPSILON) && v_ <= e_ * (1 + (slack)), #value " = %.17g, not %.17g", v_, e_); \
	} while (0)

/* a distribution of n outcomes, some of which are very rare */
static void
draw_distribution(double *p, int n)
{
	double		sum = 0;

	for (int i = 0; i < n; i++)
		sum += p[i] = pow((double) (1 + (pseudo() >> 11)) * 0x1p-53, 1 + pseudo() % 5);
	for (int i = 0; i < n; i++)
		p[i] /= sum;
}

/* K of the loss, as it is defined */
static double
cumulant(const double *p, const double *q, int n, double mean, double l)
{
	long double sum = 0,
				most = 0;

	for (int i = 0; i < n; i++)
		most = fmaxl(most, l * (logl(p[i]) - logl(q[i]) - mean));
	for (int i = 0; i < n; i++)
		sum += p[i] * expl(l * (logl(p[i]) - logl(q[i]) - mean) - most);
	return most + logl(sum);
}

static void
test_known_losses(void)
{
	static const double p[][2] = {{0.3, 0.7}, {0.7, 0.3}, {0.5, 0.5}, {1e-6, 0.999999}, {0.999999, 1e-6}, {1e-300, 1}, {0.25, 0.75}};

	/* of two outcomes: Kearns and Saul 1998 */
	for (int i = 0; i < 7; i++)
	{
		static const double q[][2] = {{0.5, 0.5}, {0.25, 0.75}, {1e-100, 1}, {0.9, 0.1}};

		for (int j = 0; j < 4; j++)
		{
			double		range = fabs(log(p[i][0] / q[j][0]) - log(p[i][1] / q[j][1])),
						a = p[i][0],
						factor = a == 0.5 ? 0.25 : (1 - 2 * a) / (2 * (log1p(-a) - log(a))),
						mu,
						tau;

			if (a > 0.5)
				factor = (1 - 2 * p[i][1]) / (2 * (log1p(-p[i][1]) - log(p[i][1])));
			dp_privacy_loss(p[i], q[j], 2, &mu, &tau);
			if (range > 1e-12)
				ABOVE(tau, range * sqrt(factor) * (1 - 1e-14), 1e-12);
			else
				check(tau < 1e-12, "tau %.17g of equal ones", tau);
			check(mu == dp_kl_divergence(p[i], q[j], 2), "mean");
		}
	}
	{
		const double a[] = {0.5, 0.5, 0},
					b[] = {0.25, 0.25, 0.5},
					near[] = {0.5, 0.50000001},
					half[] = {0.5, 0.5};

		check(dp_kl_divergence(b, a, 3) == HUGE_VAL && dp_max_divergence(b, a, 3) == HUGE_VAL && dp_renyi_divergence(2, b, a, 3) == HUGE_VAL, "apart");
		ABOVE(dp_kl_divergence(a, b, 3), log(2), 1e-13);
		ABOVE(dp_max_divergence(a, b, 3), log(2), 1e-13);
		ABOVE(dp_renyi_divergence(7.5, a, b, 3), log(2), 1e-13);
		check(dp_kl_divergence(a, a, 3) == 0 && dp_max_divergence(a, a, 3) == 0 && dp_renyi_divergence(3, a, a, 3) == 0, "equal");
		/* what is nearly equal, with a sum that is not quite 1: by mpmath, of these doubles */
		{
			const double p[] = {0.25, 0.25, 0.5},
						q[] = {0.250000000001, 0.249999999999, 0.5};

			ABOVE(dp_renyi_divergence(1.001, p, q, 3), 4.00393398324772468e-24, 1e-13);
			ABOVE(dp_renyi_divergence(2, p, q, 3), 7.99986809839705341e-24, 1e-13);
			ABOVE(dp_renyi_divergence(37.5, p, q, 3), 1.49997526844944899e-22, 2e-13);
		}
		check(!dp_is_distribution(a, 1) && dp_is_distribution(a, 2) && !dp_is_distribution(near, 2) && dp_is_distribution(half, 2), "sums");
	}
}

/* divergences rise with the order; tau is least, and enough; processing lowers all of them */
static void
test_divergence_laws(void)
{
	for (int round = 0; round < sized(400, 100, 30); round++)
	{
		int			n = 2 + pseudo() % (MOST - 1);
		double		p[MOST],
					q[MOST],
					r[MOST],
					mu,
					tau,
					most = 0,
					alpha = 1 + pow(10, -2 + 4 * (double) (pseudo() >> 11) * 0x1p-53),
					k = 1 + pow(10, -1 + 2 * (double) (pseudo() >> 11) * 0x1p-53),
					kl,
					renyi,
					joined;

		draw_distribution(p, n);
		draw_distribution(q, n);
		draw_distribution(r, n);
		kl = dp_kl_divergence(p, q, n);
		renyi = dp_renyi_divergence(alpha, p, q, n);
		check(kl <= renyi * (1 + 1e-13) && renyi <= dp_max_divergence(p, q, n) * (1 + 1e-13) &&
			  renyi <= dp_renyi_divergence(1.5 * alpha, p, q, n) * (1 + 1e-13), "order of divergences: %.17g, %.17g", kl, renyi);
		check(dp_renyi_divergence(alpha, p, r, n) <= dp_renyi_triangle(alpha, k, dp_renyi_divergence((k * alpha - 1) / (k - 1), p, q, n),
																		dp_renyi_divergence(k * alpha, q, r, n)) * (1 + 1e-12), "triangle");
		dp_privacy_loss(p, q, n, &mu, &tau);
		for (int i = -4000; i <= 4000; i++)
		{
			double		l = (i < 0 ? -1 : 1) * pow(10, abs(i) / 500.0 - 5);

			most = fmax(most, 2 * cumulant(p, q, n, kl, l) / (l * l));
		}
		check(tau * tau >= most * (1 - 1e-9) && tau * tau <= most * (1 + 1e-4), "tau %.17g, the largest that was met %.17g", tau, sqrt(most));
		/* order 1 + l of Renyi is the loss's moment */
		check((alpha - 1) * renyi <= (alpha - 1) * mu + (alpha - 1) * (alpha - 1) * tau * tau / 2 * (1 + 1e-12) + 1e-12, "Renyi and tau");
		p[n - 2] += p[n - 1];
		q[n - 2] += q[n - 1];
		joined = dp_renyi_divergence(alpha, p, q, n - 1);
		check(joined <= renyi * (1 + 1e-12) + 1e-15, "data processing");
	}
}

/* the larger of what the privacy loss is in both orders */
static void
loss_both_ways(const double *p, const double *q, int n, double *mu, double *tau)
{
	double		back_mu,
				back_tau;

	dp_privacy_loss(p, q, n, mu, tau);
	dp_privacy_loss(q, p, n, &back_mu, &back_tau);
	*mu = fmax(*mu, back_mu);
	*tau = fmax(*tau, back_tau);
}

/* moves p by about size, sometimes in one outcome alone */
static void
draw_neighbour(const double *p, int n, double size, double *q)
{
	double		sum = 0;
	int			alone = pseudo() % (2 * n);

	for (int i = 0; i < n; i++)
		sum += q[i] = p[i] * (alone < n && alone != i ? 1 : exp(size * ((double) (pseudo() >> 11) * 0x1p-52 - 1)));
	for (int i = 0; i < n; i++)
		q[i] /= sum;
}

/* the losses of steps never exceed the bounds of the theorem, which are below those of Dwork and Rothblum, Lemmas 4.2 and 4.3 */
static void
test_steps(void)
{
	for (int round = 0; round < sized(2000, 400, 60); round++)
	{
		int			n = 2 + pseudo() % (MOST - 1),
					k = 2 + pseudo() % 6;
		double		size = pow(10, -4 + 5 * (double) (pseudo() >> 11) * 0x1p-53),
					step[8][MOST],
					mu[2],
					tau[2],
					most_mu = 0,
					most_tau = 0,
					true_mu,
					true_tau,
					bound_mu,
					bound_tau;

		draw_distribution(step[0], n);
		for (int i = 0; i < k; i++)
		{
			/* all in one direction, or each in its own */
			if (round % 2 == 0 && i > 0)
			{
				double		sum = 0;

				for (int j = 0; j < n; j++)
					sum += step[i + 1][j] = step[i][j] * (step[1][j] / step[0][j]);
				for (int j = 0; j < n; j++)
					step[i + 1][j] /= sum;
			}
			else
				draw_neighbour(step[i], n, size, step[i + 1]);
			loss_both_ways(step[i], step[i + 1], n, &mu[i % 2], &tau[i % 2]);
			check(mu[i % 2] <= tau[i % 2] * tau[i % 2] / 2 * (1 + 1e-9) + 1e-15, "the mean %g of a loss, and tau %g", mu[i % 2], tau[i % 2]);
			most_mu = fmax(most_mu, mu[i % 2]);
			most_tau = fmax(most_tau, tau[i % 2]);
			if (i == 1)
			{
				dp_privacy_loss(step[0], step[2], n, &true_mu, &true_tau);
				dp_mcdp_triangle(mu[0], tau[0], mu[1], tau[1], &bound_mu, &bound_tau);
				check(true_mu <= bound_mu * (1 + 1e-9) + 1e-15 && true_tau <= bound_tau * (1 + 1e-9), "two steps: (%.9g, %.9g), bound (%.9g, %.9g)", true_mu, true_tau, bound_mu, bound_tau);
				if (most_tau <= 0.25)
					check(bound_mu <= (mu[0] + mu[1] + tau[0] * tau[1] + 2 * tau[0] * tau[0] * tau[1] + (tau[0] + 3 * tau[0] * tau[0]) * mu[1]) * (1 + 1e-14) &&
						  bound_tau <= 2 * most_tau + 34 * pow(most_tau, 1.5), "published bounds of two steps");
			}
		}
		dp_privacy_loss(step[0], step[k], n, &true_mu, &true_tau);
		dp_group_mcdp_general(most_mu, most_tau, k, &bound_mu, &bound_tau);
		check(true_mu <= bound_mu * (1 + 1e-9) + 1e-15 && true_tau <= bound_tau * (1 + 1e-9), "%d steps: (%.9g, %.9g), bound (%.9g, %.9g)", k, true_mu, true_tau, bound_mu, bound_tau);
		check(bound_mu <= (double) k * k * most_tau * most_tau / 2 * (1 + 1e-14), "the mean of %d steps", k);
	}
	/* extremes: no NaN, never below one step, rising */
	for (int i = 0; i < 640; i++)
	{
		double		tau = ldexp(1, i < 320 ? -5 * i / 2 : 5 * (i - 320) / 2),
					small_mu,
					small_tau,
					mu,
					large_tau;

		dp_group_mcdp_general(1, tau, 2, &small_mu, &small_tau);
		dp_group_mcdp_general(1, tau, 3, &mu, &large_tau);
		check(small_tau >= 2 * tau && large_tau >= small_tau && mu >= small_mu && small_mu >= 0, "groups of 2 and 3, tau %g: %g, %g", tau, small_tau, large_tau);
		dp_mcdp_triangle(1, tau, DBL_MAX, DBL_MAX, &mu, &large_tau);
		check(large_tau == HUGE_VAL && mu == mu, "beyond doubles");
		dp_mcdp_triangle(1, tau, 1, 0, &mu, &large_tau);
		check(large_tau == tau && mu <= fmin(1, tau * tau / 2) * (1 + 1e-14), "no step");
	}
}

/* group_mcdp where it holds, the general one, and what both are of */
static void
test_groups(void)
{
	for (int k = 2; k < 40; k += 3)
		for (double epsilon = 0.001; epsilon < 3; epsilon *= 3)
		{
			double		pair[2] = {1 / (1 + exp(-epsilon * k)), 1 / (1 + exp(epsilon * k))},
						other[2] = {pair[1], pair[0]},
						mu,
						tau,
						group_mu,
						group_tau,
						true_mu,
						true_tau;

			/* randomised response, of which a group's is randomised response */
			dp_privacy_loss(pair, other, 2, &true_mu, &true_tau);
			dp_pure_to_mcdp(epsilon, &mu, &tau);
			dp_group_mcdp(mu, tau, k, &group_mu, &group_tau);
			check(true_mu <= group_mu * (1 + 1e-12) && true_tau <= group_tau * (1 + 1e-12), "pure, %d times %g", k, epsilon);
			/* Gaussian noise's is the same in the general form, with a larger tau */
			dp_group_mcdp(0.5 * epsilon * epsilon, epsilon, k, &mu, &tau);
			dp_group_mcdp_general(0.5 * epsilon * epsilon, epsilon, k, &group_mu, &group_tau);
			ABOVE(group_mu, mu, 1e-14);
			check(group_tau >= tau && (tau > 1 || group_tau <= 1.54 * tau) && (tau > 0.1 || group_tau <= 1.14 * tau), "Gaussian, %d times %g", k, epsilon);
			dp_group_mcdp_general(0.1, epsilon, 1, &mu, &tau);
			check(mu >= fmin(0.1, 0.5 * epsilon * epsilon) && mu <= fmin(0.1, 0.5 * epsilon * epsilon * (1 + DBL_EPSILON)) && tau == epsilon, "a group of one");
		}
	ABOVE(dp_mutual_information(0.25, 4, 0.5), 4 + 0.5 * 4 * (25 / 12.0), 1e-13);
	ABOVE(dp_mutual_information(0, 4, 0.5), 2, 1e-13);
	ABOVE(dp_mutual_information_product(0.25, 4, 0.5), 3, 1e-13);
	check(dp_mutual_information(1e300, INT64_C(1) << 53, 1) == HUGE_VAL, "information beyond doubles");
}

/*
 * Bun and Steinke, Lemma 3.7: all that follows of order 1 + t, from E exp(t Z) <= exp(t (xi + s)) (1 + t d(s)
 * + t (t + 1) times the integral
 * of exp(t (x - s)) d(x) from s on), d(x) = exp(-x^2 / rho), for the best s; against rho / 4 and xi.
 */
static void
test_curve(void)
{
	for (double rho = 1; rho > 1e-12; rho /= 7)
	{
		double		zcdp_rho,
					zcdp_xi;

		dp_approx_curve_to_zcdp(0, rho, &zcdp_rho, &zcdp_xi);
		check(zcdp_rho == rho / 4, "rho");
		for (double t = 1e-5; t < 1e7; t *= 1.3)
		{
			double		best = HUGE_VAL;

			for (int i = 0; i < 160; i++)
			{
				double		s = i < 80 ? sqrt(rho) * i / 6 : t * rho * (i - 80) / 80,
							x = (s - t * rho / 2) / sqrt(rho),
							tail = x < 20 ? log(erfc(x)) : -x * x - log(x * sqrt(acos(-1))),
							integral = t * t * rho / 4 - t * s + 0.5 * log(acos(-1) * rho / 4) + tail + log(t) + log1p(t),
							most = fmax(0, integral);

				best = fmin(best, s + (most + log(exp(-most) + t * exp(-s * s / rho - most) + exp(integral - most))) / t);
			}
			check(best <= zcdp_xi + zcdp_rho * (1 + t), "rho %g, order 1 + %g: %.9g above %.9g", rho, t, best, zcdp_xi + zcdp_rho * (1 + t));
		}
	}
	{
		double		zcdp_rho,
					zcdp_xi;

		dp_approx_curve_to_zcdp(0.25, 0.0625, &zcdp_rho, &zcdp_xi);
		ABOVE(zcdp_xi, 0.25 - 0.015625 + 2.5, 1e-14);
		dp_approx_curve_to_zcdp(0.25, 0, &zcdp_rho, &zcdp_xi);
		ABOVE(zcdp_xi, 0.25, 1e-14);
	}
}

void
divergence_tests(void)
{
	RUN(test_known_losses);
	RUN(test_divergence_laws);
	RUN(test_steps);
	RUN(test_groups);
	RUN(test_curve);
}
