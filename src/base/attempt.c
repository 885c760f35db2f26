/*-------------------------------------------------------------------------
 *
 * attempt.c
 *	  What may fail without the statement failing.
 *
 * Invariant: what an action held when it failed is let go, by a subtransaction, as
 * a block with EXCEPTION would.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "base/attempt.h"
#include "utils/resowner.h"

/*
 * Runs an action in the caller's memory.  Returns the error with which it failed, for the caller to throw again
 * unless it is of those that were to be expected; NULL: it did not fail.
 */
ErrorData *
dp_attempt(DpAttempt action, void *context)
{
	MemoryContext caller = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(caller);
	PG_TRY();
	{
		action(context);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller);
	CurrentResourceOwner = owner;
	return error;
}
