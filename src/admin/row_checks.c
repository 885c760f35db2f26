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

/* Tells whether who calls may read the rows of a table, and row-level security, which holds for its owner no more, hides none of them. */
static bool
may_read_all(Oid relid)
{
	return dp_may_read(relid) && check_enable_rls(relid, GetUserId(), true) != RLS_ENABLED &&
		check_enable_rls(relid, GetSessionUserId(), true) != RLS_ENABLED;
}

void
dp_admin_tell_of_rows(Oid relid, AttrNumber attnum, bool of_bounds)
{
	char	   *column = get_attname(relid, attnum, false);
	Oid			types[] = {REGCLASSOID, NAMEOID, BOOLOID, JSONBOID};
	Datum		values[] = {ObjectIdGetDatum(relid), DirectFunctionCall1(namein, CStringGetDatum(column)), BoolGetDatum(of_bounds), 0};
	char		nulls[] = {' ', ' ', ' ', 'n'};
	AttrNumber	distributed_by;
	bool		isnull;
	SPITupleTable *found;
	AsOwner		before;

	if (dp_is_distributed(relid, &distributed_by) || !may_read_all(relid))
		return;
	CommandCounterIncrement();	/* labels that were written just now */
	if (!of_bounds)
	{
		/* as who calls, who owns the dataset */
		SPI_connect();
		dp_admin_execute("SELECT to_jsonb(dp_cdp.declared_keys($1, $2))", 2, types, values, NULL, false);
		values[3] = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
		if (!isnull)
			values[3] = SPI_datumTransfer(values[3], false, -1);
		nulls[3] = isnull ? 'n' : ' ';
		SPI_finish();
	}
	begin_as_owner(relid, &before);
	dp_admin_execute("SELECT finding, remedy FROM dp_cdp_internal.findings_at_once($1, $2, $3, $4)", lengthof(types), types, values, nulls, false);
	found = SPI_tuptable;
	for (uint64 i = 0; i < found->numvals; i++)
		dp_admin_warn(NOTICE, errmsg("column \"%s\" of table \"%s\": %s", column, get_rel_name(relid),
									 SPI_getvalue(found->vals[i], found->tupdesc, 1)),
					  errdetail("Roles that may read the rows are told this, and nobody else."),
					  errhint("%s", SPI_getvalue(found->vals[i], found->tupdesc, 2)));
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
