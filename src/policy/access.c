/*-------------------------------------------------------------------------
 *
 * access.c
 *	  Who is asking, and may they read the table in plain SQL.
 *
 * Both session_user and current_user count: a function with its owner's
 * rights changes one, an index expression run by autovacuum the other.  A
 * foreign-key check is asked by whoever writes the row, in the name of a
 * table's owner: there the owner must be able to read, and the writer must
 * not be an analyst.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "base/compat.h"
#include "base/distributed.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "policy/policy.h"
#include "policy/policy_int.h"
#include "rewrite/rowsecurity.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/syscache.h"

bool
dp_has_row_security(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	bool		result = HeapTupleIsValid(tuple) && ((Form_pg_class) GETSTRUCT(tuple))->relrowsecurity;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return result;
}

/* Returns whether some permissive policy lets the role see rows at all; InvalidOid: any role. */
static bool
some_policy_applies(Oid relid, Oid roleid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	bool		found = false;

	if (rel->rd_rsdesc)
		foreach_ptr(RowSecurityPolicy, policy, rel->rd_rsdesc->policies)
	{
		Oid		   *roles = (Oid *) ARR_DATA_PTR(policy->roles);

		if (!policy->permissive || (policy->polcmd != '*' && policy->polcmd != ACL_SELECT_CHR))
			continue;
		for (int i = 0; i < ARR_DIMS(policy->roles)[0] && !found; i++)
			found = !OidIsValid(roleid) || roles[i] == ACL_ID_PUBLIC || has_privs_of_role(roleid, roles[i]);
	}
	table_close(rel, AccessShareLock);
	return found;
}

bool
dp_policies_let_read(Oid relid, Oid roleid)
{
	bool		checked = OidIsValid(roleid) ? check_enable_rls(relid, roleid, true) == RLS_ENABLED
	: dp_has_row_security(relid);

	return !checked || some_policy_applies(relid, roleid);
}

static bool
may_become(Oid holder, void *roleid)
{
	/*
	 * a superuser is a member of every role, and an analyst only by a budget
	 * of his own
	 */
	if (superuser_arg(*(Oid *) roleid))
		return holder == *(Oid *) roleid;
	return is_member_of_role(*(Oid *) roleid, holder);
}

/*
 * Tells whether the role is an analyst: holds a budget, or is a member of a role
 * that does.  What counts is not whose privileges it inherits, but whom it can
 * become with SET ROLE, and tell what it has learned without.
 */
static bool
holds_budget(Oid roleid)
{
	return dp_policy_any_budget(NULL, may_become, &roleid);
}

/* Looks for SELECT by a grant on the table: membership in pg_read_all_data is none. */
bool
dp_is_granted_select(Oid relid, Oid roleid)
{
	HeapTuple	tuple;
	Oid			owner;
	Datum		datum;
	bool		isnull;
	Acl		   *acl;

	if (superuser_arg(roleid))
		return true;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	if (!HeapTupleIsValid(tuple))
		return false;
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	datum = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_relacl, &isnull);
	acl = isnull ? acldefault(OBJECT_TABLE, owner) : DatumGetAclPCopy(datum);
	ReleaseSysCache(tuple);
	return aclmask(acl, roleid, owner, ACL_SELECT, ACLMASK_ANY) != 0;
}

/* Lets who may read everything read protected tables, unless they are analysts; a worker of a cluster does not know who is. */
bool
dp_role_may_read(Oid relid, Oid roleid)
{
	if (pg_class_aclcheck(relid, roleid, ACL_SELECT) != ACLCHECK_OK ||
		(!dp_is_granted_select(relid, roleid) && (holds_budget(roleid) || dp_is_citus_worker())))
		return false;
	return dp_policies_let_read(relid, roleid);
}

bool
dp_asks_as_analyst(void)
{
	Oid			session = GetSessionUserId();
	Oid			current = GetUserId();

	return holds_budget(session) || (current != session && holds_budget(current));
}

bool
dp_may_read(Oid relid)
{
	Oid			session = GetSessionUserId();
	Oid			current = GetUserId();

	/*
	 * triggers of a cascade's table run in it, too, as that table's owner; a
	 * worker of a cluster knows no budgets
	 */
	if (InNoForceRLSOperation() && !holds_budget(session) && !dp_is_citus_worker())
		return dp_role_may_read(relid, current);
	return dp_role_may_read(relid, session) &&
		(current == session || dp_role_may_read(relid, current));
}

bool
dp_login_may_not_read(Oid relid)
{
	return GetSessionUserId() != GetUserId() && dp_role_may_read(relid, GetUserId()) &&
		!dp_role_may_read(relid, GetSessionUserId());
}

/* Returns the protected table that owns a sequence (by SERIAL or IDENTITY), if any. */
Oid
dp_table_of_sequence(RangeTblEntry *rte)
{
	Oid			table;
	int32		column;

	if (rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_SEQUENCE &&
		(sequenceIsOwned(rte->relid, DEPENDENCY_AUTO, &table, &column) ||
		 sequenceIsOwned(rte->relid, DEPENDENCY_INTERNAL, &table, &column)) &&
		dp_policy_table(table) != NULL)
		return table;
	return InvalidOid;
}
