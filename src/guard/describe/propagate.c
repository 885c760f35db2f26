/*-------------------------------------------------------------------------
 *
 * propagate.c
 *	  The error of an answer, beside it: of private aggregates, and of expressions
 *	  of several.
 *
 * Aggregates have independent noise, so that an expression f of aggregates
 * a_1, a_2, ... has to first order the variance
 *
 *	 sum over i of (df/da_i)^2 stddev(a_i)^2,
 *
 * the derivatives being taken at the released values (the delta method).  Sums
 * and differences are exact; products and ratios are good as long as the
 * noise is small against the values, and where that is not so (a denominator
 * near 0) the error is large or NULL.  It is post-processing, and free.
 *
 * dp_noise_stddev, dp_margin and the like stand around a private aggregate, or
 * an expression of several, and are free: the noise of a count or a sum depends
 * on nothing private, and that of other answers is computed from the noisy
 * values that were released.  dp_margin is put into the form
 * of a multiple of dp_error_stddev, and this becomes a column of the release.
 * A mistake in them is found before anything is paid for, as long as a
 * confidence is known to the planner.
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
#include "catalog/pg_type.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/vet/allow.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/fmgroids.h"

/* ------------------------------------------------------------------------
 * Arithmetic in double precision, NULL where it is undefined
 * ------------------------------------------------------------------------
 */

static Node *
calculate(const char *function, Node *a, Node *b)
{
	Oid			types[] = {FLOAT8OID, FLOAT8OID};

	return (Node *) makeFuncExpr(dp_own_function(function, 2, types, FLOAT8OID), FLOAT8OID,
								 list_make2(a, b), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static Node *
as_double(Node *expr)
{
	Node	   *result = coerce_to_target_type(NULL, copyObject(expr), exprType(expr), FLOAT8OID, -1,
											   COERCION_EXPLICIT, COERCE_EXPLICIT_CAST, -1);

	if (result == NULL)
		elog(ERROR, "type %u cannot be cast to double precision", exprType(expr));
	return result;
}

/* Adds two numbers; NULL stands for 0. */
static Node *
add(Node *a, Node *b)
{
	return a == NULL ? b : b == NULL ? a : calculate("try_add", a, b);
}

static Node *
times(Node *derivative, Node *factor)
{
	return derivative ? calculate("try_multiply", derivative, factor) : NULL;
}

static Node *
negative(Node *derivative)
{
	return derivative ? calculate("try_multiply", derivative, (Node *) dp_float8_const(-1)) : NULL;
}

static Node *
square(Node *a)
{
	return calculate("try_multiply", a, copyObject(a));
}

/* ------------------------------------------------------------------------
 * Derivatives
 * ------------------------------------------------------------------------
 */

/* Returns which arithmetic of numbers, *a and *b or *a alone, an expression is; DP_KIND_NONE: it is none. */
static DpFunctionKind
arithmetic_of(Node *expr, Node **a, Node **b)
{
	List	   *args = NIL;
	DpFunctionKind kind = IsA(expr, OpExpr) ? dp_call_kind(expr, &args) : DP_KIND_NONE;

	foreach_ptr(Node, arg, args)
	{
		if (!dp_is_number(exprType(arg)))
			return DP_KIND_NONE;
	}
	*a = args ? linitial(args) : NULL;
	*b = list_length(args) > 1 ? lsecond(args) : NULL;
	switch (kind)
	{
		case DP_KIND_add:
		case DP_KIND_subtract:
		case DP_KIND_multiply:
		case DP_KIND_divide:
		case DP_KIND_negate:
		case DP_KIND_plus:
			return kind;
		default:
			return DP_KIND_NONE;
	}
}

static bool
is_rounding(Oid funcid)
{
	return funcid == F_ROUND_NUMERIC || funcid == F_ROUND_NUMERIC_INT4 || funcid == F_ROUND_FLOAT8 ||
		funcid == F_TRUNC_NUMERIC || funcid == F_TRUNC_NUMERIC_INT4 || funcid == F_TRUNC_FLOAT8;
}

/*
 * Returns the argument of a cast between numbers, or of rounding, which adds
 * nothing to speak of; else NULL.
 */
static Node *
converted(Node *expr)
{
	FuncExpr   *func = (FuncExpr *) expr;
	Node	   *arg;

	if (IsA(expr, RelabelType))
		return (Node *) ((RelabelType *) expr)->arg;
	if (!IsA(expr, FuncExpr) || func->args == NIL)
		return NULL;
	arg = linitial(func->args);
	if (list_length(func->args) > 1 && dp_has_nodes(lsecond(func->args), T_Aggref))
		return NULL;
	if (is_rounding(func->funcid) ||
		(func->funcformat != COERCE_EXPLICIT_CALL && dp_is_number(func->funcresulttype) && dp_is_number(exprType(arg))))
		return arg;
	return NULL;
}

/*
 * Returns an operand that the derivative is multiplied with or divided by.  The
 * query's own operators would divide whole numbers, and fail where these do
 * not: on division by 0 and on overflow.
 */
static Node *
value(Node *expr)
{
	Node	   *arg = converted(expr);
	Node	   *a,
			   *b;

	check_stack_depth();
	if (!dp_has_nodes(expr, T_Aggref))
		return as_double(expr);
	if (arg != NULL)
		return value(arg);
	switch (arithmetic_of(expr, &a, &b))
	{
		case DP_KIND_negate:
			return negative(value(a));
		case DP_KIND_plus:
			return value(a);
		case DP_KIND_add:
			return add(value(a), value(b));
		case DP_KIND_subtract:
			return add(value(a), negative(value(b)));
		case DP_KIND_multiply:
			return times(value(a), value(b));
		case DP_KIND_divide:
			return calculate("try_divide", value(a), value(b));
		default:
			/* derivative() refuses what is not arithmetic */
			return as_double(expr);
	}
}

/* Tells whether derivative() knows what expr is made of. */
static bool
is_arithmetic(Node *expr)
{
	Node	   *arg = converted(expr);
	Node	   *a,
			   *b;

	check_stack_depth();
	if (!dp_is_number(exprType(expr)))
		return false;
	if (!dp_has_nodes(expr, T_Aggref) || IsA(expr, Aggref))
		return true;
	if (arg != NULL)
		return is_arithmetic(arg);
	if (IsA(expr, NullIfExpr) && !dp_has_nodes(lsecond(((NullIfExpr *) expr)->args), T_Aggref))
		return is_arithmetic(linitial(((NullIfExpr *) expr)->args));
	return arithmetic_of(expr, &a, &b) != DP_KIND_NONE && is_arithmetic(a) && (b == NULL || is_arithmetic(b));
}

static void
refuse_expression(DpSplitContext *cxt, Node *expr)
{
	dp_refuse_at(exprLocation(expr),
				 errmsg("the error of this expression is not known; give dp_noise_stddev and dp_margin a private aggregate"),
				 errdetail("They also take sums, differences, products and ratios of private aggregates."));
}

/* Returns the derivative of expr by agg, at the released values; NULL stands for 0. */
static Node *
derivative(DpSplitContext *cxt, Node *expr, Aggref *agg)
{
	Node	   *arg,
			   *a,
			   *b;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (equal(expr, agg))
		return (Node *) dp_float8_const(1);
	if (!dp_has_equal(expr, agg))
		return NULL;
	arg = converted(expr);
	if (arg != NULL)
		return derivative(cxt, arg, agg);
	/* a quotient with nullif(x, 0) is NULL where x is 0, and so is its error */
	if (IsA(expr, NullIfExpr) && !dp_has_nodes(lsecond(((NullIfExpr *) expr)->args), T_Aggref))
		return derivative(cxt, linitial(((NullIfExpr *) expr)->args), agg);
	switch (arithmetic_of(expr, &a, &b))
	{
		case DP_KIND_negate:
			return negative(derivative(cxt, a, agg));
		case DP_KIND_plus:
			return derivative(cxt, a, agg);
		case DP_KIND_add:
			return add(derivative(cxt, a, agg), derivative(cxt, b, agg));
		case DP_KIND_subtract:
			return add(derivative(cxt, a, agg), negative(derivative(cxt, b, agg)));
		case DP_KIND_multiply:
			return add(times(derivative(cxt, a, agg), value(b)), times(derivative(cxt, b, agg), value(a)));
		case DP_KIND_divide:
			if (!dp_has_equal(b, agg))
				return calculate("try_divide", derivative(cxt, a, agg), value(b));
			/* (a' b - a b') / b^2 */
			return calculate("try_divide", add(times(derivative(cxt, a, agg), value(b)), negative(times(derivative(cxt, b, agg), value(a)))),
							 square(value(b)));
		default:
			break;
	}
	refuse_expression(cxt, expr);
	return NULL;				/* keep compiler quiet */
}

/* ------------------------------------------------------------------------
 * Entry point
 * ------------------------------------------------------------------------
 */

typedef struct AggregateContext
{
	bool		take_standard;
	List	   *found;
	Node	   *subquery;
} AggregateContext;

static DpWalk
note_aggregate(Node *node, int levels, AggregateContext *c)
{
	if (IsA(node, SubLink))
		c->subquery = node;
	if (!IsA(node, Aggref))
		return DP_WALK_ON;
	if (dp_find_aggregate(((Aggref *) node)->aggfnoid, c->take_standard) != NULL)
		c->found = list_append_unique(c->found, node);
	return DP_WALK_PAST;
}

/* Returns the derivative by each aggregate where all are constants, else NIL. */
static List *
coefficients(DpSplitContext *cxt, Node *expr, List *aggs)
{
	List	   *result = NIL;

	foreach_ptr(Aggref, agg, aggs)
	{
		Node	   *slope = derivative(cxt, expr, agg);

		slope = slope ? eval_const_expressions(NULL, slope) : (Node *) dp_float8_const(0);
		if (!IsA(slope, Const) || ((Const *) slope)->constisnull)
			return NIL;
		result = lappend(result, slope);
	}
	return result;
}

/*
 * Appends the text of a derivative.  loose: how strongly its surroundings
 * bind: 1 for a sum, 2 for a product or dividend, 3 for a divisor or power.
 */
static void
put_slope(StringInfo text, DpLevel *level, Node *node, int loose)
{
	DpFunctionKind kind;
	List	   *args;
	Node	   *arg;
	Node	   *a,
			   *b;
	int			binds;

	check_stack_depth();
	while ((arg = converted(node)) != NULL)
		node = arg;
	if (IsA(node, Const))
	{
		appendStringInfo(text, "%g", DatumGetFloat8(((Const *) node)->constvalue));
		return;
	}
	kind = dp_call_kind(node, &args);
	if (list_length(args) != 2 || (kind != DP_KIND_add && kind != DP_KIND_multiply && kind != DP_KIND_divide))
	{
		appendStringInfoString(text, dp_expression_text(level, node));
		return;
	}
	a = linitial(args);
	b = lsecond(args);
	binds = kind == DP_KIND_add ? 1 : kind == DP_KIND_multiply && equal(a, b) ? 3 : 2;
	if (binds < loose)
		appendStringInfoChar(text, '(');
	if (kind == DP_KIND_multiply && equal(a, (Node *) dp_float8_const(1)))
		put_slope(text, level, b, Max(loose, 2));
	else if (kind == DP_KIND_multiply && equal(b, (Node *) dp_float8_const(-1)))
	{
		StringInfoData inner;

		initStringInfo(&inner);
		put_slope(&inner, level, a, 2);
		if (inner.data[0] == '-')
			appendStringInfoString(text, inner.data + 1);
		else
			appendStringInfo(text, "-%s", inner.data);
	}
	else if (binds == 3)
	{
		put_slope(text, level, a, 3);
		appendStringInfoString(text, "^2");
	}
	else
	{
		StringInfoData right;
		bool		divides = kind == DP_KIND_divide;

		initStringInfo(&right);
		put_slope(&right, level, b, divides ? 3 : 2);
		put_slope(text, level, a, binds);
		if (binds == 1 && right.data[0] == '-')
			appendStringInfo(text, " - %s", right.data + 1);
		else
			appendStringInfo(text, " %c %s", binds == 1 ? '+' : divides ? '/' : '*', right.data);
	}
	if (binds < loose)
		appendStringInfoChar(text, ')');
}

/* Returns Strings: the text of the derivative by each aggregate. */
static List *
slopes(DpSplitContext *cxt, DpLevel *level, Node *expr, List *aggs)
{
	List	   *result = NIL;

	foreach_ptr(Aggref, agg, aggs)
	{
		Node	   *slope = derivative(cxt, expr, agg);
		StringInfoData text;

		initStringInfo(&text);
		put_slope(&text, level, slope ? eval_const_expressions(NULL, slope) : (Node *) dp_float8_const(0), 2);
		result = lappend(result, makeString(text.data));
	}
	return result;
}

void
dp_describe_expressions(DpSplitContext *cxt, DpLevel *level, bool take_standard)
{
	foreach_ptr(TargetEntry, tle, level->query->targetList)
	{
		Node	   *expr = (Node *) tle->expr;
		AggregateContext c = {take_standard};
		List	   *columns = NIL;
		List	   *constant;

		dp_walk(expr, note_aggregate, &c);
		if (tle->resjunk || c.found == NIL || c.subquery != NULL || IsA(expr, Aggref) || !is_arithmetic(expr))
			continue;
		foreach_ptr(Node, agg, c.found)
			columns = lappend_int(columns, dp_column_of(level, agg));
		constant = coefficients(cxt, expr, c.found);
		level->release->expressions =
			lappend(level->release->expressions,
					list_make4(makeString(dp_expression_text(level, expr)), columns, constant,
							   constant ? NIL : slopes(cxt, level, expr, c.found)));
	}
}

/* Makes the call of stddev for one aggregate. */
static Node *
stddev_call(Oid stddev, Aggref *agg)
{
	FuncExpr   *call = makeFuncExpr(stddev, FLOAT8OID, list_make1(copyObject(agg)),
									InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);

	/* for messages */
	call->location = agg->location;
	return (Node *) call;
}

/*
 * Returns the standard deviation of an expression of private aggregates, made
 * of calls of stddev, the OID of dp_noise_stddev; NULL if expr has no private
 * aggregate.  ZC002 if it is not arithmetic.
 */
static Node *
propagate_error(DpSplitContext *cxt, Node *expr, bool take_standard, Oid stddev)
{
	AggregateContext c = {take_standard};
	Node	   *variance = NULL;

	dp_walk(expr, note_aggregate, &c);
	if (c.found == NIL)
		return NULL;
	if (!dp_is_number(exprType(expr)))
		refuse_expression(cxt, expr);
	/* it may release something, too */
	if (c.subquery != NULL)
		refuse_expression(cxt, c.subquery);
	foreach_ptr(Aggref, item, c.found)
	{
		Node	   *slope = derivative(cxt, expr, item);
		Node	   *error;

		if (slope == NULL)
			continue;
		error = stddev_call(stddev, item);
		variance = add(variance, square(calculate("try_multiply", slope, error)));
	}
	return variance ? calculate("try_power", variance, (Node *) dp_float8_const(0.5)) : (Node *) dp_float8_const(0);
}

/* ------------------------------------------------------------------------
 * Functions around aggregates
 * ------------------------------------------------------------------------
 */

typedef struct ExpandContext
{
	DpSplitContext *cxt;
	bool		take_standard;
	Oid			stddev;			/* dp_noise_stddev("any") */
	Oid			error;			/* dp_error_stddev("any") */
	Oid			cut;			/* dp_cut("any") */
	Oid			margin;			/* dp_cdp_internal.margin(float8, float8) */
	Oid			times;			/* dp_cdp_internal.try_multiply(float8,
								 * float8) */
} ExpandContext;

static void
look_up(ExpandContext *c)
{
	Oid			any = ANYOID;
	Oid			floats[] = {FLOAT8OID, FLOAT8OID};

	c->stddev = dp_public_routine("dp_noise_stddev", 1, &any);
	c->error = dp_public_routine("dp_error_stddev", 1, &any);
	c->cut = dp_public_routine("dp_cut", 1, &any);
	c->margin = dp_own_function("margin", 2, floats, FLOAT8OID);
	c->times = dp_own_function("try_multiply", 2, floats, FLOAT8OID);
}

/* Returns a standard deviation, or cut, of arg, an aggregate or for deviations an expression of several; NULL if arg has none. */
static Node *
companion_of(Node *arg, ExpandContext *c, Oid function)
{
	arg = dp_strip_relabel(arg);
	if (!IsA(arg, Aggref))
		return function == c->cut ? NULL : propagate_error(c->cxt, arg, c->take_standard, function);
	if (dp_find_aggregate(((Aggref *) arg)->aggfnoid, c->take_standard) == NULL)
		return NULL;
	return stddev_call(function, (Aggref *) arg);
}

static Node *
expand_call(Node *node, int levels, ExpandContext *c)
{
	FuncExpr   *func = (FuncExpr *) node;
	DpErrorFunction function = IsA(node, FuncExpr) ? dp_find_error_function(func->funcid) : DP_ERROR_FUNCTION_NONE;
	Node	   *stddev;
	FuncExpr   *factor;
	Node	   *confidence,
			   *one;

	if (function == DP_ERROR_FUNCTION_NONE)
		return NULL;
	if (!OidIsValid(c->stddev))
		look_up(c);
	stddev = companion_of(linitial(func->args), c,
						  function == DP_ERROR_FUNCTION_STDDEV ? c->stddev
						  : function == DP_ERROR_FUNCTION_CUT ? c->cut : c->error);
	if (stddev == NULL || function != DP_ERROR_FUNCTION_MARGIN)
		return stddev;
	confidence = list_length(func->args) > 1 ? dp_put_all(lsecond(func->args), expand_call, c) : (Node *) dp_float8_const(0.95);

	/*
	 * the planner folds a constant confidence to a number, or raises the
	 * error
	 */
	one = (Node *) dp_float8_const(1);
	factor = makeFuncExpr(c->margin, FLOAT8OID, list_make2(one, confidence),
						  InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	return (Node *) makeFuncExpr(c->times, FLOAT8OID, list_make2(stddev, factor),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

void
dp_expand_error_functions(DpSplitContext *cxt, Query *query, bool take_standard)
{
	ExpandContext c = {cxt, take_standard};

	query->targetList = (List *) dp_put_all(query->targetList, expand_call, &c);
	query->havingQual = dp_put_all(query->havingQual, expand_call, &c);
}

static int
stddev_level(Node *node)
{
	DpErrorFunction function = IsA(node, FuncExpr) ? dp_find_error_function(((FuncExpr *) node)->funcid) : DP_ERROR_FUNCTION_NONE;
	Node	   *arg;

	if (function == DP_ERROR_FUNCTION_NONE || function == DP_ERROR_FUNCTION_MARGIN)
		return -1;
	arg = linitial(((FuncExpr *) node)->args);
	return IsA(arg, Aggref) ? (int) ((Aggref *) arg)->agglevelsup : -1;
}

List *
dp_collect_error_functions(Query *query)
{
	return dp_collect_of_level(query, stddev_level);
}

static DpWalk
refuse_call(Node *node, int levels, DpSplitContext *cxt)
{
	if (IsA(node, FuncExpr) && dp_find_error_function(((FuncExpr *) node)->funcid) != DP_ERROR_FUNCTION_NONE)
		dp_refuse_at(exprLocation(node),
					 errmsg("dp_margin, dp_noise_stddev, dp_error_stddev and dp_cut take a private aggregate, where it stands; "
							"write for example dp_margin(dp_count(*)) beside dp_count(*)"));
	return DP_WALK_ON;
}

void
dp_refuse_error_functions(Node *node, DpSplitContext *cxt)
{
	(void) dp_walk_all(node, refuse_call, cxt);
}
