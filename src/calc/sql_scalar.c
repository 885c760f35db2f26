/*-------------------------------------------------------------------------
 *
 * sql_scalar.c
 *	  SQL functions of the calculators that take numbers.
 *
 * Invariants: every argument is checked against the range that the table of
 * calc/calculators.h gives for it before anything is computed, and no result
 * is NaN.  The functions are strict.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"

#include "base/errors.h"
#include "calc/sql.h"

/* ------------------------------------------------------------------------
 * Shared
 * ------------------------------------------------------------------------
 */

void
dp_calc_check(double value, DpRange range, const char *name)
{
	if (!dp_in_range(value, range))
		dp_raise(BAD_PARAMETER, errmsg("%s %s", name, dp_range_text(range)));
}

double
dp_calc_number(FunctionCallInfo fcinfo, int argno, DpRange range, const char *name)
{
	double		value = PG_GETARG_FLOAT8(argno);

	dp_calc_check(value, range, name);
	/* 0 for -0, whose reciprocal would be -Infinity */
	return value + 0.0;
}

void
dp_calc_no_bound(const char *valid)
{
	dp_raise(BAD_PARAMETER, errmsg("bound must be one of %s", valid));
}

bool
dp_calc_text_is(const text *value, const char *name)
{
	size_t		len = VARSIZE_ANY_EXHDR(value);

	return len == strlen(name) && memcmp(VARDATA_ANY(value), name, len) == 0;
}

double
dp_calc_result(double result)
{
	if (isnan(result))
		elog(ERROR, "dp_cdp: the calculator has no answer");
	return result;
}

Datum
dp_calc_pair(FunctionCallInfo fcinfo, double first, double second)
{
	TupleDesc	desc;
	Datum		values[2];
	bool		nulls[2] = {false, false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE || desc->natts != 2)
		elog(ERROR, "dp_cdp: a pair was expected as the result type");
	values[0] = Float8GetDatum(dp_calc_result(first));
	values[1] = Float8GetDatum(dp_calc_result(second));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

/* ------------------------------------------------------------------------
 * From the table
 * ------------------------------------------------------------------------
 */

/* the cache of a call site, in fn_extra */
typedef struct CallSite
{
	const DpCalculator *first;	/* row of the function's name */
	TupleDesc	desc;			/* for functions that return a pair */
} CallSite;

static CallSite *
call_site(FunctionCallInfo fcinfo, const char *name)
{
	CallSite   *site = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(CallSite));
	const DpCalculator *c = dp_calculators;

	while (c->name != NULL && strcmp(c->name, name) != 0)
		c++;
	if (c->name == NULL)
		elog(ERROR, "dp_cdp: there is no calculator \"%s\"", name);
	if (PG_NARGS() != c->nargs + (c->bound[0] != '\0'))
		elog(ERROR, "dp_cdp: the calculator \"%s\" has other arguments", name);
	if (c->nresults == 2)
	{
		MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
		TupleDesc	desc;

		if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE || desc->natts != 2)
			elog(ERROR, "dp_cdp: a pair was expected as the result type");
		site->desc = BlessTupleDesc(CreateTupleDescCopy(desc));
		MemoryContextSwitchTo(caller);
	}
	site->first = c;
	fcinfo->flinfo->fn_extra = site;
	return site;
}

/* Returns the row of the table whose bound the last argument names. */
static const DpCalculator *
with_bound(const DpCalculator *first, const text *bound)
{
	const DpCalculator *c;
	StringInfoData valid;

	for (c = first; c->name != NULL && strcmp(c->name, first->name) == 0; c++)
	{
		if (dp_calc_text_is(bound, c->bound))
			return c;
	}
	initStringInfo(&valid);
	for (c = first; c->name != NULL && strcmp(c->name, first->name) == 0; c++)
		appendStringInfo(&valid, "%s\"%s\"", c == first ? "" : ", ", c->bound);
	dp_calc_no_bound(valid.data);
}

static Datum
calculate(FunctionCallInfo fcinfo, const char *name)
{
	CallSite   *site = fcinfo->flinfo->fn_extra;
	const DpCalculator *c;
	DpArgument	args[DP_MAX_ARGUMENTS];
	double		results[2];
	int			i;

	if (site == NULL)
		site = call_site(fcinfo, name);
	c = site->first;
	if (c->bound[0] != '\0')
		c = with_bound(c, PG_GETARG_TEXT_PP(c->nargs));

	for (i = 0; i < c->nargs; i++)
	{
		if (c->args[i].range == DP_RANGE_COUNT)
		{
			args[i].i = PG_GETARG_INT64(i);
			if (args[i].i < 1 || args[i].i > DP_MAX_COUNT)
				dp_calc_check(0, DP_RANGE_COUNT, c->args[i].name);
		}
		else
			args[i].d = dp_calc_number(fcinfo, i, c->args[i].range, c->args[i].name);
	}

	if (!c->compute(args, results))
	{
		if (c->refusal == NULL)
			elog(ERROR, "dp_cdp: the calculator \"%s\" has no answer", name);
		dp_raise(BAD_PARAMETER, errmsg("%s", c->refusal));
	}
	if (c->nresults == 1)
		PG_RETURN_FLOAT8(results[0]);
	else
	{
		Datum		values[2] = {Float8GetDatum(results[0]), Float8GetDatum(results[1])};
		bool		nulls[2] = {false, false};

		PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(site->desc, values, nulls)));
	}
}

#define CALCULATOR(name) \
PG_FUNCTION_INFO_V1(dp_calc_##name); \
Datum \
dp_calc_##name(PG_FUNCTION_ARGS) \
{ \
	return calculate(fcinfo, #name); \
}

CALCULATOR(zcdp_epsilon)
CALCULATOR(zcdp_delta)
CALCULATOR(zcdp_rho)
CALCULATOR(approx_zcdp_epsilon)
CALCULATOR(approx_zcdp_delta)
CALCULATOR(gaussian_rho)
CALCULATOR(gaussian_stddev_zcdp)
CALCULATOR(gaussian_gdp)
CALCULATOR(gaussian_mcdp)
CALCULATOR(gaussian_rdp)
CALCULATOR(gaussian_delta)
CALCULATOR(gaussian_epsilon)
CALCULATOR(gaussian_stddev)
CALCULATOR(discrete_gaussian_delta)
CALCULATOR(gdp_delta)
CALCULATOR(gdp_epsilon)
CALCULATOR(gdp_mu)
CALCULATOR(gdp_to_zcdp)
CALCULATOR(mcdp_to_zcdp)
CALCULATOR(zcdp_to_mcdp)
CALCULATOR(approx_curve_to_zcdp)
CALCULATOR(mcdp_delta)
CALCULATOR(mcdp_epsilon)
CALCULATOR(pure_to_zcdp)
CALCULATOR(pure_to_mcdp)
CALCULATOR(pure_to_rdp)
CALCULATOR(zcdp_to_pure)
CALCULATOR(zcdp_to_rdp)
CALCULATOR(laplace_to_zcdp)
CALCULATOR(bounded_range_to_zcdp)
CALCULATOR(approx_to_zcdp)
CALCULATOR(rdp_epsilon)
CALCULATOR(rdp_delta)
CALCULATOR(compose_delta)
CALCULATOR(compose_basic)
CALCULATOR(compose_advanced)
CALCULATOR(compose_advanced_delta)
CALCULATOR(compose_optimal_delta)
CALCULATOR(compose_optimal_epsilon)
CALCULATOR(group_zcdp)
CALCULATOR(group_mcdp)
CALCULATOR(group_mcdp_general)
CALCULATOR(mcdp_triangle)
CALCULATOR(group_gaussian)
CALCULATOR(group_gdp)
CALCULATOR(group_pure)
CALCULATOR(group_approx_delta)
CALCULATOR(renyi_triangle)
CALCULATOR(mutual_information)
CALCULATOR(mutual_information_product)
CALCULATOR(split_budget_rho)
CALCULATOR(split_budget)
