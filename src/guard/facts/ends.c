/*-------------------------------------------------------------------------
 *
 * ends.c
 *	  Ends of ranges: expressions without columns, which are known when the query runs.
 *
 * An end is computed here if its value is known.  Else the query computes it, by the variants of functions
 * that are NULL where PostgreSQL's fail.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type_d.h"
#include "guard/facts/ends.h"
#include "guard/vet/allow.h"
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_oper.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

Expr *
dp_as_known(Expr *expr)
{
	return dp_is_unfoldable((Node *) expr, NULL) || contain_mutable_functions((Node *) expr) ? expr : (Expr *) dp_fold((Node *) expr);
}

Expr *
dp_safe_call(Oid function, Oid type, List *args)
{
	const DpAllowed *allowed = dp_allowed_function(function);

	return (Expr *) eval_const_expressions(NULL, (Node *) makeFuncExpr(allowed && allowed->safe ? dp_safe_variant(allowed) : function, type, args,
																	   InvalidOid, DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CALL));
}

Expr *
dp_cast_to(Expr *value, Oid type)
{
	Node	   *cast;

	if (value == NULL || exprType((Node *) value) == type)
		return value;
	cast = coerce_to_target_type(NULL, copyObject((Node *) value), exprType((Node *) value), type, -1,
								 COERCION_EXPLICIT, COERCE_IMPLICIT_CAST, -1);
	if (cast == NULL)
		return NULL;
	return IsA(cast, FuncExpr) ? dp_safe_call(((FuncExpr *) cast)->funcid, type, ((FuncExpr *) cast)->args) : dp_as_known((Expr *) cast);
}

Expr *
dp_combined(const char *operator, Node *a, Node *b)
{
	Operator	found = oper(NULL, list_make2(makeString("pg_catalog"), makeString(pstrdup(operator))),
							 exprType(a), exprType(b), true, -1);
	Form_pg_operator form;
	Expr	   *call;

	if (found == NULL)
		return NULL;
	form = (Form_pg_operator) GETSTRUCT(found);
	call = dp_safe_call(form->oprcode, form->oprresult, list_make2(copyObject(dp_cast_to((Expr *) a, form->oprleft)),
																   copyObject(dp_cast_to((Expr *) b, form->oprright))));
	ReleaseSysCache(found);
	return call;
}

Expr *
dp_extreme(List *values, MinMaxOp op)
{
	MinMaxExpr *all;

	if (list_length(values) < 2)
		return values != NIL ? linitial(values) : NULL;
	all = dp_make(MinMaxExpr, .minmaxtype = exprType(linitial(values)),
				  .minmaxcollid = exprCollation(linitial(values)));
	all->inputcollid = all->minmaxcollid;
	all->op = op;
	all->args = values;
	all->location = -1;
	return dp_as_known((Expr *) all);
}

Const *
dp_interval_const(int months, int days, int64 microseconds)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->month = months;
	interval->day = days;
	interval->time = microseconds;
	return makeConst(INTERVALOID, -1, InvalidOid, sizeof(Interval), IntervalPGetDatum(interval), false, false);
}

Expr *
dp_moved_by(Expr *value, int months, int days, int64 microseconds)
{
	bool		is_date = exprType((Node *) value) == DATEOID;

	if (is_date && months == 0)
		return dp_combined("+", (Node *) value, (Node *) dp_int4_const(days));
	return dp_cast_to(dp_combined("+", (Node *) value, (Node *) dp_interval_const(months, days, microseconds)), exprType((Node *) value));
}
