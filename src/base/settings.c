/*-------------------------------------------------------------------------
 *
 * settings.c
 *	  Settings under the prefix dp_cdp.
 *
 * Invariant: a setting here that any role may set makes answers noisier or
 * dearer, never less private.  There is no setting that turns noise or
 * accounting off, and none may be added, not even for tests.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "nodes/plannodes.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/settings.h"
#include "math/wide.h"

/* the most that can be asked of one release, in whole rho */
#define MAX_RHO			((double) (DP_RHO_MAX / DP_RHO_ONE))

/* what "on" means for dp_cdp.find_bounds */

/* of a statement's text in the audit, as in ledger/ledger.h */
#define MAX_QUERY_BYTES 2048

bool		dp_preloaded = false;

double		dp_guc_rho = 0.0;
double		dp_guc_delta = 0.0;
int			dp_guc_max_groups = 0;
double		dp_guc_max_contribution = 0;
static char *max_contribution_text = NULL;
int			dp_guc_max_rows = 0;
bool		dp_guc_standard_aggregates = true;
bool		dp_guc_notice_copies = true;
int			dp_guc_worker_idle_timeout = 0;
int			dp_guc_release_memory = 256 * 1024;
int			dp_guc_max_public_rows = 1000000;
int			dp_guc_max_public_time = 30000;
bool		dp_guc_bounding_node = true;
bool		dp_guc_reuse = true;
int			dp_guc_reuse_max_answers = 100000;
int			dp_guc_reuse_max_size = 256 * 1024;
double		dp_guc_target = 0;
bool		dp_guc_target_is_relative = false;
static char *target_text = NULL;
double		dp_guc_find_bounds = -1;
static char *find_bounds_text = NULL;
int			dp_guc_consistent = -1;
bool		dp_guc_rest = false;
bool		dp_guc_empty_previews = false;
char	   *dp_guc_rest_label = NULL;
static char *consistent_text = NULL;
int			dp_guc_log_query_bytes = MAX_QUERY_BYTES;
int			dp_guc_max_debits = 0;
int			dp_guc_max_refusals = 0;
int			dp_guc_keep_audit_days = 30;
char	   *dp_guc_primary_conninfo = NULL;
int			dp_guc_primary_timeout = 10000;

/* Checks a setting's value.  0, the dataset's default, comes of RESET alone. */
static bool
check_amount(double value, GucSource source, double least, double most, const char *setting)
{
	if (value == 0.0 && source == PGC_S_DEFAULT)
		return true;
	if (value >= least && value <= most)
		return true;
	GUC_check_errcode(ERRCODE_DP_BAD_PARAMETER);
	GUC_check_errmsg("%s must be between %g and %g; RESET it for the dataset's default", setting, least, most);
	return false;
}

/* SHOW of a setting that is not set shows nothing, as those that are texts do. */
static const char *
show_amount(double value)
{
	return value == 0.0 ? "" : psprintf("%g", value);
}

static const char *
show_rho_setting(void)
{
	return show_amount(dp_guc_rho);
}

static const char *
show_delta_setting(void)
{
	return show_amount(dp_guc_delta);
}

/* Accepts how many groups or rows of a unit count; 0, which nobody sets, is that none is set. */
static bool
check_contribution(int value, GucSource source, const char *setting)
{
	if ((value == 0 && source == PGC_S_DEFAULT) || (value >= 1 && value <= DP_MAX_CONTRIBUTION))
		return true;
	GUC_check_errcode(ERRCODE_DP_BAD_PARAMETER);
	GUC_check_errmsg("%s must be between 1 and %d; RESET it for the dataset's default", setting, DP_MAX_CONTRIBUTION);
	return false;
}

static bool
check_max_groups_setting(int *newval, void **extra, GucSource source)
{
	return check_contribution(*newval, source, "dp_cdp.max_groups");
}

static bool
check_max_rows_setting(int *newval, void **extra, GucSource source)
{
	return check_contribution(*newval, source, "dp_cdp.max_rows");
}

static const char *
show_max_groups_setting(void)
{
	return dp_guc_max_groups == 0 ? "" : psprintf("%d", dp_guc_max_groups);
}

static const char *
show_max_rows_setting(void)
{
	return dp_guc_max_rows == 0 ? "" : psprintf("%d", dp_guc_max_rows);
}

static bool
check_rho_setting(double *newval, void **extra, GucSource source)
{
	return check_amount(*newval, source, 1.0 / DP_RHO_ONE, MAX_RHO, "dp_cdp.rho");
}

static bool
check_delta_setting(double *newval, void **extra, GucSource source)
{
	return check_amount(*newval, source, 1.0 / DP_DELTA_ONE, 0.5, "dp_cdp.delta");
}

/* Copies a value for the assign hook of a setting. */
static bool
keep_extra(const void *value, size_t size, void **extra)
{
	*extra = DP_GUC_MALLOC(size);
	if (*extra == NULL)
		return false;
	memcpy(*extra, value, size);
	return true;
}

/* Accepts a positive number, or one and a percent sign; empty: none. */
static bool
check_target_setting(char **newval, void **extra, GucSource source)
{
	char	   *end;
	double		value;
	double		parsed[2] = {0, 0};

	if (**newval == '\0')
		return keep_extra(parsed, sizeof(parsed), extra);
	errno = 0;
	value = strtod(*newval, &end);
	while (*end == ' ')
		end++;
	if (*end == '%')
	{
		parsed[1] = 1;
		value /= 100;
		end++;
	}
	while (*end == ' ')
		end++;
	if (end == *newval || *end != '\0' || errno == ERANGE || !(value >= 1e-300 && value <= 1e300))
	{
		GUC_check_errcode(ERRCODE_DP_BAD_PARAMETER);
		GUC_check_errmsg("dp_cdp.target_error must be a number greater than 0, such as 25, or a share of the answer, such as 5%%");
		return false;
	}
	parsed[0] = value;
	return keep_extra(parsed, sizeof(parsed), extra);
}

static void
assign_target_setting(const char *newval, void *extra)
{
	dp_guc_target = ((double *) extra)[0];
	dp_guc_target_is_relative = ((double *) extra)[1] != 0;
}

/* Accepts off, on, or a share from 0 to 1; empty: the dataset's default. */
static bool
check_find_bounds_setting(char **newval, void **extra, GucSource source)
{
	double		share = -1;
	bool		on;
	char	   *end;

	if (**newval == '\0')
		return keep_extra(&share, sizeof(share), extra);
	share = strtod(*newval, &end);
	if ((end == *newval || *end != '\0') && parse_bool(*newval, &on))
		share = on ? DP_USUAL_BOUNDS_SHARE : 0;
	else if (end == *newval || *end != '\0' || !(share >= 0 && share <= 1))
	{
		GUC_check_errcode(ERRCODE_DP_BAD_PARAMETER);
		GUC_check_errmsg("dp_cdp.find_bounds must be on, off, or which share of an aggregate's price it may cost, such as 0.1; RESET it for the dataset's default");
		return false;
	}
	return keep_extra(&share, sizeof(share), extra);
}

static void
assign_find_bounds_setting(const char *newval, void *extra)
{
	dp_guc_find_bounds = *(double *) extra;
}

/* Accepts auto, or a number of rows; empty: the dataset's default. */
static bool
check_contribution_setting(char **newval, void **extra, GucSource source)
{
	double		rows = 0;

	if (**newval != '\0' && !dp_contribution_of_text(*newval, &rows))
	{
		GUC_check_errcode(ERRCODE_DP_BAD_PARAMETER);
		GUC_check_errmsg("dp_cdp.max_contribution must be auto, or a number of rows from %.7g to %.7g; RESET it for the dataset's default",
						 DP_LEAST_CONTRIBUTION, DP_MOST_CONTRIBUTION);
		return false;
	}
	return keep_extra(&rows, sizeof(rows), extra);
}

/*
 * Plans that settings decide on depend on a function of this hash, so that the plan cache finds them among all others
 * when such a setting changes.  If there is a function of this hash, its changes reset them, too.  Nothing is
 * looked up: ROLLBACK changes settings as well.
 */
#define HASH_OF_SETTINGS 0x64706364

static bool has_plans = false;

void
dp_watch_settings(PlannedStmt *plan)
{
	PlanInvalItem *item = makeNode(PlanInvalItem);

	item->cacheId = PROCOID;
	item->hashValue = HASH_OF_SETTINGS;
	plan->invalItems = lappend(plan->invalItems, item);
	has_plans = true;
}

static void
forget_plans(void)
{
	if (has_plans)
		CallSyscacheCallbacks(PROCOID, HASH_OF_SETTINGS);
}

/* Whether norms are limited is planned: cached plans are of the old values. */
static void
assign_contribution_setting(const char *newval, void *extra)
{
	double		rows = *(double *) extra;

	if ((rows == 0) != (dp_guc_max_contribution == 0))
		forget_plans();
	dp_guc_max_contribution = rows;
}

static void
assign_max_groups_setting(int newval, void *extra)
{
	if ((newval == 0) != (dp_guc_max_groups == 0))
		forget_plans();
}

static void
assign_max_rows_setting(int newval, void *extra)
{
	if ((newval == 0) != (dp_guc_max_rows == 0))
		forget_plans();
}

bool
dp_contribution_of_text(const char *text, double *rows)
{
	char	   *end;

	*rows = DP_FOUND_CONTRIBUTION;
	if (pg_strcasecmp(text, "auto") == 0)
		return true;
	*rows = strtod(text, &end);
	return end != text &&*end == '\0' && *rows >= DP_LEAST_CONTRIBUTION && *rows <= DP_MOST_CONTRIBUTION;
}

/* Accepts on and off; empty: the dataset's default. */
static bool
check_consistent_setting(char **newval, void **extra, GucSource source)
{
	int			wanted = -1;
	bool		on;

	if (**newval != '\0')
	{
		if (!parse_bool(*newval, &on))
		{
			GUC_check_errcode(ERRCODE_DP_BAD_PARAMETER);
			GUC_check_errmsg("dp_cdp.consistent must be on or off; RESET it for the dataset's default");
			return false;
		}
		wanted = on ? 1 : 0;
	}
	return keep_extra(&wanted, sizeof(wanted), extra);
}

/* Cached plans are of the old value. */
static void
assign_consistent_setting(const char *newval, void *extra)
{
	int			wanted = *(int *) extra;

	if (wanted != dp_guc_consistent)
		forget_plans();
	dp_guc_consistent = wanted;
}

static void
assign_rest_setting(bool newval, void *extra)
{
	if (newval != dp_guc_rest)
		forget_plans();
}

static void
assign_empty_previews(bool newval, void *extra)
{
	if (newval != dp_guc_empty_previews)
		forget_plans();
}

static void
assign_rest_label(const char *newval, void *extra)
{
	if (dp_guc_rest_label != NULL && strcmp(newval, dp_guc_rest_label) != 0)
		forget_plans();
}

void
dp_guc_init(void)
{
	DefineCustomRealVariable("dp_cdp.rho",
							 "Privacy cost (rho of zCDP) of each aggregate column of a query.",
							 "RESET takes the default of the dataset. More rho means less noise and a higher charge.",
							 &dp_guc_rho,
							 0.0, -INFINITY, INFINITY,
							 PGC_USERSET, 0,
							 check_rho_setting, NULL, show_rho_setting);

	DefineCustomRealVariable("dp_cdp.delta",
							 "Delta spent by each private selection of group keys.",
							 "RESET takes the default of the dataset. It is charged only when a query groups by a column without declared keys.",
							 &dp_guc_delta,
							 0.0, -INFINITY, INFINITY,
							 PGC_USERSET, 0,
							 check_delta_setting, NULL, show_delta_setting);

	DefineCustomIntVariable("dp_cdp.max_groups",
							"Number of groups of a query that one privacy unit may contribute to.",
							"RESET takes the default of the dataset. A higher number loses fewer rows, and needs more noise.",
							&dp_guc_max_groups,
							0, INT_MIN, INT_MAX,
							PGC_USERSET, 0,
							check_max_groups_setting, assign_max_groups_setting, show_max_groups_setting);

	DefineCustomIntVariable("dp_cdp.max_rows",
							"Number of rows that one privacy unit may contribute to a count within a group.",
							"RESET takes the default of the dataset. A higher number loses fewer rows, and needs more noise.",
							&dp_guc_max_rows,
							0, INT_MIN, INT_MAX,
							PGC_USERSET, 0,
							check_max_rows_setting, assign_max_rows_setting, show_max_rows_setting);

	DefineCustomStringVariable("dp_cdp.max_contribution",
							   "Euclidean norm to which the rows that one privacy unit has in all groups are scaled.",
							   "auto finds it privately, for a share of an aggregate's price that EXPLAIN shows. A number is of rows, and for sums times the larger bound. RESET takes the default of the dataset.",
							   &max_contribution_text,
							   "",
							   PGC_USERSET, 0,
							   check_contribution_setting, assign_contribution_setting, NULL);

	DefineCustomStringVariable("dp_cdp.target_error",
							   "Wanted accuracy of answers: half the width of a 95 % interval, absolute (25) or relative (5%).",
							   "The smallest rho that meets it is charged, at most the dataset's max_rho. Relative targets, and averages and quantiles, need a pilot that is charged, too.",
							   &target_text,
							   "",
							   PGC_USERSET, 0,
							   check_target_setting, assign_target_setting, NULL);

	DefineCustomStringVariable("dp_cdp.find_bounds",
							   "Finds bounds that nobody has given, privately and before the query.",
							   "Takes on, off, or the share of an aggregate's price that it costs for each expression (on: 0.1). RESET takes the default of the dataset.",
							   &find_bounds_text,
							   "",
							   PGC_USERSET, 0,
							   check_find_bounds_setting, assign_find_bounds_setting, NULL);

	DefineCustomStringVariable("dp_cdp.consistent",
							   "Makes counts and sums of GROUPING SETS, ROLLUP and CUBE add up.",
							   "Takes on or off. RESET takes the default of the dataset. It costs nothing. Rows whose keys are not all declared are left out of every set.",
							   &consistent_text,
							   "",
							   PGC_USERSET, 0,
							   check_consistent_setting, assign_consistent_setting, NULL);

	DefineCustomBoolVariable("dp_cdp.rest",
							 "Adds a row for all rows of groups that are not shown, where groups are found privately.",
							 "It is paid for as one release more. dp_cdp.rest() is true in this row, and its keys are NULL or dp_cdp.rest_label.",
							 &dp_guc_rest,
							 false,
							 PGC_USERSET, 0,
							 NULL, assign_rest_setting, NULL);

	DefineCustomBoolVariable("dp_cdp.empty_previews",
							 "Answers statements that ask for rows of protected tables with no row, where they would be refused.",
							 "It is for tools that learn names and types of columns so. It tells nothing of rows, and is free.",
							 &dp_guc_empty_previews,
							 false,
							 PGC_USERSET, 0,
							 NULL, assign_empty_previews, NULL);

	DefineCustomStringVariable("dp_cdp.rest_label",
							   "Stands for keys of text in the row that dp_cdp.rest adds.",
							   "If it is empty these keys are NULL, as keys of other types are.",
							   &dp_guc_rest_label,
							   "",
							   PGC_USERSET, 0,
							   NULL, assign_rest_label, NULL);

	DefineCustomBoolVariable("dp_cdp.standard_aggregates",
							 "Takes count, sum, avg and other aggregates of PostgreSQL over protected tables for the private ones.",
							 "Only for roles that may not read the table; others get what they ask for.",
							 &dp_guc_standard_aggregates,
							 true,
							 PGC_SUSET, 0,
							 NULL, NULL, NULL);

	DefineCustomBoolVariable("dp_cdp.notice_copies",
							 "Closes the ledger of a data directory that was copied, until it is adopted.",
							 "Turn it off only where the file system numbers its inodes anew at each mount.",
							 &dp_guc_notice_copies,
							 true,
							 PGC_SIGHUP, 0,
							 NULL, NULL, NULL);

	DefineCustomIntVariable("dp_cdp.log_query_bytes",
							"How much of a statement's text the audit keeps.",
							"0 keeps none. The asker and the dataset's owner may read it.",
							&dp_guc_log_query_bytes,
							MAX_QUERY_BYTES, 0, MAX_QUERY_BYTES,
							PGC_SUSET, GUC_UNIT_BYTE,
							NULL, NULL, NULL);

	DefineCustomIntVariable("dp_cdp.max_debits_per_second",
							"How many debits one role may make in a second.",
							"0 means any number. More are refused, and nothing is debited for them.",
							&dp_guc_max_debits,
							0, 0, INT_MAX,
							PGC_SIGHUP, 0,
							NULL, NULL, NULL);

	DefineCustomIntVariable("dp_cdp.max_refusals_per_second",
							"How many refused debits of one role are looked into in a second.",
							"0 means any number. The others are refused without a look at budgets.",
							&dp_guc_max_refusals,
							0, 0, INT_MAX,
							PGC_SIGHUP, 0,
							NULL, NULL, NULL);

	DefineCustomIntVariable("dp_cdp.keep_audit_days",
							"For how many days owners of datasets may not prune the audit.",
							"The owner of the extension may at any time.",
							&dp_guc_keep_audit_days,
							30, 0, 100000,
							PGC_SUSET, 0,
							NULL, NULL, NULL);

	DefineCustomStringVariable("dp_cdp.primary_conninfo",
							   "Where a standby has its answers debited: connection string of the primary.",
							   "Without it private queries are refused on a standby. The database is that of the session.",
							   &dp_guc_primary_conninfo,
							   "",
							   PGC_SIGHUP, GUC_SUPERUSER_ONLY,
							   NULL, NULL, NULL);

	DefineCustomIntVariable("dp_cdp.primary_timeout",
							"How long a standby waits for the primary to take up a connection, and to debit.",
							"After that the query fails, and what it asked for may be spent.",
							&dp_guc_primary_timeout,
							10000, 100, 3600000,
							PGC_SIGHUP, GUC_UNIT_MS,
							NULL, NULL, NULL);

	DefineCustomIntVariable("dp_cdp.worker_idle_timeout",
							"After so long without a debit the background worker of a database's ledger leaves.",
							"0: it stays, and is started with the server. With another value the first debit starts it.",
							&dp_guc_worker_idle_timeout,
							0, 0, INT_MAX,
							PGC_SIGHUP, GUC_UNIT_MS,
							NULL, NULL, NULL);

	DefineCustomIntVariable("dp_cdp.release_memory",
							"Memory that a release may take for all groups of declared keys together.",
							"A release that would take more is refused before it is charged. A dataset may allow less.",
							&dp_guc_release_memory,
							256 * 1024, 64, MAX_KILOBYTES,
							PGC_SUSET, GUC_UNIT_KB,
							NULL, NULL, NULL);

	DefineCustomIntVariable("dp_cdp.max_public_rows",
							"Rows that a release may read beforehand of what is not protected, and groups that it may find there.",
							"It holds for each subquery or table that the release has to hold, and for the groups of keys that these allow.",
							&dp_guc_max_public_rows,
							1000000, 1, INT_MAX,
							PGC_SUSET, 0,
							NULL, NULL, NULL);

	DefineCustomIntVariable("dp_cdp.max_public_time",
							"Time that a release may take to read what is not protected, and to find groups there, before it is paid for.",
							"0 means any time.",
							&dp_guc_max_public_time,
							30000, 0, INT_MAX,
							PGC_SUSET, GUC_UNIT_MS,
							NULL, NULL, NULL);

	DefineCustomBoolVariable("dp_cdp.reuse",
							 "Answers that are kept are given again, where the dataset's owner allows it (reuse).",
							 "Off: aggregates are bought anew, and not kept.",
							 &dp_guc_reuse,
							 true,
							 PGC_USERSET,
							 0,
							 NULL, NULL, NULL);
	DefineCustomIntVariable("dp_cdp.reuse_max_answers",
							"How many answers a database keeps, to give them again.",
							"With more than so many, those that were used least recently are forgotten.",
							&dp_guc_reuse_max_answers,
							100000, 0, INT_MAX,
							PGC_SIGHUP, 0,
							NULL, NULL, NULL);

	DefineCustomIntVariable("dp_cdp.reuse_max_size",
							"How much room the answers that a database keeps may take together.",
							"With more than that, those that were used least recently are forgotten.",
							&dp_guc_reuse_max_size,
							256 * 1024, 0, MAX_KILOBYTES,
							PGC_SIGHUP, GUC_UNIT_KB,
							NULL, NULL, NULL);

	DefineCustomBoolVariable("dp_cdp.bounding_node",
							 "Enables the planner's use of DpBounding plans.",
							 "Without them PostgreSQL's own aggregation bounds what units contribute: the same answers, later.",
							 &dp_guc_bounding_node,
							 true,
							 PGC_SUSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);

	dp_reserve_setting_prefix("dp_cdp");
}
