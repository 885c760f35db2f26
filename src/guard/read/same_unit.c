/*-------------------------------------------------------------------------
 *
 * same_unit.c
 *	  Whether conditions make two sets of rows the same privacy unit's.
 *
 * Invariant: what is said to be of one unit is so for any content of the
 * tables, by an equality that tells units apart as GROUP BY does.  What is not
 * understood connects nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "guard/read/read.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/*
 * Tells whether the operator is the equality of the Var's own type, by which
 * units are told apart: the equality of another type, to which it was
 * relabelled, might take several units for one (character ignores trailing
 * spaces, text does not).
 */
static bool
is_equality_of(Oid opno, Node *var)
{
	Oid			opfamily = lookup_type_cache(exprType(var), TYPECACHE_BTREE_OPFAMILY)->btree_opf;

	return OidIsValid(opfamily) && get_op_opfamily_strategy(opno, opfamily) == BTEqualStrategyNumber;
}

/* Tells whether condition is an equality, in the sense of GROUP BY, of one Var of these with one of those. */
static bool
equates(Node *condition, List *these, List *those)
{
	OpExpr	   *op = (OpExpr *) condition;
	Node	   *left,
			   *right;

	if (!IsA(condition, OpExpr) || list_length(op->args) != 2 ||
		op->opno >= FirstGenbkiObjectId || op_volatile(op->opno) != PROVOLATILE_IMMUTABLE)
		return false;
	left = dp_strip_relabel(linitial(op->args));
	right = dp_strip_relabel(lsecond(op->args));
	if (!is_equality_of(op->opno, left) || !is_equality_of(op->opno, right))
		return false;
	return (list_member(these, left) && list_member(those, right)) ||
		(list_member(these, right) && list_member(those, left));
}

bool
dp_same_unit(List *conditions, const DpRowUnit *a, const DpRowUnit *b)
{
	ListCell   *lc;

	foreach(lc, conditions)
		if (equates(lfirst(lc), a->vars, b->vars))
		return true;
	return false;
}
