/*-------------------------------------------------------------------------
 *
 * state.c
 *	  The groups that one privacy unit keeps, and their partial values.
 *
 * A state holds the max_groups keys of smallest rank that were offered to it,
 * each with the partials of all rows of that key.
 *
 * Claim: whatever the order of rows and however they are split over partial
 * states that are merged later, the kept keys are the k = max_groups keys of
 * smallest rank among all keys of the unit, and their partials are complete.
 *
 * Proof.  Keys are totally ordered by rank, and by the type's own order where
 * ranks are equal; the order depends on the key alone.  Call a key final when
 * fewer than k of the unit's keys precede it.  A state's keys are always some
 * of the unit's, so a key of which k others in the same state precede it is
 * not final.  A key is only dropped (on arrival, on eviction, or in a merge)
 * when k others in the state precede it.  Hence a final key is never dropped:
 * from its first row on it stays in the state, gathers every later row that
 * the state sees, and merging adds up what the partial states gathered.  A
 * key that is not final is gone at the end, as all k final keys are there and
 * precede it; so the partials that dropped keys lost are never looked at.
 * (Within one state a dropped key does not even come back: the state then
 * holds k preceding keys, and only smaller ones ever replace these.)
 *
 * No unit's rows can make its state fail.  A row whose keys by reference take
 * more bytes than dp_key_bytes_limit() is left out before it comes here, as a
 * row without a unit is; and where the spec allows so many groups that they
 * might exceed DP_MAX_STATE, k is as many as cannot.  Both limits follow from
 * types and spec, not from data: the first reads a row by itself, the second
 * is a smaller k for every unit alike.  So the claim holds as it stands, for
 * the rows that are not left out, and a unit is in no more groups than the
 * sensitivity is computed for.
 *
 * Layout invariants: entries are ascending and of equal size, directly after
 * the header; the bytes of keys by reference lie between state->bytes and the
 * end, each aligned, those of dropped keys being garbage until the state is
 * rebuilt; the free space is in between.  All words are aligned, because
 * type bound_state is of double alignment and plain storage.
 *
 * A state is changed in place.  When it must grow, a larger one is made in
 * CurrentMemoryContext: the executor copies that into the aggregate's memory
 * and frees the old one, so the caller must not free it.  Where the shape says
 * in which memory states are, the larger one is made there, and replaces the old one.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "agg/bounding/state.h"
#include "base/compat.h"

/* the smallest state that is worth its allocation */
#define SMALLEST_STATE 128

/* so many entries are all looked at, and of more than the larger number the place of a rank is not guessed */
#define FEW_ENTRIES 16
#define MANY_ENTRIES 1024

/* ------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------
 */

/* Compares shorter first, then by bytes. */
static int
compare_bytes(const char *a, uint32 alen, const char *b, uint32 blen)
{
	if (alen != blen)
		return alen < blen ? -1 : 1;
	return memcmp(a, b, alen);
}

static void
read_key_bytes(const DpKeyInfo *info, DpKey *key)
{
	if (info->typlen == -1)
	{
		struct varlena *value = PG_DETOAST_DATUM_PACKED(key->datum);

		key->datum = PointerGetDatum(value);
		key->data = VARDATA_ANY(value);
		key->len = VARSIZE_ANY_EXHDR(value);
	}
	else
	{
		key->data = DatumGetPointer(key->datum);
		key->len = info->typlen;
	}
}

/* Fills in key, which is not NULL, and hashes it; equal keys hash to the same. */
uint64
dp_key_hash(DpKeyInfo *info, Datum datum, DpKey *key, uint64 seed)
{
	key->isnull = false;
	key->datum = datum;
	if (info->typbyval)
	{
		key->word = dp_key_word(datum, info->typlen);
		if (info->class == DP_KEY_WORD)
			return key->word;
	}
	else
	{
		read_key_bytes(info, key);
		if (info->class != DP_KEY_GENERIC)
			return hash_bytes_extended((const unsigned char *) key->data, key->len, seed);
	}

	if (info->extended_hash)
		return DatumGetUInt64(FunctionCall2Coll(&info->hash, info->collation,
												key->datum, UInt64GetDatum(seed)));
	return DatumGetUInt32(FunctionCall1Coll(&info->hash, info->collation, key->datum)) ^ seed;
}

/* Returns the bytes of a key by reference, without varlena header. */
static inline const char *
key_data(const DpBoundState *state, const DpKeyInfo *info, uint64 word, uint32 *len)
{
	const char *p = (const char *) state + DP_KEYREF_OFFSET(word);

	*len = DP_KEYREF_LEN(word);
	if (info->typlen == -1)
	{
		p += VARHDRSZ;
		*len -= VARHDRSZ;
	}
	return p;
}

/* Returns the order of two keys of equal hash, neither NULL. */
static int
compare_key(const DpBoundState *state, uint64 word, DpKeyInfo *info, const DpKey *key)
{
	const char *data;
	uint32		len;
	Datum		stored;

	if (info->class == DP_KEY_WORD)
		return word == key->word ? 0 : word < key->word ? -1 : 1;
	if (info->class != DP_KEY_GENERIC)
	{
		data = key_data(state, info, word, &len);
		return compare_bytes(data, len, key->data, key->len);
	}

	stored = info->typbyval ? (Datum) word :
		PointerGetDatum((const char *) state + DP_KEYREF_OFFSET(word));
	if (info->has_order)
		return DatumGetInt32(FunctionCall2Coll(&info->compare, info->collation,
											   stored, key->datum));
	if (DatumGetBool(FunctionCall2Coll(&info->compare, info->collation, stored, key->datum)))
		return 0;
	if (info->typbyval)
		return word < key->word ? -1 : 1;
	data = key_data(state, info, word, &len);
	return compare_bytes(data, len, key->data, key->len);
}

static int
compare_keys(const DpBoundState *state, const char *entry, DpShape *shape, const DpKey *keys)
{
	for (int i = 0; i < shape->layout.nkeys; i++)
	{
		int			order;

		/* equal ranks have the same keys NULL */
		if (keys[i].isnull)
			continue;
		order = compare_key(state, dp_entry_word(&shape->layout, entry, i),
							&shape->key[i], &keys[i]);
		if (order != 0)
			return order;
	}
	return 0;
}

/*
 * Replaces a key by an equal one.  Equal keys may be written differently (1.0
 * and 1.00).  Keep the smallest by bytes, so that the state does not depend on
 * the order of rows.  It is never longer than the one that is there.
 */
static void
prefer_smaller_form(DpBoundState *state, char *entry, const DpShape *shape, const DpKey *keys)
{
	const DpLayout *layout = &shape->layout;

	for (int i = 0; i < layout->nkeys; i++)
	{
		const DpKeyInfo *info = &shape->key[i];
		uint64		word;

		if (likely(info->class != DP_KEY_GENERIC) || keys[i].isnull)
			continue;
		word = dp_entry_word(layout, entry, i);
		if (info->typbyval)
			dp_set_entry_word(layout, entry, i, Min(word, keys[i].word));
		else
		{
			uint32		len;
			char	   *data = unconstify(char *, key_data(state, info, word, &len));

			if (compare_bytes(keys[i].data, keys[i].len, data, len) >= 0)
				continue;
			memcpy(data, keys[i].data, keys[i].len);
			if (info->typlen == -1)
			{
				SET_VARSIZE(data - VARHDRSZ, keys[i].len + VARHDRSZ);
				dp_set_entry_word(layout, entry, i,
								  DP_KEYREF(DP_KEYREF_OFFSET(word), keys[i].len + VARHDRSZ));
			}
		}
	}
}

/* ------------------------------------------------------------------------
 * States
 * ------------------------------------------------------------------------
 */

/*
 * Returns the length of a state for "need" bytes, with room to grow when it
 * may; "need" is hardly more than DP_MAX_STATE.
 */
static Size
state_size(Size need, Size most, bool has_bytes)
{
	Size		size = SMALLEST_STATE;

	/* room for a quarter more keeps the cost of rebuilding linear */
	while (size < need || (has_bytes && size - need < need / 4))
		size *= 2;
	if (!has_bytes && size > most)
		size = most;
	Assert(size >= need && size <= MaxAllocSize);
	return size;
}

static inline Size
header_size(const DpLayout *layout)
{
	return dp_state_header_size(layout->nkeys, layout->nvalues, layout->has_codes);
}

/* Returns the most that a state without keys by reference can ever need. */
static Size
largest_size(const DpLayout *layout, int max_groups)
{
	return header_size(layout) + (Size) layout->entry_size * max_groups;
}

/* Returns how many groups fit into the largest state, whatever their keys are. */
static int
most_groups(const DpLayout *layout, int max_groups)
{
	Size		group = layout->entry_size;

	if (layout->by_reference != 0)
		group += dp_key_bytes_limit(max_groups);
	return (int) Min((Size) max_groups, DP_MAX_STATE / group);
}

/* Makes an empty state in CurrentMemoryContext. */
DpBoundState *
dp_bound_state_new(const DpShape *shape, int max_groups, uint64 salt)
{
	const DpLayout *layout = &shape->layout;
	DpBoundState *state;
	Size		size;

	max_groups = layout->nkeys == 0 ? 1 : most_groups(layout, max_groups);
	size = state_size(header_size(layout) + layout->entry_size,
					  largest_size(layout, max_groups), layout->by_reference != 0);
	/* entries are cleared as they are taken; what lies between keys' bytes is nobody's */
	state = layout->by_reference != 0 ? palloc0(size) : memset(palloc(size), 0, header_size(layout));
	SET_VARSIZE(state, size);
	state->bytes = size;
	state->salt = salt;
	state->sums = layout->sums[0];
	state->max_groups = max_groups;
	state->by_reference = layout->by_reference;
	state->narrow = layout->narrow;
	state->entry_words = layout->entry_size / sizeof(uint64);
	state->nkeys = layout->nkeys;
	state->nvalues = layout->nvalues;
	for (int i = 0; i < layout->nkeys; i++)
	{
		state->key[i].type = shape->key[i].type;
		state->key[i].collation = shape->key[i].collation;
	}
	state->has_codes = layout->has_codes;
	if (layout->has_codes)
		memcpy(dp_state_code_specs(state), layout->codes, layout->nvalues * sizeof(DpCodeSpec));
	if (layout->nvalues > 64)
		memcpy(dp_state_more_sums(state), &layout->sums[1], (DP_SUMS_WORDS - 1) * sizeof(uint64));
	return state;
}

/* Gives a state copies of the keys' bytes that its entries are to have, as the old one, of which it is a copy, has them. */
static void
move_keys(const DpBoundState *old, const DpLayout *layout, DpBoundState *state)
{
	char	   *entry = dp_state_entries(state);
	Size		entry_size = dp_entry_size(state);

	for (int n = 0; n < state->nentries; n++, entry += entry_size)
		for (int i = 0; i < layout->nkeys; i++)
		{
			uint64		word;
			uint32		len;

			if (!(layout->by_reference & (1 << i)))
				continue;
			word = dp_entry_word(layout, entry, i);
			len = DP_KEYREF_LEN(word);
			if (len == 0)
				continue;		/* a NULL's word is 0 */
			state->bytes -= MAXALIGN(len);
			memcpy((char *) state + state->bytes, (const char *) old + DP_KEYREF_OFFSET(word), len);
			dp_set_entry_word(layout, entry, i, DP_KEYREF(state->bytes, len));
		}
}

/* Makes a copy without garbage, with room for at least "more" bytes. */
static DpBoundState *
rebuild(DpBoundState *old, const DpShape *shape, Size more)
{
	const DpLayout *layout = &shape->layout;
	DpBoundState *state;
	Size		entry_size = dp_entry_size(old);
	Size		fixed = header_size(layout) + old->nentries * entry_size;
	Size		need = fixed + more;
	Size		size;
	char	   *entry;

	CHECK_FOR_INTERRUPTS();

	if (layout->by_reference != 0)
	{
		entry = dp_state_entries(old);
		for (int n = 0; n < old->nentries; n++, entry += entry_size)
			for (int i = 0; i < layout->nkeys; i++)
				if (layout->by_reference & (1 << i))
					need += MAXALIGN(DP_KEYREF_LEN(dp_entry_word(layout, entry, i)));
	}

	size = state_size(need, largest_size(layout, old->max_groups), layout->by_reference != 0);
	state = MemoryContextAlloc(shape->states != NULL ? shape->states : CurrentMemoryContext, size);
	memcpy(state, old, fixed);
	SET_VARSIZE(state, size);
	state->bytes = size;
	if (layout->by_reference != 0)
	{
		memset((char *) state + fixed, 0, size - fixed);
		move_keys(old, layout, state);
	}
	if (shape->states != NULL)
		pfree(old);
	return state;
}

/* Returns the bytes that a key by reference takes in a state. */
static inline Size
stored_length(const DpKeyInfo *info, const DpKey *key)
{
	if (info->typbyval || key->isnull)
		return 0;
	return key->len + (info->typlen == -1 ? VARHDRSZ : 0);
}

static uint64
store_key(DpBoundState *state, const DpKeyInfo *info, const DpKey *key)
{
	Size		len = stored_length(info, key);
	char	   *p;

	if (info->typbyval)
		return key->word;
	state->bytes -= MAXALIGN(len);
	p = (char *) state + state->bytes;
	if (info->typlen == -1)
	{
		SET_VARSIZE(p, len);
		memcpy(p + VARHDRSZ, key->data, key->len);
	}
	else
		memcpy(p, key->data, key->len);
	return DP_KEYREF(state->bytes, len);
}

/* Puts a new entry at index "at"; the state must not be full. */
static char *
insert_entry(DpBoundState **pstate, DpShape *shape, int at, uint64 rank, const DpKey *keys)
{
	DpBoundState *state = *pstate;
	const DpLayout *layout = &shape->layout;
	Size		entry_size = dp_entry_size(state);
	Size		used = header_size(layout) + state->nentries * entry_size;
	Size		more = entry_size;
	char	   *entry;

	if (layout->by_reference != 0)
		for (int i = 0; i < layout->nkeys; i++)
			more += MAXALIGN(stored_length(&shape->key[i], &keys[i]));
	if (state->bytes - used < more)
		*pstate = state = rebuild(state, shape, more);

	entry = dp_state_entries(state) + at * entry_size;
	if (at < state->nentries)
		memmove(entry + entry_size, entry, (state->nentries - at) * entry_size);
	state->nentries++;

	/* a few words, and one state after the other: a call would take longer */
	for (int i = 0; i < state->entry_words; i++)
		((uint64 *) entry)[i] = 0;
	*(uint64 *) entry = rank;
	for (int i = 0; i < layout->nkeys; i++)
		if (!keys[i].isnull)
			dp_set_entry_word(layout, entry, i, store_key(state, &shape->key[i], &keys[i]));
	for (int i = 0; i < layout->nvalues; i++)
		if (dp_is_sum(layout->sums, i))
			((DpExactSum *) (entry + layout->value[i]))->hi = DP_NO_SUM_HI;
	return entry;
}

/*
 * Returns which of n entries is the first that is not below rank; n: none is.  Ranks are hashes, as good as uniform, so that a rank
 * tells nearly where it is.  Each half of a binary search is a branch that
 * nothing foretells, and of a few entries to look at all is faster.
 */
static inline int
first_not_below(const char *entries, Size entry_size, int n, bool is_full, uint64 rank)
{
	int			at = 0;
	int			above = n;

	if (n <= FEW_ENTRIES)
	{
		for (int i = 0; i < n; i++)
			at += dp_rank(entries + i * entry_size) < rank;
		return at;
	}
	if (n <= MANY_ENTRIES)
	{
		/* a state that is not full has all ranks that there are; not asking for the last one spares a wait for memory */
		uint64		last = is_full ? dp_rank(entries + (n - 1) * entry_size) : PG_UINT64_MAX;

		at = rank < last ? (int) ((double) (rank >> 32) / (double) ((last >> 32) + 1) * n) : n;
		while (at > 0 && dp_rank(entries + (at - 1) * entry_size) >= rank)
			at--;
		while (at < n && dp_rank(entries + at * entry_size) < rank)
			at++;
		return at;
	}
	while (at < above)
	{
		int			middle = at + (above - at) / 2;

		if (dp_rank(entries + middle * entry_size) < rank)
			at = middle + 1;
		else
			above = middle;
	}
	return at;
}

/*
 * Returns the entry with these keys, made (without values) if the state wants
 * it; NULL if max_groups other keys precede it.  May replace *pstate.
 */
char *
dp_bound_state_entry(DpBoundState **pstate, DpShape *shape, uint64 rank, DpKey *keys)
{
	DpBoundState *state = *pstate;
	char	   *entries = dp_state_entries(state);
	Size		entry_size = dp_entry_size(state);
	int			n = state->nentries;
	int			at;
	char	   *entry;

	at = first_not_below(entries, entry_size, n, n >= state->max_groups, rank);
	for (entry = entries + at * entry_size;
		 at < n && dp_rank(entry) == rank;
		 at++, entry += entry_size)
	{
		int			order = compare_keys(state, entry, shape, keys);

		if (order == 0)
		{
			prefer_smaller_form(state, entry, shape, keys);
			return entry;
		}
		if (order > 0)
			break;
	}

	if (n >= state->max_groups)
	{
		if (at >= n)
			return NULL;
		state->nentries--;		/* the last one's bytes become garbage */
	}
	return insert_entry(pstate, shape, at, rank, keys);
}

/* Sets keys to those of entry i, pointing into the state, and returns its rank. */
uint64
dp_bound_state_load(const DpBoundState *state, int i, const DpShape *shape, DpKey *keys)
{
	const char *entry = dp_state_entries(state) + i * dp_entry_size(state);
	uint64		rank = dp_rank(entry);

	for (int k = 0; k < shape->layout.nkeys; k++)
	{
		uint64		word = dp_entry_word(&shape->layout, entry, k);

		memset(&keys[k], 0, sizeof(DpKey));
		keys[k].isnull = (rank & (UINT64CONST(1) << k)) != 0;
		if (keys[k].isnull)
			continue;
		if (shape->key[k].typbyval)
		{
			keys[k].word = word;
			keys[k].datum = (Datum) word;
		}
		else
		{
			keys[k].datum = PointerGetDatum((const char *) state + DP_KEYREF_OFFSET(word));
			keys[k].data = key_data(state, &shape->key[k], word, &keys[k].len);
		}
	}
	return rank;
}
