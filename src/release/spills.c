/*-------------------------------------------------------------------------
 *
 * spills.c
 *	  Tells those who run the server what a release wrote to temporary files.
 *
 * Set-aside rows of units lie in up to 256 files, and a line of log_temp_files for
 * each would bury the log.  A run has one line, of all that it wrote: rows of units,
 * sorts and hashes, in all processes.  Bytes are whole blocks as they are
 * written, so a block that is written twice counts twice.  What a worker of a
 * run that failed wrote is not known.
 *
 * Invariants:
 *	- bytes depend on rows.  They go to the server's log, and to roles that own the
 *	  dataset or may read dp_cdp.metrics; all others get NULL, whatever was written.
 *	  pg_stat_database would tell everybody on a server that is not hardened, so nothing
 *	  is counted there;
 *	- nothing is reported before the run's end, or its failure, is settled in the ledger: an
 *	  error of a hook on messages leaves no failure uncounted.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/extension.h"
#include "catalog/namespace.h"
#include "fmgr.h"
#include "ledger/ledger.h"
#include "miscadmin.h"
#include "policy/policy.h"
#include "release/release_int.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(dp_spilled_bytes);

void
dp_report_spill(const DpDataset *dataset, const DpSandbox *box)
{
	if (box->spilled == 0)
		return;
	dp_ledger_add_spill(dataset->ledger_id, box->spilled);
	if (box->log_temp_files >= 0 && box->spilled / 1024 >= (uint64) box->log_temp_files)
		ereport(LOG_SERVER_ONLY,
				(errmsg("private query wrote %llu bytes to temporary files", (unsigned long long) box->spilled)));
}

/* Tells whether the calling role may know what is written of a dataset. */
static bool
may_know(const DpDataset *dataset)
{
	Oid			metrics = get_relname_relid("metrics", get_namespace_oid(DP_SCHEMA, true));

	if (OidIsValid(metrics) && pg_class_aclcheck(metrics, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return true;
	return OidIsValid(dataset->owner) && has_privs_of_role(GetUserId(), dataset->owner);
}

/* SQL: dp_cdp.spilled_bytes(dataset) */
Datum
dp_spilled_bytes(PG_FUNCTION_ARGS)
{
	const DpDataset *dataset = dp_policy_dataset(text_to_cstring(PG_GETARG_TEXT_PP(0)));

	if (!may_know(dataset))
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) dp_ledger_spilled(dataset->ledger_id));
}
