/*-------------------------------------------------------------------------
 *
 * not_null.c
 *	  Which columns are NULL in no row, so that NULL is none of their keys.
 *
 * Invariants:
 * - It follows from constraints and types alone, and never from rows: of the table
 *	 and of all that inherits from it.  Foreign tables check neither.
 * - No function of a table's owner runs as who asks, who only plans.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "policy/policy.h"

static bool
is_of_users(Oid function, void *context)
{
	return function >= FirstGenbkiObjectId;
}

/* Tells whether an expression calls functions that may not be run as who asks: the table's owner may have written them. */
static bool
calls_of_users(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return check_functions_in_node(node, is_of_users, NULL) || expression_tree_walker(node, calls_of_users, NULL);
}

List *
dp_checks_of(Relation rel)
{
	TupleConstr *constr = RelationGetDescr(rel)->constr;
	List	   *checks = NIL;

	for (int i = 0; constr != NULL && i < constr->num_check; i++)
	{
		Node	   *check;

		if (!constr->check[i].ccvalid || constr->check[i].ccnoinherit)
			continue;
		check = stringToNode(constr->check[i].ccbin);
		if (calls_of_users(check, NULL))
			continue;
		check = eval_const_expressions(NULL, check);
		checks = list_concat(checks, make_ands_implicit((Expr *) canonicalize_qual((Expr *) check, true)));
	}
	return checks;
}

/* Tells whether a type is a domain that has no NULL. */
static bool
is_not_null_domain(Oid type)
{
	for (;;)
	{
		HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
		Form_pg_type form;
		bool		is_domain;
		bool		not_null;

		if (!HeapTupleIsValid(tuple))
			return false;
		form = (Form_pg_type) GETSTRUCT(tuple);
		is_domain = form->typtype == TYPTYPE_DOMAIN;
		not_null = form->typnotnull;
		type = form->typbasetype;
		ReleaseSysCache(tuple);
		if (!is_domain || not_null)
			return is_domain;
	}
}

/* Tells whether the rows of one table have no NULL in a column. */
static bool
is_not_null_in(Relation rel, AttrNumber attnum)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	NullTest   *test;

	if (rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
		return false;
	if (dp_is_not_null_column(RelationGetDescr(rel), attnum) || is_not_null_domain(att->atttypid))
		return true;
	if (RelationGetDescr(rel)->constr == NULL || RelationGetDescr(rel)->constr->num_check == 0)
		return false;
	test = makeNode(NullTest);
	test->arg = (Expr *) makeVar(1, attnum, att->atttypid, att->atttypmod, att->attcollation, 0);
	test->nulltesttype = IS_NOT_NULL;
	test->location = -1;
	return predicate_implied_by(list_make1(test), dp_checks_of(rel), true);
}

bool
dp_column_is_not_null(Oid relid, AttrNumber attnum)
{
	const char *name = get_attname(relid, attnum, false);
	bool		result = true;

	foreach_oid(inheritor, find_all_inheritors(relid, AccessShareLock, NULL))
	{
		Relation	rel = table_open(inheritor, AccessShareLock);

		result = result && is_not_null_in(rel, get_attnum(RelationGetRelid(rel), name));
		table_close(rel, NoLock);
	}
	return result;
}
