/*-------------------------------------------------------------------------
 *
 * inspect.c
 *	  Grids, specs and exact values by hand, for tests and for the owner.
 *
 * The functions here make what only the release node makes, or show what is
 * private: nobody but the extension's owner may call them, and no part of a
 * release does.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "agg/exact/grid.h"
#include "base/compat.h"

PG_FUNCTION_INFO_V1(dp_make_grid);
PG_FUNCTION_INFO_V1(dp_make_bound_spec);
PG_FUNCTION_INFO_V1(dp_with_norm);
PG_FUNCTION_INFO_V1(dp_with_groups);
PG_FUNCTION_INFO_V1(dp_grid_parts);
PG_FUNCTION_INFO_V1(dp_grid_value_sql);
PG_FUNCTION_INFO_V1(dp_exact_sum_value);
PG_FUNCTION_INFO_V1(dp_make_range);
PG_FUNCTION_INFO_V1(dp_make_scaled_grid);
PG_FUNCTION_INFO_V1(dp_vector_counts);
PG_FUNCTION_INFO_V1(dp_limited_sum_parts);

/* make_grid(lower numeric, upper numeric, input regtype) returns the grid for these bounds. */
Datum
dp_make_grid(PG_FUNCTION_ARGS)
{
	DpGrid		grid;

	dp_grid_from_numeric(PG_GETARG_NUMERIC(0), PG_GETARG_NUMERIC(1), PG_GETARG_OID(2), &grid);
	PG_RETURN_DATUM(dp_grid_datum(&grid));
}

/* make_scaled_grid(most bigint) returns the grid for the sum of at most "most" centered values. */
Datum
dp_make_scaled_grid(PG_FUNCTION_ARGS)
{
	DpGrid		grid;
	int64		most = PG_GETARG_INT64(0);

	if (most < 1 || most > DP_MAX_SCALED_ROWS)
		elog(ERROR, "invalid number of rows: " INT64_FORMAT, most);
	dp_grid_for_scaled(most, &grid);
	PG_RETURN_DATUM(dp_grid_datum(&grid));
}

static DpValueKind
kind_from_text(const char *name)
{
	if (strcmp(name, "count") == 0)
		return DP_VALUE_COUNT;
	if (strcmp(name, "units") == 0)
		return DP_VALUE_UNITS;
	if (strcmp(name, "sum") == 0)
		return DP_VALUE_SUM;
	if (strcmp(name, "rows") == 0)
		return DP_VALUE_ROWS;
	if (strcmp(name, "scaled") == 0)
		return DP_VALUE_SCALED;
	if (strcmp(name, "codes") == 0)
		return DP_VALUE_CODES;
	if (strcmp(name, "distinct") == 0)
		return DP_VALUE_DISTINCT;
	if (strcmp(name, "cut") == 0)
		return DP_VALUE_CUT;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("\"%s\" is no kind of value: use count, units, sum, rows, scaled, codes, distinct or cut", name)));
	return DP_VALUE_COUNT;		/* keep compilers quiet */
}

/*
 * make_bound_spec(nkeys int, max_groups int, seed bigint[2], kinds text[],
 * grids grid[], rows int[], limits bigint[]) returns a spec; limits: two for
 * each value, the least and the most steps of a row.
 */
Datum
dp_make_bound_spec(PG_FUNCTION_ARGS)
{
	Datum	   *seeds;
	Datum	   *names;
	Datum	   *grid_datums;
	int			nseeds;
	int			nkinds;
	int			ngrids;
	Datum	   *row_datums;
	int			nrows;
	int			rows[DP_MAX_VALUES];
	Datum	   *limit_datums;
	int			nlimits;
	DpRowLimits limits[DP_MAX_VALUES];
	uint64		seed[2];
	DpValueKind kinds[DP_MAX_VALUES];
	DpGrid		grids[DP_MAX_VALUES];
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(4);

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(2), INT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &seeds, NULL, &nseeds);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(3), TEXTOID, -1, false, TYPALIGN_INT,
					  &names, NULL, &nkinds);
	deconstruct_array(array, ARR_ELEMTYPE(array), sizeof(DpGrid), false, TYPALIGN_DOUBLE,
					  &grid_datums, NULL, &ngrids);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(5), INT4OID, 4, true, TYPALIGN_INT,
					  &row_datums, NULL, &nrows);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(6), INT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &limit_datums, NULL, &nlimits);
	if (nseeds != 2 || nkinds != ngrids || nkinds > DP_MAX_VALUES || (nrows != 0 && nrows != nkinds) ||
		(nlimits != 0 && nlimits != 2 * nkinds))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a bound_spec needs two seeds, and as many kinds as grids, at most %d",
						DP_MAX_VALUES)));

	for (int i = 0; i < 2; i++)
		seed[i] = DatumGetInt64(seeds[i]);
	for (int i = 0; i < nkinds; i++)
	{
		kinds[i] = kind_from_text(TextDatumGetCString(names[i]));
		grids[i] = *(const DpGrid *) DatumGetPointer(grid_datums[i]);
		rows[i] = nrows > 0 ? DatumGetInt32(row_datums[i]) : 0;
		limits[i].lower = nlimits > 0 ? DatumGetInt64(limit_datums[2 * i]) : 0;
		limits[i].upper = nlimits > 0 ? DatumGetInt64(limit_datums[2 * i + 1]) : 0;
	}
	PG_RETURN_POINTER(dp_bound_spec_make(PG_GETARG_INT32(0), nkinds, PG_GETARG_INT32(1),
										 seed, kinds, grids, rows, nlimits > 0 ? limits : NULL, NULL, NULL, 0, NULL));
}

/*
 * with_norm(bound_spec, value int, shift int, others int[], limits bigint[]) returns a spec with one more norm, of a value
 * that others are no larger than.
 */
Datum
dp_with_norm(PG_FUNCTION_ARGS)
{
	const DpBoundSpec *spec = (const DpBoundSpec *) PG_GETARG_POINTER(0);
	int			norm = spec->nnorms;
	DpBoundSpec *result = palloc0(VARSIZE(spec) + sizeof(DpNormSpec));
	DpNormSpec *added;
	Datum	   *others;
	int			nothers;
	Datum	   *limits;
	int			nlimits;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(3), INT4OID, 4, true, TYPALIGN_INT, &others, NULL, &nothers);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(4), INT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &limits, NULL, &nlimits);
	if (nlimits > DP_MAX_NORM_LIMITS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a norm has at most %d limits", DP_MAX_NORM_LIMITS)));
	memcpy(result, spec, VARSIZE(spec));
	SET_VARSIZE(result, VARSIZE(spec) + sizeof(DpNormSpec));
	result->nnorms = norm + 1;
	added = &dp_spec_norms(result)[norm];
	added->value = PG_GETARG_INT32(1);
	added->nlimits = nlimits;
	for (int i = 0; i < nlimits; i++)
		added->limit[i] = DatumGetInt64(limits[i]);
	for (int i = -1; i < nothers; i++)
	{
		int			value = i < 0 ? added->value : DatumGetInt32(others[i]);

		if (value < 0 || value >= result->nvalues)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the bound_spec has no value %d", value)));
		result->value[value].norm = norm;
		result->value[value].shift = PG_GETARG_INT32(2);
	}
	dp_check_bound_spec(result);
	PG_RETURN_POINTER(result);
}

/* with_groups(bound_spec, groups int[]) returns a spec whose value i counts in groups[i] of a unit's groups. */
Datum
dp_with_groups(PG_FUNCTION_ARGS)
{
	const DpBoundSpec *spec = (const DpBoundSpec *) PG_GETARG_POINTER(0);
	DpBoundSpec *result = palloc(VARSIZE(spec));
	Datum	   *groups;
	int			ngroups;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), INT4OID, 4, true, TYPALIGN_INT, &groups, NULL, &ngroups);
	if (ngroups != spec->nvalues)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the bound_spec has %d values", spec->nvalues)));
	memcpy(result, spec, VARSIZE(spec));
	for (int i = 0; i < ngroups; i++)
		result->value[i].groups = DatumGetInt32(groups[i]);
	dp_check_bound_spec(result);
	PG_RETURN_POINTER(result);
}

/* grid_parts(grid, OUT lower bigint, OUT upper bigint, OUT exponent int) shows a grid. */
Datum
dp_grid_parts(PG_FUNCTION_ARGS)
{
	const DpGrid *grid = (const DpGrid *) PG_GETARG_POINTER(0);
	TupleDesc	desc;
	Datum		values[3];
	bool		nulls[3] = {false, false, false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[0] = Int64GetDatum(grid->lower);
	values[1] = Int64GetDatum(grid->upper);
	values[2] = Int32GetDatum(grid->exponent);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/* grid_value(steps numeric, grid, anyelement) -> anyelement returns steps (within +-2^94) as a released value. */
Datum
dp_grid_value_sql(PG_FUNCTION_ARGS)
{
	dp_i128		n;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || !dp_steps_numeric(PG_GETARG_DATUM(0), 0, &n))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(dp_grid_value(n, (const DpGrid *) PG_GETARG_POINTER(1),
								  get_fn_expr_rettype(fcinfo->flinfo)));
}

/* exact_sum_value(exact_sum, grid) -> numeric returns the sum without noise. */
Datum
dp_exact_sum_value(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(dp_grid_value(dp_exact_sum_get((const DpExactSum *) PG_GETARG_POINTER(0)),
								  (const DpGrid *) PG_GETARG_POINTER(1), NUMERICOID));
}

/* make_range(lower float8, upper float8, bins int, kind int) returns a range. */
Datum
dp_make_range(PG_FUNCTION_ARGS)
{
	DpRange		range;

	dp_range_make(PG_GETARG_FLOAT8(0), PG_GETARG_FLOAT8(1), PG_GETARG_INT32(2),
				  PG_GETARG_INT32(3), &range);
	PG_RETURN_DATUM(dp_range_datum(&range));
}

/* vector_counts(exact_vector) -> bigint[] returns the bins without noise. */
Datum
dp_vector_counts(PG_FUNCTION_ARGS)
{
	const DpExactVector *vector = (const DpExactVector *) PG_GETARG_POINTER(0);
	Datum	   *counts = palloc(sizeof(Datum) * vector->bins);
	dp_i128    *sums = palloc(sizeof(dp_i128) * vector->bins);

	memset(sums, 0, vector->bins * sizeof(dp_i128));
	dp_vector_add_to(vector, 1, sums);
	for (int i = 0; i < vector->bins; i++)
		counts[i] = Int64GetDatum((int64) sums[i]);
	PG_RETURN_ARRAYTYPE_P(construct_array(counts, vector->bins, INT8OID, 8, FLOAT8PASSBYVAL,
										  TYPALIGN_DOUBLE));
}

/* limited_sum_parts(limited_sum) returns, of each bin, its number, the sums of values and of shares, and how many units are first. */
Datum
dp_limited_sum_parts(PG_FUNCTION_ARGS)
{
	const DpLimitedSum *sum = (const DpLimitedSum *) PG_GETARG_POINTER(0);
	Datum	   *parts = palloc(sizeof(Datum) * 4 * Max(sum->nbins, 1));
	DpGrid		steps;
	int			n = 0;

	dp_grid_for_scaled(1, &steps);
	for (int i = 0; i < sum->nbins; i++)
	{
		const DpLimitedBin *bin = dp_limited_bins(sum) + i;

		/*
		 * values of units without bins that come to 0 may have come as one
		 * row, which adds nothing
		 */
		if (sum->bin[i] < 0 && dp_exact_sum_get(&bin->value) == 0)
			continue;
		parts[n++] = NumericGetDatum(int64_to_numeric(sum->bin[i]));
		parts[n++] = dp_grid_value(dp_exact_sum_get(&bin->value), &steps, NUMERICOID);
		parts[n++] = NumericGetDatum(int64_to_numeric(bin->share));
		parts[n++] = NumericGetDatum(int64_to_numeric(bin->first));
	}
	if (n == 0)
		PG_RETURN_NULL();
	PG_RETURN_ARRAYTYPE_P(construct_array(parts, n, NUMERICOID, -1, false, TYPALIGN_INT));
}
