/*-------------------------------------------------------------------------
 *
 * unique.c
 *	  Whether a join can find more than one row of a table, by its unique
 *	  indexes.
 *
 * Invariants:
 * - Only an index that PostgreSQL itself enforces, at once and for all rows
 *	 that any snapshot in use can see, proves anything.
 * - What is not understood is taken for no proof.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/transam.h"
#include "base/collations.h"
#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "storage/procarray.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

typedef struct UniqueContext
{
	Index		rti;
	const Bitmapset *known;
} UniqueContext;

/* Finds what may differ between rows of the same known entries. */
static DpWalk
may_vary(Node *node, int levels, const Bitmapset *known)
{
	switch (nodeTag(node))
	{
		case T_Var:
			return ((Var *) node)->varlevelsup != 0 ||
				!bms_is_member(((Var *) node)->varno, known);
		case T_Param:
			return ((Param *) node)->paramkind != PARAM_EXTERN;
		case T_SubLink:
		case T_SubPlan:
		case T_AlternativeSubPlan:
		case T_Query:
		case T_Aggref:
		case T_GroupingFunc:
		case T_WindowFunc:
		case T_CurrentOfExpr:
			return DP_WALK_STOP;
		default:
			return DP_WALK_ON;
	}
}

static bool
is_fixed(Node *node, UniqueContext *cxt)
{
	return !bms_is_member(cxt->rti, pull_varnos(NULL, node)) &&
		!dp_walk(node, may_vary, cxt->known) &&
		!contain_volatile_functions(node) &&
		!expression_returns_set(node);
}

static bool
is_column(Node *node, AttrNumber attnum, UniqueContext *cxt)
{
	node = dp_strip_relabel(node);
	return IsA(node, Var) && ((Var *) node)->varlevelsup == 0 &&
		((Var *) node)->varno == cxt->rti && ((Var *) node)->varattno == attnum;
}

/*
 * Tells whether some conjunct holds for one value of the index's column i only.
 *
 * Equality that depends on a setting is no proof, although it is of the
 * index's family: where a time zone skipped an hour or a day, two timestamps
 * or dates equal the same timestamptz.
 */
static bool
column_is_fixed(Relation index, int i, List *conditions, UniqueContext *cxt)
{
	AttrNumber	attnum = index->rd_index->indkey.values[i];
	Oid			collation = index->rd_indcollation[i];

	if (attnum <= 0 || index->rd_opfamily[i] >= FirstGenbkiObjectId ||
		!dp_is_deterministic(collation))
		return false;
	foreach_ptr(Node, condition, conditions)
	{
		DpComparison c;

		if (!dp_read_operator(condition, &c) || c.opno >= FirstGenbkiObjectId || c.collation != collation ||
			get_op_opfamily_strategy(c.opno, index->rd_opfamily[i]) != BTEqualStrategyNumber ||
			op_volatile(c.opno) != PROVOLATILE_IMMUTABLE)
			continue;
		if ((is_column(c.left, attnum, cxt) && is_fixed(c.right, cxt)) || (is_column(c.right, attnum, cxt) && is_fixed(c.left, cxt)))
			return true;
	}
	return false;
}

/*
 * Tells whether a catalogue row is older than every snapshot in use by which
 * rows of table are still kept; NULL: of any table, also of other databases.
 * A snapshot older than an index may see rows that were deleted so that it
 * could be made.  Ours is not all: a plan is kept, and a snapshot that another
 * session holds now may be imported later.
 */
static bool
is_old(HeapTuple tuple, Relation table)
{
	return TransactionIdPrecedes(HeapTupleHeaderGetXmin(tuple->t_data), GetOldestNonRemovableTransactionId(table));
}

/* Tells whether the index holds for all rows, at once. */
static bool
is_enforced(Form_pg_index form)
{
	/* exclusion: of 18 on, keys WITHOUT OVERLAPS are called unique, too */
	return form->indisunique && !form->indisexclusion && form->indimmediate &&
		form->indisvalid && form->indisready && form->indislive;
}

/*
 * Tells whether the partition's index became part of the whole one, and the
 * partition of the table, long ago.
 */
static bool
attachment_is_old(Oid index)
{
	Relation	inherits = table_open(InheritsRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		old = true;

	ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(index));
	scan = systable_beginscan(inherits, InheritsRelidSeqnoIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		old = old && is_old(tuple, NULL);
	systable_endscan(scan);
	table_close(inherits, AccessShareLock);
	return old;
}

/*
 * Tells whether the indexes of all partitions, and their attachments, are old:
 * a partitioned table's index is no more than those.  A partition that was
 * attached later brings an index as young as it likes, and rows that were
 * deleted to meet the partition's bounds.
 */
static bool
partitions_are_older(Relation index)
{
	List	   *indexes = find_all_inheritors(RelationGetRelid(index), AccessShareLock, NULL);

	foreach_oid(item, indexes)
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(item));
		bool		older;

		if (!HeapTupleIsValid(tuple))
			return false;
		older = is_enforced((Form_pg_index) GETSTRUCT(tuple)) && is_old(tuple, NULL);
		ReleaseSysCache(tuple);
		if (!older || !attachment_is_old(item))
			return false;
	}
	return true;
}

static bool
index_is_older(Relation index, Relation table)
{
	if (table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		return partitions_are_older(index);
	return is_old(index->rd_indextuple, table);
}

static bool
index_fixes_row(Relation index, Relation table, List *conditions, UniqueContext *cxt)
{
	Form_pg_index form = index->rd_index;

	if (!is_enforced(form) ||
		index->rd_rel->relam != BTREE_AM_OID ||
		!index_is_older(index, table) ||
		RelationGetIndexPredicate(index) != NIL)
		return false;
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		if (!column_is_fixed(index, i, conditions, cxt))
			return false;
	}
	return true;
}

bool
dp_at_most_one_row(Oid relid, Index rti, List *conditions, const Bitmapset *known)
{
	UniqueContext cxt = {rti, known};
	Relation	rel = table_open(relid, AccessShareLock);
	char		relkind = rel->rd_rel->relkind;
	bool		found = false;

	/* an index says nothing of rows in tables that inherit */
	if (relkind == RELKIND_PARTITIONED_TABLE ||
		((relkind == RELKIND_RELATION || relkind == RELKIND_MATVIEW) && !has_subclass(relid)))
	{
		List	   *conjuncts = dp_conjuncts((Node *) make_ands_explicit(conditions));

		foreach_oid(item, RelationGetIndexList(rel))
		{
			Relation	index = index_open(item, AccessShareLock);

			found = index_fixes_row(index, rel, conjuncts, &cxt);
			index_close(index, NoLock);
			if (found)
				break;
		}
	}
	table_close(rel, NoLock);
	return found;
}

/* Puts an unknown value, as of a parameter, in the place of a column of the level around a subquery. */
static Node *
put_unknown(Node *node, int levels, void *context)
{
	if (!IsA(node, Var) || ((Var *) node)->varlevelsup != 1)
		return NULL;
	return (Node *) dp_make(Param, .paramkind = PARAM_EXTERN, .paramtype = ((Var *) node)->vartype,
							.paramtypmod = ((Var *) node)->vartypmod, .paramcollid = ((Var *) node)->varcollid,
							.location = -1);
}

bool
dp_finds_one_row(Query *sub)
{
	RangeTblRef *ref;
	RangeTblEntry *rte;

	if (!dp_only_reads(sub, false) || sub->distinctClause != NIL || list_length(sub->jointree->fromlist) != 1)
		return false;
	ref = linitial(sub->jointree->fromlist);
	if (!IsA(ref, RangeTblRef) || checkExprHasSubLink(sub->jointree->quals))
		return false;
	rte = rt_fetch(ref->rtindex, sub->rtable);
	return rte->rtekind == RTE_RELATION && rte->relkind != RELKIND_FOREIGN_TABLE && rte->relkind != RELKIND_VIEW &&
		rte->tablesample == NULL &&
		dp_at_most_one_row(rte->relid, ref->rtindex, list_make1(dp_put(sub->jointree->quals, put_unknown, NULL)), NULL);
}
