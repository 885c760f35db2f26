/*-------------------------------------------------------------------------
 *
 * sublinks.c
 *	  EXISTS, NOT EXISTS, IN and NOT IN over subqueries, as joins.
 *
 * A conjunct of a level's WHERE that is such a condition becomes a join with
 * the subquery, as PostgreSQL's planner itself writes it. The subquery is then
 * read and judged as any other (subquery.c, joins.c):
 *
 *	 EXISTS (SELECT FROM r WHERE r.k = t.k AND ...)
 *	   t SEMI JOIN (SELECT k FROM r WHERE ...) q ON q.k = t.k
 *	 NOT EXISTS (...)
 *	   t ANTI JOIN (...) q ON q.k = t.k
 *	 x IN (SELECT k FROM r WHERE ...)
 *	   t SEMI JOIN (...) q ON x = q.k
 *	 x NOT IN (SELECT k FROM r WHERE ...)
 *	   t ANTI JOIN (...) q ON (x = q.k) IS NOT FALSE, or x = q.k where NULL is
 *	   no value of k, and none of x, or makes the row nobody's; where nothing else is compared
 *	   with rows of people, a NULL of anybody's would decide: it stays
 *
 * Where subqueries stand elsewhere, and those of one value, are in
 * sublink_values.c.
 *
 * Invariants:
 * - Such a join leaves rows out and does nothing else: none is repeated, and
 *	 no column of the subquery can be named above it.
 * - Which rows of a protected table a row is compared with is for joins.c to
 *	 judge: those of the same unit.
 * - What is not understood stays where it is, and is refused there (vet.c).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"

/* a subquery on its way to become an entry of the level around it */
typedef struct PullUp
{
	Query	   *sub;
	Index		rti;			/* the entry's number */
	List	   *targets;		/* TargetEntries: what is read of it */
} PullUp;

/* ------------------------------------------------------------------------
 * What becomes of conditions
 * ------------------------------------------------------------------------
 */

/* Returns the column of the entry that shows an expression of the subquery. */
static Node *
column_for(Node *expr, PullUp *p)
{
	TargetEntry *tle = tlist_member((Expr *) expr, p->targets);
	Var		   *var = (Var *) expr;

	if (tle == NULL)
	{
		int			n = list_length(p->targets) + 1;
		char	   *name = psprintf("k%d", n);

		/* messages speak of units by their names */
		if (IsA(var, Var) && var->varattno > 0)
			name = get_rte_attribute_name(rt_fetch(var->varno, p->sub->rtable), var->varattno);
		tle = makeTargetEntry((Expr *) expr, n, pstrdup(name), false);
		p->targets = lappend(p->targets, tle);
	}
	return (Node *) dp_output_var(p->rti, tle->resno, expr);
}

/* Puts columns of the entry in the place of those that x IN (SELECT ...) compares with. */
static Node *
put_compared(Node *node, int levels, PullUp *p)
{
	Param	   *param = (Param *) node;

	return IsA(node, Param) && param->paramkind == PARAM_SUBLINK
		? column_for((Node *) get_tle_by_resno(p->sub->targetList, param->paramid)->expr, p) : NULL;
}

/* ------------------------------------------------------------------------
 * The subquery
 * ------------------------------------------------------------------------
 */

/* Tells whether a condition asks of the entry just that a column of it is equal to something. */
static bool
is_equality(PullUp *p, Node *condition)
{
	DpComparison c;

	for (int side = 0; side < 2 && dp_read_side(condition, side, &c); side++)
	{
		Node	   *column = dp_strip_relabel(c.left);

		if (IsA(column, Var) && ((Var *) column)->varno == p->rti)
			return dp_compares_groups(&c, c.left);
	}
	return false;
}

/* Leaves the subquery nothing but columns. */
static void
show_targets(PullUp *p)
{
	p->sub->targetList = p->targets;
	p->sub->distinctClause = NIL;
	p->sub->sortClause = NIL;
	p->sub->limitCount = NULL;
}

/* Has public rows, which are computed beforehand, computed once each, where equal ones compare alike. */
static void
show_once(PullUp *p, List *conditions)
{
	foreach_ptr(Node, condition, conditions)
	{
		if (!is_equality(p, condition))
			return;
	}
	foreach_ptr(TargetEntry, tle, p->targets)
		p->sub->distinctClause = lappend(p->sub->distinctClause, dp_group_clause(tle));
}

/* ------------------------------------------------------------------------
 * The level
 * ------------------------------------------------------------------------
 */

/* Joins entry rti to all that the level reads. */
static void
join_entry(Query *query, JoinType type, Index rti, List *conditions)
{
	JoinExpr   *join = dp_make(JoinExpr, .jointype = type, .larg = (Node *) query->jointree, .rarg = dp_entry_ref(rti),
							   .quals = (Node *) make_ands_explicit(conditions));

	query->jointree = makeFromExpr(list_make1(join), NULL);
}

/* Tells whether x NOT IN (SELECT k ...) compares by equality with k itself. */
static bool
is_refutable(SubLink *link, Query *sub)
{
	DpComparison c;

	return dp_read_operator(link->testexpr, &c) && dp_groups_by(c.opno, (Node *) linitial_node(TargetEntry, sub->targetList)->expr) &&
		IsA(dp_strip_relabel(c.right), Param);
}

/* Tells whether the subquery of x NOT IN (SELECT k ...) may show NULL.  Rows whose unit is NULL are nobody's. */
static bool
may_show_null(DpScope *scope)
{
	Node	   *k = (Node *) linitial_node(TargetEntry, scope->query->targetList)->expr;

	return !dp_shows_no_null(scope->query, k) && !dp_is_unit_origin(scope, k, true);
}

/*
 * Tells whether rows that are somebody's may have no value here.  By an equality alone rows of other
 * tables are of one unit: then a row without it is nobody's, unless an outer join made it NULL.
 */
static bool
may_lack(Query *query, Node *expr, bool even_if_null)
{
	DpColumnOrigin origin;

	if (dp_shows_no_null(query, expr))
		return false;
	return even_if_null || !dp_trace_column(query, NULL, expr, &origin) || origin.may_be_null;
}

/* Puts a join in the place of a conjunct of from->query; false if it stays. */
static bool
join_sublink(DpSource *s, DpScope *scope, DpFrom *from, SubLink *link, bool negated)
{
	Query	   *query = from->query;
	bool		exists = link->subLinkType == EXISTS_SUBLINK;
	PullUp		p = {copyObject((Query *) link->subselect), list_length(query->rtable) + 1};
	DpScope		inner = {p.sub, scope};
	RangeTblEntry *base;
	RangeTblEntry *rte;
	List	   *conditions = NIL;
	List	   *outward = NIL;
	DpComparison c;
	bool		is_public;
	bool		nulls;

	if ((!exists && link->subLinkType != ANY_SUBLINK) || contain_volatile_functions((Node *) p.sub) ||
		checkExprHasSubLink(link->testexpr))
		return false;
	if (!dp_only_reads(p.sub, exists) && (exists || negated || contain_vars_of_level((Node *) p.sub, 1)))
	{
		p.sub = inner.query = dp_lifted(p.sub, scope, s);
		if (p.sub == NULL)
			return false;
	}
	if (dp_only_reads(p.sub, exists))
	{
		is_public = dp_reads_rows(&inner, s->even_if_readable, &base) == 0;
		dp_bring_near(p.sub);
		if (!exists && negated && !is_refutable(link, inner.query))
			return false;
		nulls = !exists && negated && may_show_null(&inner);
		if (!exists)
			conditions = make_ands_implicit((Expr *) dp_put(link->testexpr, put_compared, &p));
		if (!dp_take_outward(p.sub, &outward))
			return false;
		conditions = list_concat(conditions, (List *) dp_put_outward((Node *) outward, (DpShowColumn) column_for, &p));
		if (p.targets == NIL)
			return false;
		if (nulls && !is_public && list_length(conditions) == 1)
			return false;

		/*
		 * any row finds a NULL: x NOT IN (SELECT ...) is true of it only
		 * where there is no row
		 */
		if (!exists && negated && dp_read_operator(linitial(conditions), &c) &&
			(nulls || may_lack(query, c.left, is_public || list_length(conditions) > 1)))
			linitial(conditions) = dp_make(BooleanTest, .arg = linitial(conditions), .booltesttype = IS_NOT_FALSE, .location = -1);
		show_targets(&p);
		if (is_public)
			show_once(&p, conditions);
	}
	else
	{
		/* compared with whatever the subquery makes of its rows */
		if (p.sub->commandType != CMD_SELECT)
			return false;
		p.targets = copyObject(p.sub->targetList);
		conditions = make_ands_implicit((Expr *) dp_put(link->testexpr, put_compared, &p));
	}
	if (contain_vars_of_level((Node *) p.sub, 1))
		return false;
	rte = dp_subquery_entry(p.sub, dp_first_name(p.sub));
	if (link->subLinkId == DP_LINK_FILTERS || link->subLinkId == DP_LINK_TELLS_KEYS)
		rte->enrname = pstrdup(link->subLinkId == DP_LINK_FILTERS ? DP_FILTER_MARK : DP_KEYS_MARK);
	query->rtable = lappend(query->rtable, rte);
	join_entry(query, negated ? JOIN_ANTI : JOIN_SEMI, p.rti, conditions);
	return true;
}

static SubLink *
sublink_of(Node *conjunct, bool *negated)
{
	*negated = is_notclause(conjunct);
	if (*negated)
		conjunct = (Node *) get_notclausearg((Expr *) conjunct);
	return IsA(conjunct, SubLink) ? (SubLink *) conjunct : NULL;
}

void
dp_join_sublinks(DpSource *s, DpScope *scope, DpFrom *from)
{
	Query	   *query = from->query;
	List	   *conjuncts;
	bool		negated;

	if (query->jointree == NULL || query->jointree->quals == NULL || !checkExprHasSubLink(query->jointree->quals))
		return;
	conjuncts = dp_conjuncts(query->jointree->quals);
	query->jointree->quals = NULL;

	/*
	 * first those that connect entries, then those that name columns of what
	 * is joined for them
	 */
	foreach_ptr(Node, conjunct, conjuncts)
	{
		if (!checkExprHasSubLink(conjunct))
			dp_add_conjunct(query, conjunct);
	}
	foreach_ptr(Node, conjunct, conjuncts)
	{
		if (checkExprHasSubLink(conjunct) && sublink_of(conjunct, &negated) == NULL)
			dp_add_conjunct(query, dp_join_sublink_values(s, scope, from, conjunct));
	}
	foreach_ptr(Node, conjunct, conjuncts)
	{
		SubLink    *link = sublink_of(conjunct, &negated);

		if (link != NULL && !join_sublink(s, scope, from, link, negated))
			dp_add_conjunct(query, dp_join_sublink_values(s, scope, from, conjunct));
	}
}
