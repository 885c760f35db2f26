/*-------------------------------------------------------------------------
 *
 * distributed.c
 *	  What Citus' catalogues tell of this database.
 *
 * Citus has no interface for C that is kept from version to version, but its
 * catalogues are: pg_dist_partition, a row for each table that it manages,
 * pg_dist_shard, one for each shard, and pg_dist_local_group, one row.  They are in pg_catalog, where nobody but
 * an extension's script may create.
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
#include "base/distributed.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/* columns of these, the same in all versions since 7 */
#define Anum_dist_partition_relid	1
#define Anum_dist_partition_method	2
#define Anum_dist_partition_key		3
#define Anum_dist_local_group_id	1
#define Anum_dist_shard_relid		1
#define Anum_dist_shard_id			2

static Oid
catalogue(const char *name)
{
	return get_relname_relid(name, PG_CATALOG_NAMESPACE);
}

bool		dp_citus_is_absent = false;
static bool citus_is_there = false;
static uint32 citus_hash;
static uint64 citus_changes = 0;

static void
relation_changed(Datum arg, int cacheid, uint32 hashvalue)
{
	if (hashvalue != 0 && hashvalue != citus_hash)
		return;
	dp_citus_is_absent = citus_is_there = false;
	citus_changes++;
}

bool
dp_look_for_citus(void)
{
	static bool registered = false;
	const char *name = "pg_dist_partition";
	uint64		before;
	bool		result;

	if (citus_is_there)
		return true;
	if (!registered)
	{
		citus_hash = GetSysCacheHashValue2(RELNAMENSP, CStringGetDatum(name), ObjectIdGetDatum(PG_CATALOG_NAMESPACE));
		CacheRegisterSyscacheCallback(RELNAMENSP, relation_changed, (Datum) 0);
		registered = true;
	}
	before = citus_changes;
	result = OidIsValid(catalogue(name));
	if (citus_changes == before)
	{
		citus_is_there = result;
		dp_citus_is_absent = !result;
	}
	return result;
}

bool
dp_is_citus_worker(void)
{
	Oid			relid = catalogue("pg_dist_local_group");
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		isnull;
	bool		is_worker = false;

	if (!OidIsValid(relid))
		return false;
	rel = table_open(relid, AccessShareLock);
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		is_worker = is_worker ||
			DatumGetInt32(heap_getattr(tuple, Anum_dist_local_group_id, RelationGetDescr(rel), &isnull)) != 0;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return is_worker;
}

/* Returns the column that a distribution key names, which is the text of a Var. */
static AttrNumber
key_column(Datum key)
{
	Node	   *node = stringToNode(TextDatumGetCString(key));

	return IsA(node, Var) ? ((Var *) node)->varattno : InvalidAttrNumber;
}

/* Tells whether a row of pg_dist_partition says that its table is distributed in this way. */
static bool
is_method(Relation rel, HeapTuple tuple, char method)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, Anum_dist_partition_method, RelationGetDescr(rel), &isnull);

	return !isnull && DatumGetChar(value) == method;
}

bool
dp_is_distributed(Oid relid, AttrNumber *column)
{
	Oid			partitions = catalogue("pg_dist_partition");
	Relation	rel;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found;

	*column = InvalidAttrNumber;
	if (!OidIsValid(partitions))
		return false;
	rel = table_open(partitions, AccessShareLock);
	ScanKeyInit(&key, Anum_dist_partition_relid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	/* a few hundred rows; its index has no name that could be relied on */
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 1, &key);
	tuple = systable_getnext(scan);
	found = HeapTupleIsValid(tuple);
	if (found)
	{
		bool		isnull;
		Datum text = heap_getattr(tuple, Anum_dist_partition_key, RelationGetDescr(rel), &isnull);

		if (!isnull)
			*column = key_column(text);

		/*
		 * of ranges and appended shards nothing checks that they do not
		 * overlap; 'n' is that of tables without a column
		 */
		if (!is_method(rel, tuple, isnull ? 'n' : 'h'))
			*column = DP_SCATTERED;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

/* Returns the table that a shard is one of, InvalidOid: there is no such shard. */
static Oid
table_of_shard(int64 shard)
{
	Oid			shards = catalogue("pg_dist_shard");
	Relation	rel;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		isnull;
	Oid			result = InvalidOid;

	if (!OidIsValid(shards))
		return InvalidOid;
	rel = table_open(shards, AccessShareLock);
	ScanKeyInit(&key, Anum_dist_shard_id, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(shard));
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		result = DatumGetObjectId(heap_getattr(tuple, Anum_dist_shard_relid, RelationGetDescr(rel), &isnull));
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return result;
}

Oid
dp_table_of_shard(Oid relid)
{
	HeapTuple	tuple;
	HeapTuple	of;
	const char *number;
	char	   *end;
	int64		shard = 0;
	Oid			result = InvalidOid;

	if (!dp_has_citus())
		return InvalidOid;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	/* its name ends in its number */
	number = strrchr(NameStr(((Form_pg_class) GETSTRUCT(tuple))->relname), '_');
	if (number != NULL && isdigit((unsigned char) number[1]))
	{
		errno = 0;
		shard = strtoll(number + 1, &end, 10);
		if (errno != 0 || *end != '\0')
			shard = 0;
	}
	of = shard > 0 ? SearchSysCache1(RELOID, ObjectIdGetDatum(table_of_shard(shard))) : NULL;
	if (HeapTupleIsValid(of))
	{
		/* others may call their tables what they like */
		if (((Form_pg_class) GETSTRUCT(of))->relowner == ((Form_pg_class) GETSTRUCT(tuple))->relowner &&
			((Form_pg_class) GETSTRUCT(of))->relnamespace == ((Form_pg_class) GETSTRUCT(tuple))->relnamespace)
			result = ((Form_pg_class) GETSTRUCT(of))->oid;
		ReleaseSysCache(of);
	}
	ReleaseSysCache(tuple);
	return result;
}

bool
dp_is_shard(Oid relid)
{
	return OidIsValid(dp_table_of_shard(relid));
}
