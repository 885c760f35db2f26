/*-------------------------------------------------------------------------
 *
 * stamp.c
 *	  Whether this ledger is the one that was written here.
 *
 * The stamp names the system, the database, the timeline, this CREATE
 * EXTENSION and a file of the data directory (ledger_file.c).  Promotion,
 * point-in-time recovery, a copied database, a restored dump, pg_upgrade and a
 * copied data directory all leave a stamp that differs, and with it balances
 * that may be older than answers that were given: nothing is debited until the
 * ledger is adopted (adopt.c).  An empty stamp is good only as long as nothing
 * was spent: so a fresh extension, or a dump of one, starts without ceremony,
 * and a dump without its stamp does not pass for fresh.
 *
 * Invariants:
 *	- the file is on disk before a stamp that names it is written: a crash
 *	  between the two leaves a file that the next stamp takes, and a fresh
 *	  ledger that is still fresh;
 *	- the log's sequence is ahead of the log where a worker begins, and after an
 *	  error: a restore may have set it back;
 *	- the stamp is compared where it is needed for a debit, once in a worker's
 *	  life while it is good.
 *
 * What cannot be seen here: a disk or file system that was set back to a former
 * state, or doubled, as a whole.  See README.md.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
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

#include "base/extension.h"
#include "base/settings.h"
#include "ledger/ledger_int.h"

PG_FUNCTION_INFO_V1(dp_ledger_problem);

/* where the ledger is, as parameters of the statements below */
#define NUM_PARAMETERS 6

static const Oid parameter_types[NUM_PARAMETERS] = {NUMERICOID, OIDOID, INT8OID, OIDOID, TEXTOID, TEXTOID};

typedef struct Here
{
	Datum		values[NUM_PARAMETERS];
	char		nulls[NUM_PARAMETERS];
} Here;

static Datum
system_id_numeric(void)
{
	char		digits[32];

	snprintf(digits, sizeof(digits), UINT64_FORMAT, GetSystemIdentifier());
	return DirectFunctionCall3(numeric_in, CStringGetDatum(digits),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* Reads where we are; file NULL: there is none. */
static void
read_here(Here *here, const DpLedgerFile *file)
{
	memset(here->nulls, ' ', NUM_PARAMETERS);
	here->values[0] = system_id_numeric();
	here->values[1] = ObjectIdGetDatum(MyDatabaseId);
	here->values[2] = Int64GetDatum((int64) dp_current_timeline());
	here->values[3] = ObjectIdGetDatum(dp_extension_oid());
	here->values[4] = here->values[5] = (Datum) 0;
	if (file != NULL)
	{
		here->values[4] = CStringGetTextDatum(file->token);
		here->values[5] = CStringGetTextDatum(file->place);
	}
	else
		here->nulls[4] = here->nulls[5] = 'n';
}

static void
run(const char *query, Here *here, bool read_only, int expected)
{
	int			rc = SPI_execute_with_args(query, here ? NUM_PARAMETERS : 0, (Oid *) parameter_types,
										   here ? here->values : NULL, here ? here->nulls : NULL, read_only, 0);

	if (rc != expected)
		elog(ERROR, "ledger query failed: %s", SPI_result_code_string(rc));
}

/* ---------------------------------------------------------------------
 * Comparing
 * ---------------------------------------------------------------------
 */

/* Compares the only row of the stamp with where we are; SPI is connected. */
static DpStamp
compare(void)
{
	DpLedgerFile file;
	bool		has_file = dp_ledger_file_read(MyDatabaseId, &file);
	Here		here;
	bool		isnull;
	char	   *query;

	read_here(&here, has_file ? &file : NULL);

	/* the first that differs is told, so the order is by what explains most */
	query = psprintf("SELECT coalesce((SELECT CASE"
					 " WHEN system_id IS DISTINCT FROM $1 THEN %d"
					 " WHEN database IS DISTINCT FROM $2 THEN %d"
					 " WHEN timeline IS DISTINCT FROM $3 THEN %d"
					 " WHEN extension IS DISTINCT FROM $4 THEN %d"
					 " WHEN file IS NULL THEN %d"
					 " WHEN $5 IS NULL THEN %d"
					 " WHEN file <> $5 THEN %d"
					 " WHEN place IS DISTINCT FROM $6 AND %s THEN %d"
					 " ELSE %d END FROM dp_cdp.ledger_stamp), %d)",
					 DP_STAMP_OTHER_SYSTEM, DP_STAMP_OTHER_DATABASE, DP_STAMP_OTHER_TIMELINE,
					 DP_STAMP_OTHER_EXTENSION, DP_STAMP_UNFINISHED, DP_STAMP_NO_FILE, DP_STAMP_OTHER_FILE,
					 dp_guc_notice_copies ? "true" : "false", DP_STAMP_OTHER_PLACE,
					 DP_STAMP_GOOD, DP_STAMP_MISSING);
	run(query, &here, true, SPI_OK_SELECT);
	pfree(query);
	return (DpStamp) DatumGetInt32(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
}

/* Tells a ledger without a stamp that was never used from one that lost it. */
static DpStamp
fresh_or_missing(void)
{
	bool		isnull;

	run("SELECT NOT EXISTS (SELECT FROM dp_cdp.release_log)"
		" AND NOT EXISTS (SELECT FROM dp_cdp.budget WHERE rho_spent <> 0 OR delta_spent <> 0)"
		" AND NOT EXISTS (SELECT FROM dp_cdp.dataset WHERE rho_spent <> 0 OR delta_spent <> 0)",
		NULL, true, SPI_OK_SELECT);
	if (DatumGetBool(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull)))
		return DP_STAMP_FRESH;
	return DP_STAMP_MISSING;
}

static bool
has_datasets(void)
{
	run("SELECT FROM dp_cdp.dataset LIMIT 1", NULL, true, SPI_OK_SELECT);
	return SPI_processed > 0;
}

DpStamp
dp_stamp_look(void)
{
	DpStamp		stamp = compare();

	return stamp == DP_STAMP_MISSING ? fresh_or_missing() : stamp;
}

const char *
dp_stamp_text(DpStamp stamp)
{
	switch (stamp)
	{
		case DP_STAMP_OTHER_SYSTEM:
			return "The ledger was written on another server: it was restored from a dump, or upgraded.";
		case DP_STAMP_OTHER_DATABASE:
			return "The ledger was written in another database of this server.";
		case DP_STAMP_OTHER_TIMELINE:
			return "The ledger was written before a promotion or a recovery.";
		case DP_STAMP_OTHER_EXTENSION:
			return "The ledger was written before the extension was created here: it was restored from a dump.";
		case DP_STAMP_NO_FILE:
			return "The ledger's file in the directory dp_cdp of the data directory is missing or damaged.";
		case DP_STAMP_OTHER_FILE:
			return "The ledger's file in the directory dp_cdp of the data directory is that of another ledger.";
		case DP_STAMP_OTHER_PLACE:
			return "The ledger was written in another data directory, of which this one is a copy.";
		default:
			return "Privacy budget was spent, but the ledger has no stamp.";
	}
}

/* Lets the log's rows be numbered after those that it holds. */
void
dp_advance_log_sequence(void)
{
	run("SELECT pg_catalog.setval('dp_cdp.release_log_id_seq', m.id)"
		" FROM (SELECT max(id) AS id FROM dp_cdp.release_log) m, dp_cdp.release_log_id_seq s"
		" WHERE m.id >= s.last_value",
		NULL, false, SPI_OK_SELECT);
}

/*
 * Compares, and writes the stamp where there is none to compare with.  Called
 * by the worker, until the stamp is good.  The caller has an active snapshot
 * and is the tables' owner.
 */
DpStamp
dp_stamp_check(void)
{
	static bool touched = false;
	DpStamp		stamp;

	SPI_connect();
	stamp = dp_stamp_look();

	/*
	 * Where there is no dataset yet a restore may be under way, which brings
	 * the stamp after it, and must find none: nothing can be debited anyway
	 */
	if ((stamp == DP_STAMP_FRESH && has_datasets()) || stamp == DP_STAMP_UNFINISHED)
	{
		dp_stamp_write();
		stamp = DP_STAMP_GOOD;
	}

	/*
	 * pg_restore --clean sets it back, and rows may have been put back;
	 * looked at again after an error
	 */
	dp_advance_log_sequence();
	SPI_finish();

	/*
	 * rsync takes a file whose size and time have not changed for the same:
	 * putting a former state of the data directory back would leave this one
	 * where it is
	 */
	if (stamp == DP_STAMP_GOOD && !touched)
	{
		dp_ledger_file_touch(MyDatabaseId);
		touched = true;
	}
	return stamp;
}

void
dp_stamp_write(void)
{
	DpLedgerFile file;
	Here		here;

	dp_ledger_file_make(MyDatabaseId, &file);
	read_here(&here, &file);
	dp_ledger_write_begin();
	run("DELETE FROM dp_cdp.ledger_stamp", NULL, false, SPI_OK_DELETE);
	run("INSERT INTO dp_cdp.ledger_stamp (system_id, database, timeline, extension, file, place)"
		" VALUES ($1, $2, $3, $4, $5, $6)", &here, false, SPI_OK_INSERT);
	dp_ledger_write_end();
}

/* ---------------------------------------------------------------------
 * Datasets that were adopted by themselves
 * ---------------------------------------------------------------------
 */

/* Writes all but the file's place, which comes last. */
static char *
text_of(const DpLedgerFile *file)
{
	return psprintf(UINT64_FORMAT " %u %u %u %s ", GetSystemIdentifier(), MyDatabaseId,
					(unsigned) dp_current_timeline(), dp_extension_oid(), file->token);
}

char *
dp_stamp_here(void)
{
	DpLedgerFile file;

	dp_ledger_file_make(MyDatabaseId, &file);
	return psprintf("%s%s", text_of(&file), file.place);
}

bool
dp_stamp_is_here(const char *text)
{
	DpLedgerFile file;
	char	   *start;

	if (!dp_ledger_file_read(MyDatabaseId, &file))
		return false;
	start = text_of(&file);
	return strncmp(text, start, strlen(start)) == 0 &&
		(!dp_guc_notice_copies || strcmp(text +strlen(start), file.place) == 0);
}

/*
 * SQL: dp_cdp.ledger_problem()
 *
 * Why nothing can be debited until the ledger is adopted; NULL when it can,
 * and where nothing is debited anyway.
 */
Datum
dp_ledger_problem(PG_FUNCTION_ARGS)
{
	Oid			table = dp_own_table("ledger_stamp");
	DpStamp		stamp;
	Relation	rel;
	Oid			user;
	int			security;

	if (!OidIsValid(table) || RecoveryInProgress())
		PG_RETURN_NULL();

	GetUserIdAndSecContext(&user, &security);
	rel = table_open(table, AccessShareLock);
	SetUserIdAndSecContext(rel->rd_rel->relowner, security | SECURITY_RESTRICTED_OPERATION);
	table_close(rel, NoLock);
	SPI_connect();
	stamp = dp_stamp_look();
	SPI_finish();
	SetUserIdAndSecContext(user, security);

	if (dp_stamp_is_good(stamp))
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(dp_stamp_text(stamp)));
}

/* By way of SQL, where the search_path is pinned: this is called on behalf of whoever asks. */
const char *
dp_ledger_waits(void)
{
	LOCAL_FCINFO(fcinfo, 0);
	Oid			function = dp_own_function("ledger_problem", 0, NULL, TEXTOID);
	FmgrInfo	flinfo;
	Datum		problem;

	if (!OidIsValid(function))
		return NULL;
	fmgr_info(function, &flinfo);
	InitFunctionCallInfoData(*fcinfo, &flinfo, 0, InvalidOid, NULL, NULL);
	problem = FunctionCallInvoke(fcinfo);
	return fcinfo->isnull ? NULL : TextDatumGetCString(problem);
}
