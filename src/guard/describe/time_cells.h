/*-------------------------------------------------------------------------
 *
 * time_cells.h
 *	  On which stretches of time expressions over a date or timestamp are
 *	  constant.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_TIME_CELLS_H
#define DP_TIME_CELLS_H

#include "nodes/primnodes.h"

/* units of time, finest first; those of one day or more are aligned at midnight */
typedef enum DpTimeUnit
{
	DP_UNIT_BIN,				/* of a width of its own */
	DP_UNIT_SECOND,
	DP_UNIT_MINUTE,
	DP_UNIT_HOUR,
	DP_UNIT_DAY,
	DP_UNIT_WEEK,
	DP_UNIT_MONTH,
	DP_UNIT_QUARTER,
	DP_UNIT_YEAR
} DpTimeUnit;

/* a field of dates and times, as of extract() */
typedef struct DpTimeField
{
	const char *name;			/* NULL: one that divides the axis more finely
								 * than is of use */
	int			field;			/* DTK_... */
	const char *lowest;			/* with a scale that says what it is a
								 * multiple of; NULL: it has no end */
	const char *highest;
	DpTimeUnit	unit;			/* within which it is constant; date_trunc
								 * keeps all that is coarser */
	bool		has_years;
} DpTimeField;

/* time_fields.c: returns what is known of a field by its name in full, which may be NULL; NULL: nothing is */
extern const DpTimeField *dp_time_field_of_name(const char *name);

/* time_fields.c: returns what is known of a field by its DTK_...; NULL: nothing is */
extern const DpTimeField *dp_time_field(int field);

/* one way in which the axis is divided */
typedef struct DpCellPart
{
	DpTimeUnit	unit;
	int64		width;			/* of bins, in microseconds */
	int64		shift;			/* of time, within a day; or a bin's origin */
	bool		shifts_days;	/* by days, or by months */
	bool		shifts_months;
	const char *zone;			/* that is written; NULL: the session's, or
								 * none */
} DpCellPart;

/* what expressions do to one column; zero-initialize, but for column */
typedef struct DpTimeCells
{
	Var		   *column;
	List	   *parts;			/* DpCellPart: how the axis is divided */
	bool		fails;			/* an expression tells single moments apart */
	bool		has_years;		/* one depends on more than month, day,
								 * weekday and time of the day */
	bool		has_months;		/* one depends on month or day of the year */
	int			fields;			/* how many expressions depend on a part of
								 * the date */
	List	   *cuts;			/* Exprs: moments at which comparisons may
								 * change */
	bool		spread;			/* as far as it is known: clocks and months
								 * differ */
	List	   *times;			/* Exprs: times of the day at which they may */
} DpTimeCells;

/* time_cells.c: adds what expr, a condition or, in its safe form, a key, tells of the column. */
extern void dp_time_cells_add(DpTimeCells *cells, Node *expr);

/* time_steps.c: returns how far points may be apart, in microseconds, that every cell has one; 0: that is not known. */
extern int64 dp_time_cells_step(const DpTimeCells *cells);

#endif							/* DP_TIME_CELLS_H */
