/*-------------------------------------------------------------------------
 *
 * subquery_kinds.c
 *	  What a subquery does with the rows that it reads, by its text.
 *
 * Invariant: what a kind does not name, a field that is set, is of no kind.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "guard/read/read.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

const char *
dp_first_name(Query *sub)
{
	return sub->rtable ? linitial_node(RangeTblEntry, sub->rtable)->eref->aliasname : "subquery";
}

bool
dp_leaves_a_row(Node *limit)
{
	Const	   *constant = limit ? (Const *) eval_const_expressions(NULL, limit) : NULL;

	return limit == NULL || (IsA(constant, Const) && !constant->constisnull && DatumGetInt64(constant->constvalue) > 0);
}

bool
dp_only_reads(Query *sub, bool exists)
{
	return sub->commandType == CMD_SELECT && !sub->hasAggs && sub->groupClause == NIL && sub->groupingSets == NIL &&
		sub->havingQual == NULL && sub->setOperations == NULL && !sub->hasWindowFuncs && !sub->hasTargetSRFs &&
		!sub->hasDistinctOn && sub->limitOffset == NULL && (exists ? dp_leaves_a_row(sub->limitCount) : sub->limitCount == NULL) &&
		sub->rowMarks == NIL && !sub->hasModifyingCTE && !sub->hasRecursive && sub->jointree->fromlist != NIL;
}

bool
dp_has_one_row(Query *sub)
{
	return sub->commandType == CMD_SELECT && sub->hasAggs && sub->groupClause == NIL && sub->groupingSets == NIL &&
		sub->havingQual == NULL && sub->setOperations == NULL && !sub->hasTargetSRFs && sub->limitOffset == NULL &&
		sub->limitCount == NULL && sub->rowMarks == NIL && !sub->hasModifyingCTE && !sub->hasRecursive;
}

bool
dp_groups_rows(Query *sub)
{
	return sub->commandType == CMD_SELECT && (sub->groupClause != NIL) != (sub->distinctClause != NIL) && !sub->hasDistinctOn &&
		!(sub->distinctClause && sub->hasAggs) && sub->groupingSets == NIL && sub->setOperations == NULL && !sub->hasWindowFuncs &&
		!sub->hasTargetSRFs && sub->limitOffset == NULL && sub->limitCount == NULL && sub->rowMarks == NIL &&
		!sub->hasModifyingCTE && !sub->hasRecursive;
}

/* Tells whether LIMIT is 1, by its text. */
static bool
is_one(Node *limit)
{
	Const	   *constant = limit ? (Const *) eval_const_expressions(NULL, copyObject(limit)) : NULL;

	return constant != NULL && IsA(constant, Const) && !constant->constisnull && DatumGetInt64(constant->constvalue) == 1;
}

bool
dp_takes_first(Query *sub)
{
	Query		rest = *sub;

	rest.limitCount = NULL;
	return is_one(sub->limitCount) && sub->limitOption == LIMIT_OPTION_COUNT && sub->distinctClause == NIL && dp_only_reads(&rest, false);
}

bool
dp_is_expressions(Query *sub)
{
	return sub->commandType == CMD_SELECT && sub->jointree->fromlist == NIL && sub->jointree->quals == NULL && !sub->hasAggs &&
		sub->groupClause == NIL && sub->groupingSets == NIL && sub->havingQual == NULL && sub->setOperations == NULL &&
		!sub->hasWindowFuncs && !sub->hasTargetSRFs && !sub->hasSubLinks && sub->limitCount == NULL && sub->limitOffset == NULL &&
		sub->rowMarks == NIL && sub->cteList == NIL;
}
