/*-------------------------------------------------------------------------
 *
 * input_columns.h
 *	  Columns of the input that are read together, each by itself where that is faster.
 *
 * Included by fields.h.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_INPUT_COLUMNS_H
#define DP_INPUT_COLUMNS_H

#include "access/tupmacs.h"
#include "executor/tuptable.h"

/* so many columns are read of a row one by one, at most */
#define DP_MAX_COLUMNS 8

typedef struct DpColumn
{
	AttrNumber	attno;
	int16		len;
	bool		byval;
	int			at;				/* behind the header of a row without NULL */
} DpColumn;

/* columns of the input that are read together */
typedef struct DpColumns
{
	AttrNumber	last;
	int			n;				/* 0: all up to the last one are read */
	bool		many;			/* more than there is room for */
	DpColumn	column[DP_MAX_COLUMNS];
} DpColumns;

extern void dp_columns_add(DpColumns *columns, AttrNumber attno);
extern void dp_columns_place(DpColumns *columns, TupleDesc desc);

/*
 * Reads columns of a row, each by itself where rows that have no NULL have it at the same place: to read all before it, too,
 * takes longer than to gather the row.  Whoever reads others of the slot later has them all read.
 */
static pg_attribute_always_inline void
dp_columns_read(TupleTableSlot *slot, const DpColumns *columns)
{
	Datum	   *values = slot->tts_values;
	bool	   *isnull = slot->tts_isnull;
	HeapTuple	tuple;
	const char *data;

	if (columns->n == 0 || slot->tts_nvalid > 0 || !TTS_IS_BUFFERTUPLE(slot) ||
		(tuple = ((BufferHeapTupleTableSlot *) slot)->base.tuple, !HeapTupleNoNulls(tuple)) ||
		HeapTupleHeaderGetNatts(tuple->t_data) < columns->last)
	{
		slot_getsomeattrs(slot, columns->last);
		return;
	}
	data = (const char *) tuple->t_data + tuple->t_data->t_hoff;
	for (const DpColumn *column = columns->column; column < columns->column + columns->n; column++)
	{
		values[column->attno - 1] = fetch_att(data + column->at, column->byval, column->len);
		isnull[column->attno - 1] = false;
	}
}

#endif							/* DP_INPUT_COLUMNS_H */
