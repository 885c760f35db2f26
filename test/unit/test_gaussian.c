/*
 * test_gaussian.c
 *	  The normal law's tails, Gaussian differential privacy and the discrete
 *	  Gaussian: known values, limits, monotonicity, inverses.
 */
#include <float.h>
#include <math.h>

#include "calc/discrete_gaussian.h"
#include "calc/gaussian.h"
#include "calc/tail_pair.h"
#include "math/normal.h"
#include "math/normal_core.h"
#include "unit.h"

#include "known_gaussian.h"

static double
distance(double got, double want)
{
	return got == want ? 0 : fabs(got - want) / fabs(want);
}

static void
test_known(void)
{
	size_t		i;

	for (i = 0; i < sizeof(known_gaussian) / sizeof(known_gaussian[0]); i++)
	{
		const KnownGaussian *k = &known_gaussian[i];
		const double *a = k->args;
		double		got,
					tolerance = 2e-15;

		switch (k->function)
		{
			case 'Q':
				got = dp_normal_tail(a[0]);
				break;
			case 'M':
				got = dp_normal_mills(a[0]);
				break;
			case 'q':
				got = dp_normal_tail_inverse(a[0]);
				/* near 1/2 the quantile is what is left of q - 1/2 */
				if (a[0] > 0.4 && a[0] < 0.6)
					tolerance = 1e-15 / fabs(a[0] - 0.5);
				break;
			case 'd':
				got = dp_gdp_delta(a[0], a[1]);
				/* sigma = 1, so mu is the sensitivity */
				check(dp_gaussian_delta(a[0], 1, a[1]) == got, "gaussian_delta(%g, 1, %g)", a[0], a[1]);
				tolerance = 3e-15 + 1e-16 * fabs(log(k->value));
				break;
			case 'e':
				got = dp_gdp_epsilon(a[0], a[1]);
				check(dp_gaussian_epsilon(a[0], 1, a[1]) == got, "gaussian_epsilon(%g, 1, %g)", a[0], a[1]);
				break;
			case 'm':
				got = dp_gdp_mu(a[0], a[1]);
				check(distance(dp_gaussian_stddev(3, a[0], a[1]), 3 / k->value) <= 3e-15,
					  "gaussian_stddev(3, %g, %g)", a[0], a[1]);
				break;
			default:
				got = dp_discrete_gaussian_delta(a[0], a[1], a[2]);
				tolerance = 2e-15 + 1e-16 * fabs(log(k->value));
		}
		check(distance(got, k->value) <= tolerance, "%c(%.17g, %.17g, %.17g) = %.17g, not %.17g (off by %.1e)",
			  k->function, a[0], a[1], a[2], got, k->value, distance(got, k->value));
	}
}

static void
test_limits(void)
{
	check(dp_normal_tail(HUGE_VAL) == 0 && dp_normal_tail(-HUGE_VAL) == 1 &&
		  dp_normal_density(HUGE_VAL) == 0, "tail, infinities");
	check(dp_normal_tail_inverse(0) == HUGE_VAL && dp_normal_tail_inverse(1) == -HUGE_VAL &&
		  dp_normal_tail_inverse(0.5) == 0, "quantile, limits");
	check(fabs(dp_normal_tail_inverse(0.025) - 1.959963984540054) < 1e-15, "quantile, 95%%");
	check(dp_normal_tail_inverse(5e-324) > 38 && dp_normal_tail_inverse(5e-324) < 39, "quantile, least");
	check(dp_normal_mills(1e9) == 1e-9 && dp_normal_mills(-100) == HUGE_VAL, "Mills ratio, far out");

	check(dp_gaussian_rho(2, 10) == 0.020000000000000004 || dp_gaussian_rho(2, 10) == 0.02, "rho");
	check(dp_gaussian_rho(0, 1) == 0 && dp_gaussian_rho(1e300, 1e-300) == HUGE_VAL, "rho, limits");
	check(dp_gaussian_stddev_zcdp(1, 0) == HUGE_VAL && dp_gaussian_stddev_zcdp(0, 0) == 0 &&
		  dp_gaussian_stddev_zcdp(1, 0.5) == 1, "sigma of rho");
	check(dp_gaussian_stddev_zcdp(1e154, DBL_MAX) > 0.5, "sigma of the largest rho");
	check(dp_gdp_to_zcdp(3) == 4.5 && dp_gaussian_gdp(3, 2) == 1.5, "mu");

	check(dp_gdp_delta(0, 0) == 0 && dp_gdp_delta(1e-300, 0) > 0 && dp_gdp_delta(1e-300, 1) == 0, "delta, small mu");
	check(dp_gdp_delta(1e300, 1e300) == 1 && dp_gdp_delta(1e5, 0) == 1, "delta, large mu");
	check(dp_gaussian_delta(1e300, 1e-300, 1) == 1 && dp_gaussian_delta(1e-300, 1e300, 0) == 0, "delta, ratio off the range");
	check(dp_gdp_epsilon(1, 0) == HUGE_VAL && dp_gdp_epsilon(1, 1) == 0 && dp_gdp_epsilon(0, 0) == 0 &&
		  dp_gdp_epsilon(1, 0.5) == 0, "epsilon, limits");
	check(dp_gdp_mu(1, 0) == 0 && dp_gdp_mu(1, 1) == HUGE_VAL && dp_gdp_mu(0, 0) == 0, "mu, limits");
	check(dp_gaussian_stddev(1, 1, 0) == HUGE_VAL && dp_gaussian_stddev(1, 1, 1) == 0 &&
		  dp_gaussian_stddev(0, 1, 0) == 0, "sigma, limits");
	check(dp_gaussian_stddev_classic(1, 1.0000001, 1e-5) == -1 && dp_gaussian_stddev_classic(1, 0, 1e-5) == -1 &&
		  dp_gaussian_stddev_classic(1, 1, 0) == HUGE_VAL && dp_gaussian_stddev_classic(0, 1, 0) == 0,
		  "classic sigma, limits");
	check(distance(dp_gaussian_stddev_classic(1, 1, 1e-5), 4.844805262605389) < 1e-15, "classic sigma");

	check(dp_discrete_gaussian_delta(0, 1, 0) == 0 && dp_discrete_gaussian_delta(1, 1e-300, 1e10) == 1 &&
		  dp_discrete_gaussian_delta(1, 1e-2, 5000) == 0, "discrete, limits");
	check(dp_discrete_gaussian_delta(1, 200, 1) == 0, "discrete, below all doubles");

	/* Google's differential-privacy library states these */
	check(fabs(dp_gaussian_delta(1, 1, 0) - 0.38292492) < 1e-8 &&
		  fabs(dp_gaussian_delta(1, 1, 2) - 0.020923636) < 1e-9, "published delta");
}

/* does the first of two grow or stay, but for rounding? */
static bool
no_less(double larger, double smaller)
{
	return larger >= smaller * (1 - 1e-13) - DBL_MIN;
}

/* any arguments: never NaN, in range, and ordered as they have to be */
static void
test_any(void)
{
	static const double values[] = {0, 5e-324, DBL_MIN, 1e-300, 1e-100, 1e-18, 1e-12, 1e-6, 0.01,
	0.3, 0.5, 0.9, 1 - 1e-16, 1, 1.5, 3, 38, 50, 700, 1000, 1e6, 1e100, 1e300, DBL_MAX};
	const int	n = sizeof(values) / sizeof(values[0]);
	int			i,
				j,
				l;

	for (i = 0; i < n; i++)
	{
		for (j = 0; j < n; j++)
		{
			double		a = values[i],
						b = values[j],
						d = dp_gdp_delta(a, b);

			check(d >= 0 && d <= 1, "delta(%g, %g) = %g", a, b, d);
			if (i > 0)
				check(no_less(d, dp_gdp_delta(values[i - 1], b)), "delta(%g, %g) rises with mu", a, b);
			if (j > 0)
				check(no_less(dp_gdp_delta(a, values[j - 1]), d), "delta(%g, %g) falls with epsilon", a, b);
			if (b <= 1)
			{
				double		e = dp_gdp_epsilon(a, b),
							m = dp_gdp_mu(a, b);

				check(e >= 0 && m >= 0, "epsilon(%g, %g) = %g, mu = %g", a, b, e, m);
				if (i > 0)
				{
					check(no_less(e, dp_gdp_epsilon(values[i - 1], b)), "epsilon(%g, %g) rises with mu", a, b);
					check(no_less(m, dp_gdp_mu(values[i - 1], b)), "mu(%g, %g) rises with epsilon", a, b);
				}
				if (j > 0)
				{
					check(no_less(dp_gdp_epsilon(a, values[j - 1]), e), "epsilon(%g, %g) falls with delta", a, b);
					check(no_less(m, dp_gdp_mu(a, values[j - 1])), "mu(%g, %g) rises with delta", a, b);
				}
			}
			for (l = 1; l < n; l += 2)
			{
				double		sigma = values[l],
							dd = dp_discrete_gaussian_delta(floor(a), sigma, b);

				check(dd >= 0 && dd <= 1, "discrete delta(%g, %g, %g) = %g", floor(a), sigma, b, dd);
				check(dp_gaussian_stddev_zcdp(a, b) >= 0 && dp_gaussian_rho(a, sigma) >= 0,
					  "sigma or rho of %g, %g, %g", a, b, sigma);
				if (b <= 1)
					check(dp_gaussian_stddev(a, sigma, b) >= 0 && dp_gaussian_epsilon(a, sigma, b) >= 0,
						  "sigma and epsilon of %g, %g, %g", a, sigma, b);
			}
		}
	}
}

static double
uniform(double low, double high)
{
	return low + (high - low) * (double) (pseudo() >> 11) * 0x1p-53;
}

static void
test_properties(void)
{
	int			i;

	for (i = 0; i < 2000; i++)
	{
		double		mu = exp(uniform(-9, 4));
		double		delta = exp(-uniform(0.01, 60));
		double		epsilon = dp_gdp_epsilon(mu, delta);
		double		back;
		double		q = exp(-uniform(0.7, 700));

		/* Returns how much of an error in epsilon a delta shows. */
		if (epsilon > 0)
		{
			dp_tail_pair pair;
			double		condition;

			dp_normal_tail_pair(epsilon / mu, 0, mu, &pair);
			condition = epsilon * pair.second / pair.drop;
			check(distance(dp_gdp_delta(mu, epsilon), delta) <= 4e-15 + 4e-16 * condition,
				  "delta of epsilon(%.17g, %.17g)", mu, delta);
			back = dp_gdp_mu(epsilon, delta);
			condition = epsilon * pair.second / (mu * pair.density);
			check(distance(back, mu) <= 4e-15 + 4e-16 * condition, "mu of epsilon(%.17g, %.17g): %.17g",
				  mu, delta, back);
			check(fabs(pair.drop + pair.rest - 1) < 4e-16, "tails add up at %g, %g", mu, epsilon);
			/* A mechanism of rho = mu^2 / 2 is known to satisfy this. */
			check(epsilon <= 0.5 * mu * mu + mu * sqrt(-2 * log(delta)),
				  "epsilon(%.17g, %.17g) = %.17g is beyond that of zCDP", mu, delta, epsilon);
		}
		else
			check(dp_gdp_delta(mu, 0) <= delta * (1 + 1e-15), "no epsilon needed at %g, %g", mu, delta);

		check(distance(dp_normal_tail(dp_normal_tail_inverse(q)), q) <= 1e-15 * (4 - 2 * log(q)),
			  "tail of quantile %g", q);
	}

	/* where one method ends and the next begins */
	for (i = 0; i < 60; i++)
	{
		double		c = 0.1 * i;
		double		width = i % 2 ? 1 : 0.37;
		double		before = nextafter(i % 3 ? 2 : c, 0),
					after = i % 3 ? 2 : c;
		dp_tail_pair p,
					q;

		dp_normal_tail_pair(before, 0, width, &p);
		dp_normal_tail_pair(after, 0, nextafter(width, 2), &q);
		check(distance(p.drop, q.drop) < 4e-15 * (1 + c), "tails join at %g, %g", c, width);
		check(distance(p.second, q.second) < 4e-15 * (1 + c), "second tails join at %g, %g", c, width);
	}

	/*
	 * discrete: near the continuous for large sigma, and the sum joins the
	 * formula
	 */
	for (i = 0; i < 40; i++)
	{
		double		sensitivity = floor(exp(uniform(0, 8)));
		double		mu = sensitivity / 512;
		double		epsilon = fmax(0, mu * (0.5 * mu + uniform(-3, 8)));
		double		before = dp_discrete_gaussian_delta(sensitivity, nextafter(512, 0), epsilon),
					after = dp_discrete_gaussian_delta(sensitivity, 512, epsilon),
					smooth = dp_gdp_delta(mu, epsilon);

		check(distance(before, after) <= 4e-15 * (2 - log(after)), "discrete sum joins at %g, %.17g: %.17g, %.17g",
			  sensitivity, epsilon, before, after);
		check(distance(after, smooth) < 1e-3, "discrete near continuous at %g, %g", sensitivity, epsilon);
		check(distance(dp_discrete_gaussian_delta(sensitivity * 1e9, 512e9, epsilon), smooth) <= 1e-14 * (2 - log(after)),
			  "discrete, fine grid at %g, %g", sensitivity, epsilon);
	}
	for (i = 0; i < 200; i++)
	{
		double		sensitivity = 1 + pseudo() % 20;
		double		sigma = exp(uniform(-2, 3.5));
		double		mu = sensitivity / sigma;
		double		epsilon = fmax(0, mu * (0.5 * mu + uniform(-3, 6)));
		double		d = dp_discrete_gaussian_delta(sensitivity, sigma, epsilon);

		/*
		 * it does not fall with sigma: what noise there is depends on the
		 * grid
		 */
		check(no_less(d, dp_discrete_gaussian_delta(sensitivity, sigma, epsilon * 1.01 + 1e-9)),
			  "discrete delta(%g, %g, %g) falls with epsilon", sensitivity, sigma, epsilon);
	}
}

void
gaussian_tests(void)
{
	RUN(test_known);
	RUN(test_limits);
	RUN(test_any);
	RUN(test_properties);
}
