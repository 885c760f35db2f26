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

/* Tells whether LIMIT is 1, by its text. */
static bool
is_one(Node *limit)
{
	Const	   *constant = limit ? (Const *) eval_const_expressions(NULL, copyObject(limit)) : NULL;

	return constant != NULL && IsA(constant, Const) && !constant->constisnull &&
		DatumGetInt64(constant->constvalue) == 1;
}

bool
dp_takes_first(Query *sub)
{
	Query		rest = *sub;

	rest.limitCount = NULL;
	return is_one(sub->limitCount) && sub->limitOption == LIMIT_OPTION_COUNT && sub->distinctClause == NIL &&
		dp_only_reads(&rest, false);
}

bool
dp_is_expressions(Query *sub)
{
	return is_plain(sub) && sub->jointree->fromlist == NIL && sub->jointree->quals == NULL && !sub->hasAggs &&
		sub->groupClause == NIL && sub->havingQual == NULL && !sub->hasWindowFuncs && !sub->hasSubLinks &&
		sub->limitCount == NULL && sub->cteList == NIL;
}
