/*-------------------------------------------------------------------------
 *
 * worker_settings.c
 *	  Settings under which the servers of a cluster read protected rows.
 *
 * The sandbox ends where Citus' connections begin: on a worker the session of
 * the tables' owner has its own search_path, in which somebody may have a
 * function "count" that fits better than PostgreSQL's.  But Citus can send SET
 * LOCAL to its connections (citus.propagate_set_commands), so settings are sent
 * in this way before rows are read, in a transaction of the connection's.  With
 * them goes the question whether the server could compute the query (worker_probe.c).
 *
 * The same is a danger.  Citus sends the whole string that a client has sent,
 * with all other statements of it, and sends it to all connections of the
 * transaction, also to those of the owner.  So nothing of the asker's may be
 * among what is sent, neither before rows are read nor after.
 *
 * Invariant: a transaction in which the asker sends settings never has a
 * connection that was opened for a release, and the other way round.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "base/errors.h"
#include "executor/spi.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#define PROPAGATE "citus.propagate_set_commands"

/* those of the sandbox's that anybody may set; first those by which what comes after them is read */
static const char *pins =
" SET LOCAL standard_conforming_strings = on;"
" SET LOCAL backslash_quote = 'safe_encoding';"
" SET LOCAL array_nulls = on;"
" SET LOCAL transform_null_equals = off;"
" SET LOCAL extra_float_digits = 1;"
" SET LOCAL bytea_output = 'hex';"
" SET LOCAL search_path = pg_catalog, pg_temp;"
" SET LOCAL \"TimeZone\" = 'UTC';"
" SET LOCAL \"DateStyle\" = 'ISO, YMD';"
" SET LOCAL \"IntervalStyle\" = 'postgres';"
" SET LOCAL row_security = on;"
" SET LOCAL synchronize_seqscans = off;"
" SET LOCAL gin_fuzzy_search_limit = 0;"
" SET LOCAL jit = off;"
" SET LOCAL default_text_search_config = 'pg_catalog.simple';";

/* of the current transaction */
static bool asker_has_sent;
static bool release_has_sent;

static bool is_sending;			/* ours */

/* what a server has said first, while we sent */
static struct
{
	int			sqlerrcode;
	char	   *message;		/* NULL: nothing */
}			said;

static emit_log_hook_type prev_emit_log = NULL;

/*
 * Keeps from the client what Citus says while a transaction that has released is undone: it reads what its
 * connections still hold, and shows errors of other servers as warnings, which may quote rows.  Called before
 * Citus' callback, which was registered earlier; the setting ends with what is undone.
 */
static void
be_quiet(void)
{
	if (release_has_sent)
		(void) set_config_option("client_min_messages", "error", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0, false);
}

static void
end_subtransaction(SubXactEvent event, SubTransactionId id, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		be_quiet();
}

static void
end_transaction(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_ABORT)
		be_quiet();
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
		asker_has_sent = release_has_sent = false;
}

/* Notes in one of these that settings were sent, until the transaction ends. */
static void
note_sent(bool *has_sent)
{
	static bool registered = false;

	if (!registered)
	{
		RegisterXactCallback(end_transaction, NULL);
		RegisterSubXactCallback(end_subtransaction, NULL);
		registered = true;
	}
	*has_sent = true;
}

void
dp_check_sent_setting(const VariableSetStmt *stmt)
{
	bool		of_session = !stmt->is_local &&
	(stmt->kind == VAR_SET_VALUE || stmt->kind == VAR_SET_DEFAULT || stmt->kind == VAR_SET_CURRENT);
	const char *sends;

	if (is_sending || of_session || !IsTransactionState())
		return;
	sends = GetConfigOption(PROPAGATE, true, false);
	if (sends == NULL || strcmp(sends, "none") == 0)
		return;
	if (release_has_sent)
		dp_raise(NOT_RELEASABLE,
				 errmsg("settings cannot be sent to the cluster's servers after a release from a distributed table; end the transaction, or SET citus.propagate_set_commands = 'none'"));
	note_sent(&asker_has_sent);
}

/* Has Citus do something in what it takes for a transaction: it sends nothing outside of one. */
static void
in_transaction(const char *statements)
{
	char	   *block = psprintf("DO LANGUAGE plpgsql %s", quote_literal_cstr(psprintf("BEGIN %s END", statements)));

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(block, false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "settings cannot be sent to the servers of the cluster");
	SPI_finish();
}

/* Notes what a server says: Citus makes warnings of its errors, and then fails without saying what for. */
static void
note_warning(ErrorData *edata)
{
	if (prev_emit_log != NULL)
		prev_emit_log(edata);
	if (said.message != NULL || edata->elevel != WARNING || edata->message == NULL)
		return;
	said.sqlerrcode = edata->sqlerrcode;
	said.message = MemoryContextStrdup(TopTransactionContext, edata->message);
}

static void
refuse_without_server(void)
{
	dp_raise(NOT_RELEASABLE,
			 errmsg("a server of the cluster does not answer; nothing was charged: ask again when it does"));
}

/* Refuses for what a server says of a query that it was asked to plan; returns for all else. */
static void
refuse_for(int sqlerrcode, const char *message)
{
	switch (sqlerrcode)
	{
		case ERRCODE_UNDEFINED_OBJECT:
		case ERRCODE_UNDEFINED_FUNCTION:
		case ERRCODE_UNDEFINED_SCHEMA:
		case ERRCODE_UNDEFINED_FILE:
		case ERRCODE_INSUFFICIENT_PRIVILEGE:
			/* of the query's text and of catalogues; the text has no row */
			dp_raise(NOT_RELEASABLE,
					 errmsg("a server of the cluster cannot compute the private query: %s; nothing was charged: use objects that the tables' owner may use on all servers",
							message));
	}
}

/*
 * Begins a transaction of one connection to each server, with the settings, and asks there; raises what servers say.
 * An empty result is what begins it.  The question is in one string with a setting, and so sent with it.
 */
static void
send_to_all(const char *probe)
{
	MemoryContext caller = CurrentMemoryContext;
	volatile bool asked = false;

	memset(&said, 0, sizeof(said));
	is_sending = true;
	prev_emit_log = emit_log_hook;
	emit_log_hook = note_warning;
	PG_TRY();
	{
		in_transaction(psprintf("%s PERFORM pg_catalog.broadcast_intermediate_result('dp_cdp', 'SELECT WHERE false');", pins));
		asked = true;
		in_transaction(psprintf("EXECUTE %s;", quote_literal_cstr(psprintf("SET LOCAL jit = off; %s", probe))));
	}
	PG_CATCH();
	{
		ErrorData  *error = dp_sandbox_catch(caller);

		is_sending = false;
		emit_log_hook = prev_emit_log;
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(error);
		if (ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_CONNECTION_EXCEPTION || (!asked && said.message != NULL))
			refuse_without_server();
		if (said.message != NULL)
			refuse_for(said.sqlerrcode, said.message);
		ReThrowError(error);
	}
	PG_END_TRY();
	is_sending = false;
	emit_log_hook = prev_emit_log;
}

/* Only in the sandbox, before the debit. */
void
dp_send_settings(const char *probe)
{
	int			level;

	if (asker_has_sent)
		dp_raise(NOT_RELEASABLE,
				 errmsg("private query cannot be computed where settings of this transaction were sent; nothing was charged: ask in another transaction, or with citus.propagate_set_commands = 'none'"));
	note_sent(&release_has_sent);
	/* ends what is set here; there it lasts until the end of the transaction */
	level = NewGUCNestLevel();
	(void) set_config_option(PROPAGATE, "local", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	/* else nothing would tell us of warnings */
	(void) set_config_option("log_min_messages", "warning", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	send_to_all(probe);
	AtEOXact_GUC(false, level);
}
