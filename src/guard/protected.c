/*-------------------------------------------------------------------------
 *
 * protected.c
 *	  Whether a query names protected tables, or what took the name of one.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "base/walk.h"
#include "catalog/pg_class_d.h"
#include "commands/trigger.h"
#include "base/compat.h"
#include "base/errors.h"
#include "guard/guard.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "policy/policy.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

bool
dp_is_protected(RangeTblEntry *rte)
{
	return rte->rtekind == RTE_RELATION && rte->relkind != RELKIND_VIEW &&
		dp_policy_table(rte->relid) != NULL;
}

const char *
dp_entry_text(RangeTblEntry *rte)
{
	const char *shown = rte->eref->aliasname;
	const char *noun = dp_is_protected(rte) ? "protected table" : "table";
	const char *name = rte->rtekind == RTE_RELATION ? get_rel_name(rte->relid) : NULL;

	if (name == NULL)
		return psprintf("\"%s\"", shown);
	return strcmp(name, shown) == 0 ? psprintf("%s \"%s\"", noun, name) : psprintf("%s \"%s\" (%s)", noun, name, shown);
}

void
dp_refuse_login(Oid relid)
{
	if (dp_login_may_not_read(relid))
		dp_raise(NOT_RELEASABLE,
				 errmsg("permission denied for rows of protected table \"%s\": role \"%s\" may read them, and login role \"%s\" may not; log in as a role that may",
						get_rel_name(relid), GetUserNameFromId(GetUserId(), false),
						GetUserNameFromId(GetSessionUserId(), false)),
				 errdetail("SET ROLE does not change who has logged in."));
}

Oid
dp_marked_by(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	TriggerDesc *triggers = rel->trigdesc;
	Oid			result = InvalidOid;

	/* the server's own triggers of the keys that lead here */
	for (int i = 0; triggers != NULL && i < triggers->numtriggers && !OidIsValid(result); i++)
	{
		Oid			from = triggers->triggers[i].tgconstrrelid;

		if (OidIsValid(from) && RI_FKey_trigger_type(triggers->triggers[i].tgfoid) == RI_TRIGGER_PK &&
			dp_policy_table(from) != NULL && !dp_may_read(from))
			result = from;
	}
	table_close(rel, NoLock);
	return result;
}

void
dp_refuse_marks(Oid relid, Oid marked_by, bool by_locks)
{
	dp_raise(NOT_RELEASABLE,
			 by_locks ?
			 errmsg("rows of table \"%s\" cannot be locked with NOWAIT or SKIP LOCKED, which tells what rows of protected table \"%s\" reference; leave that out",
					get_rel_name(relid), get_rel_name(marked_by)) :
			 errmsg("xmax of table \"%s\" cannot be read, because it tells what rows of protected table \"%s\" reference; leave it out",
					get_rel_name(relid), get_rel_name(marked_by)));
}

/* Returns the protected table that an entry reads, also by a sequence of the table's; InvalidOid: none. */
static Oid
touched_by(RangeTblEntry *rte)
{
	/*
	 * no view is protected: asked so that the cache knows whether it is
	 * reserved
	 */
	if (rte->relkind == RELKIND_VIEW && OidIsValid(rte->relid))
		(void) dp_policy_table(rte->relid);
	return dp_is_protected(rte) ? rte->relid : dp_table_of_sequence(rte);
}

static DpWalk
note_touched(Node *node, int levels, Oid *table)
{
	*table = IsA(node, RangeTblEntry) ? touched_by((RangeTblEntry *) node) : InvalidOid;
	return OidIsValid(*table);
}

/*
 * Searches the range tables; most queries have no subquery elsewhere, and
 * undecided tells of those that may.
 */
static bool
touches_quickly(Query *query, bool *undecided, Oid *table)
{
	if (query->hasSubLinks || query->cteList != NIL || query->utilityStmt != NULL)
		*undecided = true;
	foreach_ptr(RangeTblEntry, rte, query->rtable)
	{
		*table = touched_by(rte);
		if (OidIsValid(*table))
			return true;
		if (rte->rtekind == RTE_SUBQUERY)
			if (touches_quickly(rte->subquery, undecided, table))
				return true;
	}
	return false;
}

Oid
dp_query_touches_protected(Query *query)
{
	bool		undecided = false;
	Oid			table = InvalidOid;

	if (!touches_quickly(query, &undecided, &table) && undecided)
		(void) dp_walk_all(query, note_touched, &table);
	return table;
}

/* ------------------------------------------------------------------------
 * Names that are reserved
 *
 * PostgreSQL refuses the relation by itself.  What it says would send an
 * analyst to ask for SELECT, which is the wrong remedy.
 * ------------------------------------------------------------------------
 */

void
dp_refuse_reserved_relation(Oid relid)
{
	Oid			user = GetUserId();

	if (dp_policy_is_reserved(relid) &&
		pg_class_aclcheck(relid, user, ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck_all(relid, user, ACL_SELECT, ACLMASK_ANY) != ACLCHECK_OK &&
		dp_asks_as_analyst())
		dp_raise(NOT_RELEASABLE,
				 errmsg("\"%s\" has the name of a table that was protected, and is not protected; its owner has to call dp_cdp.replace_table, dp_cdp.protect_table or dp_cdp.forget_name",
						get_rel_name(relid)));
}

static DpWalk
refuse_reserved(Node *node, int levels, void *context)
{
	Query	   *query = (Query *) node;

	foreach_ptr(RangeTblEntry, rte, IsA(node, Query) ? query->rtable : NIL)
	{
		/*
		 * of views the rewriter has left the subquery, and an entry to check
		 */
		if ((rte->rtekind == RTE_RELATION || rte->rtekind == RTE_SUBQUERY) &&
			OidIsValid(rte->relid) && dp_is_selected(query, rte) &&
			!OidIsValid(dp_check_as_user(query, rte)))
			dp_refuse_reserved_relation(rte->relid);
	}
	return DP_WALK_ON;
}

void
dp_refuse_reserved(Query *query)
{
	dp_walk_all(query, refuse_reserved, NULL);
}
