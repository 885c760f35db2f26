/*-------------------------------------------------------------------------
 *
 * visible.c
 *	  Numbers of rows and pages, where they tell nothing that who asks could
 *	  not count.
 *
 * These functions stand in queries for columns of pg_class and functions that
 * dp_cdp.harden() has closed (guard/mask.c).  Anybody may call them by hand:
 * each asks by itself whether current_user may know.
 *
 * Invariants:
 *	- A relation is told of only if it is an ordinary or partitioned table, or
 *	  an index of one, that current_user may read as a whole, with no row-level
 *	  security for him, and that none of its children, nor the relation itself,
 *	  is protected or bears the name of a table that was; or that he may read
 *	  all the same (dp_may_read).  Whoever may read a table can count its rows,
 *	  and see by ctid which pages they are in.
 *	- Never told of: PostgreSQL's own tables, where ANALYZE of a protected
 *	  table leaves rows; those of this extension, where releases do; TOAST
 *	  tables, sequences, materialized views.
 *	- Nothing here fails, also for relations that are gone.
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
#include "base/extension.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "policy/closed.h"
#include "policy/policy.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/rls.h"
#include "utils/syscache.h"

/* Returns the table that a relation is or is an index of, if it is of a kind that is told of, with whether it may have children. */
static Oid
table_of(Oid relid, bool *has_children)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	char		relkind;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	relkind = ((Form_pg_class) GETSTRUCT(tuple))->relkind;
	*has_children = ((Form_pg_class) GETSTRUCT(tuple))->relhassubclass;
	ReleaseSysCache(tuple);
	switch (relkind)
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
			return relid;
		case RELKIND_INDEX:
		case RELKIND_PARTITIONED_INDEX:
			relid = IndexGetRelation(relid, true);
			/* an index of a TOAST table is none of a table */
			return OidIsValid(relid) ? table_of(relid, has_children) : InvalidOid;
		default:
			return InvalidOid;
	}
}

/* Tells whether a relation is protected against who asks, or may be a protected table that was made anew. */
static bool
is_closed(Oid relid)
{
	return (dp_policy_table(relid) != NULL && !dp_may_read(relid)) || dp_policy_is_reserved(relid);
}

bool
dp_may_be_told(Oid relid)
{
	bool		has_children = false;
	bool		is_missing = false;

	if (relid < FirstNormalObjectId)
		return false;
	relid = table_of(relid, &has_children);
	if (relid < FirstNormalObjectId || dp_is_own(RelationRelationId, relid))
		return false;
	if (pg_class_aclcheck_ext(relid, GetUserId(), ACL_SELECT, &is_missing) != ACLCHECK_OK || is_missing ||
		check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED || is_closed(relid))
		return false;
	if (has_children)
		foreach_oid(inheritor, find_all_inheritors(relid, NoLock, NULL))
			if (is_closed(inheritor))
			return false;
	return true;
}

PG_FUNCTION_INFO_V1(dp_visible_reltuples);
PG_FUNCTION_INFO_V1(dp_visible_relpages);
PG_FUNCTION_INFO_V1(dp_visible_live_tuples);
PG_FUNCTION_INFO_V1(dp_visible_relation_size);
PG_FUNCTION_INFO_V1(dp_visible_table_size);
PG_FUNCTION_INFO_V1(dp_visible_total_relation_size);
PG_FUNCTION_INFO_V1(dp_visible_indexes_size);
PG_FUNCTION_INFO_V1(dp_masked);
PG_FUNCTION_INFO_V1(dp_masked_rows);

/* visible_reltuples(relation oid, reltuples real): the number, or -1, which is PostgreSQL's "not known" */
Datum
dp_visible_reltuples(PG_FUNCTION_ARGS)
{
	if (!dp_may_be_told(PG_GETARG_OID(0)))
		PG_RETURN_FLOAT4(-1);
	PG_RETURN_DATUM(PG_GETARG_DATUM(1));
}

/* visible_relpages(relation oid, relpages integer): the number, or 0 */
Datum
dp_visible_relpages(PG_FUNCTION_ARGS)
{
	if (!dp_may_be_told(PG_GETARG_OID(0)))
		PG_RETURN_INT32(0);
	PG_RETURN_DATUM(PG_GETARG_DATUM(1));
}

/* visible_live_tuples(oid): as pg_stat_get_live_tuples, or NULL */
Datum
dp_visible_live_tuples(PG_FUNCTION_ARGS)
{
	if (!dp_may_be_told(PG_GETARG_OID(0)))
		PG_RETURN_NULL();
	return pg_stat_get_live_tuples(fcinfo);
}

/* visible_relation_size(regclass [, fork text]): as pg_relation_size, or NULL */
Datum
dp_visible_relation_size(PG_FUNCTION_ARGS)
{
	LOCAL_FCINFO(call, 2);
	Datum		result;

	if (!dp_may_be_told(PG_GETARG_OID(0)))
		PG_RETURN_NULL();
	InitFunctionCallInfoData(*call, fcinfo->flinfo, 2, fcinfo->fncollation, NULL, NULL);
	call->args[0] = fcinfo->args[0];
	call->args[1].value = PG_NARGS() > 1 ? PG_GETARG_DATUM(1) : PointerGetDatum(cstring_to_text("main"));
	call->args[1].isnull = false;
	result = pg_relation_size(call);
	fcinfo->isnull = call->isnull;
	return result;
}

/* visible_table_size(regclass): as pg_table_size, or NULL */
Datum
dp_visible_table_size(PG_FUNCTION_ARGS)
{
	if (!dp_may_be_told(PG_GETARG_OID(0)))
		PG_RETURN_NULL();
	return pg_table_size(fcinfo);
}

/* visible_total_relation_size(regclass): as pg_total_relation_size, or NULL */
Datum
dp_visible_total_relation_size(PG_FUNCTION_ARGS)
{
	if (!dp_may_be_told(PG_GETARG_OID(0)))
		PG_RETURN_NULL();
	return pg_total_relation_size(fcinfo);
}

/* visible_indexes_size(regclass): as pg_indexes_size, or NULL */
Datum
dp_visible_indexes_size(PG_FUNCTION_ARGS)
{
	if (!dp_may_be_told(PG_GETARG_OID(0)))
		PG_RETURN_NULL();
	return pg_indexes_size(fcinfo);
}

/* masked(anyelement, VARIADIC "any"): NULL of the first argument's type */
Datum
dp_masked(PG_FUNCTION_ARGS)
{
	PG_RETURN_NULL();
}

/* masked_rows(anyelement, VARIADIC "any"): no rows of the first argument's type */
Datum
dp_masked_rows(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *set = (ReturnSetInfo *) fcinfo->resultinfo;

	if (set != NULL && IsA(set, ReturnSetInfo))
		set->isDone = ExprEndResult;
	PG_RETURN_NULL();
}
