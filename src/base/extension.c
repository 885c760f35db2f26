/*-------------------------------------------------------------------------
 *
 * extension.c
 *	  The extension in the catalogues, and the objects that belong to it.
 *
 * Each private query looks up some thirty types and functions of the
 * extension, so that what is a member of it is remembered.
 *
 * Invariants:
 *	- the row of pg_extension decides, which only a superuser can make; a
 *	  schema or table that happens to have a name of ours proves nothing.
 *	- only members are remembered, by OID; names are looked up each time, in
 *	  PostgreSQL's own caches.
 *	- the extension and its schemas are created and dropped together, so that an
 *	  invalidation of pg_namespace comes with each change, and one of the
 *	  object's own catalogue with each drop or change of a member.  ALTER
 *	  EXTENSION ... DROP sends none: it is for the extension's owner, and holds
 *	  for sessions that come after it, or from the object's next change on.
 *	- what was found while an invalidation arrived is not kept.
 *	- functions and types that only the extension itself calls are in a schema of
 *	  their own, the ledger's tables in the one for users.
 *	- tables are given out only where the objects are of the library's version,
 *	  which is read each time that it may have changed: ALTER EXTENSION ... UPDATE
 *	  sends no invalidation.
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
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_language.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "parser/parse_func.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/errors.h"
#include "base/extension.h"
#include "base/moment.h"

/* of the control file */
#ifndef DP_VERSION
#error "the Makefile defines DP_VERSION"
#endif

typedef struct Member
{
	struct
	{
		Oid			classid;
		Oid			objid;
	}			key;
	int			cacheid;		/* of PostgreSQL's cache of its catalogue */
	uint32		hashvalue;		/* in it */
} Member;

static HTAB *members = NULL;

/* counts invalidations, so that a search can tell whether one came in between */
static uint64 generation = 0;

/* OIDs of the extension, valid if it is known whether it is installed */
static bool extension_known = false;
static Oid	extension_oid = InvalidOid;
static Oid	extension_schema = InvalidOid;
static Oid	own_schema = InvalidOid;
static Oid	internal_schema = InvalidOid;

/* ------------------------------------------------------------------------
 * Invalidation
 * ------------------------------------------------------------------------
 */

static void
schema_changed(Datum arg, int cacheid, uint32 hashvalue)
{
	generation++;
	extension_known = false;
	if (members != NULL)
		hash_destroy(members);
	members = NULL;
}

/* hashvalue 0: any object of the catalogue */
static void
object_changed(Datum arg, int cacheid, uint32 hashvalue)
{
	HASH_SEQ_STATUS seq;
	Member	   *member;

	generation++;
	if (members == NULL)
		return;
	hash_seq_init(&seq, members);
	while ((member = hash_seq_search(&seq)) != NULL)
	{
		if (member->cacheid == cacheid && (hashvalue == 0 || member->hashvalue == hashvalue))
			hash_search(members, &member->key, HASH_REMOVE, NULL);
	}
}

/* Listens from the first question on instead of server start: a library loaded later answers some, too. */
static void
register_callbacks(void)
{
	static bool registered = false;

	if (registered)
		return;
	CacheRegisterSyscacheCallback(NAMESPACEOID, schema_changed, (Datum) 0);
	CacheRegisterSyscacheCallback(PROCOID, object_changed, (Datum) 0);
	CacheRegisterSyscacheCallback(TYPEOID, object_changed, (Datum) 0);
	CacheRegisterSyscacheCallback(RELOID, object_changed, (Datum) 0);
	registered = true;
}

/* ------------------------------------------------------------------------
 * The extension
 * ------------------------------------------------------------------------
 */

/* Reads owner, schema and, with version, that of an extension; false when there is none with that OID. */
static bool
read_extension(Oid extension, Oid *owner, Oid *schema, char **version)
{
	Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found;

	ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(extension));
	scan = systable_beginscan(rel, ExtensionOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	found = HeapTupleIsValid(tuple);
	if (found)
	{
		*owner = ((Form_pg_extension) GETSTRUCT(tuple))->extowner;
		*schema = ((Form_pg_extension) GETSTRUCT(tuple))->extnamespace;
		if (version != NULL)
		{
			bool		isnull;
			Datum		value = heap_getattr(tuple, Anum_pg_extension_extversion, RelationGetDescr(rel), &isnull);

			*version = isnull ? pstrdup("") : TextDatumGetCString(value);
		}
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

/* Tells whether a schema of one of our names is no member of the extension that there is. */
static bool
is_stranger(Oid schema)
{
	return OidIsValid(schema) && OidIsValid(extension_oid) &&
		getExtensionOfObject(NamespaceRelationId, schema) != extension_oid;
}

static void
look_up_extension(void)
{
	uint64		before;
	Oid			owner;
	bool		stranger;
	bool		inner_stranger;

	if (extension_known)
		return;

	register_callbacks();
	before = generation;
	extension_oid = extension_schema = InvalidOid;
	own_schema = get_namespace_oid(DP_SCHEMA, true);
	internal_schema = get_namespace_oid(DP_INTERNAL_SCHEMA, true);
	if (OidIsValid(own_schema))
		extension_oid = get_extension_oid("dp_cdp", true);
	stranger = is_stranger(own_schema);
	inner_stranger = is_stranger(internal_schema);
	if (!OidIsValid(extension_oid) || stranger ||
		!read_extension(extension_oid, &owner, &extension_schema, NULL))
		extension_oid = own_schema = internal_schema = InvalidOid;
	else if (inner_stranger)
		internal_schema = InvalidOid;
	/* a schema is made a member of an extension without an invalidation */
	extension_known = before == generation && !stranger && !inner_stranger;
}

bool
dp_extension_installed(void)
{
	look_up_extension();
	return OidIsValid(extension_oid);
}

Oid
dp_extension_oid(void)
{
	look_up_extension();
	return extension_oid;
}

Oid
dp_own_schema(void)
{
	look_up_extension();
	return own_schema;
}

Oid
dp_internal_schema(void)
{
	look_up_extension();
	return internal_schema;
}

bool
dp_is_own_schema(Oid schema)
{
	look_up_extension();
	return OidIsValid(schema) && (schema == own_schema || schema == internal_schema);
}

Oid
dp_public_schema(void)
{
	look_up_extension();
	return extension_schema;
}

/* Reads the owner each time: REASSIGN OWNED changes it without any invalidation. */
Oid
dp_owner_of_extension(Oid extension)
{
	Oid			owner = InvalidOid;
	Oid			schema;

	(void) read_extension(extension, &owner, &schema, NULL);
	return owner;
}

Oid
dp_extension_owner(void)
{
	look_up_extension();
	return OidIsValid(extension_oid) ? dp_owner_of_extension(extension_oid) : InvalidOid;
}

void
dp_check_version(void)
{
	static DpMoment checked;	/* it was this version */
	DpMoment	moment;
	Oid			owner;
	Oid			schema;
	char	   *version;

	if (dp_moment_lasts(&checked))
		return;
	dp_moment_note(&moment);
	if (!dp_extension_installed() || (creating_extension && CurrentExtensionObject == extension_oid) ||
		!read_extension(extension_oid, &owner, &schema, &version))
		return;
	if (strcmp(version, DP_VERSION) != 0)
		dp_raise(BAD_PARAMETER,
				 errmsg("dp_cdp has version %s in this database, and the server's library has version %s: run ALTER EXTENSION dp_cdp UPDATE, or restart the server with the former library",
						version, DP_VERSION));
	pfree(version);
	checked = moment;
}

/* ------------------------------------------------------------------------
 * Its members
 * ------------------------------------------------------------------------
 */

/* Returns the cache by whose invalidations a member of that catalogue is forgotten; -1: none. */
static int
cache_of(Oid classid)
{
	switch (classid)
	{
		case ProcedureRelationId:
			return PROCOID;
		case TypeRelationId:
			return TYPEOID;
		case RelationRelationId:
			return RELOID;
		default:
			return -1;
	}
}

/* Keeps a member that was found when generation was before, unless an invalidation has come since. */
static void
remember(Oid classid, Oid objid, uint64 before)
{
	Member		member = {{classid, objid}, cache_of(classid)};

	if (member.cacheid < 0)
		return;
	/* the first use of a cache opens its catalogue, which reads invalidations */
	member.hashvalue = GetSysCacheHashValue1(member.cacheid, ObjectIdGetDatum(objid));
	if (before != generation)
		return;
	if (members == NULL)
	{
		HASHCTL		ctl = {0};

		ctl.keysize = sizeof(member.key);
		ctl.entrysize = sizeof(Member);
		ctl.hcxt = CacheMemoryContext;
		members = hash_create("dp_cdp members", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	*(Member *) hash_search(members, &member.key, HASH_ENTER, NULL) = member;
}

bool
dp_is_own(Oid classid, Oid objid)
{
	Oid			key[] = {classid, objid};
	uint64		before;

	if (!dp_extension_installed() || !OidIsValid(objid))
		return false;
	if (members != NULL && hash_search(members, key, HASH_FIND, NULL) != NULL)
		return true;
	before = generation;
	if (getExtensionOfObject(classid, objid) != extension_oid)
		return false;
	remember(classid, objid, before);
	return true;
}

PGFunction
dp_own_c_function(Oid funcid)
{
	FmgrInfo	info;

	if (funcid < FirstNormalObjectId || !dp_is_own(ProcedureRelationId, funcid))
		return NULL;
	fmgr_info(funcid, &info);
	return info.fn_addr;
}

Oid
dp_own_table(const char *name)
{
	Oid			relid = InvalidOid;

	dp_check_version();
	if (dp_extension_installed())
		relid = get_relname_relid(name, internal_schema);
	if (!dp_is_own(RelationRelationId, relid) || get_rel_relkind(relid) != RELKIND_RELATION)
		return InvalidOid;
	return relid;
}

Oid
dp_own_type(const char *name)
{
	Oid			type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(name),
									   ObjectIdGetDatum(dp_internal_schema()));

	if (!dp_is_own(TypeRelationId, type))
		elog(ERROR, "type %s.%s does not exist", DP_INTERNAL_SCHEMA, name);
	return type;
}

/* Returns the row of a member's, for ReleaseSysCache; NULL when there is none. */
static HeapTuple
search_routine(Oid schema, const char *name, int nargs, const Oid *argtypes)
{
	HeapTuple	tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(name),
										PointerGetDatum(buildoidvector(argtypes, nargs)),
										ObjectIdGetDatum(schema));

	if (HeapTupleIsValid(tuple) &&
		!dp_is_own(ProcedureRelationId, ((Form_pg_proc) GETSTRUCT(tuple))->oid))
	{
		ReleaseSysCache(tuple);
		return NULL;
	}
	return tuple;
}

static void
routine_is_missing(const char *kind, const char *schema, const char *name, int nargs, const Oid *argtypes)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_FUNCTION),
			 errmsg("%s %s.%s is missing or altered; run ALTER EXTENSION dp_cdp UPDATE",
					kind, schema, funcname_signature_string(name, nargs, NIL, argtypes))));
}

static Oid
routine_of_schema(Oid schema, const char *name, int nargs, const Oid *argtypes)
{
	HeapTuple	tuple = search_routine(schema, name, nargs, argtypes);
	Oid			result;

	if (!HeapTupleIsValid(tuple))
		routine_is_missing("function", schema == internal_schema ? DP_INTERNAL_SCHEMA : get_namespace_name(schema), name, nargs, argtypes);
	result = ((Form_pg_proc) GETSTRUCT(tuple))->oid;
	ReleaseSysCache(tuple);
	return result;
}

Oid
dp_own_routine(const char *name, int nargs, const Oid *argtypes)
{
	return routine_of_schema(dp_internal_schema(), name, nargs, argtypes);
}

Oid
dp_public_routine(const char *name, int nargs, const Oid *argtypes)
{
	return routine_of_schema(dp_public_schema(), name, nargs, argtypes);
}

static bool
is_strict_c_function(Form_pg_proc proc)
{
	return proc->prolang == ClanguageId && proc->proisstrict && !proc->proretset;
}

static bool
is_aggregate(Form_pg_proc proc)
{
	return proc->prokind == PROKIND_AGGREGATE;
}

/* Returns our routine of this result for which fits holds; an error names the missing one a kind. */
static Oid
own_routine_of_kind(const char *kind, bool (*fits) (Form_pg_proc),
					const char *name, int nargs, const Oid *argtypes, Oid result)
{
	HeapTuple	tuple = search_routine(dp_internal_schema(), name, nargs, argtypes);
	Oid			funcid = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(tuple);

		if (proc->prorettype == result && fits(proc))
			funcid = proc->oid;
		ReleaseSysCache(tuple);
	}
	if (!OidIsValid(funcid))
		routine_is_missing(kind, DP_INTERNAL_SCHEMA, name, nargs, argtypes);
	return funcid;
}

Oid
dp_own_function(const char *name, int nargs, const Oid *argtypes, Oid result)
{
	return own_routine_of_kind("function", is_strict_c_function, name, nargs, argtypes, result);
}

Oid
dp_own_aggregate(const char *name, int nargs, const Oid *argtypes, Oid result)
{
	return own_routine_of_kind("aggregate", is_aggregate, name, nargs, argtypes, result);
}
