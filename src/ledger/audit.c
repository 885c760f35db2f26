/*-------------------------------------------------------------------------
 *
 * audit.c
 *	  Rows of the audit log, in the worker's transaction.
 *
 * A debit has a row for each of its releases, granted or refused; of one that
 * balances owe different amounts of, as some have paid for a kept answer
 * before, a row for each amount.  A release
 * that failed after it was granted has another one, of rho and delta 0: what
 * it was charged stands in the first, so that the log adds up to the
 * balances.  Rows are only ever added; of refusals that are like one of the
 * same minute only the number is (repeats.c).
 *
 * Of what was granted, paid_by names each balance that was debited.  So what
 * a balance has to be follows from the log alone, whoever has become a member
 * of what since.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/tableam.h"
#include "commands/sequence.h"
#include "executor/executor.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "base/amounts.h"
#include "base/role_names.h"
#include "ledger/tables.h"

static void
set_text(DpOpenTable *table, TupleTableSlot *row, int col, const char *value)
{
	if (value && value[0] != '\0')
		dp_set_column(table, row, col, CStringGetTextDatum(value));
}

/* Fills in a row but for amounts and outcome. */
static void
begin_row(DpAudit *audit, TupleTableSlot *row, Oid role, Oid session_role, const char *dataset,
		  const char *application, const char *aggregates, const char *groups)
{
	DpOpenTable *log = audit->log;

	ExecClearTuple(row);
	memset(row->tts_isnull, true, RelationGetDescr(log->rel)->natts * sizeof(bool));
	audit->id = nextval_internal(dp_tables_log_sequence(), false);
	if (audit->first_id == 0)
		audit->first_id = audit->id;
	dp_set_column(log, row, DP_LOG_ID, Int64GetDatum(audit->id));
	dp_set_column(log, row, DP_LOG_RELEASED_AT, TimestampTzGetDatum(audit->now));
	dp_set_column(log, row, DP_LOG_DATASET, CStringGetTextDatum(dataset));
	dp_set_column(log, row, DP_LOG_ROLE, ObjectIdGetDatum(role));
	dp_set_column(log, row, DP_LOG_SESSION_ROLE, ObjectIdGetDatum(session_role));
	dp_set_column(log, row, DP_LOG_REPEATS, Int32GetDatum(1));
	set_text(log, row, DP_LOG_ROLE_NAME, dp_role_name(role));
	set_text(log, row, DP_LOG_SESSION_ROLE_NAME, dp_role_name(session_role));
	dp_set_column(log, row, DP_LOG_APPLICATION, CStringGetTextDatum(application));
	dp_set_column(log, row, DP_LOG_AGGREGATES, CStringGetTextDatum(aggregates ? aggregates : ""));
	set_text(log, row, DP_LOG_GROUPS, groups);
}

static void
end_row(DpAudit *audit, TupleTableSlot *row, int64 rho, int64 delta, const char *kind)
{
	DpOpenTable *log = audit->log;
	bool		granted = strcmp(kind, "granted") == 0 || strcmp(kind, "correction") == 0;

	dp_set_column(log, row, DP_LOG_RHO, NumericGetDatum(dp_amount_numeric(rho, DP_RHO_SCALE)));
	dp_set_column(log, row, DP_LOG_DELTA, NumericGetDatum(dp_amount_numeric(delta, DP_DELTA_SCALE)));
	dp_set_column(log, row, DP_LOG_GRANTED, BoolGetDatum(granted));
	dp_set_column(log, row, DP_LOG_FAILED, BoolGetDatum(strcmp(kind, "failed") == 0));
	set_text(log, row, DP_LOG_KIND, kind);
	dp_chain_add(log, row);
	ExecStoreVirtualTuple(row);

	simple_table_tuple_insert(log->rel, row);
	if (log->rri->ri_NumIndices > 0)
		dp_insert_index_tuples(log->rri, row, audit->estate, false, false);
	ResetPerTupleExprContext(audit->estate);
}

/* Says why a debit was refused: SQLSTATE and words that stay the same. */
static const char *
reason_words(DpReason reason)
{
	switch (reason)
	{
		case DP_REASON_NO_BUDGET:
			return "ZC001 no budget";
		case DP_REASON_RHO:
			return "ZC001 rho";
		case DP_REASON_DELTA:
			return "ZC001 delta";
		case DP_REASON_FAILURES:
			return "ZC001 failures";
		case DP_REASON_RATE:
			return "ZC003 rate";
		default:
			return "ZC003";
	}
}

/* Writes the row of one release, as far as granted and refused ones are alike. */
static void
write_item(DpAudit *audit, TupleTableSlot *row, const DpRequest *req, const DpWireItem *item,
		   const char *kind, const char *reason, const DpLogRow *debited)
{
	DpOpenTable *log = audit->log;

	begin_row(audit, row, req->role, req->session_role, dp_request_string(req, item->dataset),
			  req->application, dp_request_string(req, item->aggregates),
			  dp_request_string(req, item->groups));
	set_text(log, row, DP_LOG_STDDEV, dp_request_string(req, item->sigma));
	set_text(log, row, DP_LOG_QUERY, dp_request_string(req, req->query));
	set_text(log, row, DP_LOG_TABLES, dp_request_string(req, item->tables));
	set_text(log, row, DP_LOG_CLIENT, req->client);
	set_text(log, row, DP_LOG_REASON, reason);
	if (debited != NULL)
		dp_set_column(log, row, DP_LOG_PAID_BY, debited->paid_by);
	/* so that what a row stands for adds up to the number of releases */
	if (debited != NULL && !debited->is_first)
		dp_set_column(log, row, DP_LOG_REPEATS, Int32GetDatum(0));
	if (debited != NULL && debited->is_kept)
	{
		dp_set_column(log, row, DP_LOG_REUSE_RHO, NumericGetDatum(dp_amount_numeric(debited->reuse_rho, DP_RHO_SCALE)));
		dp_set_column(log, row, DP_LOG_REUSE_DELTA,
					  NumericGetDatum(dp_amount_numeric(debited->reuse_delta, DP_DELTA_SCALE)));
	}
	if (debited ? debited->has_days : !DATE_IS_NOBEGIN(item->days.from) || !DATE_IS_NOEND(item->days.to))
	{
		dp_set_column(log, row, DP_LOG_BLOCK_FROM, DateADTGetDatum(item->days.from));
		dp_set_column(log, row, DP_LOG_BLOCK_TO, DateADTGetDatum(item->days.to));
	}
	end_row(audit, row, debited ? debited->rho : item->rho, debited ? debited->delta : item->delta, kind);
}

void
dp_audit_grant(DpAudit *audit, TupleTableSlot *row, const DpBatchRequest *request)
{
	const DpRequest *req = request->req;
	bool		correction = req->kind == DP_REQUEST_CORRECTION;


	foreach_ptr(const DpLogRow, debited, request->rows)
	{
		write_item(audit, row, req, &req->items[debited->item], correction ? "correction" : "granted",
				   dp_request_string(req, req->reason), debited);
	}
}

/* Says of a row that it stands for refusals of other kinds, too. */
static const char *
with_others(const DpRepeatKey *key, const char *reason)
{
	return dp_repeat_is_of_others(key) ? psprintf("%s; and others, of which this role has too many", reason) : reason;
}

void
dp_audit_refusal(DpAudit *audit, TupleTableSlot *row, const DpRequest *req)
{
	const char *reason = reason_words(req->reply.reason);
	DpRepeatKey key;

	dp_repeat_key(&key, req->role, req->session_role, req->reply.dataset, reason, audit->now);
	if (dp_repeat_count(&key, 1, audit->now))
		return;
	for (int i = 0; i < req->nitems; i++)
	{
		write_item(audit, row, req, &req->items[i], "refused", with_others(&key, reason), NULL);
		if (i == 0)
			dp_repeat_begin(&key, audit->id, audit->now);
	}
}

void
dp_audit_note(DpAudit *audit, TupleTableSlot *row, const DpNote *note)
{
	DpOpenTable *log = audit->log;
	DpRepeatKey key;
	char		sqlstate[DP_SQLSTATE_BYTES + 1];

	/* messages may quote the query, of which there are many */
	strlcpy(sqlstate, note->reason, sizeof(sqlstate));
	dp_repeat_key(&key, note->role, note->session_role, note->dataset, sqlstate, audit->now);
	if (dp_repeat_count(&key, note->number, audit->now))
		return;
	begin_row(audit, row, note->role, note->session_role, note->dataset, note->application, "", NULL);
	set_text(log, row, DP_LOG_QUERY, note->query);
	set_text(log, row, DP_LOG_TABLES, note->tables);
	set_text(log, row, DP_LOG_CLIENT, note->client);
	set_text(log, row, DP_LOG_REASON, with_others(&key, note->reason));
	end_row(audit, row, 0, 0, "guard");
	dp_repeat_begin(&key, audit->id, audit->now);
	if (note->number > 1)
		(void) dp_repeat_count(&key, note->number - 1, audit->now);
}

void
dp_audit_failure(DpAudit *audit, TupleTableSlot *row, const DpFailure *failure)
{
	begin_row(audit, row, failure->role, failure->session_role, failure->dataset,
			  failure->application, failure->aggregates, failure->groups);
	end_row(audit, row, 0, 0, "failed");
}
