/*-------------------------------------------------------------------------
 *
 * bound_entry.c
 *	  The groups a unit kept, one by one, and sums over them.
 *
 * Invariant: this is where a unit's values are clamped, to the bounds of the
 * spec's grids, and they come out of bound_entries in no other way.  At most
 * max_groups entries per state, no two with equal keys.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "agg/grid.h"
#include "agg/state.h"
#include "compat.h"

PG_FUNCTION_INFO_V1(dp_bound_entries);
PG_FUNCTION_INFO_V1(dp_entry_key);
PG_FUNCTION_INFO_V1(dp_entry_sum);
PG_FUNCTION_INFO_V1(dp_entry_value);

/*
 * How far bound_entries is in the current state.  Not the SRF_ macros' own
 * context: making one for each of millions of units costs more than the rest.
 */
typedef struct Cursor
{
	int			next;
	bool		registered;		/* reset_cursor will be called on rescan */
	bool		has_layout;
	DpLayout	layout;			/* of the states seen so far; all are alike */
} Cursor;

/* what entry_key was told about its result */
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

static inline uint64 *
entry_slots(const DpBoundEntry *entry)
{
	return (uint64 *) &entry->value[entry->nvalues];
}

static inline Oid *
entry_types(const DpBoundEntry *entry)
{
	return (Oid *) (entry_slots(entry) + entry->nkeys);
}

static int64
clamped_value(const char *value, DpValueKind kind, const DpGrid *grid)
{
	uint32		count;

	if (kind == DP_VALUE_SUM)
	{
		const DpExactSum *sum = (const DpExactSum *) value;

		return dp_sum_is_none(sum) ? 0 : dp_clamp_wide(dp_exact_sum_get(sum), grid);
	}
	count = *(const uint32 *) value;
	if (kind == DP_VALUE_UNITS)
		return count > 0 ? 1 : 0;
	return Min((int64) count, Max(grid->upper, 0));
}

/* the bytes of a key; 0 when it is by value, or NULL */
static inline uint32
key_length(const DpLayout *layout, const char *from, int i)
{
	return layout->by_reference & (1 << i) ? DP_SLOT_LEN(dp_entry_word(layout, from, i)) : 0;
}

/* entry n of a state */
static DpBoundEntry *
make_entry(const DpBoundState *state, int n, const DpBoundSpec *spec, const DpLayout *layout)
{
	const char *from = dp_state_entries(state) + (Size) n * state->entry_size;
	Size		types = MAXALIGN(sizeof(Oid) * layout->nkeys);
	Size		fixed = offsetof(DpBoundEntry, value) +
	sizeof(int64) * (layout->nvalues + layout->nkeys) + types;
	Size		size = fixed;
	DpBoundEntry *entry;

	for (int i = 0; i < layout->nkeys; i++)
		size += MAXALIGN(key_length(layout, from, i));

	entry = palloc(size);
	SET_VARSIZE(entry, size);
	entry->null_keys = dp_rank(from) & DP_RANK_NULLS;
	entry->nkeys = layout->nkeys;
	entry->nvalues = layout->nvalues;

	for (int i = 0; i < layout->nvalues; i++)
		entry->value[i] = clamped_value(from + layout->value[i], spec->value[i].kind,
										&spec->value[i].grid);

	memset(entry_types(entry), 0, types);
	size = fixed;
	for (int i = 0; i < layout->nkeys; i++)
	{
		uint64		word = dp_entry_word(layout, from, i);
		uint32		len = key_length(layout, from, i);

		entry_types(entry)[i] = state->key[i].type;
		if (len == 0)
			entry_slots(entry)[i] = word;
		else
		{
			memcpy((char *) entry + size, (const char *) state + DP_SLOT_OFFSET(word), len);
			memset((char *) entry + size + len, 0, MAXALIGN(len) - len);
			entry_slots(entry)[i] = DP_SLOT(size, len);
			size += MAXALIGN(len);
		}
	}
	return entry;
}

/* the state was gathered for this spec, or one of the same shape */
static void
check_spec(const DpBoundState *state, const DpBoundSpec *spec)
{
	uint64		sums = 0;

	for (int i = 0; i < spec->nvalues && i < DP_MAX_VALUES; i++)
		if (spec->value[i].kind == DP_VALUE_SUM)
			sums |= UINT64CONST(1) << i;
	if (state->nkeys != spec->nkeys || state->nvalues != spec->nvalues || state->sums != sums)
		elog(ERROR, "bound_state was made for another bound_spec");
}

/*
 * bound_entries(bound_state, bound_spec) -> SETOF bound_entry: the kept
 * groups in no order that means anything, values clamped.  Strict.
 */
Datum
dp_bound_entries(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	const DpBoundState *state = (const DpBoundState *) PG_GETARG_POINTER(0);
	const DpBoundSpec *spec = (const DpBoundSpec *) PG_GETARG_POINTER(1);
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
	if (cursor->next == 0)
	{
		check_spec(state, spec);
		if (!cursor->has_layout ||
			cursor->layout.nkeys != state->nkeys || cursor->layout.nvalues != state->nvalues ||
			cursor->layout.by_reference != state->by_reference ||
			cursor->layout.narrow != state->narrow || cursor->layout.sums != state->sums)
			dp_layout_init(&cursor->layout, state->nkeys, state->nvalues,
						   state->by_reference, state->narrow, state->sums);
		cursor->has_layout = true;
	}

	if (cursor->next >= state->nentries)
	{
		cursor->next = 0;
		rsinfo->isDone = ExprEndResult;
		PG_RETURN_NULL();
	}

	rsinfo->isDone = ExprMultipleResult;
	PG_RETURN_POINTER(make_entry(state, cursor->next++, spec, &cursor->layout));
}

static const DpBoundEntry *
entry_argument(FunctionCallInfo fcinfo, int argno)
{
	return (const DpBoundEntry *) PG_GETARG_POINTER(argno);
}

/*
 * entry_key(bound_entry, i, NULL::type) -> key i, counted from 0.  The third
 * argument tells the type and is always NULL, so the function is not strict.
 * The result points into the entry.
 */
Datum
dp_entry_key(PG_FUNCTION_ARGS)
{
	const DpBoundEntry *entry;
	KeyResult  *result = fcinfo->flinfo->fn_extra;
	int			i;
	uint64		slot;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	entry = entry_argument(fcinfo, 0);
	i = PG_GETARG_INT32(1);
	if (i < 0 || i >= entry->nkeys)
		elog(ERROR, "bound_entry has no key %d", i);

	if (unlikely(result == NULL || result->type != entry_types(entry)[i]))
	{
		Oid			stored = entry_types(entry)[i];
		Oid			wanted = get_fn_expr_rettype(fcinfo->flinfo);

		if (!OidIsValid(wanted) || (stored != wanted && !IsBinaryCoercible(stored, wanted)))
			elog(ERROR, "key %d of bound_entry is of type %s", i, format_type_be(stored));
		if (result == NULL)
			result = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(KeyResult));
		result->type = stored;
		result->typbyval = get_typbyval(stored);
		fcinfo->flinfo->fn_extra = result;
	}

	if (entry->null_keys & (1 << i))
		PG_RETURN_NULL();
	slot = entry_slots(entry)[i];
	if (result->typbyval)
		PG_RETURN_DATUM((Datum) slot);
	PG_RETURN_POINTER((const char *) entry + DP_SLOT_OFFSET(slot));
}

static int64
entry_value(FunctionCallInfo fcinfo, int argno)
{
	const DpBoundEntry *entry = entry_argument(fcinfo, argno);
	int			i = PG_GETARG_INT32(argno + 1);

	if (unlikely(i < 0 || i >= entry->nvalues))
		elog(ERROR, "bound_entry has no value %d", i);
	return entry->value[i];
}

/* entry_sum's transition: (exact_sum, bound_entry, i) */
Datum
dp_entry_sum(PG_FUNCTION_ARGS)
{
	DpExactSum *sum = dp_state_in_place(fcinfo);

	dp_exact_sum_set(sum, dp_exact_sum_get(sum) + entry_value(fcinfo, 1));
	PG_RETURN_POINTER(sum);
}

/* for the owner's inspection: a single unit's clamped value */
Datum
dp_entry_value(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(entry_value(fcinfo, 0));
}
