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

/*
 * Groups whose sums of a bin lie together.  A unit is in one bin of a norm, with all of its groups, and most are in
 * a few bins: what is added to lies close together, and can be fetched once the group's number is known.
 */
#define DP_PAGE_GROUPS 32

/*
 * A group: followed by sums of what no norm limits, how many units have it first where none limits anything,
 * its keys as words (values or DP_KEYREFs), and the keys' bytes.
 */
typedef struct DpAddedGroup
{
	uint64		hash;
	struct DpAddedGroup *next;	/* the one that came after it: groups leave in
								 * this order, in which their pages lie */
	uint32		number;			/* in the order in which groups came */
	uint32		nulls;			/* bit i: key i is NULL */
	int64		sum[FLEXIBLE_ARRAY_MEMBER];
} DpAddedGroup;

/* Where a value is added up: which norm with limits it belongs to, or -1; and which sum it is, its share being the next. */
typedef struct DpValuePlace
{
	int			limited;
	int			sum;
} DpValuePlace;

/*
 * A norm that has limits, and the bin of it that leaves.  In a bin a group has nsums sums: how many units have it first, with
 * DP_ADDED_UNIT for each that has it, and for each value the sums of values and of shares.  The first is 0 where nothing was added.
 */
#define DP_ADDED_UNIT (INT64CONST(1) << 32)
#define DP_FIRST_UNITS(sum) ((sum) & (DP_ADDED_UNIT - 1))

typedef struct DpLimitedNorm
{
	int			norm;
	int			nsums;
	int			nvalues;
	int			value[DP_MAX_VALUES];
	bool		is_count;		/* its only value is its own, a count */
	bool		is_first;		/* ... another, and kept in DpNorms */
	int64		most_rows;		/* of that count */
	int64		counted;		/* the last value of the unit at hand, in
								 * steps; the least number: none */
	int64		share;			/* of that */
	int64	  **pages[DP_MAX_NORM_LIMITS + 1];	/* of each bin, by number of
												 * the group; NULL: none */
	int			past;			/* the last bin that has pages */
	int			bin;			/* of the row; as past: it has none */
	const int64 *sum;			/* in it */
} DpLimitedNorm;

struct DpGroupSums
{
	const DpBoundSpec *spec;
	MemoryContext context;		/* owns this struct */
	MemoryContext groups;		/* owns the groups */
	Size		limit;			/* for bytes, below */
	DpShape    *shape;			/* NULL: no state was met */
	DpNorms		norms;			/* of the unit at hand */
	int			nalike;			/* units that are as it is */
	DpValuePlace place[DP_MAX_VALUES];
	int			nsums;			/* of a group, apart from bins */
	int			nlimited;
	DpLimitedNorm *limited;
	int			limited_of[DP_MAX_VALUES];	/* norms: which of these it is, or
											 * -1 */
	int			nunits;
	dp_i128		magnitude;		/* of all values that norms limit, added up */
	int64		nadded;			/* entries that were added */
	int			ngroups;		/* that they are in */
	int64		nbins;			/* of all of these */
	char	   *unused;			/* memory, and how much of it */
	Size		free;
	Size		bytes;			/* that groups take */
	Size		most_bytes;		/* until it grows */
	DpAddedGroup *first;		/* group that came; NULL: none */
	DpAddedGroup *last;
	const DpAddedGroup *leaving;	/* NULL: none */
	bool		useless;
	int			nbuckets;		/* a power of two */
	DpAddedGroup **buckets;		/* NULL: free */
};

static inline uint64 *
dp_group_words(const DpGroupSums *sums, const DpAddedGroup *group)
{
	return (uint64 *) &group->sum[sums->nsums];
}

/* Returns the sums of a group in a bin; NULL: nothing was added in this bin to it, nor to those whose sums would lie beside. */
static inline int64 *
dp_bin_sums(const DpLimitedNorm *norm, const DpAddedGroup *group, int bin)
{
	int64	  **pages = norm->pages[bin];
	int64	   *page = pages != NULL ? pages[group->number / DP_PAGE_GROUPS] : NULL;

	return page != NULL ? page + group->number % DP_PAGE_GROUPS * norm->nsums : NULL;
}


/* group_sums.c */
extern void dp_group_sums_forget(DpGroupSums *sums);

#endif							/* DP_AGG_BOUNDING_GROUP_SUMS_H */
