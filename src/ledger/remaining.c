/*-------------------------------------------------------------------------
 *
 * remaining.c
 *	  What is left of the budgets that the asking roles would pay from, for
 *	  those who want to know before they ask.
 *
 * The rules are the worker's (batch.c); view dp_cdp.budgets has them once more,
 * for SQL.  Rows are read where they are at the moment (base/places.c), however
 * many dead versions of them a long snapshot keeps.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/table.h"
#include "access/tableam.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "base/clock.h"
#include "base/extension.h"
#include "base/places.h"
#include "base/role_names.h"
#include "ledger/ledger_int.h"

/* the table while it is read */
typedef struct Reading
{
	Relation	rel;
	TimestampTz now;
	List	   *balances;
	const DpDays *days;			/* of blocks; NULL: of all */
	Snapshot	snapshot;
} Reading;

bool
dp_ledger_is_closed(int failures, int max_failures)
{
	return failures >= Max(max_failures, 1);
}

static Datum
get_column(Reading *reading, TupleTableSlot *row, const char *name, bool *isnull)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(reading->rel), name);

	if (attnum == InvalidAttrNumber)
		elog(ERROR, "table dp_cdp_internal.budget lacks column \"%s\"", name);
	return slot_getattr(row, attnum, isnull);
}

/* Tells whether the budget's period is over, so that nothing of it is spent. */
static bool
is_renewed(Reading *reading, TupleTableSlot *row)
{
	bool		date_null;
	bool		period_null;
	Datum		date = get_column(reading, row, "renews_at", &date_null);
	Datum		period = get_column(reading, row, "period", &period_null);

	return !date_null && !period_null &&
		dp_renewal_due(DatumGetTimestampTz(date), DatumGetIntervalP(period), reading->now);
}

static Numeric
trimmed(Datum value)
{
	return DatumGetNumeric(DirectFunctionCall1(numeric_trim_scale, value));
}

static void
read_failures(Reading *reading, TupleTableSlot *row, DpLedgerBalance *balance)
{
	bool		isnull;
	Datum		since = get_column(reading, row, "failures_since", &isnull);

	if (isnull || DatumGetTimestampTz(since) <= reading->now - USECS_PER_DAY)
		return;
	balance->failures = DatumGetInt32(get_column(reading, row, "failures", &isnull));
	balance->failures_end = DatumGetTimestampTz(since) + USECS_PER_DAY;
}

static bool
add_balance(TupleTableSlot *row, void *arg)
{
	Reading    *reading = arg;
	DpLedgerBalance *balance;
	Datum		zero = NumericGetDatum(int64_to_numeric(0));
	Datum		spent;
	bool		isnull;
	Oid			role = DatumGetObjectId(get_column(reading, row, "role", &isnull));
	Datum		name = get_column(reading, row, "role_name", &isnull);

	/* the budget of a role that there is no more is nobody's */
	if (dp_known_role(role, isnull ? NULL : TextDatumGetCString(name)) != role)
		return true;
	if (!dp_role_pays(GetSessionUserId(), role) && !dp_role_pays(GetUserId(), role))
		return true;
	balance = palloc0(sizeof(DpLedgerBalance));
	balance->role = role;
	balance->rho_limit = trimmed(get_column(reading, row, "rho_limit", &isnull));
	if (is_renewed(reading, row))
		spent = zero;
	else if (reading->days != NULL)
		spent = NumericGetDatum(dp_blocks_spent(DatumGetInt64(get_column(reading, row, "ledger_id", &isnull)),
												reading->snapshot, *reading->days));
	else
		spent = get_column(reading, row, "rho_spent", &isnull);
	spent = DirectFunctionCall2(numeric_sub, NumericGetDatum(balance->rho_limit), spent);
	balance->rho_remaining = trimmed(DirectFunctionCall2(numeric_larger, spent, zero));
	read_failures(reading, row, balance);
	reading->balances = lappend(reading->balances, balance);
	return true;
}

static int
compare_names(const ListCell *a, const ListCell *b)
{
	const char *x = GetUserNameFromId(((DpLedgerBalance *) lfirst(a))->role, true);
	const char *y = GetUserNameFromId(((DpLedgerBalance *) lfirst(b))->role, true);

	return strcmp(x ? x : "", y ? y : "");
}

List *
dp_ledger_balances(const char *dataset, const DpDays *days)
{
	Reading		reading = {NULL, dp_now(), NIL, days};
	Oid			relid = dp_own_table("budget");
	Snapshot	snapshot;

	if (!OidIsValid(relid))
		return NIL;
	reading.rel = table_open(relid, AccessShareLock);
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	reading.snapshot = snapshot;
	dp_scan_newest(reading.rel, dataset, snapshot, add_balance, &reading);
	UnregisterSnapshot(snapshot);
	table_close(reading.rel, AccessShareLock);
	list_sort(reading.balances, compare_names);
	return reading.balances;
}
