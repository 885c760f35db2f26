/*-------------------------------------------------------------------------
 *
 * gather.h
 *	  A bounding aggregation that is under way: rows of units, gathered in passes.
 *
 * Private to src/agg.  See gather.c.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_GATHER_H
#define DP_GATHER_H

#include "executor/executor.h"
#include "nodes/extensible.h"
#include "storage/buffile.h"
#include "utils/dsa.h"

#include "agg/bounding/fields.h"
#include "agg/bounding/row.h"

/* records' memory is handled in such pieces, which are also what is written */
#define DP_CHUNK_SIZE 16384

#define DP_MAX_PARTITION_BITS 8
#define DP_MAX_PARTITIONS (1 << DP_MAX_PARTITION_BITS)

/* how units are told apart: by a word, or by an image of bytes (unit_key.c) */
typedef struct DpUnitFormat
{
	int			ncolumns;
	bool		is_word;		/* one column, whose bits are its equality */
	bool		is_plain;		/* one column, equal when its bytes are: the
								 * image is these bytes */
	int			salt;			/* column that ranks start from; -1: none */
	AttrNumber *attno;			/* in the input's rows */
	DpKeyInfo  *info;
} DpUnitFormat;

/* the bytes that a unit is told by, where a word does not do */
typedef struct DpUnitImage
{
	uint32		len;
	char		data[FLEXIBLE_ARRAY_MEMBER] pg_attribute_aligned(MAXIMUM_ALIGNOF);
} DpUnitImage;

/* the row at hand */
typedef struct DpRow
{
	uint64		unit;			/* the word, or the hash */
	uint64		hash;
	uint64		salt;			/* ranks of its keys start from it */
	bool		unit_isnull;	/* one column alone; of several each may be */
	DpKey	   *unit_key;		/* of each column; NULL where the unit is a
								 * word */
	uint64	   *unit_hash;		/* of each column */
	bool		has_rank;		/* rank and ranked are those of key */
	uint64		rank;
	NullableDatum key[DP_MAX_KEYS];
	DpKey		ranked[DP_MAX_KEYS];
	int64		field[DP_MAX_FIELDS];	/* see fields.c */
	bool		isnull[DP_MAX_FIELDS];
} DpRow;

/*
 * Records lie in chunks, rows in some and states of units in others.  A chunk
 * of the pass that processes share is in their shared memory.
 */
typedef struct DpChunk
{
	struct DpChunk *next;		/* while one process alone has it */
	struct DpSlab *slab;		/* that it is a piece of; NULL: of none */
	dsa_pointer next_shared;	/* when it is passed on */
	dsa_pointer self;			/* invalid: not in shared memory */
	uint32		used;
	uint32		size;			/* bytes in data */
	Size		total;			/* of this one and those after it, when it was
								 * added */
	bool		states;
	char		data[FLEXIBLE_ARRAY_MEMBER] pg_attribute_aligned(MAXIMUM_ALIGNOF);
} DpChunk;

/* Memory that a process's own chunks are cut from. */
typedef struct DpSlab
{
	struct DpSlab *next;
	uint32		n;				/* chunks that it has room for */
	uint32		cut;			/* so many were handed out at least once */
	uint32		taken;			/* so many are in use */
	char		data[FLEXIBLE_ARRAY_MEMBER] pg_attribute_aligned(MAXIMUM_ALIGNOF);
} DpSlab;

typedef struct DpPartition
{
	/*
	 * what each row that is set aside reads and writes comes first, in as few
	 * lines of the cache as may be
	 */
	char	   *room;			/* in the last chunk of rows, which does not
								 * know yet how much of it is used */
	char	   *room_end;
	uint64		hot_unit;
	uint32		hot_count;		/* of rows of one unit that were set aside,
								 * more than of all others: units.c */
	int			bits;			/* bits of the hash that all its units share */
	DpChunk    *rows;			/* the last one first; in no file yet */
	DpChunk    *states;
	BufFile    *file;
	struct DpPartition *next;	/* in the list of waiting ones */
} DpPartition;

/* what a bucket of a table begins with, unless units' values are in place: DpUnitTable */
typedef struct DpBucket
{
	uint64		unit;
	uint32		last_rank;		/* the upper half of the rank of the last
								 * group that the state keeps; the largest
								 * number as long as it takes more groups */
	uint8		taken;			/* DpTaker */
	bool		late;			/* rows of the unit were set aside before */
} DpBucket;

/* by whom a bucket is taken */
typedef enum DpTaker
{
	DP_NOBODY,
	DP_UNIT,
	DP_NULL_UNIT
} DpTaker;

/* how many rows a test has seen and dropped since the order was chosen */
typedef struct DpDropped
{
	uint32		tested;
	uint32		dropped;
} DpDropped;

/* rows of units with values in place have at most so many fields, and so many of them wait for their buckets */
#define DP_FIELDS_IN_PLACE 4
#define DP_WAITING_ROWS 32

/* such a row, whose unit's bucket is on its way to the first cache */
typedef struct DpWaitingRow
{
	uint64		unit;
	uint64		hash;
	int64		field[DP_FIELDS_IN_PLACE];
	bool		isnull[DP_FIELDS_IN_PLACE];
	bool		unit_isnull;
} DpWaitingRow;

typedef struct DpGroupSums DpGroupSums;

/* a test whether a column is one of a list of whole numbers, or not NULL: members.c */
typedef struct DpMembers
{
	AttrNumber	attno;
	int16		typlen;
	bool		takes_null;
	bool		takes_all;		/* but NULL: there is no list */
	int64		least;			/* of the list */
	uint64		span;			/* from it to the greatest */
	uint64	   *bits;			/* for each number from the least on */
} DpMembers;

/* the condition of a scan */
typedef struct DpCondition
{
	int			nmembers;
	DpMembers  *members;
	DpColumns	columns;		/* that these test */
	ExprState  *rest;			/* NULL: nothing else */
} DpCondition;

/* where rows come from, and what is read of them before their values are computed */
typedef struct DpInput
{
	PlanState  *outer;
	ExprContext *econtext;		/* expressions over one row of it */
	ScanState  *scan;			/* of the input, which is read here with its
								 * condition; NULL: through the executor */
	DpCondition condition;		/* of the input, where it is a scan of a table */
	bool		may_rank_first; /* ranks are told without functions of types */
	bool		rank_first;		/* then the condition */
	bool		may_unit_first; /* the unit is read without them */
	bool		unit_first;		/* before the condition */
	bool		fields_first;	/* before the unit is looked for */
	uint32		looked;			/* for the units of so many rows */
	uint32		found;			/* so many of them were in the table */
	uint64		full_rows;		/* since the table is full */
	DpDropped	by_rank;
	DpDropped	by_qual;
	bool		has_condition;	/* which is tested here */
	DpColumns	first;			/* that are read in every row whose unit is,
								 * with those of the condition */
	AttrNumber	key_attno[DP_MAX_KEYS]; /* 0: computed */
	ExprState  *key_expr[DP_MAX_KEYS];
	bool		keys_are_columns;	/* none is computed */
	uint32		nrows;			/* that have waited, or wait: the last ones */
	uint32		ngathered;		/* of these */
	DpWaitingRow waiting[DP_WAITING_ROWS];
} DpInput;

/* the format of rows that are set aside: records.c */
typedef struct DpRecordFormat
{
	bool		varies;			/* in size */
	uint16		align;			/* what its size, and that of each of its
								 * bytes by reference, is a multiple of */
	uint16		nulls;			/* words of them, of 32 bits; 0: nothing is
								 * NULL */
	uint16		unit;			/* where the unit is */
	uint16		unit_width;		/* of a word */
	uint16		image;			/* where its image is, or its length */
	uint16		image_width;	/* of one that is as long as all; 0: varies */
	uint16		key[DP_MAX_KEYS];	/* a word, or the length of what is by
									 * reference */
	uint16		key_width[DP_MAX_KEYS];
	uint32		size;			/* without bytes by reference */
} DpRecordFormat;

/*
 * The units of a pass, and their states.  Without keys a unit has one group at most, so that its values can be
 * in the bucket itself, where an entry of a state has them; the unit is where the entry has its rank.  Such values are in place.
 */
typedef struct DpUnitTable
{
	bool		in_place;
	Size		stride;			/* bytes of a bucket */
	Size		taken_at;		/* of these, where DpBucket.taken is; then
								 * comes DpBucket.late */
	DpBoundState *scratch;		/* what a unit's values in place are as a
								 * state; made for one after the other */
	MemoryContext arrays;		/* of buckets, state_of and image_of */
	MemoryContext states;
	bool		keeps_states;	/* memory of states stays from pass to pass */
	Size		limit;
	char	   *buckets;		/* nbuckets, and one for rows without unit */
	DpBoundState **state_of;	/* for each bucket; NULL: none, or in place */
	DpUnitImage **image_of;		/* the same; NULL where units are words */
	uint64		nbuckets;		/* a power of two */
	uint64		nunits;
	uint64		nlate;
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
	DpSlab	   *slabs;			/* the last one first, which alone may have
								 * chunks that were never handed out */
	Size		shared;			/* bytes in chunks of shared memory */
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

/* units whose values in place are one word, and the same */
typedef struct DpAlike
{
	uint64		word;
	uint64		bucket;			/* of one of them */
	int			n;				/* 0: none */
} DpAlike;

#define DP_ALIKE 64				/* a power of two */

/* rows on their way out: each is a group of a unit's state, or what several units add up to */
typedef struct DpOutput
{
	bool		started;
	bool		ended;			/* all have left, and nothing is held any more */
	bool		emitting;
	uint64		emitted;		/* buckets that are done with */
	DpBoundState *state;		/* the one whose groups leave next */
	uint64		bucket;			/* of it */
	int			nalike;			/* so many units have this state; above 1 only
								 * where they add up */
	DpAlike		alike[DP_ALIKE];	/* that have not left */
	int			group;			/* the next one of it to leave */
	DpLayout	layout;			/* of states; zeros: no one has left */
	DpNorms		norms;			/* of the unit whose groups leave */
	DpGroupSums *sums;			/* NULL: states leave as they are */
	bool		sums_leave;		/* before anything else does */
} DpOutput;

typedef struct DpShare DpShare;

typedef struct DpBounding
{
	/* what arguments.c reads, once for all runs */
	MemoryContext arguments;	/* owns its memory; NULL: not read yet */
	const DpBoundSpec *spec;
	DpShape		shape;
	Size		key_bytes;		/* that a row's keys by reference may take */
	uint64		no_salt;		/* of units whose salt is not their own */
	DpUnitFormat unit;
	DpFields	fields;
	DpInput		input;
	DpRecordFormat record;
	DpRow		row;

	/* the run that is under way */
	MemoryContext context;		/* owns all memory below; NULL: none is */
	Size		limit;			/* bytes that context may have */
	DpUnitTable table;
	DpPass		pass;
	DpOutput	output;

	DpBoundingUse use;
	DpShare    *share;			/* NULL: this process gathers alone */
	dsa_area   *dsa;			/* of share */
} DpBounding;

/* arguments.c */
extern void dp_read_arguments(DpBounding *bounding, PlanState *node, List *args, List *units, int unit_argument,
							  TupleDesc desc);

/* unit_key.c */
extern void dp_read_unit_key(DpBounding *bounding, const TupleTableSlot *slot);
extern Size dp_unit_image_size(const DpBounding *bounding);
extern void dp_write_unit_image(const DpBounding *bounding, char *image);
extern void dp_read_unit_image(DpBounding *bounding, char *image, uint32 len);
extern bool dp_is_image_of_row(const DpBounding *bounding, DpUnitImage *image);

/* Returns the partition of a pass for units of this hash. */
static inline DpPartition *
dp_partition_of(DpBounding *bounding, uint64 hash)
{
	return &bounding->pass.partitions[(hash << bounding->pass.bits) >> (64 - bounding->pass.partition_bits)];
}

extern void dp_unit_values(const DpBounding *bounding, uint64 bucket, Datum *values, bool *isnull);

/* records.c */
extern void dp_plan_records(DpBounding *bounding);
extern void dp_set_aside(DpBounding *bounding, DpPartition *p);
extern void dp_set_state_aside(DpBounding *bounding, uint64 bucket);
extern Size dp_read_record(DpBounding *bounding, char *record);
extern Size dp_read_state_record(DpBounding *bounding, char *record, const DpBoundState **state);
extern void dp_pass_state_on(DpBounding *bounding, const char *record, const DpBoundState *state);
extern void dp_set_bucket_aside(DpBounding *bounding, const char *bucket, uint64 hash);

/* chunks.c */
extern void dp_advise_huge_pages(void *memory, Size size);
extern void *dp_alloc_large(MemoryContext context, Size size);
extern void dp_add_row_chunk(DpBounding *bounding, DpPartition *p, Size size);
extern char *dp_state_room(DpBounding *bounding, DpPartition *p, Size size);
extern void dp_write_partitions(DpBounding *bounding);
extern DpChunk *dp_read_chunk(DpBounding *bounding, BufFile *file);
extern void dp_free_chunk(DpBounding *bounding, DpChunk *chunk);
extern void dp_free_spare_chunks(DpBounding *bounding);
extern void dp_close_files(DpBounding *bounding);

/* units.c */
extern void dp_plan_table(DpBounding *bounding);
extern void dp_start_table(DpBounding *bounding, uint64 nbuckets);
extern int64 dp_enter_unit(DpBounding *bounding);
extern int64 dp_enter_hot_unit(DpBounding *bounding, DpPartition *p);

/* how many rows more of one unit than of all others in its partition make it hot */
#define DP_HOT_ROWS 64

/*
 * Counts a row that is to be set aside; tells whether its unit has had far more of them than the
 * others in its partition (Boyer and Moore's majority vote).  Without branches: which way they
 * go is a matter of chance for most rows.
 */
static inline bool
dp_is_hot(DpPartition *p, uint64 unit)
{
	bool		none = p->hot_count == 0;

	p->hot_count += (none | (p->hot_unit == unit)) ? 1 : -1;
	p->hot_unit = none ? unit : p->hot_unit;
	return unlikely(p->hot_count >= DP_HOT_ROWS);
}

/* members.c */
extern void dp_read_condition(DpBounding *bounding, ScanState *scan);

static inline bool
dp_is_member(const DpMembers *members, const TupleTableSlot *slot)
{
	int			at = members->attno - 1;
	uint64		n;

	if (slot->tts_isnull[at])
		return members->takes_null;
	if (members->takes_all)
		return true;
	n = dp_key_word(slot->tts_values[at], members->typlen) - (uint64) members->least;
	return n <= members->span && (members->bits[n / 64] & (UINT64CONST(1) << (n % 64))) != 0;
}

/* input.c */
extern void dp_gather_input(DpBounding *bounding);

/* gather.c */
extern int	dp_partition_bits(Size limit, int bits);
extern void dp_begin_pass(DpBounding *bounding, int bits, Size table_limit, Size bytes);
extern void dp_give_up_table(DpBounding *bounding);
extern DpBoundState *dp_state_at(const DpBounding *bounding, uint64 bucket);
extern void dp_gather_row(DpBounding *bounding, int64 bucket);
extern void dp_end_pass(DpBounding *bounding);
extern bool dp_gather_partition(DpBounding *bounding);

/* share.c: what processes share that gather together */
extern Size dp_share_size(int participants);
extern void dp_share_init(DpShare *share, int participants, int partition_bits, dsm_segment *segment);
extern void dp_share_reset(DpShare *share, dsa_area *dsa);
extern void dp_share_attach(DpShare *share);
extern bool dp_share_enter(DpBounding *bounding);
extern int	dp_share_bits(const DpBounding *bounding);
extern BufFile *dp_share_create_file(DpBounding *bounding, int partition);
extern void dp_share_publish(DpBounding *bounding);
extern int	dp_share_next_partition(DpBounding *bounding);
extern Size dp_share_waiting(const DpBounding *bounding);
extern void dp_share_freed(DpBounding *bounding, Size size);
extern BufFile *dp_share_open_file(DpBounding *bounding, int partition, int i);
extern Size dp_share_bytes(const DpBounding *bounding, int partition);
extern DpChunk *dp_share_take_chunk(DpBounding *bounding, int partition);
extern void dp_share_report(DpShare *share, const DpBoundingUse *use);
extern void dp_share_collect(DpShare *share, DpBoundingUse *use);

/* group_sums.c */
#define DP_GROUP_SUMS_LIMIT(limit) ((limit) / 4)
extern DpGroupSums *dp_group_sums_create(const DpBoundSpec *spec, Size limit, MemoryContext parent);
extern bool dp_group_sums_add(DpGroupSums *sums, const DpBoundState *state, int n);
extern bool dp_group_sums_is_empty(const DpGroupSums *sums);
extern bool dp_group_sums_useless(const DpGroupSums *sums);
extern bool dp_group_sums_next(DpGroupSums *sums, const DpRowColumn *columns, int ncolumns, Datum *values, bool *isnull);
extern double dp_group_sums_most(Size limit, int ncolumns, int nnorms);
extern void dp_group_sums_free(DpGroupSums *sums);

/* unit.c, entry.c, exact/sum.c: told by their addresses */
extern Datum dp_bound_unit(PG_FUNCTION_ARGS);
extern Datum dp_bound_key(PG_FUNCTION_ARGS);
extern Datum dp_bound_value(PG_FUNCTION_ARGS);
extern Datum dp_bound_codes(PG_FUNCTION_ARGS);
extern Datum dp_bound_cut(PG_FUNCTION_ARGS);
extern Datum dp_bound_distinct_codes(PG_FUNCTION_ARGS);
extern Datum dp_bound_share(PG_FUNCTION_ARGS);
extern Datum dp_bound_bin(PG_FUNCTION_ARGS);
extern Datum dp_bound_first(PG_FUNCTION_ARGS);
extern Datum dp_steps_sum(PG_FUNCTION_ARGS);
extern Datum dp_limited_sum(PG_FUNCTION_ARGS);

/* what plan.c hands to node.c in custom_private, in this order */
typedef enum DpBoundingPrivate
{
	DP_BOUNDING_UNITS,			/* list of the unit's columns among those of
								 * the scan tuple, from 1 */
	DP_BOUNDING_UNIT_ARGUMENT,	/* which of these bound_unit has as its
								 * argument, if any, from 0; -1: none */
	DP_BOUNDING_ADDS_UP,		/* may rows leave added up: group_sums.c */
	DP_BOUNDING_COLUMNS			/* list of kind and number of each column of
								 * rows, the last ones of the scan tuple */
} DpBoundingPrivate;

#define DP_BOUNDING_NODE "DpBounding"

/* node.c */
extern Size dp_bounding_limit(void);
extern const CustomScanMethods dp_bounding_scan_methods;

static inline Size
dp_bucket_memory(const DpUnitTable *table)
{
	return table->stride + (table->in_place ? 0 : sizeof(DpBoundState *) + sizeof(DpUnitImage *));
}

static inline Size
dp_table_memory(const DpBounding *bounding)
{
	return (bounding->table.nbuckets + 1) * dp_bucket_memory(&bounding->table);
}

static inline char *
dp_bucket(const DpUnitTable *table, uint64 at)
{
	return table->buckets + at * table->stride;
}

static inline uint64
dp_bucket_unit(const char *bucket)
{
	return *(const uint64 *) bucket;
}

static inline uint8 *
dp_bucket_taken(const DpUnitTable *table, char *bucket)
{
	return (uint8 *) bucket + table->taken_at;
}

static inline bool *
dp_bucket_late(const DpUnitTable *table, char *bucket)
{
	return (bool *) bucket + table->taken_at + 1;
}

/* Tells whether a bucket's unit has a state, or values in place. */
static inline bool
dp_has_state(const DpUnitTable *table, uint64 at)
{
	return table->in_place ? *dp_bucket_taken(table, dp_bucket(table, at)) != DP_NOBODY : table->state_of[at] != NULL;
}

static inline Size
dp_bounding_memory(const DpBounding *bounding)
{
	return MemoryContextMemAllocated(bounding->context, true) + bounding->pass.shared;
}

/* Has the last chunk of a partition's rows know how much of it is used; no further one enters it. */
static inline void
dp_close_rows(DpPartition *p)
{
	if (p->room != NULL)
		p->rows->used = p->room - p->rows->data;
	p->room = p->room_end = NULL;
}

static inline uint64
dp_bucket_hash(const DpBounding *bounding, const char *bucket)
{
	return bounding->unit.is_word ? dp_unit_hash(dp_bucket_unit(bucket), bounding->spec) : dp_bucket_unit(bucket);
}

/* Returns the hash of a record's unit. */
static inline uint64
dp_record_hash(const DpBounding *bounding, const char *record)
{
	int32		narrow;
	uint64		unit;

	if (bounding->record.unit_width > sizeof(int32))
	{
		memcpy(&unit, record + bounding->record.unit, sizeof(unit));
		return bounding->unit.is_word ? dp_unit_hash(unit, bounding->spec) : unit;
	}
	memcpy(&narrow, record + bounding->record.unit, sizeof(narrow));
	return dp_unit_hash((uint64) (int64) narrow, bounding->spec);
}

/* Has the bucket fetched where the row's unit is, if it is in the table. */
static inline void
dp_fetch_unit(const DpBounding *bounding)
{
	__builtin_prefetch(dp_bucket(&bounding->table, bounding->row.hash & (bounding->table.nbuckets - 1)));
}

/* Returns the bucket of the row's unit; -1 when it is not in the table. */
static inline int64
dp_find_unit(DpBounding *bounding)
{
	const DpUnitTable *table = &bounding->table;
	uint64		mask = table->nbuckets - 1;
	uint64		unit = bounding->row.unit;
	uint64		at = bounding->row.hash & mask;
	char	   *bucket;

	if (unlikely(bounding->row.unit_isnull))
		return table->nbuckets;
	while (bucket = dp_bucket(table, at), *dp_bucket_taken(table, bucket) != DP_NOBODY)
	{
		if (dp_bucket_unit(bucket) == unit &&
			(bounding->unit.is_word || dp_is_image_of_row(bounding, table->image_of[at])))
			return at;
		at = (at + 1) & mask;
	}
	return -1;
}

/* Computes the rank of the row's group; false where its keys are too long, and the row is in none. */
static inline bool
dp_rank_row(DpBounding *bounding)
{
	DpRow	   *row = &bounding->row;

	row->has_rank = true;
	return dp_rank_keys(&bounding->shape, row->key, row->salt, bounding->key_bytes, bounding->spec->seed[1],
						row->ranked, &row->rank);
}

/*
 * Tells whether the unit's state would leave out the row, because it has as
 * many groups as it may have and the row's group comes after all of them.  It
 * looks at the upper half of ranks alone, not at the state, which is seldom in
 * a cache.
 */
static inline bool
dp_is_left_out(DpBounding *bounding, int64 bucket)
{
	uint32		last;

	if (bucket < 0 || bounding->table.in_place ||
		(last = ((DpBucket *) dp_bucket(&bounding->table, bucket))->last_rank) == PG_UINT32_MAX)
		return false;
	if (!bounding->row.has_rank && !dp_rank_row(bounding))
		return true;
	return (uint32) (bounding->row.rank >> 32) > last;
}

/* Adds the fields of a row to the values that its unit has in place. */
static inline void
dp_add_in_place(DpBounding *bounding, uint64 at, const int64 *field, const bool *isnull)
{
	DpUnitTable *table = &bounding->table;
	char	   *bucket = dp_bucket(table, at);

	if (unlikely(at == table->nbuckets))
		*dp_bucket_taken(table, bucket) = DP_NULL_UNIT;
	dp_take_fields(&bounding->fields, field, isnull, NULL, bucket);
}

/* Resets econtext where there is something to reset, which is rare. */
static inline void
dp_reset_row_memory(ExprContext *econtext)
{
	if (unlikely(!econtext->ecxt_per_tuple_memory->isReset))
		ResetExprContext(econtext);
}

#endif							/* DP_GATHER_H */
