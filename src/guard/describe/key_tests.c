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

#include "guard/describe/describe.h"
#include "guard/describe/key_values.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

/* what stands in a condition in the place of keys */
typedef struct Places
{
	List	   *keys;			/* Nodes, as the query has them */
	List	   *by;				/* Nodes, instead of them */
	Bitmapset  *found;			/* which of them the condition reads */
} Places;

static Node *
put_in_place(Node *node, Places *places)
{
	ListCell   *key,
			   *by;

	if (node == NULL)
		return NULL;
	forboth(key, places->keys, by, places->by)
	{
		if (!equal(node, lfirst(key)))
			continue;
		places->found = bms_add_member(places->found, foreach_current_index(key));
		return copyObject(lfirst(by));
	}
	return expression_tree_mutator(node, put_in_place, places);
}

/* Tells whether an expression reads anything but constants and the statement's parameters. */
static bool
reads_more(Node *node, void *context)
{
	if (node == NULL)
		return false;
	check_stack_depth();
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
			return true;
		default:
			return expression_tree_walker(node, reads_more, context);
	}
}

/* Returns NULLs of the types of keys. */
static List *
nulls_of(List *keys)
{
	List	   *nulls = NIL;
	ListCell   *lc;

	foreach(lc, keys)
		nulls = lappend(nulls, makeNullConst(exprType(lfirst(lc)), exprTypmod(lfirst(lc)), exprCollation(lfirst(lc))));
	return nulls;
}

/* Returns parameters that stand for keys, numbered from first. */
static List *
params_of(List *keys, int first)
{
	List	   *params = NIL;
	ListCell   *lc;

	foreach(lc, keys)
	{
		Param	   *param = makeNode(Param);

		param->paramkind = PARAM_EXTERN;
		param->paramid = first + foreach_current_index(lc);
		param->paramtype = exprType(lfirst(lc));
		param->paramtypmod = exprTypmod(lfirst(lc));
		param->paramcollid = exprCollation(lfirst(lc));
		param->location = -1;
		params = lappend(params, param);
	}
	return params;
}

/* Tells whether a condition may differ between rows with one key, alone for how that is written. */
static bool
sees_forms(Node *condition, List *keys)
{
	ListCell   *lc;

	foreach(lc, keys)
	{
		Node	   *key = lfirst(lc);
		Node	   *null = (Node *) makeNullConst(exprType(key), exprTypmod(key), exprCollation(key));
		Places		places = {.keys = keys, .by = nulls_of(keys)};
		Node	   *test;

		list_nth_cell(places.by, foreach_current_index(lc))->ptr_value = linitial(params_of(list_make1(key), 1));
		test = put_in_place(condition, &places);
		if (bms_is_member(foreach_current_index(lc), places.found) &&
			dp_sees_form(test, exprType(key), IsA(dp_canonical_key(null), FuncExpr)))
			return true;
	}
	return false;
}

/* Returns the test that a condition is of keys, over params in their places; NULL: it is about more. */
static Node *
test_of(DpLevel *level, Node *condition, List *keys, List *params)
{
	Places		with_nulls = {.keys = keys, .by = nulls_of(keys)};
	Places		with_params = {.keys = keys, .by = params};
	Node	   *rest = put_in_place(condition, &with_nulls);

	if (bms_is_empty(with_nulls.found) || reads_more(rest, NULL) || contain_volatile_functions(rest) ||
		expression_returns_set(rest) || sees_forms(condition, keys))
		return NULL;
	return dp_make_safe(put_in_place(condition, &with_params), &level->allow);
}

/* Returns the keys of a query in the order in which those of a release are, NIL: one has no value by which it could be tested. */
static List *
keys_of(DpLevel *level, Query *query)
{
	List	   *keys = NIL;
	ListCell   *lc,
			   *key;

	foreach(lc, query->groupClause)
		keys = list_append_unique(keys, get_sortgroupclause_expr(lfirst(lc), query->targetList));
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
	ListCell   *lc;

	foreach(lc, keys != NIL ? dp_conjuncts(query->jointree->quals) : NIL)
	{
		Node	   *test = test_of(level, lfirst(lc), keys, params);

		if (test != NULL)
			tests = lappend(tests, test);
		else
			others = lappend(others, lfirst(lc));
	}
	if (tests != NIL)
		query->jointree->quals = (Node *) (others ? make_ands_explicit(others) : NULL);
	return tests;
}
