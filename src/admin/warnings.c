/*-------------------------------------------------------------------------
 *
 * warnings.c
 *	  Notices of administration functions, which the row that a function
 *	  returns has in its last column, too: tools often show no notices.
 *
 * Invariants:
 *	- a row has the warnings of its own call, each with its hint.  Whoever warns returns a row,
 *	  which takes them; a call that fails takes them along, with the memory of
 *	  its (sub)transaction.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "admin/admin.h"

/* of the call that runs; in CurTransactionContext */
static ArrayBuildState *messages = NULL;

static void
forget(void *arg)
{
	messages = NULL;
}

/* Takes the report that was begun, whatever the session shows of notices. */
static ErrorData *
taken(int level, const char *file, int line, const char *function)
{
	ErrorData  *report = CopyErrorData();

	FlushErrorState();
	report->elevel = level;
	report->sqlerrcode = level == WARNING ? ERRCODE_WARNING : ERRCODE_SUCCESSFUL_COMPLETION;
	report->filename = file;
	report->lineno = line;
	report->funcname = function;
	return report;
}

void
dp_admin_raise_warning(int level, const char *file, int line, const char *function)
{
	ErrorData  *report = taken(level, file, line, function);

	if (messages == NULL)
	{
		MemoryContextCallback *callback = MemoryContextAlloc(CurTransactionContext, sizeof(MemoryContextCallback));

		callback->func = forget;
		callback->arg = NULL;
		MemoryContextRegisterResetCallback(CurTransactionContext, callback);
	}
	messages = accumArrayResult(messages, CStringGetTextDatum(report->hint ? psprintf("%s. %s", report->message, report->hint) : report->message),
								false, TEXTOID, CurTransactionContext);
	ThrowErrorData(report);
}

Datum
dp_admin_warnings(void)
{
	Datum		result = messages == NULL ? PointerGetDatum(construct_empty_array(TEXTOID))
	: makeArrayResult(messages, CurrentMemoryContext);

	messages = NULL;
	return result;
}
