/*-------------------------------------------------------------------------
 *
 * correlations.c
 *	  Subqueries that are compared with the level around them, as groups that
 *	  are joined to it.
 *
 *	 (SELECT max(x) FROM r WHERE r.k = t.k AND r.x > 1)
 *	   t LEFT JOIN (SELECT k, ... FROM r WHERE r.x > 1 GROUP BY k) q ON q.k = t.k
 *
 * Invariants:
 * - A row of the level finds at most one row of the subquery, so that it is
 *	 neither lost nor repeated: all that is compared is what the subquery groups
 *	 by, by the equality, and in the collation, by which it groups.
 * - Conditions of the level alone become part of the join's, which may leave
 *	 out the match, but not the row.
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
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"

/* ------------------------------------------------------------------------
 * What is compared
 * ------------------------------------------------------------------------
 */

bool
dp_add_key(DpCorrelation *c, Node *equality, int place, Node *key)
{
	DpComparison compared;

	if (!dp_read_operator(equality, &compared) || !dp_compares_groups(&compared, key) || checkExprHasSubLink(key))
		return false;
	c->keys = lappend(c->keys, key);
	c->equalities = lappend(c->equalities, equality);
	c->places = lappend_int(c->places, place);
	return true;
}

/* Takes a condition that names columns of the level around the subquery out of it; false if that cannot be. */
static bool
take_condition(DpCorrelation *c, Node *condition)
{
	DpComparison compared;

	if (!contain_vars_of_level(condition, 0))
	{
		condition = copyObject(condition);
		IncrementVarSublevelsUp(condition, -1, 1);
		c->conditions = lappend(c->conditions, condition);
		return true;
	}
	for (int side = 0; side < 2 && dp_read_side(condition, side, &compared); side++)
	{
		Node	   *key = compared.left;
		Node	   *equality;

		if (contain_vars_of_level(key, 1) || contain_vars_of_level(compared.right, 0))
			continue;
		/* the key's place will be taken */
		equality = dp_with_operand(condition, side, (Node *) makeNullConst(exprType(key), -1, exprCollation(key)));
		IncrementVarSublevelsUp(equality, -1, 1);
		return dp_add_key(c, equality, side, key);
	}
	return false;
}

bool
dp_take_outward(Query *sub, List **conditions)
{
	List	   *own = NIL;

	foreach_ptr(Node, conjunct, dp_conjuncts(sub->jointree->quals))
	{
		if (!contain_vars_of_level(conjunct, 1))
			own = lappend(own, conjunct);
		else if (checkExprHasSubLink(conjunct))
			return false;
		else
			*conditions = lappend(*conditions, conjunct);
	}
	sub->jointree->quals = own ? (Node *) make_ands_explicit(own) : NULL;
	return true;
}

typedef struct OutwardContext
{
	DpShowColumn show;
	void	   *context;
} OutwardContext;

static Node *
put_outward(Node *node, int levels, const OutwardContext *c)
{
	Var		   *var = (Var *) node;

	if (!IsA(node, Var))
		return NULL;
	if (var->varlevelsup == 0)
		return c->show(node, c->context);
	var = copyObject(var);
	var->varlevelsup--;
	return (Node *) var;
}

Node *
dp_put_outward(Node *node, DpShowColumn show, void *context)
{
	OutwardContext c = {show, context};

	return dp_put(node, put_outward, &c);
}

bool
dp_take_conditions(DpCorrelation *c, Query *sub)
{
	Node	   *quals = sub->jointree->quals;
	List	   *conditions = NIL;

	if (!dp_take_outward(sub, &conditions))
		return false;
	foreach_ptr(Node, condition, conditions)
	{
		if (take_condition(c, condition))
			continue;
		sub->jointree->quals = quals;
		return false;
	}
	return true;
}

/* ------------------------------------------------------------------------
 * Groups, and the join
 * ------------------------------------------------------------------------
 */

void
dp_forget_order(Query *sub)
{
	sub->sortClause = NIL;
	sub->distinctClause = NIL;
	sub->hasDistinctOn = false;
	sub->limitCount = NULL;
}

void
dp_group_by_keys(Query *sub, const DpCorrelation *c, List *columns)
{
	dp_forget_order(sub);
	sub->targetList = NIL;
	foreach_ptr(Expr, item, c->keys)
		sub->groupClause = lappend(sub->groupClause, dp_group_clause(dp_show_column(sub, item, "key")));
	foreach_ptr(Expr, column, columns)
		(void) dp_show_column(sub, column, "value");
}

/* Returns what compares entry rti, of these keys, with the level around it. */
static List *
join_conditions(const DpCorrelation *c, Index rti, int first)
{
	List	   *conditions = list_copy(c->conditions);
	ListCell   *key,
			   *equality,
			   *place;

	forthree(key, c->keys, equality, c->equalities, place, c->places)
	{
		Var		   *column = dp_output_var(rti, first + foreach_current_index(key), lfirst(key));

		conditions = lappend(conditions, dp_with_operand(lfirst(equality), lfirst_int(place), (Node *) column));
	}
	return conditions;
}

int
dp_join_compared(Query *query, Index rti, int first, const DpCorrelation *c)
{
	Node	   *tree = (Node *) query->jointree;
	int			join = dp_left_join(&query->rtable, &tree, rti, join_conditions(c, rti, first));

	query->jointree = makeFromExpr(list_make1(tree), NULL);
	return join;
}

/* ------------------------------------------------------------------------
 * The value
 * ------------------------------------------------------------------------
 */

typedef struct ColumnContext
{
	const DpCorrelation *compared;
	List	   *columns;
	Index		rti;
	int			join;
	bool		released;
} ColumnContext;

/* Tells whether a node is what the subquery computes of all of its rows. */
static bool
is_column(Node *node)
{
	return (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == 0) ||
		(IsA(node, FuncExpr) && dp_find_error_function(((FuncExpr *) node)->funcid) != DP_ERROR_FUNCTION_NONE);
}

bool
dp_is_count(Node *column)
{
	const DpAggregate *aggregate = IsA(column, Aggref) ? dp_find_aggregate(((Aggref *) column)->aggfnoid, true) : NULL;

	return (aggregate != NULL && aggregate->answer == DP_ANSWER_SUM && aggregate->kind == DP_VALUE_COUNT) ||
		(IsA(column, Aggref) && ((Aggref *) column)->aggfnoid == F_REGR_COUNT);
}

/* Tells whether a column may be something else of no rows than 0, if it is a count, or NULL. */
static bool
may_have_value_of_no_rows(Node *column)
{
	Aggref	   *agg = (Aggref *) column;

	return IsA(column, Aggref) && dp_find_aggregate(agg->aggfnoid, true) == NULL &&
		(agg->aggfnoid >= FirstGenbkiObjectId || agg->aggkind == AGGKIND_HYPOTHETICAL);
}

/* Adds what is computed of all rows; stops if there may be no saying what that is of no rows. */
static DpWalk
note_column(Node *node, int levels, List **columns)
{
	if (!is_column(node))
		return DP_WALK_ON;
	*columns = list_append_unique(*columns, node);
	return may_have_value_of_no_rows(node) ? DP_WALK_STOP : DP_WALK_PAST;
}

bool
dp_compared_columns(Node *value, List **columns)
{
	*columns = NIL;
	if (checkExprHasSubLink(value) || contain_aggs_of_level(value, 1) || contain_windowfuncs(value))
		return false;
	return !dp_walk(value, note_column, columns);
}

/* Returns 0 where no row was found, NULL elsewhere: in a group that is there, a released count may be NULL (release/min_units.c). */
static Expr *
zero_of_no_rows(ColumnContext *c)
{
	Var		   *key = dp_output_var(c->rti, 1, linitial(c->compared->keys));

	dp_set_nulled_by(key, c->join);
	return dp_value_where(dp_is_null((Expr *) key), (Expr *) dp_int8_const(0));
}

/* Returns a column of the entry: of no rows, counts are 0 and other aggregates NULL. */
static Node *
column_value(ColumnContext *c, Node *column, int n)
{
	Var		   *var = dp_output_var(c->rti, list_length(c->compared->keys) + n + 1, column);

	dp_set_nulled_by(var, c->join);
	if (!dp_is_count(column))
		return (Node *) var;
	return (Node *) dp_make(CoalesceExpr, .coalescetype = INT8OID,
							.args = list_make2(var, c->released ? (Node *) zero_of_no_rows(c) : (Node *) dp_int8_const(0)),
							.location = exprLocation(column));
}

static Node *
put_value(Node *node, int levels, ColumnContext *c)
{
	Var		   *var = (Var *) node;
	int			number;

	if (IsA(node, Var) && var->varlevelsup > 0)
	{
		var = copyObject(var);
		var->varlevelsup--;
		return (Node *) var;
	}
	number = is_column(node) ? dp_position_of(c->columns, node) : -1;
	return number < 0 ? NULL : column_value(c, node, number);
}

Node *
dp_compared_value(Node *value, const DpCorrelation *compared, List *columns, Index rti, int join, bool released)
{
	ColumnContext c = {compared, columns, rti, join, released};

	return dp_put(value, put_value, &c);
}
