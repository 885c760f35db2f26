/*-------------------------------------------------------------------------
 *
 * public_keys.c
 *	  Whether the groups of a release are those that public rows ask for, each for a value.
 *
 *	 SELECT city, (SELECT count(*) FROM orders o WHERE o.shop = s.shop) FROM shops s WHERE s.closed IS NULL
 *
 * Then the keys are declared by these rows: none is selected, and no delta is paid for.
 * A group without rows has noise around 0.
 * EXISTS of it says yes by existence.c's rule, as of keys that a foreign key declares, in one of forty such rows.  A
 * selection hardly ever does, but says no of most groups of a few units.  Both are private: noise alone decides here, and delta there.
 *
 * Invariants:
 * - So it is only where that means the same: where a row without a group has 0, since it
 *	 counts; or where the rows are those that a foreign key of the protected table
 *	 references, which are a list of declared keys.
 * - Keys that are declared otherwise stay as they are: rows of others are in no group.
 * - It is never more than a release may hold, as far as the tables' sizes tell: what was
 *	 answered by a selection is not refused.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "base/compat.h"
#include "base/settings.h"
#include "catalog/pg_inherits.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "policy/policy.h"
#include "storage/bufmgr.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* of a table that nobody has counted */
#define MOST_ROWS_OF_PAGE 200

/* ------------------------------------------------------------------------
 * Sizes
 * ------------------------------------------------------------------------
 */

/* Returns about how many rows a table has by itself; infinity: nobody knows. */
static double
table_rows(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	Form_pg_class class = rel->rd_rel;
	double		rows = class->relkind == RELKIND_PARTITIONED_TABLE ? 0 : get_float8_infinity();

	if (RELKIND_HAS_STORAGE(class->relkind))
		rows = RelationGetNumberOfBlocks(rel) *
			(class->relpages > 0 && class->reltuples > 0 ? class->reltuples / class->relpages : MOST_ROWS_OF_PAGE);
	table_close(rel, NoLock);
	return rows;
}

/* Returns how many rows an entry has at most, as far as its tables tell. */
static double
most_rows(RangeTblEntry *rte)
{
	double		rows = 0;

	check_stack_depth();
	if (rte->rtekind == RTE_VALUES)
		return list_length(rte->values_lists);
	if (rte->rtekind == RTE_SUBQUERY && rte->subquery->setOperations == NULL && !rte->subquery->hasTargetSRFs)
	{
		rows = 1;
		foreach_ptr(RangeTblEntry, item, rte->subquery->rtable)
			if (item->rtekind != RTE_JOIN)
			rows *= Max(most_rows(item), 1);
		return rows;
	}
	if (rte->rtekind != RTE_RELATION)
		return get_float8_infinity();
	foreach_oid(relid, rte->inh ? find_all_inheritors(rte->relid, AccessShareLock, NULL) : list_make1_oid(rte->relid))
		rows += table_rows(relid);
	return rows;
}

/* Returns how many bytes a group takes, as release/memory.c counts; infinity: more than a few. */
static double
bytes_of_group(List *keys, List *aggregates)
{
	double		bytes = 0;

	foreach_ptr(Node, key, keys)
	{
		int			length = get_typlen(exprType(key));

		bytes += DP_KEY_MEMORY + 3 * (length > 0 ? length : 64);
	}
	foreach_ptr(Aggref, agg, aggregates)
	{
		const DpAggregate *private = dp_find_aggregate(agg->aggfnoid, true);

		if (private == NULL || (private->answer != DP_ANSWER_SUM && private->answer != DP_ANSWER_MOMENTS))
			return get_float8_infinity();
		bytes += sizeof(dp_i128) * 2 * (private->answer == DP_ANSWER_SUM ? 1 : DP_MAX_COLUMN_PARTS);
	}
	return bytes;
}

/* ------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------
 */

/* Tells whether it is known without the public rows which values a key has; sets the column that it is. */
static bool
is_declared(DpScope *scope, Node *key, DpColumnOrigin *origin)
{
	DpColumn   *policy;

	if (!IsA(key, Var) || !dp_trace_column(scope->query, scope, key, origin) || !origin->is_protected)
		return true;
	policy = dp_policy_column(origin->relid, origin->attnum, GetUserId(), 0);
	return policy->has_keys || policy->too_large;
}

/* Tells whether a foreign key references columns of an entry by just these. */
static bool
references(const ForeignKeyCacheInfo *fkey, List *origins, List *columns, List *rtable)
{
	int			varno = linitial_node(Var, columns)->varno;
	RangeTblEntry *rte = rt_fetch(varno, rtable);
	int			found = 0;
	ListCell   *origin,
			   *column;

	if (rte->rtekind != RTE_RELATION || rte->relid != fkey->confrelid || !dp_foreign_key_holds(fkey))
		return false;
	forboth(origin, origins, column, columns)
		for (int i = 0; i < fkey->nkeys; i++)
		found += fkey->conkey[i] == ((DpColumnOrigin *) lfirst(origin))->attnum &&
			lfirst_node(Var, column)->varno == varno && lfirst_node(Var, column)->varattno == fkey->confkey[i];
	return found == fkey->nkeys && found == list_length(columns);
}

/* Tells whether keys reference the public columns that they are compared with. */
static bool
are_references(List *origins, List *columns, List *rtable)
{
	Oid			relid = ((DpColumnOrigin *) linitial(origins))->relid;
	Relation	rel;
	bool		found = false;

	foreach_ptr(DpColumnOrigin, origin, origins)
		if (origin->relid != relid)
		return false;
	rel = table_open(relid, AccessShareLock);
	foreach_ptr(ForeignKeyCacheInfo, fkey, RelationGetFKeyList(rel))
		found = found || references(fkey, origins, columns, rtable);
	table_close(rel, NoLock);
	return found;
}

bool
dp_rows_tell_keys(DpSplitContext *cxt, DpScope *scope, Oid table, List *keys, List *columns, List *rtable)
{
	const DpDataset *dataset = dp_policy_dataset(dp_policy_table(table)->dataset);
	List	   *aggregates = NIL;
	List	   *origins = NIL;
	Bitmapset  *entries = NULL;
	bool		counts = true;
	double		rows = 1;
	int			rti = -1;

	if (dataset->min_units > 1 || list_length(keys) != list_length(scope->query->groupClause))
		return false;
	foreach_ptr(Node, key, keys)
	{
		DpColumnOrigin *origin = palloc(sizeof(DpColumnOrigin));

		if (is_declared(scope, key, origin))
			return false;
		origins = lappend(origins, origin);
	}
	foreach_ptr(Node, item, pull_var_clause((Node *) scope->query->targetList, PVC_INCLUDE_AGGREGATES | PVC_RECURSE_PLACEHOLDERS))
	{
		if (!IsA(item, Aggref))
			continue;
		aggregates = lappend(aggregates, item);
		counts &= dp_is_count(item);
	}
	if (!counts && !are_references(origins, columns, rtable))
		return false;
	foreach_ptr(Var, column, columns)
		entries = bms_add_member(entries, column->varno);
	while ((rti = bms_next_member(entries, rti)) >= 0)
		rows *= Max(most_rows(rt_fetch(rti, rtable)), 1);
	return rows <= dp_guc_max_public_rows &&
		rows * bytes_of_group(keys, aggregates) + cxt->key_memory <= dp_allowed_memory(dataset);
}
