/*-------------------------------------------------------------------------
 *
 * pull_up.c
 *	  Subqueries, views and WITH queries that only filter and project.
 *
 * SELECT dp_count(*) FROM (SELECT * FROM t WHERE ...) q asks what the same
 * query without the subquery asks.  It is put into that form before the
 * level is split: columns of the subquery become the expressions that they
 * stand for, so that the privacy unit, declared keys and bounds are those of
 * the base table's columns, whatever the subquery calls them, and every
 * expression passes the allow-list.
 *
 * Invariant: the privileges that a view asks for are still checked.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "compat.h"
#include "guard/level.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

/* the only entry that the query reads, 0 if there is not just one */
static Index
sole_entry(Query *query)
{
	FromExpr   *from = query->jointree;

	if (from == NULL || list_length(from->fromlist) != 1 || !IsA(linitial(from->fromlist), RangeTblRef))
		return 0;
	return ((RangeTblRef *) linitial(from->fromlist))->rtindex;
}

/* rows out are rows in; an ORDER BY does not matter below an aggregate */
static bool
filters_and_projects(Query *query)
{
	return query->commandType == CMD_SELECT &&
		!query->hasAggs && !query->hasWindowFuncs && !query->hasTargetSRFs &&
		!query->hasSubLinks && !query->hasDistinctOn && !query->hasForUpdate &&
		query->groupClause == NIL && query->groupingSets == NIL && query->havingQual == NULL &&
		query->distinctClause == NIL && query->limitOffset == NULL && query->limitCount == NULL &&
		query->rowMarks == NIL && query->setOperations == NULL && query->cteList == NIL &&
		!contain_vars_of_level((Node *) query->targetList, 1) &&
		!contain_vars_of_level(query->jointree->quals, 1);
}

static CommonTableExpr *
find_cte(Query *query, RangeTblEntry *rte)
{
	ListCell   *lc;

	if (rte->ctelevelsup > 0 || rte->self_reference)
		return NULL;
	foreach(lc, query->cteList)
	{
		CommonTableExpr *cte = lfirst(lc);

		if (strcmp(cte->ctename, rte->ctename) == 0)
			return cte->cterefcount == 1 && !cte->cterecursive ? cte : NULL;
	}
	return NULL;
}

/* what an entry stands for: the query of a subquery, a view or a WITH clause */
static Query *
query_of_entry(Query *query, RangeTblEntry *rte, CommonTableExpr **cte)
{
	*cte = NULL;
	if (rte->rtekind == RTE_SUBQUERY)
		return rte->lateral ? NULL : rte->subquery;
	if (rte->rtekind != RTE_CTE)
		return NULL;
	*cte = find_cte(query, rte);
	return *cte ? (Query *) (*cte)->ctequery : NULL;
}

/*
 * The protected table at the bottom of a chain of such queries, with the
 * chain shortened to one; NULL if that is not what there is.
 */
static RangeTblEntry *
protected_base(Query *query)
{
	Index		rti;
	RangeTblEntry *rte;

	check_stack_depth();
	if (!filters_and_projects(query) || (rti = sole_entry(query)) == 0)
		return NULL;
	rte = rt_fetch(rti, query->rtable);
	if (rte->rtekind == RTE_SUBQUERY)
	{
		dp_pull_up(query, true);
		rte = rt_fetch(sole_entry(query), query->rtable);
	}
	return dp_is_protected(rte) ? rte : NULL;
}

static Node *
replace_columns(Node *node, Index rti, RangeTblEntry *rte, List *targets, Query *query)
{
	return dp_replace_vars(node, rti, rte, targets, &query->hasSubLinks);
}

static void
merge(Query *query, Index rti, Query *sub)
{
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	Index		base = sole_entry(sub);
	RangeTblEntry *base_rte = copyObject(rt_fetch(base, sub->rtable));
	List	   *targets = copyObject(sub->targetList);
	Node	   *quals = copyObject(sub->jointree->quals);
	RangeTblRef *ref = makeNode(RangeTblRef);
	Index		new_rti;

	dp_keep_view_permissions(query, rte, sub);
	dp_forget_permissions(base_rte);
	query->rtable = lappend(query->rtable, base_rte);
	new_rti = list_length(query->rtable);
	ChangeVarNodes((Node *) targets, base, new_rti, 0);
	ChangeVarNodes(quals, base, new_rti, 0);

	query->targetList = (List *) replace_columns((Node *) query->targetList, rti, rte, targets, query);
	query->havingQual = replace_columns(query->havingQual, rti, rte, targets, query);
	query->jointree->quals = make_and_qual(quals, replace_columns(query->jointree->quals,
																  rti, rte, targets, query));
	ref->rtindex = new_rti;
	query->jointree->fromlist = list_make1(ref);
}

/*
 * Puts the query into the form that reads its protected table directly, if it
 * has one at the bottom.  always: also if the calling roles may read it.
 */
void
dp_pull_up(Query *query, bool always)
{
	Index		rti;
	RangeTblEntry *rte;
	RangeTblEntry *base;
	CommonTableExpr *cte;
	Query	   *sub;

	if (query->commandType != CMD_SELECT || query->setOperations != NULL ||
		(rti = sole_entry(query)) == 0)
		return;
	rte = rt_fetch(rti, query->rtable);
	sub = query_of_entry(query, rte, &cte);
	if (sub == NULL)
		return;
	base = protected_base(sub);
	if (base == NULL || (!always && dp_may_read(base->relid)))
		return;

	dp_flatten_group_keys(query);
	merge(query, rti, sub);
	if (cte)
		query->cteList = list_delete_ptr(query->cteList, cte);
	dp_retire_subquery(query, rte);
}
