/*-------------------------------------------------------------------------
 *
 * payer.c
 *	  Who may have a release planned, and see its price.
 *
 * A plan is made with the rights and the statistics of the table's owner.
 * What it is made of must not show; but planning takes time and memory that
 * depend on protected rows, and reads tables that the asker may not.  So it is
 * for those who could also pay for an execution, by the ledger's own rule, and
 * for a dataset's owner while its cap pays (suggest.c).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/errors.h"
#include "fmgr.h"
#include "ledger/ledger.h"
#include "miscadmin.h"
#include "policy/policy.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/acl.h"

PG_FUNCTION_INFO_V1(dp_may_read_rows);

const char *dp_paying_cap = NULL;

bool
dp_asks_limits_alone(void)
{
	return dp_paying_cap != NULL;
}

static bool
budget_applies(Oid role, void *arg)
{
	return dp_role_pays(GetUserId(), role) ||
		(GetSessionUserId() != GetUserId() && dp_role_pays(GetSessionUserId(), role));
}

const char *
dp_asking_role(void)
{
	char	   *current = GetUserNameFromId(GetUserId(), false);

	return GetSessionUserId() == GetUserId() ? psprintf("role \"%s\"", current)
		: psprintf("role \"%s\" (login role \"%s\")", current, GetUserNameFromId(GetSessionUserId(), false));
}

/* Tells whether who asks may act as a dataset's owner. */
static bool
is_owner(const char *dataset)
{
	return GetSessionUserId() == GetUserId() && has_privs_of_role(GetUserId(), dp_policy_dataset(dataset)->owner);
}

/* Refuses an owner who has no budget: to give him one would be no remedy. */
DP_NORETURN static void
refuse_owner(const char *dataset)
{
	dp_raise(BUDGET_EXHAUSTED,
			 errmsg("%s can act as owner of dataset \"%s\", and has no privacy budget: ask plain aggregates such as count(*), or SET ROLE to a role with one",
					dp_asking_role(), dataset),
			 errdetail("A budget of the dataset's owner limits nothing."));
}

bool
dp_lacks_budget(const char *dataset)
{
	return dp_paying_cap == NULL && !dp_policy_any_budget(dataset, budget_applies, NULL) && dp_ledger_waits() == NULL;
}

void
dp_check_owner_asks(const char *dataset)
{
	/* budgets are looked up in their table, and few are owners */
	if (is_owner(dataset) && dp_lacks_budget(dataset))
		refuse_owner(dataset);
}

void
dp_check_payer(const char *dataset)
{
	const char *problem;

	if (dp_paying_cap != NULL && strcmp(dp_paying_cap, dataset) == 0)
		return;
	if (dp_policy_any_budget(dataset, budget_applies, NULL))
		return;

	/*
	 * there the roles may be others, and who is given a new budget spends
	 * twice
	 */
	problem = dp_ledger_waits();
	if (problem != NULL)
		dp_raise(BUDGET_EXHAUSTED,
				 errmsg("%s has no privacy budget for dataset \"%s\" in a ledger that was not adopted; first call dp_cdp.adopt_ledger(), which may bring it back",
						dp_asking_role(), dataset),
				 errdetail("%s", problem));
	if (is_owner(dataset))
		refuse_owner(dataset);
	dp_raise(BUDGET_EXHAUSTED,
			 errmsg("%s has no privacy budget for dataset \"%s\"; the dataset's owner can give one with dp_cdp.set_budget",
					dp_asking_role(), dataset),
			 errdetail("Private queries are planned, explained and previewed for roles with a budget only."));
}

bool
dp_release_is_readable(DpRelease *release)
{
	foreach_oid(relid, release->relids)
	{
		if (!dp_may_read(relid))
			return false;
	}
	return true;
}

/*
 * may_read("table"): does plain SQL show its rows to who asks, so that no query of
 * them is private.  For check_data: ZC002 within a private query.
 */
Datum
dp_may_read_rows(PG_FUNCTION_ARGS)
{
	if (dp_release_is_live())
		dp_raise(NOT_RELEASABLE,
				 errmsg("dp_cdp.check_data counts rows without noise, and is no part of a private query: call it in a statement of its own"));
	PG_RETURN_BOOL(dp_may_read(PG_GETARG_OID(0)));
}
