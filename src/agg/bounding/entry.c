/*-------------------------------------------------------------------------
 *
 * entry.c
 *	  The groups a unit kept, one by one, and sums over them.
 *
 * Invariants: this is where a unit's values are clamped, to the bounds of the
 * spec's grids, and they come out of bound_entries in no other way.  At most
 * max_groups entries per state, no two with equal keys.  Codes come out as
 * they are, at most as many as the spec's grid allows (see codes.c).
 *
 * Scaling.  A unit of n > m rows in a group counts as m rows: its count is m,
 * and its sum S of centered values becomes S m / n, rounded toward zero.
 * As |S| <= n (in units of DP_CENTERED_ONE), that is at most m, and |S| <= m
 * without scaling otherwise: what the grid's bounds, +-m, would clamp is
 * nothing, but they and not this argument are what sensitivity rests on.
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
#include "utils/lsyscache.h"

#include "agg/bounding/state.h"
#include "agg/exact/grid.h"
#include "base/compat.h"

PG_FUNCTION_INFO_V1(dp_bound_entries);
PG_FUNCTION_INFO_V1(dp_entry_key);
PG_FUNCTION_INFO_V1(dp_entry_sum);
PG_FUNCTION_INFO_V1(dp_entry_value);
PG_FUNCTION_INFO_V1(dp_entry_code_array);

/*
 * How far bound_entries is in the current state.  Not the SRF_ macros' own
 * context: making one for each of millions of units costs more than the rest.
 */
typedef struct Cursor
{
	int			next;
	Size		at;				/* group sums: where the next one is */
	bool		registered;		/* reset_cursor will be called on rescan */
	bool		has_layout;
	DpLayout	layout;			/* the layout of the states seen so far; all
								 * are alike */
} Cursor;

/* the type of a result of entry_key */
typedef struct KeyResult
{
	Oid			type;			/* the stored type that was found to fit */
	bool		typbyval;
} KeyResult;

static void
reset_cursor(Datum arg)
{
	Cursor	   *cursor = (Cursor *) DatumGetPointer(arg);

	cursor->next = 0;
	cursor->registered = false;
}

/* Returns the code specs, which lie behind the types, of a group that has codes. */
static inline DpCodeSpec *
unit_group_code_specs(const DpUnitGroup *group)
{
	return (DpCodeSpec *) ((char *) dp_unit_group_types(group) + MAXALIGN(sizeof(Oid) * group->nkeys));
}

/* Returns how value i is kept as codes; 0 when it is not. */
static inline DpCodeSpec
group_codes_of(const DpUnitGroup *group, int i)
{
	return likely(!group->has_codes) ? 0 : unit_group_code_specs(group)[i];
}

/* Returns the sum of n rows, scaled to that of at most "most". */
static int64
scaled_value(const DpExactSum *sum, int64 n, int64 most, const DpGrid *grid)
{
	dp_i128		limit = (dp_i128) n * DP_CENTERED_ONE;
	dp_i128		scaled = dp_exact_sum_get(sum);

	/* rows that were not counted, or not centered, cannot make it more */
	scaled = Min(Max(scaled, -limit), limit);
	if (n > most)
		scaled = scaled * most / n;
	return dp_clamp_wide(scaled, grid);
}

static int64
clamped_value(const DpLayout *layout, const char *from, const DpBoundSpec *spec, int i)
{
	const char *value = from + layout->value[i];
	const DpGrid *grid = &spec->value[i].grid;
	DpValueKind kind = spec->value[i].kind;
	uint32		count;

	if (kind == DP_VALUE_SUM || kind == DP_VALUE_SCALED)
	{
		const DpExactSum *sum = (const DpExactSum *) value;
		int			rows = spec->value[i].rows;

		if (dp_sum_is_none(sum))
			return 0;
		if (likely(kind == DP_VALUE_SUM))
			return dp_clamp_wide(dp_exact_sum_get(sum), grid);
		return scaled_value(sum, *(const uint32 *) (from + layout->value[rows]),
							Max(spec->value[rows].grid.upper, 0), grid);
	}
	count = *(const uint32 *) value;
	if (kind == DP_VALUE_UNITS)
		return count > 0 ? 1 : 0;
	return Min((int64) count, Max(grid->upper, 0));
}

/* Returns the bytes of a key; 0 when it is by value, or NULL. */
static inline uint32
key_length(const DpLayout *layout, const char *from, int i)
{
	return layout->by_reference & (1 << i) ? DP_KEYREF_LEN(dp_entry_word(layout, from, i)) : 0;
}

/* Returns the bytes of an entry's codes; 0 when value i has none. */
static inline uint32
codes_length(const DpLayout *layout, const char *from, int i)
{
	DpCodeSpec	code_spec = layout->codes[i];

	if (code_spec == 0)
		return 0;
	return dp_codes_count(from + layout->value[i], code_spec) *
		(code_spec & DP_CODES_SET ? sizeof(int64) : sizeof(int32));
}

/* Sets values to the clamped values of the entry at "from" of a state without codes. */
void
dp_bound_values(const char *from, const DpBoundSpec *spec, const DpLayout *layout, int64 *values)
{
	for (int i = 0; i < layout->nvalues; i++)
		values[i] = clamped_value(layout, from, spec, i);
}

/* Makes a group of a state's entry n. */
DpUnitGroup *
dp_bound_entry(const DpBoundState *state, int n, const DpBoundSpec *spec, const DpLayout *layout)
{
	const char *from = dp_state_entries(state) + n * dp_entry_size(state);
	Size		types = MAXALIGN(sizeof(Oid) * layout->nkeys);
	Size		specs = layout->has_codes ? MAXALIGN(sizeof(DpCodeSpec) * layout->nvalues) : 0;
	Size		fixed = dp_entry_fixed_size(layout) + specs;
	Size		size = fixed;
	DpUnitGroup *group;

	for (int i = 0; i < layout->nkeys; i++)
		size += MAXALIGN(key_length(layout, from, i));
	for (int i = 0; specs > 0 && i < layout->nvalues; i++)
		size += MAXALIGN(codes_length(layout, from, i));

	group = palloc(size);
	SET_VARSIZE(group, size);
	group->null_keys = dp_rank(from) & DP_RANK_NULLS;
	group->nkeys = layout->nkeys;
	group->nvalues = layout->nvalues;
	group->has_codes = layout->has_codes;

	for (int i = 0; i < layout->nvalues; i++)
		if (likely(layout->codes[i] == 0))
			group->value[i] = clamped_value(layout, from, spec, i);

	memset(dp_unit_group_types(group), 0, types + specs);
	size = fixed;
	for (int i = 0; i < layout->nkeys; i++)
	{
		uint64		word = dp_entry_word(layout, from, i);
		uint32		len = key_length(layout, from, i);

		dp_unit_group_types(group)[i] = state->key[i].type;
		if (len == 0)
			dp_unit_group_words(group)[i] = word;
		else
		{
			memcpy((char *) group + size, (const char *) state + DP_KEYREF_OFFSET(word), len);
			memset((char *) group + size + len, 0, MAXALIGN(len) - len);
			dp_unit_group_words(group)[i] = DP_KEYREF(size, len);
			size += MAXALIGN(len);
		}
	}

	for (int i = 0; specs > 0 && i < layout->nvalues; i++)
	{
		uint32		len = codes_length(layout, from, i);

		unit_group_code_specs(group)[i] = layout->codes[i];
		if (layout->codes[i] == 0)
			continue;
		memset((char *) group + size, 0, MAXALIGN(len));
		dp_codes_read(state, from, layout->value[i], layout->codes[i], (char *) group + size);
		group->value[i] = DP_KEYREF(size, len);
		size += MAXALIGN(len);
	}
	return group;
}

/* Fails unless the state was gathered for this spec, or one of the same shape. */
void
dp_bound_check_spec(const DpBoundState *state, const DpBoundSpec *spec)
{
	const DpCodeSpec *codes = dp_state_code_specs(state);
	uint64		sums = 0;
	bool		same = state->nkeys == spec->nkeys && state->nvalues == spec->nvalues;

	for (int i = 0; same && i < spec->nvalues; i++)
	{
		int			kind = spec->value[i].kind;

		if (kind == DP_VALUE_SUM || kind == DP_VALUE_SCALED)
			sums |= UINT64CONST(1) << i;
		same = (codes ? codes[i] : 0) == dp_spec_codes(spec, i);
		if (kind == DP_VALUE_SCALED)
		{
			int			rows = spec->value[i].rows;

			same = same && rows >= 0 && rows < spec->nvalues &&
				spec->value[rows].kind == DP_VALUE_ROWS;
		}
	}
	if (!same || state->sums != sums)
		elog(ERROR, "bound_state was made for another bound_spec");
}

/* Makes cursor->layout the state's, which hardly ever differs from the last one's. */
static inline void
learn_layout(Cursor *cursor, const DpBoundState *state)
{
	if (cursor->has_layout && dp_layout_fits(&cursor->layout, state))
		return;
	dp_layout_init(&cursor->layout, state->nkeys, state->nvalues, state->by_reference,
				   state->narrow, state->sums, dp_state_code_specs(state));
	cursor->has_layout = true;
}

/*
 * bound_entries(bound_state, bound_spec) -> SETOF bound_entry returns the kept
 * groups in no order that means anything, values clamped.  Strict.
 */
Datum
dp_bound_entries(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	const DpBoundState *state = (const DpBoundState *) PG_GETARG_POINTER(0);
	const DpBoundSpec *spec = (const DpBoundSpec *) PG_GETARG_POINTER(1);
	Cursor	   *cursor = fcinfo->flinfo->fn_extra;
	const DpUnitGroup *group;

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
	if (cursor->next == 0)
	{
		dp_bound_check_spec(state, spec);
		cursor->at = DP_GROUP_SUMS_HEADER;
	}
	if (cursor->next >= state->nentries)
	{
		cursor->next = 0;
		rsinfo->isDone = ExprEndResult;
		PG_RETURN_NULL();
	}

	rsinfo->isDone = ExprMultipleResult;
	if (state->group_sums)
	{
		group = (const DpUnitGroup *) ((const char *) state + cursor->at);
		cursor->at += MAXALIGN(VARSIZE(group));
		cursor->next++;
		PG_RETURN_POINTER(group);
	}
	if (cursor->next == 0)
		learn_layout(cursor, state);
	PG_RETURN_POINTER(dp_bound_entry(state, cursor->next++, spec, &cursor->layout));
}

static const DpUnitGroup *
group_argument(FunctionCallInfo fcinfo, int argno)
{
	return (const DpUnitGroup *) PG_GETARG_POINTER(argno);
}

/*
 * entry_key(bound_entry, i, NULL::type) returns key i, counted from 0.  The
 * third argument tells the type and is always NULL, so the function is not
 * strict.  The result points into the group.
 */
Datum
dp_entry_key(PG_FUNCTION_ARGS)
{
	const DpUnitGroup *group;
	KeyResult  *result = fcinfo->flinfo->fn_extra;
	int			i;
	uint64		word;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	group = group_argument(fcinfo, 0);
	i = PG_GETARG_INT32(1);
	if (i < 0 || i >= group->nkeys)
		elog(ERROR, "bound_entry has no key %d", i);

	if (unlikely(result == NULL || result->type != dp_unit_group_types(group)[i]))
	{
		Oid			stored = dp_unit_group_types(group)[i];
		Oid			wanted = get_fn_expr_rettype(fcinfo->flinfo);

		if (!OidIsValid(wanted) || (stored != wanted && !IsBinaryCoercible(stored, wanted)))
			elog(ERROR, "key %d of bound_entry is of type %s", i, format_type_be(stored));
		if (result == NULL)
			result = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(KeyResult));
		result->type = stored;
		result->typbyval = get_typbyval(stored);
		fcinfo->flinfo->fn_extra = result;
	}

	if (group->null_keys & (1 << i))
		PG_RETURN_NULL();
	word = dp_unit_group_words(group)[i];
	if (result->typbyval)
		PG_RETURN_DATUM((Datum) word);
	PG_RETURN_POINTER((const char *) group + DP_KEYREF_OFFSET(word));
}

static int64
entry_value(FunctionCallInfo fcinfo, int argno)
{
	const DpUnitGroup *group = group_argument(fcinfo, argno);
	int			i = PG_GETARG_INT32(argno + 1);

	if (unlikely(i < 0 || i >= group->nvalues || group_codes_of(group, i) != 0))
		elog(ERROR, "bound_entry has no value %d", i);
	return group->value[i];
}

static const void *
entry_codes(const DpUnitGroup *group, int i, DpCodeSpec kind, Size width, int *n)
{
	DpCodeSpec	code_spec = i < 0 || i >= group->nvalues ? 0 : group_codes_of(group, i);

	if (code_spec == 0 || (code_spec & DP_CODES_SET) != kind)
		elog(ERROR, "bound_entry has no codes %d", i);
	*n = DP_KEYREF_LEN(group->value[i]) / width;
	return (const char *) group + DP_KEYREF_OFFSET(group->value[i]);
}

const int32 *
dp_entry_codes(const DpUnitGroup *group, int i, int *n)
{
	return entry_codes(group, i, 0, sizeof(int32), n);
}

const int64 *
dp_entry_distinct_codes(const DpUnitGroup *group, int i, int *n)
{
	return entry_codes(group, i, DP_CODES_SET, sizeof(int64), n);
}

/* The transition of entry_sum: (exact_sum, bound_entry, i). */
Datum
dp_entry_sum(PG_FUNCTION_ARGS)
{
	DpExactSum *sum = dp_state_in_place(fcinfo);

	dp_exact_sum_set(sum, dp_exact_sum_get(sum) + entry_value(fcinfo, 1));
	PG_RETURN_POINTER(sum);
}

/* entry_value(bound_entry, i) returns a single unit's clamped value, for the owner's inspection. */
Datum
dp_entry_value(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(entry_value(fcinfo, 0));
}

/* entry_code_array(bound_entry, i) returns a single unit's codes, for the owner's inspection. */
Datum
dp_entry_code_array(PG_FUNCTION_ARGS)
{
	const DpUnitGroup *group = group_argument(fcinfo, 0);
	int			i = PG_GETARG_INT32(1);
	const void *codes;
	Datum	   *result;
	bool		is_set = i >= 0 && i < group->nvalues && (group_codes_of(group, i) & DP_CODES_SET);
	int			n;

	if (is_set)
		codes = dp_entry_distinct_codes(group, i, &n);
	else
		codes = dp_entry_codes(group, i, &n);
	result = palloc(sizeof(Datum) * Max(n, 1));
	for (int k = 0; k < n; k++)
		result[k] = Int64GetDatum(is_set ? ((const int64 *) codes)[k] : ((const int32 *) codes)[k]);
	PG_RETURN_ARRAYTYPE_P(construct_array(result, n, INT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
