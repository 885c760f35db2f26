/*-------------------------------------------------------------------------
 *
 * expression_text.c
 *	  How an expression over what a level reads is written, for messages, the
 *	  audit and EXPLAIN; and what it reads, for messages, with examples of groups.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/extension.h"
#include "base/walk.h"
#include "catalog/namespace.h"
#include "guard/describe/describe.h"
#include "guard/read/read.h"
#include "guard/vet/vet.h"
#include "mb/pg_wchar.h"
#include "nodes/nodeFuncs.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "parser/scansup.h"
#include "policy/unit_types.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

static DpWalk
is_outer_var(Node *node, int levels, void *context)
{
	return IsA(node, Var) && ((Var *) node)->varlevelsup > 0;
}

/* Refuses a collation that was dropped since the statement was prepared, as it has no name that could be written. */
static DpWalk
refuse_dropped(Node *node, int levels, const DpLevel *level)
{
	if ((IsA(node, CollateExpr) || IsA(node, Const)) && OidIsValid(exprCollation(node)) &&
		!SearchSysCacheExists1(COLLOID, ObjectIdGetDatum(exprCollation(node))))
		dp_vet_collation(&(DpVet) {.cxt = &level->allow}, node, exprCollation(node));
	return DP_WALK_ON;
}

/* Returns the operator that puts values of a type in the order in which another puts those of another type. */
static Oid
same_order(Oid operator, Oid from, Oid to)
{
	TypeCacheEntry *was = lookup_type_cache(from, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	TypeCacheEntry *is = lookup_type_cache(to, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

	return operator == was->lt_opr ? is->lt_opr : operator == was->gt_opr ? is->gt_opr : operator;
}

/* Removes casts that nobody wrote, which would be shown among the arguments of an aggregate. */
static Node *
without_implicit_casts(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref) && ((Aggref *) node)->aggorder != NIL)
	{
		Aggref	   *result = (Aggref *) expression_tree_mutator(node, without_implicit_casts, context);

		/* an order is shown as that of the type below the casts */
		result->aggorder = copyObject(result->aggorder);
		foreach_ptr(SortGroupClause, clause, result->aggorder)
		{
			clause->sortop = same_order(clause->sortop, exprType(get_sortgroupclause_expr(clause, ((Aggref *) node)->args)),
										exprType(get_sortgroupclause_expr(clause, result->args)));
		}
		return (Node *) result;
	}
	if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcformat == COERCE_IMPLICIT_CAST)
		return without_implicit_casts(linitial(((FuncExpr *) node)->args), context);
	if (IsA(node, RelabelType) && ((RelabelType *) node)->relabelformat == COERCE_IMPLICIT_CAST)
		return without_implicit_casts((Node *) ((RelabelType *) node)->arg, context);
	return expression_tree_mutator(node, without_implicit_casts, context);
}

/* Puts what the asker wrote in the place of what it has become, at the same place of the query's text. */
static Node *
as_written(Node *node, int levels, const DpFrom *from)
{
	for (int i = list_length(from->written) - 1; i >= 0; i--)
	{
		DpWritten  *note = list_nth(from->written, i);

		/* a value that is made of columns of its own may be met but once */
		if (equal(note->expr, node) && (IsA(note->written, SubLink) || exprLocation(note->expr) == exprLocation(node)))
			return dp_put(note->written, as_written, from);
	}
	return IsA(node, SubLink) ? node : NULL;
}

/* Returns the entries that texts may name: without those that nobody wrote, and with those that are entries no more. */
static Bitmapset *
named_entries(const DpRelease *release, DpFrom *from)
{
	Bitmapset  *entries = NULL;
	int			rti = -1;

	while ((rti = bms_next_member(from->entries, rti)) >= 0)
	{
		RangeTblEntry *rte = rt_fetch(rti, from->query->rtable);
		const DpPrefetch *prefetch = dp_prefetch_of(release, rte);

		if (prefetch != NULL ? !prefetch->is_filter : rte->rtekind != RTE_SUBQUERY || rte->inFromCl || rte->alias)
			entries = bms_add_member(entries, rti);
	}
	foreach_ptr(DpWritten, item, from->written)
	{
		if (IsA(item->written, Var))
			entries = bms_add_member(entries, castNode(Var, item->written)->varno);
	}
	return entries;
}

char *
dp_expression_text(DpLevel *level, Node *expr)
{
	Bitmapset  *entries = named_entries(level->release, &level->from);
	bool		several = bms_membership(entries) == BMS_MULTIPLE;
	char	   *text;

	/* not releasable, and nothing that can be deparsed by itself */
	if (checkExprHasSubLink(expr) || dp_walk(expr, is_outer_var, NULL))
		return IsA(expr, Aggref)
			? psprintf("%s(...)", get_func_name(((Aggref *) expr)->aggfnoid))
			: pstrdup("...");
	(void) dp_walk(expr, refuse_dropped, level);
	/* it is told of every column of every table, which may be many */
	if (level->names == NIL)
	{
		PlannedStmt *from = dp_make(PlannedStmt, .rtable = level->from.query->rtable);

		level->names = deparse_context_for_plan_tree(from, select_rtable_names_for_explain(from->rtable, entries));
	}
	expr = dp_put(expr, as_written, &level->from);
	text = deparse_expression(without_implicit_casts(expr, NULL), level->names, several, false);

	if (strlen(text) > 200)
		strcpy(text +pg_mbcliplen(text, strlen(text), 196), "...");
	return text;
}

/* a longer FROM is not repeated */
#define LONGEST_FROM 200

/* Makes an entry again the view that it was, of which nothing but its name may be left; false: it is what a statement by itself cannot name. */
static bool
name_view(RangeTblEntry *rte)
{
	Oid			view = rte->rtekind == RTE_SUBQUERY ? rte->relid : InvalidOid;

	if (rte->rtekind == RTE_SUBQUERY && !OidIsValid(view) && rte->alias == NULL)
		view = RelnameGetRelid(rte->eref->aliasname);
	if (OidIsValid(view))
	{
		rte->rtekind = RTE_RELATION;
		rte->relid = view;
		rte->relkind = RELKIND_VIEW;
		rte->inh = true;
		rte->subquery = NULL;
	}
	return rte->rtekind == RTE_RELATION || rte->rtekind == RTE_JOIN || rte->rtekind == RTE_VALUES ||
		(rte->rtekind == RTE_SUBQUERY && rte->alias != NULL);
}

/* Tells whether node names a WITH query or an outer column, or chooses rows, none of which an example has room for. */
static DpWalk
is_named_above(Node *node, int levels, void *context)
{
	return (IsA(node, Query) && ((Query *) node)->limitCount != NULL) ||
		(IsA(node, RangeTblEntry) && ((RangeTblEntry *) node)->rtekind == RTE_CTE) ||
		(IsA(node, Var) && ((Var *) node)->varlevelsup > levels);
}

const char *
dp_example_from(Query *query)
{
	Query	   *all = dp_make(Query, .commandType = CMD_SELECT, .canSetTag = true, .rtable = copyObject(query->rtable),
							  .jointree = makeFromExpr(copyObject(query->jointree->fromlist), NULL),
							  .targetList = list_make1(makeTargetEntry((Expr *) dp_int4_const(1), 1, pstrdup("k"), false)));
	List	   *joins = NIL;
	char	   *text;
	char	   *to;

	/* what joins the entries of a list stands in WHERE */
	foreach_ptr(Node, conjunct, list_length(query->jointree->fromlist) > 1 ? dp_conjuncts(query->jointree->quals) : NIL)
		if (bms_membership(pull_varnos(NULL, conjunct)) == BMS_MULTIPLE && !checkExprHasSubLink(conjunct))
		joins = lappend(joins, copyObject(conjunct));
	all->jointree->quals = joins ? (Node *) make_ands_explicit(joins) : NULL;
	foreach_node(RangeTblEntry, rte, all->rtable)
		if (!name_view(rte))
		return NULL;
	if (query->cteList != NIL || query->jointree->fromlist == NIL || dp_walk_all(all, is_named_above, NULL))
		return NULL;
	text = strstr(pg_get_querydef(all, false), "FROM ");

	if (text == NULL)
		return NULL;
	text	  +=strlen("FROM ");
	to = text;

	for (char *c = text; *c; c++)
		if (!scanner_isspace(*c) || (to > text &&to[-1] != ' ' && to[-1] != '('))
			*to++ = scanner_isspace(*c) ? ' ' : *c;
	*to = '\0';
	return strlen(text) <= LONGEST_FROM && strstr(text, "dp_cdp_internal") == NULL ? text : NULL;
}

const char *
dp_example_count(void)
{
	Oid			schema = dp_public_schema();
	bool		is_found = list_member_oid(fetch_search_path(true), schema);

	return psprintf("%s(*)", quote_qualified_identifier(is_found ? NULL : get_namespace_name(schema), "dp_count"));
}

/* Tells whether a column may be grouped by in an example. */
static bool
may_be_example(DpScope *scope, Var *var)
{
	DpColumnOrigin origin;

	return dp_type_is_key(getBaseType(var->vartype)) &&
		!(dp_trace_column(scope->query, scope, (Node *) var, &origin) && dp_leads_to_unit(origin.relid, origin.attnum));
}

/* Returns the name of a column of an entry, with that of the entry if it is among others. */
static const char *
example_name(RangeTblEntry *rte, AttrNumber column, bool is_among_others)
{
	const char *name = quote_identifier(get_rte_attribute_name(rte, column));

	return is_among_others ? psprintf("%s.%s", quote_identifier(rte->eref->aliasname), name) : name;
}

/* Returns a column of entry rti to group by in an example: the first one that the query names and that is not the unit, else one of the table; NULL: none is known. */
static const char *
example_column(DpScope *scope, Index rti, bool is_among_others)
{
	Query	   *query = scope->query;
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);

	foreach_ptr(Var, var, pull_vars_of_level((Node *) query->targetList, 0))
		if (IsA(var, Var) && var->varno == rti && var->varattno > 0 && may_be_example(scope, var))
		return example_name(rte, var->varattno, is_among_others);
	for (AttrNumber column = 1; rte->rtekind == RTE_RELATION && get_attname(rte->relid, column, true) != NULL; column++)
	{
		Oid			type = get_atttype(rte->relid, column);

		if (OidIsValid(type) && !dp_leads_to_unit(rte->relid, column) && dp_type_is_key(getBaseType(type)))
			return example_name(rte, column, is_among_others);
	}
	return NULL;
}

const char *
dp_example_of_groups(DpScope *scope, Index rti, Oid table, bool are_ranked)
{
	const char *from = dp_example_from(scope->query);
	const char *columns[] = {example_column(scope, rti, from != NULL && list_length(scope->query->rtable) > 1), NULL};

	for (int i = columns[0] == NULL; i < lengthof(columns); i++)
	{
		const char *column = columns[i];
		const char *groups = psprintf("SELECT %s%s AS n FROM %s%s", column ? psprintf("%s AS k, ", column) : "", dp_example_count(),
									  from ? from : dp_relation_text(table), column ? " GROUP BY 1" : "");
		const char *example = dp_example(!are_ranked ? groups : psprintf("SELECT %sn, rank() OVER (ORDER BY n DESC) FROM (%s) AS q",
																		 column ? "k, " : "", groups));

		if (example != NULL)
			return example;
	}
	return NULL;
}
