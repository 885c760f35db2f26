/*-------------------------------------------------------------------------
 *
 * kept_draws.c
 *	  The noisy integers of a release whose answers are kept: read, drawn as a
 *	  increment of a better answer, or derived from a dearer one.
 *
 * An answer is the mean of its increments, each weighted by its share of rho
 * (math/refinement.h).  Increments have noise, and are bounded, by themselves: each reads
 * the rows that there were when it was bought.
 *
 * Invariants:
 * - An exact state is used once, for the increment that is bought of it.
 * - What is shown of a group follows from what is kept, so that it has the same
 *	 bytes each time.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "base/compat.h"
#include "base/errors.h"
#include "base/noise.h"
#include "base/settings.h"
#include "math/refinement.h"
#include "miscadmin.h"
#include "release/kept_int.h"

/* Returns the row type of the keys of a release, the first columns of its rows. */
static TupleDesc
keys_desc(const DpPricedRelease *priced, TupleDesc desc)
{
	TupleDesc	keys = CreateTemplateTupleDesc(priced->nkeys);

	for (int i = 0; i < priced->nkeys; i++)
		TupleDescCopyEntry(keys, i + 1, desc, i + 1);
	return dp_finish_tupdesc(keys);
}

/* Returns how many groups a release of declared keys has, -1 where they are selected. */
static int64
declared_groups(const DpPricedRelease *priced)
{
	return priced->release->selection >= 0 ? -1 : dp_declared_groups(priced->release, priced->tuples);
}

/* Sets what each part of a column has of the price of each increment. */
static void
set_shares(DpKeptColumn *kept, const DpPricedColumn *column)
{
	kept->shares = palloc(kept->nincrements * column->nparts * sizeof(int64));
	for (int i = 0; i < column->nparts; i++)
	{
		for (int j = 0; j < kept->nincrements; j++)
			kept->shares[i * kept->nincrements + j] = dp_part_share(column, i, kept->increments[j].rho);
	}
}

/* ------------------------------------------------------------------------
 * Deriving
 * ------------------------------------------------------------------------
 */

/* Turns draws of one part into those of a cheaper answer of the same increment. */
struct DpKeptStep
{
	bool		is_dearer;		/* the dearer neighbour is this answer, too
								 * ... */
	bool		is_cheaper;		/* ... or the cheaper one */
	bool		is_bridge;
	dp_gauss	gauss;			/* not a bridge: what is added */
	dp_bridge	bridge;
};

static void cannot_derive(const DpPricedColumn *settled) __attribute__((noreturn));

static void
cannot_derive(const DpPricedColumn *settled)
{
	dp_raise(BAD_PARAMETER,
			 errmsg("more noise cannot make the kept answer of %s one of this price; SET dp_cdp.rho higher, or SET dp_cdp.reuse = off",
					settled->desc->label));
}

/* Returns how much the noise of an answer exceeds that of its increment, as a variance. */
static dp_u128
extra(const DpKeptColumn *column, const DpPricedColumn *settled, int i, int64 rho)
{
	const DpPricedPart *part = &settled->parts[i];
	int64		increment = dp_part_share(settled, i, column->full->id.rho - column->id.below);
	dp_variance variance;
	dp_u128		result;

	if (!dp_calibrate(part->sens2, increment, &variance) ||
		!dp_refine_extra(part->sens2, increment, &variance, dp_part_share(settled, i, rho - column->id.below), &result))
		cannot_derive(settled);
	return result;
}

static void
prepare_step(const DpKeptColumn *column, const DpPricedColumn *settled, int i)
{
	struct DpKeptStep *step = &column->steps[i];
	dp_u128		dearer = extra(column, settled, i, column->dearer->id.rho);
	dp_u128		wanted = extra(column, settled, i, column->id.rho);
	dp_u128		cheaper = column->cheaper ? extra(column, settled, i, column->cheaper->id.rho) : 0;
	dp_variance added = {wanted - dearer, 1};

	step->is_dearer = wanted == dearer;
	step->is_cheaper = column->cheaper != NULL && wanted == cheaper;
	step->is_bridge = column->cheaper != NULL;
	if (step->is_dearer || step->is_cheaper)
		return;
	if (step->is_bridge ? !dp_bridge_init(&step->bridge, wanted - dearer, cheaper - wanted)
		: !dp_noise_prepare(&step->gauss, &added))
		cannot_derive(settled);
}

/* Returns a draw of the answer, from the draws of the neighbours. */
static dp_i128
derive_draw(const struct DpKeptStep *step, dp_i128 dearer, dp_i128 cheaper)
{
	if (step->is_dearer)
		return dearer;
	if (step->is_cheaper)
		return cheaper;
	return dearer + (step->is_bridge ? dp_noise_bridge(&step->bridge, cheaper - dearer) : dp_noise_gauss(&step->gauss));
}

/* Derives all values of a column from those of the next dearer answer of the increment. */
static void
derive_column(DpKeptColumn *column, int nparts)
{
	DpValueReader dearer;
	DpValueReader cheaper;
	dp_i128    *from = palloc(column->draws * sizeof(dp_i128));
	dp_i128    *to = palloc0(column->draws * sizeof(dp_i128));

	dp_read_values(&dearer, column->dearer->values, column->draws, -1);
	if (column->cheaper)
		dp_read_values(&cheaper, column->cheaper->values, column->draws, dearer.groups);
	for (int64 group = 0; group < dearer.groups; group++)
	{
		CHECK_FOR_INTERRUPTS();
		dp_read_group(&dearer, from);
		if (column->cheaper)
			dp_read_group(&cheaper, to);
		for (int i = 0; i < column->draws; i++)
			from[i] = derive_draw(&column->steps[nparts > 1 ? i : 0], from[i], to[i]);
		dp_write_group(&column->writer, from);
	}
	pfree(from);
	pfree(to);
}

/* Sets the standard deviation of what is shown, which is a mean, or has noise of two kinds. */
static void
set_sigma(const DpKeptColumn *column, DpPricedColumn *settled)
{
	dp_variance *variance = palloc(column->nincrements * sizeof(dp_variance));
	int			last = column->nincrements - 1;

	for (int i = 0; i < settled->nparts; i++)
	{
		const int64 *shares = &column->shares[i * column->nincrements];

		for (int j = 0; j < column->nincrements; j++)
		{
			if (!dp_calibrate(settled->parts[i].sens2, shares[j], &variance[j]))
				cannot_derive(settled);
		}
		if (column->full != NULL && column->full->id.rho > column->id.rho)
		{
			dp_u128		more = extra(column, settled, i, column->id.rho);
			dp_variance increment;

			(void) dp_calibrate(settled->parts[i].sens2, dp_part_share(settled, i, column->full->id.rho - column->id.below), &increment);
			dp_refine_variance(&increment, more, &variance[last]);
		}
		dp_set_sigma(settled, i, dp_refine_sigma(variance, shares, column->nincrements));
	}
	pfree(variance);
}

/* Returns how many bytes an answer has at most that is kept after it was bought. */
static Size
most_kept(void)
{
	return Min(DP_KEPT_MAX_BYTES, (Size) dp_guc_reuse_max_size * 1024);
}

void
dp_kept_set_noise(DpKept *kept)
{
	for (int i = 0; i < kept->ncolumns; i++)
	{
		set_shares(&kept->columns[i], &kept->priced->columns[i]);
		set_sigma(&kept->columns[i], &kept->priced->columns[i]);
	}
}

void
dp_kept_read_keys(DpKept *kept, TupleDesc desc)
{
	DpKeptColumn *selection = kept->selection >= 0 ? &kept->columns[kept->selection] : NULL;
	DpValueReader reader;

	kept->keys_desc = keys_desc(kept->priced, desc);
	if (selection == NULL || selection->how != DP_KEPT_GIVEN || kept->keys != NULL)
		return;
	dp_read_values(&reader, selection->increments[0].answer->values,
				   dp_answer_draws(&kept->priced->columns[kept->selection]), -1);
	kept->keys = dp_read_keys(&reader, kept->keys_desc);
}

void
dp_kept_begin(DpKept *kept, TupleDesc desc)
{
	DpPricedRelease *priced = kept->priced;
	int64		groups;

	dp_kept_set_noise(kept);
	dp_kept_read_keys(kept, desc);
	groups = kept->keys ? kept->keys->n : declared_groups(priced);
	for (int i = 0; i < kept->ncolumns; i++)
	{
		DpKeptColumn *column = &kept->columns[i];
		DpPricedColumn *settled = &priced->columns[i];

		column->draws = dp_answer_draws(settled);
		column->shown = palloc0(column->draws * sizeof(dp_i128));
		column->of_increments = palloc(column->nincrements * column->draws * sizeof(dp_i128));
		for (int j = 0; j < column->nincrements; j++)
		{
			if (column->increments[j].answer != NULL)
				dp_read_values(&column->increments[j].reader, column->increments[j].answer->values, column->draws, groups);
		}
		if (column->how == DP_KEPT_BOUGHT)
		{
			dp_price_increment(&column->increment, settled, column->id.rho - column->id.below);
			column->drawn = palloc0(column->draws * sizeof(dp_i128));
		}
		if (column->how == DP_KEPT_DERIVED)
		{
			column->steps = palloc0(settled->nparts * sizeof(struct DpKeptStep));
			for (int j = 0; j < settled->nparts; j++)
				prepare_step(column, settled, j);
		}
		if (column->how == DP_KEPT_BOUGHT || column->how == DP_KEPT_DERIVED)
			dp_begin_values(&column->writer, column->draws,
							column->how == DP_KEPT_BOUGHT && !column->has_duplicate ? most_kept() : DP_DERIVED_MAX_BYTES);
	}
}

/* Begins to read what was written for a column as the last increment of this one. */
static void
read_last_increment(DpKeptColumn *column, const DpKeptColumn *written)
{
	bytea	   *values = dp_end_values(&written->writer);

	if (values == NULL)
		elog(ERROR, "an answer is too long to be made another of");
	dp_read_values(&column->increments[column->nincrements - 1].reader, values, column->draws, -1);
}

/* Tells whether a column reads what its duplicate writes group by group, in the same run. */
static bool
is_drawn_along(const DpKept *kept, const DpKeptColumn *column)
{
	return column->how == DP_KEPT_DUPLICATE && column->duplicate->how == DP_KEPT_BOUGHT &&
		column->duplicate >= kept->columns && column->duplicate < kept->columns + kept->ncolumns;
}

void
dp_kept_derive(DpKept *kept)
{
	for (int i = 0; i < kept->ncolumns; i++)
	{
		DpKeptColumn *column = &kept->columns[i];

		if (column->how == DP_KEPT_DERIVED)
		{
			derive_column(column, kept->priced->columns[i].nparts);
			read_last_increment(column, column);
		}
		else if (column->how == DP_KEPT_DUPLICATE && !is_drawn_along(kept, column))
			read_last_increment(column, column->duplicate);
	}
}

/* ------------------------------------------------------------------------
 * Groups
 * ------------------------------------------------------------------------
 */

/* Sets the values that are shown of a group to the means of its increments. */
static void
show_mean(DpKeptColumn *column, int nparts)
{
	int			n = column->nincrements;
	dp_i128		increment[64];
	dp_i128    *values = n <= lengthof(increment) ? increment : palloc(n * sizeof(dp_i128));

	for (int i = 0; i < column->draws; i++)
	{
		const int64 *shares = &column->shares[(nparts > 1 ? i : 0) * n];

		for (int j = 0; j < n; j++)
			values[j] = column->of_increments[j * column->draws + i];
		column->shown[i] = dp_refine_mean(values, shares, n);
	}
	if (values != increment)
		pfree(values);
}

const dp_i128 *
dp_kept_group(DpKept *kept, int i, const dp_i128 *state)
{
	DpKeptColumn *column = &kept->columns[i];
	Size		size = column->draws * sizeof(dp_i128);

	if (column->how == DP_KEPT_BOUGHT)
		memcpy(column->drawn, dp_draw(&column->increment, state), size);
	for (int j = 0; j < column->nincrements; j++)
	{
		dp_i128    *values = column->of_increments + j * column->draws;

		if (column->increments[j].answer == NULL && column->how == DP_KEPT_BOUGHT)
			memcpy(values, column->drawn, size);
		else if (column->increments[j].answer == NULL && is_drawn_along(kept, column))
			memcpy(values, column->duplicate->drawn, size);
		else
			dp_read_group(&column->increments[j].reader, values);
	}
	if (column->nincrements == 1)
		return column->of_increments;
	show_mean(column, kept->priced->columns[i].nparts);
	return column->shown;
}

void
dp_kept_end_group(DpKept *kept, Datum *values, bool *nulls)
{
	for (int i = 0; i < kept->ncolumns; i++)
	{
		DpKeptColumn *column = &kept->columns[i];

		if (column->how != DP_KEPT_BOUGHT)
			continue;
		dp_write_group(&column->writer, column->drawn);
		if (i == kept->selection)
			dp_write_keys(&column->writer, kept->keys_desc, values, nulls);
	}
}

List *
dp_kept_values(DpKept *kept)
{
	List	   *list = NIL;

	for (int i = 0; i < kept->ncolumns; i++)
	{
		DpKeptColumn *column = &kept->columns[i];
		DpKeptValues *values;

		if (column->how == DP_KEPT_GIVEN || column->how == DP_KEPT_DUPLICATE)
			continue;
		values = palloc0(sizeof(DpKeptValues));
		values->id = column->id;
		values->values = dp_end_values(&column->writer);
		if (column->how == DP_KEPT_BOUGHT && values->values != NULL && VARSIZE(values->values) > most_kept())
			values->values = NULL;
		list = lappend(list, values);
	}
	return list;
}
