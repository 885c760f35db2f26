/*-------------------------------------------------------------------------
 *
 * existence.c
 *	  Questions whether there is a row: EXISTS (SELECT ...), and what some tools
 *	  write for it: SELECT 1 FROM ... LIMIT 1, and SELECT DISTINCT 1 FROM ...
 *
 * Whether there is a row at all may hang on one person.  What can be told is
 * whether there are more rows than noise explains: the level becomes
 *		SELECT 1 FROM ... HAVING 1.96 * dp_noise_stddev(count(*)) + 0.5 < count(*)
 * which is a count, is charged as one, and says yes of no rows in one case of
 * forty.  Of each public row this is asked in read/sublink_values.c.
 *
 * DISTINCT and GROUP BY of what is the same in each row leave one row, and within EXISTS they
 * change nothing.  As keys they would be declared: the answer would be yes, whatever there is.
 *
 * The LIMIT of EXISTS stays as it is, above that row.  Of SELECT 1 it may be a parameter, as ORMs send it, which has to be 1
 * when the query runs: more rows would be a number of rows.  That is asked before the first of them, so before the debit.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/extension.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "guard/describe/forms.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"

PG_FUNCTION_INFO_V1(dp_only_one);

/* only_one(n) returns 1, and refuses all other numbers and NULL, ZC002. */
Datum
dp_only_one(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_GETARG_INT64(0) != 1)
		dp_raise(NOT_RELEASABLE,
				 errmsg("only LIMIT 1 asks whether a protected table has a row; write LIMIT 1, or ask for the number of rows by count(*)"));
	PG_RETURN_INT64(1);
}

/* Tells whether LIMIT leaves one row of all; sets is_known false where that depends on a parameter. */
static bool
is_limited_to_one(Query *query, bool *is_known)
{
	Const	   *limit;

	*is_known = true;
	if (query->limitCount == NULL || query->limitOffset != NULL || checkExprHasSubLink(query->limitCount) ||
		query->limitOption != LIMIT_OPTION_COUNT)
		return false;
	limit = (Const *) eval_const_expressions(NULL, copyObject(query->limitCount));
	*is_known = IsA(limit, Const);
	return *is_known ? !limit->constisnull && DatumGetInt64(limit->constvalue) == 1 : dp_reads_param((Node *) limit);
}

/* Tells whether all that a query shows, and all that it groups by, is the same in each row. */
static bool
shows_one_row(Query *query)
{
	bool		shows = false;

	foreach_ptr(TargetEntry, tle, query->targetList)
	{
		/* one row needs no order */
		if (tle->resjunk && get_sortgroupref_clause_noerr(tle->ressortgroupref, query->groupClause) == NULL)
			continue;
		shows |= !tle->resjunk;
		if (dp_has_nodes(tle->expr, T_Var, T_SubLink) || contain_volatile_functions((Node *) tle->expr))
			return false;
	}
	return shows;
}

/* Tells whether rows that are equal become one. */
static bool
merges_rows(Query *query)
{
	return (query->distinctClause != NIL && !query->hasDistinctOn) || query->groupClause != NIL;
}

/* Leaves out what puts rows in order, or makes one of several, of which there is one. */
static void
forget_order(Query *query)
{
	List	   *targets = NIL;

	foreach_ptr(TargetEntry, tle, query->targetList)
		if (!tle->resjunk)
		targets = lappend(targets, tle);
	query->targetList = targets;
	query->sortClause = query->distinctClause = query->groupClause = NIL;
	query->hasDistinctOn = false;
	query->limitOption = LIMIT_OPTION_COUNT;
}

bool
dp_ask_whether_rows(Query *query, bool below_exists)
{
	int			location = exprLocation((Node *) query->targetList);
	Oid			bigint[] = {INT8OID};
	bool		is_known;

	if (query->commandType != CMD_SELECT || query->hasAggs || query->groupingSets != NIL ||
		query->havingQual != NULL || query->hasWindowFuncs || query->hasTargetSRFs ||
		query->setOperations != NULL || query->rowMarks != NIL)
		return false;
	if (below_exists)
	{
		if (query->limitOffset != NULL || checkExprHasSubLink(query->limitCount))
			return false;
		query->targetList = list_make1(makeTargetEntry((Expr *) dp_int4_const(1),
													   1, pstrdup("one"), false));
		forget_order(query);
	}
	else if (!shows_one_row(query) || !((is_known = merges_rows(query)) || is_limited_to_one(query, &is_known)))
		return false;
	else
	{
		forget_order(query);
		if (!is_known)
			query->limitCount = (Node *) dp_call(dp_own_routine("only_one", 1, bigint), INT8OID, list_make1(query->limitCount));
	}
	query->havingQual = (Node *) dp_more_rows_than_noise(location, NULL);
	query->hasAggs = true;
	return true;
}
