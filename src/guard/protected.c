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

/* Returns the protected table that an entry reads, also by a sequence of the table's; InvalidOid: none. */
static Oid
protected_table(RangeTblEntry *rte)
{
	return dp_is_protected(rte) ? rte->relid : dp_table_of_sequence(rte);
}

static bool
touches_walker(Node *node, Oid *table)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		*table = protected_table((RangeTblEntry *) node);
		return OidIsValid(*table);
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, touches_walker, table, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, touches_walker, table);
}

/*
 * Searches the range tables; most queries have no subquery elsewhere, and
 * undecided tells of those that may.
 */
static bool
touches_quickly(Query *query, bool *undecided, Oid *table)
{
	ListCell   *lc;

	if (query->hasSubLinks || query->cteList != NIL || query->utilityStmt != NULL)
		*undecided = true;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);

		*table = protected_table(rte);
		if (OidIsValid(*table))
			return true;
		if (rte->rtekind == RTE_SUBQUERY)
			if (touches_quickly(rte->subquery, undecided, table))
				return true;
	}
	return false;
}

Oid
dp_query_touches_protected(Query *query)
{
	bool		undecided = false;
	Oid			table = InvalidOid;

	if (!touches_quickly(query, &undecided, &table) && undecided)
		(void) touches_walker((Node *) query, &table);
	return table;
}
