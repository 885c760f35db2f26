/*-------------------------------------------------------------------------
 *
 * key_rows.h
 *	  Rows that a whole number names, in arrays.
 *
 * Private to src/agg.  See key_rows.c and key_share.c.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_KEY_ROWS_H
#define DP_KEY_ROWS_H

#include "executor/tuptable.h"
#include "port/atomics.h"
#include "utils/dsa.h"

/* columns of a row, at most: a bit tells of each whether it is NULL */
#define DP_KEY_ROW_COLUMNS 32

/* an array of row numbers has at most so many places for each row */
#define DP_PLACES_OF_ROW 4

/* numbers of rows have 32 bits, and 0 is none */
#define DP_MOST_KEY_ROWS (PG_UINT32_MAX - 1)

/* how rows are found: by key - least, or by a hash of their keys */
typedef struct DpKeyPlaces
{
	bool		by_key;
	int64		least;
	uint64		n;
	int			shift;			/* of hashes */
} DpKeyPlaces;

typedef struct DpKeyRows
{
	MemoryContext context;		/* of the arrays; NULL: there are none, or
								 * others share them */
	int			ncolumns;
	int			key;			/* column, from 0 on */
	int16		typlen;			/* of its type */
	uint64		nrows;
	uint64		room;			/* for rows */
	Datum	   *columns;		/* ncolumns for each row, the key among them */
	uint32	   *nulls;			/* bits of them; NULL: there are none */
	int64		least;			/* of the keys */
	int64		greatest;
	DpKeyPlaces at;
	pg_atomic_uint32 *places;	/* numbers of rows, from 1 on; NULL: not
								 * complete */
} DpKeyRows;

/* key_rows.c */

/* Makes room for about so many rows, in a context below parent. */
extern void dp_key_rows_start(DpKeyRows *rows, MemoryContext parent, double expected);

/* Keeps a row whose columns are there; not one without a key. */
extern void dp_key_rows_add(DpKeyRows *rows, const TupleTableSlot *row);

/* Makes all rows that were kept ready to be found. */
extern void dp_key_rows_complete(DpKeyRows *rows);
extern void dp_key_rows_forget(DpKeyRows *rows);

/* Decides where so many rows are looked for, whose keys lie between two. */
extern DpKeyPlaces dp_plan_places(uint64 nrows, int64 least, int64 greatest);

/* Writes numbers of rows from first + 1 on, which are here from number first on, into their places. */
extern void dp_fill_places(DpKeyRows *rows, uint64 first, uint64 nrows);

/* key_share.c: processes read rows together */
typedef struct DpKeyShare DpKeyShare;

extern Size dp_key_share_size(void);
extern void dp_key_share_init(DpKeyShare *share);

/* Makes ready for a rescan: nobody else is attached. */
extern void dp_key_share_reset(DpKeyShare *share, dsa_area *dsa);

/* Attaches this process; returns whether it is to read its part of the rows. */
extern bool dp_key_share_enter(DpKeyShare *share);

/* Puts the rows together that each has read, where it has, waits for all of them, and detaches. */
extern void dp_key_share_complete(DpKeyShare *share, dsa_area *dsa, DpKeyRows *rows);

static inline int64
dp_whole_number(Datum value, int16 typlen)
{
	switch (typlen)
	{
		case sizeof(int16):
			return DatumGetInt16(value);
		case sizeof(int32):
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

/* Returns the key of a row. */
static inline int64
dp_key_of_row(const DpKeyRows *rows, uint64 row)
{
	return dp_whole_number(rows->columns[row * rows->ncolumns + rows->key], rows->typlen);
}

static inline uint64
dp_first_place(const DpKeyPlaces *at, int64 key)
{
	uint64		product = (uint64) key * UINT64CONST(0x9E3779B97F4A7C15);

	/*
	 * keys in even steps, or of two numbers in one, would lie in heaps by a
	 * product alone
	 */
	return ((product ^ product >> 32) * UINT64CONST(0x9E3779B97F4A7C15)) >> at->shift;
}

/* Returns the number of the row that has a key, from 1 on; 0: there is none. */
static inline uint64
dp_find_key_row(DpKeyRows *rows, int64 key)
{
	uint64		place;
	uint32		row;

	if (rows->at.by_key)
	{
		place = (uint64) key - (uint64) rows->at.least;
		return place < rows->at.n ? pg_atomic_read_u32(&rows->places[place]) : 0;
	}
	for (place = dp_first_place(&rows->at, key); (row = pg_atomic_read_u32(&rows->places[place])) != 0;
		 place = (place + 1) & (rows->at.n - 1))
		if (dp_key_of_row(rows, row - 1) == key)
			return row;
	return 0;
}

#endif							/* DP_KEY_ROWS_H */
