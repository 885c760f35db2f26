/*-------------------------------------------------------------------------
 *
 * changes.c
 *	  Changes of protected tables by roles that may not read them.
 *
 * UPDATE, DELETE and MERGE tell by their command tag how many rows match, and
 * ON CONFLICT and RETURNING tell of rows, too.  A plain INSERT, or COPY FROM,
 * tells nothing as long as it does not choose the values of unique columns:
 * whether it fails would tell whether they exist.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "base/compat.h"
#include "base/distributed.h"
#include "base/errors.h"
#include "base/extension.h"
#include "base/walk.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "guard/rewrite.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "policy/policy.h"
#include "rewrite/rewriteHandler.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/*
 * Returns the columns that the index reads: all of them where it reads a whole
 * row or a generated column, whose sources are not known.
 */
static Bitmapset *
columns_of_index(Relation rel, Relation index)
{
	Bitmapset  *read = NULL;
	int			i = -1;

	for (i = 0; i < index->rd_index->indnkeyatts; i++)
		if (index->rd_index->indkey.values[i] != 0)
			read = bms_add_member(read, index->rd_index->indkey.values[i] -
								  FirstLowInvalidHeapAttributeNumber);
	pull_varattnos((Node *) RelationGetIndexExpressions(index), 1, &read);
	pull_varattnos((Node *) RelationGetIndexPredicate(index), 1, &read);
	i = -1;
	while ((i = bms_next_member(read, i)) >= 0)
	{
		AttrNumber	attnum = i + FirstLowInvalidHeapAttributeNumber;

		if (attnum == 0 ||
			(attnum > 0 && TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attgenerated != '\0'))
			return bms_add_range(read, 1 - FirstLowInvalidHeapAttributeNumber,
								 RelationGetNumberOfAttributes(rel) - FirstLowInvalidHeapAttributeNumber);
	}
	return read;
}

/* Returns one of the columns named in chosen that a unique index or an exclusion constraint reads, or NULL. */
static const char *
constrained_column(Oid relid, List *chosen)
{
	Relation	rel = table_open(relid, AccessShareLock);
	const char *found = NULL;

	foreach_oid(item, RelationGetIndexList(rel))
	{
		Relation	index = index_open(item, AccessShareLock);
		Bitmapset  *read = NULL;

		if (index->rd_index->indisunique || index->rd_index->indisexclusion)
			read = columns_of_index(rel, index);
		index_close(index, NoLock);
		foreach_ptr(const char, name, chosen)
		{
			if (bms_is_member(get_attnum(relid, name) - FirstLowInvalidHeapAttributeNumber, read))
				found = name;
		}
	}
	table_close(rel, NoLock);
	return found;
}

/* Refuses an INSERT that chooses values for columns (chosen: their names) that must be unique. */
static void
check_inserted(Oid relid, List *chosen)
{
	/* PostgreSQL says so itself */
	if (pg_class_aclcheck(relid, GetUserId(), ACL_INSERT) != ACLCHECK_OK &&
		pg_attribute_aclcheck_all(relid, GetUserId(), ACL_INSERT, ACLMASK_ANY) != ACLCHECK_OK)
		return;
	/* partitions have indexes of their own */
	foreach_oid(inheritor, find_all_inheritors(relid, AccessShareLock, NULL))
	{
		const char *column = constrained_column(inheritor, chosen);

		if (column != NULL)
			dp_raise(NOT_RELEASABLE,
					 errmsg("values for column \"%s\" of protected table \"%s\" can be inserted only by roles that may read it; leave the column to its default",
							column, get_rel_name(relid)),
					 errdetail("An error would show whether they exist already."));
	}
}

/*
 * Returns the names of the columns that get another value than the table's
 * default; a view may bring defaults of its own.
 */
static List *
chosen_columns(Query *query, RangeTblEntry *rte)
{
	Relation	rel = table_open(rte->relid, AccessShareLock);
	Bitmapset  *inserted = dp_inserted_columns(query, rte);
	List	   *chosen = NIL;
	int			i = -1;

	while ((i = bms_next_member(inserted, i)) >= 0)
		chosen = lappend(chosen, get_attname(rte->relid, i + FirstLowInvalidHeapAttributeNumber, false));
	foreach_ptr(TargetEntry, tle, query->targetList)
	{
		if (!tle->resjunk && !equal(tle->expr, build_column_default(rel, tle->resno)))
			chosen = lappend(chosen, get_attname(rte->relid, tle->resno, false));
	}
	table_close(rel, NoLock);
	return chosen;
}

void
dp_check_change(DpSplitContext *cxt, Query *query)
{
	RangeTblEntry *rte;

	if (query->resultRelation == 0)
		return;
	rte = rt_fetch(query->resultRelation, query->rtable);
	if (!dp_is_protected(rte) || dp_may_read(rte->relid))
		return;
	if (query->commandType != CMD_INSERT || query->onConflict != NULL || query->returningList != NIL)
		dp_refuse_at(-1,
					 errmsg("rows of protected table \"%s\" can be changed only by roles that may read them; "
							"plain INSERT is possible with INSERT privilege", get_rel_name(rte->relid)));
	check_inserted(rte->relid, chosen_columns(query, rte));
}

void
dp_check_copy_from(Oid relid, List *attnames)
{
	Relation	rel = table_open(relid, AccessShareLock);
	List	   *chosen = NIL;

	foreach_ptr(Node, attname, attnames)
		chosen = lappend(chosen, strVal(attname));
	for (int i = 0; attnames == NIL && i < RelationGetNumberOfAttributes(rel); i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), i);

		if (!att->attisdropped)
			chosen = lappend(chosen, pstrdup(NameStr(att->attname)));
	}
	table_close(rel, NoLock);
	check_inserted(relid, chosen);
}

/* Refuses a foreign key of one table to another that is protected, for who may not read that. */
static void
check_reference(const char *referencing, Oid referenced)
{
	if (dp_policy_table(referenced) != NULL && !dp_may_read(referenced))
		dp_raise(NOT_RELEASABLE,
				 errmsg("rows of table \"%s\" can be written only by roles that may read protected table \"%s\"", referencing, get_rel_name(referenced)),
				 errdetail("The foreign key would show who is there."));
}

/*
 * On one server the query by which a foreign key looks for a row is planned here, too (dp_may_read).  Shards
 * look in shards, which nobody guards, so who may not have that is refused before.  A worker knows no budgets.
 */
void
dp_check_shard_references(Oid relid)
{
	AttrNumber	column;
	Relation	rel;

	if (!dp_has_citus() || !dp_extension_installed() || !dp_is_distributed(relid, &column) ||
		(!dp_asks_as_analyst() && !dp_is_citus_worker()))
		return;
	rel = table_open(relid, AccessShareLock);
	foreach_node(ForeignKeyCacheInfo, item, copyObject(RelationGetFKeyList(rel)))
		check_reference(get_rel_name(relid), item->confrelid);
	table_close(rel, AccessShareLock);
}

static void
check_constraints(const AlterTableStmt *alter, List *constraints)
{
	foreach_node(Constraint, constraint, constraints)
	{
		Oid			referenced = constraint->contype == CONSTR_FOREIGN ? RangeVarGetRelid(constraint->pktable, NoLock, true) : InvalidOid;

		if (OidIsValid(referenced))
			check_reference(alter->relation->relname, referenced);
	}
}

void
dp_check_added_references(const AlterTableStmt *alter)
{
	Oid			relid;
	AttrNumber	column;

	if (!dp_has_citus() || !dp_extension_installed() || !dp_asks_as_analyst())
		return;
	relid = RangeVarGetRelid(alter->relation, NoLock, true);
	/* others are looked through here; a table that is being made has no rows */
	if (!OidIsValid(relid) || !dp_is_distributed(relid, &column))
		return;
	foreach_node(AlterTableCmd, cmd, alter->cmds)
	{
		if (cmd->subtype == AT_AddConstraint)
			check_constraints(alter, list_make1(cmd->def));
		else if (cmd->subtype == AT_AddColumn)
			check_constraints(alter, ((ColumnDef *) cmd->def)->constraints);
		else if (cmd->subtype == AT_ValidateConstraint)
			dp_check_shard_references(relid);
	}
}

static DpWalk
check_written(Node *node, int levels, void *context)
{
	Query	   *query = (Query *) node;

	if (IsA(node, Query) && query->resultRelation != 0 && query->commandType != CMD_DELETE)
		dp_check_shard_references(rt_fetch(query->resultRelation, query->rtable)->relid);
	return DP_WALK_ON;
}

void
dp_check_written(Query *query)
{
	if ((query->commandType != CMD_SELECT || query->hasModifyingCTE) && dp_has_citus())
		(void) dp_walk_all(query, check_written, NULL);
}
