/*-------------------------------------------------------------------------
 *
 * group_sums.c
 *	  Adds up what units contribute to a group before it leaves gather.c.
 *
 * The inner plan's second level adds up the entries of all units, one call of
 * several nodes for each.  Where groups are few, most of that is saved by
 * adding up here: entries of equal keys become one, whose values are sums of
 * theirs.  What is added up leaves as a state of its own kind (->totals), of
 * which bound_entries returns the entries as they are.
 *
 * Invariants:
 *	- only clamped values are added (dp_bound_values), each unit's once, so the
 *	  second level comes to the same sums whatever was added up before;
 *	- keys are one if their bits or bytes are, which is what GROUP BY goes by
 *	  for the types that are taken here; other types, and codes, are not;
 *	- no total exceeds MOST_UNITS * MOST_VALUE < 2^62;
 *	- memory is limited: what has no room leaves, and where that does not make
 *	  less of it (more groups than fit), adding up ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/memutils.h"

#include "agg/bounding/gather.h"

#define MOST_UNITS (1 << 20)
#define MOST_VALUE (INT64CONST(1) << 41)

/* a power of two, at most half of them taken */
#define BUCKETS 8192
#define MOST_BYTES ((Size) 512 * 1024)

typedef struct Bucket
{
	uint64		hash;
	DpUnitGroup *entry;		/* NULL: free */
} Bucket;

struct DpGroupSums
{
	const DpBoundSpec *spec;
	MemoryContext context;		/* of this and the entries */
	MemoryContext taken;		/* of the state that left last */
	Size		limit;			/* of the entries' bytes */
	DpShape    *shape;			/* NULL: no state was met */
	int			nunits;
	int			nadded;			/* entries of units */
	int			nentries;		/* what became of them */
	Size		bytes;
	bool		useless;
	Bucket		buckets[BUCKETS];
};

/* limit: of all memory; NULL where this spec's entries are not of the kind */
DpGroupSums *
dp_group_sums_create(const DpBoundSpec *spec, Size limit, MemoryContext parent)
{
	MemoryContext context;
	DpGroupSums   *totals;

	for (int i = 0; i < spec->nvalues; i++)
	{
		const DpGrid *grid = &spec->value[i].grid;

		if (dp_spec_codes(spec, i) != 0 || grid->upper > MOST_VALUE || grid->lower < -MOST_VALUE)
			return NULL;
	}
	if (limit < sizeof(DpGroupSums))
		return NULL;
	context = AllocSetContextCreate(parent, "dp_cdp totals of groups", ALLOCSET_DEFAULT_SIZES);
	totals = MemoryContextAllocZero(context, sizeof(DpGroupSums));
	totals->spec = spec;
	totals->context = context;
	totals->taken = AllocSetContextCreate(context, "dp_cdp totals taken", ALLOCSET_DEFAULT_SIZES);
	totals->limit = Min(limit - sizeof(DpGroupSums), MOST_BYTES) / 2;
	return totals;
}

void
dp_group_sums_free(DpGroupSums *totals)
{
	MemoryContextDelete(totals->context);
}

/* there is no use in going on: entries do not become fewer */
bool
dp_group_sums_useless(const DpGroupSums *totals)
{
	return totals->useless;
}

static void
learn_shape(DpGroupSums *totals, const DpBoundState *state)
{
	dp_bound_check_spec(state, totals->spec);
	totals->shape = dp_shape_of(state, totals->context);
	for (int i = 0; i < state->nkeys; i++)
		if (totals->shape->key[i].class == DP_KEY_GENERIC)
			totals->useless = true;
}

static inline uint64
hash_keys(const DpGroupSums *totals, const DpBoundState *state, const char *from)
{
	const DpLayout *layout = &totals->shape->layout;
	uint64		hash = totals->spec->seed[0] ^ (dp_rank(from) & DP_RANK_NULLS);

	for (int i = 0; i < layout->nkeys; i++)
	{
		uint64		word = dp_entry_word(layout, from, i);

		if (layout->by_reference & (1 << i))
			word = hash_bytes_extended((const unsigned char *) state + DP_KEYREF_OFFSET(word),
									   DP_KEYREF_LEN(word), totals->spec->seed[1]);
		hash = dp_rank_word(hash, word);
	}
	return hash;
}

static inline bool
same_keys(const DpLayout *layout, const DpBoundState *state, const char *from, const DpUnitGroup *entry)
{
	if (entry->null_keys != (dp_rank(from) & DP_RANK_NULLS))
		return false;
	for (int i = 0; i < layout->nkeys; i++)
	{
		uint64		word = dp_entry_word(layout, from, i);
		uint64		slot = dp_entry_slots(entry)[i];

		if (!(layout->by_reference & (1 << i)))
		{
			if (word != slot)
				return false;
		}
		else if (DP_KEYREF_LEN(word) != DP_KEYREF_LEN(slot) ||
				 memcmp((const char *) state + DP_KEYREF_OFFSET(word),
						(const char *) entry + DP_KEYREF_OFFSET(slot), DP_KEYREF_LEN(word)) != 0)
			return false;
	}
	return true;
}

/*
 * Adds a unit's groups.  False, and nothing is done, where there is no room,
 * or never will be: dp_group_sums_take what is there, and if that is nothing, let
 * the state leave by itself.
 */
bool
dp_group_sums_add(DpGroupSums *totals, const DpBoundState *state)
{
	const DpLayout *layout;
	const char *from = dp_state_entries(state);
	Size		entry_size = dp_entry_size(state);

	if (unlikely(totals->shape == NULL))
		learn_shape(totals, state);
	layout = &totals->shape->layout;
	if (totals->useless || totals->nunits >= MOST_UNITS ||
		totals->nentries + state->nentries > BUCKETS / 2 ||
		totals->bytes + state->nentries * dp_entry_fixed_size(layout) + VARSIZE(state) > totals->limit)
		return false;

	if (!dp_layout_fits(layout, state))
		elog(ERROR, "states of different shapes cannot be added up");

	for (int n = 0; n < state->nentries; n++, from += entry_size)
	{
		uint64		hash = hash_keys(totals, state, from);
		Bucket	   *bucket = &totals->buckets[hash & (BUCKETS - 1)];
		int64		values[DP_MAX_VALUES];

		while (bucket->entry != NULL &&
			   (bucket->hash != hash || !same_keys(layout, state, from, bucket->entry)))
			if (++bucket == totals->buckets + BUCKETS)
				bucket = totals->buckets;
		if (bucket->entry == NULL)
		{
			MemoryContext old = MemoryContextSwitchTo(totals->context);

			bucket->hash = hash;
			bucket->entry = dp_bound_entry(state, n, totals->spec, layout);
			totals->nentries++;
			totals->bytes += MAXALIGN(VARSIZE(bucket->entry));
			MemoryContextSwitchTo(old);
			continue;
		}
		dp_bound_values(from, totals->spec, layout, values);
		for (int i = 0; i < layout->nvalues; i++)
			bucket->entry->value[i] += values[i];
	}
	totals->nunits++;
	totals->nadded += state->nentries;
	return true;
}

/* What was added up, NULL if that is nothing; lives until the next call. */
DpBoundState *
dp_group_sums_take(DpGroupSums *totals)
{
	Size		at = DP_GROUP_SUMS_HEADER;
	DpBoundState *state;

	if (totals->nentries == 0)
		return NULL;
	MemoryContextReset(totals->taken);
	state = MemoryContextAllocZero(totals->taken, at + totals->bytes);
	SET_VARSIZE(state, at + totals->bytes);
	state->totals = true;
	state->nkeys = totals->shape->layout.nkeys;
	state->nvalues = totals->shape->layout.nvalues;
	state->sums = totals->shape->layout.sums;
	state->nentries = totals->nentries;
	for (int i = 0; i < BUCKETS; i++)
	{
		DpUnitGroup *entry = totals->buckets[i].entry;

		if (entry == NULL)
			continue;
		memcpy((char *) state + at, entry, VARSIZE(entry));
		at += MAXALIGN(VARSIZE(entry));
		pfree(entry);
	}
	memset(totals->buckets, 0, sizeof(totals->buckets));
	totals->useless = totals->nadded < 2 * totals->nentries;
	totals->nentries = totals->nunits = totals->nadded = 0;
	totals->bytes = 0;
	return state;
}
