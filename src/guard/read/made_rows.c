/*-------------------------------------------------------------------------
 *
 * made_rows.c
 *	  Rows that a function makes of each row of a level.
 *
 *	 FROM t, unnest(t.tags) v (tag)
 *	   stays as it is, over an array that is safe to look into
 *	 FROM t, string_to_table(t.note, ' ') v (word)
 *	   FROM t, unnest(string_to_array(t.note, ' ')) v (word)
 *	 SELECT unnest(tags) FROM t
 *	   SELECT v.tag FROM t, unnest(t.tags) v (tag)
 *	   before GROUP BY, where PostgreSQL makes the rows of what is grouped by
 *
 * unnest is the only function that makes rows where protected ones are read.
 * It does not fail, and makes as many of them as its argument has elements,
 * which is as long as a value on raw rows may be.
 *
 * A row that is made belongs to the unit of the row that it is made of: the
 * join puts the two side by side.  That row alone decides how many are made.
 * The unit's own rows alone decide how many it has then.  The bounding node
 * bounds them after the join, as after one with public rows (joins.c).
 * Such an entry repeats rows, and ends each fact that tells rows of a unit
 * apart, or that a unit has one row.
 *
 * Several of them multiply, so that one row may take as long as somebody likes.  A limit
 * on their number would close nothing: a unit's rows that are joined with each other, or with
 * a public table, multiply as well.  docs/privacy.md says what stands against measuring time.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------------
 * Functions
 * ------------------------------------------------------------------------
 */

/* functions that make rows of a value, and those that make an array of it: PostgreSQL's, or one of this extension */
static const struct
{
	Oid			rows;
	Oid			array;
	const char *own;
}			in_words_of_arrays[] = {
	{F_STRING_TO_TABLE_TEXT_TEXT, F_STRING_TO_ARRAY_TEXT_TEXT, NULL},
	{F_REGEXP_SPLIT_TO_TABLE_TEXT_TEXT, F_REGEXP_SPLIT_TO_ARRAY_TEXT_TEXT, NULL},
	{F_JSONB_OBJECT_KEYS, InvalidOid, "try_json_keys"}, {F_JSONB_ARRAY_ELEMENTS_TEXT, InvalidOid, "try_json_elements"}
};

/* Returns unnest of an array that a function makes of the arguments of a call. */
static FuncExpr *
unnest_of(FuncExpr *call, Oid array, const char *own)
{
	FuncExpr   *made = makeFuncExpr(own ? dp_parts_of_json(own) : array, TEXTARRAYOID, copyObject(call->args), DEFAULT_COLLATION_OID,
									call->inputcollid, COERCE_EXPLICIT_CALL);
	FuncExpr   *rows = makeFuncExpr(F_UNNEST_ANYARRAY, TEXTOID, list_make1(made), DEFAULT_COLLATION_OID, DEFAULT_COLLATION_OID,
									COERCE_EXPLICIT_CALL);

	if (OidIsValid(call->funccollid))
		made->funccollid = rows->funccollid = rows->inputcollid = call->funccollid;
	rows->funcretset = true;
	made->location = rows->location = call->location;
	return rows;
}

/* Returns a call as one of unnest; NULL: it is not known to make rows of an array. */
static FuncExpr *
as_unnest(Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;

	if (!IsA(node, FuncExpr) || !call->funcretset || call->funcvariadic)
		return NULL;
	for (int i = 0; i < lengthof(in_words_of_arrays); i++)
		if (call->funcid == in_words_of_arrays[i].rows)
			return unnest_of(call, in_words_of_arrays[i].array, in_words_of_arrays[i].own);
	/* elements of a composite type would be its fields */
	if (call->funcid != F_UNNEST_ANYARRAY || !type_is_array(exprType(linitial(call->args))) ||
		!dp_type_is_opened(exprType(linitial(call->args))))
		return NULL;
	return call;
}

/* Makes a function of FROM of a call of unnest. */
static RangeTblFunction *
function_of(FuncExpr *call)
{
	return dp_make(RangeTblFunction, .funcexpr = (Node *) call, .funccolcount = 1);
}

bool
dp_makes_rows(RangeTblEntry *rte)
{
	List	   *functions = NIL;

	if (rte->rtekind != RTE_FUNCTION || !contain_vars_of_level((Node *) rte->functions, 0) ||
		contain_vars_of_level((Node *) rte->functions, 1) || checkExprHasSubLink((Node *) rte->functions))
		return false;
	foreach_ptr(RangeTblFunction, function, rte->functions)
	{
		FuncExpr   *call = (FuncExpr *) function->funcexpr;

		/* two columns, of which the names are as many as the values */
		if (IsA(call, FuncExpr) && call->funcid == F_JSONB_EACH_TEXT)
		{
			functions = lappend(functions, function_of(unnest_of(call, InvalidOid, "try_json_keys")));
			functions = lappend(functions, function_of(unnest_of(call, InvalidOid, "try_json_values")));
			continue;
		}
		call = as_unnest(function->funcexpr);
		if (call == NULL || function->funccolcount != 1)
			return false;
		functions = lappend(functions, function_of(call));
	}
	rte->functions = functions;
	return true;
}

void
dp_vet_made_rows(RangeTblEntry *rte, const DpAllowContext *allow)
{
	foreach_ptr(RangeTblFunction, function, rte->functions)
	{
		FuncExpr   *call = castNode(FuncExpr, function->funcexpr);

		linitial(call->args) = dp_make_array_safe(linitial(call->args), allow);
	}
}

/* ------------------------------------------------------------------------
 * In the select list
 * ------------------------------------------------------------------------
 */

typedef struct MadeContext
{
	Index		rti;
	List	   *calls;			/* FuncExpr, of unnest */
	bool		unknown;		/* another function that returns a set */
} MadeContext;

static Node *
put_made(Node *node, int levels, MadeContext *c)
{
	FuncExpr   *call = (FuncExpr *) node;
	int			place;

	if (IsA(node, OpExpr) && ((OpExpr *) node)->opretset)
		c->unknown = true;
	if (!IsA(node, FuncExpr) || !call->funcretset)
		return NULL;
	call = as_unnest(node);
	c->unknown |= call == NULL || expression_returns_set((Node *) call->args) || contain_agg_clause((Node *) call->args) ||
		checkExprHasSubLink((Node *) call->args);
	if (c->unknown)
		return node;
	c->calls = list_append_unique(c->calls, call);
	place = dp_position_of(c->calls, (Node *) call) + 1;
	return (Node *) dp_output_var(c->rti, place, (Node *) call);
}

/* Tells whether PostgreSQL makes the rows of a target before it groups them, or does not group. */
static bool
makes_rows_first(Query *query, TargetEntry *tle)
{
	return (!query->hasAggs && query->groupClause == NIL) ||
		dp_clauses_name(query->groupClause, tle->ressortgroupref);
}

void
dp_write_out_sets(Query *query)
{
	MadeContext c = {list_length(query->rtable) + 1, NIL, false};
	List	   *targets = NIL;
	RangeTblEntry *rte;

	if (!query->hasTargetSRFs || query->hasWindowFuncs || query->groupingSets != NIL || query->setOperations != NULL)
		return;
	foreach_ptr(TargetEntry, item, query->targetList)
	{
		TargetEntry *tle = flatCopyTargetEntry(item);

		if (expression_returns_set((Node *) tle->expr))
		{
			c.unknown |= !makes_rows_first(query, tle);
			tle->expr = (Expr *) dp_put(tle->expr, put_made, &c);
		}
		targets = lappend(targets, tle);
	}
	if (c.unknown)
		return;
	rte = dp_make(RangeTblEntry, .rtekind = RTE_FUNCTION, .lateral = true, .inFromCl = true,
				  .eref = makeAlias("unnest", NIL));
	foreach_ptr(FuncExpr, call, c.calls)
	{
		rte->functions = lappend(rte->functions, function_of(call));
		rte->eref->colnames = lappend(rte->eref->colnames, makeString(pstrdup("unnest")));
	}
	(void) dp_add_to_from(query, rte);
	query->targetList = targets;
	query->hasTargetSRFs = false;
}
