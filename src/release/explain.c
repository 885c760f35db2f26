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

#include "base/clock.h"
#include "base/compat.h"
#include "base/settings.h"
#include "base/walk.h"
#include "math/normal.h"
#include "nodes/nodeFuncs.h"
#include "release/fingerprint.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* how many digits limits are shown with, which are as they were written, and figures of noise */
#define LIMIT_DIGITS 15
#define NOISE_DIGITS 6

/* Returns half of a 95 % interval. */
static double
margin_of(double stddev)
{
	return stddev * dp_normal_tail_inverse(0.025);
}

/* Bounds, and the ends of blocks, may be parameters, whose values EXPLAIN does not know. */
bool
dp_parameters_known(const DpRelease *release, EState *estate)
{
	if (estate->es_param_list_info != NULL)
		return true;
	if (dp_has_nodes(release->block_first, T_Param) || dp_has_nodes(release->block_last, T_Param))
		return false;
	foreach_ptr(DpReleaseColumn, column, release->columns)
	{
		List	   *written = list_make5(column->lower, column->upper, column->lower2, column->upper2, column->detail);

		written = lappend(lappend(written, column->total_lower), column->total_upper);
		foreach_ptr(Node, expr, written)
		{
			if (expr && !IsA(expr, Const))
				return false;
		}
		if ((column->derived && dp_bound_has_params(column->derived)) ||
			(column->derived2 && dp_bound_has_params(column->derived2)))
			return false;
	}
	return true;
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

/* Tells whether what a line says of limits depends on how many rows of a unit count. */
static bool
limits_by_rows(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	return (column->totals.known && priced->release->has_unit && column->totals_by_rows) || dp_bounds_by_rows(column);
}

/* Returns the norm that a unit's contributions are held to, in rows, of sums at their larger bound. */
static double
norm_of(const DpPricedColumn *column)
{
	return (double) column->limits[column->limit] / column->norm_unit;
}

/* Returns in which groups of a unit a column counts it; "" where that are all. */
static char *
groups_text(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	return dp_cuts_groups(priced, column) ? psprintf(" in %d of " INT64_FORMAT " groups", priced->max_groups, priced->declared) : "";
}

/* Returns in which groups, and with how many rows, a column counts a unit; "" where these are all. */
static char *
counted_text(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	char	   *rows = dp_limits_rows(priced, column) && !limits_by_rows(priced, column)
	? psprintf(" with %d row%s%s", priced->max_rows, priced->max_rows == 1 ? "" : "s", dp_has_groups(priced->release) ? " of each group" : "") : "";

	return psprintf("%s%s", groups_text(priced, column), rows);
}

/* Returns the same for a line that goes on with a norm. */
static char *
counted_to_norm(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	char	   *counted = counted_text(priced, column);

	return *counted ? psprintf("%s,", counted) : "";
}

/* Returns why limits of a column are not shown, which its bounds depend on; NULL where they are known. */
static const char *
limits_later(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	if (priced->release->is_estimator)
		return "found first";
	if (column->later)
		return column->found_first ? "values within bounds that are found first" : "values within what public columns hold";
	if (dp_waits_for_limit(column))
		return psprintf("a unit counts%s up to a norm that is found first", counted_to_norm(priced, column));
	return NULL;
}

/* Returns what a line says of the limits of a sum's rows and totals, and of bounds that nobody has written; "" of others. */
static char *
limits_text(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	const char *later = limits_later(priced, column);
	char	   *by_rows = limits_by_rows(priced, column) ? psprintf(" (max_rows %d)", priced->unit_rows) : "";
	char	   *counted = counted_text(priced, column);

	if (*counted)
		counted = psprintf("  a unit counts%s", counted);
	if (later != NULL)
		return psprintf("  %s", later);
	if (column->nlimits > 0 && column->desc->weighs)
		return "  a unit in n groups weighs 1 / sqrt(n) in each";
	if (column->nlimits > 0)
		return psprintf("  a unit counts%s up to a norm of %.4g %s", counted_to_norm(priced, column), norm_of(column),
						column->parts[0].desc.kind == DP_VALUE_SUM ? "rows at the larger bound"
						: column->parts[0].desc.kind == DP_VALUE_DISTINCT ? "values" : "rows");
	if (column->totals.known && priced->release->has_unit)
		return psprintf("  rows within %.12g .. %.12g, a unit's total within %.12g .. %.12g%s%s",
						column->rows.lower, column->rows.upper, column->totals.lower, column->totals.upper, by_rows, counted);
	if (column->rows.known && column->desc->shows_bounds)
		return psprintf("  values within %.12g .. %.12g%s%s", column->rows.lower, column->rows.upper, by_rows, counted);
	return counted;
}

/* Returns what a report says of a column's limits, but for what they do to groups. */
static char *
limits_told(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	char	   *limits = limits_text(priced, column);

	if (!priced->release->has_unit)
		return pstrdup(*limits ? limits + 2 : "each row is a unit");
	if (*limits)
		return pstrdup(limits + 2);
	return psprintf("a unit adds %.6g at most", dp_column_sensitivity(column));
}

char *
dp_limits_told(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	char	   *limits = limits_told(priced, column);
	int			least = dp_min_units(priced);

	if (least > 1 && column - priced->columns == priced->release->selection)
		return psprintf("%s; a group that is shown has at least %d units", limits, least);
	if (least > 1 && column - priced->columns == priced->release->units)
		return psprintf("%s; where it is below %d, all answers of the group are NULL", limits, least);
	return limits;
}

/* Shows the limits of a column's rows and totals, in fields. */
static void
explain_limits(const DpPricedRelease *priced, const DpPricedColumn *column, ExplainState *es)
{
	const char *later = limits_later(priced, column);

	if (later != NULL)
	{
		ExplainPropertyText("Limits", later, es);
		return;
	}
	if (column->rows.known)
	{
		dp_explain_number("Row Lower", column->rows.lower, LIMIT_DIGITS, es);
		dp_explain_number("Row Upper", column->rows.upper, LIMIT_DIGITS, es);
	}
	if (column->nlimits > 0)
		dp_explain_number("Norm", norm_of(column), LIMIT_DIGITS, es);
	if (dp_cuts_groups(priced, column))
		ExplainPropertyInteger("Max Groups", NULL, priced->max_groups, es);
	if (column->totals.known && priced->release->has_unit)
	{
		dp_explain_number("Total Lower", column->totals.lower, LIMIT_DIGITS, es);
		dp_explain_number("Total Upper", column->totals.upper, LIMIT_DIGITS, es);
	}
	if (limits_by_rows(priced, column) || dp_limits_rows(priced, column))
		ExplainPropertyInteger("Max Rows", NULL, limits_by_rows(priced, column) ? priced->unit_rows : priced->max_rows, es);
}

/* Shows the fingerprints of what a release asks, in the order of its columns, where they are known before it runs. */
static void
explain_fingerprints(DpPricedRelease *priced, EState *estate, ExplainState *es)
{
	DpFingerprint *fingerprints = dp_fingerprints_early(priced, priced, estate);
	List	   *lines = NIL;

	for (int i = 0; fingerprints != NULL && i < priced->ncolumns; i++)
		lines = lappend(lines, dp_fingerprint_text(&fingerprints[i]));
	if (lines != NIL)
		ExplainPropertyList("Fingerprints", lines, es);
}

/* Returns how a column is answered where that is kept; NULL where it is bought. */
static const char *
kept_how(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	if (column->is_duplicate)
		return "the same as another, which pays";
	if (column->reused_since == 0)
		return NULL;
	if (!column->is_given)
		return "makes a kept answer better";
	if (column->is_derived)
		return "made of a better one that is kept";
	return priced->is_wider || column->is_wider ? "kept with more groups" : "kept";
}

/* Returns what a line says of an answer that is kept; "" where it is bought. */
static char *
kept_text(const DpPricedRelease *priced, const DpPricedColumn *column)
{
	const char *how = kept_how(priced, column);
	Interval   *age;

	if (how == NULL)
		return "";
	if (column->is_duplicate)
		return psprintf("  %s", how);
	/* whole seconds, as a line for people */
	age = palloc0(sizeof(Interval));
	age->time = Max(dp_now() - column->reused_since, 0) / USECS_PER_SEC * USECS_PER_SEC;
	return psprintf("  %s, %s old, charged rho %s", how,
					DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(age))),
					dp_format_amount(column->charged, DP_RHO_ONE));
}

/* Returns what a release with those before it charges who asks. */
static int64
charged_rho(const DpPricedRelease *priced)
{
	int64		rho = 0;

	for (DpBefore b = 0; b < DP_BEFORES; b++)
		rho += priced->before[b] ? charged_rho(priced->before[b]) : 0;
	for (int i = 0; i < priced->ncolumns; i++)
		rho += priced->columns[i].charged;
	return rho;
}

/* Returns a line on a column. */
static char *
column_line(const DpPricedRelease *priced, int i, ExplainState *es)
{
	const DpPricedColumn *column = &priced->columns[i];
	DpNoise		noise = dp_noise_before(priced, column);
	char	   *more = "";

	if (es->verbose && noise.kind != DP_NOISE_LATER)
		more = psprintf(" sensitivity=%.6g", dp_column_sensitivity(column));
	if (es->verbose && noise.kind == DP_NOISE_KNOWN)
		more = psprintf("%s margin=%.6g", more, margin_of(noise.figure));
	return psprintf("%s  (%s rho=%s%s)%s%s%s", column->desc->label, dp_noise_text(&noise),
					dp_format_amount(column->rho, DP_RHO_ONE), more, limits_text(priced, column),
					i == priced->release->selection ? "  selects keys" : i == priced->release->units ? "  tells which groups have answers" : "",
					kept_text(priced, column));
}

/* Shows a column in fields. */
static void
explain_column(const DpPricedRelease *priced, int i, ExplainState *es)
{
	const DpPricedColumn *column = &priced->columns[i];
	DpNoise		noise = dp_noise_before(priced, column);
	const char *kept = kept_how(priced, column);

	ExplainOpenGroup("Release", NULL, true, es);
	ExplainPropertyText("Aggregate", column->desc->label, es);
	dp_explain_amount("Rho", column->rho, DP_RHO_ONE, es);
	dp_explain_amount("Charged Rho", column->charged, DP_RHO_ONE, es);
	if (noise.kind != DP_NOISE_LATER)
	{
		dp_explain_number(dp_noise_label(&noise), noise.figure, NOISE_DIGITS, es);
		dp_explain_number("Sensitivity", dp_column_sensitivity(column), NOISE_DIGITS, es);
	}
	if (noise.kind == DP_NOISE_KNOWN)
		dp_explain_number("Margin", margin_of(noise.figure), NOISE_DIGITS, es);
	explain_limits(priced, column, es);
	ExplainPropertyBool("Selects Keys", i == priced->release->selection, es);
	if (kept != NULL)
		ExplainPropertyText("Kept", kept, es);
	if (column->reused_since != 0)
		ExplainPropertyText("Reused Since", timestamptz_to_str(column->reused_since), es);
	ExplainCloseGroup("Release", NULL, true, es);
}

/* Shows the columns of a release, those first that find bounds and limits for it. */
static void
explain_columns(const DpPricedRelease *priced, ExplainState *es)
{
	for (DpBefore b = 0; b < DP_BEFORES; b++)
		if (priced->before[b] != NULL)
			explain_columns(priced->before[b], es);
	for (int i = 0; i < priced->ncolumns; i++)
	{
		if (es->format == EXPLAIN_FORMAT_TEXT)
			ExplainPropertyText("Release", column_line(priced, i, es), es);
		else
			explain_column(priced, i, es);
	}
}

/* Shows the names of grouping keys, and whether the groups are known. */
static void
explain_groups(const DpPricedRelease *priced, bool known, ExplainState *es)
{
	List	   *labels = NIL;

	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyText("Groups", known ? priced->groups : psprintf("%s  (known when it runs)", priced->groups), es);
		return;
	}
	foreach_ptr(DpReleaseKey, key, priced->release->keys)
		labels = lappend(labels, key->label);
	if (priced->release->rest_of != NULL)
		labels = list_make1(priced->groups);
	ExplainPropertyList("Groups", labels, es);
	ExplainPropertyBool("Groups Known", known, es);
}

/* Shows a release that a prefetch makes. */
static void
explain_before(const DpPricedRelease *priced, ExplainState *es)
{
	int64		rho = dp_total_rho(priced);
	int64		charged = charged_rho(priced);
	char	   *line;

	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		line = psprintf("%s  (rho=%s)", priced->aggregates, dp_format_amount(rho, DP_RHO_ONE));
		if (charged < rho)
			line = psprintf("%s  kept, charged rho %s", line, dp_format_amount(charged, DP_RHO_ONE));
		ExplainPropertyText("Released Before", line, es);
		return;
	}
	ExplainOpenGroup("Release", NULL, true, es);
	ExplainPropertyText("Aggregates", priced->aggregates, es);
	dp_explain_amount("Rho", rho, DP_RHO_ONE, es);
	dp_explain_amount("Charged Rho", charged, DP_RHO_ONE, es);
	ExplainCloseGroup("Release", NULL, true, es);
}

/* Tells whether a grouping set's counts and sums are made to add up with those of others, or why not. */
static void
explain_agreement(const DpPricedRelease *priced, ExplainState *es)
{
	const char *apart = priced->apart ? priced->apart : "it is by itself";

	if (es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyBool("Consistent", priced->agreement != NULL, es);
		if (priced->agreement == NULL)
			ExplainPropertyText("Not Consistent", apart, es);
	}
	else if (priced->agreement == NULL)
		ExplainPropertyText("Consistent", psprintf("no: %s", apart), es);
	else
		ExplainPropertyText("Consistent", "counts and sums are made to add up with those of the other grouping sets, where none becomes noisier; "
							"dp_cdp.preview shows the noise then", es);
}

/* Shows which blocks are charged. */
static void
explain_blocks(DpDays days, ExplainState *es)
{
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyText("Blocks", psprintf("%s; each block is charged the whole price, and the promise is for each person and block",
											   dp_days_text(days)), es);
		return;
	}
	ExplainPropertyText("Block From", DatumGetCString(DirectFunctionCall1(date_out, DateADTGetDatum(days.from))), es);
	ExplainPropertyText("Block To", DatumGetCString(DirectFunctionCall1(date_out, DateADTGetDatum(days.to))), es);
}

/* Shows what declared groups take; of small sizes, which are of no interest, nothing. */
static void
explain_memory(int64 bytes, ExplainState *es)
{
	if (es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyInteger("Memory Usage", "kB", (bytes + 1023) / 1024, es);
	else if (bytes >= 1024 * 1024)
		ExplainPropertyText("Memory", psprintf("%s for declared groups", dp_memory_text(bytes)), es);
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

	foreach_ptr(DpRun, r, dp_runs_of(estate))
	{
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
	foreach_ptr(DpRun, item, dp_runs_of(estate))
	{
		if (strcmp(item->release->name, release->name) == 0)
			return item;
	}
	elog(ERROR, "a release that is explained is not known");
}

/* Returns the price of a release that has been bought, which is told again. */
static DpPricedRelease *
price_bought(const DpRun *run, EState *estate)
{
	DpPricedRelease *priced = dp_price_release(run->release, estate, NULL, run->tuples);

	if (priced->before[DP_FINDS_BOUNDS] != NULL)
	{
		priced->found = run->priced->found;
		dp_settle_found(priced, estate);
	}
	if (priced->before[DP_FINDS_LIMITS] != NULL && run->priced->limits != NULL)
	{
		priced->limits = run->priced->limits;
		dp_settle_limits(priced);
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
	List	   *released;
	List	   *before = NIL;

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
		explain_groups(priced, asked->tuples != NULL || !dp_has_key_tuples(release), es);
	ExplainOpenGroup("Releases", "Releases", false, es);
	explain_columns(priced, es);
	ExplainCloseGroup("Releases", "Releases", false, es);
	if (release->together != NULL && dp_wants_consistent(dataset))
		explain_agreement(run->priced ? run->priced : priced, es);
	/* programs compare them; nobody reads them */
	if (es->verbose && es->format != EXPLAIN_FORMAT_TEXT && dp_run_of_state(node) == NULL)
		explain_fingerprints(asked, estate, es);
	if (asked->reads_too_much)
		ExplainPropertyText("Reuse", psprintf("none: what it asks depends on a table of more than %d rows (dp_cdp.max_public_rows)",
											  dp_guc_max_public_rows), es);
	if (dp_target_needs_pilot(release))
		ExplainPropertyText("Target Error", "prices are settled after a pilot; those shown are the usual ones", es);
	explain_memory(priced->memory, es);
	dp_explain_amount("Rho", rho, DP_RHO_ONE, es);
	if (priced->delta > 0)
	{
		dp_explain_amount("Delta", priced->charged_delta, DP_DELTA_ONE, es);
		if (priced->columns[release->selection].nlimits == 0)
			ExplainPropertyInteger("Threshold", NULL, priced->threshold, es);
		else
			ExplainPropertyFloat("Threshold", NULL, (double) priced->threshold * priced->columns[release->selection].parts[0].step, 2, es);
	}
	if (dp_min_units(priced) > 1)
		ExplainPropertyInteger("Min Units", NULL, dp_min_units(priced), es);
	if (has_days)
		explain_blocks(days, es);
	released = run->priced == NULL ? run->foreseen_before : dp_price_prefetches(release, estate, &before);
	if (released != NIL)
	{
		ExplainOpenGroup("Released Before", "Released Before", false, es);
		foreach_ptr(const DpPricedRelease, item, released)
			explain_before(item, es);
		ExplainCloseGroup("Released Before", "Released Before", false, es);
	}
	dp_explain_budgets(dataset, has_days ? &days : NULL, rho, es);
	if (es->analyze && dp_run_of_state(node) != NULL && dp_explained_plan(dp_run_of_state(node)) != NULL)
		explain_inner(dp_explained_plan(dp_run_of_state(node)), es);
}
