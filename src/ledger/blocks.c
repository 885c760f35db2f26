/*-------------------------------------------------------------------------
 *
 * blocks.c
 *	  Balances of datasets with blocks of time: what was spent in each block.
 *
 * Such a balance is a function of the day, constant between the days at which
 * debits began or ended: its steps, rows of dp_cdp_internal.block_spent.  A debit over
 * some blocks adds to them alone, and fits if none of them would exceed the
 * limit.  What the balance's own row says is spent is the maximum: so much is
 * known of anybody's rows of one block.
 *
 * Invariants:
 *	- steps of a balance do not overlap, and between them nothing is spent;
 *	- they are read and written while the balance's row is locked, which whoever
 *	  else writes them locks first, too;
 *	- what the log says of a balance, row by row with its blocks, adds up to
 *	  its steps.
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
#include "executor/executor.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "base/amounts.h"
#include "base/extension.h"
#include "base/places.h"
#include "ledger/batch.h"

/* what was spent from a day on, until the next step */
typedef struct Step
{
	DpDays		days;
	int128		rho;
	int128		delta;
	bool		has_row;		/* at this place */
	ItemPointerData tid;
	bool		changed;
} Step;

struct DpSteps
{
	int			n;
	int			room;
	Step	   *steps;			/* by day, without overlaps */
	int			ngone;			/* rows of a period that is over */
	ItemPointerData *gone;
};

/* ---------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------
 */

/* Makes room for one more step at place i, and returns it. */
static Step *
insert_step(DpSteps *steps, int i)
{
	if (steps->n == steps->room)
	{
		steps->room = Max(16, 2 * steps->room);
		steps->steps = steps->steps == NULL ? palloc(steps->room * sizeof(Step))
			: repalloc(steps->steps, steps->room * sizeof(Step));
	}
	memmove(&steps->steps[i + 1], &steps->steps[i], (steps->n - i) * sizeof(Step));
	steps->n++;
	memset(&steps->steps[i], 0, sizeof(Step));
	return &steps->steps[i];
}

/* the table while it is read */
typedef struct Reading
{
	DpSteps    *steps;
	const AttrNumber *attnum;
} Reading;

static Datum
get_column(TupleTableSlot *row, AttrNumber attnum)
{
	bool		isnull;
	Datum		value = slot_getattr(row, attnum, &isnull);

	if (isnull)
		elog(ERROR, "a row of dp_cdp_internal.block_spent has a column that is NULL");
	return value;
}

static bool
add_row(TupleTableSlot *row, void *arg)
{
	Reading    *reading = arg;
	const AttrNumber *attnum = reading->attnum;
	Step	   *step = insert_step(reading->steps, reading->steps->n);

	step->days.from = DatumGetDateADT(get_column(row, attnum[DP_BLOCK_FROM]));
	step->days.to = DatumGetDateADT(get_column(row, attnum[DP_BLOCK_TO]));
	step->rho = dp_amount_floor(DatumGetNumeric(get_column(row, attnum[DP_BLOCK_RHO_SPENT])), DP_RHO_SCALE);
	step->delta = dp_amount_floor(DatumGetNumeric(get_column(row, attnum[DP_BLOCK_DELTA_SPENT])), DP_DELTA_SCALE);
	step->has_row = true;
	step->tid = row->tts_tid;
	return true;
}

static int
compare_steps(const void *a, const void *b)
{
	DateADT		x = ((const Step *) a)->days.from;
	DateADT		y = ((const Step *) b)->days.from;

	return x < y ? -1 : x > y ? 1 : 0;
}

/* Reads the steps of a balance, of a table whose columns have these numbers. */
static DpSteps *
read_steps(Relation rel, const AttrNumber *attnum, Snapshot snapshot, int64 ledger_id)
{
	DpSteps    *steps = palloc0(sizeof(DpSteps));
	Reading		reading = {steps, attnum};

	/* rows of hot blocks are updated all the time */
	dp_scan_newest(rel, psprintf(INT64_FORMAT, ledger_id), snapshot, add_row, &reading);
	if (steps->n == 0)
		return steps;
	qsort(steps->steps, steps->n, sizeof(Step), compare_steps);
	return steps;
}

/* Counts what was spent in a period that is over as 0; its rows go when something is spent anew. */
static void
begin_anew(DpSteps *steps)
{
	steps->gone = palloc(Max(steps->n, 1) * sizeof(ItemPointerData));
	for (int i = 0; i < steps->n; i++)
		steps->gone[steps->ngone++] = steps->steps[i].tid;
	steps->n = 0;
}

void
dp_blocks_load(DpWork *work, DpBalance *balance)
{
	DpOpenTable *table = &work->table[DP_T_BLOCKS];

	if (balance->steps != NULL)
		return;
	balance->steps = read_steps(table->rel, table->attnum, work->snapshot, balance->ledger_id);
	if (balance->renewed)
		begin_anew(balance->steps);
}

/* ---------------------------------------------------------------------
 * Adding up
 * ---------------------------------------------------------------------
 */

/* Cuts steps in two at a day, and fills the gaps between days, so that steps cover just these days; returns the first. */
static int
cover(DpSteps *steps, DpDays days)
{
	int			first;
	int			i;
	DateADT		at = days.from;

	for (int end = 0; end < 2; end++)
	{
		DateADT		day = end ? days.to : days.from;

		for (i = 0; i < steps->n; i++)
		{
			Step	   *step = &steps->steps[i];

			if (step->days.from < day && day < step->days.to)
			{
				Step		half = *step;

				step->days.to = day;
				step->changed = true;
				step = insert_step(steps, i + 1);
				*step = half;
				step->days.from = day;
				step->has_row = false;
				step->changed = true;
				break;
			}
		}
	}
	for (first = 0; first < steps->n && steps->steps[first].days.from < days.from; first++)
		;
	for (i = first; at < days.to; i++)
	{
		DateADT		next = i < steps->n ? Min(steps->steps[i].days.from, days.to) : days.to;

		if (at < next)
		{
			Step	   *step = insert_step(steps, i);

			step->days = (DpDays)
			{
				at, next
			};
			step->changed = true;
		}
		at = steps->steps[i].days.to;
	}
	return first;
}

static void
add(DpSteps *steps, const DpBlockDebit *debit)
{
	for (int i = cover(steps, debit->days); i < steps->n && steps->steps[i].days.from < debit->days.to; i++)
	{
		steps->steps[i].rho += debit->rho;
		steps->steps[i].delta += debit->delta;
		steps->steps[i].changed = true;
	}
}

static DpSteps *
copy_steps(const DpSteps *steps)
{
	DpSteps    *copy = palloc(sizeof(DpSteps));

	*copy = *steps;
	copy->room = Max(steps->n, 1);
	copy->steps = palloc(copy->room * sizeof(Step));
	memcpy(copy->steps, steps->steps, steps->n * sizeof(Step));
	return copy;
}

/* Tells whether any of the debits is over this step. */
static bool
is_debited(const Step *step, const DpBlockDebit *debits, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (step->days.from < debits[i].days.to && debits[i].days.from < step->days.to &&
			(debits[i].rho != 0 || debits[i].delta != 0))
			return true;
	}
	return false;
}

DpReason
dp_blocks_short(const DpBalance *balance, const DpBlockDebit *debits, int n, DpReply *reply)
{
	DpSteps    *after = copy_steps(balance->steps);
	DpReason	reason = DP_REASON_NONE;

	for (int i = 0; i < n; i++)
		add(after, &debits[i]);
	for (int i = 0; i < after->n && reason == DP_REASON_NONE; i++)
	{
		const Step *step = &after->steps[i];
		int128		rho = 0;
		int128		delta = 0;

		if (!is_debited(step, debits, n))
			continue;
		for (int d = 0; d < n; d++)
		{
			if (debits[d].days.from <= step->days.from && step->days.to <= debits[d].days.to)
			{
				rho += debits[d].rho;
				delta += debits[d].delta;
			}
		}
		if (step->rho > balance->rho_most && rho > 0)
		{
			reason = DP_REASON_RHO;
			reply->asked = rho;
			reply->remaining = balance->rho_most - (step->rho - rho);
		}
		else if (step->delta > balance->delta_most && delta > 0)
		{
			reason = DP_REASON_DELTA;
			reply->asked = delta;
			reply->remaining = balance->delta_most - (step->delta - delta);
		}
		reply->has_block = reason != DP_REASON_NONE;
		reply->block = step->days;
	}
	pfree(after->steps);
	pfree(after);
	return reason;
}

int128
dp_blocks_least(const DpBalance *balance)
{
	DpSteps    *all = copy_steps(balance->steps);
	int128		least;

	(void) cover(all, DP_ALL_DAYS);
	least = all->steps[0].rho;
	for (int i = 1; i < all->n; i++)
		least = Min(least, all->steps[i].rho);
	return least;
}

/* Returns what is spent in the block with the most. */
static int128
most(const DpSteps *steps, bool delta)
{
	int128		result = 0;

	for (int i = 0; i < steps->n; i++)
		result = Max(result, delta ? steps->steps[i].delta : steps->steps[i].rho);
	return result;
}

void
dp_blocks_take(DpBalance *balance, const DpBlockDebit *debits, int n)
{
	int128		rho = most(balance->steps, false);
	int128		delta = most(balance->steps, true);

	for (int i = 0; i < n; i++)
		add(balance->steps, &debits[i]);
	/* the balance's row has the maximum */
	balance->rho_taken += most(balance->steps, false) - rho;
	balance->delta_taken += most(balance->steps, true) - delta;
	balance->blocks_taken = true;
}

/* ---------------------------------------------------------------------
 * Writing
 * ---------------------------------------------------------------------
 */

static void
write_step(DpWork *work, DpOpenTable *table, const DpBalance *balance, Step *step)
{
	TupleTableSlot *row = table_slot_create(table->rel, NULL);

	ExecClearTuple(row);
	memset(row->tts_isnull, true, RelationGetDescr(table->rel)->natts * sizeof(bool));
	dp_set_column(table, row, DP_BLOCK_LEDGER_ID, Int64GetDatum(balance->ledger_id));
	dp_set_column(table, row, DP_BLOCK_FROM, DateADTGetDatum(step->days.from));
	dp_set_column(table, row, DP_BLOCK_TO, DateADTGetDatum(step->days.to));
	dp_set_column(table, row, DP_BLOCK_RHO_SPENT, NumericGetDatum(dp_amount_numeric(step->rho, DP_RHO_SCALE)));
	dp_set_column(table, row, DP_BLOCK_DELTA_SPENT, NumericGetDatum(dp_amount_numeric(step->delta, DP_DELTA_SCALE)));
	ExecStoreVirtualTuple(row);
	if (step->has_row)
		dp_update_locked_row(table->rri, work->estate, work->snapshot, &step->tid, row);
	else
	{
		simple_table_tuple_insert(table->rel, row);
		dp_insert_index_tuples(table->rri, row, work->estate, false, false);
	}
	ResetPerTupleExprContext(work->estate);
	ExecDropSingleTupleTableSlot(row);
}

void
dp_blocks_write(DpWork *work, DpBalance *balance)
{
	DpOpenTable *table = &work->table[DP_T_BLOCKS];
	DpSteps    *steps = balance->steps;

	if (steps == NULL || !balance->blocks_taken)
		return;
	for (int i = 0; i < steps->ngone; i++)
		simple_table_tuple_delete(table->rel, &steps->gone[i], work->snapshot);
	for (int i = 0; i < steps->n; i++)
	{
		if (steps->steps[i].changed)
			write_step(work, table, balance, &steps->steps[i]);
	}
}

/* ---------------------------------------------------------------------
 * For who asks before a debit
 * ---------------------------------------------------------------------
 */

Numeric
dp_blocks_spent(int64 ledger_id, Snapshot snapshot, DpDays days)
{
	Oid			relid = dp_own_table("block_spent");
	AttrNumber	attnum[DP_BLOCK_NCOLS];
	Relation	rel;
	DpSteps    *steps;
	int128		spent = 0;

	if (!OidIsValid(relid))
		return int64_to_numeric(0);
	rel = table_open(relid, AccessShareLock);
	for (int i = 0; i < DP_BLOCK_NCOLS; i++)
		attnum[i] = get_attnum(relid, dp_block_columns[i]);
	steps = read_steps(rel, attnum, snapshot, ledger_id);
	table_close(rel, AccessShareLock);
	for (int i = 0; i < steps->n; i++)
	{
		if (steps->steps[i].days.from < days.to && days.from < steps->steps[i].days.to)
			spent = Max(spent, steps->steps[i].rho);
	}
	return dp_amount_numeric(spent, DP_RHO_SCALE);
}
