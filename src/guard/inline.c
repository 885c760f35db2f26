/*-------------------------------------------------------------------------
 *
 * inline.c
 *	  SQL functions that PostgreSQL would inline, put into the query before
 *	  anything is vetted.
 *
 * A function over rows is refused unless it is listed, and a function in FROM
 * reads its tables with the rights of who asks.  What the body of an SQL
 * function says may well be releasable: here the planner's own inlining is
 * asked for it, and what comes out is treated as if it had been typed in.
 *
 * Invariants:
 * - Whether a call is inlined, and to what, is decided by PostgreSQL, as who
 *	 asks: no SECURITY DEFINER, no settings, no VOLATILE, one SELECT, EXECUTE.
 *	 It depends on the query and the catalogue alone.
 * - A call is not evaluated here: PostgreSQL sees parameters in the place of
 *	 its arguments.  It folds constant parts of a body, as who asks, as it does
 *	 when it plans any query of theirs.
 * - Calls that stay as they were are vetted as before.
 *
 * A function that others say in simpler terms is written so (bucket_cases.c,
 * citext.c).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "guard/guard.h"
#include "guard/vet/allow.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "policy/policy.h"
#include "utils/syscache.h"

/* an argument that is longer, as text of its nodes, is not written twice: nested calls would grow without limit */
#define MOST_REPEATED 4096

/* numbers of parameters that no query has: those that stand for arguments */
#define FIRST_STAND_IN 0x40000000

typedef struct InlineContext
{
	PlannerInfo *root;			/* for what plans depend on */
	bool		in_from_only;
} InlineContext;

/* Tells whether PostgreSQL might inline a call of this function, if we ask. */
static bool
may_be_inlined(Oid funcid, bool returns_set)
{
	HeapTuple	tuple;
	Form_pg_proc proc;
	bool		may;

	if (funcid < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return false;
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	may = proc->prolang == SQLlanguageId && proc->prokind == PROKIND_FUNCTION && proc->proretset == returns_set &&
		!proc->prosecdef && proc->provolatile != PROVOLATILE_VOLATILE &&
	/* without arguments it would be evaluated */
		(returns_set || proc->pronargs > 0 || proc->provolatile == PROVOLATILE_STABLE);
	ReleaseSysCache(tuple);
	/* what a superuser has added is called, as he has seen it */
	return may && !dp_function_is_added(funcid);
}

/* Returns a copy without places in the text, which would be those of another text. */
static void *
without_places(const void *node)
{
	char	   *text = nodeToString(node);
	void	   *copy = stringToNode(text);

	pfree(text);
	return copy;
}

/* ------------------------------------------------------------------------
 * Calls in expressions
 * ------------------------------------------------------------------------
 */

typedef struct StandIns
{
	List	   *args;
	int		   *uses;
} StandIns;

static Param *
stand_in(Node *arg, int i)
{
	return dp_make(Param, .paramkind = PARAM_EXTERN, .paramid = FIRST_STAND_IN + i, .paramtype = exprType(arg),
				   .paramtypmod = exprTypmod(arg), .paramcollid = exprCollation(arg), .location = -1);
}

static bool
is_stand_in(Node *node)
{
	return IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXTERN && ((Param *) node)->paramid >= FIRST_STAND_IN;
}

static DpWalk
count_use(Node *node, int levels, StandIns *s)
{
	if (is_stand_in(node))
		s->uses[((Param *) node)->paramid - FIRST_STAND_IN]++;
	return DP_WALK_ON;
}

static Node *
put_argument(Node *node, int levels, const StandIns *s)
{
	return is_stand_in(node) ? copyObject(list_nth(s->args, ((Param *) node)->paramid - FIRST_STAND_IN)) : NULL;
}

/* Tells whether an argument means the same in the place of each of its uses. */
static bool
may_be_moved(Node *arg, int uses)
{
	char	   *text;
	bool		may;

	if (uses == 1)
		return true;
	if (contain_volatile_functions(arg) || checkExprHasSubLink(arg))
		return false;
	text = nodeToString(arg);

	may = uses == 0 || strlen(text) <= MOST_REPEATED;
	pfree(text);
	return may;
}

/* Returns what a call is inlined to, over its arguments, or the call. */
static Node *
inline_call(FuncExpr *call, InlineContext *c)
{
	StandIns	s = {call->args};
	FuncExpr   *asked = copyObject(call);
	Node	   *body;
	ListCell   *lc;

	foreach(lc, asked->args)
	{
		Node	   *arg = lfirst(lc);
		int			i = foreach_current_index(lc);

		if (IsA(arg, NamedArgExpr))
		{
			NamedArgExpr *named = copyObject((NamedArgExpr *) arg);

			named->arg = (Expr *) stand_in((Node *) named->arg, i);
			lfirst(lc) = named;
		}
		else
			lfirst(lc) = stand_in(arg, i);
	}
	body = eval_const_expressions(c->root, (Node *) asked);
	if (IsA(body, FuncExpr) && ((FuncExpr *) body)->funcid == call->funcid)
		return (Node *) call;
	s.uses = palloc0((list_length(s.args) + 1) * sizeof(int));
	(void) dp_walk(body, count_use, &s);
	foreach(lc, s.args)
	{
		if (IsA(lfirst(lc), NamedArgExpr))
			lfirst(lc) = ((NamedArgExpr *) lfirst(lc))->arg;
		if (!may_be_moved(lfirst(lc), s.uses[foreach_current_index(lc)]))
			return (Node *) call;
	}
	return dp_put(without_places(body), put_argument, &s);
}

/* ------------------------------------------------------------------------
 * Functions in FROM
 * ------------------------------------------------------------------------
 */

static void inline_in_query(Query *query, InlineContext *c);

/* Makes a function in FROM the subquery that it is inlined to, as the planner would. */
static void
inline_in_from(RangeTblEntry *rte, InlineContext *c)
{
	RangeTblFunction *function;
	Query	   *body;

	if (rte->rtekind != RTE_FUNCTION || list_length(rte->functions) != 1)
		return;
	function = linitial(rte->functions);
	if (!IsA(function->funcexpr, FuncExpr) || !may_be_inlined(((FuncExpr *) function->funcexpr)->funcid, true))
		return;
	body = dp_inline_in_from(c->root, rte);
	if (body == NULL)
		return;
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = without_places(body);
	rte->security_barrier = false;
	rte->functions = NIL;
	rte->funcordinality = false;
	inline_in_query(rte->subquery, c);
}

/* ------------------------------------------------------------------------
 * Queries
 * ------------------------------------------------------------------------
 */

static Node *
inline_mutator(Node *node, InlineContext *c)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Query))
	{
		Query	   *query = copyObject((Query *) node);

		inline_in_query(query, c);
		return (Node *) query;
	}
	/* which index is meant is told by its expressions as they are */
	if (IsA(node, OnConflictExpr))
	{
		OnConflictExpr *written = (OnConflictExpr *) node;
		OnConflictExpr *copy = (OnConflictExpr *) expression_tree_mutator(node, inline_mutator, c);

		copy->arbiterElems = written->arbiterElems;
		copy->arbiterWhere = written->arbiterWhere;
		return (Node *) copy;
	}
	node = expression_tree_mutator(node, inline_mutator, c);
	if (!c->in_from_only && IsA(node, FuncExpr) && may_be_inlined(((FuncExpr *) node)->funcid, false))
		return inline_call((FuncExpr *) node, c);
	if (!c->in_from_only && dp_is_bucket_of_array(node))
		return dp_bucket_as_cases((FuncExpr *) node);
	if (!c->in_from_only && dp_is_of_citext(node))
		return dp_citext_as_text(node, false);
	return node;
}

/* Inlines in a query and all below it, in place. */
static void
inline_in_query(Query *query, InlineContext *c)
{
	check_stack_depth();
	if (query->commandType == CMD_UTILITY)
		return;
	/* first the expressions, which may be a function's arguments */
	(void) query_tree_mutator(query, inline_mutator, c, QTW_DONT_COPY_QUERY);
	foreach_ptr(RangeTblEntry, rte, query->rtable)
		inline_in_from(rte, c);
}

static DpWalk
may_change(Node *node, int levels, const bool *in_from_only)
{
	if (IsA(node, FuncExpr) && may_be_inlined(((FuncExpr *) node)->funcid, ((FuncExpr *) node)->funcretset) &&
		(((FuncExpr *) node)->funcretset || !*in_from_only))
		return DP_WALK_STOP;
	return !*in_from_only && (dp_is_bucket_of_array(node) || dp_is_of_citext(node));
}

Query *
dp_inline_functions(Query *query, Oid *table, List **depends)
{
	InlineContext c = {makeNode(PlannerInfo), !OidIsValid(*table)};

	*depends = NIL;
	if (!dp_walk_all(query, may_change, &c.in_from_only))
		return NULL;
	c.root->glob = makeNode(PlannerGlobal);
	c.root->parse = makeNode(Query);
	query = copyObject(query);
	inline_in_query(query, &c);
	if (c.in_from_only)
	{
		*table = dp_query_touches_protected(query);
		if (!OidIsValid(*table))
			return NULL;
		c.in_from_only = false;
		inline_in_query(query, &c);
	}
	*depends = c.root->glob->invalItems;
	return query;
}
