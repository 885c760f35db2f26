/*-------------------------------------------------------------------------
 *
 * granted.c
 *	  The row that set_budget, create_dataset and alter_dataset return: it tells
 *	  what a budget or cap allows.  A warning where that is next to nothing.
 *
 * Everything that is seen of a dataset, once a limit is spent, is (epsilon,
 * delta)-DP: rho by the bound of Canonne, Kamath and Steinke at report_delta,
 * and key selections with key_delta beside it.  delta is the sum of the two
 * (Bun and Steinke 2016, Section 8).  How often a guess is right is proved in
 * math/zcdp.c.  Figures for people are rounded upwards, to few digits.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "admin/admin.h"
#include "base/amounts.h"
#include "base/errors.h"
#include "base/settings.h"
#include "math/wide.h"
#include "math/zcdp.h"

/* the columns of type dp_cdp.granted */
enum
{
	RHO,
	EPSILON,
	DELTA,
	BEST_GUESS,
	AGGREGATES,
	KEY_DELTA,
	KEY_SELECTIONS,
	NCOLUMNS
};

/* fewer aggregates than this are told of */
#define FEW_AGGREGATES 10

double
dp_admin_delta_down(int64 amount)
{
	return amount == 0 ? 0.0 : nextafter((double) amount / (double) DP_DELTA_ONE, 0.0);
}

DpGrant
dp_admin_grant(const DpDatasetRow *row, const char *name)
{
	DpGrant		grant = {.dataset = name, .default_rho = row->default_rho, .min_rho = row->min_rho,
	.default_delta = row->default_delta};

	return grant;
}

/* Returns a number >= 0 rounded upwards to a number of significant digits; Infinity stays. */
static double
round_up(double number, int digits)
{
	int			places;
	double		result;

	if (number == 0 || isinf(number))
		return number;
	places = digits - 1 - (int) floor(log10(number));
	result = places >= 0 ? ceil(number * pow(10, places)) / pow(10, places)
		: ceil(number / pow(10, -places)) * pow(10, -places);
	return Max(result, number);
}

double
dp_admin_best_guess(double rho, double key_delta)
{
	double		guess = dp_zcdp_best_guess(nextafter(rho, INFINITY), key_delta);

	return Min(1.0, ceil(guess * 1e4) / 1e4);
}

/* Returns the largest amount with one digit that is not above an amount. */
static int64
one_digit(int64 amount)
{
	int64		unit = 1;

	while (amount / unit >= 10)
		unit *= 10;
	return amount / unit * unit;
}

/* Returns the epsilon of what a limit allows, at report_delta and an amount of rho, rounded up. */
static double
epsilon_of(const DpGrant *grant, int64 rho, int digits)
{
	double		above = nextafter((double) rho / (double) DP_RHO_ONE, INFINITY);

	return round_up(dp_zcdp_epsilon_up(above, dp_admin_delta_down(grant->report_delta)), digits);
}

/* Adds to a warning what buys FEW_AGGREGATES: a larger limit, or answers that cost less. */
static int
hint_at_more(const DpGrant *grant, int64 price)
{
	int128		enough = (int128) price * FEW_AGGREGATES;
	int64		cheap = one_digit(grant->rho / FEW_AGGREGATES);
	StringInfoData hint;

	initStringInfo(&hint);
	if (enough <= DP_RHO_MAX && grant->epsilon > 0)
		appendStringInfo(&hint, "give epsilon => %g", epsilon_of(grant, (int64) enough, 3));
	else if (enough <= DP_RHO_MAX)
		appendStringInfo(&hint, "give rho => %s", dp_amount_text(enough, DP_RHO_SCALE));
	/* another price than the dataset's is that of a setting */
	if (cheap > 0 && price == grant->default_rho)
	{
		const char *text = dp_amount_text(cheap, DP_RHO_SCALE);

		appendStringInfo(&hint, "%sfor answers with more noise, dp_cdp.alter_dataset(%s, default_rho => %s%s%s)",
						 hint.len > 0 ? ", or, " : "", quote_literal_cstr(grant->dataset), text,
						 grant->min_rho > cheap ? ", min_rho => " : "", grant->min_rho > cheap ? text : "");
	}
	return hint.len > 0 ? errhint("For %d aggregates, %s.", FEW_AGGREGATES, hint.data) : 0;
}

/* Warns of a limit that pays for few aggregates, before the first query is refused for it. */
static void
warn_of_little(const DpGrant *grant, int64 price)
{
	int64		n = grant->rho / price;
	const char *what = "the cap of";

	if (n >= FEW_AGGREGATES)
		return;
	if (OidIsValid(grant->role))
		what = psprintf("the budget of role \"%s\" in", GetUserNameFromId(grant->role, false));
	ereport(WARNING,
			(errmsg("%s dataset \"%s\" pays for %s at the default price, rho %s: give more, or let answers cost less",
					what, grant->dataset,
					n == 0 ? "no aggregate" : n == 1 ? "1 aggregate" : psprintf("%d aggregates", (int) n),
					dp_amount_text(price, DP_RHO_SCALE)),
			 hint_at_more(grant, price)));
}

/* Returns floor(amount / price) as a numeric, price > 0. */
static Datum
whole(int64 amount, int64 price)
{
	return NumericGetDatum(dp_amount_numeric(amount / price, 0));
}

static Datum
infinity(void)
{
	return DirectFunctionCall3(numeric_in, CStringGetDatum("Infinity"), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

Datum
dp_admin_granted(FunctionCallInfo fcinfo, const DpGrant *grant, bool warn)
{
	int64		price = dp_guc_rho > 0 ? dp_rho_amount(dp_guc_rho, "dp_cdp.rho") : grant->default_rho;
	double		rho = grant->no_limit ? INFINITY : (double) grant->rho / (double) DP_RHO_ONE;
	int128		delta = (int128) grant->report_delta + grant->key_delta;
	double		key_delta = (double) grant->key_delta / (double) DP_DELTA_ONE;
	double		epsilon = grant->no_limit ? INFINITY : epsilon_of(grant, grant->rho, 6);
	TupleDesc	desc;
	Datum		values[NCOLUMNS];
	bool		nulls[NCOLUMNS] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE || desc->natts != NCOLUMNS)
		elog(ERROR, "the result of a function of dp_cdp is not of type dp_cdp.granted");
	if (warn && !grant->no_limit)
		warn_of_little(grant, price);

	/* rho was chosen so that it is within the epsilon that was asked for */
	if (grant->epsilon > 0)
		epsilon = Min(epsilon, grant->epsilon);
	values[RHO] = grant->no_limit ? infinity() : NumericGetDatum(dp_amount_numeric(grant->rho, DP_RHO_SCALE));
	values[EPSILON] = Float8GetDatum(epsilon);
	values[DELTA] = Float8GetDatum(Min(1.0, (double) delta / (double) DP_DELTA_ONE));
	values[BEST_GUESS] = Float8GetDatum(dp_admin_best_guess(rho, key_delta));
	values[AGGREGATES] = grant->no_limit ? infinity() : whole(grant->rho, price);
	values[KEY_DELTA] = Float8GetDatum(key_delta);
	values[KEY_SELECTIONS] = whole(grant->key_delta, grant->default_delta);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}
