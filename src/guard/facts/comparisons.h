/*-------------------------------------------------------------------------
 *
 * comparisons.h
 *	  Conditions that compare an expression with constants.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_COMPARISONS_H
#define DP_COMPARISONS_H

#include "nodes/primnodes.h"

/* the most constants of one comparison, and of one list of cells */
#define DP_MAX_CELL_CONSTANTS 1000

/* a comparison, turned so that the constants are on its right */
typedef struct DpCellTest
{
	Node	   *expr;
	Oid			type;
	Oid			collation;
	Oid			opno;			/* of numbers */
	List	   *constants;
} DpCellTest;

/* Tells whether a condition, which is not known, compares an expression with constants; fills test. */
extern bool dp_get_cell_test(Node *node, DpCellTest *test);

/* Tells whether an expression reads the argument of a CASE that it is only a part of. */
extern bool dp_reads_case(Node *node);

/* Returns what an expression is without labels, and casts that keep the order of numbers and lose none. */
extern Node *dp_strip_casts(Node *node);

/* Returns a copy of node in which CASE column WHEN value is CASE WHEN column = value; a mutator. */
extern Node *dp_write_out_cases(Node *node, void *context);

#endif							/* DP_COMPARISONS_H */
