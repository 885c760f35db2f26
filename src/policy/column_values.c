/*-------------------------------------------------------------------------
 *
 * column_values.c
 *	  Which values a column has, in tables that are not protected.
 *
 * Invariant: what is held is limited while it is read: equal values are held
 * once, at most twice as many bytes as the keys may take (dp_key_memory), and
 * at most DP_MAX_DECLARED_KEYS rows are looked at.  Beyond what the keys may
 * take, rows are only counted, because a column of too many rows counts as
 * undeclared whatever they hold.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "policy/policy_int.h"

/* ------------------------------------------------------------------------
 * Order
 * ------------------------------------------------------------------------
 */

typedef struct KeyOrder
{
	FmgrInfo   *cmp;
	Oid			collation;
} KeyOrder;

static int
compare_keys(const void *a, const void *b, void *arg)
{
	KeyOrder   *order = arg;

	return DatumGetInt32(FunctionCall2Coll(order->cmp, order->collation,
										   *(const Datum *) a, *(const Datum *) b));
}

/* Tells whether the values are all there once, in order: of integers without a call for each. */
static bool
are_in_order(Oid type, const Datum *values, int n, KeyOrder *order)
{
	for (int i = 1; i < n; i++)
	{
		bool		ascends;

		switch (type)
		{
			case INT2OID:
				ascends = DatumGetInt16(values[i - 1]) < DatumGetInt16(values[i]);
				break;
			case INT4OID:
			case DATEOID:
				ascends = DatumGetInt32(values[i - 1]) < DatumGetInt32(values[i]);
				break;
			case INT8OID:
				ascends = DatumGetInt64(values[i - 1]) < DatumGetInt64(values[i]);
				break;
			default:
				ascends = compare_keys(&values[i - 1], &values[i], order) < 0;
		}
		if (!ascends)
			return false;
	}
	return true;
}

int
dp_sort_keys(Oid type, Oid collation, Datum *values, int n)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_CMP_PROC_FINFO);
	KeyOrder	order = {&entry->cmp_proc_finfo, collation};
	int			distinct = 0;

	if (!OidIsValid(entry->cmp_proc_finfo.fn_oid))
		return -1;

	/* those of a policy mostly are */
	if (are_in_order(type, values, n, &order))
		return n;
	qsort_arg(values, n, sizeof(Datum), compare_keys, &order);
	for (int i = 0; i < n; i++)
	{
		if (distinct == 0 ||
			compare_keys(&values[distinct - 1], &values[i], &order) != 0)
			values[distinct++] = values[i];
	}
	return distinct;
}

/* ------------------------------------------------------------------------
 * Values of a column
 * ------------------------------------------------------------------------
 */

/* longer strings than this, all together, are no keys */
#define DP_MAX_DECLARED_BYTES ((Size) 64 * 1024 * 1024)

/* Leaves out values that are there already. */
void
dp_sort_column_values(DpColumnValues *read, const DpColumnInfo *info)
{
	TypeCacheEntry *entry = lookup_type_cache(info->type, TYPECACHE_CMP_PROC_FINFO);
	KeyOrder	order = {&entry->cmp_proc_finfo, info->collation};
	int			distinct = 0;

	if (!OidIsValid(entry->cmp_proc_finfo.fn_oid))
		return;
	qsort_arg(read->values, read->n, sizeof(Datum), compare_keys, &order);
	read->memory = 0;
	for (int i = 0; i < read->n; i++)
	{
		if (distinct > 0 && compare_keys(&read->values[distinct - 1], &read->values[i], &order) == 0)
		{
			if (!info->typbyval)
				pfree(DatumGetPointer(read->values[i]));
			continue;
		}
		read->memory += dp_key_memory(read->values[i], info->typbyval, info->typlen);
		read->values[distinct++] = read->values[i];
	}
	read->n = distinct;
}

/* Appends a value, unless there is no room for it. */
static void
add_value(DpColumnValues *read, Datum value, const DpColumnInfo *info)
{
	value = info->typlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value))
		: datumCopy(value, info->typbyval, info->typlen);
	read->values[read->n++] = value;
	read->memory += dp_key_memory(value, info->typbyval, info->typlen);
	if (read->n < read->size && read->memory / 2 <= info->room)
		return;
	dp_sort_column_values(read, info);
	read->too_large = read->memory > info->room;
	if (read->n >= read->size / 2)
		read->values = repalloc_huge(read->values, (Size) (read->size *= 2) * sizeof(Datum));
}

/*
 * Appends the column's values in one table without children.  False when
 * they are too many.
 */
static bool
read_table(Oid relid, const char *column, const DpColumnInfo *info, DpColumnValues *read)
{
	Relation	rel = table_open(relid, AccessShareLock);
	AttrNumber	attnum = get_attnum(relid, column);
	Snapshot	snapshot = dp_register_latest_snapshot();
	TableScanDesc scan = dp_table_beginscan(rel, snapshot);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	bool		fits = true;

	while (fits && table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, attnum, &isnull);

		CHECK_FOR_INTERRUPTS();
		if (isnull)
		{
			read->null_found = true;
			continue;
		}
		if (read->rows >= DP_MAX_DECLARED_KEYS || read->bytes > DP_MAX_DECLARED_BYTES)
			fits = false;
		else
		{
			read->rows++;
			if (info->typlen == -1)
				read->bytes += toast_raw_datum_size(value);
			if (!read->too_large)
				add_value(read, value, info);
		}
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
	table_close(rel, NoLock);
	return fits;
}

/*
 * Collects the column's values in a table, with those of its children where
 * they are asked for.  False when they are too many, or cannot all be read here.
 */
bool
dp_read_column_values(Oid relid, const char *column, bool inherit, const DpColumnInfo *info, DpColumnValues *read)
{
	List	   *relids = inherit ? find_all_inheritors(relid, AccessShareLock, NULL) : list_make1_oid(relid);

	dp_held_note_unwatched();
	memset(read, 0, sizeof(DpColumnValues));
	read->size = 256;
	read->values = palloc(read->size * sizeof(Datum));
	foreach_oid(item, relids)
	{
		/* a child may be protected where its parent is not */
		if (dp_policy_table(item) != NULL)
			return false;
		switch (get_rel_relkind(item))
		{
			case RELKIND_PARTITIONED_TABLE:
				break;
			case RELKIND_RELATION:
			case RELKIND_MATVIEW:
				if (!read_table(item, column, info, read))
					return false;
				break;
			default:
				return false;
		}
	}
	return true;
}
