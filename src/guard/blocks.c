/*-------------------------------------------------------------------------
 *
 * blocks.c
 *	  Which blocks of time the rows of an inner query are in.
 *
 * For each protected entry, at any depth, the ends between which its block column
 * is in rows that matter are looked for in the conditions that a row of it must
 * satisfy: those of WHERE, of inner joins, and of outer joins that may find no
 * row of it.  An entry without own block column is in the block of the row that
 * its foreign key leads to, and needs the equality with that row's key beside it.
 *
 * What was found is made true: each of these places gets the condition that
 * the column is within the first and the last moment of the blocks that the
 * release is charged to, parameters that the node sets (release/blocks.c).
 *
 * Why a row r of another block has no part in the result.  Call a condition that
 * is not true where r's column is outside of the blocks, or NULL, and that stands
 * in WHERE, in an inner or semi join above r, or in an outer join or antijoin on
 * whose nullable side r is.  Rows that r is joined into do not satisfy it.  With
 * r, an outer join below may lose a row in which r's columns are NULL; that row
 * does not satisfy it either.  So the rows that pass are the same with r and without.
 *
 * Invariant: if any protected entry is without an end, or is not found by this
 * walk, the release has none on that side, and is charged to all blocks there.
 *
 * Who names a block column in a condition means some of the blocks.  Where an entry
 * is without both ends all the same, the release remembers which (undated), so that
 * the asker is told.  It follows from the query and the policy alone.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "base/compat.h"
#include "base/walk.h"
#include "guard/describe/time_ranges.h"
#include "guard/facts/facts.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

/* of a subquery, as conditions of the query around it name its columns */
#define OUTPUT_COLUMN INNER_VAR

/* a protected entry */
typedef struct BlockEntry
{
	Var		   *column;			/* that says in which block its rows are */
	List	   *nodes;			/* FromExprs and JoinExprs of which conditions
								 * say between which moments */
} BlockEntry;

typedef struct BlockSearch
{
	DpRelease  *release;
	int			seen;			/* protected entries */
	List	   *entries;		/* BlockEntry, of those with a column */
	List	   *first;			/* Exprs, one for each entry */
	List	   *last;
	bool		open_first;		/* some entry has no such end */
	bool		open_last;
	bool		names_time;		/* some condition has a block column in it */
	char	   *undated;		/* the first table without any end */
	char	   *undated_column; /* its block column; NULL: it has none */
} BlockSearch;

/* the conditions that rows of an entry must satisfy */
typedef struct Conditions
{
	List	   *nodes;			/* FromExprs and JoinExprs */
	FromExpr   *top;			/* of the query */
	List	   *around;			/* conditions of the query around it, on its
								 * columns */
} Conditions;

static Node *
quals_of(Node *node)
{
	return IsA(node, FromExpr) ? ((FromExpr *) node)->quals : castNode(JoinExpr, node)->quals;
}

/* ------------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------------
 */

typedef struct Replacement
{
	int			varno;
	AttrNumber	attno;
	Node	   *by;
	bool		found;
	bool		others;			/* there are columns of something else */
} Replacement;

static Node *
replace_column(Node *node, int levels, Replacement *r)
{
	Var		   *var = (Var *) node;

	if (!IsA(node, Var))
		return NULL;
	if (var->varlevelsup != 0 || var->varno != r->varno || var->varattno != r->attno)
	{
		r->others = true;
		return node;
	}
	r->found = true;
	return copyObject(r->by);
}

/* Returns a condition with a column replaced; NULL: it names others, or not this one. */
static Node *
with_column(Node *condition, Replacement *r)
{
	Node	   *replaced;

	/* the walk does not look into them */
	if (contain_subplans(condition))
		return NULL;
	r->found = r->others = false;
	replaced = dp_put(condition, replace_column, r);
	return r->found && !r->others ? replaced : NULL;
}

/*
 * Returns what a condition says of a column, which is replaced, alone; of
 * alternatives, what each of them does.  NULL: nothing.
 */
static Node *
on_column(Node *condition, int varno, AttrNumber attno, Node *by)
{
	Replacement r = {.varno = varno, .attno = attno, .by = by};
	bool		whole;

	return dp_known_part(condition, (DpKnown) with_column, &r, &whole);
}

/* Returns, of all conditions, those on this column alone, as the column itself has them; nodes: where each stands. */
static List *
conditions_on(const Conditions *conditions, Var *column, List **nodes)
{
	List	   *result = NIL;

	*nodes = NIL;
	foreach_ptr(Node, node, conditions->nodes)
	{
		foreach_ptr(Node, conjunct, dp_conjuncts(quals_of(node)))
		{
			Node	   *condition = on_column(conjunct, column->varno, column->varattno, (Node *) column);

			if (condition == NULL)
				continue;
			result = lappend(result, condition);
			*nodes = lappend(*nodes, node);
		}
	}
	foreach_ptr(Node, item, conditions->around)
	{
		Node	   *condition = on_column(item, column->varno, column->varattno, (Node *) column);

		if (condition == NULL)
			continue;
		result = lappend(result, condition);
		*nodes = lappend(*nodes, conditions->top);
	}
	return result;
}

/* Tells whether a condition is the equality of two columns. */
static bool
equates(Node *condition, Index varno, AttrNumber attno, Index other, AttrNumber other_attno)
{
	DpComparison c;

	for (int side = 0; side < 2 && dp_read_side(condition, side, &c); side++)
	{
		Var		   *a = (Var *) dp_strip_relabel(c.left);
		Var		   *b = (Var *) dp_strip_relabel(c.right);

		if (IsA(a, Var) && IsA(b, Var) && a->varlevelsup == 0 && b->varlevelsup == 0 &&
			a->varno == varno && a->varattno == attno && b->varno == other && b->varattno == other_attno)
			return op_mergejoinable(c.opno, exprType(c.left));
	}
	return false;
}

/* Tells whether the conditions equate the foreign key of entry rti with the key of another. */
static bool
leads_to(const Conditions *conditions, Index rti, const DpParent *parent, Index other)
{
	for (int i = 0; i < parent->n; i++)
	{
		bool		found = false;

		foreach_ptr(Node, node, conditions->nodes)
			foreach_ptr(Node, conjunct, dp_conjuncts(quals_of(node)))
			found = found || equates(conjunct, rti, parent->child[i], other, parent->key[i]);
		if (!found)
			return false;
	}
	return parent->n > 0;
}

/* Returns the column that says in which block rows of an entry are; NULL: none that the query reads does. */
static Var *
block_column(BlockSearch *b, Query *query, Index rti, const Conditions *conditions, int depth)
{
	Oid			relid = rt_fetch(rti, query->rtable)->relid;
	const DpTable *table = dp_policy_table(relid);
	DpParent	parent;
	AttrNumber	attnum;

	if (table == NULL || depth > DP_MAX_PARENTS)
		return NULL;
	if (table->block[0] != '\0')
	{
		attnum = get_attnum(relid, table->block);
		return attnum > 0 && dp_type_is_time(get_atttype(relid, attnum)) ? dp_table_var(rti, relid, attnum) : NULL;
	}
	if (table->nthrough == 0 || dp_policy_parent(relid, &parent) != DP_PARENT_OK)
		return NULL;
	for (Index other = 1; other <= list_length(query->rtable); other++)
	{
		RangeTblEntry *rte = rt_fetch(other, query->rtable);

		if (rte->rtekind != RTE_RELATION || rte->relid != parent.parent || other == rti ||
			!leads_to(conditions, rti, &parent, other))
			continue;
		b->release->unique_keys = list_append_unique_oid(b->release->unique_keys, parent.index);
		return block_column(b, query, other, conditions, depth + 1);
	}
	return NULL;
}

/* ------------------------------------------------------------------------
 * The walk
 * ------------------------------------------------------------------------
 */

static void search_query(BlockSearch *b, Query *query, List *around);

/* Tells whether a node is a parameter that is the release's, not the statement's. */
static DpWalk
is_own_param(Node *node, int levels, const DpRelease *release)
{
	return IsA(node, Param) && (((Param *) node)->paramkind != PARAM_EXTERN || ((Param *) node)->paramid >= release->first_param);
}

static DpWalk
is_column(Node *node, int levels, const Var *column)
{
	Var		   *var = (Var *) node;

	return IsA(node, Var) && var->varlevelsup == 0 && var->varno == column->varno && var->varattno == column->varattno;
}

/* Tells whether some condition has a column in it; whether that is NULL asks for no time. */
static bool
names_column(const Conditions *conditions, const Var *column)
{
	List	   *all = list_copy(conditions->around);

	foreach_ptr(Node, node, conditions->nodes)
		all = list_concat(all, dp_conjuncts(quals_of(node)));
	foreach_ptr(Node, condition, all)
	{
		if (!IsA(condition, NullTest) && dp_walk(condition, is_column, column))
			return true;
	}
	return false;
}

/* Remembers the first table of which no condition says between which days its rows are, and its block column, or NULL. */
static void
note_undated(BlockSearch *b, Query *query, Index rti, const Var *column)
{
	if (b->undated != NULL)
		return;
	b->undated = get_rel_name(rt_fetch(rti, query->rtable)->relid);
	if (column != NULL)
		b->undated_column = get_attname(rt_fetch(column->varno, query->rtable)->relid, column->varattno, false);
}

static void
search_table(BlockSearch *b, Query *query, Index rti, const Conditions *conditions)
{
	BlockEntry *entry;
	DpTimeRange range = {0};
	Var		   *column = block_column(b, query, rti, conditions, 0);
	List	   *nodes;
	ListCell   *lc,
			   *node;

	b->seen++;
	if (column == NULL)
	{
		b->open_first = b->open_last = true;
		note_undated(b, query, rti, NULL);
		return;
	}
	b->names_time = b->names_time || names_column(conditions, column);
	entry = palloc0(sizeof(BlockEntry));
	entry->column = column;
	forboth(lc, conditions_on(conditions, column, &nodes), node, nodes)
	{
		if (!contain_subplans(lfirst(lc)) && !dp_walk(lfirst(lc), is_own_param, b->release) && dp_narrow_time(&range, column, lfirst(lc)))
			entry->nodes = list_append_unique_ptr(entry->nodes, lfirst(node));
	}
	b->entries = lappend(b->entries, entry);
	if (range.first != NULL)
		b->first = lappend(b->first, range.first);
	if (range.last != NULL)
		b->last = lappend(b->last, range.last);
	b->open_first |= range.first == NULL;
	b->open_last |= range.last == NULL;
	if (range.first == NULL && range.last == NULL)
		note_undated(b, query, rti, column);
}

/* Hands conditions on the columns of a subquery down to it. */
static void
search_subquery(BlockSearch *b, Query *query, Index rti, const Conditions *conditions)
{
	Query	   *sub = rt_fetch(rti, query->rtable)->subquery;
	List	   *around = NIL;

	foreach_node(TargetEntry, tle, sub->targetList)
	{
		Var			column = {.varno = rti, .varattno = tle->resno};
		Var		   *output;
		List	   *nodes;

		if (tle->resjunk || !dp_is_time_expr(tle->expr))
			continue;
		column.xpr.type = T_Var;
		column.vartype = exprType((Node *) tle->expr);
		column.vartypmod = -1;
		output = makeVar(OUTPUT_COLUMN, tle->resno, column.vartype, -1, InvalidOid, 0);
		foreach_ptr(Node, item, conditions_on(conditions, &column, &nodes))
			around = lappend(around, on_column(item, rti, tle->resno, (Node *) output));
	}
	search_query(b, sub, around);
}

static void
search_tree(BlockSearch *b, Query *query, Node *node, const Conditions *conditions)
{
	Conditions	here = *conditions;

	here.nodes = lappend(list_copy(conditions->nodes), node);
	if (IsA(node, FromExpr))
	{
		foreach_ptr(Node, item, ((FromExpr *) node)->fromlist)
			search_tree(b, query, item, &here);
	}
	else if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;
		JoinType	type = join->jointype;

		search_tree(b, query, join->larg,
					type == JOIN_INNER || type == JOIN_SEMI || type == JOIN_RIGHT ? &here : conditions);
		search_tree(b, query, join->rarg,
					type == JOIN_INNER || type == JOIN_SEMI || type == JOIN_LEFT || type == JOIN_ANTI ? &here : conditions);
	}
	else
	{
		Index		rti = castNode(RangeTblRef, node)->rtindex;
		RangeTblEntry *rte = rt_fetch(rti, query->rtable);

		if (rte->rtekind == RTE_SUBQUERY)
			search_subquery(b, query, rti, conditions);
		else if (rte->rtekind == RTE_RELATION && dp_policy_table(rte->relid) != NULL)
			search_table(b, query, rti, conditions);
	}
}

/* Tells whether leaving out rows by a column that the query shows changes nothing of its other rows. */
static bool
shows_as_it_is(Query *query, TargetEntry *tle)
{
	if (query->hasTargetSRFs || query->limitCount != NULL || query->limitOffset != NULL || query->groupingSets != NIL)
		return false;
	if ((query->groupClause != NIL || query->hasAggs || query->havingQual != NULL) &&
		get_sortgroupref_clause_noerr(tle->ressortgroupref, query->groupClause) == NULL)
		return false;
	if (query->hasDistinctOn && get_sortgroupref_clause_noerr(tle->ressortgroupref, query->distinctClause) == NULL)
		return false;
	foreach_ptr(WindowClause, window, query->windowClause)
	{
		if (get_sortgroupref_clause_noerr(tle->ressortgroupref, window->partitionClause) == NULL)
			return false;
	}
	return true;
}

/* Returns conditions on columns that a query shows as conditions on the columns of its entries that these are. */
static List *
conditions_inside(Query *query, List *around)
{
	List	   *result = NIL;

	foreach_node(TargetEntry, tle, query->targetList)
	{
		if (tle->resjunk || !IsA(tle->expr, Var) || ((Var *) tle->expr)->varlevelsup != 0 || !shows_as_it_is(query, tle))
			continue;
		foreach_ptr(Node, item, around)
		{
			Node	   *condition = on_column(item, OUTPUT_COLUMN, tle->resno, (Node *) tle->expr);

			if (condition != NULL)
				result = lappend(result, condition);
		}
	}
	return result;
}

/* Looks into a query; around: conditions on its columns, which are Vars of OUTPUT_COLUMN. */
static void
search_query(BlockSearch *b, Query *query, List *around)
{
	Conditions	conditions = {NIL, query->jointree, NIL};

	check_stack_depth();
	if (query->setOperations != NULL)
	{
		/* each row of it is one of an operand */
		foreach_int(operand, dp_operands(query))
			search_query(b, rt_fetch(operand, query->rtable)->subquery, around);
		return;
	}
	conditions.around = conditions_inside(query, around);
	search_tree(b, query, (Node *) query->jointree, &conditions);
}

static DpWalk
count_entry(Node *node, int levels, int *n)
{
	RangeTblEntry *rte = (RangeTblEntry *) node;

	/* what is read has the mark; names that were left behind have not */
	if (IsA(node, RangeTblEntry) && rte->rtekind == RTE_RELATION && rte->enrname != NULL && strcmp(rte->enrname, DP_INNER_MARK) == 0)
		(*n)++;
	return DP_WALK_ON;
}

/* ------------------------------------------------------------------------
 * Entry points
 * ------------------------------------------------------------------------
 */

List *
dp_find_blocks(DpRelease *release, Query *query)
{
	BlockSearch b = {release};
	int			n = 0;

	search_query(&b, query, NIL);
	(void) dp_walk_all(query, count_entry, &n);
	if (n != b.seen)
		b.open_first = b.open_last = true;
	foreach_ptr(Node, item, b.first)
		fix_opfuncids(item);
	foreach_ptr(Node, item, b.last)
		fix_opfuncids(item);
	release->block_first = b.open_first ? NIL : b.first;
	release->block_last = b.open_last ? NIL : b.last;
	if (b.names_time && release->block_first == NIL && release->block_last == NIL)
	{
		release->undated = b.undated;
		release->undated_column = b.undated_column;
	}
	return b.entries;
}

/* Adds the comparison of the column with a parameter to a node of the join tree. */
static void
hold_column(DpRelease *release, Node *node, Var *column, bool last)
{
	Expr	   *limit = dp_make_param(dp_block_param(release, column->vartype, last), column->vartype);
	OpExpr	   *comparison = dp_make_ordering(last ? BTLessEqualStrategyNumber : BTGreaterEqualStrategyNumber,
											  (Expr *) copyObject(column), limit, InvalidOid);
	Node	  **quals = IsA(node, FromExpr) ? &((FromExpr *) node)->quals : &castNode(JoinExpr, node)->quals;

	*quals = *quals ? (Node *) make_and_qual(*quals, (Node *) comparison) : (Node *) comparison;
}

void
dp_hold_to_blocks(DpRelease *release, List *entries)
{
	foreach_ptr(BlockEntry, entry, dp_holds_to_blocks(release) ? entries : NIL)
	{
		foreach_ptr(Node, node, entry->nodes)
		{
			if (release->block_first != NIL)
				hold_column(release, node, entry->column, false);
			if (release->block_last != NIL)
				hold_column(release, node, entry->column, true);
		}
	}
}
