/*-------------------------------------------------------------------------
 *
 * released_spellings.c
 *	  Expressions that look at how released keys are written.
 *
 * A released key has the canonical form (canonical.c): 1 for rows that have
 * 1.0 and 1.00.  What PostgreSQL prints is that of whichever row came first,
 * so any form is an answer where the key is shown: as it is, as text, as a part
 * of a longer text or of JSON.  Where something is made to depend on the form,
 * it would be wrong:
 * - conditions on keys alone are asked of rows before they are grouped, which is
 *	 what PostgreSQL makes of them, too;
 * - all else is refused, by the text of the query alone.
 *
 * Columns are followed through subqueries, not through operands of UNION.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/errors.h"
#include "catalog/pg_type_d.h"
#include "guard/facts/facts.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "guard/spellings.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_coerce.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

/* How a value depends on the form of released keys. */
typedef enum Shown
{
	SHOWN_NOT,					/* it does not */
	SHOWN_AS_KEY,				/* it has several forms itself */
	SHOWN_IN_TEXT				/* it is a text, JSON or the like that
								 * contains one */
} Shown;

typedef struct Look
{
	List	   *keys;			/* of the query, canonical ones; its
								 * aggregates are of rows then */
	List	   *other_keys;		/* of the query */
	Query	   *query;			/* that columns are of */
	Shown	  **columns;		/* by entry and number, what columns are;
								 * NULL: SHOWN_NOT, all of them */
	int		   *ncolumns;
	Shown		found;			/* the most that was found */
	Node	   *looks;			/* what depends on the form and is not shown */
} Look;

static Shown **shown_columns(DpSplitContext *cxt, Query *query, int **ncolumns);

/* ------------------------------------------------------------------------
 * What is shown
 * ------------------------------------------------------------------------
 */

static bool
is_among(const char *name, const char *const *names, int n)
{
	for (int i = 0; name != NULL && i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Tells whether a node hands its arguments on as they are written, in a text or by themselves. */
static bool
hands_on(Node *node)
{
	static const char *const functions[] = {"text", "varchar", "bpchar", "name", "concat", "concat_ws", "format", "lower", "upper", "lpad",
		"rpad", "btrim", "quote_literal", "quote_ident", "to_json", "to_jsonb", "row_to_json", "json_build_object",
	"jsonb_build_object", "json_build_array", "jsonb_build_array", "json_object", "jsonb_object", "textcat"};
	char	   *name;

	switch (nodeTag(node))
	{
		case T_List:
		case T_TargetEntry:
		case T_CaseExpr:
		case T_CoalesceExpr:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_ArrayCoerceExpr:
		case T_CoerceToDomain:
		case T_ArrayExpr:
		case T_RowExpr:
		case T_NamedArgExpr:
		case T_Aggref:
		case T_WindowFunc:
		case T_GroupingFunc:
			return true;
		case T_FuncExpr:
			return is_among(dp_builtin_name((FuncExpr *) node), functions, lengthof(functions));
		case T_OpExpr:
			name = get_opname(((OpExpr *) node)->opno);
			return name != NULL && strcmp(name, "||") == 0;
		default:
			return false;
	}
}

/* Tells whether a call writes numeric by a template, for which its value alone counts. */
static bool
writes_by_template(Node *node)
{
	const char *name = IsA(node, FuncExpr) ? dp_builtin_name((FuncExpr *) node) : NULL;

	return name != NULL && strcmp(name, "to_char") == 0 && exprType(linitial(((FuncExpr *) node)->args)) == NUMERICOID;
}

static bool look_walker(Node *node, Look *look);

static Shown
inside_of(Node *node, Look *look)
{
	Shown		before = look->found;
	Shown		inside;

	look->found = SHOWN_NOT;
	(void) expression_tree_walker(node, look_walker, look);
	inside = look->found;
	look->found = before;
	return inside;
}

/* Returns that of the results of a CASE, and notes what its conditions look at. */
static Shown
shown_by_case(CaseExpr *expr, Look *look)
{
	Shown		shown = expr->defresult == NULL ? SHOWN_NOT : inside_of((Node *) list_make1(expr->defresult), look);
	ListCell   *lc;

	/* what it is compared with stands for it as a node that is not followed */
	if (expr->arg != NULL && inside_of((Node *) list_make1(expr->arg), look) == SHOWN_IN_TEXT && look->looks == NULL)
		look->looks = (Node *) expr->arg;
	foreach(lc, expr->args)
	{
		CaseWhen   *when = lfirst_node(CaseWhen, lc);

		(void) inside_of((Node *) list_make1(when->expr), look);
		shown = Max(shown, inside_of((Node *) list_make1(when->result), look));
	}
	return shown;
}

/* Returns how a node depends on the form of released keys, and notes what looks at it. */
static Shown
shown_by(Node *node, Look *look)
{
	Shown		inside;

	check_stack_depth();
	if (IsA(node, Query) || list_member(look->other_keys, node) || (look->keys != NIL && IsA(node, Aggref)))
		return SHOWN_NOT;
	if (list_member(look->keys, node))
		return SHOWN_AS_KEY;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;
		Node	   *key = look->columns == NULL || var->varlevelsup > 0 ? NULL
		: dp_group_expression(rt_fetch(var->varno, look->query->rtable), var);

		if (key != NULL)
			return shown_by(key, look);
		return look->columns == NULL || var->varlevelsup > 0 || var->varattno <= 0 || look->columns[var->varno] == NULL ||
			var->varattno > look->ncolumns[var->varno] ? SHOWN_NOT : look->columns[var->varno][var->varattno - 1];
	}
	inside = IsA(node, CaseExpr) ? shown_by_case((CaseExpr *) node, look) : inside_of(node, look);
	if (inside == SHOWN_NOT || IsA(node, NullTest) || writes_by_template(node))
		return SHOWN_NOT;
	if (IsA(node, List) || IsA(node, TargetEntry))
		return inside;
	if (inside == SHOWN_AS_KEY && dp_has_spellings(node))
		return SHOWN_AS_KEY;
	if (inside == SHOWN_AS_KEY && !IsA(node, Aggref) && !dp_tells_spellings_apart(node))
		return SHOWN_NOT;
	if (hands_on(node))
		return TypeCategory(getBaseType(exprType(node))) == TYPCATEGORY_NUMERIC ? SHOWN_NOT : SHOWN_IN_TEXT;
	if (look->looks == NULL)
		look->looks = node;
	return SHOWN_NOT;
}

static bool
look_walker(Node *node, Look *look)
{
	Shown		shown = node == NULL ? SHOWN_NOT : shown_by(node, look);

	look->found = Max(look->found, shown);
	return false;
}

/* Returns what depends on how released keys are written, and is more than a text that shows them; NULL: nothing. */
static Node *
what_looks(Node *node, Look *look)
{
	look->looks = NULL;
	(void) look_walker(node, look);
	return look->looks;
}

/* ------------------------------------------------------------------------
 * Columns of subqueries
 * ------------------------------------------------------------------------
 */

/* Tells whether a subquery is going to be released. */
static bool
is_released(DpSplitContext *cxt, Query *sub)
{
	DpScope		scope = {sub, cxt->scope};
	DpCollected collected = {.cxt = cxt};
	RangeTblEntry *base;

	dp_collect_aggregates(sub, &collected);
	return dp_query_touches_protected(sub) && dp_reads_rows(&scope, collected.first != NULL, &base) != 0;
}

static Query *
subquery_of(DpSplitContext *cxt, RangeTblEntry *rte)
{
	DpScope    *where;
	CommonTableExpr *cte;

	if (rte->rtekind != RTE_CTE)
		return rte->subquery;
	cte = dp_find_cte(cxt->scope, rte, &where);
	return cte != NULL ? castNode(Query, cte->ctequery) : NULL;
}

/* Returns the keys of a query that are not canonical, which are written as their rows are. */
static List *
other_keys(Query *query, List *canonical)
{
	return list_difference(get_sortgrouplist_exprs(query->groupClause, query->targetList), canonical);
}

/* Returns what the columns of a subquery are, of which n are shown; NULL: none depends on a form. */
static Shown *
shown_targets(DpSplitContext *cxt, Query *sub, bool in_with, int *n)
{
	Look		look = {0};
	Shown	   *result;
	bool		any = false;
	ListCell   *lc;

	check_stack_depth();
	if (sub->commandType != CMD_SELECT || sub->setOperations || !dp_query_touches_protected(sub))
		return NULL;
	if (is_released(cxt, sub))
	{
		look.keys = dp_canonical_keys(sub);
		look.other_keys = other_keys(sub, look.keys);
	}
	else if (!in_with)
	{
		DpScope		scope = {sub, cxt->scope};

		/*
		 * each of the subqueries of a subquery is looked at once; WITH
		 * queries may be named often
		 */
		cxt->scope = &scope;
		look.query = sub;
		look.columns = shown_columns(cxt, sub, &look.ncolumns);
		cxt->scope = scope.outer;
	}
	if (look.keys == NIL && look.columns == NULL)
		return NULL;
	*n = list_length(sub->targetList);
	result = palloc0(sizeof(Shown) * (*n + 1));
	foreach(lc, sub->targetList)
	{
		TargetEntry *tle = lfirst_node(TargetEntry, lc);

		result[tle->resno - 1] = shown_by((Node *) tle->expr, &look);
		any |= result[tle->resno - 1] != SHOWN_NOT;
	}
	return any ? result : NULL;
}

/* Returns what the columns of each entry are; NULL: none depends on a form. */
static Shown **
shown_columns(DpSplitContext *cxt, Query *query, int **ncolumns)
{
	Shown	  **result = palloc0(sizeof(Shown *) * (list_length(query->rtable) + 1));
	bool		any = false;
	ListCell   *lc;

	*ncolumns = palloc0(sizeof(int) * (list_length(query->rtable) + 1));
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);
		int			rti = foreach_current_index(lc) + 1;
		Query	   *sub = rte->rtekind == RTE_SUBQUERY || rte->rtekind == RTE_CTE ? subquery_of(cxt, rte) : NULL;

		if (sub != NULL)
			result[rti] = shown_targets(cxt, sub, rte->rtekind == RTE_CTE, &(*ncolumns)[rti]);
		any |= result[rti] != NULL;
	}
	return any ? result : NULL;
}

/* ------------------------------------------------------------------------
 * Levels
 * ------------------------------------------------------------------------
 */

static void
refuse_condition(DpSplitContext *cxt, Node *condition)
{
	dp_refuse_at(exprLocation(condition),
				 errmsg("this condition would look at how released keys are written (1.0 as 1); compare their values, or put it into the WHERE beside the private aggregates"));
}

/* Refuses expressions of the select list that depend on how released keys are written. */
static void
check_shown(DpSplitContext *cxt, Query *query, Look *look)
{
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		Node	   *looks = what_looks(lfirst(lc), look);

		if (looks != NULL)
			dp_refuse_at(exprLocation(looks),
						 errmsg("this expression would look at how released keys are written (1.0 as 1); show the key, compute with its value, or group by the expression"));
	}
}

void
dp_ask_rows_for_spellings(DpSplitContext *cxt, Query *query)
{
	DpSpellings s = {.query = query, .keys = dp_canonical_keys(query)};
	Look		look = {.keys = s.keys, .other_keys = other_keys(query, s.keys)};
	ListCell   *lc;

	if (s.keys == NIL)
		return;
	dp_ask_rows_of_keys(&s);
	foreach(lc, dp_conjuncts(query->havingQual))
	{
		if (what_looks(lfirst(lc), &look) != NULL)
			refuse_condition(cxt, lfirst(lc));
	}
	check_shown(cxt, query, &look);
}

/* Refuses conditions of joins that see how released keys are written. */
static void
check_joins(DpSplitContext *cxt, Look *look, Node *node)
{
	ListCell   *lc;

	check_stack_depth();
	if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		check_joins(cxt, look, join->larg);
		check_joins(cxt, look, join->rarg);
		if (join->quals != NULL && what_looks(join->quals, look) != NULL)
			refuse_condition(cxt, join->quals);
	}
	foreach(lc, IsA(node, FromExpr) ? ((FromExpr *) node)->fromlist : NIL)
		check_joins(cxt, look, lfirst(lc));
}

/* Asks a condition of a subquery, in terms of that: before its rows are grouped, or of the keys of its groups. */
static void
ask_subquery(Query *sub, Node *condition)
{
	if (sub->groupClause == NIL)
		dp_add_conjunct(sub, condition);
	else
		sub->havingQual = (Node *) make_ands_explicit(lappend(dp_conjuncts(sub->havingQual), condition));
}

void
dp_ask_below_for_spellings(DpSplitContext *cxt, Query *query)
{
	Look		look = {0};
	List	   *stays = NIL;
	ListCell   *lc;

	if (query->commandType != CMD_SELECT || query->setOperations)
		return;
	look.query = query;
	look.columns = shown_columns(cxt, query, &look.ncolumns);
	if (look.columns == NULL)
		return;
	check_joins(cxt, &look, (Node *) query->jointree);
	foreach(lc, dp_conjuncts(query->jointree->quals))
	{
		Node	   *condition = lfirst(lc);
		Query	   *sub;
		Node	   *below;

		if (what_looks(condition, &look) == NULL)
		{
			stays = lappend(stays, condition);
			continue;
		}
		below = dp_in_terms_of_subquery(query, condition, &sub);
		if (below == NULL)
			refuse_condition(cxt, condition);
		ask_subquery(sub, below);
	}
	if (list_length(stays) != list_length(dp_conjuncts(query->jointree->quals)))
		query->jointree->quals = stays == NIL ? NULL : (Node *) make_ands_explicit(stays);
	foreach(lc, dp_conjuncts(query->havingQual))
	{
		if (what_looks(lfirst(lc), &look) != NULL)
			refuse_condition(cxt, lfirst(lc));
	}
	check_shown(cxt, query, &look);
}
