/*-------------------------------------------------------------------------
 *
 * existence.c
 *	  Questions whether there is a row: EXISTS (SELECT ...), and SELECT 1 FROM
 *	  ... LIMIT 1, which is what some tools write for it.
 *
 * Whether there is a row at all may hang on one person.  What can be told is
 * whether there are more rows than noise explains: the level becomes
 *		SELECT 1 FROM ... HAVING 1.96 * dp_noise_stddev(count(*)) + 0.5 < count(*)
 * which is a count, is charged as one, and says yes of no rows in one case of
 * forty.  Of each public row this is asked in read/sublink_values.c.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

/* Tells whether LIMIT leaves one row of all. */
static bool
is_limited_to_one(Query *query)
{
	Const	   *limit;

	if (query->limitCount == NULL || query->limitOffset != NULL || checkExprHasSubLink(query->limitCount))
		return false;
	limit = (Const *) eval_const_expressions(NULL, copyObject(query->limitCount));
	return IsA(limit, Const) && !limit->constisnull && DatumGetInt64(limit->constvalue) == 1;
}

static bool
shows_constants(Query *query)
{
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		if (!IsA(eval_const_expressions(NULL, copyObject((Node *) ((TargetEntry *) lfirst(lc))->expr)), Const))
			return false;
	}
	return query->targetList != NIL;
}

bool
dp_ask_whether_rows(Query *query, bool below_exists)
{
	int			location = exprLocation((Node *) query->targetList);

	if (query->commandType != CMD_SELECT || query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL ||
		query->havingQual != NULL || query->distinctClause != NIL || query->hasWindowFuncs || query->hasTargetSRFs ||
		query->setOperations != NULL || query->rowMarks != NIL)
		return false;
	if (below_exists)
	{
		if (query->limitOffset != NULL || (query->limitCount != NULL && !is_limited_to_one(query)))
			return false;
		query->targetList = list_make1(makeTargetEntry((Expr *) dp_int4_const(1),
													   1, pstrdup("one"), false));
		query->sortClause = NIL;
	}
	else if (!is_limited_to_one(query) || !shows_constants(query))
		return false;
	query->havingQual = (Node *) dp_more_rows_than_noise(location, NULL);
	query->hasAggs = true;
	return true;
}
