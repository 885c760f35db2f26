/*-------------------------------------------------------------------------
 *
 * buy.c
 *	  Buys a statement's releases: from their prices to the debit, and what has
 *	  to happen at once after it.
 *
 * Invariants:
 * - All releases of a statement are debited together, or none, and before a
 *	 protected row is read for them (but those of pilots, which have debits of
 *	 their own).
 * - Nothing of the asker's runs between the check of what inner plans are made
 *	 of and the debit.
 * - Limits that an owner asks for (suggest.c) are bought by the same rules, of the
 *	 dataset's cap.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "base/compat.h"
#include "base/errors.h"
#include "base/settings.h"
#include "base/sizes.h"
#include "common/int.h"
#include "ledger/ledger.h"
#include "miscadmin.h"
#include "policy/policy.h"
#include "release/found_bounds.h"
#include "release/kept_int.h"
#include "release/release.h"
#include "release/release_int.h"
#include "storage/predicate.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

/* Adds amounts to what the statement was charged; a sum that overflows stays at the largest amount. */
static void
add_charge(DpCharge *charged, int64 rho, int64 delta)
{
	if (pg_add_s64_overflow(charged->rho, rho, &charged->rho))
		charged->rho = PG_INT64_MAX;
	if (pg_add_s64_overflow(charged->delta, delta, &charged->delta))
		charged->delta = PG_INT64_MAX;
}

/* Debits, and lets the audit know of which statement. */
static void
debit(List *items, EState *root)
{
	if (root->es_plannedstmt != NULL)
		dp_ledger_set_query(root->es_sourceText, root->es_plannedstmt->stmt_location,
							root->es_plannedstmt->stmt_len);
	foreach_ptr(DpDebitItem, item, items)
		dp_check_owner_asks(item->dataset);
	dp_ledger_debit(items);
}

/* Adds the item of a debit for a release, if anything is owed for it; kept: its answers are, NULL: they are not. */
static List *
add_item(List *items, DpPricedRelease *release, const DpKept *kept)
{
	DpDebitItem *item;

	if (release->ncolumns == 0 || (kept != NULL && dp_kept_is_free(kept)))
		return items;
	item = dp_priced_debit(release);
	if (kept != NULL)
		dp_kept_add_credits(kept, item);
	if (RecoveryInProgress())
		item->policy = dp_policy_proof(release->dataset, release->release->relids);
	return lappend(items, item);
}

/* Adds what a release costs to what the statement was charged. */
static void
add_price(DpCharge *charged, const DpPricedRelease *release, const DpKept *kept)
{
	if (kept != NULL)
		add_charge(charged, dp_kept_owed(kept).rho, dp_kept_owed(kept).delta);
	else if (release->ncolumns > 0)
		add_charge(charged, release->rho, release->delta);
}

/* Debits releases together, and adds what that costs to charged. */
static void
debit_releases(List *runs, List *releases, EState *root, DpCharge *charged)
{
	List	   *items = NIL;
	ListCell   *run,
			   *priced;

	forboth(run, runs, priced, releases)
	{
		DpKept	   *kept = ((DpRun *) lfirst(run))->kept;
		DpPricedRelease *release = lfirst(priced);
		DpDebitItem *item;

		for (DpBefore b = 0; b < DP_BEFORES; b++)
			if (release->before[b] != NULL)
				items = add_item(items, release->before[b], kept ? kept->before[b] : NULL);
		items = add_item(items, release, kept);
		if (((DpRun *) lfirst(run))->pilot && items != NIL)
		{
			item = llast(items);
			item->aggregates = dp_pilot_label(item->aggregates);
		}
	}
	if (items != NIL)
		debit(items, root);
	forboth(run, runs, priced, releases)
	{
		DpKept	   *kept = ((DpRun *) lfirst(run))->kept;
		DpPricedRelease *release = lfirst(priced);

		for (DpBefore b = 0; b < DP_BEFORES; b++)
			if (release->before[b] != NULL)
				add_price(charged, release->before[b], kept ? kept->before[b] : NULL);
		add_price(charged, release, kept);
	}
}

/*
 * Runs the releases whose answers are kept, and those that agree with such, and keeps what they draw: before that
 * nothing of it may be shown.  What is kept is not made to agree; what is shown is.
 */
static void
run_kept(List *runs, EState *root)
{
	foreach_ptr(DpRun, run, runs)
	{
		if (run->kept == NULL && !dp_agrees_with_kept(run))
			continue;
		(void) dp_agree_begin(run);
		if (run->kept != NULL)
			dp_kept_derive(run->kept->before[DP_FINDS_LIMITS] ? run->kept->before[DP_FINDS_LIMITS] : run->kept);
		dp_run_inner(run, root);
	}
	dp_keep_drawn(runs);
	foreach_ptr(DpRun, run, runs)
	{
		foreach_ptr(const DpPricedRelease, told, dp_agrees_with_kept(run) ? dp_agree_end(run) : NIL)
			dp_report_limits(told);
	}
}

/* Returns one of these runs that reads rows for answers that are kept; NULL: none does. */
static DpRun *
reads_to_keep(List *runs)
{
	foreach_ptr(DpRun, run, runs)
	{
		const DpKept *kept = run->kept;
		const DpKept *bounds = kept ? kept->before[DP_FINDS_BOUNDS] : NULL;

		if (kept != NULL && (dp_kept_needs_rows(kept) || (bounds != NULL && dp_kept_needs_rows(bounds))))
			return run;
	}
	return NULL;
}

/*
 * Does what reads rows for answers and keeps them.  Until they are kept whatever ends it is a failure, as asked
 * again, rows are read for nothing.
 */
static void
watch_until_kept(List *runs, EState *root, void (*read_and_keep) (List *, EState *))
{
	MemoryContext caller = CurrentMemoryContext;
	DpRun	   *reader = reads_to_keep(runs);
	DpLedgerWatch watch;

	if (reader == NULL)
	{
		read_and_keep(runs, root);
		return;
	}
	dp_prepare_watch(reader, &watch);
	dp_ledger_watch_begin(&watch);
	PG_TRY();
	{
		read_and_keep(runs, root);
	}
	PG_CATCH();
	{
		ErrorData  *error;
		int			failures;
		int			most;

		dp_stop_reading();
		error = dp_sandbox_catch(caller);
		if (!dp_ledger_watch_failed(&watch, &failures, &most))
			ReThrowError(error);
		/* others tell sizes of what was drawn and nobody is shown */
		if (error->sqlerrcode != ERRCODE_DP_LEDGER_UNAVAILABLE && error->sqlerrcode != ERRCODE_QUERY_CANCELED)
			dp_sandbox_raise(error, psprintf("%s, and %s", dp_charge_clause(&reader->charged),
											 dp_failure_clause(failures, most)), true);
		error->message = psprintf("%s; %s", error->message, dp_failure_clause(failures, most));
		ReThrowError(error);
	}
	PG_END_TRY();
	dp_ledger_watch_end(&watch);
}

/* Does so, and has no report tell of what was drawn and is not kept: asked again, it is drawn anew. */
static void
keep_untold(List *runs, EState *root, void (*read_and_keep) (List *, EState *))
{
	PG_TRY();
	{
		watch_until_kept(runs, root, read_and_keep);
	}
	PG_CATCH();
	{
		dp_report_failure(NULL);
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/* Starts what finds bounds for a run, before its debit. */
static void
start_estimator(DpRun *run, DpPricedRelease *priced, EState *root)
{
	DpRun	   *estimator = palloc(sizeof(DpRun));

	*estimator = *run;
	estimator->priced = priced->before[DP_FINDS_BOUNDS];
	estimator->release = estimator->priced->release;
	estimator->tuples = NULL;
	estimator->is_hidden = true;
	estimator->pilot = NULL;
	estimator->kept = run->kept ? run->kept->before[DP_FINDS_BOUNDS] : NULL;
	estimator->asked = NULL;
	estimator->desc = dp_estimator_desc(estimator->release);
	dp_start_inner(estimator, estimator->priced, root);
	run->estimator = estimator;
}

static List *notice_usual_bounds(const DpPricedRelease *priced, List *told);

/*
 * Tells what follows from the bounds that a run has found, which the counts that were paid for decide alone, and that are kept by now.
 * "told" has the messages of the statement.
 */
static List *
tell_of_found(const DpRun *run, const DpPricedRelease *priced, List *told)
{
	/* the release itself reads what its pilot has had kept, and tells of it */
	if (run->pilot != NULL && run->kept != NULL)
		return told;
	for (int i = 0; i < priced->ncolumns; i++)
	{
		char	   *label = priced->columns[i].desc->label;

		if (!priced->columns[i].is_lacking || list_member(told, makeString(label)))
			continue;
		ereport(WARNING,
				(errmsg("%s is NULL, as too few people have values for bounds to be found; write bounds as its arguments, or SET dp_cdp.rho higher",
						label)));
		told = lappend(told, makeString(label));
	}
	return notice_usual_bounds(priced, told);
}

/* Finds the bounds for a run, which are paid for, and settles what follows from them. */
static void
find_bounds(DpRun *run, DpPricedRelease *priced, EState *root)
{
	DpRun	   *estimator = run->estimator;

	estimator->charged = run->charged;
	estimator->payer = run->payer;
	if (estimator->kept != NULL)
		dp_kept_derive(estimator->kept);
	dp_run_inner(estimator, root);
	priced->found = dp_read_found(estimator);
	dp_rows_end(estimator->rows);
	estimator->rows = NULL;
	dp_settle_found(priced, root);
	if (run->kept != NULL && run->kept->before[DP_FINDS_LIMITS] == NULL)
		dp_kept_begin(run->kept, run->desc);
}

/*
 * Reads the bounds that are kept and that who asks has paid for, so that nothing is
 * left to be found after the debit.  What somebody else has paid for is read after it.
 */
static void
read_kept_bounds(List *runs, List *releases, EState *root)
{
	List	   *told = NIL;
	ListCell   *lc,
			   *priced;

	forboth(lc, runs, priced, releases)
	{
		DpRun	   *run = lfirst(lc);
		DpKept	   *bounds = run->kept ? run->kept->before[DP_FINDS_BOUNDS] : NULL;

		if (bounds == NULL || !dp_kept_is_free(bounds))
			continue;
		start_estimator(run, lfirst(priced), root);
		find_bounds(run, lfirst(priced), root);
		told = tell_of_found(run, lfirst(priced), told);
	}
}

/* Finds the bounds that the debit has paid for, and starts the inner plans with these. */
static void
find_all_bounds(List *runs, EState *root)
{
	List	   *found = NIL;
	List	   *told = NIL;

	foreach_ptr(DpRun, run, runs)
	{
		if (run->estimator == NULL || run->priced->found != NULL)
			continue;
		find_bounds(run, run->priced, root);
		dp_start_inner(run, run->priced, root);
		found = lappend(found, run);
	}
	/* before messages, reports and errors may tell of them */
	dp_keep_found(runs);
	foreach_ptr(const DpRun, run, found)
		told = tell_of_found(run, run->priced, told);
}

/* Starts the inner plans of releases, as far as these read rows. */
static void
start_releases(List *runs, List *releases, EState *root, const DpCharge *charged)
{
	ListCell   *run,
			   *priced;

	forboth(run, runs, priced, releases)
	{
		((DpRun *) lfirst(run))->charged = *charged;
		dp_start_inner(lfirst(run), lfirst(priced), root);
		if (((DpPricedRelease *) lfirst(priced))->before[DP_FINDS_BOUNDS] == NULL || ((DpPricedRelease *) lfirst(priced))->found != NULL)
			continue;
		/* it can be started, and will be when it has bounds */
		dp_end_inner(lfirst(run));
		start_estimator(lfirst(run), lfirst(priced), root);
	}
}

/*
 * Runs the pilot that a target of accuracy needs: a release of its own whose
 * answers nobody sees, but which may be kept.  Returns the release at its final prices, and adds what the pilot cost to charged.
 */
static DpPricedRelease *
run_pilot(DpRun *run, DpPricedRelease *usual, EState *root, DpCharge *charged)
{
	DpPricedRelease *priced;
	DpRun		trial = *run;
	List	   *trials = list_make1(&trial);
	List	   *releases;

	trial.pilot = dp_pilot_create(run->release, usual);
	trial.is_hidden = true;
	/* a price that is too low fails here, before anything is paid */
	dp_price_release(run->release, root, dp_pilot_floors(trial.pilot), run->tuples);
	trial.priced = dp_price_release(run->release, root, dp_pilot_prices(trial.pilot), run->tuples);
	releases = list_make1(trial.priced);
	dp_look_for_kept(trials, releases, root);
	read_kept_bounds(trials, releases, root);
	for (int i = 0; i < trial.priced->ncolumns; i++)
		dp_pilot_set_price(trial.pilot, i, trial.priced->columns[i].rho);
	trial.payer = GetUserId();
	start_releases(trials, releases, root, charged);
	debit_releases(trials, releases, root, charged);
	trial.charged = run->charged = *charged;
	keep_untold(trials, root, find_all_bounds);
	if (trial.kept == NULL)
		dp_run_inner(&trial, root);
	else
		keep_untold(trials, root, run_kept);
	priced = dp_price_release(run->release, root, dp_pilot_settle(trial.pilot, usual), run->tuples);
	/* what is kept is looked for, and found, as any other */
	if (trial.kept == NULL)
		dp_settle_by_pilot(priced, trial.priced, root);
	return priced;
}

/*
 * Refuses (ZC002) parameters that are too long to be put into a tuple of the
 * inner run, and such that take too much memory when each of so many releases
 * has its copy.  Arrays are lists to compare with, and never put into tuples.
 */
static void
check_parameters(ParamListInfo params, int releases)
{
	int64		allowed = (int64) dp_guc_release_memory * 1024;
	int64		bytes = 0;

	for (int i = 0; params && i < params->numParams; i++)
	{
		ParamExternData workspace;
		ParamExternData *p = params->paramFetch
		? params->paramFetch(params, i + 1, false, &workspace) : &params->params[i];

		if (p->isnull || !OidIsValid(p->ptype) || get_typlen(p->ptype) != -1)
			continue;
		bytes += dp_value_bytes(p->value);
		if (!OidIsValid(get_element_type(p->ptype)) && dp_value_bytes(p->value) > DP_MAX_TEXT)
			dp_raise(NOT_RELEASABLE,
					 errmsg("parameter $%d is longer than %d bytes, which a private query cannot take; make it shorter",
							i + 1, DP_MAX_TEXT));
	}
	if (bytes > allowed / Max(releases, 1))
		dp_raise(NOT_RELEASABLE,
				 errmsg("the parameters of this query take %s, times %d for its releases, and dp_cdp.release_memory allows %s; shorten lists, or ask for fewer releases at once",
						dp_memory_text(bytes), releases, dp_memory_text(allowed)));
}

/*
 * Computes the rows that inner plans join with, and the tuples of keys, by
 * which prices are settled anew.
 */
static void
read_public_inputs(List *runs, List *releases, EState *root)
{
	ListCell   *lc,
			   *priced;

	forboth(lc, runs, priced, releases)
	{
		DpRun	   *run = lfirst(lc);

		/* declared keys alone are public, and read nothing else */
		if (run->release->columns != NIL || dp_has_public_queries(run->release))
			dp_run_prefetches(run, false);
		/* it may be set between two fetches */
		run->timezone = pstrdup(GetConfigOption("TimeZone", false, false));
		run->tuples = dp_find_key_tuples(run->release, root, run->prefetched, run->timezone);
		if (run->tuples != NULL)
			lfirst(priced) = dp_price_release(run->release, root, NULL, run->tuples);
	}
}

/* Refuses what has changed since it was planned; the asker's code has run for the last time before rows are read. */
static void
hold_releases(List *runs, List *releases, EState *root)
{
	ListCell   *run,
			   *priced;

	forboth(run, runs, priced, releases)
	{
		DpRelease  *release = ((DpRun *) lfirst(run))->release;
		Oid			owner = ((DpPricedRelease *) lfirst(priced))->dataset->owner;

		dp_hold_objects(release, owner, false);
		if (release->estimator != NULL)
			dp_hold_objects(release->estimator, owner, false);
		dp_check_unique_keys(release, root->es_snapshot);
	}
}

/*
 * Prices the rest of groups, for a target of accuracy that needs a pilot: at the prices of the groups, which have had theirs.
 * The rest itself is not known before they are shown.
 */
static DpPricedRelease *
price_as_groups(const DpPricedRelease *usual, List *releases, EState *root)
{
	const DpPricedRelease *groups = dp_priced_groups(usual, releases);
	int64	   *prices = palloc0(usual->ncolumns * sizeof(int64));

	for (int i = 0; i < Min(usual->ncolumns, groups->ncolumns); i++)
		prices[i] = groups->columns[i].rho;
	return dp_price_release(usual->release, root, prices, usual->tuples);
}

/* Prices releases, and settles which answers of theirs are given again. */
static List *
price_statement(List *runs, EState *root, DpCharge *charged)
{
	List	   *releases = NIL;
	ListCell   *run,
			   *priced;

	foreach_ptr(DpRun, item, runs)
		releases = lappend(releases, dp_price_release(item->release, root, NULL, dp_tuples_later));
	read_public_inputs(runs, releases, root);
	hold_releases(runs, releases, root);
	forboth(run, runs, priced, releases)
	{
		DpRelease  *release = ((DpRun *) lfirst(run))->release;

		if (!dp_target_needs_pilot(release))
			continue;
		if (release->rest_of != NULL)
			lfirst(priced) = price_as_groups(lfirst(priced), releases, root);
		else
			lfirst(priced) = run_pilot(lfirst(run), lfirst(priced), root, charged);
	}
	dp_look_for_kept(runs, releases, root);
	read_kept_bounds(runs, releases, root);
	return releases;
}

/*
 * Refuses serializable transactions whose reads PostgreSQL keeps track of: each row that the inner run meets and that a
 * concurrent transaction has written would be remembered, and fail this transaction or that one later.  A deferrable
 * one has a snapshot with which nothing can conflict; a transaction that became read only when it had begun has none.
 */
static void
refuse_tracked_reads(void)
{
	if (!IsolationIsSerializable() || (XactReadOnly && XactDeferrable && ShareSerializableXact() == NULL))
		return;
	dp_raise(NOT_RELEASABLE,
			 errmsg("private aggregates are not released in SERIALIZABLE transactions that may conflict with others; nothing was charged: ask after BEGIN ISOLATION LEVEL REPEATABLE READ"),
			 errdetail("Conflicts would depend on the rows that the query meets. After BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE there are none."),
			 errhint("If the session's transactions are serializable by default: SET default_transaction_isolation = 'repeatable read'."));
}

/* Says of the columns of a release that a test finds how much of a person counts in them; releases of one statement say the same once. */
static List *
notice_limits(const DpPricedRelease *priced, bool (*test) (const DpPricedRelease *, const DpPricedColumn *), const char *counts,
			  const char *hint, List *told)
{
	StringInfoData labels;
	char	   *message;

	initStringInfo(&labels);
	for (int i = 0; i < priced->ncolumns; i++)
		if (test(priced, &priced->columns[i]))
			appendStringInfo(&labels, "%s%s", labels.len > 0 ? ", " : "", priced->columns[i].desc->label);
	if (labels.len == 0)
		return told;
	message = psprintf("a person counts %s in %s", counts, labels.data);
	if (list_member(told, makeString(message)))
		return told;
	ereport(NOTICE,
			(errmsg_internal("%s", message),
			 errhint("%s", hint)));
	return lappend(told, makeString(message));
}

/* Says of which aggregates bounds are those of as many rows as usual, as nobody has set how many, and none were found, if any were looked for. */
static List *
notice_usual_bounds(const DpPricedRelease *priced, List *told)
{
	return notice_limits(priced, dp_has_usual_bounds, psprintf("with values of at most %d rows", priced->unit_rows),
						 "Bounds of these values follow from max_rows, which nobody has set. SET dp_cdp.max_rows to how many rows a person may have.", told);
}

/* Says of which aggregates people lose groups, where that is public.  "told" has the messages of the statement. */
static List *
notice_hard_limits(const DpPricedRelease *priced, List *told)
{
	char	   *groups = psprintf("in at most %d of these " INT64_FORMAT " groups", priced->max_groups, priced->declared);
	char	   *hint = psprintf("Which groups is drawn at random. SET dp_cdp.max_groups = " INT64_FORMAT " to count more of them%s.",
								(int64) Min(priced->declared, DP_MAX_CONTRIBUTION),
								dp_limits_norms(priced->dataset, priced->release) ? "" : "; with SET dp_cdp.max_contribution = auto, too, noise does not grow with groups");

	return notice_usual_bounds(priced, notice_limits(priced, dp_cuts_groups, groups, hint, told));
}

/*
 * Says of a release that is charged why all blocks of time are, where conditions name a block column; kept: its answers
 * are, NULL: they are not.  "told" has the messages of the statement.
 */
static List *
notice_undated(const DpPricedRelease *priced, const DpKept *kept, List *told)
{
	const DpRelease *release = priced->release;
	char	   *message;

	if (release->undated == NULL || priced->ncolumns == 0 || (kept != NULL && dp_kept_is_free(kept)))
		return told;
	message = psprintf("all blocks of time are charged, as no condition says between which days rows of table \"%s\" are", release->undated);
	if (list_member(told, makeString(message)))
		return told;
	if (release->undated_column != NULL)
		ereport(NOTICE,
				(errmsg_internal("%s", message),
				 errhint("Compare column \"%s\" itself with days, such as WHERE %s >= '2026-01-01' AND %s < '2026-02-01'. EXPLAIN shows which blocks are charged.",
						 release->undated_column, quote_identifier(release->undated_column), quote_identifier(release->undated_column))));
	else
		ereport(NOTICE,
				(errmsg_internal("%s", message),
				 errhint("Join the table that its foreign key references, and compare the column of time there with days. EXPLAIN shows which blocks are charged.")));
	return lappend(told, makeString(message));
}

/*
 * Whatever can fail for a reason of the query's own comes before the debit: prices and bounds,
 * then the rows that inner plans join with, and the start of their executors.
 * What is kept is drawn and kept here, too, so that nobody waits for a question
 * until somebody fetches.
 */
void
dp_buy(List *runs, EState *root)
{
	List	   *releases;		/* DpPricedRelease */
	List	   *told = NIL;
	DpCharge	charged = {0};
	ListCell   *run,
			   *priced;

	/* more than what is called between here and there takes */
	dp_stack_check(64 * 1024);
	check_parameters(root->es_param_list_info, list_length(runs));
	dp_refuse_on_worker();
	refuse_tracked_reads();
	releases = price_statement(runs, root, &charged);
	foreach_ptr(const DpPricedRelease, release, releases)
		told = notice_hard_limits(release, told);
	forboth(run, runs, priced, releases)
		told = notice_undated(lfirst(priced), ((DpRun *) lfirst(run))->kept, told);
	start_releases(runs, releases, root, &charged);
	debit_releases(runs, releases, root, &charged);
	forboth(run, runs, priced, releases)
	{
		((DpRun *) lfirst(run))->charged = charged;
		((DpRun *) lfirst(run))->priced = lfirst(priced);
		((DpRun *) lfirst(run))->payer = GetUserId();
	}
	keep_untold(runs, root, find_all_bounds);
	/* by the noise of what is kept, too, which is settled */
	dp_agree(releases);
	forboth(run, runs, priced, releases)
		dp_agree_run(lfirst(priced), lfirst(run));
	foreach(priced, releases)
		dp_report_release(lfirst(priced), priced == list_head(releases));
	keep_untold(runs, root, run_kept);
}

/* Prices the limits of releases, and returns the items of their debit; NIL where nothing is to be found. */
static List *
price_limits(List *runs, List *releases, EState *root, const int64 *rho)
{
	List	   *items = NIL;
	ListCell   *lc,
			   *priced;

	forboth(lc, runs, priced, releases)
	{
		DpRun	   *run = lfirst(lc);
		DpPricedRelease *release = dp_price_limits(run->release, root, rho[foreach_current_index(lc)], run->tuples);
		DpDebitItem *item;

		if (release == NULL)
			return NIL;
		item = dp_priced_debit(release->before[DP_FINDS_LIMITS]);
		item->groups = release->groups;
		items = lappend(items, item);
		lfirst(priced) = release;
		run->is_hidden = true;
	}
	return items;
}

bool
dp_buy_limits(List *runs, EState *root, const int64 *rho)
{
	List	   *releases = NIL;
	List	   *items;
	DpCharge	charged = {0};
	ListCell   *run,
			   *priced;

	dp_stack_check(64 * 1024);
	dp_refuse_on_worker();
	refuse_tracked_reads();
	foreach_ptr(DpRun, item, runs)
		releases = lappend(releases, dp_price_release(item->release, root, NULL, dp_tuples_later));
	read_public_inputs(runs, releases, root);
	hold_releases(runs, releases, root);
	items = price_limits(runs, releases, root, rho);
	if (items == NIL)
		return false;
	start_releases(runs, releases, root, &charged);
	dp_ledger_set_query(root->es_sourceText, 0, 0);
	dp_ledger_debit_caps(items);
	foreach_ptr(DpPricedRelease, release, releases)
		add_charge(&charged, release->before[DP_FINDS_LIMITS]->rho, 0);
	forboth(run, runs, priced, releases)
	{
		((DpRun *) lfirst(run))->charged = charged;
		((DpRun *) lfirst(run))->priced = lfirst(priced);
		((DpRun *) lfirst(run))->payer = GetUserId();
	}
	foreach_ptr(DpRun, item, runs)
		dp_run_inner(item, root);
	return true;
}
