/*
 * test_quantile.c
 *	  Quantiles from trees, bounds from logarithmic histograms, shares: exact
 *	  without noise, sound for any input, and as accurate as they say.
 *
 * The noise comes from a generator with a fixed seed: simulations give the
 * same figures in every run and cannot fail by chance.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calc/tail_pair.h"
#include "math/normal.h"
#include "math/quantile.h"
#include "unit.h"

#define LEAVES	DP_QUANTILE_LEAVES
#define NODES	DP_QUANTILE_NODES

static uint64_t state;

/* splitmix64, restarted by each test */
static uint64_t
bits(void)
{
	uint64_t	z = (state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* in (0, 1) */
static double
uniform(void)
{
	return ((double) (bits() >> 12) + 0.5) * 0x1p-52;
}

/* by Marsaglia's polar method, both of a pair */
static double
normal(void)
{
	static double spare;
	static uint64_t spare_state = 0;
	double		x,
				y,
				square;

	if (spare_state == state && spare_state != 0)
	{
		spare_state = 0;
		return spare;
	}
	do
	{
		x = 2 * uniform() - 1;
		y = 2 * uniform() - 1;
		square = x * x + y * y;
	} while (square >= 1);
	square = sqrt(-2 * log(square) / square);
	spare = square * y;
	spare_state = state;
	return square * x;
}

/* data of several shapes in [0, 1) */
enum
{
	UNIFORM, BELL, SKEWED, TWO_PEAKS, CONSTANT, TEN_VALUES, SHAPES
};
static const char *const shape_names[SHAPES] = {"uniform", "bell", "skewed", "two peaks", "constant", "ten values"};

static double
draw(int shape)
{
	double		x = 0;

	switch (shape)
	{
		case UNIFORM:
			return uniform();
		case BELL:
			x = 0.5 + 0.1 * normal();
			break;
		case SKEWED:
			x = 0.02 * exp(normal());
			break;
		case TWO_PEAKS:
			x = (uniform() < 0.5 ? 0.2 : 0.8) + 0.02 * normal();
			break;
		case CONSTANT:
			return 0.37;
		case TEN_VALUES:
			return 0.1 * floor(10 * uniform()) + 0.01;
	}
	return fmin(fmax(x, 0), 1 - DBL_EPSILON);
}

static int
compare(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

static void
count_leaves(const double *data, int n, dp_i128 *leaves)
{
	int			i;

	memset(leaves, 0, LEAVES * sizeof(dp_i128));
	for (i = 0; i < n; i++)
		leaves[(int) (data[i] * LEAVES)]++;
}

/* noise of a variance of sigma^2, rounded if asked */
static void
add_noise(const dp_i128 *exact, double sigma, double *nodes)
{
	int			i;

	for (i = 0; i < NODES; i++)
		nodes[i] = (double) exact[i] + rint(sigma * normal());
}

static bool
sound_cdf(const double *cdf)
{
	int			i;

	if (cdf[0] != 0 || !(cdf[LEAVES] <= DBL_MAX))
		return false;
	for (i = 0; i < LEAVES; i++)
		if (!(cdf[i] <= cdf[i + 1]))
			return false;
	return true;
}

/* every answer from a cdf is within bounds and in order */
static void
check_answers(const double *cdf, double sigma, double lower, double upper, const char *what)
{
	double		last = lower;
	double		low = dp_quantile_min(cdf, sigma, lower, upper);
	double		high = dp_quantile_max(cdf, sigma, lower, upper);
	int			i;

	check(lower <= low && low <= high && high <= upper, "%s: extremes %g and %g", what, low, high);
	for (i = 0; i <= 40; i++)
	{
		double		q = i / 40.0;
		double		value = dp_quantile_value(cdf, q, lower, upper);
		double		sd = dp_quantile_stddev(cdf, sigma, q, lower, upper);

		check(value >= last && value <= upper, "%s: quantile %g is %.17g after %.17g", what, q, value, last);
		check(sd > 0 && sd <= (0.5 * upper - 0.5 * lower) * (1 + DBL_EPSILON), "%s: deviation %g", what, sd);
		last = value;
	}
}

static void
test_exact(void)
{
	static dp_i128 leaves[LEAVES],
				nodes[NODES];
	static double noisy[NODES],
				cdf[LEAVES + 1],
				same[LEAVES + 1];
	static double data[4000];
	const double leaf = 1.0 / LEAVES;
	int			shape,
				round,
				i;

	state = 1;
	for (shape = 0; shape < SHAPES; shape++)
		for (round = 0; round < 12; round++)
		{
			int			n = round < 6 ? 1 + round : 1 << round;
			double		total = 0;

			n = n > 4000 ? 4000 : n;
			for (i = 0; i < n; i++)
				data[i] = draw(shape);
			qsort(data, n, sizeof(double), compare);
			count_leaves(data, n, leaves);
			dp_quantile_sum_up(leaves, nodes);
			for (i = 0; i < 16; i++)
				total += (double) nodes[i];
			check(total == n && nodes[16 + 255] + nodes[16 + 254] <= nodes[15], "%s: sums of nodes", shape_names[shape]);
			for (i = 0; i < 256; i++)
				check(i % 37 != 0 || nodes[16 + i] == leaves[16 * i] + leaves[16 * i + 1] + leaves[16 * i + 2] + leaves[16 * i + 3] +
					  leaves[16 * i + 4] + leaves[16 * i + 5] + leaves[16 * i + 6] + leaves[16 * i + 7] + leaves[16 * i + 8] +
					  leaves[16 * i + 9] + leaves[16 * i + 10] + leaves[16 * i + 11] + leaves[16 * i + 12] + leaves[16 * i + 13] +
					  leaves[16 * i + 14] + leaves[16 * i + 15], "node %d", i);
			for (i = 0; i < NODES; i++)
				noisy[i] = (double) nodes[i];
			dp_quantile_cdf(noisy, 0, cdf);
			dp_quantile_cdf(noisy, 5, same);
			check(sound_cdf(cdf) && sound_cdf(same), "%s: cdf", shape_names[shape]);
			for (i = 0, total = 0; i < LEAVES; i++)
			{
				total += (double) leaves[i];
				if (cdf[i + 1] != total || fabs(same[i + 1] - total) > 1e-9 * n)
				{
					check(false, "%s: cdf[%d] = %g, %g, not %g", shape_names[shape], i + 1, cdf[i + 1], same[i + 1], total);
					break;
				}
			}

			/*
			 * percentile_cont interpolates between the data around rank q (n
			 * - 1), from 0; ours is in the leaf of a row around q n
			 */
			for (i = 0; i <= 200; i++)
			{
				double		q = i / 200.0;
				double		rank = q * (n - 1);
				int			at = (int) rank;
				int			next = at + 1 < n ? at + 1 : n - 1;
				double		percentile = data[at] + (rank - at) * (data[next] - data[at]);
				double		value = dp_quantile_value(cdf, q, 0, 1);
				double		gap = fmax(data[next] - data[at], next + 1 < n ? data[next + 1] - data[next] : 0);

				if (at > 0)
					gap = fmax(gap, data[at] - data[at - 1]);
				check(fabs(value - percentile) <= leaf + gap, "%s, %d rows: quantile %g is %g, not %g",
					  shape_names[shape], n, q, value, percentile);
			}
			check_answers(cdf, 0, 0, 1, shape_names[shape]);
			check(fabs(dp_quantile_value(cdf, 0, 0, 1) - data[0]) <= leaf &&
				  fabs(dp_quantile_value(cdf, 1, 0, 1) - data[n - 1]) <= leaf &&
				  fabs(dp_quantile_min(cdf, 0, 0, 1) - data[0]) <= leaf &&
				  fabs(dp_quantile_max(cdf, 0, 0, 1) - data[n - 1]) <= leaf, "%s, %d rows: extremes", shape_names[shape], n);
			for (i = 0; i < n; i++)
			{
				double		value = dp_quantile_value(cdf, (i + 0.5) / n, 0, 1);

				check((int) (fmin(value, 1 - DBL_EPSILON / 2) * LEAVES) == (int) (data[i] * LEAVES) ||
					  fabs(value - data[i]) <= leaf, "%s: row %d", shape_names[shape], i);
			}
		}

	/* between two values: in the middle */
	memset(leaves, 0, sizeof(leaves));
	leaves[0] = leaves[4095] = 3;
	dp_quantile_sum_up(leaves, nodes);
	for (i = 0; i < NODES; i++)
		noisy[i] = (double) nodes[i];
	dp_quantile_cdf(noisy, 0, cdf);
	check(dp_quantile_value(cdf, 0.5, -7, 9) == 1, "the middle of a gap");
	check(dp_quantile_value(cdf, 0.5, -DBL_MAX, DBL_MAX) == 0, "the middle of everything");

	/* nothing: the middle of the bounds */
	memset(noisy, 0, sizeof(noisy));
	dp_quantile_cdf(noisy, 0, cdf);
	check(cdf[LEAVES] == 0 && dp_quantile_value(cdf, 0, 2, 8) == 5 && dp_quantile_value(cdf, 1, 2, 8) == 5 &&
		  dp_quantile_min(cdf, 3, 2, 8) == 5 && dp_quantile_max(cdf, 3, 2, 8) == 5, "no data");
	check_answers(cdf, 0, 2, 8, "no data");
}

/* dates and numbers of all magnitudes */
static const double some_bounds[][2] = {
	{0, 1}, {-1, 1}, {-DBL_MAX, DBL_MAX}, {1e15, 1e15 + 1}, {-1e-300, 1e-300}, {0, DBL_MAX}, {1, 1 + DBL_EPSILON},
	{-273.15, 1e4}
};

/*
 * Finds what one of 480 trees of counts shows with a probability of 1 - 1e-9
 * (all rounds: one of 4800, sanitized: one of 96), if each is like another.
 */
static void
test_any(void)
{
	static double pool[1 << 16];
	static double noisy[NODES],
				cdf[LEAVES + 1];
	static const double sigmas[] = {0, 1e-3, 0.7, 12, 1e4, 1e18, 1e38, DBL_MAX};
	long		rounds = sized(100000, 10000, 2000);
	long		r;
	int			i;

	state = 2;
	for (i = 0; i < 1 << 16; i++)
		pool[i] = normal();
	for (r = 0; r < rounds; r++)
	{
		double		sigma = sigmas[r % 8];
		double		scale = fmin(sigma, 1e300);
		double		shift = scale * pool[bits() & 0xffff] * (double) (r % 5) * 0.3;
		const double *noise = pool + (bits() & 0xefff) % (65536 - NODES);
		const double *bounds = some_bounds[(r / 8) % 8];

		switch ((r / 64) % 4)
		{
			case 0:				/* noise, of any mean */
				for (i = 0; i < NODES; i++)
					noisy[i] = rint(scale * noise[i] + shift);
				break;
			case 1:				/* negative throughout */
				for (i = 0; i < NODES; i++)
					noisy[i] = -fabs(scale * noise[i]) - 1;
				break;
			case 2:				/* few counts of very different sizes */
				for (i = 0; i < NODES; i++)
					noisy[i] = noise[i] > 2 ? exp(40 * noise[i]) : -noise[i];
				break;
			case 3:				/* extreme */
				for (i = 0; i < NODES; i++)
					noisy[i] = noise[i] > 2 ? DBL_MAX : noise[i] < -2 ? -DBL_MAX : noise[i] * 1e90;
				break;
		}
		if (r % 100 == 99)
		{
			noisy[17] = HUGE_VAL;
			noisy[300] = -HUGE_VAL;
			noisy[301] = NAN;
		}
		dp_quantile_cdf(noisy, sigma, cdf);
		check(sound_cdf(cdf), "round %ld: not a cdf", r);
		if (r % 7 == 0)
			check_answers(cdf, sigma, bounds[0], bounds[1], "any counts");
	}
}

/* the variance of cdf[i] - q total in a tree without noise in its root */
static double
tree_variance(int branching, int levels, int i, double q)
{
	double		s[16];
	double		share = 0,
				rest = 0;
	int			h;

	s[1] = 1;
	for (h = 2; h <= levels; h++)
		s[h] = branching * s[h - 1] / (branching * s[h - 1] + 1);
	for (h = 1; h < levels; h++)
	{
		int			full = i % branching;
		double		mean = (full + share) / branching;

		rest += s[h] * (full + share * share - branching * mean * mean);
		share = mean;
		i /= branching;
	}
	return rest + s[levels] * (i * (1 - q) * (1 - q) + (share - q) * (share - q) + (branching - 1 - i) * q * q);
}

static double
tree_average(int branching, int levels)
{
	double		sum = 0;
	int			i;

	for (i = 0; i < LEAVES; i++)
		sum += tree_variance(branching, levels, i, (double) i / LEAVES);
	return sum / LEAVES;
}

/*
 * With so much data everywhere that no count comes near 0 the fit is linear
 * and its variance is known, whatever the law of the noise is: ranks at 15
 * places, 4000 draws, each estimate of a variance with a relative deviation of
 * sqrt(2 / 4000) = 2.2%.
 */
static void
test_consistency(void)
{
	static const struct
	{
		int			branching,
					levels;
	}			trees[] = {{2, 12}, {4, 6}, {8, 4}, {16, 3}, {64, 2}, {4096, 1}};
	static double noisy[NODES],
				cdf[LEAVES + 1],
				leaves[LEAVES + 1];
	static const int places[] = {1, 7, 16, 40, 256, 500, 1000, 2048, 2300, 3000, 3333, 3840, 4000, 4090, 4095};
	double		sum[15] = {0},
				plain[15] = {0};
	double		average = tree_average(16, 3);
	double		best = HUGE_VAL;
	const double sigma = 3;
	const int	draws = sized(4000, 4000, 200);
	double		all = 0;
	int			r,
				i,
				p;

	state = 3;
	for (r = 0; r < draws; r++)
	{
		for (i = 0; i < NODES; i++)
			noisy[i] = (i < 16 ? 256 : i < 272 ? 16 : 1) * 1e6 + sigma * sqrt(12) * (uniform() - 0.5);
		dp_quantile_cdf(noisy, sigma, cdf);
		for (i = 0; i < LEAVES; i++)
			leaves[i + 1] = leaves[i] + (noisy[272 + i] - 1e6);
		for (p = 0; p < 15; p++)
		{
			double		q = places[p] / (double) LEAVES;
			double		error = cdf[places[p]] - q * cdf[LEAVES];

			sum[p] += error * error;

			/* from the leaves alone */
			plain[p] += pow(leaves[places[p]] - q * leaves[LEAVES], 2);
		}
		for (i = 0; i < LEAVES; i++)
		{
			double		error = cdf[i] - i / (double) LEAVES * cdf[LEAVES];

			all += error * error / LEAVES;
		}
	}
	for (p = 0; p < 15; p++)
	{
		double		expected = sigma * sigma * tree_variance(16, 3, places[p], places[p] / (double) LEAVES);
		double		tolerance = 5 * sqrt(2.0 / draws);

		check(fabs(sum[p] / draws / expected - 1) < tolerance, "rank of leaf %d: variance %g, not %g", places[p], sum[p] / draws, expected);
		check(places[p] < 100 || places[p] > 4000 || sum[p] < plain[p] / 10, "rank of leaf %d: no better than leaves alone", places[p]);
	}
	check(fabs(all / draws / (sigma * sigma * average) - 1) < 5 * sqrt(2.0 / draws), "average variance of a rank %g, not %g",
		  all / draws, sigma * sigma * average);

	/* at equal rho a level's variance is proportional to their number */
	for (i = 0; i < 6; i++)
	{
		double		sd = sqrt(tree_average(trees[i].branching, trees[i].levels) * trees[i].levels);

		best = fmin(best, sd);
		if (!SANITIZED)
			printf("# branching %d, %d levels: deviation of a rank %.2f, where one level alone would have noise of 1\n",
				   trees[i].branching, trees[i].levels, sd);
	}
	check(sqrt(3 * average) < 1.25 * best, "another branching is much better");
}

/* Tests what is said of ranks before there are answers: the average of what a rank has at each leaf, none of which is far from it. */
static void
test_rank_noise(void)
{
	static const double shares[] = {0, 0.05, 0.5, 0.9, 1};
	int			k,
				i;

	for (k = 0; k < 5; k++)
	{
		double		noise = dp_quantile_rank_noise(7, shares[k]);
		double		sum = 0;
		double		most = 0;

		for (i = 0; i < LEAVES; i++)
		{
			double		variance = tree_variance(16, 3, i, shares[k]);

			sum += variance / LEAVES;
			most = fmax(most, variance);
		}
		check(fabs(noise / (7 * sqrt(sum)) - 1) < 1e-12, "noise of rank %g is %g, not %g", shares[k], noise, 7 * sqrt(sum));
		check(7 * sqrt(most) < noise * 4 / 3, "noise of rank %g is %g, and %g at one leaf", shares[k], noise, 7 * sqrt(most));
	}
}

/*
 * Estimated deviations against simulated ones, which have a relative deviation
 * of 1 / sqrt(2 * 300) = 4.1 % (all draws: 2.9 %, sanitized: 5 %).
 */
static void
test_stddev(void)
{
	static dp_i128 leaves[LEAVES],
				exact[NODES];
	static double noisy[NODES],
				cdf[LEAVES + 1],
				truth[LEAVES + 1];
	static double data[100000];
	static const double shares[] = {0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95};
	const double sigma = 12;
	const int	draws = sized(600, 300, 200);
	int			shape,
				size,
				r,
				i,
				k;

	for (size = 10000; size <= sized(100000, 100000, 10000); size *= 10)
		for (shape = 0; shape < SHAPES; shape++)
		{
			double		squares[7] = {0},
						estimates[7] = {0};
			double		low = 0,
						high = 0;
			int			far = 0;

			/* the same data whatever the number of draws is */
			state = size + shape;
			for (i = 0; i < size; i++)
				data[i] = draw(shape);
			qsort(data, size, sizeof(double), compare);
			count_leaves(data, size, leaves);
			dp_quantile_sum_up(leaves, exact);
			for (i = 0; i < NODES; i++)
				noisy[i] = (double) exact[i];
			dp_quantile_cdf(noisy, 0, truth);
			for (r = 0; r < draws; r++)
			{
				add_noise(exact, sigma, noisy);
				dp_quantile_cdf(noisy, sigma, cdf);
				if (r < 5)
					check_answers(cdf, sigma, -1, 2, shape_names[shape]);
				for (k = 0; k < 7; k++)
				{
					double		error = dp_quantile_value(cdf, shares[k], 0, 1) - dp_quantile_value(truth, shares[k], 0, 1);
					double		estimate = dp_quantile_stddev(cdf, sigma, shares[k], 0, 1);

					squares[k] += error * error / draws;
					estimates[k] += estimate * estimate / draws;
				}
				low = dp_quantile_min(cdf, sigma, 0, 1);
				high = dp_quantile_max(cdf, sigma, 0, 1);

				/* a node beyond the data was taken for data, or rows missed */
				if (low < data[0] - 1.0 / 16 || high > data[size - 1] + 1.0 / 16 ||
					low > data[(int) (64 * sigma)] + 1e-3 || high < data[size - 1 - (int) (64 * sigma)] - 1e-3)
					far++;
			}
			check(far <= 8 + draws / 50, "%s, %d rows: %d of %d extremes are far off", shape_names[shape], size, far, draws);
			for (k = 0; k < 7; k++)
			{
				double		ratio = sqrt(estimates[k] / squares[k]);

				/*
				 * Never much too small; where counts are far from 0 not too
				 * large either.  Errors below a leaf do not count.  At the edge
				 * between two values the error is the whole gap half of the
				 * time, 0.71 gaps, of which half a gap is told.
				 */
				check(ratio > 0.75 || squares[k] < 1e-10,
					  "%s, %d rows: deviation of quantile %g is %g, estimated %g",
					  shape_names[shape], size, shares[k], sqrt(squares[k]), sqrt(estimates[k]));
				check(ratio < 1.35 || shape != UNIFORM || size < 100000, "%s, %d rows: deviation of quantile %g is %g, estimated %g",
					  shape_names[shape], size, shares[k], sqrt(squares[k]), sqrt(estimates[k]));
				check(ratio < 3 || shape > SKEWED || sqrt(squares[k]) < 1.0 / LEAVES, "%s, %d rows: deviation of quantile %g is %g, estimated %g",
					  shape_names[shape], size, shares[k], sqrt(squares[k]), sqrt(estimates[k]));
			}
		}
}

/*
 * All data in the last sixteenth: noise in one of the 15 nodes before it is
 * taken for data with a probability below 15 Q(3.5) = 0.35%.  Tells one of
 * 3.2% with a probability of 1 - 1e-9 (all draws: 2.1%, sanitized: 17%).
 */
static void
test_extremes(void)
{
	static dp_i128 leaves[LEAVES],
				exact[NODES];
	static double noisy[NODES],
				cdf[LEAVES + 1];
	const double sigma = 12;
	const int	draws = sized(4000, 2000, 200);
	int			far = 0,
				near = 0,
				r,
				i;

	state = 8;
	memset(leaves, 0, sizeof(leaves));
	for (i = LEAVES - 200; i < LEAVES - 50; i++)
		leaves[i] = 100;
	dp_quantile_sum_up(leaves, exact);
	for (r = 0; r < draws; r++)
	{
		add_noise(exact, sigma, noisy);
		dp_quantile_cdf(noisy, sigma, cdf);
		if (dp_quantile_min(cdf, sigma, 0, LEAVES) < LEAVES - 256)
			far++;
		if (fabs(dp_quantile_min(cdf, sigma, 0, LEAVES) - (LEAVES - 200)) <= 1 &&
			fabs(dp_quantile_max(cdf, sigma, 0, LEAVES) - (LEAVES - 50)) <= 1)
			near++;
	}
	check(far < 0.0035 * draws + 5 * sqrt(0.0035 * draws) + 1, "%d of %d minima are noise", far, draws);
	check(near > 0.9 * draws, "only %d of %d extremes are within a leaf", near, draws);
}

static void
test_log_grid(void)
{
	double		x;
	int			i;

	state = 5;
	check(dp_log_edge(0) == -0x1p96 && dp_log_edge(DP_LOG_BINS) == 0x1p96 && dp_log_edge(128) == -0x1p-32 && dp_log_edge(129) == 0x1p-32,
		  "edges");
	for (i = 0; i < DP_LOG_BINS; i++)
	{
		double		low = dp_log_edge(i);
		double		high = dp_log_edge(i + 1);

		check(low < high && high == -dp_log_edge(DP_LOG_BINS - 1 - i), "edges of bin %d", i);
		check(dp_log_bin((low + high) / 2) == i, "middle of bin %d", i);
		/* edges belong to the bin nearer to 0 */
		check(dp_log_bin(low) == (i > 128 ? i - 1 : i) && dp_log_bin(high) == (i >= 128 ? i : i + 1), "ends of bin %d", i);
		check(dp_log_bin(nextafter(low, HUGE_VAL)) == i && dp_log_bin(nextafter(high, -HUGE_VAL)) == i, "within bin %d", i);
	}
	check(dp_log_bin(0.0) == 128 && dp_log_bin(-0.0) == 128 && dp_log_bin(5e-324) == 128 && dp_log_bin(-5e-324) == 128 &&
		  dp_log_bin(DBL_MIN) == 128 && dp_log_bin(NAN) == 128, "zero");
	check(dp_log_bin(DBL_MAX) == 256 && dp_log_bin(-DBL_MAX) == 0 && dp_log_bin(HUGE_VAL) == 256 && dp_log_bin(-HUGE_VAL) == 0, "beyond");
	check(dp_log_bin(1) == 160 && dp_log_edge(161) == 1 && dp_log_bin(1.5) == 161, "one");

	for (i = 0; i < 200000; i++)
	{
		uint64_t	word = bits();
		double		y;
		int			bin;

		memcpy(&x, &word, sizeof(x));
		word = bits();
		memcpy(&y, &word, sizeof(y));
		if (i % 2)
			y = nextafter(x, y);
		if (isnan(x) || isnan(y))
			continue;
		bin = dp_log_bin(x);
		check(bin >= 0 && bin < DP_LOG_BINS && bin == DP_LOG_BINS - 1 - dp_log_bin(-x), "bin of %g", x);
		check(x < y ? bin <= dp_log_bin(y) : bin >= dp_log_bin(y), "bins of %g and %g", x, y);
		check((dp_log_edge(bin) <= x || bin == 0) && (x <= dp_log_edge(bin + 1) || bin == DP_LOG_BINS - 1), "edges around %g", x);
	}
}

static void
test_bounds(void)
{
	double		counts[DP_LOG_BINS];
	double		lower,
				upper;

	/*
	 * noise wider than stated comes over the threshold at a rate to be seen;
	 * a rate that is 1.82 times as high, or 0.41 times, is told with a
	 * probability of 1 - 1e-9: a threshold of 55 or 62 instead of 58
	 */
	const double sigma = 10;
	const double wide = 1.5 * sigma;
	const int	draws = sized(40000, 20000, 1000);
	double		z = (dp_bounds_threshold(sigma, DP_LOG_BINS, DP_BOUNDS_ERROR) - 0.5) / sigma;
	double		rate;
	int			hits = 0,
				r,
				i;

	state = 6;
	check(fabs(DP_LOG_BINS * dp_normal_tail(z) / DP_BOUNDS_ERROR - 1) < 1e-9, "the stated rate");
	check(dp_bounds_threshold(0, DP_LOG_BINS, DP_BOUNDS_ERROR) == 0.5, "threshold without noise");
	for (r = 0; r < draws; r++)
	{
		for (i = 0; i < DP_LOG_BINS; i++)
			counts[i] = rint(wide * normal());
		if (dp_bounds_pick(counts, sigma, DP_BOUNDS_ERROR, &lower, &upper))
			hits++;
	}
	/* an integer exceeds the threshold from its ceiling on */
	rate = -expm1(DP_LOG_BINS * log1p(-dp_normal_tail((floor(dp_bounds_threshold(sigma, DP_LOG_BINS, DP_BOUNDS_ERROR)) + 0.5) / wide)));
	check(fabs(hits - draws * rate) < 5 * sqrt(draws * rate), "%d false positives, %g expected", hits, draws * rate);

	/* and noise as stated does not */
	for (r = 0, hits = 0; r < draws; r++)
	{
		for (i = 0; i < DP_LOG_BINS; i++)
			counts[i] = rint(sigma * normal());
		lower = upper = 77;
		if (dp_bounds_pick(counts, sigma, DP_BOUNDS_ERROR, &lower, &upper))
			hits++;
		check(lower == 77 && upper == 77, "bounds became %g and %g", lower, upper);
	}
	check(hits <= 1, "%d false positives of 1e-6 each", hits);

	/* data between 3 and 1000, and a few outliers */
	for (r = 0, hits = 0; r < 100; r++)
	{
		for (i = 0; i < DP_LOG_BINS; i++)
			counts[i] = rint(sigma * normal());
		counts[dp_log_bin(3)] += 200;
		counts[dp_log_bin(1000)] += 200;
		counts[dp_log_bin(-1e6)] += 3;
		if (dp_bounds_pick(counts, sigma, DP_BOUNDS_ERROR, &lower, &upper) && lower == 2 && upper == 1024)
			hits++;
	}
	check(hits >= 99, "bounds found: %d of 100", hits);

	/* the middle bin counts as 0 */
	memset(counts, 0, sizeof(counts));
	counts[dp_log_bin(0)] = 100;
	check(dp_bounds_pick(counts, 1, DP_BOUNDS_ERROR, &lower, &upper) && lower == -0x1p-32 && upper == 0x1p-32, "all 0");
	counts[dp_log_bin(1)] = 100;
	check(dp_bounds_pick(counts, 1, DP_BOUNDS_ERROR, &lower, &upper) && lower == 0 && upper == 1, "0 and 1");
	counts[dp_log_bin(1)] = -100;
	counts[dp_log_bin(-5)] = 100;
	check(dp_bounds_pick(counts, 1, DP_BOUNDS_ERROR, &lower, &upper) && lower == -8 && upper == 0, "-5 and 0");
	counts[0] = counts[DP_LOG_BINS - 1] = DBL_MAX;
	check(dp_bounds_pick(counts, 1, DP_BOUNDS_ERROR, &lower, &upper) && lower == -0x1p96 && upper == 0x1p96, "everything");
	check(!dp_bounds_pick(counts, DBL_MAX, DP_BOUNDS_ERROR, &lower, &upper) || (lower < upper && upper <= DBL_MAX), "huge");
}

static void
test_clipped(void)
{
	static const double plain[3] = {10, 60, 30};
	static const double nothing[3] = {-3, -4, 1};
	static const double usual[3] = {100, 2500, 400};
	static const double inside[3] = {0, 1e9, 0};
	static const double extremes[] = {0, 1, -1, 5, 1e18, -1e18, DBL_MAX, -DBL_MAX, 1e-300, 5e-324};
	double		share,
				sd,
				sum = 0,
				square = 0;
	const int	draws = sized(200000, 200000, 10000);
	int			i;

	state = 7;
	for (i = 0; i < 10 * 10 * 10 * 10; i++)
	{
		double		counts[3] = {extremes[i % 10], extremes[i / 10 % 10], extremes[i / 100 % 10]};

		dp_clipped_share(counts, fabs(extremes[i / 1000]), &share, &sd);
		check(share >= 0 && share <= 1 && sd >= 0 && sd <= 0.5, "share %g, deviation %g", share, sd);
	}
	dp_clipped_share(plain, 0, &share, &sd);
	check(share == 0.4 && sd == 0, "share %g, deviation %g", share, sd);
	dp_clipped_share(nothing, 2, &share, &sd);
	check(share == 0.5 && sd == 0.5, "nothing left");
	for (i = 0; i < draws; i++)
	{
		double		counts[3] = {rint(usual[0] + 20 * normal()), rint(usual[1] + 20 * normal()), rint(usual[2] + 20 * normal())};
		double		estimate;

		dp_clipped_share(counts, 20, &share, &estimate);
		sum += share;
		square += (share - 1.0 / 6) * (share - 1.0 / 6);
	}
	dp_clipped_share(usual, 20, &share, &sd);
	check(fabs(sum / draws - share) < 1e-3 * share + 5 * sd / sqrt(draws), "mean share %g, not %g", sum / draws, share);
	check(fabs(sqrt(square / draws) / sd - 1) < 0.01 + 5 / sqrt(2.0 * draws), "deviation %g, not %g", sqrt(square / draws), sd);

	/* what is said of it before */
	dp_clipped_share(inside, 20, &share, &sd);
	check(fabs(dp_clipped_noise(20) / (sd * inside[1]) - 1) < 1e-12, "deviation %g / n, not %g", dp_clipped_noise(20), sd * inside[1]);
}

void
quantile_tests(void)
{
	RUN(test_exact);
	RUN(test_any);
	RUN(test_consistency);
	RUN(test_rank_noise);
	RUN(test_stddev);
	RUN(test_extremes);
	RUN(test_log_grid);
	RUN(test_bounds);
	RUN(test_clipped);
}
