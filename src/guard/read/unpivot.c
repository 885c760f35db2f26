/*-------------------------------------------------------------------------
 *
 * unpivot.c
 *	  Rows that a level makes of one of its own, as public rows that choose.
 *
 *	 FROM t, LATERAL (VALUES ('a', t.a), ('b', t.b)) v (k, x)
 *	 FROM t, LATERAL (SELECT 'a' AS k, t.a AS x UNION ALL SELECT 'b', t.b) v
 *	 FROM t, unnest(ARRAY['a', 'b'], ARRAY[t.a, t.b]) v (k, x)
 *	   FROM t, (VALUES ('a', NULL, 1), ('b', NULL, 2)) v (k, x, row)
 *	   with CASE WHEN v.row = 1 THEN t.a ELSE t.b END in the place of v.x
 *	 FROM t LEFT JOIN LATERAL (VALUES (t.a), (t.b)) v (x) ON v.x > 5
 *	   FROM t, (VALUES (NULL, 1), (NULL, 2), (NULL, 3)) v (x, row)
 *	   WHERE v.row < 3 AND v.x > 5 OR v.row = 3 AND (t.a > 5) IS NOT TRUE AND (t.b > 5) IS NOT TRUE,
 *	   of which the last row is that of no match
 *
 * Invariants:
 * - How many rows there are is told by the text of the query.
 * - The rows read nothing of the level around them: what does is in the CASE,
 *	 and vetted there.
 * - A column is one of the rows only if that is so in all of them.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_operator_d.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* the most rows that one of the level becomes */
#define MOST_ROWS 1000

/* ------------------------------------------------------------------------
 * The values
 * ------------------------------------------------------------------------
 */

/* Returns the columns of a function that makes rows of an array's elements, padded with NULL; NIL: it is another. */
static List *
columns_of_functions(RangeTblEntry *rte)
{
	List	   *columns = NIL;
	int			nrows = 0;
	ListCell   *lc;

	foreach_ptr(RangeTblFunction, function, rte->functions)
	{
		FuncExpr   *call = (FuncExpr *) function->funcexpr;
		ArrayExpr  *array;

		if (!IsA(call, FuncExpr) || call->funcid != F_UNNEST_ANYARRAY || function->funccolcount != 1 ||
			!IsA(linitial(call->args), ArrayExpr))
			return NIL;
		array = linitial(call->args);
		/* elements of a composite type would be its fields */
		if (array->multidims || array->elements == NIL || type_is_rowtype(array->element_typeid))
			return NIL;
		columns = lappend(columns, copyObject(array->elements));
		nrows = Max(nrows, list_length(array->elements));
	}
	foreach(lc, columns)
	{
		Node	   *first = linitial((List *) lfirst(lc));

		while (list_length(lfirst(lc)) < nrows)
			lfirst(lc) = lappend(lfirst(lc), makeNullConst(exprType(first), exprTypmod(first), exprCollation(first)));
	}
	if (rte->funcordinality)
	{
		List	   *numbers = NIL;

		for (int i = 1; i <= nrows; i++)
			numbers = lappend(numbers, dp_int8_const(i));
		columns = lappend(columns, numbers);
	}
	return columns;
}

/* Returns the columns of VALUES, as a subquery shows them; NIL: it does something else. */
static List *
columns_of_values(Query *sub)
{
	RangeTblEntry *rte;
	List	   *columns = NIL;

	if (!dp_only_reads(sub, false) || sub->distinctClause != NIL || list_length(sub->rtable) != 1 || sub->jointree->quals != NULL)
		return NIL;
	rte = linitial(sub->rtable);
	if (rte->rtekind != RTE_VALUES)
		return NIL;
	foreach_ptr(TargetEntry, tle, sub->targetList)
	{
		Var		   *var = (Var *) tle->expr;
		List	   *column = NIL;

		if (tle->resjunk)
			continue;
		if (!IsA(var, Var) || var->varlevelsup != 0 || var->varattno <= 0)
			return NIL;
		foreach_ptr(List, row, rte->values_lists)
			column = lappend(column, copyObject(list_nth(row, var->varattno - 1)));
		columns = lappend(columns, column);
	}
	return columns;
}

/* Returns the columns of a UNION ALL of expressions; NIL: it is none. */
static List *
columns_of_union(Query *sub)
{
	SetOperationStmt *op = (SetOperationStmt *) sub->setOperations;
	List	   *columns = NIL;

	if (op == NULL || !dp_is_union_all(sub->setOperations) || sub->limitCount != NULL || sub->limitOffset != NULL ||
		sub->rowMarks != NIL || sub->cteList != NIL || sub->hasTargetSRFs)
		return NIL;
	for (int i = 1; i <= list_length(op->colTypes); i++)
	{
		List	   *column = NIL;

		foreach_int(item, dp_operands(sub))
		{
			Query	   *operand = rt_fetch(item, sub->rtable)->subquery;
			Node	   *value;

			if (operand == NULL || !dp_is_expressions(operand))
				return NIL;
			dp_cast_columns(operand, op);
			value = (Node *) copyObject(get_tle_by_resno(operand->targetList, i)->expr);
			/* it is in a subquery of a subquery */
			IncrementVarSublevelsUp(value, -2, 2);
			column = lappend(column, value);
		}
		columns = lappend(columns, column);
	}
	return columns;
}

/* ------------------------------------------------------------------------
 * The rows
 * ------------------------------------------------------------------------
 */

/* Tells whether expressions can be computed without the level. */
static bool
are_public(List *column)
{
	return !checkExprHasSubLink((Node *) column) && !contain_var_clause((Node *) column) &&
		!contain_vars_of_level((Node *) column, 1) && !contain_volatile_functions((Node *) column) &&
		!contain_agg_clause((Node *) column) && !contain_windowfuncs((Node *) column);
}

/* Tells whether all values of a column have one type and one collation. */
static bool
are_alike(List *column)
{
	foreach_ptr(Node, item, column)
	{
		if (exprType(item) != exprType(linitial(column)) || exprCollation(item) != exprCollation(linitial(column)))
			return false;
	}
	return true;
}

static Expr *
compare_number(Index rti, AttrNumber number, Oid opno, int row)
{
	Const	   *this = dp_int4_const(row);

	return (Expr *) dp_make_comparison(opno, (Expr *) dp_output_var(rti, number, (Node *) this), (Expr *) this, InvalidOid);
}

/* Returns what a column is where the number of the row, a column of entry rti, is known. */
static Node *
chosen(List *column, Index rti, AttrNumber number)
{
	CaseExpr   *cases;
	Node	   *first = linitial(column);
	bool		same = true;

	foreach_ptr(Node, item, column)
		same &= equal(item, first);
	if (same)
		return first;
	/* no other may be NULL than a value */
	cases = dp_make_case(llast(column));
	cases->casetype = exprType(first);
	cases->casecollid = exprCollation(first);
	cases->location = exprLocation(first);
	foreach_ptr(Expr, item, list_copy_head(column, list_length(column) - 1))
		dp_add_when(cases, compare_number(rti, number, Int4EqualOperator, foreach_current_index(item) + 1), item);
	return (Node *) cases;
}

/* Returns an entry of columns, as many as names, with the numbers of their rows behind them. */
static RangeTblEntry *
entry_of(RangeTblEntry *rte, List *columns)
{
	RangeTblEntry *new = dp_make(RangeTblEntry, .rtekind = RTE_VALUES, .alias = copyObject(rte->alias),
								 .eref = copyObject(rte->eref));

	new->eref->colnames = lappend(new->eref->colnames, makeString(pstrdup("row")));
	for (int row = 0; row < list_length(linitial(columns)); row++)
	{
		List	   *values = NIL;

		foreach_ptr(List, column, columns)
			values = lappend(values, list_nth(column, row));
		new->values_lists = lappend(new->values_lists, values);
	}
	foreach_ptr(List, column, columns)
	{
		Node	   *first = linitial(column);

		new->coltypes = lappend_oid(new->coltypes, exprType(first));
		new->coltypmods = lappend_int(new->coltypmods, -1);
		new->colcollations = lappend_oid(new->colcollations, exprCollation(first));
	}
	return new;
}

/* Returns the condition that a row of the columns matches none of the level's: the last one of a LEFT JOIN. */
static Expr *
no_match(Index rti, List *columns, Node *condition, int nrows)
{
	List	   *tests = list_make1(compare_number(rti, list_length(columns) + 1, Int4EqualOperator, nrows + 1));

	for (int row = 0; row < nrows; row++)
	{
		List	   *values = NIL;

		foreach_ptr(List, column, columns)
			values = lappend(values, list_nth(column, row));
		tests = lappend(tests, dp_make(BooleanTest, .arg = (Expr *) dp_put_columns(condition, rti, values),
									   .booltesttype = IS_NOT_TRUE, .location = -1));
	}
	return make_ands_explicit(tests);
}

/* Returns what a LEFT JOIN of rows on a condition asks, where the one behind them is that of no match. */
static Node *
join_condition(Index rti, List *values, Node *condition, Expr *no_match, int nrows)
{
	Expr	   *is_row = compare_number(rti, list_length(values) + 1, Int4LessOperator, nrows + 1);

	return (Node *) make_orclause(list_make2(make_andclause(list_make2(is_row, dp_put_columns(condition, rti, values))), no_match));
}

/* Adds a row of NULLs to columns. */
static void
add_nothing(List *columns)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		Node	   *first = linitial((List *) lfirst(lc));

		lfirst(lc) = lappend(lfirst(lc), makeNullConst(exprType(first), -1, exprCollation(first)));
	}
}

RangeTblEntry *
dp_unpivoted(Query *query, Index rti, Node **condition, List **values)
{
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	List	   *columns = NIL;
	List	   *rows = NIL;
	List	   *numbers = NIL;
	AttrNumber	number;
	int			nrows;
	Node	   *quals;
	Expr	   *nothing_found = NULL;

	if (rte->rtekind == RTE_FUNCTION)
		columns = columns_of_functions(rte);
	else if (rte->subquery->setOperations)
		columns = columns_of_union(rte->subquery);
	else
	{
		columns = columns_of_values(rte->subquery);
		IncrementVarSublevelsUp((Node *) columns, -1, 1);
	}
	if (columns == NIL || list_length(columns) != list_length(rte->eref->colnames) || list_length(linitial(columns)) > MOST_ROWS)
		return NULL;
	columns = (List *) dp_flatten_joins(query, (Node *) columns);
	number = list_length(columns) + 1;
	nrows = list_length(linitial(columns));
	quals = dp_flatten_joins(query, *condition);
	if (quals != NULL)
	{
		nothing_found = no_match(rti, columns, quals, nrows);
		add_nothing(columns);
	}
	for (int row = 1; row <= list_length(linitial(columns)); row++)
		numbers = lappend(numbers, dp_int4_const(row));
	*values = NIL;
	foreach_ptr(List, column, columns)
	{
		Node	   *first = linitial(column);

		if (!are_alike(column))
			return NULL;
		if (are_public(column))
		{
			rows = lappend(rows, column);
			*values = lappend(*values, dp_output_var(rti, foreach_current_index(column) + 1, first));
		}
		else
		{
			List	   *nothing = NIL;

			for (int row = 0; row < list_length(column); row++)
				nothing = lappend(nothing, makeNullConst(exprType(first), -1, exprCollation(first)));
			rows = lappend(rows, nothing);
			*values = lappend(*values, chosen(column, rti, number));
		}
	}
	if (quals != NULL)
		*condition = join_condition(rti, *values, quals, nothing_found, nrows);
	return entry_of(rte, lappend(rows, numbers));
}
