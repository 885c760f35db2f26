/*-------------------------------------------------------------------------
 *
 * shadow_keys.c
 *	  Which sets the keys of a level are in, by what its public inputs allow.
 *
 * Keys are in one set if an item of the shadow, or a condition, connects them
 * (shadow_parts.c).
 *
 * A key that is one column with a list, or constant, on which nothing but
 * constants act, needs no query (declared_keys.c).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/transam.h"
#include "base/compat.h"
#include "base/walk.h"
#include "guard/describe/describe.h"
#include "guard/describe/key_values.h"
#include "guard/describe/shadow.h"
#include "guard/facts/facts.h"
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/rel.h"

/* so many are evaluated as fast as cells are found, which know less */
#define FEW_INTEGERS 1000

/* one key of the level */
typedef struct ShadowKey
{
	Node	   *named;			/* in its safe form; NULL: part of it cannot
								 * be known */
	Node	   *canonical;		/* a call that its resolved form is put into,
								 * or NULL */
	Node	   *expr;			/* resolved; NULL: not known */
	Bitmapset  *items;
	bool		is_bare;		/* one column of a list, as it is */
} ShadowKey;

/* ------------------------------------------------------------------------
 * Sets
 * ------------------------------------------------------------------------
 */

static bool
is_added(Oid funcid, void *context)
{
	return funcid >= FirstGenbkiObjectId;
}

static DpWalk
calls_added(Node *node, int levels, void *context)
{
	return check_functions_in_node(node, is_added, context);
}

/*
 * Tells whether an expression is not to be evaluated while the query is planned:
 * it reads parameters, the clock or settings, so that it may differ from one
 * execution to the next, or calls a function that is not PostgreSQL's own, as
 * which casts to text are written.
 */
static bool
is_of_execution(Node *node)
{
	return dp_reads_param(node) || contain_mutable_functions(node) || dp_walk(node, calls_added, NULL);
}

/*
 * Tells whether a list at planning does as well (declared_keys.c): of one
 * column, or constant, on which nothing but constants act.
 */
static bool
is_plain(DpShadow *s, const ShadowKey *key, int part)
{
	if (!key->is_bare || bms_membership(key->items) == BMS_MULTIPLE || is_of_execution(key->expr))
		return false;
	foreach_ptr(DpShadowItem, item, s->items)
	{
		if (item->is_included && item->part == part &&
			(item->rte != NULL || item->is_series || is_of_execution((Node *) item->values)))
			return false;
	}
	foreach_ptr(DpShadowCondition, condition, s->conditions)
	{
		int			first = bms_next_member(condition->items, -1);

		if (condition->is_included && (first < 0 || dp_shadow_item(s, first)->part == part) &&
			(condition->is_below || !condition->is_whole || is_of_execution(condition->resolved)))
			return false;
	}
	return true;
}

/* Names a key of the level, in the form in which rows have it. */
static void
name_key(DpShadow *s, ShadowKey *key, Node *expr)
{
	Node	   *safe = dp_make_safe(expr, &s->level->allow);
	Node	   *canonical = dp_canonical_key(safe);

	key->named = dp_shadow_name(s, safe);
	if (key->named != NULL && contain_volatile_functions(key->named))
		key->named = NULL;
	key->canonical = canonical == safe ? NULL : canonical;
}

static void
resolve_key(DpShadow *s, ShadowKey *key)
{
	Node	   *named = key->named;
	Node	   *canonical;

	if (named == NULL || key->expr != NULL)
		return;
	key->is_bare = !dp_is_unfoldable(named, NULL) || IsA(dp_strip_labels(named), Var);
	key->expr = dp_shadow_resolve(s, named, true, &key->items);
	if (key->expr != NULL && IsA(dp_strip_labels(named), Var) && bms_membership(key->items) == BMS_SINGLETON)
		dp_shadow_item(s, bms_singleton_member(key->items))->is_key = true;
	if (key->expr == NULL || key->canonical == NULL)
		return;
	canonical = copyObject(key->canonical);
	linitial(castNode(FuncExpr, canonical)->args) = key->expr;
	key->expr = canonical;
}

/* Finds the constants that divide what keys compare with them, which are not known otherwise, and puts the cells in. */
static void
find_cells(DpShadow *s, ShadowKey *keys, int nkeys)
{
	Bitmapset  *items = NULL;

	s->cell_stage = DP_CELLS_OF_KEYS;
	for (int i = 0; i < nkeys; i++)
	{
		int			n = dp_shadow_count_cells(s);

		if (keys[i].named == NULL || keys[i].expr != NULL)
			continue;
		keys[i].named = dp_write_out_cases(keys[i].named, NULL);
		if (dp_shadow_resolve(s, keys[i].named, true, &items) == NULL)
			dp_shadow_forget_cells(s, n);
		else
			dp_shadow_ask_nulls(s);
	}
	dp_shadow_imply_limits(s);
	s->cell_stage = DP_CELLS_OF_CONDITIONS;
	foreach_ptr(const DpShadowCondition, condition, dp_shadow_count_cells(s) > 0 ? list_copy(s->conditions) : NIL)
	{
		if (!condition->splits_cells && !contain_volatile_functions(condition->expr))
			(void) dp_shadow_resolve_condition(s, condition, condition->expr, &items);
	}
	dp_shadow_fill_cells(s);
	s->cell_stage = DP_CELLS_FOUND;
}

/* Adds, for each condition that is known by now, that it holds: points may stand for what it reads later. */
static void
keep_conditions(DpShadow *s)
{
	foreach_ptr(const DpShadowCondition, condition, list_copy(s->conditions))
	{
		Bitmapset  *items = NULL;
		Node	   *resolved;

		if (condition->splits_cells || !bms_is_empty(condition->joins) || contain_volatile_functions(condition->expr))
			continue;
		resolved = dp_shadow_resolve_condition(s, condition, condition->expr, &items);
		if (resolved == NULL || equal(resolved, condition->expr))
			continue;
		dp_shadow_add_condition(s, resolved)->is_below = condition->is_below;
	}
}

/* Resolves all keys that are not known, as far as it is possible now; returns those that remain. */
static List *
resolve_each(DpShadow *s, ShadowKey *keys, int nkeys)
{
	List	   *unknown = NIL;

	for (int i = 0; i < nkeys; i++)
	{
		resolve_key(s, &keys[i]);
		if (keys[i].named != NULL && keys[i].expr == NULL)
			unknown = lappend(unknown, keys[i].named);
	}
	return unknown;
}

/* Puts lists in the place of buckets where it is known only when the query runs which there are; otherwise declared_keys.c knows. */
static void
put_buckets(DpShadow *s, ShadowKey *keys, int nkeys)
{
	for (int i = 0; i < nkeys; i++)
	{
		Node	   *expr = list_nth(s->level->key_exprs, i);

		if (keys[i].named != NULL && keys[i].expr == NULL &&
			(is_of_execution(expr) || is_of_execution((Node *) s->level->conditions)))
			keys[i].named = dp_shadow_put_buckets(s, expr, keys[i].named);
	}
}

/*
 * Resolves the keys of the level: what is not known by itself may be at points
 * of time, by lists of buckets, or by cells of its values; or some of it by cells,
 * and the rest at points; or at all integers that conditions leave it.
 */
static void
resolve_keys(DpShadow *s, ShadowKey *keys, int nkeys)
{
	List	   *unknown;

	for (int i = 0; i < nkeys; i++)
		name_key(s, &keys[i], list_nth(s->level->key_exprs, i));
	unknown = resolve_each(s, keys, nkeys);
	if (unknown == NIL)
		return;
	dp_shadow_add_points(s, unknown);
	if (resolve_each(s, keys, nkeys) == NIL)
		return;
	put_buckets(s, keys, nkeys);
	unknown = resolve_each(s, keys, nkeys);
	if (unknown == NIL)
		return;
	dp_shadow_add_integers(s, unknown, FEW_INTEGERS);
	if (resolve_each(s, keys, nkeys) == NIL)
		return;
	find_cells(s, keys, nkeys);
	unknown = resolve_each(s, keys, nkeys);
	if (unknown != NIL && dp_shadow_count_cells(s) > 0)
	{
		keep_conditions(s);
		dp_shadow_add_points(s, unknown);
		unknown = resolve_each(s, keys, nkeys);
	}
	if (unknown == NIL)
		return;
	dp_shadow_add_integers(s, unknown, DP_MAX_KEY_RANGE);
	(void) resolve_each(s, keys, nkeys);
}

static int
part_of(DpShadow *s, const ShadowKey *key)
{
	int			first = bms_next_member(key->items, -1);

	return first < 0 ? 0 : dp_shadow_item(s, first)->part;
}

/* Notes which declared values rows are held to: where the column is a key of the part. */
static void
list_values(DpShadow *s, int part)
{
	foreach_ptr(DpShadowItem, item, s->items)
	{
		if (item->is_included && item->part == part && item->listed != NULL && item->is_key)
			s->level->parts.listed = lappend(s->level->parts.listed, item->listed);
	}
}

/* Tells whether conditions read a column of a protected entry by which it references others, which is not the key. */
static bool
asks_of_reference(List *conditions, Index rti, Oid relid, Node *key)
{
	Relation	rel = table_open(relid, AccessShareLock);
	bool		found = false;

	foreach_ptr(const ForeignKeyCacheInfo, fkey, RelationGetFKeyList(rel))
	{
		foreach_ptr(Var, read, pull_var_clause((Node *) conditions, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS))
		{
			for (int i = 0; i < fkey->nkeys; i++)
				found |= read->varno == rti && read->varattno == fkey->conkey[i] && !equal(read, key);
		}
	}
	table_close(rel, NoLock);
	return found;
}

/* Tells whether level has anything that lists at planning do not know of. */
static bool
is_worth_it(DpLevel *level)
{
	int			rti = -1;

	if (list_length(level->key_exprs) != 1 || !IsA(dp_strip_labels(linitial(level->key_exprs)), Var) ||
		is_of_execution((Node *) level->conditions))
		return true;
	/* of which parts may be known */
	foreach_ptr(Node, condition, level->conditions)
	{
		if (is_orclause(condition))
			return true;
	}
	while ((rti = bms_next_member(level->from.entries, rti)) >= 0)
	{
		RangeTblEntry *rte = list_nth(level->from.query->rtable, rti - 1);

		if (rte->rtekind != RTE_RELATION || !dp_is_protected(rte) ||
			asks_of_reference(level->conditions, rti, rte->relid, dp_strip_labels(linitial(level->key_exprs))))
			return true;
	}
	return false;
}

/* Returns the conditions that what no key is of has a row: an EXISTS for each part. */
static List *
find_existence(DpShadow *s, const ShadowKey *keys, int nkeys)
{
	Bitmapset  *parts = NULL;
	List	   *list = NIL;

	for (int i = 0; i < nkeys; i++)
		parts = bms_add_member(parts, part_of(s, &keys[i]));
	foreach_ptr(DpShadowItem, item, s->items)
	{
		SubLink    *exists;

		if (!item->is_included || bms_is_member(item->part, parts))
			continue;
		parts = bms_add_member(parts, item->part);
		exists = dp_make(SubLink, .subLinkType = EXISTS_SUBLINK,
						 .subselect = (Node *) dp_shadow_query(s, item->part, NIL), .location = -1);
		list = lappend(list, exists);
	}
	return list;
}

/* Adds such conditions to a query. */
static void
add_existence(Query *query, List *exists)
{
	if (exists == NIL)
		return;
	query->jointree->quals = make_and_qual(query->jointree->quals, (Node *) make_ands_explicit(exists));
	query->hasSubLinks = true;
}

/* Starts the shadow of a level, with what its keys are. */
static DpShadow *
start_shadow(DpLevel *level, ShadowKey *keys, int nkeys)
{
	DpShadow   *s = dp_shadow_start(level);

	dp_shadow_equate(s);
	dp_shadow_relate_matches(s);
	dp_shadow_bound_buckets(s);
	resolve_keys(s, keys, nkeys);
	dp_shadow_follow_references(s);
	return s;
}

/* Returns the query of all keys where the level reads from; NULL: not all are known.  Clears *plain if a list does not do as well. */
static Query *
query_of_operand(const DpLevel *level, Query *from, bool *plain)
{
	DpLevel    *one = palloc(sizeof(DpLevel));
	int			nkeys = list_length(level->key_exprs);
	ShadowKey  *keys = palloc0(sizeof(ShadowKey) * nkeys);
	Bitmapset  *items = NULL;
	List	   *exprs = NIL;
	List	   *exists;
	DpShadow   *s;
	Query	   *query;

	*one = *level;
	one->from.query = from;
	s = start_shadow(one, keys, nkeys);
	for (int i = 0; i < nkeys; i++)
	{
		if (keys[i].expr == NULL)
			return NULL;
		items = bms_add_members(items, keys[i].items);
		exprs = lappend(exprs, keys[i].expr);
	}
	dp_shadow_find_parts(s, list_make1(items));
	exists = find_existence(s, keys, nkeys);
	*plain &= nkeys == 1 && exists == NIL && is_plain(s, &keys[0], part_of(s, &keys[0]));
	query = dp_shadow_query(s, bms_is_empty(items) ? 0 : dp_shadow_item(s, bms_next_member(items, -1))->part, exprs);
	add_existence(query, exists);
	return query;
}

/* Makes one set of all keys of a level that reads a UNION ALL; false, and nothing is made, where that is not known, or a list does as well. */
static bool
add_set_of_operands(DpLevel *level)
{
	int			nkeys = list_length(level->key_exprs);
	List	   *queries = NIL;
	bool		plain = true;
	DpKeySet   *set;

	for (int i = 0; i < nkeys; i++)
		if (dp_key_set_of(level->release, i) != NULL)
			return false;
	foreach_ptr(Query, operand, dp_shadow_operands(level->from.query))
	{
		Query	   *query = query_of_operand(level, operand, &plain);

		if (query == NULL)
			return false;
		queries = lappend(queries, query);
	}
	if (plain)
		return false;
	set = dp_make_key_set();
	for (int i = 0; i < nkeys; i++)
		set->keys = lappend_int(set->keys, i);
	set->query = dp_shadow_union(queries);
	level->release->key_sets = lappend(level->release->key_sets, set);
	return true;
}

void
dp_shadow_keys(DpLevel *level)
{
	List	   *exists;
	DpShadow   *s;
	int			nkeys = list_length(level->key_exprs);
	ShadowKey  *keys = palloc0(sizeof(ShadowKey) * Max(nkeys, 1));
	List	   *read = NIL;

	if (nkeys == 0 || !is_worth_it(level) || add_set_of_operands(level))
		return;
	s = start_shadow(level, keys, nkeys);
	for (int i = 0; i < nkeys; i++)
		if (keys[i].expr != NULL)
			read = lappend(read, keys[i].items);
	dp_shadow_find_parts(s, read);
	exists = find_existence(s, keys, nkeys);
	for (int i = 0; i < nkeys; i++)
	{
		int			part = part_of(s, &keys[i]);
		List	   *exprs = NIL;
		DpKeySet   *set;

		if (keys[i].expr == NULL || dp_key_set_of(level->release, i) != NULL)
			continue;
		set = dp_make_key_set();
		for (int j = i; j < nkeys; j++)
		{
			if (keys[j].expr == NULL || (j != i && (part == 0 || part_of(s, &keys[j]) != part)))
				continue;
			set->keys = lappend_int(set->keys, j);
			exprs = lappend(exprs, keys[j].expr);
		}
		if (list_length(exprs) == 1 && exists == NIL && is_plain(s, &keys[i], part))
			continue;
		set->query = dp_shadow_query(s, part, exprs);
		add_existence(set->query, exists);
		exists = NIL;
		level->release->key_sets = lappend(level->release->key_sets, set);
		if (part != 0)
			list_values(s, part);
	}
}
