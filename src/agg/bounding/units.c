/*-------------------------------------------------------------------------
 *
 * units.c
 *	  The units of a pass and their states: a hash table that knows its limit.
 *
 * What every row needs, its unit and the rank from which on the unit's rows are
 * left out, lies together in 16 bytes; states are found by the bucket's number.
 *
 * Invariants:
 *	- some buckets are free, so the search for a unit ends: in the first pass most
 *	  of them or every other one, so that a unit is mostly where its hash says;
 *	  later one in four, which is less to clear and to go through;
 *	- a bucket that is taken has a state, except while its first row is on the
 *	  way to bound_unit; buckets are never freed before the pass ends;
 *	- buckets and states together stay below rows->table_limit from MIN_UNITS
 *	  units on, and while the table grows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "agg/bounding/gather.h"

/* so many units enter any table: partitions become smaller */
#define MIN_UNITS 64

/* below, buckets stay in a core's second cache even if most of them are free */
#define SPARSE_BUCKETS 32768

/* room for so many units, and for the one that is NULL after them; free */
static void
make_buckets(DpBounding *rows, uint64 nbuckets)
{
	rows->buckets = MemoryContextAllocExtended(rows->context, (nbuckets + 1) * sizeof(DpBucket),
											   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	rows->state_of = MemoryContextAllocExtended(rows->context, (nbuckets + 1) * sizeof(DpBoundState *),
												MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	rows->nbuckets = nbuckets;
}

/* an empty table */
void
dp_start_table(DpBounding *rows, uint64 nbuckets)
{
	if (rows->nbuckets == nbuckets)
	{
		memset(rows->buckets, 0, (nbuckets + 1) * sizeof(DpBucket));
		memset(rows->state_of, 0, (nbuckets + 1) * sizeof(DpBoundState *));
	}
	else
	{
		if (rows->buckets != NULL)
		{
			pfree(rows->buckets);
			pfree(rows->state_of);
		}
		make_buckets(rows, nbuckets);
	}
	rows->nunits = 0;
	rows->buckets[nbuckets].last_rank = PG_UINT32_MAX;
	rows->full = false;
}

/* where a unit goes that is not in the table */
static inline uint64
free_bucket(const DpBounding *rows, uint64 hash)
{
	uint64		mask = rows->nbuckets - 1;
	uint64		at = hash & mask;

	while (rows->buckets[at].taken)
		at = (at + 1) & mask;
	return at;
}

static void
grow_table(DpBounding *rows)
{
	DpBucket   *buckets = rows->buckets;
	DpBoundState **state_of = rows->state_of;
	uint64		n = rows->nbuckets;

	CHECK_FOR_INTERRUPTS();
	make_buckets(rows, n * 2);
	for (uint64 i = 0; i < n; i++)
		if (buckets[i].taken)
		{
			uint64		at = free_bucket(rows, dp_unit_hash(buckets[i].unit, rows->spec));

			rows->buckets[at] = buckets[i];
			rows->state_of[at] = state_of[i];
		}
	rows->buckets[rows->nbuckets] = buckets[n];
	rows->state_of[rows->nbuckets] = state_of[n];
	pfree(buckets);
	pfree(state_of);
}

/* how many of four buckets are taken at most */
static inline uint64
most_quarters(const DpBounding *rows)
{
	if (rows->bits > 0)
		return 3;
	return rows->nbuckets < SPARSE_BUCKETS ? 1 : 2;
}

/* may a further unit enter the table? */
static bool
has_room(DpBounding *rows)
{
	Size		table = dp_table_memory(rows);

	if (rows->nunits < MIN_UNITS)
		return true;
	/* old and new buckets are there at once */
	if (rows->nunits >= rows->nbuckets / 4 * most_quarters(rows))
	{
		if (MemoryContextMemAllocated(rows->states, false) + 3 * table > rows->table_limit)
			return false;
		grow_table(rows);
		return true;
	}
	return MemoryContextMemAllocated(rows->states, false) + table <= rows->table_limit;
}

/* a bucket for a unit that is not in the table, its state to be made; -1 when its rows are to be set aside */
int64
dp_enter_unit(DpBounding *rows, uint64 unit, uint64 hash)
{
	uint64		at;

	if (rows->full)
		return -1;
	if (!has_room(rows))
	{
		rows->full = true;
		return -1;
	}
	at = free_bucket(rows, hash);
	rows->buckets[at].unit = unit;
	rows->buckets[at].last_rank = PG_UINT32_MAX;
	rows->buckets[at].taken = true;
	rows->nunits++;
	return at;
}
