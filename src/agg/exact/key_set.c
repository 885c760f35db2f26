/*-------------------------------------------------------------------------
 *
 * key_set.c
 *	  Type key_set: a long list of declared keys; whether a key is in it, and where.
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
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "nodes/supportnodes.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "base/key_index.h"

PG_FUNCTION_INFO_V1(dp_is_declared);
PG_FUNCTION_INFO_V1(dp_key_place);
PG_FUNCTION_INFO_V1(dp_is_declared_support);

typedef struct KeySet
{
	DpOfRun		of_run;			/* made of the array */
	DpKeyIndex *index;
} KeySet;

/* those of all runs of this process */
static DpOfRun *key_sets = NULL;

/* Returns the table of a key_set, which other expressions of the run may have made. */
static KeySet *
find_set(ArrayType *keys, Oid collation, MemoryContext run)
{
	KeySet	   *set = (KeySet *) dp_of_run(&key_sets, run, keys, collation, sizeof(KeySet));
	Oid			type = ARR_ELEMTYPE(keys);
	MemoryContext old;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *values;
	int			n;

	/* one that an error has left without is made again */
	if (set->index != NULL)
		return set;
	old = MemoryContextSwitchTo(run);
	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	deconstruct_array(keys, type, typlen, typbyval, typalign, &values, NULL, &n);
	set->index = dp_key_index_create(type, collation, values, n, run);
	pfree(values);
	MemoryContextSwitchTo(old);
	return set;
}

/* Returns the place of the first argument in the set that is the second; -1: it is not in it. */
static int64
find_place(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = find_set((ArrayType *) PG_GETARG_POINTER(1), PG_GET_COLLATION(), flinfo->fn_mcxt);
	return dp_key_index_find(((KeySet *) flinfo->fn_extra)->index, PG_GETARG_DATUM(0));
}

/* is_declared(key, keys) tells whether a key is in a set. */
Datum
dp_is_declared(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(find_place(fcinfo) >= 0);
}

/* key_place(key, keys) returns the place of a key in a set, from 0 on; NULL: it is not in it. */
Datum
dp_key_place(PG_FUNCTION_ARGS)
{
	int64		place = find_place(fcinfo);

	if (place < 0)
		PG_RETURN_NULL();
	PG_RETURN_INT32((int32) place);
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
