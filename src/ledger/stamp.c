/*-------------------------------------------------------------------------
 *
 * stamp.c
 *	  Whether this ledger is the one that was written here, and what its
 *	  owner can do if it is not.
 *
 * The stamp names the system, the database, the timeline and this CREATE
 * EXTENSION.  Promotion, point-in-time recovery, a copied database and a
 * restored dump all leave a stamp that differs, and with it balances that
 * may be older than answers that were given: nothing is debited until the
 * owner of the extension adopts the ledger.  An empty stamp is good only as
 * long as nothing was spent: so a fresh extension, or a dump of one, starts
 * without ceremony, and a dump without its stamp does not pass for fresh.
 *
 * What cannot be seen here: a base backup or snapshot started as if it were
 * the original.  See README.md.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "base/errors.h"
#include "base/extension.h"
#include "ledger/ledger_int.h"

PG_FUNCTION_INFO_V1(dp_ledger_adopt);
PG_FUNCTION_INFO_V1(dp_ledger_empty);

/* ---------------------------------------------------------------------
 * Checking, in the worker
 * ---------------------------------------------------------------------
 */

static Datum
system_id_numeric(void)
{
	char		digits[32];

	snprintf(digits, sizeof(digits), UINT64_FORMAT, GetSystemIdentifier());
	return DirectFunctionCall3(numeric_in, CStringGetDatum(digits),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* Runs a query of this file's; SPI is connected. */
static void
run(const char *query, int nargs, Oid *types, Datum *values, int expected)
{
	int			rc = SPI_execute_with_args(query, nargs, types, values, NULL, false, 0);

	if (rc != expected)
		elog(ERROR, "ledger query failed: %s", SPI_result_code_string(rc));
}

static bool
first_bool(void)
{
	bool		isnull;
	Datum		value;

	Assert(SPI_processed == 1);
	value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
	return !isnull && DatumGetBool(value);
}

static void
write_stamp(void)
{
	Oid			types[4] = {NUMERICOID, OIDOID, INT8OID, OIDOID};
	Datum		values[4];

	values[0] = system_id_numeric();
	values[1] = ObjectIdGetDatum(MyDatabaseId);
	values[2] = Int64GetDatum((int64) dp_current_timeline());
	values[3] = ObjectIdGetDatum(dp_extension_oid());
	dp_ledger_write_begin();
	run("DELETE FROM dp_cdp.ledger_stamp", 0, NULL, NULL, SPI_OK_DELETE);
	run("INSERT INTO dp_cdp.ledger_stamp (system_id, database, timeline, extension)"
		" VALUES ($1, $2, $3, $4)", 4, types, values, SPI_OK_INSERT);
	dp_ledger_write_end();
}

/*
 * Compares the stamp with where the ledger is.  Called once in a worker's life
 * while it returns true, so SPI is fast enough.  The caller has an active snapshot and is the tables' owner.
 */
bool
dp_stamp_valid(void)
{
	Oid			types[4] = {NUMERICOID, OIDOID, INT8OID, OIDOID};
	Datum		values[4];
	bool		valid;

	values[0] = system_id_numeric();
	values[1] = ObjectIdGetDatum(MyDatabaseId);
	values[2] = Int64GetDatum((int64) dp_current_timeline());
	values[3] = ObjectIdGetDatum(dp_extension_oid());

	SPI_connect();
	run("SELECT (SELECT (system_id, database, timeline, extension) IS NOT DISTINCT FROM"
		" ROW($1, $2, $3, $4) FROM dp_cdp.ledger_stamp)", 4, types, values, SPI_OK_SELECT);
	valid = first_bool();
	if (!valid)
	{
		run("SELECT NOT EXISTS (SELECT FROM dp_cdp.ledger_stamp)"
			" AND NOT EXISTS (SELECT FROM dp_cdp.release_log)"
			" AND NOT EXISTS (SELECT FROM dp_cdp.budget WHERE rho_spent <> 0 OR delta_spent <> 0)"
			" AND NOT EXISTS (SELECT FROM dp_cdp.dataset WHERE rho_spent <> 0 OR delta_spent <> 0)",
			0, NULL, NULL, SPI_OK_SELECT);
		if (first_bool())
		{
			write_stamp();
			valid = true;
		}
	}
	SPI_finish();
	return valid;
}

/* ---------------------------------------------------------------------
 * Adopting and emptying, by the extension's owner
 * ---------------------------------------------------------------------
 */

/*
 * Checks the caller and becomes the owner of the tables, so that a
 * statement's permission checks do not depend on who calls.  An error
 * restores the user by itself.
 */
static void
begin_admin(const char *function, Oid *user, int *security)
{
	Oid			table = dp_own_table("ledger_stamp");
	Relation	rel;

	if (!OidIsValid(table))
		ereport(ERROR,
				(errcode(ERRCODE_DP_LEDGER_UNAVAILABLE),
				 errmsg("this database has no privacy ledger; a superuser can make one with CREATE EXTENSION dp_cdp")));
	if (!dp_owns_extension(dp_extension_oid(), GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only the owner of extension dp_cdp may call dp_cdp.%s", function)));
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_DP_LEDGER_UNAVAILABLE),
				 errmsg("dp_cdp.%s cannot run on a standby; call it on the primary", function)));

	GetUserIdAndSecContext(user, security);
	rel = table_open(table, AccessShareLock);
	SetUserIdAndSecContext(rel->rd_rel->relowner, *security | SECURITY_RESTRICTED_OPERATION);
	table_close(rel, NoLock);
	SPI_connect();

	/* no debit between the sums and the stamp */
	run("LOCK TABLE dp_cdp.ledger_stamp, dp_cdp.dataset, dp_cdp.budget, dp_cdp.release_log"
		" IN SHARE ROW EXCLUSIVE MODE", 0, NULL, NULL, SPI_OK_UTILITY);
}

static void
end_admin(Oid user, int security)
{
	SPI_finish();
	SetUserIdAndSecContext(user, security);
}

static Datum
surcharge(FunctionCallInfo fcinfo, int arg, const char *name)
{
	float8		value = PG_GETARG_FLOAT8(arg);

	/* the negation catches NaN too */
	if (!(value >= 0 && value <= 1e6))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("%s must be between 0 and 1000000", name)));
	return Float8GetDatum(value);
}

/*
 * SQL: dp_cdp.adopt_ledger(surcharge_rho, surcharge_delta)
 *
 * Raises every balance to what the audit log shows (since the current
 * period's start where there is one), adds the surcharge for what the log
 * may have lost, and stamps the ledger as this database's.  Balances are
 * never lowered, except by a renewal that is due.
 */
Datum
dp_ledger_adopt(PG_FUNCTION_ARGS)
{
	Oid			user;
	int			security;
	Oid			types[2] = {FLOAT8OID, FLOAT8OID};
	Datum		values[2];

	dp_check_version();
	values[0] = surcharge(fcinfo, 0, "surcharge_rho");
	values[1] = surcharge(fcinfo, 1, "surcharge_delta");
	begin_admin("adopt_ledger", &user, &security);

	dp_ledger_write_begin();

	run("UPDATE dp_cdp.dataset d SET"
		" rho_spent = greatest(rho_spent, s.rho) + $1::numeric,"
		" delta_spent = greatest(delta_spent, s.delta) + $2::numeric"
		" FROM (SELECT x.name, coalesce(sum(l.rho), 0) AS rho, coalesce(sum(l.delta), 0) AS delta"
		"       FROM dp_cdp.dataset x LEFT JOIN dp_cdp.release_log l"
		"         ON l.dataset = x.name AND l.granted"
		"       GROUP BY x.name) s"
		" WHERE s.name = d.name",
		2, types, values, SPI_OK_UPDATE);

	/*
	 * A renewal that is due is made first, as the worker would.  Who pays is
	 * found out once for each pair of roles in the log, not for each row.
	 */
	run("WITH due AS MATERIALIZED ("
		"   SELECT dataset, role, period, renews_at,"
		"     dp_cdp.next_renewal(renews_at, period, pg_catalog.now()) AS next"
		"   FROM dp_cdp.budget),"
		" pairs AS MATERIALIZED ("
		"   SELECT DISTINCT dataset, role, session_role FROM dp_cdp.release_log WHERE granted),"
		" payers AS MATERIALIZED ("
		"   SELECT d.dataset, d.role AS budget, p.role, p.session_role, dp_cdp.period_start(d.next, d.period) AS since"
		"   FROM due d JOIN pairs p ON p.dataset = d.dataset"
		"     AND (dp_cdp.role_pays(p.role, d.role) OR dp_cdp.role_pays(p.session_role, d.role))),"
		" sums AS ("
		"   SELECT p.dataset, p.budget, sum(l.rho) AS rho, sum(l.delta) AS delta"
		"   FROM payers p JOIN dp_cdp.release_log l ON l.granted AND l.dataset = p.dataset"
		"     AND l.role = p.role AND l.session_role = p.session_role"
		"     AND (p.since IS NULL OR l.released_at >= p.since)"
		"   GROUP BY p.dataset, p.budget)"
		" UPDATE dp_cdp.budget b SET"
		"   rho_spent = greatest(CASE WHEN due.next <> due.renews_at THEN 0 ELSE b.rho_spent END,"
		"                        coalesce(s.rho, 0)) + $1::numeric,"
		"   delta_spent = greatest(CASE WHEN due.next <> due.renews_at THEN 0 ELSE b.delta_spent END,"
		"                          coalesce(s.delta, 0)) + $2::numeric,"
		"   renews_at = coalesce(due.next, b.renews_at)"
		" FROM due LEFT JOIN sums s ON s.dataset = due.dataset AND s.budget = due.role"
		" WHERE b.dataset = due.dataset AND b.role = due.role",
		2, types, values, SPI_OK_UPDATE);

	dp_ledger_write_end();
	write_stamp();
	end_admin(user, security);
	PG_RETURN_VOID();
}

/*
 * SQL: dp_cdp.empty_ledger()
 *
 * Forgets all spending and the audit log: afterwards everything that was
 * ever released can be released again at the same price.
 */
Datum
dp_ledger_empty(PG_FUNCTION_ARGS)
{
	Oid			user;
	int			security;

	begin_admin("empty_ledger", &user, &security);
	dp_ledger_write_begin();
	run("TRUNCATE ONLY dp_cdp.release_log", 0, NULL, NULL, SPI_OK_UTILITY);
	run("UPDATE dp_cdp.budget SET rho_spent = 0, delta_spent = 0, failures = 0, failures_since = NULL", 0, NULL, NULL, SPI_OK_UPDATE);
	run("UPDATE dp_cdp.dataset SET rho_spent = 0, delta_spent = 0", 0, NULL, NULL, SPI_OK_UPDATE);
	dp_ledger_write_end();
	write_stamp();
	end_admin(user, security);
	PG_RETURN_VOID();
}
