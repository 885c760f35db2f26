/*
 * test_calibrate.c
 *	  Variances against exact arithmetic and brute force, thresholds against
 *	  sums of the mass function.
 */
#include <math.h>

#include "math/calibrate.h"
#include "math/limbs.h"
#include "unit.h"

/* num / den compared with sens2 1e12 / (2 rho) */
static int
compare(const dp_variance *v, dp_u128 sens2, int64_t rho)
{
	uint64_t	a[2],
				b[2],
				factor[1],
				left[5],
				right[5],
				tmp[4];

	/* num 2 rho against sens2 1e12 den */
	dp_limbs_set(a, 2, v->num);
	factor[0] = 2 * (uint64_t) rho;
	left[4] = left[3] = 0;
	dp_limbs_mul(left, a, 2, factor, 1);
	dp_limbs_set(a, 2, sens2);
	dp_limbs_set(b, 2, v->den);
	factor[0] = DP_RHO_ONE;
	dp_limbs_mul(tmp, a, 2, b, 2);
	dp_limbs_mul(right, tmp, 4, factor, 1);
	return dp_limbs_cmp(left, right, 5);
}

static void
test_exact(void)
{
	dp_variance v;
	dp_gauss	g;
	int			i;

	/* rho = 0.5 and sensitivity 1: variance 1 */
	check(dp_calibrate(1, DP_RHO_ONE / 2, &v) && v.num == 1 && v.den == 1, "variance 1");
	check(dp_calibrate(3, DP_RHO_ONE / 100, &v) && v.num == 150 && v.den == 1, "variance 150");
	check(dp_calibrate(7, 3 * DP_RHO_ONE, &v) && v.num == 7 && v.den == 6, "variance 7/6");
	check(dp_calibrate(1, 1, &v) && v.num == DP_RHO_ONE / 2 && v.den == 1, "the smallest rho");

	/* rounded up to sigma 0.01 */
	check(dp_calibrate(1, DP_RHO_MAX, &v) && v.num == 1 && v.den == 10000, "the largest rho");
	check(dp_calibrate(1, 5000 * DP_RHO_ONE, &v) && v.num == 1 && v.den == 10000, "sigma 0.01");
	check(dp_calibrate(1, 5000 * DP_RHO_ONE - 1, &v) && v.num == DP_RHO_ONE / 2 &&
		  v.den == 5000 * DP_RHO_ONE - 1, "just above sigma 0.01");

	/* outside */
	check(!dp_calibrate(0, 1, &v) && !dp_calibrate(1, 0, &v) && !dp_calibrate(1, -1, &v) &&
		  !dp_calibrate(1, DP_RHO_MAX + 1, &v) &&
		  !dp_calibrate(((dp_u128) 1 << 100) + 1, DP_RHO_ONE, &v), "arguments out of range");
	/* around sigma^2 = 2^120 */
	check(dp_calibrate((dp_u128) 1 << 100, 1000000, &v) &&
		  v.num == ((dp_u128) 500000 << 100) && v.den == 1, "large and exact");
	check(dp_calibrate((dp_u128) 1 << 100, 476838, &v), "just below 2^60");
	check(!dp_calibrate((dp_u128) 1 << 100, 476837, &v), "just above 2^60");

	for (i = 0; i < 20000; i++)
	{
		dp_u128		sens2 = (pseudo128() >> (28 + pseudo() % 100)) + 1;
		int64_t		rho = (int64_t) (pseudo() >> (pseudo() % 64)) & INT64_MAX;
		bool		ok;
		int			side;

		if (rho < 1 || rho > DP_RHO_MAX || sens2 > (dp_u128) 1 << 100)
			continue;
		ok = dp_calibrate(sens2, rho, &v);
		if (!ok)
		{
			dp_variance top = {(dp_u128) 1 << 120, 1};

			check(compare(&top, sens2, rho) < 0,
				  "refused though sigma is below 2^60: sens2 %.17g, rho %lld", (double) sens2, (long long) rho);
			continue;
		}
		check(dp_gauss_init(&g, &v),
			  "the sampler refuses a calibrated variance: sens2 %.17g, rho %lld", (double) sens2, (long long) rho);
		side = compare(&v, sens2, rho);
		check(side >= 0, "variance below sens2 / (2 rho): sens2 %.17g, rho %lld", (double) sens2, (long long) rho);
		if (side > 0 && !(v.num == 1 && v.den == 10000))
		{
			/* not exact: then it must be close, and the exact one too long */
			dp_variance below = v;

			check(sens2 >> 88 != 0,
				  "not exact for a short numerator: sens2 %.17g, rho %lld", (double) sens2, (long long) rho);
			below.num--;
			check(compare(&below, sens2, rho) < 0,
				  "numerator not the smallest: sens2 %.17g, rho %lld", (double) sens2, (long long) rho);
		}
	}
}

/* dp_fraction_up against all fractions that fit */
static void
test_fraction(void)
{
	int			i;

	for (i = 0; i < 3000; i++)
	{
		uint64_t	den = 1 + pseudo() % 60;
		uint64_t	rem = pseudo() % den;
		uint64_t	whole = 1 + pseudo() % 30;
		uint64_t	max = whole + 1 + pseudo() % 400;
		uint64_t	best_num = 0,
					best_den = 0,
					q;
		uint64_t	x_num = whole * den + rem;
		dp_variance v;

		/* the smallest numerator for each denominator; the first of the least */
		for (q = 1; q <= max * den; q++)
		{
			uint64_t	p = (x_num * q + den - 1) / den;

			if (p > max)
				break;
			if (best_den == 0 || p * best_den < best_num * q)
			{
				best_num = p;
				best_den = q;
			}
		}
		dp_fraction_up(whole, rem, den, max, &v);
		check(v.num * best_den == v.den * best_num,
			  "%d + %d/%d, up to %d: %d/%d instead of %d/%d", (int) whole, (int) rem, (int) den,
			  (int) max, (int) v.num, (int) v.den, (int) best_num, (int) best_den);
	}
}

static void
test_sigma(void)
{
	dp_variance v = {9, 4};
	int			i;

	check(dp_variance_sigma(&v) == 1.5, "sigma 1.5");
	v.num = (dp_u128) 1 << 120;
	v.den = 1;
	check(dp_variance_sigma(&v) == 0x1p60, "sigma 2^60");
	v.num = 1;
	v.den = 10000;
	check(dp_variance_sigma(&v) >= 0.01 && dp_variance_sigma(&v) <= nextafter(0.01, 1), "sigma 0.01");
	for (i = 0; i < 1000; i++)
	{
		double		s,
					low;
		long double truth;

		v.num = (pseudo128() >> (8 + pseudo() % 100)) + 1;
		v.den = 1 + pseudo() % 1000;
		s = dp_variance_sigma(&v);
		truth = sqrtl((long double) v.num / (long double) v.den);
		low = nextafter(s, 0);
		check(s >= truth * (1 - 1e-18L) && low <= truth * (1 + 1e-18L),
			  "sigma is %.17g, not %.20Lg rounded up", s, truth);
	}
}

/* P[X >= m], to some 1e-15 of it; sigma up to some thousands */
static long double
tail(int64_t m, long double sigma)
{
	long double sum = 0,
				norm = 1,
				x;
	long double c = 1 / (2 * sigma * sigma);

	for (x = ceill(40 * sigma) + 40; x >= 1; x--)
		norm += 2 * expl(-c * x * x);
	/* smallest first */
	for (x = m + ceill(12 * sigma) + 12; x >= m; x--)
		sum += expl(-c * x * x);
	return sum / norm;
}

static void
test_threshold(void)
{
	static const struct
	{
		uint64_t	num;
		uint64_t	den;
		int			shift;
	}			variances[] = {
		{1, 10000, 0}, {9, 100, 0}, {1, 4, 0}, {1, 1, 0}, {50, 3, 0}, {5329, 100, 0}, {100000, 7, 0},
		{1000000, 1, 0},
		{1, 1, 40}, {12345, 1, 60}, {1, 1, 100},
	};
	static const int64_t groups[] = {1, 5, 1000, INT32_MAX};
	static const int64_t deltas[] = {1, 1000000, INT64_C(1000000000000),
	INT64_C(50000000000000000), INT64_C(500000000000000000), INT64_C(999999999999999999)};
	dp_variance v;
	int64_t		t;
	size_t		i,
				j,
				l;

	for (i = 0; i < sizeof(variances) / sizeof(variances[0]); i++)
	{
		int64_t		previous_k = 0;

		v.num = (dp_u128) variances[i].num << variances[i].shift;
		v.den = variances[i].den;
		for (j = 0; j < sizeof(groups) / sizeof(groups[0]); j++)
		{
			int64_t		previous = INT64_MAX;

			for (l = 0; l < sizeof(deltas) / sizeof(deltas[0]); l++)
			{
				long double sigma = sqrtl((long double) v.num / (long double) v.den);
				long double allowed = deltas[l] / 1e18L / groups[j];

				check(dp_threshold(&v, groups[j], deltas[l], &t), "no threshold, sigma %.6Lg, k %lld, delta %lld",
					  sigma, (long long) groups[j], (long long) deltas[l]);
				check(t >= 2 && t <= previous,
					  "threshold %lld after %lld for a smaller delta", (long long) t, (long long) previous);
				previous = t;
				if (l == 2)
				{
					check(t >= previous_k,
						  "threshold %lld after %lld for fewer groups", (long long) t, (long long) previous_k);
					previous_k = t;
				}
				if (sigma <= 2000)
				{
					check(tail(t - 1, sigma) <= allowed, "threshold %lld too small, variance %d, k %lld, delta %lld",
						  (long long) t, (int) i, (long long) groups[j], (long long) deltas[l]);
					check(t == 2 || tail(t - 2, sigma) > allowed * (1 - 1e-9L),
						  "threshold %lld not the smallest, variance %d, k %lld, delta %lld",
						  (long long) t, (int) i, (long long) groups[j], (long long) deltas[l]);
				}
				else
				{
					/* between the normal tails from m and from m - 1 */
					long double z = (t - 2) / sigma;

					check(normal_mass(z, INFINITY) <= allowed * (1 + 10 / sigma),
						  "large threshold %lld too small, variance %d, k %lld, delta %lld",
						  (long long) t, (int) i, (long long) groups[j], (long long) deltas[l]);
					check(t == 2 || normal_mass((t - 3) / sigma, INFINITY) > allowed * (1 - 1e-9L),
						  "large threshold %lld not nearly the smallest, variance %d, k %lld, delta %lld",
						  (long long) t, (int) i, (long long) groups[j], (long long) deltas[l]);
				}
			}
		}
	}

	/* no noise to speak of: a threshold of 2 holds */
	v.num = 1;
	v.den = 10000;
	check(dp_threshold(&v, INT32_MAX, 1, &t) && t == 2, "sigma 0.01 needs 2");

	v.num = (dp_u128) 1 << 120;
	v.den = 1;
	check(!dp_threshold(&v, 1, 1, &t), "no threshold below 2^62");
	check(dp_threshold(&v, 1, DP_DELTA_ONE / 5, &t) && t > INT64_C(1) << 59, "sigma 2^60, large delta");
	v.num = 1;
	check(!dp_threshold(&v, 0, 1, &t) && !dp_threshold(&v, 1, 0, &t) &&
		  !dp_threshold(&v, 1, DP_DELTA_ONE, &t) &&
		  !dp_threshold(&v, (int64_t) INT32_MAX + 1, 1, &t), "arguments out of range");
}

/* a unit in so many groups and fewer has a place of its own; weights as release/min_units.c has them */
#define PLACES 100
#define LONE_WEIGHT (INT64_C(1) << 28)

/* Returns the sum, one unit after the other from the heaviest on. */
static dp_i128
weight_one_by_one(const dp_i128 *units, const int64_t *weight, int64_t heaviest)
{
	dp_i128		sum = 0;
	int64_t		met = 0;

	for (int i = 0; i < PLACES; i++)
		for (dp_i128 u = 0; u < units[i]; u++)
			if (met++ >= heaviest)
				sum += weight[i];
	return sum;
}

/* Against a sum one by one, and the theorem of release/min_units.c: what one unit more may do. */
static void
test_weight_beyond(void)
{
	static const int64_t heaviest[] = {0, 1, 2, 9, 50, 999999};
	int64_t		weight[PLACES];
	dp_i128		units[PLACES];
	uint64_t	random = 20261130;

	for (int i = 0; i < PLACES; i++)
		weight[i] = (int64_t) ((dp_i128) LONE_WEIGHT * LONE_WEIGHT / dp_root_up(((dp_u128) (i + 1)) << 56));
	for (int round = 0; round < 3000; round++)
	{
		int64_t		k = heaviest[round % (sizeof(heaviest) / sizeof(heaviest[0]))];
		int64_t		n = 0;
		dp_i128		sum;

		for (int i = 0; i < PLACES; i++)
		{
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			/* mostly few units: about as many as are left out */
			units[i] = (random >> 33) % 10 == 0 ? (random >> 40) % (round % 7 + 1) : 0;
			n += (int64_t) units[i];
		}
		sum = dp_weight_beyond(units, weight, PLACES, k);
		check(sum == weight_one_by_one(units, weight, k), "another sum without %lld units", (long long) k);
		check((sum > 0) == (n > k), "%lld units of which %lld are left out weigh %lld", (long long) n, (long long) k, (long long) sum);
		for (int i = 0; i < PLACES; i++)
		{
			dp_i128		more;

			units[i]++;
			more = dp_weight_beyond(units, weight, PLACES, k) - sum;
			check(more >= 0 && more <= weight[i], "a unit of weight %lld adds %lld", (long long) weight[i], (long long) more);
			units[i]--;
		}
	}
	for (int i = 0; i < PLACES; i++)
		units[i] = (dp_i128) 1 << 60;
	check(dp_weight_beyond(units, weight, PLACES, 0) > (dp_i128) 1 << 64, "many units");
	check(dp_weight_beyond(units, weight, 0, 3) == 0, "nobody");
}

void
calibrate_tests(void)
{
	RUN(test_exact);
	RUN(test_fraction);
	RUN(test_sigma);
	RUN(test_threshold);
	RUN(test_weight_beyond);
}
