/*-------------------------------------------------------------------------
 *
 * examples.c
 *	  Statements that refusals write out, tried before they are.
 *
 * Messages are made while a level is taken apart, and what they write out follows from what is left of it.  It may then say
 * something else than the query did, or ask for what is refused in turn.
 *
 * Invariants:
 *	- a statement that a refusal writes out is planned first as its asker would have it planned.  It is written out if
 *	  that ends well, or in want of budget, and left out else;
 *	- whether it is written out follows from the query, the catalogue, the policy and public inputs alone, as planning does;
 *	- planning charges nothing, and the statement is not run;
 *	- errors that no other text would have mended, such as a cancellation, are raised in the place of the refusal.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/attempt.h"
#include "base/compat.h"
#include "base/errors.h"
#include "catalog/namespace.h"
#include "guard/guard.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* while one is tried, others would be in vain: nobody reads the message that they are for */
static bool is_tried = false;

static void
plan_example(void *statement)
{
	foreach_node(RawStmt, raw, pg_parse_query(statement))
	{
		foreach_node(Query, query, pg_analyze_and_rewrite_fixedparams(raw, statement, NULL, 0, NULL))
			(void) dp_plan_query(query, statement, 0, NULL);
	}
}

/* Tells whether an error is none of what was planned. */
static bool
is_of_the_server(int sqlerrcode)
{
	switch (ERRCODE_TO_CATEGORY(sqlerrcode))
	{
		case ERRCODE_TO_CATEGORY(ERRCODE_QUERY_CANCELED):
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_TRANSACTION_ROLLBACK:
		case ERRCODE_SYSTEM_ERROR:
			return true;
		default:
			return false;
	}
}

const char *
dp_relation_text(Oid relid)
{
	return quote_qualified_identifier(RelationIsVisible(relid) ? NULL : get_namespace_name(get_rel_namespace(relid)),
									  get_rel_name(relid));
}

const char *
dp_example(const char *statement)
{
	ErrorData  *error;
	bool		is_refused;

	if (is_tried || IsInParallelMode())
		return NULL;
	is_tried = true;
	error = dp_attempt(plan_example, unconstify(char *, statement));
	is_tried = false;
	if (error == NULL)
		return statement;
	if (is_of_the_server(error->sqlerrcode))
		ReThrowError(error);
	is_refused = error->sqlerrcode != ERRCODE_DP_BUDGET_EXHAUSTED;
	FreeErrorData(error);
	return is_refused ? NULL : statement;
}
