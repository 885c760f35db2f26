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

/* how many buckets ahead a state is fetched */
#define FETCH_AHEAD 4

/* all that are under way, to be found by their node */
static DpBounding *under_way = NULL;

/* the unit and its state, projected like a group of nodeAgg */
static TupleTableSlot *
emit(DpBounding *rows, uint64 unit, bool unit_isnull, DpBoundState *state)
{
	AggState   *agg = rows->agg;
	ExprContext *econtext = agg->ss.ps.ps_ExprContext;
	TupleTableSlot *slot = agg->ss.ss_ScanTupleSlot;

	ResetExprContext(econtext);
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	slot->tts_values[rows->unit_attno - 1] = (Datum) unit;
	slot->tts_isnull[rows->unit_attno - 1] = unit_isnull;
	ExecStoreVirtualTuple(slot);
	econtext->ecxt_outertuple = slot;
	econtext->ecxt_aggvalues[0] = PointerGetDatum(state);
	econtext->ecxt_aggnulls[0] = false;
	return ExecProject(agg->ss.ps.ps_ProjInfo);
}

/* the next unit's, with what is left for later passes gathered on the way; NULL at the end */
static DpBoundState *
next_state(DpBounding *rows)
{
	for (;;)
	{
		while (rows->emitting && rows->emitted <= rows->nbuckets)
		{
			uint64		at = rows->emitted++;

			if ((at & 0xFFFF) == 0)
				CHECK_FOR_INTERRUPTS();
			if (at + FETCH_AHEAD < rows->nbuckets)
			{
				const char *ahead = (char *) rows->state_of[at + FETCH_AHEAD];

				__builtin_prefetch(ahead);
				__builtin_prefetch(ahead + 64);
			}
			if (rows->state_of[at] != NULL)
			{
				rows->state_isnull = at == rows->nbuckets;
				rows->state_unit = rows->state_isnull ? 0 : rows->buckets[at].unit;
				return rows->state_of[at];
			}
		}
		rows->emitting = false;
		if (rows->waiting == NULL)
			return NULL;
		dp_gather_partition(rows);
	}
}

static TupleTableSlot *
exec_bound_rows(PlanState *node)
{
	DpBounding *rows = under_way;
	DpBoundState *state;

	while (rows != NULL && &rows->agg->ss.ps != node)
		rows = rows->next;
	if (rows == NULL)
		elog(ERROR, "bounded aggregation is not under way");

	CHECK_FOR_INTERRUPTS();
	if (!rows->started)
	{
		rows->started = true;
		dp_gather_input(rows);
	}
	if (rows->state == NULL)
		rows->state = next_state(rows);
	if (rows->totals != NULL)
	{
		DpBoundState *totals;

		while (rows->state != NULL && dp_group_sums_add(rows->totals, rows->state))
			rows->state = next_state(rows);
		totals = dp_group_sums_take(rows->totals);
		if (totals != NULL)
			return emit(rows, 0, true, totals);
		if (dp_group_sums_useless(rows->totals))
		{
			dp_group_sums_free(rows->totals);
			rows->totals = NULL;
		}
	}
	state = rows->state;
	rows->state = NULL;
	return state != NULL ? emit(rows, rows->state_unit, rows->state_isnull, state) : NULL;
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

/* what each argument of bound_unit is; false if that is unusual */
static bool
read_arguments(DpBounding *rows, AggState *agg, Aggref *aggref)
{
	ListCell   *lc;
	int			argno = 0;
	int			first_key = 2;
	Size		at = DP_RECORD_UNIT + (rows->unit_typlen > (int) sizeof(int32) ? sizeof(uint64) : sizeof(int32));

	foreach(lc, aggref->args)
	{
		Node	   *expr = (Node *) ((TargetEntry *) lfirst(lc))->expr;
		NullableDatum *value = &rows->fcinfo->args[++argno];
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
			rows->spec = (DpBoundSpec *) DatumGetPointer(value->value);
			rows->key_bytes = dp_key_bytes_limit(rows->spec->max_groups);
			/* as bound_unit takes its arguments: spec, unit or not, keys, values */
			if (list_length(aggref->args) > 1 + rows->spec->nkeys + rows->spec->nvalues)
				first_key = 3;
			continue;
		}
		if (rows->unit_argno == 0 && input_column(expr) == rows->unit_attno)
		{
			rows->unit_argno = argno;
			continue;
		}
		if (rows->nstored == DP_MAX_STORED)
			return false;
		arg = &rows->stored[rows->nstored++];
		arg->argno = argno;
		arg->is_key = argno >= first_key && argno < first_key + rows->spec->nkeys;
		arg->attno = input_column(expr);
		if (arg->attno == 0)
			arg->expr = ExecInitExpr((Expr *) expr, &agg->ss.ps);
		rows->last_attno = Max(rows->last_attno, arg->attno);
		get_typlenbyval(exprType(expr), &arg->typlen, &arg->typbyval);
		if (arg->typlen == -2)
			return false;
		rows->by_reference |= !arg->typbyval;
		arg->offset = at;
		at += arg->typbyval && arg->typlen > (int) sizeof(int32) ? sizeof(Datum) : sizeof(int32);
	}
	rows->record_size = rows->by_reference ? MAXALIGN(at) : INTALIGN(at);
	return argno > 1;
}

/* ranks of keys by value can be told from a row, without the state */
static void
read_keys(DpBounding *rows, Aggref *aggref)
{
	int			nkeys = rows->spec->nkeys;

	if (rows->unit_argno != 2 || nkeys > DP_MAX_KEYS ||
		list_length(aggref->args) != rows->unit_argno + nkeys + rows->spec->nvalues)
		return;
	for (int i = 0; i < nkeys; i++)
	{
		TargetEntry *tle = list_nth_node(TargetEntry, aggref->args, rows->unit_argno + i);
		DpKeyInfo	info;

		if (!dp_key_info_init(&info, exprType((Node *) tle->expr), exprCollation((Node *) tle->expr),
							  CurrentMemoryContext) || info.class != DP_KEY_WORD)
			return;
		rows->key_typlen[i] = info.typlen;
		rows->key_attno[i] = input_column((Node *) tle->expr);
	}
	rows->nkeys = nkeys;
	rows->keys_are_columns = true;
	for (int i = 0; i < nkeys; i++)
	{
		rows->keys_are_columns &= rows->key_attno[i] > 0;
		rows->first_attno = Max(rows->first_attno, rows->key_attno[i]);
	}
}

/*
 * A scan of a table is read here and its condition tested here, so that rows
 * which their rank leaves out need not be tested.
 */
static void
read_scan(DpBounding *rows)
{
	PlanState  *outer = outerPlanState(rows->agg);

	if (IsA(outer, SeqScanState) && !outer->plan->parallel_aware && outer->ps_ProjInfo == NULL &&
		outer->instrument == NULL && outer->chgParam == NULL && outer->state->es_epq_active == NULL)
		rows->scan = (ScanState *) outer;
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
	DpBounding *rows;
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

	rows = palloc0(sizeof(DpBounding));
	rows->agg = agg;
	rows->trans = &agg->pertrans[0];
	rows->fcinfo = rows->trans->transfn_fcinfo;
	rows->unit_attno = rows->first_attno = rows->last_attno = plan->grpColIdx[0];
	rows->unit_typlen = info.typlen;
	if (read_arguments(rows, agg, rows->trans->aggref))
	{
		read_keys(rows, rows->trans->aggref);
		read_scan(rows);
		rows->context = AllocSetContextCreate(estate->es_query_cxt, "dp_cdp rows of units",
											  ALLOCSET_DEFAULT_SIZES);
		/* some for what else the query takes; nodeAgg has made its empty hash table already */
		limit -= limit / 16;
		rows->limit = limit - Min(MemoryContextMemAllocated(agg->hash_metacxt, true), limit * 3 / 4);
		rows->totals = dp_group_sums_create(rows->spec, rows->limit / 8, rows->context);
		callback = palloc(sizeof(MemoryContextCallback));
		callback->func = forget;
		callback->arg = rows;
		MemoryContextRegisterResetCallback(estate->es_query_cxt, callback);
		rows->next = under_way;
		under_way = rows;
		/* for AggGetAggref */
		agg->curperagg = NULL;
		agg->curpertrans = rows->trans;
		ExecSetExecProcNode(&agg->ss.ps, exec_bound_rows);
	}
	MemoryContextSwitchTo(old);
}

/* Looks for a node that this file can run in a plan that runs once, forwards. */
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
