/*-------------------------------------------------------------------------
 *
 * expression_text.c
 *	  How an expression over what a level reads is written, for messages, the
 *	  audit and EXPLAIN; and what it reads, for messages.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/namespace.h"
#include "guard/describe/describe.h"
#include "mb/pg_wchar.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

static bool
outer_var_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varlevelsup > 0;
	return expression_tree_walker(node, outer_var_walker, context);
}

/* Removes casts that nobody wrote, which would be shown among the arguments of an aggregate. */
static Node *
without_implicit_casts(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcformat == COERCE_IMPLICIT_CAST)
		return without_implicit_casts(linitial(((FuncExpr *) node)->args), context);
	if (IsA(node, RelabelType) && ((RelabelType *) node)->relabelformat == COERCE_IMPLICIT_CAST)
		return without_implicit_casts((Node *) ((RelabelType *) node)->arg, context);
	return expression_tree_mutator(node, without_implicit_casts, context);
}

char *
dp_expression_text(DpLevel *level, Node *expr)
{
	bool		several = bms_membership(level->from.entries) == BMS_MULTIPLE;
	char	   *text;

	/* not releasable, and nothing that can be deparsed by itself */
	if (checkExprHasSubLink(expr) || outer_var_walker(expr, NULL))
		return IsA(expr, Aggref)
			? psprintf("%s(...)", get_func_name(((Aggref *) expr)->aggfnoid))
			: pstrdup("...");
	/* it is told of every column of every table, which may be many */
	if (level->names == NIL)
	{
		PlannedStmt *from = makeNode(PlannedStmt);

		from->rtable = level->from.query->rtable;
		level->names = deparse_context_for_plan_tree(from, select_rtable_names_for_explain(from->rtable,
																						   level->from.entries));
	}
	text = deparse_expression(without_implicit_casts(expr, NULL), level->names, several, false);

	if (strlen(text) > 200)
		strcpy(text +pg_mbcliplen(text, strlen(text), 196), "...");
	return text;
}

/* Returns the name of a table or view, as a query has to write it. */
static const char *
relation_name(Oid relid)
{
	return quote_qualified_identifier(RelationIsVisible(relid) ? NULL : get_namespace_name(get_rel_namespace(relid)),
									  get_rel_name(relid));
}

const char *
dp_example_from(Query *query)
{
	RangeTblEntry *rte;
	Oid			relid;

	if (list_length(query->jointree->fromlist) != 1 || !IsA(linitial(query->jointree->fromlist), RangeTblRef))
		return "...";
	rte = rt_fetch(linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex, query->rtable);
	relid = rte->relid;
	/* a view, of which nothing but its name may be left */
	if (rte->rtekind == RTE_SUBQUERY && rte->alias == NULL && !OidIsValid(relid))
		relid = RelnameGetRelid(rte->eref->aliasname);
	if ((rte->rtekind != RTE_RELATION && rte->rtekind != RTE_SUBQUERY) || !OidIsValid(relid) || query->cteList != NIL)
		return "...";
	return rte->alias == NULL ? relation_name(relid)
		: psprintf("%s AS %s", relation_name(relid), quote_identifier(rte->alias->aliasname));
}
