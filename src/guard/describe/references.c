/*-------------------------------------------------------------------------
 *
 * references.c
 *	  What foreign keys of protected tables tell of public columns that they
 *	  are compared with.
 *
 *	   FROM orders o JOIN offers f ON o.item = f.name GROUP BY f.name
 *
 * If o.item references items, there are orders of no other name than those of
 * items: groups of other names do not come in, which is asked of items.  So it
 * is where offers are joined by LEFT JOIN, of rows with a match.  Where o.item
 * is compared with constants, none of which is an item's name, there is no group.
 *
 * Invariants:
 * - What is added follows from a key that PostgreSQL enforces, of all rows of
 *	 the protected table.
 * - A referenced table is read only where the asker may read all of it: what
 *	 he may not see of it would take groups away that there are.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "base/compat.h"
#include "catalog/pg_inherits.h"
#include "guard/describe/key_query.h"
#include "guard/read/read.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "policy/policy.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

static bool
may_read_all(Relation rel)
{
	return dp_policy_table(RelationGetRelid(rel)) == NULL && !rel->rd_rel->relrowsecurity &&
		pg_class_aclcheck(RelationGetRelid(rel), GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

/* Adds a referenced table; returns NULL if the asker may not read all of it. */
static DpKeyQueryItem *
add_table(DpKeyQuery *s, Oid relid, Bitmapset *joins)
{
	Relation	rel = table_open(relid, AccessShareLock);
	ParseState *pstate = make_parsestate(NULL);

	/* the key references no rows of children by INHERITS */
	bool		inherit = rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	DpKeyQueryItem *item = NULL;
	int			join = -1;

	if (may_read_all(rel))
	{
		item = dp_key_query_add_item(s);
		item->rte = addRangeTableEntryForRelation(pstate, rel, AccessShareLock, NULL, inherit, true)->p_rte;
		item->query = dp_new_select();
		dp_take_added_permissions(item->query, pstate);
		item->joins = joins;
		while ((join = bms_next_member(joins, join)) >= 0)
		{
			DpKeyQueryJoin *j = list_nth(s->joins, join - 1);

			j->items = bms_add_member(j->items, item->number);
			j->is_whole = false;
		}
	}
	table_close(rel, NoLock);
	free_parsestate(pstate);
	return item;
}

/* Tells whether something is the referenced column itself, of an entry of the query. */
static bool
is_referenced(DpKeyQuery *s, const ForeignKeyCacheInfo *key, int i, Node *known)
{
	RangeTblEntry *rte = IsA(known, Var) ? dp_key_query_item(s, ((Var *) known)->varno)->rte : NULL;

	return rte != NULL && rte->rtekind == RTE_RELATION && rte->relid == key->confrelid &&
		((Var *) known)->varattno == key->confkey[i];
}

/* Tells whether a column is a key of the level, of which the referenced values are a list. */
static bool
is_key(DpKeyQuery *s, Var *column)
{
	Var		   *var = dp_key_query_level_var(s, column);

	foreach_ptr(Node, item, var ? s->level->key_exprs : NIL)
	{
		if (equal(dp_strip_labels(item), var))
			return true;
	}
	return false;
}

/* Tells whether all columns of a key are known, and one of them by something else than the referenced row. */
static bool
is_compared(DpKeyQuery *s, const DpKeyQueryItem *item, const ForeignKeyCacheInfo *key)
{
	bool		with_other = false;

	for (int i = 0; i < key->nkeys; i++)
	{
		Var		   *column = dp_table_var(item->number, key->conrelid, key->conkey[i]);
		Node	   *known = dp_key_query_known_by(s, (Node *) column);

		if (known != NULL)
			with_other |= !is_referenced(s, key, i, known);
		else if (dp_key_query_constant(s, (Node *) column) == NULL)
			return false;
		else
			with_other |= !is_key(s, column);
	}
	return with_other;
}

/* Adds the condition that a row has, in one column of a key, the value of a column of its type. */
static void
add_condition(DpKeyQuery *s, const DpKeyQueryItem *row, const ForeignKeyCacheInfo *key, int i, Var *value)
{
	Var		   *referenced = dp_table_var(row->number, key->confrelid, key->confkey[i]);
	OpExpr	   *op;
	Oid			left,
				right;

	op_input_types(key->conpfeqop[i], &left, &right);
	op = dp_make_comparison(key->conpfeqop[i], dp_as_argument(referenced, left), dp_as_argument(value, right), referenced->varcollid);
	dp_key_query_add_condition(s, (Node *) op)->joins = row->joins;
}

static void
follow_key(DpKeyQuery *s, const DpKeyQueryItem *item, const ForeignKeyCacheInfo *key)
{
	DpKeyQueryItem *row;

	if (!is_compared(s, item, key) || !dp_foreign_key_holds(key) || (row = add_table(s, key->confrelid, NULL)) == NULL)
		return;
	for (int i = 0; i < key->nkeys; i++)
		add_condition(s, row, key, i, dp_table_var(item->number, key->conrelid, key->conkey[i]));
}

/* Tells whether a condition of WHERE compares just a column with constants, by = ANY. */
static bool
is_listed(DpKeyQueryCondition *condition, Var *column, DpComparison *in)
{
	return bms_is_empty(condition->joins) && dp_read_list(condition->expr, (Node *) column, in) && !contain_var_clause(in->right) &&
		!contain_volatile_functions(in->right);
}

/* Adds the referenced row of a key of one column that is compared with a list of constants. */
static void
follow_list(DpKeyQuery *s, const DpKeyQueryItem *item, const ForeignKeyCacheInfo *key)
{
	Var		   *column = dp_table_var(item->number, key->conrelid, key->conkey[0]);
	int			n = list_length(s->conditions);

	for (int i = 0; i < n && key->nkeys == 1; i++)
	{
		DpKeyQueryCondition *condition = list_nth(s->conditions, i);
		DpKeyQueryItem *row;
		Var		   *referenced;
		DpComparison in;

		if (!is_listed(condition, column, &in) || is_key(s, column) || dp_key_query_known_by(s, (Node *) column) != NULL)
			continue;
		referenced = dp_table_var(1, key->confrelid, key->confkey[0]);
		if (referenced->vartype != column->vartype || referenced->varcollid != column->varcollid || !dp_foreign_key_holds(key) ||
			(row = add_table(s, key->confrelid, NULL)) == NULL)
			return;
		referenced->varno = row->number;
		in.left = (Node *) dp_as_argument(referenced, exprType(in.left));
		dp_key_query_add_condition(s, copyObject(dp_write_comparison(&in)));
	}
}

/* Returns the public column that a condition of an outer join compares a column with, of which nothing is known by itself. */
static Var *
matched_with(DpKeyQuery *s, const DpKeyQueryCondition *condition, Var *column)
{
	Bitmapset  *items = NULL;
	Node	   *left,
			   *right;
	int			join = -1;

	if (bms_is_empty(condition->joins) || !dp_is_equality(condition->expr, &left, &right))
		return NULL;
	while ((join = bms_next_member(condition->joins, join)) >= 0)
		if (((DpKeyQueryJoin *) list_nth(s->joins, join - 1))->is_anti)
			return NULL;
	if (equal(right, column))
	{
		right = left;
		left = (Node *) column;
	}
	if (!equal(left, column) || !IsA(right, Var) || exprType(left) != exprType(right) ||
		dp_key_query_item(s, ((Var *) right)->varno)->is_private || dp_key_query_resolve(s, left, DP_LISTS_FOUND, &items) != NULL)
		return NULL;
	return (Var *) right;
}

/* Adds the referenced rows of what outer joins compare a key of one column with. */
static void
follow_matches(DpKeyQuery *s, const DpKeyQueryItem *item, const ForeignKeyCacheInfo *key)
{
	Var		   *column = dp_table_var(item->number, key->conrelid, key->conkey[0]);
	int			n = list_length(s->conditions);

	for (int i = 0; i < n; i++)
	{
		const DpKeyQueryCondition *condition = list_nth(s->conditions, i);
		Var		   *value = key->nkeys == 1 ? matched_with(s, condition, column) : NULL;
		DpKeyQueryItem *row;

		if (value != NULL && !is_referenced(s, key, 0, (Node *) value) && dp_foreign_key_holds(key) &&
			(row = add_table(s, key->confrelid, condition->joins)) != NULL)
			add_condition(s, row, key, 0, value);
	}
}

void
dp_key_query_follow_references(DpKeyQuery *s)
{
	int			n = list_length(s->items);

	for (int i = 1; i <= n; i++)
	{
		DpKeyQueryItem *item = dp_key_query_item(s, i);
		Relation	rel;

		/* rows of children need not refer to anything */
		if (!item->is_private || item->rte == NULL || item->rte->rtekind != RTE_RELATION || has_subclass(item->rte->relid))
			continue;
		rel = table_open(item->rte->relid, AccessShareLock);
		foreach_ptr(const ForeignKeyCacheInfo, reference, copyObject(RelationGetFKeyList(rel)))
		{
			follow_key(s, item, reference);
			follow_matches(s, item, reference);
			follow_list(s, item, reference);
		}
		table_close(rel, NoLock);
	}
}
