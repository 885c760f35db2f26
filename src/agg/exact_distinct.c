/*-------------------------------------------------------------------------
 *
 * exact_distinct.c
 *	  Type exact_distinct: the set of codes that units' entries have; and
 *	  the codes of values.
 *
 * Invariants: a state holds each code once, so the size of the set depends on
 * what codes there were alone (the order of slots does not come out).  Values
 * that are equal have equal codes; others have equal codes with probability
 * 2^-64 for each pair, which is far below the noise and costs no privacy: a
 * unit still adds at most m codes.
 *
 * A state is an open hash table with linear probing, changed in place; when it
 * must grow, a larger one is made in CurrentMemoryContext, which the executor
 * copies, as bound_state.c's.  0 marks a free slot, code 0 is kept apart.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "agg/state.h"
#include "compat.h"
#include "errors.h"

PG_FUNCTION_INFO_V1(dp_entry_distinct);
PG_FUNCTION_INFO_V1(dp_exact_distinct_combine);
PG_FUNCTION_INFO_V1(dp_distinct_count);
PG_FUNCTION_INFO_V1(dp_code);

/* SQL type dp_cdp.exact_distinct: a varlena, double alignment, storage plain */
typedef struct DpExactDistinct
{
	int32		vl_len_;
	uint32		has_zero;
	uint32		used;			/* slots that are not free */
	uint32		size;			/* number of slots, a power of two */
	uint64		slot[FLEXIBLE_ARRAY_MEMBER];
} DpExactDistinct;

#define SMALLEST_SET 8
#define LARGEST_SET ((uint32) 1 << 26)	/* 512 MB: twice as many exceed MaxAllocSize */

/* odd, near 2^32 times the golden ratio: its multiples spread evenly */
#define ORDER ((uint32) 0x9e3779b1)

/* where the codes of values start from */
#define CODE_SEED UINT64CONST(0x6a09e667f3bcc909)

/* ------------------------------------------------------------------------
 * Sets
 * ------------------------------------------------------------------------
 */

static DpExactDistinct *
new_set(uint32 size)
{
	Size		bytes = offsetof(DpExactDistinct, slot) + (Size) size * sizeof(uint64);
	DpExactDistinct *set = palloc0(bytes);

	SET_VARSIZE(set, bytes);
	set->size = size;
	return set;
}

/* how full a set may get: three quarters, and the largest one seven eighths */
static inline uint32
limit(uint32 size)
{
	return size < LARGEST_SET ? size / 4 * 3 : size / 8 * 7;
}

/* the code's slot, or the free one where it belongs */
static inline uint64 *
find_slot(DpExactDistinct *set, uint64 code)
{
	uint32		mask = set->size - 1;

	for (uint32 i = (uint32) dp_mix(code) & mask;; i = (i + 1) & mask)
		if (set->slot[i] == code || set->slot[i] == 0)
			return &set->slot[i];
}

/* a copy with room for "more" codes */
static DpExactDistinct *
grow(const DpExactDistinct *old, uint32 more)
{
	DpExactDistinct *set;
	uint32		size = old->size;

	while (limit(size) < (uint64) old->used + more)
	{
		if (size >= LARGEST_SET)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("too many distinct values to count in one group: group the query, or lower dp_cdp.max_rows")));
		size *= 2;
	}
	set = new_set(size);
	set->has_zero = old->has_zero;
	set->used = old->used;
	for (uint32 i = 0; i < old->size; i++)
	{
		if (old->slot[i] != 0)
			*find_slot(set, old->slot[i]) = old->slot[i];
		if ((i & 0xFFFF) == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return set;
}

/* may replace *pset */
static inline void
add_code(DpExactDistinct **pset, uint64 code)
{
	uint64	   *slot;

	if (unlikely(code == 0))
	{
		(*pset)->has_zero = 1;
		return;
	}
	slot = find_slot(*pset, code);
	if (*slot == code)
		return;
	if (unlikely((*pset)->used >= limit((*pset)->size)))
	{
		*pset = grow(*pset, 1);
		slot = find_slot(*pset, code);
	}
	*slot = code;
	(*pset)->used++;
}

/* entry_distinct's transition: (exact_distinct, bound_entry, i); not strict */
Datum
dp_entry_distinct(PG_FUNCTION_ARGS)
{
	DpExactDistinct *set = dp_state_in_place(fcinfo);
	const int64 *codes;
	int			n;

	if (PG_ARGISNULL(0))
		set = new_set(SMALLEST_SET);
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_POINTER(set);
	codes = dp_entry_distinct_codes((const DpBoundEntry *) PG_GETARG_POINTER(1),
									PG_GETARG_INT32(2), &n);
	for (int i = 0; i < n; i++)
		add_code(&set, codes[i]);
	PG_RETURN_POINTER(set);
}

/* the union; strict */
Datum
dp_exact_distinct_combine(PG_FUNCTION_ARGS)
{
	DpExactDistinct *set = dp_state_in_place(fcinfo);
	const DpExactDistinct *other = (const DpExactDistinct *) PG_GETARG_POINTER(1);

	set->has_zero |= other->has_zero;
	for (uint32 i = 0; i < other->size; i++)
	{
		/*
		 * Not in the order of slots: codes in the order of their hash would
		 * all meet in one run of slots, in time quadratic in its length.
		 */
		uint64		code = other->slot[i * ORDER & (other->size - 1)];

		if (code != 0)
			add_code(&set, code);
		if ((i & 0xFFFF) == 0)
			CHECK_FOR_INTERRUPTS();
	}
	PG_RETURN_POINTER(set);
}

Datum
dp_distinct_count(PG_FUNCTION_ARGS)
{
	const DpExactDistinct *set = (const DpExactDistinct *) PG_GETARG_POINTER(0);

	PG_RETURN_INT64((int64) set->used + set->has_zero);
}

/* ------------------------------------------------------------------------
 * Codes of values
 * ------------------------------------------------------------------------
 */

bool
dp_code_supported(Oid type)
{
	TypeCacheEntry *cache = lookup_type_cache(type, TYPECACHE_HASH_PROC |
											  TYPECACHE_HASH_EXTENDED_PROC);

	return type != RECORDOID && OidIsValid(cache->hash_proc) &&
		OidIsValid(cache->hash_extended_proc);
}

typedef struct CodeCall
{
	DpKeyInfo	info;
	Oid			base_type;
} CodeCall;

static CodeCall *
code_call_init(FunctionCallInfo fcinfo)
{
	CodeCall   *call = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(CodeCall));
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);

	if (!OidIsValid(type) || !dp_code_supported(type) ||
		!dp_key_info_init(&call->info, type, PG_GET_COLLATION(), fcinfo->flinfo->fn_mcxt))
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_RELEASABLE),
				 errmsg("cannot count distinct values of type %s: the type has no hash function of 64 bits; cast them to text or numeric",
						format_type_be(type))));
	call->base_type = getBaseType(type);
	fcinfo->flinfo->fn_extra = call;
	return call;
}

static inline bool
is_nan(Datum x, Oid type)
{
	switch (type)
	{
		case FLOAT4OID:
			return isnan(DatumGetFloat4(x));
		case FLOAT8OID:
			return isnan(DatumGetFloat8(x));
		case NUMERICOID:
			return numeric_is_nan(DatumGetNumeric(x));
		default:
			return false;
	}
}

/* code(anyelement) -> bigint; strict; NaN counts as NULL */
Datum
dp_code(PG_FUNCTION_ARGS)
{
	CodeCall   *call = fcinfo->flinfo->fn_extra;
	DpKey		key;
	uint64		hash;

	if (unlikely(call == NULL))
		call = code_call_init(fcinfo);
	if (is_nan(PG_GETARG_DATUM(0), call->base_type))
		PG_RETURN_NULL();
	hash = dp_key_hash(&call->info, PG_GETARG_DATUM(0), &key, CODE_SEED);
	PG_RETURN_INT64((int64) dp_mix(hash ^ CODE_SEED));
}
