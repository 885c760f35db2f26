/*-------------------------------------------------------------------------
 *
 * public_filters.c
 *	  Releases that public rows are joined with, for the groups that these rows
 *	  can be joined with.
 *
 *	 FROM parts p LEFT JOIN (SELECT part, sum(n) FROM items GROUP BY part) q ON q.part = p.part WHERE p.name LIKE 'a%'
 *	   ... (SELECT part, sum(n) FROM items WHERE EXISTS
 *			(SELECT FROM parts p WHERE p.name LIKE 'a%' AND p.part = items.part) GROUP BY part) q ...
 *	 so also where the query has (SELECT sum(n) FROM items i WHERE i.part = p.part) in its place (read/sublink_places.c).
 *
 * All other groups would be computed, and left out by the join.  EXISTS becomes
 * a semi join with public rows (read/sublinks.c).  These are computed beforehand,
 * as who asks, without limits of their own: the statement reads as many anyway.
 *
 * Why it is safe: the level that is written here is one that the asker may write
 * himself, and is read, vetted and priced as such.  Public rows do not depend on
 * protected ones; whether there is a filter follows from the query, the policy and
 * public tables.
 *
 * Why it means the same: a group is in an answer only by a row of the join.  Let
 * p be that row's part in the public entries that are kept here.
 * - Each condition that is taken into EXISTS holds for p and the group: it is one of
 *	 WHERE, or of a join that the group's row has passed as a match.
 * - p is among the rows of the tree that is left.  An inner join, or a conjunct,
 *	 that is left out leaves more rows.  A side of an outer join that may be NULL
 *	 is left out whole, unless it and the join's condition stay as they are.
 *	 Entries that no condition connects are asked for one by one.
 * - These rows are read twice, with one snapshot, so that only what is the same rows
 *	 then is kept.  Rows that are locked are read once more, as they are by then: a
 *	 query that locks rows has no filters.
 * - Each group has all of its rows: what EXISTS compares is what the release groups by, by the same equality.
 * - The groups are those that there were: keys do not follow from these rows (describe/key_query.c),
 *	 and are declared, or selected at the same price, as without them.  An outer join
 *	 finds no group where it found none.  public_keys.c tells of keys that may follow.
 * - What cannot be released with filters is released without them (split.c).
 * A person's limits on groups count those that are left, so that less is cut.
 *
 * A filter that leaves nearly all groups costs a join with their public rows and saves nothing: 2.5 s instead of 1.1 s with
 * 1,500,000 rows of 20,000 groups, and 0.5 s where it leaves one group of a hundred.  Statistics do not decide about it:
 * ANALYZE of a public table would change what limits cut, and which keys there are.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "base/compat.h"
#include "base/compat_plan.h"
#include "base/settings.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "policy/policy.h"
#include "rewrite/rewriteManip.h"

/* the public part of a level */
typedef struct PublicPart
{
	DpSplitContext *cxt;
	DpScope    *scope;
	Query	   *level;			/* a copy of scope's query, of which no Var is
								 * a join's */
	Relids		within;			/* what may be kept; NULL: all */
	Relids		kept;			/* entries, and outer joins between them */
	List	   *pieces;			/* Relids: what is kept, by what conditions
								 * connect */
	bool		restricted;		/* their rows are not just those of one table */
} PublicPart;

/* ------------------------------------------------------------------------
 * Public rows
 * ------------------------------------------------------------------------
 */

/* Tells whether a query reads nothing protected, and the same when it is read again. */
static bool
is_same_again(Query *select)
{
	select->hasSubLinks = true;
	return !OidIsValid(dp_query_touches_protected(select)) && !dp_may_read_others((Node *) select);
}

/* Notes that entries are connected. */
static void
connect_entries(PublicPart *p, Relids entries)
{
	List	   *others = NIL;

	foreach_ptr(Bitmapset, piece, p->pieces)
	{
		if (bms_overlap(piece, entries))
			entries = bms_union(piece, entries);
		else
			others = lappend(others, piece);
	}
	p->pieces = lappend(others, entries);
}

/* Tells whether an entry may be read again; puts a copy in the place of a reference to a WITH query. */
static bool
keep_entry(PublicPart *p, Index rti)
{
	RangeTblEntry *rte = rt_fetch(rti, p->level->rtable);

	if (p->within != NULL)
		return bms_is_member(rti, p->within);
	if (rte->rtekind == RTE_CTE)
	{
		DpScope    *owner;
		CommonTableExpr *cte = dp_find_cte(p->scope, rte, &owner);

		if (cte == NULL)
			return false;
		dp_copy_cte(rte, cte);
	}
	return (rte->rtekind == RTE_RELATION || rte->rtekind == RTE_SUBQUERY || rte->rtekind == RTE_FUNCTION ||
			rte->rtekind == RTE_VALUES) && !dp_refers_outside(p->scope, rte) && is_same_again(dp_select_from(rte));
}

/* Tells whether a conjunct names kept entries alone, and may be evaluated again. */
static bool
is_kept(PublicPart *p, Node *conjunct)
{
	Query	   *select = dp_new_select();
	int			up = 0;

	for (DpScope *outer = p->scope->outer; outer != NULL; outer = outer->outer)
		if (contain_vars_of_level(conjunct, ++up))
			return false;
	select->jointree = makeFromExpr(NIL, conjunct);
	return bms_is_subset(pull_varnos(NULL, conjunct), p->kept) && is_same_again(select);
}

/* Returns those of a condition's conjuncts that are kept; clears *whole where there are others. */
static Node *
kept_conjuncts(PublicPart *p, Node *quals, bool *whole)
{
	List	   *kept = NIL;

	foreach_ptr(Node, conjunct, dp_conjuncts(quals))
	{
		Relids		named = pull_varnos(NULL, conjunct);

		if (!is_kept(p, conjunct))
		{
			*whole = false;
			continue;
		}
		kept = lappend(kept, conjunct);
		if (bms_is_empty(named))
			continue;
		p->restricted = true;
		connect_entries(p, named);
	}
	return kept ? (Node *) make_ands_explicit(kept) : NULL;
}

/* Tells whether an entry is all rows of a table, maybe by a view. */
static bool
is_whole_table(RangeTblEntry *rte)
{
	FromExpr   *from;

	check_stack_depth();
	if (rte->rtekind == RTE_RELATION)
		return rte->securityQuals == NIL;
	if (rte->rtekind != RTE_SUBQUERY || !dp_only_reads(rte->subquery, false))
		return false;
	from = rte->subquery->jointree;
	return from->quals == NULL && list_length(from->fromlist) == 1 && IsA(linitial(from->fromlist), RangeTblRef) &&
		is_whole_table(rt_fetch(linitial_node(RangeTblRef, from->fromlist)->rtindex, rte->subquery->rtable));
}

static Node *keep_tree(PublicPart *p, Node *node, bool *whole);

/* Keeps the entries of FROM or of an inner join, and what they are asked. */
static Node *
keep_together(PublicPart *p, List *entries, Node *quals, bool *whole)
{
	List	   *kept = NIL;

	foreach_ptr(Node, entry, entries)
	{
		Node	   *node = keep_tree(p, entry, whole);

		if (node != NULL)
			kept = lappend(kept, node);
	}
	p->restricted |= list_length(kept) > 1;
	quals = kept_conjuncts(p, quals, whole);
	return kept ? (Node *) makeFromExpr(kept, quals) : NULL;
}

/* Keeps an outer join: all of it, or the side of which each row stays. */
static Node *
keep_outer(PublicPart *p, JoinExpr *join, bool *whole)
{
	JoinExpr   *kept = copyObject(join);
	Node	  **stays = join->jointype == JOIN_RIGHT ? &kept->rarg : &kept->larg;
	Node	  **nulled = join->jointype == JOIN_RIGHT ? &kept->larg : &kept->rarg;
	PublicPart	before = *p;
	PublicPart	with_side;
	bool		all = true;

	*stays = keep_tree(p, *stays, whole);
	if (*stays == NULL)
	{
		*whole = false;
		return NULL;
	}
	with_side = *p;
	*nulled = keep_tree(&with_side, *nulled, &all);
	(void) kept_conjuncts(&with_side, join->quals, &all);
	if (!all)
	{
		*whole = false;
		return *stays;
	}
	*p = with_side;
	p->kept = bms_union(p->kept, bms_make_singleton(join->rtindex));
	p->restricted = true;
	connect_entries(p, bms_difference(p->kept, before.kept));
	return (Node *) kept;
}

/* Returns what of a join tree is public; NULL: nothing.  Clears *whole where something is left out. */
static Node *
keep_tree(PublicPart *p, Node *node, bool *whole)
{
	JoinExpr   *join = (JoinExpr *) node;

	check_stack_depth();
	if (IsA(node, RangeTblRef))
	{
		Index		rti = ((RangeTblRef *) node)->rtindex;

		if (keep_entry(p, rti))
		{
			p->kept = bms_union(p->kept, bms_make_singleton(rti));
			p->restricted |= !is_whole_table(rt_fetch(rti, p->level->rtable));
			connect_entries(p, bms_make_singleton(rti));
			return node;
		}
		*whole = false;
		return NULL;
	}
	if (IsA(node, FromExpr))
		return keep_together(p, ((FromExpr *) node)->fromlist, ((FromExpr *) node)->quals, whole);
	if (join->jointype == JOIN_INNER)
		return keep_together(p, list_make2(join->larg, join->rarg), join->quals, whole);
	if (join->jointype == JOIN_LEFT || join->jointype == JOIN_RIGHT)
		return keep_outer(p, join, whole);
	*whole = false;
	return NULL;
}

/* Returns SELECT of nothing from the public part. */
static Query *
select_public(PublicPart *p)
{
	Query	   *select = dp_new_select();
	bool		whole = true;

	select->jointree = (FromExpr *) keep_tree(p, (Node *) p->level->jointree, &whole);
	select->rtable = copyObject(p->level->rtable);
	foreach_ptr(RangeTblEntry, rte, select->rtable)
	{
		if (bms_is_member(foreach_current_index(rte) + 1, p->kept))
			dp_take_permissions(select, rte, p->level);
		else
			dp_clear_rte(rte);
		select->hasRowSecurity |= rte->securityQuals != NIL;
	}
	select->hasSubLinks = p->level->hasSubLinks;
	return select;
}

/* ------------------------------------------------------------------------
 * Releases
 * ------------------------------------------------------------------------
 */

/* Tells whether a subquery of the level is a release of groups, each of which is computed of its own rows alone. */
static bool
releases_groups(DpScope *scope, RangeTblEntry *rte)
{
	Query	   *sub = rte->subquery;
	DpScope		inner = {sub, scope};
	RangeTblEntry *base;

	if (rte->rtekind != RTE_SUBQUERY || rte->lateral || rte->security_barrier || !sub->hasAggs || sub->groupClause == NIL ||
		sub->groupingSets != NIL || sub->setOperations != NULL || sub->limitCount != NULL || sub->limitOffset != NULL ||
		sub->hasDistinctOn || sub->hasWindowFuncs || sub->hasTargetSRFs ||
		dp_reads_rows(&inner, dp_aggregates_privately(sub), &base) == 0 || dp_entry_yields_rows(scope, rte, true) ||
		dp_reads_distributed(sub))
		return false;
	/* a kept answer of all groups is one for all filters */
	return !dp_guc_reuse || dp_policy_dataset(dp_policy_table(base->relid)->dataset)->reuse == 0;
}

/* conditions that a row of an entry has passed wherever it is in a row of a join tree */
typedef struct Passed
{
	Index		rti;
	List	   *conditions;
	List	   *outer;			/* those of them that are an outer join's */
	bool		may_lack;		/* there are rows without it by now, which
								 * conditions above may be of */
} Passed;

/* Adds the conditions of node; returns false if the entry is not below it. */
static bool
find_passed(Passed *c, Node *node)
{
	JoinExpr   *join = (JoinExpr *) node;
	bool		found = false;
	bool		nullable = false;
	Node	   *quals;

	check_stack_depth();
	if (IsA(node, RangeTblRef))
		return ((RangeTblRef *) node)->rtindex == c->rti;
	if (IsA(node, FromExpr))
	{
		foreach_ptr(Node, item, ((FromExpr *) node)->fromlist)
			found = found || find_passed(c, item);
		quals = ((FromExpr *) node)->quals;
	}
	else
	{
		bool		left = find_passed(c, join->larg);

		found = left || find_passed(c, join->rarg);
		nullable = join->jointype == (left ? JOIN_RIGHT : JOIN_LEFT);
		/* a row without a match stays */
		quals = join->jointype == JOIN_INNER || nullable ? join->quals : NULL;
		if (join->jointype == JOIN_FULL)
			c->may_lack |= found;
	}
	if (!found || c->may_lack)
		return found;
	c->conditions = list_concat(c->conditions, dp_conjuncts(quals));
	if (nullable)
		c->outer = dp_conjuncts(quals);
	c->may_lack = nullable;
	return true;
}

/* Returns the protected column that names a group key, or what it is made of; NULL: the subquery's column is no key, or public. */
static Node *
protected_key(DpScope *scope, Query *sub, const Var *column)
{
	TargetEntry *tle = column->varattno > 0 ? get_tle_by_resno(sub->targetList, column->varattno) : NULL;
	DpScope		inner = {sub, scope};

	if (tle == NULL || !dp_clauses_name(sub->groupClause, tle->ressortgroupref))
		return NULL;
	foreach_ptr(Node, var, pull_var_clause((Node *) tle->expr, PVC_RECURSE_PLACEHOLDERS))
	{
		DpColumnOrigin origin;

		if (dp_trace_column(sub, &inner, var, &origin) && origin.is_protected)
			return (Node *) tle->expr;
	}
	return NULL;
}

/*
 * Returns a conjunct that compares a group key of entry rti with a column of a kept entry, which cannot fail, as it stands
 * within EXISTS in the subquery; NULL: it is another.  Sets *key, and *with, the column.
 */
static Node *
comparison_of_key(PublicPart *p, Index rti, Query *sub, Node *conjunct, Node **key, Var **with)
{
	DpComparison c;

	for (int side = 0; side < 2 && dp_read_side(conjunct, side, &c); side++)
	{
		Var		   *column = (Var *) dp_strip_relabel(c.left);
		Node	   *inside;

		*with = (Var *) dp_strip_relabel(c.right);
		if (!IsA(column, Var) || column->varno != rti || column->varlevelsup != 0 || !IsA(*with, Var) || !is_kept(p, c.right) ||
			(*key = protected_key(p->scope, sub, column)) == NULL || checkExprHasSubLink(*key) ||
			!dp_compares_groups(&c, c.left) || !dp_compares_groups(&c, *key))
			continue;
		inside = copyObject(*key);
		IncrementVarSublevelsUp(inside, 1, 0);
		if (!IsA(c.left, Var))
			inside = (Node *) makeRelabelType((Expr *) inside, exprType(c.left), exprTypmod(c.left), exprCollation(c.left), COERCE_IMPLICIT_CAST);
		return dp_with_operand(conjunct, side, inside);
	}
	return NULL;
}

/* ------------------------------------------------------------------------
 * Filters
 * ------------------------------------------------------------------------
 */

/* Adds EXISTS of public rows, which select reads, to the WHERE of the release that is entry rti; is_value: of a subquery. */
static void
filter_release(PublicPart *p, Query *select, Index rti, bool is_value)
{
	Query	   *sub = rt_fetch(rti, p->scope->query->rtable)->subquery;
	DpScope		inner = {sub, p->scope};
	Passed		passed = {.rti = rti};
	RangeTblEntry *base;
	List	   *keys = NIL;
	List	   *columns = NIL;
	bool		restricted = p->restricted;
	List	   *comparisons = NIL;
	SubLink    *exists;

	if (!find_passed(&passed, (Node *) p->level->jointree))
		return;
	select = copyObject(select);
	foreach_ptr(Node, condition, passed.conditions)
	{
		Node	   *key;
		Var		   *with;
		Node	   *comparison = comparison_of_key(p, rti, sub, condition, &key, &with);

		if (comparison != NULL)
		{
			comparisons = lappend(comparisons, comparison);
			keys = lappend(keys, key);
			columns = lappend(columns, with);
		}
		else if (list_member_ptr(passed.outer, condition) && is_kept(p, condition))
		{
			dp_add_conjunct(select, copyObject(condition));
			restricted = true;
		}
	}
	if (keys == NIL || !restricted)
		return;
	(void) dp_reads_rows(&inner, dp_aggregates_privately(sub), &base);
	(void) dp_show_column(select, (Expr *) dp_int4_const(1), "one");
	select->hasSubLinks |= checkExprHasSubLink((Node *) select->jointree);
	/* as the rest of the statement, but for keys, which are vetted */
	dp_null_failing_calls(select, p->cxt);
	foreach_ptr(Node, comparison, comparisons)
		dp_add_conjunct(select, comparison);
	exists = castNode(SubLink, dp_exists(select));
	exists->subLinkId = is_value && dp_rows_tell_keys(p->cxt, &inner, base->relid, keys, columns, p->level->rtable)
		? DP_LINK_TELLS_KEYS : DP_LINK_FILTERS;
	dp_add_conjunct(sub, (Node *) exists);
	sub->hasSubLinks = true;
}

void
dp_filter_releases(DpSplitContext *cxt, DpScope *scope, const Bitmapset *values)
{
	Query	   *query = scope->query;
	PublicPart	p = {.cxt = cxt, .scope = scope};
	List	   *releases = NIL;
	bool		whole = true;
	RangeTblEntry *base;

	/* rows that are locked may be read once more, as they are by then */
	if (query->commandType != CMD_SELECT || query->setOperations != NULL || query->jointree == NULL || query->rowMarks != NIL ||
		IsInParallelMode())
		return;
	foreach_ptr(RangeTblEntry, rte, query->rtable)
	{
		if (releases_groups(scope, rte))
			releases = lappend_int(releases, foreach_current_index(rte) + 1);
	}
	if (releases == NIL || dp_reads_rows(scope, dp_aggregates_privately(query), &base) != 0)
		return;
	p.level = copyObject(query);
	dp_flatten_level(p.level);
	if (keep_tree(&p, (Node *) p.level->jointree, &whole) == NULL)
		return;
	/* what nothing connects would be all combinations of its rows */
	foreach_ptr(Bitmapset, within, p.pieces)
	{
		PublicPart	piece = {.cxt = cxt, .scope = scope, .level = p.level, .within = within};
		Query	   *select = select_public(&piece);

		foreach_int(release, releases)
			filter_release(&piece, select, release, bms_is_member(release, values));
	}
}

/* Tells whether a conjunct is a filter. */
static bool
is_filter(Node *conjunct)
{
	SubLink    *link = (SubLink *) conjunct;

	return IsA(link, SubLink) && (link->subLinkId == DP_LINK_FILTERS || link->subLinkId == DP_LINK_TELLS_KEYS);
}

Query *
dp_without_filters(Query *query)
{
	List	   *conjuncts = query->jointree ? dp_conjuncts(query->jointree->quals) : NIL;
	Query	   *copy = NULL;

	foreach_ptr(Node, conjunct, conjuncts)
	{
		if (is_filter(conjunct))
			copy = copyObject(query);
	}
	if (copy == NULL)
		return NULL;
	copy->jointree->quals = NULL;
	foreach_ptr(Node, conjunct, conjuncts)
	{
		if (!is_filter(conjunct))
			dp_add_conjunct(copy, copyObject(conjunct));
	}
	return copy;
}
