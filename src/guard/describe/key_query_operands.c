/*-------------------------------------------------------------------------
 *
 * key_query_operands.c
 *	  Levels over a UNION ALL, as one level for each of its operands.
 *
 *	   FROM (SELECT unit, 'new' AS k FROM orders WHERE n = 1
 *			 UNION ALL SELECT unit, 'old' FROM orders WHERE n > 1) q
 *
 * A row comes from one operand, whose conditions hold for it, and whose columns
 * its keys are made of.  So the tuples of keys are those of the level over the
 * one, and those of the level over the other.
 *
 * Invariant: each row that the level can have is one of a level here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "guard/describe/key_query.h"
#include "guard/level.h"
#include "guard/read/read.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"

/* more levels take longer than what they leave out is worth */
#define MOST_LEVELS 16

/* Returns an entry of a query, or of a subquery in it, that is a UNION ALL; NULL: there is none. */
static RangeTblEntry *
find_union(Query *query)
{
	check_stack_depth();
	foreach_ptr(RangeTblEntry, rte, query->rtable)
	{
		if (rte->rtekind != RTE_SUBQUERY)
			continue;
		if (rte->subquery->setOperations != NULL)
			return rte;
		rte = find_union(rte->subquery);
		if (rte != NULL)
			return rte;
	}
	return NULL;
}

List *
dp_key_query_operands(Query *query)
{
	List	   *waiting = list_make1(query);
	List	   *found = NIL;

	while (waiting != NIL)
	{
		Query	   *next = linitial(waiting);
		RangeTblEntry *rte = find_union(next);
		int			n = rte ? list_length(dp_operands(rte->subquery)) : 0;

		waiting = list_delete_first(waiting);
		if (rte == NULL)
			found = lappend(found, next);
		if (list_length(waiting) + list_length(found) + n > MOST_LEVELS)
			return NIL;
		for (int i = 0; i < n; i++)
		{
			Query	   *copy = copyObject(next);
			Query	   *all;

			rte = find_union(copy);
			all = rte->subquery;
			rte->subquery = rt_fetch(list_nth_int(dp_operands(all), i), all->rtable)->subquery;
			waiting = lappend(waiting, copy);
		}
	}
	return list_length(found) > 1 ? found : NIL;
}

Query *
dp_key_query_union(List *queries)
{
	Query	   *distinct = dp_select_from(dp_subquery_entry(dp_union_all(queries, "operand"), "tuples"));
	List	   *columns = NIL;

	foreach_node(TargetEntry, tle, linitial_node(RangeTblEntry, distinct->rtable)->subquery->targetList)
		columns = lappend(columns, dp_output_var(1, tle->resno, (Node *) tle->expr));
	dp_key_query_show_keys(distinct, columns);
	return distinct;
}
