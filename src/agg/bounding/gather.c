/*-------------------------------------------------------------------------
 *
 * gather.c
 *	  Gathers the rows of each unit for bound_unit, faster than nodeAgg does.
 *
 * With millions of units the executor's hash aggregation waits for memory:
 * each row of a random unit misses the caches at the bucket, the group's
 * tuple, its array of states and the state.  Where a query has bound_unit alone
 * by one column of a type that is its own bits, the planner may have it run
 * by this file instead (plan.c, node.c); anything else, and every partial
 * aggregation, is nodeAgg's.
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

/* prefetch distance, in records, for a bucket and for a state */
#define FETCH_BUCKET 8
#define FETCH_STATE 4

/* Calls the transition function with the arguments that are set. */
static inline void
advance(DpBounding *bounding, int64 bucket, uint64 unit, bool unit_isnull)
{
	FunctionCallInfo fcinfo = bounding->fcinfo;
	DpBoundState *old = bounding->table.state_of[bucket];
	DpBoundState *state;

	fcinfo->args[0].value = PointerGetDatum(old);
	fcinfo->args[0].isnull = old == NULL;
	if (bounding->unit_argno > 0)
	{
		fcinfo->args[bounding->unit_argno].value = (Datum) unit;
		fcinfo->args[bounding->unit_argno].isnull = unit_isnull;
	}
	fcinfo->isnull = false;
	state = (DpBoundState *) DatumGetPointer(dp_bound_unit(fcinfo));
	if (unlikely(state != old))
	{
		/* it is in the memory of the row, as for nodeAgg */
		bounding->table.state_of[bucket] = MemoryContextAlloc(bounding->table.states, VARSIZE(state));
		memcpy(bounding->table.state_of[bucket], state, VARSIZE(state));
		if (old != NULL)
			pfree(old);
	}
	if (bounding->input.nkeys > 0 && !unit_isnull)
		bounding->table.buckets[bucket].last_rank = dp_bound_last_rank(bounding->table.state_of[bucket]) >> 32;
}

static inline void
gather_row(DpBounding *bounding, int64 bucket, uint64 unit, bool unit_isnull, uint64 hash)
{
	if (bucket < 0)
		bucket = dp_enter_unit(bounding, unit, hash);
	if (bucket < 0)
		dp_set_aside(bounding, unit, unit_isnull, hash);
	else
		advance(bounding, bucket, unit, unit_isnull);
}

/* Gathers or sets aside the row whose arguments are set; bucket is what dp_find_unit returned for its unit. */
void
dp_gather_row(DpBounding *bounding, int64 bucket, uint64 unit, bool unit_isnull, uint64 hash)
{
	gather_row(bounding, bucket, unit, unit_isnull, hash);
}

/*
 * Makes memory for the states of a pass.  The memory that one partition took
 * stays for the partitions that follow: the system would take the pages back
 * and give them again.
 */
static void
start_states(DpBounding *bounding)
{
	bool		first = bounding->table.states == NULL;
	Size		limit = first ? bounding->table.limit : bounding->limit;
	Size		used = first ? 0 : MemoryContextMemAllocated(bounding->table.states, false);
	Size		block = ALLOCSET_DEFAULT_INITSIZE;
	Size		keep = bounding->pass.bits > 0 && used <= bounding->table.limit / 4 ? MAXALIGN(used) : 0;

	if (bounding->pass.bits > 0 && (keep == 0 || bounding->table.keeps_states))
	{
		MemoryContextReset(bounding->table.states);
		return;
	}
	if (!first)
		MemoryContextDelete(bounding->table.states);
	/* blocks small enough for the limit to notice */
	while (block * 2 <= Min(limit / 16, ALLOCSET_DEFAULT_MAXSIZE))
		block *= 2;
	bounding->table.states = AllocSetContextCreate(bounding->context, "dp_cdp states of units", keep,
												   ALLOCSET_DEFAULT_INITSIZE, Max(block, keep));
	bounding->table.keeps_states = keep > 0;
}

/*
 * Begins a pass over units whose hashes have their first bits in common: with
 * an empty table, which may take table_limit bytes, and nothing set aside.
 */
void
dp_begin_pass(DpBounding *bounding, int bits, Size table_limit)
{
	/* a partition takes a chunk and a file, half of the memory for all */
	Size		share = bounding->limit / 2 / (DP_CHUNK_SIZE + BLCKSZ);
	int			partition_bits = 2;
	uint64		nbuckets;

	if (bits > 0)
		share = Min(share, DP_MAX_PARTITIONS) / 16;
	while (2 << partition_bits <= Min(share, DP_MAX_PARTITIONS))
		partition_bits++;
	/* where no bits are left there is but one unit in each partition */
	bounding->pass.partition_bits = Min(partition_bits, 63 - bits);
	bounding->table.limit = bounding->pass.partition_bits < 1 ? SIZE_MAX : table_limit;
	bounding->pass.partition_bits = Max(bounding->pass.partition_bits, 1);

	/*
	 * pass.bits is still that of the previous pass: start_states() tells by
	 * it whether this is the first
	 */
	start_states(bounding);
	bounding->pass.bits = bits;
	/* the partitions before are a good guess */
	nbuckets = Max(bounding->table.nbuckets, FIRST_BUCKETS);
	while (nbuckets > FIRST_BUCKETS && nbuckets * DP_BUCKET_MEMORY > bounding->table.limit / 4)
		nbuckets /= 2;
	dp_start_table(bounding, nbuckets);
}

/* Ends a pass: the rows that were set aside wait, the table is to be emitted. */
void
dp_end_pass(DpBounding *bounding)
{
	bool		files = false;

	bounding->use.memory = Max(bounding->use.memory, dp_bounding_memory(bounding));
	bounding->use.disk = Max(bounding->use.disk, bounding->pass.written);
	bounding->use.passes++;
	bounding->use.units += bounding->table.nunits;

	for (int i = 0; i < 1 << bounding->pass.partition_bits; i++)
		files |= bounding->pass.partitions[i].file != NULL;
	if (files)
	{
		dp_write_partitions(bounding);
		dp_free_spare_chunks(bounding);
	}
	for (int i = 0; i < 1 << bounding->pass.partition_bits; i++)
	{
		DpPartition *p;

		if (bounding->pass.partitions[i].file == NULL && bounding->pass.partitions[i].chunks == NULL)
			continue;
		p = MemoryContextAlloc(bounding->context, sizeof(DpPartition));
		*p = bounding->pass.partitions[i];
		p->bits = bounding->pass.bits + bounding->pass.partition_bits;
		p->next = bounding->pass.waiting;
		bounding->pass.waiting = p;
	}
	memset(bounding->pass.partitions, 0, sizeof(bounding->pass.partitions));
	bounding->output.emitting = true;
	bounding->output.emitted = 0;
}

/* Fetches bucket and state for records further on in the chunk; all records must be of one size. */
static inline void
fetch_ahead(const DpBounding *bounding, const DpChunk *chunk, Size at)
{
	Size		near = at + FETCH_STATE * bounding->record.size;
	Size		far = at + FETCH_BUCKET * bounding->record.size;
	uint64		bucket;
	uint64		unit;

	if (far >= chunk->used)
		return;
	unit = dp_record_unit(bounding, chunk->data + far);
	bucket = dp_unit_hash(unit, bounding->spec) & (bounding->table.nbuckets - 1);
	__builtin_prefetch(&bounding->table.buckets[bucket]);
	__builtin_prefetch(&bounding->table.state_of[bucket]);
	unit = dp_record_unit(bounding, chunk->data + near);
	/* not looked for any further: it is there, or somewhere near */
	__builtin_prefetch(bounding->table.state_of[dp_unit_hash(unit, bounding->spec) & (bounding->table.nbuckets - 1)]);
}

static void
gather_chunk(DpBounding *bounding, DpChunk *chunk)
{
	ExprContext *econtext = bounding->row;
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	Size		at = 0;

	CHECK_FOR_INTERRUPTS();
	while (at < chunk->used)
	{
		int64		bucket;
		uint64		hash;
		uint64		unit;
		bool		unit_isnull;

		if (!bounding->record.by_reference)
			fetch_ahead(bounding, chunk, at);
		at += dp_read_record(bounding, chunk->data + at, &unit, &unit_isnull);
		hash = dp_unit_hash(unit, bounding->spec);
		bucket = dp_find_unit(bounding, unit, unit_isnull, hash);
		if (!dp_is_left_out(bounding, bucket, hash, NULL))
			gather_row(bounding, bucket, unit, unit_isnull, hash);
		dp_reset_row_memory(econtext);
	}
	MemoryContextSwitchTo(old);
}

/* Runs a later pass, over the rows of a waiting partition. */
void
dp_gather_partition(DpBounding *bounding)
{
	DpPartition *p = bounding->pass.waiting;
	DpChunk    *chunk;
	Size		others;

	bounding->pass.waiting = p->next;
	others = MemoryContextMemAllocated(bounding->context, false) - dp_table_memory(bounding);
	dp_begin_pass(bounding, p->bits, (bounding->limit - Min(others, bounding->limit * 3 / 4)) / 4 * 3);

	if (p->file != NULL)
	{
		if (BufFileSeek(p->file, 0, 0, SEEK_SET) != 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not rewind temporary file of a private query")));
		while ((chunk = dp_read_chunk(bounding, p->file)) != NULL)
		{
			gather_chunk(bounding, chunk);
			dp_free_chunk(bounding, chunk);
		}
		BufFileClose(p->file);
	}
	while ((chunk = p->chunks) != NULL)
	{
		p->chunks = chunk->next;
		gather_chunk(bounding, chunk);
		dp_free_chunk(bounding, chunk);
	}
	pfree(p);
	dp_end_pass(bounding);
}
