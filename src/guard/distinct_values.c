/*-------------------------------------------------------------------------
 *
 * distinct_values.c
 *	  Aggregates of distinct values: taken of released groups.
 *
 * What sum(DISTINCT x) or array_agg(DISTINCT x) is does not depend on how
 * often there is a value: it is that aggregate of the rows of a SELECT
 * DISTINCT, which is released as keys are.  So
 *		SELECT g, count(*), sum(DISTINCT x) FROM ... GROUP BY g
 * becomes
 *		SELECT r.g, r.n, d.m FROM (SELECT g, count(*) AS n FROM ... GROUP BY g) r
 *		LEFT JOIN (SELECT g, sum(DISTINCT x) AS m
 *				   FROM (SELECT g, x FROM ... GROUP BY g, x) s GROUP BY g) d
 *		ON ROW(r.g) = ROW(d.g)
 * whose levels are split each by itself.  Records are compared because NULLs
 * of their columns are equal, and because they can be sorted: IS NOT DISTINCT
 * FROM would compare every group with every other, after the debit.
 *
 * Invariants:
 * - Nothing is released here that the query, written so, would not release.
 * - What is put in the level's place has no such aggregate over protected
 *	 rows: r has none, and d is made of releases alone, which is asked before
 *	 anything is changed.  So the walk over levels ends.
 * - What is copied contains no release: it would be paid for in each copy, and
 *	 differ in each.
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
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"

/* of how many different values aggregates are taken in one level: what it reads is copied for each */
#define MAX_VALUES 20

/* what a level is put together of */
typedef struct Parts
{
	DpScope    *scope;
	Query	   *query;
	List	   *groups;			/* expressions of GROUP BY */
	List	   *values;			/* whose distinct values are aggregated */
	List	   *of_values;		/* of each a List of Aggrefs */
	List	   *others;			/* the other Aggrefs */
	List	   *from;			/* what is replaced ... */
	List	   *to;				/* ... by which Vars */
	bool		is_left;		/* something else of a row would be left */
} Parts;

/* ------------------------------------------------------------------------
 * Which aggregates
 * ------------------------------------------------------------------------
 */

static bool
is_named(const char *name)
{
	static const char *const names[] = {"sum", "avg", "variance", "var_samp", "var_pop", "stddev", "stddev_samp", "stddev_pop",
	"array_agg", "string_agg", "json_agg", "jsonb_agg"};

	for (int i = 0; i < lengthof(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Returns what an aggregate takes the distinct values of; NULL: it takes all, or depends on more. */
static Node *
distinct_value(Aggref *agg)
{
	const char *name = agg->aggfnoid < FirstNormalObjectId ? get_func_name(agg->aggfnoid) : NULL;
	Node	   *value;

	if (name == NULL || !is_named(name) || agg->aggkind != AGGKIND_NORMAL || agg->aggdistinct == NIL ||
		agg->aggfilter != NULL || agg->args == NIL)
		return NULL;
	value = (Node *) linitial_node(TargetEntry, agg->args)->expr;
	/* a separator, say */
	foreach_node(TargetEntry, tle, agg->args)
	{
		Node	   *arg = (Node *) tle->expr;

		if (!equal(arg, value) && contain_var_clause(arg))
			return NULL;
	}
	return contain_var_clause(value) ? value : NULL;
}

/* Sorts the level's aggregates; returns false if there is none of distinct values, or of too many. */
static bool
sort_aggregates(Parts *p)
{
	p->values = p->of_values = p->others = NIL;
	foreach_ptr(Aggref, agg, dp_aggregates_of_level(p->query))
	{
		Node	   *value = distinct_value(agg);
		int			number;

		if (value == NULL)
		{
			p->others = lappend(p->others, agg);
			continue;
		}
		number = dp_position_of(p->values, value);
		if (number < 0)
		{
			p->values = lappend(p->values, value);
			p->of_values = lappend(p->of_values, list_make1(agg));
		}
		else
		{
			ListCell   *aggs = list_nth_cell(p->of_values, number);

			lfirst(aggs) = lappend(lfirst(aggs), agg);
		}
	}
	return p->values != NIL && list_length(p->values) <= MAX_VALUES;
}

/* ------------------------------------------------------------------------
 * Queries
 * ------------------------------------------------------------------------
 */

/* Returns a query of the same rows, some levels below. */
static Query *
same_rows(Parts *p, int below)
{
	Query	   *query = dp_new_select();

	query->rtable = copyObject(p->query->rtable);
	dp_copy_permissions(query, p->query);
	query->jointree = copyObject(p->query->jointree);
	query->hasSubLinks = p->query->hasSubLinks;
	query->targetList = NIL;
	IncrementVarSublevelsUp((Node *) query, below, 1);
	return query;
}

/* Adds a column; returns it. */
static TargetEntry *
show(Query *query, Node *expr)
{
	return dp_show_column(query, (Expr *) expr, psprintf("c%d", list_length(query->targetList) + 1));
}

static Node *
lowered(Node *expr, int below)
{
	expr = copyObject(expr);
	IncrementVarSublevelsUp(expr, below, 1);
	return expr;
}

/* Shows the groups of the level in a query of the same rows, which groups by them. */
static void
group(Parts *p, Query *query, int below)
{
	foreach_ptr(SortGroupClause, item, p->query->groupClause)
	{
		SortGroupClause *clause = copyObject(item);
		TargetEntry *tle = show(query, lowered(list_nth(p->groups, foreach_current_index(item)), below));

		tle->ressortgroupref = clause->tleSortGroupRef = tle->resno;
		query->groupClause = lappend(query->groupClause, clause);
	}
}

/* Adds a subquery to the level's range table; returns its number. */
static Index
add_entry(List **rtable, Query *query, const char *name)
{
	*rtable = lappend(*rtable, dp_subquery_entry(query, name));
	return list_length(*rtable);
}

/* Returns the query of the aggregates of one value, by groups: of the rows of a selection of keys. */
static Query *
query_of_value(Parts *p, Node *value, List *aggs)
{
	Query	   *keys = same_rows(p, 2);
	Query	   *query;
	TargetEntry *tle;
	List	   *from;
	List	   *to;

	group(p, keys, 2);
	tle = show(keys, lowered(value, 2));
	keys->groupClause = lappend(keys->groupClause, dp_group_clause(tle));

	/*
	 * an aggregate makes it a level that is released; nobody reads it, so it
	 * is not
	 */
	show(keys, (Node *) dp_count_rows(exprLocation(value)));
	keys->hasAggs = true;
	query = dp_select_from(dp_subquery_entry(keys, "s"));
	query->targetList = NIL;
	foreach_ptr(Node, item, p->groups)
	{
		SortGroupClause *clause = copyObject(list_nth(p->query->groupClause, foreach_current_index(item)));
		TargetEntry *shown = show(query, (Node *) dp_output_var(1, foreach_current_index(item) + 1, item));

		shown->ressortgroupref = clause->tleSortGroupRef = shown->resno;
		query->groupClause = lappend(query->groupClause, clause);
	}
	from = list_make1(lowered(value, 1));
	to = list_make1(dp_output_var(1, tle->resno, value));
	foreach_ptr(Node, agg, aggs)
		show(query, dp_put_equal(lowered(agg, 1), from, to, NULL));
	query->hasAggs = true;
	return query;
}

/* Adds what expressions of the level become: columns of an entry, from number first on. */
static void
replaced_by(Parts *p, List *exprs, Index rti, int first)
{
	foreach_ptr(Node, expr, exprs)
	{
		p->from = lappend(p->from, expr);
		p->to = lappend(p->to, dp_output_var(rti, first + foreach_current_index(expr), expr));
	}
}

static Node *
put_released(Node *node, int levels, Parts *p)
{
	int			number = dp_position_of(p->from, node);

	if (number >= 0)
		return copyObject(list_nth(p->to, number));
	p->is_left |= IsA(node, GroupingFunc) || (IsA(node, Var) && ((Var *) node)->varlevelsup == 0);
	return NULL;
}

/* Makes a record of an entry's groups. */
static Expr *
record_of_groups(Parts *p, Index rti)
{
	RowExpr    *record = makeNode(RowExpr);

	foreach_ptr(Node, group, p->groups)
	{
		int			number = foreach_current_index(group) + 1;

		record->args = lappend(record->args, dp_output_var(rti, number, group));
		record->colnames = lappend(record->colnames, makeString(psprintf("f%d", number)));
	}
	record->row_typeid = RECORDOID;
	record->row_format = COERCE_IMPLICIT_CAST;
	record->location = -1;
	return (Expr *) record;
}

/* Makes the condition that two entries, which begin with the groups, are of one group. */
static Node *
same_group(Parts *p, Index left, Index right)
{
	if (p->groups == NIL)
		return makeBoolConst(true, false);
	return (Node *) dp_make_comparison(RECORD_EQ_OP, record_of_groups(p, left), record_of_groups(p, right), InvalidOid);
}

/* Joins an entry whose groups are among those of the first. */
static Node *
left_join(Parts *p, List **rtable, Node *tree, Index rti)
{
	(void) dp_left_join(rtable, &tree, rti, list_make1(same_group(p, 1, rti)));
	return tree;
}

/* ------------------------------------------------------------------------
 * The level
 * ------------------------------------------------------------------------
 */

/* Tells whether the level is one that can be put together so. */
static bool
has_shape(Query *query)
{
	return query->commandType == CMD_SELECT && query->hasAggs && query->cteList == NIL && query->groupingSets == NIL &&
		!query->hasTargetSRFs && query->rowMarks == NIL && query->setOperations == NULL &&
		!checkExprHasSubLink((Node *) query->targetList) && !checkExprHasSubLink(query->havingQual) &&
		dp_collect_error_functions(query) == NIL;
}

/* Makes the entries and joins them; fills in what becomes of the level's expressions. */
static Node *
put_together(Parts *p, List **rtable)
{
	Node	   *tree = NULL;

	/* of one value alone there are the groups that it is in */
	if (p->others != NIL || list_length(p->values) > 1)
	{
		Query	   *rest = same_rows(p, 1);

		group(p, rest, 1);
		foreach_ptr(Node, other, p->others)
			show(rest, lowered(other, 1));
		rest->hasAggs = p->others != NIL;
		if (rest->targetList != NIL)
		{
			tree = dp_entry_ref(add_entry(rtable, rest, "r"));
			replaced_by(p, p->others, 1, list_length(p->groups) + 1);
		}
	}
	foreach_ptr(Node, value, p->values)
	{
		List	   *aggs = list_nth(p->of_values, foreach_current_index(value));
		Query	   *values = query_of_value(p, value, aggs);
		DpScope		scope = {values, p->scope};
		RangeTblEntry *base;
		Index		rti = add_entry(rtable, values, "d");

		/* groups that tell one person from another are rows of theirs */
		p->is_left |= dp_reads_rows(&scope, false, &base) != 0;
		replaced_by(p, aggs, rti, list_length(p->groups) + 1);
		if (tree == NULL)
			tree = dp_entry_ref(rti);
		else
		{
			tree = left_join(p, rtable, tree, rti);
			for (int i = 1; i <= list_length(aggs); i++)
				dp_set_nulled_by(list_nth_node(Var, p->to, list_length(p->to) - i), list_length(*rtable));
		}
	}
	replaced_by(p, p->groups, 1, 1);
	return tree;
}

bool
dp_take_of_groups(DpScope *scope)
{
	Query	   *query = scope->query;
	Parts		p = {.scope = scope, .query = query};
	List	   *rtable = NIL;
	List	   *targets;
	Node	   *having;
	Node	   *tree;

	if (!has_shape(query) || !sort_aggregates(&p) || dp_contains_release(scope))
		return false;
	dp_flatten_level(query);
	/* columns of joins may be one column now */
	if (!sort_aggregates(&p))
		return false;
	foreach_ptr(SortGroupClause, clause, query->groupClause)
		p.groups = lappend(p.groups, get_sortgroupclause_tle(clause, query->targetList)->expr);
	tree = put_together(&p, &rtable);
	targets = (List *) dp_put(query->targetList, put_released, &p);
	having = dp_put(query->havingQual, put_released, &p);
	if (p.is_left)
		return false;
	query->rtable = rtable;
	dp_copy_permissions(query, dp_new_select());
	query->jointree = makeFromExpr(list_make1(tree), having);
	query->targetList = targets;
	query->havingQual = NULL;
	query->groupClause = NIL;
	query->hasAggs = false;
	return true;
}
