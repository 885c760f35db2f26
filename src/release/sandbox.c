/*-------------------------------------------------------------------------
 *
 * sandbox.c
 *	  The conditions under which protected rows are read.
 *
 * The table owner's rights, a security-restricted operation, and settings
 * that neither change what an expression means nor show anything of the run.
 * No code of an analyst runs inside: the guard admits built-in functions, and
 * those that a superuser has added, only.
 *
 * An error inside is replaced by one constant message: the original's text
 * may quote a protected value.  It goes to the server's log.  There is no
 * subtransaction, hence the replacement is an error, too, and what was
 * debited stays debited.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/gin.h"
#include "access/tableam.h"
#include "access/xlog.h"
#include "base/distributed.h"
#include "base/errors.h"
#include "catalog/namespace.h"
#include "jit/jit.h"
#include "miscadmin.h"
#include "optimizer/geqo.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "parser/parse_expr.h"
#include "parser/parser.h"
#include "pgstat.h"
#include "release/release.h"
#include "release/release_int.h"
#include "tcop/tcopprot.h"
#include "tsearch/ts_cache.h"
#include "utils/builtins.h"
#include "utils/bytea.h"
#include "utils/float.h"
#include "utils/guc.h"
#include "utils/rls.h"

/*
 * A setting that is pinned.  Each release begins a sandbox twice, and PostgreSQL
 * searches for a name among all settings.  Flag, number or text points to where it
 * keeps this one, and "is" tells what is there with that value; without these it searches.
 */
typedef struct PinnedSetting
{
	const char *name;
	const char *value;
	const bool *flag;
	const int  *number;
	char	   *const *text;
	int			is;
} PinnedSetting;

/* settings that an analyst could use to see more or to change a meaning */
static const PinnedSetting pinned_settings[] = {
	{"search_path", "pg_catalog, pg_temp", .text = &namespace_search_path},
	{"TimeZone", "UTC"},
	{"DateStyle", "ISO, YMD"},
	{"IntervalStyle", "postgres", .number = &IntervalStyle, .is = INTSTYLE_POSTGRES},
	{"bytea_output", "hex", .number = &bytea_output, .is = BYTEA_OUTPUT_HEX},
	{"extra_float_digits", "1", .number = &extra_float_digits, .is = 1},
	{"client_min_messages", "error", .number = &client_min_messages, .is = ERROR},

	/*
	 * would send an error's own text instead of ours, and end the session
	 * with it
	 */
	{"exit_on_error", "off", .flag = &ExitOnAnyError, .is = false},
	{"debug_print_parse", "off", .flag = &Debug_print_parse, .is = false},
	{"debug_print_rewritten", "off", .flag = &Debug_print_rewritten, .is = false},
	{"debug_print_plan", "off", .flag = &Debug_print_plan, .is = false},
	{"transform_null_equals", "off", .flag = &Transform_null_equals, .is = false},
	{"standard_conforming_strings", "on"},
	{"backslash_quote", "safe_encoding", .number = &backslash_quote, .is = BACKSLASH_QUOTE_SAFE_ENCODING},
	{"quote_all_identifiers", "off", .flag = &quote_all_identifiers, .is = false},
	{"row_security", "on", .flag = &row_security, .is = true},
	/* pg_stat_xact_* would count the rows that the inner run touched */
	{"track_counts", "off", .flag = &pgstat_track_counts, .is = false},
	/* so would pg_stat_user_functions, of functions that a superuser allowed */
	{"track_functions", "none", .number = &pgstat_track_functions, .is = TRACK_FUNC_OFF},

	/* instead of a line for each file there is one of all: spills.c */
	{"log_temp_files", "-1", .number = &log_temp_files, .is = -1},

	/*
	 * where the run is in a large table is where scans of other sessions
	 * begin, also of tables that the asker may read
	 */
	{"synchronize_seqscans", "off", .flag = &synchronize_seqscans, .is = false},

	/*
	 * from here on: what could make a run fail, or go astray, for the rows
	 * that it meets
	 */
	{"temp_file_limit", "-1", .number = &temp_file_limit, .is = -1},
	/* would leave out rows of everybody at random, as many as there are */
	{"gin_fuzzy_search_limit", "0", .number = &GinFuzzySearchLimit, .is = 0},

	/*
	 * compiles when the first row comes, in stack and memory that nobody
	 * counts
	 */
	{"jit", "off", .flag = &jit_enabled, .is = false},

	/*
	 * parallel workers look up the objects that these name, which may be
	 * gone, and start when a row asks for them
	 */
	{"default_text_search_config", "pg_catalog.simple", .text = &TSCurrentConfig},
	{"default_tablespace", ""},
	{"default_table_access_method", "heap", .text = &default_table_access_method},
	/* limits on planning that do not depend on the query */
	{"geqo", "on", .flag = &enable_geqo, .is = true},
	{"geqo_effort", "5", .number = &Geqo_effort, .is = 5},
	{"geqo_pool_size", "0", .number = &Geqo_pool_size, .is = 0},
	{"geqo_generations", "0", .number = &Geqo_generations, .is = 0},
};

/* no more than this */
static const struct
{
	const char *name;
	const int  *number;
	int			most;
}			limited_settings[] =

{
	{"geqo_threshold", &geqo_threshold, 12},
	{"from_collapse_limit", &from_collapse_limit, 12},
	{"join_collapse_limit", &join_collapse_limit, 12},
};

/* settings that exist only in some servers */
static const PinnedSetting other_settings[] = {
	{"trace_sort", "off"},

	/*
	 * from 19 on: one shows queries, the other adds up below joins what the
	 * limits on units' states are made for
	 */
	{"debug_print_raw_parse", "off"},
	{"enable_eager_aggregate", "off"},
};

/* Citus' */
static const PinnedSetting citus_settings[] = {
	{"citus.max_intermediate_result_size", "-1"},

	/*
	 * what Citus may leave out or approximate, and what it tells of its
	 * queries
	 */
	{"citus.subquery_pushdown", "off"},
	{"citus.limit_clause_row_fetch_count", "-1"},
	{"citus.count_distinct_error_rate", "0"},
	{"citus.log_remote_commands", "off"},
	{"citus.log_local_commands", "off"},
	{"citus.log_intermediate_results", "off"},
	{"citus.log_multi_join_order", "off"},
	{"citus.multi_task_query_log_level", "off"},
	/* by which rows would go from server to server, or come here */
	{"citus.enable_repartition_joins", "off"},
	{"citus.enable_single_hash_repartition_joins", "off"},
	{"citus.coordinator_aggregation_strategy", "disabled"},
	{"citus.local_table_join_policy", "never"},
	/* without which settings would not be sent (worker_settings.c) */
	{"citus.function_opens_transaction_block", "on"},
};

/* those of them by which an expression may mean something else */
static const char *const meanings[] = {
	"DateStyle", "IntervalStyle", "bytea_output", "extra_float_digits"
};

/* Sets what has another value: most have it already, so that nothing is to be set, nor restored. */
static void
pin(const char *name, const char *value)
{
	const char *now = GetConfigOption(name, true, false);

	if (now == NULL || strcmp(now, value) != 0)
		(void) set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

static void
pin_setting(const PinnedSetting *setting)
{
	if (setting->flag != NULL ? *setting->flag == (setting->is != 0) :
		setting->number != NULL ? *setting->number == setting->is :
		setting->text !=NULL && *setting->text !=NULL && strcmp(*setting->text, setting->value) == 0)
		return;
	pin(setting->name, setting->value);
}

/* Pins those of some settings that exist. */
static void
pin_existing(const PinnedSetting *settings, int n)
{
	for (int i = 0; i < n; i++)
		if (GetConfigOption(settings[i].name, true, false) != NULL)
			pin_setting(&settings[i]);
}

void
dp_pin_meanings(const char *timezone)
{
	pin("TimeZone", timezone);
	for (int i = 0; i < lengthof(meanings); i++)
		for (int j = 0; j < lengthof(pinned_settings); j++)
			if (strcmp(meanings[i], pinned_settings[j].name) == 0)
				pin_setting(&pinned_settings[j]);
}

void
dp_sandbox_begin(DpSandbox *box, Oid owner, int stack, const char *timezone)
{
	dp_stack_check(0);
	dp_withhold_debug_messages();
	GetUserIdAndSecContext(&box->save_userid, &box->save_sec_context);
	box->save_buffers = pgBufferUsage;
	box->save_wal = pgWalUsage;
	box->log_temp_files = log_temp_files;
	box->save_nestlevel = NewGUCNestLevel();
	for (int i = 0; i < lengthof(pinned_settings); i++)
		pin_setting(&pinned_settings[i]);
	if (timezone != NULL)
		pin("TimeZone", timezone);
	for (int i = 0; i < lengthof(limited_settings); i++)
	{
		if (*limited_settings[i].number > limited_settings[i].most)
			pin(limited_settings[i].name, psprintf("%d", limited_settings[i].most));
	}
	pin_existing(other_settings, lengthof(other_settings));
	if (dp_has_citus())
		pin_existing(citus_settings, lengthof(citus_settings));
	/* in kB */
	if (max_stack_depth != stack / 1024)
		pin("max_stack_depth", psprintf("%d", stack / 1024));
	SetUserIdAndSecContext(owner,
						   box->save_sec_context | SECURITY_RESTRICTED_OPERATION |
						   SECURITY_LOCAL_USERID_CHANGE);
	box->save_stack = dp_stack_begin();
}

void
dp_sandbox_end(DpSandbox *box)
{
	SetUserIdAndSecContext(box->save_userid, box->save_sec_context);
	AtEOXact_GUC(false, box->save_nestlevel);
	dp_stack_end(box->save_stack);
	/* those of workers are added when they have ended */
	box->spilled = (uint64) (pgBufferUsage.temp_blks_written - box->save_buffers.temp_blks_written) * BLCKSZ;
	/* otherwise pg_stat_statements would show the blocks of the inner run */
	pgBufferUsage = box->save_buffers;
	pgWalUsage = box->save_wal;
}

void
dp_sandbox_hush(void)
{
	static const char *const hushed[][2] = {{"client_min_messages", "error"}, {"log_temp_files", "-1"}, {"track_counts", "off"}};

	/*
	 * the end of the transaction leaves the level; a parallel operation,
	 * which may not be over, takes no other action
	 */
	(void) NewGUCNestLevel();
	for (int i = 0; i < lengthof(hushed); i++)
		(void) set_config_option(hushed[i][0], hushed[i][1], PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

ErrorData *
dp_sandbox_catch(MemoryContext context)
{
	ErrorData  *error;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	FlushErrorState();
	return error;
}

/* Raises one error for a cancel or timeout, whether it came while rows were read or while an answer waited. */
void
dp_sandbox_raise_cancel(const char *paid)
{
	ereport(ERROR,
			(errcode(ERRCODE_QUERY_CANCELED),
			 errmsg("canceling private query; %s", paid)));
}

/*
 * Returns what the server ran out of, for those who run it; NULL where the
 * error is of another kind.  temp_file_limit is not among it, because it is
 * lifted here: it would fail for the number of rows.
 */
static const char *
lacking(int sqlerrcode)
{
	switch (sqlerrcode)
	{
		case ERRCODE_DISK_FULL:
			return "space on a disk";
		case ERRCODE_OUT_OF_MEMORY:
			return "memory";
		case ERRCODE_CONFIGURATION_LIMIT_EXCEEDED:
			return "what a limit of the server's configuration leaves";
		case ERRCODE_IO_ERROR:
			return "a disk that can be read and written";
		case ERRCODE_STATEMENT_TOO_COMPLEX:
			return "room on the stack";
		default:
			return ERRCODE_TO_CATEGORY(sqlerrcode) == ERRCODE_INSUFFICIENT_RESOURCES ? "resources" : NULL;
	}
}

/* Writes the cause into the server's log, by its SQLSTATE and, if the server lacks something, by what. */
static void
log_cause(const ErrorData *error, bool reading)
{
	const char *what = lacking(error->sqlerrcode);

	ereport(LOG_SERVER_ONLY,
			(errcode(error->sqlerrcode),
			 what == NULL
			 ? errmsg("private query failed while it %s: %s",
					  reading ? "read protected rows" : "was planned", error->message)
			 : errmsg("private query failed while it %s, for want of %s (SQLSTATE %s): %s",
					  reading ? "read protected rows" : "was planned", what,
					  unpack_sql_state(error->sqlerrcode), error->message),
			 error->detail ? errdetail_internal("%s", error->detail) : 0,
			 what ? errhint("This is for those who run the server; whoever asked was told no more than that the query failed.") : 0,
			 errhidestmt(true)));
}

void
dp_sandbox_raise(ErrorData *error, const char *paid, bool reading)
{
	if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		dp_sandbox_raise_cancel(paid);
	if (error->sqlerrcode == ERRCODE_T_R_SERIALIZATION_FAILURE)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 RecoveryInProgress()
				 ? errmsg("canceling private query due to conflict with recovery: this standby had to replay what the primary removed; %s", paid)
				 : errmsg("could not serialize access; %s", paid)));

	log_cause(error, reading);
	dp_raise(NOT_RELEASABLE,
			 reading
			 ? errmsg("private query failed while it read protected rows; %s; "
					  "the cause is in the server's log", paid)
			 : errmsg("private query could not be planned; %s, "
					  "the cause is in the server's log", paid));
}

void
dp_sandbox_rethrow(MemoryContext context, const char *paid)
{
	ErrorData  *error = dp_sandbox_catch(context);

	/* before rows are read ours depend on the query alone, and say what to do */
	if (error->sqlerrcode == ERRCODE_DP_BAD_PARAMETER || error->sqlerrcode == ERRCODE_DP_NOT_RELEASABLE)
		ReThrowError(error);
	dp_sandbox_raise(error, paid, false);
}
