/*-------------------------------------------------------------------------
 *
 * late.c
 *	  Plans inner queries whose rows are on other servers, when they are priced.
 *
 * Citus makes its plan of a query without parameters.  So such a query is kept
 * until grids and specs are known, gets them as constants, and is planned then:
 * before the debit, whatever the plan or its executor's start may refuse.
 * The plan that was made when the statement was planned is never run.  It stands for what the
 * statement locks, checks and watches.
 *
 * Invariants:
 * - Nothing is planned here that the last gate has not accepted, but for sums
 *	 that guard/distribute.c has replaced, and constants.
 * - A plan runs only where all rows are read by its first scan: whatever Citus
 *	 would compute beforehand, step by step, could fail after the debit for
 *	 reasons of the query's own, and bring rows here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/distributed.h"
#include "base/errors.h"
#include "base/walk.h"
#include "executor/spi.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

DpPlanner	dp_inner_planner = NULL;

static bool is_planning = false;

/* Replaces external parameters by their values. */
static Node *
put_constant(Node *node, int levels, ParamListInfo params)
{
	Param	   *param = (Param *) node;
	ParamExternData *value;
	int16		len;
	bool		byval;

	if (!IsA(node, Param) || param->paramkind != PARAM_EXTERN)
		return NULL;
	if (param->paramid < 1 || param->paramid > params->numParams || params->params[param->paramid - 1].ptype != param->paramtype)
		elog(ERROR, "parameter %d of a private query has no value", param->paramid);
	value = &params->params[param->paramid - 1];
	get_typlenbyval(param->paramtype, &len, &byval);
	return (Node *) makeConst(param->paramtype, param->paramtypmod, param->paramcollid, len,
							  value->isnull ? (Datum) 0 : datumCopy(value->value, byval, len), value->isnull, byval);
}

/* Refuses what Citus would compute beforehand: it plans that as a statement of its own, by the planner that everybody calls. */
void
dp_refuse_steps(void)
{
	if (is_planning)
		dp_raise(NOT_RELEASABLE,
				 errmsg("private query cannot be computed in one step where its rows are; nothing was charged: join along the privacy unit alone"),
				 errdetail("Tables of such a join are distributed alike, or reference tables."));
}

/* Plans a query with Citus, which is below the guard's hook, and refuses a plan of more than one step. */
static PlannedStmt *
plan_in_one_step(Query *query, bool pulls_rows)
{
	PlannedStmt *plan;
	int			level = NewGUCNestLevel();

	/* else what Citus cannot add up elsewhere is refused (sandbox.c) */
	if (pulls_rows)
		(void) set_config_option("citus.coordinator_aggregation_strategy", "row-gather", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	is_planning = true;
	PG_TRY();
	{
		plan = dp_inner_planner(query, "private query", 0, NULL);
	}
	PG_FINALLY();
	{
		is_planning = false;
	}
	PG_END_TRY();
	AtEOXact_GUC(false, level);
	return plan;
}

/* Refuses a plan that is not one scan of shards, below sorts and aggregates of this server. */
static void
check_plan(const PlannedStmt *plan)
{
	const Plan *node = plan->planTree;

	while (node->lefttree != NULL && node->righttree == NULL)
		node = node->lefttree;
	if (!IsA(node, CustomScan) || plan->subplans != NIL)
		dp_raise(NOT_RELEASABLE,
				 errmsg("private query cannot be computed where its rows are; nothing was charged: ask for less at once, or join along the privacy unit alone"));
}

/* Tells whether a query has rows. */
static bool
has_rows(const char *query)
{
	bool		result;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(query, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "the cluster cannot be asked");
	result = SPI_processed > 0;
	SPI_finish();
	return result;
}

/* Refuses where a server that may have rows does not answer: Citus would fail the asker's transaction, and not his statement alone. */
static void
check_nodes(void)
{
	static const char *query =
	"SELECT FROM pg_catalog.pg_dist_node n WHERE n.isactive AND n.noderole = 'primary' AND n.groupid <> 0"
	" AND pg_catalog.citus_check_connection_to_node(n.nodename, n.nodeport) IS NOT TRUE";

	if (has_rows(query))
		dp_raise(NOT_RELEASABLE,
				 errmsg("a server of the cluster does not answer; nothing was charged: ask again when it does"));
}

/* Plans to ask the shards of a table for no rows, by a condition that only they can find to be false. */
static PlannedStmt *
plan_touch(RangeTblEntry *entry)
{
	char	   *sql = psprintf("SELECT 1 FROM %s WHERE pg_catalog.now() IS NULL",
							   quote_qualified_identifier(get_namespace_name(get_rel_namespace(entry->relid)), get_rel_name(entry->relid)));
	Query	   *query = parse_analyze_fixedparams(linitial_node(RawStmt, raw_parser(sql, RAW_PARSE_DEFAULT)), sql, NULL, 0, NULL);

	/* as what it is in the release's own query */
	linitial_node(RangeTblEntry, query->rtable)->enrname = entry->enrname;
	return dp_inner_planner(query, "private query", 0, NULL);
}

static DpWalk
touch_entry(Node *node, int levels, List **plans)
{
	RangeTblEntry *rte = (RangeTblEntry *) node;
	AttrNumber	column;

	if (IsA(node, RangeTblEntry) && rte->rtekind == RTE_RELATION && dp_is_distributed(rte->relid, &column))
		*plans = lappend(*plans, plan_touch(rte));
	return DP_WALK_ON;
}

/* Tells whether this transaction may have written at other servers; nobody knows whether it has. */
static bool
may_have_written(void)
{
	return has_rows("SELECT FROM pg_catalog.get_current_transaction_id() t WHERE t.transaction_number <> 0");
}

/*
 * Refuses what Citus would refuse when it is run: shards that lie where this transaction has written others, of tables
 * that are distributed alike, as somebody else.
 */
void
dp_refuse_touched(ErrorData *error)
{
	if (error->sqlerrcode == ERRCODE_QUERY_CANCELED || ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_CONNECTION_EXCEPTION)
		ReThrowError(error);
	dp_raise(NOT_RELEASABLE,
			 errmsg("private query cannot be computed after writes to tables that are distributed as those it reads; nothing was charged: ask in another transaction"));
}

/* Only in the sandbox, before the debit. */
PlannedStmt *
dp_plan_late(DpRelease *release, ParamListInfo params, List **touches)
{
	Query	   *query = (Query *) dp_put_all(release->late_query, put_constant, params);
	char	   *probe = dp_worker_probe(query);
	PlannedStmt *plan = plan_in_one_step(query, release->pulls_rows);
	bool		written;

	check_plan(plan);
	check_nodes();
	written = may_have_written();
	dp_send_settings(probe);
	*touches = NIL;
	if (written)
		(void) dp_walk_all(release->late_query, touch_entry, touches);
	return plan;
}

/*
 * Refuses what was planned for rows of this server and is distributed by now, or the other way round:
 * a table may be distributed without a lock that its readers would notice.
 */
void
dp_check_distribution(DpRelease *release)
{
	AttrNumber	column;
	bool		distributed = false;

	if (!dp_has_citus())
	{
		if (release->late_query == NULL)
			return;
	}
	else
	{
		foreach_ptr(RangeTblEntry, rte, release->inner->rtable)
		{
			if (rte->rtekind == RTE_RELATION && dp_is_distributed(rte->relid, &column))
				distributed = true;
		}
		if (distributed == (release->late_query != NULL))
			return;
	}
	dp_raise(NOT_RELEASABLE,
			 errmsg("a table of the private query was distributed, or undistributed, since it was planned; nothing was charged: ask again"));
}

/* A cluster has one ledger, the coordinator's. */
void
dp_refuse_on_worker(void)
{
	if (dp_is_citus_worker())
		dp_raise(LEDGER_UNAVAILABLE,
				 errmsg("private aggregates are not released by a worker of a cluster; ask the coordinator, which has the budgets"));
}
