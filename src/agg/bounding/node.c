/*-------------------------------------------------------------------------
 *
 * node.c
 *	  Has gather.c run the node that aggregates with bound_unit.
 *
 * The plan is the planner's and is started as ever; only the node's ExecProcNode
 * is replaced.  Its expressions and its projection are used as they are.
 *
 * Invariants: the node is met on the way from the top of a plan that runs once
 * through nodes that read their input once, so it is never rescanned; whatever
 * is unusual about it leaves it to nodeAgg, which computes the same.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "agg/bounding/gather.h"

/* prefetch distance, in buckets, for a state */
#define FETCH_AHEAD 4

/* the boundings that are under way, to be found by their node */
static DpBounding *under_way = NULL;

/* Returns the unit and its state, projected like a group of nodeAgg. */
static TupleTableSlot *
emit(DpBounding *bounding, uint64 unit, bool unit_isnull, DpBoundState *state)
{
	AggState   *agg = bounding->agg;
	ExprContext *econtext = agg->ss.ps.ps_ExprContext;
	TupleTableSlot *slot = agg->ss.ss_ScanTupleSlot;

	ResetExprContext(econtext);
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	slot->tts_values[bounding->input.unit_attno - 1] = (Datum) unit;
	slot->tts_isnull[bounding->input.unit_attno - 1] = unit_isnull;
	ExecStoreVirtualTuple(slot);
	econtext->ecxt_outertuple = slot;
	econtext->ecxt_aggvalues[0] = PointerGetDatum(state);
	econtext->ecxt_aggnulls[0] = false;
	return ExecProject(agg->ss.ps.ps_ProjInfo);
}

/* Returns the state of the next unit, gathering waiting partitions on the way; NULL at the end. */
static DpBoundState *
next_state(DpBounding *bounding)
{
	const DpUnitTable *table = &bounding->table;
	DpOutput   *output = &bounding->output;

	for (;;)
	{
		while (output->emitting && output->emitted <= table->nbuckets)
		{
			uint64		at = output->emitted++;

			if ((at & 0xFFFF) == 0)
				CHECK_FOR_INTERRUPTS();
			if (at + FETCH_AHEAD < table->nbuckets)
			{
				const char *ahead = (char *) table->state_of[at + FETCH_AHEAD];

				__builtin_prefetch(ahead);
				__builtin_prefetch(ahead + 64);
			}
			if (table->state_of[at] != NULL)
			{
				output->state_isnull = at == table->nbuckets;
				output->state_unit = output->state_isnull ? 0 : table->buckets[at].unit;
				return table->state_of[at];
			}
		}
		output->emitting = false;
		if (bounding->pass.waiting == NULL)
			return NULL;
		dp_gather_partition(bounding);
	}
}

static TupleTableSlot *
exec_bounding(PlanState *node)
{
	DpBounding *bounding = under_way;
	DpOutput   *output;
	DpBoundState *state;

	while (bounding != NULL && &bounding->agg->ss.ps != node)
		bounding = bounding->next;
	if (bounding == NULL)
		elog(ERROR, "bounded aggregation is not under way");

	CHECK_FOR_INTERRUPTS();
	output = &bounding->output;
	if (!output->started)
	{
		output->started = true;
		dp_gather_input(bounding);
	}
	if (output->state == NULL)
		output->state = next_state(bounding);
	if (output->sums != NULL)
	{
		DpBoundState *sums;

		while (output->state != NULL && dp_group_sums_add(output->sums, output->state))
			output->state = next_state(bounding);
		sums = dp_group_sums_take(output->sums);
		if (sums != NULL)
			return emit(bounding, 0, true, sums);
		if (dp_group_sums_useless(output->sums))
		{
			dp_group_sums_free(output->sums);
			output->sums = NULL;
		}
	}
	state = output->state;
	output->state = NULL;
	return state != NULL ? emit(bounding, output->state_unit, output->state_isnull, state) : NULL;
}

static void
forget(void *arg)
{
	DpBounding **link = &under_way;

	while (*link != NULL && *link != arg)
		link = &(*link)->next;
	if (*link != NULL)
		*link = (*link)->next;
}

static AttrNumber
input_column(Node *expr)
{
	Var		   *var = (Var *) expr;

	return IsA(expr, Var) && var->varno == OUTER_VAR && var->varattno > 0 ? var->varattno : 0;
}

/* Finds out what each argument of bound_unit is; returns false if one is unusual. */
static bool
read_arguments(DpBounding *bounding, AggState *agg, Aggref *aggref)
{
	ListCell   *lc;
	int			argno = 0;
	int			first_key = 2;
	Size		at = DP_RECORD_UNIT + (bounding->record.unit_typlen > (int) sizeof(int32) ? sizeof(uint64) : sizeof(int32));

	foreach(lc, aggref->args)
	{
		Node	   *expr = (Node *) ((TargetEntry *) lfirst(lc))->expr;
		NullableDatum *value = &bounding->fcinfo->args[++argno];
		DpStoredArg *arg;

		if (IsA(expr, Const) && argno > 1)
		{
			value->value = ((Const *) expr)->constvalue;
			value->isnull = ((Const *) expr)->constisnull;
			continue;
		}
		if (argno == 1)
		{
			/* the spec, which is the same for all rows */
			if (!IsA(expr, Param) || ((Param *) expr)->paramkind != PARAM_EXTERN)
				return false;
			value->value = ExecEvalExpr(ExecInitExpr((Expr *) expr, &agg->ss.ps),
										agg->ss.ps.ps_ExprContext, &value->isnull);
			if (value->isnull)
				return false;
			bounding->spec = (DpBoundSpec *) DatumGetPointer(value->value);
			bounding->record.key_bytes = dp_key_bytes_limit(bounding->spec->max_groups);
			/* bound_unit takes: spec, unit or not, keys, values */
			if (list_length(aggref->args) > 1 + bounding->spec->nkeys + bounding->spec->nvalues)
				first_key = 3;
			continue;
		}
		if (bounding->unit_argno == 0 && input_column(expr) == bounding->input.unit_attno)
		{
			bounding->unit_argno = argno;
			continue;
		}
		if (bounding->record.nstored == DP_MAX_STORED)
			return false;
		arg = &bounding->record.stored[bounding->record.nstored++];
		arg->argno = argno;
		arg->is_key = argno >= first_key && argno < first_key + bounding->spec->nkeys;
		arg->attno = input_column(expr);
		if (arg->attno == 0)
			arg->expr = ExecInitExpr((Expr *) expr, &agg->ss.ps);
		bounding->input.last_attno = Max(bounding->input.last_attno, arg->attno);
		get_typlenbyval(exprType(expr), &arg->typlen, &arg->typbyval);
		if (arg->typlen == -2)
			return false;
		bounding->record.by_reference |= !arg->typbyval;
		arg->offset = at;
		at += arg->typbyval && arg->typlen > (int) sizeof(int32) ? sizeof(Datum) : sizeof(int32);
	}
	bounding->record.size = bounding->record.by_reference ? MAXALIGN(at) : INTALIGN(at);
	return argno > 1;
}

/* Finds the keys of a row, where all are by value, so that ranks can be told without the state. */
static void
read_keys(DpBounding *bounding, Aggref *aggref)
{
	int			nkeys = bounding->spec->nkeys;

	if (bounding->unit_argno != 2 || nkeys > DP_MAX_KEYS ||
		list_length(aggref->args) != bounding->unit_argno + nkeys + bounding->spec->nvalues)
		return;
	for (int i = 0; i < nkeys; i++)
	{
		TargetEntry *tle = list_nth_node(TargetEntry, aggref->args, bounding->unit_argno + i);
		DpKeyInfo	info;

		if (!dp_key_info_init(&info, exprType((Node *) tle->expr), exprCollation((Node *) tle->expr),
							  CurrentMemoryContext) || info.class != DP_KEY_WORD)
			return;
		bounding->input.key_typlen[i] = info.typlen;
		bounding->input.key_attno[i] = input_column((Node *) tle->expr);
	}
	bounding->input.nkeys = nkeys;
	bounding->input.keys_are_columns = true;
	for (int i = 0; i < nkeys; i++)
	{
		bounding->input.keys_are_columns &= bounding->input.key_attno[i] > 0;
		bounding->input.first_attno = Max(bounding->input.first_attno, bounding->input.key_attno[i]);
	}
}

/*
 * Takes over a sequential scan below the node: it is read, and its condition
 * tested, by input.c, so that rows which their rank leaves out need not be
 * tested.
 */
static void
read_scan(DpBounding *bounding)
{
	PlanState  *outer = outerPlanState(bounding->agg);

	if (IsA(outer, SeqScanState) && !outer->plan->parallel_aware && outer->ps_ProjInfo == NULL &&
		outer->instrument == NULL && outer->chgParam == NULL && outer->state->es_epq_active == NULL)
		bounding->input.scan = (ScanState *) outer;
}

static bool
is_simple_bounding(AggState *agg)
{
	Agg		   *plan = (Agg *) agg->ss.ps.plan;

	return plan->aggstrategy == AGG_HASHED && plan->aggsplit == AGGSPLIT_SIMPLE &&
		plan->numCols == 1 && plan->groupingSets == NIL && plan->chain == NIL &&
		agg->numaggs == 1 && agg->numtrans == 1 && agg->ss.ps.qual == NULL &&
		agg->ss.ps.ps_ProjInfo != NULL && agg->tmpcontext != NULL &&
		agg->pertrans[0].transfn.fn_addr == dp_bound_unit &&
		agg->pertrans[0].transfn_fcinfo != NULL &&
		agg->pertrans[0].aggref->aggfilter == NULL &&
		agg->pertrans[0].aggref->aggorder == NIL && agg->pertrans[0].aggref->aggdistinct == NIL &&
		!OidIsValid(agg->peragg[0].finalfn_oid);
}

static void
take_over(AggState *agg)
{
	Agg		   *plan = (Agg *) agg->ss.ps.plan;
	EState	   *estate = agg->ss.ps.state;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	Form_pg_attribute unit;
	DpKeyInfo	info;
	DpBounding *bounding;
	MemoryContextCallback *callback;
	Size		limit = Min((double) work_mem * hash_mem_multiplier * 1024.0, (double) SIZE_MAX / 2);

	unit = TupleDescAttr(agg->ss.ss_ScanTupleSlot->tts_tupleDescriptor, plan->grpColIdx[0] - 1);
	if (!dp_key_info_init(&info, unit->atttypid, unit->attcollation, estate->es_query_cxt) ||
		info.class != DP_KEY_WORD ||
		lookup_type_cache(unit->atttypid, TYPECACHE_EQ_OPR)->eq_opr != plan->grpOperators[0])
	{
		MemoryContextSwitchTo(old);
		return;
	}

	bounding = palloc0(sizeof(DpBounding));
	bounding->agg = agg;
	bounding->trans = &agg->pertrans[0];
	bounding->fcinfo = bounding->trans->transfn_fcinfo;
	bounding->input.unit_attno = bounding->input.first_attno = bounding->input.last_attno = plan->grpColIdx[0];
	bounding->record.unit_typlen = info.typlen;
	if (read_arguments(bounding, agg, bounding->trans->aggref))
	{
		read_keys(bounding, bounding->trans->aggref);
		read_scan(bounding);
		bounding->context = AllocSetContextCreate(estate->es_query_cxt, "dp_cdp rows of units",
												  ALLOCSET_DEFAULT_SIZES);

		/*
		 * leave some for the rest of the query; nodeAgg has made its empty
		 * hash table already
		 */
		limit -= limit / 16;
		bounding->limit = limit - Min(MemoryContextMemAllocated(agg->hash_metacxt, true), limit * 3 / 4);
		bounding->output.sums = dp_group_sums_create(bounding->spec, bounding->limit / 8, bounding->context);
		callback = palloc(sizeof(MemoryContextCallback));
		callback->func = forget;
		callback->arg = bounding;
		MemoryContextRegisterResetCallback(estate->es_query_cxt, callback);
		bounding->next = under_way;
		under_way = bounding;
		/* for AggGetAggref */
		agg->curperagg = NULL;
		agg->curpertrans = bounding->trans;
		ExecSetExecProcNode(&agg->ss.ps, exec_bounding);
	}
	MemoryContextSwitchTo(old);
}

void
dp_install_bounding(PlanState *top)
{
	while (top != NULL)
	{
		switch (nodeTag(top))
		{
			case T_AggState:
				if (is_simple_bounding((AggState *) top))
				{
					take_over((AggState *) top);
					return;
				}
				top = outerPlanState(top);
				break;
			case T_SortState:
			case T_IncrementalSortState:
			case T_ProjectSetState:
			case T_ResultState:
				top = outerPlanState(top);
				break;
			case T_SubqueryScanState:
				top = ((SubqueryScanState *) top)->subplan;
				break;
			default:
				return;
		}
	}
}
