/*-------------------------------------------------------------------------
 *
 * rebuild.c
 *	  Queries over protected rows, made anew of what is known of them.
 *
 * What runs on raw rows with their owner's rights is never the analyst's own
 * Query, from which something was taken away, but a new one, into which what
 * is known was put, field by field.  A field that a newer PostgreSQL adds
 * does not pass by being overlooked: in a subquery it is refused if it is set,
 * everywhere else it stays behind.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "policy/unit_types.h"

Query *
dp_new_select(void)
{
	return dp_make(Query, .commandType = CMD_SELECT, .querySource = QSRC_ORIGINAL, .canSetTag = true);
}

Query *
dp_select_from(RangeTblEntry *rte)
{
	Query	   *query = dp_new_select();

	query->rtable = list_make1(rte);
	query->jointree = makeFromExpr(list_make1(dp_entry_ref(1)), NULL);
	return query;
}

Query *
dp_union_all(List *queries, const char *name)
{
	Query	   *all = dp_new_select();
	Node	   *tree = NULL;
	List	   *types = NIL;
	List	   *typmods = NIL;
	List	   *collations = NIL;

	foreach_node(TargetEntry, tle, linitial_node(Query, queries)->targetList)
	{
		Var		   *column = dp_output_var(1, tle->resno, (Node *) tle->expr);

		/* what not all operands have is no column's */
		foreach_ptr(Query, query, queries)
			if (exprTypmod((Node *) list_nth_node(TargetEntry, query->targetList, tle->resno - 1)->expr) != column->vartypmod)
			column->vartypmod = -1;
		types = lappend_oid(types, column->vartype);
		typmods = lappend_int(typmods, column->vartypmod);
		collations = lappend_oid(collations, column->varcollid);
		all->targetList = lappend(all->targetList, makeTargetEntry((Expr *) column, tle->resno, pstrdup(tle->resname), false));
	}
	foreach_ptr(Query, query, queries)
	{
		Node	   *ref = dp_entry_ref(foreach_current_index(query) + 1);

		all->rtable = lappend(all->rtable, dp_subquery_entry(query, name));
		tree = tree == NULL ? ref : (Node *) dp_make(SetOperationStmt, .op = SETOP_UNION, .all = true, .larg = tree, .rarg = ref,
													 .colTypes = types, .colTypmods = typmods, .colCollations = collations);
	}
	all->jointree = makeFromExpr(NIL, NULL);
	all->setOperations = tree;
	return all;
}

/* ------------------------------------------------------------------------
 * Range table
 * ------------------------------------------------------------------------
 */

static RangeTblEntry *
new_entry(RangeTblEntry *rte)
{
	return dp_make(RangeTblEntry, .rtekind = rte->rtekind, .alias = rte->alias, .eref = rte->eref,
				   .inFromCl = rte->inFromCl);
}

/*
 * Copies what is locked, and what is checked of privileges; from 16 on a
 * subquery that was a view has both, too.
 */
static void
keep_relation(RangeTblEntry *new, RangeTblEntry *rte)
{
	new->relid = rte->relid;
	new->relkind = rte->relkind;
	new->rellockmode = rte->rellockmode;
	dp_keep_permissions(new, rte);
}

/* Copies an entry of the join tree, which is one of four kinds by now. */
static RangeTblEntry *
rebuild_read(DpSource *s, RangeTblEntry *rte)
{
	RangeTblEntry *new = new_entry(rte);

	switch (rte->rtekind)
	{
		case RTE_RELATION:
			keep_relation(new, rte);
			new->inh = rte->inh;
			new->securityQuals = rte->securityQuals;
			/* dp_read_protected's mark */
			if (dp_is_protected(rte))
				new->enrname = rte->enrname;
			break;
		case RTE_SUBQUERY:
			keep_relation(new, rte);
			new->subquery = rte->subquery;
			new->security_barrier = rte->security_barrier;
			break;
		case RTE_NAMEDTUPLESTORE:
			new->enrname = rte->enrname;
			new->enrtuples = rte->enrtuples;
			new->coltypes = rte->coltypes;
			new->coltypmods = rte->coltypmods;
			new->colcollations = rte->colcollations;
			break;
		case RTE_FUNCTION:

			/*
			 * it makes rows of others (made_rows.c); what else does is
			 * prefetched
			 */
			new->functions = rte->functions;
			new->funcordinality = rte->funcordinality;
			new->lateral = true;
			break;
		default:
			dp_refuse_entry(s, rte, "entry", "store its rows in a temporary table first");
	}
	return new;
}

/* Copies an entry that is not in the join tree, so that the others keep their numbers. */
static RangeTblEntry *
rebuild_other(DpSource *s, RangeTblEntry *rte)
{
	RangeTblEntry *new = new_entry(rte);

	switch (rte->rtekind)
	{
		case RTE_RELATION:
			/* whose privileges are to be checked: a view, until 15 */
			keep_relation(new, rte);
			break;
		case RTE_JOIN:
			/* nothing refers to its columns any more: dp_flatten_level */
			new->jointype = rte->jointype;
			break;
		case RTE_RESULT:
			break;
		default:
			dp_refuse_entry(s, rte, "entry", "store its rows in a temporary table first");
	}
	return new;
}

void
dp_rebuild_entries(DpSource *s, Query *query, const Bitmapset *entries)
{
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		lfirst(lc) = bms_is_member(foreach_current_index(lc) + 1, entries) ? rebuild_read(s, rte)
			: rebuild_other(s, rte);
	}
}

/* ------------------------------------------------------------------------
 * Join tree
 * ------------------------------------------------------------------------
 */

Node *
dp_rebuild_join_tree(Node *node, const DpAllowContext *allow)
{
	if (IsA(node, FromExpr))
	{
		FromExpr   *from = (FromExpr *) node;
		List	   *list = NIL;

		foreach_ptr(Node, item, from->fromlist)
			list = lappend(list, dp_rebuild_join_tree(item, allow));
		return (Node *) makeFromExpr(list, from->quals ? dp_make_safe(from->quals, allow) : NULL);
	}
	if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		return (Node *) dp_make(JoinExpr, .jointype = join->jointype, .larg = dp_rebuild_join_tree(join->larg, allow),
								.rarg = dp_rebuild_join_tree(join->rarg, allow),
								.quals = join->quals ? dp_make_safe(join->quals, allow) : NULL,
								.rtindex = join->rtindex);
	}
	else
	{
		return (Node *) dp_make(RangeTblRef, .rtindex = castNode(RangeTblRef, node)->rtindex);
	}
}

/* ------------------------------------------------------------------------
 * Subqueries
 * ------------------------------------------------------------------------
 */

/* Makes GROUP BY by the equality of each key's type; refuses any other. */
static List *
rebuild_grouping(DpSplitContext *cxt, Query *sub, List *targets)
{
	List	   *clauses = NIL;

	foreach_node(SortGroupClause, clause, sub->groupClause)
	{
		TargetEntry *key = get_sortgroupclause_tle(clause, sub->targetList);

		if (dp_clause_of(key, false)->eqop != clause->eqop)
			dp_refuse_at(exprLocation((Node *) key->expr),
						 errmsg("a subquery over protected rows cannot group by an equality that is not its type's own; "
								"leave ORDER BY ... USING out"));
		/* what is handed up in another form is grouped by as that */
		clauses = lappend(clauses, dp_clause_of(get_sortgroupclause_tle(clause, targets), false));
	}
	return clauses;
}

/*
 * Tells whether anything is set that neither dp_rebuild_subquery takes over
 * nor may be left behind.  Holds for fields that this file has never heard of,
 * too.
 */
static bool
has_other_parts(Query *sub)
{
	Query		rest;
	Query	   *nothing = makeNode(Query);

	/* all bytes, with those between the fields, are 0 in a new node */
	memcpy(&rest, sub, sizeof(Query));
	rest.commandType = CMD_UNKNOWN;
	rest.rtable = NIL;
	dp_forget_permissions(&rest);
	rest.jointree = NULL;
	rest.targetList = NIL;
	rest.groupClause = NIL;
	rest.havingQual = NULL;
	rest.hasAggs = false;
	rest.windowClause = NIL;
	rest.hasWindowFuncs = false;
	/* DISTINCT is GROUP BY by now, and ORDER BY is for DISTINCT ON */
	rest.distinctClause = NIL;
	rest.sortClause = NIL;
	rest.hasDistinctOn = false;
	/* says nothing of rows */
	rest.querySource = QSRC_ORIGINAL;
	rest.queryId = 0;
	rest.canSetTag = false;
	rest.isReturn = false;
	rest.stmt_location = 0;
	rest.stmt_len = 0;
	rest.constraintDeps = NIL;
	rest.limitOption = 0;
	rest.groupDistinct = false;
	/* the asking role's, which does not count here */
	rest.hasRowSecurity = false;
	/* has become part of the range table; sublinks are refused where they are */
	rest.cteList = NIL;
	rest.hasSubLinks = false;
	return memcmp(&rest, nothing, sizeof(Query)) != 0;
}

/* Tells whether a subquery groups by a target, or has one row of those that are equal in it. */
static bool
is_grouped(Query *sub, const TargetEntry *tle)
{
	return dp_clauses_name(sub->groupClause, tle->ressortgroupref) || dp_clauses_name(sub->distinctClause, tle->ressortgroupref);
}

Query *
dp_rebuild_subquery(DpSplitContext *cxt, Query *sub, const DpAllowContext *allow)
{
	Query	   *new = dp_new_select();
	bool		keeps_rows = sub->groupClause == NIL && sub->distinctClause == NIL && !sub->hasAggs;

	if (sub->commandType != CMD_SELECT || has_other_parts(sub))
		dp_refuse_at(exprLocation((Node *) sub->targetList),
					 errmsg("a clause of a subquery over protected rows is not releasable; keep only SELECT, FROM, WHERE, GROUP BY, HAVING, WINDOW and DISTINCT"));
	new->rtable = sub->rtable;
	dp_move_permissions(new, sub);
	new->jointree = sub->jointree;
	foreach_node(TargetEntry, tle, sub->targetList)
	{
		Expr	   *expr = tle->expr;

		/*
		 * of what is grouped by, equal values of citext are one, in lower
		 * case; others are handed up as they are written
		 */
		bool		grouped = is_grouped(sub, tle);

		if (IsA(expr, Var) && !(grouped && dp_is_other_citext(allow, (Var *) expr)) && (keeps_rows || !dp_type_is_opened(((Var *) expr)->vartype)))
			expr = (Expr *) dp_hand_up_column((Var *) expr, allow);
		else if (!grouped && dp_is_citext(exprType((Node *) expr)))
			expr = (Expr *) dp_make_safe((Node *) dp_citext_as_written((Node *) expr), allow);
		else
			expr = (Expr *) dp_make_safe((Node *) expr, allow);
		new->targetList = lappend(new->targetList, makeTargetEntry(expr, tle->resno, tle->resname, tle->resjunk));
		((TargetEntry *) llast(new->targetList))->ressortgroupref = tle->ressortgroupref;
	}
	new->groupClause = rebuild_grouping(cxt, sub, new->targetList);
	if (sub->havingQual)
		new->havingQual = dp_make_safe(sub->havingQual, allow);
	new->hasAggs = contain_aggs_of_level((Node *) new->targetList, 0) ||
		contain_aggs_of_level(new->havingQual, 0);
	return new;
}
