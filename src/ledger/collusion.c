/*-------------------------------------------------------------------------
 *
 * collusion.c
 *	  What a set of roles knows together.
 *
 * Answers of a chain are made one of the other: who knows the dearest knows
 * all.  So of each chain the largest price counts that any balance of these
 * roles has paid, and of all else that they have paid for each row of the log,
 * once.
 *
 * A row's reuse_rho is the part of it that was paid for chains.  Chains may be
 * missing, as their time was pruned or a backup left them out.  Then a balance's
 * payments for them count as a row of its own, so that the result is never less
 * than what the roles know.
 *
 * Of a dataset with blocks of time this is so in each block, and the most in any of
 * them is told, as that is what the promise is about.  Rows and chains are of
 * days; what begins and ends with them is added up along the days.  Rows without
 * days are of all blocks.
 *
 * A role knows what was debited from a balance that it pays from, and what it
 * has asked itself, whoever paid.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
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

#include "base/errors.h"
#include "base/extension.h"
#include "ledger/ledger_int.h"

PG_FUNCTION_INFO_V1(dp_ledger_collusion);

#define NUM_COLUMNS 5

/* $1: roles; $2: datasets, NULL: all where they have balances; $3: one of these, '*': each */
static const char query[] =
" WITH d AS MATERIALIZED ("
"   SELECT name, ledger_id, delta_limit FROM dp_cdp_internal.dataset WHERE ($2 IS NULL OR name = ANY ($2)) AND $3 IN ('*', name)),"
" budgets AS MATERIALIZED ("
"   SELECT b.dataset, b.ledger_id, EXISTS (SELECT FROM unnest($1) AS r(role)"
"     WHERE dp_cdp_internal.role_pays(r.role, dp_cdp_internal.known_role(b.role, b.role_name)::oid)) AS theirs"
"   FROM dp_cdp_internal.budget b),"
/* what was spent, by whom, of which days: a log has many rows, and few of these; who asked: it is theirs */
" logged AS MATERIALIZED ("
"   SELECT l.dataset, l.block_from, l.block_to, l.paid_by, l.role, l.role_name, l.session_role, l.session_role_name,"
"     sum(l.rho) AS rho, sum(l.delta) AS delta, sum(l.reuse_rho) AS reuse_rho, sum(l.reuse_delta) AS reuse_delta"
"   FROM dp_cdp_internal.release_log l WHERE (l.granted OR l.paid_by IS NOT NULL) AND l.dataset IN (SELECT name FROM d)"
"   GROUP BY l.dataset, l.block_from, l.block_to, l.paid_by, l.role, l.role_name, l.session_role, l.session_role_name),"
" spent AS MATERIALIZED ("
"   SELECT l.dataset, l.rho, l.delta, l.paid_by, l.reuse_rho, l.reuse_delta,"
"     coalesce(l.block_from, '-infinity') AS first, coalesce(l.block_to, 'infinity') AS past,"
"     coalesce(dp_cdp_internal.known_role(l.role, l.role_name)::oid = ANY ($1), false)"
"       OR coalesce(dp_cdp_internal.known_role(l.session_role, l.session_role_name)::oid = ANY ($1), false) AS asked"
"   FROM logged l),"
/* their balances, and those that are gone */
" balances AS MATERIALIZED ("
"   SELECT dataset, ledger_id FROM budgets WHERE theirs"
"   UNION"
"   SELECT s.dataset, p.id FROM spent s, unnest(s.paid_by) AS p(id)"
"   WHERE s.asked AND p.id NOT IN (SELECT ledger_id FROM budgets) AND p.id NOT IN (SELECT ledger_id FROM dp_cdp_internal.dataset)),"
" ids AS MATERIALIZED (SELECT d.name, d.ledger_id AS cap, d.delta_limit,"
"     coalesce((SELECT array_agg(b.ledger_id) FROM balances b WHERE b.dataset = d.name), '{}') AS ids FROM d),"
/* rows of which the cap alone was debited add nothing to what was paid for them before */
" known_rows AS MATERIALIZED ("
"   SELECT s.*, s.paid_by && i.ids AS by_balance FROM spent s JOIN ids i ON i.name = s.dataset"
"   WHERE s.paid_by && i.ids OR (s.asked AND s.paid_by IS DISTINCT FROM ARRAY[i.cap])),"
" rest AS ("
"   SELECT dataset, first, past, sum(rho) AS rho_sum,"
"     sum(rho - CASE WHEN by_balance THEN coalesce(reuse_rho, 0) ELSE 0 END) AS rho,"
"     sum(delta - CASE WHEN by_balance THEN coalesce(reuse_delta, 0) ELSE 0 END) AS delta"
"   FROM known_rows GROUP BY dataset, first, past),"
/* a chain is of one question, and that of some blocks */
" chains AS MATERIALIZED ("
"   SELECT k.dataset, k.fingerprint, k.began, p.id, max(k.rho) AS rho, max(k.delta) AS delta,"
"     min(coalesce(k.block_from, '-infinity')) AS first, max(coalesce(k.block_to, 'infinity')) AS past"
"   FROM dp_cdp_internal.kept_answer k JOIN ids i ON i.name = k.dataset AND i.cap = k.ledger_id"
"     CROSS JOIN LATERAL unnest(k.paid_by) AS p(id) WHERE p.id = ANY (i.ids)"
"   GROUP BY k.dataset, k.fingerprint, k.began, p.id),"
" kept AS (SELECT x.dataset, x.first, x.past, sum(x.rho) AS rho, sum(x.delta) AS delta"
"   FROM (SELECT dataset, min(first) AS first, max(past) AS past, max(rho) AS rho, max(delta) AS delta"
"     FROM chains GROUP BY dataset, fingerprint, began) x"
"   GROUP BY x.dataset, x.first, x.past),"
/* of each balance what the log says that it paid for chains, less what chains say, day by day */
" differs AS ("
"   SELECT s.dataset, p.id, s.first, s.past, s.reuse_rho AS rho, s.reuse_delta AS delta"
"   FROM known_rows s CROSS JOIN LATERAL unnest(s.paid_by) AS p(id)"
"   WHERE s.reuse_rho IS NOT NULL AND (s.dataset, p.id) IN (SELECT dataset, ledger_id FROM balances)"
"   UNION ALL SELECT dataset, id, first, past, -rho, -delta FROM chains),"
" changes AS ("
"   SELECT dataset, id, day, sum(rho) AS rho, sum(delta) AS delta FROM ("
"     SELECT dataset, id, first AS day, rho, delta FROM differs"
"     UNION ALL SELECT dataset, id, past, -rho, -delta FROM differs) x"
"   GROUP BY dataset, id, day),"
" missing AS ("
"   SELECT dataset, id, day, greatest(sum(rho) OVER along, 0) AS rho, greatest(sum(delta) OVER along, 0) AS delta"
"   FROM changes WINDOW along AS (PARTITION BY dataset, id ORDER BY day)),"
/* what begins, and what ends, at a day */
" steps AS ("
"   SELECT dataset, first AS day, rho_sum, rho, delta FROM rest"
"   UNION ALL SELECT dataset, past, -rho_sum, -rho, -delta FROM rest"
"   UNION ALL SELECT dataset, first, 0, rho, delta FROM kept"
"   UNION ALL SELECT dataset, past, 0, -rho, -delta FROM kept"
"   UNION ALL SELECT dataset, day, 0, rho - lag(rho, 1, 0) OVER along, delta - lag(delta, 1, 0) OVER along FROM missing"
"     WINDOW along AS (PARTITION BY dataset, id ORDER BY day)),"
" days AS ("
"   SELECT dataset, sum(sum(rho_sum)) OVER along AS rho_sum, sum(sum(rho)) OVER along AS rho, sum(sum(delta)) OVER along AS delta"
"   FROM steps GROUP BY dataset, day WINDOW along AS (PARTITION BY dataset ORDER BY day)),"
" most AS ("
"   SELECT dataset, max(rho_sum) AS rho_sum, greatest(max(rho), 0) AS rho, greatest(max(delta), 0) AS delta"
"   FROM days GROUP BY dataset)"
" SELECT i.name, trim_scale(coalesce(m.rho, 0)), trim_scale(coalesce(m.delta, 0)),"
"   dp_cdp.epsilon_spent(coalesce(m.rho, 0), i.delta_limit), trim_scale(coalesce(m.rho_sum, 0))"
" FROM ids i LEFT JOIN most m ON m.dataset = i.name"
" WHERE i.ids <> '{}' OR EXISTS (SELECT FROM rest r WHERE r.dataset = i.name)"
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
			dp_raise(BAD_PARAMETER, errmsg("roles must not be NULL: give an array such as '{alice,bob}'"));
		*all_mine = *all_mine && dp_ledger_role_is_mine(DatumGetObjectId(roles[i]));
	}
	return PointerGetDatum(construct_array(roles, n, OIDOID, sizeof(Oid), true, TYPALIGN_INT));
}

/* Fails unless the datasets that the session owns have this one; one at all, where it is "*". */
static void
require_owned(const char *dataset, ArrayType *owned)
{
	Datum	   *names;
	int			n;

	deconstruct_array(owned, TEXTOID, -1, false, TYPALIGN_INT, &names, NULL, &n);
	for (int i = 0; i < n; i++)
		if (strcmp(dataset, "*") == 0 || strcmp(dataset, TextDatumGetCString(names[i])) == 0)
			return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("only owners of datasets may ask what other roles know together; dp_cdp.spent_together of your own roles is yours to ask")));
}

/*
 * SQL: dp_cdp.spent_together(dataset, roles)
 *
 * For owners their datasets, for superusers all; for who asks about himself
 * those where he has a budget.  Runs as the owner of the tables.
 */
Datum
dp_ledger_collusion(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			types[3] = {OIDARRAYOID, TEXTARRAYOID, TEXTOID};
	Oid			table = dp_own_table("kept_answer");
	bool		all_mine;
	Datum		values[3] = {0, 0, PG_GETARG_DATUM(0)};
	char		nulls[3] = {' ', ' ', ' '};
	Relation	rel;
	Oid			user;
	int			security;

	if (!OidIsValid(table))
		dp_raise(LEDGER_UNAVAILABLE,
				 errmsg("this database has no privacy ledger; a superuser can make one with CREATE EXTENSION dp_cdp"));
	values[0] = read_roles(PG_GETARG_ARRAYTYPE_P(1), &all_mine);
	values[1] = all_mine ? (Datum) 0 : dp_ledger_datasets_of_mine();
	nulls[1] = all_mine ? 'n' : ' ';
	if (!all_mine)
		require_owned(TextDatumGetCString(PG_GETARG_DATUM(0)), DatumGetArrayTypeP(values[1]));
	InitMaterializedSRF(fcinfo, 0);

	GetUserIdAndSecContext(&user, &security);
	rel = table_open(table, AccessShareLock);
	SetUserIdAndSecContext(rel->rd_rel->relowner, security | SECURITY_RESTRICTED_OPERATION);
	table_close(rel, NoLock);
	SPI_connect();
	if (SPI_execute_with_args(query, 3, types, values, nulls, true, 0) != SPI_OK_SELECT)
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
