/*-------------------------------------------------------------------------
 *
 * granted.c
 *	  The row that functions on budgets and datasets return: it tells what a
 *	  budget or cap allows, and of a dataset that is altered what has changed.
 *	  Notices say where that is next to nothing, or where it promises little.
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
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "admin/admin.h"
#include "base/amounts.h"
#include "math/wide.h"
#include "math/zcdp.h"

/* the columns of types dp_cdp.granted and dp_cdp.altered, which differ in the second */
enum
{
	DATASET,
	ROLE_OR_CHANGED,
	RHO,
	EPSILON,
	DELTA,
	BEST_GUESS,
	AGGREGATES,
	REPORT_DELTA,
	KEY_DELTA,
	KEY_SELECTIONS,
	WARNINGS,
	NCOLUMNS
};

/* fewer aggregates than this are told of */
#define FEW_AGGREGATES 10

/* a guess that is right more often than this is told of, and a larger delta */
#define MUCH_GUESSED 0.95
#define MUCH_DELTA 1e-3

/* with this rho, and a delta that is not told of, the best guess is right less often than MUCH_GUESSED */
#define MODERATE_RHO 5

double
dp_admin_delta_down(int64 amount)
{
	return amount == 0 ? 0.0 : nextafter((double) amount / (double) DP_DELTA_ONE, 0.0);
}

DpGrant
dp_admin_grant(const DpDatasetRow *row, const char *name)
{
	DpGrant		grant = {.dataset = name, .default_rho = row->default_rho, .min_rho = row->min_rho,
	.default_delta = row->default_delta, .has_cap = row->has_rho_limit, .cap = row->rho_limit};

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

	/* without an answer it is a coin's, which rounding errors would raise */
	return rho == 0 && key_delta == 0 ? 0.5 : Min(1.0, ceil(guess * 1e4) / 1e4);
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

/* Returns the name of the role that has the budget; NULL: it is the dataset's cap. */
static const char *
role_name(const DpGrant *grant)
{
	return OidIsValid(grant->role) && grant->role_name == NULL ? GetUserNameFromId(grant->role, false) : grant->role_name;
}

/* Adds to a notice what buys FEW_AGGREGATES: a larger limit, or answers that cost less. */
static int
hint_at_more(const DpGrant *grant)
{
	int128		enough = (int128) grant->default_rho * FEW_AGGREGATES;
	int64		cheap = one_digit(grant->rho / FEW_AGGREGATES);
	StringInfoData hint;

	initStringInfo(&hint);
	/* a cap is there by now, whoever has given it as an epsilon */
	if (enough <= DP_RHO_MAX && role_name(grant) == NULL)
		appendStringInfo(&hint, "dp_cdp.alter_dataset(%s, rho => %s)", quote_literal_cstr(grant->dataset), dp_amount_text(enough, DP_RHO_SCALE));
	else if (enough <= DP_RHO_MAX && grant->epsilon > 0)
		appendStringInfo(&hint, "give epsilon => %g", epsilon_of(grant, (int64) enough, 3));
	else if (enough <= DP_RHO_MAX)
		appendStringInfo(&hint, "give rho => %s", dp_amount_text(enough, DP_RHO_SCALE));
	if (cheap > 0)
	{
		const char *text = dp_amount_text(cheap, DP_RHO_SCALE);

		appendStringInfo(&hint, "%sfor answers with more noise, dp_cdp.alter_dataset(%s, default_rho => %s%s%s)",
						 hint.len > 0 ? ", or, " : "", quote_literal_cstr(grant->dataset), text,
						 grant->min_rho > cheap ? ", min_rho => " : "", grant->min_rho > cheap ? text : "");
	}
	return hint.len > 0 ? errhint("For %d aggregates, %s.", FEW_AGGREGATES, hint.data) : 0;
}

/* Returns the limit's name, before that of the dataset. */
static const char *
limit_of(const DpGrant *grant)
{
	const char *role = role_name(grant);

	return role == NULL ? "the cap of" : psprintf("the budget of role \"%s\" in", role);
}

/*
 * The first query would be refused for it.  Prices are the dataset's: the
 * caller's settings are not those of who asks.
 */
void
dp_admin_tell_of_little(const DpGrant *grant)
{
	int64		n = grant->rho / grant->default_rho;

	if (grant->no_limit || n >= FEW_AGGREGATES)
		return;
	dp_admin_warn(NOTICE,
				  errmsg("%s dataset \"%s\" pays for %s at the default price, rho %s: give more, or let answers cost less",
						 limit_of(grant), grant->dataset,
						 n == 0 ? "no aggregate" : n == 1 ? "1 aggregate" : psprintf("%d aggregates", (int) n),
						 dp_amount_text(grant->default_rho, DP_RHO_SCALE)),
				  hint_at_more(grant));
}

static double
key_delta_of(const DpGrant *grant)
{
	return (double) grant->key_delta / (double) DP_DELTA_ONE;
}

/* Returns the delta of everything that is seen, selections of keys with it. */
static double
whole_delta(const DpGrant *grant)
{
	return Min(1.0, (double) ((int128) grant->report_delta + grant->key_delta) / (double) DP_DELTA_ONE);
}

static double
best_guess(const DpGrant *grant)
{
	return dp_admin_best_guess(grant->no_limit ? INFINITY : (double) grant->rho / (double) DP_RHO_ONE, key_delta_of(grant));
}

void
dp_admin_tell_of_much(const DpGrant *grant)
{
	if (role_name(grant) != NULL && grant->has_cap && grant->rho > grant->cap)
	{
		const char *cap = dp_amount_text(grant->cap, DP_RHO_SCALE);
		const char *rho = dp_amount_text(grant->rho, DP_RHO_SCALE);

		dp_admin_warn(NOTICE,
					  errmsg("%s dataset \"%s\" is rho %s, above the cap of rho %s for all roles together: the cap ends its answers first",
							 limit_of(grant), grant->dataset, rho, cap),
					  errhint("Give rho => %s or less, or raise the cap with dp_cdp.alter_dataset(%s, rho => %s).",
							  cap, quote_literal_cstr(grant->dataset), rho));
	}
	/* a cap that there is not promises nothing, which needs no figure */
	if (!grant->no_limit && best_guess(grant) > MUCH_GUESSED)
		dp_admin_warn(NOTICE,
					  errmsg("once %s dataset \"%s\" is spent, the best guesser is right in %.4g %% of cases whether one person is in the data",
							 limit_of(grant), grant->dataset, 100 * best_guess(grant)),
					  errhint("Give rho => %d or less, so that he is wrong in at least 5 %% of cases.", MODERATE_RHO));
	if (whole_delta(grant) > MUCH_DELTA)
		dp_admin_warn(NOTICE,
					  errmsg("the delta of %s dataset \"%s\" is %g: with this probability answers may tell anything about a person",
							 limit_of(grant), grant->dataset, whole_delta(grant)),
					  errhint("Give a delta well below one over the number of people, such as delta => 1e-6."));
}

void
dp_admin_tell_of_renewals(const DpGrant *grant, const Interval *period)
{
	double		days = period->month * (DAYS_PER_YEAR / MONTHS_PER_YEAR) + period->day + (double) period->time / USECS_PER_DAY;
	double		times = ceil(DAYS_PER_YEAR / days);
	double		rho = times * (double) grant->rho / (double) DP_RHO_ONE;
	double		guess = dp_admin_best_guess(rho, Min(1, times * key_delta_of(grant)));

	/* a cap, and one period that promises little, are told of already */
	if (grant->has_cap || guess <= MUCH_GUESSED || best_guess(grant) > MUCH_GUESSED)
		return;
	dp_admin_warn(NOTICE,
				  errmsg("%s dataset \"%s\" is renewed %.6g times a year, which adds up to rho %.4g: then the best guesser is right in %.4g %% of cases",
						 limit_of(grant), grant->dataset, times, rho, 100 * guess),
				  errhint("Cap all periods together with dp_cdp.alter_dataset(%s, rho => %d) or less.",
						  quote_literal_cstr(grant->dataset), MODERATE_RHO));
}

void
dp_admin_tell_of_budgets(const DpGrant *cap)
{
	Oid			types[] = {TEXTOID, NUMERICOID};
	Datum		values[] = {CStringGetTextDatum(cap->dataset), NumericGetDatum(dp_amount_numeric(cap->rho, DP_RHO_SCALE))};
	char	   *roles;

	if (cap->no_limit)
		return;
	dp_admin_execute("SELECT string_agg(quote_ident(role_name), ', ' ORDER BY role_name)"
					 " FROM dp_cdp_internal.budget WHERE dataset = $1 AND rho_limit > $2",
					 lengthof(types), types, values, NULL, false);
	roles = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	if (roles != NULL)
		dp_admin_warn(NOTICE,
					  errmsg("the cap of dataset \"%s\" is rho %s, and budgets of these roles are above it: %s",
							 cap->dataset, dp_amount_text(cap->rho, DP_RHO_SCALE), roles),
					  errhint("The cap ends their answers first: lower them with dp_cdp.set_budget, or raise the cap."));
}

/*
 * Tells of a limit below what is spent already; returns whether it is one.  The rho_spent of a dataset with blocks is that of the block in which
 * most was spent.
 */
bool
dp_admin_tell_of_spent(const DpGrant *grant)
{
	bool		is_budget = OidIsValid(grant->role);
	Oid			types[] = {TEXTOID, OIDOID, NUMERICOID};
	int128		enough = (int128) grant->default_rho * FEW_AGGREGATES;
	Datum		values[] = {CStringGetTextDatum(grant->dataset), ObjectIdGetDatum(grant->role), NumericGetDatum(dp_amount_numeric(enough, DP_RHO_SCALE))};
	HeapTuple	row;
	TupleDesc	desc;
	const char *block;
	const char *renewed;

	if (dp_admin_execute(is_budget ?
						 "SELECT trim_scale(b.rho_spent), d.block_every, b.renews_at, trim_scale(b.rho_spent + $3)"
						 " FROM dp_cdp_internal.budget b JOIN dp_cdp_internal.dataset d ON d.name = b.dataset"
						 " WHERE b.dataset = $1 AND b.role = $2 AND dp_cdp_internal.known_role(b.role, b.role_name) = $2"
						 " AND b.rho_spent >= b.rho_limit AND b.rho_spent > 0"
						 " AND coalesce(dp_cdp_internal.next_renewal(b.renews_at, b.period, now()) = b.renews_at, true)" :
						 "SELECT trim_scale(d.rho_spent), d.block_every, NULL, trim_scale(d.rho_spent + $3)"
						 " FROM dp_cdp_internal.dataset d WHERE d.name = $1 AND d.rho_spent >= d.rho_limit AND d.rho_spent > 0",
						 lengthof(types), types, values, NULL, false) == 0)
		return false;
	row = SPI_tuptable->vals[0];
	desc = SPI_tuptable->tupdesc;
	block = SPI_getvalue(row, desc, 2);
	renewed = SPI_getvalue(row, desc, 3);
	dp_admin_warn(NOTICE,
				  errmsg("%s dataset \"%s\" is rho %s, and rho %s is spent already%s",
						 limit_of(grant), grant->dataset, dp_amount_text(grant->rho, DP_RHO_SCALE),
						 SPI_getvalue(row, desc, 1),
						 block ? " in a block of time: it pays for nothing there" : ": it pays for nothing"),
				  errhint("For %d aggregates more, give rho => %s%s%s.", FEW_AGGREGATES, SPI_getvalue(row, desc, 4),
						  renewed ? ", or wait until it is renewed, at " : "", renewed ? renewed : ""));
	return true;
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

/* Returns a row of what a limit allows, with the value of its second column. */
static Datum
allowed(FunctionCallInfo fcinfo, const DpGrant *grant, Datum second, bool second_is_null)
{
	double		epsilon = grant->no_limit ? INFINITY : grant->rho == 0 ? 0.0 : epsilon_of(grant, grant->rho, 6);
	TupleDesc	desc;
	Datum		values[NCOLUMNS];
	bool		nulls[NCOLUMNS] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE || desc->natts != NCOLUMNS)
		elog(ERROR, "the result of a function of dp_cdp is not of type dp_cdp.granted or dp_cdp.altered");
	/* rho was chosen so that it is within the epsilon that was asked for */
	if (grant->epsilon > 0)
		epsilon = Min(epsilon, grant->epsilon);
	values[DATASET] = CStringGetTextDatum(grant->dataset);
	nulls[ROLE_OR_CHANGED] = second_is_null;
	values[ROLE_OR_CHANGED] = second;
	values[RHO] = grant->no_limit ? infinity() : NumericGetDatum(dp_amount_numeric(grant->rho, DP_RHO_SCALE));
	values[EPSILON] = Float8GetDatum(epsilon);
	values[DELTA] = Float8GetDatum(whole_delta(grant));
	values[BEST_GUESS] = Float8GetDatum(best_guess(grant));
	values[AGGREGATES] = grant->no_limit ? infinity() : whole(grant->rho, grant->default_rho);
	values[REPORT_DELTA] = Float8GetDatum((double) grant->report_delta / (double) DP_DELTA_ONE);
	values[KEY_DELTA] = Float8GetDatum(key_delta_of(grant));
	values[KEY_SELECTIONS] = whole(grant->key_delta, grant->default_delta);
	values[WARNINGS] = dp_admin_warnings();
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

Datum
dp_admin_granted(FunctionCallInfo fcinfo, const DpGrant *grant)
{
	const char *role = role_name(grant);

	return allowed(fcinfo, grant, role == NULL ? (Datum) 0 : CStringGetTextDatum(role), role == NULL);
}

Datum
dp_admin_altered(FunctionCallInfo fcinfo, const DpGrant *cap, Datum changed)
{
	return allowed(fcinfo, cap, changed, false);
}
