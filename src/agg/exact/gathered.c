/*-------------------------------------------------------------------------
 *
 * gathered.c
 *	  Strings and arrays of one unit's rows: unit_string_agg and unit_array_agg.
 *
 * Invariants:
 * - They are PostgreSQL's string_agg and array_agg, whose order of rows is the
 *	 caller's to complete (guard/vet/unit_aggregates.c), but NULL where all values
 *	 together are longer than base/sizes.h has it.
 * - Memory is bounded by that, and no row raises an error: a value is not read
 *	 if it is too long, and nothing is kept from then on.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/sizes.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

typedef struct Gathered
{
	bool		is_long;		/* there is no result */
	int64		bytes;
	StringInfoData text;		/* of strings; data NULL: none yet */
	ArrayBuildState *array;		/* of arrays; NULL: none yet */
	int16		len;			/* of elements */
} Gathered;

/* Returns the state of an aggregate, which lives as long as the group; only called as an aggregate. */
static Gathered *
gathered(FunctionCallInfo fcinfo, MemoryContext *context)
{
	if (!AggCheckCallContext(fcinfo, context))
		elog(ERROR, "called outside of an aggregate");
	return PG_ARGISNULL(0) ? MemoryContextAllocZero(*context, sizeof(Gathered)) : (Gathered *) PG_GETARG_POINTER(0);
}

/* Adds to the length; false where it is too long, and nothing more is to be kept. */
static bool
fits(Gathered *state, int64 bytes)
{
	state->bytes += bytes;
	state->is_long |= state->bytes > DP_MAX_TEXT;
	return !state->is_long;
}

PG_FUNCTION_INFO_V1(dp_gather_string);
Datum
dp_gather_string(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	MemoryContext caller;
	Gathered   *state = gathered(fcinfo, &context);

	if (PG_ARGISNULL(1) || !fits(state, dp_value_bytes(PG_GETARG_DATUM(1))))
		PG_RETURN_POINTER(state);
	if (state->text.data == NULL)
	{
		caller = MemoryContextSwitchTo(context);
		initStringInfo(&state->text);
		MemoryContextSwitchTo(caller);
	}
	/* the delimiter of the first value is that of none */
	else if (!PG_ARGISNULL(2) && fits(state, dp_value_bytes(PG_GETARG_DATUM(2))))
	{
		text	   *delimiter = PG_GETARG_TEXT_PP(2);

		appendBinaryStringInfo(&state->text, VARDATA_ANY(delimiter), VARSIZE_ANY_EXHDR(delimiter));
	}
	if (!state->is_long)
	{
		text	   *value = PG_GETARG_TEXT_PP(1);

		appendBinaryStringInfo(&state->text, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
	}
	PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(dp_gathered_string);
Datum
dp_gathered_string(PG_FUNCTION_ARGS)
{
	Gathered   *state = PG_ARGISNULL(0) ? NULL : (Gathered *) PG_GETARG_POINTER(0);

	if (state == NULL || state->is_long || state->text.data == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text_with_len(state->text.data, state->text.len));
}

PG_FUNCTION_INFO_V1(dp_gather_array);
Datum
dp_gather_array(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	Gathered   *state = gathered(fcinfo, &context);
	bool		isnull = PG_ARGISNULL(1);
	Datum		value = isnull ? (Datum) 0 : PG_GETARG_DATUM(1);
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 1);

	if (state->array == NULL)
	{
		state->array = initArrayResult(type, context, false);
		state->len = get_typlen(type);
	}
	/* with what aligns it, and the bit that is for NULL */
	if (fits(state, (isnull ? 0 : state->len > 0 ? state->len : dp_value_bytes(value)) + sizeof(int64)))
		accumArrayResult(state->array, value, isnull, type, context);
	PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(dp_gathered_array);
Datum
dp_gathered_array(PG_FUNCTION_ARGS)
{
	Gathered   *state = PG_ARGISNULL(0) ? NULL : (Gathered *) PG_GETARG_POINTER(0);

	if (state == NULL || state->is_long)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(makeArrayResult(state->array, CurrentMemoryContext));
}
