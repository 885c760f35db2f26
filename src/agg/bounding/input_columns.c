/*-------------------------------------------------------------------------
 *
 * input_columns.c
 *	  Where rows of a table have the columns that are read of all of them.
 *
 * Invariants:
 *	- a place is that of the column in each row without NULL that has so many columns: all before it are of fixed length;
 *	- columns are known before the first row is read.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "agg/bounding/input_columns.h"

void
dp_columns_add(DpColumns *columns, AttrNumber attno)
{
	columns->last = Max(columns->last, attno);
	for (int i = 0; i < columns->n; i++)
		if (columns->column[i].attno == attno)
			return;
	columns->many |= columns->n == DP_MAX_COLUMNS;
	if (!columns->many)
		columns->column[columns->n++].attno = attno;
}

/* Finds out where a row has the columns, of which all are known now; where one varies they are read as all rows are. */
void
dp_columns_place(DpColumns *columns, TupleDesc desc)
{
	int			at = 0;

	if (columns->many)
		columns->n = 0;
	for (int a = 0; a < columns->last; a++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, a);

		if (att->attlen <= 0)
		{
			columns->n = 0;
			return;
		}
		at = att_align_nominal(at, att->attalign);
		for (int i = 0; i < columns->n; i++)
			if (columns->column[i].attno == a + 1)
				columns->column[i] = (DpColumn)
			{
				a + 1, att->attlen, att->attbyval, at
			};
		at += att->attlen;
	}
}
