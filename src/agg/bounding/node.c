/*-------------------------------------------------------------------------
 *
 * node.c
 *	  The plan node that aggregates with bound_unit: gather.c as a custom scan.
 *
 * plan.c puts the node where an Agg and a ProjectSet over it would be; its child is the Agg's.
 * A row of it is a group that a unit keeps, with the unit, as the two
 * would return it, or what several units add up to in a group.  Its scan tuple has the
 * columns of the child and, behind them, the columns of rows: so that the planner finds
 * the arguments of bound_unit, which read a row of the child, and the calls
 * of bound_key and so on, which the rows that leave are made of, in one list (custom_scan_tlist).
 *
 * Invariants:
 *	- the transition function is called as nodeAgg calls it, with the types,
 *	  collations and privileges of the same Aggref, but with this node as its
 *	  context; columns of rows are checked as their functions would;
 *	- nothing is evaluated before the first row is asked for: EXPLAIN starts the
 *	  node without parameters;
 *	- a rescan begins anew, and what was gathered before is given back at once,
 *	  as it is when the last row has left;
 *	- files belong to the query's resource owner, all memory to contexts below
 *	  the query's, so that errors leave nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/objectaccess.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_agg.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

#include "agg/bounding/gather.h"
#include "base/compat.h"

/* prefetch distance, in buckets, for a state */
#define FETCH_AHEAD 4

typedef struct DpBoundingState
{
	DpBoundingCaller caller;
	FmgrInfo	transition;
	ExprState **argument;		/* of the Aggref's arguments, those that are
								 * neither columns nor constants */
	int			ncolumns;
	DpRowColumn *columns;		/* of rows, at the end of the scan tuple */
	bool		adds_up;
	DpBounding	bounding;
} DpBoundingState;

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

/* ------------------------------------------------------------------------
 * Starting
 * ------------------------------------------------------------------------
 */

/* Returns the column of the child that the argument is; 0: it is computed. */
static AttrNumber
input_column(Node *expr)
{
	Var		   *var = (Var *) expr;

	return IsA(expr, Var) && var->varno == INDEX_VAR && var->varattno > 0 ? var->varattno : 0;
}

static List *
arguments(DpBoundingState *node)
{
	return ((CustomScan *) node->caller.css.ss.ps.plan)->custom_exprs;
}

/*
 * Sets the spec, which is the same for all rows.  Without one nodeAgg fails at
 * the first row.
 */
static void
read_spec(DpBoundingState *node)
{
	DpBounding *bounding = &node->bounding;
	NullableDatum *value = &bounding->fcinfo->args[1];

	value->value = ExecEvalExpr(node->argument[0], bounding->row, &value->isnull);
	if (value->isnull)
		dp_bound_spec_missing();
	bounding->spec = (DpBoundSpec *) DatumGetPointer(value->value);
	bounding->record.key_bytes = dp_key_bytes_limit(bounding->spec->max_groups);
}

/* Finds out what each argument of bound_unit is, and where a record stores it. */
static void
read_arguments(DpBoundingState *node)
{
	DpBounding *bounding = &node->bounding;
	DpRecordFormat *record = &bounding->record;
	List	   *args = arguments(node);

	/* bound_unit takes: spec, unit or not, keys, values */
	int			first_key = list_length(args) > 1 + bounding->spec->nkeys + bounding->spec->nvalues ? 3 : 2;
	Size		at = DP_RECORD_UNIT + (record->unit_typlen > (int) sizeof(int32) ? sizeof(uint64) : sizeof(int32));

	for (int i = 1; i < list_length(args); i++)
	{
		Node	   *expr = list_nth(args, i);
		int			argno = i + 1;
		DpStoredArg *arg;

		if (IsA(expr, Const))
		{
			bounding->fcinfo->args[argno].value = ((Const *) expr)->constvalue;
			bounding->fcinfo->args[argno].isnull = ((Const *) expr)->constisnull;
			continue;
		}
		if (bounding->unit_argno == 0 && input_column(expr) == bounding->input.unit_attno)
		{
			bounding->unit_argno = argno;
			continue;
		}
		if (record->nstored == DP_MAX_STORED)
			elog(ERROR, "bound_unit has too many arguments for node " DP_BOUNDING_NODE);
		arg = &record->stored[record->nstored++];
		arg->argno = argno;
		arg->is_key = argno >= first_key && argno < first_key + bounding->spec->nkeys;
		arg->attno = input_column(expr);
		arg->expr = node->argument[i];
		bounding->input.last_attno = Max(bounding->input.last_attno, arg->attno);
		get_typlenbyval(exprType(expr), &arg->typlen, &arg->typbyval);
		record->by_reference |= !arg->typbyval;
		arg->offset = at;
		at += arg->typbyval && arg->typlen > (int) sizeof(int32) ? sizeof(Datum) : sizeof(int32);
	}
	record->size = record->by_reference ? MAXALIGN(at) : INTALIGN(at);
}

/* Finds the keys of a row, where all are by value, so that ranks can be told without the state. */
static void
read_keys(DpBoundingState *node)
{
	DpBounding *bounding = &node->bounding;
	DpInput    *input = &bounding->input;
	List	   *args = arguments(node);
	int			nkeys = bounding->spec->nkeys;

	if (bounding->unit_argno != 2 || nkeys < 0 || nkeys > DP_MAX_KEYS ||
		list_length(args) != bounding->unit_argno + nkeys + bounding->spec->nvalues)
		return;
	for (int i = 0; i < nkeys; i++)
	{
		Node	   *key = list_nth(args, bounding->unit_argno + i);
		DpKeyInfo	info;

		if (!dp_key_info_init(&info, exprType(key), exprCollation(key), CurrentMemoryContext) ||
			info.class != DP_KEY_WORD)
			return;
		input->key_typlen[i] = info.typlen;
		input->key_attno[i] = input_column(key);
	}
	input->nkeys = nkeys;
	input->keys_are_columns = true;
	for (int i = 0; i < nkeys; i++)
	{
		input->keys_are_columns &= input->key_attno[i] > 0;
		input->first_attno = Max(input->first_attno, input->key_attno[i]);
	}
}

/*
 * Reads a sequential scan itself, by input.c, so that rows which their rank
 * leaves out need not be tested.  Not where the scan counts its rows, or would return
 * other rows than those of its table as they are.
 */
static void
read_scan(DpBounding *bounding)
{
	PlanState  *outer = bounding->outer;

	if (IsA(outer, SeqScanState) && !outer->plan->parallel_aware && outer->ps_ProjInfo == NULL &&
		outer->instrument == NULL && outer->chgParam == NULL && outer->state->es_epq_active == NULL)
		bounding->input.scan = (ScanState *) outer;
}

/* Fails unless states of the spec have the columns of rows, as their functions would with the first state. */
static void
check_columns(DpBoundingState *node)
{
	const DpBoundSpec *spec = node->bounding.spec;
	CustomScan *plan = (CustomScan *) node->caller.css.ss.ps.plan;
	List	   *args = arguments(node);
	int			first = list_length(plan->custom_scan_tlist) - node->ncolumns;
	DpLayout	layout = {.nkeys = spec->nkeys, .nvalues = spec->nvalues};

	/* bound_unit itself refuses them, with the first row */
	if (list_length(args) < 1 + spec->nkeys + spec->nvalues)
		return;
	for (int i = 0; i < spec->nvalues; i++)
		layout.codes[i] = dp_spec_codes(spec, i);
	for (int c = 0; c < node->ncolumns; c++)
	{
		Node	   *expr = (Node *) ((TargetEntry *) list_nth(plan->custom_scan_tlist, first + c))->expr;

		dp_check_row_column(&layout, node->columns[c]);
		/* keys are followed by values alone */
		if (node->columns[c].kind == DP_COLUMN_KEY)
			dp_check_row_key(node->columns[c].i,
							 exprType(list_nth(args, list_length(args) - spec->nvalues - spec->nkeys + node->columns[c].i)),
							 exprType(expr));
	}
}

/* Makes ready to gather, now that parameters are known. */
static void
start(DpBoundingState *node)
{
	DpBounding *bounding = &node->bounding;
	CustomScan *plan = (CustomScan *) node->caller.css.ss.ps.plan;
	EState	   *estate = node->caller.css.ss.ps.state;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	Size		limit = Min((double) work_mem * hash_mem_multiplier * 1024.0, (double) SIZE_MAX / 2);
	AttrNumber	unit = list_nth_int(plan->custom_private, DP_BOUNDING_UNIT);

	read_spec(node);
	check_columns(node);
	bounding->input.unit_attno = bounding->input.first_attno = bounding->input.last_attno = unit;
	bounding->record.unit_typlen =
		TupleDescAttr(node->caller.css.ss.ss_ScanTupleSlot->tts_tupleDescriptor, unit - 1)->attlen;
	read_arguments(node);
	read_keys(node);
	read_scan(bounding);
	bounding->context = AllocSetContextCreate(estate->es_query_cxt, "dp_cdp rows of units",
											  ALLOCSET_DEFAULT_SIZES);
	/* leave some for the rest of the query */
	bounding->limit = limit - limit / 16;
	if (node->adds_up)
		bounding->output.sums = dp_group_sums_create(bounding->spec, bounding->limit / 8, bounding->context);
	bounding->output.started = true;
	MemoryContextSwitchTo(old);
}

/* Gives back all that was gathered; the next row asked for begins anew. */
static void
discard(DpBounding *bounding)
{
	DpBounding	fresh = {.outer = bounding->outer, .row = bounding->row, .fcinfo = bounding->fcinfo, .use = bounding->use};

	if (bounding->context == NULL)
		return;
	dp_close_files(bounding);
	MemoryContextDelete(bounding->context);
	*bounding = fresh;
}

/* ------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------
 */

/*
 * Has the state at hand add up with others, or leave after those that it finds
 * no room beside.  Returns false when it is to leave as it is.
 */
static bool
add_up(DpOutput *output)
{
	if (dp_group_sums_add(output->sums, output->state))
		output->state = NULL;
	else if (!dp_group_sums_is_empty(output->sums))
		output->sums_leave = true;
	else
	{
		if (dp_group_sums_useless(output->sums))
		{
			dp_group_sums_free(output->sums);
			output->sums = NULL;
		}
		return false;
	}
	return true;
}

/* Sets the columns of the next row and tells its unit, NULL if it is that of several; returns false at the end. */
static bool
next_row(DpBoundingState *node, Datum *values, bool *isnull, NullableDatum *unit)
{
	DpBounding *bounding = &node->bounding;
	DpOutput   *output = &bounding->output;
	MemoryContext old;

	unit->isnull = true;
	for (;;)
	{
		if (output->sums_leave)
		{
			if (dp_group_sums_next(output->sums, node->columns, node->ncolumns, values, isnull))
				return true;
			output->sums_leave = false;
		}
		if (output->state == NULL)
		{
			output->state = next_state(bounding);
			output->group = 0;
		}
		if (output->state == NULL)
		{
			if (output->sums == NULL || dp_group_sums_is_empty(output->sums))
				return false;
			output->sums_leave = true;
			continue;
		}
		if (output->sums != NULL && output->group == 0 && add_up(output))
			continue;
		if (output->group < output->state->nentries)
			break;
		output->state = NULL;
	}
	if (output->group == 0)
		dp_learn_layout(&output->layout, output->state);
	old = MemoryContextSwitchTo(node->caller.css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	for (int c = 0; c < node->ncolumns; c++)
		values[c] = dp_entry_column(output->state, &output->layout, output->group, bounding->spec,
									node->columns[c], &isnull[c]);
	MemoryContextSwitchTo(old);
	output->group++;
	unit->value = (Datum) output->state_unit;
	unit->isnull = output->state_isnull;
	return true;
}

/* Returns the next row, projected; what it points to lives until the next call. */
static TupleTableSlot *
emit(DpBoundingState *node)
{
	ScanState  *ss = &node->caller.css.ss;
	TupleTableSlot *slot = ss->ss_ScanTupleSlot;
	int			columns = slot->tts_tupleDescriptor->natts - node->ncolumns;
	AttrNumber	unit_attno = node->bounding.input.unit_attno;
	NullableDatum unit = {0};

	ResetExprContext(ss->ps.ps_ExprContext);
	ExecClearTuple(slot);
	if (!next_row(node, slot->tts_values + columns, slot->tts_isnull + columns, &unit))
		return NULL;
	memset(slot->tts_isnull, true, columns * sizeof(bool));
	slot->tts_values[unit_attno - 1] = unit.value;
	slot->tts_isnull[unit_attno - 1] = unit.isnull;
	ExecStoreVirtualTuple(slot);
	if (ss->ps.ps_ProjInfo == NULL)
		return slot;
	ss->ps.ps_ExprContext->ecxt_scantuple = slot;
	return ExecProject(ss->ps.ps_ProjInfo);
}

static TupleTableSlot *
bounding_exec(CustomScanState *css)
{
	DpBoundingState *node = (DpBoundingState *) css;
	DpBounding *bounding = &node->bounding;
	TupleTableSlot *slot;

	if (bounding->output.ended)
		return NULL;
	if (!bounding->output.started)
	{
		start(node);
		dp_gather_input(bounding);
	}
	slot = emit(node);
	if (slot == NULL)
	{
		discard(bounding);
		bounding->output.ended = true;
	}
	return slot;
}

/* ------------------------------------------------------------------------
 * The node
 * ------------------------------------------------------------------------
 */

static void
check_execute(Oid funcid, Oid role, ObjectType kind)
{
	if (!dp_may_execute(funcid, role))
		aclcheck_error(ACLCHECK_NO_PRIV, kind, get_func_name(funcid));
	InvokeFunctionExecuteHook(funcid);
}

/* Reads the columns of rows, checking privileges of their functions as ProjectSet does. */
static void
begin_columns(DpBoundingState *node)
{
	CustomScan *plan = (CustomScan *) node->caller.css.ss.ps.plan;
	int			n = (list_length(plan->custom_private) - DP_BOUNDING_COLUMNS) / 2;
	int			first = list_length(plan->custom_scan_tlist) - n;

	node->ncolumns = n;
	node->columns = palloc(n * sizeof(DpRowColumn));
	for (int c = 0; c < n; c++)
	{
		TargetEntry *tle = list_nth_node(TargetEntry, plan->custom_scan_tlist, first + c);
		FuncExpr   *call = castNode(FuncExpr, tle->expr);

		check_execute(call->funcid, GetUserId(), OBJECT_FUNCTION);
		node->caller.aggref = lsecond_node(Aggref, call->args);
		node->columns[c].kind = list_nth_int(plan->custom_private, DP_BOUNDING_COLUMNS + 2 * c);
		node->columns[c].i = list_nth_int(plan->custom_private, DP_BOUNDING_COLUMNS + 2 * c + 1);
	}
}

/* Looks up the transition function, checking privileges as nodeAgg does. */
static void
begin_transition(DpBoundingState *node)
{
	Aggref	   *aggref = node->caller.aggref;
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	Oid			transfn;
	Oid			owner;
	Oid			types[FUNC_MAX_ARGS];
	int			nargs = get_aggregate_argtypes(aggref, types);
	Expr	   *expr;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	transfn = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn;
	ReleaseSysCache(tuple);
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(aggref->aggfnoid));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", aggref->aggfnoid);
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);

	check_execute(aggref->aggfnoid, GetUserId(), OBJECT_AGGREGATE);
	check_execute(transfn, owner, OBJECT_FUNCTION);
	build_aggregate_transfn_expr(types, nargs, 0, aggref->aggvariadic, aggref->aggtranstype,
								 aggref->inputcollid, transfn, InvalidOid, &expr, NULL);
	fmgr_info(transfn, &node->transition);
	fmgr_info_set_expr((Node *) expr, &node->transition);
	node->bounding.fcinfo = palloc0(SizeForFunctionCallInfo(nargs + 1));
	InitFunctionCallInfoData(*node->bounding.fcinfo, &node->transition, nargs + 1,
							 aggref->inputcollid, (Node *) node, NULL);
}

static void
bounding_begin(CustomScanState *css, EState *estate, int eflags)
{
	DpBoundingState *node = (DpBoundingState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	PlanState  *outer;
	int			i = 0;
	ListCell   *lc;

	/* a rescan gathers anew, and needs no cheap rescan of the child */
	outer = ExecInitNode(linitial(plan->custom_plans), estate, eflags & ~EXEC_FLAG_REWIND);
	css->custom_ps = list_make1(outer);
	node->adds_up = list_nth_int(plan->custom_private, DP_BOUNDING_ADDS_UP) != 0;
	node->bounding.outer = outer;

	/*
	 * rows that leave are projected while one of the child may be needed
	 * still
	 */
	node->bounding.row = CreateExprContext(estate);
	begin_columns(node);
	begin_transition(node);

	/*
	 * arguments read rows as the child returns them; the projection of rows
	 * that leave is made already
	 */
	css->ss.ps.scanopsset = true;
	css->ss.ps.scanops = ExecGetResultSlotOps(outer, &css->ss.ps.scanopsfixed);
	node->argument = palloc0(sizeof(ExprState *) * list_length(plan->custom_exprs));
	foreach(lc, plan->custom_exprs)
	{
		if (i == 0 || (!IsA(lfirst(lc), Const) && input_column(lfirst(lc)) == 0))
			node->argument[i] = ExecInitExpr(lfirst(lc), &css->ss.ps);
		i++;
	}
}

static void
bounding_end(CustomScanState *css)
{
	DpBoundingState *node = (DpBoundingState *) css;

	discard(&node->bounding);
	ExecEndNode(node->bounding.outer);
}

static void
bounding_rescan(CustomScanState *css)
{
	DpBoundingState *node = (DpBoundingState *) css;
	PlanState  *outer = node->bounding.outer;

	discard(&node->bounding);
	node->bounding.output.ended = false;
	ReScanExprContext(node->bounding.row);
	if (css->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(outer, css->ss.ps.chgParam);
	/* otherwise its first row rescans it */
	if (outer->chgParam == NULL)
		ExecReScan(outer);
}

/* Shows by what is grouped and, once it has run, what that took: like a hashed Agg. */
static void
bounding_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	DpBoundingState *node = (DpBoundingState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	const DpBoundingUse *use = &node->bounding.use;
	int			unit = list_nth_int(plan->custom_private, DP_BOUNDING_UNIT);
	Node	   *expr = (Node *) ((TargetEntry *) list_nth(plan->custom_scan_tlist, unit - 1))->expr;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, (Plan *) plan, ancestors);

	ExplainPropertyText("Group Key", deparse_expression(expr, context, list_length(es->rtable) > 1, false), es);
	if (!es->analyze || use->passes == 0)
		return;
	if (es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyInteger("Units", NULL, use->units, es);
		ExplainPropertyInteger("Batches", NULL, use->passes, es);
		ExplainPropertyInteger("Peak Memory Usage", "kB", (use->memory + 1023) / 1024, es);
		ExplainPropertyInteger("Disk Usage", "kB", (use->disk + 1023) / 1024, es);
		return;
	}
	appendStringInfoSpaces(es->str, es->indent * 2);
	appendStringInfo(es->str, "Units: " UINT64_FORMAT "  Batches: " UINT64_FORMAT "  Memory Usage: " UINT64_FORMAT "kB",
					 use->units, use->passes, (uint64) (use->memory + 1023) / 1024);
	if (use->disk > 0)
		appendStringInfo(es->str, "  Disk Usage: " UINT64_FORMAT "kB", (use->disk + 1023) / 1024);
	appendStringInfoChar(es->str, '\n');
}

static const CustomExecMethods bounding_exec_methods = {
	.CustomName = DP_BOUNDING_NODE,
	.BeginCustomScan = bounding_begin,
	.ExecCustomScan = bounding_exec,
	.EndCustomScan = bounding_end,
	.ReScanCustomScan = bounding_rescan,
	.ExplainCustomScan = bounding_explain
};

static Node *
create_state(CustomScan *plan)
{
	DpBoundingState *node = (DpBoundingState *) newNode(sizeof(DpBoundingState), T_CustomScanState);

	node->caller.css.methods = &bounding_exec_methods;
	return (Node *) node;
}

const CustomScanMethods dp_bounding_scan_methods = {
	.CustomName = DP_BOUNDING_NODE,
	.CreateCustomScanState = create_state
};
