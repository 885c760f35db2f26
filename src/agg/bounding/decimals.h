/*-------------------------------------------------------------------------
 *
 * decimals.h
 *	  Arithmetic of numeric columns in words.
 *
 * Private to src/agg.  See decimals.c.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_DECIMALS_H
#define DP_DECIMALS_H

#include "executor/tuptable.h"
#include "nodes/primnodes.h"

#include "agg/exact/decimal.h"

typedef enum DpDecimalOperation
{
	DP_DECIMAL_COLUMN,			/* numeric */
	DP_DECIMAL_INT2,			/* column that is cast to numeric */
	DP_DECIMAL_INT4,
	DP_DECIMAL_INT8,
	DP_DECIMAL_CONST,
	DP_DECIMAL_ADD,
	DP_DECIMAL_SUBTRACT,
	DP_DECIMAL_MULTIPLY,
	DP_DECIMAL_NEGATE
} DpDecimalOperation;

/* one step; its result has the step's number */
typedef struct DpDecimalStep
{
	DpDecimalOperation operation;
	AttrNumber	attno;
	int16		a;				/* numbers of earlier steps */
	int16		b;
	DpDecimal	constant;
} DpDecimalStep;

#define DP_MAX_DECIMALS 64

typedef struct DpDecimals
{
	int			nsteps;
	DpDecimalStep step[DP_MAX_DECIMALS];
	DpDecimal	value[DP_MAX_DECIMALS]; /* of the row at hand */
	bool		isnull[DP_MAX_DECIMALS];
	double		real[DP_MAX_DECIMALS];	/* the nearest one, where it is asked
										 * for */
	bool		as_double[DP_MAX_DECIMALS];
} DpDecimals;

extern int	dp_decimals_add(DpDecimals *decimals, const Expr *expr);
extern bool dp_compute_decimals(DpDecimals *decimals, const TupleTableSlot *slot);

#endif							/* DP_DECIMALS_H */
