/*-------------------------------------------------------------------------
 *
 * key_query_keys.c
 *	  Which sets the keys of a level are in, by what its public inputs allow.
 *
 * Keys are in one set if an item of the key query, or a condition, connects them
 * (key_query_parts.c).
 *
 * A key that is one column with a list, or constant, on which nothing but
 * constants act, needs no query: its values are found while the query is
 * planned (planned_keys.c).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "guard/describe/describe.h"
#include "guard/describe/forms.h"
#include "guard/describe/key_query.h"
#include "guard/facts/facts.h"
#include "guard/facts/lists.h"
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

/* so many are evaluated as fast as cells are found, which know less */
#define FEW_INTEGERS 1000

/* one key of the level */
typedef struct QueryKey
{
	Node	   *named;			/* in its safe form; NULL: part of it cannot
								 * be known */
	Node	   *canonical;		/* a call that its resolved form is put into,
								 * or NULL */
	Node	   *expr;			/* resolved; NULL: not known */
	Bitmapset  *items;
	bool		is_bare;		/* one column of a list, as it is */
	bool		is_listed;		/* no more is known than all that it can be */
} QueryKey;

/* ------------------------------------------------------------------------
 * Sets
 * ------------------------------------------------------------------------
 */

/* Tells whether the values of a key are known while the query is planned: what lists without tables and parameters have. */
static bool
is_plain(DpKeyQuery *s, const QueryKey *key, int part)
{
	if (!key->is_bare || (bms_membership(key->items) == BMS_MULTIPLE && !key->is_listed) || dp_is_of_execution(key->expr))
		return false;
	foreach_ptr(DpKeyQueryItem, item, s->items)
	{
		if (item->is_included && item->part == part &&
			(item->rte != NULL || item->is_series || dp_is_of_execution((Node *) item->values)))
			return false;
	}
	foreach_ptr(DpKeyQueryCondition, condition, s->conditions)
	{
		int			first = bms_next_member(condition->items, -1);

		if (condition->is_included && (first < 0 || dp_key_query_item(s, first)->part == part) && dp_is_of_execution(condition->resolved))
			return false;
	}
	return true;
}

/* Names a key of the level, in the form in which rows have it. */
static void
name_key(DpKeyQuery *s, QueryKey *key, Node *expr)
{
	Node	   *safe = dp_make_safe(expr, &s->level->allow);
	Node	   *canonical = dp_canonical_key(safe);

	key->named = dp_key_query_name(s, safe);
	if (key->named != NULL && contain_volatile_functions(key->named))
		key->named = NULL;
	key->canonical = canonical == safe ? NULL : canonical;
}

static void
resolve_key(DpKeyQuery *s, QueryKey *key, DpKeyQueryLists lists)
{
	Node	   *named = key->named;
	Node	   *canonical;

	if (named == NULL || key->expr != NULL)
		return;
	key->is_listed = lists == DP_LISTS_ANY;
	key->is_bare = key->is_listed || !dp_is_unfoldable(named, NULL) || IsA(dp_strip_labels(named), Var);
	key->expr = dp_key_query_resolve(s, named, lists, &key->items);
	if (key->expr != NULL && IsA(dp_strip_labels(named), Var) && bms_membership(key->items) == BMS_SINGLETON)
		dp_key_query_item(s, bms_singleton_member(key->items))->is_key = true;
	if (key->expr == NULL || key->canonical == NULL)
		return;
	canonical = copyObject(key->canonical);
	linitial(castNode(FuncExpr, canonical)->args) = key->expr;
	key->expr = canonical;
}

/* Finds the constants that divide what keys compare with them, which are not known otherwise, and puts the cells in. */
static void
find_cells(DpKeyQuery *s, QueryKey *keys, int nkeys)
{
	Bitmapset  *items = NULL;

	s->cell_stage = DP_CELLS_OF_KEYS;
	for (int i = 0; i < nkeys; i++)
	{
		int			n = dp_key_query_count_cells(s);

		if (keys[i].named == NULL || keys[i].expr != NULL)
			continue;
		keys[i].named = dp_write_out_cases(keys[i].named, NULL);
		if (dp_key_query_resolve(s, keys[i].named, DP_LISTS_KNOWN, &items) == NULL)
			dp_key_query_forget_cells(s, n);
		else
			dp_key_query_ask_nulls(s);
	}
	dp_key_query_imply_limits(s);
	s->cell_stage = DP_CELLS_OF_CONDITIONS;
	foreach_ptr(const DpKeyQueryCondition, condition, dp_key_query_count_cells(s) > 0 ? list_copy(s->conditions) : NIL)
	{
		if (!condition->splits_cells && !contain_volatile_functions(condition->expr))
			(void) dp_key_query_resolve_condition(s, condition, condition->expr, &items);
	}
	dp_key_query_fill_cells(s);
	s->cell_stage = DP_CELLS_FOUND;
}

/* Adds, for each condition that is known by now, that it holds: points may stand for what it reads later. */
static void
keep_conditions(DpKeyQuery *s)
{
	foreach_ptr(const DpKeyQueryCondition, condition, list_copy(s->conditions))
	{
		Bitmapset  *items = NULL;
		Node	   *resolved;

		if (condition->splits_cells || !bms_is_empty(condition->joins) || contain_volatile_functions(condition->expr))
			continue;
		resolved = dp_key_query_resolve_condition(s, condition, condition->expr, &items);
		if (resolved == NULL || equal(resolved, condition->expr))
			continue;
		(void) dp_key_query_add_condition(s, resolved);
	}
}

/* Resolves all keys that are not known, as far as it is possible now; returns those that remain. */
static List *
resolve_each(DpKeyQuery *s, QueryKey *keys, int nkeys, DpKeyQueryLists lists)
{
	List	   *unknown = NIL;

	for (int i = 0; i < nkeys; i++)
	{
		resolve_key(s, &keys[i], lists);
		if (keys[i].named != NULL && keys[i].expr == NULL)
			unknown = lappend(unknown, keys[i].named);
	}
	return unknown;
}

/* Puts lists in the place of buckets. */
static void
put_buckets(DpKeyQuery *s, QueryKey *keys, int nkeys)
{
	for (int i = 0; i < nkeys; i++)
		if (keys[i].named != NULL && keys[i].expr == NULL)
			keys[i].named = dp_key_query_put_buckets(s, list_nth(s->level->key_exprs, i), keys[i].named);
}

/*
 * Resolves the keys of the level: what is not known by itself may be at points
 * of time, by lists of buckets, or by cells of its values; or some of it by cells,
 * and the rest at points; or at all integers that conditions leave it; or by all
 * that it can be.
 */
static void
resolve_keys(DpKeyQuery *s, QueryKey *keys, int nkeys)
{
	List	   *unknown;

	for (int i = 0; i < nkeys; i++)
		name_key(s, &keys[i], list_nth(s->level->key_exprs, i));
	unknown = resolve_each(s, keys, nkeys, DP_LISTS_KNOWN);
	dp_key_query_list_matched(s, unknown);
	if (unknown == NIL)
		return;
	dp_key_query_add_points(s, unknown);
	if (resolve_each(s, keys, nkeys, DP_LISTS_KNOWN) == NIL)
		return;
	put_buckets(s, keys, nkeys);
	unknown = resolve_each(s, keys, nkeys, DP_LISTS_KNOWN);
	if (unknown == NIL)
		return;
	dp_key_query_add_integers(s, unknown, FEW_INTEGERS);
	if (resolve_each(s, keys, nkeys, DP_LISTS_KNOWN) == NIL)
		return;
	find_cells(s, keys, nkeys);
	unknown = resolve_each(s, keys, nkeys, DP_LISTS_KNOWN);
	if (unknown != NIL && dp_key_query_count_cells(s) > 0)
	{
		keep_conditions(s);
		dp_key_query_add_points(s, unknown);
		unknown = resolve_each(s, keys, nkeys, DP_LISTS_KNOWN);
	}
	if (unknown == NIL)
		return;
	dp_key_query_add_integers(s, unknown, DP_MAX_KEY_RANGE);
	(void) resolve_each(s, keys, nkeys, DP_LISTS_ANY);
}

static int
part_of(DpKeyQuery *s, const QueryKey *key)
{
	int			first = bms_next_member(key->items, -1);

	return first < 0 ? 0 : dp_key_query_item(s, first)->part;
}

/* Notes which declared values rows are held to: where the column is a key of the part. */
static void
list_values(DpKeyQuery *s, int part, bool is_held)
{
	foreach_ptr(DpKeyQueryItem, item, s->items)
	{
		if (item->is_included && item->part == part && item->listed != NULL && item->is_key)
		{
			item->listed->is_held = is_held;
			s->level->parts.listed = lappend(s->level->parts.listed, item->listed);
		}
	}
}

/* Returns the conditions that what no key is of has a row: an EXISTS for each part. */
static List *
find_existence(DpKeyQuery *s, const QueryKey *keys, int nkeys)
{
	Bitmapset  *parts = NULL;
	List	   *list = NIL;

	for (int i = 0; i < nkeys; i++)
		parts = bms_add_member(parts, part_of(s, &keys[i]));
	foreach_ptr(DpKeyQueryItem, item, s->items)
	{
		if (!item->is_included || bms_is_member(item->part, parts))
			continue;
		parts = bms_add_member(parts, item->part);
		list = lappend(list, dp_exists(dp_key_query_select(s, item->part, NIL)));
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

/* Starts the key query of a level, with what its keys are. */
static DpKeyQuery *
start_key_query(DpLevel *level, QueryKey *keys, int nkeys)
{
	DpKeyQuery *s = dp_key_query_start(level);

	dp_key_query_equate(s);
	dp_key_query_relate_matches(s);
	dp_key_query_bound_compared(s);
	resolve_keys(s, keys, nkeys);
	dp_key_query_follow_references(s);
	return s;
}

/* Refuses keys of which more are declared than there is room for. */
static void
refuse_beyond(DpKeyQuery *s, const QueryKey *keys, int nkeys)
{
	for (int i = 0; i < nkeys; i++)
		if (s->beyond != NULL && keys[i].expr == NULL && keys[i].named != NULL && dp_has_equal(keys[i].named, (Node *) s->beyond))
			dp_refuse_keys(s->level->dataset, s->level->cxt->keys + s->nbeyond, true);
}

/* ------------------------------------------------------------------------
 * Levels that read a UNION ALL
 * ------------------------------------------------------------------------
 */

/* Adds the values of another array, which may be NULL, to one that is sorted, each once. */
static Const *
join_values(Const *a, const Const *b)
{
	Oid			type = get_element_type(b->consttype);
	List	   *elements;
	List	   *more;
	Datum	   *values;
	int			n = 0;
	int16		typlen;
	bool		typbyval;
	char		typalign;

	if (a == NULL)
		return copyObject((Const *) b);
	(void) dp_list_elements((Node *) a, INT_MAX, &elements);
	(void) dp_list_elements((Node *) b, INT_MAX, &more);
	elements = list_concat(elements, more);
	values = palloc((list_length(elements) + 1) * sizeof(Datum));
	foreach_ptr(Const, element, elements)
		values[n++] = element->constvalue;
	n = dp_sort_keys(type, b->constcollid, values, n);
	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	a->constvalue = PointerGetDatum(construct_array(values, n, type, typlen, typbyval, typalign));
	return a;
}

/*
 * Returns the query of keys of the level, which are all that it has, where it reads from; NULL: not all are known.  Adds
 * to the set the values of a single one that is known now; else clears *plain.
 */
static Query *
query_of_operand(const DpLevel *level, Query *from, DpKeySet *set, bool *plain)
{
	DpLevel    *one = palloc(sizeof(DpLevel));
	int			nkeys = list_length(level->key_exprs);
	QueryKey   *keys = palloc0(sizeof(QueryKey) * nkeys);
	Bitmapset  *items = NULL;
	List	   *exprs = NIL;
	List	   *exists;
	DpKeyQuery *s;
	Query	   *query;
	Const	   *values = NULL;
	bool		has_null = false;

	*one = *level;
	one->from.query = from;
	s = start_key_query(one, keys, nkeys);
	for (int i = 0; i < nkeys; i++)
	{
		if (keys[i].expr == NULL)
			return NULL;
		items = bms_add_members(items, keys[i].items);
		exprs = lappend(exprs, keys[i].expr);
	}
	dp_key_query_find_parts(s, list_make1(items));
	exists = find_existence(s, keys, nkeys);
	if (*plain && nkeys == 1 && exists == NIL && is_plain(s, &keys[0], part_of(s, &keys[0])))
		values = dp_key_query_values(s, keys[0].expr, part_of(s, &keys[0]), &has_null);
	*plain = values != NULL;
	if (values != NULL)
		set->domain = join_values(set->domain, values);
	set->null_key |= has_null;
	query = dp_key_query_select(s, bms_is_empty(items) ? 0 : dp_key_query_item(s, bms_next_member(items, -1))->part, exprs);
	add_existence(query, exists);
	return query;
}

/* Makes one set of keys, by number, of a level of which these are the operands; false, and nothing is made, where they are not known. */
static bool
add_set_of_operands(const DpLevel *level, List *operands, List *numbers)
{
	DpLevel		of = *level;
	List	   *queries = NIL;
	bool		plain = true;
	DpKeySet   *set = dp_make_key_set();

	of.key_exprs = NIL;
	foreach_int(number, numbers)
		of.key_exprs = lappend(of.key_exprs, list_nth(level->key_exprs, number));
	foreach_ptr(Query, operand, operands)
	{
		Query	   *query = query_of_operand(&of, operand, set, &plain);

		if (query == NULL)
			return false;
		queries = lappend(queries, query);
	}
	set->keys = numbers;
	if (!plain)
	{
		set->domain = NULL;
		set->null_key = false;
		set->query = dp_key_query_union(queries);
	}
	level->release->key_sets = lappend(level->release->key_sets, set);
	return true;
}

/* Makes sets of the keys of a level that reads a UNION ALL, of all together or of each, as far as they are known by its operands. */
static bool
add_sets_of_operands(DpLevel *level)
{
	List	   *operands = dp_key_query_operands(level->from.query);
	int			nkeys = list_length(level->key_exprs);
	List	   *all = NIL;
	bool		found = true;

	for (int i = 0; i < nkeys; i++)
		all = lappend_int(all, i);
	if (operands == NIL || add_set_of_operands(level, operands, all))
		return operands != NIL;
	foreach_int(i, nkeys > 1 ? all : NIL)
		found &= add_set_of_operands(level, operands, list_make1_int(i));
	return nkeys > 1 && found;
}

/* ------------------------------------------------------------------------
 * Entry points
 * ------------------------------------------------------------------------
 */

void
dp_key_query_keys(DpLevel *level)
{
	List	   *exists;
	DpKeyQuery *s;
	int			nkeys = list_length(level->key_exprs);
	QueryKey   *keys = palloc0(sizeof(QueryKey) * Max(nkeys, 1));
	List	   *read = NIL;

	if (nkeys == 0 || add_sets_of_operands(level))
		return;
	s = start_key_query(level, keys, nkeys);
	refuse_beyond(s, keys, nkeys);
	for (int i = 0; i < nkeys; i++)
		if (keys[i].expr != NULL)
			read = lappend(read, keys[i].items);
	dp_key_query_find_parts(s, read);
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
		level->release->key_sets = lappend(level->release->key_sets, set);
		if (list_length(exprs) == 1 && exists == NIL && is_plain(s, &keys[i], part))
			set->domain = dp_key_query_values(s, keys[i].expr, part, &set->null_key);
		if (set->domain == NULL)
		{
			set->query = dp_key_query_select(s, part, exprs);
			add_existence(set->query, exists);
			exists = NIL;
		}
		if (part != 0)
			list_values(s, part, set->domain != NULL);
	}
}

/* Adds to a set the values that an expression can have where the level reads from; returns false if they are not known. */
static bool
add_planned(const DpLevel *level, Query *from, Node *expr, DpKeySet *set)
{
	DpLevel    *one = palloc(sizeof(DpLevel));
	QueryKey	key = {0};
	bool		has_null = false;
	DpKeyQuery *s;
	Const	   *values;

	*one = *level;
	one->from.query = from;
	one->key_exprs = list_make1(expr);
	s = dp_key_query_start(one);
	s->is_planned = true;
	dp_key_query_equate(s);
	name_key(s, &key, expr);
	put_buckets(s, &key, 1);
	key.named = dp_write_out_cases(key.named, NULL);
	if (resolve_each(s, &key, 1, DP_LISTS_ANY) != NIL || key.expr == NULL)
	{
		refuse_beyond(s, &key, 1);
		return false;
	}
	dp_key_query_find_parts(s, list_make1(key.items));
	values = dp_key_query_values(s, key.expr, part_of(s, &key), &has_null);
	if (values == NULL)
		return false;
	set->domain = join_values(set->domain, values);
	set->null_key |= has_null;
	return true;
}

DpKeySet *
dp_planned_values(DpLevel *level, Node *expr)
{
	DpKeySet   *set = dp_make_key_set();
	bool		known = true;
	List	   *operands = dp_key_query_operands(level->from.query);

	foreach_ptr(Query, operand, operands)
		known = known && add_planned(level, operand, expr, set);
	if (operands == NIL || !known)
	{
		set = dp_make_key_set();
		known = add_planned(level, level->from.query, expr, set);
	}
	return known ? set : NULL;
}
