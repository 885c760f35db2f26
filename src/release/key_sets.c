/*-------------------------------------------------------------------------
 *
 * key_sets.c
 *	  The tuples of keys that the public inputs of a query allow, and the ranges
 *	  of public columns.
 *
 * Invariants:
 * - Tuples are a function of public tables, parameters, the policy and what
 *	 was released before, as the statement's snapshot has them: the same for
 *	 every content of protected tables.
 * - They are found before the debit, under the settings under which rows are
 *	 read, so that an expression has the same value here and there.
 * - What they take is counted like declared keys (memory.c).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/sizes.h"
#include "executor/executor.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/memutils.h"

DpKeyTuples *dp_tuples_later[1];

typedef struct TupleReceiver
{
	DestReceiver pub;
	DpKeyTuples *tuples;
	const DpDataset *dataset;
	int64		size;
	int64		before;			/* what is held beside, in bytes */
	bool		free;			/* nothing has been charged */
	MemoryContext context;
} TupleReceiver;

static bool
receive_tuple(TupleTableSlot *slot, DestReceiver *self)
{
	TupleReceiver *receiver = (TupleReceiver *) self;
	DpKeyTuples *tuples = receiver->tuples;
	MemoryContext old = MemoryContextSwitchTo(receiver->context);
	Size		length = 0;

	slot_getallattrs(slot);
	if (tuples->n >= receiver->size)
	{
		receiver->size *= 2;
		tuples->values = repalloc_huge(tuples->values, receiver->size * tuples->nkeys * sizeof(Datum));
		tuples->nulls = repalloc_huge(tuples->nulls, receiver->size * tuples->nkeys * sizeof(bool));
	}
	for (int i = 0; i < tuples->nkeys; i++)
	{
		Form_pg_attribute att = TupleDescAttr(slot->tts_tupleDescriptor, i);
		Datum		value = slot->tts_values[i];
		int64		place = tuples->n * tuples->nkeys + i;

		tuples->nulls[place] = slot->tts_isnull[i];
		tuples->values[place] = (Datum) 0;
		tuples->memory += DP_KEY_MEMORY;
		if (slot->tts_isnull[i])
			continue;
		value = att->attlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value))
			: datumCopy(value, att->attbyval, att->attlen);
		tuples->values[place] = value;
		tuples->memory += dp_key_memory(value, att->attbyval, att->attlen) - DP_KEY_MEMORY;
		if (!att->attbyval)
			length += MAXALIGN(att->attlen > 0 ? att->attlen : dp_value_bytes(value) + VARHDRSZ);
	}
	tuples->n++;
	tuples->longest = Max(tuples->longest, length);
	MemoryContextSwitchTo(old);
	if (receiver->before + tuples->memory > dp_allowed_memory(receiver->dataset))
		dp_refuse_keys(receiver->dataset, tuples->n, receiver->free);
	return true;
}

static void
ignore_startup(DestReceiver *self, int operation, TupleDesc desc)
{
}

static void
ignore(DestReceiver *self)
{
}

static DpKeyTuples *
find_tuples(const DpRelease *release, const DpKeySet *set, EState *estate, QueryEnvironment *env, const char *timezone,
			const DpDataset *dataset, int64 before)
{
	TupleReceiver receiver = {{receive_tuple, ignore_startup, ignore, ignore, DestNone}};
	int			level;

	receiver.tuples = palloc0(sizeof(DpKeyTuples));
	receiver.tuples->nkeys = set->keys ? list_length(set->keys) : 2;
	receiver.size = 16;
	receiver.tuples->values = palloc(receiver.size * receiver.tuples->nkeys * sizeof(Datum));
	receiver.tuples->nulls = palloc(receiver.size * receiver.tuples->nkeys * sizeof(bool));
	receiver.dataset = dataset;
	receiver.before = before;
	receiver.free = true;
	foreach_ptr(DpPrefetch, prefetch, release->prefetches)
		receiver.free &= !prefetch->releases;
	receiver.context = CurrentMemoryContext;
	level = NewGUCNestLevel();
	dp_pin_meanings(timezone);
	(void) dp_run_public_input(set->plan, estate, env, &receiver.pub, true, true);
	AtEOXact_GUC(true, level);
	return receiver.tuples;
}

bool
dp_has_key_tuples(const DpRelease *release)
{
	/* what is selected needs no list */
	if (release->selection >= 0)
		return false;
	foreach_ptr(DpKeySet, set, release->key_sets)
	{
		if (set->plan != NULL)
			return true;
	}
	return false;
}

bool
dp_has_public_queries(const DpRelease *release)
{
	return release->ranges != NIL || dp_has_key_tuples(release);
}

DpKeyTuples **
dp_find_key_tuples(const DpRelease *release, EState *estate, QueryEnvironment *env, const char *timezone)
{
	DpKeyTuples **tuples;
	DpDataset  *dataset;
	int64		held = release->key_memory;

	if (!dp_has_public_queries(release))
		return NULL;
	dataset = dp_policy_dataset(release->dataset);
	tuples = palloc0(list_length(dp_public_sets(release)) * sizeof(DpKeyTuples *));
	foreach_ptr(DpKeySet, set, dp_public_sets(release))
	{
		int			i = foreach_current_index(set);

		/* what is selected needs no list */
		if (set->plan == NULL || (set->keys != NIL && release->selection >= 0))
			continue;
		tuples[i] = find_tuples(release, set, estate, env, timezone, dataset, held);
		held += tuples[i]->memory;
	}
	return tuples;
}

DpKeyTuples **
dp_find_key_tuples_early(DpRelease *release, EState *estate)
{
	DpRun		run = {.root = estate, .release = release};
	DpKeyTuples **tuples;

	if (!dp_has_public_queries(release))
		return NULL;
	foreach_ptr(DpPrefetch, prefetch, release->prefetches)
	{
		if (!prefetch->is_pure)
			return NULL;
	}
	if (estate->es_param_list_info == NULL && release->needs_params)
		return NULL;
	dp_run_prefetches(&run, true);
	tuples = dp_find_key_tuples(release, estate, run.prefetched, GetConfigOption("TimeZone", false, false));
	dp_end_prefetches(&run);
	return tuples;
}
