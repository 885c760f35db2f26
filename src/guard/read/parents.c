/*-------------------------------------------------------------------------
 *
 * parents.c
 *	  Joins the tables to which rows belong to people through.
 *
 * A row of a table that is protected through a foreign key belongs to whom the
 * row belongs to that the key references.  As long as joins and groups are
 * judged, that row is known by its key alone (a token, see same_unit.c).  Only
 * where nothing that the query reads itself names the unit, the tables are
 * joined that the tokens lead to: with inner joins above all that the query has
 * written, so that a row of nobody disappears, and no other row does or is
 * repeated.  A table is not joined for a unit that the foreign key itself has.
 *
 * Invariants:
 * - The tables are read with their owner's rights, and are judged as if the
 *	 query had named them.
 * - The only condition that is added is the equality of a foreign key.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "base/compat.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_relation.h"
#include "policy/policy.h"
#include "policy/unit_types.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Adds a table to the range table and, if it is joined, to the join tree above all that is there; returns its number. */
static Index
add_parent(Query *query, Oid relid, bool joined)
{
	Relation	rel = table_open(relid, AccessShareLock);
	ParseState *pstate = make_parsestate(NULL);

	/* the key references no rows of children by INHERITS */
	bool		inherit = rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	RangeTblEntry *rte = addRangeTableEntryForRelation(pstate, rel, AccessShareLock, NULL, inherit, true)->p_rte;

	table_close(rel, NoLock);
	free_parsestate(pstate);
	if (joined)
		return dp_add_to_from(query, rte);
	query->rtable = lappend(query->rtable, rte);
	return list_length(query->rtable);
}

/* Returns the type by which values of a type are compared, and in family what its comparison belongs to. */
static Oid
compared_as(Oid type, Oid *family)
{
	Oid			opclass = GetDefaultOpClass(getBaseType(type), BTREE_AM_OID);

	*family = OidIsValid(opclass) ? get_opclass_family(opclass) : InvalidOid;
	return OidIsValid(opclass) ? get_opclass_input_type(opclass) : InvalidOid;
}

/* Makes the equality of a column of the key with what a token has of it; NULL if their types have none. */
static Expr *
key_equality(Var *key, Var *value)
{
	Oid			family[2];
	Oid			types[] = {compared_as(key->vartype, &family[0]), compared_as(value->vartype, &family[1])};
	Oid			op = OidIsValid(family[0]) && family[0] == family[1] ?
	get_opfamily_member(family[0], types[0], types[1], BTEqualStrategyNumber) : InvalidOid;

	if (!OidIsValid(op))
		return NULL;
	return (Expr *) dp_make_comparison(op, dp_as_argument(key, types[0]), dp_as_argument(value, types[1]), key->varcollid);
}

/* Adds the condition that a token leads to the row of entry rti. */
static void
add_condition(DpSource *s, Query *query, Index rti, const DpToken *token)
{
	DpAllowContext allow = {.rtable = query->rtable, .source_text = s->cxt->source_text, .run_as = s->level->allow.run_as};
	FromExpr   *from = query->jointree;
	ListCell   *column,
			   *var;

	forboth(column, token->key, var, token->vars)
	{
		Expr	   *equality = key_equality(dp_table_var(rti, token->parent, lfirst_int(column)), lfirst_node(Var, var));
		DpSplitContext *cxt = s->cxt;

		if (equality == NULL)
			dp_refuse_at(s->level->where, errmsg("columns of type %s cannot be compared with the key of table \"%s\"",
												 format_type_be(lfirst_node(Var, var)->vartype), get_rel_name(token->parent)));
		equality = (Expr *) dp_make_safe((Node *) equality, &allow);
		from->quals = from->quals ? (Node *) make_and_qual(from->quals, (Node *) equality) : (Node *) equality;
	}
}

/*
 * Returns the column of a token that is the unit of the row to which it leads: to
 * read that row would tell nothing more.  NULL: the row's own columns are needed,
 * or whether it may be read.
 */
static Var *
unit_in_key(DpSource *s, const DpToken *token)
{
	const DpTable *table = dp_policy_table(token->parent);
	AttrNumber	unit = table != NULL && table->has_unit ? dp_policy_unit_column(token->parent) : InvalidAttrNumber;
	Oid			type,
				collation;
	int32		typmod;
	ListCell   *column,
			   *lc;

	if (unit == InvalidAttrNumber || s->level->release->in_blocks || dp_has_row_security(token->parent))
		return NULL;
	get_atttypetypmodcoll(token->parent, unit, &type, &typmod, &collation);
	forboth(column, token->key, lc, token->vars)
	{
		Var		   *var = lfirst_node(Var, lc);

		/* long values of citext are nobody's */
		if (lfirst_int(column) == unit)
			return var->vartype == type && var->varcollid == collation && !dp_is_citext(type) ? var : NULL;
	}
	return NULL;
}

/* Adds conditions that no other column of a token than the unit is NULL: such a row is nobody's, as is one without a unit. */
static void
add_presence(Query *query, const DpToken *token, const Var *unit)
{
	FromExpr   *from = query->jointree;

	foreach_ptr(Var, var, token->vars)
	{
		Node	   *test;

		if (var == unit)
			continue;
		test = (Node *) dp_is_not_null((Expr *) copyObject(var));
		from->quals = from->quals ? make_and_qual(from->quals, test) : test;
	}
}

void
dp_join_parents(DpSource *s, DpFrom *from)
{
	DpToken    *token = dp_nearest_token(from->unit.tokens);

	for (int n = 0; from->unit.exprs == NIL; n++)
	{
		DpFromItem	item = {0};
		Var		   *unit;
		Index		rti;

		if (token == NULL || n > DP_MAX_PARENTS)
			dp_raise(BAD_PARAMETER, errmsg("rows of table \"%s\" belong to nobody, because %s; "
										   "its owner must mend that, or call dp_cdp.unprotect_table",
										   s->level->table, dp_parent_complaint(DP_PARENT_CIRCLE, s->level->release->relid)),
					 dp_error_position(s->cxt->source_text, s->level->where));
		unit = unit_in_key(s, token);
		rti = add_parent(from->query, token->parent, unit == NULL);
		dp_read_protected(s, from->query, rti, &item);
		if (unit != NULL)
		{
			/* its entry stays, so that plans depend on its policy */
			add_presence(from->query, token, unit);
			from->unit.exprs = from->unit.vars = list_make1(copyObject(unit));
			return;
		}
		add_condition(s, from->query, rti, token);
		s->level->release->unique_keys = list_append_unique_oid(s->level->release->unique_keys, token->index);
		from->unit.exprs = item.unit.exprs;
		from->unit.vars = item.unit.vars;
		token = linitial(item.unit.tokens ? item.unit.tokens : list_make1(NULL));
	}
}
