/*-------------------------------------------------------------------------
 *
 * key_query.c
 *	  What a level reads and asks, as far as its public inputs tell.
 *
 * The key query of a level is a query over public tables, rows that are computed
 * beforehand, parameters and lists of the policy.  It reads nothing protected,
 * and returns every tuple of keys that the level can return, for every content
 * of protected tables: groups of other keys have no row.  It is the level's
 * own query with everything left out that needs protected rows:
 *
 * - subqueries over protected rows are pulled up; what they compute of several
 *	 rows is a column of which nothing is known but what it is compared with,
 * - tables that the asker may not read himself count as protected, and so do
 *	 rows by which others are left out that nobody sees (public_filters.c),
 * - protected columns are what they are equal to, or a list of the policy
 *	 (known_values.c); conditions that need more are left out,
 * - an outer join has, for every row, a row without a match beside all others,
 *	 unless all that it asks is known (key_query_select.c), or what is asked above
 *	 it holds for no row without a match.
 *
 * Invariant: leaving out may only add tuples.  A condition is left out as a
 * whole, or a conjunct of it where no negation stands around it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "base/compat.h"
#include "base/walk.h"
#include "guard/describe/key_query.h"
#include "guard/facts/facts.h"
#include "guard/read/read.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"

/* what the entries of one query are in the key query, by their number there */
typedef struct DpEntryMap
{
	Index	   *items;			/* 0: a subquery that was pulled up */
	List	  **targets;		/* its columns; NULL: an unknown one */
} DpEntryMap;

typedef struct NameContext
{
	DpEntryMap *map;
	bool		unknown;
} NameContext;

static void add_query(DpKeyQuery *s, Query *query, Bitmapset *joins, DpEntryMap *map);

DpKeyQueryItem *
dp_key_query_item(const DpKeyQuery *s, int number)
{
	return list_nth(s->items, number - 1);
}

DpKeyQueryItem *
dp_key_query_add_item(DpKeyQuery *s)
{
	DpKeyQueryItem *item = palloc0(sizeof(DpKeyQueryItem));

	s->items = lappend(s->items, item);
	item->number = list_length(s->items);
	return item;
}

DpKeyQueryCondition *
dp_key_query_add_condition(DpKeyQuery *s, Node *expr)
{
	DpKeyQueryCondition *condition = palloc0(sizeof(DpKeyQueryCondition));

	condition->expr = expr;
	s->conditions = lappend(s->conditions, condition);
	return condition;
}

List *
dp_key_query_where(const DpKeyQuery *s)
{
	List	   *where = NIL;

	foreach_ptr(const DpKeyQueryCondition, condition, s->conditions)
	{
		if (bms_is_empty(condition->joins))
			where = lappend(where, condition->expr);
	}
	return where;
}

Bitmapset *
dp_key_query_included(const DpKeyQuery *s)
{
	Bitmapset  *items = NULL;

	foreach_ptr(DpKeyQueryItem, item, s->items)
	{
		if (item->is_included)
			items = bms_add_member(items, foreach_current_index(item) + 1);
	}
	return items;
}

/* ------------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------------
 */

static Node *
name_column(Node *node, int levels, NameContext *c)
{
	Var		   *var;
	List	   *targets;

	if (IsA(node, Aggref) || IsA(node, GroupingFunc) || IsA(node, WindowFunc) || IsA(node, SubLink))
	{
		c->unknown = true;
		return node;
	}
	if (!IsA(node, Var))
		return NULL;
	var = copyObject((Var *) node);
	targets = c->map->targets[var->varno];
	if (var->varlevelsup != 0 || var->varattno <= 0)
		c->unknown = true;
	else if (c->map->items[var->varno] != 0)
	{
		var->varno = c->map->items[var->varno];
		dp_set_nulled_by(var, 0);
	}
	else if (var->varattno > list_length(targets) || list_nth(targets, var->varattno - 1) == NULL)
		c->unknown = true;
	else
		return copyObject(list_nth(targets, var->varattno - 1));
	return (Node *) var;
}

static Node *
name_in(DpEntryMap *map, Node *expr)
{
	NameContext c = {map, false};
	Node	   *named = dp_put(expr, name_column, &c);

	return c.unknown ? NULL : named;
}

/* ------------------------------------------------------------------------
 * Conditions
 * ------------------------------------------------------------------------
 */

static Node *
named_part(Node *condition, DpEntryMap *map)
{
	return name_in(map, condition);
}

static void
add_conditions(DpKeyQuery *s, DpEntryMap *map, Node *quals, Bitmapset *joins)
{
	foreach_ptr(Node, conjunct, dp_conjuncts(quals))
	{
		bool		whole = true;
		Node	   *known = dp_known_part(conjunct, (DpKnown) named_part, map, &whole);
		int			join = -1;

		while (!whole && (join = bms_next_member(joins, join)) >= 0)
			((DpKeyQueryJoin *) list_nth(s->joins, join - 1))->is_whole = false;
		foreach_ptr(Node, part, dp_conjuncts(known))
		{
			dp_key_query_add_condition(s, part)->joins = joins;
		}
	}
}

/* ------------------------------------------------------------------------
 * Entries
 * ------------------------------------------------------------------------
 */

/* Adds that counts of rows are not below 0, and those of groups not below 1, as numbers of rows are. */
static void
add_least(DpKeyQuery *s, Query *sub, Node *expr, Node *column, Bitmapset *joins)
{
	Aggref	   *agg = (Aggref *) expr;
	int64		least = 1;

	if (IsA(expr, Aggref) && (agg->aggfnoid == F_COUNT_ || agg->aggfnoid == F_COUNT_ANY))
		least = sub->groupClause != NIL && sub->groupingSets == NIL && agg->aggfnoid == F_COUNT_ && agg->aggfilter == NULL;
	else if (!IsA(expr, WindowFunc) || (((WindowFunc *) expr)->winfnoid != F_ROW_NUMBER &&
										((WindowFunc *) expr)->winfnoid != F_RANK_ && ((WindowFunc *) expr)->winfnoid != F_DENSE_RANK_))
		return;
	dp_key_query_add_condition(s, (Node *) dp_make_ordering(BTGreaterEqualStrategyNumber, copyObject((Expr *) column),
															(Expr *) dp_int8_const(least), InvalidOid))->joins = joins;
}

/*
 * Returns a column of a subquery of which nothing else is known: an aggregate, or
 * an expression that may be missing.  *item, which is the subquery's, is made where it is not there yet.
 */
static Node *
unknown_column(DpKeyQuery *s, Query *query, Index rti, TargetEntry *tle, Bitmapset *joins, DpKeyQueryItem **item)
{
	Node	   *column;

	if (*item == NULL)
	{
		*item = dp_key_query_add_item(s);
		(*item)->rte = rt_fetch(rti, query->rtable);
		(*item)->query = query;
		(*item)->is_private = true;
		(*item)->joins = joins;
	}
	column = (Node *) dp_output_var((*item)->number, tle->resno, (Node *) tle->expr);
	add_least(s, (*item)->rte->subquery, (Node *) tle->expr, column, joins);
	return column;
}

/* Names the columns of a subquery that was pulled up; where it may have no row, only plain columns are NULL then. */
static List *
subquery_targets(DpKeyQuery *s, Query *query, Index rti, DpEntryMap *map, Bitmapset *joins)
{
	Query	   *sub = rt_fetch(rti, query->rtable)->subquery;
	DpKeyQueryItem *item = NULL;
	List	   *targets = NIL;

	foreach_node(TargetEntry, tle, sub->targetList)
	{
		Node	   *named = name_in(map, (Node *) tle->expr);

		if (named == NULL || (!bms_is_empty(joins) && !IsA(named, Var)))
			named = unknown_column(s, query, rti, tle, joins, &item);
		targets = lappend(targets, named);
	}
	return targets;
}

typedef struct ShownContext
{
	Query	   *sub;
	List	   *targets;		/* what it shows is named */
	bool		unknown;
} ShownContext;

/* Puts what a subquery shows in the place of the aggregates that it is. */
static Node *
put_shown(Node *node, int levels, ShownContext *c)
{
	ListCell   *lc,
			   *target;

	forboth(lc, c->sub->targetList, target, c->targets)
	{
		Node	   *expr = (Node *) lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(expr, Var) && !IsA(expr, Const) && equal(expr, node) && IsA(lfirst(target), Var))
			return copyObject(lfirst(target));
	}
	c->unknown |= IsA(node, Var) || IsA(node, Aggref) || IsA(node, WindowFunc) || IsA(node, GroupingFunc) || IsA(node, SubLink);
	return NULL;
}

/* Adds what HAVING asks of the aggregates that a subquery shows. */
static void
add_having(DpKeyQuery *s, Query *sub, List *targets, Bitmapset *joins)
{
	foreach_ptr(Node, conjunct, dp_conjuncts(sub->havingQual))
	{
		ShownContext c = {sub, targets};
		Node	   *named = dp_put(conjunct, put_shown, &c);

		if (c.unknown || contain_volatile_functions(named))
			continue;
		dp_key_query_add_condition(s, named)->joins = joins;
	}
}

/*
 * Tells whether the asker may read a table that a view reads for him: the view
 * does not show all of it.
 */
bool
dp_key_query_may_read(Query *query, RangeTblEntry *rte)
{
	Oid			reader = dp_check_as_user(query, rte);

	return !OidIsValid(reader) || reader == GetUserId() ||
		pg_class_aclcheck(rte->relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

static void
add_entry(DpKeyQuery *s, Query *query, Index rti, Bitmapset *joins, DpEntryMap *map)
{
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	DpPrefetch *prefetch = dp_prefetch_of(s->level->release, rte);
	DpKeyQueryItem *item;
	int			join = -1;

	if (rte->rtekind == RTE_SUBQUERY && rte->subquery->setOperations == NULL)
	{
		DpEntryMap	inner = {0};

		add_query(s, rte->subquery, joins, &inner);
		map->targets[rti] = subquery_targets(s, query, rti, &inner, joins);
		add_having(s, rte->subquery, map->targets[rti], joins);
		return;
	}
	item = dp_key_query_add_item(s);
	item->rte = rte;
	item->query = query;

	/*
	 * rows of a UNION ALL are protected, as those of a table are, whatever
	 * its operands join, and so are those that are made of them
	 */
	item->is_private = rte->rtekind == RTE_SUBQUERY || rte->rtekind == RTE_FUNCTION ||
		(rte->rtekind == RTE_RELATION && (dp_is_protected(rte) || !dp_key_query_may_read(query, rte))) ||
		(prefetch != NULL && !prefetch->tells_keys);
	item->joins = joins;
	map->items[rti] = item->number;
	while ((join = bms_next_member(joins, join)) >= 0)
	{
		DpKeyQueryJoin *j = list_nth(s->joins, join - 1);

		j->items = bms_add_member(j->items, item->number);
	}
}

static Bitmapset *
add_join(DpKeyQuery *s, Bitmapset *joins)
{
	DpKeyQueryJoin *join = palloc0(sizeof(DpKeyQueryJoin));

	join->is_whole = true;
	s->joins = lappend(s->joins, join);
	return bms_add_member(bms_copy(joins), list_length(s->joins));
}

static DpWalk
note_entry(Node *node, int levels, Bitmapset **entries)
{
	if (IsA(node, RangeTblRef))
		*entries = bms_add_member(*entries, ((RangeTblRef *) node)->rtindex);
	return DP_WALK_ON;
}

static void add_tree(DpKeyQuery *s, Query *query, Node *node, Bitmapset *joins, Relids strict, DpEntryMap *map);

static Bitmapset *
entries_of(Node *tree)
{
	Bitmapset  *entries = NULL;

	dp_walk(tree, note_entry, &entries);
	return entries;
}

/* Returns a column of the right side that an anti join compares by, which is not NULL where there is a match; NULL: there is none. */
static Var *
matched_column(JoinExpr *join)
{
	foreach_ptr(Var, var, pull_var_clause(join->quals, 0))
	{
		if (bms_is_member(var->varno, entries_of(join->rarg)))
			return var;
	}
	return NULL;
}

/*
 * Adds an anti join: an outer join of whose rows those without a match stay.
 * Matches by a column that is NULL, if there are any, stay, too.
 */
static void
add_anti_join(DpKeyQuery *s, Query *query, JoinExpr *join, Bitmapset *joins, Relids strict, DpEntryMap *map)
{
	Var		   *column = matched_column(join);
	Bitmapset  *right;

	add_tree(s, query, join->larg, joins, strict, map);
	if (column == NULL)
		return;
	right = add_join(s, joins);
	((DpKeyQueryJoin *) llast(s->joins))->is_anti = true;
	add_tree(s, query, join->rarg, right, find_nonnullable_rels(join->quals), map);
	add_conditions(s, map, join->quals, right);
	add_conditions(s, map, (Node *) dp_is_null((Expr *) copyObject(column)), joins);
}

/*
 * Adds another row of the table that an outer join along a foreign key reads,
 * which is there for each protected row: where the join asks more than the key,
 * only the row that the key leads to may fail it.
 */
static void
add_referenced(DpKeyQuery *s, Query *query, JoinExpr *join, DpEntryMap *map)
{
	Node	   *side = join->jointype == JOIN_RIGHT ? join->larg : join->rarg;
	JoinExpr	along = *join;

	foreach_ptr(Node, conjunct, dp_conjuncts(join->quals))
	{
		DpKeyQueryItem *item;
		DpKeyQueryItem *row;
		Node	   *condition;
		int			other;

		along.quals = conjunct;
		/* what a subquery reads has entries of its own */
		if (!dp_join_always_matches(query, &along) || map->items[castNode(RangeTblRef, side)->rtindex] == 0)
			continue;
		item = dp_key_query_item(s, map->items[castNode(RangeTblRef, side)->rtindex]);
		condition = copyObject(name_in(map, conjunct));
		other = condition ? bms_next_member(bms_del_member(pull_varnos(NULL, condition), item->number), -1) : -1;
		if (item->is_private || other < 0 || !dp_key_query_item(s, other)->is_private)
			continue;
		row = dp_key_query_add_item(s);
		row->rte = item->rte;
		row->query = item->query;
		ChangeVarNodes(condition, item->number, row->number, 0);
		dp_key_query_add_condition(s, condition);
		return;
	}
}

/*
 * Takes what public entries of a FULL JOIN show for unknown: rows of its right side without a match are none of those that
 * the two sides have, one after the other.
 */
static void
forget_values(DpKeyQuery *s, const JoinExpr *join, DpEntryMap *map)
{
	Bitmapset  *entries = bms_union(entries_of(join->larg), entries_of(join->rarg));
	int			rti = -1;
	ListCell   *lc;

	while ((rti = bms_next_member(entries, rti)) >= 0)
	{
		if (map->items[rti] != 0)
			dp_key_query_item(s, map->items[rti])->is_private = true;
		foreach(lc, map->targets[rti])
			lfirst(lc) = NULL;
	}
}

/*
 * Adds a join tree.  strict: entries of the query of which a row without any
 * does not satisfy what is asked above; outer joins that may miss them are inner ones.
 */
static void
add_tree(DpKeyQuery *s, Query *query, Node *node, Bitmapset *joins, Relids strict, DpEntryMap *map)
{
	check_stack_depth();
	if (IsA(node, RangeTblRef))
		add_entry(s, query, ((RangeTblRef *) node)->rtindex, joins, map);
	else if (IsA(node, FromExpr))
	{
		strict = bms_union(strict, find_nonnullable_rels(((FromExpr *) node)->quals));
		foreach_ptr(Node, item, ((FromExpr *) node)->fromlist)
			add_tree(s, query, item, joins, strict, map);
		add_conditions(s, map, ((FromExpr *) node)->quals, joins);
	}
	else if (castNode(JoinExpr, node)->jointype == JOIN_ANTI)
		add_anti_join(s, query, (JoinExpr *) node, joins, strict, map);
	else
	{
		JoinExpr   *join = castNode(JoinExpr, node);
		bool		nulls_left = (join->jointype == JOIN_RIGHT || join->jointype == JOIN_FULL) &&
		!bms_overlap(strict, entries_of(join->larg));
		bool		nulls_right = (join->jointype == JOIN_LEFT || join->jointype == JOIN_FULL) &&
		!bms_overlap(strict, entries_of(join->rarg));
		Relids		own = bms_union(strict, find_nonnullable_rels(join->quals));
		Bitmapset  *left = joins;
		Bitmapset  *right = joins;

		if (nulls_right && !dp_join_always_matches(query, join))
			right = add_join(s, joins);
		if (nulls_left && !dp_join_always_matches(query, join))
			left = add_join(s, joins);
		/* what is matched comes before what may be missing */
		if (join->jointype == JOIN_RIGHT)
		{
			add_tree(s, query, join->rarg, right, nulls_left ? strict : own, map);
			add_tree(s, query, join->larg, left, own, map);
		}
		else
		{
			add_tree(s, query, join->larg, left, nulls_right ? strict : own, map);
			add_tree(s, query, join->rarg, right, nulls_left ? strict : own, map);
		}
		add_conditions(s, map, join->quals, bms_union(left, right));
		if (nulls_left && nulls_right)
			forget_values(s, join, map);
		if (bms_is_empty(joins) && join->jointype != JOIN_FULL && bms_membership(bms_union(left, right)) == BMS_SINGLETON)
			add_referenced(s, query, join, map);
	}
}

static void
add_query(DpKeyQuery *s, Query *query, Bitmapset *joins, DpEntryMap *map)
{
	int			n = list_length(query->rtable) + 1;

	map->items = palloc0(n * sizeof(Index));
	map->targets = palloc0(n * sizeof(List *));
	add_tree(s, query, (Node *) query->jointree, joins, NULL, map);
}

/* ------------------------------------------------------------------------
 * Entry points
 * ------------------------------------------------------------------------
 */

/* Notes, for each column of a protected entry of the level, what the key query names it. */
static void
note_outputs(DpKeyQuery *s, DpEntryMap *map)
{
	int			rti = -1;

	while ((rti = bms_next_member(s->level->from.entries, rti)) >= 0)
	{
		RangeTblEntry *rte = rt_fetch(rti, s->level->from.query->rtable);
		List	   *targets = map->targets[rti];

		if (rte->rtekind != RTE_SUBQUERY)
			continue;
		foreach_ptr(Node, target, targets)
		{
			if (target != NULL && IsA(target, Var))
				s->outputs = lappend(lappend(s->outputs,
											 makeVar(rti, foreach_current_index(target) + 1, exprType(target),
													 exprTypmod(target), exprCollation(target), 0)),
									 target);
		}
	}
}

DpKeyQuery *
dp_key_query_start(DpLevel *level)
{
	DpKeyQuery *s = palloc0(sizeof(DpKeyQuery));
	DpEntryMap *map = palloc0(sizeof(DpEntryMap));

	s->level = level;
	s->entries = map;
	add_query(s, level->from.query, NULL, map);
	note_outputs(s, map);
	return s;
}

Node *
dp_key_query_name(DpKeyQuery *s, Node *expr)
{
	return name_in(s->entries, expr);
}

Var *
dp_key_query_level_var(DpKeyQuery *s, Var *column)
{
	DpEntryMap *map = s->entries;
	int			rti = -1;
	ListCell   *lc;

	while ((rti = bms_next_member(s->level->from.entries, rti)) >= 0)
		if (map->items[rti] == column->varno)
		{
			Var		   *var = copyObject(column);

			var->varno = rti;
			return var;
		}
	for (lc = list_head(s->outputs); lc != NULL; lc = lnext(s->outputs, lnext(s->outputs, lc)))
		if (equal(lfirst(lnext(s->outputs, lc)), column))
			return lfirst(lc);
	return NULL;
}
