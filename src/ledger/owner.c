/*-------------------------------------------------------------------------
 *
 * owner.c
 *	  What functions of the extension's owner that change the whole ledger
 *	  have in common: they run as the owner of the tables, and debits wait.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xlog.h"
#include "executor/spi.h"
#include "miscadmin.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/extension.h"
#include "ledger/ledger_int.h"

/*
 * Checks the caller and becomes the owner of the tables, so that a
 * statement's permission checks do not depend on who calls.  An error
 * restores the user by itself.
 */
void
dp_ledger_admin_begin(DpLedgerAdmin *admin, const char *function)
{
	Oid			table = dp_own_table("ledger_stamp");
	Relation	rel;

	if (!OidIsValid(table))
		dp_raise(LEDGER_UNAVAILABLE,
				 errmsg("this database has no privacy ledger; a superuser can make one with CREATE EXTENSION dp_cdp"));
	if (function != NULL && !dp_owns_extension(dp_extension_oid(), GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only the owner of extension dp_cdp may call dp_cdp.%s", function)));
	if (RecoveryInProgress())
		dp_raise(LEDGER_UNAVAILABLE,
				 errmsg("the ledger cannot be changed on a standby; call the function on the primary"));

	GetUserIdAndSecContext(&admin->user, &admin->security);
	rel = table_open(table, AccessShareLock);
	SetUserIdAndSecContext(rel->rd_rel->relowner, admin->security | SECURITY_RESTRICTED_OPERATION);
	table_close(rel, NoLock);
	SPI_connect();

	/* no debit between sums and what is made of them */
	if (SPI_execute("LOCK TABLE dp_cdp_internal.ledger_stamp, dp_cdp_internal.dataset, dp_cdp_internal.budget, dp_cdp_internal.release_log,"
					" dp_cdp_internal.ledger_chain, dp_cdp_internal.kept_answer IN SHARE ROW EXCLUSIVE MODE", false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "could not lock the ledger");
}

void
dp_ledger_admin_end(DpLedgerAdmin *admin)
{
	SPI_finish();
	SetUserIdAndSecContext(admin->user, admin->security);
}
