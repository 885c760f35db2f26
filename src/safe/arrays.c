/*-------------------------------------------------------------------------
 *
 * arrays.c
 *	  Safe variants of functions that look into arrays.
 *
 * Invariant: for every argument the result is that of the built-in function,
 * or NULL where that would raise an error.  More is NULL than that where an
 * array is longer than safe.h has it, where elements times elements are more
 * than can be compared in a moment, and where the place of NULL is sought.
 *
 * All are strict, and harmless to call by hand.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "safe/safe.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

/* Returns the array, NULL where it is long; reads nothing of it. */
PG_FUNCTION_INFO_V1(dp_try_array);
Datum
dp_try_array(PG_FUNCTION_ARGS)
{
	if (dp_text_is_wide(PG_GETARG_DATUM(0)))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* the built-ins compare each element of one with each of the other, and look for no interrupts */
#define DP_TRY_ARRAYS(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	CHECK_FOR_INTERRUPTS(); \
	if (dp_text_is_wide(PG_GETARG_DATUM(0)) || dp_text_is_wide(PG_GETARG_DATUM(1)) || \
		dp_value_bytes(PG_GETARG_DATUM(0)) * dp_value_bytes(PG_GETARG_DATUM(1)) > DP_MAX_WORK / 8) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

DP_TRY_ARRAYS(array_contains, arraycontains);
DP_TRY_ARRAYS(array_contained, arraycontained);
DP_TRY_ARRAYS(array_overlap, arrayoverlap);

#define DP_TRY_ONE_ARRAY(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	if (dp_text_is_wide(PG_GETARG_DATUM(0))) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

DP_TRY_ONE_ARRAY(cardinality, array_cardinality);
DP_TRY_ONE_ARRAY(array_length, array_length);

/* The built-in searches arrays of one dimension alone. */
PG_FUNCTION_INFO_V1(dp_try_array_position);
Datum
dp_try_array_position(PG_FUNCTION_ARGS)
{
	if (dp_text_is_wide(PG_GETARG_DATUM(0)) || AARR_NDIM(PG_GETARG_ANY_ARRAY_P(0)) > 1)
		PG_RETURN_NULL();
	return array_position(fcinfo);
}

/* Returns an element, as array[n] does: NULL where there is none. */
PG_FUNCTION_INFO_V1(dp_try_element);
Datum
dp_try_element(PG_FUNCTION_ARGS)
{
	ArrayType  *array;
	int			n = PG_GETARG_INT32(1);
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum		result;

	if (dp_text_is_wide(PG_GETARG_DATUM(0)))
		PG_RETURN_NULL();
	array = PG_GETARG_ARRAYTYPE_P(0);
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	result = array_get_element(PointerGetDatum(array), 1, &n, -1, typlen, typbyval, typalign, &fcinfo->isnull);
	if (fcinfo->isnull)
		return (Datum) 0;
	if (typlen == -1 && dp_text_is_wide(result))
		PG_RETURN_NULL();
	return result;
}
