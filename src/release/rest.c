/*-------------------------------------------------------------------------
 *
 * rest.c
 *	  The rest of groups that are not shown: one release of all rows that are in no group which another has shown.
 *
 * Theorem.  Let G be a release whose keys are selected: delta-approximate rho-zCDP.  Let R be a release without keys over the
 * rows that G reads and whose keys are not among those that G has shown, rho'-zCDP for any fixed set of keys.  Both together
 * are delta-approximate (rho + rho')-zCDP.
 * Proof.  Which groups are shown is a part of what G returns.  Once it is fixed, R is a function of the database alone: each row
 * is in it or not by its own keys, as by a condition in WHERE.  Its rows are bounded and its noise is calibrated as those of any
 * release without GROUP BY, after that condition, so that it is rho'-zCDP, whatever the set is.  Adaptive composition of
 * approximate zCDP adds up rho and delta (Bun and Steinke 2016, Lemma 8.2).  []
 * So an analyst could ask who reads the shown keys and writes NOT IN.
 *
 * The other way, to take the shown groups off a noisy total, is not taken.  Its error has the noise of each group that is shown, and it
 * knows no averages or quantiles.  What limits cut would differ between total and groups, too, and be taken for the rest.
 *
 * Invariants:
 * - The price of the rest is settled before the groups are known, and debited with theirs.  It does not depend on them.
 * - Its rows are read when the groups have been released.  What is handed to its inner plan of them is their keys alone.
 * - Kept answers of it are of the keys of one answer of the groups' selection (kept_choice.c).
 * - The noisy number of its units decides whether it has answers where the dataset has min_units, as for declared groups.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/errors.h"
#include "base/sizes.h"
#include "executor/executor.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

DpRun *
dp_run_of_groups(const DpRun *run)
{
	ListCell   *lc;

	if (run->release->rest_of == NULL)
		return NULL;
	foreach(lc, dp_runs_of(run->root))
		if (strcmp(((DpRun *) lfirst(lc))->release->name, run->release->rest_of) == 0)
		return lfirst(lc);
	elog(ERROR, "the groups of a rest are not known");
}

DpPricedRelease *
dp_priced_groups(const DpPricedRelease *priced, List *releases)
{
	ListCell   *lc;

	foreach(lc, releases)
		if (strcmp(((DpPricedRelease *) lfirst(lc))->release->name, priced->release->rest_of) == 0)
		return lfirst(lc);
	elog(ERROR, "the groups of a rest are not known");
}

/* the keys of all groups that were shown, one key after the other */
typedef struct ShownKeys
{
	int			nkeys;
	int64		n;
	int64		room;
	Datum	  **values;
	bool	  **nulls;
	Size		bytes;
} ShownKeys;

/* Adds the keys of a row. */
static void
add_keys(ShownKeys *shown, const DpRun *groups, const Datum *values, const bool *nulls)
{
	if (shown->n == shown->room)
	{
		shown->room *= 2;
		for (int i = 0; i < shown->nkeys; i++)
		{
			shown->values[i] = repalloc_huge(shown->values[i], shown->room * sizeof(Datum));
			shown->nulls[i] = repalloc_huge(shown->nulls[i], shown->room * sizeof(bool));
		}
	}
	for (int i = 0; i < shown->nkeys; i++)
	{
		Form_pg_attribute att = TupleDescAttr(groups->desc, i);

		shown->nulls[i][shown->n] = nulls[i];
		shown->values[i][shown->n] = nulls[i] ? (Datum) 0
			: att->attlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(values[i])) : datumCopy(values[i], att->attbyval, att->attlen);
		shown->bytes += sizeof(Datum) + (nulls[i] ? 0 : dp_key_memory(shown->values[i][shown->n], att->attbyval, att->attlen));
	}
	shown->n++;
	if (shown->bytes > Min(dp_allowed_memory(groups->priced->dataset), MaxAllocSize / 2))
		dp_raise(NOT_RELEASABLE,
				 errmsg("keys of the groups shown take more than %s, and the rest cannot be counted; SET dp_cdp.rest = off, or ask for fewer groups",
						dp_memory_text(shown->bytes)));
}

/* Reads the keys of all groups that were shown. */
static void
read_keys(ShownKeys *shown, const DpRun *groups)
{
	DpRowsReader reader = {.stored = MakeSingleTupleTableSlot(groups->desc, &TTSOpsMinimalTuple)};
	Datum	   *values;
	bool	   *nulls;

	shown->nkeys = groups->priced->nkeys;
	shown->room = 64;
	shown->values = palloc(shown->nkeys * sizeof(Datum *));
	shown->nulls = palloc(shown->nkeys * sizeof(bool *));
	for (int i = 0; i < shown->nkeys; i++)
	{
		shown->values[i] = palloc(shown->room * sizeof(Datum));
		shown->nulls[i] = palloc(shown->room * sizeof(bool));
	}
	while (dp_rows_read(groups->rows, &reader, true, &values, &nulls))
	{
		CHECK_FOR_INTERRUPTS();
		add_keys(shown, groups, values, nulls);
	}
	ExecDropSingleTupleTableSlot(reader.stored);
}

void
dp_take_shown(DpRun *run)
{
	DpRun	   *groups = dp_run_of_groups(run);
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(run->priced));
	ShownKeys	shown = {0};

	if (!groups->done)
		elog(ERROR, "the rest of groups is read before they are");
	read_keys(&shown, groups);
	run->priced->shown = palloc(shown.nkeys * sizeof(Datum));
	for (int i = 0; i < shown.nkeys; i++)
	{
		Oid			type = ((DpReleaseKey *) list_nth(groups->release->keys, i))->type;
		int			dims = (int) shown.n;
		int			lower = 1;
		int16		typlen;
		bool		typbyval;
		char		typalign;

		get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
		run->priced->shown[i] = PointerGetDatum(construct_md_array(shown.values[i], shown.nulls[i], 1, &dims, &lower, type,
																   typlen, typbyval, typalign));
	}
	MemoryContextSwitchTo(old);
}
