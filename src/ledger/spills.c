/*-------------------------------------------------------------------------
 *
 * spills.c
 *	  How much releases from each dataset have written to temporary files.
 *
 * Invariants:
 *	- a sum is in shared memory alone: a row in a table would take a transaction
 *	  id where rows are many, which everybody can count;
 *	- a place is taken and read under DpShared.lock.  With all places taken the least sum
 *	  gives way, so a sum may begin anew, as after a restart, and is never another's.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "ledger/ledger_int.h"

/* Returns the dataset's place; NULL: it has none.  *least: what another takes, if it needs one. */
static DpSpill *
find(int64 ledger_id, DpSpill **least)
{
	*least = &dp_shared->spills[0];
	for (int i = 0; i < DP_MAX_SPILLS; i++)
	{
		DpSpill    *spill = &dp_shared->spills[i];

		if (spill->database == MyDatabaseId && spill->ledger_id == ledger_id)
			return spill;
		if (spill->bytes < (*least)->bytes)
			*least = spill;
	}
	return NULL;
}

void
dp_ledger_add_spill(int64 ledger_id, uint64 bytes)
{
	DpSpill    *spill;
	DpSpill    *least;

	if (dp_shared == NULL)
		return;
	LWLockAcquire(dp_shared->lock, LW_EXCLUSIVE);
	spill = find(ledger_id, &least);
	if (spill == NULL)
	{
		spill = least;
		spill->database = MyDatabaseId;
		spill->ledger_id = ledger_id;
		spill->bytes = 0;
	}
	spill->bytes += bytes;
	LWLockRelease(dp_shared->lock);
}

uint64
dp_ledger_spilled(int64 ledger_id)
{
	DpSpill    *spill;
	DpSpill    *least;
	uint64		bytes;

	if (dp_shared == NULL)
		return 0;
	LWLockAcquire(dp_shared->lock, LW_SHARED);
	spill = find(ledger_id, &least);
	bytes = spill != NULL ? spill->bytes : 0;
	LWLockRelease(dp_shared->lock);
	return bytes;
}
