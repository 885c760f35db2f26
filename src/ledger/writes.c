/*-------------------------------------------------------------------------
 *
 * writes.c
 *	  Balances and the audit log change only through this extension.
 *
 * Row and TRUNCATE triggers, ENABLE ALWAYS, refuse every UPDATE, DELETE and
 * TRUNCATE of the ledger's tables unless the running C function of this
 * extension has opened the door for itself.  This is a guard against
 * accidents and habits, not against superusers: they can disable triggers,
 * and then it is in the schema for everybody to see.
 *
 * INSERT is for the table's owner besides, by hand and for restores: a privilege
 * that somebody was granted is none to give himself a budget, whoever granted it.
 * It makes the worker look at the table anew.
 * A row that comes without the names of its roles gets those of today, and one
 * whose amounts are no numbers is refused: a sum with NaN in it stays NaN.
 *
 * What logical replication brings is not applied: each server has a ledger of
 * its own, whose balances another's must not lower, and an error would stop
 * the replication of everything else.
 *
 * Invariant: the door is shut at the end of the (sub)transaction in which it
 * was opened, whatever happened there.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/numeric.h"
#include "utils/rel.h"

#include "base/errors.h"
#include "base/extension.h"
#include "base/role_names.h"
#include "ledger/ledger_int.h"

PG_FUNCTION_INFO_V1(dp_ledger_guard);
PG_FUNCTION_INFO_V1(dp_ledger_not_replicated);

/* nesting level of the transaction that may write; 0: none */
static int	write_level = 0;

static void
at_xact(XactEvent event, void *arg)
{
	write_level = 0;
}

static void
at_subxact(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	if ((event == SUBXACT_EVENT_ABORT_SUB || event == SUBXACT_EVENT_COMMIT_SUB) &&
		write_level >= GetCurrentTransactionNestLevel())
		write_level = 0;
}

void
dp_ledger_write_begin(void)
{
	static bool registered = false;

	if (!registered)
	{
		RegisterXactCallback(at_xact, NULL);
		RegisterSubXactCallback(at_subxact, NULL);
		registered = true;
	}
	Assert(write_level == 0);
	write_level = GetCurrentTransactionNestLevel();
}

void
dp_ledger_write_end(void)
{
	write_level = 0;
}

/* Names the function that does what was tried. */
static const char *
remedy(const char *table)
{
	if (strcmp(table, "budget") == 0)
		return "use dp_cdp.set_budget or dp_cdp.drop_budget";
	if (strcmp(table, "dataset") == 0)
		return "use dp_cdp.alter_dataset or dp_cdp.drop_dataset";
	if (strcmp(table, "release_log") == 0)
		return "it is append-only; dp_cdp.prune_releases() makes old rows into checkpoints, dp_cdp.empty_ledger() empties it together with all balances";
	if (strcmp(table, "ledger_chain") == 0 || strcmp(table, "pruned") == 0)
		return "it holds the chain of hashes together; see dp_cdp.check_ledger()";
	if (strcmp(table, "role_alias") == 0)
		return "use dp_cdp.adopt_role()";
	if (strcmp(table, "block_spent") == 0)
		return "use dp_cdp.correct_spent() or dp_cdp.adopt_ledger()";
	if (strcmp(table, "kept_answer") == 0)
		return "use dp_cdp.forget_answers()";
	if (strcmp(table, "ledger_stamp") == 0)
		return "use dp_cdp.adopt_ledger()";
	if (strcmp(table, "standby") == 0)
		return "use dp_cdp.register_standby() or dp_cdp.drop_standby()";
	return "use the functions of schema dp_cdp";
}

/* Tells whether a function of this extension's that writes, or one of its scripts, is running. */
static bool
is_door_open(void)
{
	return write_level != 0 || (creating_extension && CurrentExtensionObject == dp_extension_oid());
}

/* The privilege to write is not asked for: default privileges give it to whom nobody meant. */
static bool
is_owner(Relation table)
{
	return has_privs_of_role(GetUserId(), table->rd_rel->relowner);
}

static void
refuse_write(const char *table)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("table dp_cdp_internal.%s cannot be changed directly; %s", table, remedy(table))));
}

/* Fills in the name that belongs to an OID, unless the row has it or lacks such columns. */
static HeapTuple
fill_in_name(HeapTuple row, TupleDesc desc, const char *oid_column, const char *name_column)
{
	int			from = SPI_fnumber(desc, oid_column);
	int			to = SPI_fnumber(desc, name_column);
	bool		isnull;
	Datum		role;
	char	   *name;
	bool		no = false;

	if (from <= 0 || to <= 0)
		return row;
	(void) heap_getattr(row, to, desc, &isnull);
	if (!isnull)
		return row;
	role = heap_getattr(row, from, desc, &isnull);
	name = isnull ? NULL : dp_role_name(DatumGetObjectId(role));
	if (name != NULL)
	{
		Datum		value = CStringGetTextDatum(name);

		row = heap_modify_tuple_by_cols(row, desc, 1, &to, &value, &no);
	}
	return row;
}

static HeapTuple
fill_in_names(HeapTuple row, TupleDesc desc)
{
	row = fill_in_name(row, desc, "role", "role_name");
	row = fill_in_name(row, desc, "session_role", "session_role_name");
	return fill_in_name(row, desc, "owner", "owner_name");
}

/* Refuses a row whose amount, if it has such a column, is not finite, or is negative where that means nothing. */
static void
check_amount(HeapTuple row, TupleDesc desc, const char *table, const char *column, bool may_be_negative)
{
	int			attnum = SPI_fnumber(desc, column);
	bool		isnull = true;
	Datum		value = attnum > 0 ? heap_getattr(row, attnum, desc, &isnull) : (Datum) 0;

	if (isnull)
		return;
	if (numeric_is_nan(DatumGetNumeric(value)) || numeric_is_inf(DatumGetNumeric(value)) ||
		(!may_be_negative &&
		 DatumGetBool(DirectFunctionCall2(numeric_lt, value, NumericGetDatum(int64_to_numeric(0))))))
		dp_raise(BAD_PARAMETER,
				 errmsg("%s of a row of dp_cdp_internal.%s must be a finite number%s: correct the row before it is put in",
						column, table, may_be_negative ? "" : " and not negative"));
}

static void
check_amounts(HeapTuple row, TupleDesc desc, const char *table)
{
	check_amount(row, desc, table, "rho_spent", false);
	check_amount(row, desc, table, "delta_spent", false);
	/* of the log, where corrections may be negative */
	check_amount(row, desc, table, "rho", true);
	check_amount(row, desc, table, "delta", true);
	check_amount(row, desc, table, "reuse_rho", true);
	check_amount(row, desc, table, "reuse_delta", true);
}

/*
 * Tells whether this process applies what another server has sent, as
 * PostgreSQL's subscriptions and extensions like them do: a background worker
 * in the role of a replica.  Parallel workers never write.
 */
static bool
is_replicating(void)
{
	return MyBgworkerEntry != NULL && SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA;
}

/* Says once, in the life of the server, that rows are left out. */
static void
tell_not_applied(const char *table)
{
	if (dp_shared == NULL || pg_atomic_exchange_u32(&dp_shared->told_not_applied, 1) != 0)
		return;
	ereport(LOG,
			(errmsg("rows of dp_cdp_internal.%s, and of other tables of the ledger, are not replicated: each server has its own ledger",
					table),
			 errhint("Leave schema dp_cdp out of the publication, and this is not said again.")));
}

/*
 * Trigger function of tables that are not guarded otherwise: leaves out what
 * replication brings, and lets their owner write.
 */
Datum
dp_ledger_not_replicated(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "dp_ledger_not_replicated must be called as a trigger");
	if (is_replicating())
	{
		tell_not_applied(RelationGetRelationName(trigger->tg_relation));
		return PointerGetDatum(NULL);
	}
	if (!is_door_open() && !is_owner(trigger->tg_relation))
		refuse_write(RelationGetRelationName(trigger->tg_relation));
	return PointerGetDatum(TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ? trigger->tg_newtuple : trigger->tg_trigtuple);
}

Datum
dp_ledger_guard(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	const char *table;

	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "dp_ledger_guard must be called as a trigger");
	table = RelationGetRelationName(trigger->tg_relation);

	/* TRUNCATE cannot be left out, and fails below */
	if (is_replicating() && TRIGGER_FIRED_FOR_ROW(trigger->tg_event))
	{
		tell_not_applied(table);
		return PointerGetDatum(NULL);
	}

	if (!is_door_open() && !(TRIGGER_FIRED_BY_INSERT(trigger->tg_event) && is_owner(trigger->tg_relation)))
		refuse_write(table);

	if (TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
	{
		/* tells the worker's directory (tables.c) */
		CacheInvalidateRelcache(trigger->tg_relation);
		check_amounts(trigger->tg_trigtuple, RelationGetDescr(trigger->tg_relation), table);
		return PointerGetDatum(fill_in_names(trigger->tg_trigtuple, RelationGetDescr(trigger->tg_relation)));
	}

	/*
	 * the worker remembers how many answers are kept; what it does itself it
	 * knows
	 */
	if (strcmp(table, "kept_answer") == 0 && MyBgworkerEntry == NULL)
		CacheInvalidateRelcache(trigger->tg_relation);

	/*
	 * the worker remembers the head of the chain, whom a name means, and
	 * whose a budget is
	 */
	if (strcmp(table, "ledger_chain") == 0 || strcmp(table, "role_alias") == 0 || strcmp(table, "budget") == 0)
		CacheInvalidateRelcache(trigger->tg_relation);
	if (TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
		return PointerGetDatum(trigger->tg_newtuple);
	return PointerGetDatum(trigger->tg_trigtuple);
}
