/*-------------------------------------------------------------------------
 *
 * gather.c
 *	  Gathers the rows of each unit for bound_unit, faster than nodeAgg does.
 *
 * With millions of units the executor's hash aggregation waits for memory:
 * each row of a random unit misses the caches at the bucket, the group's
 * tuple, its array of states and the state.  Where the inner plan is the usual
 * one, HashAggregate with bound_unit alone by one column of a type that is its
 * own bits, the node is run by this file instead (node.c); any other
 * plan, and every partial aggregation, by nodeAgg.
 *
 * Units go into a table that the caches hold (units.c), in a first pass
 * over the input (input.c).  Once it is full, rows of units that it does
 * not know are set aside as short records, in partitions by their unit's hash;
 * each of these is gathered by itself later, in the same way.
 *
 * Invariants:
 *	- all rows of a unit are gathered in one state: a pass either has the unit
 *	  in its table before it sets rows of it aside, or sets all of them aside,
 *	  in one partition.  Hence states are what any other order and grouping of
 *	  rows would make them (see state.c);
 *	- memory stays below work_mem * hash_mem_multiplier as far as a limit on
 *	  the number of groups can see to it (nodeAgg's own rule): no unit enters a
 *	  full table, and records that do not fit go to temporary files;
 *	- each pass takes some units, at least, out of its partition (MIN_UNITS), and hashes
 *	  of different units differ (dp_mix is a bijection), so partitions end.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "agg/bounding/gather.h"

#define FIRST_BUCKETS 1024

/* how many records ahead a bucket and a state are fetched */
#define FETCH_BUCKET 8
#define FETCH_STATE 4

/* calls the transition function with the arguments that are set */
static inline void
advance(DpBounding *rows, int64 bucket, uint64 unit, bool unit_isnull)
{
	FunctionCallInfo fcinfo = rows->fcinfo;
	DpBoundState *old = rows->state_of[bucket];
	DpBoundState *state;

	fcinfo->args[0].value = PointerGetDatum(old);
	fcinfo->args[0].isnull = old == NULL;
	if (rows->unit_argno > 0)
	{
		fcinfo->args[rows->unit_argno].value = (Datum) unit;
		fcinfo->args[rows->unit_argno].isnull = unit_isnull;
	}
	fcinfo->isnull = false;
	state = (DpBoundState *) DatumGetPointer(dp_bound_unit(fcinfo));
	if (unlikely(state != old))
	{
		/* it is in the memory of the row, as for nodeAgg */
		rows->state_of[bucket] = MemoryContextAlloc(rows->states, VARSIZE(state));
		memcpy(rows->state_of[bucket], state, VARSIZE(state));
		if (old != NULL)
			pfree(old);
	}
	if (rows->nkeys > 0 && !unit_isnull)
		rows->buckets[bucket].last_rank = dp_bound_last_rank(rows->state_of[bucket]) >> 32;
}

static inline void
gather_row(DpBounding *rows, int64 bucket, uint64 unit, bool unit_isnull, uint64 hash)
{
	if (bucket < 0)
		bucket = dp_enter_unit(rows, unit, hash);
	if (bucket < 0)
		dp_set_aside(rows, unit, unit_isnull, hash);
	else
		advance(rows, bucket, unit, unit_isnull);
}

/* what becomes of the row whose arguments are set; its unit's bucket as found before */
void
dp_gather_row(DpBounding *rows, int64 bucket, uint64 unit, bool unit_isnull, uint64 hash)
{
	gather_row(rows, bucket, unit, unit_isnull, hash);
}

/*
 * Memory for the states of a pass.  What one partition took stays for those
 * that follow: the system would take the pages back and give them again.
 */
static void
start_states(DpBounding *rows)
{
	bool		first = rows->states == NULL;
	Size		limit = first ? rows->table_limit : rows->limit;
	Size		used = first ? 0 : MemoryContextMemAllocated(rows->states, false);
	Size		block = ALLOCSET_DEFAULT_INITSIZE;
	Size		keep = rows->bits > 0 && used <= rows->table_limit / 4 ? MAXALIGN(used) : 0;

	if (rows->bits > 0 && (keep == 0 || rows->keeps_states))
	{
		MemoryContextReset(rows->states);
		return;
	}
	if (!first)
		MemoryContextDelete(rows->states);
	/* blocks small enough for the limit to notice */
	while (block * 2 <= Min(limit / 16, ALLOCSET_DEFAULT_MAXSIZE))
		block *= 2;
	rows->states = AllocSetContextCreate(rows->context, "dp_cdp states of units", keep,
										 ALLOCSET_DEFAULT_INITSIZE, Max(block, keep));
	rows->keeps_states = keep > 0;
}

/* an empty table, which may take so much, and nothing set aside; units have so many bits in common */
void
dp_begin_pass(DpBounding *rows, int bits, Size table_limit)
{
	/* a partition takes a chunk and a file, half of the memory for all */
	Size		share = rows->limit / 2 / (DP_CHUNK_SIZE + BLCKSZ);
	int			partition_bits = 2;
	uint64		nbuckets;

	if (bits > 0)
		share = Min(share, DP_MAX_PARTITIONS) / 16;
	while (2 << partition_bits <= Min(share, DP_MAX_PARTITIONS))
		partition_bits++;
	/* where no bits are left there is but one unit in each partition */
	rows->partition_bits = Min(partition_bits, 63 - bits);
	rows->table_limit = rows->partition_bits < 1 ? SIZE_MAX : table_limit;
	rows->partition_bits = Max(rows->partition_bits, 1);
	memset(rows->partitions, 0, sizeof(rows->partitions));
	/* by the pass before, of which rows->bits tells */
	start_states(rows);
	rows->bits = bits;
	/* the partitions before are a good guess */
	nbuckets = Max(rows->nbuckets, FIRST_BUCKETS);
	while (nbuckets > FIRST_BUCKETS && nbuckets * DP_BUCKET_MEMORY > rows->table_limit / 4)
		nbuckets /= 2;
	dp_start_table(rows, nbuckets);
}

/* what was set aside waits; the table is to be emitted */
void
dp_end_pass(DpBounding *rows)
{
	bool		files = false;

	rows->agg->hash_mem_peak = Max(rows->agg->hash_mem_peak, dp_rows_memory(rows));
	rows->agg->hash_batches_used++;
	rows->agg->hash_disk_used = rows->written / 1024;

	for (int i = 0; i < 1 << rows->partition_bits; i++)
		files |= rows->partitions[i].file != NULL;
	if (files)
	{
		dp_write_partitions(rows);
		dp_free_spare_chunks(rows);
	}
	for (int i = 0; i < 1 << rows->partition_bits; i++)
	{
		DpPartition *p;

		if (rows->partitions[i].file == NULL && rows->partitions[i].chunks == NULL)
			continue;
		p = MemoryContextAlloc(rows->context, sizeof(DpPartition));
		*p = rows->partitions[i];
		p->bits = rows->bits + rows->partition_bits;
		p->next = rows->waiting;
		rows->waiting = p;
	}
	rows->emitting = true;
	rows->emitted = 0;
}

/* where records are of one size, what those that follow need may come while this one is at work */
static inline void
fetch_ahead(const DpBounding *rows, const DpChunk *chunk, Size at)
{
	Size		near = at + FETCH_STATE * rows->record_size;
	Size		far = at + FETCH_BUCKET * rows->record_size;
	uint64		bucket;
	uint64		unit;

	if (far >= chunk->used)
		return;
	unit = dp_record_unit(rows, chunk->data + far);
	bucket = dp_unit_hash(unit, rows->spec) & (rows->nbuckets - 1);
	__builtin_prefetch(&rows->buckets[bucket]);
	__builtin_prefetch(&rows->state_of[bucket]);
	unit = dp_record_unit(rows, chunk->data + near);
	/* not looked for any further: it is there, or somewhere near */
	__builtin_prefetch(rows->state_of[dp_unit_hash(unit, rows->spec) & (rows->nbuckets - 1)]);
}

static void
gather_chunk(DpBounding *rows, DpChunk *chunk)
{
	ExprContext *econtext = rows->agg->tmpcontext;
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	Size		at = 0;

	CHECK_FOR_INTERRUPTS();
	while (at < chunk->used)
	{
		int64		bucket;
		uint64		hash;
		uint64		unit;
		bool		unit_isnull;

		if (!rows->by_reference)
			fetch_ahead(rows, chunk, at);
		at += dp_read_record(rows, chunk->data + at, &unit, &unit_isnull);
		hash = dp_unit_hash(unit, rows->spec);
		bucket = dp_find_unit(rows, unit, unit_isnull, hash);
		if (!dp_is_left_out(rows, bucket, hash, NULL))
			gather_row(rows, bucket, unit, unit_isnull, hash);
		dp_reset_row_memory(econtext);
	}
	MemoryContextSwitchTo(old);
}

/* a later pass: the rows of a partition */
void
dp_gather_partition(DpBounding *rows)
{
	DpPartition *p = rows->waiting;
	DpChunk    *chunk;
	Size		others;

	rows->waiting = p->next;
	others = MemoryContextMemAllocated(rows->context, false) - dp_table_memory(rows);
	dp_begin_pass(rows, p->bits, (rows->limit - Min(others, rows->limit * 3 / 4)) / 4 * 3);

	if (p->file != NULL)
	{
		if (BufFileSeek(p->file, 0, 0, SEEK_SET) != 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not rewind temporary file of a private query")));
		while ((chunk = dp_read_chunk(rows, p->file)) != NULL)
		{
			gather_chunk(rows, chunk);
			dp_free_chunk(rows, chunk);
		}
		BufFileClose(p->file);
	}
	while ((chunk = p->chunks) != NULL)
	{
		p->chunks = chunk->next;
		gather_chunk(rows, chunk);
		dp_free_chunk(rows, chunk);
	}
	pfree(p);
	dp_end_pass(rows);
}
