/*-------------------------------------------------------------------------
 *
 * quantile.c
 *	  Quantiles from noisy hierarchical counts, bounds from a noisy
 *	  logarithmic histogram, shares from three noisy counts.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>
#include <stdint.h>

#include "normal.h"
#include "quantile.h"

#define B			DP_QUANTILE_BRANCHING
#define LEAVES		DP_QUANTILE_LEAVES
#define MIDDLES		(B * B)

/* where the levels begin */
#define MIDDLE_AT	B
#define LEAF_AT		(B + MIDDLES)

/*
 * The variances, in units of sigma^2, of a node's count combined with what is
 * below it: 1 / S_h = 1 + 1 / (B S_(h-1)).
 */
#define S1			1.0
#define S2			((double) B * S1 / (B * S1 + 1))
#define S3			(B * S2 / (B * S2 + 1))

/* nothing counted comes near: sums and products stay finite */
#define HUGE_COUNT	1e100

/* the exponents of the logarithmic grid */
#define LOG_FIRST	(-32)
#define LOG_LAST	96
#define LOG_MIDDLE	(LOG_LAST - LOG_FIRST)

/* within the range of counts; NaN is 0 */
static double
finite_count(double x)
{
	if (!(x > -HUGE_COUNT))
		return x <= -HUGE_COUNT ? -HUGE_COUNT : 0;
	return x < HUGE_COUNT ? x : HUGE_COUNT;
}

void
dp_quantile_sum_up(const dp_i128 *leaves, dp_i128 *nodes)
{
	int			i;

	for (i = 0; i < LEAF_AT; i++)
		nodes[i] = 0;
	for (i = 0; i < LEAVES; i++)
	{
		nodes[LEAF_AT + i] = leaves[i];
		nodes[MIDDLE_AT + i / B] += leaves[i];
	}
	for (i = 0; i < MIDDLES; i++)
		nodes[i / B] += nodes[MIDDLE_AT + i];
}

/* the sum of a node's children */
static double
sum_children(const double *child)
{
	double		sum = 0;
	int			i;

	for (i = 0; i < B; i++)
		sum += child[i];
	return sum;
}

static void
add_children(double *child, double what)
{
	int			i;

	for (i = 0; i < B; i++)
		child[i] += what;
}

/*
 * Isotonic regression by pooling adjacent violators: the nondecreasing
 * sequence nearest to y.  Blocks are kept in place: mean[b], and where b ends.
 */
static void
make_monotone(double *y, int n)
{
	double		mean[LEAVES];
	int16_t		end[LEAVES];
	int			blocks = 0;
	int			i,
				b;

	for (i = 0; i < n; i++)
	{
		mean[blocks] = y[i];
		end[blocks++] = (int16_t) (i + 1);
		while (blocks > 1 && mean[blocks - 2] >= mean[blocks - 1])
		{
			int			from = blocks > 2 ? end[blocks - 3] : 0;
			double		left = end[blocks - 2] - from;
			double		right = end[blocks - 1] - end[blocks - 2];

			mean[blocks - 2] += (mean[blocks - 1] - mean[blocks - 2]) * (right / (left + right));
			end[blocks - 2] = end[blocks - 1];
			blocks--;
		}
	}
	for (i = 0, b = 0; b < blocks; b++)
		while (i < end[b])
			y[i++] = mean[b];
}

void
dp_quantile_cdf(const double *nodes, double sigma, double *cdf)
{
	double		middle[MIDDLES];
	double		sums[MIDDLES];
	double	   *leaf = cdf + 1;
	double		sum = 0;
	double		total;
	int			i;

	for (i = 0; i < LEAVES; i++)
		leaf[i] = finite_count(nodes[LEAF_AT + i]);

	if (sigma > 0)
	{
		for (i = 0; i < MIDDLES; i++)
		{
			sums[i] = sum_children(leaf + i * B);
			middle[i] = S2 * finite_count(nodes[MIDDLE_AT + i]) + (1 - S2) * sums[i];
		}
		for (i = 0; i < B; i++)
		{
			double		below = sum_children(middle + i * B);
			double		own = S3 * finite_count(nodes[i]) + (1 - S3) * below;

			add_children(middle + i * B, (own - below) / B);
		}
		for (i = 0; i < MIDDLES; i++)
			add_children(leaf + i * B, (middle[i] - sums[i]) / B);
	}

	cdf[0] = 0;
	for (i = 0; i < LEAVES; i++)
		leaf[i] = sum += leaf[i];
	total = sum > 0 ? sum : 0;
	make_monotone(leaf, LEAVES);
	for (i = 0; i < LEAVES; i++)
		leaf[i] = fmin(fmax(leaf[i], 0), total);
	leaf[LEAVES - 1] = total;
}

/* the first i with cdf[i] >= rank, for rank up to the total */
static int
first_at_least(const double *cdf, double rank)
{
	int			low = -1,
				high = LEAVES;

	while (high - low > 1)
	{
		int			mid = (low + high) / 2;

		if (cdf[mid] >= rank)
			high = mid;
		else
			low = mid;
	}
	return high;
}

/* the last i with cdf[i] <= rank, for rank from 0 on */
static int
last_at_most(const double *cdf, double rank)
{
	int			low = 0,
				high = LEAVES + 1;

	while (high - low > 1)
	{
		int			mid = (low + high) / 2;

		if (cdf[mid] <= rank)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* where the rank is reached, in leaves; total > 0 */
static double
position(const double *cdf, double rank)
{
	double		total = cdf[LEAVES];
	int			first,
				last;

	/* outside of the data nothing is to be halved */
	if (!(rank > 0))
		return last_at_most(cdf, 0);
	if (rank >= total)
		return first_at_least(cdf, total);
	first = first_at_least(cdf, rank);
	last = last_at_most(cdf, rank);
	if (last >= first)
		return 0.5 * (first + last);
	return last + (rank - cdf[last]) / (cdf[first] - cdf[last]);
}

/* the value at a position, 0 .. LEAVES */
static double
value_at(double where, double lower, double upper)
{
	double		share = where / LEAVES;
	double		range = upper - lower;
	double		value;

	/* every step is monotone, so that rounding keeps the order */
	if (range <= DBL_MAX)
		value = lower + share * range;
	else
		value = 2 * (0.5 * lower + share * (0.5 * upper - 0.5 * lower));
	return fmin(fmax(value, lower), upper);
}

static double
value_of_rank(const double *cdf, double rank, double lower, double upper)
{
	if (!(cdf[LEAVES] > 0))
		return value_at(0.5 * LEAVES, lower, upper);
	return value_at(position(cdf, rank), lower, upper);
}

double
dp_quantile_value(const double *cdf, double q, double lower, double upper)
{
	return value_of_rank(cdf, q * cdf[LEAVES], lower, upper);
}

double
dp_quantile_extreme_rank(double sigma)
{
	return 2 * dp_quantile_rank_stddev(sigma);
}

double
dp_quantile_min(const double *cdf, double sigma, double lower, double upper)
{
	double		total = cdf[LEAVES];

	return value_of_rank(cdf, fmin(dp_quantile_extreme_rank(sigma), 0.5 * total), lower, upper);
}

double
dp_quantile_max(const double *cdf, double sigma, double lower, double upper)
{
	double		total = cdf[LEAVES];

	return value_of_rank(cdf, total - fmin(dp_quantile_extreme_rank(sigma), 0.5 * total), lower, upper);
}

/*
 * The variance, in units of sigma^2, of cdf[i] - q total before it is made
 * monotone.  What is left of leaf i within a node is share times the node's
 * count plus a rest that is independent of it.
 */
static double
rank_variance(int i, double q)
{
	static const double below[DP_QUANTILE_LEVELS] = {0, S1, S2};
	double		share = 0;
	double		rest = 0;
	double		top;
	int			level;

	for (level = 0; level < DP_QUANTILE_LEVELS - 1; level++)
	{
		double		full = i % B;
		double		mean = (full + share) / B;

		rest += below[level + 1] * (full + share * share - B * mean * mean);
		share = mean;
		i /= B;
	}
	/* the root's children are independent; the last i has no partial child */
	top = i * (1 - q) * (1 - q);
	if (i < B)
		top += (share - q) * (share - q) + (B - 1 - i) * q * q;
	return rest + S3 * top;
}

double
dp_quantile_rank_stddev(double sigma)
{
	double		sum = 0;
	int			i;

	for (i = 0; i < LEAVES; i++)
		sum += rank_variance(i, (double) i / LEAVES);
	return finite_count(sigma) * sqrt(sum / LEAVES);
}

double
dp_quantile_stddev(const double *cdf, double sigma, double q, double lower, double upper)
{
	double		half = 0.5 * upper - 0.5 * lower;
	double		total = cdf[LEAVES];
	double		rank = q * total;
	double		error,
				low,
				high,
				share;

	if (!(total > 0))
		return half / sqrt(3);
	error = finite_count(sigma) * sqrt(rank_variance((int) position(cdf, rank), q));
	low = fmax(rank - error, 0);
	high = fmin(rank + error, total);
	share = high > low ? (position(cdf, high) - position(cdf, low)) / LEAVES * (error / (high - low)) : 0;
	share = fmin(sqrt(share * share + 1.0 / 12 / LEAVES / LEAVES), 0.5);
	return 2 * share * half;
}

int
dp_log_bin(double x)
{
	double		magnitude = fabs(x);
	int			exponent;

	if (!(magnitude > ldexp(1, LOG_FIRST)))
		return LOG_MIDDLE;
	if (magnitude > ldexp(1, LOG_LAST - 1))
		exponent = LOG_LAST;
	else if (frexp(magnitude, &exponent) == 0.5)
		exponent--;				/* a power of two ends its bin */
	return x > 0 ? LOG_MIDDLE + (exponent - LOG_FIRST) : LOG_MIDDLE - (exponent - LOG_FIRST);
}

double
dp_log_edge(int i)
{
	return i <= LOG_MIDDLE ? -ldexp(1, LOG_LAST - i) : ldexp(1, LOG_FIRST + i - LOG_MIDDLE - 1);
}

double
dp_bounds_threshold(double sigma)
{
	/*
	 * P[X >= m] <= Q((m - 1/2) / sigma) for the discrete Gaussian and m >
	 * sigma, see calibrate.c
	 */
	return 0.5 + finite_count(sigma) * dp_normal_tail_inverse(DP_BOUNDS_ERROR / DP_LOG_BINS);
}

bool
dp_bounds_pick(const double *counts, double sigma, double *lower, double *upper)
{
	double		threshold = dp_bounds_threshold(sigma);
	int			first = -1,
				last = -1;
	int			i;

	for (i = 0; i < DP_LOG_BINS; i++)
		if (counts[i] > threshold)
		{
			if (first < 0)
				first = i;
			last = i;
		}
	if (first < 0)
		return false;

	*lower = first == LOG_MIDDLE && last > first ? 0 : dp_log_edge(first);
	*upper = last == LOG_MIDDLE && last > first ? 0 : dp_log_edge(last + 1);
	return true;
}

void
dp_clipped_share(const double counts[3], double sigma, double *share, double *stddev)
{
	double		outside = fmax(finite_count(counts[0]) + finite_count(counts[2]), 0);
	double		inside = fmax(finite_count(counts[1]), 0);
	double		total = outside + inside;

	*share = *stddev = 0.5;
	if (!(total > 0))
		return;
	*share = outside / total;

	/* outside has twice the variance of inside */
	*stddev = fmin(0.5, finite_count(sigma) / total *
				   sqrt(2 * (1 - *share) * (1 - *share) + *share * *share));
}
