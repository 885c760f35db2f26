/*-------------------------------------------------------------------------
 *
 * bound_unit.c
 *	  Aggregate bound_unit: what one privacy unit contributes, bounded.
 *
 * Invariants:
 *	- the state is a function of the multiset of the unit's rows, the unit and
 *	  the spec; no other unit's rows and no order of rows enters.  So the set
 *	  of kept groups of one unit says nothing about another's, and adding or
 *	  removing a unit changes the released vector by that unit's at most
 *	  max_groups entries alone;
 *	- a row's rank is a hash keyed by the spec's seed, drawn afresh for every
 *	  execution, and by the unit.  Privacy does not depend on it (any function
 *	  of the unit's own rows would do); it makes the choice of groups unbiased
 *	  and independent from unit to unit;
 *	- values are gathered unclamped (a row at most 2^94 grid units, a count
 *	  saturates) and clamped only by bound_entries: clamping partial totals
 *	  would depend on the order of rows.
 *
 * The transition function runs once per row: no allocation, except when the
 * state grows or a key's type allocates in its own functions.
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

#include "agg/grid.h"
#include "agg/state.h"
#include "compat.h"
#include "errors.h"

PG_FUNCTION_INFO_V1(dp_bound_unit);
PG_FUNCTION_INFO_V1(dp_bound_combine);

/* where ranks start when the unit is not among the arguments */
#define NO_UNIT UINT64CONST(0x9e3779b97f4a7c15)

/* the aggregate's arguments, looked up once per execution */
typedef struct BoundCall
{
	int			nkeys;
	int			nvalues;
	int			first_key;		/* argument number; the unit, if given, is before it */
	bool		has_unit;
	uint64		sums;			/* as in DpBoundState */
	DpValueKind kind[DP_MAX_VALUES];
	Oid			input[DP_MAX_VALUES];	/* of a sum: base type of the argument */
	DpKeyInfo	unit;
	DpKeyInfo	key[DP_MAX_KEYS];
} BoundCall;

/*
 * The collation of an argument.  fcinfo has only one for all arguments
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

static void
key_argument(FunctionCallInfo fcinfo, int argno, DpKeyInfo *info)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, argno);

	if (!OidIsValid(type) ||
		!dp_key_info_init(info, type, argument_collation(fcinfo, argno), fcinfo->flinfo->fn_mcxt))
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_RELEASABLE),
				 errmsg("cannot group by values of type %s: the type has no hash function; cast them to text or numeric",
						format_type_be(type))));
}

static BoundCall *
bound_call_init(FunctionCallInfo fcinfo, const DpBoundSpec *spec)
{
	BoundCall  *call;
	int			narguments;

	if (spec->nkeys < 0 || spec->nkeys > DP_MAX_KEYS ||
		spec->nvalues < 0 || spec->nvalues > DP_MAX_VALUES || spec->max_groups < 1 ||
		VARSIZE(spec) < offsetof(DpBoundSpec, value) + spec->nvalues * sizeof(spec->value[0]))
		elog(ERROR, "invalid bound_spec");

	narguments = PG_NARGS() - 2;
	if (narguments != spec->nkeys + spec->nvalues &&
		narguments != 1 + spec->nkeys + spec->nvalues)
		elog(ERROR, "bound_unit takes %d keys and %d values", spec->nkeys, spec->nvalues);

	call = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(BoundCall));
	call->nkeys = spec->nkeys;
	call->nvalues = spec->nvalues;
	call->has_unit = narguments > spec->nkeys + spec->nvalues;
	call->first_key = call->has_unit ? 3 : 2;

	if (call->has_unit)
		key_argument(fcinfo, 2, &call->unit);
	for (int i = 0; i < call->nkeys; i++)
		key_argument(fcinfo, call->first_key + i, &call->key[i]);

	for (int i = 0; i < call->nvalues; i++)
	{
		Oid			type = getBaseType(get_fn_expr_argtype(fcinfo->flinfo,
														   call->first_key + call->nkeys + i));
		bool		fits;

		call->kind[i] = spec->value[i].kind;
		call->input[i] = type;
		if (call->kind[i] == DP_VALUE_SUM)
		{
			call->sums |= UINT64CONST(1) << i;
			fits = type == INT2OID || type == INT4OID || type == INT8OID ||
				type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID;
		}
		else
			fits = type == BOOLOID;
		if (!fits)
			elog(ERROR, "bound_unit cannot take value %d from type %s", i, format_type_be(type));
	}

	fcinfo->flinfo->fn_extra = call;
	return call;
}

/* not inline: once per unit */
static pg_noinline DpBoundState *
new_state(FunctionCallInfo fcinfo, BoundCall *call, const DpBoundSpec *spec)
{
	uint64		salt = NO_UNIT;

	if (call->has_unit && !PG_ARGISNULL(2))
	{
		DpKey		unit;

		salt = dp_key_hash(&call->unit, PG_GETARG_DATUM(2), &unit, spec->seed[1]);
	}
	salt = dp_mix(dp_mix(salt ^ spec->seed[0]) ^ spec->seed[1]);
	return dp_bound_state_new(call->key, call->nkeys, call->nvalues, call->sums,
							  spec->max_groups, salt);
}

static inline bool
sum_units(Oid input, Datum x, const DpGrid *grid, dp_i128 *n)
{
	switch (input)
	{
		case INT2OID:
			*n = dp_units_int(DatumGetInt16(x), grid);
			return true;
		case INT4OID:
			*n = dp_units_int(DatumGetInt32(x), grid);
			return true;
		case INT8OID:
			*n = dp_units_int(DatumGetInt64(x), grid);
			return true;
		case FLOAT4OID:
			return dp_units_float8(DatumGetFloat4(x), grid, n);
		case FLOAT8OID:
			return dp_units_float8(DatumGetFloat8(x), grid, n);
		default:
			return dp_units_numeric(x, grid->exponent, n);
	}
}

/*
 * 2^33 rows of 2^94 units fit.  Should there ever be more, the total sticks
 * at the end of the range: it is clamped to the bounds anyway.
 */
static inline void
add_to_sum(char *value, dp_i128 n)
{
	DpExactSum *sum = (DpExactSum *) value;
	dp_i128		total;

	if (unlikely(__builtin_add_overflow(dp_exact_sum_get(sum), n, &total)))
	{
		const dp_i128 most = ~(dp_u128) 0 >> 1;

		total = n < 0 ? -most : most;
	}
	dp_exact_sum_set(sum, total);
}

static inline void
add_to_count(char *value, int64 n)
{
	int64	   *count = (int64 *) value;

	if (unlikely(__builtin_add_overflow(*count, n, count)))
		*count = PG_INT64_MAX;
}

/*
 * bound_unit's transition: (state, spec, [unit,] keys ..., values ...).  Not
 * strict, as keys may be NULL; a NULL key is a key of its own, NULL values
 * contribute nothing.
 */
Datum
dp_bound_unit(PG_FUNCTION_ARGS)
{
	DpBoundState *state = dp_state_in_place(fcinfo);
	const DpBoundSpec *spec = (const DpBoundSpec *) PG_GETARG_POINTER(1);
	BoundCall  *call = fcinfo->flinfo->fn_extra;
	DpKey		keys[DP_MAX_KEYS];
	NullableDatum *arg;
	uint64		rank;
	uint64		nulls = 0;
	char	   *value;

	if (unlikely(PG_ARGISNULL(1)))
		elog(ERROR, "bound_unit needs a bound_spec");
	if (unlikely(call == NULL))
		call = bound_call_init(fcinfo, spec);
	if (unlikely(spec->nkeys != call->nkeys || spec->nvalues != call->nvalues))
		elog(ERROR, "bound_spec changed during execution");
	if (PG_ARGISNULL(0))
		state = new_state(fcinfo, call, spec);

	arg = &fcinfo->args[call->first_key];
	rank = state->salt;
	for (int i = 0; i < call->nkeys; i++, arg++)
	{
		DpKeyInfo  *info = &call->key[i];

		if (arg->isnull)
		{
			keys[i].isnull = true;
			nulls |= UINT64CONST(1) << i;
			rank = dp_mix(rank);
		}
		else if (likely(info->class == DP_KEY_WORD))
		{
			keys[i].isnull = false;
			keys[i].word = dp_key_word(arg->value, info->typlen);
			rank = dp_mix(rank ^ keys[i].word);
		}
		else
			rank = dp_mix(rank ^ dp_key_hash(info, arg->value, &keys[i], spec->seed[1]));
	}
	rank = (rank & ~DP_RANK_NULLS) | nulls;

	value = dp_bound_state_entry(&state, call->key, rank, keys);
	if (value == NULL)
		PG_RETURN_POINTER(state);

	for (int i = 0; i < call->nvalues; i++, arg++)
	{
		if (call->kind[i] == DP_VALUE_SUM)
		{
			dp_i128		n;

			if (!arg->isnull && sum_units(call->input[i], arg->value, &spec->value[i].grid, &n))
				add_to_sum(value, n);
			value += sizeof(DpExactSum);
		}
		else
		{
			if (!arg->isnull && DatumGetBool(arg->value))
				add_to_count(value, 1);
			value += sizeof(int64);
		}
	}
	PG_RETURN_POINTER(state);
}

/* the keys of a state, cached in fn_extra; all states of an aggregate have the same */
static DpKeyInfo *
combine_keys(FunctionCallInfo fcinfo, const DpBoundState *state)
{
	DpKeyInfo  *info = fcinfo->flinfo->fn_extra;

	if (info == NULL)
	{
		info = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt,
									  sizeof(DpKeyInfo) * Max(state->nkeys, 1));
		for (int i = 0; i < state->nkeys; i++)
			if (!dp_key_info_init(&info[i], state->key[i].type, state->key[i].collation,
								  fcinfo->flinfo->fn_mcxt))
				elog(ERROR, "type %u has no hash function", state->key[i].type);
		fcinfo->flinfo->fn_extra = info;
	}
	return info;
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
	DpKeyInfo  *info = combine_keys(fcinfo, state);
	DpKey		keys[DP_MAX_KEYS];

	if (state->nkeys != other->nkeys || state->nvalues != other->nvalues ||
		state->sums != other->sums || state->max_groups != other->max_groups ||
		state->salt != other->salt ||
		memcmp(state->key, other->key, state->nkeys * sizeof(DpKeyType)) != 0)
		elog(ERROR, "partial states of different units cannot be combined");

	for (int n = 0; n < other->nentries; n++)
	{
		uint64		rank = dp_bound_state_load(other, n, info, keys);
		char	   *to;
		const char *from;

		to = dp_bound_state_entry(&state, info, rank, keys);
		if (to == NULL)
			break;				/* those that follow are larger still */

		from = dp_state_entries(other) + (Size) n * other->entry_size +
			sizeof(uint64) * (1 + other->nkeys);
		for (int i = 0; i < state->nvalues; i++)
		{
			if (state->sums & (UINT64CONST(1) << i))
			{
				add_to_sum(to, dp_exact_sum_get((const DpExactSum *) from));
				to += sizeof(DpExactSum);
				from += sizeof(DpExactSum);
			}
			else
			{
				add_to_count(to, *(const int64 *) from);
				to += sizeof(int64);
				from += sizeof(int64);
			}
		}
		if ((n & 0xFFF) == 0)
			CHECK_FOR_INTERRUPTS();
	}
	PG_RETURN_POINTER(state);
}

DpBoundSpec *
dp_bound_spec_make(int nkeys, int nvalues, int max_groups, const uint64 seed[2],
				   const DpValueKind *kinds, const DpGrid *grids)
{
	DpBoundSpec *spec;
	Size		size = offsetof(DpBoundSpec, value) + nvalues * sizeof(spec->value[0]);

	if (nkeys < 0 || nkeys > DP_MAX_KEYS || nvalues < 0 || nvalues > DP_MAX_VALUES ||
		max_groups < 1)
		elog(ERROR, "invalid bound_spec: %d keys, %d values, %d groups",
			 nkeys, nvalues, max_groups);

	spec = palloc0(size);
	SET_VARSIZE(spec, size);
	spec->nkeys = nkeys;
	spec->nvalues = nvalues;
	spec->max_groups = max_groups;
	spec->seed[0] = seed[0];
	spec->seed[1] = seed[1];
	for (int i = 0; i < nvalues; i++)
	{
		spec->value[i].kind = kinds[i];
		spec->value[i].grid = grids[i];
	}
	return spec;
}
