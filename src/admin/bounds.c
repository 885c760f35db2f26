/*-------------------------------------------------------------------------
 *
 * bounds.c
 *	  set_bounds, drop_bounds: between which values a column's are, and what
 *	  they add up to for a unit, in its security label.
 *
 * Invariants: they are up to the owner of the dataset; all are finite, lower
 * ones are less than upper ones, and limits of totals have 0 between them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "admin/admin.h"
#include "base/errors.h"

PG_FUNCTION_INFO_V1(dp_set_bounds);
PG_FUNCTION_INFO_V1(dp_drop_bounds);

static Numeric
bound_argument(FunctionCallInfo fcinfo, int argno, const char *parameter)
{
	Numeric		bound = PG_GETARG_NUMERIC(argno);

	if (numeric_is_nan(bound) || numeric_is_inf(bound) ||
		isinf(DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
												 NumericGetDatum(bound)))))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("%s must be a finite number", parameter)));
	return bound;
}

static bool
less(Numeric a, Numeric b)
{
	return DatumGetBool(DirectFunctionCall2(numeric_lt, NumericGetDatum(a), NumericGetDatum(b)));
}

static void
check_bounds_type(Oid relid, AttrNumber attnum, Oid type)
{
	if (!dp_type_has_bounds(type))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("column \"%s\" has type %s: only smallint, integer, bigint, real, double precision and numeric columns have bounds",
						get_attname(relid, attnum, false), format_type_be(type))));
}

/* Reads the limits of a unit's total, of which 0 must be one, since a unit may have no rows. */
static void
read_totals(FunctionCallInfo fcinfo, DpLabel *label)
{
	Numeric		zero = int64_to_numeric(0);

	label->has_totals = !PG_ARGISNULL(4) || !PG_ARGISNULL(5);
	if (!label->has_totals)
		return;
	if (PG_ARGISNULL(4) || PG_ARGISNULL(5))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("total_lower and total_upper must both be given, or neither: where no value is below 0, total_lower is 0")));
	label->total_lower = bound_argument(fcinfo, 4, "total_lower");
	label->total_upper = bound_argument(fcinfo, 5, "total_upper");
	if (!less(label->total_lower, label->total_upper))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("total_lower must be less than total_upper")));
	if (less(zero, label->total_lower) || less(label->total_upper, zero))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("%s 0, because 0 is a unit's total where it has no rows",
						less(zero, label->total_lower) ? "total_lower must be at most" : "total_upper must be at least")));
}

/* set_bounds("table", "column", lower, upper, total_lower, total_upper) */
Datum
dp_set_bounds(PG_FUNCTION_ARGS)
{
	Oid			relid = dp_admin_table(fcinfo);
	AttrNumber	attnum;
	Oid			type;
	int32		typmod;
	Oid			collation;
	DpLabel    *label;

	dp_admin_require_policy_owner(relid);
	dp_admin_lock_table(relid);
	attnum = dp_admin_column(fcinfo, 1, "column", relid, &type, &typmod, &collation);
	check_bounds_type(relid, attnum, type);
	if (PG_ARGISNULL(2) || PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("lower and upper must both be given: call dp_cdp.drop_bounds to remove bounds")));

	label = dp_admin_column_label(relid, attnum);
	label->has_bounds = true;
	label->lower = bound_argument(fcinfo, 2, "lower");
	label->upper = bound_argument(fcinfo, 3, "upper");
	if (!less(label->lower, label->upper))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("lower must be less than upper")));
	read_totals(fcinfo, label);
	dp_label_put(relid, attnum, label);
	PG_RETURN_VOID();
}

/* drop_bounds("table", "column") */
Datum
dp_drop_bounds(PG_FUNCTION_ARGS)
{
	Oid			relid = dp_admin_table(fcinfo);
	AttrNumber	attnum;
	Oid			type;
	int32		typmod;
	Oid			collation;
	DpLabel    *label;

	dp_admin_require_policy_owner(relid);
	dp_admin_lock_table(relid);
	attnum = dp_admin_column(fcinfo, 1, "column", relid, &type, &typmod, &collation);
	label = dp_admin_column_label(relid, attnum);
	if (!label->has_bounds)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("column \"%s\" of table \"%s\" has no bounds: see dp_cdp.protected for those there are",
						get_attname(relid, attnum, false), get_rel_name(relid))));
	label->has_bounds = false;
	label->has_totals = false;
	dp_label_put(relid, attnum, label);
	PG_RETURN_VOID();
}
