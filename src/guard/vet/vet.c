/*-------------------------------------------------------------------------
 *
 * vet.c
 *	  Decides whether an expression may run on raw rows, and makes it safe.
 *
 * Invariants:
 *
 * - Every node type, function and data type that is not expressly accepted is
 *	 refused.
 * - The result contains only functions of the list that cannot fail, and C
 *	 functions try_* of schema dp_cdp_internal; none raises an error for any row or
 *	 parameter.  Functions that a superuser has added are trusted for it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/extension.h"
#include "base/walk.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "policy/unit_types.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------------
 * Parts
 * ------------------------------------------------------------------------
 */

/* Returns a copy of a node, or a list, with its parts vetted. */
static Node *
vet_parts(DpVet *vet, Node *node)
{
	return expression_tree_mutator(node, dp_vet, vet);
}

/* Returns an array column, NULL where it is long. */
static Node *
vet_array_column(DpVet *vet, Node *column)
{
	Oid			any = ANYARRAYOID;

	vet->opens = true;
	column = dp_vet(column, vet);
	return (Node *) makeFuncExpr(dp_own_function("try_array", 1, &any, any), exprType(column), list_make1(column),
								 exprCollation(column), InvalidOid, COERCE_EXPLICIT_CALL);
}

/* Tells whether an expression is an array that a function of the list, or of this extension, makes of a value, or array_agg of rows. */
static bool
makes_array(Node *array)
{
	Oid			funcid = IsA(array, FuncExpr) ? ((FuncExpr *) array)->funcid : InvalidOid;

	return (IsA(array, Aggref) && ((Aggref *) array)->aggfnoid == F_ARRAY_AGG_ANYNONARRAY) || (OidIsValid(funcid) && (dp_allowed_function(funcid) != NULL || dp_is_parts_of_json(funcid)));
}

/* Vets an array that is looked into: a column, or one whose values are known before the first row, as those of IN. */
Node *
dp_vet_array(DpVet *vet, Node *node, Node *array)
{
	Oid			element = get_base_element_type(exprType(array));

	if (!OidIsValid(element))
		dp_refuse(vet, array, psprintf("a value of type %s", dp_type_name(exprType(array))), "write an IN list of constants");
	dp_vet_type(vet, array, element);
	dp_vet_collation(vet, array, exprCollation(array));
	if (IsA(array, Var))
		return vet_array_column(vet, array);
	if (!dp_is_unfoldable(array, NULL))
	{
		Const	   *con;

		(void) dp_refuse_failing(array, vet);
		con = dp_fold(array);

		dp_vet_const(vet, con);
		return (Node *) con;
	}
	if (IsA(array, RelabelType) || (IsA(array, ArrayCoerceExpr) && dp_array_cast_is_relabel((ArrayCoerceExpr *) array)))
	{
		Node	   *copy = copyObject(array);
		Expr	  **arg = IsA(copy, RelabelType) ? &((RelabelType *) copy)->arg : &((ArrayCoerceExpr *) copy)->arg;

		*arg = (Expr *) dp_vet_array(vet, node, (Node *) *arg);
		return copy;
	}
	if (makes_array(array))
	{
		vet->opens = true;
		return dp_vet(array, vet);
	}
	if (dp_reads_columns(array, NULL))
		dp_refuse(vet, node, "a list that is not constant", "write comparisons joined by OR, or an IN list of constants");
	if (IsA(array, ArrayExpr) && !((ArrayExpr *) array)->multidims)
	{
		ArrayExpr  *copy = copyObject((ArrayExpr *) array);
		bool		outer = vet->no_columns;

		vet->no_columns = true;
		copy->elements = (List *) vet_parts(vet, (Node *) copy->elements);
		vet->no_columns = outer;
		return (Node *) copy;
	}
	if (IsA(array, Param) && ((Param *) array)->paramkind == PARAM_EXTERN)
		return copyObject(array);
	dp_refuse(vet, array, "an array that is computed", "write an IN list of constants");
	return NULL;				/* keep compiler quiet */
}

/* Vets the comparison operator of a node that cannot hold a safe variant. */
static void
vet_comparison(DpVet *vet, Node *node, Oid funcid, List *args, Oid inputcollid)
{
	const DpAllowed *allowed = dp_allowed_function(funcid);

	dp_vet_operator(vet, node);
	if (allowed == NULL || allowed->constants_only)
		dp_refuse_function(vet, node, funcid, NULL);
	if (allowed->safe || allowed->constants)
		dp_refuse_function(vet, node, funcid, "write it without a list, joined by OR");
	dp_vet_input_collation(vet, node, args, inputcollid);
}

/* ------------------------------------------------------------------------
 * One function for each type of node: each returns a new node
 * ------------------------------------------------------------------------
 */

/* Returns a literal that is an argument of any type, as of count(NULL), as text. */
static Const *
text_of_literal(const Const *con)
{
	return makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
					 con->constisnull ? (Datum) 0 : CStringGetTextDatum(DatumGetCString(con->constvalue)), con->constisnull, false);
}

static Node *
vet_const(DpVet *vet, Const *con)
{
	if (con->consttype == UNKNOWNOID)
		con = text_of_literal(con);
	if (!dp_is_opened(vet, con->consttype))
		dp_vet_type(vet, (Node *) con, con->consttype);
	dp_vet_collation(vet, (Node *) con, con->constcollid);
	dp_vet_const(vet, con);
	return copyObject((Node *) con);
}

static Node *
vet_param(DpVet *vet, Param *param)
{
	if (param->paramkind != PARAM_EXTERN)
		dp_refuse(vet, (Node *) param, "the result of a subquery", "let FROM compute it, and join its rows");
	if (!dp_is_opened(vet, param->paramtype) && !dp_is_citext(param->paramtype))
		dp_vet_type(vet, (Node *) param, param->paramtype);
	dp_vet_collation(vet, (Node *) param, param->paramcollid);
	return copyObject((Node *) param);
}

static Node *
vet_case_test(DpVet *vet, CaseTestExpr *test)
{
	if (vet->case_type != test->typeId)
		dp_refuse(vet, (Node *) test, "this kind of expression", NULL);
	return copyObject((Node *) test);
}

static Node *
vet_function(DpVet *vet, FuncExpr *call)
{
	FuncExpr   *copy = copyObject(call);
	bool		opened = dp_is_opened(vet, copy->funcresulttype);
	Node	   *safe;

	if (dp_is_parts_of_json(copy->funcid))
	{
		if (!opened)
			dp_vet_type(vet, (Node *) call, copy->funcresulttype);
		vet->opens = true;
		linitial(copy->args) = dp_vet(linitial(copy->args), vet);
		return (Node *) copy;
	}
	if (copy->funcretset)
		dp_refuse_function(vet, (Node *) call, copy->funcid, "use functions that return one value");
	if (copy->funcvariadic && copy->funcid != F_JSONB_EXTRACT_PATH && copy->funcid != F_JSONB_EXTRACT_PATH_TEXT)
		dp_refuse_function(vet, (Node *) call, copy->funcid, NULL);
	safe = dp_vet_call(vet, (Node *) call, copy->funcid, copy->inputcollid, &copy->args);
	if (!opened)
		dp_vet_type(vet, (Node *) call, copy->funcresulttype);
	dp_vet_collation(vet, (Node *) call, copy->funccollid);
	return safe ? safe : (Node *) copy;
}

static Node *
vet_operator(DpVet *vet, OpExpr *op)
{
	OpExpr	   *copy = copyObject(op);
	bool		opened = dp_is_opened(vet, copy->opresulttype);
	Node	   *safe;

	set_opfuncid(copy);
	if (dp_compares_units(vet->cxt, (Node *) op) && !vet->no_columns)
		return (Node *) copy;
	if (dp_is_of_citext((Node *) op))
		return dp_vet(dp_citext_as_text((Node *) op, true), vet);
	safe = dp_vet_call(vet, (Node *) op, copy->opfuncid, copy->inputcollid, &copy->args);
	if (!opened)
		dp_vet_type(vet, (Node *) op, copy->opresulttype);
	dp_vet_collation(vet, (Node *) op, copy->opcollid);
	return safe ? safe : (Node *) copy;
}

/* Vets IS DISTINCT FROM and nullif, which are structs like OpExpr. */
static Node *
vet_distinct_or_nullif(DpVet *vet, Node *node)
{
	OpExpr	   *copy = copyObject((OpExpr *) node);

	if (dp_is_of_citext(node))
		return dp_vet(dp_citext_as_text(node, true), vet);
	set_opfuncid(copy);
	vet_comparison(vet, node, copy->opfuncid, copy->args, copy->inputcollid);
	dp_vet_type(vet, node, exprType(node));
	dp_vet_collation(vet, node, copy->opcollid);
	return vet_parts(vet, (Node *) copy);
}

/* a comparison with more members of a list is not written out, nor one that would become more nodes than this */
#define MOST_MEMBERS 100
#define MOST_WRITTEN 10000

/* Returns the members of a list whose number the query tells; false: it does not, or they are too many. */
static bool
members_of(Node *array, List **members)
{
	if (!IsA(array, ArrayExpr) || ((ArrayExpr *) array)->multidims)
	{
		if (dp_is_unfoldable(array, NULL))
			return false;
		array = (Node *) dp_fold(array);
	}
	return dp_list_elements(array, MOST_MEMBERS, members);
}

/* Tells whether a comparison with a list of members is one of an operator that is not run as it stands. */
static bool
is_for_each(ScalarArrayOpExpr *op, List **members)
{
	const DpAllowed *allowed = dp_allowed_function(get_opcode(op->opno));

	return allowed != NULL && (allowed->safe != NULL || allowed->constants != 0) && members_of(lsecond(op->args), members);
}

/* Adds to *written how many nodes an expression becomes; stops at too many: within each other, lists multiply. */
static DpWalk
count_written(Node *node, int levels, int64 *written)
{
	List	   *members;
	int64		value = 0;

	if (++*written <= MOST_WRITTEN && IsA(node, ScalarArrayOpExpr) && is_for_each((ScalarArrayOpExpr *) node, &members))
	{
		if (dp_walk(linitial(((ScalarArrayOpExpr *) node)->args), count_written, &value))
			*written += MOST_WRITTEN;
		*written += (value + 2) * list_length(members);
		return dp_walk(lsecond(((ScalarArrayOpExpr *) node)->args), count_written, written) ? DP_WALK_STOP : DP_WALK_PAST;
	}
	return *written > MOST_WRITTEN ? DP_WALK_STOP : DP_WALK_ON;
}

/* Returns value operator ANY or ALL (list), of an operator that is not run as it stands, with one comparison for each member; NULL: it has no such list. */
static Node *
written_out(ScalarArrayOpExpr *op)
{
	List	   *members;
	List	   *comparisons = NIL;
	int64		written = 0;

	if (!is_for_each(op, &members) || dp_walk(op, count_written, &written))
		return NULL;
	foreach_ptr(Expr, member, members)
	{
		OpExpr	   *comparison = dp_make_comparison(op->opno, copyObject(linitial(op->args)), member, op->inputcollid);

		comparison->location = op->location;
		comparisons = lappend(comparisons, comparison);
	}
	if (comparisons == NIL)
		return makeBoolConst(!op->useOr, false);
	return list_length(comparisons) == 1 ? linitial(comparisons) :
		(Node *) makeBoolExpr(op->useOr ? OR_EXPR : AND_EXPR, comparisons, op->location);
}

static Node *
vet_array_comparison(DpVet *vet, ScalarArrayOpExpr *op)
{
	ScalarArrayOpExpr *copy = copyObject(op);
	Node	   *each;

	set_sa_opfuncid(copy);
	each = written_out(copy);
	if (each != NULL)
		return dp_vet(each, vet);
	vet_comparison(vet, (Node *) op, copy->opfuncid, copy->args, copy->inputcollid);
	copy->args = list_make2(dp_vet(linitial(copy->args), vet),
							dp_vet_array(vet, (Node *) op, lsecond(copy->args)));
	return (Node *) copy;
}

/* Tells whether this is (regexp_match(string, pattern))[1], which is substring(string FROM pattern). */
static bool
is_first_match(SubscriptingRef *ref)
{
	Const	   *number = list_length(ref->refupperindexpr) == 1 ? linitial(ref->refupperindexpr) : NULL;

	return IsA(ref->refexpr, FuncExpr) && ((FuncExpr *) ref->refexpr)->funcid == F_REGEXP_MATCH_TEXT_TEXT && ref->reflowerindexpr == NIL &&
		number != NULL && IsA(number, Const) && !number->constisnull && DatumGetInt32(number->constvalue) == 1;
}

/* Vets array[n] of a column; whatever else is written with brackets is refused. */
static Node *
vet_element(DpVet *vet, SubscriptingRef *ref)
{
	Oid			types[] = {ANYARRAYOID, INT4OID};
	Node	   *array = (Node *) ref->refexpr;
	Node	   *number;
	FuncExpr   *element;

	if (is_first_match(ref))
		return dp_vet((Node *) makeFuncExpr(F_SUBSTRING_TEXT_TEXT, TEXTOID, ((FuncExpr *) array)->args, ref->refcollid,
											((FuncExpr *) array)->inputcollid, COERCE_EXPLICIT_CALL), vet);
	if (ref->reflowerindexpr != NIL || list_length(ref->refupperindexpr) != 1 || !(IsA(array, Var) || makes_array(array)) || !type_is_array(exprType(array)))
		dp_refuse_node(vet, (Node *) ref);
	dp_vet_type(vet, (Node *) ref, ref->refrestype);
	dp_vet_collation(vet, (Node *) ref, ref->refcollid);
	array = dp_vet_array(vet, (Node *) ref, array);
	number = dp_vet(linitial(ref->refupperindexpr), vet);
	element = makeFuncExpr(dp_own_function("try_element", lengthof(types), types, ANYELEMENTOID), ref->refrestype,
						   list_make2(array, number), ref->refcollid, InvalidOid, COERCE_EXPLICIT_CALL);
	element->location = exprLocation((Node *) ref);
	return (Node *) element;
}

static Node *
vet_bool(DpVet *vet, BoolExpr *expr)
{
	SubLink    *link = linitial(expr->args);

	if (expr->boolop == NOT_EXPR && IsA(link, SubLink) && link->subLinkType == ANY_SUBLINK)
		dp_refuse(vet, (Node *) link, "NOT IN with a subquery",
				  "a NULL of anybody's among its values would leave no row: write NOT EXISTS (SELECT ... WHERE its privacy unit = that of the row "
				  "AND its value = what is tested)");
	return vet_parts(vet, (Node *) expr);
}

static Node *
vet_null_test(DpVet *vet, NullTest *test)
{
	if (test->argisrow)
		dp_refuse(vet, (Node *) test, "a test of a whole row", "name its columns");
	vet->opens = IsA(test->arg, Var) && dp_type_is_opened(exprType((Node *) test->arg));
	return vet_parts(vet, (Node *) test);
}

static Node *
vet_case(DpVet *vet, CaseExpr *cases)
{
	CaseExpr   *copy = copyObject(cases);
	Oid			outer = vet->case_type;

	dp_vet_type(vet, (Node *) cases, copy->casetype);
	dp_vet_collation(vet, (Node *) cases, copy->casecollid);
	copy->arg = (Expr *) dp_vet((Node *) copy->arg, vet);
	foreach_node(CaseWhen, when, copy->args)
	{
		vet->case_type = copy->arg ? exprType((Node *) copy->arg) : InvalidOid;
		when->expr = (Expr *) dp_vet((Node *) when->expr, vet);
		vet->case_type = outer;
		when->result = (Expr *) dp_vet((Node *) when->result, vet);
	}
	copy->defresult = (Expr *) dp_vet((Node *) copy->defresult, vet);
	return (Node *) copy;
}

static Node *
vet_coalesce(DpVet *vet, CoalesceExpr *coalesce)
{
	dp_vet_type(vet, (Node *) coalesce, coalesce->coalescetype);
	dp_vet_collation(vet, (Node *) coalesce, coalesce->coalescecollid);
	return vet_parts(vet, (Node *) coalesce);
}

/* Vets greatest and least, which compare by the type's default order, which is built in. */
static Node *
vet_minmax(DpVet *vet, MinMaxExpr *minmax)
{
	dp_vet_type(vet, (Node *) minmax, minmax->minmaxtype);
	dp_vet_collation(vet, (Node *) minmax, minmax->minmaxcollid);
	dp_vet_input_collation(vet, (Node *) minmax, minmax->args, minmax->inputcollid);
	return vet_parts(vet, (Node *) minmax);
}

static Node *
vet_relabel(DpVet *vet, RelabelType *relabel)
{
	RelabelType *copy = copyObject(relabel);
	Node	   *arg = dp_citext_as_read((Node *) copy->arg);

	dp_vet_type(vet, (Node *) relabel, copy->resulttype);
	dp_vet_collation(vet, (Node *) relabel, copy->resultcollid);
	copy->arg = (Expr *) (IsA(arg, Var) ? dp_vet_column(vet, (Var *) arg) : IsA(arg, Param) ? vet_param(vet, (Param *) arg) : dp_vet(arg, vet));
	/* a column of a domain comes with the same cast */
	if (IsA(arg, Var) && IsA(copy->arg, RelabelType) &&
		((RelabelType *) copy->arg)->resulttype == copy->resulttype)
		copy->arg = ((RelabelType *) copy->arg)->arg;
	return (Node *) copy;
}

static Node *
vet_collate(DpVet *vet, CollateExpr *collate)
{
	dp_vet_collation(vet, (Node *) collate, collate->collOid);
	return vet_parts(vet, (Node *) collate);
}

static Node *
vet_value_function(DpVet *vet, SQLValueFunction *function)
{
	if (!dp_is_time_function(function))
		dp_refuse(vet, (Node *) function, "the name of the current user, role, catalog or schema",
				  "write it as a constant");
	return copyObject((Node *) function);
}

static Node *
vet_aggregate(DpVet *vet, Aggref *agg)
{
	if (vet->cxt == NULL || !vet->cxt->unit_aggregates || agg->agglevelsup != 0)
		dp_refuse_node(vet, (Node *) agg);
	return dp_vet_unit_aggregate(vet, agg);
}

static Node *
vet_window(DpVet *vet, WindowFunc *function)
{
	if (vet->cxt == NULL || !vet->cxt->windows)
		dp_refuse_node(vet, (Node *) function);
	return dp_vet_window_function(vet, function);
}

Node *
dp_vet(Node *node, DpVet *vet)
{
	if (node == NULL)
		return NULL;
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();

	if (IsA(node, List))
		return vet_parts(vet, node);

	if (!IsA(node, Const) && !IsA(node, CaseTestExpr) && !dp_is_unfoldable(node, NULL))
	{
		/* arrays are for dp_vet_array, but for what a function looks into */
		if ((!vet->opens || !dp_type_is_opened(exprType(node))) && !dp_is_citext(exprType(node)))
			dp_vet_type(vet, node, exprType(node));
		(void) dp_refuse_failing(node, vet);
		node = (Node *) dp_fold(node);
	}
	/* a value of it is what it is equal to; the call reads it as text */
	if (dp_citext_is_known(node) || (IsA(node, Var) && !vet->opens && dp_is_citext(exprType(node))))
		return dp_vet((Node *) dp_citext_folded(node), vet);

	switch (nodeTag(node))
	{
		case T_Const:
			return vet_const(vet, (Const *) node);
		case T_Var:
			return dp_vet_column(vet, (Var *) node);
		case T_Param:
			return vet_param(vet, (Param *) node);
		case T_CaseTestExpr:
			return vet_case_test(vet, (CaseTestExpr *) node);
		case T_FuncExpr:
			return vet_function(vet, (FuncExpr *) node);
		case T_OpExpr:
			return vet_operator(vet, (OpExpr *) node);
		case T_DistinctExpr:
		case T_NullIfExpr:
			return vet_distinct_or_nullif(vet, node);
		case T_ScalarArrayOpExpr:
			return vet_array_comparison(vet, (ScalarArrayOpExpr *) node);
		case T_BoolExpr:
			return vet_bool(vet, (BoolExpr *) node);
		case T_NullTest:
			return vet_null_test(vet, (NullTest *) node);
		case T_BooleanTest:
			return vet_parts(vet, node);
		case T_CaseExpr:
			return vet_case(vet, (CaseExpr *) node);
		case T_CoalesceExpr:
			return vet_coalesce(vet, (CoalesceExpr *) node);
		case T_MinMaxExpr:
			return vet_minmax(vet, (MinMaxExpr *) node);
		case T_RelabelType:
			return vet_relabel(vet, (RelabelType *) node);
		case T_CollateExpr:
			return vet_collate(vet, (CollateExpr *) node);
		case T_CoerceViaIO:
			return dp_vet_io(vet, (CoerceViaIO *) node);
		case T_SubscriptingRef:
			return vet_element(vet, (SubscriptingRef *) node);
		case T_SQLValueFunction:
			return vet_value_function(vet, (SQLValueFunction *) node);
		case T_Aggref:
			return vet_aggregate(vet, (Aggref *) node);
		case T_WindowFunc:
			return vet_window(vet, (WindowFunc *) node);
		default:
			dp_refuse_node(vet, node);
	}
}

/* ------------------------------------------------------------------------
 * Entry points
 * ------------------------------------------------------------------------
 */

static DpWalk
count_node(Node *node, int levels, int *count)
{
	if (!IsA(node, List) && ++*count > DP_MAX_EXPR_NODES)
		return DP_WALK_STOP;
	/* sublinks are refused anyway */
	return IsA(node, SubLink) ? DP_WALK_PAST : DP_WALK_ON;
}

Node *
dp_make_safe(Node *expr, const DpAllowContext *cxt)
{
	DpVet		vet = {cxt, false, InvalidOid};
	int			count = 0;

	if (dp_walk(expr, count_node, &count))
		dp_refuse(&vet, expr, psprintf("an expression of more than %d parts", DP_MAX_EXPR_NODES),
				  "write it shorter, long lists as = ANY ('{...}')");
	return dp_vet(expr, &vet);
}

Node *
dp_make_array_safe(Node *array, const DpAllowContext *cxt)
{
	DpVet		vet = {cxt, false, InvalidOid};

	return dp_vet_array(&vet, array, array);
}

Node *
dp_hand_up_column(Var *column, const DpAllowContext *cxt)
{
	DpVet		vet = {cxt, false, InvalidOid, dp_type_is_opened(column->vartype)};

	if (dp_is_compared_unit(cxt, (Node *) column))
		return (Node *) copyObject(column);
	return dp_vet_column(&vet, column);
}

void
dp_allow_group_key(Node *expr, const DpAllowContext *cxt)
{
	int32		typmod = -1;
	Oid			type = dp_type_as_read(exprType(expr), &typmod);

	(void) dp_make_safe(expr, cxt);
	if (!dp_type_is_key(type))
		dp_raise(NOT_RELEASABLE,
				 errmsg("values of type %s cannot be group keys of a private query, because equal values may print differently; %s",
						dp_type_name(type),
						type == INTERVALOID ? "group by extract(epoch from ...) or another field" :
						type == TIMETZOID ? "cast to time" :
						type == CASHOID ? "cast to numeric outside of the table" :
						"group by a number, a string, a date or an enum"),
				 dp_error_position(cxt->source_text, exprLocation(expr)));
}

void
dp_allow_subquery_keys(Query *sub, const DpAllowContext *cxt)
{
	foreach_ptr(SortGroupClause, clause, sub->groupClause)
	{
		Node	   *expr = get_sortgroupclause_expr(clause, sub->targetList);

		/*
		 * money and timetz are no keys of a release either, but their equal
		 * values are the same
		 */
		if (exprType(expr) == INTERVALOID)
			dp_raise(NOT_RELEASABLE,
					 errmsg("a subquery over protected rows cannot group by values of type interval; group by extract(epoch from ...) or another field"),
					 errdetail("Equal intervals may be written differently."),
					 dp_error_position(cxt->source_text, exprLocation(expr)));
	}
}
