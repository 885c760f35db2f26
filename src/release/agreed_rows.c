/*-------------------------------------------------------------------------
 *
 * agreed_rows.c
 *	  What counts and sums of grouping sets become where they agree (agree.c).
 *
 * Invariants:
 * - What was drawn and prices decide, and nothing of protected rows.
 * - Answers agree in whole steps of their grid, or in the decimals that a numeric is shown with, so that they add up exactly.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/compat.h"
#include "release/agree_int.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

static dp_i128
power_of_ten(int decimals)
{
	dp_i128		power = 1;

	while (decimals-- > 0)
		power *= 10;
	return power;
}

/* Turns what was drawn, in 2^-shift of steps, into steps of the grid, rounded. */
static void
drawn_to_steps(DpPricedColumn *column)
{
	int			shift = column->parts[0].shift;
	dp_i128		half = ((dp_i128) 1 << shift) / 2;

	for (int64 i = 0; i < column->ndrawn; i++)
		column->drawn[i] = (column->drawn[i] + half) >> shift;
}

/* Turns steps into decimals, rounded, within what fits. */
static void
steps_to_decimals(const DpAgreedColumn *agreed, dp_i128 *values, int64 n)
{
	dp_i128		power = power_of_ten(agreed->decimals);
	dp_i128		most = ((dp_i128) 1 << 125) / power;
	dp_i128		half = (dp_i128) 1 << (-agreed->exponent - 1);

	for (int64 i = 0; i < n; i++)
		values[i] = (Max(Min(values[i], most), -most) * power + half) >> -agreed->exponent;
}

/* Returns a number of units of 10^-decimals as a numeric. */
static Datum
decimals_to_numeric(dp_i128 n, int decimals)
{
	dp_i128		power = power_of_ten(decimals);
	dp_i128		size = n < 0 ? -n : n;
	dp_i128		whole = size / power;
	dp_i128		high = whole / power_of_ten(18);
	char	   *text;

	/* at most 2^125, which has 38 digits */
	if (high > 0)
		text = psprintf("%s%lld%018lld.%0*lld", n < 0 ? "-" : "", (long long) high, (long long) (whole % power_of_ten(18)),
						decimals, (long long) (size % power));

	else
		text = psprintf("%s%lld.%0*lld", n < 0 ? "-" : "", (long long) whole, decimals, (long long) (size % power));

	return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* Replaces what was drawn of one aggregate. */
static void
settle_column(const DpAgreement *a, const DpAgreedColumn *agreed)
{
	const dp_marginals *m = &agreed->marginals;
	dp_i128    *values[DP_MAX_MARGINALS];
	Size		cells = 0;
	double	   *work;
	dp_i128    *agreed_values;

	for (int i = 0; i < a->n; i++)
	{
		DpPricedColumn *column = &a->sets[i]->columns[agreed->columns[i]];

		values[i] = column->drawn;
		drawn_to_steps(column);
		if (agreed->decimals > 0)
			steps_to_decimals(agreed, column->drawn, column->ndrawn);
		if (column->ndrawn != column->expected)
			elog(ERROR, "a grouping set has fewer groups than are declared");
	}
	for (int i = 0; i < a->n; i++)
		cells += (Size) dp_marginal_cells(m, m->axes[i]);
	work = MemoryContextAllocExtended(CurrentMemoryContext, cells * sizeof(double), MCXT_ALLOC_HUGE);
	agreed_values = MemoryContextAllocExtended(CurrentMemoryContext, cells * sizeof(dp_i128), MCXT_ALLOC_HUGE);
	dp_marginals_agree(m, values, agreed_values, work);
	pfree(agreed_values);
	pfree(work);
}

/* Puts the answers of one group into its released row. */
static void
rewrite_row(DpPricedRelease *set, int64 row, Datum *values, bool *nulls)
{
	int			out = set->nkeys;
	int			errors = out;

	for (int i = 0; i < set->ncolumns; i++)
		errors += set->columns[i].desc->hidden ? 0 : 1;
	for (int i = 0; i < set->ncolumns; i++)
	{
		DpPricedColumn *column = &set->columns[i];
		DpAnswerError error = {0};

		if (column->desc->hidden)
			continue;
		/* of a group with few units there is no answer (min_units.c) */
		if (column->is_agreed && !nulls[out])
		{
			dp_i128		steps = column->drawn[row] * ((dp_i128) 1 << column->parts[0].shift);

			if (column->decimals > 0)
			{
				values[out] = decimals_to_numeric(column->drawn[row], column->decimals);
				error.value = (double) column->drawn[row] / pow(10, column->decimals);
				error.stddev = column->sigma;
			}
			else
				values[out] = dp_answer_of_draws(column, &steps, &error);
			nulls[out] = error.isnull;
		}
		out++;
		for (int kind = 0; kind < DP_COMPANIONS; kind++)
		{
			if ((column->desc->companions & (1 << kind)) == 0)
				continue;
			if (column->is_agreed && kind != DP_COMPANION_CUT && !nulls[errors])
				values[errors] = Float8GetDatum(dp_companion_value(column, kind, &error));
			errors++;
		}
	}
}

/* Writes the released rows of a set anew. */
static void
rewrite_rows(DpRun *run, MemoryContext context)
{
	DpPricedRelease *set = run->priced;
	MemoryContext old = MemoryContextSwitchTo(context);
	DpRows	   *rows = dp_rows_begin(run->desc);
	MemoryContext row_context = AllocSetContextCreate(context, "dp_cdp agreed row", ALLOCSET_DEFAULT_SIZES);
	DpRowsReader reader = {.stored = MakeSingleTupleTableSlot(run->desc, &TTSOpsMinimalTuple)};
	Datum	   *read_values;
	bool	   *read_nulls;
	Datum	   *values = palloc(sizeof(Datum) * Max(run->desc->natts, 1));
	bool	   *nulls = palloc(sizeof(bool) * Max(run->desc->natts, 1));

	/*
	 * a row that comes from disk is the slot's until the next one is there,
	 * so that it must not go with row_context
	 */
	for (int64 row = 0; dp_rows_read(run->rows, &reader, true, &read_values, &read_nulls); row++)
	{
		CHECK_FOR_INTERRUPTS();
		memcpy(values, read_values, run->desc->natts * sizeof(Datum));
		memcpy(nulls, read_nulls, run->desc->natts * sizeof(bool));
		MemoryContextSwitchTo(row_context);
		rewrite_row(set, row, values, nulls);
		dp_rows_put(rows, values, nulls);
		MemoryContextSwitchTo(context);
		MemoryContextReset(row_context);
	}
	MemoryContextSwitchTo(old);
	ExecDropSingleTupleTableSlot(reader.stored);
	MemoryContextDelete(row_context);
	dp_rows_end(run->rows);
	run->rows = rows;
}

void
dp_agree_rows(DpAgreement *a, MemoryContext context)
{
	foreach_ptr(const DpAgreedColumn, agreed, a->columns)
	{
		if (a->sets[0]->columns[agreed->columns[0]].is_agreed)
			settle_column(a, agreed);
	}
	for (int i = 0; i < a->n; i++)
		rewrite_rows(a->runs[i], context);
}
