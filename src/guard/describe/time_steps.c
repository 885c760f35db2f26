/*-------------------------------------------------------------------------
 *
 * time_steps.c
 *	  How far apart points of time may be so that each cell has one.
 *
 * That is half of the shortest cell of a unit, whatever clocks are set forward
 * or back in some zone.
 *
 * Two divisions make cells of their own where boundaries of one are within
 * cells of the other.  Units of the calendar nest (weeks and months in days,
 * days in hours), if they are of the same zone and not shifted by parts of a
 * day.  Otherwise all boundaries must lie on a grid: zones differ by quarters
 * of an hour since 1972.
 *
 * Invariant: steps that are shorter than they need be cost time; one that is
 * too long would lose groups.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "guard/describe/time_cells.h"
#include "utils/timestamp.h"

#define QUARTER_HOUR (15 * USECS_PER_MINUTE)

/* Returns half of the shortest cell. */
static int64
half_cell(const DpCellPart *part)
{
	switch (part->unit)
	{
		case DP_UNIT_BIN:
			return part->width / 2;
		case DP_UNIT_SECOND:
			return USECS_PER_SEC / 2;
		case DP_UNIT_MINUTE:
			return USECS_PER_MINUTE / 2;
		case DP_UNIT_HOUR:
			return QUARTER_HOUR;
		case DP_UNIT_DAY:
			return USECS_PER_DAY / 2;
		case DP_UNIT_WEEK:
			return part->shifts_months ? USECS_PER_DAY / 2 : 3 * USECS_PER_DAY;
		case DP_UNIT_MONTH:
			return part->shifts_months ? USECS_PER_DAY / 2 : 14 * USECS_PER_DAY;
		case DP_UNIT_QUARTER:
			return part->shifts_months ? USECS_PER_DAY / 2 : 45 * USECS_PER_DAY;
		case DP_UNIT_YEAR:
			return part->shifts_months ? USECS_PER_DAY / 2 : 180 * USECS_PER_DAY;
	}
	return 0;
}

static int64
common_divisor(int64 a, int64 b)
{
	a = a < 0 ? -a : a;
	b = b < 0 ? -b : b;
	while (b != 0)
	{
		int64		rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static bool
is_same_part(const DpCellPart *a, const DpCellPart *b)
{
	return a->unit == b->unit && a->width == b->width && a->shift == b->shift && !a->shifts_days && !b->shifts_days &&
		(a->zone == b->zone || (a->zone && b->zone && strcmp(a->zone, b->zone) == 0));
}

/* Tells whether boundaries of both are those of days, or of units within, of one zone. */
static bool
is_nested(const DpCellPart *a, const DpCellPart *b)
{
	return a->unit != DP_UNIT_BIN && b->unit != DP_UNIT_BIN && a->shift == b->shift &&
		(a->zone == b->zone || (a->zone && b->zone && strcmp(a->zone, b->zone) == 0));
}

int64
dp_time_cells_step(const DpTimeCells *cells)
{
	DpCellPart *first;
	int64		step = PG_INT64_MAX;
	int64		grid = QUARTER_HOUR;
	bool		same = true;
	bool		nested = true;

	if (cells->fails || (cells->parts == NIL && cells->cuts == NIL && cells->times == NIL))
		return 0;
	/* single moments alone divide the axis */
	if (cells->parts == NIL)
		return PG_INT64_MAX;
	first = linitial(cells->parts);
	foreach_ptr(DpCellPart, part, cells->parts)
	{
		step = Min(step, half_cell(part));
		same &= part == first || is_same_part(part, first);
		nested &= is_nested(part, first);
		grid = common_divisor(grid, part->width);
		grid = common_divisor(grid, part->shift);
	}
	if (same)
		return step;
	/* weeks, and days that are shifted, do not nest with months */
	if (nested)
		foreach_ptr(DpCellPart, part, cells->parts)
	{
		if (part->unit == DP_UNIT_WEEK || part->shifts_days)
			step = Min(step, USECS_PER_DAY / 2);
	}
	else
		step = Min(step, grid / 2);
	return step >= USECS_PER_SEC / 4 ? step : 0;
}
