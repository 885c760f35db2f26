/*-------------------------------------------------------------------------
 *
 * plan_statement.c
 *	  Plans a statement that names a protected table: splits it, then plans
 *	  what is computed beforehand, the inner queries and what is left.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "base/compat.h"
#include "base/errors.h"
#include "base/extension.h"
#include "base/settings.h"
#include "base/walk.h"
#include "guard/mask.h"
#include "guard/plan_statement.h"
#include "guard/rewrite.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
#include "policy/policy.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

static planner_hook_type prev_planner = NULL;

bool		dp_explain_shows_memory = false;

static PlannedStmt *guard_query(Query *parse, const char *query_string, int cursorOptions,
								ParamListInfo boundParams, struct ExplainState *explain, DpSplitContext *around);

static PlannedStmt *
next_planner(Query *parse, const char *query_string, int cursorOptions, ParamListInfo boundParams, struct ExplainState *explain)
{
	if (prev_planner)
		return DP_CALL_PLANNER(prev_planner, parse, query_string, cursorOptions, boundParams, explain);
	return DP_CALL_PLANNER(standard_planner, parse, query_string, cursorOptions, boundParams, explain);
}

/* Plans a query of who asks, without what harden() has taken from him. */
static PlannedStmt *
plan_masked(Query *parse, const char *query_string, int cursorOptions, ParamListInfo boundParams, struct ExplainState *explain)
{
	bool		depends = dp_extension_installed() && dp_mask_query(parse);
	PlannedStmt *result = next_planner(parse, query_string, cursorOptions, boundParams, explain);

	result->dependsOnRole = result->dependsOnRole || depends;
	return result;
}

static DpWalk
note_param(Node *node, int levels, int *max)
{
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXTERN)
		*max = Max(*max, ((Param *) node)->paramid);
	return DP_WALK_ON;
}

/* finds the tuplestore of a name that a query reads */
typedef struct TuplestoreContext
{
	const char *name;
	RangeTblEntry *found;
} TuplestoreContext;

static DpWalk
find_tuplestore(Node *node, int levels, TuplestoreContext *c)
{
	RangeTblEntry *rte = (RangeTblEntry *) node;

	if (IsA(node, RangeTblEntry) && rte->rtekind == RTE_NAMEDTUPLESTORE && strcmp(rte->enrname, c->name) == 0)
		c->found = rte;
	return c->found != NULL;
}

/* Tells a query, which may be NULL, how many rows are expected in the tuplestore of a name. */
static void
expect_rows(Query *query, const char *name, double rows)
{
	TuplestoreContext c = {.name = name};

	dp_walk_all(query, find_tuplestore, &c);
	if (c.found != NULL)
		c.found->enrtuples = rows;
}

bool
dp_is_inner_entry(RangeTblEntry *rte)
{
	return rte->enrname != NULL && strcmp(rte->enrname, DP_INNER_MARK) == 0;
}

/*
 * Refuses a prefetch that reads protected tables: what protected rows are
 * joined with must not itself depend on such rows,
 * other than by what was released: not even for roles that may read them, whose
 * releases are private, too.
 */
static void
check_prefetch(PlannedStmt *plan)
{
	if (plan->commandType != CMD_SELECT || plan->hasModifyingCTE)
		elog(ERROR, "what a private query joins with modifies data");
	foreach_ptr(RangeTblEntry, rte, plan->rtable)
	{
		Oid			relid = dp_is_protected(rte) ? rte->relid : dp_table_of_sequence(rte);

		if (OidIsValid(relid) && !dp_is_inner_entry(rte))
			dp_raise(NOT_RELEASABLE,
					 errmsg("private aggregates cannot be joined with what is computed exactly from protected table \"%s\"; "
							"use private aggregates there, too", get_rel_name(relid)));
	}
}

/*
 * Plans a prefetch, which neither modifies anything nor reads protected rows: its declared keys are held together with
 * those of the statement around it.
 */
static PlannedStmt *
plan_prefetch(DpSplitContext *cxt, Query *query, const char *query_string, int cursorOptions, ParamListInfo boundParams)
{
	PlannedStmt *plan = guard_query(query, query_string, cursorOptions, boundParams, NULL, cxt);

	check_prefetch(plan);
	return plan;
}

/* Plans the prefetches of the release: queries like any other of who asks. */
static void
plan_prefetches(DpSplitContext *cxt, DpRelease *release, const char *query_string, int cursorOptions,
				ParamListInfo boundParams)
{
	foreach_ptr(DpPrefetch, prefetch, release->prefetches)
	{
		double		rows;

		prefetch->releases = OidIsValid(dp_query_touches_protected(prefetch->query));
		prefetch->is_pure = !prefetch->releases && !contain_volatile_functions((Node *) prefetch->query);
		prefetch->plan = plan_prefetch(cxt, prefetch->query, query_string,
									   (cursorOptions & CURSOR_OPT_CUSTOM_PLAN) | CURSOR_OPT_PARALLEL_OK,
									   boundParams);
		prefetch->query = NULL;
		rows = prefetch->plan->planTree->plan_rows;
		expect_rows(release->inner_query, prefetch->name, rows);
		if (release->estimator != NULL)
			expect_rows(release->estimator->inner_query, prefetch->name, rows);
		foreach_ptr(DpKeySet, set, dp_public_sets(release))
			expect_rows(set->query, prefetch->name, rows);
	}
}

/* Returns the queries of who asks that run before the release: its prefetches, and those that find its keys and ranges. */
static List *
public_queries(DpRelease *release)
{
	List	   *queries = NIL;

	foreach_ptr(DpPrefetch, prefetch, release->prefetches)
		queries = lappend(queries, prefetch->query);
	foreach_ptr(DpKeySet, set, dp_public_sets(release))
	{
		if (set->query != NULL)
			queries = lappend(queries, set->query);
	}
	return queries;
}

/* Notes whether what is computed before the release has parameters, which EXPLAIN may not know. */
static void
note_params(DpRelease *release)
{
	int			max = 0;

	foreach_ptr(Node, query, public_queries(release))
		dp_walk_all(query, note_param, &max);
	release->needs_params = max > 0;
}

/* Plans the queries of the release's key sets and ranges, in the same way: they read public tables and prefetches. */
static void
plan_key_sets(DpSplitContext *cxt, DpRelease *release, const char *query_string, int cursorOptions,
			  ParamListInfo boundParams)
{
	foreach_ptr(DpKeySet, set, dp_public_sets(release))
	{
		if (set->query == NULL)
			continue;
		set->plan = plan_prefetch(cxt, set->query, query_string, cursorOptions & CURSOR_OPT_CUSTOM_PLAN, boundParams);
		set->query = NULL;
	}
}

/* Tells whether the keys are those of a query that reads more than the days of a range. */
static bool
reads_tables(const DpKeySet *set)
{
	return set->domain == NULL && (set->plan == NULL || set->plan->relationOids != NIL || set->plan->transientPlan);
}

/* Plans an inner query, in which nothing becomes a release; only in the sandbox. */
static PlannedStmt *
plan_below(Query *query, const char *query_string, int cursorOptions, ParamListInfo params)
{
	PlannedStmt *volatile plan;

	dp_release_plan_begin(NIL);
	PG_TRY();
	{
		plan = next_planner(query, query_string, cursorOptions, params, NULL);
	}
	PG_FINALLY();
	{
		dp_release_plan_end();
	}
	PG_END_TRY();
	return plan;
}

/* Tells whether functions make rows of others somewhere in an inner query. */
static DpWalk
makes_rows(Node *node, int levels, void *context)
{
	return IsA(node, RangeTblEntry) && ((RangeTblEntry *) node)->rtekind == RTE_FUNCTION;
}

/*
 * Chooses plans for rows that are made of others.  Memoize would read arrays to
 * the end, however long, to know them again.  A hash table has all rows of a
 * unit in one bucket, in memory, whatever work_mem is, and a string of a page may make
 * millions; merge joins keep them in files.
 */
static void
plan_made_rows(void)
{
	static const char *const settings[][2] = {{"enable_memoize", "off"}, {"enable_hashjoin", "off"}, {"enable_mergejoin", "on"}};

	for (int i = 0; i < lengthof(settings); i++)
		(void) set_config_option(settings[i][0], settings[i][1], PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/* Plans the inner query as its owner; an error shows nothing of the data. */
static void
plan_inner(DpRelease *release, int cursorOptions, ParamListInfo boundParams)
{
	MemoryContext caller = CurrentMemoryContext;
	int			options = cursorOptions & CURSOR_OPT_CUSTOM_PLAN;
	DpSandbox	box;

	dp_stack_check_query(release->inner_query);
	dp_distribute(release);
	dp_sandbox_begin(&box, dp_relation_owner(release->relid), DP_STACK_TO_PLAN, NULL);
	PG_TRY();
	{
		if (dp_walk_all(release->inner_query, makes_rows, NULL))
			plan_made_rows();
		release->inner = plan_below(release->inner_query, "private query",
									options | CURSOR_OPT_PARALLEL_OK, boundParams);
		release->inner_query = NULL;
	}
	PG_CATCH();
	{
		dp_sandbox_end(&box);
		dp_sandbox_rethrow(caller, "nothing was charged for it");
	}
	PG_END_TRY();
	dp_sandbox_end(&box);
	dp_record_plan(release);
}

/* Plans a query that names a protected table; around: of the statement of which it is a prefetch. */
static PlannedStmt *
plan_guarded(Query *parse, const char *query_string, int cursorOptions, ParamListInfo boundParams,
			 DpSplitContext *around)
{
	DpSplitContext cxt = {.source_text = query_string};
	PlannedStmt *volatile result;
	volatile bool reads_public = false;

	if (!dp_extension_installed())
		dp_raise(NOT_RELEASABLE,
				 errmsg("the query reads a table that is protected by dp_cdp, but the extension is not installed here; "
						"run CREATE EXTENSION dp_cdp"));
	cxt.next_param = boundParams ? boundParams->numParams : 0;
	dp_walk_all(parse, note_param, &cxt.next_param);
	cxt.next_param++;
	if (around != NULL)
	{
		cxt.is_prefetch = true;
		cxt.keys = around->keys;
		cxt.key_memory = around->key_memory;
	}

	dp_split_query(parse, &cxt);
	if (cxt.releases == NIL)
	{
		result = plan_masked(parse, query_string, cursorOptions, boundParams, NULL);
		/* it was left alone because of who asks */
		result->dependsOnRole = true;
		return result;
	}

	dp_refuse_on_worker();
	dp_refuse_managed(parse);
	foreach_ptr(DpRelease, item, cxt.releases)
	{
		if (dp_explain_shows_memory && !dp_release_is_readable(item))
			dp_raise(NOT_RELEASABLE,
					 errmsg("EXPLAIN (MEMORY) of private aggregates needs SELECT on the protected table; leave the option out"),
					 errdetail("The memory that planning takes depends on statistics of protected rows."));
		note_params(item);
		plan_prefetches(&cxt, item, query_string, cursorOptions, boundParams);
		plan_key_sets(&cxt, item, query_string, cursorOptions, boundParams);
		if (item->wider != NULL)
		{
			note_params(item->wider);
			plan_key_sets(&cxt, item->wider, query_string, cursorOptions, boundParams);
		}
		plan_inner(item, cursorOptions, boundParams);
		if (item->estimator != NULL)
			plan_inner(item->estimator, cursorOptions, boundParams);
		foreach_ptr(const DpKeySet, set, dp_public_sets(item))
			reads_public = reads_public || reads_tables(set);
	}

	foreach_ptr(DpRelease, item, cxt.releases)
		item->key_memory = cxt.key_memory;
	if (around != NULL)
	{
		around->keys = cxt.keys;
		around->key_memory = cxt.key_memory;
	}

	dp_release_plan_begin(cxt.releases);
	PG_TRY();
	{
		result = plan_masked(parse, query_string, cursorOptions & ~CURSOR_OPT_PARALLEL_OK, boundParams, NULL);
	}
	PG_FINALLY();
	{
		dp_release_plan_end();
	}
	PG_END_TRY();
	dp_release_adopt_inner(result, cxt.releases);

	/*
	 * the outer plan has it checked who may read a public table; its owner
	 * need not
	 */
	foreach_ptr(DpRelease, release, cxt.releases)
	{
		dp_check_only_marked(release->inner, DP_INNER_MARK);
		if (release->estimator != NULL)
			dp_check_only_marked(release->estimator->inner, DP_INNER_MARK);
	}

	/*
	 * keys that a referenced table or an enum declares may change without
	 * notice
	 */
	result->transientPlan = result->transientPlan || reads_public || dp_policies_read_unwatched();
	return result;
}

/*
 * Plans a query with one policy: where that has changed meanwhile, it plans again.  Code of the asker may be run while
 * constants are folded, so that it gives up after some times.
 */
static PlannedStmt *
plan_under_one_policy(Query *parse, const char *query_string, int cursorOptions, ParamListInfo boundParams)
{
	for (int i = 0; i < 10; i++)
	{
		/* the planner writes into it */
		Query	   *query = copyObject(parse);
		DpHeldPolicies *before = dp_hold_policies();
		PlannedStmt *result = plan_guarded(query, query_string, cursorOptions, boundParams, NULL);

		if (!dp_let_go_policies(before))
			return result;
		CHECK_FOR_INTERRUPTS();
	}
	dp_raise(NOT_RELEASABLE,
			 errmsg("a policy was changed again and again while the query was planned; nothing was charged: ask again"));
}

/* Plans a query that names a protected table; the audit hears of it if that is refused. */
static PlannedStmt *
plan_and_note(Query *parse, Oid table, const char *query_string, int cursorOptions, ParamListInfo boundParams)
{
	static int	depth = 0;		/* code of the asker may plan while this is
								 * planned */
	int			save_depth = depth;
	MemoryContext caller = CurrentMemoryContext;
	DpHeldPolicies *before;
	DpRefusedStatement statement;
	PlannedStmt *result;

	before = dp_suspend_policies(NULL);
	dp_refused_prepare(&statement, table, query_string, parse->stmt_location, parse->stmt_len);
	PG_TRY();
	{
		depth++;
		result = plan_under_one_policy(parse, query_string, cursorOptions, boundParams);
	}
	PG_CATCH();
	{
		depth = save_depth;
		(void) dp_suspend_policies(before);
		if (depth == 0)
			dp_refused_note(&statement, caller);
		PG_RE_THROW();
	}
	PG_END_TRY();
	depth = save_depth;
	(void) dp_suspend_policies(before);
	return result;
}

/*
 * Plans any query.  around: it is a prefetch, a part of that statement, of which code of the asker that plans is none.
 * EXPLAIN shows what it has for other extensions only of queries that name no protected table.
 */
static PlannedStmt *
guard_query(Query *parse, const char *query_string, int cursorOptions, ParamListInfo boundParams,
			struct ExplainState *explain, DpSplitContext *around)
{
	if (IsTransactionState())
	{
		Oid			table = dp_query_touches_protected(parse);
		List	   *depends = NIL;
		Query	   *inlined = NULL;
		bool		is_plain = !(OidIsValid(table) || dp_extension_installed()) || dp_is_plain_query(parse);

		dp_check_written(parse);

		/*
		 * it stops at the first protected table, and may not have met what is
		 * held
		 */
		if (unlikely(OidIsValid(table) || dp_policy_any_held()))
			dp_refuse_reserved(parse);
		if (!is_plain)
			inlined = dp_inline_functions(parse, &table, &depends);
		if (OidIsValid(table))
		{
			Query	   *query = inlined ? inlined : parse;
			PlannedStmt *result = around ? plan_guarded(query, query_string, cursorOptions, boundParams, around) :
			plan_and_note(query, table, query_string, cursorOptions, boundParams);

			result->dependsOnRole |= inlined != NULL;
			result->invalItems = list_concat(result->invalItems, depends);
			dp_watch_settings(result);
			return result;
		}
		if (!is_plain)
			return plan_masked(parse, query_string, cursorOptions, boundParams, explain);
	}
	return next_planner(parse, query_string, cursorOptions, boundParams, explain);
}

/* Refuses locks that tell whether others hold one on a row that protected rows reference. */
static void
check_row_marks(const PlannedStmt *plan)
{
	foreach_node(PlanRowMark, mark, plan->rowMarks)
	{
		RangeTblEntry *rte = rt_fetch(mark->rti, plan->rtable);
		Oid			marked_by;

		if (mark->waitPolicy != LockWaitBlock && rte->rtekind == RTE_RELATION && OidIsValid(marked_by = dp_marked_by(rte->relid)))
			dp_refuse_marks(rte->relid, marked_by, true);
	}
}

static PlannedStmt *
guard_planner(DP_PLANNER_ARGS)
{
	PlannedStmt *plan;

	dp_refuse_steps();
	if (likely(dp_is_bystander(parse)))
		plan = next_planner(parse, query_string, cursorOptions, boundParams, DP_PLANNER_EXPLAIN);
	else
		plan = guard_query(parse, query_string, cursorOptions, boundParams, DP_PLANNER_EXPLAIN, NULL);
	if (unlikely(plan->rowMarks != NIL))
		check_row_marks(plan);
	return plan;
}

void
dp_planner_init(void)
{
	prev_planner = planner_hook;
	planner_hook = guard_planner;
	dp_inner_planner = plan_below;
}
