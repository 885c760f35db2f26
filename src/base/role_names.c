/*-------------------------------------------------------------------------
 *
 * role_names.c
 *	  Whether a role is still the one whose OID was written down.
 *
 * Balances and the audit outlive roles: a role can be dropped in a database
 * that knows nothing of the ledger, and a dump is restored where OIDs mean
 * others.  So each row has the role's name beside its OID, and means a role
 * only if both are right.
 *
 * A role that is renamed keeps its rows: the names that it had are kept in a
 * security label of the role itself, which every database sees and which goes
 * with the role.  What a row means after a restore stands in the table
 * dp_cdp_internal.role_alias, see src/ledger/link.c.
 *
 * Invariants:
 *	- a role of the same OID and another name, which it never had, gets
 *	  nothing that belonged to the old one;
 *	- former names count for one OID only: nobody gets rows by taking a name
 *	  for a while.
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
#include "base/compat.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type_d.h"
#include "commands/seclabel.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/extension.h"
#include "base/input.h"
#include "base/role_names.h"

/* ------------------------------------------------------------------------
 * Former names
 * ------------------------------------------------------------------------
 */

/* Returns the names of a label: a List of char *; false when it is none. */
static bool
parse_label(const char *label, List **names)
{
	Datum		value;
	Datum	   *elements;
	bool	   *nulls;
	int			n;

	*names = NIL;
	if (!dp_try_input(label, TEXTARRAYOID, -1, &value) ||
		ARR_NDIM(DatumGetArrayTypeP(value)) > 1)
		return false;
	deconstruct_array(DatumGetArrayTypeP(value), TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			return false;
		*names = lappend(*names, TextDatumGetCString(elements[i]));
	}
	return true;
}

bool
dp_role_label_is_sound(const char *text)
{
	List	   *names;

	return parse_label(text, &names) && names != NIL;
}

static bool
has_name(List *names, const char *name)
{
	foreach_ptr(const char, item, names)
	{
		if (strcmp(item, name) == 0)
			return true;
	}
	return false;
}

static List *
former_names(Oid role)
{
	ObjectAddress object;
	char	   *label;
	List	   *names = NIL;

	ObjectAddressSet(object, AuthIdRelationId, role);
	label = GetSecurityLabel(&object, DP_LABEL_PROVIDER);
	if (label != NULL)
		(void) parse_label(label, &names);
	return names;
}

/* Returns the name that the transaction's own change has given to a role, NULL when there is none. */
static char *
name_to_be(Oid role)
{
	Relation	rel = table_open(AuthIdRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	char	   *name = NULL;

	ScanKeyInit(&key, Anum_pg_authid_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(role));
	scan = systable_beginscan(rel, AuthIdOidIndexId, true, SnapshotSelf, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		name = pstrdup(NameStr(((Form_pg_authid) GETSTRUCT(tuple))->rolname));
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return name;
}

void
dp_role_note_rename(Oid role)
{
	char	   *now = dp_role_name(role);
	char	   *next = name_to_be(role);
	ObjectAddress object;
	List	   *names;
	ArrayBuildState *array = NULL;

	if (now == NULL || next == NULL || strcmp(now, next) == 0)
		return;
	names = former_names(role);
	if (has_name(names, now))
		return;
	foreach_ptr(const char, item, lappend(names, now))
		array = accumArrayResult(array, CStringGetTextDatum(item), false, TEXTOID, CurrentMemoryContext);
	ObjectAddressSet(object, AuthIdRelationId, role);
	SetSecurityLabel(&object, DP_LABEL_PROVIDER,
					 OidOutputFunctionCall(F_ARRAY_OUT, makeArrayResult(array, CurrentMemoryContext)));
}

/* ------------------------------------------------------------------------
 * Who is meant
 * ------------------------------------------------------------------------
 */

char *
dp_role_name(Oid role)
{
	return GetUserNameFromId(role, true);
}

static Oid
column_oid(HeapTuple tuple, Relation rel, const char *name)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, get_attnum(RelationGetRelid(rel), name), RelationGetDescr(rel), &isnull);

	return isnull ? InvalidOid : DatumGetObjectId(value);
}

static char *
column_text(HeapTuple tuple, Relation rel, const char *name)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, get_attnum(RelationGetRelid(rel), name), RelationGetDescr(rel), &isnull);

	return isnull ? "" : TextDatumGetCString(value);
}

/* Tells whether the OID belongs to a role that has this name, or had it. */
static bool
is_role(Oid role, const char *name)
{
	char	   *now = dp_role_name(role);

	return now != NULL && (name == NULL || strcmp(now, name) == 0 || has_name(former_names(role), name));
}

/* Calls look(row, table) for each alias, of one role's OID or of all, until it returns false. */
static void
each_alias(Oid role, bool (*look) (HeapTuple, Relation, void *), void *arg)
{
	Oid			relid = dp_own_table("role_alias");
	Relation	rel;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		more = true;

	if (!OidIsValid(relid))
		return;
	rel = table_open(relid, AccessShareLock);
	ScanKeyInit(&key, get_attnum(relid, "role"), BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(role));
	RelationGetIndexList(rel);	/* sets rd_pkindex */
	scan = systable_beginscan(rel, rel->rd_pkindex, OidIsValid(role) && OidIsValid(rel->rd_pkindex), NULL,
							  OidIsValid(role) ? 1 : 0, &key);
	while (more && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		more = look(tuple, rel, arg);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

typedef struct Wanted
{
	Oid			role;
	const char *name;
	Oid			is;
} Wanted;

static bool
look_for_role(HeapTuple tuple, Relation rel, void *arg)
{
	Wanted	   *wanted = arg;
	Oid			is;

	if (column_oid(tuple, rel, "role") != wanted->role ||
		strcmp(column_text(tuple, rel, "role_name"), wanted->name) != 0)
		return true;
	is = column_oid(tuple, rel, "is_role");
	if (is_role(is, column_text(tuple, rel, "is_name")))
		wanted->is = is;
	return false;
}

Oid
dp_known_role(Oid role, const char *name)
{
	Wanted		wanted = {role, name, InvalidOid};

	if (is_role(role, name))
		return role;
	if (name != NULL && OidIsValid(role))
		each_alias(role, look_for_role, &wanted);
	return wanted.is;
}

typedef struct Aliases
{
	List	   *roles;
	List	   *is;
} Aliases;

static bool
collect_alias(HeapTuple tuple, Relation rel, void *arg)
{
	Aliases    *aliases = arg;

	aliases->roles = lappend_oid(aliases->roles, column_oid(tuple, rel, "role"));
	aliases->is = lappend_oid(aliases->is, column_oid(tuple, rel, "is_role"));
	return true;
}

List *
dp_role_aliases(List **is)
{
	Aliases		aliases = {NIL, NIL};

	each_alias(InvalidOid, collect_alias, &aliases);
	*is = aliases.is;
	return aliases.roles;
}
