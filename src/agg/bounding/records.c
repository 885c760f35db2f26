/*-------------------------------------------------------------------------
 *
 * records.c
 *	  Rows of units that are set aside: short records, in memory and in files.
 *
 * Invariants:
 *	- records lie in chunks, whole.  A chunk is larger than what memory contexts
 *	  keep for themselves when it is freed, so the limit holds for what the
 *	  process has;
 *	- a record is short, whatever the row is: keys that are too long for a state
 *	  leave it out before they are fetched, and values by reference are numerics;
 *	- a partition's chunks go to its file when memory is short, all partitions'
 *	  at once: files are written in pieces as large as memory allows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "agg/bounding/gather.h"

static DpChunk *
new_chunk(DpBounding *rows, Size data)
{
	Size		size = Max(DP_CHUNK_SIZE, offsetof(DpChunk, data) + data);
	DpChunk    *chunk = rows->spare;

	if (chunk != NULL && size == DP_CHUNK_SIZE)
		rows->spare = chunk->next;
	else
	{
		chunk = MemoryContextAllocHuge(rows->context, size);
		chunk->size = size - offsetof(DpChunk, data);
	}
	chunk->next = NULL;
	chunk->used = 0;
	return chunk;
}

void
dp_free_chunk(DpBounding *rows, DpChunk *chunk)
{
	Size		size = chunk->size + offsetof(DpChunk, data);

	if (size == DP_CHUNK_SIZE)
	{
		chunk->next = rows->spare;
		rows->spare = chunk;
		return;
	}
	pfree(chunk);
}

void
dp_free_spare_chunks(DpBounding *rows)
{
	while (rows->spare != NULL)
	{
		DpChunk    *chunk = rows->spare;

		rows->spare = chunk->next;
		pfree(chunk);
	}
}

static void
write_partition(DpBounding *rows, DpPartition *p)
{
	if (p->chunks != NULL && p->file == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(rows->context);

		PrepareTempTablespaces();
		p->file = BufFileCreateTemp(false);
		MemoryContextSwitchTo(old);
	}
	while (p->chunks != NULL)
	{
		DpChunk    *chunk = p->chunks;

		BufFileWrite(p->file, &chunk->used, sizeof(chunk->used));
		BufFileWrite(p->file, chunk->data, chunk->used);
		rows->written += chunk->used;
		p->chunks = chunk->next;
		dp_free_chunk(rows, chunk);
	}
}

/* all records of the pass */
void
dp_write_partitions(DpBounding *rows)
{
	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < 1 << rows->partition_bits; i++)
		write_partition(rows, &rows->partitions[i]);
}

/* room for a record in the unit's partition */
static pg_noinline void
add_chunk(DpBounding *rows, DpPartition *p, Size size)
{
	DpChunk    *chunk;

	/* the first pass leaves room for those that follow */
	Size		limit = rows->bits > 0 ? rows->limit : rows->limit / 4 * 3;

	if (rows->spare == NULL && dp_rows_memory(rows) + Max(size, DP_CHUNK_SIZE) > limit)
		dp_write_partitions(rows);
	chunk = new_chunk(rows, size);
	chunk->next = p->chunks;
	p->chunks = chunk;
}

/* does bound_unit take the row, or leave it out because its keys are too long? */
static bool
keys_fit(const DpBounding *rows)
{
	Size		bytes = 0;

	for (int i = 0; i < rows->nstored; i++)
	{
		const DpStoredArg *arg = &rows->stored[i];
		const NullableDatum *value = &rows->fcinfo->args[arg->argno];

		if (arg->is_key && !arg->typbyval && !value->isnull)
			bytes += dp_key_bytes(value->value, arg->typlen);
	}
	return bytes <= rows->key_bytes;
}

/* sets a row aside, whose arguments are those of the call */
void
dp_set_aside(DpBounding *rows, uint64 unit, bool unit_isnull, uint64 hash)
{
	DpPartition *p = &rows->partitions[(hash << rows->bits) >> (64 - rows->partition_bits)];
	NullableDatum *args = rows->fcinfo->args;
	Size		size = rows->record_size;
	uint32		nulls = unit_isnull ? 1 : 0;
	char	   *record;
	char	   *bytes;

	if (rows->by_reference)
	{
		if (!keys_fit(rows))
			return;
		for (int i = 0; i < rows->nstored; i++)
		{
			DpStoredArg *arg = &rows->stored[i];
			NullableDatum *value = &args[arg->argno];

			if (arg->typbyval || value->isnull)
				continue;
			if (arg->typlen == -1)
				value->value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value->value));
			size += MAXALIGN(datumGetSize(value->value, false, arg->typlen));
		}
	}

	if (p->chunks == NULL || p->chunks->size - p->chunks->used < size)
		add_chunk(rows, p, size);
	record = p->chunks->data + p->chunks->used;
	p->chunks->used += size;

	if (rows->unit_typlen > (int) sizeof(int32))
		memcpy(record + DP_RECORD_UNIT, &unit, sizeof(unit));
	else
	{
		int32		narrow = (int32) unit;

		memcpy(record + DP_RECORD_UNIT, &narrow, sizeof(narrow));
	}
	bytes = record + rows->record_size;
	for (int i = 0; i < rows->nstored; i++)
	{
		DpStoredArg *arg = &rows->stored[i];
		Datum		value = args[arg->argno].value;

		if (args[arg->argno].isnull)
		{
			nulls |= (uint32) 2 << i;
			if (!arg->typbyval)
				memset(record + arg->offset, 0, sizeof(uint32));
		}
		else if (!arg->typbyval)
		{
			uint32		len = datumGetSize(value, false, arg->typlen);

			memcpy(record + arg->offset, &len, sizeof(uint32));
			memcpy(bytes, DatumGetPointer(value), len);
			bytes += MAXALIGN(len);
		}
		else if (arg->typlen <= (int) sizeof(int32))
		{
			int32		word = (int32) value;

			memcpy(record + arg->offset, &word, sizeof(word));
		}
		else
			memcpy(record + arg->offset, &value, sizeof(value));
	}
	memcpy(record, &nulls, sizeof(nulls));
}

/* the arguments of the call from a record; returns its size */
Size
dp_read_record(DpBounding *rows, char *record, uint64 *unit, bool *unit_isnull)
{
	NullableDatum *args = rows->fcinfo->args;
	uint32		nulls;
	char	   *bytes = record + rows->record_size;

	*unit = dp_record_unit(rows, record);
	memcpy(&nulls, record, sizeof(nulls));
	*unit_isnull = (nulls & 1) != 0;
	for (int i = 0; i < rows->nstored; i++)
	{
		const DpStoredArg *arg = &rows->stored[i];
		NullableDatum *to = &args[arg->argno];

		to->isnull = (nulls & ((uint32) 2 << i)) != 0;
		if (!arg->typbyval)
		{
			uint32		len;

			memcpy(&len, record + arg->offset, sizeof(len));
			to->value = PointerGetDatum(bytes);
			bytes += MAXALIGN(len);
		}
		else if (arg->typlen <= (int) sizeof(int32))
		{
			int32		word;

			memcpy(&word, record + arg->offset, sizeof(word));
			to->value = (Datum) word;
		}
		else
			memcpy(&to->value, record + arg->offset, sizeof(Datum));
	}
	return bytes - record;
}

/* NULL at the end of the file */
DpChunk    *
dp_read_chunk(DpBounding *rows, BufFile *file)
{
	uint32		used;
	DpChunk    *chunk;
	size_t		n = BufFileRead(file, &used, sizeof(used));

	if (n == 0)
		return NULL;
	if (n == sizeof(used))
	{
		chunk = new_chunk(rows, used);
		chunk->used = used;
		if (BufFileRead(file, chunk->data, used) == used)
			return chunk;
	}
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not read from temporary file of a private query")));
}
