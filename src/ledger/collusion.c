/*-------------------------------------------------------------------------
 *
 * collusion.c
 *	  What a set of roles knows together.
 *
 * Answers of a ladder are made one of the other: who knows the dearest knows
 * all.  So of each ladder the largest price counts that any balance of these
 * roles has paid, and of all else that they have paid for each row of the log,
 * once.
 *
 * What of a row was paid for ladders is its kept_rho.  Where ladders are
 * missing, as their time was pruned or a backup left them out, what a balance
 * has paid for them counts as a row of its own: what is told is never less than
 * what the roles know.
 *
 * A role knows what was debited from a balance that it pays from, and what it
 * has asked itself, whoever paid.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/table.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "base/errors.h"
#include "base/extension.h"
#include "ledger/ledger_int.h"

PG_FUNCTION_INFO_V1(dp_ledger_collusion);

#define NUM_COLUMNS 5

/* $1: roles; $2: datasets, NULL: all where they have balances */
static const char query[] =
" WITH d AS MATERIALIZED ("
"   SELECT name, ledger_id, delta_limit FROM dp_cdp.dataset WHERE $2 IS NULL OR name = ANY ($2)),"
" budgets AS MATERIALIZED ("
"   SELECT b.dataset, b.ledger_id, EXISTS (SELECT FROM unnest($1) AS r(role)"
"     WHERE dp_cdp.role_pays(r.role, dp_cdp.known_role(b.role, b.role_name)::oid)) AS theirs"
"   FROM dp_cdp.budget b),"
/* what was spent, by whom; who asked: it is theirs */
" spent AS MATERIALIZED ("
"   SELECT l.dataset, l.rho, l.delta, l.paid_by, l.kept_rho, l.kept_delta,"
"     coalesce(dp_cdp.known_role(l.role, l.role_name)::oid = ANY ($1), false)"
"       OR coalesce(dp_cdp.known_role(l.session_role, l.session_role_name)::oid = ANY ($1), false) AS asked"
"   FROM dp_cdp.release_log l WHERE l.granted OR l.paid_by IS NOT NULL),"
/* their balances, and those that are gone */
" balances AS MATERIALIZED ("
"   SELECT dataset, ledger_id FROM budgets WHERE theirs"
"   UNION"
"   SELECT s.dataset, p.id FROM spent s, unnest(s.paid_by) AS p(id)"
"   WHERE s.asked AND p.id NOT IN (SELECT ledger_id FROM budgets) AND p.id NOT IN (SELECT ledger_id FROM dp_cdp.dataset)),"
" ids AS MATERIALIZED (SELECT d.name, d.ledger_id AS cap, d.delta_limit,"
"     coalesce((SELECT array_agg(b.ledger_id) FROM balances b WHERE b.dataset = d.name), '{}') AS ids FROM d),"
/* rows of which the cap alone was debited add nothing to what was paid for them before */
" known_rows AS MATERIALIZED ("
"   SELECT s.*, s.paid_by && i.ids AS by_balance FROM spent s JOIN ids i ON i.name = s.dataset"
"   WHERE s.paid_by && i.ids OR (s.asked AND s.paid_by IS DISTINCT FROM ARRAY[i.cap])),"
" rest AS ("
"   SELECT dataset, sum(rho) AS rho_sum,"
"     sum(rho - CASE WHEN by_balance THEN coalesce(kept_rho, 0) ELSE 0 END) AS rho,"
"     sum(delta - CASE WHEN by_balance THEN coalesce(kept_delta, 0) ELSE 0 END) AS delta"
"   FROM known_rows GROUP BY dataset),"
" ladders AS MATERIALIZED ("
"   SELECT k.dataset, k.question, k.began, p.id, max(k.rho) AS rho, max(k.delta) AS delta"
"   FROM dp_cdp.kept_answer k JOIN ids i ON i.name = k.dataset AND i.cap = k.ledger_id"
"     CROSS JOIN LATERAL unnest(k.paid_by) AS p(id) WHERE p.id = ANY (i.ids)"
"   GROUP BY k.dataset, k.question, k.began, p.id),"
" kept AS (SELECT x.dataset, sum(x.rho) AS rho, sum(x.delta) AS delta"
"   FROM (SELECT dataset, max(rho) AS rho, max(delta) AS delta FROM ladders GROUP BY dataset, question, began) x"
"   GROUP BY x.dataset),"
" logged AS (SELECT s.dataset, p.id, sum(s.kept_rho) AS rho, sum(s.kept_delta) AS delta"
"   FROM known_rows s CROSS JOIN LATERAL unnest(s.paid_by) AS p(id) WHERE s.kept_rho IS NOT NULL GROUP BY s.dataset, p.id),"
" missing AS (SELECT b.dataset, sum(greatest(coalesce(g.rho, 0) - coalesce(l.rho, 0), 0)) AS rho,"
"     sum(greatest(coalesce(g.delta, 0) - coalesce(l.delta, 0), 0)) AS delta"
"   FROM balances b LEFT JOIN logged g ON g.dataset = b.dataset AND g.id = b.ledger_id"
"     LEFT JOIN (SELECT dataset, id, sum(rho) AS rho, sum(delta) AS delta FROM ladders GROUP BY dataset, id) l"
"       ON l.dataset = b.dataset AND l.id = b.ledger_id"
"   GROUP BY b.dataset)"
" SELECT i.name, trim_scale(t.rho), trim_scale(t.delta), dp_cdp.epsilon_spent(t.rho, i.delta_limit),"
"   trim_scale(coalesce(r.rho_sum, 0))"
" FROM ids i LEFT JOIN rest r ON r.dataset = i.name LEFT JOIN kept k ON k.dataset = i.name"
"   LEFT JOIN missing m ON m.dataset = i.name"
"   CROSS JOIN LATERAL (SELECT greatest(coalesce(r.rho, 0) + coalesce(k.rho, 0) + coalesce(m.rho, 0), 0) AS rho,"
"     greatest(coalesce(r.delta, 0) + coalesce(k.delta, 0) + coalesce(m.delta, 0), 0) AS delta) t"
" WHERE i.ids <> '{}' OR r.dataset IS NOT NULL"
" ORDER BY i.name COLLATE \"C\"";

/* Copies the roles as OIDs, and tells whether all of them are the session's, or ones that it inherits from. */
static Datum
read_roles(ArrayType *array, bool *all_mine)
{
	Datum	   *roles;
	bool	   *nulls;
	int			n;

	deconstruct_array(array, REGROLEOID, sizeof(Oid), true, TYPALIGN_INT, &roles, &nulls, &n);
	*all_mine = true;
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_DP_BAD_PARAMETER),
					 errmsg("roles must not be NULL: give an array such as '{alice,bob}'")));
		*all_mine = *all_mine && dp_ledger_role_is_mine(DatumGetObjectId(roles[i]));
	}
	return PointerGetDatum(construct_array(roles, n, OIDOID, sizeof(Oid), true, TYPALIGN_INT));
}

/*
 * SQL: dp_cdp.collusion(roles)
 *
 * For owners their datasets, for superusers all; for who asks about himself
 * those where he has a budget.  Runs as the owner of the tables.
 */
Datum
dp_ledger_collusion(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			types[2] = {OIDARRAYOID, TEXTARRAYOID};
	Oid			table = dp_own_table("kept_answer");
	bool		all_mine;
	Datum		values[2];
	char		nulls[2] = {' ', ' '};
	Relation	rel;
	Oid			user;
	int			security;

	if (!OidIsValid(table))
		ereport(ERROR,
				(errcode(ERRCODE_DP_LEDGER_UNAVAILABLE),
				 errmsg("this database has no privacy ledger; a superuser can make one with CREATE EXTENSION dp_cdp")));
	values[0] = read_roles(PG_GETARG_ARRAYTYPE_P(0), &all_mine);
	values[1] = all_mine ? (Datum) 0 : dp_ledger_datasets_of_mine();
	nulls[1] = all_mine ? 'n' : ' ';
	if (!all_mine && ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(values[1])), ARR_DIMS(DatumGetArrayTypeP(values[1]))) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only owners of datasets may ask what other roles know together; dp_cdp.collusion of your own roles is yours to ask")));
	InitMaterializedSRF(fcinfo, 0);

	GetUserIdAndSecContext(&user, &security);
	rel = table_open(table, AccessShareLock);
	SetUserIdAndSecContext(rel->rd_rel->relowner, security | SECURITY_RESTRICTED_OPERATION);
	table_close(rel, NoLock);
	SPI_connect();
	if (SPI_execute_with_args(query, 2, types, values, nulls, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "ledger query failed");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		Datum		columns[NUM_COLUMNS];
		bool		isnull[NUM_COLUMNS];

		for (int c = 0; c < NUM_COLUMNS; c++)
			columns[c] = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, c + 1, &isnull[c]);
		tuplestore_putvalues(result->setResult, result->setDesc, columns, isnull);
	}
	SPI_finish();
	SetUserIdAndSecContext(user, security);
	return (Datum) 0;
}
