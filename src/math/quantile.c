/*-------------------------------------------------------------------------
 *
 * quantile.c
 *	  Quantiles from noisy hierarchical counts, bounds from a noisy
 *	  logarithmic histogram, shares from three noisy counts.
 *
 * Invariants: counts are clamped to what stays finite, and are never negative
 * once consistent; so the cumulated counts never fall, and every search and
 * quotient below is defined.
 *
 * A tree of counts, all with noise of variance 1.  Weighted averages upwards,
 * differences shared alike downwards are the least squares fit (Hay, Rastogi,
 * Miklau, Suciu, "Boosting the accuracy of differentially private histograms
 * through consistency", 2010), here with 16 children and an unmeasured root.
 * A node's count z combined with what is below it has variance S_h; its
 * children's z_i have S_(h-1), and what is shared out among them depends on the
 * node's final count x alone:
 *		x_i = x / B + (z_i - mean of z), both independent.
 * Hence what is left of leaf i within a node is a share of x plus a rest that
 * is independent of x, with variances that add up over the levels.
 *
 * Why three levels of 16: at equal rho the variance of a level's noise is
 * proportional to the number of levels.  test/unit/test_quantile.c prints the standard
 * deviation of a rank for all branchings that give 4096 leaves: 2 and 4 are
 * best, 8 and 16 are 9% and 22% above, 64 is 68% above.  16 needs half of the
 * counts that 2 needs, and most of those are leaves, which any tree has.
 *
 * Isotonic regression of the cumulated counts and the mean of running maximum
 * and minimum were tried in simulations; counts made nonnegative from the top
 * down came out better, most of all where data has gaps.
 *
 * Extremes are looked for in nodes, not in cumulated counts: to those all the
 * empty nodes before the data contribute noise, and what they keep of it is
 * positive.
 *
 * The deviation of a quantile is taken from the values one deviation of the
 * rank away, not from a density: it holds in gaps and at steps.  It errs
 * upwards for sparse data, since nonnegativity is not counted.
 *
 * The threshold of bounds has a false alarm rate of 1e-6 for all bins together:
 * bounds that are wrong by orders of magnitude cost more than the few rows more
 * that it asks for.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>

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
static const double below_variance[DP_QUANTILE_LEVELS] = {0, S1, S2};

/*
 * How many sigma of a node's count noise explains: with 16 empty nodes before
 * the data, it passes for data with a probability below 0.4%.
 */
#define EXTREME_NOISE	3.5

/* nothing counted comes near: sums and products stay finite */
#define HUGE_COUNT	1e100

/* the exponents of the logarithmic grid */
#define LOG_FIRST	(-32)
#define LOG_LAST	96
#define LOG_MIDDLE	(LOG_LAST - LOG_FIRST)

/* Limits x to the range of counts; NaN is 0. */
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

/* Returns the sum of a node's children. */
static double
sum_children(const double *child)
{
	double		sum = 0;
	int			i;

	for (i = 0; i < B; i++)
		sum += child[i];
	return sum;
}

/*
 * Makes a node's children the nearest nonnegative numbers whose sum is the
 * node's: all are lowered (or raised) by the same, and those that fall below 0
 * leave the rest to the others, until none does (Michelot 1986).  If none does
 * at once, it is the step downwards of the least squares fit.  Measured from
 * the largest, which never leaves, nothing cancels.
 */
static void
make_nonnegative(double *child, double sum)
{
	double		largest = child[0];
	double		level;
	int			active = B + 1,
				before;
	int			i;

	for (i = 1; i < B; i++)
		largest = child[i] > largest ? child[i] : largest;
	for (i = 0; i < B; i++)
		child[i] -= largest;

	level = -HUGE_VAL;
	do
	{
		double		above = 0;

		before = active;
		active = 0;
		for (i = 0; i < B; i++)
		{
			above += child[i] >= level ? child[i] : 0;
			active += child[i] >= level;
		}
		level = (above - sum) / active;
	} while (active < before);

	for (i = 0; i < B; i++)
		child[i] = child[i] > level ? child[i] - level : 0;
}

void
dp_quantile_cdf(const double *nodes, double sigma, double *cdf)
{
	double		top[B];
	double		middle[MIDDLES];
	double	   *leaf = cdf + 1;
	double		weight2 = sigma > 0 ? S2 : 0;
	double		weight3 = sigma > 0 ? S3 : 0;
	double		sum = 0;
	int			i;

	/* upwards: each node's count combined with what is below it */
	for (i = 0; i < LEAVES; i++)
		leaf[i] = finite_count(nodes[LEAF_AT + i]);
	for (i = 0; i < MIDDLES; i++)
		middle[i] = weight2 * finite_count(nodes[MIDDLE_AT + i]) + (1 - weight2) * sum_children(leaf + i * B);
	for (i = 0; i < B; i++)
		top[i] = weight3 * finite_count(nodes[i]) + (1 - weight3) * sum_children(middle + i * B);

	make_nonnegative(top, fmax(sum_children(top), 0));
	for (i = 0; i < B; i++)
		make_nonnegative(middle + i * B, top[i]);
	for (i = 0; i < MIDDLES; i++)
		make_nonnegative(leaf + i * B, middle[i]);

	cdf[0] = 0;
	for (i = 0; i < LEAVES; i++)
	{
		sum += leaf[i];
		leaf[i] = sum;
	}
}

/* Returns the first i with cdf[i] >= rank, for rank up to the total. */
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

/* Returns the last i with cdf[i] <= rank, for rank from 0 on. */
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

/* Returns where the rank is reached, in leaves; total > 0. */
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

/* Returns the value at a position, 0 .. LEAVES. */
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
	return EXTREME_NOISE * finite_count(sigma);
}

/*
 * Goes down the tree, at each level into the outermost child whose count noise
 * does not explain, as long as there is one; then as many rows into that node
 * as noise explains.  Counts of single nodes carry less noise than cumulated
 * ones, which the empty nodes before the data have contributed to.
 */
static double
extreme(const double *cdf, double sigma, bool largest, double lower, double upper)
{
	double		noise = dp_quantile_extreme_rank(sigma);
	int			start = 0;
	int			width = LEAVES;
	double		inside;

	while (width > 1)
	{
		int			part = width / B;
		int			i;

		for (i = 0; i < B; i++)
		{
			int			at = start + part * (largest ? B - 1 - i : i);

			if (cdf[at + part] - cdf[at] > noise)
			{
				start = at;
				break;
			}
		}
		if (i == B)
			break;
		width = part;
	}

	/* at most to the middle, so that the extremes do not cross */
	inside = 0.5 * (cdf[start + width] - cdf[start]);
	if (width < LEAVES)
		inside = fmin(inside, noise);
	return value_of_rank(cdf, largest ? cdf[start + width] - inside : cdf[start] + inside, lower, upper);
}

double
dp_quantile_min(const double *cdf, double sigma, double lower, double upper)
{
	return extreme(cdf, sigma, false, lower, upper);
}

double
dp_quantile_max(const double *cdf, double sigma, double lower, double upper)
{
	return extreme(cdf, sigma, true, lower, upper);
}

/*
 * Returns the variance, in units of sigma^2, of cdf[i] - q total before counts
 * are made nonnegative, which lessens it.
 */
static double
rank_variance(int i, double q)
{
	double		share = 0;
	double		rest = 0;
	double		top;
	int			level;

	for (level = 0; level < DP_QUANTILE_LEVELS - 1; level++)
	{
		double		full = i % B;
		double		mean = (full + share) / B;

		rest += below_variance[level + 1] * (full + share * share - B * mean * mean);
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
dp_quantile_rank_noise(double sigma, double q)
{
	/*
	 * means over the digits of a leaf's number, and over the share of a node
	 * before it
	 */
	const double digit = 0.5 * (B - 1);
	const double digit2 = digit * (2 * B - 1) / 3;
	double		share = 0;
	double		share2 = 0;
	double		rest = 0;
	int			level;

	for (level = 0; level < DP_QUANTILE_LEVELS - 1; level++)
	{
		double		both2 = digit2 + 2 * digit * share + share2;

		rest += below_variance[level + 1] * (digit + share2 - both2 / B);
		share = (digit + share) / B;
		share2 = both2 / B / B;
	}
	return finite_count(sigma) * sqrt(rest + S3 * (digit + share2 - 2 * q * (digit + share) + B * q * q));
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

	/* at the very ends the rank is exact, but not where data begins */
	error = finite_count(sigma) * sqrt(fmax(rank_variance((int) position(cdf, rank), q), 1));
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
dp_bounds_threshold(double sigma, int bins, double error)
{
	/*
	 * P[X >= m] <= Q((m - 1/2) / sigma) for the discrete Gaussian and m >
	 * sigma, see calibrate.c
	 */
	return 0.5 + finite_count(sigma) * dp_normal_tail_inverse(error / bins);
}

bool
dp_bounds_outermost(const double *counts, int bins, double sigma, double error, int *first, int *last)
{
	double		threshold = dp_bounds_threshold(sigma, bins, error);

	*first = *last = -1;
	for (int i = 0; i < bins; i++)
		if (counts[i] > threshold)
		{
			if (*first < 0)
				*first = i;
			*last = i;
		}
	return *first >= 0;
}

bool
dp_bounds_pick(const double *counts, double sigma, double error, double *lower, double *upper)
{
	int			first,
				last;

	if (!dp_bounds_outermost(counts, DP_LOG_BINS, sigma, error, &first, &last))
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

double
dp_clipped_noise(double sigma)
{
	return sqrt(2) * finite_count(sigma);
}
