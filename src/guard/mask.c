/*-------------------------------------------------------------------------
 *
 * mask.c
 *	  Lets catalogue queries of tools run for roles from which
 *	  dp_cdp.harden() has taken numbers of rows.
 *
 * harden() takes EXECUTE on functions and SELECT on columns of pg_class from
 * PUBLIC.  That is what holds: PostgreSQL checks it when a query is executed.
 * Here, before a query is planned, each such call and each such read of a role
 * that lacks the privilege is replaced by one that needs none and tells
 * nothing (policy/closed.c, policy/visible.c).  What this does not
 * see stays as it was, and is refused: calls of the fastpath, of inlined
 * functions, in defaults that COPY evaluates, in arguments of CALL.
 *
 * An entry that reads such a column of pg_class becomes a subquery, as if it were a view:
 *
 *	  (SELECT oid, ..., dp_cdp_internal.visible_reltuples(oid, reltuples) AS reltuples, ...
 *		 FROM pg_class)
 *
 * with the columns in the same places, so that all of the level around it
 * stays as it is: outer joins, whole rows, USING and references from deeper
 * levels mean what they mean for a view.
 *
 * Invariants:
 *	- nothing but calls on the list, by a role without EXECUTE, is changed; so
 *	  nothing changes where harden() was not called.
 *	- the result's type and, in FROM, its columns stay.
 *	- functions that write (class traces) are never masked.
 *	- the plan is the role's alone (dependsOnRole), whether something was
 *	  replaced or not.
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
#include "base/walk.h"
#include "catalog/heap.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "guard/mask.h"
#include "guard/read/read.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "policy/closed.h"
#include "utils/acl.h"
#include "utils/rel.h"

/* ------------------------------------------------------------------------
 * pg_class
 * ------------------------------------------------------------------------
 */

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
		function = "visible_reltuples";
	else if (column->varattno == Anum_pg_class_relpages)
		function = "visible_relpages";
	else

		/*
		 * Foreign keys that reference a table lock its rows, so that how many
		 * pages are all frozen, and who wrote the oldest row that is not,
		 * tell of those tables' rows.  A number of pages or a transaction.
		 */
		return (Expr *) makeConst(column->vartype, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true);
	oid = makeVar(column->varno, Anum_pg_class_oid, OIDOID, -1, InvalidOid, 0);
	return (Expr *) dp_call(dp_own_routine(function, 2, types), column->vartype, list_make2(oid, column));
}

static void
add_column(Query *query, Form_pg_attribute att, const Bitmapset *masked)
{
	Var		   *var = makeVar(1, att->attnum, att->atttypid, att->atttypmod, att->attcollation, 0);
	Expr	   *expr = (Expr *) var;

	if (bms_is_member(MEMBER(att->attnum), masked))
		expr = masked_column(var);
	(void) dp_show_column(query, expr, NameStr(att->attname));
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
	Query	   *subquery = dp_select_from(inner);
	MoveContext move = {.entry = index};
	Bitmapset  *checked = bms_difference(selected, masked);
	bool		moves = false;
	Relation	rel = table_open(RelationRelationId, AccessShareLock);
	TupleDesc	columns = RelationGetDescr(rel);

	dp_take_permissions(subquery, inner, query);
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

/* Masks the entries of one level that read pg_class; returns whether there are such. */
static bool
mask_pg_class(Query *query)
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

/* ------------------------------------------------------------------------
 * Queries
 * ------------------------------------------------------------------------
 */

/*
 * Replaces a call in place, if it is one of a closed function that who asks
 * may not execute.  Returns whether it is one of a closed function.
 */
static bool
mask_call(FuncExpr *call)
{
	Oid			any[] = {ANYELEMENTOID, ANYOID};
	Oid			types[2];
	int			n = 0;
	const char *told;
	DpMask		mask = dp_mask_of(call->funcid, &told);
	ListCell   *lc;

	if (mask == DP_MASK_NONE)
		return false;
	if (dp_may_execute(call->funcid, GetUserId()))
		return true;
	if (mask == DP_MASK_NULL)
	{
		/* what stands for it has no names of arguments */
		foreach(lc, call->args)
			if (IsA(lfirst(lc), NamedArgExpr))
			lfirst(lc) = ((NamedArgExpr *) lfirst(lc))->arg;
		call->funcid = dp_own_routine(call->funcretset ? "masked_rows" : "masked", 2, any);
		/* it is declared with one argument at least */
		if (call->args == NIL)
			call->args = list_make1(makeBoolConst(true, false));
		call->args = lcons(makeNullConst(call->funcresulttype, -1, call->funccollid), call->args);
		return true;
	}
	foreach_ptr(Node, arg, call->args)
		types[n++] = exprType(arg);
	call->funcid = dp_own_routine(told, n, types);
	return true;
}

/* Notes the columns of a function in FROM that its replacement does not declare. */
static void
keep_columns(RangeTblFunction *entry, TupleDesc columns)
{
	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);

		entry->funccolnames = lappend(entry->funccolnames, makeString(pstrdup(NameStr(column->attname))));
		entry->funccoltypes = lappend_oid(entry->funccoltypes, column->atttypid);
		entry->funccoltypmods = lappend_int(entry->funccoltypmods, column->atttypmod);
		entry->funccolcollations = lappend_oid(entry->funccolcollations, column->attcollation);
	}
}

/* Replaces a function in FROM, as mask_call. */
static bool
mask_function_in_from(RangeTblFunction *entry)
{
	FuncExpr   *call = (FuncExpr *) entry->funcexpr;
	Oid			funcid;
	TupleDesc	columns;
	TypeFuncClass class;
	const char *told;

	if (call == NULL || !IsA(call, FuncExpr) || dp_mask_of(call->funcid, &told) == DP_MASK_NONE)
		return false;
	funcid = call->funcid;
	class = get_expr_result_type((Node *) call, NULL, &columns);
	if (mask_call(call) && call->funcid != funcid && class == TYPEFUNC_COMPOSITE && call->funcresulttype == RECORDOID)
		keep_columns(entry, columns);
	return true;
}

static DpWalk
mask_node(Node *node, int levels, bool *found)
{
	if (IsA(node, Query))
		*found = mask_pg_class((Query *) node) || *found;
	else if (IsA(node, RangeTblFunction))
		*found = mask_function_in_from((RangeTblFunction *) node) || *found;
	else if (IsA(node, FuncExpr))
		*found = mask_call((FuncExpr *) node) || *found;
	return DP_WALK_ON;
}

bool
dp_mask_query(Query *query)
{
	bool		found = false;

	dp_walk_all(query, mask_node, &found);
	return found;
}
