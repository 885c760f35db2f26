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
new_chunk(DpBounding *bounding, Size data)
{
	Size		size = Max(DP_CHUNK_SIZE, offsetof(DpChunk, data) + data);
	DpChunk    *chunk = bounding->pass.spare;

	if (chunk != NULL && size == DP_CHUNK_SIZE)
		bounding->pass.spare = chunk->next;
	else
	{
		chunk = MemoryContextAllocHuge(bounding->context, size);
		chunk->size = size - offsetof(DpChunk, data);
	}
	chunk->next = NULL;
	chunk->used = 0;
	return chunk;
}

void
dp_free_chunk(DpBounding *bounding, DpChunk *chunk)
{
	Size		size = chunk->size + offsetof(DpChunk, data);

	if (size == DP_CHUNK_SIZE)
	{
		chunk->next = bounding->pass.spare;
		bounding->pass.spare = chunk;
		return;
	}
	pfree(chunk);
}

void
dp_free_spare_chunks(DpBounding *bounding)
{
	while (bounding->pass.spare != NULL)
	{
		DpChunk    *chunk = bounding->pass.spare;

		bounding->pass.spare = chunk->next;
		pfree(chunk);
	}
}

static void
write_partition(DpBounding *bounding, DpPartition *p)
{
	if (p->chunks != NULL && p->file == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(bounding->context);

		PrepareTempTablespaces();
		p->file = BufFileCreateTemp(false);
		MemoryContextSwitchTo(old);
	}
	while (p->chunks != NULL)
	{
		DpChunk    *chunk = p->chunks;

		BufFileWrite(p->file, &chunk->used, sizeof(chunk->used));
		BufFileWrite(p->file, chunk->data, chunk->used);
		bounding->pass.written += chunk->used;
		p->chunks = chunk->next;
		dp_free_chunk(bounding, chunk);
	}
}

/* Writes all records of the pass to files. */
void
dp_write_partitions(DpBounding *bounding)
{
	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < 1 << bounding->pass.partition_bits; i++)
		write_partition(bounding, &bounding->pass.partitions[i]);
}

/* Closes the files of rows that no pass will read any more. */
void
dp_close_files(DpBounding *bounding)
{
	for (int i = 0; i < DP_MAX_PARTITIONS; i++)
		if (bounding->pass.partitions[i].file != NULL)
			BufFileClose(bounding->pass.partitions[i].file);
	for (DpPartition *p = bounding->pass.waiting; p != NULL; p = p->next)
		if (p->file != NULL)
			BufFileClose(p->file);
}

/* Gives a partition a chunk with room for a record of size bytes. */
static pg_noinline void
add_chunk(DpBounding *bounding, DpPartition *p, Size size)
{
	DpChunk    *chunk;

	/* the first pass leaves room for the later ones */
	Size		limit = bounding->pass.bits > 0 ? bounding->limit : bounding->limit / 4 * 3;

	if (bounding->pass.spare == NULL && dp_bounding_memory(bounding) + Max(size, DP_CHUNK_SIZE) > limit)
		dp_write_partitions(bounding);
	chunk = new_chunk(bounding, size);
	chunk->next = p->chunks;
	p->chunks = chunk;
}

/* Tells whether bound_unit takes the row, or leaves it out because its keys are too long. */
static bool
keys_fit(const DpBounding *bounding)
{
	const DpRecordFormat *format = &bounding->record;
	Size		bytes = 0;

	for (int i = 0; i < format->nstored; i++)
	{
		const DpStoredArg *arg = &format->stored[i];
		const NullableDatum *value = &bounding->fcinfo->args[arg->argno];

		if (arg->is_key && !arg->typbyval && !value->isnull)
			bytes += dp_key_bytes(value->value, arg->typlen);
	}
	return bytes <= format->key_bytes;
}

/* Returns the size of the record for the arguments of the call; fetches values by reference. */
static inline Size
record_size(DpBounding *bounding)
{
	const DpRecordFormat *format = &bounding->record;
	Size		size = format->size;

	if (!format->by_reference)
		return size;
	for (int i = 0; i < format->nstored; i++)
	{
		const DpStoredArg *arg = &format->stored[i];
		NullableDatum *value = &bounding->fcinfo->args[arg->argno];

		if (arg->typbyval || value->isnull)
			continue;
		if (arg->typlen == -1)
			value->value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value->value));
		size += MAXALIGN(datumGetSize(value->value, false, arg->typlen));
	}
	return size;
}

static inline void
write_record_unit(const DpBounding *bounding, char *record, uint64 unit)
{
	int32		narrow = (int32) unit;

	if (bounding->record.unit_typlen > (int) sizeof(int32))
		memcpy(record + DP_RECORD_UNIT, &unit, sizeof(unit));
	else
		memcpy(record + DP_RECORD_UNIT, &narrow, sizeof(narrow));
}

/* Writes the unit and the arguments of the call to a record of record_size() bytes. */
static inline void
write_record(const DpBounding *bounding, char *record, uint64 unit, bool unit_isnull)
{
	const DpRecordFormat *format = &bounding->record;
	const NullableDatum *args = bounding->fcinfo->args;
	uint32		nulls = unit_isnull ? 1 : 0;
	char	   *bytes = record + format->size;

	write_record_unit(bounding, record, unit);
	for (int i = 0; i < format->nstored; i++)
	{
		const DpStoredArg *arg = &format->stored[i];
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

/* Sets the row aside whose arguments are those of the call, in its unit's partition. */
void
dp_set_aside(DpBounding *bounding, uint64 unit, bool unit_isnull, uint64 hash)
{
	DpPass	   *pass = &bounding->pass;
	DpPartition *p = &pass->partitions[(hash << pass->bits) >> (64 - pass->partition_bits)];
	Size		size;
	char	   *record;

	if (bounding->record.by_reference && !keys_fit(bounding))
		return;
	size = record_size(bounding);
	if (p->chunks == NULL || p->chunks->size - p->chunks->used < size)
		add_chunk(bounding, p, size);
	record = p->chunks->data + p->chunks->used;
	p->chunks->used += size;
	write_record(bounding, record, unit, unit_isnull);
}

/* Sets the unit and the arguments of the call from a record, as write_record wrote it; returns its size. */
Size
dp_read_record(DpBounding *bounding, char *record, uint64 *unit, bool *unit_isnull)
{
	const DpRecordFormat *format = &bounding->record;
	NullableDatum *args = bounding->fcinfo->args;
	uint32		nulls;
	char	   *bytes = record + format->size;

	*unit = dp_record_unit(bounding, record);
	memcpy(&nulls, record, sizeof(nulls));
	*unit_isnull = (nulls & 1) != 0;
	for (int i = 0; i < format->nstored; i++)
	{
		const DpStoredArg *arg = &format->stored[i];
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

/* Returns the next chunk of the file; NULL at its end. */
DpChunk *
dp_read_chunk(DpBounding *bounding, BufFile *file)
{
	uint32		used;
	DpChunk    *chunk;
	size_t		n = BufFileRead(file, &used, sizeof(used));

	if (n == 0)
		return NULL;
	if (n == sizeof(used))
	{
		chunk = new_chunk(bounding, used);
		chunk->used = used;
		if (BufFileRead(file, chunk->data, used) == used)
			return chunk;
	}
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not read from temporary file of a private query")));
}
