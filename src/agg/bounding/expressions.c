/*-------------------------------------------------------------------------
 *
 * expressions.c
 *	  The expressions that fields are made of, each computed once for a row.
 *
 * An expression is a column of the input; or a decimal (decimals.c); or it is computed by the
 * executor, with all others in one projection, and what is part of others in one before it.
 * There are two pairs of projections: of all expressions, and of those that are no
 * decimals, for rows where the rest are.
 *
 * Invariant: an expression with a filter is computed only where that is true, unless it
 * is a decimal, which cannot fail.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "agg/bounding/fields.h"

/* Returns the column of the input that the expression is; 0: it is computed. */
AttrNumber
dp_input_column(const Expr *expr)
{
	const Var  *var = (const Var *) expr;

	return IsA(expr, Var) && var->varno == INDEX_VAR && var->varattno > 0 ? var->varattno : 0;
}

/* Returns the number of the expression, which is added unless it is there; filter: see DpExpression. */
int
dp_add_expression(DpFieldReader *reader, Expr *expr, int filter)
{
	DpFields   *fields = reader->fields;
	DpExpression *added;

	if (!contain_volatile_functions((Node *) expr))
		for (int i = 0; i < fields->nexprs; i++)
			if (fields->expr[i].filter == filter && equal(fields->expr[i].expr, expr))
				return i;
	if (fields->nexprs == DP_MAX_EXPRESSIONS)
		elog(ERROR, "bound_unit has too many arguments");
	added = &fields->expr[fields->nexprs];
	added->expr = expr;
	added->filter = filter;
	added->decimal = -1;
	added->attno = dp_input_column(expr);
	if (added->attno > 0)
		dp_columns_add(&fields->columns, added->attno);
	else if (filter >= 0)
		added->state = ExecInitExpr(expr, reader->node);
	return fields->nexprs++;
}

/* ------------------------------------------------------------------------
 * Projections
 * ------------------------------------------------------------------------
 */

/* what one pair of projections is made of */
typedef struct Projecting
{
	DpFields   *fields;
	bool		decimals;		/* those are there already */
	int			whole;			/* number of the expression that is searched
								 * for parts */
} Projecting;

static inline DpPlace *
place_of(const Projecting *projecting, int i)
{
	return &projecting->fields->expr[i].place[projecting->decimals];
}

static inline bool
is_projected(const Projecting *projecting, int i)
{
	const DpExpression *expr = &projecting->fields->expr[i];

	return expr->attno == 0 && expr->filter < 0 && !(projecting->decimals && expr->decimal >= 0);
}

/* Replaces parts that are projected expressions themselves by what the first projection has of them. */
static Node *
replace_parts(Node *node, void *context)
{
	Projecting *projecting = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, OpExpr) || IsA(node, FuncExpr))
		for (int i = 0; i < projecting->fields->nexprs; i++)
		{
			if (i == projecting->whole || !is_projected(projecting, i) ||
				!equal(node, projecting->fields->expr[i].expr) || contain_volatile_functions(node))
				continue;
			place_of(projecting, i)->is_part = true;
			return (Node *) makeVar(INNER_VAR, i + 1, exprType(node), exprTypmod(node), exprCollation(node), 0);
		}
	return expression_tree_mutator(node, replace_parts, context);
}

/* Sets the columns of the first projection where replace_parts has put the numbers of expressions. */
static bool
number_parts(Node *node, void *context)
{
	Projecting *projecting = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->varno == INNER_VAR)
	{
		((Var *) node)->varattno = place_of(projecting, ((Var *) node)->varattno - 1)->column + 1;
		return false;
	}
	return expression_tree_walker(node, number_parts, context);
}

static void
add_target(List **targets, DpPlace *place, Expr *computed)
{
	place->column = list_length(*targets);
	*targets = lappend(*targets, makeTargetEntry(computed, list_length(*targets) + 1, NULL, false));
}

static ProjectionInfo *
project(DpFieldReader *reader, List *targets, TupleDesc input)
{
	if (targets == NIL)
		return NULL;
	return ExecBuildProjectionInfo(targets, reader->econtext,
								   MakeSingleTupleTableSlot(ExecTypeFromTL(targets), &TTSOpsVirtual),
								   reader->node, input);
}

static DpProjections
make_projections(DpFieldReader *reader, bool decimals, TupleDesc input)
{
	DpFields   *fields = reader->fields;
	Projecting	projecting = {fields, decimals};
	Expr	  **rest = palloc0(sizeof(Expr *) * Max(fields->nexprs, 1));
	List	   *parts = NIL;
	List	   *wholes = NIL;

	for (int i = 0; i < fields->nexprs; i++)
		*place_of(&projecting, i) = (DpPlace)
	{
		.column = -1
	};
	for (int i = 0; i < fields->nexprs; i++)
	{
		projecting.whole = i;
		if (is_projected(&projecting, i))
			rest[i] = (Expr *) replace_parts((Node *) fields->expr[i].expr, &projecting);
	}
	for (int i = 0; i < fields->nexprs; i++)
		if (place_of(&projecting, i)->is_part)
			add_target(&parts, place_of(&projecting, i), fields->expr[i].expr);
	for (int i = 0; i < fields->nexprs; i++)
	{
		if (rest[i] == NULL || place_of(&projecting, i)->is_part)
			continue;
		number_parts((Node *) rest[i], &projecting);
		add_target(&wholes, place_of(&projecting, i), rest[i]);
	}
	return (DpProjections)
	{
		project(reader, parts, input), project(reader, wholes, input)
	};
}

/*
 * Has two projections compute all expressions that every row needs: the first those
 * that are parts of others, like a price with discount of that with tax.
 */
void
dp_project_expressions(DpFieldReader *reader, TupleDesc input)
{
	DpFields   *fields = reader->fields;

	fields->projections[false] = make_projections(reader, false, input);
	if (fields->decimals.nsteps > 0)
		fields->projections[true] = make_projections(reader, true, input);
}

/* ------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------
 */

/* Sets the values of all expressions but those that are decimals, if decimals are computed: of these whether they are NULL. */
void
dp_compute_expressions(DpFields *fields, TupleTableSlot *slot, ExprContext *econtext, bool decimals)
{
	const DpProjections *projections = &fields->projections[decimals];
	TupleTableSlot *from[] = {NULL, NULL};

	econtext->ecxt_scantuple = slot;
	if (projections->parts != NULL)
		econtext->ecxt_innertuple = from[true] = ExecProject(projections->parts);
	if (projections->wholes != NULL)
		from[false] = ExecProject(projections->wholes);
	for (int i = 0; i < fields->nexprs; i++)
	{
		DpExpression *expr = &fields->expr[i];
		const DpPlace *place = &expr->place[decimals];

		expr->isnull = true;
		if (expr->filter >= 0 &&
			(fields->expr[expr->filter].isnull || !DatumGetBool(fields->expr[expr->filter].value)))
			continue;
		if (decimals && expr->decimal >= 0)
			expr->isnull = fields->decimals.isnull[expr->decimal];
		else if (expr->attno > 0)
		{
			expr->value = slot->tts_values[expr->attno - 1];
			expr->isnull = slot->tts_isnull[expr->attno - 1];
		}
		else if (place->column >= 0)
		{
			expr->value = from[place->is_part]->tts_values[place->column];
			expr->isnull = from[place->is_part]->tts_isnull[place->column];
		}
		else
			expr->value = ExecEvalExpr(expr->state, econtext, &expr->isnull);
	}
}
