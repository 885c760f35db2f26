/*-------------------------------------------------------------------------
 *
 * bound_rows.h
 *	  A bounding aggregation that is under way: rows of units, gathered in passes.
 *
 * Private to src/agg.  See bound_rows.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_BOUND_ROWS_H
#define DP_BOUND_ROWS_H

#include "executor/nodeAgg.h"
#include "storage/buffile.h"

#include "agg/state.h"

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
	DpBoundState *state;		/* NULL: free */
	uint64		last_rank;		/* of the groups that the state keeps; the
								 * largest number as long as it takes more */
} DpBucket;

typedef struct DpTotals DpTotals;

typedef struct DpBoundRows
{
	AggState   *agg;
	struct DpBoundRows *next;	/* of all that are under way */
	AggStatePerTrans trans;
	FunctionCallInfo fcinfo;	/* of the transition function */
	AttrNumber	unit_attno;
	int16		unit_typlen;
	int			unit_argno;		/* of the transition function; 0: none */
	AttrNumber	last_attno;		/* that is read */
	const DpBoundSpec *spec;
	int			nkeys;			/* 0 also where ranks cannot be told here */
	int16		key_typlen[DP_MAX_KEYS];
	int			nstored;
	DpStoredArg stored[DP_MAX_STORED];
	bool		by_reference;	/* some stored argument is */
	uint32		record_size;	/* without the bytes by reference */

	MemoryContext context;		/* of what follows */
	MemoryContext states;
	bool		keeps_states;	/* memory of them, from pass to pass */
	Size		limit;
	Size		table_limit;
	DpBucket   *buckets;
	uint64		nbuckets;		/* a power of two */
	uint64		nunits;
	DpBucket	null_unit;		/* of rows without unit */
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
	DpTotals   *totals;			/* NULL: states leave as they are */
} DpBoundRows;

/* bound_records.c */
extern void dp_set_aside(DpBoundRows *rows, uint64 unit, bool unit_isnull, uint64 hash);
extern Size dp_read_record(DpBoundRows *rows, char *record, uint64 *unit, bool *unit_isnull);
extern void dp_write_partitions(DpBoundRows *rows);
extern DpChunk *dp_read_chunk(DpBoundRows *rows, BufFile *file);
extern void dp_free_chunk(DpBoundRows *rows, DpChunk *chunk);
extern void dp_free_spare_chunks(DpBoundRows *rows);

/* bound_rows.c */
extern void dp_gather_input(DpBoundRows *rows);
extern void dp_gather_partition(DpBoundRows *rows);

/* bound_totals.c */
extern DpTotals *dp_totals_create(const DpBoundSpec *spec, Size limit, MemoryContext parent);
extern bool dp_totals_add(DpTotals *totals, const DpBoundState *state);
extern bool dp_totals_useless(const DpTotals *totals);
extern DpBoundState *dp_totals_take(DpTotals *totals);
extern void dp_totals_free(DpTotals *totals);

/* bound_unit.c */
extern Datum dp_bound_unit(PG_FUNCTION_ARGS);

static inline uint64
dp_record_unit(const DpBoundRows *rows, const char *record)
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

static inline Size
dp_rows_memory(const DpBoundRows *rows)
{
	return MemoryContextMemAllocated(rows->context, true);
}

#endif							/* DP_BOUND_ROWS_H */
