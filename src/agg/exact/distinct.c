/*-------------------------------------------------------------------------
 *
 * distinct.c
 *	  Type exact_distinct: the set of codes that units keep.
 *
 * Invariants: a state holds each code once, so the size of the set depends on
 * what codes there were alone (the order of places does not come out).
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
 * Where a norm limits the set, a code has a credit beside it, the sum of what units have of it
 * (bounding/norms.c): the least bin of these, above their shares, which are added up to full credit and
 * no further.  The group's counts, one for each limit of the norm, are sums over its codes.  A sum that is
 * capped depends on the multiset of shares alone, so that here, too, no order comes out.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "agg/bounding/state.h"
#include "base/compat.h"

PG_FUNCTION_INFO_V1(dp_codes_distinct);
PG_FUNCTION_INFO_V1(dp_distinct_count);
PG_FUNCTION_INFO_V1(dp_codes_distinct_shares);
PG_FUNCTION_INFO_V1(dp_distinct_shares);
PG_FUNCTION_INFO_V1(dp_gathered_distinct);

/* by which limits a set counts: a code's full credit in steps, and of a share of 1 by limit */
typedef struct DpCredits
{
	int			nlimits;		/* at least one, which nothing is above, where
								 * the norm has none */
	int64		full;
	int64		factor[DP_MAX_NORM_LIMITS];
} DpCredits;

/* what a call of the transition function knows */
typedef struct DpDistinctCall
{
	struct DpSpill *spills;
	DpCredits  *credits;		/* NULL: each code counts 1 */
} DpDistinctCall;

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
	int64	   *count;			/* tallies of each group */
} DpSpill;

/* SQL type dp_cdp_internal.exact_distinct: a varlena, double alignment, storage plain */
typedef struct DpExactDistinct
{
	int32		vl_len_;
	uint32		has_zero;
	uint32		used;			/* places that are not free */
	uint32		size;			/* number of places, a power of two; 0:
								 * spilled */
	DpSpill    *spill;			/* then its codes are there, but 0 */
	int64		group;			/* by this number */
	const DpCredits *credits;	/* the call's */
	uint64		zero;			/* the credit of code 0 */
	uint64		code[FLEXIBLE_ARRAY_MEMBER];	/* followed by as many
												 * credits, where these are */
} DpExactDistinct;

/* a code's credit */
#define CREDIT(bin, shares) ((uint64) (bin) << 56 | (uint64) (shares))
#define CREDIT_BIN(credit) ((int) ((credit) >> 56))
#define CREDIT_SHARES(credit) ((int64) ((credit) & ((UINT64CONST(1) << 56) - 1)))

#define SMALLEST_SET 8
#define LARGEST_SET ((uint32) 1 << 26)	/* 512 MB: twice as many exceed
										 * MaxAllocSize */

/* sets up to this size grow whatever the others take */
#define SMALL_SET 1024

/* ------------------------------------------------------------------------
 * Sets
 * ------------------------------------------------------------------------
 */

/* Returns the bytes that so many places take. */
static Size
places_size(uint32 size, const DpCredits *credits)
{
	return (Size) size * (credits ? 2 : 1) * sizeof(uint64);
}

static DpExactDistinct *
new_set(uint32 size, const DpCredits *credits)
{
	Size		bytes = offsetof(DpExactDistinct, code) + places_size(size, credits);
	DpExactDistinct *set = palloc0(bytes);

	SET_VARSIZE(set, bytes);
	set->size = size;
	set->credits = credits;
	return set;
}

/* Returns the credit of two. */
static inline uint64
add_credits(const DpCredits *credits, uint64 a, uint64 b)
{
	return CREDIT(Min(CREDIT_BIN(a), CREDIT_BIN(b)), Min(CREDIT_SHARES(a) + CREDIT_SHARES(b), credits->full));
}

/* Returns where the credit of the code at a place is. */
static inline uint64 *
credit_of(DpExactDistinct *set, const uint64 *place)
{
	return &set->code[set->size + (place - set->code)];
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
	DpExactDistinct *set = new_set(old->size * 2, old->credits);

	set->has_zero = old->has_zero;
	set->zero = old->zero;
	set->used = old->used;
	for (uint32 i = 0; i < old->size; i++)
	{
		if (old->code[i] != 0)
		{
			uint64	   *place = find_place(set, old->code[i]);

			*place = old->code[i];
			if (set->credits != NULL)
				*credit_of(set, place) = old->code[old->size + i];
		}
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
	return places_size(set->size, set->credits) < LARGEST_SET * sizeof(uint64) &&
		MemoryContextMemAllocated(context, true) + places_size(set->size * 2, set->credits) <= limit;
}

/* ------------------------------------------------------------------------
 * Tallies
 *
 * A code counts in full from some limit on, and below it its shares.  So of a group's codes are noted how many there are of each such
 * limit, which may be none, and the sum of their shares.  Without credits there is one number.
 * ------------------------------------------------------------------------
 */

static inline int
tallies(const DpCredits *credits)
{
	return credits ? 2 * (credits->nlimits + 1) : 1;
}

static inline void
tally(const DpCredits *credits, uint64 credit, int64 *to)
{
	int64		shares = CREDIT_SHARES(credit);
	int			above;			/* limits from which on it is known to be full */
	int			below = 0;

	if (credits == NULL)
	{
		to[0]++;
		return;
	}
	above = Min(CREDIT_BIN(credit), credits->nlimits);
	while (below < above)
	{
		int			middle = below + (above - below) / 2;

		if ((dp_i128) shares * credits->factor[middle] >= credits->full)
			above = middle;
		else
			below = middle + 1;
	}
	to[2 * above]++;
	to[2 * above + 1] += shares;
}

/* Returns a group's counts, by limit, in steps. */
static DpExactVector *
tallied_counts(const DpCredits *credits, const int64 *tallied)
{
	DpExactVector *counts = dp_vector_make(credits->nlimits);
	int64		shares = 0;		/* of codes that are not full yet */
	int64		full = 0;

	for (int k = 0; k <= credits->nlimits; k++)
		shares += tallied[2 * k + 1];
	for (int k = 0; k < credits->nlimits; k++)
	{
		full += tallied[2 * k];
		shares -= tallied[2 * k + 1];
		/* each of these shares times the factor is less than full credit */
		counts->count[k] = full * credits->full + shares * credits->factor[k];
	}
	return counts;
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

static DpDistinctCall *
call_of(FunctionCallInfo fcinfo)
{
	if (unlikely(fcinfo->flinfo->fn_extra == NULL))
		fcinfo->flinfo->fn_extra = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(DpDistinctCall));
	return fcinfo->flinfo->fn_extra;
}

/* Returns the context's sort, which the transition function's flinfo knows. */
static DpSpill *
find_spill(FunctionCallInfo fcinfo, MemoryContext context)
{
	DpSpill   **all = &call_of(fcinfo)->spills;
	DpSpill    *spill;
	AttrNumber	columns[] = {1, 2};
	Oid			operators[] = {Int8LessOperator, Int8LessOperator};
	Oid			collations[] = {InvalidOid, InvalidOid};
	bool		nulls_first[] = {false, false};
	TupleDesc	desc;
	MemoryContext old;

	for (spill = *all; spill != NULL; spill = spill->next)
		if (spill->context == context)
			return spill;

	old = MemoryContextSwitchTo(context);
	desc = CreateTemplateTupleDesc(3);
	TupleDescInitEntry(desc, 1, "group", INT8OID, -1, 0);
	TupleDescInitEntry(desc, 2, "code", INT8OID, -1, 0);
	TupleDescInitEntry(desc, 3, "credit", INT8OID, -1, 0);
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

/* credit: 0 where codes have none, which then takes no room */
static inline void
spill_code(DpSpill *spill, int64 group, uint64 code, uint64 credit)
{
	TupleTableSlot *slot = spill->put;

	ExecClearTuple(slot);
	slot->tts_values[0] = Int64GetDatum(group);
	slot->tts_values[1] = Int64GetDatum((int64) code);
	slot->tts_values[2] = Int64GetDatum((int64) credit);
	slot->tts_isnull[0] = slot->tts_isnull[1] = false;
	slot->tts_isnull[2] = credit == 0;
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(spill->sort, slot);
}

/* Puts the codes of a set into the sort; returns the state that stands for them. */
static DpExactDistinct *
spill_set(FunctionCallInfo fcinfo, const DpExactDistinct *old, MemoryContext context)
{
	DpExactDistinct *set = new_set(0, old->credits);

	set->has_zero = old->has_zero;
	set->zero = old->zero;
	set->spill = find_spill(fcinfo, context);
	set->group = set->spill->ngroups++;
	for (uint32 i = 0; i < old->size; i++)
	{
		if (old->code[i] != 0)
			spill_code(set->spill, set->group, old->code[i], set->credits ? old->code[old->size + i] : 0);
		if ((i & 0xFFFF) == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return set;
}

/* Counts the different codes of each group; all of them are in the sort. */
static void
count_spilled(DpSpill *spill, const DpCredits *credits)
{
	MemoryContext old = MemoryContextSwitchTo(spill->context);
	int64		last_group = -1;
	int64		last_code = 0;
	uint64		last_credit = 0;
	uint32		n = 0;

	spill->count = MemoryContextAllocExtended(spill->context, spill->ngroups * tallies(credits) * sizeof(int64),
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	tuplesort_performsort(spill->sort);
	while (tuplesort_gettupleslot(spill->sort, true, false, spill->got, NULL))
	{
		int64		group;
		int64		code;
		uint64		credit;

		slot_getallattrs(spill->got);
		group = DatumGetInt64(spill->got->tts_values[0]);
		code = DatumGetInt64(spill->got->tts_values[1]);
		credit = spill->got->tts_isnull[2] ? 0 : (uint64) DatumGetInt64(spill->got->tts_values[2]);
		if (group == last_group && code == last_code)
			last_credit = credits ? add_credits(credits, last_credit, credit) : 0;
		else
		{
			if (last_group >= 0)
				tally(credits, last_credit, spill->count + last_group * tallies(credits));
			last_credit = credit;
		}
		last_group = group;
		last_code = code;
		if ((++n & 0xFFFF) == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (last_group >= 0)
		tally(credits, last_credit, spill->count + last_group * tallies(credits));
	ExecClearTuple(spill->got);
	tuplesort_end(spill->sort);
	spill->sort = NULL;
	MemoryContextSwitchTo(old);
}

/* ------------------------------------------------------------------------
 * The aggregate
 * ------------------------------------------------------------------------
 */

/* Adds a code, with its credit where there are any; may replace *pset. */
static inline void
add_code(FunctionCallInfo fcinfo, DpExactDistinct **pset, uint64 code, uint64 credit)
{
	const DpCredits *credits = (*pset)->credits;
	uint64	   *place;

	if (unlikely(code == 0))
	{
		if (credits != NULL)
			(*pset)->zero = (*pset)->has_zero ? add_credits(credits, (*pset)->zero, credit) : credit;
		(*pset)->has_zero = 1;
		return;
	}
	if (unlikely((*pset)->size == 0))
	{
		spill_code((*pset)->spill, (*pset)->group, code, credit);
		return;
	}
	place = find_place(*pset, code);
	if (*place == code)
	{
		if (credits != NULL)
			*credit_of(*pset, place) = add_credits(credits, *credit_of(*pset, place), credit);
		return;
	}
	/* three quarters full */
	if (unlikely((*pset)->used >= (*pset)->size / 4 * 3))
	{
		MemoryContext context = aggregation_context(fcinfo);

		*pset = may_grow(*pset, context) ? grow(*pset) : spill_set(fcinfo, *pset, context);
		add_code(fcinfo, pset, code, credit);
		return;
	}
	*place = code;
	if (credits != NULL)
		*credit_of(*pset, place) = credit;
	(*pset)->used++;
}

/* Adds the codes of a unit in a group, which have one credit. */
static Datum
add_codes(FunctionCallInfo fcinfo, const DpCredits *credits, uint64 credit)
{
	DpExactDistinct *set = dp_state_in_place(fcinfo);
	const int64 *codes;
	int			n;

	if (PG_ARGISNULL(0))
		set = new_set(SMALLEST_SET, credits);
	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(set);
	codes = dp_array_of_codes(PG_GETARG_ARRAYTYPE_P(1), &n);
	for (int i = 0; i < n; i++)
		add_code(fcinfo, &set, codes[i], credit);
	PG_RETURN_POINTER(set);
}

/* The transition of codes_distinct: (exact_distinct, codes); not strict. */
Datum
dp_codes_distinct(PG_FUNCTION_ARGS)
{
	return add_codes(fcinfo, NULL, 0);
}

/* The final function of codes_distinct, strict; may be called again for the same state. */
Datum
dp_distinct_count(PG_FUNCTION_ARGS)
{
	const DpExactDistinct *set = dp_state_in_place(fcinfo);

	if (set->size > 0)
		PG_RETURN_INT64((int64) set->used + set->has_zero);
	if (set->spill->sort != NULL)
		count_spilled(set->spill, NULL);
	PG_RETURN_INT64(set->spill->count[set->group] + set->has_zero);
}

/* Returns by what limits the set of codes counts that value i of the spec is. */
static DpCredits *
make_credits(const DpBoundSpec *spec, int i, MemoryContext context)
{
	DpCredits  *credits = MemoryContextAllocZero(context, sizeof(DpCredits));
	const DpNormSpec *norm;

	if (i < 0 || i >= spec->nvalues || spec->value[i].kind != DP_VALUE_DISTINCT || spec->value[i].norm < 0)
		elog(ERROR, "bound_spec has no set %d that a norm limits", i);
	norm = &dp_spec_norms(spec)[spec->value[i].norm];
	credits->nlimits = Max(norm->nlimits, 1);
	credits->full = INT64CONST(1) << spec->value[i].shift;
	for (int k = 0; k < norm->nlimits; k++)
		credits->factor[k] = norm->limit[k] / DP_NORM_UNIT;
	return credits;
}

/* The transition of codes_distinct_shares: (exact_distinct, codes, share of each with its bin, bound_spec, value); not strict. */
Datum
dp_codes_distinct_shares(PG_FUNCTION_ARGS)
{
	DpDistinctCall *call = call_of(fcinfo);
	int64		share;

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3) || PG_ARGISNULL(4))
		return dp_state_unchanged(fcinfo);
	if (unlikely(call->credits == NULL))
		call->credits = make_credits((const DpBoundSpec *) PG_GETARG_POINTER(3), PG_GETARG_INT32(4), fcinfo->flinfo->fn_mcxt);
	share = PG_GETARG_INT64(2);
	return add_codes(fcinfo, call->credits,
					 CREDIT(DP_BIN_OF_SET(share), Min(Max(DP_SHARE_OF_SET(share), 0), call->credits->full)));
}

/* The final function of codes_distinct_shares, strict; may be called again for the same state. */
Datum
dp_distinct_shares(PG_FUNCTION_ARGS)
{
	const DpExactDistinct *set = dp_state_in_place(fcinfo);
	const DpCredits *credits = set->credits;
	int64		tallied[2 * (DP_MAX_NORM_LIMITS + 1)] = {0};

	if (set->size == 0 && set->spill->sort != NULL)
		count_spilled(set->spill, credits);
	if (set->size == 0)
		memcpy(tallied, set->spill->count + set->group * tallies(credits), tallies(credits) * sizeof(int64));
	if (set->has_zero)
		tally(credits, set->zero, tallied);
	for (uint32 i = 0; i < set->size; i++)
	{
		if (set->code[i] != 0)
			tally(credits, set->code[set->size + i], tallied);
		if ((i & 0xFFFF) == 0)
			CHECK_FOR_INTERRUPTS();
	}
	PG_RETURN_POINTER(tallied_counts(credits, tallied));
}

/* gathered_distinct(exact_distinct) -> bigint[] returns the same as an array, which servers of a cluster can send. */
Datum
dp_gathered_distinct(PG_FUNCTION_ARGS)
{
	return DirectFunctionCall1(dp_vector_counts, dp_distinct_shares(fcinfo));
}
