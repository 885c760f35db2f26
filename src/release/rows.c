/*-------------------------------------------------------------------------
 *
 * rows.c
 *	  The released rows of one execution.
 *
 * Rows are kept as they are handed out, arrays of values, while all columns are
 * passed by value and the rows fit into work_mem: forming tuples of a hundred thousand kept
 * answers, storing and reading them took a quarter of the time of giving them again.
 * All others lie in a tuplestore, which spills to disk.
 *
 * Invariant: positions are those of a tuplestore.  Behind the last row a step
 * back gives the last row; after another row it gives the one before that.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "release/rows.h"
#include "utils/tuplestore.h"

struct DpRows
{
	TupleDesc	desc;
	MemoryContext context;
	int			natts;
	int64		n;
	int64		room;
	Datum	   *values;			/* natts for each row */
	bool	   *nulls;
	Tuplestorestate *store;		/* NULL: rows are in values */
};

/* bytes that a value takes, and whether it is NULL */
#define BYTES_OF_VALUE (sizeof(Datum) + sizeof(bool))

static void
begin_store(DpRows *rows)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);

	rows->store = tuplestore_begin_heap(true, false, work_mem);
	MemoryContextSwitchTo(old);
}

DpRows *
dp_rows_begin(TupleDesc desc)
{
	DpRows	   *rows = palloc0(sizeof(DpRows));
	bool		by_value = desc->natts > 0;

	rows->desc = desc;
	rows->natts = desc->natts;
	rows->context = CurrentMemoryContext;
	for (int i = 0; i < desc->natts; i++)
		by_value = by_value && TupleDescAttr(desc, i)->attbyval;
	if (!by_value)
		begin_store(rows);
	return rows;
}

/* Makes room for another row, or moves all of them to a tuplestore. */
static void
make_room(DpRows *rows)
{
	int64		most = (int64) work_mem * 1024 / (rows->natts * BYTES_OF_VALUE);
	int64		room = Min(Max(2 * rows->room, 16), most);
	Size		count = (Size) room * rows->natts;

	if (room > rows->room)
	{
		rows->values = rows->values ? repalloc_huge(rows->values, count * sizeof(Datum))
			: MemoryContextAllocHuge(rows->context, count * sizeof(Datum));
		rows->nulls = rows->nulls ? repalloc_huge(rows->nulls, count * sizeof(bool))
			: MemoryContextAllocHuge(rows->context, count * sizeof(bool));
		rows->room = room;
		return;
	}
	begin_store(rows);
	for (int64 i = 0; i < rows->n; i++)
		tuplestore_putvalues(rows->store, rows->desc, rows->values + i * rows->natts, rows->nulls + i * rows->natts);
	if (rows->values)
	{
		pfree(rows->values);
		pfree(rows->nulls);
	}
}

void
dp_rows_put(DpRows *rows, const Datum *values, const bool *nulls)
{
	if (rows->store == NULL && rows->n >= rows->room)
		make_room(rows);
	if (rows->store != NULL)
	{
		tuplestore_putvalues(rows->store, rows->desc, unconstify(Datum *, values), unconstify(bool *, nulls));
		return;
	}
	for (int i = 0; i < rows->natts; i++)
	{
		rows->values[rows->n * rows->natts + i] = values[i];
		rows->nulls[rows->n * rows->natts + i] = nulls[i];
	}
	rows->n++;
}

bool
dp_rows_are_none(const DpRows *rows)
{
	return rows->store != NULL ? tuplestore_tuple_count(rows->store) == 0 : rows->n == 0;
}

/* Moves a reader of values one row on, or back; false where there is none. */
static bool
step(const DpRows *rows, DpRowsReader *reader, bool forward)
{
	if (forward)
	{
		reader->at_end = reader->next >= rows->n;
		reader->next += reader->at_end ? 0 : 1;
		return !reader->at_end;
	}
	if (reader->at_end)
		reader->at_end = false;
	else if (reader->next > 0)
		reader->next--;
	return reader->next > 0;
}

static void
begin_reading(DpRows *rows, DpRowsReader *reader)
{
	if (rows->store != NULL)
	{
		reader->pointer = tuplestore_alloc_read_pointer(rows->store, EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD);
		tuplestore_select_read_pointer(rows->store, reader->pointer);
		tuplestore_rescan(rows->store);
	}
	reader->has_begun = true;
}

bool
dp_rows_read(DpRows *rows, DpRowsReader *reader, bool forward, Datum **values, bool **nulls)
{
	if (!reader->has_begun)
		begin_reading(rows, reader);
	if (rows->store == NULL)
	{
		if (!step(rows, reader, forward))
			return false;
		*values = rows->values + (reader->next - 1) * rows->natts;
		*nulls = rows->nulls + (reader->next - 1) * rows->natts;
		return true;
	}
	tuplestore_select_read_pointer(rows->store, reader->pointer);
	if (!tuplestore_gettupleslot(rows->store, forward, false, reader->stored))
		return false;
	slot_getallattrs(reader->stored);
	*values = reader->stored->tts_values;
	*nulls = reader->stored->tts_isnull;
	return true;
}

void
dp_rows_rewind(DpRows *rows, DpRowsReader *reader)
{
	if (!reader->has_begun)
		return;
	reader->next = 0;
	reader->at_end = false;
	if (rows->store == NULL)
		return;
	tuplestore_select_read_pointer(rows->store, reader->pointer);
	tuplestore_rescan(rows->store);
}

void
dp_rows_end(DpRows *rows)
{
	if (rows->store != NULL)
		tuplestore_end(rows->store);
	else if (rows->values)
	{
		pfree(rows->values);
		pfree(rows->nulls);
	}
	pfree(rows);
}
