/*
 * test_zcdp.c
 *	  zCDP and (epsilon, delta): known values, directed rounding, limits, and
 *	  round trips; how often the best guess is right.
 */
#include <float.h>
#include <math.h>

#include "calc/zcdp_bounds.h"
#include "math/zcdp.h"
#include "unit.h"

#include "known_zcdp.h"

static void
test_known(void)
{
	size_t		i;

	for (i = 0; i < sizeof(known_zcdp) / sizeof(known_zcdp[0]); i++)
	{
		double		a = known_zcdp[i].first,
					b = known_zcdp[i].second,
					down = known_zcdp[i].down,
					up = known_zcdp[i].up,
					plain,
					outward,
					tolerance = 2e-14;

		switch (known_zcdp[i].function)
		{
			case 'e':
				plain = dp_zcdp_epsilon_tight(a, b, 0);
				outward = dp_zcdp_epsilon_up(a, b);
				check(outward >= up, "epsilon_up(%g, %g) = %.17g < %.17g", a, b, outward, up);
				break;
			case 'r':
				plain = dp_zcdp_rho_tight(a, b, 0);
				outward = dp_zcdp_rho_down(a, b);
				check(outward <= down, "rho_down(%g, %g) = %.17g > %.17g", a, b, outward, down);
				break;
			default:
				plain = dp_zcdp_delta_tight(a, b, 0);
				outward = plain;	/* rounded outwards nowhere */
				/* an exponential's relative error is its exponent's error */
				tolerance *= 1 + fabs(log(up));
		}
		check(fabs(plain - up) <= tolerance * up, "%c(%g, %g) = %.17g, not %.17g",
			  known_zcdp[i].function, a, b, plain, up);
		/* outwards, but not far */
		check(fabs(outward - up) <= 10 * tolerance * up + 1e-300, "%c(%g, %g): %.17g is far from %.17g",
			  known_zcdp[i].function, a, b, outward, up);
	}
}

static void
test_limits(void)
{
	check(dp_zcdp_epsilon_tight(1, 0, 0) == HUGE_VAL && dp_zcdp_epsilon_up(1, 0) == HUGE_VAL, "epsilon, delta 0");
	check(dp_zcdp_epsilon_tight(1, 1, 0) == 0 && dp_zcdp_epsilon_up(1, 1) == 0, "epsilon, delta 1");
	check(dp_zcdp_epsilon_tight(0, 0.5, 0) == 0 && dp_zcdp_epsilon_up(0, 1e-6) == 0, "epsilon, rho 0");
	check(dp_zcdp_epsilon_tight(0, 0, 0) == 0, "epsilon, rho 0 and delta 0");
	check(dp_zcdp_delta_tight(0, 0, 0) == 0 && dp_zcdp_delta_tight(0, 1, 0) == 0, "delta, rho 0");
	check(dp_zcdp_delta_tight(1e6, 0, 0) == 1, "delta, large rho");
	check(dp_zcdp_delta_tight(1e-12, 1000, 0) == 0, "delta below all doubles");
	check(dp_zcdp_rho_tight(1, 0, 0) == 0 && dp_zcdp_rho_down(1, 0) == 0, "rho, delta 0");
	check(dp_zcdp_rho_tight(1, 1, 0) == HUGE_VAL, "rho, delta 1");
	check(dp_zcdp_rho_down(0, 1e-6) > 0 && dp_zcdp_rho_down(0, 1e-6) < 1e-11, "rho, epsilon 0");

	/* US Census 2020, redistricting: persons and housing units */
	check(fabs(dp_zcdp_epsilon_tight(2.556226, 1e-10, 0) - 17.143551) < 3e-6, "census, persons");
	check(fabs(dp_zcdp_epsilon_tight(0.0749437, 1e-10, 0) - 2.474671) < 3e-6, "census, housing units");
}

/* any arguments: never NaN, never below 0, and ordered as they have to be */
static void
test_properties(void)
{
	static const double values[] = {0, 5e-324, DBL_MIN, 1e-300, 1e-100, 1e-18, 1e-12, 1e-6, 0.01,
	0.3, 0.9, 1, 3, 50, 700, 1000, 1e6, 1e100, 1e300, DBL_MAX};
	const int	n = sizeof(values) / sizeof(values[0]);
	int			i,
				j;

	for (i = 0; i < n; i++)
	{
		for (j = 0; j < n; j++)
		{
			double		a = values[i],
						b = values[j],
						d = dp_zcdp_delta_tight(a, b, 0);

			check(d >= 0 && d <= 1, "delta(%g, %g) = %g", a, b, d);
			if (i > 0)
				check(d >= dp_zcdp_delta_tight(values[i - 1], b, 0) * (1 - 1e-9), "delta(%g, %g) rises with rho", a, b);
			if (b <= 1)
			{
				double		e = dp_zcdp_epsilon_tight(a, b, 0),
							e_up = dp_zcdp_epsilon_up(a, b),
							r = dp_zcdp_rho_tight(a, b, 0),
							r_down = dp_zcdp_rho_down(a, b);

				check(e >= 0 && e_up >= e, "epsilon(%g, %g) = %g, up %g", a, b, e, e_up);
				check(r >= 0 && r_down >= 0 && r_down <= r, "rho(%g, %g) = %g, down %g", a, b, r, r_down);
				if (i > 0)
				{
					check(e >= dp_zcdp_epsilon_tight(values[i - 1], b, 0) * (1 - 1e-12), "epsilon(%g, %g) rises with rho", a, b);
					check(r >= dp_zcdp_rho_tight(values[i - 1], b, 0) * (1 - 1e-12), "rho(%g, %g) rises with epsilon", a, b);
				}
			}
		}
	}

	for (i = 0; i < 3000; i++)
	{
		double		epsilon = exp((double) (pseudo() % 1400) / 100 - 7);
		double		delta = exp(-(double) (pseudo() % 4000) / 100 - 0.7);
		double		rho = dp_zcdp_rho_tight(epsilon, delta, 0);
		double		rho_down = dp_zcdp_rho_down(epsilon, delta);

		/* a budget given as (epsilon, delta) is reported as no more than that */
		check(fabs(dp_zcdp_epsilon_tight(rho, delta, 0) - epsilon) <= 1e-12 * epsilon,
			  "round trip through epsilon of %.17g, %.17g", epsilon, delta);
		check(fabs(log(dp_zcdp_delta_tight(rho, epsilon, 0) / delta)) <= 1e-12 * (1 - log(delta)),
			  "round trip through delta of %.17g, %.17g", epsilon, delta);
		/* a small epsilon is what is left of numbers of the order of 1 */
		check(dp_zcdp_epsilon_up(rho_down, delta) <= epsilon * (1 + 1e-12),
			  "round trip outwards of %.17g, %.17g", epsilon, delta);
		check(dp_zcdp_epsilon_up(rho, delta) >= epsilon * (1 - 1e-13),
			  "epsilon_up of rho of %.17g, %.17g", epsilon, delta);
	}
}

/*
 * The best guess of k counts at rho / k each, from their sum: half of 1 + the
 * total variation of the sum's two laws, with and without a person, by
 * convolution of discrete Gaussians.
 */
static double
guess_of_counts(int k, double rho)
{
	enum
	{
		FAR = 300,
		SIZE = 2 * FAR + 1
	};
	static double one[SIZE],
				law[SIZE],
				next[SIZE];
	double		sum = 0,
				distance = 0;
	int			i,
				j,
				n;

	for (i = 0; i < SIZE; i++)
		sum += one[i] = exp(-(double) (i - FAR) * (i - FAR) * rho / k);
	for (i = 0; i < SIZE; i++)
		law[i] = one[i] /= sum;
	for (n = 1; n < k; n++)
	{
		for (i = 0; i < SIZE; i++)
		{
			next[i] = 0;
			for (j = i < FAR ? 0 : i - FAR; j < SIZE && j <= i + FAR; j++)
				next[i] += law[j] * one[i - j + FAR];
		}
		for (i = 0; i < SIZE; i++)
			law[i] = next[i];
	}
	/* with the person each count is one more, so that their sum is k more */
	for (i = 0; i < SIZE; i++)
		distance += fabs(law[i] - (i >= k ? law[i - k] : 0)) / 2;
	return (1 + distance) / 2;
}

static void
test_best_guess(void)
{
	/* Phi(sqrt(rho/2)), to 16 digits by mpmath */
	static const double known[][2] = {
		{1e-12, 0.5000002820947918}, {0.01, 0.5281859888985083}, {0.02, 0.5398278372770290},
		{0.5, 0.6914624612740131}, {2, 0.8413447460685429}, {8, 0.9772498680518208}, {50, 0.9999997133484281}};
	int			i,
				k;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
	{
		double		rho = known[i][0],
					guess = dp_zcdp_best_guess(rho, 0),
					with = dp_zcdp_best_guess(rho, 1e-3);

		check(guess >= known[i][1] - 1e-16 && guess - known[i][1] < 1e-14, "best_guess(%g, 0) = %.17g, not %.17g",
			  rho, guess, known[i][1]);
		check(fabs(with - (guess + 1e-3 * (1 - guess))) < 1e-14, "best_guess(%g, 1e-3) = %.17g", rho, with);
	}
	check(dp_zcdp_best_guess(0, 0) >= 0.5 && dp_zcdp_best_guess(0, 0) < 0.5 + 1e-14, "of nothing");
	check(dp_zcdp_best_guess(HUGE_VAL, 0) == 1 && dp_zcdp_best_guess(1, 1) == 1 && dp_zcdp_best_guess(1e6, 0) == 1,
		  "of everything");

	/* who is told the sum of counts with discrete noise guesses as the head of zcdp.c says */
	for (k = 1; k <= 40; k += 13)
	{
		double		rho = 0.02 * k;
		double		guess = guess_of_counts(k, rho);

		check(fabs(guess - dp_zcdp_best_guess(rho, 0)) < 1e-4, "%d counts at 0.02: %.7f, Gaussian %.7f",
			  k, guess, dp_zcdp_best_guess(rho, 0));
		check(guess <= dp_zcdp_best_guess(rho / (1 - 2 * 0.02), 0) + k * 1.1e-8, "%d counts at 0.02: %.7f", k, guess);
	}
	check(fabs(guess_of_counts(1, 1) - 0.782) < 5e-4 && fabs(dp_zcdp_best_guess(1, 0) - 0.760) < 5e-4, "one count at 1");
	check(fabs(guess_of_counts(1, 0.1) - dp_zcdp_best_guess(0.1, 0) - pow(0.1, 1.5) / 42) < 2e-5, "one count at 0.1");
}

void
zcdp_tests(void)
{
	RUN(test_known);
	RUN(test_limits);
	RUN(test_properties);
	RUN(test_best_guess);
}
