/*-------------------------------------------------------------------------
 *
 * raw_columns.c
 *	  Columns that may be read of raw rows, and as what.
 *
 * Invariants:
 *
 * - Only columns of the level's own entries are read, by their numbers: no
 *	 whole rows, system columns, or expressions of virtual columns.
 * - A column has a built-in scalar type or an enum.  jsonb, arrays and ranges
 *	 are read as what a function looks into, or a test for NULL, and not otherwise.
 * - Values of a domain are those of its base type, so that no constraint of it
 *	 is checked, or looked up.  Columns of citext are read as text, as they are
 *	 written; vet.c puts them in lower case where their values are compared.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "policy/unit_types.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/*
 * Returns a copy of a column as one of the base type, if its type is a domain, or as text, if it is citext.
 * A subquery hands up base types and text, and its unit as it is.
 */
static Node *
without_domain(const DpAllowContext *cxt, Var *var)
{
	Var		   *copy = copyObject(var);
	RangeTblEntry *rte = cxt && var->varno <= list_length(cxt->rtable) ? rt_fetch(var->varno, cxt->rtable) : NULL;
	TargetEntry *tle;
	int32		typmod = -1;

	if (rte != NULL && rte->rtekind == RTE_SUBQUERY &&
		(tle = get_tle_by_resno(rte->subquery->targetList, var->varattno)) != NULL &&
		exprType((Node *) tle->expr) == dp_type_as_read(var->vartype, &typmod))
	{
		copy->vartype = exprType((Node *) tle->expr);
		copy->vartypmod = exprTypmod((Node *) tle->expr);
	}
	if (dp_is_citext(copy->vartype))
		return (Node *) makeRelabelType((Expr *) copy, TEXTOID, -1, copy->varcollid, COERCE_IMPLICIT_CAST);
	return (Node *) dp_as_base_type((Expr *) copy);
}

bool
dp_is_opened(DpVet *vet, Oid type)
{
	bool		opens = vet->opens;

	vet->opens = false;
	return opens && dp_type_is_opened(type);
}

/* Returns what to do with a column of a type that is not read. */
static const char *
instead_of_type(Oid type)
{
	if (type == JSONBOID)
		return "read a part of it as text, for example with ->> 'name'";
	if (type == JSONOID)
		return "its owner can give it type jsonb, of which parts can be read with ->> 'name'";
	if (!dp_type_is_opened(type))
		return "only built-in scalar types and enums can be read; its owner can add a generated column of such a type";
	return type_is_array(type) ? "look into it, for example with value = ANY (column), @>, && or cardinality, or write array_to_string(column, ',')" :
		"look into it, for example with @>, &&, lower or upper";
}

Node *
dp_vet_column(DpVet *vet, Var *var)
{
	const DpAllowContext *cxt = vet->cxt;
	bool		opened = dp_is_opened(vet, var->vartype);
	int32		typmod = -1;
	Oid			type = dp_type_as_read(var->vartype, &typmod);

	if (vet->no_columns)
		dp_refuse(vet, (Node *) var, "a column in place of a constant", "write a constant or a parameter");
	if (var->varlevelsup != 0)
		dp_refuse(vet, (Node *) var, "a column of an outer query",
				  "join the rows in FROM, on what it is compared with, and group by columns of that query");
	if (var->varattno == 0)
		dp_refuse(vet, (Node *) var, "a whole row", "name its columns");
	if (var->varattno < 0)
		dp_refuse(vet, (Node *) var, "a system column", "name columns of the table itself");
	if (cxt && cxt->rtindexes && !bms_is_member(var->varno, cxt->rtindexes))
		dp_refuse(vet, (Node *) var, "a column of this table or subquery", NULL);
	if (cxt && var->varno <= list_length(cxt->rtable))
	{
		RangeTblEntry *rte = rt_fetch(var->varno, cxt->rtable);

		if (rte->rtekind == RTE_RELATION && dp_is_virtual_column(rte->relid, var->varattno))
			dp_refuse(vet, (Node *) var,
					  psprintf("virtual generated column \"%s\"", get_rte_attribute_name(rte, var->varattno)),
					  "write its expression, or let the owner make it STORED");
	}
	if (opened)
		return (Node *) copyObject(var);
	if (!dp_type_is_allowed(type) && cxt && var->varno <= list_length(cxt->rtable))
	{
		RangeTblEntry *rte = rt_fetch(var->varno, cxt->rtable);

		dp_refuse(vet, (Node *) var,
				  psprintf("column \"%s\" of type %s", get_rte_attribute_name(rte, var->varattno),
						   format_type_be(var->vartype)),
				  instead_of_type(var->vartype));
	}
	dp_vet_type(vet, (Node *) var, type);
	dp_vet_collation(vet, (Node *) var, var->varcollid);
	return without_domain(cxt, var);
}
