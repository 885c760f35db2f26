/*-------------------------------------------------------------------------
 *
 * moves.c
 *	  What becomes of a name when a protected table leaves it, and of a
 *	  relation that takes such a name.
 *
 * Called by the object access hook (drop.c), in the middle of DDL: the new row
 * of the catalogue is written and not yet visible, so that PostgreSQL's caches
 * still tell the old name.
 *
 * Invariants:
 *	- every road by which a protected relation leaves a name holds it:
 *	  renaming, moving to another schema, renaming the schema, DROP, and the
 *	  end of an inheritance by which it was protected.  Taking the policy away
 *	  on purpose does not.
 *	- two moves hold nothing, because they end a hold: a table takes the name of
 *	  the one that it replaces (dp_cdp.replace_table), and a child of a
 *	  protected table takes a name that is held.  What it leaves was a name to
 *	  work under.
 *	- a relation that was made or renamed is judged when its statement is over:
 *	  CREATE TABLE ... PARTITION OF is protected by then.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "base/compat.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "base/extension.h"
#include "policy/policy_int.h"

/* relations that took a name in the running statement; in TopTransactionContext */
static List *taken = NIL;

static void
forget_taken(XactEvent event, void *arg)
{
	taken = NIL;
}

static void
note_taken(Oid relid)
{
	static bool registered = false;
	MemoryContext caller = MemoryContextSwitchTo(TopTransactionContext);

	if (!registered)
		RegisterXactCallback(forget_taken, NULL);
	registered = true;
	taken = list_append_unique_oid(taken, relid);
	MemoryContextSwitchTo(caller);
}

/* Returns the dataset that the label of a protected relation names, also where it is damaged. */
static char *
dataset_of(const DpTable *table)
{
	DpLabel    *label = dp_label_get(table->labelled, 0);

	return label ? label->dataset : NULL;
}

/* ------------------------------------------------------------------------
 * Protected relations
 * ------------------------------------------------------------------------
 */

/* A protected relation has another name now.  Returns whether that should be told. */
static bool
leave_name(Oid relid, const DpTable *table, const DpRelationName *old, const DpRelationName *new)
{
	char	   *dataset = dataset_of(table);
	bool		is_child = table->labelled != relid;
	bool		takes_over;
	Oid			successor;

	if (dataset == NULL)
		return false;
	takes_over = dp_name_successor(new, dataset) == relid || (is_child && dp_name_is_reserved(new));
	dp_name_forget(new, dataset);
	if (takes_over)
		return false;
	successor = dp_name_successor(old, dataset);
	dp_name_hold(old, dataset, InvalidOid);
	return !OidIsValid(successor) || dp_policy_table(successor) == NULL;
}

static void
warn_of_move(const DpRelationName *old, const DpRelationName *new)
{
	char	   *old_name = dp_quote_name(old);
	char	   *new_name = dp_quote_name(new);

	ereport(WARNING,
			(errmsg("protected table %s is now %s, with its policy: whatever takes its former name needs dp_cdp.replace_table(%s, %s) or dp_cdp.protect_table",
					old_name, new_name, quote_literal_cstr(new_name), quote_literal_cstr(old_name))));
}

void
dp_moves_relation(Oid relid)
{
	DpRelationName old;
	DpRelationName new;
	const DpTable *table;

	if (relid < FirstNormalObjectId || !dp_extension_installed() ||
		!dp_relation_name(relid, false, &old) || !dp_relation_name(relid, true, &new) ||
		dp_same_name(&old, &new))
		return;

	table = dp_policy_table(relid);
	if (table == NULL)
		note_taken(relid);
	else if (leave_name(relid, table, &old, &new))
		warn_of_move(&old, &new);
}

void
dp_moves_schema(Oid schema)
{
	char	   *old_schema = get_namespace_name(schema);
	char	   *new_schema = dp_changed_schema_name(schema);

	if (!dp_extension_installed() || old_schema == NULL || new_schema == NULL ||
		strcmp(old_schema, new_schema) == 0)
		return;

	foreach_oid(top, dp_label_tables(NULL))
	{
		foreach_oid(relid, find_all_inheritors(top, NoLock, NULL))
		{
			const DpTable *table = dp_policy_table(relid);
			DpRelationName old;
			DpRelationName new;

			CHECK_FOR_INTERRUPTS();
			if (table == NULL || !dp_relation_name(relid, false, &old) || old.schemaid != schema)
				continue;
			new = old;
			namestrcpy(&new.schema, new_schema);
			if (leave_name(relid, table, &old, &new) && relid == table->labelled)
				warn_of_move(&old, &new);
		}
	}

	foreach_ptr(const char, item, dp_names_in_schema(new_schema))
	{
		Oid			relid = get_relname_relid(item, schema);

		if (OidIsValid(relid))
			note_taken(relid);
	}
	/* of its tables PostgreSQL tells nobody */
	CacheInvalidateRelcacheAll();
}

void
dp_moves_drop(Oid relid)
{
	DpRelationName name;
	const DpTable *table;
	char	   *dataset;

	if (relid < FirstNormalObjectId || !dp_extension_installed() ||
		!dp_relation_name(relid, false, &name))
		return;
	table = dp_policy_table(relid);
	if (table == NULL)
		return;
	dataset = dataset_of(table);
	if (dataset != NULL)
		dp_name_hold(&name, dataset, InvalidOid);
}

/* ------------------------------------------------------------------------
 * Ends of an inheritance
 * ------------------------------------------------------------------------
 */

/* Tells whether child inherits from parent by what this command has left in pg_inherits. */
static bool
still_inherits(Oid child, Oid parent)
{
	Relation	rel = table_open(InheritsRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found = false;

	ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(child));
	scan = systable_beginscan(rel, InheritsRelidSeqnoIndexId, true, SnapshotSelf, 1, &key);
	while (!found && (tuple = systable_getnext(scan)) != NULL)
		found = ((Form_pg_inherits) GETSTRUCT(tuple))->inhparent == parent;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

void
dp_moves_detach(Oid child, Oid parent)
{
	const DpTable *table = dp_policy_table(parent);
	DpRelationName name;
	DpRelationName above;
	char	   *dataset;

	if (table == NULL || !dp_extension_installed() || still_inherits(child, parent))
		return;
	foreach_oid(item, dp_parents(child))
	{
		if (item != parent && dp_policy_table(item) != NULL)
			return;
	}
	dataset = dataset_of(table);
	if (dataset == NULL)
		return;

	foreach_oid(inheritor, find_all_inheritors(child, NoLock, NULL))
	{
		if (dp_relation_name(inheritor, false, &name))
			dp_name_hold(&name, dataset, InvalidOid);
	}
	if (dp_relation_name(child, false, &name) && dp_relation_name(parent, false, &above))
		ereport(WARNING,
				(errmsg("table %s is no part of protected table %s any more: call dp_cdp.protect_table, or dp_cdp.forget_name(%s) if all who hold SELECT may read it",
						dp_quote_name(&name), dp_quote_name(&above),
						quote_literal_cstr(dp_quote_name(&name)))));
}

/* ------------------------------------------------------------------------
 * Other relations
 * ------------------------------------------------------------------------
 */

void
dp_moves_create(Oid relid)
{
	DpRelationName name;

	if (relid >= FirstNormalObjectId && dp_extension_installed() &&
		dp_relation_name(relid, true, &name) && dp_name_is_reserved(&name))
		note_taken(relid);
}

void
dp_report_taken_names(void)
{
	List	   *relids = taken;

	if (likely(relids == NIL) || !IsTransactionState())
		return;
	taken = NIL;
	CommandCounterIncrement();	/* who called the statement does so next */
	foreach_oid(relid, relids)
	{
		DpRelationName name;

		if (dp_policy_is_reserved(relid) && dp_relation_name(relid, false, &name))
			ereport(WARNING,
					(errmsg("%s has the name of a table that was protected: call dp_cdp.replace_table or dp_cdp.protect_table, or dp_cdp.forget_name(%s) if all who hold SELECT may read it",
							dp_quote_name(&name), quote_literal_cstr(dp_quote_name(&name)))));
	}
}

/* ------------------------------------------------------------------------
 * For admin/
 * ------------------------------------------------------------------------
 */

void
dp_policy_name_settled(Oid relid, const char *dataset)
{
	DpRelationName name;

	if (dp_relation_name(relid, false, &name))
		dp_name_forget(&name, dataset);
}

void
dp_policy_name_passes(Oid old, Oid new, const char *dataset)
{
	DpRelationName name;

	if (dp_relation_name(old, false, &name))
		dp_name_hold(&name, dataset, new);
}
