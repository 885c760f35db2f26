/*-------------------------------------------------------------------------
 *
 * block_ranges.c
 *	  Between which moments a condition holds a block column, to the moment.
 *
 * Others that look for ranges may be a day too wide; here a day more may be the
 * next block, and another block's budget.
 *
 * Invariant: where the condition is true of a row, its column is within the range.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/time_cells.h"
#include "guard/describe/time_ranges.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

/* lists of more values than this are not looked into */
#define MAX_VALUES 1000

static Expr *
extreme(List *values, MinMaxOp op)
{
	MinMaxExpr *all = makeNode(MinMaxExpr);

	if (list_length(values) == 1)
		return linitial(values);
	all->minmaxtype = exprType(linitial(values));
	all->op = op;
	all->args = values;
	all->location = -1;
	return (Expr *) all;
}

/* Narrows the range to what any of the alternatives, each a condition, allows. */
static bool
narrow_to_any(DpTimeRange *range, Var *column, List *alternatives, const DpRelease *release)
{
	List	   *first = NIL;
	List	   *last = NIL;
	ListCell   *lc,
			   *conjunct;

	foreach(lc, alternatives)
	{
		DpTimeRange one = {0};

		foreach(conjunct, dp_conjuncts(lfirst(lc)))
			(void) dp_narrow_block(&one, column, lfirst(conjunct), release);
		if (one.first != NULL)
			first = lappend(first, one.first);
		if (one.last != NULL)
			last = lappend(last, one.last);
	}
	if (list_length(first) == list_length(alternatives))
		range->first = extreme(range->first ? list_make2(range->first, extreme(first, IS_LEAST))
							   : list_make1(extreme(first, IS_LEAST)), IS_GREATEST);
	if (list_length(last) == list_length(alternatives))
		range->last = extreme(range->last ? list_make2(range->last, extreme(last, IS_GREATEST))
							  : list_make1(extreme(last, IS_GREATEST)), IS_LEAST);
	return list_length(first) == list_length(alternatives) || list_length(last) == list_length(alternatives);
}

/* Returns value IN (list) as a comparison with each of its values; NIL: it is no such, or too long. */
static List *
comparisons_of(ScalarArrayOpExpr *in)
{
	Const	   *list = lsecond(in->args);
	List	   *result = NIL;
	ArrayType  *array;
	Datum	   *values;
	bool	   *nulls;
	int			n;
	int16		typlen;
	bool		typbyval;
	char		typalign;

	if (!in->useOr || !IsA(list, Const) || list->constisnull)
		return NIL;
	array = DatumGetArrayTypeP(list->constvalue);
	if (ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) > MAX_VALUES)
		return NIL;
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	deconstruct_array(array, ARR_ELEMTYPE(array), typlen, typbyval, typalign, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		Expr	   *value = (Expr *) makeConst(ARR_ELEMTYPE(array), -1, list->constcollid, typlen, values[i], false, typbyval);
		Expr	   *comparison;

		if (nulls[i])
			continue;
		comparison = make_opclause(in->opno, BOOLOID, false, linitial(in->args), value, InvalidOid, in->inputcollid);
		set_opfuncid((OpExpr *) comparison);
		result = lappend(result, comparison);
	}
	return result;
}

static bool
own_param_walker(Node *node, const DpRelease *release)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && (((Param *) node)->paramkind != PARAM_EXTERN || ((Param *) node)->paramid >= release->first_param))
		return true;
	return expression_tree_walker(node, own_param_walker, (void *) release);
}

/* Returns a time moved by an interval; a date, by its days. */
static Expr *
moved_by(Expr *value, int months, int days, int64 microseconds)
{
	Oid			type = exprType((Node *) value);
	Interval   *interval = palloc0(sizeof(Interval));

	if (type == DATEOID)
		return (Expr *) makeFuncExpr(F_DATE_PLI, DATEOID,
									 list_make2(value, makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(days), false, true)),
									 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	interval->month = months;
	interval->day = days;
	interval->time = microseconds;
	return (Expr *) makeFuncExpr(type == TIMESTAMPOID ? F_TIMESTAMP_PL_INTERVAL : F_TIMESTAMPTZ_PL_INTERVAL, type,
								 list_make2(value, makeConst(INTERVALOID, -1, InvalidOid, sizeof(Interval),
															 IntervalPGetDatum(interval), false, false)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static Expr *
cast_to(Expr *value, Oid type)
{
	return (Expr *) coerce_to_target_type(NULL, (Node *) value, exprType((Node *) value), type, -1,
										  COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);
}

/* Tells whether a node calls a function of PostgreSQL's of this name, or its safe variant. */
static bool
is_call(Node *node, const char *name, int nargs)
{
	const char *called = IsA(node, FuncExpr) ? dp_builtin_name((FuncExpr *) node) : NULL;

	return called != NULL && strcmp(called, name) == 0 && list_length(((FuncExpr *) node)->args) == nargs;
}

/* Turns a comparison so that the column is on its left, or what is made of it; returns its strategy, 0: it is none. */
static int
comparison_with(Var *column, Node *condition, Node **left, Expr **right)
{
	OpExpr	   *op = (OpExpr *) condition;
	Oid			opno;
	bool		turned;

	if (!IsA(condition, OpExpr) || list_length(op->args) != 2)
		return 0;
	turned = dp_reads_column(lsecond(op->args), column);
	*left = dp_strip_labels(turned ? lsecond(op->args) : linitial(op->args));
	*right = turned ? linitial(op->args) : lsecond(op->args);
	opno = turned ? get_commutator(op->opno) : op->opno;
	if (!OidIsValid(opno) || contain_var_clause((Node *) *right) || contain_volatile_functions((Node *) *right) ||
		!dp_is_time_expr(*right) || !dp_is_time_expr((Expr *) *left))
		return 0;
	return get_op_opfamily_strategy(opno, lookup_type_cache(exprType(*left), TYPECACHE_BTREE_OPFAMILY)->btree_opf);
}

/* Tells how long a unit of date_trunc is. */
static bool
length_of_unit(Node *unit, int *months, int *days, int64 *microseconds)
{
	static const struct
	{
		const char *name;
		int			months;
		int			days;
		int64		microseconds;
	}			units[] = {{"hour", 0, 0, USECS_PER_HOUR}, {"day", 0, 1, 0}, {"week", 0, 7, 0}, {"month", 1, 0, 0},
	{"quarter", 3, 0, 0}, {"year", 12, 0, 0}};

	for (int i = 0; i < lengthof(units) && IsA(unit, Const) && !((Const *) unit)->constisnull; i++)
	{
		if (pg_strcasecmp(units[i].name, TextDatumGetCString(((Const *) unit)->constvalue)) != 0)
			continue;
		*months = units[i].months;
		*days = units[i].days;
		*microseconds = units[i].microseconds;
		return true;
	}
	return false;
}

/* Narrows the range, of the column's type, by both ends, as far as they are known. */
static void
narrow_ends(DpTimeRange *range, Var *column, Expr *first, Expr *last)
{
	if (first != NULL)
		first = cast_to(first, column->vartype);
	if (last != NULL)
		last = cast_to(last, column->vartype);
	if (first != NULL)
		range->first = range->first ? extreme(list_make2(range->first, first), IS_GREATEST) : first;
	if (last != NULL)
		range->last = range->last ? extreme(list_make2(range->last, last), IS_LEAST) : last;
}

/* Narrows the range by a comparison of date_trunc of the column, which may be cast to a timestamp. */
static bool
narrow_by_unit(DpTimeRange *range, Var *column, Node *condition)
{
	Node	   *left;
	Expr	   *right;
	int			strategy = comparison_with(column, condition, &left, &right);
	FuncExpr   *call = (FuncExpr *) left;
	Node	   *value;
	Expr	   *start;
	Expr	   *before;
	int			months;
	int			days;
	int64		microseconds;

	if (strategy == 0 || !is_call(left, "date_trunc", 2) || !length_of_unit(linitial(call->args), &months, &days, &microseconds))
		return false;
	value = dp_strip_labels(lsecond(call->args));
	if (is_call(value, "timestamptz", 1) || is_call(value, "timestamp", 1))
		value = dp_strip_labels(linitial(((FuncExpr *) value)->args));
	right = cast_to(right, call->funcresulttype);
	if (!equal(value, column) || right == NULL)
		return false;

	/*
	 * the unit that the other side is in, and that before it: what is equal
	 * to its start is in the first of these
	 */
	start = (Expr *) makeFuncExpr(call->funcid, call->funcresulttype, list_make2(linitial(call->args), right),
								  InvalidOid, call->inputcollid, COERCE_EXPLICIT_CALL);
	before = (Expr *) makeFuncExpr(call->funcid, call->funcresulttype, list_make2(linitial(call->args), moved_by(right, 0, 0, -1)),
								   InvalidOid, call->inputcollid, COERCE_EXPLICIT_CALL);
	if (strategy == BTLessStrategyNumber)
		narrow_ends(range, column, NULL, moved_by(moved_by(before, months, days, microseconds), 0, 0, -1));
	if (strategy == BTLessEqualStrategyNumber || strategy == BTEqualStrategyNumber)
		narrow_ends(range, column, NULL, moved_by(moved_by(start, months, days, microseconds), 0, 0, -1));
	if (strategy == BTGreaterEqualStrategyNumber || strategy == BTEqualStrategyNumber)
		narrow_ends(range, column, right, NULL);
	if (strategy == BTGreaterStrategyNumber)
		narrow_ends(range, column, moved_by(start, months, days, microseconds), NULL);
	return true;
}

/* Narrows the range of a date by a comparison that leaves out the other side, also midnight of a timestamp. */
static bool
narrow_strictly(DpTimeRange *range, Var *column, Node *condition)
{
	Node	   *left;
	Expr	   *right;
	int			strategy = comparison_with(column, condition, &left, &right);
	bool		is_date = strategy != 0 && exprType((Node *) right) == DATEOID;

	if (strategy == 0 || column->vartype != DATEOID || !equal(left, column))
		return false;
	if (strategy == BTLessStrategyNumber)
		narrow_ends(range, column, NULL, is_date ? moved_by(right, 0, -1, 0) : moved_by(right, 0, 0, -1));
	else if (strategy == BTGreaterStrategyNumber && is_date)
		narrow_ends(range, column, moved_by(right, 0, 1, 0), NULL);
	else
		return false;
	return true;
}

/* Narrows the range by a comparison of the year of the column, without the day more on either side that others need. */
static bool
narrow_by_year(DpTimeRange *range, Var *column, Node *condition)
{
	DpTimeRange years = {0};
	bool		is_date = column->vartype == DATEOID;

	if (!dp_narrow_to_year(&years, column, condition))
		return false;
	narrow_ends(range, column, years.first ? moved_by(years.first, 0, 1, 0) : NULL,
				years.last ? moved_by(years.last, 0, is_date ? -2 : -1, is_date ? 0 : -1) : NULL);
	return true;
}

bool
dp_narrow_block(DpTimeRange *range, Var *column, Node *condition, const DpRelease *release)
{
	bool		exact;

	if (IsA(condition, BoolExpr) && ((BoolExpr *) condition)->boolop == OR_EXPR)
		return narrow_to_any(range, column, ((BoolExpr *) condition)->args, release);
	if (IsA(condition, ScalarArrayOpExpr))
	{
		List	   *comparisons = comparisons_of((ScalarArrayOpExpr *) condition);

		return comparisons != NIL && narrow_to_any(range, column, comparisons, release);
	}
	if (contain_subplans(condition) || own_param_walker(condition, release))
		return false;
	return narrow_by_unit(range, column, condition) || narrow_strictly(range, column, condition) ||
		narrow_by_year(range, column, condition) || dp_narrow_time(range, column, condition, &exact);
}
