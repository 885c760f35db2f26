/*-------------------------------------------------------------------------
 *
 * subquery_kinds.c
 *	  What a subquery does with the rows that it reads, by its text.
 *
 * Invariant: what a kind does not name, a field that is set, is of no kind.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "guard/read/read.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"

const char *
dp_first_name(Query *sub)
{
	return sub->rtable ? linitial_node(RangeTblEntry, sub->rtable)->eref->aliasname : "subquery";
}

int64
dp_rows_of_limit(Node *limit, int64 otherwise)
{
	Const	   *constant;

	if (limit == NULL)
		return otherwise;
	constant = checkExprHasSubLink(limit) ? NULL : (Const *) eval_const_expressions(NULL, copyObject(limit));
	if (constant == NULL || !IsA(constant, Const))
		return -1;
	return constant->constisnull ? otherwise : DatumGetInt64(constant->constvalue);
}

bool
dp_leaves_a_row(Node *limit)
{
	return dp_rows_of_limit(limit, PG_INT64_MAX) > 0;
}

/* Tells whether a subquery has nothing that no kind has. */
static bool
is_plain(Query *sub)
{
	return sub->commandType == CMD_SELECT && sub->groupingSets == NIL && sub->setOperations == NULL &&
		!sub->hasTargetSRFs && sub->limitOffset == NULL && sub->rowMarks == NIL &&
		!sub->hasModifyingCTE && !sub->hasRecursive;
}

bool
dp_only_reads(Query *sub, bool exists)
{
	return is_plain(sub) && !sub->hasAggs && sub->groupClause == NIL && sub->havingQual == NULL &&
		!sub->hasWindowFuncs && !sub->hasDistinctOn && sub->jointree->fromlist != NIL &&
		(exists ? dp_leaves_a_row(sub->limitCount) : sub->limitCount == NULL);
}

bool
dp_has_one_row(Query *sub)
{
	return is_plain(sub) && sub->hasAggs && sub->groupClause == NIL && sub->havingQual == NULL &&
		sub->limitCount == NULL;
}

bool
dp_groups_rows(Query *sub)
{
	return is_plain(sub) && (sub->groupClause != NIL) != (sub->distinctClause != NIL) && !sub->hasDistinctOn &&
		!(sub->distinctClause && sub->hasAggs) && !sub->hasWindowFuncs && sub->limitCount == NULL;
}

bool
dp_takes_first(Query *sub, DpTaken *taken)
{
	Query		rest = *sub;

	rest.limitCount = rest.limitOffset = NULL;
	if (sub->limitOption != LIMIT_OPTION_COUNT || (sub->limitCount == NULL && sub->limitOffset == NULL) ||
		sub->distinctClause != NIL || !dp_only_reads(&rest, false))
		return false;
	taken->skipped = dp_rows_of_limit(sub->limitOffset, 0);
	taken->count = dp_rows_of_limit(sub->limitCount, PG_INT64_MAX);
	return taken->skipped >= 0 && taken->count >= 0;
}

bool
dp_is_expressions(Query *sub)
{
	return is_plain(sub) && sub->jointree->fromlist == NIL && sub->jointree->quals == NULL && !sub->hasAggs &&
		sub->groupClause == NIL && sub->havingQual == NULL && !sub->hasWindowFuncs && !sub->hasSubLinks &&
		sub->limitCount == NULL && sub->cteList == NIL;
}
