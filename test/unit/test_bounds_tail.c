/*
 * test_bounds_tail.c
 *	  Far values that found bounds leave out of an average: known answers, a
 *	  simulation beside bounds that are left as they were found, and what holds for any counts.
 *
 * The noise comes from a generator with a fixed seed: simulations give the
 * same figures in every run and cannot fail by chance.
 */
#include <math.h>
#include <string.h>

#include "math/bounds_tail.h"
#include "math/quantile.h"
#include "unit.h"

#define VALUES 3000
#define RUNS 200

static double
uniform(void)
{
	return ((double) (pseudo() >> 12) + 0.5) * 0x1p-52;
}

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static double
uniform_value(void)
{
	return 50 * uniform();
}

static double
lognormal_value(void)
{
	return exp(3 + 1.2 * normal());
}

static double
negative_value(void)
{
	return -lognormal_value();
}

static double
pareto_value(void)
{
	return 10 * pow(uniform(), -1 / 2.2);
}

/* Without noise, values within the bounds leave nothing out, and what is just beyond is what a bound twice as far has within. */
static void
test_exact(void)
{
	double		counts[DP_LOG_BINS] = {0};
	dp_bounds_tail tail;
	int			below,
				above;

	counts[dp_log_bin(100)] = 1000;
	counts[dp_log_bin(-3)] = 500;
	dp_bounds_tail_estimate(counts, 1e-6, -4, 128, &tail);
	check(fabs(tail.units - 1500) < 1e-9, "%g units", tail.units);
	for (int i = 0; i < DP_TAILS; i++)
		check(tail.above[i] < 0.1 && tail.below[i] < 0.1, "%g above, %g below", tail.above[i], tail.below[i]);
	check(dp_bounds_tail_choose(&tail, -4, 128, 0.01, &below, &above) >= 0 && below == 0 && above == 0, "widened by %d and %d", below, above);

	/* a hundred of a thousand values up to twice the bound */
	counts[dp_log_bin(200)] = 100;
	dp_bounds_tail_estimate(counts, 1e-6, -4, 128, &tail);
	check(tail.above[0] > 0.05 * 128 * 100 / 1600 && tail.above[0] < 128.0 * 100 / 1600, "%g above", tail.above[0]);
	check(tail.above[1] < tail.above[0] / 4, "%g and %g", tail.above[0], tail.above[1]);
	(void) dp_bounds_tail_choose(&tail, -4, 128, 1e-6, &below, &above);
	check(below == 0 && above > 0, "widened by %d and %d", below, above);
	(void) dp_bounds_tail_choose(&tail, -4, 128, 1, &below, &above);
	check(below == 0 && above == 0, "widened by %d and %d", below, above);
}

/* Bounds of one sign, or at 0, leave nothing out on their other side. */
static void
test_sides(void)
{
	double		counts[DP_LOG_BINS] = {0};
	dp_bounds_tail tail;
	int			below,
				above;

	for (int i = 0; i < 12; i++)
		counts[dp_log_bin(1 << i)] = 1000 >> i;
	dp_bounds_tail_estimate(counts, 5, 0.5, 16, &tail);
	(void) dp_bounds_tail_choose(&tail, 0.5, 16, 1e-3, &below, &above);
	check(below == 0 && above > 0, "widened by %d and %d", below, above);
	memset(counts, 0, sizeof(counts));
	for (int i = 0; i < 12; i++)
		counts[dp_log_bin(-(1 << i))] = 1000 >> i;
	dp_bounds_tail_estimate(counts, 5, -16, 0, &tail);
	(void) dp_bounds_tail_choose(&tail, -16, 0, 1e-3, &below, &above);
	check(below > 0 && above == 0, "widened by %d and %d", below, above);
}

/* Averages of so many values, as a release has them: root mean squares of errors, and how often twice the error that is told holds. */
static void
simulate(double (*value) (void), double sigma, double *kept, double *widened, int *held)
{
	static double x[VALUES];
	double		noise = sigma * sqrt(0.1) / VALUES;

	*kept = *widened = 0;
	*held = 0;
	for (int run = 0; run < RUNS; run++)
	{
		double		counts[DP_LOG_BINS] = {0};
		double		truth = 0;
		double		narrow = 0;
		double		wide = 0;
		double		lower,
					upper,
					off,
					low,
					high;
		dp_bounds_tail tail;
		int			below,
					above;

		for (int i = 0; i < VALUES; i++)
		{
			x[i] = value();
			counts[dp_log_bin(x[i])]++;
			truth += x[i] / VALUES;
		}
		for (int i = 0; i < DP_LOG_BINS; i++)
			counts[i] += sigma * normal();
		if (!dp_bounds_pick(counts, sigma, DP_BOUNDS_ERROR, &lower, &upper))
			continue;
		dp_bounds_tail_estimate(counts, sigma, lower, upper, &tail);
		off = dp_bounds_tail_choose(&tail, lower, upper, noise, &below, &above);
		low = lower < 0 ? ldexp(lower, below) : lower;
		high = upper > 0 ? ldexp(upper, above) : upper;
		for (int i = 0; i < VALUES; i++)
		{
			narrow += fmin(fmax(x[i], lower), upper) / VALUES;
			wide += fmin(fmax(x[i], low), high) / VALUES;
		}
		narrow += (upper - lower) / 2 * noise * normal();
		wide += (high - low) / 2 * noise * normal();
		*kept += pow(narrow / truth - 1, 2) / RUNS;
		*widened += pow(wide / truth - 1, 2) / RUNS;
		*held += fabs(wide - truth) <= 2 * hypot(off, (high - low) / 2 * noise);
	}
	*kept = sqrt(*kept);
	*widened = sqrt(*widened);
}

static void
test_simulated(void)
{
	static const struct
	{
		const char *name;
		double		(*value) (void);
		double		most;		/* times the error of bounds as they were found */
		double		least_held;
	}			kinds[] = {{"uniform", uniform_value, 1.05, 0.9}, {"lognormal", lognormal_value, 0.8, 0.9},
						   {"negative", negative_value, 0.8, 0.9}, {"Pareto", pareto_value, 0.85, 0.8}};

	for (int k = 0; k < 4; k++)
	{
		double		kept,
					widened;
		int			held;

		simulate(kinds[k].value, 7, &kept, &widened, &held);
		check(widened <= kinds[k].most * kept, "%s: %g instead of %g", kinds[k].name, widened, kept);
		check(held >= kinds[k].least_held * RUNS, "%s: held in %d of %d", kinds[k].name, held, RUNS);
	}
}

/* Whatever counts are, what is told is finite and no widening leaves more out than a narrower one, and bounds stay in order. */
static void
test_any(void)
{
	static const double odd[] = {0, -1e300, 1e300, INFINITY, -INFINITY, NAN, 1, 1e-300};

	for (int run = 0; run < 2000; run++)
	{
		double		counts[DP_LOG_BINS];
		double		lower,
					upper;
		dp_bounds_tail tail;
		int			below,
					above;

		for (int i = 0; i < DP_LOG_BINS; i++)
			counts[i] = pseudo() % 4 == 0 ? odd[pseudo() % 8] : 100 * normal();
		if (!dp_bounds_pick(counts, 7, DP_BOUNDS_ERROR, &lower, &upper))
			continue;
		dp_bounds_tail_estimate(counts, 7, lower, upper, &tail);
		check(tail.units >= 1 && isfinite(tail.units), "%g units", tail.units);
		for (int i = 0; i < DP_TAILS; i++)
			check(tail.above[i] >= 0 && isfinite(tail.above_doubt[i]) && tail.below[i] >= 0 && isfinite(tail.below_doubt[i]) &&
				  (i == 0 || (tail.above[i] <= tail.above[i - 1] && tail.below[i] <= tail.below[i - 1])),
				  "%g above, %g below", tail.above[i], tail.below[i]);
		check(isfinite(dp_bounds_tail_choose(&tail, lower, upper, 1e-3, &below, &above)), "not finite");
		check(below >= 0 && below < DP_TAILS && above >= 0 && above < DP_TAILS, "widened by %d and %d", below, above);
	}
}

void
bounds_tail_tests(void)
{
	RUN(test_exact);
	RUN(test_sides);
	RUN(test_simulated);
	RUN(test_any);
}
