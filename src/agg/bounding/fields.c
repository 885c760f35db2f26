/*-------------------------------------------------------------------------
 *
 * fields.c
 *	  From the arguments of bound_unit to fields: each expression once.
 *
 * An aggregate has up to six values (dp_corr), each an expression of its own
 * over the same x; a query may have dozens.  Here their arguments are taken apart,
 * x is computed once for each row, and what is put aside for a later pass is a
 * field: a number on its grid, or between its bounds, or a bin, or a bit.
 *
 * What is taken apart is what guard/inner_query.c puts together:
 *
 *		CASE WHEN filter THEN x END			filter; x
 *		filter AND y IS NOT NULL			filter; whether y is there
 *		NULLIF(x, NaN) IS NOT NULL			whether x is there, and no NaN
 *		centered(x, range), bin(x, range)	x; the function
 *		chebyshev(t), product(t, u)			t, u; the polynomial
 *
 * Anything else is an expression by itself.
 *
 * Invariants:
 *	- a value gets from a row what bound_unit gets from its argument: steps,
 *	  centered values and bins are those of the same functions;
 *	- an expression is computed where and when the argument would compute it: not
 *	  where its filter is not true.  Volatile ones are not shared;
 *	- a field's value fits 64 bits, and depends on the row alone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "agg/bounding/fields.h"
#include "base/extension.h"

extern Datum dp_chebyshev(PG_FUNCTION_ARGS);
extern Datum dp_product(PG_FUNCTION_ARGS);

typedef struct Reader
{
	DpFields   *fields;
	PlanState  *node;
	ExprContext *econtext;
} Reader;

/* Returns the column of the input that the expression is; 0: it is computed. */
AttrNumber
dp_input_column(const Expr *expr)
{
	const Var  *var = (const Var *) expr;

	return IsA(expr, Var) && var->varno == INDEX_VAR && var->varattno > 0 ? var->varattno : 0;
}

/* ------------------------------------------------------------------------
 * Expressions
 * ------------------------------------------------------------------------
 */

/* Returns the number of the expression, which is added unless it is there; filter: see DpExpression. */
static int
add_expression(Reader *reader, Expr *expr, int filter)
{
	DpFields   *fields = reader->fields;
	DpExpression *added;

	if (!contain_volatile_functions((Node *) expr))
		for (int i = 0; i < fields->nexprs; i++)
			if (fields->expr[i].filter == filter && equal(fields->expr[i].expr, expr))
				return i;
	if (fields->nexprs == DP_MAX_EXPRESSIONS)
		elog(ERROR, "bound_unit has too many arguments");
	added = &fields->expr[fields->nexprs];
	added->expr = expr;
	added->filter = filter;
	added->projected = -1;
	added->attno = dp_input_column(expr);
	if (added->attno > 0)
		fields->last_attno = Max(fields->last_attno, added->attno);
	else if (filter >= 0)
		added->state = ExecInitExpr(expr, reader->node);
	return fields->nexprs++;
}

static inline bool
is_projected(const DpExpression *expr)
{
	return expr->attno == 0 && expr->filter < 0;
}

/* the search for expressions within others */
typedef struct Within
{
	DpFields   *fields;
	int			whole;			/* number of the expression that is searched */
	bool		found;
} Within;

/* Replaces parts that are projected expressions themselves by what the first projection has of them. */
static Node *
replace_parts(Node *node, void *context)
{
	Within	   *within = context;
	DpFields   *fields = within->fields;

	if (node == NULL)
		return NULL;
	if (IsA(node, OpExpr) || IsA(node, FuncExpr))
		for (int i = 0; i < fields->nexprs; i++)
		{
			DpExpression *part = &fields->expr[i];

			if (i == within->whole || !is_projected(part) || !equal(node, part->expr) ||
				contain_volatile_functions(node))
				continue;
			within->found = part->is_part = true;
			return (Node *) makeVar(INNER_VAR, i + 1, exprType(node), exprTypmod(node), exprCollation(node), 0);
		}
	return expression_tree_mutator(node, replace_parts, context);
}

static ProjectionInfo *
project(Reader *reader, List *targets, TupleDesc input)
{
	if (targets == NIL)
		return NULL;
	return ExecBuildProjectionInfo(targets, reader->econtext,
								   MakeSingleTupleTableSlot(ExecTypeFromTL(targets), &TTSOpsVirtual),
								   reader->node, input);
}

static void
add_target(List **targets, DpExpression *expr, Expr *computed)
{
	expr->projected = list_length(*targets);
	*targets = lappend(*targets, makeTargetEntry(computed, list_length(*targets) + 1, NULL, false));
}

/* Sets the columns of the first projection where replace_parts has put the numbers of expressions. */
static bool
number_parts(Node *node, void *context)
{
	DpFields   *fields = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->varno == INNER_VAR)
	{
		((Var *) node)->varattno = fields->expr[((Var *) node)->varattno - 1].projected + 1;
		return false;
	}
	return expression_tree_walker(node, number_parts, context);
}

/*
 * Has two projections compute all expressions that every row needs: the first those
 * that are parts of others, like a price with discount of that with tax.
 */
static void
project_expressions(Reader *reader, TupleDesc input)
{
	DpFields   *fields = reader->fields;
	Expr	  **rest = palloc0(sizeof(Expr *) * Max(fields->nexprs, 1));
	List	   *parts = NIL;
	List	   *wholes = NIL;

	for (int i = 0; i < fields->nexprs; i++)
	{
		Within		within = {fields, i, false};

		if (!is_projected(&fields->expr[i]))
			continue;
		rest[i] = (Expr *) replace_parts((Node *) fields->expr[i].expr, &within);
		fields->expr[i].has_parts = within.found;
	}
	for (int i = 0; i < fields->nexprs; i++)
		if (is_projected(&fields->expr[i]) && fields->expr[i].is_part)
			add_target(&parts, &fields->expr[i], fields->expr[i].expr);
	for (int i = 0; i < fields->nexprs; i++)
	{
		if (!is_projected(&fields->expr[i]) || fields->expr[i].is_part)
			continue;
		if (fields->expr[i].has_parts)
			number_parts((Node *) rest[i], fields);
		add_target(&wholes, &fields->expr[i], rest[i]);
	}
	fields->parts = project(reader, parts, input);
	fields->projection = project(reader, wholes, input);
}

/* ------------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------------
 */

static bool
is_function(const Expr *expr, PGFunction function)
{
	return IsA(expr, FuncExpr) && dp_own_c_function(((const FuncExpr *) expr)->funcid) == function;
}

/* Tells whether the expression is centered(x, range) or bin(x, range), with one range for all rows. */
static bool
is_ranged(const Expr *expr)
{
	const FuncExpr *call = (const FuncExpr *) expr;
	Expr	   *range;

	if (!IsA(expr, FuncExpr) || call->funcid < FirstNormalObjectId || list_length(call->args) != 2 ||
		call->funcresulttype != INT4OID || call->funcretset)
		return false;
	range = lsecond(call->args);
	return ((IsA(range, Param) && ((Param *) range)->paramkind == PARAM_EXTERN) || IsA(range, Const)) &&
		exprType((Node *) range) == dp_own_type("range") &&
		dp_is_own(ProcedureRelationId, call->funcid) && func_strict(call->funcid);
}

static bool
same_field(const DpField *a, const DpField *b)
{
	if (a->kind != b->kind || a->expr != b->expr)
		return false;
	switch (a->kind)
	{
		case DP_FIELD_STEPS:
			return memcmp(&a->grid, &b->grid, sizeof(DpGrid)) == 0;
		case DP_FIELD_CALL:
			return a->function->funcid == b->function->funcid &&
				equal(lsecond(a->function->args), lsecond(b->function->args));
		case DP_FIELD_VALUE:
			return a->skips_nan == b->skips_nan;
		default:
			return true;
	}
}

static int
add_field(Reader *reader, const DpField *field)
{
	DpFields   *fields = reader->fields;

	for (int i = 0; i < fields->nfields; i++)
		if (same_field(&fields->field[i], field))
			return i;
	Assert(fields->nfields < DP_MAX_FIELDS);
	fields->field[fields->nfields] = *field;
	return fields->nfields++;
}

static Oid
expression_type(const Expr *expr)
{
	return getBaseType(exprType((const Node *) expr));
}

static int
add_steps(Reader *reader, Expr *x, int filter, const DpGrid *grid)
{
	DpField		field = {.kind = DP_FIELD_STEPS, .type = expression_type(x), .grid = *grid};

	field.expr = add_expression(reader, x, filter);
	field.width = (field.type == INT2OID || field.type == INT4OID) && grid->exponent == 0
		? sizeof(int32) : sizeof(int64);
	return add_field(reader, &field);
}

static int
add_code(Reader *reader, Expr *x, int filter)
{
	DpField		field = {.kind = DP_FIELD_CODE, .type = expression_type(x)};

	field.expr = add_expression(reader, x, filter);
	field.width = field.type == INT8OID ? sizeof(int64) : sizeof(int32);
	return add_field(reader, &field);
}

/* Adds the result of an expression of type int4, which is centered(x, range) or bin(x, range) as a rule. */
static int
add_int4(Reader *reader, Expr *expr, int filter)
{
	DpField		field = {.kind = DP_FIELD_CALL, .width = sizeof(int32)};
	FuncExpr   *function = (FuncExpr *) expr;
	FmgrInfo   *info;
	NullableDatum range;

	if (!is_ranged(expr))
		return add_code(reader, expr, filter);
	range.value = ExecEvalExpr(ExecInitExpr(lsecond(function->args), reader->node), reader->econtext, &range.isnull);
	if (range.isnull)
		return add_code(reader, expr, filter);
	info = palloc0(sizeof(FmgrInfo));
	fmgr_info(function->funcid, info);
	fmgr_info_set_expr((Node *) function, info);
	field.function = function;
	field.type = expression_type(linitial(function->args));
	field.call = palloc0(SizeForFunctionCallInfo(2));
	InitFunctionCallInfoData(*field.call, info, 2, function->inputcollid, NULL, NULL);
	field.call->args[1] = range;
	field.expr = add_expression(reader, linitial(function->args), filter);
	return add_field(reader, &field);
}

static bool
has_nan(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID;
}

static bool
is_nan(Oid type, Datum value)
{
	return type == NUMERICOID ? numeric_is_nan(DatumGetNumeric(value)) :
		isnan(type == FLOAT4OID ? DatumGetFloat4(value) : DatumGetFloat8(value));
}

/* Returns x of NULLIF(x, NaN); NULL if the expression is none. */
static Expr *
without_nan(Expr *expr)
{
	NullIfExpr *nullif = (NullIfExpr *) expr;
	Const	   *nan;
	Oid			type = expression_type(expr);

	if (!IsA(expr, NullIfExpr) || list_length(nullif->args) != 2 || !IsA(lsecond(nullif->args), Const))
		return NULL;
	nan = lsecond(nullif->args);
	if (nan->constisnull || nan->consttype != type || !has_nan(type) ||
		exprType(linitial(nullif->args)) != type || !is_nan(type, nan->constvalue))
		return NULL;
	return linitial(nullif->args);
}

/* Adds whether a row has a value of an expression: where a field says so anyway, that one. */
static int
add_presence(Reader *reader, Expr *expr, int filter)
{
	DpFields   *fields = reader->fields;
	DpField		field = {.kind = DP_FIELD_VALUE};
	Expr	   *number = without_nan(expr);

	if (is_ranged(expr))
		return add_int4(reader, expr, filter);
	field.skips_nan = number != NULL;
	if (number != NULL)
		expr = number;
	field.type = expression_type(expr);
	field.expr = add_expression(reader, expr, filter);
	/* steps and calls are NULL for NaN, too */
	if (field.skips_nan || !has_nan(field.type))
		for (int i = 0; i < fields->nfields; i++)
			if (fields->field[i].expr == field.expr && fields->field[i].kind != DP_FIELD_TRUE &&
				(fields->field[i].kind != DP_FIELD_VALUE || fields->field[i].skips_nan == field.skips_nan))
				return i;
	return add_field(reader, &field);
}

static int
add_truth(Reader *reader, Expr *expr)
{
	DpField		field = {.kind = DP_FIELD_TRUE, .type = BOOLOID};

	field.expr = add_expression(reader, expr, -1);
	return add_field(reader, &field);
}

/* ------------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------------
 */

/* Returns x of CASE WHEN filter THEN x END, and the filter's number; else the expression itself, and -1. */
static Expr *
read_filter(Reader *reader, Expr *expr, int *filter)
{
	CaseExpr   *cases = (CaseExpr *) expr;
	CaseWhen   *when;

	*filter = -1;
	if (!IsA(expr, CaseExpr) || cases->arg != NULL || list_length(cases->args) != 1 ||
		(cases->defresult != NULL &&
		 !(IsA(cases->defresult, Const) && ((Const *) cases->defresult)->constisnull)))
		return expr;
	when = linitial(cases->args);
	if (contain_volatile_functions((Node *) expr))
		return expr;
	*filter = add_expression(reader, when->expr, -1);
	return when->result;
}

static bool
is_presence(const Expr *expr)
{
	return IsA(expr, NullTest) && ((const NullTest *) expr)->nulltesttype == IS_NOT_NULL &&
		!((const NullTest *) expr)->argisrow && !type_is_rowtype(exprType((Node *) ((const NullTest *) expr)->arg));
}

static void
read_count(Reader *reader, Expr *expr, DpTaken *taken)
{
	BoolExpr   *both = (BoolExpr *) expr;

	taken->take = DP_TAKE_PRESENT;
	if (IsA(expr, Const))
		taken->take = !((Const *) expr)->constisnull && DatumGetBool(((Const *) expr)->constvalue)
			? DP_TAKE_ROW : DP_TAKE_NEVER;
	else if (is_presence(expr))
		taken->field = add_presence(reader, ((NullTest *) expr)->arg, -1);
	else if (IsA(expr, BoolExpr) && both->boolop == AND_EXPR && list_length(both->args) == 2 &&
			 is_presence(lsecond(both->args)) && !contain_volatile_functions((Node *) expr))
		taken->field = add_presence(reader, ((NullTest *) lsecond(both->args))->arg,
									add_expression(reader, linitial(both->args), -1));
	else
		taken->field = add_truth(reader, expr);
}

static void
read_scaled(Reader *reader, Expr *expr, DpTaken *taken)
{
	int			filter;
	Expr	   *x = read_filter(reader, expr, &filter);

	taken->take = DP_TAKE_SUM;
	if (is_function(x, dp_chebyshev))
	{
		taken->take = DP_TAKE_CHEBYSHEV;
		taken->field = add_int4(reader, linitial(((FuncExpr *) x)->args), filter);
	}
	else if (is_function(x, dp_product))
	{
		taken->take = DP_TAKE_PRODUCT;
		taken->field = add_int4(reader, linitial(((FuncExpr *) x)->args), filter);
		taken->field2 = add_int4(reader, lsecond(((FuncExpr *) x)->args), filter);
	}
	else
		taken->field = add_int4(reader, x, filter);
}

static void
read_value(Reader *reader, const DpBoundSpec *spec, int i, Expr *expr, DpTaken *taken)
{
	int			filter;
	Expr	   *x;

	switch ((DpValueKind) spec->value[i].kind)
	{
		case DP_VALUE_COUNT:
		case DP_VALUE_UNITS:
		case DP_VALUE_ROWS:
			read_count(reader, expr, taken);
			break;
		case DP_VALUE_SUM:
			x = read_filter(reader, expr, &filter);
			taken->take = DP_TAKE_SUM;
			taken->field = add_steps(reader, x, filter, &spec->value[i].grid);
			break;
		case DP_VALUE_SCALED:
			read_scaled(reader, expr, taken);
			break;
		case DP_VALUE_CODES:
		case DP_VALUE_DISTINCT:
			x = read_filter(reader, expr, &filter);
			taken->take = DP_TAKE_CODE;
			taken->codes = dp_spec_codes(spec, i);
			taken->field = taken->codes & DP_CODES_SET ? add_code(reader, x, filter) : add_int4(reader, x, filter);
			break;
	}
}

/*
 * Reads the values' arguments, which must be of types that bound_unit takes; they are
 * computed by the node in econtext.  Parameters are known by now.
 */
void
dp_fields_init(DpFields *fields, const DpBoundSpec *spec, const DpLayout *layout, List *values,
			   PlanState *node, ExprContext *econtext, TupleDesc input)
{
	Reader		reader = {fields, node, econtext};

	memset(fields, 0, sizeof(DpFields));
	fields->expr = palloc0(sizeof(DpExpression) * DP_MAX_EXPRESSIONS);
	fields->field = palloc0(sizeof(DpField) * DP_MAX_FIELDS);
	fields->taken = palloc0(sizeof(DpTaken) * Max(spec->nvalues, 1));
	fields->nvalues = spec->nvalues;
	/* counts come after what they can be told by */
	for (int counts = 0; counts < 2; counts++)
		for (int i = 0; i < spec->nvalues; i++)
		{
			DpValueKind kind = spec->value[i].kind;

			if ((kind == DP_VALUE_COUNT || kind == DP_VALUE_UNITS || kind == DP_VALUE_ROWS) != (counts == 1))
				continue;
			fields->taken[i].at = layout->value[i];
			read_value(&reader, spec, i, list_nth(values, i), &fields->taken[i]);
		}
	project_expressions(&reader, input);
}

/* ------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------
 */

static inline bool
compute_field(DpField *field, const DpExpression *expr, int64 *value)
{
	if (expr->isnull)
		return false;
	switch (field->kind)
	{
		case DP_FIELD_TRUE:
			return DatumGetBool(expr->value);
		case DP_FIELD_VALUE:
			return !field->skips_nan || !is_nan(field->type, expr->value);
		case DP_FIELD_STEPS:
			return dp_row_steps(field->type, expr->value, &field->grid, value);
		case DP_FIELD_CALL:
			field->call->args[0].value = expr->value;
			field->call->args[0].isnull = false;
			field->call->isnull = false;
			*value = DatumGetInt32(FunctionCallInvoke(field->call));
			return !field->call->isnull;
		case DP_FIELD_CODE:
			*value = field->width > sizeof(int32) ? DatumGetInt64(expr->value) : DatumGetInt32(expr->value);
			return true;
	}
	return false;
}

/* Computes the fields of a row of the input, in econtext's memory for rows. */
void
dp_compute_fields(DpFields *fields, TupleTableSlot *slot, ExprContext *econtext, int64 *value, bool *isnull)
{
	TupleTableSlot *parts = NULL;
	TupleTableSlot *projected = NULL;

	econtext->ecxt_scantuple = slot;
	slot_getsomeattrs(slot, fields->last_attno);
	if (fields->parts != NULL)
		econtext->ecxt_innertuple = parts = ExecProject(fields->parts);
	if (fields->projection != NULL)
		projected = ExecProject(fields->projection);
	for (int i = 0; i < fields->nexprs; i++)
	{
		DpExpression *expr = &fields->expr[i];

		expr->isnull = true;
		if (expr->filter >= 0 &&
			(fields->expr[expr->filter].isnull || !DatumGetBool(fields->expr[expr->filter].value)))
			continue;
		if (expr->attno > 0)
		{
			expr->value = slot->tts_values[expr->attno - 1];
			expr->isnull = slot->tts_isnull[expr->attno - 1];
		}
		else if (expr->projected >= 0)
		{
			const TupleTableSlot *from = expr->is_part ? parts : projected;

			expr->value = from->tts_values[expr->projected];
			expr->isnull = from->tts_isnull[expr->projected];
		}
		else
			expr->value = ExecEvalExpr(expr->state, econtext, &expr->isnull);
	}
	for (int i = 0; i < fields->nfields; i++)
		isnull[i] = !compute_field(&fields->field[i], &fields->expr[fields->field[i].expr], &value[i]);
}
