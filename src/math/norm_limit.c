/*-------------------------------------------------------------------------
 *
 * norm_limit.c
 *	  Which limit on the norms of units serves best; see the header.
 *
 * First the bins, up to three together, are found that stand out most from the
 * noise.  What is below them is taken as it is.  A bin above them is
 * believed where its count, or that of it and of the one before, is above a threshold that grows
 * with the distance from the last one that was: a unit that is not there costs
 * four times as much in the next bin, so that it must be four times less likely.
 * Any other bin has its mean given what was counted,
 * under a prior that has a spike at 0 and falls exponentially elsewhere (Johnstone
 * and Silverman 2004, "Needles and straw in haystacks: empirical Bayes
 * estimates of possibly sparse sequences"), with a mean that follows from the
 * bins before it: counts decline, and the faster the further they are out.
 *
 * Numbers of distinct values.  A value counts the sum of its units' credits, at most 1.  Let these sums be lognormal
 * with mean x.  Then a value counts x P[Z < -d] + P[Z < d - spread] in the mean, with d = ln(x) / spread + spread / 2.
 * A grid has levels, which are numbers of values, and spreads.  Each pair weighs as much as it makes the noisy numbers likely.
 * The limit is that of the least mean square of cut and noise.  No distribution is quite lognormal, hence MODEL_ERROR.
 * It is of all values, or of what a limit may cut of units' credits where that is less.
 *
 * All constants were chosen by the error of counts and sums on real data, for rho from 0.003 to 1;
 * privacy does not depend on them.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "norm_limit.h"

#include <math.h>
#include <stdbool.h>

/* no noisy count is further from 0: they are integers of 128 bits */
#define MOST_COUNT 0x1p127

/* the power of the number of groups by which what is cut spreads over them */
#define SPREAD 0.7

/* of the price of statistics: they need little */
#define MEAN_SHARE 0.02

/* how far an average is off where all rows but the limited ones are gone */
#define MEAN_BIAS 0.01

/* bins together that may stand out */
#define WINDOW 3

/* a unit too many in the next bin costs four times as much */
#define STEEPNESS (2 * log(4))

static double
at_least(double x, double least)
{
	return x > least ? x : least;
}

static double
at_most(double x, double most)
{
	return x < most ? x : most;
}

/* how spread the credits of values may be, and how many values there may be */
static const double spreads[] = {0.3, 0.7, 1.2, 1.8, 2.5};

#define SPREADS ((int) (sizeof(spreads) / sizeof(spreads[0])))
#define LEVELS_BY_POWER 4
#define LEVELS (LEVELS_BY_POWER * 40)
#define MORE_LEVELS 8

/* how the groups of a unit are, between that all are of one group and that it is in all of them */
#define OVERLAPS 3

#define POPULARITIES (SPREADS * LEVELS * OVERLAPS)

/* a pair that is less likely than the likeliest by this factor counts for nothing */
#define LEAST_WEIGHT 1e-4

/* by which share of it the numbers of distinct values are not what they would be */
#define MODEL_ERROR 0.02

/* Returns what a noisy count says of a bin whose mean is expected to be "mean" > 0. */
static double
shrunk(double count, double sigma, double mean)
{
	const double prior = 0.7;
	double		t = count / sigma - sigma / mean;
	double		hazard;
	double		odds;
	double		weight;

	/* far below 0 the density by the distribution is -t, and the mean 1 / -t */
	if (t < -8)
		return at_least(prior * sigma * (1 / -t + 2 / (t * t * t)), 0);
	hazard = t > 30 ? 0 : exp(-t * t / 2) / sqrt(2 * M_PI) / (erfc(-t / sqrt(2)) / 2);
	odds = prior / (1 - prior) * (sigma / mean) / at_least(hazard, 1e-15);
	weight = odds > 1e300 ? 1 : odds / (odds + 1);
	return weight * sigma * (t + hazard);
}

/* Returns how steep norms fall within a bin, by this bin's count and the one before. */
static double
tilt_of(double before, double count, double half)
{
	if (before <= 0)
		return 0;
	return at_least(at_most(2 + 1.2 * log((before + half) / (count + half)), 6), 0);
}

/* Returns the last of the bins that stand out most; -1: none does. */
static int
anchor_of(const double *noisy, int bins, int exponent, double sigma)
{
	double		most = 0;
	int			last = -1;

	for (int j = 0; j < bins; j++)
	{
		double		threshold = sqrt(9 + 3.5 * at_least(exponent + j - 3, 0));
		double		sum = 0;

		for (int n = 1; n <= WINDOW && n <= j + 1; n++)
		{
			double		height;

			sum += noisy[j - n + 1];
			height = sum / (sigma * sqrt(n));
			if (height > threshold && height > most)
			{
				most = height;
				last = j;
			}
		}
	}
	return last;
}

/* Returns point i of a bin that begins at low; 0: it has no more. */
static double
point(const dp_norms *norms, double low, int i)
{
	double		next = low * low + i + 1;

	if (norms->whole && norms->one_group && low <= 8)
		return floor(low) + i + 1 <= 2 * low ? floor(low) + i + 1 : 0;
	if (norms->whole && !norms->one_group && low <= 2)
		return floor(next) <= 4 * low * low ? sqrt(floor(next)) : 0;
	return low * exp2((i + 0.5) / DP_NORM_POINTS);
}

/* Spreads the units of each bin over its points. */
static void
spread_units(dp_norms *norms)
{
	norms->npoints = 0;
	for (int j = 0; j < norms->bins; j++)
	{
		double		low = exp2(norms->exponent + j - 1);
		int			first = norms->npoints;
		double		weights = 0,
					x;

		if (norms->count[j] <= 0)
			continue;
		for (int i = 0; i < DP_NORM_POINTS && (x = point(norms, low, i)) > 0; i++)
		{
			norms->point[norms->npoints] = x;
			norms->weight[norms->npoints] = exp(-norms->tilt[j] * log2(x / low));
			weights += norms->weight[norms->npoints++];
		}
		for (int i = first; i < norms->npoints; i++)
			norms->weight[i] *= norms->count[j] / weights;
	}
}

bool
dp_norms_estimate(const double *counts, int bins, int exponent, double sigma, bool whole, double groups, dp_norms *norms)
{
	double	   *count = norms->count;
	double		noisy[DP_NORM_BINS];
	double		half = sigma / 4;
	int			last;
	int			first;

	norms->bins = bins;
	norms->exponent = exponent;
	norms->whole = whole;
	norms->one_group = groups <= 1;
	for (int j = 0; j < bins; j++)
		noisy[j] = isnan(counts[j]) ? 0 : at_least(at_most(counts[j], MOST_COUNT), -MOST_COUNT);
	first = last = anchor_of(noisy, bins, exponent, sigma);
	for (int j = 0; j < bins; j++)
		count[j] = j <= last ? at_least(noisy[j], 0) : 0;
	for (int j = last + 1; last >= 0 && j < bins; j++)
	{
		double		threshold = sigma * sqrt(16 + STEEPNESS * (j - last - 1));
		double		before = count[j - 1];
		double		earlier = j > 1 ? count[j - 2] : 0;
		double		mean = before * at_most(1, 0.5 * (before + half) / (earlier + half));

		if (noisy[j] <= threshold && !(j - last >= 2 && noisy[j] + noisy[j - 1] > threshold * sqrt(2)))
		{
			/* further out nothing is expected */
			if (j - last <= (whole ? 10 : 22))
				count[j] = shrunk(noisy[j], sigma, at_least(mean, 1e-6 * sigma));
			continue;
		}
		if (noisy[j] <= threshold)
			count[j - 1] = at_least(noisy[j - 1], 0);
		count[j] = at_least(noisy[j], 0);
		last = j;
	}
	for (int j = 0; j < bins; j++)
		norms->tilt[j] = tilt_of(j > 0 ? count[j - 1] : 0, count[j], half);
	spread_units(norms);
	return first >= 0;
}

double
dp_norms_cut(const dp_norms *norms, double limit)
{
	double		cut = 0;

	for (int i = norms->npoints - 1; i >= 0 && norms->point[i] > limit; i--)
		cut += norms->weight[i] * (norms->point[i] - limit);
	return cut;
}

double
dp_norms_total(const dp_norms *norms)
{
	return dp_norms_cut(norms, 0);
}

/* Returns which limit is next to a number, from below if any is. */
static int
next_to(const double *limits, int n, double number)
{
	int			i = 0;

	while (i < n - 1 && limits[i + 1] <= number)
		i++;
	return i;
}

int
dp_norms_choose(const dp_norms *norms, const double *limits, int n, double groups, double noise)
{
	double		spread = pow(groups, SPREAD);
	double		least = INFINITY;
	int			best = 0;

	if (norms->npoints == 0)
		return next_to(limits, n, DP_UNSEEN_LIMIT);
	for (int i = 0; i < n; i++)
	{
		double		cut = dp_norms_cut(norms, limits[i]) / spread;
		double		error = cut * cut + noise * noise * limits[i] * limits[i];

		if (error < least)
		{
			least = error;
			best = i;
		}
	}
	return best;
}

int
dp_norms_choose_mean(const dp_norms *norms, const double *limits, int n, double groups, double noise)
{
	double		least = INFINITY;
	double		total;
	int			best = 0;

	if (norms->npoints == 0)
		return next_to(limits, n, 1);
	total = at_least(dp_norms_total(norms), 1);
	for (int i = 0; i < n; i++)
	{
		double		cut = dp_norms_cut(norms, limits[i]);
		double		left = at_least(total - cut, 1);
		double		bias = MEAN_BIAS * cut / total;
		double		error = groups * pow(noise * limits[i] / left, 2) + bias * bias;

		if (error < least)
		{
			least = error;
			best = i;
		}
	}
	return best;
}

/* Returns what all units' credits are, added up, under a limit. */
static double
credits_under(const dp_norms *norms, double limit)
{
	return dp_norms_total(norms) - dp_norms_cut(norms, limit);
}

/* Returns what would be cut if all norms of a bin were as large as they may be. */
static double
most_cut(const dp_norms *norms, double limit)
{
	double		cut = 0;

	for (int j = 0; j < norms->bins; j++)
		cut += norms->count[j] * at_least(exp2(norms->exponent + j) - limit, 0);
	return cut;
}

/* Returns the share of its full credit that a value has whose units' credits are x in the mean; the head of this file. */
static double
credit_share(double x, double spread)
{
	double		d;

	if (x <= 0)
		return 0;
	d = log(x) / spread + spread / 2;
	return at_most(x * erfc(d / M_SQRT2) / 2 + erfc((spread - d) / M_SQRT2) / 2, 1);
}

/* how many units may share values */
typedef struct dp_popularity
{
	double		level;			/* values, as a norm over groups */
	double		spread;
	double		overlap;		/* of units' norms, how much counts in one
								 * group's values */
} dp_popularity;

static int
overlaps(double groups)
{
	return groups > 1 ? OVERLAPS : 1;
}

static dp_popularity
nth_popularity(int n, double groups)
{
	dp_popularity v;

	v.spread = spreads[n % SPREADS];
	v.overlap = pow(groups, -(double) (n / SPREADS % overlaps(groups)) / (2 * (OVERLAPS - 1)));
	v.level = exp2((double) (n / SPREADS / overlaps(groups)) / LEVELS_BY_POWER);
	return v;
}

/* Returns how many: of levels a few more than there can be values, which all say that no two units share one. */
static int
popularities(double all, double groups)
{
	double		levels = LEVELS_BY_POWER * (log2(at_least(all, 1)) + MORE_LEVELS);

	return (int) at_most(ceil(levels), LEVELS) * overlaps(groups) * SPREADS;
}

/* Returns what the number of distinct values is where units' credits add up to so much. */
static double
distinct_under(const dp_popularity *v, double credits)
{
	return v->level * credit_share(v->overlap * credits / v->level, v->spread);
}

/* Returns the logarithm of the likelihood of noisy numbers, but for what is the same for all values. */
static double
likelihood(const dp_popularity *v, const dp_distinct *probes, const double *credits, int n)
{
	double		result = 0;

	for (int j = 0; j < n; j++)
	{
		double		expected = distinct_under(v, credits[j]);
		double		variance = pow(probes[j].sigma, 2) + pow(MODEL_ERROR * expected, 2);

		result -= (pow(probes[j].count - expected, 2) / variance + log(variance)) / 2;
	}
	return result;
}

/* Sets the weight of each of n popularities, of which the likeliest has 1. */
static void
weigh_popularities(const dp_norms *norms, double groups, const dp_distinct *probes, int nprobes, double *weight, int n)
{
	double		credits[DP_MOST_PROBES];
	double		most = -INFINITY;

	for (int j = 0; j < nprobes; j++)
		credits[j] = credits_under(norms, probes[j].limit);
	for (int i = 0; i < n; i++)
	{
		dp_popularity v = nth_popularity(i, groups);

		weight[i] = likelihood(&v, probes, credits, nprobes);
		most = fmax(most, weight[i]);
	}
	for (int i = 0; i < n; i++)
		weight[i] = exp(weight[i] - most);
}

int
dp_norms_choose_distinct(const dp_norms *norms, const double *limits, int n, double groups, double noise,
						 const dp_distinct *probes, int nprobes, double *cut)
{
	double		weight[POPULARITIES];
	double		all = dp_norms_total(norms);
	int			npopularities = popularities(all, groups);
	double		least = INFINITY;
	int			best = 0;

	*cut = 0;
	if (norms->npoints == 0)
		return next_to(limits, n, DP_UNSEEN_LIMIT);
	weigh_popularities(norms, groups, probes, nprobes, weight, npopularities);
	for (int i = 0; i < n; i++)
	{
		double		under = credits_under(norms, limits[i]);
		double		weights = 0,
					total = 0,
					missing = 0,
					squares = 0;
		double		doubt;
		double		error;

		for (int k = 0; k < npopularities; k++)
		{
			dp_popularity v;
			double		whole;
			double		lost;

			if (weight[k] < LEAST_WEIGHT)
				continue;
			v = nth_popularity(k, groups);
			whole = distinct_under(&v, all);
			lost = whole - distinct_under(&v, under);
			weights += weight[k];
			total += weight[k] * whole;
			missing += weight[k] * lost;
			squares += weight[k] * lost * lost;
		}
		doubt = MODEL_ERROR * at_most(most_cut(norms, limits[i]), total / weights);
		error = (squares / weights + doubt * doubt) / groups + pow(noise * limits[i], 2);
		if (error < least)
		{
			least = error;
			best = i;
			*cut = total > 0 ? at_least(at_most(missing / total + doubt * weights / total, 1), 0) : 0;
		}
		/* no other cuts less */
		if (under >= all)
			break;
	}
	return best;
}

double
dp_norms_share(double rho, double groups, bool is_mean)
{
	double		share = is_mean ? MEAN_SHARE : at_most(0.08 / pow(rho, 0.18), 0.3) / pow(at_least(groups, 1), 0.15);

	/* so that no last bit of a library decides on a price */
	return floor(share * 1000 + 0.5) / 1000;
}
