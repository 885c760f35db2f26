/*-------------------------------------------------------------------------
 *
 * value_cells.c
 *	  The cells into which constants divide the values of a type.
 *
 * Each constant is a cell, and so is what lies between two that are next to
 * each other, below all and above all: a comparison with one of the constants
 * is the same for all values of a cell.  Cells have numbers in the order of
 * the values.  That of a constant is one more than twice the number of those
 * that are less; even numbers are between.
 *
 * Invariants:
 * - Numbers depend on constants of the query alone, never on rows.
 * - No value is in a cell that is left out.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/typcache.h"

typedef struct Constants
{
	TypeCacheEntry *type;
	Oid			collation;
	Datum	   *values;			/* without NULLs */
	int			n;
} Constants;

static void
get_constants(FunctionCallInfo fcinfo, int argno, Constants *constants)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(argno);
	bool	   *nulls;
	int			n;

	constants->type = lookup_type_cache(ARR_ELEMTYPE(array), TYPECACHE_CMP_PROC_FINFO);
	if (!OidIsValid(constants->type->cmp_proc))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("type %s has no order", format_type_be(ARR_ELEMTYPE(array)))));
	constants->collation = PG_GET_COLLATION();
	deconstruct_array(array, ARR_ELEMTYPE(array), constants->type->typlen, constants->type->typbyval,
					  constants->type->typalign, &constants->values, &nulls, &n);
	constants->n = 0;
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			constants->values[constants->n++] = constants->values[i];
}

static int
compare(const Constants *constants, Datum a, Datum b)
{
	return DatumGetInt32(FunctionCall2Coll(&constants->type->cmp_proc_finfo, constants->collation, a, b));
}

static int
compare_values(const void *a, const void *b, void *constants)
{
	return compare(constants, *(const Datum *) a, *(const Datum *) b);
}

/* cell_of(value, constants): the number of the cell that one of the constants is */
PG_FUNCTION_INFO_V1(dp_cell_of);
Datum
dp_cell_of(PG_FUNCTION_ARGS)
{
	Datum		value = PG_GETARG_DATUM(0);
	Constants	constants;
	int			less = 0;

	get_constants(fcinfo, 1, &constants);
	for (int i = 0; i < constants.n; i++)
		less += compare(&constants, constants.values[i], value) < 0;
	PG_RETURN_INT32(2 * less + 1);
}

static Numeric
floor_of(Datum number)
{
	return DatumGetNumeric(DirectFunctionCall1(numeric_floor, number));
}

static bool
is_finite(Datum number)
{
	return !numeric_is_nan(DatumGetNumeric(number)) && !numeric_is_inf(DatumGetNumeric(number));
}

/* Tells whether a number is no whole one. */
static bool
is_fraction(Datum number)
{
	return is_finite(number) &&
		!DatumGetBool(DirectFunctionCall2(numeric_eq, NumericGetDatum(floor_of(number)), number));
}

/* Tells whether no whole number, or no date, is between two values. */
static bool
is_gap(Oid type, Datum low, Datum high)
{
	Datum		next;

	if (type == DATEOID)
		return (int64) DatumGetDateADT(high) - DatumGetDateADT(low) <= 1;
	if (!is_finite(low) || !is_finite(high))
		return false;
	next = DirectFunctionCall2(numeric_add, NumericGetDatum(floor_of(low)), NumericGetDatum(int64_to_numeric(1)));
	return !DatumGetBool(DirectFunctionCall2(numeric_lt, next, high));
}

/* cells(constants, whole, with_null): the numbers of cells that have values, of whole numbers only or of all; NULL, if asked for, is one */
PG_FUNCTION_INFO_V1(dp_cells);
Datum
dp_cells(PG_FUNCTION_ARGS)
{
	bool		whole = PG_GETARG_BOOL(1);
	bool		with_null = PG_GETARG_BOOL(2);
	int			lower = 1;
	int			count = 0;
	Constants	constants;
	Oid			type;
	Datum	   *cells;
	bool	   *nulls;

	get_constants(fcinfo, 0, &constants);
	type = constants.type->type_id;
	whole = type == DATEOID || (whole && type == NUMERICOID);
	qsort_arg(constants.values, constants.n, sizeof(Datum), compare_values, &constants);
	cells = palloc(sizeof(Datum) * (2 * (Size) constants.n + 2));
	nulls = palloc0(sizeof(bool) * (2 * (Size) constants.n + 2));
	for (int i = 0; i < constants.n; i++)
	{
		Datum		value = constants.values[i];

		if (i > 0 && compare(&constants, constants.values[i - 1], value) == 0)
			continue;
		if (i == 0 || !whole || !is_gap(type, constants.values[i - 1], value))
			cells[count++] = Int32GetDatum(2 * i);
		if (!whole || type != NUMERICOID || !is_fraction(value))
			cells[count++] = Int32GetDatum(2 * i + 1);
	}
	cells[count++] = Int32GetDatum(2 * constants.n);
	if (with_null)
		nulls[count++] = true;
	PG_RETURN_ARRAYTYPE_P(construct_md_array(cells, nulls, 1, &count, &lower, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}
