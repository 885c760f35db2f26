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

/* Returns the state, made if there is none. */
static DpExactVector *
counted_vector(FunctionCallInfo fcinfo, DpExactVector *vector, int bins)
{
	Size		size;

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
	size = offsetof(DpExactVector, count) + bins * sizeof(int64);
	vector = palloc0(size);
	SET_VARSIZE(vector, size);
	vector->bins = bins;
	return vector;
}

static inline void
add_code(DpExactVector *vector, int32 code, int64 weight)
{
	vector->count[code < 0 ? 0 : Min(code, vector->bins - 1)] += weight;
}

/* The transition of exact_histogram: (exact_vector, code, bins). */
Datum
dp_exact_histogram(PG_FUNCTION_ARGS)
{
	DpExactVector *vector = dp_state_in_place(fcinfo);

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return dp_state_unchanged(fcinfo);
	vector = counted_vector(fcinfo, vector, PG_GETARG_INT32(2));
	add_code(vector, PG_GETARG_INT32(1), 1);
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
		add_code(vector, codes[i], weight);
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
	for (int i = 0; i < vector->bins; i++)
		vector->count[i] += other->count[i];
	PG_RETURN_POINTER(vector);
}
