/*-------------------------------------------------------------------------
 *
 * found_bounds.h
 *	  Bounds that nobody knows, found privately before a release.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_FOUND_BOUNDS_H
#define DP_FOUND_BOUNDS_H

#include "release/release_int.h"

/* Returns the widest bounds that can be found, and those that are taken where none are (of no state where others hold then). */
extern DpInterval dp_widest_found(Oid type);
extern DpInterval dp_found_nothing(const DpReleaseColumn *column);

/* Returns the row type of an estimator. */
extern TupleDesc dp_estimator_desc(const DpRelease *estimator);

/* Returns the bounds by an estimator's columns when it has run, and writes them into the columns. */
extern DpInterval *dp_read_found(DpRun *estimator);

/* Sets the range of an estimator's bins; a histogram of logarithms, or of dates. */
extern void dp_estimator_range(Oid type, DpRange *range);

/* Returns how likely noise is taken for values of a column of an estimator, or of dp_bounds. */
extern double dp_estimator_error(const DpReleaseColumn *column);

/* Sets the bounds that hold what noisy counts tell of; false if they tell nothing. */
extern bool dp_pick_bounds(const DpPricedColumn *column, const double *counts, double *lower, double *upper);

/* Writes what noisy counts of a column with these bounds tell, at most so many numbers, and returns how many: bounds, and of an estimator the tails. */
#define DP_MOST_FOUND_NUMBERS 64
extern int	dp_found_numbers(const DpPricedColumn *column, const double *counts, double lower, double upper, double *numbers);

/*
 * Widens bounds of an average, in double precision, for what the estimator has seen beyond.  Returns by how much they may
 * have the average off: the root of the mean square.
 */
extern double dp_widen_found(const DpInterval *found, bool has_groups, double *lower, double *upper);

#endif							/* DP_FOUND_BOUNDS_H */
