/*-------------------------------------------------------------------------
 *
 * empty_results.c
 *	  Queries that cannot return a row: how tools learn the columns.
 *
 * SELECT * FROM t WHERE 0 = 1, or LIMIT 0, asks for names and types, which
 * are in the catalogue for everybody.  The protected table is replaced by a
 * subquery without rows, so that the answer depends on no row and is free.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "base/compat.h"
#include "catalog/pg_type.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "policy/policy.h"
#include "rewrite/rewriteManip.h"
#include "utils/rel.h"

/* Tells whether the condition is false or NULL whatever the rows are. */
static bool
is_never_true(Node *quals)
{
	Node	   *folded;

	if (quals == NULL || checkExprHasSubLink(quals))
		return false;
	folded = eval_const_expressions(NULL, copyObject(quals));
	return IsA(folded, Const) &&
		(((Const *) folded)->constisnull || !DatumGetBool(((Const *) folded)->constvalue));
}

static bool
is_limited_to_nothing(Query *query)
{
	Const	   *limit;

	if (query->limitCount == NULL || checkExprHasSubLink(query->limitCount))
		return false;
	limit = (Const *) eval_const_expressions(NULL, copyObject(query->limitCount));
	return IsA(limit, Const) && !limit->constisnull && DatumGetInt64(limit->constvalue) == 0;
}

typedef struct OddColumnContext
{
	Index		rti;
	int			sublevels;
} OddColumnContext;

/* Finds whole rows and system columns of the entry, which a subquery does not have. */
static bool
odd_column_walker(Node *node, OddColumnContext *c)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		return var->varno == c->rti && var->varlevelsup == c->sublevels && var->varattno <= 0;
	}
	if (IsA(node, Query))
	{
		bool		found;

		c->sublevels++;
		found = query_tree_walker((Query *) node, odd_column_walker, c, 0);
		c->sublevels--;
		return found;
	}
	return expression_tree_walker(node, odd_column_walker, c);
}

/* Makes SELECT NULL::type of each column WHERE false. */
static Query *
empty_subquery(Oid relid)
{
	Query	   *query = makeNode(Query);
	Relation	rel = table_open(relid, NoLock);
	TupleDesc	desc = RelationGetDescr(rel);

	query->commandType = CMD_SELECT;
	query->querySource = QSRC_ORIGINAL;
	query->canSetTag = true;
	query->jointree = makeFromExpr(NIL, makeBoolConst(false, false));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		Const	   *null = att->attisdropped ? makeNullConst(INT4OID, -1, InvalidOid)
		: makeNullConst(att->atttypid, att->atttypmod, att->attcollation);

		query->targetList = lappend(query->targetList,
									makeTargetEntry((Expr *) null, i + 1,
													pstrdup(NameStr(att->attname)), false));
	}
	table_close(rel, NoLock);
	return query;
}

static void
blank(Query *query)
{
	Index		rti = 0;
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);
		OddColumnContext c = {++rti, 0};
		Query	   *subquery;

		if (rte->rtekind == RTE_SUBQUERY && !rte->subquery->hasAggs)
			blank(rte->subquery);
		if (!dp_is_protected(rte) || rti == query->resultRelation || dp_may_read(rte->relid) ||
			query_tree_walker(query, odd_column_walker, &c, 0))
			continue;
		subquery = empty_subquery(rte->relid);
		dp_clear_rte(rte);
		rte->rtekind = RTE_SUBQUERY;
		rte->subquery = subquery;
		rte->tablesample = NULL;
	}
}

void
dp_answer_without_rows(Query *query)
{
	if (query->commandType == CMD_SELECT && !query->hasAggs && query->rowMarks == NIL &&
		query->setOperations == NULL && query->jointree != NULL &&
		(is_limited_to_nothing(query) || is_never_true(query->jointree->quals)))
		blank(query);
}
