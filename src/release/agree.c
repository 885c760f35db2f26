/*-------------------------------------------------------------------------
 *
 * agree.c
 *	  Counts and sums of GROUPING SETS that add up.
 *
 * Each grouping set is a release of its own with noise of its own.  Where
 * dp_cdp.consistent is on, or the dataset's default, sets of one query whose keys are all declared are run together,
 * and their counts and sums are replaced by those that weighted least squares makes of all
 * of them (math/marginals.h): each margin is the sum of the finer cells then, exactly, and
 * no answer is noisier than it was.  Where none has all keys, what agrees are the sums by keys that sets share.
 *
 * Invariants:
 * - What is computed here depends on noisy answers, and on prices, sizes and keys, which are public: it
 *	 is post-processing and costs nothing.
 * - Whether answers are made to agree is known before any is drawn.
 * - What is kept of an answer is what was drawn: the same kept answers agree in the same way each time.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/settings.h"
#include "catalog/pg_type.h"
#include "math/marginals.h"
#include "policy/policy.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

/* bits behind the point of a numeric sum: its decimals are 10^15 at most, and 2^77 steps of it fit in 128 bits */
#define MOST_DIGITS 48

/* one aggregate in all sets */
typedef struct AgreedColumn
{
	int			columns[DP_MAX_MARGINALS];	/* of each release */
	dp_marginals marginals;
	int			exponent;		/* of the grid that its answers are drawn on */
	int			decimals;		/* that answers are shown with, which make
								 * them agree; 0: they agree in steps */
} AgreedColumn;

/* the sets of one query that agree */
typedef struct DpAgreement
{
	int			n;
	DpPricedRelease *sets[DP_MAX_MARGINALS];
	DpRun	   *runs[DP_MAX_MARGINALS]; /* NULL: nothing is run */
	List	   *columns;		/* AgreedColumn */
	bool		has_begun;
	bool		has_ended;
} DpAgreement;

bool
dp_wants_consistent(const DpDataset *dataset)
{
	return dp_guc_consistent >= 0 ? dp_guc_consistent > 0 : dataset->consistent;
}

/* ------------------------------------------------------------------------
 * Which answers agree
 * ------------------------------------------------------------------------
 */

static bool
same_domain(const DpKeySet *a, const DpKeySet *b)
{
	return a->null_key == b->null_key && equal(a->domain, b->domain);
}

/*
 * Adds the axes of a set to the shape, as bits; false if it cannot be: their keys are
 * lists, the same in all sets, and in one order.
 */
static bool
add_axes(const DpPricedRelease *set, const DpKeySet **keys, dp_marginals *shape)
{
	const DpRelease *release = set->release;
	uint32		axes = 0;
	int			last = -1;
	ListCell   *lc;

	if (release->selection >= 0 || set->before[DP_FINDS_BOUNDS] != NULL ||
		list_length(release->axes) != set->nkeys || list_length(release->key_sets) != set->nkeys)
		return false;
	foreach(lc, release->axes)
	{
		int			axis = lfirst_int(lc);
		const DpKeySet *set_keys = list_nth(release->key_sets, foreach_current_index(lc));

		if (axis <= last || axis >= DP_MAX_AXES || set_keys->domain == NULL ||
			dp_list_size(set_keys->domain) + (set_keys->null_key ? 1 : 0) == 0 ||
			(keys[axis] != NULL && !same_domain(keys[axis], set_keys)))
			return false;
		axes |= (uint32) 1 << axis;
		last = axis;
	}
	foreach(lc, release->axes)
	{
		int			axis = lfirst_int(lc);

		keys[axis] = list_nth(release->key_sets, foreach_current_index(lc));
		shape->size[axis] = dp_list_size(keys[axis]->domain) + (keys[axis]->null_key ? 1 : 0);
		shape->naxes = Max(shape->naxes, axis + 1);
	}
	shape->axes[shape->n++] = axes;
	return true;
}

/*
 * Tells whether groups of the column add up: rows are counted or summed up, not units, and
 * not what has been found since.  A norm limits each set by itself, so that finer sets lose more.
 */
static bool
adds_up(const DpPricedRelease *set, const DpPricedColumn *column)
{
	const DpReleaseColumn *desc = column->desc;

	return desc->answer == DP_ANSWER_SUM && !desc->hidden && !column->later && column->nlimits == 0 && column->nparts == 1 &&
		(desc->kind == DP_VALUE_COUNT || desc->kind == DP_VALUE_SUM ||
		 (desc->kind == DP_VALUE_UNITS && !set->release->has_unit));
}

/* Returns the step of a column's answers, in the unit of its sigma. */
static double
column_step(const DpPricedColumn *column)
{
	return column->desc->kind == DP_VALUE_SUM ? dp_grid_step(&column->parts[0].grid) : 1;
}

/* Tells whether two columns count or sum up the same, in the same steps. */
static bool
same_values(const DpPricedColumn *a, const DpPricedColumn *b)
{
	return a->desc->kind == b->desc->kind && a->desc->location == b->desc->location &&
		strcmp(a->desc->label, b->desc->label) == 0 && a->desc->result_type == b->desc->result_type &&
		a->parts[0].grid.exponent == b->parts[0].grid.exponent &&
		a->rows.known == b->rows.known && a->rows.lower == b->rows.lower && a->rows.upper == b->rows.upper;
}

/* Returns the one column of a set that is the same as a column; -1: none, or several. */
static int
find_column(const DpPricedRelease *set, const DpPricedColumn *column)
{
	int			found = -1;

	for (int i = 0; i < set->ncolumns; i++)
	{
		if (!adds_up(set, &set->columns[i]) || !same_values(&set->columns[i], column))
			continue;
		if (found >= 0)
			return -1;
		found = i;
	}
	return found;
}

/*
 * Sets the decimals in which sums agree: of type numeric, which are rounded to the decimals of a
 * step (dp_grid_value).  False where the numbers would be too long.
 */
static bool
set_decimals(AgreedColumn *agreed, const DpPricedColumn *column)
{
	agreed->exponent = column->parts[0].grid.exponent;
	agreed->decimals = 0;
	if (agreed->exponent >= 0 || column->desc->result_type == FLOAT8OID || column->desc->result_type == FLOAT4OID)
		return true;
	agreed->decimals = (int) ceil(-agreed->exponent * 0.30103);
	return column->desc->result_type == NUMERICOID && agreed->exponent >= -MOST_DIGITS;
}

/* Tells whether no set's answers become noisier, rounding to whole steps included. */
static bool
is_worth_it(const dp_marginals *m, double step)
{
	for (int i = 0; i < m->n; i++)
	{
		double		variance = dp_marginal_variance(m, m->axes[i]) + dp_marginal_rounding(m, m->axes[i]) * step * step;

		if (variance * m->information[i] > 1)
			return false;
	}
	return true;
}

/* Adds a column of the first set to an agreement, if all sets have it. */
static void
agree_on(DpAgreement *a, const dp_marginals *shape, const DpPricedColumn *column)
{
	AgreedColumn *agreed = palloc(sizeof(AgreedColumn));

	agreed->marginals = *shape;
	for (int i = 0; i < a->n; i++)
	{
		double		sigma;

		agreed->columns[i] = find_column(a->sets[i], column);
		if (agreed->columns[i] < 0)
			return;
		sigma = a->sets[i]->columns[agreed->columns[i]].sigma;
		if (!(sigma > 0))
			return;
		agreed->marginals.information[i] = 1 / (sigma * sigma);
	}
	if (set_decimals(agreed, column) && is_worth_it(&agreed->marginals, column_step(column)))
		a->columns = lappend(a->columns, agreed);
}

/* Tells whether the tables of all sets and the work on them find room, beside what a release holds while it runs. */
static bool
has_room(const DpAgreement *a, const dp_marginals *shape)
{
	double		bytes = 0;
	int64		most = 0;

	for (int i = 0; i < a->n; i++)
	{
		bytes += dp_marginal_cells(shape, shape->axes[i]) *
			(sizeof(dp_i128) * (a->sets[i]->ncolumns + 1) + sizeof(double));
		most = Max(most, a->sets[i]->memory);
	}
	return bytes + most <= dp_allowed_memory(a->sets[0]->dataset);
}

/* Tells whether a set is there twice: both may be shown the same kept answer, which is to be weighed once. */
static bool
has_one_twice(const dp_marginals *shape)
{
	for (int i = 0; i < shape->n; i++)
		for (int j = 0; j < i; j++)
			if (shape->axes[i] == shape->axes[j])
				return true;
	return false;
}

/* Orders sets by how many keys they have, most first. */
static int
compare_keys(const ListCell *a, const ListCell *b)
{
	return ((DpPricedRelease *) lfirst(b))->nkeys - ((DpPricedRelease *) lfirst(a))->nkeys;
}

/* Settles why sets that were to agree do not. */
static void
keep_apart(List *sets, const char *why)
{
	ListCell   *lc;

	foreach(lc, sets)
	{
		if (((DpPricedRelease *) lfirst(lc))->apart == NULL)
			((DpPricedRelease *) lfirst(lc))->apart = why;
	}
}

/* Returns the agreement of the releases that bear one name; NULL: they stay as they are. */
static DpAgreement *
settle_agreement(const char *together, List *releases)
{
	DpAgreement *a = palloc0(sizeof(DpAgreement));
	dp_marginals shape = {0};
	const DpKeySet *keys[DP_MAX_AXES] = {NULL};
	List	   *sets = NIL;
	DpPricedRelease *first;
	ListCell   *lc;

	foreach(lc, releases)
	{
		DpPricedRelease *set = lfirst(lc);

		if (set->release->together != NULL && strcmp(set->release->together, together) == 0)
			sets = lappend(sets, set);
	}

	/*
	 * the finest says what values a key has; sets with others stay as they
	 * are
	 */
	list_sort(sets, compare_keys);
	foreach(lc, sets)
	{
		if (a->n < DP_MAX_MARGINALS && add_axes(lfirst(lc), keys, &shape))
			a->sets[a->n++] = lfirst(lc);
		else
			keep_apart(list_make1(lfirst(lc)), "its keys are not lists of the values that they have in the finest set");
	}
	/* an axis of sets alone that stay as they are */
	for (int i = 0; i < shape.naxes; i++)
		shape.size[i] = Max(shape.size[i], 1);
	if (a->n < 2)
		keep_apart(sets, "there is no other set that could agree with it");
	else if (has_one_twice(&shape))
		keep_apart(sets, "one of the sets is there twice");
	else if (!has_room(a, &shape))
		keep_apart(sets, "there is no room for the cells of all sets at once (dp_cdp.release_memory)");
	if (a->n < 2 || a->sets[0]->apart != NULL)
		return NULL;
	first = a->sets[0];
	for (int i = 0; i < first->ncolumns; i++)
		if (adds_up(first, &first->columns[i]) && find_column(first, &first->columns[i]) == i)
			agree_on(a, &shape, &first->columns[i]);
	if (a->columns == NIL)
	{
		keep_apart(sets, "there is no count or sum of rows that none of the sets has noisier then");
		return NULL;
	}
	for (int i = 0; i < a->n; i++)
		a->sets[i]->agreement = a;
	return a;
}

/* Sets the noise of what agrees. */
static void
apply_agreement(DpAgreement *a)
{
	ListCell   *lc;

	foreach(lc, a->columns)
	{
		const AgreedColumn *agreed = lfirst(lc);
		const dp_marginals *m = &agreed->marginals;

		for (int i = 0; i < a->n; i++)
		{
			DpPricedColumn *column = &a->sets[i]->columns[agreed->columns[i]];
			double		step = column_step(column);

			column->is_agreed = true;
			column->decimals = agreed->decimals;
			column->sigma = sqrt(dp_marginal_variance(m, m->axes[i]) + dp_marginal_rounding(m, m->axes[i]) * step * step);
		}
	}
}

List *
dp_foresee_agreement(List *releases)
{
	List	   *names = NIL;
	List	   *agreements = NIL;
	ListCell   *lc;

	foreach(lc, releases)
	{
		DpPricedRelease *release = lfirst(lc);

		if (release->release->together != NULL && dp_wants_consistent(release->dataset))
			names = list_append_unique(names, makeString(release->release->together));
	}
	foreach(lc, names)
	{
		DpAgreement *a = settle_agreement(strVal(lfirst(lc)), releases);

		if (a != NULL)
			agreements = lappend(agreements, a);
	}
	return agreements;
}

void
dp_agree(List *releases)
{
	ListCell   *lc;

	foreach(lc, dp_foresee_agreement(releases))
		apply_agreement(lfirst(lc));
}

/* ------------------------------------------------------------------------
 * What they become
 * ------------------------------------------------------------------------
 */

void
dp_agree_run(DpPricedRelease *priced, DpRun *run)
{
	DpAgreement *a = priced->agreement;

	for (int i = 0; a != NULL && i < a->n; i++)
		if (a->sets[i] == priced)
			a->runs[i] = run;
}

void
dp_agree_drawn(DpPricedColumn *column, dp_i128 noisy)
{
	if (column->ndrawn >= column->expected)
		elog(ERROR, "a grouping set has more groups than are declared");
	column->drawn[column->ndrawn++] = noisy;
}

/* Makes room for what a set draws. */
static void
expect_draws(DpAgreement *a, MemoryContext context)
{
	ListCell   *lc;

	foreach(lc, a->columns)
	{
		const AgreedColumn *agreed = lfirst(lc);

		for (int i = 0; i < a->n; i++)
		{
			DpPricedColumn *column = &a->sets[i]->columns[agreed->columns[i]];
			Size		cells = (Size) dp_marginal_cells(&agreed->marginals, agreed->marginals.axes[i]);

			column->drawn = MemoryContextAllocExtended(context, cells * sizeof(dp_i128), MCXT_ALLOC_HUGE);
			column->ndrawn = 0;
			column->expected = cells;
		}
	}
}

static dp_i128
power_of_ten(int decimals)
{
	dp_i128		power = 1;

	while (decimals-- > 0)
		power *= 10;
	return power;
}

/* Turns steps into decimals, rounded, within what fits. */
static void
steps_to_decimals(const AgreedColumn *agreed, dp_i128 *values, int64 n)
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
settle_column(const DpAgreement *a, const AgreedColumn *agreed)
{
	const dp_marginals *m = &agreed->marginals;
	dp_i128    *values[DP_MAX_MARGINALS];
	Size		cells = 0;
	double	   *work;
	dp_i128    *agreed_values;

	for (int i = 0; i < a->n; i++)
	{
		const DpPricedColumn *column = &a->sets[i]->columns[agreed->columns[i]];

		values[i] = column->drawn;
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

		if (column->desc->hidden)
			continue;
		if (column->is_agreed)
		{
			DpAnswerError error = {0};

			values[out] = column->decimals > 0 ? decimals_to_numeric(column->drawn[row], column->decimals)
				: dp_answer_of_draws(column, &column->drawn[row], &error);
			nulls[out] = error.isnull;
		}
		out++;
		for (int kind = 0; kind < DP_COMPANIONS; kind++)
		{
			if ((column->desc->companions & (1 << kind)) == 0)
				continue;
			if (column->is_agreed && kind != DP_COMPANION_CUT)
				values[errors] = Float8GetDatum(column->sigma);
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

bool
dp_agrees_with_kept(const DpRun *run)
{
	const DpAgreement *a = run->priced->agreement;

	for (int i = 0; a != NULL && i < a->n; i++)
	{
		if (a->runs[i]->kept != NULL)
			return true;
	}
	return false;
}

List *
dp_agree_begin(DpRun *run)
{
	DpAgreement *a = run->priced->agreement;
	List	   *runs = NIL;

	if (a == NULL)
		return list_make1(run);
	if (!a->has_begun)
		expect_draws(a, run->root->es_query_cxt);
	a->has_begun = true;
	for (int i = 0; i < a->n; i++)
		runs = lappend(runs, a->runs[i]);
	return runs;
}

void
dp_agree_end(DpRun *run)
{
	DpAgreement *a = run->priced->agreement;
	ListCell   *lc;

	if (a == NULL || a->has_ended)
		return;
	a->has_ended = true;
	foreach(lc, a->columns)
		settle_column(a, lfirst(lc));
	for (int i = 0; i < a->n; i++)
		rewrite_rows(a->runs[i], run->root->es_query_cxt);
	foreach(lc, a->columns)
	{
		for (int i = 0; i < a->n; i++)
			pfree(a->sets[i]->columns[((AgreedColumn *) lfirst(lc))->columns[i]].drawn);
	}
}
