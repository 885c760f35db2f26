/*-------------------------------------------------------------------------
 *
 * who_pays.c
 *	  Whose budgets a role pays from.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"

#include "ledger/ledger_int.h"

PG_FUNCTION_INFO_V1(dp_ledger_role_pays);

/*
 * Lets everybody pay from his own budget and from those of the roles whose
 * privileges he has.  A superuser has everybody's, which would charge every
 * budget there is: for him membership counts.
 */
bool
dp_role_pays(Oid payer, Oid role)
{
	if (superuser_arg(payer))
		return is_member_of_role_nosuper(payer, role);
	return has_privs_of_role(payer, role);
}

/* SQL: dp_cdp_internal.role_pays(payer, role) */
Datum
dp_ledger_role_pays(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(dp_role_pays(PG_GETARG_OID(0), PG_GETARG_OID(1)));
}
