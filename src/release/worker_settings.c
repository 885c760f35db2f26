/*-------------------------------------------------------------------------
 *
 * worker_settings.c
 *	  Settings under which the servers of a cluster read protected rows.
 *
 * The sandbox ends where Citus' connections begin: on a worker the session of
 * the tables' owner has its own search_path, in which somebody may have a
 * function "count" that fits better than PostgreSQL's.  But Citus can send SET
 * LOCAL to its connections (citus.propagate_set_commands), so settings are sent
 * in this way before rows are read, in a transaction of the connection's.
 *
 * The same is a danger.  Citus sends the whole string that a client has sent,
 * with all other statements of it, and sends it to all connections of the
 * transaction, also to those of the owner.  So nothing of the asker's may be
 * among what is sent, neither before rows are read nor after.
 *
 * Invariant: a transaction in which the asker sends settings never has a
 * connection that was opened for a release, and the other way round.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "base/errors.h"
#include "executor/spi.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/guc.h"

#define PROPAGATE "citus.propagate_set_commands"

/* those of the sandbox's that anybody may set; DO, since Citus sends nothing outside of what it takes for a transaction */
static const char *pins =
"DO LANGUAGE plpgsql $$ BEGIN"
" SET LOCAL search_path = pg_catalog, pg_temp;"
" SET LOCAL \"TimeZone\" = 'UTC';"
" SET LOCAL \"DateStyle\" = 'ISO, YMD';"
" SET LOCAL \"IntervalStyle\" = 'postgres';"
" SET LOCAL row_security = on;"
" SET LOCAL synchronize_seqscans = off;"
" SET LOCAL gin_fuzzy_search_limit = 0;"
" SET LOCAL jit = off;"
" SET LOCAL default_text_search_config = 'pg_catalog.simple';"
/* writes an empty file, until the end of the transaction: Citus begins transactions at workers where there is one of its own here */
" PERFORM pg_catalog.create_intermediate_result('dp_cdp', 'SELECT WHERE false');"
" END $$";

/* of the current transaction */
static bool asker_has_sent;
static bool release_has_sent;

static bool is_sending;			/* ours */

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

void
dp_worker_settings_init(void)
{
	RegisterXactCallback(end_transaction, NULL);
	RegisterSubXactCallback(end_subtransaction, NULL);
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
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_RELEASABLE),
				 errmsg("settings cannot be sent to the servers of the cluster in a transaction that has released from a distributed table; "
						"end it, or SET citus.propagate_set_commands = 'none'")));
	asker_has_sent = true;
}

/* Only in the sandbox, before the debit. */
void
dp_send_settings(void)
{
	int			level;

	if (asker_has_sent)
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_RELEASABLE),
				 errmsg("private query cannot be computed where the rows of its distributed tables are, as settings of this transaction were sent there, too; "
						"nothing was charged for it: ask in another transaction, or with citus.propagate_set_commands = 'none'")));
	release_has_sent = true;
	/* ends what is set here; there it lasts until the end of the transaction */
	level = NewGUCNestLevel();
	(void) set_config_option(PROPAGATE, "local", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	is_sending = true;
	PG_TRY();
	{
		if (SPI_connect() != SPI_OK_CONNECT)
			elog(ERROR, "SPI_connect failed");
		if (SPI_execute(pins, false, 0) != SPI_OK_UTILITY)
			elog(ERROR, "settings cannot be sent to the servers of the cluster");
		SPI_finish();
	}
	PG_FINALLY();
	{
		is_sending = false;
	}
	PG_END_TRY();
	AtEOXact_GUC(false, level);
}
