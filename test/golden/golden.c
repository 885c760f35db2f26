/*-------------------------------------------------------------------------
 *
 * golden.c
 *	  Logs what the guard makes of every statement, for golden.py: its EXPLAIN, or why it is refused, and what becomes of
 *	  the statements that the refusal writes out.
 *
 * A library of the tests alone (make golden), loaded after dp_cdp.  A statement with a release is explained, as its
 * asker would, before it is started; one that the planner refuses is logged with its error.  It is planned in a
 * subtransaction, so that what message, detail and hint write out can be planned after it, by the same asker.  Tests that count how often
 * functions run while a statement is planned, or name what EXPLAIN's errors leave out, fail.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/nodes.h"
#include "optimizer/planner.h"
#include "parser/scansup.h"
#include "tcop/tcopprot.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

static planner_hook_type prev_planner = NULL;
static ExecutorStart_hook_type prev_start = NULL;

/* what is planned or explained within is no statement of a test's */
static int	depth = 0;

/* Returns a part of a text in one line. */
static char *
one_line(const char *text, int location, int len)
{
	char	   *line = text == NULL ? pstrdup("") : location < 0 ? pstrdup(text) : len <= 0 ? pstrdup(text +location) : pnstrdup(text +location, len);

	for (char *c = line; *c; c++)
		if (scanner_isspace(*c))
			*c = ' ';
	return line;
}

static void
write_log(const char *what, const char *statement, const char *result)
{
	ereport(LOG_SERVER_ONLY,
			(errmsg_internal("golden %s: %s\001%s", what, statement, one_line(result, -1, 0)),
			 errhidestmt(true),
			 errhidecontext(true)));
}

/* Plans a statement as if the asker had typed it, and logs how that ends. */
static void
try_remedy(const char *statement)
{
	MemoryContext caller = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	const char *result = "answered";

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		ListCell   *raw,
				   *query;

		foreach(raw, pg_parse_query(statement))
			foreach(query, pg_analyze_and_rewrite_fixedparams(lfirst(raw), statement, NULL, 0, NULL))
			if (lfirst_node(Query, query)->commandType != CMD_UTILITY)
			(void) pg_plan_query(lfirst(query), statement, CURSOR_OPT_PARALLEL_OK, NULL);
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(caller);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(caller);
		result = psprintf("%s %s", unpack_sql_state(error->sqlerrcode), error->message);
	}
	PG_END_TRY();
	CurrentResourceOwner = owner;
	write_log("remedy", one_line(statement, -1, 0), result);
}

/* Tries what a text of an error writes out: from a verb after "example", "such as", "as in" or "Such as:" to its end. */
static void
try_remedies(const char *text)
{
	static const char *const before[] = {"for example ", "such as ", "as in ", "Such as: "};
	static const char *const verbs[] = {"SELECT ", "WITH ", "SET "};

	if (text == NULL || depth > 0)
		return;
	depth++;
	for (int i = 0; i < lengthof(before) * lengthof(verbs); i++)
	{
		const char *found = strstr(text, psprintf("%s%s", before[i / lengthof(verbs)], verbs[i % lengthof(verbs)]));

		if (found != NULL)
			try_remedy(found + strlen(before[i / lengthof(verbs)]));
	}
	depth--;
}

/* Logs the error at hand, and raises it; statement: not in ErrorContext, which is emptied. */
static void
refused(const char *statement, bool in_subtransaction)
{
	ErrorData  *error = CopyErrorData();
	MemoryContext caller = CurrentMemoryContext;

	FlushErrorState();
	if (in_subtransaction)
	{
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(caller);
	}
	if (strncmp(unpack_sql_state(error->sqlerrcode), "ZC", 2) == 0)
	{
		write_log("refused", statement, psprintf("%s %s", unpack_sql_state(error->sqlerrcode), error->message));
		if (in_subtransaction)
		{
			try_remedies(error->message);
			try_remedies(error->detail);
			try_remedies(error->hint);
		}
	}
	ReThrowError(error);
}

static PlannedStmt *
golden_planner(Query *parse, const char *query_string, int cursor_options, ParamListInfo params)
{
	MemoryContext caller = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	bool		is_apart = depth == 0 && !IsInParallelMode() && IsTransactionState();
	PlannedStmt *result = NULL;

	if (is_apart)
	{
		BeginInternalSubTransaction(NULL);
		MemoryContextSwitchTo(caller);
	}
	depth++;
	PG_TRY();
	{
		result = prev_planner ? prev_planner(parse, query_string, cursor_options, params)
			: standard_planner(parse, query_string, cursor_options, params);
	}
	PG_CATCH();
	{
		char	   *statement;

		if (--depth > 0)
			PG_RE_THROW();
		MemoryContextSwitchTo(caller);
		statement = one_line(query_string, parse->stmt_location, parse->stmt_len);
		refused(statement, is_apart);
	}
	PG_END_TRY();
	depth--;
	if (is_apart)
	{
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(caller);
		CurrentResourceOwner = owner;
	}
	return result;
}

static void
explain(QueryDesc *desc)
{
	const PlannedStmt *plan = desc->plannedstmt;
	MemoryContext caller = CurrentMemoryContext;
	char	   *statement = one_line(desc->sourceText, plan->stmt_location, plan->stmt_len);
	ExplainState *es = NewExplainState();

	es->verbose = true;
	es->costs = true;
	es->format = EXPLAIN_FORMAT_JSON;
	depth++;
	PG_TRY();
	{
		ExplainBeginOutput(es);
		ExplainOnePlan(desc->plannedstmt, NULL, es, desc->sourceText, desc->params, desc->queryEnv, NULL, NULL);
		ExplainEndOutput(es);
	}
	PG_CATCH();
	{
		depth--;
		MemoryContextSwitchTo(caller);
		refused(statement, false);
	}
	PG_END_TRY();
	depth--;
	write_log("released", statement, es->str->data);
}

static void
golden_start(QueryDesc *desc, int eflags)
{
	if (depth == 0 && strstr(nodeToString(desc->plannedstmt), "DpRelease") != NULL)
		explain(desc);
	if (prev_start)
		prev_start(desc, eflags);
	else
		standard_ExecutorStart(desc, eflags);
}

void
_PG_init(void)
{
	prev_planner = planner_hook;
	planner_hook = golden_planner;
	prev_start = ExecutorStart_hook;
	ExecutorStart_hook = golden_start;
}
