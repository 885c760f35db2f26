/*-------------------------------------------------------------------------
 *
 * group_sums.h
 *	  The table of groups: group_sums.c adds up in it, and group_sums_rows.c makes its rows.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_AGG_BOUNDING_GROUP_SUMS_H
#define DP_AGG_BOUNDING_GROUP_SUMS_H

#include "agg/bounding/gather.h"

/* bins that lie together: units' norms are in a few bins as a rule, next to each other */
#define DP_ADDED_BINS 4

/* Sums of some bins of a norm, of a group: for each bin how many units have the group first, and values and shares. */
typedef struct DpAddedBins
{
	struct DpAddedBins *next;
	int32		first;			/* of these bins */
	uint32		taken;			/* bit i: a unit is in bin first + i */
	int64		sum[FLEXIBLE_ARRAY_MEMBER];
} DpAddedBins;

/*
 * A group: followed by sums of what no norm limits, how many units have it first where none limits anything, the DpAddedBins
 * of norms, its keys as words (values or DP_KEYREFs), and the keys' bytes.
 */
typedef struct DpAddedGroup
{
	uint64		hash;
	uint64		nulls;			/* bit i: key i is NULL */
	int64		sum[FLEXIBLE_ARRAY_MEMBER];
} DpAddedGroup;

/* Where a value is added up: which norm with limits it belongs to, or -1; and which sum it is, its share being the next. */
typedef struct DpValuePlace
{
	int			limited;
	int			sum;
} DpValuePlace;

/* A norm that has limits, and the bin of it that leaves. */
typedef struct DpLimitedNorm
{
	int			norm;
	int			nsums;			/* of a bin */
	int			nvalues;
	int			value[DP_MAX_VALUES];
	const DpAddedBins *bins;	/* NULL: the row has no bin of it */
	int			bin;			/* of these */
} DpLimitedNorm;

struct DpGroupSums
{
	const DpBoundSpec *spec;
	MemoryContext context;		/* owns this struct */
	MemoryContext groups;		/* owns the groups */
	Size		limit;			/* for bytes, below */
	DpShape    *shape;			/* NULL: no state was met */
	DpNorms		norms;			/* of the unit at hand */
	DpValuePlace place[DP_MAX_VALUES];
	int			nsums;			/* of a group, apart from bins */
	int			nlimited;
	DpLimitedNorm *limited;
	int			limited_of[DP_MAX_VALUES];	/* norms: which of these it is, or
											 * -1 */
	Size		entry_bytes;	/* the most that an entry takes, but for its
								 * keys' bytes */
	int			nunits;
	dp_i128		magnitude;		/* of all values that norms limit, added up */
	int64		nadded;			/* entries that were added */
	int			ngroups;		/* that they are in */
	int64		nbins;			/* of all of these */
	char	   *unused;			/* memory, and how much of it */
	Size		free;
	Size		bytes;			/* that groups take */
	Size		most_bytes;		/* until it grows */
	int			left;			/* buckets that groups have left */
	const DpAddedGroup *leaving;	/* NULL: none */
	bool		useless;
	int			nbuckets;		/* a power of two */
	DpAddedGroup **buckets;		/* NULL: free */
};

/* Returns the bins of a group: for each norm that has limits, the first ones. */
static inline DpAddedBins **
dp_group_bins(const DpGroupSums *sums, const DpAddedGroup *group)
{
	return (DpAddedBins **) &group->sum[sums->nsums];
}

static inline uint64 *
dp_group_words(const DpGroupSums *sums, const DpAddedGroup *group)
{
	return (uint64 *) &group->sum[sums->nsums + sums->nlimited];
}

/* group_sums.c */
extern void dp_group_sums_forget(DpGroupSums *sums);

#endif							/* DP_AGG_BOUNDING_GROUP_SUMS_H */
