/*-------------------------------------------------------------------------
 *
 * missing_groups.c
 *	  Averages and the like over released groups of which the small are missing.
 *
 * Where keys are not declared, groups of few people are not released.  Who
 * sees the groups sees which there are; avg(n) over all of them, as in
 * SELECT avg(n) FROM (SELECT order_id, count(*) AS n FROM ... GROUP BY order_id),
 * would be that of the large ones, or NULL, without a word.  It is refused, by
 * the text of the query alone, unless that asks for some of the groups
 * (HAVING, WHERE above it, LIMIT).  Counts, sums and the greatest are those of
 * what is shown: pagers and totals ask for them.  Who writes dp_count() knows
 * that groups are selected, and gets what he asks of those that are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "base/errors.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "release/release.h"
#include "utils/lsyscache.h"

/* Tells whether what an aggregate says depends on groups that are missing more than a total does. */
static bool
is_of_all_groups(const Aggref *agg)
{
	static const char *const names[] = {"avg", "min", "variance", "var_samp", "var_pop", "stddev", "stddev_samp", "stddev_pop",
	"percentile_cont", "percentile_disc", "mode"};
	char	   *name = agg->aggfnoid < FirstGenbkiObjectId ? get_func_name(agg->aggfnoid) : NULL;

	for (int i = 0; name != NULL && i < lengthof(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool
find_walker(Node *node, Aggref **found)
{
	if (node == NULL || *found != NULL)
		return *found != NULL;
	if (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == 0 && ((Aggref *) node)->aggfilter == NULL &&
		is_of_all_groups((Aggref *) node))
	{
		*found = (Aggref *) node;
		return true;
	}
	return expression_tree_walker(node, find_walker, found);
}

/* Tells whether OFFSET leaves nothing out; dp_keep_apart sets one of 0. */
static bool
is_nothing(Node *offset)
{
	return offset == NULL ||
		(IsA(offset, Const) && (((Const *) offset)->constisnull || DatumGetInt64(((Const *) offset)->constvalue) == 0));
}

/* Returns all that a query reads, if that is one entry. */
static RangeTblEntry *
only_entry(Query *query)
{
	List	   *from = query->jointree->fromlist;

	if (list_length(from) != 1 || !IsA(linitial(from), RangeTblRef))
		return NULL;
	return rt_fetch(linitial_node(RangeTblRef, from)->rtindex, query->rtable);
}

/* Returns the release whose rows a subquery hands up as they are, if its keys are selected; NULL otherwise. */
static DpRelease *
selected_release(DpSplitContext *cxt, Query *query)
{
	RangeTblEntry *rte = only_entry(query);
	ListCell   *lc;

	check_stack_depth();
	if (rte == NULL || query->jointree->quals || query->havingQual || query->hasAggs || query->limitCount || !is_nothing(query->limitOffset) ||
		query->setOperations)
		return NULL;
	if (rte->rtekind == RTE_SUBQUERY)
		return selected_release(cxt, rte->subquery);
	foreach(lc, rte->rtekind == RTE_NAMEDTUPLESTORE ? cxt->standard : NIL)
	{
		DpRelease  *release = lfirst(lc);

		if (release->selection >= 0 && strcmp(release->name, rte->enrname) == 0)
			return release;
	}
	return NULL;
}

void
dp_check_missing_groups(DpSplitContext *cxt, Query *query)
{
	RangeTblEntry *rte = only_entry(query);
	Query	   *groups = NULL;
	Aggref	   *agg = NULL;
	DpRelease  *release;

	if (!query->hasAggs || query->groupClause || rte == NULL || query->jointree->quals)
		return;
	(void) find_walker((Node *) query->targetList, &agg);
	if (rte->rtekind == RTE_SUBQUERY)
		groups = rte->subquery;
	else if (rte->rtekind == RTE_CTE && agg != NULL)
	{
		DpScope    *owner;
		CommonTableExpr *cte = dp_find_cte(cxt->scope, rte, &owner);

		groups = cte != NULL && IsA(cte->ctequery, Query) ? (Query *) cte->ctequery : NULL;
	}
	release = agg != NULL && groups != NULL ? selected_release(cxt, groups) : NULL;
	if (release == NULL)
		return;
	dp_refuse_at(agg->location,
				 errmsg("groups of few people are not released, so that %s over the groups of %s would not be that of all; "
						"add the privacy unit to that GROUP BY if a group is one person's, list keys in WHERE (%s IN (...)), "
						"let the dataset's owner declare them, or ask for large groups only (HAVING count(*) > ...)",
						get_func_name(agg->aggfnoid), ((DpReleaseKey *) linitial(release->keys))->label,
						((DpReleaseKey *) linitial(release->keys))->label));
}
