/*-------------------------------------------------------------------------
 *
 * datasets.c
 *	  Settings of a dataset, read afresh for each release.
 *
 * Nothing is cached: the row is one index lookup away, its settings decide
 * about privacy, and a REPEATABLE READ transaction must not go on with those
 * of an hour ago.  Hence also the latest snapshot instead of the query's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "base/dataset_row.h"
#include "base/errors.h"
#include "base/extension.h"
#include "policy/policy_int.h"

static Relation
open_own_table(const char *name)
{
	Oid			relid = dp_own_table(name);

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("extension dp_cdp is not installed in this database: run CREATE EXTENSION dp_cdp")));
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
	Oid			index;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	RelationGetIndexList(rel);	/* sets rd_pkindex */
	index = rel->rd_pkindex;
	ScanKeyEntryInitialize(&key, 0, dp_dataset_attnum(RelationGetDescr(rel), DP_DATASET_NAME),
						   BTEqualStrategyNumber, InvalidOid, DEFAULT_COLLATION_OID, F_TEXTEQ,
						   CStringGetTextDatum(name));
	scan = systable_beginscan(rel, index, OidIsValid(index), snapshot, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		read(tuple, RelationGetDescr(rel), arg);
	systable_endscan(scan);
	UnregisterSnapshot(snapshot);
	table_close(rel, AccessShareLock);
	return HeapTupleIsValid(tuple);
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

static void
read_settings(HeapTuple tuple, TupleDesc desc, void *arg)
{
	DpDataset  *dataset = arg;
	DpDatasetRow row;

	dp_read_dataset_settings(tuple, desc, &row);
	dataset->answer_step = row.answer_step ? row.answer_step->time : 0;
	dataset->owner = row.owner;
	dataset->default_rho = row.default_rho;
	dataset->max_rho = row.max_rho;
	dataset->min_rho = row.min_rho != 0 ? row.min_rho : Max(row.default_rho / DP_MIN_RHO_SHARE, 1);
	dataset->default_delta = row.default_delta;
	dataset->max_groups = row.max_groups;
	dataset->max_rows = row.max_rows;
	dataset->neighbors = strcmp(row.neighbors, "add_remove") == 0 ? DP_ADD_REMOVE : DP_REPLACE_ONE;
}

DpDataset *
dp_policy_dataset(const char *name)
{
	DpDataset  *dataset = palloc0(sizeof(DpDataset));

	/* see cache.c: a policy that contradicts itself */
	if (name[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("the policy of a protected table in this query is damaged, so that nothing can be released from it: its owner has to call dp_cdp.unprotect_table and dp_cdp.protect_table"),
				 errdetail("Its privacy unit column is gone, or it inherits from several protected tables.")));

	strlcpy(dataset->name, name, NAMEDATALEN);
	if (!with_dataset(name, read_settings, dataset))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("dataset \"%s\" does not exist: create it with dp_cdp.create_dataset", name)));
	return dataset;
}

bool
dp_policy_any_budget(const char *dataset, bool (*test) (Oid role, void *arg), void *arg)
{
	Relation	rel;
	Oid			relid;
	AttrNumber	dataset_column;
	AttrNumber	role_column;
	AttrNumber	name_column;
	Snapshot	snapshot;
	TableScanDesc scan;
	TupleTableSlot *slot;
	bool		found = false;

	if (!OidIsValid(dp_own_table("budget")))
		return false;
	rel = open_own_table("budget");
	relid = RelationGetRelid(rel);
	dataset_column = get_attnum(relid, "dataset");
	role_column = get_attnum(relid, "role");
	name_column = get_attnum(relid, "role_name");
	snapshot = dp_register_latest_snapshot();
	scan = table_beginscan(rel, snapshot, 0, NULL);
	slot = table_slot_create(rel, NULL);
	while (!found && table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		Datum		name = slot_getattr(slot, dataset_column, &isnull);
		Datum		role;

		CHECK_FOR_INTERRUPTS();
		if (isnull || (dataset != NULL && strcmp(TextDatumGetCString(name), dataset) != 0))
			continue;
		role = slot_getattr(slot, role_column, &isnull);
		if (isnull)
			continue;
		/* tables of an older version lack it */
		isnull = true;
		name = name_column > 0 ? slot_getattr(slot, name_column, &isnull) : (Datum) 0;
		role = ObjectIdGetDatum(dp_known_role(DatumGetObjectId(role), isnull ? NULL : TextDatumGetCString(name)));
		found = OidIsValid(DatumGetObjectId(role)) && test(DatumGetObjectId(role), arg);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
	table_close(rel, AccessShareLock);
	return found;
}
