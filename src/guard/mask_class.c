/*-------------------------------------------------------------------------
 *
 * mask_class.c
 *	  pg_class without the numbers that dp_cdp.harden() has closed.
 *
 * An entry that reads such a column becomes a subquery, as if it were a view:
 *
 *	  (SELECT oid, ..., dp_cdp_internal.told_reltuples(oid, reltuples) AS reltuples, ...
 *		 FROM pg_class)
 *
 * with the columns in the same places, so that all of the level around it
 * stays as it is: outer joins, whole rows, USING and references from deeper
 * levels mean what they mean for a view.
 *
 * Invariants:
 *	- the subquery's entry is checked as the one that it replaces was, by the
 *	  same role, for the same columns but those that it lacks and that are
 *	  masked; PostgreSQL refuses what it refused of the others.
 *	- the planner sees the numbers only as arguments of functions: it has no
 *	  statistics of those.
 *	- entries that are changed or locked stay as they are, and are refused.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "base/compat.h"
#include "base/extension.h"
#include "base/make_node.h"
#include "base/walk.h"
#include "catalog/heap.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "guard/mask.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/rel.h"

static const AttrNumber closed_columns[] = {
	Anum_pg_class_reltuples,
	Anum_pg_class_relpages,
	Anum_pg_class_relallvisible,
#ifdef Anum_pg_class_relallfrozen
	Anum_pg_class_relallfrozen,
#endif
	Anum_pg_class_relfrozenxid,
	Anum_pg_class_relminmxid,
};

#define MEMBER(attnum) ((attnum) - FirstLowInvalidHeapAttributeNumber)

/* Returns the closed columns among those that are selected (all, for whole rows), as MEMBERs; user: only those that he may not read. */
static Bitmapset *
closed_among(const Bitmapset *selected, Oid user)
{
	Bitmapset  *result = NULL;

	for (int i = 0; i < lengthof(closed_columns); i++)
		if ((bms_is_member(MEMBER(closed_columns[i]), selected) || bms_is_member(MEMBER(0), selected)) &&
			(!OidIsValid(user) ||
			 pg_attribute_aclcheck(RelationRelationId, closed_columns[i], user, ACL_SELECT) != ACLCHECK_OK))
			result = bms_add_member(result, MEMBER(closed_columns[i]));
	return result;
}

bool
dp_may_know_rows(void)
{
	return pg_class_aclcheck(RelationRelationId, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
		pg_attribute_aclcheck(RelationRelationId, Anum_pg_class_reltuples, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

/* Returns what stands for a closed column. */
static Expr *
masked_column(Var *column)
{
	Oid			types[] = {OIDOID, column->vartype};
	const char *function;
	Var		   *oid;

	if (column->varattno == Anum_pg_class_reltuples)
		function = "told_reltuples";
	else if (column->varattno == Anum_pg_class_relpages)
		function = "told_relpages";
	else

		/*
		 * Foreign keys that reference a table lock its rows, so that how many
		 * pages are all frozen, and who wrote the oldest row that is not,
		 * tell of those tables' rows.  A number of pages or a transaction.
		 */
		return (Expr *) makeConst(column->vartype, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true);
	oid = makeVar(column->varno, Anum_pg_class_oid, OIDOID, -1, InvalidOid, 0);
	return (Expr *) makeFuncExpr(dp_own_routine(function, 2, types), column->vartype, list_make2(oid, column),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static void
add_column(Query *query, Form_pg_attribute att, const Bitmapset *masked)
{
	Var		   *var = makeVar(1, att->attnum, att->atttypid, att->atttypmod, att->attcollation, 0);
	Expr	   *expr = (Expr *) var;

	if (bms_is_member(MEMBER(att->attnum), masked))
		expr = masked_column(var);
	query->targetList = lappend(query->targetList,
								makeTargetEntry(expr, list_length(query->targetList) + 1,
												pstrdup(NameStr(att->attname)), false));
}

/* where the columns of a system attribute have gone */
typedef struct MoveContext
{
	int			entry;
	AttrNumber	to[-FirstLowInvalidHeapAttributeNumber];	/* by -attnum; 0: not
															 * selected */
} MoveContext;

static DpWalk
move_column(Node *node, int levels, MoveContext *c)
{
	Var		   *var = (Var *) node;

	if (IsA(node, Var) && var->varno == c->entry && var->varlevelsup == levels && var->varattno < 0)
	{
		var->varattno = c->to[-var->varattno];
		var->varnosyn = 0;
		var->varattnosyn = 0;
	}
	return DP_WALK_ON;
}

/* Puts a subquery in place of entry number index; selected: the columns that it reads, masked: those of them to be masked. */
static void
replace_entry(Query *query, int index, const Bitmapset *selected, const Bitmapset *masked)
{
	RangeTblEntry *rte = list_nth(query->rtable, index - 1);
	RangeTblEntry *inner = copyObject(rte);
	Query	   *subquery = makeNode(Query);
	MoveContext move = {.entry = index};
	Bitmapset  *checked = bms_difference(selected, masked);
	bool		moves = false;
	Relation	rel = table_open(RelationRelationId, AccessShareLock);
	TupleDesc	columns = RelationGetDescr(rel);

	subquery->commandType = CMD_SELECT;
	subquery->canSetTag = true;
	subquery->rtable = list_make1(inner);
	dp_take_permissions(subquery, inner, query);
	subquery->jointree = makeFromExpr(list_make1(dp_make(RangeTblRef, .rtindex = 1)), NULL);
	for (int i = 0; i < columns->natts; i++)
	{
		add_column(subquery, TupleDescAttr(columns, i), masked);
		if (bms_is_member(MEMBER(0), selected) && !bms_is_member(MEMBER(i + 1), masked))
			checked = bms_add_member(checked, MEMBER(i + 1));
	}
	checked = bms_del_member(checked, MEMBER(0));
	checked = bms_add_member(checked, MEMBER(Anum_pg_class_oid));
	for (AttrNumber attnum = -1; attnum > FirstLowInvalidHeapAttributeNumber; attnum--)
	{
		const		FormData_pg_attribute *att;

		if (!bms_is_member(MEMBER(attnum), selected))
			continue;
		att = SystemAttributeDefinition(attnum);
		add_column(subquery, unconstify(FormData_pg_attribute *, att), masked);
		move.to[-attnum] = list_length(subquery->targetList);
		rte->eref->colnames = lappend(rte->eref->colnames, makeString(pstrdup(NameStr(att->attname))));
		moves = true;
	}
	table_close(rel, NoLock);
	dp_set_selected_columns(subquery, inner, checked);

	dp_clear_rte(rte);
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = subquery;
	rte->tablesample = NULL;
	if (moves)
		dp_walk_all(query, move_column, &move);
}

/* Tells whether an entry is changed or locked. */
static bool
is_changed(Query *query, int index)
{
	foreach_ptr(RowMarkClause, rowMark, query->rowMarks)
		if (rowMark->rti == index)
		return true;
	return query->resultRelation == index;
}

bool
dp_mask_pg_class(Query *query)
{
	bool		found = false;

	for (int i = 1; i <= list_length(query->rtable); i++)
	{
		RangeTblEntry *rte = list_nth(query->rtable, i - 1);
		Bitmapset  *selected;
		Bitmapset  *masked;
		Oid			user;
		bool		whole;

		if (rte->rtekind != RTE_RELATION || rte->relid != RelationRelationId || !dp_is_selected(query, rte))
			continue;
		selected = dp_selected_columns(query, rte);
		if (closed_among(selected, InvalidOid) == NULL)
			continue;
		found = true;
		user = dp_check_as_user(query, rte);
		if (!OidIsValid(user))
			user = GetUserId();
		if (pg_class_aclcheck(RelationRelationId, user, ACL_SELECT) == ACLCHECK_OK)
			continue;
		masked = closed_among(selected, user);
		whole = bms_is_member(MEMBER(0), selected);
		/* system columns would be taken for columns of the whole row */
		if (masked == NULL || is_changed(query, i) || rte->securityQuals != NIL ||
			(whole && bms_next_member(selected, -1) < MEMBER(0)))
			continue;
		replace_entry(query, i, selected, masked);
	}
	return found;
}
