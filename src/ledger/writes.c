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
 * INSERT is free, for restores, but makes the worker look at the table anew.
 *
 * Invariant: the door is shut at the end of the (sub)transaction in which it
 * was opened, whatever happened there.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "utils/inval.h"
#include "utils/rel.h"

#include "base/extension.h"
#include "ledger/ledger_int.h"

PG_FUNCTION_INFO_V1(dp_ledger_guard);

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
dp_ledger_writes_init(void)
{
	RegisterXactCallback(at_xact, NULL);
	RegisterSubXactCallback(at_subxact, NULL);
}

void
dp_ledger_write_begin(void)
{
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
		return "it is append-only; dp_cdp.empty_ledger() empties it together with all balances";
	if (strcmp(table, "ledger_stamp") == 0)
		return "use dp_cdp.adopt_ledger()";
	return "use the functions of schema dp_cdp";
}

Datum
dp_ledger_guard(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	const char *table;

	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "dp_ledger_guard must be called as a trigger");
	table = RelationGetRelationName(trigger->tg_relation);

	if (TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
	{
		/* tells the worker's directory (tables.c) */
		CacheInvalidateRelcache(trigger->tg_relation);
		return PointerGetDatum(trigger->tg_trigtuple);
	}

	/* upgrade scripts of this extension may do what they must */
	if (write_level == 0 &&
		!(creating_extension && CurrentExtensionObject == dp_extension_oid()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("table dp_cdp.%s cannot be changed directly; %s", table, remedy(table))));

	if (TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
		return PointerGetDatum(trigger->tg_newtuple);
	return PointerGetDatum(trigger->tg_trigtuple);
}
