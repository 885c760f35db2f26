/*-------------------------------------------------------------------------
 *
 * entries.c
 *	  Entries of a level's range table, before they are read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "base/compat.h"
#include "guard/read/read.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

void
dp_flatten_level(Query *query)
{
	dp_flatten_group_keys(query);
	query->targetList = (List *) dp_flatten_joins(query, (Node *) query->targetList);
	query->havingQual = dp_flatten_joins(query, query->havingQual);
	query->jointree = (FromExpr *) dp_flatten_joins(query, (Node *) query->jointree);
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

typedef struct ColumnContext
{
	Index		rti;
	int			sublevels;
	Bitmapset  *columns;		/* offset by
								 * FirstLowInvalidHeapAttributeNumber */
} ColumnContext;

static bool
column_walker(Node *node, ColumnContext *c)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (var->varno == c->rti && var->varlevelsup == c->sublevels)
			c->columns = bms_add_member(c->columns,
										var->varattno - FirstLowInvalidHeapAttributeNumber);
		return false;
	}
	if (IsA(node, Query))
	{
		c->sublevels++;
		query_tree_walker((Query *) node, column_walker, c, 0);
		c->sublevels--;
		return false;
	}
	return expression_tree_walker(node, column_walker, c);
}

Bitmapset *
dp_columns_read(Query *query, Index rti, Node *expressions)
{
	ColumnContext c = {rti, 0, NULL};
	Bitmapset  *columns = NULL;
	int			i = -1;

	column_walker(expressions, &c);
	column_walker((Node *) query->jointree, &c);
	while ((i = bms_next_member(c.columns, i)) >= 0)
		if (i + FirstLowInvalidHeapAttributeNumber > 0)
			columns = bms_add_member(columns, i + FirstLowInvalidHeapAttributeNumber);
	return columns;
}
