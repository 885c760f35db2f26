/*-------------------------------------------------------------------------
 *
 * unit.c
 *	  Aggregate bound_unit: what one privacy unit contributes, bounded.
 *
 * Invariants:
 *	- the state is a function of the multiset of the unit's rows, the unit and
 *	  the spec; no other unit's rows and no order of rows enters, provided that
 *	  what the rows hold has none in it: guard/inner_query.c says why.  So the set
 *	  of kept groups of one unit says nothing about another's, and adding or
 *	  removing a unit changes the released vector by that unit's at most
 *	  max_groups entries alone;
 *	- a row's rank is a hash keyed by the spec's seed, drawn afresh for every
 *	  execution, and by the unit.  Privacy does not depend on it (any function
 *	  of the unit's own rows would do); it makes the choice of groups unbiased
 *	  and independent from unit to unit;
 *	- rows whose keys are too long for a state are left out; see state.c;
 *	- a row's value is clamped to the bounds of a row, which is a function of
 *	  that row alone; what is gathered of the rows is not (a count saturates),
 *	  but by bound_value: clamping partial sums would depend on the order of rows.
 *
 * The transition function runs once per row: no allocation, except when the
 * state grows or a key's type allocates in its own functions.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "agg/bounding/row.h"
#include "base/compat.h"
#include "base/errors.h"

PG_FUNCTION_INFO_V1(dp_bound_unit);
PG_FUNCTION_INFO_V1(dp_bound_combine);

/* the aggregate's arguments, looked up once per execution */
typedef struct BoundCall
{
	int			first_key;		/* argument number; the unit, if given, is
								 * before it */
	bool		has_unit;
	DpKeyInfo	unit;
	Oid			input[DP_MAX_VALUES];	/* base type of the argument; bool: a
										 * count; InvalidOid: codes */
	Size		key_bytes;		/* that a row's keys may take */
	DpShape		shape;
} BoundCall;

/*
 * Returns the collation of an argument. fcinfo has only one for all arguments
 * together, none when they differ; the calling Aggref still has each.
 */
static Oid
argument_collation(FunctionCallInfo fcinfo, int argno)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);

	/* argument 0 is the state */
	if (aggref != NULL && list_length(aggref->args) >= argno)
	{
		TargetEntry *tle = list_nth_node(TargetEntry, aggref->args, argno - 1);

		return exprCollation((Node *) tle->expr);
	}
	return PG_GET_COLLATION();
}

void
dp_refuse_key_type(Oid type)
{
	dp_raise(NOT_RELEASABLE,
			 errmsg("cannot group by values of type %s: the type has no hash function; cast them to text or numeric",
					format_type_be(type)));
}

static void
key_argument(FunctionCallInfo fcinfo, int argno, DpKeyInfo *info)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, argno);

	if (!OidIsValid(type) ||
		!dp_key_info_init(info, type, argument_collation(fcinfo, argno), fcinfo->flinfo->fn_mcxt))
		dp_refuse_key_type(type);
}

/* Returns how value i is kept as codes; 0 when it is not. */
DpCodeSpec
dp_spec_codes(const DpBoundSpec *spec, int i)
{
	int64		most = spec->value[i].grid.upper;

	if (likely(spec->value[i].kind != DP_VALUE_CODES && spec->value[i].kind != DP_VALUE_DISTINCT))
		return 0;
	if (most < 1 || most > DP_MAX_CODES)
		elog(ERROR, "bound_spec wants " INT64_FORMAT " codes", most);
	if (spec->value[i].kind != DP_VALUE_DISTINCT)
		return most;
	return most | DP_CODES_SET | (spec->value[i].norm >= 0 ? DP_CODES_APART : 0);
}

/* Tells whether value i can be of this type, or of a domain over it. */
bool
dp_unit_takes(const DpBoundSpec *spec, int i, Oid type)
{
	Oid			base = getBaseType(type);

	switch ((DpValueKind) spec->value[i].kind)
	{
		case DP_VALUE_COUNT:
		case DP_VALUE_UNITS:
		case DP_VALUE_ROWS:
			return base == BOOLOID;
		case DP_VALUE_SUM:
		case DP_VALUE_CUT:
			return base == INT2OID || base == INT4OID || base == INT8OID ||
				base == FLOAT4OID || base == FLOAT8OID || base == NUMERICOID;
		case DP_VALUE_SCALED:
			return base == INT4OID && spec->value[i].grid.exponent == 0;
		case DP_VALUE_CODES:
			return base == INT4OID;
		case DP_VALUE_DISTINCT:
			return base == INT8OID;
	}
	return false;
}

void
dp_unit_shape(DpShape *shape, const DpBoundSpec *spec)
{
	uint64		sums[DP_SUMS_WORDS] = {0};
	DpCodeSpec	codes[DP_MAX_VALUES] = {0};

	for (int i = 0; i < spec->nvalues; i++)
	{
		codes[i] = dp_spec_codes(spec, i);
		if (dp_value_is_sum(spec, i))
			dp_set_sum(sums, i);
	}
	dp_shape_init(shape, spec->nkeys, spec->nvalues, sums, codes);
}

void
dp_check_bound_call(const DpBoundSpec *spec, int narguments)
{
	if (spec->nkeys < 0 || spec->nkeys > DP_MAX_KEYS ||
		spec->nvalues < 0 || spec->nvalues > DP_MAX_VALUES || spec->max_groups < 1 ||
		spec->nnorms < 0 || spec->nnorms > DP_MAX_VALUES ||
		VARSIZE(spec) < offsetof(DpBoundSpec, value) + spec->nvalues * sizeof(spec->value[0]) + spec->nnorms * sizeof(DpNormSpec))
		elog(ERROR, "invalid bound_spec");
	if (narguments != spec->nkeys + spec->nvalues &&
		narguments != 1 + spec->nkeys + spec->nvalues)
		elog(ERROR, "bound_unit takes %d keys and %d values", spec->nkeys, spec->nvalues);
}

static BoundCall *
bound_call_init(FunctionCallInfo fcinfo, const DpBoundSpec *spec)
{
	BoundCall  *call;
	int			narguments = PG_NARGS() - 2;

	dp_check_bound_call(spec, narguments);
	call = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(BoundCall));
	call->has_unit = narguments > spec->nkeys + spec->nvalues;
	call->first_key = call->has_unit ? 3 : 2;

	if (call->has_unit)
		key_argument(fcinfo, 2, &call->unit);
	for (int i = 0; i < spec->nkeys; i++)
		key_argument(fcinfo, call->first_key + i, &call->shape.key[i]);

	for (int i = 0; i < spec->nvalues; i++)
	{
		Oid			type = get_fn_expr_argtype(fcinfo->flinfo, call->first_key + spec->nkeys + i);

		if (!dp_unit_takes(spec, i, type))
			elog(ERROR, "bound_unit cannot take value %d from type %s", i, format_type_be(type));
		call->input[i] = dp_spec_codes(spec, i) != 0 ? InvalidOid : getBaseType(type);
	}
	dp_unit_shape(&call->shape, spec);
	call->key_bytes = dp_key_bytes_limit(spec->max_groups);
	fcinfo->flinfo->fn_extra = call;
	return call;
}

/* Makes the state of a unit; not inline, as it is called once per unit. */
static pg_noinline DpBoundState *
new_state(FunctionCallInfo fcinfo, BoundCall *call, const DpBoundSpec *spec)
{
	uint64		salt = DP_NO_UNIT;

	if (call->has_unit && !PG_ARGISNULL(2))
	{
		DpKey		unit;

		salt = dp_key_hash(&call->unit, PG_GETARG_DATUM(2), &unit, spec->seed[1]);
	}
	return dp_bound_state_new(&call->shape, spec->max_groups, dp_unit_salt(dp_unit_hash(salt, spec), spec));
}

void
dp_bound_spec_missing(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("dp_cdp_internal.bound_unit needs a bound_spec: only queries of the extension itself can make one")));
}

/*
 * The transition of bound_unit: (state, spec, [unit,] keys ..., values ...).
 * Not strict, as keys may be NULL; a NULL key is a key of its own, NULL values
 * contribute nothing.
 */
Datum
dp_bound_unit(PG_FUNCTION_ARGS)
{
	DpBoundState *state = dp_state_in_place(fcinfo);
	const DpBoundSpec *spec = (const DpBoundSpec *) PG_GETARG_POINTER(1);
	BoundCall  *call = fcinfo->flinfo->fn_extra;
	DpKey		keys[DP_MAX_KEYS];
	const DpLayout *layout;
	NullableDatum *arg;
	uint64		rank;
	char	   *entry;

	/* most of the time goes into waiting for the state */
	__builtin_prefetch((char *) state + 64);
	if (unlikely(PG_ARGISNULL(1)))
		dp_bound_spec_missing();
	if (unlikely(call == NULL))
		call = bound_call_init(fcinfo, spec);
	layout = &call->shape.layout;
	if (unlikely(spec->nkeys != layout->nkeys || spec->nvalues != layout->nvalues))
		elog(ERROR, "bound_spec changed during execution");
	if (PG_ARGISNULL(0))
		state = new_state(fcinfo, call, spec);

	arg = &fcinfo->args[call->first_key];
	if (!dp_rank_keys(&call->shape, arg, state->salt, call->key_bytes, spec->seed[1], keys, &rank))
		PG_RETURN_POINTER(state);
	arg += layout->nkeys;

	entry = dp_bound_state_entry(&state, &call->shape, rank, keys);
	if (entry == NULL)
		PG_RETURN_POINTER(state);

	for (int i = 0; i < layout->nvalues; i++, arg++)
	{
		int64		n;

		if (arg->isnull)
			continue;
		if (call->input[i] == BOOLOID)
			dp_add_to_count(entry + layout->value[i], DatumGetBool(arg->value) ? 1 : 0);
		else if (unlikely(call->input[i] == InvalidOid))
			dp_codes_add(state, entry, layout->value[i], layout->codes[i],
						 layout->codes[i] & DP_CODES_SET ? DatumGetInt64(arg->value)
						 : DatumGetInt32(arg->value));
		else if (dp_row_steps(call->input[i], arg->value, &spec->value[i].grid, &spec->value[i].row, &n))
			dp_add_to_sum(entry + layout->value[i], n);
	}
	PG_RETURN_POINTER(state);
}

/* Tells whether both states have this shape, and belong to one unit. */
static bool
same_unit(const DpShape *shape, const DpBoundState *a, const DpBoundState *b)
{
	if (!dp_layout_fits(&shape->layout, a) || !dp_layout_fits(&shape->layout, b))
		return false;
	for (int i = 0; i < a->nkeys; i++)
		if (shape->key[i].type != a->key[i].type)
			return false;
	return a->max_groups == b->max_groups && a->salt == b->salt &&
		memcmp(a->key, b->key, a->nkeys * sizeof(DpKeyType)) == 0;
}

void
dp_bound_merge(DpBoundState **pstate, const DpBoundState *other, DpShape *shape)
{
	const DpLayout *layout = &shape->layout;
	DpKey		keys[DP_MAX_KEYS];

	if (!same_unit(shape, *pstate, other))
		elog(ERROR, "partial states of different units cannot be combined");

	for (int n = 0; n < other->nentries; n++)
	{
		const char *from = dp_state_entries(other) + n * dp_entry_size(other);
		uint64		rank = dp_bound_state_load(other, n, shape, keys);
		char	   *to = dp_bound_state_entry(pstate, shape, rank, keys);

		if (to == NULL)
			break;				/* the next ones are larger still */

		dp_merge_values(layout, to, from);
		if ((n & 0xFF) == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Merges the second state into the first: union, equal keys' partials added,
 * the smallest max_groups kept.  Strict: the executor takes the first partial
 * state as it is.
 */
Datum
dp_bound_combine(PG_FUNCTION_ARGS)
{
	DpBoundState *state = dp_state_in_place(fcinfo);
	const DpBoundState *other = (const DpBoundState *) PG_GETARG_POINTER(1);

	if (fcinfo->flinfo->fn_extra == NULL)
		fcinfo->flinfo->fn_extra = dp_shape_of(state, fcinfo->flinfo->fn_mcxt);
	dp_bound_merge(&state, other, fcinfo->flinfo->fn_extra);
	PG_RETURN_POINTER(state);
}

/* Tells whether value i has the bounds that its kind allows and, if SCALED, a count of its rows. */
static bool
spec_value_is_valid(const DpBoundSpec *spec, int i)
{
	const DpGrid *grid = &spec->value[i].grid;
	const DpRowLimits *row = &spec->value[i].row;
	int			rows = spec->value[i].rows;

	if (spec->value[i].groups < 1 || spec->value[i].norm < -1 || spec->value[i].norm >= spec->nnorms || spec->value[i].shift < 0 ||
		spec->value[i].shift > 32)
		return false;
	/* a norm that limits codes is their own */
	if (dp_value_is_code(spec, i) && spec->value[i].norm >= 0 && dp_spec_norms(spec)[spec->value[i].norm].value != i)
		return false;
	switch ((DpValueKind) spec->value[i].kind)
	{
		case DP_VALUE_SUM:
		case DP_VALUE_CUT:
			if (rows != 0 && (spec->value[i].kind == DP_VALUE_SUM || rows != DP_CUT_GROUPS))
				return false;
			return row->lower <= row->upper && row->lower >= -DP_UNIT_ROW_LIMIT && row->upper <= DP_UNIT_ROW_LIMIT;
		case DP_VALUE_SCALED:
			return rows >= 0 && rows < spec->nvalues && spec->value[rows].kind == DP_VALUE_ROWS &&
				grid->exponent == 0;
		case DP_VALUE_CODES:
		case DP_VALUE_DISTINCT:
			return grid->upper >= 1 && grid->upper <= DP_MAX_CODES;
		case DP_VALUE_COUNT:
		case DP_VALUE_UNITS:
		case DP_VALUE_ROWS:
			return grid->upper >= 1;
	}
	return false;
}

/* Tells whether norm l is of a value that it limits itself, in all groups in which others have it, and its limits ascend as they are to. */
static bool
spec_norm_is_valid(const DpBoundSpec *spec, int l)
{
	const DpNormSpec *norm = &dp_spec_norms(spec)[l];

	if (norm->value < 0 || norm->value >= spec->nvalues || spec->value[norm->value].norm != l ||
		norm->nlimits < 0 || norm->nlimits > DP_MAX_NORM_LIMITS)
		return false;
	for (int i = 0; i < norm->nlimits; i++)
		if (norm->limit[i] <= (i > 0 ? norm->limit[i - 1] : 0) || norm->limit[i] > DP_MOST_NORM || norm->limit[i] % DP_NORM_UNIT != 0)
			return false;
	for (int i = 0; i < spec->nvalues; i++)
		if (spec->value[i].norm == l && i != norm->value &&
			(spec->value[i].groups > spec->value[norm->value].groups || dp_value_is_code(spec, norm->value)))
			return false;
	return true;
}

/* Fails unless what the spec says of values and norms is possible. */
void
dp_check_bound_spec(const DpBoundSpec *spec)
{
	for (int i = 0; i < spec->nvalues; i++)
		if (!spec_value_is_valid(spec, i))
			elog(ERROR, "invalid bound_spec: value %d", i);
	for (int l = 0; l < spec->nnorms; l++)
		if (!spec_norm_is_valid(spec, l))
			elog(ERROR, "invalid bound_spec: norm %d", l);
}

DpBoundSpec *
dp_bound_spec_make(int nkeys, int nvalues, int max_groups, const uint64 seed[2],
				   const DpValueKind *kinds, const DpGrid *grids, const int *rows,
				   const DpRowLimits *limits, const int *groups, const DpValueNorm *norm_of, int nnorms, const DpNormSpec *norms)
{
	DpBoundSpec *spec;
	Size		size = offsetof(DpBoundSpec, value) + nvalues * sizeof(spec->value[0]) + nnorms * sizeof(DpNormSpec);

	if (nkeys < 0 || nkeys > DP_MAX_KEYS || nvalues < 0 || nvalues > DP_MAX_VALUES ||
		max_groups < 1 || nnorms < 0 || nnorms > nvalues)
		elog(ERROR, "invalid bound_spec: %d keys, %d values, %d groups",
			 nkeys, nvalues, max_groups);

	spec = palloc0(size);
	SET_VARSIZE(spec, size);
	spec->nkeys = nkeys;
	spec->nvalues = nvalues;
	spec->max_groups = max_groups;
	spec->nnorms = nnorms;
	spec->seed[0] = seed[0];
	spec->seed[1] = seed[1];
	for (int i = 0; i < nvalues; i++)
	{
		spec->value[i].kind = kinds[i];
		spec->value[i].grid = grids[i];
		if ((kinds[i] == DP_VALUE_SCALED || kinds[i] == DP_VALUE_CUT) && rows != NULL)
			spec->value[i].rows = rows[i];
		spec->value[i].row.lower = -DP_UNIT_ROW_LIMIT;
		spec->value[i].row.upper = DP_UNIT_ROW_LIMIT;
		if ((kinds[i] == DP_VALUE_SUM || kinds[i] == DP_VALUE_CUT) && limits != NULL)
			spec->value[i].row = limits[i];
		spec->value[i].groups = groups != NULL ? groups[i] : max_groups;
		spec->value[i].norm = norm_of != NULL ? norm_of[i].norm : -1;
		spec->value[i].shift = norm_of != NULL ? norm_of[i].shift : 0;
	}
	if (nnorms > 0)
		memcpy(dp_spec_norms(spec), norms, nnorms * sizeof(DpNormSpec));
	dp_check_bound_spec(spec);
	return spec;
}
