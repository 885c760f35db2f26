/*-------------------------------------------------------------------------
 *
 * charged.c
 *	  What a statement that ends in an error was charged.
 *
 * Errors of the release itself say it in their own words.  All others, a
 * timeout before the debit, a division by zero in what the query does with its
 * answers, a cancel while it sends them, come as PostgreSQL words them, and get
 * a clause behind: whoever asked has to know whether to ask again costs twice.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/amounts.h"
#include "base/errors.h"
#include "release/release_int.h"

char *
dp_charge_clause(const DpCharge *charged)
{
	char	   *amounts = psprintf("rho %s", dp_amount_text(charged->rho, DP_RHO_SCALE));

	if (charged->rho == 0 && charged->delta == 0)
		return "nothing was charged for it";
	if (charged->delta > 0)
		amounts = psprintf("%s, delta %.12g", amounts, (double) charged->delta / DP_DELTA_ONE);
	return psprintf("what it was charged (%s) stays charged", amounts);
}

char *
dp_failure_clause(int failures, int most)
{
	if (most == 0 && failures == 0)
		return "it counts as a failure";
	if (most == 0)
		return psprintf("it counts as failure %d in a day, of which none is allowed", failures);
	return psprintf("it counts as failure %d of at most %d in a day", failures, most);
}

/* Tells whether a message is one of those that say themselves what was charged. */
static bool
says_charge(const char *message)
{
	static const char *const phrases[] = {
		"stays charged", "nothing was charged", "charge was not made", "the charge stands", "the charge stays", "may be spent"
	};

	for (int i = 0; i < lengthof(phrases); i++)
		if (strstr(message, phrases[i]) != NULL)
			return true;
	return false;
}

/* Tells whether an error is a refusal of ours, before anything was charged. */
static bool
is_refusal(int sqlerrcode)
{
	return sqlerrcode == ERRCODE_DP_BUDGET_EXHAUSTED || sqlerrcode == ERRCODE_DP_NOT_RELEASABLE ||
		sqlerrcode == ERRCODE_DP_LEDGER_UNAVAILABLE || sqlerrcode == ERRCODE_DP_BAD_PARAMETER;
}

/* Raises the error that is being handled once more, with what the statement was charged. */
void
dp_charge_rethrow(MemoryContext context, const DpCharge *charged)
{
	ErrorData  *error;
	bool		free = charged->rho == 0 && charged->delta == 0;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	if (error->message == NULL || says_charge(error->message) || (free && is_refusal(error->sqlerrcode)))
		PG_RE_THROW();
	FlushErrorState();
	error->message = psprintf("%s; %s", error->message,
							  free ? "nothing was charged for the private query" :
							  psprintf("the private query failed, and %s", dp_charge_clause(charged)));
	ReThrowError(error);
}
