/*-------------------------------------------------------------------------
 *
 * checks.c
 *	  The parts of an expression's check that are not structure: messages,
 *	  types, collations, operators, constants.
 *
 * Invariant: what reads neither columns nor parameters is evaluated here, as
 * the current user, before anything is debited; what fails then does not
 * depend on data.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/transam.h"
#include "base/compat.h"
#include "base/errors.h"
#include "base/walk.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "guard/vet/vet.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "policy/policy.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

/* Returns the operator of an operator node, or InvalidOid. */
static Oid
operator_of(Node *node)
{
	if (IsA(node, OpExpr) || IsA(node, DistinctExpr) || IsA(node, NullIfExpr))
		return ((OpExpr *) node)->opno;
	if (IsA(node, ScalarArrayOpExpr))
		return ((ScalarArrayOpExpr *) node)->opno;
	return InvalidOid;
}

/* ------------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------------
 */

int
dp_error_position(const char *source_text, int location)
{
	if (source_text == NULL || location < 0 || location > strlen(source_text))
		return 0;
	return errposition(pg_mbstrlen_with_len(source_text, location) + 1);
}

const char *
dp_type_name(Oid type)
{
	/*
	 * a prepared statement is asked for when it is executed, with the types
	 * that it was written for
	 */
	if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("a type that this statement names does not exist any more; prepare the statement again, with another type")));
	return format_type_be(type);
}

static void refuse(DpVet *vet, Node *node, const char *what, const char *remedy, bool is_function) __attribute__((noreturn));

static void
refuse(DpVet *vet, Node *node, const char *what, const char *remedy, bool is_function)
{
	const DpAllowContext *cxt = vet->cxt;

	dp_raise(NOT_RELEASABLE,
			 remedy ?
			 errmsg("%s cannot be used on rows of a protected table; %s", what, remedy) :
			 errmsg("%s cannot be used on rows of a protected table", what),
			 is_function ? errhint("List what can be used: SELECT * FROM dp_cdp.allowed_functions()") : 0,
			 cxt ? dp_error_position(cxt->source_text, exprLocation(node)) : 0);
}

void
dp_refuse(DpVet *vet, Node *node, const char *what, const char *remedy)
{
	refuse(vet, node, what, remedy, false);
}

void
dp_refuse_function(DpVet *vet, Node *node, Oid funcid, const char *remedy)
{
	Oid			opno = operator_of(node);
	const char *what;

	/* no function would take it */
	foreach_node(Var, var, pull_vars_of_level(node, 0))
	{
		if (var->varattno < 0)
			refuse(vet, (Node *) var, "a system column", "name columns of the table itself", false);
	}
	if (OidIsValid(opno))
		what = psprintf("operator %s", format_operator(opno));
	else
		what = psprintf("%s %s", get_func_prokind(funcid) == PROKIND_AGGREGATE ? "aggregate" : "function",
						format_procedure(funcid));
	if (remedy == NULL)
		remedy = dp_nearest_allowed(funcid);
	refuse(vet, node, what, remedy, true);
}

/* ------------------------------------------------------------------------
 * Types, collations, constants
 * ------------------------------------------------------------------------
 */

/* Checks a collation and opens its locale, which might fail, so that it does not at the first matching row. */
void
dp_vet_collation(DpVet *vet, Node *node, Oid collation)
{
	if (!OidIsValid(collation))
		return;
	/* a stored query may be older than its end */
	if (!SearchSysCacheExists1(COLLOID, ObjectIdGetDatum(collation)))
		dp_refuse(vet, node, "a collation that was dropped", "add COLLATE \"C\"");
	if (!get_collation_isdeterministic(collation))
		dp_refuse(vet, node, psprintf("nondeterministic collation \"%s\"", get_collation_name(collation)),
				  "add COLLATE \"C\"");
	(void) pg_newlocale_from_collation(collation);
}

/* Refuses a comparison without a collation, which fails at the first row that reaches it. */
void
dp_vet_input_collation(DpVet *vet, Node *node, List *args, Oid collation)
{
	dp_vet_collation(vet, node, collation);
	if (OidIsValid(collation))
		return;
	foreach_ptr(Node, arg, args)
	{
		if (type_is_collatable(exprType(arg)))
			dp_refuse(vet, node, "a comparison of strings without a definite collation",
					  "add COLLATE \"C\" to one side");
	}
}

void
dp_vet_type(DpVet *vet, Node *node, Oid type)
{
	if (!dp_type_is_allowed(type))
		dp_refuse(vet, node, psprintf("a value of type %s", dp_type_name(type)),
				  get_typtype(type) == TYPTYPE_DOMAIN ? "the owner can give the column the domain's base type" :
				  type == JSONBOID ? "read a part of it as text, for example with ->> 'name'" :
				  "only built-in scalar types and enums can be read");
}

void
dp_vet_const(DpVet *vet, Const *con)
{
	if (con->constisnull || con->constlen != -1)
		return;
	if (toast_raw_datum_size(con->constvalue) > DP_MAX_CONST_BYTES)
		dp_refuse(vet, (Node *) con, psprintf("a constant longer than %d bytes", DP_MAX_CONST_BYTES),
				  "make the constant or the list shorter");
}

/* Returns what to write in the place of a subquery that did not become a join. */
static const char *
instead_of_subquery(Node *node)
{
	switch (IsA(node, SubLink) ? ((SubLink *) node)->subLinkType : EXISTS_SUBLINK)
	{
		case EXISTS_SUBLINK:
			return "let it compare the privacy unit by equality, or join a subquery that groups by the unit";
		case ALL_SUBLINK:
			return "write NOT EXISTS (SELECT ... WHERE its privacy unit = that of the row AND NOT the comparison)";
		case ANY_SUBLINK:
			return "write EXISTS or NOT EXISTS that compares the privacy unit by equality, or join a subquery that groups by the unit";
		default:
			return "join a subquery that groups by the privacy unit, or has DISTINCT ON it";
	}
}

void
dp_refuse_node(DpVet *vet, Node *node)
{
	switch (nodeTag(node))
	{
		case T_SubLink:
		case T_SubPlan:
		case T_AlternativeSubPlan:
			dp_refuse(vet, node, "a subquery", instead_of_subquery(node));
			break;
		case T_Aggref:
		case T_GroupingFunc:
			dp_refuse(vet, node, "an aggregate inside of an aggregate, its filter or its key", "aggregate once");
			break;
		case T_WindowFunc:
			dp_refuse(vet, node, "a window function", "apply it to the released values, outside of a subquery with the aggregates");
			break;
		case T_CoerceToDomain:
		case T_CoerceToDomainValue:
			dp_refuse(vet, node, psprintf("a cast to domain %s", dp_type_name(exprType(node))),
					  "cast to the domain's base type");
			break;
		case T_RowExpr:
		case T_RowCompareExpr:
		case T_FieldSelect:
		case T_FieldStore:
		case T_ConvertRowtypeExpr:
			dp_refuse(vet, node, "a row expression", "compare column by column");
			break;
		case T_ArrayExpr:
		case T_ArrayCoerceExpr:
		case T_SubscriptingRef:
			dp_refuse(vet, node, "an array", "use an IN list of constants, or split_part(string, delimiter, n) for a part of a string");
			break;
		case T_XmlExpr:
			dp_refuse(vet, node, "an XML expression", NULL);
			break;
		case T_NextValueExpr:
		case T_CurrentOfExpr:
		case T_SetToDefault:
		default:
			dp_refuse(vet, node, "this kind of expression", "use comparisons, AND, OR, NOT, CASE, arithmetic and listed functions");
			break;
	}
}

/*
 * Refuses an operator that is not PostgreSQL's own, even if its function is:
 * the planner replaces operators by the negators and commutators they declare.
 */
void
dp_vet_operator(DpVet *vet, Node *node)
{
	Oid			opno = operator_of(node);

	if (opno >= FirstGenbkiObjectId)
		dp_refuse(vet, node, psprintf("operator %s", format_operator(opno)),
				  "use a built-in operator");
}

/* ------------------------------------------------------------------------
 * Constant parts
 * ------------------------------------------------------------------------
 */

static bool
function_is_unfoldable(Oid funcid, void *context)
{
	const DpAllowed *allowed = dp_allowed_function(funcid);

	if (allowed && allowed->constants_only)
		return false;
	/* PostgreSQL's own, and immutable; the walker below sees to the rest */
	return funcid >= FirstGenbkiObjectId || func_volatile(funcid) != PROVOLATILE_IMMUTABLE;
}

bool
dp_array_cast_is_relabel(ArrayCoerceExpr *cast)
{
	return IsA(cast->elemexpr, RelabelType) && IsA(((RelabelType *) cast->elemexpr)->arg, CaseTestExpr);
}

bool
dp_is_time_function(SQLValueFunction *function)
{
	switch (function->op)
	{
		case SVFOP_CURRENT_DATE:
		case SVFOP_CURRENT_TIME:
		case SVFOP_CURRENT_TIME_N:
		case SVFOP_CURRENT_TIMESTAMP:
		case SVFOP_CURRENT_TIMESTAMP_N:
		case SVFOP_LOCALTIME:
		case SVFOP_LOCALTIME_N:
		case SVFOP_LOCALTIMESTAMP:
		case SVFOP_LOCALTIMESTAMP_N:
			return true;
		default:
			return false;
	}
}

static DpWalk
is_column_of(Node *node, int levels, const Bitmapset *rtindexes)
{
	return IsA(node, Var) && ((Var *) node)->varlevelsup == 0 &&
		(rtindexes == NULL || bms_is_member(((Var *) node)->varno, rtindexes));
}

bool
dp_reads_columns(Node *expr, const Bitmapset *rtindexes)
{
	return dp_walk(expr, is_column_of, rtindexes);
}

/*
 * Finds what keeps an expression from being evaluated at once: anything that
 * depends on rows, parameters or time, or is not PostgreSQL's own.
 */
bool
dp_is_unfoldable(Node *node, void *context)
{
	if (node == NULL)
		return false;
	check_stack_depth();
	switch (nodeTag(node))
	{
		case T_Const:
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
		case T_RelabelType:
		case T_CollateExpr:
		case T_ArrayExpr:
		case T_NamedArgExpr:
		case T_List:
			break;
		case T_CoerceViaIO:
			{
				/*
				 * literals of dates and the like, which depend on settings,
				 * but not on time or rows
				 */
				CoerceViaIO *io = (CoerceViaIO *) node;

				return !dp_type_is_allowed(io->resulttype) ||
					dp_is_unfoldable((Node *) io->arg, context);
			}
		case T_ArrayCoerceExpr:
			return !dp_array_cast_is_relabel((ArrayCoerceExpr *) node) ||
				dp_is_unfoldable((Node *) ((ArrayCoerceExpr *) node)->arg, context);
		default:
			return true;
	}
	if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcretset)
		return true;
	if (operator_of(node) >= FirstGenbkiObjectId)
		return true;
	if (!IsA(node, List) && !IsA(node, CaseWhen))
	{
		Oid			type = exprType(node);

		if (OidIsValid(get_element_type(type)))
			type = get_element_type(type);
		if (!dp_type_is_allowed(type) && (type == JSONBOID || !dp_type_is_opened(type)))
			return true;
	}
	if (check_functions_in_node(node, function_is_unfoldable, context))
		return true;
	return expression_tree_walker(node, dp_is_unfoldable, context);
}

/*
 * Returns the value of a constant expression.  Errors here do not depend on
 * data, and nothing has been debited yet.
 */
Const *
dp_fold(Node *node)
{
	Node	   *folded = eval_const_expressions(NULL, copyObject(node));

	if (!IsA(folded, Const))
	{
		/* it depends on settings, as a date does that is cast to text */
		dp_held_note_unwatched();
		folded = (Node *) evaluate_expr((Expr *) folded, exprType(node), exprTypmod(node), exprCollation(node));
	}
	/* messages point at what was written */
	((Const *) folded)->location = exprLocation(node);
	return castNode(Const, folded);
}

Const *
dp_value_of(Node *node)
{
	Const	   *constant = dp_is_unfoldable(node, NULL) ? NULL : dp_fold(node);

	return constant == NULL || constant->constisnull ? NULL : constant;
}

/*
 * Refuses calls in a constant expression that fail, with a message of our own
 * in place of the built-in's: children first, so that what is folded here has
 * been found good.
 */
bool
dp_refuse_failing(Node *node, DpVet *vet)
{
	const DpAllowed *allowed;
	Oid			funcid;
	List	   *args;
	List	   *folded = NIL;

	if (node == NULL)
		return false;
	check_stack_depth();
	(void) expression_tree_walker(node, dp_refuse_failing, vet);

	args = IsA(node, ScalarArrayOpExpr) ? NIL : dp_call_args(node, &funcid);
	allowed = args != NIL ? dp_allowed_function(funcid) : NULL;
	if (allowed == NULL || allowed->safe == NULL || dp_function_facts(allowed->kind)->finds)
		return false;
	foreach_ptr(Node, arg, args)
	{
		Const	   *con = dp_fold(arg);

		if (con->constisnull)
			return false;
		folded = lappend(folded, con);
	}
	if (dp_fold((Node *) makeFuncExpr(dp_safe_variant(allowed), exprType(node), folded,
									  exprCollation(node), exprInputCollation(node), COERCE_EXPLICIT_CALL))->constisnull)
		dp_refuse_function(vet, node, funcid, "it is undefined for these constants");
	return false;
}
