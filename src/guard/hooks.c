/*-------------------------------------------------------------------------
 *
 * hooks.c
 *	  Where the guard stands: before planning, before execution, before
 *	  utility commands.
 *
 * The planner hook splits queries (plan_statement.c).  Two more hooks stand
 * behind it: one sees every relation before the planner uses its statistics,
 * also those that come with inlined functions and from under an unprotected
 * parent; one sees the plan before it is executed, also one that was made for
 * somebody else.  The last line is PostgreSQL's own: analysts hold no SELECT.
 *
 * Every hook calls the one that was there before.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/sysattr.h"
#include "access/xact.h"
#include "base/compat.h"
#include "base/distributed.h"
#include "base/errors.h"
#include "catalog/namespace.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_statistic_ext_data.h"
#include "commands/defrem.h"
#include "commands/prepare.h"
#include "guard/mask.h"
#include "guard/plan_statement.h"
#include "guard/rewrite.h"
#include "miscadmin.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "parser/parse_func.h"
#include "parser/parsetree.h"
#include "policy/policy.h"
#include "policy/shards.h"
#include "tcop/utility.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* an EXPLAIN is being executed by a role from which harden() has taken numbers of rows */
static bool is_explain_closed = false;

static ExecutorCheckPerms_hook_type prev_check_perms = NULL;
static ProcessUtility_hook_type prev_process_utility = NULL;
static DP_REL_HOOK_TYPE prev_rel_hook = NULL;

static void
refuse_rows(Oid relid)
{
	dp_refuse_login(relid);
	dp_raise(NOT_RELEASABLE,
			 errmsg("permission denied for rows of protected table \"%s\"; ask for private aggregates, such as dp_count(*)",
					get_rel_name(relid)));
}

/*
 * Refuses to explain what reads the planner's statistics, also by a view that
 * shows only what who asks may know: their rows and pages are counted, and
 * ANALYZE of a protected table changes both.
 */
static void
refuse_explain(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("EXPLAIN would show how many statistics the planner has of all tables; run the query without EXPLAIN")));
}

/*
 * Refuses to plan with statistics of a protected table that who asks may not
 * read.  A partition is read with the rights on the table that the query
 * names, as long as that is protected, too.
 */
static pg_noinline void
check_statistics(DP_REL_HOOK_ARGS)
{
	Oid			read = DP_REL_RELID;
	Oid			named = read;

	if (prev_rel_hook)
		prev_rel_hook(DP_REL_HOOK_CALL);

	/*
	 * TRUNCATE, REINDEX and CLUSTER plan how many workers build an index,
	 * without a query; who may run them PostgreSQL has asked.
	 */
	if (root->parse->jointree == NULL)
		return;
	if (dp_policy_table(read) == NULL || dp_is_inner_entry(planner_rt_fetch(rel->relid, root)))
		return;
	if (rel->reloptkind == RELOPT_OTHER_MEMBER_REL)
	{
		Oid			top = planner_rt_fetch(bms_singleton_member(rel->top_parent_relids), root)->relid;

		if (dp_policy_table(top) != NULL)
			named = top;
	}
	if (!dp_may_read(named))
		refuse_rows(named);
}

static void
guard_relation_info(DP_REL_HOOK_ARGS)
{
	if (unlikely(!dp_is_known_unprotected(DP_REL_RELID)))
		check_statistics(DP_REL_HOOK_CALL);
	else if (prev_rel_hook)
		prev_rel_hook(DP_REL_HOOK_CALL);
}

/* Tells whether xmax is among the columns of an entry that are read. */
static inline bool
reads_marks(const Bitmapset *columns)
{
	/* system columns are in the first word */
	return columns != NULL &&
		(columns->words[0] & ((bitmapword) 1 << (MaxTransactionIdAttributeNumber - FirstLowInvalidHeapAttributeNumber))) != 0;
}

/* Tells whether an entry is such as most queries have: a relation that is nobody's, whose rows alone are read. */
static inline bool
is_unprotected(const RangeTblEntry *rte)
{
	return rte->relkind != RELKIND_SEQUENCE && dp_is_known_unprotected(rte->relid) && !dp_has_citus() && !is_explain_closed;
}

static pg_noinline bool
check_entries(DP_CHECK_PERMS_ARGS)
{
	/*
	 * a worker's plan was checked in the leader, unless the worker planned it
	 * itself
	 */
	if (IsParallelWorker() || dp_release_is_inner(rangeTable))
		return true;

	foreach_ptr(RangeTblEntry, rte, rangeTable)
	{
		Oid			table;

		if (rte->rtekind != RTE_RELATION || !DP_RTE_IS_READ(rte) || dp_is_inner_entry(rte))
			continue;
		if (reads_marks(DP_RTE_SELECTED(rte)) && OidIsValid(table = dp_marked_by(rte->relid)))
		{
			if (ereport_on_violation)
				dp_refuse_marks(rte->relid, table, false);
			return false;
		}
		if (is_explain_closed && (rte->relid == StatisticRelationId || rte->relid == StatisticExtDataRelationId))
		{
			if (ereport_on_violation)
				refuse_explain();
			return false;
		}
		table = dp_table_of_sequence(rte);
		if (!OidIsValid(table) && dp_policy_table(rte->relid) != NULL)
			table = rte->relid;
		if (OidIsValid(table) ? dp_may_read(table) : !OidIsValid(table = dp_closed_shard(rte->relid)))
			continue;
		if (ereport_on_violation)
			refuse_rows(table);
		return false;
	}
	return true;
}

static bool
guard_check_perms(DP_CHECK_PERMS_ARGS)
{
	if (prev_check_perms && !prev_check_perms(DP_CHECK_PERMS_CALL))
		return false;
	/* each execution of each query asks */
	foreach_ptr(RangeTblEntry, rte, rangeTable)
	{
		if (rte->rtekind == RTE_RELATION && (!is_unprotected(rte) || reads_marks(DP_RTE_SELECTED(rte))))
			return check_entries(DP_CHECK_PERMS_CALL);
	}
	return true;
}

static bool
explain_option(ExplainStmt *statement, const char *name)
{
	bool		is_set = false;

	foreach_ptr(DefElem, option, statement->options)
	{
		if (strcmp(option->defname, name) == 0)
			is_set = defGetBoolean(option);
	}
	return is_set;
}

/* Checks COPY of a table, which reads and writes without planner and executor. */
static void
check_copy(CopyStmt *copy, PlannedStmt *pstmt, const char *query_string)
{
	DpRefusedStatement statement;
	MemoryContext caller = CurrentMemoryContext;
	Oid			relid;

	if (copy->relation == NULL)
		return;
	relid = RangeVarGetRelid(copy->relation, NoLock, true);
	if (OidIsValid(relid) && !copy->is_from)
		dp_refuse_reserved_relation(relid);
	if (OidIsValid(relid) && copy->is_from)
		dp_check_shard_references(relid);
	if (!OidIsValid(relid) || dp_policy_table(relid) == NULL || dp_may_read(relid))
		return;
	dp_refused_prepare(&statement, relid, query_string, pstmt->stmt_location, pstmt->stmt_len);
	PG_TRY();
	{
		if (copy->is_from)
			dp_check_copy_from(relid, copy->attlist);
		else
		{
			dp_refuse_login(relid);
			dp_raise(NOT_RELEASABLE,
					 errmsg("permission denied for rows of protected table \"%s\"; copy a query of private aggregates: COPY (SELECT dp_count(*) ...) TO",
							copy->relation->relname));
		}
	}
	PG_CATCH();
	{
		dp_refused_note(&statement, caller);
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/* Lets only roles that may read the table create triggers: a trigger sees rows, whoever changes them. */
static void
check_trigger(CreateTrigStmt *trigger)
{
	Oid			relid = RangeVarGetRelid(trigger->relation, NoLock, true);

	if (OidIsValid(relid) && dp_policy_table(relid) != NULL && !dp_may_read(relid))
		dp_raise(NOT_RELEASABLE,
				 errmsg("triggers on protected table \"%s\" can be created only by roles that may read it; ask its owner",
						trigger->relation->relname));
}

/* Returns the EXECUTE that a statement is, explains or stores the rows of; NULL: it is another. */
static ExecuteStmt *
execute_of(Node *statement)
{
	if (statement != NULL && IsA(statement, Query))
		statement = ((Query *) statement)->utilityStmt;
	if (statement == NULL)
		return NULL;
	if (IsA(statement, ExplainStmt))
		return execute_of(((ExplainStmt *) statement)->query);
	if (IsA(statement, CreateTableAsStmt))
		return execute_of(((CreateTableAsStmt *) statement)->query);
	return IsA(statement, ExecuteStmt) ? (ExecuteStmt *) statement : NULL;
}

/* Refuses parameters whose types have been dropped: PostgreSQL looks for these types before it looks at the plan, and fails internally. */
static void
check_parameters(ExecuteStmt *execute)
{
	PreparedStatement *prepared;

	if (execute == NULL || !IsTransactionState())
		return;
	prepared = FetchPreparedStatement(execute->name, false);
	for (int i = 0; prepared != NULL && i < prepared->plansource->num_params; i++)
	{
		Oid			type = prepared->plansource->param_types[i];

		/* PostgreSQL's own are not dropped */
		if (type >= FirstNormalObjectId && !SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("the type of parameter $%d of prepared statement \"%s\" does not exist any more; DEALLOCATE it, and PREPARE it with another type",
							i + 1, execute->name)));
	}
}

/*
 * Tells whether a GRANT or REVOKE names only functions of PostgreSQL's that
 * this version does not have any more.  harden() closes functions, pg_dump
 * writes their privileges down, and pg_upgrade would give up.
 */
static bool
is_about_former_functions(GrantStmt *stmt)
{
	if (stmt->targtype != ACL_TARGET_OBJECT || stmt->objtype != OBJECT_FUNCTION)
		return false;
	foreach_ptr(ObjectWithArgs, function, stmt->objects)
	{
		if (list_length(function->objname) != 2 || strcmp(strVal(linitial(function->objname)), "pg_catalog") != 0 ||
			OidIsValid(LookupFuncWithArgs(OBJECT_FUNCTION, function, true)))
			return false;
	}
	return true;
}

static inline void
next_utility(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree,
			 ProcessUtilityContext context, ParamListInfo params,
			 QueryEnvironment *queryEnv, DestReceiver *dest, QueryCompletion *qc)
{
	if (prev_process_utility)
		prev_process_utility(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
	else
		standard_ProcessUtility(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
}

static pg_noinline void
explain(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree,
		ProcessUtilityContext context, ParamListInfo params,
		QueryEnvironment *queryEnv, DestReceiver *dest, QueryCompletion *qc)
{
	ExplainStmt *statement = (ExplainStmt *) pstmt->utilityStmt;
	int			save_depth = dp_explain_analyze_depth;
	bool		save_memory = dp_explain_shows_memory;
	bool		save_closed = is_explain_closed;

	check_parameters(execute_of((Node *) statement));
	if (explain_option(statement, "analyze"))
		dp_explain_analyze_depth++;
	if (!dp_may_know_rows())
		is_explain_closed = true;
	if (explain_option(statement, "memory"))
		dp_explain_shows_memory = true;
	PG_TRY();
	{
		next_utility(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
	}
	PG_FINALLY();
	{
		dp_explain_analyze_depth = save_depth;
		dp_explain_shows_memory = save_memory;
		is_explain_closed = save_closed;
	}
	PG_END_TRY();
}

static void
guard_process_utility(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree,
					  ProcessUtilityContext context, ParamListInfo params,
					  QueryEnvironment *queryEnv, DestReceiver *dest, QueryCompletion *qc)
{
	Node	   *statement = pstmt->utilityStmt;

	switch (nodeTag(statement))
	{
		case T_GrantStmt:
			if (IsBinaryUpgrade && is_about_former_functions((GrantStmt *) statement))
				return;
			break;
		case T_CopyStmt:
			if (IsTransactionState())
				check_copy((CopyStmt *) statement, pstmt, queryString);
			break;
		case T_ExecuteStmt:
			check_parameters((ExecuteStmt *) statement);
			break;
		case T_CreateTableAsStmt:
			check_parameters(execute_of(statement));
			break;
		case T_VariableSetStmt:
			dp_check_sent_setting((VariableSetStmt *) statement);
			break;
		case T_AlterTableStmt:
			if (IsTransactionState())
				dp_check_added_references((AlterTableStmt *) statement);
			break;
		case T_CreateTrigStmt:
			check_trigger((CreateTrigStmt *) statement);
			break;
		default:
			break;
	}
	if (IsA(statement, ExplainStmt))
		explain(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
	else
		next_utility(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
	dp_report_taken_names();
}

void
dp_guard_init(void)
{
	dp_planner_init();
	dp_call_forms_init();
	prev_rel_hook = DP_REL_HOOK;
	DP_REL_HOOK = guard_relation_info;
	prev_check_perms = ExecutorCheckPerms_hook;
	ExecutorCheckPerms_hook = guard_check_perms;
	prev_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = guard_process_utility;
}
