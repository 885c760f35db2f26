/*-------------------------------------------------------------------------
 *
 * names.c
 *	  Whose rows of the ledger are whose, for the views.
 *
 * dp_cdp_internal.my_roles() and dp_cdp_internal.my_datasets() have no arguments and are
 * STABLE, so that the planner knows what they return and finds out whether
 * the log is better read by its index on roles, for an analyst with few rows,
 * or backwards, for an owner of nearly all.  Each use computes them once, as
 * dp_cdp_internal.is_mine() remembers the pairs it was asked about.
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
#include "catalog/pg_authid.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/rel.h"

#include "base/dataset_row.h"
#include "base/extension.h"
#include "base/role_names.h"
#include "ledger/ledger_int.h"

PG_FUNCTION_INFO_V1(dp_ledger_known_role);
PG_FUNCTION_INFO_V1(dp_ledger_is_mine);
PG_FUNCTION_INFO_V1(dp_ledger_my_roles);
PG_FUNCTION_INFO_V1(dp_ledger_my_datasets);

/* Tells whether the session is, or may act as, a role: by session_user or current_user. */
bool
dp_ledger_role_is_mine(Oid role)
{
	return has_privs_of_role(GetSessionUserId(), role) || has_privs_of_role(GetUserId(), role);
}

/* what a call site remembers, as long as the roles are the same */
typedef struct Memory
{
	Oid			session;
	Oid			current;
	void	   *value;			/* NULL: nothing yet */
} Memory;

static Memory *
get_memory(FunctionCallInfo fcinfo)
{
	Memory	   *memory = fcinfo->flinfo->fn_extra;

	if (memory == NULL)
		fcinfo->flinfo->fn_extra = memory = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Memory));
	if (memory->session != GetSessionUserId() || memory->current != GetUserId())
	{
		memory->session = GetSessionUserId();
		memory->current = GetUserId();
		memory->value = NULL;
	}
	return memory;
}

/* ---------------------------------------------------------------------
 * One row
 * ---------------------------------------------------------------------
 */

/* a pair of OID and name that this call site was asked about */
typedef struct Pair
{
	struct
	{
		Oid			role;
		bool		has_name;
		char		name[NAMEDATALEN];
	}			key;
	Oid			is;
	bool		mine;
} Pair;

/* Finds out once for each call site whom the arguments mean. */
static Pair *
get_pair(FunctionCallInfo fcinfo)
{
	Memory	   *memory = get_memory(fcinfo);
	HTAB	   *pairs = memory->value;
	Pair	   *pair;
	Pair		wanted;

	memset(&wanted, 0, sizeof(wanted));
	wanted.key.role = PG_ARGISNULL(0) ? InvalidOid : PG_GETARG_OID(0);
	wanted.key.has_name = !PG_ARGISNULL(1);
	if (wanted.key.has_name)
		text_to_cstring_buffer(PG_GETARG_TEXT_PP(1), wanted.key.name, NAMEDATALEN);
	if (pairs == NULL)
	{
		HASHCTL		ctl;

		memset(&ctl, 0, sizeof(ctl));
		ctl.keysize = sizeof(wanted.key);
		ctl.entrysize = sizeof(Pair);
		ctl.hcxt = fcinfo->flinfo->fn_mcxt;
		pairs = hash_create("dp_cdp names of roles", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		memory->value = pairs;
	}
	pair = hash_search(pairs, &wanted.key, HASH_FIND, NULL);
	if (pair != NULL)
		return pair;
	wanted.is = dp_known_role(wanted.key.role, wanted.key.has_name ? wanted.key.name : NULL);
	/* what is nobody's is a superuser's */
	wanted.mine = dp_ledger_role_is_mine(wanted.is);
	pair = hash_search(pairs, &wanted.key, HASH_ENTER, NULL);
	*pair = wanted;
	return pair;
}

/* SQL: dp_cdp_internal.known_role(role, name): NULL when there is no such role any more */
Datum
dp_ledger_known_role(PG_FUNCTION_ARGS)
{
	Pair	   *pair = get_pair(fcinfo);

	if (!OidIsValid(pair->is))
		PG_RETURN_NULL();
	PG_RETURN_OID(pair->is);
}

/* SQL: dp_cdp_internal.is_mine(role, name) */
Datum
dp_ledger_is_mine(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(get_pair(fcinfo)->mine);
}

/* ---------------------------------------------------------------------
 * All at once
 * ---------------------------------------------------------------------
 */

static Datum
make_array(Datum *values, int n, Oid type)
{
	if (type == OIDOID)
		return PointerGetDatum(construct_array(values, n, OIDOID, sizeof(Oid), true, TYPALIGN_INT));
	return PointerGetDatum(construct_array(values, n, TEXTOID, -1, false, TYPALIGN_INT));
}

/* OIDs in rows that may be of my roles: theirs, and those that they had elsewhere. */
static Datum
my_roles(void)
{
	Relation	rel = table_open(AuthIdRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;
	List	   *is;
	List	   *aliases = dp_role_aliases(&is);
	Datum	   *roles = palloc(sizeof(Datum) * 64);
	int			room = 64;
	int			n = 0;
	ListCell   *alias,
			   *meant;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Oid			role = ((Form_pg_authid) GETSTRUCT(tuple))->oid;

		CHECK_FOR_INTERRUPTS();
		if (!dp_ledger_role_is_mine(role))
			continue;
		if (n == room)
		{
			room *= 2;
			roles = repalloc(roles, sizeof(Datum) * room);
		}
		roles[n++] = ObjectIdGetDatum(role);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	roles = repalloc(roles, sizeof(Datum) * (n + list_length(aliases) + 1));
	forboth(alias, aliases, meant, is)
	{
		if (dp_ledger_role_is_mine(lfirst_oid(meant)))
			roles[n++] = ObjectIdGetDatum(lfirst_oid(alias));
	}
	return make_array(roles, n, OIDOID);
}

/* Names of the datasets whose owner passes a test. */
static Datum
datasets_where(bool (*test) (Oid owner, Oid user), Oid user)
{
	Oid			relid = dp_own_table("dataset");
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;
	Datum	   *names = palloc(sizeof(Datum) * 64);
	int			room = 64;
	int			n = 0;

	if (!OidIsValid(relid))
		return make_array(names, 0, TEXTOID);
	rel = table_open(relid, AccessShareLock);
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;

		CHECK_FOR_INTERRUPTS();
		if (!test(dp_read_dataset_owner(tuple, RelationGetDescr(rel)), user))
			continue;
		if (n == room)
		{
			room *= 2;
			names = repalloc(names, sizeof(Datum) * room);
		}
		names[n] = heap_getattr(tuple, dp_dataset_attnum(RelationGetDescr(rel), DP_DATASET_NAME),
								RelationGetDescr(rel), &isnull);
		if (isnull)
			continue;
		names[n] = PointerGetDatum(DatumGetTextPCopy(names[n]));
		n++;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return make_array(names, n, TEXTOID);
}

static bool
owner_is_mine(Oid owner, Oid user)
{
	return dp_ledger_role_is_mine(owner);
}

static bool
owner_is_of(Oid owner, Oid user)
{
	return has_privs_of_role(user, owner);
}

Datum
dp_ledger_datasets_of_mine(void)
{
	return datasets_where(owner_is_mine, InvalidOid);
}

Datum
dp_ledger_datasets_of(Oid user)
{
	return datasets_where(owner_is_of, user);
}

/* Computes an array once for each call site. */
static Datum
compute_once(FunctionCallInfo fcinfo, Datum (*compute) (void))
{
	Memory	   *memory = get_memory(fcinfo);

	if (memory->value == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		memory->value = DatumGetPointer(compute());
		MemoryContextSwitchTo(old);
	}
	return PointerGetDatum(memory->value);
}

/* SQL: dp_cdp_internal.my_roles() */
Datum
dp_ledger_my_roles(PG_FUNCTION_ARGS)
{
	return compute_once(fcinfo, my_roles);
}

/* SQL: dp_cdp_internal.my_datasets() */
Datum
dp_ledger_my_datasets(PG_FUNCTION_ARGS)
{
	return compute_once(fcinfo, dp_ledger_datasets_of_mine);
}
