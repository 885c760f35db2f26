/*-------------------------------------------------------------------------
 *
 * text_form.c
 *	  Grids, ranges and specs as text, in which they travel to the workers of
 *	  a cluster.
 *
 * Citus sends queries as text, and constants of a type in the type's own form.
 * What is written here are bounds and a seed, never data.  In databases without
 * Citus there is no such form, neither way.
 *
 * Invariant: whatever is read here satisfies all that the functions of rows
 * rest on (grid.c, range.c, bounding/unit.c), since anybody may write it: every
 * number is checked, and what follows from others is computed anew.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "agg/bounding/state.h"
#include "agg/exact/grid.h"
#include "base/distributed.h"

PG_FUNCTION_INFO_V1(dp_grid_in);
PG_FUNCTION_INFO_V1(dp_grid_out);
PG_FUNCTION_INFO_V1(dp_range_in);
PG_FUNCTION_INFO_V1(dp_range_out);
PG_FUNCTION_INFO_V1(dp_bound_spec_in);
PG_FUNCTION_INFO_V1(dp_bound_spec_out);

extern Datum dp_state_in(PG_FUNCTION_ARGS);
extern Datum dp_state_out(PG_FUNCTION_ARGS);

/* a text that is read number by number */
typedef struct Reader
{
	const char *rest;
	bool		failed;
} Reader;

static int64
read_number(Reader *r, int64 least, int64 most)
{
	char	   *end;
	int64		n;

	errno = 0;
	n = strtoll(r->rest, &end, 10);
	if (end == r->rest || errno != 0 || n < least || n > most || (*end != ' ' && *end != '\0'))
	{
		r->failed = true;
		return least;
	}
	r->rest = end;
	return n;
}

/* Reads a double by its bits, so that none is rounded. */
static double
read_double(Reader *r)
{
	int64		bits = read_number(r, PG_INT64_MIN, PG_INT64_MAX);
	double		x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static void
write_double(StringInfo text, double x)
{
	int64		bits;

	memcpy(&bits, &x, sizeof(bits));
	appendStringInfo(text, " " INT64_FORMAT, bits);
}

static void
read_grid(Reader *r, DpGrid *grid)
{
	memset(grid, 0, sizeof(DpGrid));
	grid->lower = read_number(r, -DP_UNIT_ROW_LIMIT, DP_UNIT_ROW_LIMIT);
	grid->upper = read_number(r, grid->lower, DP_UNIT_ROW_LIMIT);
	grid->exponent = read_number(r, DP_MIN_EXPONENT, DP_MAX_EXPONENT);
	grid->scale = ldexp(1.0, -grid->exponent);
}

static void
write_grid(StringInfo text, const DpGrid *grid)
{
	appendStringInfo(text, " " INT64_FORMAT " " INT64_FORMAT " %d", grid->lower, grid->upper, grid->exponent);
}

/* Refuses what is no such text, as in databases that know none. */
static void
check_end(FunctionCallInfo fcinfo, Reader *r)
{
	if (r->failed || *r->rest != '\0')
		(void) dp_state_in(fcinfo);
}

static void
begin(FunctionCallInfo fcinfo, Reader *r)
{
	if (!dp_has_citus())
		(void) dp_state_in(fcinfo);
	r->rest = PG_GETARG_CSTRING(0);
	r->failed = false;
}

/* Returns a text as a result, without the space that begins it. */
static Datum
result(StringInfo text)
{
	PG_RETURN_CSTRING(pstrdup(text->data + 1));
}

Datum
dp_grid_in(PG_FUNCTION_ARGS)
{
	Reader		r;
	DpGrid		grid;

	begin(fcinfo, &r);
	read_grid(&r, &grid);
	check_end(fcinfo, &r);
	PG_RETURN_DATUM(dp_grid_datum(&grid));
}

Datum
dp_grid_out(PG_FUNCTION_ARGS)
{
	StringInfoData text;

	if (!dp_has_citus())
		return dp_state_out(fcinfo);
	initStringInfo(&text);
	write_grid(&text, (const DpGrid *) PG_GETARG_POINTER(0));
	return result(&text);
}

Datum
dp_range_in(PG_FUNCTION_ARGS)
{
	Reader		r;
	DpRange		range;
	double		lower;
	double		upper;
	int			bins;
	int			kind;

	begin(fcinfo, &r);
	lower = read_double(&r);
	upper = read_double(&r);
	kind = read_number(&r, DP_RANGE_LINEAR, DP_RANGE_OUTSIDE);
	bins = read_number(&r, 1, DP_MAX_BINS);
	check_end(fcinfo, &r);
	dp_range_make(lower, upper, bins, kind, &range);
	PG_RETURN_DATUM(dp_range_datum(&range));
}

Datum
dp_range_out(PG_FUNCTION_ARGS)
{
	const DpRange *range = (const DpRange *) PG_GETARG_POINTER(0);
	StringInfoData text;

	if (!dp_has_citus())
		return dp_state_out(fcinfo);
	initStringInfo(&text);
	write_double(&text, range->lower);
	write_double(&text, range->upper);
	appendStringInfo(&text, " %d %d", range->kind, range->bins);
	return result(&text);
}

Datum
dp_bound_spec_in(PG_FUNCTION_ARGS)
{
	Reader		r;
	int			nkeys;
	int			max_groups;
	int			nvalues;
	uint64		seed[2];
	DpValueKind kinds[DP_MAX_VALUES];
	DpGrid		grids[DP_MAX_VALUES];
	int			rows[DP_MAX_VALUES];
	DpRowLimits limits[DP_MAX_VALUES];
	int			groups[DP_MAX_VALUES];
	DpValueNorm norm_of[DP_MAX_VALUES];
	int			nnorms;
	DpNormSpec *norms;

	begin(fcinfo, &r);
	nkeys = read_number(&r, 0, DP_MAX_KEYS);
	max_groups = read_number(&r, 1, PG_INT32_MAX);
	for (int i = 0; i < 2; i++)
		seed[i] = read_number(&r, PG_INT64_MIN, PG_INT64_MAX);
	nvalues = read_number(&r, 0, DP_MAX_VALUES);
	for (int i = 0; i < nvalues && !r.failed; i++)
	{
		kinds[i] = read_number(&r, DP_VALUE_COUNT, DP_VALUE_CUT);
		rows[i] = read_number(&r, 0, DP_MAX_VALUES);
		read_grid(&r, &grids[i]);
		limits[i].lower = read_number(&r, -DP_UNIT_ROW_LIMIT, DP_UNIT_ROW_LIMIT);
		limits[i].upper = read_number(&r, limits[i].lower, DP_UNIT_ROW_LIMIT);
		groups[i] = read_number(&r, 1, PG_INT32_MAX);
		norm_of[i].norm = read_number(&r, -1, DP_MAX_VALUES);
		norm_of[i].shift = read_number(&r, 0, 32);
	}
	nnorms = read_number(&r, 0, DP_MAX_VALUES);
	norms = palloc0(Max(nnorms, 1) * sizeof(DpNormSpec));
	for (int l = 0; l < nnorms && !r.failed; l++)
	{
		norms[l].value = read_number(&r, 0, DP_MAX_VALUES);
		norms[l].nlimits = read_number(&r, 0, DP_MAX_NORM_LIMITS);
		for (int i = 0; i < norms[l].nlimits; i++)
			norms[l].limit[i] = read_number(&r, 1, DP_MOST_NORM);
	}
	check_end(fcinfo, &r);
	PG_RETURN_POINTER(dp_bound_spec_make(nkeys, nvalues, max_groups, seed, kinds, grids, rows, limits, groups, norm_of, nnorms, norms));
}

Datum
dp_bound_spec_out(PG_FUNCTION_ARGS)
{
	const DpBoundSpec *spec = (const DpBoundSpec *) PG_GETARG_POINTER(0);
	StringInfoData text;

	if (!dp_has_citus())
		return dp_state_out(fcinfo);
	initStringInfo(&text);
	appendStringInfo(&text, " %d %d " INT64_FORMAT " " INT64_FORMAT " %d", spec->nkeys, spec->max_groups,
					 (int64) spec->seed[0], (int64) spec->seed[1], spec->nvalues);
	for (int i = 0; i < spec->nvalues; i++)
	{
		appendStringInfo(&text, " %d %d", spec->value[i].kind, spec->value[i].rows);
		write_grid(&text, &spec->value[i].grid);
		appendStringInfo(&text, " " INT64_FORMAT " " INT64_FORMAT " %d %d %d", spec->value[i].row.lower, spec->value[i].row.upper,
						 spec->value[i].groups, spec->value[i].norm, spec->value[i].shift);
	}
	appendStringInfo(&text, " %d", spec->nnorms);
	for (int l = 0; l < spec->nnorms; l++)
	{
		const DpNormSpec *norm = &dp_spec_norms(spec)[l];

		appendStringInfo(&text, " %d %d", norm->value, norm->nlimits);
		for (int i = 0; i < norm->nlimits; i++)
			appendStringInfo(&text, " " INT64_FORMAT, norm->limit[i]);
	}
	return result(&text);
}
