/*-------------------------------------------------------------------------
 *
 * never_null.c
 *	  Which expressions are not NULL in any row that satisfies the conditions
 *	  of the level, so that NULL is no group.
 *
 * Invariant: it follows from the query's text and from constraints, which a
 * plan depends on, and never from rows.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/describe/key_query.h"
#include "guard/read/read.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

bool
dp_expression_never_null(DpLevel *level, Node *expr)
{
	return dp_has_value(level->from.query, (Node *) level->conditions, expr);
}

/* Tells whether a column is not NULL in any row of the entry that it is of, or that satisfies the conditions. */
static bool
is_never_null(DpKeyQuery *s, Var *column)
{
	DpKeyQueryItem *item = dp_key_query_item(s, column->varno);
	Var		   *var = dp_key_query_level_var(s, column);

	foreach_ptr(const DpKeyQueryCondition, condition, s->conditions)
	{
		if (bms_is_empty(condition->joins) && dp_excludes_null(condition->expr, column))
			return true;
	}
	if (var != NULL && dp_is_never_null(s->level->from.query, (Node *) var))
		return true;
	foreach_ptr(RangeTblEntry, rte, item->rte ? item->query->rtable : NIL)
	{
		if (rte != item->rte)
			continue;
		var = copyObject(column);
		var->varno = foreach_current_index(rte) + 1;
		return dp_is_never_null(item->query, (Node *) var);
	}
	return false;
}

/* Puts constants, NULL where they may be, in the place of columns. */
static Node *
put_constant(Node *node, int levels, DpKeyQuery *s)
{
	Var		   *var = (Var *) node;
	Const	   *constant;

	if (!IsA(node, Var))
		return NULL;
	constant = makeNullConst(var->vartype, var->vartypmod, var->varcollid);
	constant->constisnull = !is_never_null(s, var);
	return (Node *) constant;
}

bool
dp_key_query_may_be_null(DpKeyQuery *s, Node *expr)
{
	/* nobody looks at values of constants there */
	return !dp_expression_never_null(s->level, dp_put(expr, put_constant, s));
}
