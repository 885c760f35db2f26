/*-------------------------------------------------------------------------
 *
 * entry.c
 *	  The groups a unit kept, one by one, as rows: keys, clamped values and codes.
 *
 * Each column of these rows is a function that returns a set, of the state of
 * one unit: bound_key, bound_value, bound_codes, bound_distinct_codes, bound_cut, bound_share, bound_bin,
 * bound_first.  In a target list they run in lockstep, so that the i-th results of all of them belong to the i-th
 * group.  The node of node.c returns such rows by itself.
 *
 * Rows of units in other bins of a norm are added up apart, and sets of codes cannot be: units of several
 * bins may have the same code.  So where a norm limits a set, a state has each group
 * twice.  The second time it has the sets alone, and all units are in one bin, -1.
 *
 * Invariants: a unit's values leave a state as norms.c limits them, clamped to the bounds of the
 * spec's grids, and in no other way.  At most
 * max_groups rows per state, no two with equal keys, or twice as many.  Codes come out as
 * they are, at most as many as the spec's grid allows (see codes.c).  Of a total
 * that is asked for its place alone, one code comes out, or none.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "agg/bounding/state.h"
#include "base/compat.h"

PG_FUNCTION_INFO_V1(dp_bound_key);
PG_FUNCTION_INFO_V1(dp_bound_value);
PG_FUNCTION_INFO_V1(dp_bound_codes);
PG_FUNCTION_INFO_V1(dp_bound_distinct_codes);
PG_FUNCTION_INFO_V1(dp_bound_cut);
PG_FUNCTION_INFO_V1(dp_bound_share);
PG_FUNCTION_INFO_V1(dp_bound_bin);
PG_FUNCTION_INFO_V1(dp_bound_first);

/* ------------------------------------------------------------------------
 * One group
 * ------------------------------------------------------------------------
 */

/* Returns the codes i of the entry as an array: integer[], or bigint[] of a set. */
static Datum
entry_codes(const DpBoundState *state, const DpLayout *layout, const char *from, int i)
{
	DpCodeSpec	code_spec = layout->codes[i];
	bool		is_set = (code_spec & DP_CODES_SET) != 0;
	Oid			type = is_set ? INT8OID : INT4OID;
	int			n = dp_codes_count(from + layout->value[i], code_spec);
	Size		size = ARR_OVERHEAD_NONULLS(1) + n * (is_set ? sizeof(int64) : sizeof(int32));
	ArrayType  *codes;

	if (n == 0)
		return PointerGetDatum(construct_empty_array(type));
	codes = palloc0(size);
	SET_VARSIZE(codes, size);
	codes->ndim = 1;
	codes->elemtype = type;
	ARR_DIMS(codes)[0] = n;
	ARR_LBOUND(codes)[0] = 1;
	dp_codes_read(state, from, layout->value[i], code_spec, ARR_DATA_PTR(codes));
	return PointerGetDatum(codes);
}

/* Returns what a column has that another one of the two rows of its group has. */
static Datum
nothing_of(DpRowColumn column, bool *isnull)
{
	switch (column.kind)
	{
		case DP_COLUMN_BIN:
			return Int64GetDatum(-1);
		case DP_COLUMN_CODES:
		case DP_COLUMN_CUT:
			return PointerGetDatum(construct_empty_array(INT4OID));
		case DP_COLUMN_DISTINCT_CODES:
			*isnull = true;
			return (Datum) 0;
		default:
			return Int64GetDatum(0);
	}
}

/* Tells whether a column of states that lie like this is of the second rows of groups, or one of both. */
static inline bool
is_of_row(const DpLayout *layout, DpRowColumn column, bool second)
{
	if (column.kind == DP_COLUMN_KEY)
		return true;
	if (column.kind == DP_COLUMN_DISTINCT_CODES || column.kind == DP_COLUMN_SHARE)
		return second == ((layout->codes[column.i] & DP_CODES_APART) != 0);
	return !second;
}

/*
 * Returns where the total i of the entry is, before it is clamped: {0} below its bounds, {1} within, {2} above; {}: no value.
 * Where groups are cut it is above if the state has more of them than count.
 */
static Datum
entry_cut(const DpBoundState *state, const DpLayout *layout, const char *from, const DpBoundSpec *spec, int i)
{
	const DpExactSum *sum = (const DpExactSum *) (from + layout->value[i]);
	const DpGrid *grid = &spec->value[i].grid;
	Datum		code;

	if (dp_sum_is_none(sum))
		return PointerGetDatum(construct_empty_array(INT4OID));
	if (spec->value[i].rows == DP_CUT_GROUPS)
		code = Int32GetDatum(state->nentries > spec->value[i].groups ? 2 : 1);
	else
		code = Int32GetDatum(dp_exact_sum_get(sum) < grid->lower ? 0 : dp_exact_sum_get(sum) > grid->upper ? 2 : 1);
	return PointerGetDatum(construct_array(&code, 1, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}

/*
 * Returns a column of row n of a state, of dp_state_rows.  A key by reference
 * points into the state; codes are in CurrentMemoryContext.  dp_check_row_column has accepted the column.
 */
Datum
dp_entry_column(const DpBoundState *state, const DpLayout *layout, int n, const DpBoundSpec *spec,
				const DpNorms *norms, DpRowColumn column, bool *isnull)
{
	bool		second = n >= state->nentries;
	const char *from;
	DpLimitedValue limited = {0};
	uint64		word;

	*isnull = false;
	if (unlikely(layout->has_apart) && !is_of_row(layout, column, second))
		return nothing_of(column, isnull);
	if (second)
		n -= state->nentries;
	from = dp_state_entries(state) + n * layout->entry_size;
	switch (column.kind)
	{
		case DP_COLUMN_KEY:
			*isnull = (dp_rank(from) & (UINT64CONST(1) << column.i)) != 0;
			word = dp_entry_word(layout, from, column.i);
			if (*isnull)
				return (Datum) 0;
			if (layout->by_reference & (1 << column.i))
				return PointerGetDatum((const char *) state + DP_KEYREF_OFFSET(word));
			return (Datum) word;
		case DP_COLUMN_VALUE:
		case DP_COLUMN_SHARE:
			if (dp_counts_in(spec, column.i, n))
				dp_limit_value(layout, from, spec, norms, column.i, &limited);
			return Int64GetDatum(column.kind == DP_COLUMN_VALUE ? limited.value : limited.share);
		case DP_COLUMN_BIN:
			return Int64GetDatum(norms->bin[column.i]);
		case DP_COLUMN_FIRST:
			return Int64GetDatum(n == 0);
		case DP_COLUMN_CODES:
			if (!dp_counts_in(spec, column.i, n))
				return PointerGetDatum(construct_empty_array(INT4OID));
			return entry_codes(state, layout, from, column.i);
		case DP_COLUMN_DISTINCT_CODES:
			if (!dp_counts_in(spec, column.i, n))
				return PointerGetDatum(construct_empty_array(INT8OID));
			return entry_codes(state, layout, from, column.i);
		case DP_COLUMN_CUT:
			if (!dp_counts_in(spec, column.i, n))
				return PointerGetDatum(construct_empty_array(INT4OID));
			return entry_cut(state, layout, from, spec, column.i);
	}
	elog(ERROR, "unexpected column %d of rows of units", (int) column.kind);
}

/* Fails unless states whose keys and values lie like this have the column. */
void
dp_check_row_column(const DpLayout *layout, DpRowColumn column)
{
	int			i = column.i;

	switch (column.kind)
	{
		case DP_COLUMN_KEY:
			if (i < 0 || i >= layout->nkeys)
				elog(ERROR, "bound_state has no key %d", i);
			return;
		case DP_COLUMN_VALUE:
		case DP_COLUMN_SHARE:
			if (i < 0 || i >= layout->nvalues || (layout->codes[i] & (DP_CODES_SET | DP_CODES_APART)) == DP_CODES_SET ||
				(column.kind == DP_COLUMN_VALUE && layout->codes[i] != 0))
				elog(ERROR, "bound_state has no value %d", i);
			return;
		case DP_COLUMN_BIN:
		case DP_COLUMN_FIRST:
			if (i < 0 || i >= DP_MAX_VALUES)
				elog(ERROR, "bound_state has no norm %d", i);
			return;
		case DP_COLUMN_CODES:
			if (i < 0 || i >= layout->nvalues || layout->codes[i] == 0 || (layout->codes[i] & DP_CODES_SET))
				elog(ERROR, "bound_state has no codes %d", i);
			return;
		case DP_COLUMN_DISTINCT_CODES:
			if (i < 0 || i >= layout->nvalues || !(layout->codes[i] & DP_CODES_SET))
				elog(ERROR, "bound_state has no distinct codes %d", i);
			return;
		case DP_COLUMN_CUT:
			if (i < 0 || i >= layout->nvalues || !dp_is_sum(layout->sums, i))
				elog(ERROR, "bound_state has no total %d", i);
			return;
	}
}

/* Fails unless a key of this type may be returned as one of that type. */
void
dp_check_row_key(int i, Oid stored, Oid wanted)
{
	if (!OidIsValid(wanted) || (stored != wanted && !IsBinaryCoercible(stored, wanted)))
		elog(ERROR, "key %d of bound_state is of type %s", i, format_type_be(stored));
}

/* Makes layout the state's, which hardly ever differs from the last one's; at first it is zeros. */
void
dp_learn_layout(DpLayout *layout, const DpBoundState *state)
{
	uint64		sums[DP_SUMS_WORDS];

	if (layout->entry_size != 0 && dp_layout_fits(layout, state))
		return;
	dp_state_sums(state, sums);
	dp_layout_init(layout, state->nkeys, state->nvalues, state->by_reference,
				   state->narrow, sums, dp_state_code_specs(state));
}

/* ------------------------------------------------------------------------
 * Sets of them in SQL
 * ------------------------------------------------------------------------
 */

/*
 * How far a function is in the current state.  Not the SRF_ macros' own
 * context: making one for each of millions of units costs more than the rest.
 */
typedef struct Cursor
{
	int			next;
	bool		registered;		/* reset_cursor will be called on rescan */
	Oid			key_type;		/* the stored type that was found to fit */
	DpLayout	layout;			/* of the states seen so far; all are alike */
	DpNorms		norms;			/* of the current one */
} Cursor;

static void
reset_cursor(Datum arg)
{
	Cursor	   *cursor = (Cursor *) DatumGetPointer(arg);

	cursor->next = 0;
	cursor->registered = false;
}

static Cursor *
get_cursor(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Cursor	   *cursor = fcinfo->flinfo->fn_extra;

	if (rsinfo == NULL || !IsA(rsinfo, ReturnSetInfo) ||
		(rsinfo->allowedModes & SFRM_ValuePerCall) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set")));

	if (cursor == NULL)
	{
		cursor = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Cursor));
		fcinfo->flinfo->fn_extra = cursor;
	}
	if (!cursor->registered)
	{
		RegisterExprContextCallback(rsinfo->econtext, reset_cursor, PointerGetDatum(cursor));
		cursor->registered = true;
	}
	return cursor;
}

/* Tells whether value i of states that lie like this is of the spec's kind. */
static bool
value_fits(const DpLayout *layout, const DpBoundSpec *spec, int i)
{
	int			rows = spec->value[i].rows;

	if (dp_value_is_sum(spec, i) != dp_is_sum(layout->sums, i) || dp_spec_codes(spec, i) != layout->codes[i])
		return false;
	return spec->value[i].kind != DP_VALUE_SCALED ||
		(rows >= 0 && rows < spec->nvalues && spec->value[rows].kind == DP_VALUE_ROWS &&
		 !dp_is_sum(layout->sums, rows) && layout->codes[rows] == 0);
}

/* Fails unless the spec is the one by which states that lie like this were made, as far as the column needs it. */
static void
check_spec(const DpLayout *layout, const DpBoundSpec *spec, DpRowColumn column)
{
	bool		same = layout->nkeys == spec->nkeys && layout->nvalues == spec->nvalues;

	if (same && column.kind != DP_COLUMN_BIN)
		same = value_fits(layout, spec, column.i);
	for (int l = 0; same && l < spec->nnorms; l++)
		same = value_fits(layout, spec, dp_spec_norms(spec)[l].value);
	if (!same)
		elog(ERROR, "bound_state was made for another bound_spec");
	if (column.kind == DP_COLUMN_BIN && column.i >= spec->nnorms)
		elog(ERROR, "bound_spec has no norm %d", column.i);
}

/* Returns the column of the state's next group; state is NULL where there is none. */
static Datum
next_of_set(FunctionCallInfo fcinfo, const DpBoundState *state, const DpBoundSpec *spec, DpRowColumn column)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Cursor	   *cursor = get_cursor(fcinfo);

	if (cursor->next == 0 && state != NULL)
	{
		dp_learn_layout(&cursor->layout, state);
		dp_check_row_column(&cursor->layout, column);
		if (spec != NULL)
		{
			check_spec(&cursor->layout, spec, column);
			dp_unit_norms(state, &cursor->layout, spec, &cursor->norms);
		}
		if (column.kind == DP_COLUMN_KEY && unlikely(cursor->key_type != state->key[column.i].type))
		{
			dp_check_row_key(column.i, state->key[column.i].type, get_fn_expr_rettype(fcinfo->flinfo));
			cursor->key_type = state->key[column.i].type;
		}
	}
	if (state == NULL || cursor->next >= dp_state_rows(state, &cursor->layout))
	{
		cursor->next = 0;
		rsinfo->isDone = ExprEndResult;
		PG_RETURN_NULL();
	}
	rsinfo->isDone = ExprMultipleResult;
	return dp_entry_column(state, &cursor->layout, cursor->next++, spec, &cursor->norms, column, &fcinfo->isnull);
}

/*
 * bound_key(i, bound_state, NULL::type) -> SETOF type returns keys i, counted from
 * 0.  The third argument tells the type and is always NULL, so the function is
 * not strict.  Results point into the state.
 */
Datum
dp_bound_key(PG_FUNCTION_ARGS)
{
	DpRowColumn column = {DP_COLUMN_KEY, PG_ARGISNULL(0) ? -1 : PG_GETARG_INT32(0)};

	return next_of_set(fcinfo, PG_ARGISNULL(1) ? NULL : (const DpBoundState *) PG_GETARG_POINTER(1), NULL, column);
}

/* bound_value(i, bound_state, bound_spec) -> SETOF bigint returns values i, clamped, in steps.  Strict. */
Datum
dp_bound_value(PG_FUNCTION_ARGS)
{
	DpRowColumn column = {DP_COLUMN_VALUE, PG_GETARG_INT32(0)};

	return next_of_set(fcinfo, (const DpBoundState *) PG_GETARG_POINTER(1),
					   (const DpBoundSpec *) PG_GETARG_POINTER(2), column);
}

/* bound_codes(i, bound_state, bound_spec) -> SETOF integer[] returns the codes i of each group.  Strict. */
Datum
dp_bound_codes(PG_FUNCTION_ARGS)
{
	DpRowColumn column = {DP_COLUMN_CODES, PG_GETARG_INT32(0)};

	return next_of_set(fcinfo, (const DpBoundState *) PG_GETARG_POINTER(1),
					   (const DpBoundSpec *) PG_GETARG_POINTER(2), column);
}

/* bound_distinct_codes(i, bound_state, bound_spec) -> SETOF bigint[] returns the codes of the set i of each group.  Strict. */
Datum
dp_bound_distinct_codes(PG_FUNCTION_ARGS)
{
	DpRowColumn column = {DP_COLUMN_DISTINCT_CODES, PG_GETARG_INT32(0)};

	return next_of_set(fcinfo, (const DpBoundState *) PG_GETARG_POINTER(1),
					   (const DpBoundSpec *) PG_GETARG_POINTER(2), column);
}

/* bound_cut(i, bound_state, bound_spec) -> SETOF integer[] returns where the totals i are, of each group.  Strict. */
Datum
dp_bound_cut(PG_FUNCTION_ARGS)
{
	DpRowColumn column = {DP_COLUMN_CUT, PG_GETARG_INT32(0)};

	return next_of_set(fcinfo, (const DpBoundState *) PG_GETARG_POINTER(1),
					   (const DpBoundSpec *) PG_GETARG_POINTER(2), column);
}

/* bound_share(i, bound_state, bound_spec) -> SETOF bigint returns the shares of values i in their norm.  Strict. */
Datum
dp_bound_share(PG_FUNCTION_ARGS)
{
	DpRowColumn column = {DP_COLUMN_SHARE, PG_GETARG_INT32(0)};

	return next_of_set(fcinfo, (const DpBoundState *) PG_GETARG_POINTER(1),
					   (const DpBoundSpec *) PG_GETARG_POINTER(2), column);
}

/* bound_bin(i, bound_state, bound_spec) -> SETOF bigint returns the bin of norm i, in each group.  Strict. */
Datum
dp_bound_bin(PG_FUNCTION_ARGS)
{
	DpRowColumn column = {DP_COLUMN_BIN, PG_GETARG_INT32(0)};

	return next_of_set(fcinfo, (const DpBoundState *) PG_GETARG_POINTER(1),
					   (const DpBoundSpec *) PG_GETARG_POINTER(2), column);
}

/* bound_first(i, bound_state) -> SETOF bigint returns 1, and 0 in each further group, for whoever counts units by bins of norm i.  Strict. */
Datum
dp_bound_first(PG_FUNCTION_ARGS)
{
	DpRowColumn column = {DP_COLUMN_FIRST, PG_GETARG_INT32(0)};

	return next_of_set(fcinfo, (const DpBoundState *) PG_GETARG_POINTER(1), NULL, column);
}
