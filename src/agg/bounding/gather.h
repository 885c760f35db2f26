/*-------------------------------------------------------------------------
 *
 * gather.h
 *	  A bounding aggregation that is under way: rows of units, gathered in passes.
 *
 * Private to src/agg.  See gather.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_GATHER_H
#define DP_GATHER_H

#include "executor/executor.h"
#include "nodes/extensible.h"
#include "storage/buffile.h"

#include "agg/bounding/state.h"

/* records' memory is handled in such pieces, which are also what is written */
#define DP_CHUNK_SIZE 16384

#define DP_MAX_PARTITIONS 256

/* the most arguments that a record stores: it has 32 bits for NULLs */
#define DP_MAX_STORED 31

/* an argument of bound_unit that changes from row to row and is not the unit */
typedef struct DpStoredArg
{
	int			argno;			/* number among the arguments of the
								 * transition function */
	AttrNumber	attno;			/* column of the input row; 0: see expr */
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
	uint32		size;			/* bytes in data */
	char		data[FLEXIBLE_ARRAY_MEMBER];	/* aligned */
} DpChunk;

typedef struct DpPartition
{
	DpChunk    *chunks;			/* the last one first; in no file yet */
	BufFile    *file;
	struct DpPartition *next;	/* in the list of waiting ones */
	int			bits;			/* bits of the hash that all its units share */
} DpPartition;

typedef struct DpBucket
{
	uint64		unit;
	uint32		last_rank;		/* the upper half of the rank of the last
								 * group that the state keeps; the largest
								 * number as long as it takes more groups */
	bool		taken;
} DpBucket;

/* how many rows a test has seen and dropped since the order was chosen */
typedef struct DpDropped
{
	uint32		tested;
	uint32		dropped;
} DpDropped;

typedef struct DpGroupSums DpGroupSums;

/* where rows come from, and what is read of them before their arguments are set */
typedef struct DpInput
{
	ScanState  *scan;			/* of the input, which is read here with its
								 * condition; NULL: through the executor */
	bool		rank_first;		/* then the condition */
	DpDropped	by_rank;
	DpDropped	by_qual;
	AttrNumber	unit_attno;
	AttrNumber	first_attno;	/* the last column that is read in every row */
	AttrNumber	last_attno;		/* the last that is read at all */
	int			nkeys;			/* 0 also where ranks cannot be told here */
	int16		key_typlen[DP_MAX_KEYS];
	AttrNumber	key_attno[DP_MAX_KEYS]; /* 0: computed */
	bool		keys_are_columns;	/* none is computed */
} DpInput;

/* the format of rows that are set aside */
typedef struct DpRecordFormat
{
	int16		unit_typlen;
	int			nstored;
	DpStoredArg stored[DP_MAX_STORED];
	bool		by_reference;	/* some stored argument is */
	Size		key_bytes;		/* that a row's keys by reference may take */
	uint32		size;			/* without the bytes by reference */
} DpRecordFormat;

/* the units of a pass, and their states */
typedef struct DpUnitTable
{
	MemoryContext states;
	bool		keeps_states;	/* memory of states stays from pass to pass */
	Size		limit;
	DpBucket   *buckets;		/* nbuckets, and one for rows without unit */
	DpBoundState **state_of;	/* for each bucket; NULL: none */
	uint64		nbuckets;		/* a power of two */
	uint64		nunits;
	bool		full;			/* no further unit enters the table */
} DpUnitTable;

/* rows that a pass sets aside, and that wait for later ones */
typedef struct DpPass
{
	DpPartition partitions[DP_MAX_PARTITIONS];
	int			bits;			/* bits of the hash that are used up before
								 * the pass */
	int			partition_bits;
	DpPartition *waiting;
	DpChunk    *spare;
	uint64		written;		/* bytes, by all passes */
} DpPass;

/* what EXPLAIN shows; rescans add to it */
typedef struct DpBoundingUse
{
	Size		memory;			/* the most bytes at once */
	uint64		disk;			/* bytes written to files, of the run that
								 * wrote the most */
	uint64		passes;
	uint64		units;
} DpBoundingUse;

/* rows on their way out: each is a group of a unit's state, or what several units add up to */
typedef struct DpOutput
{
	bool		started;
	bool		ended;			/* all have left, and nothing is held any more */
	bool		emitting;
	uint64		emitted;		/* buckets that are done with */
	DpBoundState *state;		/* the one whose groups leave next, and its
								 * unit */
	uint64		state_unit;
	bool		state_isnull;
	int			group;			/* the next one of it to leave */
	DpLayout	layout;			/* of states; zeros: no one has left */
	DpGroupSums *sums;			/* NULL: states leave as they are */
	bool		sums_leave;		/* before anything else does */
} DpOutput;

typedef struct DpBounding
{
	PlanState  *outer;			/* where rows come from */
	ExprContext *row;			/* expressions over one row of it */
	FunctionCallInfo fcinfo;	/* of the transition function */
	int			unit_argno;		/* of the transition function; 0: none */
	const DpBoundSpec *spec;
	MemoryContext context;		/* owns all memory below */
	Size		limit;			/* bytes that context may have */
	DpInput		input;
	DpRecordFormat record;
	DpUnitTable table;
	DpPass		pass;
	DpOutput	output;
	DpBoundingUse use;
} DpBounding;

/* records.c */
extern void dp_set_aside(DpBounding *bounding, uint64 unit, bool unit_isnull, uint64 hash);
extern Size dp_read_record(DpBounding *bounding, char *record, uint64 *unit, bool *unit_isnull);
extern void dp_write_partitions(DpBounding *bounding);
extern DpChunk *dp_read_chunk(DpBounding *bounding, BufFile *file);
extern void dp_free_chunk(DpBounding *bounding, DpChunk *chunk);
extern void dp_free_spare_chunks(DpBounding *bounding);
extern void dp_close_files(DpBounding *bounding);

/* units.c */
extern void dp_start_table(DpBounding *bounding, uint64 nbuckets);
extern int64 dp_enter_unit(DpBounding *bounding, uint64 unit, uint64 hash);

/* input.c */
extern void dp_gather_input(DpBounding *bounding);

/* gather.c */
extern void dp_begin_pass(DpBounding *bounding, int bits, Size table_limit);
extern void dp_gather_row(DpBounding *bounding, int64 bucket, uint64 unit, bool unit_isnull, uint64 hash);
extern void dp_end_pass(DpBounding *bounding);
extern void dp_gather_partition(DpBounding *bounding);

/* group_sums.c */
extern DpGroupSums *dp_group_sums_create(const DpBoundSpec *spec, Size limit, MemoryContext parent);
extern bool dp_group_sums_add(DpGroupSums *sums, const DpBoundState *state);
extern bool dp_group_sums_is_empty(const DpGroupSums *sums);
extern bool dp_group_sums_useless(const DpGroupSums *sums);
extern bool dp_group_sums_next(DpGroupSums *sums, const DpRowColumn *columns, int ncolumns, Datum *values, bool *isnull);
extern void dp_group_sums_free(DpGroupSums *sums);

/* unit.c, entry.c, exact/sum.c: told by their addresses */
extern Datum dp_bound_unit(PG_FUNCTION_ARGS);
extern Datum dp_bound_key(PG_FUNCTION_ARGS);
extern Datum dp_bound_value(PG_FUNCTION_ARGS);
extern Datum dp_bound_codes(PG_FUNCTION_ARGS);
extern Datum dp_bound_distinct_codes(PG_FUNCTION_ARGS);
extern Datum dp_steps_sum(PG_FUNCTION_ARGS);

/* what plan.c hands to node.c in custom_private, in this order */
typedef enum DpBoundingPrivate
{
	DP_BOUNDING_UNIT,			/* the unit's column among those of the scan
								 * tuple, from 1 */
	DP_BOUNDING_ADDS_UP,		/* may rows leave added up: group_sums.c */
	DP_BOUNDING_COLUMNS			/* kind and number of each column of rows, the
								 * last ones of the scan tuple */
} DpBoundingPrivate;

#define DP_BOUNDING_NODE "DpBounding"

/* node.c */
extern const CustomScanMethods dp_bounding_scan_methods;

static inline uint64
dp_record_unit(const DpBounding *bounding, const char *record)
{
	int32		narrow;
	uint64		unit;

	if (bounding->record.unit_typlen > (int) sizeof(int32))
	{
		memcpy(&unit, record + DP_RECORD_UNIT, sizeof(unit));
		return unit;
	}
	memcpy(&narrow, record + DP_RECORD_UNIT, sizeof(narrow));
	return (uint64) (int64) narrow;
}

#define DP_BUCKET_MEMORY (sizeof(DpBucket) + sizeof(DpBoundState *))

static inline Size
dp_table_memory(const DpBounding *bounding)
{
	return (bounding->table.nbuckets + 1) * DP_BUCKET_MEMORY;
}

static inline Size
dp_bounding_memory(const DpBounding *bounding)
{
	return MemoryContextMemAllocated(bounding->context, true);
}

/* Returns the unit's bucket; -1 when it is not in the table. */
static inline int64
dp_find_unit(const DpBounding *bounding, uint64 unit, bool unit_isnull, uint64 hash)
{
	const DpBucket *buckets = bounding->table.buckets;
	uint64		mask = bounding->table.nbuckets - 1;
	uint64		at = hash & mask;

	if (unlikely(unit_isnull))
		return bounding->table.nbuckets;
	while (buckets[at].taken)
	{
		if (buckets[at].unit == unit)
			return at;
		at = (at + 1) & mask;
	}
	return -1;
}

/*
 * Tells whether bound_unit would leave out the row, because the unit has as
 * many groups as it may have and the row's group comes after all of them.  It
 * looks at the upper half of ranks alone, not at the state, which is seldom in
 * a cache.  Keys come from slot or, when that is NULL, from the arguments that
 * are set.
 */
static inline bool
dp_is_left_out(const DpBounding *bounding, int64 bucket, uint64 hash, const TupleTableSlot *slot)
{
	const NullableDatum *args = &bounding->fcinfo->args[bounding->unit_argno + 1];
	uint64		rank;

	if (bucket < 0 || bounding->table.buckets[bucket].last_rank == PG_UINT32_MAX)
		return false;
	rank = dp_unit_salt(hash, bounding->spec);
	for (int i = 0; i < bounding->input.nkeys; i++)
	{
		int			at = slot != NULL ? bounding->input.key_attno[i] - 1 : i;

		if (unlikely(slot != NULL ? slot->tts_isnull[at] : args[at].isnull))
			rank = dp_rank_null(rank);
		else
			rank = dp_rank_word(rank, dp_key_word(slot != NULL ? slot->tts_values[at] : args[at].value,
												  bounding->input.key_typlen[i]));
	}
	return (uint32) (rank >> 32) > bounding->table.buckets[bucket].last_rank;
}

/* Resets econtext where there is something to reset, which is rare. */
static inline void
dp_reset_row_memory(ExprContext *econtext)
{
	if (unlikely(!econtext->ecxt_per_tuple_memory->isReset))
		ResetExprContext(econtext);
}

#endif							/* DP_GATHER_H */
