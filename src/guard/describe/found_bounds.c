/*-------------------------------------------------------------------------
 *
 * found_bounds.c
 *	  Arguments whose bounds a release of their own finds first.
 *
 * Where dp_cdp.find_bounds is on, an argument that has no bounds, and where nobody has set max_rows one whose
 * bounds follow from how many rows a unit has, gets a column
 * in the estimator of the level's release: a histogram of its values, over the
 * rows of the level and without keys or filters.  It is one column, however many
 * aggregates of the level have the argument.  release/found_bounds.c has the
 * rest.
 *
 * Invariant: what runs on rows has passed the allow-list, as the argument itself.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/extension.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

DpRelease *
dp_make_hidden_release(const DpRelease *of)
{
	DpRelease  *release = dp_make_release();

	release->name = dp_release_new_name();
	release->dataset = of->dataset;
	release->relid = of->relid;
	release->relids = of->relids;
	release->has_unit = of->has_unit;
	release->in_blocks = of->in_blocks;
	release->one_group = true;
	release->is_estimator = true;
	return release;
}

/* Adds the estimator of a level, whose rows are known; the query of it is built later, over a copy of them. */
static DpLevel *
add_estimator(DpLevel *level)
{
	DpLevel    *estimator = palloc0(sizeof(DpLevel));

	*estimator = *level;
	memset(&estimator->parts, 0, sizeof(DpInnerParts));
	estimator->key_exprs = NIL;
	estimator->release = dp_make_hidden_release(level->release);
	estimator->release->unique_keys = level->release->unique_keys;
	/* a plan of its own has parameters of its own */
	estimator->release->first_param = level->release->first_param;
	return estimator;
}

/* Adds the column of a value to the estimator. */
static void
add_value(DpLevel *estimator, Node *value, bool has_usual)
{
	DpReleaseColumn *column = dp_make_release_column();
	const char *text = dp_expression_text(estimator, value);
	Expr	   *range = dp_make_param(estimator->release->first_param + 1 +
									  list_length(estimator->release->columns) * DP_COLUMN_PARAMS + DP_PARAM_RANGE,
									  dp_own_type("range"));
	Node	   *safe = dp_make_safe(value, &estimator->allow);
	Oid			types[] = {exprType(safe), exprType((Node *) range)};

	column->answer = DP_ANSWER_BOUNDS;
	column->input_type = getBaseType(exprType(value));
	column->result_type = FLOAT8ARRAYOID;
	column->label = psprintf("bounds of %s", text);
	column->has_usual = has_usual;
	column->location = exprLocation(value);
	estimator->found = lappend(estimator->found, value);
	dp_add_column(estimator, column,
				  list_make1(makeFuncExpr(dp_own_function("bin", 2, types, INT4OID), INT4OID, list_make2(safe, range),
										  InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL)),
				  NULL);
}

DpBound *
dp_find_bounds(DpLevel *level, Node *value, DpBound *usual)
{
	DpSplitContext *cxt = level->cxt;
	DpBound    *bound;
	int			at = 0;
	ListCell   *lc;
	ListCell   *column;

	if ((usual != NULL ? dp_usual_bounds_share(level->dataset) : dp_bounds_share(level->dataset)) == 0)
		return NULL;
	if (level->estimator == NULL)
		level->estimator = add_estimator(level);
	/* where others hold if none are found, it is another column */
	forboth(lc, level->estimator->found, column, level->estimator->release->columns)
	{
		if (((DpReleaseColumn *) lfirst(column))->has_usual == (usual != NULL) && equal(lfirst(lc), value))
			break;
		at++;
	}
	if (at == DP_MAX_VALUES && usual != NULL)
		return NULL;
	if (at == DP_MAX_VALUES)
		dp_refuse_at(exprLocation(value), errmsg("a query finds the bounds of at most %d expressions; split it", DP_MAX_VALUES));
	if (lc == NULL)
		add_value(level->estimator, value, usual != NULL);
	bound = dp_make_bound(DP_BOUND_FOUND, usual != NULL ? list_make1(usual) : NIL, getBaseType(exprType(value)), -1);
	bound->range = at;
	return bound;
}
