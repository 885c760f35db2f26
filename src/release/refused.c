/*-------------------------------------------------------------------------
 *
 * refused.c
 *	  Statements that were refused before they had a price, for the audit.
 *
 * What is refused is told by the query, the policy and who asks, never by
 * rows; so are the note and its time.  The ledger's worker writes it down when
 * it finds time.  An error that this extension did not raise is no refusal.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/errors.h"
#include "ledger/ledger.h"
#include "policy/policy.h"
#include "release/release.h"
#include "utils/lsyscache.h"

/*
 * Learns what a note has to say.  The text must last as long; of it, length
 * bytes from location on are the statement, 0 and -1 where that is not known.
 */
void
dp_refused_prepare(DpRefusedStatement *statement, Oid table, const char *text, int location, int length)
{
	const DpTable *policy = dp_policy_table(table);
	char	   *schema = get_namespace_name(get_rel_namespace(table));
	char	   *name = get_rel_name(table);
	int			whole = text ? strlen(text) : 0;

	strlcpy(statement->dataset, policy ? policy->dataset : "", NAMEDATALEN);
	snprintf(statement->table, sizeof(statement->table), "%s.%s", schema ? schema : "", name ? name : "");
	location = location < 0 || location > whole ? 0 : location;
	statement->text = text ? text +location : "";

	statement->length = length <= 0 || length > whole - location ? whole - location : length;
}

/* Leaves a note of the error that is being handled; context: any but ErrorContext. */
void
dp_refused_note(const DpRefusedStatement *statement, MemoryContext context)
{
	int			code = geterrcode();
	MemoryContext old;
	ErrorData  *error;
	char		reason[512];

	if (code != ERRCODE_DP_NOT_RELEASABLE && code != ERRCODE_DP_BUDGET_EXHAUSTED && code != ERRCODE_DP_BAD_PARAMETER)
		return;
	old = MemoryContextSwitchTo(context);
	error = CopyErrorData();
	snprintf(reason, sizeof(reason), "%s %s", unpack_sql_state(code), error->message ? error->message : "");
	dp_ledger_note_refusal(statement->dataset, statement->table, reason, statement->text, statement->length);
	FreeErrorData(error);
	MemoryContextSwitchTo(old);
}
