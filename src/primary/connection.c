/*-------------------------------------------------------------------------
 *
 * connection.c
 *	  Module dp_cdp_primary: a connection to another server, by libpq.
 *
 * A session has at most one.  Nothing here knows what is asked over it; nothing
 * blocks but on the process's latch, so that the session is cancelled, terminated
 * and serves barriers as ever.
 *
 * Invariant: after a request without an answer there is no connection, so that
 * no answer is taken for that of another request.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "libpq-fe.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "ledger/primary.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT const DpPrimaryMethods *dp_primary_methods(void);

/* how long a process sleeps at most before it looks around, in ms */
#define SLICE_MS 1000

static PGconn * connection = NULL;
static bool has_descriptor = false;

static void
close_connection(void)
{
	if (connection != NULL)
		PQfinish(connection);
	connection = NULL;
	if (has_descriptor)
		ReleaseExternalFD();
	has_descriptor = false;
}

/* Returns what libpq says, without the line's end. */
static char *
said(const char *text)
{
	return pchomp(text ? text : "");
}

/* Waits for the socket until a time; false: that has come. */
static bool
wait_for_socket(int events, TimestampTz until, DpWhileWaiting waiting, bool sent)
{
	long		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), until);
	int			happened;

	if (left <= 0)
		return false;
	happened = WaitLatchOrSocket(MyLatch, WL_EXIT_ON_PM_DEATH | WL_LATCH_SET | WL_TIMEOUT | events,
								 PQsocket(connection), Min(left, SLICE_MS), PG_WAIT_EXTENSION);
	if (happened & WL_LATCH_SET)
		ResetLatch(MyLatch);
	waiting(sent);
	return true;
}

/* ---------------------------------------------------------------------
 * Connecting
 * ---------------------------------------------------------------------
 */

/* Returns why there is no connection; NULL: there is one. */
static char *
finish_connecting(TimestampTz until, DpWhileWaiting waiting)
{
	PostgresPollingStatusType status = PGRES_POLLING_WRITING;

	if (connection == NULL)
		return pstrdup("out of memory");
	while (status != PGRES_POLLING_OK)
	{
		if (status == PGRES_POLLING_FAILED || PQstatus(connection) == CONNECTION_BAD)
			return said(PQerrorMessage(connection));
		if (!wait_for_socket(status == PGRES_POLLING_READING ? WL_SOCKET_READABLE : WL_SOCKET_WRITEABLE,
							 until, waiting, false))
			return pstrdup("it did not answer in time");
		status = PQconnectPoll(connection);
	}
	return PQsetnonblocking(connection, 1) == 0 ? NULL : said(PQerrorMessage(connection));
}

static char *
open_connection(const char *conninfo, const char *database, const char *name, int timeout, DpWhileWaiting waiting)
{
	/*
	 * of two databases the second counts, which is not taken for a connection
	 * string
	 */
	const char *keys[] = {"dbname", "dbname", "fallback_application_name", "client_encoding", NULL};
	const char *values[] = {conninfo, database, name, GetDatabaseEncodingName(), NULL};
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), timeout);
	char	   *cause;

	close_connection();
	if (!AcquireExternalFD())
		return pstrdup("too many files are open");
	has_descriptor = true;
	PG_TRY();
	{
		connection = PQconnectStartParams(keys, values, true);
		cause = finish_connecting(until, waiting);
	}
	PG_CATCH();
	{
		close_connection();
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (cause != NULL)
		close_connection();
	return cause;
}

/* ---------------------------------------------------------------------
 * Calling
 * ---------------------------------------------------------------------
 */

/* Sends and waits until there is something to read of the answer; returns why not, or NULL. */
static char *
exchange(const char *sql, int n, const char *const *values, TimestampTz until, DpWhileWaiting waiting)
{
	int			left;

	if (!PQsendQueryParams(connection, sql, n, NULL, values, NULL, NULL, 0))
		return said(PQerrorMessage(connection));
	while ((left = PQflush(connection)) == 1)
	{
		if (!wait_for_socket(WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE, until, waiting, true))
			return pstrdup("it did not take the request in time");
		if (!PQconsumeInput(connection))
			return said(PQerrorMessage(connection));
	}
	if (left < 0)
		return said(PQerrorMessage(connection));
	return NULL;
}

/* Waits for the next part of the answer; returns why it does not come, or NULL. */
static char *
wait_for_result(TimestampTz until, DpWhileWaiting waiting)
{
	while (PQisBusy(connection))
	{
		if (!wait_for_socket(WL_SOCKET_READABLE, until, waiting, true))
			return pstrdup("it did not answer in time");
		if (!PQconsumeInput(connection))
			return said(PQerrorMessage(connection));
	}
	return NULL;
}

static char *
field(const PGresult * result, int code)
{
	const char *text = PQresultErrorField(result, code);

	return text ? pstrdup(text) : NULL;
}

static void
read_result(const PGresult * result, DpCall *call)
{
	if (PQresultStatus(result) == PGRES_TUPLES_OK)
	{
		call->outcome = DP_CALL_DONE;
		if (PQntuples(result) > 0 && PQnfields(result) > 0 && !PQgetisnull(result, 0, 0))
			call->value = pstrdup(PQgetvalue(result, 0, 0));
		return;
	}
	call->sqlstate = field(result, PG_DIAG_SQLSTATE);
	call->message = field(result, PG_DIAG_MESSAGE_PRIMARY);
	call->detail = field(result, PG_DIAG_MESSAGE_DETAIL);
	call->hint = field(result, PG_DIAG_MESSAGE_HINT);
	/* what libpq itself finds has no SQLSTATE: the connection is gone */
	call->outcome = call->sqlstate != NULL && call->message != NULL ? DP_CALL_REFUSED : DP_CALL_LOST;
	if (call->outcome == DP_CALL_LOST)
		call->cause = said(PQresultErrorMessage(result));
}

static void
call_and_read(const char *sql, int n, const char *const *values, TimestampTz until, DpWhileWaiting waiting,
			  DpCall *call)
{
	PGresult   *result;

	call->outcome = DP_CALL_LOST;
	call->cause = exchange(sql, n, values, until, waiting);
	while (call->cause == NULL)
	{
		call->cause = wait_for_result(until, waiting);
		if (call->cause != NULL)
			break;
		result = PQgetResult(connection);
		if (result == NULL)
			return;
		read_result(result, call);
		PQclear(result);
	}
	/* an answer whose end was not seen is none */
	call->outcome = DP_CALL_LOST;
}

/* Tells whether there is a connection, as far as one hears before anything is sent: its end comes after a last message. */
static bool
is_connected(void)
{
	return connection != NULL && PQconsumeInput(connection) && PQconsumeInput(connection) &&
		PQstatus(connection) == CONNECTION_OK;
}

static void
call_other(const char *sql, int n, const char *const *values, int timeout, DpWhileWaiting waiting, DpCall *call)
{
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), timeout);

	memset(call, 0, sizeof(*call));
	if (!is_connected())
	{
		call->cause = connection ? said(PQerrorMessage(connection)) : NULL;
		close_connection();
		return;
	}
	PG_TRY();
	{
		call_and_read(sql, n, values, until, waiting, call);
	}
	PG_CATCH();
	{
		close_connection();
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (call->outcome == DP_CALL_LOST || PQstatus(connection) != CONNECTION_OK)
		close_connection();
}

static int
backend_of_connection(void)
{
	return connection != NULL ? PQbackendPID(connection) : 0;
}

const DpPrimaryMethods *
dp_primary_methods(void)
{
	static const DpPrimaryMethods methods = {DP_VERSION, open_connection, call_other, close_connection, backend_of_connection};

	return &methods;
}
