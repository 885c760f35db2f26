/*-------------------------------------------------------------------------
 *
 * compared_rows.c
 *	  Subqueries that compare rows of the level around them by more than
 *	  equality, which read these rows themselves.
 *
 *	 (SELECT count(*) FROM r WHERE r.x <= s.x), of public rows s
 *	   (SELECT count(*) FROM r, (SELECT DISTINCT x FROM s) d WHERE r.x <= d.x AND d.x = s.x)
 *	 (SELECT count(*) FROM r WHERE r.unit = t.unit AND r.x <= t.x), of protected rows t
 *	   (SELECT count(*) FROM r, (SELECT DISTINCT unit, x FROM t) d WHERE r.unit = d.unit AND r.x <= d.x AND d.unit = t.unit AND d.x = t.x)
 *	 (SELECT max(x) FROM p WHERE p.x <= t.x), of public rows p
 *	   with the unit of t beside x, too
 *
 * Invariants:
 * - Protected rows are read with their unit, by which the subquery is joined: what it computes is of one unit's rows, as
 *	 read/joins.c sees and enforces.  They are rows, and no release.
 * - The rows are read a second time only where they are the same rows then, and with the rights of who asks.
 * - Where one of their columns is NULL the subquery's WHERE is not true: it finds no rows, as the equality does.
 * - One row stands for all that are equal, so that no condition may tell these apart.
 * - What is added is seen by WHERE, and within aggregates, and by nothing in FROM.
 * - Conditions of the level that name these rows alone hold for the second time, too: other rows would be groups that nobody sees.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "base/compat.h"
#include "base/compat_plan.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* Tells whether a function's results may differ from call to call; only PostgreSQL's own are believed to be stable. */
static bool
may_change(Oid function, void *context)
{
	char		volatility = func_volatile(function);

	return volatility == PROVOLATILE_VOLATILE || (volatility == PROVOLATILE_STABLE && function >= FirstNormalObjectId);
}

/* Tells whether what is read may be other rows when it is read again. */
static DpWalk
reads_anew(Node *node, int levels, void *context)
{
	const RangeTblEntry *rte = (const RangeTblEntry *) node;
	const Query *query = (const Query *) node;

	if (IsA(node, RangeTblEntry))
		return rte->rtekind == RTE_CTE || rte->rtekind == RTE_NAMEDTUPLESTORE || rte->tablesample != NULL;
	if (IsA(node, Query))
		return query->limitCount != NULL || query->limitOffset != NULL || query->hasDistinctOn || query->hasWindowFuncs ||
			query->commandType != CMD_SELECT;
	return check_functions_in_node(node, may_change, NULL);
}

bool
dp_may_read_others(Node *node)
{
	return dp_walk_all(node, reads_anew, NULL);
}

/* Tells whether a type's equal values may be written differently, which comparisons do not tell. */
static bool
is_compared(Oid type)
{
	return type == NUMERICOID || type == FLOAT4OID || type == FLOAT8OID || type == BPCHAROID || type == NAMEOID ||
		type == TIMEOID || type_is_enum(type);
}

typedef struct UseContext
{
	Index		rti;			/* the entry of the level around that is
								 * named; 0: none yet */
	int			sublevels;
	List	   *vars;			/* its columns, each once */
} UseContext;

/* Takes a column that a subquery names of the level around it; bare: a comparison has it by itself. */
static bool
take_column(UseContext *c, Var *var, bool bare)
{
	if (var->varattno <= 0 || (c->rti != 0 && var->varno != c->rti) || !(dp_equal_is_same(var) || (bare && is_compared(var->vartype))))
		return false;
	c->rti = var->varno;
	foreach_node(Var, item, c->vars)
		if (item->varattno == var->varattno)
		return true;
	c->vars = lappend(c->vars, var);
	return true;
}

/* Returns true where something else is named of the level around than columns of one entry, as they may be. */
static bool
use_walker(Node *node, UseContext *c)
{
	DpComparison compared;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varlevelsup == c->sublevels && !take_column(c, (Var *) node, false);
	if (dp_read_operator(node, &compared))
	{
		foreach_ptr(Var, var, list_make2(compared.left, compared.right))
		{
			if (IsA(var, Var) && var->varlevelsup == c->sublevels && dp_strategy_of(compared.opno, var->vartype) != 0
				? !take_column(c, var, true) : use_walker((Node *) var, c))
				return true;
		}
		return false;
	}
	if (IsA(node, Query))
	{
		bool		found;

		c->sublevels++;
		found = query_tree_walker((Query *) node, use_walker, c, 0);
		c->sublevels--;
		return found;
	}
	return expression_tree_walker(node, use_walker, c);
}

/* Tells whether FROM of a subquery names the level around it, where what is added to it cannot be seen. */
static bool
from_names_outside(Query *sub)
{
	if (contain_vars_of_level((Node *) sub->jointree->fromlist, 1))
		return true;
	foreach_ptr(RangeTblEntry, rte, sub->rtable)
	{
		if ((rte->rtekind == RTE_SUBQUERY && contain_vars_of_level((Node *) rte->subquery, 2)) ||
			contain_vars_of_level((Node *) rte->functions, 1) || contain_vars_of_level((Node *) rte->values_lists, 1) ||
			rte->tablefunc != NULL || rte->tablesample != NULL)
			return true;
	}
	return false;
}

/* Adds to a SELECT of entry rti's columns the conditions of its level that name these columns alone. */
static void
add_own_conditions(Query *select, Node *from, Index rti)
{
	FromExpr   *level = (FromExpr *) from;

	if (!IsA(from, FromExpr))
		return;
	/* subqueries that are columns by now are joined to all of the level */
	if (list_length(level->fromlist) == 1 && IsA(linitial(level->fromlist), JoinExpr))
		add_own_conditions(select, linitial_node(JoinExpr, level->fromlist)->larg, rti);
	foreach_ptr(Node, conjunct, dp_conjuncts(level->quals))
	{
		Node	   *condition = copyObject(conjunct);
		bool		own = !checkExprHasSubLink(condition) && !contain_volatile_functions(condition);

		foreach_ptr(Var, var, pull_var_clause(condition, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS))
		{
			own &= var->varno == rti && var->varattno > 0;
			dp_set_nulled_by(var, 0);
		}
		if (!own || contain_vars_of_level(condition, 1))
			continue;
		ChangeVarNodes(condition, rti, 1, 0);
		dp_add_conjunct(select, condition);
	}
}

RangeTblEntry *
dp_copied_entry(DpScope *scope, Index rti)
{
	RangeTblEntry *rte = copyObject(rt_fetch(rti, scope->query->rtable));

	if (rte->rtekind == RTE_CTE)
	{
		DpScope    *owner;
		CommonTableExpr *cte = dp_find_cte(scope, rte, &owner);
		Query	   *query;

		if (cte == NULL)
			return NULL;
		query = castNode(Query, copyObject(cte->ctequery));
		IncrementVarSublevelsUp((Node *) query, rte->ctelevelsup, 1);
		rte = dp_subquery_entry(query, rte->ctename);
	}
	if ((rte->rtekind != RTE_RELATION && rte->rtekind != RTE_SUBQUERY && rte->rtekind != RTE_FUNCTION && rte->rtekind != RTE_VALUES) ||
		dp_refers_outside(scope, rte))
		return NULL;
	return dp_walk_all(dp_select_from(rte), reads_anew, NULL) ? NULL : rte;
}

/*
 * Returns SELECT DISTINCT of these columns of an entry of the level around a subquery; NULL: its rows may be others.
 * s: of a level of protected rows, which the entry may have; NULL: of a public one.
 */
static Query *
distinct_rows(DpScope *scope, Index rti, List *vars, const DpSource *s)
{
	RangeTblEntry *rte = dp_copied_entry(scope, rti);
	RangeTblEntry *shown = rt_fetch(rti, scope->query->rtable);
	Query	   *select;

	if (rte == NULL)
		return NULL;
	select = dp_select_copied(scope->query, rti, rte);
	add_own_conditions(select, (Node *) scope->query->jointree, rti);
	foreach_ptr(Var, var, vars)
	{
		Var		   *column = dp_output_var(1, var->varattno, (Node *) var);
		TargetEntry *tle = dp_show_column(select, (Expr *) column, get_rte_attribute_name(shown, var->varattno));

		select->distinctClause = lappend(select->distinctClause, dp_group_clause(tle));
	}
	if (dp_walk_all(select, reads_anew, NULL))
		return NULL;
	if (OidIsValid(dp_query_touches_protected(select)) && (s == NULL || !dp_entry_yields_rows(scope, shown, s->even_if_readable)))
		return NULL;
	return select;
}

Var *
dp_column_of_entry(RangeTblEntry *rte, Index rti, AttrNumber i)
{
	Oid			type = InvalidOid;
	int32		typmod;
	Oid			collation;

	if (*strVal(list_nth(rte->eref->colnames, i - 1)) == '\0')
		return NULL;
	if (rte->rtekind == RTE_RELATION)
		get_atttypetypmodcoll(rte->relid, i, &type, &typmod, &collation);
	else if (rte->rtekind == RTE_SUBQUERY)
	{
		TargetEntry *tle = get_tle_by_resno(rte->subquery->targetList, i);

		type = exprType((Node *) tle->expr);
		typmod = exprTypmod((Node *) tle->expr);
		collation = exprCollation((Node *) tle->expr);
	}
	else if (rte->rtekind == RTE_CTE)
	{
		type = list_nth_oid(rte->coltypes, i - 1);
		typmod = list_nth_int(rte->coltypmods, i - 1);
		collation = list_nth_oid(rte->colcollations, i - 1);
	}
	return OidIsValid(type) ? makeVar(rti, i, type, typmod, collation, 0) : NULL;
}

/* Returns these columns of an entry, with the one that names the unit of its rows, if there is one. */
static List *
with_unit(DpScope *scope, Index rti, List *vars)
{
	RangeTblEntry *rte = rt_fetch(rti, scope->query->rtable);

	for (AttrNumber i = 1; i <= list_length(rte->eref->colnames); i++)
	{
		Var		   *unit = dp_column_of_entry(rte, rti, i);

		if (unit == NULL || !dp_is_unit_origin(scope, (Node *) unit, false))
			continue;
		foreach_node(Var, var, vars)
			if (var->varattno == i)
			return vars;
		unit->varlevelsup = 1;
		return lappend(list_copy(vars), unit);
	}
	return vars;
}

typedef struct AddedColumns
{
	List	   *far;			/* of the level around */
	List	   *near;			/* the same of the entry that is added */
} AddedColumns;

/* Puts the columns of the entry that is added in the place of those of the level around, within aggregates. */
static Node *
put_in_aggregate(Node *node, int levels, const AddedColumns *c)
{
	return IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == 0 ? dp_put_near(node, c->far, c->near) : NULL;
}

/* Returns the column of entry rti that conditions of the level make the same as one that a subquery names; NULL: there is none. */
static Var *
same_column(DpScope *scope, List *conditions, const Var *var, Index rti)
{
	Var		   *here = copyObject((Var *) var);

	here->varlevelsup = 0;
	foreach_ptr(Var, same, dp_equal_columns(scope->query, conditions, list_make1(here)))
	{
		if (same->varno == rti && same->varattno > 0 && same->vartype == var->vartype && same->vartypmod == var->vartypmod &&
			same->varcollid == var->varcollid && dp_equal_is_same(same))
			return same;
	}
	return NULL;
}

/* Lets a subquery, in place, name the same columns of one entry where it names several of the level around it. */
static void
name_one_entry(DpScope *scope, Query *sub)
{
	List	   *vars = pull_vars_of_level((Node *) sub, 1);
	List	   *conditions = dp_conditions_of_all((Node *) scope->query->jointree);
	ListCell   *of,
			   *lc;

	foreach(of, vars)
	{
		Index		rti = lfirst_node(Var, of)->varno;
		bool		all = true;

		foreach(lc, vars)
			all = all && (lfirst_node(Var, lc)->varno == rti || same_column(scope, conditions, lfirst(lc), rti) != NULL);
		if (!all)
			continue;
		foreach(lc, vars)
		{
			Var		   *var = lfirst(lc);
			Var		   *same = var->varno == rti ? NULL : same_column(scope, conditions, var, rti);

			if (same == NULL)
				continue;
			same = copyObject(same);
			same->varlevelsup = var->varlevelsup;
			*var = *same;
		}
		return;
	}
}

/*
 * Lets a flattened subquery, in place, compare columns of one entry of scope's query by equality alone; false, and
 * nothing has changed, where the rows may differ when they are read again.
 */
static bool
compare_by_equality(DpScope *scope, Query *sub, const DpSource *s)
{
	UseContext	uses = {0};
	AddedColumns c = {0};
	int			compared;
	Index		rti = list_length(sub->rtable) + 1;
	Query	   *rows;
	Node	   *quals;

	if (s != NULL)
		name_one_entry(scope, sub);
	if (sub->setOperations != NULL || sub->cteList != NIL || from_names_outside(sub) ||
		query_tree_walker(sub, use_walker, (uses.sublevels = 1, &uses), 0) || uses.vars == NIL)
		return false;
	/* the unit that is added is compared by equality alone */
	compared = list_length(uses.vars);
	if (s != NULL)
		uses.vars = with_unit(scope, uses.rti, uses.vars);
	rows = distinct_rows(scope, uses.rti, uses.vars, s);
	if (rows == NULL)
		return false;
	c.far = uses.vars;
	foreach_ptr(Node, var, uses.vars)
		c.near = lappend(c.near, dp_output_var(rti, foreach_current_index(var) + 1, var));
	quals = dp_put_near(sub->jointree->quals, c.far, c.near);
	foreach_ptr(const Var, item, c.near)
		if (foreach_current_index(item) < compared && !dp_excludes_null(quals, item))
		return false;
	sub->jointree->quals = quals;
	sub->targetList = (List *) dp_put(sub->targetList, put_in_aggregate, &c);
	sub->havingQual = dp_put(sub->havingQual, put_in_aggregate, &c);
	(void) dp_add_to_from(sub, dp_subquery_entry(rows, rt_fetch(uses.rti, scope->query->rtable)->eref->aliasname));
	for (int i = 0; i < list_length(c.near); i++)
	{
		Var		   *near = list_nth_node(Var, c.near, i);
		Oid			equal = lookup_type_cache(near->vartype, TYPECACHE_EQ_OPR)->eq_opr;

		dp_add_conjunct(sub, (Node *) dp_make_comparison(equal, (Expr *) copyObject(near), (Expr *) copyObject(list_nth(c.far, i)), near->varcollid));
	}
	return true;
}

bool
dp_take_all_conditions(DpCorrelation *c, Query *sub, DpScope *scope, const DpSource *s)
{
	DpCorrelation before = *c;

	if (dp_take_conditions(c, sub))
		return true;
	if (scope == NULL || !compare_by_equality(scope, sub, s))
		return false;
	*c = before;
	return dp_take_conditions(c, sub);
}
