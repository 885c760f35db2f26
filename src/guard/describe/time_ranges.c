/*-------------------------------------------------------------------------
 *
 * time_ranges.c
 *	  Between which moments a date or timestamp is in rows that satisfy the
 *	  conditions of a query, or by declaration.
 *
 * Ends are expressions of the column's type over literals, parameters and the clock.
 *
 * Invariant: a range contains all moments for which its conditions may hold.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/describe/time_ranges.h"
#include "guard/facts/facts.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/* ------------------------------------------------------------------------
 * Declared bounds
 * ------------------------------------------------------------------------
 */

Const *
dp_time_const(Oid type, int64 value)
{
	if (type == DATEOID)
		return makeConst(type, -1, InvalidOid, sizeof(DateADT), DateADTGetDatum((DateADT) value), false, true);
	return makeConst(type, -1, InvalidOid, sizeof(Timestamp), TimestampGetDatum(value), false, FLOAT8PASSBYVAL);
}

static bool
bounds_of_column(DpScope *scope, Node *value, Oid type, int64 *first, int64 *last)
{
	DpColumnOrigin origin;
	DpColumn   *policy;

	if (!IsA(value, Var) || getBaseType(exprType(value)) != type ||
		!dp_trace_column(scope->query, scope, value, &origin) || !origin.is_protected)
		return false;
	policy = dp_policy_bounds(origin.relid, origin.attnum);
	if (!policy->has_times || getBaseType(policy->keytype) != type)
		return false;
	*first = Min(*first, policy->first);
	*last = Max(*last, policy->last);
	return true;
}

bool
dp_find_time_bounds(DpLevel *level, Node *value, Const **first, Const **last)
{
	Oid			type = getBaseType(exprType(value));
	DpScope		scope = {level->from.query};
	List	   *sources;
	int64		least = PG_INT64_MAX;
	int64		greatest = PG_INT64_MIN;

	value = dp_strip_labels(value);
	if (!dp_type_is_time(type) || !IsA(value, Var))
		return false;
	sources = dp_column_sources(scope.query, &scope, value);
	if (sources == NIL && !bounds_of_column(&scope, value, type, &least, &greatest))
		return false;
	foreach_ptr(DpColumnSource, source, sources)
	{
		if (!bounds_of_column(source->scope, source->expr, type, &least, &greatest))
			return false;
	}
	*first = dp_time_const(type, least);
	*last = dp_time_const(type, greatest);
	return true;
}

/* ------------------------------------------------------------------------
 * Ranges
 * ------------------------------------------------------------------------
 */

bool
dp_is_time_expr(Expr *value)
{
	Oid			type = exprType((Node *) value);

	return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

/* Returns the greater of two first ends, or the smaller of two last ones; NULL: an end is open. */
static Expr *
met(Expr *a, Expr *b, MinMaxOp op)
{
	return a == NULL || b == NULL ? (a ? a : b) : dp_extreme(list_make2(a, b), op);
}

bool
dp_narrow_time(DpTimeRange *range, Var *column, Node *condition)
{
	DpCondition *read = dp_limits_of_condition(condition);
	Expr	   *first;
	Expr	   *last;

	if (read == NULL)
		return false;
	dp_find_hull(list_make1(read), (Node *) column, &first, &last);
	range->first = met(range->first, first, IS_GREATEST);
	range->last = met(range->last, last, IS_LEAST);
	return first != NULL || last != NULL;
}

/* Sets the ends that conditions leave open to what the owner has declared. */
void
dp_use_declared_range(DpKeyQuery *s, Var *column, DpTimeRange *range)
{
	Var		   *var = dp_key_query_level_var(s, column);
	Const	   *first;
	Const	   *last;

	range->from_conditions = range->first != NULL || range->last != NULL;
	if ((range->first != NULL && range->last != NULL) || var == NULL ||
		!dp_find_time_bounds(s->level, (Node *) var, &first, &last))
		return;
	if (range->first == NULL)
		range->first = (Expr *) first;
	if (range->last == NULL)
		range->last = (Expr *) last;
}
