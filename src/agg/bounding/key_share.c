/*-------------------------------------------------------------------------
 *
 * key_share.c
 *	  Several processes read rows that a whole number names together.
 *
 * Each reads its part of the rows into arrays of its own.  When all have done so one of them makes arrays for
 * all rows, each copies its own there and writes their places, and from then on all of them find all rows.
 *
 * Invariants:
 *	- a process waits only before it has returned its first row, for others that do the same: none of these waits
 *	  for anybody to read what it has to say;
 *	- whoever comes when rows have been read has none of its own, and waits for the places;
 *	- the arrays go with the shared memory.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/barrier.h"
#include "storage/spin.h"
#include "utils/wait_event.h"

#include "agg/bounding/key_rows.h"

/* phases of the barrier */
#define READING 0
#define PLANNING 1
#define FILLING 2

struct DpKeyShare
{
	Barrier		barrier;
	slock_t		lock;			/* of what follows, while rows are read */
	uint64		nrows;
	int64		least;			/* of their keys */
	int64		greatest;
	bool		has_nulls;
	/* written by one process while all others wait */
	DpKeyPlaces at;
	dsa_pointer columns;
	dsa_pointer nulls;
	dsa_pointer places;
};

Size
dp_key_share_size(void)
{
	return sizeof(DpKeyShare);
}

static void
empty(DpKeyShare *share)
{
	BarrierInit(&share->barrier, 0);
	share->nrows = 0;
	share->least = PG_INT64_MAX;
	share->greatest = PG_INT64_MIN;
	share->has_nulls = false;
	share->columns = share->nulls = share->places = InvalidDsaPointer;
}

void
dp_key_share_init(DpKeyShare *share)
{
	memset(share, 0, sizeof(DpKeyShare));
	SpinLockInit(&share->lock);
	empty(share);
}

void
dp_key_share_reset(DpKeyShare *share, dsa_area *dsa)
{
	dsa_pointer arrays[] = {share->columns, share->nulls, share->places};

	for (int i = 0; i < lengthof(arrays); i++)
		if (DsaPointerIsValid(arrays[i]))
			dsa_free(dsa, arrays[i]);
	empty(share);
}

bool
dp_key_share_enter(DpKeyShare *share)
{
	return BarrierAttach(&share->barrier) == READING;
}

/* Counts the rows that this process has read; returns how many others had before. */
static uint64
count_rows(DpKeyShare *share, const DpKeyRows *rows)
{
	uint64		first;

	SpinLockAcquire(&share->lock);
	first = share->nrows;
	share->nrows += rows->nrows;
	share->least = Min(share->least, rows->least);
	share->greatest = Max(share->greatest, rows->greatest);
	share->has_nulls |= rows->nulls != NULL;
	SpinLockRelease(&share->lock);
	return first;
}

/* Makes the arrays of all rows, without any in it. */
static void
make_arrays(DpKeyShare *share, dsa_area *dsa, const DpKeyRows *rows)
{
	if (share->nrows > DP_MOST_KEY_ROWS)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("too many rows to join by their key")));
	share->at = dp_plan_places(share->nrows, share->least, share->greatest);
	share->columns = dsa_allocate_extended(dsa, Max(share->nrows, 1) * rows->ncolumns * sizeof(Datum), DSA_ALLOC_HUGE);
	if (share->has_nulls)
		share->nulls = dsa_allocate_extended(dsa, share->nrows * sizeof(uint32), DSA_ALLOC_HUGE | DSA_ALLOC_ZERO);
	share->places = dsa_allocate_extended(dsa, share->at.n * sizeof(pg_atomic_uint32), DSA_ALLOC_HUGE | DSA_ALLOC_ZERO);
}

/* Lets go of a process's own arrays, and has it use those of all. */
static void
use_arrays(DpKeyShare *share, dsa_area *dsa, DpKeyRows *rows)
{
	dp_key_rows_forget(rows);
	rows->nrows = share->nrows;
	rows->at = share->at;
	rows->columns = dsa_get_address(dsa, share->columns);
	rows->nulls = DsaPointerIsValid(share->nulls) ? dsa_get_address(dsa, share->nulls) : NULL;
	rows->places = dsa_get_address(dsa, share->places);
}

/* Adds a process's own rows to those of all. */
static void
copy_rows(DpKeyShare *share, dsa_area *dsa, DpKeyRows *rows, uint64 first)
{
	uint64		nrows = rows->nrows;
	Datum	   *columns = dsa_get_address(dsa, share->columns);

	memcpy(columns + first * rows->ncolumns, rows->columns, nrows * rows->ncolumns * sizeof(Datum));
	if (rows->nulls != NULL)
		memcpy((uint32 *) dsa_get_address(dsa, share->nulls) + first, rows->nulls, nrows * sizeof(uint32));
	use_arrays(share, dsa, rows);
	dp_fill_places(rows, first, nrows);
}

void
dp_key_share_complete(DpKeyShare *share, dsa_area *dsa, DpKeyRows *rows)
{
	bool		has_read = rows->context != NULL;
	uint64		first = has_read ? count_rows(share, rows) : 0;
	int			phase = BarrierPhase(&share->barrier);

	if (phase == READING && BarrierArriveAndWait(&share->barrier, PG_WAIT_EXTENSION))
		make_arrays(share, dsa, rows);
	if (phase <= PLANNING)
		BarrierArriveAndWait(&share->barrier, PG_WAIT_EXTENSION);
	if (phase <= FILLING)
	{
		if (has_read)
			copy_rows(share, dsa, rows, first);
		BarrierArriveAndWait(&share->barrier, PG_WAIT_EXTENSION);
	}
	BarrierDetach(&share->barrier);
	use_arrays(share, dsa, rows);
}
