/*-------------------------------------------------------------------------
 *
 * compat_plan.h
 *	  What differs between versions of PostgreSQL in planning and executing, a
 *	  part of compat.h.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_COMPAT_PLAN_H
#define DP_COMPAT_PLAN_H

#include "postgres.h"

#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "nodes/extensible.h"
#include "nodes/plannodes.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parse_relation.h"
#include "rewrite/rewriteManip.h"
#include "tcop/tcopprot.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#endif
#if PG_VERSION_NUM >= 190000
#include "access/htup_details.h"
#include "executor/instrument.h"
#include "optimizer/pathnode.h"
#include "utils/tuplestore.h"
#else
#include "optimizer/plancat.h"
#endif

#if PG_VERSION_NUM >= 160000
#include "access/sysattr.h"
#include "nodes/multibitmapset.h"
#endif

#define DP_CUSTOMPATH_PROJECTION CUSTOMPATH_SUPPORT_PROJECTION

/* Tells whether no row that satisfies a condition, or a list of them, has NULL in a column. */
static inline bool
dp_excludes_null(Node *condition, const Var *column)
{
	List	   *columns = find_nonnullable_vars(condition);

#if PG_VERSION_NUM >= 160000
	return mbms_is_member(column->varno, column->varattno - FirstLowInvalidHeapAttributeNumber, columns);
#else
	ListCell   *lc;

	foreach(lc, columns)
	{
		if (lfirst_node(Var, lc)->varno == column->varno && lfirst_node(Var, lc)->varattno == column->varattno)
			return true;
	}
	return false;
#endif
}

/* a planner, which from 19 on is told what EXPLAIN wants to know */
struct ExplainState;
#if PG_VERSION_NUM >= 190000
#define DP_PLANNER_ARGS Query *parse, const char *query_string, int cursorOptions, ParamListInfo boundParams, ExplainState *explain
#define DP_PLANNER_EXPLAIN explain
#define DP_CALL_PLANNER(planner, parse, string, options, params, explain) planner(parse, string, options, params, explain)
#define dp_plan_query(query, string, options, params) pg_plan_query(query, string, options, params, NULL)
#else
#define DP_PLANNER_ARGS Query *parse, const char *query_string, int cursorOptions, ParamListInfo boundParams
#define DP_PLANNER_EXPLAIN NULL
#define DP_CALL_PLANNER(planner, parse, string, options, params, explain) planner(parse, string, options, params)
#define dp_plan_query(query, string, options, params) pg_plan_query(query, string, options, params)
#endif

/* the hook that is called when the planner has read what is known of a table; DP_REL_RELID: which one, if it is a table */
#if PG_VERSION_NUM >= 190000
#define DP_REL_HOOK build_simple_rel_hook
#define DP_REL_HOOK_TYPE build_simple_rel_hook_type
#define DP_REL_HOOK_ARGS PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#define DP_REL_HOOK_CALL root, rel, rte
#define DP_REL_RELID (rte->rtekind == RTE_RELATION ? rte->relid : InvalidOid)
#else
#define DP_REL_HOOK get_relation_info_hook
#define DP_REL_HOOK_TYPE get_relation_info_hook_type
#define DP_REL_HOOK_ARGS PlannerInfo *root, Oid relid, bool inhparent, RelOptInfo *rel
#define DP_REL_HOOK_CALL root, relid, inhparent, rel
#define DP_REL_RELID relid
#endif

/* what an Append of these paths is made by, and what a nested loop costs at first */
#if PG_VERSION_NUM >= 190000
#define dp_append_path(root, rel, paths) \
	create_append_path(root, rel, (AppendPathInput) {.subpaths = paths}, NIL, NULL, 0, false, -1)
#define dp_initial_cost_nestloop(root, workspace, jointype, outer, inner, extra, partial) \
	initial_cost_nestloop(root, workspace, jointype, PGS_NESTLOOP_PLAIN | ((partial) ? 0 : PGS_CONSIDER_NONPARTIAL), outer, inner, extra)
#else
#define dp_append_path(root, rel, paths) create_append_path(root, rel, paths, NIL, NIL, NULL, 0, false, -1)
#define dp_initial_cost_nestloop(root, workspace, jointype, outer, inner, extra, partial) \
	initial_cost_nestloop(root, workspace, jointype, outer, inner, extra)
#endif

/* IGNORE NULLS or RESPECT NULLS was written after a function of a window, from 19 on */
#if PG_VERSION_NUM >= 190000
#define dp_has_null_treatment(function) ((function)->ignore_nulls != NO_NULLTREATMENT)
#else
#define dp_has_null_treatment(function) false
#endif

/* what the planner groups a level by, without keys that others decide (from 16 on) */
#if PG_VERSION_NUM >= 160000
#define DP_GROUP_CLAUSE(root) ((root)->processed_groupClause)
#else
#define DP_GROUP_CLAUSE(root) ((root)->parse->groupClause)
#endif

/* whether a constraint is checked at all, and whether it compares periods; NOT ENFORCED and PERIOD are new in 18 */
#if PG_VERSION_NUM >= 180000
#define dp_is_enforced_constraint(form) ((form)->conenforced)
#define dp_is_temporal_constraint(form) ((form)->conperiod)
#else
#define dp_is_enforced_constraint(form) true
#define dp_is_temporal_constraint(form) false
#endif

/* the relids of a level's whole FROM (from 16 on with those of its outer joins) */
#if PG_VERSION_NUM >= 160000
#define DP_ALL_RELIDS(root) ((root)->all_query_rels)
#else
#define DP_ALL_RELIDS(root) ((root)->all_baserels)
#endif

/* an expression over an entry of a FROM, in terms of what that entry's target list is made of; all of it is there */
static inline Node *
dp_replace_vars(Node *node, int varno, RangeTblEntry *entry, List *targetlist)
{
#if PG_VERSION_NUM >= 180000
	return ReplaceVarsFromTargetList(node, varno, 0, entry, targetlist, 0, REPLACEVARS_REPORT_ERROR, 0, NULL);
#else
	return ReplaceVarsFromTargetList(node, varno, 0, entry, targetlist, REPLACEVARS_REPORT_ERROR, 0, NULL);
#endif
}

/* a path over input is of a kind that a setting may have disabled; costs must be settled */
static inline void
dp_path_count_disabled(Path *path, const Path *input, bool enabled)
{
#if PG_VERSION_NUM >= 180000
	path->disabled_nodes = input->disabled_nodes + (enabled ? 0 : 1);
#else
	if (!enabled)
	{
		path->startup_cost += disable_cost;
		path->total_cost += disable_cost;
	}
#endif
}

/* counts another input's disabled nodes, too: before 18 its costs tell of them */
static inline void
dp_path_add_disabled(Path *path, const Path *input)
{
#if PG_VERSION_NUM >= 180000
	path->disabled_nodes += input->disabled_nodes;
#endif
}

/* moves inner's range table (and what it must be checked for) behind outer's */
static inline void
dp_append_range_table(PlannedStmt *outer, PlannedStmt *inner)
{
#if PG_VERSION_NUM >= 160000
	CombineRangeTables(&outer->rtable, &outer->permInfos, inner->rtable, inner->permInfos);
#else
	outer->rtable = list_concat(outer->rtable, inner->rtable);
#endif
}

/* moves the range table of a subquery, of which nothing else is left, behind a query's */
static inline void
dp_append_entries(Query *query, Query *sub)
{
#if PG_VERSION_NUM >= 160000
	CombineRangeTables(&query->rtable, &query->rteperminfos, sub->rtable, sub->rteperminfos);
#else
	query->rtable = list_concat(query->rtable, sub->rtable);
#endif
}

/* the Var is of the inner side of the outer join that is this entry; 0: of none */
static inline void
dp_set_nulled_by(Var *var, int join)
{
#if PG_VERSION_NUM >= 160000
	var->varnullingrels = join != 0 ? bms_make_singleton(join) : NULL;
#endif
}

/* returns a copy of an expression over entries of which an outer join, entry join, may have made NULLs */
static inline Node *
dp_nulled_by(Node *node, const Bitmapset *entries, int join)
{
#if PG_VERSION_NUM >= 160000
	return add_nulling_relids(node, entries, bms_make_singleton(join));
#else
	return copyObject(node);
#endif
}

/* columns of a query may not be NULL any more by an outer join, entry join, which is none now */
static inline void
dp_not_nulled_by(Query *query, int join)
{
#if PG_VERSION_NUM >= 160000
	Relids		none = bms_make_singleton(join);
	ListCell   *lc;

	query->targetList = (List *) remove_nulling_relids((Node *) query->targetList, none, NULL);
	query->havingQual = remove_nulling_relids(query->havingQual, none, NULL);
	query->jointree = (FromExpr *) remove_nulling_relids((Node *) query->jointree, none, NULL);
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		rte->functions = (List *) remove_nulling_relids((Node *) rte->functions, none, NULL);
	}
#endif
}

/* query reads rte with the rights of owner, who must hold SELECT */
static inline void
dp_set_read_permission(Query *query, RangeTblEntry *rte, Oid owner)
{
#if PG_VERSION_NUM >= 160000
	RTEPermissionInfo *info;

	rte->perminfoindex = 0;
	info = addRTEPermissionInfo(&query->rteperminfos, rte);
	info->requiredPerms = ACL_SELECT;
	info->checkAsUser = owner;
#else
	rte->requiredPerms = ACL_SELECT;
	rte->checkAsUser = owner;
#endif
}

/* an entry that is not read any more; keeps its place */
static inline void
dp_clear_rte(RangeTblEntry *rte)
{
	rte->rtekind = RTE_RESULT;
	rte->subquery = NULL;
	rte->ctename = NULL;
	rte->joinaliasvars = NIL;
	rte->values_lists = NIL;
	rte->relid = InvalidOid;
	rte->relkind = 0;
	rte->rellockmode = 0;
	rte->inh = false;
	rte->securityQuals = NIL;
#if PG_VERSION_NUM >= 160000
	rte->perminfoindex = 0;
#else
	rte->requiredPerms = 0;
	rte->checkAsUser = InvalidOid;
	rte->selectedCols = NULL;
	rte->insertedCols = NULL;
	rte->updatedCols = NULL;
	rte->extraUpdatedCols = NULL;
#endif
}

/* query takes over what must be checked for the entries that pstate has added */
static inline void
dp_take_added_permissions(Query *query, ParseState *pstate)
{
#if PG_VERSION_NUM >= 160000
	query->rteperminfos = pstate->p_rteperminfos;
#endif
}

/* query takes over an entry of another query, with what must be checked for it */
static inline void
dp_take_permissions(Query *query, RangeTblEntry *rte, Query *from)
{
#if PG_VERSION_NUM >= 160000
	if (rte->perminfoindex == 0)
		return;
	query->rteperminfos = lappend(query->rteperminfos,
								  copyObject(getRTEPermissionInfo(from->rteperminfos, rte)));
	rte->perminfoindex = list_length(query->rteperminfos);
#endif
}

/* when plan is executed, permissions are checked for its marked entries alone */
static inline void
dp_check_only_marked(PlannedStmt *plan, const char *mark)
{
	ListCell   *lc;
#if PG_VERSION_NUM >= 160000
	List	   *kept = NIL;
#endif

	foreach(lc, plan->rtable)
	{
		RangeTblEntry *rte = (RangeTblEntry *) lfirst(lc);
		bool		marked = rte->enrname != NULL && strcmp(rte->enrname, mark) == 0;

#if PG_VERSION_NUM >= 160000
		if (rte->perminfoindex == 0)
			continue;
		if (marked)
			kept = lappend(kept, getRTEPermissionInfo(plan->permInfos, rte));
		rte->perminfoindex = marked ? list_length(kept) : 0;
#else
		if (!marked)
			rte->requiredPerms = 0;
#endif
	}
#if PG_VERSION_NUM >= 160000
	plan->permInfos = kept;
#endif
}

/* the columns of an entry: Vars, and, with those that were dropped, constants for these */
static inline List *
dp_entry_columns(RangeTblEntry *rte, int rtindex, bool with_dropped)
{
	List	   *columns;

#if PG_VERSION_NUM >= 180000
	expandRTE(rte, rtindex, 0, VAR_RETURNING_DEFAULT, -1, with_dropped, NULL, &columns);
#else
	expandRTE(rte, rtindex, 0, -1, with_dropped, NULL, &columns);
#endif
	return columns;
}

#if PG_VERSION_NUM >= 180000
/* a query, and how many levels below it a walk is */
typedef struct DpGroupKeys
{
	Query	   *query;
	Index		below;
} DpGroupKeys;

/* Vars of group keys have no position of their own: give them that of the key */
static inline bool
dp_locate_group_keys(Node *node, void *context)
{
	DpGroupKeys *keys = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == keys->below)
	{
		Var		   *var = (Var *) node;
		RangeTblEntry *rte = rt_fetch(var->varno, keys->query->rtable);

		if (rte->rtekind == RTE_GROUP && var->location < 0)
			var->location = exprLocation(list_nth(rte->groupexprs, var->varattno - 1));
	}
	if (IsA(node, Query))
	{
		DpGroupKeys below = {keys->query, keys->below + 1};

		return query_tree_walker((Query *) node, dp_locate_group_keys, &below, 0);
	}
	return expression_tree_walker(node, dp_locate_group_keys, context);
}
#endif

/*
 * From 18 on, group keys are columns of a range table entry of their own.
 * Puts the keys' expressions back in the places where they are used.
 */
static inline void
dp_flatten_group_keys(Query *query)
{
#if PG_VERSION_NUM >= 180000
	DpGroupKeys keys = {query, 0};
	ListCell   *lc;

	if (!query->hasGroupRTE)
		return;
	dp_locate_group_keys((Node *) query->targetList, &keys);
	dp_locate_group_keys(query->havingQual, &keys);
	query->targetList = (List *) flatten_group_exprs(NULL, query, (Node *) query->targetList);
	query->havingQual = flatten_group_exprs(NULL, query, query->havingQual);
	query->hasGroupRTE = false;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);

		if (rte->rtekind == RTE_GROUP)
		{
			rte->rtekind = RTE_RESULT;
			rte->groupexprs = NIL;
		}
	}
#endif
}

/* the permissions of a query's entries, for a copy of its range table */
static inline void
dp_copy_permissions(Query *to, Query *from)
{
#if PG_VERSION_NUM >= 160000
	to->rteperminfos = (List *) copyObject(from->rteperminfos);
#endif
}

/* moves permissions to a query that takes over the other's range table itself */
static inline void
dp_move_permissions(Query *to, Query *from)
{
#if PG_VERSION_NUM >= 160000
	to->rteperminfos = from->rteperminfos;
#endif
}

static inline void
dp_forget_permissions(Query *query)
{
#if PG_VERSION_NUM >= 160000
	query->rteperminfos = NIL;
#endif
}

/* forgets which columns of an entry of query are read, as far as privileges go */
static inline void
dp_forget_columns(Query *query, RangeTblEntry *rte)
{
#if PG_VERSION_NUM >= 160000
	if (rte->perminfoindex != 0)
		getRTEPermissionInfo(query->rteperminfos, rte)->selectedCols = NULL;
#else
	rte->selectedCols = NULL;
#endif
}

/* copies the privileges to be checked for an entry to one that takes its place */
static inline void
dp_keep_permissions(RangeTblEntry *to, RangeTblEntry *from)
{
#if PG_VERSION_NUM >= 160000
	to->perminfoindex = from->perminfoindex;
#else
	to->requiredPerms = from->requiredPerms;
	to->checkAsUser = from->checkAsUser;
	to->selectedCols = from->selectedCols;
	to->insertedCols = from->insertedCols;
	to->updatedCols = from->updatedCols;
	to->extraUpdatedCols = from->extraUpdatedCols;
#endif
}

/* names user as the role that is checked where it would be whoever runs the query */
static inline void
dp_check_permissions_as(Query *query, Oid user)
{
	ListCell   *lc;

#if PG_VERSION_NUM >= 160000
	foreach(lc, query->rteperminfos)
	{
		RTEPermissionInfo *info = (RTEPermissionInfo *) lfirst(lc);

		if (!OidIsValid(info->checkAsUser))
			info->checkAsUser = user;
	}
#else
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = (RangeTblEntry *) lfirst(lc);

		if (!OidIsValid(rte->checkAsUser))
			rte->checkAsUser = user;
	}
#endif
}

/*
 * Checks the privileges on the views of a query, as the planner of some minor
 * versions does: there the error would be taken for one of the inner query.
 */
static inline void
dp_check_view_permissions(Query *query)
{
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = (RangeTblEntry *) lfirst(lc);

#if PG_VERSION_NUM >= 160000
		/* it checks all that are in the list */
		if (rte->rtekind == RTE_SUBQUERY && rte->perminfoindex != 0)
		{
			RangeTblEntry view = *rte;

			view.perminfoindex = 1;
			(void) ExecCheckPermissions(list_make1(&view),
										list_make1(getRTEPermissionInfo(query->rteperminfos, rte)), true);
		}
#else
		if (rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_VIEW)
			(void) ExecCheckRTPerms(list_make1(rte), true);
#endif
	}
}

/* returns the role as which an entry is read; InvalidOid: whoever asks */
static inline Oid
dp_check_as_user(Query *query, RangeTblEntry *rte)
{
#if PG_VERSION_NUM >= 160000
	if (rte->perminfoindex == 0)
		return InvalidOid;
	return getRTEPermissionInfo(query->rteperminfos, rte)->checkAsUser;
#else
	return rte->checkAsUser;
#endif
}

/* tells whether the executor will check SELECT on an entry */
static inline bool
dp_is_selected(Query *query, RangeTblEntry *rte)
{
#if PG_VERSION_NUM >= 160000
	return rte->perminfoindex != 0 &&
		(getRTEPermissionInfo(query->rteperminfos, rte)->requiredPerms & ACL_SELECT) != 0;
#else
	return (rte->requiredPerms & ACL_SELECT) != 0;
#endif
}

/* numbers of the columns that SELECT is checked on, offset by FirstLowInvalidHeapAttributeNumber */
static inline Bitmapset *
dp_selected_columns(Query *query, RangeTblEntry *rte)
{
#if PG_VERSION_NUM >= 160000
	return getRTEPermissionInfo(query->rteperminfos, rte)->selectedCols;
#else
	return rte->selectedCols;
#endif
}

static inline void
dp_set_selected_columns(Query *query, RangeTblEntry *rte, Bitmapset *columns)
{
#if PG_VERSION_NUM >= 160000
	getRTEPermissionInfo(query->rteperminfos, rte)->selectedCols = columns;
#else
	rte->selectedCols = columns;
#endif
}

/* numbers of the columns that an INSERT names, offset by FirstLowInvalidHeapAttributeNumber */
static inline Bitmapset *
dp_inserted_columns(Query *query, RangeTblEntry *rte)
{
#if PG_VERSION_NUM >= 160000
	return getRTEPermissionInfo(query->rteperminfos, rte)->insertedCols;
#else
	return rte->insertedCols;
#endif
}

/* returns the expression behind a column of the entry for group keys, from 18 on */
static inline Node *
dp_group_expression(RangeTblEntry *rte, Var *var)
{
#if PG_VERSION_NUM >= 180000
	if (rte->rtekind == RTE_GROUP && var->varattno > 0)
		return (Node *) list_nth(rte->groupexprs, var->varattno - 1);
#endif
	return NULL;
}

/* Vars of joins become what they stand for */
static inline Node *
dp_flatten_joins(Query *query, Node *node)
{
#if PG_VERSION_NUM >= 160000
	return flatten_join_alias_vars(NULL, query, node);
#else
	return flatten_join_alias_vars(query, node);
#endif
}

/* the queries that a parsed statement without parameters stands for */
static inline List *
dp_analyze(RawStmt *statement, const char *text)
{
	return pg_analyze_and_rewrite_fixedparams(statement, text, NULL, 0, NULL);
}

/* permissions that an executor start is about to check; UPDATE and DELETE tell of rows by their command tag */
#define DP_ACL_READ (ACL_SELECT | ACL_UPDATE | ACL_DELETE)
#if PG_VERSION_NUM >= 160000
#define DP_CHECK_PERMS_ARGS List *rangeTable, List *rteperminfos, bool ereport_on_violation
#define DP_CHECK_PERMS_CALL rangeTable, rteperminfos, ereport_on_violation
#define DP_RTE_IS_READ(rte) \
	((rte)->perminfoindex != 0 && \
	 (getRTEPermissionInfo(rteperminfos, rte)->requiredPerms & DP_ACL_READ) != 0)
#define DP_RTE_SELECTED(rte) ((rte)->perminfoindex != 0 ? getRTEPermissionInfo(rteperminfos, rte)->selectedCols : NULL)
#else
#define DP_CHECK_PERMS_ARGS List *rangeTable, bool ereport_on_violation
#define DP_CHECK_PERMS_CALL rangeTable, ereport_on_violation
#define DP_RTE_IS_READ(rte) (((rte)->requiredPerms & DP_ACL_READ) != 0)
#define DP_RTE_SELECTED(rte) ((rte)->selectedCols)
#endif

#if PG_VERSION_NUM >= 180000
#define DP_EXECUTOR_RUN(desc) ExecutorRun(desc, ForwardScanDirection, 0)
#define DP_EXECUTOR_RUN_ARGS QueryDesc *desc, ScanDirection direction, uint64 count
#define DP_EXECUTOR_RUN_CALL desc, direction, count
#else
#define DP_EXECUTOR_RUN_ARGS QueryDesc *desc, ScanDirection direction, uint64 count, bool execute_once
#define DP_EXECUTOR_RUN_CALL desc, direction, count, execute_once
#define DP_EXECUTOR_RUN(desc) ExecutorRun(desc, ForwardScanDirection, 0, true)
#endif

#if PG_VERSION_NUM >= 180000
#include "storage/aio_subsys.h"
#endif

/* after an error in the middle of reading, before anything else is read; the end of the transaction does the same */
static inline void
dp_forget_reads(void)
{
#if PG_VERSION_NUM >= 180000
	pgaio_error_cleanup();
#endif
}

/* the workers of a run, which the end of its executor would add to pg_stat_database */
static inline void
dp_forget_workers(EState *estate)
{
#if PG_VERSION_NUM >= 180000
	estate->es_parallel_workers_to_launch = 0;
	estate->es_parallel_workers_launched = 0;
#endif
}

#endif							/* DP_COMPAT_PLAN_H */
