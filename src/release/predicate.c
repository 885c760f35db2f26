/*-------------------------------------------------------------------------
 *
 * predicate.c
 *	  What a serializable transaction remembers of the rows it has read.
 *
 * Its predicate locks are shown to everybody by pg_locks: one for each row
 * or page that an index scan met.  A lock on the whole relation stands for
 * all of them.  Workers would not know of it, so there are none.
 *
 * Invariant: after dp_lock_predicates the locks that the plan takes depend on
 * the relations that it names and their indexes, not on rows.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "base/compat.h"
#include "nodes/parsenodes.h"
#include "release/release.h"
#include "release/release_int.h"
#include "storage/predicate.h"
#include "utils/rel.h"

static void
lock_relation(Oid relid, Snapshot snapshot)
{
	Relation	rel = table_open(relid, AccessShareLock);
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;

	PredicateLockRelation(rel, snapshot);
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		PredicateLockRelation(index, snapshot);
		index_close(index, NoLock);
	}
	list_free(indexes);
	table_close(rel, NoLock);
}

PlannedStmt *
dp_lock_predicates(PlannedStmt *plan, Snapshot snapshot)
{
	PlannedStmt *alone;
	ListCell   *lc;

	if (!IsolationIsSerializable())
		return plan;
	foreach(lc, plan->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);

		if (rte->rtekind == RTE_RELATION &&
			(rte->relkind == RELKIND_RELATION || rte->relkind == RELKIND_MATVIEW))
			lock_relation(rte->relid, snapshot);
	}
	alone = makeNode(PlannedStmt);
	*alone = *plan;
	alone->parallelModeNeeded = false;
	return alone;
}
