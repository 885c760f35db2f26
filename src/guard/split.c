/*-------------------------------------------------------------------------
 *
 * split.c
 *	  Splits each level of a query that aggregates protected rows.
 *
 * Invariants:
 * - After dp_split_query no level of the query reads a protected table that
 *	 the calling roles may not read in plain SQL.
 * - What reaches the inner query is: one range table entry, and expressions
 *	 that the allow-list has passed.  Nothing of it refers to other levels.
 * - The outer query sees released keys and values as columns of one range
 *	 table entry; every other expression is post-processing of those.
 * - Whatever is not recognised raises ZC002 with its position.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"
#include "guard/level.h"
#include "guc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------------
 * Finding
 * ------------------------------------------------------------------------
 */

bool
dp_is_protected(RangeTblEntry *rte)
{
	return rte->rtekind == RTE_RELATION && rte->relkind != RELKIND_VIEW &&
		dp_policy_table(rte->relid) != NULL;
}

static bool
touches_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return dp_is_protected((RangeTblEntry *) node) ||
			OidIsValid(dp_table_of_sequence((RangeTblEntry *) node));
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, touches_walker, context, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, touches_walker, context);
}

/* most queries have no subquery below an expression: look at those only where there is one */
static bool
touches_quickly(Query *query, bool *undecided)
{
	ListCell   *lc;

	if (query->hasSubLinks || query->cteList != NIL || query->utilityStmt != NULL)
		*undecided = true;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);

		if (dp_is_protected(rte) || OidIsValid(dp_table_of_sequence(rte)))
			return true;
		if (rte->rtekind == RTE_SUBQUERY)
			if (touches_quickly(rte->subquery, undecided))
				return true;
	}
	return false;
}

bool
dp_query_touches_protected(Query *query)
{
	bool		undecided = false;

	return touches_quickly(query, &undecided) ||
		(undecided && touches_walker((Node *) query, NULL));
}

/* ------------------------------------------------------------------------
 * Aggregates of one level
 * ------------------------------------------------------------------------
 */

typedef struct CollectContext
{
	DpSplitContext *cxt;
	bool		standard;		/* count and sum are private, too */
	int			sublevels;
	List	   *aggs;
	Aggref	   *first;			/* the first that is private */
	Aggref	   *other;			/* the first that is not */
} CollectContext;

static bool
collect_walker(Node *node, CollectContext *c)
{
	DpSplitContext *cxt = c->cxt;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == c->sublevels)
	{
		Aggref	   *agg = copyObject((Aggref *) node);

		IncrementVarSublevelsUp((Node *) agg, -c->sublevels, 0);
		if (dp_aggregate_kind(agg->aggfnoid, c->standard) == DP_AGG_NONE)
		{
			if (c->other == NULL)
				c->other = (Aggref *) node;
		}
		else if (c->first == NULL)
			c->first = (Aggref *) node;
		if (!list_member(c->aggs, agg))
			c->aggs = lappend(c->aggs, agg);
		return false;
	}
	if (IsA(node, WindowFunc) && dp_aggregate_kind(((WindowFunc *) node)->winfnoid, false) != DP_AGG_NONE)
		dp_refuse_at(((WindowFunc *) node)->location,
				  errmsg("private aggregates cannot be window functions; "
						 "release them with GROUP BY in a subquery and use a window over its rows"));
	if (IsA(node, Query))
	{
		bool		result;

		c->sublevels++;
		result = query_tree_walker((Query *) node, collect_walker, c, 0);
		c->sublevels--;
		return result;
	}
	return expression_tree_walker(node, collect_walker, c);
}

static void
collect_aggregates(Query *query, CollectContext *c)
{
	collect_walker((Node *) query->targetList, c);
	collect_walker(query->havingQual, c);
}

/* ------------------------------------------------------------------------
 * Shape of the level
 * ------------------------------------------------------------------------
 */

static bool
location_walker(Node *node, Var *found)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->varno == found->varno &&
		((Var *) node)->varlevelsup == 0 && ((Var *) node)->location >= 0)
	{
		found->location = ((Var *) node)->location;
		return true;
	}
	return expression_tree_walker(node, location_walker, found);
}

/* where the level names the table, as well as parsed queries know it */
static int
level_location(Query *query, Index rti)
{
	Var			found = {.varno = rti,.location = -1};

	if (location_walker((Node *) query->targetList, &found) ||
		(query->jointree && location_walker(query->jointree->quals, &found)))
		return found.location;
	return exprLocation((Node *) query->targetList);
}

static void
check_shape(DpLevel *level)
{
	int			where = level_location(level->query, level->rti);
	DpSplitContext *cxt = level->cxt;
	Query	   *query = level->query;
	FromExpr   *from = query->jointree;
	RangeTblEntry *rte = level->rte;

	if (query->commandType != CMD_SELECT)
		dp_refuse_at(where, errmsg("private aggregates can be used in SELECT only"));
	if (query->hasModifyingCTE || query->hasRecursive)
		dp_refuse_at(where, errmsg("a query of private aggregates cannot contain WITH RECURSIVE or a WITH clause that modifies data; "
							 "release in a query of its own"));
	if (query->rowMarks)
		dp_refuse_at(where, errmsg("FOR UPDATE and FOR SHARE are not possible on protected tables; leave the clause out"));
	if (query->setOperations)
		dp_refuse_at(where, errmsg("private aggregates cannot be at the level of a set operation; put each in a subquery"));
	if (query->groupingSets)
		dp_refuse_at(((GroupingSet *) linitial(query->groupingSets))->location,
					 errmsg("GROUPING SETS, ROLLUP and CUBE are not releasable over protected tables; "
							 "send one query for each set of keys"));
	if (list_length(from->fromlist) != 1 || !IsA(linitial(from->fromlist), RangeTblRef))
		dp_refuse_at(where, errmsg("private aggregates read one protected table; "
							 "joins with \"%s\" are not releasable, join the released rows instead",
							 get_rel_name(rte->relid)));
	if (((RangeTblRef *) linitial(from->fromlist))->rtindex != level->rti)
		dp_refuse_at(where, errmsg("private aggregates must read the protected table \"%s\" directly",
							 get_rel_name(rte->relid)));
	if (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_PARTITIONED_TABLE)
		dp_refuse_at(where, errmsg("\"%s\" is neither a table nor a partitioned table", get_rel_name(rte->relid)));
	if (rte->tablesample)
		dp_refuse_at(where, errmsg("TABLESAMPLE is not releasable over protected tables; leave the clause out"));
}

/* ------------------------------------------------------------------------
 * One level
 * ------------------------------------------------------------------------
 */

static void
split_level(DpSplitContext *cxt, Query *query, Index rti, CollectContext *collected)
{
	DpLevel		level = {.cxt = cxt,.query = query,.rti = rti};
	DpAllowContext allow = {0};
	const DpTable *table;
	ListCell   *lc;

	level.rte = rt_fetch(rti, query->rtable);
	table = dp_policy_table(level.rte->relid);
	check_shape(&level);
	dp_flatten_group_keys(query);
	if (collected->other != NULL)
	{
		Aggref	   *other = collected->other;

		dp_refuse_at(other->location,
				  errmsg("%s is exact and cannot be released over protected table \"%s\"; use dp_count or dp_sum",
						 get_func_name(other->aggfnoid), get_rel_name(level.rte->relid)));
	}

	level.release = dp_make_release();
	level.release->name = dp_release_new_name();
	level.release->dataset = pstrdup(table->dataset);
	level.release->relid = level.rte->relid;
	level.release->has_unit = table->has_unit;
	level.release->first_param = cxt->next_param;
	if (table->has_unit)
	{
		level.parts.unit = get_attnum(level.rte->relid, table->unit);
		if (level.parts.unit <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_DP_BAD_PARAMETER),
					 errmsg("the privacy unit of table \"%s\" is missing; "
							"its owner must protect it anew with dp_cdp.protect_table",
							get_rel_name(level.rte->relid))));
	}

	allow.rtindexes = bms_make_singleton(rti);
	allow.rtable = query->rtable;
	allow.source_text = cxt->source_text;

	dp_add_keys(&level, &allow);
	level.aggs = collected->aggs;
	foreach(lc, level.aggs)
	{
		level.agg_columns = lappend_int(level.agg_columns,
										list_length(level.release->keys) +
										list_length(level.release->columns) + 1);
		dp_add_aggregate(&level, lfirst(lc), &allow);
	}
	dp_add_key_selection(&level);
	if (list_length(level.release->keys) > DP_MAX_KEYS ||
		list_length(level.release->columns) > DP_MAX_VALUES)
		dp_refuse_at(-1, errmsg("a query releases at most %d private aggregates by %d keys; split it",
							 DP_MAX_VALUES, DP_MAX_KEYS));
	if (query->jointree->quals)
	{
		dp_allow_expr(query->jointree->quals, &allow);
		level.parts.quals = dp_inner_expression(&level, query->jointree->quals);
	}
	cxt->next_param += table->has_unit ? 1 : list_length(level.release->columns);

	level.parts.rte = copyObject(level.rte);
	level.parts.rte->securityQuals = NIL;
	level.parts.rte->lateral = false;
	level.parts.rte->enrname = pstrdup(DP_INNER_MARK);
	level.release->inner_query = dp_build_inner_query(level.release, &level.parts);
	dp_rewrite_outer(&level);
	cxt->releases = lappend(cxt->releases, level.release);
}

static void
refuse_raw(DpSplitContext *cxt, Query *query, Index rti, CollectContext *collected)
{
	const char *name = get_rel_name(rt_fetch(rti, query->rtable)->relid);

	if (collected->other != NULL)
		dp_refuse_at(collected->other->location,
				  errmsg("%s is exact and cannot be released over protected table \"%s\"; use dp_count or dp_sum",
						 get_func_name(collected->other->aggfnoid), name));
	dp_refuse_at(level_location(query, rti),
			  errmsg("permission denied for rows of protected table \"%s\"; "
					 "ask for private aggregates, such as SELECT dp_count(*) FROM %s", name,
					 quote_identifier(name)));
}

/* UPDATE, DELETE and MERGE tell by their command tag how many rows match */
static void
check_target_of_change(DpSplitContext *cxt, Query *query)
{
	RangeTblEntry *rte;

	if (query->resultRelation == 0)
		return;
	rte = rt_fetch(query->resultRelation, query->rtable);
	if (!dp_is_protected(rte) || dp_may_read(rte->relid))
		return;
	if (query->commandType == CMD_INSERT && query->onConflict == NULL && query->returningList == NIL)
		return;
	dp_refuse_at(-1,
			  errmsg("rows of protected table \"%s\" can be changed only by roles that may read them; "
					 "plain INSERT is possible with INSERT privilege", get_rel_name(rte->relid)));
}

/*
 * A level that asks for the distinct values of columns, by GROUP BY without
 * an aggregate or by DISTINCT, is a private selection of keys.  DISTINCT is
 * put into the form of GROUP BY.
 */
static bool
selects_keys(Query *query)
{
	if (query->commandType != CMD_SELECT || query->hasAggs)
		return false;
	if (query->groupClause != NIL)
		return true;
	if (query->distinctClause == NIL || query->hasDistinctOn || query->hasWindowFuncs ||
		query->hasTargetSRFs || query->havingQual != NULL)
		return false;
	query->groupClause = query->distinctClause;
	query->distinctClause = NIL;
	return true;
}

static void
check_sequences(DpSplitContext *cxt, Query *query)
{
	Index		rti = 0;
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		Oid			table = dp_table_of_sequence(lfirst(lc));

		rti++;
		if (OidIsValid(table) && !dp_may_read(table))
			dp_refuse_at(level_location(query, rti),
						 errmsg("permission denied for sequence \"%s\" of protected table \"%s\"; "
								"ask for private aggregates, such as dp_count(*)",
								get_rel_name(((RangeTblEntry *) lfirst(lc))->relid), get_rel_name(table)));
	}
}

static void
process_level(DpSplitContext *cxt, Query *query)
{
	CollectContext collected = {.cxt = cxt};
	bool		readable = true;
	Index		rti = 0;
	Index		i = 0;
	ListCell   *lc;

	if (query->commandType == CMD_UTILITY)
		return;
	check_target_of_change(cxt, query);
	check_sequences(cxt, query);
	foreach(lc, query->rtable)
	{
		i++;
		if (dp_is_protected(lfirst(lc)) && i != query->resultRelation && readable)
		{
			rti = i;
			readable = dp_may_read(((RangeTblEntry *) lfirst(lc))->relid);
		}
	}
	collected.standard = rti != 0 && !readable && dp_guc_standard_aggregates;
	collect_aggregates(query, &collected);
	if (rti == 0)
	{
		if (collected.first != NULL)
			dp_refuse_at(collected.first->location,
						 errmsg("private aggregates must read a protected table directly, not a subquery or an unprotected table"));
	}
	else if (collected.first != NULL || (!readable && selects_keys(query)))
		split_level(cxt, query, rti, &collected);
	else if (!readable)
		refuse_raw(cxt, query, rti, &collected);
}

static bool
aggregates_privately(DpSplitContext *cxt, Query *query)
{
	CollectContext collected = {.cxt = cxt};

	if (query->hasAggs)
		collect_aggregates(query, &collected);
	return collected.first != NULL;
}

static bool
split_walker(Node *node, void *context)
{
	DpSplitContext *cxt = context;

	if (node == NULL)
		return false;
	if (IsA(node, CommonTableExpr))
	{
		CommonTableExpr *cte = (CommonTableExpr *) node;
		int			before = list_length(cxt->releases);

		split_walker(cte->ctequery, context);
		/* one release, however often the CTE is referenced */
		if (list_length(cxt->releases) > before)
			cte->ctematerialized = CTEMaterializeAlways;
		return false;
	}
	if (IsA(node, Query))
	{
		check_stack_depth();
		dp_blank_probe((Query *) node);
		dp_pull_up((Query *) node, aggregates_privately(cxt, (Query *) node));
		query_tree_walker((Query *) node, split_walker, context, 0);
		process_level(cxt, (Query *) node);
		return false;
	}
	return expression_tree_walker(node, split_walker, context);
}

void
dp_split_query(Query *query, DpSplitContext *cxt)
{
	split_walker((Node *) query, cxt);
}
