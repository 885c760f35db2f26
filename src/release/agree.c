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
 * Units.  Each set holds a unit to a limit of its own, so that a heavy one weighs more in some sets than in others, and what was
 * bounded does not add up.  Least squares weighs by noise and spreads that over the sets: an agreed answer is a mean of what they
 * say.  Limits that are found cut as little as noise allows.  One weight of a unit for all sets would have
 * to follow from what is the same in each of them, which is how many rows it has in all.  That costs a
 * set of G groups up to sqrt(G) times the noise.  One norm over the groups of all S sets together costs sqrt(S) times it, and
 * needs the rows of the finest set in each.
 *
 * Invariants:
 * - What is computed here depends on noisy answers, and on prices, sizes, keys, and limits that were found, which are public: it
 *	 is post-processing and costs nothing.
 * - Which answers may agree is known before any is drawn; by how much noise, and whether that is worth it, where their limits are.
 * - What is kept of an answer is what was drawn: the same kept answers agree in the same way each time.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/compat.h"
#include "base/settings.h"
#include "catalog/pg_type.h"
#include "math/marginals.h"
#include "policy/policy.h"
#include "release/agree_int.h"

/* bits behind the point of a numeric sum: its decimals are 10^15 at most, and 2^77 steps of it fit in 128 bits */
#define MOST_DIGITS 48

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

	if (release->selection >= 0 || set->before[DP_FINDS_BOUNDS] != NULL ||
		list_length(release->axes) != set->nkeys || list_length(release->key_sets) != set->nkeys)
		return false;
	foreach_int(axis, release->axes)
	{
		const DpKeySet *set_keys = list_nth(release->key_sets, foreach_current_index(axis));

		if (axis <= last || axis >= DP_MAX_AXES || set_keys->domain == NULL ||
			dp_list_size(set_keys->domain) + (set_keys->null_key ? 1 : 0) == 0 ||
			(keys[axis] != NULL && !same_domain(keys[axis], set_keys)))
			return false;
		axes |= (uint32) 1 << axis;
		last = axis;
	}
	foreach_int(axis, release->axes)
	{
		keys[axis] = list_nth(release->key_sets, foreach_current_index(axis));
		shape->size[axis] = dp_list_size(keys[axis]->domain) + (keys[axis]->null_key ? 1 : 0);
		shape->naxes = Max(shape->naxes, axis + 1);
	}
	shape->axes[shape->n++] = axes;
	return true;
}

/*
 * Tells whether groups of the column add up: rows are counted or summed up, not units, and
 * not within bounds that have been found since.
 */
static bool
adds_up(const DpPricedRelease *set, const DpPricedColumn *column)
{
	const DpReleaseColumn *desc = column->desc;

	return desc->answer == DP_ANSWER_SUM && !desc->hidden && !column->later && column->nparts == 1 &&
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
set_decimals(DpAgreedColumn *agreed, const DpPricedColumn *column)
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

/* Weighs the answers of the sets by their noise; returns whether they are to agree. */
static bool
weigh(const DpAgreement *a, DpAgreedColumn *agreed)
{
	double		step = column_step(&a->sets[0]->columns[agreed->columns[0]]);

	for (int i = 0; i < a->n; i++)
	{
		const DpPricedColumn *column = &a->sets[i]->columns[agreed->columns[i]];

		if (!(column->sigma > 0))
			return false;
		/* finer steps are rounded first */
		agreed->marginals.information[i] = 1 / (column->sigma * column->sigma + (column->parts[0].shift > 0 ? step * step / 12 : 0));
	}
	return is_worth_it(&agreed->marginals, step);
}

/* Adds a column of the first set to an agreement, if all sets have it. */
static void
agree_on(DpAgreement *a, const dp_marginals *shape, const DpPricedColumn *column)
{
	DpAgreedColumn *agreed = palloc0(sizeof(DpAgreedColumn));

	agreed->marginals = *shape;
	for (int i = 0; i < a->n; i++)
	{
		agreed->columns[i] = find_column(a->sets[i], column);
		if (agreed->columns[i] < 0)
			return;
		agreed->waits |= dp_waits_for_limit(&a->sets[i]->columns[agreed->columns[i]]);
	}
	if (set_decimals(agreed, column) && (agreed->waits || weigh(a, agreed)))
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
	foreach_ptr(DpPricedRelease, set, sets)
	{
		if (set->apart == NULL)
			set->apart = why;
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

	foreach_ptr(DpPricedRelease, set, releases)
	{
		if (set->release->together != NULL && strcmp(set->release->together, together) == 0)
			sets = lappend(sets, set);
	}

	/*
	 * the finest says what values a key has; sets with others stay as they
	 * are
	 */
	list_sort(sets, compare_keys);
	foreach_ptr(DpPricedRelease, item, sets)
	{
		if (a->n < DP_MAX_MARGINALS && add_axes(item, keys, &shape))
			a->sets[a->n++] = item;
		else
			keep_apart(list_make1(item), "its keys are not lists of the values that they have in the finest set");
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

/* Sets the noise of a column whose answers agree. */
static void
set_sigmas(DpAgreement *a, const DpAgreedColumn *agreed)
{
	const dp_marginals *m = &agreed->marginals;

	for (int i = 0; i < a->n; i++)
	{
		DpPricedColumn *column = &a->sets[i]->columns[agreed->columns[i]];
		double		step = column_step(column);

		column->sigma = sqrt(dp_marginal_variance(m, m->axes[i]) + dp_marginal_rounding(m, m->axes[i]) * step * step);
	}
}

/* Settles of a column whether its answers agree. */
static void
mark_agreed(DpAgreement *a, const DpAgreedColumn *agreed, bool is_agreed)
{
	for (int i = 0; i < a->n; i++)
	{
		DpPricedColumn *column = &a->sets[i]->columns[agreed->columns[i]];

		column->is_agreed = is_agreed;
		column->decimals = agreed->decimals;
	}
}

/* Sets what agrees, and its noise where that is known. */
static void
apply_agreement(DpAgreement *a)
{
	foreach_ptr(DpAgreedColumn, agreed, a->columns)
	{
		mark_agreed(a, agreed, true);
		if (!agreed->waits)
			set_sigmas(a, agreed);
	}
}

/* Settles what agrees with limits that have been found, and its noise; returns the sets of which that is to be told. */
static List *
settle_waiting(DpAgreement *a)
{
	bool		waited = false;
	List	   *told = NIL;

	foreach_ptr(DpAgreedColumn, agreed, a->columns)
	{
		if (!agreed->waits)
			continue;
		waited = true;
		if (weigh(a, agreed))
			set_sigmas(a, agreed);
		else
			mark_agreed(a, agreed, false);
	}
	for (int i = 0; waited && i < a->n; i++)
		if (!a->runs[i]->is_hidden)
			told = lappend(told, a->sets[i]);
	return told;
}

List *
dp_foresee_agreement(List *releases)
{
	List	   *names = NIL;
	List	   *agreements = NIL;

	foreach_ptr(DpPricedRelease, release, releases)
	{
		if (release->release->together != NULL && dp_wants_consistent(release->dataset))
			names = list_append_unique(names, makeString(release->release->together));
	}
	foreach_ptr(Node, name, names)
	{
		DpAgreement *a = settle_agreement(strVal(name), releases);

		if (a != NULL)
			agreements = lappend(agreements, a);
	}
	return agreements;
}

void
dp_agree(List *releases)
{
	foreach_ptr(DpAgreement, item, dp_foresee_agreement(releases))
		apply_agreement(item);
}

/* ------------------------------------------------------------------------
 * While they are drawn
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
	foreach_ptr(const DpAgreedColumn, agreed, a->columns)
	{
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

List *
dp_agree_end(DpRun *run)
{
	DpAgreement *a = run->priced->agreement;
	List	   *told;

	if (a == NULL || a->has_ended)
		return NIL;
	a->has_ended = true;
	told = settle_waiting(a);
	dp_agree_rows(a, run->root->es_query_cxt);
	foreach_ptr(DpAgreedColumn, column, a->columns)
	{
		for (int i = 0; i < a->n; i++)
			pfree(a->sets[i]->columns[column->columns[i]].drawn);
	}
	return told;
}
