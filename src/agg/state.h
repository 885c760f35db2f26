/*-------------------------------------------------------------------------
 *
 * state.h
 *	  States of bounded contributions: one privacy unit's groups.
 *
 * Private to src/agg.  See bound_state.c for the layout's invariants.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_STATE_H
#define DP_STATE_H

#include "fmgr.h"

#include "agg/agg.h"

/*
 * The state argument, which the caller may change in place: true only for
 * the executor's aggregates, which own their state.
 */
static inline void *
dp_state_in_place(FunctionCallInfo fcinfo)
{
	if (unlikely(!AggCheckCallContext(fcinfo, NULL)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("transition functions of dp_cdp can only be called by an aggregate")));
	return PG_GETARG_POINTER(0);
}

typedef struct DpKeyType
{
	Oid			type;
	Oid			collation;
} DpKeyType;

/*
 * SQL type dp_cdp.bound_state: a varlena, double alignment, storage plain
 * (never packed or toasted, so that it may be used where it lies).
 *
 *		header | key types | entries, ascending ->   free   <- keys' bytes |
 *
 * An entry is 8-byte words: its rank, one slot per key, then per value one
 * word for a count or two for a sum (a DpExactSum).  A slot is the key by
 * value, or offset and length of its bytes, aligned, at the end of the state.
 */
typedef struct DpBoundState
{
	int32		vl_len_;
	uint32		bytes;			/* where the keys' bytes begin; the length of the state when there are none */
	uint64		salt;			/* of this unit; where its keys' hashes start from */
	uint64		sums;			/* bit i: value i is a sum */
	int32		nentries;
	int32		max_groups;
	uint16		entry_size;
	uint16		by_reference;	/* bit i: key i is */
	uint8		nkeys;
	uint8		nvalues;
	bool		has_forms;		/* some key type writes equal values differently */
	DpKeyType	key[FLEXIBLE_ARRAY_MEMBER];
} DpBoundState;

/*
 * SQL type dp_cdp.bound_entry: one group of one unit, values clamped.
 * Followed by nvalues int64 (grid units), nkeys slots, nkeys type OIDs
 * (aligned), and the keys' bytes.
 */
typedef struct DpBoundEntry
{
	int32		vl_len_;
	uint16		null_keys;
	uint8		nkeys;
	uint8		nvalues;
	int64		value[FLEXIBLE_ARRAY_MEMBER];
} DpBoundEntry;

/* bit i of a rank: key i is NULL; the rest is the top of the keyed hash */
#define DP_RANK_NULLS UINT64CONST(0xFFFF)

/* how keys of one type are hashed and told apart */
typedef enum DpKeyClass
{
	DP_KEY_WORD,				/* by value, equal when its bits are */
	DP_KEY_BYTES,				/* varlena, equal when its bytes are */
	DP_KEY_FIXED,				/* fixed length by reference, equal when its bytes are */
	DP_KEY_GENERIC				/* whatever its operators say */
} DpKeyClass;

typedef struct DpKeyInfo
{
	Oid			type;
	Oid			collation;
	DpKeyClass	class;
	int16		typlen;
	bool		typbyval;
	bool		extended_hash;	/* "hash" takes a seed */
	bool		has_order;		/* "compare" is a btree support function; else equality */
	FmgrInfo	hash;
	FmgrInfo	compare;
} DpKeyInfo;

/* one key of the row or entry at hand */
typedef struct DpKey
{
	uint64		word;			/* by value: normalized to the type's length */
	const char *data;			/* by reference: what is compared, without varlena header */
	Datum		datum;
	uint32		len;			/* of data */
	bool		isnull;
} DpKey;

extern bool dp_key_info_init(DpKeyInfo *info, Oid type, Oid collation, MemoryContext context);
extern uint64 dp_key_hash(DpKeyInfo *info, Datum datum, DpKey *key, uint64 seed);

extern DpBoundState *dp_bound_state_new(const DpKeyInfo *info, int nkeys, int nvalues,
										uint64 sums, int max_groups, uint64 salt);
extern char *dp_bound_state_entry(DpBoundState **state, DpKeyInfo *info,
								  uint64 rank, DpKey *keys);
extern uint64 dp_bound_state_load(const DpBoundState *state, int i, const DpKeyInfo *info,
								  DpKey *keys);

static inline Size
dp_state_header_size(int nkeys)
{
	return offsetof(DpBoundState, key) + nkeys * sizeof(DpKeyType);
}

static inline char *
dp_state_entries(const DpBoundState *state)
{
	return (char *) state + dp_state_header_size(state->nkeys);
}

static inline uint64
dp_word(const char *p)
{
	return *(const uint64 *) p;
}

/* a slot of a key by reference */
#define DP_SLOT(offset, len) (((uint64) (len) << 32) | (uint32) (offset))
#define DP_SLOT_OFFSET(slot) ((uint32) (slot))
#define DP_SLOT_LEN(slot) ((uint32) ((slot) >> 32))

/* a key by value with the unused bits of a Datum made the same for all */
static inline uint64
dp_key_word(Datum datum, int typlen)
{
	switch (typlen)
	{
		case 1:
			return (uint8) datum;
		case 2:
			return (uint64) (int64) (int16) datum;
		case 4:
			return (uint64) (int64) (int32) datum;
		default:
			return datum;
	}
}

/* a bijection of 64 bits in which every input bit reaches every output bit */
static inline uint64
dp_mix(uint64 x)
{
	x ^= x >> 30;
	x *= UINT64CONST(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64CONST(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

#endif							/* DP_STATE_H */
