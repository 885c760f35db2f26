/*-------------------------------------------------------------------------
 *
 * cells.c
 *	  Rows as entries of cells, which the servers of a cluster add up.
 *
 * A server that adds up with PostgreSQL's own aggregates alone knows sums of
 * integers, and no histogram.  So all that a row adds to a group becomes rows
 * of a cell and a number: the cell of a total is that of its argument, that of
 * a code also has the code.  A sum of the numbers of each cell is then
 * all there is to know, whatever server adds up which rows.
 *
 * Both functions return as many rows, so that in one target list they are
 * columns of the same.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "agg/agg.h"
#include "agg/bounding/state.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"

PG_FUNCTION_INFO_V1(dp_entry_cells);
PG_FUNCTION_INFO_V1(dp_entry_totals);

/* what a row adds to cells */
typedef struct Entries
{
	int			n;
	int64	   *cell;
	int64	   *total;
} Entries;

static void
add_entry(Entries *e, int64 cell, int64 total)
{
	e->cell[e->n] = cell;
	e->total[e->n++] = total;
}

/* Returns the most entries that the arguments make. */
static int
count_entries(FunctionCallInfo fcinfo)
{
	int			n = 1;

	for (int i = 0; i < PG_NARGS(); i++)
	{
		Oid			type = get_fn_expr_argtype(fcinfo->flinfo, i);

		if (!PG_ARGISNULL(i) && (type == INT4ARRAYOID || type == INT8ARRAYOID))
			n += ArrayGetNItems(ARR_NDIM(PG_GETARG_ARRAYTYPE_P(i)), ARR_DIMS(PG_GETARG_ARRAYTYPE_P(i)));
		else
			n++;
	}
	return n;
}

static void
add_argument(FunctionCallInfo fcinfo, int i, Entries *e)
{
	const int32 *codes;
	const int64 *shares;
	int			n;

	switch (get_fn_expr_argtype(fcinfo->flinfo, i))
	{
		case INT8OID:
			add_entry(e, DP_CELL(i, 0), PG_GETARG_INT64(i));
			break;
		case INT4OID:
			add_entry(e, DP_CELL(i, PG_GETARG_INT32(i)), 1);
			break;
		case INT4ARRAYOID:
			codes = dp_array_of_codes(PG_GETARG_ARRAYTYPE_P(i), &n);
			for (int j = 0; j < n; j++)
				add_entry(e, DP_CELL(i, codes[j]), 1);
			break;
		case INT8ARRAYOID:
			shares = dp_array_of_codes(PG_GETARG_ARRAYTYPE_P(i), &n);
			for (int j = 1; j < n; j++)
				add_entry(e, DP_CELL(i, shares[j]), shares[0]);
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("totals must be of type bigint, and codes of type integer, integer[] or, after what each counts, bigint[]")));
	}
}

/* Returns a row's next cell, or with totals its number; a row that adds nothing has an entry of no cell, so that its group is there. */
static Datum
next_entry(FunctionCallInfo fcinfo, bool totals)
{
	FuncCallContext *call;
	Entries    *e;
	int64		next;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;
		int			most = count_entries(fcinfo);

		call = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(call->multi_call_memory_ctx);
		call->user_fctx = e = palloc0(sizeof(Entries));
		e->cell = palloc(most * sizeof(int64));
		e->total = palloc(most * sizeof(int64));
		for (int i = 0; i < PG_NARGS(); i++)
		{
			if (!PG_ARGISNULL(i))
				add_argument(fcinfo, i, e);
		}
		if (e->n == 0)
			add_entry(e, DP_NO_CELL, 0);
		MemoryContextSwitchTo(old);
	}
	call = SRF_PERCALL_SETUP();
	e = call->user_fctx;
	if (call->call_cntr >= e->n)
		SRF_RETURN_DONE(call);
	next = totals ? e->total[call->call_cntr] : e->cell[call->call_cntr];
	SRF_RETURN_NEXT(call, Int64GetDatum(next));
}

/* entry_cells(VARIADIC "any") -> SETOF bigint; not strict. */
Datum
dp_entry_cells(PG_FUNCTION_ARGS)
{
	return next_entry(fcinfo, false);
}

/* entry_totals(VARIADIC "any") -> SETOF bigint; not strict. */
Datum
dp_entry_totals(PG_FUNCTION_ARGS)
{
	return next_entry(fcinfo, true);
}
