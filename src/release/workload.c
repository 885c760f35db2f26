/*-------------------------------------------------------------------------
 *
 * workload.c
 *	  How to share a price among counts or sums of the same rows.
 *
 * dp_cdp.plan_workload(queries, rho) plans each query as the caller, as
 * dp_cdp_internal.preview_columns does, and proposes at which rho to ask it; nothing is executed
 * or debited.  The mathematics is in math/marginals.c.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/amounts.h"
#include "base/compat.h"
#include "base/errors.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "math/marginals.h"
#include "miscadmin.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#define WORKLOAD_COLUMNS 10

/* keys that several queries group by */
typedef struct Axis
{
	char	   *label;
	const DpKeySet *set;
	int64		size;
	int			query;			/* the first that has it, from 1 */
} Axis;

typedef struct Workload
{
	int			n;
	const DpPricedRelease *queries[DP_MAX_MARGINALS];
	Axis		axes[DP_MAX_AXES];
	dp_marginals marginals;
	double		sensitivity2[DP_MAX_MARGINALS]; /* squared */
	int64		rho;
	int64		equal[DP_MAX_MARGINALS];	/* amounts of rho, by query */
	int64		alone[DP_MAX_MARGINALS];
	int64		together[DP_MAX_MARGINALS];
	bool		has_optimum;
	double		optimum[DP_MAX_MARGINALS];
} Workload;

bool		dp_wants_rows_text = false;

/* ------------------------------------------------------------------------
 * What the queries ask
 * ------------------------------------------------------------------------
 */

static void
say_which(void *number)
{
	errcontext("query %d of dp_cdp.plan_workload", *(int *) number);
}

/* Returns the one release of a query. */
static const DpPricedRelease *
read_query(char *text, int number)
{
	ErrorContextCallback callback = {error_context_stack, say_which, &number};
	bool		save = dp_wants_rows_text;
	List	   *priced = NIL;

	error_context_stack = &callback;
	dp_wants_rows_text = true;
	PG_TRY();
	{
		priced = dp_price_text(text, "plan_workload");
	}
	PG_FINALLY();
	{
		dp_wants_rows_text = save;
	}
	PG_END_TRY();
	error_context_stack = callback.previous;
	if (priced == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("query %d releases nothing that is known before it runs; give counts or sums of a protected table, without parameters", number)));
	if (list_length(priced) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("query %d makes %d releases; give each grouping set as a query of its own",
						number, list_length(priced)),
				 errdetail("Each query of a workload is one release.")));
	return linitial(priced);
}

/* Refuses a query that is not one count or sum by declared keys. */
static void
check_query(const DpPricedRelease *query, int number)
{
	const DpPricedColumn *column = &query->columns[0];

	if (query->release->selection >= 0)
		for (int i = 0; i < query->nkeys; i++)
			if (dp_key_set_of(query->release, i) == NULL)
				ereport(ERROR,
						(errcode(ERRCODE_DP_NOT_RELEASABLE),
						 errmsg("query %d groups by \"%s\", whose keys are not declared; declare them with dp_cdp.set_keys",
								number, ((DpReleaseKey *) list_nth(query->release->keys, i))->label),
						 errdetail("A workload needs to know them.")));
	if (query->ncolumns != 1)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("query %d asks for %d aggregates, and a workload is planned for one; give a count or a sum alone", number, query->ncolumns)));
	if (query->before[DP_FINDS_BOUNDS] != NULL || column->later)
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_RELEASABLE),
				 errmsg("query %d has bounds that are found when it runs; write them into the query", number)));
	if (column->desc->answer != DP_ANSWER_SUM ||
		(column->desc->kind != DP_VALUE_COUNT && column->desc->kind != DP_VALUE_SUM &&
		 (column->desc->kind != DP_VALUE_UNITS || query->release->has_unit)))
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_RELEASABLE),
				 errmsg("query %d asks for %s, whose groups do not add up; a workload is of counts of rows or sums", number, column->desc->label)));
}

/* Refuses a query that asks of other rows, or for something else, than the first. */
static void
check_same(const DpPricedRelease *query, const DpPricedRelease *first, int number)
{
	if (strcmp(query->dataset->name, first->dataset->name) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("query %d asks of dataset \"%s\", and query 1 of \"%s\"; plan them apart",
						number, query->dataset->name, first->dataset->name)));
	if (strcmp(query->columns[0].desc->label, first->columns[0].desc->label) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("query %d asks for %s, and query 1 for %s; plan them apart",
						number, query->columns[0].desc->label, first->columns[0].desc->label)));
	if (first->release->rows_text == NULL || query->release->rows_text == NULL ||
		strcmp(query->release->rows_text, first->release->rows_text) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("query %d reads other rows than query 1, or is written in another way; give all the same FROM and WHERE",
						number)));
}

/* Returns what a key set is called: its keys in the words of the query. */
static char *
set_label(const DpRelease *release, const DpKeySet *set)
{
	StringInfoData text;
	ListCell   *lc;

	initStringInfo(&text);
	foreach(lc, set->keys)
		appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "",
						 ((DpReleaseKey *) list_nth(release->keys, lfirst_int(lc)))->label);
	return text.data;
}

/* Tells whether two key sets of the same keys have the same groups. */
static bool
same_groups(const Axis *axis, const DpKeySet *set, int64 size)
{
	if (size != axis->size || set->null_key != axis->set->null_key || (set->domain == NULL) != (axis->set->domain == NULL))
		return false;
	return set->domain == NULL || equal(set->domain, axis->set->domain);
}

/* Adds the key sets of a query to the axes. */
static void
add_axes(Workload *w, const DpPricedRelease *query, int number)
{
	uint32		axes = 0;
	ListCell   *lc;

	foreach(lc, query->release->key_sets)
	{
		const DpKeySet *set = lfirst(lc);
		char	   *label = set_label(query->release, set);
		int			n = w->marginals.naxes;
		int64		size;
		int			i = 0;

		if (set->domain == NULL && query->tuples == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_DP_NOT_RELEASABLE),
					 errmsg("the keys \"%s\" of query %d are known only when it runs; group by columns with declared keys", label, number)));
		size = set->domain ? dp_list_size(set->domain) + (set->null_key ? 1 : 0) : query->tuples[foreach_current_index(lc)]->n;
		if (size == 0)
			ereport(ERROR,
					(errcode(ERRCODE_DP_NOT_RELEASABLE),
					 errmsg("the keys \"%s\" of query %d have no values", label, number),
					 errdetail("There is nothing to share.")));
		while (i < n && strcmp(w->axes[i].label, label) != 0)
			i++;
		if (i < n && !same_groups(&w->axes[i], set, size))
			ereport(ERROR,
					(errcode(ERRCODE_DP_NOT_RELEASABLE),
					 errmsg("the keys \"%s\" of query %d are not those of query %d; plan them apart", label, number, w->axes[i].query)));
		if (i == n)
		{
			if (n == DP_MAX_AXES)
				ereport(ERROR,
						(errcode(ERRCODE_DP_NOT_RELEASABLE),
						 errmsg("a workload is planned over at most %d keys, and query %d has one more; plan parts of it apart",
								DP_MAX_AXES, number)));
			w->axes[n] = (Axis)
			{
				label, set, size, number
			};
			w->marginals.size[n] = size;
			w->marginals.naxes++;
		}
		axes |= (uint32) 1 << i;
	}
	w->marginals.axes[number - 1] = axes;
}

/* Refuses keys that one query declares together with others and another one by themselves. */
static void
check_axes(const Workload *w)
{
	for (int i = 0; i < w->marginals.naxes; i++)
		for (int j = 0; j < w->marginals.naxes; j++)
		{
			const char *whole = w->axes[i].label;
			char	   *part = psprintf(", %s, ", w->axes[j].label);

			if (i != j && strstr(psprintf(", %s, ", whole), part) != NULL)
				ereport(ERROR,
						(errcode(ERRCODE_DP_NOT_RELEASABLE),
						 errmsg("the keys \"%s\" of query %d are declared together in query %d; plan them apart",
								w->axes[j].label, w->axes[j].query, w->axes[i].query)));
		}
}

static void
read_workload(Workload *w, ArrayType *queries)
{
	Datum	   *texts;
	bool	   *nulls;
	int			n;

	deconstruct_array(queries, TEXTOID, -1, false, TYPALIGN_INT, &texts, &nulls, &n);
	if (n == 0 || n > DP_MAX_MARGINALS)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("dp_cdp.plan_workload takes 1 to %d queries", DP_MAX_MARGINALS)));
	w->n = w->marginals.n = n;
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_DP_BAD_PARAMETER),
					 errmsg("query %d of dp_cdp.plan_workload is NULL", i + 1)));
		w->queries[i] = read_query(TextDatumGetCString(texts[i]), i + 1);
		check_query(w->queries[i], i + 1);
		check_same(w->queries[i], w->queries[0], i + 1);
		add_axes(w, w->queries[i], i + 1);
		w->sensitivity2[i] = pow(dp_column_sensitivity(&w->queries[i]->columns[0]), 2);
	}
	check_axes(w);
}

/* ------------------------------------------------------------------------
 * Sharing
 * ------------------------------------------------------------------------
 */

/* Returns the information that a cell has at an amount of rho: sigma^2 = sensitivity^2 / (2 rho). */
static double
information(const Workload *w, int i, int64 rho)
{
	return 2 * (double) rho / DP_RHO_ONE / w->sensitivity2[i];
}

/*
 * Turns shares into amounts that the dataset allows: none below min_rho, but for those of 0,
 * none above max_rho.  What these take or leave is shared by the others.
 */
static void
allowed_amounts(const Workload *w, const double *share, int64 *amounts)
{
	const DpDataset *dataset = w->queries[0]->dataset;
	bool		fixed[DP_MAX_MARGINALS] = {false};
	bool		changed = true;

	while (changed)
	{
		double		rest = (double) w->rho;
		double		shares = 0;

		changed = false;
		for (int i = 0; i < w->n; i++)
		{
			if (fixed[i])
				rest -= (double) amounts[i];
			else
				shares += share[i];
		}
		for (int i = 0; i < w->n; i++)
		{
			if (fixed[i])
				continue;
			amounts[i] = shares > 0 ? (int64) floor(Max(rest, 0) * (share[i] / shares)) : 0;
			if (share[i] > 0 && amounts[i] < dataset->min_rho)
				amounts[i] = dataset->min_rho;
			else if (dataset->max_rho > 0 && amounts[i] > dataset->max_rho)
				amounts[i] = dataset->max_rho;
			else
				continue;
			fixed[i] = changed = true;
			break;
		}
	}
}

/* Settles what is shared: rho, or what the queries cost by the settings. */
static void
settle_rho(Workload *w, bool isnull, double rho)
{
	int64		least;

	if (isnull)
	{
		for (int i = 0; i < w->n; i++)
			w->rho += w->queries[i]->rho;
	}
	else
		w->rho = dp_rho_amount(rho, "rho");
	least = w->queries[0]->dataset->min_rho * w->n;
	if (w->rho < least)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("rho is less than the least price of %d aggregates of dataset \"%s\"; give at least %s",
						w->n, w->queries[0]->dataset->name, dp_amount_text(least, DP_RHO_SCALE))));
}

static void
share(Workload *w)
{
	double		shares[DP_MAX_MARGINALS];
	double		cost[DP_MAX_MARGINALS];
	dp_marginals best = w->marginals;

	w->has_optimum = true;
	for (int i = 0; i < w->n; i++)
	{
		shares[i] = 1;
		/* of information, as a share of rho */
		cost[i] = w->sensitivity2[i] / 2 / ((double) w->rho / DP_RHO_ONE);
		w->has_optimum &= w->sensitivity2[i] == w->sensitivity2[0];
		if (!(w->sensitivity2[i] > 0))
			ereport(ERROR,
					(errcode(ERRCODE_DP_NOT_RELEASABLE),
					 errmsg("query %d has bounds of 0 and 0, and no noise to be shared", i + 1)));
	}
	allowed_amounts(w, shares, w->equal);

	/* least sum of cells * sensitivity^2 / rho */
	for (int i = 0; i < w->n; i++)
		shares[i] = sqrt(dp_marginal_cells(&w->marginals, w->marginals.axes[i]) * w->sensitivity2[i]);
	allowed_amounts(w, shares, w->alone);

	CHECK_FOR_INTERRUPTS();
	(void) dp_marginals_split(&best, cost);
	for (int i = 0; i < w->n; i++)
		shares[i] = best.information[i] * cost[i];
	allowed_amounts(w, shares, w->together);

	if (!w->has_optimum)
		return;
	(void) dp_marginals_optimum(&w->marginals, w->optimum);
	for (int i = 0; i < w->n; i++)
		w->optimum[i] *= cost[i];
}

/* ------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------
 */

static char *
keys_text(const DpPricedRelease *query)
{
	StringInfoData text;
	ListCell   *lc;

	initStringInfo(&text);
	foreach(lc, query->release->keys)
		appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "", ((DpReleaseKey *) lfirst(lc))->label);
	return text.data;
}

/* one row of the result; variances of a cell, < 0: none */
typedef struct WorkloadRow
{
	double		equal;
	double		equal_consistent;
	double		alone;
	double		consistent;
	double		optimum;
} WorkloadRow;

static void
put_row(Tuplestorestate *store, TupleDesc desc, int query, const char *keys, double cells, const WorkloadRow *row,
		int64 rho, int64 consistent_rho)
{
	Datum		values[WORKLOAD_COLUMNS];
	bool		nulls[WORKLOAD_COLUMNS] = {false};

	nulls[0] = query == 0;
	values[0] = Int32GetDatum(query);
	values[1] = CStringGetTextDatum(keys);
	values[2] = Int64GetDatum((int64) Min(cells, 9e18));
	values[3] = Float8GetDatum(sqrt(row->equal));
	values[4] = Float8GetDatum(sqrt(row->equal_consistent));
	values[5] = NumericGetDatum(dp_amount_numeric(rho, DP_RHO_SCALE));
	values[6] = Float8GetDatum(sqrt(row->alone));
	values[7] = NumericGetDatum(dp_amount_numeric(consistent_rho, DP_RHO_SCALE));
	values[8] = Float8GetDatum(sqrt(row->consistent));
	nulls[9] = row->optimum < 0;
	values[9] = Float8GetDatum(nulls[9] ? 0 : sqrt(row->optimum));
	tuplestore_putvalues(store, desc, values, nulls);
}

/* Writes a row for each query, and one for all cells together, whose deviations are root mean squares. */
static void
put_rows(const Workload *w, Tuplestorestate *store, TupleDesc desc)
{
	dp_marginals equal = w->marginals;
	dp_marginals best = w->marginals;
	WorkloadRow all = {0};
	double		all_cells = 0;
	int64		rho = 0;
	int64		consistent_rho = 0;

	for (int i = 0; i < w->n; i++)
	{
		equal.information[i] = information(w, i, w->equal[i]);
		best.information[i] = information(w, i, w->together[i]);
	}
	for (int i = 0; i < w->n; i++)
	{
		double		cells = dp_marginal_cells(&w->marginals, w->marginals.axes[i]);
		WorkloadRow row;

		row.equal = 1 / equal.information[i];
		row.equal_consistent = dp_marginal_variance(&equal, equal.axes[i]);
		row.alone = 1 / information(w, i, w->alone[i]);
		row.consistent = dp_marginal_variance(&best, best.axes[i]);
		row.optimum = w->has_optimum ? w->optimum[i] : -1;
		put_row(store, desc, i + 1, keys_text(w->queries[i]), cells, &row, w->alone[i], w->together[i]);
		all.equal += cells * row.equal;
		all.equal_consistent += cells * row.equal_consistent;
		all.alone += cells * row.alone;
		all.consistent += cells * row.consistent;
		all.optimum += cells * row.optimum;
		all_cells += cells;
		rho += w->alone[i];
		consistent_rho += w->together[i];
	}
	all.equal /= all_cells;
	all.equal_consistent /= all_cells;
	all.alone /= all_cells;
	all.consistent /= all_cells;
	all.optimum /= all_cells;
	put_row(store, desc, 0, "all", all_cells, &all, rho, consistent_rho);
}

/* dp_cdp.plan_workload(queries text[], rho float8) returns how to share rho among the queries. */
PG_FUNCTION_INFO_V1(dp_plan_workload);
Datum
dp_plan_workload(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Workload   *w = palloc0(sizeof(Workload));

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("dp_cdp.plan_workload takes 1 to %d queries", DP_MAX_MARGINALS)));
	InitMaterializedSRF(fcinfo, 0);
	if (rsinfo->setDesc->natts != WORKLOAD_COLUMNS)
		elog(ERROR, "return type must be a row type");
	read_workload(w, PG_GETARG_ARRAYTYPE_P(0));
	settle_rho(w, PG_ARGISNULL(1), PG_ARGISNULL(1) ? 0 : PG_GETARG_FLOAT8(1));
	share(w);

	put_rows(w, rsinfo->setResult, rsinfo->setDesc);
	return (Datum) 0;
}
