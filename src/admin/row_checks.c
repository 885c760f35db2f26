/*-------------------------------------------------------------------------
 *
 * row_checks.c
 *	  Looks at the rows of protected tables for who may read them: what of them
 *	  is outside of what is declared (sql/09_check_data.sql).
 *
 * Invariants:
 *	- who calls may read all rows, of which row-level security hides none: the role
 *	  that has logged in, and the current one.  Nobody else is told anything of them.
 *	- rows are read as their table's owner, in an operation that is restricted,
 *	  as ANALYZE does.  Planning runs code that the owner has put there (indexes
 *	  on expressions, statistics, domains), which must not run as who calls.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"

#include "admin/admin.h"
#include "base/distributed.h"
#include "base/compat.h"
#include "base/errors.h"
#include "policy/policy.h"
#include "base/extension.h"

PG_FUNCTION_INFO_V1(dp_check_table);

typedef struct AsOwner
{
	Oid			userid;
	int			security;
	int			nestlevel;
} AsOwner;

/* Goes on as the table's owner, with SPI connected; an error restores everything with the (sub)transaction. */
static void
begin_as_owner(Oid relid, AsOwner *before)
{
	Relation	rel = table_open(relid, AccessShareLock);

	GetUserIdAndSecContext(&before->userid, &before->security);
	SetUserIdAndSecContext(rel->rd_rel->relowner, before->security | SECURITY_RESTRICTED_OPERATION);
	before->nestlevel = NewGUCNestLevel();
	table_close(rel, NoLock);
	SPI_connect();
}

static void
end_as_owner(const AsOwner *before)
{
	SPI_finish();
	AtEOXact_GUC(false, before->nestlevel);
	SetUserIdAndSecContext(before->userid, before->security);
}

/* as many keys as a row may follow to the person whose it is */
#define MOST_STEPS 100

/*
 * Tells whether who calls may read the rows of a table and of those that lead to whose they are, and row-level security,
 * which holds for their owner no more, hides none of them.
 */
static bool
may_read_all(Oid relid)
{
	for (int step = 0; step <= MOST_STEPS; step++)
	{
		const DpTable *table = dp_policy_table(relid);
		DpParent	parent;

		if (!dp_may_read(relid) || check_enable_rls(relid, GetUserId(), true) == RLS_ENABLED ||
			check_enable_rls(relid, GetSessionUserId(), true) == RLS_ENABLED)
			return false;
		if (table == NULL || table->nthrough == 0)
			return true;
		if (dp_policy_parent(relid, &parent) != DP_PARENT_OK)
			return false;
		relid = parent.parent;
	}
	return false;
}

void
dp_admin_tell_of_rows(Oid relid, AttrNumber attnum, bool of_bounds)
{
	Oid			types[] = {REGCLASSOID, NAMEOID, BOOLOID, JSONBOID, NUMERICOID, BOOLOID, INT4OID};
	Datum		values[lengthof(types)] = {ObjectIdGetDatum(relid), 0, BoolGetDatum(of_bounds)};
	char		nulls[lengthof(types)];
	AttrNumber	distributed_by;
	SPITupleTable *found;
	AsOwner		before;

	CommandCounterIncrement();	/* labels that were written just now */
	if (dp_is_distributed(relid, &distributed_by) || !may_read_all(relid))
		return;
	memset(nulls, ' ', sizeof(nulls));
	if (attnum != 0)
		values[1] = DirectFunctionCall1(namein, CStringGetDatum(get_attname(relid, attnum, false)));
	else
		nulls[1] = 'n';
	/* as who calls, who owns the dataset */
	SPI_connect();
	if (dp_admin_execute("SELECT CASE WHEN $2 IS NOT NULL AND NOT $3 THEN to_jsonb(dp_cdp.declared_keys($1, $2)) END,"
						 " coalesce(max_rows, nullif(max_contribution, 'auto')::numeric), max_rows IS NULL, max_groups"
						 " FROM dp_cdp.datasets WHERE dataset = dp_cdp.dataset_of($1)", 3, types, values, nulls, false) != 1)
		elog(ERROR, "dp_cdp: dataset of table \"%s\" cannot be read", get_rel_name(relid));
	for (int i = 3; i < lengthof(types); i++)
	{
		bool		isnull;

		values[i] = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i - 2, &isnull);
		nulls[i] = isnull ? 'n' : ' ';
		if (!isnull)
			values[i] = SPI_datumTransfer(values[i], get_typbyval(types[i]), get_typlen(types[i]));
	}
	SPI_finish();
	if (attnum == 0 && !of_bounds && nulls[4] == 'n' && nulls[6] == 'n')
		return;					/* no limit is declared */

	begin_as_owner(relid, &before);
	dp_admin_execute("SELECT at_column, finding, remedy FROM dp_cdp_internal.findings_at_once($1, $2, $3, $4, $5, $6, $7)",
					 lengthof(types), types, values, nulls, false);
	found = SPI_tuptable;
	for (uint64 i = 0; i < found->numvals; i++)
	{
		char	   *column = SPI_getvalue(found->vals[i], found->tupdesc, 1);
		char	   *finding = SPI_getvalue(found->vals[i], found->tupdesc, 2);
		char	   *remedy = SPI_getvalue(found->vals[i], found->tupdesc, 3);

		remedy[0] = pg_toupper(remedy[0]);	/* a hint is a sentence */
		dp_admin_warn(NOTICE, column ? errmsg("column \"%s\" of table \"%s\": %s", column, get_rel_name(relid), finding)
					  : errmsg("table \"%s\": %s", get_rel_name(relid), finding),
					  errdetail("Roles that may read the rows are told this, and nobody else."),
					  errhint("%s.", remedy));
	}
	end_as_owner(&before);
}

/*
 * check_table("table", most, of_norm, most_groups, keys) returns what check_data() tells of a table.  42501 where who calls may not
 * read it, or a table that its rows belong to people through.
 */
Datum
dp_check_table(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid = PG_ARGISNULL(0) ? InvalidOid : PG_GETARG_OID(0);
	Oid			types[] = {REGCLASSOID, NUMERICOID, BOOLOID, INT4OID, JSONBOID};
	Datum		values[lengthof(types)];
	char		nulls[lengthof(types)];
	uint64		n;
	AsOwner		before;

	dp_check_version();
	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < lengthof(types); i++)
	{
		values[i] = PG_GETARG_DATUM(i);
		nulls[i] = PG_ARGISNULL(i) ? 'n' : ' ';
	}
	if (!OidIsValid(relid) || dp_policy_table(relid) == NULL)
		dp_raise(BAD_PARAMETER, errmsg("table is not protected: name one that is"));
	/* as who calls: it raises the error */
	SPI_connect();
	dp_admin_execute("SELECT dp_cdp_internal.people_source($1)", 1, types, values, nulls, false);
	SPI_finish();

	begin_as_owner(relid, &before);
	n = dp_admin_execute("SELECT * FROM dp_cdp_internal.findings_of_table($1, $2, $3, $4, $5)", lengthof(types), types, values, nulls, false);
	for (uint64 i = 0; i < n; i++)
	{
		Datum		row[8];
		bool		isnull[8];

		Assert(SPI_tuptable->tupdesc->natts <= lengthof(row));
		heap_deform_tuple(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, row, isnull);
		tuplestore_putvalues(result->setResult, result->setDesc, row, isnull);
	}
	end_as_owner(&before);
	return (Datum) 0;
}
