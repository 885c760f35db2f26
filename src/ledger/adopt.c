/*-------------------------------------------------------------------------
 *
 * adopt.c
 *	  What can be done when a ledger is not the one that was written here
 *	  (stamp.c): adopting it, as a whole or one dataset, and emptying it.
 *
 * Adopting raises each balance to what the log adds up to, and by a surcharge
 * for what the log may have lost.  A row of the log counts for each balance in
 * its paid_by, of a budget from the row on with which its period began: who
 * joins a team, or leaves it, takes nothing along, and a budget that was
 * dropped and given again is another.  Rows that do not say who paid, such as
 * those that were put back by hand, count for whom would be debited today, and
 * say so from then on.  What a balance has beyond the log, surcharges among
 * it, becomes a correction in the log, so that the two agree.
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
 *	- the chain of hashes goes on behind what was put back and added.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/builtins.h"

#include "base/errors.h"
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
static int64
run(const char *query, Adoption *adoption, int expected)
{
	int			rc = SPI_execute_with_args(query, adoption ? NUM_PARAMETERS : 0, (Oid *) parameter_types,
										   adoption ? adoption->values : NULL,
										   adoption ? adoption->nulls : NULL, false, 0);

	if (rc != expected)
		elog(ERROR, "ledger query failed: %s", SPI_result_code_string(rc));
	return SPI_processed;
}

/* ---------------------------------------------------------------------
 * Raising balances
 * ---------------------------------------------------------------------
 */

/* datasets that are adopted: the one that was asked for, or all */
#define ADOPTED(name) "($3 IS NULL OR " name " = $3)"

/*
 * Budgets with renewals that are due made, as the worker would; "begin" is
 * when the period began that counts, NULL: long ago.
 */
#define DUE \
	" due AS MATERIALIZED (" \
	"   SELECT b.ledger_id, b.dataset, dp_cdp_internal.known_role(b.role, b.role_name)::oid AS role, b.spent_since," \
	"     n.next, n.renewed, dp_cdp_internal.period_start(n.next, b.period) AS begin" \
	"   FROM dp_cdp_internal.budget b," \
	"     LATERAL (SELECT x.next, coalesce(x.next <> b.renews_at, false) AS renewed" \
	"       FROM (SELECT dp_cdp_internal.next_renewal(b.renews_at, b.period, pg_catalog.now()) AS next) x) n" \
	"   WHERE " ADOPTED("b.dataset") ")"

/* when the spending of a row happened: that of a checkpoint before it was written */
#define HAPPENED_AT "CASE WHEN l.kind = 'checkpoint' THEN coalesce(l.last_at, l.released_at) ELSE l.released_at END"

/*
 * Writes who paid into rows that do not say so and are no part of the chain.
 * "reach" follows memberships of every kind, and the owner of the database to
 * pg_database_owner; role_pays then says who pays.
 */
static void
find_payers(Adoption *adoption)
{
	run("WITH RECURSIVE" DUE ","
		" pairs AS MATERIALIZED ("
		"   SELECT x.*, dp_cdp_internal.known_role(x.role, nullif(x.role_name, ''))::oid AS payer,"
		"     dp_cdp_internal.known_role(x.session_role, nullif(x.session_role_name, ''))::oid AS session_payer"
		"   FROM (SELECT DISTINCT dataset, role, coalesce(role_name, '') AS role_name, session_role,"
		"       coalesce(session_role_name, '') AS session_role_name"
		"     FROM dp_cdp_internal.release_log WHERE granted AND paid_by IS NULL AND hash IS NULL AND " ADOPTED("dataset") ") x),"
		" reach(payer, role) AS ("
		"   SELECT payer, payer FROM pairs UNION SELECT session_payer, session_payer FROM pairs"
		"   UNION SELECT r.payer, m.roleid FROM reach r JOIN pg_catalog.pg_auth_members m ON m.member = r.role),"
		" pays AS MATERIALIZED ("
		"   SELECT x.payer, x.role FROM (SELECT payer, role FROM reach"
		"     UNION SELECT payer, 'pg_database_owner'::regrole::oid FROM reach ORDER BY 1) x"
		"   WHERE x.role IN (SELECT role FROM due) AND dp_cdp_internal.role_pays(x.payer, x.role)),"

	/*
	 * step by step, or the planner joins all pairs of a dataset with all its
	 * budgets
	 */
		" paying AS MATERIALIZED ("
		"   SELECT p.dataset, p.role, p.role_name, p.session_role, p.session_role_name, y.role AS budget"
		"   FROM pairs p JOIN pays y ON y.payer = p.payer"
		"   UNION"
		"   SELECT p.dataset, p.role, p.role_name, p.session_role, p.session_role_name, y.role"
		"   FROM pairs p JOIN pays y ON y.payer = p.session_payer),"
		" payers AS MATERIALIZED ("
		"   SELECT p.dataset, p.role, p.role_name, p.session_role, p.session_role_name, d.ledger_id, d.spent_since, d.begin"
		"   FROM paying p JOIN due d ON d.dataset = p.dataset AND d.role = p.budget),"
		" paid AS MATERIALIZED ("
		"   SELECT l.id, array_agg(p.ledger_id ORDER BY p.ledger_id) AS budgets"
		"   FROM dp_cdp_internal.release_log l JOIN payers p ON p.dataset = l.dataset"
		"     AND p.role = l.role AND p.role_name = coalesce(l.role_name, '')"
		"     AND p.session_role = l.session_role AND p.session_role_name = coalesce(l.session_role_name, '')"
		"     AND l.id >= p.spent_since AND (p.begin IS NULL OR " HAPPENED_AT " >= p.begin)"
		"   WHERE l.granted AND l.paid_by IS NULL AND l.hash IS NULL GROUP BY l.id),"
		" found AS ("
		"   SELECT l.id, coalesce(p.budgets, '{}') || d.ledger_id AS paid_by"
		"   FROM dp_cdp_internal.release_log l JOIN dp_cdp_internal.dataset d ON d.name = l.dataset LEFT JOIN paid p ON p.id = l.id"
		"   WHERE l.granted AND l.paid_by IS NULL AND l.hash IS NULL AND " ADOPTED("l.dataset") ")"
		" UPDATE dp_cdp_internal.release_log l SET paid_by = f.paid_by FROM found f WHERE f.id = l.id",
		adoption, SPI_OK_UPDATE);
}

/*
 * What rows of the log add up to for each balance in a table, by the days of
 * blocks that were debited: all where there are none.
 */
#define PAID_IN_DAYS(balances) \
	"   SELECT d.ledger_id, coalesce(l.block_from, '-infinity') AS block_from, coalesce(l.block_to, 'infinity') AS block_to," \
	"     sum(l.rho) AS rho, sum(l.delta) AS delta, min(l.id) AS first_id" \
	"   FROM dp_cdp_internal.release_log l CROSS JOIN LATERAL unnest(l.paid_by) AS p(ledger_id)" \
	"     JOIN " balances " d ON d.ledger_id = p.ledger_id AND l.id >= d.spent_since" \
	"       AND (NOT d.renewed OR d.begin IS NULL OR " HAPPENED_AT " >= d.begin)" \
	"   WHERE " ADOPTED("l.dataset") \
	"   GROUP BY 1, 2, 3"

/*
 * Raises what was spent in blocks.  Before balances are raised, as these then say
 * that renewals which are due were made.
 */
static void
raise_blocks(Adoption *adoption)
{
	run("WITH" DUE ","
		" balances AS ("
		"   SELECT d.ledger_id, 0::bigint AS spent_since, false AS renewed, NULL::timestamptz AS begin"
		"   FROM dp_cdp_internal.dataset d WHERE d.block_every IS NOT NULL AND " ADOPTED("d.name")
		"   UNION ALL"
		"   SELECT b.ledger_id, b.spent_since, b.renewed, b.begin"
		"   FROM due b JOIN dp_cdp_internal.dataset d ON d.name = b.dataset WHERE d.block_every IS NOT NULL),"
		" paid AS (" PAID_IN_DAYS("balances") "),"
		" spent AS ("
		"   SELECT k.ledger_id, k.block_from, k.block_to, CASE WHEN b.renewed THEN 0 ELSE k.rho_spent END AS rho,"
		"     CASE WHEN b.renewed THEN 0 ELSE k.delta_spent END AS delta"
		"   FROM dp_cdp_internal.block_spent k JOIN balances b ON b.ledger_id = k.ledger_id),"
		" changes AS ("
		"   SELECT ledger_id, '-infinity'::date AS day, 0::numeric AS l_rho, 0::numeric AS l_delta, 0::numeric AS s_rho,"
		"     0::numeric AS s_delta, false AS has_row FROM balances"
		"   UNION ALL SELECT ledger_id, block_from, rho, delta, 0, 0, false FROM paid"
		"   UNION ALL SELECT ledger_id, block_to, -rho, -delta, 0, 0, false FROM paid WHERE block_to < 'infinity'"
		"   UNION ALL SELECT ledger_id, block_from, 0, 0, rho, delta, true FROM spent"
		"   UNION ALL SELECT ledger_id, block_to, 0, 0, -rho, -delta, false FROM spent WHERE block_to < 'infinity'),"
		" steps AS ("
		"   SELECT ledger_id, day, coalesce(lead(day) OVER w, 'infinity') AS until, bool_or(has_row) AS has_row,"
		"     greatest(sum(sum(l_rho)) OVER w, sum(sum(s_rho)) OVER w) + $1::numeric AS rho,"
		"     greatest(sum(sum(l_delta)) OVER w, sum(sum(s_delta)) OVER w) + $2::numeric AS delta"
		"   FROM changes GROUP BY ledger_id, day WINDOW w AS (PARTITION BY ledger_id ORDER BY day))"
		" INSERT INTO dp_cdp_internal.block_spent (ledger_id, block_from, block_to, rho_spent, delta_spent)"
		" SELECT ledger_id, day, until, rho, delta FROM steps WHERE has_row OR rho <> 0 OR delta <> 0"
		" ON CONFLICT (ledger_id, block_from) DO UPDATE SET block_to = excluded.block_to,"
		"   rho_spent = excluded.rho_spent, delta_spent = excluded.delta_spent",
		adoption, SPI_OK_INSERT);
}

static int64
raise_caps(Adoption *adoption)
{
	return run("UPDATE dp_cdp_internal.dataset d SET"
			   " rho_spent = greatest(d.rho_spent, s.rho) + $1::numeric,"
			   " delta_spent = greatest(d.delta_spent, s.delta) + $2::numeric"
			   " FROM (SELECT x.ledger_id, coalesce(max(l.rho), 0) AS rho, coalesce(max(l.delta), 0) AS delta"
			   "       FROM dp_cdp_internal.dataset x LEFT JOIN dp_cdp_internal.logged_steps() l ON l.ledger_id = x.ledger_id"
			   "       GROUP BY x.ledger_id) s"
			   " WHERE s.ledger_id = d.ledger_id AND " ADOPTED("d.name"),
			   adoption, SPI_OK_UPDATE);
}

static int64
raise_budgets(Adoption *adoption)
{
	return run("WITH" DUE ","
			   " paid AS (" PAID_IN_DAYS("due") "),"
			   " changes AS ("
			   "   SELECT ledger_id, block_from AS day, rho, delta FROM paid"
			   "   UNION ALL SELECT ledger_id, block_to, -rho, -delta FROM paid WHERE block_to < 'infinity'),"
			   " steps AS ("
			   "   SELECT ledger_id, sum(sum(rho)) OVER w AS rho, sum(sum(delta)) OVER w AS delta"
			   "   FROM changes GROUP BY ledger_id, day WINDOW w AS (PARTITION BY ledger_id ORDER BY day)),"
			   " sums AS ("
			   "   SELECT s.ledger_id, max(s.rho) AS rho, max(s.delta) AS delta,"
			   "     (SELECT min(p.first_id) FROM paid p WHERE p.ledger_id = s.ledger_id) AS first_id"
			   "   FROM steps s GROUP BY s.ledger_id)"
			   " UPDATE dp_cdp_internal.budget b SET"
			   "   rho_spent = greatest(CASE WHEN due.renewed THEN 0 ELSE b.rho_spent END, coalesce(s.rho, 0)) + $1::numeric,"
			   "   delta_spent = greatest(CASE WHEN due.renewed THEN 0 ELSE b.delta_spent END, coalesce(s.delta, 0)) + $2::numeric,"
			   "   renews_at = coalesce(due.next, b.renews_at),"
			   "   spent_since = CASE WHEN due.renewed THEN coalesce(s.first_id, (SELECT last_value + 1 FROM dp_cdp_internal.release_log_id_seq))"
			   "     ELSE b.spent_since END"
			   " FROM due LEFT JOIN sums s ON s.ledger_id = due.ledger_id"
			   " WHERE b.ledger_id = due.ledger_id",
			   adoption, SPI_OK_UPDATE);
}

/* Lets balances be numbered after all that the log knows: rows that were put back may name later ones. */
static void
advance_numbers(void)
{
	run("SELECT pg_catalog.setval('dp_cdp_internal.ledger_id_seq', m.id)"
		" FROM (SELECT greatest((SELECT max(ledger_id) FROM dp_cdp_internal.dataset), (SELECT max(ledger_id) FROM dp_cdp_internal.budget),"
		"   (SELECT max(p.id) FROM dp_cdp_internal.release_log l, unnest(l.paid_by) AS p(id)),"
		"   (SELECT max(p.id) FROM dp_cdp_internal.kept_answer k, unnest(k.paid_by || k.ledger_id) AS p(id))) AS id) m, dp_cdp_internal.ledger_id_seq s"
		" WHERE m.id > s.last_value", NULL, SPI_OK_SELECT);
}

/*
 * Ends answers that were paid for and not drawn: where this ledger comes from
 * they may have been drawn since, and would be drawn once more for nothing.
 */
static void
end_undrawn(Adoption *adoption)
{
	run("UPDATE dp_cdp_internal.kept_answer SET ended = true WHERE answer IS NULL AND NOT ended AND " ADOPTED("dataset"),
		adoption, SPI_OK_UPDATE);
}

/* ---------------------------------------------------------------------
 * Adopting and emptying
 * ---------------------------------------------------------------------
 */

static double
read_surcharge(FunctionCallInfo fcinfo, int arg, const char *name, double most)
{
	/* the negation catches NaN too */
	if (PG_ARGISNULL(arg) || !(PG_GETARG_FLOAT8(arg) >= 0 && PG_GETARG_FLOAT8(arg) <= most))
		dp_raise(BAD_PARAMETER, errmsg("%s must be between 0 and %.0f", name, most));
	return PG_GETARG_FLOAT8(arg);
}

DpSurcharge
dp_ledger_surcharge(FunctionCallInfo fcinfo, int arg)
{
	DpSurcharge surcharge;

	surcharge.rho = read_surcharge(fcinfo, arg, "surcharge_rho", 1e6);
	surcharge.delta = read_surcharge(fcinfo, arg + 1, "surcharge_delta", 1);
	return surcharge;
}

/* Sets the parameters; a dataset that is adopted by itself remembers where, while the others wait. */
static void
fill_in(Adoption *adoption, const DpSurcharge *surcharge, const char *dataset)
{
	bool		alone = dataset != NULL && !dp_stamp_is_good(dp_stamp_look());

	memset(adoption->nulls, ' ', NUM_PARAMETERS);
	adoption->values[0] = Float8GetDatum(surcharge->rho);
	adoption->values[1] = Float8GetDatum(surcharge->delta);
	adoption->values[2] = dataset ? CStringGetTextDatum(dataset) : (Datum) 0;
	adoption->nulls[2] = dataset ? ' ' : 'n';
	adoption->values[3] = alone ? CStringGetTextDatum(dp_stamp_here()) : (Datum) 0;
	adoption->nulls[3] = alone ? ' ' : 'n';
}

/* A surcharge on a ledger that was never used must not pass for spending that has lost its stamp. */
static void
stamp_if_fresh(void)
{
	if (dp_stamp_look() == DP_STAMP_FRESH)
		dp_stamp_write();
}

int64
dp_ledger_adopt_balances(const DpSurcharge *surcharge, const char *dataset)
{
	DpLedgerAdmin admin;
	Adoption	adoption;
	int64		adopted;

	dp_ledger_admin_begin(&admin, dataset ? NULL : "adopt_ledger");
	stamp_if_fresh();
	fill_in(&adoption, surcharge, dataset);
	dp_advance_log_sequence();
	advance_numbers();
	/* before the sums, which ask who pays */
	dp_link_roles(dataset);
	dp_ledger_write_begin();
	find_payers(&adoption);
	raise_blocks(&adoption);
	adopted = raise_caps(&adoption);
	adopted += raise_budgets(&adoption);
	end_undrawn(&adoption);
	run("UPDATE dp_cdp_internal.dataset d SET adopted = $4 WHERE " ADOPTED("d.name") " AND d.adopted IS DISTINCT FROM $4",
		&adoption, SPI_OK_UPDATE);
	dp_ledger_write_end();
	dp_ledger_settle("adopt_ledger", dataset);
	if (dataset == NULL)
		dp_stamp_write();
	dp_ledger_admin_end(&admin);
	return adopted;
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
	int64		rows;

	dp_ledger_admin_begin(&admin, "empty_ledger");
	dp_ledger_write_begin();
	/* not TRUNCATE, which would stop a subscriber: see writes.c */
	rows = run("DELETE FROM ONLY dp_cdp_internal.release_log", NULL, SPI_OK_DELETE);
	run("DELETE FROM ONLY dp_cdp_internal.ledger_chain", NULL, SPI_OK_DELETE);
	run("DELETE FROM ONLY dp_cdp_internal.pruned", NULL, SPI_OK_DELETE);
	run("DELETE FROM ONLY dp_cdp_internal.block_spent", NULL, SPI_OK_DELETE);
	/* what nobody has paid for any more is given to nobody */
	run("DELETE FROM ONLY dp_cdp_internal.kept_answer", NULL, SPI_OK_DELETE);
	run("UPDATE dp_cdp_internal.budget SET rho_spent = 0, delta_spent = 0, failures = 0, failures_since = NULL", NULL, SPI_OK_UPDATE);
	run("UPDATE dp_cdp_internal.dataset SET rho_spent = 0, delta_spent = 0, adopted = NULL", NULL, SPI_OK_UPDATE);
	dp_ledger_write_end();
	dp_stamp_write();
	dp_ledger_admin_end(&admin);
	PG_RETURN_INT64(rows);
}
