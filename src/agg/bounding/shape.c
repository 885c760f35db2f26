/*-------------------------------------------------------------------------
 *
 * shape.c
 *	  What all states of one bounding aggregate have in common: how keys of their
 *	  types are told apart, and where things lie in an entry.
 *
 * Invariants: equality of keys is that of GROUP BY, the default operator of
 * their type; the layout follows from the types of keys and the kinds of values
 * alone, so that partial states of several processes have the same.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "agg/bounding/state.h"
#include "base/collations.h"

bool
dp_bound_key_supported(Oid type)
{
	return OidIsValid(lookup_type_cache(type, TYPECACHE_HASH_PROC)->hash_proc);
}

bool
dp_compares_words(Oid function)
{
	switch (function)
	{
		case F_BOOLEQ:
		case F_CHAREQ:
		case F_INT2EQ:
		case F_INT4EQ:
		case F_INT8EQ:
		case F_OIDEQ:
		case F_DATE_EQ:
		case F_TIME_EQ:
		case F_TIMESTAMP_EQ:
		case F_TIMESTAMPTZ_EQ:
		case F_ENUM_EQ:
			return true;
		default:
			return false;
	}
}

/*
 * Fills in info for keys of a type.  Equality must be the one that GROUP BY
 * will use above: the default operator of the type.  The type cache has a hash
 * function only if it agrees with it.  Returns false when there is none.
 */
bool
dp_key_info_init(DpKeyInfo *info, Oid type, Oid collation, MemoryContext context)
{
	TypeCacheEntry *cache = lookup_type_cache(type,
											  TYPECACHE_EQ_OPR_FINFO |
											  TYPECACHE_CMP_PROC_FINFO |
											  TYPECACHE_HASH_PROC_FINFO |
											  TYPECACHE_HASH_EXTENDED_PROC_FINFO);

	if (!OidIsValid(cache->hash_proc) || !OidIsValid(cache->eq_opr) || cache->typlen == -2)
		return false;

	memset(info, 0, sizeof(DpKeyInfo));
	info->type = type;
	info->collation = collation;
	info->typlen = cache->typlen;
	info->typbyval = cache->typbyval;
	info->typalign = cache->typalign;
	info->class = DP_KEY_GENERIC;

	switch (cache->eq_opr_finfo.fn_oid)
	{
		case F_TEXTEQ:
			if (dp_is_deterministic(collation))
				info->class = DP_KEY_BYTES;
			break;
		case F_BYTEAEQ:
			info->class = DP_KEY_BYTES;
			break;
		case F_UUID_EQ:
			info->class = DP_KEY_FIXED;
			break;
		default:
			if (cache->typbyval && dp_compares_words(cache->eq_opr_finfo.fn_oid))
				info->class = DP_KEY_WORD;
			break;
	}

	info->extended_hash = OidIsValid(cache->hash_extended_proc);
	fmgr_info_copy(&info->hash, info->extended_hash ?
				   &cache->hash_extended_proc_finfo : &cache->hash_proc_finfo, context);
	info->has_order = OidIsValid(cache->cmp_proc);
	fmgr_info_copy(&info->compare, info->has_order ?
				   &cache->cmp_proc_finfo : &cache->eq_opr_finfo, context);
	return true;
}

void
dp_layout_init(DpLayout *layout, int nkeys, int nvalues,
			   uint16 by_reference, uint16 narrow, const uint64 *sums, const DpCodeSpec *codes)
{
	Size		at = sizeof(uint64);

	memset(layout, 0, sizeof(DpLayout));
	layout->nkeys = nkeys;
	layout->nvalues = nvalues;
	layout->by_reference = by_reference;
	layout->narrow = narrow;
	memcpy(layout->sums, sums, sizeof(layout->sums));
	for (int i = 0; codes && i < nvalues; i++)
	{
		layout->codes[i] = codes[i];
		layout->has_codes |= codes[i] != 0;
		layout->has_apart |= (codes[i] & DP_CODES_APART) != 0;
	}

	for (int i = 0; i < nkeys; i++)
		if (!(narrow & (1 << i)))
		{
			layout->key[i] = at;
			at += sizeof(uint64);
		}
	for (int i = 0; i < nvalues; i++)
		if (dp_is_sum(sums, i))
		{
			layout->value[i] = at;
			at += sizeof(DpExactSum);
		}
		else if (layout->codes[i] & DP_CODES_SET)
		{
			layout->value[i] = at;
			at += dp_codes_size(layout->codes[i]);
		}
	for (int i = 0; i < nkeys; i++)
		if (narrow & (1 << i))
		{
			layout->key[i] = at;
			at += sizeof(int32);
		}
	for (int i = 0; i < nvalues; i++)
		if (!dp_is_sum(sums, i) && !(layout->codes[i] & DP_CODES_SET))
		{
			layout->value[i] = at;
			at += layout->codes[i] ? dp_codes_size(layout->codes[i]) : sizeof(uint32);
		}
	layout->entry_size = MAXALIGN(at);
}

/* Makes the layout for shape->key, which the caller has filled in. */
void
dp_shape_init(DpShape *shape, int nkeys, int nvalues, const uint64 *sums, const DpCodeSpec *codes)
{
	uint16		by_reference = 0;
	uint16		narrow = 0;

	for (int i = 0; i < nkeys; i++)
	{
		if (!shape->key[i].typbyval)
			by_reference |= 1 << i;
		else if (shape->key[i].typlen <= (int) sizeof(int32))
			narrow |= 1 << i;
	}
	dp_layout_init(&shape->layout, nkeys, nvalues, by_reference, narrow, sums, codes);
}

Size
dp_most_key_bytes(int max_groups)
{
	return dp_key_bytes_limit(max_groups);
}

/* Writes which values of the state are sums. */
void
dp_state_sums(const DpBoundState *state, uint64 *sums)
{
	memset(sums, 0, DP_SUMS_WORDS * sizeof(uint64));
	sums[0] = state->sums;
	if (state->nvalues > 64)
		memcpy(sums + 1, dp_state_more_sums(state), (DP_SUMS_WORDS - 1) * sizeof(uint64));
}

/* Returns the shape of a state; all states of an aggregate have the same. */
DpShape *
dp_shape_of(const DpBoundState *state, MemoryContext context)
{
	DpShape    *shape = MemoryContextAllocZero(context, sizeof(DpShape));
	uint64		sums[DP_SUMS_WORDS];

	dp_state_sums(state, sums);
	for (int i = 0; i < state->nkeys; i++)
		if (!dp_key_info_init(&shape->key[i], state->key[i].type, state->key[i].collation, context))
			elog(ERROR, "type %u has no hash function", state->key[i].type);
	dp_shape_init(shape, state->nkeys, state->nvalues, sums, dp_state_code_specs(state));
	return shape;
}
