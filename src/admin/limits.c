/*-------------------------------------------------------------------------
 *
 * limits.c
 *	  suggest_limits: which max_contribution serves best, found privately.
 *
 * It is for the dataset's owner, whose people pay: the rho comes from the cap over all
 * roles, and he needs no budget.  What he sees is as private as what he could buy by a budget that he
 * gives himself.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "admin/admin.h"
#include "base/amounts.h"
#include "base/errors.h"
#include "release/release.h"

PG_FUNCTION_INFO_V1(dp_suggest_limits);

#define SUGGESTION_COLUMNS 4

/*
 * suggest_limits("table", rho)
 *
 * Rows of a question, and of which max_contribution serves it best.
 */
Datum
dp_suggest_limits(PG_FUNCTION_ARGS)
{
	Oid			relid = dp_admin_table(fcinfo);
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	const char *dataset;
	int64		rho;

	if (PG_ARGISNULL(1))
		dp_raise(BAD_PARAMETER,
				 errmsg("rho must be given: it says how much of the dataset's cap all suggestions together may cost"));
	rho = dp_rho_amount(PG_GETARG_FLOAT8(1), "rho");
	dp_admin_require_policy_owner(relid);
	dp_admin_lock_existing(relid, AccessShareLock);
	/* while this waited the policy may have gone, or become another's */
	dataset = dp_admin_require_policy_owner(relid);
	/* what cannot be returned costs nothing */
	InitMaterializedSRF(fcinfo, 0);
	if (rsinfo->setDesc->natts != SUGGESTION_COLUMNS)
		elog(ERROR, "return type must be a row type");
	foreach_ptr(const DpSuggestion, found, dp_suggest(relid, dataset, rho))
	{
		Datum		values[SUGGESTION_COLUMNS];
		bool		nulls[SUGGESTION_COLUMNS] = {false};

		values[0] = CStringGetTextDatum(found->fingerprint);
		values[1] = Float8GetDatum(found->contribution);
		values[2] = Float8GetDatum(found->cut);
		values[3] = Float8GetDatum(found->stddev);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
