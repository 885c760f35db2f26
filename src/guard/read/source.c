/*-------------------------------------------------------------------------
 *
 * source.c
 *	  What a level reads, made ready for the inner query.
 *
 * The level's range table and join tree are built anew (rebuild.c), with the
 * same numbers.  Each entry of the join tree becomes one of:
 *
 * - a protected table, read with its owner's rights;
 * - a public table that nobody but trusted roles can make run code;
 * - a subquery, view or WITH query over protected tables that filters,
 *	 projects and joins, or that aggregates the rows of each privacy unit by
 *	 itself: treated in the same way, level by level (subquery.c);
 * - anything else that reads nothing protected: rows that are computed
 *	 beforehand, with the rights of who asks (public_rows.c).
 *
 * Invariants:
 * - Every expression of the result has passed the allow-list and is safe.
 * - Each subquery over protected tables hands up what names the privacy unit
 *	 of its rows, whether it was asked to or not.
 * - A row of a table that is protected through a foreign key is read only where
 *	 whom it belongs to is read beside it (parents.c).
 * - The privileges that a view or a public table asks for are still checked,
 *	 as who asks.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "guard/read/read.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------------
 * Entries
 * ------------------------------------------------------------------------
 */

static bool has_one_row(DpSource *s, Query *sub);

/* Tells whether an entry of FROM has one row at most. */
static bool
is_one_row(DpSource *s, RangeTblEntry *rte)
{
	if (rte->rtekind == RTE_SUBQUERY)
		return has_one_row(s, rte->subquery);
	if (rte->rtekind == RTE_VALUES)
		return list_length(rte->values_lists) == 1;
	foreach_ptr(DpRelease, release, rte->rtekind == RTE_NAMEDTUPLESTORE ? s->cxt->releases : NIL)
	{
		if (strcmp(release->name, rte->enrname) == 0)
			return release->keys == NIL && release->together == NULL;
	}
	return false;
}

/* Tells whether part of a join tree has one row at most. */
static bool
joins_one_row(DpSource *s, Query *sub, Node *node)
{
	check_stack_depth();
	if (IsA(node, FromExpr))
	{
		foreach_ptr(Node, item, ((FromExpr *) node)->fromlist)
			if (!joins_one_row(s, sub, item))
			return false;
		return true;
	}
	if (IsA(node, JoinExpr))
		return ((JoinExpr *) node)->jointype != JOIN_FULL && joins_one_row(s, sub, ((JoinExpr *) node)->larg) &&
			joins_one_row(s, sub, ((JoinExpr *) node)->rarg);
	return is_one_row(s, rt_fetch(castNode(RangeTblRef, node)->rtindex, sub->rtable));
}

/*
 * Tells whether a query has one row at most, whatever there is to read: an aggregate of all rows, what was released
 * for all together, LIMIT 1.
 */
static bool
has_one_row(DpSource *s, Query *sub)
{
	int64		limit = sub->limitOption == LIMIT_OPTION_COUNT ? dp_rows_of_limit(sub->limitCount, PG_INT64_MAX) : -1;

	if (limit == 0 || limit == 1)
		return true;
	if (sub->commandType != CMD_SELECT || sub->setOperations != NULL || sub->hasTargetSRFs || sub->groupingSets != NIL)
		return false;
	return (sub->hasAggs && sub->groupClause == NIL) || joins_one_row(s, sub, (Node *) sub->jointree);
}

/* Turns a public entry into rows that are computed beforehand. */
static void
prefetch_entry(DpSource *s, DpScope *scope, DpFrom *from, Index rti, Node *expressions)
{
	Query	   *query = from->query;
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);

	switch (rte->rtekind)
	{
		case RTE_RELATION:
			if (rte->tablesample)
				dp_refuse_entry(s, rte, "a sample of", "leave TABLESAMPLE out");
			break;
		case RTE_CTE:
			dp_inline_cte(s, scope, rte, true);
			break;
		case RTE_SUBQUERY:
		case RTE_VALUES:
		case RTE_FUNCTION:
			break;
		case RTE_TABLEFUNC:
			dp_refuse_entry(s, rte, "function", "store its rows in a temporary table first");
			break;
		default:
			dp_refuse_entry(s, rte, "transition table", "store its rows in a temporary table first");
	}
	if (rte->rtekind != RTE_RELATION)
	{
		if (rte->rtekind == RTE_FUNCTION && dp_refers_outside(scope, rte))
			dp_refuse_entry(s, rte, "function", DP_INSTEAD_OF_SETS);
		if (dp_refers_outside(scope, rte))
			dp_refuse_lateral(s, rte);
		/* it repeats nothing, whatever it is joined on */
		if (is_one_row(s, rte))
			from->once = bms_add_member(from->once, rti);
		dp_inline_ctes_of(s, scope, (Node *) rte->subquery);
		dp_inline_ctes_of(s, scope, (Node *) rte->values_lists);
		dp_inline_ctes_of(s, scope, (Node *) rte->functions);
	}
	dp_make_prefetch(s->level->release, query, rti, dp_columns_read(query, rti, expressions));
}

/* ------------------------------------------------------------------------
 * One level
 * ------------------------------------------------------------------------
 */

static void
read_private(DpSource *s, DpScope *scope, DpFrom *from, Node *expressions, DpFromItem *items)
{
	foreach_int(rti, dp_entries_of(from->query->jointree))
	{
		RangeTblEntry *rte = rt_fetch(rti, from->query->rtable);

		from->entries = bms_add_member(from->entries, rti);
		if (rte->rtekind == RTE_RELATION && dp_is_protected(rte))
			dp_read_protected(s, from->query, rti, &items[rti]);
		else if (dp_entry_yields_rows(scope, rte, s->even_if_readable))
			dp_read_subquery(s, scope, from->query, rti, expressions, &items[rti]);
	}
}

/*
 * Reads the public entries; who is trusted with them depends on the owners of
 * the protected ones, which come first.
 */
static void
read_public(DpSource *s, DpScope *scope, DpFrom *from, Node *expressions, DpFromItem *items)
{
	int			rti = -1;

	while ((rti = bms_next_member(from->entries, rti)) >= 0)
	{
		RangeTblEntry *rte = rt_fetch(rti, from->query->rtable);

		if (items[rti].is_private)
			continue;
		if (dp_makes_rows(rte))
			from->repeating = bms_add_member(from->repeating, rti);
		else if (rte->rtekind == RTE_RELATION &&
				 dp_is_trusted_table(rte, s->level->allow.run_as, s->level->dataset->owner))
			items[rti].relid = rte->relid;
		else
			prefetch_entry(s, scope, from, rti, expressions);
	}
}

void
dp_read_level(DpSource *s, DpScope *scope, DpFrom *from, DpAllowContext *allow, Node *expressions)
{
	DpFromItem *items = palloc0(sizeof(DpFromItem) * (list_length(from->query->rtable) + 1));
	DpAllowContext conditions;

	check_stack_depth();
	/* the inner query runs as the protected table's owner */
	dp_check_permissions_as(from->query, GetUserId());
	dp_check_view_permissions(from->query);
	read_private(s, scope, from, expressions, items);
	read_public(s, scope, from, expressions, items);
	dp_rebuild_entries(s, from->query, from->entries);

	allow->rtindexes = from->entries;
	allow->rtable = from->query->rtable;
	allow->source_text = s->cxt->source_text;
	allow->run_as = s->level->allow.run_as;
	conditions = *allow;
	conditions.unit_aggregates = conditions.windows = false;
	foreach_ptr(RangeTblEntry, rte, from->query->rtable)
	{
		if (rte->rtekind == RTE_FUNCTION)
			dp_vet_made_rows(rte, &conditions);
	}
	from->query->jointree = castNode(FromExpr, dp_rebuild_join_tree((Node *) from->query->jointree, &conditions));
	dp_analyse_joins(s->cxt, from, items, s->level->where);
	s->level->release->unique_keys = list_concat_unique_oid(s->level->release->unique_keys, from->unique_keys);
}

/*
 * Refuses joins that may repeat rows of foreign tables, whose rows need not
 * have a ctid to be known again by.
 */
static void
check_row_units(DpLevel *level)
{
	DpSplitContext *cxt = level->cxt;
	List	   *tables = NIL;

	if (level->from.unit.vars != NIL || (level->from.unit.one_row && !level->from.unit.may_repeat))
		return;
	foreach_oid(relid, level->release->relids)
		tables = list_concat_unique_oid(tables, find_all_inheritors(relid, AccessShareLock, NULL));
	foreach_oid(item, tables)
	{
		if (get_rel_relkind(item) == RELKIND_FOREIGN_TABLE)
			dp_refuse_at(level->where,
						 errmsg("rows of protected table \"%s\", partly in foreign table \"%s\", must not be repeated by joins; join on all columns of a unique key",
								level->table, get_rel_name(item)));
	}
}

void
dp_read_source(DpLevel *level, DpScope *scope, bool even_if_readable)
{
	DpSource	s = {.cxt = level->cxt, .level = level, .even_if_readable = even_if_readable};
	Query	   *outer = level->query;
	Query	   *query = dp_new_select();
	DpScope		inner = {query, scope->outer};
	List	   *read = list_make2(outer->targetList, outer->havingQual);

	query->rtable = copyObject(outer->rtable);
	dp_copy_permissions(query, outer);
	query->jointree = copyObject(outer->jointree);
	query->cteList = outer->cteList;
	level->from.query = query;
	level->from.is_level = true;
	level->conditions = dp_conditions_of_all((Node *) outer->jointree);
	dp_join_sublinks_of_joins(&s, &inner, &level->from);
	dp_join_sublinks(&s, &inner, &level->from);
	dp_read_level(&s, &inner, &level->from, &level->allow, (Node *) read);
	query->cteList = NIL;
	dp_join_parents(&s, &level->from);
	check_row_units(level);
	level->release->has_unit = !level->from.unit.one_row || level->from.unit.may_repeat;
}
