/*-------------------------------------------------------------------------
 *
 * column_keys.c
 *	  Policy of a column: its bounds and its declared keys.
 *
 * Declared keys are public by declaration: a release shows every one of them,
 * also those that no row has, and shows no other.  They come from the first of
 *	 - set_keys,
 *	 - the type, for boolean and enum columns,
 *	 - a foreign key of this one column to a table that is not protected: all
 *	   values of the referenced column.
 *
 * A foreign key declares keys only when it is validated; when the referenced
 * column has the same type; when the owner of the protected table, in whose
 * name the keys are published, may read the referenced column, and so may who
 * is shown them; when no row-level security applies to it; and when the referenced table has at most
 * DP_MAX_DECLARED_KEYS rows.  Otherwise the column counts as undeclared and
 * groups by it pass the threshold of a private key selection.
 *
 * A column of a table that is not protected, and that a query joins, has the
 * values that whoever reads it finds there, under the same conditions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "policy/policy_int.h"

/* a column, and the type of its values */
typedef struct ColumnInfo
{
	Oid			relid;
	AttrNumber	attnum;
	Oid			type;			/* base type */
	int32		typmod;
	Oid			collation;
	bool		nullable;
} ColumnInfo;

/* ------------------------------------------------------------------------
 * Types
 * ------------------------------------------------------------------------
 */

void
dp_check_comparable(Oid type, Oid collation, const char *column, const char *what)
{
	TypeCacheEntry *entry = lookup_type_cache(getBaseType(type),
											  TYPECACHE_EQ_OPR | TYPECACHE_CMP_PROC |
											  TYPECACHE_HASH_PROC);

	if (!OidIsValid(entry->eq_opr) || !OidIsValid(entry->cmp_proc) ||
		!OidIsValid(entry->hash_proc))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("column \"%s\" of type %s cannot be %s, because the type has no equality that can be sorted and hashed: choose a column of another type",
						column, format_type_be(type), what)));
	if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("column \"%s\" cannot be %s, because its collation takes different strings for equal: give it a deterministic collation",
						column, what)));
}

int
dp_begin_portable_text(void)
{
	int			level = NewGUCNestLevel();

	(void) set_config_option("DateStyle", "ISO, YMD", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	(void) set_config_option("IntervalStyle", "postgres", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	(void) set_config_option("extra_float_digits", "1", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	(void) set_config_option("bytea_output", "hex", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	return level;
}

void
dp_end_portable_text(int level)
{
	AtEOXact_GUC(true, level);
}

/* ------------------------------------------------------------------------
 * Keys in canonical order
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

int
dp_sort_keys(Oid type, Oid collation, Datum *values, int n)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_CMP_PROC_FINFO);
	KeyOrder	order = {&entry->cmp_proc_finfo, collation};
	int			distinct = 0;

	if (!OidIsValid(entry->cmp_proc_finfo.fn_oid))
		return -1;

	qsort_arg(values, n, sizeof(Datum), compare_keys, &order);
	for (int i = 0; i < n; i++)
	{
		if (distinct == 0 ||
			compare_keys(&values[distinct - 1], &values[i], &order) != 0)
			values[distinct++] = values[i];
	}
	return distinct;
}

/*
 * Sorts, removes duplicates and appends NULL if wanted.  values has room for
 * one more.
 */
static void
finish_keys(DpColumn *column, const ColumnInfo *info, Datum *values, int n, bool null_key)
{
	int			distinct = dp_sort_keys(info->type, info->collation, values, n);

	if (distinct < 0)
		return;					/* the column's type was changed: undeclared */

	column->has_keys = true;
	column->nkeys = distinct + (null_key ? 1 : 0);
	column->keys = values;
	column->key_nulls = palloc0(Max(column->nkeys, 1) * sizeof(bool));
	if (null_key)
	{
		column->keys[distinct] = (Datum) 0;
		column->key_nulls[distinct] = true;
	}
}

static void
keys_from_label(DpColumn *column, const ColumnInfo *info, const DpLabel *label)
{
	Datum	   *values = palloc((label->nkeys + 1) * sizeof(Datum));
	Oid			input;
	Oid			ioparam;
	int			n = 0;
	bool		null_key = false;
	int			level = dp_begin_portable_text();

	getTypeInputInfo(info->type, &input, &ioparam);
	for (int i = 0; i < label->nkeys; i++)
	{
		if (label->keys[i] == NULL)
			null_key = true;
		else
			values[n++] = OidInputFunctionCall(input, label->keys[i], ioparam, info->typmod);
	}
	dp_end_portable_text(level);
	finish_keys(column, info, values, n, null_key);
}

static void
keys_from_enum(DpColumn *column, const ColumnInfo *info)
{
	Relation	rel = table_open(EnumRelationId, AccessShareLock);
	Relation	index = index_open(EnumTypIdSortOrderIndexId, AccessShareLock);
	int			size = 64;
	Datum	   *values = palloc(size * sizeof(Datum));
	int			n = 0;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_enum_enumtypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(info->type));
	scan = systable_beginscan_ordered(rel, index, NULL, 1, &key);
	while ((tuple = systable_getnext_ordered(scan, ForwardScanDirection)) != NULL)
	{
		if (n + 1 >= size)
			values = repalloc(values, (size *= 2) * sizeof(Datum));
		values[n++] = ObjectIdGetDatum(((Form_pg_enum) GETSTRUCT(tuple))->oid);
	}
	systable_endscan_ordered(scan);
	index_close(index, AccessShareLock);
	table_close(rel, AccessShareLock);
	finish_keys(column, info, values, n, info->nullable);
}

/* ------------------------------------------------------------------------
 * Values of a column
 * ------------------------------------------------------------------------
 */

/* longer strings than this, all together, are no keys */
#define DP_MAX_DECLARED_BYTES ((Size) 64 * 1024 * 1024)

typedef struct ColumnValues
{
	Datum	   *values;
	int			n;
	int			size;
	Size		bytes;
	bool		null_found;
} ColumnValues;

/*
 * Appends the column's values in one table without children.  False when
 * they are too many.
 */
static bool
read_table(Oid relid, const char *column, const ColumnInfo *info, ColumnValues *read)
{
	Relation	rel = table_open(relid, AccessShareLock);
	AttrNumber	attnum = get_attnum(relid, column);
	Snapshot	snapshot = dp_register_latest_snapshot();
	TableScanDesc scan = table_beginscan(rel, snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	int16		typlen;
	bool		typbyval;
	bool		fits = true;

	get_typlenbyval(info->type, &typlen, &typbyval);
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
		if (read->n >= DP_MAX_DECLARED_KEYS || read->bytes > DP_MAX_DECLARED_BYTES)
			fits = false;
		else
		{
			if (read->n + 1 >= read->size)
				read->values = repalloc_huge(read->values, (Size) (read->size *= 2) * sizeof(Datum));
			if (typlen == -1)
			{
				value = PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
				read->bytes += VARSIZE_ANY(DatumGetPointer(value));
			}
			else
				value = datumCopy(value, typbyval, typlen);
			read->values[read->n++] = value;
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
static bool
read_values(Oid relid, const char *column, bool inherit, const ColumnInfo *info, ColumnValues *read)
{
	List	   *relids = inherit ? find_all_inheritors(relid, AccessShareLock, NULL) : list_make1_oid(relid);
	ListCell   *lc;

	memset(read, 0, sizeof(ColumnValues));
	read->size = 256;
	read->values = palloc(read->size * sizeof(Datum));
	foreach(lc, relids)
	{
		/* a child may be protected where its parent is not */
		if (dp_policy_table(lfirst_oid(lc)) != NULL)
			return false;
		switch (get_rel_relkind(lfirst_oid(lc)))
		{
			case RELKIND_PARTITIONED_TABLE:
				break;
			case RELKIND_RELATION:
			case RELKIND_MATVIEW:
				if (!read_table(lfirst_oid(lc), column, info, read))
					return false;
				break;
			default:
				return false;
		}
	}
	return true;
}

/* Returns whether the table is not protected and role finds in the column what is there. */
static bool
is_public_column(Oid relid, AttrNumber attnum, Oid role)
{
	HeapTuple	tuple;
	bool		row_security;

	if (dp_policy_table(relid) != NULL)
		return false;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	if (!HeapTupleIsValid(tuple))
		return false;
	row_security = ((Form_pg_class) GETSTRUCT(tuple))->relrowsecurity;
	ReleaseSysCache(tuple);
	return !row_security &&
		(pg_class_aclcheck(relid, role, ACL_SELECT) == ACLCHECK_OK ||
		 pg_attribute_aclcheck(relid, attnum, role, ACL_SELECT) == ACLCHECK_OK);
}

/* ------------------------------------------------------------------------
 * Foreign keys
 * ------------------------------------------------------------------------
 */

/* Returns whether the keys of a foreign key may be published. */
static bool
foreign_key_declares(const ForeignKeyCacheInfo *fk, const ColumnInfo *info, Oid reader)
{
	HeapTuple	tuple;
	bool		validated;
	Oid			parent;
	Oid			owner;
	Oid			type;
	int32		typmod;
	Oid			collation;

	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(fk->conoid));
	if (!HeapTupleIsValid(tuple))
		return false;
	validated = ((Form_pg_constraint) GETSTRUCT(tuple))->convalidated;
	parent = ((Form_pg_constraint) GETSTRUCT(tuple))->conparentid;
	ReleaseSysCache(tuple);
	if (!validated)
		return false;

	/*
	 * Beside a foreign key to a partitioned table stands one for each of its
	 * partitions.
	 */
	if (OidIsValid(parent))
	{
		Oid			parent_relid = InvalidOid;

		tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(parent));
		if (HeapTupleIsValid(tuple))
		{
			parent_relid = ((Form_pg_constraint) GETSTRUCT(tuple))->conrelid;
			ReleaseSysCache(tuple);
		}
		if (parent_relid == info->relid)
			return false;
	}

	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(info->relid));
	if (!HeapTupleIsValid(tuple))
		return false;
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	if (!is_public_column(fk->confrelid, fk->confkey[0], owner) ||
		(OidIsValid(reader) && !is_public_column(fk->confrelid, fk->confkey[0], reader)))
		return false;

	get_atttypetypmodcoll(fk->confrelid, fk->confkey[0], &type, &typmod, &collation);
	return IsBinaryCoercible(getBaseType(type), info->type);
}

static void
keys_from_foreign_key(DpColumn *column, const ColumnInfo *info, Oid reader)
{
	Relation	rel = table_open(info->relid, AccessShareLock);
	Oid			referenced = InvalidOid;
	char	   *name = NULL;
	ListCell   *lc;
	ColumnValues read;

	foreach(lc, copyObject(RelationGetFKeyList(rel)))
	{
		ForeignKeyCacheInfo *fk = lfirst(lc);

		if (fk->nkeys == 1 && fk->conkey[0] == info->attnum &&
			foreign_key_declares(fk, info, reader))
		{
			referenced = fk->confrelid;
			name = get_attname(referenced, fk->confkey[0], false);
			break;
		}
	}
	table_close(rel, NoLock);
	if (!OidIsValid(referenced))
		return;

	/* a plain table is referenced without its children */
	if (read_values(referenced, name, get_rel_relkind(referenced) == RELKIND_PARTITIONED_TABLE, info, &read))
		finish_keys(column, info, read.values, read.n, info->nullable);
}

/* ------------------------------------------------------------------------
 * Entry points
 * ------------------------------------------------------------------------
 */

static DpColumn *
make_column(Oid relid, AttrNumber attnum, ColumnInfo *info, NameData *name)
{
	DpColumn   *column = palloc0(sizeof(DpColumn));
	HeapTuple	tuple;
	Form_pg_attribute att;

	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid), Int16GetDatum(attnum));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "relation %u has no column %d", relid, attnum);
	att = (Form_pg_attribute) GETSTRUCT(tuple);
	info->relid = relid;
	info->attnum = attnum;
	info->typmod = att->atttypmod;
	info->type = getBaseTypeAndTypmod(att->atttypid, &info->typmod);
	info->collation = att->attcollation;
	info->nullable = !att->attnotnull;
	column->keytype = att->atttypid;
	*name = att->attname;
	ReleaseSysCache(tuple);
	return column;
}

static DpColumn *
column_policy(Oid relid, AttrNumber attnum, bool with_keys, Oid reader)
{
	const DpTable *table = dp_policy_table(relid);
	DpLabel    *label = NULL;
	ColumnInfo	info;
	NameData	name;
	DpColumn   *column = make_column(relid, attnum, &info, &name);

	if (table != NULL && attnum > 0)
	{
		Oid			labelled = table->labelled;
		AttrNumber	labelled_attnum = labelled == relid ? attnum :
		get_attnum(labelled, NameStr(name));

		if (labelled_attnum > 0)
			label = dp_label_get(labelled, labelled_attnum);
	}

	if (label != NULL && label->has_bounds)
	{
		column->has_bounds = true;
		column->lower = label->lower;
		column->upper = label->upper;
	}

	if (!with_keys || attnum < 0)
		return column;
	if (label != NULL && label->has_keys)
		keys_from_label(column, &info, label);
	else if (info.type == BOOLOID)
	{
		Datum	   *values = palloc(3 * sizeof(Datum));

		values[0] = BoolGetDatum(false);
		values[1] = BoolGetDatum(true);
		finish_keys(column, &info, values, 2, info.nullable);
	}
	else if (type_is_enum(info.type))
		keys_from_enum(column, &info);
	else
		keys_from_foreign_key(column, &info, reader);
	return column;
}

DpColumn *
dp_policy_column(Oid relid, AttrNumber attnum, Oid reader)
{
	return column_policy(relid, attnum, true, reader);
}

bool
dp_type_has_bounds(Oid type)
{
	switch (getBaseType(type))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			return true;
		default:
			return false;
	}
}

DpColumn *
dp_policy_bounds(Oid relid, AttrNumber attnum)
{
	return column_policy(relid, attnum, false, InvalidOid);
}

DpColumn *
dp_policy_public_column(Oid relid, AttrNumber attnum, bool inherit, Oid reader)
{
	ColumnInfo	info;
	NameData	name;
	DpColumn   *column = make_column(relid, attnum, &info, &name);
	ColumnValues read;

	if (attnum > 0 && !dp_is_virtual_column(relid, attnum) &&
		is_public_column(relid, attnum, reader) &&
		(!OidIsValid(info.collation) || get_collation_isdeterministic(info.collation)) &&
		read_values(relid, NameStr(name), inherit, &info, &read))
		finish_keys(column, &info, read.values, read.n, read.null_found);
	return column;
}
