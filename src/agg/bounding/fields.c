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
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "agg/bounding/fields.h"
#include "base/extension.h"

extern Datum dp_bin_numeric(PG_FUNCTION_ARGS);
extern Datum dp_centered_numeric(PG_FUNCTION_ARGS);
extern Datum dp_chebyshev(PG_FUNCTION_ARGS);
extern Datum dp_product(PG_FUNCTION_ARGS);

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
			return memcmp(&a->grid, &b->grid, sizeof(DpGrid)) == 0 &&
				memcmp(&a->limits, &b->limits, sizeof(DpRowLimits)) == 0;
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
add_field(DpFieldReader *reader, const DpField *field)
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

/* Adds value i of the spec, in steps. */
static int
add_steps(DpFieldReader *reader, const DpBoundSpec *spec, int i, Expr *x, int filter)
{
	const DpGrid *grid = &spec->value[i].grid;
	const DpRowLimits *limits = &spec->value[i].row;
	DpField		field = {.kind = DP_FIELD_STEPS, .type = expression_type(x), .grid = *grid, .limits = *limits};

	field.expr = dp_add_expression(reader, x, filter);
	field.takes_decimals = grid->exponent >= DP_DECIMAL_MIN_EXPONENT && grid->exponent <= DP_DECIMAL_MAX_EXPONENT;

	/*
	 * Steps lie within the limits, which are of a total divided by many rows
	 * as a rule.  Those of an integer are the integer, unless a limit beyond
	 * the type's range is taken for it.
	 */
	field.width = (limits->lower >= PG_INT32_MIN && limits->upper <= PG_INT32_MAX) ||
		((field.type == INT2OID || field.type == INT4OID) && grid->exponent == 0 &&
		 limits->lower <= PG_INT32_MAX && limits->upper >= PG_INT32_MIN) ? sizeof(int32) : sizeof(int64);
	return add_field(reader, &field);
}

static int
add_code(DpFieldReader *reader, Expr *x, int filter)
{
	DpField		field = {.kind = DP_FIELD_CODE, .type = expression_type(x)};

	field.expr = dp_add_expression(reader, x, filter);
	field.width = field.type == INT8OID ? sizeof(int64) : sizeof(int32);
	return add_field(reader, &field);
}

/* Adds the result of an expression of type int4, which is centered(x, range) or bin(x, range) as a rule. */
static int
add_int4(DpFieldReader *reader, Expr *expr, int filter)
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
	field.range = (const DpRange *) DatumGetPointer(range.value);
	field.is_bin = is_function(expr, dp_bin_numeric);
	field.takes_decimals = field.is_bin || is_function(expr, dp_centered_numeric);
	field.expr = dp_add_expression(reader, linitial(function->args), filter);
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
add_presence(DpFieldReader *reader, Expr *expr, int filter)
{
	DpFields   *fields = reader->fields;
	DpField		field = {.kind = DP_FIELD_VALUE, .takes_decimals = true};
	Expr	   *number = without_nan(expr);

	if (is_ranged(expr))
		return add_int4(reader, expr, filter);
	field.skips_nan = number != NULL;
	if (number != NULL)
		expr = number;
	field.type = expression_type(expr);
	field.expr = dp_add_expression(reader, expr, filter);
	/* steps and calls are NULL for NaN, too */
	if (field.skips_nan || !has_nan(field.type))
		for (int i = 0; i < fields->nfields; i++)
			if (fields->field[i].expr == field.expr && fields->field[i].kind != DP_FIELD_TRUE &&
				(fields->field[i].kind != DP_FIELD_VALUE || fields->field[i].skips_nan == field.skips_nan))
				return i;
	return add_field(reader, &field);
}

static int
add_truth(DpFieldReader *reader, Expr *expr)
{
	DpField		field = {.kind = DP_FIELD_TRUE, .type = BOOLOID};

	field.expr = dp_add_expression(reader, expr, -1);
	return add_field(reader, &field);
}

/* ------------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------------
 */

/* Returns x of CASE WHEN filter THEN x END, and the filter's number; else the expression itself, and -1. */
static Expr *
read_filter(DpFieldReader *reader, Expr *expr, int *filter)
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
	*filter = dp_add_expression(reader, when->expr, -1);
	return when->result;
}

static bool
is_presence(const Expr *expr)
{
	return IsA(expr, NullTest) && ((const NullTest *) expr)->nulltesttype == IS_NOT_NULL &&
		!((const NullTest *) expr)->argisrow && !type_is_rowtype(exprType((Node *) ((const NullTest *) expr)->arg));
}

static void
read_count(DpFieldReader *reader, Expr *expr, DpTaken *taken)
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
									dp_add_expression(reader, linitial(both->args), -1));
	else
		taken->field = add_truth(reader, expr);
}

static void
read_scaled(DpFieldReader *reader, Expr *expr, DpTaken *taken)
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
read_value(DpFieldReader *reader, const DpBoundSpec *spec, int i, Expr *expr, DpTaken *taken)
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
		case DP_VALUE_CUT:
			x = read_filter(reader, expr, &filter);
			taken->take = DP_TAKE_SUM;
			taken->field = add_steps(reader, spec, i, x, filter);
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

/* Has numeric expressions computed as decimals where all fields can take them. */
static void
take_decimals(DpFields *fields)
{
	for (int i = 0; i < fields->nexprs; i++)
	{
		bool		all = true;
		bool		as_double = false;

		for (int f = 0; f < fields->nfields; f++)
			if (fields->field[f].expr == i)
			{
				all &= fields->field[f].takes_decimals;
				as_double |= fields->field[f].kind == DP_FIELD_CALL;
			}
		if (!all)
			continue;
		fields->expr[i].decimal = dp_decimals_add(&fields->decimals, fields->expr[i].expr);
		if (fields->expr[i].decimal >= 0)
			fields->decimals.as_double[fields->expr[i].decimal] |= as_double;
	}
	for (int i = 0; i < fields->decimals.nsteps; i++)
		if (fields->decimals.step[i].operation < DP_DECIMAL_CONST)
			dp_columns_add(&fields->columns, fields->decimals.step[i].attno);
}

/*
 * Reads the values' arguments, which must be of types that bound_unit takes; they are
 * computed by the node in econtext.  Parameters are known by now.
 */
void
dp_fields_init(DpFields *fields, const DpBoundSpec *spec, const DpLayout *layout, List *values,
			   PlanState *node, ExprContext *econtext, TupleDesc input)
{
	DpFieldReader reader = {fields, node, econtext};

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
	take_decimals(fields);
	dp_project_expressions(&reader, input);
}

/* ------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------
 */

static inline bool
compute_field(DpField *field, const DpExpression *expr, int64 *value)
{
	switch (field->kind)
	{
		case DP_FIELD_TRUE:
			return DatumGetBool(expr->value);
		case DP_FIELD_VALUE:
			return !field->skips_nan || !is_nan(field->type, expr->value);
		case DP_FIELD_STEPS:
			return dp_row_steps(field->type, expr->value, &field->grid, &field->limits, value);
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

/* The same as compute_field(), of an expression that is a decimal. */
static inline bool
compute_decimal_field(const DpField *field, const DpDecimals *decimals, int i, int64 *value)
{
	if (field->kind == DP_FIELD_STEPS)
		*value = dp_limited_row(dp_decimal_steps(decimals->value[i], field->grid.exponent), &field->limits);
	else if (field->kind == DP_FIELD_CALL)
		*value = field->is_bin ? dp_find_bin(decimals->real[i], field->range) : dp_center(decimals->real[i], field->range);
	return true;
}

/* Computes the fields of a row of the input, in econtext's memory for rows. */
void
dp_compute_fields(DpFields *fields, TupleTableSlot *slot, ExprContext *econtext, int64 *value, bool *isnull)
{
	bool		decimals;

	dp_columns_read(slot, &fields->columns);
	decimals = fields->decimals.nsteps > 0 && dp_compute_decimals(&fields->decimals, slot);
	dp_compute_expressions(fields, slot, econtext, decimals);
	for (int i = 0; i < fields->nfields; i++)
	{
		DpField    *field = &fields->field[i];
		const DpExpression *expr = &fields->expr[field->expr];

		isnull[i] = expr->isnull ||
			!(decimals && expr->decimal >= 0
			  ? compute_decimal_field(field, &fields->decimals, expr->decimal, &value[i])
			  : compute_field(field, expr, &value[i]));
	}
}
