/*-------------------------------------------------------------------------
 *
 * known_columns.c
 *	  What a backend remembers of the labels of protected columns: bounds, and
 *	  declared keys as values.
 *
 * A label may list a hundred thousand keys, and each query that is sent as text
 * asks for them when it is planned; reading the list takes longer than giving
 * an answer that is kept.
 *
 * Invariants:
 *	- what is remembered follows from the label of the column and from its type,
 *	  and from nothing else: neither from who asks nor from settings nor from rows.  So
 *	  keys are remembered only of built-in types whose input function is
 *	  immutable: no enum, whose labels may be renamed, and no date.
 *	- it lies with the entry of its relation in cache.c, and is forgotten with it:
 *	  each change of a label or of a column invalidates that.
 *	- what was handed out stays valid until the end of the transaction.
 *	- values of all relations together take no more than MOST_KNOWN; what does
 *	  not fit is read anew each time.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "base/compat.h"
#include "catalog/pg_proc.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "policy/policy_int.h"

/* bytes that a backend remembers of keys */
#define MOST_KNOWN ((Size) 32 * 1024 * 1024)

static Size all_known = 0;

void
dp_forget_known_columns(DpKnownColumns *columns)
{
	if (columns->context != NULL)
		MemoryContextDelete(columns->context);
	all_known -= columns->bytes;
	memset(columns, 0, sizeof(DpKnownColumns));
}

DpKnownColumn *
dp_known_column(const DpKnownColumns *columns, AttrNumber attnum)
{
	foreach_ptr(DpKnownColumn, item, columns ? columns->list : NIL)
	{
		if (item->attnum == attnum)
			return item;
	}
	return NULL;
}

static Numeric
copy_number(Numeric number)
{
	return number ? DatumGetNumericCopy(NumericGetDatum(number)) : NULL;
}

/* Returns a copy of what a label says but for the keys that it lists. */
static DpLabel *
copy_label(const DpLabel *label)
{
	DpLabel    *copy = palloc(sizeof(DpLabel));

	*copy = *label;
	copy->lower = copy_number(label->lower);
	copy->upper = copy_number(label->upper);
	copy->total_lower = copy_number(label->total_lower);
	copy->total_upper = copy_number(label->total_upper);
	copy->first = label->first ? pstrdup(label->first) : NULL;
	copy->last = label->last ? pstrdup(label->last) : NULL;
	copy->keys = NULL;
	copy->nkeys = 0;
	return copy;
}

void
dp_know_label(DpKnownColumns *columns, AttrNumber attnum, const DpLabel *label)
{
	MemoryContext caller;
	DpKnownColumn *known;

	if (columns->context == NULL)
		columns->context = AllocSetContextCreate(CacheMemoryContext, "dp_cdp policy of columns", ALLOCSET_SMALL_SIZES);
	caller = MemoryContextSwitchTo(columns->context);
	known = palloc0(sizeof(DpKnownColumn));
	known->attnum = attnum;
	known->label = label ? copy_label(label) : NULL;
	columns->list = lappend(columns->list, known);
	MemoryContextSwitchTo(caller);
}

/* Tells whether the values of a type follow from their text alone. */
static bool
text_is_value(Oid type)
{
	Oid			input;
	Oid			ioparam;

	if (type >= FirstGenbkiObjectId)
		return false;
	getTypeInputInfo(type, &input, &ioparam);
	return func_volatile(input) == PROVOLATILE_IMMUTABLE;
}

/* Returns how many bytes the keys of a column take here. */
static Size
bytes_of_keys(const DpColumn *column, const DpColumnInfo *info)
{
	Size		bytes = column->nkeys * sizeof(Datum);

	/* with what an allocation takes */
	for (int i = 0; i < column->nkeys && !info->typbyval; i++)
		bytes += MAXALIGN(datumGetSize(column->keys[i], false, info->typlen)) + 2 * MAXIMUM_ALIGNOF;
	return bytes;
}

void
dp_know_keys(DpKnownColumns *columns, DpKnownColumn *known, const DpColumn *column, const DpColumnInfo *info, int64 memory)
{
	MemoryContext caller;
	Size		bytes;
	Datum	   *keys;

	if (known->has_keys || !column->has_keys || !text_is_value(info->type))
		return;
	bytes = bytes_of_keys(column, info);
	if (bytes > MOST_KNOWN - Min(all_known, MOST_KNOWN))
		return;

	/*
	 * counted before anything is allocated: an error must not lose track of
	 * it
	 */
	columns->bytes += bytes;
	all_known += bytes;
	caller = MemoryContextSwitchTo(columns->context);
	keys = palloc(Max(column->nkeys, 1) * sizeof(Datum));
	for (int i = 0; i < column->nkeys; i++)
		keys[i] = datumCopy(column->keys[i], info->typbyval, info->typlen);
	known->keys = keys;
	known->nkeys = column->nkeys;
	known->memory = memory;
	known->has_keys = true;
	MemoryContextSwitchTo(caller);
}
