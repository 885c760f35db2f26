/*-------------------------------------------------------------------------
 *
 * given.c
 *	  Rows that an inner query joins with and that are computed before it.
 *
 * Invariants:
 * - Runs before the debit, once for each execution of the release, with the
 *	 rights, the settings and the snapshot of the statement, outside of the
 *	 sandbox.  An error is the statement's own and costs nothing.
 * - The inner run finds the rows in memory or in temporary files.  Nothing of
 *	 the tables that they come from is read any more, hence they are detoasted.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"
#include "executor/executor.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/memutils.h"
#include "utils/queryenvironment.h"
#include "utils/snapmgr.h"

static EphemeralNamedRelation
run_given(DpGiven *given, EState *estate)
{
	EphemeralNamedRelation rows = palloc0(sizeof(EphemeralNamedRelationData));
	Tuplestorestate *store = tuplestore_begin_heap(false, false, work_mem);
	DestReceiver *receiver = CreateTuplestoreDestReceiver();
	QueryDesc  *desc;

	SetTuplestoreDestReceiverParams(receiver, store, CurrentMemoryContext, true, NULL, NULL);
	PushActiveSnapshot(estate->es_snapshot);
	desc = CreateQueryDesc(given->plan, estate->es_sourceText, estate->es_snapshot, InvalidSnapshot,
						   receiver, estate->es_param_list_info, estate->es_queryEnv, 0);
	ExecutorStart(desc, 0);
	rows->md.name = given->name;
	rows->md.enrtype = ENR_NAMED_TUPLESTORE;
	rows->md.tupdesc = CreateTupleDescCopy(desc->tupDesc);
	DP_EXECUTOR_RUN(desc);
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
	PopActiveSnapshot();
	receiver->rDestroy(receiver);

	rows->md.enrtuples = tuplestore_tuple_count(store);
	rows->reldata = store;
	return rows;
}

void
dp_run_givens(DpRun *run)
{
	MemoryContext old;
	ListCell   *lc;

	if (run->release->givens == NIL)
		return;
	run->given_context = AllocSetContextCreate(run->root->es_query_cxt, "dp_cdp given rows",
											   ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(run->given_context);
	run->given_rows = create_queryEnv();
	foreach(lc, run->release->givens)
		register_ENR(run->given_rows, run_given(lfirst(lc), run->root));
	MemoryContextSwitchTo(old);
}

void
dp_end_givens(DpRun *run)
{
	ListCell   *lc;

	if (run->given_rows == NULL)
		return;
	foreach(lc, run->release->givens)
		tuplestore_end(get_ENR(run->given_rows, ((DpGiven *) lfirst(lc))->name)->reldata);
	run->given_rows = NULL;
	MemoryContextDelete(run->given_context);
}
