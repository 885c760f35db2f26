/*-------------------------------------------------------------------------
 *
 * lineage.c
 *	  Where a column of a query comes from.
 *
 * Invariant: what is said to be a table's column has the value of that
 * column in some row of the table, or is NULL where an outer join found no
 * row.  A name says nothing: aliases may be called anything.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "base/compat.h"
#include "catalog/pg_inherits.h"
#include "guard/read/read.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

CommonTableExpr *
dp_find_cte(DpScope *scope, RangeTblEntry *rte, DpScope **owner)
{
	ListCell   *lc;

	for (Index up = rte->ctelevelsup; scope != NULL && up > 0; up--)
		scope = scope->outer;
	if (scope == NULL || rte->self_reference)
		return NULL;
	foreach(lc, scope->query->cteList)
	{
		CommonTableExpr *cte = lfirst(lc);

		if (strcmp(cte->ctename, rte->ctename) != 0)
			continue;
		if (cte->cterecursive || !IsA(cte->ctequery, Query) ||
			((Query *) cte->ctequery)->commandType != CMD_SELECT)
			return NULL;
		*owner = scope;
		return cte;
	}
	return NULL;
}

/* Tells whether a join below node may replace rows of entry rti by NULLs; found: the entry is below node. */
static bool
is_nulled(Node *node, Index rti, bool *found)
{
	if (IsA(node, RangeTblRef))
	{
		*found = ((RangeTblRef *) node)->rtindex == rti;
		return false;
	}
	if (IsA(node, FromExpr))
	{
		ListCell   *lc;

		foreach(lc, ((FromExpr *) node)->fromlist)
		{
			bool		nulled = is_nulled(lfirst(lc), rti, found);

			if (*found)
				return nulled;
		}
	}
	else if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;
		bool		nulled = is_nulled(join->larg, rti, found);

		if (*found)
			return nulled || join->jointype == JOIN_RIGHT || join->jointype == JOIN_FULL;
		nulled = is_nulled(join->rarg, rti, found);
		if (*found)
			return nulled || join->jointype == JOIN_LEFT || join->jointype == JOIN_FULL;
	}
	return false;
}

/* Traces output column attno of a subquery. */
static bool
trace_output(Query *sub, DpScope *outer, AttrNumber attno, DpColumnOrigin *origin)
{
	DpScope		scope = {sub, outer};
	TargetEntry *tle;

	/* grouping sets replace keys by NULL, set operations have two sides */
	if (sub->setOperations || sub->groupingSets || attno <= 0)
		return false;
	tle = get_tle_by_resno(sub->targetList, attno);
	return tle != NULL && !tle->resjunk &&
		dp_trace_column(sub, &scope, (Node *) tle->expr, origin);
}

bool
dp_trace_column(Query *query, DpScope *scope, Node *expr, DpColumnOrigin *origin)
{
	Var		   *var = (Var *) expr;
	RangeTblEntry *rte;
	DpScope    *owner;
	CommonTableExpr *cte;
	bool		traced = false;
	bool		found = false;

	check_stack_depth();
	if (!IsA(expr, Var) || var->varlevelsup != 0 || var->varno > list_length(query->rtable))
		return false;
	rte = rt_fetch(var->varno, query->rtable);
	switch (rte->rtekind)
	{
		case RTE_RELATION:
			if (var->varattno <= 0)
				return false;
			origin->relid = rte->relid;
			origin->attnum = var->varattno;
			origin->check_as_user = dp_check_as_user(query, rte);
			origin->is_protected = dp_is_protected(rte);
			origin->inherit = rte->inh;
			origin->may_be_null = false;
			traced = true;
			break;
		case RTE_SUBQUERY:
			traced = trace_output(rte->subquery, scope, var->varattno, origin);
			break;
		case RTE_CTE:
			cte = dp_find_cte(scope, rte, &owner);
			traced = cte && trace_output((Query *) cte->ctequery, owner, var->varattno, origin);
			break;
		case RTE_JOIN:
			return var->varattno > 0 &&
				dp_trace_column(query, scope, list_nth(rte->joinaliasvars, var->varattno - 1), origin);
		default:
			expr = dp_group_expression(rte, var);
			return expr && dp_trace_column(query, scope, expr, origin);
	}
	if (traced && is_nulled((Node *) query->jointree, var->varno, &found))
		origin->may_be_null = true;
	return traced;
}

bool
dp_is_never_null(Query *query, Node *expr)
{
	DpColumnOrigin origin;
	const char *name;
	List	   *tables;
	bool		result = true;
	ListCell   *lc;

	if (!dp_trace_column(query, NULL, expr, &origin) || origin.may_be_null)
		return false;
	name = get_attname(origin.relid, origin.attnum, false);
	tables = origin.inherit ? find_all_inheritors(origin.relid, AccessShareLock, NULL)
		: list_make1_oid(origin.relid);
	foreach(lc, tables)
	{
		Relation	rel = table_open(lfirst_oid(lc), AccessShareLock);

		/* nobody checks NOT NULL of foreign tables */
		result &= rel->rd_rel->relkind != RELKIND_FOREIGN_TABLE &&
			dp_is_not_null_column(RelationGetDescr(rel), get_attnum(RelationGetRelid(rel), name));
		table_close(rel, NoLock);
	}
	return result;
}
