/*-------------------------------------------------------------------------
 *
 * dataset.c
 *	  create_dataset, alter_dataset, drop_dataset.
 *
 * Invariant: what was spent stays, whatever settings change, unless drop_dataset is
 * told to erase it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "admin/admin.h"
#include "base/amounts.h"
#include "base/compat.h"
#include "base/errors.h"
#include "base/extension.h"
#include "base/settings.h"
#include "math/wide.h"

PG_FUNCTION_INFO_V1(dp_create_dataset);
PG_FUNCTION_INFO_V1(dp_alter_dataset);
PG_FUNCTION_INFO_V1(dp_drop_dataset);

/* ------------------------------------------------------------------------
 * Settings of a dataset
 *
 * create_dataset and alter_dataset have the same arguments, up to
 * default_delta at the same places; NULL leaves what row holds.
 * ------------------------------------------------------------------------
 */

static int
contribution(Datum value, const char *parameter)
{
	int32		n = DatumGetInt32(value);

	if (n < 1 || n > DP_MAX_CONTRIBUTION)
		dp_raise(BAD_PARAMETER, errmsg("%s must be between 1 and %d", parameter, DP_MAX_CONTRIBUTION));
	return n;
}

static int64
dataset_delta(Datum value, const char *parameter)
{
	double		delta = DatumGetFloat8(value);
	int64		amount = isnan(delta) || delta >= 1.0 ? 0 : dp_delta_limit_amount(delta, parameter);

	if (amount == 0)
		dp_raise(BAD_PARAMETER,
				 errmsg("%s must be less than 1 and at least 1e-%d; choose it well below one over the number of people",
						parameter, DP_DELTA_SCALE));
	return amount;
}

/* Checks an answer_step; returns NULL for a step of 0, which removes it. */
static Interval *
answer_step(Interval *step, bool may_remove)
{
	if (may_remove && step->month == 0 && step->day == 0 && step->time == 0)
		return NULL;
	/* a day or month has no length of its own */
	if (step->month != 0 || step->day != 0 || step->time <= 0 || step->time > USECS_PER_HOUR)
		dp_raise(BAD_PARAMETER, errmsg("answer_step must be more than 0 and at most 1 hour, such as '1 second'%s",
									   may_remove ? "; 0 removes it" : ""));
	return step;
}

/* Checks a release_memory, which dp_kilobytes_in has read; 0, which removes it, stays 0. */
static int
release_memory(int kilobytes, bool may_remove)
{
	if (kilobytes < (may_remove ? 0 : 64) || (kilobytes > 0 && kilobytes < 64))
		dp_raise(BAD_PARAMETER,
				 errmsg("release_memory must be at least 64 kB, such as '64MB'%s", may_remove ? "; 0 removes it" : ""));
	return kilobytes;
}

/* Checks what finding bounds may cost, as a share of the price of an aggregate. */
static double
find_bounds(double share)
{
	if (!(share >= 0 && share <= 1))
		dp_raise(BAD_PARAMETER,
				 errmsg("find_bounds is a share of an aggregate's price: give a number between 0 and 1, such as 0.1, or 0 to turn it off"));
	return share;
}

/* Checks which share of the delta of an (epsilon, delta) budget is for key selections. */
static double
key_delta_share(double share)
{
	if (!(share >= 0 && share < 1))
		dp_raise(BAD_PARAMETER,
				 errmsg("key_delta_share must be at least 0 and less than 1, such as 0.1; with 0, (epsilon, delta) budgets select no keys"),
				 errdetail("It is the share of such a budget's delta that is for selecting keys."));
	return share;
}

/* Checks how many units a group has at least that is shown. */
static int
min_units(int n)
{
	if (n < 1 || n > DP_MAX_MIN_UNITS)
		dp_raise(BAD_PARAMETER,
				 errmsg("min_units must be between 1 and %d, such as 10; 1 is no limit", DP_MAX_MIN_UNITS),
				 errdetail("Groups of fewer people are not shown."));
	return n;
}

/*
 * Sets a max_contribution.  It takes the place of max_groups and max_rows, arguments 5 and 6, where these are not given
 * with it.
 */
static void
set_contribution(FunctionCallInfo fcinfo, int arg, DpDatasetRow *row)
{
	if (!dp_contribution_of_text(text_to_cstring(PG_GETARG_TEXT_PP(arg)), &row->max_contribution))
		dp_raise(BAD_PARAMETER,
				 errmsg("max_contribution must be \"auto\", or a number of rows from %.7g to %.7g, such as 20",
						DP_LEAST_CONTRIBUTION, DP_MOST_CONTRIBUTION));
	if ((PG_ARGISNULL(5) && row->max_groups > 0) || (PG_ARGISNULL(6) && row->max_rows > 0))
		dp_admin_warn(NOTICE,
					  errmsg("max_contribution takes the place of max_groups and max_rows of the dataset: give them, too, to keep them"));
	if (PG_ARGISNULL(5))
		row->max_groups = 0;
	if (PG_ARGISNULL(6))
		row->max_rows = 0;
}

/* answers that are older than this tell nothing of today */
#define MAX_REUSE ((int64) 36525 * USECS_PER_DAY)

/* Checks a reuse, where a month would have no length of its own, and returns its microseconds; 0: answers are not kept. */
static int64
reuse(const Interval *interval)
{
	int64		microseconds;

	if (!dp_interval_microseconds(interval, &microseconds) || microseconds < 0 || microseconds > MAX_REUSE ||
		interval->month != 0 || interval->day < 0 || interval->time < 0)
		dp_raise(BAD_PARAMETER,
				 errmsg("reuse must be between 0 and 36525 days, in days and shorter units, such as '30 days'; 0 turns it off"),
				 errdetail("It says for how long an answer is given again."));
	return microseconds;
}

/* the argument of create_dataset and of alter_dataset that is min_units */
#define MIN_UNITS_ARGUMENT 22

/*
 * Reads min_rho, max_failures, answer_step, release_memory, find_bounds, reuse, reuse_dumped, consistent, pull_rows,
 * key_delta_share and max_contribution, which begin at argument "first", and min_units.
 */
static void
read_limits(FunctionCallInfo fcinfo, int first, bool may_remove, DpDatasetRow *row)
{
	if (!PG_ARGISNULL(first))
		row->min_rho = dp_rho_amount(PG_GETARG_FLOAT8(first), "min_rho");
	if (!PG_ARGISNULL(first + 1))
		row->max_failures = PG_GETARG_INT32(first + 1);
	if (!PG_ARGISNULL(first + 2))
		row->answer_step = answer_step(PG_GETARG_INTERVAL_P(first + 2), may_remove);
	if (!PG_ARGISNULL(first + 3))
		row->release_memory = release_memory(PG_GETARG_INT32(first + 3), may_remove);
	if (!PG_ARGISNULL(first + 4))
		row->find_bounds = find_bounds(PG_GETARG_FLOAT8(first + 4));
	if (!PG_ARGISNULL(first + 5))
		row->reuse = reuse(PG_GETARG_INTERVAL_P(first + 5));
	if (!PG_ARGISNULL(first + 6))
		row->reuse_dumped = PG_GETARG_BOOL(first + 6);
	if (!PG_ARGISNULL(first + 7))
		row->consistent = PG_GETARG_BOOL(first + 7);
	if (!PG_ARGISNULL(first + 8))
		row->pull_rows = PG_GETARG_BOOL(first + 8);
	if (!PG_ARGISNULL(first + 9))
		row->key_delta_share = key_delta_share(PG_GETARG_FLOAT8(first + 9));
	if (!PG_ARGISNULL(first + 10))
		set_contribution(fcinfo, first + 10, row);
	if (!PG_ARGISNULL(MIN_UNITS_ARGUMENT))
		row->min_units = min_units(PG_GETARG_INT32(MIN_UNITS_ARGUMENT));

	if (row->min_rho > row->default_rho)
		dp_raise(BAD_PARAMETER, errmsg("min_rho must not exceed default_rho: raise default_rho or lower min_rho"));
	if (row->max_failures < 0)
		dp_raise(BAD_PARAMETER, errmsg("max_failures must be at least 0"));
}

/*
 * Reads the cap as (epsilon, delta), which are arguments "arg" and 2.  A cap has one
 * delta for two purposes: epsilon is told at it, and selections of keys may spend as
 * much beside it.  Both together are to be the delta that was given.  Half of it is
 * therefore the dataset's, and rho is what this half leaves room for.  The row that
 * the caller gets shows both halves, report_delta and key_delta, and their sum.
 */
static void
read_epsilon(FunctionCallInfo fcinfo, int arg, DpDatasetRow *row)
{
	double		epsilon;

	if (!PG_ARGISNULL(1))
		dp_raise(BAD_PARAMETER, errmsg("a cap is given either as rho or as epsilon with delta: give one of the two"));
	epsilon = dp_admin_epsilon(fcinfo, arg, 2);
	row->delta_limit = Max(dataset_delta(PG_GETARG_DATUM(2), "delta") / 2, 1);
	row->rho_limit = dp_admin_rho_for_epsilon(epsilon, row->delta_limit);
	row->has_rho_limit = true;
}

/* epsilon: the argument of this name */
static void
read_settings(FunctionCallInfo fcinfo, int epsilon, DpDatasetRow *row)
{
	if (!PG_ARGISNULL(1))
	{
		double		rho = PG_GETARG_FLOAT8(1);

		row->has_rho_limit = !(isinf(rho) && rho > 0);
		if (row->has_rho_limit)
			row->rho_limit = dp_rho_limit_amount(rho, "rho");
	}
	if (!PG_ARGISNULL(2))
		row->delta_limit = dataset_delta(PG_GETARG_DATUM(2), "delta");
	if (!PG_ARGISNULL(epsilon))
		read_epsilon(fcinfo, epsilon, row);
	if (!PG_ARGISNULL(3))
		row->default_rho = dp_rho_amount(PG_GETARG_FLOAT8(3), "default_rho");
	if (!PG_ARGISNULL(4))
	{
		double		rho = PG_GETARG_FLOAT8(4);

		row->max_rho = isinf(rho) && rho > 0 ? 0 : dp_rho_limit_amount(rho, "max_rho");
	}
	if (!PG_ARGISNULL(5))
		row->max_groups = contribution(PG_GETARG_DATUM(5), "max_groups");
	if (!PG_ARGISNULL(6))
		row->max_rows = contribution(PG_GETARG_DATUM(6), "max_rows");
	if (!PG_ARGISNULL(7))
	{
		char	   *neighbors = text_to_cstring(PG_GETARG_TEXT_PP(7));

		if (strcmp(neighbors, "add_remove") != 0 && strcmp(neighbors, "replace_one") != 0)
			dp_raise(BAD_PARAMETER, errmsg("neighbors must be \"add_remove\" or \"replace_one\""));
		dp_admin_check_neighbors(row, neighbors);
		row->neighbors = neighbors;
	}
	if (!PG_ARGISNULL(8))
		row->default_delta = dataset_delta(PG_GETARG_DATUM(8), "default_delta");
	else if (row->default_delta == 0)
		row->default_delta = Max(row->delta_limit / 1000, 1);

	if (row->max_rho != 0 && row->default_rho > row->max_rho)
		dp_raise(BAD_PARAMETER, errmsg("default_rho must not exceed max_rho: raise max_rho or lower default_rho"));
	if (row->default_delta > row->delta_limit)
		dp_raise(BAD_PARAMETER, errmsg("default_delta must not exceed delta, which is %s: raise delta or lower default_delta",
									   dp_amount_text(row->delta_limit, DP_DELTA_SCALE)));
}

/* Returns a time in days and less, which mean the same wherever it is added. */
static Interval *
days_and_time(int64 microseconds)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->day = microseconds / USECS_PER_DAY;
	interval->time = microseconds % USECS_PER_DAY;
	return interval;
}

#define NUM_SETTINGS 22

static void
settings_parameters(const DpDatasetRow *row, Oid *types, Datum *values, char *nulls)
{
	for (int i = 0; i < NUM_SETTINGS; i++)
	{
		types[i] = NUMERICOID;
		nulls[i] = ' ';
	}
	types[0] = TEXTOID;
	values[0] = CStringGetTextDatum(row->name);
	types[1] = OIDOID;
	values[1] = ObjectIdGetDatum(row->owner);
	if (row->has_rho_limit)
		values[2] = NumericGetDatum(dp_amount_numeric(row->rho_limit, DP_RHO_SCALE));
	else
		nulls[2] = 'n';
	values[3] = NumericGetDatum(dp_amount_numeric(row->delta_limit, DP_DELTA_SCALE));
	values[4] = NumericGetDatum(dp_amount_numeric(row->default_rho, DP_RHO_SCALE));
	if (row->max_rho != 0)
		values[5] = NumericGetDatum(dp_amount_numeric(row->max_rho, DP_RHO_SCALE));
	else
		nulls[5] = 'n';
	values[6] = NumericGetDatum(dp_amount_numeric(row->default_delta, DP_DELTA_SCALE));
	types[7] = types[8] = INT4OID;
	values[7] = Int32GetDatum(row->max_groups);
	if (row->max_groups == 0)
		nulls[7] = 'n';
	values[8] = Int32GetDatum(row->max_rows);
	if (row->max_rows == 0)
		nulls[8] = 'n';
	types[9] = TEXTOID;
	values[9] = CStringGetTextDatum(row->neighbors);
	if (row->min_rho != 0)
		values[10] = NumericGetDatum(dp_amount_numeric(row->min_rho, DP_RHO_SCALE));
	else
		nulls[10] = 'n';
	types[11] = INT4OID;
	values[11] = Int32GetDatum(row->max_failures);
	types[12] = INTERVALOID;
	if (row->answer_step != NULL)
		values[12] = IntervalPGetDatum(row->answer_step);
	else
		nulls[12] = 'n';
	types[13] = INT4OID;
	values[13] = Int32GetDatum(row->release_memory);
	if (row->release_memory == 0)
		nulls[13] = 'n';
	types[14] = FLOAT8OID;
	values[14] = Float8GetDatum(row->find_bounds);
	if (row->find_bounds == 0)
		nulls[14] = 'n';
	types[15] = INTERVALOID;
	values[15] = IntervalPGetDatum(days_and_time(row->reuse));
	if (row->reuse == 0)
		nulls[15] = 'n';
	types[16] = types[17] = types[18] = BOOLOID;
	values[16] = BoolGetDatum(row->reuse_dumped);
	values[17] = BoolGetDatum(row->consistent);
	values[18] = BoolGetDatum(row->pull_rows);
	types[19] = FLOAT8OID;
	values[19] = Float8GetDatum(row->key_delta_share);
	types[20] = TEXTOID;
	if (row->max_contribution == DP_FOUND_CONTRIBUTION)
		values[20] = CStringGetTextDatum("auto");
	else if (row->max_contribution != 0)
		values[20] = CStringGetTextDatum(DatumGetCString(DirectFunctionCall1(float8out, Float8GetDatum(row->max_contribution))));
	else
		nulls[20] = 'n';
	types[21] = INT4OID;
	values[21] = Int32GetDatum(row->min_units);
}

/* Returns what the cap of a dataset allows; beside key selections, delta is that of reports. */
static DpGrant
cap_of(const DpDatasetRow *row, const char *name)
{
	DpGrant		grant = dp_admin_grant(row, name);

	grant.no_limit = !row->has_rho_limit;
	grant.rho = row->rho_limit;
	grant.report_delta = grant.key_delta = row->delta_limit;
	return grant;
}

/* ------------------------------------------------------------------------
 * Functions
 * ------------------------------------------------------------------------
 */

static void
tell_of_no_cap(const char *name)
{
	dp_admin_warn(NOTICE,
				  errmsg("dataset \"%s\" has no cap: its roles together may spend all that their budgets allow", name),
				  errhint("Give one with dp_cdp.alter_dataset(%s, rho => 1), say.", quote_literal_cstr(name)));
}

/*
 * The audit of a dataset that was dropped bears its name: whoever owns the next
 * one of this name would see it, and prune it.
 */
static void
check_former_audit(const char *name, Oid user)
{
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(name)};

	if (!superuser_arg(user) &&
		dp_admin_execute("SELECT FROM dp_cdp_internal.release_log WHERE dataset = $1 LIMIT 1", 1, types, values, NULL, false) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("the audit has rows of a former dataset \"%s\": choose another name, or have a superuser create it and give it to you with dp_cdp.alter_dataset",
						name),
				 errdetail("The owner of the new dataset would see these rows.")));
}

static bool
has_dataset(const char *name)
{
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(name)};
	DpAdminContext context;
	bool		found;

	dp_admin_begin(&context);
	found = dp_admin_execute("SELECT FROM dp_cdp_internal.dataset WHERE name = $1", 1, types, values, NULL, false) > 0;
	dp_admin_end(&context);
	return found;
}

/* Returns what the cap of the caller's dataset allows, and changes nothing. */
static Datum
existing_dataset(FunctionCallInfo fcinfo, const char *name)
{
	Oid			user = GetUserId();
	DpAdminContext context;
	DpGrant		cap;

	dp_admin_begin(&context);
	cap = cap_of(dp_admin_dataset(name, user, DP_LOCK_REFERENCE), name);
	dp_admin_end(&context);
	dp_admin_warn(NOTICE,
				  errmsg("dataset \"%s\" exists already, and stays as it is", name));
	return dp_admin_granted(fcinfo, &cap);
}

/*
 * create_dataset(dataset, rho, delta, default_rho, max_rho, max_groups, max_rows,
 *				  neighbors, default_delta, min_rho, max_failures, answer_step,
 *				  release_memory, find_bounds, reuse, reuse_dumped, consistent,
 *				  pull_rows, key_delta_share, max_contribution, epsilon, if_not_exists, min_units)
 *
 * The caller becomes the owner.  NULL stands for the default everywhere.
 * Returns what the cap allows.
 */
Datum
dp_create_dataset(PG_FUNCTION_ARGS)
{
	DpDatasetRow row = {0};
	DpAdminContext context;
	Oid			types[NUM_SETTINGS];
	Datum		values[NUM_SETTINGS];
	char		nulls[NUM_SETTINGS];
	bool		if_not_exists;
	uint64		created;
	DpGrant		cap;

	/* objects of another version may have other arguments */
	dp_check_version();
	dp_admin_require_primary();
	if_not_exists = !PG_ARGISNULL(21) && PG_GETARG_BOOL(21);
	strlcpy(row.name, dp_admin_dataset_name(fcinfo, 0), NAMEDATALEN);
	row.owner = GetUserId();
	dp_admin_default_options(&row);
	read_settings(fcinfo, 20, &row);
	read_limits(fcinfo, 9, false, &row);
	if (if_not_exists && has_dataset(row.name))
		PG_RETURN_DATUM(existing_dataset(fcinfo, row.name));

	/*
	 * A table may bear the name of a dataset that does not exist, after a
	 * restore without data.  Whoever creates the dataset decides who gets
	 * answers from it.
	 */
	foreach_oid(item, dp_label_tables(row.name))
	{
		if (!dp_owns_table(item, GetUserId()))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("dataset \"%s\" has a table of somebody else's: choose another name, or let the owner of table \"%s\" create it",
							row.name, get_rel_name(item))));
	}

	cap = cap_of(&row, row.name);
	if (!PG_ARGISNULL(20))
		cap.epsilon = PG_GETARG_FLOAT8(20);
	settings_parameters(&row, types, values, nulls);
	dp_admin_begin(&context);
	dp_admin_number_balances();
	created = dp_admin_execute("INSERT INTO dp_cdp_internal.dataset (name, owner, rho_limit, delta_limit,"
							   " default_rho, max_rho, default_delta, max_groups, max_rows, neighbors,"
							   " min_rho, max_failures, answer_step, release_memory, find_bounds, reuse, reuse_dumped, consistent, pull_rows,"
							   " key_delta_share, max_contribution, min_units)"
							   " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)"
							   " ON CONFLICT DO NOTHING",
							   NUM_SETTINGS, types, values, nulls, false);
	if (created == 0 && if_not_exists)
	{
		/* somebody has been faster */
		dp_admin_end(&context);
		PG_RETURN_DATUM(existing_dataset(fcinfo, row.name));
	}
	if (created == 0)
		dp_raise(BAD_PARAMETER,
				 errmsg("dataset \"%s\" exists already: choose another name or call dp_cdp.alter_dataset",
						row.name));
	check_former_audit(row.name, row.owner);
	dp_admin_end(&context);
	/* Infinity says so itself */
	if (cap.no_limit && PG_ARGISNULL(1))
		tell_of_no_cap(row.name);
	dp_admin_tell_of_little(&cap);
	dp_admin_tell_of_much(&cap);
	PG_RETURN_DATUM(dp_admin_granted(fcinfo, &cap));
}

/*
 * alter_dataset(dataset, ...as create_dataset..., new_owner, min_rho, max_failures,
 *				 answer_step, release_memory, find_bounds, reuse, reuse_dumped, consistent,
 *				  pull_rows, key_delta_share, max_contribution, reset, min_units, epsilon)
 *
 * Returns what the cap allows, and which settings have another value now.  NULL leaves a setting as it is;
 * reset names those that get their defaults again.  rho or max_rho => 'Infinity', answer_step => '0', release_memory => 0,
 * find_bounds => 0 and reuse => '0' remove it, too.
 */
Datum
dp_alter_dataset(PG_FUNCTION_ARGS)
{
	bool		is_spent = false;
	bool		new_cap = !PG_ARGISNULL(1) || !PG_ARGISNULL(23);
	char	   *name = dp_admin_dataset_name(fcinfo, 0);
	Oid			user = GetUserId();
	DpDatasetRow *row;
	bool		were_dumped;
	bool		had_cap;
	DpAdminContext context;
	Oid			types[NUM_SETTINGS];
	Datum		values[NUM_SETTINGS];
	char		nulls[NUM_SETTINGS];
	DpGrant		cap;
	char	   *sql;
	Datum		changed;
	bool		isnull;

	dp_admin_begin(&context);
	row = dp_admin_dataset(name, user, DP_LOCK_CHANGE);
	were_dumped = row->reuse_dumped;
	had_cap = row->has_rho_limit;
	dp_admin_reset_options(fcinfo, 21, row);
	read_settings(fcinfo, 23, row);
	read_limits(fcinfo, 10, true, row);
	if (!PG_ARGISNULL(9))
	{
		row->owner = PG_GETARG_OID(9);
		dp_admin_lock_role(row->owner, "new_owner");
		if (!has_privs_of_role(user, row->owner))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("must be member of role \"%s\" to make it the owner of dataset \"%s\"",
							GetUserNameFromId(row->owner, false), name)));
	}

	cap = cap_of(row, name);
	if (!PG_ARGISNULL(23))
		cap.epsilon = PG_GETARG_FLOAT8(23);
	settings_parameters(row, types, values, nulls);
	/* an owner that there is no more stays as it was written down */
	sql = psprintf("UPDATE dp_cdp_internal.dataset d SET owner = CASE WHEN $2 = 0 THEN d.owner ELSE $2 END,"
				   " owner_name = CASE WHEN $2 = 0 THEN d.owner_name"
				   " ELSE (SELECT rolname FROM pg_catalog.pg_roles WHERE oid = $2) END,"
				   " rho_limit = $3, delta_limit = $4,"
				   " default_rho = $5, max_rho = $6, default_delta = $7, max_groups = $8,"
				   " max_rows = $9, neighbors = $10, min_rho = $11, max_failures = $12,"
				   " answer_step = $13, release_memory = $14, find_bounds = $15, reuse = $16, reuse_dumped = $17, consistent = $18, pull_rows = $19,"
				   " key_delta_share = $20, max_contribution = $21, min_units = $22"
				   " FROM dp_cdp_internal.dataset old WHERE d.name = $1 AND old.name = $1 RETURNING %s", dp_admin_options_that_differ());
	if (dp_admin_execute(sql, NUM_SETTINGS, types, values, nulls, true) != 1)
		elog(ERROR, "dp_cdp: dataset \"%s\" cannot be changed", name);
	changed = SPI_datumTransfer(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull), false, -1);
	if (row->reuse_dumped != were_dumped)
		dp_admin_execute("UPDATE dp_cdp_internal.kept_answer SET dumped = $17 WHERE dataset = $1",
						 NUM_SETTINGS, types, values, nulls, true);
	if (new_cap)
	{
		dp_admin_tell_of_budgets(&cap);
		is_spent = dp_admin_tell_of_spent(&cap);
	}
	dp_admin_end(&context);

	foreach_oid(table, dp_label_tables(name))
		dp_policy_invalidate(table);
	/* of what this call has changed */
	if (!PG_ARGISNULL(5) || !PG_ARGISNULL(6) || !PG_ARGISNULL(20))
		foreach_oid(table, dp_label_tables(name))
			dp_admin_tell_of_rows(table, 0, false);
	if (had_cap && cap.no_limit)
		tell_of_no_cap(name);
	if (!is_spent && (new_cap || !PG_ARGISNULL(3)))
		dp_admin_tell_of_little(&cap);
	if (new_cap || !PG_ARGISNULL(2))
		dp_admin_tell_of_much(&cap);
	PG_RETURN_DATUM(dp_admin_altered(fcinfo, &cap, changed));
}

/* Returns the calls that end the protection of tables; of the first ones, where they are many. */
static char *
unprotect_calls(List *tables)
{
	StringInfoData text;

	initStringInfo(&text);
	foreach_oid(relid, tables)
	{
		if (foreach_current_index(relid) == 5)
		{
			appendStringInfoString(&text, ", and so on");
			break;
		}
		appendStringInfo(&text, "%sdp_cdp.unprotect_table(%s)", foreach_current_index(relid) > 0 ? ", " : "",
						 quote_literal_cstr(quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid))));
	}
	return text.data;
}

/*
 * drop_dataset(dataset, erase_spent)
 *
 * Removes the dataset with its budgets and answers; rows of the release log stay.
 */
Datum
dp_drop_dataset(PG_FUNCTION_ARGS)
{
	char	   *name = dp_admin_dataset_name(fcinfo, 0);
	bool		erase_spent = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	DpDatasetRow *row;
	DpAdminContext context;
	List	   *tables;
	int64		budgets;
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(name)};
	Oid			user = GetUserId();

	/* a budget given while the lock was waited for must be seen and go, too */
	if (IsolationUsesXactSnapshot())
		dp_raise(BAD_PARAMETER,
				 errmsg("datasets can only be dropped at isolation level READ COMMITTED: leave this transaction first"));

	dp_admin_begin(&context);
	/* the lock comes first: protect_table waits for it, or was waited for */
	row = dp_admin_dataset(name, user, DP_LOCK_DROP);
	tables = dp_label_tables(name);
	if (tables != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("dataset \"%s\" still protects %s: call %s first", name,
						list_length(tables) == 1 ? "a table" : psprintf("%d tables", list_length(tables)), unprotect_calls(tables))));
	if (row->spent && !erase_spent)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("dropping dataset \"%s\" would forget what was spent: call dp_cdp.drop_dataset with erase_spent => true if its data will never be released again",
						name)));
	budgets = dp_admin_execute("DELETE FROM dp_cdp_internal.budget WHERE dataset = $1", 1, types, values, NULL, true);
	dp_admin_execute("DELETE FROM dp_cdp_internal.kept_answer WHERE dataset = $1", 1, types, values, NULL, true);
	dp_admin_execute("DELETE FROM dp_cdp_internal.dataset WHERE name = $1", 1, types, values, NULL, true);
	dp_admin_forget_blocks();
	if (dp_admin_execute("DELETE FROM dp_cdp_internal.reserved_name WHERE dataset = $1", 1, types, values, NULL, true) > 0)
		CacheInvalidateRelcacheAll();	/* as names.c does for each name */
	dp_admin_end(&context);
	PG_RETURN_INT64(budgets);
}
