/*-------------------------------------------------------------------------
 *
 * fingerprint_values.c
 *	  How names, objects and values stand in the text of a question.
 *
 * Values are their bytes, not what an output function makes of them, which
 * depends on settings.  Labels stand for values of enums, whose numbers differ
 * from database to database; the same is not done for numbers of objects
 * (regclass and its like) and for enums within ranges: a copy of the database
 * takes those for other values.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "base/extension.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "common/cryptohash.h"
#include "common/int.h"
#include "release/fingerprint.h"
#include "utils/array.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* longer ones stand as their hash */
#define MAX_BYTES 64

void
dp_fingerprint_hash(const void *bytes, Size length, uint8 *hash)
{
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);

	if (context == NULL || pg_cryptohash_init(context) < 0 ||
		pg_cryptohash_update(context, bytes, length) < 0 ||
		pg_cryptohash_final(context, hash, DP_FINGERPRINT_BYTES) < 0)
		elog(ERROR, "could not compute a hash: %s", pg_cryptohash_error(context));
	pg_cryptohash_free(context);
}

static void
put_hex(StringInfo text, const uint8 *bytes, Size length)
{
	static const char digits[] = "0123456789abcdef";

	for (Size i = 0; i < length; i++)
	{
		appendStringInfoCharMacro(text, digits[bytes[i] >> 4]);
		appendStringInfoCharMacro(text, digits[bytes[i] & 15]);
	}
}

/* Writes bytes; many of them as their number and hash. */
static void
put_bytes(StringInfo text, const void *bytes, Size length)
{
	uint8		hash[DP_FINGERPRINT_BYTES];

	if (length <= MAX_BYTES)
	{
		put_hex(text, bytes, length);
		return;
	}
	dp_fingerprint_hash(bytes, length, hash);
	appendStringInfo(text, "#%zu:", length);
	put_hex(text, hash, sizeof(hash));
}

void
dp_fingerprint_name(StringInfo text, const char *name)
{
	appendStringInfoCharMacro(text, '\'');
	for (const char *c = name; *c; c++)
	{
		if ((unsigned char) *c < 0x20 || *c == '\'' || *c == '\\' || *c == DP_FINGERPRINT_REFERENCE)
			appendStringInfo(text, "\\%02x", (unsigned char) *c);
		else
			appendStringInfoCharMacro(text, *c);
	}
	appendStringInfoCharMacro(text, '\'');
}

/* ------------------------------------------------------------------------
 * Objects
 * ------------------------------------------------------------------------
 */

static void
put_schema(StringInfo text, Oid schema)
{
	char	   *name = get_namespace_name(schema);

	dp_fingerprint_name(text, name ? name : "");
	appendStringInfoCharMacro(text, '.');
}

static HeapTuple
get_object(int cache, Oid objid)
{
	HeapTuple	tuple = SearchSysCache1(cache, ObjectIdGetDatum(objid));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for object %u", objid);
	return tuple;
}

/* Writes an attribute of a catalogue's row, of a type by reference, if it has one. */
static void
put_attribute(StringInfo text, int cache, HeapTuple tuple, AttrNumber attribute)
{
	bool		isnull;
	Datum		value = SysCacheGetAttr(cache, tuple, attribute, &isnull);

	appendStringInfoCharMacro(text, ':');
	if (!isnull)
	{
		struct varlena *plain = PG_DETOAST_DATUM(value);

		put_bytes(text, VARDATA(plain), VARSIZE(plain) - VARHDRSZ);
	}
}

/* Writes a function with its arguments' types; one of a user's with what it is made of. */
static void
put_function(StringInfo text, Oid funcid)
{
	HeapTuple	tuple = get_object(PROCOID, funcid);
	Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(tuple);

	put_schema(text, proc->pronamespace);
	dp_fingerprint_name(text, NameStr(proc->proname));
	appendStringInfoCharMacro(text, '(');
	for (int i = 0; i < proc->pronargs; i++)
	{
		dp_fingerprint_object(text, TypeRelationId, proc->proargtypes.values[i]);
		appendStringInfoCharMacro(text, ',');
	}
	appendStringInfoCharMacro(text, ')');
	if (funcid >= FirstNormalObjectId && !dp_is_own(ProcedureRelationId, funcid))
	{
		put_attribute(text, PROCOID, tuple, Anum_pg_proc_prosrc);
		put_attribute(text, PROCOID, tuple, Anum_pg_proc_probin);
		put_attribute(text, PROCOID, tuple, Anum_pg_proc_proconfig);
		put_attribute(text, PROCOID, tuple, Anum_pg_proc_prosqlbody);
	}
	ReleaseSysCache(tuple);
}

static void
put_relation(StringInfo text, Oid relid)
{
	HeapTuple	tuple = get_object(RELOID, relid);
	Form_pg_class class = (Form_pg_class) GETSTRUCT(tuple);

	put_schema(text, class->relnamespace);
	dp_fingerprint_name(text, NameStr(class->relname));
	/* sessions that come after one another have temporary tables of one name */
	if (class->relpersistence == RELPERSISTENCE_TEMP)
		appendStringInfo(text, "%u", relid);
	ReleaseSysCache(tuple);
}

static void
put_type(StringInfo text, Oid type)
{
	HeapTuple	tuple = get_object(TYPEOID, type);
	Form_pg_type form = (Form_pg_type) GETSTRUCT(tuple);

	/* the name of an array's type is not the user's to choose */
	if (OidIsValid(form->typelem) && form->typlen == -1)
	{
		dp_fingerprint_object(text, TypeRelationId, form->typelem);
		appendStringInfoString(text, "[]");
	}
	else
	{
		put_schema(text, form->typnamespace);
		dp_fingerprint_name(text, NameStr(form->typname));
	}
	ReleaseSysCache(tuple);
}

/* Writes a collation with what it is made of. */
static void
put_collation(StringInfo text, Oid collation)
{
	HeapTuple	tuple = get_object(COLLOID, collation);
	Form_pg_collation form = (Form_pg_collation) GETSTRUCT(tuple);

	put_schema(text, form->collnamespace);
	dp_fingerprint_name(text, NameStr(form->collname));
	appendStringInfo(text, "%c%d%d", form->collprovider, form->collisdeterministic, form->collencoding);
	for (AttrNumber i = Anum_pg_collation_collcollate; i < Anum_pg_collation_collversion; i++)
		put_attribute(text, COLLOID, tuple, i);
	ReleaseSysCache(tuple);
}

static void
put_operator(StringInfo text, Oid opno)
{
	HeapTuple	tuple = get_object(OPEROID, opno);
	Form_pg_operator form = (Form_pg_operator) GETSTRUCT(tuple);

	put_schema(text, form->oprnamespace);
	dp_fingerprint_name(text, NameStr(form->oprname));
	appendStringInfoCharMacro(text, '(');
	dp_fingerprint_object(text, TypeRelationId, form->oprleft);
	appendStringInfoCharMacro(text, ',');
	dp_fingerprint_object(text, TypeRelationId, form->oprright);
	appendStringInfoCharMacro(text, ')');
	ReleaseSysCache(tuple);
}

void
dp_fingerprint_object(StringInfo text, Oid classid, Oid objid)
{
	/* later ones are numbered anew by initdb, or by whoever makes them */
	if (objid < FirstGenbkiObjectId)
	{
		appendStringInfo(text, "%u", objid);
		return;
	}
	switch (classid)
	{
		case RelationRelationId:
			put_relation(text, objid);
			break;
		case TypeRelationId:
			put_type(text, objid);
			break;
		case ProcedureRelationId:
			put_function(text, objid);
			break;
		case OperatorRelationId:
			put_operator(text, objid);
			break;
		case CollationRelationId:
			put_collation(text, objid);
			break;
		default:
			elog(ERROR, "unexpected catalogue %u", classid);
	}
}

/* ------------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------------
 */

static void
put_label(StringInfo text, Oid value)
{
	HeapTuple	tuple = get_object(ENUMOID, value);

	dp_fingerprint_name(text, NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel));
	ReleaseSysCache(tuple);
}

/* Writes an array of an enum by its labels. */
static void
put_labels(StringInfo text, ArrayType *array)
{
	Datum	   *values;
	bool	   *nulls;
	int			n;

	for (int i = 0; i < ARR_NDIM(array); i++)
		appendStringInfo(text, "[%d+%d]", ARR_LBOUND(array)[i], ARR_DIMS(array)[i]);
	deconstruct_array(array, ARR_ELEMTYPE(array), sizeof(Oid), true, TYPALIGN_INT, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			appendStringInfoCharMacro(text, '-');
		else
			put_label(text, DatumGetObjectId(values[i]));
	}
}

static void
put_varlena(StringInfo text, Oid base, Datum value)
{
	struct varlena *plain = PG_DETOAST_DATUM_PACKED(value);
	Oid			element = get_element_type(base);

	if (OidIsValid(element) && get_typtype(getBaseType(element)) == TYPTYPE_ENUM)
		put_labels(text, DatumGetArrayTypeP(value));
	else if (OidIsValid(element) && element >= FirstGenbkiObjectId)
	{
		/* its number is in the array */
		ArrayType  *array = DatumGetArrayTypePCopy(value);

		ARR_ELEMTYPE(array) = InvalidOid;
		put_bytes(text, VARDATA(array), VARSIZE(array) - VARHDRSZ);
	}
	else
		put_bytes(text, VARDATA_ANY(plain), VARSIZE_ANY_EXHDR(plain));
	if ((Pointer) plain != DatumGetPointer(value))
		pfree(plain);
}

void
dp_fingerprint_value(StringInfo text, Oid type, Oid collation, Datum value, bool isnull)
{
	Oid			base = getBaseType(type);
	int16		length;
	bool		byval;

	/* in front of all other expressions where such are in order */
	appendStringInfoCharMacro(text, '!');
	dp_fingerprint_object(text, TypeRelationId, type);
	appendStringInfoCharMacro(text, ',');
	dp_fingerprint_object(text, CollationRelationId, collation);
	appendStringInfoCharMacro(text, isnull ? '-' : ',');
	if (isnull)
		return;
	get_typlenbyval(base, &length, &byval);
	if (get_typtype(base) == TYPTYPE_ENUM)
		put_label(text, DatumGetObjectId(value));
	else if (byval)
	{
		Datum		bytes = 0;

		store_att_byval(&bytes, value, length);
		put_bytes(text, &bytes, length);
	}
	else if (length == -1)
		put_varlena(text, base, value);
	else
		put_bytes(text, DatumGetPointer(value), length > 0 ? length : strlen(DatumGetCString(value)));
}

/* ------------------------------------------------------------------------
 * Bounds
 * ------------------------------------------------------------------------
 */

bool
dp_fingerprint_has_steps(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == DATEOID;
}

/* Sets the value that is a step from another; false if there is none. */
static bool
find_neighbour(Oid type, Datum value, int step, Datum *neighbour)
{
	int16		small;
	int32		number;
	int64		large;

	switch (type)
	{
		case INT2OID:
			if (pg_add_s16_overflow(DatumGetInt16(value), step, &small))
				return false;
			*neighbour = Int16GetDatum(small);
			return true;
		case INT4OID:
			if (pg_add_s32_overflow(DatumGetInt32(value), step, &number))
				return false;
			*neighbour = Int32GetDatum(number);
			return true;
		case INT8OID:
			if (pg_add_s64_overflow(DatumGetInt64(value), step, &large))
				return false;
			*neighbour = Int64GetDatum(large);
			return true;
		case DATEOID:
			/* no date is next to the infinite ones */
			if (DATE_NOT_FINITE(DatumGetDateADT(value)) || !IS_VALID_DATE(DatumGetDateADT(value) + step))
				return false;
			*neighbour = DateADTGetDatum(DatumGetDateADT(value) + step);
			return true;
	}
	elog(ERROR, "unexpected type %u of a bound", type);
}

void
dp_fingerprint_bound(StringInfo text, Oid type, Oid collation, Datum value, bool isnull, int step)
{
	Datum		neighbour = 0;

	if (step != 0 && !isnull)
	{
		if (find_neighbour(type, value, step, &neighbour))
			value = neighbour;
		else
			appendStringInfoString(text, step < 0 ? "!<" : "!>");
	}
	dp_fingerprint_value(text, type, collation, value, isnull);
}
