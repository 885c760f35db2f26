/*-------------------------------------------------------------------------
 *
 * adopt.c
 *	  What can be done when a ledger is not the one that was written here
 *	  (stamp.c): adopting it, as a whole or one dataset, and emptying it.
 *
 * Adopting raises each balance to what the log adds up to, and by a surcharge
 * for what the log may have lost.  What a row of the log counts for:
 *
 *	- its dataset;
 *	- each budget that would be debited from today, if it was written since
 *	  that was renewed last.
 *
 * Balances are never lowered, except by a renewal that is due.
 *
 * Invariants:
 *	- no debit comes between the sums and the stamp: the locks on the ledger's
 *	  tables are held to the end of the transaction;
 *	- numbers of the log's rows go on after the largest, so that rows which were
 *	  put back do not stand in the way of new ones;
 *	- time is linear in budgets, roles in the log and its rows: no statement
 *	  joins roles with roles but along memberships.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/table.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "base/errors.h"
#include "base/extension.h"
#include "ledger/ledger.h"
#include "ledger/ledger_int.h"

PG_FUNCTION_INFO_V1(dp_ledger_empty);

/* parameters of all statements: surcharges; the dataset, NULL: all; what its column "adopted" becomes */
#define NUM_PARAMETERS 4
static const Oid parameter_types[NUM_PARAMETERS] = {FLOAT8OID, FLOAT8OID, TEXTOID, TEXTOID};

typedef struct Adoption
{
	Datum		values[NUM_PARAMETERS];
	char		nulls[NUM_PARAMETERS];
} Adoption;

/* Runs a statement of this file's; SPI is connected. */
static void
run(const char *query, Adoption *adoption, int expected)
{
	int			rc = SPI_execute_with_args(query, adoption ? NUM_PARAMETERS : 0, (Oid *) parameter_types,
										   adoption ? adoption->values : NULL,
										   adoption ? adoption->nulls : NULL, false, 0);

	if (rc != expected)
		elog(ERROR, "ledger query failed: %s", SPI_result_code_string(rc));
}

/* Keeps debits out to the end of the transaction. */
static void
lock_ledger(void)
{
	run("LOCK TABLE dp_cdp.ledger_stamp, dp_cdp.dataset, dp_cdp.budget, dp_cdp.release_log, dp_cdp.ledger_chain"
		" IN SHARE ROW EXCLUSIVE MODE", NULL, SPI_OK_UTILITY);
}

/* ---------------------------------------------------------------------
 * Raising balances
 * ---------------------------------------------------------------------
 */

/* datasets that are adopted: the one that was asked for, or all */
#define ADOPTED "($3 IS NULL OR d.name = $3)"

static void
raise_caps(Adoption *adoption)
{
	run("UPDATE dp_cdp.dataset d SET"
		" rho_spent = greatest(d.rho_spent, s.rho) + $1::numeric,"
		" delta_spent = greatest(d.delta_spent, s.delta) + $2::numeric"
		" FROM (SELECT x.name, coalesce(sum(l.rho), 0) AS rho, coalesce(sum(l.delta), 0) AS delta"
		"       FROM dp_cdp.dataset x LEFT JOIN dp_cdp.release_log l"
		"         ON l.dataset = x.name AND l.granted"
		"       GROUP BY x.name) s"
		" WHERE s.name = d.name AND " ADOPTED,
		adoption, SPI_OK_UPDATE);
}

/*
 * A renewal that is due is made first, as the worker would.  "reach" follows
 * memberships of every kind, and the owner of the database to
 * pg_database_owner; role_pays then says who pays.
 */
static void
raise_budgets(Adoption *adoption)
{
	run("WITH RECURSIVE due AS MATERIALIZED ("
		"   SELECT b.dataset, b.role::oid AS role, n.next, n.renewed,"
		"     dp_cdp.period_start(n.next, b.period) AS since"
		"   FROM dp_cdp.budget b JOIN dp_cdp.dataset d ON d.name = b.dataset,"
		"     LATERAL (SELECT x.next, coalesce(x.next <> b.renews_at, false) AS renewed"
		"       FROM (SELECT dp_cdp.next_renewal(b.renews_at, b.period, pg_catalog.now()) AS next) x) n"
		"   WHERE " ADOPTED "),"
		" asked AS MATERIALIZED ("
		"   SELECT dataset, role::oid AS role, session_role::oid AS session_role, granted, released_at, rho, delta"
		"   FROM dp_cdp.release_log WHERE granted AND ($3 IS NULL OR dataset = $3)),"
		" pairs AS MATERIALIZED ("
		"   SELECT DISTINCT dataset, role, session_role FROM asked),"
		" reach(payer, role) AS ("
		"   SELECT role, role FROM pairs UNION SELECT session_role, session_role FROM pairs"
		"   UNION SELECT r.payer, m.roleid FROM reach r JOIN pg_catalog.pg_auth_members m ON m.member = r.role),"
		" pays AS MATERIALIZED ("
		"   SELECT x.payer, x.role FROM (SELECT payer, role FROM reach"
		"     UNION SELECT payer, 'pg_database_owner'::regrole::oid FROM reach ORDER BY 1) x"
		"   WHERE x.role IN (SELECT role FROM due) AND dp_cdp.role_pays(x.payer, x.role)),"
		" payers AS MATERIALIZED ("
		"   SELECT p.dataset, y.role AS budget, p.role, p.session_role FROM pairs p JOIN pays y ON y.payer = p.role"
		"   UNION"
		"   SELECT p.dataset, y.role, p.role, p.session_role FROM pairs p JOIN pays y ON y.payer = p.session_role),"
		" sums AS ("
		"   SELECT d.dataset, d.role, sum(l.rho) AS rho, sum(l.delta) AS delta"
		"   FROM asked l JOIN payers p ON l.dataset = p.dataset AND l.role = p.role AND l.session_role = p.session_role"
		"     JOIN due d ON d.dataset = p.dataset AND d.role = p.budget AND (d.since IS NULL OR l.released_at >= d.since)"
		"   GROUP BY d.dataset, d.role)"
		" UPDATE dp_cdp.budget b SET"
		"   rho_spent = greatest(CASE WHEN due.renewed THEN 0 ELSE b.rho_spent END, coalesce(s.rho, 0)) + $1::numeric,"
		"   delta_spent = greatest(CASE WHEN due.renewed THEN 0 ELSE b.delta_spent END, coalesce(s.delta, 0)) + $2::numeric,"
		"   renews_at = coalesce(due.next, b.renews_at)"
		" FROM due LEFT JOIN sums s ON s.dataset = due.dataset AND s.role = due.role"
		" WHERE b.dataset = due.dataset AND b.role::oid = due.role",
		adoption, SPI_OK_UPDATE);
}

/*
 * Adopts; SPI is connected, and the user may write the tables.  A dataset that
 * is adopted by itself remembers where, while the others wait.
 */
static void
adopt(const DpSurcharge *surcharge, const char *dataset)
{
	Adoption	adoption;

	memset(adoption.nulls, ' ', NUM_PARAMETERS);
	adoption.values[0] = Float8GetDatum(surcharge->rho);
	adoption.values[1] = Float8GetDatum(surcharge->delta);
	adoption.values[2] = dataset ? CStringGetTextDatum(dataset) : (Datum) 0;
	adoption.values[3] = (Datum) 0;
	adoption.nulls[3] = 'n';
	if (dataset == NULL)
		adoption.nulls[2] = 'n';

	lock_ledger();
	if (dataset != NULL && !dp_stamp_is_good(dp_stamp_look()))
	{
		adoption.values[3] = CStringGetTextDatum(dp_stamp_here());
		adoption.nulls[3] = ' ';
	}
	/* before the sums, which ask who pays */
	dp_link_roles();
	dp_ledger_write_begin();
	raise_caps(&adoption);
	raise_budgets(&adoption);
	run("UPDATE dp_cdp.dataset d SET adopted = $4 WHERE " ADOPTED " AND d.adopted IS DISTINCT FROM $4",
		&adoption, SPI_OK_UPDATE);
	dp_ledger_write_end();
	dp_advance_log_sequence();
	dp_ledger_settle("adopt_ledger");
	if (dataset == NULL)
		dp_stamp_write();
}

/* ---------------------------------------------------------------------
 * Who may
 * ---------------------------------------------------------------------
 */

static double
read_surcharge(FunctionCallInfo fcinfo, int arg, const char *name)
{
	/* the negation catches NaN too */
	if (PG_ARGISNULL(arg) || !(PG_GETARG_FLOAT8(arg) >= 0 && PG_GETARG_FLOAT8(arg) <= 1e6))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("%s must be between 0 and 1000000", name)));
	return PG_GETARG_FLOAT8(arg);
}

DpSurcharge
dp_ledger_surcharge(FunctionCallInfo fcinfo, int arg)
{
	DpSurcharge surcharge;

	surcharge.rho = read_surcharge(fcinfo, arg, "surcharge_rho");
	surcharge.delta = read_surcharge(fcinfo, arg + 1, "surcharge_delta");
	return surcharge;
}

void
dp_ledger_adopt_dataset(const char *dataset, const DpSurcharge *surcharge)
{
	adopt(surcharge, dataset);
}

void
dp_ledger_adopt(const DpSurcharge *surcharge)
{
	DpLedgerAdmin admin;

	dp_ledger_admin_begin(&admin, "adopt_ledger");
	adopt(surcharge, NULL);
	dp_ledger_admin_end(&admin);
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
	DpLedgerAdmin admin;

	dp_ledger_admin_begin(&admin, "empty_ledger");
	dp_ledger_write_begin();
	/* not TRUNCATE, which would stop a subscriber: see writes.c */
	run("DELETE FROM ONLY dp_cdp.release_log", NULL, SPI_OK_DELETE);
	run("DELETE FROM ONLY dp_cdp.ledger_chain", NULL, SPI_OK_DELETE);
	run("DELETE FROM ONLY dp_cdp.pruned", NULL, SPI_OK_DELETE);
	run("UPDATE dp_cdp.budget SET rho_spent = 0, delta_spent = 0, failures = 0, failures_since = NULL", NULL, SPI_OK_UPDATE);
	run("UPDATE dp_cdp.dataset SET rho_spent = 0, delta_spent = 0, adopted = NULL", NULL, SPI_OK_UPDATE);
	dp_ledger_write_end();
	dp_stamp_write();
	dp_ledger_admin_end(&admin);
	PG_RETURN_VOID();
}
