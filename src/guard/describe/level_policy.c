/*-------------------------------------------------------------------------
 *
 * level_policy.c
 *	  Policies of columns, each read once for a level.
 *
 * Their keys may be many, and several keys and conditions ask for them.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "guard/describe/describe.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* a column's policy that was asked for */
typedef struct KnownPolicy
{
	Oid			relid;
	AttrNumber	attnum;
	int64		room;
	DpColumn   *column;
} KnownPolicy;

DpColumn *
dp_level_policy(DpLevel *level, Oid relid, AttrNumber attnum, int64 room)
{
	MemoryContext old;
	KnownPolicy *known;

	foreach_ptr(KnownPolicy, policy, level->policies)
	{
		known = policy;
		if (known->relid == relid && known->attnum == attnum && known->room == room)
			return known->column;
	}
	/* lists of values are collected in a context of their own */
	old = MemoryContextSwitchTo(GetMemoryChunkContext(level));
	known = palloc(sizeof(KnownPolicy));
	known->relid = relid;
	known->attnum = attnum;
	known->room = room;
	known->column = dp_policy_column(relid, attnum, GetUserId(), room);
	level->policies = lappend(level->policies, known);
	MemoryContextSwitchTo(old);
	return known->column;
}
