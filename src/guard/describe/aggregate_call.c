/*-------------------------------------------------------------------------
 *
 * aggregate_call.c
 *	  One private aggregate: its arguments, its bounds, and the expressions
 *	  that its exact states are made from.
 *
 * Arguments stand in this order: what is read from rows (two for covariance
 * and regression), a quantile, bounds (two for each argument that is read),
 * the number of bins.  Bounds may be left out where the owner has declared
 * those of the column, or where the query says them itself.  Those of a sum may
 * be followed by the limits of a unit's total.
 *
 * Invariant: bounds, quantiles and numbers of bins are constants or
 * parameters; what is read from rows has passed the allow-list.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/extension.h"
#include "base/settings.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "guard/describe/describe.h"
#include "guard/describe/written_limits.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* the code of a NULL among the fields of a row; no value's but by chance, as any two values' */
#define NULL_FIELD INT64CONST(0x5bd1e9955bd1e995)

/* one aggregate under work */
typedef struct AggregateCall
{
	DpLevel    *level;
	DpSplitContext *cxt;
	Aggref	   *agg;
	const DpAggregate *kind;
	DpReleaseColumn *column;
	List	   *read;			/* Node: what is read from rows, as the query
								 * has it */
	List	   *bounds;			/* Node: as given; NIL: known ones */
	List	   *totals;			/* Node: as given; NIL: declared ones, or none */
	Node	   *filter;			/* in its safe form */
} AggregateCall;

/* ------------------------------------------------------------------------
 * Arguments
 * ------------------------------------------------------------------------
 */

static Expr *
constant_argument(AggregateCall *c, Node *expr, const char *what)
{
	DpSplitContext *cxt = c->cxt;

	if (contain_var_clause(expr) || contain_vars_of_level(expr, 0) ||
		checkExprHasSubLink(expr) || contain_aggs_of_level(expr, 0) ||
		contain_volatile_functions(expr) || contain_vars_of_level(expr, 1))
		dp_refuse_at(exprLocation(expr),
					 errmsg("%s of %s must be constants or parameters", what, c->column->label));
	return (Expr *) expression_planner((Expr *) copyObject(expr));
}

/* Returns the call that messages recommend: its name, and how its bounds are written. */
static const char *
with_bounds(AggregateCall *c)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "%s(", c->kind->name);
	foreach_ptr(Node, item, c->read)
	{
		const char *read = dp_expression_text(c->level, item);

		appendStringInfo(&text, "%s, ", strlen(read) <= 100 ? read : "expression");
	}
	if (c->kind->answer == DP_ANSWER_QUANTILE && !c->kind->is_median)
		appendStringInfoString(&text, "0.5, ");
	appendStringInfoString(&text, list_length(c->read) == 2 ? "lower, upper, lower, upper" : "lower, upper");
	appendStringInfoString(&text, c->kind->answer == DP_ANSWER_HISTOGRAM ? ", bins)" : ")");
	return text.data;
}

/* Tells whether the aggregate limits what a unit adds up to. */
static bool
has_totals(AggregateCall *c)
{
	return c->kind->kind == DP_VALUE_SUM || c->kind->kind == DP_VALUE_CUT;
}

/* Sorts the arguments of the call into read, bounds and the column's detail. */
static void
sort_arguments(AggregateCall *c)
{
	DpSplitContext *cxt = c->cxt;
	List	   *rest = NIL;

	foreach_ptr(TargetEntry, tle, c->agg->args)
	{
		if (tle->resjunk)
			continue;
		if (list_length(c->read) < c->kind->nvalues)
			c->read = lappend(c->read, tle->expr);
		else
			rest = lappend(rest, tle->expr);
	}
	if (c->kind->is_median)
		c->column->detail = (Expr *) dp_float8_const(0.5);
	else if (c->kind->answer == DP_ANSWER_QUANTILE)
	{
		Node	   *detail = AGGKIND_IS_ORDERED_SET(c->agg->aggkind) ? linitial(c->agg->aggdirectargs) : linitial(rest);

		if (!AGGKIND_IS_ORDERED_SET(c->agg->aggkind))
			rest = list_delete_first(rest);
		c->column->detail = constant_argument(c, detail, "quantiles");
	}
	else if (c->kind->answer == DP_ANSWER_HISTOGRAM)
	{
		c->column->detail = constant_argument(c, llast(rest), "the number of bins");
		rest = list_delete_last(rest);
	}
	if (has_totals(c) && list_length(rest) == 4)
	{
		c->totals = list_copy_tail(rest, 2);
		rest = list_truncate(rest, 2);
	}
	if (rest != NIL && list_length(rest) != 2 * c->kind->nvalues)
		dp_refuse_at(c->agg->location, errmsg("%s takes other arguments; write %s", c->column->label, with_bounds(c)));
	c->bounds = rest;
}

static Expr *
numeric_constant(Numeric value)
{
	return (Expr *) makeConst(NUMERICOID, -1, InvalidOid, -1, NumericGetDatum(value), false, false);
}

/* Adds the hint that bounds can be found; with a target of accuracy they cannot. */
static int
hint_to_find(void)
{
	return dp_guc_target > 0 ? 0 :
		errhint("SET dp_cdp.find_bounds = on has them found privately first, for a tenth of the price of an aggregate. They may cut values: dp_clipped tells how many.");
}

/* Refuses an argument of which no bounds are known, because of a part of it, or of itself. */
static void
refuse_bounds(AggregateCall *c, Node *value, const DpBound *why, bool is_itself)
{
	DpSplitContext *cxt = c->cxt;
	const char *problem = is_itself && why->gap == DP_GAP_UNDECLARED ? "" : dp_bound_problem(why);

	/* what may not run on rows needs no bounds */
	(void) dp_make_safe(value, &c->level->allow);
	if (why->gap == DP_GAP_UNDECLARED)
		dp_raise(BAD_PARAMETER,
				 why->declarable
				 ? errmsg("%s needs bounds%s: write %s, or let the owner declare them with dp_cdp.set_bounds",
						  c->column->label, problem, with_bounds(c))
				 : errmsg("%s needs bounds%s: write %s", c->column->label, problem, with_bounds(c)),
				 hint_to_find(),
				 dp_error_position(cxt->source_text, c->agg->location));
	dp_raise(BAD_PARAMETER, errmsg("%s needs bounds%s%s write %s", c->column->label, problem,
								   why->gap == DP_GAP_DENOMINATOR ? ", or" : ":", with_bounds(c)),
			 hint_to_find(),
			 dp_error_position(cxt->source_text, c->agg->location));
}

/*
 * Sets lower and upper, where they are known here, else *derived, from which they
 * follow when the release is priced.
 */
static void
known_bounds(AggregateCall *c, Node *value, DpBound *bound, Expr **lower, Expr **upper, DpBound **derived)
{
	DpInterval	interval = dp_interval(bound, NULL);

	if (interval.state == DP_INTERVAL_NONE)
	{
		*derived = dp_find_bounds(c->level, value, NULL);
		if (*derived == NULL)
			refuse_bounds(c, value, interval.why, interval.why == bound);
		c->column->shows_bounds = true;
		return;
	}
	c->column->shows_bounds |= bound->op != DP_BOUND_DECLARED;
	if (interval.state == DP_INTERVAL_LATER)
	{
		*derived = dp_interval_by_rows(bound, NULL) ? dp_find_bounds(c->level, value, bound) : NULL;
		if (*derived == NULL)
			*derived = bound;
		return;
	}
	dp_interval_open(&interval);
	*lower = numeric_constant(interval.lower);
	*upper = numeric_constant(interval.upper);
}

/* Sets the limits of a unit's total: those that are written, else those of the columns. */
static void
set_totals(AggregateCall *c, DpBound *bound)
{
	DpReleaseColumn *column = c->column;

	if (c->totals != NIL)
	{
		column->total_lower = constant_argument(c, linitial(c->totals), "the limits of a unit's total");
		column->total_upper = constant_argument(c, lsecond(c->totals), "the limits of a unit's total");
	}
	else if (bound->op == DP_BOUND_DECLARED && bound->total_lower != NULL)
	{
		column->total_lower = bound->total_lower;
		column->total_upper = bound->total_upper;
	}
	else if (dp_bound_has_totals(bound))
		column->derived = bound;
}

static void
set_bounds(AggregateCall *c)
{
	DpReleaseColumn *column = c->column;
	DpBound    *first = NULL;
	bool		as_declared;

	/*
	 * bins and what lies outside are those of the bounds that are declared,
	 * whichever rows are asked for
	 */
	as_declared = c->kind->answer == DP_ANSWER_HISTOGRAM || c->kind->answer == DP_ANSWER_CLIPPED || c->kind->answer == DP_ANSWER_CLIPPED_TOTALS;
	if (c->bounds == NIL && dp_find_times(c->level, linitial(c->read), (Node *) c->agg->aggfilter, as_declared, &column->lower,
										  &column->upper, &column->shows_bounds))
	{
		column->lower = constant_argument(c, (Node *) column->lower, "the bounds");
		column->upper = constant_argument(c, (Node *) column->upper, "the bounds");
		return;
	}
	column->lower = column->upper = NULL;
	if (c->bounds == NIL || has_totals(c))
		first = dp_bound_of_value(c->level, linitial(c->read), (Node *) c->agg->aggfilter, as_declared);
	if (has_totals(c))
		set_totals(c, first);
	if (c->bounds == NIL)
	{
		known_bounds(c, linitial(c->read), first, &column->lower, &column->upper, &column->derived);
		if (list_length(c->read) == 2)
			known_bounds(c, lsecond(c->read), dp_bound_of_value(c->level, lsecond(c->read), (Node *) c->agg->aggfilter, as_declared),
						 &column->lower2, &column->upper2, &column->derived2);
		return;
	}
	column->lower = constant_argument(c, linitial(c->bounds), "the bounds");
	column->upper = constant_argument(c, lsecond(c->bounds), "the bounds");
	if (list_length(c->read) == 2)
	{
		column->lower2 = constant_argument(c, lthird(c->bounds), "the bounds");
		column->upper2 = constant_argument(c, lfourth(c->bounds), "the bounds");
	}
}

static bool
is_date(Oid type)
{
	return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

static void
check_types(AggregateCall *c, bool dates)
{
	DpSplitContext *cxt = c->cxt;

	foreach_ptr(Node, item, c->read)
	{
		Oid			type = getBaseType(exprType(item));

		if (!dp_is_number(type) && !(dates && is_date(type)))
			dp_refuse_at(c->agg->location,
						 errmsg("%s cannot be computed from values of type %s; give it %s",
								c->column->label, format_type_be(type),
								dates ? "numbers, dates or timestamps" : "numbers"));
	}
}

/* ------------------------------------------------------------------------
 * Expressions of the parts
 * ------------------------------------------------------------------------
 */

static Node *
safe(AggregateCall *c, Node *expr)
{
	return dp_make_safe(expr, &c->level->allow);
}

static Expr *
call(const char *name, Oid result, List *args)
{
	Oid			types[2];
	int			n = 0;

	foreach_ptr(Node, arg, args)
		types[n++] = exprType(arg);
	return (Expr *) makeFuncExpr(dp_own_function(name, n, types, result), result, args,
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static Expr *
range_param(AggregateCall *c, int which)
{
	return dp_make_param(c->level->release->first_param + 1 +
						 list_length(c->level->release->columns) * DP_COLUMN_PARAMS + which,
						 dp_own_type("range"));
}

static Expr *
centered(AggregateCall *c, int argument)
{
	return call("centered", INT4OID, list_make2(safe(c, list_nth(c->read, argument)),
												range_param(c, argument == 0 ? DP_PARAM_RANGE : DP_PARAM_RANGE2)));
}

static List *
moment_values(AggregateCall *c)
{
	DpPart		parts[DP_MAX_COLUMN_PARTS];
	int			n;
	List	   *values = NIL;
	Expr	   *t,
			   *u = NULL;

	c->column->statistic = c->kind->statistic;
	n = dp_column_parts(c->column, parts);
	t = centered(c, 0);
	if (list_length(c->read) == 2)
	{
		/* a row counts when it has both */
		u = centered(c, 1);
		c->filter = (Node *) makeBoolExpr(AND_EXPR,
										  list_concat(c->filter ? list_make1(c->filter) : NIL,
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

/* Returns the code of a value by which it is told from others: a hash, NULL for NULL. */
static Expr *
code_of(AggregateCall *c, Node *value)
{
	DpSplitContext *cxt = c->cxt;
	Oid			any = ANYELEMENTOID;

	dp_allow_group_key(value, &c->level->allow);
	if (!dp_code_supported(getBaseType(exprType(value))))
		dp_refuse_at(c->agg->location,
					 errmsg("distinct values of type %s cannot be counted; cast them to text or numeric",
							format_type_be(exprType(value))));
	return (Expr *) makeFuncExpr(dp_own_function("code", 1, &any, INT8OID), INT8OID,
								 list_make1(dp_nan_to_null((Expr *) safe(c, value))),
								 InvalidOid, exprCollation(value), COERCE_EXPLICIT_CALL);
}

/*
 * Returns the code of a row, which is never NULL: NULL is a value of its fields.
 * Each field is mixed into the hash of those before it, so that (1, 2) is not (2, 1).
 */
static Expr *
code_of_row(AggregateCall *c, RowExpr *row)
{
	Oid			any = ANYELEMENTOID;
	Oid			code = dp_own_function("code", 1, &any, INT8OID);
	Const	   *null = dp_int8_const(NULL_FIELD);
	Expr	   *all = (Expr *) copyObject(null);

	foreach_ptr(Node, arg, row->args)
	{
		CoalesceExpr *field = dp_make(CoalesceExpr, .coalescetype = INT8OID,
									  .args = list_make2(code_of(c, arg), copyObject(null)),
									  .location = -1);

		all = (Expr *) makeFuncExpr(code, INT8OID, list_make1(all), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
		all = (Expr *) makeFuncExpr(F_INT8XOR, INT8OID, list_make2(all, field), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	}
	return all;
}

static List *
count_or_sum_values(AggregateCall *c)
{
	DpReleaseColumn *column = c->column;
	Node	   *arg = c->read ? linitial(c->read) : NULL;

	column->kind = c->kind->kind;
	if (column->kind == DP_VALUE_SUM)
	{
		check_types(c, false);
		column->input_type = getBaseType(exprType(arg));
		set_bounds(c);
		return list_make1(safe(c, arg));
	}
	if (arg == NULL)
		return list_make1(NULL);
	if (c->agg->aggdistinct == NIL)
		return list_make1(safe(c, (Node *) dp_counted_value((Expr *) arg)));
	if (dp_is_unit(c->level, arg))
	{
		column->kind = DP_VALUE_UNITS;
		return list_make1(NULL);
	}
	column->kind = DP_VALUE_DISTINCT;
	if (IsA(arg, RowExpr) && ((RowExpr *) arg)->args != NIL)
		return list_make1(code_of_row(c, (RowExpr *) arg));
	return list_make1(code_of(c, arg));
}

static List *
ones(AggregateCall *c)
{
	c->column->input_type = INT4OID;
	return list_make1(dp_int4_const(1));
}

/*
 * Returns ones, whose total is how many rows a unit has in a group: above max_rows where that cuts some of them.  A
 * unit is in one of three bins of each of its groups, so the sensitivity is that of totals (release/price.c).
 */
static List *
row_values(AggregateCall *c)
{
	DpSplitContext *cxt = c->cxt;

	if (!c->level->release->has_unit)
		dp_refuse_at(c->agg->location,
					 errmsg("%s tells which units have more rows than max_rows, and here no unit has two rows; leave it out", c->column->label));
	if (dp_most_rows(c->level->dataset) == 0)
		dp_refuse_at(c->agg->location,
					 errmsg("%s needs max_rows, which it tells of; ask for dp_cut(dp_count(*)) beside dp_count(*), or SET dp_cdp.max_rows to a number of rows",
							c->column->label),
					 errdetail("Neither the dataset nor the session sets max_rows."));
	c->column->lower = numeric_constant(int64_to_numeric(0));
	c->column->upper = numeric_constant(int64_to_numeric(1));
	return ones(c);
}

/* Returns ones, too: of a unit's groups is asked how many there are (agg/bounding/entry.c). */
static List *
group_values(AggregateCall *c)
{
	DpSplitContext *cxt = c->cxt;

	if (!c->level->release->has_unit || !dp_has_groups(c->level->release))
		dp_refuse_at(c->agg->location,
					 errmsg("%s tells which units have more groups than max_groups, and here no unit is in two groups; leave it out", c->column->label));
	if (dp_most_groups(c->level->dataset) == 0)
		dp_refuse_at(c->agg->location,
					 errmsg("%s needs max_groups, which it tells of; ask for dp_cut(dp_count(*)) beside dp_count(*), or SET dp_cdp.max_groups to a number of groups",
							c->column->label),
					 errdetail("Neither the dataset nor the session sets max_groups."));
	return ones(c);
}

/* Where a unit has one row, its total is that. */
static List *
total_values(AggregateCall *c)
{
	if (c->kind->nvalues == 0)
		return row_values(c);
	check_types(c, false);
	c->column->input_type = getBaseType(exprType(linitial(c->read)));
	set_bounds(c);
	if (c->level->release->has_unit)
		return list_make1(safe(c, linitial(c->read)));
	c->column->answer = DP_ANSWER_CLIPPED;
	return list_make1(call("bin", INT4OID, list_make2(safe(c, linitial(c->read)), range_param(c, DP_PARAM_RANGE))));
}

/* Returns the place of the value among those that it may have, of which the most frequent one is the mode. */
static List *
mode_values(AggregateCall *c)
{
	DpSplitContext *cxt = c->cxt;
	DpReleaseColumn *column = c->column;
	Node	   *value = linitial(c->read);
	DpReleaseKey *key = dp_make_key(c->level, value);
	DpKeySet   *set = dp_planned_values(c->level, value);
	Oid			types[] = {ANYELEMENTOID, dp_own_type("key_set")};
	const char *instead;

	if (set == NULL && dp_names_one_person(c->level, value))
	{
		instead = dp_count_of_values(c->level, key->label);
		dp_refuse_at(c->agg->location, errmsg("%s would name one person; count persons, or values%s", column->label, instead));
	}
	if (set == NULL || dp_list_size(set->domain) > DP_MAX_HISTOGRAM)
	{
		instead = dp_largest_groups(c->level, key->label);
		dp_refuse_at(c->agg->location,
					 errmsg("%s needs declared keys, at most %d; take the largest released group%s",
							column->label, DP_MAX_HISTOGRAM, instead));
	}
	column->values = set->domain;
	return list_make1(makeFuncExpr(dp_own_routine("key_place", 2, types), INT4OID,
								   list_make2(dp_canonical_key(safe(c, value)),
											  dp_make_param(c->level->release->first_param + 1 +
															list_length(c->level->release->columns) * DP_COLUMN_PARAMS +
															DP_PARAM_VALUES, types[1])),
								   InvalidOid, key->collation, COERCE_EXPLICIT_CALL));
}

static List *
vector_values(AggregateCall *c)
{
	check_types(c, c->kind->answer != DP_ANSWER_BOUNDS);
	if (c->kind->answer != DP_ANSWER_BOUNDS)
		set_bounds(c);
	return list_make1(call("bin", INT4OID, list_make2(safe(c, linitial(c->read)), range_param(c, DP_PARAM_RANGE))));
}

/* Tells whether values are in the reverse of their type's own order; refuses any other order. */
static bool
is_descending(AggregateCall *c, Oid sortop)
{
	DpSplitContext *cxt = c->cxt;
	TypeCacheEntry *own;
	Oid			type,
				right;

	op_input_types(sortop, &type, &right);
	own = lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	if (sortop != own->lt_opr && sortop != own->gt_opr)
		dp_refuse_at(c->agg->location, errmsg("%s sorts by an order of its own; leave USING out", c->column->label));
	return sortop == own->gt_opr;
}

/* Tells whether values that occur again change nothing. */
static bool
ignores_repetition(const DpAggregate *kind)
{
	return kind->answer == DP_ANSWER_MIN || kind->answer == DP_ANSWER_MAX;
}

void
dp_add_aggregate(DpLevel *level, Aggref *agg)
{
	DpSplitContext *cxt = level->cxt;
	AggregateCall c = {level, cxt, agg};
	List	   *values = NIL;

	c.kind = dp_find_aggregate(agg->aggfnoid, true);
	c.column = dp_make_release_column();
	c.column->answer = c.kind->answer;
	c.column->label = dp_expression_text(level, (Node *) agg);
	c.column->location = agg->location;
	c.column->result_type = getBaseType(agg->aggtype);
	if (AGGKIND_IS_ORDERED_SET(agg->aggkind))
		c.column->descending = is_descending(&c, ((SortGroupClause *) linitial(agg->aggorder))->sortop);
	else if (agg->aggorder)
		dp_refuse_at(agg->location, errmsg("ORDER BY inside %s is not possible; leave it out", c.column->label));
	if (agg->aggdistinct && !ignores_repetition(c.kind) &&
		!(c.kind->answer == DP_ANSWER_SUM && c.kind->kind == DP_VALUE_COUNT))
		dp_refuse_distinct(level, agg);
	if (agg->aggfilter)
		c.filter = safe(&c, (Node *) agg->aggfilter);
	sort_arguments(&c);

	switch (c.kind->answer)
	{
		case DP_ANSWER_SUM:
			values = count_or_sum_values(&c);
			break;
		case DP_ANSWER_MOMENTS:
			check_types(&c, false);
			set_bounds(&c);
			values = moment_values(&c);
			break;
		case DP_ANSWER_CLIPPED_TOTALS:
			values = total_values(&c);
			break;
		case DP_ANSWER_CLIPPED_GROUPS:
			values = group_values(&c);
			break;
		case DP_ANSWER_MODE:
			values = mode_values(&c);
			break;
		default:
			values = vector_values(&c);
			break;
	}
	dp_add_column(level, c.column, values, c.filter);
}
