/*-------------------------------------------------------------------------
 *
 * group_sums.c
 *	  Adds up what units contribute to a group before it leaves gather.c.
 *
 * The inner plan's second level adds up the rows of all units, one call of
 * several nodes for each.  Where groups are few, most of that is saved by
 * adding up here: rows of equal keys become one, whose values are sums of
 * theirs.
 *
 * Invariants:
 *	- only clamped values are added (dp_clamped_value), each unit's once, so the
 *	  second level comes to the same sums whatever was added up before;
 *	- keys are one if their bits or bytes are: keys that GROUP BY takes for equal,
 *	  and that are written differently, leave as they are; codes are not added up;
 *	- units in other bins of a norm (norms.c) are in other groups.  Several norms have
 *	  groups of their own, where all other norms' bins are -1 and their values 0: the
 *	  bins of all norms together would be as many as units;
 *	- no sum exceeds 2^62: of MOST_UNITS * MOST_VALUE, or of what is below MOST_LIMITED before a unit is added;
 *	- memory is limited: what has no room leaves, and where that does not make
 *	  less of it (more groups than fit), adding up ends.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/memutils.h"

#include "agg/bounding/gather.h"

#define MOST_UNITS (1 << 20)
#define MOST_VALUE (INT64CONST(1) << 41)

/* the sum of all magnitudes that a norm limits; another unit has room above it */
#define MOST_LIMITED (INT64CONST(1) << 61)

/*
 * Buckets, of which at most half are taken.  Few groups stay in a processor's cache.  A table that has no room grows
 * as long as its rows are not WELL times as many as its groups.
 */
#define FIRST_BUCKETS 8192
#define MORE 4
#define MOST_BUCKETS (FIRST_BUCKETS * MORE * MORE * MORE)
#define FIRST_BYTES ((Size) 256 * 1024)
#define WELL 8

/* rows that leave have to be fewer than entries by this factor */
#define LEAST 3

/* entries whose places are fetched together where the table has grown */
#define FETCHED 32

/*
 * A group: followed by its values, where norms limit some their shares, how many units have it first, its keys as
 * words (values or DP_KEYREFs), its bins, and the keys' bytes.
 */
typedef struct AddedGroup
{
	uint64		hash;
	uint64		nulls;			/* bit i: key i is NULL */
	int64		value[FLEXIBLE_ARRAY_MEMBER];
} AddedGroup;

struct DpGroupSums
{
	const DpBoundSpec *spec;
	MemoryContext context;		/* owns this struct */
	MemoryContext groups;		/* owns the groups */
	Size		limit;			/* for bytes, below */
	DpShape    *shape;			/* NULL: no state was met */
	DpNorms		norms;			/* of the unit at hand */
	int			nslots;			/* groups that an entry is added to */
	int			slot[DP_MAX_VALUES];	/* to which of these, by value */
	int			nsums;			/* of a group */
	int			nunits;
	dp_i128		magnitude;		/* of all values that norms limit, added up */
	int64		nadded;			/* entries that were added */
	int			ngroups;		/* groups that they are in */
	Size		bytes;
	Size		most_bytes;		/* until it grows */
	int			left;			/* buckets whose groups have left */
	bool		useless;
	int			nbuckets;		/* a power of two */
	AddedGroup **buckets;		/* NULL: free */
};

static inline Size
bucket_bytes(int nbuckets)
{
	return nbuckets * sizeof(AddedGroup *);
}

/* Sets the next larger size of a table that takes at most limit bytes; returns false where there is none. */
static bool
next_size(Size limit, int *nbuckets, Size *most_bytes)
{
	int			more = *nbuckets * MORE;

	/* both arrays of buckets are there while it grows */
	Size		buckets = bucket_bytes(more) + bucket_bytes(*nbuckets);

	if (more > MOST_BUCKETS || buckets + *most_bytes * 2 > limit)
		return false;
	*nbuckets = more;
	*most_bytes = Min(*most_bytes * MORE, limit - buckets);
	return true;
}

/* Tells whether a norm limits value i. */
static inline bool
is_limited(const DpBoundSpec *spec, int i)
{
	return spec->value[i].norm >= 0 && dp_spec_norms(spec)[spec->value[i].norm].nlimits > 0;
}

/* Returns an empty table that takes at most limit bytes; NULL where the spec has values that are not added up. */
DpGroupSums *
dp_group_sums_create(const DpBoundSpec *spec, Size limit, MemoryContext parent)
{
	MemoryContext context;
	DpGroupSums *sums;

	for (int i = 0; i < spec->nvalues; i++)
	{
		const DpGrid *grid = &spec->value[i].grid;

		if (dp_spec_codes(spec, i) != 0 || spec->value[i].kind == DP_VALUE_CUT)
			return NULL;
		if (is_limited(spec, i) ? false : grid->upper > MOST_VALUE || grid->lower < -MOST_VALUE)
			return NULL;
	}
	if (limit < bucket_bytes(FIRST_BUCKETS))
		return NULL;
	context = AllocSetContextCreate(parent, "dp_cdp sums of groups", ALLOCSET_DEFAULT_SIZES);
	sums = MemoryContextAllocZero(context, sizeof(DpGroupSums));
	sums->spec = spec;
	sums->nsums = (spec->nnorms > 0 ? 2 : 1) * spec->nvalues + 1;
	sums->nslots = 1;
	for (int i = 0; i < spec->nvalues; i++)
		if (is_limited(spec, i))
			sums->nslots = spec->nnorms;
	for (int i = 0; i < spec->nvalues; i++)
		sums->slot[i] = sums->nslots > 1 ? Max(spec->value[i].norm, 0) : 0;
	sums->context = context;
	/* which does not round sizes up */
	sums->groups = GenerationContextCreate(context, "dp_cdp groups", ALLOCSET_DEFAULT_SIZES);
	sums->limit = limit;
	sums->nbuckets = FIRST_BUCKETS;
	sums->buckets = MemoryContextAllocZero(context, bucket_bytes(FIRST_BUCKETS));
	sums->most_bytes = Min(limit - bucket_bytes(FIRST_BUCKETS), FIRST_BYTES);
	return sums;
}

/* Returns how many groups of so many columns are added up at once in a table of at most limit bytes. */
double
dp_group_sums_most(Size limit, int ncolumns)
{
	int			nbuckets = FIRST_BUCKETS;
	Size		bytes = Min(limit - Min(limit, bucket_bytes(FIRST_BUCKETS)), FIRST_BYTES);

	while (next_size(limit, &nbuckets, &bytes))
		;
	return Min(nbuckets / 2, (double) bytes / (offsetof(AddedGroup, value) + sizeof(int64) * ncolumns));
}

void
dp_group_sums_free(DpGroupSums *sums)
{
	MemoryContextDelete(sums->context);
}

bool
dp_group_sums_is_empty(const DpGroupSums *sums)
{
	return sums->ngroups == 0;
}

/* Tells whether adding up is of no use any more, because rows do not become fewer. */
bool
dp_group_sums_useless(const DpGroupSums *sums)
{
	return sums->useless;
}

static inline uint64 *
group_words(const DpGroupSums *sums, const AddedGroup *group)
{
	return (uint64 *) &group->value[sums->nsums];
}

/* Returns the bins of a group, a word for each norm. */
static inline uint64 *
group_bins(const DpGroupSums *sums, const AddedGroup *group)
{
	return group_words(sums, group) + sums->shape->layout.nkeys;
}

/* Returns the bytes of a group, without those of its keys. */
static inline Size
group_size(const DpGroupSums *sums)
{
	return offsetof(AddedGroup, value) + sizeof(int64) * (sums->nsums + sums->shape->layout.nkeys + sums->spec->nnorms);
}

/* Returns the bin of norm l in a group of a slot. */
static inline int
bin_of(const DpGroupSums *sums, int slot, int l)
{
	return sums->nslots == 1 || l == slot ? sums->norms.bin[l] : -1;
}

static inline uint64
hash_bins(const DpGroupSums *sums, int slot, uint64 hash)
{
	if (sums->nslots > 1)
		return dp_rank_word(hash, ((uint64) slot << 32) | (uint32) sums->norms.bin[slot]);
	for (int l = 0; l < sums->spec->nnorms; l++)
		hash = dp_rank_word(hash, sums->norms.bin[l]);
	return hash;
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
same_keys(const DpGroupSums *sums, const DpBoundState *state, const char *from, int slot, const AddedGroup *group)
{
	const DpLayout *layout = &sums->shape->layout;

	if (group->nulls != (dp_rank(from) & DP_RANK_NULLS))
		return false;
	for (int l = 0; l < sums->spec->nnorms; l++)
		if (group_bins(sums, group)[l] != (uint64) bin_of(sums, slot, l))
			return false;
	for (int i = 0; i < layout->nkeys; i++)
	{
		uint64		word = dp_entry_word(layout, from, i);
		uint64		held = group_words(sums, group)[i];

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

/* Returns a new group, without values, of the keys of the entry. */
static AddedGroup *
new_group(DpGroupSums *sums, const DpBoundState *state, const char *from, int slot, uint64 hash)
{
	const DpLayout *layout = &sums->shape->layout;
	Size		size = group_size(sums);
	Size		at = size;
	AddedGroup *group;

	for (int i = 0; i < layout->nkeys; i++)
		if (layout->by_reference & (1 << i))
			size += MAXALIGN(DP_KEYREF_LEN(dp_entry_word(layout, from, i)));
	group = MemoryContextAlloc(sums->groups, size);
	group->hash = hash;
	group->nulls = dp_rank(from) & DP_RANK_NULLS;
	memset(group->value, 0, sizeof(int64) * sums->nsums);
	for (int l = 0; l < sums->spec->nnorms; l++)
		group_bins(sums, group)[l] = (uint64) bin_of(sums, slot, l);
	for (int i = 0; i < layout->nkeys; i++)
	{
		uint64		word = dp_entry_word(layout, from, i);
		uint32		len = layout->by_reference & (1 << i) ? DP_KEYREF_LEN(word) : 0;

		if (len > 0)
		{
			memcpy((char *) group + at, (const char *) state + DP_KEYREF_OFFSET(word), len);
			word = DP_KEYREF(at, len);
			at += MAXALIGN(len);
		}
		group_words(sums, group)[i] = word;
	}
	sums->ngroups++;
	sums->bytes += GetMemoryChunkSpace(group);
	return group;
}

/* Adds the values that a slot has of entry n of the unit at hand. */
static inline void
add_values(DpGroupSums *sums, AddedGroup *group, const char *from, int n, int slot)
{
	const DpLayout *layout = &sums->shape->layout;
	const DpBoundSpec *spec = sums->spec;

	if (likely(spec->nnorms == 0))
	{
		for (int i = 0; i < layout->nvalues; i++)
			if (likely(dp_counts_in(spec, i, n)))
				group->value[i] += dp_clamped_value(layout, from, spec, i);
		group->value[sums->nsums - 1] += n == 0;
		return;
	}
	for (int i = 0; i < layout->nvalues; i++)
	{
		DpLimitedValue limited;

		if (sums->slot[i] != slot || !dp_counts_in(spec, i, n))
			continue;
		dp_limit_value(layout, from, spec, &sums->norms, i, &limited);
		group->value[i] += limited.value;
		sums->magnitude += limited.value < 0 ? -limited.value : limited.value;
		group->value[layout->nvalues + i] += limited.share;
	}
	group->value[sums->nsums - 1] += n == 0;
}

/* Tells whether an entry adds nothing to what a slot has that is limited; the first slot has what no norm limits, too. */
static inline bool
passes_slot(const DpGroupSums *sums, int slot)
{
	return slot > 0 && sums->norms.bin[slot] < 0 && dp_spec_norms(sums->spec)[slot].nlimits > 0;
}

/* Adds entry n of the unit at hand to its groups. */
static inline void
add_entry(DpGroupSums *sums, const DpBoundState *state, const char *from, int n, uint64 of_keys)
{
	for (int slot = 0; slot < sums->nslots; slot++)
	{
		uint64		hash;
		AddedGroup **bucket;

		if (passes_slot(sums, slot))
			continue;
		hash = hash_bins(sums, slot, of_keys);
		bucket = &sums->buckets[hash & (sums->nbuckets - 1)];
		while (*bucket != NULL && ((*bucket)->hash != hash || !same_keys(sums, state, from, slot, *bucket)))
			if (++bucket == sums->buckets + sums->nbuckets)
				bucket = sums->buckets;
		if (*bucket == NULL)
			*bucket = new_group(sums, state, from, slot, hash);
		add_values(sums, *bucket, from, n, slot);
	}
	sums->nadded++;
}

/* Fetches the buckets of entries with these hashes of keys, or their groups, into the cache. */
static void
fetch_places(const DpGroupSums *sums, const uint64 *of_keys, int n, bool groups)
{
	for (int i = 0; i < n; i++)
		for (int slot = 0; slot < sums->nslots; slot++)
		{
			AddedGroup **bucket;

			if (passes_slot(sums, slot))
				continue;
			bucket = &sums->buckets[hash_bins(sums, slot, of_keys[i]) & (sums->nbuckets - 1)];
			if (!groups)
				__builtin_prefetch(bucket);
			else if (*bucket != NULL)
				__builtin_prefetch(*bucket, 1);
		}
}

/* Adds all entries of the unit at hand. */
static void
add_entries(DpGroupSums *sums, const DpBoundState *state)
{
	Size		entry_size = dp_entry_size(state);
	const char *from = dp_state_entries(state);
	uint64		of_keys[FETCHED];

	for (int first = 0; first < state->nentries; first += FETCHED)
	{
		int			n = Min(state->nentries - first, FETCHED);

		for (int i = 0; i < n; i++)
			of_keys[i] = hash_keys(sums, state, from + i * entry_size);
		if (sums->nbuckets > FIRST_BUCKETS)
		{
			fetch_places(sums, of_keys, n, false);
			fetch_places(sums, of_keys, n, true);
		}
		for (int i = 0; i < n; i++, from += entry_size)
			add_entry(sums, state, from, first + i, of_keys[i]);
	}
}

/* Tells whether the table has room for all groups of a state. */
static bool
has_room(const DpGroupSums *sums, const DpBoundState *state)
{
	return sums->ngroups + state->nentries * sums->nslots <= sums->nbuckets / 2 &&
		sums->bytes + sums->nslots * (state->nentries * group_size(sums) + VARSIZE(state)) <= sums->most_bytes;
}

/* Makes the table larger; returns false where it may not be. */
static bool
grow_table(DpGroupSums *sums)
{
	int			nbuckets = sums->nbuckets;
	AddedGroup **buckets;

	if (sums->nadded >= (int64) WELL * sums->ngroups || !next_size(sums->limit, &nbuckets, &sums->most_bytes))
		return false;
	buckets = MemoryContextAllocZero(sums->context, bucket_bytes(nbuckets));
	for (int i = 0; i < sums->nbuckets; i++)
	{
		uint64		at;

		if (sums->buckets[i] == NULL)
			continue;
		for (at = sums->buckets[i]->hash & (nbuckets - 1); buckets[at] != NULL; at = (at + 1) & (nbuckets - 1))
			;
		buckets[at] = sums->buckets[i];
	}
	pfree(sums->buckets);
	sums->buckets = buckets;
	sums->nbuckets = nbuckets;
	return true;
}

/* Returns a column of a group that is no key. */
static inline Datum
group_sum(const DpGroupSums *sums, const AddedGroup *group, DpRowColumn column)
{
	int			nvalues = sums->shape->layout.nvalues;

	switch (column.kind)
	{
		case DP_COLUMN_VALUE:
			return Int64GetDatum(group->value[column.i]);
		case DP_COLUMN_SHARE:
			return Int64GetDatum(sums->spec->nnorms > 0 ? group->value[nvalues + column.i] : 0);
		case DP_COLUMN_FIRST:
			return Int64GetDatum(group->value[sums->nsums - 1]);
		case DP_COLUMN_BIN:
			return Int64GetDatum(group_bins(sums, group)[column.i]);
		default:
			elog(ERROR, "unexpected column %d of groups that are added up", (int) column.kind);
	}
}

/*
 * Adds a unit's groups.  Returns false, and does nothing, where there is no
 * room, or never will be: the caller is to have what is there leave, by
 * dp_group_sums_next, and if that is nothing, to let the state leave by itself.
 */
bool
dp_group_sums_add(DpGroupSums *sums, const DpBoundState *state)
{
	if (unlikely(sums->shape == NULL))
		sums->shape = dp_shape_of(state, sums->context);
	if (sums->useless || sums->nunits >= MOST_UNITS || sums->magnitude > MOST_LIMITED)
		return false;
	while (!has_room(sums, state))
		if (!grow_table(sums))
			return false;

	if (!dp_layout_fits(&sums->shape->layout, state))
		elog(ERROR, "states of different shapes cannot be added up");
	dp_unit_norms(state, &sums->shape->layout, sums->spec, &sums->norms);
	add_entries(sums, state);
	sums->nunits++;
	return true;
}

/* Begins anew, with no groups. */
static void
forget_groups(DpGroupSums *sums)
{
	MemoryContextReset(sums->groups);
	memset(sums->buckets, 0, bucket_bytes(sums->nbuckets));
	/* a table that is nearly empty tells nothing of rows to come */
	sums->useless = (sums->ngroups >= sums->nbuckets / 8 || sums->bytes >= sums->most_bytes / 4) &&
		sums->nadded < (int64) LEAST * sums->ngroups;
	sums->ngroups = sums->nunits = sums->nadded = sums->left = 0;
	sums->magnitude = 0;
	sums->bytes = 0;
}

/*
 * Sets the columns of the row that the next group is, which lives until the
 * next call.  Returns false when all have left; then others may be added.
 */
bool
dp_group_sums_next(DpGroupSums *sums, const DpRowColumn *columns, int ncolumns, Datum *values, bool *isnull)
{
	const AddedGroup *group = NULL;

	while (sums->left < sums->nbuckets && group == NULL)
		group = sums->buckets[sums->left++];
	if (group == NULL)
	{
		forget_groups(sums);
		return false;
	}
	for (int c = 0; c < ncolumns; c++)
	{
		int			i = columns[c].i;
		uint64		word;

		isnull[c] = columns[c].kind == DP_COLUMN_KEY && (group->nulls & (UINT64CONST(1) << i)) != 0;
		if (columns[c].kind != DP_COLUMN_KEY)
		{
			values[c] = group_sum(sums, group, columns[c]);
			continue;
		}
		word = group_words(sums, group)[i];
		values[c] = sums->shape->layout.by_reference & (1 << i) ?
			PointerGetDatum((const char *) group + DP_KEYREF_OFFSET(word)) : (Datum) word;
	}
	return true;
}
