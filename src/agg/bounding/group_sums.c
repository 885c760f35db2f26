/*-------------------------------------------------------------------------
 *
 * group_sums.c
 *	  Adds up what units contribute to a group before it leaves gather.c.
 *
 * The inner plan's second level adds up the entries of all units, one call of
 * several nodes for each.  Where groups are few, most of that is saved by
 * adding up here: entries of equal keys become one, whose values are sums of
 * theirs.  What is added up leaves as a state of its own kind (->group_sums), of
 * which bound_entries returns the entries as they are.
 *
 * Invariants:
 *	- only clamped values are added (dp_bound_values), each unit's once, so the
 *	  second level comes to the same sums whatever was added up before;
 *	- keys are one if their bits or bytes are, which is what GROUP BY goes by
 *	  for the types that are taken here; other types, and codes, are not;
 *	- no sum exceeds MOST_UNITS * MOST_VALUE < 2^62;
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
	DpUnitGroup *group;			/* NULL: free */
} Bucket;

struct DpGroupSums
{
	const DpBoundSpec *spec;
	MemoryContext context;		/* owns this struct and the entries */
	MemoryContext taken;		/* owns the state that left last */
	Size		limit;			/* for bytes, below */
	DpShape    *shape;			/* NULL: no state was met */
	int			nunits;
	int			nadded;			/* entries that were added */
	int			nentries;		/* groups that they are in */
	Size		bytes;
	bool		useless;
	Bucket		buckets[BUCKETS];
};

/* Returns an empty table that takes at most limit bytes; NULL where the spec has values that are not added up. */
DpGroupSums *
dp_group_sums_create(const DpBoundSpec *spec, Size limit, MemoryContext parent)
{
	MemoryContext context;
	DpGroupSums *sums;

	for (int i = 0; i < spec->nvalues; i++)
	{
		const DpGrid *grid = &spec->value[i].grid;

		if (dp_spec_codes(spec, i) != 0 || grid->upper > MOST_VALUE || grid->lower < -MOST_VALUE)
			return NULL;
	}
	if (limit < sizeof(DpGroupSums))
		return NULL;
	context = AllocSetContextCreate(parent, "dp_cdp sums of groups", ALLOCSET_DEFAULT_SIZES);
	sums = MemoryContextAllocZero(context, sizeof(DpGroupSums));
	sums->spec = spec;
	sums->context = context;
	sums->taken = AllocSetContextCreate(context, "dp_cdp sums taken", ALLOCSET_DEFAULT_SIZES);
	sums->limit = Min(limit - sizeof(DpGroupSums), MOST_BYTES) / 2;
	return sums;
}

void
dp_group_sums_free(DpGroupSums *sums)
{
	MemoryContextDelete(sums->context);
}

/* Tells whether adding up is of no use any more, because entries do not become fewer. */
bool
dp_group_sums_useless(const DpGroupSums *sums)
{
	return sums->useless;
}

static void
learn_shape(DpGroupSums *sums, const DpBoundState *state)
{
	dp_bound_check_spec(state, sums->spec);
	sums->shape = dp_shape_of(state, sums->context);
	for (int i = 0; i < state->nkeys; i++)
		if (sums->shape->key[i].class == DP_KEY_GENERIC)
			sums->useless = true;
}

static inline uint64
hash_keys(const DpGroupSums *sums, const DpBoundState *state, const char *from)
{
	const DpLayout *layout = &sums->shape->layout;
	uint64		hash = sums->spec->seed[0] ^ (dp_rank(from) & DP_RANK_NULLS);

	for (int i = 0; i < layout->nkeys; i++)
	{
		uint64		word = dp_entry_word(layout, from, i);

		if (layout->by_reference & (1 << i))
			word = hash_bytes_extended((const unsigned char *) state + DP_KEYREF_OFFSET(word),
									   DP_KEYREF_LEN(word), sums->spec->seed[1]);
		hash = dp_rank_word(hash, word);
	}
	return hash;
}

static inline bool
same_keys(const DpLayout *layout, const DpBoundState *state, const char *from, const DpUnitGroup *group)
{
	if (group->null_keys != (dp_rank(from) & DP_RANK_NULLS))
		return false;
	for (int i = 0; i < layout->nkeys; i++)
	{
		uint64		word = dp_entry_word(layout, from, i);
		uint64		held = dp_unit_group_words(group)[i];

		if (!(layout->by_reference & (1 << i)))
		{
			if (word != held)
				return false;
		}
		else if (DP_KEYREF_LEN(word) != DP_KEYREF_LEN(held) ||
				 memcmp((const char *) state + DP_KEYREF_OFFSET(word),
						(const char *) group + DP_KEYREF_OFFSET(held), DP_KEYREF_LEN(word)) != 0)
			return false;
	}
	return true;
}

/*
 * Adds a unit's groups.  Returns false, and does nothing, where there is no
 * room, or never will be: the caller is to dp_group_sums_take what is there,
 * and if that is nothing, to let the state leave by itself.
 */
bool
dp_group_sums_add(DpGroupSums *sums, const DpBoundState *state)
{
	const DpLayout *layout;
	const char *from = dp_state_entries(state);
	Size		entry_size = dp_entry_size(state);

	if (unlikely(sums->shape == NULL))
		learn_shape(sums, state);
	layout = &sums->shape->layout;
	if (sums->useless || sums->nunits >= MOST_UNITS ||
		sums->nentries + state->nentries > BUCKETS / 2 ||
		sums->bytes + state->nentries * dp_entry_fixed_size(layout) + VARSIZE(state) > sums->limit)
		return false;

	if (!dp_layout_fits(layout, state))
		elog(ERROR, "states of different shapes cannot be added up");

	for (int n = 0; n < state->nentries; n++, from += entry_size)
	{
		uint64		hash = hash_keys(sums, state, from);
		Bucket	   *bucket = &sums->buckets[hash & (BUCKETS - 1)];
		int64		values[DP_MAX_VALUES];

		while (bucket->group != NULL &&
			   (bucket->hash != hash || !same_keys(layout, state, from, bucket->group)))
			if (++bucket == sums->buckets + BUCKETS)
				bucket = sums->buckets;
		if (bucket->group == NULL)
		{
			MemoryContext old = MemoryContextSwitchTo(sums->context);

			bucket->hash = hash;
			bucket->group = dp_bound_entry(state, n, sums->spec, layout);
			sums->nentries++;
			sums->bytes += MAXALIGN(VARSIZE(bucket->group));
			MemoryContextSwitchTo(old);
			continue;
		}
		dp_bound_values(from, sums->spec, layout, values);
		for (int i = 0; i < layout->nvalues; i++)
			bucket->group->value[i] += values[i];
	}
	sums->nunits++;
	sums->nadded += state->nentries;
	return true;
}

/* Returns what was added up and begins anew; NULL if that is nothing.  The result lives until the next call. */
DpBoundState *
dp_group_sums_take(DpGroupSums *sums)
{
	Size		at = DP_GROUP_SUMS_HEADER;
	DpBoundState *state;

	if (sums->nentries == 0)
		return NULL;
	MemoryContextReset(sums->taken);
	state = MemoryContextAllocZero(sums->taken, at + sums->bytes);
	SET_VARSIZE(state, at + sums->bytes);
	state->group_sums = true;
	state->nkeys = sums->shape->layout.nkeys;
	state->nvalues = sums->shape->layout.nvalues;
	state->sums = sums->shape->layout.sums;
	state->nentries = sums->nentries;
	for (int i = 0; i < BUCKETS; i++)
	{
		DpUnitGroup *group = sums->buckets[i].group;

		if (group == NULL)
			continue;
		memcpy((char *) state + at, group, VARSIZE(group));
		at += MAXALIGN(VARSIZE(group));
		pfree(group);
	}
	memset(sums->buckets, 0, sizeof(sums->buckets));
	sums->useless = sums->nadded < 2 * sums->nentries;
	sums->nentries = sums->nunits = sums->nadded = 0;
	sums->bytes = 0;
	return state;
}
