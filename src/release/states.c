/*-------------------------------------------------------------------------
 *
 * states.c
 *	  What a row of the inner plan adds to the exact states of its group.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "release/release_int.h"
#include "utils/array.h"

const int64 *
dp_gathered_counts(Datum value, int n)
{
	ArrayType  *array = DatumGetArrayTypeP(value);

	if (ARR_NDIM(array) != 1 || ARR_DIMS(array)[0] != n || ARR_HASNULL(array))
		elog(ERROR, "servers of a cluster sent no %d counts", n);
	return (const int64 *) ARR_DATA_PTR(array);
}

void
dp_add_counts(const DpPricedPart *part, TupleTableSlot *slot, int att, dp_i128 factor, dp_i128 *state)
{
	Datum		value = slot->tts_values[att];

	state += part->offset;
	if (slot->tts_isnull[att])
		return;
	if (TupleDescAttr(slot->tts_tupleDescriptor, att)->atttypid == INT8ARRAYOID)
	{
		const int64 *counts = dp_gathered_counts(value, part->width);

		for (int i = 0; i < part->width; i++)
			state[i] += counts[i] * factor;
	}
	else
	{
		const DpExactVector *vector = (const DpExactVector *) DatumGetPointer(value);

		if (vector->bins != part->width)
			elog(ERROR, "a vector has %d bins instead of %d", vector->bins, part->width);
		dp_vector_add_to(vector, factor, state);
	}
}

void
dp_add_state(const DpPricedPart *part, TupleTableSlot *slot, int att, dp_i128 *state)
{
	Datum		value = slot->tts_values[att];
	Oid			type = TupleDescAttr(slot->tts_tupleDescriptor, att)->atttypid;

	if (slot->tts_isnull[att])
		return;
	if (dp_is_histogram(part))
		dp_add_counts(part, slot, att, 1, state);
	else if (type == INT8OID)
		state[part->offset] += DatumGetInt64(value);
	else if (type == NUMERICOID)
		state[part->offset] += dp_sum_of_numeric(value);
	else
		state[part->offset] += dp_exact_sum_get((DpExactSum *) DatumGetPointer(value));
}
