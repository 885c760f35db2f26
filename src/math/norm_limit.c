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
 *
 * Above the last bin that is believed counts decline, by a power of the distance or faster ("tails").  Each way to decline is as
 * likely as it makes what was counted, and less where counts fell faster before, or slower: numbers of rows often go on falling
 * as they began.  The limit is chosen by what is to be expected; the doubt is of all ways.  No noise tells of a
 * few units far out, beyond bins that are empty: these are not expected.
 *
 * Where no bin stands out ("hidden"), most units are of one bin, as many as noise may hide, and counts decline from it to both
 * sides.  Each such bin and number is as likely as it makes what was counted, and a bin half as likely as the one below it.
 *
 * Numbers of distinct values.  A value counts the sum of its units' credits, at most 1.  Let these sums be lognormal
 * with mean x.  Then a value counts x P[Z < -d] + P[Z < d - spread] in the mean, with d = ln(x) / spread + spread / 2.
 * A grid has levels, which are numbers of values, and spreads.  Each pair weighs as much as it makes the noisy numbers likely.
 * The limit is that of the least mean square of cut and noise.  No distribution is quite lognormal, hence MODEL_ERROR.
 * It is of all values, or of what a limit may cut of units' credits where that is less.
 *
 * All constants were chosen by the error of counts and sums on real data, and on data with heavy tails (powers of ranks,
 * Pareto, lognormal), for rho from 0.003 to 1; privacy does not depend on them.
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
#define MEAN_BIAS 0.015

/* bins together that may stand out */
#define WINDOW 3

/*
 * How counts decline above the last that stands out: from bin to bin by a power of two that is one at least, as numbers of
 * rows do that are inverse to a rank, and grows from bin to bin by the curve.
 */
static const double curves[DP_NORM_CURVES] = {0, 0.4, 1, 2, 4};

#define LEAST_SLOPE 1

/* how unlikely it is that counts decline less than before, and that they decline more than if they went on bending as they did */
#define FLATTER 2
#define STEEPER 0.3
#define MOST_BEND 4

/* the limit is chosen as if it were so much likelier that nobody is there than it is as one of the ways */
#define NOBODY 9

/* where fewer units are expected in a bin and all above it, the limit is chosen as if there were none; the doubt has rarer ones */
#define LEAST_UNITS 1
#define DOUBT_UNITS 0.1

/* the doubt has steep ways for less likely: by so much for a power of two */
#define DOUBT_SLOPE 0.3

/* by which share what is cut of bins that stand out is not what it would be, and that of what their norms may be at most */
#define TILT_ERROR 0.2
#define TOP_ERROR 0.2

/* where nobody stands out: how many units most bins may hide, by the noise of one, and powers of two by which counts decline */
static const double hidden[] = {0.5, 1, 2, 3};

#define HIDDEN ((int) (sizeof(hidden) / sizeof(hidden[0])))
#define HIDDEN_BELOW 1
#define HIDDEN_ABOVE 2

/* the doubt is of the highest bin that is no less likely than this, or any above it, and of no larger share */
#define HIDDEN_CHANCE 0.025
#define HIDDEN_SHARE 0.7

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

/* Returns point i of a bin that begins at low, where steps are what points of any bin have of that; 0: it has no more. */
static double
point(const dp_norms *norms, const double *steps, double low, int i)
{
	double		next = low * low + i + 1;

	if (norms->whole && norms->one_group && low <= 8)
		return floor(low) + i + 1 <= 2 * low ? floor(low) + i + 1 : 0;
	if (norms->whole && !norms->one_group && low <= 2)
		return floor(next) <= 4 * low * low ? sqrt(floor(next)) : 0;
	return low * steps[i];
}

/* Spreads the units of each bin over its points. */
static void
spread_units(dp_norms *norms)
{
	double		steps[DP_NORM_POINTS];

	for (int i = 0; i < DP_NORM_POINTS; i++)
		steps[i] = exp2((i + 0.5) / DP_NORM_POINTS);
	norms->npoints = 0;
	for (int j = 0; j < norms->bins; j++)
	{
		double		low = exp2(norms->exponent + j - 1);
		double		weights = 0,
					x;

		norms->first[j] = norms->npoints;
		if (norms->count[j] <= 0)
			continue;
		for (int i = 0; i < DP_NORM_POINTS && (x = point(norms, steps, low, i)) > 0; i++)
		{
			norms->point[norms->npoints] = x;
			norms->weight[norms->npoints] = norms->tilt[j] > 0 ? exp(-norms->tilt[j] * log2(x / low)) : 1;
			weights += norms->weight[norms->npoints++];
		}
		for (int i = norms->first[j]; i < norms->npoints; i++)
			norms->weight[i] *= norms->count[j] / weights;
	}
	norms->first[norms->bins] = norms->npoints;
}

/* Returns the last count that stands out. */
static double
last_count(const dp_norms *norms)
{
	return at_least(norms->count[norms->last], norms->sigma);
}

/* Sets how steep tails begin: the steepest leaves nothing. */
static void
set_slopes(dp_norms *norms)
{
	double		steepest = at_least(log2(last_count(norms)) + 2, LEAST_SLOPE);

	for (int s = 0; s < DP_NORM_SLOPES; s++)
		norms->slope[s] = LEAST_SLOPE + (steepest - LEAST_SLOPE) * s / (DP_NORM_SLOPES - 1);
}

/* Sets counts above the last bin that stands out as each tail has them, but for those of fewer than "least" units. */
static void
set_tails(const dp_norms *norms, double least, double (*counts)[DP_NORM_BINS])
{
	double		steeper[DP_NORM_CURVES];
	double		first = 0;

	for (int c = 0; c < DP_NORM_CURVES; c++)
		steeper[c] = exp2(-curves[c]);
	for (int t = 0; t < DP_NORM_TAILS; t++)
	{
		double	   *count = counts[t];
		double		before = last_count(norms);
		double		above = 0;
		double		ratio;

		if (t % DP_NORM_CURVES == 0)
			first = exp2(-norms->slope[t / DP_NORM_CURVES]);
		ratio = first;
		for (int j = norms->last + 1; j < norms->bins; j++, ratio *= steeper[t % DP_NORM_CURVES])
			before = count[j] = before * ratio;
		for (int j = norms->bins - 1; j > norms->last && above + count[j] < least; j--)
		{
			above += count[j];
			count[j] = 0;
		}
	}
}

/* Returns by which power of two counts fell from bin j to the next. */
static double
fall_from(const dp_norms *norms, int j)
{
	double		half = norms->sigma / 4;
	double		before = j >= 0 ? norms->count[j] : 0;

	return log2((before + half) / ((j + 1 == norms->last ? last_count(norms) : norms->count[j + 1]) + half));
}

/* Returns the logarithm of how likely a tail is, but for what is the same for all. */
static double
tail_likelihood(const dp_norms *norms, int tail, const double *noisy, const double *count)
{
	double		fell = fall_from(norms, norms->last - 1);
	double		bend = norms->last > 1 ? at_most(at_least(fell - fall_from(norms, norms->last - 2), 0), MOST_BEND) : 0;
	double		slope = norms->slope[tail / DP_NORM_CURVES];
	double		result = -FLATTER * pow(at_least(fell - slope, 0), 2) - STEEPER * at_least(slope - at_least(fell + bend, 0), 0);

	for (int j = norms->last + 1; j < norms->bins; j++)
	{
		double		variance = norms->sigma * norms->sigma;

		if (count[j] > 0)
			result -= log1p(count[j] / variance) / 2;
		result -= pow(noisy[j] - count[j], 2) / (variance + count[j]) / 2;
	}
	return result;
}

/* Sets how likely each tail is, and counts above the last bin that stands out to what is expected. */
static void
weigh_tails(dp_norms *norms, const double *noisy)
{
	double		counts[DP_NORM_TAILS][DP_NORM_BINS];
	double		most = -INFINITY;
	double		weights = 0;
	double		nobody = 0;

	set_slopes(norms);
	set_tails(norms, LEAST_UNITS, counts);
	for (int t = 0; t < DP_NORM_TAILS; t++)
	{
		norms->tail[t] = tail_likelihood(norms, t, noisy, counts[t]);
		most = fmax(most, norms->tail[t]);
	}
	for (int t = 0; t < DP_NORM_TAILS; t++)
	{
		norms->tail[t] = exp(norms->tail[t] - most);
		weights += norms->tail[t];
		nobody += t / DP_NORM_CURVES == DP_NORM_SLOPES - 1 ? norms->tail[t] : 0;
	}
	for (int t = 0; t < DP_NORM_TAILS; t++)
	{
		norms->tail[t] /= weights;
		for (int j = norms->last + 1; j < norms->bins; j++)
			norms->count[j] += norms->tail[t] * counts[t][j] / (1 + NOBODY * nobody / weights);
	}
}

/* Sets how many units bins have where most are of bin "most", in proportion to that one, which is bin 0 of fall. */
static void
set_fall(double *fall)
{
	for (int j = 1 - DP_NORM_BINS; j < DP_NORM_BINS; j++)
		fall[j] = ldexp(1, j > 0 ? -HIDDEN_ABOVE * j : HIDDEN_BELOW * j);
}

/* Sets how likely it is that most units are of each bin, and counts to what is expected, where nobody stands out. */
static void
weigh_hidden(dp_norms *norms, const double *noisy)
{
	double		falls[2 * DP_NORM_BINS];
	double	   *fall = falls + DP_NORM_BINS;
	double		height[DP_NORM_BINS];
	double		weights = 0;

	set_fall(fall);
	/* no count is that far below 0 */
	for (int j = 0; j < norms->bins; j++)
		height[j] = at_least(noisy[j] / norms->sigma, -10);
	for (int most = 0; most < norms->bins; most++)
	{
		norms->tail[most] = 0;
		for (int n = 0; n < HIDDEN; n++)
		{
			double		likelihood = -log(2) * most;

			for (int j = 0; j < norms->bins; j++)
			{
				double		expected = hidden[n] * fall[j - most];

				likelihood += (2 * height[j] - expected) * expected / 2;
			}
			likelihood = exp(likelihood);
			norms->tail[most] += likelihood;
			weights += likelihood;
			for (int j = 0; j < norms->bins; j++)
				norms->count[j] += likelihood * norms->sigma * hidden[n] * fall[j - most];
		}
	}
	for (int j = 0; j < norms->bins; j++)
	{
		norms->tail[j] /= weights;
		norms->count[j] /= weights;
	}
}

bool
dp_norms_estimate(const double *counts, int bins, int exponent, double sigma, bool whole, double groups, dp_norms *norms)
{
	double		noisy[DP_NORM_BINS];
	double		half = sigma / 4;
	int			last;
	int			first;

	norms->bins = bins;
	norms->exponent = exponent;
	norms->whole = whole;
	norms->one_group = groups <= 1;
	norms->sigma = sigma;
	for (int j = 0; j < bins; j++)
		noisy[j] = isnan(counts[j]) ? 0 : at_least(at_most(counts[j], MOST_COUNT), -MOST_COUNT);
	first = last = anchor_of(noisy, bins, exponent, sigma);
	for (int j = last + 1; last >= 0 && j < bins; j++)
	{
		double		threshold = sigma * sqrt(16 + STEEPNESS * (j - last - 1));

		if (noisy[j] > threshold || (j - last >= 2 && noisy[j] + noisy[j - 1] > threshold * sqrt(2)))
			last = j;
	}
	norms->last = last;
	for (int j = 0; j < bins; j++)
		norms->count[j] = j <= last ? at_least(noisy[j], 0) : 0;
	if (last >= 0)
		weigh_tails(norms, noisy);
	else
		weigh_hidden(norms, noisy);
	for (int j = 0; j < bins; j++)
		norms->tilt[j] = tilt_of(j > 0 ? norms->count[j - 1] : 0, norms->count[j], half);
	spread_units(norms);
	return first >= 0;
}

/* Returns what points have above a limit. */
static double
points_above(const dp_norms *norms, double limit)
{
	double		cut = 0;

	for (int i = norms->npoints - 1; i >= 0 && norms->point[i] > limit; i--)
		cut += norms->weight[i] * (norms->point[i] - limit);
	return cut;
}

double
dp_norms_total(const dp_norms *norms)
{
	return points_above(norms, 0);
}

/* Returns what a unit of a bin has above a limit, in the mean. */
static double
excess(const dp_norms *norms, int bin, double limit)
{
	double		cut = 0;

	for (int i = norms->first[bin]; i < norms->first[bin + 1]; i++)
		cut += norms->weight[i] * at_least(norms->point[i] - limit, 0);
	return norms->count[bin] > 0 ? cut / norms->count[bin] : at_least(M_SQRT2 * exp2(norms->exponent + bin - 1) - limit, 0);
}

/* Sets the share that is cut where nobody stands out, if most units are of each bin; returns its mean. */
static double
hidden_shares(const dp_norms *norms, double limit, double *share)
{
	double		above[DP_NORM_BINS];
	double		whole[DP_NORM_BINS];
	double		falls[2 * DP_NORM_BINS];
	double	   *fall = falls + DP_NORM_BINS;
	double		mean = 0;

	set_fall(fall);
	for (int j = 0; j < norms->bins; j++)
	{
		above[j] = excess(norms, j, limit);
		whole[j] = excess(norms, j, 0);
	}
	for (int most = 0; most < norms->bins; most++)
	{
		double		cut = 0;
		double		total = 0;

		for (int j = 0; j < norms->bins; j++)
		{
			cut += fall[j - most] * above[j];
			total += fall[j - most] * whole[j];
		}
		share[most] = cut / total;
		mean += norms->tail[most] * share[most];
	}
	return mean;
}

double
dp_norms_cut(const dp_norms *norms, double limit)
{
	double		share[DP_NORM_BINS];

	return norms->last < 0 ? hidden_shares(norms, limit, share) * dp_norms_total(norms) : points_above(norms, limit);
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

	if (norms->last < 0)
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

	if (norms->last < 0)
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

/* Returns what would be cut of so many bins if all their norms were as large as they may be. */
static double
most_cut(const dp_norms *norms, int bins, double limit)
{
	double		cut = 0;

	for (int j = 0; j < bins; j++)
		cut += norms->count[j] * at_least(exp2(norms->exponent + j) - limit, 0);
	return cut;
}

/*
 * Returns the doubt where nobody stands out: what is cut is not known but for how likely each bin is, so that it is
 * that beside what is left in the highest bin that is not unlikely.
 */
static double
hidden_doubt(const dp_norms *norms, double limit)
{
	double		shares[DP_NORM_BINS];
	double		mean = hidden_shares(norms, limit, shares);
	double		above = 1;
	double		share;
	int			most = -1;

	while (most < norms->bins - 1 && above > HIDDEN_CHANCE)
		above -= norms->tail[++most];
	share = at_most(shares[most], HIDDEN_SHARE);
	return at_least(share / (1 - share) * (1 - mean), mean) * dp_norms_total(norms);
}

double
dp_norms_doubt(const dp_norms *norms, double limit)
{
	double		above[DP_NORM_BINS];
	double		counts[DP_NORM_TAILS][DP_NORM_BINS];
	double		seen = 0;
	double		variance = 0;
	double		squares = 0;
	double		weights = 0;

	if (norms->last < 0)
		return hidden_doubt(norms, limit);
	for (int j = 0; j < norms->bins; j++)
		above[j] = excess(norms, j, limit);
	for (int j = 0; j <= norms->last; j++)
	{
		seen += norms->count[j] * above[j];
		variance += pow(norms->sigma * above[j], 2);
	}
	variance += pow(TILT_ERROR * seen, 2) + pow(TOP_ERROR * (most_cut(norms, norms->last + 1, limit) - seen), 2);
	set_tails(norms, DOUBT_UNITS, counts);
	for (int t = 0; t < DP_NORM_TAILS; t++)
	{
		const double *count = counts[t];
		double		weight = norms->tail[t] * exp(-DOUBT_SLOPE * norms->slope[t / DP_NORM_CURVES] - curves[t % DP_NORM_CURVES]);
		double		cut = seen;
		double		chance = 0;

		for (int j = norms->last + 1; j < norms->bins; j++)
		{
			cut += count[j] * above[j];
			chance += count[j] * above[j] * above[j];
		}
		weights += weight;
		squares += weight * (cut * cut + chance);
	}
	return at_least(sqrt(squares / weights + variance), dp_norms_cut(norms, limit));
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
	if (norms->last < 0)
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
		doubt = MODEL_ERROR * at_most(most_cut(norms, norms->bins, limits[i]), total / weights);
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
	double		share = is_mean ? MEAN_SHARE : at_most(0.07 / pow(rho, 0.18), 0.3) / pow(at_least(groups, 1), 0.15);

	/* so that no last bit of a library decides on a price */
	return floor(share * 1000 + 0.5) / 1000;
}
