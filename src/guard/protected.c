/*-------------------------------------------------------------------------
 *
 * protected.c
 *	  Whether a query names protected tables.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class_d.h"
#include "guard/guard.h"
#include "nodes/nodeFuncs.h"
#include "policy/policy.h"

bool
dp_is_protected(RangeTblEntry *rte)
{
	return rte->rtekind == RTE_RELATION && rte->relkind != RELKIND_VIEW &&
		dp_policy_table(rte->relid) != NULL;
}

static bool
touches_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return dp_is_protected((RangeTblEntry *) node) ||
			OidIsValid(dp_table_of_sequence((RangeTblEntry *) node));
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, touches_walker, context, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, touches_walker, context);
}

/*
 * Searches the range tables; most queries have no subquery elsewhere, and
 * undecided tells of those that may.
 */
static bool
touches_quickly(Query *query, bool *undecided)
{
	ListCell   *lc;

	if (query->hasSubLinks || query->cteList != NIL || query->utilityStmt != NULL)
		*undecided = true;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);

		if (dp_is_protected(rte) || OidIsValid(dp_table_of_sequence(rte)))
			return true;
		if (rte->rtekind == RTE_SUBQUERY)
			if (touches_quickly(rte->subquery, undecided))
				return true;
	}
	return false;
}

bool
dp_query_touches_protected(Query *query)
{
	bool		undecided = false;

	return touches_quickly(query, &undecided) ||
		(undecided && touches_walker((Node *) query, NULL));
}
