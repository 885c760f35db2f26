/*-------------------------------------------------------------------------
 *
 * primary.c
 *	  Debits of a standby, which the primary makes: the asking side.
 *
 * A standby cannot write, so the balances that its answers are paid from are
 * those of the primary.  The request goes there over a connection of the
 * session's (module dp_cdp_primary), to functions that may be called by the
 * standby's role alone (admin/standby.c), and comes back when the primary's
 * worker has committed it.  Roles are named by OID and name, both servers having
 * the same; whose budgets they pay from is decided there.
 *
 * Invariants:
 *	- rows are read only when the primary has said that all is debited.  An
 *	  answer that is lost counts as spent: nothing is sent twice;
 *	- the primary debits only for a copy of its own, of the same timeline, which
 *	  has prices from the policy that is in force there (DpDebitItem.policy);
 *	- a release that is about to read rows has told the primary so, which counts
 *	  a failure when it is told so, or loses the connection.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "catalog/pg_type_d.h"
#include "commands/dbcommands.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "base/cancel.h"
#include "base/errors.h"
#include "base/settings.h"
#include "ledger/primary.h"
#include "ledger/standby.h"

PG_FUNCTION_INFO_V1(dp_standby_primary_pays);

/* how long the end of a release is told for, in ms, while nothing interrupts; the primary counts for 2 s at most */
#define PATIENCE_MS 3000

static const DpPrimaryMethods *methods = NULL;

/* what the connection was made with; NULL: there is none */
static char *connected_to = NULL;

/* has the debit been made for which the primary is called? */
static bool is_debited = false;

bool
dp_primary_pays(void)
{
	return dp_guc_primary_conninfo != NULL && dp_guc_primary_conninfo[0] != '\0';
}

/* SQL: dp_cdp_internal.primary_pays() */
Datum
dp_standby_primary_pays(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(dp_primary_pays());
}

/* ---------------------------------------------------------------------
 * Waiting
 * ---------------------------------------------------------------------
 */

/* Does what CHECK_FOR_INTERRUPTS does, but a cancel or timeout says what was charged. */
static void
while_waiting(bool sent)
{
	if (!dp_take_cancel())
		return;
	if (is_debited)
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("canceling private query; no rows were read, and what it was charged stays charged")));
	ereport(ERROR,
			(errcode(ERRCODE_QUERY_CANCELED),
			 sent
			 ? errmsg("canceling private query while it was charged; no rows were read, and dp_cdp.releases tells whether the charge stands")
			 : errmsg("canceling private query; this charge was not made")));
}

/* Does nothing: for what has to be said, whoever wants the session to end. */
static void
while_nothing_interrupts(bool sent)
{
}

/* ---------------------------------------------------------------------
 * Connection
 * ---------------------------------------------------------------------
 */

/* Loads the module, which must be of the version of the library that the server has loaded. */
static void
load_module(void)
{
	DpPrimaryMethodsFunction function;
	const DpPrimaryMethods *found;

	if (methods != NULL)
		return;
	function = (DpPrimaryMethodsFunction) load_external_function(DP_PRIMARY_MODULE, DP_PRIMARY_SYMBOL, true, NULL);
	found = function();
	if (strcmp(found->version, DP_VERSION) != 0)
		dp_raise(BAD_PARAMETER,
				 errmsg("module dp_cdp_primary has version %s, and the server's library version %s; nothing was debited: restart this standby",
						found->version, DP_VERSION));
	methods = found;
}

/* Waits while nothing was asked for that costs. */
static void
while_connecting(bool sent)
{
	while_waiting(false);
}

static void raise_not_reached(const char *cause) __attribute__((noreturn));
static void raise_lost_after_debit(void) __attribute__((noreturn));

static void
raise_lost_after_debit(void)
{
	dp_raise(LEDGER_UNAVAILABLE,
			 errmsg("the primary was lost after the debit and before rows were read; what this query was charged stays charged: retry"));
}

/* Raises one error for whatever hinders a connection; the cause may name hosts and users. */
static void
raise_not_reached(const char *cause)
{
	ereport(LOG_SERVER_ONLY,
			(errmsg("dp_cdp could not connect to the primary: %s", cause)));
	if (is_debited)
		raise_lost_after_debit();
	dp_raise(LEDGER_UNAVAILABLE,
			 errmsg("the primary, which pays for this standby, could not be reached; nothing was debited: retry, or ask the primary; the standby's log has the cause"));
}

/*
 * Refuses a connection that several sessions share.  The primary remembers in a process what
 * a session reads: behind a pooler it would take the end of one's release for that of
 * another's.  A pooler tells its clients of a process that is not the one which serves them.
 */
static void
refuse_pooler(void)
{
	DpCall		call;

	methods->call("SELECT pg_catalog.pg_backend_pid()", 0, NULL, dp_guc_primary_timeout, while_connecting, &call);
	if (call.outcome == DP_CALL_DONE && call.value != NULL && atoi(call.value) == methods->backend())
		return;
	methods->close();
	if (call.outcome != DP_CALL_DONE)
		raise_not_reached(call.outcome == DP_CALL_REFUSED ? call.message : call.cause ? call.cause : "no connection");
	if (is_debited)
		raise_lost_after_debit();
	dp_raise(LEDGER_UNAVAILABLE,
			 errmsg("this standby comes to its primary through a pooler; nothing was debited: the administrator must let dp_cdp.primary_conninfo name the primary itself"),
			 errdetail("A pooler would mix up whose releases have ended."));
}

static void
connect_to_primary(void)
{
	char	   *database = get_database_name(MyDatabaseId);
	char	   *cause;

	if (cluster_name == NULL || cluster_name[0] == '\0')
		dp_raise(LEDGER_UNAVAILABLE,
				 errmsg("this standby has no name; nothing was debited: the administrator must set cluster_name, and call dp_cdp.register_standby on the primary"),
				 errdetail("The primary debits for standbys by their names."));
	if (connected_to != NULL)
		pfree(connected_to);
	connected_to = NULL;
	cause = methods->connect(dp_guc_primary_conninfo, database, cluster_name, dp_guc_primary_timeout, while_waiting);
	if (cause != NULL)
		raise_not_reached(cause);
	refuse_pooler();
	connected_to = MemoryContextStrdup(TopMemoryContext, dp_guc_primary_conninfo);
}

/* Calls over the connection there is, or one that is made. */
static void
call_primary(const char *sql, int n, const char *const *values, DpCall *call)
{
	load_module();
	memset(call, 0, sizeof(*call));
	/* another primary since */
	if (connected_to != NULL && strcmp(connected_to, dp_guc_primary_conninfo) == 0)
		methods->call(sql, n, values, dp_guc_primary_timeout, while_waiting, call);
	if (call->outcome != DP_CALL_NOT_SENT)
		return;
	connect_to_primary();
	methods->call(sql, n, values, dp_guc_primary_timeout, while_waiting, call);
}

/* ---------------------------------------------------------------------
 * Parameters
 * ---------------------------------------------------------------------
 */

/* Returns text[] of texts, NULL where there is none, in so many rows, as its literal. */
static const char *
array_literal(const char *const *texts, int nrows, int ncolumns)
{
	int			n = nrows * ncolumns;
	Datum	   *values = palloc(Max(n, 1) * sizeof(Datum));
	bool	   *nulls = palloc(Max(n, 1) * sizeof(bool));
	int			dims[2] = {nrows, ncolumns};
	int			lower[2] = {1, 1};
	ArrayType  *array;

	for (int i = 0; i < n; i++)
	{
		nulls[i] = texts[i] == NULL;
		values[i] = nulls[i] ? (Datum) 0 : CStringGetTextDatum(texts[i]);
	}
	array = construct_md_array(values, nulls, nrows == 1 ? 1 : 2, nrows == 1 ? &dims[1] : dims, lower,
							   TEXTOID, -1, false, TYPALIGN_INT);
	return OidOutputFunctionCall(F_ARRAY_OUT, PointerGetDatum(array));
}

/* Says which server asks: what a copy has in common with its original, and its name. */
static const char *
write_origin(void)
{
	const char *texts[DP_ORIGIN_FIELDS];

	texts[DP_ORIGIN_NAME] = cluster_name;
	texts[DP_ORIGIN_VERSION] = DP_VERSION;
	texts[DP_ORIGIN_SYSTEM] = psprintf(UINT64_FORMAT, GetSystemIdentifier());
	texts[DP_ORIGIN_TIMELINE] = psprintf("%u", dp_replayed_timeline());
	texts[DP_ORIGIN_DATABASE] = psprintf("%u", MyDatabaseId);
	return array_literal(texts, 1, DP_ORIGIN_FIELDS);
}

/* Says who asks; order NULL: there is no statement to be told of. */
static const char *
write_remote_asker(Oid role, const DpOrder *order)
{
	const char *texts[DP_ASKER_FIELDS];
	char	   *client = palloc(NAMEDATALEN);

	dp_ledger_client_address(client);
	texts[DP_ASKER_SESSION_ROLE] = psprintf("%u", GetSessionUserId());
	texts[DP_ASKER_SESSION_NAME] = GetUserNameFromId(GetSessionUserId(), false);
	texts[DP_ASKER_ROLE] = psprintf("%u", role);
	texts[DP_ASKER_ROLE_NAME] = GetUserNameFromId(role, false);
	texts[DP_ASKER_APPLICATION] = application_name ? application_name : "";
	texts[DP_ASKER_CLIENT] = client;
	texts[DP_ASKER_QUERY] = NULL;
	if (order != NULL && order->query != NULL)
		texts[DP_ASKER_QUERY] = pnstrdup(order->query,
										 pg_mbcliplen(order->query, order->query_length, order->query_length));
	return array_literal(texts, 1, DP_ASKER_FIELDS);
}

static const char *
write_remote_items(List *items)
{
	const char **texts = palloc(list_length(items) * DP_ITEM_FIELDS * sizeof(char *));

	foreach_ptr(DpDebitItem, item, items)
	{
		const char **row = texts + foreach_current_index(item) * DP_ITEM_FIELDS;

		row[DP_ITEM_DATASET] = item->dataset;
		row[DP_ITEM_RHO] = psprintf(INT64_FORMAT, item->rho);
		row[DP_ITEM_DELTA] = psprintf(INT64_FORMAT, item->delta);
		row[DP_ITEM_AGGREGATES] = item->aggregates;
		row[DP_ITEM_GROUPS] = item->groups;
		row[DP_ITEM_SIGMA] = item->sigma;
		row[DP_ITEM_TABLES] = item->tables;
		row[DP_ITEM_FROM] = item->has_days ? psprintf("%d", item->days.from) : NULL;
		row[DP_ITEM_TO] = item->has_days ? psprintf("%d", item->days.to) : NULL;
		row[DP_ITEM_POLICY] = item->policy;
	}
	return array_literal(texts, list_length(items), DP_ITEM_FIELDS);
}

/* ---------------------------------------------------------------------
 * Debits
 * ---------------------------------------------------------------------
 */

/* Tells whether the other server's error came before anything of ours was done: it does not know us, or the function. */
static bool
was_not_begun(const char *sqlstate)
{
	return strncmp(sqlstate, "42", 2) == 0 || strncmp(sqlstate, "3F", 2) == 0;
}

static void raise_remote(const DpCall *call) __attribute__((noreturn));

/* Raises what the primary has said: its own refusals as they are, all else without its words. */
static void
raise_remote(const DpCall *call)
{
	if (strncmp(call->sqlstate, "ZC", 2) == 0)
		ereport(ERROR,
				(errcode(MAKE_SQLSTATE(call->sqlstate[0], call->sqlstate[1], call->sqlstate[2],
									   call->sqlstate[3], call->sqlstate[4])),
				 errmsg_internal("%s", call->message),
				 call->detail ? errdetail_internal("%s", call->detail) : 0,
				 call->hint ? errhint("%s", call->hint) : 0));
	ereport(LOG_SERVER_ONLY,
			(errmsg("dp_cdp: the primary refused a debit: %s: %s", call->sqlstate, call->message)));
	if (was_not_begun(call->sqlstate))
		dp_raise(LEDGER_UNAVAILABLE,
				 errmsg("the primary does not let this standby's role debit; nothing was debited: the administrator must call dp_cdp.register_standby, the standby's log has the cause"));
	dp_raise(LEDGER_UNAVAILABLE,
			 errmsg("the primary failed while it debited; no rows were read: look at dp_cdp.budgets on the primary before you retry"),
			 errdetail("The rho may be spent."));
}

/* Raises an error unless the call was done. */
static void
require_done(const DpCall *call)
{
	if (call->outcome == DP_CALL_DONE)
		return;
	if (call->outcome == DP_CALL_REFUSED)
		raise_remote(call);
	ereport(LOG_SERVER_ONLY,
			(errmsg("dp_cdp lost the primary: %s", call->cause ? call->cause : "no connection")));
	if (call->outcome == DP_CALL_NOT_SENT)
		dp_raise(LEDGER_UNAVAILABLE, errmsg("the connection to the primary was lost; nothing was debited: retry"));
	dp_raise(LEDGER_UNAVAILABLE,
			 errmsg("the primary was lost during the debit; no rows were read: look at dp_cdp.budgets on the primary before you retry"),
			 errdetail("The rho may be spent."));
}

void
dp_primary_debit(List *items, const DpOrder *order)
{
	const char *values[] = {write_origin(), write_remote_asker(GetUserId(), order), write_remote_items(items)};
	DpCall		call;

	call_primary("SELECT dp_cdp_internal.standby_debit($1, $2, $3)", lengthof(values), values, &call);
	require_done(&call);
}

/* ---------------------------------------------------------------------
 * Releases that read rows
 * ---------------------------------------------------------------------
 */

/* Where the connection has gone since the debit, another one does. */
void
dp_primary_reads(const DpDebitItem *item, Oid role)
{
	const char *values[] = {write_origin(), write_remote_asker(role, NULL), write_remote_items(list_make1((void *) item))};
	DpCall		call;

	is_debited = true;
	PG_TRY();
	{
		call_primary("SELECT dp_cdp_internal.standby_reads($1, $2, $3)", lengthof(values), values, &call);
	}
	PG_FINALLY();
	{
		is_debited = false;
	}
	PG_END_TRY();
	if (call.outcome == DP_CALL_DONE)
		return;
	if (call.outcome == DP_CALL_REFUSED && strncmp(call.sqlstate, "ZC", 2) == 0)
		raise_remote(&call);
	ereport(LOG_SERVER_ONLY,
			(errmsg("dp_cdp lost the primary: %s", call.outcome == DP_CALL_REFUSED ? call.message :
					call.cause ? call.cause : "no connection")));
	raise_lost_after_debit();
}

/* Tells the primary how reading has ended; NULL: it could not be told. */
static char *
tell_end(bool failed)
{
	const char *values[] = {failed ? "true" : "false"};
	DpCall		call;

	methods->call("SELECT dp_cdp_internal.standby_has_read($1)", 1, values, PATIENCE_MS, while_nothing_interrupts, &call);
	/* whom it does not hear it takes for failed */
	if (call.outcome != DP_CALL_DONE)
		methods->close();
	return call.outcome == DP_CALL_DONE ? call.value : NULL;
}

void
dp_primary_has_read(void)
{
	HOLD_INTERRUPTS();
	(void) tell_end(false);
	RESUME_INTERRUPTS();
}

void
dp_primary_failed(int *failures, int *most)
{
	char	   *counts;

	*failures = *most = 0;
	HOLD_INTERRUPTS();
	counts = tell_end(true);
	if (counts != NULL && sscanf(counts, "{%d,%d}", failures, most) != 2)
		*failures = *most = 0;
	RESUME_INTERRUPTS();
}
