/*-------------------------------------------------------------------------
 *
 * value_bounds.c
 *	  What the bounds of an argument follow from, as far as the policy and the
 *	  text of the query tell them.
 *
 * An expression over columns, as the query has it or, below, in its safe form,
 * becomes a tree of bounds (release/interval.h) that knows nothing of columns
 * but what is declared.
 *
 * Invariant: nothing here depends on rows.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/describe/time_cells.h"
#include "guard/describe/written_limits.h"
#include "guard/facts/facts.h"
#include "guard/facts/lists.h"
#include "guard/read/read.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

/* a column of a subquery is taken for what it is computed from, each time that it is named */
#define MOST_NODES 2000

typedef struct BoundContext
{
	DpLevel    *level;
	int			nodes;
	bool		is_planned;		/* what is known later is of no use */
	bool		is_equal;		/* what a value is equal to is looked at */
	bool		as_declared;	/* where bounds are shown, conditions narrow
								 * none that are declared */
	DpWrittenLimits limits;
} BoundContext;

static DpBound *build(BoundContext *c, Query *query, Node *expr);

/* Tells whether values of a type are numbers, or dates and times, which are taken for days and microseconds. */
static bool
is_measurable(Oid type)
{
	return dp_is_number(type) || type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

/* ------------------------------------------------------------------------
 * Nodes
 * ------------------------------------------------------------------------
 */

static DpBound *
bound_of(BoundContext *c, Node *expr, DpBoundOp op, List *args)
{
	int32		typmod = exprTypmod(expr);
	Oid			type = getBaseTypeAndTypmod(exprType(expr), &typmod);

	c->nodes++;
	return dp_make_bound(op, args, type, typmod);
}

/* Returns the text of an expression of the level, if it is short; of others names are not known here. */
static char *
short_text(BoundContext *c, Query *query, Node *expr)
{
	char	   *text;

	if (query != c->level->from.query)
		return NULL;
	if (IsA(expr, Var) && !rt_fetch(((Var *) expr)->varno, query->rtable)->inFromCl)
		text = pstrdup(dp_column_name(query, (Var *) expr));

	else
		text = dp_expression_text(c->level, expr);
	return strlen(text) <= 60 ? text : NULL;
}

static DpBound *
no_bound(BoundContext *c, Query *query, Node *expr, DpBoundGap gap)
{
	DpBound    *bound = bound_of(c, expr, DP_BOUND_NONE, NIL);

	bound->gap = gap;
	bound->text = short_text(c, query, expr);
	return bound;
}

static DpBound *
constant_bound(BoundContext *c, int32 value)
{
	Const	   *constant = dp_int4_const(value);
	DpBound    *bound = bound_of(c, (Node *) constant, DP_BOUND_VALUE, NIL);

	bound->value = (Expr *) constant;
	return bound;
}

static List *
build_all(BoundContext *c, Query *query, List *exprs)
{
	List	   *bounds = NIL;

	foreach_ptr(Node, expr, exprs)
		bounds = lappend(bounds, build(c, query, expr));
	return bounds;
}

static bool
reads_rows(Node *expr)
{
	return dp_has_nodes(expr, T_Var, T_Aggref, T_GroupingFunc, T_WindowFunc, T_SubLink);
}

/* Makes the bound of what has no columns, evaluated when it is priced, if not here. */
static DpBound *
value_bound(BoundContext *c, Query *query, Node *expr)
{
	DpBound    *bound;

	if (!is_measurable(exprType(expr)) || contain_volatile_functions(expr))
		return no_bound(c, query, expr, DP_GAP_EXPRESSION);
	bound = bound_of(c, expr, DP_BOUND_VALUE, NIL);
	bound->value = dp_is_unfoldable(expr, NULL) ? expression_planner((Expr *) copyObject(expr)) : (Expr *) dp_fold(expr);
	return bound;
}

static Expr *
numeric_constant(Numeric value)
{
	return (Expr *) makeConst(NUMERICOID, -1, InvalidOid, -1, NumericGetDatum(value), false, false);
}

/* ------------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------------
 */

static DpBound *
declared_bound(BoundContext *c, Query *query, Var *var, const DpColumnOrigin *origin)
{
	DpColumn   *policy = dp_policy_bounds(origin->relid, origin->attnum);
	bool		has_times = policy->has_times && getBaseType(policy->keytype) == getBaseType(var->vartype);
	DpBound    *bound;

	if (has_times)
	{
		bound = bound_of(c, (Node *) var, DP_BOUND_DECLARED, NIL);
		bound->lower = numeric_constant(int64_to_numeric(policy->first));
		bound->upper = numeric_constant(int64_to_numeric(policy->last));
		return bound;
	}
	if (!policy->has_bounds)
	{
		bound = no_bound(c, query, (Node *) var, DP_GAP_UNDECLARED);
		bound->declarable = dp_type_has_bounds(var->vartype);
		if (bound->text == NULL)
			bound->text = get_attname(origin->relid, origin->attnum, false);
		return bound;
	}
	bound = bound_of(c, (Node *) var, DP_BOUND_DECLARED, NIL);
	bound->lower = numeric_constant(policy->lower);
	bound->upper = numeric_constant(policy->upper);
	if (policy->has_totals)
	{
		bound->total_lower = numeric_constant(policy->total_lower);
		bound->total_upper = numeric_constant(policy->total_upper);
	}
	return bound;
}

/* A public column: its range is found when the query runs, before it is priced. */
static DpBound *
range_bound(BoundContext *c, Query *query, Var *var)
{
	DpBound    *bound;
	DpKeySet   *range;
	Query	   *values = is_measurable(var->vartype) && !c->is_planned ? dp_key_query_range(c->level, query, var) : NULL;
	List	   *ranges = c->level->release->ranges;

	if (values == NULL)
		return no_bound(c, query, (Node *) var, DP_GAP_EXPRESSION);
	bound = bound_of(c, (Node *) var, DP_BOUND_RANGE, NIL);
	bound->text = short_text(c, query, (Node *) var);
	foreach_ptr(DpKeySet, item, ranges)
	{
		bound->range = foreach_current_index(item);
		if (equal(item->query, values))
			return bound;
	}
	bound->range = list_length(ranges);
	range = dp_make_key_set();
	range->query = values;
	c->level->release->ranges = lappend(ranges, range);
	return bound;
}

/* A column of a UNION ALL: each row has it of one of the operands. */
static DpBound *
operands_bound(BoundContext *c, Query *sub, Var *var)
{
	List	   *bounds = NIL;

	foreach_int(item, dp_operands(sub))
	{
		Query	   *operand = rt_fetch(item, sub->rtable)->subquery;
		TargetEntry *tle = get_tle_by_resno(operand->targetList, var->varattno);

		bounds = lappend(bounds, build(c, operand, (Node *) tle->expr));
	}
	return bound_of(c, (Node *) var, DP_BOUND_HULL, bounds);
}

/* A column of a subquery is what this computes. */
static DpBound *
shown_bound(BoundContext *c, Query *query, Var *var)
{
	Query	   *sub = rt_fetch(var->varno, query->rtable)->subquery;
	TargetEntry *tle;

	if (sub->setOperations)
		return operands_bound(c, sub, var);
	tle = sub->groupingSets ? NULL : get_tle_by_resno(sub->targetList, var->varattno);
	if (tle == NULL)
		return no_bound(c, query, (Node *) var, DP_GAP_EXPRESSION);
	/* an outer join may have no row of it */
	return bound_of(c, (Node *) var, DP_BOUND_HULL, list_make1(build(c, sub, (Node *) tle->expr)));
}

/* Returns a bound that another leaves no wider (op), if that is known soon enough. */
static DpBound *
narrowed(BoundContext *c, Node *expr, DpBoundOp op, DpBound *bound, DpBound *limit)
{
	DpIntervalState state = dp_interval(limit, NULL).state;

	return state == DP_INTERVAL_KNOWN || (state == DP_INTERVAL_LATER && !c->is_planned) ? bound_of(c, expr, op, list_make2(bound, limit)) : bound;
}

static DpBound *
column_bound(BoundContext *c, Query *query, Var *var)
{
	RangeTblEntry *rte;
	DpColumnOrigin origin;
	DpBound    *bound;
	DpBound    *shown;

	if (var->varlevelsup != 0 || var->varattno <= 0)
		return no_bound(c, query, (Node *) var, DP_GAP_EXPRESSION);
	rte = rt_fetch(var->varno, query->rtable);
	if (rte->rtekind == RTE_NAMEDTUPLESTORE)
		return range_bound(c, query, var);
	if (dp_trace_column(query, NULL, (Node *) var, &origin))
	{
		if (origin.is_protected)
		{
			bound = declared_bound(c, query, var, &origin);
			if (rte->rtekind != RTE_SUBQUERY || (c->as_declared && bound->op != DP_BOUND_NONE))
				return bound;
			/* conditions on the way may tell more */
			shown = shown_bound(c, query, var);
			if (bound->op == DP_BOUND_NONE)
				return dp_interval(shown, NULL).state == DP_INTERVAL_NONE ? bound : shown;
			return narrowed(c, (Node *) var, DP_BOUND_MEET, bound, shown);
		}
		if (rte->rtekind == RTE_RELATION)
			return range_bound(c, query, var);
	}
	return rte->rtekind == RTE_SUBQUERY ? shown_bound(c, query, var) : no_bound(c, query, (Node *) var, DP_GAP_EXPRESSION);
}

/* ------------------------------------------------------------------------
 * Expressions
 * ------------------------------------------------------------------------
 */

/* Which bucket: 0 is below the first and n + 1 above the last. */
static DpBound *
bucket_bound(BoundContext *c, Query *query, Node *expr, List *args)
{
	DpBound    *count = build(c, query, lfourth(args));
	DpBound    *most = bound_of(c, expr, DP_BOUND_ADD, list_make2(count, constant_bound(c, 1)));

	return bound_of(c, expr, DP_BOUND_HULL, list_make2(constant_bound(c, 0), most));
}

/* The length of a column of limited length. */
static DpBound *
length_bound(BoundContext *c, Query *query, Node *expr, Node *arg)
{
	Node	   *column = dp_strip_labels(arg);
	Oid			type = exprType(column);

	if ((type != VARCHAROID && type != BPCHAROID) || exprTypmod(column) < (int32) VARHDRSZ)
		return no_bound(c, query, expr, DP_GAP_EXPRESSION);
	return bound_of(c, expr, DP_BOUND_HULL, list_make2(constant_bound(c, 0),
													   constant_bound(c, exprTypmod(column) - VARHDRSZ)));
}

static DpBound *
number_bound(BoundContext *c, const char *text)
{
	Datum		value = DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	Expr	   *constant = numeric_constant(DatumGetNumeric(value));
	DpBound    *bound = bound_of(c, (Node *) constant, DP_BOUND_VALUE, NIL);

	bound->value = constant;
	return bound;
}

/* A field of age(a, b) is years at most: months are of different lengths. */
static DpBound *
age_bound(BoundContext *c, Query *query, Node *expr, List *args)
{
	DpBound    *difference;

	if (list_length(args) != 2)
		return no_bound(c, query, expr, DP_GAP_EXPRESSION);
	difference = dp_make_bound(DP_BOUND_SUBTRACT, build_all(c, query, args), INTERVALOID, -1);
	return bound_of(c, expr, DP_BOUND_AGE, list_make1(difference));
}

/* A field of a date, a time or the difference of two. */
static DpBound *
field_bound(BoundContext *c, Query *query, Node *expr, List *args)
{
	Node	   *source = lsecond(args);
	bool		is_interval = exprType(source) == INTERVALOID;
	int			field = dp_bound_field(linitial(args));
	const DpTimeField *known = dp_time_field(field);
	List	   *of_source;

	if (is_interval && dp_call_kind(source, &of_source) == DP_KIND_age)
		return field == DTK_YEAR ? age_bound(c, query, expr, of_source)
			: no_bound(c, query, expr, DP_GAP_EXPRESSION);
	if (field == DTK_EPOCH)
		return bound_of(c, expr, DP_BOUND_EPOCH, list_make1(build(c, query, source)));
	if (field == DTK_DAY && is_interval)
		return bound_of(c, expr, DP_BOUND_DAYS, list_make1(build(c, query, source)));
	if (field == DTK_YEAR && !is_interval)
		return bound_of(c, expr, DP_BOUND_YEAR, list_make1(build(c, query, source)));
	if (!is_interval && known != NULL && known->lowest != NULL)
		return bound_of(c, expr, DP_BOUND_HULL, list_make2(number_bound(c, known->lowest), number_bound(c, known->highest)));
	return no_bound(c, query, expr, DP_GAP_EXPRESSION);
}

/* Tells whether two timestamps are subtracted, so that the interval has days and microseconds, and no months. */
static bool
is_difference(Node *expr, DpBoundOp op, List *args)
{
	return exprType(expr) == INTERVALOID && op == DP_BOUND_SUBTRACT && exprType(lsecond(args)) != INTERVALOID;
}

static DpBound *
call_bound(BoundContext *c, Query *query, Node *expr)
{
	List	   *args;
	DpFunctionKind kind = dp_call_kind(expr, &args);
	const DpFunctionFacts *facts = dp_function_facts(kind);
	DpBoundOp	op = facts->bound;
	Node	   *sum = dp_sum_of_null_tests(expr);
	DpBound    *bound;

	if (sum != NULL)
		return build(c, query, sum);
	if (kind == DP_KIND_extract || kind == DP_KIND_date_part)
		return field_bound(c, query, expr, args);
	if (kind == DP_KIND_width_bucket)
		return bucket_bound(c, query, expr, args);
	if (kind == DP_KIND_length)
		return length_bound(c, query, expr, linitial(args));
	/* the zone is the first argument */
	if (kind == DP_KIND_timezone)
		return bound_of(c, expr, DP_BOUND_TIME, list_make1(build(c, query, lsecond(args))));
	if (facts->lowest != NULL)
		return bound_of(c, expr, DP_BOUND_HULL, list_make2(number_bound(c, facts->lowest), number_bound(c, facts->highest)));
	if (facts->factor != NULL)
		return bound_of(c, expr, DP_BOUND_MULTIPLY, list_make2(build(c, query, linitial(args)), number_bound(c, facts->factor)));
	if (op == DP_BOUND_NONE || !(is_measurable(exprType(expr)) || is_difference(expr, op, args)))
		return no_bound(c, query, expr, DP_GAP_EXPRESSION);
	foreach_ptr(Node, arg, args)
	{
		if (!is_measurable(exprType(arg)))
			return no_bound(c, query, expr, DP_GAP_EXPRESSION);
	}
	/* a cast's other arguments are its type's */
	if (op == DP_BOUND_SAME || op == DP_BOUND_TIME)
		args = list_make1(linitial(args));
	bound = bound_of(c, expr, op, build_all(c, query, args));
	if (op == DP_BOUND_DIVIDE)
	{
		bound->gap = DP_GAP_DENOMINATOR;
		bound->text = short_text(c, query, lsecond(args));
	}
	else if (op == DP_BOUND_POWER || op == DP_BOUND_ROUND || op == DP_BOUND_TRUNC)
	{
		bound->gap = DP_GAP_EXPRESSION;
		bound->text = short_text(c, query, expr);
	}
	return bound;
}

static DpWalk
is_unknown(Node *node, int levels, void *context)
{
	if (IsA(node, List) || dp_has_columns(node))
		return DP_WALK_ON;
	return dp_is_value(node) ? DP_WALK_PAST : DP_WALK_STOP;
}

/*
 * Has what follows WHEN limit that its condition is not true.  Where it is NULL for a value, so is the value: it is
 * compared with constants that are known, and not NULL.
 */
static void
hold_negation(BoundContext *c, Query *query, CaseExpr *cases, CaseWhen *when)
{
	Node	   *condition = (Node *) when->expr;

	if (cases->arg == NULL && !dp_walk(condition, is_unknown, NULL) && !contain_mutable_functions(condition) && !checkExprHasSubLink(condition))
		(void) dp_hold_condition(&c->limits, query, dp_normal_form((Node *) make_notclause(copyObject(when->expr))));
}

static DpBound *
case_bound(BoundContext *c, Query *query, CaseExpr *cases)
{
	List	   *results = NIL;
	List	   *before = dp_held_conditions(&c->limits, query);

	foreach_node(CaseWhen, when, cases->args)
	{
		List	   *former = dp_hold_condition(&c->limits, query, (Node *) when->expr);

		results = lappend(results, build(c, query, (Node *) when->result));
		dp_restore_conditions(&c->limits, query, former);
		hold_negation(c, query, cases, when);
	}
	if (cases->defresult != NULL)
		results = lappend(results, build(c, query, (Node *) cases->defresult));
	dp_restore_conditions(&c->limits, query, before);
	return bound_of(c, (Node *) cases, DP_BOUND_HULL, results);
}

static DpBound *
nullif_bound(BoundContext *c, Query *query, NullIfExpr *expr)
{
	DpBound    *value = build(c, query, linitial(expr->args));

	/* of what is in the same bounds, but may be NULL */
	if (reads_rows(lsecond(expr->args)) || !dp_is_number(exprType(lsecond(expr->args))))
		return bound_of(c, (Node *) expr, DP_BOUND_HULL, list_make1(value));
	return bound_of(c, (Node *) expr, DP_BOUND_NULLIF, list_make2(value, build(c, query, lsecond(expr->args))));
}

/*
 * An aggregate of the rows of one unit, node, by PostgreSQL's own function or one that runs in its place;
 * args: Exprs.
 */
static DpBound *
aggregate_bound(BoundContext *c, Query *query, Node *node, Oid aggfnoid, List *args)
{
	char	   *name = get_func_name(aggfnoid);
	DpBound    *arg;

	if (name == NULL || (aggfnoid >= FirstGenbkiObjectId && strncmp(name, "unit_", 5) != 0))
		return no_bound(c, query, node, DP_GAP_EXPRESSION);
	if (strncmp(name, "unit_", 5) == 0)
		name += 5;
	if (strcmp(name, "count") == 0)
		return bound_of(c, node, DP_BOUND_ROWS, NIL);
	if (list_length(args) != 1 || !is_measurable(exprType(node)) || !is_measurable(exprType(linitial(args))))
		return no_bound(c, query, node, DP_GAP_EXPRESSION);
	arg = build(c, query, linitial(args));
	if (strcmp(name, "sum") == 0)
		return bound_of(c, node, DP_BOUND_TOTAL, list_make1(arg));
	if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
		return bound_of(c, node, DP_BOUND_HULL, list_make1(arg));
	if (strcmp(name, "avg") == 0)
		return bound_of(c, node, DP_BOUND_MEAN, list_make1(arg));
	arg = bound_of(c, node, DP_BOUND_SPREAD, list_make1(arg));
	if (strncmp(name, "stddev", 6) == 0)
		return arg;
	if (strncmp(name, "var", 3) == 0)
		return bound_of(c, node, DP_BOUND_MULTIPLY, list_make2(arg, copyObject(arg)));
	return no_bound(c, query, node, DP_GAP_EXPRESSION);
}

/* A function of a window of one unit's rows: ranks are among these, and values are those of some row. */
static DpBound *
window_bound(BoundContext *c, Query *query, WindowFunc *function)
{
	Node	   *node = (Node *) function;

	if (function->winagg)
		return aggregate_bound(c, query, node, function->winfnoid, function->args);
	switch (function->winfnoid)
	{
		case F_ROW_NUMBER:
		case F_RANK_:
		case F_DENSE_RANK_:
			return bound_of(c, node, DP_BOUND_ROWS, NIL);
		case F_PERCENT_RANK_:
		case F_CUME_DIST_:
			return bound_of(c, node, DP_BOUND_HULL, list_make2(constant_bound(c, 0), constant_bound(c, 1)));
		case F_NTILE:
			return bound_of(c, node, DP_BOUND_HULL, list_make2(constant_bound(c, 1), build(c, query, linitial(function->args))));
		case F_LAG_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE:
		case F_LEAD_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE:
			return bound_of(c, node, DP_BOUND_HULL, list_make2(build(c, query, linitial(function->args)),
															   build(c, query, lthird(function->args))));
		case F_LAG_ANYELEMENT:
		case F_LAG_ANYELEMENT_INT4:
		case F_LEAD_ANYELEMENT:
		case F_LEAD_ANYELEMENT_INT4:
		case F_FIRST_VALUE:
		case F_LAST_VALUE:
		case F_NTH_VALUE:
			return bound_of(c, node, DP_BOUND_HULL, list_make1(build(c, query, linitial(function->args))));
		default:
			return no_bound(c, query, node, DP_GAP_EXPRESSION);
	}
}

/* Returns the bound of an expression with columns, as its parts tell it. */
static DpBound *
build_unlimited(BoundContext *c, Query *query, Node *expr)
{
	switch (nodeTag(expr))
	{
		case T_Var:
			return column_bound(c, query, (Var *) expr);
		case T_RelabelType:
			return build(c, query, (Node *) ((RelabelType *) expr)->arg);
		case T_FuncExpr:
		case T_OpExpr:
			return call_bound(c, query, expr);
		case T_CaseExpr:
			return case_bound(c, query, (CaseExpr *) expr);
		case T_CoalesceExpr:
			return bound_of(c, expr, DP_BOUND_HULL, build_all(c, query, ((CoalesceExpr *) expr)->args));
		case T_MinMaxExpr:
			return bound_of(c, expr, ((MinMaxExpr *) expr)->op == IS_LEAST ? DP_BOUND_LEAST : DP_BOUND_GREATEST,
							build_all(c, query, ((MinMaxExpr *) expr)->args));
		case T_NullIfExpr:
			return nullif_bound(c, query, (NullIfExpr *) expr);
		case T_Aggref:
			return aggregate_bound(c, query, expr, ((Aggref *) expr)->aggfnoid, get_tlist_exprs(((Aggref *) expr)->args, true));
		case T_WindowFunc:
			{
				/* of other rows a CASE around it says nothing */
				List	   *held = dp_hold_none(&c->limits, query);
				DpBound    *bound = window_bound(c, query, (WindowFunc *) expr);

				dp_restore_conditions(&c->limits, query, held);
				return bound;
			}
		default:
			return no_bound(c, query, expr, DP_GAP_EXPRESSION);
	}
}

/* ------------------------------------------------------------------------
 * Conditions
 * ------------------------------------------------------------------------
 */

/* Returns the bound of what conditions of the level say that a value is equal to, as a column that it is joined on; NULL: there is none. */
static DpBound *
bound_of_equal(BoundContext *c, Query *query, Node *expr)
{
	foreach_ptr(Node, condition, c->is_equal || query != c->level->from.query ? NIL : c->level->conditions)
	{
		Node	   *left;
		Node	   *right;
		DpBound    *bound;

		if (!dp_is_equality(condition, &left, &right) || equal(left, expr) == equal(right, expr))
			continue;
		c->is_equal = true;
		bound = build(c, query, equal(left, expr) ? right : left);
		c->is_equal = false;
		if (dp_interval(bound, NULL).state != DP_INTERVAL_NONE)
			return bound;
	}
	return NULL;
}

/* Returns a bound as conditions of the query narrow it; where it tells nothing, what they hold the expression within. */
static DpBound *
met_with_written(BoundContext *c, Query *query, Node *expr, DpBound *bound)
{
	Expr	   *least;
	Expr	   *most;

	if (!is_measurable(getBaseType(exprType(expr))))
		return bound;
	dp_find_written_limits(&c->limits, query, expr, &least, &most);
	if (dp_interval(bound, NULL).state != DP_INTERVAL_NONE)
	{
		if (c->as_declared || (least == NULL && most == NULL))
			return bound;
		if (least != NULL)
			bound = narrowed(c, expr, DP_BOUND_AT_LEAST, bound, value_bound(c, query, (Node *) least));
		return most == NULL ? bound : narrowed(c, expr, DP_BOUND_AT_MOST, bound, value_bound(c, query, (Node *) most));
	}
	if (least == NULL || most == NULL)
	{
		DpBound    *equal = bound_of_equal(c, query, dp_strip_labels(expr));

		return equal ? equal : bound;
	}
	return bound_of(c, expr, DP_BOUND_WITHIN, list_make2(value_bound(c, query, (Node *) least), value_bound(c, query, (Node *) most)));
}

static DpBound *
build(BoundContext *c, Query *query, Node *expr)
{
	check_stack_depth();
	if (c->nodes > MOST_NODES)
		return no_bound(c, query, expr, DP_GAP_EXPRESSION);
	if (!reads_rows(expr))
		return value_bound(c, query, expr);
	return met_with_written(c, query, expr, build_unlimited(c, query, expr));
}

DpBound *
dp_bound_of_value(DpLevel *level, Node *value, Node *filter, bool as_declared)
{
	BoundContext c = {level, .as_declared = as_declared, .limits = {level, filter}};
	DpBound    *bound = build(&c, level->from.query, value);

	/* others are written as dates or times */
	return dp_is_number(getBaseType(exprType(value))) || bound->op == DP_BOUND_NONE ? bound
		: no_bound(&c, level->from.query, value, DP_GAP_EXPRESSION);
}

DpInterval
dp_planned_interval(DpLevel *level, Node *value)
{
	BoundContext c = {level, .is_planned = true, .limits = {level}};

	return dp_interval(build(&c, level->from.query, value), NULL);
}
