/*-------------------------------------------------------------------------
 *
 * verify_expr.c
 *	  The last gate: expressions of a finished inner query.
 *
 * Invariants:
 * - Accepts functions of the allow-list that are safe as they stand, strict C
 *	 functions try_* of this extension, its own functions and aggregates in the
 *	 places where inner_query.c writes them, and what a superuser has added.
 * - An object is the extension's own by membership, not by its name.
 * - What is verified of an expression is all of it: the walk has no default.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/transam.h"
#include "base/compat.h"
#include "base/extension.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "guard/read/read.h"
#include "guard/verify.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "policy/unit_types.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

void
dp_unverified(const char *what, Node *node)
{
	dp_raise(NOT_RELEASABLE,
			errmsg("private query could not be verified: %s (node type %d); this is a bug of dp_cdp, please report it",
					what, node ? (int) nodeTag(node) : 0));
}

/* functions and aggregates of schema dp_cdp_internal, beside try_* */
static const struct
{
	const char *name;
	int			places;
	bool		is_ordered;		/* an aggregate in which the order of rows shows */
}			own_functions[] = {
	{"is_declared", DP_PLACE_RAW},
	{"key_place", DP_PLACE_RAW},
	{"is_shown", DP_PLACE_RAW},
	{"canonical", DP_PLACE_RAW},
	{"code", DP_PLACE_RAW},
	{"centered", DP_PLACE_RAW},
	{"chebyshev", DP_PLACE_RAW},
	{"product", DP_PLACE_RAW},
	{"bin", DP_PLACE_RAW},
	{"unit_sum", DP_PLACE_SOURCE},
	{"unit_avg", DP_PLACE_SOURCE},
	{"unit_var_pop", DP_PLACE_SOURCE},
	{"unit_var_samp", DP_PLACE_SOURCE},
	{"unit_stddev_pop", DP_PLACE_SOURCE},
	{"unit_stddev_samp", DP_PLACE_SOURCE},
	{"unit_min", DP_PLACE_SOURCE},
	{"unit_max", DP_PLACE_SOURCE},
	{"unit_string_agg", DP_PLACE_SOURCE, true},
	{"unit_array_agg", DP_PLACE_SOURCE, true},
	{"exact_sum", DP_PLACE_ROWS},
	{"exact_histogram", DP_PLACE_ROWS},
	{"moment_n", DP_PLACE_ROWS},
	{"moment_t", DP_PLACE_ROWS},
	{"moment_t2", DP_PLACE_ROWS},
	{"moment_u", DP_PLACE_ROWS},
	{"moment_u2", DP_PLACE_ROWS},
	{"moment_tu", DP_PLACE_ROWS},
	{"bound_unit", DP_PLACE_BOUNDING},
	{"bound_key", DP_PLACE_KEPT},
	{"bound_value", DP_PLACE_KEPT},
	{"bound_codes", DP_PLACE_KEPT},
	{"bound_distinct_codes", DP_PLACE_KEPT},
	{"bound_cut", DP_PLACE_KEPT},
	{"bound_share", DP_PLACE_KEPT},
	{"bound_bin", DP_PLACE_KEPT},
	{"bound_first", DP_PLACE_KEPT},
	{"steps_sum", DP_PLACE_ENTRIES},
	{"limited_sum", DP_PLACE_ENTRIES},
	{"codes_histogram", DP_PLACE_ENTRIES},
	{"codes_shares", DP_PLACE_ENTRIES},
	{"codes_distinct", DP_PLACE_ENTRIES},
	{"codes_distinct_shares", DP_PLACE_ENTRIES},
	{"distinct_count", DP_PLACE_ENTRIES},
	{"distinct_shares", DP_PLACE_ENTRIES}
};

/* ------------------------------------------------------------------------
 * Functions of the extension
 * ------------------------------------------------------------------------
 */

/* One entry of the cache of functions that are not built in; it goes when any function changes. */
typedef struct OwnFunction
{
	Oid			funcid;			/* hash key */
	int			places;			/* 0: it is none of ours, or of no use here */
	uint16		constants;		/* as in DpAllowed */
	bool		is_set;
	bool		is_ordered;
} OwnFunction;

static HTAB *own_cache = NULL;

static void
forget_functions(Datum arg, int cacheid, uint32 hashvalue)
{
	if (own_cache != NULL)
		hash_destroy(own_cache);
	own_cache = NULL;
}

static void
describe_own(OwnFunction *own, Form_pg_proc proc)
{
	const char *name = NameStr(proc->proname);
	const DpAllowed *list;
	int			count;

	if (proc->pronamespace != dp_internal_schema() ||
		(proc->prolang != ClanguageId && proc->prokind != PROKIND_AGGREGATE) ||
		!dp_is_own(ProcedureRelationId, proc->oid))
		return;
	own->is_set = proc->proretset;
	for (int i = 0; i < lengthof(own_functions); i++)
		if (strcmp(name, own_functions[i].name) == 0)
		{
			own->places = own_functions[i].places;
			own->is_ordered = own_functions[i].is_ordered;
		}
	if (strncmp(name, "try_", 4) == 0 && proc->prokind == PROKIND_FUNCTION && proc->proisstrict && !proc->proretset)
		own->places = DP_PLACE_RAW;
	list = dp_allowed_functions(&count);
	for (int i = 0; i < count; i++)
		if (list[i].safe && strcmp(list[i].safe, name) == 0 && list[i].constants != 0 &&
			dp_safe_variant(&list[i]) == proc->oid)
			own->constants |= list[i].constants;
}

static OwnFunction
own_function(Oid funcid)
{
	static bool registered = false;
	OwnFunction own = {.funcid = funcid};
	OwnFunction *found;
	HeapTuple	tuple;

	if (!registered)
	{
		CacheRegisterSyscacheCallback(PROCOID, forget_functions, (Datum) 0);
		registered = true;
	}
	found = own_cache ? hash_search(own_cache, &funcid, HASH_FIND, NULL) : NULL;
	if (found != NULL)
		return *found;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return own;
	describe_own(&own, (Form_pg_proc) GETSTRUCT(tuple));
	ReleaseSysCache(tuple);
	if (own.places == 0)
		return own;
	if (own_cache == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(OwnFunction)};

		own_cache = hash_create("dp_cdp own functions", 64, &ctl, HASH_ELEM | HASH_BLOBS);
	}
	found = hash_search(own_cache, &funcid, HASH_ENTER, NULL);
	*found = own;
	return own;
}

/* ------------------------------------------------------------------------
 * Expressions
 * ------------------------------------------------------------------------
 */

static bool
is_readable_type(Oid type, bool array)
{
	Oid			element = array ? get_base_element_type(type) : InvalidOid;

	return dp_type_is_allowed(OidIsValid(element) ? element : type) || (array && type != JSONBOID && dp_type_is_opened(type));
}

static void
verify_constants(List *args, uint16 constants, Node *node)
{
	foreach_ptr(Node, arg, args)
		dp_require((constants & (1 << foreach_current_index(arg))) == 0 || !dp_reads_columns(arg, NULL),
				   "an argument that is not constant", node);
}

/* Verifies a function, or the function of an operator. */
static void
verify_function(DpVerify *v, Oid funcid, List *args, bool returns_set, Node *node)
{
	const DpAllowed *allowed = dp_allowed_function(funcid);

	if (allowed != NULL)
	{
		dp_require(allowed->safe == NULL && !allowed->constants_only && !returns_set &&
				   (v->place & DP_PLACE_RAW) != 0, "a function that is not total", node);
		verify_constants(args, allowed->constants, node);
	}
	else if (dp_is_image_function(funcid))
		dp_require(v->place == DP_PLACE_SOURCE && (v->query->hasWindowFuncs || v->query->hasDistinctOn || v->in_aggregate), "an image of a value", node);
	else
	{
		OwnFunction own = funcid >= FirstGenbkiObjectId ? own_function(funcid) : (OwnFunction) {0};

		if (own.places == 0 && funcid >= FirstNormalObjectId && dp_function_is_added(funcid))
		{
			dp_require(dp_added_problem(funcid) == NULL && !returns_set && (v->place & DP_PLACE_RAW) != 0,
					   "an added function that has changed", node);
			return;
		}
		dp_require((own.places & v->place) != 0 && own.is_set == returns_set, "a function that is not listed", node);
		verify_constants(args, own.constants, node);
	}
}

static void
verify_operator(DpVerify *v, Oid opno, Oid funcid, List *args, Node *node)
{
	dp_require(opno < FirstGenbkiObjectId && get_opcode(opno) == funcid, "an operator that is not built in", node);
	verify_function(v, funcid, args, false, node);
}

void
dp_verify_sort_clauses(List *clauses)
{
	foreach_ptr(SortGroupClause, clause, clauses)
		dp_require(dp_is_unit_operator(clause->eqop) &&
				   dp_is_unit_operator(clause->sortop),
				   "an operator that is not built in", clause);
}

/* Verifies an aggregate of a unit's rows that PostgreSQL has, with its first argument. */
static void
verify_unit_aggregate(Oid aggfnoid, Expr *argument, bool distinct, Node *node)
{
	const DpUnitAggregate *list;
	const DpUnitAggregate *listed = NULL;
	int			count;

	list = dp_unit_aggregates(&count);
	for (int i = 0; i < count && listed == NULL; i++)
		if (list[i].aggfnoid == aggfnoid)
			listed = &list[i];
	dp_require(listed != NULL && listed->own == NULL, "an aggregate that is not listed", node);
	dp_require(!listed->of_set || !distinct, "a choice among equal values", node);
	dp_require(listed->summand == NULL ||
			   (IsA(argument, FuncExpr) && ((FuncExpr *) argument)->funcid == dp_unit_aggregate_safe(listed)),
			   "an aggregate that is not total", node);
}

/* Verifies that rows which the order of an aggregate takes for equal add the same: by DISTINCT, or by the images of its arguments. */
static void
verify_order(Aggref *agg)
{
	List	   *order = get_sortgrouplist_exprs(agg->aggorder, agg->args);
	List	   *distinct = get_sortgrouplist_exprs(agg->aggdistinct, agg->args);

	foreach_node(TargetEntry, tle, agg->args)
		dp_require(tle->resjunk || IsA(tle->expr, Const) || list_member(order, dp_row_image(tle->expr)) ||
				   (list_member(distinct, tle->expr) && dp_is_canonical((Node *) tle->expr) && dp_type_is_key(exprType((Node *) tle->expr))),
				   "an order of rows that is not theirs", agg);
}

static void
verify_aggregate(DpVerify *v, Aggref *agg)
{
	OwnFunction own = agg->aggfnoid >= FirstGenbkiObjectId ? own_function(agg->aggfnoid) : (OwnFunction) {0};

	dp_require(v->query->hasAggs && !v->in_aggregate && agg->agglevelsup == 0 && agg->aggkind == AGGKIND_NORMAL &&
			   agg->aggsplit == AGGSPLIT_SIMPLE && !agg->aggvariadic && (agg->aggorder == NIL || own.is_ordered) && agg->aggdirectargs == NIL,
			   "an aggregate of another form", agg);
	dp_verify_sort_clauses(agg->aggdistinct);
	dp_verify_sort_clauses(agg->aggorder);
	if (own.is_ordered)
		verify_order(agg);
	if (v->place == DP_PLACE_SOURCE && agg->aggfnoid < FirstGenbkiObjectId)
		verify_unit_aggregate(agg->aggfnoid, agg->args ? linitial_node(TargetEntry, agg->args)->expr : NULL,
							  agg->aggdistinct != NIL, (Node *) agg);
	else if (v->place != DP_PLACE_ROWS || (agg->aggfnoid != F_COUNT_ && agg->aggfnoid != F_COUNT_ANY))
		dp_require((own.places & v->place) != 0, "an aggregate that is not listed", agg);
}

static void
verify_window_function(DpVerify *v, WindowFunc *function)
{
	dp_require(v->place == DP_PLACE_SOURCE && v->query->hasWindowFuncs && !v->in_aggregate && !v->in_window,
			   "a window function", function);
	dp_require(dp_window_kind(function) != DP_WINDOW_UNKNOWN && !dp_has_null_treatment(function) && (function->winagg || function->aggfilter == NULL),
			   "a window function that is not listed", function);
	if (function->winagg && function->winfnoid < FirstGenbkiObjectId)
		verify_unit_aggregate(function->winfnoid, function->args ? linitial(function->args) : NULL, false, (Node *) function);
	else if (function->winagg)
		dp_require((own_function(function->winfnoid).places & v->place) != 0, "an aggregate that is not listed", function);
}

/* Verifies a column that names a unit where each row is one. */
static void
verify_row_unit(DpVerify *v, Var *var)
{
	RangeTblEntry *rte = rt_fetch(var->varno, v->query->rtable);
	const DpTable *table = rte->rtekind == RTE_RELATION ? dp_policy_table(rte->relid) : NULL;

	dp_require(table != NULL && !table->has_unit && table->nthrough == 0 && (v->place & (DP_PLACE_SOURCE | DP_PLACE_BOUNDING)) != 0 &&
			   (var->varattno == TableOidAttributeNumber || var->varattno == SelfItemPointerAttributeNumber),
			   "a system column", var);
}

/* Tells whether a column of a UNION ALL bears the unit in each of its operands. */
static bool
is_unit_of_operands(Query *query, AttrNumber column)
{
	foreach_int(operand, dp_operands(query))
	{
		Var			var = {.varno = operand, .varattno = column};

		if (!dp_is_unit_column(query, &var))
			return false;
	}
	return true;
}

bool
dp_is_unit_column(Query *query, const Var *var)
{
	RangeTblEntry *rte = rt_fetch(var->varno, query->rtable);
	const DpTable *table;

	if (rte->rtekind == RTE_SUBQUERY)
	{
		TargetEntry *tle = get_tle_by_resno(rte->subquery->targetList, var->varattno);
		Node	   *column = tle ? (Node *) tle->expr : NULL;

		if (rte->subquery->setOperations)
			return is_unit_of_operands(rte->subquery, var->varattno);
		/* operands of a set operation have it without its domain */
		if (column != NULL && IsA(column, RelabelType) &&
			exprType(column) == getBaseType(exprType((Node *) ((RelabelType *) column)->arg)))
			column = (Node *) ((RelabelType *) column)->arg;

		/*
		 * of equal units those are in the same group that are written alike,
		 * too
		 */
		if (column != NULL && IsA(column, FuncExpr) && list_length(((FuncExpr *) column)->args) == 1 &&
			equal(column, dp_canonical_key(linitial(((FuncExpr *) column)->args))))
			column = linitial(((FuncExpr *) column)->args);
		return column != NULL && IsA(column, Var) && dp_is_unit_column(rte->subquery, (Var *) column);
	}
	table = rte->rtekind == RTE_RELATION ? dp_policy_table(rte->relid) : NULL;
	if (table == NULL)
		return false;
	return table->has_unit || table->nthrough > 0 ? dp_policy_unit_column(rte->relid) == var->varattno : var->varattno < 0;
}

/* Tells whether the query is a subquery that compares no values of its rows with one another. */
static bool
hands_up_rows(DpVerify *v)
{
	return v->place == DP_PLACE_SOURCE && v->query->groupClause == NIL && v->query->distinctClause == NIL &&
		v->query->sortClause == NIL && !v->query->hasAggs;
}

/* is_whole: nothing is computed of the column, but whether it is NULL; as: the type as which it is read */
static void
verify_var(DpVerify *v, Var *var, bool is_target, bool is_whole, Oid as)
{
	RangeTblEntry *rte;
	TargetEntry *tle;
	Oid			type = InvalidOid;

	dp_require(var->varlevelsup == 0 && bms_is_member(var->varno, v->entries) && !v->no_columns && var->varattno != 0,
			   "a column of something else", var);
	rte = rt_fetch(var->varno, v->query->rtable);
	if (var->varattno < 0)
	{
		dp_require(is_target, "a system column", var);
		verify_row_unit(v, var);
		return;
	}
	switch (rte->rtekind)
	{
		case RTE_RELATION:
			type = get_atttype(rte->relid, var->varattno);
			dp_require(!dp_is_virtual_column(rte->relid, var->varattno), "a virtual column", var);
			break;
		case RTE_SUBQUERY:
			tle = get_tle_by_resno(rte->subquery->targetList, var->varattno);
			dp_require(tle != NULL && !tle->resjunk, "a column that does not exist", var);
			type = exprType((Node *) tle->expr);
			break;
		case RTE_NAMEDTUPLESTORE:
			if (var->varattno <= list_length(rte->coltypes))
				type = list_nth_oid(rte->coltypes, var->varattno - 1);
			break;
		case RTE_FUNCTION:
			if (var->varattno <= list_length(rte->functions))
				type = exprType(((RangeTblFunction *) list_nth(rte->functions, var->varattno - 1))->funcexpr);
			else if (rte->funcordinality && var->varattno == list_length(rte->functions) + 1)
				type = INT8OID;
			break;
		default:
			break;
	}
	dp_require(OidIsValid(type) && type == var->vartype, "a column of another type", var);

	/* states are read and not handed up, and what is kept is added up */
	if (v->place == DP_PLACE_KEPT)
		dp_require(!is_target && type == dp_own_type("bound_state"), "a column beside states", var);
	else
		/* row units that a subquery hands up, and units of any type */
		dp_require(dp_type_is_allowed(as) || (is_target && type == TIDOID) || v->place == DP_PLACE_ENTRIES ||
				   (dp_type_is_opened(type) && (v->opens || (is_target ? hands_up_rows(v) : is_whole))) ||
				   (is_whole && (dp_is_unit_column(v->query, var) ||
								 dp_is_compared_unit(&(DpAllowContext) {.rtable = v->query->rtable}, (Node *) var))),
				   "a column of this type", var);
}

/* Verifies the equality of two columns that lead to units, of which nothing else is read. */
static void
verify_units_comparison(DpVerify *v, OpExpr *op)
{
	dp_require(IsA(op, OpExpr) && get_opcode(op->opno) == op->opfuncid && (v->place & DP_PLACE_RAW) != 0,
			   "a comparison of units", op);
	foreach_ptr(Node, item, op->args)
	{
		Node	   *arg = dp_strip_relabel(item);

		verify_var(v, castNode(Var, arg), false, true, exprType(arg));
	}
}

static void verify_arguments(DpVerify *v, List *args);

/* Verifies a list of constants, a column of arrays, which comes with a function that limits its length, or what an aggregate makes. */
static void
verify_array(DpVerify *v, Node *array)
{
	Node	   *value = IsA(array, ArrayCoerceExpr) ? (Node *) ((ArrayCoerceExpr *) array)->arg : array;
	DpVerify	inner = *v;

	inner.array = true;
	inner.no_columns |= !IsA(value, FuncExpr) && !IsA(value, Aggref);
	dp_verify_expr(array, &inner);
}

void
dp_verify_made_rows(DpVerify *v, RangeTblEntry *rte)
{
	foreach_node(RangeTblFunction, function, rte->functions)
	{
		FuncExpr   *call = (FuncExpr *) function->funcexpr;

		dp_require(IsA(call, FuncExpr) && call->funcid == F_UNNEST_ANYARRAY && call->funcretset && !call->funcvariadic &&
				   list_length(call->args) == 1 && function->funccolcount == 1 && function->funccolnames == NIL &&
				   (v->place & DP_PLACE_RAW) != 0, "a function that makes rows", call);
		/* its elements are of the type that arrays of this type have */
		dp_require(dp_type_is_allowed(call->funcresulttype) && get_element_type(exprType(linitial(call->args))) == call->funcresulttype,
				   "elements of this type", call);
		verify_array(v, linitial(call->args));
	}
}

static bool
verify_param(DpVerify *v, Param *param, Oid as)
{
	int			first = v->release->first_param;

	dp_require(param->paramkind == PARAM_EXTERN, "a parameter of the executor", param);
	if (param->paramid >= first)
		dp_require(param->paramid < first + dp_release_params_count(v->release),
				   "a parameter of another query", param);
	else
		dp_require(is_readable_type(as, v->array) && !dp_is_above_units(v->place),
				   "a parameter of this type", param);
	return false;
}

static bool
is_opened(Node *arg)
{
	return dp_type_is_opened(exprType(arg));
}

/* Verifies an argument of a type that is looked into: a column, a constant, or what was found in a column of jsonb. */
static void
verify_opened(DpVerify *v, Node *arg)
{
	DpVerify	inner = *v;
	FuncExpr   *call = (FuncExpr *) arg;

	if (IsA(arg, Var))
	{
		inner.opens = true;
		verify_var(&inner, (Var *) arg, false, false, exprType(arg));
	}
	else if (exprType(arg) == JSONBOID)
	{
		dp_require(IsA(call, FuncExpr) && !call->funcvariadic && call->args != NIL && exprType(linitial(call->args)) == JSONBOID,
				   "a value of jsonb", arg);
		verify_function(v, call->funcid, call->args, call->funcretset, arg);
		verify_arguments(v, call->args);
	}
	else
		verify_array(v, arg);
}

static void
verify_arguments(DpVerify *v, List *args)
{
	check_stack_depth();
	foreach_ptr(Node, arg, args)
	{
		if (is_opened(arg))
			verify_opened(v, arg);
		else
			dp_verify_expr(arg, v);
	}
}

bool
dp_verify_expr(Node *node, DpVerify *v)
{
	DpVerify	inner = *v;
	int32		typmod = -1;

	if (node == NULL)
		return false;
	check_stack_depth();
	switch (nodeTag(node))
	{
		case T_List:
		case T_CaseWhen:
		case T_BoolExpr:
		case T_BooleanTest:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
		case T_CollateExpr:
			break;
		case T_TargetEntry:
			if (IsA(((TargetEntry *) node)->expr, Var))
			{
				bool		is_target = !v->in_aggregate || v->place == DP_PLACE_BOUNDING;

				verify_var(v, (Var *) ((TargetEntry *) node)->expr, is_target, is_target, exprType((Node *) ((TargetEntry *) node)->expr));
				return false;
			}
			break;
		case T_Var:
			verify_var(v, (Var *) node, false, false, exprType(node));
			return false;
		case T_Const:
			dp_require(is_readable_type(((Const *) node)->consttype, v->array), "a constant of this type", node);
			return false;
		case T_Param:
			return verify_param(v, (Param *) node, exprType(node));
		case T_CaseTestExpr:
			dp_require(v->case_type == ((CaseTestExpr *) node)->typeId, "the argument of no CASE", node);
			return false;
		case T_FuncExpr:
			dp_require(!((FuncExpr *) node)->funcvariadic, "a function of any number of arguments", node);
			verify_function(v, ((FuncExpr *) node)->funcid, ((FuncExpr *) node)->args, ((FuncExpr *) node)->funcretset, node);
			dp_require(((FuncExpr *) node)->funcresulttype != JSONBOID, "a value of jsonb", node);
			verify_arguments(v, ((FuncExpr *) node)->args);
			return false;
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			dp_require(!((OpExpr *) node)->opretset, "an operator that returns a set", node);
			if (dp_compares_units(&(DpAllowContext) {.rtable = v->query->rtable}, node))
			{
				verify_units_comparison(v, (OpExpr *) node);
				return false;
			}
			verify_operator(v, ((OpExpr *) node)->opno, ((OpExpr *) node)->opfuncid, ((OpExpr *) node)->args, node);
			verify_arguments(v, ((OpExpr *) node)->args);
			return false;
		case T_ScalarArrayOpExpr:
			verify_operator(v, ((ScalarArrayOpExpr *) node)->opno, ((ScalarArrayOpExpr *) node)->opfuncid,
							((ScalarArrayOpExpr *) node)->args, node);
			dp_verify_expr(linitial(((ScalarArrayOpExpr *) node)->args), &inner);
			verify_array(v, lsecond(((ScalarArrayOpExpr *) node)->args));
			return false;
		case T_NullTest:
			dp_require(!((NullTest *) node)->argisrow, "a test of a row", node);
			if (!IsA(((NullTest *) node)->arg, Var))
				break;
			verify_var(v, (Var *) ((NullTest *) node)->arg, false, true, exprType((Node *) ((NullTest *) node)->arg));
			return false;
		case T_RelabelType:
			dp_require(is_readable_type(((RelabelType *) node)->resulttype, v->array), "a cast to this type", node);
			if (IsA(((RelabelType *) node)->arg, Param))
				return verify_param(v, (Param *) ((RelabelType *) node)->arg,
									dp_type_as_read(exprType((Node *) ((RelabelType *) node)->arg), &typmod));
			if (!IsA(((RelabelType *) node)->arg, Var))
				break;
			verify_var(v, (Var *) ((RelabelType *) node)->arg, false, false,
					   dp_type_as_read(exprType((Node *) ((RelabelType *) node)->arg), &typmod));
			return false;
		case T_ArrayExpr:
			dp_require(v->array && is_readable_type(((ArrayExpr *) node)->element_typeid, false), "an array", node);
			break;
		case T_ArrayCoerceExpr:
			dp_require(v->array && dp_array_cast_is_relabel((ArrayCoerceExpr *) node), "a cast of an array", node);
			return dp_verify_expr((Node *) ((ArrayCoerceExpr *) node)->arg, v);
		case T_CaseExpr:
			{
				CaseExpr   *cases = (CaseExpr *) node;

				dp_verify_expr((Node *) cases->arg, v);
				inner.case_type = cases->arg ? exprType((Node *) cases->arg) : InvalidOid;
				foreach_node(CaseWhen, when, cases->args)
				{
					dp_verify_expr((Node *) when->expr, &inner);
					dp_verify_expr((Node *) when->result, v);
				}
				return dp_verify_expr((Node *) cases->defresult, v);
			}
		case T_SQLValueFunction:
			dp_require(dp_is_time_function((SQLValueFunction *) node), "the name of a user or a place", node);
			return false;
		case T_Aggref:
			verify_aggregate(v, (Aggref *) node);
			inner.in_aggregate = true;
			inner.array = false;
			dp_verify_expr((Node *) ((Aggref *) node)->args, &inner);
			return dp_verify_expr((Node *) ((Aggref *) node)->aggfilter, &inner);
		case T_WindowFunc:
			verify_window_function(v, (WindowFunc *) node);
			inner.in_window = true;
			dp_verify_expr((Node *) ((WindowFunc *) node)->args, &inner);
			return dp_verify_expr((Node *) ((WindowFunc *) node)->aggfilter, &inner);
		default:
			dp_unverified("an expression that is not listed", node);
	}
	return expression_tree_walker(node, dp_verify_expr, v);
}
