/*-------------------------------------------------------------------------
 *
 * value_cells.c
 *	  What keys can be that only compare protected values with constants.
 *
 *	   CASE WHEN amount < 50 THEN 'low' WHEN amount < 100 THEN 'middle' ELSE 'high' END
 *
 * is known without values of amount: the constants divide them into cells, on
 * each of which all comparisons are constant.  A list of the cells' numbers
 * (safe/value_cells.c) stands for the compared expression, and comparisons are
 * those of numbers.  Conditions on the same expression leave out cells.  Of a
 * condition that is no comparison, the list is that of its truth values.
 *
 * Invariants:
 * - A row is in one cell of each list, by which all that is asked of the list
 *	 has the value that it has for the row.  Lists do not know of each other,
 *	 so that there may be more tuples than rows can have, but never fewer.
 * - Cells are found when all constants are: first all keys are looked through,
 *	 then the conditions, and only then anything is put in.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/extension.h"
#include "base/walk.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/describe/key_query.h"
#include "guard/facts/facts.h"
#include "guard/read/read.h"
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

/* the most tuples of cells, those of all lists together */
#define MAX_TUPLES 20000
/* the same with lists of declared values */
#define MAX_WITH_DECLARED 1e6
/* the most constants of one list that are known only when the query runs */
#define MAX_EXPRESSIONS 50

/* the cells of one expression */
typedef struct DpKeyQueryCells
{
	Node	   *expr;
	Oid			type;			/* of constants; InvalidOid: it is asked for
								 * NULL alone */
	Oid			collation;
	List	   *constants;		/* of the type, each once */
	bool		is_known;		/* they are known now */
	DpKeyQueryItem *item;		/* made when all constants are known */
	Node	   *array;			/* of the constants */
	List	   *numbers;		/* of their cells */
} DpKeyQueryCells;

/* ------------------------------------------------------------------------
 * Cells of an expression
 * ------------------------------------------------------------------------
 */

static DpKeyQueryCells *
find_cells(DpKeyQuery *s, const DpCellTest *test)
{
	foreach_ptr(DpKeyQueryCells, cells, s->cells)
	{
		if (cells->type == test->type && cells->collation == test->collation && equal(cells->expr, test->expr))
			return cells;
	}
	return NULL;
}

/* Returns any cells of an expression that know of its NULLs. */
static DpKeyQueryCells *
find_nulls(DpKeyQuery *s, Node *expr)
{
	foreach_ptr(DpKeyQueryCells, cells, s->cells)
	{
		if (equal(cells->expr, expr))
			return cells;
	}
	return NULL;
}

/* Tells whether so many constants more leave lists short enough; beside: what has them, or NULL. */
static bool
has_room(DpKeyQuery *s, const DpKeyQueryCells *to, int more)
{
	double		tuples = to ? 1 : 2.0 * more + 2;
	double		declared = 1;

	foreach_ptr(DpKeyQueryCells, cells, s->cells)
	{
		tuples *= 2 * (list_length(cells->constants) + (cells == to ? more : 0)) + 2;
	}
	foreach_ptr(DpKeyQueryItem, item, s->items)
	{
		const DpColumn *policy = item->policy;

		declared *= policy ? policy->nkeys + 1 : 1;
		tuples *= item->of != NULL && IsA(item->values, Const) ? dp_list_size((Const *) item->values) : 1;
	}
	return tuples <= MAX_TUPLES && tuples * declared <= MAX_WITH_DECLARED;
}

/* Tells whether one list may stand for an expression: where rows of outer joins are missing, only columns are surely NULL. */
static bool
may_have_cells(DpKeyQuery *s, Node *expr)
{
	int			item = -1;
	Bitmapset  *items = pull_varnos(NULL, expr);

	while (!IsA(expr, Var) && (item = bms_next_member(items, item)) >= 0)
		if (!bms_is_empty(dp_key_query_item(s, item)->joins))
			return false;
	return !contain_volatile_functions(expr);
}

/* Adds a test to the cells of its expression; returns false if it has none, or too many. */
static bool
add_test(DpKeyQuery *s, const DpCellTest *test)
{
	DpKeyQueryCells *cells = find_cells(s, test);
	List	   *constants = cells ? list_difference(test->constants, cells->constants) : test->constants;
	bool		is_known = cells == NULL || cells->is_known;
	int			n = list_length(constants) + (cells ? list_length(cells->constants) : 0);

	foreach_ptr(Node, constant, constants)
		is_known &= IsA(constant, Const);
	if ((cells == NULL && (s->cell_stage != DP_CELLS_OF_KEYS || !may_have_cells(s, test->expr))) ||
		n > (is_known ? DP_MAX_CELL_CONSTANTS : MAX_EXPRESSIONS) || !has_room(s, cells, list_length(constants)))
		return false;
	if (cells == NULL)
	{
		cells = palloc0(sizeof(DpKeyQueryCells));
		cells->expr = copyObject(test->expr);
		cells->type = test->type;
		cells->collation = test->collation;
		s->cells = lappend(s->cells, cells);
	}
	cells->is_known = is_known;
	foreach_ptr(Node, constant, constants)
		cells->constants = list_append_unique(cells->constants, constant);
	return true;
}

/* ------------------------------------------------------------------------
 * Lists
 * ------------------------------------------------------------------------
 */

/* Returns an array, folded if all of it is known. */
static Node *
make_array(Oid type, Oid collation, List *elements, bool is_known)
{
	ArrayExpr  *array = dp_make(ArrayExpr, .array_typeid = get_array_type(type), .array_collid = collation,
								.element_typeid = type, .elements = elements, .location = -1);

	return is_known ? (Node *) dp_fold((Node *) array) : (Node *) array;
}

/* Returns the number of the cell that a constant is. */
static Node *
number_of(const DpKeyQueryCells *cells, Node *constant)
{
	Oid			types[] = {ANYELEMENTOID, ANYARRAYOID};
	Node	   *call = (Node *) makeFuncExpr(dp_own_routine("cell_of", lengthof(types), types), INT4OID,
											 list_make2(constant, cells->array), InvalidOid, cells->collation,
											 COERCE_EXPLICIT_CALL);

	return cells->is_known ? (Node *) dp_fold(call) : call;
}

/* Returns the list of cells that have values. */
static Expr *
cell_numbers(const DpKeyQueryCells *cells, bool with_null)
{
	Oid			types[] = {ANYARRAYOID, BOOLOID, BOOLOID};
	Oid			type = exprType(cells->expr);
	bool		whole = type == INT2OID || type == INT4OID || type == INT8OID;
	Node	   *call;

	if (!OidIsValid(cells->type))
	{
		List	   *values = list_make1(dp_int4_const(0));

		if (with_null)
			values = lappend(values, makeNullConst(INT4OID, -1, InvalidOid));
		return (Expr *) make_array(INT4OID, InvalidOid, values, true);
	}
	call = (Node *) makeFuncExpr(dp_own_routine("cells", lengthof(types), types), INT4ARRAYOID,
								 list_make3(cells->array, makeBoolConst(whole, false), makeBoolConst(with_null, false)),
								 InvalidOid, cells->collation, COERCE_EXPLICIT_CALL);
	return (Expr *) (cells->is_known ? (Node *) dp_fold(call) : call);
}

/* Adds the list that stands for an expression. */
static void
add_list(DpKeyQuery *s, DpKeyQueryCells *cells)
{
	if (OidIsValid(cells->type))
		cells->array = make_array(cells->type, get_typcollation(cells->type), cells->constants, cells->is_known);
	foreach_ptr(Node, constant, cells->constants)
		cells->numbers = lappend(cells->numbers, number_of(cells, constant));
	cells->item = dp_key_query_add_list(s, cells->expr, cell_numbers(cells, dp_key_query_may_be_null(s, cells->expr)));
	/* it stands for no column, but what a list is for */
	cells->item->column = makeVar(cells->item->number, 1, INT4OID, -1, InvalidOid, 0);
	cells->item->of = NULL;
}

static Expr *
is_null(const DpKeyQueryCells *cells)
{
	return dp_is_null((Expr *) copyObject(cells->item->column));
}

/* Adds that two lists are NULL together, which stand for one expression. */
static void
relate_nulls(DpKeyQuery *s, const DpKeyQueryCells *a, const DpKeyQueryCells *b)
{
	OpExpr	   *same = dp_make_comparison(BooleanEqualOperator, is_null(a), is_null(b), InvalidOid);

	dp_key_query_add_condition(s, (Node *) same)->follows = true;
}

void
dp_key_query_fill_cells(DpKeyQuery *s)
{
	foreach_ptr(DpKeyQueryCells, cell, s->cells)
	{
		add_list(s, cell);
	}
	foreach_ptr(DpKeyQueryCells, cell, s->cells)
	{
		DpKeyQueryCells *first = find_nulls(s, cell->expr);

		if (first != cell)
			relate_nulls(s, first, cell);
	}
}

/* ------------------------------------------------------------------------
 * What stands for a condition
 * ------------------------------------------------------------------------
 */

/* Returns the number of the cell that a constant is, from those that have been found; NULL: it has not been among them. */
static Node *
found_number(const DpKeyQueryCells *cells, Node *constant)
{
	ListCell   *lc,
			   *number;

	forboth(lc, cells->constants, number, cells->numbers)
	{
		if (equal(lfirst(lc), constant))
			return copyObject(lfirst(number));
	}
	return NULL;
}

/* Returns a test as one of cells' numbers. */
static Node *
write_test(const DpKeyQueryCells *cells, const DpCellTest *test)
{
	DpComparison of_numbers = test->of;
	List	   *numbers = NIL;
	bool		is_known = true;

	foreach_ptr(Node, constant, test->constants)
	{
		Node	   *number = found_number(cells, constant);

		if (number == NULL)
			return NULL;
		is_known &= IsA(number, Const);
		numbers = lappend(numbers, number);
	}
	of_numbers.opno = test->opno;
	of_numbers.left = (Node *) copyObject(cells->item->column);
	of_numbers.right = of_numbers.is_array ? make_array(INT4OID, InvalidOid, numbers, is_known) : linitial(numbers);
	of_numbers.collation = InvalidOid;
	return dp_write_comparison(&of_numbers);
}

/* Returns a test for NULL as one of a list. */
static Node *
tell_null(DpKeyQuery *s, NullTest *node)
{
	Node	   *expr = dp_strip_casts((Node *) node->arg);
	DpKeyQueryCells *cells = find_nulls(s, expr);
	NullTest   *test;

	if (s->cell_stage == DP_CELLS_OF_KEYS)
	{
		if (!may_have_cells(s, expr))
			return NULL;
		s->null_tested = list_append_unique(s->null_tested, expr);
		return (Node *) node;
	}
	if (cells == NULL)
		return NULL;
	if (cells->item == NULL)
		return (Node *) node;
	test = copyObject(node);
	test->arg = (Expr *) copyObject(cells->item->column);
	return (Node *) test;
}

/* Returns x = ANY (list), of which x <> ALL (list) is the negation; NULL: node is another. */
static Node *
negated_list(Node *node)
{
	DpComparison c;

	if (!dp_read_comparison(node, &c) || !c.is_array || c.is_any || !OidIsValid(c.opno = get_negator(c.opno)))
		return NULL;
	c.is_any = true;
	return copyObject(dp_write_comparison(&c));
}

/* Adds what an array that is known when the query runs tells of the truth of a comparison with it: it may be empty, or NULL. */
static void
limit_truth(DpKeyQuery *s, Node *comparison, DpKeyQueryItem *list)
{
	CaseExpr   *cases = dp_make_case((Expr *) makeBoolConst(true, false));
	Expr	   *truth = (Expr *) dp_key_query_list_var(list);
	BooleanTest *of_none;
	DpComparison c;

	if (!dp_read_comparison(comparison, &c) || !c.is_array || dp_has_columns(c.right) || contain_volatile_functions(c.right))
		return;
	of_none = dp_make(BooleanTest, .arg = truth,
					  .booltesttype = c.is_any ? IS_FALSE : IS_TRUE, .location = -1);
	dp_add_when(cases, dp_is_null((Expr *) copyObject(c.right)), dp_is_null(truth));
	dp_add_when(cases, (Expr *) dp_make_cardinality_comparison(Int4EqualOperator, c.right), (Expr *) of_none);
	dp_key_query_add_condition(s, (Node *) cases)->follows = true;
}

/* Returns what a list of truth values has of a condition, which is made for one of a key; NULL: there is none. */
static Node *
tell_truth(DpKeyQuery *s, Node *node, Bitmapset **items)
{
	DpKeyQueryItem *list = dp_key_query_find_list(s, node);

	if (list == NULL && s->cell_stage == DP_CELLS_OF_KEYS && may_have_cells(s, node) && has_room(s, NULL, 1))
	{
		list = dp_key_query_list_results(s, node);
		if (list != NULL)
			limit_truth(s, node, list);
	}
	if (list == NULL)
		return NULL;
	*items = bms_add_member(*items, list->number);
	return dp_key_query_list_var(list);
}

Node *
dp_key_query_tell_cells(DpKeyQuery *s, Node *node, Bitmapset **items)
{
	DpCellTest	test;
	DpKeyQueryCells *cells;
	Node	   *told;

	if (s->cell_stage == DP_CELLS_NONE || IsA(node, CaseWhen) || IsA(node, List) || exprType(node) != BOOLOID ||
		dp_reads_case(node))
		return NULL;
	if (IsA(node, NullTest) && !((NullTest *) node)->argisrow)
	{
		told = tell_null(s, (NullTest *) node);
		if (told != NULL)
			*items = bms_add_members(*items, s->cell_stage == DP_CELLS_FOUND ? pull_varnos(NULL, told) : NULL);
		return told;
	}
	if (!dp_get_cell_test(node, &test))
	{
		Node	   *negated = negated_list(node);

		if (negated == NULL)
			return tell_truth(s, node, items);
		told = dp_key_query_tell_cells(s, negated, items);
		return told && s->cell_stage == DP_CELLS_FOUND ? (Node *) make_notclause((Expr *) told) : told;
	}
	if (s->cell_stage != DP_CELLS_FOUND)
		return add_test(s, &test) ? node : NULL;
	cells = find_cells(s, &test);
	told = cells ? write_test(cells, &test) : NULL;
	if (told != NULL)
		*items = bms_add_member(*items, cells->item->number);
	return told;
}

void
dp_key_query_ask_nulls(DpKeyQuery *s)
{
	foreach_ptr(Node, item, s->null_tested)
	{
		DpCellTest	test = {item};

		if (find_nulls(s, item) == NULL)
			(void) add_test(s, &test);
	}
	s->null_tested = NIL;
}

void
dp_key_query_imply_limits(DpKeyQuery *s)
{
	int			n = list_length(s->conditions);

	for (int i = 0; i < n; i++)
	{
		const DpKeyQueryCondition *condition = list_nth(s->conditions, i);
		DpCondition *read = bms_is_empty(condition->joins) && !contain_volatile_functions(condition->expr)
		? dp_limits_of_condition(condition->expr) : NULL;

		foreach_ptr(const DpKeyQueryCells, cells, read ? s->cells : NIL)
		{
			Node	   *limits = OidIsValid(cells->type) ? dp_limits_on(read, cells->expr) : NULL;

			/* what compares the expression itself is asked as it is */
			if (limits == NULL || (read->args == NIL && equal(read->test.expr, cells->expr)))
				continue;
			dp_key_query_add_condition(s, limits)->follows = true;
		}
	}
}

int
dp_key_query_count_cells(const DpKeyQuery *s)
{
	return list_length(s->cells);
}

void
dp_key_query_forget_cells(DpKeyQuery *s, int n)
{
	s->cells = list_truncate(s->cells, n);
	s->null_tested = NIL;
}
