/*-------------------------------------------------------------------------
 *
 * lateral.c
 *	  LATERAL subqueries, written without it.
 *
 *	 FROM t, LATERAL (SELECT t.x + 1 AS y) q
 *	   FROM t, with t.x + 1 in the place of q.y; constants need no LATERAL
 *	 FROM t, LATERAL (SELECT count(*) AS n FROM r WHERE r.k = t.k) q
 *	   FROM t, with (SELECT count(*) FROM r WHERE r.k = t.k) in the place of q.n (sublink_values.c)
 *	 FROM t LEFT JOIN LATERAL (SELECT x FROM r WHERE r.k = t.k) q ON true
 *	   FROM t LEFT JOIN (SELECT x, k FROM r) q ON q.k = t.k
 *	   as are subqueries that group rows, or take the first of them (lifting.c)
 *	 FROM t, LATERAL (VALUES (t.x), (t.y)) q (z)
 *	   FROM t, (VALUES (1), (2)) q (row), with CASE q.row ... END in the place of q.z (unpivot.c); LEFT JOIN ON a
 *	   condition has one row more, for no match
 *
 * Invariants:
 * - A subquery that has one row, whatever it reads, neither leaves out nor
 *	 repeats rows, where its join has no condition or is an inner one.
 * - A condition moves to the join that its subquery is the right side of, and
 *	 only where that reads all that the condition names; or above all joins,
 *	 where none of those that are above its subquery is an outer one.
 * - What is not understood stays where it is, and is refused there (source.c).
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
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

/* where an entry stands in the join tree */
typedef struct Place
{
	FromExpr   *from;			/* among others in this FROM ... */
	JoinExpr   *join;			/* ... or as the right side of this join */
	Node	  **link;			/* what points to the join */
	bool		inner;			/* no outer join above may replace its columns
								 * by NULL */
} Place;

/* ------------------------------------------------------------------------
 * The join tree
 * ------------------------------------------------------------------------
 */

static bool
is_entry(Node *node, Index rti)
{
	return IsA(node, RangeTblRef) && ((RangeTblRef *) node)->rtindex == rti;
}

/* Finds entry rti below *link. */
static bool
find_place(Node **link, Index rti, bool inner, Place *place)
{
	ListCell   *lc;

	if (IsA(*link, FromExpr))
	{
		FromExpr   *from = (FromExpr *) *link;

		foreach(lc, from->fromlist)
		{
			if (is_entry(lfirst(lc), rti))
			{
				place->from = from;
				place->inner = inner;
				return true;
			}
			if (find_place((Node **) &lfirst(lc), rti, inner, place))
				return true;
		}
	}
	else if (IsA(*link, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) *link;

		if (is_entry(join->rarg, rti) && (join->jointype == JOIN_INNER || join->jointype == JOIN_LEFT))
		{
			place->join = join;
			place->link = link;
			place->inner = inner;
			return true;
		}
		return find_place(&join->larg, rti,
						  inner && (join->jointype == JOIN_INNER || join->jointype == JOIN_LEFT), place) ||
			find_place(&join->rarg, rti,
					   inner && (join->jointype == JOIN_INNER || join->jointype == JOIN_RIGHT), place);
	}
	return false;
}

static DpWalk
note_rel(Node *node, int levels, Bitmapset **rels)
{
	if (IsA(node, RangeTblRef))
		*rels = bms_add_member(*rels, ((RangeTblRef *) node)->rtindex);
	/* from 16 on, what it may replace by NULL names it */
	if (IsA(node, JoinExpr) && ((JoinExpr *) node)->rtindex != 0)
		*rels = bms_add_member(*rels, ((JoinExpr *) node)->rtindex);
	return DP_WALK_ON;
}

/* Tells whether conditions name nothing but what the place reads. */
static bool
may_stand_at(Place *place, List *conditions)
{
	Bitmapset  *rels = NULL;

	dp_walk(place->join ? (Node *) place->join : (Node *) place->from, note_rel, &rels);
	return bms_is_subset(pull_varnos(NULL, (Node *) conditions), rels) &&
		!contain_vars_of_level((Node *) conditions, 1);
}

static bool
is_true(Node *quals)
{
	return quals == NULL ||
		(IsA(quals, Const) && !((Const *) quals)->constisnull && DatumGetBool(((Const *) quals)->constvalue));
}

/* Takes the entry, which has one row, out of the join tree; false if that cannot be. */
static bool
take_out(Query *query, Index rti, Place *place)
{
	if (!place->inner)
		return false;
	if (place->from)
	{
		if (list_length(place->from->fromlist) == 1)
			return false;
		foreach_ptr(Node, item, place->from->fromlist)
		{
			if (is_entry(item, rti))
				place->from->fromlist = foreach_delete_current(place->from->fromlist, item);
		}
		return true;
	}
	if (!is_true(place->join->quals) && place->join->jointype != JOIN_INNER)
		return false;
	*place->link = place->join->larg;
	/* the planner would look for its join */
	if (place->join->rtindex != 0)
		dp_clear_rte(rt_fetch(place->join->rtindex, query->rtable));
	/* where subqueries are looked for */
	if (!is_true(place->join->quals))
		dp_add_conjunct(query, place->join->quals);
	return true;
}

/* ------------------------------------------------------------------------
 * Kinds of subqueries
 * ------------------------------------------------------------------------
 */

/* Returns what stands for each column of a subquery that has one row; NIL: it may have another number of them. */
static List *
values_of(Query *sub)
{
	bool		expressions = dp_is_expressions(sub);
	List	   *values = NIL;

	if (!expressions && !dp_has_one_row(sub))
		return NIL;
	foreach_ptr(TargetEntry, tle, sub->targetList)
	{
		SubLink    *link;

		if (tle->resjunk)
			continue;
		if (expressions)
		{
			Node	   *value = (Node *) copyObject(tle->expr);

			IncrementVarSublevelsUp(value, -1, 1);
			values = lappend(values, value);
			continue;
		}
		link = dp_make(SubLink, .subLinkType = EXPR_SUBLINK, .subselect = copyObject((Node *) sub));
		((Query *) link->subselect)->targetList =
			list_make1(makeTargetEntry(copyObject(tle->expr), 1, tle->resname, false));
		dp_forget_order((Query *) link->subselect);
		link->location = exprLocation((Node *) tle->expr);
		values = lappend(values, link);
	}
	return values;
}

typedef struct OutwardContext
{
	RangeTblEntry *rte;
	Index		rti;
} OutwardContext;

/* Returns the column of the entry that shows a column of its subquery. */
static Node *
column_for(Var *var, OutwardContext *c)
{
	Query	   *sub = c->rte->subquery;
	TargetEntry *shown = NULL;

	foreach_ptr(TargetEntry, tle, sub->targetList)
	{
		if (!tle->resjunk && equal(tle->expr, var))
			shown = tle;
	}
	if (shown == NULL)
		shown = dp_show_in_entry(c->rte, (Expr *) copyObject(var),
								 get_rte_attribute_name(rt_fetch(var->varno, sub->rtable), var->varattno));
	return (Node *) dp_output_var(c->rti, shown->resno, (Node *) var);
}

/* Makes an entry that only reads one that names nothing around it; false, and nothing has changed, if that cannot be. */
static bool
move_conditions(Query *query, DpFrom *from, Index rti, Place *place, int places)
{
	RangeTblEntry *rte = copyObject(rt_fetch(rti, query->rtable));
	Query	   *sub = rte->subquery;
	OutwardContext c = {rte, rti};
	List	   *moved = NIL;
	List	   *values = NIL;
	bool		computes = false;
	bool		above = false;
	int			nshown = list_length(rte->eref->colnames);

	if (!dp_take_outward(sub, &moved))
		return false;
	moved = (List *) dp_put_outward((Node *) moved, (DpShowColumn) column_for, &c);
	for (int i = 0; i < nshown; i++)
	{
		TargetEntry *tle = list_nth(sub->targetList, i);

		if (!contain_vars_of_level((Node *) tle->expr, 1))
		{
			values = lappend(values, dp_output_var(rti, i + 1, (Node *) tle->expr));
			continue;
		}
		/* where there is no row, the expression would be NULL */
		if (checkExprHasSubLink((Node *) tle->expr) || !place->inner ||
			(place->join && place->join->jointype != JOIN_INNER))
			return false;
		values = lappend(values, dp_put_outward((Node *) tle->expr, (DpShowColumn) column_for, &c));
		computes = true;
	}
	foreach_ptr(TargetEntry, tle, sub->targetList)
	{
		if (contain_vars_of_level((Node *) tle->expr, 1))
			tle->expr = (Expr *) makeNullConst(exprType((Node *) tle->expr), exprTypmod((Node *) tle->expr),
											   exprCollation((Node *) tle->expr));
	}
	/* what orders rows does not matter where all of them are read */
	sub->sortClause = NIL;
	if (contain_vars_of_level((Node *) sub, 1) || (computes && !dp_may_be_repeated(values, places)))
		return false;
	if (computes && !may_stand_at(place, values))
		return false;
	if (!may_stand_at(place, moved))
	{
		/* those of inner joins may as well stand above all of them */
		if (!place->inner || (place->join && place->join->jointype != JOIN_INNER) ||
			contain_vars_of_level((Node *) moved, 1))
			return false;
		above = true;
	}
	rte->lateral = false;
	/* its conditions are written in it */
	rte->inFromCl = false;
	lfirst(list_nth_cell(query->rtable, rti - 1)) = rte;
	if (above)
		foreach_ptr(Node, item, moved)
			dp_add_conjunct(query, item);
	else if (place->join)
		place->join->quals = (Node *)
			make_ands_explicit(list_concat(is_true(place->join->quals) ? NIL : dp_conjuncts(place->join->quals), moved));
	else
		place->from->quals = (Node *) make_ands_explicit(list_concat(dp_conjuncts(place->from->quals), moved));
	if (computes)
		dp_note_columns(from, rti, values);
	if (computes)
		dp_replace_columns(query, rti, values);
	return true;
}

/* ------------------------------------------------------------------------
 * A level
 * ------------------------------------------------------------------------
 */

/* Tells whether values may stand in so many places of columns of entry rti, of which no outer join makes NULL. */
static bool
may_replace(Query *query, Index rti, Place *place, List *values, int places, JoinExpr *but)
{
	/* conditions of joins name what these read alone */
	return dp_may_be_repeated(values, places) &&
		(may_stand_at(place, values) || !dp_is_named_in_joins((Node *) query->jointree, rti, but));
}

/* Puts public rows in the place of an entry that makes rows of each of the level's. */
static bool
write_rows(Query *query, DpFrom *from, Index rti)
{
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	int			places = dp_count_places(query, rti);
	Place		place = {0};
	List	   *values;
	Node	   *condition = NULL;
	RangeTblEntry *rows;

	if (places < 0 || contain_volatile_functions((Node *) rte->functions) ||
		!find_place((Node **) &query->jointree, rti, true, &place) || !place.inner)
		return false;
	if (place.join && place.join->jointype != JOIN_INNER && !is_true(place.join->quals))
		condition = place.join->quals;
	if (checkExprHasSubLink(condition))
		return false;
	rows = dp_unpivoted(query, rti, &condition, &values);
	if (rows == NULL || !may_replace(query, rti, &place, values, places, condition ? place.join : NULL) ||
		(condition && !dp_may_be_repeated(list_make1(condition), 1)))
		return false;
	if (condition)
		place.join->quals = NULL;
	if (place.join)
	{
		/* there is always a row */
		place.join->jointype = JOIN_INNER;
		if (place.join->rtindex != 0)
			rt_fetch(place.join->rtindex, query->rtable)->jointype = JOIN_INNER;
	}
	dp_note_columns(from, rti, values);
	dp_replace_columns(query, rti, values);
	if (condition)
		dp_add_conjunct(query, condition);
	lfirst(list_nth_cell(query->rtable, rti - 1)) = rows;
	from->repeating = bms_add_member(from->repeating, rti);
	return true;
}

static void
write_out(DpScope *scope, DpFrom *from, Index rti, const DpSource *s)
{
	Query	   *query = scope->query;
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	Place		place = {0};
	List	   *values;
	Query	   *lifted;
	int			places;

	if (!contain_vars_of_level((Node *) rte->subquery, 1) && !dp_is_expressions(rte->subquery))
	{
		rte->lateral = false;
		return;
	}
	places = dp_count_places(query, rti);
	if (places < 0 || contain_volatile_functions((Node *) rte->subquery) ||
		!find_place((Node **) &query->jointree, rti, true, &place))
		return;
	values = values_of(rte->subquery);
	if (values != NIL)
	{
		if (!may_replace(query, rti, &place, values, places, place.join) || !take_out(query, rti, &place))
			return;
		dp_note_columns(from, rti, values);
		dp_replace_columns(query, rti, values);
		rte->lateral = false;
		dp_clear_rte(rte);
		return;
	}
	if (write_rows(query, from, rti))
		return;
	if (!dp_only_reads(rte->subquery, false) || rte->subquery->distinctClause != NIL)
	{
		lifted = dp_lifted(copyObject(rte->subquery), s ? scope : NULL, s);
		if (lifted == NULL)
			return;
		rte->subquery = lifted;
	}
	dp_bring_near(rte->subquery);
	(void) move_conditions(query, from, rti, &place, places);
}

/* Tells whether a query shows constants and parameters alone: others, such as functions of the asker, are computed beforehand. */
static bool
shows_constants(Query *sub)
{
	/* whoever reads a view needs the privilege */
	if (!dp_is_expressions(sub) || sub->rtable != NIL)
		return false;
	foreach_ptr(TargetEntry, tle, sub->targetList)
	{
		if (!IsA(tle->expr, Param) && dp_is_unfoldable((Node *) tle->expr, NULL))
			return false;
	}
	return true;
}

/* Tells whether an entry shows constants, which may as well stand in the place of its columns; a WITH query becomes a copy. */
static bool
is_constants(DpScope *scope, RangeTblEntry *rte)
{
	DpScope    *owner;
	CommonTableExpr *cte = rte->rtekind == RTE_CTE ? dp_find_cte(scope, rte, &owner) : NULL;

	if (cte != NULL && shows_constants((Query *) cte->ctequery))
		dp_copy_cte(rte, cte);
	return rte->rtekind == RTE_SUBQUERY && !OidIsValid(rte->relid) && shows_constants(rte->subquery);
}

/* Tells whether a subquery is a release for each row of the level, which is public. */
static bool
is_release(DpScope *scope, Query *sub)
{
	DpScope		inner = {sub, scope};
	RangeTblEntry *base;

	return dp_has_one_row(sub) && contain_vars_of_level((Node *) sub, 1) &&
		dp_reads_rows(&inner, dp_aggregates_privately(sub), &base) != 0;
}

void
dp_write_out_laterals(DpScope *scope, DpFrom *from, const DpSource *s)
{
	Query	   *query = scope->query;
	bool		releases = s == NULL;

	if (query->rowMarks != NIL)
		return;
	for (int i = 1; i <= list_length(query->rtable); i++)
	{
		RangeTblEntry *rte = rt_fetch(i, query->rtable);

		if (rte->rtekind == RTE_FUNCTION && rte->lateral && !releases && contain_vars_of_level((Node *) rte->functions, 0))
			(void) write_rows(query, from, i);
		if (!(!releases && is_constants(scope, rte)) &&
			(rte->rtekind != RTE_SUBQUERY || !rte->lateral || (releases && !is_release(scope, rte->subquery))))
			continue;
		if (releases)
			dp_flatten_level(query);
		write_out(scope, from, i, s);
	}
}
