/*-------------------------------------------------------------------------
 *
 * names.c
 *	  Names under which tables were protected: dp_cdp_internal.reserved_name.
 *
 * A policy follows its table and not the name.  Whoever asks by name must not
 * get another table's rows without notice, so that a name that a protected
 * table has left is written down here, and reserved: a relation that takes it is
 * told of, by warnings, refusals and check_setup, until it is protected or the
 * dataset's owner releases the name.
 *
 * Rows are read and written without SPI, because most is done in the middle of
 * DDL, whoever runs it (moves.c): no trigger fires, nobody's privileges are
 * asked, and the command counter stays as it is.
 *
 * Invariants:
 *	- a name is reserved while there is a row of it that is not released and the
 *	  relation that bears it, if any, is not protected.
 *	- every change of rows invalidates the relation that bears the name: the
 *	  answer is part of the cache in cache.c.
 *	- rows are read as they are at this moment (SnapshotSelf): what this command
 *	  has written and what others have committed.
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
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "base/extension.h"
#include "policy/policy_int.h"

/* ------------------------------------------------------------------------
 * Names of relations
 * ------------------------------------------------------------------------
 */

/* Copies the row of a catalogue as this command has left it; NULL when there is none. */
static HeapTuple
changed_row(Oid catalogue, Oid index, AttrNumber oid_column, Oid oid)
{
	Relation	rel = table_open(catalogue, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, oid_column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(oid));
	scan = systable_beginscan(rel, index, true, SnapshotSelf, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		tuple = heap_copytuple(tuple);
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return tuple;
}

char *
dp_changed_schema_name(Oid schema)
{
	HeapTuple	tuple = changed_row(NamespaceRelationId, NamespaceOidIndexId,
									Anum_pg_namespace_oid, schema);

	if (!HeapTupleIsValid(tuple))
		return NULL;
	return pstrdup(NameStr(((Form_pg_namespace) GETSTRUCT(tuple))->nspname));
}

bool
dp_relation_name(Oid relid, bool changed, DpRelationName *name)
{
	HeapTuple	tuple;
	Form_pg_class form;
	char	   *schema;

	if (changed)
		tuple = changed_row(RelationRelationId, ClassOidIndexId, Anum_pg_class_oid, relid);
	else
		tuple = SearchSysCacheCopy1(RELOID, ObjectIdGetDatum(relid));
	if (!HeapTupleIsValid(tuple))
		return false;

	form = (Form_pg_class) GETSTRUCT(tuple);
	/* reserved_name itself is asked for while its index is being built */
	if (dp_is_own_schema(form->relnamespace) ||
		form->relpersistence == RELPERSISTENCE_TEMP ||
		(form->relkind != RELKIND_RELATION && form->relkind != RELKIND_PARTITIONED_TABLE &&
		 form->relkind != RELKIND_MATVIEW && form->relkind != RELKIND_VIEW &&
		 form->relkind != RELKIND_FOREIGN_TABLE))
		return false;
	schema = get_namespace_name(form->relnamespace);
	if (schema == NULL)
		return false;
	name->schemaid = form->relnamespace;
	namestrcpy(&name->schema, schema);
	name->name = form->relname;
	return true;
}

bool
dp_same_name(const DpRelationName *a, const DpRelationName *b)
{
	return strcmp(NameStr(a->schema), NameStr(b->schema)) == 0 &&
		strcmp(NameStr(a->name), NameStr(b->name)) == 0;
}

char *
dp_quote_name(const DpRelationName *name)
{
	return quote_qualified_identifier(NameStr(name->schema), NameStr(name->name));
}

/* ------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------
 */

/*
 * The table of names; InvalidOid when there is none.  Asked for by every
 * statement, also where library and objects are of different versions
 * (dp_own_table raises an error there).
 */
static Oid
names_table(void)
{
	Oid			relid = InvalidOid;

	if (dp_extension_installed())
		relid = get_relname_relid("reserved_name", dp_internal_schema());
	return dp_is_own(RelationRelationId, relid) ? relid : InvalidOid;
}

/* does something with one row; false: enough */
typedef bool (*RowAction) (Relation rel, HeapTuple row, void *arg);

static Datum
row_value(Relation rel, HeapTuple row, const char *column, bool *isnull)
{
	return heap_getattr(row, get_attnum(RelationGetRelid(rel), column), RelationGetDescr(rel), isnull);
}

static bool
row_is_released(Relation rel, HeapTuple row)
{
	bool		isnull;

	return DatumGetBool(row_value(rel, row, "released", &isnull));
}

static Oid
row_successor(Relation rel, HeapTuple row)
{
	bool		isnull;

	return DatumGetObjectId(row_value(rel, row, "successor", &isnull));
}

/*
 * Calls action for each row of a schema and, where given, of a name in it and
 * of a dataset.
 */
static void
for_each_row(const NameData *schema, const NameData *name, const char *dataset, LOCKMODE lock,
			 RowAction action, void *arg)
{
	Oid			relid = names_table();
	Relation	rel;
	Oid			index;
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	row;

	if (!OidIsValid(relid))
		return;
	rel = table_open(relid, lock);
	RelationGetIndexList(rel);	/* sets rd_pkindex */
	index = rel->rd_pkindex;
	ScanKeyInit(&key[0], get_attnum(relid, "schema"), BTEqualStrategyNumber, F_NAMEEQ,
				NameGetDatum(schema));
	if (name != NULL)
		ScanKeyInit(&key[1], get_attnum(relid, "name"), BTEqualStrategyNumber, F_NAMEEQ,
					NameGetDatum(name));
	scan = systable_beginscan(rel, index, OidIsValid(index), SnapshotSelf, name != NULL ? 2 : 1, key);
	while ((row = systable_getnext(scan)) != NULL)
	{
		bool		isnull;

		if (dataset != NULL &&
			strcmp(TextDatumGetCString(row_value(rel, row, "dataset", &isnull)), dataset) != 0)
			continue;
		if (!action(rel, row, arg))
			break;
	}
	systable_endscan(scan);
	/* a lock for writing stays until the end of the transaction */
	table_close(rel, lock == AccessShareLock ? lock : NoLock);
}

/* Tells every session to ask anew whether the relation of this name is reserved. */
static void
invalidate_bearer(const DpRelationName *name)
{
	Oid			relid = get_relname_relid(NameStr(name->name), name->schemaid);

	if (OidIsValid(relid))
		CacheInvalidateRelcacheByRelid(relid);
}

static bool
find_unreleased(Relation rel, HeapTuple row, void *arg)
{
	bool	   *found = arg;

	*found = !row_is_released(rel, row);
	return !*found;
}

bool
dp_name_is_reserved(const DpRelationName *name)
{
	bool		found = false;

	for_each_row(&name->schema, &name->name, NULL, AccessShareLock, find_unreleased, &found);
	return found;
}

static bool
find_successor(Relation rel, HeapTuple row, void *arg)
{
	Oid		   *successor = arg;

	if (!row_is_released(rel, row))
		*successor = row_successor(rel, row);
	return true;
}

Oid
dp_name_successor(const DpRelationName *name, const char *dataset)
{
	Oid			successor = InvalidOid;

	for_each_row(&name->schema, &name->name, dataset, AccessShareLock, find_successor, &successor);
	return successor;
}

static bool
add_name(Relation rel, HeapTuple row, void *arg)
{
	List	  **names = arg;
	bool		isnull;

	*names = lappend(*names, pstrdup(NameStr(*DatumGetName(row_value(rel, row, "name", &isnull)))));
	return true;
}

List *
dp_names_in_schema(const char *schema)
{
	List	   *names = NIL;
	NameData	key;

	namestrcpy(&key, schema);
	for_each_row(&key, NULL, NULL, AccessShareLock, add_name, &names);
	return names;
}

static bool
delete_row(Relation rel, HeapTuple row, void *arg)
{
	CatalogTupleDelete(rel, &row->t_self);
	return true;
}

void
dp_name_forget(const DpRelationName *name, const char *dataset)
{
	for_each_row(&name->schema, &name->name, dataset, RowExclusiveLock, delete_row, NULL);
	invalidate_bearer(name);
}

typedef struct Hold
{
	Oid			successor;
	bool		held;			/* there is a row */
} Hold;

static bool
renew_row(Relation rel, HeapTuple row, void *arg)
{
	Hold	   *hold = arg;
	int			column = get_attnum(RelationGetRelid(rel), "successor");
	Datum		value = ObjectIdGetDatum(hold->successor);
	bool		isnull = false;

	if (hold->held || row_is_released(rel, row))
		return delete_row(rel, row, NULL);
	hold->held = true;
	if (OidIsValid(hold->successor) && row_successor(rel, row) != hold->successor)
	{
		CatalogTupleUpdate(rel, &row->t_self,
						   heap_modify_tuple_by_cols(row, RelationGetDescr(rel), 1, &column,
													 &value, &isnull));
		return false;			/* or the scan would meet it again */
	}
	return true;
}

static void
insert_row(const DpRelationName *name, const char *dataset, Oid successor)
{
	Oid			relid = names_table();
	Relation	rel = table_open(relid, RowExclusiveLock);
	int			ncolumns = RelationGetNumberOfAttributes(rel);
	Datum	   *values = palloc0(ncolumns * sizeof(Datum));
	bool	   *nulls = palloc(ncolumns * sizeof(bool));

	memset(nulls, true, ncolumns * sizeof(bool));
#define SET_COLUMN(column, value) \
	do { \
		AttrNumber	attnum = get_attnum(relid, column); \
		values[attnum - 1] = (value); \
		nulls[attnum - 1] = false; \
	} while (0)
	SET_COLUMN("schema", NameGetDatum(&name->schema));
	SET_COLUMN("name", NameGetDatum(&name->name));
	SET_COLUMN("dataset", CStringGetTextDatum(dataset));
	SET_COLUMN("since", TimestampTzGetDatum(GetCurrentTimestamp()));
	SET_COLUMN("successor", ObjectIdGetDatum(successor));
	SET_COLUMN("released", BoolGetDatum(false));
#undef SET_COLUMN
	CatalogTupleInsert(rel, heap_form_tuple(RelationGetDescr(rel), values, nulls));
	table_close(rel, NoLock);
}

void
dp_name_hold(const DpRelationName *name, const char *dataset, Oid successor)
{
	Hold		hold = {successor, false};

	if (!OidIsValid(names_table()))
		return;
	for_each_row(&name->schema, &name->name, dataset, RowExclusiveLock, renew_row, &hold);
	if (!hold.held)
		insert_row(name, dataset, successor);
	invalidate_bearer(name);
}
