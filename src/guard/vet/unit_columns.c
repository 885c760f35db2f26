/*-------------------------------------------------------------------------
 *
 * unit_columns.c
 *	  Units of types that are read for nothing but to compare them.
 *
 * Values of citext are equal in several spellings, and its functions are not
 * PostgreSQL's.  So columns of it are no values of expressions: they may name
 * units, and subqueries may hand them up and group by them.  By "=" they are
 * compared with others that lead to units, and with nothing that who asks has
 * written: a long string there would fail where there are rows, and not
 * where there are none.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "base/compat.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "policy/unit_types.h"
#include "utils/typcache.h"

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
	column = tle ? (Node *) tle->expr : NULL;
	while (column != NULL && IsA(column, RelabelType))
		column = (Node *) ((RelabelType *) column)->arg;
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
dp_compares_units(const DpAllowContext *cxt, OpExpr *op)
{
	return op->opno >= FirstGenbkiObjectId && dp_is_unit_operator(op->opno) && list_length(op->args) == 2 &&
		op->opno == lookup_type_cache(exprType(linitial(op->args)), TYPECACHE_EQ_OPR)->eq_opr &&
		dp_is_compared_unit(cxt, linitial(op->args)) && dp_is_compared_unit(cxt, lsecond(op->args));
}
