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

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
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

/* these compare elements in the same place */
#define DP_TRY_EQUAL_ARRAYS(name, builtin) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	if (dp_text_is_wide(PG_GETARG_DATUM(0)) || dp_text_is_wide(PG_GETARG_DATUM(1))) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

DP_TRY_EQUAL_ARRAYS(array_eq, array_eq);
DP_TRY_EQUAL_ARRAYS(array_ne, array_ne);

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

int
dp_numeric_length(Datum numeric)
{
	char	   *written = DatumGetCString(DirectFunctionCall1(numeric_out, numeric));
	int			len = strlen(written);

	pfree(written);
	return len;
}

/* Tells whether the numbers of an array are not too long when they are written. */
static bool
are_short(ArrayType *array)
{
	ArrayIterator it;
	Datum		value;
	bool		isnull;
	int64		digits = 0;

	if (getBaseType(ARR_ELEMTYPE(array)) != NUMERICOID)
		return true;
	it = array_create_iterator(array, 0, NULL);
	while (digits <= DP_MAX_TEXT && array_iterate(it, &value, &isnull))
		digits += isnull ? 0 : dp_numeric_length(value);
	array_free_iterator(it);
	return digits <= DP_MAX_TEXT;
}

/* The built-in writes each element, and the delimiter between them. */
PG_FUNCTION_INFO_V1(dp_try_array_to_string);
Datum
dp_try_array_to_string(PG_FUNCTION_ARGS)
{
	ArrayType  *array;
	Datum		result;

	if (dp_text_is_wide(PG_GETARG_DATUM(0)))
		PG_RETURN_NULL();
	array = PG_GETARG_ARRAYTYPE_P(0);
	if ((int64) ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) * dp_value_bytes(PG_GETARG_DATUM(1)) > DP_MAX_TEXT ||
		!are_short(array))
		PG_RETURN_NULL();
	result = array_to_text(fcinfo);
	if (dp_text_is_wide(result))
		PG_RETURN_NULL();
	return result;
}

/* ------------------------------------------------------------------------
 * Arrays of strings
 * ------------------------------------------------------------------------
 */

void
dp_begin_texts(DpTextArray *texts)
{
	initStringInfo(&texts->elements);
	initStringInfo(&texts->bitmap);
	texts->count = 0;
	texts->has_nulls = false;
}

bool
dp_add_text(DpTextArray *texts, const char *text, int len)
{
	char	   *element;

	if ((int64) texts->elements.len + texts->bitmap.len + VARHDRSZ + len > DP_MAX_TEXT)
		return false;
	if (texts->count % BITS_PER_BYTE == 0)
		appendStringInfoCharMacro(&texts->bitmap, '\0');
	texts->has_nulls |= text == NULL;

	if (text !=NULL)
	{
		texts->bitmap.data[texts->bitmap.len - 1] |= 1 << texts->count % BITS_PER_BYTE;
		enlargeStringInfo(&texts->elements, INTALIGN(VARHDRSZ + len));
		element = texts->elements.data + texts->elements.len;
		memset(element, 0, INTALIGN(VARHDRSZ + len));
		SET_VARSIZE(element, VARHDRSZ + len);
		memcpy(VARDATA(element), text, len);
		texts->elements.len += INTALIGN(VARHDRSZ + len);
	}
	texts->count++;
	return true;
}

Datum
dp_end_texts(DpTextArray *texts, FunctionCallInfo fcinfo)
{
	int			head = texts->has_nulls ? ARR_OVERHEAD_WITHNULLS(1, texts->count) : ARR_OVERHEAD_NONULLS(1);
	int			size = head + texts->elements.len;
	ArrayType  *array;

	if (texts->count == 0)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(TEXTOID));
	if (size - VARHDRSZ > DP_MAX_TEXT)
		PG_RETURN_NULL();
	array = palloc0(size);
	SET_VARSIZE(array, size);
	array->ndim = 1;
	array->dataoffset = texts->has_nulls ? head : 0;
	array->elemtype = TEXTOID;
	ARR_DIMS(array)[0] = texts->count;
	ARR_LBOUND(array)[0] = 1;
	/* behind the dimensions, where there is one */
	if (texts->has_nulls)
		memcpy((char *) (ARR_LBOUND(array) + 1), texts->bitmap.data, texts->bitmap.len);
	memcpy(ARR_DATA_PTR(array), texts->elements.data, texts->elements.len);
	PG_RETURN_ARRAYTYPE_P(array);
}

/* Returns where a string is found from p on; NULL: nowhere.  Only characters of more than one byte may begin within others. */
static const char *
find(const char *p, const char *end, const char *sought, int len)
{
	bool		by_bytes = pg_database_encoding_max_length() == 1 || GetDatabaseEncoding() == PG_UTF8;

	for (; end - p >= len; p += by_bytes ? 1 : pg_mblen(p))
	{
		if (*p == *sought && memcmp(p, sought, len) == 0)
			return p;
	}
	return NULL;
}

/* string_to_array(string, delimiter): no string has a part, and no delimiter leaves it whole */
PG_FUNCTION_INFO_V1(dp_try_string_to_array);
Datum
dp_try_string_to_array(PG_FUNCTION_ARGS)
{
	text	   *string;
	text	   *delimiter;
	const char *p,
			   *end,
			   *next;
	int			len;
	DpTextArray texts;

	CHECK_FOR_INTERRUPTS();
	if (dp_text_is_wide(PG_GETARG_DATUM(0)) || dp_text_is_wide(PG_GETARG_DATUM(1)) ||
		dp_value_bytes(PG_GETARG_DATUM(0)) * dp_value_bytes(PG_GETARG_DATUM(1)) > DP_MAX_WORK)
		PG_RETURN_NULL();
	string = PG_GETARG_TEXT_PP(0);
	delimiter = PG_GETARG_TEXT_PP(1);
	p = VARDATA_ANY(string);
	end = p + VARSIZE_ANY_EXHDR(string);
	len = VARSIZE_ANY_EXHDR(delimiter);
	dp_begin_texts(&texts);
	if (p == end)
		return dp_end_texts(&texts, fcinfo);
	while (len > 0 && (next = find(p, end, VARDATA_ANY(delimiter), len)) != NULL)
	{
		if (!dp_add_text(&texts, p, next - p))
			PG_RETURN_NULL();
		p = next + len;
	}
	if (!dp_add_text(&texts, p, end - p))
		PG_RETURN_NULL();
	return dp_end_texts(&texts, fcinfo);
}
