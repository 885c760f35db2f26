/*-------------------------------------------------------------------------
 *
 * vector.c
 *	  Type exact_vector: histograms of codes, of rows or of what units keep.
 *
 * Invariants: a state is the number of codes of each bin, an integer; it
 * depends on the multiset of input alone.  A code counts in exactly one bin,
 * whatever it is, so a unit's m codes change a vector by at most m in the sum
 * of absolute changes.  2^63 rows would have to come before a count overflows.
 *
 * There is no initial state: nobody can write one, and the number of bins is
 * known from the first row on only.  So the state is NULL until then, and the
 * transition functions are not strict.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"

#include "agg/bounding/state.h"
#include "base/compat.h"

PG_FUNCTION_INFO_V1(dp_exact_histogram);
PG_FUNCTION_INFO_V1(dp_codes_histogram);
PG_FUNCTION_INFO_V1(dp_codes_shares);
PG_FUNCTION_INFO_V1(dp_exact_vector_combine);

/* places of a new table */
#define FIRST_ROOM 16

static inline int32 *
places(const DpExactVector *vector)
{
	return (int32 *) &vector->count[vector->room];
}

/* Returns an empty vector; room: places of its table, 0: it is an array. */
static DpExactVector *
new_vector(int bins, int room)
{
	Size		size = offsetof(DpExactVector, count) + (room > 0 ? room * (sizeof(int64) + sizeof(int32)) : bins * sizeof(int64));
	DpExactVector *vector = palloc0(size);

	SET_VARSIZE(vector, size);
	vector->bins = bins;
	vector->room = room;
	if (room > 0)
		memset(places(vector), -1, room * sizeof(int32));
	return vector;
}

DpExactVector *
dp_vector_make(int bins)
{
	return new_vector(bins, 0);
}

/* Returns how many places a table has, or 0 where an array takes no more. */
static int
room_for(int bins, int room)
{
	return room * (sizeof(int64) + sizeof(int32)) < bins * sizeof(int64) ? room : 0;
}

static DpExactVector *add_to_bin(DpExactVector *vector, int32 bin, int64 weight);

/* Returns a vector with more room and the same counts. */
static pg_noinline DpExactVector *
larger_vector(const DpExactVector *vector)
{
	DpExactVector *larger = new_vector(vector->bins, room_for(vector->bins, vector->room * 4));

	for (int i = 0; i < vector->room; i++)
		if (places(vector)[i] >= 0)
			larger = add_to_bin(larger, places(vector)[i], vector->count[i]);
	return larger;
}

/* Adds to a bin; returns the vector, which may be another one. */
static inline DpExactVector *
add_to_bin(DpExactVector *vector, int32 bin, int64 weight)
{
	uint32		place;

	if (vector->room == 0)
	{
		vector->count[bin] += weight;
		return vector;
	}
	place = (uint32) (dp_mix(bin) & (vector->room - 1));
	while (places(vector)[place] != bin)
	{
		if (places(vector)[place] < 0)
		{
			if (2 * vector->used >= vector->room)
				return add_to_bin(larger_vector(vector), bin, weight);
			places(vector)[place] = bin;
			vector->used++;
			break;
		}
		place = (place + 1) & (vector->room - 1);
	}
	vector->count[place] += weight;
	return vector;
}

void
dp_vector_add_to(const DpExactVector *vector, dp_i128 factor, dp_i128 *state)
{
	if (vector->room == 0)
	{
		for (int i = 0; i < vector->bins; i++)
			state[i] += vector->count[i] * factor;
		return;
	}
	for (int i = 0; i < vector->room; i++)
		if (places(vector)[i] >= 0)
			state[places(vector)[i]] += vector->count[i] * factor;
}

/* Returns the state, made if there is none. */
static DpExactVector *
counted_vector(FunctionCallInfo fcinfo, DpExactVector *vector, int bins)
{
	if (likely(!PG_ARGISNULL(0)))
	{
		if (unlikely(vector->bins != bins))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the number of bins must be the same for all rows")));
		return vector;
	}
	if (bins < 1 || bins > DP_MAX_BINS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the number of bins must be between 1 and %d", DP_MAX_BINS)));
	return new_vector(bins, room_for(bins, FIRST_ROOM));
}

static inline DpExactVector *
add_code(DpExactVector *vector, int32 code, int64 weight)
{
	return add_to_bin(vector, code < 0 ? 0 : Min(code, vector->bins - 1), weight);
}

/* The transition of exact_histogram: (exact_vector, code, bins). */
Datum
dp_exact_histogram(PG_FUNCTION_ARGS)
{
	DpExactVector *vector = dp_state_in_place(fcinfo);

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return dp_state_unchanged(fcinfo);
	vector = counted_vector(fcinfo, vector, PG_GETARG_INT32(2));
	vector = add_code(vector, PG_GETARG_INT32(1), 1);
	PG_RETURN_POINTER(vector);
}

const void *
dp_array_of_codes(const ArrayType *codes, int *n)
{
	if (ARR_HASNULL(codes))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("an array of codes must not contain NULL")));
	*n = ArrayGetNItems(ARR_NDIM(codes), ARR_DIMS(codes));
	return ARR_DATA_PTR(codes);
}

/* Adds codes, each with a weight, to a histogram of so many bins. */
static Datum
add_codes(FunctionCallInfo fcinfo, int64 weight)
{
	DpExactVector *vector = dp_state_in_place(fcinfo);
	const int32 *codes;
	int			n;

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return dp_state_unchanged(fcinfo);
	vector = counted_vector(fcinfo, vector, PG_GETARG_INT32(2));
	codes = dp_array_of_codes(PG_GETARG_ARRAYTYPE_P(1), &n);
	for (int i = 0; i < n; i++)
		vector = add_code(vector, codes[i], weight);
	PG_RETURN_POINTER(vector);
}

/* The transition of codes_histogram: (exact_vector, codes, bins). */
Datum
dp_codes_histogram(PG_FUNCTION_ARGS)
{
	return add_codes(fcinfo, 1);
}

/* The transition of codes_shares: (exact_vector, codes, bins, share of each code). */
Datum
dp_codes_shares(PG_FUNCTION_ARGS)
{
	return PG_ARGISNULL(3) ? dp_state_unchanged(fcinfo) : add_codes(fcinfo, PG_GETARG_INT64(3));
}

/* The combine function, strict. */
Datum
dp_exact_vector_combine(PG_FUNCTION_ARGS)
{
	DpExactVector *vector = dp_state_in_place(fcinfo);
	const DpExactVector *other = (const DpExactVector *) PG_GETARG_POINTER(1);

	if (vector->bins != other->bins)
		elog(ERROR, "partial histograms of different bins cannot be combined");
	for (int i = 0; i < (other->room > 0 ? other->room : other->bins); i++)
	{
		if (other->room == 0 && other->count[i] != 0)
			vector = add_to_bin(vector, i, other->count[i]);
		else if (other->room > 0 && places(other)[i] >= 0)
			vector = add_to_bin(vector, places(other)[i], other->count[i]);
	}
	PG_RETURN_POINTER(vector);
}
