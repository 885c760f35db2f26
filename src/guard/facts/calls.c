/*-------------------------------------------------------------------------
 *
 * calls.c
 *	  Calls of PostgreSQL's functions, in whichever form they stand.
 *
 * A function is called by name, by an operator, or by its safe variant
 * (dp_cdp_internal.try_*).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "base/extension.h"
#include "catalog/pg_namespace_d.h"
#include "guard/facts/facts.h"
#include "utils/lsyscache.h"

const char *
dp_builtin_name(const FuncExpr *call)
{
	Oid			schema = get_func_namespace(call->funcid);
	const char *name;

	if (schema != PG_CATALOG_NAMESPACE && schema != dp_internal_schema())
		return NULL;
	name = get_func_name(call->funcid);
	if (schema == PG_CATALOG_NAMESPACE)
		return name;
	return strncmp(name, "try_", 4) == 0 ? name + 4 : NULL;
}

/* Returns what an operator of numbers and times is called as a function; NULL: it is another. */
static const char *
function_of(const OpExpr *op)
{
	static const struct
	{
		const char *operator;
		int			nargs;
		const char *function;
	}			functions[] = {{"+", 2, "add"}, {"-", 2, "subtract"}, {"*", 2, "multiply"}, {"/", 2, "divide"}, {"%", 2, "mod"},
	{"-", 1, "negate"}, {"+", 1, "plus"}, {"@", 1, "abs"}};
	const char *name = op->opno < FirstGenbkiObjectId ? get_opname(op->opno) : NULL;

	for (int i = 0; name != NULL && i < lengthof(functions); i++)
		if (strcmp(functions[i].operator, name) == 0 && functions[i].nargs == list_length(op->args))
			return functions[i].function;
	return NULL;
}

List *
dp_arguments_of(Node *node, const char **name)
{
	*name = NULL;
	if (IsA(node, FuncExpr))
		*name = dp_builtin_name((FuncExpr *) node);
	else if (IsA(node, OpExpr))
		*name = function_of((OpExpr *) node);
	if (*name == NULL)
		return NIL;
	return IsA(node, FuncExpr) ? ((FuncExpr *) node)->args : ((OpExpr *) node)->args;
}
