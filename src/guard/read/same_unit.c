/*-------------------------------------------------------------------------
 *
 * same_unit.c
 *	  Whether conditions make two sets of rows the same privacy unit's, and which
 *	  columns they make equal to others.
 *
 * Rows are known to be one unit's by their units being equal, or by both
 * leading to one row of a protected table (a token): the key that they equal
 * is unique there, so that equal tokens are one row, which has one unit.  All
 * tokens of a row lead to the same unit, or all to nobody: a foreign key that
 * is NULL, and one whose row is missing, are nobody's whichever way they are
 * asked; but one whose row is missing, which foreign keys exclude, is whom it
 * names where it names the unit (parents.c).  A key of the row's own table is a token only where it is never NULL.
 *
 * Invariants:
 * - What is said to be of one unit is so for any content of the tables, by an
 *	 equality that tells units apart as GROUP BY does.
 * - What an outer join may have replaced by NULLs names no unit; it connects
 *	 by equalities alone, which no NULL satisfies.
 * - What is not understood connects nothing.
 * - In each row of the query's join tree a column that is said to equal another
 *	 has its value, by an equality that tells values apart as GROUP BY does, and
 *	 neither is NULL.
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
#include "policy/unit_types.h"

/* ------------------------------------------------------------------------
 * Columns that are equal
 * ------------------------------------------------------------------------
 */

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
	DpComparison c;

	if (!dp_read_operator(condition, &c) || !dp_is_deterministic(c.collation))
		return false;
	both[0] = column_of(query, c.left);
	both[1] = column_of(query, c.right);
	for (int i = 0; i < 2; i++)
		if (both[i] == NULL || !dp_groups_by(c.opno, (Node *) both[i]) || !dp_is_deterministic(both[i]->varcollid))
			return false;
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

/* Tells whether condition is an equality, in the sense of GROUP BY, of one Var of these with one of those; or_null: or both are NULL. */
static bool
equates(Node *condition, List *these, List *those, bool or_null)
{
	bool		negates = or_null && is_notclause(condition);
	DpComparison c;
	Node	   *left,
			   *right;

	if (!dp_read_comparison(negates ? (Node *) get_notclausearg(condition) : condition, &c) || c.is_array || c.is_distinct != negates)
		return false;
	left = dp_strip_relabel(c.left);
	right = dp_strip_relabel(c.right);
	if (!dp_groups_by(c.opno, left) || !dp_groups_by(c.opno, right))
		return false;
	return (dp_names_column(these, left) && dp_names_column(those, right)) ||
		(dp_names_column(these, right) && dp_names_column(those, left));
}

static bool
any_equates(List *conditions, List *these, List *those, bool or_null)
{
	foreach_ptr(Node, condition, conditions)
	{
		if (equates(condition, these, those, or_null))
			return true;
	}
	return false;
}

/* Tells whether two tokens lead to the same row. */
static bool
same_token(List *conditions, const DpToken *a, const DpToken *b, bool or_null)
{
	ListCell   *these,
			   *those;

	if (a->parent != b->parent || !equal(a->key, b->key))
		return false;
	if (!OidIsValid(a->parent))
		return any_equates(conditions, a->vars, b->vars, or_null);
	forboth(these, a->vars, those, b->vars)
	{
		if (!any_equates(conditions, list_make1(lfirst(these)), list_make1(lfirst(those)), or_null))
			return false;
	}
	return true;
}

static bool
any_same_token(List *conditions, List *these, List *those, bool or_null, List **unique_keys)
{
	foreach_ptr(DpToken, item, these)
		foreach_ptr(DpToken, right, those)
	{
		DpToken    *left = item;

		if (!same_token(conditions, left, right, or_null))
			continue;
		if (OidIsValid(left->parent))
		{
			*unique_keys = list_append_unique_oid(*unique_keys, left->index);
			*unique_keys = list_append_unique_oid(*unique_keys, right->index);
		}
		return true;
	}
	return false;
}

List *
dp_unit_names(const DpRowUnit *unit)
{
	DpToken    *vars;

	if (unit->vars == NIL)
		return unit->tokens;
	vars = palloc0(sizeof(DpToken));
	vars->vars = unit->vars;
	return lcons(vars, list_copy(unit->tokens));
}

bool
dp_same_row(List *conditions, const DpToken *token, List *others)
{
	foreach_ptr(const DpToken, other, others)
	{
		if (OidIsValid(token->parent) && same_token(conditions, token, other, false))
			return true;
	}
	return false;
}

bool
dp_same_unit(List *conditions, const DpRowUnit *a, const DpRowUnit *b, List **unique_keys)
{
	List	   *these = dp_unit_names(a);
	List	   *those = dp_unit_names(b);

	return any_same_token(conditions, these, those, true, unique_keys) ||
		any_same_token(conditions, a->or_null, those, false, unique_keys) ||
		any_same_token(conditions, these, b->or_null, false, unique_keys) ||
		any_same_token(conditions, a->or_null, b->or_null, false, unique_keys);
}

bool
dp_names_unit(const DpRowUnit *unit, List *columns, List **unique_keys)
{
	foreach_ptr(Node, column, columns)
	{
		if (dp_names_column(unit->vars, column))
			return true;
	}
	foreach_ptr(DpToken, token, unit->tokens)
	{
		if (!dp_columns_among(token->vars, columns))
			continue;
		*unique_keys = list_append_unique_oid(*unique_keys, token->index);
		return true;
	}
	return false;
}
