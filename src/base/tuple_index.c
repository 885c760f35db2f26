/*-------------------------------------------------------------------------
 *
 * tuple_index.c
 *	  Tuples of values, found by the equality of their types.
 *
 * Tuples are known by their place; what is looked up stands at place -1.
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
#include "utils/typcache.h"

#include "base/tuple_index.h"

typedef struct TupleEntry
{
	int32		place;
	uint32		hash;
	char		status;
} TupleEntry;

struct tuple_hash;

struct DpTupleIndex
{
	int			width;
	const Oid  *collations;
	FmgrInfo   *hash_fns;
	FmgrInfo   *eq_fns;
	const Datum *values;
	const bool *nulls;
	/* what is looked up */
	const Datum *sought;
	const bool *sought_nulls;
	struct tuple_hash *table;
};

static const Datum *
values_at(DpTupleIndex *index, int32 place)
{
	return place < 0 ? index->sought : index->values + (Size) place * index->width;
}

static const bool *
nulls_at(DpTupleIndex *index, int32 place)
{
	return place < 0 ? index->sought_nulls : index->nulls + (Size) place * index->width;
}

static uint32
hash_of(DpTupleIndex *index, int32 place)
{
	uint32		hash = 0;

	for (int i = 0; i < index->width; i++)
		hash = hash_combine(hash, nulls_at(index, place)[i] ? 0
							: DatumGetUInt32(FunctionCall1Coll(&index->hash_fns[i], index->collations[i],
															   values_at(index, place)[i])));
	return hash;
}

static bool
are_equal(DpTupleIndex *index, int32 a, int32 b)
{
	for (int i = 0; i < index->width; i++)
	{
		if (nulls_at(index, a)[i] != nulls_at(index, b)[i])
			return false;
		if (!nulls_at(index, a)[i] &&
			!DatumGetBool(FunctionCall2Coll(&index->eq_fns[i], index->collations[i],
											values_at(index, a)[i], values_at(index, b)[i])))
			return false;
	}
	return true;
}

#define SH_PREFIX tuple
#define SH_ELEMENT_TYPE TupleEntry
#define SH_KEY_TYPE int32
#define SH_KEY place
#define SH_HASH_KEY(tb, key) hash_of((DpTupleIndex *) (tb)->private_data, key)
#define SH_EQUAL(tb, a, b) are_equal((DpTupleIndex *) (tb)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) (a)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

DpTupleIndex *
dp_tuple_index_create(int width, const Oid *types, const Oid *collations, const Datum *values, const bool *nulls, int n)
{
	DpTupleIndex *index = palloc0(sizeof(DpTupleIndex));

	index->width = width;
	index->collations = collations;
	index->hash_fns = palloc0(width * sizeof(FmgrInfo));
	index->eq_fns = palloc0(width * sizeof(FmgrInfo));
	index->values = values;
	index->nulls = nulls;
	for (int i = 0; i < width; i++)
	{
		TypeCacheEntry *entry = lookup_type_cache(types[i], TYPECACHE_HASH_PROC_FINFO | TYPECACHE_EQ_OPR_FINFO);

		if (!OidIsValid(entry->hash_proc_finfo.fn_oid) || !OidIsValid(entry->eq_opr_finfo.fn_oid))
			elog(ERROR, "type %u of a declared key cannot be hashed", types[i]);
		fmgr_info_copy(&index->hash_fns[i], &entry->hash_proc_finfo, CurrentMemoryContext);
		fmgr_info_copy(&index->eq_fns[i], &entry->eq_opr_finfo, CurrentMemoryContext);
	}
	index->table = (struct tuple_hash *) tuple_create(CurrentMemoryContext, Max(n, 16), index);
	for (int i = 0; i < n; i++)
	{
		bool		found;

		CHECK_FOR_INTERRUPTS();
		(void) tuple_insert((tuple_hash *) index->table, i, &found);
	}
	return index;
}

int64
dp_tuple_index_find(DpTupleIndex *index, const Datum *values, const bool *nulls)
{
	TupleEntry *entry;

	index->sought = values;
	index->sought_nulls = nulls;
	entry = tuple_lookup((tuple_hash *) index->table, -1);
	return entry == NULL ? -1 : entry->place;
}
