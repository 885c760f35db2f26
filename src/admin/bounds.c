/*-------------------------------------------------------------------------
 *
 * bounds.c
 *	  set_bounds, drop_bounds: between which values a column's are, and what
 *	  they add up to for a unit, in its security label.
 *
 * set_bounds has forms for numbers, for dates and timestamps, and for texts,
 * which are what the column's type makes of them: so that
 * numbers that are written without quotes, and dates that are written in quotes,
 * need no casts.
 *
 * Invariants: they are up to the owner of the dataset; all are finite, lower
 * ones are less than upper ones, and limits of totals have 0 between them.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "admin/admin.h"
#include "base/errors.h"
#include "base/input.h"

PG_FUNCTION_INFO_V1(dp_set_bounds);
PG_FUNCTION_INFO_V1(dp_drop_bounds);

/* Tells by which of its forms the function is called. */
static Oid
argument_type(Oid funcid, int argno)
{
	int			nargs;
	Oid		   *types;

	(void) get_func_signature(funcid, &types, &nargs);
	return types[argno];
}

static void
refuse_not_finite(const char *parameter)
{
	dp_raise(BAD_PARAMETER, errmsg("%s must be a finite number", parameter));
}

static bool
is_finite(Numeric bound)
{
	return !numeric_is_nan(bound) && !numeric_is_inf(bound) &&
		!isinf(DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(bound))));
}

static Numeric
bound_argument(FunctionCallInfo fcinfo, int argno, const char *parameter)
{
	Numeric		bound = PG_GETARG_NUMERIC(argno);

	if (!is_finite(bound))
		refuse_not_finite(parameter);
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
		dp_raise(BAD_PARAMETER,
				 errmsg("column \"%s\" has type %s: only smallint, integer, bigint, real, double precision, numeric, date and timestamp columns have bounds",
						get_attname(relid, attnum, false), format_type_be(type)));
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
		dp_raise(BAD_PARAMETER,
				 errmsg("total_lower and total_upper must both be given, or neither: where no value is below 0, total_lower is 0"));
	label->total_lower = bound_argument(fcinfo, 4, "total_lower");
	label->total_upper = bound_argument(fcinfo, 5, "total_upper");
	if (!less(label->total_lower, label->total_upper))
		dp_raise(BAD_PARAMETER, errmsg("total_lower must be less than total_upper"));
	if (less(zero, label->total_lower) || less(label->total_upper, zero))
		dp_raise(BAD_PARAMETER, errmsg("%s 0, because 0 is a unit's total where it has no rows",
									   less(zero, label->total_lower) ? "total_lower must be at most" : "total_upper must be at least"));
}

/* ------------------------------------------------------------------------
 * Dates and times
 * ------------------------------------------------------------------------
 */

/* Returns an argument that is a date or time as one of the column's type, by PostgreSQL's own casts. */
static Datum
cast_time(Datum value, Oid from, Oid to)
{
	if (from == to)
		return value;
	switch (from)
	{
		case DATEOID:
			return DirectFunctionCall1(to == TIMESTAMPOID ? date_timestamp : date_timestamptz, value);
		case TIMESTAMPOID:
			return DirectFunctionCall1(to == DATEOID ? timestamp_date : timestamp_timestamptz, value);
		default:
			return DirectFunctionCall1(to == DATEOID ? timestamptz_date : timestamptz_timestamp, value);
	}
}

/* Reads a bound of a column of a time type; *time: to compare it by. */
static char *
time_argument(FunctionCallInfo fcinfo, int argno, const char *parameter, Oid from, Oid type, int64 *time)
{
	Datum		value = PG_GETARG_DATUM(argno);
	char		buffer[MAXDATELEN + 1];
	int			utc = 0;

	if (from != TEXTOID)
		value = cast_time(value, from, type);
	else if (!dp_try_input(TextDatumGetCString(value), type, -1, &value))
		dp_raise(BAD_PARAMETER, errmsg("%s \"%s\" is no %s: write it as in '2024-12-31'",
									   parameter, text_to_cstring(PG_GETARG_TEXT_PP(argno)), format_type_be(type)));
	*time = type == DATEOID ? DatumGetDateADT(value) : DatumGetTimestamp(value);
	if (type == DATEOID ? DATE_NOT_FINITE(*time) : TIMESTAMP_NOT_FINITE(*time))
		dp_raise(BAD_PARAMETER, errmsg("%s must be a finite %s", parameter, format_type_be(type)));
	return pstrdup(JsonEncodeDateTime(buffer, value, type, type == TIMESTAMPTZOID ? &utc : NULL));
}

/* Tells, like the one for numbers, whether the lower bound is less than the upper one. */
static bool
set_times(FunctionCallInfo fcinfo, DpLabel *label, Oid from, Oid type)
{
	int64		first;
	int64		last;

	label->first = time_argument(fcinfo, 2, "lower", from, type, &first);
	label->last = time_argument(fcinfo, 3, "upper", from, type, &last);
	return first < last;
}

/* ------------------------------------------------------------------------
 * Functions
 * ------------------------------------------------------------------------
 */

static Numeric
number_argument(FunctionCallInfo fcinfo, int argno, const char *parameter, Oid from)
{
	Datum		value;

	if (from == NUMERICOID)
		return bound_argument(fcinfo, argno, parameter);
	if (!dp_try_input(text_to_cstring(PG_GETARG_TEXT_PP(argno)), NUMERICOID, -1, &value) ||
		!is_finite(DatumGetNumeric(value)))
		refuse_not_finite(parameter);
	return DatumGetNumeric(value);
}

static bool
set_numbers(FunctionCallInfo fcinfo, DpLabel *label, Oid from)
{
	label->has_bounds = true;
	label->lower = number_argument(fcinfo, 2, "lower", from);
	label->upper = number_argument(fcinfo, 3, "upper", from);
	return less(label->lower, label->upper);
}

/* Refuses numbers as bounds of dates, and dates as bounds of numbers. */
static void
check_argument_type(Oid relid, AttrNumber attnum, Oid from, Oid type)
{
	if (from == TEXTOID || (from == NUMERICOID) != dp_type_is_time(type))
		return;
	dp_raise(BAD_PARAMETER, errmsg("column \"%s\" has type %s: %s",
								   get_attname(relid, attnum, false), format_type_be(type),
								   from == NUMERICOID ? "its bounds are written as in '2024-01-01', '2024-12-31', and it has no totals"
								   : "its bounds are numbers"));
}

/* set_bounds("table", "column", lower, upper [, total_lower, total_upper]), of numbers, times or texts */
Datum
dp_set_bounds(PG_FUNCTION_ARGS)
{
	DpAdminColumn c = dp_admin_owned_column(fcinfo);
	Oid			from = argument_type(fcinfo->flinfo->fn_oid, 2);
	DpLabel    *label;
	bool		ordered;

	check_bounds_type(c.relid, c.attnum, c.type);
	if (PG_ARGISNULL(2) || PG_ARGISNULL(3))
		dp_raise(BAD_PARAMETER, errmsg("lower and upper must both be given: call dp_cdp.drop_bounds to remove bounds"));
	check_argument_type(c.relid, c.attnum, from, c.type);

	label = dp_admin_column_label(c.relid, c.attnum);
	label->has_bounds = label->has_totals = false;
	label->first = label->last = NULL;
	if (dp_type_is_time(c.type))
		ordered = set_times(fcinfo, label, from, getBaseType(c.type));
	else
		ordered = set_numbers(fcinfo, label, from);
	if (!ordered)
		dp_raise(BAD_PARAMETER,
				 errmsg("the lower bound of column \"%s\" of table \"%s\" must be less than its upper bound",
						get_attname(c.relid, c.attnum, false), get_rel_name(c.relid)));
	if (from == NUMERICOID)
		read_totals(fcinfo, label);
	dp_label_put(c.relid, c.attnum, label);
	dp_admin_tell_of_rows(c.relid, c.attnum, true);
	PG_RETURN_DATUM(dp_admin_column_row(fcinfo, c.relid, label));
}

/* drop_bounds("table", "column") */
Datum
dp_drop_bounds(PG_FUNCTION_ARGS)
{
	DpAdminColumn c = dp_admin_owned_column(fcinfo);
	DpLabel    *label = dp_admin_column_label(c.relid, c.attnum);

	if (!label->has_bounds && label->first == NULL)
		dp_raise(BAD_PARAMETER,
				 errmsg("column \"%s\" of table \"%s\" has no bounds: see dp_cdp.protected for those there are",
						get_attname(c.relid, c.attnum, false), get_rel_name(c.relid)));
	label->has_bounds = label->has_totals = false;
	label->first = label->last = NULL;
	dp_label_put(c.relid, c.attnum, label);
	PG_RETURN_DATUM(dp_admin_column_row(fcinfo, c.relid, label));
}
