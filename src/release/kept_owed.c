/*-------------------------------------------------------------------------
 *
 * kept_owed.c
 *	  What is owed for what is shown of kept answers, by which balance.
 *
 * A balance owes of a column the difference between the price of what is shown and
 * that of the dearest answer of its chain that it has paid for (kept_choice.c).
 *
 * Invariant: nothing is shown as free that some budget of the payer has not paid
 * in full.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "release/kept_int.h"

/* Returns what a balance has paid of the price of what is shown: all of it where another column of the statement pays. */
static int64
has_paid(const DpKeptColumn *column, int64 balance)
{
	return column->duplicate != NULL ? column->id.rho : Min(dp_paid_for(column->chain, balance), column->id.rho);
}

/* Sets the prices and the noise of what is shown. */
void
dp_kept_settle(DpKept *kept)
{
	for (DpBefore b = 0; b < DP_BEFORES; b++)
		if (kept->before[b] != NULL)
			dp_kept_settle(kept->before[b]);
	for (int i = 0; i < kept->ncolumns; i++)
	{
		DpPricedColumn *column = &kept->priced->columns[i];

		column->is_given = kept->columns[i].how != DP_KEPT_BOUGHT;
		column->is_derived = kept->columns[i].how == DP_KEPT_DERIVED;
		column->is_wider = kept->columns[i].is_wider;
		column->is_duplicate = kept->columns[i].how == DP_KEPT_DUPLICATE;
		column->reused_since = kept->columns[i].chain != NIL ? kept->columns[i].id.began : 0;
		column->charged = 0;
		for (int j = 0; j < kept->nbudgets; j++)
		{
			int64		paid = has_paid(&kept->columns[i], kept->balances[j]);

			column->charged = Max(column->charged, kept->columns[i].id.rho - paid);
		}
		if (kept->columns[i].id.rho != column->rho)
			dp_price_again(kept->priced, i, kept->columns[i].id.rho);
	}
	kept->priced->charged_delta = dp_kept_owed(kept).delta;
}

bool
dp_kept_column_is_free(const DpKept *kept, int i)
{
	const DpKeptColumn *column = &kept->columns[i];

	if (kept->nbudgets == 0 || column->how != DP_KEPT_GIVEN)
		return false;
	for (int j = 0; j < kept->nbudgets; j++)
	{
		if (dp_paid_for(column->chain, kept->balances[j]) < column->id.rho)
			return false;
	}
	return true;
}

bool
dp_kept_is_free(const DpKept *kept)
{
	if (kept->nbudgets == 0)
		return false;
	for (DpBefore b = 0; b < DP_BEFORES; b++)
		if (kept->before[b] != NULL && !dp_kept_is_free(kept->before[b]))
			return false;
	for (int i = 0; i < kept->ncolumns; i++)
	{
		if (!dp_kept_column_is_free(kept, i))
			return false;
	}
	return true;
}

bool
dp_kept_needs_rows(const DpKept *kept)
{
	for (int i = 0; i < kept->ncolumns; i++)
	{
		if (kept->columns[i].how == DP_KEPT_BOUGHT)
			return true;
	}
	return false;
}

List *
dp_kept_locks(const DpKept *kept)
{
	List	   *fingerprints = NIL;

	for (DpBefore b = 0; b < DP_BEFORES; b++)
		if (kept->before[b] != NULL)
			fingerprints = list_concat(fingerprints, dp_kept_locks(kept->before[b]));
	/* the questions of the other columns follow from which selection is shown */
	if (kept->selection >= 0)
		return lappend(fingerprints, kept->columns[kept->selection].fingerprint);
	for (int i = 0; i < kept->ncolumns; i++)
		fingerprints = lappend(fingerprints, kept->columns[i].fingerprint);
	return fingerprints;
}

void
dp_kept_add_credits(const DpKept *kept, DpDebitItem *item)
{
	for (int j = 0; j <= kept->nbudgets; j++)
	{
		DpCredit   *credit = palloc0(sizeof(DpCredit));

		credit->ledger_id = kept->balances[j];
		for (int i = 0; i < kept->ncolumns; i++)
		{
			const DpKeptColumn *column = &kept->columns[i];
			int64		paid = has_paid(column, credit->ledger_id);

			credit->rho += paid;
			if (i == kept->selection && paid > 0)
				credit->delta = item->delta;
		}
		if (credit->rho > 0)
			item->credits = lappend(item->credits, credit);
	}
	for (int i = 0; i < kept->ncolumns; i++)
		item->answers = lappend(item->answers, &kept->columns[i].id);
}

DpCharge
dp_kept_owed(const DpKept *kept)
{
	DpCharge	most = {0, 0};

	for (int j = 0; j < kept->nbudgets; j++)
	{
		DpCharge	owed = {0, 0};

		for (int i = 0; i < kept->ncolumns; i++)
		{
			const DpKeptColumn *column = &kept->columns[i];
			int64		paid = has_paid(column, kept->balances[j]);

			owed.rho += Max(column->id.rho - paid, 0);
			if (i == kept->selection && paid == 0)
				owed.delta = column->id.delta;
		}
		most.rho = Max(most.rho, owed.rho);
		most.delta = Max(most.delta, owed.delta);
	}
	return most;
}

void
dp_kept_note_use(const DpKept *kept)
{
	if (kept == NULL)
		return;
	for (DpBefore b = 0; b < DP_BEFORES; b++)
		dp_kept_note_use(kept->before[b]);
	for (int i = 0; i < kept->ncolumns; i++)
	{
		if (kept->columns[i].how == DP_KEPT_GIVEN)
			dp_kept_used(&kept->columns[i].id);
	}
}
