/*-------------------------------------------------------------------------
 *
 * failing_calls.c
 *	  Functions that fail for some values, in statements that release.
 *
 * A noisy count may be 0 or below, and often is in groups without rows:
 * sum(x) / count(*) or ln(count(*)) would fail after it was paid for, and all
 * groups would be lost for one.  So in a statement with releases the value is
 * NULL there, as it is on protected rows:
 * - arithmetic, roundings, casts to smaller numbers and the like become the
 *	 variants that are called on protected rows;
 * - all other functions of PostgreSQL's that could fail are called by
 *	 dp_cdp_internal.null_on_error (safe/caught.c);
 * - what is cast from text to another type, and to a domain, is NULL where that is none;
 * - steps of generate_series that are 0 are NULL.
 *
 * Left alone are LIKE of short constant patterns, functions that are VOLATILE, closed (mask.c), or not
 * PostgreSQL's.  Clauses of queries are failing_clauses.c's.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "base/compat.h"
#include "base/extension.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "policy/closed.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* in bytes; the matcher takes less than 200 for each on the stack, and has 100 kB at least */
#define MAX_SOUND_PATTERN 256

Node *
dp_zero_if_negative(Node *number)
{
	return (Node *) dp_make(MinMaxExpr, .minmaxtype = exprType(number), .op = IS_GREATEST,
							.args = list_make2(number, dp_const_of(exprType(number), "0")),
							.location = exprLocation(number));
}

Node *
dp_null_unless_positive(Node *number)
{
	return (Node *) dp_null_for("0", (Expr *) dp_zero_if_negative(number));
}

/* Tells whether a function of the list fails for numbers that noise is likely to make. */
static bool
is_replaced(const DpAllowed *allowed)
{
	return allowed != NULL && allowed->safe != NULL && dp_function_facts(allowed->kind)->released;
}

/* Tells whether arguments are constants, with which a function fails before anything is paid for. */
static bool
are_constant(List *args)
{
	foreach_ptr(Node, arg, args)
	{
		if (!dp_folds_to_constant(arg))
			return false;
	}
	return true;
}

/* Tells whether a function of PostgreSQL's may fail for some values of its arguments, and can be called by null_on_error. */
static bool
is_caught(Oid funcid, Oid result, int nargs)
{
	const DpAllowed *allowed = dp_allowed_function(funcid);
	const char *told;
	HeapTuple	tuple;
	Form_pg_proc proc;
	bool		may_fail;

	if (funcid >= FirstGenbkiObjectId || nargs + 1 > FUNC_MAX_ARGS || (get_typtype(result) == TYPTYPE_PSEUDO && result != CSTRINGOID) ||
		(allowed != NULL && allowed->safe == NULL && allowed->constants == 0 && !allowed->constants_only) ||
		dp_mask_of(funcid, &told) != DP_MASK_NONE)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return false;
	proc = (Form_pg_proc) GETSTRUCT(tuple);

	/*
	 * what is leakproof raises no errors that depend on arguments, but that
	 * circles and segments overflow
	 */
	may_fail = proc->pronamespace == PG_CATALOG_NAMESPACE && !proc->proretset &&
		(!proc->proleakproof || TypeCategory(proc->proargtypes.values[0]) == TYPCATEGORY_GEOMETRIC) &&
		proc->provolatile != PROVOLATILE_VOLATILE && (proc->prolang == INTERNALlanguageId || proc->prolang == SQLlanguageId);
	ReleaseSysCache(tuple);
	return may_fail;
}

bool
dp_may_fail(FuncExpr *call)
{
	return is_replaced(dp_allowed_function(call->funcid)) ||
		is_caught(call->funcid, call->funcresulttype, list_length(call->args));
}

bool
dp_may_not_fit(Oid cast)
{
	switch (cast)
	{
		case F_INT4_INT8:

			/*
			 * a number of rows beyond it is no reason to refuse columns of
			 * type integer
			 */
			return false;
		case F_VARCHAR_VARCHAR_INT4_BOOL:
		case F_BPCHAR_BPCHAR_INT4_BOOL:
		case F_BIT_BIT_INT4_BOOL:
		case F_VARBIT:
			return true;
		default:
			return is_replaced(dp_allowed_function(cast));
	}
}

static Oid
null_on_error(void)
{
	Oid			any = ANYOID;

	return dp_own_routine("null_on_error", 1, &any);
}

/* Has a call made by null_on_error, in place. */
static void
catch_call(FuncExpr *call)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(call->funcid));
	Const	   *function;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", call->funcid);
	/* what stands for it has no names of arguments and no defaults */
	call->args = expand_function_arguments(call->args, false, call->funcresulttype, tuple);
	ReleaseSysCache(tuple);
	dp_try_constants((Node *) call);
	function = makeConst(REGPROCEDUREOID, -1, InvalidOid, sizeof(Oid), ObjectIdGetDatum(call->funcid), false, true);
	call->args = lcons(function, call->args);
	call->funcid = null_on_error();
}

/* Returns a step, NULL where it is 0; 22023 for a constant that is, before anything is paid for. */
static Node *
safe_step(Node *step)
{
	Node	   *safe = (Node *) dp_null_for("0", (Expr *) step);

	if (!dp_folds_to_constant(step))
		return safe;
	if (!castNode(Const, eval_const_expressions(NULL, copyObject(step)))->constisnull &&
		castNode(Const, evaluate_expr((Expr *) copyObject(safe), exprType(safe), -1, InvalidOid))->constisnull)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("step size cannot equal zero")));
	return step;
}

void
dp_step_safely(FuncExpr *call)
{
	switch (call->funcid)
	{
		case F_GENERATE_SERIES_INT4_INT4_INT4:
		case F_GENERATE_SERIES_INT8_INT8_INT8:
		case F_GENERATE_SERIES_NUMERIC_NUMERIC_NUMERIC:
		case F_GENERATE_SERIES_TIMESTAMP_TIMESTAMP_INTERVAL:
		case F_GENERATE_SERIES_TIMESTAMPTZ_TIMESTAMPTZ_INTERVAL:
			lthird(call->args) = safe_step(lthird(call->args));
			break;
		default:
			break;
	}
}

static void
call_safely(FuncExpr *call)
{
	if (call->funcretset)
		dp_step_safely(call);
	else if (are_constant(call->args))
		return;
	else if (is_replaced(dp_allowed_function(call->funcid)))
		call->funcid = dp_safe_variant(dp_allowed_function(call->funcid));
	else if (is_caught(call->funcid, call->funcresulttype, list_length(call->args)))
		catch_call(call);
}

/*
 * Tells whether an operator is LIKE of a constant pattern with which it does not fail: one without an escape at its end, and
 * so short that the matcher, which calls itself for each %, has the stack for it.
 */
static bool
is_sound_like(const OpExpr *op)
{
	Const	   *pattern;
	char	   *written;

	if (op->opfuncid != F_TEXTLIKE && op->opfuncid != F_TEXTNLIKE && op->opfuncid != F_BPCHARLIKE && op->opfuncid != F_BPCHARNLIKE)
		return false;
	pattern = (Const *) (dp_folds_to_constant(lsecond(op->args)) ? eval_const_expressions(NULL, copyObject(lsecond(op->args))) : NULL);
	if (pattern == NULL || pattern->constisnull || pattern->consttype != TEXTOID || !OidIsValid(op->inputcollid) ||
		!get_collation_isdeterministic(op->inputcollid))
		return false;
	written = TextDatumGetCString(pattern->constvalue);
	if (strlen(written) > MAX_SOUND_PATTERN)
		return false;
	for (; *written != '\0'; written++)
		if (*written == '\\' && *++written == '\0')
			return false;
	return true;
}

/* Calls what an operator stands for in the way that does not fail; how the operator is shown stays. */
static void
operate_safely(OpExpr *op)
{
	set_opfuncid(op);
	if (are_constant(op->args) || is_sound_like(op))
		return;
	if (is_replaced(dp_allowed_function(op->opfuncid)))
		op->opfuncid = dp_safe_variant(dp_allowed_function(op->opfuncid));
	else if (is_caught(op->opfuncid, op->opresulttype, list_length(op->args)))
	{
		dp_try_constants((Node *) op);
		op->opfuncid = null_on_error();
	}
}

static void
compare_safely(ScalarArrayOpExpr *op)
{
	set_sa_opfuncid(op);
	if (!are_constant(op->args) && is_caught(op->opfuncid, BOOLOID, list_length(op->args)))
		op->opfuncid = null_on_error();
}

/* Returns a value, NULL where none of the type can be made of it. */
static Expr *
null_unless_valid(Oid type, Expr *value)
{
	Oid			types[] = {REGTYPEOID, ANYOID};
	Oid			own = exprType((Node *) value);
	Oid			collation = exprCollation((Node *) value);
	Const	   *of_type = makeConst(REGTYPEOID, -1, InvalidOid, sizeof(Oid), ObjectIdGetDatum(type), false, true);

	return (Expr *) makeFuncExpr(dp_own_routine("null_unless_valid", lengthof(types), types), own,
								 list_make2(of_type, value), collation, collation, COERCE_EXPLICIT_CALL);
}

/* Has text that is no value of a type cast to it as NULL. */
static void
cast_safely(CoerceViaIO *cast)
{
	char		from,
				to;
	bool		preferred;

	get_type_category_preferred(exprType((Node *) cast->arg), &from, &preferred);
	get_type_category_preferred(cast->resulttype, &to, &preferred);
	if (from == TYPCATEGORY_STRING && to != TYPCATEGORY_STRING && !dp_folds_to_constant((Node *) cast->arg))
		cast->arg = null_unless_valid(cast->resulttype, cast->arg);
}

/* Has values that are none of a domain as NULL. */
static void
coerce_safely(CoerceToDomain *coerce)
{
	if (!dp_folds_to_constant((Node *) coerce->arg))
		coerce->arg = null_unless_valid(coerce->resulttype, coerce->arg);
}

void
dp_compute_safely(Node *node)
{
	switch (nodeTag(node))
	{
		case T_OpExpr:
			operate_safely((OpExpr *) node);
			break;
		case T_ScalarArrayOpExpr:
			compare_safely((ScalarArrayOpExpr *) node);
			break;
		case T_FuncExpr:
			call_safely((FuncExpr *) node);
			break;
		case T_CoerceViaIO:
			cast_safely((CoerceViaIO *) node);
			break;
		case T_CoerceToDomain:
			coerce_safely((CoerceToDomain *) node);
			break;
		default:
			break;
	}
}
