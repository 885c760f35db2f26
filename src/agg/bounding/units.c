/*-------------------------------------------------------------------------
 *
 * units.c
 *	  The units of a pass and their states: a hash table that knows its limit.
 *
 * What every row needs, its unit and the rank from which on the unit's rows are
 * left out, lies together in 16 bytes; states are found by the bucket's number.  Where there are no keys, units are words
 * and values few, there are no states: a bucket of 16, 32 or 64 bytes has the values themselves.
 *
 * Invariants:
 *	- the load factor is at most 1/4 (small tables) or 1/2 in the first pass, so
 *	  that a unit is mostly where its hash says, and 3/4 later, which is less to
 *	  clear and to go through.  It is never 1, so probing ends;
 *	- a bucket that is taken has a state, except while its first row is on the
 *	  way to bound_unit, or values in place; buckets are never freed before the pass ends;
 *	- values in place are what the one entry of the unit's state would have: sums and counts, of which order and
 *	  grouping of rows change nothing;
 *	- buckets, images and states together stay below bounding->table.limit but for MIN_UNITS
 *	  units or MIN_MEMORY, and for one unit, while units enter and while the table grows; hot units may
 *	  exceed it by as much again;
 *	- a unit that enters the table after rows of it were set aside is marked as
 *	  late: its state is not the whole, and is set aside itself when the pass ends.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "agg/bounding/gather.h"

/* at least that many units enter any table, so that partitions become smaller, or as many as take so many bytes */
#define MIN_UNITS 64
#define MIN_MEMORY ((Size) 256 * 1024)

/* how many units may be hot: dp_is_hot() */
#define MAX_HOT_UNITS 256

/* so large is a bucket with values in place, at most */
#define LARGEST_IN_PLACE 64

/* smaller tables stay in a core's second cache even if most buckets are free */
#define SPARSE_BUCKETS 32768

/* Returns n zeros of so many bytes in the table's memory. */
static void *
make_array(DpUnitTable *table, uint64 n, Size size)
{
	return memset(dp_alloc_large(table->arrays, n * size), 0, n * size);
}

/* Decides what a bucket is, once the values of units are known. */
void
dp_plan_table(DpBounding *bounding)
{
	DpUnitTable *table = &bounding->table;
	const DpLayout *layout = &bounding->shape.layout;
	Size		taken_at = sizeof(uint64);

	table->stride = sizeof(DpBucket);
	table->taken_at = offsetof(DpBucket, taken);
	table->in_place = false;
	if (layout->nkeys > 0 || layout->has_codes || !bounding->unit.is_word || bounding->fields.nfields > DP_FIELDS_IN_PLACE)
		return;
	for (int i = 0; i < layout->nvalues; i++)
		taken_at = Max(taken_at, layout->value[i] + (dp_is_sum(layout->sums, i) ? sizeof(DpExactSum) : sizeof(uint32)));
	if (taken_at + 2 > LARGEST_IN_PLACE)
		return;
	table->in_place = true;
	table->taken_at = taken_at;
	table->scratch = dp_bound_state_new(&bounding->shape, 1, 0);
	(void) dp_bound_state_entry(&table->scratch, &bounding->shape, 0, NULL);
	/* a power of two, so that none lies in two lines of the cache */
	while (table->stride < taken_at + 2)
		table->stride *= 2;
}

/* Gives a bucket no rows of its unit. */
static inline void
start_values(const DpBounding *bounding, char *bucket)
{
	const DpLayout *layout = &bounding->shape.layout;

	for (int i = 0; i < layout->nvalues; i++)
		if (dp_is_sum(layout->sums, i))
			((DpExactSum *) (bucket + layout->value[i]))->hi = DP_NO_SUM_HI;
}

/* Makes nbuckets free buckets for units, and one for the unit that is NULL after them. */
static void
make_buckets(DpUnitTable *table, DpBounding *bounding, uint64 nbuckets)
{
	table->arrays = AllocSetContextCreate(bounding->context, "dp_cdp table of units", ALLOCSET_START_SMALL_SIZES);
	table->buckets = make_array(table, nbuckets + 1, table->stride);
	table->state_of = table->in_place ? NULL : make_array(table, nbuckets + 1, sizeof(DpBoundState *));
	table->image_of = bounding->unit.is_word ? NULL : make_array(table, nbuckets + 1, sizeof(DpUnitImage *));
	table->nbuckets = nbuckets;
}

/* Makes the table empty, with nbuckets buckets. */
void
dp_start_table(DpBounding *bounding, uint64 nbuckets)
{
	DpUnitTable *table = &bounding->table;

	if (table->nbuckets == nbuckets)
	{
		memset(table->buckets, 0, (nbuckets + 1) * table->stride);
		if (table->state_of != NULL)
			memset(table->state_of, 0, (nbuckets + 1) * sizeof(DpBoundState *));
	}
	else
	{
		if (table->arrays != NULL)
			MemoryContextDelete(table->arrays);
		make_buckets(table, bounding, nbuckets);
	}
	table->nunits = 0;
	table->nlate = 0;
	if (table->in_place)
		start_values(bounding, dp_bucket(table, nbuckets));
	else
		((DpBucket *) dp_bucket(table, nbuckets))->last_rank = PG_UINT32_MAX;
	table->full = false;
}

/* Returns the bucket for a unit that is not in the table. */
static inline uint64
free_bucket(const DpUnitTable *table, uint64 hash)
{
	uint64		mask = table->nbuckets - 1;
	uint64		at = hash & mask;

	while (*dp_bucket_taken(table, dp_bucket(table, at)) != DP_NOBODY)
		at = (at + 1) & mask;
	return at;
}

static inline void
move_bucket(const DpUnitTable *from, uint64 i, DpUnitTable *to, uint64 at)
{
	memcpy(dp_bucket(to, at), dp_bucket(from, i), from->stride);
	if (to->state_of != NULL)
		to->state_of[at] = from->state_of[i];
	if (to->image_of != NULL)
		to->image_of[at] = from->image_of[i];
}

static void
grow_table(DpBounding *bounding)
{
	DpUnitTable *table = &bounding->table;
	DpUnitTable old = *table;

	CHECK_FOR_INTERRUPTS();
	make_buckets(table, bounding, old.nbuckets * 2);
	for (uint64 i = 0; i < old.nbuckets; i++)
		if (*dp_bucket_taken(&old, dp_bucket(&old, i)) != DP_NOBODY)
			move_bucket(&old, i, table, free_bucket(table, dp_bucket_hash(bounding, dp_bucket(&old, i))));
	move_bucket(&old, old.nbuckets, table, table->nbuckets);
	MemoryContextDelete(old.arrays);
}

/* Returns how many of four buckets may be taken. */
static inline uint64
most_quarters(const DpBounding *bounding)
{
	if (bounding->pass.bits > 0)
		return 3;
	return bounding->table.nbuckets < SPARSE_BUCKETS ? 1 : 2;
}

/* Tells whether a further unit may enter the table, which it may make larger for it. */
static bool
has_room(DpBounding *bounding)
{
	Size		table = dp_table_memory(bounding);

	if (bounding->table.nunits < MIN_UNITS &&
		(bounding->table.nunits == 0 || MemoryContextMemAllocated(bounding->table.states, false) < MIN_MEMORY))
		return true;
	/* old and new buckets are there at once */
	if (bounding->table.nunits >= bounding->table.nbuckets / 4 * most_quarters(bounding))
	{
		if (MemoryContextMemAllocated(bounding->table.states, false) + 3 * table > bounding->table.limit)
			return false;
		grow_table(bounding);
		return true;
	}
	return MemoryContextMemAllocated(bounding->table.states, false) + table <= bounding->table.limit;
}

/* Gives the row's unit, which is not in the table, a bucket without a state. */
static int64
take_bucket(DpBounding *bounding)
{
	DpUnitTable *table = &bounding->table;
	uint64		at = free_bucket(table, bounding->row.hash);
	char	   *bucket = dp_bucket(table, at);

	*(uint64 *) bucket = bounding->row.unit;
	*dp_bucket_taken(table, bucket) = DP_UNIT;
	if (table->in_place)
		start_values(bounding, bucket);
	else
		((DpBucket *) bucket)->last_rank = PG_UINT32_MAX;
	table->nunits++;
	if (table->image_of != NULL)
	{
		Size		size = dp_unit_image_size(bounding);
		DpUnitImage *image = MemoryContextAllocHuge(table->states, offsetof(DpUnitImage, data) + size);

		image->len = size;
		dp_write_unit_image(bounding, image->data);
		table->image_of[at] = image;
	}
	return at;
}

/* Returns a bucket without a state for the row's unit, which is not in the table; -1 when its rows are to be set aside. */
int64
dp_enter_unit(DpBounding *bounding)
{
	if (bounding->table.full)
		return -1;
	if (!has_room(bounding))
	{
		bounding->table.full = true;
		return -1;
	}
	return take_bucket(bounding);
}

/*
 * Returns a bucket for the row's unit, of which rows were set aside, and which dp_is_hot(); -1 where
 * there is none for it.  So that a unit which has a large part of all rows need not be gathered by one process,
 * later: what comes after the first few rows is mostly left out by its rank.
 */
int64
dp_enter_hot_unit(DpBounding *bounding, DpPartition *p)
{
	DpUnitTable *table = &bounding->table;
	int64		at;

	if (table->nlate >= MAX_HOT_UNITS || table->nunits >= table->nbuckets / 4 * 3 ||
		MemoryContextMemAllocated(table->states, false) > table->limit)
		return -1;
	p->hot_count = 0;
	at = take_bucket(bounding);
	*dp_bucket_late(table, dp_bucket(table, at)) = true;
	table->nlate++;
	return at;
}
