/*-------------------------------------------------------------------------
 *
 * limited.c
 *	  Type limited_sum: what units add to a group, by the bin of their norm.
 *
 * The limit of a norm is chosen after rows have been read (bounding/norms.c).
 * Until then a group needs, for each bin of norms, the sum of its units' values
 * and that of their shares.  Most groups have units in a few bins only, so a
 * state has these alone, in their order.
 *
 * Invariants: a state depends on the multiset of input alone.  A value is at
 * most 2^62 in magnitude, as rows may be added up before (group_sums.c), and no
 * sum of 128 bits overflows.  A unit's share is at most DP_NORM_UNIT, so
 * that 2^43 units would have to come before a sum of shares overflows.
 *
 * There is no initial state, as nobody can write one: it is NULL until a row
 * comes.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "agg/bounding/state.h"
#include "base/errors.h"

PG_FUNCTION_INFO_V1(dp_limited_sum);
PG_FUNCTION_INFO_V1(dp_limited_sum_combine);

/* bins of a new state; of 7, 15 and 30, too, little is lost where memory comes in powers of two */
#define FIRST_ROOM 3
#define MORE_ROOM(room) ((room) < 15 ? 2 * (room) + 1 : 2 * (room))

/* Returns an empty state with room for so many bins, in CurrentMemoryContext: the executor copies it, and frees the former. */
static DpLimitedSum *
new_sum(int room)
{
	Size		size = offsetof(DpLimitedSum, bin) + MAXALIGN(room) + room * sizeof(DpLimitedBin);
	DpLimitedSum *sum = palloc(size);

	SET_VARSIZE(sum, size);
	sum->nbins = 0;
	sum->room = room;
	return sum;
}

/* Returns the sums of a bin that the state does not have yet, all 0; *psum becomes another state where there is no room. */
static pg_noinline DpLimitedBin *
insert_bin(DpLimitedSum **psum, int place, int bin)
{
	DpLimitedSum *sum = *psum;
	int			after = sum->nbins - place;
	DpLimitedBin *at;

	if (sum->nbins == sum->room)
	{
		*psum = new_sum(MORE_ROOM(sum->room));
		memcpy((*psum)->bin, sum->bin, sum->nbins);
		memcpy(dp_limited_bins(*psum), dp_limited_bins(sum), sum->nbins * sizeof(DpLimitedBin));
		(*psum)->nbins = sum->nbins;
		sum = *psum;
	}
	at = dp_limited_bins(sum) + place;
	memmove(&sum->bin[place + 1], &sum->bin[place], after);
	memmove(at + 1, at, after * sizeof(DpLimitedBin));
	memset(at, 0, sizeof(DpLimitedBin));
	sum->bin[place] = bin;
	sum->nbins++;
	return at;
}

static inline DpLimitedBin *
find_bin(DpLimitedSum **psum, int bin)
{
	DpLimitedSum *sum = *psum;
	int			place = 0;

	while (place < sum->nbins && sum->bin[place] < bin)
		place++;
	if (place < sum->nbins && sum->bin[place] == bin)
		return dp_limited_bins(sum) + place;
	return insert_bin(psum, place, bin);
}

/* The transition of limited_sum: (limited_sum, bin, value, share, how many units have the group first). */
Datum
dp_limited_sum(PG_FUNCTION_ARGS)
{
	DpLimitedSum *sum = dp_state_in_place(fcinfo);
	DpLimitedBin *at;
	int64		bin;

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3) || PG_ARGISNULL(4))
		return dp_state_unchanged(fcinfo);
	bin = PG_GETARG_INT64(1);
	if (bin < -1 || bin > DP_MAX_NORM_LIMITS)
		dp_raise(BAD_PARAMETER, errmsg("a norm has no bin %lld", (long long) bin));
	/* nothing is added: another norm's row, or who contributes nothing */
	if (bin < 0 && PG_GETARG_INT64(2) == 0 && PG_GETARG_INT64(3) == 0)
		return dp_state_unchanged(fcinfo);
	if (PG_ARGISNULL(0))
		sum = new_sum(FIRST_ROOM);
	at = find_bin(&sum, (int) bin);
	dp_exact_sum_set(&at->value, dp_exact_sum_get(&at->value) + PG_GETARG_INT64(2));
	at->share += PG_GETARG_INT64(3);

	/*
	 * no histogram has who is in no bin; of several such units, whose rows
	 * may be one row by now, some add nothing
	 */
	if (bin >= 0)
		at->first += PG_GETARG_INT64(4);
	PG_RETURN_POINTER(sum);
}

/* The combine function, strict. */
Datum
dp_limited_sum_combine(PG_FUNCTION_ARGS)
{
	DpLimitedSum *sum = dp_state_in_place(fcinfo);
	const DpLimitedSum *other = (const DpLimitedSum *) PG_GETARG_POINTER(1);

	for (int i = 0; i < other->nbins; i++)
	{
		const DpLimitedBin *from = dp_limited_bins(other) + i;
		DpLimitedBin *at = find_bin(&sum, other->bin[i]);

		dp_exact_sum_set(&at->value, dp_exact_sum_get(&at->value) + dp_exact_sum_get(&from->value));
		at->share += from->share;
		at->first += from->first;
	}
	PG_RETURN_POINTER(sum);
}

dp_i128
dp_limited_sum_get(const DpLimitedSum *sum, int limit, dp_i128 factor)
{
	dp_i128		total = 0;

	for (int i = 0; i < sum->nbins; i++)
	{
		const DpLimitedBin *bin = dp_limited_bins(sum) + i;

		total += sum->bin[i] <= limit ? dp_exact_sum_get(&bin->value) : bin->share * factor;
	}
	return total;
}
