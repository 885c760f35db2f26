/*-------------------------------------------------------------------------
 *
 * block_moves.c
 *	  Triggers that refuse what would move a row to another block of time.
 *
 * A row's block is that of its block column; without one, that of the row
 * which its foreign key ("through") references, and so on.  So a row moves
 * when its own columns change (keep_block), or when another row takes the key
 * that it references (keep_referenced), and in no other way: each row between
 * it and the block column is held by the same two rules.
 *
 * Rows are judged as they are in the end: by AFTER triggers, and by what is
 * referenced when the statement, or the transaction, is done.  The block that
 * a row comes from is the one that it was put into: what is referenced is looked
 * up as it was when this version of the row was written.  That is a snapshot
 * of now without what this transaction did later; nobody else can have changed
 * it, as foreign keys lock what they reference.  So keys that follow by ON
 * UPDATE CASCADE, or are set by hand under deferred constraints, lead from one
 * block to the same one.
 *
 * A row that references nothing is nobody's, and in no answer.  It may come to
 * reference a row, as one that is inserted does.  The other way is refused, or
 * a row would be in any block after two steps.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "admin/admin.h"
#include "base/errors.h"
#include "base/settings.h"

PG_FUNCTION_INFO_V1(dp_keep_block);
PG_FUNCTION_INFO_V1(dp_keep_referenced);

/* values of a key, by which rows are looked up */
typedef struct KeyValues
{
	int			n;
	Oid			type[INDEX_MAX_KEYS];
	Datum		value[INDEX_MAX_KEYS];
} KeyValues;

/* in which block a row is */
typedef struct RowBlock
{
	bool		is_known;		/* false: in none, because it is nobody's */
	DateADT		start;
} RowBlock;

/* ------------------------------------------------------------------------
 * Rows by their keys
 * ------------------------------------------------------------------------
 */

/* Reads columns of a row; false where one is NULL. */
static bool
read_key(HeapTuple row, Relation rel, int n, const AttrNumber *columns, KeyValues *key)
{
	key->n = n;
	for (int i = 0; i < n; i++)
	{
		bool		isnull;

		key->value[i] = heap_getattr(row, columns[i], RelationGetDescr(rel), &isnull);
		if (isnull)
			return false;
		key->type[i] = TupleDescAttr(RelationGetDescr(rel), columns[i] - 1)->atttypid;
	}
	return true;
}

/* Describes the comparison of a column with a value, by the equality that both types have in their btree family. */
static void
init_scan_key(ScanKey scan_key, Relation rel, AttrNumber column, Oid type, Datum value)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), column - 1);
	TypeCacheEntry *left = lookup_type_cache(getBaseType(att->atttypid), TYPECACHE_BTREE_OPFAMILY);
	TypeCacheEntry *right = lookup_type_cache(getBaseType(type), TYPECACHE_BTREE_OPFAMILY);
	Oid			eq = get_opfamily_member(left->btree_opf, left->btree_opintype, right->btree_opintype,
										 BTEqualStrategyNumber);

	if (!OidIsValid(eq))
		elog(ERROR, "no equality of types %u and %u of a foreign key", left->type_id, right->type_id);
	ScanKeyEntryInitialize(scan_key, 0, column, BTEqualStrategyNumber,
						   left->btree_opintype == right->btree_opintype ? InvalidOid : right->btree_opintype,
						   att->attcollation, get_opcode(eq), value);
}

/* Tells whether the first columns of an index are those that are compared, in any order. */
static bool
leads_index(Relation index, Relation rel, ScanKey keys, int n)
{
	if (index->rd_rel->relam != BTREE_AM_OID || !index->rd_index->indisvalid || index->rd_index->indcheckxmin ||
		RelationGetIndexPredicate(index) != NIL || index->rd_index->indnkeyatts < n)
		return false;
	for (int i = 0; i < n; i++)
	{
		AttrNumber	column = index->rd_index->indkey.values[i];
		bool		found = false;

		for (int j = 0; j < n; j++)
		{
			TypeCacheEntry *type;

			if (keys[j].sk_attno != column)
				continue;
			type = lookup_type_cache(getBaseType(TupleDescAttr(RelationGetDescr(rel), column - 1)->atttypid),
									 TYPECACHE_BTREE_OPFAMILY);
			found = index->rd_opfamily[i] == type->btree_opf && index->rd_opcintype[i] == type->btree_opintype &&
				index->rd_indcollation[i] == keys[j].sk_collation;
		}
		if (!found)
			return false;
	}
	return true;
}

static Oid
index_on(Relation rel, ScanKey keys, int n)
{
	List	   *indexes = RelationGetIndexList(rel);
	Oid			result = InvalidOid;

	foreach_oid(item, indexes)
	{
		Relation	index = index_open(item, AccessShareLock);

		if (leads_index(index, rel, keys, n))
			result = item;
		index_close(index, AccessShareLock);
		if (OidIsValid(result))
			break;
	}
	list_free(indexes);
	return result;
}

typedef bool (*RowVisitor) (HeapTuple row, Relation rel, void *arg);

/* Calls visit for rows of a table, or of its partitions, whose columns have these values, until it returns true. */
static void
visit_rows(Oid relid, const AttrNumber *columns, const KeyValues *key, Snapshot snapshot, RowVisitor visit, void *arg)
{
	bool		done = false;

	/*
	 * where a foreign key is deferred, nobody has locked what it references,
	 * yet
	 */
	LockRelationOid(relid, AccessShareLock);
	foreach_oid(inheritor, find_all_inheritors(relid, AccessShareLock, NULL))
	{
		Relation	rel;
		ScanKeyData keys[INDEX_MAX_KEYS];
		Oid			index;
		SysScanDesc scan;
		HeapTuple	row;

		CHECK_FOR_INTERRUPTS();
		if (done || get_rel_relkind(inheritor) == RELKIND_PARTITIONED_TABLE)
			continue;
		rel = table_open(inheritor, NoLock);
		for (int i = 0; i < key->n; i++)
			init_scan_key(&keys[i], rel, get_attnum(inheritor, get_attname(relid, columns[i], false)),
						  key->type[i], key->value[i]);
		index = index_on(rel, keys, key->n);
		scan = systable_beginscan(rel, index, OidIsValid(index), snapshot, key->n, keys);
		while (!done && HeapTupleIsValid(row = systable_getnext(scan)))
			done = visit(row, rel, arg);
		systable_endscan(scan);
		table_close(rel, NoLock);
	}
}

/* ------------------------------------------------------------------------
 * In which block a row is
 * ------------------------------------------------------------------------
 */

/* Returns the day on which the block of a row begins, by its own column. */
static DateADT
start_of_row(HeapTuple row, Relation rel, const char *column, const DpBlockLength *length)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(rel), column);
	bool		isnull;
	Datum		value;

	if (attnum <= 0 || !dp_type_is_time(get_atttype(RelationGetRelid(rel), attnum)))
		dp_raise(BAD_PARAMETER,
				 errmsg("the policy of table \"%s\" is damaged at its block column \"%s\": call dp_cdp.unprotect_table and dp_cdp.protect_table",
						RelationGetRelationName(rel), column));
	value = heap_getattr(row, attnum, RelationGetDescr(rel), &isnull);
	if (isnull)
		return DATEVAL_NOBEGIN;
	return dp_block_start(dp_day_of(value, TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid), length);
}

typedef struct BlockSearch
{
	const DpBlockLength *length;
	Snapshot	snapshot;
	int			depth;
	RowBlock	found;
} BlockSearch;

static RowBlock block_of_row(HeapTuple row, Relation rel, const DpBlockLength *length, Snapshot snapshot, int depth);

/* Finds the block of the one row that a foreign key leads to. */
static bool
visit_parent(HeapTuple row, Relation rel, void *arg)
{
	BlockSearch *s = arg;

	s->found = block_of_row(row, rel, s->length, s->snapshot, s->depth);
	return true;
}

/* Returns the block of a row of a protected table, as rows that it leads to are in a snapshot. */
static RowBlock
block_of_row(HeapTuple row, Relation rel, const DpBlockLength *length, Snapshot snapshot, int depth)
{
	BlockSearch above = {length, snapshot, depth + 1};
	const DpTable *table = dp_policy_table(RelationGetRelid(rel));
	RowBlock	result = {false, 0};
	DpParentProblem problem;
	DpParent	parent;
	KeyValues	key;

	if (table == NULL)
		return result;
	if (table->block[0] != '\0')
	{
		result.is_known = true;
		result.start = start_of_row(row, rel, pstrdup(table->block), length);
		return result;
	}
	problem = depth > DP_MAX_PARENTS ? DP_PARENT_CIRCLE : dp_policy_parent(RelationGetRelid(rel), &parent);
	if (problem != DP_PARENT_OK)
		dp_raise(BAD_PARAMETER,
				 errmsg("a row of table \"%s\" cannot be kept in its block of time, because %s: mend the foreign key first",
						RelationGetRelationName(rel), dp_parent_complaint(problem, RelationGetRelid(rel))));
	if (read_key(row, rel, parent.n, parent.child, &key))
		visit_rows(parent.parent, parent.key, &key, snapshot, visit_parent, &above);
	return above.found;
}

/*
 * Returns the block that a version of a row was put into.  now: a registered
 * snapshot of what there is.
 */
static RowBlock
former_block(HeapTuple row, Relation rel, const DpBlockLength *length, Snapshot now)
{
	SnapshotData then = *now;

	then.curcid = FirstCommandId;
	if (TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(row->t_data)))
		then.curcid = HeapTupleHeaderGetCmin(row->t_data) + 1;
	return block_of_row(row, rel, length, &then, 0);
}

static bool
may_go(RowBlock from, RowBlock to)
{
	return !from.is_known || (to.is_known && from.start == to.start);
}

/* ------------------------------------------------------------------------
 * Triggers
 * ------------------------------------------------------------------------
 */

/* Reads how long blocks are that rows of a table are in; false: they are in none. */
static bool
read_length(FunctionCallInfo fcinfo, const char *function, DpTable *table, DpBlockLength *length)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	const DpTable *found;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_FOR_ROW(trigger->tg_event) ||
		TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
		elog(ERROR, "dp_cdp_internal.%s must be called as a trigger, for each row that is updated or deleted", function);
	if (!dp_preloaded)
		dp_admin_not_loaded();
	found = dp_policy_table(RelationGetRelid(trigger->tg_relation));
	if (found == NULL)
		return false;
	*table = *found;
	*length = dp_policy_dataset(table->dataset)->blocks;
	return dp_has_blocks(length);
}

/* Registers a snapshot in which all is done that this transaction did. */
static Snapshot
snapshot_of_now(void)
{
	CommandCounterIncrement();
	return RegisterSnapshot(GetLatestSnapshot());
}

static void
refuse_column(Relation rel, const char *column)
{
	dp_raise(BAD_PARAMETER,
			 errmsg("an UPDATE of column \"%s\" would move a row of protected table \"%s\" to another block of time: delete the row and insert it anew",
					column, RelationGetRelationName(rel)),
			 errdetail("Earlier answers count the row, and the budget of the other block has not paid for them."));
}

static void
refuse_reference(Relation rel, const DpTable *table, bool to_none)
{
	if (to_none)
		dp_raise(BAD_PARAMETER,
				 errmsg("an UPDATE of (%s) would leave a row of protected table \"%s\" in no block of time: first insert the row that it references",
						dp_policy_through(table), RelationGetRelationName(rel)),
				 errdetail("A row in no block could be given any block later."));
	dp_raise(BAD_PARAMETER,
			 errmsg("an UPDATE of (%s) would move a row of protected table \"%s\" to another block of time: delete the row and insert it anew",
					dp_policy_through(table), RelationGetRelationName(rel)),
			 errdetail("Earlier answers count the row, and the budget of the other block has not paid for them."));
}

/*
 * SQL: dp_cdp_internal.keep_block(), a trigger: refuses an UPDATE that moves a row to
 * another block
 */
Datum
dp_keep_block(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	DpTable		table;
	DpBlockLength length;

	if (!read_length(fcinfo, "keep_block", &table, &length) || !TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
		return PointerGetDatum(trigger->tg_newtuple);
	if (table.block[0] != '\0')
	{
		if (start_of_row(trigger->tg_trigtuple, trigger->tg_relation, table.block, &length) !=
			start_of_row(trigger->tg_newtuple, trigger->tg_relation, table.block, &length))
			refuse_column(trigger->tg_relation, table.block);
	}
	else if (table.nthrough > 0)
	{
		Snapshot	now = snapshot_of_now();
		RowBlock	from = former_block(trigger->tg_trigtuple, trigger->tg_relation, &length, now);
		RowBlock	to = block_of_row(trigger->tg_newtuple, trigger->tg_relation, &length, now, 0);

		UnregisterSnapshot(now);
		if (!may_go(from, to))
			refuse_reference(trigger->tg_relation, &table, !to.is_known);
	}
	return PointerGetDatum(trigger->tg_newtuple);
}

/* Refuses that a row, which references a key that another row had, is in another block than it was put into. */
static bool
visit_child(HeapTuple row, Relation rel, void *arg)
{
	BlockSearch *s = arg;

	if (!may_go(former_block(row, rel, s->length, s->snapshot), block_of_row(row, rel, s->length, s->snapshot, 0)))
		dp_raise(BAD_PARAMETER,
				 errmsg("rows of protected table \"%s\" would be in another block of time, or in none: delete wrong rows and insert them anew",
						RelationGetRelationName(rel)),
				 errdetail("They reference a row that was changed or deleted."));
	return false;
}

/* Judges rows of a child that reference the key which a row had. */
static void
check_child(Oid child, Relation rel, HeapTuple row, const DpTable *table, const DpBlockLength *length, Snapshot now)
{
	BlockSearch s = {length, now};
	const DpTable *policy = dp_policy_table(child);
	DpParent	parent;
	AttrNumber	columns[INDEX_MAX_KEYS];
	KeyValues	key;

	if (policy == NULL || policy->nthrough == 0 || policy->block[0] != '\0' || strcmp(policy->dataset, table->dataset) != 0 ||
		dp_policy_parent(child, &parent) != DP_PARENT_OK || parent.parent != table->labelled)
		return;
	for (int i = 0; i < parent.n; i++)
		columns[i] = get_attnum(RelationGetRelid(rel), get_attname(parent.parent, parent.key[i], false));
	if (read_key(row, rel, parent.n, columns, &key))
		visit_rows(child, parent.child, &key, now, visit_child, &s);
}

/*
 * SQL: dp_cdp_internal.keep_referenced(), a trigger on tables that others belong
 * through to: refuses that a row's key becomes that of a row of another block
 * while rows reference it
 */
Datum
dp_keep_referenced(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	TriggerDesc *all;
	DpTable		table;
	DpBlockLength length;
	List	   *seen = NIL;
	Snapshot	now;

	if (!read_length(fcinfo, "keep_referenced", &table, &length))
		return PointerGetDatum(NULL);
	now = snapshot_of_now();

	/*
	 * foreign keys are triggers here, too, which name the table that they are
	 * of
	 */
	all = trigger->tg_relation->trigdesc;
	for (int i = 0; i < all->numtriggers; i++)
	{
		if (RI_FKey_trigger_type(all->triggers[i].tgfoid) == RI_TRIGGER_PK)
			seen = list_append_unique_oid(seen, all->triggers[i].tgconstrrelid);
	}
	for (int i = 0; i < list_length(seen); i++)
		check_child(list_nth_oid(seen, i), trigger->tg_relation, trigger->tg_trigtuple, &table, &length, now);
	UnregisterSnapshot(now);
	return PointerGetDatum(NULL);
}
