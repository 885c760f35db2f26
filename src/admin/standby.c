/*-------------------------------------------------------------------------
 *
 * standby.c
 *	  The primary's side of what its standbys answer: standby_debit and what
 *	  tells of releases that fail.
 *
 * Called by a standby over a login role that may do nothing else
 * (ledger/primary.c writes the arguments).  The role is believed who asks, as the
 * standby's server is believed whom it has let in; what it may spend is decided
 * here, by the memberships and budgets of this server.
 *
 * Invariants:
 *	- a debit is made only for a registered standby of the name and role, which
 *	  is a copy of this server on the same timeline, in the same database, with
 *	  the same version of the library;
 *	- roles exist here under OID and name, so that a role that was dropped, or
 *	  renamed, pays for nobody;
 *	- the policy that prices follow from is the one in force here;
 *	- what is refused here is refused before anything is debited.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "admin/admin.h"
#include "base/compat.h"
#include "base/errors.h"
#include "base/extension.h"
#include "ledger/standby.h"
#include "policy/policy.h"

PG_FUNCTION_INFO_V1(dp_standby_debit);
PG_FUNCTION_INFO_V1(dp_standby_reads);
PG_FUNCTION_INFO_V1(dp_standby_has_read);

/* ------------------------------------------------------------------------
 * Arguments
 * ------------------------------------------------------------------------
 */

static void
not_from_standby(void)
{
	dp_raise(BAD_PARAMETER,
			 errmsg("this function is for standbys, and these are not the arguments that one gives; ask the standby instead"));
}

/* Returns the texts of an array, NULL where there is none, and how many rows of so many they are. */
static char **
read_texts(ArrayType *array, int fields, int *nrows)
{
	Datum	   *values;
	bool	   *nulls;
	char	  **texts;
	int			n;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &n);
	if (n == 0 || n % fields != 0)
		not_from_standby();
	*nrows = n / fields;
	texts = palloc(n * sizeof(char *));
	for (int i = 0; i < n; i++)
		texts[i] = nulls[i] ? NULL : TextDatumGetCString(values[i]);
	return texts;
}

/* Returns a row of texts, of which the first so many are there. */
static char **
read_row(FunctionCallInfo fcinfo, int argno, int fields, int required)
{
	int			nrows;
	char	  **texts = read_texts(PG_GETARG_ARRAYTYPE_P(argno), fields, &nrows);

	if (nrows != 1)
		not_from_standby();
	for (int i = 0; i < required; i++)
	{
		if (texts[i] == NULL)
			not_from_standby();
	}
	return texts;
}

static int64
read_number(const char *text)
{
	char	   *end;
	int64		number;

	errno = 0;
	number = text ? strtoll(text, &end, 10) : 0;

	if (text == NULL || end == text ||*end != '\0' || errno != 0)
		not_from_standby();
	return number;
}

/* ------------------------------------------------------------------------
 * Who asks
 * ------------------------------------------------------------------------
 */

/* Tells whether a standby of that name is registered for the role that has logged in. */
static bool
is_registered(const char *name)
{
	Oid			types[] = {TEXTOID, OIDOID, TEXTOID};
	Datum		values[] = {CStringGetTextDatum(name), ObjectIdGetDatum(GetSessionUserId()),
	CStringGetTextDatum(GetUserNameFromId(GetSessionUserId(), false))};
	DpAdminContext context;
	uint64		found;

	dp_admin_begin(&context);
	found = dp_admin_execute("SELECT FROM dp_cdp_internal.standby WHERE name = $1 AND role = $2 AND role_name = $3",
							 3, types, values, NULL, false);
	dp_admin_end(&context);
	return found > 0;
}

static void
refuse(const char *why)
{
	dp_raise(LEDGER_UNAVAILABLE, errmsg("the primary debits nothing for this standby, %s; nothing was debited", why));
}

/* Refuses, ZC003, whatever is not a registered copy of this server. */
static void
check_origin(char **origin)
{
	if (RecoveryInProgress())
		refuse("because it is a standby itself: the administrator must let dp_cdp.primary_conninfo name the primary");
	if (!is_registered(origin[DP_ORIGIN_NAME]))
		refuse("which is not registered there: the administrator must call dp_cdp.register_standby with its cluster_name and this role");
	if (strcmp(origin[DP_ORIGIN_VERSION], DP_VERSION) != 0)
		refuse("whose library is of another version: install the same one on both");
	if (strcmp(origin[DP_ORIGIN_SYSTEM], psprintf(UINT64_FORMAT, GetSystemIdentifier())) != 0 ||
		read_number(origin[DP_ORIGIN_DATABASE]) != MyDatabaseId)
		refuse("which is no copy of it: the administrator must correct dp_cdp.primary_conninfo");
	if (read_number(origin[DP_ORIGIN_TIMELINE]) != dp_current_timeline())
		refuse("because the two follow different promotions: retry when the standby follows this primary, or ask the administrator to correct dp_cdp.primary_conninfo");
}

/* Returns a role that exists here, too. */
static Oid
read_role(const char *oid, const char *name)
{
	Oid			role = (Oid) read_number(oid);
	char	   *here = GetUserNameFromId(role, true);

	if (here == NULL || strcmp(here, name) != 0)
		dp_raise(LEDGER_UNAVAILABLE,
				 errmsg("role \"%s\" was dropped or renamed on the primary; nothing was debited: connect again when the standby has heard of it",
						name));
	return role;
}

/* Returns as much of a text as the audit's columns for names take, without a character that is cut in two. */
static char *
clip(const char *text)
{
	return pnstrdup(text, pg_mbcliplen(text, strlen(text), NAMEDATALEN - 1));
}

static DpAsker *
read_asker(FunctionCallInfo fcinfo, int argno, char **origin)
{
	char	  **texts = read_row(fcinfo, argno, DP_ASKER_FIELDS, DP_ASKER_QUERY);
	DpAsker    *asker = palloc(sizeof(DpAsker));

	asker->session_role = read_role(texts[DP_ASKER_SESSION_ROLE], texts[DP_ASKER_SESSION_NAME]);
	asker->role = read_role(texts[DP_ASKER_ROLE], texts[DP_ASKER_ROLE_NAME]);
	asker->application = clip(texts[DP_ASKER_APPLICATION]);
	asker->client = clip(psprintf("%s via %s", texts[DP_ASKER_CLIENT], origin[DP_ORIGIN_NAME]));
	asker->query = texts[DP_ASKER_QUERY];
	return asker;
}

/* ------------------------------------------------------------------------
 * What is asked
 * ------------------------------------------------------------------------
 */

/* Returns a day that a column of dates can have. */
static DateADT
read_day(const char *text)
{
	int64		day = read_number(text);

	if (day < PG_INT32_MIN || day > PG_INT32_MAX || !(DATE_NOT_FINITE((DateADT) day) || IS_VALID_DATE((DateADT) day)))
		not_from_standby();
	return (DateADT) day;
}

static DpDebitItem *
read_item(char **texts)
{
	DpDebitItem *item = palloc0(sizeof(DpDebitItem));

	if (texts[DP_ITEM_DATASET] == NULL || strlen(texts[DP_ITEM_DATASET]) >= NAMEDATALEN)
		not_from_standby();
	item->dataset = texts[DP_ITEM_DATASET];
	item->rho = read_number(texts[DP_ITEM_RHO]);
	item->delta = read_number(texts[DP_ITEM_DELTA]);
	if (item->rho <= 0 || item->delta < 0)
		not_from_standby();
	item->aggregates = texts[DP_ITEM_AGGREGATES];
	item->groups = texts[DP_ITEM_GROUPS];
	item->sigma = texts[DP_ITEM_SIGMA];
	item->tables = texts[DP_ITEM_TABLES];
	item->has_days = texts[DP_ITEM_FROM] != NULL || texts[DP_ITEM_TO] != NULL;
	if (item->has_days)
	{
		item->days.from = read_day(texts[DP_ITEM_FROM]);
		item->days.to = read_day(texts[DP_ITEM_TO]);
		if (item->days.from >= item->days.to)
			not_from_standby();
	}
	item->policy = texts[DP_ITEM_POLICY];
	return item;
}

static List *
read_items(FunctionCallInfo fcinfo, int argno)
{
	int			n;
	char	  **texts = read_texts(PG_GETARG_ARRAYTYPE_P(argno), DP_ITEM_FIELDS, &n);
	List	   *items = NIL;

	for (int i = 0; i < n; i++)
		items = lappend(items, read_item(texts + i * DP_ITEM_FIELDS));
	return items;
}

/* Refuses prices that follow from another policy than that of this server. */
static void
check_policies(List *items)
{
	foreach_ptr(DpDebitItem, item, items)
	{
		if (item->policy != NULL && !dp_policy_is_proved(item->dataset, item->policy))
			dp_raise(LEDGER_UNAVAILABLE,
					 errmsg("the policy of dataset \"%s\" was changed on the primary, and the standby does not have it yet; nothing was debited: retry",
							item->dataset));
	}
}

/* ------------------------------------------------------------------------
 * SQL
 * ------------------------------------------------------------------------
 */

/* SQL: dp_cdp_internal.standby_debit(origin, asker, items) */
Datum
dp_standby_debit(PG_FUNCTION_ARGS)
{
	char	  **origin;
	DpAsker    *asker;
	List	   *items;

	dp_check_version();
	origin = read_row(fcinfo, 0, DP_ORIGIN_FIELDS, DP_ORIGIN_FIELDS);
	check_origin(origin);
	asker = read_asker(fcinfo, 1, origin);
	items = read_items(fcinfo, 2);
	check_policies(items);
	dp_ledger_debit_as(items, asker);
	PG_RETURN_VOID();
}

/* While a release reads rows there, its session here is idle, and is not to be ended for that; value NULL: from now on as ever. */
static void
limit_idleness(const char *value)
{
	(void) set_config_option("idle_session_timeout", value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SET, true, 0, false);
}

/* SQL: dp_cdp_internal.standby_reads(origin, asker, items), of one item */
Datum
dp_standby_reads(PG_FUNCTION_ARGS)
{
	char	  **origin;
	DpAsker    *asker;

	dp_check_version();
	origin = read_row(fcinfo, 0, DP_ORIGIN_FIELDS, DP_ORIGIN_FIELDS);
	check_origin(origin);
	asker = read_asker(fcinfo, 1, origin);
	dp_ledger_standby_reads(asker, linitial(read_items(fcinfo, 2)));
	limit_idleness("0");
	PG_RETURN_VOID();
}

/* SQL: dp_cdp_internal.standby_has_read(failed) */
Datum
dp_standby_has_read(PG_FUNCTION_ARGS)
{
	Datum		counts[2];
	int			failures;
	int			most;

	dp_check_version();
	dp_ledger_standby_has_read(PG_GETARG_BOOL(0), &failures, &most);
	limit_idleness(NULL);
	counts[0] = Int32GetDatum(failures);
	counts[1] = Int32GetDatum(most);
	PG_RETURN_ARRAYTYPE_P(construct_array(counts, 2, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}
