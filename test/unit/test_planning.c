/*
 * test_planning.c
 *	  Planning: what is promised must hold (margins against the discrete
 *	  Gaussian summed in long double, releases and splits against the ledger's
 *	  units), and not be far from the best.
 */
#include <float.h>
#include <math.h>

#include "calc/planning.h"
#include "math/wide.h"
#include "math/zcdp.h"
#include "calc/zcdp_bounds.h"
#include "unit.h"

/* 10^low .. 10^high, evenly in the exponent */
static double
decades(double low, double high)
{
	return pow(10, low + (high - low) * (double) (pseudo() >> 11) * 0x1p-53);
}

static void
test_sensitivity(void)
{
	/*
	 * as the release node prices: a count, a sum, its replaced and grouped
	 * forms
	 */
	check(dp_sensitivity(0, 1, 1, false, false) == 1 && dp_sensitivity(0, 3, 4, true, false) == 6, "add or remove");
	check(dp_sensitivity(-5, 3, 1, false, false) == 5 && dp_sensitivity(-5, 3, 1, false, true) == 8 &&
		  dp_sensitivity(2, 3, 1, false, true) == 3, "replaced, not grouped");
	check(fabs(dp_sensitivity(0, 1, 1, true, true) - sqrt(2)) < 1e-15 &&
		  dp_sensitivity(-5, 5, 4, true, true) == 20 && dp_sensitivity(-5, 5, 4, false, true) == 20, "replaced, grouped");
	check(dp_sensitivity(0, 0, 7, true, true) == 0 && dp_sensitivity(-DBL_MAX, DBL_MAX, 1, false, true) == HUGE_VAL, "limits");
}

/* shortest decimals of whole units */
static int64_t
units(double rho)
{
	return (int64_t) llrint(rho * (double) DP_RHO_ONE);
}

static void
test_releases(void)
{
	int			i;

	check(dp_releases_within(1, 0, 0) == 0 && dp_releases_within(1, 1, 0) == 0, "nothing fits in delta 0");
	check(dp_releases_within(1, 0, 1) == INT64_MAX && dp_releases_within(5e-324, 1, 1e-6) == INT64_MAX, "any number fits");
	check(dp_releases_within(DBL_MAX, 1, 1e-6) == 0 && dp_releases_within(1e6, DBL_MAX, 1e-6) == INT64_MAX, "limits");

	/* the ledger charges whole units, rounded up */
	check(dp_releases_within(1.1e-12, 1, 1e-6) == dp_releases_within(2e-12, 1, 1e-6) &&
		  dp_releases_within(0.0001000000000001, 1, 1e-6) == dp_releases_within(0.000100000001, 1, 1e-6), "charges");

	for (i = 0; i < 1500; i++)
	{
		double		epsilon = decades(-2, 2),
					delta = decades(-15, -1),
					most = dp_zcdp_rho_down(epsilon, delta),
					rho = rint(decades(-6, 1) * 1e6) * 1e-6;
		int64_t		k = dp_releases_within(rho, epsilon, delta);
		int64_t		parts = 1 + (int64_t) decades(0, 5);
		double		part = dp_split_budget(epsilon, delta, parts);

		/* rho has 6 digits, so that k times it is nearly exact */
		check((double) k * rho <= most * (1 + 4 * DBL_EPSILON), "%ld releases of %.17g exceed %.17g", (long) k, rho, most);
		check((double) (k + 1) * rho > most - 2e-12, "only %ld releases of %.17g in %.17g", (long) k, rho, most);
		check(dp_zcdp_epsilon_tight((double) k * rho, delta, 0) <= epsilon * (1 + 1e-13), "%ld releases of %.17g", (long) k, rho);
		check(dp_releases_within(rho, epsilon * 1.01, delta) >= k && dp_releases_within(rho * 1.01, epsilon, delta) <= k &&
			  dp_releases_within(rho, epsilon, delta * 1.01) >= k,
			  "releases_within(%.17g, %.17g, %.17g) is not monotone", rho, epsilon, delta);

		if (part == DP_NO_ANSWER)
			check(most < 1e-12 * (double) parts * (1 + 1e-12) + 1e-12, "no split of %.17g by %ld", most, (long) parts);
		else
			check((double) units(part) * (double) parts <= most * (double) DP_RHO_ONE &&
				  dp_releases_within(part, epsilon, delta) >= parts, "%ld times %.17g in %.17g", (long) parts, part, most);
	}
}

static void
test_split(void)
{
	const double weights[] = {1, 2, 0, 5};
	const double thirds[] = {1, 1, 1};
	const double none[] = {0, 0};
	double		parts[40],
				drawn[40];
	int			i;

	check(dp_split_rho(1, 10) == 0.1 && dp_split_rho(0.3, 3) == 0.1 && dp_split_rho(1, 3) == 0.333333333333, "plain splits");
	check(dp_split_rho(0, 3) == 0 && dp_split_rho(1e-12, 1) == 1e-12 && dp_split_rho(1e-12, 2) == DP_NO_ANSWER &&
		  dp_split_rho(1, INT64_MAX) == DP_NO_ANSWER, "splits too small");
	check(dp_split_rho(1e300, 2) > 4.9e299 && dp_split_rho(1e300, 2) <= 5e299 && dp_split_budget(1, 1, 3) == HUGE_VAL, "large splits");
	check(dp_split_weighted(0.8, weights, 4, parts) && parts[0] == 0.1 && parts[1] == 0.2 && parts[2] == 0 && parts[3] == 0.5, "weights");
	check(dp_split_weighted(1, thirds, 3, parts) && parts[0] == 0.333333333333 && parts[2] == parts[0], "equal weights");
	check(!dp_split_weighted(1, none, 2, parts) && !dp_split_weighted(0, thirds, 3, parts), "no weights, nothing to split");

	for (i = 0; i < 1000; i++)
	{
		int64_t		total = (int64_t) (pseudo() % UINT64_C(1000000000000000));
		double		rho = (double) total / (double) DP_RHO_ONE;
		int64_t		k = 1 + (int64_t) (pseudo() % 1000);
		int			n = 1 + (int) (pseudo() % 40);
		double		part = dp_split_rho(rho, k);
		int64_t		sum = 0;
		int			j;

		if (total >= k)
			check(units(part) == total / k && (double) units(part) / (double) DP_RHO_ONE == part, "%.17g by %ld", rho, (long) k);
		for (j = 0; j < n; j++)
			drawn[j] = decades(-3, 300);
		if (dp_split_weighted(rho, drawn, n, parts))
		{
			for (j = 0; j < n; j++)
				sum += units(parts[j]);
			check(sum <= total && sum >= total - n - total / 1000000000, "weighted parts sum to %ld of %ld", (long) sum, (long) total);
		}
	}
}

/* P[|X| <= w] for the discrete Gaussian of sigma */
static long double
within(long double sigma, int64_t w)
{
	long double inside = 1,
				outside = 0;
	int64_t		x,
				top = w + (int64_t) (12 * sigma) + 20;

	for (x = 1; x <= w; x++)
		inside += 2 * expl(-(long double) x * x / (2 * sigma * sigma));
	for (; x <= top; x++)
		outside += 2 * expl(-(long double) x * x / (2 * sigma * sigma));
	return inside / (inside + outside);
}

static void
test_noise(void)
{
	static const double ps[] = {1e-12, 0.1, 0.5, 0.682, 0.9, 0.95, 0.99, 0.999, 0.999999, 1 - 1e-12};
	int			i;

	check(dp_stddev_of(0.5, 1) == 1 && dp_stddev_of(0.005, 3) == 30 && dp_rho_for_stddev(10, 1) == 0.005, "plain numbers");
	check(dp_stddev_of(0, 1) == HUGE_VAL && dp_stddev_of(0, 0) == 0 && dp_stddev_of(DBL_MAX, 1) > 0 &&
		  dp_rho_for_stddev(0, 1) == HUGE_VAL && dp_rho_for_stddev(0, 0) == 0 && dp_rho_for_stddev(1e-200, 1e-200) == 0.5, "limits");
	check(dp_margin_of(0, 0.5, 1, 1) == HUGE_VAL && dp_margin_of(0, 0.5, 0, 1) == 0 && dp_margin_of(1, 0, 1, 1) == 0, "limits");
	check(dp_rho_for_margin(0, 0.5, 1, 0) == HUGE_VAL && dp_rho_for_margin(0, 0.5, 0, 0) == 0 &&
		  dp_rho_for_margin(1, 0, 1, 1) == 0, "limits");
	/* no noise but 0 half of the time */
	check(dp_margin_of(dp_rho_for_margin(0, 0.5, 1, 1), 0.5, 1, 1) == 0 && dp_rho_for_margin(0, 0.5, 1, 1) < 2, "exact half of the time");

	/* sigma of 0.1 to 100 steps */
	for (i = 0; i < 400; i++)
	{
		double		p = ps[pseudo() % 10],
					step = pseudo() % 3 ? 1 : 0.25,
					sensitivity = decades(-1, 1),
					rho = 0.5 * pow(sensitivity / (step * decades(-1, 2)), 2),
					s = dp_stddev_of(rho, sensitivity) / step,
					w = dp_margin_of(rho, p, sensitivity, step),
					back;
		int64_t		steps = (int64_t) rint(w / step);
		double		allowed = 1 - 1e-9 * (1 - p);

		check((double) steps * step == w && within(s, steps) >= 1 - (1 - (long double) p) * (1 + 1e-12L),
			  "noise of sigma %.17g within %.17g with probability %.17g", s, w, p);
		if (steps > (s > 32))
			check(within(s, steps - 1 - (s > 32)) < p + 1e-9 * (1 - p), "sigma %.17g, p %.17g: %.17g is too large", s, p, w);

		/* back to a rho that does, and is not larger than need be */
		back = dp_rho_for_margin(w, p, sensitivity, step);
		check(back <= rho * (1 + 1e-9) && dp_margin_of(back, p, sensitivity, step) <= w, "rho_for_margin(%.17g, %.17g) = %.17g", w, p, back);
		/* the jump to the next margin is there */
		if (s < 32 && back > 0)
			check(dp_margin_of(back * (1 - 1e-8), p, sensitivity, step) > w || dp_stddev_of(back, sensitivity) / step > 31.9,
				  "rho_for_margin(%.17g, %.17g) = %.17g is too large", w, p, back);

		/* continuous */
		w = dp_margin_of(rho, p, sensitivity, 0);
		check(fabsl(erfl((long double) w / dp_stddev_of(rho, sensitivity) / sqrtl(2)) / p - 1) < 4e-15L ||
			  fabsl(erfcl((long double) w / dp_stddev_of(rho, sensitivity) / sqrtl(2)) / (1 - p) - 1) < 4e-14L, "quantile of %.17g", p);
		check(fabs(dp_rho_for_margin(w, p, sensitivity, 0) / rho - 1) < 8 * DBL_EPSILON,
			  "rho %.17g by a continuous margin and back, p %.17g, sensitivity %.17g", rho, p, sensitivity);
		check(fabs(dp_rho_for_stddev(dp_stddev_of(rho, sensitivity), sensitivity) / rho - 1) < 4 * DBL_EPSILON,
			  "rho %.17g by stddev and back, sensitivity %.17g", rho, sensitivity);

		/* monotone in every argument */
		w = dp_margin_of(rho, p, sensitivity, step);
		check(dp_margin_of(rho * 1.1, p, sensitivity, step) <= w && dp_margin_of(rho, p * allowed, sensitivity, step) <= w &&
			  dp_margin_of(rho, p, sensitivity * 1.1, step) >= w,
			  "margin_of(%.17g, %.17g, %.17g, %g) is not monotone", rho, p, sensitivity, step);
		check(dp_rho_for_margin(w + step, p, sensitivity, step) <= dp_rho_for_margin(w, p, sensitivity, step) * (1 + 1e-9) &&
			  dp_rho_for_margin(w, p, sensitivity * 1.1, step) >= dp_rho_for_margin(w, p, sensitivity, step),
			  "rho_for_margin(%.17g, %.17g, %.17g, %g) is not monotone", w, p, sensitivity, step);
	}
}

/* any magnitude: never NaN or below 0, and an end */
static void
test_extremes(void)
{
	static const double v[] = {0, 5e-324, DBL_MIN, 1e-155, 1e-18, 1e-12, 1e-6, 0.5, 1, 32, 1e6, 9.1e6, 1e18, 1e155, DBL_MAX};
	static const double ps[] = {5e-324, 1e-18, 0.5, 1 - DBL_EPSILON / 2};
	static const int64_t ks[] = {1, 7, INT64_MAX};
	const int	n = sizeof(v) / sizeof(v[0]);
	int			i,
				j,
				l;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
		{
			double		x;

			x = dp_stddev_of(v[i], v[j]);
			check(x >= 0, "stddev_of(%g, %g) = %g", v[i], v[j], x);
			x = dp_rho_for_stddev(v[i], v[j]);
			check(x >= 0, "rho_for_stddev(%g, %g) = %g", v[i], v[j], x);
			for (l = 0; l < n * 4; l++)
			{
				x = dp_margin_of(v[i], ps[l % 4], v[j], v[l / 4]);
				check(x >= 0, "margin_of(%g, %g, %g, %g) = %g", v[i], ps[l % 4], v[j], v[l / 4], x);
				x = dp_rho_for_margin(v[i], ps[l % 4], v[j], v[l / 4]);
				check(x >= 0, "rho_for_margin(%g, %g, %g, %g) = %g", v[i], ps[l % 4], v[j], v[l / 4], x);
			}
			for (l = 0; l < 4; l++)
				if (v[i] > 0)
					check(dp_releases_within(v[i], v[j], ps[l]) >= 0, "releases_within(%g, %g, %g)", v[i], v[j], ps[l]);
			for (l = 0; l < 3; l++)
			{
				x = dp_split_rho(v[i], ks[l]);
				check(x >= 0 || x == DP_NO_ANSWER, "split_rho(%g, %ld) = %g", v[i], (long) ks[l], x);
				if (v[j] <= 1)
				{
					x = dp_split_budget(v[i], v[j], ks[l]);
					check(x >= 0 || x == DP_NO_ANSWER, "split_budget(%g, %g, %ld) = %g", v[i], v[j], (long) ks[l], x);
				}
			}
		}
}

void
planning_tests(void)
{
	RUN(test_sensitivity);
	RUN(test_releases);
	RUN(test_split);
	RUN(test_noise);
	RUN(test_extremes);
}
