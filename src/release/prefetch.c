/*-------------------------------------------------------------------------
 *
 * prefetch.c
 *	  Rows that an inner query joins with and that are computed before it.
 *
 * Invariants:
 * - Runs before the debit, once for each execution of the release, with the
 *	 rights, the settings and the snapshot of the statement, outside of the
 *	 sandbox.  An error is the statement's own and costs nothing.
 * - The inner run finds the rows in memory or in temporary files.  Nothing of
 *	 the tables that they come from is read any more, hence they are detoasted.
 * - They are as many, and take as long, as the administrator allows
 *	 (public_input.c), but those of filters, which the statement reads anyway
 *	 (guard/public_filters.c): they are in files beyond work_mem.
 * - No value of theirs is longer than DP_MAX_TEXT.  A tuple of the inner run may
 *	 hold many, of several prefetches, if a protected row is met.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/sizes.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/memutils.h"
#include "utils/queryenvironment.h"

/* how many prefetches are under way, one within the other */
static int	prefetching = 0;

/* stores rows whose values are short */
typedef struct ShortReceiver
{
	DestReceiver pub;
	DestReceiver *store;
} ShortReceiver;

static bool
receive_short(TupleTableSlot *slot, DestReceiver *self)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;

	slot_getallattrs(slot);
	for (int i = 0; i < desc->natts; i++)
	{
		if (slot->tts_isnull[i] || TupleDescAttr(desc, i)->attlen != -1 ||
			dp_value_bytes(slot->tts_values[i]) <= DP_MAX_TEXT)
			continue;
		dp_raise(NOT_RELEASABLE,
				 errmsg("public column \"%s\" of a private query has a value longer than %d bytes; make it shorter, for example with left()",
						NameStr(TupleDescAttr(desc, i)->attname), DP_MAX_TEXT));
	}
	return ((ShortReceiver *) self)->store->receiveSlot(slot, ((ShortReceiver *) self)->store);
}

static void
start_short(DestReceiver *self, int operation, TupleDesc desc)
{
	((ShortReceiver *) self)->store->rStartup(((ShortReceiver *) self)->store, operation, desc);
}

static void
stop_short(DestReceiver *self)
{
	((ShortReceiver *) self)->store->rShutdown(((ShortReceiver *) self)->store);
}

static void
destroy_short(DestReceiver *self)
{
	((ShortReceiver *) self)->store->rDestroy(((ShortReceiver *) self)->store);
}

static EphemeralNamedRelation
run_prefetch(DpPrefetch *prefetch, EState *estate)
{
	EphemeralNamedRelation rows = palloc0(sizeof(EphemeralNamedRelationData));
	Tuplestorestate *store = tuplestore_begin_heap(false, false, work_mem);
	ShortReceiver receiver = {{receive_short, start_short, stop_short, destroy_short, DestNone},
	CreateTuplestoreDestReceiver()};

	SetTuplestoreDestReceiverParams(receiver.store, store, CurrentMemoryContext, true, NULL, NULL);
	prefetching++;
	PG_TRY();
	{
		/*
		 * a release takes as long as it takes, once it has paid, and a filter
		 * as the rows that the statement reads anyway
		 */
		rows->md.tupdesc = dp_run_public_input(prefetch->plan, estate, estate->es_queryEnv, &receiver.pub,
											   !prefetch->releases && !prefetch->is_filter, !prefetch->is_filter);
	}
	PG_FINALLY();
	{
		prefetching--;
	}
	PG_END_TRY();
	rows->md.name = prefetch->name;
	rows->md.enrtype = ENR_NAMED_TUPLESTORE;
	receiver.pub.rDestroy(&receiver.pub);

	rows->md.enrtuples = tuplestore_tuple_count(store);
	rows->reldata = store;
	return rows;
}

void
dp_run_prefetches(DpRun *run, bool keys_only)
{
	MemoryContext old;

	if (run->release->prefetches == NIL)
		return;
	run->prefetch_context = AllocSetContextCreate(run->root->es_query_cxt, "dp_cdp prefetched rows",
												  ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(run->prefetch_context);
	run->prefetched = create_queryEnv();
	/* what may be refused for its size comes before what pays */
	for (int releases = 0; releases <= 1; releases++)
		foreach_ptr(DpPrefetch, prefetch, run->release->prefetches)
			if (prefetch->releases == releases && (prefetch->tells_keys || !keys_only))
			register_ENR(run->prefetched, run_prefetch(prefetch, run->root));
	MemoryContextSwitchTo(old);
}

bool
dp_is_prefetching(void)
{
	return prefetching > 0;
}

void
dp_end_prefetches(DpRun *run)
{
	if (run->prefetched == NULL)
		return;
	foreach_ptr(DpPrefetch, prefetch, run->release->prefetches)
	{
		EphemeralNamedRelation rows = get_ENR(run->prefetched, prefetch->name);

		if (rows != NULL)
			tuplestore_end(rows->reldata);
	}
	run->prefetched = NULL;
	MemoryContextDelete(run->prefetch_context);
}
