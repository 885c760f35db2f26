/*-------------------------------------------------------------------------
 *
 * worker_probe.c
 *	  What a server of a cluster is asked before a debit: whether it could
 *	  compute a query.
 *
 * Citus sends a query as text, and a server looks up what it names when it is
 * to run.  A type, collation or function that is missing there, or is not the
 * tables' owner's to use, would be noticed after the debit.  So each server is
 * asked to plan the query and to start its executor before, for EXPLAIN.
 *
 * In what is asked each table is a subquery without rows, whose columns have the
 * types of the table's: nothing is read, and no server has to know tables that
 * are elsewhere.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "agg/bounding/state.h"
#include "base/compat.h"
#include "base/extension.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "release/release_int.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

/* Tells whether a type is one of PostgreSQL's own, which everybody may name. */
static bool
is_builtin_type(Oid type)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	result = ((Form_pg_type) GETSTRUCT(tuple))->typnamespace == PG_CATALOG_NAMESPACE;
	ReleaseSysCache(tuple);
	return result;
}

/* Returns a value of a column's type; of others than PostgreSQL's by the table's name, as its owner need not be able to name them. */
static Expr *
column_value(Relation rel, Form_pg_attribute column)
{
	FieldSelect *field;

	if (column->attisdropped)
		return (Expr *) makeNullConst(INT4OID, -1, InvalidOid);
	if (is_builtin_type(column->atttypid) && column->attcollation == get_typcollation(column->atttypid))
		return (Expr *) makeNullConst(column->atttypid, column->atttypmod, column->attcollation);
	field = makeNode(FieldSelect);
	field->arg = (Expr *) makeNullConst(RelationGetForm(rel)->reltype, -1, InvalidOid);
	field->fieldnum = column->attnum;
	field->resulttype = column->atttypid;
	field->resulttypmod = column->atttypmod;
	field->resultcollid = column->attcollation;
	return (Expr *) field;
}

/* Returns SELECT of a table's columns without rows; LIMIT 0 keeps a planner from putting values in the places of columns. */
static Query *
empty_rows(Oid relid)
{
	Query	   *query = makeNode(Query);
	Relation	rel = table_open(relid, NoLock);

	query->commandType = CMD_SELECT;
	query->canSetTag = true;
	query->jointree = makeFromExpr(NIL, NULL);
	for (int i = 0; i < RelationGetDescr(rel)->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel), i);
		char	   *name = column->attisdropped ? psprintf("dropped_%d", i) : pstrdup(NameStr(column->attname));

		query->targetList = lappend(query->targetList,
									makeTargetEntry(column_value(rel, column), i + 1, name, false));
	}
	query->limitCount = (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(0), false, FLOAT8PASSBYVAL);
	table_close(rel, NoLock);
	return query;
}

static void
empty_entry(RangeTblEntry *rte)
{
	Query	   *rows = empty_rows(rte->relid);
	const char *name = rte->eref->aliasname;

	dp_clear_rte(rte);
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = rows;
	rte->tablesample = NULL;
	rte->eref = makeAlias(name, NIL);
	foreach_node(TargetEntry, tle, rows->targetList)
		rte->eref->colnames = lappend(rte->eref->colnames, makeString(pstrdup(tle->resname)));
	if (rte->alias == NULL)
		rte->alias = makeAlias(name, NIL);
	rte->alias->colnames = NIL;
}

/* Takes the seed out of a spec: what is asked may stand in logs. */
static void
forget_seed(Const *spec)
{
	memset(((DpBoundSpec *) DatumGetPointer(spec->constvalue))->seed, 0, sizeof(((DpBoundSpec *) NULL)->seed));
}

/*
 * Puts subqueries without rows in the places of tables, NULL where there is more of a row than its columns, and
 * other specs.
 */
static Node *
empty_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Const))
	{
		Const	   *c = copyObject((Const *) node);

		if (!c->constisnull && c->consttype == *(Oid *) context)
			forget_seed(c);
		return (Node *) c;
	}
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (var->varattno < 0 || (var->varattno == 0 && var->vartype != RECORDOID))
			return (Node *) makeNullConst(var->vartype, var->vartypmod, var->varcollid);
		return copyObject(node);
	}
	if (IsA(node, Query))
	{
		Query	   *query = query_tree_mutator((Query *) node, empty_mutator, context, 0);

		query->rowMarks = NIL;
		foreach_ptr(RangeTblEntry, rte, query->rtable)
		{
			if (rte->rtekind == RTE_RELATION)
				empty_entry(rte);
		}
		dp_forget_permissions(query);
		return (Node *) query;
	}
	return expression_tree_mutator(node, empty_mutator, context);
}

/*
 * Returns a statement that fails where a query could not be computed.  It does nothing on a coordinator, where the
 * query's objects are held.
 */
char *
dp_worker_probe(Query *query)
{
	Oid			spec = dp_own_type("bound_spec");
	char	   *sql = pg_get_querydef((Query *) empty_mutator((Node *) query, &spec), false);
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "BEGIN IF EXISTS (SELECT FROM pg_catalog.pg_dist_local_group WHERE groupid OPERATOR(pg_catalog.<>) 0) THEN EXECUTE %s; END IF; END",
					 quote_literal_cstr(psprintf("EXPLAIN %s", sql)));
	return psprintf("DO LANGUAGE plpgsql %s", quote_literal_cstr(text.data));
}
