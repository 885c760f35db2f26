/*-------------------------------------------------------------------------
 *
 * key_index.c
 *	  Values of a type, found by its own equality, so that 1.0 finds 1.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/typcache.h"

#include "base/key_index.h"

typedef struct KeyEntry
{
	Datum		key;
	int32		place;
	uint32		hash;
	char		status;
} KeyEntry;

struct key_hash;

struct DpKeyIndex
{
	Oid			collation;
	FmgrInfo	hash_fn;
	FmgrInfo	eq_fn;
	struct key_hash *table;
};

static uint32
hash_of(DpKeyIndex *index, Datum key)
{
	return DatumGetUInt32(FunctionCall1Coll(&index->hash_fn, index->collation, key));
}

static bool
are_equal(DpKeyIndex *index, Datum a, Datum b)
{
	return DatumGetBool(FunctionCall2Coll(&index->eq_fn, index->collation, a, b));
}

#define SH_PREFIX key
#define SH_ELEMENT_TYPE KeyEntry
#define SH_KEY_TYPE Datum
#define SH_KEY key
#define SH_HASH_KEY(tb, key) hash_of((DpKeyIndex *) (tb)->private_data, key)
#define SH_EQUAL(tb, a, b) are_equal((DpKeyIndex *) (tb)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) (a)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

DpKeyIndex *
dp_key_index_create(Oid type, Oid collation, const Datum *values, int n, MemoryContext context)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_HASH_PROC_FINFO | TYPECACHE_EQ_OPR_FINFO);
	DpKeyIndex *index = MemoryContextAllocZero(context, sizeof(DpKeyIndex));

	if (!OidIsValid(entry->hash_proc_finfo.fn_oid) || !OidIsValid(entry->eq_opr_finfo.fn_oid))
		elog(ERROR, "type %u of a declared key cannot be hashed", type);
	index->collation = collation;
	fmgr_info_copy(&index->hash_fn, &entry->hash_proc_finfo, context);
	fmgr_info_copy(&index->eq_fn, &entry->eq_opr_finfo, context);
	index->table = (struct key_hash *) key_create(context, Max(n, 16), index);
	for (int i = 0; i < n; i++)
	{
		bool		found;
		KeyEntry   *key;

		CHECK_FOR_INTERRUPTS();
		key = key_insert((key_hash *) index->table, values[i], &found);
		if (!found)
			key->place = i;
	}
	return index;
}

int64
dp_key_index_find(const DpKeyIndex *index, Datum value)
{
	KeyEntry   *key = key_lookup((key_hash *) index->table, value);

	return key == NULL ? -1 : key->place;
}

/* Takes what a run has out of its list. */
static void
forget_of_run(void *arg)
{
	for (DpOfRun **p = ((DpOfRun *) arg)->list; *p != NULL; p = &(*p)->next)
		if (*p == arg)
		{
			*p = (*p)->next;
			return;
		}
}

DpOfRun *
dp_of_run(DpOfRun **list, MemoryContext run, const void *made_of, Oid collation, Size size)
{
	DpOfRun    *of_run;
	MemoryContextCallback *callback;

	for (of_run = *list; of_run != NULL; of_run = of_run->next)
		if (of_run->run == run && of_run->made_of == made_of && of_run->collation == collation)
			return of_run;
	of_run = MemoryContextAllocZero(run, size);
	of_run->list = list;
	of_run->run = run;
	of_run->made_of = made_of;
	of_run->collation = collation;
	callback = MemoryContextAlloc(run, sizeof(MemoryContextCallback));
	callback->func = forget_of_run;
	callback->arg = of_run;
	MemoryContextRegisterResetCallback(run, callback);
	of_run->next = *list;
	*list = of_run;
	return of_run;
}
