/*-------------------------------------------------------------------------
 *
 * inner_params.c
 *	  What the node hands to its inner plan, and catalogue look-ups for it.
 *
 * Grids, ranges and the like are parameters, because the inner plan is older
 * than their values.  They do not change while it runs, and it has them as
 * arguments of functions and aggregates alone.  So they are written where a
 * function finds its arguments once, when an expression is compiled, instead of
 * for each row: paramCompile in the leader, and by ExecutorStart's hook in
 * parallel workers, who know these parameters by a flag.  That matters where rows are
 * units, and each row passes through PostgreSQL's Agg: a step of the interpreter
 * for each can be measured there.  Constants would be such steps, too.  The node that bounds
 * units reads its spec once, by whatever way.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/parallel.h"
#include "base/compat.h"
#include "base/extension.h"
#include "base/noise.h"
#include "catalog/pg_class.h"
#include "executor/execExpr.h"
#include "executor/executor.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/syscache.h"

Oid
dp_relation_owner(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* in pflags, of which PostgreSQL uses the lowest bit: a parameter of ours */
#define PARAM_FLAG_OWN 0x4000

static ExecutorStart_hook_type prev_executor_start = NULL;

void
dp_set_own_param(ParamExternData *param, Datum value, Oid type)
{
	param->value = value;
	param->isnull = false;
	param->pflags = PARAM_FLAG_OWN;
	param->ptype = type;
}

/* Makes the spec of bounding for this execution; its seed decides which groups a unit keeps. */
static Datum
make_bound_spec(DpPricedRelease *priced)
{
	DpValueKind *kinds = palloc(Max(priced->nparts, 1) * sizeof(DpValueKind));
	DpGrid	   *grids = palloc(Max(priced->nparts, 1) * sizeof(DpGrid));
	int		   *rows = palloc0(Max(priced->nparts, 1) * sizeof(int));
	int		   *groups = palloc0(Max(priced->nparts, 1) * sizeof(int));
	DpRowLimits *limits = palloc0(Max(priced->nparts, 1) * sizeof(DpRowLimits));
	DpValueNorm *norm_of = palloc0(Max(priced->nparts, 1) * sizeof(DpValueNorm));
	int			nnorms = list_length(priced->release->norms);
	DpNormSpec *norms = palloc0(Max(nnorms, 1) * sizeof(DpNormSpec));
	uint64		seed[2];
	int			n = 0;

	dp_noise_bytes(seed, sizeof(seed));
	for (int i = 0; i < priced->ncolumns; i++)
	{
		const DpPricedColumn *column = &priced->columns[i];
		int			first = n;

		for (int j = 0; j < column->nparts; j++, n++)
		{
			kinds[n] = column->parts[j].desc.kind;
			grids[n] = column->parts[j].grid;
			limits[n] = column->parts[j].row;
			/* moments: the count of rows is the column's first part */
			rows[n] = kinds[n] == DP_VALUE_SCALED ? first : column->desc->answer == DP_ANSWER_CLIPPED_GROUPS ? DP_CUT_GROUPS : 0;
			norm_of[n].norm = column->desc->norm;
			norm_of[n].shift = column->parts[j].shift;
			groups[n] = column->nlimits > 0 && column->desc->weighs ? priced->key_groups : priced->max_groups;
		}
		if (column->desc->norm >= 0 && list_nth_int(priced->release->norms, column->desc->norm) == first)
		{
			norms[column->desc->norm].value = first;
			norms[column->desc->norm].nlimits = column->nlimits;
			memcpy(norms[column->desc->norm].limit, column->limits, sizeof(column->limits));
		}
	}
	return PointerGetDatum(dp_bound_spec_make(priced->nkeys, n, dp_held_groups(priced), seed, kinds, grids, rows,
											  limits, groups, norm_of, nnorms, norms));
}

static bool
is_own(ParamListInfo params, int number, Oid type)
{
	const ParamExternData *param;

	if (number < 1 || number > params->numParams)
		return false;
	param = &params->params[number - 1];
	return (param->pflags & PARAM_FLAG_OWN) != 0 && param->ptype == type;
}

/* Compiles an external parameter; ExecInitExpr calls this for each of an expression. */
static void
compile_param(ParamListInfo params, Param *param, ExprState *state, Datum *value, bool *isnull)
{
	ExprEvalStep step = {0};

	step.resvalue = value;
	step.resnull = isnull;
	if (!is_own(params, param->paramid, param->paramtype))
	{
		step.opcode = EEOP_PARAM_EXTERN;
		step.d.param.paramid = param->paramid;
		step.d.param.paramtype = param->paramtype;
	}
	else if (value == &state->resvalue)
	{
		/* a whole expression; other steps may use this place, too */
		step.opcode = EEOP_CONST;
		step.d.constval.value = params->params[param->paramid - 1].value;
	}
	else
	{
		*value = params->params[param->paramid - 1].value;
		*isnull = false;
		return;
	}
	ExprEvalPushStep(state, &step);
}

static void
release_executor_start(QueryDesc *desc, int eflags)
{
	bool		is_inner = false;

	if (IsParallelWorker() && desc->params != NULL)
		for (int i = 0; i < desc->params->numParams && !is_inner; i++)
			is_inner = (desc->params->params[i].pflags & PARAM_FLAG_OWN) != 0;
	if (is_inner)
		desc->params->paramCompile = compile_param;
	if (prev_executor_start)
		prev_executor_start(desc, eflags);
	else
		standard_ExecutorStart(desc, eflags);
	/* a worker has no locks of the leader's */
	if (is_inner)
		dp_hold_long_values(desc->estate);
}

void
dp_release_params_init(void)
{
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = release_executor_start;
}

/* Sets the parameters under the numbers that the guard has reserved for them. */
void
dp_release_params(DpPricedRelease *priced, ParamListInfo list)
{
	ParamExternData *params = list->params;
	Oid			grid = dp_own_type("grid");
	Oid			range = dp_own_type("range");

	list->paramCompile = compile_param;
	if (priced->release->has_unit)
		dp_set_own_param(&params[priced->release->first_param - 1], make_bound_spec(priced),
						 dp_own_type("bound_spec"));
	foreach_node(Const, constant, priced->release->lists)
	{
		int			i = foreach_current_index(constant);
		int			of_shown = i - priced->release->rest_lists;

		dp_set_own_param(&params[dp_list_param(priced->release, i) - 1],
						 priced->shown != NULL && of_shown >= 0 ? priced->shown[of_shown] : constant->constvalue,
						 dp_own_type("key_set"));
	}
	dp_block_params(priced, list);
	for (int i = 0; i < priced->ncolumns; i++)
	{
		DpPricedColumn *column = &priced->columns[i];
		ParamExternData *own = &params[column->desc->first_param - 1];
		DpPricedPart *last = &column->parts[column->nparts - 1];

		if (column->desc->values != NULL)
			dp_set_own_param(&own[DP_PARAM_VALUES], column->desc->values->constvalue, dp_own_type("key_set"));
		else
			dp_set_own_param(&own[DP_PARAM_GRID], dp_grid_datum(&last->grid), grid);
		if (last->desc.kind == DP_VALUE_CUT)
			dp_set_own_param(&own[DP_PARAM_BINS], Int32GetDatum(last->width), INT4OID);
		if (last->desc.kind != DP_VALUE_SCALED && last->desc.kind != DP_VALUE_CODES)
			continue;
		dp_set_own_param(&own[DP_PARAM_RANGE], dp_range_datum(&column->range[0]), range);
		if (last->desc.kind == DP_VALUE_CODES)
			dp_set_own_param(&own[DP_PARAM_BINS], Int32GetDatum(column->range[0].bins), INT4OID);
		else if (column->desc->lower2 || column->desc->derived2)
			dp_set_own_param(&own[DP_PARAM_RANGE2], dp_range_datum(&column->range[1]), range);
	}
}
