/*-------------------------------------------------------------------------
 *
 * mistaken_constants.c
 *	  Constant arguments with which a function fails whatever the others are.
 *
 * A pattern that is none, a field that is not known, an index that is 0: the
 * query's mistake, which it is told before it pays.  Otherwise each row would
 * have NULL there (failing_calls.c).  A call is a mistake if it fails with
 * each of a few samples in the place of what is not constant, for the reason
 * that an argument is not allowed.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/attempt.h"
#include "catalog/pg_type_d.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#define DP_SAMPLES 5

/* Makes an example of a type, which may take the place of a value when constant arguments are tried; NULL: there is none. */
static Node *
sample_of(Oid type, int number)
{
	static const char *const texts[DP_SAMPLES] = {"", "epoch", "day", "UTC", "00"};
	Datum		value;
	int16		len;
	bool		byval;

	switch (getBaseType(type))
	{
		case INT2OID:
			value = Int16GetDatum(number % 2 == 0);
			break;
		case INT4OID:
			value = Int32GetDatum(number % 2 == 0);
			break;
		case INT8OID:
			value = Int64GetDatum(number % 2 == 0);
			break;
		case FLOAT4OID:
			value = Float4GetDatum(number % 2 == 0);
			break;
		case FLOAT8OID:
			value = Float8GetDatum(number % 2 == 0);
			break;
		case NUMERICOID:
			value = NumericGetDatum(int64_to_numeric(number % 2 == 0));
			break;
		case BOOLOID:
			value = BoolGetDatum(number % 2 == 0);
			break;
		case DATEOID:
			value = DateADTGetDatum(number);
			break;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			value = TimestampGetDatum(number * USECS_PER_DAY);
			break;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			value = CStringGetTextDatum(texts[number]);
			break;
		default:
			return NULL;
	}
	get_typlenbyval(type, &len, &byval);
	return (Node *) makeConst(type, -1, get_typcollation(type), len, value, false, byval);
}

/* Replaces what is not constant by samples; returns false where there is none, or nothing to replace or left. */
static bool
put_samples(List *args, int number)
{
	bool		is_tried = false;
	bool		has_constants = false;
	ListCell   *lc;

	foreach(lc, args)
	{
		Node	   *arg = lfirst(lc);

		if (!checkExprHasSubLink(arg) && IsA(eval_const_expressions(NULL, copyObject(arg)), Const))
			has_constants = true;
		else
		{
			lfirst(lc) = sample_of(exprType(arg), number);
			if (lfirst(lc) == NULL)
				return false;
			is_tried = true;
		}
	}
	return is_tried && has_constants;
}

static void
compute(void *context)
{
	Node	   *expr = context;

	evaluate_expr((Expr *) expr, exprType(expr), exprTypmod(expr), exprCollation(expr));
}

/* Computes an expression without columns; returns the error if it fails because of an argument that is not allowed. */
static ErrorData *
mistake_in(Node *expr)
{
	ErrorData  *error = dp_attempt(compute, expr);

	if (error == NULL)
		return NULL;
	switch (error->sqlerrcode)
	{
		case ERRCODE_INVALID_PARAMETER_VALUE:
		case ERRCODE_INVALID_REGULAR_EXPRESSION:
		case ERRCODE_INVALID_ESCAPE_SEQUENCE:
		case ERRCODE_INVALID_ESCAPE_CHARACTER:
		case ERRCODE_FEATURE_NOT_SUPPORTED:
		case ERRCODE_SUBSTRING_ERROR:
			return error;
		default:
			if (ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_TO_CATEGORY(ERRCODE_QUERY_CANCELED))
				ReThrowError(error);
			return NULL;
	}
}

void
dp_try_constants(Node *call)
{
	ErrorData  *error = NULL;
	Oid			funcid;

	for (int number = 0; number < DP_SAMPLES; number++)
	{
		Node	   *sample = copyObject(call);

		if (!put_samples(dp_call_args(sample, &funcid), number))
			return;
		error = mistake_in(sample);
		if (error == NULL)
			return;
	}
	ReThrowError(error);
}
