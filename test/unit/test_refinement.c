/*
 * test_refinement.c
 *	  Means of increments, links of an increment, draws between two links.
 *
 * Each check_fit has a false alarm rate below FALSE_ALARM (unit.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/calibrate.h"
#include "math/exp.h"
#include "math/refinement.h"
#include "math/limbs.h"
#include "unit.h"

#define ONE ((dp_u128) 1)
#define MOST_I128 ((dp_i128) (~(dp_u128) 0 >> 1))

/* a law on -HALF .. HALF */
#define HALF 400
typedef long double Law[2 * HALF + 1];

static void
gaussian(Law p, long double v)
{
	long double norm = 0;

	for (int z = -HALF; z <= HALF; z++)
		norm += p[z + HALF] = expl(-(long double) z * z / (2 * v));
	for (int z = 0; z <= 2 * HALF; z++)
		p[z] /= norm;
}

/*
 * Adds two variables, of symmetric laws like Gaussians of these variances.
 * Terms that are 15 deviations from the largest one are below exp(-112) of it,
 * and are left out.
 */
static void
convolve(Law p, const Law a, long double var_a, const Law b, long double var_b)
{
	int			reach = (int) (15 * sqrtl(var_a * var_b / (var_a + var_b))) + 2;

	for (int z = 0; z <= HALF; z++)
	{
		int			peak = (int) (z * var_a / (var_a + var_b));
		int			low = peak - reach > z - HALF ? peak - reach : z - HALF;
		int			high = peak + reach < HALF ? peak + reach : HALF;
		long double sum = 0;

		for (int x = low; x <= high; x++)
			sum += a[x + HALF] * b[z - x + HALF];
		p[HALF + z] = p[HALF - z] = sum;
	}
}

static void
logarithms(Law log_p, const Law p)
{
	for (int z = 0; z <= 2 * HALF; z++)
		log_p[z] = logl(p[z]);
}

/* the Renyi divergence of a law from itself shifted, over alpha; far from where the law's ends matter */
static long double
divergence(const Law log_p, int shift, long double alpha)
{
	long double sum = 0;

	for (int z = shift; z <= 2 * HALF; z++)
		if (log_p[z] > -INFINITY)
			sum += expl(alpha * log_p[z - shift] + (1 - alpha) * log_p[z]);
	return logl(sum) / (alpha - 1) / alpha;
}

static long double
lambda_bound(long double w)
{
	return 5 * expl(-2 * acosl(-1) * acosl(-1) * w);
}

/* Lemma 1, and what follows for one step: also where w is small, so that the bounds mean something */
static void
test_sums(void)
{
	static const long double variance[] = {0.15L, 0.2L, 0.3L, 0.5L, 0.8L, 1, 1.5L, 2.5L, 4, 10, 50, 400};
	static const long double alpha[] = {1.001L, 1.01L, 1.1L, 1.5L, 2, 3, 5, 9, 17};
	static Law	s,
				t,
				sum,
				log_sum,
				whole;
	const int	n = sizeof(variance) / sizeof(variance[0]);
	int			compared = 0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
		{
			long double v = variance[i],
						e = variance[j],
						w = v * e / (v + e),
						bound = lambda_bound(w),
						most = 0;

			if (w < 0.1405L)
				continue;
			gaussian(s, v);
			gaussian(t, e);
			convolve(sum, s, v, t, e);
			logarithms(log_sum, sum);
			gaussian(whole, v + e);
			for (int z = -HALF / 2; z <= HALF / 2; z++)
			{
				long double ratio;

				/* where p is a normal number */
				if ((long double) z * z / (2 * (v + e)) > 5000)
					continue;
				ratio = fabsl(logl(sum[z + HALF] / whole[z + HALF]));
				most = ratio > most ? ratio : most;
			}
			check(most <= bound + 1e-15L, "lambda(%.4Lf): %.3Le above %.3Le", w, most, bound);

			/*
			 * with c = n / 2 both ends of T(w, c) are met: the bound is twice
			 * and a half too large at most
			 */
			check(v != e || w > 1 || most >= bound / 2.6L, "lambda(%.4Lf): %.3Le for %.3Le", w, most, bound);

			for (int a = 0; a < (int) (sizeof(alpha) / sizeof(alpha[0])); a++)
				for (int shift = 1; shift <= 4; shift++)
				{
					long double rho = shift * shift / (2 * (v + e));
					long double claim = sqrtl(rho) + bound * sqrtl(2);

					/* what weighs lies around alpha times the shift */
					if (alpha[a] * shift + 12 * sqrtl(v + e) > HALF / 2 ||
						alpha[a] * alpha[a] * shift * shift / (v + e) > 1000)
						continue;
					compared++;
					check(divergence(log_sum, shift, alpha[a]) <= claim * claim + 1e-14L,
						  "v %.2Lf + %.2Lf, shift %d, order %.3Lf: %.6Le above %.6Le", v, e, shift,
						  alpha[a], divergence(log_sum, shift, alpha[a]), claim * claim);
				}
		}
	check(compared > 3000, "%d divergences compared", compared);
}

/*
 * Adds grid values to the chain of an increment, of variance "before", and grid values 4, 8, 12 ... up to extra,
 * as imagined in the head of refinement.c.
 */
static void
extend_chain(Law p, long double before, int *reached, int extra)
{
	static Law	gap,
				longer;

	gaussian(gap, DP_REFINE_GAP);
	for (; *reached < extra; *reached += DP_REFINE_GAP)
	{
		convolve(longer, p, before + *reached, gap, DP_REFINE_GAP);
		memcpy(p, longer, sizeof(Law));
	}
}

/* extras against the divergence of what is released, drawn in one step and in the smallest */
static void
test_extra_keeps_rho(void)
{
	static const int64_t bought[] = {20000000000, 100000000000, 300000000000, 1000000000000, 4000000000000};
	static const long double alpha[] = {1.001L, 1.1L, 1.7L, 3, 6, 12};
	static Law	s,
				t,
				p[2],
				log_p[2];
	int			compared = 0;

	for (int b = 0; b < 5; b++)
		for (int shift = 1; shift <= 3; shift++)
		{
			int			reached = -1;

			for (int part = 95; part > 0; part -= 6)
			{
				int64_t		wanted = bought[b] / 100 * part;
				dp_u128		sens2 = shift * shift;
				dp_u128		extra;
				dp_variance v;
				long double before;

				check(dp_calibrate(sens2, bought[b], &v), "calibrate");
				if (v.num < v.den)
					continue;
				check(dp_refine_extra(sens2, bought[b], &v, wanted, &extra), "extra");
				before = (long double) v.num / v.den;
				check(extra >= 4 && extra % 4 == 0, "extra %ld", (long) extra);
				if (extra > 150)
					continue;
				gaussian(s, before);
				gaussian(t, extra);
				convolve(p[0], s, before, t, extra);
				if (reached < 0)
				{
					gaussian(p[1], before);
					reached = 0;
				}
				extend_chain(p[1], before, &reached, extra);
				logarithms(log_p[0], p[0]);
				logarithms(log_p[1], p[1]);
				for (int a = 0; a < 6; a++)
				{
					if (alpha[a] * alpha[a] * shift * shift / (before + extra) > 1000)
						continue;
					for (int way = 0; way < 2; way++)
					{
						compared++;
						check(divergence(log_p[way], shift, alpha[a]) <= wanted / 1e12L,
							  "bought %.2f, wanted %.6f, shift %d, order %.3Lf: %.9Lf",
							  bought[b] / 1e12, wanted / 1e12, shift, alpha[a],
							  divergence(log_p[way], shift, alpha[a]));
					}
				}
				/* not more than is needed: a grid value less would not do */
				if (before >= 3 && extra > 4)
					check(shift * shift / (2 * (before + extra - 4)) > wanted / 1e12L * (1 - 1e-9L),
						  "bought %.2f, wanted %.6f: extra %ld is too much", bought[b] / 1e12, wanted / 1e12,
						  (long) extra);
			}
		}
	check(compared > 800, "%d divergences compared", compared);
}

/* Lemma 2: the least variance of discrete Gaussians around any centre, which is met at 0 */
static void
test_least_variance(void)
{
	static const long double w[] = {0.1L, 0.15L, 0.2L, 0.3L, 0.5L, 0.8L, 1, 1.3L};
	const long double pi = acosl(-1);

	for (int i = 0; i < 8; i++)
	{
		long double kappa = 8 * pi * pi * w[i] * expl(-2 * pi * pi * w[i]);

		for (int j = 0; j <= 50; j++)
		{
			long double c = j / 100.0L,
						moment[3] = {0},
						variance;

			for (int z = -60; z <= 60; z++)
			{
				long double p = expl(-(z - c) * (z - c) / (2 * w[i]));

				moment[0] += p;
				moment[1] += p * (z - c);
				moment[2] += p * (z - c) * (z - c);
			}
			variance = (moment[2] - moment[1] * moment[1] / moment[0]) / moment[0];
			check(variance >= w[i] * (1 - kappa) - 1e-17L, "w %.2Lf, centre %.2Lf: %.12Lf", w[i], c, variance);
			check(j > 0 || variance <= w[i] * (1 - kappa * 0.75L), "w %.2Lf: %.12Lf, kappa %.12Lf", w[i], variance, kappa);
		}
	}
}

/* (P / Q)^order Q of each value, where P is p shifted by 1, and Q is p */
static void
moments_of(Law moment, const Law p, long double order)
{
	memset(moment, 0, sizeof(Law));
	for (int z = -HALF + 1; z <= HALF; z++)
		if (p[z + HALF] > 0 && p[z + HALF - 1] > 0)
			moment[z + HALF] = expl(order * logl(p[z + HALF - 1]) + (1 - order) * logl(p[z + HALF]));
}

/* Replaces what is seen through a link, if the rest is bought, by what something else tells for factor, where that is more. */
static long double
choose(Law bought, const Law link, long double order, long double factor)
{
	static Law	moment;
	long double sum = 0;

	moments_of(moment, link, order);
	for (int z = 0; z <= 2 * HALF; z++)
	{
		if (bought[z] < moment[z] * factor)
			bought[z] = moment[z] * factor;
		sum += bought[z];
	}
	return sum;
}

/* moments of an increment, or of a link, as they are seen through one with noise of variance e more: not symmetric */
static void
add_noise(Law sum, const Law p, long double e)
{
	static Law	more;
	int			reach = (int) (13 * sqrtl(e));

	gaussian(more, e);
	memset(sum, 0, sizeof(Law));
	for (int y = -HALF; y <= HALF; y++)
		for (int z = y - reach > -HALF ? y - reach : -HALF; p[y + HALF] > 0 && z <= HALF && z <= y + reach; z++)
			sum[z + HALF] += p[y + HALF] * more[z - y + HALF];
}

/*
 * Who pays for a link, sees it, and chooses: the rest of the increment, or something else for as much.  All of it
 * has to be what he paid.  Then the same of two links, one after the other.
 */
static void
test_choosing(void)
{
	static const int64_t bought[] = {100000000000, 200000000000, 400000000000, 500000000000,
	1000000000000, 1700000000000, 2500000000000, 5000000000000, 10000000000000};
	static const int64_t price[] = {500, 250, 125, 63, 30, 13};
	static const long double alpha[] = {1.0005L, 1.01L, 1.1L, 1.35L, 1.75L, 2, 3, 6, 12};
	static Law	increment,
				noise,
				link,
				lower,
				bought_rest,
				through;
	int			compared = 0;

	for (int b = 0; b < 9; b++)
	{
		dp_variance variance;
		long double p = bought[b] / 1e12L,
					v;

		check(dp_calibrate(1, bought[b], &variance), "calibrate");
		v = (long double) variance.num / variance.den;
		for (int i = 0; i < 6; i++)
		{
			int64_t		wanted[2] = {price[i] * 1008000000, price[i] * 504000000};
			dp_u128		extra[2];
			long double r[2];

			if (wanted[0] >= bought[b] || !dp_refine_extra(1, bought[b], &variance, wanted[0], &extra[0]) ||
				!dp_refine_extra(1, bought[b], &variance, wanted[1], &extra[1]) || extra[1] > 100)
				continue;
			check(extra[1] >= extra[0], "order of extras");
			r[0] = wanted[0] / 1e12L;
			r[1] = wanted[1] / 1e12L;
			gaussian(increment, v);
			gaussian(noise, extra[0]);
			convolve(link, increment, v, noise, extra[0]);
			gaussian(noise, extra[1]);
			convolve(lower, increment, v, noise, extra[1]);
			for (int a = 0; a < 9; a++)
			{
				long double c = alpha[a] * (alpha[a] - 1),
							total;

				/* what weighs lies around alpha, within the range */
				if (alpha[a] + 13 * sqrtl(v + (long double) extra[1]) > HALF / 2 || alpha[a] * alpha[a] * p > 1000)
					continue;
				moments_of(through, increment, alpha[a]);
				add_noise(bought_rest, through, extra[0]);
				total = logl(choose(bought_rest, link, alpha[a], expl(c * (p - r[0])))) / c;
				compared++;
				check(total <= p + 1e-12L, "p %.3Lf, r %.4Lf, order %.4Lf: %.12Lf", p, r[0], alpha[a], total);
				if (extra[1] == extra[0])
					continue;
				add_noise(through, bought_rest, extra[1] - extra[0]);
				total = logl(choose(through, lower, alpha[a], expl(c * (p - r[1])))) / c;
				check(total <= p + 1e-12L, "p %.3Lf, r %.4Lf, then %.4Lf, order %.4Lf: %.12Lf", p, r[1], r[0], alpha[a], total);
			}
		}
	}
	check(compared > 50, "%d choices compared", compared);
}

/* grid values of 9 bits, monotone, at least what the formula says, within 1/256 and a gap of it */
static void
test_extra_range(void)
{
	dp_variance v;
	dp_u128		extra,
				before;
	int			found = 0;

	for (int i = 0; i < 20000; i++)
	{
		dp_u128		sens2 = (pseudo128() >> 28) >> (pseudo() % 100);
		int64_t		rho = (int64_t) (pseudo() >> 4) % DP_RHO_MAX >> (pseudo() % 58);
		int64_t		wanted;
		long double need,
					have;

		sens2 += sens2 == 0;
		rho += rho == 0;
		wanted = 1 + (int64_t) (pseudo() % rho);
		if (!dp_calibrate(sens2, rho, &v) ||
			!dp_refine_extra(sens2, rho, &v, wanted, &extra))
			continue;
		found++;
		if (wanted == rho)
		{
			check(extra == 0, "extra %.17g of the increment itself", (double) extra);
			continue;
		}
		check(extra >= 4 && extra <= ONE << 120 && extra % 4 == 0 &&
			  (extra >> 2 >> (dp_bitlen128(extra >> 2) > 9 ? dp_bitlen128(extra >> 2) - 9 : 0)
			   << (dp_bitlen128(extra >> 2) > 9 ? dp_bitlen128(extra >> 2) - 9 : 0)) == extra >> 2,
			  "not a grid value: %.17g", (double) extra);
		need = (long double) sens2 * (DP_RHO_ONE / 2) / wanted;
		have = (long double) v.num / v.den + (long double) extra;
		check(have >= need * (1 - 1e-18L), "variance %.20Lg below %.20Lg", have, need);

		/*
		 * an increment of little noise may have it as a gift; tolls are small
		 * where rho is not tiny
		 */
		if (wanted > 1000000 && (long double) v.num / v.den > 8)
			check(have <= need * (1 + 1 / 200.0L) + 4.01L, "variance %.9Lg for %.9Lg, rho %ld, %ld",
				  have, need, (long) rho, (long) wanted);
		if (wanted > 1 &&
			dp_refine_extra(sens2, rho, &v, wanted - 1 - (int64_t) (pseudo() % (wanted - 1)), &before))
			check(before >= extra, "a cheaper link has less noise: %.17g after %.17g", (double) before, (double) extra);
	}
	check(found > 10000, "%d extras", found);

	v.num = 50;
	v.den = 1;
	check(!dp_refine_extra(1, 10000000000, &v, 10000000001, &extra), "dearer than the increment");
	check(!dp_refine_extra(1, 10000000000, &v, 0, &extra), "rho 0");
	check(!dp_refine_extra(0, 10000000000, &v, 5, &extra), "sens2 0");
	check(!dp_refine_extra(1, DP_RHO_MAX + 1, &v, 5, &extra), "rho above the most");
	check(!dp_refine_extra(1, 10000000000, &v, 1, &extra), "the toll is all there is");
	/* 50 of counts */
	check(dp_refine_extra(1, 10000000000, &v, 5000000000, &extra) && extra == 52, "half");
	check(dp_refine_extra(1, 10000000000, &v, 9999999999, &extra) && extra == 4, "the least");
	/* below 1 nothing is derived, from 1 on with a toll */
	v.num = 1;
	v.den = 1;
	check(dp_refine_extra(1, 500000000000, &v, 100200000000, &extra) && extra == 4, "variance 1");
	check(dp_refine_extra(1, 500000000000, &v, 100000000001, &extra) && extra == 8, "variance 1, and no toll is paid");
	v.num = 999999;
	v.den = 1000000;
	check(!dp_refine_extra(1, 500000500001, &v, 100200000000, &extra), "variance 0.999999");
	check(dp_refine_extra(1, 500000500001, &v, 500000500001, &extra) && extra == 0, "variance 0.999999, the increment itself");
	v.den = 10000;
	v.num = 1;
	check(!dp_refine_extra(1, DP_RHO_MAX, &v, 5000000000, &extra), "an increment without noise");
}

static void
test_variance(void)
{
	dp_variance v = {7, 3},
				r;

	dp_refine_variance(&v, 4, &r);
	check(r.num == 19 && r.den == 3, "7/3 + 4");
	v.num = ~(dp_u128) 0;
	v.den = ONE << 20;
	dp_refine_variance(&v, ONE << 119, &r);
	check(r.den == 1 && r.num == (ONE << 119) + (ONE << 108), "rounded up");
	check(dp_refine_share(100, 1, 3) == 33 && dp_refine_share(DP_RHO_MAX, 7, 7) == DP_RHO_MAX &&
		  dp_refine_share(5, 0, 3) == 0, "shares");
}

/* the nearest integer to a / b, of two the even one, by another road: counting down from above */
static dp_i128
nearest(dp_i128 a, dp_i128 b)
{
	dp_i128		q = a / b;
	dp_i128		r = a - q * b;

	if (r < 0)
	{
		q--;
		r += b;
	}
	if (r > b - r || (r == b - r && q % 2 != 0))
		q++;
	return q;
}

static void
test_mean(void)
{
	dp_i128		y[6] = {3, 4};
	int64_t		rho[6] = {1, 1};

	check(dp_refine_mean(y, rho, 1) == 3, "one increment");
	check(dp_refine_mean(y, rho, 2) == 4, "3.5");
	y[1] = 2;
	check(dp_refine_mean(y, rho, 2) == 2, "2.5");
	y[0] = -3;
	y[1] = -2;
	check(dp_refine_mean(y, rho, 2) == -2, "-2.5");
	rho[0] = 3;
	y[1] = 6;
	check(dp_refine_mean(y, rho, 2) == -1, "-0.75");
	for (int i = 0; i < 20000; i++)
	{
		int			n = 2 + pseudo() % 5;
		dp_i128		sum = 0,
					total = 0;

		for (int k = 0; k < n; k++)
		{
			y[k] = (dp_i128) (int64_t) pseudo() >> (pseudo() % 64);
			rho[k] = 1 + (int64_t) (pseudo() >> 4 >> (pseudo() % 59));
			sum += y[k] * rho[k] / 8 * 8 + y[k] * rho[k] % 8;
			total += rho[k];
		}
		check(dp_refine_mean(y, rho, n) == nearest(sum, total), "mean of %d, round %d", n, i);
	}

	/* far beyond 128 bits: shifted by a constant, and the ends of the range */
	for (int i = 0; i < 2000; i++)
	{
		int			n = 2 + pseudo() % 5;
		dp_i128		base = (dp_i128) (pseudo128() >> 2) * (pseudo() & 1 ? 1 : -1);
		dp_i128		sum = 0,
					total = 0;

		for (int k = 0; k < n; k++)
		{
			dp_i128		small = (dp_i128) (int64_t) pseudo() >> 8;

			y[k] = base + small;
			rho[k] = 1 + (int64_t) (pseudo() >> 4);
			sum += small * rho[k];
			total += rho[k];
		}
		/* ties hang on whether base is even; odds of one are 2^-60 */
		check(dp_refine_mean(y, rho, n) == base + nearest(sum, total), "mean of %d, wide, round %d", n, i);
	}
	for (int k = 0; k < 6; k++)
	{
		y[k] = MOST_I128;
		rho[k] = DP_RHO_MAX;
	}
	check(dp_refine_mean(y, rho, 6) == MOST_I128, "the largest");
	for (int k = 0; k < 6; k++)
		y[k] = -MOST_I128 - 1;
	check(dp_refine_mean(y, rho, 6) == -MOST_I128 - 1, "the least");
	y[1] = y[3] = y[5] = MOST_I128;
	check(dp_refine_mean(y, rho, 6) == 0, "both");
}

/* the law of the mean of two increments, and that of two at 1 and 4: as one bought at the sum, and rounded */
static void
check_top_up_law(int64_t first, int64_t second, long n)
{
	static dp_entropy e;
	static Law	law[2],
				mean;
	static long count[2 * HALF + 1];
	int64_t		rho[2] = {first, second};
	dp_variance v[2];
	dp_gauss	g[2];
	long double error = 0,
				ideal = 1 / (2e-12L * (first + second)),
				told;

	entropy_os(&e);
	memset(count, 0, sizeof(count));
	memset(mean, 0, sizeof(mean));
	for (int k = 0; k < 2; k++)
	{
		check(dp_calibrate(1, rho[k], &v[k]) && dp_gauss_init(&g[k], &v[k]), "calibrate");
		gaussian(law[k], (long double) v[k].num / v[k].den);
	}
	for (int a = -HALF; a <= HALF; a++)
		for (int b = -HALF; b <= HALF; b++)
			mean[HALF + (int) nearest((dp_i128) a * first + (dp_i128) b * second, first + second)] +=
				law[0][a + HALF] * law[1][b + HALF];
	for (int z = -HALF; z <= HALF; z++)
		error += mean[z + HALF] * z * z;
	told = dp_refine_sigma(v, rho, 2);
	check(error <= told * told, "error %.6Lf, told %.6Lf", error, told * told);
	check(error >= ideal - 1e-9L && error <= ideal + (ideal > 1 ? 0.25L + 1e-6L : 0.6L),
		  "error %.6Lf of a variance of %.6Lf", error, ideal);
	for (long i = 0; i < n; i++)
	{
		dp_i128		y[2] = {dp_gauss_draw(&g[0], &e), dp_gauss_draw(&g[1], &e)};

		count[HALF + (int) dp_refine_mean(y, rho, 2)]++;
	}
	check_fit("top-up", count, mean, 2 * HALF + 1, n);
}

/* a link of variance "worse" for the last increment: weights that are not the best, and ties where they are equal */
static void
check_sigma_of_link(int first, int worse, int64_t weight)
{
	static Law	law[2];
	dp_variance v[2] = {{first, 1}, {worse, 1}};
	int64_t		rho[2] = {1000, weight};
	long double error = 0,
				told = dp_refine_sigma(v, rho, 2);

	gaussian(law[0], first);
	gaussian(law[1], worse);
	for (int a = -HALF; a <= HALF; a++)
		for (int b = -HALF; b <= HALF; b++)
		{
			int			mean = (int) nearest((dp_i128) a * rho[0] + (dp_i128) b * rho[1], rho[0] + rho[1]);

			error += law[0][a + HALF] * law[1][b + HALF] * mean * mean;
		}
	check(error <= told * told, "variances %d and %d, weights 1000 and %ld: error %.6Lf, told %.6Lf",
		  first, worse, (long) weight, error, told * told);
	check(told * told <= error * 1.2L + 1, "variances %d and %d, weights 1000 and %ld: error %.6Lf, told %.6Lf",
		  first, worse, (long) weight, error, told * told);
}

static void
test_sigma(void)
{
	dp_variance v[3] = {{50, 1}, {25, 1}, {ONE << 119, 1}};
	int64_t		rho[3] = {10, 20, 30};

	check(dp_refine_sigma(v, rho, 1) == dp_variance_sigma(v), "one increment");
	/* 1/9 50 + 4/9 25 */
	check(fabs(dp_refine_sigma(v, rho, 2) - sqrt(150 / 9.0 + 0.25)) < 1e-6, "two increments");
	check(isfinite(dp_refine_sigma(v, rho, 3)), "large");
	v[0].num = v[1].num = 1;
	v[0].den = v[1].den = 100;
	rho[1] = 10;
	check(fabs(dp_refine_sigma(v, rho, 2) - (sqrt(0.005) + 0.5)) < 1e-10, "below 1");
}

/* P[a | a + b = n] for small variances, term by term */
static void
check_bridge_small(int above, int below, int n, long draws)
{
	static dp_entropy e;
	static long count[2 * HALF + 1];
	static long double prob[2 * HALF + 1];
	dp_bridge	b;
	long double norm = 0;
	char		what[80];

	entropy_os(&e);
	memset(count, 0, sizeof(count));
	check(dp_bridge_init(&b, above, below), "bridge %d %d", above, below);
	for (int a = -HALF; a <= HALF; a++)
		norm += prob[a + HALF] = expl(-(long double) a * a / (2 * above) -
									  (long double) (n - a) * (n - a) / (2 * below));
	for (int a = -HALF; a <= HALF; a++)
		prob[a + HALF] /= norm;
	for (long i = 0; i < draws; i++)
		count[HALF + (int) dp_bridge_draw(&b, n, &e)]++;
	snprintf(what, sizeof(what), "bridge %d, %d, n %d", above, below, n);
	check_fit(what, count, prob, 2 * HALF + 1, draws);
}

/* in units of its standard deviation, around its centre; 62 cells and two ends */
static void
check_bridge_large(dp_u128 above, dp_u128 below, dp_i128 n, long draws)
{
	static dp_entropy e;
	long		count[64] = {0};
	long double prob[64];
	dp_bridge	b;
	long double total = (long double) above + below;
	long double sigma = sqrtl((long double) above * (below / total));
	long double size = n < 0 ? -(long double) -n : (long double) n;
	dp_i128		centre = (dp_i128) (size * ((long double) above / total));

	entropy_os(&e);
	check(dp_bridge_init(&b, above, below), "large bridge");
	for (int c = 0; c < 64; c++)
		prob[c] = normal_mass(c == 0 ? -INFINITY : (c - 32) / 8.0L, c == 63 ? INFINITY : (c - 31) / 8.0L);
	for (long i = 0; i < draws; i++)
	{
		long double x = (long double) (dp_bridge_draw(&b, n, &e) - centre) / sigma;
		int			c = (int) floorl(x * 8) + 32;

		count[c < 0 ? 0 : c > 63 ? 63 : c]++;
	}
	check_fit("large bridge", count, prob, 64, draws);
}

/*
 * A chain as it comes: the cheapest link first, then one above it, one above
 * that, and one between the lower two.  All four increments have to be
 * independent Gaussians of their gaps: 3 classes of each, 81 cells, and with all
 * draws 5 classes, 625 cells.  Tells a correlation of two steps of 0.09 (all
 * draws: 0.1, sanitized: 0.28), and nothing beyond 0.6 sigma (all: 1 sigma).
 */
static void
check_chain(int scale, long draws)
{
	static dp_entropy e;
	static long count[625];
	static long double prob[625];

	/* from the increment down */
	dp_u128		gap[4] = {ONE * 1000 << scale, ONE * 400 << scale, ONE * 4000 << scale, ONE * 1600 << scale};
	dp_variance whole = {(dp_u128) 7000 << scale, 1};
	static const long double edges[2][6] = {{-INFINITY, -0.6L, 0.6L, INFINITY}, {-INFINITY, -1, -0.3L, 0.3L, 1, INFINITY}};
	const int	classes = sized(5, 3, 3);
	const long double *edge = edges[classes == 5];
	dp_gauss	g;
	dp_bridge	upper,
				top,
				lower;
	long double sigma[4],
				p[4][5];
	int			cells = classes * classes * classes * classes,
				c;

	entropy_os(&e);
	memset(count, 0, sizeof(count));
	check(dp_gauss_init(&g, &whole) &&
		  dp_bridge_init(&upper, gap[0] + gap[1], gap[2] + gap[3]) &&
		  dp_bridge_init(&top, gap[0], gap[1]) &&
		  dp_bridge_init(&lower, gap[2], gap[3]), "chain");
	/* the classes' edges lie between integers */
	for (int k = 0; k < 4; k++)
	{
		long double norm = 0;

		sigma[k] = sqrtl(gap[k]);
		for (c = 0; c < classes; c++)
			p[k][c] = normal_mass(c == 0 ? -INFINITY : (floorl(edge[c] * sigma[k]) + 0.5L) / sigma[k],
								  c == classes - 1 ? INFINITY : (floorl(edge[c + 1] * sigma[k]) + 0.5L) / sigma[k]);
		if (scale > 0)
			continue;
		for (int z = -HALF; z <= HALF; z++)
			norm += expl(-(long double) z * z / (2 * gap[k]));
		for (c = 0; c < classes; c++)
		{
			p[k][c] = 0;
			for (int z = -HALF; z <= HALF; z++)
				if (z > edge[c] * sigma[k] && z <= edge[c + 1] * sigma[k])
					p[k][c] += expl(-(long double) z * z / (2 * gap[k])) / norm;
		}
	}
	for (c = 0; c < cells; c++)
	{
		prob[c] = 1;
		for (int k = 3, rest = c; k >= 0; k--, rest /= classes)
			prob[c] *= p[k][rest % classes];
	}
	for (long i = 0; i < draws; i++)
	{
		dp_i128		cheapest = dp_gauss_draw(&g, &e);
		dp_i128		second = dp_bridge_draw(&upper, cheapest, &e);
		dp_i128		first = dp_bridge_draw(&top, second, &e);
		dp_i128		third = second + dp_bridge_draw(&lower, cheapest - second, &e);
		dp_i128		step[4] = {first, second - first, third - second, cheapest - third};
		int			cell = 0;

		for (int k = 0; k < 4; k++)
		{
			for (c = 0; c < classes - 1 && step[k] > edge[c + 1] * sigma[k]; c++)
				;
			cell = classes * cell + c;
		}
		count[cell]++;
	}
	check_fit("chain", count, prob, cells, draws);
}

/*
 * What a role sees that pays for a worse answer: the increment, of a count at rho
 * 0.05, and its noise.  Tells a variance that is off by 5 %, sanitized by 19 %.
 */
static void
test_degraded_law(void)
{
	const long	draws = sized(300000, 300000, 20000);
	static dp_entropy e;
	static Law	s,
				t,
				sum;
	static long count[2 * HALF + 1];
	dp_variance v,
				more = {0, 1};
	dp_gauss	g[2];

	entropy_os(&e);
	memset(count, 0, sizeof(count));
	check(dp_calibrate(1, 50000000000, &v) && dp_refine_extra(1, 50000000000, &v, 10000000000, &more.num), "degraded");
	check(v.num == 10 * v.den && more.num == 44, "from 10 to 50: %ld more", (long) more.num);
	check(dp_gauss_init(&g[0], &v) && dp_gauss_init(&g[1], &more), "degraded");
	gaussian(s, 10);
	gaussian(t, more.num);
	convolve(sum, s, 10, t, more.num);
	for (long i = 0; i < draws; i++)
		count[HALF + (int) (dp_gauss_draw(&g[0], &e) + dp_gauss_draw(&g[1], &e))]++;
	check_fit("degraded", count, sum, 2 * HALF + 1, draws);
}

/*
 * Where the first 64 bits do not decide: z = 1 around n = 0 for variances 4
 * and 4, where w = 2 and W = 5, is accepted with exp(-0.15 - 1/24); all bits of it
 * but the first 64 are what is left to chance.  Tells a probability that is off
 * by 0.05, sanitized by 0.15.
 */
static void
test_bridge_undecided(void)
{
	const long	draws = sized(20000, 20000, 2000);
	static dp_entropy e;
	uint64_t	num = 23,
				den = 120,
				low[3],
				high[3];
	dp_bridge	b;
	long		count[2] = {0};
	long double prob[2],
				norm = 0;

	entropy_os(&e);
	check(dp_bridge_init(&b, 4, 4) && b.wide == 5, "w 2");
	dp_exp_limbs(low, high, 2, &num, 1, &den, 1);
	for (int a = -40; a <= 40; a++)
		norm += expl(-a * a / 4.0L);
	prob[1] = low[0] / 18446744073709551616.0L;
	/* and from then on any */
	prob[1] += (1 - prob[1]) * expl(-0.25L) / norm;
	prob[0] = 1 - prob[1];
	for (long i = 0; i < draws; i++)
	{
		entropy_put_back(&e, low[1]);
		/* the first point of the stretch of 1 with the sign plus */
		entropy_put_back(&e, b.gauss.edge[1]);
		count[dp_bridge_draw(&b, 0, &e) == 1]++;
	}
	check_fit("undecided bridge", count, prob, 2, draws);
}

static long filled;

static void
count_fill(void *ctx, void *buf, size_t len)
{
	static dp_entropy e;

	(void) ctx;
	if (e.fill == NULL)
		entropy_os(&e);
	e.fill(NULL, buf, len);
	filled++;
}

/*
 * A trial takes 8 to 24 bytes, hardly ever more, and succeeds with 0.6 or
 * more, whatever n is.  That draws take more than 48 bytes each, so that of
 * twice as many trials less than half succeed, has a probability below
 * exp(-draws / 25): 1e-170 for 10,000, and 1e-34 for 2,000.
 */
static void
test_bridge_trials(void)
{
	static const int64_t size[][2] = {{4, 4}, {4, 8}, {4, 1000000}, {36, 52}, {40000, 4}, {INT64_MAX, INT64_MAX}};
	const long	draws = sized(20000, 10000, 2000);

	for (int i = 0; i < 6; i++)
	{
		static dp_entropy e;
		dp_bridge	b;

		memset(&e, 0, sizeof(e));
		e.fill = count_fill;
		filled = 0;
		check(dp_bridge_init(&b, size[i][0], size[i][1]), "bridge");
		for (int k = 0; k < draws; k++)
			dp_bridge_draw(&b, (int64_t) pseudo(), &e);
		check(filled * (long) DP_ENTROPY_BLOCK < draws * 48, "variances %ld and %ld: %ld bytes a draw",
			  (long) size[i][0], (long) size[i][1], filled * DP_ENTROPY_BLOCK / draws);
	}
}

static void
test_bridge_range(void)
{
	static dp_entropy e;
	dp_bridge	b;
	dp_i128		most = (dp_i128) 1 << 126;

	entropy_os(&e);
	check(!dp_bridge_init(&b, 3, 4) && !dp_bridge_init(&b, 4, 3) && !dp_bridge_init(&b, 0, 100), "below the gap");
	check(!dp_bridge_init(&b, ONE << 119, (ONE << 119) + 1) && !dp_bridge_init(&b, ~(dp_u128) 0, 4) &&
		  !dp_bridge_init(&b, 4, ~(dp_u128) 0), "above 2^120");
	check(dp_bridge_init(&b, ONE << 119, ONE << 119), "2^120");
	for (int i = 0; i < 200; i++)
	{
		dp_i128		x = dp_bridge_draw(&b, i % 2 ? most : -most, &e) - (i % 2 ? most / 2 : -most / 2);

		check(x < (dp_i128) 1 << 64 && x > -((dp_i128) 1 << 64), "around half of 2^126");
	}
	check(dp_bridge_init(&b, 4, (ONE << 120) - 4), "a small one and a large one");
	for (int i = 0; i < 200; i++)
	{
		dp_i128		x = dp_bridge_draw(&b, i % 2 ? most : -most, &e);

		x -= i % 2 ? 256 : -256;
		check(x < 200 && x > -200, "4 of 2^120, of 2^126: 256 and %d", (int) x);
	}
}

static void
test_sigma_of_link(void)
{
	check_sigma_of_link(5, 9, 1000);
	check_sigma_of_link(5, 9, 1001);
	check_sigma_of_link(5, 9, 500);
	check_sigma_of_link(2, 6, 999);
	check_sigma_of_link(50, 54, 990);
	check_sigma_of_link(1, 1, 1000);
}

/* Tells an error whose variance is off by 5 %, sanitized by 19 %. */
static void
test_top_up_law(void)
{
	const long	n = sized(300000, 300000, 20000);

	check_top_up_law(10000000000, 40000000000, n);
	check_top_up_law(100000000000, 300000000001, n);
}

/*
 * Tells a variance that is off by 11 % (all draws: 6 %, sanitized: 42 %), and a
 * centre that is off by 0.08 deviations (0.05, 0.26).
 */
static void
test_bridge_small(void)
{
	const long	n = sized(200000, 60000, 5000);

	check_bridge_small(4, 4, 0, n);
	check_bridge_small(4, 4, 5, n);
	check_bridge_small(4, 12, -3, n);
	check_bridge_small(60, 4, 41, n);
	check_bridge_small(36, 52, -77, n);
}

/* Tells a variance that is off by 10 % (all: 7 %, sanitized: 22 %). */
static void
test_bridge_large(void)
{
	const long	n = sized(200000, 100000, 20000);

	check_bridge_large(ONE << 70, ONE << 68, -((dp_i128) 1 << 35), n);
	check_bridge_large((ONE << 119) + 12345, (ONE << 118) + 77, (dp_i128) 1 << 60, n);
}

static void
test_chain(void)
{
	const long	n = sized(200000, 100000, 10000);

	check_chain(0, n);
	check_chain(60, n);
}

void
refinement_tests(void)
{
	RUN(test_mean);
	RUN(test_sigma);
	RUN(test_sigma_of_link);
	RUN(test_variance);
	/* arithmetic of the test's own */
	if (!SANITIZED)
	{
		RUN(test_sums);
		RUN(test_extra_keeps_rho);
		RUN(test_least_variance);
		RUN(test_choosing);
	}
	RUN(test_extra_range);
	RUN(test_top_up_law);
	RUN(test_degraded_law);
	RUN(test_bridge_small);
	RUN(test_bridge_large);
	RUN(test_chain);
	RUN(test_bridge_undecided);
	RUN(test_bridge_trials);
	RUN(test_bridge_range);
}
