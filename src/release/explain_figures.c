/*-------------------------------------------------------------------------
 *
 * explain_figures.c
 *	  Numbers, amounts and budgets, as EXPLAIN shows them.
 *
 * The text format has lines for people.  The others have what programs read:
 * numbers as numbers, and one fact in a field.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/amounts.h"
#include "base/compat.h"
#include "ledger/ledger.h"
#include "miscadmin.h"
#include "release/release_int.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

/* how many digits amounts and balances are shown with: those that a double has for sure */
#define AMOUNT_DIGITS 12
#define BALANCE_DIGITS 15

char *
dp_format_amount(int64 amount, int64 one)
{
	return psprintf("%.*g", AMOUNT_DIGITS, (double) amount / one);
}

void
dp_explain_number(const char *label, double value, int digits, ExplainState *es)
{
	char	   *text = psprintf("%.*e", digits - 1, value);
	char	   *exponent = strchr(text, 'e');
	char	   *end = exponent;

	/* JSON has no word for it */
	if (exponent == NULL)
		return;

	/* written without an exponent, to the last digit that is not 0 */
	while (end[-1] == '0')
		end--;
	ExplainPropertyFloat(label, NULL, value, Max(end - strchr(text, '.') - 1 - atoi(exponent + 1), 0), es);
}

void
dp_explain_amount(const char *label, int64 amount, int64 one, ExplainState *es)
{
	if (es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText(label, dp_format_amount(amount, one), es);
	else
		dp_explain_number(label, (double) amount / one, AMOUNT_DIGITS, es);
}

/* ------------------------------------------------------------------------
 * Budgets
 * ------------------------------------------------------------------------
 */

static char *
role_text(Oid role)
{
	return DatumGetCString(DirectFunctionCall1(regroleout, ObjectIdGetDatum(role)));
}

/* Returns what a debit of rho would leave of a budget. */
static Numeric
rho_left(const DpLedgerBalance *balance, int64 rho)
{
	Numeric		price = dp_amount_numeric(rho, DP_RHO_SCALE);

	return DatumGetNumeric(DirectFunctionCall2(numeric_sub, NumericGetDatum(balance->rho_remaining),
											   NumericGetDatum(price)));
}

/* Returns whether a budget holds less than rho; every budget of a role pays. */
static bool
lacks(const DpLedgerBalance *balance, int64 rho)
{
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8, NumericGetDatum(rho_left(balance, rho)))) < 0;
}

/* Returns a line on one budget; after: what a debit of rho would leave. */
static char *
budget_line(const DpLedgerBalance *balance, const DpDataset *dataset, int64 rho, bool after)
{
	char	   *line = psprintf("%s: %s of rho %s remain",
								role_text(balance->role),
								numeric_normalize(balance->rho_remaining),
								numeric_normalize(balance->rho_limit));

	if (lacks(balance, rho))
		line = psprintf("%s, which is too little: the query would be refused", line);
	else if (after)
		line = psprintf("%s, %s after this release", line, numeric_normalize(rho_left(balance, rho)));
	if (dp_ledger_is_closed(balance->failures, dataset->max_failures))
		line = psprintf("%s; closed by failures (%d of today) until %s, or until the owner of the dataset calls dp_cdp.reset_failures",
						line, balance->failures, timestamptz_to_str(balance->failures_end));
	return line;
}

static void
explain_balance(const char *label, Numeric balance, ExplainState *es)
{
	dp_explain_number(label, DatumGetFloat8(DirectFunctionCall1(numeric_float8, NumericGetDatum(balance))),
					  BALANCE_DIGITS, es);
}

/* Shows one budget, in fields. */
static void
explain_budget(const DpLedgerBalance *balance, const DpDataset *dataset, int64 rho, ExplainState *es)
{
	ExplainOpenGroup("Budget", NULL, true, es);
	ExplainPropertyText("Role", role_text(balance->role), es);
	explain_balance("Rho Limit", balance->rho_limit, es);
	explain_balance("Rho Remaining", balance->rho_remaining, es);
	explain_balance("Rho After", rho_left(balance, rho), es);
	ExplainPropertyInteger("Failures Today", NULL, balance->failures, es);
	if (dp_ledger_is_closed(balance->failures, dataset->max_failures))
		ExplainPropertyText("Closed Until", timestamptz_to_str(balance->failures_end), es);
	ExplainCloseGroup("Budget", NULL, true, es);
}

void
dp_explain_budgets(const DpDataset *dataset, const DpDays *days, int64 rho, ExplainState *es)
{
	List	   *balances = dp_ledger_balances(dataset->name, days);
	char	   *none = psprintf("%s has no privacy budget for dataset \"%s\", and the query would be refused",
								dp_asking_role(), dataset->name);

	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		foreach_ptr(const DpLedgerBalance, balance, balances)
			ExplainPropertyText("Budget", budget_line(balance, dataset, rho, es->verbose), es);
		if (balances == NIL)
			ExplainPropertyText("Budget", psprintf("none: %s", none), es);
		return;
	}
	ExplainOpenGroup("Budgets", "Budgets", false, es);
	foreach_ptr(const DpLedgerBalance, balance, balances)
		explain_budget(balance, dataset, rho, es);
	ExplainCloseGroup("Budgets", "Budgets", false, es);
	if (balances == NIL)
		ExplainPropertyText("Refused", none, es);
}

void
dp_notice_no_budget(const DpDataset *dataset)
{
	List	   *balances = dp_ledger_balances(dataset->name, NULL);

	if (balances == NIL)
		ereport(NOTICE,
				(errmsg("%s has no privacy budget for dataset \"%s\", and the query would be refused; the dataset's owner can give one with dp_cdp.set_budget",
						dp_asking_role(), dataset->name)));
	foreach_ptr(DpLedgerBalance, balance, balances)
	{
		if (dp_ledger_is_closed(balance->failures, dataset->max_failures))
			ereport(NOTICE,
					(errmsg("the budget of role \"%s\" for dataset \"%s\" is closed by %d failures until %s, or until the dataset's owner calls dp_cdp.reset_failures",
							GetUserNameFromId(balance->role, true), dataset->name, balance->failures,
							timestamptz_to_str(balance->failures_end))));
	}
}
