/*-------------------------------------------------------------------------
 *
 * entries.c
 *	  Entries of a level's range table, before they are read; what they show.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "base/compat.h"
#include "base/walk.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"

void
dp_flatten_level(Query *query)
{
	dp_flatten_group_keys(query);
	query->targetList = (List *) dp_flatten_joins(query, (Node *) query->targetList);
	query->havingQual = dp_flatten_joins(query, query->havingQual);
	query->jointree = (FromExpr *) dp_flatten_joins(query, (Node *) query->jointree);
	foreach_ptr(RangeTblEntry, rte, query->rtable)
	{
		if (rte->rtekind == RTE_FUNCTION && rte->lateral)
			rte->functions = (List *) dp_flatten_joins(query, (Node *) rte->functions);
	}
}

bool
dp_refers_outside(DpScope *scope, RangeTblEntry *rte)
{
	Index		up = 0;

	if (rte->lateral)
		return true;
	if (rte->rtekind != RTE_SUBQUERY)
	{
		for (; scope != NULL; scope = scope->outer, up++)
			if (contain_vars_of_level((Node *) rte->values_lists, up) ||
				contain_vars_of_level((Node *) rte->functions, up))
				return true;
		return false;
	}
	for (; scope != NULL; scope = scope->outer)
		if (contain_vars_of_level((Node *) rte->subquery, ++up))
			return true;
	return false;
}

void
dp_refuse_entry(DpSource *s, RangeTblEntry *rte, const char *what, const char *remedy)
{
	DpSplitContext *cxt = s->cxt;

	dp_refuse_at(s->level->where, errmsg("%s \"%s\" cannot be joined with protected rows; %s",
										 what, rte->eref->aliasname, remedy));
}

void
dp_note_written(DpFrom *from, Node *expr, Node *written)
{
	DpWritten  *note = palloc(sizeof(DpWritten));

	note->expr = copyObject(expr);
	note->written = copyObject(written);
	from->written = lappend(from->written, note);
}

/* Tells whether a query reads tables, other than through subqueries of its expressions. */
static bool
reads_tables(Query *query)
{
	check_stack_depth();
	foreach_ptr(RangeTblEntry, rte, query->rtable)
	{
		if (rte->rtekind == RTE_RELATION || rte->rtekind == RTE_CTE || (rte->rtekind == RTE_SUBQUERY && reads_tables(rte->subquery)))
			return true;
	}
	return false;
}

void
dp_refuse_lateral(DpSource *s, RangeTblEntry *rte)
{
	Query	   *sub = rte->subquery;
	const char *remedy = "leave LATERAL out, and join it ON its columns instead";

	if (sub != NULL && dp_is_expressions(sub))
		remedy = "write its expressions themselves in the place of its columns";
	else if (sub == NULL || !reads_tables(sub))
		remedy = "write a SELECT for each of its rows, with UNION ALL between them, as a subquery of FROM without LATERAL";
	else if (sub->limitCount && sub->limitOption == LIMIT_OPTION_WITH_TIES)
		remedy = "leave LATERAL and FETCH out: show rank() OVER (PARTITION BY the privacy unit ORDER BY ...) AS n, and join the subquery "
			"ON the unit and n";
	else if (sub->limitCount || sub->limitOffset)
		remedy = "compare it by = alone, with a constant LIMIT, or leave LATERAL and LIMIT out: number the rows with row_number() OVER "
			"(PARTITION BY the privacy unit ORDER BY ...) AS n, and join the subquery ON the unit and n";
	else if (sub->hasWindowFuncs)
		remedy = "add the privacy unit to PARTITION BY and to the columns, join the subquery ON it, and leave LATERAL out";
	else if (sub->rowMarks)
		remedy = "leave FOR UPDATE and FOR SHARE out";
	dp_refuse_entry(s, rte, "LATERAL or correlated subquery", remedy);
}

/* ------------------------------------------------------------------------
 * What is shown
 * ------------------------------------------------------------------------
 */

TargetEntry *
dp_show_column(Query *sub, Expr *column, const char *name)
{
	int			nshown = count_nonjunk_tlist_entries(sub->targetList);
	TargetEntry *tle = makeTargetEntry(column, nshown + 1, pstrdup(name), false);
	ListCell   *lc;

	for_each_from(lc, sub->targetList, nshown)
		lfirst_node(TargetEntry, lc)->resno++;
	sub->targetList = list_insert_nth(sub->targetList, nshown, tle);
	return tle;
}

TargetEntry *
dp_show_in_entry(RangeTblEntry *rte, Expr *column, const char *name)
{
	TargetEntry *tle = dp_show_column(rte->subquery, column, name);

	rte->eref->colnames = lappend(rte->eref->colnames, makeString(tle->resname));
	return tle;
}

/* ------------------------------------------------------------------------
 * What expressions read
 * ------------------------------------------------------------------------
 */

typedef struct ColumnContext
{
	Index		rti;
	Bitmapset  *columns;		/* offset by
								 * FirstLowInvalidHeapAttributeNumber */
} ColumnContext;

static DpWalk
note_column(Node *node, int levels, ColumnContext *c)
{
	Var		   *var = (Var *) node;

	if (IsA(node, Var) && var->varno == c->rti && var->varlevelsup == levels)
		c->columns = bms_add_member(c->columns, var->varattno - FirstLowInvalidHeapAttributeNumber);
	return DP_WALK_ON;
}

Bitmapset *
dp_columns_read(Query *query, Index rti, Node *expressions)
{
	ColumnContext c = {rti};
	Bitmapset  *columns = NULL;
	int			i = -1;

	dp_walk_all(expressions, note_column, &c);
	dp_walk_all(query->jointree, note_column, &c);
	/* what makes rows of others (made_rows.c) */
	foreach_ptr(RangeTblEntry, rte, query->rtable)
		dp_walk_all(rte->functions, note_column, &c);
	while ((i = bms_next_member(c.columns, i)) >= 0)
		if (i + FirstLowInvalidHeapAttributeNumber > 0)
			columns = bms_add_member(columns, i + FirstLowInvalidHeapAttributeNumber);
	return columns;
}

/* ------------------------------------------------------------------------
 * What whole queries read
 * ------------------------------------------------------------------------
 */

typedef struct ReadContext
{
	Query	   *query;
	Index		rti;
	int			sublevels;
	bool		whole;			/* all of the row */
	Bitmapset  *columns;
} ReadContext;

static bool
read_walker(Node *node, ReadContext *c)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;
		RangeTblEntry *rte;

		if (var->varlevelsup != c->sublevels)
			return false;
		rte = rt_fetch(var->varno, c->query->rtable);
		if (rte->rtekind == RTE_JOIN)
		{
			int			sublevels = c->sublevels;

			if (var->varattno <= 0)
				c->whole = true;
			else
			{
				c->sublevels = 0;
				read_walker(list_nth(rte->joinaliasvars, var->varattno - 1), c);
				c->sublevels = sublevels;
			}
		}
		else if (var->varno == c->rti && var->varattno <= 0)
			c->whole = true;
		else if (var->varno == c->rti)
			c->columns = bms_add_member(c->columns, var->varattno);
		return false;
	}
	if (IsA(node, Query))
	{
		c->sublevels++;
		query_tree_walker((Query *) node, read_walker, c, QTW_IGNORE_JOINALIASES);
		c->sublevels--;
		return false;
	}
	return expression_tree_walker(node, read_walker, c);
}

bool
dp_add_columns_read(Query *query, Index rti, Bitmapset **columns)
{
	ReadContext c = {.query = query, .rti = rti, .columns = *columns};

	/* operands of UNION and the like are read by their places */
	if (query->setOperations)
		return false;
	query_tree_walker(query, read_walker, &c, QTW_IGNORE_JOINALIASES);
	*columns = c.columns;
	return !c.whole;
}

typedef struct ReferenceContext
{
	const char *name;
	Bitmapset  *columns;
} ReferenceContext;

/* Finds references that read whole rows; adds to columns what others read. */
static DpWalk
reads_whole_rows(Node *node, int levels, ReferenceContext *c)
{
	Query	   *query = (Query *) node;

	foreach_ptr(RangeTblEntry, rte, IsA(node, Query) ? query->rtable : NIL)
	{
		if (rte->rtekind == RTE_CTE && rte->ctelevelsup == levels + 1 && strcmp(rte->ctename, c->name) == 0 &&
			!dp_add_columns_read(query, foreach_current_index(rte) + 1, &c->columns))
			return DP_WALK_STOP;
	}
	return DP_WALK_ON;
}

bool
dp_add_columns_of_cte(DpScope *owner, CommonTableExpr *cte, Bitmapset **columns)
{
	ReferenceContext c = {cte->ctename, *columns};

	if (dp_walk_all(owner->query, reads_whole_rows, &c))
		return false;
	*columns = c.columns;
	return true;
}
