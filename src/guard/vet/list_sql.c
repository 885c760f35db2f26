/*-------------------------------------------------------------------------
 *
 * list_sql.c
 *	  dp_cdp.allowed_functions(): the list of functions and aggregates that
 *	  may run on rows of protected tables, for documentation and for the tests
 *	  that sweep it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "guard/vet/allow.h"
#include "policy/policy.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* Returns the functions that superusers have added, as far as they can be used. */
static List *
usable_added(void)
{
	List	   *result = NIL;

	foreach_oid(function, dp_added_functions())
	{
		if (SearchSysCacheExists1(PROCOID, ObjectIdGetDatum(function)) &&
			dp_added_problem(function) == NULL)
			result = lappend_oid(result, function);
	}
	return result;
}

/* function, treatment, safe variant, numbers (from 1) of the arguments that must be constants */
PG_FUNCTION_INFO_V1(dp_allowed_functions_sql);
Datum
dp_allowed_functions_sql(PG_FUNCTION_ARGS)
{
	FuncCallContext *funcctx;
	const DpAllowed *list;
	const DpAllowed *row;
	const DpUnitAggregate *aggregates;
	int			count;
	int			naggregates;
	int			nconstants = 0;
	int			i;
	Datum		constants[16];
	Datum		values[4];
	bool		nulls[4] = {false, false, false, false};

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;
		TupleDesc	tupdesc;

		funcctx = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(funcctx->multi_call_memory_ctx);
		if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
			elog(ERROR, "return type must be a row type");
		funcctx->tuple_desc = BlessTupleDesc(tupdesc);
		funcctx->user_fctx = usable_added();
		MemoryContextSwitchTo(old);
	}
	funcctx = SRF_PERCALL_SETUP();
	list = dp_allowed_functions(&count);
	aggregates = dp_unit_aggregates(&naggregates);
	if (funcctx->call_cntr >= count)
	{
		List	   *added = funcctx->user_fctx;
		int			n = funcctx->call_cntr - count;

		if (n < naggregates)
		{
			values[0] = ObjectIdGetDatum(aggregates[n].aggfnoid);
			values[1] = CStringGetTextDatum("per unit");
			values[2] = ObjectIdGetDatum(dp_unit_aggregate_safe(&aggregates[n]));
			nulls[2] = !OidIsValid(DatumGetObjectId(values[2]));
			values[3] = PointerGetDatum(construct_empty_array(INT4OID));
			SRF_RETURN_NEXT(funcctx, HeapTupleGetDatum(heap_form_tuple(funcctx->tuple_desc, values, nulls)));
		}
		n -= naggregates;
		if (n >= list_length(added))
			SRF_RETURN_DONE(funcctx);
		values[0] = ObjectIdGetDatum(list_nth_oid(added, n));
		values[1] = CStringGetTextDatum("added");
		nulls[2] = true;
		values[3] = PointerGetDatum(construct_empty_array(INT4OID));
		SRF_RETURN_NEXT(funcctx, HeapTupleGetDatum(heap_form_tuple(funcctx->tuple_desc, values, nulls)));
	}

	row = &list[funcctx->call_cntr];
	values[0] = ObjectIdGetDatum(row->funcid);
	values[1] = CStringGetTextDatum(row->constants_only ? "constants only" : row->safe ? "total variant" : "as is");
	if (row->safe)
		values[2] = ObjectIdGetDatum(dp_safe_variant(row));
	else
		nulls[2] = true;
	for (i = 0; i < lengthof(constants); i++)
	{
		if (row->constants & (1 << i))
			constants[nconstants++] = Int32GetDatum(i + 1);
	}
	values[3] = PointerGetDatum(construct_array(constants, nconstants, INT4OID, sizeof(int32), true, TYPALIGN_INT));
	SRF_RETURN_NEXT(funcctx, HeapTupleGetDatum(heap_form_tuple(funcctx->tuple_desc, values, nulls)));
}
