/*-------------------------------------------------------------------------
 *
 * bound_rows.c
 *	  Gathers the rows of each unit for bound_unit, faster than nodeAgg does.
 *
 * With millions of units the executor's hash aggregation waits for memory:
 * each row of a random unit misses the caches at the bucket, the group's
 * tuple, its array of states and the state.  Where the inner plan is the usual
 * one, HashAggregate with bound_unit alone by one column of a type that is its
 * own bits, the node is run by this file instead (bound_node.c); any other
 * plan, and every partial aggregation, by nodeAgg.
 *
 * Units go into a table that the caches hold.  Once it is full, rows of units
 * that it does not know are set aside as short records, in partitions by their
 * unit's hash; each of these is gathered by itself later, in the same way.
 *
 * Invariants:
 *	- all rows of a unit are gathered in one state: a pass either has the unit
 *	  in its table before it sets rows of it aside, or sets all of them aside,
 *	  in one partition.  Hence states are what any other order and grouping of
 *	  rows would make them (see bound_state.c);
 *	- memory stays below work_mem * hash_mem_multiplier as far as a limit on
 *	  the number of groups can see to it (nodeAgg's own rule): no unit enters a
 *	  full table, and records that do not fit go to temporary files;
 *	- each pass takes at least MIN_UNITS units out of its partition, and hashes
 *	  of different units differ (dp_mix is a bijection), so partitions end.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "agg/bound_rows.h"

/* what the first table may take: its buckets, a fifth of it, stay in a core's second cache */
#define FIRST_TABLE ((Size) 2 * 1024 * 1024)

#define MIN_UNITS 64
#define FIRST_BUCKETS 1024

/* how many records ahead a bucket and a state are fetched */
#define FETCH_BUCKET 8
#define FETCH_STATE 4

/* ------------------------------------------------------------------------
 * Units
 * ------------------------------------------------------------------------
 */

static void
start_table(DpBoundRows *rows, uint64 nbuckets)
{
	if (rows->nbuckets == nbuckets)
		memset(rows->buckets, 0, nbuckets * sizeof(DpBucket));
	else
	{
		if (rows->buckets != NULL)
			pfree(rows->buckets);
		rows->buckets = MemoryContextAllocExtended(rows->context, nbuckets * sizeof(DpBucket),
												   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		rows->nbuckets = nbuckets;
	}
	rows->nunits = 0;
	memset(&rows->null_unit, 0, sizeof(DpBucket));
	rows->full = false;
}

static void
grow_table(DpBoundRows *rows)
{
	DpBucket   *old = rows->buckets;
	uint64		n = rows->nbuckets;
	uint64		mask = n * 2 - 1;

	CHECK_FOR_INTERRUPTS();
	rows->buckets = MemoryContextAllocExtended(rows->context, n * 2 * sizeof(DpBucket),
											   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	rows->nbuckets = n * 2;
	for (uint64 i = 0; i < n; i++)
	{
		uint64		at;

		if (old[i].state == NULL)
			continue;
		at = dp_unit_hash(old[i].unit, rows->spec) & mask;
		while (rows->buckets[at].state != NULL)
			at = (at + 1) & mask;
		rows->buckets[at] = old[i];
	}
	pfree(old);
}

/* may a further unit enter the table? */
static bool
has_room(DpBoundRows *rows)
{
	Size		table = rows->nbuckets * sizeof(DpBucket);

	if (rows->nunits < MIN_UNITS)
		return true;
	/* three buckets in four are taken, at most; old and new are there at once */
	if (rows->nunits * 4 >= rows->nbuckets * 3)
	{
		if (MemoryContextMemAllocated(rows->states, false) + 3 * table > rows->table_limit)
			return false;
		grow_table(rows);
		return true;
	}
	return MemoryContextMemAllocated(rows->states, false) + table <= rows->table_limit;
}

/* where the unit's state is, to be made when it is NULL; NULL when its rows are to be set aside */
static inline DpBucket *
find_unit(DpBoundRows *rows, uint64 unit, bool unit_isnull, uint64 hash)
{
	uint64		mask;
	uint64		at;

	if (unlikely(unit_isnull))
	{
		rows->null_unit.last_rank = PG_UINT64_MAX;
		return &rows->null_unit;
	}

	mask = rows->nbuckets - 1;
	at = hash & mask;
	while (rows->buckets[at].state != NULL)
	{
		if (rows->buckets[at].unit == unit)
			return &rows->buckets[at];
		at = (at + 1) & mask;
	}
	if (rows->full)
		return NULL;
	if (!has_room(rows))
	{
		rows->full = true;
		return NULL;
	}
	/* it may have grown */
	mask = rows->nbuckets - 1;
	at = hash & mask;
	while (rows->buckets[at].state != NULL)
		at = (at + 1) & mask;
	rows->buckets[at].unit = unit;
	rows->buckets[at].last_rank = PG_UINT64_MAX;
	rows->nunits++;
	return &rows->buckets[at];
}

/*
 * Would bound_unit leave out the row whose arguments are set?  As it does,
 * where the unit has as many groups as it may have, and this one comes after
 * all of them; told without the state, which is seldom in a cache.
 */
static inline bool
is_left_out(const DpBoundRows *rows, const DpBucket *bucket, uint64 hash)
{
	const NullableDatum *key = &rows->fcinfo->args[rows->unit_argno + 1];
	uint64		rank;
	uint64		nulls = 0;

	if (bucket->last_rank == PG_UINT64_MAX)
		return false;
	rank = dp_unit_salt(hash, rows->spec);
	for (int i = 0; i < rows->nkeys; i++, key++)
		if (unlikely(key->isnull))
		{
			rank = dp_rank_null(rank);
			nulls |= UINT64CONST(1) << i;
		}
		else
			rank = dp_rank_word(rank, dp_key_word(key->value, rows->key_typlen[i]));
	return dp_rank_finish(rank, nulls) > bucket->last_rank;
}

/* calls the transition function with the arguments that are set */
static inline void
advance(DpBoundRows *rows, DpBucket *bucket, uint64 unit, bool unit_isnull)
{
	FunctionCallInfo fcinfo = rows->fcinfo;
	DpBoundState *old = bucket->state;
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
		bucket->state = MemoryContextAlloc(rows->states, VARSIZE(state));
		memcpy(bucket->state, state, VARSIZE(state));
		if (old != NULL)
			pfree(old);
	}
	if (rows->nkeys > 0 && !unit_isnull)
		bucket->last_rank = dp_bound_last_rank(bucket->state);
}

/* what becomes of the row whose arguments are set */
static inline void
gather_row(DpBoundRows *rows, uint64 unit, bool unit_isnull)
{
	uint64		hash = dp_unit_hash(unit, rows->spec);
	DpBucket   *bucket = find_unit(rows, unit, unit_isnull, hash);

	if (bucket == NULL)
		dp_set_aside(rows, unit, unit_isnull, hash);
	else if (!is_left_out(rows, bucket, hash))
		advance(rows, bucket, unit, unit_isnull);
}

/* ------------------------------------------------------------------------
 * Passes
 * ------------------------------------------------------------------------
 */

/*
 * Memory for the states of a pass.  What one partition took stays for those
 * that follow: the system would take the pages back and give them again.
 */
static void
start_states(DpBoundRows *rows)
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

static void
begin_pass(DpBoundRows *rows, int bits, Size table_limit)
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
	while (nbuckets > FIRST_BUCKETS && nbuckets * sizeof(DpBucket) > rows->table_limit / 4)
		nbuckets /= 2;
	start_table(rows, nbuckets);
}

/* what was set aside waits; the table is to be emitted */
static void
end_pass(DpBoundRows *rows)
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

/* ResetExprContext where there is something to reset, which is rare */
static inline void
reset_row_memory(ExprContext *econtext)
{
	if (unlikely(!econtext->ecxt_per_tuple_memory->isReset))
		ResetExprContext(econtext);
}

/* the first pass: rows of the outer plan */
void
dp_gather_input(DpBoundRows *rows)
{
	AggState   *agg = rows->agg;
	PlanState  *outer = outerPlanState(agg);
	ExprContext *econtext = agg->tmpcontext;
	NullableDatum *args = rows->fcinfo->args;
	MemoryContext old;

	begin_pass(rows, 0, Min(FIRST_TABLE, rows->limit / 4));
	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(outer);
		Datum		unit_datum;
		uint64		unit;
		bool		unit_isnull;

		if (TupIsNull(slot))
			break;
		slot_getsomeattrs(slot, rows->last_attno);
		unit_datum = slot->tts_values[rows->unit_attno - 1];
		unit_isnull = slot->tts_isnull[rows->unit_attno - 1];
		unit = unit_isnull ? 0 : dp_key_word(unit_datum, rows->unit_typlen);

		econtext->ecxt_outertuple = slot;
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		for (int i = 0; i < rows->nstored; i++)
		{
			DpStoredArg *arg = &rows->stored[i];
			NullableDatum *to = &args[arg->argno];

			if (arg->attno > 0)
			{
				to->value = slot->tts_values[arg->attno - 1];
				to->isnull = slot->tts_isnull[arg->attno - 1];
			}
			else
				to->value = ExecEvalExpr(arg->expr, econtext, &to->isnull);
		}
		gather_row(rows, unit, unit_isnull);
		MemoryContextSwitchTo(old);
		reset_row_memory(econtext);
	}
	end_pass(rows);
}

/* where records are of one size, what those that follow need may come while this one is at work */
static inline void
fetch_ahead(const DpBoundRows *rows, const DpChunk *chunk, Size at)
{
	Size		near = at + FETCH_STATE * rows->record_size;
	Size		far = at + FETCH_BUCKET * rows->record_size;
	uint64		unit;

	if (far >= chunk->used)
		return;
	unit = dp_record_unit(rows, chunk->data + far);
	__builtin_prefetch(&rows->buckets[dp_unit_hash(unit, rows->spec) & (rows->nbuckets - 1)]);
	unit = dp_record_unit(rows, chunk->data + near);
	/* not looked for any further: it is there, or somewhere near */
	__builtin_prefetch(rows->buckets[dp_unit_hash(unit, rows->spec) & (rows->nbuckets - 1)].state);
}

static void
gather_chunk(DpBoundRows *rows, DpChunk *chunk)
{
	ExprContext *econtext = rows->agg->tmpcontext;
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	Size		at = 0;

	CHECK_FOR_INTERRUPTS();
	while (at < chunk->used)
	{
		uint64		unit;
		bool		unit_isnull;

		if (!rows->by_reference)
			fetch_ahead(rows, chunk, at);
		at += dp_read_record(rows, chunk->data + at, &unit, &unit_isnull);
		gather_row(rows, unit, unit_isnull);
		reset_row_memory(econtext);
	}
	MemoryContextSwitchTo(old);
}

/* a later pass: the rows of a partition */
void
dp_gather_partition(DpBoundRows *rows)
{
	DpPartition *p = rows->waiting;
	DpChunk    *chunk;
	Size		others;

	rows->waiting = p->next;
	others = MemoryContextMemAllocated(rows->context, false) - rows->nbuckets * sizeof(DpBucket);
	begin_pass(rows, p->bits, (rows->limit - Min(others, rows->limit * 3 / 4)) / 4 * 3);

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
	end_pass(rows);
}
