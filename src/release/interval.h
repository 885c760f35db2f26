/*-------------------------------------------------------------------------
 *
 * interval.h
 *	  Bounds of a value, as they follow from those of what it is made of.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_INTERVAL_H
#define DP_INTERVAL_H

#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/primnodes.h"
#include "utils/numeric.h"

#define DP_BOUND_NODE "DpBound"

typedef enum DpBoundOp
{
	DP_BOUND_NONE,				/* nothing is known, for a reason */
	DP_BOUND_VALUE,				/* an expression without columns */
	DP_BOUND_DECLARED,			/* a column whose bounds are declared */
	DP_BOUND_RANGE,				/* a public column */
	DP_BOUND_FOUND,				/* found privately before the release */
	DP_BOUND_ROWS,				/* how many of a unit's rows */
	DP_BOUND_TOTAL,				/* what they add up to */
	DP_BOUND_SAME,				/* the argument, in another type */
	DP_BOUND_HULL,				/* one of the arguments, or NULL */
	DP_BOUND_WITHIN,			/* from the first argument to the second */
	DP_BOUND_AT_LEAST,			/* the first argument, not below the second */
	DP_BOUND_AT_MOST,			/* ... not above it */
	DP_BOUND_MEET,				/* ... neither below nor above it */
	DP_BOUND_LEAST,
	DP_BOUND_GREATEST,
	DP_BOUND_NULLIF,
	DP_BOUND_ADD,
	DP_BOUND_SUBTRACT,
	DP_BOUND_MULTIPLY,
	DP_BOUND_DIVIDE,
	DP_BOUND_MOD,
	DP_BOUND_NEGATE,
	DP_BOUND_ABS,
	DP_BOUND_SIGN,
	DP_BOUND_ROUND,				/* with a second argument: to so many digits */
	DP_BOUND_TRUNC,
	DP_BOUND_FLOOR,
	DP_BOUND_CEIL,
	DP_BOUND_SQRT,
	DP_BOUND_CBRT,
	DP_BOUND_EXP,
	DP_BOUND_LN,
	DP_BOUND_LOG,
	DP_BOUND_POWER,
	DP_BOUND_MEAN,				/* of several values of the argument */
	DP_BOUND_TIME,				/* a date or timestamp, as another type of
								 * these */
	DP_BOUND_EPOCH,				/* seconds, of one or of a difference */
	DP_BOUND_DAYS,				/* whole days of a difference */
	DP_BOUND_YEAR,				/* of a date or timestamp */
	DP_BOUND_AGE,				/* years of a difference */
	DP_BOUND_SPREAD				/* from 0 to the distance of the bounds */
} DpBoundOp;

/* Why nothing is known. */
typedef enum DpBoundGap
{
	DP_GAP_UNDECLARED,			/* a column of a protected table */
	DP_GAP_EXPRESSION,			/* an expression that tells nothing */
	DP_GAP_DENOMINATOR,			/* it may be 0, or nearly so */
	DP_GAP_SIZE					/* too large, or infinite */
} DpBoundGap;

/* An expression as far as its bounds go. */
typedef struct DpBound
{
	ExtensibleNode node;
	DpBoundOp	op;
	List	   *args;			/* DpBound */
	Oid			type;			/* of the value: a number; a date, in days;
								 * timestamps and their differences, in
								 * microseconds */
	int32		typmod;
	Expr	   *value;			/* VALUE: without columns */
	Expr	   *lower;			/* DECLARED: numeric Consts */
	Expr	   *upper;
	Expr	   *total_lower;	/* of a unit's total; may be NULL */
	Expr	   *total_upper;
	int			range;			/* RANGE: which of the release's; FOUND: which
								 * column of its estimator */
	DpBoundGap	gap;			/* NONE: why; others: what it would be */
	bool		declarable;		/* UNDECLARED: the owner could declare them */
	char	   *text;			/* of what has none, for messages; NULL:
								 * unknown */
} DpBound;

typedef enum DpIntervalState
{
	DP_INTERVAL_KNOWN,
	DP_INTERVAL_EMPTY,			/* it has no value but NULL */
	DP_INTERVAL_LATER,			/* known when it is priced */
	DP_INTERVAL_NONE
} DpIntervalState;

typedef struct DpInterval
{
	DpIntervalState state;
	Numeric		lower;
	Numeric		upper;
	Numeric		grain;			/* every value is a multiple of it; NULL: not
								 * known */
	bool		never_null;
	bool		is_lacking;		/* of an estimator: it has found none */
	const struct dp_bounds_tail *tail;	/* of an estimator: what is beyond;
										 * NULL: not known */
	bool		has_totals;		/* limits of a unit's total are known, beside
								 * max_rows times the bounds */
	Numeric		total_lower;
	Numeric		total_upper;
	const DpBound *why;			/* NONE: what has none */
} DpInterval;

/* what intervals are made of when a release is priced */
typedef struct DpIntervalInputs
{
	EState	   *estate;			/* NULL: while the query is planned */
	int			max_rows;		/* that count of a unit */
	struct DpKeyTuples **ranges;	/* the least and the greatest of public
									 * columns; NULL: not known yet */
	const DpInterval *found;	/* by columns of the estimator; NULL: not
								 * known yet */
	bool		beyond_types;	/* numbers may be larger than their types have */
} DpIntervalInputs;

extern DpBound *dp_make_bound(DpBoundOp op, List *args, Oid type, int32 typmod);

/* Returns the interval of a value; inputs NULL: while the query is planned. */
extern DpInterval dp_interval(const DpBound *bound, const DpIntervalInputs *inputs);

/* as many rows of a unit as anybody may set */
#define DP_MANY_ROWS 1000000

/*
 * Tells whether the interval depends on how many rows of a unit count, however many these are; inputs as above, with what is not
 * known yet.
 */
extern bool dp_interval_by_rows(const DpBound *bound, const DpIntervalInputs *inputs);

/* Tells whether a bound rests on one that the estimator, which has run, has not found, so that values within it tell nothing. */
extern bool dp_lacks_found(const DpBound *bound, const DpInterval *found);

/* Tells whether bounds that follow from numbers of rows hold, as none were found by the estimator, which has run. */
extern bool dp_none_found(const DpBound *bound, const DpInterval *found);

/* Makes an interval two numbers, where it is one or none. */
extern void dp_interval_open(DpInterval *interval);

/* Tells whether a bound, or one that it is made of, is op. */
extern bool dp_bound_has(const DpBound *bound, DpBoundOp op);

/* Tells whether bounds come in that column i of an estimator finds. */
extern bool dp_bound_finds(const DpBound *bound, int i);

/* Tells whether totals of a unit that are declared come in. */
extern bool dp_bound_has_totals(const DpBound *bound);

/* Tells whether it has parameters of the statement, or what else is evaluated when it is priced. */
extern bool dp_bound_has_params(const DpBound *bound);

/* Returns, for messages, what has no bounds, as words after "needs bounds". */
extern char *dp_bound_problem(const DpBound *why);

#endif							/* DP_INTERVAL_H */
