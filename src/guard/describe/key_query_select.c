/*-------------------------------------------------------------------------
 *
 * key_query_select.c
 *	  The query that finds the tuples of one set of keys.
 *
 * An outer join all of whose conditions are known, and whose inner side is one
 * table, is itself in the query.  Of any other a list of false and true says
 * whether a row has a match: with false, all of its inner side is NULL.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/key_query.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_oper.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------------
 * The query of one part
 * ------------------------------------------------------------------------
 */

typedef struct PartQuery
{
	DpKeyQuery *s;
	int			part;
	Query	   *query;
	Index		inside;			/* the item whose own join's condition is
								 * made; 0: none */
} PartQuery;

static Index
add_rte(Query *query, RangeTblEntry *rte)
{
	query->rtable = lappend(query->rtable, rte);
	return list_length(query->rtable);
}

/* Makes an entry of the rows of a function. */
static RangeTblEntry *
function_entry(FuncExpr *call)
{
	RangeTblFunction *function = makeNode(RangeTblFunction);

	function->funcexpr = (Node *) call;
	function->funccolcount = 1;
	return dp_make(RangeTblEntry, .rtekind = RTE_FUNCTION, .functions = list_make1(function),
				   .eref = makeAlias("list", list_make1(makeString("value"))), .inFromCl = true);
}

/* Makes an entry of the elements of an array. */
static RangeTblEntry *
unnest_entry(Expr *array, Oid collation)
{
	FuncExpr   *call = makeFuncExpr(F_UNNEST_ANYARRAY, get_element_type(exprType((Node *) array)), list_make1(array),
									collation, collation, COERCE_EXPLICIT_CALL);

	call->funcretset = true;
	return function_entry(call);
}

static Node *
renumbered(Node *node, int levels, const PartQuery *p)
{
	Var		   *var;
	const DpKeyQueryItem *item;

	if (!IsA(node, Var))
		return NULL;
	var = copyObject((Var *) node);
	item = dp_key_query_item(p->s, var->varno);
	var->varno = item->rti;
	dp_set_nulled_by(var, p->inside == item->number ? 0 : item->join_rti);
	return (Node *) var;
}

static void
add_item(PartQuery *p, DpKeyQueryItem *item)
{
	RangeTblEntry *rte;

	if (item->rte == NULL)
		dp_key_query_fill_list(p->s, item);
	if (item->is_series)
		rte = function_entry(copyObject((FuncExpr *) item->values));
	else if (item->rte == NULL)
		rte = unnest_entry(copyObject(item->values), item->column->varcollid);
	else
	{
		rte = copyObject(item->rte);
		rte->inFromCl = true;
		dp_take_permissions(p->query, rte, item->query);
	}
	item->rti = add_rte(p->query, rte);
}

/* Returns what says that a row of these outer joins has a match; NIL: they are in the query themselves. */
static List *
matches(PartQuery *p, Bitmapset *joins)
{
	List	   *list = NIL;
	int			i = -1;

	while ((i = bms_next_member(joins, i)) >= 0)
	{
		DpKeyQueryJoin *join = list_nth(p->s->joins, i - 1);

		if (!join->is_whole && join->rti != 0)
			list = lappend(list, makeVar(join->rti, 1, BOOLOID, -1, InvalidOid, 0));
	}
	return list;
}

/* Returns the included conditions of outer joins that an item stands in and whose items come before it. */
static List *
conditions_of_item(PartQuery *p, DpKeyQueryItem *item)
{
	List	   *list = NIL;

	p->inside = item->number;
	foreach_ptr(DpKeyQueryCondition, condition, p->s->conditions)
	{
		bool		is_ready = true;
		int			i = -1;

		if (!condition->is_included || bms_is_empty(condition->joins) || !bms_equal(condition->joins, item->joins))
			continue;
		while ((i = bms_next_member(condition->items, i)) >= 0)
			is_ready &= dp_key_query_item(p->s, i)->rti != 0;
		if (is_ready)
			list = lappend(list, dp_put(condition->resolved, renumbered, p));
	}
	p->inside = 0;
	return list;
}

/* Joins an item that may have no row. */
static Node *
append_item(PartQuery *p, Node *tree, DpKeyQueryItem *item)
{
	List	   *conditions;

	add_item(p, item);
	conditions = list_concat(matches(p, item->joins), conditions_of_item(p, item));
	item->join_rti = dp_left_join(&p->query->rtable, &tree, item->rti, conditions);
	return tree;
}

static bool
is_of_part(PartQuery *p, DpKeyQueryItem *item)
{
	return item->is_included && !item->is_private && item->part == p->part;
}

/* Adds a list of false and true, or of true alone: a table of two rows, or one; returns its number. */
static int
add_booleans(PartQuery *p, bool both)
{
	Datum		values[] = {BoolGetDatum(true), BoolGetDatum(false)};
	Const	   *list = makeConst(BOOLARRAYOID, -1, InvalidOid, -1,
								 PointerGetDatum(construct_array(values, both ? 2 : 1, BOOLOID, 1, true, TYPALIGN_CHAR)),
								 false, false);

	return add_rte(p->query, unnest_entry((Expr *) list, InvalidOid));
}

/* An outer join is in the query itself if its inner side is one table, of which everything is known. */
static void
settle_joins(PartQuery *p, List **refs)
{
	foreach_ptr(DpKeyQueryJoin, join, p->s->joins)
	{
		int			item = bms_next_member(bms_intersect(join->items, dp_key_query_included(p->s)), -1);

		join->rti = 0;
		if (item < 0 || !is_of_part(p, dp_key_query_item(p->s, item)))
			continue;
		join->is_whole &= bms_membership(join->items) == BMS_SINGLETON &&
			bms_membership(dp_key_query_item(p->s, item)->joins) == BMS_SINGLETON;
		if (!join->is_whole)
		{
			join->rti = add_booleans(p, true);
			*refs = lappend(*refs, dp_entry_ref(join->rti));
		}
	}
}

static FromExpr *
make_from(PartQuery *p)
{
	List	   *refs = NIL;
	List	   *quals = NIL;
	Node	   *tree;

	foreach_ptr(DpKeyQueryItem, item, p->s->items)
	{
		item->rti = item->join_rti = 0;
	}
	settle_joins(p, &refs);
	foreach_ptr(DpKeyQueryItem, item, p->s->items)
	{
		if (!is_of_part(p, item) || !bms_is_empty(item->joins))
			continue;
		add_item(p, item);
		refs = lappend(refs, dp_entry_ref(item->rti));
	}
	/* outer joins need a row that they can be joined to */
	if (refs == NIL)
		refs = list_make1(dp_entry_ref(add_booleans(p, false)));
	tree = (Node *) makeFromExpr(refs, NULL);
	/* lists first: tables may be joined on what they stand for */
	for (int tables = 0; tables <= 1; tables++)
		foreach_ptr(DpKeyQueryItem, item, p->s->items)
	{
		if (is_of_part(p, item) && !bms_is_empty(item->joins) && (item->rte != NULL) == tables)
			tree = append_item(p, tree, item);
	}
	foreach_ptr(DpKeyQueryCondition, condition, p->s->conditions)
	{
		List	   *unless = matches(p, condition->joins);
		int			first = bms_next_member(condition->items, -1);

		if (!condition->is_included || (first >= 0 && dp_key_query_item(p->s, first)->part != p->part))
			continue;
		if (bms_is_empty(condition->joins))
			quals = lappend(quals, dp_put(condition->resolved, renumbered, p));
		else if (unless != NIL && first >= 0)
			quals = lappend(quals, makeBoolExpr(OR_EXPR,
												list_make2(make_notclause(make_ands_explicit(unless)),
														   dp_put(condition->resolved, renumbered, p)), -1));
	}
	if (IsA(tree, FromExpr))
	{
		((FromExpr *) tree)->quals = quals ? (Node *) make_ands_explicit(quals) : NULL;
		return (FromExpr *) tree;
	}
	return makeFromExpr(list_make1(tree), quals ? (Node *) make_ands_explicit(quals) : NULL);
}

void
dp_key_query_show_keys(Query *query, List *keys)
{
	foreach_ptr(Expr, key, keys)
	{
		SortGroupClause *clause = makeNode(SortGroupClause);
		TargetEntry *tle = makeTargetEntry(key, foreach_current_index(key) + 1,
										   psprintf("k%d", foreach_current_index(key) + 1), false);
		bool		hashable;

		clause->tleSortGroupRef = tle->ressortgroupref = tle->resno;
		get_sort_group_operators(exprType((Node *) key), true, true, false,
								 &clause->sortop, &clause->eqop, NULL, &hashable);
		clause->hashable = hashable;
		query->targetList = lappend(query->targetList, tle);
		query->distinctClause = lappend(query->distinctClause, clause);
		query->sortClause = lappend(query->sortClause, copyObject(clause));
	}
}

Query *
dp_key_query_select(DpKeyQuery *s, int part, List *keys)
{
	Query	   *query = dp_new_select();
	PartQuery	p = {s, part, query, 0};

	query->jointree = make_from(&p);
	dp_key_query_show_keys(query, (List *) dp_put(keys, renumbered, &p));
	return query;
}
