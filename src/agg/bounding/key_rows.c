/*-------------------------------------------------------------------------
 *
 * key_rows.c
 *	  Rows that a whole number names, in arrays.
 *
 * Columns are words in one array, row after row.  Keys that lie close together, as those of a serial do,
 * are looked up in an array of row numbers by what is left of them above the least; others by a hash.
 *
 * Invariants:
 *	- no two rows have the same key, and none has none;
 *	- columns are passed by value;
 *	- an array of numbers is at least half empty where it is one of hashes, so each search ends.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "agg/bounding/gather.h"
#include "agg/bounding/key_rows.h"

/* room for rows: so many, and a little more than the planner expects */
#define FIRST_ROWS 1024
#define EXPECTED 1.05

void
dp_key_rows_start(DpKeyRows *rows, MemoryContext parent, double expected)
{
	rows->context = AllocSetContextCreate(parent, "dp_cdp rows by key", ALLOCSET_DEFAULT_SIZES);
	rows->nrows = 0;
	rows->room = FIRST_ROWS + Min(expected * EXPECTED, DP_MOST_KEY_ROWS);
	rows->columns = MemoryContextAllocHuge(rows->context, rows->room * rows->ncolumns * sizeof(Datum));
	dp_advise_huge_pages(rows->columns, rows->room * rows->ncolumns * sizeof(Datum));
	rows->nulls = NULL;
	rows->places = NULL;
	rows->least = PG_INT64_MAX;
	rows->greatest = PG_INT64_MIN;
}

static void
make_room(DpKeyRows *rows)
{
	uint64		room = rows->room * 2;

	if (rows->nrows < rows->room)
		return;
	rows->columns = repalloc_huge(rows->columns, room * rows->ncolumns * sizeof(Datum));
	if (rows->nulls != NULL)
		rows->nulls = repalloc_huge(rows->nulls, room * sizeof(uint32));
	rows->room = room;
}

void
dp_key_rows_add(DpKeyRows *rows, const TupleTableSlot *row)
{
	uint32		nulls = 0;
	int64		key;

	if (row->tts_isnull[rows->key])
		return;
	if (rows->nrows >= DP_MOST_KEY_ROWS)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("too many rows to join by their key")));
	make_room(rows);
	memcpy(rows->columns + rows->nrows * rows->ncolumns, row->tts_values, rows->ncolumns * sizeof(Datum));
	for (int i = 0; i < rows->ncolumns; i++)
		nulls |= (uint32) row->tts_isnull[i] << i;
	if (nulls != 0 && rows->nulls == NULL)
		rows->nulls = MemoryContextAllocExtended(rows->context, rows->room * sizeof(uint32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	if (rows->nulls != NULL)
		rows->nulls[rows->nrows] = nulls;
	key = dp_key_of_row(rows, rows->nrows++);
	rows->least = Min(rows->least, key);
	rows->greatest = Max(rows->greatest, key);
}

DpKeyPlaces
dp_plan_places(uint64 nrows, int64 least, int64 greatest)
{
	DpKeyPlaces at = {.least = least};

	at.by_key = nrows > 0 && (uint64) greatest - (uint64) least < nrows * DP_PLACES_OF_ROW;
	if (at.by_key)
	{
		at.n = (uint64) greatest - (uint64) least + 1;
		return at;
	}
	at.n = 2;
	at.shift = 63;
	while (at.n < nrows * 2)
	{
		at.n *= 2;
		at.shift--;
	}
	return at;
}

void
dp_fill_places(DpKeyRows *rows, uint64 first, uint64 nrows)
{
	for (uint64 i = first; i < first + nrows; i++)
	{
		int64		key = dp_key_of_row(rows, i);
		uint64		place;
		uint32		none = 0;

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (rows->at.by_key)
		{
			pg_atomic_write_u32(&rows->places[(uint64) key - (uint64) rows->at.least], (uint32) (i + 1));
			continue;
		}
		/* others may be filling the same places */
		for (place = dp_first_place(&rows->at, key);
			 !pg_atomic_compare_exchange_u32(&rows->places[place], &none, (uint32) (i + 1)); none = 0)
			place = (place + 1) & (rows->at.n - 1);
	}
}

void
dp_key_rows_complete(DpKeyRows *rows)
{
	Size		size;

	rows->at = dp_plan_places(rows->nrows, rows->least, rows->greatest);
	size = rows->at.n * sizeof(pg_atomic_uint32);
	rows->places = memset(dp_alloc_large(rows->context, size), 0, size);
	dp_fill_places(rows, 0, rows->nrows);
}

void
dp_key_rows_forget(DpKeyRows *rows)
{
	if (rows->context != NULL)
		MemoryContextDelete(rows->context);
	rows->context = NULL;
	rows->places = NULL;
}
