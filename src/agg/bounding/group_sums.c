/*-------------------------------------------------------------------------
 *
 * group_sums.c
 *	  Adds up what units contribute to a group before it leaves gather.c.
 *
 * The inner plan's second level adds up the rows of all units, one call of
 * several nodes for each.  Where groups are few, most of that is saved by
 * adding up here: rows of equal keys become one, whose values are sums of
 * theirs, or one for each bin of each norm that has a limit (norms.c).  These leave one
 * after the other, so that whoever groups them has the group at hand.
 *
 * Invariants:
 *	- only clamped values are added (dp_clamped_value), each unit's once, so the
 *	  second level comes to the same sums for each bin whatever was added up before;
 *	- keys are one if their bits or bytes are: keys that GROUP BY takes for equal,
 *	  and that are written differently, leave as they are; codes are not added up;
 *	- what a norm limits is apart by the norm's bins (group_sums_rows.c); who is in none is not counted as a unit;
 *	- no sum exceeds 2^62: of MOST_UNITS * MOST_VALUE, or of what is below MOST_LIMITED before units are added;
 *	- memory is limited: what has no room leaves, and where that does not make
 *	  less of it (more rows than fit), adding up ends.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/memutils.h"

#include "agg/bounding/group_sums.h"

#define MOST_UNITS (1 << 20)

StaticAssertDecl(MOST_UNITS < DP_ADDED_UNIT, "units that have a group first are not apart from those that have it");

#define MOST_VALUE (INT64CONST(1) << 41)

/* the sum of all magnitudes that a norm limits; another unit has room above it */
#define MOST_LIMITED (INT64CONST(1) << 61)

/*
 * Buckets, of which at most half are taken.  The first table is small, as most queries have few groups, and it is cleared
 * for each.  A table that has no room grows as long as its rows are not WELL times as many as those that leave.
 */
#define FIRST_BUCKETS 2048
#define MORE 4
#define MOST_BUCKETS (FIRST_BUCKETS * MORE * MORE * MORE * MORE * MORE)
#define FIRST_BYTES ((Size) 128 * 1024)
#define WELL 8

/* groups of such a table stay in a processor's cache */
#define CACHED_BUCKETS 8192
#define CACHED_BYTES ((Size) 512 * 1024)

/* rows that leave have to be fewer than entries by this factor; each costs several times what adding an entry up does */
#define LEAST 2

/* memory for groups is taken in blocks, in which they lie without gaps */
#define BLOCK ((Size) 32 * 1024)

/* in which a group has units */
#define USUAL_BINS 8

/* entries whose places are fetched together where the table has grown */
#define FETCHED 32

static inline Size
bucket_bytes(int nbuckets)
{
	return nbuckets * sizeof(DpAddedGroup *);
}

/* Returns the bytes of a page of groups that have so many sums in a bin. */
static inline Size
page_bytes(int nsums)
{
	return DP_PAGE_GROUPS * nsums * sizeof(int64);
}

/* Returns how many pages a bin may have. */
static inline int
most_pages(int nbuckets)
{
	return nbuckets / 2 / DP_PAGE_GROUPS + 1;
}

/*
 * Sets the next larger size of a table that takes at most limit bytes; returns false where there is none.  At last its
 * groups have what no further buckets are made of.
 */
static bool
next_size(Size limit, int *nbuckets, Size *most_bytes)
{
	int			more = *nbuckets * MORE;

	/* both arrays of buckets are there while it grows */
	Size		buckets = bucket_bytes(more) + bucket_bytes(*nbuckets);

	if (more <= MOST_BUCKETS && buckets + *most_bytes * 2 <= limit)
	{
		*nbuckets = more;
		*most_bytes = Min(*most_bytes * MORE, limit - buckets);
		return true;
	}
	if (limit - bucket_bytes(*nbuckets) <= *most_bytes)
		return false;
	*most_bytes = limit - bucket_bytes(*nbuckets);
	return true;
}

/* Tells whether value i is limited by a norm. */
static inline bool
is_limited(const DpBoundSpec *spec, int i)
{
	return spec->value[i].norm >= 0 && dp_spec_norms(spec)[spec->value[i].norm].nlimits > 0;
}

/* Sets where values are added up. */
static void
place_values(DpGroupSums *sums)
{
	const DpBoundSpec *spec = sums->spec;

	sums->limited = MemoryContextAllocZero(sums->context, Max(spec->nnorms, 1) * sizeof(DpLimitedNorm));
	for (int l = 0; l < DP_MAX_VALUES; l++)
	{
		sums->limited_of[l] = l < spec->nnorms && dp_spec_norms(spec)[l].nlimits > 0 ? sums->nlimited++ : -1;
		if (sums->limited_of[l] < 0)
			continue;
		sums->limited[sums->limited_of[l]].norm = l;
		sums->limited[sums->limited_of[l]].nsums = 1;
	}
	for (int i = 0; i < spec->nvalues; i++)
	{
		DpValuePlace *place = &sums->place[i];
		DpLimitedNorm *norm;

		place->limited = spec->value[i].norm >= 0 ? sums->limited_of[spec->value[i].norm] : -1;
		if (place->limited < 0)
		{
			place->sum = sums->nsums++;
			continue;
		}
		norm = &sums->limited[place->limited];
		place->sum = norm->nsums;
		norm->nsums += 2;
		norm->value[norm->nvalues++] = i;
	}
	for (int l = 0; l < sums->nlimited; l++)
	{
		DpLimitedNorm *norm = &sums->limited[l];

		bool		is_own = norm->nvalues == 1 && norm->value[0] == dp_spec_norms(spec)[norm->norm].value;

		norm->is_count = is_own && dp_value_is_count(spec, norm->value[0]);
		norm->is_first = is_own && !norm->is_count && norm->norm == 0;
		if (norm->is_count)
			norm->most_rows = dp_most_of_count(spec, norm->value[0]);
	}
	sums->nsums += sums->nlimited == 0;
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
		if (!is_limited(spec, i) && (grid->upper > MOST_VALUE || grid->lower < -MOST_VALUE))
			return NULL;
	}
	if (limit < bucket_bytes(FIRST_BUCKETS))
		return NULL;
	context = AllocSetContextCreate(parent, "dp_cdp sums of groups", ALLOCSET_DEFAULT_SIZES);
	sums = MemoryContextAllocZero(context, sizeof(DpGroupSums));
	sums->spec = spec;
	sums->context = context;
	place_values(sums);
	sums->groups = AllocSetContextCreate(context, "dp_cdp groups", ALLOCSET_DEFAULT_SIZES);
	sums->limit = limit;
	sums->nbuckets = FIRST_BUCKETS;
	sums->buckets = MemoryContextAllocZero(context, bucket_bytes(FIRST_BUCKETS));
	sums->most_bytes = Min(limit - bucket_bytes(FIRST_BUCKETS), FIRST_BYTES);
	return sums;
}

/* Returns how many groups, of so many columns and norms, are added up at once in a table of at most limit bytes. */
double
dp_group_sums_most(Size limit, int ncolumns, int nnorms)
{
	int			nbuckets = FIRST_BUCKETS;
	Size		bytes = FIRST_BYTES;
	Size		group = offsetof(DpAddedGroup, sum) + sizeof(int64) * (ncolumns + nnorms * USUAL_BINS * 3);

	if (limit < bucket_bytes(FIRST_BUCKETS))
		return 0;
	while (next_size(limit, &nbuckets, &bytes))
		;
	return Min(nbuckets / 2, (double) bytes / group);
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

/* Returns the bytes of a group, without those of its keys and pages. */
static inline Size
group_size(const DpGroupSums *sums)
{
	return offsetof(DpAddedGroup, sum) + sizeof(int64) * (sums->nsums + sums->shape->layout.nkeys);
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
same_keys(const DpGroupSums *sums, const DpBoundState *state, const char *from, const DpAddedGroup *group)
{
	const DpLayout *layout = &sums->shape->layout;

	if (group->nulls != (dp_rank(from) & DP_RANK_NULLS))
		return false;
	for (int i = 0; i < layout->nkeys; i++)
	{
		uint64		word = dp_entry_word(layout, from, i);
		uint64		held = dp_group_words(sums, group)[i];

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

/* Returns so many bytes, a multiple of 8, until groups are forgotten. */
static void *
take_memory(DpGroupSums *sums, Size size)
{
	char	   *result;

	if (size > sums->free)
	{
		sums->free = Max(size, BLOCK);
		sums->unused = MemoryContextAlloc(sums->groups, sums->free);
	}
	result = sums->unused;
	sums->unused += size;
	sums->free -= size;
	sums->bytes += size;
	return result;
}

/* Returns a new group, without values, of the keys of the entry. */
static DpAddedGroup *
new_group(DpGroupSums *sums, const DpBoundState *state, const char *from, uint64 hash)
{
	const DpLayout *layout = &sums->shape->layout;
	Size		size = group_size(sums);
	Size		at = size;
	DpAddedGroup *group;

	for (int i = 0; i < layout->nkeys; i++)
		if (layout->by_reference & (1 << i))
			size += MAXALIGN(DP_KEYREF_LEN(dp_entry_word(layout, from, i)));
	group = take_memory(sums, size);
	group->hash = hash;
	group->next = NULL;
	*(sums->last != NULL ? &sums->last->next : &sums->first) = group;
	sums->last = group;
	group->number = sums->ngroups;
	group->nulls = dp_rank(from) & DP_RANK_NULLS;
	memset(group->sum, 0, sizeof(int64) * sums->nsums);
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
		dp_group_words(sums, group)[i] = word;
	}
	sums->ngroups++;
	return group;
}

/* Makes a page for a group's sums in a bin. */
static pg_noinline void
add_page(DpGroupSums *sums, DpLimitedNorm *norm, const DpAddedGroup *group, int bin)
{
	Size		size = page_bytes(norm->nsums);
	int64	   *page = take_memory(sums, size);

	memset(page, 0, size);
	if (norm->pages[bin] == NULL)
	{
		size = most_pages(sums->nbuckets) * sizeof(int64 *);
		norm->pages[bin] = MemoryContextAllocZero(sums->groups, size);
		sums->bytes += size;
	}
	norm->pages[bin][group->number / DP_PAGE_GROUPS] = page;
	norm->past = Max(norm->past, bin + 1);
}

/* Returns the sums of a group in a bin, to which something will be added. */
static inline int64 *
sums_of_bin(DpGroupSums *sums, DpLimitedNorm *norm, const DpAddedGroup *group, int bin)
{
	int64	   *sum = dp_bin_sums(norm, group, bin);

	if (unlikely(sum == NULL))
	{
		add_page(sums, norm, group, bin);
		sum = dp_bin_sums(norm, group, bin);
	}
	sums->nbins += sum[0] == 0;
	return sum;
}

/*
 * Does what dp_limit_value does, for a norm that limits its own value alone, in steps: counts of a unit are mostly the same, and so
 * are their shares.
 */
static inline void
limit_own(const DpGroupSums *sums, DpLimitedNorm *norm, int64 value, DpLimitedValue *limited)
{
	int			bin = sums->norms.bin[norm->norm];

	if (value != norm->counted)
	{
		norm->counted = value;
		norm->share = bin > 0 ? dp_share_of_norm(value, sums->norms.norm[norm->norm]) : 0;
	}
	limited->value = bin < dp_spec_norms(sums->spec)[norm->norm].nlimits ? value : 0;
	limited->share = norm->share;
}

/* Adds the values of entry n of the unit at hand to its group, once for each unit that is alike. */
static inline void
add_values(DpGroupSums *sums, DpAddedGroup *group, const char *from, int n)
{
	const DpLayout *layout = &sums->shape->layout;
	const DpBoundSpec *spec = sums->spec;

	for (int i = 0; i < layout->nvalues; i++)
		if (sums->place[i].limited < 0 && likely(dp_counts_in(spec, i, n)))
			group->sum[sums->place[i].sum] += dp_clamped_value(layout, from, spec, i) * sums->nalike;
	if (sums->nlimited == 0)
		group->sum[sums->nsums - 1] += n == 0 ? sums->nalike : 0;
	for (int l = 0; l < sums->nlimited; l++)
	{
		DpLimitedNorm *norm = &sums->limited[l];
		int			bin = sums->norms.bin[norm->norm];
		int64	   *sum;

		/* the unit contributes nothing */
		if (bin < 0)
			continue;
		sum = sums_of_bin(sums, norm, group, bin);
		*sum++ += (DP_ADDED_UNIT + (n == 0)) * sums->nalike;
		for (int i = 0; i < norm->nvalues; i++, sum += 2)
		{
			DpLimitedValue limited;

			if (!dp_counts_in(spec, norm->value[i], n))
				continue;
			if (likely(norm->is_count))
				limit_own(sums, norm, dp_count_in_steps(layout, from, spec, norm->value[i], norm->most_rows), &limited);
			else if (norm->is_first && n < DP_NORM_VALUES)
				limit_own(sums, norm, sums->norms.value[n], &limited);
			else
				dp_limit_value(layout, from, spec, &sums->norms, norm->value[i], &limited);
			limited.value *= sums->nalike;
			sum[0] += limited.value;
			sum[1] += limited.share * sums->nalike;
			sums->magnitude += limited.value < 0 ? -limited.value : limited.value;
		}
	}
}

/* Adds entry n of the unit at hand to its group. */
static inline void
add_entry(DpGroupSums *sums, const DpBoundState *state, const char *from, int n, uint64 hash)
{
	DpAddedGroup **bucket = &sums->buckets[hash & (sums->nbuckets - 1)];

	while (*bucket != NULL && ((*bucket)->hash != hash || !same_keys(sums, state, from, *bucket)))
		if (++bucket == sums->buckets + sums->nbuckets)
			bucket = sums->buckets;
	if (*bucket == NULL)
		*bucket = new_group(sums, state, from, hash);
	add_values(sums, *bucket, from, n);
	sums->nadded += sums->nalike;
}

/* Fetches the buckets of entries with these hashes of keys into the cache, then their groups, then what the unit adds to. */
static void
fetch_places(const DpGroupSums *sums, const uint64 *hash, int n)
{
	for (int i = 0; i < n; i++)
		__builtin_prefetch(&sums->buckets[hash[i] & (sums->nbuckets - 1)]);
	for (int i = 0; i < n; i++)
	{
		DpAddedGroup *group = sums->buckets[hash[i] & (sums->nbuckets - 1)];

		if (group != NULL)
			__builtin_prefetch(group, 1);
	}
	for (int i = 0; i < n; i++)
	{
		const DpAddedGroup *group = sums->buckets[hash[i] & (sums->nbuckets - 1)];

		for (int l = 0; group != NULL && l < sums->nlimited; l++)
			if (sums->norms.bin[sums->limited[l].norm] >= 0)
				__builtin_prefetch(dp_bin_sums(&sums->limited[l], group, sums->norms.bin[sums->limited[l].norm]), 1);
	}
}

/* Adds all entries of the unit at hand. */
static void
add_entries(DpGroupSums *sums, const DpBoundState *state)
{
	Size		entry_size = dp_entry_size(state);
	const char *from = dp_state_entries(state);
	uint64		hash[FETCHED];

	for (int first = 0; first < state->nentries; first += FETCHED)
	{
		int			n = Min(state->nentries - first, FETCHED);

		for (int i = 0; i < n; i++)
			hash[i] = hash_keys(sums, state, from + i * entry_size);
		if (sums->nbuckets > CACHED_BUCKETS)
			fetch_places(sums, hash, n);
		for (int i = 0; i < n; i++, from += entry_size)
			add_entry(sums, state, from, first + i, hash[i]);
	}
}

/* Tells whether the table has room for all groups of a state, and for their pages in a bin of each norm. */
static bool
has_room(const DpGroupSums *sums, const DpBoundState *state)
{
	int			ngroups = sums->ngroups + state->nentries;
	Size		pages = Min(state->nentries, ngroups / DP_PAGE_GROUPS + 1);
	Size		bytes = sums->bytes + state->nentries * group_size(sums) + VARSIZE(state);

	for (int l = 0; l < sums->nlimited; l++)
		bytes += pages * page_bytes(sums->limited[l].nsums) + most_pages(sums->nbuckets) * sizeof(int64 *);
	return ngroups <= sums->nbuckets / 2 && bytes <= sums->most_bytes;
}

/* Returns about how many rows leave. */
static inline int64
rows_to_leave(const DpGroupSums *sums)
{
	return Max(sums->nbins / Max(sums->nlimited, 1), sums->ngroups);
}

/* Lets a norm's bins have as many pages as a table of so many buckets may need. */
static void
grow_pages(DpGroupSums *sums, DpLimitedNorm *norm, int nbuckets)
{
	Size		size = most_pages(sums->nbuckets) * sizeof(int64 *);
	Size		more = most_pages(nbuckets) * sizeof(int64 *);

	for (int bin = 0; bin < norm->past; bin++)
	{
		if (norm->pages[bin] == NULL)
			continue;
		norm->pages[bin] = repalloc(norm->pages[bin], more);
		memset((char *) norm->pages[bin] + size, 0, more - size);
		sums->bytes += more - size;
	}
}

/* Makes the table larger; returns false where it may not be. */
static bool
grow_table(DpGroupSums *sums)
{
	int			nbuckets = sums->nbuckets;
	DpAddedGroup **buckets;

	if (sums->nadded >= WELL * rows_to_leave(sums) || !next_size(sums->limit, &nbuckets, &sums->most_bytes))
		return false;
	if (nbuckets == sums->nbuckets)
		return true;
	for (int l = 0; l < sums->nlimited; l++)
		grow_pages(sums, &sums->limited[l], nbuckets);
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

/*
 * Adds the groups of n units that have this state.  Returns false, and does nothing, where there is no
 * room, or never will be: the caller is to have what is there leave, by
 * dp_group_sums_next, and if that is nothing, to let the state leave by itself.
 */
bool
dp_group_sums_add(DpGroupSums *sums, const DpBoundState *state, int n)
{
	if (unlikely(sums->shape == NULL))
		sums->shape = dp_shape_of(state, sums->context);
	if (sums->useless || sums->nunits > MOST_UNITS - n || sums->magnitude > MOST_LIMITED)
		return false;
	while (!has_room(sums, state))
		if (!grow_table(sums))
			return false;

	if (!dp_layout_fits(&sums->shape->layout, state))
		elog(ERROR, "states of different shapes cannot be added up");
	dp_unit_norms(state, &sums->shape->layout, sums->spec, &sums->norms);
	for (int l = 0; l < sums->nlimited; l++)
		sums->limited[l].counted = PG_INT64_MIN;
	sums->nalike = n;
	add_entries(sums, state);
	sums->nunits += n;
	return true;
}

/* Begins anew, with no groups. */
void
dp_group_sums_forget(DpGroupSums *sums)
{
	MemoryContextReset(sums->groups);
	memset(sums->buckets, 0, bucket_bytes(sums->nbuckets));
	/* a table that is nearly empty tells nothing of rows to come */
	sums->useless = (sums->ngroups >= Max(sums->nbuckets, CACHED_BUCKETS) / 8 ||
					 sums->bytes >= Max(sums->most_bytes, CACHED_BYTES) / 4) &&
		sums->nadded < LEAST * rows_to_leave(sums);
	for (int l = 0; l < sums->nlimited; l++)
	{
		memset(sums->limited[l].pages, 0, sizeof(sums->limited[l].pages));
		sums->limited[l].past = 0;
	}
	sums->ngroups = sums->nunits = sums->nadded = sums->nbins = 0;
	sums->first = sums->last = NULL;
	sums->magnitude = 0;
	sums->bytes = sums->free = 0;
}
