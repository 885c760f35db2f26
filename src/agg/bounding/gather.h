/*-------------------------------------------------------------------------
 *
 * gather.h
 *	  A bounding aggregation that is under way: rows of units, gathered in passes.
 *
 * Private to src/agg.  See gather.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_BOUND_ROWS_H
#define DP_BOUND_ROWS_H

#include "executor/executor.h"
#include "executor/nodeAgg.h"
#include "storage/buffile.h"

#include "agg/bounding/state.h"

/* records' memory is handled in such pieces, which are also what is written */
#define DP_CHUNK_SIZE 16384

#define DP_MAX_PARTITIONS 256

/* how many arguments are stored at most: a record has 32 bits for NULLs */
#define DP_MAX_STORED 31

/* an argument of bound_unit that changes from row to row and is not the unit */
typedef struct DpStoredArg
{
	int			argno;			/* of the transition function */
	AttrNumber	attno;			/* of the input row; 0: see expr */
	ExprState  *expr;
	int16		typlen;
	bool		typbyval;
	bool		is_key;
	uint16		offset;			/* in a record; by reference: of the length */
} DpStoredArg;

/*
 * A record: bits of NULLs (bit 0: the unit), the unit, which takes 4 or 8 bytes
 * like each argument by value, the arguments or, by reference, their lengths
 * (4 bytes), and the bytes of the latter.
 */
#define DP_RECORD_UNIT sizeof(uint32)

typedef struct DpChunk
{
	struct DpChunk *next;
	uint32		used;
	uint32		size;			/* of data */
	char		data[FLEXIBLE_ARRAY_MEMBER];	/* aligned */
} DpChunk;

typedef struct DpPartition
{
	DpChunk    *chunks;			/* the last one first; in no file yet */
	BufFile    *file;
	struct DpPartition *next;	/* of those that wait */
	int			bits;			/* of the hash that its units have in common */
} DpPartition;

typedef struct DpBucket
{
	uint64		unit;
	uint32		last_rank;		/* the upper half of the last one of the groups that
								 * the state keeps; the largest number as long
								 * as it takes more */
	bool		taken;
} DpBucket;

/* what a test did since the order was chosen */
typedef struct DpDropped
{
	uint32		tested;
	uint32		dropped;
} DpDropped;

typedef struct DpGroupSums DpGroupSums;

typedef struct DpBounding
{
	AggState   *agg;
	struct DpBounding *next;	/* of all that are under way */
	AggStatePerTrans trans;
	FunctionCallInfo fcinfo;	/* of the transition function */
	ScanState  *scan;			/* of the input, which is read here with its
								 * condition; NULL: through the executor */
	bool		rank_first;		/* then the condition */
	DpDropped	by_rank;
	DpDropped	by_qual;
	AttrNumber	unit_attno;
	int16		unit_typlen;
	int			unit_argno;		/* of the transition function; 0: none */
	AttrNumber	first_attno;	/* the last column that is read of every row */
	AttrNumber	last_attno;		/* that is read at all */
	const DpBoundSpec *spec;
	int			nkeys;			/* 0 also where ranks cannot be told here */
	int16		key_typlen[DP_MAX_KEYS];
	AttrNumber	key_attno[DP_MAX_KEYS]; /* 0: computed */
	bool		keys_are_columns;	/* none is computed */
	int			nstored;
	DpStoredArg stored[DP_MAX_STORED];
	bool		by_reference;	/* some stored argument is */
	Size		key_bytes;		/* that a row's keys by reference may take */
	uint32		record_size;	/* without the bytes by reference */

	MemoryContext context;		/* of what follows */
	MemoryContext states;
	bool		keeps_states;	/* memory of them, from pass to pass */
	Size		limit;
	Size		table_limit;
	DpBucket   *buckets;		/* nbuckets, and one for rows without unit */
	DpBoundState **state_of;	/* for each bucket; NULL: none */
	uint64		nbuckets;		/* a power of two */
	uint64		nunits;
	bool		full;			/* no further unit enters the table */

	DpPartition partitions[DP_MAX_PARTITIONS];	/* of the pass */
	int			bits;			/* of the hash that are used up before it */
	int			partition_bits;
	DpPartition *waiting;
	DpChunk    *spare;
	uint64		written;

	bool		started;
	bool		emitting;
	uint64		emitted;		/* buckets that are done with */
	DpBoundState *state;		/* the next one to leave, of this unit */
	uint64		state_unit;
	bool		state_isnull;
	DpGroupSums   *totals;			/* NULL: states leave as they are */
} DpBounding;

/* records.c */
extern void dp_set_aside(DpBounding *rows, uint64 unit, bool unit_isnull, uint64 hash);
extern Size dp_read_record(DpBounding *rows, char *record, uint64 *unit, bool *unit_isnull);
extern void dp_write_partitions(DpBounding *rows);
extern DpChunk *dp_read_chunk(DpBounding *rows, BufFile *file);
extern void dp_free_chunk(DpBounding *rows, DpChunk *chunk);
extern void dp_free_spare_chunks(DpBounding *rows);

/* units.c */
extern void dp_start_table(DpBounding *rows, uint64 nbuckets);
extern int64 dp_enter_unit(DpBounding *rows, uint64 unit, uint64 hash);

/* input.c */
extern void dp_gather_input(DpBounding *rows);

/* gather.c */
extern void dp_begin_pass(DpBounding *rows, int bits, Size table_limit);
extern void dp_gather_row(DpBounding *rows, int64 bucket, uint64 unit, bool unit_isnull, uint64 hash);
extern void dp_end_pass(DpBounding *rows);
extern void dp_gather_partition(DpBounding *rows);

/* group_sums.c */
extern DpGroupSums *dp_group_sums_create(const DpBoundSpec *spec, Size limit, MemoryContext parent);
extern bool dp_group_sums_add(DpGroupSums *totals, const DpBoundState *state);
extern bool dp_group_sums_useless(const DpGroupSums *totals);
extern DpBoundState *dp_group_sums_take(DpGroupSums *totals);
extern void dp_group_sums_free(DpGroupSums *totals);

/* unit.c */
extern Datum dp_bound_unit(PG_FUNCTION_ARGS);

static inline uint64
dp_record_unit(const DpBounding *rows, const char *record)
{
	int32		narrow;
	uint64		unit;

	if (rows->unit_typlen > (int) sizeof(int32))
	{
		memcpy(&unit, record + DP_RECORD_UNIT, sizeof(unit));
		return unit;
	}
	memcpy(&narrow, record + DP_RECORD_UNIT, sizeof(narrow));
	return (uint64) (int64) narrow;
}

#define DP_BUCKET_MEMORY (sizeof(DpBucket) + sizeof(DpBoundState *))

static inline Size
dp_table_memory(const DpBounding *rows)
{
	return (rows->nbuckets + 1) * DP_BUCKET_MEMORY;
}

static inline Size
dp_rows_memory(const DpBounding *rows)
{
	return MemoryContextMemAllocated(rows->context, true);
}

/* the unit's bucket; -1 when it is not in the table */
static inline int64
dp_find_unit(const DpBounding *rows, uint64 unit, bool unit_isnull, uint64 hash)
{
	const DpBucket *buckets = rows->buckets;
	uint64		mask = rows->nbuckets - 1;
	uint64		at = hash & mask;

	if (unlikely(unit_isnull))
		return rows->nbuckets;
	while (buckets[at].taken)
	{
		if (buckets[at].unit == unit)
			return at;
		at = (at + 1) & mask;
	}
	return -1;
}

/*
 * Would bound_unit leave out the row?  As it does, where the unit has as many
 * groups as it may have, and this one comes after all of them; told without
 * the state, which is seldom in a cache, by the upper half of ranks.  Keys are
 * those of the input's row or, when slot is NULL, of the arguments that are set.
 */
static inline bool
dp_is_left_out(const DpBounding *rows, int64 bucket, uint64 hash, const TupleTableSlot *slot)
{
	const NullableDatum *args = &rows->fcinfo->args[rows->unit_argno + 1];
	uint64		rank;

	if (bucket < 0 || rows->buckets[bucket].last_rank == PG_UINT32_MAX)
		return false;
	rank = dp_unit_salt(hash, rows->spec);
	for (int i = 0; i < rows->nkeys; i++)
	{
		int			at = slot != NULL ? rows->key_attno[i] - 1 : i;

		if (unlikely(slot != NULL ? slot->tts_isnull[at] : args[at].isnull))
			rank = dp_rank_null(rank);
		else
			rank = dp_rank_word(rank, dp_key_word(slot != NULL ? slot->tts_values[at] : args[at].value,
												  rows->key_typlen[i]));
	}
	return (uint32) (rank >> 32) > rows->buckets[bucket].last_rank;
}

/* ResetExprContext where there is something to reset, which is rare */
static inline void
dp_reset_row_memory(ExprContext *econtext)
{
	if (unlikely(!econtext->ecxt_per_tuple_memory->isReset))
		ResetExprContext(econtext);
}

#endif							/* DP_BOUND_ROWS_H */
