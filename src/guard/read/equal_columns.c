/*-------------------------------------------------------------------------
 *
 * equal_columns.c
 *	  Columns that the conditions of a query make equal to others.
 *
 * Invariant: in each row of the query's join tree a column that is returned
 * has the value of one that was given, by an equality that tells values apart
 * as GROUP BY does, and neither is NULL.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/collations.h"
#include "base/compat.h"
#include "guard/read/read.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"

/* Returns the column that a column of a join, or of a level's group keys, stands for; NULL where expr is no column of the query. */
static Var *
column_of(Query *query, Node *expr)
{
	while (expr != NULL)
	{
		Var		   *var = (Var *) dp_strip_relabel(expr);
		RangeTblEntry *rte;

		if (!IsA(var, Var) || var->varlevelsup != 0 || var->varattno <= 0 || var->varno > list_length(query->rtable))
			return NULL;
		rte = rt_fetch(var->varno, query->rtable);
		if (rte->rtekind == RTE_JOIN)
			expr = list_nth(rte->joinaliasvars, var->varattno - 1);
		else if (dp_group_expression(rte, var) != NULL)
			expr = dp_group_expression(rte, var);
		else
			return var;
	}
	return NULL;
}

/* Fills both with the columns of which a condition says that they are equal; returns false where it says anything else. */
static bool
equal_pair(Query *query, Node *condition, Var **both)
{
	Oid			opno;
	List	   *args = dp_equality_args(condition, false, &opno);

	if (args == NIL || !dp_is_deterministic(exprInputCollation(condition)))
		return false;
	for (int i = 0; i < 2; i++)
	{
		both[i] = column_of(query, list_nth(args, i));
		if (both[i] == NULL || !dp_is_equality_of(opno, (Node *) both[i]) || !dp_is_deterministic(both[i]->varcollid))
			return false;
	}
	return true;
}

List *
dp_equal_columns(Query *query, List *conditions, List *columns)
{
	List	   *result = NIL;
	bool		more = true;

	foreach_ptr(Node, column, columns)
	{
		Var		   *var = column_of(query, column);

		if (var != NULL && dp_is_deterministic(var->varcollid))
			result = lappend(result, var);
	}
	while (more)
	{
		more = false;
		foreach_ptr(Node, condition, conditions)
		{
			Var		   *both[2];

			if (!equal_pair(query, condition, both))
				continue;
			for (int i = 0; i < 2; i++)
			{
				if (!dp_names_column(result, (Node *) both[i]) || dp_names_column(result, (Node *) both[1 - i]))
					continue;
				result = lappend(result, both[1 - i]);
				more = true;
			}
		}
	}
	return result;
}
