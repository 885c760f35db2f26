/*-------------------------------------------------------------------------
 *
 * facts.h
 *	  Which values rows can have, as the conditions of a query say.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_FACTS_H
#define DP_FACTS_H

#include "guard/facts/ends.h"
#include "guard/vet/allow.h"
#include "nodes/parsenodes.h"

/* ------------------------------------------------------------------------
 * normal_form.c
 * ------------------------------------------------------------------------
 */

/* Returns a condition, which may be NULL, in its normal form: one that is true of the same rows. */
extern Node *dp_normal_form(Node *condition);

/* Brings all conditions of a query, and of those in it, into their normal form, in place. */
extern void dp_normalise_conditions(Query *query);

/* ------------------------------------------------------------------------
 * conditions.c
 * ------------------------------------------------------------------------
 */

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
	DpComparison of;
} DpCellTest;

/* Tells whether a condition, which is not known, compares an expression with constants; fills test. */
extern bool dp_get_cell_test(Node *node, DpCellTest *test);

/* Tells whether an expression reads the argument of a CASE that it is only a part of. */
extern bool dp_reads_case(Node *node);

extern bool dp_type_is_integer(Oid type);

/* Returns what an expression is without labels, and casts that keep the order of numbers and lose none. */
extern Node *dp_strip_casts(Node *node);

/* Returns a copy of node in which CASE column WHEN value is CASE WHEN column = value; a mutator. */
extern Node *dp_write_out_cases(Node *node, void *context);

/* A condition as far as it limits values: a comparison, or several of which one is true, or all are. */
typedef struct DpCondition
{
	bool		is_or;
	List	   *args;			/* DpCondition; NIL: a comparison */
	DpCellTest	test;			/* that no <> is */
} DpCondition;

/* Reads a condition; NULL: it limits no value. */
extern DpCondition *dp_limits_of_condition(Node *condition);

/* Reads conditions that all hold. */
extern List *dp_limits_of_conditions(List *conditions);

/* Returns what follows from a comparison; NULL: nothing. */
typedef Node *(*DpFollows) (DpCondition *comparison, void *context);

/* Returns what follows from a condition if that is what follows from its comparisons; NULL: nothing. */
extern Node *dp_follows_from(DpCondition *condition, DpFollows of_comparison, void *context);

/* Returns what a condition is in other words; NULL: that is not known. */
typedef Node *(*DpKnown) (Node *condition, void *context);

/*
 * Returns what is known of a condition: of a conjunction also a part of it, inside of OR, too.  NULL:
 * nothing.  Clears *whole where something is left out.
 */
extern Node *dp_known_part(Node *condition, DpKnown known, void *context, bool *whole);

/* ------------------------------------------------------------------------
 * preimages.c
 * ------------------------------------------------------------------------
 */

/* by how many days a time is off where clocks are set, and where months differ, as they are compared */
#define DP_DAYS_OF_CLOCK 1
#define DP_DAYS_OF_MONTH 6

/* how far the ends of a preimage may be off */
typedef enum DpSpread
{
	DP_SPREAD_NONE,
	DP_SPREAD_CLOCK,			/* by how far clocks are set */
	DP_SPREAD_DAYS				/* by days in which months differ, too */
} DpSpread;

/*
 * Where the values of an expression are for which another one, made of it, is
 * between two values: the first that makes it no less than the smaller one, and the last that
 * makes it no more than the larger one; where it falls, the other way round.
 */
typedef struct DpPreimage
{
	Node	   *expr;
	Expr	   *first;
	Expr	   *last;
	bool		falls;
	DpSpread	spread;
} DpPreimage;

/*
 * Finds for which values of target the left side of a comparison is a constant; false: that is not known, and
 * preimage->expr is what cannot be undone.
 */
extern bool dp_find_preimage(const DpCellTest *test, Node *constant, Node *target, DpPreimage *preimage);

/* ------------------------------------------------------------------------
 * hulls.c
 * ------------------------------------------------------------------------
 */

/*
 * Finds the least and the greatest value that an expression, a number, date or timestamp, can have where all
 * conditions (DpCondition) are true; NULL: there is none.  Both are included.  They are of the type of the
 * expression, where that is a time; of numbers, numeric or float8.
 */
extern void dp_find_hull(List *conditions, Node *target, Expr **first, Expr **last);

/*
 * Finds between which integers, or days, all conditions hold a value, both included; false: that is not known now.
 * first may be NULL.
 */
extern bool dp_find_range(List *conditions, Node *value, int64 *first, int64 *last);

/* Returns what a condition says of target alone, by comparisons with values that are known when rows are read; NULL: nothing. */
extern Node *dp_limits_on(DpCondition *condition, Node *target);

#endif							/* DP_FACTS_H */
