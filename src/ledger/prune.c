/*-------------------------------------------------------------------------
 *
 * prune.c
 *	  Old rows of the log, made into checkpoints.
 *
 * What pruned rows add up to, for each balance that they were debited from,
 * becomes one row of kind "checkpoint", so that the log still adds up to the
 * balances.  Where the rows stood in the chain of hashes is kept in the table
 * pruned, with the hash of the last of each stretch, from which the chain
 * goes on; a checkpoint has a digest of these stretches in its reason, and is
 * chained itself.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/clock.h"
#include "base/errors.h"
#include "base/extension.h"
#include "base/settings.h"
#include "ledger/ledger_int.h"

PG_FUNCTION_INFO_V1(dp_ledger_prune);

/*
 * Rows to be pruned: before $1 (an id), of the datasets $2 (NULL: of all).  Not
 * those that were put in by hand and do not say who paid: no sum would have
 * them, until adopt_ledger() has found their payers.
 */
#define OLD_ROWS " l.id < $1 AND ($2 IS NULL OR l.dataset = ANY ($2))" \
	" AND NOT (l.granted AND l.paid_by IS NULL AND l.hash IS NULL)"

/* balances with what their rows have in common */
#define BALANCES \
	"(SELECT ledger_id, name AS dataset, 0::oid AS role, NULL::text AS role_name, 0::bigint AS spent_since" \
	"   FROM dp_cdp_internal.dataset" \
	" UNION ALL" \
	" SELECT ledger_id, dataset, role, role_name, spent_since FROM dp_cdp_internal.budget)"

static uint64
run(const char *query, int nargs, Oid *types, Datum *values, const char *nulls)
{
	if (SPI_execute_with_args(query, nargs, types, values, nulls, false, 0) < 0)
		elog(ERROR, "ledger query failed");
	return SPI_processed;
}

static int64
first_int64(void)
{
	bool		isnull;
	Datum		value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);

	return isnull ? 0 : DatumGetInt64(value);
}

/* Writes the stretches of the chain that go, joined with those that are gone already. */
static void
note_stretches(Oid *types, Datum *values, const char *nulls)
{
	run("WITH chain AS ("
		"   SELECT l.id AS first_id, l.id AS last_id, l.hash, coalesce(" OLD_ROWS ", false) AS gone"
		"   FROM dp_cdp_internal.release_log l WHERE l.hash IS NOT NULL AND l.id < $1"
		"   UNION ALL SELECT p.first_id, p.last_id, p.hash, true FROM dp_cdp_internal.pruned p WHERE p.first_id < $1),"
		" stretches AS (SELECT *, count(*) FILTER (WHERE NOT gone) OVER (ORDER BY first_id) AS stretch FROM chain)"
		" INSERT INTO dp_cdp_internal.pruned AS old (first_id, last_id, hash)"
		" SELECT min(first_id), max(last_id), (array_agg(hash ORDER BY last_id DESC))[1]"
		" FROM stretches WHERE gone GROUP BY stretch"
		" ON CONFLICT (first_id) DO UPDATE SET last_id = excluded.last_id, hash = excluded.hash",
		2, types, values, nulls);
	run("DELETE FROM dp_cdp_internal.pruned p USING dp_cdp_internal.pruned q"
		" WHERE q.first_id < p.first_id AND q.last_id >= p.last_id", 0, NULL, NULL, NULL);
}

/* Adds a row for each balance, and days of blocks, that the old rows were debited from, and for each dataset that has any. */
static void
write_checkpoints(Oid *types, Datum *values, const char *nulls)
{
	run("WITH old AS (SELECT l.* FROM dp_cdp_internal.release_log l WHERE" OLD_ROWS "),"
		" sums AS (SELECT p.id, l.block_from, l.block_to, sum(l.rho) AS rho, sum(l.delta) AS delta,"
		"   sum(l.reuse_rho) AS reuse_rho, sum(l.reuse_delta) AS reuse_delta,"
		"   max(CASE WHEN l.kind = 'checkpoint' THEN coalesce(l.last_at, l.released_at) ELSE l.released_at END) AS last_at"
		"   FROM old l CROSS JOIN LATERAL unnest(l.paid_by) AS p(id)"
		"     JOIN " BALANCES " b ON b.ledger_id = p.id AND l.id >= b.spent_since GROUP BY 1, 2, 3),"
		" counts AS (SELECT dataset, count(*) AS n FROM old GROUP BY dataset),"
		" digest AS (SELECT encode(sha256(convert_to(coalesce(string_agg(format('%s-%s:%s', first_id, last_id,"
		"   encode(hash, 'hex')), ',' ORDER BY first_id), ''), 'UTF8')), 'hex') AS hex FROM dp_cdp_internal.pruned)"
		" INSERT INTO dp_cdp_internal.release_log (dataset, role, session_role, application, aggregates, rho, delta,"
		"   granted, kind, reason, role_name, session_role_name, paid_by, last_at, reuse_rho, reuse_delta,"
		"   block_from, block_to)"
		" SELECT c.dataset, coalesce(b.role, 0), coalesce(b.role, 0), '', 'checkpoint', coalesce(s.rho, 0),"
		"   coalesce(s.delta, 0), false, 'checkpoint', format('rows of this dataset before id %s: %s; pruned stretches: %s',"
		"     $1, c.n, d.hex), b.role_name, b.role_name, CASE WHEN s.id IS NOT NULL THEN ARRAY[s.id] END,"
		"   coalesce(s.last_at, $3), s.reuse_rho, s.reuse_delta,"
		"   s.block_from, s.block_to"
		" FROM digest d, counts c LEFT JOIN " BALANCES " b"
		"   ON b.dataset = c.dataset AND (b.role = 0 OR EXISTS (SELECT FROM sums x WHERE x.id = b.ledger_id))"
		"   LEFT JOIN sums s ON s.id = b.ledger_id"
		" ORDER BY c.dataset COLLATE \"C\", b.ledger_id, s.block_from, s.block_to",
		3, types, values, nulls);
}

/* Forgets who paid for answers that began before the time and have ended; the rows of the log say what. */
static void
forget_answers(Oid *types, Datum *values, const char *nulls)
{
	dp_ledger_write_begin();
	run("DELETE FROM dp_cdp_internal.kept_answer k WHERE k.ended AND k.began < $3 AND ($2 IS NULL OR k.dataset = ANY ($2))",
		3, types, values, nulls);
	dp_ledger_write_end();
}

/* Prunes rows before an id, of the datasets in values[1]; returns how many. */
static int64
prune(Oid *types, Datum *values, const char *nulls)
{
	int64		last;
	int64		pruned;

	forget_answers(types, values, nulls);
	run("SELECT max(id) FROM dp_cdp_internal.release_log", 0, NULL, NULL, NULL);
	last = first_int64();
	run("SELECT count(*) FROM dp_cdp_internal.release_log l WHERE" OLD_ROWS, 2, types, values, nulls);
	if (first_int64() == 0)
		return 0;
	dp_ledger_write_begin();
	note_stretches(types, values, nulls);
	write_checkpoints(types, values, nulls);
	pruned = run("DELETE FROM dp_cdp_internal.release_log l WHERE" OLD_ROWS, 2, types, values, nulls);
	dp_chain_extend(last);
	dp_ledger_write_end();
	return pruned;
}

/* Refuses a time up to which nobody can want to prune. */
static TimestampTz
check_time(FunctionCallInfo fcinfo)
{
	TimestampTz before = PG_ARGISNULL(0) ? DT_NOEND : PG_GETARG_TIMESTAMPTZ(0);

	if (TIMESTAMP_NOT_FINITE(before))
		dp_raise(BAD_PARAMETER,
				 errmsg("before must be given, and finite: rows of the audit that are older are pruned"));
	if (before > dp_now())
		dp_raise(BAD_PARAMETER,
				 errmsg("before lies in the future: give a time up to which the rows of the audit are not needed any more"));
	return before;
}

/*
 * SQL: dp_cdp.prune_releases(before)
 *
 * For the owner of the extension: all rows; for the owner of datasets: those of
 * his.  Returns how many rows were pruned.
 */
Datum
dp_ledger_prune(PG_FUNCTION_ARGS)
{
	TimestampTz before = check_time(fcinfo);
	bool		all = dp_owns_extension(dp_extension_oid(), GetUserId());
	Oid			types[3] = {INT8OID, TEXTARRAYOID, TIMESTAMPTZOID};
	Datum		values[3];
	char		nulls[] = {' ', all ? 'n' : ' ', ' '};
	DpLedgerAdmin admin;
	int64		pruned = 0;

	values[1] = all ? (Datum) 0 : dp_ledger_datasets_of(GetUserId());
	if (!all && ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(values[1])), ARR_DIMS(DatumGetArrayTypeP(values[1]))) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only owners of datasets and of extension dp_cdp may call dp_cdp.prune_releases")));
	if (!all && before > dp_now() - dp_guc_keep_audit_days * USECS_PER_DAY)
		dp_raise(BAD_PARAMETER,
				 errmsg("rows of the audit of the last %d days are for the owner of extension dp_cdp to prune; give a time before that",
						dp_guc_keep_audit_days),
				 errdetail("They still answer what was asked and refused. The administrator's setting dp_cdp.keep_audit_days says how long."));
	values[2] = TimestampTzGetDatum(before);

	dp_ledger_admin_begin(&admin, NULL);
	/* in the order of ids, so that the chain loses whole stretches */
	run("SELECT coalesce((SELECT min(id) FROM dp_cdp_internal.release_log WHERE released_at >= $1),"
		" (SELECT max(id) + 1 FROM dp_cdp_internal.release_log))", 1, &types[2], &values[2], NULL);
	values[0] = Int64GetDatum(first_int64());
	pruned = prune(types, values, nulls);
	dp_ledger_admin_end(&admin);
	PG_RETURN_INT64(pruned);
}
