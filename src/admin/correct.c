/*-------------------------------------------------------------------------
 *
 * correct.c
 *	  What owners do about what is spent in a dataset: debit on behalf of a role,
 *	  correct, adopt after a restore, end answers that are given again.
 *
 * The first two are done by the ledger's worker, as every debit is: durable when
 * the function returns, whatever becomes of the caller's transaction, and a row
 * of the audit each.  Nobody but a superuser can give anything back.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "admin/admin.h"
#include "base/amounts.h"
#include "base/clock.h"
#include "base/errors.h"
#include "ledger/ledger.h"

/* the longest reason that is kept whole */
#define MAX_REASON_BYTES 500

PG_FUNCTION_INFO_V1(dp_correct);
PG_FUNCTION_INFO_V1(dp_debit_for);
PG_FUNCTION_INFO_V1(dp_refresh);
PG_FUNCTION_INFO_V1(dp_adopt_ledger);

/* Checks that the caller owns the dataset and that there is such a role. */
static void
require_owner(const char *dataset, Oid role, const char *parameter)
{
	Oid			user = GetUserId();
	DpAdminContext context;

	dp_admin_begin(&context);
	(void) dp_admin_dataset(dataset, user, DP_LOCK_REFERENCE);
	if (parameter != NULL)
		dp_admin_lock_role(role, parameter);
	dp_admin_end(&context);
}

static Numeric
numeric_argument(FunctionCallInfo fcinfo, int argno, const char *parameter)
{
	if (PG_ARGISNULL(argno))
		dp_raise(BAD_PARAMETER, errmsg("%s must be given", parameter));
	return PG_GETARG_NUMERIC(argno);
}

/* Returns an amount of rho that may be negative: then rounded up, towards what is spent more. */
static int64
signed_amount(Numeric rho)
{
	Datum		zero = DirectFunctionCall1(int4_numeric, Int32GetDatum(0));
	bool		negative = !numeric_is_nan(rho) &&
	DatumGetBool(DirectFunctionCall2(numeric_lt, NumericGetDatum(rho), zero));
	int64		amount;

	if (!negative)
		return dp_debit_amount(rho, DP_RHO_SCALE, false, "rho");
	/* refuses what is too large */
	(void) dp_debit_amount(DatumGetNumeric(DirectFunctionCall1(numeric_abs, NumericGetDatum(rho))),
						   DP_RHO_SCALE, false, "rho of a correction");
	amount = dp_numeric_amount(rho, DP_RHO_SCALE, true);
	if (amount == 0)
		dp_raise(BAD_PARAMETER,
				 errmsg("rho is nearer to 0 than any amount of the ledger; give at least 1e-%d", DP_RHO_SCALE));
	return amount;
}

/*
 * correct_spent(dataset, role, rho, reason)
 *
 * Adds rho to what the role's budget and the dataset's cap have spent; role
 * NULL: to the cap alone.  A negative rho is for superusers.
 */
Datum
dp_correct(PG_FUNCTION_ARGS)
{
	char	   *dataset = dp_admin_dataset_name(fcinfo, 0);
	Oid			role = PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1);
	int64		rho = signed_amount(numeric_argument(fcinfo, 2, "rho"));
	char	   *reason = PG_ARGISNULL(3) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(3));

	require_owner(dataset, role, PG_ARGISNULL(1) ? NULL : "role");
	if (reason[strspn(reason, " \t\r\n")] == '\0' || strlen(reason) > MAX_REASON_BYTES)
		dp_raise(BAD_PARAMETER,
				 errmsg("a correction needs a reason of at most %d bytes, which the audit keeps", MAX_REASON_BYTES));
	if (rho < 0 && !superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only superusers may lower what was spent: owners of datasets may raise it, or raise a limit with dp_cdp.set_budget")));
	dp_ledger_correct(dataset, role, rho, reason);
	PG_RETURN_NUMERIC(dp_amount_numeric(rho, DP_RHO_SCALE));
}

/*
 * debit_budget(dataset, rho, delta, role)
 *
 * Charges a role for an answer that was given outside of the database.
 */
Datum
dp_debit_for(PG_FUNCTION_ARGS)
{
	DpDebitItem item = {.dataset = dp_admin_dataset_name(fcinfo, 0), .aggregates = "debit by hand"};
	Oid			role = PG_ARGISNULL(3) ? InvalidOid : PG_GETARG_OID(3);

	item.rho = dp_debit_amount(numeric_argument(fcinfo, 1, "rho"), DP_RHO_SCALE, false, "rho");
	item.delta = dp_debit_amount(numeric_argument(fcinfo, 2, "delta"), DP_DELTA_SCALE, true, "delta");
	require_owner(item.dataset, role, "role");
	dp_ledger_debit_for(list_make1(&item), role);
	PG_RETURN_NUMERIC(dp_amount_numeric(item.rho, DP_RHO_SCALE));
}

int64
dp_admin_end_answers(const char *dataset)
{
	Oid			types[] = {TEXTOID, TIMESTAMPTZOID};
	Datum		values[] = {CStringGetTextDatum(dataset), TimestampTzGetDatum(dp_now())};

	dp_admin_execute("UPDATE dp_cdp_internal.dataset SET forgotten_at = $2 WHERE name = $1",
					 2, types, values, NULL, true);
	return dp_admin_execute("UPDATE dp_cdp_internal.kept_answer SET answer = NULL, ended = true WHERE dataset = $1 AND NOT ended",
							1, types, values, NULL, true);
}

/*
 * forget_answers(dataset)
 *
 * Ends all answers that are kept, and returns how many these were.  Who paid for them stays, for
 * dp_cdp.spent_together().  The lock on the dataset's row keeps debits out, so that
 * no answer which was bought before is marked as paid for behind our back.
 */
Datum
dp_refresh(PG_FUNCTION_ARGS)
{
	char	   *name = dp_admin_dataset_name(fcinfo, 0);
	Oid			user = GetUserId();
	DpAdminContext context;
	int64		ended;

	dp_admin_begin(&context);
	(void) dp_admin_dataset(name, user, DP_LOCK_CHANGE);
	ended = dp_admin_end_answers(name);
	dp_admin_end(&context);
	PG_RETURN_INT64(ended);
}

/*
 * adopt_ledger(surcharge_rho, surcharge_delta, dataset)
 *
 * Of all datasets it is for the owner of the extension; of one, others go on
 * waiting.
 */
Datum
dp_adopt_ledger(PG_FUNCTION_ARGS)
{
	char	   *name = dp_admin_dataset_name(fcinfo, 2);
	DpSurcharge surcharge = dp_ledger_surcharge(fcinfo, 0);
	Oid			user = GetUserId();
	DpAdminContext context;

	if (strcmp(name, "*") == 0)
		PG_RETURN_INT64(dp_ledger_adopt_balances(&surcharge, NULL));
	dp_admin_begin(&context);
	(void) dp_admin_dataset(name, user, DP_LOCK_REFERENCE);
	dp_admin_end(&context);
	PG_RETURN_INT64(dp_ledger_adopt_balances(&surcharge, name));
}
