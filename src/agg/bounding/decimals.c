/*-------------------------------------------------------------------------
 *
 * decimals.c
 *	  Arithmetic of numeric columns in words: sums, differences and products.
 *
 * An operator of numeric takes ten times as long as that of a word: it reads the digits
 * of its arguments and writes those of its result, which the next one reads again.  Where
 * expressions are made of columns, constants, +, - and *, and a row's numbers have few
 * digits, they are computed here; other rows leave it to the executor.
 *
 * Invariants:
 *	- a result is exactly the number that numeric would have come to, NULL where that would be.
 *	  (try_add() and so on are NULL for what is thousands of digits long, which is no decimal; a
 *	  product of numeric is rounded to 16383 digits after the point, of which decimals have 16.)
 *	  Only its display scale is not known;
 *	- steps are computed for every row, whatever filters say: they cannot fail.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "agg/bounding/decimals.h"
#include "agg/bounding/fields.h"
#include "base/extension.h"

/* Returns the number of the step, which is added unless it is there; -1: no room. */
static int
add_step(DpDecimals *decimals, const DpDecimalStep *step)
{
	for (int i = 0; i < decimals->nsteps; i++)
	{
		const DpDecimalStep *s = &decimals->step[i];

		if (s->operation == step->operation && s->attno == step->attno && s->a == step->a && s->b == step->b &&
			s->constant.n == step->constant.n && s->constant.groups == step->constant.groups)
			return i;
	}
	if (decimals->nsteps == DP_MAX_DECIMALS)
		return -1;
	decimals->step[decimals->nsteps] = *step;
	return decimals->nsteps++;
}

static int
add_constant(DpDecimals *decimals, const Const *constant)
{
	DpDecimalStep step = {.operation = DP_DECIMAL_CONST};

	if (constant->constisnull || !dp_decimal_read(constant->constvalue, &step.constant))
		return -1;
	return add_step(decimals, &step);
}

static int
add_column(DpDecimals *decimals, DpDecimalOperation operation, AttrNumber attno)
{
	DpDecimalStep step = {.operation = operation, .attno = attno};

	return add_step(decimals, &step);
}

/* Sets *operation to what the function does to numerics, or to a column; returns false for any other function. */
static bool
find_operation(Oid funcid, DpDecimalOperation *operation)
{
	static const struct
	{
		Oid			builtin;
		const char *own;		/* its safe variant */
		DpDecimalOperation operation;
	}			known[] = {
		{F_NUMERIC_ADD, "try_add", DP_DECIMAL_ADD},
		{F_NUMERIC_SUB, "try_subtract", DP_DECIMAL_SUBTRACT},
		{F_NUMERIC_MUL, "try_multiply", DP_DECIMAL_MULTIPLY},
		{F_NUMERIC_UMINUS, NULL, DP_DECIMAL_NEGATE},
		{F_NUMERIC_INT2, NULL, DP_DECIMAL_INT2},
		{F_NUMERIC_INT4, NULL, DP_DECIMAL_INT4},
		{F_NUMERIC_INT8, NULL, DP_DECIMAL_INT8}
	};
	const char *own = dp_own_c_function(funcid) != NULL ? get_func_name(funcid) : NULL;

	for (int i = 0; i < lengthof(known); i++)
		if (funcid == known[i].builtin || (own != NULL && known[i].own != NULL && strcmp(own, known[i].own) == 0))
		{
			*operation = known[i].operation;
			return true;
		}
	return false;
}

static int
add_call(DpDecimals *decimals, Oid funcid, const List *args)
{
	DpDecimalStep step = {.a = -1,.b = -1};
	int			a;
	int			b = -1;

	if (!find_operation(funcid, &step.operation))
		return -1;
	if (step.operation < DP_DECIMAL_CONST)
	{
		AttrNumber	attno = dp_input_column(linitial(args));

		return attno > 0 ? add_column(decimals, step.operation, attno) : -1;
	}
	a = dp_decimals_add(decimals, linitial(args));
	if (a < 0 || (list_length(args) > 1 && (b = dp_decimals_add(decimals, lsecond(args))) < 0))
		return -1;
	step.a = a;
	step.b = b;
	return add_step(decimals, &step);
}

/*
 * Returns the number of the step that computes an expression over columns of the input, which is
 * added with those before it unless they are there; -1: it is not made of what is done here.
 */
int
dp_decimals_add(DpDecimals *decimals, const Expr *expr)
{
	int			nsteps = decimals->nsteps;
	int			result = -1;

	check_stack_depth();
	if (getBaseType(exprType((const Node *) expr)) != NUMERICOID)
		return -1;
	if (IsA(expr, Const))
		result = add_constant(decimals, (const Const *) expr);
	else if (dp_input_column(expr) > 0)
		result = add_column(decimals, DP_DECIMAL_COLUMN, dp_input_column(expr));
	else if (IsA(expr, OpExpr))
		result = add_call(decimals, get_opcode(((const OpExpr *) expr)->opno), ((const OpExpr *) expr)->args);
	else if (IsA(expr, FuncExpr))
		result = add_call(decimals, ((const FuncExpr *) expr)->funcid, ((const FuncExpr *) expr)->args);
	else if (IsA(expr, RelabelType))
		result = dp_decimals_add(decimals, ((const RelabelType *) expr)->arg);
	if (result < 0)
		decimals->nsteps = nsteps;
	return result;
}

static inline bool
read_column(const DpDecimalStep *step, Datum value, DpDecimal *x)
{
	switch (step->operation)
	{
		case DP_DECIMAL_COLUMN:
			return dp_decimal_read(value, x);
		case DP_DECIMAL_INT2:
			*x = (DpDecimal) {DatumGetInt16(value), 0};
			return true;
		case DP_DECIMAL_INT4:
			*x = (DpDecimal) {DatumGetInt32(value), 0};
			return true;
		default:
			*x = (DpDecimal) {DatumGetInt64(value), 0};
			return true;
	}
}

static inline bool
operate(DpDecimalOperation operation, DpDecimal a, DpDecimal b, DpDecimal *result)
{
	switch (operation)
	{
		case DP_DECIMAL_ADD:
			return dp_decimal_add(a, b, result);
		case DP_DECIMAL_SUBTRACT:
			return dp_decimal_subtract(a, b, result);
		case DP_DECIMAL_MULTIPLY:
			return dp_decimal_multiply(a, b, result);
		default:
			return dp_decimal_subtract((DpDecimal) {0, 0}, a, result);
	}
}

/* Computes all steps for a row of which the columns have been fetched; false where a number of it is no decimal. */
bool
dp_compute_decimals(DpDecimals *decimals, const TupleTableSlot *slot)
{
	DpDecimal  *value = decimals->value;
	bool	   *isnull = decimals->isnull;

	for (int i = 0; i < decimals->nsteps; i++)
	{
		const DpDecimalStep *step = &decimals->step[i];

		if (step->operation < DP_DECIMAL_CONST)
		{
			isnull[i] = slot->tts_isnull[step->attno - 1];
			if (!isnull[i] && !read_column(step, slot->tts_values[step->attno - 1], &value[i]))
				return false;
		}
		else if (step->operation == DP_DECIMAL_CONST)
		{
			isnull[i] = false;
			value[i] = step->constant;
		}
		else
		{
			int			b = step->b >= 0 ? step->b : step->a;

			isnull[i] = isnull[step->a] || isnull[b];
			if (!isnull[i] && !operate(step->operation, value[step->a], value[b], &value[i]))
				return false;
		}
		if (decimals->as_double[i] && !isnull[i] && !dp_decimal_double(value[i], &decimals->real[i]))
			return false;
	}
	return true;
}
