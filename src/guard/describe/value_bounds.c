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
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "base/compat.h"
#include "base/extension.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/read/read.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "parser/scansup.h"
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
} BoundContext;

static DpBound *build(BoundContext *c, Query *query, Node *expr);

bool
dp_is_number(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID ||
		type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID;
}

/* ------------------------------------------------------------------------
 * Functions
 * ------------------------------------------------------------------------
 */

/* of which bounds follow in another way than by an operation */
#define WIDTH_BUCKET	DP_BOUND_HULL

/* those that have a safe variant, by its name */
static const struct
{
	const char *name;
	DpBoundOp	op;
}			safe_functions[] = {
	{"try_add", DP_BOUND_ADD}, {"try_subtract", DP_BOUND_SUBTRACT},
	{"try_multiply", DP_BOUND_MULTIPLY}, {"try_divide", DP_BOUND_DIVIDE}, {"try_mod", DP_BOUND_MOD},
	{"try_negate", DP_BOUND_NEGATE}, {"try_abs", DP_BOUND_ABS},
	{"try_sqrt", DP_BOUND_SQRT}, {"try_ln", DP_BOUND_LN}, {"try_log", DP_BOUND_LOG}, {"try_exp", DP_BOUND_EXP},
	{"try_power", DP_BOUND_POWER},
	{"try_ceil", DP_BOUND_CEIL}, {"try_floor", DP_BOUND_FLOOR}, {"try_round", DP_BOUND_ROUND},
	{"try_int2", DP_BOUND_SAME}, {"try_int4", DP_BOUND_SAME}, {"try_int8", DP_BOUND_SAME},
	{"try_float4", DP_BOUND_SAME}, {"try_float8", DP_BOUND_SAME}, {"try_numeric", DP_BOUND_SAME},
	{"try_summand", DP_BOUND_SAME}, {"try_summand_squared", DP_BOUND_SAME},
	{"try_width_bucket", WIDTH_BUCKET}
};

/* those that run as they stand */
static const struct
{
	Oid			funcid;
	DpBoundOp	op;
}			plain_functions[] = {
	{F_INT2UP, DP_BOUND_SAME}, {F_INT4UP, DP_BOUND_SAME}, {F_INT8UP, DP_BOUND_SAME},
	{F_FLOAT4UP, DP_BOUND_SAME}, {F_FLOAT8UP, DP_BOUND_SAME}, {F_NUMERIC_UPLUS, DP_BOUND_SAME},
	{F_FLOAT4UM, DP_BOUND_NEGATE}, {F_FLOAT8UM, DP_BOUND_NEGATE}, {F_NUMERIC_UMINUS, DP_BOUND_NEGATE},
	{F_FLOAT4ABS, DP_BOUND_ABS}, {F_FLOAT8ABS, DP_BOUND_ABS}, {F_ABS_FLOAT4, DP_BOUND_ABS},
	{F_ABS_FLOAT8, DP_BOUND_ABS}, {F_NUMERIC_ABS, DP_BOUND_ABS}, {F_ABS_NUMERIC, DP_BOUND_ABS},
	{F_CEIL_FLOAT8, DP_BOUND_CEIL}, {F_CEILING_FLOAT8, DP_BOUND_CEIL}, {F_FLOOR_FLOAT8, DP_BOUND_FLOOR},
	{F_ROUND_FLOAT8, DP_BOUND_ROUND}, {F_TRUNC_FLOAT8, DP_BOUND_TRUNC},
	{F_TRUNC_NUMERIC, DP_BOUND_TRUNC}, {F_TRUNC_NUMERIC_INT4, DP_BOUND_TRUNC},
	{F_SIGN_FLOAT8, DP_BOUND_SIGN}, {F_SIGN_NUMERIC, DP_BOUND_SIGN},
	{F_CBRT, DP_BOUND_CBRT}, {F_DCBRT, DP_BOUND_CBRT}, {F_TRIM_SCALE, DP_BOUND_SAME},
	{F_INT4_INT2, DP_BOUND_SAME}, {F_INT8_INT2, DP_BOUND_SAME}, {F_INT8_INT4, DP_BOUND_SAME},
	{F_FLOAT4_INT2, DP_BOUND_SAME}, {F_FLOAT4_INT4, DP_BOUND_SAME}, {F_FLOAT4_INT8, DP_BOUND_SAME},
	{F_FLOAT8_INT2, DP_BOUND_SAME}, {F_FLOAT8_INT4, DP_BOUND_SAME}, {F_FLOAT8_INT8, DP_BOUND_SAME},
	{F_FLOAT8_FLOAT4, DP_BOUND_SAME},
	{F_NUMERIC_INT2, DP_BOUND_SAME}, {F_NUMERIC_INT4, DP_BOUND_SAME}, {F_NUMERIC_INT8, DP_BOUND_SAME},
	{F_NUMERIC_FLOAT4, DP_BOUND_SAME}, {F_NUMERIC_FLOAT8, DP_BOUND_SAME}
};

/* Returns the name of a function's safe variant, if it has or is one; else NULL. */
static const char *
safe_name(Oid funcid)
{
	const DpAllowed *allowed = dp_allowed_function(funcid);

	if (allowed != NULL)
		return allowed->safe;
	if (dp_is_own(ProcedureRelationId, funcid) && get_func_namespace(funcid) == dp_internal_schema())
		return get_func_name(funcid);
	return NULL;
}

static bool
find_function(Oid funcid, DpBoundOp *op)
{
	const char *name = safe_name(funcid);

	for (int i = 0; name != NULL && i < lengthof(safe_functions); i++)
		if (strcmp(safe_functions[i].name, name) == 0)
		{
			*op = safe_functions[i].op;
			return true;
		}
	for (int i = 0; name == NULL && i < lengthof(plain_functions); i++)
		if (plain_functions[i].funcid == funcid)
		{
			*op = plain_functions[i].op;
			return true;
		}
	return false;
}

/* ------------------------------------------------------------------------
 * Nodes
 * ------------------------------------------------------------------------
 */

static DpBound *
bound_of(BoundContext *c, Node *expr, DpBoundOp op, List *args)
{
	c->nodes++;
	return dp_make_bound(op, args, exprType(expr), exprTypmod(expr));
}

/* Returns the text of an expression of the level, if it is short; of others names are not known here. */
static char *
short_text(BoundContext *c, Query *query, Node *expr)
{
	char	   *text;

	if (query != c->level->from.query)
		return NULL;
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
	Const	   *constant = makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(value), false, true);
	DpBound    *bound = bound_of(c, (Node *) constant, DP_BOUND_VALUE, NIL);

	bound->value = (Expr *) constant;
	return bound;
}

static List *
build_all(BoundContext *c, Query *query, List *exprs)
{
	List	   *bounds = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
		bounds = lappend(bounds, build(c, query, lfirst(lc)));
	return bounds;
}

static bool
column_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var) || IsA(node, Aggref) || IsA(node, GroupingFunc) || IsA(node, WindowFunc) || IsA(node, SubLink))
		return true;
	return expression_tree_walker(node, column_walker, context);
}

/* Makes the bound of what has no columns, evaluated when it is priced, if not here. */
static DpBound *
value_bound(BoundContext *c, Query *query, Node *expr)
{
	DpBound    *bound;

	if (!dp_is_number(exprType(expr)) || contain_volatile_functions(expr))
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
	DpBound    *bound;

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
	Query	   *values = dp_is_number(var->vartype) ? dp_shadow_range(c->level, query, var) : NULL;
	List	   *ranges = c->level->release->ranges;
	ListCell   *lc;

	if (values == NULL)
		return no_bound(c, query, (Node *) var, DP_GAP_EXPRESSION);
	bound = bound_of(c, (Node *) var, DP_BOUND_RANGE, NIL);
	bound->text = short_text(c, query, (Node *) var);
	foreach(lc, ranges)
	{
		bound->range = foreach_current_index(lc);
		if (equal(((DpKeySet *) lfirst(lc))->query, values))
			return bound;
	}
	bound->range = list_length(ranges);
	range = dp_make_key_set();
	range->query = values;
	c->level->release->ranges = lappend(ranges, range);
	return bound;
}

static DpBound *
column_bound(BoundContext *c, Query *query, Var *var)
{
	RangeTblEntry *rte;
	DpColumnOrigin origin;
	TargetEntry *tle;

	if (var->varlevelsup != 0 || var->varattno <= 0)
		return no_bound(c, query, (Node *) var, DP_GAP_EXPRESSION);
	rte = rt_fetch(var->varno, query->rtable);
	if (rte->rtekind == RTE_NAMEDTUPLESTORE)
		return range_bound(c, query, var);
	if (dp_trace_column(query, NULL, (Node *) var, &origin))
	{
		if (origin.is_protected)
			return declared_bound(c, query, var, &origin);
		if (rte->rtekind == RTE_RELATION)
			return range_bound(c, query, var);
	}
	if (rte->rtekind != RTE_SUBQUERY || rte->subquery->setOperations || rte->subquery->groupingSets)
		return no_bound(c, query, (Node *) var, DP_GAP_EXPRESSION);
	tle = get_tle_by_resno(rte->subquery->targetList, var->varattno);
	if (tle == NULL)
		return no_bound(c, query, (Node *) var, DP_GAP_EXPRESSION);
	/* an outer join may have no row of it */
	return bound_of(c, (Node *) var, DP_BOUND_HULL, list_make1(build(c, rte->subquery, (Node *) tle->expr)));
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

/* between what a field of a date or time is, with a scale that says what it is a multiple of */
static const struct
{
	int			field;
	const char *lowest;
	const char *highest;
}			field_ranges[] = {
	{DTK_MICROSEC, "0", "60000000"}, {DTK_MILLISEC, "0.000", "60000.000"}, {DTK_SECOND, "0.000000", "60.000000"},
	{DTK_MINUTE, "0", "59"}, {DTK_HOUR, "0", "24"}, {DTK_DAY, "1", "31"}, {DTK_MONTH, "1", "12"}, {DTK_QUARTER, "1", "4"},
	{DTK_WEEK, "1", "53"}, {DTK_DOW, "0", "6"}, {DTK_ISODOW, "1", "7"}, {DTK_DOY, "1", "366"}
};

static DpBound *
number_bound(BoundContext *c, const char *text)
{
	Datum		value = DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	Expr	   *constant = numeric_constant(DatumGetNumeric(value));
	DpBound    *bound = bound_of(c, (Node *) constant, DP_BOUND_VALUE, NIL);

	bound->value = constant;
	return bound;
}

/* A field of a date or time, by extract or date_part. */
static DpBound *
field_bound(BoundContext *c, Query *query, Node *expr, List *args)
{
	Const	   *name = (Const *) linitial(args);
	Oid			source = exprType(lsecond(args));
	char	   *field;
	int			found;
	int			kind;

	if (!IsA(name, Const) || name->constisnull || name->consttype != TEXTOID || source == INTERVALOID)
		return no_bound(c, query, expr, DP_GAP_EXPRESSION);
	field = downcase_identifier(TextDatumGetCString(name->constvalue), strlen(TextDatumGetCString(name->constvalue)),
								false, true);
	kind = DecodeUnits(0, field, &found);
	if (kind == UNKNOWN_FIELD)
		kind = DecodeSpecial(0, field, &found);
	if (kind != UNITS)
		return no_bound(c, query, expr, DP_GAP_EXPRESSION);
	for (int i = 0; i < lengthof(field_ranges); i++)
		if (field_ranges[i].field == found)
			return bound_of(c, expr, DP_BOUND_HULL, list_make2(number_bound(c, field_ranges[i].lowest),
															   number_bound(c, field_ranges[i].highest)));
	return no_bound(c, query, expr, DP_GAP_EXPRESSION);
}

static DpBound *
function_bound(BoundContext *c, Query *query, Node *expr, Oid funcid, List *args)
{
	DpBoundOp	op;
	DpBound    *bound;
	ListCell   *lc;

	const char *name = safe_name(funcid);

	if (name != NULL && (strcmp(name, "try_extract") == 0 || strcmp(name, "try_date_part") == 0))
		return field_bound(c, query, expr, args);
	if (funcid == F_INT4_BOOL)
		return bound_of(c, expr, DP_BOUND_HULL, list_make2(constant_bound(c, 0), constant_bound(c, 1)));
	if (!find_function(funcid, &op) || !dp_is_number(exprType(expr)))
		return no_bound(c, query, expr, DP_GAP_EXPRESSION);
	foreach(lc, args)
		if (!dp_is_number(exprType(lfirst(lc))))
		return no_bound(c, query, expr, DP_GAP_EXPRESSION);
	if (op == WIDTH_BUCKET)
		return bucket_bound(c, query, expr, args);
	/* a cast's other arguments are its type's */
	if (op == DP_BOUND_SAME)
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

static DpBound *
case_bound(BoundContext *c, Query *query, CaseExpr *cases)
{
	List	   *results = NIL;
	ListCell   *lc;

	foreach(lc, cases->args)
		results = lappend(results, build(c, query, (Node *) lfirst_node(CaseWhen, lc)->result));
	if (cases->defresult != NULL)
		results = lappend(results, build(c, query, (Node *) cases->defresult));
	return bound_of(c, (Node *) cases, DP_BOUND_HULL, results);
}

static DpBound *
nullif_bound(BoundContext *c, Query *query, NullIfExpr *expr)
{
	DpBound    *value = build(c, query, linitial(expr->args));

	if (column_walker(lsecond(expr->args), NULL) || !dp_is_number(exprType(lsecond(expr->args))))
		return value;
	return bound_of(c, (Node *) expr, DP_BOUND_NULLIF, list_make2(value, build(c, query, lsecond(expr->args))));
}

/* An aggregate of the rows of one unit, by PostgreSQL's own functions or those that run in their place. */
static DpBound *
aggregate_bound(BoundContext *c, Query *query, Aggref *agg)
{
	char	   *name = get_func_name(agg->aggfnoid);
	DpBound    *arg;

	if (name == NULL || (agg->aggfnoid >= FirstGenbkiObjectId && strncmp(name, "unit_", 5) != 0))
		return no_bound(c, query, (Node *) agg, DP_GAP_EXPRESSION);
	if (strncmp(name, "unit_", 5) == 0)
		name += 5;
	if (strcmp(name, "count") == 0)
		return bound_of(c, (Node *) agg, DP_BOUND_ROWS, NIL);
	if (list_length(agg->args) != 1 || !dp_is_number(agg->aggtype) ||
		!dp_is_number(exprType((Node *) linitial_node(TargetEntry, agg->args)->expr)))
		return no_bound(c, query, (Node *) agg, DP_GAP_EXPRESSION);
	arg = build(c, query, (Node *) linitial_node(TargetEntry, agg->args)->expr);
	if (strcmp(name, "sum") == 0)
		return bound_of(c, (Node *) agg, DP_BOUND_TOTAL, list_make1(arg));
	if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
		return bound_of(c, (Node *) agg, DP_BOUND_HULL, list_make1(arg));
	if (strcmp(name, "avg") == 0)
		return bound_of(c, (Node *) agg, DP_BOUND_MEAN, list_make1(arg));
	arg = bound_of(c, (Node *) agg, DP_BOUND_SPREAD, list_make1(arg));
	if (strncmp(name, "stddev", 6) == 0)
		return arg;
	if (strncmp(name, "var", 3) == 0)
		return bound_of(c, (Node *) agg, DP_BOUND_MULTIPLY, list_make2(arg, copyObject(arg)));
	return no_bound(c, query, (Node *) agg, DP_GAP_EXPRESSION);
}

static DpBound *
build(BoundContext *c, Query *query, Node *expr)
{
	check_stack_depth();
	if (c->nodes > MOST_NODES)
		return no_bound(c, query, expr, DP_GAP_EXPRESSION);
	if (!column_walker(expr, NULL))
		return value_bound(c, query, expr);
	switch (nodeTag(expr))
	{
		case T_Var:
			return column_bound(c, query, (Var *) expr);
		case T_RelabelType:
			return build(c, query, (Node *) ((RelabelType *) expr)->arg);
		case T_FuncExpr:
			return function_bound(c, query, expr, ((FuncExpr *) expr)->funcid, ((FuncExpr *) expr)->args);
		case T_OpExpr:
			return function_bound(c, query, expr, get_opcode(((OpExpr *) expr)->opno), ((OpExpr *) expr)->args);
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
			return aggregate_bound(c, query, (Aggref *) expr);
		default:
			return no_bound(c, query, expr, DP_GAP_EXPRESSION);
	}
}

DpBound *
dp_bound_of_value(DpLevel *level, Node *value)
{
	BoundContext c = {level, 0};

	return build(&c, level->from.query, value);
}
