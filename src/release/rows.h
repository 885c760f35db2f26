/*-------------------------------------------------------------------------
 *
 * rows.h
 *	  The released rows of one execution: written once, read as often as the
 *	  outer plan wants, in either direction.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_ROWS_H
#define DP_ROWS_H

#include "executor/tuptable.h"

typedef struct DpRows DpRows;

/* where somebody reads; all zero before the first row */
typedef struct DpRowsReader
{
	bool		has_begun;
	bool		at_end;			/* behind the last row */
	int64		next;			/* the row that is read next, forwards */
	int			pointer;		/* into a tuplestore */
	TupleTableSlot *stored;		/* for a row of a tuplestore; the reader's own */
} DpRowsReader;

/* Begins rows of this type, which is not copied, in the current context. */
extern DpRows *dp_rows_begin(TupleDesc desc);

/* Adds a row, of which nothing is kept but a copy; before anything is read. */
extern void dp_rows_put(DpRows *rows, const Datum *values, const bool *nulls);

extern bool dp_rows_are_none(const DpRows *rows);

/*
 * Reads the next row, or the one before, as a tuplestore does.  values and nulls point to it until the
 * reader, whose stored has been set to a slot of minimal tuples, reads again.
 */
extern bool dp_rows_read(DpRows *rows, DpRowsReader *reader, bool forward, Datum **values, bool **nulls);

/* Has a reader begin anew. */
extern void dp_rows_rewind(DpRows *rows, DpRowsReader *reader);

extern void dp_rows_end(DpRows *rows);

#endif							/* DP_ROWS_H */
