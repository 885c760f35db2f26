/*-------------------------------------------------------------------------
 *
 * explain.c
 *	  What EXPLAIN shows of a release: price, noise and budgets.
 *
 * Nothing of the inner plan is shown, because its shape and its costs depend
 * on data; but to who may read all of its tables, and has it run by EXPLAIN ANALYZE.
 * EXPLAIN never debits.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/amounts.h"
#include "base/clock.h"
#include "base/compat.h"
#include "base/settings.h"
#include "ledger/ledger.h"
#include "math/normal.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "release/question.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

static char *
format_amount(int64 amount, int64 one)
{
	return psprintf("%.12g", (double) amount / one);
}

/* Shows items in the text format as a line for each, in other formats, where names are unique, as a list. */
static void
explain_list(const char *line, const char *list, List *items, ExplainState *es)
{
	ListCell   *lc;

	if (es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyList(list, items, es);
	else
		foreach(lc, items)
			ExplainPropertyText(line, lfirst(lc), es);
}

static bool
any_param(Node *node, void *context)
{
	return node != NULL && (IsA(node, Param) || expression_tree_walker(node, any_param, context));
}

/* Bounds, and the ends of blocks, may be parameters, whose values EXPLAIN does not know. */
bool
dp_parameters_known(const DpRelease *release, EState *estate)
{
	ListCell   *lc;

	if (estate->es_param_list_info != NULL)
		return true;
	if (any_param((Node *) release->block_first, NULL) || any_param((Node *) release->block_last, NULL))
		return false;
	foreach(lc, release->columns)
	{
		DpReleaseColumn *column = lfirst(lc);

		List	   *written = list_make5(column->lower, column->upper, column->lower2, column->upper2, column->detail);
		ListCell   *expr;

		written = lappend(lappend(written, column->total_lower), column->total_upper);
		foreach(expr, written)
		{
			if (lfirst(expr) && !IsA(lfirst(expr), Const))
				return false;
		}
		if ((column->derived && dp_bound_has_params(column->derived)) ||
			(column->derived2 && dp_bound_has_params(column->derived2)))
			return false;
	}
	return true;
}

/* Returns a line on one budget; after: what a debit of rho would leave. */
static char *
budget_line(const DpLedgerBalance *balance, const DpDataset *dataset, int64 rho, bool after)
{
	char	   *line = psprintf("%s: %s of rho %s remain",
								DatumGetCString(DirectFunctionCall1(regroleout, ObjectIdGetDatum(balance->role))),
								numeric_normalize(balance->rho_remaining),
								numeric_normalize(balance->rho_limit));

	if (after)
	{
		Numeric		price = dp_amount_numeric(rho, DP_RHO_SCALE);
		Datum		left = DirectFunctionCall2(numeric_sub, NumericGetDatum(balance->rho_remaining),
											   NumericGetDatum(price));

		line = psprintf("%s, %s after this release", line, numeric_normalize(DatumGetNumeric(left)));
	}
	if (dp_ledger_is_closed(balance->failures, dataset->max_failures))
		line = psprintf("%s; closed by failures (%d of today) until %s, or until the owner of the dataset calls dp_cdp.reset_failures",
						line, balance->failures, timestamptz_to_str(balance->failures_end));
	return line;
}

/* Shows the budgets that a debit of rho would touch, all of which the asking roles may see. */
static void
explain_budgets(const DpDataset *dataset, const DpDays *days, int64 rho, ExplainState *es)
{
	List	   *balances = dp_ledger_balances(dataset->name, days);
	List	   *lines = NIL;
	ListCell   *lc;

	foreach(lc, balances)
		lines = lappend(lines, budget_line(lfirst(lc), dataset, rho, es->verbose));
	if (lines == NIL)
		lines = list_make1(psprintf("none: role %s has no privacy budget for dataset \"%s\", and the query would be refused",
									quote_identifier(GetUserNameFromId(GetUserId(), false)), dataset->name));
	explain_list("Budget", "Budgets", lines, es);
}

/* Tells, as a notice, why a query that was only previewed would be refused whatever it costs. */
void
dp_notice_no_budget(const DpDataset *dataset)
{
	List	   *balances = dp_ledger_balances(dataset->name, NULL);
	ListCell   *lc;

	if (balances == NIL)
		ereport(NOTICE,
				(errmsg("role \"%s\" has no privacy budget for dataset \"%s\", and the query would be refused; the dataset's owner can give one with dp_cdp.set_budget",
						GetUserNameFromId(GetUserId(), false), dataset->name)));
	foreach(lc, balances)
	{
		DpLedgerBalance *balance = lfirst(lc);

		if (dp_ledger_is_closed(balance->failures, dataset->max_failures))
			ereport(NOTICE,
					(errmsg("the privacy budget of role \"%s\" for dataset \"%s\" is closed by failures (%d of today) until %s, or until the dataset's owner calls dp_cdp.reset_failures",
							GetUserNameFromId(balance->role, true), dataset->name, balance->failures,
							timestamptz_to_str(balance->failures_end))));
	}
}

/* Shows the plan that has read the rows, below the release, with what it took. */
static void
explain_inner(QueryDesc *inner, ExplainState *es)
{
	ExplainState save;

	ExplainOpenGroup("Inner Plan", "Inner Plan", true, es);
	save = *es;
	es->settings = false;		/* those of the whole statement are shown once */
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		appendStringInfoSpaces(es->str, es->indent * 2);
		appendStringInfoString(es->str, "Inner Plan:\n");
		es->indent++;
	}
	ExplainPrintPlan(es, inner);

	/*
	 * what it knows of the outer plan; a list in which groups that are open
	 * stay as they are
	 */
	save.grouping_stack = es->grouping_stack;
	*es = save;
	ExplainCloseGroup("Inner Plan", "Inner Plan", true, es);
}

/* Returns what follows bounds that depend on how many rows of a unit count. */
static char *
rows_text(const DpPricedRelease *priced, const DpPricedColumn *column, bool depends)
{
	const DpBound *derived = column->desc->lower == NULL ? column->desc->derived : NULL;

	depends |= derived && (dp_bound_has(derived, DP_BOUND_ROWS) || dp_bound_has(derived, DP_BOUND_TOTAL));
	return depends ? psprintf(" (max_rows %d)", priced->unit_rows) : "";
}

/* Returns what a line says of the limits of a sum's rows and totals, and of bounds that nobody has written; "" of others. */
static char *
limits_text(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	if (priced->release->is_finder)
		return "  found first";
	if (column->later)
		return column->found_first ? "  values within bounds that are found first" : "  values within what public columns hold";
	if (column->totals.known && priced->release->has_unit)
		return psprintf("  rows within %.12g .. %.12g, a unit's total within %.12g .. %.12g%s",
						column->rows.lower, column->rows.upper, column->totals.lower, column->totals.upper,
						rows_text(priced, column, column->totals_by_rows));
	if (column->rows.known && column->desc->shows_bounds)
		return psprintf("  values within %.12g .. %.12g%s", column->rows.lower, column->rows.upper,
						rows_text(priced, column, false));
	return "";
}

/* Shows the identities of a release's questions, in the order of its columns, where they are known before it runs. */
static void
explain_questions(DpPricedRelease *priced, EState *estate, ExplainState *es)
{
	DpQuestion *questions = dp_questions_early(priced, priced, estate);
	List	   *lines = NIL;

	for (int i = 0; questions != NULL && i < priced->ncolumns; i++)
		lines = lappend(lines, dp_question_text(&questions[i]));
	if (lines != NIL)
		explain_list("Question", "Questions", lines, es);
}

/* Returns what a line says of an answer that is kept; "" where it is bought. */
static char *
kept_text(const DpPricedColumn *column, bool is_wider)
{
	Interval   *age;
	char	   *text;

	if (column->is_twin)
		return "  the same as another, which pays";
	if (column->kept_since == 0)
		return "";
	/* whole seconds, as a line for people */
	age = palloc0(sizeof(Interval));
	age->time = Max(dp_now() - column->kept_since, 0) / USECS_PER_SEC * USECS_PER_SEC;
	text = DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(age)));

	if (!column->is_given)
		return psprintf("  makes a kept answer better, %s old, charged rho %s", text, format_amount(column->charged, DP_RHO_ONE));
	if (column->is_derived)
		return psprintf("  made of a better one that is kept, %s old, charged rho %s", text,
						format_amount(column->charged, DP_RHO_ONE));
	return psprintf("  kept%s, %s old, charged rho %s", is_wider ? " with more groups" : "", text,
					format_amount(column->charged, DP_RHO_ONE));
}

/* Returns what a release with its finder charges who asks. */
static int64
charged_rho(const DpPricedRelease *priced)
{
	int64		rho = priced->finder ? charged_rho(priced->finder) : 0;

	for (int i = 0; i < priced->ncolumns; i++)
		rho += priced->columns[i].charged;
	return rho;
}

/* Returns a line on each column. */
static List *
column_lines(const DpPricedRelease *priced, ExplainState *es)
{
	List	   *lines = NIL;

	for (int i = 0; i < priced->ncolumns; i++)
	{
		DpPricedColumn *column = &priced->columns[i];
		char	   *more = "";

		/* the margin is half of a 95 % interval */
		if (es->verbose)
			more = psprintf(" sensitivity=%.6g", dp_column_sensitivity(column));
		if (es->verbose && !dp_error_varies(column->desc))
			more = psprintf("%s margin=%.6g", more, column->sigma * dp_normal_tail_inverse(0.025));
		lines = lappend(lines,
						psprintf("%s  (%s rho=%s%s)%s%s%s", column->desc->label,
								 column->later ? "sigma known when it runs," : psprintf("sigma=%.6g", column->sigma),
								 format_amount(column->rho, DP_RHO_ONE), column->later ? "" : more,
								 limits_text(priced, column),
								 i == priced->release->selection ? "  selects keys" : "", kept_text(column, priced->is_wider || column->is_wider)));
	}
	return lines;
}

/* Returns a line on a release that a prefetch makes. */
static char *
before_line(const DpPricedRelease *priced)
{
	int64		rho = dp_total_rho(priced);
	int64		charged = charged_rho(priced);

	if (charged < rho)
		return psprintf("%s  (rho=%s)  kept, charged rho %s", priced->aggregates, format_amount(rho, DP_RHO_ONE),
						format_amount(charged, DP_RHO_ONE));
	return psprintf("%s  (rho=%s)", priced->aggregates, format_amount(rho, DP_RHO_ONE));
}

/* Tells whether a grouping set's counts and sums are made to add up with those of others, or why not. */
static void
explain_agreement(const DpPricedRelease *priced, ExplainState *es)
{
	const char *text = "counts and sums are made to add up with those of the other grouping sets, where none becomes noisier; "
	"dp_cdp.preview shows the noise then";

	if (priced->agreement == NULL)
		text = psprintf("no: %s", priced->apart ? priced->apart : "it is by itself");

	ExplainPropertyText("Consistent", text, es);
}

/* Settles what the releases of a statement that have not been bought would cost, all together: what is asked twice is paid for once. */
static void
foresee(EState *estate)
{
	/* it may be explained once more */
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	List	   *runs = NIL;
	List	   *asked = NIL;
	List	   *given;
	List	   *before = NIL;
	ListCell   *lc,
			   *run;

	foreach(lc, dp_runs_of(estate))
	{
		DpRun	   *r = lfirst(lc);

		if (r->priced != NULL || !dp_parameters_known(r->release, estate))
			continue;
		r->foreseen_before = dp_price_prefetches(r->release, estate, &before);
		r->foreseen = dp_price_release(r->release, estate, NULL, dp_find_key_tuples_early(r->release, estate));
		runs = lappend(runs, r);
		asked = lappend(asked, r->foreseen);
	}
	given = dp_foresee_kept(asked, estate, &before);
	(void) dp_foresee_agreement(given);
	forboth(lc, given, run, runs)
		((DpRun *) lfirst(run))->foreseen_given = lfirst(lc);
	MemoryContextSwitchTo(old);
}

/* Returns the execution of a release of a statement, which may be explained only. */
static DpRun *
run_of(EState *estate, const DpRelease *release)
{
	ListCell   *lc;

	foreach(lc, dp_runs_of(estate))
	{
		if (strcmp(((DpRun *) lfirst(lc))->release->name, release->name) == 0)
			return lfirst(lc);
	}
	elog(ERROR, "a release that is explained is not known");
}

/* Returns the price of a release that has been bought, which is told again. */
static DpPricedRelease *
price_bought(const DpRun *run, EState *estate)
{
	DpPricedRelease *priced = dp_price_release(run->release, estate, NULL, run->tuples);

	if (priced->finder != NULL)
	{
		priced->found = run->priced->found;
		dp_settle_found(priced, estate);
	}
	return priced;
}

void
dp_release_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	DpRelease  *release = dp_release_of_state(node);
	EState	   *estate = node->ss.ps.state;
	DpPricedRelease *priced,
			   *asked;
	DpRun	   *run;
	DpDataset  *dataset;
	int64		rho;
	bool		has_days;
	DpDays		days;
	List	   *lines = NIL;
	List	   *before = NIL;
	ListCell   *lc;

	ExplainPropertyText("Dataset", release->dataset, es);

	/*
	 * auto_explain asks when the statement is over, and SQL cannot be run any
	 * more
	 */
	if (!dp_parameters_known(release, estate) || !ActiveSnapshotSet())
		return;
	run = run_of(estate, release);
	if (run->priced == NULL && run->foreseen == NULL)
		foresee(estate);
	asked = run->priced != NULL ? price_bought(run, estate) : run->foreseen;
	if (run->priced == NULL)
		priced = run->foreseen_given;
	else
		priced = run->kept != NULL ? run->priced : asked;
	dataset = priced->dataset;
	rho = charged_rho(priced);
	has_days = priced->has_days;
	days = priced->days;
	if (priced->groups)
		ExplainPropertyText("Groups", asked->tuples == NULL && dp_has_key_tuples(release)
							? psprintf("%s  (known when it runs)", priced->groups) : priced->groups, es);
	if (priced->finder != NULL)
		lines = column_lines(priced->finder, es);
	lines = list_concat(lines, column_lines(priced, es));
	explain_list("Release", "Releases", lines, es);
	if (release->together != NULL && dp_wants_consistent(dataset))
		explain_agreement(run->priced ? run->priced : priced, es);
	/* programs compare them; nobody reads them */
	if (es->verbose && es->format != EXPLAIN_FORMAT_TEXT && dp_run_of_state(node) == NULL)
		explain_questions(asked, estate, es);
	if (asked->reads_too_much)
		ExplainPropertyText("Reuse", psprintf("none: what it asks depends on a table of more than %d rows (dp_cdp.max_public_rows)",
											  dp_guc_max_public_rows), es);
	if (dp_target_needs_pilot(release))
		ExplainPropertyText("Target Error", "prices are settled after a first look; those shown are the usual ones", es);
	/* small ones are of no interest */
	if (priced->memory >= 1024 * 1024)
		ExplainPropertyText("Memory", psprintf("%s for declared groups", dp_memory_text(priced->memory)), es);
	ExplainPropertyText("Rho", format_amount(rho, DP_RHO_ONE), es);
	if (priced->delta > 0)
	{
		ExplainPropertyText("Delta", format_amount(priced->charged_delta, DP_DELTA_ONE), es);
		ExplainPropertyInteger("Threshold", NULL, priced->threshold, es);
	}
	if (has_days)
		ExplainPropertyText("Blocks", psprintf("%s; each of them is charged, and what was seen of a person's rows in other blocks comes on top of it",
											   dp_days_text(days)), es);
	lines = NIL;
	foreach(lc, run->priced == NULL ? run->foreseen_before : dp_price_prefetches(release, estate, &before))
	{
		priced = lfirst(lc);
		lines = lappend(lines, before_line(priced));
	}
	if (lines != NIL)
		explain_list("Released Before", "Released Before", lines, es);
	explain_budgets(dataset, has_days ? &days : NULL, rho, es);
	if (es->analyze && dp_run_of_state(node) != NULL && dp_explained_plan(dp_run_of_state(node)) != NULL)
		explain_inner(dp_explained_plan(dp_run_of_state(node)), es);
}
