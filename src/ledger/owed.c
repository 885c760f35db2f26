/*-------------------------------------------------------------------------
 *
 * owed.c
 *	  What each balance owes of a request, and what the log says of it.
 *
 * A balance that has paid for a kept answer before owes the difference
 * (kept.h): credits say what that leaves of an item.  So balances owe different
 * amounts, and an item has a row of the log for each amount, with the balances
 * that were debited it.  Who owes nothing is in none.
 *
 * Credits are the asking side's word.  What an answer adds to the dearest one
 * of its chain that a balance has paid for is computed here, and has to be
 * owed: so what a balance knows never exceeds what it has paid.
 *
 * The log has the same number as reuse_rho.  dp_cdp.spent_together() leaves it out.
 * For each chain it counts what the dearest of several balances knows.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "utils/array.h"

#include "ledger/batch.h"

DpRowRef *
dp_share_row(const DpShare *share, int i)
{
	return i < share->payer->nbudgets ? share->payer->budgets[i] : &share->dataset->cap;
}

DpBalance *
dp_share_balance(DpWork *work, const DpShare *share, int i)
{
	return dp_get_balance(work, share->dataset, dp_share_row(share, i));
}

DpShare *
dp_share_of(DpShare *shares, int n, const DpRequest *req, int item)
{
	const char *name = dp_request_string(req, req->items[item].dataset);

	for (int s = 0; s < n; s++)
	{
		if (strcmp(shares[s].dataset->name, name) == 0)
			return &shares[s];
	}
	return NULL;
}

/* what one balance owes of one item */
typedef struct Owed
{
	int64		rho;
	int64		delta;
	int64		reuse_rho;		/* of these, what answers add to what it knows */
	int64		reuse_delta;
} Owed;

/* Subtracts what the balance has paid already. */
static void
subtract_credits(Owed *owed, const DpExtraItem *extra, int64 ledger_id)
{
	for (int i = 0; i < extra->ncredits; i++)
	{
		if (extra->credits[i].ledger_id != ledger_id)
			continue;
		owed->rho -= Min(owed->rho, Max(extra->credits[i].rho, 0));
		owed->delta -= Min(owed->delta, Max(extra->credits[i].delta, 0));
	}
}

/* Adds what an answer tells a balance that knows its chain so far; pending: with what this request has bought. */
static void
add_answer(Owed *owed, const DpChain *chain, const DpKeptId *answer, int64 ledger_id)
{
	int64		rho;
	int64		delta;

	dp_refine_paid(chain, ledger_id, &rho, &delta);
	rho = Max(rho, chain->pending_rho);
	delta = Max(delta, chain->pending_delta);
	owed->reuse_rho += Max(answer->rho - rho, 0);
	owed->reuse_delta += Max(answer->delta - delta, 0);
}

static void
owe_item(DpWork *work, DpShare *share, const DpWireItem *item, const DpExtraItem *extra, Owed *owed)
{
	int			n = share->payer->nbudgets + 1;

	for (int b = 0; b < n; b++)
	{
		owed[b] = (Owed)
		{
			item->rho, item->delta, 0, 0
		};
		subtract_credits(&owed[b], extra, dp_share_balance(work, share, b)->ledger_id);
	}
	for (int a = 0; a < extra->nanswers; a++)
	{
		DpChain    *chain = dp_get_chain(work, &extra->answers[a]);

		for (int b = 0; b < n; b++)
			add_answer(&owed[b], chain, &extra->answers[a], dp_share_balance(work, share, b)->ledger_id);
		chain->pending_rho = Max(chain->pending_rho, extra->answers[a].rho);
		chain->pending_delta = Max(chain->pending_delta, extra->answers[a].delta);
	}
	for (int b = 0; b < n; b++)
	{
		if (owed[b].reuse_rho > owed[b].rho || owed[b].reuse_delta > owed[b].delta)
			elog(ERROR, "a debit claims that more was paid for kept answers than the ledger knows");
		share->rho[b] += owed[b].rho;
		share->delta[b] += owed[b].delta;
		if (share->debits != NULL)
			share->debits[b][share->ndebits] = (DpBlockDebit)
		{
			item->days, owed[b].rho, owed[b].delta
		};
	}
	share->ndebits++;
}

/* ---------------------------------------------------------------------
 * Rows of the log
 * ---------------------------------------------------------------------
 */

/* Returns the numbers of the balances that owe the same as one of them. */
static Datum
payers_of(DpWork *work, DpShare *share, const Owed *owed, int like)
{
	int			n = share->payer->nbudgets + 1;
	Datum	   *ids = palloc(n * sizeof(Datum));
	int			found = 0;

	for (int b = 0; b < n; b++)
	{
		if (memcmp(&owed[b], &owed[like], sizeof(Owed)) == 0)
			ids[found++] = Int64GetDatum(dp_share_balance(work, share, b)->ledger_id);
	}
	return PointerGetDatum(construct_array(ids, found, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

static bool
is_first_of_its_like(const Owed *owed, int b)
{
	for (int i = 0; i < b; i++)
	{
		if (memcmp(&owed[i], &owed[b], sizeof(Owed)) == 0)
			return false;
	}
	return true;
}

/* Adds a row of the log for each amount that balances owe. */
static List *
add_rows(List *rows, DpWork *work, DpShare *share, int item, bool is_kept, const Owed *owed)
{
	bool		first = true;

	for (int b = 0; b <= share->payer->nbudgets; b++)
	{
		DpLogRow   *row;

		if ((owed[b].rho == 0 && owed[b].delta == 0) || !is_first_of_its_like(owed, b))
			continue;
		row = palloc0(sizeof(DpLogRow));
		row->item = item;
		row->is_first = first;
		first = false;
		row->rho = owed[b].rho;
		row->delta = owed[b].delta;
		row->has_days = share->debits != NULL;
		row->is_kept = is_kept;
		row->reuse_rho = owed[b].reuse_rho;
		row->reuse_delta = owed[b].reuse_delta;
		row->paid_by = payers_of(work, share, owed, b);
		rows = lappend(rows, row);
	}
	return rows;
}

Datum
dp_share_payers(DpWork *work, DpShare *share)
{
	Owed	   *alike = palloc0((share->payer->nbudgets + 1) * sizeof(Owed));

	return payers_of(work, share, alike, 0);
}

void
dp_owe(DpWork *work, DpBatchRequest *request, const DpExtraItem *extra, DpShare *shares, int n)
{
	DpRequest  *req = request->req;

	foreach_ptr(DpChain, chain, work->chains)
	{
		chain->pending_rho = chain->pending_delta = 0;
	}
	for (int s = 0; s < n; s++)
	{
		shares[s].rho = palloc0((shares[s].payer->nbudgets + 1) * sizeof(int128));
		shares[s].delta = palloc0((shares[s].payer->nbudgets + 1) * sizeof(int128));
	}
	request->rows = NIL;
	for (int i = 0; i < req->nitems; i++)
	{
		DpShare    *share = dp_share_of(shares, n, req, i);
		Owed	   *owed = palloc((share->payer->nbudgets + 1) * sizeof(Owed));

		owe_item(work, share, &req->items[i], &extra[i], owed);
		request->rows = add_rows(request->rows, work, share, i, extra[i].nanswers > 0, owed);
		pfree(owed);
	}
}

/* ---------------------------------------------------------------------
 * Answers of a debit
 * ---------------------------------------------------------------------
 */

bool
dp_lock_answers(DpWork *work, const DpExtraItem *extra, int n)
{
	for (int i = 0; i < n; i++)
	{
		for (int a = 0; a < extra[i].nanswers; a++)
		{
			DpLink	   *link = dp_find_link(dp_get_chain(work, &extra[i].answers[a]), &extra[i].answers[a]);

			if (link != NULL && !dp_lock_link(work, link))
				return false;
		}
	}
	return true;
}

void
dp_mark_answers(DpWork *work, const DpRequest *req, const DpExtraItem *extra, DpShare *shares, int n)
{
	for (int i = 0; i < req->nitems; i++)
	{
		DpShare    *share = dp_share_of(shares, n, req, i);

		for (int a = 0; a < extra[i].nanswers; a++)
		{
			const DpKeptId *id = &extra[i].answers[a];
			DpChain    *chain = dp_get_chain(work, id);
			DpLink	   *link = dp_find_link(chain, id);
			DpBalance  *cap = dp_share_balance(work, share, share->payer->nbudgets);

			if (link == NULL)
			{
				link = dp_add_link(chain, id, share->dataset->name, cap->ledger_id, cap->reuse_dumped);
				link->has_days = share->debits != NULL;
				link->days = req->items[i].days;
			}
			for (int b = 0; b <= share->payer->nbudgets; b++)
				dp_note_payer(link, dp_share_balance(work, share, b)->ledger_id);
		}
	}
}

/* ---------------------------------------------------------------------
 * Values
 * ---------------------------------------------------------------------
 */

/* Tells whether a link holds these values already, as after a commit that nobody heard of. */
static bool
holds(DpWork *work, DpLink *link, struct varlena *values)
{
	bool		isnull;
	Datum		held = dp_column(&work->table[DP_T_KEPT], link->row, DP_KEPT_ANSWER, &isnull);
	bytea	   *bytes = isnull ? NULL : DatumGetByteaP(held);

	return bytes != NULL && VARSIZE(bytes) == VARSIZE(values) && memcmp(bytes, values, VARSIZE(values)) == 0;
}

/*
 * Takes the values of a request.  An answer that has ended, or has gone with
 * its dataset, was paid for and is given this once; there is nothing to be kept.
 * One that is too long ends here.  What they are an increment above was settled when they were drawn: since
 * the debit, which may be another session's, a cheaper answer may have been.
 */
DpOutcome
dp_keep(DpWork *work, DpBatchRequest *request)
{
	List	   *values = dp_extra_values(request);

	foreach_ptr(DpKeptValues, value, values)
	{
		DpLink	   *link = dp_find_link(dp_get_chain(work, &value->id), &value->id);

		if (link != NULL && !dp_lock_link(work, link))
			return DP_OUTCOME_LATER;
	}
	foreach_ptr(DpKeptValues, value, values)
	{
		DpLink	   *link = dp_find_link(dp_get_chain(work, &value->id), &value->id);

		if (link == NULL || link->ended)
			continue;
		if (value->values == NULL)
		{
			/*
			 * asked again it is bought again, and not drawn twice for one
			 * price
			 */
			if (link->has_values)
				elog(ERROR, "a kept answer has values already");
			link->ended = link->changed = true;
		}
		else if (!link->has_values)
		{
			/* the segment is detached before the row is written */
			link->values = palloc(VARSIZE(value->values));
			memcpy(link->values, value->values, VARSIZE(value->values));
			link->below = value->id.below;
			link->has_values = link->changed = true;
		}
		else if (link->values != NULL ? (VARSIZE(link->values) != VARSIZE(value->values) ||
										 memcmp(link->values, value->values, VARSIZE(value->values)) != 0) : !holds(work, link, value->values))
			elog(ERROR, "a kept answer has other values already");
	}
	return DP_OUTCOME_GRANT;
}
