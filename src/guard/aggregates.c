/*-------------------------------------------------------------------------
 *
 * aggregates.c
 *	  The aggregates that analysts write, before and instead of their run.
 *
 * They have no implementation: the guard replaces them.  Their state type is
 * dp_cdp.unreleased, which no role may use for an aggregate of its own, so
 * the type of the state identifies them.  The planner calls the type's input
 * function for the initial state; one that nobody replaced ends there, before
 * any permission is checked or row is read, also where the library was not
 * preloaded.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "errors.h"
#include "fmgr.h"
#include "guard/guard.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(dp_unreleased_in);
PG_FUNCTION_INFO_V1(dp_unreleased_out);
PG_FUNCTION_INFO_V1(dp_unreleased_trans);
PG_FUNCTION_INFO_V1(dp_unreleased_final);

static void
refuse_unreleased(void)
{
	if (!dp_preloaded)
		ereport(ERROR,
				(errcode(ERRCODE_DP_LEDGER_UNAVAILABLE),
				 errmsg("dp_cdp is not preloaded; add shared_preload_libraries = 'dp_cdp' to postgresql.conf and restart the server"),
				 errdetail("Private aggregates are answered only by a server that loads the library at its start.")));
	ereport(ERROR,
			(errcode(ERRCODE_DP_NOT_RELEASABLE),
			 errmsg("private aggregates work on protected tables only; "
					"for other tables use count and sum, or protect the table with dp_cdp.protect_table")));
}

Datum
dp_unreleased_in(PG_FUNCTION_ARGS)
{
	/* CREATE AGGREGATE tries the initial state */
	if (!creating_extension && !IsBinaryUpgrade)
		refuse_unreleased();
	PG_RETURN_INT32(0);
}

Datum
dp_unreleased_out(PG_FUNCTION_ARGS)
{
	PG_RETURN_CSTRING(pstrdup("unreleased"));
}

Datum
dp_unreleased_trans(PG_FUNCTION_ARGS)
{
	refuse_unreleased();
	PG_RETURN_NULL();
}

Datum
dp_unreleased_final(PG_FUNCTION_ARGS)
{
	refuse_unreleased();
	PG_RETURN_NULL();
}

/* the built-in aggregates that BI tools send */
static DpAggKind
standard_kind(Oid funcid)
{
	switch (funcid)
	{
		case F_COUNT_:
		case F_COUNT_ANY:
			return DP_AGG_COUNT;
		case F_SUM_INT2:
		case F_SUM_INT4:
		case F_SUM_INT8:
		case F_SUM_FLOAT4:
		case F_SUM_FLOAT8:
		case F_SUM_NUMERIC:
			return DP_AGG_SUM;
		default:
			return DP_AGG_NONE;
	}
}

DpAggKind
dp_aggregate_kind(Oid funcid, bool standard)
{
	HeapTuple	tuple;
	Oid			schema;
	Oid			transtype;
	DpAggKind	kind = DP_AGG_NONE;

	if (funcid < FirstNormalObjectId)
		return standard ? standard_kind(funcid) : DP_AGG_NONE;
	schema = dp_internal_schema();
	if (!OidIsValid(schema))
		return DP_AGG_NONE;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return DP_AGG_NONE;
	transtype = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtranstype;
	ReleaseSysCache(tuple);
	if (transtype < FirstNormalObjectId || transtype != dp_internal_type("unreleased"))
		return DP_AGG_NONE;

	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return DP_AGG_NONE;
	if (strcmp(NameStr(((Form_pg_proc) GETSTRUCT(tuple))->proname), "dp_count") == 0)
		kind = DP_AGG_COUNT;
	else if (strcmp(NameStr(((Form_pg_proc) GETSTRUCT(tuple))->proname), "dp_sum") == 0)
		kind = DP_AGG_SUM;
	ReleaseSysCache(tuple);
	return kind;
}
