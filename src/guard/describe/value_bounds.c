/*-------------------------------------------------------------------------
 *
 * value_bounds.c
 *	  Bounds of what an aggregate reads, as far as the policy and the text of
 *	  the query tell them.
 *
 * Invariant: nothing here depends on rows.  Bounds that are too narrow clamp
 * values and ones that are too wide cost noise; neither costs privacy, since
 * values are clamped to whatever bounds come out.
 *
 * Limits of a unit's total go with a column, also where only some of its rows
 * have a value (CASE, as WHERE); of several columns, or beside constants, none are known.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/read/read.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

bool
dp_is_number(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID ||
		type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID;
}

static bool
less(Numeric a, Numeric b)
{
	return DatumGetBool(DirectFunctionCall2(numeric_lt, NumericGetDatum(a), NumericGetDatum(b)));
}

static void
include(DpKnownBounds *b, Numeric value)
{
	if (b->lower == NULL || less(value, b->lower))
		b->lower = value;
	if (b->upper == NULL || less(b->upper, value))
		b->upper = value;
}

static bool
include_constant(DpKnownBounds *b, Oid type, Datum value)
{
	Numeric		number;

	switch (type)
	{
		case INT2OID:
			number = int64_to_numeric(DatumGetInt16(value));
			break;
		case INT4OID:
			number = int64_to_numeric(DatumGetInt32(value));
			break;
		case INT8OID:
			number = int64_to_numeric(DatumGetInt64(value));
			break;
		case FLOAT4OID:
			number = DatumGetNumeric(DirectFunctionCall1(float4_numeric, value));
			break;
		case FLOAT8OID:
			number = DatumGetNumeric(DirectFunctionCall1(float8_numeric, value));
			break;
		case NUMERICOID:
			number = DatumGetNumeric(value);
			break;
		default:
			return false;
	}
	if (numeric_is_nan(number) || numeric_is_inf(number))
		return false;
	include(b, number);
	b->has_others |= less(number, int64_to_numeric(0)) || less(int64_to_numeric(0), number);
	return true;
}

static bool include_values(DpKnownBounds *b, Query *query, Node *expr);

static bool
include_all(DpKnownBounds *b, Query *query, List *exprs)
{
	ListCell   *lc;

	foreach(lc, exprs)
		if (!include_values(b, query, lfirst(lc)))
		return false;
	return true;
}

/* Includes the declared bounds of a protected table's column, or the bounds of what a subquery computes. */
static bool
include_column(DpKnownBounds *b, Query *query, Var *var)
{
	RangeTblEntry *rte;
	DpColumnOrigin origin;
	DpColumn   *policy;
	TargetEntry *tle;

	if (var->varlevelsup != 0 || var->varattno <= 0)
		return false;
	if (dp_trace_column(query, NULL, (Node *) var, &origin))
	{
		if (!origin.is_protected)
			return false;
		policy = dp_policy_bounds(origin.relid, origin.attnum);
		b->undeclared |= !policy->has_bounds;
		b->declarable |= !policy->has_bounds && dp_type_has_bounds(var->vartype);
		if (!policy->has_bounds)
			return false;
		include(b, policy->lower);
		include(b, policy->upper);
		b->has_others |= OidIsValid(b->relid) && (b->relid != origin.relid || b->attnum != origin.attnum);
		b->relid = origin.relid;
		b->attnum = origin.attnum;
		b->has_totals = policy->has_totals;
		b->total_lower = policy->total_lower;
		b->total_upper = policy->total_upper;
		return true;
	}
	rte = rt_fetch(var->varno, query->rtable);
	if (rte->rtekind != RTE_SUBQUERY || rte->subquery->setOperations || rte->subquery->groupingSets)
		return false;
	tle = get_tle_by_resno(rte->subquery->targetList, var->varattno);
	return tle != NULL && include_values(b, rte->subquery, (Node *) tle->expr);
}

static bool
include_values(DpKnownBounds *b, Query *query, Node *expr)
{
	check_stack_depth();
	if (!dp_is_unfoldable(expr, NULL))
	{
		Const	   *constant = dp_fold(expr);

		return constant->constisnull || include_constant(b, constant->consttype, constant->constvalue);
	}
	switch (nodeTag(expr))
	{
		case T_Var:
			return include_column(b, query, (Var *) expr);
		case T_FuncExpr:
			{
				FuncExpr   *call = (FuncExpr *) expr;

				if (call->funcid == F_INT4_BOOL)
					return include_constant(b, INT4OID, Int32GetDatum(0)) &&
						include_constant(b, INT4OID, Int32GetDatum(1));
				/* casts among numbers */
				return call->funcformat != COERCE_EXPLICIT_CALL && dp_is_number(call->funcresulttype) &&
					dp_is_number(exprType(linitial(call->args))) && include_values(b, query, linitial(call->args));
			}
		case T_CaseExpr:
			{
				CaseExpr   *cases = (CaseExpr *) expr;
				ListCell   *lc;

				foreach(lc, cases->args)
					if (!include_values(b, query, (Node *) lfirst_node(CaseWhen, lc)->result))
					return false;
				return cases->defresult == NULL || include_values(b, query, (Node *) cases->defresult);
			}
		case T_CoalesceExpr:
			return include_all(b, query, ((CoalesceExpr *) expr)->args);
		case T_MinMaxExpr:
			return include_all(b, query, ((MinMaxExpr *) expr)->args);
		case T_NullIfExpr:
			return include_values(b, query, linitial(((NullIfExpr *) expr)->args));
		default:
			return false;
	}
}

bool
dp_find_bounds(DpLevel *level, Node *value, DpKnownBounds *b)
{
	memset(b, 0, sizeof(DpKnownBounds));
	if (!include_values(b, level->from.query, value) || b->lower == NULL)
		return false;
	if (!less(b->lower, b->upper))
		include(b, int64_to_numeric(0));
	b->has_totals &= !b->has_others;
	return less(b->lower, b->upper);
}
