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

/* Adds the counts of a histogram that was gathered from the servers of a cluster. */
static void
add_counts(Datum value, dp_i128 *state, int width)
{
	Datum	   *counts;
	int			n;

	deconstruct_array(DatumGetArrayTypeP(value), INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &counts, NULL, &n);
	if (n != width)
		elog(ERROR, "a histogram has %d bins instead of %d", n, width);
	for (int i = 0; i < n; i++)
		state[i] += DatumGetInt64(counts[i]);
}

static void
add_vector(Datum value, dp_i128 *state, int width)
{
	DpExactVector *vector = (DpExactVector *) DatumGetPointer(value);

	if (vector->bins != width)
		elog(ERROR, "a vector has %d bins instead of %d", vector->bins, width);
	dp_vector_add_to(vector, 1, state);
}

void
dp_add_state(const DpPricedPart *part, TupleTableSlot *slot, int att, dp_i128 *state)
{
	Datum		value = slot->tts_values[att];
	Oid			type = TupleDescAttr(slot->tts_tupleDescriptor, att)->atttypid;

	if (slot->tts_isnull[att])
		return;
	if (type == INT8ARRAYOID)
		add_counts(value, state + part->offset, part->width);
	else if (dp_is_histogram(part))
		add_vector(value, state + part->offset, part->width);
	else if (type == INT8OID)
		state[part->offset] += DatumGetInt64(value);
	else if (type == NUMERICOID)
		state[part->offset] += dp_sum_of_numeric(value);
	else
		state[part->offset] += dp_exact_sum_get((DpExactSum *) DatumGetPointer(value));
}
