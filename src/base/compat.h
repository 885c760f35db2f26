/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  The only place, with compat_plan.h, that knows the differences between
 *	  PostgreSQL versions 15 to 19.  In 14 a type modifier of numeric can be an
 *	  error oracle.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_COMPAT_H
#define DP_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000
#error "dp_cdp needs PostgreSQL 15 or newer"
#endif

/* --- loops over lists, whose variables are of the elements' type --- */

#if PG_VERSION_NUM < 170000
#include "nodes/pg_list.h"

/* the first loop has one round, in which it declares the variable */
#define dp_foreach(type, pointer, var, list, element) \
	for (type pointer var = 0, pointer var##__outerloop = (type pointer) 1; var##__outerloop; var##__outerloop = 0) \
		for (ForEachState var##__state = {(list), 0}; \
			 var##__state.l != NIL && var##__state.i < var##__state.l->length && \
			 (var = element, true); \
			 var##__state.i++)
#define dp_cell_of(var) (&var##__state.l->elements[var##__state.i])
#define foreach_ptr(type, var, list) dp_foreach(type, *, var, list, lfirst(dp_cell_of(var)))
#define foreach_node(type, var, list) dp_foreach(type, *, var, list, lfirst_node(type, dp_cell_of(var)))
#define foreach_int(var, list) dp_foreach(int, , var, list, lfirst_int(dp_cell_of(var)))
#define foreach_oid(var, list) dp_foreach(Oid, , var, list, lfirst_oid(dp_cell_of(var)))
#undef foreach_delete_current
#define foreach_delete_current(list, var) ((List *) (var##__state.l = list_delete_nth_cell(list, var##__state.i--)))
#endif

/* --- planning and executing releases --- */

#include "base/compat_plan.h"

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
#include "utils/timestamp.h"
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

/* a date or timestamp as another type; *overflow is not 0 where that has no such value */
#define DP_TOLD_DATE(name, From, To) \
static inline To \
dp_##name(From date, int *overflow) \
{ \
	ErrorSaveContext errors = {T_ErrorSaveContext}; \
	To			result = name##_safe(date, (Node *) &errors); \
	*overflow = errors.error_occurred; \
	return result; \
} \
extern int dp_no_such_variable

DP_TOLD_NUMERIC(add);
DP_TOLD_NUMERIC(sub);
DP_TOLD_NUMERIC(mul);
DP_TOLD_NUMERIC(div);
DP_TOLD_NUMERIC(mod);
DP_TOLD_DATE(date2timestamp, DateADT, Timestamp);
DP_TOLD_DATE(date2timestamptz, DateADT, TimestampTz);
DP_TOLD_DATE(timestamp2timestamptz, Timestamp, TimestampTz);
#else
#define dp_numeric_add numeric_add_opt_error
#define dp_numeric_sub numeric_sub_opt_error
#define dp_numeric_mul numeric_mul_opt_error
#define dp_numeric_div numeric_div_opt_error
#define dp_numeric_mod numeric_mod_opt_error
#define dp_date2timestamp date2timestamp_opt_overflow
#define dp_date2timestamptz date2timestamptz_opt_overflow
#define dp_timestamp2timestamptz timestamp2timestamptz_opt_overflow
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
#if PG_VERSION_NUM >= 170000
#define F_RANDOM F_RANDOM_
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

/* --- settings --- */

#include "utils/guc_tables.h"

/* returns PostgreSQL's record of a setting that has a list of values */
static inline struct config_enum *
dp_enum_setting(const char *name)
{
#if PG_VERSION_NUM >= 160000
	struct config_generic *found = find_option(name, false, false, ERROR);
#else
	struct config_generic **all = get_guc_variables();
	struct config_generic *found = NULL;

	for (int i = 0; i < GetNumConfigOptions(); i++)
	{
		if (strcmp(all[i]->name, name) == 0)
			found = all[i];
	}
#endif
	if (found == NULL || found->vartype != PGC_ENUM)
		elog(ERROR, "setting %s has no list of values", name);
#if PG_VERSION_NUM >= 190000
	return &found->_enum;
#else
	return (struct config_enum *) found;
#endif
}

#endif							/* DP_COMPAT_H */
