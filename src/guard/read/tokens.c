/*-------------------------------------------------------------------------
 *
 * tokens.c
 *	  By which columns a protected table's rows are known to be somebody's.
 *
 * Invariant: a token's columns, where none is NULL, have the key of at most one
 * row, by an index that PostgreSQL itself enforces, at once.  (An index
 * that is younger than the snapshot of a query is found when that runs:
 * release/objects.c.)
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "base/collations.h"
#include "base/compat.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "policy/policy.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/typcache.h"

Var *
dp_table_var(Index rti, Oid relid, AttrNumber attnum)
{
	Oid			type;
	int32		typmod;
	Oid			collation;

	get_atttypetypmodcoll(relid, attnum, &type, &typmod, &collation);
	return makeVar(rti, attnum, type, typmod, collation, 0);
}

/* ------------------------------------------------------------------------
 * Keys of a table
 * ------------------------------------------------------------------------
 */

/* Tells whether values of the index's column are told apart as those of the table's column are. */
static bool
has_own_equality(Relation index, int i, Form_pg_attribute column)
{
	Oid			eq = get_opfamily_member(index->rd_opfamily[i], index->rd_opcintype[i], index->rd_opcintype[i],
										 BTEqualStrategyNumber);

	return OidIsValid(eq) && eq == lookup_type_cache(getBaseType(column->atttypid), TYPECACHE_EQ_OPR)->eq_opr &&
		dp_is_deterministic(index->rd_indcollation[i]) && dp_is_deterministic(column->attcollation);
}

/*
 * Returns the columns of an index of which no two rows have the same values,
 * ascending; NIL if it is none.  nullable: some row may have a NULL there.
 */
static List *
unique_columns(Relation rel, Relation index, bool *nullable)
{
	Form_pg_index form = index->rd_index;
	List	   *columns = NIL;

	*nullable = false;
	if (!form->indisunique || form->indisexclusion || !form->indimmediate || !form->indisvalid ||
		!form->indisready || !form->indislive || index->rd_rel->relam != BTREE_AM_OID ||
		RelationGetIndexPredicate(index) != NIL)
		return NIL;
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		AttrNumber	attnum = form->indkey.values[i];

		if (attnum <= 0 ||
			!has_own_equality(index, i, TupleDescAttr(RelationGetDescr(rel), attnum - 1)))
			return NIL;
		*nullable |= !dp_is_not_null_column(RelationGetDescr(rel), attnum);
		columns = list_append_unique_int(columns, attnum);
	}
	list_sort(columns, list_int_cmp);
	return columns;
}

/* Returns a DpToken without vars for each unique key of a table; in nullable those that may have a NULL. */
static List *
unique_tokens(Oid relid, List **nullable)
{
	Relation	rel = table_open(relid, AccessShareLock);
	List	   *tokens = NIL;

	/* an index says nothing of rows in tables that inherit */
	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
		(rel->rd_rel->relkind == RELKIND_RELATION && find_inheritance_children(relid, NoLock) == NIL))
		foreach_oid(item, RelationGetIndexList(rel))
	{
		Relation	index = index_open(item, AccessShareLock);
		bool		has_nulls;
		List	   *columns = unique_columns(rel, index, &has_nulls);

		if (columns != NIL)
		{
			DpToken    *token = palloc0(sizeof(DpToken));

			token->parent = relid;
			token->index = item;
			token->key = columns;
			if (has_nulls)
				*nullable = lappend(*nullable, token);
			else
				tokens = lappend(tokens, token);
		}
		index_close(index, NoLock);
	}
	table_close(rel, NoLock);
	return tokens;
}

/* Returns the DpToken of a table's foreign key, its key's columns and not yet its own vars. */
static DpToken *
parent_token(const DpParent *parent)
{
	DpToken    *token = palloc0(sizeof(DpToken));

	token->parent = parent->parent;
	token->index = parent->index;
	for (int i = 0; i < parent->n; i++)
		token->key = lappend_int(token->key, parent->key[i]);
	return token;
}

List *
dp_table_keys(Oid relid)
{
	const DpTable *table = dp_policy_table(relid);
	List	   *keys = NIL;
	List	   *nullable = NIL;
	List	   *through = NIL;
	DpParent	parent;

	if (table != NULL && table->nthrough > 0 && dp_policy_parent(relid, &parent) == DP_PARENT_OK)
	{
		for (int i = 0; i < parent.n; i++)
			through = lappend_int(through, parent.child[i]);
		keys = lappend(keys, through);
	}
	foreach_ptr(DpToken, token, unique_tokens(relid, &nullable))
		keys = lappend(keys, token->key);
	return keys;
}

/* Gives tokens of a table's own keys its columns. */
static void
add_own_vars(List *tokens, Index rti, Oid relid)
{
	foreach_ptr(DpToken, token, tokens)
	{
		foreach_int(column, token->key)
			token->vars = lappend(token->vars, dp_table_var(rti, relid, column));
	}
}

void
dp_table_tokens(DpSource *s, Index rti, Oid relid, DpRowUnit *unit)
{
	const DpTable *table = dp_policy_table(relid);
	DpParent	parent;

	unit->or_null = NIL;
	unit->tokens = unique_tokens(relid, &unit->or_null);
	add_own_vars(unit->tokens, rti, relid);
	add_own_vars(unit->or_null, rti, relid);
	if (table->nthrough > 0)
	{
		DpTable		copy = *table;
		DpParentProblem problem = dp_policy_parent(relid, &parent);
		DpToken    *token;

		if (problem != DP_PARENT_OK)
			dp_raise(BAD_PARAMETER, errmsg("rows of table \"%s\" belong to people through (%s), but %s; "
										   "its owner must mend that, or call dp_cdp.unprotect_table",
										   get_rel_name(relid), dp_policy_through(&copy), dp_parent_complaint(problem, relid)),
					 dp_error_position(s->cxt->source_text, s->level->where));
		token = parent_token(&parent);
		for (int i = 0; i < parent.n; i++)
			token->vars = lappend(token->vars, dp_table_var(rti, relid, parent.child[i]));
		unit->tokens = lcons(token, unit->tokens);
		/* whatever this row is connected by rests on it */
		s->level->release->unique_keys = list_append_unique_oid(s->level->release->unique_keys, token->index);
	}
}

DpToken *
dp_nearest_token(List *tokens)
{
	DpToken    *nearest = NULL;
	int			least = 0;

	foreach_ptr(DpToken, token, tokens)
	{
		int			length;
		Oid			at;

		(void) dp_policy_chain(token->parent, &length, &at);
		if (nearest == NULL || length < least)
		{
			nearest = token;
			least = length;
		}
	}
	return nearest;
}
