/*-------------------------------------------------------------------------
 *
 * outer_query.c
 *	  The outer query: post-processing of what was released.
 *
 * Keys and aggregates, wherever they stand in the level or refer to it from
 * sublinks, become columns of one range table entry.  A column of what the
 * level read that is left over is refused.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "policy/unit_types.h"
#include "rewrite/rewriteManip.h"

typedef struct ReplaceContext
{
	DpSplitContext *cxt;
	Query	   *query;
	List	   *from;
	List	   *columns;
	Index		released;		/* rtindex of what was released */
} ReplaceContext;

/* Makes a column of what was released that is of a domain, or of citext, if the expression in its place is; keys are released without. */
static Node *
released_column(const ReplaceContext *c, AttrNumber column, Node *node, int levels)
{
	int32		typmod = exprTypmod(node);
	Oid			type = dp_type_as_read(exprType(node), &typmod);
	Var		   *var = makeVar(c->released, column, type, typmod, exprCollation(node), levels);

	var->location = exprLocation(node);
	if (type == exprType(node))
		return (Node *) var;
	return (Node *) makeRelabelType((Expr *) var, exprType(node), exprTypmod(node), exprCollation(node),
									COERCE_IMPLICIT_CAST);
}

static Node *
put_released(Node *node, int levels, const ReplaceContext *c)
{
	DpSplitContext *cxt = c->cxt;
	ListCell   *lc,
			   *column;

	forboth(lc, c->from, column, c->columns)
	{
		Node	   *from = lfirst(lc);

		if (nodeTag(from) != nodeTag(node))
			continue;
		if (levels > 0)
		{
			from = copyObject(from);
			IncrementVarSublevelsUp(from, levels, 0);
		}
		if (equal(from, node))
			return released_column(c, lfirst_int(column), node, levels);
	}

	if (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == levels)
		elog(ERROR, "an aggregate was not collected");
	/* without grouping sets every key is grouped by */
	if (IsA(node, GroupingFunc) && ((GroupingFunc *) node)->agglevelsup == levels)
		return (Node *) dp_int4_const(0);
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == levels)
	{
		Var		   *var = (Var *) node;

		dp_refuse_at(var->location,
					 errmsg("a column of %s is used outside of a private aggregate; "
							"group by it or aggregate it",
							dp_entry_text(rt_fetch(var->varno, c->query->rtable))));
	}
	return NULL;
}

RangeTblEntry *
dp_released_rows(DpRelease *release)
{
	List	   *names = NIL;
	RangeTblEntry *rte = dp_make(RangeTblEntry, .rtekind = RTE_NAMEDTUPLESTORE, .enrname = release->name,
								 .enrtuples = 100, .inFromCl = true);

	foreach_ptr(DpReleaseKey, key, release->keys)
	{
		rte->coltypes = lappend_oid(rte->coltypes, key->type);
		rte->coltypmods = lappend_int(rte->coltypmods, key->typmod);
		rte->colcollations = lappend_oid(rte->colcollations, key->collation);
		names = lappend(names, makeString(pstrdup(key->label)));
	}
	foreach_ptr(DpReleaseColumn, column, release->columns)
	{
		if (column->hidden)
			continue;
		rte->coltypes = lappend_oid(rte->coltypes, column->result_type);
		rte->coltypmods = lappend_int(rte->coltypmods, -1);
		rte->colcollations = lappend_oid(rte->colcollations, InvalidOid);
		names = lappend(names, makeString(pstrdup(column->label)));
	}
	foreach_ptr(DpReleaseColumn, column, release->columns)
	{
		for (int kind = 0; kind < DP_COMPANIONS; kind++)
		{
			if ((column->companions & (1 << kind)) == 0)
				continue;
			rte->coltypes = lappend_oid(rte->coltypes, FLOAT8OID);
			rte->coltypmods = lappend_int(rte->coltypmods, -1);
			rte->colcollations = lappend_oid(rte->colcollations, InvalidOid);
			names = lappend(names, makeString(psprintf("%s of %s", kind == DP_COMPANION_CUT ? "cut" : "stddev", column->label)));
		}
	}
	rte->eref = makeAlias("release", names);
	return rte;
}

/* Clears the entries that the inner query reads now; views' own entries are not in the join tree. */
static DpWalk
clear_entry(Node *node, int levels, Query *query)
{
	int			rti = IsA(node, RangeTblRef) ? ((RangeTblRef *) node)->rtindex : IsA(node, JoinExpr) ? ((JoinExpr *) node)->rtindex : 0;

	if (rti != 0)
		dp_clear_rte(rt_fetch(rti, query->rtable));
	return DP_WALK_ON;
}

void
dp_rewrite_outer(DpSplitContext *cxt, Query *query, RangeTblEntry *released, List *from, List *columns)
{
	ReplaceContext c = {cxt, query, from, columns};

	query->rtable = lappend(query->rtable, released);
	c.released = list_length(query->rtable);
	query->targetList = (List *) dp_put_all(query->targetList, put_released, &c);
	dp_walk(query->jointree, clear_entry, query);
	query->jointree = makeFromExpr(list_make1(dp_entry_ref(c.released)), dp_put_all(query->havingQual, put_released, &c));
	query->havingQual = NULL;
	query->groupClause = NIL;
	query->groupingSets = NIL;
	query->groupDistinct = false;
	query->hasAggs = false;
	dp_keep_apart(query);
}

/* Sets OFFSET 0, past which the planner moves nothing. */
void
dp_keep_apart(Query *query)
{
	if (query->limitOffset == NULL)
		query->limitOffset = (Node *) dp_int8_const(0);
}
