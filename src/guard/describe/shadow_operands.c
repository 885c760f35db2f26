/*-------------------------------------------------------------------------
 *
 * shadow_operands.c
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
#include "guard/describe/shadow.h"
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
dp_shadow_operands(Query *query)
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

/* Returns a tree of UNION ALL over the first n entries. */
static Node *
union_of(List *keys, int n)
{
	SetOperationStmt *op;
	RangeTblRef *ref = dp_make(RangeTblRef, .rtindex = n);

	if (n == 1)
		return (Node *) ref;
	op = dp_make(SetOperationStmt, .op = SETOP_UNION, .all = true, .larg = union_of(keys, n - 1),
				 .rarg = (Node *) ref);
	foreach_node(TargetEntry, tle, keys)
	{
		Node	   *key = (Node *) tle->expr;

		op->colTypes = lappend_oid(op->colTypes, exprType(key));
		op->colTypmods = lappend_int(op->colTypmods, -1);
		op->colCollations = lappend_oid(op->colCollations, exprCollation(key));
	}
	return (Node *) op;
}

/* Returns what is read of the columns of an entry. */
static List *
read_columns(List *keys, Index rti)
{
	List	   *exprs = NIL;

	foreach_ptr(TargetEntry, key, keys)
	{
		Var		   *var = dp_output_var(rti, key->resno, (Node *) key->expr);

		var->vartypmod = -1;
		exprs = lappend(exprs, var);
	}
	return exprs;
}

Query *
dp_shadow_union(List *queries)
{
	List	   *keys = linitial_node(Query, queries)->targetList;
	Query	   *all = dp_new_select();
	Query	   *distinct = dp_new_select();

	foreach_ptr(Query, query, queries)
		all->rtable = lappend(all->rtable, dp_subquery_entry(query, "operand"));
	all->jointree = makeFromExpr(NIL, NULL);
	all->setOperations = union_of(keys, list_length(queries));
	foreach_ptr(Expr, column, read_columns(keys, 1))
		all->targetList = lappend(all->targetList, makeTargetEntry(column, list_length(all->targetList) + 1,
																   psprintf("k%d", list_length(all->targetList) + 1), false));
	distinct->rtable = list_make1(dp_subquery_entry(all, "tuples"));
	distinct->jointree = makeFromExpr(list_make1(dp_make(RangeTblRef, .rtindex = 1)), NULL);
	dp_shadow_show_keys(distinct, read_columns(keys, 1));
	return distinct;
}
