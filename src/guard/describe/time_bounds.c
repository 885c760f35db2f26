/*-------------------------------------------------------------------------
 *
 * time_bounds.c
 *	  Declared bounds of a date or timestamp.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

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
