/*-------------------------------------------------------------------------
 *
 * key_query_parts.c
 *	  Which items and conditions belong to the key query of a level, and what
 *	  connects them.
 *
 * Items come into the key query because a key reads them, or because a condition
 * joins them to such: one of which there is at most one row, or a small table.
 * Larger ones are left out: that some row of them exists is not asked, as it
 * could take longer than the query itself.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "base/compat.h"
#include "base/extension.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/forms.h"
#include "guard/describe/key_query.h"
#include "guard/facts/facts.h"
#include "guard/facts/lists.h"
#include "guard/read/read.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* a table that may have several rows for one of another is asked if it has no more than so many */
#define SMALL_TABLE 100000
/* as many rows as are taken for those of a page where nobody has counted */
#define ROWS_OF_PAGE 60
/* of all such tables together, one row of each */
#define SMALL_PRODUCT 1e6

static double
table_rows(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	double		rows = rel->rd_rel->reltuples;

	if (rows < 0)
		rows = RELKIND_HAS_STORAGE(rel->rd_rel->relkind) ? (double) RelationGetNumberOfBlocks(rel) * ROWS_OF_PAGE
			: SMALL_TABLE + 1;
	table_close(rel, NoLock);
	return rows;
}

static List *
resolved_conditions(DpKeyQuery *s)
{
	List	   *list = NIL;

	foreach_ptr(DpKeyQueryCondition, condition, s->conditions)
	{
		if (condition->resolved != NULL && bms_is_empty(condition->joins))
			list = lappend(list, condition->resolved);
	}
	return list;
}

/* Tells whether an item may come into the key query for a condition's sake; product: of the sizes of those that repeat rows. */
static bool
may_include(DpKeyQuery *s, DpKeyQueryItem *item, double *product)
{
	double		rows;

	if (item->is_private || (item->rte == NULL && !item->is_matched))
		return false;
	if (item->rte == NULL || item->rte->rtekind != RTE_RELATION ||
		dp_at_most_one_row(item->rte->relid, item->number, resolved_conditions(s), dp_key_query_included(s)))
		return true;
	rows = table_rows(item->rte->relid);
	if (rows > SMALL_TABLE || rows * *product > SMALL_PRODUCT)
		return false;
	*product *= Max(rows, 1);
	return true;
}

static void
merge_parts(DpKeyQuery *s, Bitmapset *items)
{
	int			part = bms_next_member(items, -1);
	int			i = -1;

	if (part < 0)
		return;
	part = dp_key_query_item(s, part)->part;
	while ((i = bms_next_member(items, i)) >= 0)
	{
		int			other = dp_key_query_item(s, i)->part;

		foreach_ptr(DpKeyQueryItem, item, s->items)
		{
			if (item->part == other)
				item->part = part;
		}
	}
}

/* Includes items, with those that come and go with them in one outer join. */
static void
include_items(DpKeyQuery *s, Bitmapset *items)
{
	int			i = -1;

	while ((i = bms_next_member(items, i)) >= 0)
		dp_key_query_item(s, i)->is_included = true;
	merge_parts(s, items);
}

/* Tells whether a known condition connects an item with what is included. */
static bool
is_connected(DpKeyQuery *s, DpKeyQueryItem *item, Bitmapset *included)
{
	foreach_ptr(DpKeyQueryCondition, condition, s->conditions)
	{
		if (condition->resolved != NULL && !condition->follows && bms_is_member(item->number, condition->items) &&
			bms_overlap(condition->items, included))
			return true;
	}
	return false;
}

/* Tells whether a condition, of WHERE, reads what outer joins connect with what is included. */
static bool
asks_of_joined(DpKeyQuery *s, const DpKeyQueryCondition *condition, Bitmapset *included)
{
	int			i = -1;

	while ((i = bms_next_member(bms_is_empty(condition->joins) ? condition->items : NULL, i)) >= 0)
		if (!bms_is_empty(dp_key_query_item(s, i)->joins) && is_connected(s, dp_key_query_item(s, i), included))
			return true;
	return false;
}

/* Includes a condition if it reads what is included, and what may be; returns whether it did. */
static bool
include_condition(DpKeyQuery *s, DpKeyQueryCondition *condition, double *product)
{
	Bitmapset  *included = dp_key_query_included(s);
	Bitmapset  *missing = bms_difference(condition->items, included);
	int			i = -1;

	if (condition->is_included || condition->resolved == NULL || (condition->follows && !bms_is_empty(missing)))
		return false;
	/* what may be missing asks nothing of the rest */
	while ((i = bms_next_member(condition->joins, i)) >= 0)
	{
		DpKeyQueryJoin *join = list_nth(s->joins, i - 1);

		if (!join->is_anti && !bms_overlap(join->items, included))
			return false;
	}
	i = -1;
	if (!bms_is_empty(condition->items) && !bms_overlap(condition->items, included) &&
		!asks_of_joined(s, condition, included))
		return false;
	while ((i = bms_next_member(missing, i)) >= 0)
		if (!may_include(s, dp_key_query_item(s, i), product))
			return false;
	condition->is_included = true;
	include_items(s, condition->items);
	return true;
}

/* Includes conditions until no other may be. */
static void
include_conditions(DpKeyQuery *s, double *product)
{
	bool		progress = true;

	while (progress)
	{
		progress = false;
		foreach_ptr(DpKeyQueryCondition, condition, s->conditions)
			progress |= include_condition(s, condition, product);
	}
}

/* Tells whether rows need one of an item: it is in no outer join, or a condition above that reads it. */
static bool
is_asked_for(DpKeyQuery *s, DpKeyQueryItem *item)
{
	if (bms_is_empty(item->joins))
		return true;
	foreach_ptr(DpKeyQueryCondition, condition, s->conditions)
	{
		if (condition->resolved != NULL && !condition->follows && bms_is_empty(condition->joins) &&
			bms_is_member(item->number, condition->items))
			return true;
	}
	return false;
}

/*
 * Includes what no key is connected with, if it is small or one row at most:
 * where it has no row, there is no group.
 */
static void
include_others(DpKeyQuery *s, double *product)
{
	Bitmapset  *included = dp_key_query_included(s);

	foreach_ptr(DpKeyQueryItem, item, s->items)
	{
		double		rows;

		if (item->is_included || item->is_private || item->rte == NULL || !is_asked_for(s, item) ||
			is_connected(s, item, included))
			continue;
		rows = item->rte->rtekind != RTE_RELATION ||
			dp_at_most_one_row(item->rte->relid, item->number, resolved_conditions(s), included) ? 1 : table_rows(item->rte->relid);
		if (rows > SMALL_TABLE || rows * *product > SMALL_PRODUCT)
			continue;
		*product *= Max(rows, 1);
		item->is_included = true;
	}
	include_conditions(s, product);
}

/* The items of an outer join are NULL together, and whether they are depends on all of its conditions. */
static void
merge_joins(DpKeyQuery *s)
{
	foreach_ptr(DpKeyQueryJoin, join, s->joins)
	{
		Bitmapset  *items = bms_intersect(join->items, dp_key_query_included(s));

		if (bms_is_empty(items))
			continue;
		foreach_ptr(DpKeyQueryCondition, c, s->conditions)
		{
			if (c->is_included && bms_is_member(foreach_current_index(join) + 1, c->joins))
				items = bms_add_members(items, c->items);
		}
		merge_parts(s, items);
	}
}

typedef struct ResolvedPart
{
	DpKeyQuery *s;
	const DpKeyQueryCondition *of;
} ResolvedPart;

static Node *
resolved_part(Node *condition, const ResolvedPart *p)
{
	Bitmapset  *items = NULL;

	return dp_key_query_resolve_condition(p->s, p->of, condition, &items);
}

/* A comparison of something unknown with elements of an array tells that there are such; of = ANY ($1), that it has any. */
static void
exclude_no_array(DpKeyQuery *s, const DpKeyQueryCondition *condition, const DpComparison *c)
{
	Bitmapset  *items = NULL;

	if (!dp_reads_param(c->right) || dp_key_query_resolve(s, c->right, DP_LISTS_FOUND, &items) == NULL || !bms_is_empty(items))
		return;
	dp_key_query_add_condition(s, c->is_any ? (Node *) dp_make_cardinality_comparison(Int4LessOperator, c->right)
							   : (Node *) dp_is_not_null((Expr *) copyObject(c->right)))->joins = condition->joins;
}

/*
 * A comparison of a number's text with constants tells that the number is one of theirs.  A list does not know how
 * numbers are written.
 */
static void
imply_numbers(DpKeyQuery *s, const DpKeyQueryCondition *condition)
{
	DpComparison c;
	Oid text = TEXTOID;
	List	   *args;
	List	   *elements;
	Node	   *cast;
	Node	   *number;
	Expr	   *array;

	if (!dp_read_comparison(condition->expr, &c) || c.opno != TextEqualOperator || c.is_distinct || !c.is_any)
		return;
	if (!c.is_array && !dp_has_columns(c.left))
		dp_turn_comparison(&c);
	cast = dp_strip_labels(c.left);
	number = IsA(cast, CoerceViaIO) ? (Node *) ((CoerceViaIO *) cast)->arg : dp_call_kind(cast, &args) == DP_KIND_text ? linitial(args) : NULL;
	if (number == NULL || exprType(number) != NUMERICOID || dp_is_unfoldable(c.right, NULL))
		return;
	elements = list_make1(c.right);
	if (c.is_array && !dp_list_elements((Node *) dp_fold(c.right), DP_MAX_CELL_CONSTANTS, &elements))
		return;
	array = (Expr *) dp_make(ArrayExpr, .array_typeid = NUMERICARRAYOID, .element_typeid = NUMERICOID, .location = -1);
	foreach_ptr(Node, element, elements)
		((ArrayExpr *) array)->elements = lappend(((ArrayExpr *) array)->elements,
												  makeFuncExpr(dp_own_function("try_numeric", 1, &text, NUMERICOID), NUMERICOID, list_make1(element),
															   InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
	dp_key_query_add_condition(s, (Node *) dp_make_array_comparison(lookup_type_cache(NUMERICOID, TYPECACHE_EQ_OPR)->eq_opr, true,
																	copyObject((Expr *) number), array, InvalidOid))->joins = condition->joins;
}

/* A comparison with something unknown tells that the known side of it, also one without columns, is not NULL. */
static void
exclude_nulls(DpKeyQuery *s, const DpKeyQueryCondition *condition)
{
	DpComparison c;

	if (contain_volatile_functions(condition->expr) || condition->by_cells || !dp_read_comparison(condition->expr, &c) || c.is_distinct ||
		!op_strict(c.opno))
		return;
	if (c.is_array)
		exclude_no_array(s, condition, &c);
	foreach_ptr(Node, arg, c.is_array ? NIL : list_make2(c.left, c.right))
	{
		Bitmapset  *items = NULL;

		if (dp_key_query_resolve(s, arg, DP_LISTS_FOUND, &items) != NULL && (!bms_is_empty(items) || dp_reads_param(arg)))
			dp_key_query_add_condition(s, (Node *) dp_is_not_null((Expr *) arg))->joins = condition->joins;
	}
}

void
dp_key_query_find_parts(DpKeyQuery *s, List *read)
{
	double		product = 1;

	foreach_ptr(DpKeyQueryItem, item, s->items)
		item->part = foreach_current_index(item) + 1;
	foreach_ptr(Bitmapset, item, read)
		include_items(s, item);
	/* values of classes may bring more */
	for (int i = 0; i < list_length(s->conditions); i++)
	{
		DpKeyQueryCondition *condition = list_nth(s->conditions, i);
		ResolvedPart part = {s, condition};

		condition->is_whole = true;
		condition->resolved = condition->splits_cells || contain_volatile_functions(condition->expr) ? NULL
			: dp_known_part(condition->expr, (DpKnown) resolved_part, &part, &condition->is_whole);
		condition->items = bms_add_members(condition->items, pull_varnos(NULL, condition->resolved));
		if (condition->resolved == NULL)
			exclude_nulls(s, condition);
		imply_numbers(s, condition);
	}
	include_conditions(s, &product);
	include_others(s, &product);
	merge_joins(s);
	foreach_ptr(DpKeyQueryCondition, condition, s->conditions)
	{
		int			join = -1;

		while (!(condition->is_included && condition->is_whole) && (join = bms_next_member(condition->joins, join)) >= 0)
			((DpKeyQueryJoin *) list_nth(s->joins, join - 1))->is_whole = false;
	}
}
