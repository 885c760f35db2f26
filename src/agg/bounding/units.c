/*-------------------------------------------------------------------------
 *
 * units.c
 *	  The units of a pass and their states: a hash table that knows its limit.
 *
 * What every row needs, its unit and the rank from which on the unit's rows are
 * left out, lies together in 16 bytes; states are found by the bucket's number.
 *
 * Invariants:
 *	- the load factor is at most 1/4 (small tables) or 1/2 in the first pass, so
 *	  that a unit is mostly where its hash says, and 3/4 later, which is less to
 *	  clear and to go through.  It is never 1, so probing ends;
 *	- a bucket that is taken has a state, except while its first row is on the
 *	  way to bound_unit; buckets are never freed before the pass ends;
 *	- buckets and states together stay below bounding->table.limit from MIN_UNITS
 *	  units on, and while the table grows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "agg/bounding/gather.h"

/* at least that many units enter any table, so that partitions become smaller */
#define MIN_UNITS 64

/* smaller tables stay in a core's second cache even if most buckets are free */
#define SPARSE_BUCKETS 32768

/* Makes nbuckets free buckets for units, and one for the unit that is NULL after them. */
static void
make_buckets(DpBounding *bounding, uint64 nbuckets)
{
	bounding->table.buckets = MemoryContextAllocExtended(bounding->context, (nbuckets + 1) * sizeof(DpBucket),
														 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	bounding->table.state_of = MemoryContextAllocExtended(bounding->context, (nbuckets + 1) * sizeof(DpBoundState *),
														  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	bounding->table.nbuckets = nbuckets;
}

/* Makes the table empty, with nbuckets buckets. */
void
dp_start_table(DpBounding *bounding, uint64 nbuckets)
{
	if (bounding->table.nbuckets == nbuckets)
	{
		memset(bounding->table.buckets, 0, (nbuckets + 1) * sizeof(DpBucket));
		memset(bounding->table.state_of, 0, (nbuckets + 1) * sizeof(DpBoundState *));
	}
	else
	{
		if (bounding->table.buckets != NULL)
		{
			pfree(bounding->table.buckets);
			pfree(bounding->table.state_of);
		}
		make_buckets(bounding, nbuckets);
	}
	bounding->table.nunits = 0;
	bounding->table.buckets[nbuckets].last_rank = PG_UINT32_MAX;
	bounding->table.full = false;
}

/* Returns the bucket for a unit that is not in the table. */
static inline uint64
free_bucket(const DpBounding *bounding, uint64 hash)
{
	uint64		mask = bounding->table.nbuckets - 1;
	uint64		at = hash & mask;

	while (bounding->table.buckets[at].taken)
		at = (at + 1) & mask;
	return at;
}

static void
grow_table(DpBounding *bounding)
{
	DpBucket   *buckets = bounding->table.buckets;
	DpBoundState **state_of = bounding->table.state_of;
	uint64		n = bounding->table.nbuckets;

	CHECK_FOR_INTERRUPTS();
	make_buckets(bounding, n * 2);
	for (uint64 i = 0; i < n; i++)
		if (buckets[i].taken)
		{
			uint64		at = free_bucket(bounding, dp_unit_hash(buckets[i].unit, bounding->spec));

			bounding->table.buckets[at] = buckets[i];
			bounding->table.state_of[at] = state_of[i];
		}
	bounding->table.buckets[bounding->table.nbuckets] = buckets[n];
	bounding->table.state_of[bounding->table.nbuckets] = state_of[n];
	pfree(buckets);
	pfree(state_of);
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

	if (bounding->table.nunits < MIN_UNITS)
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

/* Returns a bucket without a state for a unit that is not in the table; -1 when its rows are to be set aside. */
int64
dp_enter_unit(DpBounding *bounding, uint64 unit, uint64 hash)
{
	uint64		at;

	if (bounding->table.full)
		return -1;
	if (!has_room(bounding))
	{
		bounding->table.full = true;
		return -1;
	}
	at = free_bucket(bounding, hash);
	bounding->table.buckets[at].unit = unit;
	bounding->table.buckets[at].last_rank = PG_UINT32_MAX;
	bounding->table.buckets[at].taken = true;
	bounding->table.nunits++;
	return at;
}
