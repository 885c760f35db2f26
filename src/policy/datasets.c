/*-------------------------------------------------------------------------
 *
 * datasets.c
 *	  Settings of a dataset, read afresh for each release.
 *
 * The row is at hand (base/places.c), its settings decide about privacy, and a
 * REPEATABLE READ transaction must not go on with those of an hour ago.  Hence
 * the latest snapshot instead of the query's.  What was read is returned again
 * only as long as nothing at all has been written (base/moment.c).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/dataset_row.h"
#include "base/distributed.h"
#include "base/errors.h"
#include "base/extension.h"
#include "base/moment.h"
#include "base/places.h"
#include "base/role_names.h"
#include "policy/policy_int.h"

static Relation
open_own_table(const char *name)
{
	Oid			relid = dp_own_table(name);

	if (!OidIsValid(relid))
		dp_raise(BAD_PARAMETER,
				 errmsg("extension dp_cdp is not installed in this database: run CREATE EXTENSION dp_cdp"));
	return table_open(relid, AccessShareLock);
}

Snapshot
dp_register_latest_snapshot(void)
{
	/* PostgreSQL takes no new snapshot while workers share this one */
	if (IsInParallelMode())
		return RegisterSnapshot(ActiveSnapshotSet() ? GetActiveSnapshot() :
								GetTransactionSnapshot());
	return RegisterSnapshot(GetLatestSnapshot());
}

/* Calls read(row) for the dataset's row; false when there is none. */
static bool
with_dataset(const char *name, void (*read) (HeapTuple, TupleDesc, void *), void *arg)
{
	Relation	rel = open_own_table("dataset");
	Snapshot	snapshot = dp_register_latest_snapshot();
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	bool		found = dp_read_newest(rel, name, snapshot, slot);

	if (found)
	{
		bool		copied;
		HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, true, &copied);

		read(tuple, RelationGetDescr(rel), arg);
		if (copied)
			heap_freetuple(tuple);
	}
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
	table_close(rel, AccessShareLock);
	return found;
}

static void
read_owner(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(Oid *) arg = dp_read_dataset_owner(tuple, desc);
}

Oid
dp_dataset_owner(const char *name)
{
	Oid			owner = InvalidOid;

	if (dp_extension_installed())
		with_dataset(name, read_owner, &owner);
	return owner;
}

int
dp_owner_detail(Oid owner)
{
	char	   *name = OidIsValid(owner) ? GetUserNameFromId(owner, true) : NULL;

	return name != NULL ? errdetail("Its owner is %s.", quote_identifier(name)) : 0;
}

static void
read_settings(HeapTuple tuple, TupleDesc desc, void *arg)
{
	DpDataset  *dataset = arg;
	DpDatasetRow row;

	dp_read_dataset_settings(tuple, desc, &row);
	dataset->answer_step = row.answer_step ? row.answer_step->time : 0;
	dataset->release_memory = row.release_memory;
	dataset->find_bounds = row.find_bounds;
	dataset->blocks = row.blocks;
	dataset->reuse = row.reuse;
	dataset->forgotten_at = row.forgotten_at;
	dataset->reuse_dumped = row.reuse_dumped;
	dataset->consistent = row.consistent;
	dataset->pull_rows = row.pull_rows;
	dataset->ledger_id = row.ledger_id;
	dataset->owner = row.owner;
	dataset->default_rho = row.default_rho;
	dataset->max_rho = row.max_rho;
	dataset->min_rho = row.min_rho != 0 ? row.min_rho : Max(row.default_rho / DP_MIN_RHO_SHARE, 1);
	dataset->default_delta = row.default_delta;
	dataset->max_groups = row.max_groups;
	dataset->max_rows = row.max_rows;
	dataset->max_contribution = row.max_contribution;
	dataset->max_failures = row.max_failures;
	dataset->min_units = row.min_units;
	dataset->neighbors = strcmp(row.neighbors, "add_remove") == 0 ? DP_ADD_REMOVE : DP_REPLACE_ONE;
}

/* Reads a dataset as it is now; false when there is none. */
static bool
read_dataset(const char *name, DpDataset *dataset)
{
	static DpMoment read;		/* when last was */
	static DpDataset last;		/* points to nothing */
	DpMoment	moment;

	if (strcmp(last.name, name) != 0 || !dp_moment_lasts(&read))
	{
		/* all bytes of it, which are compared */
		memset(dataset, 0, sizeof(DpDataset));
		strlcpy(dataset->name, name, NAMEDATALEN);
		dp_moment_note(&moment);
		if (!with_dataset(name, read_settings, dataset))
			return false;
		memcpy(&last, dataset, sizeof(DpDataset));
		read = moment;
	}
	else
		memcpy(dataset, &last, sizeof(DpDataset));
	return true;
}

DpDataset *
dp_policy_dataset(const char *name)
{
	DpDataset  *dataset = palloc(sizeof(DpDataset));

	/* see cache.c: a policy that contradicts itself */
	if (name[0] == '\0')
		dp_raise(BAD_PARAMETER,
				 errmsg("the policy of a protected table in this query is damaged: its owner has to call dp_cdp.unprotect_table and dp_cdp.protect_table"),
				 errdetail("Its privacy unit column is gone, or it inherits from several protected tables."));
	if (dp_held_policies != NULL ? dp_held_dataset(name, read_dataset, dataset) : read_dataset(name, dataset))
		return dataset;
	if (dp_is_citus_worker())
		dp_raise(LEDGER_UNAVAILABLE,
				 errmsg("dataset \"%s\" is not here, at a worker of a cluster; ask the coordinator, which has the budgets", name));
	dp_raise(BAD_PARAMETER, errmsg("dataset \"%s\" does not exist: create it with dp_cdp.create_dataset", name));
}

typedef struct RoleTest
{
	AttrNumber	role_column;
	AttrNumber	name_column;
	bool		(*test) (Oid role, void *arg);
	void	   *arg;
	bool		passed;
} RoleTest;

static bool
test_row(TupleTableSlot *slot, void *arg)
{
	RoleTest   *test = arg;
	bool		isnull;
	Oid			role = DatumGetObjectId(slot_getattr(slot, test->role_column, &isnull));
	Datum		name;

	if (isnull)
		return true;
	name = slot_getattr(slot, test->name_column, &isnull);
	role = dp_known_role(role, isnull ? NULL : TextDatumGetCString(name));
	test->passed = OidIsValid(role) && test->test(role, test->arg);
	return !test->passed;
}

bool
dp_policy_any_budget(const char *dataset, bool (*test) (Oid role, void *arg), void *arg)
{
	RoleTest	rows = {.test = test, .arg = arg};
	Relation	rel;
	Snapshot	snapshot;

	if (!OidIsValid(dp_own_table("budget")))
		return false;
	rel = open_own_table("budget");
	rows.role_column = get_attnum(RelationGetRelid(rel), "role");
	rows.name_column = get_attnum(RelationGetRelid(rel), "role_name");
	snapshot = dp_register_latest_snapshot();
	dp_scan_newest(rel, dataset, snapshot, test_row, &rows);
	UnregisterSnapshot(snapshot);
	table_close(rel, AccessShareLock);
	return rows.passed;
}
