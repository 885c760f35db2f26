/*-------------------------------------------------------------------------
 *
 * budget.c
 *	  set_budget, drop_budget, reset_failures, and the epsilon that views report.
 *
 * A budget given as (epsilon, delta) keeps a share of delta, key_delta_share of
 * the dataset, for key selection.  It takes the largest rho that is (epsilon,
 * rest of delta)-DP by the tight bound (Canonne, Kamath, Steinke, Corollary 13),
 * rounded down, so that everything a role sees is (epsilon, delta)-DP.  A budget
 * given as rho takes delta, or the dataset's, as its limit for key selection.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "admin/admin.h"
#include "base/amounts.h"
#include "base/clock.h"
#include "base/errors.h"
#include "math/wide.h"
#include "math/zcdp.h"
#include "policy/policy.h"

/* the longest period of a budget */
#define MAX_PERIOD_YEARS 1000

PG_FUNCTION_INFO_V1(dp_set_budget);
PG_FUNCTION_INFO_V1(dp_drop_budget);
PG_FUNCTION_INFO_V1(dp_drop_missing_budget);
PG_FUNCTION_INFO_V1(dp_reset_failures);
PG_FUNCTION_INFO_V1(dp_epsilon_spent);
PG_FUNCTION_INFO_V1(dp_best_guess);

void
dp_admin_lock_role(Oid role, const char *parameter)
{
	if (OidIsValid(role))
		LockSharedObject(AuthIdRelationId, role, 0, AccessShareLock);
	if (!SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(role)))
		dp_raise(BAD_PARAMETER,
				 OidIsValid(role) ? errmsg("%s is no role: give the name of an existing role", parameter) :
				 errmsg("%s is NULL: give the name of a role", parameter));
}

double
dp_admin_epsilon(FunctionCallInfo fcinfo, int epsilon, int delta)
{
	double		value = PG_GETARG_FLOAT8(epsilon);

	if (isnan(value) || isinf(value) || value <= 0.0)
		dp_raise(BAD_PARAMETER, errmsg("epsilon must be a finite number greater than 0"));
	if (PG_ARGISNULL(delta))
		dp_raise(BAD_PARAMETER,
				 errmsg("epsilon says nothing without delta: give both, such as epsilon => %g, delta => 1e-6",
						value),
				 errdetail("A good delta is well below one over the number of people."));
	return value;
}

int64
dp_admin_rho_for_epsilon(double epsilon, int64 delta)
{
	double		rho = dp_zcdp_rho_down(epsilon, dp_admin_delta_down(delta));

	/*
	 * The shortest decimal of a double may lie above it, by less than the
	 * distance to the next double.
	 */
	rho = nextafter(rho, 0.0);
	if (!(rho * (double) DP_RHO_ONE >= 1.0))
		dp_raise(BAD_PARAMETER, errmsg("this epsilon and delta allow no release at all: raise epsilon or delta"));
	return dp_rho_limit_amount(rho, "the rho of this epsilon and delta");
}

static bool
is_within(int64 value, int64 most)
{
	return value > -most && value < most;
}

static TimestampTz
next_renewal(Interval *period)
{
	TimestampTz now = Min(GetCurrentTransactionStartTimestamp(), dp_now());
	TimestampTz next = DT_NOEND;

	/* more would be beyond the calendar */
	if (is_within(period->month, MAX_PERIOD_YEARS * MONTHS_PER_YEAR) &&
		is_within(period->day, MAX_PERIOD_YEARS * 365) &&
		is_within(period->time, MAX_PERIOD_YEARS * 365 * USECS_PER_DAY))
		next = DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval,
													   TimestampTzGetDatum(now),
													   IntervalPGetDatum(period)));

	if (next <= now || TIMESTAMP_NOT_FINITE(next))
		dp_raise(BAD_PARAMETER,
				 errmsg("period must be a positive interval of less than 1000 years, or NULL for a budget that is never renewed"));
	return next;
}

/* the limits of a budget as its arguments have them; amounts */
typedef struct Limits
{
	bool		by_rho;			/* else by epsilon */
	double		epsilon;
	int64		rho;			/* if by rho */
	bool		has_delta;
	int64		delta;
} Limits;

/* Reads arguments 2 (rho), 3 (epsilon) and 4 (delta). */
static Limits
read_limits(FunctionCallInfo fcinfo)
{
	Limits		limits = {.by_rho = !PG_ARGISNULL(2), .has_delta = !PG_ARGISNULL(4)};

	if (limits.by_rho == !PG_ARGISNULL(3))
		dp_raise(BAD_PARAMETER,
				 errmsg("a budget is given either as rho or as epsilon (with delta): give exactly one of the two"));
	if (limits.by_rho)
		limits.rho = dp_rho_limit_amount(PG_GETARG_FLOAT8(2), "rho");
	else
		limits.epsilon = dp_admin_epsilon(fcinfo, 3, 4);
	if (limits.has_delta)
	{
		double		d = PG_GETARG_FLOAT8(4);

		/* a budget of rho may forbid key selection by delta 0 */
		if (isnan(d) || d >= 1.0 || d < 0.0 || (d == 0.0 && !limits.by_rho))
			dp_raise(BAD_PARAMETER,
					 errmsg("delta must be %s 0 and less than 1; choose it well below one over the number of people",
							limits.by_rho ? "at least" : "greater than"));
		limits.delta = dp_delta_limit_amount(d, "delta");
	}
	return limits;
}

/* Completes the limits of a role's budget by what follows from the dataset. */
static DpGrant
complete_limits(const DpDatasetRow *dataset, const char *name, Oid role, const Limits *limits)
{
	DpGrant		grant = dp_admin_grant(dataset, name);
	int64		delta = limits->has_delta ? limits->delta : dataset->delta_limit;

	grant.role = role;
	if (limits->by_rho)
	{
		grant.rho = limits->rho;
		grant.report_delta = dataset->delta_limit;
		grant.key_delta = delta;
	}
	else
	{
		grant.epsilon = limits->epsilon;
		/* however this is rounded, the two are delta */
		grant.key_delta = Min((int64) rint(dataset->key_delta_share * (double) delta), delta);
		grant.report_delta = delta - grant.key_delta;
		grant.rho = dp_admin_rho_for_epsilon(limits->epsilon, grant.report_delta);
	}
	return grant;
}

/* Writes a budget.  period NULL: it is never renewed, else for the first time at renews_at. */
static void
write_budget(const DpGrant *grant, Interval *period, TimestampTz renews_at)
{
	Oid			types[] = {TEXTOID, OIDOID, NUMERICOID, NUMERICOID, NUMERICOID, INTERVALOID, TIMESTAMPTZOID};
	char		nulls[] = {' ', ' ', ' ', ' ', ' ', period ? ' ' : 'n', period ? ' ' : 'n'};
	Datum		values[lengthof(types)];

	values[0] = CStringGetTextDatum(grant->dataset);
	values[1] = ObjectIdGetDatum(grant->role);
	values[2] = NumericGetDatum(dp_amount_numeric(grant->rho, DP_RHO_SCALE));
	values[3] = NumericGetDatum(dp_amount_numeric(grant->key_delta, DP_DELTA_SCALE));
	values[4] = NumericGetDatum(dp_amount_numeric(grant->report_delta, DP_DELTA_SCALE));
	values[5] = IntervalPGetDatum(period);
	values[6] = TimestampTzGetDatum(renews_at);
	/* a role that was renamed since has its row under another name */
	if (dp_admin_execute("UPDATE dp_cdp_internal.budget SET rho_limit = $3, delta_limit = $4, report_delta = $5,"
						 " renews_at = CASE WHEN period = $6 AND renews_at < $7 THEN renews_at ELSE $7 END, period = $6,"
						 " role_name = (SELECT rolname FROM pg_catalog.pg_roles WHERE oid = $2)"
						 " WHERE dataset = $1 AND role = $2 AND dp_cdp_internal.known_role(role, role_name) = $2",
						 lengthof(types), types, values, nulls, true) > 0)
		return;
	dp_admin_number_balances();
	dp_admin_execute("INSERT INTO dp_cdp_internal.budget AS b (dataset, role, rho_limit, delta_limit,"
					 " report_delta, period, renews_at, spent_since)"
					 " SELECT $1, $2, $3, $4, $5, $6, $7, greatest(s.last_value + s.is_called::int,"
					 "   (SELECT max(id) + 1 FROM dp_cdp_internal.release_log)) FROM dp_cdp_internal.release_log_id_seq s"
					 " ON CONFLICT (dataset, role, role_name) DO UPDATE SET rho_limit = excluded.rho_limit,"
					 " delta_limit = excluded.delta_limit, report_delta = excluded.report_delta,"
					 " period = excluded.period,"
					 " renews_at = CASE WHEN b.period = excluded.period THEN b.renews_at"
					 " ELSE excluded.renews_at END",
					 lengthof(types), types, values, nulls, true);
}

/* Warns where a role reads rows of the dataset's tables, which a budget does not limit. */
static void
tell_of_rows_read(const char *dataset, Oid role)
{
	StringInfoData tables;
	ListCell   *lc;

	initStringInfo(&tables);
	foreach(lc, dp_label_tables(dataset))
	{
		ListCell   *child;

		foreach(child, find_all_inheritors(lfirst_oid(lc), NoLock, NULL))
		{
			Oid			relid = lfirst_oid(child);

			if (dp_role_may_read(relid, role))
				appendStringInfo(&tables, "%s%s", tables.len > 0 ? ", " : "",
								 quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid)));
		}
	}
	if (tables.len > 0)
		dp_admin_warn(NOTICE,
					  errmsg("role \"%s\" may read rows of dataset \"%s\", without noise and whatever its budget: %s",
							 GetUserNameFromId(role, false), dataset, tables.data),
					  errhint("REVOKE SELECT on these tables from it, or from the roles that it has this right by."));
}

/*
 * set_budget(dataset, role, rho, epsilon, delta, period)
 *
 * Creates or changes a budget; what is spent stays spent.  Returns what the
 * budget allows.
 */
Datum
dp_set_budget(PG_FUNCTION_ARGS)
{
	char	   *name = dp_admin_dataset_name(fcinfo, 0);
	Oid			role = PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1);
	Oid			user = GetUserId();
	Limits		limits = read_limits(fcinfo);
	Interval   *period = PG_ARGISNULL(5) ? NULL : PG_GETARG_INTERVAL_P(5);
	TimestampTz renews_at = period ? next_renewal(period) : 0;
	DpAdminContext context;
	DpGrant		grant;
	bool		is_owner;
	bool		is_spent;

	dp_admin_begin(&context);
	grant = complete_limits(dp_admin_dataset(name, user, DP_LOCK_REFERENCE), name, role, &limits);
	dp_admin_lock_role(role, "role");
	write_budget(&grant, period, renews_at);
	is_spent = dp_admin_tell_of_spent(&grant);
	is_owner = has_privs_of_role(role, dp_policy_dataset(name)->owner);
	dp_admin_end(&context);
	if (is_owner)
		dp_admin_warn(WARNING,
					  errmsg("role \"%s\" can act as the owner of dataset \"%s\", and a budget limits nothing for it",
							 GetUserNameFromId(role, false), name),
					  errhint("Give budgets to roles that are no members of the owner."));
	else
		tell_of_rows_read(name, role);
	if (!is_spent)
		dp_admin_tell_of_little(&grant);
	dp_admin_tell_of_much(&grant);
	if (period != NULL)
		dp_admin_tell_of_renewals(&grant, period);
	PG_RETURN_DATUM(dp_admin_granted(fcinfo, &grant));
}

/* Refuses to change a budget that is not there; role: whose it would be. */
static void
no_such_budget(const char *dataset, const char *role)
{
	dp_raise(BAD_PARAMETER, errmsg("%s has no budget in dataset \"%s\": see dp_cdp.budgets for those there are",
								   role, dataset));
}

/* Returns a role as a message names it, also one that there is no more. */
static const char *
role_in_words(Oid role)
{
	char	   *name = OidIsValid(role) ? GetUserNameFromId(role, true) : NULL;

	return name != NULL ? psprintf("role \"%s\"", name) : "this role";
}

/*
 * Deletes budgets of a dataset that meet a condition on $2; role: whose they are, in words.  Returns what the role is
 * left with: nothing.
 */
static Datum
drop_budgets(FunctionCallInfo fcinfo, const char *name, const char *role, const char *condition, Oid type, Datum value)
{
	Oid			user = GetUserId();
	DpAdminContext context;
	Oid			types[] = {TEXTOID, type};
	Datum		values[] = {CStringGetTextDatum(name), value};
	char	   *spent = NULL;
	MemoryContext caller = CurrentMemoryContext;
	DpGrant		nothing;

	dp_admin_begin(&context);
	nothing = dp_admin_grant(dp_admin_dataset(name, user, DP_LOCK_REFERENCE), name);
	if (dp_admin_execute(psprintf("DELETE FROM dp_cdp_internal.budget WHERE dataset = $1 AND %s"
								  " RETURNING CASE WHEN rho_spent > 0 THEN trim_scale(rho_spent)::text END, role_name",
								  condition),
						 2, types, values, NULL, true) == 0)
		no_such_budget(name, role);
	spent = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	nothing.role_name = MemoryContextStrdup(caller, SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2));
	if (spent != NULL)
		dp_admin_warn(NOTICE,
					  errmsg("the dropped budget had spent rho %s, which dataset \"%s\" and dp_cdp.releases keep",
							 spent, name),
					  errdetail("A new budget for the role will start at 0."));
	dp_admin_forget_blocks();
	dp_admin_end(&context);
	return dp_admin_granted(fcinfo, &nothing);
}

/* drop_budget(dataset, role) */
Datum
dp_drop_budget(PG_FUNCTION_ARGS)
{
	char	   *name = dp_admin_dataset_name(fcinfo, 0);
	Oid			role = PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1);

	/*
	 * a number may be that of a role that there is no more, as long as nobody
	 * else has it
	 */
	PG_RETURN_DATUM(drop_budgets(fcinfo, name, role_in_words(role), "role = $2 AND (dp_cdp_internal.known_role(role, role_name) = $2"
								 " OR NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE oid = $2))", OIDOID,
								 ObjectIdGetDatum(role)));
}

/* drop_missing_budget(dataset, role_name): of a role that there is no more */
Datum
dp_drop_missing_budget(PG_FUNCTION_ARGS)
{
	char	   *name = dp_admin_dataset_name(fcinfo, 0);
	char	   *role = PG_ARGISNULL(1) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(1));

	PG_RETURN_DATUM(drop_budgets(fcinfo, name, psprintf("a missing role \"%s\"", role),
								 "role_name = $2 AND dp_cdp_internal.known_role(role, role_name) IS DISTINCT FROM role",
								 TEXTOID, CStringGetTextDatum(role)));
}

/* Returns an amount in a row that a statement has returned. */
static int64
returned_amount(int column, int scale)
{
	bool		isnull;
	Datum		amount = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column, &isnull);

	return dp_numeric_amount(DatumGetNumeric(amount), scale, true);
}

/* reset_failures(dataset, role): returns what the budget allows again */
Datum
dp_reset_failures(PG_FUNCTION_ARGS)
{
	char	   *name = dp_admin_dataset_name(fcinfo, 0);
	Oid			role = PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1);
	Oid			user = GetUserId();
	DpAdminContext context;
	Oid			types[] = {TEXTOID, OIDOID};
	Datum		values[] = {CStringGetTextDatum(name), ObjectIdGetDatum(role)};
	DpGrant		grant;

	dp_admin_begin(&context);
	grant = dp_admin_grant(dp_admin_dataset(name, user, DP_LOCK_REFERENCE), name);
	if (dp_admin_execute("UPDATE dp_cdp_internal.budget SET failures = 0, failures_since = NULL"
						 " WHERE dataset = $1 AND role = $2 AND dp_cdp_internal.known_role(role, role_name) = $2"
						 " RETURNING rho_limit, delta_limit, report_delta",
						 2, types, values, NULL, true) == 0)
		no_such_budget(name, role_in_words(role));
	grant.role = role;
	grant.rho = returned_amount(1, DP_RHO_SCALE);
	grant.key_delta = returned_amount(2, DP_DELTA_SCALE);
	grant.report_delta = returned_amount(3, DP_DELTA_SCALE);
	dp_admin_end(&context);
	PG_RETURN_DATUM(dp_admin_granted(fcinfo, &grant));
}

/* Reads a rho and a delta, the first two arguments; ZC004 where they are none. */
static void
rho_and_delta(FunctionCallInfo fcinfo, double *rho, double *delta)
{
	*rho = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, PG_GETARG_DATUM(0)));
	*delta = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, PG_GETARG_DATUM(1)));
	if (isnan(*rho) || isinf(*rho) || *rho < 0.0)
		dp_raise(BAD_PARAMETER, errmsg("rho must be a finite number and not negative"));
	if (isnan(*delta) || *delta < 0.0 || *delta > 1.0)
		dp_raise(BAD_PARAMETER, errmsg("delta must be a number between 0 and 1"));
}

/*
 * epsilon_spent(rho numeric, delta numeric) returns the smallest known epsilon such
 * that rho-zCDP implies (epsilon, delta)-DP, rounded up.
 */
Datum
dp_epsilon_spent(PG_FUNCTION_ARGS)
{
	double		rho;
	double		delta;

	rho_and_delta(fcinfo, &rho, &delta);
	if (rho > 0.0)
		rho = nextafter(rho, INFINITY);
	if (delta > 0.0)
		delta = nextafter(delta, 0.0);
	PG_RETURN_FLOAT8(dp_zcdp_epsilon_up(rho, delta));
}

/*
 * best_guess(rho numeric, delta numeric) returns how often the best guesser is
 * right, once rho and a delta for key selections are spent, rounded up.
 */
Datum
dp_best_guess(PG_FUNCTION_ARGS)
{
	double		rho;
	double		delta;

	rho_and_delta(fcinfo, &rho, &delta);
	PG_RETURN_FLOAT8(dp_admin_best_guess(rho, delta));
}
