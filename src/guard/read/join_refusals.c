/*-------------------------------------------------------------------------
 *
 * join_refusals.c
 *	  What messages say of joins whose rows are not one unit's, or nobody's.
 *
 * joins.c decides what is refused; here is what can be written instead.  It
 * rests on the names that the query gives to its entries, and on the policy:
 * never on rows.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "guard/read/joins.h"
#include "lib/stringinfo.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------------
 * Names and places
 * ------------------------------------------------------------------------
 */

static RangeTblEntry *
side_entry(DpJoinContext *c, DpJoinSide *side)
{
	return rt_fetch(bms_next_member(side->rels, -1), c->query->rtable);
}

static const char *
side_text(DpJoinContext *c, DpJoinSide *side)
{
	return dp_entry_text(side_entry(c, side));
}

static int
location_of(DpJoinContext *c, List *conditions)
{
	int			location = conditions ? exprLocation(linitial(conditions)) : -1;

	return location >= 0 ? location : c->where;
}

/* Tells whether nobody wrote an entry as it stands, so that no condition can be written over it. */
static bool
is_made(DpJoinContext *c, DpJoinSide *side)
{
	RangeTblEntry *rte = side_entry(c, side);

	return rte->rtekind == RTE_SUBQUERY && !rte->inFromCl;
}

const char *
dp_column_name(Query *query, Var *var)
{
	RangeTblEntry *rte = rt_fetch(var->varno, query->rtable);

	/* of an entry that nobody wrote, what it shows has a name */
	if (rte->rtekind == RTE_SUBQUERY && !rte->inFromCl)
	{
		Node	   *shown = (Node *) list_nth_node(TargetEntry, rte->subquery->targetList, var->varattno - 1)->expr;

		if (IsA(shown, Var) && ((Var *) shown)->varlevelsup == 0)
			return dp_column_name(rte->subquery, (Var *) shown);
	}
	return psprintf("%s.%s", quote_identifier(rte->eref->aliasname),
					quote_identifier(get_rte_attribute_name(rte, var->varattno)));
}

static const char *
unit_name(DpJoinContext *c, DpJoinSide *side)
{
	return dp_column_name(c->query, linitial_node(Var, side->unit.vars));
}

/* ------------------------------------------------------------------------
 * Sides that no unit connects
 * ------------------------------------------------------------------------
 */

/* Returns the equality of keys by which both sides would lead to one row; NULL if none would. */
static const char *
token_equality(DpJoinContext *c, DpJoinSide *a, DpJoinSide *b)
{
	ListCell   *x,
			   *y;

	foreach_ptr(DpToken, left, list_concat_copy(a->unit.tokens, a->unit.or_null))
		foreach_ptr(DpToken, those, list_concat_copy(b->unit.tokens, b->unit.or_null))
	{
		DpToken    *these = left;
		StringInfoData text;

		if (!OidIsValid(these->parent) || these->parent != those->parent || !equal(these->key, those->key))
			continue;
		initStringInfo(&text);
		forboth(x, these->vars, y, those->vars)
			appendStringInfo(&text, "%s%s = %s", text.len > 0 ? " AND " : "",
							 dp_column_name(c->query, lfirst_node(Var, x)), dp_column_name(c->query, lfirst_node(Var, y)));
		return text.data;
	}
	return NULL;
}

/* Refuses a join of which one side's unit is not named by a column of it. */
static void
refuse_untold(DpJoinContext *c, DpJoinSide *a, DpJoinSide *b, List *conditions, const char *place)
{
	DpSplitContext *cxt = c->cxt;
	const char *equality = token_equality(c, a, b);
	DpJoinSide *through = a->unit.exprs == NIL ? a : b->unit.exprs == NIL ? b : NULL;

	if (equality != NULL)
		dp_refuse_at(location_of(c, conditions),
					 errmsg("%s and %s can be joined only on the key that tells whose rows are whose; add %s to %s",
							side_text(c, a), side_text(c, b), equality, place));
	if (through != NULL)
		dp_refuse_at(location_of(c, conditions),
					 errmsg("rows of %s belong to people through table \"%s\"; join that table, too, between it and %s",
							side_text(c, through),
							get_rel_name(((DpToken *) linitial(through->unit.tokens))->parent),
							side_text(c, through == a ? b : a)));
}

/* Tells whether a side is a subquery that has more than columns of its rows, so that they cannot be compared inside of it. */
static bool
is_computed(DpJoinContext *c, DpJoinSide *side)
{
	RangeTblEntry *rte = side_entry(c, side);

	return rte->rtekind == RTE_SUBQUERY && !dp_only_reads(rte->subquery, false);
}

void
dp_refuse_filter(DpJoinContext *c, DpJoinSide *outer, DpJoinSide *inner, List *conditions)
{
	DpSplitContext *cxt = c->cxt;
	const char *unit;

	if (is_made(c, outer) && strcmp(side_entry(c, outer)->eref->aliasname, DP_OPERAND) == 0)
		dp_refuse_at(location_of(c, conditions), DP_REFUSE_OPERATION);
	if (outer->unit.vars == NIL || inner->unit.vars == NIL)
		return;
	unit = unit_name(c, outer);
	if (is_computed(c, inner))
		dp_refuse_at(location_of(c, conditions),
					 errmsg("%s and %s can be joined only on their privacy units; "
							"compare %s, too: (%s, ...) IN (SELECT %s, ...)",
							side_text(c, outer), side_text(c, inner), unit, unit, unit_name(c, inner)));
	if (strcmp(side_entry(c, outer)->eref->aliasname, side_entry(c, inner)->eref->aliasname) == 0)
		dp_refuse_at(location_of(c, conditions),
					 errmsg("%s can be joined with itself only on its privacy unit; rename it in the subquery, and compare %s of both in its WHERE",
							side_text(c, outer), unit));
}

void
dp_refuse_unconnected(DpJoinContext *c, DpJoinSide *a, DpJoinSide *b, List *conditions, const char *place)
{
	DpSplitContext *cxt = c->cxt;

	if (is_made(c, a) || is_made(c, b))
		place = "the subquery's WHERE";
	if (a->unit.vars == NIL || b->unit.vars == NIL)
		refuse_untold(c, a, b, conditions, place);
	if (a->unit.vars == NIL || b->unit.vars == NIL)
		dp_refuse_at(location_of(c, conditions),
					 errmsg("each row of %s is a privacy unit by itself; "
							"join it with tables that are not protected, not with %s",
							side_text(c, a->unit.vars ? b : a), side_text(c, a->unit.vars ? a : b)));
	dp_refuse_at(location_of(c, conditions),
				 errmsg("%s and %s can be joined only on their privacy units; add %s = %s to %s",
						side_text(c, a), side_text(c, b), unit_name(c, a), unit_name(c, b), place));
}

void
dp_refuse_cross_join(DpJoinContext *c, DpJoinSide *side, List *conditions)
{
	DpSplitContext *cxt = c->cxt;

	dp_refuse_at(location_of(c, conditions),
				 errmsg("%s is joined without a condition; join it ON columns of both sides", side_text(c, side)),
				 errdetail("It would only repeat protected rows."));
}

/* ------------------------------------------------------------------------
 * Rows of nobody
 * ------------------------------------------------------------------------
 */

void
dp_refuse_full_join(DpJoinContext *c, DpJoinSide *left, DpJoinSide *right, List *conditions)
{
	DpSplitContext *cxt = c->cxt;

	dp_refuse_at(location_of(c, conditions),
				 errmsg("FULL JOIN with %s would have rows that belong to nobody; use an inner join, or a left join from the protected side",
						side_text(c, left->is_private ? left : right)));
}

void
dp_refuse_nobodys_rows(DpJoinContext *c, DpJoinSide *outer, DpJoinSide *inner, List *conditions)
{
	DpSplitContext *cxt = c->cxt;

	dp_refuse_at(location_of(c, conditions),
				 errmsg("rows of %s without a match in %s belong to nobody; "
						"use an inner join, or a left join from the protected side",
						side_text(c, outer), side_text(c, inner)));
}
