/*-------------------------------------------------------------------------
 *
 * key_tests.c
 *	  Conditions that look at nothing but the keys of a level.
 *
 * They leave out whole groups: what rows the others have does not depend on them.
 *
 * Invariants:
 * - A condition is one only if it has one value for all rows of a group: it reads
 *	 nothing but keys, constants and parameters of the statement, has no
 *	 volatile function, and does not tell apart keys that are equal but written
 *	 differently.
 * - What has one value for a group is tested in the form in which it runs on rows.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "guard/describe/describe.h"
#include "guard/describe/forms.h"
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

/* Tells whether a node is anything but constants and the statement's parameters, and what is made of these. */
static DpWalk
is_more(Node *node, int levels, void *context)
{
	switch (nodeTag(node))
	{
		case T_Param:
			return ((Param *) node)->paramkind != PARAM_EXTERN;
		case T_Var:
		case T_SubLink:
		case T_Aggref:
		case T_WindowFunc:
		case T_GroupingFunc:
		case T_CurrentOfExpr:
			return DP_WALK_STOP;
		default:
			return DP_WALK_ON;
	}
}

/* Returns NULLs of the types of keys. */
static List *
nulls_of(List *keys)
{
	List	   *nulls = NIL;

	foreach_ptr(Node, key, keys)
		nulls = lappend(nulls, makeNullConst(exprType(key), exprTypmod(key), exprCollation(key)));
	return nulls;
}

/* Returns parameters that stand for keys, numbered from first. */
static List *
params_of(List *keys, int first)
{
	List	   *params = NIL;

	foreach_ptr(Node, key, keys)
	{
		Param	   *param = dp_make(Param, .paramkind = PARAM_EXTERN, .paramid = first + foreach_current_index(key),
									.paramtype = exprType(key), .paramtypmod = exprTypmod(key),
									.paramcollid = exprCollation(key), .location = -1);

		params = lappend(params, param);
	}
	return params;
}

/* Tells whether a condition may differ between rows with one key, alone for how that is written. */
static bool
sees_forms(Node *condition, List *keys)
{
	foreach_ptr(Node, key, keys)
	{
		Node	   *null = (Node *) makeNullConst(exprType(key), exprTypmod(key), exprCollation(key));
		List	   *places = nulls_of(keys);
		Bitmapset  *found = NULL;
		Node	   *test;

		lfirst(list_nth_cell(places, foreach_current_index(key))) = linitial(params_of(list_make1(key), 1));
		test = dp_put_equal(condition, keys, places, &found);
		if (bms_is_member(foreach_current_index(key), found) &&
			dp_sees_form(test, exprType(key), IsA(dp_canonical_key(null), FuncExpr)))
			return true;
	}
	return false;
}

/* Returns the test that a condition is of keys, over params in their places; NULL: it is about more. */
static Node *
test_of(DpLevel *level, Node *condition, List *keys, List *params)
{
	Bitmapset  *found = NULL;
	Node	   *rest = dp_put_equal(condition, keys, nulls_of(keys), &found);

	if (bms_is_empty(found) || dp_walk(rest, is_more, NULL) || contain_volatile_functions(rest) ||
		expression_returns_set(rest) || sees_forms(condition, keys))
		return NULL;
	return dp_make_safe(dp_put_equal(condition, keys, params, NULL), &level->allow);
}

/* Returns the keys of a query in the order in which those of a release are, NIL: one has no value by which it could be tested. */
static List *
keys_of(DpLevel *level, Query *query)
{
	List	   *keys = NIL;
	ListCell   *lc,
			   *key;

	foreach_ptr(SortGroupClause, clause, query->groupClause)
		keys = list_append_unique(keys, get_sortgroupclause_expr(clause, query->targetList));
	if (list_length(keys) != list_length(level->release->keys))
		return NIL;
	forboth(lc, keys, key, level->release->keys)
	{
		if (exprType(lfirst(lc)) != ((DpReleaseKey *) lfirst(key))->type || !dp_is_unfoldable(lfirst(lc), NULL))
			return NIL;
	}
	return keys;
}

List *
dp_take_key_tests(DpLevel *level, Query *query)
{
	List	   *keys = keys_of(level, query);
	List	   *params = params_of(keys, level->release->first_param);
	List	   *tests = NIL;
	List	   *others = NIL;

	foreach_ptr(Node, item, keys != NIL ? dp_conjuncts(query->jointree->quals) : NIL)
	{
		Node	   *test = test_of(level, item, keys, params);

		if (test != NULL)
			tests = lappend(tests, test);
		else
			others = lappend(others, item);
	}
	if (tests != NIL)
		query->jointree->quals = (Node *) (others ? make_ands_explicit(others) : NULL);
	return tests;
}
