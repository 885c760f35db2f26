/*-------------------------------------------------------------------------
 *
 * protectable.c
 *	  Which relations can have a policy.
 *
 * Invariant: on every path of inheritance at most one relation bears a table
 * label, and it is the topmost one (see label.c).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "base/compat.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/errors.h"
#include "base/extension.h"
#include "policy/policy_int.h"

void
dp_check_protectable(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;
	char	   *name;
	List	   *relids;

	if (!HeapTupleIsValid(tuple))
		dp_raise(BAD_PARAMETER, errmsg("there is no table with OID %u: give the name of a table", relid));
	form = (Form_pg_class) GETSTRUCT(tuple);
	name = pstrdup(NameStr(form->relname));

	if (form->relkind == RELKIND_MATVIEW)
		dp_raise(BAD_PARAMETER,
				 errmsg("\"%s\" is a materialized view, whose rows cannot be protected: fill a table with its query and protect that", name));
	if (form->relkind == RELKIND_VIEW)
		dp_raise(BAD_PARAMETER, errmsg("\"%s\" is a view and cannot be protected: protect the tables it reads", name));
	if (form->relkind == RELKIND_FOREIGN_TABLE)
		dp_raise(BAD_PARAMETER,
				 errmsg("\"%s\" is a foreign table and cannot be protected: copy its data into a table and protect that", name));
	if (form->relkind != RELKIND_RELATION && form->relkind != RELKIND_PARTITIONED_TABLE)
		dp_raise(BAD_PARAMETER,
				 errmsg("\"%s\" is not a table: only plain and partitioned tables can be protected", name));
	if (form->relpersistence == RELPERSISTENCE_TEMP)
		dp_raise(BAD_PARAMETER,
				 errmsg("\"%s\" is a temporary table and cannot be protected: use an ordinary table", name));
	if (relid < FirstNormalObjectId || dp_is_own_schema(form->relnamespace))
		dp_raise(BAD_PARAMETER,
				 errmsg("\"%s\" belongs to the system and cannot be protected: protect tables with personal data", name));
	ReleaseSysCache(tuple);

	relids = dp_parents(relid);
	if (relids != NIL)
	{
		char	   *parent = get_rel_name(linitial_oid(relids));

		dp_raise(BAD_PARAMETER,
				 errmsg("\"%s\" is a partition or child of \"%s\": protect \"%s\", which covers its children",
						name, parent, parent));
	}

	relids = find_all_inheritors(relid, NoLock, NULL);
	foreach_oid(child, relids)
	{
		List	   *others;

		if (child == relid)
			continue;
		others = list_delete_oid(dp_labelled_ancestors(child), relid);
		if (dp_label_get(child, 0) != NULL)
			others = lcons_oid(child, others);
		if (others != NIL)
			dp_raise(BAD_PARAMETER,
					 errmsg("\"%s\" has a child that takes its policy from \"%s\": unprotect \"%s\" first",
							name, get_rel_name(linitial_oid(others)),
							get_rel_name(linitial_oid(others))));
	}
}
