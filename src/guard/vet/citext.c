/*-------------------------------------------------------------------------
 *
 * citext.c
 *	  Comparisons of citext, written as those of text in lower case; columns
 *	  of it that are units.
 *
 *		mail = 'Ana@Example.org'
 *
 * is lower(mail::text) = lower('Ana@Example.org'), by the collation of the
 * database, which is how the module compares; its LIKE and ~ are PostgreSQL's
 * ILIKE and ~* under names of its own.  So all that is known of text is known
 * of citext.
 *
 * Values of citext are equal in several spellings, and its functions are not
 * PostgreSQL's.  So columns of it are no values of expressions: they may name
 * units, and subqueries may hand them up and group by them.  By "=" they are
 * compared with others that lead to units, and with nothing that who asks has
 * written: a long string there would fail where there are rows, and not
 * where there are none.
 *
 * Invariants:
 *	- what is written has the value that the module's function has, for all
 *	  operands;
 *	- functions are known by what they are made of, as only superusers can make
 *	  them so (policy/unit_types.c);
 *	- columns that are compared with columns stay until they are vetted: they may be
 *	  units, which are compared as they are.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "base/compat.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "guard/vet/allow.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "policy/unit_types.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

typedef struct Comparison
{
	const char *function;		/* of the module */
	Oid			opno;			/* of text */
	bool		folds;			/* both operands are put in lower case */
	bool		by_bytes;		/* whatever the collation is */
} Comparison;

static const Comparison comparisons[] = {
	{"citext_eq", TextEqualOperator, true, true},
	{"citext_ne", 531, true, true},
	{"citext_lt", 664, true, false},
	{"citext_le", 665, true, false},
	{"citext_gt", 666, true, false},
	{"citext_ge", 667, true, false},
	{"texticlike", OID_TEXT_ICLIKE_OP, false, false},
	{"texticnlike", 1628, false, false},
	{"texticregexeq", OID_TEXT_ICREGEXEQ_OP, false, false},
	{"texticregexne", 1229, false, false},
};

static const Comparison *
comparison_of(Oid opno)
{
	const char *name;

	if (opno < FirstNormalObjectId)
		return NULL;
	name = dp_citext_function(get_opcode(opno));
	for (int i = 0; name != NULL && i < lengthof(comparisons); i++)
		if (strcmp(name, comparisons[i].function) == 0)
			return &comparisons[i];
	return NULL;
}

/* Returns a copy of COALESCE, CASE or COLLATE of citext as one of text, with each of its values written anew; NULL for other nodes. */
static Expr *
with_values(Node *node, Expr *(*write) (Node *))
{
	ListCell   *lc;

	if (IsA(node, CoalesceExpr))
	{
		CoalesceExpr *copy = copyObject((CoalesceExpr *) node);

		copy->coalescetype = TEXTOID;
		foreach(lc, copy->args)
			lfirst(lc) = write(lfirst(lc));
		return (Expr *) copy;
	}
	if (IsA(node, CaseExpr))
	{
		CaseExpr   *copy = copyObject((CaseExpr *) node);

		copy->casetype = TEXTOID;
		foreach_node(CaseWhen, when, copy->args)
			when->result = write((Node *) when->result);
		copy->defresult = write((Node *) copy->defresult);
		return (Expr *) copy;
	}
	if (IsA(node, CollateExpr))
	{
		CollateExpr *copy = copyObject((CollateExpr *) node);

		copy->arg = write((Node *) copy->arg);
		return (Expr *) copy;
	}
	return NULL;
}

Expr *
dp_citext_as_written(Node *node)
{
	Expr	   *parts;

	while (IsA(node, RelabelType) && dp_is_citext(exprType(node)))
		node = (Node *) ((RelabelType *) node)->arg;
	if (exprType(node) == TEXTOID)
		return (Expr *) node;
	if (IsA(node, Const) && dp_is_citext(exprType(node)))
	{
		Const	   *copy = copyObject((Const *) node);

		copy->consttype = TEXTOID;
		copy->consttypmod = -1;
		return (Expr *) copy;
	}
	parts = dp_is_citext(exprType(node)) ? with_values(node, dp_citext_as_written) : NULL;
	if (parts != NULL)
		return parts;
	return (Expr *) makeRelabelType((Expr *) node, TEXTOID, -1, exprCollation(node), COERCE_IMPLICIT_CAST);
}

bool
dp_citext_is_known(Node *node)
{
	return (IsA(node, Const) || IsA(node, Param) || IsA(node, CoalesceExpr) || IsA(node, CaseExpr) || IsA(node, CollateExpr)) &&
		dp_is_citext(exprType(node));
}

Node *
dp_citext_as_read(Node *arg)
{
	while (IsA(arg, RelabelType) && dp_is_citext(exprType(arg)))
		arg = (Node *) ((RelabelType *) arg)->arg;
	return dp_citext_is_known(arg) && !IsA(arg, Param) ? (Node *) dp_citext_as_written(arg) : arg;
}

Expr *
dp_citext_folded(Node *node)
{
	Expr	   *parts = dp_is_citext(exprType(node)) ? with_values(node, dp_citext_folded) : NULL;
	FuncExpr   *lower;

	if (parts != NULL)
		return parts;
	lower = makeFuncExpr(F_LOWER_TEXT, TEXTOID, list_make1(dp_citext_as_written(node)), DEFAULT_COLLATION_OID, DEFAULT_COLLATION_OID,
						 COERCE_EXPLICIT_CALL);
	lower->location = exprLocation(node);
	return (Expr *) lower;
}

static Node *
operand(const Comparison *comparison, Node *node)
{
	return (Node *) (comparison->folds ? dp_citext_folded(node) : dp_citext_as_written(node));
}

/* Tells whether a node is a column, or becomes that of a subquery which is compared with. */
static bool
is_column(Node *node)
{
	node = dp_strip_relabel(node);
	return IsA(node, Var) || (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_SUBLINK);
}

/* Returns a list of citext as one of text; NULL: its elements are not known. */
static Node *
list_as_text(const Comparison *comparison, Node *list)
{
	ArrayExpr  *result = dp_make(ArrayExpr, .array_typeid = TEXTARRAYOID, .element_typeid = TEXTOID,
								 .array_collid = DEFAULT_COLLATION_OID, .location = exprLocation(list));

	List	   *elements;

	if (!dp_list_elements(list, INT_MAX, &elements))
		return NULL;
	foreach_ptr(Node, element, elements)
		result->elements = lappend(result->elements, operand(comparison, element));
	return (Node *) result;
}

/* Tells whether an operand's type is one that the module's functions take. */
static bool
is_operand(Oid type)
{
	return type == TEXTOID || dp_is_citext(type);
}

/* Returns the value that a CASE compares in lower case in one of its tests; NULL: the test is another. */
static CaseTestExpr *
folded_value(Expr *test)
{
	DpComparison c;
	Node	   *value;

	if (!dp_read_operator((Node *) test, &c) || c.opno != TextEqualOperator || !IsA(c.left, FuncExpr) || ((FuncExpr *) c.left)->funcid != F_LOWER_TEXT)
		return NULL;
	value = linitial(((FuncExpr *) c.left)->args);
	if (IsA(value, RelabelType))
		value = (Node *) ((RelabelType *) value)->arg;
	return IsA(value, CaseTestExpr) ? (CaseTestExpr *) value : NULL;
}

/* Writes a CASE with a value of citext, whose tests are written already, over that value in lower case, if all of them read it so. */
static Node *
case_of_text(CaseExpr *cases)
{
	foreach_node(CaseWhen, when, cases->args)
		if (folded_value(when->expr) == NULL)
		return (Node *) cases;
	cases = copyObject(cases);
	foreach_node(CaseWhen, when, cases->args)
	{
		CaseTestExpr *value = folded_value(when->expr);

		value->typeId = TEXTOID;
		value->typeMod = -1;
	}
	cases->arg = dp_citext_folded((Node *) cases->arg);
	return (Node *) cases;
}

bool
dp_is_of_citext(Node *node)
{
	DpComparison c;

	if (IsA(node, CaseExpr))
		return ((CaseExpr *) node)->arg != NULL && dp_is_citext(exprType((Node *) ((CaseExpr *) node)->arg));
	return dp_read_comparison(node, &c) && comparison_of(c.opno) != NULL && is_operand(exprType(c.left)) &&
		is_operand(c.is_array ? get_element_type(exprType(c.right)) : exprType(c.right));
}

Node *
dp_citext_as_text(Node *node, bool columns)
{
	const Comparison *comparison;
	DpComparison c;

	if (IsA(node, CaseExpr))
		return case_of_text((CaseExpr *) node);
	(void) dp_read_comparison(node, &c);
	comparison = comparison_of(c.opno);
	if (!c.is_array && !columns && is_column(c.left) && is_column(c.right))
		return node;
	c.right = c.is_array ? list_as_text(comparison, c.right) : operand(comparison, c.right);
	if (c.right == NULL)
		return node;
	c.left = operand(comparison, c.left);
	c.opno = comparison->opno;
	if (comparison->by_bytes)
		c.collation = DEFAULT_COLLATION_OID;
	return copyObject(dp_write_comparison(&c));
}

/* ------------------------------------------------------------------------
 * Columns that are units
 * ------------------------------------------------------------------------
 */

/* Tells whether a column of a range table leads to units, in a protected table or handed up by a subquery. */
static bool
leads_to_unit(List *rtable, const Var *var)
{
	RangeTblEntry *rte;
	TargetEntry *tle;
	Node	   *column;

	check_stack_depth();
	if (var->varlevelsup != 0 || var->varattno <= 0 || var->varno > list_length(rtable))
		return false;
	rte = rt_fetch(var->varno, rtable);
	if (rte->rtekind == RTE_RELATION)
		return dp_leads_to_unit(rte->relid, var->varattno);
	if (rte->rtekind != RTE_SUBQUERY || rte->subquery->setOperations != NULL)
		return false;
	tle = get_tle_by_resno(rte->subquery->targetList, var->varattno);
	column = tle ? dp_strip_relabel((Node *) tle->expr) : NULL;
	return column != NULL && IsA(column, Var) && leads_to_unit(rte->subquery->rtable, (Var *) column);
}

bool
dp_is_compared_unit(const DpAllowContext *cxt, Node *node)
{
	while (IsA(node, RelabelType) && dp_is_citext(exprType(node)))
		node = (Node *) ((RelabelType *) node)->arg;
	return cxt != NULL && IsA(node, Var) && dp_is_citext(exprType(node)) &&
		(cxt->rtindexes == NULL || bms_is_member(((Var *) node)->varno, cxt->rtindexes)) &&
		leads_to_unit(cxt->rtable, (Var *) node);
}

bool
dp_is_other_citext(const DpAllowContext *cxt, const Var *column)
{
	return dp_is_citext(column->vartype) && !dp_is_compared_unit(cxt, (Node *) column);
}

bool
dp_compares_units(const DpAllowContext *cxt, Node *node)
{
	DpComparison c;

	return dp_read_comparison(node, &c) && !c.is_array && c.opno >= FirstGenbkiObjectId && dp_is_unit_operator(c.opno) &&
		c.opno == lookup_type_cache(exprType(c.left), TYPECACHE_EQ_OPR)->eq_opr &&
		dp_is_compared_unit(cxt, c.left) && dp_is_compared_unit(cxt, c.right);
}
