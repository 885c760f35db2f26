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
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#define DP_SAMPLES 5

/* Makes an example of a type, which may take the place of a value when constant arguments are tried; NULL: there is none. */
static Node *
sample_of(Oid type, int number)
{
	static const char *const texts[DP_SAMPLES] = {"", "epoch", "day", "UTC", "00"};

	switch (getBaseType(type))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case BOOLOID:
			return (Node *) dp_const_of(type, number % 2 == 0 ? "1" : "0");
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return (Node *) dp_const_of(type, psprintf("2000-01-%02d 00:00:00+00", number + 1));
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			return (Node *) dp_const_of(type, texts[number]);
		default:
			return NULL;
	}
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

		if (dp_folds_to_constant(arg))
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
