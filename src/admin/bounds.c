/*-------------------------------------------------------------------------
 *
 * bounds.c
 *	  set_bounds, drop_bounds: between which values a column's are, in its
 *	  security label.
 *
 * Invariants: they are up to the owner of the dataset; both are finite, and the lower one is less.
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

static void
check_bound(Numeric bound, const char *parameter)
{
	if (numeric_is_nan(bound) || numeric_is_inf(bound) ||
		isinf(DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
												 NumericGetDatum(bound)))))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("%s must be a finite number", parameter)));
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

/* set_bounds("table", "column", lower, upper) */
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
	label->lower = PG_GETARG_NUMERIC(2);
	label->upper = PG_GETARG_NUMERIC(3);
	check_bound(label->lower, "lower");
	check_bound(label->upper, "upper");
	if (!DatumGetBool(DirectFunctionCall2(numeric_lt, NumericGetDatum(label->lower),
										  NumericGetDatum(label->upper))))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("lower must be less than upper")));
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
	dp_label_put(relid, attnum, label);
	PG_RETURN_VOID();
}
