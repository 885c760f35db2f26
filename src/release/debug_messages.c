/*-------------------------------------------------------------------------
 *
 * debug_messages.c
 *	  Withholds messages for developers from sessions that have read rows.
 *
 * Functions on rows look up what they meet in PostgreSQL's caches of
 * catalogues: a value of an enum, the dictionary of a kind of words, a type.
 * These caches stay for the session, and a message of level DEBUG1 tells when
 * one grows.  Whoever fills a cache himself could count by that what rows have
 * put into it, exactly.
 *
 * Invariants:
 * - From the first sandbox on, which is before the first row is read, a session
 *	 is sent nothing below LOG.  No setting, and no end of one, lifts that.
 * - client_min_messages shows what was set, so that it tells nothing.
 *
 * The setting has its value in asked, here, and elog.c's variable follows it by
 * the assign hook, which PostgreSQL calls for each change, ROLLBACK's included.
 * guc.c, of 15 to 19, reads a setting by the record's pointer alone: to save it for a
 * transaction or function, to compare it when that ends, to show it, and to hand it to parallel
 * workers.  It writes no value without the hook, and nothing else writes elog.c's variable.
 * The record is changed in the postmaster, before any process has saved a value.  A worker
 * withholds nothing, but sends what it says to the leader, which does.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "release/release_int.h"
#include "utils/guc.h"

static int	asked = NOTICE;
static bool withheld = false;
static GucEnumAssignHook next_assign_hook = NULL;

static void
follow(int level, void *extra)
{
	if (next_assign_hook)
		next_assign_hook(level, extra);
	client_min_messages = withheld ? Max(level, LOG) : level;
}

void
dp_debug_messages_init(void)
{
	struct config_enum *setting = dp_enum_setting("client_min_messages");

	asked = client_min_messages;
	next_assign_hook = setting->assign_hook;
	setting->assign_hook = follow;
	setting->variable = &asked;
}

void
dp_withhold_debug_messages(void)
{
	withheld = true;
	client_min_messages = Max(client_min_messages, LOG);
}
