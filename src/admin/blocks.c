/*-------------------------------------------------------------------------
 *
 * blocks.c
 *	  Tables whose rows are in blocks of time: the column that says in which,
 *	  and the triggers that keep rows there.
 *
 * A dataset with blocks keeps its promise for each person and block: a query
 * over some blocks is charged to these alone.  So a row that moved to another
 * block would be released from a budget that has paid for nothing of it.
 *
 * Invariants:
 *	- a dataset is with blocks or without, for good: it gets their length with
 *	  its first table, before anything is spent, and all its tables have a
 *	  block, of their own or that of the rows that they belong through to;
 *	- no row moves to another block, neither by an UPDATE of it nor by what
 *	  happens to the row that it belongs through to: triggers judge rows as they
 *	  are in the end (block_moves.c).  They are on tables with a block column,
 *	  on those that belong through a foreign key to what has one, and on what
 *	  these reference.  check_setup() finds tables that have lost theirs.  Who
 *	  owns the table may still delete a row and put it in anew.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/relation.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type_d.h"
#include "commands/trigger.h"
#include "nodes/bitmapset.h"
#include "optimizer/optimizer.h"
#include "parser/parse_func.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "admin/admin.h"
#include "base/distributed.h"
#include "base/errors.h"
#include "base/extension.h"
#include "base/settings.h"

PG_FUNCTION_INFO_V1(dp_block_problem);

/* ------------------------------------------------------------------------
 * Arguments
 * ------------------------------------------------------------------------
 */

static void
check_not_generated(Oid relid, AttrNumber attnum)
{
	if (get_attgenerated(relid, attnum) != '\0')
		dp_raise(BAD_PARAMETER, errmsg("column \"%s\" of table \"%s\" is generated: name a column that is written once",
									   get_attname(relid, attnum, false), get_rel_name(relid)),
				 errdetail("Rows could move to other blocks of time."));
}

/* Refuses a column that cannot say in which block of time a row is. */
static void
check_block_column(Oid relid, AttrNumber attnum)
{
	Oid			type;
	int32		typmod;
	Oid			collation;
	char	   *name = get_attname(relid, attnum, false);

	get_atttypetypmodcoll(relid, attnum, &type, &typmod, &collation);
	if (!dp_type_is_time(type))
		dp_raise(BAD_PARAMETER,
				 errmsg("column \"%s\" of table \"%s\" has type %s: name a column of type date, timestamp or timestamptz",
						name, get_rel_name(relid), format_type_be(type)),
				 errdetail("Blocks are of time."));
	check_not_generated(relid, attnum);
}

void
dp_admin_read_block(FunctionCallInfo fcinfo, int first, Oid relid, DpBlockArgument *argument)
{
	Oid			type;
	int32		typmod;
	Oid			collation;

	memset(argument, 0, sizeof(DpBlockArgument));
	if (!PG_ARGISNULL(first + 1) && !dp_block_length(PG_GETARG_INTERVAL_P(first + 1), &argument->length))
		dp_raise(BAD_PARAMETER,
				 errmsg("every must be whole months or whole days, above 0 and at most 100 years, such as '1 month' or '7 days'"));
	if (PG_ARGISNULL(first))
	{
		if (!PG_ARGISNULL(first + 1))
			dp_raise(BAD_PARAMETER,
					 errmsg("every says how long blocks of time are: name the column of time, too, such as block => 'visited_on'"),
					 errdetail("This column says in which block a row is."));
		return;
	}
	argument->column = dp_admin_column(fcinfo, first, "block", relid, &type, &typmod, &collation);
	check_block_column(relid, argument->column);
	argument->every = PG_ARGISNULL(first + 1) ? NULL : PG_GETARG_INTERVAL_P(first + 1);
}

/* ------------------------------------------------------------------------
 * With blocks or without
 * ------------------------------------------------------------------------
 */

static void
no_length(const char *dataset)
{
	dp_raise(BAD_PARAMETER,
			 errmsg("give every, too, such as every => '1 month': it says how long the blocks of dataset \"%s\" are, and never changes", dataset));
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
		dp_raise(BAD_PARAMETER,
				 errmsg("dataset \"%s\" has no blocks of time, because its table \"%s\" was protected without: make another dataset for tables with blocks",
						dataset, get_rel_name(linitial_oid(tables))));
	if (row->spent)
		dp_raise(BAD_PARAMETER,
				 errmsg("dataset \"%s\" has no blocks of time, and some of its budget was spent: make another dataset for tables with blocks",
						dataset));
	dp_admin_execute("UPDATE dp_cdp_internal.dataset SET block_every = $2 WHERE name = $1", 2, types, values, NULL, true);
}

void
dp_admin_settle_blocks(const char *dataset, const DpDatasetRow *row, Oid user, Oid relid, bool through,
					   const DpBlockArgument *argument)
{
	if (argument->column == InvalidAttrNumber)
	{
		if (dp_has_blocks(&row->blocks) && !through)
			dp_raise(BAD_PARAMETER,
					 errmsg("dataset \"%s\" has blocks of time: give block, the name of the column of table \"%s\" that says when a row was made",
							dataset, get_rel_name(relid)));
		return;
	}
	if (!dp_has_blocks(&row->blocks))
		begin_blocks(dataset, user, argument);
	else if (argument->every != NULL &&
			 (argument->length.months != row->blocks.months || argument->length.days != row->blocks.days))
		dp_raise(BAD_PARAMETER, errmsg("the blocks of dataset \"%s\" have another length: leave every out",
									   dataset),
				 errdetail("All tables of a dataset have blocks of one length, which never changes."));
}

/* ------------------------------------------------------------------------
 * Triggers that keep rows in their blocks
 * ------------------------------------------------------------------------
 */

/* which columns, if they change, make a trigger look at a row */
typedef enum WatchedColumns
{
	WATCH_BLOCK,				/* those that say in which block it is */
	WATCH_KEY,					/* those that rows of other tables, whose
								 * block it tells, reference it by */
	WATCH_NONE					/* as WATCH_KEY, where all of the row goes */
} WatchedColumns;

/*
 * An UPDATE that moves a row to another partition fires no AFTER UPDATE
 * trigger: there, a BEFORE trigger judges what no other trigger changes any
 * more, since it is the last of them by its name.  Rows that are referenced are judged
 * when the transaction ends, when keys have followed and rows were put in anew.
 */
static const struct BlockTrigger
{
	const char *name;
	int16		type;
	const char *when;
	const char *function;
	WatchedColumns watched;
	bool		only_partitions;
	bool		deferred;
}			triggers[] =

{
	{"dp_cdp_keep_block", TRIGGER_TYPE_ROW | TRIGGER_TYPE_UPDATE, "AFTER UPDATE", "keep_block", WATCH_BLOCK},
	{"zz_dp_cdp_keep_block", TRIGGER_TYPE_ROW | TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_UPDATE, "BEFORE UPDATE", "keep_block",
	WATCH_BLOCK, true},
	{"dp_cdp_keep_key", TRIGGER_TYPE_ROW | TRIGGER_TYPE_UPDATE, "AFTER UPDATE", "keep_referenced", WATCH_KEY, false, true},
	{"dp_cdp_keep_referenced", TRIGGER_TYPE_ROW | TRIGGER_TYPE_DELETE, "AFTER DELETE", "keep_referenced",
	WATCH_NONE, false, true},
};

typedef struct BlockTrigger BlockTrigger;

/* columns of a protected table, by name; both NIL where rows are in no blocks */
typedef struct Watched
{
	List	   *block;			/* the block column, or those of the foreign
								 * key to what has one */
	List	   *key;			/* of its own, that such foreign keys
								 * reference */
} Watched;

/* Adds columns of a table that others, whose rows are in the blocks of its rows, reference. */
static void
watch_key(Watched *watched, Oid relid, const char *dataset)
{
	foreach_oid(item, dp_policy_children(relid, dataset))
	{
		const DpTable *child = dp_policy_table(item);
		DpParent	parent;

		if (child == NULL || child->block[0] != '\0' || dp_policy_parent(item, &parent) != DP_PARENT_OK)
			continue;
		for (int i = 0; i < parent.n; i++)
			watched->key = list_append_unique(watched->key, makeString(get_attname(relid, parent.key[i], false)));
	}
}

static Watched
watched_columns(Oid relid)
{
	Watched		watched = {NIL, NIL};
	const DpTable *found = dp_policy_table(relid);
	DpTable		table;

	if (found == NULL || !OidIsValid(dp_dataset_owner(found->dataset)))
		return watched;
	table = *found;
	if (!dp_has_blocks(&dp_policy_dataset(table.dataset)->blocks))
		return watched;
	if (table.block[0] != '\0')
		watched.block = list_make1(makeString(pstrdup(table.block)));
	else
	{
		for (int i = 0; i < table.nthrough; i++)
			watched.block = lappend(watched.block, makeString(pstrdup(table.through[i])));
	}
	watch_key(&watched, table.labelled, table.dataset);
	return watched;
}

/* Returns the columns that a trigger watches. */
static List *
columns_of(const BlockTrigger *trigger, const Watched *watched)
{
	return trigger->watched == WATCH_BLOCK ? watched->block : watched->key;
}

static bool
is_wanted(const BlockTrigger *trigger, const Watched *watched, Relation rel)
{
	return columns_of(trigger, watched) != NIL &&
		(!trigger->only_partitions || rel->rd_rel->relispartition || rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE);
}

static Trigger *
find_trigger(Relation rel, const char *name)
{
	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers; i++)
	{
		if (strcmp(rel->trigdesc->triggers[i].tgname, name) == 0)
			return &rel->trigdesc->triggers[i];
	}
	return NULL;
}

/* Tells whether a trigger of the table is as it is made here. */
static bool
is_as_made(Trigger *made, const BlockTrigger *trigger, const Watched *watched, Relation rel)
{
	List	   *function = list_make2(makeString(DP_INTERNAL_SCHEMA), makeString(pstrdup(trigger->function)));
	Bitmapset  *columns = NULL;
	Bitmapset  *compared[2] = {NULL, NULL};

	if (made == NULL || made->tgtype != trigger->type || made->tgenabled != TRIGGER_FIRES_ALWAYS || made->tgnattr != 0 ||
		made->tgfoid != LookupFuncName(function, 0, NULL, true) || made->tginitdeferred != trigger->deferred ||
		(made->tgqual == NULL) != (trigger->watched == WATCH_NONE))
		return false;
	if (made->tgqual == NULL)
		return true;
	foreach_ptr(Node, item, columns_of(trigger, watched))
		columns = bms_add_member(columns, get_attnum(RelationGetRelid(rel), strVal(item)) - FirstLowInvalidHeapAttributeNumber);
	pull_varattnos(stringToNode(made->tgqual), PRS2_OLD_VARNO, &compared[0]);
	pull_varattnos(stringToNode(made->tgqual), PRS2_NEW_VARNO, &compared[1]);
	return bms_equal(columns, compared[0]) && bms_equal(columns, compared[1]);
}

/* Returns the condition under which columns have changed, by the equality that indexes have. */
static char *
changed_condition(Oid relid, List *columns)
{
	StringInfoData s;

	initStringInfo(&s);
	foreach_ptr(Node, item, columns)
	{
		const char *column = quote_identifier(strVal(item));
		Oid			type = get_atttype(relid, get_attnum(relid, strVal(item)));

		appendStringInfoString(&s, foreach_current_index(item) > 0 ? " OR (" : "(");
		generate_operator_clause(&s, psprintf("OLD.%s", column), type,
								 lookup_type_cache(getBaseType(type), TYPECACHE_EQ_OPR)->eq_opr,
								 psprintf("NEW.%s", column), type);
		appendStringInfoString(&s, ") IS NOT TRUE");
	}
	return s.data;
}

/* Makes and drops triggers of one table until they are those that are wanted; its partitions follow. */
static void
settle_triggers(Oid relid, const Watched *watched)
{
	char	   *name = quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid));

	for (int i = 0; i < lengthof(triggers); i++)
	{
		const BlockTrigger *trigger = &triggers[i];
		Relation	rel = table_open(relid, AccessShareLock);
		Trigger    *made = find_trigger(rel, trigger->name);
		bool		exists = made != NULL;
		bool		wanted = is_wanted(trigger, watched, rel);
		bool		is_right = wanted ? is_as_made(made, trigger, watched, rel) : !exists;

		table_close(rel, NoLock);
		if (is_right)
			continue;
		if (exists)
			dp_admin_execute(psprintf("DROP TRIGGER %s ON %s", trigger->name, name), 0, NULL, NULL, NULL, false);
		if (!wanted)
			continue;
		dp_admin_execute(psprintf("CREATE %sTRIGGER %s %s ON %s %s FOR EACH ROW %s EXECUTE FUNCTION " DP_INTERNAL_SCHEMA ".%s()",
								  trigger->deferred ? "CONSTRAINT " : "", trigger->name, trigger->when, name,
								  trigger->deferred ? "DEFERRABLE INITIALLY DEFERRED" : "",
								  trigger->watched == WATCH_NONE ? "" :
								  psprintf("WHEN (%s)", changed_condition(relid, columns_of(trigger, watched))),
								  trigger->function), 0, NULL, NULL, NULL, false);
		dp_admin_execute(psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER %s", name, trigger->name), 0, NULL, NULL, NULL, false);
	}
}

/* Refuses columns and tables that no trigger could hold. */
static void
check_watched(Oid relid, const Watched *watched)
{
	AttrNumber	distributed_by;

	if (watched->block == NIL)
		return;
	foreach_ptr(Node, item, watched->block)
		check_not_generated(relid, get_attnum(relid, strVal(item)));
	if (dp_is_distributed(relid, &distributed_by))
		dp_raise(BAD_PARAMETER,
				 errmsg("the rows of distributed table \"%s\" cannot be kept in blocks of time: leave out block, and use a dataset without blocks",
						get_rel_name(relid)),
				 errdetail("Citus does not run the trigger that would keep them there."));
}

void
dp_admin_keep_blocks(Oid relid, Oid like)
{
	Watched		watched = watched_columns(relid);
	const DpTable *table = dp_policy_table(relid);
	DpParent	parent;

	check_watched(relid, &watched);
	if (OidIsValid(like) && table != NULL && watched.block != NIL)
		watch_key(&watched, like, pstrdup(table->dataset));
	foreach_oid(inheritor, find_all_inheritors(relid, NoLock, NULL))
	{
		/* partitions have their parent's */
		if (inheritor == relid || !get_rel_relispartition(inheritor))
			settle_triggers(inheritor, &watched);
	}
	if (watched.block != NIL && dp_policy_parent(relid, &parent) == DP_PARENT_OK)
	{
		watched = watched_columns(parent.parent);
		settle_triggers(parent.parent, &watched);
	}
}

/*
 * block_problem("table"): why rows of a table, or partition, could move to
 * another block of time; NULL where they cannot, or are in no blocks.
 */
Datum
dp_block_problem(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	Watched		watched;
	Relation	rel;
	const char *problem = NULL;

	if (!dp_preloaded)
		dp_admin_not_loaded();
	watched = watched_columns(relid);
	if (watched.block == NIL || !(rel = try_relation_open(relid, AccessShareLock)))
		PG_RETURN_NULL();
	for (int i = 0; problem == NULL && i < lengthof(triggers); i++)
	{
		const BlockTrigger *trigger = &triggers[i];

		if (!is_wanted(trigger, &watched, rel))
			continue;
		if (!is_as_made(find_trigger(rel, trigger->name), trigger, &watched, rel))
			problem = psprintf("trigger %s is missing, disabled or changed", trigger->name);
		for (int j = 0; problem == NULL && trigger->only_partitions && j < rel->trigdesc->numtriggers; j++)
		{
			Trigger    *other = &rel->trigdesc->triggers[j];

			if (other->tgenabled == TRIGGER_DISABLED)
				continue;
			if (TRIGGER_TYPE_MATCHES(other->tgtype, TRIGGER_TYPE_ROW, TRIGGER_TYPE_BEFORE, TRIGGER_TYPE_UPDATE) &&
				strcmp(other->tgname, trigger->name) > 0)
				problem = psprintf("trigger %s fires after %s and could still change a row: rename it", quote_identifier(other->tgname), trigger->name);
			else if (TRIGGER_TYPE_MATCHES(other->tgtype, TRIGGER_TYPE_ROW, TRIGGER_TYPE_BEFORE, TRIGGER_TYPE_INSERT))
				problem = psprintf("trigger %s fires where an UPDATE moves a row to another partition, after %s, and could still change the row: drop it, or let a default do what it does",
								   quote_identifier(other->tgname), trigger->name);
		}
	}
	relation_close(rel, AccessShareLock);
	if (problem == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(problem));
}
