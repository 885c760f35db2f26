/*-------------------------------------------------------------------------
 *
 * time_ranges.c
 *	  Between which moments a date or timestamp is in rows that satisfy the
 *	  conditions of a query.
 *
 * Ends are expressions of the column's type over literals, parameters and the clock,
 * cast as PostgreSQL does where types are compared.
 *
 * Invariant: a range contains all moments for which its conditions may hold;
 * where it says exact, they hold for all of it.
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
#include "guard/describe/describe.h"
#include "guard/describe/time_cells.h"
#include "guard/describe/time_ranges.h"
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

/* ------------------------------------------------------------------------
 * Expressions
 * ------------------------------------------------------------------------
 */

static Expr *
cast_to(Expr *value, Oid type)
{
	if (exprType((Node *) value) == type)
		return value;
	return (Expr *) coerce_to_target_type(NULL, (Node *) value, exprType((Node *) value), type, -1,
										  COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);
}

/* Returns a time that is moved by some microseconds and days; a date, by days. */
static Expr *
moved_by(Expr *value, int64 microseconds, int days)
{
	Oid			type = exprType((Node *) value);
	Interval   *interval = palloc0(sizeof(Interval));

	if (type == DATEOID)
		return (Expr *) makeFuncExpr(F_DATE_PLI, DATEOID,
									 list_make2(value, makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(days),
																 false, true)),
									 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	interval->time = microseconds;
	interval->day = days;
	return (Expr *) makeFuncExpr(type == TIMESTAMPOID ? F_TIMESTAMP_PL_INTERVAL : F_TIMESTAMPTZ_PL_INTERVAL, type,
								 list_make2(value, makeConst(INTERVALOID, -1, InvalidOid, sizeof(Interval),
															 IntervalPGetDatum(interval), false, false)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static Expr *
extreme(Expr *a, Expr *b, MinMaxOp op)
{
	MinMaxExpr *both;

	if (a == NULL)
		return b;
	both = makeNode(MinMaxExpr);
	both->minmaxtype = exprType((Node *) b);
	both->op = op;
	both->args = list_make2(a, b);
	both->location = -1;
	return (Expr *) both;
}

static bool
any_var_walker(Node *node, void *context)
{
	return node != NULL && (IsA(node, Var) || expression_tree_walker(node, any_var_walker, context));
}

bool
dp_reads_column(Node *node, Var *column)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return equal(node, column);
	return expression_tree_walker(node, dp_reads_column, column);
}

/* ------------------------------------------------------------------------
 * Ranges
 * ------------------------------------------------------------------------
 */

/* Turns a comparison of times so that what reads the column is on its left; returns its strategy, 0: it is none. */
static int
comparison_with(Node *condition, Var *column, Node **left, Expr **right)
{
	OpExpr	   *op = (OpExpr *) condition;
	Oid			opno;
	Oid			opfamily;

	if (!IsA(condition, OpExpr) || list_length(op->args) != 2)
		return 0;
	opno = op->opno;
	*left = linitial(op->args);
	*right = lsecond(op->args);
	if (any_var_walker((Node *) *right, NULL))
	{
		*left = lsecond(op->args);
		*right = linitial(op->args);
		opno = get_commutator(opno);
	}
	if (!OidIsValid(opno) || any_var_walker((Node *) *right, NULL) || !dp_reads_column(*left, column) ||
		contain_volatile_functions((Node *) *right))
		return 0;
	*left = dp_strip_labels(*left);
	opfamily = lookup_type_cache(exprType(*left), TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	return get_op_opfamily_strategy(opno, opfamily);
}

bool
dp_is_time_expr(Expr *value)
{
	Oid			type = exprType((Node *) value);

	return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

/* Tells how long one unit of date_trunc is at most, in days. */
static int
days_of_unit(Node *trunc)
{
	static const struct
	{
		const char *name;
		int			days;
	}			units[] = {{"second", 1}, {"minute", 1}, {"hour", 1}, {"day", 2}, {"week", 8}, {"month", 32},
	{"quarter", 93}, {"year", 367}};
	Const	   *field = linitial(((FuncExpr *) trunc)->args);

	if (!IsA(field, Const) || field->constisnull)
		return 0;
	for (int i = 0; i < lengthof(units); i++)
		if (pg_strcasecmp(units[i].name, TextDatumGetCString(field->constvalue)) == 0)
			return units[i].days;
	return 0;
}

/* Narrows the range by a comparison; *exact: the condition holds for just the range. */
bool
dp_narrow_time(DpTimeRange *range, Var *column, Node *condition, bool *exact)
{
	Node	   *left;
	Expr	   *right;
	int			strategy = comparison_with(condition, column, &left, &right);
	bool		low = strategy == BTGreaterEqualStrategyNumber || strategy == BTGreaterStrategyNumber ||
	strategy == BTEqualStrategyNumber;
	bool		high = strategy == BTLessEqualStrategyNumber || strategy == BTLessStrategyNumber ||
	strategy == BTEqualStrategyNumber;
	const char *name;
	Expr	   *first;
	Expr	   *last;

	if (strategy == 0 || !dp_is_time_expr(right))
		return false;
	name = IsA(left, FuncExpr) ? dp_builtin_name((FuncExpr *) left) : NULL;
	if (equal(left, column))
	{
		first = last = cast_to(right, column->vartype);
		if (first == NULL)
			return false;
		/* a date has no value next to it that is closer than a day */
		if (strategy == BTGreaterStrategyNumber && column->vartype != DATEOID)
			first = moved_by(first, 1, 0);
		if (strategy == BTLessStrategyNumber && column->vartype != DATEOID)
			last = moved_by(last, -1, 0);
		*exact = true;
	}
	else if (name != NULL && strcmp(name, "date") == 0 && equal(dp_strip_labels(linitial(((FuncExpr *) left)->args)), column))
	{
		Expr	   *day = cast_to(right, DATEOID);

		/*
		 * one day more on either side where what it is compared with is no
		 * date
		 */
		*exact = exprType((Node *) right) == DATEOID;
		first = cast_to(*exact && strategy == BTGreaterStrategyNumber ? moved_by(day, 0, 1) : day, column->vartype);
		last = moved_by(cast_to(*exact && strategy == BTLessStrategyNumber ? day : moved_by(day, 0, 1), column->vartype), -1, 0);
	}
	else if (name != NULL && strcmp(name, "date_trunc") == 0 && days_of_unit(left) > 0 &&
			 equal(dp_strip_labels(lsecond(((FuncExpr *) left)->args)), column))
	{
		first = cast_to(right, column->vartype);
		last = first ? moved_by(first, 0, days_of_unit(left)) : NULL;
		*exact = false;
	}
	else
		return false;
	if (low)
		range->first = extreme(range->first, first, IS_GREATEST);
	if (high)
		range->last = extreme(range->last, last, IS_LEAST);
	return low || high;
}

/* Finds a year that extract is compared with: a range of a day more on either side. */
bool
dp_narrow_to_year(DpTimeRange *range, Var *column, Node *condition)
{
	Node	   *left;
	Expr	   *right;
	int			strategy = comparison_with(condition, column, &left, &right);
	const char *name = strategy && IsA(left, FuncExpr) ? dp_builtin_name((FuncExpr *) left) : NULL;
	Const	   *field;
	Const	   *number;
	char	   *digits;
	Oid			output;
	bool		varlena;
	long		year;
	Expr	   *first;
	Expr	   *last;

	if (name == NULL || (strcmp(name, "extract") != 0 && strcmp(name, "date_part") != 0) ||
		dp_is_unfoldable((Node *) right, NULL))
		return false;
	field = linitial(((FuncExpr *) left)->args);
	number = dp_fold((Node *) right);
	if (!IsA(field, Const) || number->constisnull || pg_strcasecmp(TextDatumGetCString(field->constvalue), "year") != 0 ||
		!equal(dp_strip_labels(lsecond(((FuncExpr *) left)->args)), column))
		return false;
	getTypeOutputInfo(number->consttype, &output, &varlena);
	digits = OidOutputFunctionCall(output, number->constvalue);
	year = strtol(digits, &digits, 10);
	if (*digits != '\0' || year < 1 || year > 9998)
		return false;
	first = cast_to((Expr *) dp_time_const(DATEOID, date2j(year, 1, 1) - POSTGRES_EPOCH_JDATE - 1), column->vartype);
	last = cast_to((Expr *) dp_time_const(DATEOID, date2j(year + 1, 1, 1) - POSTGRES_EPOCH_JDATE + 1), column->vartype);
	if (strategy != BTLessEqualStrategyNumber && strategy != BTLessStrategyNumber)
		range->first = extreme(range->first, first, IS_GREATEST);
	if (strategy != BTGreaterEqualStrategyNumber && strategy != BTGreaterStrategyNumber)
		range->last = extreme(range->last, last, IS_LEAST);
	return true;
}

/* Sets the ends that conditions leave open to what the owner has declared. */
void
dp_use_declared_range(DpShadow *s, Var *column, DpTimeRange *range)
{
	Var		   *var = dp_shadow_level_var(s, column);
	Const	   *first;
	Const	   *last;

	range->from_conditions = range->first != NULL || range->last != NULL;
	if ((range->first != NULL && range->last != NULL) || var == NULL ||
		!dp_find_time_bounds(s->level, (Node *) var, &first, &last))
		return;
	if (range->first == NULL)
		range->first = (Expr *) first;
	if (range->last == NULL)
		range->last = (Expr *) last;
}

/* ------------------------------------------------------------------------
 * Ranges of what is equal to a bucket
 * ------------------------------------------------------------------------
 */

typedef struct Replacement
{
	Var		   *column;
	Expr	   *by;
} Replacement;

static Node *
replace_column(Node *node, Replacement *r)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && equal(node, r->column))
		return copyObject((Node *) r->by);
	return expression_tree_mutator(node, replace_column, r);
}

/* Adds the condition that a member of a class is, by strategy, within what bucket makes of an end of the column's range. */
static void
bound_member(DpShadow *s, Node *member, Node *bucket, Var *column, Expr *end, int strategy)
{
	Oid			type = exprType(member);
	Oid			opno = get_opfamily_member(lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf, type, type, strategy);
	Replacement r = {column, end};
	OpExpr	   *op;

	if (!OidIsValid(opno))
		return;
	op = (OpExpr *) make_opclause(opno, BOOLOID, false, copyObject((Expr *) member),
								  (Expr *) replace_column(bucket, &r), InvalidOid, InvalidOid);
	set_opfuncid(op);
	dp_shadow_add_condition(s, (Node *) op);
}

/* Returns the column that a member of a class is the day, or another unit, of; NULL: it is no such. */
static Var *
column_of_bucket(DpShadow *s, Node *member)
{
	const char *name = IsA(member, FuncExpr) ? dp_builtin_name((FuncExpr *) member) : NULL;
	Node	   *arg;

	if (name == NULL || (strcmp(name, "date") != 0 && strcmp(name, "date_trunc") != 0) || !dp_is_time_expr((Expr *) member))
		return NULL;
	arg = strcmp(name, "date") == 0 ? linitial(((FuncExpr *) member)->args) : lsecond(((FuncExpr *) member)->args);
	arg = dp_strip_labels(arg);
	return IsA(arg, Var) && dp_is_time_expr((Expr *) arg) && dp_shadow_item(s, ((Var *) arg)->varno)->is_private ? (Var *) arg : NULL;
}

void
dp_shadow_bound_buckets(DpShadow *s)
{
	List	   *conditions = list_copy(s->conditions);
	ListCell   *lc,
			   *bucket,
			   *member;

	foreach(lc, s->classes)
	{
		DpShadowClass *class = lfirst(lc);

		foreach(bucket, class->members)
		{
			Var		   *column = column_of_bucket(s, lfirst(bucket));
			DpTimeRange range = {0};
			bool		exact;
			ListCell   *c;

			foreach(c, column ? conditions : NIL)
			{
				DpShadowCondition *condition = lfirst(c);

				if (bms_is_empty(condition->joins))
					(void) dp_narrow_time(&range, column, condition->expr, &exact);
			}
			foreach(member, class->members)
			{
				if (!IsA(lfirst(member), Var) || dp_shadow_item(s, ((Var *) lfirst(member))->varno)->is_private)
					continue;
				if (range.first != NULL)
					bound_member(s, lfirst(member), lfirst(bucket), column, range.first, BTGreaterEqualStrategyNumber);
				if (range.last != NULL)
					bound_member(s, lfirst(member), lfirst(bucket), column, range.last, BTLessEqualStrategyNumber);
			}
		}
	}
}
