/*-------------------------------------------------------------------------
 *
 * aggregate_call.c
 *	  One private aggregate: its arguments, its bounds, and the expressions
 *	  that its exact states are made from.
 *
 * Arguments stand in this order: what is read from rows (two for covariance
 * and regression), a quantile, bounds (two for each argument that is read),
 * the number of bins.  Bounds may be left out where the owner has declared
 * those of the column, or where the query says them itself.
 *
 * Invariant: bounds, quantiles and numbers of bins are constants or
 * parameters; what is read from rows has passed the allow-list.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/extension.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "guard/describe/describe.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* one aggregate under work */
typedef struct Measure
{
	DpLevel    *level;
	DpSplitContext *cxt;
	Aggref	   *agg;
	const DpAggregate *kind;
	DpReleaseColumn *column;
	List	   *read;			/* Node: what is read from rows, as the query has it */
	List	   *bounds;			/* Node: as given; NIL: known ones */
	Node	   *filter;			/* total */
} Measure;

/* ------------------------------------------------------------------------
 * Arguments
 * ------------------------------------------------------------------------
 */

static Expr *
constant_argument(Measure *m, Node *expr, const char *what)
{
	DpSplitContext *cxt = m->cxt;

	if (contain_var_clause(expr) || contain_vars_of_level(expr, 0) ||
		checkExprHasSubLink(expr) || contain_aggs_of_level(expr, 0) ||
		contain_volatile_functions(expr) || contain_vars_of_level(expr, 1))
		dp_refuse_at(exprLocation(expr),
					 errmsg("%s of %s must be constants or parameters", what, m->column->label));
	return (Expr *) expression_planner((Expr *) copyObject(expr));
}

/* the name that messages recommend, and how its bounds are written */
static const char *
with_bounds(Measure *m)
{
	StringInfoData text;
	ListCell   *lc;

	initStringInfo(&text);
	appendStringInfo(&text, "%s(", m->kind->name);
	foreach(lc, m->read)
		appendStringInfo(&text, "%s, ", IsA(lfirst(lc), Var) ? dp_expression_text(m->level, lfirst(lc)) : "expression");
	if (m->kind->answer == DP_ANSWER_QUANTILE && !m->kind->is_median)
		appendStringInfoString(&text, "0.5, ");
	appendStringInfoString(&text, list_length(m->read) == 2 ? "lower, upper, lower, upper" : "lower, upper");
	appendStringInfoString(&text, m->kind->answer == DP_ANSWER_HISTOGRAM ? ", bins)" : ")");
	return text.data;
}

/* sorts the arguments of the call */
static void
sort_arguments(Measure *m)
{
	DpSplitContext *cxt = m->cxt;
	List	   *rest = NIL;
	ListCell   *lc;

	foreach(lc, m->agg->args)
	{
		TargetEntry *tle = lfirst(lc);

		if (tle->resjunk)
			continue;
		if (list_length(m->read) < m->kind->nvalues)
			m->read = lappend(m->read, tle->expr);
		else
			rest = lappend(rest, tle->expr);
	}
	if (m->kind->is_median)
		m->column->detail = (Expr *) makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8),
											   Float8GetDatum(0.5), false, FLOAT8PASSBYVAL);
	else if (m->kind->answer == DP_ANSWER_QUANTILE)
	{
		Node	   *detail = AGGKIND_IS_ORDERED_SET(m->agg->aggkind) ? linitial(m->agg->aggdirectargs) : linitial(rest);

		if (!AGGKIND_IS_ORDERED_SET(m->agg->aggkind))
			rest = list_delete_first(rest);
		m->column->detail = constant_argument(m, detail, "quantiles");
	}
	else if (m->kind->answer == DP_ANSWER_HISTOGRAM)
	{
		m->column->detail = constant_argument(m, llast(rest), "the number of bins");
		rest = list_delete_last(rest);
	}
	if (rest != NIL && list_length(rest) != 2 * m->kind->nvalues)
		dp_refuse_at(m->agg->location, errmsg("%s takes other arguments; write %s", m->column->label, with_bounds(m)));
	m->bounds = rest;
}

static Expr *
numeric_constant(Numeric value)
{
	return (Expr *) makeConst(NUMERICOID, -1, InvalidOid, -1, NumericGetDatum(value), false, false);
}

static void
declared_bounds(Measure *m, Node *value, Expr **lower, Expr **upper)
{
	DpSplitContext *cxt = m->cxt;
	DpKnownBounds bounds;
	bool		is_sum = m->kind->answer == DP_ANSWER_SUM;

	if (!dp_find_bounds(m->level, value, is_sum, &bounds))
	{
		if (bounds.undeclared)
			ereport(ERROR,
					(errcode(ERRCODE_DP_BAD_PARAMETER),
					 errmsg("%s needs bounds: write %s, or let the owner declare them with dp_cdp.set_bounds",
							m->column->label, with_bounds(m)),
					 dp_error_position(cxt->source_text, m->agg->location)));
		dp_refuse_at(m->agg->location, errmsg("%s needs bounds: write %s", m->column->label, with_bounds(m)));
	}
	*lower = numeric_constant(bounds.lower);
	*upper = numeric_constant(bounds.upper);
	m->column->bounds_of_rows = bounds.of_rows;
}

static void
set_bounds(Measure *m)
{
	DpReleaseColumn *column = m->column;

	if (m->bounds == NIL)
	{
		declared_bounds(m, linitial(m->read), &column->lower, &column->upper);
		if (list_length(m->read) == 2)
			declared_bounds(m, lsecond(m->read), &column->lower2, &column->upper2);
		return;
	}
	column->lower = constant_argument(m, linitial(m->bounds), "the bounds");
	column->upper = constant_argument(m, lsecond(m->bounds), "the bounds");
	if (list_length(m->read) == 2)
	{
		column->lower2 = constant_argument(m, lthird(m->bounds), "the bounds");
		column->upper2 = constant_argument(m, lfourth(m->bounds), "the bounds");
	}
}

static bool
is_date(Oid type)
{
	return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

static void
check_types(Measure *m, bool dates)
{
	DpSplitContext *cxt = m->cxt;
	ListCell   *lc;

	foreach(lc, m->read)
	{
		Oid			type = exprType(lfirst(lc));

		if (!dp_is_number(type) && !(dates && is_date(type)))
			dp_refuse_at(m->agg->location,
						 errmsg("%s cannot be computed from values of type %s; give it %s",
								m->column->label, format_type_be(type),
								dates ? "numbers, dates or timestamps" : "numbers"));
	}
}

/* ------------------------------------------------------------------------
 * Expressions of the parts
 * ------------------------------------------------------------------------
 */

static Node *
total(Measure *m, Node *expr)
{
	return dp_make_safe(expr, &m->level->allow);
}

static Expr *
call(const char *name, Oid result, List *args)
{
	Oid			types[2];
	int			n = 0;
	ListCell   *lc;

	foreach(lc, args)
		types[n++] = exprType(lfirst(lc));
	return (Expr *) makeFuncExpr(dp_own_function(name, n, types, result), result, args,
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static Expr *
range_param(Measure *m, int which)
{
	return dp_make_param(m->level->release->first_param + 1 +
						 list_length(m->level->release->columns) * DP_COLUMN_PARAMS + which,
						 dp_own_type("range"));
}

static Expr *
centered(Measure *m, int argument)
{
	return call("centered", INT4OID, list_make2(total(m, list_nth(m->read, argument)),
												range_param(m, argument == 0 ? DP_PARAM_RANGE : DP_PARAM_RANGE2)));
}

static List *
moment_values(Measure *m)
{
	DpPart		parts[DP_MAX_COLUMN_PARTS];
	int			n;
	List	   *values = NIL;
	Expr	   *t,
			   *u = NULL;

	m->column->statistic = m->kind->statistic;
	n = dp_column_parts(m->column, parts);
	t = centered(m, 0);
	if (list_length(m->read) == 2)
	{
		/* a row counts when it has both */
		u = centered(m, 1);
		m->filter = (Node *) makeBoolExpr(AND_EXPR,
										  list_concat(m->filter ? list_make1(m->filter) : NIL,
													  list_make2(dp_is_not_null(copyObject(t)),
																 dp_is_not_null(copyObject(u)))), -1);
	}
	for (int i = 0; i < n; i++)
	{
		Expr	   *value = NULL;

		switch (parts[i].moment)
		{
			case DP_MOMENT_N:
			case DP_MOMENT_T:
				value = copyObject(t);
				break;
			case DP_MOMENT_T2:
				value = call("chebyshev", INT4OID, list_make1(copyObject(t)));
				break;
			case DP_MOMENT_U:
				value = copyObject(u);
				break;
			case DP_MOMENT_U2:
				value = call("chebyshev", INT4OID, list_make1(copyObject(u)));
				break;
			case DP_MOMENT_TU:
				value = call("product", INT4OID, list_make2(copyObject(t), copyObject(u)));
				break;
		}
		values = lappend(values, value);
	}
	return values;
}

static List *
total_values(Measure *m)
{
	DpSplitContext *cxt = m->cxt;
	DpReleaseColumn *column = m->column;
	Node	   *arg = m->read ? linitial(m->read) : NULL;
	Oid			any = ANYELEMENTOID;
	FuncExpr   *code;

	column->kind = m->kind->kind;
	if (column->kind == DP_VALUE_SUM)
	{
		check_types(m, false);
		column->input_type = exprType(arg);
		set_bounds(m);
		return list_make1(total(m, arg));
	}
	if (arg == NULL)
		return list_make1(NULL);
	if (m->agg->aggdistinct == NIL)
		return list_make1(total(m, arg));
	if (dp_is_unit(m->level, arg))
	{
		column->kind = DP_VALUE_UNITS;
		return list_make1(NULL);
	}
	column->kind = DP_VALUE_DISTINCT;
	dp_allow_group_key(arg, &m->level->allow);
	if (!dp_code_supported(exprType(arg)))
		dp_refuse_at(m->agg->location,
					 errmsg("distinct values of type %s cannot be counted; cast them to text or numeric",
							format_type_be(exprType(arg))));
	code = makeFuncExpr(dp_own_function("code", 1, &any, INT8OID), INT8OID,
						list_make1(dp_nan_to_null((Expr *) total(m, arg))),
						InvalidOid, exprCollation(arg), COERCE_EXPLICIT_CALL);
	return list_make1(code);
}

static List *
vector_values(Measure *m)
{
	check_types(m, m->kind->answer != DP_ANSWER_BOUNDS);
	if (m->kind->answer != DP_ANSWER_BOUNDS)
		set_bounds(m);
	return list_make1(call("bin", INT4OID, list_make2(total(m, linitial(m->read)), range_param(m, DP_PARAM_RANGE))));
}

void
dp_add_aggregate(DpLevel *level, Aggref *agg)
{
	DpSplitContext *cxt = level->cxt;
	Measure		m = {level, cxt, agg};
	List	   *values = NIL;

	m.kind = dp_find_aggregate(agg->aggfnoid, true);
	m.column = dp_make_release_column();
	m.column->answer = m.kind->answer;
	m.column->label = dp_expression_text(level, (Node *) agg);
	m.column->location = agg->location;
	m.column->result_type = agg->aggtype;
	if (AGGKIND_IS_ORDERED_SET(agg->aggkind))
	{
		if (get_opcode(((SortGroupClause *) linitial(agg->aggorder))->sortop) != F_FLOAT8LT)
			dp_refuse_at(agg->location, errmsg("%s must be in ascending order; leave DESC out and ask for 1 - q",
											   m.column->label));
	}
	else if (agg->aggorder)
		dp_refuse_at(agg->location, errmsg("ORDER BY inside %s is not possible; leave it out", m.column->label));
	if (agg->aggdistinct && m.kind->answer == DP_ANSWER_SUM && m.kind->kind == DP_VALUE_SUM)
		dp_refuse_at(agg->location, errmsg("DISTINCT inside %s is not releasable; leave it out", m.kind->name));
	if (agg->aggdistinct && m.kind->answer != DP_ANSWER_SUM && m.kind->answer != DP_ANSWER_MIN &&
		m.kind->answer != DP_ANSWER_MAX)
		dp_refuse_at(agg->location, errmsg("DISTINCT inside %s is not releasable; leave it out", m.kind->name));
	if (agg->aggfilter)
		m.filter = total(&m, (Node *) agg->aggfilter);
	sort_arguments(&m);

	switch (m.kind->answer)
	{
		case DP_ANSWER_SUM:
			values = total_values(&m);
			break;
		case DP_ANSWER_MOMENTS:
			check_types(&m, false);
			set_bounds(&m);
			values = moment_values(&m);
			break;
		default:
			values = vector_values(&m);
			break;
	}
	dp_add_column(level, m.column, values, m.filter);
}
