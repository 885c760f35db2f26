/*
 * test_norm_limit.c
 *	  The choice of a limit on norms, by noisy counts of them: known answers,
 *	  and what holds for any counts.
 *
 * The noise comes from a generator with a fixed seed: simulations give the
 * same figures in every run and cannot fail by chance.
 */
#include <float.h>
#include <math.h>

#include "math/norm_limit.h"
#include "unit.h"

#define BINS DP_NORM_BINS

/* as release/norms.c has them: a fourth of a power of two apart */
#define LIMITS (4 * (BINS - 2) + 1)

static double limits[LIMITS];

static void
set_limits(int exponent)
{
	for (int i = 0; i < LIMITS; i++)
		limits[i] = exp2(exponent + i / 4.0);
}

/* in (0, 1) */
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

/* Returns an estimate of counts without any noise to speak of, of sums. */
static dp_norms
exactly(const double *counts, int bins, int exponent)
{
	dp_norms	norms;

	(void) dp_norms_estimate(counts, bins, exponent, 1e-6, false, 1, &norms);
	return norms;
}

/* Counts without noise are believed, bin for bin. */
static void
test_exact(void)
{
	double		counts[BINS] = {5, 0, 100, 30, 0, 7};
	dp_norms	norms = exactly(counts, BINS, 0);

	check(norms.bins == BINS && norms.exponent == 0, "%d bins from %d", norms.bins, norms.exponent);
	for (int j = 0; j < BINS; j++)
		check(fabs(norms.count[j] - counts[j]) < 1e-3, "%g units in bin %d", norms.count[j], j);
}

/* Ten units of norms above 2^(j - 1), at most 2^j, have a total between 10 times both, and nothing is cut above. */
static void
one_bin(int exponent, bool whole, double groups)
{
	for (int j = 0; j < BINS; j++)
	{
		double		counts[BINS] = {0};
		double		lower = exp2(exponent + j - 1);
		dp_norms	norms;
		double		total;

		counts[j] = 10;
		check(dp_norms_estimate(counts, BINS, exponent, 1e-6, whole, groups, &norms), "bin %d is noise", j);
		total = dp_norms_total(&norms);
		check(total > 10 * lower && total <= 20 * lower * (1 + 1e-6), "%g for 10 above %g", total, lower);
		check(dp_norms_cut(&norms, 2 * lower) < 1e-6 * total, "%g above all", dp_norms_cut(&norms, 2 * lower));
		/* where all are above the limit, each loses it */
		check(fabs(dp_norms_cut(&norms, lower / 2) - (total - 5 * lower)) < 1e-5 * total, "%g of %g",
			  dp_norms_cut(&norms, lower / 2), total);
	}
}

static void
test_one_bin(void)
{
	for (int exponent = -8; exponent <= 0; exponent++)
		one_bin(exponent, false, 3);
	one_bin(0, true, 1);
	one_bin(0, true, 20);
}

/* Norms of few rows are few: 10 units in a bin up to 2 have 2 in one group, the root of 2, 3 or 4 in several. */
static void
test_few_rows(void)
{
	double		counts[BINS] = {0, 10};
	dp_norms	norms;

	(void) dp_norms_estimate(counts, BINS, 0, 1e-6, true, 1, &norms);
	check(fabs(dp_norms_total(&norms) - 20) < 1e-4, "%g", dp_norms_total(&norms));
	(void) dp_norms_estimate(counts, BINS, 0, 1e-6, true, 5, &norms);
	check(dp_norms_cut(&norms, 1.42) > 0 && dp_norms_cut(&norms, 1.42) < dp_norms_cut(&norms, 1.41) - 0.01, "none at the root of 2");
	check(dp_norms_cut(&norms, 1.74) < dp_norms_cut(&norms, 1.73) - 0.01, "none at the root of 3");
}

/*
 * A thousand units, all of norms just below 2^6: a limit of that cuts nothing.  With little noise it is the best, with much
 * noise one that cuts is.
 */
static void
test_choice(void)
{
	double		counts[BINS] = {0};
	dp_norms	norms;
	int			last = LIMITS - 1;

	counts[6] = 1000;
	norms = exactly(counts, BINS, 0);
	set_limits(0);
	check(dp_norms_choose(&norms, limits, LIMITS, 1, 1e-3) == 4 * 6, "%d", dp_norms_choose(&norms, limits, LIMITS, 1, 1e-3));
	for (double noise = 1e-3; noise < 1e6; noise *= 1.5)
	{
		int			best = dp_norms_choose(&norms, limits, LIMITS, 1, noise);

		check(best <= last, "more noise, a larger limit: %d after %d", best, last);
		last = best;
	}
	check(last == 0, "%d with endless noise", last);
	/* what is cut is spread over groups, so that more of it may be */
	check(dp_norms_choose(&norms, limits, LIMITS, 1000, 100) <= dp_norms_choose(&norms, limits, LIMITS, 1, 100), "more groups, a larger limit");
}

/* The choice has the least error of all limits: what is cut, and the noise. */
static void
test_least_error(void)
{
	set_limits(0);
	for (int n = 0; n < 500; n++)
	{
		double		counts[BINS];
		dp_norms	norms;
		double		noise = exp2(-4 + 12 * uniform());
		double		chosen,
					least = INFINITY;

		for (int j = 0; j < BINS; j++)
			counts[j] = uniform() < 0.4 ? floor(exp2(12 * uniform())) : 0;
		counts[n % BINS] += 1;
		norms = exactly(counts, BINS, 0);
		chosen = limits[dp_norms_choose(&norms, limits, LIMITS, 1, noise)];
		for (int i = 0; i < LIMITS; i++)
			least = fmin(least, hypot(dp_norms_cut(&norms, limits[i]), noise * limits[i]));
		check(hypot(dp_norms_cut(&norms, chosen), noise * chosen) <= least * (1 + 1e-9), "%g, where %g is possible",
			  hypot(dp_norms_cut(&norms, chosen), noise * chosen), least);
	}
}

/* norms of 2000 units, of rows that fall as 1 / rank, and of rows that each are one more with the same chance */
static double
inverse_to_rank(int unit)
{
	return 1 + 60 / (1 + unit % 61);
}

static double
geometric(int unit)
{
	return 1 + floor(-4 * log((unit + 0.5) / 2000));
}

/* rows of whom they fall as a power of the rank, from 250 on: a Pareto distribution of index 1.83 */
static double
power_of_rank(int unit)
{
	return floor(4 * pow((unit + 0.5) / 2000, -0.545));
}

/*
 * Returns in which share of draws twice the doubt, and the noise of 95 %, hold what the chosen limit cuts of norms.
 */
static double
share_held(double (*norm_of) (int unit), double sigma, double noise)
{
	int			draws = sized(4000, 1000, 200);
	int			held = 0;

	set_limits(0);
	for (int n = 0; n < draws; n++)
	{
		double		counts[BINS] = {0};
		dp_norms	norms;
		double		limit;
		double		cut = 0;

		for (int i = 0; i < 2000; i++)
			counts[(int) ceil(log2(norm_of(i)) - 1e-9)]++;
		for (int j = 0; j < BINS; j++)
			counts[j] += sigma * normal();
		(void) dp_norms_estimate(counts, BINS, 0, sigma, true, 1, &norms);
		limit = limits[dp_norms_choose(&norms, limits, LIMITS, 1, noise)];
		for (int i = 0; i < 2000; i++)
			cut += fmax(norm_of(i) - limit, 0);
		held += fabs(cut + noise * limit * normal()) <= 1.96 * hypot(dp_norms_doubt(&norms, limit), noise * limit);
	}
	return (double) held / draws;
}

/* Bins that noise hides are in doubt: without it an interval of 95 % holds 42 % of the former. */
static void
test_doubt(void)
{
	double		held = share_held(inverse_to_rank, 16.5, 7.4);

	check(held > 0.9, "%g of intervals hold norms that are inverse to ranks", held);
	held = share_held(power_of_rank, 16.5, 7.4);
	check(held > 0.85, "%g of intervals hold norms that fall as a power of the rank", held);
	held = share_held(power_of_rank, 2, 1);
	check(held > 0.85, "%g of intervals of a high price hold norms that fall as a power of the rank", held);
	held = share_held(geometric, 16.5, 7.4);
	check(held > 0.95, "%g of intervals hold geometric norms", held);
}

/*
 * Returns in which share of draws an answer, and twice its error as releases tell it, hold the sum of the norms of
 * 312 units, where the price is too small to see most of them.
 */
static double
share_of_few_held(double mean, double sigma, double noise)
{
	int			draws = sized(4000, 1000, 200);
	int			held = 0;

	set_limits(0);
	for (int n = 0; n < draws; n++)
	{
		double		counts[BINS] = {0};
		double		norm[312];
		dp_norms	norms;
		double		limit;
		double		all = 0;
		double		answer = 0;
		double		total;
		double		error;

		for (int i = 0; i < 312; i++)
		{
			norm[i] = 1 + floor(-mean * log((i + 0.5) / 312));
			all += norm[i];
			counts[(int) ceil(log2(norm[i]) - 1e-9)]++;
		}
		for (int j = 0; j < BINS; j++)
			counts[j] += sigma * normal();
		(void) dp_norms_estimate(counts, BINS, 0, sigma, true, 1, &norms);
		limit = limits[dp_norms_choose(&norms, limits, LIMITS, 1, noise)];
		for (int i = 0; i < 312; i++)
			answer += fmin(norm[i], limit);
		answer += noise * limit * normal();
		total = dp_norms_total(&norms);
		error = hypot(noise * limit, answer * dp_norms_doubt(&norms, limit) / total / fmax(1 - dp_norms_cut(&norms, limit) / total, 0.01));
		held += fabs(all - answer) <= 1.96 * error;
	}
	return (double) held / draws;
}

/* Without a doubt of units that do not stand out 15 % hold of the first, and 7 % of the third. */
static void
test_hidden(void)
{
	double		held = share_of_few_held(5.8, 70, 26);

	check(held > 0.9, "%g of intervals hold where half is hidden", held);
	held = share_of_few_held(5.8, 22, 7.1);
	check(held > 0.9, "%g of intervals hold where most is seen", held);
	held = share_of_few_held(5.8, 220, 70);
	check(held > 0.9, "%g of intervals hold where all is hidden", held);
	held = share_of_few_held(0.5, 70, 26);
	check(held > 0.9, "%g of intervals hold where units have few rows", held);
}

/* Sets what is probed of values of which units have so much credit under a limit, and as many as "most" at most. */
static void
probe(const dp_norms *norms, double most, double sigma, dp_distinct probes[3])
{
	for (int i = 0; i < 3; i++)
	{
		double		limit = exp2(2 * i);

		probes[i] = (dp_distinct) {limit, fmin(most, dp_norms_total(norms) - dp_norms_cut(norms, limit)), sigma * limit};
	}
}

/*
 * A thousand units with 17 to 32 values each: where all have the same 300 a low limit serves, that of a count where nobody shares one.
 */
static void
test_distinct(void)
{
	double		counts[BINS] = {0};
	dp_norms	norms;
	dp_distinct probes[3];
	double		cut;
	double		limit;
	int			usual;

	counts[5] = 1000;
	(void) dp_norms_estimate(counts, BINS, 0, 1e-6, true, 1, &norms);
	set_limits(0);
	for (double noise = 0.5; noise < 50; noise *= 2)
	{
		usual = dp_norms_choose(&norms, limits, LIMITS, 1, noise);
		probe(&norms, 300, noise, probes);
		limit = limits[dp_norms_choose_distinct(&norms, limits, LIMITS, 1, noise, probes, 3, &cut)];
		check(limit <= 8 && cut < 0.2 && limits[usual] > 16, "noise %g: %g values, %g of them cut", noise, limit, cut);
		probe(&norms, INFINITY, noise, probes);
		limit = limits[dp_norms_choose_distinct(&norms, limits, LIMITS, 1, noise, probes, 3, &cut)];
		check(limit >= limits[usual] / 2 && limit <= limits[usual] * 1.2, "noise %g: %g values, not %g", noise, limit, limits[usual]);
		check(limit < 32 || cut < 1e-6, "%g of nothing is cut", cut);
		/* half of the groups' values are others' */
		probe(&norms, 300, noise, probes);
		limit = limits[dp_norms_choose_distinct(&norms, limits, LIMITS, 16, noise, probes, 3, &cut)];
		check(limit <= 8, "noise %g: %g values of groups", noise, limit);
	}
	/* where nobody is seen, and of one limit */
	(void) dp_norms_estimate((double[BINS]) {0}, BINS, 0, 1, true, 1, &norms);
	check(limits[dp_norms_choose_distinct(&norms, limits, LIMITS, 1, 3, probes, 3, &cut)] == DP_UNSEEN_LIMIT && cut == 0, "nobody");
}

/* Where no unit is seen the limit is the largest up to 4, or of statistics up to 1; the least where all are larger. */
static void
test_nobody(void)
{
	double		counts[BINS] = {0};

	static const double large[] = {5, 6};

	for (int exponent = -8; exponent <= 0; exponent++)
	{
		dp_norms	norms;

		set_limits(exponent);
		check(!dp_norms_estimate(counts, BINS, exponent, 1, false, 5, &norms), "nobody is seen");
		check(norms.last < 0 && isfinite(dp_norms_doubt(&norms, DP_UNSEEN_LIMIT)), "%g of nobody", dp_norms_total(&norms));
		for (int j = 0; j < BINS; j++)
			check(norms.count[j] > 0 && norms.count[j] < 3, "%g of nobody in bin %d", norms.count[j], j);
		check(limits[dp_norms_choose(&norms, limits, LIMITS, 5, 3)] == DP_UNSEEN_LIMIT, "%g", limits[dp_norms_choose(&norms, limits, LIMITS, 5, 3)]);
		check(limits[dp_norms_choose_mean(&norms, limits, LIMITS, 5, 3)] == 1, "%g", limits[dp_norms_choose_mean(&norms, limits, LIMITS, 5, 3)]);
		check(dp_norms_choose(&norms, limits, 5, 5, 3) == 4, "%d of 5 up to 2", dp_norms_choose(&norms, limits, 5, 5, 3));
		check(dp_norms_choose(&norms, large, 2, 5, 3) == 0 && dp_norms_choose_mean(&norms, large, 2, 5, 3) == 0, "all are larger");
		check(dp_norms_choose(&norms, limits, 1, 5, 3) == 0, "one limit");
	}
}

/* The price of the histogram is a share of rho: of thousandths, falling in rho and groups, at most 0.3. */
static void
test_share(void)
{
	check(dp_norms_share(1, 1, false) == 0.07, "%g", dp_norms_share(1, 1, false));
	check(dp_norms_share(1, 0, false) == 0.07, "%g where no group may come", dp_norms_share(1, 0, false));
	for (int is_mean = 0; is_mean <= 1; is_mean++)
		for (double rho = 1e-9; rho < 1e9; rho *= 3)
			for (double groups = 1; groups < 1e12; groups *= 7)
			{
				double		share = dp_norms_share(rho, groups, is_mean);

				check(share >= 0 && share <= 0.3, "%g of %g, %g groups", share, rho, groups);
				check(fabs(share * 1000 - rint(share * 1000)) < 1e-9, "%g is not of thousandths", share);
				check(share >= dp_norms_share(3 * rho, groups, is_mean) && share >= dp_norms_share(rho, 7 * groups, is_mean), "%g at %g, %g groups", share, rho, groups);
			}
}

/* A value that may come as a noisy count: as usual, far too large, or none. */
static double
any_count(int kind)
{
	static const double odd[] = {0, -0.0, 1, -1, 0.5, 1e-300, -1e-300, DBL_MIN, 5e-324, 1e18, -1e18, 1.7e38, -1.7e38, 1e300, -1e300, DBL_MAX, -DBL_MAX,
	INFINITY, -INFINITY, NAN};

	switch (kind)
	{
		case 0:
			return floor(1000 * normal());
		case 1:
			return normal() * exp2(200 * uniform() - 100);
		case 2:
			return uniform() < 0.7 ? floor(20 * normal()) : odd[pseudo() % (sizeof(odd) / sizeof(odd[0]))];
		default:
			return odd[pseudo() % (sizeof(odd) / sizeof(odd[0]))];
	}
}

/* Whatever the counts are, estimates are finite and not negative, what is cut falls as the limit grows, and the choice is one of the limits. */
static void
test_any(void)
{
	long		cases = sized(300000, 8000, 3000);

	for (long n = 0; n < cases; n++)
	{
		int			kind = n % 4;
		int			bins = 1 + (int) (pseudo() % BINS);
		int			exponent = (int) (pseudo() % 16) - 8;
		bool		whole = pseudo() % 2 == 0;
		int			nlimits = 1 + (int) (pseudo() % LIMITS);
		double		sigma = exp2(kind == 0 ? 12 * uniform() : 400 * uniform() - 200);
		double		noise = exp2(kind == 0 ? 20 * uniform() - 10 : 400 * uniform() - 200);
		double		groups = 1 + floor(exp2(kind == 0 ? 10 * uniform() : 60 * uniform()));
		double		counts[BINS];
		dp_norms	norms;
		double		total,
					before;
		int			best;
		bool		sound = true;

		for (int j = 0; j < bins; j++)
			counts[j] = any_count(kind);
		/* whole numbers begin with 1 */
		exponent = whole ? 0 : exponent;
		set_limits(exponent);
		(void) dp_norms_estimate(counts, bins, exponent, sigma, whole, groups, &norms);
		check(norms.bins == bins && norms.exponent == exponent, "%d bins from %d", norms.bins, norms.exponent);
		for (int j = 0; j < bins; j++)
			sound = sound && isfinite(norms.count[j]) && norms.count[j] >= 0 && isfinite(norms.tilt[j]) && norms.tilt[j] >= 0;
		check(sound, "case %ld: a count or tilt", n);
		total = dp_norms_total(&norms);
		check(isfinite(total) && total >= 0, "case %ld: total %g", n, total);
		before = total;
		for (int i = 0; i < nlimits; i++)
		{
			double		cut = dp_norms_cut(&norms, limits[i]);

			if (!(cut >= 0 && cut <= before * (1 + 1e-12)))
				sound = false;
			before = cut;
			if (n % 64 < 4 && !(isfinite(dp_norms_doubt(&norms, limits[i])) && dp_norms_doubt(&norms, limits[i]) >= cut * (1 - 1e-9)))
				sound = false;
		}
		check(sound, "case %ld: what is cut does not fall, or is more than the doubt", n);
		best = dp_norms_choose(&norms, limits, nlimits, groups, noise);
		check(best >= 0 && best < nlimits, "case %ld: limit %d of %d", n, best, nlimits);
		best = dp_norms_choose_mean(&norms, limits, nlimits, groups, noise);
		check(best >= 0 && best < nlimits, "case %ld: limit %d of %d for a mean", n, best, nlimits);
		if (n % 64 < 4)
		{
			dp_distinct probes[DP_MOST_PROBES];
			int			nprobes = (int) (pseudo() % (DP_MOST_PROBES + 1));
			double		cut;

			for (int i = 0; i < nprobes; i++)
				probes[i] = (dp_distinct) {exp2(i), any_count(kind), sigma};
			best = dp_norms_choose_distinct(&norms, limits, nlimits, groups, noise, probes, nprobes, &cut);
			check(best >= 0 && best < nlimits && cut >= 0 && cut <= 1, "case %ld: limit %d of %d for distinct values, %g cut", n, best, nlimits, cut);
		}
	}
}

/* Noise alone is hardly ever taken for units: a choice at most 8 but for one time in 50. */
static void
test_noise_alone(void)
{
	int			runs = 2000,
				wrong = 0;

	set_limits(0);
	for (int n = 0; n < runs; n++)
	{
		double		counts[BINS];
		dp_norms	norms;

		for (int j = 0; j < BINS; j++)
			counts[j] = 30 * normal();
		(void) dp_norms_estimate(counts, BINS, 0, 30, false, 10, &norms);
		wrong += limits[dp_norms_choose(&norms, limits, LIMITS, 10, 10)] > 8;
	}
	check(wrong * 50 < runs, "%d of %d", wrong, runs);
}

/*
 * Among noise the choice comes near to what it would be without: two thousand units of norms about 2^5, with an error at
 * most 1.3 times the least, but for one time in 20.
 */
static void
test_among_noise(void)
{
	double		counts[BINS] = {40, 60, 110, 240, 500, 600, 350, 90, 10};
	dp_norms	truth = exactly(counts, BINS, 0);
	int			runs = 1000,
				wrong = 0;

	set_limits(0);
	for (int n = 0; n < runs; n++)
	{
		double		noisy[BINS];
		dp_norms	norms;
		double		noise = 20;
		double		chosen,
					best;

		for (int j = 0; j < BINS; j++)
			noisy[j] = counts[j] + 15 * normal();
		(void) dp_norms_estimate(noisy, BINS, 0, 15, false, 1, &norms);
		chosen = limits[dp_norms_choose(&norms, limits, LIMITS, 1, noise)];
		best = limits[dp_norms_choose(&truth, limits, LIMITS, 1, noise)];
		wrong += hypot(dp_norms_cut(&truth, chosen), noise * chosen) > 1.3 * hypot(dp_norms_cut(&truth, best), noise * best);
	}
	check(wrong * 20 < runs, "%d of %d", wrong, runs);
}

void
norm_limit_tests(void)
{
	RUN(test_exact);
	RUN(test_distinct);
	RUN(test_one_bin);
	RUN(test_few_rows);
	RUN(test_choice);
	RUN(test_least_error);
	RUN(test_doubt);
	RUN(test_hidden);
	RUN(test_nobody);
	RUN(test_share);
	RUN(test_any);
	RUN(test_noise_alone);
	RUN(test_among_noise);
}
