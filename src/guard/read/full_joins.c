/*-------------------------------------------------------------------------
 *
 * full_joins.c
 *	  FULL JOINs of protected rows, written as other joins.
 *
 *	 a FULL JOIN b ON c
 *	   (SELECT a.*, b.* FROM a LEFT JOIN b ON c
 *		UNION ALL SELECT NULL, b.* FROM b WHERE NOT EXISTS (SELECT FROM a WHERE c))
 *
 * In a row of a full join either side may name the unit.  In each operand one side does, and joins.c and union_all.c
 * see to it that c makes both sides one unit's.  Where c says that a.k = b.k, coalesce(a.k, b.k) is a column of its own: a.k in the
 * first operand, b.k in the second.  So what USING shows names the unit.
 *
 * Invariants:
 * - Both sides are read twice only where they are the same rows then (compared_rows.c), and neither is a release.
 * - What is not understood stays, and is refused by joins.c.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat_plan.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"

/* a full join of two entries */
typedef struct FullJoin
{
	JoinExpr   *join;
	Index		left;
	Index		right;
	List	   *equal_left;		/* Vars of the left side, ... */
	List	   *equal_right;	/* ... and those of the right one that equal
								 * them in rows that match */
} FullJoin;

/* Returns the entry that a node of the join tree is; 0: it is more. */
static Index
single_entry(Node *node)
{
	return IsA(node, RangeTblRef) ? ((RangeTblRef *) node)->rtindex : 0;
}

/* Tells whether an entry has rows of protected tables, and all of its columns are named one by one. */
static bool
may_be_side(DpScope *scope, Index rti, const DpSource *s)
{
	RangeTblEntry *rte = rti ? rt_fetch(rti, scope->query->rtable) : NULL;

	return rte != NULL && (rte->rtekind == RTE_RELATION || rte->rtekind == RTE_SUBQUERY || rte->rtekind == RTE_CTE) && !rte->lateral &&
		dp_entry_yields_rows(scope, rte, s->even_if_readable) && dp_count_places(scope->query, rti) >= 0;
}

/* Finds a full join of two such entries below a node, and returns where it hangs; NULL: there is none. */
static Node **
find_full_join(DpScope *scope, Node **node, const DpSource *s, FullJoin *found)
{
	JoinExpr   *join = (JoinExpr *) *node;
	Node	  **below = NULL;
	ListCell   *lc;

	if (IsA(*node, FromExpr))
	{
		foreach(lc, ((FromExpr *) *node)->fromlist)
			if (below == NULL)
			below = find_full_join(scope, (Node **) &lfirst(lc), s, found);
		return below;
	}
	if (!IsA(*node, JoinExpr))
		return NULL;
	found->left = single_entry(join->larg);
	found->right = single_entry(join->rarg);
	found->join = join;
	if (join->jointype == JOIN_FULL && join->alias == NULL && !checkExprHasSubLink(join->quals) && !contain_volatile_functions(join->quals) &&
		may_be_side(scope, found->left, s) && may_be_side(scope, found->right, s))
		return node;
	below = find_full_join(scope, &join->larg, s, found);
	return below ? below : find_full_join(scope, &join->rarg, s, found);
}

/* Finds the columns that the condition makes equal. */
static void
find_equal_columns(FullJoin *full)
{
	full->equal_left = full->equal_right = NIL;
	foreach_ptr(Node, conjunct, dp_conjuncts(full->join->quals))
	{
		Node	   *one;
		Node	   *other;

		if (!dp_is_equality(conjunct, &one, &other) || !IsA(one, Var) || !IsA(other, Var) || !dp_equal_is_same((Var *) one))
			continue;
		if (((Var *) one)->varno != full->left)
		{
			Node	   *swapped = one;

			one = other;
			other = swapped;
		}
		if (((Var *) one)->varno != full->left || ((Var *) other)->varno != full->right)
			continue;
		full->equal_left = lappend(full->equal_left, one);
		full->equal_right = lappend(full->equal_right, other);
	}
}

/* how columns of both sides are named in an operand */
typedef struct Renaming
{
	const FullJoin *full;
	Index		left;
	Index		right;
	int			right_level;
} Renaming;

static Node *
put_renamed(Node *node, int levels, const Renaming *r)
{
	Var		   *var;
	bool		right;

	if (!IsA(node, Var) || ((Var *) node)->varlevelsup != 0)
		return NULL;
	var = copyObject((Var *) node);
	right = var->varno == r->full->right;
	var->varno = right ? r->right : r->left;
	var->varlevelsup = right ? r->right_level : 0;
	dp_set_nulled_by(var, 0);
	return (Node *) var;
}

/* Lets an operand show what coalesce is of columns that are equal: those of one side, which is its entry 1. */
static void
show_equal(Query *operand, const FullJoin *full, List *columns)
{
	Renaming	r = {full, 1, 1, 0};

	foreach_node(Var, column, columns)
		(void) dp_show_column(operand, (Expr *) dp_put(column, put_renamed, &r),
							  get_rte_attribute_name(linitial(operand->rtable), column->varattno));
}

static Node *
renamed_condition(const FullJoin *full, Index left, Index right, int right_level)
{
	Renaming	r = {full, left, right, right_level};

	return dp_put(full->join->quals, put_renamed, &r);
}

/* Lets an operand show all columns of a side: of its entry rti, or NULL where that is 0. */
static void
show_columns(Query *operand, RangeTblEntry *rte, Index rti)
{
	for (AttrNumber i = 1; i <= list_length(rte->eref->colnames); i++)
	{
		Var		   *column = dp_column_of_entry(rte, rti, i);
		Expr	   *shown = (Expr *) column;

		if (column == NULL)
			shown = (Expr *) makeNullConst(INT4OID, -1, InvalidOid);
		else if (rti == 0)
			shown = (Expr *) makeNullConst(column->vartype, column->vartypmod, column->varcollid);
		(void) dp_show_column(operand, shown, strVal(list_nth(rte->eref->colnames, i - 1)));
	}
}

/* Returns SELECT a.*, b.* FROM a LEFT JOIN b; NULL: the sides may be other rows when they are read again. */
static Query *
matched_rows(DpScope *scope, const FullJoin *full)
{
	RangeTblEntry *left = dp_copied_entry(scope, full->left);
	RangeTblEntry *right = dp_copied_entry(scope, full->right);
	Node	   *tree;
	Query	   *query;
	int			join;

	if (left == NULL || right == NULL)
		return NULL;
	query = dp_select_from(left);
	dp_take_permissions(query, left, scope->query);
	query->rtable = lappend(query->rtable, right);
	dp_take_permissions(query, right, scope->query);
	tree = linitial(query->jointree->fromlist);
	join = dp_left_join(&query->rtable, &tree, 2, list_make1(renamed_condition(full, 1, 2, 0)));
	query->jointree = makeFromExpr(list_make1(tree), NULL);
	show_columns(query, left, 1);
	show_columns(query, right, 2);
	for (int i = 0; i < list_length(right->eref->colnames); i++)
	{
		Var		   *var = (Var *) list_nth_node(TargetEntry, query->targetList, list_length(left->eref->colnames) + i)->expr;

		if (IsA(var, Var))
			dp_set_nulled_by(var, join);
	}
	show_equal(query, full, full->equal_left);
	return query;
}

/* Returns SELECT NULL, b.* FROM b WHERE NOT EXISTS (SELECT FROM a). */
static Query *
unmatched_rows(DpScope *scope, const FullJoin *full)
{
	RangeTblEntry *left = dp_copied_entry(scope, full->left);
	RangeTblEntry *right = dp_copied_entry(scope, full->right);
	Query	   *query = dp_select_from(right);
	Query	   *match = dp_select_from(left);

	dp_take_permissions(query, right, scope->query);
	dp_take_permissions(match, left, scope->query);
	match->jointree->quals = renamed_condition(full, 1, 1, 1);
	(void) dp_show_column(match, (Expr *) dp_int4_const(1), "one");
	query->jointree->quals = (Node *) makeBoolExpr(NOT_EXPR, list_make1(dp_exists(match)), -1);
	query->hasSubLinks = true;
	show_columns(query, left, 0);
	show_columns(query, right, 1);
	show_equal(query, full, full->equal_right);
	return query;
}

/* Puts columns of the entry of all rows, from "first" on, in the place of those of a side. */
static void
replace_side(Query *query, DpFrom *from, Index side, Index rti, int first)
{
	RangeTblEntry *rte = rt_fetch(side, query->rtable);
	Query	   *all = rt_fetch(rti, query->rtable)->subquery;
	List	   *values = NIL;

	for (int i = 0; i < list_length(rte->eref->colnames); i++)
		values = lappend(values, dp_output_var(rti, first + i + 1, (Node *) list_nth_node(TargetEntry, all->targetList, first + i)->expr));
	dp_note_columns(from, side, values);
	dp_replace_columns(query, side, values);
}

/* where coalesce of equal columns stands */
typedef struct MergeContext
{
	const FullJoin *full;
	Index		rti;
	int			first;
} MergeContext;

/* Tells whether a node is a column of this level. */
static bool
is_column(Node *node, const Var *column, int sublevels)
{
	return IsA(node, Var) && ((Var *) node)->varno == column->varno && ((Var *) node)->varattno == column->varattno &&
		((Var *) node)->varlevelsup == sublevels;
}

/* Puts a column of the entry of all rows in the place of coalesce of columns that are equal. */
static Node *
put_merged(Node *node, int levels, const MergeContext *c)
{
	CoalesceExpr *coalesce = (CoalesceExpr *) node;
	ListCell   *left,
			   *right;

	if (!IsA(node, CoalesceExpr) || list_length(coalesce->args) != 2)
		return NULL;
	forboth(left, c->full->equal_left, right, c->full->equal_right)
	{
		bool		in_order = is_column(linitial(coalesce->args), lfirst(left), levels);

		if (is_column(list_nth(coalesce->args, in_order ? 0 : 1), lfirst(left), levels) &&
			is_column(list_nth(coalesce->args, in_order ? 1 : 0), lfirst(right), levels))
		{
			Var		   *merged = dp_output_var(c->rti, c->first + foreach_current_index(left) + 1, lfirst(left));

			merged->varlevelsup = levels;
			return (Node *) merged;
		}
	}
	return NULL;
}

static void
merge_equal(Query *query, const FullJoin *full, Index rti, int first)
{
	MergeContext c = {full, rti, first};

	query->targetList = (List *) dp_put_all(query->targetList, put_merged, &c);
	query->havingQual = dp_put_all(query->havingQual, put_merged, &c);
	query->jointree = (FromExpr *) dp_put_all(query->jointree, put_merged, &c);
}

void
dp_write_out_full_joins(DpScope *scope, DpFrom *from, const DpSource *s)
{
	Query	   *query = scope->query;
	FullJoin	full;
	Node	  **place;

	while ((place = find_full_join(scope, (Node **) &query->jointree, s, &full)) != NULL)
	{
		Query	   *matched;
		Index		rti;
		int			columns;

		find_equal_columns(&full);
		matched = matched_rows(scope, &full);
		if (matched == NULL)
			return;
		columns = list_length(rt_fetch(full.left, query->rtable)->eref->colnames);
		query->rtable = lappend(query->rtable, dp_subquery_entry(dp_union_all(list_make2(matched, unmatched_rows(scope, &full)), "rows"), "full_join"));
		rti = list_length(query->rtable);
		*place = dp_entry_ref(rti);
		merge_equal(query, &full, rti, columns + list_length(rt_fetch(full.right, query->rtable)->eref->colnames));
		replace_side(query, from, full.left, rti, 0);
		replace_side(query, from, full.right, rti, columns);
		dp_clear_rte(rt_fetch(full.left, query->rtable));
		dp_clear_rte(rt_fetch(full.right, query->rtable));
		if (full.join->rtindex != 0)
			dp_clear_rte(rt_fetch(full.join->rtindex, query->rtable));
	}
}
