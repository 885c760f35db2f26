/*-------------------------------------------------------------------------
 *
 * state.h
 *	  States of bounded contributions: one privacy unit's groups.
 *
 * Private to src/agg.  See state.c for the layout's invariants.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_STATE_H
#define DP_STATE_H

#include "access/detoast.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "utils/array.h"

#include "agg/agg.h"
#include "base/compat.h"
#include "base/sizes.h"

/* exact/sum.c: raises the error that the function was called outside of an aggregate */
DP_NORETURN extern void dp_state_misplaced(void);

/* exact/sum.c: returns the state argument unchanged, NULL or not, for a row without a value */
extern Datum dp_state_unchanged(FunctionCallInfo fcinfo);

/*
 * Returns the state argument, which the caller may change in place; raises an
 * error unless called by the executor's aggregates, which own their state.
 */
static inline void *
dp_state_in_place(FunctionCallInfo fcinfo)
{
	/* AggCheckCallContext, inlined: this runs once per row */
	if (unlikely(fcinfo->context == NULL ||
				 !(IsA(fcinfo->context, AggState) || IsA(fcinfo->context, WindowAggState))))
		dp_state_misplaced();
	return PG_GETARG_POINTER(0);
}

/* The input function of all types here raises an error. */
extern Datum dp_state_in(PG_FUNCTION_ARGS);

typedef struct DpKeyType
{
	Oid			type;
	Oid			collation;
} DpKeyType;

/*
 * SQL type dp_cdp_internal.bound_state: a varlena, double alignment, storage plain
 * (never packed or toasted, so that it may be used where it lies).
 *
 *		header | key types [| code specs] [| more sums] | entries, ascending ->   free   <- keys' bytes |
 *
 * The keys' bytes at the end are of keys by reference.  What an entry looks
 * like is told by DpLayout.
 */
typedef struct DpBoundState
{
	int32		vl_len_;
	uint32		bytes;			/* where the keys' bytes begin; the length of
								 * the state when there are none */
	uint64		salt;			/* the unit's; hashes of its keys start from
								 * it */
	uint64		sums;			/* bit i: value i is a sum, for the first 64 */
	int32		nentries;
	int32		max_groups;
	uint16		by_reference;	/* bit i: key i is */
	uint16		narrow;			/* bit i: key i is by value and takes 4 bytes */
	uint16		entry_words;	/* entries' size in words of 8 bytes */
	uint8		nkeys;
	uint8		nvalues:7;
	uint8		has_codes:1;	/* DpCodeSpecs follow the key types */
	DpKeyType	key[FLEXIBLE_ARRAY_MEMBER];
} DpBoundState;

/*
 * How value i is kept as codes: not, or up to DP_CODES_MOST of them; as a set
 * of 64 bits each, or a multiset of 32 bits each.  A state has nvalues of
 * these, aligned.  A set that a norm limits leaves apart from all else (entry.c).
 */
typedef uint16 DpCodeSpec;

#define DP_CODES_SET	0x8000
#define DP_CODES_APART	0x4000
#define DP_CODES_MOST(code_spec) ((code_spec) & 0x3FFF)

/* Which values are sums, a bit for each.  States of up to 64 values, nearly all, have one word of them. */
#define DP_SUMS_WORDS ((DP_MAX_VALUES + 63) / 64)

static inline bool
dp_is_sum(const uint64 *sums, int i)
{
	return (sums[i / 64] & (UINT64CONST(1) << (i % 64))) != 0;
}

static inline void
dp_set_sum(uint64 *sums, int i)
{
	sums[i / 64] |= UINT64CONST(1) << (i % 64);
}

/*
 * Where things are in an entry, from its start.  Rank first, then the words
 * of 8 bytes, then those of 4: with millions of units, time goes into cache
 * misses, and a small state has fewer.
 *
 * A key's place holds it by value, or a DP_KEYREF: offset and length of its
 * bytes in the state.  A sum is a DpExactSum, DP_NO_SUM_HI as long as there was
 * no value: clamping must not make a contribution out of NULLs.  A count is a
 * uint32, which saturates.  Codes are their number, a uint64 (set) or uint32,
 * and as many words of the same length as may be kept: codes.c.
 */
typedef struct DpLayout
{
	uint16		nkeys;
	uint16		nvalues;
	uint16		by_reference;
	uint16		narrow;
	uint64		sums[DP_SUMS_WORDS];
	bool		has_codes;
	bool		has_apart;		/* some leave apart */
	uint32		entry_size;
	uint16		key[DP_MAX_KEYS];
	uint32		value[DP_MAX_VALUES];
	DpCodeSpec	codes[DP_MAX_VALUES];
} DpLayout;

/* what a column of the rows of units is; of its key or value i */
typedef enum DpColumnKind
{
	DP_COLUMN_KEY,
	DP_COLUMN_VALUE,			/* bigint: clamped, in steps */
	DP_COLUMN_CODES,			/* integer[] */
	DP_COLUMN_DISTINCT_CODES,	/* bigint[] */
	DP_COLUMN_CUT,				/* integer[]: where the total is */
	DP_COLUMN_SHARE,			/* bigint: the value's share of its norm; of a
								 * set DP_SET_SHARE */
	DP_COLUMN_BIN,				/* bigint: the bin of norm i */
	DP_COLUMN_FIRST				/* bigint: 1 in the first group, else 0,
								 * beside the bin of norm i */
} DpColumnKind;

typedef struct DpRowColumn
{
	DpColumnKind kind;
	int			i;
} DpRowColumn;

/* bit i of a rank: key i is NULL; the rest is the top of the keyed hash */
#define DP_RANK_NULLS UINT64CONST(0xFFFF)

/* the way in which keys of one type are hashed and told apart */
typedef enum DpKeyClass
{
	DP_KEY_WORD,				/* by value, equal when its bits are */
	DP_KEY_BYTES,				/* varlena, equal when its bytes are */
	DP_KEY_FIXED,				/* fixed length by reference, equal when its
								 * bytes are */
	DP_KEY_GENERIC				/* whatever its operators say */
} DpKeyClass;

typedef struct DpKeyInfo
{
	Oid			type;
	Oid			collation;
	DpKeyClass	class;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	bool		extended_hash;	/* "hash" takes a seed */
	bool		has_order;		/* "compare" is a btree support function; else
								 * equality */
	FmgrInfo	hash;
	FmgrInfo	compare;
} DpKeyInfo;

/* the form that all states of one aggregate have in common */
typedef struct DpShape
{
	/*
	 * where states grow, which frees the smaller ones; NULL: in
	 * CurrentMemoryContext, beside them
	 */
	MemoryContext states;
	DpLayout	layout;
	DpKeyInfo	key[DP_MAX_KEYS];
} DpShape;

/* one key of the row or entry at hand */
typedef struct DpKey
{
	uint64		word;			/* by value: normalized to the type's length */
	const char *data;			/* by reference: what is compared, without
								 * varlena header */
	Datum		datum;
	uint32		len;			/* bytes in data */
	bool		isnull;
} DpKey;

/*
 * The largest state, so that no unit's rows can make one fail; see state.c.
 * States are copied whole when they grow, with room to spare.
 */
#define DP_MAX_STATE ((Size) 64 * 1024 * 1024)

/* the least that DP_MOST_KEY_BYTES becomes where a unit may have many groups */
#define DP_LEAST_KEY_BYTES ((Size) 1024)

/*
 * Returns the bytes that a row's keys by reference may take: half of the
 * largest state for all groups, within these limits.
 */
static inline Size
dp_key_bytes_limit(int max_groups)
{
	return Min(Max(DP_MAX_STATE / 2 / max_groups, DP_LEAST_KEY_BYTES), DP_MOST_KEY_BYTES);
}

/* shape.c */
/*
 * Tells whether a function compares two values of one type that are equal when their bits are, and fails
 * for none; where the type is not passed by value, these are bits of what it points to.
 */
extern bool dp_compares_words(Oid function);
extern bool dp_key_info_init(DpKeyInfo *info, Oid type, Oid collation, MemoryContext context);

extern void dp_layout_init(DpLayout *layout, int nkeys, int nvalues,
						   uint16 by_reference, uint16 narrow, const uint64 *sums,
						   const DpCodeSpec *codes);
extern void dp_state_sums(const DpBoundState *state, uint64 *sums);
extern void dp_shape_init(DpShape *shape, int nkeys, int nvalues, const uint64 *sums,
						  const DpCodeSpec *codes);
extern DpShape *dp_shape_of(const DpBoundState *state, MemoryContext context);

/* state.c */
extern uint64 dp_key_hash(DpKeyInfo *info, Datum datum, DpKey *key, uint64 seed);
extern DpBoundState *dp_bound_state_new(const DpShape *shape, int max_groups, uint64 salt);
extern char *dp_bound_state_entry(DpBoundState **pstate, DpShape *shape,
								  uint64 rank, DpKey *keys);
extern uint64 dp_bound_state_load(const DpBoundState *state, int i, const DpShape *shape,
								  DpKey *keys);

/* unit.c: dp_spec_codes returns how value i is kept as codes; 0 when it is not. */
extern DpCodeSpec dp_spec_codes(const DpBoundSpec *spec, int i);
DP_NORETURN extern void dp_bound_spec_missing(void);

/* unit.c: merges the second state of a unit into the first, which it may replace */
extern void dp_bound_merge(DpBoundState **pstate, const DpBoundState *other, DpShape *shape);

/* exact/vector.c: returns the codes in an array, int32 or int64 by its type, and how many in *n */
extern const void *dp_array_of_codes(const ArrayType *codes, int *n);

/* codes.c: codes in entries */
extern Size dp_codes_size(DpCodeSpec code_spec);
extern void dp_codes_add(const DpBoundState *state, char *entry, uint32 at,
						 DpCodeSpec code_spec, int64 code);
extern void dp_codes_merge(char *to, const char *from, DpCodeSpec code_spec);
extern int	dp_codes_count(const char *codes, DpCodeSpec code_spec);
extern void dp_codes_read(const DpBoundState *state, const char *entry, uint32 at,
						  DpCodeSpec code_spec, void *result);

/* Tells whether value i is kept as the sum of what rows give to it. */
static inline bool
dp_value_is_sum(const DpBoundSpec *spec, int i)
{
	int			kind = spec->value[i].kind;

	return kind == DP_VALUE_SUM || kind == DP_VALUE_SCALED || kind == DP_VALUE_CUT;
}

/* Tells whether a norm of value i is of how many codes a unit has in each group; the place of a total is one. */
static inline bool
dp_value_is_code(const DpBoundSpec *spec, int i)
{
	int			kind = spec->value[i].kind;

	return kind == DP_VALUE_CODES || kind == DP_VALUE_DISTINCT || kind == DP_VALUE_CUT;
}

/* a value in a group, in steps; squares of DP_MAX_STATE / 8 of them add up to less than 2^128 */
#define DP_MOST_VALUE (INT64CONST(1) << 50)

/* norms.c: values of a unit */
extern int64 dp_clamped_value(const DpLayout *layout, const char *from, const DpBoundSpec *spec, int i);

/* of how many groups of a unit values are kept that its norm was made of */
#define DP_NORM_VALUES 64

/* the norms of one unit */
typedef struct DpNorms
{
	uint64		norm[DP_MAX_VALUES];	/* rounded up; 0: of nothing */
	int32		bin[DP_MAX_VALUES];
	int64		value[DP_NORM_VALUES];	/* in steps, of the first norm, unless
										 * it is of counts or codes */
} DpNorms;

extern void dp_unit_norms(const DpBoundState *state, const DpLayout *layout, const DpBoundSpec *spec, DpNorms *norms);

/* Tells whether a value is a count of rows, which most are, and which is limited with less ado. */
static inline bool
dp_value_is_count(const DpBoundSpec *spec, int i)
{
	return spec->value[i].kind == DP_VALUE_COUNT || spec->value[i].kind == DP_VALUE_ROWS;
}

/* Returns how many rows a count takes at most, so that it is within DP_MOST_VALUE in steps. */
static inline int64
dp_most_of_count(const DpBoundSpec *spec, int i)
{
	return Min(Max(spec->value[i].grid.upper, 0), DP_MOST_VALUE >> spec->value[i].shift);
}

/* Returns a count of at most "most" rows, in steps. */
static inline int64
dp_count_in_steps(const DpLayout *layout, const char *from, const DpBoundSpec *spec, int i, int64 most)
{
	return Min((int64) *(const uint32 *) (from + layout->value[i]), most) << spec->value[i].shift;
}

/* Returns which share of a norm > 0 a value is, toward zero. */
static inline int64
dp_share_of_norm(int64 value, uint64 norm)
{
	/* a division of 64 bits is far faster */
	if (likely(value < PG_INT64_MAX / DP_NORM_UNIT && value > -(PG_INT64_MAX / DP_NORM_UNIT) && norm <= PG_INT64_MAX))
		return value * DP_NORM_UNIT / (int64) norm;
	return (int64) ((dp_i128) value * DP_NORM_UNIT / (dp_i128) norm);
}

typedef struct DpLimitedValue
{
	int64		value;
	int64		share;
} DpLimitedValue;

extern void dp_limit_value(const DpLayout *layout, const char *from, const DpBoundSpec *spec, const DpNorms *norms, int i,
						   DpLimitedValue *limited);

/* Tells whether value i counts in the unit's group n: ranks ascend, so that these are groups of smallest rank, too. */
static inline bool
dp_counts_in(const DpBoundSpec *spec, int i, int n)
{
	return n < spec->value[i].groups;
}

/* what each code of a set has of its norm, with the norm's bin, which is below DP_MAX_NORM_LIMITS */
#define DP_SET_SHARE(share, bin) ((int64) (share) << 8 | (bin))
#define DP_SHARE_OF_SET(both) ((both) >> 8)
#define DP_BIN_OF_SET(both) ((int) ((both) & 0xFF))

StaticAssertDecl(DP_MAX_NORM_LIMITS <= 0xFF, "a bin of a norm takes more than a byte");

/* entry.c: the groups of a state as rows, of which there are dp_state_rows */
static inline int
dp_state_rows(const DpBoundState *state, const DpLayout *layout)
{
	return layout->has_apart ? 2 * state->nentries : state->nentries;
}

extern Datum dp_entry_column(const DpBoundState *state, const DpLayout *layout, int n, const DpBoundSpec *spec,
							 const DpNorms *norms, DpRowColumn column, bool *isnull);
extern void dp_check_row_column(const DpLayout *layout, DpRowColumn column);
extern void dp_check_row_key(int i, Oid stored, Oid wanted);
extern void dp_learn_layout(DpLayout *layout, const DpBoundState *state);

static inline Size
dp_state_header_size(int nkeys, int nvalues, bool has_codes)
{
	Size		size = offsetof(DpBoundState, key) + nkeys * sizeof(DpKeyType);

	if (unlikely(has_codes))
		size += MAXALIGN(nvalues * sizeof(DpCodeSpec));
	return likely(nvalues <= 64) ? size : size + (DP_SUMS_WORDS - 1) * sizeof(uint64);
}

static inline char *
dp_state_entries(const DpBoundState *state)
{
	return (char *) state + dp_state_header_size(state->nkeys, state->nvalues, state->has_codes);
}

/* Returns which of the values after the first 64 are sums; only where there are such values. */
static inline uint64 *
dp_state_more_sums(const DpBoundState *state)
{
	return (uint64 *) dp_state_entries(state) - (DP_SUMS_WORDS - 1);
}

/* Returns NULL when there are none. */
static inline DpCodeSpec *
dp_state_code_specs(const DpBoundState *state)
{
	return state->has_codes ? (DpCodeSpec *) &state->key[state->nkeys] : NULL;
}

static inline Size
dp_entry_size(const DpBoundState *state)
{
	return (Size) state->entry_words * sizeof(uint64);
}

static inline uint64
dp_rank(const char *entry)
{
	return *(const uint64 *) entry;
}

/* Tells whether entries of the state lie as the layout says. */
static inline bool
dp_layout_fits(const DpLayout *layout, const DpBoundState *state)
{
	return layout->nkeys == state->nkeys && layout->nvalues == state->nvalues &&
		layout->by_reference == state->by_reference && layout->narrow == state->narrow &&
		layout->sums[0] == state->sums && layout->has_codes == state->has_codes &&
		(likely(state->nvalues <= 64) ||
		 memcmp(&layout->sums[1], dp_state_more_sums(state), (DP_SUMS_WORDS - 1) * sizeof(uint64)) == 0) &&
		(!state->has_codes || memcmp(layout->codes, dp_state_code_specs(state),
									 state->nvalues * sizeof(DpCodeSpec)) == 0);
}

/* Returns the rank above which a state takes no key; the largest number while it takes any. */
static inline uint64
dp_bound_last_rank(const DpBoundState *state)
{
	if (state->nentries < state->max_groups)
		return PG_UINT64_MAX;
	return dp_rank(dp_state_entries(state) + (state->nentries - 1) * dp_entry_size(state));
}

/* Returns the word at key i's place: value or DP_KEYREF. */
static inline uint64
dp_entry_word(const DpLayout *layout, const char *entry, int i)
{
	const char *p = entry + layout->key[i];

	return layout->narrow & (1 << i) ? (uint64) (int64) *(const int32 *) p : *(const uint64 *) p;
}

static inline void
dp_set_entry_word(const DpLayout *layout, char *entry, int i, uint64 word)
{
	char	   *p = entry + layout->key[i];

	if (layout->narrow & (1 << i))
		*(int32 *) p = (int32) word;
	else
		*(uint64 *) p = word;
}

/* below every sum */
#define DP_NO_SUM_HI PG_INT64_MIN

static inline bool
dp_sum_is_none(const DpExactSum *sum)
{
	return unlikely(sum->hi == DP_NO_SUM_HI && sum->lo == 0);
}

/* the word of a key by reference: offset and length of its bytes */
#define DP_KEYREF(offset, len) (((uint64) (len) << 32) | (uint32) (offset))
#define DP_KEYREF_OFFSET(ref) ((uint32) (ref))
#define DP_KEYREF_LEN(ref) ((uint32) ((ref) >> 32))

/* Returns the bytes of a key by reference in a state, without fetching it. */
static inline Size
dp_key_bytes(Datum datum, int typlen)
{
	const struct varlena *value = (const struct varlena *) DatumGetPointer(datum);

	if (typlen != -1)
		return MAXALIGN(typlen);
	if (likely(!VARATT_IS_EXTERNAL(value) && !VARATT_IS_COMPRESSED(value)))
		return MAXALIGN(VARSIZE_ANY_EXHDR(value) + VARHDRSZ);
	return MAXALIGN(toast_raw_datum_size(datum));
}

/* Returns a key by value with the unused bits of a Datum made the same for all. */
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

/* Maps 64 bits one to one, so that every input bit reaches every output bit (the finalizer of splitmix64). */
static inline uint64
dp_mix(uint64 x)
{
	x ^= x >> 30;
	x *= UINT64CONST(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64CONST(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static inline uint64
dp_unit_hash(uint64 unit, const DpBoundSpec *spec)
{
	return dp_mix(unit ^ spec->seed[0]);
}

/*
 * Returns where the ranks of a unit's keys start from; then dp_rank_word or
 * dp_rank_null for one key after the other, and dp_rank_finish.
 */
static inline uint64
dp_unit_salt(uint64 hash, const DpBoundSpec *spec)
{
	return dp_mix(hash ^ spec->seed[1]);
}

static inline uint64
dp_rank_word(uint64 rank, uint64 word)
{
	return dp_mix(rank ^ word);
}

static inline uint64
dp_rank_null(uint64 rank)
{
	return dp_mix(rank);
}

static inline uint64
dp_rank_finish(uint64 rank, uint64 nulls)
{
	return (rank & ~DP_RANK_NULLS) | nulls;
}

#endif							/* DP_STATE_H */
