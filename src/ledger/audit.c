/*-------------------------------------------------------------------------
 *
 * audit.c
 *	  Rows of the audit log, in the worker's transaction.
 *
 * A debit has a row for each of its releases, granted or refused.  A release
 * that failed after it was granted has another one, of rho and delta 0: what
 * it was charged stands in the first, so that the log adds up to the
 * balances.  Rows are only ever added.
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
#include "ledger/tables.h"

static void
set_text(DpOpenTable *table, TupleTableSlot *row, int col, const char *value)
{
	if (value)
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
	dp_set_column(log, row, DP_LOG_ID, Int64GetDatum(nextval_internal(dp_tables_log_sequence(), false)));
	dp_set_column(log, row, DP_LOG_RELEASED_AT, TimestampTzGetDatum(audit->now));
	set_text(log, row, DP_LOG_DATASET, dataset);
	dp_set_column(log, row, DP_LOG_ROLE, ObjectIdGetDatum(role));
	dp_set_column(log, row, DP_LOG_SESSION_ROLE, ObjectIdGetDatum(session_role));
	set_text(log, row, DP_LOG_APPLICATION, application);
	set_text(log, row, DP_LOG_AGGREGATES, aggregates ? aggregates : "");
	set_text(log, row, DP_LOG_GROUPS, groups);
}

static void
end_row(DpAudit *audit, TupleTableSlot *row, int64 rho, int64 delta, bool granted, bool failed)
{
	DpOpenTable *log = audit->log;

	dp_set_column(log, row, DP_LOG_RHO, NumericGetDatum(dp_amount_numeric(rho, DP_RHO_SCALE)));
	dp_set_column(log, row, DP_LOG_DELTA, NumericGetDatum(dp_amount_numeric(delta, DP_DELTA_SCALE)));
	dp_set_column(log, row, DP_LOG_GRANTED, BoolGetDatum(granted));
	dp_set_column(log, row, DP_LOG_FAILED, BoolGetDatum(failed));
	ExecStoreVirtualTuple(row);

	simple_table_tuple_insert(log->rel, row);
	if (log->rri->ri_NumIndices > 0)
		dp_insert_index_tuples(log->rri, row, audit->estate, false, false);
	ResetPerTupleExprContext(audit->estate);
}

void
dp_audit_debit(DpAudit *audit, TupleTableSlot *row, const DpRequest *req, bool granted)
{
	for (int i = 0; i < req->nitems; i++)
	{
		const DpWireItem *item = &req->items[i];

		begin_row(audit, row, req->role, req->session_role, dp_request_string(req, item->dataset),
				  req->application, dp_request_string(req, item->aggregates),
				  dp_request_string(req, item->groups));
		set_text(audit->log, row, DP_LOG_SIGMA, dp_request_string(req, item->sigma));
		end_row(audit, row, item->rho, item->delta, granted, false);
	}
}

void
dp_audit_failure(DpAudit *audit, TupleTableSlot *row, const DpFailure *failure)
{
	for (int i = 0; i < failure->number; i++)
	{
		begin_row(audit, row, failure->role, failure->session_role, failure->dataset,
				  failure->application, failure->aggregates, failure->groups[0] ? failure->groups : NULL);
		end_row(audit, row, 0, 0, false, true);
	}
}
