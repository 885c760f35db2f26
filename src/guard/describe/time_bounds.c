/*-------------------------------------------------------------------------
 *
 * time_bounds.c
 *	  Declared bounds of a date or timestamp.
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

bool
dp_find_time_bounds(DpLevel *level, Node *value, Const **first, Const **last)
{
	DpColumnOrigin origin;
	DpColumn   *policy;
	Oid			type = getBaseType(exprType(value));

	value = dp_strip_labels(value);
	if (!dp_type_is_time(type) || !IsA(value, Var) || !dp_trace_column(level->from.query, NULL, value, &origin) ||
		!origin.is_protected)
		return false;
	policy = dp_policy_bounds(origin.relid, origin.attnum);
	if (!policy->has_times || getBaseType(policy->keytype) != type)
		return false;
	*first = dp_time_const(type, policy->first);
	*last = dp_time_const(type, policy->last);
	return true;
}
