/*-------------------------------------------------------------------------
 *
 * grouping.c
 *	  GROUPING SETS, ROLLUP and CUBE; and columns that are grouped by without being named.
 *
 * A unit contributes to every set, so that each set is a release of its own,
 * with its own price.  The released rows of all sets are put together by
 * UNION ALL, keys that a set does not have as NULL:
 *
 *	 SELECT ward, sex, dp_count(*), GROUPING(ward) ... GROUP BY CUBE (ward, sex)
 *
 * reads
 *
 *	 SELECT r1.ward, r1.sex, r1.n, 0 FROM r1 UNION ALL
 *	 SELECT r2.ward, NULL, r2.n, 0 FROM r2 UNION ALL ...
 *
 * The rest of what a set does not show (rest.c) is one release more, whose row follows those of the set.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_agg.h"
#include "parser/parsetree.h"
#include "policy/unit_types.h"
#include "utils/typcache.h"

/* ------------------------------------------------------------------------
 * Columns that a primary key determines
 * ------------------------------------------------------------------------
 */

typedef struct DeterminedColumns
{
	Query	   *query;
	List	   *vars;
} DeterminedColumns;

static DpWalk
note_determined(Node *node, int levels, DeterminedColumns *c)
{
	Var		   *var;
	RangeTblEntry *rte;

	if (IsA(node, Aggref) && (int) ((Aggref *) node)->agglevelsup == levels)
		return DP_WALK_PAST;
	if (!IsA(node, Var) || (int) ((Var *) node)->varlevelsup != levels)
		return DP_WALK_ON;
	var = copyObject((Var *) node);
	var->varlevelsup = 0;
	rte = rt_fetch(var->varno, c->query->rtable);
	if (rte->rtekind == RTE_RELATION && !dp_is_protected(rte) && OidIsValid(lookup_type_cache(var->vartype, TYPECACHE_LT_OPR)->lt_opr))
		c->vars = list_append_unique(c->vars, var);
	return DP_WALK_ON;
}

void
dp_group_by_determined(Query *query)
{
	DeterminedColumns c = {query};
	List	   *keys;

	/*
	 * whoever groups by a primary key may show the row's other columns: a
	 * plan notices when it is no longer one
	 */
	if (query->constraintDeps == NIL || query->groupClause == NIL || query->groupingSets != NIL)
		return;
	keys = get_sortgrouplist_exprs(query->groupClause, query->targetList);
	dp_walk_all(query->targetList, note_determined, &c);
	dp_walk_all(query->havingQual, note_determined, &c);
	foreach_ptr(Var, var, c.vars)
	{
		if (!list_member(keys, var))
			query->groupClause = dp_sort_by(query->groupClause, &query->targetList, (Expr *) var);
	}
}

/* ------------------------------------------------------------------------
 * Sets
 * ------------------------------------------------------------------------
 */

/* each is a pass over the data and has its price */
#define DP_MAX_GROUPING_SETS 64

/* Tells whether every set has both keys or neither. */
static bool
always_together(List *sets, Index one, Index other)
{
	foreach_ptr(const List, set, sets)
	{
		if (list_member_int(set, one) != list_member_int(set, other))
			return false;
	}
	return true;
}

/*
 * Refuses two keys that have become the same expression, which the rows of a
 * set with one of them could not tell apart.  PostgreSQL keeps them apart:
 * the other is NULL.
 */
static void
refuse_same_keys(DpSplitContext *cxt, Query *query, List *sets)
{
	foreach_ptr(SortGroupClause, key, query->groupClause)
	{
		TargetEntry *tle = get_sortgroupclause_tle(key, query->targetList);

		for (int i = 0; i < foreach_current_index(key); i++)
		{
			SortGroupClause *before = list_nth(query->groupClause, i);

			if (equal(get_sortgroupclause_tle(before, query->targetList)->expr, tle->expr) &&
				!always_together(sets, before->tleSortGroupRef, key->tleSortGroupRef))
				dp_refuse_at(((GroupingSet *) linitial(query->groupingSets))->location,
							 errmsg("two columns of these grouping sets are the same column under two names; name it once"));
		}
	}
}

List *
dp_grouping_sets(DpSplitContext *cxt, Query *query)
{
	List	   *sets = expand_grouping_sets(query->groupingSets, query->groupDistinct, DP_MAX_GROUPING_SETS);

	if (sets == NIL)
		dp_refuse_at(((GroupingSet *) linitial(query->groupingSets))->location,
					 errmsg("a query releases at most %d grouping sets; split it", DP_MAX_GROUPING_SETS));
	refuse_same_keys(cxt, query, sets);
	return sets;
}

Query *
dp_with_grouping_set(Query *query, List *set)
{
	Query	   *alone = copyObject(query);

	alone->groupingSets = NIL;
	alone->groupDistinct = false;
	alone->groupClause = NIL;
	foreach_ptr(SortGroupClause, clause, query->groupClause)
	{
		if (list_member_int(set, clause->tleSortGroupRef))
			alone->groupClause = lappend(alone->groupClause, copyObject(clause));
	}
	return alone;
}

/* ------------------------------------------------------------------------
 * What the outer query needs of each set
 * ------------------------------------------------------------------------
 */

static int
grouping_level(Node *node)
{
	return IsA(node, GroupingFunc) ? (int) ((GroupingFunc *) node)->agglevelsup : -1;
}

static int
mark_level(Node *node)
{
	return dp_is_rest_mark(node) ? 0 : -1;
}

static List *
group_expressions(Query *query)
{
	List	   *expressions = NIL;

	foreach_ptr(SortGroupClause, clause, query->groupClause)
		expressions = list_append_unique(expressions,
										 get_sortgroupclause_tle(clause, query->targetList)->expr);
	return expressions;
}

/* Returns one bit for each argument, the first being the highest: 1 if it is not grouped by. */
static int32
grouping_value(DpLevel *level, GroupingFunc *func)
{
	const DpLevel *set = level->rest_of ? level->rest_of : level;
	int32		value = 0;

	foreach_ptr(Node, arg, func->args)
		value = (value << 1) | (dp_position_of(set->key_exprs, arg) < 0 ? 1 : 0);
	return value;
}

/* Returns the column of a release that an expression of the level is, or a constant; of no domain, as released_column() expects. */
static Expr *
set_output(DpLevel *level, Node *expr)
{
	int			column;
	int32		typmod = exprTypmod(expr);
	Oid			type = dp_type_as_read(exprType(expr), &typmod);

	if (IsA(expr, GroupingFunc))
		return (Expr *) dp_int4_const(grouping_value(level, (GroupingFunc *) expr));
	if (dp_is_rest_mark(expr))
		return (Expr *) makeBoolConst(level->rest_of != NULL, false);
	column = dp_position_of(level->outputs, expr);
	if (column < 0 && level->rest_of != NULL && dp_position_of(level->rest_of->key_exprs, expr) >= 0)
		return (Expr *) dp_rest_key(type, typmod, exprCollation(expr));
	if (column < 0)
		return (Expr *) makeNullConst(type, typmod, exprCollation(expr));
	return (Expr *) makeVar(1, list_nth_int(level->output_columns, column), type, typmod, exprCollation(expr), 0);
}

/* ------------------------------------------------------------------------
 * UNION ALL
 * ------------------------------------------------------------------------
 */

static Query *
rows_of_set(DpLevel *level, List *outputs)
{
	Query	   *query = dp_select_from(dp_released_rows(level->release));

	dp_keep_apart(query);
	foreach_ptr(Node, output, outputs)
	{
		(void) dp_show_column(query, set_output(level, output), psprintf("c%d", foreach_current_index(output) + 1));
	}
	return query;
}

RangeTblEntry *
dp_union_of_sets(Query *query, List *levels, List **from, List **columns)
{
	List	   *rows = NIL;
	Query	   *all;

	*from = list_concat(group_expressions(query), dp_collect_of_level(query, grouping_level));
	*from = list_concat(*from, dp_collect_of_level(query, mark_level));
	foreach_ptr(DpLevel, level, levels)
		* from = list_concat_unique(*from, level->outputs);
	*columns = NIL;
	foreach_ptr(DpLevel, level, levels)
		rows = lappend(rows, rows_of_set(level, *from));
	for (int i = 1; i <= list_length(*from); i++)
		*columns = lappend_int(*columns, i);
	if (list_length(levels) == 1)
		return dp_subquery_entry(linitial(rows), "set");
	all = dp_union_all(rows, "set");
	dp_keep_apart(all);
	return dp_subquery_entry(all, "sets");
}
