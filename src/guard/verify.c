/*-------------------------------------------------------------------------
 *
 * verify.c
 *	  The last gate: looks at a finished inner query as if it trusted nobody
 *	  who made it.
 *
 * That nothing unvetted runs on raw rows with their owner's rights is made
 * true by those that build inner queries, each at its place.  Here the whole
 * query is walked once more, and whatever is not listed is an error, before
 * anything is planned: all fields of each Query and range table entry, also
 * those that this version of the extension does not know, and each expression
 * (verify_expr.c).  There is no policy here, and no message for an analyst:
 * whoever meets one has found a bug.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "guard/verify.h"
#include "miscadmin.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"

static void verify_query(DpVerify *outer, Query *query, DpPlace place);

/* ------------------------------------------------------------------------
 * Range table and join tree
 * ------------------------------------------------------------------------
 */

static void
verify_join_tree(DpVerify *v, Node *node)
{
	if (IsA(node, FromExpr))
	{
		foreach_ptr(Node, item, ((FromExpr *) node)->fromlist)
			verify_join_tree(v, item);
	}
	else if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		dp_require(join->jointype == JOIN_INNER || join->jointype == JOIN_LEFT ||
				   join->jointype == JOIN_RIGHT || join->jointype == JOIN_FULL ||
				   join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI, "a join of another kind", node);
		dp_require(!join->isNatural && join->usingClause == NIL && join->alias == NULL && join->join_using_alias == NULL,
				   "a join with other parts", node);
		verify_join_tree(v, join->larg);
		verify_join_tree(v, join->rarg);
	}
	else
	{
		dp_require(IsA(node, RangeTblRef) && !bms_is_member(((RangeTblRef *) node)->rtindex, v->entries) &&
				   ((RangeTblRef *) node)->rtindex <= list_length(v->query->rtable), "an entry of the join tree", node);
		v->entries = bms_add_member(v->entries, ((RangeTblRef *) node)->rtindex);
	}
}

/* Verifies the conditions of the join tree, when all entries are known. */
static void
verify_conditions(DpVerify *v, Node *node)
{
	if (IsA(node, FromExpr))
	{
		foreach_ptr(Node, item, ((FromExpr *) node)->fromlist)
			verify_conditions(v, item);
		dp_verify_expr(((FromExpr *) node)->quals, v);
	}
	else if (IsA(node, JoinExpr))
	{
		verify_conditions(v, ((JoinExpr *) node)->larg);
		verify_conditions(v, ((JoinExpr *) node)->rarg);
		dp_verify_expr(((JoinExpr *) node)->quals, v);
	}
}

/* Verifies the operands of a UNION ALL: entries, of which each row is one of the query's. */
static void
verify_operands(DpVerify *v, Node *node, SetOperationStmt *top)
{
	SetOperationStmt *op = (SetOperationStmt *) node;
	RangeTblEntry *rte;

	check_stack_depth();
	if (IsA(node, SetOperationStmt))
	{
		dp_require(op->op == SETOP_UNION && op->all && op->groupClauses == NIL && equal(op->colTypes, top->colTypes) &&
				   equal(op->colTypmods, top->colTypmods) && equal(op->colCollations, top->colCollations),
				   "a set operation of another kind", node);
		verify_operands(v, op->larg, top);
		verify_operands(v, op->rarg, top);
		return;
	}
	dp_require(IsA(node, RangeTblRef) && !bms_is_member(((RangeTblRef *) node)->rtindex, v->entries) &&
			   ((RangeTblRef *) node)->rtindex <= list_length(v->query->rtable), "an operand", node);
	rte = rt_fetch(((RangeTblRef *) node)->rtindex, v->query->rtable);
	dp_require(rte->rtekind == RTE_SUBQUERY && tlist_same_datatypes(rte->subquery->targetList, top->colTypes, true) &&
			   tlist_same_collations(rte->subquery->targetList, top->colCollations, true), "an operand of other columns", rte);
	v->entries = bms_add_member(v->entries, ((RangeTblRef *) node)->rtindex);
}

/* Verifies a query that has set operations: it shows the columns of its operands, and has nothing else. */
static void
verify_union(DpVerify *v)
{
	Query	   *query = v->query;
	SetOperationStmt *top = (SetOperationStmt *) query->setOperations;

	dp_require(IsA(top, SetOperationStmt), "a set operation", top);
	dp_require(query->jointree->fromlist == NIL && query->jointree->quals == NULL && query->havingQual == NULL &&
			   !query->hasAggs && query->groupClause == NIL && query->windowClause == NIL && query->distinctClause == NIL,
			   "a set operation with other parts", query);
	verify_operands(v, (Node *) top, top);
	dp_require(tlist_same_datatypes(query->targetList, top->colTypes, false) &&
			   tlist_same_collations(query->targetList, top->colCollations, false), "a set operation of other columns", query);
	foreach_ptr(TargetEntry, tle, query->targetList)
	{
		Var		   *var = (Var *) tle->expr;

		dp_require(IsA(var, Var) && bms_is_member(var->varno, v->entries) && var->varlevelsup == 0 &&
				   var->varattno == foreach_current_index(tle) + 1, "a column of a set operation", var);
	}
}

static void
verify_relation(DpVerify *v, RangeTblEntry *rte)
{
	Oid			owner = v->level->allow.run_as;

	if (dp_policy_table(rte->relid) == NULL)
		dp_require(rte->enrname == NULL && dp_is_trusted_table(rte, owner, v->level->dataset->owner),
				   "a table of somebody else", rte);
	else
		dp_require(list_member_oid(v->release->relids, rte->relid) &&
				   (rte->relkind == RELKIND_RELATION || rte->relkind == RELKIND_PARTITIONED_TABLE) &&
				   dp_relation_owner(rte->relid) == owner && dp_check_as_user(v->query, rte) == owner &&
				   rte->enrname != NULL && strcmp(rte->enrname, DP_INNER_MARK) == 0,
				   "a protected table that is not marked", rte);
}

static bool
is_prefetched(DpRelease *release, const char *name)
{
	foreach_ptr(DpPrefetch, prefetch, release->prefetches)
	{
		if (name != NULL && strcmp(prefetch->name, name) == 0)
			return true;
	}
	return false;
}

/*
 * Requires that nothing is set beside what an entry of its kind has, not even
 * what only newer versions have.
 */
static void
verify_entry_parts(RangeTblEntry *rte, Index rti, bool is_read)
{
	RangeTblEntry rest;
	RangeTblEntry *nothing = makeNode(RangeTblEntry);

	memcpy(&rest, rte, sizeof(RangeTblEntry));
	rest.rtekind = 0;
	rest.alias = rest.eref = NULL;
	rest.inFromCl = false;
	if (rte->rtekind == RTE_RELATION || rte->rtekind == RTE_SUBQUERY)
	{
		rest.relid = InvalidOid;
		rest.relkind = 0;
		rest.rellockmode = 0;
		dp_keep_permissions(&rest, nothing);
	}
	if (rte->rtekind == RTE_RELATION && is_read)
	{
		rest.inh = false;
		rest.enrname = NULL;
		dp_require(equal(rte->securityQuals, dp_unit_limit(rte->relid, rti)), "a protected table whose units may be of any length", rte);
		rest.securityQuals = NIL;
	}
	if (rte->rtekind == RTE_SUBQUERY)
	{
		rest.subquery = NULL;
		rest.security_barrier = false;
	}
	if (rte->rtekind == RTE_NAMEDTUPLESTORE)
	{
		rest.enrname = NULL;
		rest.enrtuples = 0;
		rest.coltypes = rest.coltypmods = rest.colcollations = NIL;
	}
	if (rte->rtekind == RTE_FUNCTION)
	{
		rest.functions = NIL;
		rest.funcordinality = rest.lateral = false;
	}
	if (rte->rtekind == RTE_JOIN)
		rest.jointype = 0;
	dp_require(memcmp(&rest, nothing, sizeof(RangeTblEntry)) == 0, "a range table entry with other parts", rte);
	pfree(nothing);
}

static void
verify_entry(DpVerify *v, Index rti, RangeTblEntry *rte)
{
	/*
	 * a protected table that nothing reads may be named for its policy
	 * (parents.c), by the same rules
	 */
	bool		is_read = bms_is_member(rti, v->entries) || (rte->rtekind == RTE_RELATION && rte->enrname != NULL);

	verify_entry_parts(rte, rti, is_read);
	if (!is_read)
		dp_require(rte->rtekind == RTE_RELATION || rte->rtekind == RTE_JOIN || rte->rtekind == RTE_RESULT,
				   "a range table entry that nothing reads", rte);
	else if (rte->rtekind == RTE_SUBQUERY)
		verify_query(v, rte->subquery,
					 v->place == DP_PLACE_ENTRIES ? DP_PLACE_KEPT : v->place == DP_PLACE_KEPT ? DP_PLACE_BOUNDING : DP_PLACE_SOURCE);
	else
	{
		dp_require(!dp_is_above_units(v->place), "a range table entry above units", rte);
		if (rte->rtekind == RTE_RELATION)
			verify_relation(v, rte);
		else if (rte->rtekind == RTE_FUNCTION)
			dp_verify_made_rows(v, rte);
		else
			dp_require(rte->rtekind == RTE_NAMEDTUPLESTORE && is_prefetched(v->release, rte->enrname),
					   "a range table entry that is not listed", rte);
	}
}

/* ------------------------------------------------------------------------
 * Queries
 * ------------------------------------------------------------------------
 */

static void
verify_query_parts(Query *query, DpPlace place)
{
	Query		rest;
	Query	   *nothing = makeNode(Query);

	dp_require(query->commandType == CMD_SELECT && query->jointree != NULL, "a command of another kind", query);
	memcpy(&rest, query, sizeof(Query));
	rest.commandType = CMD_UNKNOWN;
	rest.querySource = 0;
	rest.canSetTag = false;
	rest.rtable = NIL;
	dp_forget_permissions(&rest);
	rest.jointree = NULL;
	rest.targetList = NIL;
	if (place == DP_PLACE_SOURCE)
	{
		rest.havingQual = NULL;
		rest.windowClause = NIL;
		rest.hasWindowFuncs = false;
		rest.distinctClause = NIL;
		rest.hasDistinctOn = false;
		/* it chooses rows, and nothing else in a subquery does */
		if (query->hasDistinctOn)
			rest.sortClause = NIL;
		rest.setOperations = NULL;
	}
	if (place == DP_PLACE_KEPT)
		rest.hasTargetSRFs = false;
	else
	{
		rest.hasAggs = false;
		rest.groupClause = NIL;
	}
	/* each row of the level below once, and all of them */
	dp_require(!dp_is_above_units(place) || (list_length(query->rtable) == 1 && query->jointree->quals == NULL),
			   "more than a subquery above units", query);
	/* undeclared keys are released in their order */
	if (place == DP_PLACE_ROWS || place == DP_PLACE_ENTRIES)
		rest.sortClause = NIL;
	dp_require(memcmp(&rest, nothing, sizeof(Query)) == 0, "a query with other parts", query);
	pfree(nothing);
}

/* Requires that rows are bounded by nothing but columns that bear the unit. */
static void
verify_units(Query *query)
{
	dp_require(query->groupClause != NIL, "a bounding of all rows", query);
	foreach_ptr(SortGroupClause, clause, query->groupClause)
	{
		Expr	   *unit = get_sortgroupclause_tle(clause, query->targetList)->expr;

		dp_require(IsA(unit, Var) && dp_is_unit_column(query, (Var *) unit), "a unit that is none", unit);
	}
}

static void
verify_query(DpVerify *outer, Query *query, DpPlace place)
{
	DpVerify	v = {.level = outer->level, .release = outer->release, .query = query, .place = place};

	check_stack_depth();
	dp_require(query != NULL && IsA(query, Query), "no query", query);
	verify_query_parts(query, place);
	verify_join_tree(&v, (Node *) query->jointree);
	if (query->setOperations)
		verify_union(&v);
	foreach_node(RangeTblEntry, rte, query->rtable)
		verify_entry(&v, foreach_current_index(rte) + 1, rte);
	verify_conditions(&v, (Node *) query->jointree);
	dp_verify_expr((Node *) query->targetList, &v);
	dp_verify_expr(query->havingQual, &v);
	dp_verify_sort_clauses(query->groupClause);
	dp_verify_sort_clauses(query->sortClause);
	dp_verify_windows(&v);
	if (place == DP_PLACE_BOUNDING)
		verify_units(query);
	if (place == DP_PLACE_SOURCE)
		dp_require(dp_groups_are_canonical(query), "a choice among equal values", query);

	/*
	 * the rows of all units together are aggregated by none but those that
	 * add noise
	 */
	dp_require(query->groupClause != NIL || place == DP_PLACE_ROWS || place == DP_PLACE_ENTRIES ||
			   (!query->hasAggs && query->havingQual == NULL), "an aggregation of all units", query);
}

void
dp_verify_inner(DpLevel *level)
{
	DpRelease  *release = level->release;
	DpVerify	v = {.level = level, .release = release};

	verify_query(&v, release->inner_query, release->has_unit ? DP_PLACE_ENTRIES : DP_PLACE_ROWS);
}
