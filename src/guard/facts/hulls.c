/*-------------------------------------------------------------------------
 *
 * hulls.c
 *	  Between which two values conditions hold an expression.
 *
 * Ends are expressions without columns.
 *
 * Invariant: in each row for which all conditions are true, the value is one between the ends,
 * or equal to one of them.
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
#include "guard/facts/facts.h"
#include "guard/vet/allow.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "parser/parse_coerce.h"
#include "policy/policy.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

/* numbers with more digits behind the point are let alone */
#define MOST_DIGITS 100

typedef struct Hull
{
	Expr	   *first;
	Expr	   *last;
} Hull;

/* Returns how many digits values of an expression have behind the point at most; negative: that is not known. */
static int
scale_of(Node *expr)
{
	int32		typmod = exprTypmod(expr);

	switch (getBaseType(exprType(expr)))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return 0;
		case NUMERICOID:
			return typmod >= (int32) VARHDRSZ && dp_numeric_scale(typmod) <= MOST_DIGITS ? dp_numeric_scale(typmod) : -1;
		default:
			return -1;
	}
}

static Expr *
numeric_call(Oid function, Expr *a, Expr *b)
{
	return (Expr *) makeFuncExpr(function, NUMERICOID, b ? list_make2(a, b) : list_make1(a), InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/* Returns 10 to a power as a constant. */
static Expr *
power_of_ten(int power)
{
	char	   *text = psprintf("1e%d", power);
	Datum		value = DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));

	return (Expr *) makeConst(NUMERICOID, -1, InvalidOid, -1, value, false, false);
}

/* Returns the value next to one, above or below it, that target may have; itself, where there is none. */
static Expr *
next_to(Expr *value, Node *target, bool above)
{
	Oid			type = getBaseType(exprType(target));
	int			scale = exprType((Node *) value) == NUMERICOID ? scale_of(target) : -1;
	Expr	   *scaled;

	if (type == DATEOID)
		return dp_moved_by(value, 0, above ? 1 : -1, 0);
	if (dp_type_is_time(type))
		return dp_moved_by(value, 0, 0, above ? 1 : -1);
	if (scale < 0)
		return value;
	scaled = scale == 0 ? value : numeric_call(F_NUMERIC_MUL, value, power_of_ten(scale));
	scaled = numeric_call(above ? F_FLOOR_NUMERIC : F_CEIL_NUMERIC, scaled, NULL);
	scaled = numeric_call(above ? F_NUMERIC_ADD : F_NUMERIC_SUB, scaled, power_of_ten(0));
	return dp_as_known(scale == 0 ? scaled : numeric_call(F_NUMERIC_MUL, scaled, power_of_ten(-scale)));
}

static bool
is_null(Expr *expr)
{
	return IsA(expr, Const) && ((Const *) expr)->constisnull;
}

/* Finds the ends that one constant of a comparison sets; returns false: it sets none, or one beyond all moments. */
static bool
get_ends(const DpCellTest *test, Expr *constant, Node *target, Hull *ends)
{
	/* those of all types are written as comparisons of numbers */
	int			strategy = dp_strategy_of(test->opno, INT4OID);
	bool		is_exact;
	DpPreimage	p;

	ends->first = ends->last = NULL;
	if (strategy == 0 || !dp_find_preimage(test, (Node *) constant, target, &p))
		return false;
	is_exact = p.spread == DP_SPREAD_NONE;
	if (!is_exact && dp_type_is_time(getBaseType(exprType(target))))
	{
		int			days = p.spread == DP_SPREAD_CLOCK ? DP_DAYS_OF_CLOCK : DP_DAYS_OF_MONTH;

		p.first = dp_moved_by(p.first, 0, -days, 0);
		p.last = dp_moved_by(p.last, 0, days, 0);
	}
	/* of < and <= a falling expression makes > and >= */
	if (p.falls)
		strategy = BTGreaterStrategyNumber + BTLessStrategyNumber - strategy;
	if (strategy == BTEqualStrategyNumber || strategy == BTGreaterEqualStrategyNumber)
		ends->first = p.first;
	else if (strategy == BTGreaterStrategyNumber)
		ends->first = is_exact ? next_to(p.last, target, true) : p.first;
	if (strategy == BTEqualStrategyNumber || strategy == BTLessEqualStrategyNumber)
		ends->last = p.last;
	else if (strategy == BTLessStrategyNumber)
		ends->last = is_exact ? next_to(p.first, target, false) : p.last;
	return is_null(constant) || !((ends->first && is_null(ends->first)) || (ends->last && is_null(ends->last)));
}

static Hull
hull_of_test(const DpCellTest *test, Node *target)
{
	Hull		hull = {NULL, NULL};
	List	   *first = NIL;
	List	   *last = NIL;

	foreach_ptr(Expr, constant, test->constants)
	{
		Hull		ends;

		if (!get_ends(test, constant, target, &ends))
			return hull;
		if (ends.first != NULL)
			first = lappend(first, ends.first);
		if (ends.last != NULL)
			last = lappend(last, ends.last);
	}
	hull.first = dp_extreme(first, IS_LEAST);
	hull.last = dp_extreme(last, IS_GREATEST);
	return hull;
}

/* Returns the hull of conditions of which all are true, or one. */
static Hull
hull_of_all(List *conditions, bool is_or, Node *target)
{
	Hull		hull = {NULL, NULL};
	List	   *first = NIL;
	List	   *last = NIL;

	check_stack_depth();
	foreach_ptr(DpCondition, condition, conditions)
	{
		Hull		one = condition->args != NIL ? hull_of_all(condition->args, condition->is_or, target)
		: hull_of_test(&condition->test, target);

		if (one.first != NULL)
			first = lappend(first, one.first);
		if (one.last != NULL)
			last = lappend(last, one.last);
	}
	if (!is_or || list_length(first) == list_length(conditions))
		hull.first = dp_extreme(first, is_or ? IS_LEAST : IS_GREATEST);
	if (!is_or || list_length(last) == list_length(conditions))
		hull.last = dp_extreme(last, is_or ? IS_GREATEST : IS_LEAST);
	return hull;
}

void
dp_find_hull(List *conditions, Node *target, Expr **first, Expr **last)
{
	Hull		hull = hull_of_all(conditions, false, target);

	*first = hull.first;
	*last = hull.last;
}

/* ------------------------------------------------------------------------
 * Consequences for one value
 * ------------------------------------------------------------------------
 */

/* Returns that target is, by strategy, beside an end; NULL: there is no end, or no such operator. */
static Node *
beside_end(Node *target, int strategy, Expr *end)
{
	Oid			type = end ? exprType((Node *) end) : InvalidOid;
	Node	   *value = end ? coerce_to_target_type(NULL, (Node *) copyObject(target), exprType(target), type, -1,
													COERCION_EXPLICIT, COERCE_IMPLICIT_CAST, -1) : NULL;

	return value ? (Node *) dp_make_ordering(strategy, (Expr *) value, copyObject(end), InvalidOid) : NULL;
}

static Node *
within_ends(DpCondition *comparison, void *target)
{
	Expr	   *first;
	Expr	   *last;
	Node	   *above;
	Node	   *below;

	dp_find_hull(list_make1(comparison), target, &first, &last);
	above = beside_end(target, BTGreaterEqualStrategyNumber, first);
	below = beside_end(target, BTLessEqualStrategyNumber, last);
	return above && below ? (Node *) make_andclause(list_make2(above, below)) : above ? above : below;
}

Node *
dp_limits_on(DpCondition *condition, Node *target)
{
	return dp_follows_from(condition, within_ends, target);
}

/* ------------------------------------------------------------------------
 * Ranges of integers and days
 * ------------------------------------------------------------------------
 */

static bool
is_int8(Datum number)
{
	return DatumGetBool(DirectFunctionCall2(numeric_ge, number, NumericGetDatum(int64_to_numeric(PG_INT64_MIN)))) &&
		DatumGetBool(DirectFunctionCall2(numeric_le, number, NumericGetDatum(int64_to_numeric(PG_INT64_MAX))));
}

/* Returns the integer or day that an end of a range is, or which it is before or after; false: that is not known. */
static bool
get_end(Expr *end, bool is_first, int64 *value)
{
	Const	   *constant = (Const *) end;
	Datum		whole;

	if (constant == NULL || !IsA(constant, Const) || constant->constisnull)
		return false;
	if (constant->consttype == DATEOID)
	{
		*value = DatumGetDateADT(constant->constvalue);
		return true;
	}
	if (constant->consttype != NUMERICOID)
		return false;
	whole = DirectFunctionCall1(is_first ? numeric_ceil : numeric_floor, constant->constvalue);
	if (!is_int8(whole))
		return false;
	*value = DatumGetInt64(DirectFunctionCall1(numeric_int8, whole));
	return true;
}

bool
dp_find_range(List *conditions, Node *value, int64 *first, int64 *last)
{
	Expr	   *least;
	Expr	   *most;

	dp_find_hull(dp_limits_of_conditions(conditions), value, &least, &most);
	return (first == NULL || get_end(least, true, first)) && get_end(most, false, last);
}
