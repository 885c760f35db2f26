/*-------------------------------------------------------------------------
 *
 * gather.c
 *	  Gathers the rows of each unit for bound_unit, faster than nodeAgg does.
 *
 * With millions of units the executor's hash aggregation waits for memory:
 * each row of a random unit misses the caches at the bucket, the group's
 * tuple, its array of states and the state.  So the planner may have a query that
 * has bound_unit alone run by this file instead (plan.c, node.c).
 *
 * Units go into a table that the caches hold (units.c), in a first pass
 * over the input (input.c).  Once it is full, rows of units that it does
 * not know are set aside as short records, in partitions by their unit's hash;
 * each of these is gathered by itself later, in the same way.  Where several processes
 * share the input, each has such a table for the first pass, whose states are set
 * aside in the end, too; then each process takes whole partitions (share.c).
 *
 * Invariants:
 *	- what leaves for a unit is the state of all its rows: a pass has the unit
 *	  in its table before it sets rows of it aside, or sets all that it has of
 *	  the unit aside, rows and state, in one partition.  Hence states are what any
 *	  other order and grouping of rows would make them (see state.c);
 *	- memory stays below work_mem * hash_mem_multiplier as far as a limit on
 *	  the number of units can see to it: no unit enters a
 *	  full table, and records that do not fit go to temporary files.  States that grow to more
 *	  than the first table may take, or later to twice as much as all memory, are set aside, too, unless there is but one;
 *	- each pass takes some units, at least, out of its partition (MIN_UNITS), or sets
 *	  all aside, and one whose hashes have no bits left takes all, so partitions end.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "agg/bounding/gather.h"

/* buckets of the first table, to begin with, and of one that is given up */
#define FIRST_BUCKETS 1024

/* of one of a later pass: at least twice as many as units enter any table; and how many units more than before are expected */
#define LEAST_BUCKETS 256
#define MORE_UNITS 16

/* memory of states that stays from partition to partition; far below the largest block that a context may have */
#define MOST_KEPT ((Size) 256 * 1024 * 1024)

/* prefetch distance, in records, for a bucket and for a state */
#define FETCH_BUCKET 8
#define FETCH_STATE 4

/* Empties the table: its states are set aside, and so are all rows that follow, but those of hot units. */
void
dp_give_up_table(DpBounding *bounding)
{
	DpUnitTable *table = &bounding->table;

	bounding->use.memory = Max(bounding->use.memory, dp_bounding_memory(bounding));
	for (uint64 at = 0; at <= table->nbuckets; at++)
		if (dp_has_state(table, at))
			dp_set_state_aside(bounding, at);
	MemoryContextReset(table->states);
	dp_start_table(bounding, FIRST_BUCKETS);
	table->full = true;
	/* rows without unit go on having their bucket */
	*dp_bucket_late(table, dp_bucket(table, table->nbuckets)) = true;
	table->nlate = 1;
}

/* Sets states aside that have grown too much for memory; after one has grown. */
static inline void
check_memory(DpBounding *bounding)
{
	DpUnitTable *table = &bounding->table;

	/* the first pass meets rows in any order: to set one aside is cheaper than to wait for a state that no cache holds */
	Size		limit = bounding->pass.bits == 0 ? table->limit : 2 * bounding->limit;

	if (MemoryContextMemAllocated(table->states, false) > limit && table->nunits > 1 && table->limit != SIZE_MAX)
		dp_give_up_table(bounding);
}

static inline void
note_last_rank(DpBounding *bounding, int64 bucket)
{
	DpBucket   *at = (DpBucket *) dp_bucket(&bounding->table, bucket);

	at->last_rank = dp_bound_last_rank(bounding->table.state_of[bucket]) >> 32;
}

static pg_noinline DpBoundState *
new_state(DpBounding *bounding, int64 bucket)
{
	MemoryContext old = MemoryContextSwitchTo(bounding->table.states);
	DpBoundState *state = dp_bound_state_new(&bounding->shape, bounding->spec->max_groups, bounding->row.salt);

	MemoryContextSwitchTo(old);
	bounding->table.state_of[bucket] = state;
	return state;
}

/* Adds the row at hand to its unit's state. */
static inline void
advance(DpBounding *bounding, int64 bucket)
{
	DpRow	   *row = &bounding->row;
	DpBoundState *state;
	char	   *entry;

	if (bounding->table.in_place)
	{
		dp_add_in_place(bounding, bucket, row->field, row->isnull);
		return;
	}
	state = bounding->table.state_of[bucket];
	/* most of the time goes into waiting for the state */
	__builtin_prefetch((char *) state + 64);
	if (state == NULL)
		state = new_state(bounding, bucket);
	if (!row->has_rank && !dp_rank_row(bounding))
		return;
	entry = dp_bound_state_entry(&state, &bounding->shape, row->rank, row->ranked);
	if (entry != NULL)
		dp_take_fields(&bounding->fields, row->field, row->isnull, state, entry);
	if (unlikely(state != bounding->table.state_of[bucket]))
	{
		bounding->table.state_of[bucket] = state;
		if (bounding->shape.layout.nkeys > 0)
			note_last_rank(bounding, bucket);
		check_memory(bounding);
	}
	else if (bounding->shape.layout.nkeys > 0)
		note_last_rank(bounding, bucket);
}

/* Gathers or sets aside the row at hand; bucket is what dp_find_unit returned for its unit. */
static inline void
gather_row(DpBounding *bounding, int64 bucket)
{
	if (bucket < 0)
		bucket = dp_enter_unit(bounding);
	if (bucket < 0)
	{
		DpPartition *p = dp_partition_of(bounding, bounding->row.hash);

		if (bounding->pass.bits == 0 && dp_is_hot(p, bounding->row.unit))
			bucket = dp_enter_hot_unit(bounding, p);
		if (bucket < 0)
		{
			dp_set_aside(bounding, p);
			return;
		}
	}
	advance(bounding, bucket);
}

void
dp_gather_row(DpBounding *bounding, int64 bucket)
{
	gather_row(bounding, bucket);
}

/* Gathers a bucket with values in place, or sets it aside; returns its size. */
static Size
gather_bucket(DpBounding *bounding, char *from)
{
	const DpUnitTable *table = &bounding->table;
	DpRow	   *row = &bounding->row;
	int64		bucket;

	row->unit = dp_bucket_unit(from);
	row->unit_isnull = *dp_bucket_taken(table, from) == DP_NULL_UNIT;
	row->hash = dp_unit_hash(row->unit, bounding->spec);
	bucket = dp_find_unit(bounding);
	if (bucket < 0)
		bucket = dp_enter_unit(bounding);
	if (bucket < 0)
		dp_set_bucket_aside(bounding, from, row->hash);
	else
	{
		char	   *to = dp_bucket(table, bucket);

		*dp_bucket_taken(table, to) = *dp_bucket_taken(table, from);
		dp_merge_values(&bounding->shape.layout, to, from);
	}
	return table->stride;
}

/* Returns the state of a bucket, or what its values in place are as one, until the next call; NULL: there is none. */
DpBoundState *
dp_state_at(const DpBounding *bounding, uint64 bucket)
{
	const DpUnitTable *table = &bounding->table;
	const char *from = dp_bucket(table, bucket);

	if (!table->in_place)
		return table->state_of[bucket];
	if (!dp_has_state(table, bucket))
		return NULL;
	/* but for the entry's rank, which the unit takes the place of, and by which it has no other to be told from */
	memcpy(dp_state_entries(table->scratch) + sizeof(uint64), from + sizeof(uint64), table->taken_at - sizeof(uint64));
	return table->scratch;
}

/* Gathers a state of the row's unit, which came in a record, or sets it aside. */
static void
gather_state(DpBounding *bounding, const char *record, const DpBoundState *other)
{
	int64		bucket = dp_find_unit(bounding);
	DpBoundState *state;

	if (bucket < 0)
		bucket = dp_enter_unit(bounding);
	if (bucket < 0)
	{
		dp_pass_state_on(bounding, record, other);
		return;
	}
	state = bounding->table.state_of[bucket];
	if (state == NULL)
		state = memcpy(MemoryContextAllocHuge(bounding->table.states, VARSIZE(other)), other, VARSIZE(other));
	else
		dp_bound_merge(&state, other, &bounding->shape);
	bounding->table.state_of[bucket] = state;
	if (bounding->shape.layout.nkeys > 0)
		note_last_rank(bounding, bucket);
	check_memory(bounding);
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
	Size		keep = bounding->pass.bits > 0 && used <= Min(bounding->table.limit / 4, MOST_KEPT) ? MAXALIGN(used) : 0;

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
	bounding->shape.states = bounding->table.states;
}

/* Returns how many bits of the hash tell partitions apart, where "bits" of them are used up. */
int
dp_partition_bits(Size limit, int bits)
{
	/* a partition takes a chunk and a file, half of the memory for all */
	Size		share = limit / 2 / (DP_CHUNK_SIZE + BLCKSZ);
	int			result = 2;

	if (bits > 0)
		share = Min(share, DP_MAX_PARTITIONS) / 16;
	while (2 << result <= Min(share, DP_MAX_PARTITIONS))
		result++;
	return result;
}

/*
 * Returns with how many buckets to begin a pass over so many bytes of records.  A partition has no
 * more units than records, and about as many as the one before it, of which the table still is.
 */
static uint64
buckets_to_begin(const DpBounding *bounding, Size bytes)
{
	const DpUnitTable *table = &bounding->table;
	uint64		units = bytes / bounding->record.size;
	uint64		result = LEAST_BUCKETS;

	if (bounding->pass.bits > 0)
		units = Min(units, table->nunits / 4 * 5 + MORE_UNITS);
	else
		units = Min(units, Max(table->nbuckets, FIRST_BUCKETS) / 4 * 3);
	while (result / 4 * 3 < units && result * 2 * dp_bucket_memory(table) <= table->limit / 4)
		result *= 2;
	return result;
}

/*
 * Begins a pass over units whose hashes have their first bits in common: with
 * an empty table, which may take table_limit bytes, and nothing set aside.  Its records
 * have at most so many bytes, of which those of rows count.
 */
void
dp_begin_pass(DpBounding *bounding, int bits, Size table_limit, Size bytes)
{
	uint64		nbuckets;
	int			most = bits == 0 && bounding->share != NULL ? dp_share_bits(bounding) : dp_partition_bits(bounding->limit, bits);

	/* where no bits are left there is but one hash in each partition */
	bounding->pass.partition_bits = Min(most, 63 - bits);
	bounding->table.limit = bounding->pass.partition_bits < 1 ? SIZE_MAX : table_limit;
	bounding->pass.partition_bits = Max(bounding->pass.partition_bits, 1);

	/*
	 * pass.bits is still that of the previous pass: these tell by it whether
	 * that was the first
	 */
	start_states(bounding);
	nbuckets = bits > 0 ? buckets_to_begin(bounding, bytes) : FIRST_BUCKETS;
	bounding->pass.bits = bits;
	dp_start_table(bounding, nbuckets);
}

/* Sets states aside that are not the whole: of late units or, where others gather too, of all. */
static void
set_states_aside(DpBounding *bounding, bool all)
{
	DpUnitTable *table = &bounding->table;

	if (!all && table->nlate == 0)
		return;
	for (uint64 at = 0; at <= table->nbuckets; at++)
	{
		char	   *bucket = dp_bucket(table, at);

		if (!dp_has_state(table, at) || (!all && !*dp_bucket_late(table, bucket)))
			continue;
		dp_set_state_aside(bounding, at);
		if (table->in_place)
			*dp_bucket_taken(table, bucket) = DP_NOBODY;
		else
			table->state_of[at] = NULL;
		if (at < table->nbuckets)
			table->nunits--;
	}
}

/* Lets the partitions of a pass wait for passes of their own. */
static void
keep_partitions(DpBounding *bounding)
{
	bool		files = false;

	for (int i = 0; i < 1 << bounding->pass.partition_bits; i++)
		files |= bounding->pass.partitions[i].file != NULL;
	if (files)
	{
		dp_write_partitions(bounding);
		dp_free_spare_chunks(bounding);
	}
	for (int i = 0; i < 1 << bounding->pass.partition_bits; i++)
	{
		DpPartition *from = &bounding->pass.partitions[i];
		DpPartition *p;

		dp_close_rows(from);
		if (from->file == NULL && from->rows == NULL && from->states == NULL)
			continue;
		p = MemoryContextAlloc(bounding->context, sizeof(DpPartition));
		*p = *from;
		p->bits = bounding->pass.bits + bounding->pass.partition_bits;
		p->next = bounding->pass.waiting;
		bounding->pass.waiting = p;
	}
}

/* Ends a pass: what was set aside waits, the table is to be emitted. */
void
dp_end_pass(DpBounding *bounding)
{
	bool		shared = bounding->share != NULL && bounding->pass.bits == 0;

	set_states_aside(bounding, shared);
	bounding->use.memory = Max(bounding->use.memory, dp_bounding_memory(bounding));
	if (shared)
		dp_share_publish(bounding);
	else
		keep_partitions(bounding);
	bounding->use.disk = Max(bounding->use.disk, bounding->pass.written);
	bounding->use.passes += shared ? 0 : 1;
	bounding->use.units += bounding->table.nunits;
	memset(bounding->pass.partitions, 0, sizeof(bounding->pass.partitions));
	bounding->output.emitting = true;
	bounding->output.emitted = 0;
}

/* Returns where the record after the one at "at" is. */
static inline Size
next_record(const DpBounding *bounding, const DpChunk *chunk, Size at)
{
	const DpRecordFormat *format = &bounding->record;

	return at + (format->varies ? ((const uint32 *) (chunk->data + at))[format->nulls] : format->size);
}

/* where the caches are told to look, further on in a chunk of rows */
typedef struct Ahead
{
	Size		state;
	Size		bucket;
} Ahead;

static inline void
start_ahead(const DpBounding *bounding, const DpChunk *chunk, Ahead *ahead)
{
	ahead->bucket = 0;
	for (int i = 0; i < FETCH_BUCKET && ahead->bucket < chunk->used; i++)
	{
		if (i == FETCH_STATE)
			ahead->state = ahead->bucket;
		ahead->bucket = next_record(bounding, chunk, ahead->bucket);
	}
}

/* Fetches the bucket of one record further on, and the state of one that is nearer. */
static inline void
fetch_ahead(const DpBounding *bounding, const DpChunk *chunk, Ahead *ahead)
{
	uint64		mask = bounding->table.nbuckets - 1;
	uint64		bucket;

	if (ahead->bucket >= chunk->used)
		return;
	bucket = dp_record_hash(bounding, chunk->data + ahead->bucket) & mask;
	__builtin_prefetch(dp_bucket(&bounding->table, bucket));
	ahead->bucket = next_record(bounding, chunk, ahead->bucket);
	__builtin_prefetch(&bounding->table.state_of[bucket]);
	/* not looked for any further: it is there, or somewhere near */
	bucket = dp_record_hash(bounding, chunk->data + ahead->state) & mask;
	__builtin_prefetch(bounding->table.state_of[bucket]);
	if (bounding->table.image_of != NULL)
		__builtin_prefetch(bounding->table.image_of[bucket]);
	ahead->state = next_record(bounding, chunk, ahead->state);
}

/* Gathers all rows of a chunk into units' values in place. */
static void
gather_rows_in_place(DpBounding *bounding, const DpChunk *chunk)
{
	DpRow	   *row = &bounding->row;
	Size		size = bounding->record.size;
	Size		ahead = FETCH_BUCKET * size;

	for (Size at = 0; at < chunk->used; at += size)
	{
		int64		bucket;

		if (at + ahead < chunk->used)
			__builtin_prefetch(dp_bucket(&bounding->table, dp_record_hash(bounding, chunk->data + at + ahead) &
										 (bounding->table.nbuckets - 1)));
		dp_read_record(bounding, unconstify(char *, chunk->data + at));
		bucket = dp_find_unit(bounding);
		if (likely(bucket >= 0))
			dp_add_in_place(bounding, bucket, row->field, row->isnull);
		else
			gather_row(bounding, bucket);
	}
}

/* Gathers all records of a chunk. */
static void
gather_chunk(DpBounding *bounding, DpChunk *chunk)
{
	ExprContext *econtext = bounding->input.econtext;
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	Size		at = 0;
	Ahead		ahead = {0, 0};

	CHECK_FOR_INTERRUPTS();
	if (bounding->table.in_place && !chunk->states)
	{
		gather_rows_in_place(bounding, chunk);
		MemoryContextSwitchTo(old);
		return;
	}
	if (!chunk->states)
		start_ahead(bounding, chunk, &ahead);
	while (at < chunk->used)
	{
		char	   *record = chunk->data + at;

		if (unlikely(chunk->states) && bounding->table.in_place)
			at += gather_bucket(bounding, record);
		else if (unlikely(chunk->states))
		{
			const DpBoundState *state;

			at += dp_read_state_record(bounding, record, &state);
			gather_state(bounding, record, state);
		}
		else
		{
			int64		bucket;

			fetch_ahead(bounding, chunk, &ahead);
			at += dp_read_record(bounding, record);
			bucket = dp_find_unit(bounding);
			if (!dp_is_left_out(bounding, bucket))
				gather_row(bounding, bucket);
		}
		dp_reset_row_memory(econtext);
	}
	MemoryContextSwitchTo(old);
}

static void
gather_chunks(DpBounding *bounding, DpChunk *chunks)
{
	while (chunks != NULL)
	{
		DpChunk    *next = chunks->next;

		gather_chunk(bounding, chunks);
		dp_free_chunk(bounding, chunks);
		chunks = next;
	}
}

/* Gathers all records of a file, and closes it. */
static void
gather_file(DpBounding *bounding, BufFile *file)
{
	DpChunk    *chunk;

	if (BufFileSeek(file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind temporary file of a private query")));
	while ((chunk = dp_read_chunk(bounding, file)) != NULL)
	{
		gather_chunk(bounding, chunk);
		dp_free_chunk(bounding, chunk);
	}
	BufFileClose(file);
}

/* Gathers all records of a partition that processes share, and that this one took. */
static void
gather_shared(DpBounding *bounding, int partition)
{
	DpChunk    *chunk;

	for (int i = 0;; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(bounding->context);
		BufFile    *file = dp_share_open_file(bounding, partition, i);

		MemoryContextSwitchTo(old);
		if (file == NULL)
			break;
		gather_file(bounding, file);
	}
	while ((chunk = dp_share_take_chunk(bounding, partition)) != NULL)
	{
		gather_chunk(bounding, chunk);
		dp_free_chunk(bounding, chunk);
	}
}

static Size
bytes_of(const DpChunk *chunks)
{
	Size		bytes = 0;

	for (; chunks != NULL; chunks = chunks->next)
		bytes += chunks->used;
	return bytes;
}

/* Runs a later pass, over the records of a waiting partition; returns false when there is none. */
bool
dp_gather_partition(DpBounding *bounding)
{
	DpPartition *p = bounding->pass.waiting;
	int			shared = -1;
	Size		others;
	Size		bytes;

	if (p != NULL)
		bounding->pass.waiting = p->next;
	else if (bounding->share == NULL || (shared = dp_share_next_partition(bounding)) < 0)
		return false;
	others = MemoryContextMemAllocated(bounding->context, false) - dp_table_memory(bounding) + dp_share_waiting(bounding);
	if (p == NULL)
		bytes = dp_share_bytes(bounding, shared);
	else
		bytes = p->file != NULL ? SIZE_MAX : bytes_of(p->rows) + bytes_of(p->states);
	dp_begin_pass(bounding, p != NULL ? p->bits : dp_share_bits(bounding),
				  (bounding->limit - Min(others, bounding->limit * 3 / 4)) / 4 * 3, bytes);
	if (p == NULL)
		gather_shared(bounding, shared);
	else
	{
		if (p->file != NULL)
			gather_file(bounding, p->file);
		gather_chunks(bounding, p->states);
		gather_chunks(bounding, p->rows);
		pfree(p);
	}
	dp_end_pass(bounding);
	return true;
}
