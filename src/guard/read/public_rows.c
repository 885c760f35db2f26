/*-------------------------------------------------------------------------
 *
 * public_rows.c
 *	  What a level reads beside protected rows: tables that may be read where
 *	  those are read, and rows that are computed beforehand.
 *
 * Planning and reading a table can run code of its owner, and of the owners
 * of its partitions: index expressions and predicates, constraints, policies,
 * generated columns.  Where protected rows are read no code of an analyst may
 * run.  So only tables of those who are trusted with the protected rows, or
 * with the server, are read there.
 *
 * Invariants:
 * - Everything else is a query of its own that runs with the rights of who
 *	 asks and under their settings, before the release is paid for.
 * - Its rows reach the inner query as data: a tuplestore whose name nobody
 *	 else knows.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "base/compat.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type_d.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/syscache.h"

/* rows that a prefetch is taken to have until it is planned */
#define PREFETCH_ROWS 1000

static bool
has_virtual_column(Oid relid, int natts)
{
	for (int i = 1; i <= natts; i++)
		if (dp_is_virtual_column(relid, i))
			return true;
	return false;
}

/*
 * Tells whether one table may be read; named: the query names it, and not only
 * a table of which it is a part or child.
 */
static bool
is_trusted_relation(Oid relid, bool named, Oid run_as, Oid dataset_owner)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class class;
	bool		trusted;

	if (!HeapTupleIsValid(tuple))
		return false;
	class = (Form_pg_class) GETSTRUCT(tuple);
	trusted = relid >= FirstNormalObjectId &&
		(class->relkind == RELKIND_RELATION ||
		 class->relkind == RELKIND_PARTITIONED_TABLE ||
		 (class->relkind == RELKIND_MATVIEW && class->relispopulated)) &&
		class->relpersistence != RELPERSISTENCE_TEMP &&
		!(named && class->relrowsecurity) &&
		dp_owner_is_trusted(class->relowner, run_as, dataset_owner) &&
		!has_virtual_column(relid, class->relnatts) &&
		dp_policy_table(relid) == NULL;
	ReleaseSysCache(tuple);
	return trusted;
}

bool
dp_is_trusted_table(RangeTblEntry *rte, Oid run_as, Oid dataset_owner)
{
	if (rte->rtekind != RTE_RELATION || rte->securityQuals != NIL || rte->tablesample != NULL ||
		!is_trusted_relation(rte->relid, true, run_as, dataset_owner))
		return false;
	if (!rte->inh)
		return true;
	foreach_oid(inheritor, find_all_inheritors(rte->relid, AccessShareLock, NULL))
	{
		if (!is_trusted_relation(inheritor, false, run_as, dataset_owner))
			return false;
	}
	return true;
}

Query *
dp_select_copied(Query *query, Index rti, RangeTblEntry *copy)
{
	Query	   *select = dp_select_from(copy);

	dp_take_permissions(select, copy, query);
	ChangeVarNodes((Node *) copy->securityQuals, rti, 1, 0);
	select->hasSubLinks = checkExprHasSubLink((Node *) copy->securityQuals) ||
		checkExprHasSubLink((Node *) copy->values_lists) || checkExprHasSubLink((Node *) copy->functions);
	select->hasRowSecurity = copy->securityQuals != NIL;
	return select;
}

/* Makes SELECT of the columns, and NULL for each other one, FROM entry rti of query. */
static Query *
select_columns(Query *query, Index rti, const Bitmapset *columns)
{
	RangeTblEntry *rte = copyObject(rt_fetch(rti, query->rtable));
	Query	   *select = dp_select_copied(query, rti, rte);
	AttrNumber	n = 0;

	foreach_ptr(Node, column, dp_entry_columns(rte, 1, true))
	{
		const char *name = strVal(list_nth(rte->eref->colnames, n));

		n++;

		/*
		 * nobody reads it; its own type would be looked up, and may be the
		 * asker's
		 */
		if (!bms_is_member(n, columns))
			column = (Node *) makeNullConst(INT4OID, -1, InvalidOid);
		(void) dp_show_column(select, (Expr *) column, name);
	}
	return select;
}

DpPrefetch *
dp_prefetch_of(const DpRelease *release, const RangeTblEntry *rte)
{
	foreach_ptr(DpPrefetch, prefetch, rte->rtekind == RTE_NAMEDTUPLESTORE ? release->prefetches : NIL)
	{
		if (strcmp(prefetch->name, rte->enrname) == 0)
			return prefetch;
	}
	return NULL;
}

void
dp_make_prefetch(DpRelease *release, Query *query, Index rti, const Bitmapset *columns)
{
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	RangeTblEntry *rows;
	DpPrefetch *prefetch = dp_make_release_prefetch();

	prefetch->name = dp_release_new_name();
	prefetch->is_filter = rte->rtekind == RTE_SUBQUERY && rte->enrname != NULL;
	prefetch->tells_keys = !prefetch->is_filter || strcmp(rte->enrname, DP_KEYS_MARK) == 0;
	rte->enrname = NULL;
	prefetch->query = select_columns(query, rti, columns);
	release->prefetches = lappend(release->prefetches, prefetch);

	rows = dp_make(RangeTblEntry, .rtekind = RTE_NAMEDTUPLESTORE, .enrname = pstrdup(prefetch->name),
				   .enrtuples = PREFETCH_ROWS, .alias = rte->alias, .eref = rte->eref,
				   .inFromCl = rte->inFromCl);
	foreach_ptr(TargetEntry, tle, prefetch->query->targetList)
	{
		Node	   *column = (Node *) tle->expr;

		rows->coltypes = lappend_oid(rows->coltypes, exprType(column));
		rows->coltypmods = lappend_int(rows->coltypmods, exprTypmod(column));
		rows->colcollations = lappend_oid(rows->colcollations, exprCollation(column));
	}
	*rte = *rows;
}
