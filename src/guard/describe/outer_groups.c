/*-------------------------------------------------------------------------
 *
 * outer_groups.c
 *	  Levels whose public rows may have no match among protected ones:
 *	  stores LEFT JOIN orders.
 *
 * A public row without a match belongs to nobody.  The inner query leaves such
 * rows out, as their unit is NULL; what they are in the answer is a group
 * without rows.  So an answer means what its SQL says if
 * - all keys are of the public side, and known (key_query_keys.c),
 * - each aggregate ignores rows without a match: an argument or its FILTER is
 *	 NULL for NULL,
 * - conditions above the join read the public side alone, or none of these
 *	 rows satisfies them.
 * All else is refused.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "guard/describe/describe.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

static RangeTblEntry *
matched(DpLevel *level)
{
	return rt_fetch(bms_next_member(level->from.matched, -1), level->from.query->rtable);
}

static bool
reads_matched(DpLevel *level, Node *expr)
{
	return bms_overlap(pull_varnos(NULL, expr), level->from.matched);
}

static void
check_key(DpLevel *level, int i)
{
	DpSplitContext *cxt = level->cxt;
	Node	   *expr = list_nth(level->key_exprs, i);

	if (reads_matched(level, expr) || dp_key_set_of(level->release, i) == NULL)
		dp_refuse_at(exprLocation(expr),
					 errmsg("rows without a match in %s have no group \"%s\"; group by columns of the public side, or use an inner join",
							dp_entry_text(matched(level)), ((DpReleaseKey *) list_nth(level->release->keys, i))->label),
					 errdetail("Such rows belong to nobody."));
}

/* Tells whether an aggregate takes no account of rows without a match. */
static bool
ignores_unmatched(DpLevel *level, Aggref *agg)
{
	if (agg->aggfilter != NULL && bms_overlap(find_nonnullable_rels((Node *) agg->aggfilter), level->from.matched))
		return true;
	foreach_node(TargetEntry, tle, agg->args)
	{
		Node	   *arg = (Node *) tle->expr;

		if (reads_matched(level, arg) && !contain_nonstrict_functions(arg))
			return true;
	}
	return false;
}

static void
check_conditions(DpLevel *level)
{
	DpSplitContext *cxt = level->cxt;
	Node	   *reading = NULL;

	foreach_ptr(Node, item, level->conditions)
	{
		if (!reads_matched(level, item))
			continue;
		if (bms_overlap(find_nonnullable_rels(item), level->from.matched))
			return;
		reading = item;
	}
	if (reading != NULL)
		dp_refuse_at(exprLocation(reading),
					 errmsg("this condition may hold for rows without a match in %s, which belong to nobody; "
							"move it to the join's ON", dp_entry_text(matched(level))));
}

void
dp_check_outer_groups(DpLevel *level, List *aggs)
{
	DpSplitContext *cxt = level->cxt;

	if (bms_is_empty(level->from.matched))
		return;
	for (int i = 0; i < list_length(level->key_exprs); i++)
		check_key(level, i);
	foreach_ptr(Aggref, agg, aggs)
	{
		if (!ignores_unmatched(level, agg))
			dp_refuse_at(agg->location,
						 errmsg("%s(%s) would count rows without a match in %s; give it a column of \"%s\", or use an inner join",
								get_func_name(agg->aggfnoid), agg->aggstar ? "*" : "...",
								dp_entry_text(matched(level)), matched(level)->eref->aliasname),
						 errdetail("Such rows belong to nobody."));
	}
	check_conditions(level);
}
