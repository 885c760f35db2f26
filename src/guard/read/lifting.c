/*-------------------------------------------------------------------------
 *
 * lifting.c
 *	  Subqueries that make something of the rows that they compare, written as
 *	  ones that make the same of all rows and are compared then.
 *
 *	 (SELECT g FROM r WHERE r.k = t.k GROUP BY g HAVING count(*) > 2)
 *	   (SELECT g FROM (SELECT g, k FROM r GROUP BY g, k HAVING count(*) > 2) q WHERE q.k = t.k)
 *	 (SELECT x FROM r WHERE r.k = t.k ORDER BY y LIMIT 1)
 *	   (SELECT x FROM (SELECT DISTINCT ON (k) x, k FROM r ORDER BY k, y) q WHERE q.k = t.k)
 *	 (SELECT x FROM r WHERE r.k = t.k ORDER BY y LIMIT 3 OFFSET 1)
 *	   (SELECT x FROM (SELECT x, k, row_number() OVER (PARTITION BY k ORDER BY y) AS n FROM r) q
 *		WHERE n > 1 AND n <= 4 AND q.k = t.k)
 *
 * Invariants:
 * - What is compared is what is grouped by, in addition, by the same equality
 *	 (correlations.c), so that the rows which a row of the level is compared with
 *	 are whole groups.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_clause.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"

/* ------------------------------------------------------------------------
 * Groups and first rows
 * ------------------------------------------------------------------------
 */

/* Makes a clause for a target that may have one already. */
static SortGroupClause *
clause_for(TargetEntry *tle, List *targets)
{
	(void) assignSortGroupRef(tle, targets);
	return dp_clause_of(tle, false);
}

/* Lets a subquery show the keys, too; returns their targets. */
static List *
show_keys(Query *sub, List *keys)
{
	List	   *added = NIL;

	foreach_ptr(Expr, item, keys)
		added = lappend(added, dp_show_column(sub, item, "key"));
	return added;
}

/* Makes a subquery, in place, one of DISTINCT ON keys, which are some of its targets. */
static void
take_first(Query *sub, List *added)
{
	List	   *order = NIL;

	foreach_ptr(TargetEntry, item, added)
		order = lappend(order, clause_for(item, sub->targetList));
	sub->distinctClause = copyObject(order);
	sub->hasDistinctOn = true;
	foreach_ptr(SortGroupClause, clause, sub->sortClause)
	{
		bool		found = false;

		foreach_node(SortGroupClause, key, order)
			found |= key->tleSortGroupRef == clause->tleSortGroupRef;
		if (!found)
			order = lappend(order, clause);
	}
	sub->sortClause = order;
}

/* Makes a subquery, in place, a level that reads what it was and shows the same columns. */
static void
read_from_below(Query *sub)
{
	Query	   *below = makeNode(Query);
	Query	   *query;

	memcpy(below, sub, sizeof(Query));
	IncrementVarSublevelsUp((Node *) below, 1, 1);
	query = dp_select_from(dp_subquery_entry(below, dp_first_name(below)));
	foreach_ptr(TargetEntry, tle, below->targetList)
	{
		if (!tle->resjunk)
			query->targetList = lappend(query->targetList,
										makeTargetEntry((Expr *) dp_output_var(1, tle->resno, (Node *) tle->expr),
														tle->resno, tle->resname, false));
	}
	memcpy(sub, query, sizeof(Query));
}

/* Adds the condition that one number of rows is below another. */
static void
compare_numbers(Query *query, Expr *less, Expr *more)
{
	Expr	   *condition = (Expr *) dp_make_comparison(Int8LessOperator, less, more, InvalidOid);

	dp_add_conjunct(query, (Node *) condition);
}

/* Lets a subquery number its rows within keys, which are some of its targets, and leave those that are taken. */
static void
take_by_number(Query *sub, List *added, const DpTaken *taken)
{
	WindowClause *window = makeNode(WindowClause);
	Expr	   *column;
	WindowFunc *number = dp_make(WindowFunc, .winfnoid = F_ROW_NUMBER, .wintype = INT8OID);

	number->winref = window->winref = 1;
	/* nobody wrote it, which messages ask (windows.c) */
	number->location = -1;
	window->frameOptions = FRAMEOPTION_DEFAULTS;
	foreach_ptr(TargetEntry, item, added)
		window->partitionClause = lappend(window->partitionClause, clause_for(item, sub->targetList));
	window->orderClause = sub->sortClause;
	sub->sortClause = NIL;
	sub->windowClause = list_make1(window);
	sub->hasWindowFuncs = true;
	(void) dp_show_column(sub, (Expr *) number, "row_number");
	read_from_below(sub);
	/* the number is no column of the level */
	column = ((TargetEntry *) llast(sub->targetList))->expr;
	sub->targetList = list_delete_last(sub->targetList);
	if (taken->skipped > 0)
		compare_numbers(sub, (Expr *) dp_int8_const(taken->skipped), copyObject(column));
	if (taken->count < PG_INT64_MAX - taken->skipped)
		compare_numbers(sub, copyObject(column), (Expr *) dp_int8_const(taken->skipped + taken->count + 1));
}

List *
dp_first_of_keys(Query *sub, List *keys, const DpTaken *taken)
{
	List	   *added = show_keys(sub, keys);

	sub->limitCount = sub->limitOffset = NULL;
	if (taken->skipped == 0 && taken->count == 1)
	{
		take_first(sub, added);
		return added;
	}
	take_by_number(sub, added, taken);
	return list_copy_tail(sub->targetList, list_length(sub->targetList) - list_length(keys));
}

/* Lets a subquery group by keys, too; returns their targets. */
static List *
group_by_more(Query *sub, List *keys)
{
	List	   *added = show_keys(sub, keys);

	foreach_ptr(TargetEntry, item, added)
	{
		SortGroupClause *clause = clause_for(item, sub->targetList);

		if (sub->groupClause)
			sub->groupClause = lappend(sub->groupClause, clause);
		else
			sub->distinctClause = lappend(sub->distinctClause, clause);
	}
	sub->sortClause = NIL;
	return added;
}

Query *
dp_lifted(Query *sub, DpScope *scope, const DpSource *s)
{
	int			nshown = count_nonjunk_tlist_entries(sub->targetList);
	DpCorrelation c = {0};
	List	   *added;
	List	   *shown;
	ListCell   *lc,
			   *equality,
			   *place;

	if (contain_vars_of_level((Node *) sub, 1))
	{
		DpTaken		taken;
		bool		first = dp_takes_first(sub, &taken);

		if (!first && !dp_groups_rows(sub))
			return NULL;
		dp_bring_near(sub);
		if (!dp_take_all_conditions(&c, sub, scope, s) || c.keys == NIL || contain_vars_of_level((Node *) sub, 1))
			return NULL;
		added = first ? dp_first_of_keys(sub, c.keys, &taken) : group_by_more(sub, c.keys);
	}
	else
		added = NIL;

	read_from_below(sub);
	shown = sub->targetList;
	sub->targetList = list_copy_head(shown, nshown);
	/* what is compared is of the level around */
	foreach_ptr(Node, condition, c.conditions)
	{
		IncrementVarSublevelsUp(condition, 1, 0);
		dp_add_conjunct(sub, condition);
	}
	forthree(lc, added, equality, c.equalities, place, c.places)
	{
		TargetEntry *key = list_nth(shown, lfirst_node(TargetEntry, lc)->resno - 1);

		IncrementVarSublevelsUp(lfirst(equality), 1, 0);
		dp_add_conjunct(sub, dp_with_operand(lfirst(equality), lfirst_int(place), (Node *) key->expr));
	}
	return sub;
}
