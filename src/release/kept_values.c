/*-------------------------------------------------------------------------
 *
 * kept_values.c
 *	  Writes and reads the bytes of a kept answer.
 *
 * A byte that tells the format, the number of integers in a group, the number
 * of groups and the length of the keys; then the keys of each group, as tuples; then
 * integers, group by group.  Numbers are written with 7 bits in a byte, the
 * lowest first, signed ones with the sign in the lowest bit: a noisy count
 * takes two or three bytes, a sum on its grid of 2^-32 of the bounds six to nine.
 *
 * Tuples of keys are those of the running server: what makes their values mean
 * something else (release/fingerprint.c) is part of the question.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "base/compat.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "release/kept_values.h"
#include "utils/memutils.h"

#define FORMAT 1

/* bytes that a number takes, at most */
#define LONGEST 19

static void
put_number(StringInfo bytes, dp_u128 number)
{
	char		room[LONGEST];
	int			n = 0;

	do
	{
		room[n++] = (char) ((number & 0x7F) | (number > 0x7F ? 0x80 : 0));
		number >>= 7;
	} while (number > 0);
	appendBinaryStringInfo(bytes, room, n);
}

static void corrupted(void) __attribute__((noreturn));

static void
corrupted(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("a kept answer cannot be read; SET dp_cdp.reuse = off to buy a new one, or have the dataset's owner call dp_cdp.forget_answers"),
			 errdetail("Nothing was charged.")));
}

/* Reads a number that takes more than 63 bits, or is cut off. */
static dp_u128
get_long_number(const char **at, const char *end)
{
	dp_u128		number = 0;

	for (int shift = 0; shift < 7 * LONGEST; shift += 7)
	{
		uint8		byte;

		if (*at >= end)
			corrupted();
		byte = (uint8) *(*at)++;
		number |= (dp_u128) (byte & 0x7F) << shift;
		if ((byte & 0x80) == 0)
			return number;
	}
	corrupted();
}

static inline dp_u128
get_number(const char **at, const char *end)
{
	const char *byte = *at;
	uint64		number = 0;

	/* nearly all of them, of which an answer may have millions, are short */
	for (int shift = 0; shift < 63 && byte < end; shift += 7)
	{
		number |= (uint64) (*byte & 0x7F) << shift;
		if ((*byte++ & 0x80) == 0)
		{
			*at = byte;
			return number;
		}
	}
	return get_long_number(at, end);
}

/* ------------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------------
 */

void
dp_begin_values(DpValueWriter *writer, int draws, Size most)
{
	memset(writer, 0, sizeof(DpValueWriter));
	initStringInfo(&writer->keys);
	initStringInfo(&writer->values);
	writer->draws = draws;
	writer->most = most;
}

/* Tells whether there is room for so many bytes more; if not, what was written is given up. */
static bool
has_room(DpValueWriter *writer, Size more)
{
	if (writer->too_long || writer->keys.len + writer->values.len + more <= writer->most)
		return !writer->too_long;
	writer->too_long = true;
	resetStringInfo(&writer->keys);
	resetStringInfo(&writer->values);
	return false;
}

void
dp_write_group(DpValueWriter *writer, const dp_i128 *value)
{
	writer->groups++;
	if (!has_room(writer, (Size) writer->draws * LONGEST))
		return;
	for (int i = 0; i < writer->draws; i++)
		put_number(&writer->values, ((dp_u128) value[i] << 1) ^ (dp_u128) (value[i] >> 127));
}

void
dp_write_keys(DpValueWriter *writer, TupleDesc keys, Datum *values, bool *nulls)
{
	MinimalTuple tuple = dp_form_minimal_tuple(keys, values, nulls);

	if (has_room(writer, MAXALIGN(tuple->t_len)))
	{
		appendBinaryStringInfo(&writer->keys, (char *) tuple, tuple->t_len);
		while (writer->keys.len != MAXALIGN(writer->keys.len))
			appendStringInfoChar(&writer->keys, '\0');
	}
	heap_free_minimal_tuple(tuple);
}

bytea *
dp_end_values(const DpValueWriter *writer)
{
	StringInfoData bytes;

	if (writer->too_long)
		return NULL;
	initStringInfo(&bytes);
	appendBinaryStringInfo(&bytes, "\0\0\0\0", VARHDRSZ);
	appendStringInfoChar(&bytes, FORMAT);
	put_number(&bytes, writer->draws);
	put_number(&bytes, writer->groups);
	put_number(&bytes, writer->keys.len);
	appendBinaryStringInfo(&bytes, writer->keys.data, writer->keys.len);
	appendBinaryStringInfo(&bytes, writer->values.data, writer->values.len);
	SET_VARSIZE(bytes.data, bytes.len);
	return (bytea *) bytes.data;
}

/* ------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------
 */

void
dp_read_values(DpValueReader *reader, const bytea *bytes, int draws, int64 groups)
{
	dp_u128		length;

	reader->at = VARDATA_ANY(bytes);
	reader->end = reader->at + VARSIZE_ANY_EXHDR(bytes);
	if (reader->at >= reader->end || *reader->at++ != FORMAT)
		corrupted();
	if (get_number(&reader->at, reader->end) != (dp_u128) draws)
		corrupted();
	reader->draws = draws;
	reader->groups = (int64) get_number(&reader->at, reader->end);
	if (groups >= 0 && reader->groups != groups)
		corrupted();
	length = get_number(&reader->at, reader->end);
	if (length > (dp_u128) (reader->end - reader->at))
		corrupted();
	reader->keys = reader->at;
	reader->keys_length = (Size) length;
	reader->at += reader->keys_length;
}

void
dp_read_group(DpValueReader *reader, dp_i128 *value)
{
	for (int i = 0; i < reader->draws; i++)
	{
		dp_u128		number = get_number(&reader->at, reader->end);

		value[i] = (dp_i128) (number >> 1) ^ -(dp_i128) (number & 1);
	}
}

DpKeyTuples *
dp_read_keys(const DpValueReader *reader, TupleDesc keys)
{
	DpKeyTuples *tuples = palloc0(sizeof(DpKeyTuples));
	char	   *copy;
	Size		offset = 0;

	/* what points into a tuple is aligned in a copy */
	copy = MemoryContextAllocHuge(CurrentMemoryContext, Max(reader->keys_length, 1));
	memcpy(copy, reader->keys, reader->keys_length);
	tuples->nkeys = keys->natts;
	tuples->n = reader->groups;
	tuples->values = MemoryContextAllocHuge(CurrentMemoryContext, Max(tuples->n * tuples->nkeys, 1) * sizeof(Datum));
	tuples->nulls = MemoryContextAllocHuge(CurrentMemoryContext, Max(tuples->n * tuples->nkeys, 1) * sizeof(bool));
	for (int64 i = 0; i < tuples->n; i++)
	{
		MinimalTuple tuple = (MinimalTuple) (copy + offset);
		HeapTupleData heap;

		CHECK_FOR_INTERRUPTS();
		if (offset + SizeofMinimalTupleHeader > reader->keys_length || tuple->t_len < SizeofMinimalTupleHeader ||
			tuple->t_len > reader->keys_length - offset)
			corrupted();
		memset(&heap, 0, sizeof(heap));
		heap.t_len = tuple->t_len + MINIMAL_TUPLE_OFFSET;
		heap.t_data = (HeapTupleHeader) ((char *) tuple - MINIMAL_TUPLE_OFFSET);
		heap_deform_tuple(&heap, keys, &tuples->values[i * tuples->nkeys], &tuples->nulls[i * tuples->nkeys]);
		offset += MAXALIGN(tuple->t_len);
	}
	return tuples;
}
