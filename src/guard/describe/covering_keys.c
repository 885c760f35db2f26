/*-------------------------------------------------------------------------
 *
 * covering_keys.c
 *	  Which declared values are those of all rows, because of types and
 *	  constraints.
 *
 * Grouping sets that agree are held to the declared values of each other's keys (dp_hold_keys).  Where
 * no row can have another value there is nothing to hold them to, so that a set asks what
 * the same GROUP BY asks by itself, and shares its kept answers.
 *
 * Invariant: it follows from types and constraints, on which a plan depends, and never from rows.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/transam.h"
#include "base/compat.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* Counts the values of an enum. */
static int
enum_values(Oid type)
{
	CatCList   *list = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
	int			n = list->n_members;

	dp_held_note_unwatched();
	ReleaseCatCacheList(list);
	return n;
}

/* Tells whether some table, or what inherits from it, checks no constraints. */
static bool
has_foreign_tables(Oid relid)
{
	foreach_oid(inheritor, find_all_inheritors(relid, AccessShareLock, NULL))
	{
		if (get_rel_relkind(inheritor) == RELKIND_FOREIGN_TABLE)
			return true;
	}
	return false;
}

/* Returns column = ANY (list) as a constraint of the column's table would say it; NULL: there is no such operator. */
static Expr *
as_constraint(Relation rel, AttrNumber attnum, const Const *list)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	Oid			elements = get_element_type(list->consttype);
	TypeCacheEntry *type = lookup_type_cache(elements, TYPECACHE_EQ_OPR);
	Node	   *column = (Node *) makeVar(1, attnum, att->atttypid, att->atttypmod, att->attcollation, 0);
	Oid			left,
				right;
	Datum	   *values;
	ArrayType  *array;
	int			n;

	if (!OidIsValid(type->eq_opr))
		return NULL;
	op_input_types(type->eq_opr, &left, &right);
	if (left != att->atttypid)
		column = (Node *) makeRelabelType((Expr *) column, left, -1, att->attcollation, COERCE_IMPLICIT_CAST);

	/*
	 * values of a type that has no operators of its own, as varchar, are
	 * those of the one that has
	 */
	deconstruct_array(DatumGetArrayTypeP(list->constvalue), elements, type->typlen, type->typbyval, type->typalign,
					  &values, NULL, &n);
	array = construct_array(values, n, right, type->typlen, type->typbyval, type->typalign);
	return (Expr *) dp_make_array_comparison(type->eq_opr, true, (Expr *) column,
											 (Expr *) makeConst(get_array_type(right), -1, att->attcollation, -1, PointerGetDatum(array), false, false),
											 att->attcollation);
}

/*
 * Tells whether a column has one of the listed values wherever it is not NULL: constraints say
 * so, of which none is false in any row.
 */
static bool
is_checked(DpLevel *level, Node *expr, const Const *list)
{
	DpColumnOrigin origin;
	Relation	rel;
	Expr	   *in;
	bool		proved;

	expr = dp_strip_relabel(expr);
	if (!IsA(expr, Var) || get_element_type(list->consttype) >= FirstGenbkiObjectId ||
		!dp_trace_column(level->from.query, NULL, expr, &origin) || origin.attnum <= 0 ||
		has_foreign_tables(origin.relid))
		return false;
	rel = table_open(origin.relid, AccessShareLock);
	in = as_constraint(rel, origin.attnum, list);
	proved = in != NULL && predicate_implied_by(list_make1(in), dp_checks_of(rel), true);
	table_close(rel, NoLock);
	return proved;
}

bool
dp_keys_cover(DpLevel *level, Node *expr, const DpKeySet *set)
{
	Oid			type = getBaseType(exprType(expr));

	if (!set->null_key && !dp_expression_never_null(level, expr))
		return false;
	if (type == BOOLOID)
		return dp_list_size(set->domain) == 2;
	if (type_is_enum(type))
		return dp_list_size(set->domain) == enum_values(type);
	return is_checked(level, expr, set->domain);
}
