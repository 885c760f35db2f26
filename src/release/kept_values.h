/*-------------------------------------------------------------------------
 *
 * kept_values.h
 *	  The bytes of a kept answer: noisy integers group by group, and of a
 *	  selection of keys these keys.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_KEPT_VALUES_H
#define DP_KEPT_VALUES_H

#include "lib/stringinfo.h"
#include "math/wide.h"
#include "release/release_int.h"

/*
 * The most bytes of an answer that is bought and kept; kept_values.c says what a
 * group takes.  One that is derived from it is longer, as more noise takes more digits, by
 * less than five bytes in a number.
 */
#define DP_KEPT_MAX_BYTES (64 * 1024 * 1024)
#define DP_DERIVED_MAX_BYTES (8 * DP_KEPT_MAX_BYTES)

typedef struct DpValueWriter
{
	StringInfoData keys;		/* tuples of a selection's keys */
	StringInfoData values;
	int			draws;			/* integers in a group */
	int64		groups;
	Size		most;			/* bytes */
	bool		too_long;		/* it has outgrown these, and is given up */
} DpValueWriter;

/* Begins to write an answer of so many integers in each group, and at most so many bytes, in the current context. */
extern void dp_begin_values(DpValueWriter *writer, int draws, Size most);

/* Adds the integers of the next group. */
extern void dp_write_group(DpValueWriter *writer, const dp_i128 *value);

/* Adds the keys of the group that was written last. */
extern void dp_write_keys(DpValueWriter *writer, TupleDesc keys, Datum *values, bool *nulls);

/* Returns the bytes of what was written, palloc'd; NULL where that is too long. */
extern bytea *dp_end_values(const DpValueWriter *writer);

typedef struct DpValueReader
{
	const char *at;
	const char *end;
	int			draws;
	int64		groups;
	const char *keys;
	Size		keys_length;
} DpValueReader;

/*
 * Begins to read an answer, whose bytes have to stay, of so many integers in
 * each group, and so many groups; -1: as many as it has.  XX001 where the bytes
 * are of no such answer.
 */
extern void dp_read_values(DpValueReader *reader, const bytea *bytes, int draws, int64 groups);

/* Reads the integers of the next group. */
extern void dp_read_group(DpValueReader *reader, dp_i128 *value);

/* Returns the keys of all groups, in the current context. */
extern DpKeyTuples *dp_read_keys(const DpValueReader *reader, TupleDesc keys);

#endif							/* DP_KEPT_VALUES_H */
