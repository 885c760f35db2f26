/*-------------------------------------------------------------------------
 *
 * distinct.c
 *	  Type exact_distinct: the set of codes that units keep; and the codes of
 *	  values.
 *
 * Invariants: a state holds each code once, so the size of the set depends on
 * what codes there were alone (the order of places does not come out).  Values
 * that are equal have equal codes; others have equal codes with probability
 * 2^-64 for each pair, which is far below the noise and costs no privacy: a
 * unit still adds at most m codes.
 *
 * A state is an open hash table with linear probing, changed in place; when it
 * must grow, a larger one is made in CurrentMemoryContext, which the executor
 * copies, as bounding/state.c's.  0 marks a free place, code 0 is kept apart.
 *
 * Where all sets together would exceed work_mem * hash_mem_multiplier, one that
 * must grow goes into a sort instead, and its group's codes from then on: one
 * sort of groups and codes for all sets of the aggregation's memory context,
 * whose different pairs are counted when the first of them is finished.  So no
 * number of values fails, and memory is limited as far as nodeAgg limits the
 * number of groups.  States belong to one process: there is no combine function.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include "agg/bounding/state.h"
#include "base/compat.h"
#include "base/errors.h"

PG_FUNCTION_INFO_V1(dp_codes_distinct);
PG_FUNCTION_INFO_V1(dp_distinct_count);
PG_FUNCTION_INFO_V1(dp_code);

/* groups whose sets went into a sort, of one memory context of the aggregation */
typedef struct DpSpill
{
	struct DpSpill *next;		/* of the call's */
	struct DpSpill **all;		/* where these begin */
	MemoryContext context;
	Tuplesortstate *sort;		/* sort of groups and codes; NULL: counted */
	TupleTableSlot *put;
	TupleTableSlot *got;
	int64		ngroups;
	int64	   *count;			/* numbers of different codes in each group */
} DpSpill;

/* SQL type dp_cdp.exact_distinct: a varlena, double alignment, storage plain */
typedef struct DpExactDistinct
{
	int32		vl_len_;
	uint32		has_zero;
	uint32		used;			/* places that are not free */
	uint32		size;			/* number of places, a power of two; 0:
								 * spilled */
	DpSpill    *spill;			/* then its codes are there, but 0 */
	int64		group;			/* by this number */
	uint64		code[FLEXIBLE_ARRAY_MEMBER];
} DpExactDistinct;

#define SMALLEST_SET 8
#define LARGEST_SET ((uint32) 1 << 26)	/* 512 MB: twice as many exceed
										 * MaxAllocSize */

/* sets up to this size grow whatever the others take */
#define SMALL_SET 1024

/* where the codes of values start from */
#define CODE_SEED UINT64CONST(0x6a09e667f3bcc909)

/* ------------------------------------------------------------------------
 * Sets
 * ------------------------------------------------------------------------
 */

static DpExactDistinct *
new_set(uint32 size)
{
	Size		bytes = offsetof(DpExactDistinct, code) + (Size) size * sizeof(uint64);
	DpExactDistinct *set = palloc0(bytes);

	SET_VARSIZE(set, bytes);
	set->size = size;
	return set;
}

/* Returns the code's place, or the free one where it belongs. */
static inline uint64 *
find_place(DpExactDistinct *set, uint64 code)
{
	uint32		mask = set->size - 1;

	for (uint32 i = (uint32) dp_mix(code) & mask;; i = (i + 1) & mask)
		if (set->code[i] == code || set->code[i] == 0)
			return &set->code[i];
}

/* Makes a copy of twice the size. */
static DpExactDistinct *
grow(const DpExactDistinct *old)
{
	DpExactDistinct *set = new_set(old->size * 2);

	set->has_zero = old->has_zero;
	set->used = old->used;
	for (uint32 i = 0; i < old->size; i++)
	{
		if (old->code[i] != 0)
			*find_place(set, old->code[i]) = old->code[i];
		if ((i & 0xFFFF) == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return set;
}

/* Tells whether the set may grow, or memory is short. */
static bool
may_grow(const DpExactDistinct *set, MemoryContext context)
{
	Size		limit = Min((double) work_mem * hash_mem_multiplier * 1024.0, (double) SIZE_MAX / 2);

	if (set->size <= SMALL_SET)
		return true;
	return set->size < LARGEST_SET &&
		MemoryContextMemAllocated(context, true) + set->size * 2 * sizeof(uint64) <= limit;
}

/* ------------------------------------------------------------------------
 * Sets that have grown too large
 * ------------------------------------------------------------------------
 */

static MemoryContext
aggregation_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (AggCheckCallContext(fcinfo, &context) != AGG_CONTEXT_AGGREGATE)
		dp_state_misplaced();
	return context;
}

/* Ends a sort when its context is about to be reset. */
static void
end_spill(Datum arg)
{
	DpSpill    *spill = (DpSpill *) DatumGetPointer(arg);
	DpSpill   **link = spill->all;

	while (*link != NULL && *link != spill)
		link = &(*link)->next;
	if (*link == spill)
		*link = spill->next;
	if (spill->sort != NULL)
		tuplesort_end(spill->sort);
	ExecDropSingleTupleTableSlot(spill->put);
	ExecDropSingleTupleTableSlot(spill->got);
}

/* Returns the context's sort, which the transition function's flinfo knows. */
static DpSpill *
find_spill(FunctionCallInfo fcinfo, MemoryContext context)
{
	DpSpill   **all = fcinfo->flinfo->fn_extra;
	DpSpill    *spill;
	AttrNumber	columns[] = {1, 2};
	Oid			operators[] = {Int8LessOperator, Int8LessOperator};
	Oid			collations[] = {InvalidOid, InvalidOid};
	bool		nulls_first[] = {false, false};
	TupleDesc	desc;
	MemoryContext old;

	if (all == NULL)
		fcinfo->flinfo->fn_extra = all = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(DpSpill *));
	for (spill = *all; spill != NULL; spill = spill->next)
		if (spill->context == context)
			return spill;

	old = MemoryContextSwitchTo(context);
	desc = CreateTemplateTupleDesc(2);
	TupleDescInitEntry(desc, 1, "group", INT8OID, -1, 0);
	TupleDescInitEntry(desc, 2, "code", INT8OID, -1, 0);
	dp_finish_tupdesc(desc);
	spill = palloc0(sizeof(DpSpill));
	spill->all = all;
	spill->context = context;
	spill->put = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	spill->got = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	spill->sort = tuplesort_begin_heap(desc, 2, columns, operators, collations, nulls_first,
									   work_mem, NULL, 0);
	AggRegisterCallback(fcinfo, end_spill, PointerGetDatum(spill));
	spill->next = *all;
	*all = spill;
	MemoryContextSwitchTo(old);
	return spill;
}

static inline void
spill_code(DpSpill *spill, int64 group, uint64 code)
{
	TupleTableSlot *slot = spill->put;

	ExecClearTuple(slot);
	slot->tts_values[0] = Int64GetDatum(group);
	slot->tts_values[1] = Int64GetDatum((int64) code);
	slot->tts_isnull[0] = slot->tts_isnull[1] = false;
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(spill->sort, slot);
}

/* Puts the codes of a set into the sort; returns the state that stands for them. */
static DpExactDistinct *
spill_set(FunctionCallInfo fcinfo, const DpExactDistinct *old, MemoryContext context)
{
	DpExactDistinct *set = new_set(0);

	set->has_zero = old->has_zero;
	set->spill = find_spill(fcinfo, context);
	set->group = set->spill->ngroups++;
	for (uint32 i = 0; i < old->size; i++)
	{
		if (old->code[i] != 0)
			spill_code(set->spill, set->group, old->code[i]);
		if ((i & 0xFFFF) == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return set;
}

/* Counts the different codes of each group; all of them are in the sort. */
static void
count_spilled(DpSpill *spill)
{
	MemoryContext old = MemoryContextSwitchTo(spill->context);
	int64		last_group = -1;
	int64		last_code = 0;
	uint32		n = 0;

	spill->count = MemoryContextAllocExtended(spill->context, spill->ngroups * sizeof(int64),
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	tuplesort_performsort(spill->sort);
	while (tuplesort_gettupleslot(spill->sort, true, false, spill->got, NULL))
	{
		int64		group;
		int64		code;

		slot_getallattrs(spill->got);
		group = DatumGetInt64(spill->got->tts_values[0]);
		code = DatumGetInt64(spill->got->tts_values[1]);
		if (group != last_group || code != last_code)
			spill->count[group]++;
		last_group = group;
		last_code = code;
		if ((++n & 0xFFFF) == 0)
			CHECK_FOR_INTERRUPTS();
	}
	ExecClearTuple(spill->got);
	tuplesort_end(spill->sort);
	spill->sort = NULL;
	MemoryContextSwitchTo(old);
}

/* ------------------------------------------------------------------------
 * The aggregate
 * ------------------------------------------------------------------------
 */

/* Adds a code; may replace *pset. */
static inline void
add_code(FunctionCallInfo fcinfo, DpExactDistinct **pset, uint64 code)
{
	uint64	   *place;

	if (unlikely(code == 0))
	{
		(*pset)->has_zero = 1;
		return;
	}
	if (unlikely((*pset)->size == 0))
	{
		spill_code((*pset)->spill, (*pset)->group, code);
		return;
	}
	place = find_place(*pset, code);
	if (*place == code)
		return;
	/* three quarters full */
	if (unlikely((*pset)->used >= (*pset)->size / 4 * 3))
	{
		MemoryContext context = aggregation_context(fcinfo);

		*pset = may_grow(*pset, context) ? grow(*pset) : spill_set(fcinfo, *pset, context);
		add_code(fcinfo, pset, code);
		return;
	}
	*place = code;
	(*pset)->used++;
}

/* The transition of codes_distinct: (exact_distinct, codes); not strict. */
Datum
dp_codes_distinct(PG_FUNCTION_ARGS)
{
	DpExactDistinct *set = dp_state_in_place(fcinfo);
	const int64 *codes;
	int			n;

	if (PG_ARGISNULL(0))
		set = new_set(SMALLEST_SET);
	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(set);
	codes = dp_array_of_codes(PG_GETARG_ARRAYTYPE_P(1), &n);
	for (int i = 0; i < n; i++)
		add_code(fcinfo, &set, codes[i]);
	PG_RETURN_POINTER(set);
}

/* The final function of codes_distinct, strict; may be called again for the same state. */
Datum
dp_distinct_count(PG_FUNCTION_ARGS)
{
	const DpExactDistinct *set = dp_state_in_place(fcinfo);

	if (set->size > 0)
		PG_RETURN_INT64((int64) set->used + set->has_zero);
	if (set->spill->sort != NULL)
		count_spilled(set->spill);
	PG_RETURN_INT64(set->spill->count[set->group] + set->has_zero);
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

/* longer values have no code, where hashing them needs memory: texts of nondeterministic collations */
#define MOST_HASHED ((Size) 16 * 1024 * 1024)

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

/* code(anyelement) -> bigint returns a hash; strict; NaN counts as NULL, and so does a value that is too long. */
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
	if (call->info.class == DP_KEY_GENERIC && call->info.typlen == -1 &&
		dp_key_bytes(PG_GETARG_DATUM(0), -1) > MOST_HASHED)
		PG_RETURN_NULL();
	hash = dp_key_hash(&call->info, PG_GETARG_DATUM(0), &key, CODE_SEED);
	PG_RETURN_INT64((int64) dp_mix(hash ^ CODE_SEED));
}
