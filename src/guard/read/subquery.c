/*-------------------------------------------------------------------------
 *
 * subquery.c
 *	  Subqueries, views and WITH queries over protected tables, as part of a
 *	  private level.
 *
 * Invariants:
 * - Only what is read of a subquery is computed, and it has passed the
 *	 allow-list.
 * - A subquery that aggregates does so by privacy unit, or by what is finer.
 * - Each hands up what names the privacy unit of its rows, whether it was
 *	 asked to or not.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "guard/read/read.h"
#include "guard/vet/allow.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "policy/unit_types.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------------
 * Subqueries
 * ------------------------------------------------------------------------
 */

static void
check_subquery(DpSplitContext *cxt, Query *sub)
{
	int			where = exprLocation((Node *) sub->targetList);

	if (dp_rows_of_limit(sub->limitCount, PG_INT64_MAX) == PG_INT64_MAX && dp_rows_of_limit(sub->limitOffset, 0) == 0)
		sub->limitCount = sub->limitOffset = NULL;
	else
		dp_refuse_at(where, errmsg("LIMIT and OFFSET on protected rows are not releasable; filter with WHERE"),
					 errdetail("The rows that remain depend on all others."));
	if (sub->hasTargetSRFs)
		dp_refuse_at(where, errmsg("functions that return sets are not releasable over protected rows; %s", DP_INSTEAD_OF_SETS));
	if (sub->groupingSets)
		dp_refuse_at(where, errmsg("GROUPING SETS, ROLLUP and CUBE are possible at the level of private aggregates only"));
	if (sub->rowMarks)
		dp_refuse_at(where, errmsg("FOR UPDATE and FOR SHARE are not possible on protected tables; leave the clause out"));
	if (sub->hasModifyingCTE || sub->hasRecursive)
		dp_refuse_at(where, errmsg("a subquery over protected rows cannot contain WITH RECURSIVE or a WITH clause that modifies data"));
	if (sub->distinctClause && !sub->hasDistinctOn && (sub->groupClause || sub->hasAggs))
		dp_refuse_at(where, errmsg("DISTINCT and aggregates together are not releasable in a subquery over protected rows; leave DISTINCT out"));
}

/* Blanks the columns that nobody reads: they need not pass the allow-list. */
static void
prune_targets(Query *sub, const Bitmapset *columns)
{
	List	   *kept = NIL;

	if (!sub->hasDistinctOn)
		sub->sortClause = NIL;
	dp_prune_windows(sub, columns);
	foreach_ptr(TargetEntry, tle, sub->targetList)
	{
		bool		is_key = get_sortgroupref_clause_noerr(tle->ressortgroupref, sub->groupClause) != NULL ||
		dp_windows_need(sub, tle);

		if (!is_key)
		{
			if (tle->resjunk)
				continue;
			tle->ressortgroupref = 0;
			if (!bms_is_member(tle->resno, columns))
				/* its own type would be looked up, and may be the asker's */
				tle->expr = (Expr *) makeNullConst(INT4OID, -1, InvalidOid);
		}
		/* those behind one that is left out move up */
		tle->resno = list_length(kept) + 1;
		kept = lappend(kept, tle);
	}
	sub->targetList = kept;
}

/* Returns those of a token's columns, in terms of entry rti, that targets show; NIL where all are wanted and not all are there. */
static List *
shown_vars(List *targets, Index rti, List *vars, bool all)
{
	List	   *result = NIL;

	foreach_ptr(Node, var, vars)
	{
		bool		found = false;

		foreach_ptr(TargetEntry, tle, targets)
		{
			if (found || tle->resjunk || !dp_names_column(list_make1(var), (Node *) tle->expr))
				continue;
			result = lappend(result, dp_output_var(rti, tle->resno, (Node *) tle->expr));
			found = true;
		}
		if (all && !found)
			return NIL;
	}
	return result;
}

/* Returns tokens in terms of entry rti, as far as targets show them. */
static List *
shown_tokens(List *targets, Index rti, List *tokens)
{
	List	   *result = NIL;

	foreach_ptr(DpToken, item, tokens)
	{
		DpToken    *token = palloc(sizeof(DpToken));

		*token = *item;
		token->vars = shown_vars(targets, rti, token->vars, OidIsValid(token->parent));
		if (token->vars != NIL)
			result = lappend(result, token);
	}
	return result;
}

/* Adds a column for what is a Var, named as the table's column, for messages. */
static TargetEntry *
add_column(RangeTblEntry *rte, Expr *column)
{
	Var		   *var = castNode(Var, dp_strip_relabel((Node *) column));

	return dp_show_in_entry(rte, copyObject(column),
							get_rte_attribute_name(rt_fetch(var->varno, rte->subquery->rtable), var->varattno));
}

/* Adds columns that name the unit, and fills item->unit with them. */
static void
hand_up_units(DpSplitContext *cxt, RangeTblEntry *rte, Index rti, DpFrom *from, DpFromItem *item)
{
	Query	   *sub = rte->subquery;
	DpToken    *nearest = from->unit.exprs == NIL ? dp_nearest_token(from->unit.tokens) : NULL;

	foreach_ptr(TargetEntry, tle, sub->targetList)
	{
		if (!tle->resjunk && dp_names_column(from->unit.vars, (Node *) tle->expr))
			item->unit.vars = lappend(item->unit.vars, dp_output_var(rti, tle->resno, (Node *) tle->expr));
	}
	foreach_ptr(Expr, expr, from->unit.exprs)
	{
		TargetEntry *tle = add_column(rte, expr);

		item->unit.exprs = lappend(item->unit.exprs, dp_output_var(rti, tle->resno, (Node *) tle->expr));
		if (from->unit.vars != NIL)
			item->unit.vars = lappend(item->unit.vars, dp_output_var(rti, tle->resno, (Node *) tle->expr));
	}
	/* the tables that this leads to are joined above */
	if (nearest != NULL && shown_vars(sub->targetList, rti, nearest->vars, true) == NIL)
		foreach_ptr(Expr, var, nearest->vars)
			(void) add_column(rte, dp_as_base_type(var));
	item->unit.tokens = shown_tokens(sub->targetList, rti, from->unit.tokens);
	item->unit.or_null = shown_tokens(sub->targetList, rti, from->unit.or_null);
}

/* Returns where the first SELECT of an operation stands. */
static int
location_of_first(Query *sub)
{
	int			location = exprLocation((Node *) sub->targetList);

	check_stack_depth();
	if (location >= 0 || sub->rtable == NIL || linitial_node(RangeTblEntry, sub->rtable)->rtekind != RTE_SUBQUERY)
		return location;
	return location_of_first(linitial_node(RangeTblEntry, sub->rtable)->subquery);
}

/* Returns the column that is the unit's where an outer join has found a match, and NULL elsewhere; NULL: none of columns is. */
static Node *
unit_or_null(DpFrom *from, List *columns)
{
	foreach_ptr(DpToken, token, from->unit.or_null)
		foreach_ptr(Node, column, columns)
	{
		if (dp_names_column(token->vars, column))
			return dp_strip_relabel(column);
	}
	return NULL;
}

static void
check_grouping(DpSplitContext *cxt, Query *sub, DpFrom *from, bool is_operation)
{
	List	   *columns = NIL;
	Node	   *column;

	foreach_ptr(SortGroupClause, clause, sub->groupClause)
	{
		/* another equality might take several units for one */
		if (dp_is_unit_operator(clause->eqop))
			columns = lappend(columns, get_sortgroupclause_tle(clause, sub->targetList)->expr);
	}

	/*
	 * rows with the same key of one row are one unit's; those in which it is
	 * NULL are nobody's, all of them, and disappear above
	 */
	if (dp_names_unit(&from->unit, columns, &from->unique_keys) ||
		dp_names_unit(&from->unit, dp_equal_columns(sub, dp_conditions_of_all((Node *) sub->jointree), columns), &from->unique_keys))
		return;
	if (is_operation)
		dp_refuse_at(location_of_first(sub), DP_REFUSE_OPERATION);
	column = from->unit.vars != NIL ? unit_or_null(from, columns) : NULL;
	if (column != NULL)
		dp_refuse_at(exprLocation((Node *) sub->targetList),
					 errmsg("%s is NULL in rows that have no match, and so no privacy unit to group by; write %s in its place",
							dp_column_name(sub, (Var *) column), dp_column_name(sub, linitial(from->unit.vars))));
	dp_refuse_at(exprLocation((Node *) sub->targetList),
				 errmsg("a subquery below private aggregates can aggregate protected rows only by privacy unit; "
						"add the unit to its GROUP BY"));
}

/* Tells whether there is one row for each of what names a unit. */
static bool
groups_by_nothing_else(Query *sub, List *clauses, DpFrom *from)
{
	foreach_ptr(SortGroupClause, clause, clauses)
	{
		if (!dp_names_column(from->unit.vars, (Node *) get_sortgroupclause_tle(clause, sub->targetList)->expr))
			return false;
	}
	return true;
}

/* Adds that rows of a unit with the same of clauses, of GROUP BY or the like, are one, or are numbered by a column. */
static void
tell_apart(Query *sub, Index rti, List *clauses, AttrNumber rank, const DpFrom *from, DpRowUnit *unit)
{
	DpToldApart *told = palloc0(sizeof(DpToldApart));

	told->rti = rti;
	told->rank = rank;
	foreach_ptr(SortGroupClause, clause, clauses)
	{
		TargetEntry *tle = get_sortgroupclause_tle(clause, sub->targetList);
		Node	   *expr = dp_strip_relabel((Node *) tle->expr);

		if (dp_names_column(from->unit.vars, expr) || (IsA(expr, Var) && bms_is_member(((Var *) expr)->varno, from->unit.determined)))
			continue;
		/* nobody above knows it */
		if (tle->resjunk)
			return;
		told->columns = lappend_int(told->columns, tle->resno);
	}
	unit->told_apart = lappend(unit->told_apart, told);
}

/* Notes by which columns of a subquery the rows of a unit are told apart. */
static void
note_told_apart(Query *sub, Index rti, const DpFrom *from, DpRowUnit *unit)
{
	if (sub->hasTargetSRFs || sub->groupingSets != NIL)
		return;
	if (sub->groupClause != NIL)
		tell_apart(sub, rti, sub->groupClause, 0, from, unit);
	if (sub->hasDistinctOn)
		tell_apart(sub, rti, sub->distinctClause, 0, from, unit);
	foreach_node(TargetEntry, tle, sub->targetList)
	{
		WindowFunc *function = (WindowFunc *) tle->expr;

		if (IsA(function, WindowFunc) && function->winfnoid == F_ROW_NUMBER && !tle->resjunk)
			tell_apart(sub, rti, dp_window_of(sub->windowClause, function->winref)->partitionClause, tle->resno, from, unit);
	}
}

static void read_entry(DpSource *s, DpScope *scope, RangeTblEntry *rte, Index rti, const Bitmapset *columns,
					   bool is_operand, DpFromItem *item);

/* Reads a UNION ALL, each of its operands by itself. */
static void
read_union(DpSource *s, DpScope *scope, RangeTblEntry *rte, Index rti, const Bitmapset *columns, DpFromItem *item)
{
	DpFromItem *items = palloc0(sizeof(DpFromItem) * (list_length(rte->subquery->rtable) + 1));
	DpScope		inner = {rte->subquery, scope};

	check_subquery(s->cxt, rte->subquery);
	columns = dp_prepare_operands(s, &inner, columns);
	foreach_int(operand, dp_operands(rte->subquery))
		read_entry(s, &inner, rt_fetch(operand, rte->subquery->rtable), operand, columns, true,
				   &items[operand]);
	dp_rebuild_union(s, rte, rti, items, item);
}

/* Joins the tables to which rows of an operand belong to people through: units are compared with those of others. */
static void
join_parents(DpSource *s, DpFrom *from, DpAllowContext *allow)
{
	DpSplitContext *cxt = s->cxt;

	if (from->unit.exprs == NIL && allow->unit_aggregates)
		dp_refuse_at(exprLocation((Node *) from->query->targetList),
					 errmsg("a SELECT of a UNION must group rows of \"%s\" by a privacy unit's column; join the table that has it",
							get_rel_name(((DpToken *) linitial(from->unit.tokens))->parent)));
	dp_join_parents(s, from);
}

/* Reads entry rti, a subquery; columns: the numbers of those that are read. */
static void
read_entry(DpSource *s, DpScope *scope, RangeTblEntry *rte, Index rti, const Bitmapset *columns,
		   bool is_operand, DpFromItem *item)
{
	Query	   *sub = rte->subquery;
	DpScope		operation = {sub, scope};
	Query	   *written;
	bool		is_operation = sub->setOperations != NULL;
	DpFrom		from = {0};
	DpAllowContext allow = {0};
	DpRowUnit	told_apart = {0};
	List	   *read;
	DpScope		inner;

	check_stack_depth();
	if (is_operation)
		rte->subquery = sub = dp_write_out_operation(s, &operation);
	if (sub->setOperations)
	{
		read_union(s, scope, rte, rti, columns, item);
		return;
	}
	inner.query = sub;
	inner.outer = scope;
	dp_flatten_level(sub);
	dp_write_out_sets(sub);
	dp_reword_aggregates(&inner, false);
	check_subquery(s->cxt, sub);
	if (sub->distinctClause && !sub->hasDistinctOn && sub->hasWindowFuncs)
		dp_group_windows(sub);
	if (sub->distinctClause && !sub->hasDistinctOn)
	{
		sub->groupClause = sub->distinctClause;
		sub->distinctClause = NIL;
	}
	prune_targets(sub, columns);
	from.query = sub;
	dp_write_out_full_joins(&inner, &from, s);
	dp_write_out_laterals(&inner, &from, s);
	dp_join_sublinks_of_values(s, &inner, &from);
	dp_number_rows(sub);
	allow.unit_aggregates = sub->groupClause != NIL || sub->hasAggs || sub->havingQual != NULL;
	allow.windows = sub->hasWindowFuncs;
	dp_join_sublinks_of_joins(s, &inner, &from);
	dp_join_sublinks(s, &inner, &from);
	dp_make_joins_inner(sub);
	read = list_make2(sub->targetList, sub->havingQual);
	dp_read_level(s, &inner, &from, &allow, (Node *) read);
	if (allow.unit_aggregates)
		check_grouping(s->cxt, sub, &from, is_operation);
	dp_check_windows(s->cxt, sub, &from);
	if (is_operand)
		join_parents(s, &from, &allow);
	s->level->release->unique_keys = list_concat_unique_oid(s->level->release->unique_keys, from.unique_keys);
	note_told_apart(sub, rti, &from, &told_apart);
	written = sub;
	rte->subquery = sub = dp_rebuild_subquery(s->cxt, sub, &allow);
	dp_allow_subquery_keys(sub, &allow);
	hand_up_units(s->cxt, rte, rti, &from, item);
	dp_rebuild_windows(s->cxt, written, sub, &allow);
	dp_rebuild_distinct_on(s->cxt, written, sub);
	item->is_private = true;

	/*
	 * an aggregation by the unit alone leaves one row of a unit, as does
	 * DISTINCT ON; joins inside may have repeated it otherwise
	 */
	if (sub->hasDistinctOn && groups_by_nothing_else(sub, sub->distinctClause, &from))
		item->unit.one_row = true;
	else
	{
		item->unit.one_row = allow.unit_aggregates ? groups_by_nothing_else(sub, sub->groupClause, &from) :
			from.unit.one_row && !from.unit.may_repeat;
		item->unit.may_repeat = !allow.unit_aggregates && from.unit.may_repeat;
	}
	item->unit.told_apart = told_apart.told_apart;
}

void
dp_read_subquery(DpSource *s, DpScope *scope, Query *query, Index rti, Node *expressions, DpFromItem *item)
{
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	const Bitmapset *columns = dp_columns_read(query, rti, expressions);

	if (rte->rtekind == RTE_CTE)
	{
		columns = dp_columns_of_copy(s, scope, rte, columns);
		dp_inline_cte(s, scope, rte, false);
	}
	if (dp_refers_outside(scope, rte))
		dp_refuse_lateral(s, rte);
	read_entry(s, scope, rte, rti, columns, false, item);
}
