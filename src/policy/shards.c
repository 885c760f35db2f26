/*-------------------------------------------------------------------------
 *
 * shards.c
 *	  Shards of protected tables, for whom membership in pg_read_all_data lets
 *	  read everything.
 *
 * A shard has no policy, since releases and foreign keys read it in the name of
 * the table's owner.  PostgreSQL's privileges close it, but for those who may read
 * whatever there is.  On one server analysts among these may not read protected
 * tables.  A worker of a cluster knows no budgets, and a function that Citus has
 * run there is an analyst's as well as anybody's: there nobody may without a grant.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/distributed.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "policy/policy.h"
#include "policy/policy_int.h"
#include "policy/shards.h"
#include "utils/lsyscache.h"

Oid
dp_closed_shard(Oid relid)
{
	Oid			table;

	if (!dp_has_citus() || dp_is_granted_select(relid, GetUserId()))
		return InvalidOid;
	if (get_rel_relkind(relid) == RELKIND_TOASTVALUE)
	{
		relid = dp_toast_owner(relid);
		if (!OidIsValid(relid) || dp_is_granted_select(relid, GetUserId()))
			return InvalidOid;
	}
	table = dp_table_of_shard(relid);
	if (!OidIsValid(table) || dp_policy_table(table) == NULL || !(dp_is_citus_worker() || dp_asks_as_analyst()))
		return InvalidOid;
	return table;
}
