/*-------------------------------------------------------------------------
 *
 * membership.c
 *	  Tests of the inner query whether a row's key is one of the declared ones.
 *
 * Rows of other keys are left out before contributions are bounded, so that
 * they do not use up a unit's groups.  Where the rest of groups is asked for, rows of
 * groups that are shown are left out in the same way.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/extension.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* Finds a variable in conditions that are no joins of several entries. */
static DpWalk
restricts(Node *node, int levels, Node *var)
{
	DpComparison c;

	if (dp_read_operator(node, &c) && bms_membership(pull_varnos(NULL, node)) == BMS_MULTIPLE)
		return DP_WALK_PAST;
	return equal(node, var);
}

/* Tells whether conditions of the query restrict what the value is made of. */
static bool
is_restricted(Query *query, Expr *value)
{
	List	   *vars = pull_var_clause((Node *) value, 0);

	foreach_ptr(Node, var, vars)
		if (dp_walk(query->jointree, restricts, var))
		return true;
	return false;
}

/* Makes a test whether the value is in a list that is a parameter. */
static Expr *
make_set_membership(DpRelease *release, Expr *value, Const *list)
{
	Oid			args[] = {ANYELEMENTOID, dp_own_type("key_set")};
	int			param = dp_list_param(release, list_length(release->lists));

	release->lists = lappend(release->lists, list);
	return (Expr *) makeFuncExpr(dp_own_routine("is_declared", 2, args), BOOLOID,
								 list_make2(copyObject(value), dp_make_param(param, args[1])),
								 InvalidOid, list->constcollid, COERCE_EXPLICIT_CALL);
}

Expr *
dp_make_rest_test(DpRelease *release, const DpInnerParts *parts)
{
	Oid			any[] = {ANYOID};
	Oid			type = dp_own_type("key_set");
	List	   *args = NIL;
	ListCell   *value,
			   *lc;

	if (parts->rest == NIL)
		return NULL;
	release->rest_lists = list_length(release->lists);
	forboth(value, parts->rest, lc, parts->rest_keys)
	{
		const DpReleaseKey *key = lfirst(lc);
		int			param = dp_list_param(release, list_length(release->lists));

		/* in its place the node puts what is shown */
		release->lists = lappend(release->lists, makeConst(get_array_type(key->type), -1, key->collation, -1,
														   PointerGetDatum(construct_empty_array(key->type)), false, false));
		args = lappend(lappend(args, copyObject(lfirst(value))), dp_make_param(param, type));
	}
	return makeBoolExpr(NOT_EXPR, list_make1(dp_call(dp_own_routine("is_shown", 1, any), BOOLOID, args)), -1);
}

static Expr *
make_list_membership(Expr *value, Const *list)
{
	TypeCacheEntry *type = lookup_type_cache(get_element_type(list->consttype), TYPECACHE_EQ_OPR);

	/* varchar's equality is text's */
	return (Expr *) dp_make_array_comparison(type->eq_opr, true, copyObject(value), (Expr *) copyObject(list), list->constcollid);
}

Expr *
dp_make_membership(DpRelease *release, Query *query, Expr *value, Const *list, bool null_listed)
{
	Expr	   *in;

	/* false, true and NULL: no row has another value */
	if (list->consttype == BOOLARRAYOID && null_listed && dp_list_size(list) == 2)
		return NULL;

	/*
	 * the planner would take a list beside such conditions for one more of
	 * them, and expect next to no rows; other servers have no parameters
	 */
	in = dp_list_size(list) > DP_LISTED_KEYS || (is_restricted(query, value) && !dp_reads_distributed(query))
		? make_set_membership(release, value, list) : make_list_membership(value, list);
	if (!null_listed)
		return in;
	return makeBoolExpr(OR_EXPR, list_make2(in, dp_is_null(copyObject(value))), -1);
}
