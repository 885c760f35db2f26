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
 * NULL is one more of them where constraints and types leave room for it
 * (not_null.c), whatever set_keys lists: rows whose key is NULL have a group.
 *
 * A foreign key declares keys only when it is validated; when the referenced
 * column has the same type; when the owner of the protected table, in whose
 * name the keys are published, may read the referenced column, and so may who
 * is shown them; when no row-level security applies to it; and when the referenced table has at most
 * DP_MAX_DECLARED_KEYS rows.  Otherwise the column counts as undeclared and
 * groups by it pass the threshold of a private key selection.  Keys that take
 * more memory than the caller has room for are not read to their end: they are
 * too_large, which is told of keys alone that might have been shown.
 *
 * A column of a table that is not protected, and that a query joins, has the
 * values that whoever reads it finds there, under the same conditions.
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
#include "access/tableam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "base/collations.h"
#include "base/compat.h"
#include "base/errors.h"
#include "base/input.h"
#include "policy/policy_int.h"
#include "policy/unit_types.h"

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
		dp_raise(BAD_PARAMETER, errmsg("column \"%s\" of type %s cannot be %s: choose a column of another type",
									   column, format_type_be(type), what),
				 errdetail("The type has no equality that can be sorted and hashed."));
	if (!dp_is_deterministic(collation))
		dp_raise(BAD_PARAMETER, errmsg("column \"%s\" cannot be %s: give it a deterministic collation",
									   column, what),
				 errdetail("Its collation takes different strings for equal."));
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

/* Notes that so many keys take more memory than was asked for. */
static void
give_up_keys(DpColumn *column, const DpColumnInfo *info, int n)
{
	column->too_large = true;
	/* the figure is about what there is room for, not about how far was read */
	column->nkeys = Min(n - 1, Max(info->room, 0) / DP_KEY_MEMORY);
}

/* Sorts and removes duplicates. */
static void
finish_keys(DpColumn *column, const DpColumnInfo *info, Datum *values, int n)
{
	int			distinct = dp_sort_keys(info->type, info->collation, values, n);

	if (distinct < 0)
		return;					/* the column's type was changed: undeclared */

	column->has_keys = true;
	column->nkeys = distinct;
	column->keys = values;
}

/* An error of the type's input function is one of the policy: the column had another type when it got its keys. */
static void
blame_keys(void *arg)
{
	const DpColumnInfo *info = arg;

	if (ERRCODE_TO_CATEGORY(geterrcode()) != ERRCODE_DATA_EXCEPTION)
		return;
	errcode(ERRCODE_DP_BAD_PARAMETER);
	errmsg("declared keys of column \"%s\" of table \"%s\" do not have its type %s any more; the owner has to call dp_cdp.set_keys or dp_cdp.drop_keys",
		   get_attname(info->relid, info->attnum, false), get_rel_name(info->relid),
		   format_type_with_typemod(info->type, info->typmod));
}

/* Returns what the keys take that were listed. */
static int64
keys_from_label(DpColumn *column, const DpColumnInfo *info, const DpLabel *label)
{
	Datum	   *values = palloc(Max(label->nkeys, 1) * sizeof(Datum));
	Oid			input;
	Oid			ioparam;
	int			n = 0;
	int64		memory = 0;
	int			level = dp_begin_portable_text();
	ErrorContextCallback blame = {error_context_stack, blame_keys, (void *) info};

	/*
	 * its values are read in lower case, and as they are written: those of a
	 * list would be neither
	 */
	if (dp_is_citext(info->type))
	{
		dp_end_portable_text(level);
		return 0;
	}
	error_context_stack = &blame;
	getTypeInputInfo(info->type, &input, &ioparam);
	for (int i = 0; i < label->nkeys && memory <= info->room; i++)
	{
		/* whether NULL is one is not the label's to say */
		if (label->keys[i] == NULL)
			continue;
		values[n] = OidInputFunctionCall(input, label->keys[i], ioparam, info->typmod);
		memory += dp_key_memory(values[n++], info->typbyval, info->typlen);
	}
	error_context_stack = blame.previous;
	dp_end_portable_text(level);
	if (memory > info->room)
		give_up_keys(column, info, n);
	else
		finish_keys(column, info, values, n);
	return memory;
}

/* Takes keys that are known; they belong to the cache. */
static void
take_known_keys(DpColumn *column, const DpKnownColumn *known)
{
	column->has_keys = true;
	column->keys = known->keys;
	column->nkeys = known->nkeys;
}

static void
keys_from_enum(DpColumn *column, const DpColumnInfo *info)
{
	Relation	rel = table_open(EnumRelationId, AccessShareLock);
	Relation	index = index_open(EnumTypIdSortOrderIndexId, AccessShareLock);
	int			size = 64;
	Datum	   *values = palloc(size * sizeof(Datum));
	int			n = 0;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	dp_held_note_unwatched();
	ScanKeyInit(&key, Anum_pg_enum_enumtypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(info->type));
	scan = systable_beginscan_ordered(rel, index, NULL, 1, &key);
	while (n <= info->room / DP_KEY_MEMORY &&
		   (tuple = systable_getnext_ordered(scan, ForwardScanDirection)) != NULL)
	{
		if (n + 1 >= size)
			values = repalloc(values, (size *= 2) * sizeof(Datum));
		values[n++] = ObjectIdGetDatum(((Form_pg_enum) GETSTRUCT(tuple))->oid);
	}
	systable_endscan_ordered(scan);
	index_close(index, AccessShareLock);
	table_close(rel, AccessShareLock);
	if (n > info->room / DP_KEY_MEMORY)
		give_up_keys(column, info, n);
	else
		finish_keys(column, info, values, n);
}

/* ------------------------------------------------------------------------
 * Values of a column
 * ------------------------------------------------------------------------
 */

/* Takes what was read for the column's keys. */
static void
finish_read(DpColumn *column, const DpColumnInfo *info, DpColumnValues *read)
{
	dp_sort_column_values(read, info);
	if (read->memory > info->room)
		give_up_keys(column, info, read->n);
	else
		finish_keys(column, info, read->values, read->n);
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
foreign_key_declares(const ForeignKeyCacheInfo *fk, const DpColumnInfo *info, Oid reader)
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
	return !dp_is_citext(info->type) && IsBinaryCoercible(getBaseType(type), info->type);
}

static void
keys_from_foreign_key(DpColumn *column, const DpColumnInfo *info, Oid reader)
{
	Relation	rel = table_open(info->relid, AccessShareLock);
	Oid			referenced = InvalidOid;
	char	   *name = NULL;
	DpColumnValues read;

	foreach_ptr(ForeignKeyCacheInfo, fk, copyObject(RelationGetFKeyList(rel)))
	{
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
	if (dp_read_column_values(referenced, name, get_rel_relkind(referenced) == RELKIND_PARTITIONED_TABLE, info, &read))
		finish_read(column, info, &read);
}

/* Finds the keys of a column that has none of its own, by its type or a foreign key. */
static void
keys_from_table(DpColumn *column, const DpColumnInfo *info, Oid reader)
{
	if (info->type == BOOLOID)
	{
		Datum	   *values = palloc(2 * sizeof(Datum));

		values[0] = BoolGetDatum(false);
		values[1] = BoolGetDatum(true);
		finish_keys(column, info, values, 2);
	}
	else if (type_is_enum(info->type))
		keys_from_enum(column, info);
	else
		keys_from_foreign_key(column, info, reader);
}

/* ------------------------------------------------------------------------
 * Entry points
 * ------------------------------------------------------------------------
 */

static DpColumn *
make_column(Oid relid, AttrNumber attnum, int64 room, DpColumnInfo *info, NameData *name)
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
	info->room = room;
	get_typlenbyval(info->type, &info->typlen, &info->typbyval);
	column->keytype = att->atttypid;
	*name = att->attname;
	ReleaseSysCache(tuple);
	return column;
}

/* Reads a finite date or time, in days or microseconds; false if text is none. */
static bool
read_time(const char *text, Oid type, int64 *time)
{
	Datum		value;

	if (!dp_try_input(text, type, -1, &value))
		return false;
	*time = type == DATEOID ? DatumGetDateADT(value) : DatumGetTimestamp(value);
	return type == DATEOID ? !DATE_NOT_FINITE(*time) : !TIMESTAMP_NOT_FINITE(*time);
}

/*
 * Sets bounds of dates and times, if what the label says is such: the type of
 * a column may have been altered.
 */
static void
set_times(DpColumn *column, const DpColumnInfo *info, const DpLabel *label)
{
	column->has_times = label->first != NULL && dp_type_is_time(info->type) &&
		read_time(label->first, info->type, &column->first) && read_time(label->last, info->type, &column->last) &&
		column->first < column->last;
}

/* Tells whether what is known of a column is enough; with_keys: for its keys, in so much room, too. */
static bool
knows_enough(const DpKnownColumn *known, bool with_keys, int64 room)
{
	if (known == NULL || !with_keys || known->label == NULL || !known->label->has_keys)
		return known != NULL;
	return known->has_keys && known->memory <= room;
}

/* Remembers what was read of a column when the generation was before, and its keys, if they were. */
static void
remember_column(const DpColumnInfo *info, const DpLabel *label, const DpColumn *column, int64 memory, uint64 before)
{
	DpKnownColumns *columns = dp_known_columns(info->relid);

	if (columns == NULL || before != dp_policy_generation())
		return;
	if (dp_known_column(columns, info->attnum) == NULL)
		dp_know_label(columns, info->attnum, label);
	if (label != NULL && label->has_keys)
		dp_know_keys(columns, dp_known_column(columns, info->attnum), column, info, memory);
}

/* Returns the label of a column of a protected table, with the number that it has there; NULL: it has none. */
static DpLabel *
read_label(const DpTable *table, AttrNumber attnum, const char *name)
{
	AttrNumber	labelled_attnum = table->labelled == table->relid ? attnum : get_attnum(table->labelled, name);

	return labelled_attnum > 0 ? dp_label_get(table->labelled, labelled_attnum) : NULL;
}

static DpColumn *
column_policy(Oid relid, AttrNumber attnum, bool with_keys, Oid reader, int64 room)
{
	const DpTable *table = dp_policy_table(relid);
	uint64		generation = dp_policy_generation();
	DpLabel    *label = NULL;
	DpColumnInfo info;
	NameData	name;
	DpColumn   *column = make_column(relid, attnum, room, &info, &name);
	bool		is_labelled = table != NULL && attnum > 0;
	const DpKnownColumn *known = NULL;
	int64		memory = 0;

	/* labels of a parent go with the parent's entry */
	if (is_labelled && table->labelled == relid)
		known = dp_known_column(dp_known_columns(relid), attnum);
	if (!knows_enough(known, with_keys, room))
		known = NULL;
	if (is_labelled)
		label = known ? known->label : read_label(table, attnum, NameStr(name));

	if (label != NULL && label->has_bounds)
	{
		column->has_bounds = true;
		column->lower = label->lower;
		column->upper = label->upper;
		column->has_totals = label->has_totals;
		column->total_lower = label->total_lower;
		column->total_upper = label->total_upper;
	}
	if (label != NULL)
		set_times(column, &info, label);

	if (with_keys && label != NULL && label->has_keys)
	{
		if (known)
			take_known_keys(column, known);
		else
			memory = keys_from_label(column, &info, label);
	}
	if (known == NULL && is_labelled && table->labelled == relid)
		remember_column(&info, label, column, memory, generation);
	if (!with_keys || attnum < 0)
		return column;
	if (label == NULL || !label->has_keys)
		keys_from_table(column, &info, reader);
	column->null_key = column->has_keys && !dp_column_is_not_null(relid, attnum);
	return column;
}

DpColumn *
dp_policy_column(Oid relid, AttrNumber attnum, Oid reader, int64 room)
{
	return column_policy(relid, attnum, true, reader, room);
}

bool
dp_type_is_time(Oid type)
{
	type = getBaseType(type);
	return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

bool
dp_type_has_bounds(Oid type)
{
	switch (getBaseType(type))
	{
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
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
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "dp_cdp bounds of a column",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(scratch);
	DpColumn   *column = column_policy(relid, attnum, false, InvalidOid, 0);
	DpColumn   *result;

	/* the label may have a million keys, too */
	MemoryContextSwitchTo(caller);
	result = palloc0(sizeof(DpColumn));
	result->keytype = column->keytype;
	result->has_bounds = column->has_bounds;
	if (result->has_bounds)
	{
		result->lower = DatumGetNumericCopy(NumericGetDatum(column->lower));
		result->upper = DatumGetNumericCopy(NumericGetDatum(column->upper));
	}
	result->has_times = column->has_times;
	result->first = column->first;
	result->last = column->last;
	result->has_totals = column->has_totals;
	if (result->has_totals)
	{
		result->total_lower = DatumGetNumericCopy(NumericGetDatum(column->total_lower));
		result->total_upper = DatumGetNumericCopy(NumericGetDatum(column->total_upper));
	}
	MemoryContextDelete(scratch);
	return result;
}

DpColumn *
dp_policy_public_column(Oid relid, AttrNumber attnum, bool inherit, Oid reader, int64 room)
{
	DpColumnInfo info;
	NameData	name;
	DpColumn   *column = make_column(relid, attnum, room, &info, &name);
	DpColumnValues read;

	if (attnum > 0 && !dp_is_virtual_column(relid, attnum) &&
		is_public_column(relid, attnum, reader) &&
		dp_is_deterministic(info.collation) &&
		dp_read_column_values(relid, NameStr(name), inherit, &info, &read))
	{
		finish_read(column, &info, &read);
		column->null_key = column->has_keys && read.null_found;
	}
	return column;
}
