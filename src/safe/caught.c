/*-------------------------------------------------------------------------
 *
 * caught.c
 *	  Calls of PostgreSQL's functions that are NULL where they fail.
 *
 * They stand for functions that are called with released values
 * (guard/failing_calls.c), in a query that has been paid for.
 *
 * Invariants:
 *	- what is called is what the query called: by the same role, which must be
 *	  allowed to execute it, with the same arguments, types and collation.
 *	- what ends a statement for another reason than a value is no failure of a
 *	  value: cancelling, shutdown, conflicts, want of resources, privileges.
 *	- nobody can write such a call: its result is declared to be "any", which
 *	  is refused; the guard puts in the type.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/attempt.h"
#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

typedef struct CaughtCall
{
	FmgrInfo	function;
	Oid			funcid;
	int			skip;			/* arguments that are not the function's */
	Node	   *expr;			/* the call as the function would see it */
} CaughtCall;

/* Tells whether an error is one of values. */
static bool
is_of_values(int sqlerrcode)
{
	switch (ERRCODE_TO_CATEGORY(sqlerrcode))
	{
		case ERRCODE_DATA_EXCEPTION:
		case ERRCODE_TO_CATEGORY(ERRCODE_NOT_NULL_VIOLATION):
		case ERRCODE_FEATURE_NOT_SUPPORTED:
		case ERRCODE_INVALID_CATALOG_NAME:
		case ERRCODE_INVALID_SCHEMA_NAME:
			/* errors of XPath, from 18 on */
		case ERRCODE_TO_CATEGORY(MAKE_SQLSTATE('1', '0', '6', '0', '8')):
			return true;
		case ERRCODE_TO_CATEGORY(ERRCODE_UNDEFINED_OBJECT):
			return sqlerrcode != ERRCODE_INSUFFICIENT_PRIVILEGE;
		case ERRCODE_PROGRAM_LIMIT_EXCEEDED:
			return sqlerrcode != ERRCODE_STATEMENT_TOO_COMPLEX;
		default:
			return sqlerrcode == ERRCODE_INTERNAL_ERROR;
	}
}

/* Runs an action; returns false where that fails for a value. */
static bool
succeeds(DpAttempt action, void *context)
{
	ErrorData  *error = dp_attempt(action, context);

	if (error == NULL)
		return true;
	if (!is_of_values(error->sqlerrcode))
		ReThrowError(error);
	FreeErrorData(error);
	return false;
}

static void
refuse_by_hand(FunctionCallInfo fcinfo)
{
	Node	   *expr = fcinfo->flinfo->fn_expr;

	if (expr == NULL || exprType(expr) == ANYOID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("this function is called by private queries only")));
}

/* Notes what is to be called: the function of an operator, or the one that the first argument names. */
static CaughtCall *
describe_call(FunctionCallInfo fcinfo)
{
	MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	CaughtCall *call = palloc0(sizeof(CaughtCall));
	Node	   *expr = fcinfo->flinfo->fn_expr;

	refuse_by_hand(fcinfo);
	call->expr = copyObject(expr);
	if (IsA(expr, OpExpr))
		call->funcid = ((OpExpr *) call->expr)->opfuncid = get_opcode(((OpExpr *) expr)->opno);
	else if (IsA(expr, ScalarArrayOpExpr))
		call->funcid = ((ScalarArrayOpExpr *) call->expr)->opfuncid = get_opcode(((ScalarArrayOpExpr *) expr)->opno);
	else
	{
		FuncExpr   *func = castNode(FuncExpr, call->expr);

		call->skip = 1;
		call->funcid = func->funcid = DatumGetObjectId(castNode(Const, linitial(func->args))->constvalue);
		func->args = list_delete_first(func->args);
	}
	if (call->funcid == fcinfo->flinfo->fn_oid || !dp_may_execute(call->funcid, GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for function %s", get_func_name(call->funcid))));
	MemoryContextSwitchTo(old);
	return call;
}

typedef struct Invocation
{
	FunctionCallInfo call;
	Datum		result;
} Invocation;

static void
invoke(void *context)
{
	Invocation *invocation = context;

	invocation->result = FunctionCallInvoke(invocation->call);
}

PG_FUNCTION_INFO_V1(dp_null_on_error);
Datum
dp_null_on_error(PG_FUNCTION_ARGS)
{
	LOCAL_FCINFO(inner, FUNC_MAX_ARGS);
	CaughtCall *call = fcinfo->flinfo->fn_extra;
	Invocation	invocation = {inner};

	if (call == NULL)
	{
		call = describe_call(fcinfo);
		fcinfo->flinfo->fn_extra = call;
	}
	if (!OidIsValid(call->function.fn_oid))
	{
		fmgr_info_cxt(call->funcid, &call->function, fcinfo->flinfo->fn_mcxt);
		fmgr_info_set_expr(call->expr, &call->function);
	}
	InitFunctionCallInfoData(*inner, &call->function, PG_NARGS() - call->skip, PG_GET_COLLATION(), NULL, NULL);
	for (int i = 0; i < inner->nargs; i++)
	{
		inner->args[i] = fcinfo->args[i + call->skip];
		if (call->function.fn_strict && inner->args[i].isnull)
			PG_RETURN_NULL();
	}
	if (!succeeds(invoke, &invocation))
	{
		/* what the function keeps between calls may be half made */
		call->function.fn_oid = InvalidOid;
		PG_RETURN_NULL();
	}
	if (inner->isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(invocation.result);
}

typedef struct Valid
{
	Oid			type;
	Oid			value_type;
	Datum		value;
} Valid;

/* Reads the text of a value as one of the type, or has a domain's constraints checked. */
static void
read_value(void *context)
{
	Valid	   *v = context;
	Oid			function;
	Oid			ioparam;
	bool		is_varlena;
	char	   *text;

	if (getBaseType(v->type) == getBaseType(v->value_type))
	{
		domain_check(v->value, false, v->type, NULL, NULL);
		return;
	}
	getTypeOutputInfo(v->value_type, &function, &is_varlena);
	text = OidOutputFunctionCall(function, v->value);

	getTypeInputInfo(v->type, &function, &ioparam);
	OidInputFunctionCall(function, text, ioparam, -1);
	pfree(text);
}

/* Returns the second argument, NULL where no value of the type can be made of it. */
PG_FUNCTION_INFO_V1(dp_null_unless_valid);
Datum
dp_null_unless_valid(PG_FUNCTION_ARGS)
{
	Valid		v;

	refuse_by_hand(fcinfo);
	v.type = PG_GETARG_OID(0);
	v.value = PG_GETARG_DATUM(1);
	v.value_type = get_fn_expr_argtype(fcinfo->flinfo, 1);
	if (!succeeds(read_value, &v))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(v.value);
}
