/*-------------------------------------------------------------------------
 *
 * dp_cdp.c
 *	  Module magic and initialization.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "agg/agg.h"
#include "base/clock.h"
#include "base/places.h"
#include "base/settings.h"
#include "guard/guard.h"
#include "ledger/ledger.h"
#include "policy/policy.h"
#include "release/release.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	dp_preloaded = true;
	dp_guc_init();
	dp_clock_init();
	dp_places_init();
	dp_policy_init();
	dp_ledger_init();
	dp_ledger_launcher_init();
	dp_bounding_init();
	dp_release_init();
	dp_guard_init();
}

PG_FUNCTION_INFO_V1(dp_library_version);

Datum
dp_library_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(DP_VERSION));
}
