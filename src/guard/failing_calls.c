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
 *	 dp_cdp.null_on_error (safe/caught.c);
 * - what is cast from text to another type, and to a domain, is NULL where that is none;
 * - a subquery as a value is NULL where it has several rows;
 * - steps of generate_series, arguments of ntile and nth_value and offsets of
 *	 frames that are not allowed are NULL or the nearest that is allowed, keys of JSON objects
 *	 that are NULL are left out;
 * - LIMIT and OFFSET that are computed are not below 0.
 *
 * Left alone are functions that are VOLATILE, closed (mask.c), in FROM, or
 * not PostgreSQL's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "base/extension.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "guard/rewrite.h"
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "policy/closed.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* Makes the 0 of a number's type. */
static Const *
zero_of(Oid type)
{
	Datum		zero = (Datum) 0;
	int16		len;
	bool		byval;

	if (type == FLOAT4OID)
		zero = Float4GetDatum(0);
	else if (type == FLOAT8OID)
		zero = Float8GetDatum(0);
	else if (type == NUMERICOID)
		zero = NumericGetDatum(int64_to_numeric(0));
	else if (type == INT8OID)
		zero = Int64GetDatum(0);
	get_typlenbyval(type, &len, &byval);
	return makeConst(type, -1, InvalidOid, len, zero, false, byval);
}

/* Returns a number, NULL where it is 0. */
static Node *
null_for_zero(Node *number)
{
	Oid			type = exprType(number);
	NullIfExpr *test = makeNode(NullIfExpr);

	test->opno = lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr;
	test->opfuncid = get_opcode(test->opno);
	test->opresulttype = type;
	test->args = list_make2(number, zero_of(type));
	test->location = exprLocation(number);
	return (Node *) test;
}

static bool
folds_to_constant(Node *expr)
{
	return !checkExprHasSubLink(expr) && IsA(eval_const_expressions(NULL, copyObject(expr)), Const);
}

/* Returns a number, NULL where it is not above 0. */
static Node *
null_unless_positive(Node *number)
{
	MinMaxExpr *greatest = makeNode(MinMaxExpr);

	greatest->minmaxtype = exprType(number);
	greatest->op = IS_GREATEST;
	greatest->args = list_make2(number, zero_of(exprType(number)));
	greatest->location = exprLocation(number);
	return null_for_zero((Node *) greatest);
}

/* Tells whether a function of the list fails for numbers that noise is likely to make. */
static bool
is_replaced(const DpAllowed *allowed)
{
	static const char *const names[] = {"add", "subtract", "multiply", "negate", "abs", "round", "floor", "ceil", "sqrt", "power", "exp", "ln",
	"log", "divide", "mod", "width_bucket", "int2", "int4", "int8", "float4", "numeric", "make_date"};

	if (allowed == NULL || allowed->safe == NULL || strncmp(allowed->safe, "try_", 4) != 0)
		return false;
	for (int i = 0; i < lengthof(names); i++)
		if (strcmp(allowed->safe + 4, names[i]) == 0)
			return true;
	return false;
}

/* Tells whether arguments are constants, with which a function fails before anything is paid for. */
static bool
are_constant(List *args)
{
	ListCell   *lc;

	foreach(lc, args)
	{
		if (!folds_to_constant(lfirst(lc)))
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
	/* what is leakproof raises no errors that depend on arguments, but that circles and segments overflow */
	may_fail = proc->pronamespace == PG_CATALOG_NAMESPACE && !proc->proretset &&
		(!proc->proleakproof || TypeCategory(proc->proargtypes.values[0]) == TYPCATEGORY_GEOMETRIC) &&
		proc->provolatile != PROVOLATILE_VOLATILE && (proc->prolang == INTERNALlanguageId || proc->prolang == SQLlanguageId);
	ReleaseSysCache(tuple);
	return may_fail;
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

/* Has steps of generate_series that are 0 as NULL, of which there are no rows. */
static void
step_safely(FuncExpr *call)
{
	switch (call->funcid)
	{
		case F_GENERATE_SERIES_INT4_INT4_INT4:
		case F_GENERATE_SERIES_INT8_INT8_INT8:
		case F_GENERATE_SERIES_NUMERIC_NUMERIC_NUMERIC:
		case F_GENERATE_SERIES_TIMESTAMP_TIMESTAMP_INTERVAL:
		case F_GENERATE_SERIES_TIMESTAMPTZ_TIMESTAMPTZ_INTERVAL:
			lthird(call->args) = null_for_zero(lthird(call->args));
			break;
		default:
			break;
	}
}

static void
call_safely(FuncExpr *call)
{
	if (are_constant(call->args))
		return;
	if (call->funcretset)
		step_safely(call);
	else if (is_replaced(dp_allowed_function(call->funcid)))
		call->funcid = dp_safe_variant(dp_allowed_function(call->funcid));
	else if (is_caught(call->funcid, call->funcresulttype, list_length(call->args)))
		catch_call(call);
}

/* Calls what an operator stands for in the way that does not fail; how the operator is shown stays. */
static void
operate_safely(OpExpr *op)
{
	set_opfuncid(op);
	if (are_constant(op->args))
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
	if (from == TYPCATEGORY_STRING && to != TYPCATEGORY_STRING && !folds_to_constant((Node *) cast->arg))
		cast->arg = null_unless_valid(cast->resulttype, cast->arg);
}

/* Has values that are none of a domain as NULL. */
static void
coerce_safely(CoerceToDomain *coerce)
{
	if (!folds_to_constant((Node *) coerce->arg))
		coerce->arg = null_unless_valid(coerce->resulttype, coerce->arg);
}

/* Passes by casts that an INSERT makes by itself: it must not store NULL for what its column cannot hold. */
static Node *
below_assignment(Node *node)
{
	for (;;)
	{
		if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcformat == COERCE_IMPLICIT_CAST)
			node = linitial(((FuncExpr *) node)->args);
		else if (IsA(node, CoerceViaIO) && ((CoerceViaIO *) node)->coerceformat == COERCE_IMPLICIT_CAST)
			node = (Node *) ((CoerceViaIO *) node)->arg;
		else if (IsA(node, CoerceToDomain) && ((CoerceToDomain *) node)->coercionformat == COERCE_IMPLICIT_CAST)
			node = (Node *) ((CoerceToDomain *) node)->arg;
		else if (IsA(node, RelabelType) && ((RelabelType *) node)->relabelformat == COERCE_IMPLICIT_CAST)
			node = (Node *) ((RelabelType *) node)->arg;
		else
			return node;
	}
}

/* Tells whether a query has one row at most. */
static bool
has_one_row(Query *query)
{
	Const	   *limit = (Const *) query->limitCount;

	if (limit != NULL && IsA(limit, Const) && !limit->constisnull && DatumGetInt64(limit->constvalue) <= 1 &&
		query->limitOption == LIMIT_OPTION_COUNT)
		return true;
	if (query->hasTargetSRFs || query->setOperations != NULL)
		return false;
	return (query->hasAggs && query->groupClause == NIL && query->groupingSets == NIL) ||
		(query->jointree->fromlist == NIL && query->groupClause == NIL && query->groupingSets == NIL);
}

/* Has a subquery as a value return NULL where it has several rows: one row, with the value where it is alone. */
static void
take_one_row(SubLink *link)
{
	Query	   *several = (Query *) link->subselect;
	TargetEntry *column;
	Query	   *one;
	RangeTblEntry *rte;
	WindowFunc *count;
	WindowClause *window;
	CaseExpr   *value;
	CaseWhen   *when;
	Var		   *var;

	if (link->subLinkType != EXPR_SUBLINK || has_one_row(several))
		return;
	column = linitial_node(TargetEntry, several->targetList);
	IncrementVarSublevelsUp((Node *) several, 1, 1);
	rte = makeNode(RangeTblEntry);
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = several;
	rte->eref = makeAlias("rows", list_make1(makeString(pstrdup(column->resname ? column->resname : "value"))));
	rte->alias = copyObject(rte->eref);
	rte->inFromCl = true;
	count = makeNode(WindowFunc);
	count->winfnoid = F_COUNT_;
	count->wintype = INT8OID;
	count->winref = 1;
	count->winstar = true;
	count->winagg = true;
	count->location = -1;
	window = makeNode(WindowClause);
	window->frameOptions = FRAMEOPTION_DEFAULTS;
	window->winref = 1;
	var = makeVar(1, column->resno, exprType((Node *) column->expr), exprTypmod((Node *) column->expr),
				  exprCollation((Node *) column->expr), 0);
	when = makeNode(CaseWhen);
	when->expr = (Expr *) make_opclause(lookup_type_cache(INT8OID, TYPECACHE_EQ_OPR)->eq_opr, BOOLOID, false, (Expr *) count,
										(Expr *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(1), false, FLOAT8PASSBYVAL),
										InvalidOid, InvalidOid);
	when->result = (Expr *) var;
	when->location = -1;
	value = makeNode(CaseExpr);
	value->casetype = var->vartype;
	value->casecollid = var->varcollid;
	value->args = list_make1(when);
	value->defresult = (Expr *) makeNullConst(var->vartype, var->vartypmod, var->varcollid);
	value->location = -1;
	one = makeNode(Query);
	one->commandType = CMD_SELECT;
	one->querySource = QSRC_ORIGINAL;
	one->canSetTag = true;
	one->hasWindowFuncs = true;
	one->rtable = list_make1(rte);
	one->jointree = makeFromExpr(list_make1(makeNode(RangeTblRef)), NULL);
	((RangeTblRef *) linitial(one->jointree->fromlist))->rtindex = 1;
	one->targetList = list_make1(makeTargetEntry((Expr *) value, 1, rte->eref->aliasname, false));
	one->windowClause = list_make1(window);
	one->limitCount = (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(1), false, FLOAT8PASSBYVAL);
	link->subselect = (Node *) one;
}

/* Has buckets and places of a window that are not above 0 as NULL. */
static void
place_safely(WindowFunc *function)
{
	if (function->winfnoid == F_NTILE)
		linitial(function->args) = null_unless_positive(linitial(function->args));
	else if (function->winfnoid == F_NTH_VALUE)
		lsecond(function->args) = null_unless_positive(lsecond(function->args));
}

/* Leaves keys that are NULL out of a JSON object. */
static void
collect_safely(Aggref *agg)
{
	NullTest   *test;

	if (agg->aggfnoid != F_JSON_OBJECT_AGG && agg->aggfnoid != F_JSONB_OBJECT_AGG)
		return;
	test = makeNode(NullTest);
	test->arg = copyObject(linitial_node(TargetEntry, agg->args)->expr);
	test->nulltesttype = IS_NOT_NULL;
	test->location = -1;
	agg->aggfilter = agg->aggfilter == NULL ? (Expr *) test
		: makeBoolExpr(AND_EXPR, list_make2(agg->aggfilter, test), -1);
}

/* Returns a number of rows, 0 where it is less; NULL, which is no limit, stays. */
static Node *
number_of_rows(Node *number)
{
	if (number == NULL || folds_to_constant(number))
		return number;
	/* strict, other than GREATEST */
	return (Node *) makeFuncExpr(F_INT8LARGER, INT8OID, list_make2(number, zero_of(INT8OID)), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/* Has offsets of a frame's rows that are below 0 or NULL as 0. */
static void
frame_safely(WindowClause *window)
{
	Node	  **offsets[] = {&window->startOffset, &window->endOffset};

	if ((window->frameOptions & FRAMEOPTION_RANGE) != 0)
		return;
	for (int i = 0; i < lengthof(offsets); i++)
	{
		MinMaxExpr *greatest;

		if (*offsets[i] == NULL || folds_to_constant(*offsets[i]))
			continue;
		greatest = makeNode(MinMaxExpr);
		greatest->minmaxtype = INT8OID;
		greatest->op = IS_GREATEST;
		greatest->args = list_make2(*offsets[i], zero_of(INT8OID));
		greatest->location = -1;
		*offsets[i] = (Node *) greatest;
	}
}

static bool call_walker(Node *node, void *context);

static bool
walk_query(Query *query, void *context)
{
	ListCell   *lc;

	query->limitCount = number_of_rows(query->limitCount);
	query->limitOffset = number_of_rows(query->limitOffset);
	foreach(lc, query->windowClause)
		frame_safely(lfirst_node(WindowClause, lc));
	if (query->commandType != CMD_INSERT)
		return query_tree_walker(query, call_walker, context, 0);
	foreach(lc, query->targetList)
		call_walker(below_assignment((Node *) lfirst_node(TargetEntry, lc)->expr), context);
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);
		ListCell   *row;
		ListCell   *value;

		if (rte->rtekind == RTE_SUBQUERY)
			walk_query(rte->subquery, context);
		foreach(row, rte->values_lists)
		{
			foreach(value, lfirst_node(List, row))
				call_walker(below_assignment(lfirst(value)), context);
		}
	}
	foreach(lc, query->cteList)
		call_walker(lfirst_node(CommonTableExpr, lc)->ctequery, context);
	return false;
}

static bool
call_walker(Node *node, void *context)
{
	bool		result;

	if (node == NULL)
		return false;
	check_stack_depth();
	if (IsA(node, Query))
		return walk_query((Query *) node, context);
	if (IsA(node, RangeTblFunction))
	{
		/* which columns a function in FROM has follows from what it is */
		node = ((RangeTblFunction *) node)->funcexpr;
		if (node != NULL && IsA(node, FuncExpr))
		{
			call_walker((Node *) ((FuncExpr *) node)->args, context);
			step_safely((FuncExpr *) node);
			return false;
		}
		return call_walker(node, context);
	}
	/* what is called first, as what is called with it is tried as it was written */
	result = expression_tree_walker(node, call_walker, context);
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
		case T_SubLink:
			take_one_row((SubLink *) node);
			break;
		case T_WindowFunc:
			place_safely((WindowFunc *) node);
			break;
		case T_Aggref:
			collect_safely((Aggref *) node);
			break;
		default:
			break;
	}
	return result;
}

void
dp_null_failing_calls(Query *query)
{
	if (query->commandType == CMD_SELECT || query->commandType == CMD_INSERT)
		call_walker((Node *) query, NULL);
}
