/*-------------------------------------------------------------------------
 *
 * label.c
 *	  Security labels as the catalogue of table policies.
 *
 * On a table:	 {"dataset": "clinic", "unit": true, "id": "0a1b2c3d4e5f6071"}
 *				 {"dataset": "clinic", "through": 1}
 *				 {"dataset": "clinic", "unit": true, "block": true}
 * On a column:	 {"unit": true, "lower": 0, "upper": 1000, "total_lower": 0, "total_upper": 3000, "keys": ["a", null]}
 *				 {"through": true}
 *				 {"lower": "2024-01-01", "upper": "2024-12-31"}
 *				 {"block": true}
 * On a function: see function_labels.c
 * On a role:	 {ana}, the names that it had; see base/role_names.c
 *
 * "unit" on the table says that one of its columns bears the unit, "through"
 * how many of them reference a row that has one.  Without it a table whose
 * unit column went away would silently turn into one where each row is a unit.
 * So does "block" for the column that says in which block of time a row is.
 *
 * "id" is random, and makes a policy another one than any that was there
 * before, whatever it says: answers that are kept are those to questions about
 * tables of this policy.  It is new when a table is protected, and when
 * a column is dropped (drop.c); a table that replaces another takes it over with the
 * rest.  Labels that were written by hand, or before there were any, have none.
 *
 * Invariants:
 *	- on every path of inheritance at most one relation bears a table label,
 *	  and it is the topmost one: whoever reads a protected row reads it
 *	  through a protected relation.  Checked here when a label is set and in
 *	  drop.c when a child is attached.
 *	- every change of a label invalidates the relation and its descendants.
 *	- SECURITY LABEL itself makes sure that the user owns the table; what is
 *	  asked here in addition is the dataset.  A superuser may set any well
 *	  formed label, because pg_dump restores labels before the rows of
 *	  dp_cdp_internal.dataset.
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
#include "access/xact.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_seclabel.h"
#include "commands/seclabel.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/distributed.h"
#include "base/errors.h"
#include "policy/policy_int.h"

/* ------------------------------------------------------------------------
 * Catalog
 * ------------------------------------------------------------------------
 */

void
dp_label_visit(Oid relid, void (*visit) (AttrNumber attnum, const char *label, void *arg), void *arg)
{
	Relation	rel = table_open(SecLabelRelationId, AccessShareLock);
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key[0], Anum_pg_seclabel_objoid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	ScanKeyInit(&key[1], Anum_pg_seclabel_classoid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationRelationId));
	scan = systable_beginscan(rel, SecLabelObjectIndexId, true, NULL, 2, key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		TupleDesc	desc = RelationGetDescr(rel);
		AttrNumber	attnum = ((FormData_pg_seclabel *) GETSTRUCT(tuple))->objsubid;
		bool		isnull;
		char	   *provider;

		provider = TextDatumGetCString(heap_getattr(tuple, Anum_pg_seclabel_provider,
													desc, &isnull));
		if (strcmp(provider, DP_LABEL_PROVIDER) == 0)
			visit(attnum, TextDatumGetCString(heap_getattr(tuple, Anum_pg_seclabel_label, desc, &isnull)), arg);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

static void
add_label(AttrNumber attnum, const char *text, void *result)
{
	List	  **list = result;
	DpLabel    *label = dp_label_parse(text, attnum != 0);

	label->attnum = attnum;
	/* the index delivers them in this order, but do not rely on it */
	*list = attnum == 0 ? lcons(label, *list) : lappend(*list, label);
}

List *
dp_label_list(Oid relid)
{
	List	   *result = NIL;

	dp_label_visit(relid, add_label, &result);
	return result;
}

DpLabel *
dp_label_get(Oid relid, AttrNumber attnum)
{
	ObjectAddress object = {RelationRelationId, relid, attnum};
	char	   *text = GetSecurityLabel(&object, DP_LABEL_PROVIDER);
	DpLabel    *label;

	if (text == NULL)
		return NULL;
	label = dp_label_parse(text, attnum != 0);
	label->attnum = attnum;
	return label;
}

void
dp_label_put(Oid relid, AttrNumber attnum, const DpLabel *label)
{
	ObjectAddress object = {RelationRelationId, relid, attnum};

	SetSecurityLabel(&object, DP_LABEL_PROVIDER, label ? dp_label_format(label) : NULL);
	dp_policy_invalidate(relid);
}

char *
dp_new_policy_id(void)
{
	uint64		random;

	if (!pg_strong_random(&random, sizeof(random)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random bits for a policy")));
	return psprintf("%016llx", (unsigned long long) random);
}

void
dp_label_renew(Oid relid)
{
	DpLabel    *label = dp_label_get(relid, 0);

	if (label == NULL)
		return;
	label->id = dp_new_policy_id();
	/* a label can be written once in a command */
	CommandCounterIncrement();
	dp_label_put(relid, 0, label);
}

List *
dp_label_tables(const char *dataset)
{
	List	   *result = NIL;
	Relation	rel = table_open(SecLabelRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while ((tuple = systable_getnext(scan)) != NULL)
	{
		FormData_pg_seclabel *form = (FormData_pg_seclabel *) GETSTRUCT(tuple);
		TupleDesc	desc = RelationGetDescr(rel);
		bool		isnull;
		DpLabel    *label;

		if (form->classoid != RelationRelationId || form->objsubid != 0 ||
			strcmp(TextDatumGetCString(heap_getattr(tuple, Anum_pg_seclabel_provider,
													desc, &isnull)),
				   DP_LABEL_PROVIDER) != 0)
			continue;
		label = dp_label_parse(TextDatumGetCString(heap_getattr(tuple, Anum_pg_seclabel_label,
																desc, &isnull)),
							   false);
		/* Citus takes no label from shards */
		if ((dataset == NULL || strcmp(label->dataset, dataset) == 0) && !dp_is_shard(form->objoid))
			result = lappend_oid(result, form->objoid);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return result;
}

void
dp_policy_invalidate(Oid relid)
{
	List	   *relids = find_all_inheritors(relid, NoLock, NULL);

	foreach_oid(item, relids)
	{
		if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(item)))
			CacheInvalidateRelcacheByRelid(item);
	}
}

/* ------------------------------------------------------------------------
 * SECURITY LABEL FOR dp_cdp
 * ------------------------------------------------------------------------
 */

static void
require_dataset_owner(const char *dataset)
{
	Oid			owner = dp_dataset_owner(dataset);

	/*
	 * A worker of a cluster has labels of its coordinator's datasets, and
	 * releases nothing: Citus sets them on shards as the table's owner, whom
	 * the coordinator has asked.
	 */
	if (!OidIsValid(owner) && dp_is_citus_worker())
		return;
	if (!OidIsValid(owner))
		dp_raise(BAD_PARAMETER, errmsg("dataset \"%s\" does not exist: create it with dp_cdp.create_dataset", dataset));
	if (!has_privs_of_role(GetUserId(), owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of dataset \"%s\"", dataset),
				 dp_owner_detail(owner)));
}

static void
relabel_table(Oid relid, const char *text)
{
	DpLabel    *old = dp_label_get(relid, 0);
	DpLabel    *new;

	if (text == NULL)
	{
		/*
		 * Without its dataset nobody gets an answer from the table, and its
		 * owner, who is asking, is the only one left to decide.
		 */
		if (old != NULL && !superuser() && OidIsValid(dp_dataset_owner(old->dataset)))
			require_dataset_owner(old->dataset);
		return;
	}

	new = dp_label_parse(text, false);
	dp_check_protectable(relid);
	if (superuser())
		return;
	require_dataset_owner(new->dataset);
	if (old != NULL &&
		(strcmp(old->dataset, new->dataset) != 0 || old->unit != new->unit || old->through != new->through ||
		 old->block != new->block))
		dp_raise(BAD_PARAMETER, errmsg("table \"%s\" is already protected: call dp_cdp.unprotect_table first",
									   get_rel_name(relid)));
}

/*
 * Does a table's label say that a column bears the unit, or references what
 * does, and fewer do?  So it is while a dump is restored, and nothing is
 * released from it until they do.
 */
static bool
awaits_unit(Oid relid, const DpLabel *table, const DpLabel *new)
{
	int			missing = new->unit ? table->unit : new->through ? table->through : table->block;
	bool		no_block = table->block;

	foreach_ptr(DpLabel, label, dp_label_list(relid))
	{
		if (label->attnum != 0)
		{
			missing -= new->unit ? label->unit : new->through ? label->through : label->block;
			no_block = no_block && !label->block;
		}
	}
	return missing > 0 && (!new->block || no_block);
}

/* Tells whether two labels of a column, which may be missing, say the same of units. */
static bool
same_unit(const DpLabel *a, const DpLabel *b)
{
	return (a != NULL && a->unit) == (b != NULL && b->unit) &&
		(a != NULL && a->through) == (b != NULL && b->through) &&
		(a != NULL && a->block) == (b != NULL && b->block);
}

static void
relabel_column(Oid relid, AttrNumber attnum, const char *text)
{
	DpLabel    *table;
	DpLabel    *old;
	DpLabel    *new = NULL;

	if (text !=NULL)
	{
		if (attnum < 0)
			dp_raise(BAD_PARAMETER, errmsg("system columns have no policy: name another column"));
		new = dp_label_parse(text, true);
	}
	if (superuser())
		return;

	table = dp_label_get(relid, 0);
	old = dp_label_get(relid, attnum);
	if (table == NULL)
	{
		if (text == NULL)
			return;
		dp_raise(BAD_PARAMETER, errmsg("table \"%s\" is not protected: call dp_cdp.protect_table first",
									   get_rel_name(relid)));
	}
	require_dataset_owner(table->dataset);
	if (!same_unit(old, new) &&
		(new == NULL || !(new->unit || new->through || new->block) ||
		 (old != NULL && (old->unit || old->through || old->block)) ||
		 !awaits_unit(relid, table, new) || dp_is_virtual_column(relid, attnum)))
		dp_raise(BAD_PARAMETER,
				 errmsg("the privacy unit of table \"%s\" cannot be changed by SECURITY LABEL: call dp_cdp.unprotect_table and dp_cdp.protect_table",
						get_rel_name(relid)));
}

/* Lets superusers restore the former names of a role, which decide whose rows of the ledger are whose. */
static void
relabel_role(const char *text)
{
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only superusers may set the security label of a role for dp_cdp, which holds its former names")));
	if (text !=NULL && !dp_role_label_is_sound(text))
		dp_bad_label(text);
}

static void
relabel(const ObjectAddress *object, const char *text)
{
	if (object->classId == ProcedureRelationId)
	{
		dp_function_relabel(object->objectId, text);
		return;
	}
	if (object->classId == AuthIdRelationId)
	{
		relabel_role(text);
		return;
	}
	if (object->classId != RelationRelationId)
		dp_raise(BAD_PARAMETER, errmsg("dp_cdp has security labels for tables, their columns and functions only"));

	if (object->objectSubId == 0)
		relabel_table(object->objectId, text);
	else
		relabel_column(object->objectId, object->objectSubId, text);
	dp_policy_invalidate(object->objectId);
}

void
dp_label_init(void)
{
	register_label_provider(DP_LABEL_PROVIDER, relabel);
}
