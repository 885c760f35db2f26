/*-------------------------------------------------------------------------
 *
 * with_query.c
 *	  WITH queries: each reference from a private level becomes a copy.
 *
 * A level is released with all that it reads, so that a WITH query over
 * protected rows is not computed once for several levels.  What nothing names
 * any more afterwards is dropped.
 *
 * Invariants: nothing is released twice, or computed twice with another
 * result, because of a copy; and copies cannot multiply without limit.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "guard/read/read.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"

/* the most copies in one level: references to WITH queries may double at every step */
#define DP_MAX_CTE_COPIES 200

/* a WITH query and the columns that all of its copies in a level have */
typedef struct DpCopiedQuery
{
	CommonTableExpr *cte;
	Bitmapset  *columns;
} DpCopiedQuery;

/* Tells whether a query puts rows in order: by windows, or by DISTINCT ON. */
static DpWalk
orders_rows(Node *node, int levels, void *context)
{
	return IsA(node, Query) && (((Query *) node)->hasWindowFuncs || ((Query *) node)->hasDistinctOn);
}

static Bitmapset *
all_columns(Query *query)
{
	Bitmapset  *columns = NULL;

	foreach_node(TargetEntry, tle, query->targetList)
	{
		if (!tle->resjunk)
			columns = bms_add_member(columns, tle->resno);
	}
	return columns;
}

/*
 * Equal rows are ordered by all that a copy has of them, so that copies of one
 * WITH query, of which SQL makes one, have the same columns: a row has one
 * number.  References are looked for before the first of them becomes a copy.
 */
const Bitmapset *
dp_columns_of_copy(DpSource *s, DpScope *scope, RangeTblEntry *rte, const Bitmapset *columns)
{
	DpScope    *owner;
	CommonTableExpr *cte = dp_find_cte(scope, rte, &owner);
	DpCopiedQuery *copied;

	if (cte == NULL || cte->cterefcount < 2)
		return columns;
	foreach_ptr(DpCopiedQuery, item, s->copied)
	{
		if (item->cte == cte)
			return bms_union(columns, item->columns);
	}
	copied = palloc0(sizeof(DpCopiedQuery));
	copied->cte = cte;
	if (dp_walk_all(owner->query, orders_rows, NULL) && !dp_add_columns_of_cte(owner, cte, &copied->columns))
		copied->columns = all_columns((Query *) cte->ctequery);
	s->copied = lappend(s->copied, copied);
	return bms_union(columns, copied->columns);
}

/*
 * Tells whether rows of a query are those of units by nothing that is released
 * or computed first on the way: copies of it read the same rows wherever they stand.
 */
static bool
only_reads_rows(DpSource *s, DpScope *scope)
{
	Query	   *query = scope->query;

	check_stack_depth();
	if (query->hasSubLinks || query->setOperations)
		return false;
	foreach_ptr(RangeTblEntry, rte, query->rtable)
	{
		CommonTableExpr *cte;
		DpScope    *owner = scope;
		DpScope		below = {NULL, scope};

		if (rte->rtekind == RTE_SUBQUERY)
			below.query = rte->subquery;
		else if (rte->rtekind == RTE_CTE)
		{
			if ((cte = dp_find_cte(scope, rte, &owner)) == NULL)
				return false;
			below = (DpScope)
			{
				(Query *) cte->ctequery, owner
			};
		}
		else
			continue;
		if (OidIsValid(dp_query_touches_protected(below.query)) &&
			(!dp_entry_yields_rows(scope, rte, s->even_if_readable) || !only_reads_rows(s, &below)))
			return false;
	}
	return true;
}

/* Tells whether a WITH query that a query computed beforehand refers to must not be copied: it is a release, or has one in it. */
static bool
is_released(DpSource *s, DpScope *scope, RangeTblEntry *rte, CommonTableExpr *cte, DpScope *owner)
{
	DpScope		of_cte = {(Query *) cte->ctequery, owner};

	return OidIsValid(dp_query_touches_protected(of_cte.query)) &&
		!(dp_entry_yields_rows(scope, rte, s->even_if_readable) && only_reads_rows(s, &of_cte));
}

void
dp_copy_cte(RangeTblEntry *rte, const CommonTableExpr *cte)
{
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = copyObject((Query *) cte->ctequery);
	IncrementVarSublevelsUp((Node *) rte->subquery, rte->ctelevelsup, 1);
	rte->ctename = NULL;
	rte->ctelevelsup = 0;
	rte->coltypes = rte->coltypmods = rte->colcollations = NIL;
}

void
dp_inline_cte(DpSource *s, DpScope *scope, RangeTblEntry *rte, bool beforehand)
{
	DpSplitContext *cxt = s->cxt;
	DpScope    *owner;
	CommonTableExpr *cte = dp_find_cte(scope, rte, &owner);
	bool		again;

	if (cte == NULL)
		dp_refuse_at(s->level->where, errmsg("WITH query \"%s\" is recursive or changes data and cannot be joined with protected rows; "
											 "store its rows in a temporary table first", rte->ctename));
	again = cte->cterefcount > 1 || list_member_ptr(s->inlined, cte);
	if (again && beforehand && is_released(s, scope, rte, cte, owner))
		dp_refuse_at(s->level->where, errmsg("WITH query \"%s\" is joined with protected rows, and would be released more than once; name it once, in FROM, or store its rows in a temporary table first", rte->ctename));
	if (again && contain_volatile_functions(cte->ctequery))
		dp_refuse_at(s->level->where, errmsg("WITH query \"%s\" is joined with protected rows, and would be computed more than once; store its rows in a temporary table first", rte->ctename),
					 errdetail("It may have other rows each time."));
	if (list_length(s->inlined) >= DP_MAX_CTE_COPIES)
		dp_refuse_at(s->level->where, errmsg("more than %d references to WITH queries are joined with protected rows; store some in a temporary table first", DP_MAX_CTE_COPIES));
	s->inlined = lappend(s->inlined, cte);
	dp_copy_cte(rte, cte);
}

typedef struct InlineContext
{
	DpSource   *s;
	DpScope    *scope;			/* of the level that is walked */
	int			depth;			/* of that level below the entry's own */
} InlineContext;

static bool
inline_walker(Node *node, InlineContext *c)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		if (rte->rtekind == RTE_CTE && rte->ctelevelsup >= c->depth)
			dp_inline_cte(c->s, c->scope, rte, true);
		return false;
	}
	if (IsA(node, Query))
	{
		DpScope		inner = {(Query *) node, c->scope};
		InlineContext deeper = {c->s, &inner, c->depth + 1};

		check_stack_depth();
		return query_tree_walker((Query *) node, inline_walker, &deeper, QTW_EXAMINE_RTES_BEFORE);
	}
	return expression_tree_walker(node, inline_walker, c);
}

void
dp_inline_ctes_of(DpSource *s, DpScope *scope, Node *node)
{
	InlineContext c = {s, scope, 0};

	inline_walker(node, &c);
}

/* ------------------------------------------------------------------------
 * What is left of them
 * ------------------------------------------------------------------------
 */

static DpWalk
is_reference(Node *node, int levels, const char *name)
{
	const RangeTblEntry *rte = (const RangeTblEntry *) node;

	return IsA(node, RangeTblEntry) && rte->rtekind == RTE_CTE && rte->ctelevelsup == levels && strcmp(rte->ctename, name) == 0;
}

bool
dp_keep_cte(Query *query, CommonTableExpr *cte)
{
	Query		without = *query;

	without.cteList = NIL;
	/* PostgreSQL runs one that nobody refers to only where it writes */
	if (cte->cterefcount == 0)
		return ((Query *) cte->ctequery)->commandType != CMD_SELECT;
	if (dp_walk_all(&without, is_reference, cte->ctename))
		return true;
	foreach_ptr(CommonTableExpr, other, query->cteList)
	{
		if (other != cte && other->cterefcount > 0 && dp_walk_all(list_make1(other->ctequery), is_reference, cte->ctename))
			return true;
	}
	if (((Query *) cte->ctequery)->commandType == CMD_SELECT)
		cte->cterefcount = 0;
	return cte->cterefcount > 0;
}
