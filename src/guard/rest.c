/*-------------------------------------------------------------------------
 *
 * rest.c
 *	  The row of all groups that are not shown, where groups are found privately.
 *
 * A level asks for it by GROUP BY dp_cdp.rest(), and the setting dp_cdp.rest does for levels whose rows are those of the
 * statement.  What it does not show becomes one release more, without keys, over the rows that are in no group which the level's
 * own release has shown (release/rest.c).  Its row follows by UNION ALL, as that of a grouping set would (grouping.c):
 *
 *	 SELECT plan, dp_cdp.rest(), count(*) ... GROUP BY plan, dp_cdp.rest()
 *
 * reads
 *
 *	 SELECT r1.plan, false, r1.n FROM r1 UNION ALL SELECT NULL, true, r2.n FROM r2
 *
 * The rest has what the level reads: rows of declared keys' other values, and of groups below min_units, are in it.  So all rows
 * add up to those of the query without GROUP BY, but for what limits cut and for noise.  What HAVING leaves out was shown to
 * it, and is not in the rest.
 *
 * The setting is for tools that cannot write a function.  It adds the row where each row of a level becomes one of the
 * statement's: at the top, and in a subquery or WITH query that is all of a FROM without aggregates, or an operand of UNION ALL.
 * Anywhere else, in joins, IN or averages of groups, one row more of other meaning would make another answer.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/extension.h"
#include "base/settings.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(dp_rest);

/* rest() is false in plain SQL, which shows every group. */
Datum
dp_rest(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(false);
}

/* ------------------------------------------------------------------------
 * Calls
 * ------------------------------------------------------------------------
 */

static bool
is_rest(Node *node)
{
	return IsA(node, FuncExpr) && dp_own_c_function(((FuncExpr *) node)->funcid) == dp_rest;
}

/* A mark is the call with an argument, which nobody can write. */
bool
dp_is_rest_mark(Node *node)
{
	return is_rest(node) && ((FuncExpr *) node)->args != NIL;
}

static DpWalk
note_rest(Node *node, int levels, FuncExpr **found)
{
	if (is_rest(node))
		*found = (FuncExpr *) node;
	return is_rest(node);
}

/* Returns a call in an expression of a level, outside of its subqueries; NULL: there is none. */
static FuncExpr *
find_rest(Node *node)
{
	FuncExpr   *found = NULL;

	(void) dp_walk(node, note_rest, &found);
	return found;
}

typedef struct MarkContext
{
	DpSplitContext *cxt;
	bool		is_marked;
} MarkContext;

static Node *
put_mark(Node *node, int levels, MarkContext *c)
{
	DpSplitContext *cxt = c->cxt;

	if (is_rest(node))
	{
		FuncExpr   *mark = copyObject((FuncExpr *) node);

		mark->args = list_make1(makeBoolConst(true, false));
		c->is_marked = true;
		return (Node *) mark;
	}
	if (IsA(node, Aggref) && find_rest(node) != NULL)
		dp_refuse_at(find_rest(node)->location,
					 errmsg("dp_cdp.rest() tells of groups, and an aggregate is of rows; write it beside the aggregate"));
	return NULL;
}

/* Takes a mark out of GROUP BY; sets where it stands in lists of grouping sets, too. */
static List *
take_out_of_groups(DpSplitContext *cxt, Query *query)
{
	List	   *refs = NIL;
	List	   *clauses = NIL;

	foreach_ptr(SortGroupClause, clause, query->groupClause)
	{
		TargetEntry *tle = get_sortgroupclause_tle(clause, query->targetList);

		if (dp_is_rest_mark((Node *) tle->expr))
			refs = lappend_int(refs, tle->ressortgroupref);
		else if (find_rest((Node *) tle->expr) != NULL)
			dp_refuse_at(find_rest((Node *) tle->expr)->location,
						 errmsg("dp_cdp.rest() is a key by itself; GROUP BY it and the key, and use both in the select list: CASE WHEN dp_cdp.rest() THEN 'others' ELSE key END"));
		else
			clauses = lappend(clauses, clause);
	}
	query->groupClause = clauses;
	return refs;
}

List *
dp_take_rest_calls(DpSplitContext *cxt, Query *query, bool *is_marked)
{
	MarkContext c = {cxt};
	FuncExpr   *call = find_rest((Node *) query->jointree);

	if (call != NULL)
		dp_refuse_at(call->location,
					 errmsg("dp_cdp.rest() tells of groups, and WHERE is about rows; put it into GROUP BY, HAVING or the select list"));
	query->targetList = (List *) dp_put(query->targetList, put_mark, &c);
	query->havingQual = dp_put(query->havingQual, put_mark, &c);
	*is_marked = c.is_marked;
	return c.is_marked ? take_out_of_groups(cxt, query) : NIL;
}

Const *
dp_rest_key(Oid type, int32 typmod, Oid collation)
{
	const char *label = dp_guc_rest_label ? dp_guc_rest_label : "";
	bool		fits = typmod < (int32) VARHDRSZ || pg_mbstrlen(label) <= typmod - (int32) VARHDRSZ;

	if (*label == '\0' || (type != TEXTOID && type != VARCHAROID) || !fits)
		return makeNullConst(type, typmod, collation);
	return makeConst(type, typmod, collation, -1, CStringGetTextDatum(label), false, false);
}

static DpWalk
refuse_rest(Node *node, int levels, DpSplitContext *cxt)
{
	if (is_rest(node))
		dp_refuse_at(((FuncExpr *) node)->location,
					 errmsg("dp_cdp.rest() tells of groups, and the query around it makes none; write it into the query that makes them, and read its column"));
	return DP_WALK_ON;
}

void
dp_refuse_rest_calls(Query *query, DpSplitContext *cxt)
{
	(void) dp_walk_all(query, refuse_rest, cxt);
}

/* ------------------------------------------------------------------------
 * The setting
 * ------------------------------------------------------------------------
 */

/* Tells whether an entry of a query is the rows of another. */
static bool
is_entry_of(Query *around, RangeTblEntry *rte, Query *query)
{
	if (rte->rtekind == RTE_SUBQUERY)
		return rte->subquery == query;
	if (rte->rtekind != RTE_CTE || rte->ctelevelsup != 0)
		return false;
	foreach_ptr(CommonTableExpr, cte, around->cteList)
	{
		if (strcmp(cte->ctename, rte->ctename) == 0)
			return cte->ctequery == (Node *) query;
	}
	return false;
}

/* Tells whether each row of a query becomes one of the query around it, but for those that conditions and limits leave out. */
static bool
hands_on_rows(Query *around, Query *query)
{
	List	   *from = around->jointree->fromlist;

	if (around->setOperations != NULL)
	{
		foreach_ptr(RangeTblEntry, rte, dp_is_union_all(around->setOperations) ? around->rtable : NIL)
			if (is_entry_of(around, rte, query))
			return true;
		return false;
	}
	return (around->commandType == CMD_SELECT || around->commandType == CMD_INSERT) && !around->hasAggs &&
		around->groupClause == NIL && around->groupingSets == NIL && list_length(from) == 1 && IsA(linitial(from), RangeTblRef) &&
		is_entry_of(around, rt_fetch(((RangeTblRef *) linitial(from))->rtindex, around->rtable), query);
}

bool
dp_rest_is_wanted(const DpSplitContext *cxt)
{
	if (!dp_guc_rest || cxt->is_prefetch)
		return false;
	for (DpScope *scope = cxt->scope; scope->outer != NULL; scope = scope->outer)
		if (!hands_on_rows(scope->outer->query, scope->query))
			return false;
	return true;
}
