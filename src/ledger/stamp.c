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
 * A former state of the data directory that is put back in its place would
 * bring its stamp along, and the file.  So the worker has the stamp name a file
 * that it makes anew (dp_stamp_renew), before its first debit and then
 * every few seconds in which there are debits, and deletes the one before.
 *
 * Invariants:
 *	- the file is on disk before a stamp that names it is written, and the
 *	  one before is deleted after that stamp is on disk: a crash at any moment
 *	  leaves a stamp whose file is there;
 *	- only a stamp that is good is renewed, and only by the worker, whose
 *	  transactions have no parts that are rolled back;
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
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/clock.h"
#include "base/extension.h"
#include "base/settings.h"
#include "ledger/ledger_int.h"

PG_FUNCTION_INFO_V1(dp_ledger_problem);

/* how soon the stamp may name another file again, in ms */
#define RENEW_MS 5000

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

/* Reads one value of a statement's only row; NULL: it is null, or there is no row. */
static char *
value_of(int column)
{
	return SPI_processed == 0 ? NULL : SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column);
}

/* Compares the only row of the stamp with where we are; SPI is connected.  Sets what it names, NULL: nothing. */
static DpStamp
compare(bool place_counts, char **token)
{
	DpLedgerFile file;
	Here		here;
	char	   *place;
	DpStamp		stamp;

	read_here(&here, NULL);

	/* the first that differs is told, so the order is by what explains most */
	run(psprintf("SELECT CASE"
				 " WHEN system_id IS DISTINCT FROM $1 THEN %d"
				 " WHEN database IS DISTINCT FROM $2 THEN %d"
				 " WHEN timeline IS DISTINCT FROM $3 THEN %d"
				 " WHEN extension IS DISTINCT FROM $4 THEN %d"
				 " WHEN file IS NULL THEN %d ELSE %d END, coalesce(file, ''), place FROM dp_cdp_internal.ledger_stamp",
				 DP_STAMP_OTHER_SYSTEM, DP_STAMP_OTHER_DATABASE, DP_STAMP_OTHER_TIMELINE,
				 DP_STAMP_OTHER_EXTENSION, DP_STAMP_NO_FILE, DP_STAMP_GOOD),
		&here, true, SPI_OK_SELECT);
	*token = value_of(2);
	if (SPI_processed == 0)
		return DP_STAMP_MISSING;
	stamp = (DpStamp) atoi(value_of(1));
	if (stamp != DP_STAMP_GOOD)
		return stamp;
	place = value_of(3);
	if (!dp_ledger_file_read(MyDatabaseId, *token, &file))
		return DP_STAMP_NO_FILE;
	return place_counts && (place == NULL || strcmp(place, file.place) != 0) ? DP_STAMP_OTHER_PLACE : DP_STAMP_GOOD;
}

/* Tells a ledger without a stamp that was never used from one that lost it. */
static DpStamp
fresh_or_missing(void)
{
	bool		isnull;

	run("SELECT NOT EXISTS (SELECT FROM dp_cdp_internal.release_log)"
		" AND NOT EXISTS (SELECT FROM dp_cdp_internal.budget WHERE rho_spent <> 0 OR delta_spent <> 0)"
		" AND NOT EXISTS (SELECT FROM dp_cdp_internal.dataset WHERE rho_spent <> 0 OR delta_spent <> 0)",
		NULL, true, SPI_OK_SELECT);
	if (DatumGetBool(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull)))
		return DP_STAMP_FRESH;
	return DP_STAMP_MISSING;
}

static bool
has_datasets(void)
{
	run("SELECT FROM dp_cdp_internal.dataset LIMIT 1", NULL, true, SPI_OK_SELECT);
	return SPI_processed > 0;
}

/*
 * The file that a stamp names may be deleted, as the worker has had it name
 * another, between two looks.  So it is read as it is now, in whatever
 * snapshot the caller is, and once more where it has changed.
 */
static DpStamp
look(bool place_counts)
{
	DpStamp		stamp;
	char	   *token = NULL;
	char	   *former;

	do
	{
		former = token;
		/* none can be taken while parallel workers share one */
		PushActiveSnapshot(IsInParallelMode() ? GetActiveSnapshot() : GetLatestSnapshot());
		stamp = compare(place_counts, &token);
		PopActiveSnapshot();
	} while (stamp == DP_STAMP_NO_FILE && (former == NULL || strcmp(former, token) != 0));
	return stamp == DP_STAMP_MISSING ? fresh_or_missing() : stamp;
}

DpStamp
dp_stamp_look(void)
{
	return look(dp_guc_notice_copies);
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
		case DP_STAMP_OTHER_PLACE:
			return "The ledger was written in another data directory, of which this one is a copy, or a former state of this one was put back.";
		default:
			return "Privacy budget was spent, but the ledger has no stamp.";
	}
}

/* Lets the log's rows be numbered after those that it holds. */
void
dp_advance_log_sequence(void)
{
	run("SELECT pg_catalog.setval('dp_cdp_internal.release_log_id_seq', m.id)"
		" FROM (SELECT max(id) AS id FROM dp_cdp_internal.release_log) m, dp_cdp_internal.release_log_id_seq s"
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
	DpStamp		stamp;

	SPI_connect();
	stamp = dp_stamp_look();

	/*
	 * Where there is no dataset yet a restore may be under way, which brings
	 * the stamp after it, and must find none: nothing can be debited anyway
	 */
	if (stamp == DP_STAMP_FRESH && has_datasets())
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
	run("DELETE FROM dp_cdp_internal.ledger_stamp", NULL, false, SPI_OK_DELETE);
	run("INSERT INTO dp_cdp_internal.ledger_stamp (system_id, database, timeline, extension, file, place)"
		" VALUES ($1, $2, $3, $4, $5, $6)", &here, false, SPI_OK_INSERT);
	dp_ledger_write_end();
}

/* ---------------------------------------------------------------------
 * Datasets that were adopted by themselves
 * ---------------------------------------------------------------------
 */

/* Writes all but the file, which comes last. */
static char *
text_of_here(void)
{
	return psprintf(UINT64_FORMAT " %u %u %u ", GetSystemIdentifier(), MyDatabaseId,
					(unsigned) dp_current_timeline(), dp_extension_oid());
}

static char *
stamp_text(const DpLedgerFile *file)
{
	return psprintf("%s%s %s", text_of_here(), file->token, file->place);
}

char *
dp_stamp_here(void)
{
	DpLedgerFile file;

	dp_ledger_file_make(MyDatabaseId, &file);
	return stamp_text(&file);
}

/* Copies the token out of such a text; an empty one, where there is none. */
static void
token_of(const char *text, char *token)
{
	/* the fifth word */
	for (int word = 0; word < 4 && text !=NULL; word++)
		text = (text = strchr(text, ' ')) ? text +1 : NULL;

	strlcpy(token, text ? text : "", DP_TOKEN_LENGTH + 1);
}

static bool
is_here(const char *text, bool place_counts)
{
	DpLedgerFile file;
	char		token[DP_TOKEN_LENGTH + 1];
	char	   *here;

	token_of(text, token);
	if (!dp_ledger_file_read(MyDatabaseId, token, &file))
		return false;
	here = stamp_text(&file);
	return place_counts ? strcmp(text, here) == 0 :
		strncmp(text, here, strlen(here) - strlen(file.place)) == 0;
}

bool
dp_stamp_is_here(const char *text)
{
	return is_here(text, dp_guc_notice_copies);
}

/* ---------------------------------------------------------------------
 * Another file
 * ---------------------------------------------------------------------
 */

/* the worker's */
static struct
{
	int64		tried_at;		/* dp_uptime(); 0: not yet */
	bool		any_debits;		/* since then */
	List	   *former;			/* tokens that its transaction replaces, in
								 * TopMemoryContext */
	List	   *made;			/* by its transaction */
}			renewal = {.any_debits = true};

static List *
add_token(List *tokens, const char *token)
{
	MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);

	tokens = lappend(tokens, pstrdup(token));
	MemoryContextSwitchTo(caller);
	return tokens;
}

static void
delete_files(List *tokens)
{
	foreach_ptr(const char, token, tokens)
		dp_ledger_file_delete(MyDatabaseId, token);
}

/* Deletes, after the commit, which is on disk, what nobody names any more; after an error, what nobody will. */
static void
after_transaction(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT)
		return;
	delete_files(event == XACT_EVENT_COMMIT ? renewal.former : renewal.made);
	if (event == XACT_EVENT_ABORT && renewal.made != NIL)
		renewal.any_debits = true;
	list_free_deep(renewal.former);
	list_free_deep(renewal.made);
	renewal.former = renewal.made = NIL;
}

/* Deletes files that crashes and adoptions have left. */
static void
sweep(void)
{
	List	   *named = NIL;
	char		token[DP_TOKEN_LENGTH + 1];

	run("SELECT NULL, file FROM dp_cdp_internal.ledger_stamp UNION ALL SELECT adopted, NULL FROM dp_cdp_internal.dataset WHERE adopted IS NOT NULL",
		NULL, true, SPI_OK_SELECT);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		char	   *text = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1);
		char	   *file = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 2);

		if (text !=NULL)
			token_of(text, token);
		named = lappend(named, text ? pstrdup(token) : file ? file : "");
	}
	dp_ledger_files_sweep(MyDatabaseId, named);
}

/* Makes a file in the place of one that a row names, which the caller writes. */
static void
replace(const char *former, DpLedgerFile *file)
{
	dp_ledger_file_make(MyDatabaseId, file);
	renewal.made = add_token(renewal.made, file->token);
	renewal.former = add_token(renewal.former, former);
}

static void
renew_stamp(void)
{
	DpLedgerFile file;
	Here		here;

	run("SELECT file FROM dp_cdp_internal.ledger_stamp", NULL, true, SPI_OK_SELECT);
	replace(value_of(1), &file);
	read_here(&here, &file);
	run("UPDATE dp_cdp_internal.ledger_stamp SET file = $5, place = $6", &here, false, SPI_OK_UPDATE);
}

static void
renew_dataset(const char *name, const char *adopted)
{
	DpLedgerFile file;
	char		former[DP_TOKEN_LENGTH + 1];

	token_of(adopted, former);
	replace(former, &file);
	run(psprintf("UPDATE dp_cdp_internal.dataset SET adopted = %s WHERE name = %s",
				 quote_literal_cstr(stamp_text(&file)), quote_literal_cstr(name)), NULL, false, SPI_OK_UPDATE);
}

/*
 * Has the stamp, or where it is not good each dataset that was adopted here,
 * name another file.  A copy that notice_copies lets pass stays one.
 */
bool
dp_stamp_renew(void)
{
	SPITupleTable *rows;
	uint64		n;
	bool		is_good = dp_stamp_is_good(dp_stamp_look());

	if (renewal.tried_at == 0)
		RegisterXactCallback(after_transaction, NULL);
	/* should this fail, it is tried again later */
	renewal.tried_at = dp_uptime();

	sweep();
	if (look(true) == DP_STAMP_GOOD)
		renew_stamp();
	run("SELECT name, adopted FROM dp_cdp_internal.dataset WHERE adopted IS NOT NULL", NULL, true, SPI_OK_SELECT);
	rows = SPI_tuptable;
	n = is_good ? 0 : SPI_processed;
	for (uint64 i = 0; i < n; i++)
	{
		char	   *adopted = SPI_getvalue(rows->vals[i], rows->tupdesc, 2);

		if (is_here(adopted, true))
			renew_dataset(SPI_getvalue(rows->vals[i], rows->tupdesc, 1), adopted);
	}
	renewal.any_debits = false;
	return is_good;
}

void
dp_stamp_note_debits(void)
{
	renewal.any_debits = true;
}

bool
dp_stamp_due(void)
{
	return renewal.any_debits && (renewal.tried_at == 0 || dp_ms_since(renewal.tried_at) >= RENEW_MS);
}

/*
 * SQL: dp_cdp_internal.ledger_problem()
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
