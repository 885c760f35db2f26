/*-------------------------------------------------------------------------
 *
 * cancel.c
 *	  Cancels that are told in words of our own.
 *
 * What PostgreSQL remembers of a cancel's cause, a timeout or, on a standby, a
 * conflict with recovery, is known to it alone.  Where only the cancel is
 * forgotten, the session is ended by the conflict as soon as it waits for its
 * client.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/cancel.h"
#include "miscadmin.h"

/* Tells whether an error is how PostgreSQL words a cancel, a timeout or a conflict with recovery. */
static bool
is_cancel(int sqlerrcode)
{
	return sqlerrcode == ERRCODE_QUERY_CANCELED || sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE ||
		sqlerrcode == ERRCODE_T_R_SERIALIZATION_FAILURE;
}

/*
 * Lets PostgreSQL raise a cancel that is pending, and drops its error; returns
 * whether there was one, so that the caller raises another, or has raised one already.
 */
bool
dp_take_cancel(void)
{
	MemoryContext caller = CurrentMemoryContext;
	volatile bool taken = false;

	PG_TRY();
	{
		CHECK_FOR_INTERRUPTS();
	}
	PG_CATCH();
	{
		if (!is_cancel(geterrcode()))
			PG_RE_THROW();
		MemoryContextSwitchTo(caller);
		FlushErrorState();
		taken = true;
	}
	PG_END_TRY();
	return taken;
}
