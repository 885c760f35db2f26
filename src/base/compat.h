/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  The only place that knows the differences between PostgreSQL versions
 *	  15 to 19.  In 14 a type modifier of numeric can be an error oracle.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_COMPAT_H
#define DP_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000
#error "dp_cdp needs PostgreSQL 15 or newer"
#endif

/* --- planning and executing releases --- */

#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "nodes/extensible.h"
#include "nodes/plannodes.h"
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

#define DP_CUSTOMPATH_PROJECTION CUSTOMPATH_SUPPORT_PROJECTION

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
#else
#define DP_CHECK_PERMS_ARGS List *rangeTable, bool ereport_on_violation
#define DP_CHECK_PERMS_CALL rangeTable, ereport_on_violation
#define DP_RTE_IS_READ(rte) (((rte)->requiredPerms & DP_ACL_READ) != 0)
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

/* --- the ledger: shared memory, processes, wait events, timelines, writing rows --- */

#include "access/tableam.h"
#include "access/xlog.h"
#if PG_VERSION_NUM >= 150000
#include "access/xlogrecovery.h"
#endif
#include "catalog/dependency.h"
#include "catalog/pg_extension.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "replication/walsender.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/rel.h"
#include "utils/wait_event.h"

static inline int
dp_max_backends(void)
{
	return MaxBackends;
}

/* defines install(), for _PG_init, which has request() called when shared memory is sized */
#define DP_DEFINE_SHMEM_REQUEST(install, request) \
static shmem_request_hook_type prev_##request = NULL; \
static void \
hooked_##request(void) \
{ \
	if (prev_##request) \
		prev_##request(); \
	request(); \
} \
static void \
install(void) \
{ \
	prev_##request = shmem_request_hook; \
	shmem_request_hook = hooked_##request; \
} \
extern int dp_no_such_variable

/* a timeout that not every version has, or one that all have */
#if PG_VERSION_NUM >= 170000
#define DP_TRANSACTION_TIMEOUT "transaction_timeout"
#else
#define DP_TRANSACTION_TIMEOUT "statement_timeout"
#endif

/* the process's place among all processes, below MaxBackends */
static inline int
dp_my_proc_number(void)
{
#if PG_VERSION_NUM >= 170000
	return MyProcNumber;
#else
	return MyProc->pgprocno;
#endif
}

/* returns the event that pg_stat_activity shows while a debit is waited for */
static inline uint32
dp_wait_event(void)
{
#if PG_VERSION_NUM >= 170000
	static uint32 event = 0;

	if (event == 0)
		event = WaitEventExtensionNew("DpCdpLedger");
	return event;
#else
	return PG_WAIT_EXTENSION;
#endif
}

/* returns the timeline; not to be called during recovery */
static inline TimeLineID
dp_current_timeline(void)
{
	return GetWALInsertionTimeLine();
}

/* returns the timeline that a standby replays */
static inline TimeLineID
dp_replayed_timeline(void)
{
	TimeLineID	timeline;

	(void) GetXLogReplayRecPtr(&timeline);
	return timeline;
}

static inline bool
dp_owns_extension(Oid extension, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(ExtensionRelationId, extension, role);
#else
	return pg_extension_ownercheck(extension, role);
#endif
}

static inline Oid
dp_identity_sequence(Relation rel, AttrNumber attnum)
{
#if PG_VERSION_NUM >= 170000
	return getIdentitySequence(rel, attnum, false);
#else
	return getIdentitySequence(RelationGetRelid(rel), attnum, false);
#endif
}

static inline void
dp_insert_index_tuples(ResultRelInfo *rri, TupleTableSlot *slot, EState *estate,
					   bool update, bool only_summarizing)
{
#if PG_VERSION_NUM >= 190000
	ExecInsertIndexTuples(rri, estate, (update ? EIIT_IS_UPDATE : 0) | (only_summarizing ? EIIT_ONLY_SUMMARIZING : 0),
						  slot, NIL, NULL);
#elif PG_VERSION_NUM >= 160000
	ExecInsertIndexTuples(rri, slot, estate, update, false, NULL, NIL, only_summarizing);
#else
	ExecInsertIndexTuples(rri, slot, estate, update, false, NULL, NIL);
#endif
}

#include "access/genam.h"

static inline IndexScanDesc
dp_index_beginscan(Relation table, Relation index, Snapshot snapshot, int nkeys)
{
#if PG_VERSION_NUM >= 190000
	return index_beginscan(table, index, snapshot, NULL, nkeys, 0, SO_NONE);
#elif PG_VERSION_NUM >= 180000
	return index_beginscan(table, index, snapshot, NULL, nkeys, 0);
#else
	return index_beginscan(table, index, snapshot, nkeys, 0);
#endif
}

/* begins to read all rows that a snapshot shows */
static inline TableScanDesc
dp_table_beginscan(Relation table, Snapshot snapshot)
{
#if PG_VERSION_NUM >= 190000
	return table_beginscan(table, snapshot, 0, NULL, SO_NONE);
#else
	return table_beginscan(table, snapshot, 0, NULL);
#endif
}

/* a signal that is ignored */
#if PG_VERSION_NUM >= 190000
#define DP_SIG_IGN PG_SIG_IGN
#else
#define DP_SIG_IGN SIG_IGN
#endif

/* replaces a row that this transaction has locked, indexes included */
static inline void
dp_update_locked_row(ResultRelInfo *rri, EState *estate, Snapshot snapshot,
					 ItemPointer tid, TupleTableSlot *slot)
{
#if PG_VERSION_NUM >= 160000
	TU_UpdateIndexes indexes;

	simple_table_tuple_update(rri->ri_RelationDesc, tid, slot, snapshot, &indexes);
	if (indexes != TU_None)
		dp_insert_index_tuples(rri, slot, estate, true, indexes == TU_Summarizing);
#else
	bool		indexes;

	simple_table_tuple_update(rri->ri_RelationDesc, tid, slot, snapshot, &indexes);
	if (indexes)
		dp_insert_index_tuples(rri, slot, estate, true, false);
#endif
}

/* --- columns, ownership and settings --- */

#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* tells whether the planner puts an expression that nobody has vetted in its place, from 18 on */
static inline bool
dp_is_virtual_column(Oid relid, AttrNumber attnum)
{
#if PG_VERSION_NUM >= 180000
	return get_attgenerated(relid, attnum) == ATTRIBUTE_GENERATED_VIRTUAL;
#else
	return false;
#endif
}

static inline bool
dp_owns_table(Oid relid, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, relid, role);
#else
	return pg_class_ownercheck(relid, role);
#endif
}

static inline bool
dp_may_execute(Oid funcid, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, funcid, role, ACL_EXECUTE) == ACLCHECK_OK;
#else
	return pg_proc_aclcheck(funcid, role, ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

static inline void
dp_reserve_setting_prefix(const char *prefix)
{
	MarkGUCPrefixReserved(prefix);
}

/* allocates room for the value of a setting; NULL when there is no memory */
#if PG_VERSION_NUM >= 160000
#define DP_GUC_MALLOC(size) guc_malloc(LOG, size)
#else
#define DP_GUC_MALLOC(size) malloc(size)
#endif

/* tells whether a domain has constraints */
static inline bool
dp_domain_has_constraints(Oid domain)
{
#if PG_VERSION_NUM >= 190000
	bool		is_volatile;

	return DomainHasConstraints(domain, &is_volatile);
#else
	return DomainHasConstraints(domain);
#endif
}

/* --- functions --- */

#if PG_VERSION_NUM >= 190000
#define dp_inline_in_from(root, rte) inline_function_in_from(root, rte)
#else
#define dp_inline_in_from(root, rte) inline_set_returning_function(root, rte)
#endif

#if PG_VERSION_NUM >= 180000
#define DP_NORETURN pg_noreturn
#else
#define DP_NORETURN pg_attribute_noreturn()
#endif

/* --- tables --- */

#include "access/tupdesc.h"

/* makes a row type that was put together here ready for use, which it must be told from 19 on */
static inline TupleDesc
dp_finish_tupdesc(TupleDesc desc)
{
#if PG_VERSION_NUM >= 190000
	TupleDescFinalize(desc);
#endif
	return desc;
}

/* tells whether a column is NOT NULL, and not just for new rows (which 18 can say) */
static inline bool
dp_is_not_null_column(TupleDesc desc, int attnum)
{
#if PG_VERSION_NUM >= 180000
	return TupleDescCompactAttr(desc, attnum - 1)->attnullability == ATTNULLABLE_VALID;
#else
	return TupleDescAttr(desc, attnum - 1)->attnotnull;
#endif
}

/* --- dates and times --- */

#include "datatype/timestamp.h"

/* tells whether an interval is infinite, as one with the least or the greatest of all its parts is from 17 on */
static inline bool
dp_interval_is_infinite(const Interval *span)
{
#if PG_VERSION_NUM >= 170000
	return INTERVAL_NOT_FINITE(span);
#else
	return false;
#endif
}

/* --- numbers --- */

/* the scale in a type modifier of numeric, which may be negative */
static inline int
dp_numeric_scale(int32 typmod)
{
	return (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
}

/* width_bucket has a bucket for NaN, beyond all numbers, from 19 on */
#define DP_NAN_HAS_BUCKET (PG_VERSION_NUM >= 190000)

/* Arithmetic that tells of what it cannot compute.  Let dp_numeric_OPERATION(a, b, failed) be add, sub, mul, div, mod. */
#include "utils/date.h"
#include "utils/numeric.h"
#if PG_VERSION_NUM >= 190000
#include "nodes/miscnodes.h"

#define DP_TOLD_NUMERIC(op) \
static inline Numeric \
dp_numeric_##op(Numeric a, Numeric b, bool *failed) \
{ \
	ErrorSaveContext errors = {T_ErrorSaveContext}; \
	Numeric		result = numeric_##op##_safe(a, b, (Node *) &errors); \
	*failed = errors.error_occurred; \
	return result; \
} \
extern int dp_no_such_variable

/* a date as another type; *overflow is not 0 where that has no such value */
#define DP_TOLD_DATE(type, T) \
static inline T \
dp_date2##type(DateADT date, int *overflow) \
{ \
	ErrorSaveContext errors = {T_ErrorSaveContext}; \
	T			result = date2##type##_safe(date, (Node *) &errors); \
	*overflow = errors.error_occurred; \
	return result; \
} \
extern int dp_no_such_variable

DP_TOLD_NUMERIC(add);
DP_TOLD_NUMERIC(sub);
DP_TOLD_NUMERIC(mul);
DP_TOLD_NUMERIC(div);
DP_TOLD_NUMERIC(mod);
DP_TOLD_DATE(timestamp, Timestamp);
DP_TOLD_DATE(timestamptz, TimestampTz);
#else
#define dp_numeric_add numeric_add_opt_error
#define dp_numeric_sub numeric_sub_opt_error
#define dp_numeric_mul numeric_mul_opt_error
#define dp_numeric_div numeric_div_opt_error
#define dp_numeric_mod numeric_mod_opt_error
#define dp_date2timestamp date2timestamp_opt_overflow
#define dp_date2timestamptz date2timestamptz_opt_overflow
#endif

/* --- strings --- */

#include "utils/pg_locale.h"

/* changes the case of ASCII letters only, byte by byte */
static inline bool
dp_ctype_is_c(Oid collation)
{
#if PG_VERSION_NUM >= 180000
	return pg_newlocale_from_collation(collation)->ctype_is_c;
#else
	return lc_ctype_is_c(collation);
#endif
}

/* --- exact states --- */

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* --- names of function OIDs, which change when a function's name becomes overloaded --- */

#include "utils/fmgroids.h"

#if PG_VERSION_NUM < 180000
#define F_REVERSE_TEXT F_REVERSE
#endif

/* makes a tuple without room in front of it, which callers may have from 18 on */
#if PG_VERSION_NUM >= 180000
#define dp_form_minimal_tuple(desc, values, nulls) heap_form_minimal_tuple(desc, values, nulls, 0)
#else
#define dp_form_minimal_tuple(desc, values, nulls) heap_form_minimal_tuple(desc, values, nulls)
#endif

/* gets the next datum of a Tuplesortstate, which is good until the one after it; false at the end */
#if PG_VERSION_NUM >= 160000
#define dp_tuplesort_getdatum(sort, value, isnull) tuplesort_getdatum(sort, true, false, value, isnull, NULL)
#else
#define dp_tuplesort_getdatum(sort, value, isnull) tuplesort_getdatum(sort, true, value, isnull, NULL)
#endif

#endif							/* DP_COMPAT_H */
