/*-------------------------------------------------------------------------
 *
 * key_index.h
 *	  Values of a type, found by its own equality.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_KEY_INDEX_H
#define DP_KEY_INDEX_H

typedef struct DpKeyIndex DpKeyIndex;

/*
 * Makes an index of n values in a context, where the values have to stay as
 * long.  The type can be hashed, or it is an internal error.  Of equal values
 * the first counts.
 */
extern DpKeyIndex *dp_key_index_create(Oid type, Oid collation, const Datum *values, int n, MemoryContext context);

/* what all expressions of one run share: the first member of what a process has of it */
typedef struct DpOfRun
{
	struct DpOfRun *next;
	struct DpOfRun **list;		/* it stands in, with those of other runs */
	MemoryContext run;
	const void *made_of;
	Oid			collation;
} DpOfRun;

/*
 * Returns what is there of a run, by what it was made of and its collation; else makes it, of so many bytes, zeroed, in
 * the memory of the run, with which it leaves the list.
 */
extern DpOfRun *dp_of_run(DpOfRun **list, MemoryContext run, const void *made_of, Oid collation, Size size);

/* returns the place of a value among those, from 0 on; -1: it is none of them */
extern int64 dp_key_index_find(const DpKeyIndex *index, Datum value);

#endif							/* DP_KEY_INDEX_H */
