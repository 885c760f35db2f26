/*-------------------------------------------------------------------------
 *
 * kept_tend.c
 *	  What the worker does to kept answers while nobody waits for it: notes when
 *	  they were used, ends those whose time is over, and forgets those that were
 *	  used least recently, where there are too many.
 *
 * Whole chains go, because a link is made of the increment that is above it.  What
 * goes is the answer; who paid for it stays, until the log of that time is
 * pruned.
 *
 * A use is noted in shared memory, in a place that the question's hash says; two
 * questions in one place overwrite each other, and where somebody else is
 * noting nothing is noted.  So an answer may count as used earlier than it was.
 *
 * Invariants:
 *	- rows that others have locked are left for the next time;
 *	- how many answers there are is the worker's memory, which it has to count
 *	  anew after an error, and when anybody else has changed the table.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "catalog/pg_type_d.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "base/clock.h"
#include "base/settings.h"
#include "ledger/tables.h"

/* how long after its time an answer goes, and uses are written down, in microseconds: more for new answers, at most */
#define LOOK_AFTER_LEAST USECS_PER_SEC
#define LOOK_AFTER_NEW (5 * USECS_PER_SEC)
#define LOOK_AFTER_MOST USECS_PER_MINUTE

/* the worker's */
static struct
{
	uint64		counted_at;		/* dp_tables_forgotten() */
	int64		answers;		/* that have values */
	int64		bytes;			/* of them */
	bool		any;			/* there may be answers that have not ended */
	TimestampTz look_at;		/* when one of them ends, or a setting may
								 * have changed; 0: at once */
	TimestampTz tended_at;
	bool		still_too_many; /* after that */
}			kept = {.counted_at = PG_UINT64_MAX};

/* ---------------------------------------------------------------------
 * Uses
 * ---------------------------------------------------------------------
 */

void
dp_kept_used(const DpKeptId *id)
{
	DpUse	   *use;

	if (dp_shared == NULL || !LWLockConditionalAcquire(dp_shared->uses_lock, LW_EXCLUSIVE))
		return;
	use = &dp_shared->uses[hash_bytes(id->fingerprint, DP_FINGERPRINT_BYTES) % DP_MAX_USES];
	use->database = MyDatabaseId;
	memcpy(use->fingerprint, id->fingerprint, DP_FINGERPRINT_BYTES);
	use->began = id->began;
	use->used_at = dp_now();
	LWLockRelease(dp_shared->uses_lock);
}

/* Takes this database's uses; returns their number. */
static int
take_uses(DpUse *uses)
{
	int			n = 0;

	LWLockAcquire(dp_shared->uses_lock, LW_EXCLUSIVE);
	for (int i = 0; i < DP_MAX_USES; i++)
	{
		if (dp_shared->uses[i].database != MyDatabaseId)
			continue;
		uses[n++] = dp_shared->uses[i];
		dp_shared->uses[i].database = InvalidOid;
	}
	LWLockRelease(dp_shared->uses_lock);
	return n;
}

/* ---------------------------------------------------------------------
 * Statements
 * ---------------------------------------------------------------------
 */

static uint64
run(const char *query, int nargs, Oid *types, Datum *values, int expected)
{
	int			rc = SPI_execute_with_args(query, nargs, types, values, NULL, false, 0);

	if (rc != expected)
		elog(ERROR, "ledger query failed: %s", SPI_result_code_string(rc));
	return SPI_processed;
}

static Datum
get_value(int column, bool *isnull)
{
	return SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column, isnull);
}

static Datum
make_array(Datum *elements, int n, Oid type)
{
	if (type == BYTEAOID)
		return PointerGetDatum(construct_array(elements, n, BYTEAOID, -1, false, TYPALIGN_INT));
	return PointerGetDatum(construct_array(elements, n, TIMESTAMPTZOID, sizeof(TimestampTz), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

static void
write_uses(void)
{
	DpUse	   *uses = palloc(DP_MAX_USES * sizeof(DpUse));
	Datum	   *columns[3];
	Oid			types[3] = {BYTEAARRAYOID, TIMESTAMPTZARRAYOID, TIMESTAMPTZARRAYOID};
	Datum		values[3];
	int			n = take_uses(uses);

	if (n == 0)
		return;
	for (int c = 0; c < 3; c++)
		columns[c] = palloc(n * sizeof(Datum));
	for (int i = 0; i < n; i++)
	{
		bytea	   *fingerprint = palloc(VARHDRSZ + DP_FINGERPRINT_BYTES);

		SET_VARSIZE(fingerprint, VARHDRSZ + DP_FINGERPRINT_BYTES);
		memcpy(VARDATA(fingerprint), uses[i].fingerprint, DP_FINGERPRINT_BYTES);
		columns[0][i] = PointerGetDatum(fingerprint);
		columns[1][i] = TimestampTzGetDatum(uses[i].began);
		columns[2][i] = TimestampTzGetDatum(uses[i].used_at);
	}
	values[0] = make_array(columns[0], n, BYTEAOID);
	values[1] = make_array(columns[1], n, TIMESTAMPTZOID);
	values[2] = make_array(columns[2], n, TIMESTAMPTZOID);
	run("UPDATE dp_cdp_internal.kept_answer k SET used_at = s.used_at"
		" FROM (SELECT a.ctid, u.used_at FROM unnest($1, $2, $3) AS u(fingerprint, began, used_at)"
		"   JOIN dp_cdp_internal.kept_answer a ON a.fingerprint = u.fingerprint AND a.began = u.began"
		"   WHERE a.answer IS NOT NULL AND a.used_at < u.used_at FOR NO KEY UPDATE OF a SKIP LOCKED) s"
		" WHERE k.ctid = s.ctid", 3, types, values, SPI_OK_UPDATE);
}

/* when an answer ends */
#define ENDS_AT "CASE WHEN d.ledger_id = a.ledger_id AND d.reuse > interval '0' AND NOT a.began < coalesce(d.forgotten_at, '-infinity')" \
	" THEN a.began + d.reuse ELSE '-infinity' END"

static void
end_answers(TimestampTz now)
{
	Oid			types[1] = {TIMESTAMPTZOID};
	Datum		values[1] = {TimestampTzGetDatum(now)};
	TimestampTz next;
	bool		isnull;

	run("UPDATE dp_cdp_internal.kept_answer k SET answer = NULL, ended = true"
		" FROM (SELECT a.ctid FROM dp_cdp_internal.kept_answer a LEFT JOIN dp_cdp_internal.dataset d ON d.name = a.dataset"
		"   WHERE NOT a.ended AND " ENDS_AT " <= $1 FOR NO KEY UPDATE OF a SKIP LOCKED) s"
		" WHERE k.ctid = s.ctid", 1, types, values, SPI_OK_UPDATE);
	run("SELECT min(" ENDS_AT ") FROM dp_cdp_internal.kept_answer a LEFT JOIN dp_cdp_internal.dataset d ON d.name = a.dataset"
		" WHERE NOT a.ended", 0, NULL, NULL, SPI_OK_SELECT);
	next = DatumGetTimestampTz(get_value(1, &isnull));
	kept.any = !isnull;
	kept.look_at = isnull || next > now + LOOK_AFTER_MOST ? now + LOOK_AFTER_MOST : Max(next, now + LOOK_AFTER_LEAST);
}

static void
count_answers(void)
{
	bool		isnull;

	run("SELECT count(*), coalesce(sum(octet_length(answer)), 0)::bigint FROM dp_cdp_internal.kept_answer WHERE answer IS NOT NULL",
		0, NULL, NULL, SPI_OK_SELECT);
	kept.answers = DatumGetInt64(get_value(1, &isnull));
	kept.bytes = DatumGetInt64(get_value(2, &isnull));
	kept.counted_at = dp_tables_forgotten();
}

static bool
are_too_many(void)
{
	return kept.answers > dp_guc_reuse_max_answers || kept.bytes > (int64) dp_guc_reuse_max_size * 1024;
}

/* Forgets what was used least recently, a little more than has to be, so that this comes seldom. */
static void
forget_least_used(void)
{
	Oid			types[2] = {INT8OID, INT8OID};
	int64		bytes = (int64) dp_guc_reuse_max_size * 1024;
	Datum		values[2] = {Int64GetDatum(dp_guc_reuse_max_answers - dp_guc_reuse_max_answers / 8),
	Int64GetDatum(bytes - bytes / 8)};

	run("WITH chains AS ("
		"   SELECT fingerprint, began, max(used_at) AS used_at, count(*) AS n, sum(octet_length(answer)) AS bytes"
		"   FROM dp_cdp_internal.kept_answer WHERE answer IS NOT NULL GROUP BY fingerprint, began),"
		" running AS ("
		"   SELECT fingerprint, began, sum(n) OVER w AS n, sum(bytes) OVER w AS bytes FROM chains"
		"   WINDOW w AS (ORDER BY used_at DESC, began DESC, fingerprint ROWS UNBOUNDED PRECEDING)),"
		" gone AS ("
		"   SELECT a.ctid FROM running r JOIN dp_cdp_internal.kept_answer a ON a.fingerprint = r.fingerprint AND a.began = r.began"
		"   WHERE (r.n > $1 OR r.bytes > $2) AND NOT a.ended FOR NO KEY UPDATE OF a SKIP LOCKED)"
		" UPDATE dp_cdp_internal.kept_answer k SET answer = NULL, ended = true FROM gone g WHERE k.ctid = g.ctid",
		2, types, values, SPI_OK_UPDATE);
	count_answers();
}

/* ---------------------------------------------------------------------
 * When
 * ---------------------------------------------------------------------
 */

/* Tells whether the sums are those of the table. */
static bool
is_counted(void)
{
	return kept.counted_at == dp_tables_forgotten();
}

void
dp_kept_count(int64 answers, int64 bytes)
{
	kept.answers += answers;
	kept.bytes += bytes;
	kept.any = true;

	/*
	 * it may end before those that were there; where the sum is not known, it
	 * may be too many
	 */
	kept.look_at = Min(kept.look_at, is_counted() ? dp_now() + LOOK_AFTER_NEW : 0);
}

bool
dp_kept_due(void)
{
	TimestampTz now;

	if (is_counted() && !kept.any)
		return false;
	now = dp_now();
	/* rows that others have locked may have to stay for a while */
	if (is_counted() && are_too_many() && (now >= kept.tended_at + LOOK_AFTER_LEAST || !kept.still_too_many))
		return true;
	return now >= kept.look_at || now < kept.look_at - LOOK_AFTER_MOST;
}

bool
dp_kept_tend(void)
{
	TimestampTz now = dp_now();

	/* should this fail, it is tried again later */
	kept.look_at = now + LOOK_AFTER_LEAST;
	write_uses();
	end_answers(now);
	count_answers();
	if (are_too_many())
		forget_least_used();
	kept.tended_at = now;
	kept.still_too_many = are_too_many();
	return true;
}
