/*-------------------------------------------------------------------------
 *
 * key_set.c
 *	  Type key_set: a long list of declared keys; and whether a key is in it.
 *
 * "key = ANY (list)" with a constant list costs the planner 300 bytes for
 * each value and each partition of the table, for its estimate alone, and
 * the executor a hash table for each partition.  So a long list is a
 * parameter of the inner query, which nobody looks into before it runs.
 *
 * Invariants:
 * - A key_set is an array without NULLs, of the type of the keys that it is
 *	 asked for, under another name.  Only a release makes one (no input, no
 *	 casts), as a parameter that lives as long as the inner run.
 * - A process has one table for each key_set of a run, however many
 *	 expressions ask.  It lives in the run's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/supportnodes.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

PG_FUNCTION_INFO_V1(dp_is_declared);
PG_FUNCTION_INFO_V1(dp_is_declared_support);

typedef struct SetEntry
{
	Datum		key;
	uint32		hash;
	char		status;
} SetEntry;

struct set_hash;

typedef struct KeySet
{
	struct KeySet *next;
	MemoryContext context;
	const ArrayType *keys;		/* what it was made of */
	Oid			collation;
	FmgrInfo	hash_fn;
	FmgrInfo	eq_fn;
	struct set_hash *table;
} KeySet;

/* those of all runs of this process */
static KeySet *key_sets = NULL;

static uint32
set_key_hash(KeySet *set, Datum key)
{
	return DatumGetUInt32(FunctionCall1Coll(&set->hash_fn, set->collation, key));
}

static bool
set_key_equal(KeySet *set, Datum a, Datum b)
{
	return DatumGetBool(FunctionCall2Coll(&set->eq_fn, set->collation, a, b));
}

#define SH_PREFIX set
#define SH_ELEMENT_TYPE SetEntry
#define SH_KEY_TYPE Datum
#define SH_KEY key
#define SH_HASH_KEY(tb, key) set_key_hash((KeySet *) (tb)->private_data, key)
#define SH_EQUAL(tb, a, b) set_key_equal((KeySet *) (tb)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) (a)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static void
forget_set(void *arg)
{
	for (KeySet **p = &key_sets; *p != NULL; p = &(*p)->next)
		if (*p == arg)
		{
			*p = (*p)->next;
			return;
		}
}

static void
fill_set(KeySet *set)
{
	TypeCacheEntry *type = lookup_type_cache(ARR_ELEMTYPE(set->keys), TYPECACHE_HASH_PROC_FINFO | TYPECACHE_EQ_OPR_FINFO);
	ArrayIterator elements;
	Datum		key;
	bool		isnull;
	bool		found;

	if (!OidIsValid(type->hash_proc_finfo.fn_oid) || !OidIsValid(type->eq_opr_finfo.fn_oid))
		elog(ERROR, "type %u of a declared key cannot be hashed", ARR_ELEMTYPE(set->keys));
	fmgr_info_copy(&set->hash_fn, &type->hash_proc_finfo, set->context);
	fmgr_info_copy(&set->eq_fn, &type->eq_opr_finfo, set->context);
	set->table = (struct set_hash *) set_create(set->context,
												Max(ArrayGetNItems(ARR_NDIM(set->keys), ARR_DIMS(set->keys)), 16), set);
	elements = array_create_iterator((ArrayType *) set->keys, 0, NULL);
	while (array_iterate(elements, &key, &isnull))
	{
		CHECK_FOR_INTERRUPTS();
		if (!isnull)
			(void) set_insert((set_hash *) set->table, key, &found);
	}
	array_free_iterator(elements);
}

/* Returns the table of a key_set, which other expressions of the run may have made. */
static KeySet *
find_set(const ArrayType *keys, Oid collation, MemoryContext run)
{
	KeySet	   *set;
	MemoryContextCallback *callback;

	for (set = key_sets; set != NULL; set = set->next)
		if (set->context == run && set->keys == keys && set->collation == collation)
			return set;
	set = MemoryContextAllocZero(run, sizeof(KeySet));
	set->context = run;
	set->keys = keys;
	set->collation = collation;
	fill_set(set);
	callback = MemoryContextAlloc(run, sizeof(MemoryContextCallback));
	callback->func = forget_set;
	callback->arg = set;
	MemoryContextRegisterResetCallback(run, callback);
	set->next = key_sets;
	key_sets = set;
	return set;
}

/* is_declared(key, keys) tells whether a key is in a set. */
Datum
dp_is_declared(PG_FUNCTION_ARGS)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = find_set((const ArrayType *) PG_GETARG_POINTER(1), PG_GET_COLLATION(), flinfo->fn_mcxt);
	PG_RETURN_BOOL(set_lookup((set_hash *) ((KeySet *) flinfo->fn_extra)->table, PG_GETARG_DATUM(0)) != NULL);
}

/* Tells the planner that nearly all rows have declared keys; what is listed in the query has a condition of its own. */
Datum
dp_is_declared_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (!IsA(request, SupportRequestSelectivity))
		PG_RETURN_POINTER(NULL);
	((SupportRequestSelectivity *) request)->selectivity = 1;
	PG_RETURN_POINTER(request);
}
