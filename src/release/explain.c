/*-------------------------------------------------------------------------
 *
 * explain.c
 *	  What EXPLAIN shows of a release: price, noise and budgets.
 *
 * Nothing of the inner plan is shown, because its shape and its costs depend
 * on data.  EXPLAIN never debits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/amounts.h"
#include "base/compat.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "ledger/ledger.h"
#include "math/normal.h"
#include "miscadmin.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

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

/* Bounds may be parameters, whose values EXPLAIN does not know. */
bool
dp_parameters_known(const DpRelease *release, EState *estate)
{
	ListCell   *lc;

	if (estate->es_param_list_info != NULL)
		return true;
	foreach(lc, release->columns)
	{
		DpReleaseColumn *column = lfirst(lc);

		List	   *written = list_make5(column->lower, column->upper, column->lower2, column->upper2, column->detail);
		ListCell   *expr;

		foreach(expr, written)
			if (lfirst(expr) && !IsA(lfirst(expr), Const))
			return false;
	}
	return true;
}

/* Shows the budgets that a debit of rho would touch, as the asking roles may see them. */
static void
explain_budgets(const char *dataset, int64 rho, ExplainState *es)
{
	Oid			argtypes[] = {TEXTOID, OIDOID, OIDOID, NUMERICOID, BOOLOID};
	Datum		args[] = {
		CStringGetTextDatum(dataset),
		ObjectIdGetDatum(GetSessionUserId()),
		ObjectIdGetDatum(GetUserId()),
		NumericGetDatum(dp_amount_numeric(rho, DP_RHO_SCALE)),
		BoolGetDatum(es->verbose)
	};
	List	   *budgets = NIL;

	SPI_connect();
	if (SPI_execute_with_args("SELECT pg_catalog.format('%s: %s of rho %s remain', role, rho_remaining, rho_limit) "
							  "OPERATOR(pg_catalog.||) CASE WHEN $5 THEN pg_catalog.format(', %s after this release', "
							  "pg_catalog.trim_scale(rho_remaining OPERATOR(pg_catalog.-) $4)) ELSE '' END "
							  "FROM dp_cdp.budgets WHERE dataset OPERATOR(pg_catalog.=) $1 "
							  "AND (dp_cdp.role_pays($2, role) OR dp_cdp.role_pays($3, role)) "
							  "ORDER BY role::pg_catalog.text",
							  lengthof(args), argtypes, args, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read budgets");
	for (uint64 i = 0; i < SPI_processed; i++)
		budgets = lappend(budgets, SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1));
	explain_list("Budget", "Budgets", budgets, es);
	SPI_finish();
}

void
dp_release_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	DpRelease  *release = dp_release_of_state(node);
	EState	   *estate = node->ss.ps.state;
	DpPricedRelease *priced;
	int64		rho;
	List	   *lines = NIL;
	ListCell   *lc;

	ExplainPropertyText("Dataset", release->dataset, es);

	/*
	 * auto_explain asks when the statement is over, and SQL cannot be run any
	 * more
	 */
	if (!dp_parameters_known(release, estate) || !ActiveSnapshotSet())
		return;
	priced = dp_price_release(release, estate, NULL);
	rho = priced->rho;
	if (priced->groups)
		ExplainPropertyText("Groups", priced->groups, es);
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
						psprintf("%s  (sigma=%.6g rho=%s%s)%s", column->desc->label,
								 column->sigma, format_amount(column->rho, DP_RHO_ONE), more,
								 i == release->selection ? "  selects keys" : ""));
	}
	explain_list("Release", "Releases", lines, es);
	if (dp_target_needs_pilot(release))
		ExplainPropertyText("Target Error", "prices are settled after a first look; those shown are the usual ones", es);
	ExplainPropertyText("Rho", format_amount(priced->rho, DP_RHO_ONE), es);
	if (priced->delta > 0)
	{
		ExplainPropertyText("Delta", format_amount(priced->delta, DP_DELTA_ONE), es);
		ExplainPropertyInteger("Threshold", NULL, priced->threshold, es);
	}
	lines = NIL;
	foreach(lc, dp_price_prefetches(release, estate))
	{
		priced = lfirst(lc);
		lines = lappend(lines, psprintf("%s  (rho=%s)", priced->aggregates, format_amount(priced->rho, DP_RHO_ONE)));
	}
	if (lines != NIL)
		explain_list("Released Before", "Released Before", lines, es);
	explain_budgets(release->dataset, rho, es);
}
