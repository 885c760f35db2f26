/*-------------------------------------------------------------------------
 *
 * fields.h
 *	  What rows give to values of their units: each expression computed once.
 *
 * Private to src/agg.  See fields.c.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_FIELDS_H
#define DP_FIELDS_H

#include "executor/executor.h"

#include "agg/bounding/decimals.h"
#include "agg/bounding/input_columns.h"
#include "agg/bounding/row.h"

/* what a field has of its expression; it is NULL where a row gives nothing */
typedef enum DpFieldKind
{
	DP_FIELD_TRUE,				/* nothing but whether it is true */
	DP_FIELD_VALUE,				/* nothing but whether it is not NULL (nor
								 * NaN) */
	DP_FIELD_STEPS,				/* a number on a grid, in steps */
	DP_FIELD_CALL,				/* function(expression, range): a centered
								 * value or a bin */
	DP_FIELD_CODE				/* int4 or int8, as it is */
} DpFieldKind;

typedef struct DpField
{
	DpFieldKind kind;
	int			expr;			/* number among DpFields.expr */
	Oid			type;			/* base type of the expression */
	bool		skips_nan;		/* DP_FIELD_VALUE */
	DpGrid		grid;			/* DP_FIELD_STEPS */
	DpRowLimits limits;			/* DP_FIELD_STEPS */
	const FuncExpr *function;	/* DP_FIELD_CALL */
	FunctionCallInfo call;		/* of it; the second argument is set */
	const DpRange *range;		/* that argument */
	bool		is_bin;
	bool		takes_decimals; /* it can be computed of one */
	uint16		width;			/* bytes in a record: 0, 4 or 8 */
	uint16		at;				/* in a record */
} DpField;

/* where a projection has an expression */
typedef struct DpPlace
{
	int			column;			/* -1: nowhere */
	bool		is_part;		/* of others, so in the first projection */
} DpPlace;

/* two projections, of which the second reads what the first has computed; NULL: nothing to compute */
typedef struct DpProjections
{
	ProjectionInfo *parts;
	ProjectionInfo *wholes;
} DpProjections;

/* an expression over a row of the input */
typedef struct DpExpression
{
	Expr	   *expr;
	AttrNumber	attno;			/* column of the input; 0: computed */
	int			filter;			/* number of the expression that must be true,
								 * else this one is not computed; -1: none */
	int			decimal;		/* number of the step that comes to it; -1:
								 * none */
	DpPlace		place[2];		/* see DpFields.projections */
	ExprState  *state;			/* computed by itself: has a filter */
	Datum		value;			/* of the row at hand */
	bool		isnull;
} DpExpression;

/* what a value of the spec takes of fields */
typedef enum DpTake
{
	DP_TAKE_NEVER,
	DP_TAKE_ROW,				/* counts each row */
	DP_TAKE_PRESENT,			/* counts rows whose field is not NULL */
	DP_TAKE_SUM,
	DP_TAKE_CHEBYSHEV,			/* sums 2 t^2 - 1 */
	DP_TAKE_PRODUCT,			/* sums t u */
	DP_TAKE_CODE
} DpTake;

typedef struct DpTaken
{
	DpTake		take;
	uint16		field;
	uint16		field2;			/* DP_TAKE_PRODUCT */
	uint32		at;				/* in an entry of a state */
	DpCodeSpec	codes;
} DpTaken;

/* at most one for each value, and a second one for products */
#define DP_MAX_FIELDS (2 * DP_MAX_VALUES)
#define DP_MAX_EXPRESSIONS (3 * DP_MAX_VALUES)

typedef struct DpFields
{
	int			nexprs;
	int			nfields;
	int			nvalues;
	DpExpression *expr;
	DpField    *field;
	DpTaken    *taken;			/* for each value */
	DpDecimals	decimals;
	DpProjections projections[2];	/* of what is computed for each row: all;
									 * what is no decimal */
	DpColumns	columns;		/* of the input */
} DpFields;

/* what expressions are made of, while they are read */
typedef struct DpFieldReader
{
	DpFields   *fields;
	PlanState  *node;
	ExprContext *econtext;
} DpFieldReader;

extern void dp_fields_init(DpFields *fields, const DpBoundSpec *spec, const DpLayout *layout, List *values,
						   PlanState *node, ExprContext *econtext, TupleDesc input);
extern void dp_compute_fields(DpFields *fields, TupleTableSlot *slot, ExprContext *econtext,
							  int64 *value, bool *isnull);

/* expressions.c */
extern AttrNumber dp_input_column(const Expr *expr);
extern int	dp_add_expression(DpFieldReader *reader, Expr *expr, int filter);
extern void dp_project_expressions(DpFieldReader *reader, TupleDesc input);
extern void dp_compute_expressions(DpFields *fields, TupleTableSlot *slot, ExprContext *econtext, bool decimals);

/* Adds what the fields hold to an entry of the unit's state. */
static inline void
dp_take_fields(const DpFields *fields, const int64 *value, const bool *isnull, const DpBoundState *state, char *entry)
{
	const DpTaken *taken = fields->taken;

	for (int i = 0; i < fields->nvalues; i++, taken++)
	{
		char	   *to = entry + taken->at;

		if (taken->take == DP_TAKE_ROW)
			dp_add_to_count(to, 1);
		else if (taken->take == DP_TAKE_NEVER || isnull[taken->field])
			continue;
		else if (taken->take == DP_TAKE_SUM)
			dp_add_to_sum(to, value[taken->field]);
		else if (taken->take == DP_TAKE_PRESENT)
			dp_add_to_count(to, 1);
		else if (taken->take == DP_TAKE_CODE)
			dp_codes_add(state, entry, taken->at, taken->codes, value[taken->field]);
		else if (taken->take == DP_TAKE_CHEBYSHEV)
			dp_add_to_sum(to, dp_chebyshev_of(dp_clamp_centered(value[taken->field])));
		else if (!isnull[taken->field2])
			dp_add_to_sum(to, dp_product_of(dp_clamp_centered(value[taken->field]),
											dp_clamp_centered(value[taken->field2])));
	}
}

#endif							/* DP_FIELDS_H */
