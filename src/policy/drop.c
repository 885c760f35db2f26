/*-------------------------------------------------------------------------
 *
 * drop.c
 *	  The object access hook: what must not disappear or be attached unnoticed.
 *
 * Invariants:
 *	- dropping the extension (or its tables by any other road) is refused while
 *	  the ledger holds anything.  The hook hears of the extension only after
 *	  its members are gone, hence each table is asked as it goes.  Where the
 *	  library was not preloaded, an event trigger loads it first.
 *	- the extension does not go with something else that belongs to who does not
 *	  own the extension.
 *	- a column that bears the privacy unit, or references what does, is not
 *	  dropped alone.
 *	- a column that is dropped may come back with its name and other values: the
 *	  policy of its table becomes another, so that no kept answer is given for it.
 *	- a role that owns a dataset or has a budget here is not dropped: its OID
 *	  would be free for another role to take.
 *	- a role that is renamed, in whatever database, keeps its former name in a
 *	  label, so that rows of the ledger stay its own (base/role_names.c).
 *	- inheritance never puts two policies above one table, see label.c, and a
 *	  change of it invalidates what is below.
 *	- a protected table leaves no name without notice, see moves.c.
 *
 * Other databases of the cluster are out of sight from here: a role that is
 * dropped there leaves rows that are nobody's.
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
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "commands/event_trigger.h"
#include "commands/extension.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/extension.h"
#include "base/settings.h"
#include "policy/policy_int.h"

static object_access_hook_type previous_hook = NULL;

typedef bool (*RowTest) (TupleTableSlot *slot, Oid relid, void *arg);

/* Looks for a row, among all committed and our own, that passes the test. */
static bool
any_row(Oid relid, RowTest test, void *arg)
{
	Relation	rel = table_open(relid, AccessShareLock);
	Snapshot	snapshot = dp_register_latest_snapshot();
	TableScanDesc scan = dp_table_beginscan(rel, snapshot);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	bool		found = false;

	while (!found && table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		found = test(slot, relid, arg);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
	table_close(rel, NoLock);
	return found;
}

static Datum
column_value(TupleTableSlot *slot, Oid relid, const char *name, bool *isnull)
{
	AttrNumber	attnum = get_attnum(relid, name);

	/* a table of that name may be somebody else's */
	*isnull = true;
	return attnum > 0 ? slot_getattr(slot, attnum, isnull) : (Datum) 0;
}

static bool
is_positive(TupleTableSlot *slot, Oid relid, const char *name)
{
	bool		isnull;
	Datum		value = column_value(slot, relid, name, &isnull);
	Numeric		zero;

	if (isnull)
		return false;
	zero = DatumGetNumeric(DirectFunctionCall1(int4_numeric, Int32GetDatum(0)));
	return DatumGetBool(DirectFunctionCall2(numeric_gt, value, NumericGetDatum(zero)));
}

/* Tells whether a row of the log says more than that somebody asked what nobody may ask. */
static bool
row_tells_of_debits(TupleTableSlot *slot, Oid relid, void *arg)
{
	bool		isnull;
	Datum		kind = column_value(slot, relid, "kind", &isnull);

	return isnull || strcmp(TextDatumGetCString(kind), "guard") != 0;
}

static bool
row_has_spent(TupleTableSlot *slot, Oid relid, void *arg)
{
	return is_positive(slot, relid, "rho_spent") || is_positive(slot, relid, "delta_spent");
}

typedef struct RoleColumn
{
	const char *column;
	const char *name_column;
	const char *dataset_column;
	Oid			role;
	char	   *dataset;		/* of the row that was found */
} RoleColumn;

static bool
row_names_role(TupleTableSlot *slot, Oid relid, void *arg)
{
	RoleColumn *wanted = arg;
	bool		isnull;
	Datum		value = column_value(slot, relid, wanted->column, &isnull);

	if (isnull || DatumGetObjectId(value) != wanted->role)
		return false;
	/* it may be that of another role, which is gone */
	value = column_value(slot, relid, wanted->name_column, &isnull);
	if (dp_known_role(wanted->role, isnull ? NULL : TextDatumGetCString(value)) != wanted->role)
		return false;
	value = column_value(slot, relid, wanted->dataset_column, &isnull);
	wanted->dataset = isnull ? NULL : TextDatumGetCString(value);
	return true;
}

/* ------------------------------------------------------------------------
 * Drops
 * ------------------------------------------------------------------------
 */

/* Refuses to drop a ledger by its name, also where it or its schema was taken out of the extension. */
static void
drop_relation(Oid relid)
{
	char	   *name;
	bool		used;

	if (relid < FirstNormalObjectId ||
		get_rel_namespace(relid) != get_namespace_oid(DP_INTERNAL_SCHEMA, true) ||
		get_rel_relkind(relid) != RELKIND_RELATION ||
		!OidIsValid(get_extension_oid("dp_cdp", true)))
		return;

	name = get_rel_name(relid);
	if (strcmp(name, "release_log") == 0)
		used = any_row(relid, row_tells_of_debits, NULL);
	else if (strcmp(name, "budget") == 0 || strcmp(name, "dataset") == 0)
		used = any_row(relid, row_has_spent, NULL);
	else
		used = false;
	if (used)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("dropping extension dp_cdp would erase a ledger in which privacy budget was spent: export dp_cdp.releases, then call dp_cdp.empty_ledger() first"),
				 errdetail("Released answers stay known. Without its ledger the same budget could be spent again.")));
}

/* Tells whether a column goes with that of a table above, of which the hook is told, too. */
static bool
is_inherited(Oid relid, AttrNumber attnum)
{
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid), Int16GetDatum(attnum));
	bool		result = HeapTupleIsValid(tuple) && ((Form_pg_attribute) GETSTRUCT(tuple))->attinhcount > 0;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return result;
}

static void
drop_column(Oid relid, AttrNumber attnum)
{
	const DpTable *table;
	DpLabel    *label;

	/* the cache answers first, because nearly no table is protected */
	if (attnum < 0 || (table = dp_policy_table(relid)) == NULL)
		return;
	label = dp_label_get(relid, attnum);
	if (label != NULL && label->block && dp_label_get(relid, 0) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("block column \"%s\" of table \"%s\" cannot be dropped: call dp_cdp.unprotect_table first",
						get_attname(relid, attnum, false), get_rel_name(relid)),
				 errdetail("It says in which block of time a row is.")));
	if (label != NULL && label->unit && dp_label_get(relid, 0) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("column \"%s\" is the privacy unit of table \"%s\" and cannot be dropped: call dp_cdp.unprotect_table first",
						get_attname(relid, attnum, false), get_rel_name(relid))));
	if (label != NULL && label->through && dp_label_get(relid, 0) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("rows of table \"%s\" belong to people through column \"%s\", which cannot be dropped: call dp_cdp.unprotect_table first",
						get_rel_name(relid), get_attname(relid, attnum, false))));
	if (relid == table->labelled || !is_inherited(relid, attnum))
		dp_label_renew(table->labelled);
}

static void
drop_role(Oid role)
{
	static const struct
	{
		const char *table;
		const char *column;
		const char *name_column;
		const char *dataset_column;
		const char *complaint;
		const char *detail;
	}			uses[] = {
		{"budget", "role", "role_name", "dataset",
			"role \"%s\" cannot be dropped because it has a privacy budget: call dp_cdp.drop_budget first",
		"The budget is of dataset \"%s\"."},
		{"dataset", "owner", "owner_name", "name",
			"role \"%s\" cannot be dropped because it owns a dataset: give it away with dp_cdp.alter_dataset first",
		"The dataset is \"%s\"."},
	};

	for (int i = 0; i < lengthof(uses); i++)
	{
		Oid			relid = dp_own_table(uses[i].table);
		RoleColumn	wanted = {uses[i].column, uses[i].name_column, uses[i].dataset_column, role};

		if (OidIsValid(relid) && any_row(relid, row_names_role, &wanted))
			ereport(ERROR,
					(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
					 errmsg(uses[i].complaint, GetUserNameFromId(role, false)),
					 wanted.dataset != NULL ? errdetail(uses[i].detail, wanted.dataset) : 0));
	}
}

/*
 * Refuses that the extension goes with something else, such as the schema of its aggregates, which belongs to the owner
 * of the database: PostgreSQL asks for the rights on what is named alone, and datasets may be others'.
 */
static void
drop_extension(Oid extension)
{
	if (extension == get_extension_oid("dp_cdp", true) && !dp_owns_extension(extension, GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("extension dp_cdp would be dropped, too, which is for its owner to do: call DROP without CASCADE, or let a superuser do it"),
				 errdetail("All datasets of this database would go with it.")));
}

/* ------------------------------------------------------------------------
 * Inheritance
 * ------------------------------------------------------------------------
 */

/*
 * Follows a row of pg_inherits that was added or removed; it is not visible,
 * respectively still visible, here.  After a removal the tests below find nothing, since
 * they held before.
 */
static void
change_inheritance(Oid child, Oid parent)
{
	List	   *above = dp_labelled_ancestors(parent);
	List	   *below = find_all_inheritors(child, NoLock, NULL);

	if (dp_label_get(parent, 0) != NULL)
		above = lappend_oid(above, parent);

	foreach_oid(relid, below)
	{
		if (dp_label_get(relid, 0) != NULL)
			dp_raise(BAD_PARAMETER,
					 errmsg("protected table \"%s\" cannot become a partition or child of \"%s\": call dp_cdp.unprotect_table for it, attach it, and protect \"%s\", which covers it",
							get_rel_name(relid), get_rel_name(parent), get_rel_name(parent)));
		if (above != NIL)
		{
			List	   *others = list_difference_oid(dp_labelled_ancestors(relid), above);

			if (others != NIL)
				dp_raise(BAD_PARAMETER,
						 errmsg("table \"%s\" already takes its policy from \"%s\" and cannot inherit another from \"%s\": remove one of the two",
								get_rel_name(relid), get_rel_name(linitial_oid(others)),
								get_rel_name(parent)));
		}
	}
	dp_policy_invalidate(child);
}

/* ------------------------------------------------------------------------
 * The hook
 * ------------------------------------------------------------------------
 */

static pg_noinline void
object_changes(ObjectAccessType access, Oid classId, Oid objectId, int subId, void *arg)
{
	if (previous_hook)
		previous_hook(access, classId, objectId, subId, arg);

	if (access == OAT_DROP && classId == RelationRelationId)
	{
		if (subId == 0)
		{
			drop_relation(objectId);
			dp_moves_drop(objectId);
		}
		else
			drop_column(objectId, subId);
	}
	else if (access == OAT_DROP && classId == AuthIdRelationId)
		drop_role(objectId);
	else if (access == OAT_DROP && classId == ExtensionRelationId)
		drop_extension(objectId);
	else if (access == OAT_POST_ALTER && classId == AuthIdRelationId)
		dp_role_note_rename(objectId);
	else if (access == OAT_POST_ALTER && classId == InheritsRelationId)
	{
		Oid			parent = ((ObjectAccessPostAlter *) arg)->auxiliary_id;

		change_inheritance(objectId, parent);
		dp_moves_detach(objectId, parent);
	}
	else if (access == OAT_POST_ALTER && classId == RelationRelationId && subId == 0)
		dp_moves_relation(objectId);
	else if (access == OAT_POST_ALTER && classId == NamespaceRelationId)
		dp_moves_schema(objectId);
	else if (access == OAT_POST_CREATE && classId == RelationRelationId && subId == 0)
		dp_moves_create(objectId);
}

static void
object_access(ObjectAccessType access, Oid classId, Oid objectId, int subId, void *arg)
{
	/* each function that a query calls, in each execution */
	if (likely(access == OAT_FUNCTION_EXECUTE))
	{
		if (previous_hook)
			previous_hook(access, classId, objectId, subId, arg);
	}
	else
		object_changes(access, classId, objectId, subId, arg);
}

/* Where the library was not preloaded: the ledger alone is kept, for the rest of the session. */
static void
late_object_access(ObjectAccessType access, Oid classId, Oid objectId, int subId, void *arg)
{
	if (previous_hook)
		previous_hook(access, classId, objectId, subId, arg);
	if (access == OAT_DROP && classId == RelationRelationId && subId == 0)
		drop_relation(objectId);
	else if (access == OAT_DROP && classId == ExtensionRelationId)
		drop_extension(objectId);
}

PG_FUNCTION_INFO_V1(dp_keep_ledger);

/*
 * Event trigger before commands that can drop the extension, which is a member of
 * it: at the end of the command it would be gone.
 */
Datum
dp_keep_ledger(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		elog(ERROR, "dp_keep_ledger must be called as an event trigger");
	if (!dp_preloaded && object_access_hook != late_object_access)
	{
		previous_hook = object_access_hook;
		object_access_hook = late_object_access;
	}
	PG_RETURN_NULL();
}

void
dp_policy_init(void)
{
	dp_cache_init();
	dp_label_init();
	previous_hook = object_access_hook;
	object_access_hook = object_access;
}
