/*-------------------------------------------------------------------------
 *
 * inner.c
 *	  Runs the inner plan and turns its exact states into released rows.
 *
 * Invariants:
 * - Its executor is started before the debit: what fails for any other reason
 *	 than the rows costs nothing.  Its first row is asked for after the debit;
 *	 it runs once, to completion, in an executor of its own.
 * - Exact states live in this file's receiver and nowhere else.
 * - Whatever ends it but success counts as a failure at the budgets that paid,
 *	 also the end of the process.
 * - Whatever the inner plan finds, the same noise is drawn for every released
 *	 value; released rows come in the canonical order of their keys.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "base/compat.h"
#include "base/errors.h"
#include "base/noise.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "ledger/ledger.h"
#include "math/wide.h"
#include "miscadmin.h"
#include "release/kept_int.h"
#include "release/release.h"
#include "release/release_int.h"
#include "storage/bufmgr.h"
#include "storage/condition_variable.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "tcop/dest.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

typedef struct ReleaseReceiver
{
	DestReceiver pub;
	DpRun	   *run;
	DpRows	   *rows;
	TupleDesc	desc;
	MemoryContext row_context;	/* reset for each released row */
	Datum	   *values;
	bool	   *nulls;
	dp_i128    *state;			/* the exact states of one group */

	/* declared keys: states of all groups, until the inner plan has ended */
	DpKeyTable *keys;
	dp_i128    *states;			/* [group][state] */

	/* totals of cells: those of a group follow one another */
	DpCells    *cells;
	bool		in_group;		/* values and state are those of a group that has not ended */

	/* kept answers of more groups: those that are asked for; NULL: all are */
	DpKeyTable *asked;
} ReleaseReceiver;

/* an inner plan that was started before its debit */
struct DpInner
{
	MemoryContext context;
	ReleaseReceiver *receiver;
	QueryDesc  *plan;			/* started; NULL: declared keys alone */
	bool		explained;		/* EXPLAIN ANALYZE shows the plan to who may
								 * read the rows */
	bool		finished;		/* kept for that alone */
};

/* the range table of the inner plan that is running, for the permission hook */
static List *inner_range_table = NIL;

bool
dp_release_is_inner(List *range_table)
{
	return inner_range_table != NIL && range_table == inner_range_table;
}

bool
dp_inner_is_running(void)
{
	return inner_range_table != NIL;
}

/* Puts the answer of a column in one group where the released row has it, and its error, and moves on in both. */
static void
put_answer(ReleaseReceiver *receiver, int i, const dp_i128 *drawn, int *out, int *errors)
{
	DpPricedRelease *priced = receiver->run->priced;
	DpPricedColumn *column = &priced->columns[i];
	DpAnswerError error;

	receiver->values[*out] = dp_answer_of_draws(column, drawn, &error);
	receiver->nulls[*out] = error.isnull;
	if (receiver->run->pilot)
		dp_pilot_add(receiver->run->pilot, i, error.value, error.stddev);
	else if (!receiver->run->is_hidden)
		dp_report_group(priced, i, receiver->values, receiver->nulls, error.stddev);
	if (column->desc->with_error)
	{
		receiver->nulls[*errors] = error.isnull;
		receiver->values[(*errors)++] = Float8GetDatum(error.stddev);
	}
	(*out)++;
}

/* Returns the noisy integers of a column in one group. */
static const dp_i128 *
column_draws(ReleaseReceiver *receiver, int i, const dp_i128 *state)
{
	DpRun	   *run = receiver->run;

	return run->kept ? dp_kept_group(run->kept, i, state) : dp_draw(&run->priced->columns[i], state);
}

/* Adds the noisy values of one group after its keys; returns false if its keys stay hidden. */
static bool
release_group(ReleaseReceiver *receiver, const dp_i128 *state)
{
	DpRun	   *run = receiver->run;
	DpPricedRelease *priced = run->priced;
	int			out = priced->nkeys;
	int			errors = out;
	/* keys that were shown before are shown again */
	int			selection = run->kept && run->kept->keys ? -1 : priced->release->selection;
	dp_i128		units = 0;

	if (selection >= 0)
	{
		units = column_draws(receiver, selection, state)[0];
		if (units < priced->threshold)
			return false;
	}
	for (int i = 0; i < priced->ncolumns; i++)
		errors += priced->columns[i].desc->hidden ? 0 : 1;
	for (int i = 0; i < priced->ncolumns; i++)
	{
		const dp_i128 *drawn;

		if (priced->columns[i].desc->hidden)
			continue;
		/* the count that decided is released as it was drawn */
		drawn = i == selection ? &units : column_draws(receiver, i, state);
		if (priced->columns[i].is_agreed)
			dp_agree_drawn(&priced->columns[i], drawn[0]);
		put_answer(receiver, i, drawn, &out, &errors);
	}
	if (run->kept)
		dp_kept_end_group(run->kept, receiver->values, receiver->nulls);
	return true;
}

/* Reads the counts of a histogram that was gathered from the servers of a cluster. */
static void
read_counts(Datum value, dp_i128 *state, int width)
{
	Datum	   *counts;
	int			n;

	deconstruct_array(DatumGetArrayTypeP(value), INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &counts, NULL, &n);
	if (n != width)
		elog(ERROR, "a histogram has %d bins instead of %d", n, width);
	for (int i = 0; i < n; i++)
		state[i] = DatumGetInt64(counts[i]);
}

static void
read_vector(Datum value, dp_i128 *state, int width)
{
	DpExactVector *vector = (DpExactVector *) DatumGetPointer(value);

	if (vector->bins != width)
		elog(ERROR, "a vector has %d bins instead of %d", vector->bins, width);
	for (int i = 0; i < width; i++)
		state[i] = vector->count[i];
}

static void
read_state(ReleaseReceiver *receiver, TupleTableSlot *slot, dp_i128 *state)
{
	DpPricedRelease *priced = receiver->run->priced;
	int			att = priced->nkeys;

	memset(state, 0, priced->width * sizeof(dp_i128));
	for (int i = 0; i < priced->ncolumns; i++)
	{
		for (int j = 0; j < priced->columns[i].nparts; j++, att++)
		{
			DpPricedPart *part = &priced->columns[i].parts[j];
			Datum		value = slot->tts_values[att];

			if (slot->tts_isnull[att])
				continue;
			if (TupleDescAttr(slot->tts_tupleDescriptor, att)->atttypid == INT8ARRAYOID)
				read_counts(value, state + part->offset, part->width);
			else if (part->desc.kind == DP_VALUE_CODES || part->desc.kind == DP_VALUE_CUT)
				read_vector(value, state + part->offset, part->width);
			else if (TupleDescAttr(slot->tts_tupleDescriptor, att)->atttypid == INT8OID)
				state[part->offset] = DatumGetInt64(value);
			else if (TupleDescAttr(slot->tts_tupleDescriptor, att)->atttypid == NUMERICOID)
				state[part->offset] = dp_sum_of_numeric(value);
			else
				state[part->offset] = dp_exact_sum_get((DpExactSum *) DatumGetPointer(value));
		}
	}
}

static bool
receive_state(TupleTableSlot *slot, DestReceiver *self)
{
	ReleaseReceiver *receiver = (ReleaseReceiver *) self;
	DpPricedRelease *priced = receiver->run->priced;
	MemoryContext old;

	slot_getallattrs(slot);
	if (receiver->states)
	{
		int64		position = dp_key_table_find(receiver->keys, slot->tts_values, slot->tts_isnull);

		if (position >= 0)
			read_state(receiver, slot, receiver->states + position * priced->width);
		return true;
	}

	old = MemoryContextSwitchTo(receiver->row_context);
	read_state(receiver, slot, receiver->state);
	memcpy(receiver->values, slot->tts_values, priced->nkeys * sizeof(Datum));
	memcpy(receiver->nulls, slot->tts_isnull, priced->nkeys * sizeof(bool));
	if (release_group(receiver, receiver->state))
		dp_rows_put(receiver->rows, receiver->values, receiver->nulls);
	MemoryContextSwitchTo(old);
	MemoryContextReset(receiver->row_context);
	return true;
}

/* Releases the group whose cells have been read. */
static void
end_group(ReleaseReceiver *receiver)
{
	MemoryContext old = MemoryContextSwitchTo(receiver->row_context);

	if (release_group(receiver, receiver->state))
		dp_rows_put(receiver->rows, receiver->values, receiver->nulls);
	MemoryContextSwitchTo(old);
	MemoryContextReset(receiver->row_context);
	receiver->in_group = false;
}

static void
begin_group(ReleaseReceiver *receiver)
{
	memset(receiver->state, 0, receiver->run->priced->width * sizeof(dp_i128));
	receiver->in_group = true;
}

static bool
receive_cell(TupleTableSlot *slot, DestReceiver *self)
{
	ReleaseReceiver *receiver = (ReleaseReceiver *) self;

	slot_getallattrs(slot);
	if (receiver->states)
	{
		int64		position = dp_key_table_find(receiver->keys, slot->tts_values, slot->tts_isnull);

		if (position >= 0)
			dp_add_cell(receiver->cells, slot, receiver->states + position * receiver->run->priced->width);
		return true;
	}
	if (receiver->in_group && !dp_cell_has_keys(receiver->cells, slot, receiver->values, receiver->nulls))
		end_group(receiver);
	if (!receiver->in_group)
	{
		begin_group(receiver);
		dp_copy_cell_keys(receiver->cells, slot, receiver->values, receiver->nulls, receiver->row_context);
	}
	dp_add_cell(receiver->cells, slot, receiver->state);
	return true;
}

/* Releases the last group; where there are no keys there is one, whether it has rows or not. */
static void
end_cells(ReleaseReceiver *receiver)
{
	if (!receiver->in_group && receiver->run->priced->nkeys == 0)
		begin_group(receiver);
	if (receiver->in_group)
		end_group(receiver);
}

/* Passes over the answers of a group that nobody asked for. */
static void
pass_group(ReleaseReceiver *receiver)
{
	for (int i = 0; i < receiver->run->priced->ncolumns; i++)
		(void) column_draws(receiver, i, NULL);
}

/*
 * Releases every group whose keys are known, whether the inner plan met it or
 * not; without keys, the only one.
 */
static void
release_declared(ReleaseReceiver *receiver)
{
	DpPricedRelease *priced = receiver->run->priced;
	int64		n = receiver->keys ? dp_key_table_size(receiver->keys) : 1;

	for (int64 position = 0; position < n; position++)
	{
		MemoryContext old = MemoryContextSwitchTo(receiver->row_context);

		CHECK_FOR_INTERRUPTS();
		if (receiver->keys)
			dp_key_table_get(receiver->keys, position, receiver->values, receiver->nulls);
		if (receiver->asked != NULL && dp_key_table_find(receiver->asked, receiver->values, receiver->nulls) < 0)
			pass_group(receiver);
		else
		{
			release_group(receiver, receiver->states ? receiver->states + position * priced->width : NULL);
			dp_rows_put(receiver->rows, receiver->values, receiver->nulls);
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(receiver->row_context);
	}
}

static void
receiver_noop_startup(DestReceiver *self, int operation, TupleDesc typeinfo)
{
}

static void
receiver_noop(DestReceiver *self)
{
}

static ReleaseReceiver *
create_receiver(DpRun *run, const DpPricedRelease *priced, TupleDesc desc)
{
	ReleaseReceiver *receiver = palloc0(sizeof(ReleaseReceiver));
	bool		is_sought;

	receiver->pub.receiveSlot = priced->release->counts_cells ? receive_cell : receive_state;
	if (priced->release->counts_cells)
		receiver->cells = dp_cells_create(priced);
	receiver->pub.rStartup = receiver_noop_startup;
	receiver->pub.rShutdown = receiver_noop;
	receiver->pub.rDestroy = receiver_noop;
	receiver->pub.mydest = DestNone;
	receiver->run = run;
	receiver->desc = desc;
	receiver->row_context = AllocSetContextCreate(CurrentMemoryContext, "dp_cdp released row",
												  ALLOCSET_DEFAULT_SIZES);
	receiver->values = palloc0(sizeof(Datum) * Max(desc->natts, 1));
	receiver->nulls = palloc0(sizeof(bool) * Max(desc->natts, 1));
	receiver->state = palloc0(sizeof(dp_i128) * Max(priced->width, 1));
	is_sought = run->kept == NULL || dp_kept_needs_rows(run->kept);
	if (priced->release->selection < 0 && priced->nkeys > 0)
		receiver->keys = dp_key_table_create(priced->release, priced->tuples, is_sought);
	else if (run->kept && run->kept->keys)
		receiver->keys = dp_key_table_of(priced->release, run->kept->keys, is_sought);
	if (run->asked != NULL)
		receiver->asked = dp_key_table_create(run->asked->release, run->asked->tuples, true);
	return receiver;
}

/* Returns the statement's parameters and, after them, the ones that the node supplies. */
static ParamListInfo
inner_params(DpPricedRelease *priced, EState *estate)
{
	DpRelease  *release = priced->release;
	ParamListInfo asked = estate->es_param_list_info;
	int			n = Max(release->first_param + dp_release_params_count(release) - 1, asked ? asked->numParams : 0);
	ParamListInfo params = makeParamList(n);

	/* parallel workers get all of them, also the numbers that nobody uses */
	memset(params->params, 0, n * sizeof(ParamExternData));
	for (int i = 0; asked && i < asked->numParams; i++)
	{
		ParamExternData workspace;
		ParamExternData *p = asked->paramFetch
		? asked->paramFetch(asked, i + 1, false, &workspace) : &asked->params[i];

		params->params[i] = *p;
		params->params[i].pflags = 0;
		if (!p->isnull && OidIsValid(p->ptype))
		{
			int16		len;
			bool		byval;

			get_typlenbyval(p->ptype, &len, &byval);
			params->params[i].value = datumCopy(p->value, byval, len);
		}
	}
	dp_release_params(priced, params);
	return params;
}

/* Starts the executor of the inner plan, up to its first row; instrument: what it is to measure. */
static QueryDesc *
start_plan(DpRun *run, DpPricedRelease *priced, ReleaseReceiver *receiver, EState *estate, int instrument)
{
	MemoryContext caller = CurrentMemoryContext;
	PlannedStmt *volatile plan = run->release->inner;
	ParamListInfo volatile params = inner_params(priced, estate);
	QueryDesc  *volatile desc = NULL;
	List	   *save_range_table = inner_range_table;
	DpSandbox	box;

	dp_sandbox_begin(&box, dp_relation_owner(run->release->relid), DP_STACK_TO_RUN, run->timezone);
	PG_TRY();
	{
		dp_check_distribution(run->release);
		if (run->release->late_query != NULL)
		{
			plan = dp_plan_late(run->release, params);
			params = NULL;
		}
		desc = CreateQueryDesc(dp_lock_predicates(plan, estate->es_snapshot), "private query",
							   estate->es_snapshot, InvalidSnapshot,
							   &receiver->pub, params, run->prefetched, instrument);
		inner_range_table = desc->plannedstmt->rtable;
		ExecutorStart(desc, 0);
	}
	PG_CATCH();
	{
		inner_range_table = save_range_table;
		dp_sandbox_end(&box);
		dp_sandbox_rethrow(caller, dp_charge_clause(&run->charged));
	}
	PG_END_TRY();
	inner_range_table = save_range_table;
	dp_sandbox_end(&box);
	return desc;
}

static void
finish_plan(QueryDesc *desc)
{
	ExecutorFinish(desc);
	dp_forget_workers(desc->estate);
}

/* Only in the sandbox: other extensions may tell the client about the plan that ends. */
static void
close_plan(QueryDesc *desc)
{
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
}

static void
run_plan(QueryDesc *desc, ReleaseReceiver *receiver, bool explained)
{
	List	   *save_range_table = inner_range_table;

	PG_TRY();
	{
		inner_range_table = desc->plannedstmt->rtable;
		DP_EXECUTOR_RUN(desc);
		if (receiver->states)
			release_declared(receiver);
		else if (receiver->cells)
			end_cells(receiver);
		finish_plan(desc);
		if (!explained)
			close_plan(desc);
	}
	PG_FINALLY();
	{
		inner_range_table = save_range_table;
	}
	PG_END_TRY();
}

/* Returns a clause on what a failed release's statement was charged, and on the failure being counted. */
static char *
what_was_paid(DpRun *run, int failures, int most)
{
	if (most == 0 && failures == 0)
		return psprintf("%s, and it counts as a failure", dp_charge_clause(&run->charged));
	if (most == 0)
		return psprintf("%s, and it counts as failure %d in a day, of which none is allowed",
						dp_charge_clause(&run->charged), failures);
	return psprintf("%s, and it counts as failure %d of at most %d in a day",
					dp_charge_clause(&run->charged), failures, most);
}

/*
 * Gives up what a failed inner plan holds and the end of the transaction would
 * release, before its error waits: locks, and parallel workers, which would go
 * on reading, and whose own errors would come up instead of ours.  In the order of the end of a
 * transaction: what is waited for may lie in memory that is shared with workers, and goes with them.
 */
static void
stop_reading(void)
{
	LWLockReleaseAll();
	dp_forget_reads();
	UnlockBuffers();
	ConditionVariableCancelSleep();
	LockErrorCleanup();
	AtEOSubXact_Parallel(false, GetCurrentSubTransactionId());
}

static void fail(DpRun *run, DpLedgerWatch *watch, ErrorData *error) __attribute__((noreturn));

/* Raises what an asker may see of error, which is NULL when the run was cancelled while its answer waited. */
static void
fail(DpRun *run, DpLedgerWatch *watch, ErrorData *error)
{
	int			failures;
	int			most;
	char	   *paid;

	dp_report_failure(run->priced);
	dp_ledger_watch_failed(watch, &failures, &most);
	paid = what_was_paid(run, failures, most);
	if (error == NULL)
		dp_sandbox_raise_cancel(paid);
	dp_sandbox_raise(error, paid, true);
}

/* Releases declared keys alone, which are public, or answers that are kept. */
static void
run_without_rows(ReleaseReceiver *receiver)
{
	release_declared(receiver);
	dp_noise_wipe();
}

/* Runs the inner plan, whose rows have been paid for, and reports any failure as one. */
static void
run_on_rows(DpRun *run, DpInner *inner, EState *estate)
{
	MemoryContext caller = CurrentMemoryContext;
	DpDebitItem *item = dp_priced_debit(run->priced);
	Oid			owner = dp_relation_owner(run->release->relid);
	ErrorData  *volatile error = NULL;
	TimestampTz start = GetCurrentTimestamp();
	DpLedgerWatch watch;
	DpSandbox	box;

	if (run->pilot)
		item->aggregates = dp_pilot_label(item->aggregates);
	dp_ledger_watch_prepare(&watch, item, run->payer);
	dp_sandbox_begin(&box, owner, DP_STACK_TO_RUN, run->timezone);
	dp_ledger_watch_begin(&watch);
	PG_TRY();
	{
		PushActiveSnapshot(estate->es_snapshot);
		run_plan(inner->plan, inner->receiver, inner->explained);
		PopActiveSnapshot();
	}
	PG_CATCH();
	{
		dp_sandbox_end(&box);
		stop_reading();
		error = dp_sandbox_catch(caller);
	}
	PG_END_TRY();
	if (error == NULL)
		dp_sandbox_end(&box);
	dp_noise_wipe();

	if (dp_wait_for_step(run->priced->dataset->answer_step, start))
		fail(run, &watch, NULL);
	if (error != NULL)
		fail(run, &watch, error);
	dp_ledger_watch_end(&watch);
}

void
dp_start_inner(DpRun *run, DpPricedRelease *priced, EState *estate)
{
	DpInner    *inner = MemoryContextAllocZero(estate->es_query_cxt, sizeof(DpInner));
	MemoryContext caller = CurrentMemoryContext;

	inner->context = AllocSetContextCreate(estate->es_query_cxt, "dp_cdp inner query",
										   ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(inner->context);
	inner->receiver = create_receiver(run, priced, run->desc);
	/* es_instrument alone is no sign of it: auto_explain sets it for every statement */
	inner->explained = dp_explain_analyze_depth > 0 && estate->es_instrument != 0 && !run->is_hidden &&
		dp_release_is_readable(run->release);
	if (priced->ncolumns > 0 && (run->kept == NULL || dp_kept_needs_rows(run->kept)))
		inner->plan = start_plan(run, priced, inner->receiver, estate, inner->explained ? estate->es_instrument : 0);
	MemoryContextSwitchTo(caller);
	run->inner = inner;
}

static void
forget_inner(DpRun *run)
{
	MemoryContextDelete(run->inner->context);
	pfree(run->inner);
	run->inner = NULL;
}

void
dp_run_inner(DpRun *run, EState *estate)
{
	MemoryContext caller = CurrentMemoryContext;
	DpInner    *inner = run->inner;

	/* the asker's code may have run between two releases of the statement */
	dp_hold_objects(run->release, run->priced->dataset->owner, run->priced->ncolumns > 0);
	MemoryContextSwitchTo(estate->es_query_cxt);
	run->rows = dp_rows_begin(inner->receiver->desc);
	MemoryContextSwitchTo(inner->context);
	inner->receiver->run = run;
	inner->receiver->rows = run->rows;
	/* not before: of several releases one at a time needs that much */
	if (inner->receiver->keys != NULL && inner->plan != NULL)
		inner->receiver->states =
			MemoryContextAllocExtended(CurrentMemoryContext,
									   sizeof(dp_i128) * Max(run->priced->width, 1) *
									   Max(dp_key_table_size(inner->receiver->keys), 1),
									   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	if (inner->plan != NULL)
		run_on_rows(run, inner, estate);
	else
		run_without_rows(inner->receiver);

	if (run->pilot)
	{
		dp_rows_end(run->rows);
		run->rows = NULL;
	}
	else if (!run->is_hidden)
	{
		if (!inner->explained)
			dp_end_prefetches(run);
		run->done = true;
	}
	MemoryContextSwitchTo(caller);
	inner->finished = true;
	if (!inner->explained)
		forget_inner(run);
}

void
dp_end_inner(DpRun *run)
{
	MemoryContext caller = CurrentMemoryContext;
	DpInner    *inner = run->inner;
	DpSandbox	box;

	if (inner == NULL)
		return;
	if (inner->plan != NULL)
	{
		dp_sandbox_begin(&box, dp_relation_owner(run->release->relid), DP_STACK_TO_RUN, run->timezone);
		PG_TRY();
		{
			if (!inner->finished)
				finish_plan(inner->plan);
			close_plan(inner->plan);
		}
		PG_CATCH();
		{
			dp_sandbox_end(&box);
			dp_sandbox_rethrow(caller, dp_charge_clause(&run->charged));
		}
		PG_END_TRY();
		dp_sandbox_end(&box);
	}
	forget_inner(run);
}

QueryDesc *
dp_explained_plan(DpRun *run)
{
	return run->inner != NULL && run->inner->explained && run->inner->finished ? run->inner->plan : NULL;
}
