/*-------------------------------------------------------------------------
 *
 * stack.c
 *	  Stack for planning and running what reads protected rows.
 *
 * PostgreSQL fails where the stack is deeper than max_stack_depth, and looks
 * at it wherever it recurses: also where a plan's node is executed for the
 * first time, which a row may decide, and where a plan is walked, whose shape
 * statistics decide.  An analyst's functions can leave as little stack as
 * they like.
 *
 * Invariants:
 * - Running starts with DP_STACK_TO_RUN, whatever was used before and whatever
 *	 max_stack_depth is.  That there is so much is asked before, and the answer
 *	 does not depend on rows or statistics.
 * - Planning has less, and recurses deeper than running does.  An inner query
 *	 is so small that it is planned in less, whatever its plan is; only
 *	 expressions that it repeats into each other can exceed it.
 * - What handles a finished plan on the statement's own stack, such as the
 *	 plan cache's copy, has room for the largest plan of the query.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/walk.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "release/release.h"

/* stack that a join or a subquery of the inner query adds at most to the copy of a plan */
#define DP_STACK_OF_ENTRY 3072
/* stack that planning needs beside */
#define DP_STACK_OF_PLAN (16 * 1024)

/* the base that the process began with, while sandboxes have bases of their own */
static pg_stack_base_t outermost;
static int	nested = 0;

static pg_stack_base_t
current_base(void)
{
	pg_stack_base_t base = set_stack_base();

	restore_stack_base(base);
	return base;
}

static int64
depth_from(pg_stack_base_t base)
{
	char		here;

	if (base == NULL)
		return 0;
	return base > &here ? base - &here : &here - base;
}

static void
refuse_depth(void)
{
	dp_raise(NOT_RELEASABLE,
			 errmsg("there is too little stack left for a private query; ask it outside of nested functions"),
			 errhint("A private query needs %d kB of the server's stack (ulimit -s), whatever max_stack_depth is.",
					 (int) ((DP_STACK_TO_RUN + STACK_DEPTH_SLOP) / 1024)));
}

/* Refuses (ZC002) when less than allowance, for what is called in between, and a sandbox is left. */
void
dp_stack_check(int allowance)
{
	int64		limit = get_stack_depth_rlimit();

	if (limit <= 0)
		limit = max_stack_depth * INT64CONST(1024) + STACK_DEPTH_SLOP;
	if (limit - STACK_DEPTH_SLOP - depth_from(nested > 0 ? outermost : current_base()) <
		DP_STACK_TO_RUN + allowance)
		refuse_depth();
}

pg_stack_base_t
dp_stack_begin(void)
{
	pg_stack_base_t base = set_stack_base();

	if (nested++ == 0)
		outermost = base;
	return base;
}

void
dp_stack_end(pg_stack_base_t base)
{
	nested--;
	restore_stack_base(base);
}

static DpWalk
count_entries(Node *node, int levels, int *count)
{
	if (IsA(node, Query))
		*count += 1 + list_length(((Query *) node)->rtable);
	return DP_WALK_ON;
}

void
dp_stack_check_query(const Query *inner)
{
	int			entries = 0;

	(void) dp_walk_all(inner, count_entries, &entries);
	if (entries > DP_MAX_INNER_ENTRIES)
		dp_raise(NOT_RELEASABLE, errmsg("a private query reads too many tables and subqueries; leave at most %d",
										DP_MAX_INNER_ENTRIES));
	if (max_stack_depth * INT64CONST(1024) - depth_from(current_base()) <
		DP_STACK_OF_PLAN + (int64) entries * DP_STACK_OF_ENTRY)
		dp_raise(NOT_RELEASABLE,
				 errmsg("there is too little stack left to plan a private query; ask it outside of nested functions"),
				 errhint("The setting max_stack_depth is %d kB.", max_stack_depth));
}
