/*-------------------------------------------------------------------------
 *
 * joins.c
 *	  The privacy unit of the rows of a join.
 *
 * A row of a join is made of one row, or none, of each entry.  It belongs to
 * a unit only if all its protected parts do:
 *
 * - Inner joins: every protected entry must be connected with the others by
 *	 equalities of what names their units, which are units themselves or keys
 *	 that lead to one row of a protected table (same_unit.c).  All units are
 *	 then equal.
 * - Left joins with protected entries on both sides: the condition must
 *	 contain such equalities.  The unit is that of the left side; the right
 *	 side is of the same unit, or NULL: what names its unit connects further
 *	 sides, by equalities that no NULL satisfies, and nothing else.  But where
 *	 the condition is just the key by which a row of the left side belongs to
 *	 somebody, a row without a match is nobody's, and the right side names the unit.
 * - An outer join with a protected entry on the nullable side alone has rows
 *	 that belong to nobody.  It is refused in a subquery; in a level these rows
 *	 are left out, and must be nothing but groups without rows.
 * - Left joins along a foreign key, each of whose rows has a match: inner
 *	 ones, where a subquery shows the column that is compared.  A row without a
 *	 match, which there should not be, is left out.
 *
 * Public entries may repeat rows.  Contributions are bounded after the join,
 * so that this does no harm; where each unit has one row (or each row is a
 * unit by itself), bounding can be left out if each public entry has at most
 * one row for every row that it is joined with.
 *
 * - Semi joins and anti joins (sublinks.c): as left joins, whose right side is
 *	 neither shown nor repeats rows.
 *
 * An entry that no condition connects with the rest (a cross join) would
 * repeat every row for nothing, and is refused (all messages: join_refusals.c).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_class.h"
#include "guard/read/joins.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"

static DpJoinSide *analyse(DpJoinContext *c, Node *node);

/* ------------------------------------------------------------------------
 * Conditions
 * ------------------------------------------------------------------------
 */

static DpWalk
note_rel(Node *node, int levels, Bitmapset **rels)
{
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == 0)
		*rels = bms_add_member(*rels, ((Var *) node)->varno);
	return DP_WALK_ON;
}

/* Tells whether some condition speaks of both sets of entries. */
static bool
any_connects(List *conditions, Bitmapset *these, Bitmapset *those)
{
	foreach_ptr(Node, condition, conditions)
	{
		Bitmapset  *rels = NULL;

		dp_walk(condition, note_rel, &rels);
		if (bms_overlap(rels, these) && bms_overlap(rels, those))
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------------
 * Inner joins
 * ------------------------------------------------------------------------
 */

static void
collect_inner(Node *node, List **parts, List **conditions)
{
	if (IsA(node, FromExpr))
	{
		foreach_ptr(Node, item, ((FromExpr *) node)->fromlist)
			collect_inner(item, parts, conditions);
		*conditions = list_concat(*conditions, make_ands_implicit((Expr *) ((FromExpr *) node)->quals));
	}
	else if (IsA(node, JoinExpr) && ((JoinExpr *) node)->jointype == JOIN_INNER)
	{
		collect_inner(((JoinExpr *) node)->larg, parts, conditions);
		collect_inner(((JoinExpr *) node)->rarg, parts, conditions);
		*conditions = list_concat(*conditions, make_ands_implicit((Expr *) ((JoinExpr *) node)->quals));
	}
	else
		*parts = lappend(*parts, node);
}

/* Adds what names the same unit. */
static void
add_names(DpRowUnit *unit, const DpRowUnit *same)
{
	if (unit->exprs == NIL)
		unit->exprs = same->exprs;
	unit->vars = list_concat_copy(unit->vars, same->vars);
	unit->tokens = list_concat_copy(unit->tokens, same->tokens);
	unit->or_null = list_concat_copy(unit->or_null, same->or_null);
}

/* Adds the rows of a side that is of the same unit. */
static void
add_private(DpJoinSide *joined, DpJoinSide *side)
{
	DpRowUnit  *unit = &joined->unit;

	/* one row of a unit repeats none of the other side's */
	if (joined->rels == NULL || unit->one_row)
		unit->told_apart = side->unit.told_apart;
	else if (!side->unit.one_row)
		unit->told_apart = NIL;
	add_names(unit, &side->unit);
	joined->rels = bms_add_members(joined->rels, side->rels);
	unit->may_repeat |= side->unit.may_repeat;
	unit->one_row &= side->unit.one_row;
	unit->determined = bms_add_members(unit->determined, side->unit.determined);
}

/* Joins all private sides to joined: equalities of what names their units must connect them. */
static void
connect_private(DpJoinContext *c, DpJoinSide *joined, List *sides, List *conditions)
{
	bool		progress = true;

	while (progress)
	{
		progress = false;
		foreach_ptr(DpJoinSide, side, sides)
		{
			if (!side->is_private || bms_is_subset(side->rels, joined->rels))
				continue;
			if (joined->rels != NULL && !dp_same_unit(conditions, &joined->unit, &side->unit, &c->unique_keys))
				continue;
			add_private(joined, side);
			progress = true;
		}
	}
	foreach_ptr(DpJoinSide, side, sides)
	{
		if (side->is_private && !bms_is_subset(side->rels, joined->rels))
			dp_refuse_unconnected(c, joined, side, conditions, "the join's condition");
	}
}

/* Tells whether each row of known entries finds at most one of a public side. */
static bool
finds_one(DpJoinContext *c, DpJoinSide *side, List *conditions, Bitmapset *known)
{
	Oid			relid = side->entry ? c->items[side->entry].relid : InvalidOid;

	return (side->entry && bms_is_member(side->entry, c->from->once)) ||
		(OidIsValid(relid) && dp_at_most_one_row(relid, side->entry, conditions, known));
}

/* Tells whether a side needs no condition: each row finds one of it at most, or has rows that are made of it. */
static bool
needs_no_condition(DpJoinContext *c, DpJoinSide *side)
{
	return side->entry && (bms_is_member(side->entry, c->from->once) || bms_is_member(side->entry, c->from->repeating));
}

/* Joins the public sides to joined, first the ones that do not repeat rows. */
static void
connect_public(DpJoinContext *c, DpJoinSide *joined, List *sides, List *conditions)
{
	for (;;)
	{
		DpJoinSide *next = NULL;
		DpJoinSide *left = NULL;
		bool		unique = false;

		foreach_ptr(DpJoinSide, side, sides)
		{
			if (side->is_private || bms_is_subset(side->rels, joined->rels))
				continue;
			left = side;
			if (unique || !(any_connects(conditions, joined->rels, side->rels) || needs_no_condition(c, side)))
				continue;
			next = side;
			unique = finds_one(c, side, conditions, joined->rels);
		}
		if (left == NULL)
			return;
		if (next == NULL)
			dp_refuse_cross_join(c, left, conditions);
		joined->rels = bms_add_members(joined->rels, next->rels);
		joined->unit.may_repeat |= !unique;
		/* all rows of a unit are joined with one row */
		if (unique && OidIsValid(c->items[next->entry].relid) &&
			dp_at_most_one_row(c->items[next->entry].relid, next->entry, conditions, joined->unit.determined))
			joined->unit.determined = bms_add_members(joined->unit.determined, next->rels);
	}
}

static DpJoinSide *
analyse_inner(DpJoinContext *c, Node *node)
{
	List	   *parts = NIL;
	List	   *conditions = NIL;
	List	   *sides = NIL;
	DpJoinSide *joined;

	collect_inner(node, &parts, &conditions);
	joined = palloc0(sizeof(DpJoinSide));
	joined->unit.one_row = true;
	foreach_ptr(Node, part, parts)
	{
		DpJoinSide *side = analyse(c, part);

		joined->is_private |= side->is_private;
		sides = lappend(sides, side);
	}
	if (!joined->is_private)
	{
		foreach_ptr(DpJoinSide, side, sides)
			joined->rels = bms_add_members(joined->rels, side->rels);
		return joined;
	}
	connect_private(c, joined, sides, conditions);
	connect_public(c, joined, sides, conditions);
	return joined;
}

/* ------------------------------------------------------------------------
 * Outer joins
 * ------------------------------------------------------------------------
 */

static List *
nulled_tokens(List *tokens, const DpJoinSide *side, int join)
{
	List	   *result = NIL;

	foreach_ptr(DpToken, item, tokens)
	{
		DpToken    *token = palloc(sizeof(DpToken));

		*token = *item;
		token->vars = (List *) dp_nulled_by((Node *) token->vars, side->rels, join);
		result = lappend(result, token);
	}
	return result;
}

/* Returns a side's unit as it is above entry join, an outer join of which it is the nullable side. */
static DpRowUnit
nulled_unit(const DpJoinSide *side, int join)
{
	DpRowUnit	unit = side->unit;

	unit.exprs = (List *) dp_nulled_by((Node *) unit.exprs, side->rels, join);
	unit.vars = (List *) dp_nulled_by((Node *) unit.vars, side->rels, join);
	unit.tokens = nulled_tokens(unit.tokens, side, join);
	unit.or_null = nulled_tokens(unit.or_null, side, join);
	return unit;
}

/*
 * Joins public rows with protected ones that may not match them.  Rows of the
 * unit NULL are left out of the level, so that for it the join is an inner one;
 * which groups it has is another question (describe/outer_groups.c).
 */
static DpJoinSide *
match_public(DpJoinContext *c, DpJoinSide *outer, DpJoinSide *inner, List *conditions, int join)
{
	DpJoinSide *joined = palloc0(sizeof(DpJoinSide));
	Oid			relid = outer->entry ? c->items[outer->entry].relid : InvalidOid;

	if (!any_connects(conditions, outer->rels, inner->rels))
		dp_refuse_cross_join(c, outer, conditions);
	joined->rels = bms_union(outer->rels, inner->rels);
	joined->is_private = true;
	joined->unit = nulled_unit(inner, join);
	joined->unit.may_repeat |= !OidIsValid(relid) || !dp_at_most_one_row(relid, outer->entry, conditions, inner->rels);
	c->from->matched = bms_add_members(c->from->matched, inner->rels);
	return joined;
}

/*
 * Tells whether a join's condition is just that a row of the left side, outer,
 * references one of the right side, which is a whole table: what has no match
 * there is nobody's.
 */
static bool
is_key_alone(DpJoinContext *c, DpJoinSide *outer, DpJoinSide *inner, List *conditions)
{
	RangeTblEntry *rte = inner->entry ? rt_fetch(inner->entry, c->query->rtable) : NULL;

	if (rte == NULL || rte->rtekind != RTE_RELATION || (rte->relkind == RELKIND_PARTITIONED_TABLE && !rte->inh))
		return false;
	/* where each row is a unit, no column says whether there is one */
	if (inner->unit.vars == NIL && inner->unit.exprs != NIL)
		return false;
	foreach_ptr(DpToken, token, outer->unit.tokens)
	{
		if (token->parent != rte->relid || list_length(token->vars) != list_length(conditions) ||
			!dp_same_row(conditions, token, inner->unit.tokens))
			continue;
		c->unique_keys = list_append_unique_oid(c->unique_keys, token->index);
		return true;
	}
	return false;
}

static DpJoinSide *
analyse_outer(DpJoinContext *c, JoinExpr *join)
{
	bool		right = join->jointype == JOIN_RIGHT;
	DpJoinSide *outer = analyse(c, right ? join->rarg : join->larg);
	DpJoinSide *inner = analyse(c, right ? join->larg : join->rarg);
	DpJoinSide *joined = palloc0(sizeof(DpJoinSide));
	List	   *conditions = make_ands_implicit((Expr *) join->quals);
	DpRowUnit	names;
	bool		repeats = false;

	joined->rels = bms_union(outer->rels, inner->rels);
	if (!outer->is_private && !inner->is_private)
		return joined;
	if (join->jointype != JOIN_LEFT && join->jointype != JOIN_RIGHT)
		dp_refuse_full_join(c, outer, inner, conditions);
	/* where each row is a unit, no column says whether there is one */
	if (!outer->is_private && c->from->is_level && (inner->unit.vars != NIL || inner->unit.exprs == NIL))
		return match_public(c, outer, inner, conditions, join->rtindex);
	if (!outer->is_private)
		dp_refuse_nobodys_rows(c, outer, inner, conditions);

	if (inner->is_private)
	{
		if (!dp_same_unit(conditions, &outer->unit, &inner->unit, &c->unique_keys))
			dp_refuse_unconnected(c, outer, inner, conditions, "the join's condition");
	}
	else if (!any_connects(conditions, outer->rels, inner->rels) && !needs_no_condition(c, inner))
		dp_refuse_cross_join(c, inner, conditions);
	else
		repeats = !finds_one(c, inner, conditions, outer->rels);
	joined->is_private = true;

	/*
	 * determined, too: rows without a match have NULLs in the place of the
	 * inner side
	 */
	joined->unit = outer->unit;
	joined->unit.may_repeat |= repeats;
	if (!inner->is_private)
		return joined;
	names = nulled_unit(inner, join->rtindex);
	if (outer->unit.one_row || !names.one_row)
		joined->unit.told_apart = outer->unit.one_row ? names.told_apart : NIL;
	joined->unit.may_repeat |= names.may_repeat;
	joined->unit.one_row &= names.one_row;
	if (is_key_alone(c, outer, inner, conditions))
		add_names(&joined->unit, &names);
	else
		joined->unit.or_null = list_concat_copy(outer->unit.or_null,
												list_concat_copy(dp_unit_names(&names), names.or_null));
	return joined;
}

/* Leaves out rows of one side by whether they have a match in the other. */
static DpJoinSide *
analyse_filter(DpJoinContext *c, JoinExpr *join)
{
	DpJoinSide *outer = analyse(c, join->larg);
	DpJoinSide *inner = analyse(c, join->rarg);
	List	   *conditions = make_ands_implicit((Expr *) join->quals);

	if (!outer->is_private)
		elog(ERROR, "a semi join leaves out rows that are not protected");
	if (inner->is_private && !dp_same_unit(conditions, &outer->unit, &inner->unit, &c->unique_keys))
	{
		dp_refuse_filter(c, outer, inner, conditions);
		dp_refuse_unconnected(c, outer, inner, conditions, "the subquery's WHERE");
	}
	if (!any_connects(conditions, outer->rels, inner->rels))
		dp_refuse_cross_join(c, inner, conditions);
	return outer;
}

static DpJoinSide *
analyse(DpJoinContext *c, Node *node)
{
	if (IsA(node, RangeTblRef))
	{
		DpJoinSide *side = palloc0(sizeof(DpJoinSide));
		Index		rti = ((RangeTblRef *) node)->rtindex;
		DpFromItem *item = &c->items[rti];

		side->rels = bms_make_singleton(rti);
		side->is_private = item->is_private;
		side->unit = item->unit;
		if (item->is_private && item->unit.one_row)
			side->unit.determined = bms_make_singleton(rti);
		side->entry = rti;
		return side;
	}
	if (IsA(node, JoinExpr) && (((JoinExpr *) node)->jointype == JOIN_SEMI || ((JoinExpr *) node)->jointype == JOIN_ANTI))
		return analyse_filter(c, (JoinExpr *) node);
	if (IsA(node, JoinExpr) && ((JoinExpr *) node)->jointype != JOIN_INNER)
		return analyse_outer(c, (JoinExpr *) node);
	return analyse_inner(c, node);
}

/* Tells whether an expression names a column of an entry that a condition names, too. */
static bool
names_compared(Node *expr, Node *condition, Index rti)
{
	List	   *compared = pull_vars_of_level(condition, 0);

	foreach_node(Var, var, pull_vars_of_level(expr, 0))
	{
		if (var->varno == rti && dp_names_column(compared, (Node *) var))
			return true;
	}
	return false;
}

static void
make_inner(Query *query, Node *node)
{
	JoinExpr   *join = (JoinExpr *) node;
	RangeTblRef *side;

	check_stack_depth();
	if (IsA(node, FromExpr))
		foreach_ptr(Node, item, ((FromExpr *) node)->fromlist)
			make_inner(query, item);
	if (!IsA(node, JoinExpr))
		return;
	make_inner(query, join->larg);
	make_inner(query, join->rarg);
	side = (RangeTblRef *) (join->jointype == JOIN_RIGHT ? join->larg : join->rarg);
	if (!dp_join_always_matches(query, join) ||
		!names_compared((Node *) list_make2(query->targetList, query->havingQual), join->quals, side->rtindex))
		return;
	join->jointype = JOIN_INNER;
	if (join->rtindex == 0)
		return;
	rt_fetch(join->rtindex, query->rtable)->jointype = JOIN_INNER;
	dp_not_nulled_by(query, join->rtindex);
}

void
dp_make_joins_inner(Query *query)
{
	make_inner(query, (Node *) query->jointree);
}

void
dp_analyse_joins(DpSplitContext *cxt, DpFrom *from, DpFromItem *items, int where)
{
	DpJoinContext c = {cxt, from->query, items, where, from};
	DpJoinSide *all = analyse(&c, (Node *) from->query->jointree);

	if (!all->is_private)
		elog(ERROR, "a level of protected rows reads none");
	from->unit = all->unit;
	from->unique_keys = c.unique_keys;
}
