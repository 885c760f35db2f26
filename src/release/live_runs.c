/*-------------------------------------------------------------------------
 *
 * live_runs.c
 *	  Which releases are being executed, or explained, of all statements of
 *	  this backend.
 *
 * An execution belongs to the root EState of its statement, and goes with the
 * memory of that.  Those of a statement stand in the order in which their
 * nodes began, in which they are bought; several nodes of one release are one.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "release/release.h"
#include "release/release_int.h"

typedef struct LiveRun
{
	dlist_node	node;
	DpRun		run;
} LiveRun;

dlist_head	dp_live_runs = DLIST_STATIC_INIT(dp_live_runs);

static void
forget_run(void *arg)
{
	dlist_delete(&((LiveRun *) arg)->node);
}

DpRun *
dp_enter_run(EState *root, DpRelease *release)
{
	dlist_iter	iter;
	LiveRun    *live;
	MemoryContextCallback *callback;

	dlist_foreach(iter, &dp_live_runs)
	{
		live = dlist_container(LiveRun, node, iter.cur);
		if (live->run.root == root && strcmp(live->run.release->name, release->name) == 0)
			return &live->run;
	}

	live = MemoryContextAllocZero(root->es_query_cxt, sizeof(LiveRun));
	callback = MemoryContextAlloc(root->es_query_cxt, sizeof(MemoryContextCallback));
	live->run.root = root;
	live->run.release = release;
	dlist_push_tail(&dp_live_runs, &live->node);
	callback->func = forget_run;
	callback->arg = live;
	MemoryContextRegisterResetCallback(root->es_query_cxt, callback);
	return &live->run;
}

List *
dp_runs_of(EState *estate)
{
	List	   *runs = NIL;
	List	   *rests = NIL;
	dlist_iter	iter;

	dlist_foreach(iter, &dp_live_runs)
	{
		LiveRun    *live = dlist_container(LiveRun, node, iter.cur);

		if (live->run.root != estate)
			continue;
		if (live->run.release->rest_of == NULL)
			runs = lappend(runs, &live->run);
		else
			rests = lappend(rests, &live->run);
	}
	/* behind what they are the rest of */
	return list_concat(runs, rests);
}

bool
dp_charge_of(EState *root, DpCharge *charged)
{
	dlist_iter	iter;
	bool		found = false;

	dlist_foreach(iter, &dp_live_runs)
	{
		LiveRun    *live = dlist_container(LiveRun, node, iter.cur);

		if (live->run.root != root)
			continue;

		/*
		 * each run knows of the whole statement; one that has not paid yet
		 * knows less
		 */
		if (!found || live->run.charged.rho > charged->rho)
			*charged = live->run.charged;
		found = true;
	}
	return found;
}
