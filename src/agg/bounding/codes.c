/*-------------------------------------------------------------------------
 *
 * codes.c
 *	  The codes of rows that one privacy unit keeps in one of its groups.
 *
 * An entry holds, for each value of kind DP_VALUE_CODES, the m rows' codes of
 * smallest rank, a multiset; for DP_VALUE_DISTINCT the m different codes of
 * smallest rank, a set.  A code's rank is a bijection of it, keyed by the unit
 * and the group, so ranks are kept and codes are read back from them.
 *
 * Claim: whatever the order of rows and however they are split over partial
 * states, what is kept is a function of the multiset of the group's rows.
 *
 * Proof.  Order the rows by rank, rows of equal rank in any way (they have
 * the same code, and cannot be told apart).  Call a row final when fewer than
 * m of the group's rows precede it.  What a state holds are always some of
 * the group's rows, and a row is only dropped (on arrival, on eviction, or in
 * a merge) when m others in the state precede it or have the same rank and
 * stay: then m rows of the group come before it, and it is not among the
 * final ones, or one of the same code is in its place.  So all final rows are
 * there at the end, and as they are min(m, rows) and no more than m are kept,
 * nothing else is.  For sets the same with codes instead of rows; a code that
 * is there already changes nothing.  The group itself, if it is kept, has been
 * in the state from its first row on (see state.c), so no row of it was
 * missed.
 *
 * So adding or removing a unit changes a histogram over all groups by at most
 * m in the sum of its bins' absolute changes for each kept group, and the
 * number of distinct codes of such a group by at most m.
 *
 * Invariants: ranks are ascending, in a set without repetition; what lies
 * behind them is 0.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "agg/bounding/state.h"

typedef struct Multiset
{
	uint32		n;
	uint32		rank[FLEXIBLE_ARRAY_MEMBER];
} Multiset;

typedef struct Set
{
	uint64		n;
	uint64		rank[FLEXIBLE_ARRAY_MEMBER];
} Set;

/* Returns the bytes that codes of this spec take in an entry. */
Size
dp_codes_size(DpCodeSpec code_spec)
{
	int			most = DP_CODES_MOST(code_spec);

	return code_spec & DP_CODES_SET ? offsetof(Set, rank) + most * sizeof(uint64)
		: offsetof(Multiset, rank) + most * sizeof(uint32);
}

/* ------------------------------------------------------------------------
 * Ranks
 * ------------------------------------------------------------------------
 */

/* Returns a key that differs between units (if they are told apart at all) and their groups. */
static inline uint64
codes_key(const DpBoundState *state, const char *entry)
{
	return dp_mix(state->salt + dp_rank(entry));
}

/* Maps 32 bits one to one: lowbias32 with a key at its start and in its middle. */
static inline uint32
rank32(uint32 x, uint64 key)
{
	x ^= (uint32) key;
	x ^= x >> 16;
	x *= 0x7feb352dU;
	x ^= x >> 15;
	x ^= (uint32) (key >> 32);
	x *= 0x846ca68bU;
	return x ^ (x >> 16);
}

static inline uint32
code32(uint32 x, uint64 key)
{
	x ^= x >> 16;
	x *= 0x43021123U;			/* inverse of 0x846ca68b modulo 2^32 */
	x ^= (uint32) (key >> 32);
	x ^= (x >> 15) ^ (x >> 30);
	x *= 0x1d69e2a5U;			/* inverse of 0x7feb352d */
	x ^= x >> 16;
	return x ^ (uint32) key;
}

static inline uint64
rank64(uint64 x, uint64 key)
{
	return dp_mix(x ^ key);
}

/* Inverts rank64: dp_mix backwards. */
static inline uint64
code64(uint64 x, uint64 key)
{
	x ^= (x >> 31) ^ (x >> 62);
	x *= UINT64CONST(0x319642b2d24d8ec3);
	x ^= (x >> 27) ^ (x >> 54);
	x *= UINT64CONST(0x96de1b173f119089);
	x ^= (x >> 30) ^ (x >> 60);
	return x ^ key;
}

/* ------------------------------------------------------------------------
 * Bottom m
 * ------------------------------------------------------------------------
 */

/* Inserts a rank; returns false if "most" others come first, so that nothing larger need be tried. */
static inline bool
insert32(Multiset *codes, uint32 most, uint32 rank)
{
	uint32		at = 0;
	uint32		above = codes->n;

	if (codes->n == most)
	{
		if (rank >= codes->rank[most - 1])
			return false;
		codes->n--;
		above--;
	}
	while (at < above)
	{
		uint32		middle = at + (above - at) / 2;

		if (codes->rank[middle] <= rank)
			at = middle + 1;
		else
			above = middle;
	}
	memmove(&codes->rank[at + 1], &codes->rank[at], (codes->n - at) * sizeof(uint32));
	codes->rank[at] = rank;
	codes->n++;
	return true;
}

/* Inserts a rank into a set; returns false if "most" others come first. */
static inline bool
insert64(Set *codes, uint32 most, uint64 rank)
{
	uint32		at = 0;
	uint32		above = codes->n;
	uint32		n = codes->n;

	if (n == most && rank > codes->rank[most - 1])
		return false;
	while (at < above)
	{
		uint32		middle = at + (above - at) / 2;

		if (codes->rank[middle] < rank)
			at = middle + 1;
		else
			above = middle;
	}
	if (at < n && codes->rank[at] == rank)
		return true;
	if (n == most)
		n--;
	memmove(&codes->rank[at + 1], &codes->rank[at], (n - at) * sizeof(uint64));
	codes->rank[at] = rank;
	codes->n = n + 1;
	return true;
}

/* Adds a row with this code to the codes at "at" of the entry. */
void
dp_codes_add(const DpBoundState *state, char *entry, uint32 at, DpCodeSpec code_spec, int64 code)
{
	uint64		key = codes_key(state, entry);

	if (code_spec & DP_CODES_SET)
		insert64((Set *) (entry + at), DP_CODES_MOST(code_spec), rank64(code, key));
	else
		insert32((Multiset *) (entry + at), DP_CODES_MOST(code_spec), rank32(code, key));
}

/* Adds the codes of another state of the unit, for the same group. */
void
dp_codes_merge(char *to, const char *from, DpCodeSpec code_spec)
{
	int			n = dp_codes_count(from, code_spec);
	int			most = DP_CODES_MOST(code_spec);

	if (code_spec & DP_CODES_SET)
	{
		for (int i = 0; i < n && insert64((Set *) to, most, ((const Set *) from)->rank[i]); i++)
			;
	}
	else
	{
		for (int i = 0; i < n && insert32((Multiset *) to, most, ((const Multiset *) from)->rank[i]); i++)
			;
	}
}

int
dp_codes_count(const char *codes, DpCodeSpec code_spec)
{
	return code_spec & DP_CODES_SET ? (int) ((const Set *) codes)->n : (int) ((const Multiset *) codes)->n;
}

/* Sets result to the codes themselves, dp_codes_count of them: int64 for a set, otherwise int32. */
void
dp_codes_read(const DpBoundState *state, const char *entry, uint32 at, DpCodeSpec code_spec, void *result)
{
	uint64		key = codes_key(state, entry);
	int			n = dp_codes_count(entry + at, code_spec);

	for (int i = 0; i < n; i++)
		if (code_spec & DP_CODES_SET)
			((int64 *) result)[i] = (int64) code64(((const Set *) (entry + at))->rank[i], key);
		else
			((int32 *) result)[i] = (int32) code32(((const Multiset *) (entry + at))->rank[i], key);
}
