/*-------------------------------------------------------------------------
 *
 * rate.c
 *	  How often one role may ask the ledger within a second.
 *
 * Counted by session_user, so that SET ROLE gives no second measure.  By
 * default nothing is limited.  The numbers are the worker's and begin anew
 * with it: they protect the server, not anybody's privacy.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "base/clock.h"
#include "base/settings.h"
#include "ledger/tables.h"

/* with so many roles in one second, counting begins anew */
#define MAX_ROLES 10000

typedef struct Rate
{
	Oid			role;			/* hash key */
	int			debits;
	int			refusals;
} Rate;

static HTAB *rates = NULL;
static int64 second = 0;		/* of dp_uptime */

static Rate *
get_rate(Oid role)
{
	int64		now = dp_uptime() / USECS_PER_SEC;
	Rate	   *rate;
	bool		found;

	if (rates != NULL && (now != second || hash_get_num_entries(rates) > MAX_ROLES))
	{
		hash_destroy(rates);
		rates = NULL;
	}
	if (rates == NULL)
	{
		HASHCTL		ctl;

		memset(&ctl, 0, sizeof(ctl));
		ctl.keysize = sizeof(Oid);
		ctl.entrysize = sizeof(Rate);
		ctl.hcxt = TopMemoryContext;
		rates = hash_create("dp_cdp rates", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		second = now;
	}
	rate = hash_search(rates, &role, HASH_ENTER, &found);
	if (!found)
		rate->debits = rate->refusals = 0;
	return rate;
}

/* Tells whether the role has asked as often in this second as it may. */
bool
dp_rate_is_exceeded(Oid role)
{
	Rate	   *rate;

	if (dp_guc_max_debits == 0 && dp_guc_max_refusals == 0)
		return false;
	rate = get_rate(role);
	return (dp_guc_max_debits > 0 && rate->debits >= dp_guc_max_debits) ||
		(dp_guc_max_refusals > 0 && rate->refusals >= dp_guc_max_refusals);
}

void
dp_rate_count(Oid role, bool granted)
{
	Rate	   *rate;

	if (dp_guc_max_debits == 0 && dp_guc_max_refusals == 0)
		return;
	rate = get_rate(role);
	if (granted)
		rate->debits++;
	else
		rate->refusals++;
}
