/*-------------------------------------------------------------------------
 *
 * shown.c
 *	  Whether a row is in a group that a release has shown.
 *
 * is_shown(key, keys, key, keys, ...) takes each key of a row and, behind it, that key of all groups, one after the other.  A
 * row of no such group is one of the rest (release/rest.c).
 *
 * Invariants:
 * - Keys are compared as GROUP BY compares them, and NULL equals NULL.
 * - It is false or true, and never NULL; nothing that a row has makes it fail.  Of a long value no copy is made beyond what
 *	 hashing and comparing it takes, as those of GROUP BY do.
 * - A process has one table for each run, however many expressions ask.  It lives in the run's memory context.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/extension.h"
#include "base/key_index.h"
#include "base/tuple_index.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(dp_is_shown);

typedef struct Shown
{
	DpOfRun		of_run;			/* made of the first list */
	int			width;
	DpTupleIndex *index;
	Datum	   *values;			/* room for one tuple */
	bool	   *nulls;
} Shown;

/* those of all runs of this process */
static DpOfRun *all_shown = NULL;

/* Reads the lists of keys into tuples, and makes the index of these. */
static void
fill_shown(Shown *shown, FunctionCallInfo fcinfo)
{
	List	   *args = ((FuncExpr *) fcinfo->flinfo->fn_expr)->args;
	Oid		   *types = palloc(shown->width * sizeof(Oid));
	Oid		   *collations = palloc(shown->width * sizeof(Oid));
	Datum	   *values = NULL;
	bool	   *nulls = NULL;
	int			n = 0;

	for (int i = 0; i < shown->width; i++)
	{
		ArrayType  *keys = (ArrayType *) PG_GETARG_POINTER(2 * i + 1);
		Datum	   *of_key;
		bool	   *is_null;
		int16		typlen;
		bool		typbyval;
		char		typalign;
		int			length;

		types[i] = ARR_ELEMTYPE(keys);
		collations[i] = exprCollation(list_nth(args, 2 * i));
		get_typlenbyvalalign(types[i], &typlen, &typbyval, &typalign);
		deconstruct_array(keys, types[i], typlen, typbyval, typalign, &of_key, &is_null, &length);
		if (i == 0)
		{
			n = length;
			values = MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * shown->width * sizeof(Datum));
			nulls = MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * shown->width * sizeof(bool));
		}
		if (length != n)
			elog(ERROR, "groups that are shown have lists of different lengths");
		for (int j = 0; j < n; j++)
		{
			values[j * shown->width + i] = of_key[j];
			nulls[j * shown->width + i] = is_null[j];
		}
		pfree(of_key);
		pfree(is_null);
	}
	shown->index = dp_tuple_index_create(shown->width, types, collations, values, nulls, n);
}

/* Tells whether a call has keys, and lists of them behind each; anybody may make one, but no list. */
static bool
has_lists(FunctionCallInfo fcinfo)
{
	if (PG_NARGS() == 0 || PG_NARGS() % 2 != 0 || fcinfo->flinfo->fn_expr == NULL || get_fn_expr_variadic(fcinfo->flinfo))
		return false;
	for (int i = 1; i < PG_NARGS(); i += 2)
		if (get_fn_expr_argtype(fcinfo->flinfo, i) != dp_own_type("key_set") || PG_ARGISNULL(i))
			return false;
	return true;
}

/* Returns the table of a call, which other expressions of the run may have made. */
static Shown *
find_shown(FunctionCallInfo fcinfo)
{
	MemoryContext run = fcinfo->flinfo->fn_mcxt;
	MemoryContext old;
	Shown	   *shown;

	if (!has_lists(fcinfo))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("is_shown takes keys and lists of them; a private query calls it")));
	shown = (Shown *) dp_of_run(&all_shown, run, PG_GETARG_POINTER(1), InvalidOid, sizeof(Shown));
	if (shown->index != NULL)
		return shown;
	old = MemoryContextSwitchTo(run);
	shown->width = PG_NARGS() / 2;
	shown->values = palloc(shown->width * sizeof(Datum));
	shown->nulls = palloc(shown->width * sizeof(bool));
	fill_shown(shown, fcinfo);
	MemoryContextSwitchTo(old);
	return shown;
}

/* is_shown(key, keys, ...) tells whether the keys are those of a group in the lists. */
Datum
dp_is_shown(PG_FUNCTION_ARGS)
{
	Shown	   *shown = fcinfo->flinfo->fn_extra;

	if (shown == NULL)
		shown = fcinfo->flinfo->fn_extra = find_shown(fcinfo);
	for (int i = 0; i < shown->width; i++)
	{
		shown->nulls[i] = PG_ARGISNULL(2 * i);
		shown->values[i] = PG_GETARG_DATUM(2 * i);
	}
	PG_RETURN_BOOL(dp_tuple_index_find(shown->index, shown->values, shown->nulls) >= 0);
}
