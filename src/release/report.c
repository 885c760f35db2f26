/*-------------------------------------------------------------------------
 *
 * report.c
 *	  The error of answers: before they are bought, and after.
 *
 * dp_cdp_internal.preview_columns(query) plans a query as the caller and tells what
 * each private aggregate of it would cost and how noisy it would be; nothing
 * is executed or debited.  dp_cdp.last_release() tells the same of what this
 * session released last, with the errors of single groups where these differ.
 *
 * Invariant: what is remembered was released, or does not depend on rows.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/amounts.h"
#include "base/compat.h"
#include "base/errors.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "math/normal.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "release/fingerprint.h"
#include "release/release.h"
#include "release/release_int.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

/* groups of which the errors are remembered; a session's memory is not for more */
#define MAX_GROUPS 10000

#define REPORT_COLUMNS 18		/* without the formula, which only previews have */
#define FORMULA_COLUMN 8

/* one line of a report */
typedef struct ReportLine
{
	char	   *dataset;
	char	   *aggregate;
	char	   *group;			/* NULL: of all groups */
	double		sensitivity;	/* < 0: not known before */
	double		stddev;			/* standard deviation of the noise; < 0: it differs, or is not known before */
	int64		rho;
	int64		delta;			/* for the release, at its first line */
	bool		is_expression;	/* computed from answers, and free */
	char	   *formula;		/* margin of an expression, where that depends on answers */
	double		norm;			/* to which a unit's contributions are scaled;
								 * < 0: not known, or to none */
	double		cut;			/* which share of them that has cut; < 0: not
								 * known */
	const DpPricedRelease *of;	/* whose column this is, as long as it runs */
	int			column;
	char	   *limits;			/* what a unit may add; NULL: of an expression */
	DpLimits	rows;			/* what a row's value is clamped to */
	DpLimits	totals;			/* what a unit's total is */
	TimestampTz reused_since;	/* 0: it was, or would be, bought now */
	bool		has_days;		/* of a dataset with blocks: it is charged to
								 * those of these days */
	DpDays		days;
} ReportLine;

/* the report of the last release, and to which role: a session may go on as another */
static MemoryContext last_context = NULL;
static Oid	last_role = InvalidOid;
static List *last_lines = NIL;
static int	last_groups = 0;
static uint64 last_report = 0;	/* a cursor's releases may run when others have been reported */

/* ------------------------------------------------------------------------
 * Lines
 * ------------------------------------------------------------------------
 */

double
dp_column_sensitivity(const DpPricedColumn *column)
{
	const DpPricedPart *part = &column->parts[0];
	double		sensitivity = sqrt((double) part->sens2);

	return sensitivity * part->step;
}

static ReportLine *
column_line(const DpPricedRelease *priced, int i)
{
	const DpPricedColumn *column = &priced->columns[i];
	DpNoise		noise = dp_noise_before(priced, column);
	ReportLine *line = palloc0(sizeof(ReportLine));

	line->dataset = pstrdup(priced->release->dataset);
	line->aggregate = pstrdup(column->desc->label);
	line->sensitivity = dp_waits_for_limit(column) ? -1 : dp_column_sensitivity(column);
	line->stddev = noise.kind == DP_NOISE_KNOWN ? noise.figure : -1;
	line->norm = column->nlimits > 0 && column->limit >= 0 ? (double) column->limits[column->limit] / column->norm_unit : -1;
	line->cut = column->limit >= 0 && dp_knows_cut(priced, column) ? column->cut : -1;
	line->limits = dp_limits_told(priced, column);
	line->of = priced;
	line->column = i;
	line->rho = column->charged;
	line->delta = i == 0 ? priced->charged_delta : 0;
	line->reused_since = column->reused_since;
	line->has_days = priced->has_days;
	line->days = priced->days;
	if (!column->later)
	{
		line->rows = column->rows;
		line->totals = column->totals;
	}
	return line;
}

static List *
release_lines(List *lines, const DpPricedRelease *priced)
{
	for (DpBefore b = 0; b < DP_BEFORES; b++)
		if (priced->before[b] != NULL)
			lines = release_lines(lines, priced->before[b]);
	for (int i = 0; i < priced->ncolumns; i++)
		lines = lappend(lines, column_line(priced, i));
	return lines;
}

static void
put_limits(const DpLimits *limits, Datum *values, bool *nulls)
{
	values[0] = Float8GetDatum(limits->lower);
	values[1] = Float8GetDatum(limits->upper);
	nulls[0] = nulls[1] = !limits->known;
}

static void
put_line(const ReportLine *line, Tuplestorestate *store, TupleDesc desc)
{
	Datum		values[REPORT_COLUMNS + 1];
	bool		nulls[REPORT_COLUMNS + 1] = {false};
	int			limits = FORMULA_COLUMN + (desc->natts > REPORT_COLUMNS ? 1 : 0);

	values[0] = CStringGetTextDatum(line->aggregate);
	values[1] = CStringGetTextDatum(line->dataset);
	nulls[2] = line->group == NULL;
	values[2] = nulls[2] ? (Datum) 0 : CStringGetTextDatum(line->group);
	nulls[3] = line->is_expression || line->sensitivity < 0;
	values[3] = Float8GetDatum(line->sensitivity);
	nulls[4] = nulls[5] = line->stddev < 0;
	values[4] = Float8GetDatum(line->stddev);
	values[5] = Float8GetDatum(line->stddev * dp_normal_tail_inverse(0.025));
	/* the price that a group's line repeats has been paid once */
	nulls[6] = nulls[7] = line->group != NULL || line->is_expression;
	values[6] = nulls[6] ? (Datum) 0 : NumericGetDatum(dp_amount_numeric(line->rho, DP_RHO_SCALE));
	values[7] = nulls[7] ? (Datum) 0 : NumericGetDatum(dp_amount_numeric(line->delta, DP_DELTA_SCALE));
	if (desc->natts > REPORT_COLUMNS)
	{
		char	   *formula = line->is_expression ? line->formula : dp_noise_formula(line->of, &line->of->columns[line->column]);

		nulls[FORMULA_COLUMN] = formula == NULL;
		values[FORMULA_COLUMN] = formula == NULL ? (Datum) 0 : CStringGetTextDatum(formula);
	}
	put_limits(&line->rows, &values[limits], &nulls[limits]);
	put_limits(&line->totals, &values[limits + 2], &nulls[limits + 2]);
	nulls[limits + 4] = line->reused_since == 0 || line->group != NULL;
	values[limits + 4] = TimestampTzGetDatum(line->reused_since);
	nulls[limits + 5] = nulls[limits + 6] = !line->has_days;
	values[limits + 5] = DateADTGetDatum(line->days.from);
	values[limits + 6] = DateADTGetDatum(line->days.to);
	nulls[limits + 7] = line->norm < 0 || line->is_expression;
	values[limits + 7] = Float8GetDatum(line->norm);
	nulls[limits + 8] = line->cut < 0 || line->is_expression;
	values[limits + 8] = Float8GetDatum(line->cut);
	nulls[limits + 9] = line->limits == NULL;
	values[limits + 9] = nulls[limits + 9] ? (Datum) 0 : CStringGetTextDatum(line->limits);
	tuplestore_putvalues(store, desc, values, nulls);
}

/* Begins to return a set of rows with so many columns; the rows go to the store that is returned. */
static Tuplestorestate *
begin_rows(FunctionCallInfo fcinfo, int columns, TupleDesc *desc)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	*desc = rsinfo->setDesc;
	if ((*desc)->natts != columns)
		elog(ERROR, "return type must be a row type");
	return rsinfo->setResult;
}

static Datum
return_lines(FunctionCallInfo fcinfo, List *lines, int columns)
{
	TupleDesc	desc;
	Tuplestorestate *store = begin_rows(fcinfo, columns, &desc);

	foreach_ptr(const ReportLine, line, lines)
		put_line(line, store, desc);
	return (Datum) 0;
}

/* ------------------------------------------------------------------------
 * After
 * ------------------------------------------------------------------------
 */

void
dp_report_release(DpPricedRelease *priced, bool first)
{
	MemoryContext old;

	if (last_context == NULL)
		last_context = AllocSetContextCreate(TopMemoryContext, "dp_cdp last release",
											 ALLOCSET_DEFAULT_SIZES);
	if (first)
	{
		MemoryContextReset(last_context);
		last_lines = NIL;
		last_groups = 0;
		last_report++;
		/* a SECURITY DEFINER function's, not its caller's: the caller may see less */
		last_role = GetUserId();
	}
	priced->report = last_report;
	old = MemoryContextSwitchTo(last_context);
	last_lines = release_lines(last_lines, priced);
	MemoryContextSwitchTo(old);
}

/* Reports anew the columns of a release whose limits have been found. */
void
dp_report_limits(const DpPricedRelease *priced)
{
	MemoryContext old;
	ListCell   *lc;

	if (priced->report != last_report)
		return;
	old = MemoryContextSwitchTo(last_context);
	foreach(lc, last_lines)
	{
		ReportLine *line = lfirst(lc);

		if (line->of == priced && line->group == NULL)
			lfirst(lc) = column_line(priced, line->column);
	}
	MemoryContextSwitchTo(old);
}

static char *
group_text(const DpPricedRelease *priced, const Datum *keys, const bool *nulls)
{
	StringInfoData text;

	if (priced->release->rest_of != NULL)
		return pstrdup(priced->groups);
	initStringInfo(&text);
	foreach_ptr(DpReleaseKey, key, priced->release->keys)
	{
		int			i = foreach_current_index(key);
		Oid			output;
		bool		varlena;

		getTypeOutputInfo(key->type, &output, &varlena);
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "",
						 nulls[i] ? "NULL" : OidOutputFunctionCall(output, keys[i]));
	}
	return text.data;
}

/* Reports the error of one column in one group, where it differs from group to group. */
void
dp_report_group(const DpPricedRelease *priced, int i, const Datum *keys, const bool *nulls, double stddev)
{
	DpNoiseKind known;
	MemoryContext old;
	ReportLine *line;

	if (!dp_error_varies(priced->columns[i].desc) || priced->report != last_report || last_groups >= MAX_GROUPS)
		return;
	/* which value is the most frequent, or what bounds are found, has no error that is a number */
	known = dp_noise_before(priced, &priced->columns[i]).kind;
	if (known == DP_NOISE_COUNTS || known == DP_NOISE_BINS)
		return;
	last_groups++;
	old = MemoryContextSwitchTo(last_context);
	line = column_line(priced, i);
	line->group = group_text(priced, keys, nulls);
	line->stddev = stddev;
	last_lines = lappend(last_lines, line);
	MemoryContextSwitchTo(old);
}

/* Forgets the groups of a failed release: how many it got to is nobody's to know.  Of a statement whose answers would have been kept it forgets all. */
void
dp_report_failure(const DpPricedRelease *priced)
{
	if (priced == NULL)
	{
		last_lines = NIL;
		last_report++;
		return;
	}
	if (priced->report != last_report)
		return;
	foreach_ptr(ReportLine, line, last_lines)
		if (line->group != NULL)
			last_lines = foreach_delete_current(last_lines, line);
}

/* dp_cdp.last_release() returns the report of the last release, to the role that got it. */
PG_FUNCTION_INFO_V1(dp_last_release);
Datum
dp_last_release(PG_FUNCTION_ARGS)
{
	return return_lines(fcinfo, last_role == GetUserId() ? last_lines : NIL, REPORT_COLUMNS);
}

/* ------------------------------------------------------------------------
 * Before
 * ------------------------------------------------------------------------
 */

/*
 * Returns a formula for half of a 95 % interval by the delta method
 * (guard/describe/propagate.c), in terms of the answers.
 */
static char *
margin_formula(const DpPricedRelease *priced, List *columns, List *slopes)
{
	StringInfoData text;
	int			n = 0;

	initStringInfo(&text);
	appendStringInfo(&text, "%.3g * sqrt(", dp_normal_tail_inverse(0.025));
	for (int i = 0; i < list_length(columns); i++)
	{
		const DpPricedColumn *column = &priced->columns[list_nth_int(columns, i)];
		const char *slope = strVal(list_nth(slopes, i));

		if (strcmp(slope, "0") == 0)
			continue;
		appendStringInfoString(&text, n++ ? " + (" : "(");
		if (dp_noise_before(priced, column).kind != DP_NOISE_KNOWN)
			appendStringInfo(&text, "dp_noise_stddev(%s)", column->desc->label);
		else
			appendStringInfo(&text, "%.6g", column->sigma);
		appendStringInfo(&text, " * %s)^2", slope);
	}
	appendStringInfoChar(&text, ')');
	return text.data;
}

/* Adds a line for each expression of answers: sums and differences of answers with a known error have one, too. */
static List *
expression_lines(List *lines, const DpPricedRelease *priced)
{
	foreach_ptr(const List, expression, priced->release->expressions)
	{
		List	   *columns = lsecond(expression);
		List	   *coefficients = lthird(expression);
		ReportLine *line = palloc0(sizeof(ReportLine));
		double		variance = 0;
		bool		known = coefficients != NIL;

		for (int i = 0; known && i < list_length(columns); i++)
		{
			const DpPricedColumn *column = &priced->columns[list_nth_int(columns, i)];
			double		factor = DatumGetFloat8(list_nth_node(Const, coefficients, i)->constvalue);

			known = dp_noise_before(priced, column).kind == DP_NOISE_KNOWN && column->nparts == 1 && column->parts[0].width == 1;
			variance += factor * factor * column->sigma * column->sigma;
		}
		line->dataset = pstrdup(priced->release->dataset);
		line->aggregate = pstrdup(strVal(linitial(expression)));
		line->is_expression = true;
		line->stddev = known ? sqrt(variance) : -1;
		if (coefficients == NIL)
			line->formula = margin_formula(priced, columns, lfourth(expression));
		lines = lappend(lines, line);
	}
	return lines;
}

/* the question of one column */
typedef struct FingerprintLine
{
	const char *dataset;
	const char *aggregate;
	DpFingerprint *fingerprint;		/* NULL: not known before it runs */
} FingerprintLine;

/* Adds FingerprintLines for the columns of a release. */
static void
add_fingerprints(List **lines, DpPricedRelease *priced, EState *estate)
{
	DpPricedRelease *parts[] = {priced->before[DP_FINDS_BOUNDS], priced->before[DP_FINDS_LIMITS], priced};

	for (int part = 0; part < lengthof(parts); part++)
	{
		DpPricedRelease *p = parts[part];
		DpFingerprint *fingerprints = p ? dp_fingerprints_early(priced, p, estate) : NULL;

		for (int i = 0; p != NULL && i < p->ncolumns; i++)
		{
			FingerprintLine *line = palloc(sizeof(FingerprintLine));

			line->dataset = pstrdup(p->dataset->name);
			line->aggregate = pstrdup(p->columns[i].desc->label);
			line->fingerprint = fingerprints ? &fingerprints[i] : NULL;
			*lines = lappend(*lines, line);
		}
	}
}

static List *price_prefetches(const DpRelease *release, EState *estate, List **fingerprints, List **before);

/*
 * Returns the DpPricedRelease of each release of a plan, which is not executed; adds its questions, if asked.
 * anew: as if no answer was kept.  before: of statements that would run before.
 */
static List *
price_plan(PlannedStmt *plan, const char *text, ParamListInfo params, QueryEnvironment *env, List **fingerprints, List **before)
{
	QueryDesc  *desc = CreateQueryDesc(plan, text, GetActiveSnapshot(), InvalidSnapshot, None_Receiver,
									   params, env, 0);
	List	   *of_prefetches = NIL;
	List	   *own = NIL;
	EState	   *estate;

	ExecutorStart(desc, EXEC_FLAG_EXPLAIN_ONLY);
	estate = desc->estate;
	/* one release, however often it is read */
	foreach_ptr(DpRun, item, dp_runs_of(estate))
	{
		DpRelease  *release = item->release;
		DpPricedRelease *priced;

		of_prefetches = list_concat(of_prefetches, price_prefetches(release, estate, fingerprints, before));
		if (!dp_parameters_known(release, estate))
			continue;
		priced = dp_price_release(release, estate, NULL, dp_find_key_tuples_early(release, estate));
		own = lappend(own, priced);
		if (fingerprints != NULL)
			add_fingerprints(fingerprints, priced, estate);
	}
	own = dp_foresee_kept(own, estate, before);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
	own = list_concat(of_prefetches, own);
	dp_agree(own);
	return own;
}

static List *
price_prefetches(const DpRelease *release, EState *estate, List **fingerprints, List **before)
{
	List	   *priced = NIL;

	check_stack_depth();
	foreach_ptr(DpPrefetch, prefetch, release->prefetches)
		priced = list_concat(priced, price_plan(prefetch->plan, estate->es_sourceText,
												 estate->es_param_list_info, estate->es_queryEnv, fingerprints, before));
	return priced;
}

List *
dp_price_prefetches(const DpRelease *release, EState *estate, List **before)
{
	return price_prefetches(release, estate, NULL, before);
}

/* Makes the position of an error one in the text that is previewed, not in the statement that asks for it. */
static void
show_text(void *text)
{
	int			position = geterrposition();

	if (position <= 0)
		return;
	errposition(0);
	internalerrposition(position);
	internalerrquery(text);
}

PlannedStmt *
dp_plan_text(char *text, const char *function)
{
	ErrorContextCallback callback = {error_context_stack, show_text, text};
	PlannedStmt *plan;
	List	   *raw;
	List	   *queries;

	error_context_stack = &callback;
	raw = pg_parse_query(text);
	if (list_length(raw) != 1)
		dp_raise(BAD_PARAMETER, errmsg("dp_cdp.%s takes one query; give it a single SELECT", function));
	queries = dp_analyze(linitial(raw), text);
	if (list_length(queries) != 1 || linitial_node(Query, queries)->commandType != CMD_SELECT)
		dp_raise(BAD_PARAMETER,
				errmsg("dp_cdp.%s takes a SELECT; of other statements give it the SELECT in them", function));
	plan = dp_plan_query(linitial(queries), text, CURSOR_OPT_PARALLEL_OK, NULL);
	error_context_stack = callback.previous;
	return plan;
}

/* dp_cdp_internal.preview_columns(query text) returns price and error of each aggregate of a query that is not run. */
PG_FUNCTION_INFO_V1(dp_preview_columns);
Datum
dp_preview_columns(PG_FUNCTION_ARGS)
{
	char	   *query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	List	   *lines = NIL;
	List	   *datasets = NIL;
	List	   *priced;
	List	   *before = NIL;

	PushActiveSnapshot(GetTransactionSnapshot());
	priced = price_plan(dp_plan_text(query, "preview"), query, NULL, NULL, NULL, &before);
	PopActiveSnapshot();
	foreach_ptr(const DpPricedRelease, release, priced)
	{
		lines = expression_lines(release_lines(lines, release), release);
		/* once for each dataset */
		if (!list_member(datasets, makeString(release->dataset->name)))
			dp_notice_no_budget(release->dataset);
		datasets = lappend(datasets, makeString(release->dataset->name));
	}
	return return_lines(fcinfo, lines, REPORT_COLUMNS + 1);
}

/* dp_cdp.query_fingerprint(query text) returns the identity of each question of a query that is not run. */
PG_FUNCTION_INFO_V1(dp_fingerprint);
Datum
dp_fingerprint(PG_FUNCTION_ARGS)
{
	char	   *query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	List	   *lines = NIL;
	List	   *before = NIL;
	TupleDesc	desc;
	Tuplestorestate *store;

	PushActiveSnapshot(GetTransactionSnapshot());
	(void) price_plan(dp_plan_text(query, "fingerprint"), query, NULL, NULL, &lines, &before);
	PopActiveSnapshot();
	store = begin_rows(fcinfo, 3, &desc);
	foreach_ptr(const FingerprintLine, line, lines)
	{
		Datum		values[3] = {CStringGetTextDatum(line->aggregate), CStringGetTextDatum(line->dataset)};
		bool		nulls[3] = {false, false, line->fingerprint == NULL};

		if (line->fingerprint != NULL)
			values[2] = CStringGetTextDatum(dp_fingerprint_text(line->fingerprint));
		tuplestore_putvalues(store, desc, values, nulls);
	}
	return (Datum) 0;
}
