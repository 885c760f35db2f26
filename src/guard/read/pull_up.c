/*-------------------------------------------------------------------------
 *
 * pull_up.c
 *	  A subquery whose public rows may have no match among protected ones, as
 *	  part of the level that reads nothing else.
 *
 *	 SELECT city, count(id) FROM (SELECT s.*, o.id FROM stores s LEFT JOIN orders o ON o.store = s.store) q GROUP BY city
 *	   SELECT s.city, count(o.id) FROM stores s LEFT JOIN orders o ON o.store = s.store GROUP BY s.city
 *
 * Rows without a match are nobody's.  A subquery with such rows is refused, while a
 * level knows what they are in its answer (describe/outer_groups.c).  PostgreSQL's planner
 * itself writes such a subquery so.
 *
 * Invariants:
 * - The subquery filters, projects and joins, and is the level's whole FROM: no
 *	 outer join makes its columns NULL.
 * - Nothing volatile is computed more or less often.
 * - Views stay, as they ask for privileges of their own.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_class.h"
#include "guard/read/read.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

/* Tells whether a part of a join tree has protected rows. */
static bool
has_protected(DpScope *scope, Node *node, bool even_if_readable)
{
	RangeTblEntry *rte;

	check_stack_depth();
	if (IsA(node, JoinExpr))
		return has_protected(scope, ((JoinExpr *) node)->larg, even_if_readable) ||
			has_protected(scope, ((JoinExpr *) node)->rarg, even_if_readable);
	if (!IsA(node, RangeTblRef))
		return false;
	rte = rt_fetch(((RangeTblRef *) node)->rtindex, scope->query->rtable);
	return (rte->rtekind == RTE_RELATION && dp_is_protected(rte)) || dp_entry_yields_rows(scope, rte, even_if_readable);
}

/* Tells whether a join, or one in it, keeps public rows that have no match among protected ones. */
static bool
keeps_nobodys(DpScope *scope, Node *node, bool even_if_readable)
{
	JoinExpr   *join = (JoinExpr *) node;
	bool		is_left;

	check_stack_depth();
	if (!IsA(node, JoinExpr))
		return false;
	is_left = join->jointype == JOIN_LEFT;
	if ((is_left || join->jointype == JOIN_RIGHT) && !has_protected(scope, is_left ? join->larg : join->rarg, even_if_readable) &&
		has_protected(scope, is_left ? join->rarg : join->larg, even_if_readable))
		return true;
	return keeps_nobodys(scope, join->larg, even_if_readable) || keeps_nobodys(scope, join->rarg, even_if_readable);
}

/* Tells whether a subquery may stand in the place of the level's only entry. */
static bool
is_simple(Query *sub)
{
	if (!dp_only_reads(sub, false) || sub->distinctClause != NIL || sub->cteList != NIL || sub->limitCount != NULL ||
		checkExprHasSubLink((Node *) sub->targetList) || contain_volatile_functions((Node *) sub))
		return false;
	foreach_ptr(RangeTblEntry, rte, sub->rtable)
	{
		/* of a view, before PostgreSQL 16 */
		if (rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_VIEW)
			return false;
	}
	return true;
}

/* Returns the entry that is all that a query reads, if it is a subquery, or a WITH query that is named once; NULL: it is not. */
static RangeTblEntry *
only_entry(DpSource *s, DpScope *scope, Index *rti)
{
	Query	   *query = scope->query;
	RangeTblRef *ref = list_length(query->jointree->fromlist) == 1 ? linitial(query->jointree->fromlist) : NULL;
	RangeTblEntry *rte;
	CommonTableExpr *cte;
	DpScope    *owner;

	if (ref == NULL || !IsA(ref, RangeTblRef))
		return NULL;
	*rti = ref->rtindex;
	rte = rt_fetch(ref->rtindex, query->rtable);
	if (rte->rtekind == RTE_CTE)
	{
		cte = dp_find_cte(scope, rte, &owner);
		if (cte == NULL || cte->cterefcount != 1 || !is_simple((Query *) cte->ctequery))
			return NULL;
		rte = copyObject(rte);
		dp_inline_cte(s, scope, rte, false);
	}
	if (rte->rtekind != RTE_SUBQUERY || OidIsValid(rte->relid) || rte->security_barrier || rte->securityQuals != NIL ||
		!is_simple(rte->subquery) || dp_refers_outside(scope, rte))
		return NULL;
	return rte;
}

static bool
pull_up(DpSource *s, DpScope *scope)
{
	Query	   *query = scope->query;
	Index		rti;
	RangeTblEntry *rte = only_entry(s, scope, &rti);
	Query	   *sub;
	DpScope		inner = {NULL, scope};
	List	   *values = NIL;
	int			places;

	check_stack_depth();
	if (rte == NULL)
		return false;
	sub = inner.query = copyObject(rte->subquery);
	dp_flatten_level(sub);
	if (!pull_up(s, &inner) &&
		!(list_length(sub->jointree->fromlist) == 1 && keeps_nobodys(&inner, linitial(sub->jointree->fromlist), s->even_if_readable)))
		return false;
	foreach_ptr(TargetEntry, tle, sub->targetList)
	{
		if (!tle->resjunk)
			values = lappend(values, tle->expr);
	}
	places = dp_count_places(query, rti);
	if (places < 0 || !dp_may_be_repeated(values, places))
		return false;
	OffsetVarNodes((Node *) sub, list_length(query->rtable), 0);
	IncrementVarSublevelsUp((Node *) sub, -1, 1);
	dp_append_entries(query, sub);
	dp_replace_columns(query, rti, values);
	query->jointree->fromlist = sub->jointree->fromlist;
	foreach_ptr(Node, condition, dp_conjuncts(sub->jointree->quals))
		dp_add_conjunct(query, condition);
	query->hasSubLinks |= sub->hasSubLinks;
	query->hasRowSecurity |= sub->hasRowSecurity;
	dp_clear_rte(rt_fetch(rti, query->rtable));
	return true;
}

void
dp_pull_up_unmatched(DpSource *s, DpScope *scope)
{
	(void) pull_up(s, scope);
}
