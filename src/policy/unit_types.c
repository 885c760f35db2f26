/*-------------------------------------------------------------------------
 *
 * unit_types.c
 *	  Which types the column that names a privacy unit may have.
 *
 * Values are one unit's that the type's default equality takes for equal, by
 * which it is sorted and hashed, too.  These functions run on rows, so they
 * must be known not to fail, nor to do anything but to compare: those of
 * PostgreSQL's own types are, and so are those of citext, which fold case as
 * lower() does in the database's collation and compare the bytes.  They take
 * memory in proportion to the string, so that units must not be too long
 * (guard/read/protected_table.c), and not every encoding is folded
 * without errors.
 *
 * citext is known by its functions, which only superusers can make: its type
 * may be anybody's.
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
#include "catalog/pg_collation_d.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "base/collations.h"
#include "base/compat.h"
#include "policy/policy.h"
#include "policy/unit_types.h"

/* Returns an attribute of a function that is text, or "". */
static const char *
text_attribute(HeapTuple tuple, AttrNumber attnum)
{
	bool		isnull;
	Datum		value = SysCacheGetAttr(PROCOID, tuple, attnum, &isnull);

	return isnull ? "" : TextDatumGetCString(value);
}

/* only superusers can make functions in these languages */
const char *
dp_citext_function(Oid funcid)
{
	HeapTuple	tuple;
	Form_pg_proc form;
	const char *name = NULL;

	if (funcid < FirstNormalObjectId)
		return NULL;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return NULL;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	if (superuser_arg(form->proowner) &&
		(form->prolang == INTERNALlanguageId ||
		 (form->prolang == ClanguageId && strcmp(text_attribute(tuple, Anum_pg_proc_probin), "$libdir/citext") == 0)))
		name = text_attribute(tuple, Anum_pg_proc_prosrc);
	ReleaseSysCache(tuple);
	return name;
}

/* Tells whether a function is that of the module citext which has this name there. */
static bool
is_of_citext(Oid funcid, const char *name)
{
	const char *found = dp_citext_function(funcid);

	return found != NULL && strcmp(found, name) == 0;
}

bool
dp_is_citext(Oid type)
{
	TypeCacheEntry *entry;

	/* asked of every node: PostgreSQL's own types need no look */
	if (type < FirstNormalObjectId || (type = getBaseType(type)) < FirstNormalObjectId)
		return false;
	entry = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR | TYPECACHE_CMP_PROC | TYPECACHE_HASH_PROC);
	return OidIsValid(entry->eq_opr) && is_of_citext(get_opcode(entry->eq_opr), "citext_eq") &&
		OidIsValid(entry->lt_opr) && is_of_citext(get_opcode(entry->lt_opr), "citext_lt") &&
		is_of_citext(entry->cmp_proc, "citext_cmp") && is_of_citext(entry->hash_proc, "citext_hash");
}

Oid
dp_type_as_read(Oid type, int32 *typmod)
{
	type = getBaseTypeAndTypmod(type, typmod);
	if (!dp_is_citext(type))
		return type;
	*typmod = -1;
	return TEXTOID;
}

bool
dp_is_unit_operator(Oid opno)
{
	Oid			left,
				right;
	TypeCacheEntry *entry;

	if (opno < FirstGenbkiObjectId)
		return true;
	op_input_types(opno, &left, &right);
	if (left != right || !dp_is_citext(left))
		return false;
	entry = lookup_type_cache(left, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);
	return opno == entry->eq_opr || opno == entry->lt_opr;
}

/* Tells whether each type that values are made of has comparisons of PostgreSQL's own. */
static bool
is_built_in(Oid type)
{
	TypeCacheEntry *entry;
	TupleDesc	desc;
	bool		result = true;

	check_stack_depth();
	type = getBaseType(type);
	if (OidIsValid(get_element_type(type)))
		return is_built_in(get_element_type(type));
	if (type < FirstNormalObjectId)
		return true;
	switch (get_typtype(type))
	{
		case TYPTYPE_ENUM:
			return true;
		case TYPTYPE_COMPOSITE:
			entry = lookup_type_cache(type, TYPECACHE_TUPDESC);
			desc = entry->tupDesc;
			for (int i = 0; desc != NULL && result && i < desc->natts; i++)
			{
				Form_pg_attribute att = TupleDescAttr(desc, i);

				result = att->attisdropped || (is_built_in(att->atttypid) && dp_is_deterministic(att->attcollation));
			}
			return desc != NULL && result;
		default:
			/* also ranges, whose order may be anybody's function */
			return false;
	}
}

const char *
dp_unit_type_problem(Oid type)
{
	if (!dp_is_citext(type))
		return is_built_in(type) ? NULL :
			"only PostgreSQL's own types, enums and citext are compared on rows";
	if (pg_database_encoding_max_length() > 1 && GetDatabaseEncoding() != PG_UTF8 && !dp_ctype_is_c(DEFAULT_COLLATION_OID))
		return psprintf("comparing its values may fail in encoding %s", GetDatabaseEncodingName());
	return NULL;
}

bool
dp_leads_to_unit(Oid relid, AttrNumber attnum)
{
	const DpTable *table = dp_policy_table(relid);
	Relation	rel;
	bool		result = false;

	if (table == NULL || attnum <= 0)
		return false;
	if (table->has_unit && get_attnum(relid, table->unit) == attnum)
		return true;
	for (int i = 0; i < table->nthrough; i++)
		if (get_attnum(relid, table->through[i]) == attnum)
			return true;
	if (dp_unit_type_problem(get_atttype(relid, attnum)) != NULL)
		return false;
	rel = table_open(relid, AccessShareLock);
	foreach_oid(item, RelationGetIndexList(rel))
	{
		Relation	index = index_open(item, AccessShareLock);

		/*
		 * one that could not be built, or has some rows only, says nothing of
		 * the others
		 */
		for (int i = 0; index->rd_index->indisunique && index->rd_index->indisvalid &&
			 RelationGetIndexPredicate(index) == NIL && i < index->rd_index->indnkeyatts; i++)
			result = result || index->rd_index->indkey.values[i] == attnum;
		index_close(index, NoLock);
	}
	table_close(rel, NoLock);
	return result;
}
