/*-------------------------------------------------------------------------
 *
 * sql_plan.c
 *	  SQL functions for planning: what a budget buys.
 *
 * A released column is described by the arguments lower, upper, max_groups,
 * neighbors and grouped, which come last and in this order in every function
 * that needs them; see calc/planning.h.
 *
 * Invariant: as in sql_scalar.c, arguments are checked before anything is
 * computed, and no result is NaN.  The functions are strict.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "base/errors.h"
#include "calc/planning.h"
#include "calc/sql.h"

PG_FUNCTION_INFO_V1(dp_calc_sensitivity);
PG_FUNCTION_INFO_V1(dp_calc_releases_within);
PG_FUNCTION_INFO_V1(dp_calc_stddev_of);
PG_FUNCTION_INFO_V1(dp_calc_rho_for_stddev);
PG_FUNCTION_INFO_V1(dp_calc_margin_of);
PG_FUNCTION_INFO_V1(dp_calc_rho_for_margin);

/* Returns a probability that noise is within something: 1 takes an infinite margin. */
static double
probability_argument(FunctionCallInfo fcinfo, int argno)
{
	return dp_calc_number(fcinfo, argno, DP_RANGE_INSIDE, "probability");
}

/* Returns the sensitivity of the column that the arguments from argno on describe. */
static double
column_sensitivity(FunctionCallInfo fcinfo, int argno)
{
	double		lower = dp_calc_number(fcinfo, argno, DP_RANGE_FINITE, "lower");
	double		upper = dp_calc_number(fcinfo, argno + 1, DP_RANGE_FINITE, "upper");
	int64		max_groups = PG_GETARG_INT64(argno + 2);
	text	   *neighbors = PG_GETARG_TEXT_PP(argno + 3);
	bool		grouped = PG_GETARG_BOOL(argno + 4);
	bool		replace_one = dp_calc_text_is(neighbors, "replace_one");

	if (lower > upper)
		dp_raise(BAD_PARAMETER, errmsg("lower must not be greater than upper"));
	if (max_groups < 1 || max_groups > DP_MAX_COUNT)
		dp_calc_check(0, DP_RANGE_COUNT, "max_groups");
	if (!replace_one && !dp_calc_text_is(neighbors, "add_remove"))
		dp_raise(BAD_PARAMETER, errmsg("neighbors must be \"add_remove\" or \"replace_one\""));
	return dp_sensitivity(lower, upper, max_groups, grouped, replace_one);
}

/* Returns the sensitivity of the column, which must be finite to be calculated with. */
static double
sensitivity_argument(FunctionCallInfo fcinfo, int argno)
{
	double		sensitivity = column_sensitivity(fcinfo, argno);

	if (isinf(sensitivity))
		dp_raise(BAD_PARAMETER,
				 errmsg("the sensitivity of these bounds is beyond the largest number: narrow them, or lower max_groups"));
	return sensitivity;
}

/* Returns the step that noise is a multiple of. */
static double
step_argument(FunctionCallInfo fcinfo, int argno)
{
	return dp_calc_number(fcinfo, argno, DP_RANGE_NONNEGATIVE, "step");
}

/* sensitivity(of the column) */
Datum
dp_calc_sensitivity(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(dp_calc_result(column_sensitivity(fcinfo, 0)));
}

/* releases_within(rho, epsilon, delta) */
Datum
dp_calc_releases_within(PG_FUNCTION_ARGS)
{
	double		rho = dp_calc_number(fcinfo, 0, DP_RANGE_POSITIVE, "rho");
	double		epsilon = dp_calc_number(fcinfo, 1, DP_RANGE_NONNEGATIVE, "epsilon");
	double		delta = dp_calc_number(fcinfo, 2, DP_RANGE_PROBABILITY, "delta");

	PG_RETURN_INT64(dp_releases_within(rho, epsilon, delta));
}

/* stddev_of(rho, of the column) */
Datum
dp_calc_stddev_of(PG_FUNCTION_ARGS)
{
	double		rho = dp_calc_number(fcinfo, 0, DP_RANGE_NONNEGATIVE, "rho");

	PG_RETURN_FLOAT8(dp_calc_result(dp_stddev_of(rho, sensitivity_argument(fcinfo, 1))));
}

/* rho_for_stddev(stddev, of the column) */
Datum
dp_calc_rho_for_stddev(PG_FUNCTION_ARGS)
{
	double		stddev = dp_calc_number(fcinfo, 0, DP_RANGE_NONNEGATIVE, "stddev");

	PG_RETURN_FLOAT8(dp_calc_result(dp_rho_for_stddev(stddev, sensitivity_argument(fcinfo, 1))));
}

/* margin_of(rho, probability, of the column, step) */
Datum
dp_calc_margin_of(PG_FUNCTION_ARGS)
{
	double		rho = dp_calc_number(fcinfo, 0, DP_RANGE_NONNEGATIVE, "rho");
	double		probability = probability_argument(fcinfo, 1);
	double		sensitivity = sensitivity_argument(fcinfo, 2);
	double		step = step_argument(fcinfo, 7);

	PG_RETURN_FLOAT8(dp_calc_result(dp_margin_of(rho, probability, sensitivity, step)));
}

/* rho_for_margin(margin, probability, of the column, step) */
Datum
dp_calc_rho_for_margin(PG_FUNCTION_ARGS)
{
	double		margin = dp_calc_number(fcinfo, 0, DP_RANGE_NONNEGATIVE, "margin");
	double		probability = probability_argument(fcinfo, 1);
	double		sensitivity = sensitivity_argument(fcinfo, 2);
	double		step = step_argument(fcinfo, 7);

	PG_RETURN_FLOAT8(dp_calc_result(dp_rho_for_margin(margin, probability, sensitivity, step)));
}
