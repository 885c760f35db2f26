/*-------------------------------------------------------------------------
 *
 * closed.c
 *	  The functions of PostgreSQL's that dp_cdp.harden() closes, by name.
 *
 * They tell how many rows, pages or bytes there are or a query met.  The list
 * is asked twice: by dp_cdp_internal.hardening(), which takes EXECUTE from PUBLIC, and
 * by the guard (mask.c), which puts something that tells nothing in place of a
 * call by a role that may not execute the function.
 *
 * A few answer a question that somebody who may read the relation could answer
 * by counting; for these stand functions that do so for such relations
 * (told.c).  All others count what queries did, also those that read protected
 * rows: how often an index of a public table was looked up tells how many rows
 * were joined with it.  They are NULL for every relation.  So are locks and what became of
 * transactions: those of applications follow from the rows that their conditions meet.
 *
 * Names are those of all supported versions.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_proc.h"
#include "policy/closed.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#define STATISTICS "statistics"
#define SIZES "sizes"
#define TRACES "traces"			/* writes something that stays; refused */

typedef struct ClosedName
{
	const char *class;
	const char *name;
	const char *told;			/* what stands for it, if it is answered for
								 * some relations */
} ClosedName;

static const ClosedName names[] = {
	{STATISTICS, "pg_stat_get_live_tuples", "visible_live_tuples"},
	{STATISTICS, "pg_stat_get_numscans"},
	{STATISTICS, "pg_stat_get_xact_numscans"},
	{STATISTICS, "pg_stat_get_lastscan"},
	{STATISTICS, "pg_stat_get_wal"},
	{STATISTICS, "pg_stat_get_io"},
	{STATISTICS, "pg_stat_get_slru"},
	{STATISTICS, "pg_stat_get_progress_info"},
	{STATISTICS, "pg_stat_get_backend_io"},
	{STATISTICS, "pg_stat_get_backend_wal"},
	{STATISTICS, "pg_stat_get_archiver"},
	{STATISTICS, "pg_stat_get_recovery_prefetch"},
	{STATISTICS, "pg_stat_get_recovery"},
	{STATISTICS, "pg_stat_get_lock"},
	{STATISTICS, "pg_get_multixact_stats"},
	{STATISTICS, "pg_get_multixact_members"},
	{STATISTICS, "pg_lock_status"},
	{STATISTICS, "pg_xact_status"},
	{STATISTICS, "txid_status"},
	{STATISTICS, "pg_last_committed_xact"},
	{STATISTICS, "pg_xact_commit_timestamp"},
	{STATISTICS, "pg_xact_commit_timestamp_origin"},
	{STATISTICS, "pg_stat_get_replication_slot"},
	{STATISTICS, "pg_stat_get_subscription"},
	{STATISTICS, "pg_stat_get_subscription_stats"},
	{STATISTICS, "pg_get_aios"},
	{SIZES, "pg_relation_size", "visible_relation_size"},
	{SIZES, "pg_table_size", "visible_table_size"},
	{SIZES, "pg_total_relation_size", "visible_total_relation_size"},
	{SIZES, "pg_indexes_size", "visible_indexes_size"},
	{SIZES, "pg_database_size"},
	{SIZES, "pg_tablespace_size"},
	{SIZES, "pg_sequence_last_value"},
	{SIZES, "pg_get_sequence_data"},
	{SIZES, "pg_current_wal_lsn"},
	{SIZES, "pg_current_wal_insert_lsn"},
	{SIZES, "pg_current_wal_flush_lsn"},
	{SIZES, "pg_last_wal_receive_lsn"},
	{SIZES, "pg_last_wal_replay_lsn"},
	{SIZES, "pg_get_replication_slots"},
	{SIZES, "pg_control_checkpoint"},
	{SIZES, "pg_control_recovery"},
	{SIZES, "pg_get_wal_summarizer_state"},
	{SIZES, "pg_available_wal_summaries"},
	{SIZES, "pg_wal_summary_contents"},
	{TRACES, "currtid2"},
	{TRACES, "pg_logical_emit_message"},
	{TRACES, "lo_create"},
	{TRACES, "lo_creat"},
	{TRACES, "lo_from_bytea"},
	{TRACES, "lo_put"},
	{TRACES, "lowrite"},
	{TRACES, "lo_truncate"},
	{TRACES, "lo_truncate64"},
	{TRACES, "lo_unlink"},

	/*
	 * Citus', which are in pg_catalog, too.  Nothing stands for them: who may
	 * not call them is refused, in the views over them as well.
	 */
	{SIZES, "citus_relation_size"},
	{SIZES, "citus_table_size"},
	{SIZES, "citus_total_relation_size"},
	{SIZES, "citus_shard_sizes"},
	{SIZES, "citus_shard_cost_by_disk_size"},
	{SIZES, "citus_local_disk_space_stats"},
	{SIZES, "citus_node_disk_space_stats"},
	{SIZES, "get_rebalance_progress"},
	{SIZES, "get_rebalance_table_shards_plan"},
	{SIZES, "worker_partitioned_relation_size"},
	{SIZES, "worker_partitioned_relation_total_size"},
	{SIZES, "worker_partitioned_table_size"},
	{SIZES, "citus_update_shard_statistics"},
	{SIZES, "master_update_shard_statistics"},
	{SIZES, "citus_update_table_statistics"},
	{SIZES, "master_update_table_statistics"},
	{STATISTICS, "citus_stat_counters"},
	{STATISTICS, "citus_query_stats"},
	{TRACES, "run_command_on_all_nodes"},
	{TRACES, "run_command_on_colocated_placements"},
	{TRACES, "run_command_on_coordinator"},
	{TRACES, "run_command_on_placements"},
	{TRACES, "run_command_on_shards"},
	{TRACES, "run_command_on_workers"},
	{TRACES, "master_run_on_worker"},

	/* EXPLAIN ANALYZE by another name */
	{TRACES, "worker_save_query_explain_analyze"},
	{TRACES, "worker_last_saved_explain_analyze"},

	/*
	 * states of aggregates of any kind, in and out; without these Citus
	 * brings rows of other aggregates here
	 */
	{TRACES, "worker_partial_agg"},
	{TRACES, "worker_partial_agg_sfunc"},
	{TRACES, "worker_partial_agg_ffunc"},
	{TRACES, "coord_combine_agg"},
	{TRACES, "coord_combine_agg_sfunc"},
	{TRACES, "coord_combine_agg_ffunc"}
};

/* beginnings of names of class statistics, after pg_stat_get_ */
static const char *const beginnings[] = {
	"live_tuples", "xact_live_tuples", "dead_tuples", "xact_dead_tuples", "tuples_", "xact_tuples_",
	"blocks_", "xact_blocks_", "numscans", "xact_numscans", "lastscan", "mod_since", "ins_since", "last_",
	"vacuum_", "autovacuum_", "analyze_", "autoanalyze_",
	"total_vacuum_", "total_autovacuum_", "total_analyze_", "total_autoanalyze_",
	"db_tuples_", "db_blocks_", "db_temp_", "db_blk_", "db_parallel_workers_",
	"buf_", "bgwriter_buf_", "bgwriter_maxwritten_", "bgwriter_requested_", "checkpointer_buf", "checkpointer_num_requested",
	"checkpointer_slru", "checkpoint_write_", "checkpoint_sync_", "checkpointer_write_", "checkpointer_sync_",
	/* an owner's trigger is called once for each row */
	"function_", "xact_function_"
};

/* Returns what is known of a name; class NULL: it is not closed. */
static ClosedName
find_name(const char *name)
{
	ClosedName	closed = {NULL, name, NULL};
	const char *rest = name + strlen("pg_stat_get_");

	for (int i = 0; i < lengthof(names); i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i];
	if (strncmp(name, "pg_stat_get_", strlen("pg_stat_get_")) != 0)
		return closed;
	for (int i = 0; i < lengthof(beginnings) && closed.class == NULL; i++)
		if (strncmp(rest, beginnings[i], strlen(beginnings[i])) == 0)
			closed.class = STATISTICS;
	return closed;
}

/* Returns the mask of a function of PostgreSQL's, from its row in pg_proc. */
static DpMask
look_up(Oid funcid, const char **told)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	DpMask		mask = DP_MASK_NONE;
	Form_pg_proc proc;

	if (!HeapTupleIsValid(tuple))
		return mask;
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	if (proc->pronamespace == PG_CATALOG_NAMESPACE && proc->prokind == PROKIND_FUNCTION)
	{
		ClosedName	closed = find_name(NameStr(proc->proname));

		*told = closed.told;
		if (closed.class != NULL && strcmp(closed.class, TRACES) != 0)
			mask = closed.told != NULL ? DP_MASK_TOLD : DP_MASK_NULL;
	}
	ReleaseSysCache(tuple);
	return mask;
}

DpMask
dp_mask_of(Oid funcid, const char **told)
{
	/*
	 * every call in every query is asked for: names of PostgreSQL's functions
	 * do not change
	 */
	static bool is_open[FirstNormalObjectId];
	DpMask		mask;

	*told = NULL;
	if (funcid >= FirstNormalObjectId || is_open[funcid])
		return DP_MASK_NONE;
	mask = look_up(funcid, told);
	is_open[funcid] = mask == DP_MASK_NONE;
	return mask;
}

PG_FUNCTION_INFO_V1(dp_closed_class);

/* closed_class(name): why a function of PostgreSQL's of that name is closed; NULL: it is not */
Datum
dp_closed_class(PG_FUNCTION_ARGS)
{
	ClosedName	closed = find_name(NameStr(*PG_GETARG_NAME(0)));

	if (closed.class == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(closed.class));
}
