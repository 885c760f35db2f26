/*-------------------------------------------------------------------------
 *
 * allow.c
 *	  Decides whether an expression may run on raw rows, and makes it total.
 *
 * Invariants:
 *
 * - Every node type, function and data type that is not expressly accepted is
 *	 refused.  Checking and rewriting are one walk (dp_vet), so that nothing
 *	 can be accepted in one form and run in another.
 * - The result contains only functions of dp_allowed[] without a total
 *	 variant and C functions try_* of schema dp_cdp; none raises an error for
 *	 any row or parameter.
 * - What reads neither columns nor parameters is evaluated here, as the
 *	 current user, before anything is debited; what fails then does not depend
 *	 on data.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "errors.h"
#include "guard/allow.h"
#include "guard/constants.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_func.h"
#include "parser/parsetree.h"
#include "policy.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

/* state of one walk */
typedef struct DpVet
{
	const DpAllowContext *cxt;
	bool		no_columns;		/* inside an argument that must be a constant */
	Oid			case_type;		/* of the innermost CASE's argument; InvalidOid: none */
} DpVet;

static Node *dp_vet(Node *node, DpVet *vet);

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

static void dp_refuse(DpVet *vet, Node *node, const char *what, const char *remedy) pg_attribute_noreturn();

/* what: a noun phrase; remedy: a sentence without capital and stop */
static void
dp_refuse(DpVet *vet, Node *node, const char *what, const char *remedy)
{
	const DpAllowContext *cxt = vet->cxt;

	ereport(ERROR,
			(errcode(ERRCODE_DP_NOT_RELEASABLE),
			 remedy ?
			 errmsg("%s cannot be used on rows of a protected table; %s", what, remedy) :
			 errmsg("%s cannot be used on rows of a protected table", what),
			 errhint("What can be used is listed by: SELECT * FROM dp_cdp.allowed_functions()"),
			 cxt ? dp_error_position(cxt->source_text, exprLocation(node)) : 0));
}

static void dp_refuse_function(DpVet *vet, Node *node, Oid funcid, const char *remedy) pg_attribute_noreturn();

static void
dp_refuse_function(DpVet *vet, Node *node, Oid funcid, const char *remedy)
{
	const char *what;

	if (IsA(node, OpExpr) || IsA(node, DistinctExpr) || IsA(node, NullIfExpr))
		what = psprintf("operator %s", format_operator(((OpExpr *) node)->opno));
	else if (IsA(node, ScalarArrayOpExpr))
		what = psprintf("operator %s", format_operator(((ScalarArrayOpExpr *) node)->opno));
	else
		what = psprintf("function %s", format_procedure(funcid));
	if (remedy == NULL)
		remedy = dp_nearest_allowed(funcid);
	dp_refuse(vet, node, what, remedy);
}

static const char *
dp_type_name(Oid type)
{
	return psprintf("a value of type %s", format_type_be(type));
}

/* ------------------------------------------------------------------------
 * Types, collations, constants
 * ------------------------------------------------------------------------
 */

/* also opens the locale, which might fail, so that it does not at the first matching row */
static void
dp_vet_collation(DpVet *vet, Node *node, Oid collation)
{
	if (!OidIsValid(collation))
		return;
	if (!get_collation_isdeterministic(collation))
		dp_refuse(vet, node, psprintf("nondeterministic collation \"%s\"", get_collation_name(collation)),
				  "add COLLATE \"C\"");
	(void) pg_newlocale_from_collation(collation);
}

/* without a collation, a comparison fails at the first row that reaches it */
static void
dp_vet_input_collation(DpVet *vet, Node *node, List *args, Oid collation)
{
	ListCell   *lc;

	dp_vet_collation(vet, node, collation);
	if (OidIsValid(collation))
		return;
	foreach(lc, args)
	{
		if (type_is_collatable(exprType((Node *) lfirst(lc))))
			dp_refuse(vet, node, "a comparison of strings without a definite collation",
					  "add COLLATE \"C\" to one side");
	}
}

static void
dp_vet_type(DpVet *vet, Node *node, Oid type)
{
	if (!dp_type_is_allowed(type))
		dp_refuse(vet, node, dp_type_name(type),
				  get_typtype(type) == TYPTYPE_DOMAIN ? "the owner can give the column the domain's base type" :
				  "only built-in scalar types and enums can be read");
}

static void
dp_vet_const(DpVet *vet, Const *con)
{
	if (con->constisnull || con->constlen != -1)
		return;
	if (toast_raw_datum_size(con->constvalue) > DP_MAX_CONST_BYTES)
		dp_refuse(vet, (Node *) con, psprintf("a constant longer than %d bytes", DP_MAX_CONST_BYTES),
				  "make the constant or the list shorter");
}

/* ------------------------------------------------------------------------
 * Constant parts
 * ------------------------------------------------------------------------
 */

static bool
dp_function_is_foldable(Oid funcid, void *context)
{
	const DpAllowed *allowed = dp_allowed_function(funcid);

	if (allowed && allowed->frozen)
		return false;
	/* of PostgreSQL itself, and immutable; the walker below sees to the rest */
	return funcid >= FirstGenbkiObjectId || func_volatile(funcid) != PROVOLATILE_IMMUTABLE;
}

/* the element-wise part of a cast of arrays is a mere change of labels, as varchar[] to text[] */
static bool
dp_array_cast_is_relabel(ArrayCoerceExpr *cast)
{
	return IsA(cast->elemexpr, RelabelType) && IsA(((RelabelType *) cast->elemexpr)->arg, CaseTestExpr);
}

/*
 * Finds what keeps an expression from being evaluated at once: anything that
 * depends on rows, parameters or time, or is not PostgreSQL's own.
 */
static bool
dp_unfoldable_walker(Node *node, void *context)
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
				/* literals of dates and the like, which depend on settings, but not on time or rows */
				CoerceViaIO *io = (CoerceViaIO *) node;

				return !dp_type_is_allowed(io->resulttype) ||
					dp_unfoldable_walker((Node *) io->arg, context);
			}
		case T_ArrayCoerceExpr:
			return !dp_array_cast_is_relabel((ArrayCoerceExpr *) node) ||
				dp_unfoldable_walker((Node *) ((ArrayCoerceExpr *) node)->arg, context);
		default:
			return true;
	}
	if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcretset)
		return true;
	if (!IsA(node, List) && !IsA(node, CaseWhen))
	{
		Oid			type = exprType(node);

		if (OidIsValid(get_element_type(type)))
			type = get_element_type(type);
		if (!dp_type_is_allowed(type))
			return true;
	}
	if (check_functions_in_node(node, dp_function_is_foldable, context))
		return true;
	return expression_tree_walker(node, dp_unfoldable_walker, context);
}

/*
 * The value of a constant expression.  Errors here do not depend on data, and
 * nothing has been debited yet.
 */
static Const *
dp_fold(Node *node)
{
	Node	   *folded = eval_const_expressions(NULL, copyObject(node));

	if (!IsA(folded, Const))
		folded = (Node *) evaluate_expr((Expr *) folded, exprType(node), exprTypmod(node), exprCollation(node));
	/* messages point at what was written */
	((Const *) folded)->location = exprLocation(node);
	return castNode(Const, folded);
}

/* ------------------------------------------------------------------------
 * Functions
 * ------------------------------------------------------------------------
 */

Oid
dp_own_function(const char *name, int nargs, const Oid *argtypes, Oid result)
{
	HeapTuple	tuple;
	Form_pg_proc proc;
	Oid			funcid = InvalidOid;

	tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(name),
							PointerGetDatum(buildoidvector(argtypes, nargs)),
							ObjectIdGetDatum(dp_internal_schema()));
	if (HeapTupleIsValid(tuple))
	{
		proc = (Form_pg_proc) GETSTRUCT(tuple);
		if (proc->prolang == ClanguageId && proc->prorettype == result && proc->proisstrict && !proc->proretset)
			funcid = proc->oid;
		ReleaseSysCache(tuple);
	}
	if (!OidIsValid(funcid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function dp_cdp.%s is missing or altered; run ALTER EXTENSION dp_cdp UPDATE",
						funcname_signature_string(name, nargs, NIL, argtypes))));
	return funcid;
}

Oid
dp_total_variant(const DpAllowed *allowed)
{
	HeapTuple	tuple;
	Form_pg_proc proc;
	Oid			funcid;

	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(allowed->funcid));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", allowed->funcid);
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	funcid = dp_own_function(allowed->total, proc->pronargs, proc->proargtypes.values, proc->prorettype);
	ReleaseSysCache(tuple);
	return funcid;
}

static FuncExpr *
dp_make_call(Oid funcid, Node *like, Oid inputcollid, List *args)
{
	FuncExpr   *call = makeFuncExpr(funcid, exprType(like), args, exprCollation(like),
									inputcollid, COERCE_EXPLICIT_CALL);

	call->location = exprLocation(like);
	return call;
}

/*
 * A call of funcid with args, which stands for node: vetted, and in its total
 * form.  Returns NULL when node can keep its function; *args is vetted then.
 */
static Node *
dp_vet_call(DpVet *vet, Node *node, Oid funcid, Oid inputcollid, List **args)
{
	const DpAllowed *allowed = dp_allowed_function(funcid);
	bool		as_is;
	List	   *vetted = NIL;
	ListCell   *lc;
	Oid			lasttype;

	if (allowed == NULL)
		dp_refuse_function(vet, node, funcid, NULL);
	if (allowed->frozen)
		dp_refuse_function(vet, node, funcid, "only constants can be converted so");

	dp_vet_input_collation(vet, node, *args, inputcollid);

	as_is = allowed->total == NULL;
	lasttype = *args ? exprType(llast(*args)) : InvalidOid;
	foreach(lc, *args)
	{
		int			i = foreach_current_index(lc);
		bool		outer = vet->no_columns;
		Node	   *arg;

		if (allowed->constants & (1 << i))
		{
			if (dp_reads_columns(lfirst(lc), NULL))
				dp_refuse_function(vet, node, funcid,
								   psprintf("its argument number %d must be a constant", i + 1));
			vet->no_columns = true;
		}
		arg = dp_vet(lfirst(lc), vet);
		vet->no_columns = outer;

		if ((allowed->constants & (1 << i)) && allowed->check != DP_CHECK_NONE)
		{
			if (IsA(arg, Const))
			{
				Const	   *con = (Const *) arg;
				const char *problem = NULL;

				if (!con->constisnull)
				{
					Datum		value = con->constvalue;

					if (con->constlen == -1)
						value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
					/* the third argument of date_trunc is its zone */
					problem = dp_constant_problem(allowed->check == DP_CHECK_TRUNC && i == 2 ? DP_CHECK_ZONE : allowed->check,
												  allowed->check == DP_CHECK_TRUNC ? exprType(lsecond(*args)) : lasttype,
												  con->consttype, value);
				}
				if (problem)
					dp_refuse_function(vet, node, funcid, problem);
				/* the planner knows the built-in LIKE, and may use an index for it */
				if (allowed->check == DP_CHECK_LIKE && (funcid == F_TEXTLIKE || funcid == F_BPCHARLIKE))
					as_is = true;
			}
			else if (allowed->check == DP_CHECK_LENGTH)
				dp_refuse_function(vet, node, funcid, "write an explicit cast");
		}
		vetted = lappend(vetted, arg);
	}

	*args = vetted;
	if (as_is)
		return NULL;
	return (Node *) dp_make_call(dp_total_variant(allowed), node, inputcollid, vetted);
}

/* casts that go through text: to and from it, where a total variant exists */
static Node *
dp_vet_io(DpVet *vet, CoerceViaIO *io)
{
	Oid			from = getBaseType(exprType((Node *) io->arg));
	Oid			to = io->resulttype;
	bool		from_text = from == TEXTOID || from == VARCHAROID;
	bool		to_text = to == TEXTOID || to == VARCHAROID;
	const char *name = NULL;
	Oid			argtype = from;
	Oid			result = to;
	Node	   *arg;
	FuncExpr   *call;

	if (to_text)
	{
		result = TEXTOID;
		if (from == INT2OID || from == INT4OID || from == INT8OID || from == NUMERICOID ||
			from == UUIDOID || from == DATEOID || from == TIMESTAMPOID)
			name = "try_text";
		else if (type_is_enum(from))
		{
			name = "try_text";
			argtype = ANYENUMOID;
		}
	}
	else if (from_text)
	{
		argtype = TEXTOID;
		switch (to)
		{
			case INT2OID:
				name = "try_int2";
				break;
			case INT4OID:
				name = "try_int4";
				break;
			case INT8OID:
				name = "try_int8";
				break;
			case FLOAT8OID:
				name = "try_float8";
				break;
			case NUMERICOID:
				name = "try_numeric";
				break;
			case DATEOID:
				name = "try_date";
				break;
			default:
				break;
		}
	}
	if (name == NULL)
		dp_refuse(vet, (Node *) io,
				  psprintf("a cast from %s to %s", format_type_be(from), format_type_be(to)),
				  to_text ? "integers, numeric, uuid, date, timestamp and enums can be cast to text" :
				  "text can be cast to integers, numeric, double precision and date, and constants to every type");
	arg = dp_vet((Node *) io->arg, vet);
	dp_vet_collation(vet, (Node *) io, io->resultcollid);
	call = makeFuncExpr(dp_own_function(name, 1, &argtype, result), result, list_make1(arg),
						io->resultcollid, InvalidOid, COERCE_EXPLICIT_CALL);
	call->location = io->location;
	if (result == to)
		return (Node *) call;
	return (Node *) makeRelabelType((Expr *) call, to, -1, io->resultcollid, COERCE_EXPLICIT_CAST);
}

/* ------------------------------------------------------------------------
 * The walk
 * ------------------------------------------------------------------------
 */

static List *
dp_vet_list(List *list, DpVet *vet)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, list)
		result = lappend(result, dp_vet(lfirst(lc), vet));
	return result;
}

static Node *
dp_vet_var(DpVet *vet, Var *var)
{
	const DpAllowContext *cxt = vet->cxt;

	if (var->varlevelsup != 0)
		dp_refuse(vet, (Node *) var, "a column of an outer query", "join the table instead");
	if (var->varattno == 0)
		dp_refuse(vet, (Node *) var, "a whole row", "name its columns");
	if (var->varattno < 0)
		dp_refuse(vet, (Node *) var, "a system column", NULL);
	if (cxt && cxt->rtindexes && !bms_is_member(var->varno, cxt->rtindexes))
		dp_refuse(vet, (Node *) var, "a column of this table or subquery", NULL);
	if (!dp_type_is_allowed(var->vartype) && cxt && var->varno <= list_length(cxt->rtable))
	{
		RangeTblEntry *rte = rt_fetch(var->varno, cxt->rtable);

		dp_refuse(vet, (Node *) var,
				  psprintf("column \"%s\" of type %s", get_rte_attribute_name(rte, var->varattno),
						   format_type_be(var->vartype)),
				  get_typtype(var->vartype) == TYPTYPE_DOMAIN ?
				  "its owner can give it the domain's base type" :
				  "only built-in scalar types and enums can be read");
	}
	dp_vet_type(vet, (Node *) var, var->vartype);
	dp_vet_collation(vet, (Node *) var, var->varcollid);
	return (Node *) copyObject(var);
}

/* the array of an IN list or of = ANY: values known before the first row */
static Node *
dp_vet_array(DpVet *vet, Node *node, Node *array)
{
	Oid			element = get_base_element_type(exprType(array));

	if (!OidIsValid(element))
		dp_refuse(vet, array, dp_type_name(exprType(array)), "write an IN list of constants");
	dp_vet_type(vet, array, element);
	dp_vet_collation(vet, array, exprCollation(array));
	if (dp_reads_columns(array, NULL))
		dp_refuse(vet, node, "a list that is not constant", "write comparisons joined by OR");
	if (!dp_unfoldable_walker(array, NULL))
	{
		Const	   *con = dp_fold(array);

		dp_vet_const(vet, con);
		return (Node *) con;
	}
	if (IsA(array, ArrayExpr) && !((ArrayExpr *) array)->multidims)
	{
		ArrayExpr  *copy = copyObject((ArrayExpr *) array);
		bool		outer = vet->no_columns;

		vet->no_columns = true;
		copy->elements = dp_vet_list(copy->elements, vet);
		vet->no_columns = outer;
		return (Node *) copy;
	}
	if (IsA(array, RelabelType))
	{
		RelabelType *copy = copyObject((RelabelType *) array);

		copy->arg = (Expr *) dp_vet_array(vet, node, (Node *) copy->arg);
		return (Node *) copy;
	}
	if (IsA(array, ArrayCoerceExpr) && dp_array_cast_is_relabel((ArrayCoerceExpr *) array))
	{
		ArrayCoerceExpr *copy = copyObject((ArrayCoerceExpr *) array);

		copy->arg = (Expr *) dp_vet_array(vet, node, (Node *) copy->arg);
		return (Node *) copy;
	}
	if (IsA(array, Param) && ((Param *) array)->paramkind == PARAM_EXTERN)
		return copyObject(array);
	dp_refuse(vet, array, "an array that is computed", "write an IN list of constants");
	return NULL;				/* keep compiler quiet */
}

/* comparison operators inside nodes that cannot hold a total variant */
static void
dp_vet_comparison(DpVet *vet, Node *node, Oid funcid, List *args, Oid inputcollid)
{
	const DpAllowed *allowed = dp_allowed_function(funcid);

	if (allowed == NULL || allowed->frozen)
		dp_refuse_function(vet, node, funcid, NULL);
	if (allowed->total || allowed->constants)
		dp_refuse_function(vet, node, funcid, "write it without a list, joined by OR");
	dp_vet_input_collation(vet, node, args, inputcollid);
}

static Node *
dp_vet(Node *node, DpVet *vet)
{
	if (node == NULL)
		return NULL;
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();

	if (IsA(node, List))
		return (Node *) dp_vet_list((List *) node, vet);

	if (!IsA(node, Const) && !IsA(node, CaseTestExpr) && !dp_unfoldable_walker(node, NULL))
	{
		/* arrays are for dp_vet_array */
		dp_vet_type(vet, node, exprType(node));
		node = (Node *) dp_fold(node);
	}

	switch (nodeTag(node))
	{
		case T_Const:
			dp_vet_type(vet, node, ((Const *) node)->consttype);
			dp_vet_collation(vet, node, ((Const *) node)->constcollid);
			dp_vet_const(vet, (Const *) node);
			return copyObject(node);

		case T_Var:
			if (vet->no_columns)
				dp_refuse(vet, node, "a column in place of a constant", NULL);
			return dp_vet_var(vet, (Var *) node);

		case T_Param:
			if (((Param *) node)->paramkind != PARAM_EXTERN)
				dp_refuse(vet, node, "the result of a subquery", "join the table instead");
			dp_vet_type(vet, node, ((Param *) node)->paramtype);
			dp_vet_collation(vet, node, ((Param *) node)->paramcollid);
			return copyObject(node);

		case T_CaseTestExpr:
			if (vet->case_type != ((CaseTestExpr *) node)->typeId)
				dp_refuse(vet, node, "this kind of expression", NULL);
			return copyObject(node);

		case T_FuncExpr:
			{
				FuncExpr   *copy = copyObject((FuncExpr *) node);
				Node	   *total;

				if (copy->funcretset)
					dp_refuse_function(vet, node, copy->funcid, "use functions that return one value");
				if (copy->funcvariadic)
					dp_refuse_function(vet, node, copy->funcid, NULL);
				total = dp_vet_call(vet, node, copy->funcid, copy->inputcollid, &copy->args);
				dp_vet_type(vet, node, copy->funcresulttype);
				dp_vet_collation(vet, node, copy->funccollid);
				return total ? total : (Node *) copy;
			}

		case T_OpExpr:
			{
				OpExpr	   *copy = copyObject((OpExpr *) node);
				Node	   *total;

				set_opfuncid(copy);
				total = dp_vet_call(vet, node, copy->opfuncid, copy->inputcollid, &copy->args);
				dp_vet_type(vet, node, copy->opresulttype);
				dp_vet_collation(vet, node, copy->opcollid);
				return total ? total : (Node *) copy;
			}

		case T_DistinctExpr:	/* struct-equivalent to OpExpr */
		case T_NullIfExpr:
			{
				OpExpr	   *copy = copyObject((OpExpr *) node);

				set_opfuncid(copy);
				dp_vet_comparison(vet, node, copy->opfuncid, copy->args, copy->inputcollid);
				dp_vet_type(vet, node, exprType(node));
				dp_vet_collation(vet, node, copy->opcollid);
				copy->args = dp_vet_list(copy->args, vet);
				return (Node *) copy;
			}

		case T_ScalarArrayOpExpr:
			{
				ScalarArrayOpExpr *copy = copyObject((ScalarArrayOpExpr *) node);

				set_sa_opfuncid(copy);
				dp_vet_comparison(vet, node, copy->opfuncid, copy->args, copy->inputcollid);
				copy->args = list_make2(dp_vet(linitial(copy->args), vet),
										dp_vet_array(vet, node, lsecond(copy->args)));
				return (Node *) copy;
			}

		case T_BoolExpr:
			{
				BoolExpr   *copy = makeNode(BoolExpr);

				memcpy(copy, node, sizeof(BoolExpr));
				copy->args = dp_vet_list(copy->args, vet);
				return (Node *) copy;
			}

		case T_NullTest:
			{
				NullTest   *copy = copyObject((NullTest *) node);

				if (copy->argisrow)
					dp_refuse(vet, node, "a test of a whole row", "name its columns");
				copy->arg = (Expr *) dp_vet((Node *) copy->arg, vet);
				return (Node *) copy;
			}

		case T_BooleanTest:
			{
				BooleanTest *copy = copyObject((BooleanTest *) node);

				copy->arg = (Expr *) dp_vet((Node *) copy->arg, vet);
				return (Node *) copy;
			}

		case T_CaseExpr:
			{
				CaseExpr   *copy = copyObject((CaseExpr *) node);
				Oid			outer = vet->case_type;
				ListCell   *lc;

				dp_vet_type(vet, node, copy->casetype);
				dp_vet_collation(vet, node, copy->casecollid);
				copy->arg = (Expr *) dp_vet((Node *) copy->arg, vet);
				foreach(lc, copy->args)
				{
					CaseWhen   *when = lfirst_node(CaseWhen, lc);

					vet->case_type = copy->arg ? exprType((Node *) copy->arg) : InvalidOid;
					when->expr = (Expr *) dp_vet((Node *) when->expr, vet);
					vet->case_type = outer;
					when->result = (Expr *) dp_vet((Node *) when->result, vet);
				}
				copy->defresult = (Expr *) dp_vet((Node *) copy->defresult, vet);
				return (Node *) copy;
			}

		case T_CoalesceExpr:
			{
				CoalesceExpr *copy = copyObject((CoalesceExpr *) node);

				dp_vet_type(vet, node, copy->coalescetype);
				dp_vet_collation(vet, node, copy->coalescecollid);
				copy->args = dp_vet_list(copy->args, vet);
				return (Node *) copy;
			}

		case T_MinMaxExpr:		/* compares by the type's default order, which is built in */
			{
				MinMaxExpr *copy = copyObject((MinMaxExpr *) node);

				dp_vet_type(vet, node, copy->minmaxtype);
				dp_vet_collation(vet, node, copy->minmaxcollid);
				dp_vet_input_collation(vet, node, copy->args, copy->inputcollid);
				copy->args = dp_vet_list(copy->args, vet);
				return (Node *) copy;
			}

		case T_RelabelType:
			{
				RelabelType *copy = copyObject((RelabelType *) node);

				dp_vet_type(vet, node, copy->resulttype);
				dp_vet_collation(vet, node, copy->resultcollid);
				copy->arg = (Expr *) dp_vet((Node *) copy->arg, vet);
				return (Node *) copy;
			}

		case T_CollateExpr:
			{
				CollateExpr *copy = copyObject((CollateExpr *) node);

				dp_vet_collation(vet, node, copy->collOid);
				copy->arg = (Expr *) dp_vet((Node *) copy->arg, vet);
				return (Node *) copy;
			}

		case T_CoerceViaIO:
			return dp_vet_io(vet, (CoerceViaIO *) node);

		case T_SQLValueFunction:
			switch (((SQLValueFunction *) node)->op)
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
					return copyObject(node);
				default:
					dp_refuse(vet, node, "the name of the current user, role, catalog or schema",
							  "write it as a constant");
			}
			break;

		case T_SubLink:
		case T_SubPlan:
		case T_AlternativeSubPlan:
			dp_refuse(vet, node, "a subquery", "join the table instead");
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
			dp_refuse(vet, node, psprintf("a cast to domain %s", format_type_be(exprType(node))),
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
			dp_refuse(vet, node, "an array", "use an IN list of constants");
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
	return NULL;				/* keep compiler quiet */
}

/* ------------------------------------------------------------------------
 * Entry points
 * ------------------------------------------------------------------------
 */

static bool
dp_count_walker(Node *node, int *count)
{
	if (node == NULL)
		return false;
	check_stack_depth();
	if (IsA(node, List))
		return expression_tree_walker(node, dp_count_walker, count);
	if (++*count > DP_MAX_EXPR_NODES)
		return true;
	/* what is inside is refused anyway */
	if (IsA(node, SubLink) || IsA(node, Query))
		return false;
	return expression_tree_walker(node, dp_count_walker, count);
}

static Node *
dp_vet_whole(Node *expr, const DpAllowContext *cxt)
{
	DpVet		vet = {cxt, false, InvalidOid};
	int			count = 0;

	if (dp_count_walker(expr, &count))
		dp_refuse(&vet, expr, psprintf("an expression of more than %d parts", DP_MAX_EXPR_NODES),
				  "write it shorter, long lists as = ANY ('{...}')");
	return dp_vet(expr, &vet);
}

void
dp_allow_expr(Node *expr, const DpAllowContext *cxt)
{
	(void) dp_vet_whole(expr, cxt);
}

Node *
dp_make_total(Node *expr)
{
	return dp_vet_whole(expr, NULL);
}

static bool
dp_reads_walker(Node *node, const Bitmapset *rtindexes)
{
	if (node == NULL)
		return false;
	check_stack_depth();
	if (IsA(node, Var))
		return ((Var *) node)->varlevelsup == 0 &&
			(rtindexes == NULL || bms_is_member(((Var *) node)->varno, rtindexes));
	return expression_tree_walker(node, dp_reads_walker, (void *) rtindexes);
}

bool
dp_reads_columns(Node *expr, const Bitmapset *rtindexes)
{
	return dp_reads_walker(expr, rtindexes);
}
