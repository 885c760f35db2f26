/*-------------------------------------------------------------------------
 *
 * norm_limit.h
 *	  Which limit on the norms of units serves best, from noisy counts of how
 *	  many units have which norm; and how much it cuts.
 *
 * All of it is post-processing: results depend on the arguments alone, and are
 * finite whatever the noisy counts are.  Nothing is allocated.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_NORM_LIMIT_H
#define DP_NORM_LIMIT_H

#include <stdbool.h>

/* the most bins of a histogram of norms, and points that stand for the norms in a bin */
#define DP_NORM_BINS 25
#define DP_NORM_POINTS 16

/* how counts may decline where they do not stand out of the noise */
#define DP_NORM_SLOPES 24
#define DP_NORM_CURVES 5
#define DP_NORM_TAILS (DP_NORM_SLOPES * DP_NORM_CURVES)

/*
 * An estimate of the units' norms: count[j] of them are above 2^(exponent + j - 1)
 * and at most 2^(exponent + j).  The first bin has all smaller ones, too, and the last
 * all larger ones.  Within a bin their density on a logarithmic scale falls as
 * exp(-tilt[j]).  Points stand for them, with units as weights, in ascending order.
 * Bins above the last one that stands out have what is to be expected, by how likely each way is in which counts may decline.
 */
typedef struct dp_norms
{
	int			bins;
	int			exponent;		/* of the upper end of the first bin */
	bool		whole;			/* norms are roots of whole numbers, ... */
	bool		one_group;		/* ... or whole numbers */
	double		sigma;			/* of the noise of a count */
	int			last;			/* the last bin that stands out; -1: none does */
	double		slope[DP_NORM_SLOPES];	/* how steep tails begin, where one
										 * does */
	double		tail[DP_NORM_TAILS];	/* how likely each is; where none
										 * stands out, that most units are of
										 * a bin */
	double		count[DP_NORM_BINS];
	double		tilt[DP_NORM_BINS];
	int			npoints;
	int			first[DP_NORM_BINS + 1];	/* points of a bin end where those
											 * of the next begin */
	double		point[DP_NORM_BINS * DP_NORM_POINTS];
	double		weight[DP_NORM_BINS * DP_NORM_POINTS];
} dp_norms;

/*
 * Sets what noisy counts, with independent noise of standard deviation sigma >
 * 0 each, tell of norms; bins from 1 to DP_NORM_BINS.  whole: they are of counts of
 * rows, or of units, and exponent is 0; groups: of so many groups (>= 1; a guess where that is not known).
 * Returns false where the noise may be all that there is: counts are of what it may hide.
 */
extern bool dp_norms_estimate(const double *noisy, int bins, int exponent, double sigma, bool whole, double groups,
							  dp_norms *norms);

/* Returns what units' norms have above a limit > 0, added up; >= 0. */
extern double dp_norms_cut(const dp_norms *norms, double limit);

/*
 * Returns the root of the mean square of that, over all that the noise may hide and that is not known of norms within a bin; not
 * less than dp_norms_cut(), but for rounding.
 */
extern double dp_norms_doubt(const dp_norms *norms, double limit);

/* Returns the sum of all units' norms. */
extern double dp_norms_total(const dp_norms *norms);

/*
 * Returns which of the limits, ascending and > 0, is best for counts or sums of so
 * many groups whose noise has a standard deviation of
 * noise times the limit: that with the least sum of the square of what is cut, per group, and of
 * the noise.  Where the noise may be all that there is, the one next to DP_UNSEEN_LIMIT.
 */
#define DP_UNSEEN_LIMIT 4
extern int	dp_norms_choose(const dp_norms *norms, const double *limits, int n, double groups, double noise);

/*
 * Does so for statistics, of which noise is that of the count of rows: cutting takes weight from those that have many
 * rows, and changes an average far less than a count.
 */
extern int	dp_norms_choose_mean(const dp_norms *norms, const double *limits, int n, double groups, double noise);

/*
 * A noisy number of distinct values under a limit: the Euclidean norm of the numbers in all groups, with noise of standard
 * deviation sigma > 0.
 */
#define DP_MOST_PROBES 4

typedef struct dp_distinct
{
	double		limit;
	double		count;
	double		sigma;
} dp_distinct;

/*
 * Does so for numbers of distinct values.  A limit cuts few of them where others have the values of heavy units.  That is what
 * the probes tell, from 0 to DP_MOST_PROBES.  Sets *cut to the share of values that the limit cuts, by estimate.
 */
extern int	dp_norms_choose_distinct(const dp_norms *norms, const double *limits, int n, double groups, double noise,
									 const dp_distinct *probes, int nprobes, double *cut);

/*
 * Returns the share of rho that the histogram costs, in thousandths, of a column of so many groups: more where all is
 * noisier, as a limit is chosen badly then.
 */
extern double dp_norms_share(double rho, double groups, bool is_mean);

#endif							/* DP_NORM_LIMIT_H */
