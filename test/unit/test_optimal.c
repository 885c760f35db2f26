/*
 * test_optimal.c
 *	  Optimal composition: known values, limits, monotonicity, inverses, and
 *	  the ways to say the same list.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calc/gaussian.h"
#include "calc/optimal.h"
#include "unit.h"

#include "known_optimal.h"

#define LIST_MAX 4000

static double
distance(double got, double want)
{
	return got == want ? 0 : fabs(got - want) / fabs(want);
}

/* the list versions with memory of just the size they ask for */
static double
list(char function, const double *epsilon, const double *delta, int n, double given)
{
	size_t		size = dp_compose_optimal_scratch(epsilon, n);
	void	   *scratch = malloc(size);
	double		result = -1;
	bool		done;

	if (function == 'd')
		done = dp_compose_optimal_delta_list(epsilon, delta, n, given, scratch, &result);
	else
		done = dp_compose_optimal_epsilon_list(epsilon, delta, n, given, scratch, &result);
	check(done, "a list of %d is tractable", n);
	free(scratch);
	return result;
}

static double
alike(char function, double epsilon, double delta, int64_t k, double given)
{
	double		result = -1;
	bool		done;

	if (function == 'd')
		done = dp_compose_optimal_delta(epsilon, delta, k, given, &result);
	else
		done = dp_compose_optimal_epsilon(epsilon, delta, k, given, &result);
	check(done, "%.0f alike are tractable", (double) k);
	return result;
}

static void
test_known(void)
{
	static double epsilon[LIST_MAX],
				delta[LIST_MAX];
	size_t		i;

	for (i = 0; i < sizeof(known_optimal) / sizeof(known_optimal[0]); i++)
	{
		const KnownOptimal *k = &known_optimal[i];
		double		got;

		/* D is linear in what is left of the loss at the far end */
		double		tolerance = k->function == 'd' ? 1e-14 : 4e-15;
		int			n = 0;
		int			g,
					j;

		for (g = 0; g < k->groups; g++)
		{
			for (j = 0; j < k->group[g].copies; j++)
			{
				epsilon[n] = k->group[g].epsilon;
				delta[n++] = k->group[g].delta;
			}
		}
		got = list(k->function, epsilon, delta, n, k->given);
		check(distance(got, k->value) <= tolerance, "row %d: list %c(%.17g) = %.17g, not %.17g (off by %.1e)",
			  (int) i, k->function, k->given, got, k->value, distance(got, k->value));
		if (k->groups == 1)
		{
			got = alike(k->function, epsilon[0], delta[0], n, k->given);
			check(distance(got, k->value) <= tolerance, "row %d: alike %c(%.17g) = %.17g, not %.17g (off by %.1e)",
				  (int) i, k->function, k->given, got, k->value, distance(got, k->value));
		}
	}
}

static void
test_limits(void)
{
	double		many[40],
				zeros[40] = {0};
	double		huge[] = {1e300, 1e305, 1};
	double		mixed[] = {0.3, 0, 0.2, 0};
	double		some_delta[] = {0, 0.25, 0, 0.5};
	double		result = -1;
	int			i;

	check(alike('d', 1, 0, 0, 0) == 0 && alike('e', 1, 0.5, 0, 0) == 0, "none");
	check(list('d', NULL, NULL, 0, 0) == 0 && list('e', NULL, NULL, 0, 0) == 0, "an empty list");
	check(alike('d', 0, 0.5, 2, 0) == 0.75 && alike('e', 0, 0.5, 2, 0.75) == 0 &&
		  alike('e', 0, 0.5, 2, 0.7) == HUGE_VAL, "delta alone");
	check(alike('e', 1, 0.5, 2, 0.75) == 2 && alike('e', 0.3, 1e-6, 1, 1e-6) == 0.3, "the whole epsilon");
	check(alike('d', 1, 1, 3, 2) == 1 && alike('e', 1, 1, 3, 0.9) == HUGE_VAL && alike('e', 1, 1, 3, 1) == 0, "delta 1");
	check(alike('d', 0.5, 0, 10, 5) == 0 && alike('d', 0.5, 0, 10, 1e300) == 0, "all of the loss");
	check(alike('d', 1e308, 0, 9, 1e308) == 1 && alike('e', 1e308, 0, 9, 1e-9) == HUGE_VAL, "huge losses");
	check(alike('d', 5e-324, 0, 9, 5e-324) < 1e-320, "tiny losses");
	check(!dp_compose_optimal_delta(1, 0, DP_OPTIMAL_K_MAX + 1, 1, &result) &&
		  !dp_compose_optimal_epsilon(1, 0, DP_OPTIMAL_K_MAX + 1, 1, &result) && result == -1, "too many alike");

	check(list('e', mixed, some_delta, 4, 0.625) == 0.5, "a list's whole epsilon");
	check(distance(list('d', mixed, some_delta, 4, 0.5), 0.625) < 1e-15, "a list's delta alone");
	for (i = 0; i < 40; i++)
		many[i] = 0.01 * (i + 1);
	check(dp_compose_optimal_scratch(many, 36) < 20000000, "36 different ones");
	check(dp_compose_optimal_scratch(many, 37) == SIZE_MAX &&
		  !dp_compose_optimal_delta_list(many, zeros, 37, 1, NULL, &result) &&
		  !dp_compose_optimal_epsilon_list(many, zeros, 37, 0.1, NULL, &result) && result == -1,
		  "37 different ones");
	check(dp_compose_optimal_scratch(huge, 3) == SIZE_MAX, "losses off the range");
}

static double
uniform(double low, double high)
{
	return low + (high - low) * (double) (pseudo() >> 11) * 0x1p-53;
}

static void
test_alike_properties(void)
{
	int			i;

	for (i = 0; i < 300; i++)
	{
		double		epsilon = exp(uniform(-12, 2));
		double		delta = i % 2 ? exp(-uniform(10, 40)) : 0;
		int64_t		k = (int64_t) exp(uniform(0, 10));
		double		epsilon_g = k * epsilon * uniform(0, 1) * (i % 3 ? 1 : 1 / sqrt(k));
		double		d = alike('d', epsilon, delta, k, epsilon_g);
		double		back = alike('e', epsilon, delta, k, d);
		double		lost = -expm1(k * log1p(-delta));

		check(d >= lost * (1 - 1e-15) && d <= 1, "delta of %g, %g, %d, %g is %g", epsilon, delta, (int) k, epsilon_g, d);
		check(alike('d', epsilon * 1.01, delta, k, epsilon_g) >= d * (1 - 1e-12) &&
			  alike('d', epsilon, delta * 1.01, k, epsilon_g) >= d * (1 - 1e-12) &&
			  alike('d', epsilon, delta, k + 1, epsilon_g) >= d * (1 - 1e-12) &&
			  alike('d', epsilon, delta, k, epsilon_g * 1.01) <= d * (1 + 1e-12),
			  "delta of %g, %g, %d, %g rises and falls", epsilon, delta, (int) k, epsilon_g);
		/* where the loss matters, epsilon comes back */
		if (d - lost > 1e-6 * d && d > 1e-290 && d < 0.9)
			check(fabs(back - epsilon_g) <= 1e-9 * epsilon_g + 1e-14, "epsilon of delta of %g, %g, %d, %g: %g",
				  epsilon, delta, (int) k, epsilon_g, back);
		if (d < 0.9)
			check(alike('d', epsilon, delta, k, back) <= d * (1 + 1e-11), "epsilon %g is enough for %g", back, d);

		/*
		 * no worse than adding up, unless d was rounded to below what delta
		 * loses
		 */
		check(back <= k * epsilon || distance(d, lost) < 1e-14, "epsilon %g beyond %d times %g", back, (int) k, epsilon);
	}

	/* many small ones are Gaussian (Dong, Roth, Su, Theorem 6) */
	check(distance(alike('d', 1e-4, 0, 100000000, 1), dp_gdp_delta(1, 1)) < 1e-7, "central limit, delta");
	check(distance(alike('e', 1e-4, 0, 100000000, 1e-6), dp_gdp_epsilon(1, 1e-6)) < 1e-6, "central limit, epsilon");

	/*
	 * as many as there may be, and what has no answer in double precision, in
	 * little time
	 */
	check(alike('d', 1e-5, 0, DP_OPTIMAL_K_MAX, 1) > 0.1, "the largest k");
	check(alike('e', 1, 0, DP_OPTIMAL_K_MAX, 1 - 0x1p-53) <= 1e10, "the largest k, next to delta 1");
	check(alike('e', 3, 1e-17, 1000, 1 - 0x1p-53) >= 0, "next to delta 1");
}

static void
test_list_properties(void)
{
	double		epsilon[40],
				delta[40];
	int			i,
				j;

	for (i = 0; i < 100; i++)
	{
		int			n = 2 + pseudo() % 9;
		double		scale = exp(uniform(-9, 1));
		double		sum = 0,
					given,
					d,
					back,
					other;

		for (j = 0; j < n; j++)
		{
			epsilon[j] = scale * (1 + pseudo() % 6);
			delta[j] = i % 2 ? exp(-uniform(15, 40)) : 0;
			sum += epsilon[j];
		}
		given = sum * uniform(0, 0.9);
		d = list('d', epsilon, delta, n, given);
		back = list('e', epsilon, delta, n, d);
		/* the step there is between losses, and what rounding does to d */
		check(fabs(back - given) <= 1e-9 * given + 1e-12 * scale || d > 0.9 || d < 1e-8,
			  "epsilon of delta of list %d: %.17g, not %.17g", i, back, given);
		check(back <= sum * (1 + 1e-15), "epsilon of list %d beyond the sum", i);

		/* the order and mechanisms that do nothing do not matter */
		for (j = 0; j < n / 2; j++)
		{
			other = epsilon[j];
			epsilon[j] = epsilon[n - 1 - j];
			epsilon[n - 1 - j] = other;
		}
		epsilon[n] = delta[n] = 0;
		check(distance(list('d', epsilon, delta, n + 1, given), d) < 1e-13, "list %d turned around", i);
		/* one more mechanism costs */
		epsilon[n] = scale;
		check(list('d', epsilon, delta, n + 1, given) >= d * (1 - 1e-13), "list %d and one more", i);
		check(list('d', epsilon, delta, n, given * 1.01) <= d * (1 + 1e-13), "list %d, epsilon_g larger", i);
	}

	/* nearly alike, in two halves, or alike: 0.1 and its neighbour */
	for (i = 0; i < 30; i++)
	{
		epsilon[i] = i % 2 ? 0.1 : nextafter(0.1, 1);
		delta[i] = 0;
	}
	check(distance(list('d', epsilon, delta, 30, 1), alike('d', 0.1, 0, 30, 1)) < 1e-14, "nearly alike, delta");
	check(distance(list('e', epsilon, delta, 30, 1e-4), alike('e', 0.1, 0, 30, 1e-4)) < 1e-14, "nearly alike, epsilon");
	check(distance(list('e', epsilon, delta, 30, 1e-200), 30 * 0.1) < 1e-14, "nearly alike, far out");
}

void
optimal_tests(void)
{
	RUN(test_known);
	RUN(test_limits);
	RUN(test_alike_properties);
	RUN(test_list_properties);
}
