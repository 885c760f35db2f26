/*-------------------------------------------------------------------------
 *
 * blocks.c
 *	  Tables whose rows are in blocks of time: the column that says in which,
 *	  and the trigger that keeps rows there.
 *
 * A dataset with blocks keeps its promise for each person and block: a query
 * over some blocks is charged to these alone.  So a row that moved to another
 * block would be released from a budget that has paid for nothing of it.
 *
 * Invariants:
 *	- a dataset is with blocks or without, for good: it gets their length with
 *	  its first table, before anything is spent, and all its tables have a
 *	  block, of their own or that of the rows that they belong through to;
 *	- an UPDATE moves no row to another block: a trigger on each such table
 *	  refuses it (check_setup() finds tables that have lost theirs).  Who owns
 *	  the table may still delete a row and put it in anew.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type_d.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "admin/admin.h"
#include "base/distributed.h"
#include "base/errors.h"
#include "base/settings.h"

PG_FUNCTION_INFO_V1(dp_keep_block);

#define TRIGGER_NAME "dp_cdp_keep_block"

/* ------------------------------------------------------------------------
 * Arguments
 * ------------------------------------------------------------------------
 */

void
dp_admin_check_block_column(Oid relid, AttrNumber attnum)
{
	Oid			type;
	int32		typmod;
	Oid			collation;
	char	   *name = get_attname(relid, attnum, false);

	get_atttypetypmodcoll(relid, attnum, &type, &typmod, &collation);
	if (!dp_type_is_time(type))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("column \"%s\" of table \"%s\" has type %s, and blocks are of time: name a column of type date, timestamp or timestamptz",
						name, get_rel_name(relid), format_type_be(type))));
	if (get_attgenerated(relid, attnum) != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("column \"%s\" of table \"%s\" is generated, so that its rows could move to other blocks of time: name a column that is written once",
						name, get_rel_name(relid))));
}

void
dp_admin_read_block(FunctionCallInfo fcinfo, int first, Oid relid, DpBlockArgument *argument)
{
	Oid			type;
	int32		typmod;
	Oid			collation;

	memset(argument, 0, sizeof(DpBlockArgument));
	if (!PG_ARGISNULL(first + 1) && !dp_block_length(PG_GETARG_INTERVAL_P(first + 1), &argument->length))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("every must be of whole months or of whole days, not of both, above 0 and at most 100 years, such as '1 month', '7 days' or '1 year'")));
	if (PG_ARGISNULL(first))
	{
		if (!PG_ARGISNULL(first + 1))
			ereport(ERROR,
					(errcode(ERRCODE_DP_BAD_PARAMETER),
					 errmsg("every says how long blocks of time are: name the column that says in which of them a row is, too, as block")));
		return;
	}
	argument->column = dp_admin_column(fcinfo, first, "block", relid, &type, &typmod, &collation);
	dp_admin_check_block_column(relid, argument->column);
	argument->every = PG_ARGISNULL(first + 1) ? NULL : PG_GETARG_INTERVAL_P(first + 1);
}

/* ------------------------------------------------------------------------
 * With blocks or without
 * ------------------------------------------------------------------------
 */

static void
no_length(const char *dataset)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_BAD_PARAMETER),
			 errmsg("give every, too, such as '1 month': how long the blocks of dataset \"%s\" are, for good", dataset)));
}

/* Gives a dataset blocks that has nothing yet.  The lock keeps others from protecting a table in it meanwhile. */
static void
begin_blocks(const char *dataset, Oid user, const DpBlockArgument *argument)
{
	DpDatasetRow *row = dp_admin_dataset(dataset, user, DP_LOCK_CHANGE);
	Oid			types[] = {TEXTOID, INTERVALOID};
	Datum		values[] = {CStringGetTextDatum(dataset), IntervalPGetDatum(argument->every)};
	List	   *tables = dp_label_tables(dataset);

	if (argument->every == NULL)
		no_length(dataset);
	if (tables != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("dataset \"%s\" is without blocks, as it protects table \"%s\" without: make a dataset of its own for tables with blocks",
						dataset, get_rel_name(linitial_oid(tables)))));
	if (row->spent)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("dataset \"%s\" is without blocks, and some of its budget was spent: make a dataset of its own for tables with blocks",
						dataset)));
	dp_admin_execute("UPDATE dp_cdp.dataset SET block_every = $2 WHERE name = $1", 2, types, values, NULL, true);
}

void
dp_admin_settle_blocks(const char *dataset, const DpDatasetRow *row, Oid user, Oid relid, bool through,
					   const DpBlockArgument *argument)
{
	if (argument->column == InvalidAttrNumber)
	{
		if (dp_has_blocks(&row->blocks) && !through)
			ereport(ERROR,
					(errcode(ERRCODE_DP_BAD_PARAMETER),
					 errmsg("dataset \"%s\" is with blocks of time: name the column of table \"%s\" that says in which of them a row is, as block",
							dataset, get_rel_name(relid))));
		return;
	}
	if (!dp_has_blocks(&row->blocks))
		begin_blocks(dataset, user, argument);
	else if (argument->every != NULL &&
			 (argument->length.months != row->blocks.months || argument->length.days != row->blocks.days))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("the blocks of dataset \"%s\" have another length, which is the same for all its tables and for good: leave every out",
						dataset)));
}

/* ------------------------------------------------------------------------
 * Rows stay in their blocks
 * ------------------------------------------------------------------------
 */

/* Returns the names of the tables that need a trigger of their own: partitions have their parent's. */
static List *
triggered_tables(Oid relid)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, find_all_inheritors(relid, NoLock, NULL))
	{
		if (lfirst_oid(lc) == relid || !get_rel_relispartition(lfirst_oid(lc)))
			names = lappend(names, quote_qualified_identifier(get_namespace_name(get_rel_namespace(lfirst_oid(lc))),
															  get_rel_name(lfirst_oid(lc))));
	}
	return names;
}

void
dp_admin_free_blocks(Oid relid)
{
	ListCell   *lc;

	foreach(lc, triggered_tables(relid))
		dp_admin_execute(psprintf("DROP TRIGGER IF EXISTS " TRIGGER_NAME " ON %s", (char *) lfirst(lc)),
						 0, NULL, NULL, NULL, false);
}

void
dp_admin_keep_blocks(Oid relid)
{
	AttrNumber	attnum = InvalidAttrNumber;
	AttrNumber	distributed_by;
	ListCell   *lc;

	foreach(lc, dp_label_list(relid))
	{
		if (((DpLabel *) lfirst(lc))->attnum > 0 && ((DpLabel *) lfirst(lc))->block)
			attnum = ((DpLabel *) lfirst(lc))->attnum;
	}
	if (attnum == InvalidAttrNumber)
		return;
	dp_admin_check_block_column(relid, attnum);
	if (dp_is_distributed(relid, &distributed_by))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("the rows of distributed table \"%s\" cannot be kept in blocks of time, which takes a trigger that Citus does not run: leave out block, and use a dataset without blocks",
						get_rel_name(relid))));
	foreach(lc, triggered_tables(relid))
	{
		const char *column = quote_identifier(get_attname(relid, attnum, false));
		char	   *table = lfirst(lc);

		dp_admin_execute(psprintf("CREATE OR REPLACE TRIGGER " TRIGGER_NAME " BEFORE UPDATE ON %s FOR EACH ROW"
								  " WHEN (OLD.%s IS DISTINCT FROM NEW.%s) EXECUTE FUNCTION dp_cdp.keep_block()",
								  table, column, column), 0, NULL, NULL, NULL, false);
		dp_admin_execute(psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER " TRIGGER_NAME, table), 0, NULL, NULL, NULL, false);
	}
}

/* Returns the day on which the block of a row begins. */
static DateADT
block_of_row(HeapTuple row, Relation rel, AttrNumber attnum, const DpBlockLength *length)
{
	bool		isnull;
	Datum		value = heap_getattr(row, attnum, RelationGetDescr(rel), &isnull);

	if (isnull)
		return DATEVAL_NOBEGIN;
	return dp_block_start(dp_day_of(value, TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid), length);
}

/*
 * SQL: dp_cdp.keep_block(), a trigger: refuses to move a row to another block
 */
Datum
dp_keep_block(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	const DpTable *table;
	DpDataset  *dataset;
	Relation	rel;
	AttrNumber	attnum;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) || !TRIGGER_FIRED_FOR_ROW(trigger->tg_event))
		elog(ERROR, "dp_cdp.keep_block must be called as a trigger, before the update of a row");
	rel = trigger->tg_relation;
	table = dp_preloaded ? dp_policy_table(RelationGetRelid(rel)) : NULL;
	if (table == NULL || table->block[0] == '\0')
		return PointerGetDatum(trigger->tg_newtuple);
	dataset = dp_policy_dataset(table->dataset);
	attnum = get_attnum(RelationGetRelid(rel), table->block);
	if (attnum <= 0 || !dp_type_is_time(get_atttype(RelationGetRelid(rel), attnum)) ||
		block_of_row(trigger->tg_trigtuple, rel, attnum, &dataset->blocks) ==
		block_of_row(trigger->tg_newtuple, rel, attnum, &dataset->blocks))
		return PointerGetDatum(trigger->tg_newtuple);
	ereport(ERROR,
			(errcode(ERRCODE_DP_BAD_PARAMETER),
			 errmsg("an UPDATE of column \"%s\" would move a row of protected table \"%s\" to another block of time, whose budget has paid for nothing of it: delete the row and insert it anew, if it was wrong",
					table->block, RelationGetRelationName(rel))));
}
