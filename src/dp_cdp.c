/*-------------------------------------------------------------------------
 *
 * dp_cdp.c
 *	  Module magic and initialization.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/settings.h"
#include "fmgr.h"
#include "guard/guard.h"
#include "ledger/ledger.h"
#include "miscadmin.h"
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
	dp_policy_init();
	dp_ledger_init();
	dp_release_init();
	dp_guard_init();
}
